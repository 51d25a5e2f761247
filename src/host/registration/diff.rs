//! The difference of two texts as a person reads it: unified, three lines around each change.

const AROUND: usize = 3;
/// Above this many cells the middle is shown as one block instead of line by line.
const MAX_CELLS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The unified difference, headed by `name`; empty when the texts are equal.
pub fn unified(name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let lines = compare(&split(old), &split(new));
    let mut out = format!("--- {name}\n+++ {name}\n");
    let near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        lines.iter().skip(from).take(at - from + AROUND + 1).any(|line| !matches!(line, Line::Same(_)))
    };
    let mut gap = true;
    let (mut old_at, mut new_at) = (1usize, 1usize);
    for (at, line) in lines.iter().enumerate() {
        let shown = near(at);
        if shown && gap {
            out.push_str(&format!("@@ -{old_at} +{new_at} @@\n"));
        }
        gap = !shown;
        let (sign, text) = match line {
            Line::Same(text) => (' ', text),
            Line::Gone(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        old_at += usize::from(!matches!(line, Line::New(_)));
        new_at += usize::from(!matches!(line, Line::Gone(_)));
        if shown {
            out.push(sign);
            out.push_str(text.strip_suffix('\n').unwrap_or(text));
            out.push('\n');
            if !text.ends_with('\n') {
                out.push_str("\\ no newline at the end\n");
            }
        }
    }
    out
}

fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old_rest.iter().skip(old_middle.len()).map(|line| Line::Same(line)));
    lines
}

/// The longest common subsequence, by the textbook table.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    if old.len().saturating_mul(width) > MAX_CELLS {
        return old
            .iter()
            .map(|line| Line::Gone(line))
            .chain(new.iter().map(|line| Line::New(line)))
            .collect();
    }
    let mut table = vec![0u32; (old.len() + 1) * width];
    let cell = |table: &[u32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best = if a == b {
                cell(&table, i + 1, j + 1) + 1
            } else {
                cell(&table, i + 1, j).max(cell(&table, i, j + 1))
            };
            if let Some(slot) = table.get_mut(i * width + j) {
                *slot = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                lines.push(Line::Same(a));
                i += 1;
                j += 1;
            }
            (Some(a), next) if next.is_none() || cell(&table, i + 1, j) >= cell(&table, i, j + 1) => {
                lines.push(Line::Gone(a));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push(Line::New(b));
                j += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_each_change_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\nnew\n3\n4\n5\n6\n7\n8\n9\n10\n12\n";
        assert_eq!(
            unified("f", old, new),
            "--- f\n+++ f\n@@ -1 +1 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -8 +9 @@\n 8\n 9\n 10\n-11\n 12\n"
        );
        assert_eq!(unified("f", old, old), "");
        assert_eq!(unified("f", "", "a"), "--- f\n+++ f\n@@ -1 +1 @@\n+a\n\\ no newline at the end\n");
        assert_eq!(unified("f", "a\n", ""), "--- f\n+++ f\n@@ -1 +1 @@\n-a\n");
    }
}
