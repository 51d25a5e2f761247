//! Programs that run a command for each thing that they find or read: find, fd, xargs, parallel.

use super::call::Call;
use super::effects::Act;
use super::expression::{self, Search};
use super::options;
use super::output;
use super::pattern;
use super::scope::Scope;
use super::walk::{Frame, unknown};
use super::{Stdin, Surveyor};
use crate::domain::{Ask, PathKind, Target};
use crate::rules::facts::{self, Program, Role};
use crate::shell::{Arg, Piece};

words!("survey/search");

/// Programs that take a whole tree by `-R`, and change nothing of what is in the files.
const MODE_SETTERS: &[&str] = &["chmod", "chgrp", "chown"];

/// Most lists in files that are remembered.
const MAX_LISTS: usize = 256;

/// Most lines that are tried one by one.
const MAX_LINES: usize = 32;

impl Surveyor<'_> {
    pub(super) fn find(&mut self, call: &Call, name: &str) {
        let search = expression::read(call.args());
        self.emit(call, name, None);
        let here = Arg::literal(".");
        let starts = if search.starts.is_empty() { vec![&here] } else { search.starts.clone() };
        for start in &starts {
            self.file(call, Act::Read, start, true);
        }
        let deletes = search.deletes && !search.empty && !expression::only_broken_links(call.args());
        for start in starts.iter().filter(|_| deletes && !call.remote) {
            if let Target::Path { path, glob: false, .. } =
                super::paths::target(start, call.cwd.as_deref(), false)
            {
                self.ask(Ask::Path(path));
            }
        }
        // A start that is a file is all that is found there.
        let (files, dirs): (Vec<&Arg>, Vec<&Arg>) =
            starts.iter().partition(|start| self.is_file(call, start));
        let mut found = found(&dirs, &search);
        found.extend(files.into_iter().cloned());
        for file in &search.writes {
            self.file(call, Act::Create, file, false);
            // `-fprint list`: a list that another command reads.
            if let (Target::Path { path, glob: false, .. }, true) =
                (super::paths::target(file, call.cwd.as_deref(), false), self.files.len() < MAX_LISTS)
            {
                self.files.push((path, one_a_line(&found)));
            }
        }
        // With what is empty nothing is lost.
        if deletes {
            for arg in &found {
                self.file(call, Act::Delete, arg, false);
            }
        }
        for words in &search.commands {
            // A directory with something in it stays where it is.
            if search.empty && words.first().and_then(Arg::known) == Some("rmdir") {
                continue;
            }
            let inner = call.unfolded(name, over_trees(fill(words, &found, false)));
            let mut scope = super::scope::fresh_scope(&self.facts.places, call.cwd.clone());
            self.run(inner, &mut scope);
        }
    }

    /// Whether a search starts from a file.
    fn is_file(&self, call: &Call, start: &Arg) -> bool {
        let target = super::paths::target(start, call.cwd.as_deref(), false);
        self.facts.path(target.text()).is_some_and(|fact| fact.kind == PathKind::File)
    }

    /// `fd PATTERN [DIR…] -x CMD`.
    pub(super) fn fd(&mut self, call: &Call, scope: &mut Scope, program: &Program<'_>) {
        let is_exec = |arg: &Arg| matches!(arg.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
        let at = call.args().iter().position(is_exec);
        let (own, command) = match at {
            Some(at) => {
                (call.args().get(..at).unwrap_or_default(), call.args().get(at + 1..).unwrap_or_default())
            }
            None => (call.args(), [].as_slice()),
        };
        let parsed = options::parse(own, program);
        self.emit(call, program.name, Some(&parsed));
        self.operations(call, &parsed);
        let starts = parsed.operands.get(1..).unwrap_or_default();
        for start in starts {
            self.file(call, Act::Read, start, true);
        }
        // Of directories that are empty nothing is lost.
        let empties = matches!(parsed.value(&["-t", "--type"]).and_then(Arg::known), Some("e" | "empty"))
            && command.first().and_then(Arg::known) == Some("rmdir");
        if command.is_empty() || empties {
            return;
        }
        let found = found_by_fd(&parsed);
        let inner = call.unfolded(program.name, over_trees(fill(command, &found, true)));
        let mut child = scope.clone();
        self.run(inner, &mut child);
    }

    pub(super) fn xargs(&mut self, call: &Call, scope: &Scope, program: &Program<'_>) {
        let parsed = options::parse(call.args(), program);
        self.emit(call, program.name, Some(&parsed));
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            if let (Role::Read, Some(value)) = (role, &flag.value) {
                self.file(call, Act::Read, value, false);
            }
        }
        if parsed.operands.is_empty() {
            return;
        }
        // With a list of its own it leaves what comes down the pipe alone.
        let mut call = call.clone();
        if parsed.has(&["-a", "--arg-file"]) {
            let list = parsed.value(&["-a", "--arg-file"]);
            (call.input, call.stdin) = (list.and_then(|list| self.listed_in(&call, list)), Stdin::Inherited);
        }
        let by_line = parsed.value(&["-d", "--delimiter"]).is_some();
        let items = self.items(&call, parsed.has(&["-0", "--null"]) || by_line);
        let mark = match parsed.value(&["-I"]).or_else(|| parsed.value(&["-i", "--replace"])) {
            Some(mark) => Some(mark.to_text()),
            None => parsed.has(&["-i", "--replace"]).then(|| "{}".to_owned()),
        };
        let ways: Vec<Vec<Arg>> = match mark {
            Some(mark) => {
                let lines = lines(call.input.as_ref());
                lines
                    .iter()
                    .map(|line| replace(&parsed.operands, &mark, std::slice::from_ref(line)))
                    .collect()
            }
            None => vec![parsed.operands.iter().cloned().chain(items).collect()],
        };
        for words in ways {
            let mut inner = call.unfolded(program.name, over_trees(words));
            inner.input = None;
            let mut child = scope.clone();
            self.run(inner, &mut child);
        }
    }

    pub(super) fn parallel(&mut self, call: &Call, scope: &Scope, program: &Program<'_>) {
        let parsed = options::parse(call.args(), program);
        self.emit(call, program.name, Some(&parsed));
        let is_mark = |arg: &Arg| matches!(arg.known(), Some(":::" | "::::" | ":::+" | "::::+"));
        let at = parsed.operands.iter().position(is_mark).unwrap_or(parsed.operands.len());
        let words = parsed.operands.get(..at).unwrap_or_default();
        let given: Vec<Arg> = parsed
            .operands
            .get(at..)
            .unwrap_or_default()
            .iter()
            .filter(|arg| !is_mark(arg))
            .cloned()
            .collect();
        let listed = match parsed.operands.get(at).and_then(Arg::known) {
            Some("::::" | "::::+") => given.first(),
            _ => parsed.value(&["-a", "--arg-file"]),
        };
        let items = match listed.and_then(|list| self.listed_in(call, list)) {
            Some(input) => self.items(&Call { input: Some(input), ..call.clone() }, false),
            None if given.is_empty() => self.items(call, false),
            None => given,
        };
        if words.is_empty() {
            // Without a command, each line is one.
            let given = if at < parsed.operands.len() { items } else { lines(call.input.as_ref()) };
            for line in &given {
                self.nested(call, program.name, line);
            }
            return;
        }
        let mut frame = Frame::inside(call, program.name);
        if let (true, [.., flag]) = (at < parsed.operands.len(), words)
            && flag.known() == Some("-c")
        {
            // `parallel sh -c ::: TEXT`: it quotes what it fills in.
            for text in &items {
                self.nested(call, program.name, text);
            }
            return;
        }
        let piped = parsed.has(&["--pipe", "--spreadstdin"]);
        let items = if piped { Vec::new() } else { items };
        let mut text = output::join_words(&fill(words, &items, true));
        if text.known().is_none() && text.pieces.is_empty() {
            text = unknown();
        }
        let env = scope.child_env(call.cwd.as_deref());
        if !piped {
            frame.input = None;
        }
        self.script(&text, Scope { env, ..Scope::default() }, frame);
    }

    /// What comes in, word by word; one unknown word where that is not known.
    fn items(&self, call: &Call, by_null: bool) -> Vec<Arg> {
        let Some(text) = &call.input else { return vec![unknown()] };
        let is_end =
            |c: char| if by_null { matches!(c, '\0' | '\n') } else { c == '\0' || c.is_ascii_whitespace() };
        let mut items = vec![Arg::default()];
        for piece in &text.pieces {
            let Piece::Known(text) = piece else {
                if let Some(last) = items.last_mut() {
                    last.pieces.push(piece.clone());
                }
                continue;
            };
            if let (false, Some(words)) = (by_null, super::channels::quoted_items(text)) {
                items.extend(words.iter().map(|word| Arg::literal(word)));
                continue;
            }
            for (at, part) in text.split(is_end).enumerate() {
                if at > 0 {
                    items.push(Arg::default());
                }
                let part = if by_null { part } else { part.trim_matches(['\'', '"']) };
                if let (Some(last), false) = (items.last_mut(), part.is_empty()) {
                    output::append(last, &Arg::literal(part));
                }
            }
        }
        items.retain(|item| !item.pieces.is_empty());
        items
    }
}

