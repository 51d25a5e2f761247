//! What the path of a Read is, seen as a reference: the spellings in which the clients deliver one, and whatever was
//! altered on the way. It decides nothing.

use super::spelling::{Malformed, SCHEME};
use super::{MAX_PATH, Reference};

/// How often escapes are taken off to find what looks like a reference. Who escapes more often gets no file either way.
const ROUNDS: usize = 4;

/// What the path argument of a Read is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing that looks like a reference.
    Plain,
    /// A well-formed reference, not yet verified.
    Reference(Reference),
    /// Something that looks like a reference, and is not one.
    Malformed(Malformed),
}

/// What `file_path` is for a client in `cwd`. OpenCode hands over what the model wrote; Claude Code resolves it first,
/// so that `typed://PATH?…` becomes `CWD/typed:/PATH?…`. Of a canonical reference nothing else changes, because it holds
/// no further slash.
pub fn look(file_path: &str, cwd: &str) -> Seen {
    if file_path.starts_with(SCHEME) {
        return seen(file_path);
    }
    let below_cwd = file_path.strip_prefix(cwd.trim_end_matches('/')).and_then(|path| path.strip_prefix('/'));
    if let Some(resolved) = below_cwd.and_then(resolved_reference) {
        return seen(&resolved);
    }
    // The client may resolve from another directory than it names (a work tree of the agent's own).
    if file_path.starts_with('/')
        && let Some((_, rest)) = file_path.rsplit_once("/typed:/")
        && below_cwd.is_none_or(|below| below.contains("/typed:/"))
    {
        return seen(&format!("{SCHEME}{rest}"));
    }
    let own = below_cwd.unwrap_or(file_path);
    if looks_like_reference(own) { Seen::Malformed(Malformed::Altered) } else { Seen::Plain }
}

fn seen(text: &str) -> Seen {
    match Reference::parse(text) {
        Ok(reference) => Seen::Reference(reference),
        Err(why) => Seen::Malformed(why),
    }
}

fn resolved_reference(below_cwd: &str) -> Option<String> {
    Some(format!("{SCHEME}{}", below_cwd.strip_prefix("typed:/")?))
}

/// Whether a text is a reference in some other dress: other case, other slashes, spaces, invisible characters, escapes.
/// It would rather see one too many: what it sees is refused, not read.
fn looks_like_reference(text: &str) -> bool {
    // No path is longer, and a reference would have been found above.
    if text.len() > 4 * MAX_PATH {
        return true;
    }
    let mut folded = fold(text);
    for _ in 0..ROUNDS {
        if has_scheme(&folded) || has_fields(&folded) {
            return true;
        }
        let plain = fold(&unescape(&folded));
        if plain == folded {
            return false;
        }
        folded = plain;
    }
    // Escaped more often than anything that is meant to be read.
    true
}

/// `typed:` where a name begins.
fn has_scheme(folded: &str) -> bool {
    folded.match_indices("typed:").any(|(at, _)| {
        let before = folded.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '_' | '-' | '.'))
    }) || folded.contains("typed:/")
}

/// The fields of a reference, whatever stands before them.
fn has_fields(folded: &str) -> bool {
    ["hmac=", "sid="].iter().any(|field| {
        folded.match_indices(field).any(|(at, _)| {
            folded.get(..at).and_then(|before| before.chars().next_back()).is_some_and(|c| "?&;".contains(c))
        })
    })
}

/// One case, one kind of slash and colon, no spaces, nothing invisible.
fn fold(text: &str) -> String {
    text.chars()
        .map(|c| match u32::from(c) {
            // Full-width forms of ASCII.
            wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
            _ => c,
        })
        .map(|c| match c {
            '\\' | '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
            '\u{2236}' | '\u{a789}' | '\u{fe55}' | '\u{589}' => ':',
            c => c.to_ascii_lowercase(),
        })
        .filter(|c| !c.is_whitespace() && !crate::domain::is_hidden(*c))
        .collect()
}

/// Percent escapes replaced, once; what is none stays.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        let escaped = (*first == b'%')
            .then(|| rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()))
            .flatten()
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                out.push(byte);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Key, ReviewId};

    fn reference() -> String {
        let id = ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").unwrap();
        Reference::mint(&Key::new([3; 32]), b"/abs/a b.txt", 1_700_000_000, &id, 60).unwrap().to_string()
    }

    fn is_reference(path: &str, cwd: &str) -> bool {
        matches!(look(path, cwd), Seen::Reference(found) if found.to_string() == reference())
    }

    #[test]
    fn both_clients_forms_are_recognised() {
        let text = reference();
        let resolved = text.replace("typed://", "typed:/");
        assert!(is_reference(&text, "/p"));
        assert!(is_reference(&format!("/p/{resolved}"), "/p"));
        assert!(is_reference(&format!("/p/{resolved}"), "/p/"));
        assert!(is_reference(&format!("/{resolved}"), "/"));
        assert!(is_reference(&format!("/p/{resolved}"), "/elsewhere"));
        assert!(is_reference(&format!("/p/sub/{resolved}"), "/p"));
        assert!(is_reference(&format!("/x/typed:/{resolved}"), "/x/typed:"));
    }

    /// What Claude Code 2.1 was seen to make of what a model wrote.
    #[test]
    fn no_form_that_a_client_makes_of_a_respelt_reference_is_plain() {
        let query = "?hmac=H&ts=1&sid=s";
        for path in [
            "typed:/abs/a.txt",
            "typed:/%2Fabs%2Fa%20b.txt",
            "typed:/etc/passwd",
            "typed:/etc/hosts",
            "TYPED:/etc/passwd",
            "typed:/~/a",
            "typed:/",
            "typed:",
        ] {
            for form in [format!("/p/{path}{query}"), format!("/p/{path}")] {
                assert!(matches!(look(&form, "/p"), Seen::Malformed(_)), "{form}");
                assert!(matches!(look(&form, "/q"), Seen::Malformed(_)), "{form} from elsewhere");
            }
        }
    }

    #[test]
    fn nothing_that_looks_like_a_reference_is_plain() {
        for path in [
            "TYPED://%2Fa",
            "Typed:/%2Fa",
            " typed://%2Fa",
            "\ttyped://%2Fa",
            "./typed://%2Fa",
            "typed%3A%2F%2F%2Fa",
            "%74yped://a",
            "%2574yped://a",
            "t\u{200b}yped://a",
            "typed\u{ad}://a",
            "ｔｙｐｅｄ：//a",
            "typed:\\\\a",
            "t y p e d : / / a",
            "\"typed://a\"",
            "file://typed://a",
            "file:///p/typed:/a",
            "xtyped://a",
            "typd://%2Fa?hmac=00&ts=1&sid=x",
            "/etc/passwd?hmac=00",
            "/etc/passwd%3Fhmac=00",
            "%25252525252574yped",
        ] {
            assert!(matches!(look(path, "/p"), Seen::Malformed(_)), "{path}");
        }
    }

    #[test]
    fn ordinary_paths_are_plain() {
        for path in [
            "/p/src/main.rs",
            "src/typed.rs",
            "/p/typed/a.txt",
            "/p/untyped:x",
            "/p/100%.txt",
            "/p/a%20b",
            "/p/what?ts=1",
            "",
            "/",
            "~/notes.md",
            "/p/typed",
        ] {
            assert_eq!(look(path, "/p"), Seen::Plain, "{path}");
        }
        assert_eq!(look("/w/typed:/src/a.rs", "/w/typed:"), Seen::Plain, "a project below such a directory");
        assert!(matches!(look("/w/typed:/src/a.rs", "/w"), Seen::Malformed(_)));
    }
}
