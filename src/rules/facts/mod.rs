//! Facts about programs: which options take values, what the operands are, what running it does. No judgement (that is `builtin`)
//! and no shell (that is `survey`). They stand in the data files beside this one, one a domain; `build/` checks them and makes one
//! table of them. The words in them are the variants of the enums here, in lower case.
//!
//! Options are words in one text, so that a row costs nothing until it is read:
//! `--name` takes a value · `--name:r` its value is a [`Role`] · `-n!` takes none (listed so that `--nam` is understood) ·
//! `-n?` takes one only when attached · `-n^` with it the program runs no command · `+` options end at the first operand.

pub(in crate::rules) mod functions;
pub(in crate::rules) mod operations;
pub(in crate::rules) mod variables;
pub(in crate::rules) mod words;

pub(in crate::rules) use crate::domain::{Operands, Operation, Rest, Role, Takes, Wrap};
pub(in crate::rules) use variables::{
    Obeys, giving_options, installing, is_loader, is_named, loaded_file, loaders, obeyed, opening, seeking,
};

/// The files of rules that make looks for, in this order.
pub(in crate::rules) const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

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

/// Whether what a program is told is judged by its verbs, as it is of a program without a row (`tools.program-*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Verbs {
    /// Where its row says no more than that it talks to another machine.
    Usual,
    /// Yes, whatever its row says.
    Judged,
    /// Where they give somebody access: rules know what takes something away.
    Access,
    /// No: rules know them one by one, and what those let pass was meant to.
    Ruled,
}

/// A program, by one of the names of its row.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Program<'a> {
    pub name: &'a str,
    row: &'a Row<'a>,
}

impl<'a> Program<'a> {
    pub const fn new(name: &'a str, row: &'a Row<'a>) -> Program<'a> {
        Program { name, row }
    }
}

impl<'a> std::ops::Deref for Program<'a> {
    type Target = Row<'a>;

    fn deref(&self) -> &Row<'a> {
        self.row
    }
}

/// Programs that are alike.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Row<'a> {
    pub options: &'a str,
    pub operation: Operation,
    pub operands: Operands,
    pub kind: Kind,
    pub verbs: Verbs,
    /// Its commands; empty = it has none.
    pub subs: &'a [Sub<'a>],
    /// The first words of commands of several words: `a` and `a.b` of `a.b.c`.
    pub nested: &'a str,
    /// A word that begins none of its commands is an operand.
    pub closed: bool,
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

impl<'a> Row<'a> {
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

/// The names of all programs that have a row.
pub(in crate::rules) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|program| program.name)
}

/// Whether a program is one that a person uses for what lies on this machine.
pub(in crate::rules) fn is_local(name: &str) -> bool {
    has_word(LOCAL, name)
}

/// Whether no row names a program, and nobody says that it works on this machine only.
pub(in crate::rules) fn is_unheard_of(name: &str) -> bool {
    find(name).is_none() && !is_local(name)
}

/// What an option word of `options` says, or nothing when it is not listed. A long option may be shortened as long as it is
/// the only one that it can be: the answer names it in full.
pub(in crate::rules) fn option<'n>(options: [&'n str; 2], name: &'n str) -> Option<(&'n str, Takes)> {
    let words = || options.into_iter().flat_map(str::split_ascii_whitespace);
    let mut only: Option<(&'n str, Takes)> = None;
    let mut several = false;
    for word in words().filter(|word| word.starts_with(name)) {
        let (listed, takes) = Takes::of(word);
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

/// Whether options end at the first operand.
pub(in crate::rules) fn stops_at_operand(options: [&str; 2]) -> bool {
    options.into_iter().any(|text| text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::is_option_word;

    #[test]
    fn every_program_is_found_by_its_name() {
        for program in TABLE {
            assert_eq!(exact(program.name).map(|found| found.name), Some(program.name));
        }
        assert!(TABLE.len() >= 1700, "{}", TABLE.len());
    }

    #[test]
    fn every_option_word_is_one_and_no_command_stands_twice() {
        for program in TABLE {
            let subs = program.subs.iter().map(|sub| sub.options);
            for options in subs.chain([program.options]) {
                for (at, word) in options.split_ascii_whitespace().enumerate() {
                    assert!(is_option_word(word, at == 0), "{}: {word}", program.name);
                }
            }
            let mut names: Vec<_> =
                program.subs.iter().flat_map(|sub| sub.names.split_ascii_whitespace()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", program.name);
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
