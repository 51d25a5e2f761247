//! Values of keys: what a key takes, how a value is written, and which of two values is the stricter.

use crate::domain::{
    Exception, Pattern, PatternPolicy, Plugin, ToolLimit, WrittenIntervention, WrittenPattern,
    WrittenProgram, WrittenRule,
};

/// A value of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Switch(bool),
    Whole(u64),
    Fraction(f64),
    Word(&'static str),
    Words(Vec<String>),
    Limits(Vec<ToolLimit>),
    Rules(Vec<WrittenRule>),
    Patterns(Vec<WrittenPattern>),
    Interventions(Vec<WrittenIntervention>),
    Plugins(Vec<Plugin>),
    Programs(Vec<WrittenProgram>),
    Exceptions(Vec<Exception>),
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Switch,
    Whole {
        min: u64,
        max: u64,
    },
    /// 0 to 1.
    Fraction,
    /// One of these words.
    Word {
        words: &'static [&'static str],
    },
    Words(Item),
    /// A program by its absolute path, and its arguments. Never taken from a project's file.
    Command,
    /// Tables with `tool`, `calls`, `window_seconds` and `per`.
    Limits,
    /// Whole rules.
    Rules,
    /// Whole patterns.
    Patterns,
    /// Tables that each say what is done about one pattern.
    Interventions,
    /// Tables that each name a program of the user's. Never taken from a project's file.
    Plugins,
    /// Tables that each say how the words of a program are read and what they do.
    Programs,
    /// Tables that each lower the verdict of one rule.
    Exceptions,
}

/// What the items of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    Rule,
    AgentType,
    Path,
    Branch,
    Host,
    Goal,
    Pattern,
}

/// Which way a key tightens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stricter {
    Smaller,
    Larger,
    /// On is stricter than off.
    On,
    /// The words of its kind are ordered, the strictest last.
    Later,
    /// Adding to the list tightens; lower layers add to it and never take away.
    More,
    /// Taking from the list tightens.
    Fewer,
    /// The first goals tighten (none = nothing to be judged by); other goals instead of these loosen.
    First,
    /// Any other word than the first is stricter than that; from one of the others to another it goes neither way.
    NotFirst,
    /// Neither way: any change counts as a loosening.
    Neither,
}

/// What a value of a lower layer does to the value above it.
#[derive(Debug, PartialEq)]
pub enum Change {
    Same,
    /// The value with what tightens in it.
    Tightens(Value),
    Loosens,
}

impl Stricter {
    /// What `lower` does to `upper`; values of different kinds count as a loosening.
    pub fn change(self, kind: Kind, upper: &Value, lower: &Value) -> Change {
        if upper == lower {
            return Change::Same;
        }
        match (upper, lower) {
            (Value::Words(upper), Value::Words(lower)) => self.words(upper, lower),
            (Value::Limits(upper), Value::Limits(lower)) => {
                added(upper, lower).map_or(Change::Same, |all| Change::Tightens(Value::Limits(all)))
            }
            (Value::Rules(upper), Value::Rules(lower)) => {
                added(upper, lower).map_or(Change::Same, |all| Change::Tightens(Value::Rules(all)))
            }
            (Value::Patterns(upper), Value::Patterns(lower)) => {
                added(upper, lower).map_or(Change::Same, |all| Change::Tightens(Value::Patterns(all)))
            }
            _ if self.tightens(kind, upper, lower) => Change::Tightens(lower.clone()),
            _ => Change::Loosens,
        }
    }

