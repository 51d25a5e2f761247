//! Sessions written as lines, played through the review of behaviour. A line is a letter and what it is about:
//! `p` the person says, `r` read, `m` read of what is not there, `s` search `WHAT @ WHERE`, `e` edit and `w` write `PATH | TEXT`,
//! `x` a command, `l` one that takes long, `t SECONDS` one that takes so long, `f` one that fails `COMMAND | ERROR`, `b` one that is blocked.
#![allow(dead_code, reason = "shared by several tests")]

use lazaret::domain::{
    Action, Behaviour, Client, Facts, HistoryEntry, Intervened, Outcome, Places, Policy, Purpose, SearchKind,
    SessionId, Subject, Tool, ToolCall,
};
use lazaret::review::behaviour::{History, Report, checked_out, entry, judge, purpose};
use lazaret::rules;
use serde_json::{Value, json};

/// So many times these lines.
pub type Block = (usize, &'static [&'static str]);

const HOME: &str = "/home/u";
const PROJECT: &str = "/home/u/proj";

pub enum Kind {
    Says(String),
    Reads { path: String, missing: bool },
    Searches { pattern: String, path: String },
    Writes { path: String, text: String, whole: bool },
    Runs { command: String, error: Option<String>, took_ms: u64, blocked: bool },
}

pub struct Step {
    pub kind: Kind,
}

/// The lines of blocks, one after the other.
pub fn lines(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    for (times, lines) in blocks {
        for n in 0..*times {
            for line in *lines {
                let line = line.replace("{n}", &n.to_string()).replace("{d}", &(n / 10).to_string());
                out.push(line.replace("{fill}", &"x".repeat(100 * (n + 1))));
            }
        }
    }
    out
}

/// One line, in a project.
pub fn step(line: &str, project: &str) -> Step {
    let (letter, rest) = line.split_once(' ').unwrap();
    let home = project.rsplit_once('/').unwrap().0;
    let absolute = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => lazaret::domain::join(project, path),
    };
    let both = |mark: &str| {
        let (one, other) = rest.split_once(mark).unwrap_or_else(|| panic!("{line}: no {mark}"));
        (one.to_owned(), other.to_owned())
    };
    let runs = |command: &str, error: Option<String>, took_ms: u64| Kind::Runs {
        command: command.to_owned(),
        error,
        took_ms,
        blocked: letter == "b",
    };
    let kind = match letter {
        "p" => Kind::Says(rest.to_owned()),
        "r" | "m" => Kind::Reads { path: absolute(rest), missing: letter == "m" },
        "s" => {
            let (pattern, path) = both(" @ ");
            Kind::Searches { pattern, path: absolute(&path) }
        }
        "e" | "w" => {
            let (path, text) = both(" | ");
            Kind::Writes { path: absolute(&path), text, whole: letter == "w" }
        }
        "x" | "b" => runs(rest, None, 300 + 37 * (rest.len() as u64 % 90)),
        "l" => runs(rest, None, 60_000 + 1000 * (rest.len() as u64 % 50)),
        "t" => {
            let (seconds, command) = both(" ");
            runs(&command, None, seconds.parse::<u64>().unwrap() * 1000)
        }
        "f" => {
            let (command, error) = both(" | ");
            runs(&command, Some(format!("Exit code 1\n{error}")), 900)
        }
        other => panic!("{other}: not a letter of a script"),
    };
    Step { kind }
}

