//! `lazaret check`: what would be decided. Reads configuration and state, writes nothing.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::adapters;
use crate::adapters::Spoken;
use crate::cli::args::CheckArgs;
use crate::cli::judge::{DRY_SESSION, Judge, Judged, Look, Past, Trail};
use crate::cli::lines::{self, Lines};
use crate::cli::{Exit, Machine, report};
use crate::domain::{Client, Decision, Enforcement, Verdict, size};
use crate::review::undoable;

/// Longest line of a batch, in bytes: a whole hook message and what goes around it.
const MAX_LINE: usize = adapters::MAX_MESSAGE + 64 * 1024;

/// Runs the command; the exit code is the verdict's.
pub fn run(args: &CheckArgs, machine: Machine, out: &mut dyn Write) -> Result<Exit> {
    let client = args.client;
    let cwd = directory(args.cwd.as_deref())?;
    let mut judge = Judge::new(machine, Look::Today).explaining(args.explain);
    let saves = args.checkpoints;
    if let Some(file) = &args.batch {
        return batch(&mut judge, (client, &cwd, saves), file, out);
    }
    let message = match (&args.command, &args.tool, &args.input, &args.event) {
        (Some(command), ..) => before_tool(
            client,
            &cwd,
            (DRY_SESSION, args.agent.as_deref()),
            client.about().shell,
            &json!({ "command": command }),
        ),
        (_, Some(tool), Some(input), _) => {
            let input: Value = serde_json::from_str(input).with_context(|| format!("--input {input}"))?;
            before_tool(client, &cwd, (DRY_SESSION, args.agent.as_deref()), tool, &input)
        }
        (.., Some(file)) => read(file)?,
        _ => bail!("nothing to check: give a command, --tool with --input, --event or --batch"),
    };
    let nothing = Trail::default();
    let checked = judge.judge(client_of(&message, client), message.as_bytes(), Past::Remembered(&nothing))?;
    let checked = with_checkpoint(checked, saves);
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&answer(&checked, args.explain)?)?)?;
    } else {
        let explained = checked.explained().filter(|_| args.explain);
        report::text(out, &checked.decision, explained, report::Paint::auto())?;
        for note in &checked.notes {
            writeln!(out, "note: {note}")?;
        }
    }
    let exit = exit(&checked.decision);
    // The process ends here: what is known of hundreds of commands need not be taken apart.
    std::mem::forget(checked);
    Ok(exit)
}

/// The answer as an object, with what was understood where that is asked.
fn answer(judged: &Judged, explains: bool) -> Result<Value> {
    match judged.explained() {
        Some(explained) if explains => report::explained(&judged.decision, &judged.subject, explained),
        Some(_) | None => Ok(report::json(&judged.decision, &judged.subject)),
    }
}

/// The directory that was named, or the one this runs in.
pub fn directory(given: Option<&Path>) -> Result<String> {
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
pub fn before_tool(
    client: Client,
    cwd: &str,
    (session, agent_type): (&str, Option<&str>),
    tool: &str,
    input: &Value,
) -> String {
    let input = input.to_string();
    let call = Spoken { session, agent: None, agent_type, cwd, mode: None, id: None, tool, input: &input };
    adapters::spoken(client, &call)
}

/// A whole message says by its shape which client sent it.
fn client_of(message: &str, given: Client) -> Client {
    let value = serde_json::from_str::<Value>(message).ok();
    value.and_then(|value| adapters::client_of(&value, given)).unwrap_or(given)
}

/// The exit code of a verdict.
pub fn exit(decision: &Decision) -> Exit {
    match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice => Exit::Fine,
        Enforcement::Rewrite | Enforcement::Ask => Exit::Changed,
        Enforcement::Deny | Enforcement::Stop => Exit::Blocked,
    }
}

