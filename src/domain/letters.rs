//! Words that are sought in many texts. Nearly none of them stands there, and that is seen without looking for each.

/// Longer texts have nearly every letter: they are searched as they are.
const SHORT: usize = 128;

/// Words one of which is sought, each with a bit for each of its letters, whatever their case.
#[derive(Debug)]
pub struct OneOf<const N: usize> {
    words: &'static [&'static str],
    letters: [u64; N],
}

impl<const N: usize> OneOf<N> {
    /// `N` is the number of words.
    pub const fn new(words: &'static [&'static str]) -> OneOf<N> {
        assert!(words.len() == N);
        let mut letters = [0; N];
        let (mut rest, mut places) = (words, letters.as_mut_slice());
        while let (Some((word, words)), Some((place, behind))) =
            (rest.split_first(), places.split_first_mut())
        {
            *place = letters_of(word.as_bytes());
            (rest, places) = (words, behind);
        }
        OneOf { words, letters }
    }

    /// Those that a text has all the letters of.
    fn possible(&self, text: &str) -> impl Iterator<Item = &'static str> {
        let missing = if text.len() < SHORT { !letters_of(text.as_bytes()) } else { 0 };
        let all = self.letters.iter().zip(self.words);
        all.filter(move |(letters, _)| *letters & missing == 0).map(|(_, word)| *word)
    }

    /// Whether a text holds one of them.
    pub fn stands_in(&self, text: &str) -> bool {
        self.possible(text).any(|word| text.contains(word))
    }

    /// Whether a text can hold one of them, whatever its case.
    pub fn may_stand_in(&self, text: &str) -> bool {
        self.possible(text).next().is_some()
    }
}

/// Names of which nearly every other is seen not to be one of them: a bit for their length, first and last byte.
#[derive(Debug, Clone, Copy)]
pub struct Among([u64; 4]);

impl Among {
    pub const NONE: Among = Among([0; 4]);

    /// These names too.
    #[must_use]
    pub const fn with(self, mut names: &[&str]) -> Among {
        let Among([mut a, mut b, mut c, mut d]) = self;
        while let Some((name, rest)) = names.split_first() {
            let (word, bit) = place_of(name);
            match word {
                0 => a |= bit,
                1 => b |= bit,
                2 => c |= bit,
                _ => d |= bit,
            }
            names = rest;
        }
        Among([a, b, c, d])
    }

    /// Whether a name can be one of them.
    pub fn may_have(&self, name: &str) -> bool {
        let (word, bit) = place_of(name);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "one byte of a length tells names apart")]
const fn place_of(name: &str) -> (usize, u64) {
    let (Some(first), Some(last)) = (name.as_bytes().first(), name.as_bytes().last()) else { return (0, 1) };
    let sum = first.wrapping_mul(7) ^ last.wrapping_mul(29) ^ (name.len() as u8).wrapping_mul(83);
    ((sum / 64) as usize, 1 << (sum % 64))
}

/// A bit for each byte, whatever its case.
const fn letters_of(mut text: &[u8]) -> u64 {
    let mut letters = 0;
    while let Some((byte, rest)) = text.split_first() {
        letters |= 1 << (byte.to_ascii_lowercase() % 64);
        text = rest;
    }
    letters
}

/// Where a letter stands first, whatever its case. Eight bytes at a time: texts of ten kilobytes are searched for one word after another.
pub fn letter_at(text: &[u8], letter: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const CASE: u8 = 0x20;
    let wanted = u64::from(letter | CASE) * ONES;
    let is_it = |byte: &u8| byte.eq_ignore_ascii_case(&letter);
    let mut at = 0;
    let (chunks, rest) = text.as_chunks::<8>();
    for chunk in chunks {
        // A byte of the difference is zero where the letter stands, or another sign that only differs from it as cases do.
        let differs = (u64::from_le_bytes(*chunk) | (u64::from(CASE) * ONES)) ^ wanted;
        if differs.wrapping_sub(ONES) & !differs & (ONES << 7) != 0
            && let Some(here) = chunk.iter().position(is_it)
        {
            return Some(at + here);
        }
        at += 8;
    }
    rest.iter().position(is_it).map(|here| at + here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands() {
        static WORDS: OneOf<2> = OneOf::new(&["os.remove", "rm_"]);
        assert!(WORDS.stands_in("import os; os.remove(x)") && WORDS.stands_in("rm_rf"));
        assert!(!WORDS.stands_in("RM_RF") && WORDS.may_stand_in("RM_RF") && !WORDS.may_stand_in("rmdir"));
        assert!(WORDS.stands_in(&format!("{}rm_", " ".repeat(200))) && !WORDS.stands_in(&" ".repeat(200)));
    }

    #[test]
    fn every_name_is_among_them_and_few_others() {
        const NAMES: &[&str] = &["bzip2", "make", "less", "zip", ""];
        let among = Among::NONE.with(NAMES).with(&["tar"]);
        assert!(NAMES.iter().chain(&["tar"]).all(|name| among.may_have(name)));
        assert!(!["cargo", "mkdir", "echo", "grep", "git"].iter().any(|name| among.may_have(name)));
    }

    #[test]
    fn letters_are_found_in_any_case_and_no_other_signs() {
        for text in ["", "abcdefgHIJKLmnop", "@`[{@@@@k`", "ünderK", "0123456789 _-./"] {
            for letter in 0..=u8::MAX {
                let plain = text.bytes().position(|byte| byte.eq_ignore_ascii_case(&letter));
                assert_eq!(letter_at(text.as_bytes(), letter), plain, "{letter} in {text:?}");
            }
        }
    }
}
