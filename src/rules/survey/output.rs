//! What a command is known to print before it runs, and values of variables of which a part is not known.

use super::call::Call;
use super::itself;
use super::located::{cache, mktemp};
use super::printf::{printf, unescape};
use crate::domain::{Facts, join, last_name, split_name};
use crate::shell::{Arg, Piece};

/// In the value of a variable: here is something unknown.
const UNKNOWN: char = '\u{f8ff}';
/// In the value of a variable: a glob begins, and ends.
const GLOB: char = '\u{f8fe}';
const GLOB_END: char = '\u{f8fd}';

/// Longest text that is followed from one command to another, in bytes.
pub(super) const MAX: usize = 64 * 1024;

/// An argument as the value of a variable, with marks that [`revive`] understands. True: there are marks in it.
pub(super) fn freeze(arg: &Arg) -> (String, bool) {
    let mut out = String::new();
    let mut marked = false;
    for piece in &arg.pieces {
        match piece {
            Piece::Known(text) => out.push_str(text),
            Piece::Glob(text) => {
                out.push(GLOB);
                out.push_str(text);
                out.push(GLOB_END);
                marked = true;
            }
            Piece::Unknown => {
                out.push(UNKNOWN);
                marked = true;
            }
        }
    }
    (out, marked)
}

/// Whether a text holds marks of ours.
pub(super) fn is_marked(text: &str) -> bool {
    // All three begin with this byte, which nearly no text holds.
    text.as_bytes().contains(&0xef) && text.contains([UNKNOWN, GLOB, GLOB_END])
}

/// A source text as people are shown it.
pub(super) fn shown(text: String) -> String {
    if !is_marked(&text) {
        return text;
    }
    text.replace(UNKNOWN, "…").replace([GLOB, GLOB_END], "")
}

/// Turns marks in the text of an argument back into what they stand for.
pub(super) fn revive(arg: Arg) -> Arg {
    if !arg
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Known(text) | Piece::Glob(text) if is_marked(text)))
    {
        return arg;
    }
    let mut out = Arg::default();
    let mut in_glob = false;
    for piece in &arg.pieces {
        let (text, is_glob) = match piece {
            Piece::Known(text) => (text, false),
            Piece::Glob(text) => (text, true),
            Piece::Unknown => {
                out.pieces.push(Piece::Unknown);
                continue;
            }
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let found = next_mark(rest);
            let (text, tail) = rest.split_at_checked(found.unwrap_or(rest.len())).unwrap_or((rest, ""));
            push(&mut out, text, is_glob || in_glob);
            let mut tail = tail.chars();
            match tail.next() {
                // Two unknown texts in a row are one; else variables that hold each other twice double them.
                Some(UNKNOWN) if matches!(out.pieces.last(), Some(Piece::Unknown)) => {}
                Some(UNKNOWN) => out.pieces.push(Piece::Unknown),
                Some(mark) => in_glob = mark == GLOB,
                None => {}
            }
            rest = tail.as_str();
        }
    }
    out
}

/// Where the next mark of ours stands. A value may be nothing but marks, tens of thousands of them.
fn next_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|byte| *byte == 0xef)?;
        if matches!(bytes.get(at + 1..at + 3), Some([0xa3, 0xbd..=0xbf])) {
            return Some(at);
        }
        from = at + 1;
    }
}

pub(super) fn push(out: &mut Arg, text: &str, is_glob: bool) {
    if text.is_empty() {
        return;
    }
    match (out.pieces.last_mut(), is_glob) {
        (Some(Piece::Known(last)), false) | (Some(Piece::Glob(last)), true) => last.push_str(text),
        (_, false) => out.pieces.push(Piece::Known(text.to_owned())),
        (_, true) => out.pieces.push(Piece::Glob(text.to_owned())),
    }
}

