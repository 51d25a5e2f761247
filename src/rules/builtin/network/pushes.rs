//! What git pushes elsewhere than to the remotes of the repository.

use crate::domain::{join, lies_in};
use crate::rules::Invocation;
use crate::rules::builtin::git::is_git;
use crate::rules::builtin::operations::is_rehearsal;
use crate::rules::git_settings::entries;
use crate::rules::matcher::{Found, Scene, has_flag, host_of, is_known};
use crate::rules::survey::CONFIG;
use crate::shell::Arg;

/// An address of a repository without what differs by the way it is reached.
fn repository(url: &str) -> String {
    let place = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    place.trim_end_matches('/').trim_end_matches(".git").replacen(':', "/", 1)
}

/// Whether a remote of the repository has that address.
fn is_own(address: &str, scene: &Scene<'_>) -> bool {
    let places = &scene.view.facts.places;
    let text = places.repo.as_ref().and_then(|repo| scene.view.facts.content(&join(repo, CONFIG)).flatten());
    let settings = text.and_then(entries).unwrap_or_default();
    // Settings that put another address in the place of one say where it goes, not the address.
    let led = settings.iter().any(|(key, _)| key.ends_with("insteadof"));
    let is_remote = |key: &str| key.starts_with("remote.") && key.ends_with(".url");
    let wanted = repository(address);
    !led && settings.iter().any(|(key, url)| is_remote(key) && repository(url) == wanted)
}

/// Whether a push goes to such an address, where git is told nothing else of settings and places, and not all there is goes.
fn goes_to_own(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const TOLD: &[&str] = &["-c", "-C", "--git-dir", "--work-tree", "--all", "--mirror", "--config-env"];
    let to = inv.operands.first().map(Arg::text).unwrap_or_default();
    let here = scene.view.facts.places.repo.as_deref().zip(inv.cwd.as_deref());
    let plain = !inv.args.iter().any(|arg| TOLD.iter().any(|flag| arg.prefix().starts_with(flag)));
    let sealed = to.starts_with("https://") || to.starts_with("ssh://") || to.starts_with("git@");
    let led = scene.command_line().to_ascii_lowercase().contains("insteadof");
    sealed && plain && !led && here.is_some_and(|(repo, cwd)| lies_in(cwd, repo)) && is_own(&to, scene)
}

/// Jujutsu, which has git's words behind `git`.
fn is_jj(inv: &Invocation, word: &str) -> bool {
    let mut words = inv.args.iter().filter_map(Arg::known);
    inv.program == "jj" && words.next() == Some("git") && words.next() == Some(word)
}

/// `git push` to an address that no remote has, or to one that the call itself has just put there.
pub(super) fn pushed_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    let unknown = |text: &str| {
        let url = text.contains("://") || text.starts_with("git@") && text.contains(':');
        let host = host_of(text.trim_start_matches("git@"));
        url && host.contains('.') && !is_known(&host, scene.view.policy)
    };
    let all = scene.invocations();
    let adds = |inv: &Invocation| is_git(inv, "remote") || is_jj(inv, "remote");
    let added = all.iter().any(|inv| adds(inv) && inv.args.iter().any(|arg| unknown(&arg.text())));
    // `git config url.https://x.example/.pushInsteadOf https://github.com/`
    let put_in_place = all.iter().any(|inv| {
        let key = |arg: &Arg| {
            arg.text().starts_with("url.") && arg.text().to_ascii_lowercase().ends_with("insteadof")
        };
        is_git(inv, "config") && inv.args.iter().any(|arg| key(arg) && unknown(&arg.text()))
    });
    // `git remote set-url --push origin URL`: the remote keeps its name, and what is pushed to it goes elsewhere.
    let led_away = all.iter().any(|inv| {
        let told = |word: &str| inv.args.iter().any(|arg| arg.text().starts_with(word));
        let setting = inv.args.iter().any(|arg| arg.text().to_ascii_lowercase().ends_with(".pushurl"));
        (is_git(inv, "remote") && told("set-url") && told("--push") || is_git(inv, "config") && setting)
            && inv.args.iter().any(|arg| {
                !host_of(&arg.text()).is_empty() && arg.text().contains(':') && !is_own(&arg.text(), scene)
            })
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
            is_git(other, "remote")
                && other.args.iter().any(|arg| arg.known() == Some("add"))
                && other.args.iter().any(|arg| arg.text() == to)
        });
        new && to != "origin" && (has_flag(inv, "--all") || has_flag(inv, "--mirror")) && !is_rehearsal(inv)
    };
    let found = scene.first(&["git", "jj"], |inv| {
        (is_git(inv, "push") || is_jj(inv, "push") && added)
            && !goes_to_own(inv, scene)
            && (added
                || put_in_place
                || led_away
                || whole(inv)
                || mirrored(inv)
                || inv.args.iter().any(|arg| unknown(&arg.text())))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
