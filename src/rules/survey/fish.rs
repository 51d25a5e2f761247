//! Text for fish, whose blocks and substitutions are its own, as what a POSIX shell would read: the commands in the same order, without
//! their conditions. What stays unreadable is a syntax error, as in any other text.

use super::walk::Frame;
use crate::rules::facts::{self, Kind};
use crate::shell::{Problem, Script, parse};

/// Words in front of a command that say when or how often it runs.
const LEADING: &[&str] = &["if", "else", "while", "and", "or", "not", "begin", "time"];

impl Frame {
    /// A text as it is read; in the place of one for fish that another shell can't read stands what it would.
    pub(super) fn read(&self, source: &mut String) -> Script {
        let script = parse(source);
        if !matches!(script.problem, Some(Problem::Syntax { .. })) || !self.is_fish(source) {
            return script;
        }
        *source = as_posix(source);
        parse(source)
    }

    /// Whether the text is fish's: by the shell that runs it, or by its first line.
    fn is_fish(&self, source: &str) -> bool {
        let is_shell = |name: &str| facts::find(name).is_some_and(|row| row.kind == Kind::Shell);
        // A script by its path.
        let is_run = || self.wrappers.last().is_some_and(|name| facts::find(name).is_none());
        let first = source.lines().next().unwrap_or_default();
        // What fish reads by `source` is for it too; another shell takes the first line for a comment, whatever runs the text in it.
        match self.wrappers.iter().rev().find(|name| is_shell(name)) {
            Some(shell) => shell == "fish",
            None => is_run() && first.starts_with("#!") && first.split(['/', ' ']).any(|word| word == "fish"),
        }
    }
}

/// The commands of a text for fish.
fn as_posix(source: &str) -> String {
    let mut out = String::new();
    for statement in statements(source) {
        for (at, (mark, part)) in parts(&statement).into_iter().enumerate() {
            if at > 0 {
                out.push_str(mark);
            }
            out.push(' ');
            out.push_str(&command(part.trim()));
            out.push(' ');
        }
        out.push('\n');
    }
    out
}

/// Whether the characters of a text stand in quotes or a substitution, one after the other.
#[derive(Default)]
struct Reader {
    quote: Option<char>,
    escaped: bool,
    depth: usize,
}

impl Reader {
    /// Takes a character; whether it stands for itself, outside quotes.
    fn take(&mut self, c: char) -> bool {
        if self.escaped {
            self.escaped = false;
            return false;
        }
        match (self.quote, c) {
            (_, '\\') => {
                self.escaped = true;
                false
            }
            (Some(open), c) => {
                if open == c {
                    self.quote = None;
                }
                false
            }
            (None, '\'' | '"') => {
                self.quote = Some(c);
                false
            }
            (None, '(') => {
                self.depth += 1;
                true
            }
            (None, ')') => {
                self.depth = self.depth.saturating_sub(1);
                true
            }
            (None, _) => true,
        }
    }
}

/// The statements of a text, with `$(` where fish has `(`, and without comments.
fn statements(source: &str) -> Vec<String> {
    let mut reader = Reader::default();
    let (mut all, mut one) = (Vec::new(), String::new());
    let mut last = '\n';
    let mut comment = false;
    for c in source.chars() {
        if comment && c != '\n' {
            continue;
        }
        let plain = reader.take(c);
        comment = plain && c == '#' && matches!(last, ' ' | '\t' | '\n' | ';');
        match c {
            _ if comment => {}
            ';' | '\n' if plain && reader.depth == 0 => all.push(std::mem::take(&mut one)),
            '(' if plain && last != '$' => one.push_str("$("),
            _ => one.push(c),
        }
        last = c;
    }
    all.push(one);
    all
}

/// The commands of a statement, each with what stands in front of it.
fn parts(statement: &str) -> Vec<(&str, &str)> {
    let mut reader = Reader::default();
    let (mut all, mut from, mut mark) = (Vec::new(), 0, "");
    let mut until = 0;
    for (at, c) in statement.char_indices() {
        let plain = reader.take(c) && reader.depth == 0 && at >= until;
        let Some(rest) = statement.get(at..).filter(|_| plain) else { continue };
        let Some(next) = ["&&", "||", "|"].iter().find(|mark| rest.starts_with(**mark)) else { continue };
        all.push((mark, statement.get(from..at).unwrap_or_default()));
        (from, mark, until) = (at + next.len(), next, at + next.len());
    }
    all.push((mark, statement.get(from..).unwrap_or_default()));
    all
}

/// A command without the words that say when it runs; `:` where nothing is left.
fn command(text: &str) -> String {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim_start();
    match first {
        _ if LEADING.contains(&first) => command(rest),
        "end" => format!(": {rest}"),
        "for" | "switch" => format!(": {}", rest.split_once(" in ").map_or(rest, |(_, words)| words)),
        "case" | "function" | "" => ":".to_owned(),
        "set" => assignment(rest),
        _ => text.to_owned(),
    }
}

/// `set -gx NAME VALUE…`.
fn assignment(text: &str) -> String {
    let (mut rest, mut letters) = (text, String::new());
    while let Some(option) = rest.strip_prefix('-') {
        let (option, behind) = option.split_once(char::is_whitespace).unwrap_or((option, ""));
        letters.push_str(match option.trim_start_matches('-') {
            "export" => "x",
            "erase" => "e",
            "query" => "q",
            letters if option.starts_with('-') || letters.len() > 4 => "",
            letters => letters,
        });
        rest = behind.trim_start();
    }
    let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let named = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    if !named || letters.contains(['e', 'q']) {
        return format!(": {value}");
    }
    let export = if letters.contains('x') { "export " } else { "" };
    let single = !parts_at_blanks(value);
    if single { format!("{export}{name}={value}") } else { format!("{name}=({value})") }
}

/// Whether a text has blanks outside quotes and substitutions.
fn parts_at_blanks(text: &str) -> bool {
    let mut reader = Reader::default();
    text.trim().chars().any(|c| reader.take(c) && reader.depth == 0 && c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fish_is_read() {
        for (fish, posix) in [
            ("for p in $paths; printf x $p; end", ": $paths\nprintf x $p\n:\n"),
            ("set out (complete -C \"git config --\")", "out=$(complete -C \"git config --\")\n"),
            ("set -gx PATH ~/bin $PATH", "PATH=(~/bin $PATH)\n"),
            ("if test -f x; and rm x; end", "test -f x\nrm x\n:\n"),
            (
                "not functions -q f; or f a | while read l; echo '$(' ; end",
                "functions -q f\nf a | read l\necho '$('\n:\n",
            ),
            ("function f --argument a; rm -rf $a; end # (x", ":\nrm -rf $a\n:\n"),
            ("begin; ls; end | sh", ":\nls\n: | sh\n"),
            ("set -q x; set -e x; set y", ":\n:\ny=\n"),
        ] {
            let read = as_posix(fish);
            let lines: Vec<String> =
                read.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert_eq!(lines.join("\n") + "\n", posix, "{fish}");
        }
    }
}
