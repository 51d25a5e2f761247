//! Typed references: a path that a review session granted, in a spelling that cannot be forged or altered. It knows no
//! files, no keys but the one it is handed, and no clock.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

mod look;
mod spelling;

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroize;

use crate::domain::{Key, ReviewId};

pub use look::{Seen, look};
pub use spelling::Malformed;

/// Longest path that a reference can name, in bytes.
pub const MAX_PATH: usize = 4096;
/// How far in the future a reference may be dated, in seconds: clocks of one machine differ by less.
pub const MAX_SKEW_S: u64 = 60;

/// Bytes of an HMAC-SHA256.
const TAG: usize = 32;
/// Keeps these MACs apart from every other use of a session's key. A change of the input's form changes the version.
const DOMAIN: &[u8] = b"lazaret typed reference v1";

/// A path with the proof that a review session granted it.
#[derive(Clone, PartialEq, Eq)]
pub struct Reference {
    path: Vec<u8>,
    tag: [u8; TAG],
    minted: u64,
    session: ReviewId,
}

/// Why a path cannot be named by a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    NotAbsolute,
    /// A `.`, a `..`, an empty name or a slash at the end.
    NotNormal,
    /// A NUL byte.
    Nul,
    TooLong,
}

impl Unfit {
    pub const fn message(self) -> &'static str {
        match self {
            Unfit::NotAbsolute => "the path is not absolute",
            Unfit::NotNormal => "the path holds `.`, `..`, an empty name or a slash at its end",
            Unfit::Nul => "the path holds a NUL byte",
            Unfit::TooLong => "the path is longer than 4096 bytes",
        }
    }
}

/// Why a well-formed reference is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The HMAC does not belong to this path, time, session and lifetime.
    Forged,
    /// It names another session.
    Session,
    /// It is older than the session's lifetime allows.
    Expired,
    /// It is dated later than the clock allows.
    Future,
}

impl Refusal {
    pub const ALL: [Refusal; 4] = [Refusal::Forged, Refusal::Session, Refusal::Expired, Refusal::Future];

    /// The code shown to the agent and written to the audit log. A date in the future is a matter of time too: the
    /// reference itself is well-formed and ours.
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::Forged => "HMAC_VERIFICATION_FAILED",
            Refusal::Session => "SESSION_MISMATCH",
            Refusal::Expired | Refusal::Future => "TYPED_REFERENCE_EXPIRED",
        }
    }

    pub const fn message(self) -> &'static str {
        match self {
            Refusal::Forged => "the signature of the reference does not fit what it names",
            Refusal::Session => "the reference belongs to another review session",
            Refusal::Expired => "the reference has expired",
            Refusal::Future => "the reference is dated in the future",
        }
    }
}

impl Reference {
    /// A reference to `path` (absolute, resolved), granted at `minted` (unix seconds) by `session`, whose references
    /// live for `ttl_s` seconds.
    pub fn mint(
        key: &Key,
        path: &[u8],
        minted: u64,
        session: &ReviewId,
        ttl_s: u32,
    ) -> Result<Reference, Unfit> {
        check_path(path)?;
        let tag = keyed(key, &mac_input(path, minted, session, ttl_s)).finalize().into_bytes().into();
        Ok(Reference { path: path.to_vec(), tag, minted, session: session.clone() })
    }

    /// Accepts exactly the canonical spelling, the one that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Result<Reference, Malformed> {
        spelling::parse(text)
    }

    /// The path that is named, as bytes: absolute and normal, not proven before [`Reference::verify`].
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    pub fn session(&self) -> &ReviewId {
        &self.session
    }

    /// When it was granted, in unix seconds.
    pub fn minted(&self) -> u64 {
        self.minted
    }

    /// Whether `session`, whose `key` and lifetime are given, granted this and it still holds at `now_s` (unix
    /// seconds). The HMAC is computed first, always, and compared in constant time.
    pub fn verify(&self, key: &Key, session: &ReviewId, ttl_s: u32, now_s: u64) -> Result<(), Refusal> {
        let input = mac_input(&self.path, self.minted, &self.session, ttl_s);
        let genuine = keyed(key, &input).verify_slice(&self.tag).is_ok();
        if self.session != *session {
            return Err(Refusal::Session);
        }
        if !genuine {
            return Err(Refusal::Forged);
        }
        if self.minted > now_s.saturating_add(MAX_SKEW_S) {
            return Err(Refusal::Future);
        }
        if now_s.saturating_sub(self.minted) > u64::from(ttl_s) {
            return Err(Refusal::Expired);
        }
        Ok(())
    }
}

/// The tag is left out: whoever has it may read.
impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("minted", &self.minted)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spelling::write(self))
    }
}

