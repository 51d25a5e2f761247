//! An `[[interventions.custom]]` table to what is done otherwise about one pattern. Whether its words may stand is asked of who
//! makes interventions.

use super::tables::{List, MAX_TEXT, Reader, Value, named};
use crate::domain::{InterventionKind, WrittenIntervention};

/// What is still wrong with an intervention that is well written.
pub type InterventionCheck = fn(&WrittenIntervention) -> Vec<String>;

/// The list of interventions.
pub const INTERVENTIONS: List<WrittenIntervention> = List {
    key: "interventions.custom",
    one: "intervention",
    name: "pattern",
    most: 64,
    name_of: |intervention| &intervention.pattern,
    read: Reader::intervention,
};

const INTERVENTION: &[&str] = &["pattern", "text", "first", "most"];

impl Reader {
    fn intervention(&mut self, entry: &Value<'_>) -> Option<WrittenIntervention> {
        let table = self.table(entry, "", INTERVENTION)?;
        let pattern = self.needed(entry, table, "pattern").and_then(|value| self.pattern_name(value));
        let text = table.get("text").and_then(|value| self.text(value, "text", MAX_TEXT));
        let kinds = named(&InterventionKind::ALL, InterventionKind::name);
        let first = table.get("first").and_then(|value| self.word(value, "first", &kinds));
        let most = table.get("most").and_then(|value| self.word(value, "most", &kinds));
        if !["text", "first", "most"].iter().any(|key| table.contains_key(*key)) {
            self.wrong(entry, "it needs one of text, first, most".to_owned());
        }
        if let (Some(first), Some(most)) = (first, most)
            && first > most
        {
            self.wrong(entry, format!("first ({}) is graver than most ({})", first.name(), most.name()));
        }
        Some(WrittenIntervention { pattern: pattern?, text, first, most })
    }
}
