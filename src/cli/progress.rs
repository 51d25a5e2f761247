//! How far a long command is: a line on a terminal that goes again, and nothing on a pipe, in a hook, or of what is over at once. And
//! how such a command ends when a person stops it.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::host::guard;

/// What is over by then shows nothing.
const QUIET: Duration = Duration::from_millis(500);
/// How often the line changes at most, in a second.
const OFTEN: u8 = 8;

/// What is counted, and how much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Files(u64),
    Bytes(u64),
    /// Of a time limit.
    Seconds(u64),
    /// Files, of which nobody knows yet how many.
    UncountedFiles,
    Unknown,
}

impl Total {
    fn length(self) -> Option<u64> {
        match self {
            Total::Files(all) | Total::Bytes(all) | Total::Seconds(all) => Some(all),
            Total::UncountedFiles | Total::Unknown => None,
        }
    }

    fn template(self) -> &'static str {
        match self {
            Total::Files(_) => "{msg} [{bar:24}] {pos} of {len} files, {per_sec}, {eta} left",
            Total::Bytes(_) => "{msg} [{bar:24}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            Total::Seconds(_) => "{msg} [{bar:24}] {pos} of {len} s",
            Total::UncountedFiles => "{spinner} {msg}, {pos} files, {per_sec}",
            Total::Unknown => "{spinner} [{elapsed}] {msg}",
        }
    }
}

/// The line of one command, on the standard error. A stop ends the process at once, with its line cleared.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    begun: Instant,
    /// Whether there is a terminal to show it on, and whether it is shown.
    can: bool,
    shown: bool,
}

impl Progress {
    pub fn begin(what: &'static str, total: Total) -> Progress {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let can = std::io::stderr().is_terminal() && !is_dumb;
        if can {
            guard::clear_line_at_stop();
        }
        // What is counted before anything is shown counts for the rate.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let progress = Progress { bar, what, begun: Instant::now(), can, shown: false };
        progress.turn_to(total);
        progress
    }

    /// A stop only leaves a note from here on: what the command is at is finished, and `at` says that it is to end.
    pub fn finishing(self) -> Progress {
        guard::note_stops();
        self
    }

    /// Something else is counted from here on.
    pub fn turn_to(&self, total: Total) {
        let style = ProgressStyle::with_template(total.template());
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("=> "));
        self.bar.set_message(self.what);
        match total.length() {
            Some(all) => self.bar.set_length(all),
            None => self.bar.unset_length(),
        }
    }

    pub fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    /// So much is done; whether the command may go on.
    pub fn at(&mut self, done: u64) -> ControlFlow<()> {
        self.bar.set_position(done);
        self.show();
        if guard::stop_asked().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The step that begins.
    pub fn step(&mut self, words: &str) {
        self.tell(words);
    }

    /// What it is doing, in other words than before.
    pub fn tell(&mut self, words: &str) {
        if self.can {
            self.bar.set_message(words.to_owned());
            self.bar.tick();
            self.show();
        }
    }

    /// Something that stays to be read.
    pub fn say(&mut self, words: &str) {
        self.bar.suspend(|| {
            // Who closed the terminal is told nothing.
            let _told = writeln!(std::io::stderr().lock(), "lazaret: {words}");
        });
    }

    /// The error of a command that was stopped before it was done.
    pub fn stopped(&self) -> anyhow::Error {
        stopped(self.what)
    }

    fn show(&mut self) {
        if self.can && !self.shown && self.begun.elapsed() >= QUIET {
            self.shown = true;
            guard::line_is_shown(true);
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(OFTEN));
            self.bar.tick();
        }
    }
}

/// The error of a command that a person stopped: it ends with 128 and the signal's number, as a shell says it.
pub fn stopped(what: &str) -> anyhow::Error {
    anyhow::anyhow!("{what}: stopped before it was done")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        guard::line_is_shown(false);
    }
}
