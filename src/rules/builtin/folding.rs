//! Code with its strings written out: those that it puts together, decodes, turns round, or gives a name first. Reads tokens only; what
//! it cannot follow is left as it stands. Nothing is judged here.

mod calls;
mod lexer;
mod names;
mod operators;

use calls::Value;
pub(super) use calls::{base64, formatted, hex};
pub(super) use lexer::Language;
use lexer::{Placed, Token};
use names::meant;

/// Longest code that is read.
const MAX_CODE: usize = 8 * 1024;
/// Longest string that is put together, and most that is written in all.
const MAX_TEXT: usize = 4096;
const MAX_OUT: usize = 64 * 1024;
/// How far back the beginning of a bracket is looked for, in tokens.
const MAX_SPAN: usize = 256;
/// Most names that are known by their values.
const MAX_NAMES: usize = 32;

words!("builtin/folding");
/// Python's classes of paths.
const PATHS: &[&str] = &["Path", "PurePath", "PosixPath", "PurePosixPath"];
/// Objects whose members may be asked for by a string.
const GLOBALS: &[&str] = &["global", "globalThis", "window", "self", "__dict__", "__builtins__"];

/// The code with its strings written out; none when that changes nothing.
pub(super) fn folded(code: &str, language: Language) -> Option<String> {
    if code.len() > MAX_CODE || !code.contains(['"', '\'', '`']) && !code.contains("[[") {
        return None;
    }
    let tokens = lexer::tokens(code, language);
    let mut reader = Reader {
        language,
        stack: Vec::new(),
        names: Vec::new(),
        lists: Vec::new(),
        known: Vec::new(),
        changed: false,
        run: Vec::new(),
    };
    reader.changed = tokens.iter().any(|placed| matches!(placed.token, Token::Text { raw: None, .. }));
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(|placed| &placed.token);
        reader.take(token, next);
    }
    reader.settle();
    reader.changed.then(|| reader.written()).flatten()
}

/// What was read so far.
struct Reader<'c> {
    language: Language,
    stack: Vec<Placed<'c>>,
    /// Names, and the strings that they stand for.
    names: Vec<(String, String)>,
    /// Names, and the lists of strings that they stand for.
    lists: Vec<(String, Vec<String>)>,
    /// Names that stand for modules.
    known: Vec<(String, String)>,
    changed: bool,
    /// Strings that are run as code.
    run: Vec<String>,
}

impl<'c> Reader<'c> {
    fn take(&mut self, placed: Placed<'c>, next: Option<&Token<'_>>) {
        let space = placed.space;
        match &placed.token {
            Token::Sign('\n' | ';') => {
                self.settle();
                self.stack.push(placed);
            }
            Token::Name(name) => {
                let token = self.named(name, next);
                self.stack.push(Placed { token: token.unwrap_or(placed.token), space });
            }
            Token::Text { value, quote, raw, formed } => {
                let filled = if *formed { self.filled(value) } else { None };
                let token = match filled {
                    Some(value) => {
                        self.changed |= is_telling(&value);
                        Token::Text { value, quote: *quote, raw: None, formed: false }
                    }
                    None => Token::Text { value: value.clone(), quote: *quote, raw: *raw, formed: *formed },
                };
                self.stack.push(Placed { token, space });
            }
            Token::Sign(_) | Token::Number(_) => self.stack.push(placed),
        }
        while self.step(next) {}
    }

    /// One thing that the end of what was read so far comes to.
    fn step(&mut self, next: Option<&Token<'_>>) -> bool {
        match self.top(0) {
            Some(Token::Text { .. }) => self.joined(next) || self.below() || self.turned(),
            Some(Token::Number(_)) => self.repeated(),
            Some(Token::Sign(')')) => self.called(),
            Some(Token::Sign(']')) => self.indexed() || self.member(),
            Some(Token::Name(_)) => self.method(next),
            Some(Token::Sign(_)) | None => false,
        }
    }

