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

use lazaret::shell::{Problem, parse};

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
                1 => {
                    let again = text[from..to].to_owned();
                    text.insert_str(from, &again);
                },
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

/// Pieces at which words, substitutions and quotes begin and end.
const ENDS: [&str; 58] = [
    "\n",
    "\n",
    "\n",
    " ",
    " ",
    ";",
    "z",
    "y",
    "$((",
    "))",
    "((",
    ")",
    "(",
    "${x",
    "${x:-",
    "${x#",
    "}",
    "{",
    "$[",
    "]",
    "[",
    "a[",
    "]=",
    "x=",
    "=(",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "\\",
    "\\\n",
    "$'",
    "$\"",
    "<(",
    "$(",
    "<<E",
    "<<'E'",
    "<<-E",
    "\nE\n",
    "E",
    "#",
    " #",
    "[[ x == ",
    " ]]",
    "=~ ",
    "@(",
    "|",
    "&&",
    "case x in ",
    "esac",
    ";;",
    "if a; then ",
    "fi",
    "<<<",
    ">",
    "f() ",
    "$x",
];

/// Short texts in which everything may end anywhere, of those that we accept.
fn knots(count: usize) -> Vec<String> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut out = Vec::new();
    while out.len() < count {
        let text: String = (0..random.below(12) + 4).map(|_| random.pick(&ENDS)).collect();
        let ends = ["${", "$((", "((", "$[", "<(", "$(", "`", "a[", "<<", "\"", "'"];
        if text.contains('\n') && ends.iter().any(|end| text.contains(end)) && parse(&text).problem.is_none()
        {
            out.push(text);
        }
    }
    out
}

/// What bash prints for the body of a function: each line on which a command begins is indented, and what goes on inside of a
/// word or a here-document is not.
fn bash_prints(texts: &[String]) -> Vec<Option<String>> {
    let directory = tempfile::tempdir().unwrap();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(directory.path().join(format!("{index:05}")), format!("f() {{\n{text}\n}}\n"))
            .unwrap();
    }
    let script = r#"for f in *; do bash --pretty-print "$f" 2> /dev/null; printf '\0'; done"#;
    let printed = bash(&["-c", script], directory.path());
    let answers: Vec<&str> = printed.split('\0').collect();
    assert_eq!(answers.len(), texts.len() + 1, "bash read all of them");
    let print = |text: &&str| text.starts_with("f ()").then(|| (*text).to_owned());
    answers.iter().take(texts.len()).map(print).collect()
}

#[test]
fn bash_begins_commands_where_we_do() {
    let texts = knots(2000);
    // Of a text that it rejects bash still runs the lines before the error: what we accept in another reading may hide them.
    let rejected: Vec<&String> = texts
        .iter()
        .zip(bash_accepts(&texts))
        .filter(|(_, accepted)| !accepted)
        .map(|(text, _)| text)
        .collect();
    assert!(rejected.len() <= 2, "bash rejects {rejected:#?}");
    let (mut read, mut wrong) = (0, Vec::new());
    for (text, printed) in texts.iter().zip(bash_prints(&texts)) {
        let Some(printed) = printed else { continue };
        let script = parse(&printed);
        if script.problem.is_some() {
            continue;
        }
        read += 1;
        for command in &script.commands {
            let words = command.words.iter().chain(command.assigns.iter().map(|assign| &assign.value));
            for word in words.chain(command.redirects.iter().map(|redirect| &redirect.target)) {
                let inside = &printed[word.span.0..word.span.1];
                if inside.contains("\n    ") && !inside.contains("$(") && !inside.contains("<(") {
                    wrong.push(format!("{text:?}\n  {inside:?}"));
                }
            }
        }
    }
    assert!(read >= 800, "bash printed only {read}");
    assert!(wrong.is_empty(), "a word of ours goes over commands of bash:\n{}", wrong.join("\n"));
}

/// Why bash does not see an error that we report: it looks into these only when they run (and of a wrong `for ((` it says nothing).
fn read_late(text: &str) -> bool {
    ["`", "<<", "${ ", "${\n", "for ((", "<(("].iter().any(|late| text.contains(late))
}

#[test]
fn bash_accepts_what_we_accept() {
    let texts = mutants(3000);
    let answers = bash_accepts(&texts);
    let (mut late, mut too_strict, mut too_lax) = (0usize, Vec::new(), Vec::new());
    for (text, accepted) in texts.iter().zip(answers) {
        let problem = parse(text).problem;
        assert!(!matches!(problem, Some(Problem::Bound(_))), "{text:?}");
        match (accepted, problem) {
            (true, Some(_)) if read_late(text) => late += 1,
            (true, Some(problem)) => too_strict.push(format!("{text:?} {problem:?}")),
            (false, None) => too_lax.push(format!("{text:?}")),
            _ => {}
        }
    }
    assert!(too_strict.is_empty(), "we reject what bash accepts:\n{}", too_strict.join("\n"));
    assert!(too_lax.len() <= 3, "we accept what bash rejects:\n{}", too_lax.join("\n"));
    assert!(late * 100 <= texts.len() * 2, "{late} of {} are rejected for what bash reads late", texts.len());
}
