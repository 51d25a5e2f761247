//! Text that agents wrote, made safe to print.

/// At most `max` bytes of `text`, cut at a character boundary, with `…` where something was cut.
pub fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max;
    while end > 0 && !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// A number of bytes as people write it, rounded up to a tenth: `812 bytes`, `256 KiB`, `4.8 MiB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1024 => return format!("{bytes} bytes"),
        1024..0x10_0000 => (1024, "KiB"),
        0x10_0000.. => (0x10_0000, "MiB"),
    };
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(unit);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

/// Control, bidirectional and invisible characters as visible escapes, so that a terminal or a model reads what is there.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_unsafe(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

fn is_unsafe(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

/// Whether a character shows nothing of itself or changes how its neighbours are shown: zero-width, bidirectional, tag
/// and filler characters, variation selectors, separators that are no newline. Control characters are not among them.
pub fn is_hidden(c: char) -> bool {
    matches!(u32::from(c), 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
        | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// One word of a shell, in quotes where it needs them.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | ':' | '@' | '=' | '%')
    };
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { single_quoted(word) }
}

/// One word of a shell as a person may paste it: none = it shows something else than it is, or no spelling of it means the same in sh, zsh
/// and fish, where a backslash within single quotes stands for more than itself.
pub fn pasted(word: &str) -> Option<String> {
    let odd = |c: char| is_unsafe(c) || c == '\\';
    (!word.chars().any(odd)).then(|| shell_word(word))
}

/// One word of a shell in single quotes, whatever is in it.
pub fn single_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The absolute, lexically normalised form of `path` seen from `base`: `.`, `..` and doubled slashes resolved, no
/// trailing slash. Symbolic links are not looked at. On macOS in one of its spellings.
#[cfg(target_os = "macos")]
pub fn join(base: &str, path: &str) -> String {
    super::spelling::plain(&lexical(base, path)).into_owned()
}

/// The absolute, lexically normalised form of `path` seen from `base`: `.`, `..` and doubled slashes resolved, no
/// trailing slash. Symbolic links are not looked at.
#[cfg(not(target_os = "macos"))]
pub fn join(base: &str, path: &str) -> String {
    lexical(base, path)
}

fn lexical(base: &str, path: &str) -> String {
    // Nearly every path that is asked about is in that form already.
    if is_normal(path) {
        return path.to_owned();
    }
    let mut out = String::with_capacity(base.len() + path.len() + 2);
    if is_plain(path.as_bytes()) && is_normal(base) {
        out.push_str(base);
        out.push('/');
        out.push_str(path);
        return out;
    }
    if !path.starts_with('/') {
        if is_normal(base) {
            out.push_str(base);
        } else {
            append(&mut out, base);
        }
    }
    append(&mut out, path);
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Appends the components of `path` to a normalised path, of which the root is empty.
fn append(out: &mut String, path: &str) {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            part => {
                out.push('/');
                out.push_str(part);
            }
        }
    }
}

/// Whether an absolute path has nothing to resolve. Names that begin with two dots are not looked at closer.
fn is_normal(path: &str) -> bool {
    path.as_bytes().strip_prefix(b"/").is_some_and(is_plain)
}

/// Whether a path without a slash in front has nothing to resolve.
fn is_plain(mut path: &[u8]) -> bool {
    loop {
        if matches!(path, [] | [b'/', ..] | [b'.'] | [b'.', b'/' | b'.', ..]) {
            return false;
        }
        let slash = path.iter().position(|byte| *byte == b'/');
        let Some(rest) = slash.and_then(|at| path.get(at + 1..)) else { return true };
        path = rest;
    }
}

/// What stands behind the last slash of a path.
pub fn last_name(path: &str) -> &str {
    split_name(path).map_or(path, |(_, name)| name)
}

/// What stands in front of the last slash of a path, and behind it: names are short, and no search for a character is set up.
pub fn split_name(path: &str) -> Option<(&str, &str)> {
    let slash = path.bytes().rposition(|byte| byte == b'/')?;
    Some((path.get(..slash)?, path.get(slash + 1..)?))
}

/// Whether two names are the same. Hundreds of names that are counted through differ at their ends.
pub fn same_name(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().last() == b.as_bytes().last() && a == b
}

/// `path` is `root` or lies below it, by whole names; both absolute and normalised.
pub fn lies_in(path: &str, root: &str) -> bool {
    let rest = path.strip_prefix(root.strip_suffix('/').unwrap_or(root));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The words of a name: `deleteFile`, `delete_file`, `delete-file`.
pub fn words_of(name: &str) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (small && c.is_ascii_uppercase()) {
            out.push(String::new());
        }
        if let (true, Some(last)) = (c.is_ascii_alphanumeric(), out.last_mut()) {
            last.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    out.retain(|word| !word.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_for_people_and_never_too_small() {
        let cases = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (256 * 1024, "256 KiB"),
            (256 * 1024 + 1, "256.1 KiB"),
            (5_000_000, "4.8 MiB"),
            (1 << 30, "1024 MiB"),
            (u64::MAX, "17592186044416 MiB"),
        ];
        for (bytes, written) in cases {
            assert_eq!(size(bytes), written);
        }
    }

    #[test]
    fn what_is_pasted_means_the_same_in_every_shell() {
        assert_eq!(pasted("it's fine $(x)").as_deref(), Some("'it'\\''s fine $(x)'"));
        assert_eq!(pasted("plain").as_deref(), Some("plain"));
        for odd in ["a\\'; touch x; #", "ends in \\", "two\nlines", "a\u{202e}b", "a\tb"] {
            assert_eq!(pasted(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn join_normalises() {
        assert_eq!(join("/a/b", "c"), "/a/b/c");
        assert_eq!(join("/a/b", "../c/./d//"), "/a/c/d");
        assert_eq!(join("/a", "/x/../.."), "/");
        assert_eq!(join("/", ".."), "/");
        for (path, normal) in [
            ("/a/b", "/a/b"),
            ("/a/.b", "/a/.b"),
            ("/a/..b", "/a/..b"),
            ("/a/b.", "/a/b."),
            ("/a/.", "/a"),
            ("/a/./b", "/a/b"),
            ("/a/..", "/"),
            ("/a/../b", "/b"),
            ("//a", "/a"),
            ("/a//b", "/a/b"),
            ("/a/", "/a"),
            ("/.", "/"),
            ("/", "/"),
        ] {
            assert_eq!(join("/x", path), normal, "{path}");
        }
    }

    #[test]
    fn lying_in_is_by_whole_names() {
        assert!(lies_in("/a/b", "/a") && lies_in("/a", "/a") && lies_in("/a", "/") && lies_in("/a/b", "/a/"));
        assert!(!lies_in("/ab", "/a") && !lies_in("/", "/a"));
    }

    #[test]
    fn a_quote_in_a_word_stays_one() {
        assert_eq!(single_quoted("it's"), "'it'\\''s'");
    }

    #[test]
    fn words_of_names_are_told_apart() {
        assert_eq!(words_of("deleteFile"), ["delete", "file"]);
        assert_eq!(words_of("drop_table-2Now"), ["drop", "table", "2", "now"]);
        assert!(words_of("__").is_empty());
    }

    #[test]
    fn clip_keeps_characters_whole() {
        assert_eq!(clip("aé", 2), "a…");
        assert_eq!(clip("abc", 3), "abc");
    }

    #[test]
    fn escape_shows_what_is_hidden() {
        assert_eq!(escape("a\u{202e}b\u{1b}[0m\n"), "a\\u{202e}b\\u{1b}[0m\\n");
    }
}
