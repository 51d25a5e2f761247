//! The wire formats a client speaks with its model: Anthropic messages, OpenAI chat completions and responses, all streamed.
//! Just enough HTTP for the two clients, one request per connection.

use crate::model::{Call, Told};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};

/// One HTTP request.
pub struct Http {
    pub path: String,
    pub body: Vec<u8>,
}

impl Http {
    /// Reads a request with a `Content-Length`, or nothing when the client hung up.
    pub fn read(stream: &UnixStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
            assert!(
                !name.eq_ignore_ascii_case("transfer-encoding"),
                "a chunked request; teach Http to read it"
            );
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(Self { path, body })
    }
}

/// Answers what no model answers.
pub fn not_found(stream: &UnixStream) {
    respond(
        stream,
        "404 Not Found",
        "application/json",
        r#"{"type":"error","error":{"type":"not_found_error"}}"#,
    );
}

fn respond(mut stream: &UnixStream, status: &str, kind: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    // A client that was stopped is gone; the test judges what it did until then.
    drop(stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()));
}

/// Which client's format.
#[derive(Clone, Copy)]
pub enum Format {
    Anthropic,
    OpenAi,
    Responses,
}

impl Format {
    /// The format spoken at `path`.
    pub fn of(path: &str) -> Option<Self> {
        match path.split('?').next() {
            Some("/v1/messages") => Some(Self::Anthropic),
            Some("/v1/chat/completions") => Some(Self::OpenAi),
            Some("/v1/responses") => Some(Self::Responses),
            _ => None,
        }
    }

    /// Whether tools are offered; a request without is a side request such as OpenCode's for a title.
    pub fn has_tools(self, body: &Value) -> bool {
        // A model of Codex's that runs all its tools through code has them among the messages.
        let in_messages = || messages(body).iter().any(|item| item["type"] == "additional_tools");
        body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) || in_messages()
    }

    /// The text of the first message of the user.
    pub fn first_prompt(self, body: &Value) -> String {
        let mut prompts =
            messages(body).iter().filter(|m| m["role"] == "user" || m["type"] == "agent_message");
        // Codex's first message of the user is its own, about the machine.
        let first = match self {
            Self::Anthropic | Self::OpenAi => prompts.next(),
            Self::Responses => prompts.nth(1),
        };
        first.map(|m| text_of(&m["content"])).unwrap_or_default()
    }

    /// How often the model has answered already: the place in its script.
    pub fn answers_so_far(self, body: &Value) -> usize {
        match self {
            Self::Anthropic | Self::OpenAi => {
                messages(body).iter().filter(|m| m["role"] == "assistant").count()
            }
            // The calls of one answer are items of their own; each names the answer in its id.
            Self::Responses => {
                let answers =
                    messages(body).iter().filter_map(|item| item["id"].as_str()?.strip_prefix(ANSWER));
                answers.filter_map(|id| id.split('_').next()).collect::<BTreeSet<_>>().len()
            }
        }
    }

    /// The tool results in a request, by label.
    pub fn told(self, body: &Value) -> Vec<(String, Told)> {
        let messages = messages(body);
        match self {
            Self::Anthropic => messages
                .iter()
                .filter_map(|m| m["content"].as_array())
                .flatten()
                .filter(|block| block["type"] == "tool_result")
                .map(|block| {
                    let told = Told { text: text_of(&block["content"]), is_error: block["is_error"] == true };
                    (label(&block["tool_use_id"]), told)
                })
                .collect(),
            Self::Responses => messages
                .iter()
                .filter(|m| m["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output")))
                .map(|m| (label(&m["call_id"]), Told { text: result_of(&m["output"]), is_error: false }))
                .collect(),
            Self::OpenAi => messages
                .iter()
                .filter(|m| m["role"] == "tool")
                .map(|m| (label(&m["tool_call_id"]), Told { text: text_of(&m["content"]), is_error: false }))
                .collect(),
        }
    }

    /// All that stands in the user's messages of a request: prompts and what hooks added.
    pub fn heard(self, body: &Value) -> String {
        let spoken = messages(body).iter().filter(|m| m["role"] != "assistant");
        spoken.map(|m| text_of(&m["content"])).collect::<Vec<_>>().join("\n")
    }

    /// Answers with text.
    pub fn say(self, stream: &UnixStream, text: &str) {
        match self {
            Self::Anthropic => anthropic(
                stream,
                "end_turn",
                &[(json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))],
                10,
            ),
            Self::OpenAi => openai(stream, "stop", &json!({"role": "assistant", "content": text}), 10),
            Self::Responses => {
                let content = json!([{"type": "output_text", "text": text}]);
                let item = json!({"type": "message", "role": "assistant", "content": content});
                responses(stream, vec![item], 10);
            }
        }
    }

    /// Answers with tool calls, and says how many tokens the request had.
    pub fn call(self, stream: &UnixStream, calls: &[Call], tokens: u32) {
        match self {
            Self::Anthropic => {
                let blocks: Vec<_> = calls
                    .iter()
                    .map(|call| {
                        let id = wire_id(&call.label);
                        let start = json!({"type": "tool_use", "id": id, "name": call.tool, "input": {}});
                        let input = call.input.to_string();
                        (start, json!({"type": "input_json_delta", "partial_json": input}))
                    })
                    .collect();
                anthropic(stream, "tool_use", &blocks, tokens);
            }
            Self::OpenAi => {
                let calls: Vec<_> = calls
                    .iter()
                    .enumerate()
                    .map(|(index, call)| {
                        json!({"index": index, "id": wire_id(&call.label), "type": "function",
                               "function": {"name": call.tool, "arguments": call.input.to_string()}})
                    })
                    .collect();
                openai(
                    stream,
                    "tool_calls",
                    &json!({"role": "assistant", "content": null, "tool_calls": calls}),
                    tokens,
                );
            }
            Self::Responses => responses(stream, calls.iter().map(function_call).collect(), tokens),
        }
    }
}

