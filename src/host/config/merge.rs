//! The layers of configuration, put together key by key. Touches nothing: files have been read, trust is known.

use serde::{Deserialize, Serialize};

use super::key::Key;
use super::keys::KEYS;
use super::parse::{Entry, Problem};
use super::profile;
use super::value::{Change, Kind, Value};
use crate::domain::{Exception, Policy, Profile, WrittenPattern, WrittenProgram, names_id};

pub use crate::domain::Tier as Origin;

/// One file, parsed.
#[derive(Debug)]
pub struct Layer {
    pub origin: Origin,
    pub path: String,
    /// It may loosen: a managed file, or one of which a person allowed exactly this content.
    pub may_loosen: bool,
    pub entries: Vec<Entry>,
}

/// What kind of note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteKind {
    /// A loosening of a project's file that nobody allowed: it does not count.
    Untrusted,
    /// A loosening of the user's file that no person accepted: it does not count.
    Unaccepted,
    /// A loosening of a lower layer that a higher one overrules.
    Overruled,
    /// A project's file, or a part of it, that cannot be used.
    Broken,
    /// A key that nobody knows; the rest of its file counts.
    Unknown,
    /// An exception whose time is over.
    Expired,
    /// It names a rule that there is not any more.
    Retired,
    /// Thresholds of several layers that did not fit together, and were tightened until they did.
    Adjusted,
}

/// Something about the configuration that a person should know, and that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: NoteKind,
    pub path: String,
    pub line: Option<usize>,
    pub text: String,
}

