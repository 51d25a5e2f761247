//! `[[exceptions]]` of one file: TOML tables to exceptions. Knows no rules: which severity demands what is for whoever does.

use toml::de::DeValue;
use toml::value::{Datetime, Offset};

use super::parse::{MAX_ITEMS, Reader, shown};
use crate::domain::{Exception, Expiry, Lowered, Tier, clip, escape};

/// Longest text of one key, in bytes.
const TEXT: usize = 1024;
/// Shortest reason that says anything, in characters.
const REASON: usize = 3;

impl Reader<'_> {
    pub(super) fn exceptions(&self, value: &DeValue<'_>) -> Result<Vec<Exception>, String> {
        let array = value.as_array().ok_or_else(|| "write it as [[exceptions]]".to_owned())?;
        if array.len() > MAX_ITEMS {
            return Err(format!("it has {} entries, the most are {MAX_ITEMS}", array.len()));
        }
        array
            .iter()
            .map(|entry| {
                let line = self.line(entry.span().start);
                self.exception(entry.get_ref(), line).map_err(|why| format!("entry of line {line}: {why}"))
            })
            .collect()
    }

    fn exception(&self, entry: &DeValue<'_>, line: usize) -> Result<Exception, String> {
        let table = entry.as_table().ok_or_else(|| format!("{} is not a table", shown(entry)))?;
        // Whoever puts the files together knows whose this is.
        let mut exception = Exception { line, ..Exception::of(String::new(), Tier::Project) };
        for (name, value) in table {
            let value = value.get_ref();
            match name.get_ref().as_ref() {
                "rule" => exception.rule = word("rule", value)?,
                "reason" => exception.reason = text("reason", value)?,
                "to" => exception.to = lowered(value)?,
                "expires" => exception.expires = Some(expiry(value)?),
                "path" => exception.paths = self.places(value)?,
                "repository" => exception.repository = Some(self.place("repository", value)?),
                "tool" => exception.tool = Some(word("tool", value)?),
                "command" => exception.command = Some(text("command", value)?),
                "agent" => exception.agent = Some(text("agent", value)?),
                other => {
                    let other = escape(&clip(other, 60));
                    return Err(format!(
                        "unknown key `{other}`; an entry has rule, reason, to, expires, path, repository, tool, command and agent"
                    ));
                }
            }
        }
        if exception.rule.is_empty() {
            return Err("it needs `rule`, the id of one rule".to_owned());
        }
        if exception.reason.trim().chars().count() < REASON {
            return Err("it needs `reason`: why this is all right here".to_owned());
        }
        Ok(exception)
    }

    /// One place, or a list of them.
    fn places(&self, value: &DeValue<'_>) -> Result<Vec<String>, String> {
        let Some(list) = value.as_array() else { return Ok(vec![self.place("path", value)?]) };
        if list.is_empty() || list.len() > MAX_ITEMS {
            let why =
                if list.is_empty() { "is empty".to_owned() } else { format!("lists {} places", list.len()) };
            return Err(format!("`path` {why}; it takes 1 to {MAX_ITEMS}"));
        }
        list.iter().map(|place| self.place("path", place.get_ref())).collect()
    }

    fn place(&self, name: &str, value: &DeValue<'_>) -> Result<String, String> {
        let text = text(name, value)?;
        if text.strip_suffix("/**").unwrap_or(&text).contains(['*', '?', '[']) {
            return Err(format!(
                "`{name}` {} holds a wildcard (a place counts with all below it)",
                shown(value)
            ));
        }
        let place = self.path(&text)?;
        if place == "/" {
            return Err(format!("`{name}` is the whole machine: leave it out or name a place"));
        }
        Ok(place)
    }
}

fn text(name: &str, value: &DeValue<'_>) -> Result<String, String> {
    let fits =
        |text: &&str| !text.trim().is_empty() && text.len() <= TEXT && !text.chars().any(char::is_control);
    let text = value.as_str().filter(fits);
    text.map(str::to_owned).ok_or_else(|| {
        format!(
            "`{name}` {} is no text, empty, longer than {TEXT} bytes, or holds control characters",
            shown(value)
        )
    })
}

fn word(name: &str, value: &DeValue<'_>) -> Result<String, String> {
    let text = text(name, value)?;
    if text.contains(char::is_whitespace) || text.contains(['*', '?']) {
        return Err(format!("`{name}` {} holds blanks or wildcards; it names exactly one", shown(value)));
    }
    Ok(text)
}

fn lowered(value: &DeValue<'_>) -> Result<Lowered, String> {
    let found = value.as_str().and_then(Lowered::from_name);
    found.ok_or_else(|| {
        let known = Lowered::ALL.map(|to| format!("\"{}\"", to.name())).join(" or ");
        format!("`to` {} is not {known}", shown(value))
    })
}

