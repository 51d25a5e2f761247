//! A bundle: a policy's name and number, when and where it may be applied, and the configuration that it brings.

use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use lazaret::host::brought;
use serde::{Deserialize, Serialize};

/// The form of a bundle. One of another form is refused.
const FORMAT: &str = "lazaret policy 1";
/// Longest bundle, in bytes.
pub const MAX: u64 = 256 * 1024;
/// Longest name of a policy, in characters.
const NAME: usize = 64;

/// A point in time as RFC 3339 has it, in UTC.
pub type Time = String;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    pub format: String,
    pub name: String,
    /// Higher than that of every bundle of the name before.
    pub number: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
    /// The lowest version of lazaret that understands it.
    pub lazaret: semver::Version,
    /// Of a hundred machines, on so many.
    pub percent: u8,
    /// The whole text of the managed configuration file.
    pub config: String,
}

/// A time, or a day, which begins at midnight.
pub fn time(text: &str) -> Result<Time, String> {
    let whole = if text.contains('T') { text.to_owned() } else { format!("{text}T00:00:00Z") };
    let parsed = humantime::parse_rfc3339(&whole);
    let parsed = parsed.map_err(|error| format!("{error}; as in 2026-12-01 or 2026-12-01T06:00:00Z"))?;
    Ok(humantime::format_rfc3339_seconds(parsed).to_string())
}

impl Bundle {
    pub fn new(name: &str, number: u64, lazaret: semver::Version, percent: u8, config: String) -> Bundle {
        let (format, name) = (FORMAT.to_owned(), name.to_owned());
        Bundle { format, name, number, not_before: None, expires: None, lazaret, percent, config }
    }

    /// Reads one; whoever it is from has been looked at before.
    pub fn read(bytes: &[u8]) -> Result<Bundle> {
        #[derive(Deserialize)]
        struct Form {
            format: String,
        }
        let form: Form = serde_json::from_slice(bytes).context("it is no bundle")?;
        if form.format != FORMAT {
            bail!("its form is {:?}, and this version reads {FORMAT:?}", form.format);
        }
        let bundle: Bundle = serde_json::from_slice(bytes).context("it is no bundle")?;
        named(&bundle.name)?;
        if bundle.percent > 100 {
            bail!("it is for {} of a hundred machines", bundle.percent);
        }
        Ok(bundle)
    }

    /// Whether it may be applied at that time.
    pub fn at(&self, now: SystemTime) -> Result<()> {
        let of = |time: &Time| humantime::parse_rfc3339(time).with_context(|| format!("{time} is no time"));
        if let Some(from) = &self.not_before
            && now < of(from)?
        {
            bail!("it may be applied from {from} on, and this machine's clock says {}", said(now));
        }
        if let Some(until) = &self.expires
            && now >= of(until)?
        {
            bail!("it could be applied until {until}, and this machine's clock says {}", said(now));
        }
        Ok(())
    }

    /// Whether a machine is among those that it is for.
    pub fn is_for(&self, machine: &str) -> bool {
        let digest = brought::digest(format!("{}\n{machine}", self.name).as_bytes());
        let place =
            digest.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
        place % 100 < u32::from(self.percent)
    }

    /// The SHA-256 of what it brings.
    pub fn digest(&self) -> String {
        brought::digest(self.config.as_bytes())
    }

    /// Its name and number, as people are told them.
    pub fn title(&self) -> String {
        brought::title(&self.name, self.number)
    }
}

/// A name that can stand in a file's name and in a line.
pub fn named(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || name.len() > NAME || !name.chars().all(fits) {
        bail!(
            "{name:?} is no name of a policy: letters, digits, `-`, `_` and `.`, a letter or digit first, at most {NAME}"
        );
    }
    Ok(())
}

fn said(now: SystemTime) -> String {
    humantime::format_rfc3339_seconds(now).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn bundle(percent: u8) -> Bundle {
        Bundle::new("acme", 7, semver::Version::new(0, 1, 0), percent, String::new())
    }

    #[test]
    fn of_machines_so_many_are_meant_and_more_means_these_and_others() {
        let machines: Vec<String> = (0..2_000).map(|n| format!("machine-{n}")).collect();
        let meant = |percent: u8| machines.iter().filter(|machine| bundle(percent).is_for(machine)).count();
        assert_eq!((meant(0), meant(100)), (0, 2_000));
        assert!((300..500).contains(&meant(20)), "{}", meant(20));
        assert!(machines.iter().filter(|m| bundle(20).is_for(m)).all(|m| bundle(50).is_for(m)));
    }

    #[test]
    fn times_are_read_and_kept() {
        let (mut bundle, day) = (bundle(100), |n: u64| UNIX_EPOCH + Duration::from_secs(n * 86_400));
        assert_eq!(time("1970-01-03").as_deref(), Ok("1970-01-03T00:00:00Z"));
        assert!(time("tomorrow").unwrap_err().contains("as in 2026-12-01"));
        (bundle.not_before, bundle.expires) = (time("1970-01-03").ok(), time("1970-01-05").ok());
        assert!(bundle.at(day(1)).is_err() && bundle.at(day(2)).is_ok());
        assert!(bundle.at(day(3)).is_ok() && bundle.at(day(4)).is_err());
        bundle.expires = Some("never".to_owned());
        assert!(bundle.at(day(3)).is_err());
    }

    #[test]
    fn what_is_no_bundle_is_refused() {
        let whole = serde_json::to_string(&bundle(100)).unwrap();
        assert_eq!(Bundle::read(whole.as_bytes()).unwrap(), bundle(100));
        for (bad, said) in [
            (whole.replace("policy 1", "policy 2"), "its form is"),
            (whole.replace("\"acme\"", "\"../acme\""), "no name"),
            (whole.replace("\"percent\"", "\"per\""), "no bundle"),
            (whole.replace("100", "1000"), "no bundle"),
            ("[]".to_owned(), "no bundle"),
        ] {
            let error = format!("{:#}", Bundle::read(bad.as_bytes()).unwrap_err());
            assert!(error.contains(said), "{bad}: {error}");
        }
    }
}