/// Adds an argument to another.
pub(super) fn append(out: &mut Arg, more: &Arg) {
    for piece in &more.pieces {
        match piece {
            Piece::Known(text) => push(out, text, false),
            Piece::Glob(text) => push(out, text, true),
            Piece::Unknown => out.pieces.push(Piece::Unknown),
        }
    }
}

/// Arguments joined by blanks.
pub(super) fn join_words(words: &[Arg]) -> Arg {
    let mut out = Arg::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            push(&mut out, " ", false);
        }
        append(&mut out, word);
    }
    out
}

/// The words that an unquoted value is split into; what is a sign of patterns in it is one then.
pub(super) fn split(arg: &Arg) -> Vec<Arg> {
    split_at(arg, " \t\n")
}

/// The same, where the shell splits at other signs.
pub(super) fn split_at(arg: &Arg, separators: &str) -> Vec<Arg> {
    let mut words = Vec::new();
    let mut word = Arg::default();
    for piece in &arg.pieces {
        let (text, is_glob) = match piece {
            Piece::Known(text) => (text, false),
            Piece::Glob(text) => (text, true),
            Piece::Unknown => {
                word.pieces.push(Piece::Unknown);
                continue;
            }
        };
        for (at, run) in text.split(|c| separators.contains(c)).enumerate() {
            if at > 0 && !word.pieces.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            let mut rest = run;
            while let Some(at) = rest.find(['*', '?']).filter(|_| !is_glob) {
                push(&mut word, rest.get(..at).unwrap_or_default(), false);
                push(&mut word, rest.get(at..=at).unwrap_or_default(), true);
                rest = rest.get(at + 1..).unwrap_or_default();
            }
            push(&mut word, rest, is_glob);
        }
    }
    if !word.pieces.is_empty() {
        words.push(word);
    }
    words
}

/// The variable that `printf -v NAME` prints into, and its value where that is known.
pub(super) fn printed_into(call: &Call) -> Option<(String, Option<Arg>)> {
    let ("printf", [flag, name, rest @ ..]) = (call.words.first()?.known()?, call.args()) else {
        return None;
    };
    (flag.known() == Some("-v")).then_some(())?;
    Some((name.known()?.to_owned(), printf(rest)))
}

pub(super) fn size(arg: &Arg) -> usize {
    let size = |piece: &Piece| match piece {
        Piece::Known(text) | Piece::Glob(text) => text.len(),
        Piece::Unknown => 1,
    };
    arg.pieces.iter().map(size).sum()
}

