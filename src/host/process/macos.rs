//! Processes as libproc shows them, which is a part of the system's library.
#![allow(unsafe_code, reason = "libproc fills structures of the caller's; each block says why it holds")]

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use super::Process;

/// Also of one that has ended and that nobody has asked about.
const WITH_ENDED: u64 = 1;

/// Has libproc fill a plain structure of zeroes: none = it does not, or not wholly.
fn ask<T>(pid: u32, what: c_int, arg: u64) -> Option<T> {
    let size = c_int::try_from(size_of::<T>()).ok()?;
    let pid = c_int::try_from(pid).ok()?;
    // SAFETY: the structures that are asked for are plain numbers, of which zeroes are a valid value, and `size` is theirs.
    unsafe {
        let mut found: T = std::mem::zeroed();
        let filled = libc::proc_pidinfo(pid, what, arg, (&raw mut found).cast::<c_void>(), size);
        (filled == size).then_some(found)
    }
}

pub fn process(pid: u32) -> Option<Process> {
    let found: libc::proc_bsdinfo = ask(pid, libc::PROC_PIDTBSDINFO, WITH_ENDED)?;
    // Only of processes of the same user.
    let memory: Option<libc::proc_taskinfo> = ask(pid, libc::PROC_PIDTASKINFO, 0);
    let name = Some(text(&found.pbi_name)).filter(|name| !name.is_empty());
    Some(Process {
        name: name.unwrap_or_else(|| text(&found.pbi_comm)),
        parent: found.pbi_ppid,
        group: found.pbi_pgid,
        started: found.pbi_start_tvsec.saturating_mul(1_000_000).saturating_add(found.pbi_start_tvusec),
        ended: found.pbi_status == libc::SZOMB,
        resident: memory.map_or(0, |memory| memory.pti_resident_size),
    })
}

fn text(name: &[c_char]) -> String {
    let bytes: Vec<u8> = name.iter().take_while(|c| **c != 0).map(|c| c.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn program(pid: u32) -> Option<String> {
    let mut path = vec![0_u8; usize::try_from(libc::PROC_PIDPATHINFO_MAXSIZE).ok()?];
    let size = u32::try_from(path.len()).ok()?;
    // SAFETY: `path` has room for `size` bytes.
    let length =
        unsafe { libc::proc_pidpath(c_int::try_from(pid).ok()?, path.as_mut_ptr().cast::<c_void>(), size) };
    let path = std::str::from_utf8(path.get(..usize::try_from(length).ok()?)?).ok()?;
    Path::new(path).file_name()?.to_str().map(str::to_owned)
}

/// There is one for the whole machine.
#[allow(clippy::unnecessary_wraps, reason = "other systems may not know")]
pub fn namespace() -> Option<u64> {
    Some(0)
}

pub fn all() -> Option<Vec<u32>> {
    /// What may begin between the two questions.
    const MORE: usize = 64;
    // SAFETY: without a buffer only the number is told.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let mut pids: Vec<c_int> = vec![0; usize::try_from(count).ok()?.saturating_add(MORE)];
    let size = c_int::try_from(size_of_val(pids.as_slice())).ok()?;
    // SAFETY: `pids` has room for `size` bytes.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast::<c_void>(), size) };
    pids.truncate(usize::try_from(count).ok()?);
    Some(pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).collect())
}

pub fn children() -> Vec<u32> {
    let this = std::process::id();
    let ours = |pid: &u32| Process::of(*pid).is_some_and(|process| process.parent == this);
    all().unwrap_or_default().into_iter().filter(ours).collect()
}
