//! What a script of Tcl has a shell run, and what it does to files itself, as commands of the shell. Nothing is judged here.

use super::dialogs::untcl;
use super::folding;

/// Most statements of one script, and most values that are put in.
const MAX_STATEMENTS: usize = 256;
const MAX_VALUES: usize = 64;

/// Commands of Tcl that change files, and those of the shell that do the same.
const FILES: &[(&str, &str)] =
    &[("file delete ", "rm -rf "), ("file rename ", "mv "), ("file copy ", "cp -r ")];

/// A command of which nothing is known before it runs.
const UNKNOWN: &str = "eval \"$command\"";

/// The commands in a script.
pub(super) fn commands(text: &str) -> Vec<String> {
    let text = text.replace("$env(HOME)", "~").replace("$::env(HOME)", "~").replace("\\\n", " ");
    let mut names: Vec<(String, String)> = Vec::new();
    let mut out = Vec::new();
    let mut left: Vec<String> = text.split(['\n', ';']).rev().map(str::to_owned).collect();
    for _ in 0..MAX_STATEMENTS {
        let Some(statement) = left.pop() else { break };
        let (statement, whole) = settled(statement.trim(), &mut names);
        let words = words(&statement);
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["set", name, value] => names.push(((*name).to_owned(), (*value).to_owned())),
            ["foreach", name, list, body] => {
                names.push(((*name).to_owned(), (*list).to_owned()));
                left.push((*body).to_owned());
            }
            ["catch" | "eval" | "uplevel" | "subst", body] => left.push((*body).to_owned()),
            ["if" | "while", _, body, ..] => left.push((*body).to_owned()),
            _ => {}
        }
        let found = run(&statement);
        if !whole && !found.is_empty() {
            out.push(UNKNOWN.to_owned());
        }
        out.extend(found);
    }
    out
}

/// What a statement has run.
fn run(statement: &str) -> Vec<String> {
    let mut out = Vec::new();
    let at_word = |word: &str| {
        let mut places = statement.match_indices(word).map(|(at, _)| at);
        places.find(|at| {
            let before = statement.get(..*at).and_then(|front| front.chars().next_back());
            before.is_none_or(|c| c.is_whitespace() || matches!(c, '[' | '{'))
        })
    };
    let behind = |word: &str| at_word(word).and_then(|at| statement.get(at + word.len()..));
    if let Some(rest) = behind("exec ") {
        out.push(untcl(rest.trim_start_matches("-ignorestderr ").trim_start_matches("-- ")));
    }
    for (word, command) in FILES {
        if let Some(rest) = behind(word) {
            out.push(untcl(&format!("{command}{}", rest.replace("-force ", "").replace("-- ", ""))));
        }
    }
    for front in ["open \"|", "open {|", "open |"] {
        if let Some((_, rest)) = statement.split_once(front) {
            out.push(untcl(
                rest.split(['"', ']']).next().unwrap_or_default().trim_end_matches([' ', 'r', 'w']),
            ));
        }
    }
    out
}

/// A statement with the values of names and brackets put in, and whether all brackets of constants were known.
fn settled(statement: &str, names: &mut Vec<(String, String)>) -> (String, bool) {
    let mut text = statement.to_owned();
    for (name, value) in names.iter().rev().take(MAX_VALUES) {
        for written in [format!("${{{name}}}"), format!("${name}")] {
            // Alone it is one word, whatever is in it; a pattern's names are many.
            let is_pattern = value.contains('*');
            let whole = if is_pattern { value.clone() } else { one_word(value) };
            for end in [" ", "]", "}"] {
                text = text.replace(&format!(" {written}{end}"), &format!(" {whole}{end}"));
            }
            if text.ends_with(&format!(" {written}")) {
                text.truncate(text.len() - written.len());
                text.push_str(&whole);
            }
            text = text.replace(&written, value);
        }
    }
    let mut whole = true;
    for _ in 0..MAX_VALUES {
        let Some((front, rest)) = text.split_once(']') else { break };
        let Some((before, inside)) = front.rsplit_once('[') else { break };
        let inner = words(inside);
        if let [set, name, value] = inner.as_slice()
            && set == "set"
        {
            names.push((name.clone(), value.clone()));
        }
        // What is run in brackets, and what names a file, is no riddle.
        let told =
            matches!(inner.first().map(String::as_str), Some("exec" | "file" | "glob" | "open" | "pwd"));
        let value = value(&inner);
        whole &= value.is_some() || told || inside.contains('$');
        let patterns = inner.first().is_some_and(|first| first == "glob");
        let alone = before.ends_with(' ') && (rest.is_empty() || rest.starts_with([' ', ']', '}']));
        let value = match value {
            Some(value) if alone && !patterns => one_word(&value),
            Some(value) => value,
            None => inside.to_owned(),
        };
        text = format!("{before}{value}{rest}");
    }
    (text, whole)
}

