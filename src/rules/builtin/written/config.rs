//! Settings that are written: what they make a program run, trust or open.

use super::super::packages::is_usual;
use super::super::packages::strangers::is_mirror;
use super::super::privilege::containers::is_monitor;
use super::super::scripts;
use super::judge::{self, Place};
use crate::domain::{Verdict, last_name};
use crate::rules::matcher::{Scene, host_of};
use crate::rules::trail::is_strange;

words!("builtin/written/config");

/// What a file of settings deserves, by its name and its lines.
pub(super) fn verdict(scene: &Scene<'_>, path: &str, text: &str) -> Verdict {
    let lower = path.to_ascii_lowercase();
    let name = last_name(&lower);
    match name {
        ".npmrc" | ".yarnrc" | ".yarnrc.yml" | "pip.conf" | "pip.ini" | ".gemrc" | ".condarc"
        | "bunfig.toml" | ".pypirc" | "uv.toml" => registries(scene, text),
        _ if name.starts_with("requirements") && name.ends_with(".txt") => {
            registries(scene, &text.replace(' ', "="))
        }
        ".gitmodules" if text.contains("ext::") => Verdict::Block,
        ".psqlrc" | ".sqliterc" | ".gdbinit" | ".lldbinit" | ".irbrc" | ".pryrc" => startup(scene, text),
        ".aider.conf.yml" | ".aider.conf.yaml" => aider(scene, text),
        ".rspec" if text.split_whitespace().any(planted) => Verdict::Modify,
        "settings.json" | "config.json" | "config.yaml" | "crush.json" | ".crush.json"
            if is_clients(&lower) =>
        {
            client(scene, text)
        }
        ".mcp.json" | "mcp.json" | "mcp_config.json" | "claude_desktop_config.json" => servers(scene, text),
        "config.toml" | "config" if lower.contains("/.cargo/") => cargo(text),
        "settings.json"
            if lower.contains("/.vscode/")
                || lower.contains("/.cursor/")
                || lower.contains("/code/user/") =>
        {
            editor(scene, text)
        }
        _ if name.ends_with(".code-workspace") => editor(scene, text),
        "config" if lower.contains("/.ssh/") => connections(scene, text),
        "config" | "credentials" if lower.contains("/.aws/") => credentials(scene, text),
        _ if lower.contains("/etc/apt/sources.list") || lower.contains("/etc/yum.repos.d/") => {
            untrusted(scene, text)
        }
        _ if pulls_strangers(&lower, text) => Verdict::Modify,
        "devcontainer.json" => container(text),
        _ if is_compose(name) => compose(text),
        _ if (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"))
            && text.contains("apiVersion") =>
        {
            manifest(text)
        }
        _ if [".tf", ".tf.json", ".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end)) => {
            policy(text)
        }
        _ => Verdict::Allow,
    }
}

pub(super) fn is_compose(name: &str) -> bool {
    (name.contains("compose") || name.starts_with("docker-stack"))
        && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

fn registries(scene: &Scene<'_>, text: &str) -> Verdict {
    let foreign = |value: &str| {
        let host = host_of(value);
        value.contains("://")
            && host.contains('.')
            && !host.contains(['$', '{'])
            && !is_usual(&host, scene.view.policy)
    };
    let line = |line: &str| {
        let line = line.trim().trim_start_matches(['-', ' ']);
        let (key, value) = line.split_once(['=', ':']).unwrap_or(("sources", line));
        let key = key.trim().trim_matches('"').to_ascii_lowercase();
        // A scope of one's own company comes from its own registry.
        let scoped = key.starts_with('@') || key.starts_with("//");
        let runs = matches!(
            key.as_str(),
            "script-shell" | "shell" | "node-options" | "init-module" | "git" | "yarnpath"
        ) && (value.contains("/tmp") || value.contains("/dev/shm") || value.contains("/var/tmp"));
        runs || !scoped
            && REGISTRIES.contains(&key.as_str())
            && (foreign(value.trim()) || foreign(line.trim_start_matches("- ")) && line.starts_with("http"))
    };
    let loose = text.lines().any(|one| {
        let one = one.replace(' ', "").to_ascii_lowercase();
        one.starts_with("strict-ssl=false") || one.starts_with("enablestrictssl:false")
    });
    // Packages from a stranger, over a line that anybody can change.
    let open = || text.lines().any(|one| line(one) && one.contains("http://"));
    match text.lines().any(line) {
        true if loose && open() => Verdict::Block,
        found if found || loose => Verdict::Modify,
        _ => Verdict::Allow,
    }
}

/// What a client of databases, debuggers and the like runs whenever it starts.
fn startup(scene: &Scene<'_>, text: &str) -> Verdict {
    let line = |line: &str| {
        let line = line.trim();
        let shell = line
            .strip_prefix("\\!")
            .or_else(|| line.strip_prefix(".shell "))
            .or_else(|| line.strip_prefix("shell "))
            .or_else(|| line.strip_prefix('!'));
        shell.map_or(Verdict::Allow, |command| {
            judge::command(scene, command, Place::Hook).max(Verdict::Modify)
        })
    };
    text.lines().take(1024).map(line).max().unwrap_or_default()
}

/// Servers that a client is given.
fn servers(scene: &Scene<'_>, text: &str) -> Verdict {
    let gives = text.contains("\"command\"") || text.contains("\"url\"") || text.contains("\"args\"");
    let strings = scripts::strings(text);
    let runs = strings
        .iter()
        .filter(|word| word.contains(' '))
        .take(64)
        .map(|word| judge::command(scene, word, Place::Hook));
    let worst = runs.max().unwrap_or_default();
    // What lies where anybody may put something is no server that somebody installed.
    let hidden = strings.windows(2).any(|pair| match pair {
        [key, value] => key == "command" && planted(value),
        _ => false,
    });
    match gives {
        _ if hidden => Verdict::Block,
        true => worst.max(Verdict::Modify),
        false => worst,
    }
}

/// Settings of other clients of models than those that are guarded here.
fn is_clients(lower: &str) -> bool {
    [
        "/.continue/",
        "/.gemini/",
        "/.zed/",
        "/.roo/",
        "/.kilocode/",
        "/.qwen/",
        "/.goose/",
        "/config/goose/",
        "crush.json",
    ]
    .iter()
    .any(|part| lower.contains(part))
}

/// What such a client is told to run, or to run without asking.
fn client(scene: &Scene<'_>, text: &str) -> Verdict {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let loose = [
        "\"autoApprove\":true",
        "\"autoAccept\":true",
        "\"always_allow_tool_actions\":true",
        "\"skip_requests\":true",
        "\"yolo\":true",
        "GOOSE_MODE:auto",
    ]
    .iter()
    .any(|setting| squeezed.contains(setting));
    let strings = scripts::strings(text);
    let runs = strings.iter().filter(|word| word.contains(' ')).take(64);
    let runs = runs.map(|word| judge::command(scene, word, Place::Hook)).max().unwrap_or_default();
    let program = strings.iter().any(|value| planted(value));
    runs.max(if program || loose { Verdict::Modify } else { Verdict::Allow })
}

/// The commands that aider runs after each of its edits, and whether it asks before anything.
fn aider(scene: &Scene<'_>, text: &str) -> Verdict {
    let line = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim().trim_matches(['"', '\'']);
        match key.trim().trim_start_matches('-').trim() {
            "lint-cmd" | "test-cmd" | "notifications-command" => {
                Some(judge::command(scene, value, Place::Hook))
            }
            "yes-always" if value == "true" => Some(Verdict::Modify),
            _ => None,
        }
    };
    text.lines().take(1024).filter_map(line).max().unwrap_or_default()
}

