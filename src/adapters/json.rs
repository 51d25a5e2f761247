//! The clients' JSON, opened one level at a time: what nobody asks for stays raw text. Not a general parser.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::domain::{Fault, FaultKind, clip};

/// Deepest accepted nesting of arrays and objects.
const MAX_NESTING: usize = 128;
/// Most fields of an object that is opened; the look-ups and the search for duplicates are linear.
const MAX_FIELDS: usize = 256;

/// A message that cannot be read, and why.
pub(super) fn bad(why: impl Into<String>) -> Fault {
    Fault::new(FaultKind::BadMessage, "hook message", why)
}

/// A field that had to be there.
pub(super) fn missing(name: &str) -> Fault {
    bad(format!("field {name} is missing"))
}

/// One JSON object: names decoded, values left raw. No name stands twice: clients disagree on which one counts.
#[derive(Debug)]
pub(super) struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Opens `text`; `name` is what it is called in messages.
    pub fn parse(text: &'a str, name: &str) -> Result<Object<'a>, Fault> {
        let mut parser = serde_json::Deserializer::from_str(text);
        let object = parser.deserialize_map(ObjectVisitor).and_then(|object| parser.end().map(|()| object));
        object.map_err(|error| bad(format!("{name}: {}", clip(&error.to_string(), 200))))
    }

    /// The raw JSON of a field; `null` counts as absent.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.fields.iter().find(|(key, _)| key == name)?;
        Some(value.get()).filter(|text| *text != "null")
    }

    /// Every field that is there, by its name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), value.get())).filter(|(_, text)| *text != "null")
    }

    /// A field that is text.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        self.raw(name).map(|raw| decode_text(raw, name)).transpose()
    }

    /// A field that is an object.
    pub fn object(&self, name: &str) -> Result<Option<Object<'a>>, Fault> {
        self.raw(name).map(|raw| Object::parse(raw, name)).transpose()
    }

    /// The name and the raw value of every field.
    pub fn all(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), value.get()))
    }

    /// Refuses hostile nesting in every field but `opened`, which is checked when it is opened itself.
    pub fn check_depth(&self, opened: &[&str]) -> Result<(), Fault> {
        for (key, value) in &self.fields {
            if !opened.contains(&key.as_ref()) {
                check_depth(value.get())?;
            }
        }
        Ok(())
    }

    /// The object with the values of these fields replaced by raw JSON, or added where they are absent; everything else
    /// keeps its bytes where `stays` says so of its name, and is left out where not.
    pub fn with(&self, changes: &[(&'static str, String)], stays: impl Fn(&str) -> bool) -> Option<String> {
        let changed = |name: &str| changes.iter().find(|(changed, _)| *changed == name);
        let kept = self.fields.iter().filter_map(|(key, value)| match changed(key) {
            Some((_, value)) => Some((key.as_ref(), value.as_str())),
            None => stays(key).then(|| (key.as_ref(), value.get())),
        });
        let absent = changes.iter().filter(|(name, _)| !self.fields.iter().any(|(key, _)| key == name));
        let mut out = String::from("{");
        for (key, value) in kept.chain(absent.map(|(name, value)| (*name, value.as_str()))) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(key).ok()?);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        Some(out)
    }
}

struct ObjectVisitor;

impl<'a> Visitor<'a> for ObjectVisitor {
    type Value = Object<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Object<'a>, M::Error> {
        let mut fields: Vec<(Cow<'a, str>, &'a RawValue)> = Vec::with_capacity(16);
        while let Some(key) = map.next_key_seed(TextSeed)? {
            if fields.iter().any(|(known, _)| *known == key) {
                return Err(M::Error::custom(format!("field {} stands twice", clip(&key, 64))));
            }
            if fields.len() == MAX_FIELDS {
                return Err(M::Error::custom(format!("an object in it has more than {MAX_FIELDS} fields")));
            }
            fields.push((key, map.next_value()?));
        }
        Ok(Object { fields })
    }
}

/// Text that is borrowed from the message wherever it holds no escapes.
struct TextSeed;

impl<'a> DeserializeSeed<'a> for TextSeed {
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Cow<'a, str>, D::Error> {
        deserializer.deserialize_str(TextSeed)
    }
}

