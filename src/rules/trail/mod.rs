//! What a call leaves behind in files, seen from what earlier calls left: copies of secrets, what came from elsewhere, scripts that
//! the agent wrote. Follows, never judges.

mod cloned;
mod files;
mod named;
mod outputs;
mod pack;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use super::matcher::{host_of, is_known, runs_code, target_of};
use super::survey::{Stdin, Survey};
use super::{Invocation, modules};
use crate::domain::{
    Action, Ask, Claim, Facts, Mark, Marks, Origin, PathKind, Policy, Reach, ToolCall, Usage, join, lies_in,
    set_of,
};
use crate::rules::builtin::downloads::is_download;
use crate::rules::builtin::{installs, lists};

pub(in crate::rules) use run::{Started, named_by, runs_standard_module, started};

/// Most paths of one call that are looked up where something is remembered; with more of them, something may have been missed.
const MAX_LOOKUPS: usize = 4096;
/// What a copy counts as, in lookups.
const COPY: usize = 64;
/// Most commands of one call that are looked at for what they start.
pub(in crate::rules) const MAX_STARTED: usize = 4096;

/// What data carries with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Taint {
    secret: Option<Origin>,
    /// The host that it came from.
    host: Option<String>,
    /// The name of the file that came from there.
    name: Option<String>,
    /// The program that it is.
    program: Option<String>,
}

impl Taint {
    fn of(origin: &Origin) -> Taint {
        match origin {
            Origin::Written => Taint::default(),
            Origin::Fetched(host) => Taint { host: Some(host.clone()), ..Taint::default() },
            Origin::Program(name) => Taint { program: Some(name.clone()), ..Taint::default() },
            Origin::Environment | Origin::Settings | Origin::Secret => {
                Taint { secret: Some(origin.clone()), ..Taint::default() }
            }
        }
    }

    fn is_clean(&self) -> bool {
        self.secret.is_none() && self.host.is_none() && self.program.is_none()
    }

    fn join(&mut self, other: &Taint) {
        let stays = matches!((&self.secret, &other.secret), (Some(Origin::Secret), _) | (_, None));
        if !stays {
            self.secret.clone_from(&other.secret);
        }
        if self.host.is_none() {
            self.host.clone_from(&other.host);
            self.name.clone_from(&other.name);
        }
        if self.program.is_none() {
            self.program.clone_from(&other.program);
        }
    }

    fn origins(&self) -> impl Iterator<Item = Origin> + '_ {
        let host = self.host.iter().cloned().map(Origin::Fetched);
        let program = self.program.iter().cloned().map(Origin::Program);
        self.secret.iter().cloned().chain(host).chain(program)
    }
}

/// Follows a call from what the session remembers (`facts.marks`). Sets what was true at any time of the call, what is true
/// after it, and asks for the scripts that it starts and that the session knows. True: the call was surveyed anew, because it starts
/// a copy of a program.
pub fn follow(call: &ToolCall, cwd: &str, survey: &mut Survey, facts: &Facts, policy: &Policy) -> bool {
    if starts_copy(survey, &facts.marks) {
        *survey = super::survey::survey(call, cwd, facts, policy);
        return true;
    }
    walk(call, cwd, survey, facts, policy);
    // A copy that it makes itself of what was remembered.
    let copy = !facts.marks.is_empty() && starts_copy(survey, &survey.marks);
    if copy {
        let mut known = facts.clone();
        known.marks = survey.marks.clone();
        *survey = super::survey::survey(call, cwd, &known, policy);
    }
    copy
}

/// Whether a command starts a copy of a program that was not seen to be one.
pub(in crate::rules) fn starts_copy(survey: &Survey, marks: &Marks) -> bool {
    let is_one = |inv: &Invocation| {
        let word = inv.word.known()?;
        let path = if word.contains('/') { join(inv.cwd.as_deref()?, word) } else { word.to_owned() };
        // A name that programs have too may lead to the copy by the search path.
        Some(marks.program(&path)? != inv.program || !word.contains('/'))
    };
    !marks.is_empty() && survey.invocations.iter().any(|inv| is_one(inv) == Some(true))
}

