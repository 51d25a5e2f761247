//! What holds for every reference: one spelling, no byte of it can be changed, and what looks like one is never a path.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::domain::{Key, ReviewId};
use lazaret::reference::{MAX_SKEW_S, Reference, Refusal, Seen, look};
use proptest::prelude::*;

/// A reference as it was given out, with what it is verified against.
#[derive(Debug)]
struct Granted {
    key: [u8; 32],
    path: Vec<u8>,
    minted: u64,
    session: ReviewId,
    ttl: u32,
}

impl Granted {
    fn reference(&self) -> Reference {
        Reference::mint(&Key::new(self.key), &self.path, self.minted, &self.session, self.ttl).unwrap()
    }

    fn verify(&self, reference: &Reference, now: u64) -> Result<(), Refusal> {
        reference.verify(&Key::new(self.key), &self.session, self.ttl, now)
    }
}

fn session() -> impl Strategy<Value = ReviewId> {
    any::<u128>().prop_map(|bits| {
        let id = uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string();
        ReviewId::parse(&id).unwrap()
    })
}

/// A name of a file: any bytes but slash and NUL, and more often what has a meaning in a reference.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"abcXYZ019._~- ".to_vec()),
        2 => prop::sample::select(b"?&=%#:\\+hmacsidt".to_vec()),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 1..12)
        .prop_map(|name| {
            name.into_iter().map(|b| if b == b'/' || b == 0 { b'_' } else { b }).collect::<Vec<u8>>()
        })
        .prop_filter("a name that means a directory", |name| name != b"." && name != b"..")
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(name(), 0..5).prop_map(|names| {
        if names.is_empty() {
            return b"/".to_vec();
        }
        names.into_iter().flat_map(|name| [b"/".to_vec(), name].concat()).collect()
    })
}

fn granted() -> impl Strategy<Value = Granted> {
    (any::<[u8; 32]>(), path(), 0..=u64::from(u32::MAX), session(), 0..100_000_u32)
        .prop_map(|(key, path, minted, session, ttl)| Granted { key, path, minted, session, ttl })
}

/// A text that is a reference in most places.
fn nearly() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "typed://",
        "typed:/",
        "TYPED://",
        "%2F",
        "%2f",
        "/",
        "a",
        "%61",
        "%",
        "%00",
        "..",
        "?",
        "?hmac=",
        "hmac=",
        "&ts=",
        "&sid=",
        "0",
        "1700000000",
        "00",
        "18446744073709551616",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b",
        " ",
        "é",
        "\n",
        "#",
        "&",
    ]);
    let grammar = prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat());
    let canonical = granted().prop_map(|granted| granted.reference().to_string());
    prop_oneof![2 => grammar, 2 => canonical, 1 => any::<String>()]
}

