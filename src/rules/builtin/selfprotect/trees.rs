//! Whole trees that are archived, copied, searched or shared with a container: what is kept in them is read with them, lazaret's keys and
//! a client's credentials too.

use crate::domain::{Action, ProtectedKind, Target, join};
use crate::rules::Invocation;
use crate::rules::builtin::lists::{self, CLIENT_CREDENTIALS};
use crate::rules::builtin::privilege::containers::measures;
use crate::rules::matcher::{Found, Rel, Scene, flag_value, has_flag, relation_to, runs, target_of};
use crate::shell::Arg;

words!("builtin/selfprotect/trees");

/// Letters or digits that a pattern needs in a row to be about something.
const TELLING: usize = 3;

/// A tree is read in which keys or credentials lie.
pub(super) fn read<'a>(scene: &Scene<'a>) -> Found<'a> {
    if let Action::Search { pattern, path: Some(path), .. } = &scene.view.call.action
        && !is_telling(pattern)
        && holds(&join(scene.view.cwd, path), false, Way::Search, scene)
    {
        return Found::yes(path);
    }
    let found = scene.first(READERS, |inv| {
        !inv.contained && !inv.wrappers.iter().any(|wrapper| wrapper == "ssh") && reads_tree(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// How a tree is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All of it is taken.
    Take,
    /// What fits a pattern is printed; nobody searches a whole home for what lies there.
    Search,
    /// A container gets it. What is read of a client's own directory there is seen by its path.
    Mount,
}

fn reads_tree(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if runs(inv, SEARCHERS) {
        return searches(inv, scene);
    }
    if let Some((_, words)) = TAKERS.iter().find(|(program, _)| *program == inv.program)
        && takes(inv, words)
    {
        return sources(inv).any(|arg| is_tree(&arg, inv, Way::Take, scene))
            || inv.program == "cpio" && listed(inv, scene);
    }
    if runs(inv, lists::CONTAINERS) {
        return !measures(inv)
            && mounts(inv).any(|source| is_tree(&Arg::literal(&source), inv, Way::Mount, scene));
    }
    let recursive = || has_flag(inv, "-r") || has_flag(inv, "--recursive");
    match inv.program.as_str() {
        "bwrap" | "mount" => inv.args.iter().any(|arg| is_tree(arg, inv, Way::Search, scene)),
        "diff" if recursive() => inv.operands.iter().any(|arg| is_tree(arg, inv, Way::Search, scene)),
        "python" | "python3" if flag_value(inv, &["-m"]).and_then(Arg::known) == Some("http.server") => {
            let here = Arg::literal(".");
            let mut pairs = inv.args.windows(2);
            let told = pairs.find_map(|pair| match pair {
                [flag, dir] if matches!(flag.known(), Some("-d" | "--directory")) => Some(dir),
                _ => None,
            });
            is_tree(told.unwrap_or(&here), inv, Way::Take, scene)
        }
        _ => false,
    }
}

/// Whether a program is told to take something with it.
fn takes(inv: &Invocation, words: &[&str]) -> bool {
    if runs(inv, &["tar", "bsdtar", "gtar"]) {
        let bundle =
            inv.args.first().and_then(Arg::known).filter(|word| !word.starts_with('-')).unwrap_or_default();
        return bundle.contains(['c', 'r', 'u'])
            || ["-c", "-r", "-u", "--create", "--append", "--update"].iter().any(|flag| has_flag(inv, flag));
    }
    let dry = ["-n", "--dry-run"].iter().any(|flag| inv.program == "rsync" && has_flag(inv, flag));
    let given = |word: &&str| has_flag(inv, word) || inv.args.iter().any(|arg| arg.known() == Some(word));
    !dry && (words.is_empty() || words.iter().any(given))
}

/// What is taken: every operand but a destination, and what `-C` leads to.
fn sources(inv: &Invocation) -> impl Iterator<Item = Arg> + '_ {
    let copies = runs(inv, &["cp", "gcp", "ditto", "rsync", "scp"]);
    let told = has_flag(inv, "-t") || has_flag(inv, "--target-directory");
    let last = usize::from(copies && !told && inv.operands.len() > 1);
    let count = inv.operands.len().saturating_sub(last);
    let dir = flag_value(inv, &["-C", "--directory"]);
    inv.operands.iter().take(count).flat_map(move |arg| {
        let below = dir
            .filter(|_| !arg.prefix().starts_with(['/', '~']))
            .map(|dir| Arg::literal(&format!("{}/{}", dir.text().trim_end_matches('/'), arg.text())));
        [below.unwrap_or_else(|| arg.clone())]
    })
}

/// A search whose pattern fits nearly every line, or that prints what does not fit.
fn searches(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const QUIET: &[&str] = &["-q", "--quiet", "-c", "--count", "-l", "--files-with-matches", "-L", "--files"];
    let recursive = !runs(inv, &["grep", "egrep", "fgrep", "ggrep"])
        || ["-r", "-R", "--recursive", "--dereference-recursive"].iter().any(|flag| has_flag(inv, flag));
    if !recursive || QUIET.iter().any(|flag| has_flag(inv, flag)) {
        return false;
    }
    let told = flag_value(inv, &["-e", "--regexp"]);
    let pattern = told.or_else(|| inv.operands.first());
    let inverted = has_flag(inv, "-v") || has_flag(inv, "--invert-match");
    if !inverted && pattern.is_some_and(|pattern| is_telling(&pattern.text())) {
        return false;
    }
    let here = Arg::literal(".");
    let mut trees = inv.operands.iter().skip(usize::from(told.is_none())).peekable();
    let alone = trees.peek().is_none().then_some(&here);
    trees.chain(alone).any(|arg| is_tree(arg, inv, Way::Search, scene))
}

/// Whether each alternative of a pattern has letters in a row that a line must have.
fn is_telling(pattern: &str) -> bool {
    let alternative = |part: &str| {
        let mut left = part;
        let mut plain = String::new();
        // What stands in brackets is one letter of many.
        while let Some((front, behind)) = left.split_once('[') {
            plain.push_str(front);
            plain.push('[');
            left = behind.split_once(']').map_or("", |(_, rest)| rest);
        }
        plain.push_str(left);
        plain.split(|c: char| !c.is_alphanumeric() && c != '_').any(|run| run.len() >= TELLING)
    };
    pattern.split('|').all(|part| alternative(part.trim_end_matches('\\')))
}

/// The directories of this machine that a container gets.
fn mounts(inv: &Invocation) -> impl Iterator<Item = String> + '_ {
    let values = inv.flags.iter().filter_map(|flag| {
        matches!(flag.name.as_str(), "-v" | "--volume" | "--mount").then_some(flag.value.as_ref())?
    });
    values.filter_map(|value| {
        let text = value.text();
        let of = |field: &str| {
            field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")).map(str::to_owned)
        };
        let source = text.split(',').find_map(of).or_else(|| text.split(':').next().map(str::to_owned));
        source.filter(|source| source.starts_with(['/', '~', '.']))
    })
}

