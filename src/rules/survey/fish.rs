//! Text for fish, whose blocks, quotes and substitutions are its own, as what a POSIX shell would read: the same commands in the same
//! order, without the conditions. What stays unreadable is a syntax error, and nothing of it is left to the shell.

use super::walk::Frame;
use crate::rules::facts::{self, Kind};
use crate::shell::{Problem, Script, parse};

impl Frame {
    /// Puts what another shell would read in the place of a text for fish.
    pub(super) fn read_fish(&self, script: &mut Script, source: &mut String) {
        if !self.is_fish(source) {
            return;
        }
        *source = as_posix(source);
        *script = parse(source);
        if let Some(Problem::Syntax { what, .. }) = &mut script.problem {
            *what = "it is for fish, and could not be read";
        }
    }

    /// Whether the text is fish's: by the shell that runs it, or by its first line.
    fn is_fish(&self, source: &str) -> bool {
        let may_be = self.wrappers.iter().any(|name| name == "fish") || source.starts_with("#!");
        may_be && {
            let is_shell = |name: &str| facts::find(name).is_some_and(|row| row.kind == Kind::Shell);
            // A script by its path.
            let is_run = || self.wrappers.last().is_some_and(|name| facts::find(name).is_none());
            let first = source.lines().next().unwrap_or_default();
            // What fish reads by `source` is for it too; another shell takes the first line for a comment, whatever runs the text in it.
            match self.wrappers.iter().rev().find(|name| is_shell(name)) {
                Some(shell) => shell == "fish",
                None => {
                    is_run() && first.starts_with("#!") && first.split(['/', ' ']).any(|word| word == "fish")
                }
            }
        }
    }
}

/// The commands of a text for fish.
fn as_posix(source: &str) -> String {
    Reading::default().text(source)
}

/// Which of the characters of a text stand for themselves: outside quotes, and not behind a backslash.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    escaped: bool,
    depth: usize,
}

impl Quotes {
    fn take(&mut self, c: char) -> bool {
        if self.escaped {
            self.escaped = false;
            return false;
        }
        match (self.open, c) {
            // In quotes too, of which fish has both kinds escape their own sign.
            (_, '\\') => {
                self.escaped = true;
                return false;
            }
            (Some(open), c) => {
                self.open = Some(open).filter(|open| *open != c);
                return false;
            }
            (None, '\'' | '"') => {
                self.open = Some(c);
                return false;
            }
            (None, '(') => self.depth += 1,
            (None, ')') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
        true
    }
}

/// The statements of a text, without comments.
fn statements(source: &str) -> Vec<String> {
    let mut quotes = Quotes::default();
    let (mut all, mut one) = (Vec::new(), String::new());
    let (mut last, mut comment) = ('\n', false);
    for c in source.chars() {
        comment &= c != '\n';
        if comment {
            continue;
        }
        let plain = quotes.take(c);
        comment = plain && c == '#' && matches!(last, ' ' | '\t' | '\n' | ';');
        match c {
            _ if comment => {}
            ';' | '\n' if plain && quotes.depth == 0 => all.push(std::mem::take(&mut one)),
            _ => one.push(c),
        }
        last = c;
    }
    all.push(one);
    all
}

/// The commands of a statement, each with what stands in front of it.
fn parts(statement: &str) -> Vec<(&str, &str)> {
    let mut quotes = Quotes::default();
    let (mut all, mut from, mut mark) = (Vec::new(), 0, "");
    for (at, c) in statement.char_indices() {
        let plain = quotes.take(c) && quotes.depth == 0 && at >= from;
        let Some(rest) = statement.get(at..).filter(|_| plain) else { continue };
        let Some(next) = ["&&", "||", "|"].iter().find(|mark| rest.starts_with(**mark)) else { continue };
        all.push((mark, statement.get(from..at).unwrap_or_default()));
        (from, mark) = (at + next.len(), next);
    }
    all.push((mark, statement.get(from..).unwrap_or_default()));
    all
}

/// Whether a text has blanks outside quotes and substitutions.
fn has_words(text: &str) -> bool {
    let mut quotes = Quotes::default();
    text.trim().chars().any(|c| quotes.take(c) && quotes.depth == 0 && c.is_whitespace())
}

/// What is read so far: how the open blocks end, and which variables hold several words.
#[derive(Default)]
struct Reading {
    ends: Vec<&'static str>,
    lists: Vec<String>,
}

impl Reading {
    fn text(&mut self, source: &str) -> String {
        let mut out = String::new();
        for statement in statements(source) {
            for (mark, part) in parts(&statement) {
                out.push_str(mark);
                out.push(' ');
                out.push_str(&self.command(part.trim()));
                out.push(' ');
            }
            out.push('\n');
        }
        out
    }

