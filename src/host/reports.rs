//! Reports of stopped sessions: each is written once, for the owner alone; the oldest go. Knows nothing of what is in them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::clock::{self, Now};
use super::{files, private};
use crate::domain::{Fault, FaultKind};

/// Reports that are kept.
const KEPT: usize = 50;
/// How their names begin.
const STOP: &str = "stop-";

fn dir(state_dir: &Path) -> PathBuf {
    state_dir.join("reports")
}

/// Keeps the report of the session with this fingerprint.
pub fn save(state_dir: &Path, session: u64, text: &[u8], now: Now) -> Result<PathBuf, Fault> {
    let dir = dir(state_dir);
    private::dir(FaultKind::State, &dir)?;
    make_room(&dir);
    let time = clock::rfc3339(now.unix_ms).replace([':', '-'], "");
    let path = dir.join(format!("{STOP}{time}-{session:016x}.json"));
    files::replace(&path, text).map_err(|error| private::cannot(FaultKind::State, &path, &error))?;
    Ok(path)
}

/// Opens a report by its name or path; only what lies among the reports is one.
pub fn open(state_dir: &Path, report: &Path) -> Result<File, Fault> {
    let dir = dir(state_dir);
    let name = report.file_name().filter(|name| name.to_string_lossy().starts_with(STOP));
    let path = name
        .map(|name| dir.join(name))
        .filter(|path| report.parent() == Some(Path::new("")) || path == report);
    let Some(path) = path else {
        let hint = format!("those that there are stand in {}", dir.display());
        return Err(
            private::fault(FaultKind::State, report, "it is no report of a stopped session").with_hint(hint)
        );
    };
    private::open(&path, false).map_err(|error| private::cannot(FaultKind::State, &path, &error))
}

/// The oldest go, so that one more fits. Their names begin with their time.
fn make_room(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(STOP));
    let mut paths: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    crate::domain::sort_by(&mut paths, Ord::cmp);
    let over = paths.len().saturating_sub(KEPT - 1);
    for path in paths.iter().take(over) {
        // One that stays takes a little room, and nothing else.
        let _gone = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn at(unix_ms: u64) -> Now {
        Now { unix_ms, ..clock::now() }
    }

    #[test]
    fn a_report_is_private_and_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let saved: Vec<PathBuf> = (0..60)
            .map(|n| {
                save(dir.path(), 7, format!("{n}").as_bytes(), at(1_700_000_000_000 + n * 1000)).unwrap()
            })
            .collect();
        assert_eq!(fs::metadata(&saved[59]).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path().join("reports")).unwrap().count(), KEPT);
        assert!(!saved[9].exists() && saved[10].exists());
    }

    #[test]
    fn only_reports_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = save(dir.path(), 7, b"{}", at(1_700_000_000_000)).unwrap();
        assert!(open(dir.path(), &path).is_ok());
        assert!(open(dir.path(), Path::new(path.file_name().unwrap())).is_ok());
        for other in ["/etc/passwd", "../reports/stop-x", "stop-none", "/tmp/stop-x.json", ""] {
            assert!(open(dir.path(), Path::new(other)).is_err(), "{other}");
        }
    }
}
