//! A `[[rules.custom]]` table to a rule in words: every key known, every value of its kind. Whether the names in it stand for
//! something, and the examples hold, is asked of who knows the rules.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::shown;
use crate::domain::{
    Class, EffectKind, Flow, Severity, Verdict, WayOut, WrittenCode, WrittenCommand, WrittenEffect,
    WrittenOperand, WrittenRule, WrittenTool, WrittenWhen, clip, escape,
};

/// What is still wrong with a rule that is well written.
pub type RuleCheck = fn(&WrittenRule) -> Vec<String>;

/// Most rules of one file.
const MAX_RULES: usize = 200;
/// Most entries of a list in a rule.
const MAX_WORDS: usize = 100;
/// Longest text in a rule, and longest example, in bytes.
const MAX_TEXT: usize = 500;
const MAX_EXAMPLE: usize = 4000;

const RULE: &[&str] =
    &["id", "domain", "verdict", "severity", "reason", "instead", "rewriter", "when", "fires", "silent"];
const INSTEAD: &[&str] = &["command", "advice"];
const WHEN: &[&str] = &["command", "effect", "flow", "hosts", "code", "tool", "predicate"];
const COMMAND: &[&str] = &["programs", "subs", "flags", "without", "operand", "privileged"];
const OPERAND: &[&str] = &["is", "starts", "contains", "on", "source_on", "at"];
const EFFECT: &[&str] = &["kinds", "on", "at", "not_on", "recursive", "lasting", "except"];
const CODE: &[&str] = &["programs", "all"];
const TOOL: &[&str] = &["names", "all"];

type Value<'i> = Spanned<DeValue<'i>>;

/// Where in the file a mistake is, and what it is.
pub type Mistake = (usize, String);

/// The rules of a list of tables that can be used; what is wrong with the others is put to `mistakes`.
pub fn rules(
    value: &DeValue<'_>,
    at: usize,
    check: RuleCheck,
    mistakes: &mut Vec<Mistake>,
) -> Vec<WrittenRule> {
    let Some(array) = value.as_array() else {
        mistakes.push((at, "`rules.custom`: write each rule as [[rules.custom]]".to_owned()));
        return Vec::new();
    };
    if array.len() > MAX_RULES {
        let text = format!("`rules.custom`: it has {} rules, the most are {MAX_RULES}", array.len());
        mistakes.push((at, text));
        return Vec::new();
    }
    let mut found: Vec<WrittenRule> = Vec::new();
    for (number, entry) in array.iter().enumerate() {
        let mut reader = Reader { name: called(entry, number), mistakes: Vec::new() };
        let rule = reader.rule(entry).filter(|_| reader.mistakes.is_empty());
        if let Some(rule) = rule {
            if found.iter().any(|other| other.id == rule.id) {
                reader.wrong(entry, "another rule of this file has the same id".to_owned());
            } else {
                let wrong = check(&rule);
                if wrong.is_empty() {
                    found.push(rule);
                }
                wrong.into_iter().for_each(|text| reader.wrong(entry, text));
            }
        }
        mistakes.append(&mut reader.mistakes);
    }
    found
}

/// Reads one rule. What cannot be used is noted and left out, so that everything that is wrong is told at once.
struct Reader {
    /// What messages call the rule.
    name: String,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn wrong(&mut self, value: &Value<'_>, text: String) {
        self.wrong_at(value.span().start, text);
    }

    fn wrong_at(&mut self, at: usize, text: String) {
        self.mistakes.push((at, format!("`rules.custom`: {}: {text}", self.name)));
    }

