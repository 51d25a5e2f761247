//! JSON text edited in place: members and elements are added and removed, and every other byte stays where it is.
//! Strict JSON only. Knows nothing of settings.

use std::fmt;
use std::ops::Range;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value inside a text, by its place.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    text: &'a str,
    place: Range<usize>,
}

/// The parts of an object or array: where each begins (an object's member at its key) and where it ends.
struct Parts {
    open: usize,
    close: usize,
    parts: Vec<Range<usize>>,
}

/// An object's members in the order of the text, doubled keys included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(entry);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl<'a> Node<'a> {
    /// The root value of `text`, which must be JSON from beginning to end.
    pub fn root(text: &'a str) -> Result<Node<'a>, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        // A second reading with every string decoded, so that later steps cannot fail on what this one accepted.
        serde_json::from_str::<Value>(text)?;
        Ok(Node::of(text, raw))
    }

    fn of(text: &'a str, raw: &'a RawValue) -> Node<'a> {
        // `raw` borrows from `text`, so the difference of the addresses is its offset.
        let start = raw.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
        Node { text, place: start..start + raw.get().len() }
    }

    /// The text of this value alone.
    pub fn as_str(&self) -> &'a str {
        self.text.get(self.place.clone()).unwrap_or_default()
    }

    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or(Value::Null)
    }

    /// The members, if this is an object.
    pub fn members(&self) -> Option<Vec<(String, Node<'a>)>> {
        let Members(members) = serde_json::from_str(self.as_str()).ok()?;
        Some(members.into_iter().map(|(key, raw)| (key, Node::of(self.text, raw))).collect())
    }

    /// The elements, if this is an array.
    pub fn elements(&self) -> Option<Vec<Node<'a>>> {
        let raws: Vec<&'a RawValue> = serde_json::from_str(self.as_str()).ok()?;
        Some(raws.into_iter().map(|raw| Node::of(self.text, raw)).collect())
    }

    /// The member called `key`: none, one, or an error when there are several (a reader would see only the last).
    pub fn member(&self, key: &str) -> Result<Option<Node<'a>>, Doubled> {
        let mut found = self.members().unwrap_or_default().into_iter().filter(|(name, _)| name == key);
        let first = found.next().map(|(_, node)| node);
        if found.next().is_some() { Err(Doubled(key.to_owned())) } else { Ok(first) }
    }

    /// The whole text with `value` added at the end of this object (under `key`) or array (`key` is none).
    pub fn append(&self, key: Option<&str>, value: &Value) -> String {
        let parts = self.parts();
        let style = Style::of(self.text);
        let inner = self.text.get(parts.open + 1..parts.close).unwrap_or_default();
        let line = indent_of_line(self.text, parts.open);
        let deeper = format!("{line}{}", style.unit);
        let Some((first, last)) = parts.parts.first().zip(parts.parts.last()) else {
            let item = style.render(key, value, &deeper);
            let added = match (style.many_lines, inner.contains('\n')) {
                (false, _) => item,
                (true, true) => format!("{}{deeper}{item}", style.newline),
                (true, false) => format!("{0}{deeper}{item}{0}{line}", style.newline),
            };
            return splice(self.text, parts.open + 1..parts.open + 1, &added);
        };
        let lead = self.text.get(parts.open + 1..first.start).unwrap_or_default();
        let indent = lead.rsplit_once('\n').map_or(deeper.as_str(), |(_, indent)| indent);
        let item = style.render(key, value, indent);
        let added =
            if style.many_lines { format!(",{}{indent}{item}", style.newline) } else { format!(",{item}") };
        splice(self.text, last.end..last.end, &added)
    }

    /// The whole text without the member that these keys lead to; none where there is no such one.
    pub fn without_member(&self, keys: &[&str]) -> Option<String> {
        let (last, above) = keys.split_last()?;
        let mut node = self.clone();
        for key in above {
            node = node.member(key).ok().flatten()?;
        }
        let place = node.members()?.iter().position(|(name, _)| name == last)?;
        Some(node.without(place))
    }

    /// The whole text without the member or element number `index` of this object or array.
    pub fn without(&self, index: usize) -> String {
        let Parts { open, close, parts } = self.parts();
        let Some(part) = parts.get(index) else { return self.text.to_owned() };
        let gone = match (index.checked_sub(1).and_then(|before| parts.get(before)), parts.get(index + 1)) {
            (Some(before), _) => before.end..part.end,
            (None, Some(after)) => part.start..after.start,
            (None, None) => open + 1..close,
        };
        splice(self.text, gone, "")
    }

    fn parts(&self) -> Parts {
        let (open, close) = (self.place.start, self.place.end.saturating_sub(1));
        let values: Vec<Range<usize>> = match self.members() {
            Some(members) => members.into_iter().map(|(_, node)| node.place).collect(),
            None => self.elements().unwrap_or_default().into_iter().map(|node| node.place).collect(),
        };
        let mut parts = Vec::with_capacity(values.len());
        let mut at = open + 1;
        for value in values {
            let start = skip(self.text, at);
            at = value.end;
            parts.push(start..value.end);
        }
        Parts { open, close, parts }
    }
}

/// A key that stands twice in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubled(pub String);

/// How a text is laid out.
struct Style<'a> {
    newline: &'static str,
    unit: &'a str,
    many_lines: bool,
}

