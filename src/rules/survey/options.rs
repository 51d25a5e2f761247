//! The words after a program, told apart by its row in the tables: subcommand, options with their values, operands.

use super::Flag;
use crate::rules::facts::{self, Kind, Operands, Operation, Program, Role, Sub, Takes};
use crate::shell::{Arg, Piece};

/// A command's words, told apart.
#[derive(Debug)]
pub(super) struct Parsed<'p> {
    pub program: &'p Program<'p>,
    pub row: Option<&'p Sub<'p>>,
    pub sub: Vec<String>,
    pub flags: Vec<Flag>,
    /// What the values of `flags` are, in the same order.
    pub roles: Vec<Role>,
    pub operands: Vec<Arg>,
    /// How many of the operands stood before `--`; none when there was no `--`.
    pub before_dashes: Option<usize>,
    /// An option says that no command is run.
    pub stop: bool,
    /// An option that the tables do not know may have taken the first operand as its value.
    pub strange: bool,
}

impl<'p> Parsed<'p> {
    pub fn operation(&self) -> Operation {
        self.row.map_or(self.program.operation, |row| row.operation)
    }

    /// What a row says of this very command: none where it says no more than that the program talks to another machine.
    pub fn said(&self) -> Option<Operation> {
        let listed = self.row.map(|row| row.operation).filter(|operation| *operation != Operation::Network);
        let whole = || Some(self.program.operation).filter(|operation| operation.is_grave());
        listed.or_else(whole)
    }

    pub fn role(&self) -> Operands {
        self.row.map_or(self.program.operands, |row| row.operands)
    }

    pub fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(&flag.name.as_str()))
    }

    pub fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.flags.iter().rev().find(|flag| names.contains(&flag.name.as_str()))?.value.as_ref()
    }

    pub fn first_sub(&self) -> &str {
        self.sub.first().map_or("", String::as_str)
    }

    /// Works on a directory with all that is in it.
    pub fn recursive(&self) -> bool {
        self.has(&["-r", "-R", "--recursive", "-a", "--archive"])
            // A review takes all that lies in what is named for it.
            || matches!(self.program.name, "rg" | "ag" | "ack" | "ugrep" | "lazaret")
    }

    fn options(&self) -> [&'p str; 2] {
        match self.row {
            // Options of git itself stand before the subcommand and mean something else after it.
            Some(row) if self.program.kind == Kind::Git => [row.options, ""],
            Some(row) => [row.options, self.program.options],
            None => [self.program.options, ""],
        }
    }
}

/// Tells the words in `args` apart.
pub(super) fn parse<'p>(args: &[Arg], program: &'p Program<'p>) -> Parsed<'p> {
    let mut parsed = Parsed {
        program,
        row: None,
        sub: Vec::new(),
        flags: Vec::new(),
        roles: Vec::new(),
        operands: Vec::new(),
        before_dashes: None,
        stop: false,
        strange: false,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.prefix();
        if program.kind == Kind::Raw {
            parsed.operands.push(arg.clone());
        } else if text == "--" && arg.known().is_some() {
            parsed.before_dashes = Some(parsed.operands.len());
            parsed.operands.extend(rest.by_ref().cloned());
        } else if text.len() > 1 && text.starts_with('-') {
            parsed.option(arg, &mut rest);
        } else if parsed.take_sub(arg) {
            continue;
        } else {
            parsed.operands.push(arg.clone());
            if facts::stops_at_operand(parsed.options()) {
                parsed.operands.extend(rest.by_ref().cloned());
            }
        }
    }
    if program.by_option {
        let rows = || parsed.flags.iter().filter_map(|flag| program.option_command(&flag.name));
        let grave = rows().chain(parsed.row).find(|row| row.operation.is_grave());
        parsed.row = grave.or_else(|| rows().next()).or(parsed.row);
    }
    parsed
}

