//! The keys that lines are sealed with, one for each: the next one is made of the present one, and the present one is then forgotten.
//! Whoever has a key can make all later ones and no earlier one. Touches no file.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::seal::{self, Proof, SIZE};
use crate::host::hex::{bytes, hex};

/// What the next key is made with; no tag of a line is this.
const STEP: &[u8; SIZE] = b"lazaret audit: the next key     ";
/// What the sum at the end of a verification key is made with.
const SUM: &[u8; SIZE] = b"lazaret audit: verification key ";
const SUM_SIZE: usize = 4;
/// Most keys that are made to reach another one: some hundred years of lines, and some seconds.
const MAX_STEPS: u64 = 20_000_000;
/// How a verification key begins.
const PREFIX: &str = "lazaret-audit-key-1.";

/// The key of one line.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(super) struct SealingKey {
    /// The line's number.
    pub number: u64,
    pub secret: [u8; SIZE],
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.number)
    }
}

impl SealingKey {
    /// What the key proves of a line with this tag.
    pub fn prove(&self, tag: &[u8; SIZE]) -> Proof {
        let whole = seal::tag(&self.secret, tag, b"", b"");
        let mut proof = Proof::default();
        for (to, from) in proof.iter_mut().zip(whole) {
            *to = from;
        }
        proof
    }

    /// Whether a line's proof is the one of this key.
    pub fn proves(&self, tag: &[u8; SIZE], proof: &Proof) -> bool {
        self.prove(tag).ct_eq(proof).into()
    }

    /// The key of the next line.
    pub fn next(&self) -> SealingKey {
        SealingKey { number: self.number.saturating_add(1), secret: seal::tag(&self.secret, STEP, b"", b"") }
    }

    /// The key of that line: `None` = it is an earlier one, which cannot be made, or one too far off to be true.
    pub fn of(&self, number: u64) -> Option<SealingKey> {
        let steps = number.checked_sub(self.number).filter(|steps| *steps <= MAX_STEPS)?;
        Some((0..steps).fold(self.clone(), |key, _| key.next()))
    }
}

/// What a person keeps elsewhere: with it all lines from a number on are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationKey {
    /// The name of the chain's key.
    pub(super) name: u32,
    pub(super) sealing: SealingKey,
}

impl VerificationKey {
    /// The number of the first line that it verifies.
    pub const fn first(&self) -> u64 {
        self.sealing.number
    }

    /// The text that a person keeps.
    pub fn text(&self) -> String {
        let (name, number) = (hex(&self.name.to_be_bytes()), self.sealing.number);
        let sum = self.sum();
        format!("{PREFIX}{name}.{number}.{}{}", hex(&self.sealing.secret), hex(&sum))
    }

    /// The key of that text: `None` = it is none, or was mistyped.
    pub fn parse(text: &str) -> Option<VerificationKey> {
        let mut parts = text.trim().strip_prefix(PREFIX)?.splitn(3, '.');
        let (name, number, secret) = (parts.next()?, parts.next()?, parts.next()?);
        let name = u32::from_be_bytes(bytes(name.as_bytes())?.try_into().ok()?);
        let secret = bytes(secret.as_bytes())?;
        let (secret, sum) = secret.split_first_chunk()?;
        let sealing = SealingKey { number: number.parse().ok()?, secret: *secret };
        let key = VerificationKey { name, sealing };
        (key.sealing.number > 0 && key.sum() == sum).then_some(key)
    }

    /// The prefix of a text that is meant to be a key.
    pub fn is_meant(text: &str) -> bool {
        text.trim_start().starts_with("lazaret-audit-key")
    }

    fn sum(&self) -> Vec<u8> {
        let head = [self.name.to_be_bytes().as_slice(), &self.sealing.number.to_be_bytes()].concat();
        seal::tag(&self.sealing.secret, SUM, b"", &head).get(..SUM_SIZE).unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_verification_key_is_none() {
        let key = VerificationKey { name: 0xab, sealing: SealingKey { number: 12, secret: [3; SIZE] } };
        let text = key.text();
        assert!(text.starts_with("lazaret-audit-key-1.000000ab.12.0303"), "{text}");
        assert_eq!(VerificationKey::parse(&format!(" {text}\n")), Some(key));
        for at in PREFIX.len()..text.len() {
            for other in ['0', '7', 'f', '.'] {
                let mut mistyped = text.clone().into_bytes();
                if mistyped[at] == other as u8 {
                    continue;
                }
                mistyped[at] = other as u8;
                assert_eq!(VerificationKey::parse(str::from_utf8(&mistyped).unwrap()), None, "{at} {other}");
            }
        }
        assert_eq!(VerificationKey::parse(text.get(..text.len() - 2).unwrap()), None);
        assert_eq!(VerificationKey::parse(""), None);
    }
}
