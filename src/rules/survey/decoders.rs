//! What decoders make of a known text. What they would complain of is not known: how far each of them comes then differs.

use super::call::Call;
use super::printf::unescape;
use crate::shell::Arg;

/// What a decoder prints, where all that comes in is known and comes in by its standard input.
pub(super) fn decoded(name: &str, call: &Call) -> Option<Arg> {
    let args: Vec<&str> = call.args().iter().map(Arg::known).collect::<Option<_>>()?;
    let input = call.input.as_ref()?.known()?;
    let text = match (name, args.as_slice()) {
        ("rev", []) => mapped(input, |line| line.chars().rev().collect()),
        ("tr", args) => translated(input, args)?,
        ("xxd", args) if is_made_of(args, &["-r", "-p", "-ps", "-rp", "-plain", "-revert"]) => {
            let reverts = args.iter().any(|arg| arg.starts_with("-r"));
            let plain = args.iter().any(|arg| arg.contains('p'));
            if !(reverts && plain) {
                return None;
            }
            text(hexadecimal(input)?)?
        }
        ("openssl", ["base64", args @ ..] | ["enc", "-base64" | "-a", args @ ..]) => {
            if !args.contains(&"-d") || !is_made_of(args, &["-d", "-A", "-a"]) {
                return None;
            }
            text(base64(input)?)?
        }
        ("base64", args) => {
            if !args.iter().any(|arg| is_decode(arg)) || !args.iter().all(|arg| is_decode(arg) || *arg == "-")
            {
                return None;
            }
            text(base64(input)?)?
        }
        _ => return None,
    };
    Some(Arg::literal(&text))
}

fn is_made_of(args: &[&str], known: &[&str]) -> bool {
    args.iter().all(|arg| known.contains(arg))
}

fn is_decode(arg: &str) -> bool {
    matches!(arg, "-d" | "-D" | "-di" | "-id") || (arg.len() > 3 && "--decode".starts_with(arg))
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

fn mapped(input: &str, line: impl Fn(&str) -> String) -> String {
    input.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Base64 and nothing else, with or without its padding; one text may stand behind another.
fn base64(input: &str) -> Option<Vec<u8>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n');
    input.bytes().all(is_part).then(|| super::output::decode(input))
}

fn hexadecimal(input: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = input.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let byte = |pair: &[char]| match pair {
        [high, low] => u8::try_from(high.to_digit(16)? << 4 | low.to_digit(16)?).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

/// `tr` with two plain sets, or `-d` with one.
fn translated(input: &str, args: &[&str]) -> Option<String> {
    match args {
        ["-d", away] => {
            let away = set(away)?;
            Some(input.chars().filter(|c| !away.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (set(from)?, set(to)?);
            // Of one that stands twice in the first set the systems make different things.
            let twice =
                from.iter().enumerate().any(|(at, one)| from.iter().skip(at + 1).any(|two| one == two));
            // The last of the second set stands for those that it lacks.
            let last = to.last().filter(|_| !twice)?;
            let change = |c: char| match from.iter().position(|one| *one == c) {
                Some(at) => *to.get(at).unwrap_or(last),
                None => c,
            };
            Some(input.chars().map(change).collect())
        }
        _ => None,
    }
}

/// The characters of a set, with its ranges; none where classes stand in it.
fn set(text: &str) -> Option<Vec<char>> {
    /// Most characters of a set.
    const MOST: usize = 256;
    let escaped = text.replace("\\n", "").replace("\\t", "").contains('\\');
    if escaped || text.contains(['[', ']']) || !text.is_ascii() {
        return None;
    }
    let chars: Vec<char> = unescape(text).chars().collect();
    let mut out = Vec::new();
    let mut rest = chars.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        match behind {
            ['-', end, behind @ ..] if first <= end => {
                out.extend(*first..=*end);
                rest = behind;
            }
            _ => {
                out.push(*first);
                rest = behind;
            }
        }
        if out.len() > MOST {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_followed_beyond_a_padding_and_not_through_anything_else() {
        assert_eq!(base64("bHM=\n").unwrap(), b"ls");
        assert_eq!(base64("bHM=OyBpZA==").unwrap(), b"ls; id");
        assert_eq!(base64("bHMgLWw").unwrap(), b"ls -l");
        assert_eq!(base64("bHM=*OyBpZA=="), None);
    }

    #[test]
    fn sets_are_translated_as_tr_does() {
        assert_eq!(translated("qngr", &["a-z", "n-za-m"]).unwrap(), "date");
        assert_eq!(translated("lXsX", &["-d", "X"]).unwrap(), "ls");
        assert_eq!(translated("abc", &["abc", "x"]).unwrap(), "xxx");
        assert_eq!(translated("a", &["[:lower:]", "[:upper:]"]), None);
        assert_eq!(translated("a", &["-c", "a", "b"]), None);
        assert_eq!(translated("a", &["aa", "bc"]), None);
        assert_eq!(translated("a", &["\\141", "b"]), None);
    }

    #[test]
    fn pairs_of_digits_are_bytes() {
        assert_eq!(hexadecimal("6c 73\n").unwrap(), b"ls");
        assert_eq!(hexadecimal("6c7"), None);
        assert_eq!(hexadecimal("zz"), None);
    }
}
