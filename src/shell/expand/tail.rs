//! The end of a path of which more than one part is not known.

use super::Piece;
use crate::domain::join;

/// Letters of a hidden name that must be known in front of what is not: fewer would stand for anything.
const LETTERS: usize = 2;
/// Hidden directories that hold everything: what lies in one is told by the next name.
const WIDE: [&str; 4] = [".config", ".local", ".cache", ".var"];

/// These parts behind `front` as a pattern, normalised, from the first telling hidden name on; empty where there is none.
pub(super) fn pattern(front: &str, pieces: &[Piece]) -> Box<str> {
    let mut text = front.to_owned();
    for piece in pieces {
        match piece {
            Piece::Known(part) | Piece::Glob(part) => text.push_str(part),
            Piece::Unknown => text.push('*'),
        }
    }
    if !text.contains("/.") {
        return Box::default();
    }
    let path = text.find('/').and_then(|at| text.get(at..)).map(|path| join("/", path)).unwrap_or_default();
    let begins = path.match_indices("/.").map(|(at, _)| path.get(at..).unwrap_or_default());
    begins.into_iter().find(|end| is_telling(end)).unwrap_or_default().into()
}

fn is_telling(end: &str) -> bool {
    let mut names = end.split('/').skip(1);
    let name = names.next().unwrap_or_default();
    let known = name.trim_start_matches('.').chars().take_while(|c| c.is_alphanumeric()).count();
    known >= LETTERS && (!WIDE.contains(&name) || names.next().is_some_and(|next| !is_pattern(next)))
}

/// Whether not all of it is known.
pub(crate) fn is_pattern(end: &str) -> bool {
    end.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_from_its_first_telling_name_on() {
        let known = |text: &str| Piece::Known(text.to_owned());
        let glob = |text: &str| Piece::Glob(text.to_owned());
        let cases: [(&[Piece], &str); 8] = [
            (&[known("/.ssh/"), Piece::Unknown], "/.ssh/*"),
            (&[known("/a/../.ssh//"), Piece::Unknown, known(".pub")], "/.ssh/*.pub"),
            (&[known("/.cl"), glob("*"), known("/settings.json")], "/.cl*/settings.json"),
            (&[known("-old/.claude/"), Piece::Unknown], "/.claude/*"),
            (&[known("/.config/gh/"), Piece::Unknown], "/.config/gh/*"),
            (&[known("/.config/"), Piece::Unknown, known("/x")], ""),
            (&[known("/."), Piece::Unknown], ""),
            (&[known("/"), Piece::Unknown], ""),
        ];
        for (pieces, end) in cases {
            assert_eq!(&*pattern("", pieces), end, "{pieces:?}");
        }
        assert_eq!(&*pattern("/", &[known(".ssh/"), Piece::Unknown]), "/.ssh/*");
    }
}