/// What comes in, line by line; one unknown line where that is not known, or too long.
pub(super) fn lines(input: Option<&Arg>) -> Vec<Arg> {
    let Some(text) = input else { return vec![unknown()] };
    let mut lines = vec![Arg::default()];
    for piece in &text.pieces {
        let Piece::Known(text) = piece else {
            if let Some(last) = lines.last_mut() {
                last.pieces.push(piece.clone());
            }
            continue;
        };
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                lines.push(Arg::default());
            }
            if let (Some(last), false) = (lines.last_mut(), part.is_empty()) {
                output::append(last, &Arg::literal(part));
            }
        }
    }
    lines.retain(|line| !line.pieces.is_empty());
    if lines.len() > MAX_LINES { vec![unknown()] } else { lines }
}

/// What `fd` can find, as arguments.
fn found_by_fd(parsed: &options::Parsed) -> Vec<Arg> {
    let here = Arg::literal(".");
    let starts = parsed.operands.get(1..).unwrap_or_default();
    let starts: Vec<&Arg> = if starts.is_empty() { vec![&here] } else { starts.iter().collect() };
    if let Some(end) = parsed.value(&["-e", "--extension"]).and_then(Arg::known) {
        return starts.iter().map(|start| below(start, &Arg::literal(&format!("*.{end}")))).collect();
    }
    match parsed.operands.first() {
        Some(name) if parsed.has(&["-g", "--glob"]) && !parsed.has(&["-p", "--full-path"]) => {
            starts.iter().map(|start| below(start, name)).collect()
        }
        Some(name) if !parsed.has(&["-p", "--full-path", "-F", "--fixed-strings"]) => {
            let names = pattern::of_names(name.known().unwrap_or_default());
            let each = |start: &&Arg| -> Vec<Arg> {
                if names.is_empty() {
                    return vec![everything(start)];
                }
                names.iter().map(|name| below(start, &Arg::literal(name))).collect()
            };
            starts.iter().flat_map(each).collect()
        }
        Some(_) | None => starts.iter().map(|start| everything(start)).collect(),
    }
}

