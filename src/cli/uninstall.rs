//! `lazaret uninstall`: takes out what install put in. Where nothing else changed since, the bytes from before come back.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cli::install::{agent_for, agent_path, program_in, shown};
use crate::cli::{Exit, clients};
use crate::domain::{Client, Fault, FaultKind};
use crate::host::registration::manifest::{Before, Kind, Loaded, Manifest, Written};
use crate::host::registration::{Scope, Surroundings, diff, files, settings};
use crate::host::released::Release;
use crate::host::watch::Sealed;

/// What `lazaret uninstall` was asked to do.
#[derive(Debug, Clone)]
pub struct UninstallOptions {
    /// None named: all.
    pub clients: Vec<Client>,
    /// None named: wherever install wrote.
    pub scope: Option<Scope>,
    /// Show the changes and make none.
    pub dry_run: bool,
}

/// What is to be done with one file.
enum Undo {
    Nothing,
    /// Somebody changed it since, and it is not settings that can be changed in part.
    Left,
    Delete,
    /// The new text, and the backup that is of no more use then.
    Write(String, Option<PathBuf>),
}

/// One file, what was recorded about it, and what is to be done.
struct Step {
    path: PathBuf,
    record: Option<Written>,
    undo: Undo,
}

/// Takes the registration out again.
pub fn uninstall(options: &UninstallOptions, here: &Surroundings, out: &mut dyn Write) -> Result<Exit> {
    let Loaded { mut manifest, .. } = match options.dry_run {
        true => Loaded { manifest: Manifest::peek(here), set_aside: None },
        false => Manifest::load(here)?,
    };
    let steps = steps(options, here, &manifest)?;
    let found = steps.iter().any(|step| !matches!(step.undo, Undo::Nothing));
    let mut exit = Exit::Fine;
    let mut dirs = Vec::new();
    // Held until all is done: a hook that looks meanwhile waits, and then finds nothing that is to be put back.
    let known = !options.dry_run && here.state_dir.exists();
    let mut sealed = if known { Some(Sealed::open(&here.state_dir)?) } else { None };
    for Step { path, record, undo } in steps {
        if options.dry_run {
            show(&path, &undo, out)?;
            continue;
        }
        if matches!(undo, Undo::Left) {
            exit = Exit::Failed;
        } else {
            dirs.extend(record.into_iter().flat_map(|record| record.dirs));
            manifest.forget(&path);
        }
        carry_out(&path, undo, out)?;
        if let Some(sealed) = &mut sealed {
            sealed.forget(&path.to_string_lossy())?;
        }
    }
    sealed.map_or(Ok(()), Sealed::close)?;
    if !options.dry_run {
        crate::domain::sort_by(&mut dirs, Ord::cmp);
        files::remove_empty_dirs(&dirs);
        manifest.save(here)?;
    }
    if !found {
        writeln!(out, "nothing to undo: no registration of lazaret was found")?;
    } else if options.dry_run {
        writeln!(out, "nothing was changed (--dry-run)")?;
    } else {
        writeln!(out, "sessions that are open now keep what they started with; start them again")?;
    }
    if here.state_dir.exists() && manifest.written.is_empty() && !options.dry_run {
        let state = shown(&here.state_dir);
        writeln!(out, "kept       {state}: what was recorded; to remove it: rm -r {state}")?;
    }
    Ok(exit)
}

/// Takes away what install.sh put beside the binary: the manual, the completions and the list of sums.
pub fn beside(exe: &Path, dry_run: bool, out: &mut dyn Write) -> Result<()> {
    let Some(release) = Release::of(exe) else { return Ok(()) };
    let files = release.removable()?;
    let what = format!(
        "{} files of the manual and the completions, {} with them",
        files.len(),
        shown(&release.list)
    );
    if dry_run {
        writeln!(out, "would be deleted  {what}")?;
    } else if !files.is_empty() {
        release.remove(&files)?;
        writeln!(out, "deleted    {what}")?;
    }
    Ok(())
}

/// All that is to be done, worked out before the first of it is.
fn steps(options: &UninstallOptions, here: &Surroundings, manifest: &Manifest) -> Result<Vec<Step>, Fault> {
    let recorded = manifest.bins();
    let mut steps = Vec::new();
    for (path, kind, client) in places(options, here, manifest) {
        let record = manifest.find(&path).cloned();
        let undo = match kind {
            Kind::Settings | Kind::Plugins => {
                let less = |text: &str| (clients::of(client).without)(&path, text, &recorded, here);
                undo_settings(&path, record.as_ref(), less)?
            }
            Kind::Whole => undo_whole(&path, record.as_ref(), &recorded)?,
        };
        steps.push(Step { path, record, undo });
    }
    Ok(steps)
}