/// The same of a call that is known to start no copy of a program.
pub(in crate::rules) fn walk(
    call: &ToolCall,
    cwd: &str,
    survey: &mut Survey,
    facts: &Facts,
    policy: &Policy,
) {
    if facts.marks.is_empty() && !may_leave(call, survey, facts) {
        return;
    }
    let mut trail = Trail {
        facts,
        policy,
        now: facts.marks.clone(),
        seen: facts.marks.clone(),
        fed: BTreeMap::new(),
        pipes: BTreeMap::new(),
        piped: set_of(
            survey.invocations.iter().filter(|inv| inv.stdin == Stdin::Pipe).map(|inv| inv.pipeline),
        ),
        lookups: 0,
    };
    match &call.action {
        Action::Write { path, .. } => trail.wrote(&join(cwd, path), false),
        Action::Edit { path, .. } => trail.wrote(&join(cwd, path), true),
        Action::Other { claims, .. } => claims.iter().for_each(|claim| trail.claimed(claim, cwd)),
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. } => {}
    }
    for (index, inv) in survey.invocations.iter().enumerate() {
        trail.step(index, inv, &survey.invocations);
    }
    let commands = if trail.seen.is_empty() { 0 } else { survey.invocations.len() };
    if (trail.lookups > MAX_LOOKUPS || commands > MAX_STARTED) && survey.problem.is_none() {
        survey.problem = Some("it names more files than can be followed".to_owned());
    }
    if !trail.seen.is_empty() {
        trail.ask_for_scripts(survey);
    }
    survey.leaves = trail.now;
    survey.marks = trail.seen;
}

/// Whether a call can leave anything worth remembering. Most cannot.
fn may_leave(call: &ToolCall, survey: &Survey, facts: &Facts) -> bool {
    match &call.action {
        Action::Write { path, .. } => files::is_script_name(path) || is_outside(path, facts),
        Action::Edit { path, .. } => files::is_script_name(path),
        Action::Shell { .. } | Action::Other { .. } => survey
            .invocations
            .iter()
            .any(|inv| !inv.writes.is_empty() || outputs::writes_files(inv) || is_download(inv)),
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Spawn { .. } => false,
    }
}

/// Whether a file lies neither in the project nor in a temporary directory: what the agent makes there it may delete again.
fn is_outside(path: &str, facts: &Facts) -> bool {
    let places = &facts.places;
    path.starts_with('/')
        && !places.roots().chain(places.temp.iter().map(String::as_str)).any(|dir| lies_in(path, dir))
}

/// The walk over one call.
struct Trail<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    /// As it stands where the walk has come to.
    now: Marks,
    /// All that was true at some time of the call.
    seen: Marks,
    /// What the substitutions in a command print, by the command's index.
    fed: BTreeMap<usize, Taint>,
    /// What went through a pipeline so far, by its number.
    pipes: BTreeMap<u32, Taint>,
    /// The pipelines in which a command reads what comes before it.
    piped: BTreeSet<u32>,
    lookups: usize,
}

