//! Decisions without a client: for `check` and `replay`, which look and change nothing. What is the same for calls in one
//! directory is looked up once.

use std::rc::Rc;

use anyhow::{Result, anyhow};

use crate::adapters;
use crate::cli::CHECKS;
use crate::cli::quarantine::{self, Desk};
use crate::cli::report::Explained;
use crate::cli::{Machine, call, hook, plugins};
use crate::domain::{
    Action, Asking, Client, Decision, Event, Facts, Fault, Marks, Places, Policy, Request, SessionId, Stand,
    Subject, ToolCall, Trust, WrittenWhen, join,
};
use crate::host::clock::{self, Now};
use crate::host::config;
use crate::host::places;
use crate::host::state::{self, Store};
use crate::review::{self, Case, Identity, undoable};
use crate::rules::{self, Survey, View};

/// The session that a dry run by hand pretends to be: it has no past.
pub const DRY_SESSION: &str = "check";

/// What came before the calls that are judged.
#[derive(Debug, Clone, Copy)]
pub enum Past<'a> {
    /// What the state remembers of the session that a message names, and this beside it.
    Remembered(&'a Trail),
    /// This; nothing is looked up, and quarantined agents have no review.
    Told(&'a Stand, &'a Trail),
}

/// What the calls of a session have left behind that were judged so far, none of which is written anywhere.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    marks: Marks,
    /// Files and what was written to them.
    written: Vec<(String, String)>,
}

/// Most files of one session whose content is kept.
const MAX_WRITTEN: usize = 256;

impl Trail {
    /// Keeps what a call leaves behind.
    pub fn keep(&mut self, judged: &Judged) {
        let (Some(survey), Some((call, _))) = (&judged.survey, &judged.call) else { return };
        self.marks.clone_from(&survey.marks);
        let own = match &call.action {
            Action::Write { path, content, long: None } => Some((join(&judged.cwd, path), content.clone())),
            _ => None,
        };
        let printed = survey.written.iter().map(|(path, text)| (path.clone(), text.to_text()));
        for (path, text) in printed.chain(own) {
            self.written.retain(|(other, _)| *other != path);
            if self.written.len() < MAX_WRITTEN {
                self.written.push((path, text));
            }
        }
    }
}

impl<'a> Past<'a> {
    /// Plugins are asked: recorded calls are many, and nobody waits for an answer on them.
    fn is_remembered(self) -> bool {
        matches!(self, Past::Remembered(_))
    }

    fn trail(self) -> &'a Trail {
        match self {
            Past::Remembered(trail) | Past::Told(_, trail) => trail,
        }
    }
}

/// Whether the machine is asked what a call does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Today,
    /// Every question stays open.
    Never,
}

/// Where calls of one directory stand.
struct Around {
    cwd: String,
    places: Places,
    /// The same with links resolved, once a call has needed it.
    resolved: Option<Places>,
    policy: Rc<Policy>,
    notes: Vec<String>,
}

impl Around {
    /// What a call would do here, and what is known of the machine.
    fn surveyed(&mut self, call: &ToolCall, trail: &Trail, look: Look) -> (Facts, Survey) {
        let mut facts = Facts::new(self.places.clone());
        for (path, text) in &trail.written {
            facts.answer_content(path.clone(), Some(text.clone()));
        }
        facts.marks.clone_from(&trail.marks);
        let survey = match look {
            Look::Today => call::surveyed(call, &self.cwd, &self.policy, &facts),
            Look::Never => rules::survey(call, &self.cwd, &facts, &self.policy),
        };
        if call::changes_files(&survey) {
            let resolve = || {
                let mut places = self.places.clone();
                places::resolve_links(&mut places);
                places
            };
            facts.places.clone_from(self.resolved.get_or_insert_with(resolve));
        }
        (facts, survey)
    }
}

/// The same with what the session remembers of files, where it remembers any.
fn recalled(
    call: &ToolCall,
    cwd: &str,
    policy: &Policy,
    (stand, look): (&Stand, Look),
    (mut survey, mut facts): (Survey, Facts),
) -> (Survey, Facts) {
    if stand.marks.is_empty() {
        return (survey, facts);
    }
    match look {
        Look::Today => call::recall(call, cwd, policy, &stand.marks, (&survey, &facts)),
        Look::Never => {
            facts.marks.clone_from(&stand.marks);
            rules::follow(call, cwd, &mut survey, &facts, policy);
            (survey, facts)
        }
    }
}

/// Judges calls one after the other.
pub struct Judge {
    machine: Machine,
    now: Now,
    look: Look,
    /// Whether it is said by which conditions rules match.
    explains: bool,
    around: Option<Around>,
}

/// One call that was judged.
pub struct Judged {
    pub decision: Decision,
    pub subject: Subject,
    pub survey: Option<Survey>,
    pub notes: Vec<String>,
    pub cwd: String,
    /// It discards work by git: where there is any, it would be a warning with a checkpoint.
    pub undoable: bool,
    /// It is let through because what it deletes is saved first.
    pub leans: bool,
    /// By which condition which rule matches, where it was asked.
    pub conditions: Vec<(String, WrittenWhen)>,
    /// Of a call about to run.
    pub call: Option<(ToolCall, Identity)>,
}