    /// A command without the words that say when it runs; `:` where nothing is left.
    fn command(&mut self, text: &str) -> String {
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim_start();
        let mut block = |end, front: String| {
            self.ends.push(end);
            front
        };
        match first {
            "and" | "or" | "not" | "!" | "time" => self.command(rest),
            "else" if rest.is_empty() => ":".to_owned(),
            "else" => self.command(rest.strip_prefix("if").unwrap_or(rest).trim_start()),
            "begin" | "if" | "while" => {
                let front = block("}", "{ ".to_owned());
                front + &self.command(rest)
            }
            "switch" => block("}", "{ : ".to_owned()) + &self.words(rest),
            "for" => {
                let (name, words) = rest.split_once(" in ").unwrap_or((rest, ""));
                let front = block("done", format!("for {} in ", name.trim()));
                front + &self.words(words) + "; do :"
            }
            "function" => {
                let front = block("}", String::new());
                front + &function(rest)
            }
            "end" => format!("{} {}", self.ends.pop().unwrap_or("}"), self.words(rest)),
            "case" | "" => ":".to_owned(),
            "set" => self.assignment(rest),
            "alias" if !rest.starts_with('-') && !rest.is_empty() => self.alias(rest),
            // What comes in is run.
            "source" | "." if matches!(rest, "" | "-") => "fish".to_owned(),
            _ => self.words(text),
        }
    }

    /// `set -gx NAME VALUE…`.
    fn assignment(&mut self, text: &str) -> String {
        let (mut rest, mut letters) = (text, String::new());
        while let Some(option) = rest.strip_prefix('-') {
            let (option, behind) = option.split_once(char::is_whitespace).unwrap_or((option, ""));
            match option.strip_prefix('-') {
                Some(long) => letters.extend(long.chars().take(1).filter(|c| matches!(c, 'e' | 'q' | 'a'))),
                None => letters.push_str(option),
            }
            rest = behind.trim_start();
        }
        let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !named || letters.contains(['e', 'q']) {
            return format!(": {}", self.words(value));
        }
        let (several, value) = (has_words(value) || letters.contains('a'), self.words(value));
        let more = if letters.contains('a') { "+" } else { "" };
        self.lists.retain(|list| list != name || !more.is_empty());
        if several {
            self.lists.push(name.to_owned());
            return format!("{name}{more}=({value})");
        }
        // That it goes to what is run changes nothing that is asked of it, but for the names that are looked for.
        let export = if letters.contains('x') { "export " } else { "" };
        format!("{export}{name}={value}")
    }

    /// `alias NAME VALUE`.
    fn alias(&mut self, text: &str) -> String {
        match text.split_once(char::is_whitespace) {
            Some((name, value)) if !name.contains('=') => {
                let value = value.trim();
                let value = if has_words(value) { format!("'{value}'") } else { self.words(value) };
                format!("alias {name}={value}")
            }
            Some(_) | None => format!("alias {}", self.words(text)),
        }
    }

    /// Words with quotes, escapes, variables and substitutions as a POSIX shell has them.
    fn words(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        let mut open = None;
        while let Some(c) = rest.chars().next() {
            let behind = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match (open, c) {
                (None, '$') => self.variable(behind, &mut out),
                (None, '(') => self.substitution(behind, &mut out),
                (None, '\\') => escape(behind, &mut out),
                (Some('\''), '\\') if behind.starts_with(['\'', '\\']) => {
                    out.push_str(if behind.starts_with('\'') { "'\\''" } else { "\\" });
                    behind.get(1..).unwrap_or_default()
                }
                (Some('"'), '\\') => {
                    let next = behind.chars().next();
                    out.push('\\');
                    out.extend(next);
                    behind.get(next.map_or(0, char::len_utf8)..).unwrap_or_default()
                }
                // `{$HOME}`: one thing in braces is that thing.
                (None, '{')
                    if behind.starts_with('$')
                        && !behind.split('}').next().unwrap_or_default().contains(',') =>
                {
                    let (inner, behind) = behind.split_once('}').unwrap_or((behind, ""));
                    out.push_str(&self.words(inner));
                    behind
                }
                (_, c) => {
                    open = match open {
                        None if matches!(c, '\'' | '"') => Some(c),
                        Some(quote) if quote == c => None,
                        other => other,
                    };
                    out.push(c);
                    behind
                }
            };
        }
        out
    }

