//! Every built-in rule against its own examples, in a made-up world, through the survey and the matcher.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::HashSet;

use lazaret::domain::{
    Asking, Client, Decision, Outcome, PastCall, Policy, SessionId, Stand, Subject, Trust, Verdict,
};
use lazaret::review::{self, Case};
use lazaret::rules::{Instead, NONE, all, examples, find, fixture};

fn fired(example: &str) -> Vec<String> {
    fixture::reasons(example, &Policy::default()).into_iter().map(|reason| reason.rule).collect()
}

/// Fails with everything that is wrong, not only the first.
fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_fires_on_its_examples() {
    let mut wrong = Vec::new();
    for rule in all() {
        for example in rule.fires() {
            let fired = fired(example);
            if !fired.iter().any(|id| id == rule.id) {
                wrong.push(format!("{}: {example}\n    fired: {fired:?}", rule.id));
            }
        }
    }
    report(&wrong);
}

#[test]
fn every_rule_is_silent_on_its_near_misses() {
    let mut wrong = Vec::new();
    for rule in all() {
        for example in rule.silent() {
            if fired(example).iter().any(|id| id == rule.id) {
                wrong.push(format!("{}: {example}", rule.id));
            }
        }
    }
    report(&wrong);
}

/// An agent's session in the made-up world, with the calls that lazaret remembers of it.
struct Session {
    subject: Subject,
    asking: Asking,
    stand: Stand,
}

impl Session {
    fn new(client: Client, asking: Asking) -> Session {
        let session = SessionId::new("examples").unwrap();
        let subject = Subject { client, session, agent: None, agent_type: None };
        Session { subject, asking, stand: Stand::default() }
    }

    /// The whole decision on a call, which is remembered as the hook does it.
    fn call(&mut self, example: &str) -> Decision {
        let policy = Policy::default();
        let call = fixture::call(example);
        let (survey, facts) = fixture::survey_of(&call, &policy);
        let decision = review::decide(&Case {
            subject: &self.subject,
            call: &call,
            cwd: fixture::PROJECT,
            trust: Trust::Ordinary,
            standing: None,
            asking: self.asking,
            survey: &survey,
            facts: &facts,
            policy: &policy,
            stand: &self.stand,
            now_s: 0,
        });
        let identity = review::identify(&self.subject, &call);
        let stopped = decision.verdict() > Verdict::Warn;
        self.stand.history.iter_mut().for_each(|past| past.age_ms += 1000);
        let past = PastCall {
            action: identity.action,
            agent: identity.agent,
            tool: identity.tool,
            age_ms: 0,
            outcome: if stopped { Outcome::Blocked } else { Outcome::Done },
            writes: false,
            damaged: false,
        };
        self.stand.history.insert(0, past);
        decision
    }
}

/// The call in which a alternative is taken: where the example goes to a directory first, so does it.
fn in_its_place(example: &str, command: &str) -> String {
    match example
        .split_once("&& ")
        .filter(|(front, _)| front.starts_with("cd ") && !front.contains(['|', ';']))
    {
        Some((front, _)) => format!("{front}&& {command}"),
        None => command.to_owned(),
    }
}

#[test]
fn every_alternative_that_is_a_command_is_let_through_after_each_example() {
    let mut wrong = Vec::new();
    for rule in all() {
        if !matches!(rule.instead, Some(Instead::Command(_))) {
            continue;
        }
        for example in rule.fires() {
            for (client, asking) in [(Client::ClaudeCode, Asking::Yes), (Client::OpenCode, Asking::No)] {
                let mut session = Session::new(client, asking);
                // An agent tries the same again before it takes how to go on.
                let mut told = None;
                for _ in 0..3 {
                    let decision = session.call(example);
                    let own = decision.reasons().iter().find(|reason| reason.rule == rule.id);
                    told = own.and_then(|reason| reason.instead.clone());
                }
                let Some(command) = told.filter(|told| told != NONE) else { continue };
                let hint = in_its_place(example, &command);
                let decision = session.call(&hint);
                if decision.verdict() > Verdict::Warn {
                    let by: Vec<&str> =
                        decision.reasons().iter().map(|reason| reason.rule.as_str()).collect();
                    wrong.push(format!("{}: {hint} after {example} gives {by:?}", rule.id));
                }
            }
        }
    }
    report(&wrong);
}

