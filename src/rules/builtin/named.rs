//! Code of Python or JavaScript that only handles the name of a file as text: prints it, compares it, writes it into a file of its
//! own. Told by the calls that it makes, of which each must be known; nothing is parsed, and what is not sure is not said.

use super::statements::{self, is_name};
use crate::rules::matcher::contains_word;

/// Stands for a string.
const STRING: char = '\u{1}';

words!("builtin/named");

/// Calls whose first argument names a file.
const OPENERS: &[&str] = &["open", "Path", "readFileSync", "writeFileSync", "appendFileSync"];

/// Whether the code of `program` holds these names in its strings only, and hands none of those to what opens a file.
pub(super) fn only_as_text(program: &str, code: &str, names: &[&str]) -> bool {
    let python = program.starts_with("python");
    if !python && program != "node" {
        return false;
    }
    let Some((own, strings)) = statements::apart(code, python, STRING) else { return false };
    let named = |string: &str| names.iter().any(|name| string.contains(name));
    let plain = Plain { own: &own, strings: &strings };
    let reaches = FAR.iter().any(|word| contains_word(&own, word)) || own.contains(['\\', '`', '@']);
    let joins = own.contains('/') && own.contains("Path");
    let bare = names.iter().any(|name| own.contains(name));
    !(reaches || joins || bare)
        && own.lines().all(|line| plain.brings_in_known(line))
        && own.match_indices('(').all(|(at, _)| plain.is_harmless_call(at, &named))
}

/// Code without its strings, and the strings.
struct Plain<'c> {
    own: &'c str,
    strings: &'c [String],
}

impl Plain<'_> {
    /// A line brings nothing in, or modules that are known, each by its own name.
    fn brings_in_known(&self, line: &str) -> bool {
        let line = line.trim();
        let Some(rest) = line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")) else {
            // A function under another name.
            let bare = |name: &str| {
                line.match_indices(name).any(|(at, _)| {
                    let apart = !line.get(..at).is_some_and(|front| front.ends_with(is_name));
                    let behind = line.get(at + name.len()..).unwrap_or_default();
                    apart && !behind.starts_with(is_name) && !behind.trim_start().starts_with('(')
                })
            };
            return line.contains("require(") && !line.contains(':')
                || !OPENERS.iter().any(|name| bare(name));
        };
        let module = rest.split(" import ").next().unwrap_or_default();
        !rest.contains(" as ")
            && module
                .split(';')
                .next()
                .unwrap_or_default()
                .split(',')
                .all(|name| MODULES.contains(&name.trim()))
    }

    /// Whether what stands in front of the bracket at `at` is known to handle text only.
    fn is_harmless_call(&self, at: usize, named: &dyn Fn(&str) -> bool) -> bool {
        let front = self.own.get(..at).unwrap_or_default().trim_end();
        let name = front.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        match name {
            // The result of a call is not called.
            "" => !front.ends_with([')', ']', STRING]),
            "require" => self.argument(at).is_some_and(|module| MODULES.contains(&module)),
            name if OPENERS.contains(&name) => self.argument(at).is_some_and(|file| !named(file)),
            name => TEXT.contains(&name),
        }
    }

    /// The string that is the first argument of the call whose bracket stands at `at`, given itself or by a name that has no other value.
    fn argument(&self, at: usize) -> Option<&str> {
        let rest = self.own.get(at + 1..)?;
        let end = rest.find([',', ')'])?;
        let given = rest.get(..end)?.trim();
        if given.chars().eq([STRING]) {
            return self.string_at(at + 1 + rest.find(STRING)?);
        }
        let is_variable = !given.is_empty() && given.chars().all(is_name);
        let mut values = self.own.match_indices(given).filter(|(at, _)| {
            let apart = !self.own.get(..*at).is_some_and(|front| front.ends_with(is_name));
            let behind = self.own.get(at + given.len()..).unwrap_or_default().trim_start();
            let looped =
                self.own.get(..*at).is_some_and(|front| front.ends_with("for ") || front.ends_with("as "));
            apart
                && (looped
                    || behind.starts_with('=') && !behind.starts_with("==")
                    || behind.starts_with("+=")
                    || behind.starts_with(":="))
        });
        let (at, _) = values.next().filter(|_| is_variable)?;
        let value = self.own.get(at + given.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let whole = value.strip_prefix(STRING)?.trim_start_matches([' ', '\t']);
        let alone = whole.is_empty() || whole.starts_with(['\n', ';']);
        let at = self.own.len().checked_sub(value.len())?;
        if values.next().is_none() && alone { self.string_at(at) } else { None }
    }

    /// The string whose place is at this byte.
    fn string_at(&self, at: usize) -> Option<&str> {
        let before = self.own.get(..at)?.matches(STRING).count();
        self.strings.get(before).map(String::as_str)
    }
}
