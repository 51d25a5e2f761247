//! The events of the log, sent to a collector of OpenTelemetry: each at least once, under the id that it has in the log. The log itself is
//! the queue: nothing is held in memory but the batch that is on its way, and nothing is lost while the collector is away.

mod cursor;
mod otlp;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use lazaret::host::audit::{self, Filter, Found, Line, Tail};
use lazaret::host::brought::digest;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message;
use ureq::Agent;

use crate::settings::{self, Evidence};
use crate::{apply, place, pull};
use cursor::{Cursor, Place};
use otlp::Origin;

/// Most events of one request, and about the most bytes of them in the log.
const MOST: usize = 512;
const BYTES: usize = 1 << 20;
/// Pause between two looks for new events.
const PAUSE: Duration = Duration::from_secs(1);
/// First and longest pause between two tries to be rid of a batch.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));
/// How long one that is to end tries.
const ONCE: Duration = Duration::from_secs(30);
/// Longest answer of a collector that is looked at, and longest token, in bytes.
const ANSWER: u64 = 64 * 1024;
const TOKEN: u64 = 4096;

/// What is sent, from where.
#[derive(Debug)]
struct Sender {
    agent: Agent,
    evidence: Evidence,
    token: Option<String>,
    origin: Origin,
    cursor: Cursor,
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
    let token = evidence.token_file.as_deref().map(token).transpose()?;
    let agent = pull::agent(evidence.ca.as_deref(), evidence.url.starts_with("https://"))?;
    let mut sender = Sender { agent, evidence, token, origin: origin(dir)?, cursor, at, once };
    let mut sent = 0;
    loop {
        // A log that was cut or taken away while it was read is read from its beginning again.
        match sender.follow(&audit::dir(&state), &mut sent) {
            Ok(()) => break,
            Err(error) if once || error.downcast_ref::<Fatal>().is_some() => return Err(error),
            Err(error) => {
                crate::complain(&format!("{error:#}"));
                std::thread::sleep(PAUSE);
            }
        }
    }
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
        let mut records = Vec::with_capacity(batch.len() + 1);
        records.extend(self.missing(batch));
        records.extend(batch.iter().map(otlp::record));
        let body = otlp::request(&self.origin, records).encode_to_vec();
        let (begun, mut pause) = (Instant::now(), AGAIN.0);
        let mut told = false;
        while let Err(error) = self.post(&body) {
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
        Ok(())
    }

    /// What a collector is to know before a batch: lines that it never got are gone, or the log is another one.
    fn missing(&self, batch: &[Line]) -> Option<LogRecord> {
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
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Some(otlp::notice(name, &message, uid.get(..32)?, u64::try_from(now).ok()?))
    }

    fn post(&self, body: &[u8]) -> Result<()> {
        let url = &self.evidence.url;
        let mut request = self.agent.post(url).header("Content-Type", "application/x-protobuf");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body).with_context(|| url.clone())?;
        let status = response.status().as_u16();
        if status != 200 {
            bail!("{url}: the collector answered {status}");
        }
        let answer = response.body_mut().with_config().limit(ANSWER).read_to_vec();
        let answer = answer.with_context(|| url.clone())?;
        // What is no answer of a collector's is from somebody else in its place.
        let answer = ExportLogsServiceResponse::decode(&*answer)
            .with_context(|| format!("{url}: its answer is none"))?;
        let rejected = answer.partial_success.filter(|partial| partial.rejected_log_records > 0);
        if let Some(rejected) = rejected {
            // They are not to be sent again, says the protocol; they stay in the log.
            let (count, why) = (rejected.rejected_log_records, &rejected.error_message);
            crate::complain(&format!("{url}: the collector refused {count} events: {why}"));
        }
        Ok(())
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

fn token(path: &Path) -> Result<String> {
    let file = path.display();
    let token = place::needed_text(path, TOKEN)?.trim().to_owned();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("{file}: it holds no token");
    }
    Ok(token)
}

fn origin(dir: &Path) -> Result<Origin> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let user = rustix::process::geteuid().as_raw().to_string();
    Ok(Origin { machine: apply::machine()?, host, user, managed: dir.join(place::CONFIG) })
}
