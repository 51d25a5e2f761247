//! Which step a long command is at, on a terminal; on a pipe nothing.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line changes at most.
const OFTEN: Duration = Duration::from_millis(250);

/// One line on the standard error, written over and over.
pub struct Progress {
    on: bool,
    begun: Instant,
    told: Option<Instant>,
}

impl Progress {
    pub fn begin() -> Progress {
        Progress { on: std::io::stderr().is_terminal(), begun: Instant::now(), told: None }
    }

    pub fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    /// The step that begins.
    pub fn step(&mut self, words: &str) {
        self.told = None;
        self.tell(words);
    }

    /// The same step, some time later.
    pub fn tell(&mut self, words: &str) {
        if !self.on || self.told.is_some_and(|told| told.elapsed() < OFTEN) {
            return;
        }
        self.told = Some(Instant::now());
        self.write(&format!("\r\x1b[K[{:>3} s] {words}", self.seconds()));
    }

    /// Something that stays to be read.
    pub fn say(&mut self, words: &str) {
        let clear = if self.on { "\r\x1b[K" } else { "" };
        self.told = None;
        self.write(&format!("{clear}lazaret: {words}\n"));
    }

    fn write(&self, text: &str) {
        // Who closed the terminal is told nothing.
        let mut stderr = std::io::stderr().lock();
        let _told = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

/// Cells of a bar.
const WIDE: usize = 24;

/// How much of the files is done.
pub fn bar(done: usize, all: usize, words: &str) -> String {
    let full = (done * WIDE).checked_div(all).unwrap_or(WIDE).min(WIDE);
    let (full, rest) = ("=".repeat(full), " ".repeat(WIDE - full));
    format!("[{full}>{rest}] {done} of {all} files, {words}")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.on {
            self.write("\r\x1b[K");
        }
    }
}
