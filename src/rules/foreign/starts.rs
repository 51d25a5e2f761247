//! How code starts programs: as the command lines that a shell would be given.

use super::Language;
use super::Operation;
use super::chain::{Argument, arguments};
use super::lex::Node;
use super::value::{Value, appended, both};
use super::walk::Walk;
use crate::domain::{last_name, single_quoted};
use crate::shell::{Arg, Piece};

/// What stands in front of a program that is started.
pub(super) struct Front {
    /// `cd DIRECTORY && `
    cwd: String,
    /// What gives it each of the texts that it may read, up to the bar.
    inputs: Vec<String>,
}

impl Default for Front {
    fn default() -> Front {
        Front { cwd: String::new(), inputs: vec![String::new()] }
    }
}

impl<'n, 'c> Walk<'_, '_, 'n, 'c> {
    /// The directory in which something is started, and what it is given to read, each as the front of a line.
    pub(super) fn options(&mut self, given: &[Argument<'n, 'c>]) -> Front {
        let named = |name: &str| given.iter().find(|argument| argument.name == Some(name));
        let cwd = named("cwd").map(|argument| self.values.of(argument.value)).unwrap_or_default();
        let cwd = match cwd.as_slice() {
            [value] if value.as_arg().known().is_some() => format!("cd {} && ", word(value)),
            _ => String::new(),
        };
        self.account.open |= named("executable").is_some();
        let inputs = match (named("input"), named("stdin")) {
            (Some(input), _) => self.values.of(input.value),
            (None, Some(_)) => self.fed(),
            (None, None) => return Front { cwd, ..Front::default() },
        };
        let front = |value: &Value| match value.as_arg().known() {
            Some(_) => format!("printf '%s' {} | ", word(value)),
            None => "git show | ".to_owned(),
        };
        Front { cwd, inputs: inputs.iter().map(front).collect() }
    }

    /// What programs are given that were started before.
    fn fed(&self) -> Vec<Value> {
        let calls =
            self.values.names.calls.iter().filter(|(name, _)| matches!(*name, "communicate" | "write"));
        let given =
            calls.filter_map(|(_, inside)| arguments(inside, self.values.language).into_iter().next());
        let mut values: Vec<Value> = given.flat_map(|argument| self.values.of(argument.value)).collect();
        if values.is_empty() {
            values.push(Value::Unknown);
        }
        values
    }

    /// `subprocess.run(…)`
    pub(super) fn starts(&mut self, given: &[Argument<'n, 'c>]) {
        self.account.open |= given.iter().any(|argument| argument.spread);
        let front = self.options(given);
        let first = given.iter().find(|argument| argument.name.is_none_or(|name| name == "args"));
        let Some(first) = first else {
            self.account.open = true;
            return;
        };
        let shell = given.iter().find(|argument| argument.name == Some("shell"));
        let is_false = |argument: &Argument<'_, '_>| matches!(argument.value, [Node::Name("False")]);
        let shell = shell.is_some_and(|argument| !is_false(argument));
        for value in self.values.of(first.value) {
            match &value {
                Value::List(words, open) if !shell => self.line(words, *open, &front),
                // Of a list the first is what the shell is given.
                Value::List(words, open) => match words.as_slice() {
                    [text] if !open => self.shell(text, &front),
                    _ => self.account.open = true,
                },
                text => self.shell(text, &front),
            }
        }
    }

    /// `spawn('program', ['word'], {shell: true})`
    pub(super) fn spawns(&mut self, given: &[Argument<'n, 'c>]) {
        self.account.open |= given.iter().any(|argument| argument.spread);
        let programs = given.first().map(|argument| self.values.of(argument.value)).unwrap_or_default();
        self.account.open |= programs.is_empty();
        let options = given
            .iter()
            .skip(1)
            .map(|argument| argument.value)
            .find(|value| matches!(value, [Node::Group('{', _)] | [Node::Name(_)]));
        let says = |word: &str| match options {
            Some([Node::Group('{', inside)]) => inside.iter().any(|node| node.is_name(word)),
            Some(_) => true,
            None => false,
        };
        let (shell, fed) = (
            says("shell"),
            says("input")
                || matches!(options, Some([Node::Group('{', inside)]) if inside.iter().any(|node| node.is("..."))),
        );
        let lists = given.get(1).map(|argument| self.values.of(argument.value));
        let python = self.values.language == Language::Python;
        for program in programs {
            for list in lists.clone().unwrap_or_else(|| vec![Value::List(Vec::new(), false)]) {
                let (words, open) = match list {
                    Value::List(words, open) => (words, open),
                    Value::Other => (Vec::new(), false),
                    _ => (Vec::new(), true),
                };
                // Python's lists begin with the name that the program is told.
                let words = words.into_iter().skip(usize::from(python));
                let words: Vec<Value> = std::iter::once(program.clone()).chain(words).collect();
                let input = if fed { "git show | ".to_owned() } else { String::new() };
                let front = Front { inputs: vec![input], ..Front::default() };
                if shell {
                    let texts = words.iter().map(|word| text_of(&word.as_arg()));
                    self.account.open |= open;
                    self.shell(&Value::text(&texts.collect::<Vec<_>>().join(" ")), &front);
                } else {
                    self.line(&words, open, &front);
                }
            }
        }
    }

