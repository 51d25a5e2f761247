//! Code as a tree of brackets: names, numbers, strings with what is filled into them, signs, ends of lines.
//!
//! What cannot be read for certain (a string without an end, letters beyond ASCII in a name, a declared encoding) is not read at all.

use super::Language;

/// Longest code that is read, in bytes, and how deep its brackets may lie in one another.
const MAX_CODE: usize = 64 * 1024;
const MAX_DEPTH: usize = 40;

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node<'c> {
    Name(&'c str),
    Number(&'c str),
    Text(Vec<Fill<'c>>),
    Regex,
    /// One sign, of as many characters as mean something of their own (`==`, `=>`).
    Sign(&'c str),
    /// What stands in brackets, and the opening one.
    Group(char, Vec<Node<'c>>),
    /// The end of a line, outside of round and square brackets.
    Line,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fill<'c> {
    Said(String),
    Code(Vec<Node<'c>>),
}

impl<'c> Node<'c> {
    pub fn name(&self) -> Option<&'c str> {
        match self {
            Node::Name(name) => Some(name),
            _ => None,
        }
    }

    pub fn is(&self, sign: &str) -> bool {
        matches!(self, Node::Sign(found) if *found == sign)
    }

    pub fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// What stands in brackets of that kind.
    pub fn inside(&self, open: char) -> Option<&[Node<'c>]> {
        match self {
            Node::Group(found, inside) if *found == open => Some(inside),
            _ => None,
        }
    }
}

/// The tree of a text; none for one that is not read for certain.
pub(super) fn read(code: &str, language: Language) -> Option<Vec<Node<'_>>> {
    let declared = |line: &str| line.trim_start().starts_with('#') && line.contains("coding");
    if code.len() > MAX_CODE
        || language == Language::Python && code.lines().take(2).any(declared)
        // What the web took for comments once.
        || language == Language::JavaScript && (code.contains("<!--") || code.contains("-->"))
        // Ends of lines that are none elsewhere.
        || code.contains(['\u{2028}', '\u{2029}', '\u{b}', '\u{0}'])
    {
        return None;
    }
    let rest = match code.strip_prefix("#!") {
        Some(line) if language == Language::JavaScript => line.find('\n').and_then(|end| line.get(end..))?,
        _ => code,
    };
    let mut reader = Reader { rest, language };
    reader.nodes(None, 0)
}

struct Reader<'c> {
    rest: &'c str,
    language: Language,
}

impl<'c> Reader<'c> {
    /// What stands up to the closing bracket, which is taken too.
    fn nodes(&mut self, open: Option<char>, depth: usize) -> Option<Vec<Node<'c>>> {
        let mut out = Vec::new();
        if depth > MAX_DEPTH {
            return None;
        }
        let lines = match (open, self.language) {
            (None, _) | (Some('{'), Language::JavaScript) => true,
            (Some(_), _) => false,
        };
        loop {
            self.blanks()?;
            let Some(c) = self.rest.chars().next() else {
                return open.is_none().then_some(out);
            };
            match c {
                '\n' => {
                    self.skip(1)?;
                    if lines {
                        out.push(Node::Line);
                    }
                }
                '(' | '[' | '{' => {
                    self.skip(1)?;
                    let inside = self.nodes(Some(c), depth.saturating_add(1))?;
                    out.push(Node::Group(c, inside));
                }
                ')' | ']' | '}' => {
                    let fits = matches!((open?, c), ('(', ')') | ('[', ']') | ('{', '}'));
                    self.skip(1)?;
                    return fits.then_some(out);
                }
                '"' | '\'' => {
                    if out.last().and_then(Node::name).is_some_and(|name| !stands_before_text(name)) {
                        return None;
                    }
                    out.push(self.text("", depth)?);
                }
                '`' if self.language == Language::JavaScript => out.push(self.text("", depth)?),
                '/' if self.language == Language::JavaScript && begins_regex(&out)? => {
                    self.regex()?;
                    out.push(Node::Regex);
                }
                c if c.is_ascii_digit() => out.push(Node::Number(self.word())),
                c if c.is_ascii_alphabetic() || c == '_' || c == '$' => {
                    let name = self.word();
                    let prefix = self.language == Language::Python
                        && self.rest.starts_with(['"', '\''])
                        && name.len() <= 2
                        && name.bytes().all(|byte| b"rRbBfFuU".contains(&byte));
                    out.push(if prefix { self.text(name, depth)? } else { Node::Name(name) });
                }
                c if c.is_ascii_punctuation() && c != '\\' => {
                    let sign = self.sign()?;
                    // `!ls` and `%run x` are lines of a notebook; `{name!r}` stands in a string.
                    let notebook = matches!(sign, "!" | "?" | "`")
                        || sign == "%" && matches!(out.last(), None | Some(Node::Line));
                    if self.language == Language::Python && notebook && open != Some('{') {
                        return None;
                    }
                    out.push(Node::Sign(sign));
                }
                _ => return None,
            }
        }
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    fn word(&mut self) -> &'c str {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'));
        let (word, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len())).unwrap_or_default();
        self.rest = rest;
        word
    }

    fn sign(&mut self) -> Option<&'c str> {
        const LONG: &[&str] = &[
            "===", "!==", "...", "**=", "//=", ">>>", "==", "!=", "<=", ">=", "->", ":=", "+=", "-=", "*=",
            "/=", "|=", "&=", "%=", "=>", "&&", "||", "??", "?.", "**", "++", "--", "<<", ">>",
        ];
        let python = self.language == Language::Python;
        let long = LONG.iter().find(|sign| self.rest.starts_with(**sign) && !(python && **sign == "++"));
        let length = long.map_or(1, |sign| sign.len());
        let (sign, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(sign)
    }

    /// Blanks, comments, and a line that goes on.
    fn blanks(&mut self) -> Option<()> {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\u{c}']);
            let comment = match self.language {
                Language::Python => rest.starts_with('#'),
                Language::JavaScript => rest.starts_with("//"),
            };
            self.rest = if comment {
                rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default()
            } else if self.language == Language::Python && rest.starts_with("\\\n") {
                rest.get(2..)?
            } else if self.language == Language::JavaScript && rest.starts_with("/*") {
                let end = rest.find("*/")?;
                rest.get(end.checked_add(2)?..)?
            } else {
                self.rest = rest;
                return Some(());
            };
        }
    }

    /// A string, from its quote on; the letters in front of it are taken already.
    fn text(&mut self, prefix: &str, depth: usize) -> Option<Node<'c>> {
        let open = self.rest.chars().next()?;
        let triple = match open {
            '"' => "\"\"\"",
            '\'' => "'''",
            _ => "```",
        };
        let python = self.language == Language::Python;
        let long = python && self.rest.starts_with(triple);
        let close = triple.get(..if long { 3 } else { 1 })?;
        let raw = prefix.contains(['r', 'R']);
        let formed = prefix.contains(['f', 'F']);
        self.skip(close.len())?;
        let mut parts = Vec::new();
        let mut said = String::new();
        loop {
            if self.rest.starts_with(close) {
                self.skip(close.len())?;
                break;
            }
            let c = self.rest.chars().next()?;
            match c {
                '\n' if !long && open != '`' => return None,
                '\\' => {
                    self.skip(1)?;
                    self.escape(raw, &mut said)?;
                }
                '{' | '}' if formed && self.rest.get(1..)?.starts_with(c) => {
                    said.push(c);
                    self.skip(2)?;
                }
                '{' if formed => {
                    self.skip(1)?;
                    parts.push(Fill::Said(std::mem::take(&mut said)));
                    parts.push(Fill::Code(self.nodes(Some('{'), depth.saturating_add(1))?));
                }
                '$' if open == '`' && self.rest.starts_with("${") => {
                    self.skip(2)?;
                    parts.push(Fill::Said(std::mem::take(&mut said)));
                    parts.push(Fill::Code(self.nodes(Some('{'), depth.saturating_add(1))?));
                }
                c => {
                    said.push(c);
                    self.skip(c.len_utf8())?;
                }
            }
        }
        parts.push(Fill::Said(said));
        Some(Node::Text(parts))
    }

    /// What a backslash and what stands behind it say.
    fn escape(&mut self, raw: bool, said: &mut String) -> Option<()> {
        let c = self.rest.chars().next()?;
        if raw {
            said.push('\\');
            if matches!(c, '"' | '\'' | '\\') {
                said.push(c);
                self.skip(1)?;
            }
            return Some(());
        }
        self.skip(c.len_utf8())?;
        let number = |reader: &mut Self, from: usize, most: usize, radix: u32| {
            let digits = reader.rest.get(from..)?;
            let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len()).min(most);
            let value = u32::from_str_radix(digits.get(..end)?, radix).ok()?;
            reader.skip(from.checked_add(end)?)?;
            char::from_u32(value)
        };
        match c {
            'n' => said.push('\n'),
            't' => said.push('\t'),
            'r' => said.push('\r'),
            '\n' => {}
            'x' => said.push(number(self, 0, 2, 16)?),
            'u' if self.rest.starts_with('{') => {
                said.push(number(self, 1, 6, 16)?);
                self.skip(1)?;
            }
            'u' => said.push(number(self, 0, 4, 16)?),
            'U' => said.push(number(self, 0, 8, 16)?),
            // Signs by their names: `\N{SOLIDUS}`.
            'N' => return None,
            c if c.is_digit(8) => {
                let first = c.to_digit(8)?;
                let mut value = first;
                for _ in 0..2 {
                    let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)) else { break };
                    value = value.checked_mul(8)?.checked_add(digit)?;
                    self.skip(1)?;
                }
                said.push(char::from_u32(value)?);
            }
            '\\' | '\'' | '"' | '`' | '$' | '/' => said.push(c),
            c if self.language == Language::JavaScript => said.push(c),
            c => said.extend(['\\', c]),
        }
        Some(())
    }

    fn regex(&mut self) -> Option<()> {
        self.skip(1)?;
        let mut class = false;
        loop {
            let c = self.rest.chars().next()?;
            self.skip(c.len_utf8())?;
            match c {
                '\n' => return None,
                '\\' => {
                    let next = self.rest.chars().next()?;
                    self.skip(next.len_utf8())?;
                }
                '[' => class = true,
                ']' => class = false,
                '/' if !class => break,
                _ => {}
            }
        }
        self.word();
        Some(())
    }
}

