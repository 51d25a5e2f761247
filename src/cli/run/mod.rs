//! `lazaret run`: a client headless in a process group of its own, its stream read, its budgets kept, ended when it must be.

pub mod args;
mod budget;
mod command;
mod confine;
mod restore;
mod stop;
mod summary;
mod watch;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cli::closed::closed;
use crate::cli::progress::{Progress, Total};
use crate::cli::{CHECKS, Exit, Machine, registering};
use crate::domain::{Fault, FaultKind, Policy, Profile, clip, escape};
use crate::host::child::{self, End, Ran, Terms, Watch};
use crate::host::dirs::Dirs;
use crate::host::{clock, config};
use args::RunArgs;
use command::Headless;
use confine::{Confined, Wanted};
use stop::Stop;
use summary::{Outcome, Summary};
use watch::Supervision;

/// From the polite signal to the other one: with what it takes to notice, a run ends within two seconds.
const GRACE: Duration = Duration::from_millis(1200);
/// Longest word of a client that is quoted, in bytes.
const QUOTED: usize = 300;

pub fn run(args: &RunArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let headless = Headless::of(args)?;
    let machine = &demanding(args, machine);
    let mut progress = Progress::begin("run", Total::Unknown).finishing();
    let unasked = headless.unasked();
    unasked.iter().for_each(|told| progress.say(told));
    let here = registering::surroundings(machine)?;
    progress.step(&format!("asking whether the gate of {} is closed", headless.client.name()));
    closed(headless.client, "supervised", &here, machine)?;
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    only_tightens(args, &policy)?;
    let wanted = confine::wanted(args, headless.client, (machine, &policy))?;
    let begun = (clock::now(), Instant::now());
    let terms = Terms { limit: args.timeout, grace: GRACE, shares_stderr: true };
    let mut supervision = Supervision::new((args, &policy.resources), &headless, machine, &mut progress, out);
    let how = (wanted, machine.dirs.demanded);
    let (ran, confined) = start(&headless, how, terms, &mut |seen| supervision.see(seen))?;
    let watched = supervision.finish();
    drop(progress);
    let stop = match ran.end {
        End::TimedOut => Some(Stop::Time(args.timeout.unwrap_or_default())),
        End::Ended | End::Exit(_) | End::Signal(_) | End::Stopped(_) => watched.stop,
    };
    let restored = match (&stop, &watched.session) {
        (Some(_), Some(session)) if args.restore => Some(restore::session(session, machine)),
        _ => None,
    };
    let (tally, blocked) = Summary::told(watched.session.as_ref(), begun.0, machine)?;
    let summary = Summary {
        client: headless.client.name(),
        session: watched.session,
        profile: policy.profile,
        begun: begun.0,
        seconds: begun.1.elapsed().as_secs_f64(),
        figures: watched.figures,
        outcome: outcome(stop, ran.end, watched.answer),
        restored,
        warnings: unasked.into_iter().chain(watched.warnings).collect(),
        confined,
        tally,
        blocked,
    };
    let report = summary.save(machine);
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&summary.json())?)?;
    } else {
        if let (Outcome::Finished(answer), false) = (&summary.outcome, headless.passes_through) {
            writeln!(out, "{answer}")?;
        }
        out.flush()?;
        // The client's own output is on the standard output.
        let _told = std::io::stderr().lock().write_all(summary.text().as_bytes());
    }
    if let Some(report) = report? {
        let _told = writeln!(std::io::stderr().lock(), "report: {}", report.display());
    }
    Ok(match summary.outcome {
        Outcome::Finished(_) => Exit::Fine,
        Outcome::Failed(_) => Exit::Failed,
        Outcome::Stopped(_) => Exit::Blocked,
    })
}

/// The machine as it is for this run and its hooks: with what is demanded of the configuration.
fn demanding(args: &RunArgs, machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    machine.dirs.demanded = machine.dirs.demanded.max(args.profile);
    machine
}

/// A profile that is looser than the configuration's would change nothing, and somebody relies on it.
fn only_tightens(args: &RunArgs, policy: &Policy) -> Result<()> {
    let Some(asked) = args.profile.filter(|asked| *asked < policy.profile) else { return Ok(()) };
    let (asked, stands) = (asked.name(), policy.profile.name());
    let why = format!("the profile is {stands} already, and a run can only be made stricter");
    let fault = Fault::new(FaultKind::Config, format!("--profile {asked}"), why);
    Err(fault
        .with_hint(format!("leave --profile out, or change `profile` in the configuration (`lazaret config show` says where {stands} comes from)"))
        .into())
}

/// Starts the client and looks on, confined where that was asked for and can be had.
fn start(
    headless: &Headless,
    (wanted, demanded): (Option<Wanted>, Option<Profile>),
    terms: Terms,
    each: &mut Watch<'_>,
) -> Result<(Ran, Option<Confined>)> {
    let mut command = headless.command();
    // The hooks are the client's children, and read it there.
    command.envs(demanded.map(|profile| (Dirs::PROFILE, profile.name())));
    let (confinement, ran) = match wanted {
        None => (None, child::run(&mut command, terms, each)),
        Some(Wanted { confinement, ready: Ok(ready) }) => {
            (Some((confinement, String::new())), child::run_confined(&mut command, ready, terms, each))
        }
        Some(Wanted { confinement, ready: Err(problem) }) => {
            (Some((confinement, problem)), child::run(&mut command, terms, each))
        }
    };
    let ran = ran.map_err(|error| {
        Fault::new(FaultKind::Host, escape(&headless.program()), error.to_string()).with_hint(
            "give the client's command line behind `--`, as in: lazaret run -- claude -p 'fix the tests'",
        )
    })?;
    let held = ran.held.clone();
    let confined =
        confinement.map(|(confinement, problem)| Confined { confinement, held: held.ok_or(problem) });
    Ok((ran, confined))
}

fn outcome(stop: Option<Stop>, end: End, answer: Result<String, Option<String>>) -> Outcome {
    if let Some(stop) = stop {
        return Outcome::Stopped(stop);
    }
    let failed = match end {
        End::Exit(0) => String::new(),
        End::Exit(code) => format!("the client ended with exit code {code}"),
        End::Signal(signal) => format!("the client was ended by signal {signal}"),
        End::Stopped(signal) => format!("lazaret was stopped by signal {signal}, and the client was ended"),
        End::TimedOut | End::Ended => "the client was ended".to_owned(),
    };
    match answer {
        Ok(answer) if failed.is_empty() => Outcome::Finished(answer),
        Err(None) if failed.is_empty() => Outcome::Failed("the client gave no answer".to_owned()),
        Err(Some(words)) => {
            let failed = if failed.is_empty() { "the client failed".to_owned() } else { failed };
            Outcome::Failed(format!("{failed}: {}", escape(&clip(&words, QUOTED))))
        }
        Ok(_) | Err(None) => Outcome::Failed(failed),
    }
}
