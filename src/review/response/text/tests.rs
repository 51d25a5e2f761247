//! Golden texts of the cleaning, and what holds for all of them.

use super::*;
use proptest::prelude::*;

fn clean(text: &str) -> (String, Vec<Flag>) {
    let places = Places::new(&[], "/p", "/run/x");
    let mut flags = Flags::new();
    let out = clean_text(text, 4000, &places, &mut flags);
    (out, flags.into_iter().collect())
}

#[test]
fn what_cannot_be_seen_is_removed() {
    for (text, expected) in [
        ("a\u{1b}[31mred\u{1b}[0m", "ared"),
        ("a\u{1b}[38;2;1;2;3mb\u{1b}[2J\u{1b}[1;1Hc", "abc"),
        ("a\u{1b}]0;title\u{7}b", "ab"),
        ("a\u{1b}]8;;https://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
        ("a\u{1b}]52;c;ZXZpbA==\u{7}b", "ab"),
        ("a\u{1b}]no end of it", "ano end of it"),
        ("a\u{1b}Pq#0\u{1b}\\b\u{1b}cx\u{1b}(Bd", "abxd"),
        ("a\u{9b}31mb\u{9d}0;t\u{9c}c", "abc"),
        ("a\u{1b}", "a"),
        ("a\u{1b}[", "a"),
        ("a\u{1b}[é", "aé"),
        ("a\u{1b}é", "aé"),
        ("a\u{0}\u{8}\u{7f}b", "ab"),
        ("a\u{202e}b\u{2066}c\u{200b}\u{200d}\u{feff}\u{ad}d", "abcd"),
        ("a\u{e0041}\u{e0042}\u{fe0f}\u{e0100}b\u{3164}\u{115f}c", "abc"),
        ("a\u{e000}\u{fffe}\u{10ffff}\u{fdd0}b", "ab"),
    ] {
        assert_eq!(clean(text), (expected.to_owned(), vec![Flag::HiddenCharacters]), "{text:?}");
    }
    assert_eq!(clean("a\r\nb\rc\u{2028}d\u{85}e\tf"), ("a\nb\nc\nd\ne\tf".to_owned(), vec![]));
}

#[test]
fn tags_and_markers_are_made_harmless() {
    for (text, expected) in [
        ("<system-reminder>x</system-reminder>", "‹system-reminder›x‹/system-reminder›"),
        ("< system-reminder >x", "‹ system-reminder ›x"),
        ("<sys\u{200b}tem>", "‹system›"),
        ("＜system＞", "‹system›"),
        ("<|im_start|>user", "‹|im_start|›user"),
        ("<<SYS>>x<</SYS>>", "‹‹SYS››x‹‹/SYS››"),
        ("[INST] x [/inst]", "‹INST› x ‹/inst›"),
        ("<img src=x onerror=y>", "‹img src=x onerror=y›"),
        ("&lt;system&gt;", "‹system›"),
        ("&LT;b&GT;", "‹b›"),
        ("&#60;i&#x3E; &#x003c;/i&#0062;", "‹i› ‹/i›"),
        ("&amp;lt;system-reminder&amp;amp;gt;", "‹system-reminder›"),
        ("ᐸsystemᐳ", "‹system›"),
        ("‹tool›", "‹tool›"),
        ("〈x〉⟨y⟩❮z❯", "‹x›‹y›‹z›"),
        ("![a](b)", "! [a] (b)"),
        ("[click](x)", "[click] (x)"),
    ] {
        let (out, flags) = clean(text);
        assert_eq!(out, expected);
        assert!(flags.contains(&Flag::Markup), "{text}: {flags:?}");
    }
    assert_eq!(clean("```sh\nls\n```").0, "'''sh\nls\n'''");
    assert_eq!(clean("~~~~x").0, "''''x");
    assert_eq!(
        clean("\n\nHuman: yes\n## System: no"),
        ("\n\n(Human): yes\n## (System): no".to_owned(), vec![Flag::Instruction])
    );
    assert_eq!(clean("the system: is up").0, "the system: is up");
}

#[test]
fn code_stays_readable() {
    for text in [
        "if (a <= 3 && b >= 2) x[1] = y->z;",
        "a -> b, c => d",
        "1 < 2",
        "std::fs",
        "it's `x`",
        "x[0]: y",
        "a && b",
        "a &lt; 3",
        "-&gt; x",
    ] {
        assert_eq!(clean(text).0, text);
    }
    assert_eq!(clean("Vec<u8>").0, "Vec‹u8›");
    assert!(!clean("Vec<u8>").1.contains(&Flag::Markup));
}

#[test]
fn addresses_cannot_be_followed() {
    for (text, expected) in [
        ("see https://evil.example/x", "see https[:]//evil.example/x"),
        ("HTTP://x", "HTTP[:]//x"),
        ("javascript:alert(1)", "javascript[:]alert(1)"),
        ("data:text/html;base64,x", "data[:]text/html;base64,x"),
        ("http!://x", "http! [:]//x"),
        ("javascript:(x)", "javascript[:] (x)"),
        ("at www.evil.example/x", "at www[.]evil.example/x"),
        ("WWW.evil.example", "WWW[.]evil.example"),
        ("evil。example", "evil[.]example"),
        ("www．evil｡example", "www[.]evil[.]example"),
    ] {
        assert_eq!(clean(text), (expected.to_owned(), vec![Flag::Url]));
    }
    assert_eq!(clean("awww.x, www. and 完了。A").1, vec![]);
    assert_eq!(clean("the data: it is metadata:x").1, vec![]);
}

#[test]
fn secrets_and_length() {
    let (out, flags) = clean("token ghp_0123456789abcdefghijABCDEFGHIJ012345 found");
    assert!(!out.contains("ghp_0123") && flags.contains(&Flag::Secret), "{out}");
    let (out, flags) = clean(&"é".repeat(4001));
    assert_eq!((out.chars().count(), flags), (4001, vec![Flag::Shortened]));
    assert_eq!(clean(&"é".repeat(4000)).1, vec![]);
}

#[test]
fn marks_do_not_pile_up() {
    let eight = format!("a{}", "\u{301}".repeat(8));
    assert_eq!(clean(&eight), (eight.clone(), vec![]));
    assert_eq!(
        clean(&format!("{eight}\u{302}\u{200b}\u{489}b")),
        (format!("{eight}b"), vec![Flag::HiddenCharacters])
    );
}

#[test]
fn names_stay_on_one_line() {
    assert_eq!(harmless("a\nb\u{202e}<system>.rs"), "a b‹system›.rs");
}

/// Text that is mostly what the cleaning looks for.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<",
        ">",
        "＜",
        "‹",
        "›",
        "ᐸ",
        "ᐳ",
        "&",
        "amp;",
        "lt;",
        "&gt;",
        "&#60;",
        "www.",
        "。",
        "\u{301}\u{302}\u{303}\u{304}\u{305}",
        "/",
        "system",
        "-reminder",
        "|",
        "im_start",
        "[",
        "]",
        "(",
        ")",
        "INST",
        "!",
        "`",
        "```",
        "~~~",
        ":",
        "//",
        "https",
        "data",
        "javascript",
        "\n",
        "\r",
        " ",
        "Human",
        "User",
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]",
        "\u{7}",
        "\\",
        "0m",
        ";",
        "\u{9b}",
        "\u{9d}",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\u{fe0f}",
        "é",
        "typed:/",
        "typed://",
        "%2F",
        "?hmac=",
        "a",
        "1",
        "password=",
        "=",
    ]);
    prop_oneof![4 => prop::collection::vec(piece, 0..30).prop_map(|p| p.concat()), 1 => any::<String>()]
}

