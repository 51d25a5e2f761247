//! The service of `lazaret-fleet` on this machine, asked over its socket: connect, one line, one line back, all of it inside a deadline.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};

use super::dirs::Dirs;
use super::facts::{common_git_dir, git_dir};
use super::files::{self, Links};
use crate::domain::fleet::{Answered, Asked, MAX_ADDRESSES, MAX_LINE, repository};
use crate::domain::{Fault, FaultKind, FleetService, join};

/// The socket of the machine's service.
#[cfg(not(target_os = "macos"))]
pub const SYSTEM: &str = "/run/lazaret/fleet.sock";
#[cfg(target_os = "macos")]
pub const SYSTEM: &str = "/var/run/lazaret/fleet.sock";
/// The socket of a user's own, in lazaret's state directory.
const USER: &str = "fleet.sock";
/// Longest configuration of a repository that is read.
const MAX_GIT_CONFIG: u64 = 256 * 1024;

/// Where a service is met.
pub fn place(service: FleetService, state: &Path) -> Option<PathBuf> {
    match service {
        FleetService::Off => None,
        FleetService::User => Some(state.join(USER)),
        FleetService::System => Some(PathBuf::from(SYSTEM)),
    }
}

/// The place of a user's own service.
pub fn own(dirs: &Dirs) -> PathBuf {
    dirs.state.join(USER)
}

/// Asks the service there; all of it may take so many milliseconds.
pub fn ask(place: &Path, asked: &Asked, within_ms: u16) -> Result<Answered, Fault> {
    exchange(place, asked, within_ms).map_err(|why| fault(place, why))
}

/// What could not be said by the service there.
pub fn fault(place: &Path, why: String) -> Fault {
    Fault::new(FaultKind::Fleet, format!("the fleet service {}", place.display()), why)
}

fn exchange(place: &Path, asked: &Asked, within_ms: u16) -> Result<Answered, String> {
    let until = Deadline { within_ms, at: Instant::now() + Duration::from_millis(within_ms.into()) };
    is_trusted(place)?;
    let line = format!("{}\n", asked.to_json()).into_bytes();
    if line.len() > MAX_LINE {
        return Err(format!("the question is {} bytes long, the most are {MAX_LINE}", line.len()));
    }
    let told = |errno: Errno| match errno {
        Errno::NOENT | Errno::CONNREFUSED => "nobody is there".to_owned(),
        Errno::AGAIN => "it takes no more calls".to_owned(),
        errno => errno.to_string(),
    };
    let socket = met(place).map_err(told)?;
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        match send(&socket, rest, SendFlags::empty()) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(&socket, PollFlags::OUT, until)?,
            Err(errno) => return Err(told(errno)),
        }
    }
    let line = answer(&socket, until)?;
    super::from_json(&line)
        .ok()
        .and_then(|answer| Answered::of(&answer))
        .ok_or_else(|| "its answer is none".to_owned())
}

/// When the answer has to be there.
#[derive(Clone, Copy)]
struct Deadline {
    within_ms: u16,
    at: Instant,
}

/// Never one that somebody else put there.
fn is_trusted(place: &Path) -> Result<(), String> {
    let stat = match rustix::fs::lstat(place) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Err("nobody is there".to_owned()),
        Err(errno) => return Err(errno.to_string()),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err("it is no socket".to_owned());
    }
    let (owner, me) = (stat.st_uid, rustix::process::geteuid().as_raw());
    if owner == 0 || owner == me {
        return Ok(());
    }
    Err(format!("it belongs to user {owner}, neither root nor {me}"))
}

/// A connection that never waits: where the service has too many, it is refused at once.
#[cfg(not(target_os = "macos"))]
fn met(place: &Path) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(place)?)?;
    Ok(socket)
}

/// The same, where a socket is made so afterwards.
#[cfg(target_os = "macos")]
fn met(place: &Path) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    rustix::io::ioctl_fioclex(&socket)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    connect(&socket, &SocketAddrUnix::new(place)?)?;
    Ok(socket)
}

/// One line, without its end.
fn answer(socket: &OwnedFd, until: Deadline) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    let mut piece = [0_u8; 1024];
    loop {
        match recv(socket, &mut piece, RecvFlags::empty()) {
            Ok((0, _)) => return Err("it hung up".to_owned()),
            Ok((got, _)) => line.extend_from_slice(piece.get(..got).unwrap_or_default()),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => {
                wait(socket, PollFlags::IN, until)?;
                continue;
            }
            Err(errno) => return Err(errno.to_string()),
        }
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok(line);
        }
        if line.len() > MAX_LINE {
            return Err(format!("its answer is longer than {MAX_LINE} bytes"));
        }
    }
}

