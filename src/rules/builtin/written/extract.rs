//! The commands that stand in files of other languages than the shell's: build files, pipelines, manifests. Found by lines, without
//! reading the format as a whole, since an edit shows only a part of it.

use std::borrow::Cow;

use serde_json::Value;

words!("builtin/written/extract");

/// Most commands that are taken out of one file.
pub(super) const MAX_COMMANDS: usize = 256;

/// The commands of a JSON file that nobody asks for.
pub(super) fn lifecycle(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for key in LIFECYCLE {
        for (at, _) in text.match_indices(key).take(4) {
            let rest = text.get(at + key.len()..).unwrap_or_default().trim_start();
            let line = rest.strip_prefix(':').unwrap_or_default().trim_start();
            let line = line.lines().next().unwrap_or_default();
            if line.starts_with(['"', '[']) {
                out.extend(super::super::scripts::strings(line).into_iter().next());
            }
        }
    }
    out
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

/// Hooks of pre-commit whose entry is a pattern to search for, or a message, without that entry.
fn without_patterns(text: &str) -> Cow<'_, str> {
    const SEARCHES: &[&str] = &["language: pygrep", "language: fail"];
    if !SEARCHES.iter().any(|language| text.contains(language)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for hook in text.split_inclusive("- id:") {
        // Of two languages the second would count.
        let mut languages = hook.lines().map(str::trim).filter(|line| line.contains("language"));
        let searches =
            languages.next().is_some_and(|line| SEARCHES.contains(&line)) && languages.next().is_none();
        let of_entry = |line: &&str| searches && line.trim_start().starts_with("entry:");
        out.extend(hook.split_inclusive('\n').filter(|line| !of_entry(line)));
    }
    Cow::Owned(out)
}

/// The commands of a YAML file.
pub(super) fn yaml(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let text = without_patterns(text);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if out.len() >= MAX_COMMANDS {
            break;
        }
        let body = line.trim_start_matches([' ', '-']);
        let Some((key, value)) = body.split_once(':') else { continue };
        let key = key.trim_matches(['"', '\'', ' ']).to_ascii_lowercase();
        if !KEYS.contains(&key.as_str()) || !value.is_empty() && !value.starts_with(' ') {
            continue;
        }
        let depth = indent(line);
        let value = value.trim();
        let block = value.starts_with(['|', '>']);
        if !block && !value.is_empty() {
            out.push(scalar(value));
            continue;
        }
        let mut whole = String::new();
        while let Some(next) = lines.peek() {
            let deeper = next.trim().is_empty()
                || next.len() - next.trim_start().len() > depth.saturating_sub(1)
                    && (block || next.trim_start().starts_with('-') || indent(next) > depth);
            let own = next.len() - next.trim_start().len();
            let item = next.trim_start().strip_prefix("- ");
            // Things in a list may stand as deep as their key.
            let listed = !block && item.is_some() && own + 2 >= depth;
            // A block ends before the first line that is no deeper than its key.
            if !(deeper || listed) || (block && !next.trim().is_empty() && own <= depth) {
                break;
            }
            if !block
                && item.is_some_and(|item| item.split_once(": ").is_some_and(|(key, _)| !key.contains(' ')))
            {
                break;
            }
            if !block && item.is_none() && !next.trim().is_empty() {
                break;
            }
            match item {
                Some(item) if !block => out.push(scalar(item.trim())),
                _ => {
                    whole.push_str(next.trim());
                    whole.push('\n');
                }
            }
            lines.next();
        }
        if block && !whole.trim().is_empty() {
            out.push(whole);
        }
    }
    out
}

/// A value on one line: bare, quoted, or a list of words.
fn scalar(value: &str) -> String {
    if value.starts_with('[') {
        let words = super::super::scripts::strings(value);
        // Of `["sh", "-c", "…"]` the last is the command.
        return match words.as_slice() {
            [shell, flag, command, ..] if shell.ends_with("sh") && flag.starts_with('-') => command.clone(),
            words => words.join(" "),
        };
    }
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    quoted('"')
        .map(|text| text.replace("\\\"", "\""))
        .or_else(|| quoted('\'').map(str::to_owned))
        .unwrap_or_else(|| value.to_owned())
}

