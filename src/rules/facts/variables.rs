//! Variables of the environment that programs obey: which of them run a command, add options, hold code, or name code to be loaded.
//! From the programs' own manuals, each of which has a section on its environment; sorted by what is done, then by name.

use crate::domain::Among;

/// What is done with the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Obeys {
    /// It is run as a command line.
    Runs,
    /// Its words are read in front of the arguments of these programs.
    Options(&'static [&'static str]),
    /// It is code, as this program runs it with this option.
    Code(&'static str, &'static str),
    /// It names what is loaded and run, or what says what is: a library, a module, a file of settings.
    Loads,
    /// It names a file that is written; a number or a word is a switch.
    Writes,
    /// These programs put what they install there, below it in a directory of that name.
    Into(&'static [&'static str], &'static str),
}

words!("facts/variables");

/// The variables that name what a program starts with its own operands.
pub(in crate::rules) fn opening(program: &str) -> impl Iterator<Item = &'static str> {
    let of = OPENERS.iter().filter(move |(_, programs)| programs.contains(&program));
    of.flat_map(|(variables, _)| variables.iter().copied())
}

/// The variables by which a program seeks parts of itself, and what these are called.
pub(in crate::rules) fn seeking(program: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    let of = SEEKERS.iter().find(|(_, programs, _)| programs.contains(&program));
    of.map(|(variables, _, parts)| (*variables, *parts))
}

/// Whether a variable has a name, in which a `*` stands for any letters.
pub(in crate::rules) fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((front, end)) => {
            name.strip_prefix(front).is_some_and(|rest| rest.ends_with(end) && rest.len() >= end.len())
        }
        None => pattern == name,
    }
}

/// What programs do with a variable of that name.
pub(in crate::rules) fn obeyed(name: &str) -> impl Iterator<Item = Obeys> {
    let among = |list: &[&str]| list.iter().any(|pattern| is_named(pattern, name));
    let options = OPTIONS.iter().find(|(pattern, _)| is_named(pattern, name));
    let code = CODE.iter().find(|(pattern, ..)| is_named(pattern, name));
    let into = INTO.iter().find(|(pattern, ..)| is_named(pattern, name));
    let all = [
        among(RUNS).then_some(Obeys::Runs),
        options.map(|(_, programs)| Obeys::Options(programs)),
        code.map(|(_, program, flag)| Obeys::Code(program, flag)),
        among(LOADS).then_some(Obeys::Loads),
        among(WRITES).then_some(Obeys::Writes),
        into.map(|(_, programs, below)| Obeys::Into(programs, below)),
    ];
    all.into_iter().flatten()
}

/// Whether a variable names what is loaded.
pub(in crate::rules) fn is_loader(name: &str) -> bool {
    LOADS.iter().any(|pattern| is_named(pattern, name))
}

/// The beginnings of the names of variables that name what is loaded, in front of any letters.
pub(in crate::rules) fn loaders() -> impl Iterator<Item = &'static str> {
    LOADS.iter().map(|pattern| pattern.split('*').next().unwrap_or_default())
}

/// The file that a variable with that value has programs load, behind the command line that runs it.
pub(in crate::rules) fn loaded_file<'v>(name: &str, value: &'v str) -> Option<(&'static str, &'v str)> {
    match name {
        "BASH_ENV" | "ENV" => Some((".", value)),
        "PYTHONSTARTUP" => Some(("python3", value)),
        "NODE_OPTIONS" => Some(("node", required(value)?)),
        _ if name.starts_with("LUA_INIT") => Some(("lua", value.strip_prefix('@')?)),
        _ => None,
    }
}

/// The one file that options of node have it load, where that is named by its path.
fn required(options: &str) -> Option<&str> {
    let mut words = options.split_ascii_whitespace();
    let mut file = None;
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
        match flag {
            "--require" | "-r" | "--import" => {
                let path = value.or_else(|| words.next()).filter(|path| path.starts_with(['.', '/']))?;
                if file.replace(path).is_some() {
                    return None;
                }
            }
            "--no-warnings" | "--enable-source-maps" | "--trace-warnings" | "--max-old-space-size" => {}
            _ => return None,
        }
    }
    file
}

/// Who reads those: each command of a call asks.
static READERS: Among = readers(OPTIONS, Among::NONE);

const fn readers(mut rows: &[(&str, &[&str])], mut all: Among) -> Among {
    while let Some(((_, programs), rest)) = rows.split_first() {
        all = all.with(programs);
        rows = rest;
    }
    all
}

/// The variables whose words a program reads in front of its arguments.
pub(in crate::rules) fn giving_options(program: &str) -> impl Iterator<Item = &'static str> {
    let all = if READERS.may_have(program) { OPTIONS } else { &[] };
    all.iter().filter(move |(_, programs)| programs.contains(&program)).map(|(name, _)| *name)
}

/// The variables that say where a program puts what it installs, and the directory below.
pub(in crate::rules) fn installing(program: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let putting = INTO.iter().filter(move |(_, programs, _)| programs.contains(&program));
    putting.map(|(name, _, below)| (*name, *below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(obeyed("CARGO_TARGET_X86_64_RUNNER").any(|obeys| obeys == Obeys::Runs));
        assert!(obeyed("LUA_INIT").any(|obeys| obeys == Obeys::Code("lua", "-e")));
        assert!(obeyed("LUA_INIT_5_4").any(|obeys| obeys == Obeys::Code("lua", "-e")));
        assert_eq!(obeyed("CARGO_TARGET_DIR").count(), 0);
        assert_eq!(obeyed("FOO").count(), 0);
    }
}
