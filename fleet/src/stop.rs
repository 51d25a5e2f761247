//! What a person who runs the fleet stops, and lets go on: a session, every session of a repository, or everything.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use lazaret::domain::{Client, ReviewId, escape, fleet};

use crate::serve::{ALL, ENDED, REPOSITORY, REVIEW, said, session};
use crate::settings;
use crate::store::{Stop, Store};

/// Longest reason, in bytes.
pub const WHY: usize = 500;
/// How long a look at all stops may take.
const LOOK: Duration = Duration::from_secs(2);

/// What is meant.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct What {
    /// A session, by its client and id (`claude-code:1b4e28ba-…`)
    #[arg(long, value_name = "CLIENT:ID")]
    session: Option<String>,
    /// All sessions in work trees of a repository, by the address of its `origin`
    #[arg(long, value_name = "ADDRESS")]
    repository: Option<String>,
    /// The agents of a review session, by its id
    #[arg(long, value_name = "ID")]
    review: Option<String>,
    /// Every session on every machine
    #[arg(long)]
    all: bool,
}

impl What {
    /// What it is kept under.
    fn key(&self) -> Result<String> {
        if let Some(named) = &self.session {
            let Some((client, id)) = named.split_once(':').filter(|(_, id)| !id.is_empty()) else {
                bail!("--session {}: write it as CLIENT:ID", escape(named));
            };
            let known = Client::ALL.iter().find(|known| known.name() == client);
            let Some(client) = known else {
                let known: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
                bail!("--session {}: the client is none of {}", escape(named), known.join(", "));
            };
            return Ok(session(client.name(), id));
        }
        if let Some(address) = &self.repository {
            let plain = !address.contains("://") && !address.contains(['@', ':', '\\']);
            let with_scheme = format!("https://{address}");
            let from =
                fleet::repository(address).or_else(|| plain.then(|| fleet::repository(&with_scheme))?);
            // It is not repeated: it may hold a password.
            let Some(from) = from else {
                bail!("--repository: it is no address that machines share; write it as HOST/PATH");
            };
            return Ok(format!("{REPOSITORY}{from}"));
        }
        if let Some(text) = &self.review {
            return Ok(review(&lazaret::cli::review::shared::parsed(text)?));
        }
        Ok(ALL.to_owned())
    }
}

/// What the end of a review session is kept under: nothing lifts it.
pub fn ended(id: &ReviewId) -> String {
    format!("{ENDED}{id}")
}

/// What a stop of a review session is kept under.
pub fn review(id: &ReviewId) -> String {
    format!("{REVIEW}{id}")
}

pub fn stop(config: &Path, what: &What, why: &str, out: &mut dyn Write) -> Result<()> {
    if why.trim().is_empty() || why.len() > WHY {
        bail!("--why: write a reason of at most {WHY} bytes; every agent that is stopped is told it");
    }
    let key = what.key()?;
    let since = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let new = with(config, async |store| {
        store.stop(&key, &Stop { why: why.to_owned(), since, until: None }).await
    })?;
    let told = if new { "is stopped" } else { "was stopped already, and has this reason now" };
    writeln!(out, "{} {told}: every machine follows within a second", shown(&key))?;
    Ok(())
}

pub fn resume(config: &Path, what: &What, out: &mut dyn Write) -> Result<()> {
    let key = what.key()?;
    if !with(config, async |store| store.resume(&key).await)? {
        bail!("{} is not stopped; `lazaret-fleet stops` shows what is", shown(&key));
    }
    writeln!(out, "{} may go on", shown(&key))?;
    Ok(())
}

pub fn stops(config: &Path, json: bool, out: &mut dyn Write) -> Result<()> {
    let found = with(config, async |store| store.stops(LOOK).await.map_err(|why| anyhow::anyhow!(why)))?;
    let mut found: Vec<(String, Stop)> = found.into_iter().collect();
    found.sort_by(|one, other| one.1.since.cmp(&other.1.since).then(one.0.cmp(&other.0)));
    if json {
        let rows: Vec<serde_json::Value> = found
            .iter()
            .map(|(what, stop)| serde_json::json!({"what": what, "why": stop.why, "since": stop.since}))
            .collect();
        writeln!(out, "{}", serde_json::json!({ "stops": rows }))?;
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "nothing is stopped")?;
    }
    for (what, stop) in found {
        writeln!(out, "{}, since {}: {}", shown(&what), escape(&stop.since), escape(&stop.why))?;
    }
    Ok(())
}

fn shown(key: &str) -> String {
    escape(&said(key))
}

/// Does one thing with the store.
pub fn with<T>(config: &Path, act: impl AsyncFnOnce(&Store) -> Result<T>) -> Result<T> {
    let state = settings::state(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Store::of(&state).with_context(|| config.display().to_string())?;
        store.reached().await.with_context(|| config.display().to_string())?;
        act(&store).await
    })
}
