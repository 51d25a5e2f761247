//! A program in words: what is known of one in the data files of `rules`, and what a configuration file teaches of one.

use serde::{Deserialize, Serialize};

use super::words;

words! {
    /// What running a program, or one of its commands, does, apart from what it does to its operands.
    Operation {
        /// Nothing that lasts.
        Nothing = "nothing",
        /// Reads the directory that it runs in.
        Look = "look",
        /// Changes files in the directory that it runs in.
        Change = "change",
        /// Throws work away that nothing else holds.
        Discard = "discard",
        /// Runs code of the project or of its own.
        Process = "process",
        /// Talks to other machines.
        Network = "network",
        /// Fetches code and runs or keeps it.
        Install = "install",
        /// Changes the system.
        System = "system",
        /// Not known.
        Unknown = "unknown",
        /// Reads what lies on another machine.
        Reads = "reads",
        /// Takes something away that lies on another machine.
        Destroys = "destroys",
        /// Stops, switches off, revokes or locks out something that others rely on.
        Stops = "stops",
        /// Gives somebody access, or makes something public.
        Opens = "opens",
        /// Shows a secret.
        Reveals = "reveals",
    }
}

impl Operation {
    /// Whether a person is asked about it.
    pub const fn is_grave(self) -> bool {
        matches!(self, Operation::Destroys | Operation::Stops | Operation::Opens | Operation::Reveals)
    }
}

words! {
    /// What the operands are, and what is done with them.
    Operands {
        /// No files.
        Text = "text",
        Read = "read",
        Create = "create",
        Modify = "modify",
        Delete = "delete",
        /// The first is a pattern or program (unless an option gives it), the rest are read.
        Pattern = "pattern",
        /// As `Pattern`, and `-i` changes the files.
        PatternEdit = "pattern_edit",
        /// All but the last are read, the last is written.
        Copy = "copy",
        /// All but the last go away, the last is written.
        Move = "move",
        /// The last is created (or, if there is one, its base name here); the others are not touched.
        Link = "link",
        /// The first is a mode or an owner, the rest are modified.
        ModeModify = "mode_modify",
        /// The first is read, the others are written.
        ReadWrite = "read_write",
        /// The first is written, the others are read.
        WriteRead = "write_read",
        /// `key=value` as dd has them.
        Dd = "dd",
        /// tar's, by its mode.
        Tar = "tar",
        /// A device or mount point that is changed.
        Device = "device",
        Urls = "urls",
        /// `host:path` or paths, the last is the destination.
        Remote = "remote",
    }
}

words! {
    /// What the words of a command are that a program runs.
    Rest {
        /// A program and its arguments.
        Words = "words",
        /// As `Words`, with assignments in front.
        EnvWords = "env_words",
        /// Joined by blanks, a command line.
        Text = "text",
        /// A program and its arguments after `--` only.
        AfterDashes = "after_dashes",
        /// A program and its arguments behind `-c`, `--command` or `--args` only.
        AfterFlag = "after_flag",
    }
}

/// What the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
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
    /// `c`: code in a language of the program's own, or another one than the shell's.
    Code,
}

/// What an option does to the words after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Optional,
    Value(Role),
    /// As `Nothing`; and the program runs no other command.
    Stop,
}

impl Takes {
    /// What a word of a list of options says: the option, and what it does to the words after it.
    pub fn of(word: &str) -> (&str, Takes) {
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
                "c" => Role::Code,
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
}

/// Whether a word can stand in a list of options; `+`, which ends them at the first operand, only as the first one.
pub fn is_option_word(word: &str, first: bool) -> bool {
    let (name, _) = Takes::of(word);
    let role = word.rsplit_once(':').is_none_or(|(_, role)| role.len() == 1 && "rwxdDskuc".contains(role));
    let named = name.starts_with(['-', '/']) && !name.ends_with(['!', '?', '^', ':']);
    (named && role && !word.contains(char::is_whitespace)) || (first && word == "+")
}

/// How a program that runs another one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrap {
    /// Operands in front of the command.
    pub skip: u8,
    pub rest: Rest,
    /// The program does something itself, so it is an invocation of its own.
    pub keep: bool,
    /// With another user's rights.
    pub privileged: bool,
    /// On another machine, or with other files: nothing here can be asked about it.
    pub remote: bool,
    /// A command that we do not know is code of the project.
    pub lenient: bool,
}

/// What a configuration file teaches of a program. Words of a list stand in one text, as in the table of built-in programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenProgram {
    pub names: Vec<String>,
    pub options: String,
    /// Long options have one dash; short ones are not bundled.
    pub single_dash: bool,
    pub does: Operation,
    pub operands: Operands,
    pub runs: Option<Wrap>,
    /// It only works on this machine: what it is told is not judged by its verbs.
    pub local: bool,
    pub commands: Vec<WrittenSub>,
    /// The first words of commands of several words, `a` and `a.b` of `a.b.c`.
    pub nested: String,
    /// It comes from a file that may not loosen: it counts as far as it adds to what is known without it.
    pub adds: bool,
}

/// Commands of a program that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenSub {
    /// `push pull`, and with several words `stash.drop`.
    pub names: String,
    pub options: String,
    pub does: Operation,
    pub operands: Operands,
    pub runs: Option<Wrap>,
}
