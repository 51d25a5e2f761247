//! The places that lazaret and the clients live in, changed, moved, linked or read.

use super::{ASK, CHANGES, TARS, aimed, around_protected, clients, transcripts, trees, unpacks, written};
use crate::domain::{EffectKind, Severity, Target, Verdict, join};
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists, operations, predicate};
use crate::rules::matcher::{
    At, Class, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, classify, flag_value,
    has_flag, inside, mentions_protected, runs, target_of,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
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
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
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
        id: "selfprotect.tree-read",
        verdict: Verdict::Modify,
        reason: "archives, copies, searches or shares a whole tree in which lazaret's keys or a client's credentials lie",
        instead: Some(Instead::Advice(
            "name the directories that are meant, without the one of lazaret and those of the clients",
        )),
        when: &[predicate(
            "tree_with_keys_read",
            Trigger::programs(trees::READERS).or(Trigger::TOOL),
            trees::read,
        )],
        fires: &[
            "tar cz ~/.local",
            "tar czf /tmp/x.tgz -C ~ .local",
            "cd ~/.local && tar cz .",
            "grep -ra . ~/.local/state",
            "rg -uu '' ~/.local",
            "Grep /home/u/.local .",
            "cp -r ~/.local /tmp/x",
            "cp -a ~/.claude /tmp/x",
            "rsync -a ~/.local/ /tmp/x",
            "zip -r /tmp/x.zip ~/.local",
            "7z a /tmp/x.7z ~/.local",
            "restic backup ~/.local",
            "find ~/.local | cpio -o > x",
            "diff -r ~/.local/state /tmp/empty",
            "docker run -v ~/.local/state:/x:ro alpine tar c /x",
            "docker run -v $HOME:/x alpine sh",
            "docker cp ~/.local c:/x",
            "python3 -m http.server -d ~/.local",
            "tar cz ~",
        ],
        silent: &[
            "grep -rn pattern ~/.local",
            "grep -r foo ~/proj",
            "rg foo ~",
            "grep -rl . ~/.local/share",
            "find ~ -name '*.txt'",
            "du -sh ~/.local",
            "ls -R ~/.local",
            "tar czf /tmp/x.tgz ~/Documents",
            "tar czf /tmp/x.tgz .",
            "cp -r src /tmp/x",
            "cp -r ~/.local/bin /tmp/x",
            "rsync -an ~/ /tmp/x",
            "docker run -v \"$PWD\":/app node:20 npm test",
            "python3 -m http.server",
            "tar xzf x.tgz",
        ],
        ..RULE
    },
    Rule {
        id: "quarantine.transcript-read",
        reason: "reads what a client keeps of its subagents: what a quarantined agent read stands in there",
        instead: Some(Instead::Advice(
            "use the cleaned report of the review, which is the answer of its agent",
        )),
        when: &[
            predicate(
                "transcript_of_a_subagent_read",
                Trigger::kinds(&[EffectKind::FileRead]),
                transcripts::read,
            ),
            predicate("transcripts_read_by_code", Trigger::INTERPRETER, transcripts::read_by_code),
        ],
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
            "rg x ~/.claude",
            "cd ~/.claude/projects && rg x",
            "cd ~/.claude; grep -rn x",
            "cd ~/.claude; find . -type d; grep -rn x",
            "find ~/.claude -iname '*.JSONL' -exec cat {} +",
            "Grep /home/u/.claude x",
            "cp -r ~/.claude /tmp/x",
            "tar cz ~/.claude",
            "find ~/.claude -name 'agent-*' -exec cat {} +",
            "python3 -c 'import pathlib; print([p.read_text() for p in pathlib.Path.home().rglob(\".claude/projects/p/*.jsonl\")])'",
            "python3 -c 'import os; print(open(os.path.expanduser(\"~/.claude/projects/p/s/subagents/agent-1.jsonl\")).read())'",
            "node -e 'console.log(require(\"fs\").readFileSync(process.env.HOME + \"/.claude/projects/p/s/subagents/agent-1.jsonl\"))'",
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
            "cd ~/.claude && find . -maxdepth 2 -type d | grep -v x | sort",
            "python3 - <<'E'\nimport os\nfor d, ds, fs in os.walk('/home/u/.claude'):\n  if 'projects' in d: continue\n  for f in fs: print(os.readlink(os.path.join(d, f)))\nE",
            "find ~/.claude -maxdepth 1 -name .gitignore -exec sed -n 1,20p {} +",
            "Grep /home/u/.claude/projects/-home-u-proj/d5fb.jsonl x",
            "ls ~/.claude/projects",
            "ls -la ~/.claude/projects/p/s/subagents",
            "find ~/.claude/projects -name '*.jsonl'",
            "jq . ~/.claude/projects/p/SESSION.jsonl",
            "tail ~/.claude/projects/p/*.jsonl",
            "cat ~/.claude/projects/p/memory/MEMORY.md",
            "grep -rl x ~/.claude/skills",
            "ls -R ~/.claude",
            "du -sh ~/.claude",
            "find ~/.claude -name settings.json",
            "python3 -c 'print(open(\"/home/u/.claude/projects/p/SESSION.jsonl\").read())'",
            "rg x ~/.claude/projects/p/SESSION.jsonl",
            "cd ~/.claude/projects && ls | rg x",
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
            "dpkg-deb -x p.deb ~",
            "dpkg -x p.deb ~/.local",
            "tar xzf x.tgz -C ~/.local/bin lazaret",
            "tar xzf x.tgz -C ~/.local/bin --strip-components=1 rel",
            "tar xzf x.tgz -C ~/.local/bin --transform=s/a/lazaret/ a",
            "cargo install --root ~/.local ripgrep",
            "cmake --install build --prefix ~/.local",
        ],
        silent: &[
            "cd ~ && git reset HEAD a.sh",
            "tar xzf x.tgz -C ~/.local/bin tool",
            "tar xzf x.tgz --strip-components=1 -C ~/.local/bin rel-1.0/tool",
            "cargo install ripgrep",
            "dpkg-deb -x p.deb build/root",
            "dpkg-deb -c p.deb",
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
        instead: Some(Instead::Command("git diff HEAD -- {last}")),
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
        instead: Some(Instead::Advice("read the file, and let the person change it")),
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
            "python3 -c \"open('/home/u/.claude/hooks/guard.py','w')\"",
            "python3 -c \"import os; open(os.path.expanduser('~/.claude/hooks/guard.py'),'w')\"",
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
            "python3 -c \"im.save('/tmp/opencode/cover.png')\"",
            "node build.js",
            "python3 manage.py settings",
            "echo '{}' | python3 .claude/hooks/guard.py",
            "python3 -c \"print(open('.claude/hooks/guard.py').read())\"",
            "cat .claude/settings.json",
            "jq . opencode.json",
            "git diff opencode.json",
            "prettier --check .claude/settings.json",
            "python3 -m json.tool .claude/settings.json",
            "python3 -m py_compile .claude/hooks/guard.py",
            "node --check .claude/hooks/guard.mjs",
            "ruff check .claude/hooks",
            "mypy .claude/hooks/guard.py",
            "prettier --write .",
            "docker run -v $PWD:/app node npm test",
            "docker run -v ~/.claude:/c:ro alpine cat /c/settings.json",
            "kubectl cp .claude/settings.json pod:/x",
            "python3 -c \"import os; print(os.listdir('.claude'))\"",
            "python3 <<'E'\nfrom pathlib import Path\np = Path.home() / '.claude' / 'projects'\n# Remove what stands twice\nprint(len(set(p.glob('**/*.jsonl'))))\nE",
            "gh pr create --title x --body 'changes .claude/settings.json'",
        ],
        ..RULE
    },
];