/// Waits until something can be sent or read.
fn wait(socket: &OwnedFd, what: PollFlags, until: Deadline) -> Result<(), String> {
    let late = || format!("it did not answer within {} ms", until.within_ms);
    loop {
        let left = until.at.checked_duration_since(Instant::now());
        let left = left.filter(|left| !left.is_zero()).ok_or_else(late)?;
        let left = Timespec::try_from(left).map_err(|_| late())?;
        match poll(&mut [PollFd::new(socket, what)], Some(&left)) {
            Ok(0) => return Err(late()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.to_string()),
        }
    }
}

/// Where a repository on this machine comes from and goes to: the addresses of all of its remotes. What git would make of them
/// (`insteadOf`, `include`) is not looked at.
pub fn remotes(repo: &str) -> Result<Vec<String>, String> {
    let Some(git_dir) = git_dir(repo) else { return Ok(Vec::new()) };
    let config = join(&common_git_dir(&git_dir), "config");
    let bytes =
        files::read(&config, MAX_GIT_CONFIG, Links::Follow).map_err(|why| format!("{config}: {why}"))?;
    let mut found: Vec<String> = Vec::new();
    for address in addresses(&String::from_utf8_lossy(&bytes.unwrap_or_default())) {
        let name = repository(&address).filter(|name| !found.contains(name) && found.len() < MAX_ADDRESSES);
        found.extend(name);
    }
    Ok(found)
}

/// The addresses of remotes in a configuration of git's. Read generously: what only might be one is one.
fn addresses(config: &str) -> Vec<String> {
    let joined = config.trim_start_matches('\u{feff}').replace("\\\r\n", "").replace("\\\n", "");
    let (mut inside, mut found) = (false, Vec::new());
    for line in joined.lines() {
        let mut line = line.trim_start();
        if let Some(header) = line.strip_prefix('[') {
            inside = header.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("remote"));
            // A key may stand behind the header.
            line = header.split_once(']').map_or("", |(_, rest)| rest).trim_start();
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else { continue };
        if ["url", "pushurl"].iter().any(|name| key.trim().eq_ignore_ascii_case(name)) {
            let value = value.split(['#', ';']).next().unwrap_or_default();
            found.push(value.replace('"', "").trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::domain::fleet::{Caller, VERSION};

    fn asked() -> Asked {
        let caller = Caller { client: "c".to_owned(), session: "s".to_owned(), agent: None };
        Asked::Ended { v: VERSION, caller }
    }

    /// What becomes of a question to a service that answers so: its answer, or what is wrong.
    fn said(answer: &'static [u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("s");
        let listener = UnixListener::bind(&place).unwrap();
        let served = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            (&stream).write_all(answer).unwrap();
            // Who asks may have gone; the connection stays open until it has.
            let _gone = BufReader::new(&stream).read_line(&mut line);
            line
        });
        let said = ask(&place, &asked(), 20);
        assert!(served.join().unwrap().ends_with("\"ask\":\"ended\"}\n"));
        said.map_or_else(|fault| fault.message(), |answer| format!("{answer:?}"))
    }

    #[test]
    fn one_line_is_the_answer_and_nothing_else_is() {
        assert_eq!(said(b"{\"answer\":\"runs\"}\n"), "Runs");
        for answer in [&b"{}\n"[..], b"\n", b"runs\n", b"{\"answer\":\"x\"}\n", b"\xff\n"] {
            assert!(said(answer).contains("its answer is none"), "{answer:?}");
        }
        assert!(said(b"{\"answer\":\"runs\"}").contains("within 20 ms"));
        assert!(said(&[b'x'; MAX_LINE + 2048]).contains("longer than"));
    }

    #[test]
    fn nobody_there_is_said_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("s");
        assert!(ask(&place, &asked(), 20).unwrap_err().message().contains("nobody is there"));
        drop(UnixListener::bind(&place).unwrap());
        assert!(ask(&place, &asked(), 20).unwrap_err().message().contains("nobody is there"));
        std::fs::remove_file(&place).unwrap();
        std::fs::write(&place, "").unwrap();
        assert!(ask(&place, &asked(), 20).unwrap_err().message().contains("no socket"));
    }

    #[test]
    fn remotes_are_found_however_they_are_written() {
        let text = "\u{feff}[core]\n\turl = no\n[remote \"up\"]\n\turl = h:up/b # c\n[Remote  \"origin\"] url = git@h:\\\na/b.git\n\
            \tfetch = x\n\tPushURL = \"https://h\"/p/q\n[x]\nurl = no\n";
        assert_eq!(addresses(text), ["h:up/b", "git@h:a/b.git", "https://h/p/q"]);
        assert_eq!(addresses("[remote"), [""; 0]);
    }
}
