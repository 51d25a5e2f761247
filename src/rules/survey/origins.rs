//! Where in a text the values come from that a word, a shell's input or a file may hold: by the names of variables, the subshells
//! whose output is substituted, the stages of pipelines and the files that the text writes. Flow-insensitive: what is assigned to a
//! variable anywhere may be in it everywhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{last_name, sort_by_key};
use crate::shell::{Op, Part, RedirectKind, Script, Simple, Word};

/// Most places that are looked at for one text.
const MAX_PLACES: usize = 256;
/// How many subshells around a command its output is followed through.
const MAX_AROUND: usize = 8;

/// Where values gather.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Variable(String),
    /// What a subshell prints.
    Output(u32),
    /// What a stage of a pipeline prints.
    Stage(u32, u16),
    /// What the text writes to a file of that name.
    File(String),
}

/// The positional parameters, whichever of them.
pub(super) const POSITIONAL: &str = "@";

/// Variables of which the name is computed.
const COMPUTED: &str = "?";

/// What comes into the places of a text.
pub(super) struct Origins<'s> {
    script: &'s Script,
    into: BTreeMap<Place, Vec<From<'s>>>,
    /// Variables stand for others by their names.
    by_name: bool,
}

/// What comes into a place.
#[derive(Clone)]
pub(super) enum From<'s> {
    /// Words in a row.
    Words(&'s [Word]),
    Text(&'s str),
    Place(Place),
}

/// The places that a word names.
pub(super) fn places_in(word: &Word) -> impl Iterator<Item = Place> + '_ {
    word.parts.iter().filter_map(|part| match part {
        Part::Variable { op: Op::Indirect, .. } => Some(variable(POSITIONAL)),
        Part::Variable { name, .. } => Some(variable(name)),
        Part::Substitution { subshell, .. } | Part::Process { subshell } => Some(Place::Output(*subshell)),
        Part::Text { .. } | Part::Arithmetic(_) => None,
    })
}

fn variable(name: &str) -> Place {
    let positional = name == "*" || name.bytes().all(|byte| byte.is_ascii_digit());
    let positional = positional || name.starts_with("BASH_ARG");
    Place::Variable(if positional { POSITIONAL.to_owned() } else { name.to_owned() })
}

/// The text of a word, where it is nothing else.
pub(super) fn plain(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, .. }] => Some(text),
        _ => None,
    }
}

