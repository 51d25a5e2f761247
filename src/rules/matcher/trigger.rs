//! Which conditions can match a call at all: a mask for each, made when lazaret is compiled, and one for the call. A condition
//! whose mask has nothing in common with the call's is not looked at.

use std::collections::HashSet;

use super::scene::line_of;
use super::when::{Condition, Flow, On};
use super::{Classes, View, class::Named, command};
use super::{flow, leaving};
use crate::domain::{Action, Effect, EffectKind, PlainHash, Target};
use crate::rules::builtin::{lists, tools::unlisted::is_unlisted};
use crate::rules::facts::{self, Kind, Operation};
use crate::rules::{Invocation, Stdin};

/// The programs of most calls: each has a bit of its own.
const OFTEN: [&str; 12] =
    ["ls", "git", "cat", "cd", "echo", "grep", "head", "tail", "pwd", "sed", "rg", "cargo"];
/// From so many commands on each program is looked up once.
const MANY: usize = 8;
/// Bits for programs: behind [`OFTEN`] by a hash of the name, so that different names may share one.
const PROGRAMS: u32 = 104;
/// One bit for each kind of effect, and behind them those for what else there is.
const KINDS: u32 = PROGRAMS;
const FEATURES: u32 = KINDS + 8;

/// What a condition needs, or what a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trigger(u128);

impl Trigger {
    pub const BITS: usize = u128::BITS as usize;
    pub const NONE: Trigger = Trigger(0);
    /// Every call has it.
    pub const ALWAYS: Trigger = feature(0);
    /// A URL is fetched.
    pub const URL: Trigger = feature(1);
    /// An interpreter runs.
    pub const INTERPRETER: Trigger = feature(2);
    /// A shell runs.
    pub const SHELL: Trigger = feature(3);
    /// A program of which the tables do not say that it only looks.
    pub const ACTIVE: Trigger = feature(4);
    /// A program that is not known before it runs, or is written with a pattern.
    pub const UNKNOWN: Trigger = feature(5);
    /// A command that another one runs, with other rights or in a container.
    pub const WRAPPED: Trigger = feature(6);
    /// A command that reads from or writes to something else than the shell around it.
    pub const REDIRECTED: Trigger = feature(7);
    /// The command line is more than plain words.
    pub const SIGNS: Trigger = feature(8);
    /// The call is no command line.
    pub const TOOL: Trigger = feature(9);

    /// Something is known of files that came from elsewhere, hold a secret, or were written as scripts.
    pub const MARKS: Trigger = feature(10);
    /// An argument that may be a path of more than one component, or is not known before the command runs.
    pub const PATHS: Trigger = feature(11);
    /// A read of what is, by its name or by what is known of it, a secret, a key or a file of settings.
    pub const SECRET_READ: Trigger = feature(12);
    /// A read of what is hidden, or of more or something else than one path that is known.
    const HIDDEN_READ: Trigger = feature(13);
    /// A program that is named by where it lies.
    pub const PLACED: Trigger = feature(14);
    /// A program that stands in no table, or in one that only says that it talks to another machine.
    pub const UNLISTED: Trigger = feature(15);

    /// A run of any of these programs.
    pub const fn programs(mut names: &[&str]) -> Trigger {
        let mut mask = 0;
        while let [name, rest @ ..] = names {
            mask |= match name.as_bytes() {
                // `mkfs.*` may be any name that begins so: it is known by what stands in front of the separator.
                [stem @ .., b'.' | b'_', b'*'] => program(stem),
                [.., b'*'] => Trigger::ALWAYS.0,
                name => program(name),
            };
            names = rest;
        }
        Trigger(mask)
    }

    /// A run of any of the programs that are keys of a table.
    pub const fn keys(mut table: &[(&str, &[&str])]) -> Trigger {
        let mut needs = Trigger::NONE;
        while let [(name, _), rest @ ..] = table {
            needs = needs.or(Trigger::programs(&[*name]));
            table = rest;
        }
        needs
    }

