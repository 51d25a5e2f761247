//! Rules as data: the entries of the files beside the code become constants. What a condition can say is in
//! `src/rules/matcher/when.rs`; of what only code can say the entry names the function.

use serde::Deserialize;

use crate::facts::variant;

/// An entry: the rule, where it is written here, and its examples.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    verdict: Option<String>,
    severity: Option<String>,
    reason: Option<String>,
    instead: Option<Instead>,
    rewriter: Option<String>,
    #[serde(default)]
    when: Vec<When>,
    #[serde(default)]
    pub fires: Vec<String>,
    #[serde(default)]
    pub silent: Vec<String>,
}

/// The alternative, or the name of one that several rules share.
#[derive(Deserialize)]
#[serde(untagged)]
enum Instead {
    Named(String),
    Given(Given),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Given {
    Command(String),
    Advice(String),
}

/// Words, or the name of a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Named(String),
    Given(Vec<String>),
}

/// Groups of words, or the name of a list of such.
#[derive(Deserialize)]
#[serde(untagged)]
enum Groups {
    Named(String),
    Given(Vec<Words>),
}

/// A condition: what the command, the effect, the flow, the host or the code is, or a predicate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct When {
    command: Option<Command>,
    effect: Option<Effect>,
    flow: Option<String>,
    hosts: Option<Words>,
    code: Option<Code>,
    predicate: Option<String>,
    /// The function that a predicate asks, as `name` or with what it is given behind the scene, `name(A, ['b', 'c'])`; one of the
    /// predicate's own name where nothing is said.
    test: Option<String>,
    /// Instead of a function of the scene one of a command: what must hold of the first that is found, or must not.
    r#where: Option<String>,
    unless: Option<String>,
    /// The kind of operation that the command must be.
    done: Option<String>,
    /// The programs of which the command must run one.
    runs: Option<Words>,
    /// Without any of these a predicate cannot match: features of a call, and names of triggers.
    #[serde(default)]
    needs: Vec<String>,
    programs: Option<Words>,
    /// The names of lists of programs.
    #[serde(default)]
    lists: Vec<String>,
    keys: Option<Words>,
    rows: Option<Words>,
    kinds: Option<Words>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    programs: Words,
    subs: Option<Words>,
    flags: Option<Groups>,
    without: Option<Words>,
    operand: Option<Operand>,
    #[serde(default)]
    privileged: bool,
    #[serde(default)]
    away: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operand {
    Some,
    Is(Words),
    Starts(Words),
    Ends(Words),
    Contains(Words),
    On(Words),
    SourceOn(Words),
    At(Words),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Effect {
    kinds: Words,
    on: Option<Words>,
    at: Option<Words>,
    not_on: Option<Words>,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    lasting: bool,
    except: Option<Words>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    programs: Option<Words>,
    all: Groups,
}

/// The rules of a file as a constant, in their order; nothing where it has only examples.
pub fn code(entries: &[(String, Entry)]) -> Result<String, String> {
    let mut rules = String::new();
    for (id, entry) in entries {
        rules += &entry.code(id).map_err(|error| format!("{id}: {error}"))?;
    }
    if rules.is_empty() {
        return Ok(rules);
    }
    // A file may have what is named here in scope or not.
    Ok(format!(
        "/// The rules of this file.\n\
         #[allow(clippy::needless_update, clippy::redundant_closure, unused_qualifications, unused_imports, reason = \"holds for every file\")]\n\
         pub(crate) const RULES: &[crate::rules::matcher::Rule] = {{\n    \
         use crate::domain as d;\n    use crate::rules::matcher as m;\n    &[\n{rules}    ]\n}};\n"
    ))
}

impl Entry {
    fn code(&self, id: &str) -> Result<String, String> {
        let Some(reason) = &self.reason else {
            let bare = self.when.is_empty() && self.instead.is_none() && self.verdict.is_none();
            return if bare { Ok(String::new()) } else { Err("a rule says why: reason".to_owned()) };
        };
        if self.when.is_empty() {
            return Err("a rule says when: one condition or more".to_owned());
        }
        let mut out = format!("        m::Rule {{ id: {id:?}, reason: {reason:?}, ");
        if let Some(word) = &self.verdict {
            out += &format!("verdict: {}, ", variant("d::Verdict", word)?);
        }
        if let Some(word) = &self.severity {
            out += &format!("severity: {}, ", variant("d::Severity", word)?);
        }
        match &self.instead {
            Some(Instead::Named(name)) => out += &format!("instead: {}, ", path(name)?),
            Some(Instead::Given(Given::Command(text))) => {
                out += &format!("instead: Some(m::Instead::Command({text:?})), ");
            }
            Some(Instead::Given(Given::Advice(text))) => {
                out += &format!("instead: Some(m::Instead::Advice({text:?})), ");
            }
            None => {}
        }
        if let Some(word) = &self.rewriter {
            out += &format!("rewriter: Some({}), ", variant("m::Rewriter", word)?);
        }
        let when: String = self.when.iter().map(When::code).collect::<Result<_, _>>()?;
        Ok(out + &format!("when: &[\n{when}        ], ..m::RULE }},\n"))
    }
}

impl When {
    fn code(&self) -> Result<String, String> {
        let said = [
            self.command.as_ref().map(Command::code),
            self.effect.as_ref().map(Effect::code),
            self.flow.as_ref().map(|word| Ok(format!("Flow({})", variant("m::Flow", word)?))),
            self.hosts.as_ref().map(|hosts| Ok(format!("Url(m::Hosts::Is({}))", hosts.code()?))),
            self.code.as_ref().map(Code::code),
            self.predicate.as_ref().map(|name| self.predicate(name)),
        ];
        match said.into_iter().flatten().collect::<Result<Vec<String>, String>>()?.as_slice() {
            [one] => Ok(format!("            m::When::{one},\n")),
            [] => Err("an empty condition".to_owned()),
            [_, _, ..] => Err("two conditions in one: each is an entry of its own".to_owned()),
        }
    }

    fn predicate(&self, name: &str) -> Result<String, String> {
        let failed = |error: String| format!("{name}: {error}");
        let test = self.test(name).map_err(failed)?;
        let needs = self.needs().map_err(failed)?;
        if needs.is_empty() {
            return Err(failed("cannot match any call: say what it needs".to_owned()));
        }
        let (first, others) = needs.split_at(1);
        let others: String = others.iter().map(|other| format!(".or({other})")).collect();
        let needs = first.concat() + &others;
        Ok(format!("Predicate(m::Predicate {{ name: {name:?}, needs: {needs}, test: {test} }})"))
    }

    fn test(&self, name: &str) -> Result<String, String> {
        let holds = match (&self.r#where, &self.unless) {
            (Some(_), Some(_)) => return Err("say where or unless".to_owned()),
            (Some(test), None) => Some(format!("|inv| {}", call(test, "inv")?)),
            (None, Some(test)) => Some(format!("|inv| !{}", call(test, "inv")?)),
            (None, None) => None,
        };
        match (&self.test, &self.done, &self.runs, holds) {
            (None, None, None, None) => path(name),
            (Some(test), None, None, None) if !test.contains('(') => path(test),
            (Some(test), None, None, None) => Ok(format!("|scene| {}", call(test, "scene")?)),
            (None, Some(kind), None, holds) => {
                let (kind, to) = (operations(kind)?, "crate::rules::builtin::operations");
                Ok(match holds {
                    Some(holds) => format!("|scene| {to}::done_where(scene, {kind}, {holds})"),
                    None => format!("|scene| {to}::done(scene, {kind})"),
                })
            }
            (None, None, Some(programs), Some(holds)) => {
                Ok(format!("|scene| crate::rules::builtin::first(scene, {}, {holds})", programs.code()?))
            }
            (None, None, None, Some(holds)) => {
                Ok(format!("|scene| crate::rules::builtin::any(scene, {holds})"))
            }
            _ => Err("asks by test, by done, or by where".to_owned()),
        }
    }

    fn needs(&self) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for word in &self.needs {
            let is_feature = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            all.push(if is_feature {
                format!("m::Trigger::{}", word.to_ascii_uppercase())
            } else {
                path(word)?
            });
        }
        for programs in self.programs.iter().chain(&self.runs) {
            all.push(format!("m::Trigger::programs({})", programs.code()?));
        }
        for list in &self.lists {
            all.push(format!("m::Trigger::programs({})", path(list)?));
        }
        if let Some(kind) = &self.done {
            all.push(format!("m::Trigger::rows({})", operations(kind)?));
        }
        for (tables, by) in [(&self.keys, "keys"), (&self.rows, "rows")] {
            let names: &[String] = match tables {
                Some(Words::Named(name)) => std::slice::from_ref(name),
                Some(Words::Given(names)) => names,
                None => &[],
            };
            for name in names {
                all.push(format!("m::Trigger::{by}({})", path(name)?));
            }
        }
        if let Some(kinds) = &self.kinds {
            all.push(format!("m::Trigger::kinds({})", kinds.variants("d::EffectKind")?));
        }
        Ok(all)
    }
}