/// `find ~/.local | cpio -o`: what another command of the pipeline lists.
fn listed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().any(|other| {
        other.pipeline == inv.pipeline
            && other.stage < inv.stage
            && runs(other, &["find", "fd", "ls"])
            && other.args.iter().any(|arg| is_tree(arg, other, Way::Take, scene))
    })
}

fn is_tree(arg: &Arg, inv: &Invocation, way: Way, scene: &Scene<'_>) -> bool {
    match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => holds(&path, glob, way, scene),
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    }
}

/// Whether keys or credentials lie below a directory.
fn holds(path: &str, glob: bool, way: Way, scene: &Scene<'_>) -> bool {
    let places = &scene.view.facts.places;
    let above = |place: &str| relation_to(path, glob, place) == Rel::Above;
    let home = places.home.as_deref();
    if home.is_some_and(|home| matches!(relation_to(path, glob, home), Rel::Same | Rel::Above))
        && way == Way::Search
    {
        return false;
    }
    let worked_in =
        places.roots().any(|root| matches!(relation_to(path, glob, root), Rel::Same | Rel::Below));
    let temp = places.temp.iter().any(|temp| temp == path);
    let keys = || places.protected.iter().filter(|place| place.kind == ProtectedKind::Keys);
    let credentials =
        || home.into_iter().flat_map(|home| CLIENT_CREDENTIALS.iter().map(move |file| join(home, file)));
    !worked_in
        && !temp
        && (keys().any(|place| above(&place.path))
            || credentials().any(|place| {
                let own = place.rsplit_once('/').is_some_and(|(dir, _)| dir == path);
                above(&place) && !(own && way == Way::Mount)
            }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_about_something() {
        for pattern in ["foo", "TODO|FIXME", "fn [a-z]+_test", "log\\|warn", "^use "] {
            assert!(is_telling(pattern), "{pattern}");
        }
        for pattern in ["", ".", ".*", "^", "[0-9a-f]*", "a", "foo|.", "a\\|b", "[[:alnum:]]"] {
            assert!(!is_telling(pattern), "{pattern}");
        }
    }
}
