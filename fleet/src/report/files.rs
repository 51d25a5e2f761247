//! The files of a report, line by line: of each line no more than a bound is held.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Longest line that is read, in bytes: a collector puts many requests into one.
pub const LONGEST: usize = 32 << 20;
/// Standard input.
const INPUT: &str = "-";

/// One line of a file.
#[derive(Debug)]
pub struct Line<'l> {
    pub file: &'l str,
    /// From 1 on.
    pub number: u64,
    /// None = it is longer than [`LONGEST`].
    pub bytes: Option<&'l [u8]>,
}

/// The files that are meant, those of a directory in the order of their names.
pub fn meant(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let is_dir = path.as_os_str() != INPUT && path.is_dir();
        if is_dir {
            files.extend(inside(path).with_context(|| path.display().to_string())?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn inside(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_file() && !is_hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Hands every line of a file on that is not blank.
pub fn each(path: &Path, mut with: impl FnMut(&Line<'_>)) -> Result<()> {
    let (file, reader): (String, Box<dyn BufRead>) = if path.as_os_str() == INPUT {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let file = path.display().to_string();
        let open = File::open(path).with_context(|| file.clone())?;
        (file, Box::new(BufReader::with_capacity(1 << 16, open)))
    };
    lines(reader, &mut |number, bytes| with(&Line { file: &file, number, bytes }))
        .with_context(|| file.clone())
}

fn lines(mut reader: impl BufRead, with: &mut dyn FnMut(u64, Option<&[u8]>)) -> io::Result<()> {
    let (mut line, mut fits, mut number) = (Vec::new(), true, 1);
    loop {
        let read = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let is_end = read.is_empty();
        let end = read.iter().position(|byte| *byte == b'\n');
        let (part, used) = match end {
            Some(end) => (read.get(..end).unwrap_or_default(), end + 1),
            None => (read, read.len()),
        };
        if line.len() + part.len() > LONGEST {
            fits = false;
            line.clear();
        }
        if fits {
            line.extend_from_slice(part);
        }
        reader.consume(used);
        if end.is_none() && !is_end {
            continue;
        }
        if !fits || !line.trim_ascii().is_empty() {
            with(number, fits.then_some(&line));
        }
        if is_end {
            return Ok(());
        }
        line.clear();
        fits = true;
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_bounded() {
        let long = "x".repeat(LONGEST + 1);
        let text = format!("one\n\n{long}\n{}\nlast", "y".repeat(LONGEST));
        let mut found = Vec::new();
        lines(BufReader::with_capacity(1000, text.as_bytes()), &mut |number, bytes| {
            found.push((number, bytes.map(<[u8]>::len)));
        })
        .unwrap();
        assert_eq!(found, [(1, Some(3)), (3, None), (4, Some(LONGEST)), (5, Some(4))]);
    }
}
