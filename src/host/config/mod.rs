//! The configuration: files of three layers, trust, and the policy they make. What a key is stands in `key`, which there are in `keys`.

mod cache;
mod choices;
mod exceptions;
mod field;
mod intervention;
mod key;
mod keys;
mod merge;
mod parse;
mod pattern;
mod plugin;
mod profile;
mod program;
mod refused;
mod rule;
mod tables;
mod template;
mod value;

use std::path::Path;

pub use intervention::InterventionCheck;
pub use key::Key;
pub use keys::KEYS;
pub use merge::{Note, NoteKind, Origin, Resolved};
pub use parse::Problem;
pub use pattern::PatternCheck;
pub use profile::settings as profile_settings;
pub use refused::{REFUSED, Refused};
pub use rule::RuleCheck;
pub use template::template;
pub use value::{Item, Kind, Stricter, Value};

use super::dirs::Dirs;
use super::files::{self, Links};
use super::places::upwards;
use super::private;
use super::trust::{self, TrustState};
use crate::domain::{
    Exception, Fault, FaultKind, Places, Policy, Profile, WrittenPattern, WrittenRule, lies_in,
};
use merge::{Layer, Merged};
use value::Change;

/// The configuration file of a project.
pub const PROJECT_FILE: &str = ".lazaret.toml";
/// Longest file, in bytes.
pub const MAX_FILE: u64 = 64 * 1024;
/// Most directories that are searched for a project's file.
const MAX_PROJECT_DIRS: usize = 16;

/// What is asked of custom entries that are well written.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    pub rule: RuleCheck,
    pub pattern: PatternCheck,
    pub intervention: InterventionCheck,
}

#[cfg(test)]
impl Checks {
    /// Nothing is asked.
    pub fn none() -> Checks {
        Checks { rule: |_| Vec::new(), pattern: |_| Vec::new(), intervention: |_| Vec::new() }
    }
}

/// The custom entries of a file that are well written, and everything that is wrong with it.
#[derive(Debug, Default)]
pub struct Custom {
    pub rules: Vec<WrittenRule>,
    pub patterns: Vec<WrittenPattern>,
    pub exceptions: Vec<Exception>,
    pub problems: Vec<Problem>,
}

/// One file that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub origin: Origin,
    pub path: String,
    /// What a person has said of it; not asked of a managed file, nor of the user's where the policy came from the cache.
    pub trust: Option<TrustState>,
    /// Its content; of a project's file that cannot be read, why.
    pub content: Result<Vec<u8>, String>,
}

/// The policy of this call.
#[derive(Debug)]
pub struct Loaded {
    pub policy: Policy,
    pub notes: Vec<Note>,
    /// The files it comes from, the highest layer first.
    pub layers: Vec<Source>,
}

/// The policy, with the origin of every value.
#[derive(Debug)]
pub struct Explained {
    pub policy: Policy,
    pub values: Vec<Resolved>,
    pub notes: Vec<Note>,
    pub layers: Vec<Source>,
}

/// The policy of a call made at these places; from the cache where the files have not changed. `checks` have the last word on
/// custom rules and patterns: what they mean is not known on this floor.
pub fn load(dirs: &Dirs, places: &Places, checks: Checks) -> Result<Loaded, Fault> {
    let mut layers = sources(dirs, places)?;
    if layers.is_empty() && dirs.demanded.is_none() {
        return Ok(Loaded { policy: Policy::default(), notes: Vec::new(), layers });
    }
    let (fingerprint, place) = cache::entry(&dirs.state, &layers, dirs.demanded);
    let kept = cache::get(&place, &fingerprint);
    // What was not accepted then may be now. What was is asked of nobody again: who accepts another content empties the cache.
    let stands = |notes: &[Note]| !notes.iter().any(|note| note.kind == NoteKind::Unaccepted);
    if let Some((policy, notes)) = kept.filter(|(_, notes)| stands(notes) || !ask_user(&mut layers, dirs)) {
        return Ok(Loaded { policy, notes, layers });
    }
    ask_user(&mut layers, dirs);
    let (merged, notes) = resolve(&layers, dirs.demanded, checks)?;
    // A cache that cannot be written costs time, nothing else.
    let _ = cache::put(&place, &fingerprint, (&merged.policy, &notes));
    Ok(Loaded { policy: merged.policy, notes, layers })
}

