//! Self-protection: the places, programs and variables that keep lazaret in front of the agent.

mod aimed;
mod clients;
mod killed;
mod transcripts;
mod written;

use super::{deeds, downloads, flagged, lists, predicate, sub};
use crate::domain::{Action, EffectKind, Severity, Target, Verdict, join};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Class, Code, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, classify, code_of,
    contains_word, flag_value, has_flag, inside, is_protected, leads_to_protected, mentions_protected, runs,
    runs_code, squeeze, target_of,
};
use crate::shell::Arg;

pub(super) use killed::only_asks;

const ASK: Option<Instead> =
    Some(Instead::Advice("describe the change and let the person make it at a terminal"));

const LINKERS: &[&str] = &["ln", "link", "cp", "mount", "symlink", "mklink"];

const MOVERS: &[&str] = &["mv", "rename", "prename", "mmv"];

const MODE_SETTERS: &[&str] = &["chmod", "chown", "chattr", "chflags", "setfacl"];

/// Programs that put a tree somewhere.
const FILLERS: &[&str] =
    &["tar", "bsdtar", "unzip", "7z", "cp", "rsync", "ditto", "cpio", "unrar", "unar", "python", "python3"];

const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "cpio"];

const TARS: &[&str] = &["tar", "bsdtar", "gtar"];

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

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

const GIT: &[&str] = &["git"];

const OWN: &[&str] = &["lazaret"];