    /// The token so far in front of the last one.
    fn top(&self, back: usize) -> Option<&Token<'c>> {
        self.at(self.stack.len().checked_sub(back + 1)?)
    }

    fn at(&self, index: usize) -> Option<&Token<'c>> {
        self.stack.get(index).map(|placed| &placed.token)
    }

    fn is(&self, back: usize, sign: char) -> bool {
        matches!(self.top(back), Some(Token::Sign(found)) if *found == sign)
    }

    fn text(&self, back: usize) -> Option<&str> {
        match self.top(back) {
            Some(Token::Text { value, .. }) => Some(value),
            Some(Token::Name(_) | Token::Number(_) | Token::Sign(_)) | None => None,
        }
    }

    fn word(&self, back: usize) -> &str {
        self.top(back).and_then(Token::name).unwrap_or_default()
    }

    /// Puts one string in the place of the last so many tokens.
    fn replace(&mut self, count: usize, value: String) -> bool {
        if value.len() > MAX_TEXT || value.contains('\0') {
            return false;
        }
        self.changed |= is_telling(&value);
        let from = self.stack.len().saturating_sub(count);
        let space = self.stack.get(from).map_or("", |placed| placed.space);
        // What was written so that names in it are filled in stays so.
        let filled = |placed: &Placed<'_>| matches!(placed.token, Token::Text { quote: '"', .. });
        let quote = if self.stack.iter().skip(from).any(filled) { '"' } else { '\'' };
        self.stack.truncate(from);
        self.stack.push(Placed { token: Token::Text { value, raw: None, quote, formed: false }, space });
        true
    }

    /// Puts a value in the place of everything from there on.
    fn put(&mut self, from: usize, value: Value) -> bool {
        let items = match value {
            Value::One(text) => return self.replace(self.stack.len().saturating_sub(from), text),
            Value::Many(items) => items,
        };
        self.stack.truncate(from);
        let sign = |sign| Placed { token: Token::Sign(sign), space: "" };
        self.stack.push(sign('['));
        for (at, value) in items.into_iter().enumerate() {
            self.stack.extend((at > 0).then(|| sign(',')));
            self.stack.push(Placed {
                token: Token::Text { value, raw: None, quote: '\'', formed: false },
                space: "",
            });
        }
        self.stack.push(sign(']'));
        // A list is nothing that would come to more by itself.
        false
    }

    /// Where the bracket opens that closes there.
    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (close.saturating_sub(MAX_SPAN)..=close).rev() {
            match self.at(at)? {
                Token::Sign(')' | ']') => depth += 1,
                Token::Sign('(' | '[') => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                Token::Sign(_) | Token::Name(_) | Token::Number(_) | Token::Text { .. } => {}
            }
        }
        None
    }

    /// The values that stand between commas, each a string, a number or a list of such; none when one is something else.
    fn values(&self, from: usize, to: usize) -> Option<Vec<Value>> {
        let mut out = Vec::new();
        let mut list: Option<Vec<String>> = None;
        let mut expects = true;
        for at in from..to {
            let text = match self.at(at)? {
                Token::Sign(',') if !expects => {
                    expects = true;
                    continue;
                }
                Token::Sign('[' | '(') if expects && list.is_none() => {
                    list = Some(Vec::new());
                    continue;
                }
                Token::Sign(']' | ')') => {
                    out.push(Value::Many(list.take()?));
                    expects = false;
                    continue;
                }
                Token::Text { value, .. } if expects => value.clone(),
                Token::Number(number) if expects => (*number).to_owned(),
                Token::Text { .. } | Token::Number(_) | Token::Sign(_) | Token::Name(_) => return None,
            };
            expects = false;
            match &mut list {
                Some(items) => items.push(text),
                None => out.push(Value::One(text)),
            }
        }
        list.is_none().then_some(out)
    }

    /// The end of a call or of a bracket.
    fn called(&mut self) -> bool {
        let close = self.stack.len() - 1;
        let Some(open) = self.opening(close).filter(|open| matches!(self.at(*open), Some(Token::Sign('('))))
        else {
            return false;
        };
        let callee = open.checked_sub(1).and_then(|at| self.at(at)).and_then(Token::name).unwrap_or_default();
        if callee.is_empty() || WORDS.contains(&callee) {
            return self.grouped(open, close);
        }
        let callee = callee.to_owned();
        if callee == "getattr" {
            return self.attribute(open, close);
        }
        if callee == "map" {
            return self.mapped(open, close);
        }
        let Some(args) = self.values(open + 1, close) else { return false };
        // A method of that name does something else; these have no other.
        let method = open >= 2
            && matches!(self.at(open - 2), Some(Token::Sign('.')))
            && !["timeit", "runsource", "runcode", "runctx"].contains(&callee.as_str());
        if RUNS.contains(&callee.as_str())
            && !method
            && let [Value::One(text), ..] = args.as_slice()
        {
            let lua = self.language == Language::Lua;
            self.changed |= lua;
            self.run.push(if lua { text.replace("[[", "'").replace("]]", "'") } else { text.clone() });
            return false;
        }
        let Some((start, owner, receiver)) = self.receiver(open - 1) else { return false };
        match calls::result(&callee, &owner, receiver, &args) {
            Some(value) => self.put(start, value),
            None => false,
        }
    }

    /// What a call is made on: where it begins, the name in front of it, or the value. None: it is something else.
    fn receiver(&self, callee: usize) -> Option<(usize, String, Option<Value>)> {
        let dotted = |at: usize| at >= 2 && matches!(self.at(at - 1), Some(Token::Sign('.' | ':')));
        if !dotted(callee) {
            return Some((callee, String::new(), None));
        }
        let at = callee - 2;
        match self.at(at)? {
            Token::Text { value, .. } => Some((at, String::new(), Some(Value::One(value.clone())))),
            // `("%s"):format("a")`
            Token::Sign(')') => {
                let open = self.opening(at)?;
                let called = open.checked_sub(1).and_then(|at| self.at(at)).and_then(Token::name);
                let mut values = self.values(open + 1, at).filter(|values| values.len() == 1)?;
                let text = values.pop().filter(|value| matches!(value, Value::One(_)) && called.is_none())?;
                Some((open, String::new(), Some(text)))
            }
            Token::Sign(']') => {
                let open = self.opening(at)?;
                let items = self.values(open + 1, at).and_then(calls::texts)?;
                Some((open, String::new(), Some(Value::Many(items))))
            }
            Token::Name(name) => {
                let mut start = at;
                while dotted(start) && self.at(start - 2).and_then(Token::name).is_some() {
                    start -= 2;
                }
                Some((start, name.to_string(), None))
            }
            Token::Sign(_) | Token::Number(_) => None,
        }
    }

    /// A bracket that is no call: `('a')`, `'%s' % ('a', 'b')`, `(Path('a'))`.
    fn grouped(&mut self, open: usize, close: usize) -> bool {
        let before = |back: usize| open.checked_sub(back).and_then(|at| self.at(at));
        if let (Some(Token::Text { value, .. }), Some(Token::Sign('%'))) = (before(2), before(1)) {
            let whole = self
                .values(open + 1, close)
                .and_then(calls::texts)
                .and_then(|items| formatted(value, &items));
            return whole.is_some_and(|whole| self.replace(close + 3 - open, whole));
        }
        let one = close == open + 2 && matches!(self.at(open + 1), Some(Token::Text { raw: None, .. }));
        let path = close == open + 5 && PATHS.contains(&self.word(4)) && self.text(2).is_some();
        // In front of `(` a value would be called.
        if !(one || path) || matches!(before(1), Some(Token::Sign(')' | ']') | Token::Text { .. })) {
            return false;
        }
        self.stack.truncate(close);
        self.stack.remove(open);
        true
    }

    /// `getattr(os, 'system')`
    fn attribute(&mut self, open: usize, close: usize) -> bool {
        let name = self.text(1).filter(|text| is_name(text)).map(str::to_owned);
        let Some(name) = name.filter(|_| self.is(2, ',') && open + 3 < close) else { return false };
        self.stack.truncate(close - 2);
        self.stack.drain(open - 1..=open);
        self.stack.push(Placed { token: Token::Sign('.'), space: "" });
        self.stack.push(Placed { token: Token::Name(name.into()), space: "" });
        self.changed = true;
        true
    }

    /// `map(chr, [114, 109])`, `map(str, (1, 2))`
    fn mapped(&mut self, open: usize, close: usize) -> bool {
        let function = self.at(open + 1).and_then(Token::name).unwrap_or_default().to_owned();
        let given = matches!(self.at(open + 2), Some(Token::Sign(',')));
        if !given || !["chr", "str"].contains(&function.as_str()) {
            return false;
        }
        let items = match self.values(open + 3, close).as_deref() {
            Some([Value::Many(items)]) => items.clone(),
            _ => return false,
        };
        let letters: Option<Vec<String>> = if function == "chr" {
            items.iter().map(|item| calls::letters(std::slice::from_ref(item))).collect()
        } else {
            Some(items)
        };
        letters.is_some_and(|letters| self.put(open - 1, Value::Many(letters)))
    }

    /// `'abc'[::-1]`, `'abc'[1:]`
    fn indexed(&mut self) -> bool {
        let close = self.stack.len() - 1;
        let Some(open) = self.opening(close).filter(|open| *open > 0 && close - open <= 6) else {
            return false;
        };
        if let Some(items) = self.at(open - 1).and_then(Token::name).and_then(|name| meant(&self.lists, name))
        {
            let Some(Token::Number(number)) = self.top(1) else { return false };
            let item = number.parse::<usize>().ok().and_then(|at| items.get(at)).cloned();
            return item.is_some_and(|item| self.replace(close + 2 - open, item));
        }
        let Some(Token::Text { value, raw, .. }) = self.at(open - 1) else { return false };
        let inside: String = (open + 1..close)
            .filter_map(|at| match self.at(at)? {
                Token::Number(number) => Some((*number).to_owned()),
                Token::Sign(sign) => Some(sign.to_string()),
                Token::Name(_) | Token::Text { .. } => Some("?".to_owned()),
            })
            .collect();
        // The first of the texts that Ruby unpacks.
        let whole = if self.language == Language::Ruby && inside == "0" && raw.is_none() {
            Some(value.clone())
        } else {
            calls::sliced(value, &inside)
        };
        whole.is_some_and(|whole| self.replace(close + 2 - open, whole))
    }

    /// `global['eval']`, `os.__dict__['system']`
    fn member(&mut self) -> bool {
        let Some(Token::Text { value, raw, .. }) = self.top(1) else { return false };
        if !self.is(2, '[') || !is_name(value) {
            return false;
        }
        let owner = self.word(3);
        let put_together = self.language == Language::Script && raw.is_none();
        let of_call = self.is(3, ')') && (put_together || self.called_vars());
        if !(of_call || GLOBALS.contains(&owner) || !owner.is_empty() && put_together) {
            return false;
        }
        let name = value.clone();
        self.stack.truncate(self.stack.len() - 3);
        self.stack.push(Placed { token: Token::Sign('.'), space: "" });
        self.stack.push(Placed { token: Token::Name(name.into()), space: "" });
        self.changed = true;
        true
    }

    /// `vars(os)[…]`
    fn called_vars(&self) -> bool {
        let close = self.stack.len().saturating_sub(4);
        let open = self.opening(close).unwrap_or_default();
        let callee = open.checked_sub(1).and_then(|at| self.at(at)).and_then(Token::name);
        matches!(callee, Some("vars" | "globals" | "locals" | "__import__"))
    }

    /// `'abc'.reverse` of Ruby, which needs no brackets.
    fn method(&mut self, next: Option<&Token<'_>>) -> bool {
        if self.language != Language::Ruby || matches!(next, Some(Token::Sign('('))) || !self.is(1, '.') {
            return false;
        }
        let callee = self.word(0).to_owned();
        let Some((start, owner, receiver)) = self.receiver(self.stack.len() - 1) else { return false };
        match receiver.and_then(|receiver| calls::result(&callee, &owner, Some(receiver), &[])) {
            Some(value) => self.put(start, value),
            None => false,
        }
    }

    /// The code as it stands now, and behind it what it runs.
    fn written(&self) -> Option<String> {
        let mut out = String::new();
        for placed in &self.stack {
            out.push_str(placed.space);
            placed.token.write(&mut out);
            if out.len() > MAX_OUT {
                return None;
            }
        }
        for text in &self.run {
            out.push('\n');
            out.push_str(text);
        }
        Some(out)
    }
}

