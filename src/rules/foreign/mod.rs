//! What code in Python and JavaScript does, as operations: what it runs, writes, deletes and moves, and what else it calls.
//!
//! The code is read into a tree of brackets, the names in it stand for whatever they are given anywhere in it, and each call is looked up.
//! Nothing is judged here. Where the code may do what does not stand in it, the account says that it is open.

mod chain;
mod flows;
mod lex;
mod methods;
mod names;
mod names_python;
mod names_script;
mod perl;
mod ruby;
mod starts;
mod value;
mod values;
mod walk;

pub(crate) use self::flows::is_shown;
use self::lex::Node;
use self::names::{Given, Names};
pub(crate) use self::perl::only_substitutes;
pub(crate) use self::ruby::starts_nothing;
use self::values::Values;
use self::walk::Walk;
use crate::shell::Arg;

/// A language that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    /// And TypeScript, as far as it is the same.
    JavaScript,
}

impl Language {
    /// The language of an interpreter.
    pub fn of(program: &str) -> Option<Language> {
        match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" | "pypy" | "ipython" => Some(Language::Python),
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => Some(Language::JavaScript),
            _ => None,
        }
    }
}

/// One thing that code does. What of a word is not known when it is read is unknown in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Runs a line of the shell. What is not known of it stands there as a variable.
    Runs(String),
    Writes(Arg),
    Deletes {
        path: Arg,
        tree: bool,
    },
    Moves {
        from: Arg,
        to: Arg,
    },
    Copies {
        from: Arg,
        to: Arg,
    },
    /// Calls what no row knows, with these texts.
    Calls {
        name: String,
        given: Vec<Arg>,
    },
}

/// What a piece of code does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub operations: Vec<Operation>,
    /// What it loads.
    pub modules: Vec<String>,
    /// It may do more than stands here.
    pub open: bool,
}

impl Account {
    /// Whether it writes a file, or one of a name that is not known, and runs or loads one of that name.
    fn runs_what_it_writes(&self) -> bool {
        let written = self.operations.iter().filter_map(|operation| match operation {
            Operation::Writes(path)
            | Operation::Copies { to: path, .. }
            | Operation::Moves { to: path, .. } => Some(path),
            Operation::Runs(_) | Operation::Deletes { .. } | Operation::Calls { .. } => None,
        });
        written.into_iter().any(|path| {
            let name = path.known().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            let stem = name.split('.').next().unwrap_or_default();
            let runs = |operation: &Operation| match operation {
                Operation::Runs(line) => {
                    line.contains(name) && (!name.is_empty() || line.contains('$')) && !only_handles(line)
                }
                _ => false,
            };
            self.operations.iter().any(runs)
                || !stem.is_empty()
                    && self.modules.iter().any(|module| {
                        module.rsplit('/').next().is_some_and(|last| last.split('.').next() == Some(stem))
                    })
        })
    }

    /// Whether all that is done is said, and none of it takes a file or its content away. What the shell is to run is left aside.
    pub fn takes_nothing(&self) -> bool {
        /// What stands in the name of a call that takes something away.
        const TAKES: &[&str] =
            &["rm", "del", "unlink", "remove", "trash", "empty", "trunc", "clean", "clear"];
        !self.open
            && self.operations.iter().all(|operation| match operation {
                Operation::Runs(_) | Operation::Copies { .. } => true,
                Operation::Writes(path) => path.known().is_some(),
                Operation::Deletes { .. } | Operation::Moves { .. } => false,
                Operation::Calls { name, .. } => !names_one(name, TAKES),
            })
    }

    /// The same, and nothing is run, copied or written either, nor anything called that has one of these words in its name.
    pub fn only_looks(&self, but: &[&str]) -> bool {
        let looks = |operation: &Operation| match operation {
            Operation::Calls { name, .. } => !but.iter().any(|word| name.contains(word)),
            _ => false,
        };
        self.takes_nothing() && self.operations.iter().all(looks)
    }

    /// Whether all that is done is said, and none of it runs anything.
    pub fn runs_nothing(&self) -> bool {
        /// What stands in the name of a call that runs something.
        const RUNS: &[&str] =
            &["run", "system", "popen", "exec", "spawn", "call", "shell", "start", "fork", "eval"];
        !self.open
            && self.operations.iter().all(|operation| match operation {
                Operation::Runs(_) => false,
                Operation::Calls { name, .. } => !names_one(name, RUNS),
                Operation::Writes(_)
                | Operation::Copies { .. }
                | Operation::Deletes { .. }
                | Operation::Moves { .. } => true,
            })
    }

    /// Whether all that is done is said, and is nothing but reading and printing.
    pub fn only_reads(&self) -> bool {
        const READING: &[&str] = &[
            "json",
            "sys",
            "os",
            "os.path",
            "pathlib",
            "re",
            "collections",
            "itertools",
            "datetime",
            "math",
            "hashlib",
            "csv",
            "time",
            "textwrap",
            "string",
            "typing",
            "fs",
            "fs/promises",
            "path",
            "process",
            "util",
            "url",
        ];
        let reads = |module: &String| READING.contains(&module.as_str());
        !self.open && self.operations.is_empty() && self.modules.iter().all(reads)
    }
}

/// Whether a line is one command that takes the files it is given for what they are, and runs none of them: `git add report.md`.
fn only_handles(line: &str) -> bool {
    const PROGRAMS: &[&str] = &["cat", "cp", "diff", "git add", "git diff", "ls", "wc"];
    !line.contains([';', '&', '|', '`', '$', '\n', '<', '>', '('])
        && PROGRAMS.iter().any(|program| line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' ')))
}

/// Whether one of these words stands in the name of a call.
fn names_one(name: &str, words: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// Most operations of one piece of code, and how deep code may run code.
const MAX_OPERATIONS: usize = 400;
pub(crate) const MAX_NESTED: usize = 3;

/// What code does; none where it cannot be read for certain.
pub(crate) fn account(code: &str, language: Language) -> Option<Account> {
    let mut account = Account::default();
    read(code, language, 0, &mut account)?;
    Some(account)
}

fn read(code: &str, language: Language, depth: usize, account: &mut Account) -> Option<()> {
    let nodes = lex::read(code, language)?;
    read_tree(&nodes, &Names::new(&nodes, language), (language, depth), account);
    Some(())
}

fn read_tree<'n, 'c>(
    nodes: &'n [Node<'c>],
    names: &Names<'n, 'c>,
    (language, depth): (Language, usize),
    account: &mut Account,
) {
    let values = Values::new(names, language);
    // What code in a string gives names to, the code around it means too.
    let own = |(name, given): &(&str, Given<'_, '_>)| !matches!(given, Given::Module(module, None) if module == name);
    account.open |= names.open || depth > 0 && names.given.iter().any(own);
    account.modules.extend(names.modules());
    let mut walk = Walk { values: &values, account, depth };
    walk.nodes(nodes, false);
    let spent = values.is_spent() || account.operations.len() > MAX_OPERATIONS;
    account.open |= spent || account.runs_what_it_writes();
}

#[cfg(test)]
mod tests;
