//! A long-running child process, read line by line while it works, and ended with all that it started: when it is done,
//! when its time is over, when a person stops us.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::confine::{Held, Ready};
use super::{guard, process};

/// Longest line that is handed on, in bytes; what is longer is left out.
const MAX_LINE: u64 = 16 << 20;
/// What is kept of the standard error, in bytes: its end.
const MAX_STDERR: usize = 16 << 10;
/// Lines that are read ahead.
const AHEAD: usize = 64;
/// How often it is looked at.
const TICK: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_millis(10);
/// How long output may still come after everything has ended, and how long what is left over is hunted.
const DRAIN: Duration = Duration::from_secs(2);

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// Its time was over.
    TimedOut,
    /// Who looked on would have no more of it.
    Ended,
    /// Somebody sent us this signal.
    Stopped(i32),
}

/// How long it may work, and what becomes of what it writes to its standard error.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// None = as long as it takes.
    pub limit: Option<Duration>,
    /// From the polite signal to the other one.
    pub grace: Duration,
    /// Its standard error is ours, and none of it is kept.
    pub shares_stderr: bool,
}

/// What there is to look at.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'l> {
    /// It has begun, under this number, which is its group's too.
    Begun(u32),
    /// A line of its standard output, without its end.
    Line(&'l [u8]),
    /// Nothing for a tenth of a second.
    Nothing,
}

/// What became of it.
#[derive(Debug, Clone)]
pub struct Ran {
    pub end: End,
    /// The end of what it wrote to its standard error.
    pub stderr: String,
    /// What the kernel holds it to; none = nothing was asked for.
    pub held: Option<Held>,
}

/// Who looks on, and says whether it may go on.
pub type Watch<'w> = dyn FnMut(Seen<'_>) -> ControlFlow<()> + 'w;

/// Runs `command` in a process group of its own, with the standard input that it was given. Nothing that it started is left
/// when this returns.
pub fn run(command: &mut Command, terms: Terms, each: &mut Watch<'_>) -> io::Result<Ran> {
    let others = prepare(command, terms);
    let start = Instant::now();
    let child = command.spawn()?;
    supervise(child, &others, (start, terms), each)
}

/// The same within a confinement, which holds what is started and all that comes of it, and not us.
pub fn run_confined(
    command: &mut Command,
    confinement: Ready,
    terms: Terms,
    each: &mut Watch<'_>,
) -> io::Result<Ran> {
    let others = prepare(command, terms);
    let start = Instant::now();
    let born = Born::default();
    std::thread::scope(|scope| {
        // A confinement holds the thread that enters it and what that thread starts. It stays until all is over: with it the
        // kernel would end what it has started.
        scope.spawn(|| {
            let child = confinement.enter().and_then(|held| command.spawn().map(|child| (child, held)));
            born.tell(child);
        });
        let ran = born.take().and_then(|(child, held)| {
            let ran = supervise(child, &others, (start, terms), each)?;
            Ok(Ran { held: Some(held), ..ran })
        });
        born.over();
        ran
    })
}

/// What two threads tell each other of a child: that it was started, and that it is over.
#[derive(Default)]
struct Born {
    stage: Mutex<Stage>,
    news: Condvar,
}

#[derive(Default)]
struct Stage {
    child: Option<io::Result<(Child, Held)>>,
    is_over: bool,
}

impl Born {
    /// Hands it over, and waits until it is over.
    fn tell(&self, child: io::Result<(Child, Held)>) {
        let Ok(mut stage) = self.stage.lock() else { return };
        stage.child = Some(child);
        self.news.notify_all();
        while !stage.is_over {
            match self.news.wait(stage) {
                Ok(again) => stage = again,
                Err(_) => return,
            }
        }
    }

    fn take(&self) -> io::Result<(Child, Held)> {
        let broken = || io::Error::other("the thread that starts it is gone");
        let mut stage = self.stage.lock().map_err(|_| broken())?;
        loop {
            match stage.child.take() {
                Some(child) => return child,
                None => stage = self.news.wait(stage).map_err(|_| broken())?,
            }
        }
    }

    fn over(&self) {
        if let Ok(mut stage) = self.stage.lock() {
            stage.is_over = true;
        }
        self.news.notify_all();
    }
}

/// What is done before anything is started; the children that we have already.
fn prepare(command: &mut Command, terms: Terms) -> Vec<Pid> {
    guard::note_stops();
    adopt();
    let stderr = if terms.shares_stderr { Stdio::inherit() } else { Stdio::piped() };
    command.stdout(Stdio::piped()).stderr(stderr).process_group(0);
    guard::end_with_us(command);
    // A shell that became us may have left us its own.
    children()
}

