//! What the arguments of a tool that we do not know say of themselves: command lines, code, files. Goes by names alone, and
//! looks at a bounded part of them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::json::{Object, decode_text};
use crate::domain::{Action, Claim, Tool, Usage, single_quoted, words_of};

/// Most values that are looked at.
const MAX_VALUES: usize = 2048;
/// Most claims that are kept.
const MAX_CLAIMS: usize = 64;
/// How deep arrays and objects are followed.
const MAX_DEPTH: u8 = 12;
/// Longest path that the system knows, in bytes.
const MAX_PATH: usize = 4096;

const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "commandline",
    "cmdline",
    "shellcommand",
    "clicommand",
    "awscommand",
    "kubectlcommand",
    "ghcommand",
    "gitcommand",
    "commandtext",
    "commandstring",
    "cmdstring",
    "cmdtext",
    "shellcmd",
    "execcommand",
    "execcmd",
    "sshcommand",
    "remotecommand",
    "bashcommand",
    "terminalcommand",
    "bash",
    "exec",
    "run",
    "argv",
    "commands",
    "cmds",
];
const CODE: &[&str] = &[
    "code",
    "script",
    "sourcecode",
    "snippet",
    "python",
    "javascript",
    "pythoncode",
    "jscode",
    "codesnippet",
];
/// Words in the names of tools to which code is typed.
const INTERPRETERS: &[&str] =
    &["python", "repl", "node", "interpreter", "jupyter", "ipython", "irb", "deno", "process"];
/// A program alone, which is a command with its arguments.
const PROGRAMS: &[&str] = &["program", "executable", "binary"];
/// What is typed into a shell.
const TYPED: &[&str] = &["input", "text", "keys", "line", "lines", "payload"];
/// Words behind a program.
const ARGUMENTS: &[&str] = &["args", "arguments", "argv", "params", "parameters"];
const DIRECTORIES: &[&str] = &["cwd", "workdir", "workingdirectory", "workingdir"];
/// Ends of names under which a file is given.
const FILES: &[&str] = &["path", "paths", "file", "files", "filename", "filenames"];
/// Names under which a file may be given; the value has to look like one.
const PLACES: &[&str] = &[
    "target",
    "destination",
    "dest",
    "dst",
    "to",
    "source",
    "src",
    "from",
    "output",
    "uri",
    "url",
    "location",
    "folder",
    "dir",
    "directory",
    "root",
];
/// Beginnings of the names under which a file is given that a tool writes to, even one that reads.
const RESULTS: &[&str] = &["output", "dest", "dst", "save", "to"];
/// What a tool is told to do, where it does several things.
const DEEDS: &[&str] =
    &["command", "action", "operation", "op", "method", "tool", "toolname", "functionname"];

/// Words in the names of tools that read; one of those that write outweighs them.
const READING: &[&str] = &[
    "read",
    "get",
    "list",
    "ls",
    "search",
    "find",
    "view",
    "stat",
    "show",
    "fetch",
    "query",
    "describe",
    "info",
    "tree",
    "grep",
    "glob",
    "head",
    "tail",
    "cat",
    "inspect",
    "diff",
    "compare",
    "count",
    "exists",
    "lookup",
    "browse",
    "status",
    "log",
    "blame",
    "history",
    "check",
    "analyze",
    "explain",
    "load",
    "parse",
    "validate",
    "preview",
    "scan",
    "symbols",
    "references",
    "definition",
    "hover",
    "diagnostics",
];
const WRITING: &[&str] = &[
    "write",
    "create",
    "edit",
    "update",
    "replace",
    "set",
    "put",
    "append",
    "insert",
    "patch",
    "save",
    "copy",
    "move",
    "rename",
    "modify",
    "change",
    "apply",
    "download",
    "touch",
    "format",
    "fix",
    "overwrite",
    "truncate",
    "restore",
];
const DELETING: &[&str] = &["delete", "remove", "rm", "unlink", "trash", "erase", "destroy", "purge"];
const SHELLS: &[&str] = &["shell", "bash", "terminal", "cmd", "zsh", "sh", "tmux", "pty"];

