//! `lazaret config`: the file to start from, what counts in the end and why, and what is wrong.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};

use crate::cli::CHECKS;
use crate::domain::{Exception, Fault, Pattern, Places, Policy, Severity, Tier, names_id};
use crate::host::brought;
use crate::host::clock;
use crate::host::config::{
    self, Explained, Kind, Note, Origin, PROJECT_FILE, Problem, Resolved, Source, Value,
};
use crate::host::dirs::Dirs;
use crate::host::files::{self, Links};
use crate::host::plugin;
use crate::host::trust::TrustState;
use crate::host::watch;
use crate::review::exceptions;
use crate::rules::{self, programs};

/// Writes the commented default file; refuses to touch one that is there.
pub fn init(dirs: &Dirs, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = dirs.config_file();
    let shown = path.display();
    files::private_dir(&dirs.config).with_context(|| format!("directory of {shown}"))?;
    watch::placing(&dirs.state, &path, || match files::create(&path, config::template().as_bytes()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{shown}: it exists and is left as it is; move it away to start anew")
        }
        Err(error) => Err(error).with_context(|| format!("{shown}: it cannot be written")),
    })?;
    writeln!(out, "wrote {shown}: every key with its default, commented out")?;
    writeln!(out, "edit it with: lazaret config edit")?;
    Ok(())
}

/// The places at which files are looked for, and which of them exist.
pub fn path(dirs: &Dirs, places: &Places, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let found: Vec<(Origin, String, bool)> = config::candidates(dirs, places)
        .into_iter()
        .map(|(origin, path)| {
            let exists = Path::new(&path).exists();
            (origin, path, exists)
        })
        .collect();
    if json {
        let files: Vec<Json> = found
            .iter()
            .map(|(origin, path, exists)| json!({"layer": origin.name(), "path": path, "exists": exists}))
            .collect();
        return line(out, &json!({ "files": files }));
    }
    for (origin, path, exists) in &found {
        let absent = if *exists { "" } else { "  (none)" };
        writeln!(out, "{:<8} {path}{absent}", origin.name())?;
    }
    Ok(())
}

