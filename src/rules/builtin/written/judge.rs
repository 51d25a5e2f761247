//! How bad it is that a command stands in a file which will be executed later. Milder than for a command that is run now: scripts
//! reset work trees, drop databases and delete directories that they made as a matter of course.

use super::super::packages::is_usual;
use crate::domain::{Action, EffectKind, Target, Tool, ToolCall, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{RuleSet, lists, standing};
use crate::rules::matcher::{Class, Scene, classify, host_of, inner_rules, inner_verdict, inside};

/// Longest text that is looked at as one script, in bytes.
const MAX_SCRIPT: usize = 128 * 1024;

/// Where a command will run, and how it is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On this machine, when somebody starts it.
    Script,
    /// On this machine, by something that seems to do something else: a hook, an installation, an opened folder.
    Hook,
    /// In a container or on a machine that is thrown away.
    Container,
}

words!("builtin/written/judge");

/// Rules for code from the network, which is ordinary from the hosts of known installers.
const FETCHED: &[&str] = &["network.download-to-shell", "network.download-then-run", "packages.run-from-url"];

/// A file of a key that is read, and what sends something away: each alone is ordinary.
const KEY_FILES: &[&str] = &["secrets.key-file"];
const UPLOADS: &[&str] = &["network.upload", "network.taken-away"];

const METADATA: &[&str] = &["network.metadata"];
const KILLS: &[&str] = &["system.kill-everything", "selfprotect.killed"];
const ACCOUNTS: &[&str] = &["privilege.accounts"];
const SETUID: &[&str] = &["privilege.setuid"];

/// Rules for what is lost to others: what a script that is started once does as well as the command itself.
const LIVE: &[&str] = &["cloud.live-deleted", "cloud.terraform-destroy", "git.push-force-protected"];

/// The same, where a whole bucket goes: that a copy is kept equal to what was built is what such scripts are for.
const STORES: &[&str] = &["cloud.s3-delete"];

/// The same, where it names something live.
const LIVE_BY_NAME: &[&str] = &["cloud.resource-delete", "database.drop-database"];

/// All that is asked about a command in a file.
const OF_COMMANDS: RuleSet = RuleSet::of(&[
    EVERYWHERE, RUINOUS, SUSPECT, FETCHED, METADATA, KILLS, ACCOUNTS, SETUID, KEY_FILES, UPLOADS,
]);

static ASKED: RuleSet = OF_COMMANDS;

static ASKED_OF_SCRIPTS: RuleSet = OF_COMMANDS.with(&[LIVE, STORES, LIVE_BY_NAME]);

/// What a command in a file deserves.
pub(super) fn command(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    judged(scene, text, place, &ASKED)
}

/// What a command deserves that code starts, which somebody starts by itself.
pub(super) fn started(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    judged(scene, text, place, if place == Place::Script { &ASKED_OF_SCRIPTS } else { &ASKED })
}

/// Rules for what code loses by the libraries that it calls.
const BY_LIBRARY: &[&str] =
    &["cloud.resource-delete", "database.rows-deleted-by-code", "database.drop-database"];

static ASKED_OF_LIBRARIES: RuleSet = RuleSet::of(&[BY_LIBRARY, LIVE, STORES]);

/// What code deserves that says itself that it works on what is live, and that would be refused if it were run now.
pub(super) fn by_library(scene: &Scene<'_>, program: &str, code: &str) -> Verdict {
    const END: &str = "END_OF_WRITTEN_CODE";
    let live = ["PROD_", "_PROD", "-prod", "prod-", "_prod", "prod_"].iter().any(|name| code.contains(name));
    if !live || code.len() > MAX_SCRIPT || code.contains(END) {
        return Verdict::Allow;
    }
    let text = format!("{program} - <<'{END}'\n{code}\n{END}\n");
    let action = Action::Shell { command: text, workdir: None };
    let call = ToolCall { tool: Tool::Bash, action, id: None };
    inner_rules(scene, (&call, scene.view.cwd), &ASKED_OF_LIBRARIES, |_, ids| {
        if ids.is_empty() { Verdict::Allow } else { Verdict::Modify }
    })
}

/// What a script deserves as a whole: also for what others lose by it.
pub(super) fn script(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    let asked = if place == Place::Script { &ASKED_OF_SCRIPTS } else { &ASKED };
    let said = judged(scene, text, place, asked);
    match dotfiles(text).filter(|_| said == Verdict::Block && place == Place::Script) {
        // Each file by its own name: what that is shows when the script is run.
        Some(named) => judged(scene, &named, place, asked).max(Verdict::Modify),
        None => said,
    }
}

/// A script that puts every file of a directory into the home directory under its own name, with one such name for all of them.
fn dotfiles(text: &str) -> Option<String> {
    const LISTS: &[&str] = &[" in *", " in .*", "find .", "ls -A", "git ls-files"];
    const HOMES: &[&str] = &["\"$HOME/.$", "$HOME/.$", "\"$HOME\"/.$", "~/.$", "\"${HOME}/.$"];
    let linked = ["ln -s", "cp "].iter().any(|way| text.contains(way));
    let home = HOMES.iter().find(|home| text.contains(**home))?;
    let lists = linked && LISTS.iter().any(|list| text.contains(list)) && !text.contains("rm ");
    lists.then(|| text.replace(home, &home.replace("/.$", "/.own-$")))
}

