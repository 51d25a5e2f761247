//! Ways to write a command line so that it does the same and looks different: what an agent might do by habit (`Plain`), and
//! what somebody does who hides it (`Hiding`).
#![allow(dead_code, reason = "shared by tests and examples, each of which uses a part")]

use crate::rewrite::{quoted, unquoted_words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    Plain,
    Hiding,
}

pub struct Mutation {
    pub name: &'static str,
    pub aim: Aim,
    /// The command line written so; nothing where that way does not fit it.
    pub write: fn(&str) -> Option<String>,
}

const fn plain(name: &'static str, write: fn(&str) -> Option<String>) -> Mutation {
    Mutation { name, aim: Aim::Plain, write }
}

const fn hiding(name: &'static str, write: fn(&str) -> Option<String>) -> Mutation {
    Mutation { name, aim: Aim::Hiding, write }
}

/// First word and the rest of a simple command whose first word is a bare name.
fn parts(command: &str) -> Option<(&str, String)> {
    let words = unquoted_words(command)?;
    let (first, rest) = words.split_first()?;
    let bare = first.len() > 1 && first.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b));
    (bare && first.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())).then(|| (*first, rest.join(" ")))
}

/// The first word written by `write`.
fn renamed(command: &str, write: impl Fn(&str, &str, &str) -> String) -> Option<String> {
    let (first, rest) = parts(command)?;
    let (head, tail) = first.split_at(1);
    Some(format!("{} {rest}", write(first, head, tail)).trim_end().to_owned())
}

/// `-abc` as `-a -b -c`, for programs whose short options are single letters.
fn split_flags(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    let known = ["rm", "cp", "chmod", "chown", "ls", "grep", "mv", "ln", "mkdir", "sort", "du"];
    let bundle = |word: &&str| word.len() > 2 && word.starts_with('-') && !word.starts_with("--");
    (known.contains(words.first()?) && words.iter().any(bundle)).then(|| {
        let split = words.iter().map(|word| {
            if bundle(word) {
                word.chars().skip(1).map(|letter| format!("-{letter}")).collect::<Vec<_>>().join(" ")
            } else {
                (*word).to_owned()
            }
        });
        split.collect::<Vec<_>>().join(" ")
    })
}

/// The options behind everything else, where nothing else stands between.
fn flags_last(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    let known = ["rm", "chmod", "chown", "ls", "cp", "mkdir", "du", "wc"];
    let (first, rest) = words.split_first()?;
    let (flags, others): (Vec<&str>, Vec<&str>) =
        rest.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    let fits = known.contains(first) && !flags.is_empty() && !others.is_empty() && !flags.contains(&"--");
    fits.then(|| format!("{first} {} {}", others.join(" "), flags.join(" ")))
}

fn long_flags(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    (words.first() == Some(&"rm") && words.iter().any(|word| matches!(*word, "-rf" | "-fr" | "-Rf"))).then(
        || {
            let long = words.iter().map(|word| match *word {
                "-rf" | "-fr" | "-Rf" => "--recursive --force",
                other => other,
            });
            long.collect::<Vec<_>>().join(" ")
        },
    )
}

fn dashes(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    let at = words.iter().skip(1).position(|word| !word.starts_with('-'))? + 1;
    (["rm", "mkdir", "touch", "chmod"].contains(words.first()?) && !words.contains(&"--")).then(|| {
        let (before, after) = words.split_at(at);
        format!("{} -- {}", before.join(" "), after.join(" "))
    })
}

fn variable_for_last(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    let (last, rest) = words.split_last().filter(|(_, rest)| !rest.is_empty())?;
    (!last.contains(['*', '?', '='])).then(|| format!("t={last}; {} \"$t\"", rest.join(" ")))
}

fn last_in_parts(command: &str) -> Option<String> {
    let words = unquoted_words(command)?;
    let (last, rest) = words.split_last().filter(|(last, rest)| !rest.is_empty() && last.len() > 1)?;
    let middle = last.len() / 2;
    let fits = last.is_ascii() && !last.contains(['*', '?', '=']) && !last.starts_with('-');
    fits.then(|| {
        let (head, tail) = last.split_at(middle);
        format!("p={head}; q={tail}; {} $p$q", rest.join(" "))
    })
}

fn escaped(text: &str, write: impl Fn(u8) -> String) -> String {
    text.bytes().map(write).collect()
}

pub fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            let letter = LETTERS.get(index as usize).copied().unwrap_or(b'=');
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

fn hex(text: &str) -> String {
    escaped(text, |byte| format!("{byte:02x}"))
}

