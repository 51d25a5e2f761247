//! Looking on: each line of the client's stream, and now and then its memory and what the hook has written.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::args::RunArgs;
use super::budget::Budgets;
use super::command::Headless;
use super::stop::Stop;
use crate::cli::Machine;
use crate::cli::progress::Progress;
use crate::cli::stream::{Ran, Stream};
use crate::domain::{CallId, Client, ResourcePolicy, SessionId, Subject, Tool};
use crate::host::child::Seen;
use crate::host::state::{self, Look, Store};
use crate::host::{clock, process};
use crate::review;

/// How often memory and state are looked at; in the first moments more often, for a run that is soon over.
const OFTEN: Duration = Duration::from_millis(250);
const FIRST: Duration = Duration::from_millis(15);
/// How long a call that ran may be missing from what the hook wrote. It writes before the call runs; this is for a state that
/// is locked just now.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a run has used.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub calls: u64,
    pub tokens: u64,
    pub cost: f64,
    /// The most memory that was seen, in bytes; none = the system does not tell, or the run was over before it did.
    pub memory: Option<u64>,
}

/// What came of looking on.
pub(super) struct Watched {
    pub stop: Option<Stop>,
    pub session: Option<Subject>,
    pub figures: Figures,
    pub warnings: Vec<String>,
    pub answer: Result<String, Option<String>>,
}

/// A run that is being watched.
pub(super) struct Supervision<'s> {
    budgets: Budgets,
    begun: Instant,
    client: Client,
    store: Store,
    stream: Stream,
    /// Calls that ran and were not found in what the hook wrote, and since when.
    missing: VecDeque<(Ran, Instant)>,
    pid: Option<u32>,
    looked: Option<Instant>,
    /// From the last look to the next one.
    pause: Duration,
    memory: Option<u64>,
    stop: Option<Stop>,
    /// What was told of budgets that are used up in part, and how much of that the session knows.
    warnings: Vec<String>,
    passed_on: usize,
    /// Calls that the run may make, as long as its hooks do not know of them.
    most_calls: Option<u64>,
    progress: &'s mut Progress,
    /// Where the client's stream is passed on to.
    out: Option<&'s mut dyn Write>,
}

