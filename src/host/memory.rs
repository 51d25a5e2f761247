//! How much memory a process and all that came of it hold, from what the kernel lists.

use std::collections::{BTreeMap, BTreeSet};

/// The resident memory of `root`, of its process group and of all their descendants, in bytes; none = the system does not tell.
pub fn of_tree(root: u32) -> Option<u64> {
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // One that has ended meanwhile holds nothing.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some(process) = Process::parse(&stat) {
            all.insert(pid, process);
        }
    }
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
    let pages = own.iter().filter_map(|pid| all.get(pid)).map(|process| process.pages).sum::<u64>();
    Some(pages.saturating_mul(page))
}

struct Process {
    parent: u32,
    group: u32,
    /// Resident, in pages.
    pages: u64,
}

impl Process {
    /// A line of `/proc/PID/stat`: the name in its parentheses may hold anything.
    fn parse(stat: &str) -> Option<Process> {
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        Some(Process {
            parent: fields.nth(1)?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            pages: fields.nth(18)?.parse().ok()?,
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_and_its_children_are_counted() {
        let own = of_tree(std::process::id()).unwrap();
        assert!(own > 1 << 20, "{own}");
        // A child of a group of its own is ours all the same.
        let mut command = std::process::Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.arg("60").spawn().unwrap();
        // The kernel counts the first pages of a process late.
        let begun = std::time::Instant::now();
        let mut of_child = 0;
        while of_child == 0 && begun.elapsed() < std::time::Duration::from_secs(60) {
            of_child = of_tree(child.id()).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_child > 0 && of_child < own, "{of_child} of {own}");
        assert_eq!(of_tree(u32::MAX), Some(0));
    }

    #[test]
    fn the_fields_are_where_proc_5_says() {
        let stat =
            "17 (a) b (c)) S 4 9 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 100 5000 321 18446744073709551615";
        let process = Process::parse(stat).unwrap();
        assert_eq!((process.parent, process.group, process.pages), (4, 9, 321));
    }
}
