//! What a headless client tells of its work, line by line: how many calls were made, and the last answer. Text of the
//! agent is only kept, never judged here.

use serde_json::Value;

use crate::domain::{Client, clip};
use crate::review::response::MAX_BYTES;

/// Longest reason of a failure that is kept, in bytes.
const MAX_REASON: usize = 1000;

/// A client's stream so far.
#[derive(Debug)]
pub struct Stream {
    client: Client,
    /// Calls that the agent made, refused ones included.
    pub calls: u32,
    answer: Option<String>,
    failure: Option<String>,
}

impl Stream {
    pub fn new(client: Client) -> Stream {
        Stream { client, calls: 0, answer: None, failure: None }
    }

    /// One line; what is no event of the client is passed over.
    pub fn line(&mut self, bytes: &[u8]) {
        let Ok(event) = crate::host::from_json::<Value>(bytes) else { return };
        match self.client {
            Client::ClaudeCode => self.claude(&event),
            Client::OpenCode => self.opencode(&event),
        }
    }

    /// The agent's last answer, or what the client says went wrong.
    pub fn finish(self) -> Result<String, Option<String>> {
        match (self.answer, self.failure) {
            (_, Some(failure)) => Err(Some(failure)),
            (Some(answer), None) => Ok(answer),
            (None, None) => Err(None),
        }
    }

    fn claude(&mut self, event: &Value) {
        match text(event, "/type") {
            Some("assistant") => {
                let content = event.pointer("/message/content").and_then(Value::as_array);
                let calls =
                    content.into_iter().flatten().filter(|part| text(part, "/type") == Some("tool_use"));
                self.count(calls.count());
            }
            Some("result") => {
                let words = text(event, "/result");
                let failed = event.pointer("/is_error").and_then(Value::as_bool).unwrap_or(false);
                let subtype = text(event, "/subtype").unwrap_or_default();
                if failed || subtype != "success" {
                    self.fail(words.unwrap_or(subtype));
                } else {
                    self.answer = Some(bounded(words.unwrap_or_default()));
                }
            }
            Some(_) | None => {}
        }
    }

    fn opencode(&mut self, event: &Value) {
        match text(event, "/type") {
            Some("tool_use") => self.count(1),
            // Only what is said in the last step is the answer.
            Some("step_start") => self.answer = None,
            Some("text") => {
                let so_far = self.answer.take().unwrap_or_default();
                self.answer =
                    Some(bounded(&format!("{so_far}{}", text(event, "/part/text").unwrap_or_default())));
            }
            Some("error") => {
                let places = ["/error/data/message", "/error/message", "/error/name"];
                let words = places.iter().find_map(|place| text(event, place));
                self.fail(words.unwrap_or("an error without words"));
            }
            Some(_) | None => {}
        }
    }

    fn count(&mut self, calls: usize) {
        self.calls = self.calls.saturating_add(u32::try_from(calls).unwrap_or(u32::MAX));
    }

    fn fail(&mut self, words: &str) {
        self.failure = Some(clip(words, MAX_REASON));
    }
}

fn text<'e>(event: &'e Value, place: &str) -> Option<&'e str> {
    event.pointer(place).and_then(Value::as_str)
}

/// One that is too long stays too long, and is refused for it; more of it is not kept.
fn bounded(answer: &str) -> String {
    clip(answer, MAX_BYTES + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(client: Client, lines: &[&str]) -> (u32, Result<String, Option<String>>) {
        let mut stream = Stream::new(client);
        for line in lines {
            stream.line(line.as_bytes());
        }
        (stream.calls, stream.finish())
    }

    #[test]
    fn claude_codes_stream() {
        let call = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"{}"},{"type":"tool_use","name":"Read"},{"type":"tool_use","name":"Grep"}]}}"#;
        let done = r#"{"type":"result","subtype":"success","is_error":false,"result":"{\"a\":1}"}"#;
        assert_eq!(
            of(Client::ClaudeCode, &["no json", "{", call, "[]", done]),
            (2, Ok("{\"a\":1}".to_owned()))
        );
        assert_eq!(of(Client::ClaudeCode, &[call]), (2, Err(None)));
        let bad = r#"{"type":"result","subtype":"success","is_error":true,"result":"no credit"}"#;
        assert_eq!(of(Client::ClaudeCode, &[done, bad]).1, Err(Some("no credit".to_owned())));
        let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
        assert_eq!(of(Client::ClaudeCode, &[turns]).1, Err(Some("error_max_turns".to_owned())));
    }

    #[test]
    fn opencodes_stream() {
        let start = r#"{"type":"step_start","part":{}}"#;
        let said = |text: &str| format!(r#"{{"type":"text","part":{{"text":"{text}"}}}}"#);
        let call = r#"{"type":"tool_use","part":{"tool":"read"}}"#;
        assert_eq!(
            of(Client::OpenCode, &[start, &said("let me look"), call, start, &said("a"), &said("b")]),
            (1, Ok("ab".to_owned()))
        );
        assert_eq!(of(Client::OpenCode, &[start, &said("let me look"), call, start]), (1, Err(None)));
        let bad = r#"{"type":"error","error":{"name":"X","data":{"message":"no model"}}}"#;
        assert_eq!(of(Client::OpenCode, &[start, &said("a"), bad]).1, Err(Some("no model".to_owned())));
    }

    #[test]
    fn an_endless_answer_is_cut_and_stays_too_long() {
        let long = "x".repeat(MAX_BYTES * 2);
        let line = format!(r#"{{"type":"text","part":{{"text":"{long}"}}}}"#);
        let kept = of(Client::OpenCode, &[&line, &line]).1.unwrap();
        assert!(kept.len() > MAX_BYTES && kept.len() < MAX_BYTES + 10);
    }
}
