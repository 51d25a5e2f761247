//! A process that is started and left to itself. What it is to do and how long it may is its own affair.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::environment::Environment;

/// What of our environment it gets besides the places that count for us: a client's may hold what a project put there.
const GIVEN: &[&str] =
    &["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LANG", "LC_ALL", "LOGNAME", "WAYLAND_DISPLAY", "XAUTHORITY"];

/// Starts this very program again for the same places, in a group of its own, with nothing to read and nobody to read it.
#[allow(clippy::zombie_processes, reason = "who starts it ends at once, and leaves it to the system")]
pub fn start_again(args: &[&OsStr], env: &Environment) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).env_clear().current_dir(Path::new("/")).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(GIVEN.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    // A program of the person's by its bare name is looked for where persons and systems keep theirs, not where a project says.
    let own = env.home().map(|home| format!("{home}/.local/bin:{home}/bin:")).unwrap_or_default();
    command.env("PATH", own + "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.envs(env.places());
    command.spawn().map(drop)
}
