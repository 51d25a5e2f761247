//! Facts about programs: which options take values, what the operands are, what running it does. No judgement (that is `builtin`)
//! and no shell (that is `survey`). They stand in the data files beside this one, one a domain; `build.rs` checks them and makes one
//! table of them. The words in them are the variants of the enums here, in lower case.
//!
//! Options are words in one text, so that a row costs nothing until it is read:
//! `--name` takes a value · `--name:r` its value is a [`Role`] · `-n!` takes none (listed so that `--nam` is understood) ·
//! `-n?` takes one only when attached · `-n^` with it the program runs no command · `+` options end at the first operand.

pub(in crate::rules) mod functions;
pub(in crate::rules) mod variables;

pub(in crate::rules) use crate::domain::{Operands, Operation, Rest, Wrap};
pub(in crate::rules) use variables::{
    Obeys, giving_options, installing, loaded_file, loaders, obeyed, opening, seeking,
};

/// The files of rules that make looks for, in this order.
pub(in crate::rules) const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Role {
    /// Text without a meaning for us.
    Plain,
    /// `r`: a file that is read.
    Read,
    /// `w`: a file that is written.
    Write,
    /// `x`: a file that is deleted.
    Delete,
    /// `d`: the directory that the program works in.
    Dir,
    /// `D`: the directory that operands are written to.
    Dest,
    /// `s`: a command line that is run.
    Shell,
    /// `k`: a setting `key=value`; some keys hold command lines.
    Setting,
    /// `u`: a URL.
    Url,
}

/// What an option does to the words after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Takes {
    Nothing,
    Optional,
    Value(Role),
    /// As `Nothing`; and the program runs no other command.
    Stop,
}

/// How the words after a program are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Kind {
    /// Options as getopt has them.
    Plain,
    /// Long options have one dash; short ones are not bundled.
    Dash,
    /// No options at all.
    Raw,
    /// Runs the command in its operands.
    Wrap(Wrap),
    /// A shell.
    Shell,
    /// Runs code in another language.
    Interpreter,
    Find,
    Fd,
    Xargs,
    Parallel,
    Git,
    /// Runs the commands that it reads from its input.
    Stdin,
    /// A builtin of the shell that changes the shell itself.
    Builtin(Builtin),
}

/// Builtins with a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Builtin {
    Cd,
    Pushd,
    Popd,
    Export,
    Unset,
    Read,
    Alias,
    Set,
    Shift,
    Eval,
    Source,
    Trap,
}

/// A program.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Program<'a> {
    pub name: &'a str,
    pub options: &'a str,
    pub operation: Operation,
    pub operands: Operands,
    pub kind: Kind,
    /// Its commands; empty = it has none.
    pub subs: &'a [Sub<'a>],
    /// The first words of commands of several words: `a` and `a.b` of `a.b.c`.
    pub nested: &'a str,
    /// Some of its commands are options.
    pub by_option: bool,
}

/// Commands of a program that are alike.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Sub<'a> {
    /// `push pull`, with several words `stash.drop`, and where an option says what is done `--add`.
    pub names: &'a str,
    pub options: &'a str,
    pub operation: Operation,
    pub operands: Operands,
    pub wrap: Option<Wrap>,
}

impl<'a> Program<'a> {
    /// The row of the command that is called so.
    pub fn command(&self, path: &[String]) -> Option<&'a Sub<'a>> {
        self.subs.iter().find(|sub| has_path(sub.names, path))
    }

    /// The row of the command that an option stands for.
    pub fn option_command(&self, name: &str) -> Option<&'a Sub<'a>> {
        self.subs.iter().find(|sub| has_word(sub.names, name))
    }

    pub fn is_nested(&self, path: &[String]) -> bool {
        has_path(self.nested, path)
    }
}

