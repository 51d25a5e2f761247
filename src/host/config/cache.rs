//! The resolved policy, kept from one call to the next. An entry holds the very bytes it was made from and counts only
//! when they are the same, so no other file can pass for them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Note, Source};
use crate::domain::{Policy, Profile, fingerprint};
use crate::host::files::{self, Links};
use crate::host::trust::TrustState;

/// Longest entry that is read or written.
const MAX_ENTRY: u64 = 2 * 1024 * 1024;
const MAGIC: &[u8] = b"lazaret policy 1\n";
/// Where the entries lie below the state directory.
pub const DIR: &str = "policy";

#[derive(Serialize)]
struct Kept<'a> {
    policy: &'a Policy,
    notes: &'a [Note],
}

#[derive(Deserialize)]
struct Found {
    policy: Policy,
    notes: Vec<Note>,
}

/// What the policy of these files is known by, and where it is kept: one place for each set of files and profile of a
/// supervised run, so that an edited file replaces its entry.
pub fn entry(state_dir: &Path, sources: &[Source], demanded: Option<Profile>) -> (Vec<u8>, PathBuf) {
    let demanded = demanded.map(Profile::name).unwrap_or_default();
    let mut paths: Vec<&[u8]> = sources.iter().map(|source| source.path.as_bytes()).collect();
    if !demanded.is_empty() {
        paths.push(demanded.as_bytes());
    }
    let place = state_dir.join(DIR).join(format!("{:016x}", fingerprint(&paths)));
    let mut identity = identity(sources);
    part(&mut identity, demanded.as_bytes());
    (identity, place)
}

/// All that the policy of files depends on: this version with its defaults, and each file with its place, content and, of a
/// project's, trust. Whether the user's was accepted is not asked here: see [`super::accept`].
fn identity(sources: &[Source]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(format!("{READER:016x}").as_bytes());
    part(&mut bytes, env!("CARGO_PKG_VERSION").as_bytes());
    for source in sources {
        bytes.extend_from_slice(source.origin.name().as_bytes());
        bytes.push(match source.trust {
            None => b'-',
            Some(TrustState::Unknown) => b'?',
            Some(TrustState::Allowed) => b'+',
            Some(TrustState::Denied) => b'!',
        });
        part(&mut bytes, source.path.as_bytes());
        match &source.content {
            Ok(content) => part(&mut bytes, content),
            Err(why) => {
                bytes.push(b'E');
                part(&mut bytes, why.as_bytes());
            }
        }
    }
    bytes
}

fn part(bytes: &mut Vec<u8>, part: &[u8]) {
    // With its length, so that one part's end cannot pass for the next one's beginning.
    bytes.extend_from_slice(format!(" {}:", part.len()).as_bytes());
    bytes.extend_from_slice(part);
}

/// A number for the very code that makes a policy of files, defaults included: an entry of another build is none.
const READER: u64 = fnv(&[
    include_bytes!("../../domain/behaviour.rs"),
    include_bytes!("../../domain/pattern.rs"),
    include_bytes!("../../domain/plugin.rs"),
    include_bytes!("../../domain/policy.rs"),
    include_bytes!("../../domain/program.rs"),
    include_bytes!("../../domain/words.rs"),
    include_bytes!("../../domain/written_rule.rs"),
    include_bytes!("../../domain/exception.rs"),
    include_bytes!("exceptions.rs"),
    include_bytes!("field.rs"),
    include_bytes!("intervention.rs"),
    include_bytes!("keys.rs"),
    include_bytes!("merge.rs"),
    include_bytes!("parse.rs"),
    include_bytes!("pattern.rs"),
    include_bytes!("plugin.rs"),
    include_bytes!("profile.rs"),
    include_bytes!("program.rs"),
    include_bytes!("rule.rs"),
    include_bytes!("tables.rs"),
    include_bytes!("value.rs"),
]);

/// FNV-1a as a constant, worked out when lazaret is built.
const fn fnv(mut parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    while let Some((first, rest)) = parts.split_first() {
        let mut part: &[u8] = first;
        while let Some((byte, rest)) = part.split_first() {
            hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
            part = rest;
        }
        parts = rest;
    }
    hash
}

/// The kept policy of exactly these files. A damaged entry is none.
pub fn get(place: &Path, identity: &[u8]) -> Option<(Policy, Vec<Note>)> {
    let bytes = files::read(place.to_str()?, MAX_ENTRY, Links::Refuse).ok()??;
    let rest = bytes.strip_prefix(identity)?.strip_prefix(b"\n")?;
    let found: Found = crate::host::from_json(rest).ok()?;
    Some((found.policy, found.notes))
}

/// Keeps the policy of these files.
pub fn put(place: &Path, identity: &[u8], (policy, notes): (&Policy, &[Note])) -> std::io::Result<()> {
    let mut bytes = identity.to_vec();
    bytes.push(b'\n');
    serde_json::to_writer(&mut bytes, &Kept { policy, notes })?;
    if u64::try_from(bytes.len()).map_or(true, |length| length > MAX_ENTRY) {
        return Ok(());
    }
    if let Some(dir) = place.parent() {
        files::private_dir(dir)?;
    }
    files::replace(place, &bytes)
}
