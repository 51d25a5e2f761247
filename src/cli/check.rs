//! `lazaret check`: what would be decided. Reads configuration and state, writes nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::adapters;
use crate::cli::args::{CheckArgs, ClientName};
use crate::cli::quarantine::{self, Desk};
use crate::cli::{Exit, Machine, call, hook, report};
use crate::domain::{
    Action, Asking, Client, Decision, Enforcement, Event, Facts, Fault, Marks, Policy, Request, SessionId,
    Stand, Subject, ToolCall, Trust, Verdict, join,
};
use crate::host::clock;
use crate::host::config;
use crate::host::places;
use crate::host::state::{self, Store};
use crate::review::{self, Case};
use crate::rules::{Survey, custom};

/// The session that a dry run by hand pretends to be: it has no past.
const DRY_SESSION: &str = "check";

/// Runs the command; the exit code is the verdict's.
pub fn run(args: &CheckArgs, machine: Machine, out: &mut dyn Write) -> Result<Exit> {
    let client = Client::from(args.client);
    let cwd = directory(args.cwd.as_deref())?;
    let machine = Checker { machine, past: RefCell::default() };
    if let Some(file) = &args.batch {
        return batch(&machine, client, &cwd, file, out);
    }
    let message = match (&args.command, &args.tool, &args.input, &args.event) {
        (Some(command), ..) => before_tool(
            client,
            &cwd,
            (DRY_SESSION, args.agent.as_deref()),
            shell_tool(client),
            &json!({ "command": command }),
        ),
        (_, Some(tool), Some(input), _) => {
            let input: Value = serde_json::from_str(input).with_context(|| format!("--input {input}"))?;
            before_tool(client, &cwd, (DRY_SESSION, args.agent.as_deref()), tool, &input)
        }
        (.., Some(file)) => read(file)?,
        _ => bail!("nothing to check: give a command, --tool with --input, --event or --batch"),
    };
    let checked = machine.check(client_of(&message, client), message.as_bytes(), None)?;
    if args.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&report::json(&checked.decision, &checked.subject))?
        )?;
    } else {
        let survey = args.explain.then_some(checked.survey.as_ref()).flatten();
        report::text(out, &checked.decision, survey, report::Paint::auto())?;
        for note in &checked.notes {
            writeln!(out, "note: {note}")?;
        }
    }
    Ok(exit(&checked.decision))
}

impl From<ClientName> for Client {
    fn from(name: ClientName) -> Client {
        match name {
            ClientName::ClaudeCode => Client::ClaudeCode,
            ClientName::OpenCode => Client::OpenCode,
        }
    }
}

fn directory(given: Option<&Path>) -> Result<String> {
    let dir = match given {
        Some(dir) => dir.canonicalize().with_context(|| format!("--cwd {}", dir.display()))?,
        None => std::env::current_dir().context("the working directory")?,
    };
    dir.to_str()
        .map(str::to_owned)
        .ok_or_else(|| anyhow!("{}: the directory's name is not UTF-8", dir.display()))
}

fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    let limit = adapters::MAX_MESSAGE as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_string(&mut text).context("standard input")?;
    } else {
        let open = std::fs::File::open(file).with_context(|| file.display().to_string())?;
        open.take(limit).read_to_string(&mut text).with_context(|| file.display().to_string())?;
    }
    Ok(text)
}

/// A hook message as the client would send it.
fn before_tool(
    client: Client,
    cwd: &str,
    (session, agent): (&str, Option<&str>),
    tool: &str,
    input: &Value,
) -> String {
    match client {
        Client::ClaudeCode => json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input, "agent_type": agent,
        }),
        Client::OpenCode => json!({
            "event": "tool.execute.before", "input": {"tool": tool, "sessionID": session},
            "output": {"args": input}, "directory": cwd, "agent": agent,
        }),
    }
    .to_string()
}

/// What the client calls its shell.
const fn shell_tool(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Bash",
        Client::OpenCode => "bash",
    }
}

/// A whole message says by its shape which client sent it.
fn client_of(message: &str, given: Client) -> Client {
    match serde_json::from_str::<Value>(message) {
        Ok(value) if value.get("hook_event_name").is_some() => Client::ClaudeCode,
        Ok(value) if value.get("event").is_some() => Client::OpenCode,
        Ok(_) | Err(_) => given,
    }
}

fn exit(decision: &Decision) -> Exit {
    match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice => Exit::Fine,
        Enforcement::Rewrite | Enforcement::Ask => Exit::Changed,
        Enforcement::Deny | Enforcement::Stop => Exit::Blocked,
    }
}

struct Checker {
    machine: Machine,
    /// What the lines of a batch so far have left behind, by session: nothing is written, so this is all there is of it.
    past: RefCell<BTreeMap<String, Past>>,
}

/// What a session of a batch has done so far.
#[derive(Debug, Clone, Default)]
struct Past {
    marks: Marks,
    /// Files and what was written to them.
    written: Vec<(String, String)>,
}

/// Most files of one session whose content a batch keeps.
const MAX_WRITTEN: usize = 256;

struct Checked {
    decision: Decision,
    subject: Subject,
    survey: Option<Survey>,
    notes: Vec<String>,
}