/// Whether one of the words in a text is this path, its parts with dots between them.
fn has_path(text: &str, path: &[String]) -> bool {
    match path {
        [word] => has_word(text, word),
        _ => text.split_ascii_whitespace().any(|name| name.split('.').eq(path.iter().map(String::as_str))),
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_ascii_whitespace().any(|other| other == word)
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The facts about a program by its base name; versions and `.exe` at the end do not matter (`python3.12`, `gcc-13`).
pub(in crate::rules) fn find(name: &str) -> Option<&'static Program<'static>> {
    exact(name).or_else(|| {
        let bare = name.strip_suffix(".exe").unwrap_or(name);
        let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        if bare.len() < name.len() && !bare.is_empty() { exact(bare) } else { None }
    })
}

fn exact(name: &str) -> Option<&'static Program<'static>> {
    let mut at = slot(name.as_bytes());
    loop {
        // Free places end every search: there are twice as many as programs.
        let program = TABLE.get(usize::from(*INDEX.get(at)?))?;
        if program.name == name {
            return Some(program);
        }
        at = (at + 1) % PLACES;
    }
}

/// Places for names: a power of two, and at least twice the number of programs.
const PLACES: usize = 4096;

/// What stands at a free place: no row.
const FREE: u16 = u16::MAX;

/// Where a name stands, or the next place behind that is free: its row. Made when lazaret is compiled, because each command of a call
/// is looked up again and again.
static INDEX: [u16; PLACES] = index();

#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds would not compile")]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer rows than places")]
const fn index() -> [u16; PLACES] {
    assert!(2 * TABLE.len() <= PLACES);
    let mut out = [FREE; PLACES];
    let mut row = 0;
    while row < TABLE.len() {
        let mut at = slot(TABLE[row].name.as_bytes());
        while out[at] != FREE {
            at = (at + 1) % PLACES;
        }
        out[at] = row as u16;
        row += 1;
    }
    out
}

const fn slot(mut name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    while let [byte, rest @ ..] = name {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    (hash ^ hash >> 15) as usize % PLACES
}

/// Programs of one person on this machine: what they take away is theirs, and their rows would say nothing more.
const LOCAL: &str = "gt git-town timew ghcup td tb nb jrnl dstask zk navi proto juliaup espanso chezmoi yadm tmuxinator yabai xcodes \
    ghq wt backlog task-master av topgrade elan raco dub shards zvm zigup windsurf zed obsidian logseq t watson klog hledger ledger \
    beet mpc playerctl z autojump fasd yazi ranger rip gomi lms atuin mcfly fig crush mcphost openspec specify espup espflash gitui dvc git-annex fossil zinit watchman";

/// Whether a program is one that a person uses for what lies on this machine.
pub(in crate::rules) fn is_local(name: &str) -> bool {
    has_word(LOCAL, name)
}

/// What an option word of `options` says, or nothing when it is not listed. A long option may be shortened as long as it is
/// the only one that it can be: the answer names it in full.
pub(in crate::rules) fn option<'n>(options: [&'n str; 2], name: &'n str) -> Option<(&'n str, Takes)> {
    let words = || options.into_iter().flat_map(str::split_ascii_whitespace);
    let mut only: Option<(&'n str, Takes)> = None;
    let mut several = false;
    for word in words().filter(|word| word.starts_with(name)) {
        let (listed, takes) = split(word);
        if listed == name {
            return Some((name, takes));
        }
        if name.len() > 3 && name.starts_with("--") && listed.starts_with(name) {
            several |= only.is_some_and(|(other, _)| other != listed);
            only = Some((listed, takes));
        }
    }
    only.filter(|_| !several)
}

fn split(word: &str) -> (&str, Takes) {
    if let Some((name, role)) = word.rsplit_once(':') {
        let role = match role {
            "r" => Role::Read,
            "w" => Role::Write,
            "x" => Role::Delete,
            "d" => Role::Dir,
            "D" => Role::Dest,
            "s" => Role::Shell,
            "k" => Role::Setting,
            "u" => Role::Url,
            _ => Role::Plain,
        };
        return (name, Takes::Value(role));
    }
    let last = |suffix| word.strip_suffix(suffix);
    if let Some(name) = last('!') {
        (name, Takes::Nothing)
    } else if let Some(name) = last('?') {
        (name, Takes::Optional)
    } else if let Some(name) = last('^') {
        (name, Takes::Stop)
    } else {
        (word, Takes::Value(Role::Plain))
    }
}

/// Whether options end at the first operand.
pub(in crate::rules) fn stops_at_operand(options: [&str; 2]) -> bool {
    options.into_iter().any(|text| text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_found_by_its_name() {
        for program in TABLE {
            assert_eq!(exact(program.name).map(|found| found.name), Some(program.name));
        }
        assert!(TABLE.len() >= 1700, "{}", TABLE.len());
    }

    #[test]
    fn every_option_word_is_one() {
        let check = |name: &str, options: &str| {
            for word in options.split_ascii_whitespace() {
                if word == "+" {
                    assert!(options.starts_with('+'), "{name}: + comes first");
                    continue;
                }
                let (option, _) = split(word);
                assert!(
                    option.starts_with(['-', '/']) && !option.ends_with(['!', '?', '^', ':']),
                    "{name}: {word}"
                );
                if let Some((_, role)) = word.rsplit_once(':') {
                    assert!(role.len() == 1 && "rwxdDsku".contains(role), "{name}: {word}");
                }
            }
        };
        for program in TABLE {
            check(program.name, program.options);
            for sub in program.subs {
                check(program.name, sub.options);
                for name in sub.names.split_ascii_whitespace() {
                    let same = |other: &&str| *other == name;
                    let rows = program.subs.iter().flat_map(|sub| sub.names.split_ascii_whitespace());
                    assert_eq!(rows.filter(same).count(), 1, "{} {name}", program.name);
                }
            }
        }
    }

    #[test]
    fn options_are_found_in_full_and_shortened() {
        let rm = find("rm").unwrap();
        assert_eq!(option([rm.options, ""], "--recursive"), Some(("--recursive", Takes::Nothing)));
        assert_eq!(option([rm.options, ""], "--recurs"), Some(("--recursive", Takes::Nothing)));
        assert_eq!(option([rm.options, ""], "--no-such"), None);
    }

    #[test]
    fn versions_do_not_matter() {
        assert_eq!(find("python3.12").unwrap().name, "python");
        assert_eq!(find("gcc-13").unwrap().name, "gcc");
        assert_eq!(find("rm.exe").unwrap().name, "rm");
        assert!(find("nosuchprogram").is_none());
        assert!(find("").is_none());
    }
}