/// Refuses every path that is not in its one canonical form.
fn check_path(path: &[u8]) -> Result<(), Unfit> {
    let Some(names) = path.strip_prefix(b"/") else { return Err(Unfit::NotAbsolute) };
    if path.len() > MAX_PATH {
        return Err(Unfit::TooLong);
    }
    if path.contains(&0) {
        return Err(Unfit::Nul);
    }
    let normal =
        names.is_empty() || names.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."));
    if normal { Ok(()) } else { Err(Unfit::NotNormal) }
}

/// The bytes that are signed. Every part has a fixed length or is preceded by its length, so that no two references
/// share an input.
fn mac_input(path: &[u8], minted: u64, session: &ReviewId, ttl_s: u32) -> Vec<u8> {
    let mut input = Vec::with_capacity(DOMAIN.len() + path.len() + ReviewId::LEN + 32);
    for part in [DOMAIN, path] {
        input.extend_from_slice(&(part.len() as u64).to_be_bytes());
        input.extend_from_slice(part);
    }
    input.extend_from_slice(&minted.to_be_bytes());
    input.extend_from_slice(session.as_str().as_bytes());
    input.extend_from_slice(&ttl_s.to_be_bytes());
    input
}

fn keyed(key: &Key, input: &[u8]) -> Hmac<Sha256> {
    // Shorter than a block of SHA-256, which HMAC fills up with zeroes. Unlike a slice, a block is never refused.
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    for (to, from) in block.iter_mut().zip(key.bytes()) {
        *to = *from;
    }
    let mut mac = Hmac::<Sha256>::new(&block);
    block.as_mut_slice().zeroize();
    mac.update(input);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";

    fn id() -> ReviewId {
        ReviewId::parse(ID).unwrap()
    }

    /// Computed with another implementation of HMAC-SHA256 (Python's `hmac`).
    #[test]
    fn the_tag_is_the_hmac_of_the_stated_input() {
        let reference = Reference::mint(&Key::new([0x0b; 32]), b"/a b", 1_700_000_000, &id(), 3600).unwrap();
        assert_eq!(
            reference.to_string(),
            format!("typed://%2Fa%20b?hmac={TAG_OF_A_B}&ts=1700000000&sid={ID}")
        );
    }

    const TAG_OF_A_B: &str = "6d3b9c4d1e6a2c517f2f79f10b6620c21d735940ab3250d283f1afbb8f49993c";

    #[test]
    fn paths_that_are_not_canonical_are_unfit() {
        for (path, why) in [
            (&b"a"[..], Unfit::NotAbsolute),
            (b"", Unfit::NotAbsolute),
            (b"/a/", Unfit::NotNormal),
            (b"//a", Unfit::NotNormal),
            (b"/a/./b", Unfit::NotNormal),
            (b"/a/..", Unfit::NotNormal),
            (b"/a\0b", Unfit::Nul),
        ] {
            assert_eq!(Reference::mint(&Key::new([1; 32]), path, 0, &id(), 1), Err(why));
        }
        let long = [b"/".as_slice(), &vec![b'a'; MAX_PATH]].concat();
        assert_eq!(Reference::mint(&Key::new([1; 32]), &long, 0, &id(), 1), Err(Unfit::TooLong));
        for path in [&b"/"[..], b"/a", b"/a/...", b"/\xff\n/b", b"/a/.b/..c"] {
            assert!(Reference::mint(&Key::new([1; 32]), path, 0, &id(), 1).is_ok());
        }
    }

    #[test]
    fn debug_leaves_the_signature_out() {
        let reference = Reference::mint(&Key::new([5; 32]), b"/x", 1000, &id(), 60).unwrap();
        let tag: String = reference.to_string().split("hmac=").nth(1).unwrap().chars().take(64).collect();
        let shown = format!("{reference:?}");
        assert!(shown.contains("/x") && !shown.contains(&tag) && !shown.contains("tag"), "{shown}");
    }

    proptest! {
        /// Bytes moved from one part to the next never give the same input.
        #[test]
        fn two_inputs_are_equal_only_when_all_parts_are(
            one in (prop::collection::vec(any::<u8>(), 0..24), any::<u64>(), any::<u32>()),
            two in (prop::collection::vec(any::<u8>(), 0..24), any::<u64>(), any::<u32>()),
            cut in 0_usize..24,
        ) {
            let of = |path: &[u8], minted, ttl| mac_input(path, minted, &id(), ttl);
            prop_assert_eq!(of(&one.0, one.1, one.2) == of(&two.0, two.1, two.2), one == two);
            // The same bytes in a row, divided elsewhere between the path and the timestamp after it.
            let mut row = one.0.clone();
            row.extend_from_slice(&one.1.to_be_bytes());
            let cut = cut.min(one.0.len());
            let moved = u64::from_be_bytes(row[cut..cut + 8].try_into().unwrap());
            let same = cut == one.0.len();
            prop_assert_eq!(of(&row[..cut], moved, one.2) == of(&one.0, one.1, one.2), same);
        }
    }
}
