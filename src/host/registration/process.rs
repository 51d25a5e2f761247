//! One child process, fed, read and ended within a time. For install and doctor, never on the hook path.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::host::child::{has_ended, pid, signal_group};

/// What is kept of each stream.
const MAX_OUTPUT: u64 = 1 << 20;
const POLL: Duration = Duration::from_millis(5);
/// How long output may still come after the process has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    TimedOut,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exit(code) => write!(f, "exit {code}"),
            End::Signal(number) => write!(f, "killed by signal {number}"),
            End::TimedOut => f.write_str("no answer in time"),
        }
    }
}

/// What a process did.
#[derive(Debug, Clone)]
pub struct Ran {
    pub end: End,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `command` with `input`, in a process group of its own that is killed when `limit` is over.
pub fn run(command: &mut Command, input: &str, limit: Duration) -> io::Result<Ran> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let input = input.as_bytes().to_vec();
    std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A child that does not read its input is no error here; what it answers is what counts.
            let _ = stdin.write_all(&input);
        }
    });
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let end = wait(&mut child, start, limit)?;
    let text = |from: Receiver<Vec<u8>>| {
        let bytes = from.recv_timeout(DRAIN).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Ran { end, stdout: text(stdout), stderr: text(stderr) })
}

fn collect<R: Read + Send + 'static>(from: Option<R>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What could be read until an error is what there is.
            let _ = from.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
            let _ = io::copy(&mut from, &mut io::sink());
        }
        // The receiver may have given up.
        let _ = sender.send(bytes);
    });
    receiver
}

fn wait(child: &mut Child, start: Instant, limit: Duration) -> io::Result<End> {
    // What the child left behind is ended with it, so that nothing of a probe outlives it.
    let kill_group = |child: &Child| signal_group(pid(child), Signal::KILL);
    loop {
        if has_ended(child)? {
            kill_group(child);
            return Ok(ended(child.wait()?));
        }
        if start.elapsed() >= limit {
            kill_group(child);
            child.wait()?;
            return Ok(End::TimedOut);
        }
        std::thread::sleep(POLL);
    }
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::process::Process;

    fn sh(script: &str, input: &str, limit: Duration) -> Ran {
        run(Command::new("/bin/sh").args(["-c", script]), input, limit).unwrap()
    }

    #[test]
    fn input_output_and_end_are_handed_on() {
        let long = Duration::from_secs(60);
        let ran = sh("cat; echo e >&2; exit 7", "hello", long);
        assert_eq!((ran.end, ran.stdout.as_str(), ran.stderr.as_str()), (End::Exit(7), "hello", "e\n"));
        assert_eq!(sh("kill -9 $$", &"x".repeat(1 << 20), long).end, End::Signal(9));
    }

    #[test]
    fn a_hanging_process_is_ended_with_its_children() {
        let ran = sh("sleep 600 & echo $!; wait", "", Duration::from_millis(300));
        assert_eq!(ran.end, End::TimedOut);
        let child: u32 = ran.stdout.trim().parse().unwrap();
        let gone = |pid: u32| Process::of(pid).is_none_or(|process| process.ended);
        assert!((0..200).any(|_| gone(child) || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }));
    }

    #[test]
    fn a_grandchild_that_keeps_the_output_open_does_not_hold_us() {
        let ran = sh("sleep 600 & echo done", "", Duration::from_secs(60));
        assert_eq!((ran.end, ran.stdout.as_str()), (End::Exit(0), "done\n"));
    }
}
