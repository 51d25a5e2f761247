//! Where a quarantined agent stands, found out for one call: its session, the key, its place among the others.

use crate::cli::call;
use crate::cli::record::Log;
use crate::domain::{
    Fault, FaultKind, Inside, Out, Policy, Request, ReviewId, Standing, Subject, ToolCall, Trust, clip,
    escape,
};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::quarantine::{self, AgentKey, Denied, Session, Why};
use crate::reference::Refusal;
use crate::review;

/// What the admission of one call needs of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub dirs: &'a Dirs,
    pub policy: &'a Policy,
    /// The session that the whole client is quarantined for.
    pub client: Option<&'a str>,
    pub now: Now,
    /// Binds an agent that is new, and ends what has timed out; a dry run only looks.
    pub acts: bool,
}

impl Desk<'_> {
    /// Whether the agent is quarantined: by its type, because the whole client is, or because it worked in a review, by
    /// whatever name it goes now. Where the register cannot be asked it counts as quarantined; the main agent is in none.
    pub fn trust(&self, subject: &Subject) -> Trust {
        let trust = call::trust(subject, self.policy, self.client.is_some());
        if trust == Trust::Quarantined || subject.agent.is_none() {
            return trust;
        }
        match quarantine::bound(self.dirs, &AgentKey::of(subject)) {
            Ok(None) => Trust::Ordinary,
            Ok(Some(_)) | Err(_) => Trust::Quarantined,
        }
    }

    /// Where the agent of this call stands.
    pub fn admit(&self, request: &Request, call: &ToolCall) -> Result<Standing, Fault> {
        let agent = AgentKey::of(&request.subject);
        let wanted = match self.client {
            // The person who started the client said so: nothing is left to prove.
            Some(name) => Some(ReviewId::parse(name).ok_or_else(|| no_session(name))?),
            None => match self.vouched(request, call)? {
                Ok(wanted) => wanted,
                Err(why) => {
                    // A forged reference binds nobody, but an agent past its time is still to be ended.
                    return Ok(match self.enter(&agent, None)? {
                        Standing::Out(Out::TimedOut) => Standing::Out(Out::TimedOut),
                        Standing::In(inside) => Standing::In(inside),
                        Standing::Out(_) => Standing::Out(why),
                    });
                }
            },
        };
        self.enter(&agent, wanted.as_ref())
    }

    /// The session that the call's reference proves: none = the call presents none.
    fn vouched(&self, request: &Request, call: &ToolCall) -> Result<Result<Option<ReviewId>, Out>, Fault> {
        let Some(reference) = review::presented(call, &request.cwd) else { return Ok(Ok(None)) };
        let id = reference.session();
        let session = match quarantine::load(self.dirs, id)? {
            Some(session) if session.ended.is_none() => session,
            // The register knows why it ended, and whether the agent is another session's.
            Some(_) => return Ok(Ok(Some(id.clone()))),
            None => return Ok(Err(Out::NoSession)),
        };
        let key = quarantine::key(self.dirs, &session)?;
        let checked = reference.verify(&key, id, session.ttl_s, self.now.unix_ms / 1000);
        Ok(match checked {
            Ok(()) => Ok(Some(id.clone())),
            Err(refusal) => Err(match refusal {
                Refusal::Expired | Refusal::Future => Out::Expired,
                Refusal::Session => Out::OtherSession,
                Refusal::Forged => Out::Forged,
            }),
        })
    }

    fn enter(&self, agent: &AgentKey, wanted: Option<&ReviewId>) -> Result<Standing, Fault> {
        if !self.acts {
            let bound = quarantine::bound(self.dirs, agent)?;
            return match bound.as_ref().or(wanted) {
                Some(id) => match quarantine::load(self.dirs, id)? {
                    Some(session) if session.ended.is_none() && !session.is_expired(self.now) => {
                        self.inside(&session)
                    }
                    Some(session) if session.is_expired(self.now) => Ok(Standing::Out(Out::Expired)),
                    Some(_) | None => Ok(Standing::Out(Out::NoSession)),
                },
                None => Ok(Standing::Out(Out::Unbound)),
            };
        }
        let concurrent = self.policy.quarantine.concurrent;
        match quarantine::enter(self.dirs, agent, wanted, self.now, concurrent)? {
            Ok(entered) => self.inside(&entered.session),
            Err(denied) => Ok(Standing::Out(match denied {
                Denied::Unbound => Out::Unbound,
                Denied::OtherSession { .. } => Out::OtherSession,
                Denied::TooMany => Out::TooMany,
                Denied::TimedOut { review } => {
                    if quarantine::end(self.dirs, &review, Why::TimedOut, self.now)? {
                        let log = Log { state: &self.dirs.state, policy: self.policy, now: self.now };
                        log.review_ended(&review, Why::TimedOut)?;
                    }
                    Out::TimedOut
                }
                Denied::Late => Out::TimedOut,
                // Its references are as old as the session.
                Denied::Ended { why: Why::Expired, .. } => Out::Expired,
                Denied::NoSuchSession | Denied::Ended { .. } => Out::NoSession,
            })),
        }
    }

    fn inside(&self, session: &Session) -> Result<Standing, Fault> {
        Ok(Standing::In(Inside {
            review: session.id.clone(),
            grounds: session.grounds(),
            ttl_s: session.ttl_s,
            key: quarantine::key(self.dirs, session)?,
            now_s: self.now.unix_ms / 1000,
        }))
    }
}

/// The whole client is quarantined, for nothing.
fn no_session(name: &str) -> Fault {
    let why = format!("\"{}\" is not the id of a review session", escape(&clip(name, 60)));
    Fault::new(FaultKind::Config, "variable LAZARET_QUARANTINE", why).with_way_out(
        "a person sets it to an id that `lazaret review list` names, or removes it, and starts the client anew",
    )
}
