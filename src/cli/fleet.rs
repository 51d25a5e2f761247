//! What holds on several machines, in the order of a call: what is asked of the service, and what its answer makes of the decision.

use crate::domain::fleet::{Answered, Asked, Caller, Counted, Lease, STOPPED, VERSION};
use crate::domain::{
    Asking, Decision, Enforcement, Fault, FleetFault, FleetService, Places, Policy, Reason, Request,
    Severity, Standing, Subject, ToolCall, Trust, Verdict,
};
use crate::host::dirs::Dirs;
use crate::host::{fleet, guard};

/// The note of a call that nobody could be asked about.
const UNASKED: &str = "fleet.unasked";

/// What the service said of a call.
#[derive(Debug)]
pub enum Word {
    Runs,
    /// It also ends the turn.
    Stops(Reason),
    Refuses(Reason),
    Unknown(Fault),
}

/// Asks about a call that is about to run; none where no service is set.
#[inline]
pub fn word(
    told: (&Request, &ToolCall),
    stands: (Trust, Option<&Standing>),
    known: (&Dirs, &Policy, &Places),
) -> Option<Box<Word>> {
    (known.1.fleet.service != FleetService::Off).then(|| Box::new(said(told, stands, known)))
}

#[cold]
fn said(
    (request, call): (&Request, &ToolCall),
    (trust, standing): (Trust, Option<&Standing>),
    (dirs, policy, places): (&Dirs, &Policy, &Places),
) -> Word {
    let tool = call.tool.name();
    let shared = policy.tool_limits.iter().filter(|limit| limit.shared && limit.counts(&tool));
    let counted = shared.map(|limit| Counted {
        tool: limit.tool.clone(),
        calls: limit.calls,
        window_seconds: limit.window_seconds,
    });
    let lease = (trust == Trust::Quarantined)
        .then_some(Lease { most: policy.fleet.quarantined, seconds: policy.quarantine.timeout_seconds });
    let Some(place) = fleet::place(policy.fleet.service, &dirs.state) else { return Word::Runs };
    let repositories = match places.repo.as_deref().map(fleet::remotes) {
        None => Vec::new(),
        Some(Ok(remotes)) => remotes,
        Some(Err(why)) => return Word::Unknown(fleet::fault(&place, why)),
    };
    let review = match standing {
        Some(Standing::In(inside)) => Some(inside.review.as_str()),
        Some(Standing::Out(_)) | None => None,
    };
    let asked = Asked::Call {
        v: VERSION,
        caller: caller(&request.subject),
        repositories,
        review: review.map(str::to_owned),
        limits: counted.collect(),
        lease,
        within_ms: policy.fleet.deadline_ms,
    };
    // What the service may take is not taken from what the call may.
    guard::put_off(policy.deadline_ms.saturating_add(policy.fleet.deadline_ms.into()));
    match fleet::ask(&place, &asked, policy.fleet.deadline_ms) {
        Ok(Answered::Runs) => Word::Runs,
        Ok(Answered::Stopped { what, why, review: true }) => Word::Refuses(stopped(&what, &why)),
        Ok(Answered::Stopped { what, why, review: false }) => Word::Stops(stopped(&what, &why)),
        Ok(Answered::Over { limit, counted }) => Word::Refuses(over(&limit, counted)),
        Ok(Answered::Full { most }) => Word::Refuses(full(most)),
        Ok(Answered::Unknown { why }) => Word::Unknown(fleet::fault(&place, why)),
        Err(fault) => Word::Unknown(fault),
    }
}

/// Tells the service that a quarantined agent has ended. Where that fails, its place is free when its time has passed.
pub fn ended(subject: &Subject, (dirs, policy): (&Dirs, &Policy)) -> Result<(), Fault> {
    let Some(place) = fleet::place(policy.fleet.service, &dirs.state) else { return Ok(()) };
    let asked = Asked::Ended { v: VERSION, caller: caller(subject) };
    fleet::ask(&place, &asked, policy.fleet.deadline_ms).map(drop)
}

fn caller(subject: &Subject) -> Caller {
    Caller {
        client: subject.client.name().to_owned(),
        session: subject.session.as_str().to_owned(),
        agent: subject.agent.as_ref().map(|agent| agent.as_str().to_owned()),
    }
}

/// Puts what the service said to a decision: it never makes one milder.
#[inline]
pub fn heard(decision: &mut Decision, word: Option<&Word>, asking: Asking, policy: &Policy) {
    if let Some(word) = word {
        put(decision, word, asking, policy);
    }
}

#[cold]
fn put(decision: &mut Decision, word: &Word, asking: Asking, policy: &Policy) {
    match word {
        Word::Runs => {}
        Word::Stops(reason) => *decision = Decision::stop(reason.clone()),
        Word::Refuses(reason) => *decision = decision.clone().also([reason.clone()], asking),
        Word::Unknown(fault) => match policy.fleet.on_fault {
            FleetFault::Local => decision.note(UNASKED, fault.message()),
            on_fault => {
                let ask = on_fault == FleetFault::Ask && asking == Asking::Yes;
                *decision = unasked(decision.clone(), fault, ask, asking);
            }
        },
    }
}

/// A decision that somebody else should have had a word in. What speaks against the call already goes on speaking; a change of it cannot
/// be asked about.
fn unasked(decision: Decision, fault: &Fault, ask: bool, asking: Asking) -> Decision {
    if decision.verdict() == Verdict::Allow {
        return Decision::fault(fault.clone(), ask);
    }
    let ask = ask && decision.enforcement() != Enforcement::Rewrite;
    let verdict = if ask { Verdict::Modify } else { Verdict::Block };
    decision.also([Reason::new(fault.kind.code(), verdict, Severity::High, fault.message())], asking)
}

fn stopped(what: &str, why: &str) -> Reason {
    let message = format!("a person stopped {what} on all machines: {why}");
    refusal(STOPPED, message, "end your turn: only a person who runs the fleet can let it go on")
}

fn over(limit: &Counted, counted: u32) -> Reason {
    let Counted { tool, calls, window_seconds } = limit;
    let tool = if tool == "*" { "any tool" } else { tool };
    let message =
        format!("{counted} calls of {tool} on all machines together in {window_seconds} s (limit {calls})");
    refusal("FLEET_LIMIT_EXCEEDED", message, "wait until the window has passed")
}

fn full(most: u32) -> Reason {
    let message = format!("{most} quarantined agents are at work on all machines together, as many as may");
    refusal("FLEET_QUARANTINE_FULL", message, "wait until one of them has ended")
}

fn refusal(rule: &str, message: String, instead: &str) -> Reason {
    let instead = Some(instead.to_owned());
    Reason { instead, ..Reason::new(rule, Verdict::Block, Severity::High, message) }
}