const LINKERS: &[&str] = &["ln", "link", "cp", "mount", "symlink", "mklink"];

const MOVERS: &[&str] = &["mv", "rename", "prename", "mmv"];

const MODE_SETTERS: &[&str] = &["chmod", "chown", "chattr", "chflags", "setfacl"];

/// Programs that put a tree somewhere.
const FILLERS: &[&str] = &[
    "tar", "bsdtar", "unzip", "7z", "cp", "rsync", "ditto", "cpio", "unrar", "unar", "python", "python3",
    "dpkg", "dpkg-deb",
];

const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "cpio"];

const GIT: &[&str] = &["git"];

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
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "nl",
    "cut",
];

/// `find` that does nothing with what it finds.
fn only_finds(inv: &Invocation) -> bool {
    const ACTIONS: &[&str] = &["-delete", "-exec", "-ok", "-fprint", "-fls"];
    let acts = |arg: &Arg| {
        arg.known().is_none_or(|arg| ACTIONS.iter().any(|action| arg.starts_with(action)))
            && arg.prefix().starts_with('-')
    };
    inv.program == "find" && !inv.args.iter().any(acts)
}

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
    let mut words = operations::known_words(inv).into_iter();
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
            "dpkg" | "dpkg-deb" => {
                const UNPACKS: &[&str] = &["-x", "-X", "-R", "--extract", "--vextract", "--raw-extract"];
                let told = inv.args.iter().any(|arg| arg.known().is_some_and(|arg| UNPACKS.contains(&arg)));
                told && inv.args.len() > 2 && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
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
            && !only_finds(inv)
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
