//! Claude Code's settings as text: our hooks put in and taken out, everything else byte for byte as it was.
//! Touches no file.

use serde_json::Value;

use super::hooks::{self, Form, Wanted};
use super::json_text::{Doubled, Node};

/// The member of OpenCode's configuration that names plugins.
const PLUGINS: &str = "plugin";

/// Why a settings text is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// Not JSON; line and column of the first error, and what it is.
    NotJson { line: usize, column: usize, why: String },
    /// JSON, but not in the shape of settings.
    Shape(String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::NotJson { line, column, why } => write!(f, "line {line}, column {column}: {why}"),
            Unusable::Shape(why) => f.write_str(why),
        }
    }
}

impl From<serde_json::Error> for Unusable {
    fn from(error: serde_json::Error) -> Unusable {
        let text = error.to_string();
        let why = text.split(" at line ").next().unwrap_or_default().to_owned();
        Unusable::NotJson { line: error.line(), column: error.column(), why }
    }
}

impl From<Doubled> for Unusable {
    fn from(Doubled(key): Doubled) -> Unusable {
        Unusable::Shape(format!("the key \"{key}\" stands there twice and the client reads only the last"))
    }
}

/// One hook command in a settings text, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    pub event: String,
    pub group: usize,
    pub index: usize,
    pub matcher: Option<Value>,
    pub entry: Value,
}

impl Hook {
    /// The binary and form, when this is a hook that install wrote.
    pub fn ours(&self, recorded: &[String]) -> Option<(String, Form)> {
        hooks::binary_of(&self.entry).filter(|(bin, _)| hooks::is_lazaret(bin, recorded))
    }
}

/// Whether a hook is one that install wrote.
pub type Ours<'a> = &'a dyn Fn(&Hook) -> bool;

/// All hooks of a settings text that parses.
pub fn hooks_in(text: &str) -> Result<Vec<Hook>, Unusable> {
    let (_, text) = after_mark(text);
    let mut found = Vec::new();
    let Some(events) = events_of(&root(text)?)? else { return Ok(found) };
    for (event, groups) in events.members().unwrap_or_default() {
        for (group, node) in groups.elements().unwrap_or_default().into_iter().enumerate() {
            let matcher = node.member("matcher")?.map(|node| node.value());
            let entries = node.member("hooks")?.and_then(|hooks| hooks.elements()).unwrap_or_default();
            found.extend(entries.into_iter().enumerate().map(|(index, entry)| Hook {
                event: event.clone(),
                group,
                index,
                matcher: matcher.clone(),
                entry: entry.value(),
            }));
        }
    }
    Ok(found)
}

/// The text with exactly `wanted` of Claude Code's in it. Unchanged when it is there already.
pub fn with(text: &str, wanted: &[Wanted], recorded: &[String]) -> Result<String, Unusable> {
    with_ours(text, wanted, &|hook| hook.ours(recorded).is_some())
}

/// The text with exactly `wanted` in it of what is ours.
pub fn with_ours(text: &str, wanted: &[Wanted], ours: Ours<'_>) -> Result<String, Unusable> {
    let (mark, text) = after_mark(text);
    if !mark.is_empty() {
        return with_ours(text, wanted, ours).map(|text| [mark, &text].concat());
    }
    if text.trim().is_empty() {
        return with_ours("{}\n", wanted, ours);
    }
    if holds(text, wanted, ours)? {
        return Ok(text.to_owned());
    }
    let mut text = without_ours(text, ours)?;
    for one in wanted {
        text = with_one(&text, one)?;
    }
    Ok(text)
}

/// The text with all of Claude Code's taken out, and the containers that became empty by it.
pub fn without(text: &str, recorded: &[String]) -> Result<String, Unusable> {
    without_ours(text, &|hook| hook.ours(recorded).is_some())
}

/// The same with all that is ours.
pub fn without_ours(text: &str, ours: Ours<'_>) -> Result<String, Unusable> {
    let (mark, text) = after_mark(text);
    let mut text = text.to_owned();
    loop {
        let found = hooks_in(&text)?;
        let Some(hook) = found.iter().rev().find(|hook| ours(hook)) else {
            return Ok([mark, &text].concat());
        };
        text = without_one(&text, hook)?;
    }
}

/// A text of OpenCode's configuration with `plugin` among the plugins that it names.
pub fn with_plugin(text: &str, plugin: &str) -> Result<String, Unusable> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = root(text)?;
    let Some(named) = root.member(PLUGINS)? else {
        return Ok(root.append(Some(PLUGINS), &serde_json::json!([plugin])));
    };
    match named.elements() {
        None => Err(Unusable::Shape(format!("\"{PLUGINS}\" is not an array"))),
        Some(all) if all.iter().any(|node| node.value() == plugin) => Ok(text.to_owned()),
        Some(_) => Ok(named.append(None, &Value::from(plugin))),
    }
}

/// The same with `plugin` taken out, and the list that became empty by it.
pub fn without_plugin(text: &str, plugin: &str) -> Result<String, Unusable> {
    let root = root(text)?;
    let Some(named) = root.member(PLUGINS)? else { return Ok(text.to_owned()) };
    let all = named.elements().unwrap_or_default();
    let Some(place) = all.iter().position(|node| node.value() == plugin) else { return Ok(text.to_owned()) };
    if all.len() > 1 {
        return Ok(named.without(place));
    }
    let members = root.members().unwrap_or_default();
    Ok(root.without(members.iter().position(|(key, _)| key == PLUGINS).unwrap_or(members.len())))
}

