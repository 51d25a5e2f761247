//! The name of a review session. What belongs to a session is host's.

/// A UUID of version 4 in its canonical spelling: lower case, hyphenated, 36 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewId(String);

impl ReviewId {
    /// Length in bytes.
    pub const LEN: usize = 36;

    /// The id, or nothing unless `text` is exactly the canonical spelling.
    pub fn parse(text: &str) -> Option<ReviewId> {
        if text.len() != Self::LEN {
            return None;
        }
        let fits = text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
        fits.then(|| ReviewId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ReviewId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";

    #[test]
    fn the_canonical_spelling_is_accepted() {
        assert_eq!(ReviewId::parse(ID).unwrap().as_str(), ID);
        assert!(ReviewId::parse(&uuid::Uuid::new_v4().to_string()).is_some());
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in [
            "",
            &ID.to_uppercase(),
            &ID.replace('-', ""),
            &format!("{{{ID}}}"),
            &format!("urn:uuid:{ID}"),
            &format!(" {ID}"),
            &format!("{ID}\n"),
            &ID.replace("-4e6f", "-1e6f"),
            &ID.replace("-8a7b", "-ca7b"),
            &ID.replace('3', "é"),
        ] {
            assert_eq!(ReviewId::parse(text), None, "{text}");
        }
    }
}
