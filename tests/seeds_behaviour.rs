//! The founding documents' thresholds and tables of behaviour, each under the name of its document.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::cli::CHECKS;
use lazaret::domain::{
    ActionKind, Behaviour, Finding, HistoryEntry, Intervened, InterventionKind, Marked, Outcome, Pattern,
    Place, Policy, ResourceMode, Score, Sensitivity, Span,
};
use lazaret::host::config;
use lazaret::review::behaviour::{History, Judged, by_severity, choose, find, judge};
use lazaret::review::limits::share;
use lazaret::review::{risk, with_patterns};

fn entry(number: u64) -> HistoryEntry {
    HistoryEntry {
        number,
        age_ms: 0,
        call: number,
        action: number,
        agent: 0,
        tool: 1,
        path: number,
        error: 0,
        operation: ActionKind::Read,
        place: Place::Inside,
        outcome: Outcome::Done,
        missing: false,
        alignment: 100,
        duration_ms: 0,
        size: 0,
        prompt: 1,
        marked: Marked::default(),
    }
}

/// The patterns after these entries, the last of which is the newest.
fn found(entries: &[HistoryEntry], policy: &Policy) -> Vec<Finding> {
    let newest: Vec<HistoryEntry> = entries.iter().rev().copied().collect();
    find(&History::new(&newest[0], &newest[1..]), &Behaviour::default(), policy)
}

fn names(entries: &[HistoryEntry], policy: &Policy) -> Vec<String> {
    found(entries, policy).into_iter().map(|finding| finding.pattern).collect()
}

fn sensitive(sensitivity: Sensitivity) -> Policy {
    let mut policy = Policy::default();
    policy.patterns.sensitivity = sensitivity;
    policy
}

fn failing(number: u64) -> HistoryEntry {
    HistoryEntry { outcome: Outcome::Failed, error: 7, operation: ActionKind::Execute, ..entry(number) }
}

/// Seed 000, "Configuration Schema": the defaults of `patterns` and `interventions`.
#[test]
fn seed_000_defaults() {
    let policy = Policy::default();
    assert_eq!(policy.patterns.enabled, ["all"]);
    assert_eq!(policy.patterns.sensitivity, Sensitivity::Medium);
    assert!(policy.interventions.soft_correction && policy.interventions.hard_stop);
    assert_eq!(policy.interventions.max_retries, 3);
}

/// Seed 000, "Configuration Schema": the limits of `resources`. Issue 5: off unless asked for, per prompt, told of at 50, 75 and 90 %.
#[test]
fn seed_000_resources() {
    let limits = Policy::default().resources;
    assert_eq!(
        (limits.max_file_operations, limits.max_memory, limits.max_execution_time, limits.max_token_usage),
        (100, 512, 300, 100_000)
    );
    for mode in [limits.mode, limits.memory, limits.execution_time, limits.token_usage] {
        assert_eq!(mode, ResourceMode::Off);
    }
    assert_eq!(limits.per, Span::Prompt);
    let shares = [0, 49, 50, 74, 75, 89, 90, 250].map(|used| share(used, 100));
    assert_eq!(shares, [0, 0, 50, 50, 75, 75, 90, 90]);
}

/// Seed 000, "Pattern Detector": the severities of the four patterns, as the highest that evidence brings them to. Issue 14, item 4:
/// what says only where the work goes is corrected, and no more.
#[test]
fn seed_000_classes() {
    assert_eq!(Pattern::RepetitiveErrors.cap(), 69, "medium");
    assert_eq!(Pattern::ScopeCreep.cap(), Finding::CORRECTED, "words");
    assert_eq!(Pattern::ResourceSpiral.cap(), 100, "critical");
    assert_eq!(Pattern::GoalDrift.cap(), Finding::CORRECTED, "words");
}

