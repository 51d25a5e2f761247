//! What is shown of a file of secrets that is none itself: names, keys of which the values are public, headings.

use crate::domain::{SearchKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::foreign::{Language, is_shown};
use crate::rules::matcher::{Scene, has_flag, inside, runs, target_of};
use crate::shell::Arg;

const SEARCHES: &[&str] = &["grep", "egrep", "rg"];

words!("builtin/secrets/spared");

/// A search in a file of settings for nothing but names whose values are no secrets.
pub(super) fn is_for_plain_keys(inv: &Invocation) -> bool {
    let any_case = ["-i", "-S", "--ignore-case", "--smart-case"].iter().any(|flag| has_flag(inv, flag));
    sought_plainly(inv).is_some_and(|pattern| are_plain_keys(pattern, any_case))
}

/// What a search looks for that shows no more than the lines it finds.
fn sought_plainly(inv: &Invocation) -> Option<&str> {
    let plainly = runs(inv, SEARCHES) && !WIDER.iter().any(|flag| has_flag(inv, flag));
    inv.operands.first().filter(|_| plainly)?.known()
}

/// Whether the client's own search in a file of settings may show a secret.
pub(in crate::rules::builtin) fn may_show_secrets(kind: SearchKind, pattern: &str) -> bool {
    kind.shows_lines() && (kind == SearchKind::Around || !are_plain_keys(pattern, false))
}

/// Whether a pattern finds nothing but names whose values are no secrets.
fn are_plain_keys(pattern: &str, any_case: bool) -> bool {
    let plain = |word: &str| {
        let name = word.trim_start_matches(['^', '(']).trim_end_matches(['*', '.', '+', '$', '=', ')']);
        let name = name.replace(".*", "_");
        // As it is written: `host` would show the address that ends in `localhost`, password and all.
        let lower = name.contains('_') && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if any_case && !name.contains('_') {
            return false;
        }
        let name = if lower || any_case { name.to_ascii_uppercase() } else { name };
        let name = name.as_str();
        let named = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        named
            && !super::is_secret_name(name)
            && (PLAIN_KEYS.contains(&name)
                || PLAIN_ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
                || PUBLIC_FRONTS.iter().any(|front| name.starts_with(front)))
    };
    // `(A)*` is found in every line.
    let open = [")*", ")?", "){"].iter().any(|end| pattern.contains(end));
    !open && alternatives(pattern).iter().all(|word| plain(word))
}

/// The words of a pattern of which one has to be found: `A|B`, `NEXT_PUBLIC_(A|B)`.
fn alternatives(pattern: &str) -> Vec<String> {
    let group = pattern.split_once('(').and_then(|(front, rest)| {
        let (inside, end) = rest.split_once(')')?;
        let plain = !front.contains(['|', '\\'])
            && !end.contains(['|', '(', '?', '*'])
            && !inside.contains(['(', '?']);
        plain.then(|| inside.split('|').map(|word| format!("{front}{word}{end}")).collect())
    });
    group.unwrap_or_else(|| pattern.split('|').map(|word| word.trim_end_matches('\\').to_owned()).collect())
}

/// `awk -F= '/^[A-Z]/{print $1}'`: of each line no more than its first field is printed.
pub(super) fn prints_first_field(script: &str) -> bool {
    let mut plain = String::new();
    let mut inside = None;
    for c in script.chars().filter(|c| !c.is_whitespace()) {
        match inside {
            Some(end) if c == end => inside = None,
            Some(_) => {}
            // A division has no place in such a script.
            None if matches!(c, '"' | '/') => inside = Some(c),
            None => plain.push(c),
        }
    }
    let Some((pattern, body)) = plain.split_once('{') else { return false };
    let Some(body) = body.strip_suffix('}').filter(|body| !body.contains(['{', '}'])) else { return false };
    let printed = body.strip_prefix("printf,").or_else(|| body.strip_prefix("print"));
    let printed = printed.map(|rest| rest.trim_end_matches([';', ',']));
    inside.is_none() && !pattern.contains(['{', '}', '>', '|']) && printed == Some("$1")
}

/// A substitution of `sed -n` of which only the name in front of the `=` is printed.
pub(super) fn prints_names(script: &str) -> bool {
    const GROUPS: &[&str] =
        &["[A-Z_]", "[A-Z0-9_]", "[A-Z_0-9]", "[A-Za-z_]", "[A-Za-z0-9_]", "[A-Za-z_0-9]", "[^=]"];
    let Some(all) = script.strip_prefix("s/").and_then(|rest| rest.strip_suffix("/\\1/")) else {
        return false;
    };
    let all = all.strip_prefix('^').unwrap_or(all).replace('\\', "");
    let group = all.strip_prefix('(').and_then(|rest| {
        rest.strip_suffix(")=.*")
            .or_else(|| rest.strip_suffix(")=.*$"))
            .map(|g| g.trim_end_matches(['*', '+']))
    });
    group.is_some_and(|group| GROUPS.contains(&group))
}

/// Code that takes what a string names, and shows nothing of it.
pub(super) fn is_kept(inv: &Invocation, code: &str, is_named: &dyn Fn(&str) -> bool) -> bool {
    Language::of(&inv.program).and_then(|language| is_shown(code, language, is_named)) == Some(false)
}

/// Code that reads a file of settings and prints nothing but the names in it. `quiet`: its language prints nothing by itself.
pub(super) fn code_prints_names(code: &str, quiet: bool) -> bool {
    const PRINTS: &[&str] = &["print(", "console.log("];
    let plain: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let mut calls =
        PRINTS.iter().flat_map(|call| plain.match_indices(call).map(|(at, text)| at + text.len()));
    let names = |shown: &str| shows_names(shown) || parts(shown).all(|part| says_nothing(part, &plain));
    let prints = PRINTS.iter().any(|call| plain.contains(call));
    (prints || quiet)
        && !DOES_MORE.iter().any(|word| plain.contains(word))
        && calls.all(|from| plain.get(from..).and_then(enclosed).is_some_and(names))
}

/// The arguments of a call.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote) = (0_usize, None);
    text.split(move |c: char| {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth = depth.saturating_add(1),
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, c) => return c == ',' && depth == 0,
        }
        false
    })
}

