//! One configuration file: TOML text to entries of known keys, and what is wrong with the rest. Knows no other file.

use toml::de::{DeTable, DeValue};

use super::Checks;
use super::intervention::INTERVENTIONS;
use super::key::Key;
use super::keys::{self, KEYS};
use super::pattern::PATTERNS;
use super::plugin::PLUGINS;
use super::program::PROGRAMS;
use super::refused::REFUSED;
use super::rule::RULES;
use super::tables::Mistake;
use super::value::{Item, Kind, Value};
use crate::domain::{Policy, ToolLimit, clip, escape, join};

/// Most problems that are told of one file.
const MAX_PROBLEMS: usize = 50;
/// Most entries of a list.
pub(super) const MAX_ITEMS: usize = 256;
/// The bounds of one `[[limits.tool]]`, as [`Kind::describe`] says them.
const MAX_CALLS: u64 = 10_000;
const MAX_WINDOW: u64 = 86_400;

/// A key and its value, as one file gives them.
#[derive(Debug)]
pub struct Entry {
    pub key: &'static Key,
    pub value: Value,
    pub line: usize,
}

/// Something in a file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: Option<usize>,
    pub text: String,
    /// It is a key that nobody knows: the rest of the file can be used without it. Of anything else it is not known how strict it was
    /// meant to be.
    pub unknown: bool,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// What a file says.
#[derive(Debug, Default)]
pub struct Parsed {
    pub entries: Vec<Entry>,
    pub problems: Vec<Problem>,
}

/// Reads a file's bytes. `base`: the directory from which relative paths count; without one they are a problem. `checks` have
/// the last word on custom rules and patterns.
pub fn parse(bytes: &[u8], base: Option<&str>, checks: Checks) -> Parsed {
    let mut reader = Reader { text: "", base, checks, parsed: Parsed::default() };
    match std::str::from_utf8(bytes) {
        Err(error) => reader.problem(None, format!("it is not UTF-8 text (byte {})", error.valid_up_to())),
        Ok(text) => {
            reader.text = text;
            match DeTable::parse(text) {
                Ok(table) => {
                    reader.table("", table.get_ref());
                    reader.check_order();
                }
                Err(error) => {
                    let message = error.message().replace('\n', ", ");
                    reader.problem(
                        error.span().map(|span| span.start),
                        format!("it is not TOML: {}", escape(&message)),
                    );
                }
            }
        }
    }
    reader.parsed
}

pub(super) struct Reader<'a> {
    text: &'a str,
    base: Option<&'a str>,
    checks: Checks,
    parsed: Parsed,
}

