//! Claude Code's own state (`~/.claude.json`), which the client writes all the time: its `env` alone is watched, which the client takes into
//! its environment when it starts. There it can leave its hooks out (`CLAUDE_CODE_SIMPLE`), or read other settings (`CLAUDE_CONFIG_DIR`).

use serde_json::{Value, json};

use crate::domain::Content;
use crate::host::from_json;

/// The largest state that is read, in bytes.
pub const MAX: u64 = 16 << 20;
const ENV: &str = "env";

/// What counts of the state.
pub fn essence(read: Result<Option<Vec<u8>>, String>) -> Content {
    let bytes = match read {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Content::Absent,
        Err(why) => return Content::Unreadable(why),
    };
    match value(&bytes) {
        Ok(Value::Null) => Content::Absent,
        Ok(value) => match value.get(ENV) {
            Some(env) => Content::Bytes(json!({ ENV: env }).to_string().into_bytes()),
            None => Content::Absent,
        },
        Err(why) => Content::Unreadable(why.to_string()),
    }
}

/// The state with what counts put back; none where it cannot be read.
pub fn repaired(bytes: &[u8], essence: &Content) -> Option<Vec<u8>> {
    let mut value = value(bytes).ok()?;
    let members = value.as_object_mut()?;
    members.remove(ENV);
    let kept = essence.bytes().and_then(|bytes| from_json::<Value>(bytes).ok());
    if let Some(env) = kept.as_ref().and_then(|kept| kept.get(ENV)) {
        members.insert(ENV.to_owned(), env.clone());
    }
    serde_json::to_vec_pretty(&value).ok()
}

fn value(bytes: &[u8]) -> serde_json::Result<Value> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    // Half a character, as the client writes where it cut a text, is no reason to doubt the rest.
    from_json(bytes).or_else(|_| from_json(&without_halves(bytes)))
}

/// The text with every escape of half a character made one of none.
fn without_halves(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    let mut at = 0;
    while let Some(rest) = text.get_mut(at..).filter(|rest| rest.len() > 1) {
        match rest {
            [b'\\', b'u', first, second, ..] if matches!(first, b'd' | b'D') && is_half(*second) => {
                rest.get_mut(2..6).into_iter().for_each(|digits| digits.copy_from_slice(b"fffd"));
                at += 6;
            }
            [b'\\', ..] => at += 2,
            _ => at += 1,
        }
    }
    text
}

fn is_half(digit: u8) -> bool {
    matches!(digit, b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Content {
        essence(Ok(Some(text.as_bytes().to_vec())))
    }

    #[test]
    fn the_variables_alone_count() {
        let env = Content::Bytes(b"{\"env\":{\"A\":\"b\"}}".to_vec());
        for text in ["{\"tips\": 3}", "", "[]", "{\"history\": \"\\ud83d cut\"}"] {
            assert_eq!(of(text), Content::Absent, "{text}");
        }
        assert_eq!(of("{\"tips\": 3, \"env\": {\"A\": \"b\"}}"), env);
        assert_eq!(of("\u{feff}{\"env\": {\"A\": \"b\"}, \"cut\": \"\\\\ud800 \\ud800\"}"), env);
        assert!(matches!(of("{\"env\": {\"A\": \"b\"}, \"a\": 1e999999}"), Content::Unreadable(_)));
    }

    #[test]
    fn the_rest_is_left_as_it_is() {
        let now = b"{\"login\": \"x\", \"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}}";
        let read = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).unwrap();
        let before = Content::Bytes(b"{\"env\":{\"A\":\"b\"}}".to_vec());
        assert_eq!(read(repaired(now, &before).unwrap()), json!({"login": "x", "env": {"A": "b"}}));
        assert_eq!(read(repaired(now, &Content::Absent).unwrap()), json!({"login": "x"}));
        assert_eq!(repaired(b"{", &before), None);
    }
}
