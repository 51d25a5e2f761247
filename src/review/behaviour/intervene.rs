//! Which intervention patterns call for, and when none is made: cooldown, most per prompt, escalation.

use crate::domain::{
    Behaviour, Finding, HistoryEntry, Intervened, InterventionKind, Pattern, Policy, Throttle,
};
use crate::review::behaviour::words;

/// Seed 000's cut-offs, in percent: below the first a soft correction, from the last on an emergency stop.
const CUT_OFFS: [u8; 4] = [30, 50, 70, 90];
/// Milliseconds between two interventions of a session; an emergency does not wait.
const COOLDOWN_MS: u64 = 30_000;
/// Interventions in one prompt.
const MOST: usize = 10;
/// Entries after which a session is corrected for the same built-in pattern once more.
const AGAIN: u64 = 200;
/// Entries within which a pattern has to end for its intervention to have worked.
const WITHIN: u64 = 10;
/// A throttled session: calls in a minute, and for how long in milliseconds.
const THROTTLE_CALLS: u32 = 10;
const THROTTLE_MS: u64 = 300_000;

/// The intervention that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub kind: InterventionKind,
    pub pattern: String,
    /// For the model, and for the person.
    pub text: String,
    /// The person's own words, where it reminds of them.
    pub reminder: Option<String>,
}

/// The intervention for a severity in percent.
pub fn by_severity(severity: u8) -> InterventionKind {
    let passed = CUT_OFFS.iter().filter(|bound| severity >= **bound).count();
    InterventionKind::ALL.get(passed).copied().unwrap_or(InterventionKind::EmergencyStop)
}

/// What several patterns come to together: the gravest, and a little for each of the others.
fn combined(found: &[Finding], policy: &Policy) -> u8 {
    /// Percent for each of the others.
    const OTHER: u8 = 5;
    let cap = found.iter().map(|finding| policy.cap(&finding.pattern)).max().unwrap_or(0);
    let others = u8::try_from(found.len().saturating_sub(1)).unwrap_or(u8::MAX);
    let gravest = found.first().map_or(0, |finding| finding.severity);
    let cap = found.first().map_or(cap, |finding| cap.min(most_severe(finding, policy)));
    gravest.saturating_add(others.saturating_mul(OTHER)).min(cap)
}

/// How far a finding can be brought by what stands beside it and by corrections in vain: a built-in pattern beyond correction
/// only by evidence of its own.
fn most_severe(finding: &Finding, policy: &Policy) -> u8 {
    let cap = policy.cap(&finding.pattern);
    let corrected = Pattern::from_name(&finding.pattern).is_some() && finding.severity < Finding::GRAVE;
    if corrected { cap.min(Finding::CORRECTED) } else { cap }
}

/// The intervention for what was found, if one is due.
pub fn choose(
    found: &[Finding],
    behaviour: &Behaviour,
    entry: &HistoryEntry,
    now_ms: u64,
    policy: &Policy,
) -> Option<Chosen> {
    let gravest = found.first()?;
    let mut made = behaviour.interventions.iter().filter(|one| one.prompt == entry.prompt);
    let asked_for = by_severity(combined(found, policy));
    let own = policy.interventions.own(&gravest.pattern);
    let asked_for = own.and_then(|own| own.first).map_or(asked_for, |first| asked_for.max(first));
    let most = own.and_then(|own| own.most);
    let asked_for = most.map_or(asked_for, |most| asked_for.min(most));
    let highest = most.unwrap_or_else(|| by_severity(most_severe(gravest, policy)));
    let kind = escalated((asked_for, highest), gravest, made.clone(), policy);
    let kind = match kind {
        InterventionKind::SoftCorrection if !policy.interventions.soft_correction => return None,
        InterventionKind::EmergencyStop if !policy.interventions.hard_stop => {
            InterventionKind::CheckpointRollback
        }
        kind => kind,
    };
    let last = behaviour.interventions.last();
    let built_in = Pattern::from_name(&gravest.pattern);
    let hurries = built_in.is_some_and(Pattern::hurries);
    let waits = |last: &Intervened| {
        let graver = hurries && last.pattern == gravest.pattern && last.kind < kind;
        !graver && now_ms.saturating_sub(last.at_ms) < COOLDOWN_MS
    };
    let cooling = kind != InterventionKind::EmergencyStop && last.is_some_and(waits);
    if cooling || made.clone().count() >= MOST {
        return None;
    }
    // What was done has its ten entries to work, and what was said is not said again soon, unless more is called for.
    let as_much = |one: &&Intervened| one.pattern == gravest.pattern && one.kind >= kind;
    let said = built_in.is_some()
        && kind <= InterventionKind::ContextReinforcement
        && behaviour
            .interventions
            .iter()
            .filter(as_much)
            .any(|one| entry.number.saturating_sub(one.entry) < AGAIN);
    if said || made.any(|one| as_much(&one) && one.effective.is_none()) {
        return None;
    }
    Some(Chosen {
        kind,
        pattern: gravest.pattern.clone(),
        text: words::correction(kind, gravest, behaviour, policy),
        reminder: words::reminder(kind, gravest, behaviour),
    })
}

/// The next kind, where as many of one kind as are tried did not end the pattern; never beyond the highest.
fn escalated<'a>(
    (mut kind, highest): (InterventionKind, InterventionKind),
    finding: &Finding,
    made: impl Iterator<Item = &'a Intervened> + Clone,
    policy: &Policy,
) -> InterventionKind {
    let tried = |kind| {
        let in_vain = |one: &&Intervened| {
            one.pattern == finding.pattern && one.kind == kind && one.effective != Some(true)
        };
        u32::try_from(made.clone().filter(in_vain).count()).unwrap_or(u32::MAX)
    };
    for next in InterventionKind::ALL {
        if next > kind && next <= highest && tried(kind) >= policy.interventions.max_retries {
            kind = next;
        }
    }
    kind
}

/// Carries out what changes the session itself.
pub fn apply(chosen: &Chosen, behaviour: &mut Behaviour, now_ms: u64) {
    match chosen.kind {
        InterventionKind::SoftCorrection | InterventionKind::ContextReinforcement => {}
        InterventionKind::ResourceThrottling => {
            behaviour.throttle = Some(Throttle {
                calls: THROTTLE_CALLS,
                until_ms: now_ms.saturating_add(THROTTLE_MS),
                pattern: chosen.pattern.clone(),
            });
        }
        InterventionKind::CheckpointRollback | InterventionKind::EmergencyStop => {
            behaviour.held = Some(chosen.pattern.clone());
        }
    }
}

/// Says of interventions, ten entries after each, whether they worked: the pattern has ended, or it stands. Gives those of which it
/// is known now.
pub fn measure(behaviour: &mut Behaviour, found: &[Finding], entry: u64) -> Vec<Intervened> {
    let mut measured = Vec::new();
    let due = |one: &&mut Intervened| one.effective.is_none() && entry.saturating_sub(one.entry) >= WITHIN;
    for one in behaviour.interventions.iter_mut().filter(due) {
        one.effective = Some(!found.iter().any(|finding| finding.pattern == one.pattern));
        measured.push(one.clone());
    }
    measured
}