    /// The table, with every key that is not one of `known` noted.
    fn table<'v, 'i>(&mut self, value: &'v Value<'i>, what: &str, known: &[&str]) -> Option<&'v DeTable<'i>> {
        let what = if what.is_empty() { String::new() } else { format!("{what}: ") };
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(value, format!("{what}{} is not a table", shown(value.get_ref())));
            return None;
        };
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                let text = format!("{what}unknown key {}", unknown(key.get_ref(), known));
                self.wrong_at(key.span().start, text);
            }
        }
        Some(table)
    }

    /// The one key of a table that stands for one of several things.
    fn choice<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        what: &str,
        known: &[&'static str],
    ) -> Option<(&'static str, &'v Value<'i>)> {
        let table = self.table(value, what, known)?;
        let mut given = known.iter().filter_map(|key| table.get(*key).map(|value| (*key, value)));
        match (given.next(), given.next()) {
            (Some(one), None) => Some(one),
            (None, _) => {
                // An unknown key has been told already.
                if table.is_empty() {
                    self.wrong(value, format!("{what}: it needs one of {}", known.join(", ")));
                }
                None
            }
            (Some((one, _)), Some((other, _))) => {
                self.wrong(value, format!("{what}: it has {one} and {other}; write two of them"));
                None
            }
        }
    }

    fn rule(&mut self, entry: &Value<'_>) -> Option<WrittenRule> {
        let table = self.table(entry, "", RULE)?;
        let id = self.id(entry, table);
        let verdict = self.needed(entry, table, "verdict").and_then(|value| self.verdict(value));
        let severity = self.needed(entry, table, "severity");
        let severity = severity
            .and_then(|value| self.word(value, "severity", Severity::ALL.map(|s| (s.name(), s)).as_slice()));
        let reason =
            self.needed(entry, table, "reason").and_then(|value| self.text(value, "reason", MAX_TEXT));
        let instead = table.get("instead").map(|value| self.instead(value));
        let rewriter = table.get("rewriter").and_then(|value| self.text(value, "rewriter", MAX_TEXT));
        let when = self.needed(entry, table, "when").map(|value| self.conditions(value));
        let fires = self.needed(entry, table, "fires").map(|value| self.examples(value, "fires"));
        let silent = self.needed(entry, table, "silent").map(|value| self.examples(value, "silent"));
        Some(WrittenRule {
            id: id?,
            verdict: verdict?,
            severity: severity?,
            reason: reason?,
            instead: instead.flatten(),
            rewriter,
            when: when?,
            fires: fires?,
            silent: silent?,
            hushed: false,
        })
    }

    fn needed<'v, 'i>(
        &mut self,
        entry: &Value<'i>,
        table: &'v DeTable<'i>,
        key: &str,
    ) -> Option<&'v Value<'i>> {
        let value = table.get(key);
        if value.is_none() {
            self.wrong(entry, format!("it has no `{key}`"));
        }
        value
    }

    /// `domain.name`, and the domain once more where it is given.
    fn id(&mut self, entry: &Value<'_>, table: &DeTable<'_>) -> Option<String> {
        let value = self.needed(entry, table, "id")?;
        let id = self.text(value, "id", MAX_WORDS)?;
        let plain = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        let Some((domain, _)) = id.split_once('.').filter(|(domain, name)| plain(domain) && plain(name))
        else {
            let text = format!("id: {} is not domain.name in lower case", shown(value.get_ref()));
            self.wrong(value, text);
            return None;
        };
        if let Some(given) = table.get("domain")
            && given.get_ref().as_str() != Some(domain)
        {
            self.wrong(given, format!("domain: {} is not what the id begins with", shown(given.get_ref())));
        }
        Some(id)
    }

    fn verdict(&mut self, value: &Value<'_>) -> Option<Verdict> {
        let verdict = self.word(value, "verdict", Verdict::ALL.map(|v| (v.name(), v)).as_slice())?;
        if verdict == Verdict::Allow {
            let text = "verdict: a rule can only add to what lazaret says: \"warn\", \"modify\" or \"block\"";
            self.wrong(value, text.to_owned());
            return None;
        }
        Some(verdict)
    }

    fn instead(&mut self, value: &Value<'_>) -> Option<WayOut> {
        let (key, value) = self.choice(value, "instead", INSTEAD)?;
        let text = self.text(value, "instead", MAX_TEXT)?;
        Some(if key == "command" { WayOut::Command(text) } else { WayOut::Advice(text) })
    }

    fn conditions(&mut self, value: &Value<'_>) -> Vec<WrittenWhen> {
        let items = self.list(value, "when");
        items.iter().filter_map(|item| self.condition(item)).collect()
    }

    fn condition(&mut self, value: &Value<'_>) -> Option<WrittenWhen> {
        let (key, value) = self.choice(value, "when", WHEN)?;
        Some(match key {
            "command" => WrittenWhen::Command(self.command(value)?),
            "effect" => WrittenWhen::Effect(self.effect(value)?),
            "flow" => WrittenWhen::Flow(self.word(value, "flow", &named(Flow::ALL, Flow::name))?),
            "hosts" => WrittenWhen::Hosts(self.words(value, "hosts")),
            "code" => {
                let table = self.table(value, "code", CODE)?;
                let all = self.needed(value, table, "all").map(|value| self.groups(value, "all"));
                WrittenWhen::Code(WrittenCode { programs: self.optional(table, "programs"), all: all? })
            }
            "tool" => {
                let table = self.table(value, "tool", TOOL)?;
                let names = self.needed(value, table, "names").map(|value| self.words(value, "names"));
                let all = table.get("all").map_or_else(Vec::new, |value| self.groups(value, "all"));
                WrittenWhen::Tool(WrittenTool { names: names?, all })
            }
            _ => WrittenWhen::Predicate(self.text(value, "predicate", MAX_TEXT)?),
        })
    }

    fn command(&mut self, value: &Value<'_>) -> Option<WrittenCommand> {
        let table = self.table(value, "command", COMMAND)?;
        let programs = self.needed(value, table, "programs").map(|value| self.words(value, "programs"));
        Some(WrittenCommand {
            programs: programs?,
            subs: self.optional(table, "subs"),
            flags: table.get("flags").map_or_else(Vec::new, |value| self.groups(value, "flags")),
            without: self.optional(table, "without"),
            operand: table.get("operand").and_then(|value| self.operand(value)),
            privileged: self.switch(table, "privileged"),
        })
    }

    fn operand(&mut self, value: &Value<'_>) -> Option<WrittenOperand> {
        if value.get_ref().as_str() == Some("some") {
            return Some(WrittenOperand::Some);
        }
        let (key, value) = self.choice(value, "operand", OPERAND)?;
        Some(match key {
            "is" => WrittenOperand::Is(self.words(value, "is")),
            "starts" => WrittenOperand::Starts(self.words(value, "starts")),
            // They are sought in lower case.
            "contains" => {
                let words = self.words(value, "contains");
                WrittenOperand::Contains(words.iter().map(|word| word.to_ascii_lowercase()).collect())
            }
            "on" => WrittenOperand::On(self.classes(value, "on")),
            "source_on" => WrittenOperand::SourceOn(self.classes(value, "source_on")),
            _ => WrittenOperand::At(self.places(value)),
        })
    }

    fn effect(&mut self, value: &Value<'_>) -> Option<WrittenEffect> {
        let table = self.table(value, "effect", EFFECT)?;
        let kinds = self.needed(value, table, "kinds").map(|value| {
            let items = self.list(value, "kinds");
            let known = named(&EffectKind::ALL, EffectKind::name);
            items.iter().filter_map(|item| self.word(item, "kinds", &known)).collect()
        });
        let classes = |reader: &mut Reader, key| {
            table.get(key).map_or_else(Vec::new, |value| reader.classes(value, key))
        };
        Some(WrittenEffect {
            kinds: kinds?,
            on: classes(self, "on"),
            at: table.get("at").map_or_else(Vec::new, |value| self.places(value)),
            not_on: classes(self, "not_on"),
            recursive: self.switch(table, "recursive"),
            lasting: self.switch(table, "lasting"),
            except: self.optional(table, "except"),
        })
    }

    fn classes(&mut self, value: &Value<'_>, what: &str) -> Vec<Class> {
        let items = self.list(value, what);
        let known = named(Class::ALL, Class::name);
        items.iter().filter_map(|item| self.word(item, what, &known)).collect()
    }

    /// `~/below/home`, `/absolute` or `anywhere/in/a/path`.
    fn places(&mut self, value: &Value<'_>) -> Vec<String> {
        let places = self.words(value, "at");
        for place in &places {
            if place != "~" && place.starts_with('~') && !place.starts_with("~/") {
                let text = format!("at: \"{}\": only one's own home may be written ~", escape(place));
                self.wrong(value, text);
            }
        }
        places
    }

    fn switch(&mut self, table: &DeTable<'_>, key: &str) -> bool {
        let Some(value) = table.get(key) else { return false };
        let on = value.get_ref().as_bool();
        if on.is_none() {
            self.wrong(value, format!("{key}: {} is not true or false", shown(value.get_ref())));
        }
        on.unwrap_or_default()
    }

    fn optional(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        table.get(key).map_or_else(Vec::new, |value| self.words(value, key))
    }

    fn word<T: Copy>(&mut self, value: &Value<'_>, what: &str, known: &[(&str, T)]) -> Option<T> {
        let text = value.get_ref().as_str();
        let found = known.iter().find(|(name, _)| Some(*name) == text).map(|(_, word)| *word);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let hint = match text {
                Some(text) => unknown(text, &names),
                None => format!("{} is not one of {}", shown(value.get_ref()), names.join(", ")),
            };
            self.wrong(value, format!("{what}: {hint}"));
        }
        found
    }

    fn text(&mut self, value: &Value<'_>, what: &str, max: usize) -> Option<String> {
        let text = value.get_ref().as_str();
        let fit = |text: &&str| {
            // An example is a call, and a call may hold anything.
            let plain = max == MAX_EXAMPLE || !text.chars().any(char::is_control);
            !text.trim().is_empty() && text.len() <= max && plain
        };
        let Some(text) = text.filter(fit) else {
            let shown = shown(value.get_ref());
            self.wrong(
                value,
                format!(
                    "{what}: {shown} is not a text of 1 to {max} bytes{}",
                    if max == MAX_EXAMPLE { "" } else { " in one line" }
                ),
            );
            return None;
        };
        Some(text.to_owned())
    }

    /// A list that is not empty and not too long.
    fn list<'v, 'i>(&mut self, value: &'v Value<'i>, what: &str) -> &'v [Value<'i>] {
        match value.get_ref().as_array() {
            Some(items) if !items.is_empty() && items.len() <= MAX_WORDS => items,
            Some(items) => {
                self.wrong(
                    value,
                    format!("{what}: it has {} entries; 1 to {MAX_WORDS} it takes", items.len()),
                );
                &[]
            }
            None => {
                self.wrong(value, format!("{what}: {} is not a list", shown(value.get_ref())));
                &[]
            }
        }
    }

    fn words(&mut self, value: &Value<'_>, what: &str) -> Vec<String> {
        let items = self.list(value, what);
        items.iter().filter_map(|item| self.text(item, what, MAX_TEXT)).collect()
    }

    fn groups(&mut self, value: &Value<'_>, what: &str) -> Vec<Vec<String>> {
        let items = self.list(value, what);
        items.iter().map(|item| self.words(item, what)).collect()
    }

    fn examples(&mut self, value: &Value<'_>, what: &str) -> Vec<String> {
        let items = self.list(value, what);
        items.iter().filter_map(|item| self.text(item, what, MAX_EXAMPLE)).collect()
    }
}

