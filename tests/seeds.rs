//! The founding documents' own tables and tests, cell by cell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::domain::{
    Effect, EffectKind, Issue, Mode, Outcome, PastCall, Places, Policy, RationalityLevel, RiskLevel, Score,
    Severity, Target, Verdict,
};
use lazaret::review::{
    DangerousPattern, base_risk, base_verdict, final_verdict, rationality, risk, risk_level,
};

fn effect(kind: EffectKind, path: &str) -> Effect {
    Effect {
        kind,
        target: Target::Path { path: path.to_owned(), glob: false, recursive: false },
        severity: Severity::High,
        reversible: false,
        disposable: false,
        privileged: false,
    }
}

/// Step reviewer, "Decision Engine": the matrix.
#[test]
fn decision_matrix() {
    use RationalityLevel::{High as H, Low as L, Medium as M};
    let rows = [
        (RiskLevel::Low, [(H, Verdict::Allow), (M, Verdict::Allow), (L, Verdict::Warn)]),
        (RiskLevel::Medium, [(H, Verdict::Allow), (M, Verdict::Warn), (L, Verdict::Modify)]),
        (RiskLevel::High, [(H, Verdict::Warn), (M, Verdict::Modify), (L, Verdict::Block)]),
        (RiskLevel::Critical, [(H, Verdict::Block), (M, Verdict::Block), (L, Verdict::Block)]),
    ];
    for (risk, cells) in rows {
        for (rationality, expected) in cells {
            assert_eq!(base_verdict(risk, rationality), expected, "{} x {}", risk.name(), rationality.name());
        }
    }
    for rationality in [H, M, L] {
        assert_eq!(
            base_verdict(RiskLevel::Minimal, rationality),
            base_verdict(RiskLevel::Low, rationality),
            "below low is treated as low"
        );
    }
}

/// Step reviewer, "Decision Engine": `apply_decision_rules`, in their order.
#[test]
fn decision_rules() {
    let critical = Some(Severity::Critical);
    let none = DangerousPattern::No;
    for base in [Verdict::Allow, Verdict::Warn, Verdict::Modify, Verdict::Block] {
        assert_eq!(final_verdict(base, RiskLevel::Low, critical, none, true), Verdict::Block);
        assert_eq!(
            final_verdict(base, RiskLevel::Medium, Some(Severity::High), none, false),
            base,
            "the base decision is the default"
        );
    }
    assert_eq!(final_verdict(Verdict::Warn, RiskLevel::Medium, None, none, true), Verdict::Allow);
    assert_eq!(final_verdict(Verdict::Warn, RiskLevel::High, None, none, true), Verdict::Warn);
    assert_eq!(
        final_verdict(Verdict::Warn, RiskLevel::Medium, None, DangerousPattern::Yes, true),
        Verdict::Modify,
        "a pattern comes before first-time"
    );
    assert_eq!(
        final_verdict(Verdict::Block, RiskLevel::High, None, DangerousPattern::Yes, true),
        Verdict::Block
    );
}

/// Step reviewer, "Risk Analysis": the six factors.
#[test]
fn risk_factors() {
    for (kind, base) in [
        (EffectKind::FileDeletion, 0.8),
        (EffectKind::SystemCommand, 0.7),
        (EffectKind::NetworkRequest, 0.6),
        (EffectKind::FileModification, 0.4),
        (EffectKind::FileCreation, 0.3),
        (EffectKind::FileRead, 0.1),
    ] {
        assert_eq!(base_risk(kind), base, "{}", kind.name());
    }
}

/// Step reviewer, "Configuration": `mode` and `async_threshold`.
#[test]
fn review_mode() {
    let policy = Policy::default();
    assert_eq!((policy.mode, policy.async_threshold), (Mode::Blocking, 0.3));
}

/// Step reviewer, "Configuration": risk bands are lower bounds.
#[test]
fn risk_bands() {
    let bounds = Policy::default().risk;
    for (score, level) in [
        (0.0, RiskLevel::Minimal),
        (0.29, RiskLevel::Minimal),
        (0.3, RiskLevel::Low),
        (0.59, RiskLevel::Low),
        (0.6, RiskLevel::Medium),
        (0.79, RiskLevel::Medium),
        (0.8, RiskLevel::High),
        (0.94, RiskLevel::High),
        (0.95, RiskLevel::Critical),
        (1.0, RiskLevel::Critical),
        (f64::NAN, RiskLevel::Critical),
    ] {
        assert_eq!(risk_level(Score::new(score), &bounds), level, "{score}");
    }
    assert_eq!(
        risk_level(Score::new(0.3 + 0.3), &bounds),
        RiskLevel::Medium,
        "sums are not lost to rounding"
    );
}

/// Step reviewer, "Testing": calculates high risk for file deletion.
#[test]
fn high_risk_for_file_deletion() {
    let places = Places { repo: Some("/important".to_owned()), ..Places::default() };
    let effects = [effect(EffectKind::FileDeletion, "/important/file.txt")];
    let risk = risk(&effects, 0, &[], &places, &Policy::default());
    assert!(risk.score.get() > 0.7);
    assert_eq!(risk.level, RiskLevel::High);
}

/// Step reviewer, "Testing": applies scope modifier correctly.
#[test]
fn scope_modifier() {
    let places = Places::default();
    let policy = Policy { scope: vec!["/project/**".to_owned()], ..Policy::default() };
    let out = [effect(EffectKind::FileModification, "/outside/scope/file.txt")];
    let out = risk(&out, 0, &[], &places, &policy);
    assert!(out.score.get() > 0.5);
    assert!(out.factors.contains(&"out_of_scope"));
    assert_eq!(out.modifiers.scope, 0.3);
    let inside = [effect(EffectKind::FileModification, "/project/src/file.txt")];
    assert_eq!(risk(&inside, 0, &[], &places, &policy).modifiers.scope, 0.0);
}

