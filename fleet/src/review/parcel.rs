//! A review session as it lies in the store: sealed for some machines by one that they know, and readable for nobody else.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key as ContentKey, Nonce};
use hpke::kdf::HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable};
use lazaret::domain::ReviewId;
use lazaret::host::brought::digest;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::identity::{Agreement, Identity, Public};

const VERSION: u32 = 1;
/// What keys are agreed on for, so that no other use of them gives the same.
const PURPOSE: &[u8] = b"lazaret review v1";
/// Bytes of the key that the content is sealed with.
const KEY: usize = 32;
/// Most bytes of a parcel's content: the copies of a session, the list of them, and what sealing adds.
pub const MAX: u64 = 96 << 20;

type Cipher = hpke::aead::ChaCha20Poly1305;

/// What is known of a parcel before it is opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    v: u32,
    /// The machine that sealed it.
    pub from: String,
    /// Of the sealed content.
    sha256: String,
    pub bytes: u64,
    /// Where in the store the content lies.
    pub at: String,
    /// The key of the content, for each machine that may open it.
    to: BTreeMap<String, Wrapped>,
}

/// A key that one machine alone can read, and that one machine alone can have written.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Wrapped {
    encapsulated: String,
    key: String,
}

/// Seals `content` for these machines.
pub fn seal(
    id: &ReviewId,
    (from, identity): (&str, &Identity),
    to: &[(&str, Public)],
    mut content: Zeroizing<Vec<u8>>,
) -> Result<(Head, Vec<u8>)> {
    let key = Zeroizing::new(rand::rng().random::<[u8; KEY]>());
    // One key seals one content, so that its nonce can be any.
    let sealed = cipher(&key).encrypt_in_place(&Nonce::default(), PURPOSE, &mut *content);
    sealed.map_err(|_| anyhow::anyhow!("review {id}: it could not be sealed"))?;
    let body = std::mem::take(&mut *content);
    let sha256 = digest(&body);
    let mode = OpModeS::Auth((identity.secret.clone(), identity.public.clone()));
    let mut wrapped = BTreeMap::new();
    for (name, public) in to {
        let bound = bound(id, from, name, &sha256);
        let sealed =
            hpke::single_shot_seal::<Cipher, HkdfSha256, Agreement>(&mode, public, PURPOSE, &*key, &bound);
        let (encapsulated, key) = sealed.map_err(|error| anyhow::anyhow!("machine {name}: {error}"))?;
        let wrapped_key =
            Wrapped { encapsulated: STANDARD.encode(encapsulated.to_bytes()), key: STANDARD.encode(key) };
        wrapped.insert((*name).to_owned(), wrapped_key);
    }
    let at = lazaret::host::hex(&rand::rng().random::<[u8; 16]>());
    let head = Head { v: VERSION, from: from.to_owned(), sha256, bytes: body.len() as u64, at, to: wrapped };
    Ok((head, body))
}

/// Opens what `from` sealed for this machine.
pub fn open(
    id: &ReviewId,
    (head, mut body): (&Head, Vec<u8>),
    (name, identity): (&str, &Identity),
    from: &Public,
) -> Result<Zeroizing<Vec<u8>>> {
    let Some(wrapped) = head.to.get(name) else {
        bail!("review {id}: {} did not share it with this machine ({name})", head.from)
    };
    if digest(&body) != head.sha256 {
        bail!("review {id}: what the store gave is not what was shared");
    }
    let decoded = |text: &str| STANDARD.decode(text).unwrap_or_default();
    let forged =
        || format!("review {id}: {} did not seal it so; somebody changed it on the store", head.from);
    let encapsulated = <Agreement as Kem>::EncappedKey::from_bytes(&decoded(&wrapped.encapsulated));
    let encapsulated = encapsulated.map_err(|_| anyhow::anyhow!(forged()))?;
    let key = hpke::single_shot_open::<Cipher, HkdfSha256, Agreement>(
        &OpModeR::Auth(from.clone()),
        &identity.secret,
        &encapsulated,
        PURPOSE,
        &decoded(&wrapped.key),
        &bound(id, &head.from, name, &head.sha256),
    );
    let key = Zeroizing::new(key.map_err(|_| anyhow::anyhow!(forged()))?);
    let key = Zeroizing::new(<[u8; KEY]>::try_from(key.as_slice()).ok().with_context(forged)?);
    let opened = cipher(&key).decrypt_in_place(&Nonce::default(), PURPOSE, &mut body);
    opened.map_err(|_| anyhow::anyhow!(forged()))?;
    Ok(Zeroizing::new(body))
}

