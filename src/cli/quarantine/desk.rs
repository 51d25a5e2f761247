//! Where a quarantined agent stands, found out for one call: its session, the key, its place among the others.

use crate::cli::call;
use crate::cli::record::Log;
use crate::domain::{
    Fault, FaultKind, Inside, Key, Out, Policy, Request, ReviewId, Standing, Subject, ToolCall, Trust, clip,
    escape,
};
use crate::host::clock::Now;
use crate::host::dirs::{Dirs, Environment};
use crate::host::quarantine::{self, AgentKey, Denied, Session, Why};
use crate::reference::Refusal;
use crate::review;

/// What the admission of one call needs of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub dirs: &'a Dirs,
    pub env: &'a Environment,
    pub policy: &'a Policy,
    pub now: Now,
    /// Binds an agent that is new, and ends what has timed out; a dry run only looks.
    pub acts: bool,
}

impl Desk<'_> {
    /// Whether the agent is quarantined: by its type, because the whole client is, or because it worked in a review, by
    /// whatever name it goes now. Where the register cannot be asked it counts as quarantined; the main agent is in none.
    pub fn trust(&self, subject: &Subject) -> Trust {
        let trust = call::trust(subject, self.policy, self.env.lazaret_quarantine.is_some());
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
        let wanted = match self.env.lazaret_quarantine.as_deref() {
            // The person who started the client said so: nothing is left to prove.
            Some(name) => Vouched::by_name(ReviewId::parse(name).ok_or_else(|| no_session(name))?),
            None => match self.vouched(request, call)? {
                Ok(wanted) => wanted,
                Err(why) => {
                    // A forged reference binds nobody, but an agent past its time is still to be ended.
                    return Ok(match self.enter(&agent, Vouched::default())? {
                        Standing::Out(Out::TimedOut) => Standing::Out(Out::TimedOut),
                        Standing::In(inside) => Standing::In(inside),
                        Standing::Out(_) => Standing::Out(why),
                    });
                }
            },
        };
        let standing = self.enter(&agent, wanted)?;
        if let (Standing::In(inside), true) = (&standing, self.acts) {
            self.intact(inside, request, call)?;
        }
        Ok(standing)
    }

    /// That the copies which this call would show are what was sealed.
    fn intact(&self, inside: &Inside, request: &Request, call: &ToolCall) -> Result<(), Fault> {
        let Some(reference) = review::presented(call, &request.cwd) else { return Ok(()) };
        let Ok(original) = str::from_utf8(reference.path()) else { return Ok(()) };
        match quarantine::load(self.dirs, &inside.review)? {
            Some(session) => quarantine::intact(self.dirs, &session, original),
            None => Ok(()),
        }
    }

    /// The session that the call's reference proves, if it presents one.
    fn vouched(&self, request: &Request, call: &ToolCall) -> Result<Result<Vouched, Out>, Fault> {
        let Some(reference) = review::presented(call, &request.cwd) else {
            return Ok(Ok(Vouched::default()));
        };
        let id = reference.session();
        let session = match quarantine::load(self.dirs, id)? {
            Some(session) if session.ended.is_none() => session,
            // The register knows why it ended, and whether the agent is another session's.
            Some(_) => return Ok(Ok(Vouched::by_name(id.clone()))),
            None => return Ok(Err(Out::NoSession)),
        };
        let key = quarantine::key(self.dirs, &session)?;
        let checked = reference.verify(&key, id, session.ttl_s, self.now.unix_ms / 1000);
        Ok(match checked {
            Ok(()) => Ok(Vouched { id: Some(id.clone()), key: Some(key) }),
            Err(refusal) => Err(match refusal {
                Refusal::Expired | Refusal::Future => Out::Expired,
                Refusal::Session => Out::OtherSession,
                Refusal::Forged => Out::Forged,
            }),
        })
    }

    fn enter(&self, agent: &AgentKey, vouched: Vouched) -> Result<Standing, Fault> {
        let (wanted, key) = (vouched.id.as_ref(), vouched.key);
        if !self.acts {
            let bound = quarantine::bound(self.dirs, agent)?;
            return match bound.as_ref().or(wanted) {
                Some(id) => match quarantine::load(self.dirs, id)? {
                    Some(session) if session.ended.is_none() && !session.is_expired(self.now) => {
                        self.inside(&session, None)
                    }
                    Some(session) if session.is_expired(self.now) => Ok(Standing::Out(Out::Expired)),
                    Some(_) | None => Ok(Standing::Out(Out::NoSession)),
                },
                None => Ok(Standing::Out(Out::Unbound)),
            };
        }
        let concurrent = self.policy.quarantine.concurrent;
        match quarantine::enter(self.dirs, agent, wanted, self.now, concurrent)? {
            // Who is let in with a reference is let into the session that it names.
            Ok(entered) => self.inside(&entered.session, key),
            Err(denied) => Ok(Standing::Out(match denied {
                Denied::Unbound => Out::Unbound,
                Denied::OtherSession { .. } => Out::OtherSession,
                Denied::TooMany => Out::TooMany,
                Denied::TimedOut { review } => {
                    if quarantine::end(self.dirs, &review, Why::TimedOut, self.now)? {
                        let log = Log {
                            state: &self.dirs.state,
                            env: self.env,
                            policy: self.policy,
                            now: self.now,
                        };
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

    /// `key`: the session's, where it is known already.
    fn inside(&self, session: &Session, key: Option<Key>) -> Result<Standing, Fault> {
        let key = key.map_or_else(|| quarantine::key(self.dirs, session), Ok)?;
        Ok(Standing::In(Inside {
            review: session.id.clone(),
            grounds: session.grounds(),
            ttl_s: session.ttl_s,
            key,
            now_s: self.now.unix_ms / 1000,
        }))
    }
}

/// The session that somebody vouched for, and its key where that was needed to see it.
#[derive(Default)]
struct Vouched {
    id: Option<ReviewId>,
    key: Option<Key>,
}

impl Vouched {
    fn by_name(id: ReviewId) -> Vouched {
        Vouched { id: Some(id), key: None }
    }
}

/// The whole client is quarantined, for nothing.
fn no_session(name: &str) -> Fault {
    let why = format!("\"{}\" is not the id of a review session", escape(&clip(name, 60)));
    Fault::new(FaultKind::Config, "variable LAZARET_QUARANTINE", why).with_hint(
        "a person sets it to an id that `lazaret review list` names, or removes it, and starts the client anew",
    )
}
