//! The corpus: calls with the verdict that each must get and why, judged in the made-up world of `rules::fixture` by the whole
//! decision. It reads nothing of the machine it runs on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "shared by tests and examples, each of which uses a part"
)]

mod files;

pub use files::FILES;
use lazaret::adapters;
use lazaret::domain::{Ask, Asking, Client, Decision, Event, Facts, Policy, Stand, ToolCall, Trust, Verdict};
use lazaret::review::{self, Case as Review};
use lazaret::rules::{fixture, survey, survey_asking};
use serde_json::{Value, json};

/// What is asked of a case's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Block,
    /// Blocked, asked about or rewritten.
    Stopped,
    /// Warned about, and let through.
    Warned,
    /// Let through, with a warning or without.
    NotStopped,
    /// Let through without a word.
    Silent,
}

impl Expect {
    pub const ALL: [Expect; 5] =
        [Expect::Block, Expect::Stopped, Expect::Warned, Expect::NotStopped, Expect::Silent];

    pub const fn name(self) -> &'static str {
        match self {
            Expect::Block => "block",
            Expect::Stopped => "stopped",
            Expect::Warned => "warned",
            Expect::NotStopped => "not stopped",
            Expect::Silent => "silent",
        }
    }

    pub fn from_name(name: &str) -> Option<Expect> {
        Expect::ALL.into_iter().find(|expect| expect.name() == name)
    }

    pub fn met_by(self, verdict: Verdict) -> bool {
        match self {
            Expect::Block => verdict == Verdict::Block,
            Expect::Stopped => verdict >= Verdict::Modify,
            Expect::Warned => verdict == Verdict::Warn,
            Expect::NotStopped => verdict <= Verdict::Warn,
            Expect::Silent => verdict == Verdict::Allow,
        }
    }

    pub const fn is_dangerous(self) -> bool {
        matches!(self, Expect::Block | Expect::Stopped)
    }
}

/// Where a call is made. The files are those of `rules::fixture`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    pub name: &'static str,
    pub cwd: &'static str,
    pub branch: &'static str,
}

pub const PROJECT: Situation = Situation { name: "project", cwd: fixture::PROJECT, branch: "topic" };

pub const SITUATIONS: &[Situation] = &[
    PROJECT,
    Situation { name: "project, on main", cwd: fixture::PROJECT, branch: "main" },
    Situation { name: "project/src", cwd: "/home/u/proj/src", branch: "topic" },
    Situation { name: "home", cwd: fixture::HOME, branch: "topic" },
    Situation { name: "temporary directory", cwd: "/tmp", branch: "topic" },
    Situation { name: "root of the machine", cwd: "/", branch: "topic" },
];

/// One line of the corpus.
#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    pub family: String,
    pub tool: String,
    pub input: Value,
    pub situation: Situation,
    pub expect: Expect,
    pub reason: String,
    /// Why the expectation is not met today.
    pub fails: Option<String>,
    /// Why rewriting makes the verdict milder today, where it does.
    pub rewritten: Option<String>,
}

/// Every case of every file.
pub fn cases() -> Vec<Case> {
    FILES
        .iter()
        .flat_map(|(family, text)| text.lines().map(move |line| (family, line)))
        .map(|(family, line)| parse(family, line).unwrap_or_else(|why| panic!("{family}: {why}: {line}")))
        .collect()
}

/// One line; what is wrong with it otherwise.
pub fn parse(family: &str, line: &str) -> Result<Case, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let need = |key: &str| text(key).map(str::to_owned).ok_or_else(|| format!("no {key}"));
    if need("family")? != family {
        return Err("stands in another family's file".to_owned());
    }
    let situation = need("situation")?;
    let expect = need("expect")?;
    let (tool, input) = match (text("command"), text("tool"), value.get("input")) {
        (Some(command), None, None) => ("Bash".to_owned(), json!({ "command": command })),
        (None, Some(tool), Some(input)) => (tool.to_owned(), input.clone()),
        _ => return Err("needs either command, or tool and input".to_owned()),
    };
    Ok(Case {
        id: need("id")?,
        family: family.to_owned(),
        tool,
        input,
        situation: *SITUATIONS.iter().find(|known| known.name == situation).ok_or("unknown situation")?,
        expect: Expect::from_name(&expect).ok_or("unknown expectation")?,
        reason: need("reason")?,
        fails: text("fails").map(str::to_owned),
        rewritten: text("rewritten").map(str::to_owned),
    })
}