/// Whether a string can be more than the path of a file below the working directory.
fn is_telling(text: &str) -> bool {
    let inside = text.contains('/') && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    !inside
        || text.contains(|c: char| c.is_whitespace() || matches!(c, ':' | ';' | '$' | '`'))
        || text.contains("..")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_out() {
        use Language::{Lua, Perl, Php, Python, Ruby, Script};
        for (language, code, expected) in [
            (Python, "f('DR'+'OP')", "f('DROP')"),
            (Python, "f('DR' 'OP ' \"x\")", "f(\"DROP x\")"),
            (Python, "p='/etc/'+'passwd';open(p,'a')", "p='/etc/passwd';open('/etc/passwd','a')"),
            (Python, "f('http://'+'.'.join(['169','254']*2)+'/x')", "f('http://169.254.169.254/x')"),
            (Python, "f('%s.%s' % ('a', 'b'))", "f('a.b')"),
            (Python, "f('{}.{}'.format(1, 2))", "f('1.2')"),
            (Python, "f('emoh/'[::-1])", "f('/home')"),
            (Python, "f('169.254.'*2)[:-1]", "f('169.254.169.254.')[:-1]"),
            (Python, "(Path('/etc')/'passwd').write_text('')", "Path('/etc/passwd').write_text('')"),
            (Python, "getattr(os,'sys'+'tem')('x')", "os.system('x')"),
            (Python, "import os as o;o.__dict__['system']('x')", "import os as o;os.__dict__.system('x')"),
            (Python, "f('\\x72\\x6d')", "f('rm')"),
            (Python, "f(base64.b64decode('L2hvbWU=').decode())", "f('/home')"),
            (Python, "f(''.join(map(chr,[114,109])))", "f('rm')"),
            (Python, "x='a'\nx+='b'\nf(x)", "x='a'\nx+='b'\nf('ab')"),
            (Python, "a='rm';f(f'{a} -rf')", "a='rm';f('rm -rf')"),
            (Script, "c.query(['DROP','TABLE'].join(' '))", "c.query('DROP TABLE')"),
            (Script, "x['ex'+'ec']('a')", "x.exec('a')"),
            (Script, "const a=['b','c'];f(a[1]+a[0])", "const a=['b','c'];f('cb')"),
            (Script, "f(Buffer.from('726d','hex').toString())", "f('rm')"),
            (Script, "f(decodeURIComponent('rm%20x'))", "f('rm x')"),
            (Ruby, "f 'DROP ' + 'x'", "f 'DROP x'"),
            (Ruby, "system 'mr'.reverse", "system 'rm'"),
            (Ruby, "system ['726d'].pack('H*')", "system 'rm'"),
            (Ruby, "system 'cm0='.unpack('m')[0]", "system 'rm'"),
            (Php, "f('DR'.'OP')", "f('DROP')"),
            (Php, "$f='sys'.'tem';$f('x');", "$f='system';system('x');"),
            (Perl, "system(scalar reverse 'mr')", "system('rm')"),
            (Lua, "f('a'..'b')", "f('ab')"),
            (Lua, "f([[a]])", "f('a')"),
        ] {
            assert_eq!(folded(code, language).as_deref(), Some(expected), "{code}");
        }
    }

    #[test]
    fn what_is_not_put_together_stays() {
        use Language::{Python, Script};
        for (language, code) in [
            (Python, "open('a','w').write('b')"),
            (Python, "x = {'a': 'b'}\nprint(x['a'])"),
            (Python, "f('a' + b)"),
            (Python, "f('it\\'s \\n')"),
            (Python, "# 'a' + 'b'\nf(1)"),
            (Script, "const a = b['c'];"),
            (Script, "// 'a' + 'b'\nf('x')"),
        ] {
            assert_eq!(folded(code, language), None, "{code}");
        }
    }
}
