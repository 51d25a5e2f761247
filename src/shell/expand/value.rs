//! The parts of a word, and the values of variables.

use super::super::parse::fragment;
use super::super::{Op, Part};
use super::fields::Fields;
use super::number::number;
use super::pattern;
use super::pieces::Pieces;
use super::{Env, Piece};

/// How deep defaults in defaults are followed.
const MAX_DEPTH: u8 = 16;

/// Variables that every session has, so that `${NAME:+word}` is the word.
const ALWAYS_SET: &[&str] = &[
    "PATH",
    "HOME",
    "PWD",
    "USER",
    "SHELL",
    "LOGNAME",
    "IFS",
    "BASH",
    "BASH_VERSION",
    "UID",
    "EUID",
    "PPID",
    "0",
    "$",
    "#",
    "?",
    "-",
    "BASHPID",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "HOSTNAME",
    "OSTYPE",
    "BASH_VERSINFO",
];

/// The command that is running, or that a trap is about.
pub(crate) const BASH_COMMAND: &str = "BASH_COMMAND";

/// What is known of a variable.
enum Value<'a> {
    Known(&'a str),
    Unknown,
    Unassigned,
}

/// One walk over the parts of a word.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub env: &'a Env,
    /// A variable that was never assigned is taken to be unset.
    pub assume_unset: bool,
    pub depth: u8,
}

