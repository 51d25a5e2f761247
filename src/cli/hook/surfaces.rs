//! What a client, or git, runs from a file without asking any hook: looked at before and after each call that may write, at a session's
//! beginning and end, and when the person speaks. What a call made of it is judged by its content, as a call would be, and taken back
//! where that would not be let run. The session goes on.

use std::cell::LazyCell;
use std::path::Path;

use super::Setting;
use super::prompts::{invoked, is_called};
use super::watch::{Moment, is_busy, is_late};
use crate::cli::keep;
use crate::cli::surfaces::MAX_READ;
use crate::domain::{
    Action, Content, Facts, Fault, Places, Reason, Request, Run, Severity, Stand, Surface, ToolCall, Trust,
    Verdict, clip, escape, join, lies_in, set_of, shell_word,
};
use crate::host::guard;
use crate::host::registration::json_text::Node;
use crate::host::state::{self, Look};
use crate::host::trust::{self, TrustState};
use crate::host::watch;
use crate::host::watch::shelf::{self, Shelf, Taken};
use crate::host::watch::surfaces::{self, Scope, Seen, View};
use crate::review::surfaces::{essence, linked, may_write, named, runs, with_arguments};
use crate::rules::{self, Survey};

/// The rule that is told.
pub const RULE: &str = "self.surface-changed";
/// How often a scope is walked at most: again after what is taken back, and for what configurations lead to.
const ROUNDS: usize = 4;
/// So many changed files may take longer than a call is given.
const MANY: usize = 32;
/// Most texts of one look.
const MAX_SAID: usize = 6;

/// One look at them.
pub struct Surfaces<'a> {
    setting: &'a Setting,
    request: &'a Request,
    moment: Moment,
}

/// What a look found.
#[derive(Default)]
struct Said {
    reasons: Vec<Reason>,
    /// What may run, for the log.
    notes: Vec<String>,
}

impl<'a> Surfaces<'a> {
    /// A call is about to run: what is there now is not its doing, and what it then writes is.
    pub fn before(
        setting: &Setting,
        request: &Request,
        (call, trust): (&ToolCall, Trust),
        survey: &Survey,
    ) -> Vec<Reason> {
        let writes = may_write(call, survey);
        if trust == Trust::Quarantined || !(writes || call.tool.starts_prompts()) {
            return Vec::new();
        }
        let surfaces = Surfaces { setting, request, moment: Moment::Between };
        let mut told = surfaces.look(&|_| false);
        told.extend(surfaces.with_arguments(call));
        if writes && setting.home_fault.is_none() {
            for scope in surfaces.scopes() {
                shelf::running(&setting.dirs.state, &scope.key(), true);
            }
        }
        told
    }

    /// A call has ended. `asked`: a person was asked about it and let it run.
    pub fn after(
        setting: &Setting,
        request: &Request,
        (call, asked): (&ToolCall, bool),
        places: &Places,
    ) -> Vec<Reason> {
        if reads(&call.action) || setting.trust(&request.subject) == Trust::Quarantined {
            return Vec::new();
        }
        let survey = rules::survey(call, &request.cwd, &Facts::new(places.clone()), &setting.policy);
        if !may_write(call, &survey) {
            return Vec::new();
        }
        let named = if asked { named(call, &request.cwd, &survey) } else { Vec::new() };
        let project = setting.project(request);
        let spoken = |path: &str| named.iter().any(|dir| lies_in(path, dir) && !lies_in(project, dir));
        Surfaces { setting, request, moment: Moment::Ended }.look(&spoken)
    }

    /// The session is over: what its last calls did would else be found by nobody.
    pub fn closing(setting: &Setting, request: &Request) -> Vec<Reason> {
        let surfaces = Surfaces { setting, request, moment: Moment::Between };
        let told = surfaces.look(&|_| false);
        for scope in surfaces.scopes() {
            shelf::running(&setting.dirs.state, &scope.key(), false);
        }
        told
    }

    /// Anything else has happened.
    pub fn at(setting: &Setting, request: &Request, moment: Moment) -> Vec<Reason> {
        Surfaces { setting, request, moment }.look(&|_| false)
    }

