//! The words of a command: what lists, elements and substitutions in them stand for.

use super::Surveyor;
use super::elements;
use super::output;
use super::reading::{Inner, Reading};
use super::scope::Scope;
use crate::shell::{Arg, Op, Part, Simple, Word, expand_defaults};

/// Begins the names of variables of ours for substitutions.
const SUBSTITUTION: &str = "\u{1}output";
/// Begins the paths of ours for process substitutions.
const PROCESS: &str = "/dev/fd/substitution-";

/// Forgets what the substitutions of a command print.
pub(super) fn forget_substitutions(scope: &mut Scope) {
    scope.env.vars.retain(|(name, _)| !name.starts_with(SUBSTITUTION));
}

impl Surveyor<'_> {
    pub(super) fn words(&mut self, words: &[Word], substituted: bool, scope: &Scope) -> Vec<Arg> {
        let mut args = Vec::with_capacity(words.len());
        for word in words {
            match elements::whole(word, scope) {
                Some(list) => args.extend(list),
                None => args.extend(expand_defaults(&self.replaced(word, substituted, scope), &scope.env)),
            }
        }
        self.spend(args.len());
        if self.tainted { args.into_iter().map(output::revive).collect() } else { args }
    }

    /// Puts what substitutions are known to print into variables of ours. True: there are some.
    pub(super) fn substitutions(
        &mut self,
        reading: &Reading,
        simple: &Simple,
        inner: &[Inner],
        scope: &mut Scope,
    ) -> bool {
        let mut any = false;
        let values = simple.assigns.iter().map(|assign| &assign.value);
        let targets = simple.redirects.iter().map(|redirect| &redirect.target);
        let lists = simple.assigns.iter().chain(&simple.declared).flat_map(|assign| &assign.list);
        let words = simple.words.iter().chain(values).chain(targets).chain(lists);
        for part in words.flat_map(|word| &word.parts) {
            let (subshell, process) = match part {
                Part::Substitution { subshell, .. } => (*subshell, false),
                Part::Process { subshell } => (*subshell, true),
                Part::Text { .. } | Part::Variable { .. } | Part::Arithmetic(_) => continue,
            };
            let Some(output) = reading.output(subshell, inner, scope) else { continue };
            any = true;
            if process {
                self.files.push((format!("{PROCESS}{subshell}"), output));
                scope.env.set(&format!("{SUBSTITUTION}{subshell}"), Some(format!("{PROCESS}{subshell}")));
            } else {
                let (text, marked) = output::freeze(&output);
                self.tainted |= marked;
                let text = text.trim_end_matches('\n').to_owned();
                scope.env.set(&format!("{SUBSTITUTION}{subshell}"), Some(text));
            }
        }
        any
    }

    /// A word with variables of ours for the substitutions that are known, and the elements of arrays.
    pub(super) fn replaced<'w>(
        &self,
        word: &'w Word,
        substituted: bool,
        scope: &Scope,
    ) -> std::borrow::Cow<'w, Word> {
        let word = elements::written_out(word, scope);
        if !substituted {
            return word;
        }
        let mut word = word.into_owned();
        for part in &mut word.parts {
            let (subshell, quoted) = match part {
                Part::Substitution { subshell, quoted } => (*subshell, *quoted),
                Part::Process { subshell } => (*subshell, true),
                Part::Text { .. } | Part::Variable { .. } | Part::Arithmetic(_) => continue,
            };
            let name = format!("{SUBSTITUTION}{subshell}");
            *part = Part::Variable { name, plain: true, default: None, op: Op::Plain, quoted };
        }
        std::borrow::Cow::Owned(word)
    }
}
