//! The machine under the gate: the binary's file, the state directory, the clock.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::report::Report;
use crate::cli::install::shown;
use crate::host::quarantine;
use crate::host::registration::{Surroundings, clients, plain};

/// 2026-01-01 and 2100-01-01: a clock outside is wrong.
const EARLIEST: Duration = Duration::from_secs(1_767_225_600);
const LATEST: Duration = Duration::from_secs(4_102_444_800);
/// How far a file's time may lie in the future.
const SKEW: Duration = Duration::from_secs(60);
const WRITABLE_BY_OTHERS: u32 = 0o002;
const WRITABLE_BY_GROUP: u32 = 0o020;
const STICKY: u32 = 0o1000;

pub fn examine(here: &Surroundings, report: &mut Report) {
    state_dir(here, report);
    clock(here, report);
    keys(report);
}

/// Where the keys of review sessions would be kept. Without the system's own place a file serves, so this is never a failure.
fn keys(report: &mut Report) {
    match quarantine::probe_own() {
        Ok(place) => report.ok("keys", format!("review sessions keep theirs in the user's {place}")),
        Err(fault) => {
            let place = if cfg!(target_os = "linux") { "a directory in memory" } else { "a file" };
            report.note("keys", format!("review sessions keep theirs in {place}: {}", fault.message()));
        }
    }
}

/// Whether a registration gives the hook the places of this user.
pub fn given(places: &[String], here: &Surroundings, (subject, fix): (&str, &str), report: &mut Report) {
    /// These do not say where things lie that both must find.
    const OF_NO_WEIGHT: [&str; 3] = ["--user", "--tmpdir", "--lazaret-keys"];
    let weighty = |places: &[String]| -> Vec<Vec<String>> {
        let pairs = places
            .chunks(2)
            .filter(|pair| !pair.first().is_some_and(|name| OF_NO_WEIGHT.contains(&name.as_str())));
        pairs.map(<[String]>::to_vec).collect()
    };
    if weighty(places) == weighty(&here.places) {
        return;
    }
    if places.is_empty() {
        let message = "the registration names no places: those of the password database count";
        return report.note_with(subject, message, fix);
    }
    let other = |of: &[String], than: &[String]| {
        let pairs = of.chunks(2).filter(|pair| !than.chunks(2).any(|other| other == *pair));
        pairs.map(|pair| shown(Path::new(&pair.join(" ")))).collect::<Vec<_>>().join(" ")
    };
    let (there, now) = (other(places, &here.places), other(&here.places, places));
    let message = format!("the registration gives other places ({there}) than these variables ({now})");
    report.fail(subject, message, fix);
}

/// Whether a registered binary is there, can be run, and can be changed by its owner alone. True when it can be run.
pub fn binary(bin: &Path, fix: &str, report: &mut Report) -> bool {
    let name = shown(bin);
    match fs::metadata(bin) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.fail("binary", format!("{name} is gone: what is registered cannot be started"), fix);
            return false;
        }
        Err(error) => {
            report.fail("binary", format!("{name}: {}", plain(&error)), fix);
            return false;
        }
        Ok(found) if !found.is_file() => {
            report.fail("binary", format!("{name} is not a file"), fix);
            return false;
        }
        Ok(_) if !clients::is_executable(bin) => {
            report.fail("binary", format!("{name} is not executable"), &format!("chmod 755 {name}"));
            return false;
        }
        Ok(_) => {}
    }
    let real = bin.canonicalize().unwrap_or_else(|_| bin.to_path_buf());
    let loose = real.ancestors().find(|path| fs::metadata(path).is_ok_and(|found| open_to_others(&found)));
    let me = rustix::process::geteuid().as_raw();
    let owner = fs::metadata(&real).map_or(me, |found| found.uid());
    if let Some(loose) = loose {
        let loose = shown(loose);
        report.fail("binary", format!("{loose} can be changed by every user"), &format!("chmod o-w {loose}"));
    } else if owner != me && owner != 0 {
        report.fail("binary", format!("{name} belongs to another user (uid {owner})"), fix);
    } else if fs::metadata(&real).is_ok_and(|found| found.mode() & WRITABLE_BY_GROUP != 0) {
        let fix = format!("chmod g-w {name}");
        report.note_with("binary", format!("{name} can be changed by its group"), &fix);
    } else {
        report.ok("binary", name);
    }
    true
}

fn open_to_others(found: &fs::Metadata) -> bool {
    let sticky_dir = found.is_dir() && found.mode() & STICKY != 0;
    found.mode() & WRITABLE_BY_OTHERS != 0 && !sticky_dir
}

fn state_dir(here: &Surroundings, report: &mut Report) {
    let dir = &here.state_dir;
    let name = shown(dir);
    let found = match fs::metadata(dir) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return report.note("state", format!("{name} is not there yet; the first call makes it"));
        }
        Err(error) => {
            return report.fail("state", format!("{name}: {}", plain(&error)), &format!("ls -ld {name}"));
        }
    };
    if !found.is_dir() {
        return report.fail("state", format!("{name} is not a directory"), &format!("mv {name} {name}.old"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        let fix = format!("chown -R \"$(id -u)\" {name}");
        return report.fail("state", format!("{name} belongs to another user (uid {})", found.uid()), &fix);
    }
    if found.mode() & 0o077 != 0 {
        let message =
            format!("{name} has mode {:03o}: others can read what is recorded", found.mode() & 0o777);
        return report.fail("state", message, &format!("chmod 700 {name}"));
    }
    let trial = dir.join(format!(".doctor-{}", std::process::id()));
    let tried = fs::write(&trial, b"lazaret doctor\n").and_then(|()| fs::remove_file(&trial));
    match tried {
        Ok(()) => report.ok("state", name),
        Err(error) => {
            report.fail(
                "state",
                format!("{name} cannot be written: {}", plain(&error)),
                &format!("df {name}"),
            );
        }
    }
}

fn clock(here: &Surroundings, report: &mut Report) {
    let since = here.now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let told = humantime::format_rfc3339_seconds(here.now);
    let fix = "set the clock: timedatectl set-ntp true";
    if since < EARLIEST || since > LATEST {
        return report.fail("clock", format!("it says {told}, which cannot be"), fix);
    }
    let entries = fs::read_dir(&here.state_dir).into_iter().flatten().flatten();
    let times = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok());
    match times.max().and_then(|latest| latest.duration_since(here.now).ok()) {
        Some(ahead) if ahead > SKEW => {
            let ahead = humantime::format_duration(Duration::from_secs(ahead.as_secs()));
            report.fail("clock", format!("it says {told}, and the state was written {ahead} later"), fix);
        }
        Some(_) | None => report.ok("clock", told.to_string()),
    }
}