/// Step reviewer, "Risk Analysis": `repetition_modifier`.
#[test]
fn repetition_modifier() {
    let failed = PastCall {
        action: 9,
        agent: 0,
        tool: 0,
        age_ms: 0,
        outcome: Outcome::Failed,
        writes: false,
        damaged: false,
    };
    let effects = [effect(EffectKind::FileRead, "/p/x")];
    let places = Places { repo: Some("/p".to_owned()), ..Places::default() };
    for (failures, expected) in [(0, 0.0), (1, 0.1), (2, 0.2), (3, 0.4), (9, 0.4)] {
        let history = vec![failed; failures];
        let risk = risk(&effects, 9, &history, &places, &Policy::default());
        assert_eq!(risk.modifiers.repetition, expected, "{failures} failures");
    }
}

/// Step reviewer, "Testing": blocks high risk low rationality actions.
#[test]
fn blocks_high_risk_low_rationality() {
    assert_eq!(base_verdict(RiskLevel::High, RationalityLevel::Low), Verdict::Block);
    let verdict =
        final_verdict(Verdict::Block, RiskLevel::High, Some(Severity::High), DangerousPattern::No, true);
    assert_eq!(verdict, Verdict::Block);
}

/// The design's weights: .4 goal alignment, .3 progression, .1 efficiency, .2 completeness; high >= .8, medium >= .5.
#[test]
fn rationality_weights_and_bands() {
    let policy = Policy { goals: vec!["documentation".to_owned()], ..Policy::default() };
    let failed = PastCall {
        action: 1,
        agent: 0,
        tool: 0,
        age_ms: 0,
        outcome: Outcome::Failed,
        writes: false,
        damaged: false,
    };
    let lowest = rationality("make", 1, false, &[failed], &policy);
    assert!((lowest.score.get() - (0.3 * 0.3 + 0.1 + 0.2 * 0.5)).abs() < 1e-9);
    assert_eq!(lowest.level, RationalityLevel::Low);
    let unknown_goals = rationality("make", 1, true, &[], &Policy::default());
    assert_eq!(
        unknown_goals.components.goal_alignment,
        Score::ONE,
        "unknown goals are not held against the agent"
    );
    assert_eq!(unknown_goals.level, RationalityLevel::High);
    assert_eq!(Policy::default().rationality.high, 0.8);
    assert_eq!(Policy::default().rationality.medium, 0.5);
}

/// Goals, whether all was understood, and what came before; the score and what speaks against it.
type Judged<'a> = (&'a Policy, bool, &'a [PastCall], Score, &'a [Issue]);

/// Seed 002, `check_rationality`: each of the four parts has its issue from one half down, and each issue its suggestion.
#[test]
fn rationality_issues_and_suggestions() {
    let past = |outcome| PastCall {
        action: 1,
        agent: 0,
        tool: 0,
        age_ms: 0,
        outcome,
        writes: false,
        damaged: false,
    };
    let known = Policy { goals: vec!["documentation".to_owned()], ..Policy::default() };
    let unknown = Policy::default();
    let (failed, done) = ([past(Outcome::Failed)], [past(Outcome::Done)]);
    let cells: [Judged<'_>; 6] = [
        (&unknown, true, &[], Score::new(0.4 + 0.3 * 0.7 + 0.1 + 0.2), &[]),
        (&known, true, &[], Score::new(0.3 * 0.7 + 0.1 + 0.2), &[Issue::NotAligned]),
        (&unknown, true, &failed, Score::new(0.4 + 0.3 * 0.3 + 0.1 + 0.2), &[Issue::RepeatsFailure]),
        (&unknown, true, &done, Score::new(0.4 + 0.3 + 0.1 * 0.5 + 0.2), &[Issue::RepeatsDone]),
        (&unknown, false, &[], Score::new(0.4 + 0.3 * 0.7 + 0.1 + 0.2 * 0.5), &[Issue::NotUnderstood]),
        (
            &known,
            false,
            &failed,
            Score::new(0.3 * 0.3 + 0.1 + 0.2 * 0.5),
            &[Issue::NotAligned, Issue::RepeatsFailure, Issue::NotUnderstood],
        ),
    ];
    for (policy, complete, history, score, issues) in cells {
        let judged = rationality("make", 1, complete, history, policy);
        assert!((judged.score.get() - score.get()).abs() < 1e-9, "{issues:?}: {}", judged.score.get());
        assert_eq!(judged.issues, issues);
    }
    let suggestions = Issue::ALL.map(Issue::suggestion);
    assert!(suggestions.iter().all(|text| text.len() > 20), "{suggestions:?}");
}

/// Step reviewer, "Rule Engine": priority block > modify > warn > allow.
#[test]
fn verdict_priority() {
    assert!(Verdict::Block > Verdict::Modify);
    assert!(Verdict::Modify > Verdict::Warn);
    assert!(Verdict::Warn > Verdict::Allow);
}

/// Review mode: 100 calls per 60 s and agent, 5 agents at once, 5 minutes.
#[test]
fn quarantine_limits() {
    let quarantine = Policy::default().quarantine;
    assert_eq!((quarantine.calls, quarantine.window_seconds), (100, 60));
    assert_eq!((quarantine.concurrent, quarantine.timeout_seconds), (5, 300));
    assert_eq!(quarantine.agent_types, ["quarantine-reviewer"]);
}