/// Seed 000, "Extensibility": a custom pattern has a severity, with the classes of the built-in ones.
#[test]
fn seed_000_classes_of_custom_patterns() {
    let text = "[[patterns.custom]]\nname = 'own'\nwindow = 9\nfilter = { outcome = ['failed'] }\ncount = 1\ntext = 'stop'\n\
                fires = [['a => failed']]\nsilent = [['a']]\n";
    let cap = |severity: &str| {
        let text = format!("{text}severity = '{severity}'\n");
        config::custom_of(text.as_bytes(), None, CHECKS).patterns[0].cap()
    };
    assert_eq!(cap("medium"), Pattern::RepetitiveErrors.cap());
    assert_eq!(cap("high"), 89);
    assert_eq!(cap("critical"), Pattern::ResourceSpiral.cap());
    assert_eq!(by_severity(cap("low")), InterventionKind::SoftCorrection);
}

/// Seed 000, "Intervention Controller": `select_intervention`.
#[test]
fn seed_000_cut_offs() {
    use InterventionKind::{
        CheckpointRollback, ContextReinforcement, EmergencyStop, ResourceThrottling, SoftCorrection,
    };
    for (severity, kind) in [
        (0, SoftCorrection),
        (29, SoftCorrection),
        (30, ContextReinforcement),
        (49, ContextReinforcement),
        (50, ResourceThrottling),
        (69, ResourceThrottling),
        (70, CheckpointRollback),
        (89, CheckpointRollback),
        (90, EmergencyStop),
        (100, EmergencyStop),
    ] {
        assert_eq!(by_severity(severity), kind, "{severity}");
    }
}

/// Seed 000, `repetitive_errors`: threshold 3; the design: in the last ten results.
#[test]
fn seed_000_repetitive_errors() {
    let three: Vec<HistoryEntry> = (1..=3).map(failing).collect();
    assert_eq!(names(&three, &Policy::default()), ["repetitive_errors"]);
    assert!(names(&three[..2], &Policy::default()).is_empty());
    let mut spread: Vec<HistoryEntry> = vec![failing(1)];
    spread.extend((2..=9).map(entry));
    spread.extend([failing(10), failing(11)]);
    assert!(names(&spread, &Policy::default()).is_empty(), "the first is the eleventh result");
    assert!(names(&three, &sensitive(Sensitivity::Low)).is_empty());
    assert_eq!(names(&three[..2], &sensitive(Sensitivity::High)), ["repetitive_errors"]);
}

/// Seed 000, `scope_creep`: threshold 0.3; the design: of at least five accesses.
#[test]
fn seed_000_scope_creep() {
    let outside = |number| HistoryEntry { place: Place::Outside, ..entry(number) };
    let shares = |inside: u64, others: u64| {
        let entries: Vec<HistoryEntry> =
            (0..inside).map(entry).chain((inside..inside + others).map(outside)).collect();
        names(&entries, &Policy::default())
    };
    assert!(shares(2, 2).is_empty(), "four accesses");
    assert_eq!(shares(3, 2), ["scope_creep"]);
    assert!(shares(7, 3).is_empty(), "not more than .3");
    assert_eq!(shares(6, 3), ["scope_creep"]);
}

/// Seed 000, `goal_drift`: threshold 0.5; the design: over 20 actions, and falling by .3 between the halves.
#[test]
fn seed_000_goal_drift() {
    let halves = |first: u8, second: u8, count: u64| {
        let aligned = |number| HistoryEntry {
            alignment: if number < count / 2 { first } else { second },
            ..entry(number)
        };
        names(&(0..count).map(aligned).collect::<Vec<_>>(), &Policy::default())
    };
    assert_eq!(halves(64, 34, 20), ["goal_drift"]);
    assert!(halves(65, 35, 20).is_empty(), "the mean is .5");
    assert!(halves(60, 31, 20).is_empty(), "it falls by less than .3");
    assert!(halves(60, 20, 19).is_empty(), "19 actions");
}

