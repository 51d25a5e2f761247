//! What calls make of the strings that they are given.

/// What a call is given, or gives back.
#[derive(Debug, Clone)]
pub(super) enum Value {
    One(String),
    Many(Vec<String>),
}

/// Longest text that is made by repeating one.
const MAX_REPEATED: usize = 4096;

words!("builtin/folding/calls");
const FROM_HEX: &[&str] = &["fromhex", "unhexlify", "a2b_hex", "hex2bin"];
const FROM_PERCENT: &[&str] =
    &["unquote", "unquote_plus", "unescape", "decodeURIComponent", "decodeURI", "urldecode", "rawurldecode"];
const FROM_NUMBERS: &[&str] = &["chr", "fromCharCode", "fromCodePoint", "char", "bytes", "bytearray"];
const LOWER: &[&str] = &["lower", "toLowerCase", "downcase", "strtolower", "lc"];
const UPPER: &[&str] = &["upper", "toUpperCase", "upcase", "strtoupper", "uc"];

/// The strings that values are.
pub(super) fn texts(values: Vec<Value>) -> Option<Vec<String>> {
    let one = |value| match value {
        Value::One(text) => Some(text),
        Value::Many(_) => None,
    };
    values.into_iter().map(one).collect()
}

/// What a call of `callee` gives back, made on `receiver` or on what is called `owner`.
pub(super) fn result(callee: &str, owner: &str, receiver: Option<Value>, args: &[Value]) -> Option<Value> {
    use Value::{Many, One};
    match (receiver, args) {
        (Some(One(text)), args) => of_text(callee, &text, args),
        (Some(Many(items)), []) if matches!(callee, "join") => Some(One(items.concat())),
        (Some(Many(items)), []) if callee == "reverse" => Some(Many(items.into_iter().rev().collect())),
        (Some(Many(items)), [One(between)]) if callee == "join" => Some(One(items.join(between))),
        (Some(Many(items)), [One(form)]) if callee == "pack" => packed(form, &items).map(One),
        (Some(Many(_)), _) => None,
        (None, args) => of_function(callee, owner, args),
    }
}

/// What a method of a string gives back.
fn of_text(callee: &str, text: &str, args: &[Value]) -> Option<Value> {
    use Value::{Many, One};
    let is = |names: &[&str]| names.contains(&callee);
    Some(One(match args {
        [Many(items)] if callee == "join" => items.join(text),
        [One(separator)] if callee == "split" && separator.is_empty() => {
            return Some(Many(text.chars().map(String::from).collect()));
        }
        [] if callee == "reverse" => reversed(text),
        [] if is(LOWER) => text.to_lowercase(),
        [] if is(UPPER) => text.to_uppercase(),
        [] if is(SAME) || callee == "decode" => text.to_owned(),
        [One(name)] if matches!(callee, "decode" | "toString" | "encode") => decoded(name, text)?,
        [One(form)] if matches!(callee, "unpack" | "unpack1") => match form.chars().next()? {
            'm' => base64(text)?,
            _ => return None,
        },
        [One(from), One(to)] if is(&["replace", "replaceAll", "gsub", "sub"]) && !from.is_empty() => {
            // In a pattern of Lua's a sign behind `%` is itself.
            let from = if is(&["gsub"]) { from.replace("%-", "-").replace("%.", ".") } else { from.clone() };
            text.replace(from.as_str(), to)
        }
        [One(from), One(to)] if callee == "tr" => mapped(text, from, to)?,
        [One(times)] if is(&["repeat", "rep"]) => repeated(text, times)?,
        [One(from), One(to)] if is(&["slice", "substring"]) => sliced(text, &format!("{from}:{to}"))?,
        [One(from)] if is(&["slice", "substring", "substr"]) => sliced(text, &format!("{from}:"))?,
        args if callee == "format" && text.contains('%') => formatted(text, &texts(args.to_vec())?)?,
        args if callee == "format" => filled(text, &texts(args.to_vec())?)?,
        args if callee == "concat" => format!("{text}{}", texts(args.to_vec())?.concat()),
        _ => return None,
    }))
}