/// The same without the cache, with the origin of every value.
pub fn explain(dirs: &Dirs, places: &Places, checks: Checks) -> Result<Explained, Fault> {
    let mut layers = sources(dirs, places)?;
    ask_user(&mut layers, dirs);
    let (merged, notes) = resolve(&layers, dirs.demanded, checks)?;
    Ok(Explained { policy: merged.policy, values: merged.values, notes, layers })
}

/// Looks up whether a person accepted the user's file as it is; says so.
fn ask_user(layers: &mut [Source], dirs: &Dirs) -> bool {
    let mut accepted = false;
    for layer in layers.iter_mut().filter(|layer| layer.origin == Origin::User) {
        let Ok(content) = &layer.content else { continue };
        let state = trust::state(&dirs.state, &layer.path, content);
        accepted |= state == TrustState::Allowed;
        layer.trust = Some(state);
    }
    accepted
}

/// Accepts this content of the user's file, and no other one from now on.
pub fn accept(dirs: &Dirs, content: &[u8]) -> std::io::Result<()> {
    trust::accept(&dirs.state, &dirs.config_file().to_string_lossy(), content)?;
    // What was accepted before may lie there.
    private::found(std::fs::remove_dir_all(dirs.state.join(cache::DIR))).map(drop)
}

/// Everything that is wrong with a file's content. `project`: the directory of a project's file.
pub fn problems(bytes: &[u8], project: Option<&str>, checks: Checks) -> Vec<Problem> {
    parse::parse(bytes, project, checks).problems
}

/// The custom entries of a file's content.
pub fn custom_of(bytes: &[u8], project: Option<&str>, checks: Checks) -> Custom {
    let parsed = parse::parse(bytes, project, checks);
    let mut custom = Custom { problems: parsed.problems, ..Custom::default() };
    for entry in parsed.entries {
        match entry.value {
            Value::Rules(rules) => custom.rules = rules,
            Value::Patterns(patterns) => custom.patterns = patterns,
            Value::Exceptions(exceptions) => custom.exceptions = exceptions,
            _ => {}
        }
    }
    custom
}

/// The keys of a file's content that are stricter than another one, or than the default where that says nothing, and what each comes to.
/// What is not understood in it is left out.
pub fn tightening(upper: &[u8], lower: &[u8], checks: Checks) -> Vec<(&'static Key, Value)> {
    let above = parse::parse(upper, None, checks).entries;
    let default = Policy::default();
    let stricter = |entry: parse::Entry| {
        let upper = above.iter().find(|upper| upper.key.name == entry.key.name);
        let upper = upper.map_or_else(|| entry.key.get(&default), |upper| upper.value.clone());
        match entry.key.stricter.change(entry.key.kind, &upper, &entry.value) {
            Change::Tightens(value) => Some((entry.key, value)),
            Change::Same | Change::Loosens => None,
        }
    };
    parse::parse(lower, None, checks).entries.into_iter().filter_map(stricter).collect()
}

/// The paths at which files are looked for, the highest layer first.
pub fn candidates(dirs: &Dirs, places: &Places) -> Vec<(Origin, String)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut paths = vec![(Origin::Managed, text(&dirs.managed)), (Origin::User, text(&dirs.config_file()))];
    paths.extend(project_dirs(places).into_iter().map(|dir| {
        let dir = dir.strip_suffix('/').unwrap_or(dir);
        (Origin::Project, format!("{dir}/{PROJECT_FILE}"))
    }));
    paths
}

