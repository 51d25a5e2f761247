//! Paths that code puts together out of a directory and names in it: `root / "dist"`, `path.join(root, d)`, `f"{root}/dist"`.
//! Reads tokens only. What it cannot follow is left as the strings that stand there.

use std::collections::BTreeMap;

use super::scripts;
use crate::domain::map_of;

/// Longest code that is read; of a longer one the strings are taken as they stand.
const MAX_CODE: usize = 32 * 1024;
/// How often the code is gone through, as a name may stand for what another one is put together from.
const PASSES: usize = 4;
/// Most values of one name.
const MAX_VALUES: usize = 32;

words!("builtin/code_paths");
/// Methods of a path that give back the same path.
const SELF: &[&str] = &["resolve", "absolute", "expanduser", "as_posix"];
/// Calls that put their arguments together.
const JOINS: &[&str] = &["join", "joinpath", "Join", "resolve", "Path", "PurePath"];
/// Calls that find what a pattern stands for.
const GLOBS: &[&str] = &["glob", "rglob", "iglob", "globSync"];
/// Calls that give the working directory.
const HERE: &[&str] = &["cwd", "getcwd", "pwd"];
/// Words in front of a name that is given a value.
const DECLARES: &[&str] = &["const", "let", "var", "my"];

/// Names and what they stand for; whether that is a list.
type Names<'c> = BTreeMap<&'c str, (Vec<String>, bool)>;

#[derive(Clone)]
struct Value<'c> {
    texts: Vec<String>,
    /// Several, one behind the other, not each by itself.
    list: bool,
    counts: bool,
    /// The name that it is the value of.
    of: Option<&'c str>,
}

#[derive(Clone)]
enum Token<'c> {
    Text(Value<'c>),
    Name(&'c str),
    Sign(char),
}

impl<'c> Token<'c> {
    fn text(text: String) -> Token<'c> {
        Token::Text(Value { texts: vec![text], list: false, counts: true, of: None })
    }

    fn sign(&self) -> Option<char> {
        if let Token::Sign(sign) = self { Some(*sign) } else { None }
    }

    fn name(&self) -> Option<&'c str> {
        if let Token::Name(name) = self { Some(name) } else { None }
    }
}

/// The strings of code, those that are put together to a path as that path.
pub(super) fn strings(code: &str) -> Vec<String> {
    if code.len() > MAX_CODE {
        return scripts::strings(code);
    }
    let tokens = tokens(code);
    let mut names = Names::new();
    for _ in 0..PASSES {
        let mut pass =
            Pass { known: &names, found: BTreeMap::new(), seen: BTreeMap::new(), stack: Vec::new() };
        pass.run(&tokens);
        let Pass { found, seen, stack, .. } = pass;
        let found: Names<'_> = map_of(found.into_iter().filter(|(name, _)| given(&tokens, name) == 1));
        let settled = found == names;
        if settled {
            let covered = |name: &str| {
                names.contains_key(name) && seen.get(name).copied().unwrap_or_default() == occurs(code, name)
            };
            let counts = |value: &Value<'_>| match value.of {
                Some(name) => !covered(name),
                None => value.counts,
            };
            let values = stack.into_iter().filter_map(|token| match token {
                Token::Text(value) if counts(&value) => Some(value.texts),
                Token::Text(_) | Token::Name(_) | Token::Sign(_) => None,
            });
            return values.flatten().collect();
        }
        names = found;
    }
    scripts::strings(code)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How often a name stands in code, also in its strings.
fn occurs(code: &str, name: &str) -> usize {
    let apart = |at: &usize| {
        let before = code.get(..*at).and_then(|front| front.chars().next_back());
        let behind = code.get(*at + name.len()..).and_then(|rest| rest.chars().next());
        !before.is_some_and(is_name) && !behind.is_some_and(is_name)
    };
    code.match_indices(name).filter(|(at, _)| apart(at)).count()
}

