//! What the agent tool gives back, as each client shapes it: the report in it, and the same shape around another text.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::json::Object;
use crate::domain::{AgentId, AgentReport};

/// Fields of Claude Code's result that hold no words of an agent, whatever they are.
const OWN: &[&str] = &["agentId", "agentType", "resolvedModel", "usage", "toolStats", "harnessSectionHash"];
/// What stands in the place of a task that is not handed back.
const TASK: &str = "the task of a review";
const OPENING: &str = "<task_result>\n";
const CLOSING: &str = "\n</task_result>";

/// The report in Claude Code's `tool_response`. What cannot be read is none.
pub(super) fn of_claude(raw: Option<&str>) -> AgentReport {
    let response = raw.and_then(|raw| Object::parse(raw, "tool_response").ok());
    let text = |name: &str| response.as_ref()?.text(name).ok().flatten();
    let count = |name: &str| {
        let raw = response.as_ref()?.raw(name)?;
        raw.parse::<usize>().ok()
    };
    // The client's own notes stand before and after the agent's words.
    let (notes, tail) = (count("harnessNoteCount").unwrap_or(0), count("harnessTailCount").unwrap_or(0));
    let words = response.as_ref().and_then(|response| parts(response.raw("content")?, notes, tail));
    AgentReport {
        agent: text("agentId").and_then(|id| AgentId::new(&id)),
        agent_type: text("agentType").map(std::borrow::Cow::into_owned),
        completed: words.is_some() && text("status").is_some_and(|status| status == "completed"),
        text: words.map(|words| without_marks(&words)).unwrap_or_default(),
    }
}

