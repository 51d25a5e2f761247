//! lazaret's own binary: whether it is the one that was installed, or that ran last. Asked once a session.

use std::path::Path;

use serde_json::Value;

use super::sealed::{DIR, read};
use super::stat_words;
use crate::domain::{Fault, FaultKind, fingerprint};
use crate::host::{files, private};

const FILE: &str = "binary.json";

/// Lets the binary at a path count as it is now; true = another one counted before.
pub fn keep(state: &Path, binary: &Path) -> Result<bool, Fault> {
    let Some(seen) = seen(binary) else { return Ok(false) };
    let dir = state.join(DIR);
    let file = dir.join(FILE);
    let known: Option<Value> = read(&file).and_then(|bytes| crate::host::from_json(&bytes).ok());
    let mut known = known.and_then(|known| known.as_object().cloned()).unwrap_or_default();
    let before = known.insert(binary.to_string_lossy().into_owned(), seen.into());
    if before == Some(seen.into()) {
        return Ok(false);
    }
    private::dir(FaultKind::State, state)?;
    private::dir(FaultKind::State, &dir)?;
    let bytes = serde_json::to_vec(&Value::Object(known)).unwrap_or_default();
    files::replace(&file, &bytes).map_err(|error| private::cannot(FaultKind::State, &file, &error))?;
    Ok(before.is_some())
}

/// What the system says of it.
fn seen(binary: &Path) -> Option<u64> {
    let stat = rustix::fs::stat(binary).ok()?;
    let bytes: Vec<u8> = stat_words(&stat).iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(fingerprint(&[&bytes]))
}