proptest! {
    #[test]
    fn what_was_granted_is_read_back_and_accepted(granted in granted(), age in 0..100_000_u64) {
        let reference = granted.reference();
        let read = Reference::parse(&reference.to_string()).unwrap();
        prop_assert_eq!(&read, &reference);
        prop_assert_eq!(read.path(), &granted.path[..]);
        prop_assert_eq!(read.minted(), granted.minted);
        prop_assert_eq!(read.session(), &granted.session);
        let expected = if age <= u64::from(granted.ttl) { Ok(()) } else { Err(Refusal::Expired) };
        prop_assert_eq!(granted.verify(&read, granted.minted + age), expected);
    }

    #[test]
    fn a_date_ahead_is_accepted_within_the_skew_only(granted in granted(), ahead in 0..200_u64) {
        prop_assume!(granted.minted >= ahead);
        let expected = if ahead <= MAX_SKEW_S { Ok(()) } else { Err(Refusal::Future) };
        prop_assert_eq!(granted.verify(&granted.reference(), granted.minted - ahead), expected);
    }

    /// Whatever is accepted is written back as it stood: there is no second spelling.
    #[test]
    fn what_is_accepted_has_one_spelling(text in nearly()) {
        if let Ok(reference) = Reference::parse(&text) {
            prop_assert_eq!(reference.to_string(), text);
        }
    }

    /// Every byte of a reference, replaced by any other, removed, doubled or preceded by another one.
    #[test]
    fn no_byte_can_be_changed(granted in granted(), with in any::<u8>()) {
        let text = granted.reference().to_string().into_bytes();
        for at in 0..text.len() {
            let mut replaced = text.clone();
            replaced[at] = with;
            let mut removed = text.clone();
            removed.remove(at);
            let mut doubled = text.clone();
            doubled.insert(at, text[at]);
            let mut inserted = text.clone();
            inserted.insert(at, with);
            for changed in [replaced, removed, doubled, inserted] {
                refused(&granted, &text, changed)?;
            }
        }
    }

    #[test]
    fn a_reference_fits_its_own_session_and_key_only(one in granted(), other in granted()) {
        let reference = one.reference();
        let now = one.minted;
        let own = Key::new(one.key);
        prop_assert_eq!(reference.verify(&Key::new(other.key), &one.session, one.ttl, now), Err(Refusal::Forged));
        prop_assert_eq!(reference.verify(&own, &other.session, one.ttl, now), Err(Refusal::Session));
        prop_assert_eq!(reference.verify(&own, &one.session, one.ttl + 1, now), Err(Refusal::Forged));
        // Another grant of the same session does not lend its signature.
        let text = reference.to_string();
        let twin = Granted { path: other.path, ..one };
        prop_assume!(twin.path != reference.path());
        let twin = twin.reference().to_string();
        let mixed = format!("{}?{}", twin.split_once('?').unwrap().0, text.split_once('?').unwrap().1);
        prop_assert_eq!(
            Reference::parse(&mixed).unwrap().verify(&own, reference.session(), one.ttl, now),
            Err(Refusal::Forged)
        );
    }

    /// Changed in any one byte, a reference is still never taken for a plain path, in neither client's form.
    #[test]
    fn a_changed_reference_never_becomes_a_path(granted in granted(), at in any::<prop::sample::Index>(), with in 0x20..0x7f_u8) {
        let mut text = granted.reference().to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = with;
        let text = String::from_utf8(text).unwrap();
        for form in [text.clone(), format!("/p/{}", text.replacen("//", "/", 1)), format!("/p/{text}")] {
            prop_assert!(look(&form, "/p") != Seen::Plain, "{form}");
        }
    }

    #[test]
    fn a_dressed_up_reference_never_becomes_a_path(granted in granted(), dress in dress()) {
        let text = dress.iter().fold(granted.reference().to_string(), |text, dress| put_on(*dress, &text));
        prop_assert!(look(&text, "/p") != Seen::Plain, "{text}");
        let resolved = format!("/p/{text}");
        prop_assert!(look(&resolved, "/p") != Seen::Plain, "{resolved}");
    }

    #[test]
    fn looking_accepts_what_parsing_accepts(granted in granted(), cwd in "(/[a-z]{1,5}){0,3}") {
        let reference = granted.reference();
        let text = reference.to_string();
        let seen = Seen::Reference(reference);
        prop_assert_eq!(&look(&text, &cwd), &seen);
        prop_assert_eq!(&look(&format!("{cwd}/{}", text.replacen("//", "/", 1)), &cwd), &seen);
    }

    #[test]
    fn looking_ends_whatever_it_sees(text in any::<String>(), cwd in any::<String>()) {
        if let Seen::Reference(reference) = look(&text, &cwd) {
            prop_assert!(text.ends_with(reference.to_string().trim_start_matches("typed://")));
        }
    }
}

fn refused(granted: &Granted, text: &[u8], changed: Vec<u8>) -> Result<(), TestCaseError> {
    if changed == text {
        return Ok(());
    }
    let Ok(changed) = String::from_utf8(changed) else { return Ok(()) };
    if let Ok(reference) = Reference::parse(&changed) {
        // A changed time may make it too old or too new as well; what counts is that it is not ours.
        let verdict = granted.verify(&reference, granted.minted);
        prop_assert!(matches!(verdict, Err(Refusal::Forged | Refusal::Session)), "{verdict:?}: {changed}");
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Dress {
    UpperScheme,
    UpperAll,
    Escaped,
    LeadingSpace,
    Dotted,
    Quoted,
    Backslashes,
    ZeroWidth,
    OneSlash,
    MoreSlashes,
    FullWidth,
}

fn dress() -> impl Strategy<Value = Vec<Dress>> {
    let one = prop::sample::select(vec![
        Dress::UpperScheme,
        Dress::UpperAll,
        Dress::Escaped,
        Dress::LeadingSpace,
        Dress::Dotted,
        Dress::Quoted,
        Dress::Backslashes,
        Dress::ZeroWidth,
        Dress::OneSlash,
        Dress::MoreSlashes,
        Dress::FullWidth,
    ]);
    prop::collection::vec(one, 0..4)
}

fn put_on(dress: Dress, text: &str) -> String {
    match dress {
        Dress::UpperScheme => text.replacen("typed", "TyPeD", 1),
        Dress::UpperAll => text.to_uppercase(),
        Dress::Escaped => text.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        Dress::LeadingSpace => format!(" \u{a0}{text}"),
        Dress::Dotted => format!("./{text}"),
        Dress::Quoted => format!("\"{text}\""),
        Dress::Backslashes => text.replace('/', "\\"),
        Dress::ZeroWidth => text.replacen('y', "y\u{200d}", 1),
        Dress::OneSlash => text.replacen("//", "/", 1),
        Dress::MoreSlashes => text.replacen("//", "////", 1),
        Dress::FullWidth => text.replacen('t', "ｔ", 1),
    }
}
