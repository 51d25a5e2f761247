//! `lazaret facts`: what is known of programs, in the form in which a configuration file teaches it.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::args::FactsCommand;
use super::{CHECKS, Exit, Machine};
use crate::domain::{Operands, Operation, Wrap, WrittenProgram, WrittenSub, escape};
use crate::host::config;
use crate::rules::programs::{self, Known, Told};

/// Longest line of a list of words.
const WIDTH: usize = 120;

pub fn run(command: &FactsCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    match command {
        FactsCommand::Show { program, json } => show(program, *json, machine, out),
        FactsCommand::List => {
            let mut names: Vec<&str> = programs::names().collect();
            crate::domain::sort_by(&mut names, Ord::cmp);
            for name in names {
                writeln!(out, "{name}")?;
            }
            Ok(Exit::Fine)
        }
    }
}

fn show(name: &str, as_object: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let name = name.rsplit('/').next().unwrap_or_default();
    if name.is_empty() || name.contains(char::is_whitespace) {
        bail!("facts show: {name:?} is not the name of a program");
    }
    let (known, told) = (programs::known(name), programs::told(name));
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    let taught: Vec<&WrittenProgram> =
        policy.programs.iter().filter(|one| one.names.iter().any(|other| other == name)).collect();
    if as_object {
        let built_in = known.as_ref().map(|known| json!({ "row": known.program, "verbs": known.verbs }));
        let object = json!({ "program": name, "built_in": built_in, "operations": told, "taught": taught, "local": programs::is_local(name) });
        writeln!(out, "{}", serde_json::to_string_pretty(&object)?)?;
        return Ok(Exit::Fine);
    }
    match &known {
        Some(Known { program, kind, verbs }) => {
            writeln!(out, "# lazaret's own row")?;
            if let Some(kind) = kind {
                writeln!(out, "# its words are read in a way of their own: {kind}")?;
            }
            writeln!(out, "# the verbs of commands of which the row says nothing: {verbs}")?;
            out.write_all(toml(program).as_bytes())?;
        }
        None if programs::is_local(name) => {
            writeln!(
                out,
                "# lazaret has no row of {}, and knows that it only works on this machine",
                escape(name)
            )?;
        }
        None if taught.iter().any(|program| !program.adds) => {}
        None => writeln!(
            out,
            "# lazaret has no row of {}: it is judged by the verbs that it is told (docs/programs.md)",
            escape(name)
        )?,
    }
    for Told { kind, says, words } in &told {
        writeln!(out, "\n# {kind}: {says}, told so (words in this order, options anywhere, `x*` begins so)")?;
        words.iter().try_for_each(|line| writeln!(out, "#     {line}"))?;
    }
    for program in taught {
        let how = match (program.adds, known.is_some()) {
            (true, _) => "in a file that nobody trusts: only what is stricter counts",
            (false, true) => "only what is stricter than lazaret's own row counts",
            (false, false) => "its words are read so",
        };
        writeln!(out, "\n# taught by the configuration; {how}\n{}", toml(program).trim_end())?;
    }
    Ok(Exit::Fine)
}

/// A program as it stands in a configuration file.
pub fn toml(program: &WrittenProgram) -> String {
    let WrittenProgram { names, options, single_dash, does, operands, runs, local, commands, .. } = program;
    let mut out = String::from("[[programs]]\n");
    list(&mut out, "names", names);
    list(&mut out, "options", &words(options));
    for (on, key) in [(single_dash, "single_dash"), (local, "local")] {
        if *on {
            out.push_str(&format!("{key} = true\n"));
        }
    }
    if *does != Operation::Process {
        out.push_str(&format!("does = \"{}\"\n", does.name()));
    }
    behind(&mut out, *operands, runs.as_ref());
    for WrittenSub { names, options, does: own, operands, runs } in commands {
        out.push_str("\n[[programs.commands]]\n");
        let names: Vec<String> = words(names).iter().map(|name| name.replace('.', " ")).collect();
        list(&mut out, "names", &names);
        list(&mut out, "options", &words(options));
        if own != does {
            out.push_str(&format!("does = \"{}\"\n", own.name()));
        }
        behind(&mut out, *operands, runs.as_ref());
    }
    out
}

fn behind(out: &mut String, operands: Operands, runs: Option<&Wrap>) {
    if operands != Operands::Text {
        out.push_str(&format!("operands = \"{}\"\n", operands.name()));
    }
    let Some(Wrap { skip, rest, keep, privileged, remote, lenient }) = runs else { return };
    out.push_str(&format!("runs = {{ command = \"{}\"", rest.name()));
    if *skip > 0 {
        out.push_str(&format!(", skip = {skip}"));
    }
    for (on, key) in [(keep, "keep"), (privileged, "privileged"), (remote, "remote"), (lenient, "lenient")] {
        if *on {
            out.push_str(&format!(", {key} = true"));
        }
    }
    out.push_str(" }\n");
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// A list of words, in one line where it fits.
fn list(out: &mut String, key: &str, words: &[String]) {
    let quoted: Vec<String> =
        words.iter().map(|word| ::toml::Value::String(word.clone()).to_string()).collect();
    if quoted.is_empty() {
        return;
    }
    let line = format!("{key} = [{}]\n", quoted.join(", "));
    if line.len() <= WIDTH {
        out.push_str(&line);
        return;
    }
    out.push_str(&format!("{key} = ["));
    let mut width = WIDTH;
    for word in quoted {
        if width + word.len() + 2 > WIDTH {
            out.push_str("\n   ");
            width = 3;
        }
        width += word.len() + 2;
        out.push_str(&format!(" {word},"));
    }
    out.push_str("\n]\n");
}