impl Reader<'_> {
    pub(super) fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn problem(&mut self, at: Option<usize>, text: String) {
        if self.parsed.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let line = at.map(|at| self.line(at));
        self.parsed.problems.push(Problem { line, text, unknown: false });
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let at = name.span().start;
            let name = if prefix.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{prefix}.{name}", name = name.get_ref())
            };
            if let Some(key) = keys::find(&name).filter(|key| key.kind.is_whole_tables()) {
                self.whole_tables(key, at, value.get_ref());
            } else if let Some(key) = keys::find(&name) {
                match self.value(key, value.get_ref()) {
                    Ok(value) => {
                        let line = self.line(at);
                        self.parsed.entries.push(Entry { key, value, line });
                    }
                    Err(why) => self.problem(Some(at), format!("`{name}`: {why}")),
                }
            } else if let (Some(table), true) = (value.get_ref().as_table(), is_section(&name)) {
                self.table(&name, table);
            } else if self.parsed.problems.len() < MAX_PROBLEMS {
                let (line, text) = (Some(self.line(at)), unknown(&name));
                self.parsed.problems.push(Problem { line, text, unknown: !is_section(&name) });
            }
        }
    }

    /// They are read one by one, so that one that is broken does not take the others with it.
    fn whole_tables(&mut self, key: &'static Key, at: usize, value: &DeValue<'_>) {
        let mut mistakes: Vec<Mistake> = Vec::new();
        let Checks { rule, pattern, intervention } = self.checks;
        let wrong = &mut mistakes;
        let read = match key.kind {
            Kind::Rules => some(RULES.entries(value, at, rule, wrong), Value::Rules),
            Kind::Patterns => some(PATTERNS.entries(value, at, pattern, wrong), Value::Patterns),
            Kind::Plugins => some(PLUGINS.entries(value, at, |_| Vec::new(), wrong), Value::Plugins),
            Kind::Programs => some(PROGRAMS.entries(value, at, |_| Vec::new(), wrong), Value::Programs),
            _ => some(INTERVENTIONS.entries(value, at, intervention, wrong), Value::Interventions),
        };
        for (at, text) in mistakes {
            self.problem(Some(at), text);
        }
        if let Some(value) = read {
            let line = self.line(at);
            self.parsed.entries.push(Entry { key, value, line });
        }
    }

    fn value(&self, key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
        let wrong = || format!("{} is not {}", shown(value), key.kind.describe());
        match key.kind {
            Kind::Switch => value.as_bool().map(Value::Switch).ok_or_else(wrong),
            Kind::Whole { min, max } => {
                whole(value).filter(|number| (min..=max).contains(number)).map(Value::Whole).ok_or_else(wrong)
            }
            Kind::Fraction => {
                let number = fraction(value).filter(|number| (0.0..=1.0).contains(number));
                number.map(Value::Fraction).ok_or_else(wrong)
            }
            Kind::Word { words } => {
                let text = value.as_str().ok_or_else(wrong)?;
                words.iter().find(|word| **word == text).map(|word| Value::Word(word)).ok_or_else(wrong)
            }
            Kind::Words(item) => self.words(item, value).map_err(|why| why.unwrap_or_else(wrong)),
            Kind::Command => command(value).map(Value::Words).ok_or_else(wrong),
            Kind::Limits => limits(value).map(Value::Limits),
            Kind::Rules | Kind::Patterns | Kind::Interventions | Kind::Plugins | Kind::Programs => {
                Err(wrong())
            }
            Kind::Exceptions => self.exceptions(value).map(Value::Exceptions),
        }
    }

    /// A list of words; `Err(None)` when it is no such list at all.
    fn words(&self, item: Item, value: &DeValue<'_>) -> Result<Value, Option<String>> {
        let array = value.as_array().ok_or(None)?;
        if array.len() > MAX_ITEMS {
            return Err(Some(format!("it has {} entries, the most are {MAX_ITEMS}", array.len())));
        }
        let mut words = Vec::with_capacity(array.len());
        for entry in array {
            let text = entry.get_ref().as_str().ok_or(None)?;
            if let Some(why) = item.refuse(text) {
                return Err(Some(format!("{} {why}", shown(entry.get_ref()))));
            }
            let word = if item == Item::Path { self.path(text).map_err(Some)? } else { text.to_owned() };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        Ok(Value::Words(words))
    }

    pub(super) fn path(&self, text: &str) -> Result<String, String> {
        let path = text.strip_suffix("/**").unwrap_or(text);
        match (path, self.base) {
            ("~", _) => Ok("~/".to_owned()),
            ("", _) => Ok("/".to_owned()),
            (path, _) if path.starts_with("~/") => {
                Ok(format!("~{}", join("/", path.trim_start_matches('~'))))
            }
            (path, _) if path.starts_with('/') => Ok(join("/", path)),
            (path, _) if path.starts_with('~') => {
                Err(format!("{path:?}: only one's own home may be written ~"))
            }
            (path, Some(base)) => Ok(join(base, path)),
            (path, None) => Err(format!("{path:?} is not absolute and does not begin with ~/")),
        }
    }

    /// The thresholds that belong together, seen over the defaults.
    fn check_order(&mut self) {
        let mut policy = Policy::default();
        for entry in &self.parsed.entries {
            entry.key.set(&mut policy, entry.value.clone());
        }
        for group in ["risk.", "rationality."] {
            let said = |entry: &&Entry| entry.key.name.starts_with(group);
            let Some(line) = self.parsed.entries.iter().find(said).map(|entry| entry.line) else { continue };
            if let Some(text) = disorder(&policy, group) {
                self.parsed.problems.push(Problem { line: Some(line), text, unknown: false });
            }
        }
    }
}

/// A list that has something in it.
fn some<T>(list: Vec<T>, value: fn(Vec<T>) -> Value) -> Option<Value> {
    (!list.is_empty()).then(|| value(list))
}