impl Trail<'_> {
    fn step(&mut self, index: usize, inv: &Invocation, all: &[Invocation]) {
        // Paths in a container or on another machine are not this machine's.
        if inv.contained || inv.wrappers.iter().any(|wrapper| wrapper == "ssh") || self.lookups > MAX_LOOKUPS
        {
            return;
        }
        if self.is_end(inv) && !self.takes_what_comes(index, inv) {
            // Nobody asks what it reads. How much is asked for of what is remembered is counted all the same.
            self.fed.remove(&index);
            if !self.now.is_empty() {
                self.lookups += outputs::inputs_of(inv);
            }
            if is_download(inv) {
                let host = self.host(inv);
                self.fetch(inv, all, &host);
            }
            self.outputs(inv, (&Taint::default(), &Taint::default()));
            return;
        }
        let mut taint = self.fed.remove(&index).unwrap_or_default();
        if inv.stdin == Stdin::Pipe
            && let Some(before) = self.pipes.get(&inv.pipeline)
        {
            taint.join(before);
        }
        let mut came_in = taint.clone();
        for target in &inv.reads {
            came_in.join(&self.held(target));
        }
        taint.join(&self.inputs(inv));
        let printed = if outputs::passes_on(inv) { taint.clone() } else { Taint::default() };
        let host = is_download(inv).then(|| self.host(inv));
        let printed = match host {
            Some(host) => {
                self.fetch(inv, all, &host);
                Taint { host: Some(host), name: files::name_in_url(inv), ..printed }
            }
            None => printed,
        };
        self.outputs(inv, (&taint, &came_in));
        for (target, append) in &inv.writes {
            if let crate::domain::Target::Path { path, glob: false, .. } = target {
                let redacts = outputs::redacts(inv) && files::is_example(path);
                let printed = if redacts { &Taint::default() } else { &printed };
                self.put(path, printed, *append);
            }
        }
        if let Some(outer) = inv.feeds {
            self.fed.entry(outer).or_default().join(&printed);
        }
        let pipe = self.pipes.entry(inv.pipeline).or_default();
        if inv.stage == 0 && inv.stdin != Stdin::Pipe {
            *pipe = printed;
        } else {
            pipe.join(&printed);
        }
    }

    /// Whether nothing that a command reads goes anywhere: into no file, no other command, no substitution.
    fn is_end(&self, inv: &Invocation) -> bool {
        inv.writes.is_empty()
            && inv.feeds.is_none()
            && !outputs::passes_into_files(inv)
            && !self.piped.contains(&inv.pipeline)
    }

    /// Whether a command that copies files is given one that another command prints: `cp <(curl x) y`, `curl x | cp /dev/stdin y`.
    fn takes_what_comes(&self, index: usize, inv: &Invocation) -> bool {
        (outputs::copies_files(inv) || matches!(inv.program.as_str(), "sed" | "gsed"))
            && (self.fed.contains_key(&index)
                || inv.stdin == Stdin::Pipe
                    && inv.args.iter().any(|arg| outputs::is_stdin(arg) || outputs::reads_stdin(arg)))
    }

    /// A file gets new content.
    fn put(&mut self, path: &str, taint: &Taint, append: bool) {
        if taint.is_clean() {
            self.wrote(path, append);
            return;
        }
        if !append {
            self.forget(path);
        }
        for origin in taint.origins() {
            self.mark(path, Reach::File, origin);
        }
    }

    /// The agent writes a file with nothing in it that is remembered.
    fn wrote(&mut self, path: &str, append: bool) {
        let source = self.now.source(path).map(|mark| mark.origin.clone());
        let fetched = matches!(source, Some(Origin::Fetched(_)));
        if !append {
            self.forget(path);
        }
        // In what came from elsewhere its own file is its own; what it only changes stays what it is.
        if if fetched {
            !append
        } else {
            files::is_script_name(path) || !append && is_outside(path, self.facts)
        } {
            self.mark(path, Reach::File, Origin::Written);
        }
    }

    fn claimed(&mut self, claim: &Claim, cwd: &str) {
        match claim {
            Claim::File { path, usage: Usage::Write } => self.wrote(&join(cwd, path), false),
            Claim::File { path, usage: Usage::Delete } => self.forget(&join(cwd, path)),
            Claim::File { usage: Usage::Read | Usage::Unsaid, .. }
            | Claim::Command(_)
            | Claim::Code(_)
            | Claim::Unread => {}
        }
    }

    fn mark(&mut self, path: &str, reach: Reach, origin: Origin) {
        let mark = Mark { path: path.to_owned(), reach, origin };
        // A file is the same by its real name.
        if let Some(fact) = self.facts.path(path).filter(|fact| fact.real != path) {
            let real = Mark { path: fact.real.clone(), ..mark.clone() };
            self.seen.add(real.clone());
            self.now.add(real);
        }
        self.seen.add(mark.clone());
        self.now.add(mark);
    }

    fn copy(&mut self, from: &str, to: &str) {
        if self.now.is_empty() || self.lookups > MAX_LOOKUPS {
            return;
        }
        self.lookups += COPY;
        self.now.copy(from, to);
        self.seen.add_all(&self.now);
    }

    fn forget(&mut self, path: &str) {
        if !self.now.is_empty() {
            self.lookups += 1;
            self.now.forget(path);
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        self.facts.path(path).is_some_and(|fact| fact.kind == PathKind::Directory)
    }

    /// The host that a command fetches from: one that is not known, where there is one.
    fn host(&self, inv: &Invocation) -> String {
        let values = inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "--url" | "-Uri" | "-uri"));
        let given = inv.operands.iter().chain(values.filter_map(|flag| flag.value.as_ref()));
        let mut hosts = given.filter_map(|arg| files::host_in(inv, &arg.text()));
        let first = hosts.next().unwrap_or_default();
        let strange = |host: &String| !is_known(host, self.policy);
        if strange(&first) { first } else { hosts.find(strange).unwrap_or(first) }
    }

    /// The files beside it that an interpreter's code loads.
    fn modules(&self, inv: &Invocation) -> Vec<String> {
        if self.seen.is_empty() || !runs_code(inv) {
            return Vec::new();
        }
        let script = inv.operands.first().map(|script| target_of(script, inv.cwd.as_deref()));
        let script = script.and_then(|script| self.facts.content(script.text()).flatten());
        let input = match &inv.stdin {
            Stdin::Text(text) => Some(text.to_text()),
            Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => None,
        };
        let codes: Vec<&str> = script.into_iter().chain(input.as_deref()).collect();
        modules::loaded_by(inv, &codes)
    }

    /// Asks for the text of scripts that are started and that the session knows.
    fn ask_for_scripts(&self, survey: &mut Survey) {
        let paths =
            survey.invocations.iter().take(MAX_STARTED).flat_map(started).filter_map(
                |started| match started {
                    Started::File(path) => Some(path),
                    Started::Program(_) | Started::In(_) | Started::Package(_) => None,
                },
            );
        let recipes = survey.invocations.iter().take(MAX_STARTED).flat_map(run::recipes);
        let modules = survey.invocations.iter().take(MAX_STARTED).flat_map(|inv| self.modules(inv));
        let is_inside = |dir: &str| self.seen.source(dir).is_some();
        let of_installs =
            survey.invocations.iter().take(MAX_STARTED).flat_map(|inv| installs::asks(inv, is_inside));
        let known: Vec<Ask> = { paths.chain(recipes).chain(modules) }
            .filter(|path| self.seen.source(path).is_some())
            .map(Ask::Content)
            .chain(of_installs)
            .filter(|ask| !self.facts.knows(ask))
            .collect();
        for ask in known {
            if survey.asks.len() < Ask::MAX && !survey.asks.contains(&ask) {
                survey.asks.push(ask);
            }
        }
    }
}

/// The paths of what came from a host that nothing is known of and is started by a call.
pub fn accepted(survey: &Survey, marks: &Marks, policy: &Policy) -> Vec<String> {
    let started = survey.invocations.iter().take(MAX_STARTED).flat_map(started);
    let sources = started.filter_map(|started| match started {
        Started::File(path) | Started::In(path) | Started::Package(path) => marks.source(&path),
        Started::Program(_) => None,
    });
    let strange = sources.filter(|mark| match &mark.origin {
        Origin::Fetched(host) => is_strange(host, policy),
        Origin::Written | Origin::Program(_) | Origin::Environment | Origin::Settings | Origin::Secret => {
            false
        }
    });
    strange.map(|mark| mark.path.clone()).collect()
}

/// Whether a host is one that nothing is known of.
pub(in crate::rules) fn is_strange(host: &str, policy: &Policy) -> bool {
    let distributes = |known: &str| match known.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).is_some_and(|front| front.ends_with('.')),
        None => host == known,
    };
    host.is_empty()
        || !(is_known(&host_of(host), policy)
            || lists::REGISTRIES.contains(&host)
            || lists::DISTRIBUTORS.iter().any(|known| distributes(known)))
}