/// The commands of a file with lines `key = value`, and of one with lines `name: command` (with `named` all of those).
pub(super) fn lines(text: &str, named: bool) -> Vec<String> {
    let mut tasks = named;
    let mut out = Vec::new();
    // Whether the lines below a key, further in than it, are its commands.
    let mut below = false;
    for line in text.lines().take(8192) {
        let deeper = line.starts_with([' ', '\t']);
        let line = line.trim();
        if below && deeper && !line.is_empty() && !line.starts_with('#') {
            if out.len() < MAX_COMMANDS {
                out.push(scalar(line));
            }
            continue;
        }
        below = below && line.is_empty();
        if line.starts_with('[') {
            let section = line.to_ascii_lowercase();
            tasks = ["script", "task", "alias"].iter().any(|word| section.contains(word));
            continue;
        }
        let Some((key, value)) = line.split_once(if named { ':' } else { '=' }) else { continue };
        let key = key.trim().trim_matches('"').to_ascii_lowercase();
        let runs = tasks || KEYS.contains(&key.as_str());
        below = runs && !named && value.trim().is_empty();
        if runs && !below && out.len() < MAX_COMMANDS {
            out.push(scalar(value.trim()));
        }
    }
    out
}

/// The recipes of a makefile, or of a file like one.
pub(super) fn recipes(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let recipe = |line: &&str| line.starts_with(['\t', ' ']) && !line.trim().is_empty();
    let called = joined.lines().filter(|line| !recipe(line)).flat_map(|line| {
        let shells = ["$(shell ", "${shell "].into_iter();
        shells.flat_map(move |open| line.split(open).skip(1)).filter_map(|rest| rest.rsplit_once([')', '}']))
    });
    let called = called.map(|(command, _)| command);
    let lines = joined.lines().filter(recipe).chain(called).take(MAX_COMMANDS);
    lines
        .map(|line| {
            line.trim()
                .trim_start_matches(['@', '-', '+'])
                .replace("$(HOME)", "$HOME")
                .replace("${HOME}", "$HOME")
                .replace("$$", "$")
        })
        .collect()
}

/// The arguments of programs in the markup of a build.
pub(super) fn markup(text: &str) -> Vec<String> {
    const OPENS: &[(&str, &str)] = &[
        ("<argument>", "</argument>"),
        ("<command>", "</command>"),
        ("<commandlineArgs>", "</commandlineArgs>"),
        ("<arg value=\"", "\""),
        ("<arg line=\"", "\""),
        ("<exec command=\"", "\""),
    ];
    let plain = |text: &str| {
        text.replace("&gt;", ">")
            .replace("&lt;", "<")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&")
    };
    let all = OPENS.iter().flat_map(|(open, close)| {
        text.split(open).skip(1).filter_map(move |rest| rest.split_once(close)).map(|(inner, _)| inner)
    });
    all.filter(|inner| inner.contains(' ')).map(plain).take(MAX_COMMANDS).collect()
}

/// What a Dockerfile runs.
pub(super) fn docker(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let run = |line: &str| {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace)?;
        let runs = ["RUN", "CMD", "ENTRYPOINT"].iter().any(|name| word.eq_ignore_ascii_case(name));
        let mut rest = rest.trim_start();
        while let Some((_, behind)) =
            rest.strip_prefix("--").and_then(|rest| rest.split_once(char::is_whitespace))
        {
            rest = behind.trim_start();
        }
        runs.then(|| scalar(rest))
    };
    joined.lines().filter_map(run).take(MAX_COMMANDS).collect()
}

/// What lines of a crontab run.
pub(super) fn cron(text: &str) -> Vec<String> {
    let job = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let time =
            |word: &&&str| word.chars().all(|c| c.is_ascii_digit() || matches!(c, '*' | '/' | ',' | '-'));
        match words.as_slice() {
            [first, rest @ ..] if first.starts_with('@') => Some(rest.join(" ")),
            words if words.len() > 5 && words.iter().take(5).filter(time).count() == 5 => {
                words.get(5..).map(|rest| rest.join(" "))
            }
            _ => None,
        }
    };
    text.lines().filter_map(job).take(MAX_COMMANDS).collect()
}