impl Walk<'_> {
    pub fn parts(self, parts: &[Part], fields: &mut Fields) {
        let last_closing = parts.iter().rposition(may_close);
        for (at, part) in parts.iter().enumerate() {
            let open = last_closing.is_some_and(|last| last > at);
            match part {
                Part::Text { text, quoted: true } => fields.known(text),
                Part::Text { text, quoted: false } => {
                    let text = self.tilde(text, (at == 0, at + 1 == parts.len()), fields);
                    if self.depth == 0 || fields.is_whole() {
                        fields.pattern(text, open);
                    } else {
                        // Text of a default is split like a value.
                        fields.value(text, open);
                    }
                }
                Part::Variable { name, default, op, quoted, .. } => {
                    let variable = Variable { name, default: default.as_deref(), op, quoted: *quoted };
                    self.variable(&variable, open, fields);
                }
                Part::Arithmetic(source) => match self.number(source) {
                    Some(number) => fields.known(&number.to_string()),
                    None => fields.unknown(),
                },
                Part::Substitution { .. } | Part::Process { .. } => fields.unknown(),
            }
        }
    }

    /// What arithmetic comes to.
    fn number(self, source: &str) -> Option<i64> {
        number(source, &|name| match self.lookup(name) {
            Value::Known(value) => Some(value.to_owned()),
            Value::Unknown | Value::Unassigned => None,
        })
    }

    /// Expands a tilde at the beginning of a word (of a value also behind `:`), and gives back what follows. `place`: whether the
    /// text is the first part, and the last.
    fn tilde<'t>(self, text: &'t str, place: (bool, bool), fields: &mut Fields) -> &'t str {
        let mut text = text;
        let (first, ends) = place;
        if first {
            text = self.one_tilde(text, ends, fields);
        }
        while fields.is_whole() {
            let Some(at) = text.find(":~") else { break };
            fields.known(text.get(..=at).unwrap_or_default());
            let tail = text.get(at + 1..).unwrap_or_default();
            text = self.one_tilde(tail, ends, fields);
            if text.len() == tail.len() {
                fields.known("~");
                text = text.get(1..).unwrap_or_default();
            }
        }
        text
    }

    fn one_tilde<'t>(self, text: &'t str, ends: bool, fields: &mut Fields) -> &'t str {
        let Some(tail) = text.strip_prefix('~') else { return text };
        let stop = |c: char| c == '/' || (fields.is_whole() && c == ':');
        let end = tail.find(stop).unwrap_or(tail.len());
        if end == tail.len() && !ends {
            return text;
        }
        let name = tail.get(..end).unwrap_or_default();
        // Nobody is called so: the text stays as it is.
        if name.contains(':') {
            return text;
        }
        let home = match name {
            "" => match self.lookup("HOME") {
                Value::Known(home) => Some(home),
                Value::Unknown | Value::Unassigned => None,
            },
            "+" => match self.lookup("PWD") {
                Value::Known(cwd) => Some(cwd),
                Value::Unknown | Value::Unassigned => None,
            },
            "-" => match self.lookup("OLDPWD") {
                Value::Known(old) => Some(old),
                Value::Unknown | Value::Unassigned => None,
            },
            "root" => Some("/root"),
            _ => self.env.on_stack(name).or_else(|| self.own_home(name)),
        };
        match home {
            Some(home) => fields.known(home),
            None => fields.unknown(),
        }
        tail.get(end..).unwrap_or_default()
    }

    /// The home directory of whoever runs this, by the name.
    fn own_home(&self, name: &str) -> Option<&str> {
        let home = self.env.home.as_deref()?;
        let is_own = matches!(self.env.get("USER"), Some(Some(user)) if user == name);
        (is_own || home.rsplit('/').next() == Some(name)).then_some(home)
    }

    fn variable(self, variable: &Variable<'_>, open: bool, fields: &mut Fields) {
        let value = match self.lookup(variable.name) {
            Value::Unknown | Value::Unassigned
                if matches!(variable.op, Op::Alternative { .. }) && ALWAYS_SET.contains(&variable.name) =>
            {
                return self.word(variable.default, variable.quoted, fields);
            }
            Value::Unassigned if self.assume_unset => None,
            Value::Unknown | Value::Unassigned => return fields.unknown(),
            Value::Known(value) => Some(value),
        };
        let missing = |colon: bool| value.is_none_or(|value| colon && value.is_empty());
        match variable.op {
            Op::Default { colon } | Op::Assign { colon } if missing(*colon) => {
                self.word(variable.default, variable.quoted, fields);
            }
            Op::Alternative { colon } if missing(*colon) => self.emit("", variable, open, fields),
            Op::Alternative { .. } => self.word(variable.default, variable.quoted, fields),
            Op::Plain | Op::Default { .. } | Op::Assign { .. } | Op::Error { .. } => match value {
                Some(value) => self.emit(value, variable, open, fields),
                None => fields.unknown(),
            },
            Op::Trim { suffix, longest, pattern } => {
                let pattern = self.pattern(pattern);
                let trim = pattern::Trim { suffix: *suffix, longest: *longest };
                let cut = value.zip(pattern.as_deref()).and_then(|(value, pattern)| trim.cut(value, pattern));
                match cut {
                    Some(value) => self.emit(value, variable, open, fields),
                    None => fields.unknown(),
                }
            }
            Op::Slice(range) => match value.and_then(|value| pattern::slice(value, range)) {
                Some(value) => self.emit(&value, variable, open, fields),
                None => fields.unknown(),
            },
            Op::Change(how) => match value.and_then(|value| pattern::change(value, how)) {
                Some(value) => self.emit(&value, variable, open, fields),
                None => fields.unknown(),
            },
            Op::Indirect => match value.filter(|name| is_name(name)).map(|name| self.lookup(name)) {
                Some(Value::Known(value)) => self.emit(value, variable, open, fields),
                Some(Value::Unknown | Value::Unassigned) | None => fields.unknown(),
            },
            Op::Element(at) if variable.name == "BASH_SOURCE" && at.trim_matches(['[', ']']) == "0" => {
                match value {
                    Some(value) => self.emit(value, variable, open, fields),
                    None => fields.unknown(),
                }
            }
            Op::Element(_) | Op::Keys(_) | Op::Other => fields.unknown(),
        }
    }

    fn emit(self, value: &str, variable: &Variable<'_>, open: bool, fields: &mut Fields) {
        if !self.env.afford(value.len()) {
            fields.unknown();
        } else if variable.quoted {
            fields.known(value);
        } else {
            fields.value(value, open);
        }
    }

    /// The word of `${NAME:-word}`.
    fn word(self, source: Option<&str>, quoted: bool, fields: &mut Fields) {
        let source = source.unwrap_or_default();
        let parts = if self.depth < MAX_DEPTH && self.env.afford(source.len()) {
            fragment(source, quoted)
        } else {
            None
        };
        match parts {
            Some(parts) => {
                if quoted && parts.is_empty() {
                    fields.known("");
                }
                Walk { depth: self.depth + 1, ..self }.parts(&parts, fields);
            }
            None => fields.unknown(),
        }
    }

    /// The pattern of `${NAME#pattern}`, if all of it is known.
    fn pattern(self, source: &str) -> Option<Pieces> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let parts = fragment(source, false)?;
        let mut fields = Fields::unsplit();
        Walk { depth: self.depth + 1, ..self }.parts(&parts, &mut fields);
        let pieces = fields.finish().into_iter().next().map(|arg| arg.pieces).unwrap_or_default();
        (!pieces.contains(&Piece::Unknown)).then_some(pieces)
    }

    fn lookup(&self, name: &str) -> Value<'_> {
        // Of a script that is run it is the script's name.
        let name = if name == "BASH_SOURCE" { "0" } else { name };
        if name == "_" {
            return self.env.last.as_deref().map_or(Value::Unknown, Value::Known);
        }
        if is_dynamic(name) {
            return Value::Unknown;
        }
        if let (Some(shell), None) = (own_shell(name), self.env.get(name)) {
            return Value::Known(shell);
        }
        let preset = match self.env.get(name) {
            Some(Some(value)) => return Value::Known(value),
            Some(None) => return Value::Unknown,
            None => match name {
                "HOME" => self.env.home.as_deref(),
                "PWD" => self.env.cwd.as_deref(),
                "OLDPWD" => self.env.old.as_deref(),
                "IFS" => Some(" \t\n"),
                BASH_COMMAND => None,
                _ => return Value::Unassigned,
            },
        };
        preset.map_or(Value::Unknown, Value::Known)
    }
}

