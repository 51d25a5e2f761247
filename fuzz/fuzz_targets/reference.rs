//! The parser of typed references and what looks like one, on any bytes.
#![no_main]

use lazaret::domain::{Key, ReviewId};
use lazaret::reference::{Reference, Seen, look};

const TTL: u32 = 3600;

fn key() -> Key {
    Key::new([7; Key::LEN])
}

fn session() -> ReviewId {
    ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").expect("a canonical id")
}

/// What is accepted has one spelling, and only what this key granted is genuine.
fn spelled(text: &str) {
    let parsed = Reference::parse(text);
    if let Ok(reference) = &parsed {
        assert_eq!(reference.to_string(), text);
        if reference.verify(&key(), &session(), TTL, reference.minted()).is_ok() {
            let again = Reference::mint(&key(), reference.path(), reference.minted(), &session(), TTL);
            assert_eq!(again.as_ref(), Ok(reference));
        }
    }
    let seen = look(text, "/p");
    assert_eq!(parsed.is_ok(), matches!(&seen, Seen::Reference(found) if found.to_string() == text));
    if text.contains("typed:/") {
        assert_ne!(seen, Seen::Plain);
    }
    for cwd in ["", "/", "/p/typed:", text] {
        if let Seen::Reference(found) = look(text, cwd) {
            let written = found.to_string();
            assert!(text.ends_with(written.trim_start_matches("typed://")));
        }
    }
}

/// What can be granted is read back, in both clients' forms.
fn granted(path: &[u8]) {
    let minted = path.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let Ok(reference) = Reference::mint(&key(), path, minted, &session(), TTL) else { return };
    let text = reference.to_string();
    assert_eq!(Reference::parse(&text).as_ref(), Ok(&reference));
    assert_eq!(reference.verify(&key(), &session(), TTL, minted), Ok(()));
    let resolved = format!("/p/{}", text.replacen("//", "/", 1));
    for form in [text, resolved] {
        assert_eq!(look(&form, "/p"), Seen::Reference(reference.clone()));
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    granted(data);
    if let Ok(text) = std::str::from_utf8(data) {
        spelled(text);
    }
});