/// The name that a file has in this text: its words as they stand.
pub(super) fn file(word: &Word) -> Option<Place> {
    let mut name = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text, .. } => name.push_str(text),
            Part::Variable { name: variable, .. } => {
                name.push('$');
                name.push_str(variable);
            }
            Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => return None,
        }
    }
    let name = name.trim_start_matches("./");
    (!name.is_empty()).then(|| Place::File(name.to_owned()))
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl<'s> Origins<'s> {
    /// All of a text.
    pub fn of(script: &'s Script) -> Origins<'s> {
        let indirect = |part: &Part| matches!(part, Part::Variable { op: Op::Indirect, .. });
        let mut words = script.commands.iter().flat_map(|simple| &simple.words);
        let by_name = words.any(|word| word.parts.iter().any(indirect));
        let mut origins = Origins { script, into: BTreeMap::new(), by_name };
        for simple in &script.commands {
            origins.assigned(simple);
            origins.built_in(simple);
            origins.printed(simple);
        }
        origins.add_words(variable("BASH_REMATCH"), &script.matched);
        origins
    }

    fn add(&mut self, place: Place, from: From<'s>) {
        self.into.entry(place).or_default().push(from);
    }

    fn add_words(&mut self, place: Place, words: &'s [Word]) {
        if !words.is_empty() {
            self.add(place, From::Words(words));
        }
    }

    fn assigned(&mut self, simple: &'s Simple) {
        for assign in simple.assigns.iter().chain(&simple.declared) {
            let place = variable(&assign.name);
            if let Some(key) = &assign.key {
                self.add(place.clone(), From::Text(key));
            }
            let words =
                if assign.list.is_empty() { std::slice::from_ref(&assign.value) } else { &assign.list };
            self.add_words(place, words);
        }
    }

    /// What builtins put into variables.
    fn built_in(&mut self, simple: &'s Simple) {
        let Some((first, args)) = simple.words.split_first() else { return };
        let first = plain(first).unwrap_or_default();
        let named = |word: &'s Word| plain(word).filter(|text| is_name(text)).map(|text| (text, word));
        match first {
            "declare" | "local" | "typeset" | "export" | "readonly" => {
                for arg in args {
                    let Some(Part::Text { text, .. }) = arg.parts.first() else { continue };
                    self.by_name |= text.starts_with('-') && text.contains('n');
                    if !text.contains('=') && arg.parts.len() > 1 {
                        self.add_words(variable(COMPUTED), std::slice::from_ref(arg));
                    }
                    if let Some((name, _)) = text.split_once('=') {
                        let name = name.trim_end_matches('+').split('[').next().unwrap_or_default();
                        self.add_words(variable(name), std::slice::from_ref(arg));
                    }
                }
            }
            "set" => self.add_words(variable(POSITIONAL), args),
            "read" | "mapfile" | "readarray" => {
                let mut into: Vec<&str> = args.iter().filter_map(named).map(|(name, _)| name).collect();
                into.push(if first == "read" { "REPLY" } else { "MAPFILE" });
                for name in into {
                    self.read(simple, &variable(name));
                }
            }
            "getopts" => {
                let into = args.iter().filter_map(named).map(|(name, _)| name).chain(["OPTARG"]);
                for name in into {
                    self.add_words(variable(name), args);
                    self.add(variable(name), From::Place(variable(POSITIONAL)));
                }
            }
            "printf" => {
                if let (Some("-v"), Some(into)) = (args.first().and_then(plain), args.get(1).and_then(plain))
                {
                    let name = into.split('[').next().unwrap_or_default();
                    self.add_words(variable(name), args.get(2..).unwrap_or_default());
                }
            }
            "pushd" => self.add_words(variable("DIRSTACK"), args),
            name if self.script.functions.iter().any(|function| function == name) => {
                self.add_words(variable(POSITIONAL), args);
            }
            _ => {}
        }
    }

    /// What a command reads: its redirections, and the stages before it.
    fn read(&mut self, simple: &'s Simple, place: &Place) {
        for redirect in &simple.redirects {
            match redirect.kind {
                RedirectKind::Heredoc | RedirectKind::HereString => {
                    self.add_words(place.clone(), std::slice::from_ref(&redirect.target));
                }
                RedirectKind::Read | RedirectKind::ReadWrite => {
                    for from in places_in(&redirect.target).chain(file(&redirect.target)) {
                        self.add(place.clone(), From::Place(from));
                    }
                }
                RedirectKind::Write | RedirectKind::Append | RedirectKind::Duplicate => {}
            }
        }
        for stage in 0..simple.stage {
            self.add(place.clone(), From::Place(Place::Stage(simple.pipeline, stage)));
        }
    }

    /// What a command prints may be of its words and of what it reads; where that goes.
    fn printed(&mut self, simple: &'s Simple) {
        let mut goes = Vec::new();
        let mut subshell = simple.subshell;
        for _ in 0..MAX_AROUND {
            if subshell == 0 {
                break;
            }
            goes.push(Place::Output(subshell));
            subshell = self.script.parents.get(subshell as usize).copied().unwrap_or(0);
        }
        if !simple.last {
            goes.push(Place::Stage(simple.pipeline, simple.stage));
        }
        let written = simple
            .redirects
            .iter()
            .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append));
        goes.extend(written.filter_map(|redirect| file(&redirect.target)));
        if matches!(simple.words.first().and_then(plain), Some("tee" | "sponge")) {
            goes.extend(simple.words.iter().skip(1).filter_map(file));
        }
        for place in goes {
            self.add_words(place.clone(), simple.words.get(1..).unwrap_or_default());
            self.read(simple, &place);
        }
    }

    /// All words and texts that may come to these places, in the order in which they stand.
    pub fn reaching(&self, roots: impl Iterator<Item = Place>) -> Reaching<'s> {
        let mut seen: BTreeSet<Place> = BTreeSet::new();
        let mut open: Vec<Place> = roots.collect();
        if self.by_name {
            // Whichever it stands for.
            open.extend(self.into.keys().filter(|place| matches!(place, Place::Variable(_))).cloned());
        }
        let mut found: Vec<(usize, From<'s>)> = Vec::new();
        while let Some(place) = open.pop() {
            if seen.len() >= MAX_PLACES || !seen.insert(place.clone()) {
                continue;
            }
            let any = Place::Variable(COMPUTED.to_owned());
            if matches!(place, Place::Variable(_)) && !self.into.contains_key(&place) {
                open.push(any);
            }
            for from in self.into.get(&place).into_iter().flatten() {
                match from {
                    From::Place(other) => open.push(other.clone()),
                    From::Text(text) => found.push((usize::MAX, From::Text(text))),
                    From::Words(words) => {
                        let at = words.first().map_or(0, |word| word.span.0);
                        found.push((at, From::Words(words)));
                        for word in *words {
                            open.extend(places_in(word));
                            self.by_names(word, &mut open);
                        }
                    }
                }
            }
        }
        sort_by_key(&mut found, |(at, _)| *at);
        found.dedup_by_key(|(at, _)| *at);
        Reaching { words: found.into_iter().map(|(_, from)| from).collect(), places: seen }
    }

    /// A variable that a text names, where names stand for variables.
    fn by_names(&self, word: &Word, open: &mut Vec<Place>) {
        if !self.by_name {
            return;
        }
        for part in &word.parts {
            let Part::Text { text, .. } = part else { continue };
            let name = text.rsplit('=').next().unwrap_or_default();
            if is_name(name) {
                open.push(variable(name));
            }
        }
    }
}

