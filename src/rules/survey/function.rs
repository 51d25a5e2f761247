//! A function that a text defines, and how far its body was walked. The walk itself is in `walk`.

use std::ops::Range;
use std::rc::Rc;

use crate::shell::Script;

/// A function that a text defines.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub name: String,
    pub script: Rc<Script>,
    pub source: Rc<str>,
    pub index: u32,
    pub body: Body,
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

/// Where in a text the commands of a function stand, others' among them, and the shell around them.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    pub commands: Range<usize>,
    pub subshell: u32,
}

impl Body {
    /// Those of a text's functions, in their order; looked for once, since each walk of a function needs its own.
    pub fn all(script: &Script) -> Vec<Body> {
        let mut bodies = vec![Body::default(); script.functions.len()];
        for (at, command) in script.commands.iter().enumerate() {
            let of = command.function.and_then(|index| bodies.get_mut(index as usize));
            let Some(body) = of else { continue };
            if body.commands.is_empty() {
                *body = Body { commands: at..at, subshell: command.subshell };
            }
            body.commands.end = at.saturating_add(1);
            body.subshell = body.subshell.min(command.subshell);
        }
        bodies
    }
}

impl Function {
    pub fn new(name: String, (script, source): (Rc<Script>, Rc<str>), index: u32, body: Body) -> Function {
        Function { name, script, source, index, body, state: Walked::No, again: false }
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