/// What a command prints, where that is known.
pub(super) fn of(call: &Call, facts: &Facts, files: &[(String, Arg)]) -> Option<Arg> {
    /// Where the programs that are known here lie.
    const DIRS: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    let word = call.words.first()?.known()?;
    let name = match split_name(word) {
        Some((dir, name)) if DIRS.contains(&dir) => name,
        Some(_) => return None,
        None => word,
    };
    let out = match name {
        "echo" => echo(call.args()),
        "printf" => printf(call.args()),
        "cat" if call.args().iter().all(|arg| arg.known() == Some("-")) => call.input.clone(),
        "cat" => cat(call, files),
        "comm" => {
            let first = call.args().iter().find(|arg| !arg.prefix().starts_with('-'))?.clone();
            cat(&Call { words: vec![Arg::literal("cat"), first], ..call.clone() }, files)
        }
        "which" => found(call, facts),
        "type" if matches!(call.args().first().and_then(Arg::known), Some("-P" | "-p")) => found(call, facts),
        "command" if call.args().first().and_then(Arg::known) == Some("-v") => found(call, facts),
        "tee" | "sponge" => call.input.clone(),
        "dd" if files.iter().any(|(path, _)| dd_reads(call, path)) => {
            files.iter().rev().find(|(path, _)| dd_reads(call, path)).map(|(_, text)| text.clone())
        }
        "dd" if !call.args().iter().any(|arg| arg.prefix().starts_with("if=")) => call.input.clone(),
        "head" | "tail" | "sort" | "uniq" => lines_of(name, call),
        "cd" | "true" | ":" | "export" | "set" | "mkdir" => Some(Arg::default()),
        "tr" if is(call, &["\\n", "\\0"]) || is(call, &["\\n", "\\000"]) => call.input.clone(),
        "sqlite3" => call.args().iter().find_map(files_of_query),
        "base64" | "openssl" | "rev" | "tr" | "xxd" => super::decoders::decoded(name, call),
        "sed" | "gsed" => super::filters::edited(call),
        "cut" => super::filters::pieces(call),
        "ls" => listed(call.args()).or_else(|| names(call)),
        _ if itself::is_asked(call) => Some(Arg::literal(&format!("/usr/bin/{name}"))),
        "grep" | "egrep" | "fgrep" => matching(call.args()),
        "find" | "gfind" => super::search::printed(call.args()),
        "fd" | "fdfind" => super::search::printed_by_fd(call.args()),
        "pwd" => call.cwd.as_deref().map(Arg::literal),
        "mktemp" => mktemp(call, facts),
        "dirname" | "basename" | "realpath" | "readlink" => path(name, call),
        "git" if is(call, &["rev-parse", "--show-toplevel"]) => {
            facts.places.repo.as_deref().map(Arg::literal)
        }
        "npm" if is(call, &["root"]) => Some(Arg::literal(&join(call.cwd.as_deref()?, "node_modules"))),
        "go" | "npm" | "pip" | "pip3" | "uv" | "yarn" | "pnpm" | "bun" | "brew" | "poetry" | "pipenv"
        | "bazel" => cache(name, call, facts),
        "whoami" => facts.places.user.as_deref().map(Arg::literal),
        _ => None,
    };
    out.filter(|out| size(out) <= MAX)
}

/// `dd if=FILE`
fn dd_reads(call: &Call, path: &str) -> bool {
    let named = |arg: &Arg| {
        let file = arg.known().and_then(|text| text.strip_prefix("if="));
        file.zip(call.cwd.as_deref()).is_some_and(|(file, cwd)| join(cwd, file) == path)
    };
    call.args().iter().any(named)
}

pub(super) fn is(call: &Call, words: &[&str]) -> bool {
    call.args().len() == words.len()
        && call.args().iter().zip(words).all(|(arg, word)| arg.known() == Some(*word))
}

/// The lines of what comes in: the first or last where only that one is wanted, else all of them.
fn lines_of(name: &str, call: &Call) -> Option<Arg> {
    let is_count = |arg: &Arg| {
        let text = arg.known().unwrap_or(" ");
        text.starts_with('-') && !text.contains(['o', 'c']) || text.parse::<u32>().is_ok()
    };
    if !call.args().iter().all(is_count) {
        return None;
    }
    let args: Vec<&str> = call.args().iter().filter_map(Arg::known).collect();
    let one = matches!(args.as_slice(), ["-1" | "-n1"] | ["-n", "1"]);
    let input = call.input.as_ref()?;
    // Of the names in a directory some are wanted, and which is not known.
    if matches!(input.pieces.as_slice(), [Piece::Glob(names)] if names == "*")
        && matches!(name, "head" | "tail")
    {
        return None;
    }
    match (name, one) {
        ("head", true) => super::search::lines(Some(input)).into_iter().next(),
        ("tail", true) => super::search::lines(Some(input)).pop(),
        _ => Some(input.clone()),
    }
}

/// `sqlite3 :memory: "select name from fsdir('DIR')"`: all below a directory.
fn files_of_query(arg: &Arg) -> Option<Arg> {
    let text = arg.known()?;
    let bare = text.trim_start().get(..11)?.eq_ignore_ascii_case("select name");
    let dir = text.split_once("fsdir('")?.1.split('\'').next()?;
    let front = Piece::Known(format!("{}/", dir.trim_end_matches('/')));
    bare.then(|| Arg { pieces: vec![front, Piece::Glob("**".to_owned())].into() })
}