impl Note {
    /// What is said of it once a person let it count.
    pub fn once_accepted(&self) -> String {
        let what = |end: &str| self.text.split_once(end).map(|(what, _)| what);
        match (what(" does not count"), what(" do not count")) {
            (Some(one), _) => format!("{one} counts from now on"),
            (None, Some(many)) => format!("{many} count from now on"),
            (None, None) => self.text.clone(),
        }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}

/// A key's value and the layers it comes from; none for what the profile sets, or a default.
#[derive(Debug)]
pub struct Resolved {
    pub key: &'static Key,
    pub value: Value,
    /// Indices of layers: the one that set it, then those that tightened it.
    pub from: Vec<usize>,
    /// The profile of a supervised run tightened it further.
    pub by_run: bool,
}

/// The outcome of putting the layers together.
#[derive(Debug)]
pub struct Merged {
    pub policy: Policy,
    pub values: Vec<Resolved>,
    pub notes: Vec<Note>,
}

/// Puts `layers` together, the highest first. For each key the highest layer that may loosen sets the value; the layers
/// below it, and those that may not loosen, count as far as they tighten it. Last comes what a supervised run demands: its
/// profile, which can only tighten, also what files say.
pub fn merge(layers: &[Layer], demanded: Option<Profile>) -> Merged {
    let mut merged = Merged { policy: Policy::default(), values: Vec::new(), notes: Vec::new() };
    // What the profile sets lies below all files; the key that chooses it is the first.
    let mut base = Policy::default();
    for key in KEYS {
        let mut resolved = if key.kind == Kind::Exceptions {
            excepted(key, layers, &mut merged.notes)
        } else if key.kind == Kind::Programs {
            taught(key, layers, &mut merged.notes)
        } else {
            resolve(key, layers, &base, &mut merged.notes)
        };
        if let Some(value) = demanded.and_then(|demanded| profile::value(demanded, key)) {
            tighten(&mut resolved, &value);
        }
        key.set(&mut merged.policy, resolved.value.clone());
        if merged.policy.profile != base.profile {
            base = profile::policy(merged.policy.profile);
        }
        merged.values.push(resolved);
    }
    demanded_rules_stay(layers, &mut merged);
    adjust(&mut merged);
    bounded(&mut merged);
    merged
}

/// What a layer writes as a rule of its own, no layer below it switches off: to demand a rule says so much, also where nothing is said of
/// those that are switched off.
fn demanded_rules_stay(layers: &[Layer], merged: &mut Merged) {
    let Some(resolved) = merged.values.iter_mut().find(|one| one.key.name == "rules.disabled") else {
        return;
    };
    let (Some(setter), Value::Words(off)) = (resolved.from.first().copied(), &mut resolved.value) else {
        return;
    };
    let above =
        layers.iter().take(setter).flat_map(|layer| layer.entries.iter().map(move |entry| (layer, entry)));
    for (upper, entry) in above {
        let Value::Rules(rules) = &entry.value else { continue };
        off.retain(|word| {
            let Some(rule) = rules.iter().find(|rule| names_id(word, &rule.id)) else { return true };
            let (origin, path, id) = (upper.origin.name(), &upper.path, &rule.id);
            let text =
                format!("`{word}` in `rules.disabled` does not count: the {origin} file {path} demands {id}");
            let lower = layers.get(setter);
            let line = lower
                .and_then(|lower| lower.entries.iter().find(|entry| entry.key.name == resolved.key.name));
            merged.notes.push(Note {
                kind: NoteKind::Overruled,
                path: lower.map_or_else(String::new, |lower| lower.path.clone()),
                line: line.map(|entry| entry.line),
                text,
            });
            false
        });
    }
    resolved.key.set(&mut merged.policy, resolved.value.clone());
}

fn resolve(key: &'static Key, layers: &[Layer], base: &Policy, notes: &mut Vec<Note>) -> Resolved {
    let said: Vec<(usize, &Layer, &Entry)> = layers
        .iter()
        .enumerate()
        .flat_map(|(at, layer)| layer.entries.iter().map(move |entry| (at, layer, entry)))
        .filter(|(_, _, entry)| entry.key.name == key.name)
        .collect();
    let setter = said.iter().find(|(_, layer, _)| may_set(key, layer));
    let mut resolved = match setter {
        Some((at, _, entry)) => Resolved { key, value: entry.value.clone(), from: vec![*at], by_run: false },
        None => Resolved { key, value: key.get(base), from: Vec::new(), by_run: false },
    };
    let set_by = setter.map(|(at, _, _)| *at);
    for (at, layer, entry) in said.iter().filter(|(at, _, _)| Some(*at) != set_by) {
        match key.stricter.change(key.kind, &resolved.value, &entry.value) {
            Change::Same => {}
            Change::Tightens(value) => {
                resolved.value = value;
                resolved.from.push(*at);
            }
            Change::Loosens => {
                let upper = resolved.from.first().and_then(|at| layers.get(*at));
                notes.push(note(key, (layer, entry), upper, &resolved.value));
            }
        }
    }
    resolved
}

fn tighten(resolved: &mut Resolved, demanded: &Value) {
    let Resolved { key, value, .. } = &*resolved;
    if let Change::Tightens(value) = key.stricter.change(key.kind, value, demanded) {
        resolved.value = value;
        resolved.by_run = true;
    }
}

/// A program that is started is nobody's affair but the user's: no project's file names one, trusted or not.
fn may_set(key: &Key, layer: &Layer) -> bool {
    layer.may_loosen && (!key.kind.starts_programs() || layer.origin != Origin::Project)
}

/// The exceptions of every layer that may loosen: they do not replace each other. Each learns where it stands.
fn excepted(key: &'static Key, layers: &[Layer], notes: &mut Vec<Note>) -> Resolved {
    let mut from = Vec::new();
    let mut all: Vec<Exception> = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        for entry in layer.entries.iter().filter(|entry| entry.key.name == key.name) {
            let Value::Exceptions(exceptions) = &entry.value else { continue };
            if !layer.may_loosen {
                notes.push(note(key, (layer, entry), None, &Value::Exceptions(all.clone())));
                continue;
            }
            from.push(at);
            all.extend(exceptions.iter().map(|exception| Exception {
                origin: layer.origin,
                file: layer.path.clone(),
                repository: exception.repository.clone().or_else(|| own_directory(layer, exception)),
                ..exception.clone()
            }));
        }
    }
    Resolved { key, value: Value::Exceptions(all), from, by_run: false }
}

