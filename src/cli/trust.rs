//! `lazaret trust`: a person's word on a project's configuration file.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};

use super::config::line;
use crate::cli::CHECKS;
use crate::domain::Places;
use crate::host::config::{self, Explained, Note, NoteKind, Origin, PROJECT_FILE, Source};
use crate::host::dirs::Dirs;
use crate::host::trust::{self, TrustState};

/// The project's files, what was said of them, and what in them does not count for want of trust.
pub fn show(dirs: &Dirs, places: &Places, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let explained = config::explain(dirs, places, CHECKS)?;
    if json {
        let files: Vec<Json> = project_files(&explained)
            .map(|(source, state)| {
                json!({"path": source.path, "trust": state.name(), "loosens": waiting(&explained, &source.path, |note| note.text.clone())})
            })
            .collect();
        return line(out, &json!({ "files": files }));
    }
    let mut none = true;
    for (source, state) in project_files(&explained) {
        none = false;
        writeln!(out, "{}: {}", source.path, state.name())?;
        for text in waiting(&explained, &source.path, |note| note.text.clone()) {
            writeln!(out, "  {text}")?;
        }
    }
    if none {
        writeln!(out, "no {PROJECT_FILE} here")?;
    }
    Ok(())
}

/// Lets the project's files (or only `file`) loosen, as long as they have the content they have now. Gives the paths.
/// `terminal`: whether standard input is one, and so a person is there.
pub fn allow(
    dirs: &Dirs,
    places: &Places,
    file: Option<&Path>,
    terminal: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<String>> {
    if !terminal {
        bail!("trust allow: only a person at a terminal can give trust; run it in your own shell");
    }
    let explained = config::explain(dirs, places, CHECKS)?;
    let mut allowed = Vec::new();
    for source in chosen(&explained, file)? {
        let bytes = match &source.content {
            Ok(bytes) => bytes,
            Err(why) => bail!("{}: {why}", source.path),
        };
        let broken = config::problems(bytes, source.path.strip_suffix(PROJECT_FILE), CHECKS);
        if let Some(first) = broken.first() {
            bail!("{}: {first}; fix it first (`lazaret config check`)", source.path);
        }
        for text in waiting(&explained, &source.path, Note::once_accepted) {
            writeln!(out, "  {text}")?;
        }
        trust::allow(&dirs.state, &source.path, bytes).with_context(|| {
            format!("{}: trust cannot be kept under {}", source.path, dirs.state.display())
        })?;
        writeln!(out, "{}: allowed, with exactly this content", source.path)?;
        allowed.push(source.path.clone());
    }
    Ok(allowed)
}

/// The project's files (or only `file`) may not loosen, whatever they will hold. Gives the paths.
pub fn deny(
    dirs: &Dirs,
    places: &Places,
    file: Option<&Path>,
    out: &mut dyn Write,
) -> anyhow::Result<Vec<String>> {
    let explained = config::explain(dirs, places, CHECKS)?;
    let mut denied = Vec::new();
    for source in chosen(&explained, file)? {
        trust::deny(&dirs.state, &source.path).with_context(|| {
            format!("{}: trust cannot be kept under {}", source.path, dirs.state.display())
        })?;
        writeln!(out, "{}: denied, whatever it will hold; what tightens in it still counts", source.path)?;
        denied.push(source.path.clone());
    }
    Ok(denied)
}

fn project_files(explained: &Explained) -> impl Iterator<Item = (&Source, TrustState)> {
    let project = explained.layers.iter().filter(|source| source.origin == Origin::Project);
    project.filter_map(|source| source.trust.map(|state| (source, state)))
}

/// What in a file does not count for want of trust.
fn waiting(explained: &Explained, path: &str, text: impl Fn(&Note) -> String) -> Vec<String> {
    let untrusted =
        explained.notes.iter().filter(|note| note.kind == NoteKind::Untrusted && note.path == path);
    untrusted.map(text).collect()
}

fn chosen<'a>(explained: &'a Explained, file: Option<&Path>) -> anyhow::Result<Vec<&'a Source>> {
    let file = file.map(std::path::absolute).transpose()?;
    let is_meant = |source: &&Source| {
        source.origin == Origin::Project && file.as_deref().is_none_or(|file| file == Path::new(&source.path))
    };
    let chosen: Vec<&Source> = explained.layers.iter().filter(is_meant).collect();
    match (chosen.is_empty(), file) {
        (false, _) => Ok(chosen),
        (true, Some(file)) => bail!("{}: it is no {PROJECT_FILE} that counts here", file.display()),
        (true, None) => bail!("no {PROJECT_FILE} here: there is nothing to trust"),
    }
}