impl Checker {
    /// `session`: the one in the batch whose earlier lines count.
    fn check(&self, client: Client, message: &[u8], session: Option<&str>) -> Result<Checked> {
        let decoded = match adapters::decode(client, message) {
            Ok(decoded) => decoded,
            Err(fault) => return faulty(client, fault),
        };
        let request = &decoded.request;
        let places = places::locate(&self.machine.env, &self.machine.dirs, &request.cwd);
        let loaded = config::load(&self.machine.dirs, &places, custom::problems)?;
        let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
        let policy = loaded.policy;
        let subject = request.subject.clone();
        let Event::BeforeTool(call) = &request.event else {
            let decision = Decision::new(Vec::new(), None, request.asking == Asking::Yes);
            return Ok(Checked { decision, subject, survey: None, notes });
        };
        let mut facts = Facts::new(places);
        let past = session.map(|session| self.past(session)).unwrap_or_default();
        for (path, text) in past.written {
            facts.answer_content(path, Some(text));
        }
        facts.marks = past.marks;
        let survey = call::understand(call, &request.cwd, &policy, &mut facts);
        let client = self.machine.env.lazaret_quarantine.as_deref();
        let desk = Desk { dirs: &self.machine.dirs, policy: &policy, client, now: clock::now(), acts: false };
        let trust = desk.trust(&subject);
        let stand = self.stand(request, &policy, trust);
        let (survey, facts) = match stand.marks.is_empty() {
            true => (survey, facts),
            false => call::recall(call, &request.cwd, &policy, &stand.marks, (&survey, &facts)),
        };
        let standing = match trust {
            Trust::Ordinary => None,
            Trust::Quarantined => Some(desk.admit(request, call)?),
        };
        let spawned = match trust {
            Trust::Ordinary => desk.spawn(request, call)?,
            Trust::Quarantined => None,
        };
        let case = Case {
            subject: &subject,
            call,
            cwd: &request.cwd,
            trust,
            standing: standing.as_ref(),
            asking: request.asking,
            survey: &survey,
            facts: &facts,
            policy: &policy,
            stand: &stand,
            now_s: clock::now().unix_ms / 1000,
        };
        let decision = quarantine::settle(review::decide(&case), spawned.as_ref());
        if let (Some(session), true) = (session, decision.verdict() != Verdict::Block) {
            self.remember(session, call, &request.cwd, &survey);
        }
        Ok(Checked { decision, subject, survey: Some(survey), notes })
    }

    /// What the session has done in this batch.
    fn past(&self, session: &str) -> Past {
        self.past.borrow().get(session).cloned().unwrap_or_default()
    }

    /// Keeps what a call leaves behind.
    fn remember(&self, session: &str, call: &ToolCall, cwd: &str, survey: &Survey) {
        let mut all = self.past.borrow_mut();
        let past = all.entry(session.to_owned()).or_default();
        past.marks.clone_from(&survey.marks);
        let own = match &call.action {
            Action::Write { path, content, long: false } => Some((join(cwd, path), content.clone())),
            _ => None,
        };
        let printed = survey.written.iter().map(|(path, text)| (path.clone(), text.text()));
        for (path, text) in printed.chain(own) {
            past.written.retain(|(other, _)| *other != path);
            if past.written.len() < MAX_WRITTEN {
                past.written.push((path, text));
            }
        }
    }

    /// The session's past where the message names a session that has one.
    fn stand(&self, request: &Request, policy: &Policy, trust: Trust) -> Stand {
        let store = Store::new(&self.machine.dirs.state);
        state::look(&store, &request.subject, clock::now(), hook::look(policy, trust)).unwrap_or_default()
    }
}

/// A message that could not be read is blocked.
fn faulty(client: Client, fault: Fault) -> Result<Checked> {
    let session = SessionId::new(DRY_SESSION).ok_or_else(|| anyhow!("session {DRY_SESSION}: not an id"))?;
    let subject = Subject { client, session, agent: None, agent_type: None };
    Ok(Checked { decision: Decision::fault(fault, false), subject, survey: None, notes: Vec::new() })
}

/// Many calls in one process: JSON lines in, JSON lines out. A line that cannot be used becomes a line with `error`.
fn batch(machine: &Checker, client: Client, cwd: &str, file: &Path, out: &mut dyn Write) -> Result<Exit> {
    let input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(file).with_context(|| file.display().to_string())?)
    };
    let mut failed = false;
    let mut out = std::io::BufWriter::new(out);
    for (number, line) in BufReader::new(input).lines().enumerate() {
        let line = line.with_context(|| format!("{} line {}", file.display(), number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match one(machine, client, cwd, &line) {
            Ok(answer) => answer,
            Err(error) => {
                failed = true;
                json!({ "line": number + 1, "error": format!("{error:#}") })
            }
        };
        writeln!(out, "{answer}")?;
    }
    out.flush()?;
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

/// One line of a batch. `id` is given back as it came.
fn one(machine: &Checker, client: Client, cwd: &str, line: &str) -> Result<Value> {
    let value: Value = serde_json::from_str(line).context("not JSON")?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let client = match text("client") {
        Some(name) => Client::from_name(name).ok_or_else(|| anyhow!("client {name}: unknown"))?,
        None => client_of(line, client),
    };
    let cwd = text("cwd").unwrap_or(cwd);
    let named = text("session");
    let session = named.unwrap_or(DRY_SESSION);
    let message = if value.get("hook_event_name").is_some() || value.get("event").is_some() {
        line.to_owned()
    } else if let Some(command) = text("command") {
        let input = json!({ "command": command });
        before_tool(client, cwd, (session, text("agent")), shell_tool(client), &input)
    } else if let (Some(tool), Some(input)) = (text("tool"), value.get("input")) {
        before_tool(client, cwd, (session, text("agent")), tool, input)
    } else {
        bail!("a line needs command, or tool and input, or a whole hook message");
    };
    let checked = machine.check(client, message.as_bytes(), named)?;
    let mut answer = report::json(&checked.decision, &checked.subject);
    if let (Some(id), Some(object)) = (value.get("id"), answer.as_object_mut()) {
        object.insert("id".to_owned(), id.clone());
    }
    Ok(answer)
}