/// Programs that change the variables of others.
const SETTERS: &[&str] = &["export", "unset", "declare", "typeset", "readonly", "launchctl", "systemctl"];

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "selfprotect.place-changed",
        severity: Severity::Critical,
        reason: "changes what keeps the guard in place: the client's settings or hooks, or lazaret's own files",
        instead: ASK,
        when: &[
            When::Effect(OnEffect {
                kinds: &[
                    EffectKind::FileCreation,
                    EffectKind::FileModification,
                    EffectKind::FileDeletion,
                    EffectKind::SystemModification,
                ],
                any: &[Class::Protected],
                ..EFFECT
            }),
            When::Effect(OnEffect {
                kinds: CHANGES,
                at: &[
                    At::Home(".cargo/bin/lazaret"),
                    At::Abs("/usr/local/bin/lazaret"),
                    At::Abs("/usr/bin/lazaret"),
                    At::Abs("/opt/homebrew/bin/lazaret"),
                ],
                ..EFFECT
            }),
            predicate("settings_in_the_home_of_another", Trigger::kinds(CHANGES), clients::of_another),
        ],
        fires: &[
            "Write /home/other/.claude/settings.json {}",
            "echo '{}' > /Users/x/.claude/settings.local.json",
            "sed -i 's/deny/allow/' /root/.claude/settings.json",
            "Write /home/other/.config/opencode/opencode.json {}",
            "rm /home/other/.claude/hooks/guard.sh",
            "echo '{}' > \"$CLAUDE_PROJECT_DIR/.claude/settings.json\"",
            "echo '{}' > \"$DIR/.claude/$FILE\"",
            "echo '{}' > $DIR/.cl*/settings.json",
            "rm -f \"$(cat dir)/.claude/settings.json\"",
            "cp /bin/true /usr/local/bin/lazaret",
            "ln -sf /bin/true ~/.cargo/bin/lazaret",
            "rm .claude/settings.json",
            "rm -rf ~/.claude",
            "echo '{}' > .claude/settings.local.json",
            "cd .claude && rm settings.json",
            "jq 'del(.hooks)' .claude/settings.json > t && mv t .claude/settings.json",
            "rm .cl*/set*",
            "sed -i s/hooks/x/ ~/.claude/settings.json",
            "Write /home/u/proj/.claude/settings.json {}",
            "Edit /home/u/proj/opencode.json x",
            "Write /home/u/proj/.opencode/plugins/x.js x",
            "rm ~/.local/bin/lazaret",
            "cp /bin/true ~/.local/bin/lazaret",
            "rm -rf ~/.config/lazaret",
            "truncate -s 0 ~/.local/state/lazaret/audit.jsonl",
            "chmod 000 ~/.claude/settings.json",
            "cat x | tee .claude/settings.json",
            "dd if=/dev/null of=.claude/settings.json",
            "touch .claude/settings.local.json",
            "rm .CLAUDE/settings.json",
            "rm -rf .claude/*",
            "f=settings.json; rm .claude/$f",
            "rm .claude/$(echo settings.json)",
            "awk -i inplace '{print}' .claude/settings.json",
            "xxd -r x .claude/settings.json",
            "git bundle create .claude/settings.json HEAD",
            "dd if=x of=~/.claude/settings.json",
            "cd ~/.cl?ude && echo {} > settings.json",
            "cp -r /tmp/e/.claude ~",
            "mv /tmp/e/.claude ~/",
            "rsync -a /tmp/e/.claude .",
            "tar xf e.tar .claude/settings.json",
            "tar xf e.tar --strip-components=1 x/.claude/settings.json",
            "unzip x.zip .claude/settings.json",
            "git clone https://example.org/x .opencode",
            "zip -m x.zip .claude/settings.json",
            "find .claude/settings.json -delete",
            "rm /proc/self/cwd/.claude/settings.json",
        ],
        silent: &[
            "tmp=$(mktemp -d); echo '{}' > \"$tmp/.claude/settings.json\"",
            "Read /home/other/.claude/settings.json",
            "Write /home/u/proj/templates/.claude/settings.json {}",
            "cp /home/other/.claude/settings.json /tmp/x.json",
            "cat .claude/settings.json",
            "git diff .claude/settings.json",
            "git add .claude/settings.json",
            "jq .hooks .claude/settings.json",
            "ls -la .claude",
            "Read /home/u/proj/.claude/settings.json",
            "grep -n hooks ~/.claude/settings.json",
            "Write /home/u/proj/docs/claude.md x",
            "git commit -m 'rm .claude/settings.json'",
            "echo 'rm -rf ~/.claude'",
            "Write /home/u/proj/src/settings.json {}",
            "cargo fmt",
            "chmod -R u+w .",
            "awk '{print}' .claude/settings.json",
            "cp -r src lib",
            "cp -r docs/. .",
            "tar xf foo.tar.gz",
            "tar xf foo.tar src/main.rs",
            "unzip x.zip -d build",
            "cd docs* && echo x > a",
            "echo x > .claude/commands/review.md",
            "cp -r .claude /tmp/backup",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.keys-read",
        severity: Severity::Critical,
        reason: "reads lazaret's keys or sealed copies",
        instead: Some(Instead::Command("lazaret doctor")),
        when: &[When::Effect(OnEffect {
            kinds: &[EffectKind::FileRead],
            any: &[Class::Keys],
            except: &["ls", "stat"],
            ..EFFECT
        })],
        fires: &[
            "cat /run/user/1000/lazaret/key",
            "Read /run/user/1000/lazaret/key",
            "grep -r . /run/user/1000",
            "Grep /run/user/1000/lazaret x",
            "cp -r /run/user/1000/lazaret /tmp/k",
            "xxd ~/.local/state/lazaret/audit/lazaret-audit.key",
            "cat ~/.local/state/lazaret/audit/*",
            "cp -r ~/.local/state/lazaret /tmp/k",
        ],
        silent: &[
            "lazaret doctor",
            "cat ~/.local/state/lazaret/audit/audit.jsonl",
            "grep -rn x ~/.local",
            "cat ~/.config/lazaret/config.toml",
            "ls /run/user/1000",
            "grep -rn lazaret src",
        ],
        ..RULE
    },
    Rule {
        id: "quarantine.transcript-read",
        reason: "reads what a client keeps of its subagents: what a quarantined agent read stands in there",
        instead: Some(Instead::Advice(
            "use the cleaned report of the review, which is the answer of its agent",
        )),
        when: &[predicate(
            "transcript_of_a_subagent_read",
            Trigger::kinds(&[EffectKind::FileRead]),
            transcripts::read,
        )],
        fires: &[
            "Read /home/u/.claude/projects/-home-u-proj/d5fb/subagents/agent-ad52.jsonl",
            "Read /home/u/.claude/projects/-home-u-proj/agent-ad52.jsonl",
            "Grep /home/u/.claude/projects/-home-u-proj/d5fb/subagents x",
            "Grep /home/u/.claude/projects x",
            "cat ~/.claude/projects/-home-u-proj/d5fb/subagents/agent-ad52.jsonl",
            "cat ~/.claude/projects/*/*/subagents/*.jsonl",
            "tail -n 3 ~/.claude/projects/*/*/*/agent-*",
            "grep -r password ~/.claude/projects/-home-u-proj/d5fb/subagents",
            "rg x ~/.claude/projects",
            "jq .message ~/.claude/projects/p/s/subagents/agent-1.jsonl",
            "cd ~/.claude/projects/p/s && jq . < subagents/agent-1.jsonl",
            "cp -r ~/.claude/projects/p/s /tmp/x",
            "find ~/.claude/projects -name '*.jsonl' -exec cat {} +",
            "ls ~/.claude/projects/p/s/subagents/a; cat ~/.claude/projects/p/s/subagents/a",
            "cat ~/.local/share/opencode/storage/part/msg_1/prt_1.json",
            "grep -r x ~/.local/share/opencode/storage/message",
            "Grep /home/u/.local/share/opencode/storage x",
        ],
        silent: &[
            "Read /home/u/.claude/settings.json",
            "Read /home/u/.claude/CLAUDE.md",
            "Read /home/u/.claude/projects/-home-u-proj/d5fb.jsonl",
            "Grep /home/u/.claude/projects/-home-u-proj/d5fb.jsonl x",
            "ls ~/.claude/projects",
            "ls -la ~/.claude/projects/p/s/subagents",
            "find ~/.claude/projects -name '*.jsonl'",
            "jq . ~/.claude/projects/p/SESSION.jsonl",
            "tail ~/.claude/projects/p/*.jsonl",
            "cat ~/.claude/projects/p/memory/MEMORY.md",
            "cat src/subagents/agent-1.jsonl",
            "cat ~/.local/share/opencode/auth.txt ~/.local/share/opencode/log/a.log",
            "ls ~/.local/share/opencode/storage/message",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-linked",
        severity: Severity::Critical,
        reason: "makes a second way to what keeps the guard in place",
        instead: ASK,
        when: &[predicate("link_to_a_protected_place", Trigger::programs(LINKERS), linked)],
        fires: &[
            "ln -s ~/.claude/settings.json x",
            "ln ~/.claude/settings.json x",
            "ln -s ~/.claude c && rm c/settings.json",
            "cp -l .claude/settings.json x",
            "ln -sf /tmp/x .claude/settings.json",
            "mount --bind /tmp/x .claude",
        ],
        silent: &[
            "ln -s README.md docs/README.md",
            "cp .claude/settings.json /tmp/backup.json",
            "ln -s ../target out",
            "for f in bin/*; do ln -sf \"$PWD/$f\" ~/.local/bin/; done",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.home-filled",
        verdict: Verdict::Modify,
        reason: "unpacks or copies a whole tree over the home directory, where the guard's settings lie",
        instead: Some(Instead::Advice("unpack it into a directory of its own and take out what is needed")),
        when: &[
            predicate(
                "tree_over_the_home_directory",
                Trigger::programs(TARS).or(Trigger::programs(FILLERS)),
                home_filled,
            ),
            predicate(
                "tree_put_over_the_home_directory",
                Trigger::programs(aimed::HOME_FILLERS),
                aimed::over_home,
            ),
        ],
        fires: &[
            "cp -rT dot ~",
            "stow -t ~ dotfiles",
            "git -C ~ checkout HEAD~1",
            "cd ~ && patch -p1 < x",
            "git -C ~ apply x.patch",
            "tar -C ~ -xf old.tar",
            "cp -r old/. ~",
            "cp -r old/* ~/",
            "rsync -a evil/ ~/",
            "unzip -d ~ x.zip",
            "cd ~ && tar xf x.tar",
            "tar -xzf /tmp/go.tgz -C ~/.local",
            "unzip -q /tmp/x.zip -d ~/.local/bin",
            "tar xzf x.tgz -C ~/.local/bin lazaret",
            "tar xzf x.tgz -C ~/.local/bin --strip-components=1 rel",
            "tar xzf x.tgz -C ~/.local/bin --transform=s/a/lazaret/ a",
            "cargo install --root ~/.local ripgrep",
            "cmake --install build --prefix ~/.local",
        ],
        silent: &[
            "tar xzf x.tgz -C ~/.local/bin tool",
            "tar xzf x.tgz --strip-components=1 -C ~/.local/bin rel-1.0/tool",
            "cargo install ripgrep",
            "stow --simulate --verbose --target=$HOME home",
            "stow -nv -t \"$HOME\" home",
            "rsync -an dots/ ~/",
            "tar -C ~/work -xf old.tar",
            "cp a.txt ~",
            "cp -rT dot build",
            "stow -t ~/work dotfiles",
            "git -C ~ status",
            "git checkout main",
            "patch -p1 < x",
            "tar xf rel.tgz",
            "rsync -a src/ ~/work/copy/",
            "tar -C ~ -cf /tmp/x.tar work",
            "find . -type d -exec chmod 755 {} +",
            "find . -type f -print0 | xargs -0 chmod 644",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-moved",
        severity: Severity::Critical,
        reason: "moves, fills or empties the directory of what keeps the guard in place",
        instead: ASK,
        when: &[
            predicate(
                "protected_directory_moved",
                Trigger::programs(MOVERS).or(Trigger::programs(MODE_SETTERS)),
                moved,
            ),
            predicate(
                "archive_unpacked_over_a_protected_place",
                Trigger::programs(FILLERS).or(Trigger::programs(UNPACKERS)),
                unpacked,
            ),
            predicate(
                "list_of_protected_places_piped_to_a_change",
                Trigger::programs(TAKERS).or(Trigger::WRAPPED),
                piped,
            ),
            predicate("fetched_into_a_protected_place", Trigger::programs(lists::DOWNLOADERS), |scene| {
                let found = scene.first(lists::DOWNLOADERS, |inv| {
                    downloads::downloads(inv).any(|target| {
                        classify(&target, EffectKind::FileCreation, &scene.view).has(Class::Protected)
                    })
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            predicate("sed_writes_a_protected_place", Trigger::programs(lists::SEDS), sed_writes),
            predicate("archive_members_renamed", Trigger::programs(TARS), written::renamed_members),
            predicate(
                "files_aimed_at_a_protected_directory",
                Trigger::keys(aimed::AIMED)
                    .or(Trigger::programs(aimed::SPLITTERS))
                    .or(Trigger::programs(aimed::COPIERS)),
                aimed::aimed,
            ),
            predicate(
                "patch_applied_in_a_protected_directory",
                Trigger::programs(aimed::APPLIERS),
                aimed::applied,
            ),
        ],
        fires: &[
            "cd ~/.claude && curl -O https://x.example/settings.json",
            "wget -q -P ~/.claude https://x.example/settings.json",
            "patch -d ~/.claude -p0 < x",
            "cd ~/.claude && patch -p0 < x",
            "cd ~/.claude && git apply x",
            "curl --output-dir ~/.claude -o settings.json https://x.example",
            "ls x | xargs -I{} cp {} ~/.claude/",
            "ls x | xargs cp -t ~/.claude",
            "split -b1 x ~/.claude/settings",
            "pip install -t ~/.claude x",
            "pip install --target=.claude x",
            "cargo build --target-dir ~/.claude",
            "mv .claude .claude.bak",
            "mv ~/.claude /tmp/x",
            "tar xf a.tar -C .claude",
            "tar xf a.tar -C ~/.claude settings.json",
            "npm --prefix ~/.claude i x",
            "cp -r /tmp/evil/. .claude/",
            "rsync -a /tmp/evil/ .claude/",
            "find .claude -type f | xargs rm",
            "chmod u-w .claude",
            "chmod 000 ~/.claude",
            "sed -n 'w .claude/settings.json' x",
            "ls .claude/settings.json | xargs -I{} cp /dev/null {}",
        ],
        silent: &[
            "mv src lib",
            "patch -d src -p1 < x",
            "cargo build --target-dir /tmp/t",
            "split -b1 x parts/x",
            "npm --prefix web i",
            "for f in a b; do cp $f docs/; done",
            "cp notes.md .claude/",
            "tar czf c.tgz .claude",
            "find .claude -type f | xargs cat",
            "cp -r .claude /tmp/backup",
            "find src -type f | xargs rm",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-restored",
        severity: Severity::Critical,
        reason: "brings an older version of what keeps the guard in place back from git",
        instead: Some(Instead::Command("git diff HEAD -- .claude/settings.json")),
        when: &[
            predicate("git_writes_a_protected_place", Trigger::programs(GIT), git_restores),
            predicate("patch_of_a_protected_place", Trigger::programs(written::PATCHERS), written::patched),
        ],
        fires: &[
            "git checkout HEAD~5 -- .claude/settings.json",
            "git restore --source HEAD~3 .claude",
            "git checkout main -- .claude/",
            "git rm .claude/settings.json",
            "git mv opencode.json x.json",
            "git checkout HEAD~1 opencode.json",
            "git stash push -u .claude/settings.local.json",
            "git update-index --assume-unchanged .claude/settings.json",
            "git apply <<'E'\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\nE",
            "patch -p1 <<'E'\n--- a/x\n+++ b/.claude/settings.json\nE",
        ],
        silent: &[
            "git diff HEAD -- .claude/settings.json",
            "git log -- .claude/settings.json",
            "git checkout main",
            "git add .claude",
            "git show HEAD:.claude/settings.json",
            "git rm --cached .claude/settings.local.json",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-mentioned",
        severity: Severity::Critical,
        reason: "hands what keeps the guard in place to a program of which it cannot be told what it does with it",
        instead: Some(Instead::Command("cat .claude/settings.json")),
        when: &[
            predicate(
                "code_names_a_protected_place",
                Trigger::INTERPRETER.or(Trigger::ACTIVE),
                mentions_protected,
            ),
            predicate(
                "protected_place_named_to_a_writer",
                Trigger::ACTIVE.or(Trigger::programs(written::EDITORS)),
                written::named,
            ),
            predicate("protected_place_mounted", Trigger::programs(written::CONTAINERS), written::mounted),
            predicate("code_takes_a_protected_directory", Trigger::INTERPRETER, written::taken_by_code),
        ],
        fires: &[
            "python3 -c \"import os; os.remove('.claude/settings.json')\"",
            "node -e \"require('fs').writeFileSync('.claude/settings.json','{}')\"",
            "perl -i -pe s/hooks/x/ .claude/settings.json",
            "python3 -c \"import os; os.chdir('.cl'+'aude'); os.remove('settings.json')\"",
            "python3 <<'E'\nopen('opencode.json','w')\nE",
            "./frobnicate .claude/settings.json",
            "cd .claude && python3 -c \"open('settings.json','w')\"",
            "ruby -e 'File.delete(\".claude/settings.local.json\")'",
            "python3 -c \"import shutil; shutil.rmtree('/home/u/.config/lazaret')\"",
            "python3 -c \"import shutil; shutil.rmtree('.claude')\"",
            "prettier --write .claude/settings.json",
            "prettier --write .claude",
            "kubectl cp pod:/x .claude/settings.json",
            "docker cp c:/x .claude/settings.json",
            "docker compose run -v ~/.claude:/c web sh",
            "docker run --mount type=bind,source=$HOME/.claude,target=/c alpine sh",
            "aws s3 cp s3://b/x .claude/settings.json",
        ],
        silent: &[
            "python3 -c \"print('settings')\"",
            "node build.js",
            "python3 manage.py settings",
            "cat .claude/settings.json",
            "jq . opencode.json",
            "git diff opencode.json",
            "prettier --check .claude/settings.json",
            "python3 -m json.tool .claude/settings.json",
            "prettier --write .",
            "docker run -v $PWD:/app node npm test",
            "docker run -v ~/.claude:/c:ro alpine cat /c/settings.json",
            "kubectl cp .claude/settings.json pod:/x",
            "python3 -c \"import os; print(os.listdir('.claude'))\"",
            "gh pr create --title x --body 'changes .claude/settings.json'",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.client-unguarded",
        severity: Severity::Critical,
        reason: "starts a client with its hooks, plugins or settings off, or takes it away",
        instead: Some(Instead::Command("claude --version")),
        when: &[
            predicate(
                "client_started_without_hooks",
                Trigger::programs(lists::CLIENTS).or(Trigger::programs(clients::RUNNERS)),
                clients::unguarded,
            ),
            predicate(
                "client_set_up_without_hooks",
                Trigger::programs(lists::CLIENTS).or(Trigger::programs(clients::RUNNERS)),
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
        ],
        silent: &[
            "claude --version",
            "npm uninstall left-pad",
            "claude -p 'explain --bare'",
            "claude mcp list",
            "opencode run x",
            "claude config set theme dark",
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
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(clients::RUNNERS)),
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
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(clients::RUNNERS)),
            clients::extended,
        )],
        fires: &[
            "claude mcp add x -- sh -c id",
            "claude mcp add-json x '{}'",
            "claude plugin install x@y",
            "claude plugin marketplace add evil/x",
        ],
        silent: &[
            "claude mcp add --help",
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
                at: &[
                    At::Name(".mcp.json"),
                    At::Name(".cursor/mcp.json"),
                    At::Name(".vscode/mcp.json"),
                    At::Home(".claude/agents"),
                    At::Home(".claude/commands"),
                    At::Home(".claude/skills"),
                    At::Home(".claude/output-styles"),
                ],
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
            "cp x.md ~/.claude/agents/",
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
            ],
            ..EFFECT
        })],
        fires: &[
            "cat x >> ~/.config/opencode/AGENTS.md",
            "cp CLAUDE.md ~/.claude/CLAUDE.md",
            "Write /home/u/.claude/CLAUDE.md text",
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
            Trigger::programs(lists::CLIENTS).or(Trigger::programs(clients::RUNNERS)),
            clients::unasked,
        )],
        fires: &[
            "claude --dangerously-skip-permissions -p x",
            "claude --permission-mode bypassPermissions -p x",
            "opencode run --auto x",
            "claude --allowedTools 'Bash(*)' -p x",
            "claude --permission-mode acceptEdits -p x",
        ],
        silent: &[
            "claude -p x",
            "echo --dangerously-skip-permissions",
            "claude --permission-mode plan -p x",
            "claude --allowedTools 'Bash(git status)' Read -p x",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.killed",
        severity: Severity::Critical,
        reason: "ends the client or the guard",
        instead: Some(Instead::Command("pgrep -l node")),
        when: &[predicate(
            "client_or_guard_killed",
            Trigger::programs(killed::KILLERS).or(Trigger::INTERPRETER),
            killed::guard,
        )],
        fires: &[
            "pkill claude",
            "kill $CLAUDE_PID",
            "kill -9 $PPID",
            "killall opencode",
            "pgrep -f claude | xargs kill",
            "kill $(pidof lazaret)",
            "pkill -STOP -f lazaret",
            "P=$PPID; kill $P",
            "kill -9 \"$OPENCODE_PID\"",
            "kill 0",
            "kill -9 -1",
            "kill -s KILL -- -1",
            "pkill -f 'c[l]aude'",
            "pkill -f clau",
            "killall -r 'cl.*'",
            "kill $(ps -o ppid= $$)",
            "kill $(pgrep -f c.aude)",
            "kill $(ps aux | grep c.aude | cut -c10-16)",
            "python3 -c 'import os; os.kill(os.getppid(), 9)'",
        ],
        silent: &[
            "killall -0 node",
            "pkill -0 node && echo runs",
            "pgrep -l node",
            "kill 12345",
            "echo $PPID",
            "pkill -f 'vite --port 5173'",
            "ps aux | grep claude",
            "kill $(cat server.pid)",
            "kill -9 12345",
            "kill -1 12345",
            "kill %1",
            "kill $!",
            "kill $(lsof -ti:3000)",
            "npm run dev & sleep 3; curl -s localhost:3000 | grep -c title; kill $!",
            "go run ./cmd/api & API=$!; go test ./e2e 2>&1 | grep -E 'ok|FAIL'; kill $API",
            "trap 'kill 0' EXIT; npm run api & npm run web & wait",
            "ps aux | grep claude; kill 12345",
            "git commit -m 'pkill claude'",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.runtime-killed",
        verdict: Verdict::Modify,
        reason: "ends every process of the kind that the client runs in, or all of a user or session",
        instead: Some(Instead::Advice(
            "name the one process: its number, or a pattern of its command line with pkill -f",
        )),
        when: &[predicate(
            "runtime_of_the_client_killed",
            Trigger::programs(killed::KILLERS).or(Trigger::programs(killed::SESSIONS)),
            killed::runtime,
        )],
        fires: &[
            "pkill node",
            "killall node",
            "killall -9 node",
            "pkill -x node",
            "pkill -f '^node$'",
            "kill $(pgrep node)",
            "pgrep node | xargs kill",
            "pkill bun",
            "pkill -u u",
            "pkill -g 0",
            "loginctl terminate-user u",
        ],
        silent: &[
            "pgrep -l node",
            "pkill -f 'node server.js'",
            "strace -c -p $(pgrep -n node) & sleep 3; kill $!",
            "pkill -f vite",
            "pkill -P $!",
            "killall python3",
            "pkill nodemon",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.own-commands",
        severity: Severity::Critical,
        reason: "uses lazaret's own commands to loosen it; they are for a person at a terminal",
        instead: Some(Instead::Command("lazaret doctor")),
        when: &[
            predicate("lazaret_loosens_itself", Trigger::programs(OWN), own_commands),
            predicate("lazaret_taken_away_or_shadowed", Trigger::programs(REMOVERS), taken_away),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["which('lazaret", "which(\"lazaret"],
                    &["remove(", "unlink", "rename(", "write", "chmod("],
                ],
            }),
        ],
        fires: &[
            "cargo uninstall lazaret",
            "brew uninstall lazaret",
            "npm uninstall -g lazaret",
            "alias lazaret=true",
            "hash -p /bin/true lazaret",
            "lazaret() { exit 0; }; export -f lazaret",
            "python3 -c \"import os,shutil; os.remove(shutil.which('lazaret'))\"",
            "lazaret uninstall",
            "lazaret trust allow",
            "lazaret allow ABC123",
            "lazaret resume s1",
            "~/.local/bin/lazaret uninstall all",
            "lazaret config init",
            "lazaret audit prune",
            "lazaret audit export --format json --output x.json",
            "script -qc 'lazaret allow X' /dev/null",
            "lazaret feedback 1 fp",
            "lazaret rollback --last",
            "lazaret install claude-code --bin /tmp/x",
        ],
        silent: &[
            "lazaret check 'rm -rf /'",
            "lazaret --help",
            "lazaret doctor",
            "lazaret audit show",
            "lazaret audit export --format csv",
            "lazaret config show",
            "lazaret rules list",
            "lazaret trust show",
            "lazaret --version",
            "lazaret trust",
            "lazaret checkpoint list",
            "echo lazaret uninstall",
            "cargo uninstall ripgrep",
            "alias ll='ls -l'",
            "cargo run -p lazaret -- rules list",
            "hash -r",
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.variables",
        reason: "changes the variables that lazaret and the client's settings are found by",
        instead: ASK,
        when: &[predicate("guarding_variable_changed", Trigger::programs(SETTERS), variables)],
        fires: &[
            "export LAZARET_HOME=/tmp/x",
            "unset LAZARET_QUARANTINE",
            "export CLAUDE_CONFIG_DIR=/tmp/x",
            "export ANTHROPIC_BASE_URL=http://x.example",
            "launchctl setenv CLAUDE_CONFIG_DIR /tmp/x",
            "systemctl --user set-environment LAZARET_HOME=/tmp",
        ],
        silent: &["echo $CLAUDE_CONFIG_DIR", "export FOO=1", "unset FOO", "printenv LAZARET_HOME"],
        ..RULE
    },
    Rule {
        id: "selfprotect.hooks-disabled",
        severity: Severity::Critical,
        reason: "writes a setting that switches all hooks off",
        instead: ASK,
        when: &[predicate(
            "disable_all_hooks_written",
            Trigger::kinds(WRITES).or(Trigger::TOOL),
            hooks_disabled,
        )],
        fires: &[
            "Write /home/u/proj/sub/.claude/settings.json {\"disableAllHooks\":true}",
            "Edit /home/u/other/settings.json \"disableAllHooks\": true",
            "echo '{\"disableAllHooks\":true}' > s.json",
            "jq '.disableAllHooks=true' a.json > b.json",
        ],
        silent: &[
            "Write /home/u/proj/docs/hooks.md disableAllHooks",
            "grep -rn disableAllHooks .",
            "Write /home/u/proj/a.json {\"hooks\":[]}",
            "git commit -m disableAllHooks",
            "echo disableAllHooks",
        ],
        ..RULE
    },
];

/// Programs that take a program away, or have its name mean another one.
const REMOVERS: &[&str] = &[
    "cargo", "brew", "npm", "pnpm", "yarn", "bun", "pipx", "uv", "pip", "apt", "apt-get", "dnf", "alias",
    "hash", "export",
];

/// lazaret is uninstalled by whatever installed it, or its name is given to something else.
fn taken_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(REMOVERS, |inv| {
        let names =
            |wanted: &[&str]| inv.args.iter().filter_map(Arg::known).any(|word| wanted.contains(&word));
        match inv.program.as_str() {
            "alias" => inv.args.iter().any(|arg| arg.text().starts_with("lazaret=")),
            "hash" => names(&["-p"]) && names(&["lazaret"]),
            "export" => names(&["-f"]) && names(&["lazaret"]) && scene.command_line().contains("lazaret()"),
            _ => {
                names(&["lazaret"])
                    && names(&["uninstall", "remove", "rm", "un", "unlink", "purge", "autoremove"])
            }
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A protected place, or the client's or lazaret's own directory around one.
fn around_protected(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let (path, glob) = match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => (path, glob),
        Target::UnknownPath { tail, .. } => return leads_to_protected(&tail, &scene.view),
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    // Everybody unpacks there; what is protected below it lies in a directory of its own.
    if scene.view.facts.places.temp.contains(&path) {
        return false;
    }
    let wide = Target::Path { path, glob, recursive: true };
    is_protected(&wide, &scene.view)
}

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
    const LISTS: &[&str] = &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".codex/config.toml"];
    const WRITES: &[&str] =
        &["writeFile", "write_text(", ".write(", "json.dump(", "File.write", "\"w\"", "'w'", "copyFile"];
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        code_of(inv, scene).any(|code| {
            LISTS.iter().any(|list| code.contains(list)) && WRITES.iter().any(|way| code.contains(way))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn linked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(LINKERS, |inv| {
        let makes_link = match inv.program.as_str() {
            "cp" => ["-l", "-s", "--link", "--symbolic-link"].iter().any(|flag| has_flag(inv, flag)),
            "mount" => ["--bind", "-B", "--rbind", "-R", "-o"].iter().any(|flag| has_flag(inv, flag)),
            _ => true,
        };
        // A directory of programs holds the guard's by the way: only a link of that name takes its place.
        let own = inv.operands.iter().any(|arg| arg.text().contains("lazaret"));
        let programs = |arg: &Arg| arg.text().trim_end_matches('/').ends_with("/bin") && !own;
        makes_link && inv.operands.iter().any(|arg| !programs(arg) && around_protected(arg, inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that only look at what they are given.
const LOOKERS: &[&str] = &[
    "cat",
    "grep",
    "rg",
    "head",
    "tail",
    "wc",
    "ls",
    "jq",
    "diff",
    "stat",
    "file",
    "md5sum",
    "sha256sum",
    "echo",
    "git",
    "du",
    "bat",
];

fn moved<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(|inv| runs(inv, MODE_SETTERS) || runs(inv, MOVERS)).find(|inv| {
        if runs(inv, MODE_SETTERS) {
            let own = |arg: &Arg| arg.text().ends_with("/bin/lazaret");
            return inv.operands.iter().any(|arg| own(arg) || around_protected(arg, inv, scene));
        }
        let count =
            if inv.program == "mv" { inv.operands.len().saturating_sub(1).max(1) } else { usize::MAX };
        runs(inv, MOVERS)
            && inv.operands.iter().take(count).any(|arg| {
                classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view)
                    .has(Class::Protected)
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn unpacked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let over = |dest: &Arg, inv: &Invocation| {
        around_protected(dest, inv, scene)
            && !aimed::is_shared(dest, inv, scene)
            && !takes_others(dest, inv, scene)
    };
    match filled(scene, over) {
        Found::No => Found::from(piped_archive(scene).map(|inv| inv.text.as_str())),
        found => found,
    }
}

/// `tar c .claude | tar x -C there`: the members by the names that they were put in with.
fn piped_archive<'a>(scene: &Scene<'a>) -> Option<&'a Invocation> {
    let here = Arg::literal(".");
    scene.first(UNPACKERS, |inv| {
        let Target::Path { path: dest, .. } =
            target_of(flag_value(inv, &["-C", "--directory", "-D"]).unwrap_or(&here), inv.cwd.as_deref())
        else {
            return false;
        };
        let packs = |other: &&Invocation| {
            other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, TARS)
        };
        let lands = |arg: &Arg| around_protected(&Arg::literal(&join(&dest, &arg.text())), inv, scene);
        unpacks(inv) && scene.invocations().iter().filter(packs).any(|other| other.operands.iter().any(lands))
    })
}

fn home_filled<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(home) = scene.view.facts.places.home.as_deref() else { return Found::No };
    let absolute = |inv: &Invocation| {
        let bundled =
            inv.args.first().is_some_and(|arg| !arg.prefix().starts_with('-') && arg.prefix().contains('P'));
        unpacks(inv) && (bundled || has_flag(inv, "-P") || has_flag(inv, "--absolute-names"))
    };
    if let Some(inv) = scene.first(TARS, absolute) {
        return Found::yes(&inv.text);
    }
    filled(scene, |dest, inv| match target_of(dest, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => {
            // Everybody unpacks in a temporary directory, also where a home lies below it.
            inside(home, &path) && !scene.view.facts.places.temp.contains(&path)
                || aimed::is_shared(dest, inv, scene)
                    && around_protected(dest, inv, scene)
                    && !takes_others(dest, inv, scene)
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    })
}

/// `tar xzf rel.tgz -C ~/.local/bin rel/tool --strip-components=1`: what is taken out is named, and none of it lands on what is
/// protected.
fn takes_others(dest: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((members, stripped)) = members_of(inv) else { return false };
    let Target::Path { path: dest, glob: false, .. } = target_of(dest, inv.cwd.as_deref()) else {
        return false;
    };
    let lands_apart = |member: &&str| {
        let mut parts = member.split('/').filter(|part| !matches!(*part, "" | "."));
        let rest = parts.by_ref().skip(stripped).collect::<Vec<_>>().join("/");
        !rest.is_empty()
            && !member.starts_with('/')
            && !member.contains("..")
            && !around_protected(&Arg::literal(&join(&dest, &rest)), inv, scene)
    };
    !members.is_empty() && members.iter().all(lands_apart)
}

/// The members that `tar` is told to take out, and how many directories it leaves out in front; nothing where anything else is
/// said that may change their names.
fn members_of(inv: &Invocation) -> Option<(Vec<&str>, usize)> {
    const STRIP: &str = "--strip-components";
    let mut words = deeds::known_words(inv).into_iter();
    if !runs(inv, TARS) || words.len() != inv.args.len() {
        return None;
    }
    let bundle = words.next()?;
    let letters = bundle.trim_start_matches('-');
    if bundle.starts_with("--") || !letters.contains('x') || !letters.bytes().all(|b| b"xzjJvfk".contains(&b))
    {
        return None;
    }
    if letters.contains('f') {
        words.next()?;
    }
    let (mut members, mut stripped) = (Vec::new(), 0);
    while let Some(word) = words.next() {
        match word {
            "-C" | "--directory" => drop(words.next()?),
            STRIP => stripped = words.next()?.parse().ok()?,
            _ if word.starts_with(STRIP) => stripped = word.get(STRIP.len() + 1..)?.parse().ok()?,
            _ if word.starts_with('-') || word.contains(['*', '?', '[']) => return None,
            _ => members.push(word),
        }
    }
    Some((members, stripped))
}

/// A tree unpacked or copied into a directory for which `test` holds.
fn filled<'a>(scene: &Scene<'a>, test: impl Fn(&Arg, &Invocation) -> bool) -> Found<'a> {
    let here = Arg::literal(".");
    let found = scene.first(FILLERS, |inv| {
        let whole = |arg: &Arg| arg.prefix().ends_with("/.") || arg.prefix().ends_with('/') || arg.has_glob();
        match inv.program.as_str() {
            "rsync" if has_flag(inv, "-n") || has_flag(inv, "--dry-run") => false,
            "cp" | "rsync" | "ditto" => match inv.operands.split_last() {
                Some((dest, sources)) => {
                    let tree = has_flag(inv, "-T") || has_flag(inv, "--no-target-directory");
                    (sources.iter().any(whole) || (tree && inv.program == "cp")) && test(dest, inv)
                }
                None => false,
            },
            "python" | "python3" => {
                let unpacks = inv.args.iter().any(|arg| matches!(arg.known(), Some("zipfile" | "tarfile")))
                    && inv.args.iter().any(|arg| matches!(arg.known(), Some("-e" | "--extract")));
                unpacks && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
            _ => {
                let dest = flag_value(inv, &["-C", "--directory", "-d", "-o", "-D"]);
                unpacks(inv) && test(dest.unwrap_or(&here), inv)
            }
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether an archiver takes out, by the letters that tar and cpio have for it; the others do nothing else here.
fn unpacks(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "tar" | "bsdtar" | "cpio" => {
            let bundle = inv.args.first().is_some_and(|arg| {
                let text = arg.prefix();
                !text.starts_with('-') && text.contains('x')
            });
            bundle || ["-x", "--extract", "--get", "-i"].iter().any(|flag| has_flag(inv, flag))
        }
        _ => true,
    }
}

/// `w file` in a script of sed.
fn sed_writes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(lists::SEDS, |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text.split("w ").skip(1).any(|rest| {
                let file = rest.split_whitespace().next().unwrap_or_default();
                around_protected(&Arg::literal(file.trim_end_matches([';', '}'])), inv, scene)
            })
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that take away or change the files that they are given.
const TAKERS: &[&str] = &[
    "rm", "mv", "shred", "truncate", "unlink", "rmdir", "tee", "sed", "cp", "ln", "chmod", "install", "perl",
];

fn piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let lists = |inv: &Invocation| {
        runs(inv, &["ls", "find", "fd", "echo", "printf", "grep", "rg"])
            && inv.operands.iter().any(|arg| around_protected(arg, inv, scene))
    };
    if let Some(taken) =
        all.iter().filter(|inv| inv.feeds.is_some() && lists(inv)).find_map(|inv| all.get(inv.feeds?))
        && runs(taken, TAKERS)
    {
        return Found::yes(&taken.text);
    }
    let line = scene.command_line();
    if ["xargs", "read ", "mapfile ", "readarray ", "=(", "printf -v"].iter().any(|way| line.contains(way)) {
        // What comes by another way than the pipeline: whatever is taken of it is not known.
        let blind = |arg: &Arg| arg.has_unknown() && arg.pieces.len() == 1;
        let taken = scene.first(TAKERS, |inv| inv.operands.iter().any(blind));
        let words = || line.split(|c: char| c.is_whitespace() || "()'\"=;<>|&".contains(c));
        let named = |inv: &Invocation| {
            words().any(|word| word.contains('.') && around_protected(&Arg::literal(word), inv, scene))
        };
        if let Some(taken) = taken.filter(|inv| named(inv) || all.iter().any(lists)) {
            return Found::yes(&taken.text);
        }
    }
    let found = all.iter().find(|inv| {
        let from_list = inv.wrappers.iter().any(|name| matches!(name.as_str(), "xargs" | "parallel"));
        from_list
            && !runs(inv, LOOKERS)
            && all.iter().any(|lister| {
                lister.pipeline == inv.pipeline
                    && lister.stage < inv.stage
                    && lister.operands.iter().any(|arg| around_protected(arg, lister, scene))
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn git_restores<'a>(scene: &Scene<'a>) -> Found<'a> {
    const WRITING: &[&str] = &[
        "checkout",
        "restore",
        "rm",
        "mv",
        "stash",
        "checkout-index",
        "apply",
        "am",
        "read-tree",
        "update-index",
    ];
    let found = scene.first(GIT, |inv| {
        let writes = inv.sub.first().is_some_and(|sub| WRITING.contains(&sub.as_str()));
        let index_only =
            has_flag(inv, "--cached") || (has_flag(inv, "--staged") && !has_flag(inv, "--worktree"));
        let paths = inv.operands.iter().chain(inv.args.iter().rev().take(1));
        writes && !index_only && { paths }.any(|arg| around_protected(arg, inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Commands of lazaret that only look, and those that look unless told otherwise.
const LOOKING: &[&str] =
    &["check", "doctor", "stats", "completions", "man", "help", "agents", "ref", "hook", "review", "run"];
const LOOKING_SUBS: &[(&str, &[&str])] = &[
    ("audit", &["show", "tail", "verify", "export"]),
    ("config", &["show", "check", "path"]),
    ("trust", &["show", ""]),
    ("rules", &["list", "show", "test"]),
    ("checkpoint", &["list", "show"]),
];

fn own_commands<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(OWN, |inv| {
        let mut words = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().map(Arg::prefix));
        let (first, second) = (words.next(), words.next().unwrap_or_default());
        let Some(first) = first else { return inv.args.iter().any(Arg::has_unknown) };
        // Into a file whose content is in part an agent's own words.
        let writes = (first, second) == ("audit", "export")
            && inv.args.iter().any(|arg| arg.prefix().starts_with("--output"));
        let help = inv.args.iter().any(|arg| matches!(arg.known(), Some("--help" | "-h" | "--dry-run")));
        let looks = LOOKING.contains(&first)
            || LOOKING_SUBS.iter().any(|(name, subs)| *name == first && subs.contains(&second));
        !help && (writes || !looks)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn variables<'a>(scene: &Scene<'a>) -> Found<'a> {
    let guarding = |text: &str| {
        ["LAZARET_", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_DISABLE", "OPENCODE_CONFIG"]
            .iter()
            .any(|name| text.starts_with(name))
    };
    let found = scene.first(SETTERS, |inv| {
        let sets = match inv.program.as_str() {
            "launchctl" => inv
                .args
                .first()
                .and_then(Arg::known)
                .is_some_and(|word| matches!(word, "setenv" | "unsetenv")),
            "systemctl" => inv
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("set-environment" | "unset-environment"))),
            _ => true,
        };
        sets && inv.args.iter().any(|arg| guarding(arg.prefix()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn hooks_disabled<'a>(scene: &Scene<'a>) -> Found<'a> {
    let json = |path: &str| path.ends_with(".json") || path.ends_with(".jsonc") || path.ends_with(".json5");
    match &scene.view.call.action {
        Action::Write { path, content, long } | Action::Edit { path, content, long } => {
            let settings = contains_word(path, "/.claude/") && json(path);
            if json(path) && squeeze(content).contains("disableAllHooks") {
                return Found::yes(path);
            }
            // Longer than we look: only a settings file would be worth hiding it in.
            if long.is_some() && settings { Found::unsure(path) } else { Found::No }
        }
        Action::Shell { command, .. } => {
            if !command.contains("disableAllHooks") {
                return Found::No;
            }
            let written = scene
                .effects()
                .find(|(effect, _)| WRITES.contains(&effect.kind) && json(effect.target.text()));
            written.map_or(Found::No, |_| Found::yes(command))
        }
        // The client's own tool for its settings.
        Action::Other { text, .. } => {
            let sets = scene.view.call.tool.name() == "Config" && text.contains("\"value\"");
            let of_hooks = || text.to_ascii_lowercase().contains("hooks");
            if sets && of_hooks() { Found::yes(text) } else { Found::No }
        }
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Spawn { .. } => {
            Found::No
        }
    }
}