/// Whether a name is a word of the language behind which a string may stand. With any other it is no code of these languages.
fn stands_before_text(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "return", "case", "in", "of", "not", "and", "or", "if", "else", "elif", "is", "yield", "assert",
        "del", "raise", "with", "from", "import", "await", "while", "except", "typeof", "export", "default",
        "throw", "do", "delete", "void", "extends", "as", "static", "get", "set", "match", "async", "new",
    ];
    WORDS.contains(&name)
}

/// Whether a slash behind that begins a regular expression. None where it may be a division as well.
fn begins_regex(before: &[Node<'_>]) -> Option<bool> {
    const WORDS: &[&str] =
        &["return", "typeof", "case", "in", "delete", "void", "instanceof", "new", "throw", "else", "do"];
    const EITHER: &[&str] = &["of", "await", "yield", "async", "get", "set", "static", "let", "as"];
    let member = |at: usize| before.get(at).is_some_and(|node| node.is(".") || node.is("?."));
    let last = before.len().checked_sub(1);
    match before {
        [] => Some(true),
        [.., Node::Sign("++" | "--" | "." | "?." | "!")] => None,
        [.., Node::Sign(_)] => Some(true),
        // A line that ends in a value goes on.
        [front @ .., Node::Line] => match front.iter().rev().find(|node| **node != Node::Line) {
            None | Some(Node::Sign(";" | "," | "=" | "=>" | "&&" | "||" | "?" | ":" | "+")) => Some(true),
            Some(_) => None,
        },
        [.., Node::Name(name)] if WORDS.contains(name) || EITHER.contains(name) => {
            let named = last.and_then(|last| last.checked_sub(1)).is_some_and(member);
            if named || EITHER.contains(name) { None } else { Some(true) }
        }
        [.., Node::Group('{', _)] => None,
        [.., Node::Name("if" | "while" | "for" | "with"), Node::Group('(', _)] => None,
        [.., Node::Name("for"), Node::Name("await"), Node::Group('(', _)] => None,
        [.., Node::Name(_) | Node::Number(_) | Node::Text(_) | Node::Regex | Node::Group(..)] => Some(false),
    }
}
