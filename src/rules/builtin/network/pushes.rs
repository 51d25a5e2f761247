//! What is pushed elsewhere: a repository to an address, an image to a registry.

use crate::domain::join;
use crate::rules::Invocation;
use crate::rules::builtin::operations::{self, is_rehearsal};
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, host_of, is_known};
use crate::rules::survey::CONFIG;
use crate::shell::Arg;

/// Programs that lay images in registries.
pub(super) const BUILDERS: &[&str] =
    &["buildah", "crane", "docker", "helm", "nerdctl", "oras", "podman", "skopeo"];

words!("builtin/network/pushes");

/// An address of a repository without what differs by the way it is reached.
fn repository(url: &str) -> String {
    let place = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    place.trim_end_matches('/').trim_end_matches(".git").replacen(':', "/", 1)
}

/// `git push` to an address that no remote has, or to one that the call itself has just put there.
pub(super) fn pushed_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    let unknown = |text: &str| {
        let url = text.contains("://") || text.starts_with("git@") && text.contains(':');
        let host = host_of(text.trim_start_matches("git@"));
        url && host.contains('.') && !is_known(&host, scene.view.policy)
    };
    let own = |text: &str| {
        let places = &scene.view.facts.places;
        let settings =
            places.repo.as_ref().and_then(|repo| scene.view.facts.content(&join(repo, CONFIG)).flatten());
        let remotes =
            settings.into_iter().flat_map(str::lines).filter_map(|line| line.trim().strip_prefix("url"));
        let wanted = repository(text);
        { remotes }
            .filter_map(|rest| rest.trim().strip_prefix('='))
            .any(|url| repository(url.trim()) == wanted)
    };
    let is = |inv: &Invocation, word: &str| inv.sub.first().is_some_and(|sub| sub == word);
    let all = scene.invocations();
    let added = all.iter().any(|inv| {
        inv.program == "git" && is(inv, "remote") && inv.args.iter().any(|arg| unknown(&arg.text()))
    });
    // `git remote set-url --push origin URL`: the remote keeps its name, and what is pushed to it goes elsewhere.
    let led_away = all.iter().any(|inv| {
        let told = |word: &str| inv.args.iter().any(|arg| arg.text().starts_with(word));
        let setting = inv.args.iter().any(|arg| arg.text().to_ascii_lowercase().ends_with(".pushurl"));
        inv.program == "git"
            && (is(inv, "remote") && told("set-url") && told("--push") || is(inv, "config") && setting)
            && inv.args.iter().any(|arg| !host_of(&arg.text()).is_empty() && arg.text().contains(':'))
    });
    // Whatever its host: all of the repository, and no remote has the address.
    let whole = |inv: &Invocation| {
        let given = inv.operands.first().map(Arg::text).unwrap_or_default();
        let host = host_of(&given);
        let own = host.is_empty() || host == "localhost" || host.starts_with("127.");
        let by_ssh = given
            .split_once(':')
            .is_some_and(|(host, path)| host.contains('@') && !host.contains('/') && !path.starts_with("//"));
        let branch = |arg: &Arg| {
            arg.known().is_some_and(|refspec| {
                matches!(refspec.rsplit(':').next(), Some("main" | "master" | "HEAD" | "@"))
            })
        };
        (by_ssh || given.contains("://") && !own)
            && (has_flag(inv, "--all") || inv.operands.iter().skip(1).any(branch))
            && !is_rehearsal(inv)
    };
    // All branches, to a remote that the same call adds beside the project's own.
    let mirrored = |inv: &Invocation| {
        let to = inv.operands.first().map(Arg::text).unwrap_or_default();
        let new = all.iter().any(|other| {
            other.program == "git"
                && is(other, "remote")
                && other.args.iter().any(|arg| arg.known() == Some("add"))
                && other.args.iter().any(|arg| arg.text() == to)
        });
        new && to != "origin" && (has_flag(inv, "--all") || has_flag(inv, "--mirror")) && !is_rehearsal(inv)
    };
    let found = scene.first(&["git"], |inv| {
        is(inv, "push")
            && !inv.operands.first().is_some_and(|to| own(&to.text()))
            && (added
                || led_away
                || whole(inv)
                || mirrored(inv)
                || inv.args.iter().any(|arg| unknown(&arg.text())))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// An image is laid in a registry that is not among the known ones.
pub(super) fn image_pushed_away(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let far = |text: &str| {
        let place = text.split_once("://").map_or(text, |(_, rest)| rest);
        let host = place.split_once('/').map(|(host, _)| host.split(':').next().unwrap_or_default());
        host.is_some_and(|host| {
            let among = |end: &&str| {
                host.strip_suffix(*end).is_some_and(|front| front.is_empty() || front.ends_with('.'))
            };
            host.contains('.')
                && !host.starts_with('.')
                && !is_known(host, scene.view.policy)
                && !REGISTRIES.iter().any(among)
        })
    };
    let words = operations::known_words(inv);
    let told = |word: &str| words.contains(&word);
    let tag = flag_value(inv, &["-t", "--tag", "--destination"]).into_iter();
    let places: Vec<&Arg> = match inv.program.as_str() {
        _ if has_flag(inv, "--push") => tag.collect(),
        "skopeo" | "crane" if told("copy") || told("cp") => inv.operands.last().into_iter().collect(),
        _ if told("push") => inv.operands.iter().chain(tag).collect(),
        _ => Vec::new(),
    };
    places.iter().any(|arg| far(&arg.text())) && !is_rehearsal(inv)
}