/// A head as the store had it.
pub fn head(id: &ReviewId, text: &str) -> Result<Head> {
    let unreadable = || format!("review {id}: what the store has of it cannot be read");
    let head: Head = serde_json::from_str(text).with_context(unreadable)?;
    if head.v != VERSION {
        bail!(
            "review {id}: it was shared in form {}, and this is {VERSION}; use one version on all machines",
            head.v
        );
    }
    if head.bytes > MAX || !head.at.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        bail!("{}", unreadable());
    }
    Ok(head)
}

fn cipher(key: &[u8; KEY]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(&ContentKey::from(*key))
}

/// What a wrapped key is good for: this session, this content, from and for these machines.
fn bound(id: &ReviewId, from: &str, to: &str, sha256: &str) -> Vec<u8> {
    // With the length of what somebody chose, so that no two are the same put together.
    format!("{id} {}:{from} {}:{to} {sha256}", from.len(), to.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";
    const OTHER: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5c";

    fn identity() -> Identity {
        let (secret, public) = Agreement::gen_keypair();
        Identity { secret, public }
    }

    fn id(text: &str) -> ReviewId {
        ReviewId::parse(text).unwrap()
    }

    #[test]
    fn only_who_it_is_for_opens_it_and_only_as_it_was_sealed() {
        let (builder, runner, other) = (identity(), identity(), identity());
        let content = || Zeroizing::new(b"the key and the copies".to_vec());
        let to = [("runner", runner.public.clone()), ("other", other.public.clone())];
        let (head, body) = seal(&id(ID), ("builder", &builder), &to, content()).unwrap();
        assert!(!body.windows(8).any(|window| window == b"the key "), "it lies there in clear");
        let opened = |of: &str, head: &Head, body: &[u8], me: (&str, &Identity), from: &Identity| {
            open(&id(of), (head, body.to_vec()), me, &from.public).map(|content| content.to_vec())
        };
        assert_eq!(opened(ID, &head, &body, ("runner", &runner), &builder).unwrap(), *content());
        assert_eq!(opened(ID, &head, &body, ("other", &other), &builder).unwrap(), *content());
        // Another session, another sender, another machine, a machine that is none of them.
        for (of, me, from) in [
            (OTHER, ("runner", &runner), &builder),
            (ID, ("runner", &runner), &other),
            (ID, ("other", &runner), &builder),
            (ID, ("runner", &other), &builder),
            (ID, ("third", &runner), &builder),
        ] {
            assert!(opened(of, &head, &body, me, from).is_err(), "{of} {}", me.0);
        }
        for at in [0, body.len() - 1] {
            let mut changed = body.clone();
            changed[at] ^= 1;
            assert!(opened(ID, &head, &changed, ("runner", &runner), &builder).is_err());
            // With a digest that fits, and so with a wrapped key that does not.
            let head = Head { sha256: digest(&changed), ..head.clone() };
            assert!(opened(ID, &head, &changed, ("runner", &runner), &builder).is_err());
        }
        // Who may open it knows its key, and still cannot make another content of it for a third.
        let (_, theirs) = seal(&id(ID), ("other", &other), &to, Zeroizing::new(b"forged".to_vec())).unwrap();
        let forged = Head { sha256: digest(&theirs), ..head.clone() };
        assert!(opened(ID, &forged, &theirs, ("runner", &runner), &builder).is_err());
    }

    #[test]
    fn what_the_store_says_of_one_is_read_with_care() {
        let fine = r#"{"v":1,"from":"a","sha256":"","bytes":1,"at":"00ff","to":{}}"#;
        assert_eq!(head(&id(ID), fine).unwrap().at, "00ff");
        for (from, to) in
            [("\"v\":1", "\"v\":2"), ("00ff", "a:b"), ("\"bytes\":1", "\"bytes\":99999999999"), ("{", "")]
        {
            assert!(head(&id(ID), &fine.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