/// What `fd` prints, as far as that is known: one pattern per line.
pub(super) fn printed_by_fd(args: &[Arg]) -> Option<Arg> {
    let program = facts::find("fd")?;
    let parsed = options::parse(args, program);
    if parsed.has(FD_ELSEWHERE) {
        return None;
    }
    Some(one_a_line(&found_by_fd(&parsed)))
}

fn one_a_line(found: &[Arg]) -> Arg {
    let mut out = Arg::default();
    for arg in found {
        output::append(&mut out, arg);
        output::append(&mut out, &Arg::literal("\n"));
    }
    out
}

/// What a search prints, as far as that is known: one pattern per line.
pub(super) fn printed(args: &[Arg]) -> Option<Arg> {
    let prints_more =
        |arg: &Arg| matches!(arg.known(), Some("-printf" | "-ls" | "-print0" | "-exec" | "-execdir" | "-ok"));
    if args.iter().any(|arg| prints_more(arg) && arg.known() != Some("-print0")) {
        return None;
    }
    let search = expression::read(args);
    let here = Arg::literal(".");
    let starts = if search.starts.is_empty() { vec![&here] } else { search.starts.clone() };
    Some(one_a_line(&found(&starts, &search)))
}

/// What a search can find, as arguments: `start/**/name` for each name, or `start/**`.
fn found(starts: &[&Arg], search: &Search<'_>) -> Vec<Arg> {
    let limited = !search.names.is_empty() && !search.wide;
    let mut out = Vec::new();
    for start in starts {
        if limited {
            out.extend(search.names.iter().map(|name| below(start, name)));
        } else {
            out.push(everything(start));
        }
    }
    out
}

