//! What `printf` prints, and what the escapes of `echo -e` mean.

use super::output::{MAX, append, push, size};
use crate::shell::Arg;

/// `printf` with `%s`, `%b`, `%c`, `%d`, `%q` and `%%` only.
pub(super) fn printf(args: &[Arg]) -> Option<Arg> {
    let args = args.strip_prefix(&[Arg::literal("--")]).unwrap_or(args);
    let (format, values) = args.split_first()?;
    let format = unescape(format.known()?);
    let mut values = values.iter();
    let mut out = Arg::default();
    loop {
        let before = values.len();
        let mut rest = format.as_str();
        while let Some((text, tail)) = rest.split_once('%') {
            push(&mut out, text, false);
            let spec =
                tail.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '.'))).unwrap_or(tail.len());
            let (spec, tail) = tail.split_at_checked(spec)?;
            let mut tail = tail.chars();
            match (tail.next()?, spec) {
                (kind @ ('s' | 'b' | 'c' | 'd' | 'i' | 'q'), spec) => {
                    if let Some(value) = values.next() {
                        append(&mut out, &formatted(kind, spec, value)?);
                    }
                }
                ('%', "") => push(&mut out, "%", false),
                _ => return None,
            }
            rest = tail.as_str();
        }
        push(&mut out, rest, false);
        if values.len() == 0 {
            return Some(out);
        }
        if values.len() == before {
            return Some(out);
        }
        if size(&out) > MAX {
            return None;
        }
    }
}

/// A value as a conversion of `printf` with that flag, width and precision prints it.
fn formatted(kind: char, spec: &str, value: &Arg) -> Option<Arg> {
    if spec.is_empty() && matches!(kind, 's' | 'd' | 'i' | 'q') {
        return Some(value.clone());
    }
    let Some(text) = value.known() else { return if spec.is_empty() { Some(value.clone()) } else { None } };
    let mut text = if kind == 'b' { unescape(text) } else { text.to_owned() };
    let (width, precision) = spec.split_once('.').unwrap_or((spec, ""));
    let most = if kind == 'c' { Some(1) } else { precision.parse::<usize>().ok() };
    if let Some(most) = most {
        text = text.chars().take(most).collect();
    }
    let (left, width) = width.strip_prefix('-').map_or((false, width), |width| (true, width));
    let width: usize =
        if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width <= 1024)? };
    Some(Arg::literal(&if left { format!("{text:<width$}") } else { format!("{text:>width$}") }))
}

/// Backslash escapes as `echo -e` and `printf` have them.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a' | 'c' | 'f' | 'v') => {}
            Some('e' | 'E') => out.push('\u{1b}'),
            Some('x') => number(&mut chars, 16, 2, &mut out),
            Some('u') => number(&mut chars, 16, 4, &mut out),
            Some(digit @ '0'..='7') => {
                let mut value = digit.to_digit(8).unwrap_or(0);
                for _ in 0..if digit == '0' { 3 } else { 2 } {
                    let Some(next) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + next;
                    chars.next();
                }
                out.extend(char::from_u32(value));
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, out: &mut String) {
    let mut value = 0;
    for _ in 0..most {
        let Some(next) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value * radix + next;
        chars.next();
    }
    out.extend(char::from_u32(value));
}
