//! The service beside the hook: it answers over a socket what holds on several machines. Calls and places are counted in the store; what is
//! stopped is read from it several times a second, so that a call without a limit asks nothing of the network.

use std::collections::HashMap;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as Listener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lazaret::domain::clip;
use lazaret::domain::fleet::{
    Answered, Asked, Caller, Counted, Lease, MAX_ADDRESSES, MAX_LIMITS, MAX_LINE, VERSION,
};
use lazaret::host::brought::digest;
use lazaret::host::fleet::SYSTEM;
use rand::RngExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::apply;
use crate::place;
use crate::settings;
use crate::stop::WHY;
use crate::store::{Stop, Store};

/// Pause between two looks at what is stopped, and how long one may take.
const LOOK: Duration = Duration::from_millis(250);
/// How old what was seen there may be: a stop holds on every machine within a second, or the machine says that it does not know.
const OLD: Duration = Duration::from_millis(900);
/// Most hooks that are answered at once.
const MOST: usize = 512;
/// Of them, of one user.
const SHARE: usize = 128;
/// How long one may take to ask, and to take the answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// Longest time that a service waits for the store before it opens: who asks then would be told that nothing is known.
const OPENING: Duration = Duration::from_secs(2);
/// Most calls of a limit, longest window or lease, in seconds, and most places.
const BOUNDS: (u32, u32, u32) = (10_000, 86_400, 100_000);
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
    /// How many connections each user has.
    asking: Mutex<HashMap<u32, usize>>,
}

/// A user's place among those that are answered.
struct Asking {
    service: Arc<Service>,
    peer: u32,
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Ok(mut asking) = self.service.asking.lock()
            && let Some(count) = asking.get_mut(&self.peer)
        {
            *count -= 1;
            if *count == 0 {
                asking.remove(&self.peer);
            }
        }
    }
}

/// Runs until it is told to end.
pub fn run(config: &Path, socket: Option<&Path>, out: &mut dyn Write) -> Result<()> {
    let state = settings::state(config)?;
    let machine = apply::machine()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let store = Store::of(&state).with_context(|| config.display().to_string())?;
        let (listener, place, is_own) = listener(socket)?;
        let named = name(&place);
        let listener = UnixListener::from_std(listener)?;
        let for_all = place == Path::new(SYSTEM);
        let service =
            Arc::new(Service { store, seen: RwLock::default(), machine, for_all, asking: Mutex::default() });
        tokio::spawn(told(service.store.refusals()));
        service.store.keep();
        tokio::spawn(Arc::clone(&service).look());
        let begun = Instant::now();
        while begun.elapsed() < OPENING && !service.has_seen() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        writeln!(out, "lazaret-fleet: {} is open", place.display())?;
        out.flush()?;
        let (mut ended, mut asked) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::select! {
            () = service.serve(listener) => {}
            _ = ended.recv() => {}
            _ = asked.recv() => {}
        }
        // One that somebody else put in its place stays.
        if is_own && name(&place) == named {
            let _gone = std::fs::remove_file(&place);
        }
        Ok(())
    })
}

/// Says why the store is not reached, once for each reason in turn: who asks is told no more than that it is not.
async fn told(mut refusals: Receiver<(fred::error::Error, Option<fred::types::config::Server>)>) {
    let mut last = String::new();
    loop {
        let why = match refusals.recv().await {
            Ok((error, _)) => error.details().to_owned(),
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if why != last {
            crate::complain(&format!("the store: {why}"));
            last = why;
        }
    }
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

/// Device and number of what is there.
fn name(place: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(place).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Where the hook of who runs this looks: root's is the machine's.
fn own_place() -> Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(SYSTEM));
    }
    Ok(lazaret::host::fleet::own(&place::dirs()?))
}

