//! Paths where the file system takes several spellings for one name, as macOS does: letters of either case, characters composed or in
//! parts, characters that it passes over; and where the same directory stands under two names.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Directories that stand at the root and in these places as well: `/etc` is `/private/etc`, `/Users` is `/System/Volumes/Data/Users`.
const TWICE: [(&str, &[&str]); 2] = [
    (
        "/System/Volumes/Data",
        &["Applications", "Library", "Users", "Volumes", "cores", "opt", "private", "usr"],
    ),
    ("/private", &["etc", "tmp", "var"]),
];

/// One spelling for all of a path's: where it stands at the root, a name as ASCII where the file system takes it for that, every other
/// name composed. Of letters the case is kept: whoever compares paths does so without regard to it.
pub fn plain(path: &str) -> Cow<'_, str> {
    let mut path = if path.is_ascii() { Cow::Borrowed(path) } else { Cow::Owned(composed(path)) };
    for (above, names) in TWICE {
        if let Some(rest) = below(&path, above)
            && names.iter().any(|name| below(rest, name).is_some())
        {
            path = Cow::Owned(format!("/{rest}"));
        }
    }
    path
}

fn composed(path: &str) -> String {
    let names = path.split('/').map(|name| as_ascii(name).unwrap_or_else(|| name.nfc().collect()));
    names.collect::<Vec<String>>().join("/")
}

/// The ASCII name that a file system would take this one for.
fn as_ascii(name: &str) -> Option<String> {
    let mut ascii = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !is_passed_over(*c)).nfc() {
        match c.is_ascii() {
            true => ascii.push(c),
            false => ascii.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    ascii.is_ascii().then_some(ascii)
}

/// What of `path` lies below `dir`, or nothing where it is `dir`; in either case.
fn below<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    let (start, rest) = path.split_at_checked(dir.len())?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
    start.eq_ignore_ascii_case(dir).then_some(rest)
}

/// Characters that a file system of Apple's leaves out when it compares names.
fn is_passed_over(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACES: [&str; 6] = [
        "/Users/u/.ssh/authorized_keys",
        "/Users/Jürgen Ångström/.claude/settings.json",
        "/Users/u/Library/LaunchAgents/x.plist",
        "/Users/u/Library/Keychains/login.keychain-db",
        "/etc/sudoers",
        "/Users/\u{1100}\u{1161}/.config/opencode/opencode.json",
    ];

    fn same(a: &str, b: &str) -> bool {
        plain(a).eq_ignore_ascii_case(&plain(b))
    }

    /// One way to write a character that the file system takes for the same; of a name with others than ASCII in it only what is
    /// another form of the same letter.
    fn respelled(c: char, how: u8, in_ascii: bool) -> String {
        match (how % 6, c) {
            (_, '/') => c.to_string(),
            (1, _) if c.is_ascii() => c.to_ascii_uppercase().to_string(),
            (2, _) if c.is_ascii() => c.to_ascii_lowercase().to_string(),
            (3, 's' | 'S') if in_ascii => "\u{17f}".to_owned(),
            (3, 'k' | 'K') => "\u{212a}".to_owned(),
            (3, 'Å') => "\u{212b}".to_owned(),
            (4, _) => [c].into_iter().nfd().collect(),
            (5, _) if in_ascii => format!("{c}\u{200d}"),
            _ => c.to_string(),
        }
    }

    fn spelled(place: &str, how: &[u8]) -> String {
        let mut how = how.iter().cycle();
        let name = |name: &str| -> String {
            name.chars().zip(how.by_ref()).map(|(c, how)| respelled(c, *how, name.is_ascii())).collect()
        };
        place.split('/').map(name).collect::<Vec<_>>().join("/")
    }

    proptest! {
        #[test]
        fn every_spelling_of_a_place_is_that_place(
            place in proptest::sample::select(&PLACES[..]),
            how in proptest::collection::vec(any::<u8>(), 64),
            twice in any::<bool>(),
        ) {
            let named = spelled(place, &how);
            let above = if place.starts_with("/etc") { "/Private" } else { "/System/volumes/DATA" };
            let named = if twice { format!("{above}{named}") } else { named };
            prop_assert!(same(&named, place), "{named:?} is {:?}, {place:?} is {:?}", plain(&named), plain(place));
        }

        #[test]
        fn plain_is_plain(path in "/[a-zäÄſKå\u{301}\u{200d}/]{0,40}") {
            let once = plain(&path).into_owned();
            prop_assert_eq!(plain(&once), once.as_str());
        }

        #[test]
        fn ascii_below_the_root_stays_as_it_is(path in "/[a-z.A-Z]{1,8}(/[!-~&&[^/]]{1,8}){0,4}") {
            prop_assume!(!path.to_lowercase().starts_with("/private") && !path.to_lowercase().starts_with("/system"));
            prop_assert_eq!(plain(&path), path.as_str());
        }
    }

    #[test]
    fn other_names_are_other_places() {
        for (a, b) in [
            ("/Users/u/.ssh", "/Users/u/.shs"),
            ("/private/etcetera/x", "/etcetera/x"),
            ("/private/x/etc", "/x/etc"),
            ("/Users/ju\u{308}rgen", "/Users/jurgen"),
            ("/privateer/etc", "/etc"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert_eq!(plain("/private/etc"), "/etc");
        assert_eq!(plain("/System/Volumes/Data/private/var/db"), "/var/db");
    }
}
