//! Paths of which the beginning is not known: `$X/build`. What the tail says of them.

use super::paths;
use crate::domain::{Places, join};
use crate::shell::{Arg, Piece};

/// Whether an argument is an unknown directory with a known path behind it that is not vital if that directory is `/`.
pub(super) fn is_one_name_below(arg: &Arg, places: &Places) -> bool {
    let [Piece::Unknown, Piece::Known(first), rest @ ..] = arg.pieces.as_slice() else { return false };
    let names: String = std::iter::once(first.as_str()).chain(rest.iter().map(text_of)).collect();
    let names = names.trim_end_matches('/');
    if rest.is_empty() {
        return names.len() > 1 && is_own_name(names, first, places);
    }
    if first == "/" && is_of_builds(rest) {
        return true;
    }
    // A pattern needs a name that it begins with, and that nothing of the machine's begins with.
    let top = first.trim_start_matches('/').split('/').next().unwrap_or_default();
    first.len() > 3
        && !rest.contains(&Piece::Unknown)
        && is_own_name(names, top, places)
        && !paths::is_beginning_of_system(top)
}

/// `*.o`: what compilers and trials leave, and nothing of the machine's is called.
fn is_of_builds(pieces: &[Piece]) -> bool {
    const ENDS: &[&str] =
        &["o", "a", "obj", "pyc", "class", "gcda", "gcno", "tsbuildinfo", "tmp", "bak", "orig", "rej", "swp"];
    let name: String = pieces.iter().map(text_of).collect();
    !pieces.contains(&Piece::Unknown) && name.strip_prefix("*.").is_some_and(|end| ENDS.contains(&end))
}

fn text_of(piece: &Piece) -> &str {
    match piece {
        Piece::Known(text) | Piece::Glob(text) => text,
        Piece::Unknown => "",
    }
}

/// Whether a path of such names, were it in `/`, is none that the machine needs.
fn is_own_name(names: &str, top: &str, places: &Places) -> bool {
    names.starts_with('/')
        && !names.split('/').any(|name| matches!(name, "." | ".."))
        && !paths::is_vital(&join("/", top), false, true, places)
}

/// Whether all that is not known in a command's text is where things lie that nobody keeps.
pub(super) fn is_of_temp(text: &str) -> bool {
    const NAMES: &[&str] = &["TMPDIR", "TEMPDIR", "TMP", "TEMP", "RUNNER_TEMP", "XDG_CACHE_HOME"];
    let variables = |text: &str| {
        text.split('$').skip(1).all(|rest| {
            let name = rest.trim_start_matches('{');
            let name =
                name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
            NAMES.contains(&name)
        })
    };
    text.len() < super::call::MAX_TEXT && !text.contains(['`', '<']) && variables(text)
}
