//! A `[[rules.custom]]` table to a rule in words: every key known, every value of its kind. Whether the names in it stand for
//! something, and the examples hold, is asked of who knows the rules.

use toml::de::DeTable;

use super::parse::shown;
use super::tables::{List, MAX_EXAMPLE, MAX_TEXT, MAX_WORDS, Reader, Value, named};
use crate::domain::{
    Class, EffectKind, Flow, Severity, Verdict, WayOut, WrittenCode, WrittenCommand, WrittenEffect,
    WrittenOperand, WrittenRule, WrittenTool, WrittenWhen, escape,
};

/// What is still wrong with a rule that is well written.
pub type RuleCheck = fn(&WrittenRule) -> Vec<String>;

const RULE: &[&str] =
    &["id", "domain", "verdict", "severity", "reason", "instead", "rewriter", "when", "fires", "silent"];
const INSTEAD: &[&str] = &["command", "advice"];
const WHEN: &[&str] = &["command", "effect", "flow", "hosts", "code", "tool", "predicate"];
const COMMAND: &[&str] = &["programs", "subs", "flags", "without", "operand", "privileged", "away"];
const OPERAND: &[&str] = &["is", "starts", "ends", "contains", "on", "source_on", "at"];
const EFFECT: &[&str] = &["kinds", "on", "at", "not_on", "recursive", "lasting", "except"];
const CODE: &[&str] = &["programs", "all"];
const TOOL: &[&str] = &["names", "all"];

/// The list of rules.
pub const RULES: List<WrittenRule> = List {
    key: "rules.custom",
    one: "rule",
    name: "id",
    most: 200,
    name_of: |rule| &rule.id,
    read: Reader::rule,
};

impl Reader {
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
            "flow" => WrittenWhen::Flow(self.word(value, "flow", &named(&Flow::ALL, Flow::name))?),
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
            away: self.switch(table, "away"),
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
            "ends" => WrittenOperand::Ends(self.words(value, "ends")),
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
        let known = named(&Class::ALL, Class::name);
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

    pub fn examples(&mut self, value: &Value<'_>, what: &str) -> Vec<String> {
        let items = self.list(value, what);
        items.iter().filter_map(|item| self.text(item, what, MAX_EXAMPLE)).collect()
    }
}
