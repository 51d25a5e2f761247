//! The service beside the hook: it answers over a socket what holds on several machines. Calls and places are counted in the store; what is
//! stopped is read from it several times a second, so that a call without a limit asks nothing of the network.

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener as Listener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lazaret::domain::fleet::{Answered, Asked, Caller, MAX_LIMITS, MAX_LINE, VERSION};
use lazaret::host::brought::digest;
use lazaret::host::fleet::SYSTEM;
use rand::RngExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::apply;
use crate::settings;
use crate::store::{Stop, Store};

/// Pause between two looks at what is stopped, and how long one may take.
const LOOK: Duration = Duration::from_millis(250);
/// How old what was seen there may be: a stop holds on every machine within a second, or the machine says that it does not know.
const OLD: Duration = Duration::from_millis(900);
/// Most hooks that are answered at once.
const MOST: usize = 512;
/// How long one may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest name of a client, a session, an agent, a repository or a tool, in bytes.
const NAME: usize = 1024;

/// What is stopped, as it was last seen.
#[derive(Debug, Default)]
struct Seen {
    stops: HashMap<String, Stop>,
    at: Option<Instant>,
    /// Why it could not be seen since.
    fault: Option<String>,
}

#[derive(Debug)]
struct Service {
    store: Store,
    seen: RwLock<Seen>,
    machine: String,
    /// Whoever asks, not only who runs this and root.
    for_all: bool,
}

/// Runs until it is told to end.
pub fn run(config: &Path, socket: Option<&Path>, out: &mut dyn Write) -> Result<()> {
    let state = settings::state(config)?;
    let machine = apply::machine()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let store = Store::of(&state).with_context(|| config.display().to_string())?;
        let (listener, place, is_own) = listener(socket)?;
        let listener = UnixListener::from_std(listener)?;
        let for_all = place == Path::new(SYSTEM);
        let service = Arc::new(Service { store, seen: RwLock::default(), machine, for_all });
        service.store.connect();
        tokio::spawn(Arc::clone(&service).look());
        writeln!(out, "lazaret-fleet: {} is open", place.display())?;
        out.flush()?;
        let (mut ended, mut asked) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::select! {
            () = service.serve(listener) => {}
            _ = ended.recv() => {}
            _ = asked.recv() => {}
        }
        if is_own {
            let _gone = std::fs::remove_file(&place);
        }
        Ok(())
    })
}

/// The socket, where it lies, and whether it is this process's to take away: one that was handed over by systemd, or a new one.
fn listener(socket: Option<&Path>) -> Result<(Listener, PathBuf, bool)> {
    if let Some(listener) = handed_over() {
        let place = listener.local_addr()?.as_pathname().map_or_else(PathBuf::new, Path::to_owned);
        listener.set_nonblocking(true)?;
        return Ok((listener, place, false));
    }
    let place = match socket {
        Some(place) => place.to_owned(),
        None => own_place()?,
    };
    let named = || place.display().to_string();
    if let Ok(meta) = std::fs::symlink_metadata(&place) {
        if !meta.file_type().is_socket() {
            bail!("{}: it is there already, and it is no socket", named());
        }
        if std::os::unix::net::UnixStream::connect(&place).is_ok() {
            bail!("{}: another service answers there", named());
        }
        // Left by one that was killed.
        std::fs::remove_file(&place).with_context(named)?;
    }
    let listener = Listener::bind(&place).with_context(named)?;
    let mode = if place == Path::new(SYSTEM) { 0o666 } else { 0o600 };
    std::fs::set_permissions(&place, PermissionsExt::from_mode(mode)).with_context(named)?;
    listener.set_nonblocking(true)?;
    Ok((listener, place, true))
}

/// Where the hook of who runs this looks: root's is the machine's.
fn own_place() -> Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(SYSTEM));
    }
    let env = lazaret::host::dirs::Environment::read();
    let dirs = lazaret::host::dirs::Dirs::locate(&env).map_err(|fault| anyhow::anyhow!(fault.message()))?;
    Ok(lazaret::host::fleet::own(&dirs))
}

/// The one socket that systemd opened for this process.
#[allow(unsafe_code, reason = "a descriptor by its number has no safe form")]
fn handed_over() -> Option<Listener> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if number("LISTEN_PID") != Some(std::process::id()) || number("LISTEN_FDS") != Some(1) {
        return None;
    }
    // SAFETY: who names this process in LISTEN_PID has opened descriptor 3 for it alone, and nothing else here takes it.
    Some(Listener::from(unsafe { OwnedFd::from_raw_fd(3) }))
}

