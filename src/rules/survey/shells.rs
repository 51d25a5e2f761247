//! Shells and what they are given: text in an argument, on standard input, in a file.

use super::call::Call;
use super::effects::Act;
use super::named::STDIN;
use super::options::{self, Parsed};
use super::output;
use super::scope::Scope;
use super::scope::fresh_scope;
use super::walk::Frame;
use super::{Stdin, Surveyor};
use crate::domain::{Ask, EffectKind, Severity, Target, last_name};
use crate::rules::facts::{self, Kind, Operation, Program, Role};
use crate::rules::matcher::may_be;
use crate::shell::Arg;

impl Surveyor<'_> {
    /// A shell: `-c TEXT`, a script, or what comes in.
    pub(super) fn shell(&mut self, call: &Call, program: &Program<'_>, name: &str) {
        // `+x` switches an option off.
        let is_switch = |arg: &&Arg| arg.prefix().starts_with('+') || arg.known() == Some("-O");
        let args = call.args();
        let args: Vec<Arg> = match args
            .iter()
            .take_while(|arg| arg.prefix().starts_with(['-', '+']))
            .any(|arg| is_switch(&arg))
        {
            true => args.iter().filter(|arg| !arg.prefix().starts_with('+')).cloned().collect(),
            false => args.to_vec(),
        };
        let parsed = options::parse(&args, program);
        if only_checks(name, call.args()) {
            self.emit(call, name, Some(&parsed));
            self.operation(call, &parsed, Operation::Look);
            return;
        }
        let operands = parsed.operands.as_slice();
        self.option_commands(call, &parsed, name);
        if parsed.has(&["-c"]) && parsed.has(&["--rcfile", "--init-file"]) {
            self.emit(call, name, Some(&parsed));
        }
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            if let (Role::Read, Some(value)) = (role, &flag.value) {
                self.script_file(call, value, name);
            }
        }
        if parsed.roles.contains(&Role::Shell) {
            // The option had the text with it.
            return;
        }
        if parsed.has(&["-c"]) {
            let Some((text, args)) = operands.split_first() else {
                self.emit(call, name, Some(&parsed));
                return;
            };
            if text.has_unknown() {
                self.opaque += 1;
                self.emit(call, name, Some(&parsed));
                if text.prefix().is_empty() {
                    self.unknown_code(call);
                    return;
                }
                self.operations(call, &parsed);
            }
            // The first argument behind the text is `$0`.
            self.child_script_named(call, name, (text, args.get(1..).unwrap_or_default(), args.first()));
            return;
        }
        self.emit(call, name, Some(&parsed));
        self.operations(call, &parsed);
        match operands.split_first() {
            Some((script, args)) if script.known() == Some(STDIN) => self.input_script(call, name, args),
            Some((script, args)) if !parsed.has(&["-s"]) && script.known() != Some("-") => {
                self.script_file_with(call, script, name, args);
            }
            _ => self.input_script(call, name, operands),
        }
    }

    /// What a shell runs that takes its commands from its input.
    fn input_script(&mut self, call: &Call, name: &str, args: &[Arg]) {
        if let Some(text) = &call.input {
            let mut inner = call.clone();
            inner.input = None;
            // What is left of it: not a copy of the text for each command in it.
            inner.stdin = Stdin::Pipe;
            self.child_script(&inner, name, (&text.clone(), args));
            return;
        }
        match &call.stdin {
            Stdin::File(Target::Path { path, glob: false, .. }) => self.content(call, path, name, true),
            Stdin::File(_) | Stdin::Pipe | Stdin::Text(_) => self.unknown_code(call),
            Stdin::Inherited => {}
        }
    }

    /// Commands run of which nothing is known.
    pub(super) fn unknown_code(&mut self, call: &Call) {
        self.opaque += 1;
        self.effect(call, EffectKind::SystemCommand, Target::Command(call.text.clone()), Severity::Medium);
    }

    fn child_script(&mut self, call: &Call, name: &str, (text, args): (&Arg, &[Arg])) {
        self.child_script_named(call, name, (text, args, None));
    }

    fn child_script_named(
        &mut self,
        call: &Call,
        name: &str,
        (text, args, zero): (&Arg, &[Arg], Option<&Arg>),
    ) {
        let mut scope = fresh_scope(&self.facts.places, call.cwd.clone());
        for (name, value) in std::mem::take(&mut self.passed) {
            scope.export(&name);
            scope.set(&name, value);
        }
        scope.open = std::mem::take(&mut self.lent);
        self.set_positional(&mut scope, args.to_vec());
        if let Some(zero) = zero {
            let (zero, marked) = output::freeze(zero);
            self.tainted |= marked;
            scope.env.vars.push(("0".to_owned(), Some(zero)));
        }
        self.script(text, scope, Frame::inside(call, name));
    }

    fn script_file(&mut self, call: &Call, script: &Arg, name: &str) {
        self.script_file_with(call, script, name, &[]);
    }

    fn script_file_with(&mut self, call: &Call, script: &Arg, name: &str, args: &[Arg]) {
        self.file(call, Act::Read, script, false);
        let mut inner = call.clone();
        let first = call.words.first().cloned().unwrap_or_default();
        inner.words = std::iter::once(first).chain(args.iter().cloned()).collect();
        for path in self.scripts_of(script, call) {
            self.content(&inner, &path, name, true);
        }
    }

    /// The script that an argument names; of a pattern those that the call itself wrote.
    fn scripts_of(&self, script: &Arg, call: &Call) -> Vec<String> {
        match super::paths::target(script, call.cwd.as_deref(), false) {
            Target::Path { path, glob: false, .. } => vec![path],
            Target::Path { path: pattern, .. } => {
                let mut found: Vec<String> = self.files.iter().map(|(path, _)| path.clone()).collect();
                found.retain(|path| may_be(&pattern, path));
                crate::domain::sort_by(&mut found, Ord::cmp);
                found.dedup();
                found
            }
            Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => Vec::new(),
        }
    }

    /// The text of a file that is run. `is_shell`: a shell was told to run it; else its first line says what does.
    pub(super) fn content(&mut self, call: &Call, path: &str, name: &str, is_shell: bool) {
        let path = &self.led(path.to_owned());
        let input = if path == STDIN { call.input.clone() } else { None };
        if let Some(text) = input.or_else(|| self.written(path).cloned()) {
            if is_shell || interpreter(text.prefix()).is_none_or(is_shell_name) {
                let zero = Arg::literal(path);
                self.child_script_named(call, name, (&text, call.args(), Some(&zero)));
            } else {
                self.interpreted(call, path, &text.text());
            }
            return;
        }
        self.reads_commands(call, path);
        self.opaque += usize::from(self.unread.iter().any(|other| other == path));
        if call.remote {
            return;
        }
        self.ask(Ask::Content(path.to_owned()));
        let Some(Some(text)) = self.facts.content(path) else { return };
        if self.scripts.iter().any(|other| other == path) {
            return;
        }
        let ours = match interpreter(text) {
            Some(other) => is_shell_name(other),
            None => true,
        };
        if !(ours || is_shell && !text.starts_with("#!")) {
            self.interpreted(call, path, text);
            return;
        }
        self.scripts.push(path.to_owned());
        let zero = Arg::literal(path);
        self.child_script_named(call, name, (&Arg::literal(text), call.args(), Some(&zero)));
    }

    /// The command that the first line of a script is which names no interpreter: `#!/bin/rm -rf`.
    fn interpreted(&mut self, call: &Call, path: &str, text: &str) {
        let is_plain = |name: &str| facts::find(name).is_some_and(|one| one.kind != Kind::Interpreter);
        let first = text.strip_prefix("#!").and_then(|text| text.lines().next()).unwrap_or_default();
        if !interpreter(text).is_some_and(is_plain) {
            return;
        }
        let front = first.split_ascii_whitespace().map(Arg::literal);
        let words = front.chain([Arg::literal(path)]).chain(call.args().iter().cloned()).collect();
        let mut scope = fresh_scope(&self.facts.places, call.cwd.clone());
        self.run(call.unfolded("", words), &mut scope);
    }

    /// Runs what a shell that knows `scope` runs later.
    pub(super) fn trap(&mut self, text: &Arg, scope: Scope, frame: &Frame) {
        let mut inner = frame.clone();
        inner.depth = inner.depth.saturating_add(1);
        self.script(text, scope, inner);
    }

    /// `eval`: its arguments, as a command line of the same shell.
    pub(super) fn eval(&mut self, call: &Call, scope: &mut Scope, parsed: &Parsed) {
        let text = output::join_words(&parsed.operands);
        if text.has_unknown() {
            self.opaque += 1;
            self.emit(call, "eval", Some(parsed));
        }
        if text.has_unknown() && text.prefix().trim().is_empty() {
            self.unknown_code(call);
            return;
        }
        *scope = self.script(&text, std::mem::take(scope), Frame::inside(call, "eval"));
    }

    /// `source file`: the file's text, in the same shell.
    pub(super) fn source(&mut self, call: &Call, scope: &mut Scope, parsed: &Parsed) {
        self.emit(call, parsed.program.name, Some(parsed));
        let Some(file) = parsed.operands.first() else { return };
        self.file(call, Act::Read, file, false);
        let input = Some(&call.stdin).filter(|_| file.known() == Some(STDIN) && call.input.is_none());
        let named = super::paths::target(file, call.cwd.as_deref(), false);
        let path = match (named, input) {
            (_, Some(Stdin::File(Target::Path { path, glob: false, .. }))) => path.clone(),
            (_, Some(Stdin::Pipe)) => {
                self.unknown_code(call);
                return;
            }
            (Target::Path { path, glob: false, .. }, _) => self.led(path),
            _ => {
                self.unknown_code(call);
                return;
            }
        };
        let input = if path == STDIN { call.input.clone() } else { None };
        let text = match input.or_else(|| self.written(&path).cloned()) {
            Some(text) => {
                // Whether it held something else before; a descriptor is no file.
                if !path.starts_with("/dev/") {
                    self.ask(Ask::Path(path.clone()));
                    self.ask(Ask::Content(path));
                }
                text
            }
            None if call.remote => return,
            None => {
                self.reads_commands(call, &path);
                self.opaque += usize::from(self.unread.contains(&path));
                self.ask(Ask::Content(path.clone()));
                let Some(Some(text)) = self.facts.content(&path) else { return };
                if self.scripts.contains(&path) {
                    return;
                }
                self.scripts.push(path);
                Arg::literal(text)
            }
        };
        let args = parsed.operands.get(1..).unwrap_or_default();
        let kept = scope.args.clone();
        if !args.is_empty() {
            self.set_positional(scope, args.to_vec());
        }
        *scope = self.script(&text, std::mem::take(scope), Frame::inside(call, parsed.program.name));
        if !args.is_empty() {
            self.set_positional(scope, kept);
        }
    }
}

