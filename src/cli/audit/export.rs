//! `lazaret audit export`: the events in a form that other programs read, all of each event.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::args::{Form, Select};
use super::{csv, ecs, every};
use crate::cli::progress::stopped;
use crate::cli::{CHECKS, Exit, Machine};
use crate::domain::{PluginKind, escape};
use crate::host::audit::Line;
use crate::host::{config, guard, plugin};

/// What the events are made into.
#[derive(Debug, Clone, Copy)]
pub enum Into<'a> {
    Form(Form),
    /// What the plugin of this name makes of them.
    Plugin(&'a str),
}

pub fn run(
    into: Into<'_>,
    output: Option<&Path>,
    select: &Select,
    machine: &Machine,
    out: &mut dyn Write,
) -> Result<Exit> {
    // A filter that names nothing makes no file, and no table without rows.
    super::select::filter(select, machine)?;
    // Before the file is there: a stop right behind its making would leave it empty.
    if output.is_some() {
        guard::note_stops();
    }
    let file = output.map(new_file).transpose()?;
    let exit = match (into, file) {
        (Into::Plugin(name), file) => {
            out.flush()?;
            pour(name, file.map_or_else(Stdio::inherit, Stdio::from), select, machine)
        }
        (Into::Form(form), None) => write(form, select, machine, out),
        (Into::Form(form), Some(file)) => {
            let mut file = BufWriter::new(file);
            let exit = write(form, select, machine, &mut file);
            file.flush().context("the new file")?;
            exit
        }
    };
    if let (Some(_), Some(half)) = (guard::stop_asked(), output) {
        // Half a file would pass for a whole one.
        std::fs::remove_file(half).with_context(|| half.display().to_string())?;
        return Err(stopped("audit export"));
    }
    exit
}

/// What the log keeps from others its copy keeps too, and nothing is written over.
fn new_file(path: &Path) -> Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.with_context(|| format!("{}: it must be a new file", path.display()))
}

fn pour(name: &str, to: Stdio, select: &Select, machine: &Machine) -> Result<Exit> {
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    let exporters = || policy.plugins.iter().filter(|plugin| plugin.kind == PluginKind::Export);
    let Some(plugin) = exporters().find(|plugin| plugin.name == name) else {
        let known: Vec<&str> = exporters().map(|plugin| plugin.name.as_str()).collect();
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        bail!("--plugin {}: no [[plugins]] of kind export has this name ({known})", escape(name));
    };
    plugin::pour(plugin, to, |input| {
        let mut input = BufWriter::new(input);
        every((select, None), machine, |line| one(Form::Json, line, &mut input))?;
        Ok::<(), anyhow::Error>(input.flush()?)
    })?;
    Ok(Exit::Fine)
}

fn write(form: Form, select: &Select, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if form == Form::Csv {
        csv::head(out)?;
    }
    every((select, None), machine, |line| one(form, line, out))
}

fn one(form: Form, line: &Line, out: &mut dyn Write) -> std::io::Result<()> {
    if guard::stop_asked().is_some() {
        return Err(std::io::ErrorKind::Interrupted.into());
    }
    match form {
        Form::Json => writeln!(out, "{}", line.marked()),
        Form::Csv => csv::row(&line.marked(), out),
        Form::Ecs => writeln!(out, "{}", ecs::event(&line.marked())?),
    }
}
