//! Repositories that come from elsewhere, and what is taken out of them.

use super::outputs::path_of;
use super::{Trail, files};
use crate::domain::{Origin, Reach, join};
use crate::rules::Invocation;
use crate::rules::matcher::target_of;
use crate::shell::Arg;

impl Trail<'_> {
    /// A repository that comes from elsewhere, or files of a release.
    pub(super) fn cloned(&mut self, inv: &Invocation) {
        let cwd = inv.cwd.as_deref();
        let sub: Vec<&str> = inv.sub.iter().map(String::as_str).collect();
        let words: Vec<&str> = inv.operands.iter().filter_map(Arg::known).collect();
        let clones = matches!(sub.as_slice(), ["clone" | "checkout" | "co" | "export", ..] if inv.program != "git")
            || matches!(sub.as_slice(), ["clone", ..])
            || matches!(sub.as_slice(), ["submodule", "add"]);
        let hosted = inv.program == "gh";
        self.merged(inv, &sub, &words);
        self.stored(inv, &sub);
        if !clones || hosted {
            return;
        }
        let words =
            words.iter().skip_while(|word| matches!(**word, "clone" | "checkout" | "add" | "co" | "export"));
        let words: Vec<&str> = words.copied().collect();
        let Some(host) = words.first().and_then(|url| files::host_in(inv, url)) else { return };
        if !super::is_strange(&host, self.policy) {
            return;
        }
        let own = words.first().and_then(|url| url.trim_end_matches('/').rsplit(['/', ':']).next());
        let name = words.get(1).copied().or(own.map(|name| name.trim_end_matches(".git")));
        if let Some(path) = name.and_then(|name| path_of(&target_of(&Arg::literal(name), cwd))) {
            self.unpacked(&path, &host);
        }
    }

    /// `git hash-object -w /bin/rm`, and files that `git update-index --cacheinfo` makes of what is stored.
    fn stored(&mut self, inv: &Invocation, sub: &[&str]) {
        let Some(cwd) = inv.cwd.as_deref().filter(|_| inv.program == "git") else { return };
        let store = join(cwd, ".git/objects");
        let is_written = inv.args.iter().any(|arg| arg.known() == Some("-w"));
        if let (["hash-object", ..], true) = (sub, is_written) {
            let programs = inv.operands.iter().map(|arg| self.held(&target_of(arg, Some(cwd))).program);
            for name in programs.flatten().collect::<Vec<_>>() {
                self.mark(&store, Reach::Tree, Origin::Program(name));
            }
        } else if let ["update-index", ..] = sub
            && let Some(name) = self.now.program(&store).map(str::to_owned)
        {
            // `MODE,OBJECT,PATH`, and the three by themselves.
            let paths = inv.args.iter().filter_map(|arg| {
                let text = arg.text();
                let path = text.rsplit(',').next().filter(|path| !path.starts_with('-'))?;
                path_of(&target_of(&Arg::literal(path), Some(cwd)))
            });
            for path in paths.collect::<Vec<_>>() {
                self.mark(&path, Reach::File, Origin::Program(name.clone()));
            }
        }
    }

    /// `git fetch URL` and `git pull URL`: what is taken out of it afterwards came from there.
    fn merged(&mut self, inv: &Invocation, sub: &[&str], words: &[&str]) {
        let Some(cwd) = inv.cwd.as_deref().filter(|_| inv.program == "git") else { return };
        let head = join(cwd, ".git/FETCH_HEAD");
        let remote = |name: &str| join(cwd, &format!(".git/refs/remotes/{name}"));
        if let (["remote", ..], [.., name, url]) = (sub, words) {
            let host = files::host_in(inv, url).filter(|host| super::is_strange(host, self.policy));
            if let Some(host) = host {
                self.mark(&remote(name), Reach::Tree, Origin::Fetched(host));
            }
            return;
        }
        if matches!(sub, ["fetch" | "pull", ..]) {
            let hosts = words.iter().filter_map(|word| files::host_in(inv, word));
            let strange = { hosts }.find(|host| super::is_strange(host, self.policy));
            if let Some(host) = strange {
                self.mark(&head, Reach::File, Origin::Fetched(host.clone()));
                if sub.first() == Some(&"pull") {
                    self.mark(cwd, Reach::Tree, Origin::Fetched(host));
                }
            }
            return;
        }
        let takes = matches!(
            sub,
            [
                "checkout"
                    | "switch"
                    | "restore"
                    | "merge"
                    | "reset"
                    | "rebase"
                    | "cherry-pick"
                    | "read-tree"
                    | "worktree",
                ..
            ]
        );
        if !takes || self.now.is_empty() {
            return;
        }
        let taken = inv.args.iter().filter_map(|arg| {
            let text = arg.text();
            let place = if text.contains("FETCH_HEAD") { head.clone() } else { remote(&text) };
            self.now.source(&place).map(|mark| mark.origin.clone())
        });
        if let Some(Origin::Fetched(host)) = { taken }.next() {
            self.mark(cwd, Reach::Tree, Origin::Fetched(host));
        }
    }
}