/// Every key with its value and where it comes from, and the notes.
pub fn show(dirs: &Dirs, places: &Places, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let explained = config::explain(dirs, places, CHECKS)?;
    let notes = all_notes(&explained);
    if json {
        let values: serde_json::Map<String, Json> = explained
            .values
            .iter()
            .map(|resolved| {
                let from: Vec<&str> = origins(&explained, &resolved.from).map(|source| source.path.as_str()).collect();
                let source = json!({"value": resolved.value.json(), "source": source_of(&explained, resolved), "files": from});
                (resolved.key.name.to_owned(), source)
            })
            .collect();
        let layers: Vec<Json> = explained.layers.iter().map(layer_json).collect();
        let notes: Vec<Json> = notes.iter().map(note_json).collect();
        let policy = policy(dirs)?;
        return line(out, &json!({"values": values, "layers": layers, "policy": policy, "notes": notes}));
    }
    for layer in &explained.layers {
        let trust = match (layer.origin, layer.trust) {
            (Origin::Managed, _) => policy(dirs)?.map_or_else(String::new, |title| format!("  ({title})")),
            (Origin::User, Some(TrustState::Allowed)) => "  (accepted)".to_owned(),
            (Origin::User, Some(TrustState::Unknown | TrustState::Denied)) => "  (not accepted)".to_owned(),
            (_, Some(trust)) => format!("  (trust: {})", trust.name()),
            (_, None) => String::new(),
        };
        writeln!(out, "# {:<8} {}{trust}", layer.origin.name(), layer.path)?;
    }
    for resolved in &explained.values {
        writeln!(out, "{} = {}  # {}", resolved.key.name, resolved.value, source_of(&explained, resolved))?;
    }
    for note in &notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

/// The bundle of policy that the managed file is from.
fn policy(dirs: &Dirs) -> anyhow::Result<Option<String>> {
    let Some((applied, same)) = brought::in_force(&dirs.managed)? else { return Ok(None) };
    let changed = if same { "" } else { ", changed since" };
    Ok(Some(format!("{}, applied {}{changed}", applied.title(), applied.applied)))
}

fn origins<'a>(explained: &'a Explained, from: &'a [usize]) -> impl Iterator<Item = &'a Source> {
    from.iter().filter_map(|at| explained.layers.get(*at))
}

/// The layers of a value, the one that set it first.
fn source(explained: &Explained, from: &[usize]) -> String {
    let names: Vec<&str> = origins(explained, from).map(|source| source.origin.name()).collect();
    if names.is_empty() { "default".to_owned() } else { names.join(", tightened by ") }
}

/// The same of one value: what no file sets may be the profile's.
fn source_of(explained: &Explained, resolved: &Resolved) -> String {
    let profile = explained.policy.profile;
    let by_profile = || config::profile_settings(profile).any(|(key, _)| key.name == resolved.key.name);
    if resolved.from.is_empty() && by_profile() {
        return format!("profile {}", profile.name());
    }
    let mut source = source(explained, &resolved.from);
    if resolved.by_run {
        source.push_str(", tightened by the run");
    }
    source
}

/// The notes of the configuration, and those on rule ids that no rule has.
pub fn all_notes(explained: &Explained) -> Vec<Note> {
    let mut notes = explained.notes.clone();
    for resolved in
        explained.values.iter().filter(|resolved| resolved.key.kind == Kind::Words(config::Item::Rule))
    {
        let Value::Words(ids) = &resolved.value else { continue };
        let path =
            origins(explained, &resolved.from).next().map(|source| source.path.clone()).unwrap_or_default();
        let unknown = ids.iter().filter_map(|id| Some((kind_of(id), unknown_rule(id, &explained.policy)?)));
        notes.extend(unknown.map(|(kind, text)| Note {
            kind,
            path: path.clone(),
            line: None,
            text: format!("`{}`: {text}", resolved.key.name),
        }));
    }
    notes.extend(exceptions_without_effect(&explained.policy));
    notes.extend(about_no_pattern(explained));
    notes.extend(unusable_plugins(explained));
    notes.extend(known_programs(explained));
    notes
}

/// A note for each plugin whose program is not there, or not the one that was pinned.
fn unusable_plugins(explained: &Explained) -> Vec<Note> {
    let set = explained.values.iter().find(|one| one.key.kind == Kind::Plugins);
    let set = set.and_then(|one| origins(explained, &one.from).next());
    let path = set.map(|source| source.path.clone()).unwrap_or_default();
    let faults = explained.policy.plugins.iter().filter_map(|one| plugin::verify(one).err());
    let note = |fault: Fault| Note {
        kind: config::NoteKind::Broken,
        path: path.clone(),
        line: None,
        text: format!("`plugins`: {}", fault.message()),
    };
    faults.map(note).collect()
}

/// A note on programs of which lazaret has a row of its own, so that one that is taught gives nobody its words.
fn known_programs(explained: &Explained) -> Option<Note> {
    let set = explained.values.iter().find(|one| one.key.kind == Kind::Programs)?;
    let path = origins(explained, &set.from).next().map(|source| source.path.clone())?;
    let own = explained.policy.programs.iter().filter(|one| !one.adds).flat_map(|one| &one.names);
    let known: Vec<&str> = own.map(String::as_str).filter(|name| programs::known(name).is_some()).collect();
    let text = format!(
        "`programs`: lazaret has a row of its own for {}, which counts; of yours only what is stricter does (`lazaret facts show`)",
        known.join(", ")
    );
    (!known.is_empty()).then_some(Note { kind: config::NoteKind::Overruled, path, line: None, text })
}

/// A note for each intervention of one's own that is about a pattern that there is not.
fn about_no_pattern(explained: &Explained) -> Vec<Note> {
    let Explained { policy, values, .. } = explained;
    let set = values.iter().find(|one| one.key.kind == Kind::Interventions);
    let set = set.and_then(|one| origins(explained, &one.from).next());
    let path = set.map(|source| source.path.clone()).unwrap_or_default();
    let unknown = policy
        .interventions
        .custom
        .iter()
        .map(|one| &one.pattern)
        .filter(|name| Pattern::from_name(name).is_none() && policy.patterns.own(name).is_none())
        .filter(|name| policy.looked_for_by(name).is_none());
    let note = |name: &String| Note {
        kind: config::NoteKind::Broken,
        path: path.clone(),
        line: None,
        text: format!("`interventions.custom`: no pattern is called {name:?}; docs/behaviour.md lists them"),
    };
    unknown.map(note).collect()
}

/// A note for each exception that does not count now, and why.
fn exceptions_without_effect(policy: &Policy) -> Vec<Note> {
    let now_s = clock::now().unix_ms / 1000;
    let why = |exception: &Exception| match severity_of(&exception.rule, policy) {
        None => unknown_rule(&exception.rule, policy).map(|text| (kind_of(&exception.rule), text)),
        Some(severity) => without_effect((exception, severity), policy, now_s),
    };
    let note = |exception: &Exception| {
        why(exception).map(|(kind, text)| Note {
            kind,
            path: exception.file.clone(),
            line: Some(exception.line),
            text: of_no_effect(exception, &text),
        })
    };
    policy.exceptions.iter().filter_map(note).collect()
}

/// Why an exception from a rule of this severity does not count, and whether it once did.
fn without_effect(
    (exception, severity): (&Exception, Severity),
    policy: &Policy,
    now_s: u64,
) -> Option<(config::NoteKind, String)> {
    exceptions::objection(exception, severity, policy, now_s).map(|text| {
        let over = exception.expires.as_ref().is_some_and(|expiry| expiry.unix_s <= now_s);
        (if over { config::NoteKind::Expired } else { config::NoteKind::Broken }, text)
    })
}

fn of_no_effect(exception: &Exception, why: &str) -> String {
    format!("the exception from {} has no effect: {why}", exception.rule)
}

/// The severity of the rule of that id, built in or of one's own.
pub(super) fn severity_of(id: &str, policy: &Policy) -> Option<Severity> {
    let own = || policy.custom_rules.iter().find(|rule| rule.id == id).map(|rule| rule.severity);
    rules::find(id).map(|rule| rule.severity).or_else(own)
}

/// What a rule's id is worth that no rule has.
fn kind_of(id: &str) -> config::NoteKind {
    if rules::RETIRED.contains(&id) { config::NoteKind::Retired } else { config::NoteKind::Broken }
}

pub(super) fn unknown_rule(id: &str, policy: &Policy) -> Option<String> {
    let own = || policy.custom_rules.iter().map(|rule| rule.id.as_str());
    let ids = || rules::all().map(|rule| rule.id).chain(own());
    if ids().any(|known| names_id(id, known)) {
        return None;
    }
    if rules::RETIRED.contains(&id) {
        return Some(format!("the rule {id} does not exist any more: prose is not judged"));
    }
    let hint = nearest(id, ids())
        .map_or("`lazaret rules list` names them".to_owned(), |near| format!("did you mean {near}?"));
    Some(format!("no rule is called {id:?}; {hint}"))
}

/// The name that was probably meant.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(near, _)| *near >= 0.6).map(|(_, known)| known)
}