impl Parsed<'_> {
    /// Takes a word as (a part of) the subcommand.
    fn take_sub(&mut self, arg: &Arg) -> bool {
        if self.program.subs.is_empty() || !self.operands.is_empty() {
            return false;
        }
        let Some(word) = arg.known() else { return false };
        let first = self.sub.is_empty();
        if !first && !self.program.is_nested(&self.sub) {
            return false;
        }
        self.sub.push(word.to_owned());
        let row = self.program.command(&self.sub);
        let is_one = row.is_some()
            || if first {
                self.program.is_nested(&self.sub)
                    || !self.program.closed && !facts::stops_at_operand([self.program.options, ""])
            } else {
                // `stash@{0}` or a path after `stash` is an operand; an unknown second word of others is a command of theirs.
                !self.program.closed && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                    || self.program.is_nested(&self.sub)
            };
        if is_one {
            self.row = row.or(self.row);
        } else {
            self.sub.pop();
        }
        is_one
    }

    /// Takes an option word, and its value from `rest` where it has one there.
    fn option(&mut self, arg: &Arg, rest: &mut std::slice::Iter<'_, Arg>) {
        let text = arg.prefix();
        if text.starts_with("--") || self.program.kind == Kind::Dash {
            self.long(arg, rest);
            return;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let mut name = String::with_capacity(1 + letter.len_utf8());
            name.extend(['-', letter]);
            let known = facts::option(self.options(), &name);
            self.strange |= known.is_none();
            let takes = known.map_or(Takes::Nothing, |(_, takes)| takes);
            let attached = after(arg, at + letter.len_utf8());
            match takes {
                Takes::Nothing => self.push(name, None, Role::Plain),
                Takes::Stop => {
                    self.stop = true;
                    self.push(name, None, Role::Plain);
                }
                Takes::Optional => {
                    self.push(name, attached, Role::Plain);
                    return;
                }
                Takes::Value(role) => {
                    let value = attached.or_else(|| rest.next().cloned());
                    self.push(name, value, role);
                    return;
                }
            }
        }
    }

    fn long(&mut self, arg: &Arg, rest: &mut std::slice::Iter<'_, Arg>) {
        let text = arg.prefix();
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, Some(after(arg, name.len() + 1).unwrap_or_default())),
            None => (text, None),
        };
        let mut found = facts::option(self.options(), name);
        let bare = name.strip_prefix('-').unwrap_or(name);
        if found.is_none() && self.program.kind == Kind::Dash && bare.starts_with('-') {
            // `--run` is as good as `-run` where one dash is the custom.
            found = facts::option(self.options(), bare);
        }
        self.strange |= found.is_none() && value.is_none();
        let (name, takes) = found.unwrap_or((name, Takes::Nothing));
        match takes {
            Takes::Value(role) => {
                let value = value.or_else(|| rest.next().cloned());
                self.push(name.to_owned(), value, role);
            }
            Takes::Nothing | Takes::Optional => self.push(name.to_owned(), value, Role::Plain),
            Takes::Stop => {
                self.stop = true;
                self.push(name.to_owned(), value, Role::Plain);
            }
        }
    }

    fn push(&mut self, name: String, value: Option<Arg>, role: Role) {
        self.flags.push(Flag { name, value });
        self.roles.push(role);
    }
}

/// What follows the first `bytes` of an argument, if anything does.
pub(super) fn after(arg: &Arg, bytes: usize) -> Option<Arg> {
    let mut pieces = arg.pieces.clone();
    if let Some(Piece::Known(text)) = pieces.first_mut() {
        *text = text.get(bytes..).unwrap_or_default().to_owned();
        if text.is_empty() {
            pieces.remove(0);
        }
    }
    if pieces.is_empty() { None } else { Some(Arg { pieces }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Parsed<'static> {
        let mut words = line.split(' ');
        let program = facts::find(words.next().unwrap()).unwrap();
        parse(&words.map(Arg::literal).collect::<Vec<_>>(), program)
    }

    fn shape(line: &str) -> String {
        let parsed = words(line);
        let flags = parsed.flags.iter().map(|flag| match &flag.value {
            Some(value) => format!("{}={}", flag.name, value.text()),
            None => flag.name.clone(),
        });
        let operands = parsed.operands.iter().map(Arg::text);
        format!(
            "{} | {} | {}",
            parsed.sub.join(" "),
            flags.collect::<Vec<_>>().join(" "),
            operands.collect::<Vec<_>>().join(" ")
        )
    }

    #[test]
    fn words_are_told_apart() {
        for (line, expected) in [
            ("rm -rf a b", " | -r -f | a b"),
            ("rm -- -rf", " |  | -rf"),
            ("rm a --recurs", " | --recursive | a"),
            ("head -n5 a", " | -n=5 | a"),
            ("head -n 5 a", " | -n=5 | a"),
            ("sort --output=x a", " | --output=x | a"),
            ("git -C x push -f origin main", "push | -C=x -f | origin main"),
            ("git commit -am msg", "commit | -a -m=msg | "),
            ("git branch -m a b", "branch | -m | a b"),
            ("git stash drop stash@{0}", "stash drop |  | stash@{0}"),
            ("git stash", "stash |  | "),
            ("git push --force-w origin", "push | --force-with-lease | origin"),
            ("git push --force origin", "push | --force | origin"),
            ("git remote add origin url", "remote add |  | origin url"),
            ("git log -p -C x", "log | -p -C | x"),
            ("docker run -v /a:/b --rm alpine rm -rf /", "run | -v=/a:/b --rm | alpine rm -rf /"),
            ("cargo test --workspace -- --nocapture", "test | --workspace | --nocapture"),
            ("sudo -u root rm -rf /", " | -u=root | rm -rf /"),
            ("timeout -k 5 10 rm -r x", " | -k=5 | 10 rm -r x"),
            ("sed -i.bak s/a/b/ x", " | -i=.bak | s/a/b/ x"),
            ("go test -run=X ./...", "test | -run=X | ./..."),
            ("go test --run X ./...", "test | -run=X | ./..."),
            ("echo -n a", " |  | -n a"),
        ] {
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_after_dashes_is_known() {
        assert_eq!(words("kubectl exec pod -- rm -rf /x").before_dashes, Some(1));
        assert_eq!(words("rm x").before_dashes, None);
        assert!(words("command -v rm").stop);
        assert!(!words("command rm").stop);
    }
}