/// A value that stays one word.
fn one_word(value: &str) -> String {
    let splits = value.contains(char::is_whitespace) && !value.starts_with(['{', '"']);
    if splits { format!("{{{value}}}") } else { value.to_owned() }
}

/// What a command in brackets gives back.
fn value(words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Some(match words.as_slice() {
        ["set", _, value] => (*value).to_owned(),
        ["join", list] => self::words(list).join(" "),
        ["join", list, between] => self::words(list).join(between),
        ["list" | "concat", items @ ..] => items.join(" "),
        ["subst" | "lreplace", text] => (*text).to_owned(),
        ["glob", options_and_pattern @ ..] => {
            options_and_pattern.last().map(|pattern| (*pattern).to_owned())?
        }
        ["file", "join", parts @ ..] => parts.join("/"),
        ["file", "normalize" | "nativename", path] => (*path).to_owned(),
        ["string", "reverse", text] => text.chars().rev().collect(),
        ["string", "tolower", text] => text.to_lowercase(),
        ["string", "toupper", text] => text.to_uppercase(),
        ["string", "trim" | "cat", text] => (*text).to_owned(),
        ["string", "cat", parts @ ..] => parts.concat(),
        ["string", "repeat", text, _] => (*text).to_owned(),
        ["string", "map", map, text] => {
            let map = self::words(map);
            map.chunks(2).fold((*text).to_owned(), |text, pair| match pair {
                [from, to] if !from.is_empty() => text.replace(from.as_str(), to),
                _ => text,
            })
        }
        ["format", form, items @ ..] => {
            let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
            folding::formatted(form, &items)?
        }
        ["binary", "format" | "decode", form, digits] if form.starts_with(['H', 'h']) => {
            folding::hex(digits)?
        }
        ["binary", "decode", "base64", text] => folding::base64(text)?,
        ["lindex", list, at] => self::words(list).get(at.parse::<usize>().ok()?)?.clone(),
        _ => return None,
    })
}

/// The words of a command, without the braces or quotes around them.
fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    let (mut quoted, mut open) = (false, false);
    for c in text.chars() {
        match c {
            '{' if !quoted => {
                depth += 1;
                open = true;
                if depth > 1 {
                    word.push(c);
                }
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth > 0 {
                    word.push(c);
                }
            }
            '"' if depth == 0 => {
                quoted = !quoted;
                open = true;
            }
            c if c.is_whitespace() && depth == 0 && !quoted => {
                if open || !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                }
                open = false;
            }
            c => word.push(c),
        }
    }
    if open || !word.is_empty() {
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_runs() {
        for (text, expected) in [
            ("exec ls -l", &["ls -l"][..]),
            ("puts [exec ls]", &["ls"]),
            ("exec sh -c {a b}", &["sh -c 'a b'"]),
            ("exec [join {r m} \"\"] -rf x", &["rm -rf x"]),
            ("exec sh -c [string reverse \"a b\"]", &["sh -c 'b a'"]),
            ("set c \"a b\"; exec sh -c $c", &["sh -c 'a b'"]),
            ("set a r; set b m; exec $a$b x", &["rm x"]),
            ("file delete -force [file join $env(HOME) d]", &["rm -rf ~/d"]),
            ("foreach f [glob ~/d/*] {file delete -force $f}", &["rm -rf ~/d/*"]),
            ("open \"|sh -c {a b}\" r", &["sh -c 'a b'"]),
            ("exec [riddle {a b}]", &[UNKNOWN, "riddle {a b}"]),
            ("puts [join {a b} \"\"]", &[]),
            ("set f [open a.txt w]", &[]),
        ] {
            let said: Vec<String> = commands(text);
            assert!(
                expected.iter().all(|one| said.iter().any(|said| said.trim() == *one || untcl(one) == *said)),
                "{text}: {said:?}"
            );
            assert_eq!(said.is_empty(), expected.is_empty(), "{text}: {said:?}");
        }
    }
}
