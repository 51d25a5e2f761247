//! Adds rows to tests/corpus: `cargo run --example corpus < rows`, one row a line, its four fields with tabs between them:
//! family, expectation (`block`, `stopped`, `warned`, `not stopped`, `silent`), reason, call. `-` leaves family or reason to be read off
//! the rule that fires, or off the program. A call is a command line (`\n` for a line break), `Tool path content`, or
//! `{"tool": …, "input": …}`; `@NAME|` in front of it names the situation. Rows that are there already are passed over, and
//! those whose expectation is not met are shown and not written.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for those who work on lazaret, run by hand"
)]

#[path = "../../tests/corpus/mod.rs"]
mod corpus;
mod guess;

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, Write};
use std::path::Path;

use corpus::{Expect, PROJECT, SITUATIONS, Situation};
use lazaret::domain::Policy;
use serde_json::{Map, Value, json};

struct Row {
    family: String,
    expect: Expect,
    reason: String,
    tool: String,
    input: Value,
    situation: Situation,
}

fn main() {
    let policy = Policy::default();
    let mut seen: HashSet<String> =
        corpus::cases().iter().map(|case| key(&case.tool, &case.input, case.situation)).collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for case in corpus::cases() {
        let number = case.id.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(0);
        let last = count.entry(case.family).or_default();
        *last = (*last).max(number);
    }
    let (mut added, mut passed, mut unmet) = (0, 0, 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input");
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let row = read(&line, &policy);
        if !seen.insert(key(&row.tool, &row.input, row.situation)) {
            passed += 1;
            continue;
        }
        let decision = corpus::decide(&row.tool, &row.input, row.situation, &policy);
        if !row.expect.met_by(decision.verdict()) {
            let rules: Vec<_> = decision.reasons().iter().map(|reason| reason.rule.as_str()).collect();
            println!("{} {rules:?} for {line}", decision.verdict().name());
            unmet += 1;
            continue;
        }
        let last = count.entry(row.family.clone()).or_default();
        *last += 1;
        append(&row, *last);
        added += 1;
    }
    println!("{added} added, {passed} there already, {unmet} not met");
}

fn key(tool: &str, input: &Value, situation: Situation) -> String {
    format!("{tool} {input} {}", situation.name)
}

/// One row, with what it leaves open filled in.
fn read(line: &str, policy: &Policy) -> Row {
    let fields: Vec<_> = line.splitn(4, '\t').collect();
    let [family, expect, reason, call] = fields.try_into().unwrap_or_else(|_| panic!("four fields: {line}"));
    let expect = Expect::from_name(expect).unwrap_or_else(|| panic!("expectation {expect}: {line}"));
    let (situation, call) = match call.strip_prefix('@').and_then(|rest| rest.split_once('|')) {
        Some((name, call)) => {
            (*SITUATIONS.iter().find(|known| known.name == name).expect("a situation"), call)
        }
        None => (PROJECT, call),
    };
    let (tool, input) = tool_and_input(call);
    let decision = corpus::decide(&tool, &input, situation, policy);
    let command = input.get("command").and_then(Value::as_str).filter(|_| tool == "Bash");
    let (guessed, why) = guess::of(expect, &tool, command, &decision);
    Row {
        family: if family == "-" { guessed } else { family.to_owned() },
        expect,
        reason: if reason == "-" { why } else { reason.to_owned() },
        tool,
        input,
        situation,
    }
}

fn tool_and_input(call: &str) -> (String, Value) {
    if let Ok(Value::Object(object)) = serde_json::from_str::<Value>(call)
        && let (Some(Value::String(tool)), Some(input)) = (object.get("tool"), object.get("input"))
    {
        return (tool.clone(), input.clone());
    }
    let call = call.replace("\\n", "\n");
    let (word, rest) = call.split_once(' ').unwrap_or((&call, ""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let path = if first.starts_with('/') { first.to_owned() } else { format!("{}/{first}", PROJECT.cwd) };
    let input = match word {
        "Read" => json!({ "file_path": path }),
        "Write" => json!({ "file_path": path, "content": more }),
        "Edit" => json!({ "file_path": path, "old_string": "", "new_string": more }),
        "Grep" => json!({ "pattern": more, "path": path }),
        "Glob" => json!({ "pattern": rest }),
        "WebFetch" => json!({ "url": first, "prompt": "what does it say" }),
        _ => return ("Bash".to_owned(), json!({ "command": call })),
    };
    (word.to_owned(), input)
}

fn append(row: &Row, number: usize) {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("id", json!(format!("{}-{number:04}", row.family)));
    put("family", json!(row.family));
    match row.input.get("command").filter(|_| row.tool == "Bash") {
        Some(command) => {
            put("command", command.clone());
        }
        None => {
            put("tool", json!(row.tool));
            put("input", row.input.clone());
        }
    }
    put("situation", json!(row.situation.name));
    put("expect", json!(row.expect.name()));
    put("reason", json!(row.reason));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{}.jsonl", row.family));
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("a family of the corpus");
    writeln!(file, "{}", Value::Object(object)).expect("written");
}