    /// What the prompt that a call has expanded runs with the arguments that it gives, and would not be let run as a call.
    fn with_arguments(&self, call: &ToolCall) -> Option<Reason> {
        let (name, arguments) = invoked(call).filter(|(_, arguments)| !arguments.trim().is_empty())?;
        if !self.setting.policy.enabled || self.setting.home_fault.is_some() {
            return None;
        }
        let judge = self.setting.judge(self.request);
        let views = self.scopes().map(|scope| surfaces::walk(&scope, &self.setting.env, &[]));
        let prompts =
            views.iter().flat_map(|view| &view.files).filter(|file| file.kind == Surface::ClaudePrompt);
        prompts.into_iter().find_map(|file| {
            let Content::Bytes(bytes) = watch::read_up_to(&file.path, MAX_READ) else { return None };
            let text = String::from_utf8(bytes).ok()?;
            if !is_called(&name, &file.path, &text) {
                return None;
            }
            let content = |text: String| Content::Bytes(text.into_bytes());
            let known = runs(file.kind, "", &content(text.clone()));
            let expanded = with_arguments(&text, &arguments);
            let all = expanded.into_iter().flat_map(|text| runs(file.kind, "", &content(text)));
            let (verdict, why) = all
                .filter(|run| !known.contains(run))
                .filter_map(|run| judge.verdict(&run, &file.path))
                .max_by_key(|(verdict, _)| *verdict)?;
            let text = format!("{}: with these arguments {why}", escape(&file.path));
            Some(Reason { verdict, ..reason(text, None) })
        })
    }

    /// The scopes of a session.
    fn scopes(&self) -> [Scope; 2] {
        [Scope::Project(join("/", self.setting.project(self.request))), Scope::User]
    }

    /// Looks, takes back, and gives what is to be told. `spoken`: whether a person let the call write there.
    fn look(&self, spoken: &dyn Fn(&str) -> bool) -> Vec<Reason> {
        if !self.setting.policy.enabled || self.setting.home_fault.is_some() {
            return Vec::new();
        }
        let mut said = Said::default();
        for scope in self.scopes() {
            if let Err(fault) = self.scope(&scope, spoken, &mut said) {
                let _recorded = self.setting.log().fault(&fault);
                let text =
                    format!("what a client runs without asking could not be looked at: {}", fault.message());
                said.reasons.push(reason(text, None));
            }
        }
        for note in said.notes.iter().take(MAX_SAID) {
            let _recorded = self.setting.log().surface(note);
        }
        said.reasons.truncate(MAX_SAID);
        said.reasons
    }

    fn scope(&self, scope: &Scope, spoken: &dyn Fn(&str) -> bool, said: &mut Said) -> Result<(), Fault> {
        let (state, env, key) = (&self.setting.dirs.state, &self.setting.env, scope.key());
        let cut_off = self.moment != Moment::Between && shelf::running(state, &key, false);
        let (last, led) = shelf::last(state, &key);
        let mut view = surfaces::walk(scope, env, &led);
        if view.fingerprint() == last {
            return Ok(());
        }
        let mut shelf = Shelf::open(state, &key)?;
        let stand = self.stand()?;
        let whose =
            |path: &str| !shelf_is_new(last) && self.is_of_agent(path, cut_off, &stand) && !spoken(path);
        for _ in 0..ROUNDS {
            if !self.compare(scope, &view, (&mut shelf, &whose), said)? {
                break;
            }
            view = surfaces::walk(scope, env, &shelf.linked());
        }
        for dir in view.over.iter().filter(|dir| shelf.keep_over(dir)) {
            let text = format!(
                "{} holds more files than lazaret looks at: what the others have run is not known",
                escape(dir)
            );
            said.reasons.push(reason(text, None));
        }
        let there = set_of(view.files.iter().map(|file| file.path.as_str()));
        shelf.only(&there);
        shelf.save(view.fingerprint())
    }