    /// A run of any of the programs of a table, the first of each row.
    pub const fn rows(mut table: &[(&[&str], &[&str])]) -> Trigger {
        let mut needs = Trigger::NONE;
        while let [(names, _), rest @ ..] = table {
            needs = needs.or(Trigger::programs(names));
            table = rest;
        }
        needs
    }

    /// An effect of any of these kinds.
    pub const fn kinds(mut kinds: &[EffectKind]) -> Trigger {
        let mut mask = 0;
        while let [one, rest @ ..] = kinds {
            mask |= kind(*one);
            kinds = rest;
        }
        Trigger(mask)
    }

    pub const fn or(self, other: Trigger) -> Trigger {
        Trigger(self.0 | other.0)
    }

    pub const fn meets(self, other: Trigger) -> bool {
        self.0 & other.0 != 0
    }

    /// The number of the lowest bit, and the other bits.
    pub const fn split(self) -> Option<(usize, Trigger)> {
        if self.0 == 0 {
            return None;
        }
        Some((self.0.trailing_zeros() as usize, Trigger(self.0 & (self.0 - 1))))
    }

    /// Something that decodes is run.
    pub const DECODED: Trigger = Trigger::programs(lists::DECODERS).or(Trigger::programs(flow::DECODING));

    /// What a condition needs.
    pub const fn of_condition(when: &Condition<'_>) -> Trigger {
        match when {
            Condition::Command(pattern) => Trigger::programs(pattern.programs),
            Condition::Effect(pattern) => of_pattern(pattern),
            Condition::Flow(Flow::DownloadToInterpreter) => Trigger::programs(lists::DOWNLOADERS)
                .or(Trigger::programs(lists::NETCATS))
                .or(Trigger::programs(lists::CONNECTIONS))
                .or(Trigger::programs(lists::REMOTE_STORES)),
            Condition::Flow(Flow::DecodedToInterpreter) => Trigger::DECODED,
            Condition::Flow(Flow::SecretToNetwork) => Trigger::programs(lists::SENDERS)
                .or(Trigger::programs(lists::NETCATS))
                .or(Trigger::programs(leaving::TLS)),
            Condition::Url(_) => Trigger::URL,
            Condition::Code(code) if code.programs.is_empty() => Trigger::INTERPRETER,
            Condition::Code(code) => Trigger::programs(code.programs),
            // Custom rules alone are made of it.
            Condition::Tool(_) => Trigger::ALWAYS,
            Condition::Predicate(predicate) => predicate.needs,
        }
    }

    /// What a call has, of whose effects these are the classes.
    pub fn of_call(view: &View<'_>, classes: impl Iterator<Item = Classes>) -> Trigger {
        let mut mask = Trigger::ALWAYS.0;
        let mut known: HashSet<&str, PlainHash> = HashSet::default();
        let many = view.survey.invocations.len() > MANY;
        for inv in &view.survey.invocations {
            if !many || known.insert(&inv.program) {
                mask |= of_program(&inv.program);
            }
            mask |= of_invocation(inv);
        }
        for (effect, classes) in view.survey.effects.iter().zip(classes) {
            mask |= of_effect(effect, classes);
        }
        if line_of(view).bytes().any(is_sign) {
            mask |= Trigger::SIGNS.0;
        }
        if !view.survey.marks.is_empty() {
            mask |= Trigger::MARKS.0;
        }
        if matches!(view.call.action, Action::Fetch { .. }) {
            mask |= Trigger::URL.0;
        }
        if !matches!(view.call.action, Action::Shell { .. }) {
            mask |= Trigger::TOOL.0;
        }
        Trigger(mask)
    }
}

const fn feature(number: u32) -> Trigger {
    Trigger(1 << (FEATURES + number))
}

/// Whether a byte can mean more to a shell than a letter of a word, or stands for itself only in part.
fn is_sign(byte: u8) -> bool {
    !(byte.is_ascii_alphanumeric()
        || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b',' | b':' | b'+' | b'@'))
}

