//! Review sessions that are opened on one machine and used on others: shared, taken and ended over the store, which never sees what is in
//! them.

mod identity;
mod parcel;
mod stored;

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use lazaret::cli::Machine;
use lazaret::cli::review::shared;
use lazaret::domain::{Key, ReviewId, escape};
use lazaret::host::quarantine::Shared;
use zeroize::Zeroizing;

use crate::settings::{self, Machine as Known};
use crate::stop;
use crate::store::{Stop, Store};
use identity::Identity;
use parcel::Head;

/// Longest list of files in a parcel, in bytes.
const MAX_LIST: u32 = 24 << 20;
/// How long an end is remembered, in seconds: longer than any session lasts.
const OVER_S: u64 = 25 * 60 * 60;

#[derive(Debug, Subcommand)]
pub enum Review {
    /// Show this machine's public key, for the settings of all machines; it is made the first time
    Key {
        #[command(flatten)]
        config: crate::Config,
    },
    /// Let other machines use a review session of this one
    Share {
        /// The session's id
        id: String,
        /// A machine, by its name in the settings; may be given again
        #[arg(long = "with", value_name = "NAME", required = true)]
        with: Vec<String>,
        #[command(flatten)]
        config: crate::Config,
    },
    /// Open a review session here that another machine shared
    Take {
        /// The session's id
        id: String,
        /// The machine that shared it, by its name in the settings
        #[arg(long, value_name = "NAME")]
        from: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        config: crate::Config,
    },
    /// End a review session on all machines
    End {
        /// The session's id
        id: String,
        #[command(flatten)]
        config: crate::Config,
    },
}

pub fn run(review: &Review, out: &mut dyn Write) -> Result<()> {
    match review {
        Review::Key { config } => key(&config.config, out),
        Review::Share { id, with, config } => share(id, with, &config.config, out),
        Review::Take { id, from, json, config } => take((id, from), *json, &config.config, out),
        Review::End { id, config } => end(id, &config.config, out),
    }
}

fn key(config: &Path, out: &mut dyn Write) -> Result<()> {
    let identity = Identity::open_or_make(&identity::state()?)?;
    // Where there are settings already, how it is called in them.
    let known = settings::machines(config).unwrap_or_default();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let name = identity.name(&known, config).unwrap_or(&host);
    writeln!(out, "[[machines]]\nname = {:?}\nkey = {:?}", escape(name), identity.text())?;
    Ok(())
}

fn share(text: &str, with: &[String], config: &Path, out: &mut dyn Write) -> Result<()> {
    let (machines, identity) = known(config)?;
    let own = identity.name(&machines, config)?;
    let mut to = Vec::with_capacity(with.len());
    for name in with {
        let machine = named(&machines, name, config)?;
        to.push((machine.name.as_str(), identity::public(machine)?));
    }
    let here = Machine::here()?;
    let session = shared::open_session(text, &here)?;
    let (id, expires, files) = (session.id.clone(), session.expires_unix_ms(), session.files);
    let (shared, key) = Shared::of(&here.dirs, session).map_err(told)?;
    let (head, body) = parcel::seal(&id, (own, &identity), &to, content(&shared, &key)?)?;
    let left = Duration::from_millis(expires.saturating_sub(now_ms()));
    // Key and copies leave the machine: first the line that says so.
    shared::noted(&id, &with.join(", "), &here)?;
    stop::with(config, async |store| {
        goes_on(store, &id).await?;
        let before = store.shared(&id).await?;
        store.share(&id, (&serde_json::to_string(&head)?, &head.at), &body, left).await?;
        match before.map(|text| parcel::head(&id, &text)) {
            Some(Ok(old)) => store.unshare(&old.at).await,
            // What cannot be read goes with its time.
            Some(Err(_)) | None => Ok(()),
        }
    })?;
    let until = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(expires));
    let names: Vec<&str> = to.iter().map(|(name, _)| *name).collect();
    writeln!(out, "review {id}: {files} files are shared with {} until {until}", names.join(", "))?;
    writeln!(out, "there: lazaret-fleet review take {id} --from {own}")?;
    Ok(())
}

