//! Text of an agent that read untrusted code, made harmless for a model, a terminal and a browser. What is changed stays
//! visible as changed; what cannot be seen is removed.

use super::flags::{Flag, Flags, scan};
use super::places::Places;
use crate::domain::is_hidden;
use crate::review::redact;

/// Longest escape sequence with a text in it (a title, a link) that is removed as a whole, in characters.
const MAX_SEQUENCE: usize = 512;
/// Most marks over one letter; no language needs so many.
const MAX_MARKS: usize = 8;
/// Longest word between brackets that may be a role, in characters.
const MAX_ROLE: usize = 16;
/// Words between `[` and `]`, or before a colon, that models take for turns of a conversation.
const ROLES: [&str; 9] =
    ["human", "user", "assistant", "system", "developer", "tool", "function", "inst", "sys"];
/// Parts of tag names that models or browsers act on.
const TELLING: [&str; 22] = [
    "system",
    "reminder",
    "assistant",
    "user",
    "human",
    "instruction",
    "tool",
    "function",
    "invoke",
    "think",
    "important",
    "script",
    "img",
    "iframe",
    "object",
    "style",
    "im_start",
    "im_end",
    "endoftext",
    "begin_of",
    "inst",
    "sys",
];
/// Schemes that do something without `//` after them.
const SCHEMES: [&str; 4] = ["javascript", "vbscript", "data", "mailto"];

/// One text of a report, at most `most` characters of it.
pub(super) fn clean_text(text: &str, most: usize, places: &Places<'_>, flags: &mut Flags) -> String {
    let visible = visible(text, flags);
    let outside = places.outside(&visible, flags);
    let redacted = redact::redact(&outside);
    if redacted != outside {
        flags.insert(Flag::Secret);
    }
    scan(&redacted, flags);
    let mut out = neutral(&redacted, flags);
    if let Some((end, _)) = out.char_indices().nth(most) {
        out.truncate(end);
        out.push('…');
        flags.insert(Flag::Shortened);
    }
    out
}

/// Any text of unknown origin in the same way, on one line: for names and messages.
pub fn harmless(text: &str) -> String {
    let mut flags = Flags::new();
    neutral(&visible(text, &mut flags), &mut flags).replace(['\n', '\t'], " ")
}

/// Without escape sequences, control, invisible and private characters; line ends are `\n`.
fn visible(text: &str, flags: &mut Flags) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            '\r' => {
                out.push('\n');
                after.strip_prefix('\n').unwrap_or(after)
            }
            '\u{85}' | '\u{2028}' | '\u{2029}' => {
                out.push('\n');
                after
            }
            '\u{1b}' | '\u{80}'..='\u{9f}' => {
                flags.insert(Flag::HiddenCharacters);
                after_sequence(c, after)
            }
            '\n' | '\t' => {
                out.push(c);
                after
            }
            c if c.is_control() || is_hidden(c) || is_private(c) => {
                flags.insert(Flag::HiddenCharacters);
                after
            }
            c => {
                marks = if is_mark(c) { marks + 1 } else { 0 };
                if marks > MAX_MARKS {
                    flags.insert(Flag::HiddenCharacters);
                } else {
                    out.push(c);
                }
                after
            }
        };
    }
    out
}

