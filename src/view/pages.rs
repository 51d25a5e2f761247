//! `lazaret man` and `lazaret completions`: what is made of the definition of the command line.

use std::ffi::OsString;
use std::io::Write;

use anyhow::{Result, anyhow};
use clap::CommandFactory;
use clap_complete::Shell;

use super::complete;
use crate::cli::Exit;
use crate::cli::args::Cli;
use crate::domain::escape;

/// The manual page of a command, named by its words.
pub fn manual(words: &[String], out: &mut dyn Write) -> Result<Exit> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let mut page = &all;
    for word in words {
        let found = page.find_subcommand(word);
        page = found.ok_or_else(|| anyhow!("man: there is no command {}", escape(word)))?;
    }
    clap_mangen::Man::new(page.clone()).render(&mut &mut *out)?;
    Ok(Exit::Fine)
}

/// A shell's script; or, where it gives the words of a line, what can stand in the place of the last one.
pub fn completions(shell: Shell, words: Option<&[OsString]>, out: &mut dyn Write) -> Result<Exit> {
    match (words, complete::script(shell)) {
        (Some(words), _) => complete::candidates(words, out)?,
        (None, Some(script)) => out.write_all(script.as_bytes())?,
        (None, None) => {
            clap_complete::generate(shell, &mut Cli::command(), "lazaret", &mut &mut *out);
        }
    }
    Ok(Exit::Fine)
}