/// What a program's name alone says.
fn of_program(name: &str) -> u128 {
    let mut mask = program(name.as_bytes());
    // `python3.12` is sought as `python` too, and `mkfs.ext4` as `mkfs`.
    let bare = command::without_version(name);
    if bare.len() < name.len() {
        mask |= program(bare.as_bytes());
    }
    if let Some((stem, _)) = name.split_once(['.', '_']) {
        mask |= program(stem.as_bytes());
    }
    let found = facts::find(name);
    mask |= match found {
        Some(found) if found.kind == Kind::Shell => Trigger::SHELL.0,
        Some(_) | None if command::interprets(name, found) => Trigger::INTERPRETER.0,
        Some(_) | None => 0,
    };
    if !found.is_some_and(|found| {
        matches!(found.operation, Operation::Nothing | Operation::Look) && found.subs.is_empty()
    }) {
        mask |= Trigger::ACTIVE.0;
    }
    if is_unlisted(found) {
        mask |= Trigger::UNLISTED.0;
    }
    mask
}

fn of_invocation(inv: &Invocation) -> u128 {
    let mut mask = 0;
    if inv.does.is_some_and(Operation::is_grave) || !inv.added.is_empty() {
        mask |= Trigger::UNLISTED.0;
    }
    if inv.gives_code {
        mask |= Trigger::INTERPRETER.0;
    }
    if inv.program.is_empty() || inv.word.has_glob() {
        mask |= Trigger::UNKNOWN.0;
    }
    if inv.word.prefix().contains('/') {
        mask |= Trigger::PLACED.0;
    }
    if !inv.wrappers.is_empty() || inv.privileged || inv.contained {
        mask |= Trigger::WRAPPED.0;
    }
    if inv.stdin != Stdin::Inherited || !inv.writes.is_empty() || !inv.reads.is_empty() {
        mask |= Trigger::REDIRECTED.0;
    }
    if inv.args.iter().any(|arg| arg.has_unknown() || arg.has_glob() || arg.prefix().contains('/')) {
        mask |= Trigger::PATHS.0;
    }
    mask
}

fn of_effect(effect: &Effect, classes: Classes) -> u128 {
    let mut mask = kind(effect.kind);
    if matches!(effect.target, Target::Url(_)) {
        mask |= Trigger::URL.0;
    }
    if effect.kind == EffectKind::FileRead {
        if classes != Classes::NONE {
            mask |= Trigger::SECRET_READ.0;
        }
        match &effect.target {
            Target::Path { path, glob: false, recursive: false } if !path.contains("/.") => {}
            Target::Path { .. } | Target::UnknownPath { .. } => mask |= Trigger::HIDDEN_READ.0,
            Target::Url(_) | Target::Command(_) | Target::None => {}
        }
    }
    mask
}

/// What a pattern of effects needs. Most reads are of files of which there is nothing to say.
const fn of_pattern(pattern: &On<'_>) -> Trigger {
    match pattern.kinds {
        [EffectKind::FileRead] if pattern.at.is_empty() && !pattern.any.is_empty() => Trigger::SECRET_READ,
        [EffectKind::FileRead] if pattern.any.is_empty() && all_hidden(pattern.at) => Trigger::HIDDEN_READ,
        kinds => Trigger::kinds(kinds),
    }
}