    /// A program whose words are the arguments of the call.
    pub(super) fn executes(&mut self, given: &[Argument<'n, 'c>]) {
        let mut lists = vec![Value::List(Vec::new(), false)];
        for argument in given {
            lists = both(&lists, &self.values.of(argument.value), |list, value| appended(list, value, false));
        }
        for list in &lists {
            match list {
                Value::List(words, open) => self.line(words, *open, &Front::default()),
                _ => self.account.open = true,
            }
        }
    }

    /// A program and its words. One whose program is not known may be anything.
    fn line(&mut self, words: &[Value], open: bool, front: &Front) {
        self.account.open |= words.first().is_none_or(|program| program.as_arg().known().is_none());
        let said = words.iter().flat_map(|value| match value {
            Value::List(inner, _) => inner.iter().map(word).collect(),
            other => vec![word(other)],
        });
        let more = open.then(|| "\"$more\"".to_owned());
        let line: Vec<String> = said.chain(more).collect();
        self.run(&line.join(" "), front);
    }

    /// A text that a shell reads. One of which the beginning is not known may be anything.
    pub(super) fn shell(&mut self, text: &Value, front: &Front) {
        let arg = text.as_arg();
        self.account.open |= arg.prefix().trim().is_empty();
        self.run(&text_of(&arg), front);
    }

    fn run(&mut self, line: &str, front: &Front) {
        let Front { cwd, inputs } = front;
        self.account.open |= hides_operation(line) || self.is_fed(line, front);
        let lines = inputs.iter().map(|input| Operation::Runs(format!("{cwd}{input}{line}")));
        self.account.operations.extend(lines);
    }

    /// Whether a program that obeys what it reads may be given something by another way than its own call.
    fn is_fed(&self, line: &str, front: &Front) -> bool {
        const INTERPRETERS: &[&str] = &[
            "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "node", "bun", "deno", "perl",
            "ruby", "php", "lua",
        ];
        const OBEYS: &[&str] = &[
            "xargs", "parallel", "at", "batch", "crontab", "ssh", "psql", "mysql", "sqlite3", "bc", "ed",
            "ex",
        ];
        const WAYS: &[&str] = &["stdin", "stdio", "input", "pipe", "communicate", "write"];
        let words: Vec<&str> = line.split_whitespace().map(last_name).collect();
        // With a script to run, what comes in is data.
        let bare = words.iter().rposition(|word| INTERPRETERS.contains(word)).is_some_and(|at| {
            words.get(at.saturating_add(1)..).unwrap_or_default().iter().all(|word| word.starts_with('-'))
        });
        let obeys = bare || words.first().is_some_and(|first| OBEYS.contains(first));
        if words.first() == Some(&"make") && line.contains("-f -") {
            return true;
        }
        let told = front.inputs.iter().all(|input| input.starts_with("printf"));
        let names = &self.values.names;
        let way = |name: &&str| WAYS.contains(name);
        obeys && !told && (names.members.iter().any(way) || names.loose.iter().any(way))
    }
}

/// Whether what a line does hangs on something that is not known: it stands in front of every word that says what is done.
fn hides_operation(line: &str) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let said = words.find(|word| word.contains("$x") || word.contains("$more") || !word.starts_with('-'));
    said.is_some_and(|word| word.contains("$x") || word.contains("$more"))
}

/// A value as one word of a command line.
fn word(value: &Value) -> String {
    let arg = value.as_arg();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    let quoted = |text: &str| match text {
        "" => "''".to_owned(),
        text if text.chars().all(plain) => text.to_owned(),
        text => single_quoted(text),
    };
    match (arg.known(), value) {
        (Some(path), Value::Path(_)) if path == "~" || path.starts_with("~/") => {
            let rest = path.get(1..).unwrap_or_default();
            format!("~{}", if rest.is_empty() { String::new() } else { quoted(rest) })
        }
        (Some(text), _) => quoted(text),
        (None, _) => {
            let pieces = arg.pieces.iter().map(|piece| match piece {
                Piece::Known(text) => quoted(text),
                Piece::Glob(text) => text.clone(),
                Piece::Unknown => "\"$x\"".to_owned(),
            });
            pieces.collect()
        }
    }
}

/// A text as a shell reads it.
pub(super) fn text_of(arg: &Arg) -> String {
    let pieces = arg.pieces.iter().map(|piece| match piece {
        Piece::Known(text) | Piece::Glob(text) => text.as_str(),
        Piece::Unknown => "$x",
    });
    pieces.collect()
}
