//! The events of the log, sent to a collector of OpenTelemetry or syslog: each at least once, under the id that it has in the log. The log
//! itself is the queue: nothing of it is held in memory but the batch that is on its way, and nothing is lost while the collector is away.
//! Metrics and traces go beside it, and hold up nothing.

mod collector;
mod counts;
mod cursor;
mod format;
mod grpc;
mod metrics;
mod ocsf;
mod otlp;
mod spans;
mod syslog;
mod traces;
mod transport;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use lazaret::domain::{Enforcement, EventKind, LogLevel};
use lazaret::host::audit::{self, Filter, Found, Line, Tail};
use lazaret::host::brought::digest;
use serde_json::json;

use crate::{apply, place, settings};
use cursor::{Cursor, Place};
pub use format::Format;
use metrics::Metrics;
use traces::Traces;
use transport::Transport;

/// Most events of one request, and about the most bytes of them in the log.
const MOST: usize = 512;
const BYTES: usize = 1 << 20;
/// Pause between two looks for new events.
const PAUSE: Duration = Duration::from_secs(1);
/// First and longest pause between two tries to be rid of a batch.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));
/// How long one that is to end tries.
const ONCE: Duration = Duration::from_secs(30);

/// What a machine and its user are told apart by.
#[derive(Debug, Clone)]
pub struct Origin {
    machine: String,
    host: String,
    user: String,
    /// The managed configuration.
    managed: PathBuf,
}

/// What is sent, from where.
#[derive(Debug)]
struct Sender {
    transport: Transport,
    format: Format,
    origin: Origin,
    cursor: Cursor,
    metrics: Option<Metrics>,
    traces: Option<Traces>,
    /// The last line that a collector took.
    at: Option<Place>,
    /// Ends when all is sent, or when that takes too long.
    once: bool,
}

/// Sends what was not sent, and with `once` unset what comes, until it is ended; `dir` is that of the managed configuration.
pub fn run(
    config: &Path,
    (state, dir): (Option<&Path>, &Path),
    once: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let evidence = settings::evidence(config)?;
    let state = match state {
        Some(state) => state.to_owned(),
        None => place::dirs()?.state,
    };
    if !state.is_dir() {
        bail!("{}: there is no such directory: lazaret has recorded nothing for this user", state.display());
    }
    let (cursor, at) = Cursor::open(&state)?;
    let transport = Transport::new(&evidence).with_context(|| config.display().to_string())?;
    let (origin, log) = (origin(dir)?, audit::dir(&state));
    let metrics = Metrics::new(&evidence, &origin, log.clone(), at.as_ref())?;
    let traces = Traces::new(&evidence, &origin)?;
    let mut sender = Sender { transport, format: evidence.format, origin, cursor, metrics, traces, at, once };
    let mut sent = 0;
    let ended = sender.run(&log, &mut sent);
    if let Some(metrics) = sender.metrics {
        metrics.end();
    }
    if let Some(traces) = sender.traces {
        traces.end();
    }
    ended?;
    writeln!(out, "{sent} events were sent")?;
    Ok(())
}

/// What trying again does not mend.
#[derive(Debug)]
struct Fatal;

impl std::fmt::Display for Fatal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was given up")
    }
}

impl std::error::Error for Fatal {}

