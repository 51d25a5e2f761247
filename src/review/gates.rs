//! The gates in front of the review: the first that answers ends it.

use crate::domain::{
    Action, Effect, EffectKind, Out, Outcome, Policy, Reason, Rewrite, Severity, Stand, Standing, Subject,
    Tool, ToolCall, ToolLimit, Trust, Verdict, fingerprint,
};
use crate::review::{Case, quarantine};

/// What a quarantined agent is that nobody vouches for.
const NOWHERE: Standing = Standing::Out(Out::NoSession);

/// What the gates say of a call that none of them refuses.
#[derive(Debug)]
pub enum Passed {
    /// The review goes on.
    Ordinary,
    /// A quarantined agent gets the sealed copy, and nothing else is to be decided.
    Sealed(Rewrite),
}

/// The code of a session that was stopped.
pub const STOPPED: &str = "SESSION_STOPPED";
/// Milliseconds in which the calls of a throttled session are counted.
const THROTTLE_MS: u64 = 60_000;

/// Stopped session, quarantine allowlist, typed reference, rate limits: the reason of the first that denies.
pub fn gates(case: &Case<'_>) -> Result<Passed, Reason> {
    let Case { subject, call, stand, policy, .. } = *case;
    if let Some(why) = &stand.stopped {
        let hint = format!("a person can run `lazaret resume {}` at a terminal", subject.session.as_str());
        return Err(deny(STOPPED, format!("this session was stopped: {why}")).with_instead(&hint));
    }
    if let Some(refused) = spent(stand) {
        return Err(refused);
    }
    match case.trust {
        Trust::Quarantined => {
            let change = quarantine::gate(call, case.cwd, case.standing.unwrap_or(&NOWHERE))?;
            match quarantine_limit(subject, stand, policy) {
                Some(limit) => Err(limit),
                None => Ok(Passed::Sealed(change)),
            }
        }
        Trust::Ordinary => {
            let refused =
                tool_limit(subject, call, stand, policy).or_else(|| slowed(case).filter(|_| policy.enabled));
            refused.map_or(Ok(Passed::Ordinary), Err)
        }
    }
}

/// A call beyond those that a supervised run may make.
fn spent(stand: &Stand) -> Option<Reason> {
    let most = stand.behaviour.most_calls.filter(|most| stand.calls >= *most)?;
    let message =
        format!("this supervised run has made all the calls that it may: the session's limit is {most}");
    Some(deny("RUN_LIMIT_EXCEEDED", message).with_instead("say what is done and what is left"))
}

/// What a pattern's intervention refuses: never a call that only looks.
fn slowed(case: &Case<'_>) -> Option<Reason> {
    if case.stand.behaviour.throttle.is_none() && case.stand.behaviour.held.is_none() || only_looks(case) {
        return None;
    }
    throttled(case.stand, case.now_s.saturating_mul(1000)).or_else(|| held(case))
}

/// All of the call is understood, and it does nothing but read.
fn only_looks(case: &Case<'_>) -> bool {
    let reads = |effect: &Effect| effect.kind == EffectKind::FileRead;
    match case.call.action {
        Action::Read { .. } | Action::Search { .. } => true,
        Action::Shell { .. } | Action::Other { .. } => {
            case.survey.problem.is_none() && case.survey.effects.iter().all(reads)
        }
        Action::Write { .. } | Action::Edit { .. } | Action::Fetch { .. } | Action::Spawn { .. } => false,
    }
}

/// Calls of a throttled session beyond its measure; those that were refused do not count.
fn throttled(stand: &Stand, now_ms: u64) -> Option<Reason> {
    let throttle = stand.behaviour.throttle.as_ref().filter(|throttle| now_ms < throttle.until_ms)?;
    let ran = |past: &&crate::domain::PastCall| past.age_ms < THROTTLE_MS && past.outcome != Outcome::Blocked;
    let counted = stand.history.iter().filter(ran).count();
    u32::try_from(counted).map_or(true, |counted| counted >= throttle.calls).then(|| {
        let left = (throttle.until_ms - now_ms).div_ceil(1000);
        let message = format!(
            "this session is slowed down for {}: {counted} calls in the last minute (limit {})",
            throttle.pattern, throttle.calls
        );
        deny("SESSION_THROTTLED", message).with_instead(&format!(
            "wait a minute, or tell the person what you are doing; it ends in {left} s, or when the person says something"
        ))
    })
}

/// Anything but looking, of a session whose changes are held back.
fn held(case: &Case<'_>) -> Option<Reason> {
    let why = case.stand.behaviour.held.as_ref()?;
    let session = case.subject.session.as_str();
    let message = format!("the changes of this session are held back: {why}");
    Some(deny("SESSION_HELD", message).with_instead(&format!(
        "a person can undo the last ones with `lazaret rollback --last --session {session}`; \
         it goes on when the person says something, or runs `lazaret resume {session}`"
    )))
}

fn quarantine_limit(subject: &Subject, stand: &Stand, policy: &Policy) -> Option<Reason> {
    let limits = &policy.quarantine;
    let agent = agent_fingerprint(subject);
    let counted = count(stand, limits.window_seconds, |past| past.agent == agent);
    reached(stand, counted, (limits.calls, limits.window_seconds)).then(|| {
        let message = format!(
            "{} calls of this quarantined agent in {} s (limit {})",
            counted, limits.window_seconds, limits.calls
        );
        deny("RATE_LIMIT_EXCEEDED", message).with_instead("wait until the window has passed")
    })
}

