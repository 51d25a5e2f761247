//! What a confined client may write and may not read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::args::{Confine, RunArgs};
use crate::cli::Machine;
use crate::domain::{Client, Fault, FaultKind, Places, Policy, escape, join};
use crate::host::confine::{Confinement, Held, Ready};
use crate::host::{facts, files};
use crate::rules::kept;

/// Devices that everybody writes to.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];
/// Files beside a cache, below the home directory, that its tool locks it by.
const LOCKS: [&str; 2] = [".cargo/.package-cache", ".cargo/.package-cache-mutate"];

/// What was asked for, and what the kernel answered.
#[derive(Debug)]
pub(super) struct Wanted {
    pub confinement: Confinement,
    /// Or why it cannot be had, where that was all right.
    pub ready: Result<Ready, String>,
}

/// What a run was held to.
#[derive(Debug)]
pub(super) struct Confined {
    pub confinement: Confinement,
    /// Or why it was not.
    pub held: Result<Held, String>,
}

impl Confined {
    pub fn json(&self) -> Value {
        let list = |places: &[PathBuf]| {
            places.iter().map(|place| place.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let (abi, lacks) = match &self.held {
            Ok(held) => (Some(held.abi), held.lacks.as_slice()),
            Err(_) => (None, &[][..]),
        };
        json!({
            "enforced": self.enforced(), "landlock": abi, "lacks": lacks, "problem": self.held.as_ref().err(),
            "writable": list(&self.confinement.writable), "unreadable": list(&self.confinement.unreadable),
        })
    }

    /// Whether the kernel stops all that was asked for.
    fn enforced(&self) -> &'static str {
        match &self.held {
            Ok(held) if held.lacks.is_empty() => "fully",
            Ok(_) => "partially",
            Err(_) => "not",
        }
    }

    pub fn text(&self) -> String {
        let Confinement { writable, unreadable, .. } = &self.confinement;
        match &self.held {
            Err(why) => format!("not confined: {}\n", escape(why)),
            Ok(held) => {
                let mut text = format!(
                    "confined {} by Landlock {}: {} places to write, {} not to read\n",
                    self.enforced(),
                    held.abi,
                    writable.len(),
                    unreadable.len()
                );
                for lack in &held.lacks {
                    text.push_str(&format!("not confined in this: {lack}\n"));
                }
                text
            }
        }
    }
}

/// The confinement that this run asks for; none = it asks for none. One that cannot be had and must be is an error.
pub(super) fn wanted(
    args: &RunArgs,
    client: Client,
    (machine, policy): (&Machine, &Policy),
) -> Result<Option<Wanted>> {
    let Some(how) = args.confine else { return Ok(None) };
    let confinement = confinement(args, client, (machine, policy))?;
    let ready = match (confinement.ready(), how) {
        (Ok(ready), _) => Ok(ready),
        (Err(error), Confine::WherePossible) => Err(error.to_string()),
        (Err(error), Confine::Required) => {
            let fault = Fault::new(FaultKind::Host, "--confine", error.to_string());
            return Err(fault
                .with_hint(
                    "Linux 5.13 or newer with Landlock among its security modules; or --confine=where-possible, or a container",
                )
                .into());
        }
    };
    Ok(Some(Wanted { confinement, ready }))
}

fn confinement(
    args: &RunArgs,
    client: Client,
    (machine, policy): (&Machine, &Policy),
) -> Result<Confinement> {
    let places = machine.places()?;
    for own in [&machine.dirs.state, &machine.dirs.runtime] {
        files::private_dir(own).with_context(|| own.display().to_string())?;
    }
    let mut writable: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    writable.extend([&machine.dirs.state, &machine.dirs.runtime].map(PathBuf::clone));
    writable.extend(work(&places)?);
    writable.extend(policy.scope.iter().filter_map(|place| in_full(place, &places)));
    writable.extend(of_client(client, machine, &places)?);
    let home = places.home.as_deref().map(Path::new);
    let below = |name: &str| home.map(|home| home.join(name));
    writable.extend(kept::caches().chain(LOCKS).filter_map(below));
    writable.retain(|place| place.exists());
    for place in &args.allow_write {
        writable.push(place.canonicalize().with_context(|| format!("--allow-write {}", place.display()))?);
    }
    let mut unreadable: Vec<PathBuf> =
        kept::secrets().filter_map(below).filter_map(|place| place.canonicalize().ok()).collect();
    let mut readable: Vec<PathBuf> =
        kept::not_secret().filter_map(|name| below(&name)).filter(|place| place.exists()).collect();
    for place in &args.allow_read {
        let place = place.canonicalize().with_context(|| format!("--allow-read {}", place.display()))?;
        unreadable.retain(|closed| !closed.starts_with(&place));
        readable.push(place);
    }
    let mut places: Vec<PathBuf> = Vec::with_capacity(writable.len());
    for place in writable {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(Confinement { writable: places, unreadable, readable })
}

/// Where the work is: project, repository with what belongs to it elsewhere, working directory, temporary directories.
fn work(places: &Places) -> Result<Vec<PathBuf>> {
    let cwd = std::env::current_dir().context("the working directory")?;
    let git = places.repo.as_deref().and_then(facts::git_dir);
    let common = git.as_deref().map(facts::common_git_dir);
    if let Some(home) = places.home.as_deref().filter(|home| Path::new(home).starts_with(&cwd)) {
        let fault = Fault::new(
            FaultKind::Host,
            "--confine",
            format!("the work is not to be in a directory of its own, but where {} is", escape(home)),
        );
        return Err(fault.with_hint("start it in a project's directory").into());
    }
    let named = places.roots().map(str::to_owned).chain(git).chain(common).chain(places.temp.clone());
    Ok(named.map(PathBuf::from).chain([cwd]).collect())
}

/// A place of `scope.paths` in full.
fn in_full(place: &str, places: &Places) -> Option<PathBuf> {
    let place = place.trim_end_matches("/**");
    match place.strip_prefix("~/") {
        Some(below) => places.home.as_deref().map(|home| PathBuf::from(join(home, below))),
        None => place.starts_with('/').then(|| PathBuf::from(place)),
    }
}

/// Where the client keeps its own things; directories are made, for it could not.
fn of_client(client: Client, machine: &Machine, places: &Places) -> Result<Vec<PathBuf>> {
    let Some(home) = places.home.as_deref().map(Path::new) else { return Ok(Vec::new()) };
    let (dirs, files) = if client == Client::ClaudeCode {
        match &machine.env.claude_config_dir {
            Some(dir) => (vec![PathBuf::from(dir)], Vec::new()),
            None => (vec![home.join(".claude")], vec![home.join(".claude.json")]),
        }
    } else {
        let base = |name: &str, default: &str| {
            let named = std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
            named.unwrap_or_else(|| home.join(default)).join("opencode")
        };
        let dirs = [
            base("XDG_CONFIG_HOME", ".config"),
            base("XDG_DATA_HOME", ".local/share"),
            base("XDG_STATE_HOME", ".local/state"),
            base("XDG_CACHE_HOME", ".cache"),
        ];
        (dirs.to_vec(), Vec::new())
    };
    for dir in &dirs {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    Ok(dirs.into_iter().chain(files).collect())
}