/// The claims in the raw arguments of `tool`.
pub(super) fn of(tool: &Tool, raw: &str) -> Vec<Claim> {
    let name = tool.name();
    let mut reader = Reader { words: words_of(&name), claims: Vec::new() };
    reader.values(raw);
    reader.claims
}

/// A name without what spellings differ in: `file_path`, `filePath`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

struct Reader {
    /// The words of the tool's name, and of what it is told to do.
    words: Vec<String>,
    claims: Vec<Claim>,
}

impl Reader {
    fn values(&mut self, raw: &str) {
        let mut open: Vec<(String, Cow<'_, str>, u8)> = vec![(String::new(), Cow::Borrowed(raw), 0)];
        let mut seen = 0;
        while let Some((key, value, depth)) = open.pop() {
            seen += 1;
            if seen > MAX_VALUES || depth > MAX_DEPTH || self.claims.len() > MAX_CLAIMS {
                self.claims.push(Claim::Unread);
                return;
            }
            let inner = match value.as_bytes().first() {
                Some(b'{') => self.object(&value),
                Some(b'[') => self.list(&key, &value),
                Some(b'"') => self.text(&key, &value).into_iter().collect(),
                _ => Vec::new(),
            };
            open.extend(inner.into_iter().rev().map(|(key, value)| (key, Cow::Owned(value), depth + 1)));
        }
    }

    /// Takes what an object says as a whole, and gives what else is in it.
    fn object(&mut self, raw: &str) -> Vec<(String, String)> {
        let Ok(object) = Object::parse(raw, "arguments") else {
            self.claims.push(Claim::Unread);
            return Vec::new();
        };
        let fields: Vec<(String, &str)> = object.fields().map(|(name, raw)| (plain(name), raw)).collect();
        let one = |names: &[&str]| fields.iter().find(|(name, _)| names.contains(&name.as_str()));
        if let Some(entry) = one(DEEDS).and_then(|(name, raw)| decode_text(raw, name).ok())
            && entry.len() <= 32
            && !entry.contains(char::is_whitespace)
        {
            self.words.extend(words_of(&entry));
        }
        let dir = one(DIRECTORIES).and_then(|(name, raw)| decode_text(raw, name).ok());
        let listed = one(ARGUMENTS).and_then(|(_, raw)| texts(raw));
        // In one text, behind a program of its own.
        let spoken = one(PROGRAMS).and(one(ARGUMENTS)).and_then(|(name, raw)| decode_text(raw, name).ok());
        let words = |text: Cow<'_, str>| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let arguments = listed.or_else(|| spoken.map(words)).unwrap_or_default();
        let mut rest = Vec::new();
        for (name, raw) in &fields {
            let started = PROGRAMS.contains(&name.as_str()) && !arguments.is_empty();
            let typed = TYPED.contains(&name.as_str()) && self.is_shell();
            if started || typed || COMMANDS.contains(&name.as_str()) {
                for line in command_lines(name, raw) {
                    let mut line = line;
                    for word in arguments.iter().filter(|_| name != "argv") {
                        line.push(' ');
                        line.push_str(&quoted(word));
                    }
                    if let Some(dir) = &dir {
                        line = format!("cd {} && {line}", quoted(dir));
                    }
                    self.command(line);
                }
            }
            // Large texts without a telling name are what they are: texts.
            let large = raw.len() > Action::MAX_CONTENT && raw.starts_with('"');
            if !large || CODE.contains(&name.as_str()) || is_file(name) {
                rest.push((name.clone(), (*raw).to_owned()));
            }
        }
        rest
    }

    fn command(&mut self, line: String) {
        let claim = if line.len() > Action::MAX_CONTENT { Claim::Unread } else { Claim::Command(line) };
        self.claims.push(claim);
    }

    fn list(&mut self, key: &str, raw: &str) -> Vec<(String, String)> {
        let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(raw) else {
            self.claims.push(Claim::Unread);
            return Vec::new();
        };
        if values.len() > MAX_VALUES {
            self.claims.push(Claim::Unread);
            return Vec::new();
        }
        values.into_iter().map(|value| (key.to_owned(), value.get().to_owned())).collect()
    }

    /// Takes a text for what its name says; gives the JSON that it holds where it holds some.
    fn text(&mut self, key: &str, raw: &str) -> Option<(String, String)> {
        let text = decode_text(raw, key).ok()?;
        let typed =
            TYPED.contains(&key) && self.words.iter().any(|word| INTERPRETERS.contains(&word.as_str()));
        // A cell of a notebook has a source as a file has one.
        let cell = key == "source" && self.words.iter().any(|word| matches!(word.as_str(), "cell" | "cells"));
        if typed || cell || CODE.contains(&key) {
            if text.len() > Action::MAX_CONTENT {
                self.claims.push(Claim::Unread);
            } else {
                // What is called code may be in any language, to whatever it is given.
                if self.is_shell() && key.starts_with("s") {
                    self.command(text.clone().into_owned());
                }
                self.claims.push(Claim::Code(text.into_owned()));
            }
            return None;
        }
        if is_file(key) || (PLACES.contains(&key) && looks_like_a_path(&text)) {
            let remote = text.contains("://") && !is_file_url(&text);
            if !text.is_empty() && text.len() <= MAX_PATH && !text.contains('\n') && !remote {
                self.claims.push(Claim::File { path: text.into_owned(), usage: self.usage(key) });
            }
            return None;
        }
        if is_absolute(&text) && text.len() <= MAX_PATH && !text.contains(char::is_whitespace) {
            if self.usage(key) != Usage::Read {
                self.claims.push(Claim::File { path: text.into_owned(), usage: Usage::Unsaid });
            }
            return None;
        }
        (text.starts_with('{') && ARGUMENTS.contains(&key)).then(|| (key.to_owned(), text.into_owned()))
    }

    fn is_shell(&self) -> bool {
        self.words.iter().any(|word| SHELLS.contains(&word.as_str()))
    }

    fn usage(&self, key: &str) -> Usage {
        let any = |list: &[&str]| self.words.iter().any(|word| list.contains(&word.as_str()));
        if any(DELETING) {
            return Usage::Delete;
        }
        if RESULTS.iter().any(|start| key.starts_with(start)) {
            return Usage::Write;
        }
        let copied = self.words.iter().any(|word| word == "copy") && matches!(key, "source" | "src" | "from");
        // What git is told to note, it does not change.
        let noted = any(&["git"]) && any(&["add", "commit", "stage"]);
        if copied || noted || (any(READING) && !any(WRITING)) { Usage::Read } else { Usage::Write }
    }
}

fn is_file(name: &str) -> bool {
    FILES.iter().any(|end| name.ends_with(end))
}

fn looks_like_a_path(text: &str) -> bool {
    is_absolute(text) || text.starts_with('.') || text.contains('/')
}

fn is_absolute(text: &str) -> bool {
    text.starts_with(['/', '~', '$']) || is_file_url(text)
}

fn is_file_url(text: &str) -> bool {
    text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"))
}

/// The texts in a raw list of texts.
fn texts(raw: &str) -> Option<Vec<String>> {
    raw.starts_with('[').then(|| serde_json::from_str(raw).ok())?
}

/// The command lines that a value stands for: a text, the words of one command, or (by a name in the plural) several.
fn command_lines(name: &str, raw: &str) -> Vec<String> {
    if let Some(words) = texts(raw) {
        return match words.as_slice() {
            _ if matches!(name, "commands" | "cmds") => words,
            // Of one script.
            _ if name == "lines" => vec![words.join("\n")],
            [_] => words,
            words => vec![words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")],
        };
    }
    decode_text(raw, name).map(|text| vec![text.into_owned()]).unwrap_or_default()
}

/// A word as a shell would have to be given it. A tilde stays bare: the tool may expand it.
fn quoted(word: &str) -> String {
    let bare =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~' | ':' | ',' | '=');
    if !word.is_empty() && word.chars().all(bare) {
        return word.to_owned();
    }
    single_quoted(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(tool: &str, raw: &str) -> Vec<Claim> {
        of(&Tool::Unknown(tool.to_owned()), raw)
    }

    fn file(path: &str, usage: Usage) -> Claim {
        Claim::File { path: path.to_owned(), usage }
    }

    fn command(line: &str) -> Claim {
        Claim::Command(line.to_owned())
    }

    #[test]
    fn commands_by_their_names() {
        for raw in [
            r#"{"command":"rm -rf x"}"#,
            r#"{"params":{"cmd":"rm -rf x"}}"#,
            r#"{"cmd":"rm","args":["-rf","x"]}"#,
            r#"{"argv":["rm","-rf","x"]}"#,
            r#"{"commands":["rm -rf x"]}"#,
            r#"{"calls":[{"Command_Line":"rm -rf x"}]}"#,
            r#"{"arguments":"{\"command\":\"rm -rf x\"}"}"#,
            r#"{"program":"rm","args":["-rf","x"]}"#,
            r#"{"program":"rm","arguments":"-rf x"}"#,
            r#"{"cli_command":"rm -rf x"}"#,
        ] {
            assert!(claims("t", raw).contains(&command("rm -rf x")), "{raw}: {:?}", claims("t", raw));
        }
        assert_eq!(
            claims("t", r#"{"command":["bash","-c","rm 'a b'"]}"#),
            [command("bash -c 'rm '\\''a b'\\'''")]
        );
        assert_eq!(claims("t", r#"{"cwd":"/a b","command":"ls"}"#), [command("cd '/a b' && ls")]);
        assert_eq!(claims("terminal_run", r#"{"lines":["cd ~","rm *"]}"#), [command("cd ~\nrm *")]);
        assert_eq!(claims("draw", r#"{"lines":["cd ~","rm *"]}"#), []);
    }

    #[test]
    fn files_by_names_and_deeds() {
        assert_eq!(claims("write_file", r#"{"path":"a","content":"rm -rf /"}"#), [file("a", Usage::Write)]);
        assert_eq!(claims("readFile", r#"{"filePath":"a"}"#), [file("a", Usage::Read)]);
        assert_eq!(claims("get_or_create", r#"{"path":"a"}"#), [file("a", Usage::Write)]);
        assert_eq!(claims("delete_file", r#"{"target":"/a"}"#), [file("/a", Usage::Delete)]);
        assert_eq!(claims("put", r#"{"uri":"file:///a"}"#), [file("file:///a", Usage::Write)]);
        assert_eq!(
            claims("copy_file", r#"{"source":"/a","destination":"/b"}"#),
            [file("/a", Usage::Read), file("/b", Usage::Write)]
        );
        assert_eq!(claims("edit", r#"{"edits":[{"file":"a"}]}"#), [file("a", Usage::Write)]);
        assert_eq!(claims("put", r#"{"name":"/a"}"#), [file("/a", Usage::Unsaid)]);
        assert_eq!(claims("get", r#"{"name":"/a","output":"/b"}"#), [file("/b", Usage::Write)]);
        let editor = claims("text_editor", r#"{"command":"view","path":"a"}"#);
        assert!(editor.contains(&file("a", Usage::Read)), "{editor:?}");
    }

    #[test]
    fn texts_are_texts() {
        for raw in [
            r#"{"title":"x","body":"rm -rf /"}"#,
            r#"{"to":"a@example.org","text":"see ~/.claude"}"#,
            r#"{"target":"production"}"#,
            r#"{"url":"https://example.org/a"}"#,
            r#"{"query":"rm -rf ~"}"#,
        ] {
            assert_eq!(claims("create_issue", raw), [], "{raw}");
        }
    }

    #[test]
    fn too_much_is_said_to_be() {
        let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
        assert_eq!(claims("t", &format!(r#"{{"x":{deep}}}"#)), [Claim::Unread]);
        let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(Action::MAX_CONTENT + 1));
        assert_eq!(claims("t", &long), [Claim::Unread]);
        let many = vec![r#"{"command":"ls"}"#; 100].join(",");
        assert!(claims("t", &format!("[{many}]")).contains(&Claim::Unread));
        assert_eq!(claims("t", r#"{"command":"a","command":"b"}"#), [Claim::Unread]);
    }
}