/// Seed 000, `resource_spiral`: threshold 0.8 of a budget; the design: growth > 1.5. Seed 000, `resources`: 300 s, 100 file operations.
#[test]
fn seed_000_resource_spiral() {
    let times = |seconds: &[u32]| {
        let took = |(number, seconds): (usize, &u32)| HistoryEntry {
            duration_ms: seconds * 1000,
            operation: ActionKind::Execute,
            ..entry(number as u64)
        };
        names(&seconds.iter().enumerate().map(took).collect::<Vec<_>>(), &Policy::default())
    };
    assert_eq!(times(&[2, 4, 8, 16, 32, 64]), ["resource_spiral"]);
    assert!(times(&[4, 8, 16, 32, 64]).is_empty(), "four steps");
    assert!(times(&[1, 2, 3, 6, 9, 15]).is_empty(), "below .8 of the limit");
    assert!(times(&[30, 40, 50, 60, 70, 80]).is_empty(), "growth below 1.5");
    let write = |number| HistoryEntry { operation: ActionKind::Write, ..entry(number) };
    let ramp: Vec<HistoryEntry> = (0..100)
        .map(|n| match n {
            0..=69 => write(n),
            70..=79 => {
                if n < 72 {
                    write(n)
                } else {
                    entry(n)
                }
            }
            80..=89 => {
                if n < 84 {
                    write(n)
                } else {
                    entry(n)
                }
            }
            _ => {
                if n < 98 {
                    write(n)
                } else {
                    entry(n)
                }
            }
        })
        .collect();
    assert!(names(&ramp, &Policy::default()).is_empty(), "no limit is set");
    let mut limited = Policy::default();
    limited.resources.mode = ResourceMode::Warn;
    assert_eq!(limited.resources.max_file_operations, 100);
    assert_eq!(names(&ramp, &limited), ["resource_spiral"]);
}

/// The wider design's patterns, and repeated blocks: same call three times, or eight blocks in twenty calls.
#[test]
fn our_own_patterns() {
    let missing =
        |number| HistoryEntry { missing: true, outcome: Outcome::Failed, error: 9, ..entry(number) };
    assert_eq!(names(&(1..=5).map(missing).collect::<Vec<_>>(), &Policy::default()), ["failed_references"]);
    assert!(names(&(1..=4).map(missing).collect::<Vec<_>>(), &Policy::default()).is_empty());
    let looks = |count| names(&(1..=count).map(entry).collect::<Vec<_>>(), &Policy::default());
    assert_eq!(looks(120), ["exploration_wandering"]);
    assert!(looks(119).is_empty());
    let blocked = |number, action| HistoryEntry { outcome: Outcome::Blocked, action, ..entry(number) };
    let same = |count| (1..=count).map(|n| blocked(n, 5)).collect::<Vec<_>>();
    assert_eq!(names(&same(3), &Policy::default()), ["repeated_blocks"]);
    assert!(names(&same(2), &Policy::default()).is_empty());
    let any = |count| (1..=count).map(|n| blocked(n, n)).collect::<Vec<_>>();
    assert_eq!(names(&any(8), &Policy::default()), ["repeated_blocks"]);
    assert!(names(&any(7), &Policy::default()).is_empty());
}

fn finding(pattern: Pattern, severity: u8) -> Finding {
    Finding {
        pattern: pattern.name().to_owned(),
        confidence: 80,
        severity,
        evidence: "seen".to_owned(),
        count: 3,
    }
}

fn made(kind: InterventionKind, entry: u64, effective: Option<bool>) -> Intervened {
    let pattern = Pattern::ScopeCreep.name().to_owned();
    Intervened { kind, pattern, at_ms: entry * 60_000, entry, prompt: 1, effective }
}