impl Sender {
    fn run(&mut self, log: &Path, sent: &mut u64) -> Result<()> {
        loop {
            // A log that was cut or taken away while it was read is read from its beginning again.
            match self.follow(log, sent) {
                Ok(()) => return Ok(()),
                Err(error) if self.once || error.downcast_ref::<Fatal>().is_some() => return Err(error),
                Err(error) => {
                    crate::complain(&format!("{error:#}"));
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// The log from its beginning on: what was sent is passed over.
    fn follow(&mut self, log: &Path, sent: &mut u64) -> Result<()> {
        let mut tail =
            Tail::marked(log, Filter::default(), None).map_err(|fault| anyhow::anyhow!(fault.message()))?;
        let mut passing = self.at.clone();
        loop {
            let (mut batch, mut bytes, mut read) = (Vec::new(), 0, 0);
            let polled = tail.poll_while(|found| {
                read += 1;
                if let Found::Line(line) = found {
                    let is_known = is_known(&line, &mut passing);
                    if !is_known {
                        bytes += line.text.len();
                        batch.push(*line);
                    }
                }
                batch.len() < MOST && bytes < BYTES
            });
            polled.map_err(|fault| anyhow::anyhow!(fault.message()))?;
            if batch.is_empty() && read == 0 {
                if self.once {
                    return Ok(());
                }
                std::thread::sleep(PAUSE);
                continue;
            }
            if !batch.is_empty() {
                self.send(&batch)?;
                *sent += batch.len() as u64;
            }
        }
    }

    /// One batch, until it is taken.
    fn send(&mut self, batch: &[Line]) -> Result<()> {
        let missing = self.missing(batch);
        let lines: Vec<&Line> = missing.iter().chain(batch).collect();
        let body = self.transport.body(&self.origin, self.format, &lines);
        drop(lines);
        let (begun, mut pause) = (Instant::now(), AGAIN.0);
        let mut told = false;
        while let Err(error) = self.transport.deliver(&body) {
            if self.once && begun.elapsed() > ONCE {
                return Err(error.context(Fatal));
            }
            if !told {
                told = true;
                crate::complain(&format!("{error:#}; it is tried again until it is taken"));
            }
            // Those of many machines do not come back at once.
            std::thread::sleep(pause.mul_f64(rand::random_range(0.5..1.0)));
            pause = (pause * 2).min(AGAIN.1);
        }
        let last = batch.iter().rev().find_map(Place::of);
        if let Some(place) = last {
            self.cursor.keep(&place)?;
            self.at = Some(place);
        }
        if let Some(metrics) = &self.metrics {
            metrics.sent(batch, self.at.as_ref());
        }
        if let Some(traces) = &mut self.traces {
            traces.sent(batch);
        }
        Ok(())
    }

    /// What a collector is to know before a batch: lines that it never got are gone, or the log is another one.
    fn missing(&self, batch: &[Line]) -> Option<Line> {
        let (before, next) = (self.at.as_ref()?, batch.iter().find_map(Place::of)?);
        let (name, message) = if before.chain != next.chain {
            let message = format!(
                "the log is another one: {} was sent up to line {}, and {} begins with line {}",
                before.chain, before.number, next.chain, next.number
            );
            ("log_replaced", message)
        } else if next.number > before.number + 1 {
            let (from, to) = (before.number + 1, next.number - 1);
            ("log_gap", format!("lines {from} to {to} of {} were removed before they were sent", next.chain))
        } else if next.number <= before.number && !before.covers(&next) {
            let message = format!(
                "the log goes on from an older copy: {} was sent up to line {}, and line {} is another one now",
                next.chain, before.number, next.number
            );
            ("log_set_back", message)
        } else {
            return None;
        };
        // The same again where it is said again.
        let uid = digest(format!("{} {message}", self.origin.machine).as_bytes());
        let (id, time) = (uid.get(..32)?.to_owned(), humantime::format_rfc3339_millis(SystemTime::now()));
        let text = json!({"id": id, "time": time.to_string(), "event": name, "note": message}).to_string();
        Some(Line {
            id,
            time: time.to_string(),
            event: name.to_owned(),
            note: message,
            text,
            ..Line::default()
        })
    }
}

/// Whether a line was sent before: all of them are, up to the one that `passing` names, unless they are others.
fn is_known(line: &Line, passing: &mut Option<Place>) -> bool {
    let Some(sent) = &passing else { return false };
    let Some(place) = Place::of(line) else { return true };
    let is_known = sent.covers(&place);
    if !is_known || place == *sent {
        *passing = None;
    }
    is_known
}

/// How grave an event is; one of a type that this version does not know is not made light of.
fn level(event: &str) -> LogLevel {
    EventKind::from_name(event).map_or(LogLevel::Error, EventKind::level)
}

/// Whether the decision in a line kept the call from running.
fn stops(line: &Line) -> bool {
    [Enforcement::Deny, Enforcement::Stop].iter().any(|stops| line.enforcement == stops.name())
}

fn origin(dir: &Path) -> Result<Origin> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let user = rustix::process::geteuid().as_raw().to_string();
    Ok(Origin { machine: apply::machine()?, host, user, managed: dir.join(place::CONFIG) })
}
