//! Programs that a test makes and starts. They are written by a process of their own: while one thread has a file open for
//! writing, a process that another thread is just starting has it open too, and the system refuses to run such a file.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "each test file uses a part of it")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program, in one step where there was one that may be running.
pub fn write(path: &Path, content: impl AsRef<[u8]>) {
    let script = "cat >\"$1.new\" && chmod 755 \"$1.new\" && mv -f \"$1.new\" \"$1\"";
    let mut writer =
        Command::new("/bin/sh").args(["-c", script, "sh"]).arg(path).stdin(Stdio::piped()).spawn().unwrap();
    writer.stdin.take().unwrap().write_all(content.as_ref()).unwrap();
    assert!(writer.wait().unwrap().success(), "{}", path.display());
}

/// Copies a program, with its permissions.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    let copied = Command::new("cp").arg("-pf").arg(from).arg(to).status().unwrap();
    assert!(copied.success(), "{} to {}", from.display(), to.display());
}

/// Copies a directory of programs into another one.
pub fn copy_all(from: &Path, into: &Path) {
    let copied = Command::new("cp").arg("-pR").arg(from).arg(into).status().unwrap();
    assert!(copied.success(), "{} into {}", from.display(), into.display());
}
