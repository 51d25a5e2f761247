//! The ends that a hook call must not have: whatever breaks, the process ends with exit code 2, because a client lets
//! the call run on every other one. A panic, an overflown stack, an abort, memory without end, a deadline, a signal.
#![allow(
    unsafe_code,
    reason = "signal handlers, limits and `_exit` have no safe form; each block says why it holds"
)]

use std::cell::UnsafeCell;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::ptr::{addr_of_mut, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};

use libc::{c_int, c_void};

/// The exit code that clients take for "do not run this".
const BLOCKED: c_int = 2;
/// The exit code of a command that could not do what was asked.
const FAILED: c_int = 1;
/// Private writable memory of one hook call, in bytes: heap and anonymous mappings. An ordinary one uses a thousandth.
const MEMORY: u64 = 1 << 30;

/// The signals that end a hook call, and what is said then.
const ENDS: [(c_int, &[u8]); 7] = [
    (libc::SIGSEGV, b"lazaret: stack overflow or bad memory access: call blocked\n"),
    (libc::SIGBUS, b"lazaret: bad memory access: call blocked\n"),
    (libc::SIGABRT, b"lazaret: aborted: call blocked\n"),
    (libc::SIGILL, b"lazaret: illegal instruction: call blocked\n"),
    (libc::SIGXCPU, b"lazaret: processor time used up: call blocked\n"),
    (libc::SIGALRM, b"lazaret: deadline passed: call blocked\n"),
    (libc::SIGTERM, b"lazaret: terminated: call blocked\n"),
];

/// Where the handlers run when the stack itself is what broke.
const STACK: usize = 32 * 1024;

struct Spare(UnsafeCell<[u8; STACK]>);

// SAFETY: no code of ours reads or writes it; only the kernel puts a handler's frames there, one thread's at a time.
unsafe impl Sync for Spare {}

static SPARE: Spare = Spare(UnsafeCell::new([0; STACK]));

/// What is said on standard output when the process ends here, and how long it is.
static WORDS: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// The answer of a hook process that breaks from here on; empty = none but its exit code.
pub fn last_words(text: &'static [u8]) {
    LENGTH.store(0, Ordering::SeqCst);
    WORDS.store(text.as_ptr().cast_mut(), Ordering::SeqCst);
    LENGTH.store(text.len(), Ordering::SeqCst);
}

/// Arms the hook process: from here on it ends with 2 or by returning from `main`, and after `deadline_ms` at the latest.
pub fn arm(deadline_ms: u32) {
    std::panic::set_hook(Box::new(|info| end(info, "call blocked", BLOCKED)));
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_DATA, MEMORY);
    // A limit that macOS takes and holds nobody to.
    #[cfg(not(target_os = "linux"))]
    super::alloc::BEHIND.bound(usize::try_from(MEMORY).unwrap_or(usize::MAX));
    catch();
    deadline(deadline_ms.max(1));
}

/// Arms a command that a person runs: a panic is one line and exit code 1.
pub fn arm_tool() {
    std::panic::set_hook(Box::new(|info| end(info, "this is a defect of lazaret", FAILED)));
}

/// The signal that asked this process to stop; 0 = none did.
static STOP: AtomicI32 = AtomicI32::new(0);

/// Whether a stop only leaves a note.
static NOTES: AtomicBool = AtomicBool::new(false);
/// Whether a line stands on the terminal that goes with the process.
static LINE: AtomicBool = AtomicBool::new(false);
/// Clears the terminal's line.
const CLEAR: &[u8] = b"\r\x1b[K";

extern "C" fn stop(signal: c_int) {
    if NOTES.load(Ordering::Relaxed) {
        STOP.store(signal, Ordering::Relaxed);
        return;
    }
    // SAFETY: all three may be called in a signal handler; the bytes are never freed. The signal is raised once this returns, and ends
    // the process as if nobody had caught it.
    unsafe {
        if LINE.load(Ordering::Relaxed) {
            libc::write(libc::STDERR_FILENO, CLEAR.as_ptr().cast::<c_void>(), CLEAR.len());
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// From here on Ctrl-C, a hang-up and a termination only leave a note, so that a command can end its child first, or finish the file that
/// it is at.
pub fn note_stops() {
    NOTES.store(true, Ordering::Relaxed);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        catch_stop(signal, false);
    }
}

/// The same of what a quit asks for, where the terminal is not as it was.
pub fn note_quit() {
    catch_stop(libc::SIGQUIT, false);
}

/// From here on these clear the terminal's line before they end the process.
pub fn clear_line_at_stop() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        catch_stop(signal, true);
    }
}

/// There is such a line now, or it is gone.
pub fn line_is_shown(is_shown: bool) {
    LINE.store(is_shown, Ordering::Relaxed);
}

/// `unless_ignored` leaves it to whoever had it ignored (`nohup`, a job in the background).
fn catch_stop(signal: c_int, unless_ignored: bool) {
    // SAFETY: both are zeroed plain structures, which are valid ones, and outlive the calls; the handler only makes calls that a handler
    // may make.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut before);
        if unless_ignored && before.sa_sigaction == libc::SIG_IGN {
            return;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = libc::SA_RESTART;
        action.sa_sigaction = stop as extern "C" fn(c_int) as libc::sighandler_t;
        libc::sigaction(signal, &raw const action, null_mut());
    }
}

