//! Whom a review session is wrapped for, and by whom: a key of X25519 of each user who shares any.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, Serializable};
use zeroize::Zeroizing;

use crate::place;
use crate::settings::Machine;

/// The file in lazaret's state directory: by its name a private key wherever it lies, which no agent may read.
const FILE: &str = "id_x25519";
/// Longest file, in bytes.
const MAX: u64 = 256;

/// How keys are agreed on.
pub type Agreement = X25519HkdfSha256;
pub type Public = <Agreement as Kem>::PublicKey;

/// A user's own key.
pub struct Identity {
    pub secret: <Agreement as Kem>::PrivateKey,
    pub public: Public,
}

impl Identity {
    /// The key in that state directory, if there is one.
    pub fn open(state: &Path) -> Result<Option<Identity>> {
        let path = state.join(FILE);
        let file = path.display();
        let Some(bytes) = place::read(&path, MAX)?.map(Zeroizing::new) else { return Ok(None) };
        let meta = std::fs::metadata(&path).with_context(|| file.to_string())?;
        if meta.mode() & 0o077 != 0 {
            bail!("{file}: others can read it; chmod 600 {file}");
        }
        let text = str::from_utf8(&bytes).unwrap_or_default().trim();
        let raw = Zeroizing::new(STANDARD.decode(text).unwrap_or_default());
        let secret = <Agreement as Kem>::PrivateKey::from_bytes(&raw);
        let Ok(secret) = secret else {
            bail!("{file}: it holds no key; remove it, and tell the others the new one")
        };
        Ok(Some(Identity { public: Agreement::sk_to_pk(&secret), secret }))
    }

    /// The same; without one a new one is made.
    pub fn open_or_make(state: &Path) -> Result<Identity> {
        if let Some(known) = Identity::open(state)? {
            return Ok(known);
        }
        let path = state.join(FILE);
        let (secret, public) = Agreement::gen_keypair();
        let mut text = Zeroizing::new(STANDARD.encode(&*Zeroizing::new(secret.to_bytes().to_vec())));
        text.push('\n');
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written =
            made.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
        written.with_context(|| path.display().to_string())?;
        Ok(Identity { secret, public })
    }

    /// What others write into their settings.
    pub fn text(&self) -> String {
        STANDARD.encode(self.public.to_bytes())
    }

    /// How this machine is called in the settings.
    pub fn name<'m>(&self, machines: &'m [Machine], config: &Path) -> Result<&'m str> {
        let own = self.text();
        let found = machines.iter().find(|machine| machine.key == own);
        let file = config.display();
        let missing = || {
            format!(
                "{file}: none of [[machines]] has this machine's key; `lazaret-fleet review key` prints it"
            )
        };
        found.map(|machine| machine.name.as_str()).with_context(missing)
    }
}

/// The key of a machine in the settings.
pub fn public(machine: &Machine) -> Result<Public> {
    let raw = STANDARD.decode(&machine.key).unwrap_or_default();
    Public::from_bytes(&raw).map_err(|_| anyhow::anyhow!("machine {}: its key is none", machine.name))
}

/// Where a user's key lies; the directory is made where lazaret has not run yet.
pub fn state() -> Result<PathBuf> {
    let state = place::dirs()?.state;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&state);
    made.with_context(|| state.display().to_string())?;
    Ok(state)
}