/// Its id, or where it stands among the rules.
fn called(entry: &Value<'_>, number: usize) -> String {
    let id = entry.get_ref().as_table().and_then(|table| table.get("id")?.get_ref().as_str());
    id.map_or_else(|| format!("rule {}", number + 1), |id| format!("`{}`", escape(&clip(id, MAX_WORDS))))
}

fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|word| (name(*word), *word)).collect()
}

/// A word that nobody knows, with the one that it is most like.
fn unknown(word: &str, known: &[&str]) -> String {
    let shown = escape(&clip(word, 60));
    let close = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(word, known), *known));
    match close.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, near)) if likeness >= 0.5 => format!("`{shown}`; did you mean `{near}`?"),
        Some(_) | None => format!("`{shown}`; known are {}", known.join(", ")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A rule with nothing special in it.
    pub fn plain() -> WrittenRule {
        WrittenRule {
            id: "custom.plain".to_owned(),
            verdict: Verdict::Warn,
            severity: Severity::Low,
            reason: "it is only an example".to_owned(),
            instead: None,
            rewriter: None,
            when: vec![WrittenWhen::Flow(Flow::SecretToNetwork)],
            fires: vec!["a".to_owned()],
            silent: vec!["b".to_owned()],
            hushed: false,
        }
    }
}
