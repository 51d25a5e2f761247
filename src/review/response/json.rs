//! Untrusted JSON as a small tree: bounded in depth, no name twice. It knows nothing of the schema.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// Deepest nesting; the schema needs four levels.
const MAX_DEPTH: usize = 8;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What it is called in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool => "a boolean",
            Json::Number(_) => "a number",
            Json::Text(_) => "text",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

/// Why a text is no single JSON value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// Broken at this line and column.
    Syntax(usize, usize),
    /// Something stands after the value.
    Trailing,
    Twice,
    TooDeep,
}

const TWICE: &str = "a name stands twice";
const TOO_DEEP: &str = "nested too deep";

/// Exactly one value, whitespace around it allowed.
pub(super) fn read(text: &str) -> Result<Json, Bad> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Level(MAX_DEPTH).deserialize(&mut parser).map_err(|error| {
        // The parser adds the place to a message of ours.
        let message = error.to_string();
        match &message {
            message if message.starts_with(TWICE) => Bad::Twice,
            message if message.starts_with(TOO_DEEP) => Bad::TooDeep,
            _ => Bad::Syntax(error.line(), error.column()),
        }
    })?;
    parser.end().map_err(|_| Bad::Trailing)?;
    Ok(value)
}

/// How many levels may still be opened.
#[derive(Clone, Copy)]
struct Level(usize);

impl Level {
    fn below<E: Error>(self) -> Result<Level, E> {
        self.0.checked_sub(1).map(Level).ok_or_else(|| E::custom(TOO_DEEP))
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[expect(clippy::cast_precision_loss, reason = "no number of the schema is larger than an f64 holds exactly")]
impl<'de> Visitor<'de> for Level {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Bool)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Json, S::Error> {
        let below = self.below()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(below)? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Json, M::Error> {
        let below = self.below()?;
        let mut seen = std::collections::HashSet::new();
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(M::Error::custom(TWICE));
            }
            fields.push((name, map.next_value_seed(below)?));
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_read() {
        let expected = Json::Object(vec![
            ("a".to_owned(), Json::List(vec![Json::Null, Json::Bool, Json::Number(1.5)])),
            ("b".to_owned(), Json::Text("é".to_owned())),
        ]);
        assert_eq!(read(" {\"a\":[null,true,1.5],\"b\":\"\\u00e9\"}\r\n\t"), Ok(expected));
    }

    #[test]
    fn what_is_not_one_value_is_refused() {
        assert_eq!(read("{}{}"), Err(Bad::Trailing));
        assert_eq!(read("{\"a\":1,\"\\u0061\":2}"), Err(Bad::Twice));
        assert_eq!(read(&"[".repeat(8)), Err(Bad::Syntax(1, 8)));
        assert_eq!(read(&"[".repeat(9)), Err(Bad::TooDeep));
        assert_eq!(read(&"{\"a\":".repeat(200_000)), Err(Bad::TooDeep));
        for text in [
            "",
            "{",
            "{\"a\":\"\\ud800\"}",
            "[1e999]",
            "[NaN]",
            "{a:1}",
            "['x']",
            "[1,]",
            "// x\n{}",
            "\"\u{1}\"",
        ] {
            assert!(matches!(read(text), Err(Bad::Syntax(..))), "{text}");
        }
    }
}
