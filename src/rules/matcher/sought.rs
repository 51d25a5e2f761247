//! A text in which hundreds of words are sought, without regard to ASCII case. Knows none of the words.

use std::cell::OnceCell;
use std::ops::Deref;

use super::contains_word;

/// Bits of the table, of which each three neighbouring bytes of the text set one.
const BITS: usize = 1 << 13;
const WORDS: usize = BITS / 64;
/// Names of browsers' libraries that hold a word by which code runs text or connects.
const BY_ACCIDENT: &[&str] = &["page.$$eval(", "page.$eval(", "WebSocket"];
/// Shorter texts are searched as they are.
const SHORT: usize = 128;

/// The text, and which three bytes stand beside each other in it. Nearly every word is seen by that not to be there.
#[derive(Debug)]
pub(crate) struct Sought {
    text: String,
    /// A bit for each byte of a short text; all of them for another.
    letters: u64,
    table: OnceCell<Box<[u64; WORDS]>>,
}

impl Sought {
    pub fn new(text: String) -> Sought {
        let all = |text: &str| text.bytes().fold(0, |letters, byte| letters | letter(byte));
        let letters = if text.len() < SHORT { all(&text) } else { u64::MAX };
        Sought { text, letters, table: OnceCell::new() }
    }

    /// The bits that [`Sought::may_have`] is asked for: those of a word's first and last byte.
    pub fn ends(word: &str) -> u64 {
        match word.as_bytes() {
            [] => 0,
            [first, .., last] => letter(*first) | letter(*last),
            [only] => letter(*only),
        }
    }

    /// Whether a word with these ends can stand in it.
    pub fn may_have(&self, ends: u64) -> bool {
        self.letters & ends == ends
    }

    /// As [`contains_word`].
    pub fn holds(&self, word: &str) -> bool {
        self.may_have(Sought::ends(word))
            && (self.text.len() < SHORT || self.may_hold(word))
            && contains_word(&self.text, word)
    }

    /// Whether a text is so short that it is searched as it is.
    pub fn is_short(text: &str) -> bool {
        text.len() < SHORT
    }

    /// Whether it holds a word, with regard to case.
    pub fn has(&self, word: &str) -> bool {
        (self.text.len() < SHORT || self.may_hold(word)) && self.text.contains(word)
    }

    /// Whether it holds one of these words.
    pub fn holds_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.holds(word))
    }

    /// Whether it is code that uses one of these words, and not only in names that hold them by accident.
    pub fn uses_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| {
            let accident = |name: &&&str| self.has(name) && contains_word(name, word);
            self.holds(word)
                && BY_ACCIDENT
                    .iter()
                    .find(accident)
                    .is_none_or(|name| contains_word(&self.text.replace(*name, ""), word))
        })
    }

    fn may_hold(&self, word: &str) -> bool {
        let table = self.table.get_or_init(|| {
            let mut table = Box::new([0; WORDS]);
            let (first, rest) = self.text.as_bytes().split_at_checked(2).unwrap_or_default();
            let mut last = first.iter().fold(0, |last, byte| behind(last, *byte));
            for byte in rest {
                last = behind(last, *byte);
                if let Some(bits) = table.get_mut(place_of(last) / 64) {
                    *bits |= 1 << (place_of(last) % 64);
                }
            }
            table
        });
        places(word).all(|place| table.get(place / 64).is_some_and(|bits| bits & 1 << (place % 64) != 0))
    }
}

impl Deref for Sought {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// The bit for a byte, whatever its case.
fn letter(byte: u8) -> u64 {
    1 << (byte.to_ascii_lowercase() % 64)
}

/// Three bytes, the last of which comes behind the others, whatever its case. Five bits each: what is further back is gone.
fn behind(before: usize, byte: u8) -> usize {
    (before << 5 ^ usize::from(byte.to_ascii_lowercase())) % (1 << 15)
}

/// The bit for three neighbouring bytes.
fn place_of(three: usize) -> usize {
    (three ^ three >> 9) % BITS
}

/// The bit for each three neighbouring bytes of a word.
fn places(word: &str) -> impl Iterator<Item = usize> {
    let mut last = 0;
    let all = word.bytes().map(move |byte| {
        last = behind(last, byte);
        place_of(last)
    });
    all.skip(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_no_others() {
        let code = "import os, Shutil\nfor name in os.listdir('.'):\n    print(name)\n".repeat(3)
            + "shutil.RMTREE(x)ö";
        let sought = Sought::new(code.clone());
        for start in 0..code.len() {
            for end in start..code.len().min(start + 24) {
                if let Some(word) = code.get(start..end) {
                    assert!(sought.holds(word) && sought.holds(&word.to_ascii_uppercase()), "{word:?}");
                }
            }
        }
        for word in ["rmtrees", "os.remove(", "shutil.move", "ü", "xyz", "zz", "%"] {
            assert!(!sought.holds(word), "{word:?}");
        }
        assert!(sought.holds_any(&["nothing", "rmtree"]) && !sought.holds_any(&["nothing", "rmtrees"]));
        assert!(Sought::new("short".to_owned()).holds("HOR"));
    }
}