/// `cat` of files that the call itself wrote.
fn cat(call: &Call, files: &[(String, Arg)]) -> Option<Arg> {
    let mut whole = Arg::default();
    for arg in call.args() {
        let path = join(call.cwd.as_deref()?, arg.known()?);
        append(&mut whole, &files.iter().rev().find(|(other, _)| *other == path)?.1);
    }
    Some(whole)
}

/// Where the one program asked for is found: a protected place of that name, else where programs mostly lie.
fn found(call: &Call, facts: &Facts) -> Option<Arg> {
    let mut operands = call.args().iter().filter(|arg| !arg.prefix().starts_with('-'));
    let name = operands.next()?.known().filter(|name| !name.is_empty() && !name.contains('/'))?;
    if operands.next().is_some() {
        return None;
    }
    let ours = facts.places.protected.iter().map(|place| place.path.as_str());
    let ours = ours.filter(|path| path.rsplit('/').next() == Some(name)).find(|path| path.contains("/bin/"));
    Some(ours.map_or_else(|| Arg::literal(&format!("/usr/bin/{name}")), Arg::literal))
}

/// Options of `ls` that change no name: in which order, one to a line, the directories themselves.
fn is_order(arg: &Arg) -> bool {
    let letters = arg.known().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|c| matches!(c, '1' | 'd' | 't' | 'r' | 'S' | 'v'))
}

/// `ls PATTERN`: what the pattern finds. Of a directory's content the names are not known.
fn listed(args: &[Arg]) -> Option<Arg> {
    let mut operands = args.iter().filter(|arg| !is_order(arg));
    let whole = args.iter().filter(|arg| is_order(arg)).any(|arg| arg.prefix().contains('d'));
    let first = operands.next()?;
    let Some(second) = operands.next() else {
        return (first.has_glob() || whole && first.known().is_some()).then(|| first.clone());
    };
    // Several: each named by itself, and none of them looked into.
    let all: Option<Vec<Arg>> = [first, second]
        .into_iter()
        .chain(operands)
        .map(|arg| (whole && (arg.has_glob() || arg.known().is_some())).then(|| arg.clone()))
        .collect();
    all.map(|all| join_words(&all))
}

/// `ls DIRECTORY | …`: names in whatever directory the next command of the pipeline works.
fn names(call: &Call) -> Option<Arg> {
    let plain = |arg: &Arg| {
        let letters = arg.known().and_then(|text| text.strip_prefix('-')).unwrap_or("-");
        letters.chars().all(|c| matches!(c, '1' | 'A' | 'a' | 't' | 'r' | 'S' | 'v' | 'U'))
    };
    let dirs = call.args().iter().filter(|arg| !plain(arg));
    let one = dirs.clone().count() < 2 && { dirs }.all(|dir| !dir.prefix().starts_with('-'));
    (call.piped && one).then(|| Arg { pieces: vec![Piece::Glob("*".to_owned())].into() })
}

/// `grep -l PATTERN FILES`: at most the files that it is given. Of a tree only some are meant, and which is not known.
fn matching(args: &[Arg]) -> Option<Arg> {
    const LETTERS: &str = "lLiswxEFGPn";
    let is_flag = |arg: &&Arg| arg.known().is_some_and(|text| text.len() > 1 && text.starts_with('-'));
    let plain = |arg: &Arg| {
        let letters = arg.known().and_then(|text| text.strip_prefix('-')).unwrap_or("-");
        letters.chars().all(|c| LETTERS.contains(c))
    };
    let flags = || args.iter().filter(is_flag);
    let lists = flags().any(|arg| arg.prefix().contains(['l', 'L']));
    let files: Vec<Arg> = args.iter().filter(|arg| !is_flag(arg)).skip(1).cloned().collect();
    let known = files.iter().all(|arg| arg.has_glob() || arg.known().is_some());
    (lists && flags().all(plain) && known && !files.is_empty()).then(|| join_words(&files))
}