fn planted(value: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/"].iter().any(|dir| value.starts_with(dir))
}

fn cargo(text: &str) -> Verdict {
    let line = |line: &str| {
        let Some((key, value)) = line.split_once('=') else { return false };
        let key = key.trim().trim_matches('"');
        let value = value.trim().trim_start_matches('[').trim().trim_matches(['"', '\'']);
        let runs = [
            "rustc-wrapper",
            "rustc-workspace-wrapper",
            "linker",
            "runner",
            "rustc",
            "rustdoc",
            "credential-process",
            "token",
        ]
        .contains(&key);
        let registry = matches!(key, "index" | "registry" | "replace-with") && value.starts_with("http://");
        runs && (planted(value)
            || value.starts_with("sh ")
            || value.starts_with("bash ")
            || value.contains("curl "))
            || registry
    };
    let planted = text.lines().any(|line| {
        let value = line.split_once('=').map_or("", |(_, value)| value.trim().trim_matches(['"', '\'']));
        planted(value) && value.contains("/.")
    });
    match text.lines().any(line) {
        true if planted => Verdict::Block,
        true => Verdict::Modify,
        false => Verdict::Allow,
    }
}

/// Settings of an editor that name programs, or switch its questions off.
fn editor(scene: &Scene<'_>, text: &str) -> Verdict {
    let strings = scripts::strings(text);
    let program = strings.iter().any(|value| planted(value));
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let loose = [
        "\"chat.tools.autoApprove\":true",
        "\"chat.tools.global.autoApprove\":true",
        "\"task.allowAutomaticTasks\":\"on\"",
        "\"security.workspace.trust.enabled\":false",
        "\"cursor.yolo\":true",
    ]
    .iter()
    .any(|setting| squeezed.contains(setting));
    let runs = strings
        .iter()
        .filter(|word| word.contains(' '))
        .take(64)
        .map(|word| judge::command(scene, word, Place::Hook))
        .max()
        .unwrap_or_default();
    runs.max(if program || loose { Verdict::Modify } else { Verdict::Allow })
}

