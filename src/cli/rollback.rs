//! `lazaret rollback`: puts back what checkpoints hold, and says what it did not.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::cli::args::RollbackArgs;
use crate::cli::checkpoint::{ACTION, named, store};
use crate::cli::progress::{self, Progress, Total};
use crate::cli::{Exit, Machine};
use crate::domain::{Client, SessionId, Subject, clip, escape, join, lies_in};
use crate::host::Watched;
use crate::host::checkpoint::{Checkpoints, Done, Manifest, Meta, Refusal, State, Undo};
use crate::host::clock;
use crate::host::facts;

/// Most checkpoints that are looked at for the last one.
const LOOKED_AT: usize = 200;

pub fn run(args: &RollbackArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let store = store(machine)?;
    let cwd = std::env::current_dir().context("the working directory")?.to_string_lossy().into_owned();
    let chosen = chosen(&store, args, &cwd)?;
    let chosen = if args.last { newest_that_matters(&store, chosen)? } else { chosen };
    let newest = chosen.first().ok_or_else(|| anyhow!("rollback: there is no checkpoint to go back to"))?;
    let forced: Vec<String> = args
        .force
        .iter()
        .map(|path| {
            let path = join(&cwd, &path.to_string_lossy());
            let (dir, name) = path.rsplit_once('/').unwrap_or_default();
            join(&facts::real_path(if dir.is_empty() { "/" } else { dir }), name)
        })
        .collect();
    let undo = store.plan(&chosen, &forced)?;
    let done = if args.dry_run { Done::default() } else { watched(&store, newest, &chosen, &undo)? };
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json(args, &chosen, &undo, &done))?)?;
    } else {
        text(args, (&chosen, &undo), &done, out)?;
    }
    if done.untouched > 0 {
        return Err(progress::stopped("rollback"));
    }
    let whole = undo.conflicts.is_empty() && undo.unsaved.is_empty() && done.failed.is_empty();
    Ok(if whole { Exit::Fine } else { Exit::Failed })
}

/// The checkpoints that are meant, the newest first.
fn chosen(store: &Checkpoints, args: &RollbackArgs, cwd: &str) -> Result<Vec<Manifest>> {
    if let Some(id) = &args.id {
        return Ok(vec![named(store, id)?]);
    }
    let mut standing = store.standing()?;
    if let Some(session) = &args.session {
        let of = |manifest: &Manifest| args.client.is_none_or(|client| client.name() == manifest.client);
        standing.retain(|manifest| manifest.session == *session && of(manifest));
    }
    if let Some(prompt) = &args.prompt {
        standing.retain(|manifest| manifest.prompt.as_deref() == Some(prompt));
        return Ok(standing);
    }
    if args.session.is_none() && !args.any {
        standing.retain(|manifest| same_project(cwd, manifest.root.as_deref().unwrap_or(&manifest.cwd)));
    }
    if standing.is_empty() {
        let whose = match &args.session {
            Some(session) => format!("session {}", escape(session)),
            None if args.any => "any project".to_owned(),
            None => format!("this project, {}", escape(repository(cwd).unwrap_or(cwd))),
        };
        bail!(
            "rollback: there is no checkpoint of {whose}; `lazaret checkpoint list` shows all, \
             `lazaret rollback ID` undoes one of them, `lazaret rollback --last --any` the newest of all projects"
        );
    }
    Ok(standing)
}

/// The repository that the directory lies in.
fn repository(dir: &str) -> Option<&str> {
    Path::new(dir).ancestors().find(|dir| dir.join(".git").exists()).and_then(Path::to_str)
}

/// Both lie in one repository, or, where neither lies in any, the first lies in the second.
fn same_project(cwd: &str, root: &str) -> bool {
    match (repository(cwd), repository(root)) {
        (None, None) => lies_in(cwd, root),
        (here, there) => here == there,
    }
}

/// The newest one whose call has left anything that is not as it was: what never ran does not hide what did.
fn newest_that_matters(store: &Checkpoints, standing: Vec<Manifest>) -> Result<Vec<Manifest>> {
    let mut newest = None;
    for manifest in standing.into_iter().take(LOOKED_AT) {
        if !store.plan(std::slice::from_ref(&manifest), &[])?.is_void() {
            return Ok(vec![manifest]);
        }
        newest.get_or_insert(manifest);
    }
    Ok(newest.into_iter().collect())
}

/// The same, shown while it takes time; a stop ends it behind the path that it is at.
fn watched(store: &Checkpoints, newest: &Manifest, chosen: &[Manifest], undo: &Undo) -> Result<Done> {
    let all = undo.steps().count() as u64;
    let mut progress = Progress::begin("putting back", Total::Files(all)).finishing();
    perform(store, newest, chosen, (undo, &mut |done| progress.at(done)))
}

