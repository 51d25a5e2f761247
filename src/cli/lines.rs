//! Lines of a file of any size, in bounded memory.

use std::io::{self, BufRead, Read};

/// One line, without its end.
pub enum Line<'a> {
    Text(&'a str),
    NotText,
    /// Over the bound; the rest of it was skipped.
    TooLong,
}

/// Reads lines of at most `max` bytes.
pub struct Lines<R> {
    input: R,
    max: usize,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R, max: usize) -> Lines<R> {
        Lines { input, max, bytes: Vec::new() }
    }

    /// The next line; none at the end.
    pub fn read(&mut self) -> io::Result<Option<Line<'_>>> {
        self.bytes.clear();
        let most = u64::try_from(self.max).unwrap_or(u64::MAX);
        let read = self.input.by_ref().take(most.saturating_add(1)).read_until(b'\n', &mut self.bytes)?;
        if read == 0 {
            return Ok(None);
        }
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        } else if self.bytes.len() > self.max {
            skip_line(&mut self.input)?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(std::str::from_utf8(&self.bytes).map_or(Line::NotText, Line::Text)))
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (used, done) = match input.fill_buf()? {
            [] => return Ok(()),
            bytes => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], max: usize) -> Vec<String> {
        let mut lines = Lines::new(io::BufReader::with_capacity(3, bytes), max);
        let mut found = Vec::new();
        while let Some(line) = lines.read().unwrap() {
            found.push(match line {
                Line::Text(text) => text.to_owned(),
                Line::NotText => "?".to_owned(),
                Line::TooLong => "…".to_owned(),
            });
        }
        found
    }

    #[test]
    fn long_and_torn_lines() {
        assert_eq!(all(b"ab\n\ncd", 4), ["ab", "", "cd"]);
        assert_eq!(all(b"abcd\nabcde\nx\nabcdefghijkl", 4), ["abcd", "…", "x", "…"]);
        assert_eq!(all(b"\xff\nok\n", 4), ["?", "ok"]);
        assert_eq!(all(b"", 4), Vec::<String>::new());
    }
}
