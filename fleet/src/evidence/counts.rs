//! What the events that were sent add up to since the sender began.

use std::collections::BTreeMap;
use std::time::SystemTime;

use lazaret::domain::{EventKind, clip};
use lazaret::host::audit::Line;

use super::cursor::Place;
use super::stops;

/// Most series of one counter; what goes beyond is counted together.
const MOST: usize = 1000;
/// Longest value of an attribute, in bytes.
const VALUE: usize = 200;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// By verdict.
    Decisions,
    /// Decisions that stopped a call, by rule.
    Stops,
    /// By tool and client.
    Calls,
    Faults,
}

/// What tells a series from the others of its counter; none = it is of what goes beyond.
pub type Labels = Option<Vec<(&'static str, String)>>;

/// Counts, and how far they go.
#[derive(Debug, Default)]
pub struct Counts {
    pub of: BTreeMap<Counter, BTreeMap<Labels, u64>>,
    /// The last line that was sent, and when the newest one was written.
    pub at: Option<Place>,
    pub newest: Option<SystemTime>,
}

impl Counts {
    /// Adds events that a collector took; the last one stands at that place.
    pub fn add(&mut self, lines: &[Line], at: Option<&Place>) {
        lines.iter().for_each(|line| self.line(line));
        self.at = at.cloned();
        let newest = lines.iter().filter_map(|line| humantime::parse_rfc3339(&line.time).ok()).max();
        self.newest = self.newest.max(newest);
    }

    fn line(&mut self, line: &Line) {
        if line.event == EventKind::Fault.name() {
            self.count(Counter::Faults, &[]);
        }
        let Some(verdict) = line.told() else { return };
        self.count(Counter::Decisions, &[("lazaret.verdict", verdict.name())]);
        if !line.tool.is_empty() {
            self.count(Counter::Calls, &[("lazaret.tool", &line.tool), ("lazaret.client", &line.client)]);
        }
        if stops(line) {
            line.rules.iter().for_each(|rule| self.count(Counter::Stops, &[("lazaret.rule", rule)]));
        }
    }

    fn count(&mut self, counter: Counter, labels: &[(&'static str, &str)]) {
        let series = self.of.entry(counter).or_default();
        let labels = Some(labels.iter().map(|(key, value)| (*key, clip(value, VALUE))).collect());
        let labels: Labels = if series.len() < MOST || series.contains_key(&labels) { labels } else { None };
        *series.entry(labels).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_series_are_kept_than_a_bound_says() {
        let mut counts = Counts::default();
        for number in 0..3 * MOST {
            counts.count(Counter::Calls, &[("lazaret.tool", &format!("tool {number}"))]);
        }
        counts.count(Counter::Calls, &[("lazaret.tool", "tool 7")]);
        let series = &counts.of[&Counter::Calls];
        assert_eq!((series.len(), series[&None]), (MOST + 1, 2 * MOST as u64));
        assert_eq!(series[&Some(vec![("lazaret.tool", "tool 7".to_owned())])], 2);
    }
}
