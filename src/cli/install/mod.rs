//! `lazaret install`: puts the gate into the clients' own files. All changes are worked out before the first is made.

mod change;
mod parts;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

pub use change::{Change, Existing, shown};
pub use parts::{Registering, agent_for, agent_path, claude_code, opencode, program_in};

use crate::cli::Exit;
use crate::domain::{Client, Fault, FaultKind};
use crate::host::registration::manifest::{Loaded, Manifest};
use crate::host::registration::{Scope, Surroundings, clients};
use crate::host::watch::{self, Sealed};
use crate::host::writable;
use crate::review;

/// What `lazaret install` was asked to do.
#[derive(Debug, Clone)]
pub struct InstallOptions {
    /// None named: those found.
    pub clients: Vec<Client>,
    pub scope: Scope,
    /// Show the changes and make none.
    pub dry_run: bool,
    /// The binary to be registered; this one unless named.
    pub bin: Option<PathBuf>,
}

/// Registers the gate with the clients.
pub fn install(options: &InstallOptions, here: &Surroundings, out: &mut dyn Write) -> Result<Exit> {
    let bin = usable_bin(options.bin.as_deref().unwrap_or(&here.exe))?;
    if options.scope == Scope::System {
        writable::check_root(Path::new(&bin))?;
        // Whatever root's is: what every user's client reads, every user must be able to read.
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    }
    usable_places(&here.places)?;
    let wanted = match chosen(&options.clients, here) {
        found if found.is_empty() => {
            no_client(out)?;
            return Ok(Exit::Failed);
        }
        found => found,
    };
    let Loaded { mut manifest, set_aside } = match options.dry_run {
        true => Loaded { manifest: Manifest::peek(here), set_aside: None },
        false => Manifest::load(here)?,
    };
    if let Some(aside) = set_aside {
        writeln!(out, "note: the record of earlier installs was damaged; it is kept as {}", shown(&aside))?;
    }
    let mut changes = Vec::new();
    for client in &wanted {
        let registering = Registering { bin: &bin, scope: options.scope, here, manifest: &manifest };
        let (files, told) = (crate::cli::clients::of(*client).changes)(&registering)?;
        changes.extend(files);
        writeln!(out, "{}{told}, {} scope", client.name(), options.scope.name())?;
    }
    if changes.is_empty() {
        writeln!(
            out,
            "nothing was registered: no client named has hooks of that scope that count by themselves"
        )?;
        return Ok(Exit::Failed);
    }
    // Held until all is done: a hook that looks meanwhile waits, and then finds what counts.
    let mut sealed = None;
    if !options.dry_run {
        manifest.make_room(here)?;
        sealed = Some(Sealed::open(&here.state_dir)?);
    }
    let mut changed = false;
    for change in &changes {
        changed |= match options.dry_run {
            true => change.show(out)?,
            false => change.make(here, &mut manifest, out)?,
        };
    }
    if let Some(sealed) = &mut sealed {
        for change in &changes {
            let path = change.path.to_string_lossy();
            sealed.keep(&path, &watch::read(&path))?;
        }
        watch::binary::keep(&here.state_dir, Path::new(&bin))?;
    }
    closing_words(options, &wanted, changed, out)?;
    let is_off = |change: &&Change| review::leaves_hooks_out(&watch::read(&change.path.to_string_lossy()));
    for change in changes.iter().filter(is_off) {
        writeln!(
            out,
            "note: {}: \"disableAllHooks\" is set: no hook runs until you take it out",
            shown(&change.path)
        )?;
    }
    Ok(Exit::Fine)
}

fn closing_words(
    options: &InstallOptions,
    wanted: &[Client],
    changed: bool,
    out: &mut dyn Write,
) -> Result<()> {
    if options.dry_run {
        writeln!(out, "{}", if changed { "nothing was changed (--dry-run)" } else { "nothing to change" })?;
        return Ok(());
    }
    if options.scope == Scope::System {
        writeln!(
            out,
            "note: users who registered lazaret themselves are asked twice; each of them: lazaret uninstall"
        )?;
    }
    if options.scope == Scope::Project && wanted.contains(&Client::ClaudeCode) {
        writeln!(out, "note: project settings are shared, and the path in them is one of this machine")?;
    }
    let scope = if options.scope == Scope::User {
        String::new()
    } else {
        format!(" --scope {}", options.scope.name())
    };
    let names: Vec<&str> = wanted.iter().map(|client| client.name()).collect();
    let names = if wanted.len() > 1 { "all".to_owned() } else { names.concat() };
    writeln!(out, "sessions that are open now keep what they started with; start them again")?;
    writeln!(out, "prove it: lazaret doctor")?;
    writeln!(out, "undo:     lazaret uninstall {names}{scope}")?;
    Ok(())
}

/// The clients named, or those found when none is.
pub fn chosen(named: &[Client], here: &Surroundings) -> Vec<Client> {
    let wanted = |client: &Client| match named {
        [] => clients::is_here(*client, here),
        named => named.contains(client),
    };
    Client::ALL.into_iter().filter(wanted).collect()
}

/// Says that there is nothing to register with.
pub fn no_client(out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}", crate::cli::clients::none_is_here())?;
    writeln!(out, "hint: install one, or name it: lazaret install claude-code")?;
    Ok(())
}

/// That the places of this user can be spelt out in a registration.
fn usable_places(places: &[String]) -> Result<(), Fault> {
    let bad = |value: &&String| !can_be_carried(value);
    match places.iter().find(bad) {
        None => Ok(()),
        Some(value) => {
            let why = "it holds characters that a registration cannot carry";
            let what = format!("the place {}", crate::domain::escape(value));
            let hint = "set the variable that names it to another directory, or unset it";
            Err(Fault::new(FaultKind::Config, what, why).with_hint(hint))
        }
    }
}

/// Clients fill in what stands in `${…}`.
fn can_be_carried(word: &str) -> bool {
    !word.contains("${") && !word.chars().any(char::is_control)
}

/// The path as it will stand in the registration: absolute, there, executable, and safe to be spelt out.
fn usable_bin(bin: &Path) -> Result<String, Fault> {
    let refuse = |why: &str| {
        Err(Fault::new(FaultKind::Host, format!("the binary {}", shown(bin)), why)
            .with_hint("name one by its absolute path: lazaret install --bin /path/to/lazaret"))
    };
    let Some(text) = bin.to_str() else { return refuse("its path is not UTF-8 text") };
    if !bin.is_absolute() {
        return refuse("its path is not absolute");
    }
    if !can_be_carried(text) {
        return refuse("its path holds characters that a registration cannot carry");
    }
    if !bin.is_file() {
        return refuse("there is no such file");
    }
    if !clients::is_executable(bin) {
        return refuse("it is not executable");
    }
    Ok(text.to_owned())
}
