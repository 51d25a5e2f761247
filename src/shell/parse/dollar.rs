//! What `$` and backticks begin.

use super::super::{Context, Op, Part, Problem};
use super::Parser;
use super::lexer::{Keyword, is_name};
use super::state::{Parse, Scope, Stop};
use super::word::{push_text, unknown};

impl Parser<'_> {
    /// What begins with the `$` here.
    pub(super) fn dollar(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Parse<()> {
        self.pos += 1;
        match self.peek() {
            Some(b'(') => {
                if self.second() == Some(b'(') {
                    return self.dollar_parentheses(parts, quoted);
                }
                let subshell = self.substitution(self.state.scope.inner)?;
                parts.push(Part::Substitution { subshell, quoted });
            }
            Some(b'{') => self.braced(parts, quoted)?,
            Some(b'[') => {
                self.pos += 1;
                let start = self.pos;
                self.arithmetic(b'[', b']')?;
                let source = self.text.get(start..self.pos - 1).unwrap_or_default();
                parts.push(Part::Arithmetic(source.to_owned()));
            }
            Some(b'\'') if !quoted => self.ansi(parts)?,
            Some(b'"') if !quoted => self.double(parts)?,
            Some(byte) if is_name(byte) || is_special(byte) => {
                let name = self.name();
                parts.push(Part::Variable { name, plain: true, default: None, op: Op::Plain, quoted });
            }
            _ => push_text(parts, "$", quoted),
        }
        Ok(())
    }

    /// A parameter's name: an identifier or one special character or digit.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            let first = name.is_empty();
            if !(is_name(byte) || (first && is_special(byte))) {
                break;
            }
            self.pos += 1;
            name.push(char::from(byte));
            if first && (is_special(byte) || byte.is_ascii_digit()) {
                break;
            }
        }
        name
    }

    /// A list of commands in parentheses, from the `(` on, run in a subshell for its output.
    pub(super) fn substitution(&mut self, context: Context) -> Parse<u32> {
        let open = self.pos;
        self.state.enter()?;
        let outer = self.state.scope;
        let subshell = self.open_substitution(context, true);
        let (waiting, urgent) = (std::mem::take(&mut self.state.pending), self.urgent.take());
        self.pos += 1;
        self.list()?;
        if self.byte() != Some(b')') {
            if self.byte().is_some() {
                return Err(self.wrong("a substitution's `)` is missing"));
            }
            self.pos = open;
            return Err(self.wrong(Problem::SUBSTITUTION));
        }
        self.pos += 1;
        self.state.scope = outer;
        self.state.leave();
        self.not_passed(self.pos)?;
        self.urgent = self.urgent.or(urgent);
        if !self.state.pending.is_empty() {
            let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
            self.urgent = rest.iter().position(|byte| *byte == b'\n').map(|length| self.pos + length);
        }
        self.state.pending.extend(waiting);
        Ok(subshell)
    }

    pub(super) fn open_substitution(&mut self, context: Context, closing: bool) -> u32 {
        let outer = self.state.scope;
        let subshell = self.state.subshell(outer.subshell);
        let inner = Context::Substitution;
        self.state.scope = Scope { context, inner, subshell, host: subshell, closing, ..outer };
        subshell
    }

    /// Backticks. `double`: directly in double quotes, where `\"` is unescaped too.
    pub(super) fn backtick(&mut self, parts: &mut Vec<Part>, quoted: bool, double: bool) -> Parse<()> {
        let start = self.pos;
        let (inside, end) = self.unescaped(double)?;
        self.pos = end;
        let origin = self.span(start);
        self.state.enter()?;
        let outer = self.state.scope;
        let subshell = self.open_substitution(outer.inner, false);
        let waiting = std::mem::take(&mut self.state.pending);
        let mark = self.state.here();
        let read = Parser::new(&inside, Some(origin), &mut *self.state).script();
        match read {
            // What the text is put into runs all the same, with nothing in its place.
            Err(Stop::Syntax) if inside.trim_start().starts_with('|') => self.state.resume(&mark),
            read => self.state.behind(&mark, read)?,
        }
        self.state.pending = waiting;
        self.state.scope = outer;
        self.state.leave();
        parts.push(Part::Substitution { subshell, quoted });
        Ok(())
    }

    /// The text between backticks, one level of backslashes removed, and where it ends.
    fn unescaped(&mut self, double: bool) -> Parse<(String, usize)> {
        let mut inside = String::new();
        let mut from = self.pos + 1;
        loop {
            let rest = self.text.get(from..).unwrap_or_default();
            let Some(at) = rest.find(['\\', '`']) else {
                return Err(self.wrong(Problem::BACKTICK));
            };
            inside.push_str(rest.get(..at).unwrap_or_default());
            if rest.as_bytes().get(at) == Some(&b'`') {
                return Ok((inside, from + at + 1));
            }
            match rest.as_bytes().get(at + 1) {
                Some(b'\n') => {}
                Some(byte @ (b'$' | b'`' | b'\\')) => inside.push(char::from(*byte)),
                Some(b'"') if double => inside.push('"'),
                Some(_) => {
                    inside.push('\\');
                    from += at + 1;
                    continue;
                }
                None => return Err(self.wrong(Problem::BACKTICK)),
            }
            from += at + 2;
        }
    }

    /// `${…}`, from its `{` on.
    fn braced(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Parse<()> {
        self.state.enter()?;
        self.pos += 1;
        let Scope { conditional, branched, .. } = self.state.scope;
        match self.peek() {
            Some(b' ' | b'\t' | b'\n' | b'|') => {
                self.pos += usize::from(self.byte() == Some(b'|'));
                let outer = self.state.scope;
                let subshell = self.open_substitution(outer.inner, false);
                self.list()?;
                self.expect(Keyword::Close, "the `}` of `${ …; }` is missing")?;
                self.state.scope = outer;
                parts.push(Part::Substitution { subshell, quoted });
            }
            _ => {
                let part = self.parameter(quoted)?;
                parts.push(part);
            }
        }
        self.state.scope = Scope { conditional, branched, ..self.state.scope };
        self.state.leave();
        Ok(())
    }

    /// The inside of `${…}` and its `}`.
    fn parameter(&mut self, quoted: bool) -> Parse<Part> {
        let first = self.peek();
        let mut computed = false;
        if let Some(b'#' | b'!') = first {
            computed = self.second().is_some_and(|next| is_name(next) || (is_special(next) && next != b'-'));
            if computed {
                self.pos += 1;
            }
        }
        // `${$(…)}`: what follows is no name.
        let opens =
            self.peek() == Some(b'$') && matches!(self.second(), Some(b'(' | b'{' | b'[' | b'\'' | b'"'));
        let mut name = if opens { String::new() } else { self.name() };
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            while let Some(digit) = self.peek().filter(|_| !name.is_empty()).filter(u8::is_ascii_digit) {
                self.pos += 1;
                name.push(char::from(digit));
            }
        }
        // A subscript is not looked at: in here only `}` closes, whatever the brackets.
        let subscript = self.peek() == Some(b'[');
        let indirect = computed;
        computed |= subscript;
        let op = if name.is_empty() { Op::Other } else { self.operator() };
        let word = self.pos;
        if matches!(op, Op::Default { .. } | Op::Assign { .. } | Op::Alternative { .. } | Op::Error { .. }) {
            self.state.scope.branch();
        }
        if matches!(op, Op::Assign { .. }) {
            self.state.assigned.insert(name.clone());
        }
        let trims = matches!(op, Op::Trim { .. });
        let outer = self.state.scope.inner;
        if subscript {
            self.state.scope.inner = Context::Arithmetic;
        }
        self.operand_until_brace(quoted, subscript || (quoted && !trims))?;
        self.state.scope.inner = outer;
        let text = self.text.get(word..self.pos - 1).unwrap_or_default();
        if (subscript || matches!(op, Op::Slice(_))) && text.contains(['\\', '\'']) {
            // Quoted or not, it is evaluated as a subscript is.
            let parts = super::fragment(text, quoted).unwrap_or_default();
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                Part::Variable { .. }
                | Part::Substitution { .. }
                | Part::Process { .. }
                | Part::Arithmetic(_) => None,
            });
            let plain: String = std::iter::once("[").chain(texts).collect();
            self.evaluated_text(&plain, self.span(word))?;
        }
        let op = match computed {
            true if subscript && !indirect => Op::Element(String::new()),
            true if subscript && first == Some(b'!') => Op::Keys(String::new()),
            true if first == Some(b'!') && !subscript && matches!(op, Op::Plain) => Op::Indirect,
            true => Op::Other,
            false => op,
        };
        Ok(variable(name, op, text, quoted))
    }

    /// The operator behind a parameter's name.
    fn operator(&mut self) -> Op {
        let start = self.pos;
        let op = match self.peek() {
            Some(b'}') => return Op::Plain,
            Some(b':') => match self.second() {
                Some(b'-') => Op::Default { colon: true },
                Some(b'=') => Op::Assign { colon: true },
                Some(b'+') => Op::Alternative { colon: true },
                Some(b'?') => Op::Error { colon: true },
                _ => {
                    self.pos += 1;
                    return Op::Slice(String::new());
                }
            },
            Some(b'-') => Op::Default { colon: false },
            Some(b'=') => Op::Assign { colon: false },
            Some(b'+') => Op::Alternative { colon: false },
            Some(b'?') => Op::Error { colon: false },
            Some(sign @ (b'#' | b'%')) => {
                let longest = self.second() == Some(sign);
                self.take(&[sign]);
                if longest {
                    self.take(&[sign]);
                }
                return Op::Trim { suffix: sign == b'%', longest, pattern: String::new() };
            }
            Some(b'/' | b'^' | b',' | b'@') => return Op::Change(String::new()),
            _ => return Op::Other,
        };
        self.pos = start;
        self.peek();
        if self.byte() == Some(b':') {
            self.pos += 1;
            self.peek();
        }
        self.pos += 1;
        op
    }

    /// Text as in `${NAME:-text}`, up to the `}`. `literal`: a single quote quotes nothing, though its end is looked for.
    fn operand_until_brace(&mut self, quoted: bool, literal: bool) -> Parse<()> {
        let mut ignored = Vec::new();
        while let Some(byte) = self.peek() {
            let start = self.pos;
            if byte == b'}' {
                self.pos += 1;
                return Ok(());
            }
            if matches!(byte, b'<' | b'>') && self.second() == Some(b'(') {
                self.process(&mut ignored)?;
                // bash before 5.2 ends the parameter at the first brace, also in here.
                if self.since(start).contains('}') {
                    return Err(self.wrong("a brace in a process substitution in `${`"));
                }
            } else {
                self.operand_step(&mut ignored, quoted, literal)?;
            }
            ignored.clear();
        }
        Err(self.wrong("the `}` of `${` is missing"))
    }

    /// The whole text, as the operand of `${NAME:-…}`.
    pub(super) fn operand(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Parse<()> {
        while let Some(byte) = self.peek() {
            if !quoted && matches!(byte, b'<' | b'>') && self.second() == Some(b'(') {
                self.process(parts)?;
            } else {
                self.operand_step(parts, quoted, quoted)?;
            }
        }
        Ok(())
    }

    fn operand_step(&mut self, parts: &mut Vec<Part>, quoted: bool, literal: bool) -> Parse<()> {
        let start = self.pos;
        match self.byte() {
            Some(b'\'') if literal => {
                self.pass_single()?;
                push_text(parts, "'", true);
                self.expansions_in(parts, start + 1, self.pos - 1)?;
                push_text(parts, "'", true);
            }
            Some(b'$') if self.second() == Some(b'\'') && quoted => {
                self.pos += 1;
                self.peek();
                let inside = self.pos + 1;
                self.pass_ansi()?;
                self.expansions_in(parts, inside, self.pos - 1)?;
            }
            Some(b'"') => self.double(parts)?,
            Some(b'\'') => {
                self.pass_single()?;
                push_text(parts, self.text.get(start + 1..self.pos - 1).unwrap_or_default(), true);
            }
            Some(b'$') => self.dollar(parts, quoted)?,
            Some(b'`') => self.backtick(parts, quoted, quoted)?,
            Some(b'\\') => {
                let next = self.text.get(start + 1..).and_then(|rest| rest.chars().next());
                self.pos += 1 + next.map_or(0, char::len_utf8);
                let keep = quoted && !matches!(next, Some('\\' | '$' | '`' | '"' | '}'));
                push_text(parts, self.since(if keep { start } else { start + 1 }), true);
            }
            _ => {
                let rest = self.text.as_bytes().get(start..).unwrap_or_default();
                let special = |(at, byte): (usize, &u8)| {
                    at > 0 && matches!(byte, b'}' | b'\\' | b'\'' | b'"' | b'$' | b'`' | b'<' | b'>')
                };
                self.pos += rest.iter().enumerate().position(special).unwrap_or(rest.len());
                push_text(parts, self.since(start), quoted);
            }
        }
        Ok(())
    }

    /// Reads a range as if it stood in double quotes. What is wrong in there is wrong only when it runs.
    pub(super) fn expansions_in(&mut self, parts: &mut Vec<Part>, start: usize, end: usize) -> Parse<()> {
        let mark = self.state.here();
        let text = self.text.get(..end).unwrap_or_default();
        let mut inner = Parser::new(text, self.origin, &mut *self.state);
        inner.pos = start;
        while inner.peek().is_some() {
            match inner.in_double(parts, b"\"") {
                Ok(()) => {}
                Err(Stop::Syntax) => {
                    parts.push(unknown(""));
                    break;
                }
                Err(Stop::Bound) => return Err(Stop::Bound),
            }
        }
        self.urgent = inner.urgent.or(self.urgent);
        self.state.resume(&mark);
        Ok(())
    }
}

fn variable(name: String, op: Op, text: &str, quoted: bool) -> Part {
    let (mut op, mut default) = (op, None);
    match &mut op {
        Op::Default { .. } | Op::Assign { .. } | Op::Alternative { .. } => default = Some(text.to_owned()),
        Op::Trim { pattern: source, .. }
        | Op::Slice(source)
        | Op::Element(source)
        | Op::Keys(source)
        | Op::Change(source) => text.clone_into(source),
        Op::Plain | Op::Error { .. } | Op::Indirect | Op::Other => {}
    }
    Part::Variable { name, plain: op == Op::Plain, default, op, quoted }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