struct Variable<'a> {
    name: &'a str,
    default: Option<&'a str>,
    op: &'a Op,
    quoted: bool,
}

fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(letter) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Whether a `[` may find its `]` in this part.
fn may_close(part: &Part) -> bool {
    match part {
        Part::Text { text, quoted } => !quoted && text.contains(']'),
        Part::Variable { quoted, .. } | Part::Substitution { quoted, .. } => !quoted,
        Part::Process { .. } | Part::Arithmetic(_) => false,
    }
}

/// What the shell that is running is called by the variables that name it, where nobody gave them another value.
fn own_shell(name: &str) -> Option<&'static str> {
    match name {
        "BASH" | "SHELL" => Some("/bin/bash"),
        _ => None,
    }
}

/// Variables that the shell itself sets, whatever is assigned to them.
fn is_dynamic(name: &str) -> bool {
    let positional = name.bytes().all(|byte| byte.is_ascii_digit());
    let special = !positional && name.bytes().all(|byte| !byte.is_ascii_alphabetic());
    special
        || matches!(
            name,
            "UID"
                | "EUID"
                | "PPID"
                | "BASHPID"
                | "RANDOM"
                | "SRANDOM"
                | "SECONDS"
                | "LINENO"
                | "FUNCNAME"
                | "GROUPS"
        )
        || matches!(
            name,
            "EPOCHSECONDS" | "EPOCHREALTIME" | "HISTCMD" | "DIRSTACK" | "PIPESTATUS" | "COMP_WORDBREAKS"
        )
        || (name.starts_with("BASH") && !matches!(name, "BASH" | "BASH_ENV" | BASH_COMMAND))
        || matches!(name, "SHELLOPTS" | "OPTIND" | "OPTARG" | "REPLY")
}
