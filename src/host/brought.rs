//! A bundle of policy that `lazaret-fleet` put in force: it is named beside the managed configuration, which is as the bundle brought it
//! or was changed since.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::{self, Links};
use super::hex;
use crate::domain::{Fault, FaultKind};

/// What was applied last, in the directory of the managed configuration.
pub const APPLIED: &str = "policy.json";
/// How a configuration begins that a bundle brought.
const HEAD: &str = "# Written by lazaret-fleet: ";
/// What stands in its first line in front of the SHA-256 of the others.
const SUM: &str = ", sha256 ";
/// What a title says of a bundle that is in force in part, in front of the version that would understand it.
const AS_FAR: &str = " as far as it tightens (it needs lazaret ";
/// Longest of either file, in bytes.
const MAX: u64 = 256 * 1024;

/// The last bundle that a machine took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub name: String,
    pub number: u64,
    /// The SHA-256 of the configuration that it brought.
    pub sha256: String,
    /// As RFC 3339 has it.
    pub expires: Option<String>,
    pub applied: String,
    /// Set where only what tightens in it is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partly: Option<Partly>,
}

/// A bundle that a newer lazaret would understand whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partly {
    /// The lowest version that does.
    pub needs: String,
    /// The SHA-256 of the configuration that is in the bundle; none = that was lost.
    pub sha256: Option<String>,
}

impl Applied {
    /// Its name and number, as people are told them.
    pub fn title(&self) -> String {
        let part = |partly: &Partly| format!("{AS_FAR}{})", partly.needs);
        title(&self.name, self.number) + &self.partly.as_ref().map_or_else(String::new, part)
    }

    /// What such a title says; none = it is none.
    pub fn titled(text: &str, sha256: String) -> Option<Applied> {
        let (title, needs) = match text.split_once(AS_FAR) {
            Some((title, needs)) => (title, Some(needs.strip_suffix(')')?.to_owned())),
            None => (text, None),
        };
        let (name, number) = title.strip_prefix("policy ")?.rsplit_once(' ')?;
        let (name, number) = (name.to_owned(), number.parse().ok()?);
        let partly = needs.map(|needs| Partly { needs, sha256: None });
        Some(Applied { name, number, sha256, expires: None, applied: String::new(), partly })
    }

    /// The SHA-256 of the configuration that is in the bundle; none = it is not known.
    pub fn of_bundle(&self) -> Option<&str> {
        self.partly.as_ref().map_or(Some(&self.sha256), |partly| partly.sha256.as_deref())
    }

    /// A newer one should be there by now.
    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires
            .as_deref()
            .is_some_and(|time| humantime::parse_rfc3339(time).is_ok_and(|time| time <= now))
    }

    /// How long it has been in force, to the minute; none = its time is none, or in the future.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let since = humantime::parse_rfc3339(&self.applied).ok()?;
        Some(Duration::from_secs(now.duration_since(since).ok()?.as_secs() / 60 * 60))
    }
}

/// A bundle's name and number, as people are told them.
pub fn title(name: &str, number: u64) -> String {
    format!("policy {name} {number}")
}

/// The SHA-256 of something, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The text of a managed configuration that a bundle brings.
pub fn written(title: &str, config: &str) -> String {
    format!("{HEAD}{title}{SUM}{}\n{config}", digest(config.as_bytes()))
}

/// The SHA-256 of what a bundle brought, where this is still it.
pub fn brought(text: &str) -> Option<&str> {
    let (head, rest) = text.strip_prefix(HEAD)?.split_once('\n')?;
    let (_, sum) = head.rsplit_once(SUM)?;
    (digest(rest.as_bytes()) == sum).then_some(sum)
}

/// What was applied last beside this managed configuration, and whether that is what stands there now; none = no bundle was.
pub fn in_force(managed: &Path) -> Result<Option<(Applied, bool)>, Fault> {
    let path = managed.with_file_name(APPLIED);
    let Some(bytes) = read(&path)? else { return Ok(None) };
    let applied: Applied = super::from_json(&bytes).map_err(|error| fault(&path, &error.to_string()))?;
    let config = read(managed)?.unwrap_or_default();
    let same = brought(&String::from_utf8_lossy(&config)) == Some(&applied.sha256);
    Ok(Some((applied, same)))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    files::read(&path.to_string_lossy(), MAX, Links::Follow).map_err(|why| fault(path, &why.to_string()))
}

fn fault(path: &Path, why: &str) -> Fault {
    Fault::new(FaultKind::Config, path.display().to_string(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_not_what_was_brought() {
        let text = written(&title("acme", 7), "[audit]\n");
        assert_eq!(brought(&text), Some(&*digest(b"[audit]\n")));
        for changed in
            [text.clone() + "x", text.replace("audit", "aud"), text.replacen('#', "", 1), String::new()]
        {
            assert_eq!(brought(&changed), None, "{changed}");
        }
    }

    #[test]
    fn a_bundle_in_force_is_named_and_a_changed_file_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        assert_eq!(in_force(&config).unwrap(), None);
        let applied = Applied {
            name: "acme".to_owned(),
            number: 7,
            sha256: digest(b"x"),
            expires: Some("2026-01-02T00:00:00Z".to_owned()),
            applied: "2026-01-01T00:00:30Z".to_owned(),
            partly: None,
        };
        std::fs::write(dir.path().join(APPLIED), serde_json::to_vec(&applied).unwrap()).unwrap();
        assert_eq!(in_force(&config).unwrap(), Some((applied.clone(), false)));
        std::fs::write(&config, written(&applied.title(), "x")).unwrap();
        assert_eq!(in_force(&config).unwrap(), Some((applied.clone(), true)));
        let at = |text: &str| humantime::parse_rfc3339(text).unwrap();
        assert!(
            !applied.is_expired(at("2026-01-01T23:59:59Z")) && applied.is_expired(at("2026-01-02T00:00:00Z"))
        );
        assert_eq!(applied.age(at("2026-01-01T01:02:03Z")), Some(Duration::from_secs(61 * 60)));
        assert_eq!(applied.age(at("2025-01-01T00:00:00Z")), None);
        std::fs::write(dir.path().join(APPLIED), "{").unwrap();
        assert!(in_force(&config).unwrap_err().message().contains("policy.json"));
    }
}