/// A day, which counts to its end in UTC, or a moment of RFC 3339; with or without quotes.
fn expiry(value: &DeValue<'_>) -> Result<Expiry, String> {
    let wrong = || {
        format!(
            "`expires` {} is neither a day (2026-12-31) nor a moment with its offset (2026-12-31T18:00:00Z)",
            shown(value)
        )
    };
    let time: Datetime = match value {
        DeValue::Datetime(time) => *time,
        DeValue::String(text) => text.parse().map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    let unix_s = unix_seconds(&time).ok_or_else(wrong)?;
    Ok(Expiry { unix_s, text: time.to_string() })
}

fn unix_seconds(time: &Datetime) -> Option<u64> {
    const DAY: i64 = 86_400;
    let date = time.date?;
    let midnight = days_since_1970(i64::from(date.year), i64::from(date.month), i64::from(date.day)) * DAY;
    let seconds = match (time.time, time.offset) {
        (None, None) => midnight + DAY,
        (Some(clock), Some(offset)) => {
            let minutes = match offset {
                Offset::Z => 0,
                Offset::Custom { minutes } => i64::from(minutes),
            };
            midnight
                + i64::from(clock.hour) * 3600
                + i64::from(clock.minute) * 60
                + i64::from(clock.second.unwrap_or_default())
                - minutes * 60
        }
        (None, Some(_)) | (Some(_), None) => return None,
    };
    u64::try_from(seconds).ok()
}

/// Days from 1970-01-01 in the Gregorian calendar, years counted from March so that a leap day is a year's last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    /// From 0000-03-01 to 1970-01-01.
    const BEFORE_1970: i64 = 719_468;
    let year = if month <= 2 { year - 1 } else { year };
    let of_400 = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_400 = of_400 * 365 + of_400 / 4 - of_400 / 100 + day_of_year;
    year.div_euclid(400) * DAYS_OF_400_YEARS + day_of_400 - BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::value::Value;
    use super::*;

    fn read(text: &str) -> Result<Vec<Exception>, String> {
        let parsed = parse(text.as_bytes(), Some("/p/"), super::super::Checks::none());
        if let Some(problem) = parsed.problems.first() {
            return Err(problem.text.clone());
        }
        let Value::Exceptions(found) = &parsed.entries.first().unwrap().value else {
            return Err("no list".to_owned());
        };
        Ok(found.clone())
    }

    fn entry(more: &str) -> Result<Exception, String> {
        read(&format!("[[exceptions]]\nrule = 'git.clean'\nreason = 'because'\n{more}\n"))
            .map(|mut all| all.remove(0))
    }

    #[test]
    fn every_key() {
        let found = entry("to = 'ask'\npath = ['sub', '~/x', '/srv/**']\nrepository = '.'\ntool = 'Bash'\nagent = 'main'\nexpires = 2026-12-31").unwrap();
        assert_eq!(found.paths, ["/p/sub", "~/x", "/srv"]);
        assert_eq!((found.to, found.repository.as_deref(), found.line), (Lowered::Ask, Some("/p"), 1));
        assert_eq!(found.expires.unwrap().unix_s, 1_798_761_600);
        assert_eq!(entry("").unwrap().to, Lowered::Warn);
    }

    #[test]
    fn moments() {
        let unix =
            |text: &str| entry(&format!("expires = {text}")).map(|found| found.expires.unwrap().unix_s);
        assert_eq!(unix("1970-01-01"), Ok(86_400));
        assert_eq!(unix("2024-02-29"), Ok(1_709_251_200));
        assert_eq!(unix("'2026-12-31'"), unix("2026-12-31"));
        assert_eq!(unix("2026-12-31T18:00:00Z"), Ok(1_798_740_000));
        assert_eq!(unix("2026-12-31T20:30:00+02:30"), Ok(1_798_740_000));
        for wrong in ["2026-12-31T18:00:00", "18:00:00", "'soon'", "7", "1969-12-30"] {
            assert!(unix(wrong).unwrap_err().contains("expires"), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_an_exception() {
        for (text, why) in [
            ("[[exceptions]]\nrule = 'a.b'\n", "reason"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = ' '\n", "reason"),
            ("[[exceptions]]\nreason = 'because'\n", "rule"),
            ("[[exceptions]]\nrule = 'git.*'\nreason = 'because'\n", "exactly one"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = 'because'\nto = 'block'\n", "`to`"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = 'because'\npath = '/'\n", "whole machine"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = 'because'\npath = 'a*'\n", "wildcard"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = 'because'\npath = []\n", "empty"),
            ("[[exceptions]]\nrule = 'a.b'\nreason = 'because'\nuntil = 2026-01-01\n", "unknown key `until`"),
            ("[exceptions]\nrule = 'a.b'\n", "[[exceptions]]"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}: {:?}", read(text));
        }
    }
}
