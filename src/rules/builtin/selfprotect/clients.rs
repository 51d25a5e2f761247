//! Clients that are started or set up so that nobody stands in front of the agent.

use super::super::lists;
use crate::domain::client::{HOME_SETTINGS, HOME_TREES, PACKAGES};
use crate::domain::{Client, EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, below_another_home, flag_value, runs};
use crate::shell::Arg;

words!("builtin/selfprotect/clients");
/// Settings of a client that say nothing of hooks.
const PLAIN_KEYS: &[&str] =
    &["theme", "model", "verbose", "editorMode", "autoUpdates", "preferredNotifChannel", "outputStyle"];

/// The invocations of a client, by its own name or through a package runner.
fn clients<'s, 'a>(scene: &'s Scene<'a>) -> impl Iterator<Item = &'a Invocation> + 's {
    scene.invocations().iter().filter(|inv| {
        runs(inv, lists::CLIENTS)
            || runs(inv, &["claude-code", "opencode-ai"])
            || (runs(inv, lists::CLIENT_RUNNERS)
                && inv.args.iter().any(|arg| {
                    let text = arg.text();
                    text.contains("claude-code") || PACKAGES.iter().any(|name| text.contains(name))
                }))
    })
}

pub(super) fn unguarded<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    let emptied =
        ["env -i", "env - ", "exec -c", "--ignore-environment"].iter().any(|words| scene.says(words));
    let found = clients(scene).filter(|inv| !only_installs(inv)).find(|inv| {
        let by_flag = lists::CLIENT_OFF.iter().any(|off| has_option(inv, off));
        let unknown_flag =
            inv.args.iter().any(|arg| arg.has_unknown() && arg.prefix().is_empty() && inv.flags.is_empty());
        // Assignments in front of a command are gone once it is surveyed; the text still has them.
        by_flag
            || is_off(inv)
            || (emptied && inv.wrappers.iter().any(|name| matches!(name.as_str(), "env" | "exec")))
            // Another user's client reads another user's settings.
            || inv.privileged
            || inv.variables.iter().any(|name| leads(name))
            || (!unknown_flag && variables().any(|name| assigns(line, name)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether the client itself says that it asks no hook when it is started so.
fn is_off(inv: &Invocation) -> bool {
    let args: Vec<Option<&str>> = inv.args.iter().map(Arg::known).collect();
    let off = |client: Client, args: &[Option<&str>]| (client.about().off)(args);
    if let Some(client) = Client::of_program(&inv.program) {
        return off(client, &args);
    }
    // Through a package runner: what stands behind the package is the client's.
    let package = |arg: &Option<&str>| {
        let word = arg.filter(|word| PACKAGES.iter().any(|name| word.starts_with(name)))?;
        Client::of_program(last_name(word).split('@').next()?)
    };
    let found = args.iter().enumerate().find_map(|(at, arg)| Some((package(arg)?, at + 1)));
    found.is_some_and(|(client, behind)| off(client, args.get(behind..).unwrap_or_default()))
}

/// Whether a client is installed, brought up to date or asked for its version, and not started.
fn only_installs(inv: &Invocation) -> bool {
    let mut words = inv.args.iter().filter_map(Arg::known);
    if !runs(inv, lists::CLIENTS) {
        return words.any(|word| matches!(word, "i" | "install" | "add" | "update" | "up" | "upgrade"));
    }
    matches!(words.next(), Some("--version" | "-v" | "--help" | "-h" | "update" | "upgrade" | "install"))
}

/// The variables that lead a client or lazaret.
fn variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().copied().chain(Client::ALL.into_iter().filter_map(|client| client.about().variable))
}

/// Whether a variable leads a client or lazaret.
fn leads(name: &str) -> bool {
    variables().any(|variable| {
        let bare = variable.trim_end_matches('=');
        let open = bare.ends_with('_') || bare.starts_with("OPENCODE");
        name == bare || open && name.starts_with(bare)
    })
}

/// Whether a word of the line sets, or `env -u` and `unset` take away, a variable whose name begins so.
fn assigns(line: &str, name: &str) -> bool {
    let name = name.trim_end_matches('=');
    line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | '"' | '\'')).any(|word| {
        word.starts_with(name)
            && (word.contains('=')
                || line.contains("unset ")
                || line.contains("env -u")
                || line.contains("env -i"))
            && word
                .split('=')
                .next()
                .is_some_and(|var| var == name || name.ends_with('_') || name.starts_with("OPENCODE"))
    })
}

/// The client's own commands that change its settings or take the plugin away.
pub(super) fn set_up<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = clients(scene).find(|inv| {
        let words: Vec<&str> =
            inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).collect();
        words.windows(2).any(|pair| match pair {
            ["un" | "uninstall" | "remove" | "rm" | "r" | "unlink" | "delete", package] => {
                !runs(inv, lists::CLIENTS) && PACKAGES.iter().any(|name| package.starts_with(name))
            }
            ["plugin" | "plugins", "disable" | "uninstall" | "remove" | "rm"] => {
                let unknown = inv.args.iter().any(Arg::has_unknown);
                unknown || words.iter().any(|word| word.contains("lazaret"))
            }
            ["config", "set" | "add" | "remove" | "rm" | "unset"] => {
                let key = words.iter().skip_while(|word| **word != "config").nth(2);
                key.is_none_or(|key| !PLAIN_KEYS.contains(key))
            }
            _ => false,
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A client installed in a version that is named.
pub(super) fn replaced<'a>(scene: &Scene<'a>) -> Found<'a> {
    let newest = |version: &str| matches!(version, "latest" | "stable" | "next" | "");
    let found = clients(scene).find(|inv| {
        let words: Vec<&str> =
            inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).collect();
        if runs(inv, lists::CLIENTS) {
            return matches!(words.as_slice(), ["install" | "upgrade", version, ..] if !newest(version));
        }
        let installs = words.iter().any(|word| matches!(*word, "i" | "install" | "add" | "update" | "up"));
        installs
            && words.iter().any(|word| {
                PACKAGES
                    .iter()
                    .filter_map(|name| word.strip_prefix(name))
                    .any(|rest| rest.strip_prefix('@').is_some_and(|version| !newest(version)))
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Options that bring servers, plugins, or agents with hooks of their own to one session.
const BROUGHT: &[&str] = &["--mcp-config", "--plugin-dir", "--plugin-url"];

/// Whether the agents of the session are given hooks or servers, or come out of a file that may give them some.
fn agents_with_code(inv: &Invocation) -> bool {
    let mut args = inv.args.iter();
    let Some(option) = args.find(|arg| arg.prefix().split('=').next() == Some("--agents")) else {
        return false;
    };
    let text = match option.prefix().split_once('=') {
        Some((_, attached)) => attached.to_owned(),
        None => args.next().map(Arg::text).unwrap_or_default().into_owned(),
    };
    !text.trim_start().starts_with('{') || text.contains("hooks") || text.contains("mcpServers")
}

/// Whether an option stands there, by itself or with its value behind `=`.
fn has_option(inv: &Invocation, option: &str) -> bool {
    let is =
        |arg: &str| arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    inv.args.iter().filter_map(Arg::known).any(is)
}

/// A server, a plugin or a source of plugins added to a client.
pub(super) fn extended<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = clients(scene).find(|inv| {
        let words: Vec<&str> =
            inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).take(8).collect();
        // Without a source it comes from one that a person has added before.
        let sourced = words.iter().any(|word| word.contains(['@', '/', ':']));
        words.windows(2).any(|pair| match pair {
            ["plugin" | "plugins", "install" | "i" | "add"] => sourced,
            ["mcp", "add" | "add-json" | "add-from-claude-desktop"] | ["marketplace", "add"] => true,
            _ => false,
        }) || BROUGHT.iter().any(|option| has_option(inv, option))
            || agents_with_code(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

pub(super) fn servers_installed(inv: &Invocation) -> bool {
    let words: Vec<&str> = std::iter::once(inv.program.as_str())
        .chain(inv.args.iter().filter_map(Arg::known))
        .filter(|word| !word.starts_with('-') && !matches!(*word, "exec" | "dlx" | "x"))
        .take(8)
        .collect();
    let runner = !matches!(
        inv.program.as_str(),
        "install-mcp" | "mcp-add" | "add-mcp" | "smithery" | "degit" | "tiged"
    );
    let tool = words.get(usize::from(runner)).copied().unwrap_or_default();
    let name = tool.get(1..).and_then(|rest| rest.find('@')).and_then(|at| tool.get(..=at)).unwrap_or(tool);
    match name {
        "install-mcp" | "mcp-add" | "add-mcp" => words.len() > 1,
        "@smithery/cli" | "smithery" => words.contains(&"install"),
        "claude-code-templates" => ["--hook", "--mcp", "--setting", "--agent", "--command"]
            .iter()
            .any(|kind| inv.args.iter().any(|arg| arg.prefix().starts_with(kind))),
        "degit" | "tiged" => words.last().is_some_and(|to| *to == ".claude" || to.ends_with("/.claude")),
        _ => false,
    }
}

pub(super) fn agent_unasked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words = AGENTS.iter().find(|(name, _)| *name == inv.program).map_or(&[][..], |(_, words)| words);
    let set = || inv.program == "goose" && scene.command_line().contains("GOOSE_MODE=auto");
    inv.args.iter().filter_map(Arg::known).any(|arg| {
        let value = arg.split_once('=').map_or(arg, |(_, value)| value);
        words.contains(&arg) || words.contains(&value)
    }) || set()
}

pub(super) fn unasked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = clients(scene).find(|inv| {
        let unasked = |word: &str| {
            // Elsewhere than in OpenCode it is a word like others.
            lists::CLIENT_UNASKED.contains(&word) && (word != "--auto" || inv.program.starts_with("opencode"))
        };
        inv.args.iter().filter_map(Arg::known).any(unasked)
            || flag_value(inv, &["--permission-mode"])
                .and_then(Arg::known)
                .is_some_and(|mode| matches!(mode, "bypassPermissions" | "acceptEdits"))
            || allows_any_command(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether the client is told to run any command without a question.
fn allows_any_command(inv: &Invocation) -> bool {
    const NAMES: &[&str] = &["--allowedTools", "--allowed-tools", "--allowedtools"];
    let any = |text: &str| {
        text.split([',', ' ']).any(|tool| matches!(tool, "Bash" | "Bash(*)" | "Bash(:*)" | "Bash(*:*)" | "*"))
    };
    let mut listed = false;
    inv.args.iter().filter_map(Arg::known).any(|arg| {
        let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
        if arg.starts_with('-') {
            listed = NAMES.contains(&name);
        }
        listed && any(if arg.starts_with('-') { value } else { arg })
    })
}

/// The settings of a client in a home directory, whoever's that is.
pub(super) fn of_another<'a>(scene: &Scene<'a>) -> Found<'a> {
    let in_home = |path: &str| {
        below_another_home(path).is_some_and(|rest| {
            HOME_SETTINGS.contains(&rest) || HOME_TREES.iter().any(|tree| rest.starts_with(tree))
        })
    };
    let found = scene.effects().find(|(effect, _)| {
        let changes = matches!(
            effect.kind,
            EffectKind::FileCreation | EffectKind::FileModification | EffectKind::FileDeletion
        );
        changes && matches!(&effect.target, Target::Path { path, .. } if in_home(path))
    });
    found.map_or(Found::No, |(effect, _)| Found::yes(effect.target.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments() {
        assert!(assigns("X=1 LAZARET_HOME=/x claude", "LAZARET_"));
        assert!(!assigns("echo LAZARET_HOME", "LAZARET_"));
    }
}