/// What may come to some places.
pub(super) struct Reaching<'s> {
    pub words: Vec<From<'s>>,
    pub places: BTreeSet<Place>,
}

/// Where a command runs what cannot be worked out: as the command word itself, or as text.
pub(super) struct Sink<'s> {
    pub roots: Vec<Place>,
    /// The words behind a command word that is not known.
    pub args: Option<&'s [Word]>,
    pub simple: &'s Simple,
}

words!("survey/origins");

/// The commands of a text that may run what is not known.
pub(super) fn sinks(script: &Script) -> Vec<Sink<'_>> {
    script.commands.iter().filter_map(sink).collect()
}

fn sink(simple: &Simple) -> Option<Sink<'_>> {
    let (first, args) = simple.words.split_first()?;
    let computed = first.parts.iter().any(|part| !matches!(part, Part::Text { .. }));
    if computed {
        let roots: Vec<Place> = places_in(first).collect();
        return Some(Sink { roots, args: Some(args), simple });
    }
    let name = last_name(plain(first)?);
    if FRONTS.contains(&name) {
        let at = args.iter().position(|word| places_in(word).next().is_some())?;
        let (word, rest) = args.get(at..)?.split_first()?;
        return Some(Sink { roots: places_in(word).collect(), args: Some(rest), simple });
    }
    if !RUNNERS.contains(&name) {
        return None;
    }
    let mut roots: Vec<Place> = args.iter().flat_map(places_in).chain(args.iter().filter_map(file)).collect();
    for redirect in &simple.redirects {
        if redirect.reads || matches!(redirect.kind, RedirectKind::Heredoc | RedirectKind::HereString) {
            roots.extend(places_in(&redirect.target).chain(file(&redirect.target)));
        }
    }
    roots.extend((0..simple.stage).map(|stage| Place::Stage(simple.pipeline, stage)));
    Some(Sink { roots, args: None, simple })
}
