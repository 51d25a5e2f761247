//! Known commands in whose place a text or a file of the project is put.

use super::FIRST;
use crate::domain::{EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, at, inside, owners, runs, target_of};
use crate::shell::Arg;

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

words!("builtin/machine/shadowed");

fn replaced<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    // The dearest question is the last: a script of hundreds of commands writes hundreds of files, and few are called as a program is.
    for (effect, _) in scene.effects().filter(|(effect, _)| WRITES.contains(&effect.kind)) {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        let name = last_name(path);
        if facts::find(name).is_none() {
            continue;
        }
        // By a directory that is a link to it as well.
        let real = scene.view.facts.path(path).map_or(path, |fact| &fact.real);
        let place = Target::Path { path: real.clone(), glob: false, recursive: false };
        let first = at(&effect.target, FIRST, home) || at(&place, FIRST, home);
        if !first {
            continue;
        }
        let puts = |inv: &&Invocation| {
            let prints =
                inv.writes.iter().any(|(to, _)| to.text() == path) && runs(inv, &["echo", "printf", "cat"]);
            prints || runs(inv, &["tee"]) || runs(inv, PLACERS) && takes_another(inv, name, scene)
        };
        if let Some(inv) = owners(scene, &effect.target).find(puts) {
            return Found::yes(&inv.text);
        }
    }
    Found::No
}

/// Whether the one file that is put there is one of the project's, or temporary, and of another name.
fn takes_another(inv: &Invocation, name: &str, scene: &Scene<'_>) -> bool {
    let [source, _] = inv.operands.as_slice() else { return false };
    let places = &scene.view.facts.places;
    let own = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, .. } => {
            let worked_in = places.roots().any(|root| inside(&path, root));
            let temporary = places.temp.iter().any(|temp| inside(&path, temp));
            (worked_in || temporary) && path.rsplit('/').next() != Some(name)
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    own(source)
}
