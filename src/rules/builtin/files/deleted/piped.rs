//! Files that another program lists, and that a deletion is given.

use super::FILTERS;
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::files::{WIDE, lists_all_of_git};
use crate::rules::matcher::{Class, Found, Scene, classify, flag_value, has_flag, runs, target_of};
use crate::rules::survey::pattern::of_names;
use crate::shell::Arg;

pub(super) fn delete_piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        let piped = inv.wrappers.iter().any(|name| matches!(name.as_str(), "xargs" | "parallel"));
        let by_code = || {
            inv.program == "perl"
                && has_flag(inv, "-n")
                && inv.args.iter().any(|arg| arg.text().contains("unlink"))
        };
        (piped && runs(inv, &["rm", "rmdir", "unlink", "shred", "truncate", "mv"]) || by_code())
            && all.iter().any(|lister| {
                let before = lister.pipeline == inv.pipeline && lister.stage < inv.stage;
                before && lists_all_of_git(lister) && !is_sifted(lister, scene)
                    || before
                        && (runs(lister, &["find", "ls", "du", "tree"])
                            || runs(lister, FD)
                            || lister.program == "rg" && has_flag(lister, "--files"))
                        && lists_too_much(lister, scene)
                    // All of the machine is searched.
                    || before && runs(lister, &["locate", "plocate", "mlocate", "mdfind"])
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `ls | grep '\.bak$'`: by name.
fn is_sifted(lister: &Invocation, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().any(|other| {
        let behind = other.pipeline == lister.pipeline && other.stage > lister.stage;
        let pattern = other.operands.first().and_then(Arg::known).unwrap_or_default();
        behind
            && runs(other, &["grep", "egrep", "rg"])
            && !has_flag(other, "-v")
            && !of_names(pattern).is_empty()
    })
}

/// Searches whose first operand is what they look for.
const FD: &[&str] = &["fd", "fdfind"];

fn lists_too_much(lister: &Invocation, scene: &Scene<'_>) -> bool {
    let filtered = FILTERS.iter().any(|filter| has_flag(lister, filter));
    let sifted = is_sifted(lister, scene);
    let here = Arg::literal(".");
    // The first operand of `fd` is a pattern.
    let operands = lister.operands.get(usize::from(runs(lister, FD))..).unwrap_or_default();
    let named = operands.iter().filter(|arg| !arg.prefix().is_empty());
    let places: Vec<&Arg> = if operands.is_empty() { vec![&here] } else { named.collect() };
    let pattern = lister.operands.first().and_then(Arg::known).filter(|_| runs(lister, FD));
    let ending = || runs(lister, FD) && flag_value(lister, &["-e", "--extension"]).is_some();
    let sought = pattern.is_some_and(|pattern| !of_names(pattern).is_empty()) || ending();
    !filtered
        && !sought
        && places.iter().any(|arg| {
            let target = target_of(arg, lister.cwd.as_deref());
            let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
            classes.any(WIDE) || (classes.has(Class::Project) && !sifted)
        })
}
