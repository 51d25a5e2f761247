//! The decision matrix of seed 002 and the rules applied to what it says.

use crate::domain::{RationalityLevel, RiskLevel, Severity, Verdict};

/// Whether a behaviour pattern speaks against the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DangerousPattern {
    No,
    Yes,
}

/// The cell of the matrix. Below low is treated as low.
pub const fn base_verdict(risk: RiskLevel, rationality: RationalityLevel) -> Verdict {
    match (risk, rationality) {
        (RiskLevel::Minimal | RiskLevel::Low, RationalityLevel::High | RationalityLevel::Medium) => {
            Verdict::Allow
        }
        (RiskLevel::Minimal | RiskLevel::Low, RationalityLevel::Low) => Verdict::Warn,
        (RiskLevel::Medium, RationalityLevel::High) => Verdict::Allow,
        (RiskLevel::Medium, RationalityLevel::Medium) => Verdict::Warn,
        (RiskLevel::Medium, RationalityLevel::Low) => Verdict::Modify,
        (RiskLevel::High, RationalityLevel::High) => Verdict::Warn,
        (RiskLevel::High, RationalityLevel::Medium) => Verdict::Modify,
        (RiskLevel::High, RationalityLevel::Low) => Verdict::Block,
        (RiskLevel::Critical, _) => Verdict::Block,
    }
}

/// The decision rules, in their order: a critical side effect blocks; a dangerous pattern turns warn into modify; a
/// first-time action below high risk is not warned about.
pub fn final_verdict(
    base: Verdict,
    risk: RiskLevel,
    worst_effect: Option<Severity>,
    pattern: DangerousPattern,
    first_time: bool,
) -> Verdict {
    if worst_effect == Some(Severity::Critical) {
        return Verdict::Block;
    }
    if base == Verdict::Warn && pattern == DangerousPattern::Yes {
        return Verdict::Modify;
    }
    if base == Verdict::Warn && first_time && risk < RiskLevel::High {
        return Verdict::Allow;
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `reviewer.mode = "async"` gives up before a call (docs/configuration.md).
    #[test]
    fn rationality_stops_calls_of_minimal_risk_while_a_pattern_stands() {
        let verdict = |rationality| {
            let base = base_verdict(RiskLevel::Minimal, rationality);
            final_verdict(base, RiskLevel::Minimal, Some(Severity::Low), DangerousPattern::Yes, false)
        };
        assert_eq!(verdict(RationalityLevel::High), Verdict::Allow);
        assert_eq!(verdict(RationalityLevel::Low), Verdict::Modify);
    }
}