fn container(text: &str) -> Verdict {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let root = squeezed.contains("\"/:/") || squeezed.contains("source=/,");
    let open = squeezed.contains("\"--privileged\"")
        || squeezed.contains("\"privileged\":true")
        || squeezed.contains("\"--pid=host\"");
    match (root, open) {
        (true, _) => Verdict::Block,
        (false, true) => Verdict::Modify,
        (false, false) => Verdict::Allow,
    }
}

/// Where a client of a cloud has its credentials from: a program that it starts.
fn credentials(scene: &Scene<'_>, text: &str) -> Verdict {
    let line = |line: &str| {
        let (key, command) = line.split_once('=')?;
        let command = command.trim();
        (key.trim() == "credential_process").then(|| {
            if planted(command) { Verdict::Block } else { judge::command(scene, command, Place::Hook) }
        })
    };
    text.lines().take(4096).filter_map(line).max().unwrap_or_default()
}

/// Sources of software that are trusted without a signature, over a connection that anybody can change.
fn untrusted(scene: &Scene<'_>, text: &str) -> Verdict {
    let foreign = |line: &str| {
        let address = line.split_whitespace().find(|word| word.starts_with("http://"));
        let host = address.map(host_of).unwrap_or_default();
        let official = || host.split('.').next().is_some_and(|label| SOURCES.contains(&label));
        line.trim_start().starts_with("deb")
            && !line.contains("signed-by")
            && host.contains('.')
            && is_strange(&host, scene.view.policy)
            && !is_mirror(&host)
            && !official()
    };
    if text.lines().take(4096).any(foreign) {
        return Verdict::Block;
    }
    let tight: String = text.chars().filter(|c| *c != ' ').collect::<String>().to_ascii_lowercase();
    let unsigned = ["trusted=yes", "trusted:yes", "gpgcheck=0", "allow-insecure=yes"];
    let open =
        tight.contains("http://") && !tight.contains("http://localhost") && !tight.contains("http://127.");
    if open && unsigned.iter().any(|word| tight.contains(word)) { Verdict::Block } else { Verdict::Allow }
}

/// A pipeline with the repository's own rights that runs what a stranger proposes.
fn pulls_strangers(lower: &str, text: &str) -> bool {
    lower.contains("/.github/workflows/")
        && text.contains("pull_request_target")
        && text.contains("github.event.pull_request.head")
        && text.contains("actions/checkout")
        && text.contains("run:")
}

/// Commands that ssh runs on this machine for a connection.
fn connections(scene: &Scene<'_>, text: &str) -> Verdict {
    const KEYS: &[&str] = &["proxycommand", "localcommand", "knownhostscommand"];
    let line = |line: &str| {
        let (key, command) = line.trim().split_once([' ', '=', '\t'])?;
        let run = KEYS.iter().any(|name| key.eq_ignore_ascii_case(name));
        run.then(|| judge::command(scene, command.trim(), Place::Hook))
    };
    text.lines().take(4096).filter_map(line).max().unwrap_or_default()
}

