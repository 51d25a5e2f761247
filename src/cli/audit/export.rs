//! `lazaret audit export`: the events in a form that other programs read, all of each event.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::args::{Form, Select};
use super::{csv, ecs, every};
use crate::cli::{Exit, Machine};
use crate::host::audit::Line;

pub fn run(
    form: Form,
    output: Option<&Path>,
    select: &Select,
    machine: &Machine,
    out: &mut dyn Write,
) -> Result<Exit> {
    let Some(path) = output else { return write(form, select, machine, out) };
    // What the log keeps from others its copy keeps too, and nothing is written over.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.with_context(|| format!("{}: it must be a new file", path.display()))?;
    let mut file = BufWriter::new(file);
    let exit = write(form, select, machine, &mut file);
    file.flush().with_context(|| path.display().to_string())?;
    exit
}

fn write(form: Form, select: &Select, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if form == Form::Csv {
        csv::head(out)?;
    }
    every(select, machine, |line| one(form, line, out))
}

fn one(form: Form, line: &Line, out: &mut dyn Write) -> std::io::Result<()> {
    match form {
        Form::Json => writeln!(out, "{}", line.text),
        Form::Csv => csv::row(&line.text, out),
        Form::Ecs => writeln!(out, "{}", ecs::event(&line.text)?),
    }
}
