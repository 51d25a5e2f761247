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

/// Constructs of the shell by which a command is run that does not stand where commands stand.
pub const CONSTRUCTS: &[Wrapper] = &[
    single("set -- x bash -c ", "; \"${@:2}\""),
    single("set -- bash -c ", "; \"${@:1}\""),
    single("set -- x y bash -c ", "; shift $((1+1)); \"$@\""),
    single("set -- x bash -c ", "; \"${@: -3}\""),
    single("bash -c '\"${@:1}\"' _ bash -c ", ""),
    single("bash -c '\"${@:2}\"' _ x bash -c ", ""),
    single("bash -c '\"${@:0}\"' bash -c ", ""),
    single("run() { \"${@:2}\"; }; run x bash -c ", ""),
    single("own=(x sh -c ", "); unset 'own[0]'; \"${own[@]}\""),
    single("own=(x sh -c ", "); \"${own[@]:1}\""),
    single("own=(x sh -c ", "); for at in 1; do \"${own[@]:$at}\"; done"),
    single("own=(Xbash -c ", "); \"${own[@]#X}\""),
    single("own=(sh -c ", "); way='own[@]'; \"${!way}\""),
    single("own=(true ", "); for at in 0 1; do eval \"${own[at]}\"; done"),
    single("own=(true ", "); at=0; while ((at < 2)); do eval \"${own[$at]}\"; ((at++)); done"),
    single("printf -v 'own[0]' %s ", "; eval \"${own[0]}\""),
    single("declare -A own=([k]=", "); eval \"${own[k]}\""),
    single("mapfile -d '' -t own <<< ", "; eval \"${own[0]}\""),
    single("OWN_LINE=", "; declare -a 'own=(bash -c \"$OWN_LINE\")'; \"${own[@]}\""),
    single("exec 3<<< ", "; bash <&3"),
    single("exec 3<<< ", "; bash /proc/self/fd/3"),
    single("exec 3<<< ", "; exec 4<&3; . /dev/fd/4"),
    single("exec {fd}<<< ", "; bash <&$fd"),
    single("exec <<< ", "; sh"),
    single("exec 3< <(printf '%s\\n' ", "); bash <&3"),
    single("{ bash <&3; } 3< <(printf '%s\\n' ", ")"),
    single("{ sh; } < <(printf '%s\\n' ", ")"),
    single("exec > >(sh); printf '%s\\n' ", ""),
    single("coproc { printf '%s\\n' ", "; }; bash <&\"${COPROC[0]}\""),
    single("coproc sh; printf '%s\\n' ", " >&\"${COPROC[1]}\""),
    single("OWN_LINE=", "; [[ 'own[$(eval \"$OWN_LINE\")]' -eq 1 ]]"),
    single("OWN_LINE=", "; [[ -v 'own[$(eval \"$OWN_LINE\")]' ]]"),
    single("OWN_LINE=", "; test -v 'own[$(eval \"$OWN_LINE\")]'"),
    single("OWN_LINE=", "; printf -v 'own[$(eval \"$OWN_LINE\")]' x"),
    single("OWN_LINE=", "; unset 'own[$(eval \"$OWN_LINE\")]'"),
    single("OWN_LINE=", "; key='own[$(eval \"$OWN_LINE\")]'; ((key))"),
    single("OWN_LINE=", "; echo ${none:'own[$(eval \"$OWN_LINE\")]'}"),
    single("BASH_CMDS[zz]=/bin/bash; zz -c ", ""),
    single("hash -p /bin/bash zz; zz -c ", ""),
    single("declare 'BASH_CMDS[zz]=/bin/bash'; zz -c ", ""),
    single("/proc/self/exe -c ", ""),
    single("exec /proc/$$/exe -c ", ""),
    single("env OWN_LINE=", " 'BASH_FUNC_zz%%=() { eval \"$OWN_LINE\"; }' bash -c zz"),
    single("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=", " git log"),
    single("PSQL_PAGER=", " psql -l"),
    single(": ", "; eval \"$_\""),
    bare("pushd . > /dev/null; popd > /dev/null; ", ""),
    bare("cd . ; cd ~-; ", ""),
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
