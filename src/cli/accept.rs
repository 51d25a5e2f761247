//! `lazaret config edit` and `lazaret config accept`: a person's word on the user's own file of configuration. Both demand a
//! terminal, so that an agent's shell cannot give it.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cli::CHECKS;
use crate::domain::Places;
use crate::host::config::{self, Explained, NoteKind, Origin};
use crate::host::dirs::Dirs;
use crate::host::files::{self, Links};
use crate::host::trust::{self, TrustState};
use crate::host::watch;

/// What is started where no variable names an editor.
const EDITOR: &str = "vi";

/// Lets the user's file loosen, as long as it has the content it has now; false when that was so already.
pub fn accept(dirs: &Dirs, places: &Places, terminal: bool, out: &mut dyn Write) -> Result<bool> {
    if !terminal {
        bail!("config accept: only a person at a terminal can accept it; run it in your own shell");
    }
    let explained = config::explain(dirs, places, CHECKS)?;
    let user = explained.layers.iter().find(|source| source.origin == Origin::User);
    let Some(Ok(content)) = user.map(|source| &source.content) else {
        bail!("{}: there is no such file: there is nothing to accept", dirs.config_file().display());
    };
    if user.is_some_and(|source| source.trust == Some(TrustState::Allowed)) {
        writeln!(out, "{}: accepted already, with exactly this content", dirs.config_file().display())?;
        return Ok(false);
    }
    accepted(dirs, &explained, content, out)?;
    Ok(true)
}

/// Accepts the file that was there before this version was installed; later ones are a person's to accept.
pub fn at_installation(dirs: &Dirs, places: &Places, out: &mut dyn Write) -> Result<()> {
    if !trust::is_new(&dirs.state) {
        return Ok(());
    }
    let path = dirs.config_file();
    if let Ok(explained) = config::explain(dirs, places, CHECKS)
        && let Some(source) = explained.layers.iter().find(|source| source.origin == Origin::User)
        && let Ok(content) = &source.content
    {
        return accepted(dirs, &explained, content, out);
    }
    trust::begin(&dirs.state, &path.to_string_lossy()).with_context(|| kept(dirs))
}

/// Records it, and says what counts from now on.
pub(super) fn accepted(
    dirs: &Dirs,
    explained: &Explained,
    content: &[u8],
    out: &mut dyn Write,
) -> Result<()> {
    for note in explained.notes.iter().filter(|note| note.kind == NoteKind::Unaccepted) {
        writeln!(out, "  {}", note.once_accepted())?;
    }
    config::accept(dirs, content).with_context(|| kept(dirs))?;
    writeln!(out, "{}: accepted, with exactly this content", dirs.config_file().display())?;
    Ok(())
}

fn kept(dirs: &Dirs) -> String {
    format!(
        "{}: what was accepted cannot be kept below {}",
        dirs.config_file().display(),
        dirs.state.display()
    )
}

/// A copy that is gone when nobody needs it any more.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // It is the person's own text, in a directory of their own.
        let _gone = std::fs::remove_file(&self.0);
    }
}

/// Has the user's file edited as a copy; puts it in place and accepts it when nothing is wrong with it. False when it stays as it was.
pub fn edit(dirs: &Dirs, places: &Places, terminal: bool, out: &mut dyn Write) -> Result<bool> {
    if !terminal {
        bail!("config edit: only a person at a terminal can edit it; run it in your own shell");
    }
    let path = dirs.config_file();
    let shown = path.display();
    files::private_dir(&dirs.config).with_context(|| format!("directory of {shown}"))?;
    let before = read(&path)?;
    let copy = Draft(dirs.config.join(format!("config.edited-{}.toml", std::process::id())));
    let text = before.clone().unwrap_or_else(|| config::template().into_bytes());
    files::create(&copy.0, &text).with_context(|| format!("{}: it cannot be written", copy.0.display()))?;
    let Some(edited) = edited(&copy.0, out)? else {
        writeln!(out, "{shown}: left as it was")?;
        return Ok(false);
    };
    if edited == text {
        writeln!(out, "{shown}: nothing was changed")?;
        return Ok(false);
    }
    if read(&path)? != before {
        let kept = path.with_extension("toml.edited");
        files::replace(&kept, &edited)?;
        bail!("{shown}: somebody else changed it meanwhile; your text is in {}", kept.display());
    }
    // A link to a file that lies elsewhere stays one.
    let place = path.canonicalize().unwrap_or_else(|_| path.clone());
    watch::placing(&dirs.state, &dirs.config_file(), || {
        files::replace(&place, &edited).with_context(|| format!("{shown}: it cannot be written"))
    })?;
    accepted(dirs, &config::explain(dirs, places, CHECKS)?, &edited, out)?;
    Ok(true)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let bytes = files::read(&path.to_string_lossy(), config::MAX_FILE, Links::Follow);
    bytes.map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))
}

/// The copy as the person leaves it, without a mistake in it; none when it is to be discarded.
fn edited(copy: &Path, out: &mut dyn Write) -> Result<Option<Vec<u8>>> {
    loop {
        out.flush()?;
        start_editor(copy)?;
        let Some(bytes) = read(copy)? else { return Ok(None) };
        let problems = config::problems(&bytes, None, CHECKS);
        if problems.is_empty() {
            return Ok(Some(bytes));
        }
        for problem in &problems {
            match problem.line {
                Some(line) => writeln!(out, "line {line}: {}", problem.text)?,
                None => writeln!(out, "{}", problem.text)?,
            }
        }
        if !again(out)? {
            return Ok(None);
        }
    }
}

/// What becomes of a text with mistakes: it is edited again, or discarded.
fn again(out: &mut dyn Write) -> Result<bool> {
    loop {
        write!(out, "edit it again (e), or discard it (x)? ")?;
        out.flush()?;
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(false);
        }
        match answer.trim() {
            "e" => return Ok(true),
            "x" => return Ok(false),
            _ => {}
        }
    }
}

/// The editor may be a command line of its own, as `code --wait`.
fn start_editor(copy: &Path) -> Result<()> {
    let named = ["VISUAL", "EDITOR"].iter().filter_map(|name| std::env::var(name).ok());
    let editor =
        named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| EDITOR.to_owned());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(copy);
    let status = command.status().with_context(|| format!("the editor {editor}"))?;
    if !status.success() {
        bail!("the editor {editor} failed ({status}); nothing was changed");
    }
    Ok(())
}
