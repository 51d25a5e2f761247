//! Secret key bytes: wiped when dropped, never printed, cloned or serialised.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// 32 bytes of key.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Key([u8; Self::LEN]);

impl Key {
    /// Length in bytes.
    pub const LEN: usize = 32;

    pub fn new(bytes: [u8; Self::LEN]) -> Key {
        Key(bytes)
    }

    pub fn bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// This key with other bytes added, bit by bit: done again with the result it gives those bytes.
    #[must_use]
    pub fn with(mut self, other: &[u8; Self::LEN]) -> Key {
        for (own, other) in self.0.iter_mut().zip(other) {
            *own ^= other;
        }
        self
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_prints_nothing_of_the_key() {
        assert_eq!(format!("{:?}", Key::new([0xab; 32])), "Key(..)");
    }

    #[test]
    fn what_was_added_twice_is_gone() {
        let (own, other) = ([0xa5; 32], [0x0f; 32]);
        let both = Key::new(own).with(&other);
        assert_eq!(both.bytes(), &[0xaa; 32]);
        assert_eq!(Key::new(own).with(both.bytes()).bytes(), &other);
    }

    #[test]
    fn wiping_leaves_zeroes() {
        let mut key = Key::new([7; 32]);
        assert_eq!(key.bytes(), &[7; 32]);
        key.zeroize();
        assert_eq!(key.bytes(), &[0; 32]);
    }
}