/// The files that may hold something of ours: those recorded, and those that install would write from here.
fn places(
    options: &UninstallOptions,
    here: &Surroundings,
    manifest: &Manifest,
) -> Vec<(PathBuf, Kind, Client)> {
    let mut seen = BTreeSet::new();
    let mut places = Vec::new();
    let of_other_scope = |path: &Path| {
        let record = manifest.find(path);
        record.is_some_and(|record| !Client::ALL.iter().any(|client| record.is_of(*client, options.scope)))
    };
    let mut add = |path: PathBuf, kind: Kind, client: Client| {
        // Project and local scope share the reviewer's definition.
        if !of_other_scope(&path) && seen.insert(path.clone()) {
            places.push((path, kind, client));
        }
    };
    for client in
        Client::ALL.into_iter().filter(|c| options.clients.is_empty() || options.clients.contains(c))
    {
        for written in manifest.written.iter().filter(|written| written.is_of(client, options.scope)) {
            add(written.path.clone(), written.kind, client);
        }
        for scope in
            Scope::OF_USERS.into_iter().filter(|scope| options.scope.is_none_or(|only| only == *scope))
        {
            // Without a home directory there is no such place.
            if client.about().reviews {
                let _ = agent_path(client, scope, here).map(|path| add(path, Kind::Whole, client));
            }
            for (path, kind) in (clients::of(client).places)(scope, here) {
                add(path, kind, client);
            }
        }
    }
    places
}

fn undo_settings(
    path: &Path,
    record: Option<&Written>,
    less: impl Fn(&str) -> Result<String, settings::Unusable>,
) -> Result<Undo, Fault> {
    let less = |text: &str| if text.trim().is_empty() { Ok(text.to_owned()) } else { less(text) };
    let made_by_us = record.is_some_and(|record| record.before == Before::Absent);
    let empty = |less: &str| less.trim().trim_start_matches('{').trim_end_matches('}').trim().is_empty();
    Ok(match undo_in_part(path, record, less)? {
        Undo::Write(less, None) if made_by_us && empty(&less) => Undo::Delete,
        undo => undo,
    })
}

/// What was there before, or else the text without what is ours.
fn undo_in_part(
    path: &Path,
    record: Option<&Written>,
    less: impl Fn(&str) -> Result<String, settings::Unusable>,
) -> Result<Undo, Fault> {
    let Some(text) = files::read(path)? else { return Ok(Undo::Nothing) };
    if let Some(record) = record.filter(|record| record.after == files::digest(&text))
        && let Some(undo) = exactly(record)?
    {
        return Ok(undo);
    }
    let less = less(&text).map_err(|unusable| {
        Fault::new(FaultKind::Config, shown(path), format!("{unusable}; it was left as it is"))
            .with_hint("fix the file and run this again")
    })?;
    Ok(if less == text { Undo::Nothing } else { Undo::Write(less, None) })
}

fn undo_whole(path: &Path, record: Option<&Written>, recorded: &[String]) -> Result<Undo, Fault> {
    let Some(text) = files::read(path)? else { return Ok(Undo::Nothing) };
    let agents = Client::ALL.map(agent_for);
    let ours = agents.contains(&text) || program_in(&text).is_some_and(|(bin, _)| recorded.contains(&bin));
    Ok(match record {
        Some(record) if record.after == files::digest(&text) => exactly(record)?.unwrap_or(Undo::Delete),
        Some(_) => Undo::Left,
        None if ours => Undo::Delete,
        None => Undo::Nothing,
    })
}

/// What was there before, if that is known to the byte.
fn exactly(record: &Written) -> Result<Option<Undo>, Fault> {
    Ok(match &record.before {
        Before::Absent => Some(Undo::Delete),
        Before::Mixed => None,
        Before::Backup(backup) => files::read(backup)?.map(|text| Undo::Write(text, Some(backup.clone()))),
    })
}

fn show(path: &Path, undo: &Undo, out: &mut dyn Write) -> Result<()> {
    match undo {
        Undo::Nothing => {}
        Undo::Left => writeln!(out, "would be left  {}: it was changed since", shown(path))?,
        Undo::Delete => writeln!(out, "would be deleted  {}", shown(path))?,
        Undo::Write(new, _) => {
            let old = files::read(path)?.unwrap_or_default();
            write!(out, "{}", diff::unified(&shown(path), &old, new))?;
        }
    }
    Ok(())
}

fn carry_out(path: &Path, undo: Undo, out: &mut dyn Write) -> Result<()> {
    match undo {
        Undo::Nothing => {}
        Undo::Left => {
            writeln!(out, "left       {}: it was changed since lazaret wrote it", shown(path))?;
            writeln!(out, "           to remove it: rm {}", shown(path))?;
        }
        Undo::Delete => {
            files::remove(path)?;
            writeln!(out, "deleted    {}", shown(path))?;
        }
        Undo::Write(text, backup) => {
            files::replace(path, &text, 0o644)?;
            match backup {
                Some(backup) => {
                    files::remove(&backup)?;
                    writeln!(out, "restored   {}: as it was before", shown(path))?;
                }
                None => {
                    writeln!(out, "changed    {}: the hooks are out, the rest is as it was", shown(path))?
                }
            }
        }
    }
    Ok(())
}
