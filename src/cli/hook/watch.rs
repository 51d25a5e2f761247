//! The files that keep the gate where it is, looked at with every event. What a call of the agent changed there so that the gate does
//! not stand any more is put back, told, and the session is held; a change by which the client would only start something new is put
//! back and told; what a person changed while no call was under way counts.

use super::Setting;
use super::lingers::lingers;
use super::surfaces::{noted, way};
use crate::cli::clients;
use crate::cli::install::program_in;
use crate::domain::{
    Action, Asking, Client, Content, Decision, EventKind, Fault, Marks, Outcome, Reason, Request, Severity,
    Stand, ToolCall, Verdict, Watch, escape,
};
use crate::host::clock::Now;
use crate::host::registration;
use crate::host::state::Kept;
use crate::host::trust::{self, TrustState};
use crate::host::watch::shelf::{Shelf, Taken};
use crate::host::watch::{self, Files, Role, Sealed, Watched};
use crate::review;

/// The rule that a held session is told of.
pub const CHANGED: &str = "self.gate-changed";
/// How long after a call's end its changes may still come to light, in milliseconds.
const LATE_MS: u64 = 2_000;

/// Whose a change can be, going by when it is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session begins: what was done between sessions is a person's, unless the gate does not stand.
    Start,
    /// The person says something: no call is under way.
    Prompt,
    /// A call is about to run, or the client reports a change.
    Between,
    /// The same in a session of which nothing is known: what it had seen may have been taken away.
    Unknown,
    /// A call has ended just now.
    Ended,
}

/// What was found.
pub enum Found {
    /// All is as it counts, or was let count.
    Nothing,
    /// A change of a person's, which is told.
    Told(String),
    /// An agent's change by which the client would only start something new was put back, at this place. The gate stands, and the
    /// session goes on.
    Refused { why: String, place: String },
    /// An agent's change by which the gate would not stand was taken back; why, in words. The session is to be held.
    TakenBack(String),
}

/// What a look before a call says of it.
pub enum Guard {
    /// The gate stands. `told`: what was put back, for the person and the agent.
    Stands { watch: Option<Watch>, told: Option<Reason> },
    /// It did not; what is answered, and why the session is stopped.
    Fell(Box<Decision>, String),
    /// Nobody can tell.
    Unknown(Fault),
}

impl Guard {
    /// The answer to a call that was decided on so, and what the session keeps of it; `unknown`: why nobody can tell.
    pub fn settle(
        self,
        (decision, marks): (Decision, Option<Marks>),
        asking: Asking,
        unknown: &mut Option<Fault>,
    ) -> (Decision, Kept) {
        match self {
            Guard::Stands { watch, told } => {
                (decision.also(told, asking), Kept { marks, watch, stopped: None })
            }
            Guard::Fell(held, why) => (*held, Kept { stopped: Some(why), ..Kept::default() }),
            Guard::Unknown(fault) => {
                *unknown = Some(fault);
                (decision, Kept { marks, ..Kept::default() })
            }
        }
    }
}

impl Found {
    /// What is told of it.
    pub fn words(&self) -> Option<&str> {
        match self {
            Found::Nothing => None,
            Found::Told(words) | Found::Refused { why: words, .. } | Found::TakenBack(words) => Some(words),
        }
    }
}

/// One look at the watched files of a session.
pub struct Lookout<'a> {
    setting: &'a Setting,
    request: &'a Request,
    files: Files,
}

/// A file that is not as it counts.
struct Change<'a> {
    file: &'a Watched,
    was: (Content, u32),
    is: Content,
}