/// What a function gives back.
fn of_function(callee: &str, owner: &str, args: &[Value]) -> Option<Value> {
    use Value::{Many, One};
    let is = |names: &[&str]| names.contains(&callee);
    Some(One(match args {
        [One(text)] if is(FROM_BASE64) => base64(text)?,
        [One(text)] if is(FROM_HEX) => hex(text)?,
        [One(text)] if is(FROM_PERCENT) => percent(text)?,
        [One(text)] if is(&["str_rot13", "rot13"]) => rot13(text),
        [One(text)] if is(&["strrev", "reverse"]) => reversed(text),
        [One(text)] if callee == "reversed" => {
            return Some(Many(text.chars().rev().map(String::from).collect()));
        }
        [One(text)] if is(LOWER) => text.to_lowercase(),
        [One(text)] if is(UPPER) => text.to_uppercase(),
        [One(text)] if owner.is_empty() && is(SAME) => text.clone(),
        [One(text), One(name)] if callee == "from" && owner == "Buffer" => decoded(name, text)?,
        [One(text)] if callee == "from" && owner == "Buffer" => text.clone(),
        [One(text), One(name)] if callee == "decode" => decoded(name, text)?,
        [Many(items)] if is(FROM_NUMBERS) => letters(items)?,
        [One(_), ..] if is(FROM_NUMBERS) => letters(&texts(args.to_vec())?)?,
        [One(between), Many(items)] if is(&["implode", "join"]) => items.join(between),
        [One(_), ..] if callee == "join" && matches!(owner, "path" | "File" | "posixpath") => {
            texts(args.to_vec())?
                .iter()
                .skip(1)
                .fold(texts(args.to_vec())?.first()?.clone(), |base, name| below(&base, name))
        }
        [One(between), rest @ ..] if callee == "join" && owner.is_empty() => {
            texts(rest.to_vec())?.join(between)
        }
        [One(form), rest @ ..] if callee == "pack" && owner.is_empty() => {
            packed(form, &texts(rest.to_vec())?)?
        }
        [One(form), rest @ ..] if is(&["sprintf", "format"]) => formatted(form, &texts(rest.to_vec())?)?,
        [One(from), One(to), One(text)] if callee == "str_replace" && !from.is_empty() => {
            text.replace(from.as_str(), to)
        }
        [One(text), One(from)] if callee == "substr" => sliced(text, &format!("{from}:"))?,
        [One(_), ..] if callee == "paste0" => texts(args.to_vec())?.concat(),
        [One(_), ..] if callee == "paste" && owner.is_empty() => texts(args.to_vec())?.join(" "),
        [One(text), One(times)] if callee == "str_repeat" => repeated(text, times)?,
        _ => return None,
    }))
}

/// A name in a directory.
pub(super) fn below(base: &str, name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("{}/{name}", base.trim_end_matches('/')) }
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

fn repeated(text: &str, times: &str) -> Option<String> {
    let times: usize = times.parse().ok()?;
    (text.len().checked_mul(times)? <= MAX_REPEATED).then(|| text.repeat(times))
}

/// Bytes as text, when it is text.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    (!text.is_empty() && !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r')))
        .then_some(text)
}

pub(in crate::rules::builtin) fn base64(text: &str) -> Option<String> {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'\n');
    text.bytes().all(plain).then(|| readable(crate::rules::survey::decode_base64(text))).flatten()
}

pub(in crate::rules::builtin) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    readable(digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>()?)
}

fn percent(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = parts.next()?.as_bytes().to_vec();
    for part in parts {
        out.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        out.extend_from_slice(part.get(2..)?.as_bytes());
    }
    readable(out)
}

fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| {
        let at = u8::try_from(c).unwrap_or(first).wrapping_sub(first);
        char::from(first + (at + 13) % 26)
    };
    let one = |c: char| match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        c => c,
    };
    text.chars().map(one).collect()
}

