//! Programs that put files into a directory which an option, the working directory or a prefix names.

use super::around_protected;
use crate::domain::{Target, join};
use crate::rules::Invocation;
use crate::rules::facts::MAKEFILES;
use crate::rules::matcher::{Class, Found, Scene, classify, content, has_flag, inside, runs, target_of};
use crate::shell::{Arg, Piece};

/// Programs that write files whose names begin with a prefix, and the options that may name it.
pub(super) const SPLITTERS: &[&str] = &["split", "csplit"];

words!("builtin/selfprotect/aimed");

/// Programs that change files as a patch says.
pub(super) const PATCHERS: &[&str] = &["patch", "gpatch", "git"];

/// Directories of the home in which everybody puts programs and data, the guard's own beside them.
const SHARED: &[&str] = &["/.local", "/.local/bin", "/.local/share", "/.local/state", "/.config", "/.cache"];

/// Whether a directory is one of those that everybody fills.
pub(super) fn is_shared(dir: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some(home) = scene.view.facts.places.home.as_deref() else { return false };
    match target_of(dir, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => {
            path.strip_prefix(home).is_some_and(|rest| SHARED.contains(&rest.trim_end_matches('/')))
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    }
}

/// The values of options, whether the tables know them or not.
fn values<'i>(inv: &'i Invocation, names: &'i [&'i str]) -> impl Iterator<Item = Arg> + 'i {
    let behind = inv.args.windows(2).filter_map(|pair| match pair {
        [name, value] if name.known().is_some_and(|name| names.contains(&name)) => Some(value.clone()),
        _ => None,
    });
    let attached = inv.args.iter().filter_map(|arg| {
        let (name, value) = arg.prefix().split_once('=')?;
        (names.contains(&name) && arg.known().is_some()).then(|| Arg::literal(value))
    });
    behind.chain(attached)
}

fn options_of(inv: &Invocation) -> &'static [&'static str] {
    AIMED.iter().find(|(name, _)| *name == inv.program).map_or(&[], |(_, options)| *options)
}

/// What a value that nothing has expanded names: a tilde behind `=` stays what it is.
fn at_home(arg: &Arg, scene: &Scene<'_>) -> Arg {
    let home = scene.view.facts.places.home.as_deref();
    match (arg.known().and_then(|text| text.strip_prefix('~')), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Arg::literal(&format!("{home}{rest}"))
        }
        _ => arg.clone(),
    }
}