    fn stand(&self) -> Result<Stand, Fault> {
        let look = Look { records: super::LOOK_BACK, window_ms: 0 };
        state::look(&self.setting.store(), &self.request.subject, self.setting.now, look)
    }

    /// Whether a call of the session may have made this change.
    fn is_of_agent(&self, path: &str, cut_off: bool, stand: &Stand) -> bool {
        let now = self.setting.now;
        match self.moment {
            Moment::Ended => true,
            // The call that was cut off was never told to have ended.
            Moment::Start => cut_off,
            Moment::Prompt => stand.watch.lingers,
            Moment::Between | Moment::Unknown => is_busy(stand, now) || is_late(path, stand),
        }
    }

    /// Compares what is there with what was last let be; true = it is to be looked at again: something was taken back, or leads elsewhere.
    fn compare(
        &self,
        scope: &Scope,
        view: &View,
        (shelf, whose): (&mut Shelf, &dyn Fn(&str) -> bool),
        said: &mut Said,
    ) -> Result<bool, Fault> {
        let changed: Vec<&Seen> =
            view.files.iter().filter(|file| !shelf.is_as_seen(&file.path, file.seen)).collect();
        if changed.len() > MANY {
            guard::deadline(keep::DEADLINE_MS);
        }
        let judge = LazyCell::new(|| self.setting.judge(self.request));
        // Of what was there before the first look only a session's start tells.
        let asked = !shelf.is_new() || self.moment == Moment::Start;
        let before = shelf.linked();
        let mut again = false;
        for file in changed {
            let is = essence(file.kind, watch::read_up_to(&file.path, MAX_READ));
            if file.kind == Surface::GitConfig {
                shelf.lead(&file.path, led(scope, file, &is, self.setting));
            }
            let was = shelf.of(&file.path).map_or(Content::Absent, |(content, _)| content);
            let known = runs(file.kind, name(&file.path), &was);
            let all = if asked { runs(file.kind, name(&file.path), &is) } else { Vec::new() };
            let new: Vec<Run> = all.into_iter().filter(|run| !known.contains(run)).collect();
            let stopped = new.iter().find_map(|run| judge.stops(run, &file.path));
            match stopped.filter(|_| !self.is_accepted(file, &is, shelf)) {
                Some(why) if whose(&file.path) => {
                    said.reasons.push(self.take_back(file, &why, shelf));
                    again = true;
                    continue;
                }
                Some(why) => {
                    let text = format!(
                        "{}: {why}; no call was under way, so it counts as a person's, and the client runs it without asking lazaret",
                        escape(&file.path)
                    );
                    said.reasons.push(reason(text, None));
                }
                None if shelf.is_new() => {}
                None => said.notes.extend(new.iter().map(|run| noted(&file.path, run))),
            }
            shelf.keep(&file.path, file.seen, &is)?;
            if let Some(link) = &file.link {
                shelf.keep_link(link);
            }
        }
        Ok(again || shelf.linked() != before)
    }

    /// A person accepted exactly this content, or it was let be before; or it is our own plugin as it was installed.
    fn is_accepted(&self, file: &Seen, is: &Content, shelf: &Shelf) -> bool {
        let Some(bytes) = is.bytes() else { return false };
        let state = &self.setting.dirs.state;
        let own = || {
            let sealed = watch::Sealed::open(state).ok().and_then(|sealed| sealed.of(&file.path));
            sealed.is_some_and(|(content, _)| content == *is)
        };
        shelf.counted(&file.path, bytes)
            || trust::state(state, &file.path, bytes) == TrustState::Allowed
            || (file.kind == Surface::Plugin && name(&file.path) == "lazaret.js" && own())
    }