/// What `check` found in one file.
struct Report {
    path: String,
    problems: Vec<Problem>,
}

/// Says what is wrong with `file`, or with every file that counts here. False when something is.
pub fn check(
    dirs: &Dirs,
    places: &Places,
    file: Option<&Path>,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let (reports, notes) = match file {
        Some(file) => (vec![check_file(file)?], Vec::new()),
        None => check_all(dirs, places),
    };
    let good = reports.iter().all(|report| report.problems.is_empty());
    if json {
        let files: Vec<Json> = reports
            .iter()
            .map(|report| {
                let problems: Vec<Json> = report
                    .problems
                    .iter()
                    .map(|problem| json!({"line": problem.line, "text": problem.text}))
                    .collect();
                json!({"path": report.path, "problems": problems})
            })
            .collect();
        let notes: Vec<Json> = notes.iter().map(note_json).collect();
        line(out, &json!({"ok": good, "files": files, "notes": notes}))?;
        return Ok(good);
    }
    for report in &reports {
        for problem in &report.problems {
            match problem.line {
                Some(line) => writeln!(out, "{}:{line}: {}", report.path, problem.text)?,
                None => writeln!(out, "{}: {}", report.path, problem.text)?,
            }
        }
        if report.problems.is_empty() {
            writeln!(out, "{}: fine", report.path)?;
        }
    }
    if reports.is_empty() {
        writeln!(out, "no configuration file: the defaults count")?;
    }
    for note in &notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(good)
}

