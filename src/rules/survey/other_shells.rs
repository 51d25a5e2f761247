//! Commands of PowerShell, cmd and cmake that delete, as the commands of ours that do the same, and what stands in the blocks of
//! PowerShell. Nothing else of theirs is understood.

use super::Surveyor;
use super::scope::Scope;
use super::walk::Frame;
use crate::shell::{Arg, Problem, has_running_qualifiers, parse};

/// Commands of PowerShell, and those of ours that do the same with their operands.
const OF_POWERSHELL: &[(&[&str], &str)] = &[
    (&["Move-Item"], "mv"),
    (&["Rename-Item"], "mv"),
    (&["Copy-Item"], "cp -r"),
    (&["Clear-Content", "clc"], "truncate -s 0"),
    (&["Set-Content", "Out-File", "Add-Content"], "tee"),
];

/// The words of `rm` that do what a command of another shell does; none when it is none of those.
pub(super) fn as_posix(name: &str, args: &[Arg]) -> Option<Vec<Arg>> {
    if let ("cmake", [flag, action, rest @ ..]) = (name, args)
        && flag.known() == Some("-E")
        && matches!(action.known(), Some("rm" | "remove" | "remove_directory"))
    {
        let words = [Arg::literal("rm"), Arg::literal("-rf")];
        return Some(words.into_iter().chain(rest.iter().cloned()).collect());
    }
    let of_powershell =
        OF_POWERSHELL.iter().find(|(names, _)| names.iter().any(|one| name.eq_ignore_ascii_case(one)));
    if let Some((_, front)) = of_powershell {
        let operands = args.iter().filter(|arg| !arg.prefix().starts_with('-')).cloned();
        return Some(front.split(' ').map(Arg::literal).chain(operands).collect());
    }
    let switch = |arg: &Arg, marks: &[&str]| {
        arg.known().is_some_and(|text| marks.iter().any(|mark| text.eq_ignore_ascii_case(mark)))
    };
    let (removes, recurse): (bool, &[&str]) = if name.eq_ignore_ascii_case("remove-item") || name == "ri" {
        (true, &["-recurse", "-rec", "-r"])
    } else {
        // `rmdir /s`: without the switch it is the command of the same name here.
        let is_cmd = matches!(name, "rd" | "rmdir" | "del" | "erase");
        (is_cmd && args.iter().any(|arg| switch(arg, &["/s"])), &["/s"])
    };
    if !removes {
        return None;
    }
    let flags = if args.iter().any(|arg| switch(arg, recurse)) { "-rf" } else { "-f" };
    let is_option = |arg: &Arg| {
        arg.prefix().starts_with('-') || (arg.prefix().len() == 2 && arg.prefix().starts_with('/'))
    };
    let operands = args.iter().filter(|arg| !is_option(arg)).cloned();
    Some([Arg::literal("rm"), Arg::literal(flags)].into_iter().chain(operands).collect())
}

impl Frame {
    /// Whether the text is PowerShell's.
    pub(super) fn is_powershell(&self) -> bool {
        let name = self.wrappers.last().map(|name| name.strip_suffix(".exe").unwrap_or(name));
        matches!(name, Some("pwsh" | "powershell"))
    }
}

/// Words that begin a loop over values.
const LOOPS: &[&str] = &["for", "foreach", "select", "repeat"];

/// A piece of a text without the words of conditions in front of it.
fn bare(mut part: &str) -> &str {
    const WORDS: &[&str] =
        &["if", "else", "elif", "elseif", "while", "until", "do", "then", "try", "catch", "finally", "!"];
    loop {
        part = part.trim();
        let (first, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        if !WORDS.contains(&first) {
            return part;
        }
        part = rest;
    }
}

/// What PowerShell gives a variable that is a plain text: `$x = "a"`.
fn assigned(part: &str) -> Option<(&str, &str)> {
    let (name, value) = part.strip_prefix('$')?.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))?;
    let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (named && !inner.contains(['$', '`', '"', '\''])).then_some((name, inner))
}

/// Whether a name stands in a text as a variable's only, so that no other shell gives it a value there.
fn is_only_read(source: &str, name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let own = name.bytes().any(|byte| byte.is_ascii_lowercase());
    own && source.match_indices(name).all(|(at, _)| {
        let front = source.get(..at).and_then(|text| text.chars().next_back());
        let behind = source.get(at + name.len()..).and_then(|text| text.chars().next());
        front == Some('$') || front.is_some_and(of_name) || behind.is_some_and(of_name)
    })
}

impl Surveyor<'_> {
    /// A text that bash refuses: whether another shell could run more of it than is judged.
    pub(super) fn refused(
        &mut self,
        problem: &Problem,
        (source, marked): (&str, bool),
        (scope, frame): (&Scope, &Frame),
    ) {
        let Problem::Syntax { at, what } = problem else { return };
        // Of a text that is only tried as a command nobody knows that a shell gets it.
        let own = frame.depth == 0 && !marked && self.typed;
        let refused = problem.is_left_to_the_shell() || own && self.pieces(source, scope, frame);
        let alone = self.out.problem.is_none() || self.out.unclosed;
        self.out.unclosed = alone && (frame.depth == 0 || !marked) && refused;
        self.out.problem.get_or_insert_with(|| format!("the command cannot be read: {what} at byte {at}"));
    }

    /// PowerShell's syntax is its own, but what stands in its blocks are commands.
    pub(super) fn blocks(&mut self, source: &str, scope: &Scope, frame: &Frame) {
        for part in source.split(['{', '}', ';', '\n']) {
            let part = part.trim_matches([' ', '\t', '(', ')']);
            if !part.is_empty() && self.spend(1) && parse(part).problem.is_none() {
                self.piece(part, scope, frame);
            }
        }
    }

    /// A text that bash refuses, as the commands that another shell may find in it: what stands between the signs that separate or
    /// enclose commands in any of them. Whether that is all that could be run of it.
    pub(super) fn pieces(&mut self, source: &str, scope: &Scope, frame: &Frame) -> bool {
        // What is only text stands among the lines of here-documents.
        if source.contains("<<") || has_running_qualifiers(source) {
            return false;
        }
        let mut scope = scope.clone();
        source.split(['{', '}', '(', ')', ';', '|', '&', '\n']).all(|part| {
            let part = bare(part);
            if let Some((name, value)) = assigned(part).filter(|(name, _)| is_only_read(source, name)) {
                scope.set(name, Some(value.to_owned()));
                return true;
            }
            // A loop gives its variable values: `for i (~) { … }`.
            if part.split_whitespace().next().is_some_and(|word| LOOPS.contains(&word)) && part.contains(' ')
            {
                return false;
            }
            if part.is_empty() || LOOPS.contains(&part) {
                return true;
            }
            let text = ["", "'", "\"", "`"]
                .iter()
                .map(|quote| format!("{part}{quote}"))
                .find(|text| parse(text).problem.is_none());
            let text = text.filter(|_| self.spend(1));
            if let Some(text) = &text {
                self.piece(text, &scope, frame);
            }
            text.is_some()
        })
    }

    fn piece(&mut self, text: &str, scope: &Scope, frame: &Frame) {
        let depth = frame.depth.saturating_add(1);
        self.script(&Arg::literal(text), scope.clone(), Frame { depth, ..frame.clone() });
    }
}
