//! The texts of a call that a shell reads, for what the survey keeps nothing of: assignments, and words as they are written.
//! Judges nothing.

use crate::rules::matcher::Scene;
use crate::shell::{Part, Script, Word, parse};

/// The texts that hold `mark`, read by the shell's grammar: what is quoted or in a here-document is no command in them.
pub(super) fn holding<'a>(scene: &Scene<'a>, mark: &'static str) -> impl Iterator<Item = Script> + use<'a> {
    scene.texts().filter(move |text| text.contains(mark)).map(parse)
}

/// A word without its quotes, up to where something is expanded in it.
pub(super) fn front(word: &Word) -> String {
    let known = word.parts.iter().map_while(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        Part::Variable { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => {
            None
        }
    });
    known.collect()
}