fn tool_limit(subject: &Subject, call: &ToolCall, stand: &Stand, policy: &Policy) -> Option<Reason> {
    let name = call.tool.name();
    let (agent, tool) = (agent_fingerprint(subject), tool_fingerprint(&call.tool));
    let own = policy.tool_limits.iter().filter(|limit| !limit.shared && limit.counts(&name));
    own.into_iter().find_map(|limit| {
        let every = limit.tool == ToolLimit::EVERY;
        let counted =
            count(stand, limit.window_seconds, |past| past.agent == agent && (every || past.tool == tool));
        reached(stand, counted, (limit.calls, limit.window_seconds)).then(|| {
            let message = format!(
                "{counted} calls of {} by this agent in {} s (limit {})",
                if every { "any tool" } else { &name },
                limit.window_seconds,
                limit.calls
            );
            deny("TOOL_LIMIT_EXCEEDED", message).with_instead(
                "wait until the window has passed, or a person raises [[limits.tool]] in the configuration",
            )
        })
    })
}

/// A record that cannot be read counts as a call of every agent and every tool.
fn count(stand: &Stand, window_seconds: u32, matches: impl Fn(&crate::domain::PastCall) -> bool) -> usize {
    let window_ms = u64::from(window_seconds) * 1000;
    stand.history.iter().filter(|past| past.age_ms < window_ms && (past.damaged || matches(past))).count()
}

/// A limit is reached by count, or when calls inside its own window may be missing from the count.
fn reached(stand: &Stand, counted: usize, (limit, window_seconds): (u32, u32)) -> bool {
    stand.lacks(u64::from(window_seconds) * 1000)
        || u32::try_from(counted).map_or(true, |counted| counted >= limit)
}

/// The main agent is 0.
pub fn agent_fingerprint(subject: &Subject) -> u64 {
    subject.agent.as_ref().map_or(0, |agent| fingerprint(&[agent.as_str().as_bytes()]))
}

pub fn tool_fingerprint(tool: &Tool) -> u64 {
    fingerprint(&[tool.name().as_bytes()])
}

struct Denial(Reason);

impl Denial {
    fn with_instead(mut self, instead: &str) -> Reason {
        self.0.instead = Some(instead.to_owned());
        self.0
    }
}

fn deny(code: &str, message: String) -> Denial {
    Denial(Reason::new(code, Verdict::Block, Severity::High, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AgentId, Asking, Client, Facts, PastCall, SessionId};
    use crate::rules::Survey;

    /// What the gates refuse, for an ordinary or a quarantined agent that works in no session.
    fn refused(
        subject: &Subject,
        call: &ToolCall,
        trust: Trust,
        stand: &Stand,
        policy: &Policy,
    ) -> Option<Reason> {
        let (survey, facts) = (Survey::default(), Facts::default());
        let standing = Standing::Out(Out::Unbound);
        let case = Case {
            subject,
            call,
            cwd: "/p",
            trust,
            standing: Some(&standing),
            asking: Asking::Yes,
            survey: &survey,
            facts: &facts,
            policy,
            stand,
            now_s: 0,
        };
        gates(&case).err()
    }

    fn subject(agent: Option<&str>) -> Subject {
        Subject {
            client: Client::ClaudeCode,
            session: SessionId::new("s").unwrap(),
            agent: agent.and_then(AgentId::new),
            agent_type: None,
        }
    }

    fn call(tool: Tool) -> ToolCall {
        ToolCall { tool, action: Action::Other { text: String::new(), claims: Vec::new() }, id: None }
    }

    fn past(agent: u64, tool: &Tool, age_ms: u64) -> PastCall {
        PastCall {
            action: 1,
            agent,
            tool: tool_fingerprint(tool),
            age_ms,
            outcome: Outcome::Done,
            writes: false,
            damaged: false,
        }
    }

    fn limited(calls: u32) -> Policy {
        let limit = ToolLimit { tool: "Bash".to_owned(), calls, window_seconds: 60, shared: false };
        Policy { tool_limits: vec![limit], ..Policy::default() }
    }

    #[test]
    fn the_window_slides() {
        let full = Stand { history: vec![past(0, &Tool::Bash, 59_999); 3], ..Stand::default() };
        let over = refused(&subject(None), &call(Tool::Bash), Trust::Ordinary, &full, &limited(3)).unwrap();
        assert_eq!(over.rule, "TOOL_LIMIT_EXCEEDED");
        let old = Stand { history: vec![past(0, &Tool::Bash, 60_000); 3], ..Stand::default() };
        assert_eq!(refused(&subject(None), &call(Tool::Bash), Trust::Ordinary, &old, &limited(3)), None);
        assert_eq!(
            refused(&subject(Some("a")), &call(Tool::Bash), Trust::Ordinary, &full, &limited(3)),
            None
        );
        assert_eq!(refused(&subject(None), &call(Tool::Read), Trust::Ordinary, &full, &limited(3)), None);
    }

    #[test]
    fn a_damaged_record_counts_for_everybody() {
        let damaged = PastCall { damaged: true, ..past(7, &Tool::Read, 0) };
        let stand = Stand { history: vec![damaged; 3], ..Stand::default() };
        let over = refused(&subject(Some("a")), &call(Tool::Bash), Trust::Ordinary, &stand, &limited(3));
        assert_eq!(over.unwrap().rule, "TOOL_LIMIT_EXCEEDED");
    }

    #[test]
    fn calls_that_may_be_missing_inside_a_limits_own_window_count_as_reached() {
        let stand = |missing_ms| Stand { missing_ms: Some(missing_ms), ..Stand::default() };
        let refused =
            |stand: &Stand| refused(&subject(None), &call(Tool::Bash), Trust::Ordinary, stand, &limited(100));
        assert!(refused(&stand(0)).is_some());
        assert!(refused(&stand(60_000)).is_some());
        // Another limit may look back further.
        assert_eq!(refused(&stand(60_001)), None);
    }
}
