//! A command pattern against the programs that a call would run.

use super::when::{OperandIs, Run};
use super::{Class, Found, Scene, at, classify, target_of};
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::tools::unlisted::is_unlisted;
use crate::rules::builtin::{lists, standing};
use crate::rules::facts::{self, Kind, Program};
use crate::rules::survey::{HELPFUL, is_word};
use crate::shell::Arg;

/// Shortest long option, dashes included, that counts as the abbreviation of a longer one.
const SHORTEST_ABBREVIATION: usize = 5;

pub(super) fn find<'a>(pattern: &Run<'_>, scene: &Scene<'a>) -> Found<'a> {
    let found =
        scene.first_of(|program| is_one_of(program, pattern.programs), |inv| fits(pattern, inv, scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether all but the program matches.
fn fits(pattern: &Run<'_>, inv: &Invocation, scene: &Scene<'_>) -> bool {
    (!pattern.privileged || inv.privileged)
        && (pattern.subs.is_empty() || pattern.subs.iter().any(|sub| has_sub(inv, sub)))
        && pattern.flags.iter().all(|group| group.iter().any(|flag| has_flag(inv, flag)))
        && !pattern.without.iter().any(|flag| has_exact_flag(inv, flag) && !is_taken_back(inv, flag))
        && !asks_for_help(inv)
        && !(pattern.away && standing::stays_here(inv))
        && operands_match(&pattern.operand, inv, scene)
}

/// Whether all that a command throws away lies in a temporary directory, and nothing in the call says that it lies elsewhere.
pub(crate) fn is_scratch(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ELSEWHERE: &[&str] = &["GIT_WORK_TREE", "GIT_DIR", "GIT_CONFIG", "core.worktree"];
    inv.scratch && !ELSEWHERE.iter().any(|word| scene.says(word))
}

/// Whether it is one of these programs (`mkfs.*` stands for all that begin so).
pub(crate) fn runs(inv: &Invocation, programs: &'static [&'static str]) -> bool {
    inv.listed.known_or(programs, || is_one_of(&inv.program, programs))
}

/// The same of a program by its name, for lists that are made while lazaret runs too.
pub(super) fn is_one_of(program: &str, programs: &[&str]) -> bool {
    let program = program.as_bytes();
    let first = program.first();
    programs.iter().any(|name| {
        let name = name.as_bytes();
        // Nearly every name begins with another letter: hundreds are asked for in each call.
        (name.first() == first || name.first() == Some(&b'*'))
            && match name {
                [stem @ .., b'*'] => program.starts_with(stem),
                name => name == program,
            }
    })
}

/// The name of a program without a version behind it (`python3.12`).
pub(crate) fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether a program is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    facts::find(program).is_some_and(|found| found.kind == Kind::Shell)
}

/// Whether a program runs code in another language than the shell's.
pub(crate) fn is_interpreter(program: &str) -> bool {
    interprets(program, facts::find(program))
}

/// Whether a command's program is a shell, remembered for all commands of it.
pub(crate) fn runs_shell(inv: &Invocation) -> bool {
    inv.listed.known_or(&SHELLS, || is_shell(&inv.program))
}

/// Whether a command's program runs code in another language than the shell's, remembered for all commands of it.
pub(crate) fn runs_code(inv: &Invocation) -> bool {
    inv.gives_code || inv.listed.known_or(&INTERPRETERS, || is_interpreter(&inv.program))
}

/// What is remembered of programs is known by the places of these.
static SHELLS: [u8; 1] = [0];
static INTERPRETERS: [u8; 1] = [0];

/// The same as [`is_interpreter`], of a program whose row is at hand.
pub(super) fn interprets(program: &str, row: Option<&Program>) -> bool {
    row.is_some_and(|row| row.kind == Kind::Interpreter)
        || lists::SCRIPTED_FILTERS.contains(&program)
        || lists::RUNTIMES.contains(&program)
}

/// The subcommand path begins with the words of `sub`.
pub(crate) fn has_sub(inv: &Invocation, sub: &str) -> bool {
    let mut given = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known));
    // Nearly every path is told apart by its first word.
    given.clone().next().is_some_and(|first| sub.starts_with(first))
        && sub.split(' ').all(|word| given.next() == Some(word))
}

/// Whether the flag is given; a long one may be abbreviated, and `--name=value` asks for that value.
pub(crate) fn has_flag(inv: &Invocation, flag: &str) -> bool {
    // Asked thousands of times: one letter is no more than its name, and most commands have no options at all.
    if let [b'-', letter] = flag.as_bytes()
        && *letter != b'-'
    {
        return inv.flags.iter().any(|given| given.name == flag);
    }
    has_exact_flag(inv, flag)
        || (has_long_flags(inv)
            && !flag.contains('=')
            && inv.flags.iter().any(|given| abbreviates(&given.name, flag)))
}

/// Most commands have none, and then none of the hundreds that are asked for.
fn has_long_flags(inv: &Invocation) -> bool {
    inv.flags.iter().any(|given| given.name.starts_with("--"))
}

