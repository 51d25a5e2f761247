//! Rationality: does the call make sense where it stands (seed 002, with the weights of the design).

use crate::domain::{Components, Issue, Outcome, PastCall, Policy, Rationality, RationalityLevel, Score};

/// How far back a call counts as "just done".
const RECENT: usize = 10;

/// The rationality of a call. `text` is what it asks for; `complete` says that all of it was understood.
pub fn rationality(
    text: &str,
    action: u64,
    complete: bool,
    history: &[PastCall],
    policy: &Policy,
) -> Rationality {
    let components = Components {
        goal_alignment: goal_alignment(text, &policy.goals),
        logical_progression: logical_progression(action, history),
        efficiency: efficiency(action, history),
        completeness: Score::new(if complete { 1.0 } else { 0.5 }),
    };
    let score = Score::new(
        0.4 * components.goal_alignment.get()
            + 0.3 * components.logical_progression.get()
            + 0.1 * components.efficiency.get()
            + 0.2 * components.completeness.get(),
    );
    let level = if score.reaches(policy.rationality.high) {
        RationalityLevel::High
    } else if score.reaches(policy.rationality.medium) {
        RationalityLevel::Medium
    } else {
        RationalityLevel::Low
    };
    let half = Score::new(0.5);
    let issues = [
        (components.goal_alignment, Issue::NotAligned),
        (components.logical_progression, Issue::RepeatsFailure),
        (components.efficiency, Issue::RepeatsDone),
        (components.completeness, Issue::NotUnderstood),
    ]
    .into_iter()
    .filter(|(score, _)| *score <= half)
    .map(|(_, issue)| issue)
    .collect();
    Rationality { score, level, components, issues }
}

/// 1 when the goals are unknown or one of their longer words occurs in the call, else 0.
fn goal_alignment(text: &str, goals: &[String]) -> Score {
    let mut words =
        goals.iter().flat_map(|goal| goal.split(|c: char| !c.is_alphanumeric() && !"._-/".contains(c)));
    if goals.is_empty() {
        return Score::ONE;
    }
    let text = text.to_lowercase();
    let aligned = words.any(|word| word.chars().count() >= 4 && text.contains(&word.to_lowercase()));
    if aligned { Score::ONE } else { Score::ZERO }
}

/// 1 builds on what was done, .7 explores, .3 repeats what failed or was blocked with nothing changed since.
fn logical_progression(action: u64, history: &[PastCall]) -> Score {
    let since_change = history.iter().take_while(|past| past.action == action || !past.writes);
    let repeats = since_change
        .filter(|past| past.action == action)
        .any(|past| matches!(past.outcome, Outcome::Failed | Outcome::Blocked));
    let builds = history.first().is_some_and(|past| past.outcome == Outcome::Done);
    Score::new(if repeats {
        0.3
    } else if builds {
        1.0
    } else {
        0.7
    })
}

/// .5 when the same call was just made, succeeded, and nothing was changed since: its result is at hand.
fn efficiency(action: u64, history: &[PastCall]) -> Score {
    let repeated = history
        .iter()
        .take(RECENT)
        .take_while(|past| !past.writes)
        .any(|past| past.action == action && past.outcome == Outcome::Done);
    Score::new(if repeated { 0.5 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(action: u64, outcome: Outcome, writes: bool) -> PastCall {
        PastCall { action, agent: 0, tool: 0, age_ms: 0, outcome, writes, damaged: false }
    }

    #[test]
    fn repeating_a_failure_lowers_it_until_something_changes() {
        let failed = [past(1, Outcome::Failed, false)];
        let again = rationality("make", 1, true, &failed, &Policy::default());
        assert_eq!(again.components.logical_progression, Score::new(0.3));
        let repaired = [past(2, Outcome::Done, true), past(1, Outcome::Failed, false)];
        let repaired = rationality("make", 1, true, &repaired, &Policy::default());
        assert_eq!(repaired.components.logical_progression, Score::ONE);
    }

    #[test]
    fn goals_count_only_when_known() {
        let policy = Policy { goals: vec!["fix the parser".to_owned()], ..Policy::default() };
        assert_eq!(goal_alignment("edit src/parser.rs", &policy.goals), Score::ONE);
        assert_eq!(goal_alignment("edit README.md", &policy.goals), Score::ZERO);
        assert_eq!(goal_alignment("anything", &[]), Score::ONE);
    }
}
