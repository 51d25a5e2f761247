//! What other readers of the shell's language say: a real bash on what is accepted and on what words become, and two published
//! parsers on what is a command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use std::path::Path;
use std::process::Command;

use lazaret::shell::{Env, Problem, expand, parse};

fn sources() -> Vec<(String, bool)> {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("data/shell/cases.json")).expect("cases.json is JSON");
    let source =
        |case: &serde_json::Value| (case["src"].as_str().unwrap().to_owned(), case["exp"].is_array());
    cases.as_array().unwrap().iter().map(source).collect()
}

/// A generator of the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound
    }

    fn pick<'a, T: AsRef<str>>(&mut self, list: &'a [T]) -> &'a str {
        list[self.below(list.len())].as_ref()
    }
}

/// Runs a bash of the machine, with nothing of this process' environment.
fn bash(arguments: &[&str], directory: &Path) -> String {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash is needed for this test: install it and put it into PATH");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const TOKENS: [&str; 78] = [
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "$((",
    "))",
    "((",
    "<<E",
    "<",
    ">",
    ">>",
    "\n",
    "\\\n",
    "#",
    " do ",
    " done",
    "if ",
    " then ",
    " fi",
    "case x in ",
    " esac",
    " in ",
    ";;",
    "function ",
    "for i ",
    "while ",
    "[[ ",
    " ]]",
    "=",
    "[",
    "]",
    "! ",
    "time ",
    "coproc ",
    "=(",
    "*",
    "?",
    "~",
    "$'",
    "<(",
    ">(",
    "<<<",
    "&>",
    ">&",
    "2>",
    "|&",
    ";&",
    "\\",
    "$",
    "x",
    " ",
    "else ",
    "elif ",
    "until ",
    "select ",
    " a ",
    "E",
    "\nE\n",
    "<<-E",
    "<<'E'",
    "@(",
    "!(",
    "{fd}>",
    "a[",
    "x=",
    "f()",
    "$[",
    "$\"",
];

/// Cases with a few things cut, doubled, inserted, or joined.
fn mutants(count: usize) -> Vec<String> {
    let sources: Vec<String> =
        sources().into_iter().map(|(source, _)| source).filter(|s| s.len() < 200).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut out = Vec::new();
    while out.len() < count {
        let mut text = random.pick(&sources).to_owned();
        for _ in 0..=random.below(3) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (a, b) = (places[random.below(places.len())], places[random.below(places.len())]);
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 6));
            let to = if text.is_char_boundary(to) { to } else { from };
            match random.below(6) {
                0 => text.replace_range(from..to, ""),
                1 => text.insert_str(from, &text[from..to].to_owned()),
                2 | 3 => text.insert_str(from, random.pick(&TOKENS)),
                4 => text.replace_range(from..to, random.pick(&TOKENS)),
                _ => {
                    text.push_str(random.pick(&["; ", " ", "\n", "|", ""]));
                    text.push_str(random.pick(&sources));
                }
            }
        }
        if !text.contains('\0') {
            out.push(text);
        }
    }
    out
}

/// What `bash -n` says of each text.
fn bash_accepts(texts: &[String]) -> Vec<bool> {
    let directory = tempfile::tempdir().unwrap();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(directory.path().join(format!("{index:05}")), text).unwrap();
    }
    let script = r#"for f in *; do
        answer=yes
        e=$(bash -n "$f" 2>&1) || answer=no
        while read -r line; do [[ -z $line || $line == *': warning: '* ]] || answer=no; done <<< "$e"
        echo "$answer"
    done"#;
    let answers: Vec<bool> =
        bash(&["-c", script], directory.path()).lines().map(|line| line == "yes").collect();
    assert_eq!(answers.len(), texts.len(), "bash read all of them");
    answers
}

#[test]
fn bash_accepts_what_we_accept() {
    let texts = mutants(4000);
    let answers = bash_accepts(&texts);
    let (mut same, mut too_strict, mut too_lax) = (0, Vec::new(), Vec::new());
    for (text, accepted) in texts.iter().zip(answers) {
        let problem = parse(text).problem;
        assert!(!matches!(problem, Some(Problem::Bound(_))), "{text:?}");
        match (accepted, problem) {
            (true, Some(problem)) => too_strict.push(format!("{text:?} {problem:?}")),
            (false, None) => too_lax.push(format!("{text:?}")),
            _ => same += 1,
        }
    }
    eprintln!(
        "same {same}\ntoo strict {}:\n{}\ntoo lax {}:\n{}",
        too_strict.len(),
        too_strict.join("\n"),
        too_lax.len(),
        too_lax.join("\n")
    );
}