/// A program and its arguments, in their order; an empty list is none.
fn command(value: &DeValue<'_>) -> Option<Vec<String>> {
    /// Longest of them, in bytes.
    const LONGEST: usize = 1024;
    let array = value.as_array().filter(|array| array.len() <= MAX_ITEMS)?;
    let words: Vec<String> =
        array.iter().map(|word| word.get_ref().as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let fits = |word: &String| word.len() <= LONGEST && !word.contains('\0');
    let absolute = words.first().is_none_or(|program| program.starts_with('/'));
    (absolute && words.iter().all(fits)).then_some(words)
}

/// What is wrong with the order of a group of thresholds.
fn disorder(policy: &Policy, group: &str) -> Option<String> {
    let names: Vec<&Key> = KEYS.iter().filter(|key| key.name.starts_with(group)).collect();
    let mut numbers: Vec<(&str, f64)> = names
        .iter()
        .filter_map(|key| match key.get(policy) {
            Value::Fraction(number) => Some((key.name, number)),
            _ => None,
        })
        .collect();
    // Risk is listed from the lowest band up, rationality from the highest down.
    if group.starts_with("rationality") {
        numbers.reverse();
    }
    numbers.iter().zip(numbers.iter().skip(1)).find(|((_, low), (_, high))| low > high).map(
        |((low_name, low), (high_name, high))| {
            format!("`{low_name}` ({low}) is above `{high_name}` ({high}): the thresholds must not descend")
        },
    )
}

/// Whether some key lies below `name`.
fn is_section(name: &str) -> bool {
    names().any(|key| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name).chain(REFUSED.iter().map(|refused| refused.name))
}

fn unknown(name: &str) -> String {
    if let Some(refused) = REFUSED.iter().find(|refused| refused.name == name) {
        return format!("`{name}` is no key: {}", refused.why);
    }
    let shown = escape(&clip(name, 100));
    if is_section(name) {
        return format!("`{shown}` is a section: write [{shown}] and keys below it");
    }
    // A key written without its section is the commonest slip: the last name counts for itself too.
    let near = |known: &'static str| {
        let last = known.rsplit('.').next().unwrap_or(known);
        strsim::normalized_damerau_levenshtein(name, known)
            .max(strsim::normalized_damerau_levenshtein(name.rsplit('.').next().unwrap_or(name), last) * 0.95)
    };
    let best = KEYS.iter().map(|key| (near(key.name), key.name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best.filter(|(near, _)| *near >= 0.6 && name.len() <= 100) {
        Some((_, known)) => format!("unknown key `{shown}`; did you mean `{known}`?"),
        None => format!("unknown key `{shown}`; `lazaret config show` lists the known ones"),
    }
}

/// A value as a message shows it.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{}\"", escape(&clip(text, 60))),
        DeValue::Integer(number) => clip(&format!("{}{}", radix_mark(number.radix()), number.as_str()), 60),
        DeValue::Float(number) => clip(number.as_str(), 60),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn radix_mark(radix: u32) -> &'static str {
    match radix {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        _ => "",
    }
}

pub(super) fn whole(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(super) fn fraction(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}

fn limits(value: &DeValue<'_>) -> Result<Vec<ToolLimit>, String> {
    let array = value.as_array().ok_or_else(|| "write it as [[limits.tool]]".to_owned())?;
    if array.len() > MAX_ITEMS {
        return Err(format!("it has {} entries, the most are {MAX_ITEMS}", array.len()));
    }
    array.iter().map(|entry| limit(entry.get_ref())).collect()
}

fn limit(entry: &DeValue<'_>) -> Result<ToolLimit, String> {
    let table = entry.as_table().ok_or_else(|| format!("{} is not a table", shown(entry)))?;
    let (mut tool, mut calls, mut window_seconds, mut per) = (None, None, None, ToolLimit::PER[0]);
    for (name, value) in table {
        let value = value.get_ref();
        let within = |max: u64| {
            let number = whole(value).filter(|number| (1..=max).contains(number));
            let number = number.and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| {
                format!("{} {} is not a whole number from 1 to {max}", name.get_ref(), shown(value))
            })
        };
        match name.get_ref().as_ref() {
            "tool" => {
                let text = value.as_str().filter(|text| !text.is_empty() && text.len() <= 256);
                tool = Some(
                    text.ok_or_else(|| format!("tool {} is not a tool's name", shown(value)))?.to_owned(),
                );
            }
            "calls" => calls = Some(within(MAX_CALLS)?),
            "window_seconds" => window_seconds = Some(within(MAX_WINDOW)?),
            "per" => {
                let word =
                    value.as_str().and_then(|word| ToolLimit::PER.into_iter().find(|known| *known == word));
                per = word.ok_or_else(|| {
                    format!("per {} is none of {}", shown(value), ToolLimit::PER.join(", "))
                })?;
            }
            other => {
                let other = escape(&clip(other, 60));
                return Err(format!(
                    "unknown key `{other}`; an entry has tool, calls, window_seconds and per"
                ));
            }
        }
    }
    match (tool, calls, window_seconds) {
        (Some(tool), Some(calls), Some(window_seconds)) => {
            Ok(ToolLimit { tool, calls, window_seconds, shared: per == ToolLimit::PER[1] })
        }
        _ => Err("an entry needs tool, calls and window_seconds".to_owned()),
    }
}
