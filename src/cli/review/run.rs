//! `review run`: opens a session, lets a client review in it, headless and for so long, judges its answer, and ends the
//! session whatever happens.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::args::RunArgs;
use super::headless::{Empty, Start};
use super::parse::{self, Told};
use super::{Office, start};
use crate::cli::closed::closed;
use crate::cli::progress::{Progress, Total};
use crate::cli::quarantine::{Past, Task};
use crate::cli::stream::Stream;
use crate::cli::{Exit, registering};
use crate::domain::{Client, Fault, FaultKind, clip, escape};
use crate::host::child::{self, End, Ran, Seen, Terms};
use crate::host::clock;
use crate::host::quarantine::{self, Holder, MAX_TTL_S, Session, Why};
use crate::host::registration::{Surroundings, clients};

/// The references outlive the client's time by so much, in seconds.
const SLACK_S: u32 = 60;
/// From the polite signal to the other one.
const GRACE: Duration = Duration::from_secs(2);
/// Longest word of a client that is quoted, in bytes.
const QUOTED: usize = 300;

pub fn run(args: &RunArgs, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let mut progress = Progress::begin("review", Total::Unknown).finishing();
    let empty = Empty::make(&office.machine.dirs.state)?;
    let here = Surroundings { cwd: empty.0.clone(), ..registering::surroundings(office.machine)? };
    let (client, program) = client(args, &here)?;
    progress.step(&format!("asking whether the gate of {} is closed", client.name()));
    closed(client, "quarantined", &here, office.machine)?;
    progress.turn_to(Total::UncountedFiles);
    progress.step("sealing the files");
    let timeout_s = start::timeout_s(&args.scope, office);
    let ttl_s = timeout_s.saturating_add(SLACK_S).min(MAX_TTL_S);
    let session = start::open(&args.scope, ttl_s, (Holder::this(), &mut progress), office)?;
    let mut open = Open { office, session: &session, ended: false };
    let work = Work { args, office, session: &session, client, program, empty: &empty };
    let reviewed = work.review(&mut progress);
    progress.step("ending the session");
    let told = reviewed.map_err(|failed| {
        let why = if failed.timed_out { Why::TimedOut } else { Why::Asked };
        (failed.fault, open.end(why))
    });
    let told = match told {
        // What went wrong first is what counts.
        Err((fault, _ended)) => return Err(fault.into()),
        Ok(told) => told,
    };
    open.end(Why::Asked)?;
    let more = json!({ "client": client.name(), "calls": told.calls, "seconds": progress.seconds() });
    drop(progress);
    let told =
        Told { verdict: told.verdict, session: Some(&session), fail_on: Some(args.fail_on.into()), more };
    told.finish(&format!("the answer of {}", client.name()), args.json, out)
}

/// A session that is ended in any case.
struct Open<'o> {
    office: &'o Office<'o>,
    session: &'o Session,
    ended: bool,
}

impl Open<'_> {
    fn end(&mut self, why: Why) -> Result<bool, Fault> {
        self.ended = true;
        let ended = self.office.end(&self.session.id, why)?;
        if !ended && why == Why::TimedOut {
            // The client's own hook ended it first when the client was told to go.
            self.office.log().review_ended(&self.session.id, why)?;
        }
        Ok(ended)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // There is another error on its way to the person already.
            let _ended = self.end(Why::Broken);
        }
    }
}

/// The client that is asked for, or the first that is here.
fn client(args: &RunArgs, here: &Surroundings) -> Result<(Client, PathBuf), Fault> {
    let wanted: Vec<Client> = args.client.map_or_else(|| Client::ALL.to_vec(), |client| vec![client]);
    let wanted: Vec<Client> = wanted.into_iter().filter(|client| client.about().reviews).collect();
    let found = |client: Client| Some((client, clients::executables(client, here).into_iter().next()?));
    wanted.iter().copied().find_map(found).ok_or_else(|| {
        let names: Vec<&str> = wanted.iter().map(|client| client.name()).collect();
        Fault::new(FaultKind::Host, names.join(", "), "no such client is on PATH")
            .with_hint("install one, then: lazaret install")
    })
}

/// Why there is no answer.
struct Failed {
    fault: Fault,
    timed_out: bool,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed { fault, timed_out: false }
    }
}

/// What came of the client's work.
struct Reviewed {
    verdict: parse::Verdict,
    calls: u32,
}

/// A client and the session it is to work in.
struct Work<'w> {
    args: &'w RunArgs,
    office: &'w Office<'w>,
    session: &'w Session,
    client: Client,
    program: PathBuf,
    empty: &'w Empty,
}

