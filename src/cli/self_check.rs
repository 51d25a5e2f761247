//! `lazaret self-check`: whether this binary, and what was installed with it, are what was released.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Exit;
use super::install::shown;
use crate::domain::{Fault, FaultKind};
use crate::host::released::{Release, State, compare_binary};

pub fn run(sums: Option<&Path>, out: &mut dyn Write) -> Result<Exit> {
    let exe = std::env::current_exe().context("the path of this binary")?;
    let (list, files): (PathBuf, Vec<(PathBuf, State)>) = match sums {
        Some(list) => {
            let state = compare_binary(list, &exe)?;
            (list.to_owned(), vec![(exe, state)])
        }
        None => {
            let why = "there is no list of sums with it, as install.sh of a release puts into share/lazaret";
            let release = Release::of(&exe).ok_or_else(|| {
                Fault::new(FaultKind::Host, shown(&exe), why).with_hint(
                    "name the list that was published with the release: lazaret self-check --sums SHA256SUMS",
                )
            })?;
            let files = release.compare(&exe)?;
            (release.list, files)
        }
    };
    let mut wrong = 0;
    for (path, state) in &files {
        let said = match state {
            State::Same => continue,
            State::Differs => "differs",
            State::Missing => "missing",
        };
        wrong += 1;
        writeln!(out, "{said}    {}", shown(path))?;
    }
    let (list, all) = (shown(&list), files.len());
    if wrong == 0 {
        writeln!(out, "as released: {all} of {all} files agree with {list}")?;
        return Ok(Exit::Fine);
    }
    writeln!(out, "NOT as released: {wrong} of {all} files do not agree with {list}")?;
    Ok(Exit::Failed)
}
