//! What only the first program knows: how stopped calls were read, and which codes are open. It is asked, since the rules are not
//! linked here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::story::{Answer, Story};
use crate::cli::Machine;
use crate::host::clock;
use crate::host::permit::Permits;
use crate::host::released;

/// Most calls that are judged again.
const MOST: usize = 300;

/// One command, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// None = it is not known what it does.
    pub does: Option<String>,
    pub text: String,
}

/// A line of the answer to a batch.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answered {
    id: String,
    operations: Vec<Operation>,
}

/// A setting, as `config show` prints it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Setting {
    value: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Configured {
    values: BTreeMap<String, Setting>,
}

/// What was asked for.
#[derive(Debug, Default)]
pub struct Judged {
    operations: BTreeMap<String, Vec<Operation>>,
    open: BTreeSet<String>,
    /// As they are in force where the first session worked.
    settings: BTreeMap<String, Setting>,
}

impl Judged {
    /// How the call of that event was read; nothing where its words were no command.
    pub fn operations(&self, id: &str) -> &[Operation] {
        self.operations.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether a person can still allow the call of that code.
    pub fn is_open(&self, code: &str) -> bool {
        self.open.contains(code)
    }

    /// A limit, with what happens when it is reached.
    pub fn limit(&self, mode: &str, key: &str) -> String {
        let text = |key: &str| match self.settings.get(key).map(|setting| &setting.value) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "unknown".to_owned(),
        };
        format!("{} ({})", text(key), text(mode))
    }
}

pub fn judge(story: &Story, machine: &Machine) -> Result<Judged> {
    let offers = Permits::new(&machine.dirs.state).offers(clock::now())?;
    let open = offers.into_iter().map(|offer| offer.code).collect();
    let mut lines = String::new();
    let told = story.calls().filter(|call| call.answer > Answer::Warned && call.tool == "Bash");
    for call in told.take(MOST) {
        let line = json!({ "id": call.id, "cwd": call.cwd, "command": call.action });
        lines.push_str(&format!("{line}\n"));
    }
    let operations = if lines.is_empty() { BTreeMap::new() } else { read(lines)? };
    Ok(Judged { operations, open, settings: settings(story) })
}

/// The configuration where the first session worked; what cannot be read is not known.
fn settings(story: &Story) -> BTreeMap<String, Setting> {
    let cwd =
        story.sessions.first().map(|session| session.cwd.as_str()).filter(|cwd| Path::new(cwd).is_dir());
    let shown = || {
        let mut command = Command::new(released::beside(released::BINARY).ok()?);
        command.args(["config", "show", "--json"]).current_dir(cwd.unwrap_or("/")).stdin(Stdio::null());
        crate::host::from_json::<Configured>(&command.output().ok()?.stdout).ok()
    };
    shown().unwrap_or_default().values
}

/// The first program's reading of these lines.
fn read(lines: String) -> Result<BTreeMap<String, Vec<Operation>>> {
    let program = released::beside(released::BINARY)?;
    let mut child = Command::new(&program)
        .args(["check", "--batch", "-", "--explain", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let mut stdin = child.stdin.take();
    // It answers while it is still being asked.
    let asked =
        std::thread::spawn(move || stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(lines.as_bytes())));
    let output = child.wait_with_output().with_context(|| program.display().to_string())?;
    // Who ended early has said so by his answer.
    let _ = asked.join();
    let answers = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read = answers.filter_map(|line| crate::host::from_json::<Answered>(line).ok());
    Ok(read.map(|answered| (answered.id, answered.operations)).collect())
}