/// The client writes a backslash behind the `<` of what looks like one of its own tags, which JSON does not survive. Behind
/// a `<`, only what can be no escape of JSON is taken out, so that JSON itself stays what it is.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<\\") {
        let (before, marked) = rest.split_at(at);
        let after = marked.get(2..).unwrap_or_default();
        let digits = after.get(1..5).is_some_and(|four| four.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let escape = match after.chars().next() {
            Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => true,
            Some('u') => digits,
            Some(_) | None => false,
        };
        out.push_str(before);
        out.push_str(if escape { "<\\" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The texts of a list of parts, without so many at its start and at its end.
fn parts(raw: &str, first: usize, last: usize) -> Option<String> {
    let parts: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    let own = parts.len().saturating_sub(first).saturating_sub(last);
    let texts = parts.into_iter().skip(first).take(own).map(|part| {
        let part = Object::parse(part.get(), "part").ok()?;
        part.text("text").ok()?.map(std::borrow::Cow::into_owned)
    });
    Some(texts.collect::<Option<Vec<String>>>()?.join("\n"))
}

/// Claude Code's `tool_response` with `text` as the report, and no other words of an agent in it. The client drops what has
/// not the shape it knows, and shows the model the original then: so every field keeps its kind.
pub(super) fn for_claude(raw: &str, text: &str) -> Value {
    let found = match serde_json::from_str(raw) {
        Ok(Value::Object(found)) => found,
        Ok(_) | Err(_) => Map::new(),
    };
    let mut out = whole();
    if found.get("status").and_then(Value::as_str) == Some("completed") {
        for (name, value) in found {
            let kept = match value {
                own if OWN.contains(&name.as_str()) => own,
                Value::Null => Value::Null,
                Value::Bool(on) => json!(on),
                Value::Number(number) => Value::Number(number),
                Value::String(_) => json!(""),
                Value::Array(_) => json!([]),
                Value::Object(_) => json!({}),
            };
            out.insert(name, kept);
        }
    }
    out.insert("status".to_owned(), json!("completed"));
    out.insert("prompt".to_owned(), json!(TASK));
    out.insert("content".to_owned(), json!([{ "type": "text", "text": text }]));
    // Going on with the agent would bring its words back by another way.
    out.insert("canContinueAgent".to_owned(), json!(false));
    for notes in ["harnessNoteCount", "harnessTailCount"].into_iter().filter(|name| raw.contains(name)) {
        out.insert(notes.to_owned(), json!(0));
    }
    Value::Object(out)
}

/// The fields of an agent's result that has ended.
fn whole() -> Map<String, Value> {
    let usage = json!({
        "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0,
        "server_tool_use": null, "service_tier": null, "cache_creation": null,
    });
    let fields = [
        ("agentId", json!("")),
        ("totalDurationMs", json!(0)),
        ("totalTokens", json!(0)),
        ("totalToolUseCount", json!(0)),
        ("usage", usage),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The report in what OpenCode's plugin says of a result: the agent's session in the metadata, the report between marks.
pub(super) fn of_opencode(args: Option<Object<'_>>, output: Option<&Object<'_>>) -> AgentReport {
    let text = |object: Option<&Object<'_>>, name: &str| {
        object?.text(name).ok().flatten().map(std::borrow::Cow::into_owned)
    };
    let metadata = output.and_then(|output| output.object("metadata").ok().flatten());
    let child = text(metadata.as_ref(), "sessionId").or_else(|| text(metadata.as_ref(), "sessionID"));
    let said = text(output, "output");
    let report = said.as_deref().map(|said| match (said.find(OPENING), said.rfind(CLOSING)) {
        // The agent may write marks itself: the outermost are the client's.
        (Some(from), Some(to)) => said.get(from + OPENING.len()..to).unwrap_or_default(),
        _ => said,
    });
    let head = said.as_deref().and_then(|said| said.strip_prefix("<task ")?.split('>').next());
    let completed = head.is_none_or(|head| head.contains("state=\"completed\""));
    AgentReport {
        agent: child.as_deref().and_then(AgentId::new),
        agent_type: text(args.as_ref(), "subagent_type").or_else(|| text(args.as_ref(), "agent")),
        completed: completed && report.is_some(),
        text: report.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETED: &str = r#"{"status":"completed","prompt":"look","agentId":"a1","agentType":"q","toolsUsed":["Read","say yes"],"content":[{"type":"text","text":"one"},{"type":"text","text":"t\u0077o"}],"totalTokens":12,"note":"from the agent","more":{"of":"it"},"list":["x"],"usage":{"input_tokens":3},"canContinueAgent":true}"#;

    #[test]
    fn a_claude_report_is_read_and_replaced() {
        let report = of_claude(Some(COMPLETED));
        assert_eq!((report.completed, report.text.as_str()), (true, "one\ntwo"));
        assert_eq!((report.agent.unwrap().as_str(), report.agent_type.as_deref()), ("a1", Some("q")));
        let replaced = for_claude(COMPLETED, "clean");
        assert_eq!(
            replaced,
            json!({
                "status": "completed", "prompt": TASK, "agentId": "a1", "agentType": "q", "toolsUsed": [],
                "content": [{"type": "text", "text": "clean"}], "totalTokens": 12, "totalDurationMs": 0,
                "totalToolUseCount": 0, "note": "", "more": {}, "list": [], "usage": {"input_tokens": 3},
                "canContinueAgent": false,
            })
        );
    }

    #[test]
    fn the_clients_own_notes_are_not_the_report() {
        let raw = r#"{"status":"completed","harnessNoteCount":1,"harnessTailCount":1,"content":[{"type":"text","text":"note"},{"type":"text","text":"{}"},{"type":"text","text":"tail"}]}"#;
        let report = of_claude(Some(raw));
        assert_eq!((report.completed, report.text.as_str()), (true, "{}"));
        let replaced = for_claude(raw, "clean");
        assert_eq!((&replaced["harnessNoteCount"], &replaced["harnessTailCount"]), (&json!(0), &json!(0)));
        let short = raw.replace("\"harnessNoteCount\":1", "\"harnessNoteCount\":9");
        assert_eq!(of_claude(Some(&short)).text, "");
    }

    #[test]
    fn the_clients_marks_on_tags_are_taken_out_and_json_stays() {
        for (marked, text) in [
            ("a <\\system-reminder>b", "a <system-reminder>b"),
            ("<\\user> <\\", "<user> <"),
            ("<<\\<\\a", "<<<a"),
            (
                "\"<\\/a>\" \"<\\\"\" \"<\\\\a\" \"<\\n\" \"<\\u003c\"",
                "\"<\\/a>\" \"<\\\"\" \"<\\\\a\" \"<\\n\" \"<\\u003c\"",
            ),
            ("é<\\é", "é<é"),
        ] {
            assert_eq!(without_marks(marked), text);
        }
    }

    #[test]
    fn what_is_no_report_is_none_and_is_replaced_whole() {
        for raw in [
            r#"{"status":"async_launched","agentId":"a1","description":"words","outputFile":"/x"}"#,
            r#"{"status":"completed","content":"words"}"#,
            r#"{"status":"completed","content":[{"type":"image"}]}"#,
            r#"{"content":[{"type":"text","text":"words"}]}"#,
            r#""words""#,
            "",
        ] {
            assert!(!of_claude(Some(raw)).completed, "{raw}");
            let replaced = for_claude(raw, "clean");
            assert_eq!(replaced["status"], "completed");
            assert_eq!(replaced["content"], json!([{"type": "text", "text": "clean"}]));
            assert!(!replaced.to_string().contains("words"), "{replaced}");
        }
        assert!(!of_claude(None).completed);
    }

    #[test]
    fn an_opencode_report_stands_between_the_outermost_marks() {
        let report = |output: &str| {
            let output = json!({ "output": output, "metadata": { "sessionId": "ses_c" } }).to_string();
            let args = Object::parse(r#"{"subagent_type":"q"}"#, "args").unwrap();
            of_opencode(Some(args), Some(&Object::parse(&output, "output").unwrap()))
        };
        let whole = "<task id=\"ses_c\" state=\"completed\">\n<task_result>\n{a</task_result>\n</task_result>\n</task>";
        let found = report(whole);
        assert_eq!((found.completed, found.text.as_str()), (true, "{a</task_result>"));
        assert_eq!((found.agent.unwrap().as_str(), found.agent_type.as_deref()), ("ses_c", Some("q")));
        assert!(!report(&whole.replace("completed", "running")).completed);
        assert_eq!(report("{}").text, "{}");
        assert!(!of_opencode(None, None).completed);
    }
}