fn supervise(
    mut child: Child,
    others: &[Pid],
    (start, terms): (Instant, Terms),
    each: &mut Watch<'_>,
) -> io::Result<Ran> {
    let lines = lines(child.stdout.take());
    let stderr = tail(child.stderr.take());
    let watched = match each(Seen::Begun(child.id())) {
        ControlFlow::Continue(()) => watch(&child, start, terms, &lines, each),
        ControlFlow::Break(()) => Ok(Some(End::Ended)),
    };
    // Whatever happened: from here on nothing of it goes on.
    kill_group(&child, Signal::KILL);
    let status = child.wait();
    kill_orphans(others);
    let drained = Instant::now();
    while let Ok(line) = lines.recv_timeout(DRAIN.saturating_sub(drained.elapsed())) {
        // It has ended: there is nothing to stop any more.
        let _over = each(Seen::Line(&line));
    }
    let stderr = stderr.recv_timeout(DRAIN).unwrap_or_default();
    let end = match watched? {
        Some(end) => end,
        None => ended(status?),
    };
    Ok(Ran { end, stderr: String::from_utf8_lossy(&stderr).into_owned(), held: None })
}

/// Looks on until it has ended by itself (`None`) or was made to.
fn watch(
    child: &Child,
    start: Instant,
    terms: Terms,
    lines: &Receiver<Vec<u8>>,
    each: &mut Watch<'_>,
) -> io::Result<Option<End>> {
    loop {
        let goes_on = match lines.recv_timeout(TICK) {
            Ok(line) => each(Seen::Line(&line)),
            Err(RecvTimeoutError::Timeout) => each(Seen::Nothing),
            // It closed its output and works on.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(POLL);
                each(Seen::Nothing)
            }
        };
        let end = match guard::stop_asked() {
            Some(signal) => End::Stopped(signal),
            None if goes_on.is_break() => End::Ended,
            None if terms.limit.is_some_and(|limit| start.elapsed() >= limit) => End::TimedOut,
            None if has_ended(child)? => return Ok(None),
            None => continue,
        };
        ask_to_end(child, terms.grace, lines, each)?;
        return Ok(Some(end));
    }
}

/// The polite signal, and a while to heed it. Its output is still read, so that it does not wait for us.
fn ask_to_end(
    child: &Child,
    grace: Duration,
    lines: &Receiver<Vec<u8>>,
    each: &mut Watch<'_>,
) -> io::Result<()> {
    kill_group(child, Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < grace && !has_ended(child)? {
        match lines.recv_timeout(POLL) {
            // It is being ended already.
            Ok(line) => drop(each(Seen::Line(&line))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL),
        }
    }
    Ok(())
}

/// Looked at without reaping: until it is waited for, its number cannot be given to another group.
pub(super) fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match pid(child) {
        Some(pid) => Ok(rustix::process::waitid(WaitId::Pid(pid), options)?.is_some()),
        None => Err(io::Error::other("a process without a number")),
    }
}

fn kill_group(child: &Child, signal: Signal) {
    signal_group(pid(child), signal);
}

pub(super) fn signal_group(group: Option<Pid>, signal: Signal) {
    // It may be gone already.
    let _gone = group.map(|group| rustix::process::kill_process_group(group, signal));
}

pub(super) fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Makes what loses its parent ours, so that what left the group is found as well.
#[cfg(target_os = "linux")]
fn adopt() {
    // Where the kernel does not do it, the group is what there is.
    let _group_only = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt() {}

/// Ends everything that is our child now and was not before. What an ended one leaves behind becomes ours in turn.
fn kill_orphans(others: &[Pid]) {
    let since = Instant::now();
    while since.elapsed() < DRAIN {
        let mut children = children();
        children.retain(|pid| !others.contains(pid));
        if children.is_empty() {
            return;
        }
        for pid in children {
            let _gone = rustix::process::kill_process(pid, Signal::KILL);
            let _reaped = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
        std::thread::sleep(POLL);
    }
}

/// Our children, as a signal takes them.
fn children() -> Vec<Pid> {
    let raw = |pid| i32::try_from(pid).ok().and_then(Pid::from_raw);
    process::children().into_iter().filter_map(raw).collect()
}

/// The lines of a stream, read by a thread of their own.
fn lines<R: Read + Send + 'static>(from: Option<R>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    std::thread::spawn(move || {
        if let Some(from) = from {
            // What could be read until an error is what there is.
            let _broken = send_lines(&mut BufReader::new(from), &sender);
        }
    });
    receiver
}

fn send_lines(from: &mut dyn BufRead, to: &SyncSender<Vec<u8>>) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if from.take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 == MAX_LINE {
            from.skip_until(b'\n')?;
            continue;
        }
        if to.send(line).is_err() {
            // Nobody reads any more, but who writes must not be held up.
            return io::copy(&mut from.take(u64::MAX), &mut io::sink()).map(|_| ());
        }
    }
}

/// The end of a stream, once it is over.
fn tail<R: Read + Send + 'static>(from: Option<R>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut piece = [0_u8; 4096];
        if let Some(mut from) = from {
            while let Ok(read @ 1..) = from.read(&mut piece) {
                kept.extend_from_slice(piece.get(..read).unwrap_or_default());
                let over = kept.len().saturating_sub(MAX_STDERR);
                kept.drain(..over);
            }
        }
        // The receiver may have given up.
        let _gone = sender.send(kept);
    });
    receiver
}
