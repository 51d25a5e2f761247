//! Programs with a command language of their own in which a command of the shell may stand: editors, sqlite, make, Tcl. Finds those
//! commands; nothing is judged here.

use super::{recipes, scripts};
use crate::domain::single_quoted;
use crate::rules::facts::words::MAKES;
use crate::rules::matcher::is_shell;

words!("builtin/dialogs");

const SQLITES: &[&str] = &["sqlite3", "sqlite", "litecli"];

const TCLS: &[&str] = &["expect", "tclsh", "wish"];

/// Most commands of one text.
const MAX_COMMANDS: usize = 64;

/// The commands of the shell in a text of a program's own language; none of a program that has no such language here.
pub(super) fn commands(program: &str, text: &str) -> Vec<String> {
    let is = |list: &[&str]| list.contains(&program);
    let mut out = if is(EDITORS) {
        edited(text, matches!(program, "ed" | "red"))
    } else if is(SQLITES) {
        text.lines().flat_map(queried).collect()
    } else if is(MAKES) {
        recipes(text)
    } else if is(TCLS) {
        text.lines().filter_map(sent).collect()
    } else if program == "cmake" {
        recipes::of_cmake(text)
    } else {
        Vec::new()
    };
    out.truncate(MAX_COMMANDS);
    out
}

/// Behind each `!` that begins a command: `!cmd`, `r !cmd`, `1,$w !cmd`, `silent !cmd`. Directly behind a letter it forces a command
/// of the editor's own: `w! file`. What is typed into the text is none of it.
fn edited(text: &str, is_ed: bool) -> Vec<String> {
    let mut out = Vec::new();
    let (mut typing, mut typed) = (false, String::new());
    for line in text.lines() {
        if typing {
            typing = line != ".";
            typed.extend([line, "\n"]);
            continue;
        }
        typing = is_ed && types(line);
        for (at, _) in line.match_indices('!') {
            let front = line.get(..at).unwrap_or_default();
            let forced = front.ends_with(|c: char| c.is_ascii_alphanumeric());
            let command = line.get(at + 1..).unwrap_or_default().trim();
            if !forced && !command.is_empty() && !command.starts_with('=') {
                out.push(command.to_owned());
            }
        }
        out.extend(computed(line));
        let bare = line.trim_start_matches([':', '+', ' ']);
        let terminal = ["terminal ", "ter ", "term "].iter().find_map(|word| bare.strip_prefix(word));
        out.extend(terminal.map(str::to_owned));
    }
    // `w !sh`
    if !typed.is_empty() && out.iter().any(|command| is_shell(command)) {
        out.push(typed);
    }
    out
}

/// What a line of vim's puts together to run, and the programs that it is set to run.
fn computed(line: &str) -> Vec<String> {
    const PROGRAMS: &[&str] =
        &["makeprg=", "grepprg=", "equalprg=", "formatprg=", "keywordprg=", "mp=", "gp="];
    let mut out = Vec::new();
    for call in RUNNING_CALLS {
        if let Some((_, rest)) = line.split_once(call) {
            let strings = scripts::strings(rest);
            // Text that is joined stands side by side, a list has blanks between its parts.
            let whole = if rest.contains('[') { strings.join(" ") } else { strings.concat() };
            out.push(whole.trim_start_matches(['!', ':', ' ']).to_owned());
        }
    }
    for program in PROGRAMS {
        if let Some((_, value)) = line.split_once(program) {
            out.push(value.replace("\\ ", " "));
        }
    }
    out.retain(|command| !command.is_empty());
    out
}

/// Whether a line of ed's is followed by text: an address, and `a`, `i` or `c`.
fn types(line: &str) -> bool {
    let command = line.trim_end();
    let address = command.strip_suffix(['a', 'i', 'c']);
    address.is_some_and(|address| {
        address.starts_with('/')
            || address
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '$' | '+' | '-' | ';' | ' '))
    })
}

/// What a line of sqlite's has a shell run, or reads and writes as a shell's redirection would.
fn queried(line: &str) -> Vec<String> {
    let line = line.trim();
    let mut out = Vec::new();
    if let Some((name, rest)) = line.strip_prefix('.').map(|line| line.split_once(' ').unwrap_or((line, "")))
    {
        let is = |long: &str| !name.is_empty() && long.starts_with(name);
        let rest = rest.trim();
        let file = rest.trim_start_matches(['"', '\'']);
        if is("shell") || is("system") {
            out.push(rest.to_owned());
        } else if let Some(command) = file.strip_prefix('|') {
            // An import names the table behind it.
            let end = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let command = end.and_then(|end| command.split_once(end)).map_or(command, |(command, _)| command);
            // What a shell is given there comes out of the database.
            out.push(if is_shell(command.trim()) {
                format!("{command} -c \"$output\"")
            } else {
                command.to_owned()
            });
        } else if let Some(path) = rest.split_whitespace().last().filter(|path| path.starts_with(['/', '~']))
        {
            if ["output", "once", "backup", "save", "clone", "log"].iter().any(|long| is(long)) {
                out.push(format!("echo > {path}"));
            } else if is("read") || is("import") {
                out.push(format!("cat {}", file.split_whitespace().next().unwrap_or_default()));
            }
        }
        return out;
    }
    for (call, front) in [("edit(", ""), ("writefile(", "echo > "), ("readfile(", "cat ")] {
        for (at, _) in line.match_indices(call) {
            let strings = scripts::strings(line.get(at..).unwrap_or_default());
            let which = usize::from(call == "edit(" && strings.len() > 1);
            let text = strings
                .get(which)
                .map(|text| if front.is_empty() { text.clone() } else { single_quoted(text) });
            out.extend(text.map(|text| format!("{front}{text}")));
        }
    }
    out
}