impl Command {
    fn code(&self) -> Result<String, String> {
        let mut out = format!("Command(m::Command {{ programs: {}, ", self.programs.code()?);
        for (name, words) in [("subs", &self.subs), ("without", &self.without)] {
            if let Some(words) = words {
                out += &format!("{name}: {}, ", words.code()?);
            }
        }
        if let Some(flags) = &self.flags {
            out += &format!("flags: {}, ", flags.code()?);
        }
        if let Some(operand) = &self.operand {
            out += &format!("operand: m::Operand::{}, ", operand.code()?);
        }
        let Command { privileged, away, .. } = self;
        Ok(out + &format!("privileged: {privileged}, away: {away}, ..m::COMMAND }})"))
    }
}

impl Operand {
    fn code(&self) -> Result<String, String> {
        Ok(match self {
            Operand::Some => "Some".to_owned(),
            Operand::Is(words) => format!("Is({})", words.code()?),
            Operand::Starts(words) => format!("Starts({})", words.code()?),
            Operand::Ends(words) => format!("Ends({})", words.code()?),
            Operand::Contains(words) => format!("Contains({})", words.code()?),
            Operand::On(classes) => format!("On({})", classes.variants("m::Class")?),
            Operand::SourceOn(classes) => format!("SourceOn({})", classes.variants("m::Class")?),
            Operand::At(places) => format!("At({})", places.places()?),
        })
    }
}

