//! The tokens of code in one of several languages.

use std::borrow::Cow;

/// How a language writes its strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules::builtin) enum Language {
    Python,
    /// JavaScript and what is like it.
    Script,
    Ruby,
    Perl,
    Php,
    Lua,
    Awk,
}

impl Language {
    /// The language of an interpreter; none for one whose strings are not read.
    pub fn of(program: &str) -> Option<Language> {
        let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Some(match name {
            "python" | "pypy" | "ipython" | "uv" => Language::Python,
            "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "mongosh" | "mongo" | "Rscript"
            | "R" => Language::Script,
            "ruby" | "jruby" | "irb" => Language::Ruby,
            "perl" => Language::Perl,
            "php" => Language::Php,
            "lua" | "luajit" => Language::Lua,
            "awk" | "gawk" | "mawk" | "nawk" => Language::Awk,
            _ => return None,
        })
    }

    /// Whether two strings side by side are one.
    pub fn joins_neighbours(self) -> bool {
        matches!(self, Language::Python | Language::Ruby | Language::Awk)
    }

    fn has_comment(self, rest: &str) -> bool {
        match self {
            Language::Python | Language::Ruby | Language::Awk | Language::Perl => rest.starts_with('#'),
            Language::Script => rest.starts_with("//"),
            Language::Php => rest.starts_with("//") || rest.starts_with('#'),
            Language::Lua => rest.starts_with("--"),
        }
    }

    /// Whether names begin with a sign of their own.
    fn marks_names(self) -> bool {
        matches!(self, Language::Perl | Language::Php)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Token<'c> {
    Text {
        value: String,
        /// As it stands in the code; none when it says something else there.
        raw: Option<&'c str>,
        quote: char,
        /// Names in it are filled in.
        formed: bool,
    },
    Name(Cow<'c, str>),
    Number(&'c str),
    Sign(char),
}

impl Token<'_> {
    pub fn name(&self) -> Option<&str> {
        match self {
            Token::Name(name) => Some(name),
            Token::Text { .. } | Token::Number(_) | Token::Sign(_) => None,
        }
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Token::Text { raw: Some(raw), .. } => out.push_str(raw),
            Token::Text { value, raw: None, quote, .. } => write_text(value, *quote, out),
            Token::Name(name) => out.push_str(name),
            Token::Number(number) => out.push_str(number),
            Token::Sign(sign) => out.push(*sign),
        }
    }
}

/// A string in quotes that it does not hold, if there are such.
fn write_text(value: &str, quote: char, out: &mut String) {
    let quote = match quote {
        quote if !value.contains(quote) => quote,
        _ if !value.contains('\'') => '\'',
        _ if !value.contains('"') => '"',
        quote => quote,
    };
    out.push(quote);
    for c in value.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// A token, and the blanks and comments in front of it.
#[derive(Debug, Clone)]
pub(super) struct Placed<'c> {
    pub token: Token<'c>,
    pub space: &'c str,
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn tokens(code: &str, language: Language) -> Vec<Placed<'_>> {
    let mut out: Vec<Placed<'_>> = Vec::new();
    let mut depth = 0_usize;
    let mut rest = code;
    loop {
        let (space, behind) = blanks(rest, language, depth > 0);
        let Some(c) = behind.chars().next() else { break };
        let (token, length) = if language == Language::Lua && behind.starts_with("[[") {
            long_text(behind)
        } else if matches!(c, '"' | '\'') || c == '`' && language == Language::Script {
            text(behind, "", language)
        } else if c.is_ascii_digit() {
            let end = behind.find(|c: char| !is_name(c)).unwrap_or(behind.len());
            (Token::Number(behind.get(..end).unwrap_or_default()), end)
        } else if is_name(c) || c == '$' && language.marks_names() {
            named(behind, language)
        } else {
            depth = match c {
                '(' | '[' => depth + 1,
                ')' | ']' => depth.saturating_sub(1),
                _ => depth,
            };
            sign(behind, c, language)
        };
        rest = behind.get(length..).unwrap_or_default();
        out.push(Placed { token, space });
    }
    out
}

/// The sign of a language that joins strings is always a plus.
fn sign(rest: &str, c: char, language: Language) -> (Token<'_>, usize) {
    match language {
        Language::Lua if rest.starts_with("..") => (Token::Sign('+'), 2),
        Language::Perl | Language::Php if c == '.' => (Token::Sign('+'), 1),
        Language::Perl | Language::Php if rest.starts_with("->") => (Token::Sign('.'), 2),
        _ => (Token::Sign(c), c.len_utf8()),
    }
}

/// Blanks and comments; the end of a line is a token outside of brackets.
fn blanks(rest: &str, language: Language, within: bool) -> (&str, &str) {
    let mut at = 0;
    while let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        let behind = rest.get(at..).unwrap_or_default();
        if language.has_comment(behind) {
            at += behind.find('\n').unwrap_or(behind.len());
        } else if c.is_whitespace() && (c != '\n' || within) {
            at += c.len_utf8();
        } else {
            break;
        }
    }
    rest.split_at_checked(at).unwrap_or(("", rest))
}

