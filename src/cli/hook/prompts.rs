//! Skills and commands that a call has expanded: which one, and with what arguments.

use crate::domain::{Action, ToolCall};
use crate::review::surfaces::prompt_name;

/// The skill or command that a call has expanded, and its arguments.
pub fn invoked(call: &ToolCall) -> Option<(String, String)> {
    let Action::Other { text, .. } = &call.action else { return None };
    if !call.tool.starts_prompts() {
        return None;
    }
    let input: serde_json::Value = crate::host::from_json(text.as_bytes()).ok()?;
    let text = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default();
    let called = text(&["skill", "command", "name"]).trim().trim_start_matches('/');
    let (name, behind) = called.split_once(char::is_whitespace).unwrap_or((called, ""));
    Some((name.to_owned(), format!("{behind} {}", text(&["args", "arguments"])).trim().to_owned()))
}

/// Whether a skill or command of this file is called by a name, in a plugin perhaps.
pub fn is_called(called: &str, path: &str, text: &str) -> bool {
    let called = called.rsplit(':').next().unwrap_or(called);
    let mut names = path.rsplit('/');
    let file = names.next().unwrap_or_default();
    let by_file = if file.eq_ignore_ascii_case("skill.md") { names.next() } else { file.split('.').next() };
    let is = |name: Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case(called));
    is(by_file) || is(prompt_name(text))
}