impl Work<'_> {
    fn review(&self, progress: &mut Progress) -> Result<Reviewed, Failed> {
        let task = Task::of(&self.office.machine.dirs, self.session)?;
        // Looked at before: the hook ends the session, and its list of files, with the client's.
        let contents = self.session.contents(&self.office.machine.dirs)?.unwrap_or_default();
        let mut command = Start {
            program: &self.program,
            dir: &self.empty.0,
            session: &self.session.id,
            agent_type: start::agent_type(self.office),
            task: &task,
            model: self.args.model.as_deref(),
        }
        .command(self.client)?;
        let name = self.client.name();
        let limit = Duration::from_secs(self.session.timeout_s.into());
        let mut stream = Stream::new(self.client);
        progress.turn_to(Total::Seconds(limit.as_secs()));
        progress.step(&format!("{name} is starting"));
        let since = progress.seconds();
        let terms = Terms { limit: Some(limit), grace: GRACE, shares_stderr: false };
        let ran = child::run(&mut command, terms, &mut |seen| {
            match seen {
                Seen::Line(line) => stream.line(line),
                Seen::Begun(_) | Seen::Nothing => {}
            }
            progress.tell(&format!("{name} is reading, calls so far: {}", stream.calls));
            // The one that runs it looks for a stop itself.
            let _looked_for = progress.at(progress.seconds() - since);
            ControlFlow::Continue(())
        })
        .map_err(|error| {
            Fault::new(FaultKind::Host, self.program.display().to_string(), error.to_string())
        })?;
        let calls = u32::try_from(stream.calls).unwrap_or(u32::MAX);
        let answer = self.answer(stream, &ran)?;
        progress.turn_to(Total::Unknown);
        progress.step("checking the answer");
        let now = clock::now();
        let rows = quarantine::agents(&self.office.machine.dirs, now)?;
        let own = rows.iter().filter(|row| row.review == self.session.id.as_str());
        let past = Past::of_all(&self.office.machine.dirs, own, now);
        let read = past.read(self.session, &contents);
        let verdict = parse::of_session(answer.as_bytes(), self.session, &contents, (calls, read.as_ref()));
        let finds_nothing = verdict.as_ref().is_ok_and(|report| report.findings.is_empty());
        if finds_nothing && past.saw_nothing() {
            // Whatever made it say so: in a pipeline it would pass for a clean review.
            let why = "it found nothing, but it looked at no file";
            let fault = Fault::new(FaultKind::Host, format!("review with {}", self.client.name()), why);
            return Err(fault.with_hint("run it again; name fewer files, or another --model").into());
        }
        Ok(Reviewed { verdict, calls })
    }

    /// The client's answer, if it ended as it should.
    fn answer(&self, stream: Stream, ran: &Ran) -> Result<String, Failed> {
        let name = self.client.name();
        let fault = |why: String| Fault::new(FaultKind::Host, format!("review with {name}"), why);
        match ran.end {
            End::TimedOut => {
                let why = format!("it was not done in {} s, and was ended", self.session.timeout_s);
                let fault = fault(why).with_hint("name fewer files, or give it more time with --timeout");
                return Err(Failed { fault, timed_out: true });
            }
            End::Stopped(signal) => {
                return Err(fault(format!("it was stopped by signal {signal}; the client was ended")).into());
            }
            End::Exit(_) | End::Signal(_) | End::Ended => {}
        }
        let said = stream.finish();
        let ended = match ran.end {
            End::Exit(0) => String::new(),
            End::Exit(code) => format!("it ended with exit code {code}"),
            End::Signal(signal) => format!("it was ended by signal {signal}"),
            End::TimedOut | End::Stopped(_) | End::Ended => String::new(),
        };
        let words = match said {
            Ok(answer) if ended.is_empty() => return Ok(answer),
            Ok(_) => quoted(&ran.stderr),
            Err(Some(failure)) => quoted(&failure),
            Err(None) => format!("it gave no answer {}", quoted(&ran.stderr)).trim_end().to_owned(),
        };
        let parts: Vec<&str> = [ended.as_str(), &words].into_iter().filter(|part| !part.is_empty()).collect();
        let hint = format!("try the client by hand: {}", escape(&self.program.display().to_string()));
        Err(fault(parts.join(": ")).with_hint(hint).into())
    }
}

/// A client's own words, which may be an agent's.
fn quoted(words: &str) -> String {
    let words = words.trim();
    if words.is_empty() { String::new() } else { format!("({})", escape(&clip(words, QUOTED))) }
}