/// A name, or a string with letters in front of it: `f'…'`, `q{…}`.
fn named(rest: &str, language: Language) -> (Token<'_>, usize) {
    let marks = usize::from(rest.starts_with('$'));
    let behind = rest.get(marks..).unwrap_or_default();
    let end = marks + behind.find(|c| !is_name(c)).unwrap_or(behind.len());
    let (name, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let python = language == Language::Python
        && name.len() <= 2
        && name.bytes().all(|byte| b"rRbBfFuU".contains(&byte))
        && tail.starts_with(['"', '\'']);
    let perl = language == Language::Perl && matches!(name, "q" | "qq") && tail.starts_with(['{', '(', '[']);
    if python || perl {
        return text(rest, name, language);
    }
    (Token::Name(name.into()), end.max(1))
}

/// A string that begins with these letters, and its length.
fn text<'c>(rest: &'c str, prefix: &str, language: Language) -> (Token<'c>, usize) {
    let inside = rest.get(prefix.len()..).unwrap_or_default();
    let Some(open) = inside.chars().next() else { return (Token::Sign(' '), 1) };
    let triple =
        language == Language::Python && [r#"""""#, "'''"].iter().any(|quote| inside.starts_with(quote));
    let close: String = match open {
        '{' => "}".to_owned(),
        '(' => ")".to_owned(),
        '[' => "]".to_owned(),
        _ => open.to_string().repeat(if triple { 3 } else { 1 }),
    };
    let bare = prefix.contains(['r', 'R']);
    let body = inside.get(close.len()..).unwrap_or_default();
    let (value, spelled, end) = unescaped(body, &close, bare, language);
    let length = prefix.len() + close.len() + end;
    let formed = match language {
        Language::Python => prefix.contains(['f', 'F']),
        Language::Script => open == '`',
        Language::Ruby | Language::Perl | Language::Php => open == '"' || prefix == "qq",
        Language::Lua | Language::Awk => false,
    };
    let raw = if spelled { None } else { rest.get(..length) };
    let quote = if matches!(open, '"' | '\'' | '`') { open } else { '\'' };
    (Token::Text { value, raw, quote, formed }, length)
}

/// `[[…]]` of Lua.
fn long_text(rest: &str) -> (Token<'_>, usize) {
    let body = rest.get(2..).unwrap_or_default();
    let end = body.find("]]").unwrap_or(body.len());
    let value = body.get(..end).unwrap_or_default().to_owned();
    (Token::Text { value, raw: None, quote: '\'', formed: false }, (end + 4).min(rest.len()))
}

/// What a string says, whether it says plain letters by their numbers, and where it ends, its quote with it.
fn unescaped(body: &str, close: &str, bare: bool, language: Language) -> (String, bool, usize) {
    let (mut value, mut spelled, mut at) = (String::new(), false, 0);
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(close) {
            return (value, spelled, at + close.len());
        }
        let c = rest.chars().next().unwrap_or_default();
        if c != '\\' {
            value.push(c);
            at += c.len_utf8();
            continue;
        }
        let behind = rest.get(1..).unwrap_or_default();
        if !bare && let Some((letter, length)) = numbered(behind, language) {
            spelled |= letter.is_ascii_graphic();
            value.push(letter);
            at += 1 + length;
            continue;
        }
        let Some(next) = behind.chars().next() else { break };
        match next {
            'n' if !bare => value.push('\n'),
            't' if !bare => value.push('\t'),
            '\n' if !bare => {}
            '\\' | '\'' | '"' if !bare => value.push(next),
            _ => value.extend(['\\', next]),
        }
        at += 1 + next.len_utf8();
    }
    (value, spelled, body.len())
}

/// The letter that a backslash and a number stand for, and how long the number is. None for a NUL byte, which no command, path or name
/// holds: it stays as it is written.
fn numbered(rest: &str, language: Language) -> Option<(char, usize)> {
    let digits = |from: usize, most: usize, radix: u32| {
        let text = rest.get(from..)?;
        let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len()).min(most);
        let number = u32::from_str_radix(text.get(..end)?, radix).ok()?;
        Some((char::from_u32(number).filter(|letter| *letter != '\0')?, from + end))
    };
    match rest.chars().next()? {
        'x' => digits(1, 2, 16),
        'u' if rest.starts_with("u{") => digits(2, 6, 16).map(|(letter, end)| (letter, end + 1)),
        'u' => digits(1, 4, 16),
        c if c.is_ascii_digit() && language == Language::Lua => digits(0, 3, 10),
        c if c.is_digit(8) => digits(0, 3, 8),
        _ => None,
    }
}