/// Whether the text holds each of `wanted` once and nothing else of ours.
fn holds(text: &str, wanted: &[Wanted], is_ours: Ours<'_>) -> Result<bool, Unusable> {
    let found = hooks_in(text)?;
    let ours: Vec<&Hook> = found.iter().filter(|hook| is_ours(hook)).collect();
    let there = |one: &Wanted| {
        ours.iter().any(|hook| {
            hook.event == one.event
                && hook.matcher.as_ref() == one.matcher()
                && Some(&hook.entry) == one.entry()
        })
    };
    Ok(ours.len() == wanted.len() && wanted.iter().all(there))
}

/// A byte order mark at the beginning, which the client reads over, and the text after it.
fn after_mark(text: &str) -> (&str, &str) {
    const MARK: &str = "\u{feff}";
    text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest))
}

fn root(text: &str) -> Result<Node<'_>, Unusable> {
    let root = Node::root(text)?;
    match root.members() {
        Some(_) => Ok(root),
        None => Err(Unusable::Shape("it is not an object".to_owned())),
    }
}

/// The `hooks` object.
fn events_of<'a>(root: &Node<'a>) -> Result<Option<Node<'a>>, Unusable> {
    let Some(events) = root.member("hooks")? else { return Ok(None) };
    let Some(members) = events.members() else {
        return Err(Unusable::Shape("\"hooks\" is not an object".to_owned()));
    };
    for (event, groups) in members {
        events.member(&event)?;
        if groups.elements().is_none() {
            return Err(Unusable::Shape(format!("\"hooks\".\"{event}\" is not an array")));
        }
    }
    Ok(Some(events))
}

fn with_one(text: &str, one: &Wanted) -> Result<String, Unusable> {
    let root = root(text)?;
    let Some(events) = events_of(&root)? else {
        return Ok(root.append(Some("hooks"), &serde_json::json!({ one.event.as_str(): [one.group] })));
    };
    Ok(match events.member(&one.event)? {
        Some(groups) => groups.append(None, &one.group),
        None => events.append(Some(&one.event), &serde_json::json!([one.group])),
    })
}

fn without_one(text: &str, hook: &Hook) -> Result<String, Unusable> {
    let root = root(text)?;
    let Some(events) = events_of(&root)? else { return Ok(text.to_owned()) };
    let names = events.members().unwrap_or_default();
    let Some((number, groups)) = names
        .iter()
        .enumerate()
        .find(|(_, (name, _))| *name == hook.event)
        .map(|(number, (_, node))| (number, node))
    else {
        return Ok(text.to_owned());
    };
    let all = groups.elements().unwrap_or_default();
    let inner = match all.get(hook.group) {
        Some(group) => group.member("hooks")?,
        None => None,
    };
    let shared = inner.filter(|inner| inner.elements().is_some_and(|entries| entries.len() > 1));
    Ok(match shared {
        Some(inner) => inner.without(hook.index),
        None if all.len() > 1 => groups.without(hook.group),
        None if names.len() > 1 => events.without(number),
        None => {
            let members = root.members().unwrap_or_default();
            let place = members.iter().position(|(key, _)| key == "hooks").unwrap_or(members.len());
            root.without(place)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hooks::wanted;
    use serde_json::json;

    fn put(text: &str) -> String {
        let longer = with(text, &wanted("/opt/lazaret", &[], Form::Exec), &[]).unwrap();
        let again = with(&longer, &wanted("/opt/lazaret", &[], Form::Exec), &[]).unwrap();
        assert_eq!(again, longer, "not idempotent");
        longer
    }

    const RICH: &str = "{\n\t\"$schema\": \"x\",\n\t\"zeta\" : [1,2 , 3],\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [ {\"type\":\"command\",\"command\":\"say done\"} ]}],\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\", \"unknown\": 1e2}] }\n\t\t]\n\t},\n\t\"alpha\": \"\\u00e9\"\n}";

    #[test]
    fn out_again_gives_back_the_bytes() {
        for text in [
            "{}",
            "{}\n",
            "{\"a\":1}",
            "{\n  \"a\": 1\n}\n",
            RICH,
            "{\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n    ]\r\n  }\r\n}\r\n",
            "\u{feff}{\"a\":1}",
        ] {
            let longer = put(text);
            assert_eq!(without(&longer, &[]).unwrap(), text);
        }
    }

    #[test]
    fn a_hook_moved_into_a_shared_group_is_taken_out_alone() {
        let entry = wanted("/opt/lazaret", &[], Form::Exec).remove(0).entry().unwrap().clone();
        let text = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"command": "a"}, entry, {"command": "b"}]}]}});
        let left: Value = serde_json::from_str(&without(&text.to_string(), &[]).unwrap()).unwrap();
        assert_eq!(
            left,
            json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"command": "a"}, {"command": "b"}]}]}})
        );
    }

    #[test]
    fn what_cannot_be_understood_is_refused() {
        let error = with("{\n  \"a\": 1,\n}", &[], &[]).unwrap_err();
        assert!(matches!(error, Unusable::NotJson { line: 3, .. }), "{error}");
        for text in [
            "[]",
            "{\"hooks\": []}",
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "{\"hooks\": {}, \"hooks\": {}}",
            "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
        ] {
            assert!(
                matches!(with(text, &wanted("/x/lazaret", &[], Form::Exec), &[]), Err(Unusable::Shape(_))),
                "{text}"
            );
        }
    }
}