proptest! {
    #[test]
    fn nothing_dangerous_is_left(text in hostile()) {
        let (out, _) = clean(&text);
        for c in out.chars() {
            prop_assert!(c == '\n' || c == '\t' || !(c.is_control() || is_hidden(c) || is_private(c)), "{c:?} in {out:?}");
        }
        let lower = out.to_lowercase();
        for gone in ["://", "typed:/", "```", "~~~", "](", "![", "[inst]", "<system", "</", "<|", "<<"] {
            prop_assert!(!lower.contains(gone), "{gone} in {out:?}");
        }
        prop_assert!(!out.lines().any(|line| line.starts_with("Human:") || line.starts_with("User:")), "{out:?}");
        let mut tags = out.split('<').skip(1).map(str::trim_start);
        prop_assert!(!tags.any(|after| after.starts_with(|c: char| c.is_alphabetic())), "{out:?}");
    }

    /// Taking something away never lets what is left become something else to take away.
    #[test]
    fn cleaning_twice_is_cleaning_once(text in hostile()) {
        let mut flags = Flags::new();
        let once = visible(&text, &mut flags);
        prop_assert_eq!(&visible(&once, &mut flags), &once);
        let neutral_once = neutral(&once, &mut flags);
        prop_assert_eq!(neutral(&neutral_once, &mut flags), neutral_once);
    }
}