impl<'s> Supervision<'s> {
    pub fn new(
        (args, limits): (&RunArgs, &ResourcePolicy),
        headless: &Headless,
        machine: &Machine,
        progress: &'s mut Progress,
        out: &'s mut dyn Write,
    ) -> Supervision<'s> {
        Supervision {
            budgets: Budgets::of(args, limits),
            begun: Instant::now(),
            client: headless.client,
            store: Store::new(&machine.dirs.state),
            stream: Stream::new(headless.client),
            missing: VecDeque::new(),
            pid: None,
            looked: None,
            pause: FIRST,
            memory: None,
            stop: None,
            warnings: Vec::new(),
            passed_on: 0,
            most_calls: args.max_calls,
            progress,
            out: if headless.passes_through && !args.json { Some(out) } else { None },
        }
    }

    /// One thing that was seen; whether the run may go on.
    pub fn see(&mut self, seen: Seen<'_>) -> ControlFlow<()> {
        match seen {
            Seen::Begun(pid) => self.pid = Some(pid),
            Seen::Line(line) => self.line(line),
            Seen::Nothing => {}
        }
        if self.looked.is_none_or(|looked| looked.elapsed() >= self.pause) {
            if self.looked.replace(Instant::now()).is_some() {
                self.pause = OFTEN.min(self.pause * 2);
            }
            self.look();
        }
        self.warn();
        let Stream { calls, tokens, .. } = self.stream;
        self.progress.tell(&format!("{} is working, calls: {calls}, tokens: {tokens}", self.client.name()));
        if self.stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn line(&mut self, line: &[u8]) {
        if let Some(out) = &mut self.out {
            // Whoever reads may have gone; the run is supervised to its end all the same.
            let _gone = out.write_all(line).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        }
        self.stream.line(line);
        self.limit();
        let now = Instant::now();
        self.missing.extend(self.stream.take_ran().into_iter().map(|ran| (ran, now)));
        self.hooked();
        self.budgets();
    }

    /// Has the hooks refuse what is beyond the calls that the run may make: the stream tells of a call when it begins or later.
    fn limit(&mut self) {
        let (Some(most), Some(subject)) = (self.most_calls, self.subject()) else { return };
        let since_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let look = Look { records: 0, window_ms: since_ms };
        let Ok(stand) = state::look(&self.store, &subject, clock::now(), look) else { return };
        // A session that is resumed has calls of its own; those since the run began count.
        let made = stand.history.iter().filter(|past| past.age_ms <= since_ms).count();
        let before = stand.calls.saturating_sub(u64::try_from(made).unwrap_or(u64::MAX));
        let most = before.saturating_add(most);
        let told = state::amend(&self.store, &subject, clock::now(), |document| {
            document.behaviour.most_calls = Some(most);
        });
        // What cannot be written now is tried again with the next line.
        if told.is_ok() {
            self.most_calls = None;
        }
    }

    /// Every call that ran must have been decided on before.
    fn hooked(&mut self) {
        if self.missing.is_empty() {
            return;
        }
        let Some(subject) = self.subject() else { return };
        let (client, store) = (self.client, &self.store);
        self.missing.retain(|(ran, _)| needs_hook(client, &ran.tool) && !saw(store, &subject, &ran.id));
        let open = self.missing.iter().find(|(_, since)| since.elapsed() >= PATIENCE);
        if let Some((ran, _)) = open {
            self.note(Stop::GateOpen(ran.id.clone(), ran.tool.clone()));
        }
    }

    fn budgets(&mut self) {
        if let Some(stop) = self.budgets.passed(&self.figures()) {
            self.note(stop);
        }
    }

    fn figures(&self) -> Figures {
        let Stream { calls, tokens, cost, .. } = self.stream;
        Figures { calls, tokens, cost, memory: self.memory }
    }

    /// Tells the person now, and the model with its next result, of budgets that are used up in part.
    fn warn(&mut self) {
        let told = self.budgets.told(&self.figures(), self.begun.elapsed());
        for warning in told {
            self.progress.say(&warning);
            self.warnings.push(warning);
        }
        let Some(new) = self.warnings.get(self.passed_on..).filter(|new| !new.is_empty()) else { return };
        let Some(subject) = self.subject() else { return };
        let new = new.to_vec();
        let passed = state::amend(&self.store, &subject, clock::now(), |document| {
            document.behaviour.notes.extend(new)
        });
        // What cannot be written now is tried again with what comes next.
        if passed.is_ok() {
            self.passed_on = self.warnings.len();
        }
    }

    /// What no line of the stream tells.
    fn look(&mut self) {
        let held = self.pid.and_then(process::memory_of_tree).filter(|held| *held > 0);
        self.memory = self.memory.max(held);
        self.budgets();
        self.hooked();
        let Some(subject) = self.subject() else { return };
        // What cannot be read is the hook's to block on.
        let stand = state::look(&self.store, &subject, clock::now(), Look { records: 0, window_ms: 0 });
        if let Some(why) = stand.ok().and_then(|stand| stand.stopped) {
            self.note(Stop::Emergency(why));
        }
    }

    /// The first reason is the one that counts.
    fn note(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
    }

    fn subject(&self) -> Option<Subject> {
        let session = SessionId::new(self.stream.session.as_deref()?)?;
        Some(Subject { client: self.client, session, agent: None, agent_type: None })
    }

    pub fn finish(mut self) -> Watched {
        // What ran in the last moments is looked for as well, and the session's last state.
        let patient = Instant::now();
        self.look();
        while !self.missing.is_empty() && self.stop.is_none() && patient.elapsed() < PATIENCE * 2 {
            std::thread::sleep(Duration::from_millis(50));
            self.look();
        }
        let (session, figures) = (self.subject(), self.figures());
        if let Some(subject) = &session {
            // The session may go on without a supervisor; what cannot be written is refused until `lazaret resume`.
            let _lifted = state::amend(&self.store, subject, clock::now(), |document| {
                document.behaviour.most_calls = None;
            });
        }
        Watched { stop: self.stop, session, figures, warnings: self.warnings, answer: self.stream.finish() }
    }
}

/// Whether a tool does something by itself, so that it must have passed the hook; one without a name was never called.
fn needs_hook(client: Client, tool: &str) -> bool {
    !tool.is_empty() && !matches!(crate::adapters::tool(client, tool), Tool::Internal(_))
}

/// Whether the hook has decided on the call with this id.
fn saw(store: &Store, subject: &Subject, id: &str) -> bool {
    let Some(id) = CallId::new(id) else { return true };
    state::saw(store, subject, clock::now(), review::call_fingerprint(&id)).unwrap_or(false)
}
