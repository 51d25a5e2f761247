//! Risk: the worst side effect plus what the circumstances add (seed 002).

use crate::domain::{
    Behaviour, Effect, EffectKind, Modifiers, Outcome, PastCall, Places, PluginRisk, Policy, Risk, RiskLevel,
    RiskThresholds, Score, Target,
};

/// Base risk of a kind of effect: seed 002's six, and ours for the two that it leaves open.
pub const fn base_risk(kind: EffectKind) -> f64 {
    match kind {
        EffectKind::FileDeletion => 0.8,
        EffectKind::SystemCommand | EffectKind::SystemModification => 0.7,
        EffectKind::NetworkRequest => 0.6,
        EffectKind::FileModification => 0.4,
        EffectKind::FileCreation | EffectKind::ProcessCreation => 0.3,
        EffectKind::FileRead => 0.1,
    }
}

/// Added when an effect falls outside the expected scope.
const OUT_OF_SCOPE: f64 = 0.3;
/// The same for the deletion of a single file by its name: high, but not critical by itself, so that a person can be asked.
const FILE_OUT_OF_SCOPE: f64 = 0.1;
/// Added when another user's rights are used.
const PRIVILEGE: f64 = 0.2;
/// What is lost can be made again: as risky as making it.
const DISPOSABLE: f64 = base_risk(EffectKind::FileCreation);

/// The band of a score.
pub fn risk_level(score: Score, bounds: &RiskThresholds) -> RiskLevel {
    if score.reaches(bounds.critical) {
        RiskLevel::Critical
    } else if score.reaches(bounds.high) {
        RiskLevel::High
    } else if score.reaches(bounds.medium) {
        RiskLevel::Medium
    } else if score.reaches(bounds.low) {
        RiskLevel::Low
    } else {
        RiskLevel::Minimal
    }
}

/// The risk of a call with these effects.
pub fn risk(effects: &[Effect], action: u64, history: &[PastCall], places: &Places, policy: &Policy) -> Risk {
    let mut factors: Vec<(f64, &'static str)> = Vec::new();
    let mut worst = 0.0_f64;
    let mut modifiers = Modifiers::default();
    for effect in effects {
        let base = if effect.disposable { DISPOSABLE } else { base_risk(effect.kind) };
        let scope = match in_scope(&effect.target, places, policy) {
            true => 0.0,
            false if effect.kind == EffectKind::FileDeletion && is_one_file(&effect.target) => {
                FILE_OUT_OF_SCOPE
            }
            false => OUT_OF_SCOPE,
        };
        let privilege = if effect.privileged { PRIVILEGE } else { 0.0 };
        if !factors.iter().any(|(_, name)| *name == effect.kind.name()) {
            factors.push((base, effect.kind.name()));
        }
        if base + scope + privilege > worst {
            worst = base + scope + privilege;
            modifiers.scope = scope;
            modifiers.privilege = privilege;
        }
    }
    modifiers.repetition = repetition(action, history);
    crate::domain::sort_by(&mut factors, |a, b| b.0.total_cmp(&a.0));
    let mut factors: Vec<&'static str> = factors.into_iter().map(|(_, name)| name).collect();
    for (added, name) in [
        (modifiers.scope, "out_of_scope"),
        (modifiers.privilege, "privileged"),
        (modifiers.repetition, "repeated_failures"),
    ] {
        if added > 0.0 {
            factors.push(name);
        }
    }
    let score = Score::new(if effects.is_empty() { 0.0 } else { worst + modifiers.repetition });
    Risk { score, level: risk_level(score, &policy.risk), factors, modifiers }
}

/// The same where patterns stand that speak against the session: their confidence × .3 (seed 002 leaves the measure open).
pub fn with_patterns(mut risk: Risk, behaviour: &Behaviour, policy: &Policy) -> Risk {
    /// Of a pattern that is certain.
    const PATTERN: f64 = 0.3;
    let Some(confidence) = behaviour.against().map(|finding| finding.confidence.min(100)).max() else {
        return risk;
    };
    // A call without effects does nothing that a pattern could make worse.
    if risk.score.get() > 0.0 {
        risk.modifiers.pattern = f64::from(confidence) / 100.0 * PATTERN;
        risk.factors.push("pattern");
        risk.score = Score::new(risk.score.get() + risk.modifiers.pattern);
        risk.level = risk_level(risk.score, &policy.risk);
    }
    risk
}

/// The same where a plugin of the user's says that it is higher.
pub fn rated(mut risk: Risk, said: Option<&PluginRisk>, policy: &Policy) -> Risk {
    if let Some(said) = said.filter(|said| said.score > risk.score) {
        risk.score = said.score;
        risk.level = risk_level(risk.score, &policy.risk);
        risk.factors.push("plugin");
    }
    risk
}

const fn is_one_file(target: &Target) -> bool {
    matches!(target, Target::Path { glob: false, recursive: false, .. })
}

/// 0, .1, .2 or .4 for 0, 1, 2 or more failures of the same action since something was last changed. A test that fails,
/// is repaired and run again is not a repetition.
fn repetition(action: u64, history: &[PastCall]) -> f64 {
    let failures = history
        .iter()
        .take_while(|past| past.action == action || !past.writes)
        .filter(|past| past.action == action && past.outcome == Outcome::Failed)
        .count();
    match failures {
        0 => 0.0,
        1 => 0.1,
        2 => 0.2,
        _ => 0.4,
    }
}

/// Whether an effect falls where work is expected. What has no path is in scope.
fn in_scope(target: &Target, places: &Places, policy: &Policy) -> bool {
    let path = match target {
        Target::Path { path, .. } => path.as_str(),
        Target::UnknownPath { known, .. } if known.starts_with('/') && known.len() > 1 => known.as_str(),
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => return true,
    };
    path == "/dev/null" || policy.expects(path, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Severity;

    fn effect(kind: EffectKind, path: &str) -> Effect {
        Effect {
            kind,
            target: Target::Path { path: path.to_owned(), glob: false, recursive: false },
            severity: Severity::Low,
            reversible: false,
            disposable: false,
            privileged: false,
        }
    }

    fn places() -> Places {
        Places { repo: Some("/project".to_owned()), temp: vec!["/tmp".to_owned()], ..Places::default() }
    }

    fn past(action: u64, outcome: Outcome, writes: bool) -> PastCall {
        PastCall { action, agent: 0, tool: 0, age_ms: 0, outcome, writes, damaged: false }
    }

    #[test]
    fn failures_count_only_since_the_last_change() {
        let failed = past(7, Outcome::Failed, false);
        let edit = past(1, Outcome::Done, true);
        assert_eq!(repetition(7, &[failed, failed, failed]), 0.4);
        assert_eq!(repetition(7, &[failed, edit, failed, failed]), 0.1);
        assert_eq!(repetition(8, &[failed]), 0.0);
    }

    #[test]
    fn one_file_elsewhere_is_not_critical_by_itself() {
        let mut gone = effect(EffectKind::FileDeletion, "/elsewhere/a");
        let of =
            |effect: &Effect| risk(std::slice::from_ref(effect), 0, &[], &places(), &Policy::default()).level;
        assert_eq!(of(&gone), RiskLevel::High);
        gone.target = Target::Path { path: "/elsewhere/a".to_owned(), glob: false, recursive: true };
        assert_eq!(of(&gone), RiskLevel::Critical);
        gone.target = Target::Path { path: "/elsewhere/*".to_owned(), glob: true, recursive: false };
        assert_eq!(of(&gone), RiskLevel::Critical);
    }
}