/// How often a name is given a value.
fn given(tokens: &[Token<'_>], name: &str) -> usize {
    let is = |at: usize, sign: char| tokens.get(at).and_then(Token::sign) == Some(sign);
    let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).and_then(Token::name).unwrap_or_default();
    let gives = |at: usize| {
        let assigned = is(at + 1, '=') && !is(at + 2, '=');
        let changed = is(at + 2, '=') && ['+', '/', ':', '-', '|'].iter().any(|sign| is(at + 1, *sign));
        let looped = ["in", "of"].contains(&word(Some(at + 1)));
        let named = ["as", "def", "function"].contains(&word(at.checked_sub(1)));
        assigned || changed || looped || named
    };
    tokens.iter().enumerate().filter(|(at, token)| token.name() == Some(name) && gives(*at)).count()
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut depth = 0_i32;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        if matches!(c, '"' | '\'' | '`') {
            let (text, behind) = scripts::quoted(rest.get(1..).unwrap_or_default(), c);
            // `f"…"`, `r"…"`
            if matches!(out.last(), Some(Token::Name("f" | "r" | "b" | "fr" | "rf"))) {
                out.pop();
            }
            out.push(Token::text(text));
            rest = behind;
            continue;
        }
        if is_name(c) {
            length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            out.push(Token::Name(rest.get(..length).unwrap_or_default()));
        } else if c == '\n' {
            out.extend((depth == 0).then_some(Token::Sign(c)));
        } else if !c.is_whitespace() && c != '$' {
            depth = match c {
                '(' | '[' => depth + 1,
                ')' | ']' => (depth - 1).max(0),
                _ => depth,
            };
            out.push(Token::Sign(c));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    out.push(Token::Sign('\n'));
    out
}

/// One time through the code.
struct Pass<'p, 'c> {
    known: &'p Names<'c>,
    found: Names<'c>,
    /// How many places of a name were understood.
    seen: BTreeMap<&'c str, usize>,
    stack: Vec<Token<'c>>,
}

impl<'c> Pass<'_, 'c> {
    fn run(&mut self, tokens: &[Token<'c>]) {
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1);
            match token {
                Token::Text(value) => {
                    let text = value.texts.first().cloned().unwrap_or_default();
                    let texts = self.filled(text);
                    self.push(Value { texts, ..value.clone() });
                }
                Token::Name(name) => self.name(name, next),
                Token::Sign(sign) => self.sign(*sign),
            }
        }
    }

    /// The token so far in front of the last one.
    fn top(&self, back: usize) -> Option<&Token<'c>> {
        self.stack.len().checked_sub(back + 1).and_then(|at| self.stack.get(at))
    }

    fn is(&self, back: usize, sign: char) -> bool {
        self.top(back).and_then(Token::sign) == Some(sign)
    }

    fn word(&self, back: usize) -> &'c str {
        self.top(back).and_then(Token::name).unwrap_or_default()
    }

    fn see(&mut self, name: &'c str) {
        *self.seen.entry(name).or_default() += 1;
    }

    /// A string with the names in it that are known: `{root}/dist`, `$root/dist`.
    fn filled(&mut self, text: String) -> Vec<String> {
        let mut texts = vec![text];
        for (name, (values, _)) in self.known {
            for form in
                [format!("${{{name}}}"), format!("#{{{name}}}"), format!("{{{name}}}"), format!("${name}")]
            {
                let ends = |text: &String| {
                    let at = text.find(&form);
                    let behind = at.and_then(|at| text.get(at + form.len()..)).unwrap_or_default();
                    at.is_some() && (form.ends_with('}') || !behind.starts_with(is_name))
                };
                if texts.first().is_none_or(|text| !ends(text)) || texts.len() * values.len() > MAX_VALUES {
                    continue;
                }
                // In the midst of a text it is not the path alone that is meant.
                if texts
                    .first()
                    .is_some_and(|text| text.starts_with(&form) && text.matches(&form).count() == 1)
                {
                    self.see(name);
                }
                let fill =
                    |text: &String| values.iter().map(|value| text.replace(&form, value)).collect::<Vec<_>>();
                texts = texts.iter().flat_map(fill).collect();
            }
        }
        texts
    }

    fn name(&mut self, name: &'c str, next: Option<&Token<'c>>) {
        if matches!(name, "if" | "do") {
            self.settle(false);
        }
        if name == "parent" && self.is(0, '.') && matches!(self.top(1), Some(Token::Text(_))) {
            self.stack.pop();
            if let Some(Token::Text(value)) = self.stack.last_mut() {
                value.texts.iter_mut().for_each(|text| text.push_str("/.."));
            }
            return;
        }
        let target = next.and_then(Token::sign) == Some('=')
            || matches!(next.and_then(Token::name), Some("in" | "of"))
            || DECLARES.contains(&self.word(0));
        match self.known.get(name) {
            Some(_) if target => {
                self.see(name);
                self.stack.push(Token::Name(name));
            }
            Some((texts, list)) if !self.is(0, '.') => {
                self.see(name);
                self.push(Value { texts: texts.clone(), list: *list, counts: true, of: None });
            }
            Some(_) | None => self.stack.push(Token::Name(name)),
        }
    }

    fn sign(&mut self, sign: char) {
        match sign {
            '\n' | ';' => self.settle(true),
            ')' | ']' | ':' | '{' => self.settle(false),
            _ => {}
        }
        match sign {
            ')' => self.close(),
            ']' => self.close_list(),
            _ => self.stack.push(Token::Sign(sign)),
        }
    }

    /// At the end of a statement or of a loop's head: what a name is given.
    fn settle(&mut self, statement: bool) {
        let Some(Token::Text(value)) = self.top(0) else { return };
        let name = self.word(2);
        let looped = matches!(self.word(1), "in" | "of")
            && (self.word(3) == "for" || DECLARES.contains(&self.word(3)));
        let begins = match self.top(3) {
            None => true,
            Some(Token::Sign(sign)) => matches!(sign, '\n' | ';'),
            Some(Token::Name(word)) => DECLARES.contains(word),
            Some(Token::Text(_)) => false,
        };
        if name.is_empty() || !(looped || statement && self.is(1, '=') && begins) {
            return;
        }
        self.found.insert(name, (value.texts.clone(), value.list && !looped));
        if let Some(Token::Text(value)) = self.stack.last_mut() {
            value.of = Some(name);
        }
    }

    /// Adds a string, which may be the end of a path that is put together.
    fn push(&mut self, value: Value<'c>) {
        let sign = self.top(0).and_then(Token::sign);
        let (Some(Token::Text(base)), Some(sign @ ('/' | '+'))) = (self.top(1), sign) else {
            self.stack.push(Token::Text(value));
            return;
        };
        let whole = match sign {
            '+' if base.list || value.list => None,
            '+' => cross(base, &value, |base, tail| Some(format!("{base}{tail}"))),
            _ => cross(base, &value, below),
        };
        match whole {
            Some(whole) => {
                self.stack.truncate(self.stack.len().saturating_sub(2));
                self.stack.push(Token::Text(whole));
            }
            None => self.stack.push(Token::Text(value)),
        }
    }

    /// The strings behind the last open bracket, if nothing else stands there, and where it is.
    fn arguments(&self, open: char) -> Option<(usize, Vec<Value<'c>>)> {
        let at = self.stack.iter().rposition(|token| match token {
            Token::Text(_) => false,
            Token::Name(_) => true,
            Token::Sign(sign) => *sign != ',',
        })?;
        let inside = self.stack.get(at + 1..).unwrap_or_default().iter();
        let values = inside.filter_map(|token| match token {
            Token::Text(value) => Some(value.clone()),
            Token::Name(_) | Token::Sign(_) => None,
        });
        (self.stack.get(at).and_then(Token::sign) == Some(open)).then(|| (at, values.collect()))
    }

    fn close_list(&mut self) {
        let Some((at, values)) = self.arguments('[') else { return self.stack.push(Token::Sign(']')) };
        let indexes = match at.checked_sub(1).and_then(|at| self.stack.get(at)) {
            Some(Token::Name(name)) => !WORDS.contains(name),
            Some(Token::Text(_)) => true,
            Some(Token::Sign(sign)) => matches!(sign, ')' | ']'),
            None => false,
        };
        match listed(values).filter(|_| !indexes) {
            Some(list) => self.replace(at, list),
            None => self.stack.push(Token::Sign(']')),
        }
    }

    fn replace(&mut self, at: usize, value: Value<'c>) {
        self.stack.truncate(at);
        self.push(value);
    }

    /// The end of a call or of a bracket.
    fn close(&mut self) {
        let Some((at, args)) = self.arguments('(') else { return self.stack.push(Token::Sign(')')) };
        let word = |back: usize| at.checked_sub(back).and_then(|at| self.stack.get(at));
        let callee = word(1).and_then(Token::name).filter(|name| !WORDS.contains(name));
        let Some(callee) = callee else {
            let called = matches!(word(1), Some(Token::Text(_)));
            match listed(args).filter(|_| !called) {
                Some(Value { texts, counts, of, .. }) if texts.len() == 1 => {
                    self.replace(at, Value { texts, counts, of, list: false });
                }
                Some(list) => self.replace(at, list),
                None => self.stack.push(Token::Sign(')')),
            }
            return;
        };
        let is_method = word(2).and_then(Token::sign) == Some('.');
        let receiver = match word(3).filter(|_| is_method) {
            Some(Token::Text(value)) if !value.list => Some(value.clone()),
            Some(Token::Text(_)) => return self.stack.push(Token::Sign(')')),
            Some(Token::Name(_) | Token::Sign(_)) | None => None,
        };
        // Where the words begin of which the call is the last one: `os.path.join`.
        let mut start = at.saturating_sub(if receiver.is_some() { 3 } else { 1 });
        while receiver.is_none()
            && start >= 2
            && self.stack.get(start - 1).and_then(Token::sign) == Some('.')
            && self.stack.get(start - 2).and_then(Token::name).is_some()
        {
            start -= 2;
        }
        if LOOKS.contains(&callee) {
            self.stack.truncate(start);
            return self.stack.push(Token::Name(""));
        }
        match result(callee, receiver, &args) {
            Some(value) => self.replace(start, value),
            None => self.stack.push(Token::Sign(')')),
        }
    }
}

