//! `lazaret replay`: recorded sessions, judged as they would be today. Runs nothing, records nothing.

mod files;
mod output;
mod past;
mod tally;

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::adapters::transcript::{Recorded, Stored, Told};
use crate::cli::args::{Assume, ReplayArgs};
use crate::cli::judge::{Judge, Judged, Look, Past};
use crate::cli::progress::{Progress, Total};
use crate::cli::{Exit, Machine, check, report};
use files::{At, Piece};
use past::Pasts;
use tally::Tally;

/// How often it is said how many calls there are.
const OFTEN: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(args: &ReplayArgs, machine: Machine, out: &mut dyn Write) -> Result<Exit> {
    let cwd = check::directory(args.cwd.as_deref())?;
    let look = match args.assume {
        Assume::Today => Look::Today,
        Assume::Nothing => Look::Never,
    };
    let mut replay = Replay {
        judge: Judge::new(machine, look),
        cwd,
        pasts: Pasts::default(),
        tally: Tally::default(),
        wanted: args.call.as_deref(),
        shown: None,
    };
    let mut unreadable = Vec::new();
    let mut stored = Stored::default();
    let files = files::found(&args.files, &mut unreadable);
    let (all, behind) = (files.len(), Cell::new(0_u64));
    let bytes = files.iter().map(files::Source::length).sum();
    let mut progress = Progress::begin("replay", Total::Bytes(bytes));
    let mut told = Instant::now();
    for (done, file) in files.into_iter().enumerate() {
        let mut failed = None;
        let read = files::read(&file, &mut stored, &behind, |piece| {
            let calls = replay.tally.counts.calls;
            if told.elapsed() >= OFTEN {
                told = Instant::now();
                let calls = output::several(calls, "call");
                progress.tell(&format!("file {} of {all}, {calls}", done + 1));
                // A stop ends the process: there is nothing to be left behind.
                let _goes_on = progress.at(behind.get());
            }
            match replay.take(piece, out) {
                Ok(()) => true,
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        match read {
            Ok(read) => replay.tally.file(read, &file),
            Err(error) => unreadable.push((file.shown(), format!("{error:#}"))),
        }
        if replay.shown.is_some() {
            break;
        }
    }
    drop(progress);
    if let Some(id) = replay.wanted {
        let Some(exit) = replay.shown else { bail!("--call {id}: no such call is recorded there") };
        return Ok(if args.exit_code { exit } else { Exit::Fine });
    }
    let tally = replay.tally.closed();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&output::json(&tally, &unreadable, args))?)?;
    } else {
        output::text(out, &tally, &unreadable, args)?;
    }
    if !unreadable.is_empty() || tally.files.is_empty() {
        return Ok(Exit::Failed);
    }
    Ok(if args.exit_code { tally.exit() } else { Exit::Fine })
}

struct Replay<'a> {
    judge: Judge,
    /// Of calls of which it was not recorded.
    cwd: String,
    pasts: Pasts,
    tally: Tally,
    wanted: Option<&'a str>,
    /// The wanted call was shown, and would have ended so.
    shown: Option<Exit>,
}

impl Replay<'_> {
    fn take(&mut self, piece: Piece, out: &mut dyn Write) -> Result<()> {
        match piece {
            Piece::Unread(why) => self.tally.unread(why),
            Piece::Told(Told::Ended { session, id, failed }, _) => self.pasts.of(&session).ended(&id, failed),
            Piece::Told(Told::Left(why), _) => self.tally.left(why),
            Piece::Told(Told::Call(call), at) => self.call(&call, &at, out)?,
        }
        Ok(())
    }

    fn call(&mut self, call: &Recorded, at: &At, out: &mut dyn Write) -> Result<()> {
        if !self.tally.is_new(call) || self.shown.is_some() {
            return Ok(());
        }
        let past = self.pasts.of(&call.session);
        if call.mode.is_some() {
            past.mode.clone_from(&call.mode);
        }
        let message = call.message(&self.cwd, past.mode.as_deref());
        let judged =
            self.judge.judge(call.client, message.as_bytes(), Past::Told(past.stand(), &past.trail))?;
        if self.wanted.is_some_and(|id| id == call.id) {
            self.shown = Some(check::exit(&judged.decision));
            return detail(out, call, at, &judged);
        }
        past.push(&call.id, &judged);
        self.tally.count(call, at, &judged);
        Ok(())
    }
}

/// One call in full.
fn detail(out: &mut dyn Write, call: &Recorded, at: &At, judged: &Judged) -> Result<()> {
    let cwd = call.cwd.as_deref().unwrap_or("(not recorded)");
    writeln!(out, "{} of session {}", call.tool, call.session)?;
    writeln!(out, "  recorded in {} line {}, made in {cwd}", at.file, at.line)?;
    writeln!(out, "  {}", tally::action(judged))?;
    report::text(out, &judged.decision, judged.explained(), report::Paint::auto())?;
    Ok(())
}