/// Whether a program with these arguments only looks whether code could be read, and runs none of it: an option that says so in
/// front of all else, and none beside it that runs something.
pub(in crate::rules) fn only_checks(name: &str, args: &[Arg]) -> bool {
    const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish"];
    if name == "bun" {
        return args.first().and_then(Arg::known) == Some("build");
    }
    if name == "node" {
        let check = |arg: &Arg| matches!(arg.known(), Some("--check" | "-c"));
        return args.first().is_some_and(check)
            && !args.iter().skip(1).any(|arg| arg.prefix().len() > 1 && arg.prefix().starts_with('-'));
    }
    // An interactive shell and `+n` take it back.
    let letters = |arg: &&Arg| {
        arg.known().and_then(|text| text.strip_prefix('-')).is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|letter| b"nsvxeuc".contains(&letter))
        })
    };
    let front = args.iter().take_while(letters).count();
    let (front, behind) = (args.get(..front).unwrap_or_default(), args.get(front..).unwrap_or_default());
    SHELLS.contains(&name)
        && front.iter().any(|arg| arg.prefix().contains('n'))
        && !behind.first().is_some_and(|arg| arg.has_unknown() || arg.prefix().starts_with(['-', '+']))
}

/// The program that the first line of a script names.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_ascii_whitespace();
    let first = last_name(words.next()?);
    if first != "env" {
        return Some(first);
    }
    words.find(|word| !word.starts_with('-') && !word.contains('='))
}

fn is_shell_name(name: &str) -> bool {
    facts::find(name).is_some_and(|program| program.kind == Kind::Shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_name_interpreters() {
        assert_eq!(interpreter("#!/bin/sh\nls"), Some("sh"));
        assert_eq!(interpreter("#!/usr/bin/env -S bash -eu\nls"), Some("bash"));
        assert_eq!(interpreter("#!/usr/bin/env python3\n"), Some("python3"));
        assert_eq!(interpreter("ls"), None);
        assert!(is_shell_name("bash") && !is_shell_name("python3"));
    }
}