/// What a call gives back, where that is a path.
fn result<'c>(callee: &str, receiver: Option<Value<'c>>, args: &[Value<'c>]) -> Option<Value<'c>> {
    if args.iter().any(|arg| arg.list) {
        return None;
    }
    let is = |names: &[&str]| names.contains(&callee);
    let parts: Vec<Value<'c>> = receiver.clone().into_iter().chain(args.iter().cloned()).collect();
    match (receiver, args) {
        (None, []) if is(HERE) => {
            Some(Value { texts: vec![".".to_owned()], list: false, counts: false, of: None })
        }
        (Some(path), []) if is(SELF) => Some(path),
        (Some(path), []) if callee == "iterdir" => {
            cross(&path, &Value { texts: vec!["*".into()], ..path.clone() }, below)
        }
        (None, [path]) if is(SAME) || is(GLOBS) => Some(path.clone()),
        // What is named from there on lies in it.
        (None, [path]) if callee == "chdir" => {
            let inside = Value { texts: vec!["inside".into()], ..path.clone() };
            cross(path, &inside, below)
        }
        (Some(_), [_, ..]) if is(GLOBS) || callee == "joinpath" => joined(parts),
        (None, [_, ..]) if is(JOINS) => joined(parts),
        _ => None,
    }
}

fn joined(parts: Vec<Value<'_>>) -> Option<Value<'_>> {
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    parts.try_fold(first, |base, tail| cross(&base, &tail, below))
}

/// Values that stand side by side as one list.
fn listed(values: Vec<Value<'_>>) -> Option<Value<'_>> {
    let counts = values.iter().any(|value| value.counts);
    let texts: Vec<String> = values.into_iter().flat_map(|value| value.texts).collect();
    (!texts.is_empty() && texts.len() <= MAX_VALUES).then_some(Value { texts, list: true, counts, of: None })
}

/// Every value of one with every value of the other; none where one of them cannot be put together.
fn cross<'c>(
    base: &Value<'c>,
    tail: &Value<'c>,
    put: impl Fn(&str, &str) -> Option<String>,
) -> Option<Value<'c>> {
    if base.list || tail.list || base.texts.len() * tail.texts.len() > MAX_VALUES {
        return None;
    }
    let pairs = base.texts.iter().flat_map(|base| tail.texts.iter().map(move |tail| (base, tail)));
    let texts: Option<Vec<String>> = pairs.map(|(base, tail)| put(base, tail)).collect();
    Some(Value { texts: texts?, list: false, counts: true, of: None })
}

/// A name in a directory; none for a path of its own.
fn below(base: &str, tail: &str) -> Option<String> {
    let own = tail.starts_with(['/', '~']) || tail.is_empty();
    (!own).then(|| format!("{}/{tail}", base.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_put_together() {
        for (code, expected) in [
            ("root=Path('/q'); rmtree(root/'dist')", &["/q/dist"][..]),
            ("root = '/q'\nrmtree(root + '/dist')", &["/q/dist"]),
            ("root='/q'; rmtree(f'{root}/dist')", &["/q/dist"]),
            ("root='/q'; rmtree(os.path.join(root,'dist'), ignore_errors=True)", &["/q/dist"]),
            ("rmtree(pathlib.Path('.')/'dist')", &["./dist"]),
            ("rmtree(Path.cwd() / 'dist')", &["./dist"]),
            ("ROOT = Path('/q')\nfor p in ROOT.rglob('__pycache__'):\n    rmtree(p)\n", &["/q/__pycache__"]),
            ("[rmtree(p) for p in Path('.').rglob('x')]", &["./x"]),
            ("for n in ['a', 'b']:\n    rmtree(Path('/q') / n)\n", &["/q/a", "/q/b"]),
            (
                "const root = '/q';\nfor (const d of ['a', 'b']) fs.rmSync(path.join(root, d), {});",
                &["/q/a", "/q/b"],
            ),
            ("const r = '/q'; rmSync(`${r}/a`)", &["/q/a"]),
            ("os.chdir('/q'); rmtree('dist')", &["/q/inside", "dist"]),
            ("r = Path('/q'); print(r); rmtree(r / 'a' / 'b')", &["/q/a/b"]),
        ] {
            assert_eq!(strings(code), expected, "{code}");
        }
    }

    #[test]
    fn what_is_not_followed_stays() {
        for (code, held) in [
            ("root=Path('/q'); rmtree(root)", "/q"),
            ("root=Path('/q'); rmtree(root/name)", "/q"),
            ("root='/q'; root=root+x; rmtree(root)", "/q"),
            ("root='/q'; rmtree('{}'.format(root))", "/q"),
            ("root='/q'; rmtree(os.path.join(root, '..'))", "/q/.."),
            ("root='/q'; rmtree(os.path.join(root, '/etc'))", "/etc"),
            ("root='/q'; rmtree(os.path.join(root, sys.argv[1]))", "/q"),
            ("for n in ['a', x]:\n    rmtree(Path('/q') / n)\n", "/q"),
            ("D = ['a']\nfor n in D + ['/etc']:\n    rmtree(n)\n", "/etc"),
            ("for n in ['a'] + ['/etc']:\n    rmtree(n)\n", "/etc"),
            ("for n in os.listdir('/q'):\n    rmtree(Path('/q') / n)\n", "/q"),
            ("root=Path('/q'); [rmtree(p) for p in root.iterdir()]", "/q/*"),
            ("root=Path('/q/a'); rmtree(root.parent)", "/q/a/.."),
            ("$root='/q'; system(\"rm -rf @{[$root]}\")", "/q"),
            ("def f(root): rmtree(root)\nroot = '/q'\nf('/etc')", "/etc"),
            ("self.root = '/q'; rmtree(self.root)", "/q"),
        ] {
            assert!(strings(code).iter().any(|text| text == held), "{code}: {:?}", strings(code));
        }
    }
}
