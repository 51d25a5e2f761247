//! A function that a text defines, and how far its body was walked. The walk itself is in `walk`.

use std::rc::Rc;

use crate::shell::Script;

/// A function that a text defines.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub name: String,
    pub script: Rc<Script>,
    pub source: Rc<str>,
    pub index: u32,
    /// It is being walked, or has been.
    pub state: Walked,
    /// It was called again while it was walked.
    again: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    No,
    Now,
    Done,
}

impl Function {
    pub fn new(name: String, script: Rc<Script>, source: Rc<str>, index: u32) -> Function {
        Function { name, script, source, index, state: Walked::No, again: false }
    }

    /// Its name, when it is called again for the second time while it is walked, in a text that starts things side by side.
    pub fn restarts(&mut self) -> Option<String> {
        let twice = self.state == Walked::Now && std::mem::replace(&mut self.again, true);
        let beside = || self.source.replace("&&", "").replace("||", "").contains(['&', '|']);
        (twice && beside()).then(|| self.name.clone())
    }
}

impl super::Surveyor<'_> {
    /// The function of that name, the one defined last.
    pub(super) fn find_function(&self, name: &str) -> Option<usize> {
        self.functions.iter().rposition(|function| crate::domain::same_name(&function.name, name))
    }
}