impl Effect {
    fn code(&self) -> Result<String, String> {
        let mut out = format!("Effect(m::OnEffect {{ kinds: {}, ", self.kinds.variants("d::EffectKind")?);
        for (name, classes) in [("any", &self.on), ("none", &self.not_on)] {
            if let Some(classes) = classes {
                out += &format!("{name}: {}, ", classes.variants("m::Class")?);
            }
        }
        if let Some(places) = &self.at {
            out += &format!("at: {}, ", places.places()?);
        }
        if let Some(except) = &self.except {
            out += &format!("except: {}, ", except.code()?);
        }
        let Effect { recursive, lasting, .. } = self;
        Ok(out + &format!("recursive: {recursive}, lasting: {lasting}, ..m::EFFECT }})"))
    }
}

impl Code {
    fn code(&self) -> Result<String, String> {
        let programs = self.programs.as_ref().map_or(Ok("&[]".to_owned()), Words::code)?;
        Ok(format!("Code(m::Code {{ programs: {programs}, all: {} }})", self.all.code()?))
    }
}

impl Words {
    fn code(&self) -> Result<String, String> {
        self.each(|word| Ok(format!("{word:?}")))
    }

    fn variants(&self, of: &str) -> Result<String, String> {
        self.each(|word| variant(of, word))
    }

    fn places(&self) -> Result<String, String> {
        self.each(|word| Ok(crate::words::at(word)))
    }

    fn each(&self, code: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
        match self {
            Words::Named(name) => path(name),
            Words::Given(words) => {
                let all: Vec<String> = words.iter().map(|word| code(word)).collect::<Result<_, _>>()?;
                Ok(format!("&[{}]", all.join(", ")))
            }
        }
    }
}

impl Groups {
    fn code(&self) -> Result<String, String> {
        match self {
            Groups::Named(name) => path(name),
            Groups::Given(groups) => {
                let all: Vec<String> = groups.iter().map(Words::code).collect::<Result<_, _>>()?;
                Ok(format!("&[{}]", all.join(", ")))
            }
        }
    }
}

/// The constant of a kind of operations.
fn operations(kind: &str) -> Result<String, String> {
    path(&format!("crate::rules::facts::operations::{}", kind.to_ascii_uppercase()))
}

/// A name of something in Rust.
fn path(name: &str) -> Result<String, String> {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // A field of a constant may be asked for: `SECRET_CHANGE.kinds`.
    if name.split("::").flat_map(|part| part.split('.')).all(plain) {
        Ok(name.to_owned())
    } else {
        Err(format!("{name:?} is no name: words stand in a list"))
    }
}

/// A function called with what it is asked about, and what else it is given: names, words in single quotes, and lists of both.
fn call(text: &str, about: &str) -> Result<String, String> {
    let (name, more) = match text.split_once('(') {
        Some((name, more)) => (name, more.strip_suffix(')').ok_or_else(|| format!("{text:?} is no call"))?),
        None => (text, ""),
    };
    let mut out = format!("{}({about}, ", path(name)?);
    // What stands between two quotes is a word; the rest is names, in lists or not.
    for (index, part) in more.split('\'').enumerate() {
        if index % 2 == 1 {
            out += &format!("{part:?}");
            continue;
        }
        for name in part.split(['[', ']', ',', ' ']).filter(|name| !name.is_empty()) {
            path(name)?;
        }
        out += &part.replace('[', "&[");
    }
    Ok(out + ")")
}