    /// Puts the content of before back, or moves what is new aside.
    fn take_back(&self, file: &Seen, why: &str, shelf: &mut Shelf) -> Reason {
        let path = escape(&file.path);
        if file.kind == Surface::ClaudeState {
            let done = match without_servers(file, shelf) {
                Ok(()) => "its new servers were removed",
                Err(_) => "its new servers could not be removed",
            };
            return reason(format!("{path}: {why}; {done}"), None);
        }
        // A link that leads elsewhere is what is new, not the files there.
        let link = file.link.as_ref().filter(|link| !shelf.knows_link(link));
        let place = link.unwrap_or(&file.path);
        let was = shelf.of(place);
        let (content, mode) = was.clone().unwrap_or((Content::Absent, 0o600));
        let done =
            match watch::put_back(place, (&content, mode), (&self.setting.dirs.state, self.setting.now)) {
                Ok(aside) => {
                    let aside = aside.map(|aside| aside.display().to_string()).unwrap_or_default();
                    shelf.took(place, Taken { aside, why: why.to_owned() });
                    if was.is_some() { "was put back as it was" } else { "was moved aside" }.to_owned()
                }
                Err(error) => format!("could not be put back ({error})"),
            };
        let text =
            format!("{} {done}: {why}; no hook is asked about it, see `lazaret trust show`", escape(place));
        reason(text, Some(way(place)))
    }
}

/// Whether a call only reads, by its tool alone.
fn reads(action: &Action) -> bool {
    matches!(
        action,
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Spawn { .. }
    )
}

/// Nothing was ever seen of a scope.
fn shelf_is_new(last: u64) -> bool {
    last == 0
}

/// Where a configuration of git leads.
fn led(scope: &Scope, file: &Seen, is: &Content, setting: &Setting) -> Vec<(String, Surface)> {
    let links = is.bytes().map(linked).unwrap_or_default();
    let top = scope.top();
    let to = |link: &str, kind| surfaces::led_to(link, kind, &file.path, top.as_deref(), &setting.env);
    links.iter().map(|link| (to(&link.path, link.kind), link.kind)).collect()
}

/// Takes the servers out of the client's own state that were not in it before.
fn without_servers(file: &Seen, shelf: &Shelf) -> std::io::Result<()> {
    let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let bytes = std::fs::read(&file.path)?;
    let mut text = String::from_utf8(bytes).map_err(|_| invalid())?;
    let was = shelf.of(&file.path).and_then(|(content, _)| crate::host::from_json(content.bytes()?).ok());
    let was: serde_json::Value = was.unwrap_or_default();
    let is: serde_json::Value = crate::host::from_json(text.as_bytes()).map_err(|_| invalid())?;
    let object = |value: &'_ serde_json::Value, pointer: &str| {
        value.pointer(pointer).and_then(|all| all.as_object()).cloned()
    };
    let mut gone: Vec<Vec<String>> = Vec::new();
    let mut compare = |above: &[&str]| {
        let pointer: String =
            above.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect();
        let before = object(&was, &pointer).unwrap_or_default();
        for (name, server) in object(&is, &pointer).unwrap_or_default() {
            if before.get(&name) != Some(&server) {
                gone.push(above.iter().map(|key| (*key).to_owned()).chain([name]).collect());
            }
        }
    };
    compare(&["mcpServers"]);
    for project in object(&is, "/projects").unwrap_or_default().keys() {
        compare(&["projects", project, "mcpServers"]);
    }
    for keys in gone {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        text = Node::root(&text).ok().and_then(|root| root.without_member(&keys)).ok_or_else(invalid)?;
    }
    crate::host::files::replace(Path::new(&file.path), text.as_bytes())
}

/// How a person has it all the same.
pub fn way(place: &str) -> String {
    format!("a person at a terminal: lazaret trust allow {}", escape(&shell_word(place)))
}

/// The name of a file.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What the log says of something that may run.
pub fn noted(path: &str, run: &Run) -> String {
    let what = match run {
        Run::Command { text, .. } | Run::Address(text) => clip(text, 200),
        Run::Code { name, .. } => clip(name, 200),
        Run::Always(why) | Run::Unread(why) => clip(why, 200),
    };
    format!("{}: run without asking, and would be let run: {}", escape(path), escape(&what))
}

fn reason(message: String, instead: Option<String>) -> Reason {
    Reason {
        rule: RULE.to_owned(),
        verdict: Verdict::Warn,
        severity: Severity::High,
        message,
        matched: String::new(),
        instead,
    }
}
