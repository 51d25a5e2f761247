//! Who made a bundle: minisign's signatures, in a file beside it.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minisign::{SecretKey, SecretKeyBox};
use minisign_verify::{PublicKey, Signature};

use crate::bundle::{self, Bundle};
use crate::place;

/// Longest signature or key, in bytes.
pub const MAX: u64 = 4096;
/// Bytes of a secret key, and which of them say how it is encrypted: zero = it is not.
const SECRET: usize = 158;
const HOW: std::ops::Range<usize> = 2..4;

/// The signature's file of a bundle.
pub fn beside(bundle: &Path) -> PathBuf {
    let mut name = bundle.as_os_str().to_owned();
    name.push(".minisig");
    PathBuf::from(name)
}

/// The bundle at a path, if one of these keys signed it.
pub fn signed(path: &Path, keys: &[String]) -> Result<Bundle> {
    let (whole, signature) = (place::needed(path, bundle::MAX)?, beside(path));
    checked(
        &whole,
        (&place::needed_text(&signature, MAX)?, &signature.display().to_string()),
        keys,
        &path.display().to_string(),
    )
}

/// The bundle from there, if one of these keys made that signature, with its own place, of it.
pub fn checked(
    whole: &[u8],
    (signature, beside): (&str, &str),
    keys: &[String],
    from: &str,
) -> Result<Bundle> {
    let by = Signature::decode(signature)
        .map_err(|error| anyhow::anyhow!("{beside}: it is no signature of minisign: {error}"))?;
    let key = |text: &String| {
        PublicKey::from_base64(text.trim()).map_err(|_| {
            anyhow::anyhow!("{text:?} is no public key of minisign: the line of key.pub that begins with RW")
        })
    };
    let keys = keys.iter().map(key).collect::<Result<Vec<PublicKey>>>()?;
    let mut why = String::new();
    for key in &keys {
        match key.verify(whole, &by, false) {
            Ok(()) => return Bundle::read(whole).with_context(|| from.to_owned()),
            Err(error) => why = error.to_string(),
        }
    }
    bail!("{from}: none of the keys that are taken has signed it ({why})")
}

/// Signs a bundle that can be read.
pub fn sign(path: &Path, key: &Path, out: &mut dyn Write) -> Result<()> {
    let (file, whole) = (path.display(), place::needed(path, bundle::MAX)?);
    let bundle = Bundle::read(&whole).with_context(|| file.to_string())?;
    let secret = secret(key)?;
    let title = bundle.title();
    let signature = minisign::sign(None, &secret, Cursor::new(&whole), Some(&title), None)
        .map_err(|error| anyhow::anyhow!("{file}: {error}"))?;
    let beside = beside(path);
    std::fs::write(&beside, signature.into_string()).with_context(|| beside.display().to_string())?;
    writeln!(out, "{}: {title} is signed", beside.display())?;
    Ok(())
}

/// A secret key; a password is asked for at the terminal where it has one.
fn secret(path: &Path) -> Result<SecretKey> {
    let named = path.display();
    let text = place::needed_text(path, MAX)?;
    let line = text.lines().nth(1).unwrap_or_default().trim();
    let Some(bytes) = STANDARD.decode(line).ok().filter(|bytes| bytes.len() == SECRET) else {
        bail!("{named}: it is no secret key of minisign");
    };
    // minisign writes no checksum into a key without a password, which its library looks for.
    if bytes.get(HOW).is_some_and(|how| how.iter().all(|byte| *byte == 0)) {
        return SecretKey::from_bytes(&bytes).map_err(|error| anyhow::anyhow!("{named}: {error}"));
    }
    let boxed = SecretKeyBox::from_string(&text).and_then(|boxed| boxed.into_secret_key(None));
    boxed.map_err(|error| anyhow::anyhow!("{named}: {error}; its password is asked for at a terminal"))
}
