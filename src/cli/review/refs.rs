//! `ref create` and `ref verify`: one reference, minted for what a session grants, or checked as the hook would check it.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::start::kind;
use super::{Office, id, line};
use crate::cli::Exit;
use crate::domain::{Fault, FaultKind, ReviewId, escape, join, lies_in};
use crate::host::clock;
use crate::host::quarantine::{self, EntryKind, Session};
use crate::reference::{Reference, Refusal};

/// `what`: the session and the path.
pub fn create(what: (&str, &Path), json: bool, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let (session, path) = what;
    let session = office.open_session(&id(session)?)?;
    let (original, entry) = granted(office, &session, path)?;
    let key = quarantine::key(&office.machine.dirs, &session)?;
    let minted = session.opened().unix_ms / 1000;
    let reference = Reference::mint(&key, original.as_bytes(), minted, &session.id, session.ttl_s)
        .map_err(|unfit| Fault::new(FaultKind::Host, escape(&original), unfit.message()))?;
    if json {
        let value = json!({
            "session": session.id.as_str(),
            "path": original,
            "kind": kind(entry),
            "uri": reference.to_string(),
            "expires": clock::rfc3339(session.expires_unix_ms()),
        });
        line(out, &value)?;
    } else {
        writeln!(out, "{reference}")?;
    }
    Ok(Exit::Fine)
}

/// What a session has a copy of, under the name that was given or the one it really has.
fn granted(office: &Office<'_>, session: &Session, path: &Path) -> Result<(String, EntryKind)> {
    let cwd = std::env::current_dir().context("the working directory")?;
    let written = join(&cwd.to_string_lossy(), &path.to_string_lossy());
    let real = path.canonicalize().ok().map(|real| real.to_string_lossy().into_owned());
    let contents = session.contents(&office.machine.dirs)?.unwrap_or_default();
    let kind = |name: &String| {
        let entry = session.entries.iter().find(|entry| entry.original == *name).map(|entry| entry.kind);
        let file = || contents.files.iter().any(|file| file.original == *name).then_some(EntryKind::File);
        let dir = || {
            let tree = session.grounds().copy_of(name).is_some();
            let below = contents.files.iter().any(|file| lies_in(&file.original, name));
            (tree && below).then_some(EntryKind::Dir)
        };
        entry.or_else(file).or_else(dir)
    };
    let found = std::iter::once(written.clone()).chain(real);
    let found = found.filter_map(|name| kind(&name).map(|kind| (name, kind))).next();
    found.ok_or_else(|| {
        let left = contents.skipped.iter().find(|left| left.path == written);
        let why = match left {
            Some(left) => format!("review {} left it out: {}", session.id, escape(&left.why)),
            None => format!("review {} does not grant it", session.id),
        };
        let hint = format!("lazaret review show {} names what it grants", session.id);
        Fault::new(FaultKind::Host, escape(&written), why).with_hint(hint).into()
    })
}

/// Why a reference does not hold.
struct Wrong {
    code: &'static str,
    message: String,
}

impl Wrong {
    fn new(code: &'static str, message: impl Into<String>) -> Wrong {
        Wrong { code, message: message.into() }
    }
}

pub fn verify(
    uri: &str,
    session: Option<&str>,
    json: bool,
    office: &Office<'_>,
    out: &mut dyn Write,
) -> Result<Exit> {
    let session = session.map(id).transpose()?;
    let parsed = Reference::parse(uri);
    let checked = match &parsed {
        Ok(reference) => check(reference, session.as_ref().unwrap_or(reference.session()), office)?,
        Err(malformed) => Err(Wrong::new(malformed.code(), malformed.message())),
    };
    let path = parsed.as_ref().ok().map(|reference| String::from_utf8_lossy(reference.path()).into_owned());
    let named = parsed.as_ref().ok().map(|reference| reference.session().as_str());
    if json {
        let wrong = checked.as_ref().err();
        let value = json!({
            "valid": wrong.is_none(),
            "code": wrong.map(|wrong| wrong.code),
            "message": wrong.map(|wrong| &wrong.message),
            "path": path,
            "session": named,
            "minted": parsed.as_ref().ok().map(|found| clock::rfc3339(found.minted().saturating_mul(1000))),
        });
        line(out, &value)?;
    } else {
        match &checked {
            Ok(()) => writeln!(
                out,
                "it holds: {}, granted by review {}",
                escape(path.as_deref().unwrap_or_default()),
                named.unwrap_or_default()
            )?,
            Err(wrong) => writeln!(out, "it does not hold: {}: {}", wrong.code, wrong.message)?,
        }
    }
    Ok(if checked.is_ok() { Exit::Fine } else { Exit::Blocked })
}

/// Whether a session grants what a well-formed reference names. Only what keeps it from being checked is a fault.
fn check(reference: &Reference, of: &ReviewId, office: &Office<'_>) -> Result<Result<(), Wrong>, Fault> {
    if reference.session() != of {
        return Ok(Err(Wrong::new(Refusal::Session.code(), Refusal::Session.message())));
    }
    let session = match quarantine::load(&office.machine.dirs, of)? {
        Some(session) if session.ended.is_none() => session,
        Some(_) => return Ok(Err(Wrong::new(Refusal::Session.code(), format!("review {of} has ended")))),
        None => return Ok(Err(Wrong::new(Refusal::Session.code(), format!("there is no review {of}")))),
    };
    let key = quarantine::key(&office.machine.dirs, &session)?;
    if let Err(refusal) = reference.verify(&key, of, session.ttl_s, office.now.unix_ms / 1000) {
        return Ok(Err(Wrong::new(refusal.code(), refusal.message())));
    }
    let path = std::str::from_utf8(reference.path()).ok();
    Ok(match path.and_then(|path| session.grounds().copy_of(path)) {
        Some(_) => Ok(()),
        None => Err(Wrong::new("INVALID_TYPED_REFERENCE", "the session has no copy of that path")),
    })
}
