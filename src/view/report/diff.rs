//! What differs between two texts, line by line, as much of it as a page can take.

use std::time::Duration;

use similar::{DiffOp, TextDiff};

use crate::domain::clip;

/// Most lines of one difference.
const MAX_LINES: usize = 400;
/// Longest line of a difference, in bytes.
const MAX_LINE: usize = 400;
/// Of a line that differs further back, so many bytes in front of the difference are shown.
const BEFORE: usize = 80;
/// Lines around a change.
const AROUND: usize = 3;
/// Longest search for the smallest difference of one file.
const SEARCH: Duration = Duration::from_millis(100);

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    Same(String),
    Added(String),
    Removed(String),
    /// Lines between two pieces are left out; the number of the next one in the new file, from 1.
    Gap(usize),
}

/// What differs, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    pub lines: Vec<DiffLine>,
    pub added: usize,
    pub removed: usize,
    /// Not all of it is there.
    pub cut: bool,
}

/// What is left of the bytes that all differences may have.
#[derive(Debug)]
pub struct Room(pub usize);

/// The difference of two texts.
pub fn diff(old: &str, new: &str, room: &mut Room) -> Diff {
    let compared = TextDiff::configure().timeout(SEARCH).diff_lines(old, new);
    let old = |at: usize| compared.old_slice(at);
    let new = |at: usize| compared.new_slice(at);
    let mut diff = Diff::default();
    let mut at = 0;
    for group in compared.grouped_ops(AROUND) {
        let begin = group.first().map_or(0, |op| op.new_range().start);
        if begin > at {
            diff.push(DiffLine::Gap(begin + 1), room);
        }
        for op in &group {
            let (olds, news) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                news.filter_map(new).for_each(|line| diff.push(DiffLine::Same(shown(line, None)), room));
                continue;
            }
            // The line that took another's place, or that it took.
            for (line, at) in olds.clone().filter_map(old).zip(news.start..) {
                let other = new(at).filter(|_| news.contains(&at));
                diff.push(DiffLine::Removed(shown(line, other)), room);
            }
            for (line, at) in news.filter_map(new).zip(olds.start..) {
                let other = old(at).filter(|_| olds.contains(&at));
                diff.push(DiffLine::Added(shown(line, other)), room);
            }
        }
        at = group.last().map_or(at, |op| op.new_range().end);
    }
    diff
}

/// A line, so that it can be seen in what it differs from the other one.
fn shown(line: &str, other: Option<&str>) -> String {
    let end = if line.ends_with('\n') { "" } else { " (no line feed at the end)" };
    let line = line.trim_end_matches('\n');
    let other = other.map(|other| other.trim_end_matches('\n')).filter(|other| *other != line);
    let blanks = other.is_some_and(|other| line.split_whitespace().eq(other.split_whitespace()));
    let same = other.map_or(0, |other| common(line, other));
    let from = if same > MAX_LINE / 2 { line.floor_char_boundary(same - BEFORE) } else { 0 };
    let part = clip(line.get(from..).unwrap_or_default(), MAX_LINE);
    let part = if blanks { part.replace('\t', "→").replace(' ', "·") } else { part };
    [if from > 0 { "…" } else { "" }, &part, end].concat()
}

/// Bytes that both begin with.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

impl Diff {
    fn push(&mut self, line: DiffLine, room: &mut Room) {
        let size = match &line {
            DiffLine::Added(text) => {
                self.added += 1;
                text.len()
            }
            DiffLine::Removed(text) => {
                self.removed += 1;
                text.len()
            }
            DiffLine::Same(text) => text.len(),
            DiffLine::Gap(_) => 0,
        };
        if self.lines.len() >= MAX_LINES || room.0 == 0 {
            self.cut = true;
            return;
        }
        room.0 = room.0.saturating_sub(size);
        self.lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(old: &str, new: &str) -> Vec<DiffLine> {
        diff(old, new, &mut Room(10_000)).lines
    }

    fn changed(old: &str, new: &str) -> (String, String) {
        match of(old, new).as_slice() {
            [DiffLine::Removed(old), DiffLine::Added(new)] => (old.clone(), new.clone()),
            lines => panic!("{lines:?}"),
        }
    }

    #[test]
    fn a_change_far_back_in_a_line_is_shown() {
        let long = "é".repeat(300);
        let (old, new) = changed(&format!("{long}a\n"), &format!("{long}b\n"));
        assert!(old.starts_with('…') && old.ends_with("éa") && new.ends_with("éb"), "{old} {new}");
        let (old, new) = changed(&format!("x{long}\n"), &format!("y{long}\n"));
        assert!(old.starts_with('x') && new.starts_with('y') && new.ends_with('…'), "{old} {new}");
    }

    #[test]
    fn a_change_of_blanks_is_shown() {
        assert_eq!(changed("\tx y\n", "    x y \n"), ("→x·y".to_owned(), "····x·y·".to_owned()));
        assert_eq!(changed("a b\n", "a c\n"), ("a b".to_owned(), "a c".to_owned()));
        assert_eq!(changed("a b", "a b\n"), ("a b (no line feed at the end)".to_owned(), "a b".to_owned()));
    }

    #[test]
    fn what_is_too_much_is_cut_and_counted() {
        let long = diff("", &"line\n".repeat(1_000), &mut Room(10_000));
        assert!(long.cut && long.lines.len() == MAX_LINES && long.added == 1_000);
        let full = diff("", "a\nb\n", &mut Room(1));
        assert!(full.cut && full.lines.len() == 1);
    }
}
