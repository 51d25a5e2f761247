//! What a client, or git, runs from a file without a call that is asked about: read out of the file's content, by its kind. Whether
//! that is allowed is decided as for a call. What cannot be read with certainty may run anything.

mod claude;
mod expand;
mod gitconfig;
mod markdown;
mod settings;

use serde_json::Value;

use crate::domain::{Action, Content, EffectKind, Run, Surface, Target, Tool, ToolCall, join, sort_by};
use crate::review::is_file_operation;
use crate::rules::{Survey, lists};

pub use claude::started;
pub use expand::with_arguments;
pub use gitconfig::{Linked, linked};
pub use markdown::named as prompt_name;

/// Most things that one file may run; of more nobody says what they are.
const MAX_RUNS: usize = 128;

/// All that a file of this kind and content has run.
pub fn runs(kind: Surface, name: &str, content: &Content) -> Vec<Run> {
    let bytes = match content {
        Content::Absent => return Vec::new(),
        Content::Unreadable(why) => return vec![Run::Unread(why.clone())],
        Content::Bytes(bytes) => bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![Run::Unread("it is not UTF-8 text".to_owned())];
    };
    let mut runs = match kind {
        Surface::ClaudePrompt => markdown::of_claude(text),
        Surface::OpenCodePrompt => markdown::shell_lines(text, false),
        // The package that every tool is made with is called as the places are where clients are set up.
        Surface::Tool => {
            vec![Run::Code { name: name.to_owned(), text: text.replace("@opencode-ai/", "@client/") }]
        }
        Surface::GitHook | Surface::Package => {
            vec![Run::Code { name: name.to_owned(), text: text.to_owned() }]
        }
        Surface::Plugin => {
            vec![Run::Always("a plugin runs beside the gate and can answer in its stead".to_owned())]
        }
        Surface::OpenCodeSettings => settings::of_opencode(text),
        Surface::Servers | Surface::ClaudeState => settings::servers_of_claude(text),
        Surface::ClaudePlugin => settings::of_claude_plugin(text),
        Surface::GitConfig => gitconfig::runs(text),
    };
    sort_by(&mut runs, Ord::cmp);
    runs.dedup();
    if runs.len() > MAX_RUNS {
        runs.truncate(MAX_RUNS);
        runs.push(Run::Unread(format!("it has more than {MAX_RUNS} commands run, and no more are read")));
    }
    runs
}

/// What of a file's content is kept and compared: all of it, but of the client's own state the servers alone.
pub fn essence(kind: Surface, content: Content) -> Content {
    match (kind, &content) {
        (Surface::ClaudeState, Content::Bytes(bytes)) => {
            settings::servers_alone(bytes).map_or(content, Content::Bytes)
        }
        _ => content,
    }
}

/// Whether a call may change files: anything that is not known to read alone.
pub fn may_write(call: &ToolCall, survey: &Survey) -> bool {
    match &call.action {
        Action::Write { .. } | Action::Edit { .. } => true,
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Spawn { .. } => false,
        Action::Other { .. } => !matches!(call.tool, Tool::Internal(_)),
        Action::Shell { .. } => writes(survey),
    }
}

fn writes(survey: &Survey) -> bool {
    let scripted = |name: &str| lists::SCRIPTED_FILTERS.contains(&name) || lists::SEDS.contains(&name);
    survey.problem.is_some()
        || survey.effects.iter().any(|effect| effect.kind != EffectKind::FileRead)
        || survey.invocations.iter().any(|inv| inv.program.is_empty() || scripted(&inv.program))
}

/// The files that a call is known to write, and the directories that it is known to fill: who is asked about it sees them.
pub fn named(call: &ToolCall, cwd: &str, survey: &Survey) -> Vec<String> {
    let of_tool = match &call.action {
        Action::Write { path, .. } | Action::Edit { path, .. } => Some(join(cwd, path)),
        _ => None,
    };
    let effects = survey.effects.iter().filter(|effect| is_file_operation(effect));
    let of_effects = effects.filter_map(|effect| match &effect.target {
        Target::Path { path, glob: false, .. } => Some(path.clone()),
        _ => None,
    });
    of_tool.into_iter().chain(of_effects).collect()
}

/// A server of a client, as the command line or address that it is: the variables that it gets stand in front.
fn server(name: &str, value: &Value) -> Vec<Run> {
    let variables =
        ["env", "environment"].iter().filter_map(|key| value.get(key)).filter_map(Value::as_object);
    let mut words: Vec<String> = Vec::new();
    for (variable, value) in variables.flatten() {
        words.push(format!("{variable}={}", expand::word(value.as_str().unwrap_or_default())));
    }
    let begun = words.len();
    match value.get("command") {
        Some(Value::String(command)) => words.push(expand::word(command)),
        Some(Value::Array(list)) => words.extend(quoted(list)),
        _ => {}
    }
    words.extend(value.get("args").and_then(Value::as_array).into_iter().flat_map(|list| quoted(list)));
    let address = ["url", "httpUrl"].iter().find_map(|key| value.get(key)).and_then(Value::as_str);
    let mut runs: Vec<Run> = Vec::new();
    if words.len() > begun {
        runs.push(Run::command(words.join(" ")));
    }
    runs.extend(address.map(|address| Run::Address(expand::address(address))));
    // Claude Code starts this one for the headers of the connection.
    let helper = value.get("headersHelper").and_then(Value::as_str);
    runs.extend(helper.map(|helper| Run::command(helper.to_owned())));
    let off = value.get("disabled") == Some(&Value::Bool(true))
        || value.get("enabled") == Some(&Value::Bool(false));
    if runs.is_empty() && !off {
        runs.push(Run::Unread(format!("the server {name} has neither command nor address")));
    }
    runs
}

fn quoted(list: &[Value]) -> impl Iterator<Item = String> {
    list.iter().map(|word| expand::word(word.as_str().unwrap_or_default()))
}

#[cfg(test)]
mod tests;
