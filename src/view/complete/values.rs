//! The values of arguments that are not in the command line's definition.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use clap_complete::engine::CompletionCandidate;

use crate::cli::Machine;
use crate::domain::{EventKind, OWN_IDS, Policy, Verdict, clip, escape};
use crate::host::audit::{self, Filter, Line};
use crate::host::checkpoint::{Checkpoints, Manifest};
use crate::host::{clock, quarantine, released};

/// Most lines of the log, and most checkpoints, that are looked at: the newest ones.
const LINES: usize = 2_000;
const CHECKPOINTS: usize = 100;
/// Most calls that are offered.
const CALLS: usize = 50;
/// Longest help beside a value.
const HELP: usize = 60;

/// Where values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    Rules,
    /// Those of rules, and those of reasons that no rule gives.
    Reasons,
    Programs,
    Sessions,
    CheckpointSessions,
    Checkpoints,
    Reviews,
    Calls,
    Tools,
    Verdicts,
    Events,
}

impl Values {
    /// Those of an argument of a command.
    pub fn of(command: &str, argument: &str) -> Option<Values> {
        let first = command.split(' ').next().unwrap_or_default();
        Some(match (command, argument) {
            (_, "rule") if first != "except" => Values::Reasons,
            ("rules show", "id") | (_, "rule") => Values::Rules,
            ("rules explain", "call") | ("feedback", "event") => Values::Calls,
            ("facts show", "program") => Values::Programs,
            ("checkpoint show" | "rollback", "id") => Values::Checkpoints,
            ("review show" | "review end", "id") => Values::Reviews,
            (_, "session") if matches!(first, "review" | "ref") => Values::Reviews,
            (_, "session") if matches!(first, "checkpoint" | "rollback") => Values::CheckpointSessions,
            (_, "session") => Values::Sessions,
            (_, "verdict") => Values::Verdicts,
            (_, "event") if first != "check" => Values::Events,
            (_, "tool") if first != "check" => Values::Tools,
            _ => return None,
        })
    }

    /// All of them, the newest first where they have a time. What cannot be read is left out: nobody at a prompt can do anything
    /// about it.
    pub fn all(self) -> Vec<CompletionCandidate> {
        match self {
            Values::Rules => rules(),
            Values::Reasons => rules().into_iter().chain(OWN_IDS.iter().map(|id| candidate_of(id))).collect(),
            Values::Programs => said_by_the_guard(&["facts", "list"]).lines().map(candidate_of).collect(),
            Values::Sessions => sessions(),
            Values::CheckpointSessions => checkpoint_sessions(),
            Values::Checkpoints => checkpoints(),
            Values::Reviews => reviews(),
            Values::Calls => calls(),
            Values::Tools => tools(),
            Values::Verdicts => Verdict::NAMES.into_iter().map(candidate_of).collect(),
            Values::Events => EventKind::NAMES.into_iter().map(candidate_of).collect(),
        }
    }
}

fn candidate_of(value: &str) -> CompletionCandidate {
    CompletionCandidate::new(value)
}

/// A value with what it is, in the given order.
fn candidate(at: usize, value: &str, about: &str) -> CompletionCandidate {
    let about = escape(&clip(about, HELP));
    CompletionCandidate::new(value).help(Some(about.into())).display_order(Some(at))
}

/// Every rule that counts here: the tables are in the other program, which says each in a line, its id first.
fn rules() -> Vec<CompletionCandidate> {
    let said = said_by_the_guard(&["rules", "list"]);
    let rule = |(at, line): (usize, &str)| {
        let mut words = line.splitn(2, char::is_whitespace);
        let (id, about) = (words.next()?, words.next().unwrap_or_default());
        let about: Vec<&str> = about.split_whitespace().collect();
        Some(candidate(at, id, &about.join(" ")))
    };
    said.lines().enumerate().filter_map(rule).collect()
}

/// What the program beside this one prints; nothing where it cannot.
fn said_by_the_guard(words: &[&str]) -> String {
    let Ok(program) = released::beside(released::BINARY) else { return String::new() };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stderr(Stdio::null());
    let said = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8(said).unwrap_or_default()
}

/// The newest events, the newest first.
fn newest() -> Vec<Line> {
    let Ok(machine) = Machine::here() else { return Vec::new() };
    let mut lines = audit::last(&audit::dir(&machine.dirs.state), Filter::default(), LINES);
    lines.reverse();
    lines
}

fn sessions() -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let lines = newest().into_iter().filter(|line| !line.session.is_empty());
    let first = lines.filter(|line| seen.insert(line.session.clone()));
    let about = |line: &Line| format!("{} {} {}", line.time, line.client, line.action);
    first.enumerate().map(|(at, line)| candidate(at, &line.session, &about(&line))).collect()
}

fn calls() -> Vec<CompletionCandidate> {
    let decided = newest().into_iter().filter_map(|line| line.told().map(|verdict| (verdict, line)));
    let about = |verdict: Verdict, line: &Line| format!("{} {} {}", verdict.name(), line.tool, line.action);
    let calls = decided.take(CALLS).enumerate();
    let mut all: Vec<_> =
        calls.map(|(at, (verdict, line))| candidate(at, &line.id, &about(verdict, &line))).collect();
    all.insert(0, candidate(0, "last", "the newest one that was not simply allowed"));
    all
}

fn tools() -> Vec<CompletionCandidate> {
    let tools: BTreeSet<String> = newest().into_iter().map(|line| line.tool).collect();
    tools.iter().filter(|tool| !tool.is_empty()).map(|tool| candidate_of(tool)).collect()
}

fn manifests() -> Vec<Manifest> {
    let Ok(machine) = Machine::here() else { return Vec::new() };
    Checkpoints::new(&machine.dirs.state, Policy::default().checkpoints)
        .newest(CHECKPOINTS)
        .unwrap_or_default()
}

fn checkpoints() -> Vec<CompletionCandidate> {
    let about = |made: &Manifest| format!("{} {} {}", clock::rfc3339(made.unix_ms), made.tool, made.action);
    manifests().iter().enumerate().map(|(at, made)| candidate(at, &made.id, &about(made))).collect()
}

fn checkpoint_sessions() -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let manifests = manifests();
    let first = manifests.iter().filter(|made| seen.insert(made.session.as_str()));
    first.enumerate().map(|(at, made)| candidate(at, &made.session, &made.cwd)).collect()
}

fn reviews() -> Vec<CompletionCandidate> {
    let listed = Machine::here().ok().and_then(|machine| quarantine::list(&machine.dirs).ok());
    let listed = listed.unwrap_or_default();
    let root = |listed: &quarantine::Listed| {
        listed.session.as_ref().map(|session| session.root.clone()).unwrap_or_default()
    };
    listed.iter().enumerate().map(|(at, one)| candidate(at, one.id.as_str(), &root(one))).collect()
}
