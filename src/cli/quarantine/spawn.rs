//! What an ordinary agent may say to a quarantined one: the task that its review session makes, and nothing else.

use super::{Desk, Task};
use crate::domain::{
    Action, CallId, Decision, Fault, Out, Reason, Request, Rewrite, Severity, Tool, ToolCall, Verdict, clip,
    escape,
};
use crate::host::quarantine::{self, Start};
use crate::review;

/// Tools that reach an agent that was started before.
const SPEAKING: [&str; 2] = ["SendMessage", "TaskOutput"];
/// What to do instead of whatever was refused.
const WAY_OUT: &str =
    "run `lazaret review start FILE…`, and hand over the prompt that it prints, with the agent's type alone";

/// The call as it starts a quarantined agent, or why it does not.
pub type Spawned = Result<Rewrite, Reason>;

impl Desk<'_> {
    /// What is to become of an ordinary agent's call that starts a quarantined agent, or reaches one: none = it does neither.
    pub fn spawn(&self, request: &Request, call: &ToolCall) -> Result<Option<Spawned>, Fault> {
        match (&call.tool, &call.action) {
            (Tool::Agent, Action::Spawn { agent_type, prompt, options }) => {
                if self.starts_quarantined(agent_type.as_deref(), options) {
                    return self.start((request, call), prompt, options).map(Some);
                }
                let said: Vec<&str> = options.iter().map(|(_, raw)| raw.as_str()).collect();
                self.reaches(request, &said)
            }
            (Tool::Internal(name), Action::Other { text, .. }) if SPEAKING.contains(&name.as_str()) => {
                self.reaches(request, &[text])
            }
            _ => Ok(None),
        }
    }

    fn starts_quarantined(&self, agent_type: Option<&str>, options: &[(String, String)]) -> bool {
        let policy = &self.policy.quarantine;
        match agent_type {
            Some(agent_type) => policy.covers(agent_type),
            // The script of a workflow starts agents of its own, whose reports nobody would clean. A task may speak of them.
            None => options.iter().any(|(_, raw)| {
                let lower = raw.to_ascii_lowercase();
                policy.types().any(|listed| lower.contains(&listed.to_ascii_lowercase()))
            }),
        }
    }

    /// The call that was to start a quarantined agent does not run, or has ended: no place is kept for the agent any more.
    pub fn started(&self, request: &Request, call: &ToolCall) -> Result<(), Fault> {
        match (&call.tool, &call.action) {
            (Tool::Agent, Action::Spawn { .. }) => {
                quarantine::unreserve(self.dirs, starting(request, call), self.now)
            }
            _ => Ok(()),
        }
    }

    fn start(
        &self,
        (request, call): (&Request, &ToolCall),
        prompt: &str,
        options: &[(String, String)],
    ) -> Result<Result<Rewrite, Reason>, Fault> {
        if let Some((name, _)) = options.first() {
            let name = escape(&clip(name, 60));
            let message =
                format!("a quarantined agent is started with its type and its task alone, without `{name}`");
            return Ok(Err(refusal("quarantine.options", message)));
        }
        let no_session = |why: &str| Ok(Err(refusal("quarantine.no-session", why.to_owned())));
        let Some(id) = review::session_named(prompt) else {
            return no_session(
                "the task of a quarantined agent names no review session, so it has nothing to read",
            );
        };
        match quarantine::load(self.dirs, &id)? {
            Some(session) if session.ended.is_none() && !session.is_expired(self.now) => {
                let (places, start) = (self.policy.quarantine.concurrent, starting(request, call));
                if !quarantine::reserve(self.dirs, start, &id, self.now, places)? {
                    return Ok(Err(review::out(Out::TooMany)));
                }
                let task = Task::of(self.dirs, &session)?;
                Ok(Ok(Rewrite {
                    name: "review-task".to_owned(),
                    field: "prompt",
                    value: task.whole(),
                    // The report of an agent in the background comes back by a way on which nobody cleans it.
                    also: &[("run_in_background", false)],
                    only: &[],
                    needs_permission: false,
                    told: false,
                }))
            }
            Some(_) => no_session("the review session that the task names has ended"),
            None => no_session("there is no review session of the name in the task"),
        }
    }

    /// Going on with a quarantined agent would bring its words to the trusted one unchecked.
    fn reaches(&self, request: &Request, said: &[&str]) -> Result<Option<Result<Rewrite, Reason>>, Fault> {
        if said.is_empty() {
            return Ok(None);
        }
        let subject = &request.subject;
        let known = quarantine::agents(self.dirs, self.now)?;
        let of_session = known
            .into_iter()
            .filter(|row| row.client == subject.client.name() && row.session == subject.session.as_str());
        let named = of_session.filter_map(|row| row.agent).any(|id| said.iter().any(|raw| raw.contains(&id)));
        let message = "nobody speaks with a quarantined agent, or goes on with it, once it was started";
        Ok(named.then(|| Err(refusal("quarantine.contact", message.to_owned()))))
    }
}

/// The decision on a call of an ordinary agent, with what was found out about the agent that it starts.
pub fn settle(decision: Decision, spawned: Option<&Result<Rewrite, Reason>>) -> Decision {
    let Some(spawned) = spawned else { return decision };
    let denied = !decision.enforcement().lets_run();
    match spawned {
        _ if denied => decision,
        Err(reason) => Decision::new(vec![reason.clone()], None, false),
        Ok(change) if decision.verdict() <= Verdict::Warn => {
            let reason = Reason::new(
                "quarantine.task",
                Verdict::Modify,
                Severity::Low,
                "a quarantined agent gets the task that its review session makes".to_owned(),
            );
            Decision::new(vec![reason], Some(change.clone()), false)
        }
        // A person would be asked about the call as it was.
        Ok(_) => Decision::new(
            vec![refusal("quarantine.task", "the task cannot be replaced".to_owned())],
            None,
            false,
        ),
    }
}

fn starting<'a>(request: &'a Request, call: &'a ToolCall) -> Start<'a> {
    Start {
        client: request.subject.client,
        session: &request.subject.session,
        call: call.id.as_ref().map_or("", CallId::as_str),
    }
}

fn refusal(rule: &str, message: String) -> Reason {
    Reason { instead: Some(WAY_OUT.to_owned()), ..Reason::new(rule, Verdict::Block, Severity::High, message) }
}
