//! Repositories at a code host: emptied, deleted or moved.

use super::first_of;
use crate::rules::Invocation;
use crate::rules::builtin::cloud::HUBS;
use crate::rules::builtin::operations;
use crate::rules::facts::operations::DESTROYS_ON_HUB;
use crate::rules::matcher::{Found, Scene, flag_value, runs};
use crate::shell::Arg;

/// Addresses of repositories in code.
pub(super) const HUB_HOSTS: &[&str] = &["api.github.com/repos/", "api.github.com/orgs/", "/api/v4/projects/"];

/// Calls that delete what is at an address.
pub(super) const HUB_DELETES: &[&str] =
    &["requests.delete(", "httpx.delete(", "'DELETE'", "\"DELETE\"", "axios.delete(", "Delete.new("];

/// What a code host lists is deleted or closed one by one.
pub(super) fn hub_emptied<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let says = |inv: &Invocation, words: &[&str]| {
        runs(inv, HUBS) && inv.args.iter().take(3).filter_map(Arg::known).any(|word| words.contains(&word))
    };
    let found = all.iter().enumerate().find(|(index, inv)| {
        says(inv, &["delete", "close", "archive", "disable"])
            && all.iter().any(|other| {
                let comes =
                    other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage;
                comes && says(other, &["list", "ls"])
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

pub(super) fn hub_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        if !runs(inv, HUBS) {
            return false;
        }
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let says = |wanted: &str| words.iter().any(|word| word == wanted);
        let method = flag_value(inv, &["-X", "--method"]).map(Arg::text).unwrap_or_default();
        let deletes = method.eq_ignore_ascii_case("delete") || says("DELETE");
        let whole = words.iter().any(|word| {
            let path = word.trim_start_matches('/');
            ["orgs/", "teams/", "enterprises/", "user/keys", "groups/"]
                .iter()
                .any(|top| path.starts_with(top))
        });
        let forced = words.iter().any(|word| word.contains("/git/refs/")) && says("force=true");
        let fields =
            words.iter().any(|word| matches!(word.as_str(), "-f" | "-F" | "--field" | "--raw-field"));
        let key = fields && words.iter().any(|word| word.trim_start_matches('/') == "user/keys");
        let open = says("enforce_admins=false") && words.iter().any(|word| word.ends_with("/protection"));
        let branch = deletes
            && words
                .iter()
                .filter_map(|word| word.rsplit_once("/git/refs/heads/"))
                .any(|(_, name)| scene.view.policy.protected_branches.iter().any(|one| one == name));
        let source = |arg: &Arg| arg.known().is_some_and(|word| matches!(word, "--source" | "-s"));
        let given = inv.args.iter().zip(inv.args.iter().skip(1)).find(|(flag, _)| source(flag));
        let joined = words.iter().find_map(|word| word.strip_prefix("--source="));
        let top = given.is_some_and(|(_, place)| is_top(&place.text())) || joined.is_some_and(is_top);
        let opened = says("create") && says("--public") && top;
        operations::is_one(inv, DESTROYS_ON_HUB)
            || says("api") && (deletes && whole || forced || key || open || branch)
            || says("repo") && opened
    })
}

/// The home directory or all there is; what is not known before the command runs is neither.
fn is_top(text: &str) -> bool {
    let path = text.trim_end_matches('/');
    path.is_empty() && text.starts_with('/')
        || matches!(path, "~" | "$HOME" | "/home" | "/root" | "/etc" | "/Users")
        || path
            .strip_prefix("/home/")
            .or_else(|| path.strip_prefix("/Users/"))
            .is_some_and(|name| !name.contains('/'))
}

pub(super) fn repository_moved<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    let repository = |path: &str| {
        let path = path.trim_end_matches('/');
        path == ".git" || path.ends_with("/.git")
    };
    let from = told.values(&["source", "src", "from", "oldpath", "path", "sourcepath", "frompath"]);
    if told.has(&["move", "rename", "mv"]) && { from }.any(repository) {
        Found::yes(told.text)
    } else {
        Found::No
    }
}
