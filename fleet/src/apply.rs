//! A bundle is put in force: once it is known who signed it, and that it is newer than what was there. Whatever is wrong with it, what was
//! in force stays in force.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use lazaret::host::brought::{self, Applied, Partly};

use crate::bundle::Bundle;
use crate::pack;
use crate::place::{self, BEFORE, CONFIG, Config, Place, Taken};
use crate::settings::{self, SETTINGS};
use crate::signature;
use crate::tighten;

/// What tells machines apart.
const MACHINE: &[&str] = &["/etc/machine-id", "/var/lib/dbus/machine-id", "/etc/hostname"];

pub fn run(path: &Path, dir: &Path, replace: bool, out: &mut dyn Write) -> Result<()> {
    let settings = settings::wanted(&dir.join(SETTINGS))?;
    let bundle = signature::signed(path, &settings.keys).with_context(|| taking(dir))?;
    take(&bundle, (&path.display().to_string(), dir), &settings.name, replace, out)
}

/// Which keys these are, in front of what is wrong with a bundle or with one of them.
pub fn taking(dir: &Path) -> String {
    format!("by the keys in {}", dir.join(SETTINGS).display())
}

/// Puts a bundle that is signed in force in a directory, where it may be; `name` is that of the bundles that are taken.
pub fn take(
    bundle: &Bundle,
    (from, dir): (&str, &Path),
    name: &str,
    replace: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let (place, now) = (Place(dir), SystemTime::now());
    may(bundle, name, now).with_context(|| from.to_owned())?;
    let _held = place.held()?;
    let (before, config) = (place.taken()?, place.config()?);
    newer(bundle, before.as_ref()).with_context(|| from.to_owned())?;
    let title = bundle.title();
    let same = |taken: &&Taken| taken.last.name == bundle.name && taken.last.number == bundle.number;
    let known = before.as_ref().filter(same);
    let needs = needs(bundle)?;
    let in_force =
        |known: &&Taken| config.is_of(&known.last) && known.last.partly.is_some() == needs.is_some();
    if let Some(known) = known.filter(in_force) {
        if known.last.expires != bundle.expires {
            let last = Applied { expires: bundle.expires.clone(), ..known.last.clone() };
            place.remember(&Taken::and(before.clone(), last))?;
        }
        writeln!(out, "{} is in force already", known.last.title())?;
        return Ok(());
    }
    if !bundle.is_for(&machine()?) {
        writeln!(
            out,
            "{title} is for {} of a hundred machines, and this is none of them yet",
            bundle.percent
        )?;
        return Ok(());
    }
    let text = match needs {
        Some(_) => tighten::tightened(&place.text()?, &bundle.config).with_context(|| from.to_owned())?,
        None => bundle.config.clone(),
    };
    let applied = Applied {
        name: bundle.name.clone(),
        number: bundle.number,
        sha256: brought::digest(text.as_bytes()),
        expires: bundle.expires.clone(),
        applied: humantime::format_rfc3339_seconds(now).to_string(),
        partly: needs.map(|needs| Partly { needs, sha256: Some(bundle.digest()) }),
    };
    let told = applied.title();
    pack::understood(&told, &text).with_context(|| from.to_owned())?;
    set_aside(&config, dir, replace)?;
    place.put(&told, &text, &Taken::and(before, applied))?;
    writeln!(out, "{told} is in force: {}", dir.join(CONFIG).display())?;
    Ok(())
}

/// The version of lazaret that would understand all of it, where this one does not.
fn needs(bundle: &Bundle) -> Result<Option<String>> {
    let own = semver::Version::parse(env!("CARGO_PKG_VERSION"))?;
    Ok(own.cmp_precedence(&bundle.lazaret).is_lt().then(|| bundle.lazaret.to_string()))
}

/// Whether a machine that takes bundles of that name takes this one now.
fn may(bundle: &Bundle, name: &str, now: SystemTime) -> Result<()> {
    if bundle.name != name {
        bail!("it is the policy {}, and this machine takes {name}", bundle.name);
    }
    bundle.at(now)
}

/// Refuses one that is older than those of its name before, or another of the same number.
fn newer(bundle: &Bundle, before: Option<&Taken>) -> Result<()> {
    let Some(before) = before else { return Ok(()) };
    let highest = before.highest(&bundle.name);
    if let Some(highest) = highest.filter(|highest| bundle.number < *highest) {
        bail!(
            "its number is {}, and this machine had {highest} already: older ones are refused",
            bundle.number
        );
    }
    let last = &before.last;
    if last.name == bundle.name
        && last.number == bundle.number
        && last.of_bundle().is_some_and(|of| of != bundle.digest())
    {
        bail!("this machine had another bundle of number {}; give what is new a higher one", bundle.number);
    }
    Ok(())
}

/// Nothing of a person's is written over unasked.
fn set_aside(config: &Config, dir: &Path, replace: bool) -> Result<()> {
    if *config != Config::Other {
        return Ok(());
    }
    let (file, before) = (dir.join(CONFIG), dir.join(BEFORE));
    if !replace {
        bail!(
            "{}: no bundle brought it, or it was changed since; --replace puts the bundle in its place and keeps it as {BEFORE}",
            file.display()
        );
    }
    match fs::hard_link(&file, &before) {
        // An earlier try has come so far.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_one(&file, &before) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{}: it is there already; look at it, and move it away", before.display())
        }
        linked => linked.with_context(|| before.display().to_string()),
    }
}

/// Both names are of one file.
fn is_one(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    file(one).is_some() && file(one) == file(other)
}

/// What tells this machine from others.
pub fn machine() -> Result<String> {
    for path in MACHINE {
        let bytes = place::read(Path::new(path), 4096)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if !text.is_empty() {
            return Ok(text);
        }
    }
    bail!("none of {} tells this machine from others", MACHINE.join(", "))
}
