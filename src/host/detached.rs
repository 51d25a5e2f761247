//! A process that is started and left to itself. What it is to do and how long it may is its own affair.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What of our environment it gets: a client's may hold what a project put there.
const GIVEN: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "HOME",
    "LANG",
    "LAZARET_HOME",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "USER",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Starts this very program again, in a group of its own, with nothing to read and nobody to read it.
#[allow(clippy::zombie_processes, reason = "who starts it ends at once, and leaves it to the system")]
pub fn start_again(args: &[&OsStr]) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).env_clear().current_dir(Path::new("/")).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(GIVEN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.spawn().map(drop)
}