fn judged(scene: &Scene<'_>, text: &str, place: Place, asked: &RuleSet) -> Verdict {
    if text.len() > MAX_SCRIPT || text.trim().is_empty() {
        return Verdict::Allow;
    }
    let action = Action::Shell { command: text.to_owned(), workdir: None };
    let call = ToolCall { tool: Tool::Bash, action, id: None };
    inner_rules(scene, (&call, scene.view.cwd), asked, |inner, ids| {
        let any = |list: &[&str]| ids.iter().any(|id| list.contains(id));
        let machine = place != Place::Container;
        let mut worst = deletions(inner, place).max(on_others(inner, ids));
        if any(KEY_FILES) && any(UPLOADS) {
            worst = Verdict::Block;
        }
        if any(EVERYWHERE) || machine && any(RUINOUS) || any(METADATA) && takes_credentials(text) {
            worst = Verdict::Block;
        }
        // `kill 0` in a trap ends the script's own children.
        let kills = any(KILLS) && ["-1", "pkill", "killall"].iter().any(|word| text.contains(word));
        let rooted = any(ACCOUNTS) && ["-u 0", "-ou 0", "--uid 0"].iter().any(|word| text.contains(word));
        let shells = ["/bin/bash", "/bin/sh", "/bin/dash", "/bin/zsh", "python", "/bin/find", "vim"];
        let rooting = any(SETUID) && shells.iter().any(|shell| text.contains(shell));
        if machine && (kills || rooted || rooting || plants(text)) {
            worst = Verdict::Block;
        }
        if machine && any(SUSPECT) || mines(text) {
            worst = worst.max(if place == Place::Hook { Verdict::Block } else { Verdict::Modify });
        }
        if any(FETCHED) {
            worst = worst.max(fetched(scene, text, place));
        }
        // What a person's own rules forbid is not to be hidden in a file.
        let own = |id: &&str| {
            let rules = &scene.view.policy.custom_rules;
            rules.iter().any(|rule| rule.id == *id && rule.verdict == Verdict::Block)
        };
        if ids.iter().any(own) {
            worst = worst.max(if place == Place::Hook { Verdict::Block } else { Verdict::Modify });
        }
        worst
    })
}

/// What a command deserves that something runs by itself which seems to do something else, where it is refused to whoever asks for it.
pub(super) fn unasked(scene: &Scene<'_>, text: &str) -> Verdict {
    if refused(scene, text) { Verdict::Modify } else { Verdict::Allow }
}

/// Whether the command would be blocked if it were run now.
pub(super) fn refused(scene: &Scene<'_>, text: &str) -> bool {
    if text.len() > MAX_SCRIPT || text.trim().is_empty() {
        return false;
    }
    let action = Action::Shell { command: text.to_owned(), workdir: None };
    let call = ToolCall { tool: Tool::Bash, action, id: None };
    inner_verdict(scene, &call, scene.view.cwd) == Verdict::Block
}

/// What a script deserves that destroys what others live by, if it says so itself.
fn on_others(inner: &Scene<'_>, ids: &[&str]) -> Verdict {
    let any = |list: &[&str]| ids.iter().any(|id| list.contains(id));
    let named = || any(LIVE_BY_NAME) && inner.invocations().iter().any(standing::names_live);
    let bucket = || {
        let is_whole = |inv: &Invocation| inv.args.iter().any(|arg| arg.known() == Some("rb"));
        any(STORES) && inner.invocations().iter().any(is_whole)
    };
    if any(LIVE) || bucket() || named() { Verdict::Modify } else { Verdict::Allow }
}

/// The deletions in a script: of places that no script may delete, and of those that few do.
fn deletions(inner: &Scene<'_>, place: Place) -> Verdict {
    let home = inner.view.facts.places.home.as_deref();
    let judged = inner.effects().filter(|(effect, _)| effect.kind == EffectKind::FileDeletion).map(
        |(effect, classes)| {
            let (path, recursive) = match &effect.target {
                Target::Path { path, recursive, .. } => (path.as_str(), *recursive),
                Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => {
                    return Verdict::Allow;
                }
            };
            if !recursive {
                return Verdict::Allow;
            }
            if place == Place::Container {
                return if classes.has(Class::Root) { Verdict::Block } else { Verdict::Allow };
            }
            place_of(path, classes.any(&[Class::Root, Class::Home, Class::Users]), home)
        },
    );
    let own_secret = inner.effects().any(|(effect, _)| {
        effect.kind == EffectKind::FileDeletion
            && place != Place::Container
            && classify(&effect.target, EffectKind::FileRead, &inner.view).has(Class::Secret)
    });
    judged.max().unwrap_or_default().max(if own_secret { Verdict::Block } else { Verdict::Allow })
}