impl Service {
    /// Sees again and again what is stopped.
    async fn look(self: Arc<Self>) {
        loop {
            let begun = Instant::now();
            let found = self.store.stops(LOOK).await;
            if let Ok(mut seen) = self.seen.write() {
                match found {
                    Ok(stops) => *seen = Seen { stops, at: Some(begun), fault: None },
                    Err(why) => seen.fault = Some(why),
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn serve(self: &Arc<Self>, listener: UnixListener) {
        let places = Arc::new(Semaphore::new(MOST));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let service = Arc::clone(self);
                    tokio::spawn(async move {
                        // Who hung up has no use for an answer.
                        let _left = service.answer(stream).await;
                        drop(place);
                    });
                }
                // No descriptor is left: hooks wait for one, or for their own deadline.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// One question, one answer.
    async fn answer(&self, stream: UnixStream) -> std::io::Result<()> {
        let peer = stream.peer_cred()?.uid();
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let mut limited = (&mut stream).take(most);
        match timeout(PATIENCE, limited.read_until(b'\n', &mut line)).await {
            Ok(read) => read?,
            Err(_) => return Ok(()),
        };
        let answer = self.answered(&line, peer).await;
        let mut text = serde_json::to_vec(&answer)?;
        text.push(b'\n');
        stream.write_all(&text).await
    }

    async fn answered(&self, line: &[u8], peer: u32) -> Answered {
        let unknown = |why: String| Answered::Unknown { why };
        if !self.for_all && peer != 0 && peer != rustix::process::geteuid().as_raw() {
            return unknown(format!("it is another user's than {peer}"));
        }
        let asked: Asked = match serde_json::from_slice(line) {
            Ok(asked) => asked,
            Err(error) => return unknown(format!("the question cannot be read: {error}")),
        };
        if asked.version() != VERSION {
            return unknown(format!("the question is of version {}, and this is {VERSION}", asked.version()));
        }
        match asked {
            Asked::Call { caller, repository, limits, lease, within_ms, .. } => {
                let names =
                    names(&caller).chain(repository.as_deref()).chain(limits.iter().map(|one| &*one.tool));
                if limits.len() > MAX_LIMITS || names.into_iter().any(|name| name.len() > NAME) {
                    return unknown(format!(
                        "more than {MAX_LIMITS} limits, or a name of more than {NAME} bytes"
                    ));
                }
                match self.stopped(&caller, repository.as_deref()) {
                    Ok(None) => {}
                    Ok(Some(stopped)) => return stopped,
                    Err(why) => return unknown(why),
                }
                let id = lazaret::host::hex(&rand::rng().random::<[u8; 16]>());
                let holder = self.holder(&caller, peer);
                let lease = lease.as_ref().map(|lease| (&*holder, lease));
                // The rest is for the way to the hook.
                let within = Duration::from_millis(within_ms.into()) * 3 / 4;
                self.store.count(&id, &limits, lease, within).await.unwrap_or_else(unknown)
            }
            Asked::Ended { caller, .. } => {
                let freed = self.store.free(&self.holder(&caller, peer)).await;
                freed.map_or_else(unknown, |()| Answered::Runs)
            }
        }
    }

    /// Whose place it is: nobody else can give it back.
    fn holder(&self, caller: &Caller, peer: u32) -> String {
        let peer = peer.to_string();
        let of: Vec<&str> = [&*self.machine, &*peer].into_iter().chain(names(caller)).collect();
        digest(of.join("\0").as_bytes())
    }

    /// What a person has stopped that this call belongs to.
    fn stopped(&self, caller: &Caller, repository: Option<&str>) -> Result<Option<Answered>, String> {
        let seen = self.seen.read().map_err(|_| "what is stopped cannot be looked at".to_owned())?;
        if seen.at.is_none_or(|at| at.elapsed() > OLD) {
            let why = seen.fault.clone().unwrap_or_else(|| "the store was not reached yet".to_owned());
            return Err(format!("it is not known what is stopped: {why}"));
        }
        let session = session(&caller.client, &caller.session);
        let repository = repository.map(|repository| format!("{REPOSITORY}{repository}"));
        let of = [Some(ALL), Some(session.as_str()), repository.as_deref()];
        let found = of.into_iter().flatten().find_map(|what| Some((what, seen.stops.get(what)?)));
        Ok(found.map(|(what, stop)| Answered::Stopped { what: said(what), why: stop.why.clone() }))
    }
}

/// What a stop of everything is kept under.
pub const ALL: &str = "all";
/// What a stop of a repository's sessions is kept under, in front of where it comes from.
pub const REPOSITORY: &str = "repository ";

/// What a stop of a session is kept under.
pub fn session(client: &str, session: &str) -> String {
    format!("session {client} {session}")
}

/// The same, as people are told it.
pub fn said(what: &str) -> String {
    if what == ALL { "everything".to_owned() } else { format!("the {what}") }
}

fn names(caller: &Caller) -> impl Iterator<Item = &str> {
    [&*caller.client, &*caller.session].into_iter().chain(caller.agent.as_deref())
}