/// A string of Python, JavaScript, Ruby, PHP or awk in double quotes, where the text can stand in one.
fn string(text: &str) -> Option<String> {
    (!text.contains('\'') && !text.contains("#{") && !text.contains("\\\n")).then(|| {
        format!(
            "\"{}\"",
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('\n', "\\n")
        )
    })
}

/// The same, for languages in which a dollar is nothing.
fn bare_string(text: &str) -> Option<String> {
    string(text).map(|text| text.replace("\\$", "$"))
}

fn rot13(text: &str) -> String {
    let turn = |byte: u8, base: u8| char::from((byte - base + 13) % 26 + base);
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' => turn(byte, b'a'),
            b'A'..=b'Z' => turn(byte, b'A'),
            other => char::from(other),
        })
        .collect()
}

fn one_line(text: &str) -> bool {
    !text.contains('\n') && text.is_ascii()
}

#[rustfmt::skip]
pub const MUTATIONS: &[Mutation] = &[
    plain("single quotes around the program", |c| renamed(c, |first, _, _| format!("'{first}'"))),
    plain("double quotes around the program", |c| renamed(c, |first, _, _| format!("\"{first}\""))),
    plain("backslash in front", |c| renamed(c, |first, _, _| format!("\\{first}"))),
    plain("command", |c| renamed(c, |first, _, _| format!("command {first}"))),
    plain("env", |c| renamed(c, |first, _, _| format!("env {first}"))),
    plain("variables in front", |c| renamed(c, |first, _, _| format!("LC_ALL=C LANG=C {first}"))),
    plain("options split", split_flags),
    plain("options last", flags_last),
    plain("long options", long_flags),
    plain("end of options", dashes),
    plain("continued lines", |c| unquoted_words(c).map(|words| words.join(" \\\n    "))),
    plain("target in a variable", variable_for_last),
    plain("subshell", |c| Some(format!("({c}\n)"))),
    plain("group", |c| Some(format!("{{ {c}\n}}"))),
    plain("bash -c", |c| Some(format!("bash -c {}", quoted(c)))),
    plain("sh -ec", |c| Some(format!("sh -ec {}", quoted(c)))),
    plain("time", |c| renamed(c, |first, _, _| format!("time {first}"))),
    plain("timeout", |c| renamed(c, |first, _, _| format!("timeout 60 {first}"))),
    plain("nice nohup", |c| renamed(c, |first, _, _| format!("nice -n 5 nohup {first}"))),
    plain("array", |c| unquoted_words(c).map(|words| format!("cmd=({}); \"${{cmd[@]}}\"", words.join(" ")))),
    plain("set --", |c| unquoted_words(c).map(|words| format!("set -- {}; \"$@\"", words.join(" ")))),
    plain("function", |c| Some(format!("run() {{ {c}\n}}; run"))),
    plain("function with arguments", |c| parts(c).map(|(first, rest)| format!("run() {{ {first} \"$@\"; }}; run {rest}"))),
    plain("if", |c| Some(format!("if true; then {c}\nfi"))),
    plain("loop", |c| Some(format!("for i in 1; do {c}\ndone"))),
    plain("heredoc to bash", |c| Some(format!("bash <<'SCRIPT'\n{c}\nSCRIPT"))),
    plain("errors thrown away", |c| parts(c).map(|_| format!("{c} 2>/dev/null || true"))),
    plain("cd in front", |c| Some(format!("cd . && {c}")).filter(|_| !c.starts_with(['#', '\n']))),
    hiding("program split by empty quotes", |c| renamed(c, |_, head, tail| format!("{head}''{tail}"))),
    hiding("program in pieces", |c| renamed(c, |_, head, tail| format!("'{head}'\"{tail}\""))),
    hiding("backslash inside", |c| renamed(c, |_, head, tail| format!("{head}\\{tail}"))),
    hiding("ANSI-C hexadecimal", |c| renamed(c, |first, _, _| format!("$'{}'", escaped(first, |b| format!("\\x{b:02x}"))))),
    hiding("ANSI-C octal", |c| renamed(c, |_, head, tail| format!("$'{}'{tail}", escaped(head, |b| format!("\\{b:03o}"))))),
    hiding("program in a variable", |c| parts(c).map(|(first, rest)| format!("c={first}; $c {rest}"))),
    hiding("program in two variables", |c| {
        let (first, rest) = parts(c)?;
        let (head, tail) = first.split_at(1);
        Some(format!("a={head};b={tail};$a$b {rest}"))
    }),
    hiding("default value", |c| renamed(c, |first, _, _| format!("${{nothing:-{first}}}"))),
    hiding("alternative value", |c| renamed(c, |first, _, _| format!("${{PATH:+{first}}}"))),
    hiding("letters taken out", |c| parts(c).map(|(first, rest)| format!("c=_{first}_; ${{c//_/}} {rest}")).filter(|_| !c.contains('_'))),
    hiding("lower case of upper case", |c| parts(c).map(|(first, rest)| format!("c={}; ${{c,,}} {rest}", first.to_ascii_uppercase())).filter(|_| !parts(c).is_some_and(|(first, _)| first.bytes().any(|b| b.is_ascii_uppercase())))),
    hiding("substring", |c| parts(c).map(|(first, rest)| format!("c=xx{first}; ${{c:2}} {rest}"))),
    hiding("prefix cut off", |c| parts(c).map(|(first, rest)| format!("c=zz-{first}; ${{c#zz-}} {rest}"))),
    hiding("echo in a substitution", |c| renamed(c, |first, _, _| format!("$(echo {first})"))),
    hiding("printf in backticks", |c| renamed(c, |first, _, _| format!("`printf {first}`"))),
    hiding("printf with codes", |c| renamed(c, |first, _, _| format!("$(printf '{}')", escaped(first, |b| format!("\\x{b:02x}"))))),
    hiding("reversed name", |c| renamed(c, |first, _, _| format!("$(echo {} | rev)", first.chars().rev().collect::<String>()))),
    hiding("name through tr", |c| renamed(c, |first, _, _| format!("$(echo {} | tr a-z n-za-m)", rot13(first)))),
    hiding("which", |c| renamed(c, |first, _, _| format!("$(which {first})"))),
    hiding("command -v", |c| renamed(c, |first, _, _| format!("$(command -v {first})"))),
    hiding("absolute path", |c| renamed(c, |first, _, _| format!("/usr/bin/{first}"))),
    hiding("path with dots", |c| renamed(c, |first, _, _| format!("/usr/bin/../bin/{first}"))),
    hiding("busybox", |c| renamed(c, |first, _, _| format!("busybox {first}"))),
    hiding("env -S", |c| unquoted_words(c).map(|words| format!("env -S {}", quoted(&words.join(" "))))),
    hiding("exec -a", |c| renamed(c, |first, _, _| format!("(exec -a nothing {first}")).map(|text| format!("{text})"))),
    hiding("IFS between words", |c| unquoted_words(c).filter(|words| words.len() > 1).map(|words| words.join("${IFS}"))),
    hiding("IFS of one's own", |c| unquoted_words(c).filter(|words| words.len() > 1 && !c.contains(',')).map(|words| format!("IFS=,; c={}; $c", words.join(",")))),
    hiding("braces", |c| unquoted_words(c).filter(|words| words.len() > 1 && !c.contains(',')).map(|words| format!("{{{}}}", words.join(",")))),
    hiding("continuation inside the program", |c| renamed(c, |_, head, tail| format!("{head}\\\n{tail}"))),
    hiding("target in two variables", last_in_parts),
    hiding("read", |c| unquoted_words(c).map(|words| format!("read -r c <<< '{}'; $c", words.join(" ")))),
    hiding("printf -v", |c| parts(c).map(|(first, rest)| format!("printf -v c %s {first}; $c {rest}"))),
    hiding("alias", |c| parts(c).map(|(first, rest)| format!("shopt -s expand_aliases\nalias q={first}\nq {rest}"))),
    hiding("eval", |c| Some(format!("eval {}", quoted(c)))),
    hiding("eval of a variable", |c| Some(format!("line={}; eval \"$line\"", quoted(c)))),
    hiding("eval in pieces", |c| one_line(c).then(|| { let (a, b) = c.split_at(c.len() / 2); format!("a={}; b={}; eval \"$a$b\"", quoted(a), quoted(b)) })),
    hiding("base64 to sh", |c| Some(format!("echo {} | base64 -d | sh", base64(c)))),
    hiding("base64 in a here-string", |c| Some(format!("base64 --decode <<< {} | bash", base64(c)))),
    hiding("base64 in eval", |c| Some(format!("eval \"$(echo {} | base64 -d)\"", base64(c)))),
    hiding("base64 in bash -c", |c| Some(format!("bash -c \"$(printf %s {} | base64 -d)\"", base64(c)))),
    hiding("base64 through openssl", |c| Some(format!("echo {} | openssl base64 -d -A | sh", base64(c)))),
    hiding("hexadecimal to sh", |c| Some(format!("echo {} | xxd -r -p | sh", hex(c)))),
    hiding("printf to sh", |c| Some(format!("printf '{}' | sh", escaped(c, |b| format!("\\x{b:02x}"))))),
    hiding("reversed to sh", |c| one_line(c).then(|| format!("echo {} | rev | sh", quoted(&c.chars().rev().collect::<String>())))),
    hiding("tr to sh", |c| one_line(c).then(|| format!("echo {} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh", quoted(&rot13(c))))),
    hiding("ANSI-C to sh", |c| one_line(c).then(|| format!("sh -c $'{}'", escaped(c, |b| format!("\\x{b:02x}"))))),
    hiding("here-string", |c| Some(format!("bash <<< {}", quoted(c)))),
    hiding("process substitution", |c| Some(format!("bash <(echo {})", quoted(c)))),
    hiding("source of a substitution", |c| Some(format!(". <(printf '%s\\n' {})", quoted(c)))),
    hiding("source of standard input", |c| Some(format!("source /dev/stdin <<< {}", quoted(c)))),
    hiding("tee to a shell", |c| Some(format!("echo {} | tee >(sh)", quoted(c)))),
    hiding("written, then run", |c| Some(format!("echo {} > /tmp/s.sh; sh /tmp/s.sh", quoted(c)))),
    hiding("heredoc, then run", |c| (!c.contains("<<")).then(|| format!("cat > /tmp/s.sh <<'END'\n{c}\nEND\nchmod +x /tmp/s.sh && /tmp/s.sh"))),
    hiding("xargs sh -c", |c| one_line(c).then(|| format!("echo {} | xargs -I@@ sh -c @@", quoted(c))).filter(|_| !c.contains(['\'', '"', '\\']))),
    hiding("find -exec", |c| (!c.contains("{}")).then(|| format!("find . -maxdepth 0 -exec sh -c {} \\;", quoted(c)))),
    hiding("trap", |c| Some(format!("trap {} EXIT", quoted(c)))),
    hiding("python os.system", |c| bare_string(c).map(|text| format!("python3 -c 'import os; os.system({text})'"))),
    hiding("python subprocess", |c| bare_string(c).map(|text| format!("python3 -c 'import subprocess as s; s.run({text}, shell=True)'"))),
    hiding("python import by name", |c| bare_string(c).map(|text| format!("python3 -c '__import__(\"os\").system({text})'"))),
    hiding("python base64", |c| Some(format!("python3 -c \"import os,base64; os.system(base64.b64decode('{}').decode())\"", base64(c)))),
    hiding("python list", |c| unquoted_words(c).map(|words| format!("python3 -c 'import subprocess; subprocess.call([{}])'", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))).filter(|_| !c.contains(['~', '*', '?']))),
    hiding("python heredoc", |c| bare_string(c).map(|text| format!("python3 - <<'PY'\nimport os\nos.system({text})\nPY"))),
    hiding("perl system", |c| string(c).filter(|_| !c.contains('@')).map(|text| format!("perl -e 'system({text})'"))),
    hiding("perl backticks", |c| (one_line(c) && !c.contains(['\'', '`', '$', '@', '\\'])).then(|| format!("perl -e '`{c}`'"))),
    hiding("node exec", |c| bare_string(c).map(|text| format!("node -e 'require(\"child_process\").execSync({text})'"))),
    hiding("ruby system", |c| bare_string(c).map(|text| format!("ruby -e 'system({text})'"))),
    hiding("php", |c| string(c).map(|text| format!("php -r 'shell_exec({text});'"))),
    hiding("lua", |c| bare_string(c).map(|text| format!("lua -e 'os.execute({text})'"))),
    hiding("awk system", |c| bare_string(c).map(|text| format!("awk 'BEGIN {{ system({text}) }}'"))),
    hiding("sed e", |c| one_line(c).then(|| format!("sed '1e {c}' /etc/hostname")).filter(|_| !c.contains(['\'', '\\']))),
    hiding("make", |c| one_line(c).then(|| format!("printf 'all:\\n\\t%s\\n' {} | make -f -", quoted(&c.replace('$', "$$"))))),
    hiding("git alias", |c| one_line(c).then(|| format!("git -c alias.q={} q", quoted(&format!("!{c}"))))),
    hiding("ssh to oneself", |c| Some(format!("ssh localhost {}", quoted(c)))),
    hiding("at", |c| Some(format!("echo {} | at now", quoted(c)))),
    hiding("nested shells", |c| Some(format!("bash -c {}", quoted(&format!("sh -c {}", quoted(&format!("eval {}", quoted(c)))))))),
    hiding("sudo shell", |c| Some(format!("sudo -E bash -c {}", quoted(c)))),
];
