//! The whole decision on any text as a shell command, in the made-up world of the rules' examples.
#![no_main]

use lazaret::domain::{Asking, Client, Policy, SessionId, Stand, Subject, Trust, Verdict};
use lazaret::review::{Case, decide};
use lazaret::rules::fixture;

/// What is decided of a command; it ends in a verdict, and in a block where a bound was passed.
fn verdict(command: &str) -> Verdict {
    let call = fixture::call(command);
    let policy = Policy::default();
    let (survey, facts) = fixture::survey_of(&call, &policy);
    let session = SessionId::new("fuzz").expect("an id");
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let stand = Stand::default();
    let decision = decide(&Case {
        subject: &subject,
        call: &call,
        cwd: fixture::PROJECT,
        trust: Trust::Ordinary,
        standing: None,
        asking: Asking::Yes,
        survey: &survey,
        facts: &facts,
        policy: &policy,
        stand: &stand,
        now_s: 0,
    });
    if survey.bound {
        assert_eq!(decision.verdict(), Verdict::Block);
    }
    if survey.problem.is_some() {
        assert!(decision.verdict() > Verdict::Allow, "not understood, and allowed");
    }
    for reason in decision.reasons() {
        assert!(reason.matched.len() < 1000 && !reason.rule.is_empty());
    }
    decision.verdict()
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let plain = verdict(text);
    assert_eq!(verdict(text), plain, "the same call, the same verdict");
});