/// An expression, written without blanks, whose value tells nothing of a value in the file: a text that stands there, whether
/// something is so, how much there is, or the name in front of a `=`.
fn says_nothing(part: &str, code: &str) -> bool {
    const ASKED: &[&str] = &["bool(", "len(", "Boolean(", "!!"];
    const ANSWERS: &[&str] = &[".test(", ".includes(", ".count(", ".startsWith(", ".startswith(", ".has("];
    let chosen = |text: &str, between: &str| {
        text.rsplit_once(between).is_some_and(|(front, last)| {
            is_literal(last) && front.rsplit_once(['?']).is_some_and(|(_, first)| is_literal(first))
        })
    };
    let python = |text: &str| {
        let (front, last) = text.rsplit_once("else").unwrap_or_default();
        is_literal(last) && front.split_once("if").is_some_and(|(first, _)| is_literal(first))
    };
    let whole = |front: &&&str| {
        part.strip_prefix(**front).is_some_and(|rest| match front.strip_suffix('(') {
            Some(_) => enclosed(rest).is_some_and(|inside| inside.len() + 1 == rest.len()),
            None => !rest.contains(['|', '&', '?', ',']),
        })
    };
    let answered = |call: &&&str| {
        part.rsplit_once(**call)
            .is_some_and(|(_, rest)| enclosed(rest).is_some_and(|inside| inside.len() + 1 == rest.len()))
    };
    let named = || {
        let front = format!("{part}=");
        let name = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        name && !part.is_empty()
            && code.contains(&front)
            && code.match_indices(&front).all(|(at, _)| {
                let value = code.get(at + front.len()..).unwrap_or_default();
                let parted =
                    [".split('='", ".split(\"='", ".split(\"=\"", ".partition('='", ".partition(\"=\""];
                parted.iter().filter_map(|call| value.split_once(call)).any(|(object, rest)| {
                    object
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'(' | b')'))
                        && ["", ",1", ",maxsplit=1"]
                            .iter()
                            .any(|more| rest.strip_prefix(more).is_some_and(|rest| rest.starts_with(")[0]")))
                })
            })
    };
    let within = || {
        // `'KEY' in text`
        let end = part.get(1..).and_then(|rest| rest.find(['\'', '"'])).map(|end| end + 2);
        let (first, rest) = end.and_then(|end| part.split_at_checked(end)).unwrap_or_default();
        is_literal(first) && rest.starts_with("in") && !rest.contains("else")
    };
    is_literal(part)
        || chosen(part, ":")
        || python(part)
        || ASKED.iter().any(|front| whole(&front))
        || ANSWERS.iter().any(|call| answered(&call))
        || named()
        || within()
}

