//! Starting the user's plugins: the pinned program and no other, with one JSON object in, one out, and a time-out. Which is asked
//! when is decided elsewhere.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::child::{pid, signal_group};
use super::files::{self, Links};
use super::hex;
use super::registration::process::{self, End};
use crate::domain::{Fault, FaultKind, Plugin, clip, escape, size};

/// Longest program, in bytes: it is read whole for its digest whenever it is started.
const MAX_PROGRAM: u64 = 64 << 20;
/// Longest answer, in bytes.
const MAX_ANSWER: usize = 64 << 10;
/// Longest word of a plugin that a fault quotes, in bytes.
const QUOTED: usize = 200;

/// That the program is there and is the one that was pinned.
pub fn verify(plugin: &Plugin) -> Result<(), Fault> {
    let wrong = |why: String, hint: &str| {
        Err(Fault::new(FaultKind::Config, what(plugin), why).with_hint(hint.to_owned()))
    };
    let bytes = match files::read(&plugin.program, MAX_PROGRAM, Links::Follow) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return wrong("there is no such program".to_owned(), "put it there, or remove the plugin");
        }
        Err(error) => return wrong(error.to_string(), "fix it, or remove the plugin"),
    };
    let digest = hex(&Sha256::digest(&bytes));
    if digest == plugin.sha256 {
        return Ok(());
    }
    wrong(
        format!("its SHA-256 is {digest}, which is not the pinned one"),
        "look at what changed, and pin that in the configuration if it is right",
    )
}

/// The answer of a plugin to a question.
pub fn ask(plugin: &Plugin, question: &Value) -> Result<Value, Fault> {
    verify(plugin)?;
    let failed = |why: String| {
        Fault::new(FaultKind::Host, what(plugin), why)
            .with_hint("try it by hand (docs/plugins.md), or remove the plugin from the configuration")
    };
    let limit = Duration::from_millis(u64::from(plugin.timeout_ms));
    let ran = process::run(&mut command(plugin), &question.to_string(), limit)
        .map_err(|error| failed(error.to_string()))?;
    match ran.end {
        End::Exit(0) => {}
        End::TimedOut => return Err(failed(format!("it did not answer within {} ms", plugin.timeout_ms))),
        End::Exit(_) | End::Signal(_) => {
            let said = escape(&clip(ran.stderr.trim(), QUOTED));
            return Err(failed(format!("it ended with {}: {said}", ran.end)));
        }
    }
    if ran.stdout.len() > MAX_ANSWER {
        let (had, most) = (size(ran.stdout.len() as u64), size(MAX_ANSWER as u64));
        return Err(failed(format!("its answer is {had}; at most {most} are read")));
    }
    match super::from_json::<Value>(ran.stdout.trim().as_bytes()) {
        Ok(answer) if answer.is_object() => Ok(answer),
        Ok(_) | Err(_) => Err(failed("its answer is not one JSON object".to_owned())),
    }
}

/// Has a plugin take what `feed` writes, and write to `out` what it makes of it.
pub fn pour<E: From<Fault>>(
    plugin: &Plugin,
    out: Stdio,
    feed: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    verify(plugin)?;
    let failed = |why: String| E::from(Fault::new(FaultKind::Host, what(plugin), why));
    let mut child = command(plugin)
        .stdin(Stdio::piped())
        .stdout(out)
        .process_group(0)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let begun = Instant::now();
    let limit = Duration::from_millis(u64::from(plugin.timeout_ms));
    let (over, watch) = mpsc::channel::<()>();
    let group = pid(&child);
    let watchdog = std::thread::spawn(move || {
        if watch.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            signal_group(group, Signal::KILL);
        }
    });
    let fed = match child.stdin.take() {
        // One that has read enough has gone.
        Some(mut input) => feed(&mut input),
        None => Ok(()),
    };
    let status = child.wait();
    let late = begun.elapsed() >= limit;
    drop(over);
    signal_group(group, Signal::KILL);
    let _joined = watchdog.join();
    match status {
        Ok(status) if status.success() => fed,
        Ok(_) if late => Err(failed(format!("it was not done within {} ms", plugin.timeout_ms))),
        Ok(status) => Err(failed(format!("it ended with {status}"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// In `/`, with nothing of the client's environment.
fn command(plugin: &Plugin) -> Command {
    let mut command = Command::new(&plugin.program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").current_dir("/");
    command
}

fn what(plugin: &Plugin) -> String {
    format!("plugin {} ({})", plugin.name, escape(&plugin.program))
}
