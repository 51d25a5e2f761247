//! Behaviour over time: what an action came to, which patterns that makes with those before it, and what is done about them.
//! Pure: the entries and the session's document come in, what is remembered and told goes out.

mod alignment;
mod custom;
mod entry;
mod error;
mod intervene;
mod lookup;
mod patterns;
mod purpose;
mod words;

pub use alignment::{Act, alignment};
pub use custom::{misplaced, problems};
pub use entry::{Report, checked_out, entry};
pub use error::normalised;
pub use intervene::{Chosen, by_severity, choose};
pub use lookup::is_looked_up;
pub use patterns::{History, find};
pub use purpose::purpose;
pub use words::rebuilt;

use crate::domain::{Behaviour, Finding, Intervened, Policy};

/// What one more entry leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judged {
    /// The patterns that stand.
    pub found: Vec<Finding>,
    pub chosen: Option<Chosen>,
    /// The interventions of which it is known now whether they worked.
    pub measured: Vec<Intervened>,
}

/// Looks at the session after the last entry of its history, and changes what is known of its behaviour. `now_ms` is milliseconds since 1970; `error` the
/// text of the entry's error, redacted.
pub fn judge(
    history: &History<'_>,
    behaviour: &mut Behaviour,
    error: Option<&str>,
    now_ms: u64,
    policy: &Policy,
) -> Judged {
    /// Longest error that is kept, in bytes.
    const ERROR: usize = 400;
    let entry = history.last();
    let found = find(history, behaviour, policy);
    behaviour.last_error = error.map(|error| crate::domain::clip(error, ERROR)).unwrap_or_default();
    let measured = intervene::measure(behaviour, &found, entry.number);
    behaviour.found.clone_from(&found);
    let chosen = choose(&found, behaviour, entry, now_ms, policy);
    if let Some(chosen) = &chosen {
        behaviour.recovery_attempted = true;
        intervene::apply(chosen, behaviour, now_ms);
        behaviour.intervened(Intervened {
            kind: chosen.kind,
            pattern: chosen.pattern.clone(),
            at_ms: now_ms,
            entry: entry.number,
            prompt: entry.prompt,
            effective: None,
        });
    }
    Judged { found, chosen, measured }
}
