//! What each assessor has to say against a call, as reasons.

use crate::domain::{Effect, Issue, Rationality, Reason, Risk, RiskLevel, Severity, Target, Verdict, clip};
use crate::review::matrix::{DangerousPattern, base_verdict, final_verdict};
use crate::rules::{NONE, Survey};

/// Longest piece of the agent's text that is quoted in a reason, in bytes.
const MATCHED: usize = 200;

/// What the matrix and the decision rules say.
pub fn matrix(
    risk: &Risk,
    rationality: &Rationality,
    effects: &[Effect],
    (pattern, first_time): (DangerousPattern, bool),
    text: &str,
) -> Option<Reason> {
    let worst = effects.iter().max_by_key(|effect| effect.severity);
    let base = base_verdict(risk.level, rationality.level);
    let severity = worst.map(|effect| effect.severity);
    let verdict = final_verdict(base, risk.level, severity, pattern, first_time);
    if verdict == Verdict::Allow {
        return None;
    }
    if severity == Some(Severity::Critical) {
        let effect = worst?;
        let target = match &effect.target {
            Target::UnknownPath { known, .. } if known.is_empty() => "a path that is only known once it runs",
            target => target.text(),
        };
        return Some(Reason {
            rule: "effect.critical".to_owned(),
            verdict,
            severity: Severity::Critical,
            message: format!("critical side effect: {} of {}", effect.kind.name(), clip(target, MATCHED)),
            matched: clip(text, MATCHED),
            instead: Some(NONE.to_owned()),
        });
    }
    let mut message =
        format!("{} risk action ({:.2}): {}", risk.level.name(), risk.score.get(), risk.factors.join(", "));
    if rationality.score.get() < 0.5 || !rationality.issues.is_empty() {
        let issue = |issue: &Issue| format!("{} ({})", issue.text(), issue.suggestion());
        let issues: Vec<String> = rationality.issues.iter().map(issue).collect();
        message.push_str(&format!("; {} rationality: {}", rationality.level.name(), issues.join(", ")));
    }
    Some(Reason {
        rule: format!("matrix.{}-{}", risk.level.name(), rationality.level.name()),
        verdict,
        severity: severity_of(risk.level),
        message,
        matched: clip(text, MATCHED),
        instead: Some(NONE.to_owned()),
    })
}

const fn severity_of(level: RiskLevel) -> Severity {
    match level {
        RiskLevel::Minimal | RiskLevel::Low => Severity::Low,
        RiskLevel::Medium => Severity::Medium,
        RiskLevel::High => Severity::High,
        RiskLevel::Critical => Severity::Critical,
    }
}

/// What could not be understood: over a bound is a block, a text that another shell may read is asked about. One that ends within
/// quotes, or has parentheses in a word, is the shell's business: the lines in front of it are judged, and nothing else runs.
pub fn understood(survey: &Survey, text: &str) -> Option<Reason> {
    let problem = survey.problem.as_ref().filter(|_| survey.bound || !survey.unclosed)?;
    let (rule, verdict, severity, instead) = if survey.bound {
        ("shell.bound", Verdict::Block, Severity::High, "split the command into smaller ones")
    } else {
        ("shell.syntax", Verdict::Modify, Severity::Medium, "write the command in plain sh or bash syntax")
    };
    Some(Reason {
        rule: rule.to_owned(),
        verdict,
        severity,
        message: format!("the command could not be read to its end: {problem}"),
        matched: clip(text, MATCHED),
        instead: Some(instead.to_owned()),
    })
}
