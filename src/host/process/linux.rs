//! Processes as /proc shows them.

use std::fs;
use std::io::Read;

use super::Process;

pub fn process(pid: u32) -> Option<Process> {
    // What is asked for stands within it, and the kernel gives that much at once.
    let mut bytes = [0; 1024];
    let read = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut bytes).ok()?;
    parse(&String::from_utf8_lossy(bytes.get(..read)?), rustix::param::page_size())
}

/// A line of `/proc/PID/stat`: the name may hold spaces and parentheses, and ends at the last one.
fn parse(stat: &str, page: usize) -> Option<Process> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let short = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let state = fields.first()?.chars().next()?;
    // One whose first thread alone has ended goes on.
    let ended = matches!(state, 'Z' | 'X' | 'x') && number(17)? <= 1;
    let resident = number(21)?.saturating_mul(u64::try_from(page).ok()?);
    Some(Process {
        name: name.to_owned(),
        parent: short(1)?,
        group: short(2)?,
        started: number(19)?,
        ended,
        resident,
    })
}

pub fn program(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(" (deleted)").unwrap_or(name).to_owned())
}

/// The process namespace, if /proc shows it.
pub fn namespace() -> Option<u64> {
    let ours = fs::read_link("/proc/self").ok()?;
    if ours.to_str()?.parse() != Ok(std::process::id()) {
        return None;
    }
    let name = fs::read_link("/proc/self/ns/pid").ok()?;
    name.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

pub fn all() -> Option<Vec<u32>> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    Some(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

pub fn children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(state: char, threads: u64) -> String {
        format!(
            "12 (a) (b c)) {state} 7 9 1 0 -1 4194560 1 0 0 0 1 2 3 4 20 0 {threads} 0 4711 5000 321 18446744073709551615"
        )
    }

    #[test]
    fn the_fields_are_where_proc_5_says() {
        let found = parse(&line('S', 5), 4096).unwrap();
        assert_eq!((found.name.as_str(), found.parent, found.group), ("a) (b c)", 7, 9));
        assert_eq!((found.started, found.resident, found.ended), (4711, 321 * 4096, false));
        for broken in ["", "12 (a", "12 a) S 1", "12 (a) S", "12 (a) S x 1", "12 (a) S 7 1 1 0"] {
            assert_eq!(parse(broken, 4096), None, "{broken}");
        }
    }

    #[test]
    fn one_that_nobody_waited_for_has_ended_but_not_while_a_thread_goes_on() {
        let ended = |state, threads| parse(&line(state, threads), 1).unwrap().ended;
        assert!(ended('Z', 1) && ended('X', 0));
        assert!(!ended('Z', 2) && !ended('S', 1) && !ended('T', 1));
    }
}
