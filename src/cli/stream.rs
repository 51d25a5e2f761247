//! What a headless client tells of its work, line by line: its session, the calls that were made and those that ran, tokens
//! and cost, and the last answer. Text of the agent is only kept, never judged here.

use serde_json::Value;

use crate::domain::{Client, clip};
use crate::review::response::MAX_BYTES;

/// Longest reason of a failure that is kept, in bytes.
const MAX_REASON: usize = 1000;

/// A call that the client has carried out, as it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub id: String,
    /// The client's name of the tool; empty = it was not told.
    pub tool: String,
}

/// A client's stream so far.
#[derive(Debug)]
pub struct Stream {
    client: Client,
    /// The client's session, once it has named it.
    pub session: Option<String>,
    /// Calls that the agents made, refused ones included.
    pub calls: u64,
    /// Tokens that the model read and wrote, without those read from a cache.
    pub tokens: u64,
    /// What it has cost in dollars, as far as the client says.
    pub cost: f64,
    ran: Vec<Ran>,
    /// Calls without a result: id and tool.
    open: Vec<Ran>,
    /// The message that tokens were last counted of, and how many: it is told in parts.
    counted: (String, u64),
    answer: Option<String>,
    failure: Option<String>,
}

impl Stream {
    pub fn new(client: Client) -> Stream {
        Stream {
            client,
            session: None,
            calls: 0,
            tokens: 0,
            cost: 0.0,
            ran: Vec::new(),
            open: Vec::new(),
            counted: (String::new(), 0),
            answer: None,
            failure: None,
        }
    }

    /// One line; what is no event of the client is passed over.
    pub fn line(&mut self, bytes: &[u8]) {
        let Ok(event) = crate::host::from_json::<Value>(bytes) else { return };
        // No other client is run headless.
        if self.client == Client::ClaudeCode { self.claude(&event) } else { self.opencode(&event) }
    }

    /// The calls that ran since this was last asked.
    pub fn take_ran(&mut self) -> Vec<Ran> {
        std::mem::take(&mut self.ran)
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
        if self.session.is_none() {
            self.session = text(event, "/session_id").map(str::to_owned);
        }
        match text(event, "/type") {
            Some("assistant") => self.claude_said(event),
            Some("user") => self.claude_results(event),
            Some("result") => {
                let words = text(event, "/result");
                let failed = event.pointer("/is_error").and_then(Value::as_bool).unwrap_or(false);
                let subtype = text(event, "/subtype").unwrap_or_default();
                self.cost = event.pointer("/total_cost_usd").and_then(Value::as_f64).unwrap_or(self.cost);
                if failed || subtype != "success" {
                    self.fail(words.unwrap_or(subtype));
                } else {
                    self.answer = Some(bounded(words.unwrap_or_default()));
                }
            }
            Some(_) | None => {}
        }
    }

    fn claude_said(&mut self, event: &Value) {
        for part in parts(event).filter(|part| text(part, "/type") == Some("tool_use")) {
            self.calls = self.calls.saturating_add(1);
            if let (Some(id), Some(tool)) = (text(part, "/id"), text(part, "/name")) {
                self.open.push(Ran { id: id.to_owned(), tool: tool.to_owned() });
            }
        }
        let usage = ["input_tokens", "output_tokens", "cache_creation_input_tokens"];
        let tokens = usage.iter().map(|name| number(event, &format!("/message/usage/{name}"))).sum();
        let message = text(event, "/message/id").unwrap_or_default();
        if self.counted.0 == message {
            self.tokens = self.tokens.saturating_sub(self.counted.1);
        }
        self.tokens = self.tokens.saturating_add(tokens);
        self.counted = (message.to_owned(), tokens);
    }

    /// What was refused is an error without a decision of the client's own.
    fn claude_results(&mut self, event: &Value) {
        let accepted = |id: &str| {
            let meta = event.pointer("/tool_result_meta").and_then(Value::as_array);
            meta.into_iter().flatten().any(|meta| text(meta, "/id") == Some(id))
        };
        for part in parts(event).filter(|part| text(part, "/type") == Some("tool_result")) {
            let Some(id) = text(part, "/tool_use_id") else { continue };
            let place = self.open.iter().position(|open| open.id == id);
            let call = match place {
                Some(place) => self.open.swap_remove(place),
                None => Ran { id: id.to_owned(), tool: String::new() },
            };
            let failed = part.pointer("/is_error").and_then(Value::as_bool).unwrap_or(false);
            if !failed || accepted(id) {
                self.ran.push(call);
            }
        }
    }