/// The programs of every layer. Those of one that may not loosen only add to what is known without them.
fn taught(key: &'static Key, layers: &[Layer], notes: &mut Vec<Note>) -> Resolved {
    let mut from = Vec::new();
    let mut all: Vec<WrittenProgram> = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        for entry in layer.entries.iter().filter(|entry| entry.key.name == key.name) {
            let Value::Programs(programs) = &entry.value else { continue };
            from.push(at);
            let adds = !layer.may_loosen;
            all.extend(programs.iter().map(|program| WrittenProgram { adds, ..program.clone() }));
            if adds {
                let (kind, why) = unheard(layer);
                let text = format!(
                    "`{} = {}` counts as far as it is stricter than what is known of them: {why}",
                    key.name, entry.value
                );
                notes.push(Note { kind, path: layer.path.clone(), line: Some(entry.line), text });
            }
        }
    }
    Resolved { key, value: Value::Programs(all), from, by_run: false }
}

/// Why what would loosen in a layer does not count.
fn unheard(layer: &Layer) -> (NoteKind, String) {
    if layer.origin == Origin::User {
        let why =
            "it would loosen, and no person accepted this content of the file (`lazaret config accept`)";
        (NoteKind::Unaccepted, why.to_owned())
    } else {
        (
            NoteKind::Untrusted,
            "it would loosen, and nobody trusts this file (`lazaret trust allow`)".to_owned(),
        )
    }
}

/// An exception of a project's file that names no place is one from calls that stay in the file's directory.
fn own_directory(layer: &Layer, exception: &Exception) -> Option<String> {
    if layer.origin != Origin::Project || !exception.paths.is_empty() {
        return None;
    }
    layer.path.rsplit_once('/').map(|(dir, _)| if dir.is_empty() { "/".to_owned() } else { dir.to_owned() })
}

/// The note on a loosening that does not count.
fn note(key: &Key, (layer, entry): (&Layer, &Entry), upper: Option<&Layer>, value: &Value) -> Note {
    let what = if let Value::Exceptions(exceptions) = &entry.value {
        let rules: Vec<&str> = exceptions.iter().map(|exception| exception.rule.as_str()).collect();
        format!("`{}` (from {}) do not count", key.name, rules.join(", "))
    } else {
        format!("`{} = {}` does not count, {value} stays", key.name, entry.value)
    };
    let (kind, why) = match (layer.may_loosen, upper) {
        // Trust would not help where a higher layer has spoken.
        (_, Some(upper)) if upper.path != layer.path && upper.origin != Origin::Project => {
            (NoteKind::Overruled, format!("the {} file {} sets it", upper.origin.name(), upper.path))
        }
        (false, _) if layer.origin == Origin::User => unheard(layer),
        _ if key.kind.starts_programs() => (NoteKind::Untrusted, "a project's file cannot set it".to_owned()),
        (true, _) => (NoteKind::Overruled, "a file nearer to the working directory sets it".to_owned()),
        (false, _) => unheard(layer),
    };
    Note { kind, path: layer.path.clone(), line: Some(entry.line), text: format!("{what}: {why}") }
}

/// Thresholds of several layers may not fit together: the lower risk thresholds and the upper rationality threshold are
/// then moved, which tightens.
fn adjust(merged: &mut Merged) {
    let before = merged.policy.clone();
    let risk = &mut merged.policy.risk;
    risk.high = risk.high.min(risk.critical);
    risk.medium = risk.medium.min(risk.high);
    risk.low = risk.low.min(risk.medium);
    let rationality = &mut merged.policy.rationality;
    rationality.high = rationality.high.max(rationality.medium);
    for resolved in &mut merged.values {
        let value = resolved.key.get(&merged.policy);
        if value == resolved.key.get(&before) {
            continue;
        }
        merged.notes.push(Note {
            kind: NoteKind::Adjusted,
            path: "configuration".to_owned(),
            line: None,
            text: format!(
                "`{} = {}` became {value}, so that the thresholds do not descend",
                resolved.key.name, resolved.value
            ),
        });
        resolved.value = value;
    }
}

