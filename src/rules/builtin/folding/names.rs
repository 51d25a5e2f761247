//! Names: what they are given, and what stands in their place.

use super::calls;
use super::lexer::Token;
use super::{DECLARES, MAX_NAMES, MAX_TEXT, MODULES, Reader, is_name, is_telling};

impl<'c> Reader<'c> {
    /// At the end of a statement: the name that it gives a string, or a module.
    pub(super) fn settle(&mut self) {
        self.settle_module();
        self.settle_list();
        let Some(value) = self.text(0).map(str::to_owned).filter(|value| value.len() <= MAX_TEXT) else {
            return;
        };
        let adds = self.is(1, '=') && self.is(2, '+');
        let name = self.word(if adds { 3 } else { 2 });
        let begins = match self.top(if adds { 4 } else { 3 }) {
            None => true,
            Some(Token::Sign(sign)) => matches!(sign, '\n' | ';' | '{' | ':' | ')'),
            Some(Token::Name(word)) => DECLARES.contains(&&**word),
            Some(Token::Text { .. } | Token::Number(_)) => false,
        };
        if name.is_empty() || !self.is(1, '=') || !begins || self.names.len() >= MAX_NAMES {
            return;
        }
        let name = name.to_owned();
        let known = meant(&self.names, &name).filter(|_| adds).cloned().unwrap_or_default();
        if known.len() + value.len() <= MAX_TEXT {
            self.names.push((name, known + &value));
        }
    }

    /// `a = ['rm', '-rf']`
    fn settle_list(&mut self) {
        let Some(close) = self.stack.len().checked_sub(1).filter(|_| self.is(0, ']')) else { return };
        let Some(open) = self.opening(close).filter(|open| *open > 1) else { return };
        let name = self.at(open - 2).and_then(Token::name).unwrap_or_default().to_owned();
        let given = matches!(self.at(open - 1), Some(Token::Sign('='))) && !name.is_empty();
        if let Some(items) = self.values(open + 1, close).and_then(calls::texts).filter(|_| given)
            && self.lists.len() < MAX_NAMES
        {
            self.lists.push((name, items));
        }
    }

    /// `import os as o`
    fn settle_module(&mut self) {
        if self.word(1) != "as" || self.names.len() >= MAX_NAMES {
            return;
        }
        let import = self.stack.iter().rposition(|placed| placed.token.name() == Some("import"));
        let Some(import) = import.filter(|at| self.stack.len() - at <= 8) else { return };
        let end = self.stack.len() - 2;
        let module: String = (import + 1..end)
            .filter_map(|at| match self.at(at)? {
                Token::Name(name) => Some(name.to_string()),
                Token::Sign('.') => Some(".".to_owned()),
                Token::Sign(_) | Token::Number(_) | Token::Text { .. } => Some("?".to_owned()),
            })
            .collect();
        if MODULES.contains(&module.as_str()) {
            self.known.push((self.word(0).to_owned(), module));
        }
    }

    /// What a name stands for.
    pub(super) fn named(&mut self, name: &str, next: Option<&Token<'_>>) -> Option<Token<'c>> {
        // `x += 'a'`
        let begins = matches!(self.top(0), None | Some(Token::Sign('\n' | ';')));
        if self.is(0, '.')
            || matches!(next, Some(Token::Sign('=' | ':')))
            || begins && matches!(next, Some(Token::Sign('+')))
            || DECLARES.contains(&self.word(0))
        {
            return None;
        }
        if let Some(module) = meant(&self.known, name) {
            self.changed = true;
            return Some(Token::Name(module.clone().into()));
        }
        let value = meant(&self.names, name)?.clone();
        self.changed |= is_telling(&value);
        // `$f('…')` calls the function of that name.
        if matches!(next, Some(Token::Sign('('))) {
            return is_name(&value).then(|| Token::Name(value.into()));
        }
        Some(Token::Text { value, raw: None, quote: '\'', formed: false })
    }

    /// A string with the names in it that are known.
    pub(super) fn filled(&self, text: &str) -> Option<String> {
        if self.names.is_empty() || !text.contains(['{', '$']) {
            return None;
        }
        let mut out = text.to_owned();
        for (name, value) in self.names.iter().rev() {
            let bare = name.trim_start_matches('$');
            for form in [format!("${{{bare}}}"), format!("#{{{bare}}}"), format!("{{{name}}}")] {
                out = out.replace(&form, value);
            }
            if name.starts_with('$') {
                out = out.replace(name, value);
            }
            if out.len() > MAX_TEXT {
                return None;
            }
        }
        (out != text).then_some(out)
    }
}

/// What a name stands for: what it was given last.
pub(super) fn meant<'t, T>(list: &'t [(String, T)], name: &str) -> Option<&'t T> {
    list.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
}