/// What the text of a makefile has a shell run: recipes, `name != command`, `$(shell command)`.
fn recipes(text: &str) -> Vec<String> {
    const SHELLS: &[&str] = &["$(shell ", "${shell "];
    let text = text.replace("\\\n", " ");
    let text = text.strip_prefix("--eval=").unwrap_or(&text);
    let mut out = Vec::new();
    for line in text.lines() {
        let recipe = line.strip_prefix('\t').or_else(|| {
            let (front, behind) = line.split_once(':')?;
            let (_, recipe) = behind.split_once(';')?;
            (!front.contains(['"', '\'', '=']) && !behind.starts_with('=')).then_some(recipe)
        });
        let assigned = line.split_once("!=").filter(|(name, _)| is_name(name.trim())).map(|(_, rest)| rest);
        out.extend(recipe.into_iter().chain(assigned).map(recipe_text));
        for call in SHELLS {
            let calls = line.match_indices(call).filter_map(|(at, _)| line.get(at + call.len()..));
            out.extend(calls.map(|rest| recipe_text(up_to_its_end(rest))));
        }
    }
    out
}

/// A recipe as a shell gets it.
fn recipe_text(recipe: &str) -> String {
    let recipe = recipe.trim_start_matches(['\t', '@', '-', '+', ' ']).replace("$$", "$");
    recipe.replace("$(HOME)", "$HOME").replace("${HOME}", "$HOME").replace("$(PWD)", "$PWD")
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// What stands before the bracket that ends it, with all brackets that are opened in it.
fn up_to_its_end(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' if depth == 0 => return text.get(..at).unwrap_or_default(),
            ')' | '}' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// What a line of expect's types into a program: `send "text\r"`.
fn sent(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("send ")?;
    // The key that ends a line.
    let word = rest.trim_start_matches("-- ").trim().replace("\\r", "").replace("\\n", "");
    let inside = match word.chars().next()? {
        '"' => scripts::quoted(word.get(1..)?, '"').0,
        '{' => up_to_its_end(word.get(1..)?).to_owned(),
        _ => word.clone(),
    };
    Some(inside.trim_end().to_owned())
}

/// A command of Tcl's as a shell would write it: braces around a word are its quotes.
pub(super) fn untcl(command: &str) -> String {
    let mut out = String::new();
    let command = command.replace("{*}[list ", " ").replace("{*}", " ");
    let mut rest = command.as_str();
    let (mut quoted, mut begins) = (false, true);
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '{' && begins && !quoted {
            let inside = up_to_its_end(behind);
            out.push_str(&single_quoted(inside));
            rest = behind.get(inside.len() + 1..).unwrap_or_default();
            begins = false;
            continue;
        }
        quoted ^= c == '"';
        begins = c.is_whitespace() || c == '[';
        out.push(c);
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_editors() {
        for (program, text, expected) in [
            ("ed", "!ls", &["ls"][..]),
            ("ed", "1,$w !sh\nr !id\nq", &["sh", "id"]),
            ("ed", "$a\nNever use !sh\n.\nw !id", &["id"]),
            ("ed", "/x/i\n!no\n.\n", &[]),
            ("ed", "a\nls -l\n.\nw !sh", &["sh", "ls -l\n.\n"]),
            ("vim", "silent !ls", &["ls"]),
            ("vim", "w! file", &[]),
            ("vim", "%!sort", &["sort"]),
            ("vim", "set nu", &[]),
            ("ex", "%s/a/b/|x", &[]),
            ("nvim", ":terminal ls", &["ls"]),
        ] {
            assert_eq!(commands(program, text), expected, "{text}");
        }
    }

    #[test]
    fn commands_in_other_languages() {
        for (program, text, expected) in [
            ("sqlite3", ".sh ls -l", &["ls -l"][..]),
            ("sqlite3", ".output |sh -c 'a b'", &["sh -c 'a b'"]),
            ("sqlite3", ".import '|a b' t", &["a b"]),
            ("sqlite3", ".read \"|a b\"", &["a b"]),
            ("sqlite3", ".output out.csv", &[]),
            ("sqlite3", ".backup ~/x", &["echo > ~/x"]),
            ("sqlite3", "select edit('x', 'a b')", &["a b"]),
            ("sqlite3", ".schema users", &[]),
            ("make", "a:\n\t@-{ b c; }\n", &["{ b c; }"]),
            ("make", "a: b; c d", &["c d"]),
            ("make", "x := $(shell { a b; })\ny != c d", &["{ a b; }", "c d"]),
            ("make", "CC ?= gcc", &[]),
            ("expect", "send \"{ a b; }\\r\"", &["{ a b; }"]),
            ("python3", "!ls", &[]),
        ] {
            assert_eq!(commands(program, text), expected, "{text}");
        }
        assert_eq!(untcl("sh -c {{ a b; }}"), "sh -c '{ a b; }'");
        assert_eq!(untcl("sh -c \"{ a b; }\""), "sh -c \"{ a b; }\"");
    }
}