/// What a unit of systemd or a desktop file starts.
pub(super) fn unit(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let (key, value) = line.trim().split_once('=')?;
        (key.starts_with("Exec") && !value.is_empty())
            .then(|| value.trim_start_matches(['-', '+', '@', '!', ':']).to_owned())
    };
    text.lines().filter_map(line).take(MAX_COMMANDS).collect()
}

/// The shell's lines in a cell of a notebook, or nothing where all of it is the interpreter's.
pub(super) fn cell(text: &str) -> Vec<String> {
    let trimmed = text.trim_start();
    for magic in ["%%bash", "%%sh", "%%script bash", "%%script sh", "%%!"] {
        if let Some(rest) = trimmed.strip_prefix(magic) {
            return vec![rest.split_once('\n').map_or("", |(_, body)| body).to_owned()];
        }
    }
    let line = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix('!')
            .or_else(|| line.strip_prefix("%sx "))
            .or_else(|| line.strip_prefix("%system "))
            .map(str::to_owned)
    };
    text.lines().filter_map(line).take(MAX_COMMANDS).collect()
}

/// The cells of a notebook that hold code.
pub(super) fn cells(text: &str) -> Vec<String> {
    let Ok(Value::Object(book)) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(Value::Array(cells)) = book.get("cells") else { return Vec::new() };
    let code = cells.iter().filter(|cell| cell.get("cell_type").and_then(Value::as_str) == Some("code"));
    let source = |cell: &Value| match cell.get("source") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(lines)) => Some(lines.iter().filter_map(Value::as_str).collect()),
        _ => None,
    };
    code.filter_map(source).take(MAX_COMMANDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_yaml() {
        for (text, expected) in [
            ("    - run: echo a", vec!["echo a"]),
            ("a:\n  script:\n    - echo a\n    - echo b\n  stage: x", vec!["echo a", "echo b"]),
            ("script:\n- echo a\nstage: x", vec!["echo a"]),
            (
                "    - run: |\n        echo a\n        echo b\n      env:\n        X: y",
                vec!["echo a\necho b\n"],
            ),
            ("  command: [\"sh\", \"-c\", \"echo a\"]", vec!["echo a"]),
            ("  entry: bash -c \"echo a\"", vec!["bash -c \"echo a\""]),
            ("  message: rm -rf /", vec![]),
            (
                "- id: a\n  language: pygrep\n  entry: rm -rf /\n- id: b\n  language: system\n  entry: ls",
                vec!["ls"],
            ),
            ("- id: a\n  language: pygrep\n  language: system\n  entry: ls -l", vec!["ls -l"]),
            ("  steps:\n    - run: echo a", vec!["echo a"]),
        ] {
            assert_eq!(yaml(text), expected, "{text}");
        }
    }

    #[test]
    fn commands_of_other_files() {
        assert_eq!(recipes("all: x\n\t@rm -rf $(HOME)\nX := y"), ["rm -rf $HOME"]);
        assert_eq!(recipes("X := $(shell id -u)\nall:\n\tls"), ["ls", "id -u"]);
        assert_eq!(lines("[testenv]\ncommands =\n    ls -l\n    id\ndeps = x\n", false), ["ls -l", "id"]);
        assert_eq!(docker("FROM a\nRUN --mount=type=cache a \\\n && b\nCMD [\"x\"]"), ["a   && b", "x"]);
        assert_eq!(cron("# x\n* * * * * ls -l\n@reboot id\nA=b"), ["ls -l", "id"]);
        assert_eq!(unit("[Service]\nExecStart=-/bin/x y\n"), ["/bin/x y"]);
        assert_eq!(cell("x = 1\n!ls\n"), ["ls"]);
        assert_eq!(cell("%%bash\nls\nid"), ["ls\nid"]);
    }
}