pub(in crate::cli) fn perform(
    store: &Checkpoints,
    newest: &Manifest,
    chosen: &[Manifest],
    (undo, each): (&Undo, &mut Watched<'_>),
) -> Result<Done> {
    let session =
        SessionId::new(&newest.session).ok_or_else(|| anyhow!("the checkpoint names no session"))?;
    let client = Client::from_name(&newest.client).unwrap_or(Client::ClaudeCode);
    let subject = Subject { client, session, agent: None, agent_type: None };
    let ids: Vec<&str> = chosen.iter().map(|manifest| manifest.id.as_str()).collect();
    let meta = Meta {
        subject: &subject,
        prompt: None,
        call: None,
        tool: "rollback",
        action: &format!("lazaret rollback {}", ids.join(" ")),
        cwd: &newest.cwd,
        root: newest.root.as_deref(),
    };
    Ok(store.perform(undo, &meta, clock::now(), each)?)
}

fn json(args: &RollbackArgs, chosen: &[Manifest], undo: &Undo, done: &Done) -> Value {
    let refusals = |list: &[Refusal]| {
        list.iter().map(|refusal| json!({ "path": refusal.path, "why": refusal.why })).collect::<Vec<_>>()
    };
    let (removed, restored): (Vec<_>, Vec<_>) =
        undo.steps().partition(|(_, state)| matches!(state, State::Absent));
    let names = |steps: Vec<(&str, &State)>| steps.into_iter().map(|(path, _)| path.to_owned()).collect();
    let (restored, removed): (Vec<String>, Vec<String>) = if args.dry_run {
        (names(restored), names(removed))
    } else {
        (done.restored.clone(), done.removed.clone())
    };
    json!({
        "checkpoints": chosen.iter().map(|manifest| manifest.id.as_str()).collect::<Vec<_>>(),
        "dry_run": args.dry_run,
        "rollback": done.id,
        "restored": restored,
        "removed": removed,
        "unchanged": undo.unchanged,
        "conflicts": refusals(&undo.conflicts),
        "unsaved": refusals(&undo.unsaved),
        "omitted": refusals(&undo.omitted),
        "left": undo.stays,
        "failed": refusals(&done.failed),
        "untouched": done.untouched,
        "linked": done.linked,
    })
}

fn text(
    args: &RollbackArgs,
    (chosen, undo): (&[Manifest], &Undo),
    done: &Done,
    out: &mut dyn Write,
) -> Result<()> {
    for manifest in chosen {
        let (id, tool, action) = (&manifest.id, &manifest.tool, clip(&manifest.action, ACTION));
        let verb = if args.dry_run { "would undo" } else { "undoes" };
        writeln!(out, "{verb} {id}, made before {tool}: {}", escape(&action))?;
    }
    if args.dry_run {
        for (path, state) in undo.steps() {
            let what = if matches!(state, State::Absent) { "would remove" } else { "would restore" };
            writeln!(out, "{what} {}", escape(path))?;
        }
    }
    for path in &done.restored {
        writeln!(out, "restored {}", escape(path))?;
    }
    for path in &done.removed {
        writeln!(out, "removed {}", escape(path))?;
    }
    for path in &done.linked {
        writeln!(out, "note: {} had other names, which keep the later content", escape(path))?;
    }
    for Refusal { path, why } in &undo.conflicts {
        writeln!(out, "left alone {}: {why}", escape(path))?;
    }
    if let (Some(Refusal { path, .. }), [only]) = (undo.conflicts.first(), chosen) {
        writeln!(out, "to put one back all the same: lazaret rollback {} --force {}", only.id, escape(path))?;
    }
    for Refusal { path, why } in &undo.unsaved {
        writeln!(out, "not saved {}: {why}", escape(path))?;
    }
    for Refusal { path, why } in &undo.omitted {
        writeln!(out, "not in the checkpoint {}: {why}", escape(path))?;
    }
    for path in &undo.stays {
        writeln!(out, "left as the call made it {}", escape(path))?;
    }
    for Refusal { path, why } in &done.failed {
        writeln!(out, "failed {}: {}", escape(path), escape(why))?;
    }
    if undo.is_empty() && undo.conflicts.is_empty() {
        writeln!(out, "nothing to put back")?;
    }
    if done.untouched > 0 {
        writeln!(out, "stopped: {} paths were not touched; the same command puts them back", done.untouched)?;
    }
    if let Some(id) = &done.id {
        writeln!(out, "to undo this: lazaret rollback {id}")?;
    }
    Ok(())
}