fn take((text, from): (&str, &str), json: bool, config: &Path, out: &mut dyn Write) -> Result<()> {
    let id = shared::parsed(text)?;
    let (machines, identity) = known(config)?;
    let own = identity.name(&machines, config)?;
    let from = named(&machines, from, config)?;
    let fetched = stop::with(config, async |store| {
        goes_on(store, &id).await?;
        let Some(text) = store.shared(&id).await? else {
            bail!(
                "review {id}: nobody shares it, or no more; `lazaret-fleet review share` does, where it was opened"
            )
        };
        let head = parcel::head(&id, &text)?;
        let body = store.content(&head.at, head.bytes).await.with_context(|| format!("review {id}"))?;
        Ok((head, body))
    });
    let (head, body): (Head, Vec<u8>) = fetched?;
    // Every machine of the settings can put something there under any id.
    if head.from != from.name {
        bail!("review {id}: it is {} who shares it, not {}", escape(&head.from), escape(&from.name));
    }
    let content = parcel::open(&id, (&head, body), (own, &identity), &identity::public(from)?)?;
    let mut rest = Cursor::new(&content[..]);
    let (shared, key) = listed(&mut rest).with_context(|| format!("review {id}: what came of it"))?;
    if shared.session.id != id {
        bail!("review {id}: what came is another session");
    }
    shared::take((shared, &from.name), &key, &mut rest, (json, &Machine::here()?), out)
}

fn end(text: &str, config: &Path, out: &mut dyn Write) -> Result<()> {
    let id = shared::parsed(text)?;
    // Here first: what is over here is over, whatever becomes of the rest.
    let here = shared::end(&id, &Machine::here()?)?;
    let since = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let shared = stop::with(config, async |store| {
        let now = store.time().await?;
        let stop = Stop { why: "it was ended".to_owned(), since, until: Some(now.saturating_add(OVER_S)) };
        store.stop(&stop::ended(&id), &stop).await?;
        let shared = store.shared(&id).await?;
        if let Some(Ok(head)) = shared.as_deref().map(|text| parcel::head(&id, text)) {
            store.unshare(&head.at).await?;
        }
        store.forget(&id).await?;
        store.tidy(now).await?;
        Ok(shared.is_some())
    })?;
    let words = match (here, shared) {
        (true, _) => "it has ended here; its agents are refused on all machines within a second",
        (false, true) => "it was not open here; its agents are refused on all machines within a second",
        (false, false) => {
            "it was not open here, and nobody shared it; its agents are refused on all machines"
        }
    };
    writeln!(out, "review {id}: {words}")?;
    Ok(())
}

/// Of one that was ended nothing is shared and nothing taken.
async fn goes_on(store: &Store, id: &ReviewId) -> Result<()> {
    if store.is_stopped(&stop::ended(id)).await? {
        bail!("review {id}: it was ended on all machines; start a new one");
    }
    Ok(())
}

fn known(config: &Path) -> Result<(Vec<Known>, Identity)> {
    let machines = settings::machines(config)?;
    let state: PathBuf = identity::state()?;
    let identity = Identity::open(&state)?;
    let identity = identity.context("this machine has no key yet; `lazaret-fleet review key` makes one")?;
    Ok((machines, identity))
}

fn named<'m>(machines: &'m [Known], name: &str, config: &Path) -> Result<&'m Known> {
    let file = config.display();
    let found = machines.iter().find(|machine| machine.name == name);
    found.with_context(|| format!("{file}: none of [[machines]] is called {}", escape(name)))
}

/// The key, the length of the list, the list, the copies.
fn content(shared: &Shared, key: &Key) -> Result<Zeroizing<Vec<u8>>> {
    let list = serde_json::to_vec(shared)?;
    let length = u32::try_from(list.len()).ok().filter(|length| *length <= MAX_LIST);
    let length = length.context("its list of files is too long to be shared; review less at once")?;
    let room = list.len() + usize::try_from(shared.session.bytes).unwrap_or(0) + 1024;
    let mut content = Zeroizing::new(Vec::with_capacity(room));
    content.extend_from_slice(key.bytes());
    content.extend_from_slice(&length.to_be_bytes());
    content.extend_from_slice(&list);
    shared.write_copies(&mut *content).map_err(told)?;
    Ok(content)
}

/// The other way about; what is left are the copies.
fn listed(content: &mut dyn Read) -> Result<(Shared, Key)> {
    let (mut key, mut length) = (Zeroizing::new([0; Key::LEN]), [0; 4]);
    content.read_exact(&mut *key)?;
    content.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_LIST {
        bail!("its list is too long");
    }
    let mut list = Vec::new();
    content.take(length.into()).read_to_end(&mut list)?;
    Ok((serde_json::from_slice(&list)?, Key::new(*key)))
}

fn told(fault: lazaret::domain::Fault) -> anyhow::Error {
    anyhow::Error::from(fault)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