impl Step {
    pub fn tool(&self) -> &'static str {
        match &self.kind {
            Kind::Says(_) => panic!("no tool"),
            Kind::Reads { .. } => "Read",
            Kind::Searches { .. } => "Grep",
            Kind::Writes { whole: true, .. } => "Write",
            Kind::Writes { whole: false, .. } => "Edit",
            Kind::Runs { .. } => "Bash",
        }
    }

    /// What the tool is given.
    pub fn input(&self) -> Value {
        match &self.kind {
            Kind::Says(text) => json!(text),
            Kind::Reads { path, .. } => json!({"file_path": path}),
            Kind::Searches { pattern, path } => json!({"pattern": pattern, "path": path}),
            Kind::Writes { path, text, whole: true } => json!({"file_path": path, "content": text}),
            Kind::Writes { path, text, whole: false } => {
                json!({"file_path": path, "old_string": "a", "new_string": text})
            }
            Kind::Runs { command, .. } => json!({"command": command}),
        }
    }

    fn error(&self) -> Option<String> {
        match &self.kind {
            Kind::Reads { missing: true, .. } => Some("File does not exist.".to_owned()),
            Kind::Runs { error, .. } => error.clone(),
            _ => None,
        }
    }

    fn took_ms(&self) -> u64 {
        if let Kind::Runs { took_ms, .. } = self.kind { took_ms } else { 20 }
    }

    /// Makes the report of its end of the message before it.
    pub fn ended(&self, message: &mut Value) {
        message["duration_ms"] = json!(self.took_ms());
        match self.error() {
            Some(error) => {
                message["hook_event_name"] = json!("PostToolUseFailure");
                message["error"] = json!(error);
            }
            None => {
                message["hook_event_name"] = json!("PostToolUse");
                message["tool_response"] = json!({});
            }
        }
    }

    fn call(&self) -> ToolCall {
        let (tool, action) = match &self.kind {
            Kind::Says(_) => panic!("no call"),
            Kind::Reads { path, .. } => (Tool::Read, Action::Read { path: path.clone() }),
            Kind::Searches { pattern, path } => (
                Tool::Grep,
                Action::Search {
                    kind: SearchKind::Grep,
                    pattern: pattern.clone(),
                    path: Some(path.clone()),
                    glob: None,
                },
            ),
            Kind::Writes { path, text, whole: true } => {
                (Tool::Write, Action::Write { path: path.clone(), content: text.clone(), long: None })
            }
            Kind::Writes { path, text, whole: false } => {
                (Tool::Edit, Action::Edit { path: path.clone(), content: text.clone(), long: None })
            }
            Kind::Runs { command, .. } => {
                (Tool::Bash, Action::Shell { command: command.clone(), workdir: None })
            }
        };
        ToolCall { tool, action, id: None }
    }
}

/// What came of a session.
pub struct Played {
    pub calls: usize,
    pub made: Vec<Intervened>,
    pub texts: Vec<String>,
    pub behaviour: Behaviour,
}

impl Played {
    pub fn told(&self) -> Vec<String> {
        self.made
            .iter()
            .map(|one| format!("{} {} after {}", one.pattern, one.kind.name(), one.entry))
            .collect()
    }
}

/// Plays the lines, one step in four seconds and what it takes.
pub fn play(lines: &[String], policy: &Policy) -> Played {
    play_looking(lines, policy, |_, _, _| ())
}

/// The same, with a look at each call before it runs: what the session knows of its behaviour, and what it did, newest first.
pub fn play_looking(
    lines: &[String],
    policy: &Policy,
    mut look: impl FnMut(&ToolCall, &Behaviour, &[HistoryEntry]),
) -> Played {
    let places = Places {
        home: Some(HOME.to_owned()),
        repo: Some(PROJECT.to_owned()),
        project: Some(PROJECT.to_owned()),
        temp: vec!["/tmp".to_owned()],
        ..Places::default()
    };
    let facts = Facts::new(places);
    let subject = Subject {
        client: Client::ClaudeCode,
        session: SessionId::new("s").unwrap(),
        agent: None,
        agent_type: None,
    };
    let mut behaviour = Behaviour::default();
    let (mut entries, mut now_ms, mut calls): (Vec<HistoryEntry>, u64, u64) = (Vec::new(), 1_000_000, 0);
    let (mut made, mut texts) = (Vec::new(), Vec::new());
    for line in lines {
        let step = step(line, PROJECT);
        if let Kind::Says(text) = &step.kind {
            let number = behaviour.purpose.number + 1;
            behaviour.released();
            let made = std::mem::take(&mut behaviour.purpose.made);
            behaviour.purpose = Purpose { number, made, ..purpose(text, PROJECT) };
            continue;
        }
        calls += 1;
        now_ms += 4000 + step.took_ms();
        let (call, error) = (step.call(), step.error());
        for entry in &mut entries {
            entry.age_ms += 4000 + step.took_ms();
        }
        look(&call, &behaviour, &entries);
        let outcome = match (&step.kind, &error) {
            (Kind::Runs { blocked: true, .. }, _) => Outcome::Blocked,
            (_, Some(_)) => Outcome::Failed,
            (_, None) => Outcome::Done,
        };
        let survey = rules::survey(&call, PROJECT, &facts, policy);
        let report = Report {
            subject: &subject,
            call: &call,
            survey: &survey,
            facts: &facts,
            policy,
            outcome,
            error: error.as_deref(),
            rule: None,
            duration_ms: Some(step.took_ms()),
        };
        checked_out(&survey).for_each(|directory| behaviour.purpose.has_made(directory));
        let entry = HistoryEntry { number: calls, ..entry(&report, &behaviour.purpose) };
        let judged = judge(&History::new(&entry, &entries), &mut behaviour, error.as_deref(), now_ms, policy);
        if let Some(chosen) = judged.chosen {
            made.push(behaviour.interventions.last().unwrap().clone());
            texts.push(chosen.text);
        }
        entries.insert(0, entry);
        entries.truncate(200);
    }
    Played { calls: entries.len().max(usize::try_from(calls).unwrap()), made, texts, behaviour }
}
