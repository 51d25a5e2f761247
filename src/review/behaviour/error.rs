//! An error without what differs from one time to the next, so that the same error is known again.

/// Longest piece of an error that is looked at, in bytes: the beginning says what failed, the end why.
const HEAD: usize = 2048;
const TAIL: usize = 2048;
/// Most lines that make up the error.
const LINES: usize = 6;
/// What a line says that tells of an error.
const TELLS: &[&str] = &[
    "error",
    "fail",
    "fatal",
    "panic",
    "exception",
    "traceback",
    "cannot",
    "can't",
    "not found",
    "no such",
    "denied",
    "undefined",
    "unexpected",
    "invalid",
    "missing",
    "unable",
    "refused",
    "timed out",
    "abort",
];
/// What says that a file is not there.
const MISSING: &[&str] =
    &["no such file", "does not exist", "file not found", "enoent", "cannot find the file"];

/// The lines of an error that tell what it is, without numbers, colours and addresses.
pub fn normalised(error: &str) -> String {
    let looked_at = ends(error);
    let lines = looked_at.iter().flat_map(|part| part.lines()).map(plain).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.collect();
    let telling = |line: &&String| TELLS.iter().any(|word| line.contains(word));
    let mut out: Vec<&str> = lines.iter().filter(telling).take(LINES).map(String::as_str).collect();
    if out.is_empty() {
        out = lines.iter().rev().take(3).rev().map(String::as_str).collect();
    }
    out.join("\n")
}

/// Whether an error says that a file is not there.
pub fn says_missing(error: &str) -> bool {
    ends(error).iter().any(|part| {
        let part = part.to_lowercase();
        MISSING.iter().any(|words| part.contains(words))
    })
}

/// The beginning and the end of a text; once where they meet.
fn ends(text: &str) -> Vec<&str> {
    if text.len() <= HEAD + TAIL {
        return vec![text];
    }
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - TAIL)..).unwrap_or_default();
    vec![head, tail]
}

/// One line in lower case, without colours, every number as `0` and every longer hexadecimal word as `h`.
pub fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.trim().chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\u{1b}' {
            while chars.next().is_some_and(|char| !char.is_ascii_alphabetic()) {}
        } else if char.is_ascii_alphanumeric() {
            let mut word = String::from(char);
            while let Some(next) = chars.next_if(char::is_ascii_alphanumeric) {
                word.push(next);
            }
            out.push_str(&changing(&word));
        } else if char.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.extend(char.to_lowercase());
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// A word without what changes in it: `0` for a run of digits, `h` for a longer hexadecimal word.
fn changing(word: &str) -> String {
    let hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hex && word.bytes().any(|byte| byte.is_ascii_digit()) {
        return "h".to_owned();
    }
    let mut out = String::with_capacity(word.len());
    for char in word.chars() {
        match char {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            char => out.push(char.to_ascii_lowercase()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_error_is_known_again() {
        let same = [
            (
                "Exit code 1\nerror[E0308]: mismatched types at src/a.rs:12:5",
                "Exit code 1\nerror[E0308]: mismatched types at src/a.rs:14:9",
            ),
            ("\u{1b}[31mError:\u{1b}[0m port 8080 in use (pid 4711)", "Error: port 3000 in use (pid 12)"),
            ("fatal: bad object 3f2a9bc41d", "fatal: bad object 88aa1234ff"),
            ("make: *** [Makefile:12: all] Error 2", "make: ***  [Makefile:40: all]  Error 1"),
        ];
        for (one, other) in same {
            assert_eq!(normalised(one), normalised(other));
        }
    }

    #[test]
    fn different_errors_stay_different() {
        assert_ne!(normalised("error: cannot find value `x`"), normalised("error: cannot find value `y`"));
        assert_ne!(normalised("a: not found"), normalised("b: not found"));
        assert!(
            says_missing("File does not exist. Did you mean a.rs?") && !says_missing("permission denied")
        );
    }

    #[test]
    fn a_long_error_is_looked_at_from_both_ends() {
        let long = |end: &str| format!("start\n{}\nerror: {end}", "compiling\n".repeat(100_000));
        assert_eq!(normalised(&long("x 1")), normalised(&long("x 2")));
        assert_ne!(normalised(&long("x")), normalised(&long("y")));
    }
}