/// Marks that are drawn over the letter before them, in any number.
const fn is_mark(c: char) -> bool {
    matches!(c as u32, 0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f | 0xe31
        | 0xe34..=0xe3a | 0xe47..=0xe4e | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

/// What follows the escape sequence that `first` begins; all of `rest` when it begins none.
fn after_sequence(first: char, rest: &str) -> &str {
    let (kind, body) = match first {
        '\u{1b}' => {
            let Some(kind) = rest.chars().next() else { return rest };
            (kind, rest.get(kind.len_utf8()..).unwrap_or_default())
        }
        // The one-character forms stand for ESC and the character 0x40 below.
        c1 => match u8::try_from(u32::from(c1) - 0x40) {
            Ok(kind) => (char::from(kind), rest),
            Err(_) => return rest,
        },
    };
    match kind {
        '[' => {
            let end = body.find(|c: char| !('\u{20}'..='\u{3f}').contains(&c)).unwrap_or(body.len());
            let last = body.get(end..).and_then(|body| body.chars().next());
            let ended = last.is_some_and(|c| ('\u{40}'..='\u{7e}').contains(&c));
            body.get(end + usize::from(ended)..).unwrap_or_default()
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            // Without an end it is no sequence, and what follows is not swallowed.
            let end = body.char_indices().take(MAX_SEQUENCE).find_map(|(at, c)| match c {
                '\u{7}' | '\u{9c}' => Some(at + c.len_utf8()),
                '\u{1b}' if body.get(at + 1..).is_some_and(|next| next.starts_with('\\')) => Some(at + 2),
                _ => None,
            });
            end.and_then(|end| body.get(end..)).unwrap_or(body)
        }
        '\u{20}'..='\u{2f}' if first == '\u{1b}' => {
            let end = body.find(|c: char| !('\u{20}'..='\u{2f}').contains(&c)).unwrap_or(body.len());
            body.get(end..)
                .map_or("", |body| body.strip_prefix(|c: char| c.is_ascii_graphic()).unwrap_or(body))
        }
        '\u{30}'..='\u{7e}' if first == '\u{1b}' => body,
        _ => rest,
    }
}

/// Characters that mean something to one font only, and what is no character.
const fn is_private(c: char) -> bool {
    let code = c as u32;
    matches!(code, 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0xf0000..) || code & 0xfffe == 0xfffe
}

/// Tags, markers of a conversation, fences, links and addresses in a form that nothing acts on.
fn neutral(text: &str, flags: &mut Flags) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut open = 0_usize;
    let mut line_start = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if line_start && let Some(label) = role_label(rest) {
            flags.insert(Flag::Instruction);
            out.push_str(&format!("({})", rest.get(..label).unwrap_or_default()));
            rest = rest.get(label..).unwrap_or_default();
            line_start = false;
            continue;
        }
        line_start = c == '\n' || line_start && (c.is_whitespace() || "#*>-".contains(c));
        if let Some(bracket) = bracket(c, rest) {
            rest = angle(rest, bracket, &mut out, &mut open, flags);
            continue;
        }
        rest = match c {
            'w' | 'W' if begins_host(rest) && !out.ends_with(in_host) => {
                flags.insert(Flag::Url);
                out.push_str(rest.get(..3).unwrap_or_default());
                out.push_str("[.]");
                rest.get(4..).unwrap_or_default()
            }
            // A browser takes them for the dot of a host's name.
            '。' | '．' | '｡' if out.ends_with(in_host) && after.starts_with(in_host) => {
                flags.insert(Flag::Url);
                out.push_str("[.]");
                after
            }
            '[' => match bracketed_role(after) {
                Some(length) => {
                    flags.insert(Flag::Markup);
                    out.push('‹');
                    out.push_str(after.get(..length).unwrap_or_default());
                    out.push('›');
                    after.get(length + 1..).unwrap_or_default()
                }
                None => {
                    out.push(c);
                    after
                }
            },
            ']' | '!' if after.starts_with(if c == ']' { '(' } else { '[' }) => {
                flags.insert(Flag::Markup);
                out.push(c);
                out.push(' ');
                after
            }
            '`' | '~' if rest.starts_with("```") || rest.starts_with("~~~") => {
                let fence = rest.len() - rest.trim_start_matches(c).len();
                out.push_str(&"'".repeat(fence));
                rest.get(fence..).unwrap_or_default()
            }
            ':' if after.starts_with("//") || ends_in_scheme(&out) && !after.starts_with([' ', '\n']) => {
                flags.insert(Flag::Url);
                // The mark's own brackets must not make an image or a link of what stands around it.
                out.push_str(if out.ends_with('!') { " [:]" } else { "[:]" });
                if after.starts_with('(') {
                    out.push(' ');
                }
                after
            }
            c => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// What is, looks like or stands for `<` or `>`, and its length in bytes.
#[derive(Clone, Copy)]
enum Bracket {
    Opens(usize),
    Closes(usize),
}

const OPENING: &str = "<＜﹤‹ᐸ〈〈⟨❮❬⧼˂≺";
const CLOSING: &str = ">＞﹥›ᐳ〉〉⟩❯❭⧽˃≻";
/// How the two are written for a browser, behind the `&` and without what ends it.
const OPENING_NAMES: [&str; 3] = ["lt", "#60", "#x3c"];
const CLOSING_NAMES: [&str; 3] = ["gt", "#62", "#x3e"];

fn bracket(c: char, rest: &str) -> Option<Bracket> {
    if c == '&' {
        return entity(rest, &OPENING_NAMES)
            .map(Bracket::Opens)
            .or_else(|| entity(rest, &CLOSING_NAMES).map(Bracket::Closes));
    }
    let length = c.len_utf8();
    match c {
        c if OPENING.contains(c) => Some(Bracket::Opens(length)),
        c if CLOSING.contains(c) => Some(Bracket::Closes(length)),
        _ => None,
    }
}

/// The length of `&lt;`, `&#0060;`, `&amp;lt;` and the like at the start of a text.
fn entity(rest: &str, names: &[&str]) -> Option<usize> {
    let mut body = rest.strip_prefix('&')?;
    while let Some(after) = strip_ignoring_case(body, "amp;") {
        body = after;
    }
    let after = names.iter().find_map(|name| {
        let digits = name.trim_start_matches(['#', 'x']);
        let mark = name.strip_suffix(digits).unwrap_or_default();
        let number = strip_ignoring_case(body, mark)?;
        let number = if mark.is_empty() { number } else { number.trim_start_matches('0') };
        strip_ignoring_case(number, digits)?.strip_prefix(';')
    })?;
    rest.len().checked_sub(after.len())
}

fn strip_ignoring_case<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (before, after) = text.split_at_checked(start.len())?;
    before.eq_ignore_ascii_case(start).then_some(after)
}

/// Writes a bracket, a harmless one where it belongs to a tag; gives what follows it.
fn angle<'t>(
    rest: &'t str,
    bracket: Bracket,
    out: &mut String,
    open: &mut usize,
    flags: &mut Flags,
) -> &'t str {
    let (Bracket::Opens(length) | Bracket::Closes(length)) = bracket;
    let (own, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    match bracket {
        Bracket::Opens(_) if begins_tag(after) => {
            // A plain one may be code; one in disguise is not.
            if own != "<" || is_telling(after) {
                flags.insert(Flag::Markup);
            }
            *open += 1;
            out.push('‹');
        }
        Bracket::Closes(_) if *open > 0 => {
            *open -= 1;
            out.push('›');
        }
        Bracket::Opens(_) | Bracket::Closes(_) => out.push_str(own),
    }
    after
}

/// `www.` and a name behind it: what many programs take for an address.
fn begins_host(rest: &str) -> bool {
    strip_ignoring_case(rest, "www").is_some_and(|after| {
        after.strip_prefix('.').is_some_and(|name| name.starts_with(|c: char| c.is_alphanumeric()))
    })
}

const fn in_host(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Whether what follows a `<` makes a tag of it.
fn begins_tag(after: &str) -> bool {
    let next = after.trim_start().chars().next();
    next.is_some_and(|c| c.is_alphabetic() || "/!?|_<＜﹤＿／｜".contains(c))
}

/// Whether the name of a tag is one that something acts on.
fn is_telling(after: &str) -> bool {
    let name: String = after.chars().take(40).take_while(|c| !CLOSING.contains(*c)).collect();
    let name = name.to_lowercase();
    TELLING.iter().any(|part| name.contains(part))
}

/// `INST]`, `/INST]`: the length of what stands before the bracket.
fn bracketed_role(after: &str) -> Option<usize> {
    let (end, _) = after.char_indices().take(MAX_ROLE).find(|(_, c)| *c == ']')?;
    let inside = after.get(..end)?;
    let word = inside.strip_prefix('/').unwrap_or(inside).trim();
    ROLES.iter().any(|role| word.eq_ignore_ascii_case(role)).then_some(inside.len())
}

/// `Human:` at the start of a line: the length of the word.
fn role_label(rest: &str) -> Option<usize> {
    let length = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, after) = rest.split_at_checked(length)?;
    let after = after.trim_start_matches([' ', '*', '_']);
    let role = ROLES.iter().any(|role| word.eq_ignore_ascii_case(role));
    (role && after.starts_with([':', '：'])).then_some(length)
}

fn ends_in_scheme(out: &str) -> bool {
    SCHEMES.iter().any(|scheme| {
        let start = out.len().checked_sub(scheme.len());
        start.and_then(|start| out.split_at_checked(start)).is_some_and(|(before, word)| {
            word.eq_ignore_ascii_case(scheme) && !before.ends_with(|c: char| c.is_alphanumeric())
        })
    })
}

#[cfg(test)]
mod tests;
