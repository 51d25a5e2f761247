//! Which file systems hold no files, but what the kernel makes up while it is read. Places in memory are none of them.

use rustix::fd::AsFd;

use crate::domain::lies_in;

/// Said of what lies on one.
pub(super) const WHY: &str = "it lies on a file system that the kernel makes up (such as /proc)";

/// Directories of which all is made up, or stands for a device.
const DIRS: [&str; 3] = ["/proc", "/sys", "/dev"];
/// What is memory for everybody among them.
const MEMORY: &str = "/dev/shm";

/// Whether a real path is known to lie there.
pub(super) fn is_its_own(path: &str) -> bool {
    DIRS.iter().any(|dir| lies_in(path, dir)) && !lies_in(path, MEMORY)
}

/// Whether an open file or directory lies there, wherever it is mounted.
#[cfg(target_os = "linux")]
pub(super) fn made_it_up(open: impl AsFd) -> bool {
    /// proc, sysfs, devpts, both kinds of cgroup, debugfs, tracefs, securityfs, configfs, bpf, selinuxfs, pstore, efivarfs,
    /// mqueue, nsfs, binfmt_misc, fusectl.
    const MADE_UP: [u64; 17] = [
        0x9fa0,
        0x6265_6572,
        0x1cd1,
        0x27_e0eb,
        0x6367_7270,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6265_6570,
        0xcafe_4a11,
        0xf97c_ff8c,
        0x6165_676c,
        0xde5e_81e4,
        0x1980_0202,
        0x6e73_6673,
        0x4249_4e4d,
        0x6573_5543,
    ];
    rustix::fs::fstatfs(open).is_ok_and(|stat| {
        u64::try_from(stat.f_type).is_ok_and(|kind| MADE_UP.contains(&(kind & 0xffff_ffff)))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn made_it_up(_open: impl AsFd) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_files_are_not_made_up() {
        for path in ["/proc", "/proc/1/environ", "/sys/kernel", "/dev/kmsg", "/dev"] {
            assert!(is_its_own(path), "{path}");
        }
        for path in ["/dev/shm", "/dev/shm/x", "/process", "/home/u/proc", "/"] {
            assert!(!is_its_own(path), "{path}");
        }
        assert!(!made_it_up(tempfile::tempfile().unwrap()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_mounted_is_asked() {
        assert!(made_it_up(std::fs::File::open("/proc/self/status").unwrap()));
    }
}