/// A text in quotes into which nothing is put.
fn is_literal(text: &str) -> bool {
    let inside = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inside.is_some_and(|inside| !inside.contains(['\'', '"', '\\', '`']))
}

/// The text up to the bracket that closes it.
fn enclosed(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' if depth == 0 => return text.get(..at),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// An expression whose value is one name or a list of names.
fn shows_names(text: &str) -> bool {
    const WHOLE: &[&str] = &["list(dotenv_values(", "sorted(dotenv_values(", "list(dotenv.dotenv_values("];
    let one = |text: &str| {
        // `l.split('=', 1)[0]`
        let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let rest = rest.strip_prefix(".strip()").unwrap_or(rest);
        let parted = [".split(", ".partition("].iter().find_map(|call| rest.strip_prefix(call));
        let behind = parted.and_then(|rest| {
            rest.strip_prefix("'='").or_else(|| rest.strip_prefix("\"=\"")).map(|rest| {
                rest.strip_prefix(",1").or_else(|| rest.strip_prefix(",maxsplit=1")).unwrap_or(rest)
            })
        });
        let behind = behind.and_then(|rest| rest.strip_prefix(")[0]"));
        behind.map(|rest| rest.strip_prefix(".strip()").unwrap_or(rest).to_owned())
    };
    let list = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(one);
    let keys = |front: &str| {
        text.strip_prefix(front)
            .and_then(|rest| enclosed(rest).map(|inside| rest.get(inside.len() + 1..).unwrap_or_default()))
    };
    let whole = |front: &&&str| {
        text.strip_prefix(**front).is_some_and(|rest| rest.ends_with("))") && rest.matches('(').count() == 0)
    };
    one(text).is_some_and(|rest| rest.is_empty())
        || list.is_some_and(|rest| rest.starts_with("for") && !rest.contains(['[', ',']))
        || WHOLE.iter().any(|front| whole(&front))
        || keys("Object.keys(")
            .is_some_and(|rest| matches!(rest, "" | ".sort()" | ".length" | ".join('\\n')"))
        || text.starts_with("dotenv_values(") && text.ends_with(").keys()") && text.matches('(').count() == 2
}

/// Whether of a file of credentials no more is shown than what is none: by the command itself or by what it is piped into.
pub(super) fn shows_headings(inv: &Invocation, target: &Target, scene: &Scene<'_>) -> bool {
    let path = target.text();
    if runs(inv, SEARCHES) || runs(inv, &["jq", "yq", "sed"]) {
        return inv.writes.is_empty() && takes_headings(inv, path, 2);
    }
    if !runs(inv, &["cat"]) || inv.args.len() != 1 && !inv.writes.is_empty() {
        return false;
    }
    let quiet = |inv: &Invocation| inv.writes.iter().all(|(target, _)| target.text() == "/dev/null");
    let next = scene
        .invocations()
        .iter()
        .find(|other| other.pipeline == inv.pipeline && inv.stage.checked_add(1) == Some(other.stage));
    quiet(inv) && !inv.text.contains(">&") && next.is_some_and(|next| takes_headings(next, path, 1))
}

fn takes_headings(inv: &Invocation, path: &str, most: usize) -> bool {
    let listed = |table: &[(&str, &[&str])], word: &str| {
        table.iter().any(|(end, words)| path.ends_with(end) && words.contains(&word))
    };
    if inv.operands.len() > most {
        return false;
    }
    match inv.program.as_str() {
        "jq" | "yq" => {
            let filter: String =
                { inv.operands.first() }.map(Arg::text).unwrap_or_default().split_whitespace().collect();
            listed(FIELDS, &filter)
        }
        "sed" => {
            // `s/_authToken=.*/_authToken=***/`
            let script = inv.operands.first().and_then(Arg::known).unwrap_or_default();
            let rest =
                ["s/=.*/", "s/_authToken=.*/", "s/authToken=.*/"].iter().find_map(|s| script.strip_prefix(s));
            let rest = rest.and_then(|rest| rest.strip_suffix('/').or_else(|| rest.strip_suffix("/g")));
            path.ends_with(".npmrc")
                && inv.flags.is_empty()
                && rest.is_some_and(|rest| !rest.contains(['&', '\\', ';', '\n', '/']))
        }
        _ => sought_plainly(inv)
            .is_some_and(|pattern| alternatives(pattern).iter().all(|word| listed(HEADINGS, word))),
    }
}

/// `env $(grep -v '^#' .env | xargs) npm test`: the values are variables of a program that does not show them all.
pub(super) fn is_environment_of(user: &Invocation) -> bool {
    user.wrappers.iter().any(|name| name == "env")
        && !user.program.is_empty()
        // What stands in the program's own arguments is none of its environment.
        && user.args.iter().all(|arg| arg.known().is_some())
        && !runs(user, &["env", "printenv", "echo", "printf", "cat", "set", "declare", "export", "tee"])
}

/// The settings of development or of tests that are kept with the code: those of one's own machine end in `.local`.
pub(super) fn is_kept_with_code(path: &str) -> bool {
    let name = last_name(path);
    name.strip_prefix(".env.")
        .is_some_and(|rest| matches!(rest, "development" | "dev" | "test" | "testing" | "ci" | "e2e"))
}

/// Whether `perl -pe` prints a line only behind a substitution that takes the value away.
pub(super) fn perl_script(inv: &Invocation) -> Option<&str> {
    let [flags, script, ..] = inv.args.as_slice() else { return None };
    (matches!(flags.known(), Some("-pe" | "-p"))).then_some(())?;
    script.known()
}

/// A store of keys that programs are started with, by its name.
pub(super) fn is_key_store(path: &str) -> bool {
    [".p12", ".pfx", ".jks", ".keystore"].iter().any(|end| path.ends_with(end))
}

/// A key store of the project is copied within it, or read by the program that makes files of it, which shows none of its keys.
pub(super) fn stays_in_project(inv: &Invocation, target: &Target, scene: &Scene<'_>) -> bool {
    let own = |path: &str| scene.view.facts.places.roots().any(|root| inside(path, root));
    if !is_key_store(target.text()) || !own(target.text()) {
        return false;
    }
    let told = |flag: &str| inv.args.iter().any(|arg| arg.known() == Some(flag));
    match inv.program.as_str() {
        "cp" => inv.operands.iter().all(|arg| own(target_of(arg, inv.cwd.as_deref()).text())),
        "openssl" => {
            told("-nokeys")
                || told("-noout")
                || inv.args.windows(2).any(|pair| {
                    matches!(pair, [flag, file] if flag.known() == Some("-out")
                        && own(target_of(file, inv.cwd.as_deref()).text()))
                })
        }
        _ => false,
    }
}
