//! What a shell takes out of files of the disk and runs: a subscript with a substitution in it where it calculates, whoever wrote the
//! file, and the name of a program.

use super::Surveyor;
use super::call::Call;
use super::output;
use super::paths;
use super::reading::Reading;
use super::subscripts::run_in_subscript;
use crate::domain::{Ask, Target};
use crate::rules::Invocation;
use crate::shell::{Arg, Part, Simple};

words!("survey/counted");

/// Most lines of such a file that are looked at.
const MAX_LINES: usize = 64;

impl Surveyor<'_> {
    /// What a command prints, where that is known.
    pub(super) fn shown(&mut self, reading: &Reading, simple: &Simple, call: &Call) -> Option<Arg> {
        self.printed(call).or_else(|| self.kept_name(reading, simple, call))
    }

    /// The program whose name a file of the disk holds and nothing else: `$(cat .python) -c …`.
    fn kept_name(&mut self, reading: &Reading, simple: &Simple, call: &Call) -> Option<Arg> {
        let ("cat", [file]) = (call.words.first()?.known()?, call.args()) else { return None };
        let owner = reading.script.commands.get(simple.owner? as usize)?;
        let named =
            |part: &Part| matches!(part, Part::Substitution { subshell, .. } if *subshell == simple.subshell);
        let empty = |part: &&Part| matches!(part, Part::Text { text, .. } if text.is_empty());
        let mut parts = owner.words.first()?.parts.iter().filter(|part| !empty(part));
        let Target::Path { path, glob: false, .. } = paths::target(file, call.cwd.as_deref(), false) else {
            return None;
        };
        if !parts.next().is_some_and(named) || parts.next().is_some() || call.remote {
            return None;
        }
        // Nothing came before in the call that may have changed it, or what `cat` is.
        let looks = |inv: &Invocation| matches!(inv.program.as_str(), "cd" | "cat") && inv.writes.is_empty();
        let own = self.functions.is_empty() && self.aliases.is_empty();
        if !own || !self.out.invocations.iter().all(looks) || !self.files.is_empty() {
            return None;
        }
        self.ask(Ask::Content(path.clone()));
        let name = self.facts.content(&path).flatten()?.trim();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
        (!name.is_empty() && name.bytes().all(plain)).then(|| Arg::literal(name))
    }

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
