//! One path component against a shell pattern. Errs towards a match.

/// Whether `pattern`, one component of a shell pattern, can be expanded to `name`. Without regard to ASCII case,
/// because some file systems have none.
pub(crate) fn segment(pattern: &str, name: &str) -> bool {
    // The shell's wildcards do not match a leading dot, but for one that is written in a group.
    let hidden = name.starts_with('.');
    match pattern.split_once('(') {
        Some((front, inside)) if front.ends_with(GROUPS) => {
            let begins = front.len() == 1 && (front == "!" || !inside.contains('.'));
            !(hidden && begins) && matches(ungrouped(pattern).as_bytes(), name.as_bytes())
        }
        _ if hidden && pattern.starts_with(['*', '?', '[']) => false,
        _ => matches(pattern.as_bytes(), name.as_bytes()),
    }
}

/// Whether a pattern begins with what may stand for anything: a bare wildcard, or what is left without some names.
pub(crate) fn begins_open(pattern: &str) -> bool {
    pattern.starts_with(['*', '?', '[']) || pattern.starts_with("!(")
}

/// What begins a group of an extended pattern.
const GROUPS: [char; 5] = ['?', '*', '+', '@', '!'];

/// An extended pattern with a `*` for each group, which is not worth a matcher of its own.
fn ungrouped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0_usize;
    for c in pattern.chars() {
        match c {
            '(' if depth > 0 => depth += 1,
            '(' if out.ends_with(GROUPS) => {
                out.pop();
                out.push('*');
                depth = 1;
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether a component consists of wildcards alone (`*`, `.*`, `.[!.]*`, `??*`): it stands for everything in its directory.
pub(crate) fn is_everything(pattern: &str) -> bool {
    pattern.starts_with("!(") && pattern.ends_with(')') && ungrouped(pattern) == "*"
        || pattern.contains('*')
            && pattern.bytes().all(|b| matches!(b, b'*' | b'?' | b'.' | b'[' | b']' | b'!' | b'^'))
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match step(pattern, p, name.get(n).copied().unwrap_or_default()) {
            Step::Star => {
                star = Some((p, n));
                p += 1;
            }
            Step::Took(width) => {
                p += width;
                n += 1;
            }
            Step::No => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|b| *b == b'*'))
}

enum Step {
    Star,
    Took(usize),
    No,
}

fn step(pattern: &[u8], p: usize, byte: u8) -> Step {
    match pattern.get(p) {
        None => Step::No,
        Some(b'*') => Step::Star,
        Some(b'?') => Step::Took(1),
        Some(b'[') => match bracket(pattern.get(p + 1..).unwrap_or_default(), byte) {
            Some((true, width)) => Step::Took(width + 1),
            Some((false, _)) => Step::No,
            None if byte == b'[' => Step::Took(1),
            None => Step::No,
        },
        Some(b'\\') => match pattern.get(p + 1) {
            Some(literal) if literal.eq_ignore_ascii_case(&byte) => Step::Took(2),
            Some(_) => Step::No,
            None => Step::Took(1),
        },
        Some(literal) if literal.eq_ignore_ascii_case(&byte) => Step::Took(1),
        Some(_) => Step::No,
    }
}

/// Whether a bracket expression (behind its `[`) holds `byte`, and its width; nothing when it has no end.
fn bracket(rest: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(rest.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    let end = start + 1 + rest.get(start + 1..)?.iter().position(|b| *b == b']')?;
    let set = rest.get(start..end)?;
    if set.contains(&b'[') {
        // A class such as [[:alpha:]]: its end is further on; take it for anything.
        let close = rest.windows(2).position(|pair| pair == b":]").map_or(end, |at| at + 2);
        return Some((true, close.max(end) + 1));
    }
    let lower = byte.to_ascii_lowercase();
    let single = set.iter().any(|b| b.to_ascii_lowercase() == lower);
    let range = set.windows(3).any(|w| match w {
        [from, b'-', to] => (*from..=*to).contains(&byte) || (*from..=*to).contains(&lower),
        _ => false,
    });
    Some(((single || range) != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components() {
        for (pattern, name, expected) in [
            ("settings*", "settings.json", true),
            ("*.json", "settings.json", true),
            ("*.toml", "settings.json", false),
            ("s?ttings.jso[mn]", "settings.json", true),
            ("s[!e]ttings.json", "settings.json", false),
            ("[a-z]*", "settings.json", true),
            ("*", ".claude", false),
            (".*", ".claude", true),
            (".cl*de", ".claude", true),
            (".CLAUDE", ".claude", true),
            ("@(x|.claude)", ".claude", true),
            ("!(x)", ".claude", false),
            ("!(index.html)", "id_rsa", true),
            ("a!(b|@(c|d))e", "axe", true),
            ("a?(b).js", "id_rsa", false),
            ("a(b", "a(b", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("[", "[", true),
            ("[[:alpha:]]x", "ax", true),
            ("***a***b", "xxaxxb", true),
        ] {
            assert_eq!(segment(pattern, name), expected, "{pattern} against {name}");
        }
    }

    #[test]
    fn everything() {
        for pattern in ["*", ".*", ".[!.]*", "??*", "!(keep)", "!(a|@(b|c))"] {
            assert!(is_everything(pattern), "{pattern}");
        }
        for pattern in ["*.o", "a*", "?", "..", "", "!(a).o", "@(a|b)"] {
            assert!(!is_everything(pattern), "{pattern}");
        }
    }
}
