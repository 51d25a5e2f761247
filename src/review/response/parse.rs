//! An answer checked against the schema, field by field. tests/response_schema.rs holds it to docs/response.schema.json.

use super::json::{Bad, Json, read};
use super::{Danger, Finding, Kind, Location, Report, Unread};
use crate::domain::size;

/// Largest answer, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;
/// What is kept of a longer one, with the mark of what was cut.
const KEPT: usize = MAX_BYTES + 1 + '…'.len_utf8();
/// More errors than this help nobody.
const MAX_ERRORS: usize = 20;
const MAX_FINDINGS: usize = 200;
const MAX_FILES: usize = 5000;

/// Lengths of text, in characters: at least, at most.
const SUMMARY: (usize, usize) = (1, 4000);
const TITLE: (usize, usize) = (1, 200);
const DESCRIPTION: (usize, usize) = (1, 4000);
const RECOMMENDATION: (usize, usize) = (0, 4000);
const SNIPPET: (usize, usize) = (0, 2000);
const FILE: (usize, usize) = (1, 13_000);
const WHY: (usize, usize) = (0, 500);

/// One thing in which an answer departs from the schema. It quotes nothing of the answer but short, plain names of
/// properties, so that it can be sent back to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// Where: `findings[3].severity`; empty for the answer as a whole.
    pub path: String,
    pub expected: String,
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "the answer" } else { &self.path };
        write!(f, "{path}: {}", self.expected)
    }
}

/// Exactly one object of the schema, nothing before or after it.
pub fn parse(text: &str) -> Result<Report, Vec<SchemaError>> {
    let whole = |expected: String| vec![SchemaError { path: String::new(), expected }];
    if text.len() > MAX_BYTES {
        let most = size(MAX_BYTES as u64);
        return Err(whole(match text.len() {
            // Of one that came on a stream no more is kept.
            ..=KEPT => format!("it is more than {most}; at most {most} are read: report less"),
            len => format!("it is {}; at most {most} are read: report less", size(len as u64)),
        }));
    }
    let start = text.trim_start_matches([' ', '\t', '\n', '\r']);
    if start.starts_with("```") || start.starts_with("~~~") {
        return Err(whole("expected the JSON object alone, without a code fence around it".to_owned()));
    }
    if !start.starts_with('{') {
        let what = if start.is_empty() { "nothing" } else { "something else before it" };
        return Err(whole(format!("expected one JSON object, found {what}")));
    }
    let json = read(text).map_err(|bad| {
        whole(match bad {
            Bad::Syntax(line, column) => format!("expected JSON, broken at line {line}, column {column}"),
            Bad::Trailing => "expected nothing after the JSON object".to_owned(),
            Bad::Twice => "expected no property twice in one object".to_owned(),
            Bad::TooDeep => "expected the nesting of the schema, not a deeper one".to_owned(),
        })
    })?;
    let mut check = Check { errors: Vec::new() };
    let report = check.report(json);
    match report {
        Some(report) if check.errors.is_empty() => Ok(report),
        _ => Err(check.errors),
    }
}

/// The errors found so far. A field with an error is missing from the result, which is then not used.
struct Check {
    errors: Vec<SchemaError>,
}

/// The fields of one object that were not asked for yet.
struct Fields {
    path: String,
    fields: Vec<(String, Json)>,
}

impl Fields {
    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.fields.iter().position(|(known, _)| known == name)?;
        Some(self.fields.remove(at).1)
    }
}

