//! Files that another program lists, and that are deleted or overwritten by the list.

use super::{FINDERS, first_of};
use crate::rules::Invocation;
use crate::rules::builtin::docker;
use crate::rules::matcher::{Found, Scene, has_flag, input_of, runs};
use crate::shell::Arg;

words!("builtin/indirect/listed");

pub(super) fn listed_and_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let words = |inv: &Invocation| -> Vec<String> { inv.args.iter().map(Arg::to_text).collect() };
    let pair = |words: &[String], first: &str, second: &[&str]| {
        words.iter().position(|word| word == first).is_some_and(|at| {
            words
                .iter()
                .skip(at + 1)
                .find(|word| !word.starts_with('-'))
                .is_some_and(|word| second.contains(&word.as_str()))
        })
    };
    let lists = all.iter().any(|inv| {
        let words = words(inv);
        runs(inv, &["docker", "podman", "nerdctl"])
            && pair(&words, "volume", &["ls", "list"])
            && !docker::lists_scratch(all, inv)
            || runs(inv, &["kubectl", "oc"]) && pair(&words, "get", CLUSTER_THINGS)
    });
    if !lists {
        return Found::No;
    }
    first_of(scene, |inv| {
        let unknown = inv.args.last().is_some_and(Arg::has_unknown);
        let words = words(inv);
        let removes = runs(inv, &["docker", "podman", "nerdctl"])
            && pair(&words, "volume", &["rm", "remove"])
            || runs(inv, &["kubectl", "oc"])
                && words.iter().any(|word| word == "delete")
                && !words.iter().any(|word| word.starts_with("--dry-run"));
        unknown && removes
    })
}

pub(super) fn deleted_by_desktop<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let text: String =
            inv.args.iter().map(Arg::to_text).chain(input_of(inv, scene)).collect::<Vec<_>>().join("\n");
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        match inv.program.as_str() {
            "swift" => has(&["removeItem(", "trashItem("]) && has(SWIFT_PLACES),
            "osascript" => {
                has(&["delete ", "empty trash", "empty the trash"])
                    && has(&["Finder", "System Events"])
                    && has(SCRIPT_PLACES)
                    || has(&["do shell script"]) && has(&["rm -rf /", "rm -rf ~", "rm -fr /", "rm -rf $HOME"])
            }
            _ => false,
        }
    })
}

pub(super) fn listed_overwritten<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let lists = |inv: &Invocation| {
        inv.program == "git" && inv.sub.first().is_some_and(|sub| sub == "ls-files")
            || runs(inv, &["find", "fd", "fdfind"])
                && !inv.args.iter().filter_map(Arg::known).any(|word| word.starts_with("/tmp"))
    };
    let told = FINDERS.iter().any(|name| scene.says(name));
    first_of(scene, |inv| {
        let appended = has_flag(inv, "-a") || has_flag(inv, "--append");
        let feeds = |place: &Invocation| {
            lists(place)
                && place.feeds.and_then(|at| all.get(at)).is_some_and(|outer| std::ptr::eq(outer, inv))
        };
        match inv.program.as_str() {
            "tee" => !appended && all.iter().any(feeds),
            "rmlint.sh" => told && inv.args.iter().any(|arg| arg.known() == Some("-d")),
            _ => false,
        }
    })
}
