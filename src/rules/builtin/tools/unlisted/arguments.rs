//! How the arguments of a program that no table knows are read: the words of its subcommand, its options, what is given.

use super::super::verbs;
use crate::domain::words_of;
use crate::rules::facts::words::{
    ADMITTING, ENDING, GIVING, GREAT, HALTING, MAKING, MATTERING, PEOPLE, READING, SMALL,
};
use crate::shell::Arg;

/// Words of a subcommand that are looked at.
const WORDS: usize = 5;

words!("builtin/tools/unlisted/arguments");

/// The arguments that are neither an option nor what may be its value.
pub(in crate::rules::builtin) fn given(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    let before = std::iter::once(None).chain(args.iter().map(Some));
    let is_option = |arg: &Arg| arg.prefix().starts_with('-');
    let all = args.iter().zip(before);
    all.filter(move |(arg, before)| !is_option(arg) && !before.is_some_and(is_option)).map(|(arg, _)| arg)
}

/// The words of the subcommand: the first of the arguments, without options and their values, paths, and what is not known.
pub(super) fn subcommand(args: &[Arg]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut is_value = false;
    for text in args.iter().filter_map(Arg::known) {
        if text == "--" || words.len() == WORDS || text.contains(char::is_whitespace) {
            break;
        }
        if text.starts_with('-') {
            is_value = !text.contains('=') && !SWITCHES.contains(&text) && !text.starts_with("--no-");
            continue;
        }
        // Whether an option takes a value nobody knows: a verb is none.
        let skipped =
            std::mem::take(&mut is_value) && verb_of(text).is_none_or(|verb| verb.len() < text.len());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
        if !skipped && text.bytes().all(plain) {
            words.push(text);
        }
    }
    words
}

/// What a word of a subcommand says is to be done, where it says so.
pub(super) fn verb_of(word: &str) -> Option<String> {
    let is_verb = |part: &String| {
        let part = part.as_str();
        READING.contains(&part)
            || MAKING.contains(&part)
            || WORKING.contains(&part)
            || verbs::takes_or_loosens(part)
            || OTHERS.iter().any(|list| list.contains(&part))
            // An `access-key` is a thing.
            || word == "access"
    };
    // Of `ban.list` and `apps:destroy` what is done stands behind.
    if let Some((_, last)) = word.rsplit_once(['.', ':'])
        && let Some(verb) = verb_of(last)
    {
        return Some(verb);
    }
    // `CreateSecurityGroupRule/v3`
    let versioned =
        word.rsplit_once("/v").filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let words = words_of(versioned.map_or(word, |(word, _)| word));
    let fused = || words.iter().find_map(|part| fused(part).map(|(verb, _)| verb.to_owned()));
    words.iter().find(|part| is_verb(part)).cloned().or_else(fused)
}

/// Lists of verbs that matter of secrets, of who may have something, and of what is alive.
const OTHERS: &[&[&str]] = &[MATTERING, ADMITTING, GIVING, ENDING, HALTING];

/// A verb and what it falls on, written as one word: `deletetable`.
pub(super) fn fused(word: &str) -> Option<(&str, &str)> {
    const VERBS: &[&str] =
        &["delete", "remove", "destroy", "drop", "purge", "add", "create", "revoke", "disable"];
    let (verb, thing) = VERBS.iter().find_map(|verb| Some((*verb, word.strip_prefix(verb)?)))?;
    let known = |thing: &str| GREAT.contains(&thing) || PEOPLE.contains(&thing) || SMALL.contains(&thing);
    let one = thing.strip_suffix('s').unwrap_or(thing);
    (known(thing) || known(one)).then_some((verb, thing))
}

/// The words of what a program's own console is told, as its arguments: `asadm -e "manage truncate users"`.
pub(super) fn typed_in(args: &[Arg]) -> Option<Vec<Arg>> {
    let is_option = |arg: &Arg| arg.known().is_some_and(|option| TYPING.contains(&option));
    let apart = args
        .iter()
        .zip(args.iter().skip(1))
        .filter(|(option, _)| is_option(option))
        .map(|(_, text)| text.text());
    let joined = args.iter().filter_map(|arg| {
        let (option, text) = arg.known()?.split_once('=')?;
        TYPING.contains(&option).then(|| text.into())
    });
    let text = apart
        .chain(joined)
        .find(|text: &std::borrow::Cow<'_, str>| text.trim().contains(char::is_whitespace))?;
    // A verb stands at the beginning: `manage truncate users`.
    Some(text.split_whitespace().take(3).map(Arg::literal).collect())
}

/// Options that do by themselves what no program does by the way.
const RUINOUS: &[&str] = &["kill", "nuke", "destroy", "wipe", "revoke", "rm", "rmr"];

/// What an option says is to be done, where no word does and it begins with a verb: `--delete-bucket`, `-kill`.
pub(super) fn by_option(args: &[Arg]) -> Option<Vec<String>> {
    let named = |arg: &Arg| {
        let text = arg.known()?.strip_prefix('-')?;
        let words = words_of(text.trim_start_matches('-').split('=').next()?);
        if words.len() == 1 && words.iter().all(|word| RUINOUS.contains(&word.as_str())) {
            return Some(vec!["destroy".to_owned()]);
        }
        let ([first, _, ..], true) = (words.as_slice(), text.starts_with('-')) else { return None };
        (MAKING.contains(&first.as_str()) || verbs::takes_or_loosens(first)).then(|| with_singular(words))
    };
    args.iter().find_map(named)
}

/// Words, and those that end with an `s` without it too.
pub(super) fn with_singular(words: Vec<String>) -> Vec<String> {
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        all.push(word.clone());
        all.extend(word.strip_suffix('s').map(str::to_owned));
    }
    all
}

/// Options with their values, by their names without dashes, and what is given without one; an option without a value is switched
/// on.
pub(super) fn options(args: &[Arg]) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for arg in args {
        let text = arg.text();
        match text.strip_prefix('-') {
            Some(rest) => {
                let rest = rest.trim_start_matches('-');
                let (name, value) = rest.split_once('=').unwrap_or((rest, "true"));
                let name = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
                out.push((name.collect(), value.to_owned()));
            }
            None => match out.last_mut().filter(|(_, value)| value == "true") {
                Some((_, value)) => *value = text.into_owned(),
                None => out.push((String::new(), text.into_owned())),
            },
        }
    }
    out
}

/// Whether an argument that is no option's value is a file of this machine, by how it is written.
pub(super) fn works_on_a_file(args: &[Arg]) -> bool {
    const FRONTS: &[&str] = &[
        "./", "../", "~/", "/home/", "/Users/", "/tmp/", "/var/", "/etc/", "/usr/", "/opt/", "/root/",
        "/mnt/", "/srv/",
    ];
    const ENDS: &[&str] =
        &[".png", ".jpg", ".md", ".txt", ".json", ".yml", ".yaml", ".csv", ".py", ".ts", ".js", ".rs"];
    given(args).map(Arg::prefix).any(|text| {
        !text.contains("://")
            && (text == "."
                || FRONTS.iter().any(|front| text.starts_with(front))
                || ENDS.iter().any(|end| text.ends_with(end)))
    })
}