impl Case {
    /// The command line, where the call is one of the shell.
    pub fn command(&self) -> Option<&str> {
        (self.tool == "Bash").then(|| self.input.get("command").and_then(Value::as_str)).flatten()
    }

    pub fn verdict(&self, policy: &Policy) -> Verdict {
        decide(&self.tool, &self.input, self.situation, policy).verdict()
    }

    /// The call in one line, for a report.
    pub fn shown(&self) -> String {
        let call = self.command().map_or_else(|| format!("{} {}", self.tool, self.input), str::to_owned);
        format!("{} ({}): {}", self.id, self.expect.name(), call.replace('\n', "\\n"))
    }
}

/// The verdict on a command line in the situation of another.
pub fn command_verdict(command: &str, situation: Situation, policy: &Policy) -> Verdict {
    decide("Bash", &json!({ "command": command }), situation, policy).verdict()
}

/// The whole decision on a call, as a client would have sent it.
pub fn decide(tool: &str, input: &Value, situation: Situation, policy: &Policy) -> Decision {
    let message = json!({
        "session_id": "corpus", "cwd": situation.cwd, "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": input, "permission_mode": "default",
    })
    .to_string();
    let request = match adapters::decode(Client::ClaudeCode, message.as_bytes()) {
        Ok(decoded) => decoded.request,
        Err(fault) => return Decision::fault(fault, false),
    };
    let Event::BeforeTool(call) = &request.event else { panic!("not a call: {message}") };
    let (seen, facts) = understand(call, situation, policy);
    review::decide(&Review {
        subject: &request.subject,
        call,
        cwd: situation.cwd,
        trust: Trust::Ordinary,
        standing: None,
        asking: Asking::Yes,
        survey: &seen,
        facts: &facts,
        policy,
        stand: &Stand::default(),
        now_s: 0,
    })
}

/// The survey with every question answered.
fn understand(call: &ToolCall, situation: Situation, policy: &Policy) -> (lazaret::rules::Survey, Facts) {
    let facts = fixture::facts();
    let mut told = |ask: Ask, facts: &Facts| answer(&ask, situation, facts);
    let mut seen = survey_asking(call, situation.cwd, (&facts, &mut told), policy);
    for _ in 0..8 {
        let open: Vec<Ask> = seen.asks.drain(..).filter(|ask| !facts.knows(ask)).collect();
        if open.is_empty() {
            break;
        }
        for ask in &open {
            answer(ask, situation, &facts);
        }
        seen = survey_asking(call, situation.cwd, (&facts, &mut told), policy);
    }
    (seen, facts)
}

fn answer(ask: &Ask, situation: Situation, facts: &Facts) {
    match ask {
        Ask::Branch => facts.answer_branch(Some(situation.branch.to_owned())),
        other => fixture::answer(facts, other),
    }
}

/// Whether a survey whose questions are answered as they come up is what it becomes when it is made anew after each round of
/// answers.
pub fn is_settled(call: &ToolCall, situation: Situation, policy: &Policy) -> bool {
    let (mut at_once, _) = understand(call, situation, policy);
    let facts = fixture::facts();
    let mut seen = survey(call, situation.cwd, &facts, policy);
    for _ in 0..8 {
        for ask in &seen.asks {
            answer(ask, situation, &facts);
        }
        seen = survey(call, situation.cwd, &facts, policy);
    }
    at_once.asks.clear();
    seen.asks.clear();
    at_once == seen
}
