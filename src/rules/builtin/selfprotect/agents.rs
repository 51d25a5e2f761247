//! The clients: started without their guard, extended, told what to trust.

use super::{ASK, CHANGES, WRITES, clients, written};
use crate::domain::{Action, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{flagged, lists, predicate, sub};
use crate::rules::matcher::{
    At, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, code_of, runs_code,
};

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "selfprotect.client-unguarded",
        severity: Severity::Critical,
        reason: "starts a client with its hooks, plugins or settings off, or takes it away",
        instead: Some(Instead::Command("claude --version")),
        when: &[
            predicate(
                "client_started_without_hooks",
                Trigger::programs(lists::CLIENTS).or(Trigger::programs(lists::CLIENT_RUNNERS)),
                clients::unguarded,
            ),
            predicate(
                "client_set_up_without_hooks",
                Trigger::programs(lists::CLIENTS).or(Trigger::programs(lists::CLIENT_RUNNERS)),
                clients::set_up,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.client-replaced",
        verdict: Verdict::Modify,
        reason: "installs a version of a client that may know nothing of the guard's hooks",
        instead: Some(Instead::Advice("let the person choose the version, or install the latest")),
        when: &[predicate(
            "client_version_installed",
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(lists::CLIENT_RUNNERS)),
            clients::replaced,
        )],
        ..RULE
    },
    Rule {
        id: "selfprotect.client-extended",
        reason: "gives a client a server or plugin whose code the guard does not see",
        instead: Some(Instead::Advice("tell the person the command, so that they can add it themselves")),
        when: &[predicate(
            "client_given_a_server_or_plugin",
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(lists::CLIENT_RUNNERS)),
            clients::extended,
        )],
        ..RULE
    },
    Rule {
        id: "selfprotect.agent-unasked",
        reason: "starts another agent that asks nobody before it acts, and that the guard does not see",
        instead: Some(Instead::Advice("start it with its questions and its sandbox on")),
        when: &[predicate(
            "other_agent_started_unasked",
            Trigger::keys(clients::AGENTS),
            clients::agent_unasked,
        )],
        ..RULE
    },
    Rule {
        id: "selfprotect.agent-settings",
        reason: "changes or removes the settings of another agent: what it may do, what it runs, where it sends",
        instead: ASK,
        when: &[
            When::Effect(OnEffect { kinds: CHANGES, at: AGENT_SETTINGS, ..EFFECT }),
            predicate(
                "approvals_switched_off_in_settings",
                Trigger::kinds(WRITES).or(Trigger::TOOL),
                approvals_off,
            ),
            predicate("agent_settings_edited", Trigger::programs(written::EDITORS), |scene| {
                written::edited(scene, AGENT_SETTINGS)
            }),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.servers-added",
        verdict: Verdict::Modify,
        reason: "writes the list of servers that the client starts, whose code the guard does not see",
        instead: Some(Instead::Advice("tell the person the entry, so that they can add it themselves")),
        when: &[
            When::Effect(OnEffect {
                kinds: WRITES,
                at: &[At::Name(".mcp.json"), At::Name(".cursor/mcp.json"), At::Name(".vscode/mcp.json")],
                except: &["chmod"],
                ..EFFECT
            }),
            predicate("servers_written_by_code", Trigger::INTERPRETER, servers_by_code),
            When::Command(sub(&["codex", "gemini", "qwen"], &["mcp add"])),
            When::Command(flagged(&["code", "code-insiders", "cursor", "codium"], &[&["--add-mcp"]])),
            predicate(
                "server_brought_to_a_client",
                Trigger::programs(clients::INSTALLERS),
                clients::servers_installed,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.hooks-changed",
        verdict: Verdict::Modify,
        reason: "changes the project's hooks, which the client runs by itself in later calls",
        instead: Some(Instead::Advice("tell the person what the hook does before and after the change")),
        when: &[
            When::Effect(OnEffect {
                kinds: CHANGES,
                at: &[At::Name(".claude/hooks")],
                except: &["mkdir"],
                ..EFFECT
            }),
            predicate("hooks_written_by_code", Trigger::INTERPRETER, hooks_by_code),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.memory-written",
        verdict: Verdict::Modify,
        reason: "writes what every later session in every project is told to do",
        instead: Some(Instead::Advice(
            "tell the person the lines, or write them into the project's own file",
        )),
        when: &[When::Effect(OnEffect {
            kinds: WRITES,
            at: &[
                At::Home(".claude/CLAUDE.md"),
                At::Home(".claude/rules"),
                At::Home(".config/opencode/AGENTS.md"),
                At::Home(".cursor/rules"),
                At::Home("AGENTS.md"),
                At::Home(".agents"),
                At::Home(".claude/agents"),
                At::Home(".claude/commands"),
                At::Home(".claude/skills"),
                At::Home(".claude/output-styles"),
            ],
            except: &["chmod"],
            ..EFFECT
        })],
        ..RULE
    },
    Rule {
        id: "selfprotect.client-unasked",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "starts a client that asks nobody before it acts",
        instead: Some(Instead::Command("claude --version")),
        when: &[predicate(
            "client_started_without_permissions",
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(lists::CLIENT_RUNNERS)),
            clients::unasked,
        )],
        ..RULE
    },
];

words!("builtin/selfprotect/agents");

/// A setting by which an editor's agent asks nobody any more.
fn approvals_off<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SETTINGS: &[&str] = &[
        "chat.tools.autoApprove",
        "chat.tools.global.autoApprove",
        "github.copilot.chat.agent.autoApprove",
        "\"autoApprove\"",
        "alwaysAllow",
        "cursor.autorun",
        "yoloMode",
    ];
    let on = |text: &str| SETTINGS.iter().any(|word| text.contains(word)) && text.contains("true");
    let placed = |path: &str| {
        path.ends_with("/settings.json") || path.ends_with(".code-workspace") || path.ends_with("mcp.json")
    };
    match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            if placed(path) && on(content) { Found::yes(path) } else { Found::No }
        }
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => {
            let writes = scene
                .effects()
                .any(|(effect, _)| WRITES.contains(&effect.kind) && placed(effect.target.text()));
            let said = |inv: &&Invocation| inv.args.iter().any(|arg| on(&arg.text()));
            let files = &scene.view.survey.written;
            let given = || files.iter().find(|(path, text)| placed(path) && text.known().is_some_and(on));
            if let (true, Some((path, _))) = (writes, given()) {
                return Found::yes(path);
            }
            let found = if writes { scene.invocations().iter().find(said) } else { None };
            Found::from(found.map(|inv| inv.text.as_str()))
        }
    }
}

/// Code that names a list of servers and writes files.
fn servers_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    written_by_code(scene, &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".codex/config.toml"])
}

/// Code that names a hook of the project and writes files.
fn hooks_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    written_by_code(scene, &[".claude/hooks/"])
}

/// Code that names one of these places and writes files.
fn written_by_code<'a>(scene: &Scene<'a>, places: &[&str]) -> Found<'a> {
    const WRITES: &[&str] =
        &["writeFile", "write_text(", ".write(", "json.dump(", "File.write", "\"w\"", "'w'", "copyFile"];
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        code_of(inv, scene).any(|code| {
            places.iter().any(|place| code.contains(place)) && WRITES.iter().any(|way| code.contains(way))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