fn chosen(severity: u8, interventions: Vec<Intervened>, now_ms: u64) -> Option<InterventionKind> {
    let behaviour = Behaviour { interventions, ..Behaviour::default() };
    let policy = Policy::default();
    let found = [finding(Pattern::ScopeCreep, severity)];
    choose(&found, &behaviour, &entry(1000), now_ms, &policy).map(|chosen| chosen.kind)
}

/// The design, "Interventions": cooldown 30 s, at most 10 per prompt, an emergency does not wait.
#[test]
fn cooldown_and_most() {
    let soft = || vec![made(InterventionKind::SoftCorrection, 1, Some(true))];
    assert_eq!(chosen(20, soft(), 60_000 + 29_999), None);
    assert_eq!(chosen(20, soft(), 60_000 + 30_000), Some(InterventionKind::SoftCorrection));
    let ten: Vec<Intervened> =
        (1..=10).map(|n| made(InterventionKind::SoftCorrection, n, Some(true))).collect();
    assert_eq!(chosen(20, ten[..9].to_vec(), u64::MAX), Some(InterventionKind::SoftCorrection));
    assert_eq!(chosen(20, ten, u64::MAX), None);
}

/// Seed 000, `max_retries: 3`: the same pattern after three in vain meets the next kind, up to what its class allows.
#[test]
fn seed_000_max_retries() {
    use InterventionKind::{CheckpointRollback, ContextReinforcement, SoftCorrection};
    let vain = |kind| (1..=3).map(move |n| made(kind, n, Some(false)));
    assert_eq!(chosen(20, vain(SoftCorrection).take(2).collect(), u64::MAX), Some(SoftCorrection));
    assert_eq!(chosen(20, vain(SoftCorrection).collect(), u64::MAX), Some(ContextReinforcement));
    assert_eq!(
        chosen(75, vain(CheckpointRollback).collect(), u64::MAX),
        Some(ContextReinforcement),
        "what says only where the work goes is met with words"
    );
    let waiting = vec![made(SoftCorrection, 995, None)];
    assert_eq!(chosen(20, waiting.clone(), u64::MAX), None, "it has ten entries to work");
    assert_eq!(chosen(40, waiting, u64::MAX), Some(ContextReinforcement), "more is called for");
}

/// The design: an intervention worked when the pattern has ended within the next ten actions.
#[test]
fn effectiveness_is_known_after_ten_deeds() {
    let after = |errors_go_on: bool, count: u64| {
        let mut behaviour = Behaviour::default();
        let mut entries: Vec<HistoryEntry> = Vec::new();
        for number in 1..=count {
            let entry = if number <= 3 || errors_go_on { failing(number) } else { entry(number) };
            let history = History::new(&entry, &entries);
            let Judged { .. } = judge(&history, &mut behaviour, None, number * 1000, &Policy::default());
            entries.insert(0, entry);
        }
        behaviour.interventions[0].effective
    };
    assert_eq!(after(false, 12), None);
    assert_eq!(after(false, 13), Some(true));
    assert_eq!(after(true, 13), Some(false));
}

/// The design, "Scales": pattern confidence × .3, of patterns that ask for more than a soft correction.
#[test]
fn pattern_modifier() {
    let policy = Policy::default();
    let effect = lazaret::domain::Effect {
        kind: lazaret::domain::EffectKind::FileModification,
        target: lazaret::domain::Target::None,
        severity: lazaret::domain::Severity::Medium,
        reversible: true,
        disposable: false,
        privileged: false,
    };
    let with = |severity| {
        let behaviour =
            Behaviour { found: vec![finding(Pattern::ScopeCreep, severity)], ..Behaviour::default() };
        let plain = risk(std::slice::from_ref(&effect), 0, &[], &Default::default(), &policy);
        with_patterns(plain, &behaviour, &policy)
    };
    assert_eq!(with(49).score, Score::new(0.4));
    assert_eq!(with(50).score, Score::new(0.4 + 0.8 * 0.3));
    assert!((with(50).modifiers.pattern - 0.24).abs() < 1e-9);
}