impl Judged {
    /// What was decided without looking at a call.
    fn bare(decision: Decision, subject: Subject) -> Judged {
        Judged {
            decision,
            subject,
            survey: None,
            notes: Vec::new(),
            cwd: String::new(),
            undoable: false,
            leans: false,
            conditions: Vec::new(),
            call: None,
        }
    }

    /// What `--explain` says of it.
    pub fn explained(&self) -> Option<Explained<'_>> {
        self.survey.as_ref().map(|survey| Explained { survey, conditions: &self.conditions })
    }
}

impl Judge {
    pub fn new(machine: Machine, look: Look) -> Judge {
        Judge { machine, now: clock::now(), look, explains: false, around: None }
    }

    /// Also says by which conditions rules match.
    pub fn explaining(self, explains: bool) -> Judge {
        Judge { explains, ..self }
    }

    pub fn explains(&self) -> bool {
        self.explains
    }

    /// What would be answered to a message of `client`.
    pub fn judge(&mut self, client: Client, message: &[u8], past: Past<'_>) -> Result<Judged> {
        let decoded = match adapters::decode(client, message) {
            Ok(decoded) => decoded,
            Err(fault) => return faulty(client, fault),
        };
        let Request { subject, event, cwd, asking, .. } = &decoded.request;
        let look = self.look;
        let around = self.turn_to(cwd)?;
        let notes = around.notes.clone();
        let Event::BeforeTool(call) = event else {
            let decision = Decision::new(Vec::new(), None, *asking == Asking::Yes);
            return Ok(Judged { notes, cwd: cwd.clone(), ..Judged::bare(decision, subject.clone()) });
        };
        let (mut facts, survey) = around.surveyed(call, past.trail(), look);
        let policy: &Policy = &Rc::clone(&around.policy);
        let lent;
        let desk =
            Desk { dirs: &self.machine.dirs, env: &self.machine.env, policy, now: self.now, acts: false };
        let trust = desk.trust(subject);
        let rate = |facts| plugins::rate((&decoded.request, call), trust, (&survey, policy), facts);
        let unrated = if past.is_remembered() { rate(&mut facts) } else { None };
        let (stand, standing, spawned) = match (past, trust) {
            (Past::Told(stand, _), _) => (stand, None, None),
            (Past::Remembered(_), Trust::Ordinary) => {
                lent = self.remembered(&decoded.request, policy, trust);
                (&lent, None, desk.spawn(&decoded.request, call)?)
            }
            (Past::Remembered(_), Trust::Quarantined) => {
                lent = self.remembered(&decoded.request, policy, trust);
                (&lent, Some(desk.admit(&decoded.request, call)?), None)
            }
        };
        let (survey, facts) = recalled(call, cwd, policy, (stand, look), (survey, facts));
        let case = Case {
            subject,
            call,
            cwd,
            trust,
            standing: standing.as_ref(),
            asking: *asking,
            survey: &survey,
            facts: &facts,
            policy,
            stand,
            now_s: self.now.unix_ms / 1000,
        };
        let decision = quarantine::settle(review::decide(&case), spawned.as_ref());
        let decision = match unrated {
            Some(fault) => hook::with_fault(decision, fault, &decoded.request, policy, trust),
            None => decision,
        };
        let identity = review::identify(subject, call);
        let call = Some((call.clone(), identity));
        let leans = policy.checkpoints.enabled && undoable::leans_on_a_checkpoint(&decision);
        let undoable = policy.checkpoints.enabled
            && policy.checkpoints.instead_of_block
            && undoable::is_undoable(&decision)
            && undoable::discarded(&survey, &facts).is_some();
        let conditions = match &call {
            Some((call, _)) if self.explains => {
                rules::conditions(&View { call, cwd, survey: &survey, facts: &facts, policy })
            }
            Some(_) | None => Vec::new(),
        };
        let (subject, cwd) = (subject.clone(), cwd.clone());
        Ok(Judged { decision, subject, survey: Some(survey), notes, cwd, undoable, leans, conditions, call })
    }

    /// Where a call made in `cwd` stands: looked up anew where the last call was made elsewhere.
    fn turn_to(&mut self, cwd: &str) -> Result<&mut Around> {
        let around = match self.around.take() {
            Some(around) if around.cwd == cwd => around,
            Some(_) | None => {
                let places = places::locate(&self.machine.env, &self.machine.dirs, cwd);
                let loaded = config::load(&self.machine.dirs, &places, CHECKS)?;
                let notes = loaded.notes.iter().map(ToString::to_string).collect();
                let policy = Rc::new(loaded.policy);
                Around { cwd: cwd.to_owned(), places, resolved: None, policy, notes }
            }
        };
        Ok(self.around.insert(around))
    }

    /// The session's past where the message names a session that has one.
    fn remembered(&self, request: &Request, policy: &Policy, trust: Trust) -> Stand {
        if request.subject.session.as_str() == DRY_SESSION {
            return Stand::default();
        }
        let store = Store::new(&self.machine.dirs.state);
        state::look(&store, &request.subject, self.now, hook::look(policy, trust)).unwrap_or_default()
    }
}

/// A message that could not be read is blocked.
fn faulty(client: Client, fault: Fault) -> Result<Judged> {
    let session = SessionId::new(DRY_SESSION).ok_or_else(|| anyhow!("session {DRY_SESSION}: not an id"))?;
    let subject = Subject { client, session, agent: None, agent_type: None };
    let decision = Decision::fault(fault, false);
    Ok(Judged::bare(decision, subject))
}