/// What deleting a whole directory deserves.
pub(super) fn place_of(path: &str, whole: bool, home: Option<&str>) -> Verdict {
    let plain = path.trim_end_matches(['/', '*', '.']);
    if whole || path.trim_matches('/').is_empty() || KEPT_PLACES.contains(&plain) || inside(plain, "/boot") {
        return Verdict::Block;
    }
    if DATA_DIRS.iter().any(|dir| inside(plain, dir)) {
        return Verdict::Modify;
    }
    let below = home.and_then(|home| plain.strip_prefix(home)).map(|rest| rest.trim_start_matches('/'));
    match below {
        Some(
            "Documents" | "Desktop" | "Pictures" | "Downloads" | ".ssh" | ".gnupg" | ".aws" | ".kube"
            | ".config" | ".local",
        ) => Verdict::Block,
        Some(_) | None => Verdict::Allow,
    }
}

/// Hosts of code that is fetched and run.
fn fetched(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    let mut worst = Verdict::Allow;
    let mut named = false;
    for (bare, rest) in addresses(text) {
        named = true;
        let host = host_of(rest);
        if host.contains(['$', '{', '<', '…']) || host.is_empty() {
            continue;
        }
        let known = is_usual(&host, scene.view.policy)
            || INSTALLERS.iter().chain(lists::DISTRIBUTORS).any(|name| {
                let name = name.trim_start_matches("*.");
                host == name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.'))
            });
        let address = host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if !known || address && !host.starts_with("127.") {
            let sure = bare || address || place == Place::Hook;
            worst = worst.max(if sure { Verdict::Block } else { Verdict::Modify });
        }
    }
    if named { worst } else { Verdict::Modify }
}

/// What is fetched in a text, from the host on, and whether that is done in the open: by `http://`, or by a name without a scheme.
fn addresses(text: &str) -> Vec<(bool, &str)> {
    let until =
        |rest: &'_ str| rest.find([' ', '"', '\'', '|', ')', ';', '`', '\\', '<', '>']).unwrap_or(rest.len());
    let mut out = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices("://") {
            let rest = line.get(at + 3..).unwrap_or_default();
            let bare = line.get(..at).unwrap_or_default().ends_with("http");
            out.push((bare, rest.get(..until(rest)).unwrap_or_default()));
        }
        for program in ["curl ", "wget "] {
            for (at, _) in line.match_indices(program).filter(|_| !line.contains("://")) {
                let rest = line.get(at + program.len()..).unwrap_or_default();
                let words =
                    rest.split(['|', ';', ')', '&', '`']).next().unwrap_or_default().split_whitespace();
                out.extend(words.filter(|word| names_host(word)).map(|word| (true, word)));
            }
        }
    }
    out
}

/// A word that is a host with a name of its own, and perhaps a path behind it, but no file: `x.example/i`, `10.0.0.1`.
fn names_host(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    let (host, path) = word.split_once('/').unwrap_or((word, ""));
    let host = host.split(':').next().unwrap_or_default();
    let end = host.rsplit('.').next().unwrap_or_default();
    let file =
        path.is_empty() && ["sh", "txt", "json", "gz", "tgz", "zip", "log", "html", "py"].contains(&end);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    host.contains('.')
        && !host.starts_with(['-', '.', '@'])
        && host.chars().all(plain)
        && !file
        && !end.is_empty()
}

/// A path of the metadata service under which it keeps credentials.
pub(super) fn takes_credentials(text: &str) -> bool {
    [
        "security-credentials",
        "service-accounts",
        "oauth2/token",
        "user-data",
        "169.254.170.2",
        "identity/oauth2",
    ]
    .iter()
    .any(|part| text.contains(part))
}

/// Code from the network put into a file that every shell runs, or into a table of jobs.
fn plants(text: &str) -> bool {
    let startup = [".bashrc", ".zshrc", ".profile", ".bash_profile", ".zshenv", "/etc/profile", "/etc/cron"];
    text.lines().any(|line| {
        let fetches = line.contains("curl ") || line.contains("wget ");
        let runs = ["|sh", "| sh", "|bash", "| bash"].iter().any(|pipe| line.contains(pipe));
        let kept = line.contains(">>") && startup.iter().any(|file| line.contains(file));
        fetches && runs && (kept || line.contains("crontab -"))
    })
}

/// Signs of a program that mines.
fn mines(text: &str) -> bool {
    ["stratum+tcp://", "stratum+ssl://", "xmrig", "minerd -", "cpuminer", "--donate-level", "cryptonight"]
        .iter()
        .any(|word| text.contains(word))
}

/// A host that is not among the usual ones, anywhere in a text.
pub(super) fn foreign_host(scene: &Scene<'_>, text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let end = rest.find([' ', '"', '\'', ')', '\n', ',', '`', '|']).unwrap_or(rest.len());
        let host = host_of(rest.get(..end).unwrap_or_default());
        host.contains('.')
            && !host.contains(['$', '{'])
            && !is_usual(&host, scene.view.policy)
            && !lists::METADATA_HOSTS.contains(&host.as_str())
    })
}