/// An entry has a bit for so many patterns of one's own; those of the lowest layers come last.
fn bounded(merged: &mut Merged) {
    let custom = &mut merged.policy.patterns.custom;
    let Some(first) = custom.get(WrittenPattern::MOST).map(|pattern| pattern.name.clone()) else { return };
    custom.truncate(WrittenPattern::MOST);
    let all = Value::Patterns(custom.clone());
    merged
        .values
        .iter_mut()
        .filter(|one| one.key.kind == Kind::Patterns)
        .for_each(|one| one.value = all.clone());
    merged.notes.push(Note {
        kind: NoteKind::Broken,
        path: "configuration".to_owned(),
        line: None,
        text: format!(
            "`patterns.custom`: {first} and those after it are not looked for, the most of all files are {}",
            WrittenPattern::MOST
        ),
    });
}

/// The note on a part of a project's file that cannot be used.
pub fn broken(path: &str, problem: &Problem) -> Note {
    let kind = if problem.unknown { NoteKind::Unknown } else { NoteKind::Broken };
    Note { kind, path: path.to_owned(), line: problem.line, text: problem.text.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn merge(layers: &[Layer]) -> Merged {
        super::merge(layers, None)
    }

    fn layer(origin: Origin, trusted: bool, text: &str) -> Layer {
        let parsed = parse(text.as_bytes(), Some("/p"), super::super::Checks::none());
        assert_eq!(parsed.problems, []);
        let may_loosen = origin != Origin::Project || trusted;
        Layer { origin, path: format!("/{}", origin.name()), may_loosen, entries: parsed.entries }
    }

    fn value(merged: &Merged, name: &str) -> String {
        merged.values.iter().find(|resolved| resolved.key.name == name).unwrap().value.to_string()
    }

    #[test]
    fn a_trusted_project_does_not_overrule_the_user() {
        let user = layer(Origin::User, false, "[rules]\nbuiltin = 'essential'\n");
        let merged = merge(&[user, layer(Origin::Project, true, "[rules]\nbuiltin = 'none'\n")]);
        assert_eq!(value(&merged, "rules.builtin"), "\"essential\"");
        assert_eq!(merged.notes[0].kind, NoteKind::Overruled);
    }

    #[test]
    fn no_lower_layer_switches_off_what_a_higher_one_demands() {
        let rule = |id: &str| {
            format!(
                "[[rules.custom]]\nid = '{id}'\nverdict = 'block'\nseverity = 'high'\nreason = 'r'\ninstead = {{ advice = 'a' }}\n\
                 when = [{{ command = {{ programs = ['fly'] }} }}]\nfires = ['fly']\nsilent = ['ls']\n"
            )
        };
        let managed = || layer(Origin::Managed, false, &rule("custom.deploy"));
        let off = |words: &str, more: &str| format!("[rules]\ndisabled = [{words}]\n{more}");
        for (words, stays) in [
            ("'custom.deploy', 'git.reset-hard'", "[\"git.reset-hard\"]"),
            ("'custom.*'", "[]"),
            ("'custom.other'", "[\"custom.other\"]"),
        ] {
            let user = layer(Origin::User, false, &off(words, &rule("custom.other")));
            let merged = merge(&[managed(), user]);
            assert_eq!(value(&merged, "rules.disabled"), stays, "{words}");
            assert_eq!(merged.policy.disabled_rules.is_empty(), stays == "[]");
            let notes: Vec<&Note> = merged.notes.iter().collect();
            assert_eq!(notes.len(), usize::from(!words.contains("other")), "{notes:?}");
            for note in notes {
                assert!(
                    note.kind == NoteKind::Overruled && note.path == "/user" && note.line == Some(2),
                    "{note:?}"
                );
                assert!(note.text.ends_with("the managed file /managed demands custom.deploy"), "{note}");
            }
        }
        // Who demands it switches it off, and a rule that one's own file has.
        let both = layer(Origin::Managed, false, &off("'custom.deploy'", &rule("custom.deploy")));
        assert_eq!(value(&merge(&[both]), "rules.disabled"), "[\"custom.deploy\"]");
        let project = layer(Origin::Project, true, &off("'custom.deploy'", ""));
        let user = layer(Origin::User, false, &rule("custom.deploy"));
        assert_eq!(value(&merge(&[user, project]), "rules.disabled"), "[]");
    }

    #[test]
    fn thresholds_of_several_layers_are_brought_into_order_strictly() {
        let merged = merge(&[layer(
            Origin::Project,
            false,
            "[risk]\nlow_threshold = 0.1\nmedium_threshold = 0.2\nhigh_threshold = 0.25\n[rationality]\nhigh_threshold = 0.95\nmedium_threshold = 0.9\n",
        )]);
        assert_eq!(merged.notes, []);
        let managed = layer(
            Origin::Managed,
            false,
            "[risk]\nlow_threshold = 0.1\nmedium_threshold = 0.2\nhigh_threshold = 0.25\n[rationality]\nhigh_threshold = 0.95\nmedium_threshold = 0.9\n",
        );
        let user = layer(
            Origin::User,
            false,
            "[risk]\nlow_threshold = 0.05\nmedium_threshold = 0.06\nhigh_threshold = 0.07\ncritical_threshold = 0.08\n[rationality]\nmedium_threshold = 0.99\nhigh_threshold = 1\n",
        );
        let merged = merge(&[managed, user]);
        assert_eq!((merged.policy.risk.high, merged.policy.rationality.high), (0.07, 1.0));
        let high = layer(Origin::Managed, false, "[risk]\nlow_threshold = 0.8\nmedium_threshold = 0.8\n");
        let merged = merge(&[high, layer(Origin::User, false, "[risk]\nhigh_threshold = 0.6\n")]);
        assert_eq!(
            (merged.policy.risk.low, merged.policy.risk.medium, merged.policy.risk.high),
            (0.6, 0.6, 0.6)
        );
        assert_eq!(value(&merged, "risk.low_threshold"), "0.6");
        assert_eq!(merged.notes.iter().filter(|note| note.kind == NoteKind::Adjusted).count(), 2);
    }

    #[test]
    fn what_a_run_demands_tightens_files_and_loosens_nothing() {
        let user = "on_fault = 'ask'\n[risk]\nhigh_threshold = 0.65\n[interventions]\nmax_retries = 9\n[rules]\ndisabled = ['x']\n";
        let merged = super::merge(&[layer(Origin::User, false, user)], Some(Profile::Production));
        assert_eq!(value(&merged, "profile"), "\"production\"");
        assert_eq!(value(&merged, "on_fault"), "\"block\"");
        assert_eq!(value(&merged, "risk.high_threshold"), "0.65", "stricter already");
        assert_eq!(value(&merged, "interventions.max_retries"), "2");
        assert_eq!(value(&merged, "patterns.sensitivity"), "\"high\"", "what no file sets");
        assert_eq!(value(&merged, "rules.disabled"), "[\"x\"]", "a profile says nothing of it");
        let by_run = merged.values.iter().filter(|one| one.by_run).map(|one| one.key.name);
        assert_eq!(by_run.collect::<Vec<_>>(), ["profile", "on_fault", "interventions.max_retries"]);
        assert_eq!(merged.notes, []);

        let strict = || layer(Origin::User, false, "profile = 'production'\n");
        let merged = super::merge(&[strict()], Some(Profile::Development));
        assert_eq!(merged.policy, super::merge(&[strict()], None).policy);
    }
}
