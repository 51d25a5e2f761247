//! What the kernel of the machine that tests can confine.

/// Version of the kernel's Landlock; 0 = there is none, which is said.
#[cfg(target_os = "linux")]
pub fn landlock() -> i64 {
    // SAFETY: with no attributes and this flag it only tells its version.
    #[allow(unsafe_code, reason = "there is no safe form of this system call")]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, 1) };
    if version <= 0 {
        eprintln!("not tested: confinement (this kernel has no Landlock)");
    }
    version.max(0)
}