/// Has the kernel end a command's process when the thread that starts it is gone, however that came about.
#[cfg(target_os = "linux")]
pub fn end_with_us(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure makes one system call and touches no memory.
    unsafe {
        command.pre_exec(|| {
            // Where it is refused the process is ended by its parent alone.
            let _refused = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// The system has nothing of the kind.
#[cfg(not(target_os = "linux"))]
pub fn end_with_us(_command: &mut std::process::Command) {}

/// The signal that was noted, if there was one.
pub fn stop_asked() -> Option<i32> {
    Some(STOP.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Says where it broke, without allocating and without what the agent wrote, and ends the process.
fn end(info: &PanicHookInfo<'_>, what: &str, code: c_int) {
    let mut line = [0_u8; 256];
    let mut rest: &mut [u8] = &mut line;
    let (file, at) = info.location().map_or(("?", 0), |place| (place.file(), place.line()));
    // A line that is too long is cut; there is nobody to tell.
    let _cut = writeln!(rest, "lazaret: internal error at {file}:{at}: {what}");
    let left = rest.len();
    let text = line.get(..line.len() - left).unwrap_or_default();
    leave(text, code)
}

/// Writes `text` to standard error, the last words to standard output, and ends the process, with calls that a signal
/// handler may make.
fn leave(text: &[u8], code: c_int) -> ! {
    let length = LENGTH.load(Ordering::SeqCst);
    // SAFETY: the pointers and the lengths are those of `text` and of the last words, which are never freed, and whose
    // length is not set before the pointer is; all calls are safe in a signal handler.
    unsafe {
        if length > 0 {
            libc::write(libc::STDOUT_FILENO, WORDS.load(Ordering::SeqCst).cast::<c_void>(), length);
        }
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast::<c_void>(), text.len());
        libc::_exit(code)
    }
}

extern "C" fn ended(signal: c_int) {
    let text = ENDS.iter().find(|(number, _)| *number == signal).map(|(_, text)| *text);
    leave(text.unwrap_or(b"lazaret: ended by a signal: call blocked\n"), BLOCKED)
}

/// Puts the handlers in place, on a stack of their own. A call that fails here leaves the system's own treatment of that
/// signal: there is nothing better to do.
fn catch() {
    let spare = libc::stack_t { ss_sp: SPARE.0.get().cast::<c_void>(), ss_flags: 0, ss_size: STACK };
    // SAFETY: `spare` names a static buffer of that size that is used for nothing else. SIGXFSZ is ignored, so that a file
    // that may not grow is an error and not an end. The mask is emptied because a parent's is inherited.
    unsafe {
        libc::sigaltstack(&raw const spare, null_mut());
        for (signal, _) in ENDS {
            handle(signal, ended as extern "C" fn(c_int) as libc::sighandler_t);
        }
        handle(libc::SIGXFSZ, libc::SIG_IGN);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(addr_of_mut!(none));
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, null_mut());
    }
}

/// Has a signal end in a handler that only writes and exits. The kernel is asked without musl, which makes three more system calls for
/// signals of threads and for one that may abort the process meanwhile. Nothing returns from the handler, so that what would lead back
/// from it, which the kernel demands, is never run.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn handle(signal: c_int, handler: libc::sighandler_t) {
    const RESTORER: usize = 0x0400_0000;
    let flags = usize::try_from(libc::SA_ONSTACK).unwrap_or_default() | RESTORER;
    // The handler, how it is called, what would lead back, and the signals that wait meanwhile: none.
    let action: [usize; 4] = [handler, flags, ended as extern "C" fn(c_int) as libc::sighandler_t, 0];
    let signal = libc::c_long::from(signal);
    // SAFETY: that is the kernel's form of it on these processors, and outlives the call.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &raw const action, 0_usize, size_of::<u64>()) };
}

/// The same by the C library.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn handle(signal: c_int, handler: libc::sighandler_t) {
    // SAFETY: `action` is a zeroed plain structure, which is a valid one, and outlives the call; the handler only writes and exits.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = libc::SA_ONSTACK;
        action.sa_sigaction = handler;
        libc::sigaction(signal, &raw const action, null_mut());
    }
}

/// Lowers one limit of the process. Where it already is lower, the call fails and the lower one stays.
fn limit(resource: Resource, bytes: u64) {
    let bytes = libc::rlim_t::try_from(bytes).unwrap_or(libc::rlim_t::MAX);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: `limit` is a plain structure that outlives the call.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

/// What libc calls the type of `RLIMIT_*`, which differs between C libraries.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = c_int;

/// The same where a deadline runs: a command of a person has none.
pub fn put_off(ms: u32) {
    let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut left = libc::itimerval { it_interval: zero, it_value: zero };
    // SAFETY: `left` is a plain structure that outlives the call.
    unsafe { libc::getitimer(libc::ITIMER_REAL, &raw mut left) };
    if left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0 {
        deadline(ms);
    }
}

/// SIGALRM after so many milliseconds of real time.
pub fn deadline(ms: u32) {
    let once = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: (ms / 1000).into(), tv_usec: microseconds(ms % 1000) },
    };
    // SAFETY: `once` is a plain structure that outlives the call.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const once, null_mut()) };
}

/// The milliseconds of a part of a second; the width differs between systems.
fn microseconds<T: TryFrom<u32> + Default>(ms: u32) -> T {
    T::try_from(ms * 1000).unwrap_or_default()
}