fn abbreviates(given: &str, flag: &str) -> bool {
    given.len() >= SHORTEST_ABBREVIATION && given.starts_with("--") && flag.starts_with(given)
}

fn has_exact_flag(inv: &Invocation, flag: &str) -> bool {
    if flag.starts_with("--") && !has_long_flags(inv) {
        return false;
    }
    let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
    if name.starts_with('-') && !name.starts_with("--") && name.len() > 2 {
        // A long option behind a single dash, which the splitting of bundles would have taken apart.
        return inv.args.iter().filter_map(Arg::known).any(|arg| {
            arg == flag || arg.strip_prefix(flag).is_some_and(|rest| value.is_none() && rest.starts_with('='))
        });
    }
    inv.flags.iter().any(|given| {
        given.name == name
            && value.is_none_or(|value| {
                given.value.as_ref().and_then(Arg::known).is_some_and(|known| known == value)
            })
    })
}

/// Nothing is done: `--dry-run`, where its value does not take it back.
pub(crate) fn is_rehearsal(inv: &Invocation) -> bool {
    has_flag(inv, "--dry-run") && !is_taken_back(inv, "--dry-run")
}

/// `--dry-run=none`: the flag stands there and means nothing.
fn is_taken_back(inv: &Invocation, flag: &str) -> bool {
    let value = flag_value(inv, &[flag]).and_then(Arg::known);
    matches!(value, Some("none" | "false" | "no" | "off"))
}

/// The value of the first of these flags that has one.
pub(crate) fn flag_value<'i>(inv: &'i Invocation, flags: &[&str]) -> Option<&'i Arg> {
    inv.flags.iter().filter(|flag| flags.contains(&flag.name.as_str())).find_map(|flag| flag.value.as_ref())
}

/// `--help` directly behind the program or its subcommand, where no option in front can swallow it; `--version` and nothing else.
pub(crate) fn asks_for_help(inv: &Invocation) -> bool {
    /// Most words of a subcommand.
    const WORDS: usize = 3;
    let args = || inv.args.iter().map(Arg::known);
    let help = |arg: Option<&str>| matches!(arg, Some("--help" | "-help"));
    let plain = |arg: Option<&str>| arg.is_some_and(is_word);
    let first = args().next().flatten();
    let sub = first.is_some() && inv.sub.first().map(String::as_str) == first;
    let deep = || runs(inv, HELPFUL) || is_unlisted(facts::find(&inv.program));
    matches!(first, Some("--help" | "help"))
        || (inv.args.len() == 1 && first == Some("--version"))
        || (sub && help(args().nth(1).flatten()))
        || (inv.program == "git" && inv.args.len() == 2 && args().nth(1).flatten() == Some("--version"))
        || (args().take(WORDS + 1).find(|arg| !plain(*arg)).is_some_and(help) && deep())
        || (inv.program == "git" && sub && inv.args.len() == 2 && args().nth(1).flatten() == Some("-h"))
        || (inv.program == "aws" && args().next_back().flatten() == Some("help"))
}

/// Whether an operand is this word.
pub(crate) fn has_operand(inv: &Invocation, word: &str) -> bool {
    inv.operands.iter().any(|arg| arg.known() == Some(word))
}

fn operands_match(operand: &OperandIs<'_>, inv: &Invocation, scene: &Scene<'_>) -> bool {
    match operand {
        OperandIs::Any => true,
        OperandIs::Some => !inv.operands.is_empty(),
        OperandIs::Is(words) => words.iter().any(|word| has_operand(inv, word)),
        OperandIs::Starts(words) => {
            inv.operands.iter().any(|arg| words.iter().any(|word| arg.prefix().starts_with(word)))
        }
        OperandIs::Ends(words) => {
            inv.operands.iter().any(|arg| words.iter().any(|word| arg.text().ends_with(word)))
        }
        OperandIs::Contains(words) => inv.operands.iter().any(|arg| {
            let text = arg.text().to_ascii_lowercase();
            words.iter().any(|word| text.contains(word))
        }),
        OperandIs::On(classes) => inv.operands.iter().any(|arg| lies_on(arg, inv, scene, classes)),
        OperandIs::SourceOn(classes) => {
            let count = inv.operands.len().saturating_sub(usize::from(!has_flag(inv, "-t")));
            inv.operands.iter().take(count).any(|arg| lies_on(arg, inv, scene, classes))
        }
        OperandIs::At(places) => {
            let home = scene.view.facts.places.home.as_deref();
            !inv.contained
                && inv.operands.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), places, home))
        }
    }
}

/// Whether an operand is a path of one of these classes, as something that would be deleted: the widest reading of a place.
fn lies_on(arg: &Arg, inv: &Invocation, scene: &Scene<'_>, classes: &[Class]) -> bool {
    let found = classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
    // In a container only devices are this machine's.
    if inv.contained {
        classes.contains(&Class::Device) && found.has(Class::Device)
    } else {
        found.any(classes)
    }
}
/// Something written for people to read: a client of a code host is given no path and no address with blanks in it.
pub(crate) fn is_prose(inv: &Invocation, arg: &Arg) -> bool {
    runs(inv, &["gh", "glab"]) && arg.text().contains([' ', '\n'])
}