fn compose(text: &str) -> Verdict {
    if ["[\"/:/", "['/:/", "[/:/", ", \"/:/", ", '/:/"].iter().any(|mount| text.contains(mount)) {
        return Verdict::Block;
    }
    let lines: Vec<&str> = text.lines().collect();
    let said = lines.iter().enumerate().map(|(at, line)| {
        let line = line.trim().trim_start_matches(['-', ' ']).trim_matches(['"', '\'']);
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        // What measures the machine reads its files and its processes, and changes none.
        let measured = || is_of_monitor(&lines, at);
        let read_only = line.ends_with(":ro") || line.contains(":ro,");
        if line.starts_with("/:/") && !(read_only && measured())
            || line == "source: /"
            || line.starts_with("/etc:/")
            || line.starts_with("/root:/")
        {
            return Verdict::Block;
        }
        let open = matches!(
            line,
            "privileged: true"
                | "pid: host"
                | "pid: \"host\""
                | "ALL"
                | "SYS_ADMIN"
                | "userns_mode: host"
                | "cap_add: [ALL]"
                | "cap_add: [SYS_ADMIN]"
        );
        let open = open && !(line.starts_with("pid:") && measured());
        if open { Verdict::Modify } else { Verdict::Allow }
    });
    said.max().unwrap_or_default()
}

/// Whether a line of a compose file belongs to a service whose image measures the machine, and which starts no other program in it.
fn is_of_monitor(lines: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (Some((before, [line, behind @ ..])), true) = (lines.split_at_checked(at), at > 0) else {
        return false;
    };
    let is_item = |line: &str| line.trim_start().starts_with('-');
    // A list stands below its key.
    let key = || before.iter().rev().find(|key| !is_item(key) && indent(key) <= indent(line));
    let depth = indent(if is_item(line) { key().unwrap_or(line) } else { line });
    let inside = |line: &&&str| line.trim().is_empty() || indent(line) >= depth;
    let service = before.iter().rev().take_while(inside).chain(behind.iter().take_while(inside));
    let mut image = None;
    for key in service.filter(|line| indent(line) == depth).map(|line| line.trim()) {
        if key.starts_with("entrypoint") {
            return false;
        }
        image = image.or_else(|| key.strip_prefix("image:"));
    }
    depth > 0 && image.is_some_and(|image| is_monitor(image.trim().trim_matches(['"', '\''])))
}

/// A policy of a cloud that lets somebody do everything to everything.
fn policy(text: &str) -> Verdict {
    let tight: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '[' | ']'))
        .take(256 * 1024)
        .collect();
    let tight = tight.to_ascii_lowercase();
    let all = |key: &str| {
        ["=", ":", "s=", "s:"].iter().any(|sign| {
            ["*,", "*}", "*\u{0}"].iter().any(|value| tight.contains(&format!("{key}{sign}{value}")))
        })
    };
    let allows = ["effect:allow", "effect=allow"].iter().any(|word| tight.contains(word));
    if allows && all("action") && all("resource") { Verdict::Modify } else { Verdict::Allow }
}

/// A manifest of a cluster.
pub(super) fn manifest(text: &str) -> Verdict {
    let squeezed: String = text.chars().filter(|c| !matches!(c, ' ' | '"' | '\'')).collect();
    let mut lines = squeezed.lines().peekable();
    let mut worst = Verdict::Allow;
    while let Some(line) = lines.next() {
        let path = if line.ends_with("hostPath:") {
            lines.peek().and_then(|next| next.strip_prefix("path:"))
        } else {
            line.split("hostPath:{path:").nth(1).and_then(|rest| rest.split(['}', ',']).next())
        };
        let said = match path {
            Some(
                "/"
                | "/etc"
                | "/root"
                | "/var/run/docker.sock"
                | "/run/containerd/containerd.sock"
                | "/var/lib/kubelet"
                | "/home",
            ) => Verdict::Block,
            _ => Verdict::Allow,
        };
        let open =
            ["privileged:true", "hostPID:true", "hostIPC:true", "-SYS_ADMIN", "add:[SYS_ADMIN]", "add:[ALL]"]
                .iter()
                .any(|word| line.contains(word));
        let admin = line.contains("name:cluster-admin") || line == "-system:masters";
        let anybody =
            ["name:system:anonymous", "name:system:unauthenticated"].iter().any(|name| line.contains(name));
        if anybody && squeezed.contains("cluster-admin") {
            return Verdict::Block;
        }
        worst = worst.max(said).max(if open || admin { Verdict::Modify } else { Verdict::Allow });
    }
    worst
}