    /// A variable, all of it where a part is asked for; what stands behind.
    fn variable<'t>(&mut self, text: &'t str, out: &mut String) -> &'t str {
        if let Some(behind) = text.strip_prefix('(') {
            return self.substitution(behind, out);
        }
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (name, behind) = text.split_at_checked(end).unwrap_or((text, ""));
        let part = behind.strip_prefix('[').and_then(|part| part.split_once(']'));
        out.push_str(&match name {
            "" => "$".to_owned(),
            "argv" => "\"$@\"".to_owned(),
            _ if self.lists.iter().any(|list| list == name) => format!("\"${{{name}[@]}}\""),
            _ => format!("${{{name}}}"),
        });
        part.map_or(behind, |(_, behind)| behind)
    }

    /// A substitution, whose lines are words; what stands behind.
    fn substitution<'t>(&mut self, text: &'t str, out: &mut String) -> &'t str {
        let mut quotes = Quotes { depth: 1, ..Quotes::default() };
        let end = text.char_indices().find(|(_, c)| quotes.take(*c) && quotes.depth == 0);
        let at = end.map_or(text.len(), |(at, _)| at);
        let inner =
            Reading { lists: self.lists.clone(), ends: Vec::new() }.text(text.get(..at).unwrap_or_default());
        out.push_str(&format!("\"$({})\"", inner.trim()));
        text.get(at + 1..).unwrap_or_default()
    }
}

/// `function NAME --argument-names a b`.
fn function(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = format!("{}() {{ :", words.next().unwrap_or("f"));
    let named = words.skip_while(|word| !matches!(*word, "-a" | "--argument" | "--argument-names")).skip(1);
    for (at, name) in named.take_while(|word| !word.starts_with('-')).enumerate() {
        out.push_str(&format!("; {name}=\"${}\"", at + 1));
    }
    out
}

/// What a backslash stands for outside quotes: `\x6d` is a letter. What stands behind.
fn escape<'t>(text: &'t str, out: &mut String) -> &'t str {
    if let Some(code) = text.strip_prefix(['x', 'X', 'u', 'U']) {
        let end = code.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(code.len()).min(8);
        let (digits, behind) = code.split_at_checked(end).unwrap_or((code, ""));
        if let Some(c) = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
            let plain = c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~');
            out.push_str(&if plain { c.to_string() } else { format!("\\{c}") });
            return behind;
        }
    }
    let next = text.chars().next();
    out.push('\\');
    out.extend(next);
    text.get(next.map_or(0, char::len_utf8)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fish_is_read() {
        for (fish, posix) in [
            ("for p in $paths; printf x $p; end", "for p in ${paths}; do :\nprintf x ${p}\ndone\n"),
            ("set out (complete -C \"git config --\")", "out=\"$(complete -C \"git config --\")\"\n"),
            ("set -gx PATH ~/bin $PATH", "PATH=(~/bin ${PATH})\n"),
            ("if test -f x; and rm x; end", "{ test -f x\nrm x\n}\n"),
            ("f a | while read l; echo '$(' ; end", "f a | { read l\necho '$('\n}\n"),
            ("function f -a a; rm -rf $a; end # (x", "f() { :; a=\"$1\"\nrm -rf ${a}\n}\n"),
            ("begin; ls; end | sh", "{ :\nls\n} | sh\n"),
            ("set -q x; set -e x; set y", ":\n:\ny=\n"),
            ("echo 'it\\'s'; ls", "echo 'it'\\''s'\nls\n"),
            ("set c rm -rf; $c ~", "c=(rm -rf)\n\"${c[@]}\" ~\n"),
            ("r\\x6d $HOME[1] {$HOME}", "rm ${HOME} ${HOME}\n"),
            ("alias x 'rm -rf'; curl x | source", "alias x='rm -rf'\ncurl x | fish\n"),
            ("sh -c (echo (pwd))", "sh -c \"$(echo \"$(pwd)\")\"\n"),
        ] {
            let read = as_posix(fish);
            let lines: Vec<String> =
                read.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert_eq!(lines.join("\n") + "\n", posix, "{fish}");
        }
    }
}
