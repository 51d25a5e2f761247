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
        fires: &[
            "claude --bare -p x",
            "claude --safe-mode",
            "claude --settings '{\"disableAllHooks\":true}' -p x",
            "claude --setting-sources user -p x",
            "opencode --pure run x",
            "CLAUDE_CONFIG_DIR=/tmp/x claude -p x",
            "env LAZARET_HOME=/tmp/x claude -p x",
            "HOME=/tmp/x opencode run x",
            "npx @anthropic-ai/claude-code --bare -p x",
            "unset LAZARET_QUARANTINE; claude -p x",
            "claude -p x --settings /tmp/s.json",
            "OPENCODE_CONFIG_CONTENT='{}' opencode run x",
            "npm un -g @anthropic-ai/claude-code",
            "npm uninstall -g opencode-ai",
            "claude config set disableAllHooks true",
            "claude plugin disable lazaret",
            "claude plugin uninstall lazaret@local",
            "env -i claude -p x",
            "claude -p x --restricted",
            "XDG_STATE_HOME=/tmp/x claude -p x",
            "export XDG_STATE_HOME=/tmp/x; claude -p x",
            "env XDG_DATA_HOME=/tmp/x opencode run x",
            "V=XDG_STATE_HOME; env $V=/tmp/x claude -p x",
            "V=HOME; export $V=/tmp/x; claude -p x",
            "CLAUDE_CODE_SAFE_MODE=1 claude -p x",
            "CLAUDE_CODE_PERSONAL_HOOKS_OFF=1 claude -p x",
            "BUN_OPTIONS='--preload ./x.js' claude -p x",
            "OPENCODE_TEST_HOME=/tmp/x opencode run x",
            "env -uHOME claude -p x",
            "env --unset=XDG_CONFIG_HOME opencode run x",
            "env -vi claude -p x",
            "exec -c claude -p x",
            "sudo -u other claude -p x",
            "lazaret run -- claude -p x --settings '{\"disableAllHooks\":true}'",
            "lazaret run -- opencode --pure run x",
        ],
        silent: &[
            "claude --version",
            "npm uninstall left-pad",
            "claude -p 'explain --bare'",
            "claude mcp list",
            "opencode run x",
            "claude config set theme dark",
            "NO_COLOR=1 claude -p x",
            "env -u DEBUG claude -p x",
            "sudo npm install -g @anthropic-ai/claude-code",
            "XDG_CACHE_HOME=/tmp/c npm i -g opencode-ai",
            "sudo claude --version",
            "XDG_STATE_HOME=/tmp/x cargo test",
            "claude plugin list",
            "claude plugin disable other",
            "echo claude --bare",
            "git commit -m 'claude --bare'",
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
        fires: &[
            "npm i -g @anthropic-ai/claude-code@0.1",
            "npm install -g opencode-ai@0.1.0",
            "claude install 1.0.0",
        ],
        silent: &[
            "claude install latest",
            "claude install stable",
            "npm i -g @anthropic-ai/claude-code@latest",
            "npm i -g @anthropic-ai/claude-code",
            "npm i left-pad@1.0.0",
        ],
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
        fires: &[
            "claude mcp add x -- sh -c id",
            "claude mcp add-json x '{}'",
            "claude plugin install x@y",
            "claude plugin marketplace add evil/x",
            "claude -p x --mcp-config ./m.json",
            "claude -p x --plugin-dir ./p",
            "claude -p x --agents '{\"a\":{\"hooks\":{}}}'",
        ],
        silent: &[
            "claude mcp add --help",
            "claude -p x --agents '{\"a\":{\"description\":\"d\",\"prompt\":\"p\"}}'",
            "claude mcp list",
            "claude plugin install x",
            "claude plugin list",
            "claude mcp get x",
            "npm install x",
        ],
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
        fires: &[
            "codex --dangerously-bypass-approvals-and-sandbox x",
            "gemini --yolo x",
            "copilot --allow-all-tools -p x",
            "amp --dangerously-allow-all",
            "codex exec --yolo x",
            "gemini --approval-mode=yolo -p x",
            "GOOSE_MODE=auto goose run -t go",
            "auggie --print deploy --permission shell:allow",
        ],
        silent: &["codex --version", "gemini -p x", "copilot -p x", "echo gemini --yolo"],
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
        fires: &[
            "cp x ~/.codex/config.toml",
            "tomlq -i -t '.approval_policy = \"never\"' ~/.codex/config.toml",
            "crudini --set ~/.codex/config.toml '' approval_policy never",
            "dasel put -f ~/.codex/config.toml -t string -v never approval_policy",
            "echo '{}' > ~/.cursor/mcp.json",
            "rm -rf ~/.gemini",
            "Write /home/u/.codeium/windsurf/mcp_config.json {}",
            "echo '{\"chat.tools.autoApprove\":true}' > .vscode/settings.json",
            "tee .vscode/settings.json <<< '{\"chat.tools.global.autoApprove\": true}'",
            "yq -i '.approvals.mode = \"off\"' ~/.hermes/config.yaml",
        ],
        silent: &[
            "cat ~/.codex/config.toml",
            "tomlq -t .model ~/.codex/config.toml",
            "crudini --get ~/.codex/config.toml '' model",
            "ls ~/.cursor",
            "Write /home/u/proj/.vscode/settings.json {\"editor.tabSize\":2}",
            "grep -rn autoApprove src",
            "echo x > .codex/notes.md",
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
        fires: &[
            "codex mcp add x -- npx y",
            "code --add-mcp '{\"name\":\"x\"}'",
            "cp x .mcp.json",
            "Write /home/u/proj/.mcp.json {\"mcpServers\":{}}",
            "echo '{}' > .vscode/mcp.json",
            "npx install-mcp x --client claude-code -y",
            "npx -y @smithery/cli@latest install x --client claude",
            "npx claude-code-templates@latest --hook=x --yes",
            "npx degit someone/dotclaude .claude",
            "node -e \"const p='.cursor/mcp.json';const c=require('./'+p);fs.writeFileSync(p,JSON.stringify(c))\"",
        ],
        silent: &[
            "cat .mcp.json",
            "jq . .mcp.json",
            "Read /home/u/proj/.mcp.json",
            "npx @smithery/cli list",
            "npx degit user/template app",
            "echo x > .claude/commands/review.md",
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
        fires: &[
            "echo x > .claude/hooks/lint.sh",
            "sed -i 's/a/b/' .claude/hooks/lint.sh",
            "chmod +x .claude/hooks/lint.sh",
            "cp scripts/lint.sh .claude/hooks/",
            "mv .claude/hooks/lint.sh .claude/hooks/check.sh",
            "rm .claude/hooks/lint.sh",
            "rm -r .claude/hooks",
            "Write /home/u/proj/.claude/hooks/lint.sh npx eslint .",
            "Edit /home/u/proj/.claude/hooks/lint.sh npx eslint src",
            "python3 -c \"open('.claude/hooks/lint.sh','w').write('npx eslint .')\"",
        ],
        silent: &[
            "cat .claude/hooks/lint.sh",
            "ls -la .claude/hooks",
            "mkdir -p .claude/hooks",
            "bash -n .claude/hooks/lint.sh",
            "shellcheck .claude/hooks/lint.sh",
            "diff .claude/hooks/lint.sh scripts/lint.sh",
            "cp .claude/hooks/lint.sh /tmp/lint.sh",
            "git add .claude/hooks",
            "Write /home/u/proj/src/hooks/use-user.ts export const x = 1",
            "python3 -c \"print(open('.claude/hooks/lint.sh').read())\"",
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
        fires: &[
            "cat x >> ~/.config/opencode/AGENTS.md",
            "cp CLAUDE.md ~/.claude/CLAUDE.md",
            "Write /home/u/.claude/CLAUDE.md text",
            "cp x.md ~/.claude/agents/",
            "Write /home/u/.claude/skills/deploy/SKILL.md text",
        ],
        silent: &[
            "cat ~/.claude/CLAUDE.md",
            "echo '- run the tests' >> CLAUDE.md",
            "Read /home/u/.claude/CLAUDE.md",
        ],
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
        fires: &[
            "claude --dangerously-skip-permissions -p x",
            "claude --permission-mode bypassPermissions -p x",
            "opencode run --auto x",
            "claude --allowedTools 'Bash(*)' -p x",
            "claude --permission-mode acceptEdits -p x",
            "lazaret run -- claude -p x --dangerously-skip-permissions",
        ],
        silent: &[
            "claude -p x",
            "echo --dangerously-skip-permissions",
            "claude --permission-mode plan -p x",
            "claude --allowedTools 'Bash(git status)' Read -p x",
        ],
        ..RULE
    },
];

/// Settings of agents that are not ours, in the home directory.
const AGENT_SETTINGS: &[At] = &[
    At::Home(".codex"),
    At::Home(".cursor/mcp.json"),
    At::Home(".cursor/cli-config.json"),
    At::Home(".cursor/hooks.json"),
    At::Home(".gemini"),
    At::Home(".qwen"),
    At::Home(".codeium/windsurf"),
    At::Home(".continue"),
    At::Home(".aider.conf.yml"),
    At::Home(".config/goose"),
    At::Home(".config/amp"),
    At::Home(".config/crush"),
    At::Home(".copilot"),
    At::Home(".aws/amazonq"),
    At::Home(".kiro"),
    At::Home(".hermes"),
    At::Home(".openhands"),
    At::Home(".trae"),
    At::Home(".factory"),
    At::Home(".config/Claude"),
    At::Name(".cursor/hooks.json"),
    At::Home("Library/Application Support/Claude"),
];

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
