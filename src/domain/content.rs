//! What is at a path, as far as it can be read.

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Absent,
    Bytes(Vec<u8>),
    /// Something is there, and this is why it cannot be read.
    Unreadable(String),
}

impl Content {
    /// The bytes that were read.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Absent | Content::Unreadable(_) => None,
        }
    }
}
