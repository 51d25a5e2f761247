//! `lazaret rules explain CALL`: one call of the log, for a person: what was decided and why, what it was understood to do, whether it
//! would be decided so today, and the commands that say otherwise. Changes nothing.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::cli::except::{self, CUT, MASKED, REDACTED};
use crate::cli::judge::{DRY_SESSION, Judge, Judged, Look, Past, Trail};
use crate::cli::stats::feedback;
use crate::cli::{Exit, Machine, check, checkpoint, config as shown, report};
use crate::domain::{Client, Verdict, escape};
use crate::host::audit::{self, Because, Line};
use crate::host::clock;
use crate::host::permit::Permits;
use crate::review::exceptions;

/// The log's name for calls of a shell.
const SHELL: &str = "Bash";
/// Checkpoints that are looked through for the call's own.
const CHECKPOINTS: usize = 1_000;

/// A line of the log, with all that is in it.
struct Call {
    line: Line,
    all: Value,
}

impl Call {
    fn text(&self, key: &str) -> &str {
        self.all.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn verdict(&self) -> &str {
        self.line.told().map_or("", Verdict::name)
    }

    fn reasons(&self) -> &[Value] {
        self.all.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn rules(&self) -> Vec<&str> {
        self.line.rules.iter().map(String::as_str).collect()
    }

    /// Why the call cannot be judged again as it was made.
    fn not_again(&self) -> Option<&'static str> {
        let action = &self.line.action;
        if self.line.tool != SHELL {
            Some("the log keeps of such a call what it was about, not all that it was given")
        } else if action.contains(REDACTED) || action.contains(MASKED) {
            Some("the log holds it without its secrets: it is judged in that form")
        } else if action.ends_with(CUT) {
            Some("the log holds its beginning only: that is what is judged")
        } else if self.text("cwd").contains(MASKED) {
            Some("the log holds its directory without a secret: it is judged as if it had been made there")
        } else {
            None
        }
    }
}

/// The same call, judged now.
struct Today {
    judged: Judged,
    same: bool,
}

pub fn run(wanted: &str, as_object: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let line = feedback::find("rules explain", wanted, &audit::dir(&machine.dirs.state))?;
    let all = serde_json::from_str(&line.text).with_context(|| format!("event {}", line.id))?;
    let call = Call { line, all };
    let today = today(&call, machine)?;
    let ways = ways(&call, machine)?;
    if as_object {
        let whole = whole(&call, today.as_ref(), &ways)?;
        writeln!(out, "{}", serde_json::to_string_pretty(&whole)?)?;
    } else {
        then(&call, out)?;
        now(&call, today.as_ref(), out)?;
        if !ways.is_empty() {
            writeln!(out, "what you can do:")?;
        }
        for (command, does) in &ways {
            writeln!(out, "  {}\n      {does}", escape(command))?;
        }
    }
    Ok(Exit::Fine)
}

/// What the shell command of the log would be answered now; none = of another tool.
fn today(call: &Call, machine: &Machine) -> Result<Option<Today>> {
    let (Some(client), SHELL) = (Client::from_name(&call.line.client), call.line.tool.as_str()) else {
        return Ok(None);
    };
    let agent = Some(call.line.agent_type.as_str()).filter(|agent| !agent.is_empty());
    let input = json!({ "command": call.line.action });
    let message =
        check::before_tool(client, call.text("cwd"), (DRY_SESSION, agent), client.about().shell, &input);
    let mut judge = Judge::new(machine.clone(), Look::Today).explaining(true);
    let judged = judge.judge(client, message.as_bytes(), Past::Remembered(&Trail::default()))?;
    let rules: Vec<&str> = judged.decision.reasons().iter().map(|reason| reason.rule.as_str()).collect();
    // What is only said beside a verdict is no part of it.
    let spoke = |rules: &[&str]| {
        let mut rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        rules.retain(|rule| !rule.starts_with("permission.") && !rule.starts_with("checkpoint."));
        rules
    };
    let same = call.line.verdict == Some(judged.decision.verdict()) && spoke(&call.rules()) == spoke(&rules);
    Ok(Some(Today { judged, same }))
}

/// What was decided then.
fn then(call: &Call, out: &mut dyn Write) -> Result<()> {
    let Line { id, time, client, session, agent, agent_type, tool, action, enforcement, .. } = &call.line;
    writeln!(out, "{} ({enforcement}): {}", call.verdict(), escape(tool))?;
    if call.line.verdict != call.line.told() {
        writeln!(out, "  note:    a person was to be asked, and nobody was there: so it was blocked")?;
    }
    let whose = match (agent.is_empty(), agent_type.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(", agent {}", escape(agent)),
        (false, false) => format!(", agent {} ({})", escape(agent), escape(agent_type)),
    };
    writeln!(out, "  event:   {id}, {time}")?;
    writeln!(out, "  by:      {client}, session {}{whose}", escape(session))?;
    writeln!(out, "  in:      {}", escape(call.text("cwd")))?;
    if !call.text("call_id").is_empty() {
        writeln!(out, "  call:    {}", escape(call.text("call_id")))?;
    }
    writeln!(out, "  action:  {}", escape(action))?;
    for reason in call.reasons() {
        let text = |key: &str| escape(reason.get(key).and_then(Value::as_str).unwrap_or_default());
        writeln!(out, "  {} [{}]", text("rule"), text("severity"))?;
        for (name, key) in [("why:", "message"), ("matched:", "matched"), ("instead:", "instead")] {
            if !text(key).is_empty() {
                writeln!(out, "    {name:8} {}", text(key))?;
            }
        }
    }
    Ok(())
}

/// What would be decided today, and what it goes by.
fn now(call: &Call, today: Option<&Today>, out: &mut dyn Write) -> Result<()> {
    if let Some(why) = call.not_again() {
        writeln!(out, "note: {why}")?;
    }
    let Some(Today { judged, same }) = today else { return Ok(()) };
    let how = if *same { "the same" } else { "something else" };
    write!(out, "judged again, with the rules and files of today and without the session's past: {how}: ")?;
    report::text(out, &judged.decision, judged.explained(), report::Paint::auto())?;
    Ok(())
}

/// The commands that a person may give now, and what each does.
fn ways(call: &Call, machine: &Machine) -> Result<Vec<(String, &'static str)>> {
    let mut ways = Vec::new();
    let (line, cwd) = (&call.line, call.text("cwd"));
    let why = line.why();
    if let Some(code) = why.reasons.iter().find_map(Because::code) {
        let offers = Permits::new(&machine.dirs.state).offers(clock::now())?;
        if offers.iter().any(|offer| offer.code == code) {
            ways.push((format!("lazaret allow {code}"), "lets it run once, within ten minutes"));
        }
    }
    if line.told() > Some(Verdict::Allow) {
        let policy = super::policy(machine)?;
        let mut rules = call.rules();
        rules.retain(|rule| shown::severity_of(rule, &policy).is_some() && !exceptions::is_fixed(rule));
        let of = |rule: &&str| except::command(rule, &line.tool, cwd, &line.action);
        if let Some(commands) = rules.iter().map(of).collect::<Option<Vec<_>>>() {
            let does = "excepts it from the rule in that directory, for 30 days";
            ways.extend(commands.into_iter().map(|command| (command, does)));
        } else {
            let does = "lets you write an exception; this call cannot be written as a command";
            ways.push(("lazaret config edit".to_owned(), does));
        }
        ways.push((
            format!("lazaret feedback {} fp", line.id),
            "says that it was wrong, for `lazaret stats`",
        ));
    }
    let call_id = call.text("call_id");
    let made = checkpoint::store(machine)?.newest(CHECKPOINTS)?;
    let own = made.iter().find(|made| {
        !call_id.is_empty() && made.call.as_deref() == Some(call_id) && made.session == line.session
    });
    if let Some(own) = own {
        ways.push((format!("lazaret rollback {}", own.id), "puts back what it changed"));
    }
    Ok(ways)
}

fn whole(call: &Call, today: Option<&Today>, ways: &[(String, &str)]) -> Result<Value> {
    let again = today.map(|Today { judged, .. }| match judged.explained() {
        Some(explained) => report::explained(&judged.decision, &judged.subject, explained),
        None => Ok(report::json(&judged.decision, &judged.subject)),
    });
    let commands: Vec<Value> =
        ways.iter().map(|(command, does)| json!({ "command": command, "does": does })).collect();
    Ok(json!({
        "event": call.all,
        "verdict": call.verdict(),
        "note": call.not_again(),
        "today": again.transpose()?,
        "same": today.map(|today| today.same),
        "commands": commands,
    }))
}
