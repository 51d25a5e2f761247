//! What a call of a tool that is not ours to know says: the words of its name, and its arguments as keys and values.

use serde_json::Value;

use super::View;
use crate::domain::{Action, Tool, words_of};

/// Most values of the arguments that are looked at, and the longest text of one that is compared.
const MAX_VALUES: usize = 512;

words!("matcher/requested");

/// A call, taken apart.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// Words of the server's name.
    pub server: Vec<String>,
    /// Words of the tool's name without those that repeat the server's, and of what it is told to do.
    pub words: Vec<String>,
    /// Names without what spellings differ in, and values as text; of a list one for each thing in it.
    pub args: Vec<(String, String)>,
    pub text: &'a str,
}

/// What a program is told on its command line.
#[derive(Debug)]
pub(crate) struct Spoken<'a> {
    pub told: Told<'a>,
    /// It works on a file of this machine.
    pub on_file: bool,
}

impl<'a> Told<'a> {
    /// The call of a tool that only its name and its arguments tell anything of; nothing for any other call.
    pub fn of(view: &View<'a>) -> Option<Told<'a>> {
        let Action::Other { text, .. } = &view.call.action else { return None };
        let (server, tool) = match &view.call.tool {
            Tool::Mcp { server, tool } => (server.as_str(), tool.as_str()),
            Tool::Unknown(name) => ("", name.as_str()),
            Tool::Bash
            | Tool::Monitor
            | Tool::Read
            | Tool::Write
            | Tool::Edit
            | Tool::NotebookEdit
            | Tool::Grep
            | Tool::Glob
            | Tool::Agent
            | Tool::WebFetch
            | Tool::WebSearch
            | Tool::Internal(_) => return None,
        };
        let server = words_of(server);
        let mut words = words_of(tool);
        if words.iter().any(|word| !server.contains(word)) {
            words.retain(|word| !server.contains(word) || word.len() > 8);
        }
        let args = arguments(text);
        for (key, value) in &args {
            let telling =
                VERBS.contains(&key.as_str()) && value.len() <= 48 && !value.contains(char::is_whitespace);
            if telling {
                words.extend(words_of(value));
            }
        }
        Some(Told { server, words, args, text })
    }

    /// Any of these words in the tool's name.
    pub fn has(&self, list: &[&str]) -> bool {
        self.words.iter().any(|word| list.contains(&word.as_str()))
    }

    /// Any of these words in the name of the server or of the tool.
    pub fn names(&self, list: &[&str]) -> bool {
        self.has(list) || self.server.iter().any(|word| list.contains(&word.as_str()))
    }

    /// The value of the first argument of one of these names.
    pub fn value<'s>(&'s self, names: &[&str]) -> Option<&'s str> {
        self.args.iter().find(|(key, _)| names.contains(&key.as_str())).map(|(_, value)| value.as_str())
    }

    pub fn values<'s>(&'s self, names: &'s [&'s str]) -> impl Iterator<Item = &'s str> + 's {
        self.args.iter().filter(|(key, _)| names.contains(&key.as_str())).map(|(_, value)| value.as_str())
    }

    /// An argument of one of these names is switched on.
    pub fn is_on(&self, names: &[&str]) -> bool {
        self.args.iter().any(|(key, value)| names.contains(&key.as_str()) && value == "true")
    }
}

/// The arguments, however deep they lie. A key of an object below another counts by its own name.
fn arguments(text: &str) -> Vec<(String, String)> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let mut open = vec![(String::new(), value)];
    let mut out = Vec::new();
    while let Some((key, value)) = open.pop() {
        if out.len() >= MAX_VALUES || open.len() >= 4 * MAX_VALUES {
            break;
        }
        match value {
            Value::Null => {}
            Value::Bool(on) => out.push((key, on.to_string())),
            Value::Number(number) => out.push((key, number.to_string())),
            Value::String(text) => out.push((key, text)),
            Value::Array(list) => {
                open.extend(list.into_iter().rev().take(MAX_VALUES).map(|value| (key.clone(), value)));
            }
            Value::Object(map) => {
                if map.is_empty() {
                    out.push((key.clone(), "{}".to_owned()));
                }
                let plain = |name: &str| -> String {
                    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
                };
                // A key may be a value too, as of `{"/": {"bind": "/host"}}`.
                let paths = map.keys().filter(|name| name.starts_with('/')).cloned().collect::<Vec<_>>();
                out.extend(paths.into_iter().map(|path| (key.clone(), path)));
                let fields = map.into_iter().take(MAX_VALUES).collect::<Vec<_>>();
                open.extend(fields.into_iter().rev().map(|(name, value)| (plain(&name), value)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_every_spelling() {
        for name in ["deleteS3Bucket", "delete_s3_bucket", "delete-s3-bucket", "DeleteS3Bucket"] {
            assert_eq!(words_of(name), ["delete", "s3", "bucket"], "{name}");
        }
    }

    #[test]
    fn arguments_as_keys_and_values() {
        let args = arguments(r#"{"a_b":1,"c":{"dD":["x",true]},"e":{"/":{}},"f":null}"#);
        let has = |key: &str, value: &str| args.contains(&(key.to_owned(), value.to_owned()));
        assert!(has("ab", "1") && has("dd", "x") && has("dd", "true") && has("e", "/"), "{args:?}");
        assert!(arguments("{\"a\":").is_empty());
    }
}
