//! Names that are given another meaning: aliases, places of programs that the shell has noted, functions in the environment.

use super::Surveyor;
use super::call::Call;
use super::output;
use super::scope::Scope;
use super::walk::Frame;
use crate::shell::{Arg, Op, Part, Piece, Simple, Word, expand_defaults};

impl Surveyor<'_> {
    /// `alias NAME=TEXT`, and `hash -p PROGRAM NAME`.
    pub(super) fn alias(&mut self, call: &Call, scope: &Scope) {
        if let ("hash", [flag, program, names @ ..]) =
            (call.words.first().map_or("", Arg::prefix), call.args())
        {
            let names = names.iter().filter(|_| flag.known() == Some("-p")).filter_map(Arg::known);
            self.aliases.extend(names.map(|name| (name.to_owned(), vec![program.clone()])));
            return;
        }
        if let ("hash", Some((first, names))) =
            (call.words.first().map_or("", Arg::prefix), call.args().split_first())
            && let Some(program) = first.known().and_then(|text| text.strip_prefix("-p"))
        {
            let names = names.iter().filter_map(Arg::known);
            let program = Arg::literal(program);
            self.aliases.extend(names.map(|name| (name.to_owned(), vec![program.clone()])));
            return;
        }
        for arg in call.args() {
            let Some((name, _)) = arg.prefix().split_once('=') else { continue };
            let value = super::options::after(arg, name.len() + 1).unwrap_or_default();
            self.define_alias(scope, name, value);
        }
    }

    /// A word that stands for a command line.
    fn define_alias(&mut self, scope: &Scope, name: &str, value: Arg) {
        if let Some(text) = value.known() {
            let words = crate::shell::parse(text).commands.first().map(|simple| {
                simple
                    .words
                    .iter()
                    .flat_map(|word: &Word| expand_defaults(word, &scope.env))
                    .collect::<Vec<_>>()
            });
            self.aliases.push((name.to_owned(), words.unwrap_or_default()));
            // What it stands for may be more than one command.
            self.traps.push(value);
        }
    }

    /// Variables that hold commands, put in front of a command (`GIT_PAGER=… git log`, `env EDITOR=… git commit`).
    pub(super) fn assigned_words(&mut self, scope: &mut Scope, word: &Arg) -> bool {
        let text = word.prefix();
        let Some((name, _)) = text.split_once('=') else { return false };
        let value = super::options::after(word, name.len() + 1).unwrap_or_default();
        if let Some(function) = function_of(name) {
            let mut text = Arg::literal(&format!("{function} "));
            output::append(&mut text, &value);
            self.script(&text, scope.clone(), Frame::top());
            return true;
        }
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        self.obeyed(name, &value);
        let (value, marked) = output::freeze(&value);
        self.tainted |= marked;
        scope.set(name, Some(value));
        scope.export(name);
        true
    }

    /// The element of an array by which the shell itself looks names up.
    pub(super) fn named_anew(&mut self, scope: &Scope, array: &str, key: &str, value: &Arg) {
        let key = key.trim_matches(['"', '\'']);
        match array {
            "BASH_ALIASES" => self.define_alias(scope, key, value.clone()),
            "BASH_CMDS" => self.aliases.push((key.to_owned(), vec![value.clone()])),
            _ => {}
        }
    }
}

/// The name of the function that a variable of the environment defines for `bash`, as the head of its definition.
fn function_of(variable: &str) -> Option<&str> {
    let name = variable.strip_prefix("BASH_FUNC_")?;
    name.strip_suffix("%%").or_else(|| name.strip_suffix("()"))
}

/// Whether a command's word is the name of the shell that runs it: `$0`, `"${0##*/}"`.
pub(super) fn names_shell(simple: &Simple) -> bool {
    let word = simple.words.first().map(|word| word.parts.as_slice());
    matches!(word, Some([Part::Variable { name, op: Op::Plain | Op::Trim { .. }, .. }]) if name == "0")
}

/// Whether a word names the program of a process that runs, which to a command line is its shell: `/proc/self/exe`.
pub(super) fn is_running_shell(word: &Arg) -> bool {
    let process = |text: &str| {
        let inside = text.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/exe"));
        inside.is_some_and(|process| !process.is_empty() && !process.contains('/'))
    };
    match word.pieces.as_slice() {
        [Piece::Known(text)] => process(text),
        [Piece::Known(_), ..] => process(&word.text()),
        _ => false,
    }
}
