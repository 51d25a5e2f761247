//! What the system tells of processes: by /proc on Linux, by libproc on macOS.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::collections::{BTreeMap, BTreeSet};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

/// A process at the moment of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    /// What it calls itself, cut by the system.
    pub name: String,
    pub parent: u32,
    pub group: u32,
    /// When it began, in a unit of the system's: with its number it is the same for no other process.
    pub started: u64,
    /// It has ended, and nobody has asked how.
    pub ended: bool,
    /// Memory that it holds, in bytes.
    pub resident: u64,
}

impl Process {
    /// None = there is none of that number, or it is hidden.
    pub fn of(pid: u32) -> Option<Process> {
        system::process(pid)
    }
}

/// The name of the file that a process runs, where it may be known. A script's process has the script's name; this is its shell's.
pub(super) fn program(pid: u32) -> Option<String> {
    system::program(pid)
}

/// Within what the numbers of processes count: none = what the system shows is not about us.
pub(super) fn namespace() -> Option<u64> {
    system::namespace()
}

/// Our children, whichever thread started or adopted them; none where the system does not list them.
pub(super) fn children() -> Vec<u32> {
    system::children()
}

/// The resident memory of `root`, of its process group and of all their descendants, in bytes; none = the system does not tell.
pub fn memory_of_tree(root: u32) -> Option<u64> {
    // One that has ended meanwhile holds nothing.
    let known = |pid: u32| Some((pid, Process::of(pid)?));
    let all: BTreeMap<u32, Process> = system::all()?.into_iter().filter_map(known).collect();
    let mut own: BTreeSet<u32> = all
        .iter()
        .filter(|(pid, process)| **pid == root || process.group == root)
        .map(|(pid, _)| *pid)
        .collect();
    loop {
        let found: Vec<u32> = all
            .iter()
            .filter(|(pid, process)| own.contains(&process.parent) && !own.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if found.is_empty() {
            break;
        }
        own.extend(found);
    }
    Some(own.iter().filter_map(|pid| all.get(pid)).map(|process| process.resident).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_and_its_children_are_counted() {
        let own = memory_of_tree(std::process::id()).unwrap();
        assert!(own > 1 << 20, "{own}");
        // A child of a group of its own is ours all the same.
        let mut command = std::process::Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.arg("60").spawn().unwrap();
        assert!(children().contains(&child.id()));
        // The kernel counts the first pages of a process late.
        let begun = std::time::Instant::now();
        let mut of_child = 0;
        while of_child == 0 && begun.elapsed() < std::time::Duration::from_secs(60) {
            of_child = memory_of_tree(child.id()).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_child > 0 && of_child < own, "{of_child} of {own}");
        assert_eq!(memory_of_tree(u32::MAX), Some(0));
    }

    #[test]
    fn this_process_is_known_by_its_parent_and_program() {
        let this = Process::of(std::process::id()).unwrap();
        assert_eq!(this.parent, std::os::unix::process::parent_id());
        assert!(!this.ended && namespace().is_some());
        let file = std::env::current_exe().unwrap();
        assert_eq!(program(std::process::id()).as_deref(), file.file_name().and_then(|name| name.to_str()));
    }
}