/// The one socket that systemd opened for this process.
#[allow(unsafe_code, reason = "a descriptor by its number has no safe form")]
fn handed_over() -> Option<Listener> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if number("LISTEN_PID") != Some(std::process::id()) || number("LISTEN_FDS") != Some(1) {
        return None;
    }
    // Who says so and has opened none is answered as if nobody had said it.
    std::fs::metadata("/dev/fd/3").ok().filter(|meta| meta.file_type().is_socket())?;
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

    fn has_seen(&self) -> bool {
        self.seen.read().is_ok_and(|seen| seen.at.is_some())
    }

    /// A place for one more of a user; none where it has its share, where all are taken, or where it is not to be answered.
    fn place(self: &Arc<Self>, stream: &UnixStream) -> Option<Asking> {
        let peer = stream.peer_cred().ok()?.uid();
        if !self.for_all && peer != 0 && peer != rustix::process::geteuid().as_raw() {
            return None;
        }
        let mut asking = self.asking.lock().ok()?;
        let all: usize = asking.values().sum();
        let count = asking.entry(peer).or_default();
        // Root's are kept from nobody's being too many.
        if *count >= SHARE || all >= MOST && peer != 0 {
            return None;
        }
        *count += 1;
        Some(Asking { service: Arc::clone(self), peer })
    }

    async fn serve(self: &Arc<Self>, listener: UnixListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Who gets no place is hung up on at once, and asks its person.
                    let Some(asking) = self.place(&stream) else { continue };
                    tokio::spawn(async move {
                        // Who hung up has no use for an answer.
                        let _left = asking.service.answer(stream, asking.peer).await;
                        drop(asking);
                    });
                }
                // No descriptor is left: hooks wait for one, or for their own deadline.
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// One question, one answer.
    async fn answer(&self, stream: UnixStream, peer: u32) -> std::io::Result<()> {
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
        match timeout(PATIENCE, stream.write_all(&text)).await {
            Ok(written) => written,
            Err(_) => Ok(()),
        }
    }

    async fn answered(&self, line: &[u8], peer: u32) -> Answered {
        let unknown = |why: String| Answered::Unknown { why };
        let asked: Asked = match serde_json::from_slice(line) {
            Ok(asked) => asked,
            Err(error) => return unknown(format!("the question cannot be read: {error}")),
        };
        if asked.version() != VERSION {
            return unknown(format!("the question is of version {}, and this is {VERSION}", asked.version()));
        }
        match asked {
            Asked::Call { caller, repositories, review, limits, lease, within_ms, .. } => {
                let words =
                    repositories.iter().map(String::as_str).chain(limits.iter().map(|one| &*one.tool));
                if names(&caller).chain(words).chain(review.as_deref()).any(|name| name.len() > NAME) {
                    return unknown(format!("a name of more than {NAME} bytes"));
                }
                if let Err(why) = bounded(&limits, lease.as_ref(), repositories.len()) {
                    return unknown(why);
                }
                match self.stopped(&caller, &repositories, review.as_deref()) {
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
        let of = [&*self.machine, &*peer].into_iter().chain(names(caller));
        // With its length, so that no two of them are the same put together.
        let parts: Vec<String> = of.map(|part| format!("{}:{part}", part.len())).collect();
        digest(parts.concat().as_bytes())
    }

    /// What a person has stopped that this call belongs to.
    fn stopped(
        &self,
        caller: &Caller,
        repositories: &[String],
        review: Option<&str>,
    ) -> Result<Option<Answered>, String> {
        let seen = self.seen.read().map_err(|_| "what is stopped cannot be looked at".to_owned())?;
        if seen.at.is_none_or(|at| at.elapsed() > OLD) {
            let why = seen.fault.clone().unwrap_or_else(|| "the store was not reached yet".to_owned());
            return Err(format!("it is not known what is stopped: {why}"));
        }
        let own = [ALL.to_owned(), session(&caller.client, &caller.session)];
        let repositories = repositories.iter().map(|repository| format!("{REPOSITORY}{repository}"));
        let reviews = review.into_iter().flat_map(|id| [ENDED, REVIEW].map(|kind| format!("{kind}{id}")));
        let all = own.into_iter().chain(repositories).map(|what| (what, false));
        let found = all.chain(reviews.map(|what| (what, true))).find_map(|(what, review)| {
            let why = clip(&seen.stops.get(&what)?.why, WHY).to_owned();
            Some(Answered::Stopped { what: said(&what), why, review })
        });
        Ok(found)
    }
}

/// That a question asks for nothing which no configuration may.
fn bounded(limits: &[Counted], lease: Option<&Lease>, addresses: usize) -> Result<(), String> {
    let (calls, seconds, places) = BOUNDS;
    if limits.len() > MAX_LIMITS || addresses > MAX_ADDRESSES {
        return Err(format!("more than {MAX_LIMITS} limits, or more than {MAX_ADDRESSES} addresses"));
    }
    let is_wide = limits.iter().any(|one| one.calls > calls || !(1..=seconds).contains(&one.window_seconds));
    if is_wide || lease.is_some_and(|lease| lease.most > places || lease.seconds > seconds) {
        return Err(format!("more than {calls} calls, {seconds} seconds or {places} places"));
    }
    Ok(())
}

/// What a stop of everything is kept under.
pub const ALL: &str = "all";
/// What a stop of a repository's sessions is kept under, in front of where it comes from.
pub const REPOSITORY: &str = "repository ";

/// What a stop of a review session's agents is kept under, in front of its id.
pub const REVIEW: &str = "review ";

/// What the end of a review session is kept under, in front of its id.
pub const ENDED: &str = "ended ";

/// What a stop of a session is kept under.
pub fn session(client: &str, session: &str) -> String {
    format!("session {client} {session}")
}

/// The same, as people are told it.
pub fn said(what: &str) -> String {
    if let Some(id) = what.strip_prefix(ENDED) {
        return format!("the review {id}");
    }
    if what == ALL { "everything".to_owned() } else { format!("the {what}") }
}

fn names(caller: &Caller) -> impl Iterator<Item = &str> {
    [&*caller.client, &*caller.session].into_iter().chain(caller.agent.as_deref())
}