    fn tightens(self, kind: Kind, upper: &Value, lower: &Value) -> bool {
        match (self, upper, lower) {
            (Stricter::Smaller, Value::Whole(upper), Value::Whole(lower)) => lower < upper,
            (Stricter::Larger, Value::Whole(upper), Value::Whole(lower)) => lower > upper,
            (Stricter::Smaller, Value::Fraction(upper), Value::Fraction(lower)) => lower < upper,
            (Stricter::Larger, Value::Fraction(upper), Value::Fraction(lower)) => lower > upper,
            (Stricter::On, Value::Switch(false), Value::Switch(true)) => true,
            (Stricter::Later, Value::Word(upper), Value::Word(lower)) => {
                let Kind::Word { words, .. } = kind else { return false };
                let place = |word: &str| words.iter().position(|known| *known == word);
                place(lower) > place(upper)
            }
            (Stricter::NotFirst, Value::Word(upper), Value::Word(_)) => {
                matches!(kind, Kind::Word { words: [first, ..] } if first == upper)
            }
            _ => false,
        }
    }

    fn words(self, upper: &[String], lower: &[String]) -> Change {
        match self {
            Stricter::More => {
                added(upper, lower).map_or(Change::Same, |all| Change::Tightens(Value::Words(all)))
            }
            Stricter::Fewer if lower.iter().all(|word| upper.contains(word)) => {
                if upper.iter().all(|word| lower.contains(word)) {
                    Change::Same
                } else {
                    Change::Tightens(Value::Words(lower.to_vec()))
                }
            }
            Stricter::First if upper.is_empty() => Change::Tightens(Value::Words(lower.to_vec())),
            _ => Change::Loosens,
        }
    }
}

/// Both lists together; nothing when the second adds nothing.
fn added<T: Clone + PartialEq>(upper: &[T], lower: &[T]) -> Option<Vec<T>> {
    let mut all = upper.to_vec();
    for item in lower {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    (all.len() > upper.len()).then_some(all)
}

impl Kind {
    /// It is written as `[[key]]`, once for each entry.
    pub fn is_tables(self) -> bool {
        self.is_whole_tables() || matches!(self, Kind::Limits | Kind::Exceptions)
    }

    /// Its entries are read each for itself.
    pub fn is_whole_tables(self) -> bool {
        matches!(self, Kind::Rules | Kind::Patterns | Kind::Interventions | Kind::Plugins | Kind::Programs)
    }

    /// Its value names programs that are started.
    pub fn starts_programs(self) -> bool {
        matches!(self, Kind::Command | Kind::Plugins)
    }

    /// What the key takes, for messages and the reference.
    pub fn describe(self) -> String {
        let quoted =
            |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
        match self {
            Kind::Switch => "true or false".to_owned(),
            Kind::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Fraction => "a number from 0 to 1".to_owned(),
            Kind::Word { words, .. } => quoted(words),
            Kind::Words(item) => format!("a list of {}", item.describe()),
            Kind::Command => "a list of a program's absolute path and its arguments".to_owned(),
            Kind::Limits => {
                "tables with tool, calls (1 to 10000), window_seconds (1 to 86400) and, if it is not \"agent\", per".to_owned()
            },
            Kind::Rules => "rules as `lazaret rules show ID --toml` writes them".to_owned(),
            Kind::Patterns => "patterns as docs/behaviour.md describes them".to_owned(),
            Kind::Interventions => "tables with pattern, and text, first and most".to_owned(),
            Kind::Plugins => "tables as docs/plugins.md describes them".to_owned(),
            Kind::Programs => "tables as docs/programs.md describes them".to_owned(),
            Kind::Exceptions => {
                "tables with rule and reason, and to, expires, path, repository, tool, command and agent"
                    .to_owned()
            }
        }
    }
}

impl Item {
    fn describe(self) -> &'static str {
        match self {
            Item::Rule => "rule ids",
            Item::AgentType => "agent types",
            Item::Path => "paths",
            Item::Branch => "branch names",
            Item::Host => "host names",
            Item::Goal => "texts",
            Item::Pattern => "names of patterns",
        }
    }

    /// Why `text` cannot be such an item.
    pub fn refuse(self, text: &str) -> Option<&'static str> {
        if text.is_empty() || text.len() > 1024 || text.chars().any(char::is_control) {
            return Some("is empty, longer than 1024 bytes, or holds control characters");
        }
        let blank = text.contains(char::is_whitespace);
        match self {
            Item::Goal => None,
            Item::Pattern => (text != PatternPolicy::ALL && Pattern::from_name(text).is_none())
                .then_some("is no pattern (docs/behaviour.md lists them)"),
            Item::Rule | Item::AgentType | Item::Branch => blank.then_some("holds blanks"),
            Item::Host => (blank || text.contains("://") || text.contains(['/', '@', '*', '?']))
                .then_some("is not a bare host name (without scheme, path, user or wildcard)"),
            Item::Path => text
                .strip_suffix("/**")
                .unwrap_or(text)
                .contains(['*', '?', '['])
                .then_some("holds a wildcard (a path counts with all that lies below it)"),
        }
    }
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A list of texts as TOML writes it.
fn listed<'t>(f: &mut std::fmt::Formatter<'_>, texts: impl Iterator<Item = &'t String>) -> std::fmt::Result {
    let items: Vec<String> = texts.map(|text| quoted(text)).collect();
    write!(f, "[{}]", items.join(", "))
}