impl<'a> Style<'a> {
    fn of(text: &'a str) -> Style<'a> {
        let body = text.trim();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = text.lines().skip(1).map(leading_blanks).find(|blanks| !blanks.is_empty()).unwrap_or("  ");
        let empty = body.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let many_lines = body.contains('\n') || empty.is_some_and(|inner| inner.trim().is_empty());
        Style { newline, unit, many_lines }
    }

    fn render(&self, key: Option<&str>, value: &Value, indent: &str) -> String {
        let key = key.map(|key| Value::from(key).to_string());
        if !self.many_lines {
            return match key {
                Some(key) => format!("{key}:{value}"),
                None => value.to_string(),
            };
        }
        let lines = self.pretty(value).replace('\n', &format!("{}{indent}", self.newline));
        match key {
            Some(key) => format!("{key}: {lines}"),
            None => lines,
        }
    }

    fn pretty(&self, value: &Value) -> String {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        match value.serialize(&mut serializer) {
            Ok(()) => String::from_utf8(bytes).unwrap_or_else(|_| value.to_string()),
            Err(_) => value.to_string(),
        }
    }
}

/// The position after white space and at most one comma.
fn skip(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
    from + (rest.len() - trimmed.len())
}

fn leading_blanks(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// The blanks at the beginning of the line that holds `at`.
fn indent_of_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    leading_blanks(text.get(start..).unwrap_or_default())
}

fn splice(text: &str, gone: Range<usize>, added: &str) -> String {
    let head = text.get(..gone.start).unwrap_or_default();
    let tail = text.get(gone.end..).unwrap_or_default();
    format!("{head}{added}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn added(text: &str) -> String {
        Node::root(text).unwrap().append(Some("k"), &json!({"a": [1]}))
    }

    #[test]
    fn a_member_is_added_in_the_texts_own_style() {
        assert_eq!(added("{}"), "{\n  \"k\": {\n    \"a\": [\n      1\n    ]\n  }\n}");
        assert_eq!(added("{\"x\":1}"), "{\"x\":1,\"k\":{\"a\":[1]}}");
        assert_eq!(
            added("{\r\n\t\"x\" : 1 \r\n}\r\n"),
            "{\r\n\t\"x\" : 1,\r\n\t\"k\": {\r\n\t\t\"a\": [\r\n\t\t\t1\r\n\t\t]\r\n\t} \r\n}\r\n"
        );
    }

    #[test]
    fn an_element_is_added_to_a_nested_array() {
        let text = "{\n    \"h\": {\n        \"e\": [\n            1\n        ], \"f\": []\n    }\n}\n";
        let root = Node::root(text).unwrap();
        let h = root.member("h").unwrap().unwrap();
        let e = h.member("e").unwrap().unwrap();
        assert_eq!(
            e.append(None, &json!("z")),
            "{\n    \"h\": {\n        \"e\": [\n            1,\n            \"z\"\n        ], \"f\": []\n    }\n}\n"
        );
        let f = h.member("f").unwrap().unwrap();
        assert!(f.append(None, &json!("z")).contains("\"f\": [\n            \"z\"\n        ]"));
    }

    #[test]
    fn removing_takes_the_comma_along() {
        let text = "{ \"a\": 1 , \"b\":[2, 3], \"c\" : \"},{\" }";
        let root = Node::root(text).unwrap();
        assert_eq!(root.without(0), "{ \"b\":[2, 3], \"c\" : \"},{\" }");
        assert_eq!(root.without(1), "{ \"a\": 1, \"c\" : \"},{\" }");
        assert_eq!(root.without(2), "{ \"a\": 1 , \"b\":[2, 3] }");
        let b = root.member("b").unwrap().unwrap();
        assert_eq!(b.without(1), "{ \"a\": 1 , \"b\":[2], \"c\" : \"},{\" }");
    }

    #[test]
    fn a_doubled_key_is_seen_even_when_spelt_with_escapes() {
        let root = Node::root("{\"hooks\": {}, \"ho\\u006fks\": 1}").unwrap();
        assert_eq!(root.member("hooks").unwrap_err(), Doubled("hooks".into()));
    }

    #[test]
    fn only_strict_json_is_read() {
        for text in ["", "{", "{} {}", "{\"a\":1,}", "// c\n{}", "{'a':1}", "\u{feff}{}"] {
            assert!(Node::root(text).is_err(), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn appending_changes_no_byte_and_without_takes_it_back(value in any_object(), pretty: bool, tail in "[ \n]{0,2}") {
            let mut text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            text.push_str(&tail);
            let root = Node::root(&text).unwrap();
            let count = root.members().unwrap().len();
            let longer = root.append(Some("k"), &json!({"a": [1, {}]}));
            let again = Node::root(&longer).unwrap();
            proptest::prop_assert_eq!(again.members().unwrap().len(), count + 1);
            proptest::prop_assert_eq!(again.without(count), text);
        }
    }

    fn any_object() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf =
            prop_oneof![Just(json!(1)), ".{0,8}".prop_map(Value::from), Just(json!([])), Just(json!({}))];
        let nested = leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-j]{1,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        proptest::collection::btree_map("[l-z\"\\\\]{1,3}", nested, 0..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    }
}