impl<'a> Lookout<'a> {
    pub fn of(setting: &'a Setting, request: &'a Request) -> Lookout<'a> {
        let project = setting.project(request);
        let files = Files::of(request.subject.client, &setting.env, &setting.dirs, project);
        Lookout { setting, request, files }
    }

    /// What the system says of the files that are looked at before a call.
    pub fn seen_before(&self) -> u64 {
        watch::seen(&self.files.before, self.setting.own)
    }

    /// The same of those that are looked at after one.
    pub fn seen_after(&self) -> u64 {
        watch::seen(&self.files.after, self.setting.own)
    }

    /// The session's new view of the files, once all is as it counts.
    pub fn refreshed(&self, was: Watch) -> Watch {
        Watch { before: self.seen_before(), after: self.seen_after(), ..was }
    }

    /// Reads the files and compares them with what counts.
    pub fn look(&self, moment: Moment, stand: &Stand) -> Result<Found, Fault> {
        let mut sealed = Sealed::open(&self.setting.dirs.state)?;
        let mut changes = Vec::new();
        let had_looked = moment != Moment::Start && !is_fresh(stand.watch);
        let missing = self.files.all().find_map(|file| sealed.missing(&file.path, had_looked));
        if let Some(fault) = missing {
            return Err(fault);
        }
        // The client's own state, which it writes all the time, is asked about when a session begins and ends.
        let skips = matches!(moment, Moment::Between | Moment::Unknown);
        for file in self.files.all().filter(|file| !(skips && file.role == Role::State)) {
            let is = file.content();
            match sealed.of(&file.path) {
                None => sealed.keep(&file.path, &is)?,
                Some(was) if was.0 == is => {}
                Some(was) => changes.push(Change { file, was, is }),
            }
        }
        if changes.is_empty() {
            return Ok(Found::Nothing);
        }
        let lost = self.lost(&changes)?;
        let starts: Vec<Option<String>> =
            changes.iter().map(|change| self.stopped(change, &sealed)).collect();
        let started = changes.iter().zip(&starts).find_map(|(change, why)| {
            why.as_ref().map(|why| format!("{}: {why}", escape(&change.file.path)))
        });
        let why = lost.clone().or(started);
        let by_agent = match moment {
            Moment::Ended => true,
            Moment::Start | Moment::Unknown => lost.is_some(),
            // What is looked at before a call only comes to light now, if the last call did it.
            Moment::Prompt => {
                stand.watch.lingers || changes.iter().any(|change| is_late(&change.file.path, stand))
            }
            Moment::Between => changes.iter().any(|change| is_under_way(change, stand, self.setting.now)),
        };
        match why {
            Some(why) if by_agent && lost.is_some() => {
                let done = changes.iter().map(|change| match self.put_back(change) {
                    (done, None) => done,
                    (done, Some(aside)) => format!("{done} (what was there is in {})", escape(&aside)),
                });
                let done = done.collect::<Vec<_>>().join("; ");
                Ok(Found::TakenBack(format!(
                    "a call of this session changed what keeps lazaret in place: {why}; {done}"
                )))
            }
            Some(_) if by_agent => self.refused(&changes, &starts, &mut sealed),
            why => {
                for change in &changes {
                    sealed.keep(&change.file.path, &change.is)?;
                }
                Ok(why.map_or(Found::Nothing, |why| {
                    Found::Told(format!("{why}; no call was under way, so it counts as a person's"))
                }))
            }
        }
    }

    /// Puts back the changes by which the client would start what a call would not be let start; the others count.
    fn refused(
        &self,
        changes: &[Change<'_>],
        starts: &[Option<String>],
        sealed: &mut Sealed,
    ) -> Result<Found, Fault> {
        let (mut done, mut why, mut place) = (Vec::new(), String::new(), String::new());
        for (change, starts) in changes.iter().zip(starts) {
            let Some(starts) = starts else {
                sealed.keep(&change.file.path, &change.is)?;
                continue;
            };
            let (how, aside) = self.put_back(change);
            done.push(how);
            if let Some(aside) = aside {
                let taken = Taken { aside, why: starts.clone() };
                Shelf::took_settings(&self.setting.dirs.state, &change.file.path, taken)?;
            }
            why.clone_from(starts);
            place.clone_from(&change.file.path);
        }
        let why = format!("{}: {why}; see `lazaret trust show`", done.join(", "));
        Ok(Found::Refused { why, place })
    }

    /// Why what the client would start by a change of its settings would not be let run as a call; none where it would, where a person
    /// accepted exactly this content, and where it counted once: `git switch` brings it again.
    fn stopped(&self, change: &Change<'_>, sealed: &Sealed) -> Option<String> {
        let path = &change.file.path;
        if change.file.role != Role::Settings {
            return None;
        }
        let starts = review::starts(&change.was.0, &change.is);
        let bytes = change.is.bytes().filter(|_| !starts.is_empty())?;
        let allowed = || trust::state(&self.setting.dirs.state, path, bytes) == TrustState::Allowed;
        if sealed.counted(path, bytes) || allowed() {
            return None;
        }
        let judge = self.setting.judge(self.request);
        if let Some(why) = starts.iter().find_map(|run| judge.stops(run, path)) {
            return Some(why);
        }
        for run in &starts {
            let _recorded = self.setting.log().plain(EventKind::ConfigChanged, &noted(path, run));
        }
        None
    }

    /// What of the client's state it would obey when it starts the next time: there it can leave its hooks out.
    fn obeyed(&self, change: &Change<'_>) -> Option<String> {
        if change.file.role != Role::State {
            return None;
        }
        let path = escape(&change.file.path);
        if let Content::Unreadable(why) = &change.is {
            return Some(format!("{path} may leave every hook out of the next session: {why}"));
        }
        let judge = self.setting.judge(self.request);
        let why = review::starts(&change.was.0, &change.is)
            .iter()
            .find_map(|run| judge.stops(run, &change.file.path))?;
        Some(format!("{path}, in the next session: {why}"))
    }

    /// Why the gate does not stand with these changes.
    fn lost(&self, changes: &[Change<'_>]) -> Result<Option<String>, Fault> {
        // What another content of the configuration loosens counts once a person accepted it; what it tightens would be lost.
        let is_gone =
            |change: &&Change<'_>| change.is.bytes().is_none() && change.file.role == Role::Configuration;
        if let Some(change) = changes.iter().find(is_gone) {
            return Ok(Some(format!("{} is gone", escape(&change.file.path))));
        }
        if let Some(why) = changes.iter().find_map(|change| self.obeyed(change)) {
            return Ok(Some(why));
        }
        let client = self.request.subject.client;
        if let Some(falls) = clients::of(client).falls {
            return Ok(self.fallen(changes, falls));
        }
        if client == Client::ClaudeCode {
            let settings = changes.iter().any(|change| change.file.role == Role::Settings);
            return if settings { self.registration_lost(changes) } else { Ok(None) };
        }
        let another =
            changes.iter().find(|change| change.file.role == Role::Plugin && !is_same_plugin(change));
        Ok(another
            .map(|change| format!("the plugin {} is not what was installed", escape(&change.file.path))))
    }

    /// The same of Claude Code's settings. Where they did not hold the gate before, nothing is lost.
    fn registration_lost(&self, changes: &[Change<'_>]) -> Result<Option<String>, Fault> {
        let (env, dirs) = (&self.setting.env, &self.setting.dirs);
        let settings = registration::claude_settings(env, dirs, self.setting.project(self.request))?;
        let plugin = env.claude_plugin_root.is_some();
        let drops =
            |others: &[(String, Content)]| review::drops_registration(&settings.managed, others, plugin);
        let was = |(path, is): &(String, Content)| {
            let change = changes.iter().find(|change| change.file.path == *path);
            (path.clone(), change.map_or_else(|| is.clone(), |change| change.was.0.clone()))
        };
        let before: Vec<(String, Content)> = settings.others.iter().map(was).collect();
        let dropped = drops(&settings.others).filter(|_| drops(&before).is_none());
        let replaced = || review::is_replaced(&before, &settings.others);
        let another = || "the hook of PreToolUse would ask another program than this one".to_owned();
        Ok(dropped.or_else(|| replaced().then(another)))
    }

    /// The same of a client whose files say it.
    fn fallen(&self, changes: &[Change<'_>], falls: clients::Falls) -> Option<String> {
        let (env, project) = (&self.setting.env, self.setting.project(self.request));
        let before = |path: &str| {
            let change = changes.iter().find(|change| change.file.path == path);
            change.map(|change| change.was.0.clone())
        };
        falls(env, project, &|_| None).filter(|_| falls(env, project, &before).is_none())
    }

    /// Puts one back, and says so. Gives the place where its other content is kept.
    fn put_back(&self, change: &Change<'_>) -> (String, Option<String>) {
        let path = escape(&change.file.path);
        let (content, mode) = &change.was;
        let place = (self.setting.dirs.state.as_path(), self.setting.now);
        match change.file.put_back((content, *mode), place) {
            Ok(None) => (format!("{path} was put back"), None),
            Ok(Some(aside)) => {
                let how = if *content == Content::Absent { "was moved aside" } else { "was put back" };
                (format!("{path} {how}"), Some(aside.display().to_string()))
            }
            Err(error) => (format!("{path} could not be put back: {error}"), None),
        }
    }

    /// The session's new view of the files before a call, where there is one; else why the session is held.
    pub fn guard(&self, (call, seen): (&ToolCall, u64), stand: &Stand) -> Guard {
        let lingers = self.request.background
            || matches!(&call.action, Action::Shell { command, .. } if lingers(command));
        let was = Watch { lingers: stand.watch.lingers || lingers, ..stand.watch };
        if seen == stand.watch.before {
            return Guard::Stands { watch: (was != stand.watch).then_some(was), told: None };
        }
        let moment = if is_fresh(stand.watch) { Moment::Unknown } else { Moment::Between };
        match self.look(moment, stand) {
            Ok(Found::Nothing | Found::Told(_)) => {
                Guard::Stands { watch: Some(self.refreshed(was)), told: None }
            }
            Ok(Found::Refused { why, place }) => {
                let told = Some(reason(&why, Verdict::Warn, Some(way(&place))));
                Guard::Stands { watch: Some(self.refreshed(was)), told }
            }
            Ok(Found::TakenBack(why)) => Guard::Fell(Box::new(self.held(&why)), why),
            Err(fault) => Guard::Unknown(fault),
        }
    }

    /// What is answered where the agent's change was taken back.
    pub fn held(&self, why: &str) -> Decision {
        let session = escape(self.request.subject.session.as_str());
        Decision::stop(reason(
            why,
            Verdict::Block,
            Some(format!("a person at a terminal: lazaret resume {session}")),
        ))
    }

    /// What is answered where the client asks whether such a change may count.
    pub fn refusal(&self, found: &Found) -> Decision {
        let Found::Refused { why, place } = found else { return Decision::new(Vec::new(), None, true) };
        Decision::new(vec![reason(why, Verdict::Block, Some(way(place)))], None, false)
    }

    /// What the person is told of a change that counts, or that was put back and leaves the session going; none = nothing was found.
    pub fn told(&self, found: &Found) -> Option<Decision> {
        let instead = match found {
            Found::Refused { place, .. } => Some(way(place)),
            Found::Nothing | Found::Told(_) | Found::TakenBack(_) => None,
        };
        let reasons = vec![reason(found.words()?, Verdict::Warn, instead)];
        Some(Decision::new(reasons, None, self.request.asking == Asking::Yes))
    }
}

/// Another text of the plugin for the same binary and places loses nothing: an update of lazaret writes one.
fn is_same_plugin(change: &Change<'_>) -> bool {
    let program = |content: &Content| program_in(std::str::from_utf8(content.bytes()?).ok()?);
    match (program(&change.was.0), program(&change.is)) {
        (Some(was), Some(is)) => was == is,
        // A project's own copy of the plugin, made where there was none.
        (None, Some(_)) => change.was.0 == Content::Absent,
        (Some(_) | None, None) => change.was.0 != Content::Absent && change.is == change.was.0,
    }
}

/// Whether a session has not looked at anything yet.
fn is_fresh(watch: Watch) -> bool {
    watch.before == 0 && watch.ended_ms == 0 && watch.spoke_ms == 0
}

/// Whether a call may have made this change: one is under way, or something lingers, or it fell into the time of one.
fn is_under_way(change: &Change<'_>, stand: &Stand, now: Now) -> bool {
    is_busy(stand, now) || is_late(&change.file.path, stand)
}

/// Whether a call is under way, or something that one started lingers.
pub fn is_busy(stand: &Stand, now: Now) -> bool {
    // One that a person did not let run is never reported: what they say next shows that none is left.
    let since = now.unix_ms.saturating_sub(stand.watch.spoke_ms);
    let pending = stand.history.iter().any(|call| call.outcome == Outcome::Pending && call.age_ms < since);
    stand.watch.lingers || pending
}

/// Whether a file was changed before the last call had ended, or so shortly after that it may be that call's.
pub fn is_late(path: &str, stand: &Stand) -> bool {
    watch::changed_ms(path) <= stand.watch.ended_ms.saturating_add(LATE_MS)
}

fn reason(message: &str, verdict: Verdict, instead: Option<String>) -> Reason {
    Reason { instead, ..Reason::new(CHANGED, verdict, Severity::Critical, message.to_owned()) }
}