/// Every reason that stops a call names how to go on, whoever gives it: a rule, the matrix, a bound.
#[test]
fn every_call_that_is_stopped_names_an_alternative() {
    let mut wrong = Vec::new();
    for rule in all() {
        for example in rule.fires() {
            let decision = Session::new(Client::ClaudeCode, Asking::Yes).call(example);
            for reason in decision.reasons().iter().filter(|reason| reason.verdict > Verdict::Warn) {
                if reason.instead.as_deref().is_none_or(str::is_empty) {
                    wrong.push(format!("{} on {example}", reason.rule));
                }
            }
        }
    }
    report(&wrong);
}

#[test]
fn the_table_holds_together() {
    let mut ids = HashSet::new();
    for rule in all() {
        assert!(ids.insert(rule.id), "{} stands twice", rule.id);
        assert_eq!(find(rule.id).map(|found| found.id), Some(rule.id));
        let (subject, name) = rule.id.split_once('.').expect("an id is subject.name");
        let plain = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(plain(subject) && plain(name), "{}", rule.id);
        assert!(rule.fires().len() >= 2 && rule.silent().len() >= 2, "{}: too few examples", rule.id);
        assert!(!rule.reason.is_empty() && !rule.reason.ends_with('.'), "{}: {}", rule.id, rule.reason);
        assert!(rule.reason.chars().next().is_some_and(char::is_lowercase), "{}: {}", rule.id, rule.reason);
        assert!(
            rule.instead.is_some_and(|instead| !instead.text().is_empty()),
            "{}: no alternative",
            rule.id
        );
        assert!(rule.verdict > Verdict::Allow, "{} says nothing", rule.id);
        assert!(
            rule.rewriter.is_none() || rule.verdict == Verdict::Modify,
            "{}: only what is modified is rewritten",
            rule.id
        );
        let silent: HashSet<_> = rule.silent().iter().collect();
        assert!(rule.fires().iter().all(|example| !silent.contains(example)), "{}: both", rule.id);
    }
    assert!(ids.len() >= 150, "only {} rules", ids.len());
}

#[test]
fn what_matched_is_quoted_and_short() {
    let long = format!("git reset --hard {}", "x".repeat(1000));
    let reasons = fixture::reasons(&long, &Policy::default());
    let reason = reasons.iter().find(|reason| reason.rule == "git.reset-hard").expect("it fires");
    assert!(reason.matched.starts_with("git reset --hard"), "{}", reason.matched);
    assert!(reason.matched.len() <= 200 + '…'.len_utf8(), "{}", reason.matched.len());
}

#[test]
fn rules_can_be_switched_off() {
    use lazaret::domain::BuiltinRules;
    let with = |change: &dyn Fn(&mut Policy)| {
        let mut policy = Policy::default();
        change(&mut policy);
        fixture::reasons("git reset --hard", &policy).iter().any(|reason| reason.rule == "git.reset-hard")
    };
    assert!(with(&|_| {}));
    assert!(!with(&|policy| policy.disabled_rules.push("git.reset-hard".to_owned())));
    assert!(!with(&|policy| policy.builtin_rules = BuiltinRules::None));
    assert!(!with(&|policy| policy.builtin_rules = BuiltinRules::Essential), "it is not critical");
    let mut policy = Policy { builtin_rules: BuiltinRules::Essential, ..Policy::default() };
    policy.disabled_rules.clear();
    assert!(fixture::reasons("rm -rf /", &policy).iter().any(|reason| reason.rule == "files.delete-root"));
}

#[test]
fn every_example_belongs_to_a_rule() {
    let known: HashSet<&str> = all().map(|rule| rule.id).collect();
    let strange: Vec<&str> = examples::ids().filter(|id| !known.contains(id)).collect();
    assert!(strange.is_empty(), "examples of no rule: {strange:?}");
    assert_eq!(examples::ids().count(), known.len());
}