/// All below a directory.
fn everything(start: &Arg) -> Arg {
    let mut arg = start.clone();
    if !start.text().ends_with('/') {
        output::append(&mut arg, &Arg::literal("/"));
    }
    arg.pieces.push(Piece::Glob("**".to_owned()));
    arg
}

/// `find . -exec chmod 755 {} +` does what `chmod -R 755 .` does: not to each file by its name, but to a tree.
fn over_trees(mut words: Vec<Arg>) -> Vec<Arg> {
    let sets = words.first().and_then(Arg::known).is_some_and(|name| MODE_SETTERS.contains(&name));
    if !sets {
        return words;
    }
    let mut trees = false;
    for word in &mut words {
        if let [front @ .., Piece::Glob(all)] = word.pieces.as_slice()
            && all == "**"
            && word.prefix().ends_with('/')
        {
            word.pieces = front.to_vec().into();
            trees = true;
        }
    }
    if trees {
        words.insert(1, Arg::literal("-R"));
    }
    words
}

/// Things of that name anywhere below a directory.
fn below(start: &Arg, name: &Arg) -> Arg {
    let mut arg = everything(start);
    output::append(&mut arg, &Arg::literal("/"));
    for piece in &name.pieces {
        match piece {
            // A pattern is a pattern, quoted or not.
            Piece::Known(text) if text.contains(['*', '?', '[']) => {
                arg.pieces.push(Piece::Glob(text.clone()))
            }
            Piece::Known(_) | Piece::Glob(_) | Piece::Unknown => arg.pieces.push(piece.clone()),
        }
    }
    arg
}

/// A command with `{}` filled in; `append`: what was found comes last where there is no `{}`.
fn fill(words: &[Arg], found: &[Arg], append: bool) -> Vec<Arg> {
    let has_mark = words.iter().any(|word| word.text().contains("{}"));
    let mut out = replace(words, "{}", found);
    if !has_mark && append {
        out.extend(found.iter().cloned());
    }
    out
}

/// A command with a mark replaced by each item (where the mark is the whole word) or something unknown.
fn replace(words: &[Arg], mark: &str, items: &[Arg]) -> Vec<Arg> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let text = word.text();
        if text == mark {
            out.extend(items.iter().cloned());
        } else if !mark.is_empty() && text.contains(mark) {
            let item = match items {
                [one] => one.clone(),
                _ => unknown(),
            };
            out.push(filled(word, mark, &item));
        } else {
            out.push(word.clone());
        }
    }
    out
}

fn filled(word: &Arg, mark: &str, item: &Arg) -> Arg {
    let mut out = Arg::default();
    for piece in &word.pieces {
        match piece {
            Piece::Known(text) => {
                for (at, part) in text.split(mark).enumerate() {
                    if at > 0 {
                        output::append(&mut out, item);
                    }
                    output::append(&mut out, &Arg::literal(part));
                }
            }
            Piece::Glob(_) | Piece::Unknown => out.pieces.push(piece.clone()),
        }
    }
    out
}
