//! A `[[programs]]` table to a program: how its words are read, and what its commands do.

use toml::de::DeTable;

use super::parse::shown;
use super::tables::{List, Reader, Value, named};
use crate::domain::{Operands, Operation, Rest, Wrap, WrittenProgram, WrittenSub, is_option_word};

/// The list of programs.
pub const PROGRAMS: List<WrittenProgram> = List {
    key: "programs",
    one: "program",
    name: "names",
    most: 200,
    name_of: |program| program.names.first().map_or("", String::as_str),
    read: Reader::taught,
};

const PROGRAM: &[&str] =
    &["names", "options", "single_dash", "does", "operands", "runs", "local", "commands"];
const COMMAND: &[&str] = &["names", "options", "does", "operands", "runs"];
const RUNS: &[&str] = &["command", "skip", "keep", "privileged", "remote", "lenient"];
/// Most words of a command.
const MOST_WORDS: usize = 8;

impl Reader {
    fn taught(&mut self, entry: &Value<'_>) -> Option<WrittenProgram> {
        let table = self.table(entry, "", PROGRAM)?;
        let names = self.needed(entry, table, "names").map(|value| self.program_names(value));
        let does = self.does(table, Operation::Process);
        let mut commands = Vec::new();
        for item in table.get("commands").map_or(&[][..], |value| self.list(value, "commands")) {
            commands.extend(self.command_row(item, does));
        }
        let runs = table.get("runs").and_then(|value| self.runs(value));
        self.said_twice(entry, &commands);
        Some(WrittenProgram {
            names: names?,
            options: ended(self.option_words(table), runs),
            single_dash: self.switch(table, "single_dash"),
            does,
            operands: self.operands(table),
            runs,
            local: self.switch(table, "local"),
            nested: nested(&commands),
            commands,
            adds: false,
        })
    }

    fn program_names(&mut self, value: &Value<'_>) -> Vec<String> {
        let names = self.words(value, "names");
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-' | ':' | '@');
        for name in names.iter().filter(|name| !name.chars().all(plain)) {
            let text = "is not the bare name of a program (letters, digits and ._+-:@; no path, no pattern)";
            self.wrong(value, format!("names: {name:?} {text}"));
        }
        names
    }

    fn command_row(&mut self, entry: &Value<'_>, does: Operation) -> Option<WrittenSub> {
        let table = self.table(entry, "commands", COMMAND)?;
        let value = self.needed(entry, table, "names")?;
        let mut names = Vec::new();
        for name in self.words(value, "names") {
            let words: Vec<&str> = name.split_ascii_whitespace().collect();
            let several = words.len() > 1 && words.iter().any(|word| word.starts_with('-'));
            if name.contains('.') || several || words.len() > MOST_WORDS {
                let text = format!(
                    "names: {name:?} is neither 1 to {MOST_WORDS} words of a command without dots nor one option"
                );
                self.wrong(value, text);
            }
            names.push(words.join("."));
        }
        let runs = table.get("runs").and_then(|value| self.runs(value));
        Some(WrittenSub {
            names: names.join(" "),
            options: ended(self.option_words(table), runs),
            does: self.does(table, does),
            operands: self.operands(table),
            runs,
        })
    }

    fn said_twice(&mut self, entry: &Value<'_>, commands: &[WrittenSub]) {
        let mut seen: Vec<&str> = Vec::new();
        for name in commands.iter().flat_map(|command| command.names.split(' ')) {
            if seen.contains(&name) {
                self.wrong(entry, format!("commands: \"{}\" stands there twice", name.replace('.', " ")));
            }
            seen.push(name);
        }
    }

    fn option_words(&mut self, table: &DeTable<'_>) -> String {
        let words = self.optional(table, "options");
        for (at, word) in words.iter().enumerate().filter(|(at, word)| !is_option_word(word, *at == 0)) {
            let Some(value) = table.get("options") else { break };
            let text = if word == "+" {
                format!("options: \"+\" can only stand first, not at place {}", at + 1)
            } else {
                format!(
                    "options: {word:?} is none; write `--name` for one that takes a value, `--name:r` where that is a file that is read (the \
                     letters are r, w, x, d, D, s, k, u), `-n!` for one that takes none (docs/programs.md)"
                )
            };
            self.wrong(value, text);
        }
        words.join(" ")
    }

    fn does(&mut self, table: &DeTable<'_>, usual: Operation) -> Operation {
        let known = named(&Operation::ALL, Operation::name);
        table.get("does").and_then(|value| self.word(value, "does", &known)).unwrap_or(usual)
    }

    fn operands(&mut self, table: &DeTable<'_>) -> Operands {
        let known = named(&Operands::ALL, Operands::name);
        table.get("operands").and_then(|value| self.word(value, "operands", &known)).unwrap_or(Operands::Text)
    }

    fn runs(&mut self, value: &Value<'_>) -> Option<Wrap> {
        let table = self.table(value, "runs", RUNS)?;
        self.switch(table, "keep");
        let known = named(&Rest::ALL, Rest::name);
        let rest = self.needed(value, table, "command").and_then(|value| self.word(value, "command", &known));
        let skip = table.get("skip").map_or(Some(0), |value| {
            let skip = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
            if skip.is_none() {
                self.wrong(value, format!("skip: {} is not a number from 0 to 255", shown(value.get_ref())));
            }
            skip
        });
        Some(Wrap {
            skip: skip?,
            rest: rest?,
            // Rules see the program too, whatever else is said of it.
            keep: true,
            privileged: self.switch(table, "privileged"),
            remote: self.switch(table, "remote"),
            lenient: self.switch(table, "lenient"),
        })
    }
}

/// Options of what runs the command in its operands: they end where that begins.
fn ended(options: String, runs: Option<Wrap>) -> String {
    let ends = runs.is_some_and(|runs| matches!(runs.rest, Rest::Words | Rest::EnvWords));
    if ends && !options.starts_with('+') { format!("+ {options}").trim_end().to_owned() } else { options }
}

/// The first words of commands of several words.
fn nested(commands: &[WrittenSub]) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for name in commands.iter().flat_map(|command| command.names.split(' ')) {
        for (at, _) in name.match_indices('.') {
            groups.extend(name.get(..at).filter(|group| !groups.contains(group)));
        }
    }
    groups.join(" ")
}