/// The value as TOML writes it, and (for lists of words and simple values) as JSON does.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Switch(on) => write!(f, "{on}"),
            Value::Whole(number) => write!(f, "{number}"),
            Value::Fraction(number) => write!(f, "{number:?}"),
            Value::Word(word) => f.write_str(&quoted(word)),
            Value::Words(words) => listed(f, words.iter()),
            Value::Limits(limits) => {
                let items: Vec<String> = limits
                    .iter()
                    .map(|limit| {
                        let ToolLimit { tool, calls, window_seconds, .. } = limit;
                        format!(
                            "{{ tool = {}, calls = {calls}, window_seconds = {window_seconds}, per = {} }}",
                            quoted(tool),
                            quoted(limit.per())
                        )
                    })
                    .collect();
                write!(f, "[{}]", items.join(", "))
            }
            // Their names: whole, they would fill pages.
            Value::Rules(rules) => listed(f, rules.iter().map(|rule| &rule.id)),
            Value::Patterns(patterns) => listed(f, patterns.iter().map(|pattern| &pattern.name)),
            Value::Interventions(all) => listed(f, all.iter().map(|one| &one.pattern)),
            Value::Plugins(plugins) => listed(f, plugins.iter().map(|plugin| &plugin.name)),
            Value::Programs(programs) => listed(f, programs.iter().flat_map(|program| &program.names)),
            Value::Exceptions(exceptions) => {
                let item = |exception: &Exception| {
                    let part = |(name, words): (&str, Vec<&str>)| {
                        let words: Vec<String> = words.into_iter().map(quoted).collect();
                        let value = words.join(", ");
                        if words.len() == 1 {
                            format!("{name} = {value}")
                        } else {
                            format!("{name} = [{value}]")
                        }
                    };
                    format!("{{ {} }}", told(exception).into_iter().map(part).collect::<Vec<_>>().join(", "))
                };
                write!(f, "[{}]", exceptions.iter().map(item).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Value {
    pub fn json(&self) -> serde_json::Value {
        use serde_json::json;
        match self {
            Value::Switch(on) => json!(on),
            Value::Whole(number) => json!(number),
            Value::Fraction(number) => json!(number),
            Value::Word(word) => json!(word),
            Value::Words(words) => json!(words),
            Value::Limits(limits) => json!(limits),
            Value::Rules(rules) => json!(rules),
            Value::Patterns(patterns) => json!(patterns),
            Value::Interventions(all) => json!(all),
            Value::Plugins(plugins) => json!(plugins),
            Value::Programs(programs) => json!(programs),
            Value::Exceptions(exceptions) => exceptions.iter().map(exception_json).collect(),
        }
    }
}

/// The keys of an exception that say something, in their order.
fn told(exception: &Exception) -> Vec<(&'static str, Vec<&str>)> {
    fn one(text: Option<&String>) -> Vec<&str> {
        text.map(String::as_str).into_iter().collect()
    }
    let all = vec![
        ("rule", vec![exception.rule.as_str()]),
        ("to", vec![exception.to.name()]),
        ("path", exception.paths.iter().map(String::as_str).collect()),
        ("repository", one(exception.repository.as_ref())),
        ("tool", one(exception.tool.as_ref())),
        ("command", one(exception.command.as_ref())),
        ("agent", one(exception.agent.as_ref())),
        ("expires", exception.expires.iter().map(|expiry| expiry.text.as_str()).collect()),
        ("reason", vec![exception.reason.as_str()]),
    ];
    all.into_iter().filter(|(_, words): &(_, Vec<&str>)| !words.is_empty()).collect()
}

fn exception_json(exception: &Exception) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    for (name, words) in told(exception) {
        let value = if name == "path" { words.into() } else { words.concat().into() };
        object.insert(name.to_owned(), value);
    }
    object.insert("file".to_owned(), exception.file.as_str().into());
    object.insert("line".to_owned(), exception.line.into());
    object.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Value {
        Value::Words(list.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn each_direction() {
        let (low, high) = (Value::Whole(1), Value::Whole(2));
        let kind = Kind::Whole { min: 0, max: 9 };
        assert_eq!(Stricter::Smaller.change(kind, &high, &low), Change::Tightens(low.clone()));
        assert_eq!(Stricter::Smaller.change(kind, &low, &high), Change::Loosens);
        assert_eq!(Stricter::Larger.change(kind, &low, &high), Change::Tightens(high.clone()));
        assert_eq!(Stricter::Larger.change(kind, &high, &low), Change::Loosens);
        assert_eq!(Stricter::Neither.change(kind, &low, &high), Change::Loosens);
        assert_eq!(Stricter::Neither.change(kind, &low, &low), Change::Same);
        let (on, off) = (Value::Switch(true), Value::Switch(false));
        assert_eq!(Stricter::On.change(Kind::Switch, &off, &on), Change::Tightens(on.clone()));
        assert_eq!(Stricter::On.change(Kind::Switch, &on, &off), Change::Loosens);
        let kind = Kind::Word { words: &["none", "some", "all"] };
        let (none, all) = (Value::Word("none"), Value::Word("all"));
        assert_eq!(Stricter::Later.change(kind, &none, &all), Change::Tightens(all.clone()));
        assert_eq!(Stricter::Later.change(kind, &all, &none), Change::Loosens);
    }

    #[test]
    fn lists() {
        let kind = Kind::Words(Item::Branch);
        let base = words(&["a", "b"]);
        assert_eq!(
            Stricter::More.change(kind, &base, &words(&["c"])),
            Change::Tightens(words(&["a", "b", "c"]))
        );
        assert_eq!(Stricter::More.change(kind, &base, &words(&["b"])), Change::Same);
        assert_eq!(Stricter::More.change(kind, &base, &words(&[])), Change::Same);
        assert_eq!(Stricter::Fewer.change(kind, &base, &words(&["b"])), Change::Tightens(words(&["b"])));
        assert_eq!(Stricter::Fewer.change(kind, &base, &words(&["b", "a"])), Change::Same);
        assert_eq!(Stricter::Fewer.change(kind, &base, &words(&["a", "c"])), Change::Loosens);
        assert_eq!(Stricter::First.change(kind, &words(&[]), &base), Change::Tightens(base.clone()));
        assert_eq!(Stricter::First.change(kind, &base, &words(&["a"])), Change::Loosens);
    }

    #[test]
    fn values_are_written_as_toml() {
        for value in [Value::Fraction(1.0), Value::Switch(false), Value::Whole(7), words(&["a\"b", "c\\"])] {
            let text = format!("x = {value}");
            let table: toml::Table = text.parse().unwrap();
            assert_eq!(serde_json::to_value(&table["x"]).unwrap(), value.json(), "{text}");
        }
    }
}