/// From the project up to the top of the repository; the repository alone when the project is not in it.
fn project_dirs(places: &Places) -> Vec<&str> {
    let (project, repo) = (places.project.as_deref(), places.repo.as_deref());
    match (project, repo) {
        (None, None) => Vec::new(),
        (Some(dir), None) | (None, Some(dir)) => vec![dir],
        (Some(project), Some(repo)) if lies_in(project, repo) => {
            let above = upwards(project).take(MAX_PROJECT_DIRS).take_while(|dir| lies_in(dir, repo));
            let mut found: Vec<&str> = above.collect();
            if !found.contains(&repo) {
                found.push(repo);
            }
            found
        }
        (Some(project), Some(repo)) => vec![repo, project],
    }
}

/// The files that exist, read. Only a project's file may be unreadable: that of a stranger must not stop the gate.
fn sources(dirs: &Dirs, places: &Places) -> Result<Vec<Source>, Fault> {
    let mut found = Vec::new();
    for (origin, path) in candidates(dirs, places) {
        let content = match (files::read(&path, MAX_FILE, Links::Follow), origin) {
            (Ok(None), _) => continue,
            (Ok(Some(bytes)), _) => Ok(bytes),
            (Err(why), Origin::Project) => Err(why.to_string()),
            (Err(why), Origin::Managed | Origin::User) => return Err(unusable(&path, &why.to_string())),
        };
        let trust = match (origin, &content) {
            (Origin::Project, Ok(bytes)) => Some(trust::state(&dirs.state, &path, bytes)),
            (Origin::Project, Err(_)) => Some(TrustState::Unknown),
            (Origin::Managed | Origin::User, _) => None,
        };
        found.push(Source { origin, path, trust, content });
    }
    Ok(found)
}

fn unusable(path: &str, why: &str) -> Fault {
    Fault::new(FaultKind::Config, format!("configuration {path}"), why)
        .with_hint(format!("fix {path} (`lazaret config check` lists what is wrong), or move it away"))
}

/// A stranger's rules and patterns count, but their words are not lazaret's.
fn hush(entry: &mut parse::Entry) {
    if let Value::Rules(rules) = &mut entry.value {
        rules.iter_mut().for_each(|rule| rule.hushed = true);
    } else if let Value::Patterns(patterns) = &mut entry.value {
        patterns.iter_mut().for_each(|pattern| pattern.hushed = true);
    }
}

/// Parses the files and puts them together.
fn resolve(
    sources: &[Source],
    demanded: Option<Profile>,
    checks: Checks,
) -> Result<(Merged, Vec<Note>), Fault> {
    let mut layers = Vec::with_capacity(sources.len());
    let mut notes = Vec::new();
    for Source { origin, path, trust, content } in sources {
        let base = path.strip_suffix(PROJECT_FILE).filter(|_| *origin == Origin::Project);
        let parsed = match content {
            Ok(bytes) => parse::parse(bytes, base, checks),
            Err(why) => {
                let problem = Problem { line: None, text: why.clone(), unknown: false };
                parse::Parsed { entries: Vec::new(), problems: vec![problem] }
            }
        };
        let mut grave = parsed.problems.iter().filter(|problem| !problem.unknown);
        if let (Origin::Managed | Origin::User, Some(first)) = (origin, grave.next()) {
            let rest = grave.count();
            let more = if rest == 0 { String::new() } else { format!(" (and {rest} more)") };
            return Err(unusable(path, &format!("{first}{more}")));
        }
        notes.extend(parsed.problems.iter().map(|problem| merge::broken(path, problem)));
        let may_loosen = match origin {
            Origin::Managed => true,
            Origin::User | Origin::Project => *trust == Some(TrustState::Allowed),
        };
        let mut entries = parsed.entries;
        if !may_loosen && *origin == Origin::Project {
            entries.iter_mut().for_each(hush);
        }
        layers.push(Layer { origin: *origin, path: path.clone(), may_loosen, entries });
    }
    let mut merged = merge::merge(&layers, demanded);
    notes.append(&mut merged.notes);
    Ok((merged, notes))
}