fn check_file(file: &Path) -> anyhow::Result<Report> {
    let file = std::path::absolute(file)?;
    let path = file.to_string_lossy().into_owned();
    let bytes = files::read(&path, config::MAX_FILE, Links::Follow);
    let bytes = bytes.map_err(|why| anyhow::anyhow!("{path}: {why}"))?;
    let Some(bytes) = bytes else { bail!("{path}: there is no such file") };
    let problems = problems(&bytes, &path);
    Ok(Report { path, problems })
}

/// What is wrong with a file, its exceptions that can have no effect among it.
fn problems(bytes: &[u8], path: &str) -> Vec<Problem> {
    let custom = config::custom_of(bytes, project_base(path), CHECKS);
    let (policy, now_s) = (Policy::default(), clock::now().unix_ms / 1000);
    let origin = if project_base(path).is_some() { Tier::Project } else { Tier::User };
    let without = custom.exceptions.iter().filter_map(|exception| {
        let severity = severity_of(&exception.rule, &policy)?;
        let exception = &Exception { origin, ..exception.clone() };
        let (kind, text) = without_effect((exception, severity), &policy, now_s)?;
        let line = Some(exception.line).filter(|_| kind == config::NoteKind::Broken)?;
        Some(Problem { line: Some(line), text: of_no_effect(exception, &text), unknown: false })
    });
    custom.problems.into_iter().chain(without).collect()
}

/// The directory of a project's file; none when the file is no project's.
fn project_base(path: &str) -> Option<&str> {
    path.strip_suffix(PROJECT_FILE).filter(|dir| dir.ends_with('/'))
}

fn check_all(dirs: &Dirs, places: &Places) -> (Vec<Report>, Vec<Note>) {
    let mut reports = Vec::new();
    for (_, path) in config::candidates(dirs, places) {
        let problems = match files::read(&path, config::MAX_FILE, Links::Follow) {
            Ok(None) => continue,
            Ok(Some(bytes)) => problems(&bytes, &path),
            Err(why) => vec![Problem { line: None, text: why.to_string(), unknown: false }],
        };
        reports.push(Report { path, problems });
    }
    let mut notes =
        config::explain(dirs, places, CHECKS).map_or(Vec::new(), |explained| all_notes(&explained));
    // Of a project's file these are the same problems again.
    notes.retain(|note| !reports.iter().any(|report| is_of(note, report)));
    (reports, notes)
}

fn is_of(note: &Note, report: &Report) -> bool {
    note.path == report.path && report.problems.iter().any(|problem| problem.text == note.text)
}

fn layer_json(layer: &Source) -> Json {
    json!({"layer": layer.origin.name(), "path": layer.path, "trust": layer.trust.map(|trust| trust.name())})
}

fn note_json(note: &Note) -> Json {
    json!({"kind": note.kind, "path": note.path, "line": note.line, "text": note.text})
}

/// One JSON object on one line.
pub(super) fn line(out: &mut dyn Write, value: &Json) -> anyhow::Result<()> {
    writeln!(out, "{value}")?;
    Ok(())
}