impl<'a> Visitor<'a> for TextSeed {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// The text that a raw JSON string stands for. A lone surrogate, which is no character, counts as U+FFFD: so does the
/// client when it runs the call.
pub(super) fn decode_text<'a>(raw: &'a str, name: &str) -> Result<Cow<'a, str>, Fault> {
    if !raw.starts_with('"') {
        return Err(bad(format!("field {name}: expected text")));
    }
    let mut parser = serde_json::Deserializer::from_str(raw);
    TextSeed.deserialize(&mut parser).or_else(|error| {
        let unreadable = || bad(format!("field {name}: {}", clip(&error.to_string(), 200)));
        let repaired = replace_lone_surrogates(raw).ok_or_else(unreadable)?;
        serde_json::from_str::<String>(&repaired).map(Cow::Owned).map_err(|_| unreadable())
    })
}

/// The raw JSON string with every lone `\ud800`…`\udfff` escape replaced; nothing when there is none.
fn replace_lone_surrogates(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at_checked(at)?;
        out.push_str(before);
        let length = match surrogate(escape) {
            Some(0xd800..=0xdbff) if is_low(escape.get(6..)) => 12,
            Some(_) => {
                found = true;
                out.push_str("\\ufffd");
                rest = escape.get(6..)?;
                continue;
            }
            // The second character of an escape, `\\` above all, never starts another one.
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at_checked(length)?;
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The surrogate that an escape at the start of `text` stands for.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
}

fn is_low(text: Option<&str>) -> bool {
    text.and_then(surrogate).is_some_and(|unit| unit >= 0xdc00)
}

/// Refuses text that is nested deeper than anything a client sends.
pub(super) fn check_depth(text: &str) -> Result<(), Fault> {
    // Counting is many times cheaper than following the nesting, and nearly always enough.
    let openings = || text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if text.len() <= MAX_NESTING || openings() <= MAX_NESTING || depth(text) <= MAX_NESTING {
        return Ok(());
    }
    let why = format!("lists and objects in it are nested deeper than {MAX_NESTING} levels");
    Err(Fault::new(FaultKind::TooLarge, "hook message", why).with_hint("send less nested arguments"))
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_plain_text_are_borrowed() {
        let object = Object::parse(r#"{"a":"plain","b":"es\u0063aped","c":null}"#, "message").unwrap();
        assert!(matches!(object.text("a").unwrap().unwrap(), Cow::Borrowed("plain")));
        assert_eq!(object.text("b").unwrap().unwrap(), "escaped");
        assert_eq!(object.text("c").unwrap(), None);
        assert_eq!(object.text("d").unwrap(), None);
    }

    #[test]
    fn lone_surrogates_become_the_replacement_character() {
        for (raw, text) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\uDFFF""#, "\u{fffd}"),
            (r#""\ud83d\ude00\ud83d""#, "😀\u{fffd}"),
            (r#""\ud800\ud800\udc00""#, "\u{fffd}\u{10000}"),
            (r#""\\ud800 \ud800\n""#, "\\ud800 \u{fffd}\n"),
            (r#""\ud800\\""#, "\u{fffd}\\"),
            (r#""\ud800é""#, "\u{fffd}é"),
        ] {
            assert_eq!(decode_text(raw, "x").unwrap(), text, "{raw}");
        }
    }

    #[test]
    fn other_bad_escapes_stay_faults() {
        for raw in [r#""\x""#, r#""\ud80""#, r#""\ud800\x""#, "\"a\nb\"", "\"a"] {
            assert!(decode_text(raw, "x").is_err(), "{raw}");
        }
    }

    #[test]
    fn changes_keep_the_other_bytes() {
        let text = r#"{ "a" : {"x":  [1.50, "\ud800"]}, "command":"ls", "é\"":1e2, "n":null }"#;
        let object = Object::parse(text, "message").unwrap();
        let changes =
            [("command", r#""a\"b""#.to_owned()), ("n", "1".to_owned()), ("new", "false".to_owned())];
        assert_eq!(
            object.with(&changes, |_| true).unwrap(),
            r#"{"a":{"x":  [1.50, "\ud800"]},"command":"a\"b","é\"":1e2,"n":1,"new":false}"#
        );
        let empty = Object::parse("{}", "message").unwrap();
        assert_eq!(empty.with(&[("path", "\"/p\"".to_owned())], |_| true).unwrap(), r#"{"path":"/p"}"#);
        assert_eq!(empty.with(&[], |_| true).unwrap(), "{}");
    }

    #[test]
    fn brackets_in_text_are_no_nesting() {
        let text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(5000), "{".repeat(5000));
        assert!(check_depth(&text).is_ok());
        assert!(check_depth(&"[".repeat(128)).is_ok());
        assert!(check_depth(&"[".repeat(129)).is_err());
        assert!(check_depth(&"[]".repeat(5000)).is_ok());
    }
}