/// Many calls in one process: JSON lines in, JSON lines out, in the same order. A line that cannot be used becomes a line with
/// `error`.
fn batch(
    judge: &mut Judge,
    (client, cwd, saves): (Client, &str, bool),
    file: &Path,
    out: &mut dyn Write,
) -> Result<Exit> {
    let input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(file).with_context(|| file.display().to_string())?)
    };
    let mut failed = false;
    let mut out = std::io::BufWriter::new(out);
    let mut lines = Lines::new(BufReader::with_capacity(64 * 1024, input), MAX_LINE);
    let mut trails = BTreeMap::new();
    let mut number = 0_usize;
    while let Some(line) = lines.read().with_context(|| format!("{} line {}", file.display(), number + 1))? {
        number += 1;
        let answer = match line {
            lines::Line::Text(line) if line.trim().is_empty() => continue,
            lines::Line::Text(line) => one(judge, &mut trails, (client, cwd, saves), line),
            lines::Line::NotText => Err(anyhow!("not UTF-8")),
            lines::Line::TooLong => {
                Err(anyhow!("it is longer than {}, which is the most that is read", size(MAX_LINE as u64)))
            }
        };
        let answer = answer.unwrap_or_else(|error| {
            failed = true;
            json!({ "line": number, "error": format!("{error:#}") })
        });
        writeln!(out, "{answer}")?;
    }
    out.flush()?;
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

/// One line of a batch. `id` and `label` are given back as they came.
fn one(
    judge: &mut Judge,
    trails: &mut BTreeMap<String, Trail>,
    (client, cwd, saves): (Client, &str, bool),
    line: &str,
) -> Result<Value> {
    let value: Value = serde_json::from_str(line).context("not JSON")?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let client = match text("client") {
        Some(name) => Client::from_name(name).ok_or_else(|| anyhow!("client {name}: unknown"))?,
        None => adapters::client_of(&value, client).unwrap_or(client),
    };
    let cwd = text("cwd").unwrap_or(cwd);
    let named = text("session");
    let session = named.unwrap_or(DRY_SESSION);
    let made;
    let message = if adapters::client_of(&value, client).is_some() {
        line
    } else if let Some(command) = text("command") {
        let input = json!({ "command": command });
        made = before_tool(client, cwd, (session, text("agent")), client.about().shell, &input);
        &made
    } else if let (Some(tool), Some(input)) = (text("tool"), value.get("input")) {
        made = before_tool(client, cwd, (session, text("agent")), tool, input);
        &made
    } else {
        bail!("a line needs command, or tool and input, or a whole hook message");
    };
    // Nothing is written, so what the lines so far have left behind is all there is of a session.
    let nothing = Trail::default();
    let trail = named.and_then(|session| trails.get(session)).unwrap_or(&nothing);
    let judged = judge.judge(client, message.as_bytes(), Past::Remembered(trail))?;
    let judged = with_checkpoint(judged, saves);
    if let (Some(session), true) = (named, judged.decision.verdict() != Verdict::Block) {
        trails.entry(session.to_owned()).or_default().keep(&judged);
    }
    let mut answer = answer(&judged, judge.explains())?;
    if let Some(object) = answer.as_object_mut() {
        for key in ["id", "label"] {
            if let Some(given) = value.get(key) {
                object.insert(key.to_owned(), given.clone());
            }
        }
    }
    Ok(answer)
}

/// What a checkpoint changes in the answer; a dry run makes none, so it only says so unless it is to answer as if it did.
fn with_checkpoint(mut judged: Judged, saves: bool) -> Judged {
    if judged.leans {
        let would = "the hook saves it first, and asks a person where that cannot be done in full";
        judged.decision.note("checkpoint.would", would.to_owned());
    }
    if !judged.undoable {
        return judged;
    }
    if saves {
        judged.decision = undoable::lowered(judged.decision, true);
    } else {
        let would = "passes where nothing is there that it would discard, and would be a warning with a checkpoint \
                     otherwise: the hook looks and saves, a dry run does not";
        judged.decision.note("checkpoint.would", would.to_owned());
    }
    judged
}