fn echo(args: &[Arg]) -> Option<Arg> {
    let mut escapes = false;
    let mut rest = args;
    while let Some((first, tail)) = rest.split_first() {
        let Some(flag) = first.known().and_then(|text| text.strip_prefix('-')) else { break };
        if flag.is_empty() || !flag.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        escapes |= flag.contains('e');
        rest = tail;
    }
    let mut out = join_words(rest);
    if escapes {
        for piece in &mut out.pieces {
            if let Piece::Known(text) = piece {
                *text = unescape(text);
            }
        }
    }
    Some(out)
}

/// Base64, as far as it is; one text may stand behind another.
pub(in crate::rules) fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                (bits, count) = (0, 0);
                continue;
            }
            _ => continue,
        };
        bits = ((bits & 0xff_ffff) << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.extend(u8::try_from((bits >> count) & 0xff));
        }
    }
    out
}

fn path(name: &str, call: &Call) -> Option<Arg> {
    let mut operands = call.args().iter().filter(|arg| !arg.prefix().starts_with('-'));
    let (Some(operand), None) = (operands.next(), operands.next()) else { return None };
    let text = operand.known()?;
    let trimmed = text.trim_end_matches('/');
    let out = match name {
        "basename" => last_name(trimmed).to_owned(),
        "dirname" => match trimmed.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((dir, _)) => dir.to_owned(),
            None if text.starts_with('/') => "/".to_owned(),
            None => ".".to_owned(),
        },
        _ => join(call.cwd.as_deref()?, text),
    };
    Some(Arg::literal(&out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_as_chars_are() {
        for text in [
            "",
            "a",
            "ö\u{f8fc}\u{f900}",
            "x\u{ef}\u{f8fe}b",
            "\u{f8fd}",
            "ab\u{f8ff}\u{f8ff}",
            "\u{f8fc}\u{f8fd}",
        ] {
            assert_eq!(next_mark(text), text.find([UNKNOWN, GLOB, GLOB_END]), "{text:?}");
        }
    }

    #[test]
    fn marks_come_back() {
        let arg = Arg {
            pieces: vec![
                Piece::Known("/a/".into()),
                Piece::Unknown,
                Piece::Known("/".into()),
                Piece::Glob("*".into()),
            ]
            .into(),
        };
        let (text, marked) = freeze(&arg);
        assert!(marked);
        assert_eq!(revive(Arg::literal(&text)), arg);
        assert_eq!(revive(Arg::literal("plain")), Arg::literal("plain"));
    }

    #[test]
    fn globs_in_unquoted_values_come_back() {
        let split = Arg {
            pieces: vec![
                Piece::Known(GLOB.to_string()),
                Piece::Glob("*".into()),
                Piece::Known(format!("{GLOB_END}.o")),
            ]
            .into(),
        };
        let expected = Arg { pieces: vec![Piece::Glob("*".into()), Piece::Known(".o".into())].into() };
        assert_eq!(revive(split), expected);
    }

    #[test]
    fn what_is_printed() {
        let words = |line: &str| line.split(' ').map(Arg::literal).collect::<Vec<_>>();
        assert_eq!(echo(&words("-n a b")).unwrap().text(), "a b");
        assert_eq!(echo(&words("-e \\x72m")).unwrap().text(), "rm");
        assert_eq!(printf(&words("%s-%s\\n a b")).unwrap().text(), "a-b\n");
        assert_eq!(printf(&words("\\162\\155")).unwrap().text(), "rm");
        assert_eq!(printf(&words("%3s%-3s%.2s%c x y rmx abc")).unwrap().text(), "  xy  rma");
        assert_eq!(printf(&words("%b \\x72m")).unwrap().text(), "rm");
        assert_eq!(printf(&words("%x 12")), None);
        assert_eq!(decode("cm0gLXJmIC8="), b"rm -rf /");
    }
}