/// Whether there are places, and each is hidden in a home directory.
const fn all_hidden(mut places: &[Named<'_>]) -> bool {
    if places.is_empty() {
        return false;
    }
    while let [place, rest @ ..] = places {
        match place {
            Named::Home(name) if matches!(name.as_bytes(), [b'.', ..]) => {}
            Named::Home(_) | Named::Abs(_) | Named::Name(_) => return false,
        }
        places = rest;
    }
    true
}

const fn kind(kind: EffectKind) -> u128 {
    1 << (KINDS + kind as u32)
}

const fn program(mut name: &[u8]) -> u128 {
    let mut often: &[&str] = &OFTEN;
    while let [one, rest @ ..] = often {
        if same(one.as_bytes(), name) {
            return 1 << rest.len();
        }
        often = rest;
    }
    let mut hash: u32 = 0x811c_9dc5;
    while let [byte, rest @ ..] = name {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    let own = OFTEN.len() as u32;
    1 << (own + hash % (PROGRAMS - own))
}

/// Whether two names are the same, also while lazaret is compiled.
pub(crate) const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    while let ([one, front @ ..], [other, back @ ..]) = (a, b) {
        if *one != *other {
            return false;
        }
        (a, b) = (front, back);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Policy;
    use crate::rules::fixture;
    use crate::rules::matcher::{Scene, all, hit};

    include!("../../../tests/corpus/files.rs");

    /// A line of the corpus as the made-up world takes a call.
    fn row(line: &str) -> String {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let input = |name: &str| case["input"][name].as_str().unwrap_or_default();
        match (case["command"].as_str(), case["tool"].as_str()) {
            (Some(command), _) => command.to_owned(),
            (None, Some("WebFetch")) => format!("WebFetch {}", input("url")),
            (None, Some("Grep")) => format!("Grep {} {}", input("path"), input("pattern")),
            (None, Some(tool)) => {
                format!("{tool} {} {}{}", input("file_path"), input("content"), input("new_string"))
            }
            (None, None) => panic!("{line}"),
        }
    }

    /// The rules' examples, and the cases of the corpus.
    fn calls() -> Vec<String> {
        let examples = all().flat_map(|rule| rule.fires().iter().chain(rule.silent())).cloned();
        let rows = FILES.iter().flat_map(|(_, text)| text.lines()).map(row);
        examples.chain(rows).collect()
    }

    /// The masks may let a rule through for nothing, but must never keep one away that matches.
    #[test]
    fn no_rule_that_matches_is_kept_away() {
        let policy = Policy::default();
        let (mut kept_away, mut matched) = (0, 0);
        let mut wrong = Vec::new();
        let calls = calls();
        for row in &calls {
            let call = fixture::call(row);
            let (survey, facts) = fixture::survey_of(&call, &policy);
            let view =
                View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
            let scene = Scene::new(view);
            let trigger = scene.trigger;
            for (rule, when) in all().flat_map(|rule| rule.when.iter().map(move |when| (rule, when))) {
                if let Condition::Effect(pattern) = when {
                    let lies = |(index, (effect, _)): (usize, (&Effect, Classes))| {
                        scene.is_at(index, effect, pattern.at) && !scene.may_be_at(index)
                    };
                    assert!(!scene.effects().enumerate().any(lies), "{}: {row}", rule.id);
                }
                let hits = hit(when, &scene).is_some();
                let met = Trigger::of_condition(when).meets(trigger);
                if hits && !met {
                    wrong.push(format!("{} by {when:?}: {row}", rule.id));
                }
                matched += usize::from(hits);
                kept_away += usize::from(!met);
            }
        }
        assert!(wrong.is_empty(), "{} kept away:\n{}", wrong.len(), wrong.join("\n"));
        assert!(calls.len() > 3_000 && matched > 2_500, "{} calls, {matched} matched", calls.len());
        assert!(kept_away > 1_000_000, "{kept_away} kept away");
    }

    /// A plain command that only looks is let through with next to nothing looked at.
    #[test]
    fn few_conditions_are_looked_at_for_a_plain_command() {
        let policy = Policy::default();
        for (row, most) in
            [("ls", 12), ("ls -la src", 12), ("pwd", 30), ("cat README.md", 30), ("git status", 70)]
        {
            let call = fixture::call(row);
            let (survey, facts) = fixture::survey_of(&call, &policy);
            let view =
                View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
            let trigger = Scene::new(view).trigger;
            let met = all()
                .flat_map(|rule| rule.when)
                .filter(|when| Trigger::of_condition(when).meets(trigger))
                .map(|when| format!("{when:?}"))
                .collect::<Vec<_>>();
            assert!(met.len() <= most, "{row}: {} conditions:\n{}", met.len(), met.join("\n"));
        }
    }
}
