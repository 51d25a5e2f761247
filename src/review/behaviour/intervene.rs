//! Which intervention patterns call for, and when none is made: cooldown, most per prompt, escalation.

use crate::domain::{Behaviour, Deed, Finding, InterventionKind};
use crate::review::behaviour::words;

/// Seed 000's cut-offs, in percent: below the first a soft correction, from the last on an emergency stop.
const CUT_OFFS: [u8; 4] = [30, 50, 70, 90];
/// Milliseconds between two interventions of a session; an emergency does not wait.
const COOLDOWN_MS: u64 = 30_000;
/// Interventions in one prompt.
const MOST: usize = 10;
/// Deeds within which a pattern has to end for its intervention to have worked.
const WITHIN: u64 = 10;

/// The intervention that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub kind: InterventionKind,
    pub pattern: String,
    /// For the model, and for the person.
    pub text: String,
}

/// The intervention for a severity in percent.
pub fn by_severity(severity: u8) -> InterventionKind {
    let passed = CUT_OFFS.iter().filter(|bound| severity >= **bound).count();
    InterventionKind::ALL.get(passed).copied().unwrap_or(InterventionKind::EmergencyStop)
}

/// The intervention for what was found, if one is due.
pub fn choose(found: &[Finding], behaviour: &Behaviour, deed: &Deed, now_ms: u64) -> Option<Chosen> {
    let gravest = found.first()?;
    let kind = by_severity(gravest.severity);
    let last = behaviour.interventions.last();
    let cooling = kind != InterventionKind::EmergencyStop
        && last.is_some_and(|last| now_ms.saturating_sub(last.at_ms) < COOLDOWN_MS);
    let made = behaviour.interventions.iter().filter(|one| one.prompt == deed.prompt).count();
    if cooling || made >= MOST {
        return None;
    }
    Some(Chosen { kind, pattern: gravest.pattern.clone(), text: words::correction(kind, gravest, behaviour) })
}

/// Says of the interventions of the last ten deeds whether they worked: the pattern is gone, or it is still there after that.
pub fn measure(behaviour: &mut Behaviour, found: &[Finding], deed: u64) {
    for one in behaviour.interventions.iter_mut().filter(|one| one.effective.is_none()) {
        let stands = found.iter().any(|finding| finding.pattern == one.pattern);
        if !stands {
            one.effective = Some(true);
        } else if deed.saturating_sub(one.deed) >= WITHIN {
            one.effective = Some(false);
        }
    }
}
