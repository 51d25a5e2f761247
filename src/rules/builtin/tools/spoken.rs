//! The command lines that tools stand for which wrap a program of the command line, so that the rules for those judge them.

use crate::domain::{Action, Tool, ToolCall, Verdict, single_quoted};
use crate::rules::matcher::{Scene, Told, inner_verdict};

/// Servers that are given a script in a language of their own, the program that would run it, and the names of that argument.
const SCRIPTS: &[(&[&str], &str, &[&str])] = &[
    (&["redis", "valkey"], "redis-cli eval", &["script", "lua"]),
    (&["neo4j", "cypher", "memgraph"], "cypher-shell", &["query", "cypher", "statement"]),
];

words!("builtin/tools/spoken");

/// The strictest verdict on the command lines that a call stands for.
pub(super) fn verdict(told: &Told<'_>, scene: &Scene<'_>) -> Verdict {
    let mut worst = Verdict::Allow;
    for line in lines(told) {
        let action = Action::Shell { command: line, workdir: None };
        let call = ToolCall { tool: Tool::Bash, action, id: None };
        worst = worst.max(inner_verdict(scene, &call, scene.view.cwd));
    }
    worst
}

fn lines(told: &Told<'_>) -> Vec<String> {
    let mut out = Vec::new();
    // `helm_uninstall` of a cluster's server is helm's.
    let named = PROGRAMS.iter().find(|(word, _)| told.words.first().is_some_and(|first| first == word));
    let wrapped = named.or_else(|| PROGRAMS.iter().find(|(word, _)| told.names(&[*word])));
    if let Some((word, program)) = wrapped {
        out.push(line(told, word, program));
    }
    for (_, program, keys) in SCRIPTS.iter().filter(|(names, ..)| told.names(names)) {
        let text = told.values(keys).find(|text| text.len() <= 4096);
        out.extend(text.map(|text| format!("{program} {}", quoted(text))));
    }
    if told.has(&["move", "rename"])
        && let (Some(from), Some(to)) =
            (told.value(&["source", "from", "oldpath"]), told.value(&["destination", "to", "newpath"]))
        && from.starts_with(['/', '~'])
    {
        out.push(format!("mv {} {}", quoted(from), quoted(to)));
    }
    if told.has(&["chmod", "chown"])
        && let (Some(path), Some(mode)) = (
            told.value(&["path", "file", "target", "filepath"]),
            told.value(&["mode", "permissions", "owner", "user"]),
        )
    {
        let program = if told.has(&["chmod"]) { "chmod" } else { "chown" };
        let recursive = if told.is_on(&["recursive", "r"]) { " -R" } else { "" };
        out.push(format!("{program}{recursive} {} {}", quoted(mode), quoted(path)));
    }
    let method = told.value(&["method", "httpmethod", "verb"]).map(str::to_ascii_uppercase);
    if let (Some(method), Some(url)) = (method, told.value(&["url", "uri", "endpoint"]))
        && matches!(method.as_str(), "DELETE" | "PUT" | "POST" | "PATCH")
    {
        let body = told.value(&["body", "data", "payload", "json"]).unwrap_or_default();
        out.push(format!("curl -X {method} -d {} {}", quoted(body), quoted(url)));
    }
    out
}

fn line(told: &Told<'_>, word: &str, program: &str) -> String {
    let mut line = program.to_owned();
    let given: Vec<&str> = told.values(COMMAND_FIELDS).collect();
    let given: Vec<&str> = given.into_iter().filter(|text| text.len() <= 4096).collect();
    // The operations that were taken from the arguments are among the words; those of the name come first.
    let whole = told.value(&["command", "cmd", "clicommand"]).is_some();
    if !whole {
        for part in
            told.words.iter().filter(|part| *part != word && !FILLERS.contains(&part.as_str())).take(4)
        {
            line.push(' ');
            line.push_str(part);
        }
    }
    let one = given.len() == 1;
    for (at, text) in given.iter().enumerate() {
        let text = if at == 0 { text.trim().strip_prefix(program).unwrap_or(text).trim() } else { text };
        line.push(' ');
        // One text is a command line, several are its words.
        line.push_str(&if one { text.to_owned() } else { quoted(text) });
    }
    for (switch, flag) in SWITCHES {
        if told.is_on(&[*switch]) {
            line.push(' ');
            line.push_str(flag);
        }
    }
    if let Some(mode) =
        told.value(&["mode", "resettype"]).filter(|mode| mode.chars().all(|c| c.is_ascii_alphabetic()))
    {
        line.push_str(&format!(" --{mode}"));
    }
    // Only of git and of clusters it is known what the arguments' names mean.
    if matches!(program, "git" | "kubectl" | "helm") {
        if program == "git" && told.has(&["push"]) && told.value(&["remote"]).is_none() {
            line.push_str(" origin");
        }
        for name in OPERANDS {
            for value in told.values(&[*name]).take(16) {
                line.push(' ');
                line.push_str(&quoted(value));
            }
        }
    }
    if program == "kubectl"
        && let Some(format) = told.value(&["output", "outputformat"])
    {
        line.push_str(&format!(" -o {}", quoted(format)));
    }
    line
}

fn quoted(word: &str) -> String {
    let bare =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | ',' | '=' | '+');
    if !word.is_empty() && word.chars().all(bare) {
        return word.to_owned();
    }
    single_quoted(word)
}
