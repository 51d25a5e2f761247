//! The process that a session is opened for or an agent works in, told apart from every other one that ever gets its
//! number. What cannot be found out is never taken for its end.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::host::process::{Process, namespace, program};

/// Most processes that are looked at on the way up.
const STEPS: usize = 64;
/// Programs that only start another one, or that end with the line or the script they were given: who started them is who
/// counts. Without the number of a version. Sorted.
const WRAPPERS: [&str; 79] = [
    "ash",
    "bash",
    "busybox",
    "bwrap",
    "cargo",
    "chpst",
    "chroot",
    "chrt",
    "csh",
    "dash",
    "dbus-run-session",
    "direnv",
    "doas",
    "dotenv",
    "elvish",
    "entr",
    "env",
    "fakeroot",
    "find",
    "fish",
    "flock",
    "git",
    "gmake",
    "hatch",
    "hyperfine",
    "ionice",
    "just",
    "ksh",
    "ltrace",
    "make",
    "mise",
    "mksh",
    "nice",
    "ninja",
    "nix",
    "nohup",
    "npm",
    "npx",
    "nsenter",
    "nu",
    "parallel",
    "pdm",
    "perf",
    "perl",
    "pipenv",
    "pkexec",
    "pnpm",
    "poetry",
    "pre-commit",
    "prlimit",
    "pwsh",
    "pypy",
    "python",
    "rake",
    "ruby",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "task",
    "taskset",
    "tcsh",
    "time",
    "timeout",
    "tox",
    "unshare",
    "uv",
    "watch",
    "xargs",
    "xonsh",
    "yarn",
    "zsh",
];
/// What adopts who has lost its parent, besides process 1.
const ADOPTERS: [&str; 2] = ["init", "systemd"];

/// A process: its number, when it was started, and the process namespace in which it has that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pid: u32,
    /// In a unit of the system's.
    started: u64,
    namespace: u64,
}

impl Holder {
    /// The nearest process above this one that is no shell or the like: none = there is none but what adopts orphans, or
    /// it cannot be said.
    pub fn above() -> Option<Holder> {
        let namespace = namespace()?;
        let mut pid = std::os::unix::process::parent_id();
        for _ in 0..STEPS {
            // 0: it is outside of our namespace.
            if pid <= 1 {
                return None;
            }
            let process = Process::of(pid)?;
            let program = program(pid);
            let is = |names: &[&str]| is_one_of(names, &process.name, program.as_deref());
            if is(&ADOPTERS) {
                return None;
            }
            if !is(&WRAPPERS) {
                return Some(Holder { pid, started: process.started, namespace });
            }
            pid = process.parent;
        }
        None
    }

    /// This process: none = it cannot be said.
    pub fn this() -> Option<Holder> {
        let (namespace, pid) = (namespace()?, std::process::id());
        Some(Holder { pid, started: Process::of(pid)?.started, namespace })
    }
}

/// The name of these that a process has from which this one comes; none = no such process can be seen.
pub fn descends_from(names: &[&'static str]) -> Option<&'static str> {
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..STEPS {
        let process = Process::of(pid)?;
        let program = program(pid);
        let called = |name: &&&'static str| is_one_of(&[**name], &process.name, program.as_deref());
        if let Some(name) = names.iter().find(called) {
            return Some(name);
        }
        pid = process.parent;
    }
    None
}

/// Whether a process of that name, which runs that file, is one of these. A name may have the rest of a line behind it
/// (`npm run review`), a file the number of a version (`python3.12`).
fn is_one_of(names: &[&str], name: &str, program: Option<&str>) -> bool {
    let version = |c: char| c.is_ascii_digit() || c == '.';
    let first = name.split(' ').next().unwrap_or(name);
    names.iter().any(|known| {
        let is = |name: &str| name == *known || name.trim_end_matches(version) == *known;
        is(first) || program.is_some_and(is)
    })
}

/// From where the ends of processes are seen; looked at once for all that are asked about.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    namespace: Option<Option<u64>>,
}

impl Lookout {
    /// Whether a process is known to have ended.
    pub fn is_gone(&mut self, holder: Holder) -> bool {
        if *self.namespace.get_or_insert_with(namespace) != Some(holder.namespace) {
            return false;
        }
        match Process::of(holder.pid) {
            Some(process) => process.started != holder.started || process.ended,
            None => no_such_process(holder.pid),
        }
    }
}

/// Some systems hide processes in /proc: there the kernel is asked in another way.
fn no_such_process(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_only_start_others_are_known_by_name_and_file() {
        for (name, program) in [
            ("sh", None),
            ("review.sh", Some("bash")),
            ("npm run review", Some("node")),
            ("npx", Some("node")),
            ("helper.py", Some("python3.12")),
            ("python3", None),
            ("x", Some("perl5.36.0")),
        ] {
            assert!(is_one_of(&WRAPPERS, name, program), "{name} {program:?}");
        }
        for (name, program) in [
            ("claude", Some("node")),
            ("node", Some("node")),
            ("opencode", Some("opencode")),
            ("Runner.Worker", Some("Runner.Worker")),
            ("tmux: server", Some("tmux")),
            ("my sh", Some("my")),
            ("", None),
        ] {
            assert!(!is_one_of(&WRAPPERS, name, program), "{name} {program:?}");
        }
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(WRAPPERS.windows(2).all(|pair| pair.first() < pair.last()), "{WRAPPERS:?}");
    }

    #[test]
    fn this_process_lives_and_one_of_its_number_that_began_at_another_time_does_not() {
        let this = Holder::this().unwrap();
        let mut lookout = Lookout::default();
        assert!(!lookout.is_gone(this));
        assert!(lookout.is_gone(Holder { started: this.started + 1, ..this }));
        // Of another namespace nothing can be said.
        assert!(!lookout.is_gone(Holder { started: 0, namespace: this.namespace + 1, ..this }));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let held = Holder { pid, started: Process::of(pid).unwrap().started, ..this };
        assert!(!lookout.is_gone(held));
        child.kill().unwrap();
        while !Process::of(pid).unwrap().ended {
            std::thread::yield_now();
        }
        assert!(lookout.is_gone(held), "nobody waited for it yet");
        child.wait().unwrap();
        assert!(lookout.is_gone(held));
        assert!(no_such_process(pid) && !no_such_process(this.pid));
    }
}