impl Check {
    fn error(&mut self, path: &str, expected: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(SchemaError { path: path.to_owned(), expected: expected.into() });
        }
    }

    fn wrong(&mut self, path: &str, expected: &str, found: &Json) {
        self.error(path, format!("expected {expected}, not {}", found.kind()));
    }

    fn report(&mut self, json: Json) -> Option<Report> {
        let mut fields = self.object("", json)?;
        let summary = self.text(&mut fields, "summary", SUMMARY);
        let risk_level = self.word(&mut fields, "riskLevel", &Danger::OF_REPORT, Danger::name);
        let findings = self.list(&mut fields, "findings", MAX_FINDINGS, Check::finding);
        let reviewed = self.list(&mut fields, "filesReviewed", MAX_FILES, |check, path, item| {
            check.text_value(&path, item, FILE)
        });
        let unread = match fields.fields.iter().any(|(name, _)| name == "unread") {
            true => self.list(&mut fields, "unread", MAX_FILES, Check::unread)?,
            false => Vec::new(),
        };
        self.rest(&fields);
        Some(Report {
            summary: summary?,
            risk_level: risk_level?,
            findings: findings?,
            files_reviewed: reviewed?,
            unread,
        })
    }

    fn finding(&mut self, path: String, json: Json) -> Option<Finding> {
        let mut fields = self.object(&path, json)?;
        let kind = self.word(&mut fields, "type", &Kind::ALL, Kind::name);
        let severity = self.word(&mut fields, "severity", &Danger::OF_FINDING, Danger::name);
        let title = self.text(&mut fields, "title", TITLE);
        let description = self.text(&mut fields, "description", DESCRIPTION);
        let location = match fields.take("location") {
            None | Some(Json::Null) => None,
            Some(Json::Object(own)) => Some(self.location(fields.path_of("location"), own)?),
            Some(other) => {
                self.wrong(&fields.path_of("location"), "an object or null", &other);
                return None;
            }
        };
        let recommendation = self.optional_text(&mut fields, "recommendation", RECOMMENDATION);
        let snippet = self.optional_text(&mut fields, "snippet", SNIPPET);
        self.rest(&fields);
        Some(Finding {
            kind: kind?,
            severity: severity?,
            title: title?,
            description: description?,
            location,
            recommendation,
            snippet,
        })
    }

    fn location(&mut self, path: String, own: Vec<(String, Json)>) -> Option<Location> {
        let mut fields = Fields { path, fields: own };
        let file = self.text(&mut fields, "file", FILE);
        let line = self.line(&mut fields, "line");
        let end_line = self.line(&mut fields, "endLine");
        self.rest(&fields);
        Some(Location { file: file?, line, end_line })
    }

    fn unread(&mut self, path: String, json: Json) -> Option<Unread> {
        let mut fields = self.object(&path, json)?;
        let file = self.text(&mut fields, "file", FILE);
        let why = self.text(&mut fields, "why", WHY);
        self.rest(&fields);
        Some(Unread { file: file?, why: why? })
    }

    fn object(&mut self, path: &str, json: Json) -> Option<Fields> {
        match json {
            Json::Object(fields) => Some(Fields { path: path.to_owned(), fields }),
            other => {
                self.wrong(path, "an object", &other);
                None
            }
        }
    }

    /// A property that must be there.
    fn need(&mut self, fields: &mut Fields, name: &str) -> Option<Json> {
        let found = fields.take(name);
        if found.is_none() {
            self.error(&fields.path_of(name), "expected, but missing");
        }
        found
    }

    fn text(&mut self, fields: &mut Fields, name: &str, length: (usize, usize)) -> Option<String> {
        let value = self.need(fields, name)?;
        self.text_value(&fields.path_of(name), value, length)
    }

    fn optional_text(&mut self, fields: &mut Fields, name: &str, length: (usize, usize)) -> Option<String> {
        match fields.take(name) {
            None | Some(Json::Null) => None,
            Some(value) => self.text_value(&fields.path_of(name), value, length),
        }
    }

    fn text_value(&mut self, path: &str, json: Json, (least, most): (usize, usize)) -> Option<String> {
        let text = match json {
            Json::Text(text) => text,
            other => {
                self.wrong(path, "text", &other);
                return None;
            }
        };
        let length = text.chars().count();
        if length < least || length > most {
            self.error(path, format!("expected {least} to {most} characters, not {length}"));
            return None;
        }
        Some(text)
    }

    fn word<T: Copy>(
        &mut self,
        fields: &mut Fields,
        name: &str,
        all: &[T],
        name_of: fn(T) -> &'static str,
    ) -> Option<T> {
        let value = self.need(fields, name)?;
        let found = match &value {
            Json::Text(text) => all.iter().find(|word| name_of(**word) == text),
            _ => None,
        };
        if found.is_none() {
            let words: Vec<&str> = all.iter().map(|word| name_of(*word)).collect();
            self.error(&fields.path_of(name), format!("expected one of {}", words.join(", ")));
        }
        found.copied()
    }

    /// A line's number; as the schema has it, `3.0` is an integer.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within the bounds of u32"
    )]
    fn line(&mut self, fields: &mut Fields, name: &str) -> Option<u32> {
        match fields.take(name) {
            None | Some(Json::Null) => None,
            Some(Json::Number(number))
                if number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number) =>
            {
                Some(number as u32)
            }
            Some(_) => {
                self.error(&fields.path_of(name), "expected a whole number from 1 on, or null");
                None
            }
        }
    }

    fn list<T>(
        &mut self,
        fields: &mut Fields,
        name: &str,
        most: usize,
        item: impl Fn(&mut Check, String, Json) -> Option<T>,
    ) -> Option<Vec<T>> {
        let path = fields.path_of(name);
        let items = match self.need(fields, name)? {
            Json::List(items) => items,
            other => {
                self.wrong(&path, "a list", &other);
                return None;
            }
        };
        if items.len() > most {
            self.error(&path, format!("expected at most {most} items, not {}", items.len()));
            return None;
        }
        let count = items.len();
        // Every item is looked at, so that all errors are named.
        let read: Vec<T> = items
            .into_iter()
            .enumerate()
            .filter_map(|(at, json)| item(self, format!("{path}[{at}]"), json))
            .collect();
        (read.len() == count).then_some(read)
    }

    /// What nobody asked for is not in the schema.
    fn rest(&mut self, fields: &Fields) {
        for (name, _) in &fields.fields {
            let plain = name.len() <= 32 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let expected = match plain {
                true => format!("expected no property `{name}`"),
                false => "expected no property that the schema does not name".to_owned(),
            };
            self.error(&fields.path, expected);
        }
    }
}