/// An id no other answer has: Claude Code takes two answers with one id for parts of the same.
fn fresh_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("msg_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

const ID: &str = "toolu_";

/// The id on the wire of the call `label`.
pub fn wire_id(label: &str) -> String {
    format!("{ID}{label}")
}

fn label(id: &Value) -> String {
    id.as_str().unwrap_or_default().trim_start_matches(ID).to_owned()
}

fn messages(body: &Value) -> &[Value] {
    let messages = body["messages"].as_array().or_else(|| body["input"].as_array());
    messages.map(Vec::as_slice).unwrap_or_default()
}

/// The text of a content: a string, or blocks of which some hold text or content in turn.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|b| if b["text"].is_string() { text_of(&b["text"]) } else { text_of(&b["content"]) })
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn anthropic(stream: &UnixStream, stop: &str, blocks: &[(Value, Value)], tokens: u32) {
    let usage = json!({"input_tokens": tokens, "output_tokens": 10});
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": fresh_id(), "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage}})];
    for (index, (start, delta)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}}));
    events.push(json!({"type": "message_stop"}));
    let lines = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    respond(stream, "200 OK", "text/event-stream", &lines.collect::<String>());
}

/// A call as Codex's model makes it: a text is the argument of a free-form tool, and a `/` parts a group from its tool.
fn function_call(call: &Call) -> Value {
    let id = wire_id(&call.label);
    let (space, name) =
        call.tool.split_once('/').map_or((None, call.tool), |(space, name)| (Some(space), name));
    match &call.input {
        Value::String(text) => {
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": text})
        }
        input => json!({"type": "function_call", "call_id": id, "name": name, "namespace": space,
                        "arguments": input.to_string()}),
    }
}

const ANSWER: &str = "answer";

fn responses(stream: &UnixStream, items: Vec<Value>, tokens: u32) {
    let id = fresh_id();
    let answer = id.trim_start_matches("msg_");
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    for (at, mut item) in items.into_iter().enumerate() {
        item["id"] = json!(format!("{ANSWER}{answer}_{at}"));
        if item["namespace"].is_null() {
            drop(item.as_object_mut().and_then(|item| item.remove("namespace")));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    let usage = json!({"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10});
    events.push(json!({"type": "response.completed", "response": {"id": id, "usage": usage}}));
    let lines = events.iter().map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    respond(stream, "200 OK", "text/event-stream", &lines.collect::<String>());
}

/// What a tool printed, without what Codex says of the run in front of it.
fn result_of(output: &Value) -> String {
    let text = text_of(output);
    text.split_once("\nOutput:\n").map_or(text.clone(), |(_, printed)| printed.to_owned())
}

fn openai(stream: &UnixStream, finish: &str, delta: &Value, tokens: u32) {
    let id = fresh_id();
    let chunk = |delta: &Value, finish: Value| {
        json!({"id": id, "object": "chat.completion.chunk", "created": 1, "model": "scripted",
               "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut last = chunk(&json!({}), json!(finish));
    last["usage"] = json!({"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10});
    let first = chunk(delta, Value::Null);
    let body = format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    respond(stream, "200 OK", "text/event-stream", &body);
}
