//! Texts that code spells so that they cannot be read: backwards, as the numbers of their letters, or as code in a string. Nothing
//! is judged here.

/// What turns a text round.
const TURNS: &[&str] = &["[::-1]", "reverse", "reversed(", "rev("];

/// What makes a text of numbers.
const NUMBERS: &[&str] =
    &["chr", "fromCharCode", "bytes(", "bytearray(", "pack(", "String.fromCodePoint", "%c"];

/// Fewest numbers that are taken for a text, and most lists of them that are looked at.
const MIN_NUMBERS: usize = 4;
const MAX_LISTS: usize = 16;

/// The texts that code makes out of what it holds; `strings` are those that it holds.
pub(super) fn texts(code: &str, strings: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    if TURNS.iter().any(|call| code.contains(call)) {
        let texts = strings.iter().filter(|text| text.len() >= MIN_NUMBERS);
        out.extend(texts.map(|text| text.chars().rev().collect::<String>()));
        out.extend(
            super::scripts::run_quotes(code).iter().map(|text| text.chars().rev().collect::<String>()),
        );
        out.extend(lists_turned(code));
        // `['/', '-rf', 'rm'].reverse()`
        out.push(strings.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" "));
    }
    // `''.join(['r', 'm -rf /'])`
    if code.contains("join") && strings.len() > 1 {
        out.push(strings.concat());
    }
    // `"a" "b"` is one string in C and Python.
    out.extend(beside(code));
    if NUMBERS.iter().any(|call| code.contains(call)) {
        out.extend(numbered(code));
    }
    out
}

/// The texts of strings between which nothing stands.
fn beside(code: &str) -> Vec<String> {
    let mut out: Vec<(String, bool)> = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        let (between, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mut chars = tail.chars();
        let Some(quote) = chars.next() else { break };
        let (text, behind) = super::scripts::quoted(chars.as_str(), quote);
        match out.last_mut() {
            Some((last, joined)) if between.trim().is_empty() => {
                last.push_str(&text);
                *joined = true;
            }
            _ => out.push((text, false)),
        }
        rest = behind;
    }
    out.into_iter().filter(|(_, joined)| *joined).map(|(text, _)| text).take(MAX_LISTS).collect()
}

/// Lists of bare words that Perl and Ruby turn round: `reverse qw(/ -rf rm)`.
fn lists_turned(code: &str) -> impl Iterator<Item = String> {
    let turned = |text: String| text.split_whitespace().rev().collect::<Vec<_>>().join(" ");
    super::scripts::run_quotes(code).into_iter().filter(|text| text.contains(' ')).map(turned)
}

/// The strings in code, and those in the strings that are code themselves.
pub(super) fn strings(code: &str) -> Vec<String> {
    with_inner(super::scripts::strings(code))
}

/// Strings, and those in them that are code themselves.
pub(super) fn with_inner(mut out: Vec<String>) -> Vec<String> {
    let inner: Vec<String> = { out.iter() }
        .filter(|text| text.contains('(') && text.contains(['"', '\'']))
        .take(MAX_LISTS)
        .flat_map(|text| super::scripts::strings(text))
        .collect();
    out.extend(inner);
    out
}

/// The texts of which a list of numbers, decimal or hexadecimal, gives the letters.
fn numbered(code: &str) -> Vec<String> {
    let of_list = |c: char| c.is_ascii_hexdigit() || matches!(c, ',' | ' ' | 'x' | 'X' | '\n');
    let lists = code.split(|c| !of_list(c)).filter(|list| list.contains(','));
    let texts = lists.take(MAX_LISTS).filter_map(|list| {
        let letters: Vec<char> = list.split(',').map(str::trim).filter_map(letter).collect();
        (letters.len() >= MIN_NUMBERS).then(|| letters.into_iter().collect())
    });
    // `chr(114) + chr(109) + …`
    let calls = code
        .split("chr(")
        .skip(1)
        .filter_map(|rest| letter(rest.split(')').next().unwrap_or_default().trim()));
    let called: String = calls.collect();
    texts.chain((called.len() >= MIN_NUMBERS).then_some(called)).collect()
}

fn letter(number: &str) -> Option<char> {
    let value = match number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16).ok()?,
        None => number.parse::<u8>().ok()?,
    };
    let letter = char::from(value);
    (letter.is_ascii_graphic() || matches!(value, b' ' | b'\n' | b'\t')).then_some(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_in_strings() {
        assert_eq!(strings("exec(\"f('/')\")"), ["f('/')", "/"]);
        assert_eq!(strings("f('a', \"it's\")"), ["a", "it's"]);
    }

    #[test]
    fn what_code_spells() {
        for (code, strings, expected) in [
            ("f('/ fr- mr'[::-1])", &["/ fr- mr"][..], Some("rm -rf /")),
            ("f(''.join(map(chr,[114, 109, 32, 47])))", &[], Some("rm /")),
            ("f(String.fromCharCode(0x72,0x6d,0x20,0x2f))", &[], Some("rm /")),
            ("f(chr(114)+chr(109)+chr(32)+chr(47))", &[], Some("rm /")),
            ("f(''.join(['r', 'm -rf /']))", &["", "r", "m -rf /"], Some("rm -rf /")),
            ("f([1, 2, 3, 4])", &[], None),
            ("f('abc')", &["abc"], None),
        ] {
            let strings: Vec<String> = strings.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(texts(code, &strings).first().map(String::as_str), expected, "{code}");
        }
    }
}
