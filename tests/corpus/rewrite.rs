//! Other ways to write a command line that still do what it does.
#![allow(dead_code, reason = "shared by tests and examples, each of which uses a part")]

/// The text as one word of the shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The text inside double quotes, with nothing of it expanded.
fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        if matches!(letter, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
    out
}

/// What the shell itself runs: a program put in front does not run it.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "for",
    "function",
    "hash",
    "history",
    "if",
    "jobs",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shopt",
    "source",
    "time",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "{",
    "!",
    "[[",
    "((",
];

/// One command of a program, with nothing of the shell's around it: what is put in front of it takes it all.
pub fn is_simple(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let plain =
        !command.contains(['\n', ';', '|', '&', '(', ')', '{', '}', '`', '#', '<', '>', '!', '[', '*', '?']);
    plain
        && !command.starts_with([' ', '$', '"', '\'', '~'])
        && !first.contains('=')
        && !BUILTINS.contains(&first)
}

/// A way to run a command line inside something else.
pub struct Wrapper {
    before: &'static str,
    how: How,
    after: &'static str,
}

enum How {
    /// As it stands.
    Bare,
    /// As one word in single quotes.
    Single,
    /// As one word in double quotes.
    Double,
}

impl Wrapper {
    /// The command line in the wrapper; nothing where the wrapper's own words would be lost in it.
    pub fn around(&self, command: &str) -> Option<String> {
        let Wrapper { before, how, after } = self;
        let inner = match how {
            How::Bare => command.to_owned(),
            How::Single => quoted(command),
            How::Double => double_quoted(command),
        };
        // What is over before its end would swallow the wrapper's.
        let open = matches!(how, How::Bare) && (command.contains("<<") || command.ends_with('\\'));
        // `find` puts the file's name in the place of `{}`, wherever it stands.
        let replaced = before.starts_with("find") && command.contains("{}");
        (!replaced && (!open || after.is_empty() || after.starts_with('\n')))
            .then(|| format!("{before}{inner}{after}"))
    }
}

const fn bare(before: &'static str, after: &'static str) -> Wrapper {
    Wrapper { before, how: How::Bare, after }
}

const fn single(before: &'static str, after: &'static str) -> Wrapper {
    Wrapper { before, how: How::Single, after }
}

const fn double(before: &'static str, after: &'static str) -> Wrapper {
    Wrapper { before, how: How::Double, after }
}

pub const WRAPPERS: &[Wrapper] = &[
    bare("true && { ", "\n}"),
    bare("false || { ", "\n}"),
    bare("true; ", ""),
    bare("(", "\n)"),
    bare("{ ", "\n}"),
    bare("{ ", "\n} &"),
    bare("{ ", "\n} 2>&1 | cat"),
    bare("true | { ", "\n}"),
    bare("! { ", "\n}"),
    bare("if true; then\n", "\nfi"),
    bare("if ", "\nthen :; fi"),
    bare("if false; then :; else\n", "\nfi"),
    bare("for i in 1; do\n", "\ndone"),
    bare("while true; do\n", "\nbreak; done"),
    bare("case x in x)\n", "\n;; esac"),
    bare("f() {\n", "\n}; f"),
    bare("function g {\n", "\n}\ng"),
    bare("time { ", "\n}"),
    bare("echo \"$(", "\n)\""),
    bare("x=$(", "\n)"),
    bare("cat <(", "\n)"),
    single("sh -c ", ""),
    single("bash -c ", ""),
    double("bash -c ", ""),
    single("bash -lc ", ""),
    single("bash -euo pipefail -c ", ""),
    single("/bin/bash -c ", ""),
    single("eval ", ""),
    double("eval ", ""),
    single("sudo sh -c ", ""),
    single("sudo -u root -H bash -c ", ""),
    single("doas sh -c ", ""),
    single("env FIRST_OF_LAWS=1 OTHER_OF_LAWS=2 bash -c ", ""),
    single("env -i PATH=/bin:/usr/bin sh -c ", ""),
    single("nice -n 19 bash -c ", ""),
    single("ionice -c3 nice bash -c ", ""),
    single("timeout 30 bash -c ", ""),
    single("timeout -s KILL 5m sh -c ", ""),
    single("nohup bash -c ", " >/dev/null 2>&1 &"),
    single("setsid sh -c ", ""),
    single("stdbuf -oL bash -c ", ""),
    single("flock /tmp/lock sh -c ", ""),
    single("flock /tmp/lock -c ", ""),
    single("echo 1 | xargs -I@@ sh -c ", ""),
    single("find . -maxdepth 0 -exec sh -c ", " \\;"),
    single("watch -n 5 ", ""),
    single("trap ", " EXIT"),
    single("su -c ", ""),
    single("bash <<< ", ""),
    single("echo ", " | sh"),
    single("printf '%s\\n' ", " | bash -s"),
    single("LINE=", "; eval \"$LINE\""),
    single("LINE=", "; bash -c \"$LINE\""),
    single("strace -f bash -c ", ""),
    single("script -qc ", " /dev/null"),
    single("parallel ::: ", ""),
];

/// What is put in front of one simple command.
pub const PREFIXES: &[&str] = &[
    "sudo",
    "sudo -n -E",
    "sudo -u root --",
    "doas",
    "env",
    "env A=1",
    "A=1",
    "nice",
    "nice -n 10",
    "ionice -c 3",
    "timeout 10",
    "timeout -k 5 10s",
    "nohup",
    "setsid",
    "stdbuf -o0",
    "command",
    "exec",
    "busybox",
    "time",
    "xargs -I@@",
    "flock -n /tmp/l",
    "chrt -b 0",
    "taskset 1",
    "unshare -r",
    "catchsegv",
    "setarch -R",
];

type Rewrite = fn(&str) -> Option<String>;

/// What changes nothing of what a command line does.
pub const PADDINGS: &[Rewrite] = &[
    |command| Some(format!("   {command}")),
    |command| Some(format!("\n\n{command}\n\n")),
    |command| Some(format!("# a note: it's \"all\" $(right\n{command}")),
    |command| Some(format!("true && {command}")).filter(|_| !command.starts_with(['\n', '#'])),
    |command| Some(format!("{command}\ntrue")),
    |command| Some(format!(": 'nothing'; {command}")).filter(|_| !command.starts_with(['\n', '#'])),
    |command| Some(format!("cd . && {command}")).filter(|_| !command.starts_with(['\n', '#'])),
    |command| Some(format!("set -euo pipefail\n{command}\necho done")),
    |command| is_simple(command).then(|| format!("{command} # and no more")),
    |command| is_simple(command).then(|| format!("{command}; true")),
    |command| is_simple(command).then(|| format!("{command} || true")),
    |command| is_simple(command).then(|| format!("{command} 2>/dev/null")),
    |command| is_simple(command).then(|| format!("{command} > /dev/null 2>&1")),
    |command| unquoted_words(command).map(|words| words.join("   ")),
    |command| unquoted_words(command).map(|words| words.join(" \\\n  ")),
    |command| unquoted_words(command).map(|words| words.join("\t")),
    |command| quote_words(command, "'"),
    |command| quote_words(command, "\""),
];

/// The words of a simple command in which nothing is quoted or expanded.
pub fn unquoted_words(command: &str) -> Option<Vec<&str>> {
    let plain = is_simple(command) && !command.contains(['\'', '"', '\\', '$', '~']);
    plain.then(|| command.split_whitespace().collect())
}

fn quote_words(command: &str, quote: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    Some(words.iter().map(|word| format!("{quote}{word}{quote}")).collect::<Vec<_>>().join(" "))
}
