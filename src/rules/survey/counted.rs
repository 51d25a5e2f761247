//! What a shell that calculates reads from files: a subscript with a substitution in it is run, whoever wrote the file.

use super::Surveyor;
use super::call::Call;
use super::output;
use super::paths;
use super::reading::Reading;
use super::subscripts::run_in_subscript;
use crate::domain::{Ask, Target};
use crate::shell::{Arg, Simple};

words!("survey/counted");

/// Most lines of such a file that are looked at.
const MAX_LINES: usize = 64;

impl Surveyor<'_> {
    /// `(( $(<file) > 3 ))`, `read n < file; echo $((n + 1))`.
    pub(super) fn counted_file(&mut self, reading: &Reading, simple: &Simple, call: &Call) {
        let name = call.words.first().and_then(Arg::known).unwrap_or_default();
        let files: Vec<Target> = match name {
            "read" | "mapfile" | "readarray" => call.reads.clone(),
            "cat" | "head" | "tail" if simple.owner.is_some() || simple.words.is_empty() => {
                let named = call.args().iter().filter(|arg| !arg.prefix().starts_with('-'));
                let named = named.map(|arg| paths::target(arg, call.cwd.as_deref(), false));
                named.chain(call.reads.iter().cloned()).collect()
            }
            _ => return,
        };
        if !CALCULATES.iter().any(|sign| reading.source.contains(sign)) {
            return;
        }
        for file in files {
            let Target::Path { path, glob: false, .. } = file else { continue };
            let text = match self.written(&path) {
                Some(text) => output::freeze(text).0,
                None => {
                    self.ask(Ask::Content(path.clone()));
                    self.facts.content(&path).flatten().unwrap_or_default().to_owned()
                }
            };
            for inside in text.lines().take(MAX_LINES).filter_map(run_in_subscript) {
                self.traps.push(Arg::literal(&format!(": {inside}")));
            }
        }
    }
}
