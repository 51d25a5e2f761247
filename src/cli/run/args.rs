//! The arguments of `lazaret run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::domain::Profile;

#[derive(Debug, Args)]
pub struct RunArgs {
    /// End it after this time: seconds, or 90s, 15m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// End it when the client and all that it started hold more memory: bytes, or 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// End it when the model has read and written more tokens (those read from a cache are not counted)
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// End it when it has cost more, in dollars, as the client reports it
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// End it when the agents have made more calls, refused ones included
    #[arg(long, value_name = "N")]
    pub max_calls: Option<u64>,
    /// Be at least as strict as this profile in this run, whatever the configuration's files say; it loosens nothing
    #[arg(long, value_name = "NAME", value_parser = profile())]
    pub profile: Option<Profile>,
    /// Put back what the session changed when it was stopped (what checkpoints hold; see `lazaret rollback`)
    #[arg(long)]
    pub restore: bool,
    /// Have the kernel (Landlock) confine the client and all it starts: it may write the project, temporary directories, its own
    /// state, caches and scope.paths, and may not read keys and credentials of the home directory (docs/run.md)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "required")]
    pub confine: Option<Confine>,
    /// With --confine: another place it may write, a directory or a file
    #[arg(long, value_name = "PATH", requires = "confine")]
    pub allow_write: Vec<PathBuf>,
    /// With --confine: a place of keys or credentials it may read all the same
    #[arg(long, value_name = "PATH", requires = "confine")]
    pub allow_read: Vec<PathBuf>,
    /// Print one JSON object on standard output, with the client's last answer in it
    #[arg(long)]
    pub json: bool,
    /// The client's headless command line, behind `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// What becomes of a run that the kernel cannot confine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Confine {
    /// It is not started
    Required,
    /// It is started without, and the summary says so
    WherePossible,
}

fn profile() -> impl TypedValueParser<Value = Profile> {
    let names = PossibleValuesParser::new(Profile::NAMES);
    names.try_map(|name| Profile::from_name(&name).ok_or("there is no such profile"))
}

/// A time above zero.
fn duration(text: &str) -> Result<Duration, String> {
    let time = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => humantime::parse_duration(text).map_err(|error| format!("{error}; as in 90s, 15m, 2h"))?,
    };
    if time.is_zero() { Err("it must be above zero".to_owned()) } else { Ok(time) }
}

/// Bytes, with the binary units that systemd and docker use.
fn size(text: &str) -> Result<u64, String> {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.into_iter().find(|(letter, _)| text.to_ascii_uppercase().ends_with(*letter));
    let (digits, shift) = match unit {
        Some((_, shift)) => (text.get(..text.len().saturating_sub(1)).unwrap_or_default(), shift),
        None => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|_| "give bytes, or a number with K, M, G or T".to_owned())?;
    match number.checked_mul(1 << shift) {
        Some(0) => Err("it must be above zero".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("it is out of range".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        Ok(_) | Err(_) => Err("give dollars above zero, as in 2.50".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512m"), Ok(512 << 20));
        assert_eq!(size("2G"), Ok(2 << 30));
        assert_eq!(dollars("2.50"), Ok(2.5));
        for wrong in ["", "0", "-1", "soon", "0s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "0", "G", "1.5G", "99999999999T", "-1"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "0", "-1", "nan", "inf"] {
            assert!(dollars(wrong).is_err(), "{wrong}");
        }
    }
}
