//! Operations of programs by the words of their command lines.

use std::borrow::Cow;

use crate::rules::Invocation;
use crate::rules::facts::operations::Operations;
use crate::rules::matcher::{Found, Scene, asks_for_help, flag_value};
use crate::shell::Arg;

words!("builtin/operations");

/// The first command that does one of these.
pub(super) fn done<'a>(scene: &Scene<'a>, operations: Operations) -> Found<'a> {
    done_where(scene, operations, |_| true)
}

/// The first command that does one of these and for which `test` holds.
pub(super) fn done_where<'a>(
    scene: &Scene<'a>,
    operations: Operations,
    test: impl Fn(&Invocation) -> bool,
) -> Found<'a> {
    let is_named = |program: &str| operations.iter().any(|(programs, _)| programs.contains(&program));
    let found = scene.first_of(is_named, |inv| is_one(inv, operations) && test(inv));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether the program's name stands in the table.
pub(super) fn is_named(inv: &Invocation, operations: Operations) -> bool {
    inv.listed.known_or(operations, || {
        operations.iter().any(|(programs, _)| programs.contains(&inv.program.as_str()))
    })
}

/// Whether a command does one of these.
pub(super) fn is_one(inv: &Invocation, operations: Operations) -> bool {
    is_named(inv, operations)
        && !is_emulated(inv)
        && !asks_for_help(inv)
        && is_told(&inv.program, &inv.args, operations)
}

/// Whether a program of this name, given these arguments, does one of these.
pub(super) fn is_told(program: &str, args: &[Arg], operations: Operations) -> bool {
    let mut rows = operations
        .iter()
        .filter(|(programs, _)| programs.contains(&program))
        .flat_map(|(_, rows)| rows.iter())
        .peekable();
    if rows.peek().is_none() {
        return false;
    }
    let texts: Vec<Cow<'_, str>> = args.iter().map(word_of).collect();
    let words: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    if words.iter().any(|word| is_dry(word)) {
        return false;
    }
    if matches!(words.as_slice(), ["-V" | "--version"]) {
        return false;
    }
    // `-?` is a pattern to the shell, and a question to the program.
    !args.iter().any(|arg| arg.text() == "-?") && rows.any(|row| told(&words, row))
}

/// An option with which nothing is done.
pub(super) fn is_dry(word: &str) -> bool {
    if !word.starts_with("--") {
        return false;
    }
    let (flag, value) = word.split_once('=').unwrap_or((word, ""));
    let is_one = DRY.iter().any(|dry| dry.eq_ignore_ascii_case(flag));
    is_one && !matches!(value, "false" | "no" | "none" | "off" | "0")
}

/// Whether a command only says what it would do, or how it is used.
pub(super) fn is_rehearsal(inv: &Invocation) -> bool {
    let known = || inv.args.iter().filter_map(Arg::known);
    let next = known().skip(1).map(Some).chain(std::iter::once(None));
    // `--plan legacy` is a plan that something is about.
    let dry = known().zip(next).any(|(word, next)| {
        is_dry(word)
            && word != "--plan"
            && !next.is_some_and(|value| matches!(value, "false" | "False" | "no"))
    });
    dry || matches!(known().next_back(), Some("-h" | "help"))
}

/// An argument up to what is not known of it. The brackets of a field are a pattern to the shell that hits nothing: `a[b]=c`.
fn word_of(arg: &Arg) -> Cow<'_, str> {
    match arg.known() {
        Some(word) => Cow::Borrowed(word),
        None if arg.has_glob() && !arg.has_unknown() && arg.text().contains("]=") => arg.text(),
        None => Cow::Borrowed(arg.prefix()),
    }
}

/// A store or cloud that is emulated on this machine.
pub(in crate::rules) fn is_emulated(inv: &Invocation) -> bool {
    let url = flag_value(inv, &["--endpoint-url"]).map(Arg::text).unwrap_or_default();
    inv.program == "aws"
        && ["http://localhost:", "http://127.0.0.1:"].iter().any(|start| url.starts_with(start))
}

/// Whether the words of a row stand among the words of a command.
fn told(words: &[&str], row: &str) -> bool {
    if row == "*" {
        return true;
    }
    let mut rest = words.iter();
    row.split(' ').all(|wanted| {
        if wanted.starts_with('-') {
            return words.iter().any(|word| {
                let flag =
                    word.split_once('=').filter(|_| !wanted.contains('=')).map_or(*word, |(flag, _)| flag);
                flag == wanted
                    || wanted.strip_suffix('*').is_some_and(|front| word.starts_with(front))
                    || wanted.len() == 2
                        && !word.starts_with("--")
                        && word.starts_with('-')
                        && word.len() < 6
                        && word
                            .get(1..)
                            .is_some_and(|letters| wanted.get(1..).is_some_and(|one| letters.contains(one)))
            });
        }
        rest.by_ref().any(|word| match wanted.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => *word == wanted,
        })
    })
}

/// The values of these options, behind them or in one word with them, whether the program's row knows them or not.
pub(in crate::rules) fn option_values(inv: &Invocation, options: &[&str]) -> Vec<String> {
    let texts: Vec<Cow<'_, str>> = inv.args.iter().map(Arg::text).collect();
    let named = |option: &str| options.contains(&option);
    let behind = texts.iter().zip(texts.iter().skip(1)).filter(|(option, _)| named(option));
    let joined = texts.iter().filter_map(|text| text.split_once('=')).filter(|(option, _)| named(option));
    behind.map(|(_, value)| value.to_string()).chain(joined.map(|(_, value)| value.to_owned())).collect()
}

/// The words that a command line is made of, where they are known.
pub(super) fn known_words(inv: &Invocation) -> Vec<&str> {
    inv.args.iter().filter_map(Arg::known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_words() {
        for (words, row) in [
            (vec!["del", "--prefix", "/"], "del --prefix"),
            (vec!["--endpoint", "x", "kv", "delete", "-recurse"], "kv delete -recurse"),
            (vec!["rm", "-rf", "x"], "rm -r"),
            (vec!["db:migrate:undo:all"], "db:migrate:undo*"),
            (vec!["x", "--clean=true"], "--clean"),
        ] {
            assert!(told(&words, row), "{row}: {words:?}");
        }
        for (words, row) in [
            (vec!["get", "--prefix", "/"], "del --prefix"),
            (vec!["delete", "kv"], "kv delete"),
            (vec!["rm", "x"], "rm -r"),
            (vec!["rm", "--region", "x"], "rm -r"),
        ] {
            assert!(!told(&words, row), "{row}: {words:?}");
        }
    }
}
