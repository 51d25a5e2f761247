//! What a bundle holds, and which one is in force.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Result;
use lazaret::domain::escape;
use serde_json::json;

use crate::place::{CONFIG, Config, Place};
use crate::signature;

/// A bundle that one of these keys signed.
pub fn verified(path: &Path, keys: &[String], as_object: bool, out: &mut dyn Write) -> Result<()> {
    let bundle = signature::signed(path, keys)?;
    if as_object {
        writeln!(out, "{}", serde_json::to_string_pretty(&bundle)?)?;
        return Ok(());
    }
    let or = |time: &Option<String>, none: &str| escape(time.as_deref().unwrap_or(none));
    writeln!(out, "{}: the signature is good", bundle.title())?;
    writeln!(out, "  from:     {}", or(&bundle.not_before, "now on"))?;
    writeln!(out, "  until:    {}", or(&bundle.expires, "no end"))?;
    writeln!(out, "  lazaret:  {} or newer", bundle.lazaret)?;
    writeln!(out, "  machines: {} of a hundred", bundle.percent)?;
    writeln!(out, "  sha256:   {}", bundle.digest())?;
    if let Err(error) = bundle.at(SystemTime::now()) {
        writeln!(out, "  now:      {}", escape(&format!("{error:#}")))?;
    }
    writeln!(out)?;
    for line in bundle.config.lines() {
        writeln!(out, "{}", escape(line))?;
    }
    Ok(())
}

/// What a machine has in force.
pub fn in_force(dir: &Path, as_object: bool, out: &mut dyn Write) -> Result<()> {
    let place = Place(dir);
    let (applied, config) = (place.taken()?.map(|taken| taken.last), place.config()?);
    let same = applied.as_ref().is_some_and(|applied| config.is_of(applied));
    let expired = applied.as_ref().is_some_and(|applied| applied.is_expired(SystemTime::now()));
    if as_object {
        let said = json!({ "applied": applied, "in_force": same, "expired": expired });
        writeln!(out, "{}", serde_json::to_string_pretty(&said)?)?;
        return Ok(());
    }
    let file = dir.join(CONFIG);
    let Some(applied) = applied else {
        writeln!(out, "no bundle was applied")?;
        return Ok(());
    };
    let since = if applied.applied.is_empty() { "at a time that is not known" } else { &applied.applied };
    writeln!(out, "{}, applied {}", escape(&applied.title()), escape(since))?;
    if let Some(expires) = &applied.expires {
        let (word, then) = if expired {
            ("expired", "; it stays in force until a newer one is applied")
        } else {
            ("expires", "")
        };
        writeln!(out, "{word} {}{then}", escape(expires))?;
    }
    match config {
        Config::Missing => writeln!(out, "{} is gone: apply the bundle again", file.display())?,
        _ if same => {}
        Config::Brought(_) => writeln!(out, "{} is of another bundle: apply this one again", file.display())?,
        Config::Other => writeln!(out, "{} was changed since, or is not a bundle's", file.display())?,
    }
    Ok(())
}