    fn opencode(&mut self, event: &Value) {
        if self.session.is_none() {
            self.session = text(event, "/sessionID").map(str::to_owned);
        }
        match text(event, "/type") {
            Some("tool_use") => {
                self.calls = self.calls.saturating_add(1);
                let done = text(event, "/part/state/status") == Some("completed");
                if let (true, Some(id)) = (done, text(event, "/part/callID")) {
                    let tool = text(event, "/part/tool").unwrap_or_default().to_owned();
                    self.ran.push(Ran { id: id.to_owned(), tool });
                }
            }
            Some("step_finish") => {
                let usage = ["input", "output", "reasoning", "cache/write"];
                let tokens: u64 =
                    usage.iter().map(|name| number(event, &format!("/part/tokens/{name}"))).sum();
                self.tokens = self.tokens.saturating_add(tokens);
                self.cost += event.pointer("/part/cost").and_then(Value::as_f64).unwrap_or(0.0);
            }
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

    fn fail(&mut self, words: &str) {
        self.failure = Some(clip(words, MAX_REASON));
    }
}

fn text<'e>(event: &'e Value, place: &str) -> Option<&'e str> {
    event.pointer(place).and_then(Value::as_str)
}

fn number(event: &Value, place: &str) -> u64 {
    event.pointer(place).and_then(Value::as_u64).unwrap_or(0)
}

/// The parts of a message of Claude Code.
fn parts(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// One that is too long stays too long, and is refused for it; more of it is not kept.
fn bounded(answer: &str) -> String {
    clip(answer, MAX_BYTES + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(client: Client, lines: &[&str]) -> Stream {
        let mut stream = Stream::new(client);
        for line in lines {
            stream.line(line.as_bytes());
        }
        stream
    }

    fn of(client: Client, lines: &[&str]) -> (u64, Result<String, Option<String>>) {
        let stream = read(client, lines);
        (stream.calls, stream.finish())
    }

    #[test]
    fn claude_codes_calls_that_ran_and_what_they_cost() {
        let part = |id: &str, tool: &str| {
            format!(
                r#"{{"type":"assistant","session_id":"s1","message":{{"id":"m1","content":[{{"type":"tool_use","id":"{id}","name":"{tool}"}}],
                "usage":{{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":900,"cache_creation_input_tokens":3}}}}}}"#
            )
        };
        let result = |id: &str, error: bool, meta: &str| {
            format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{error}}}]}}{meta}}}"#
            )
        };
        let mut stream = read(
            Client::ClaudeCode,
            &[
                &part("a", "Bash"),
                &part("b", "Write"),
                &part("c", "Bash"),
                &result("a", false, ""),
                &result("b", true, ""),
                &result("c", true, r#","tool_result_meta":[{"id":"c","permission_decision":{}}]"#),
            ],
        );
        assert_eq!((stream.session.as_deref(), stream.calls, stream.tokens), (Some("s1"), 3, 18));
        let ran: Vec<_> = stream.take_ran().into_iter().map(|ran| (ran.id, ran.tool)).collect();
        let named = |id: &str, tool: &str| (id.to_owned(), tool.to_owned());
        assert_eq!(ran, [named("a", "Bash"), named("c", "Bash")], "what was refused did not run");
        assert!(stream.take_ran().is_empty());
        stream.line(br#"{"type":"result","subtype":"success","total_cost_usd":0.25,"result":"done"}"#);
        assert!((stream.cost - 0.25).abs() < 1e-9);
    }

    #[test]
    fn opencodes_calls_that_ran_and_what_they_cost() {
        let call = |id: &str, status: &str| {
            format!(
                r#"{{"type":"tool_use","sessionID":"ses_1","part":{{"tool":"bash","callID":"{id}","state":{{"status":"{status}"}}}}}}"#
            )
        };
        let finish = r#"{"type":"step_finish","part":{"tokens":{"total":99,"input":10,"output":4,"reasoning":1,"cache":{"write":2,"read":70}},"cost":0.5}}"#;
        let mut stream =
            read(Client::OpenCode, &[&call("a", "completed"), &call("b", "error"), finish, finish]);
        assert_eq!((stream.session.as_deref(), stream.calls, stream.tokens), (Some("ses_1"), 2, 34));
        assert!((stream.cost - 1.0).abs() < 1e-9);
        assert_eq!(stream.take_ran(), [Ran { id: "a".to_owned(), tool: "bash".to_owned() }]);
    }

    #[test]
    fn an_endless_answer_is_cut_and_stays_too_long() {
        let long = "x".repeat(MAX_BYTES * 2);
        let line = format!(r#"{{"type":"text","part":{{"text":"{long}"}}}}"#);
        let kept = of(Client::OpenCode, &[&line, &line]).1.unwrap();
        assert!(kept.len() > MAX_BYTES && kept.len() < MAX_BYTES + 10);
    }
}
