//! What commands are said to do before they run: tests/data/survey/cases.txt, and properties that hold for every wrapper.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write;

use lazaret::domain::{
    Action, Ask, Effect, Facts, Level, PathFact, PathKind, Places, Policy, SearchKind, Severity, Target,
    Tool, ToolCall,
};
use lazaret::rules::{Invocation, Survey, survey};

const CWD: &str = "/home/u/repo";

fn places() -> Places {
    Places {
        home: Some("/home/u".to_owned()),
        repo: Some(CWD.to_owned()),
        project: Some(CWD.to_owned()),
        temp: vec!["/tmp".to_owned()],
        protected: Vec::new(),
        user: Some("u".to_owned()),
    }
}

fn bash(command: &str) -> ToolCall {
    ToolCall {
        tool: Tool::Bash,
        action: Action::Shell { command: command.to_owned(), workdir: None },
        id: None,
    }
}

fn look_with(command: &str, facts: &Facts) -> Survey {
    survey(&bash(command), CWD, facts, &Policy::default())
}

fn look(command: &str) -> Survey {
    look_with(command, &Facts::new(places()))
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

fn show_target(target: &Target) -> String {
    match target {
        Target::Path { path, recursive, .. } => {
            format!("{path}{}", if *recursive { " recursive" } else { "" })
        }
        Target::UnknownPath { known, recursive } => {
            format!("{known}…{}", if *recursive { " recursive" } else { "" })
        }
        Target::Url(text) | Target::Command(text) => format!("`{text}`"),
        Target::None => "-".to_owned(),
    }
}

fn show_effect(effect: &Effect) -> String {
    let mut out = format!("{} {}", effect.kind.name(), severity(effect.severity));
    if effect.disposable {
        out.push_str(" disposable");
    }
    if effect.privileged {
        out.push_str(" privileged");
    }
    assert!(!effect.reversible, "nothing can be brought back yet");
    format!("{out} {}", show_target(&effect.target))
}

fn show_invocation(invocation: &Invocation) -> String {
    let mut out = String::new();
    for wrapper in &invocation.wrappers {
        write!(out, "{wrapper} > ").unwrap();
    }
    out.push_str(if invocation.program.is_empty() { "?" } else { &invocation.program });
    for word in &invocation.sub {
        write!(out, " {word}").unwrap();
    }
    let to = invocation.feeds.map(|to| format!(" -> {to}")).unwrap_or_default();
    out + &to
}

fn show(survey: &Survey) -> String {
    let mut out = String::new();
    for invocation in &survey.invocations {
        writeln!(out, "    run {}", show_invocation(invocation)).unwrap();
    }
    for effect in &survey.effects {
        writeln!(out, "    {}", show_effect(effect)).unwrap();
    }
    for ask in &survey.asks {
        match ask {
            Ask::Path(path) => writeln!(out, "    ask {path}").unwrap(),
            Ask::Content(path) => writeln!(out, "    ask text {path}").unwrap(),
            Ask::Branch => writeln!(out, "    ask branch").unwrap(),
        }
    }
    if let Some(problem) = &survey.problem {
        writeln!(out, "    {} {problem}", if survey.bound { "bound:" } else { "problem:" }).unwrap();
    }
    out
}

/// The cases: `$ command` (`\n` in it is a newline), then what is said of it, indented.
fn cases(text: &str) -> Vec<(&str, String)> {
    let mut out: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            out.push((command, String::new()));
        } else if line.starts_with("    ") {
            let (_, said) = out.last_mut().expect("a command comes first");
            said.push_str(line);
            said.push('\n');
        }
    }
    out
}

#[test]
fn commands_do_what_the_table_says() {
    let text = include_str!("data/survey/cases.txt");
    let cases = cases(text);
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let mut wrong = String::new();
    let mut whole = String::new();
    for (command, expected) in &cases {
        let said = show(&look(&command.replace("\\n", "\n")));
        if said != *expected {
            write!(wrong, "$ {command}\n  expected:\n{expected}  is:\n{said}").unwrap();
        }
        write!(whole, "$ {command}\n{said}").unwrap();
    }
    let actual = concat!(env!("CARGO_TARGET_TMPDIR"), "/survey-cases.txt");
    std::fs::write(actual, whole).unwrap();
    assert!(wrong.is_empty(), "{wrong}\nall that is said now: {actual}");
}