/// Files put into the directory around a protected place, under names that are not known.
pub(super) fn aimed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let may_be = |inv: &Invocation| !options_of(inv).is_empty() || runs(inv, SPLITTERS) || runs(inv, COPIERS);
    let found = scene.running(may_be).find(|inv| {
        let into = values(inv, options_of(inv)).map(|dir| at_home(&dir, scene)).any(|dir| {
            around_protected(&dir, inv, scene) && !(runs(inv, INSTALLERS) && is_shared(&dir, inv, scene))
        });
        into || prefixed(inv, scene) || nameless(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `split x .claude/settings`: names that begin so.
fn prefixed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if !runs(inv, SPLITTERS) {
        return false;
    }
    let given = inv.args.last().into_iter().chain(inv.operands.last());
    given.cloned().chain(values(inv, &["-f", "--prefix"])).any(|prefix| {
        let Target::Path { path, .. } = target_of(&at_home(&prefix, scene), inv.cwd.as_deref()) else {
            return false;
        };
        let begun = Target::begun(path, false);
        classify(&begun, crate::domain::EffectKind::FileCreation, &scene.view).has(Class::Protected)
            || around_protected(&prefix, inv, scene)
    })
}

/// `xargs cp -t .claude`: a source whose own name is not known.
fn nameless(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if !runs(inv, COPIERS) {
        return false;
    }
    let unknown = |arg: &Arg| arg.pieces.last() == Some(&Piece::Unknown);
    let told = values(inv, &["-t", "--target-directory"]).next();
    let listed = inv.wrappers.iter().any(|name| name == "xargs" || name == "parallel");
    match told {
        Some(dir) => {
            (listed || inv.operands.iter().any(unknown))
                && around_protected(&at_home(&dir, scene), inv, scene)
        }
        None => inv
            .operands
            .split_last()
            .is_some_and(|(dest, sources)| sources.iter().any(unknown) && around_protected(dest, inv, scene)),
    }
}

/// The directory in which a patch is applied, or git changes files.
fn changed_dir(inv: &Invocation) -> Option<Arg> {
    const CHANGING: &[&str] = &["apply", "am", "checkout", "switch", "reset", "restore", "read-tree"];
    if inv.program != "git" {
        let told = values(inv, &["-d", "--directory"]).next();
        let dry = has_flag(inv, "--dry-run");
        return (!dry).then(|| told.unwrap_or_else(|| Arg::literal(".")));
    }
    let sub = inv.sub.first()?;
    let looks = ["--check", "--stat", "--numstat", "--summary", "-b", "-c", "--cached", "--abort"];
    // A reset without one of these leaves the files alone.
    let resets = || ["--hard", "--merge", "--keep"].iter().any(|flag| has_flag(inv, flag));
    let changes = CHANGING.contains(&sub.as_str())
        && !looks.iter().any(|flag| has_flag(inv, flag))
        && (sub != "reset" || resets());
    changes.then(|| Arg::literal("."))
}

/// A patch applied in the directory of a protected place.
pub(super) fn applied(inv: &Invocation, scene: &Scene<'_>) -> bool {
    changed_dir(inv).is_some_and(|dir| around_protected(&dir, inv, scene))
}

/// `stow -nv`: only said.
fn is_tried(inv: &Invocation) -> bool {
    inv.args.iter().filter_map(Arg::known).any(|arg| {
        let letters = arg.strip_prefix('-').unwrap_or_default();
        matches!(arg, "--no" | "--simulate")
            || letters.contains('n') && letters.chars().all(|c| matches!(c, 'n' | 'v' | 'D' | 'S' | 'R'))
    })
}

/// `make install PREFIX=~/.local`, and an installation behind `./configure --prefix=~/.local` or a variable that says the same.
fn installs_to_shared(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let installs = inv.args.iter().filter_map(Arg::known).any(|arg| arg.starts_with("install"));
    let named = |arg: &Arg, inv: &Invocation| {
        let value = match arg.prefix().split_once('=') {
            Some((_, value)) if arg.known().is_some() => Arg::literal(value),
            _ => arg.clone(),
        };
        let dir = at_home(&value, scene);
        dir.prefix().starts_with('/')
            && (is_shared(&dir, inv, scene) || scene.view.facts.places.home.as_deref() == dir.known())
    };
    let configures = |other: &Invocation| {
        let options = ["-DCMAKE_INSTALL_PREFIX", "--prefix", "-Dprefix"];
        other
            .args
            .iter()
            .any(|arg| options.iter().any(|option| arg.prefix().starts_with(option)) && named(arg, other))
    };
    installs
        && !tells_names(inv, scene)
        && (inv.args.iter().any(|arg| named(arg, inv)) || scene.invocations().iter().any(configures))
}

/// Whether what a makefile installs stands in it: no pattern, and nothing of the guard's name.
fn tells_names(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some(cwd) = inv.cwd.as_deref().filter(|_| runs(inv, &["make", "gmake"])) else { return false };
    let told = values(inv, &["-f", "--file", "--makefile"]).next().map(|file| file.to_text());
    let names = told.as_deref().map_or_else(|| MAKEFILES.to_vec(), |told| vec![told]);
    let mut texts = names.iter().filter_map(|name| content(scene, &join(cwd, name)));
    texts.next().is_some_and(|text| {
        let copies = |line: &str| {
            ["cp ", "install", "INSTALL", "mv ", "ln ", "rsync", "tar "]
                .iter()
                .any(|word| line.contains(word))
        };
        let open = |line: &str| line.contains('*') || line.contains("$(shell");
        !text.contains("lazaret")
            && !text.contains("$(wildcard")
            && !text.lines().any(|line| copies(line) && open(line))
    })
}

/// `go build -o ~/.local/bin ./...`: every program of the source, under its own name.
fn builds_into_shared(inv: &Invocation, scene: &Scene<'_>) -> bool {
    values(inv, &["-o"]).any(|dir| is_shared(&at_home(&dir, scene), inv, scene))
}

/// The same in the home directory, and trees put over it.
pub(super) fn over_home<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(home) = scene.view.facts.places.home.as_deref() else { return Found::No };
    let is_home = |arg: &Arg, inv: &Invocation| match target_of(&at_home(arg, scene), inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => inside(home, &path),
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    };
    let found = scene.first(HOME_FILLERS, |inv| match inv.program.as_str() {
        "stow" if is_tried(inv) => false,
        "stow" => values(inv, options_of(inv)).any(|dir| is_home(&dir, inv)),
        "go" => builds_into_shared(inv, scene),
        _ if runs(inv, BUILDERS) => installs_to_shared(inv, scene),
        _ if runs(inv, INSTALLERS) => {
            values(inv, options_of(inv)).any(|dir| is_shared(&at_home(&dir, scene), inv, scene))
        }
        _ => changed_dir(inv).is_some_and(|dir| is_home(&dir, inv)),
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