/// Text that is decoded from what is called so; text of an alphabet stays.
fn decoded(name: &str, text: &str) -> Option<String> {
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "base64" | "base64url" => base64(text),
        "hex" | "hexcodec" => hex(text),
        "rot13" => Some(rot13(text)),
        "utf8" | "ascii" | "latin1" | "binary" | "iso88591" => Some(text.to_owned()),
        _ => None,
    }
}

/// The text of which these numbers are the letters.
pub(super) fn letters(numbers: &[String]) -> Option<String> {
    let letter = |number: &String| {
        let value = match number.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(value).filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
    };
    numbers.iter().map(letter).collect()
}

/// `["726d"].pack("H*")`, `pack("C*", 114, 109)`
fn packed(form: &str, items: &[String]) -> Option<String> {
    match form.chars().next()? {
        'H' => hex(items.first()?),
        'c' | 'C' | 'U' | 'W' => letters(items),
        'A' | 'a' => Some(items.concat()),
        _ => None,
    }
}

/// `%s` filled in.
pub(in crate::rules::builtin) fn formatted(form: &str, items: &[String]) -> Option<String> {
    let mut items = items.iter();
    let mut out = String::new();
    let mut rest = form;
    while let Some((front, behind)) = rest.split_once('%') {
        out.push_str(front);
        let kind = behind.chars().next()?;
        match kind {
            's' | 'd' | 'i' => out.push_str(items.next()?),
            'c' => out.push_str(&letters(std::slice::from_ref(items.next()?))?),
            '%' => out.push('%'),
            _ => return None,
        }
        rest = behind.get(1..)?;
    }
    out.push_str(rest);
    items.next().is_none().then_some(out)
}

/// `{}` and `{0}` filled in.
fn filled(form: &str, items: &[String]) -> Option<String> {
    let mut next = items.iter();
    let mut out = String::new();
    let mut rest = form;
    while let Some((front, behind)) = rest.split_once('{') {
        let (inside, tail) = behind.split_once('}')?;
        out.push_str(front);
        match inside.parse::<usize>() {
            Ok(at) => out.push_str(items.get(at)?),
            Err(_) if inside.is_empty() => out.push_str(next.next()?),
            Err(_) => return None,
        }
        rest = tail;
    }
    out.push_str(rest);
    Some(out)
}

/// Each letter of `from` turned into the one that stands there in `to`.
fn mapped(text: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (spread(from)?, spread(to)?);
    let last = to.last().copied()?;
    let one = |c: char| match from.iter().position(|other| *other == c) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => c,
    };
    Some(text.chars().map(one).collect())
}

/// The letters of `a-z`.
fn spread(set: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = set.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = letters.get(at).copied() {
        match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(last)) if first <= *last => {
                out.extend(first..=*last);
                at += 3;
            }
            _ => {
                out.push(first);
                at += 1;
            }
        }
        if out.len() > 512 {
            return None;
        }
    }
    Some(out)
}

/// A piece of a text: `::-1`, `1:3`, `:-1`, `2`.
pub(super) fn sliced(text: &str, range: &str) -> Option<String> {
    if matches!(range, "::-1" | ":: -1") {
        return Some(reversed(text));
    }
    let letters: Vec<char> = text.chars().collect();
    let place = |part: &str, otherwise: usize| -> Option<usize> {
        let at = match part.strip_prefix('-') {
            Some(back) => letters.len().checked_sub(back.parse().ok()?)?,
            None if part.is_empty() => otherwise,
            None => part.parse().ok()?,
        };
        Some(at.min(letters.len()))
    };
    let (from, to) = match range.split_once(':') {
        Some((from, to)) => (place(from, 0)?, place(to, letters.len())?),
        None => {
            let at = place(range, 0)?;
            (at, at + 1)
        }
    };
    letters.get(from..to).map(|piece| piece.iter().collect())
}
