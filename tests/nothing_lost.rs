//! What loses nothing passes without a word, and the same deletion gets the same answer in whatever words: through the built hook, in
//! real repositories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod undoing;

use std::fs;
use std::process::Command;

use common::{Answer, World};
use serde_json::{Value, json};
use undoing::{after, before, checkpoints, configured};

/// Runs shell commands in the project, for real.
fn really(world: &World, script: &str) {
    let out = Command::new("sh")
        .args(["-c", script])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(world.project())
        .output()
        .unwrap();
    assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
}

/// A project with two commits, a second branch, and nothing that git does not hold.
fn clean() -> World {
    committed(World::new())
}

fn committed(world: World) -> World {
    really(
        &world,
        "mkdir tests other && echo a > tests/a.py && echo b > tests/b.py && echo r > README.md && git add . && \
         git commit -qm second && git branch topic HEAD~1",
    );
    world
}

/// A hook of git's lets no commit be made: what was staged for it stays staged.
const REFUSED: &str =
    "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; ";

/// What a person did before, and the call.
const PASSES: &[(&str, &str)] = &[
    ("", "git reset --hard"),
    ("", "git reset --hard HEAD -q"),
    ("", "git checkout -- ."),
    ("", "git checkout ."),
    ("", "git restore ."),
    ("", "git restore --staged --worktree ."),
    ("", "git clean -fd"),
    ("", "git reset --hard && git clean -fd"),
    ("", "git stash drop"),
    ("", "git checkout -f"),
    ("", "cd src && git checkout ."),
    ("", "git -C src checkout -- ."),
    ("", "bash -c 'git reset --hard'"),
    ("", "git status && git diff && git reset --hard && npm ci"),
    // Commits that no branch has any more stand in the reflog.
    ("", "git reset --hard HEAD~1"),
    ("", "git fetch && git reset --hard origin/main"),
    ("git gc -q; git pack-refs --all", "git reset --hard topic"),
    ("git checkout -q --detach; git commit -q --allow-empty -m loose", "git checkout -f main"),
    ("", "git switch --discard-changes topic"),
    ("", "git checkout topic -- src"),
    // Git's own times are old.
    ("touch src/* README.md", "git reset --hard"),
    ("cp -r src copy && rm -r src && mv copy src", "git checkout -- ."),
    // What git kept of the tree does not hold any more, and the commit is packed.
    ("echo x > a; git add a; git reset -q; rm a", "git reset --hard"),
    ("echo x > a; git add a; git reset -q; rm a; git gc -q", "git reset --hard"),
    ("git commit -q --amend -m other", "git reset --hard"),
    ("git worktree add -q ../beside topic", "git reset --hard"),
    // What is gone is not overwritten.
    ("rm src/main.rs", "git checkout -- src"),
    ("rm src/main.rs", "git reset --hard"),
    ("", "mv tests/*.py other/ && git checkout -- tests"),
    ("mv tests/*.py other/", "git checkout -- tests"),
    // Work that lies elsewhere, or that the command leaves alone.
    ("echo x >> README.md", "git checkout -- src"),
    ("echo x > notes", "git reset --hard"),
    ("echo x > notes", "git checkout ."),
    ("echo x > notes", "cd src && git clean -fd"),
    ("mkdir target && echo x > target/out", "git clean -fd"),
    ("mkdir empty", "git clean -fd"),
    ("git init -q inner && echo x > inner/notes", "git clean -fd"),
];

/// The same where something would be lost: never without a word.
const SPEAKS: &[(&str, &str)] = &[
    ("echo x >> README.md", "git reset --hard"),
    ("echo x >> README.md", "git checkout -- ."),
    ("echo x >> src/main.rs", "git checkout -- src"),
    ("echo x >> src/main.rs", "git -C src checkout ."),
    ("chmod +x README.md", "git reset --hard"),
    // The same length, with git's own times.
    ("t=$(mktemp); touch -r README.md $t; echo x > README.md; touch -r $t README.md", "git reset --hard"),
    ("echo x > a; git add a", "git reset --hard"),
    ("echo x > a; git add -N a", "git reset --hard"),
    ("echo x > a; git add a; git write-tree", "git reset --hard"),
    ("echo x > README.md; git add README.md; git write-tree", "git checkout HEAD -- ."),
    ("echo x > notes", "git clean -fd"),
    ("echo x > src/notes", "git clean -fd src"),
    ("echo x > src/notes", "git -C src clean -fd"),
    ("mkdir target && echo x > target/out", "git clean -fdx"),
    ("mkdir target && echo x > target/out", "git clean -fdX"),
    ("git init -q inner && echo x > inner/notes", "git clean -ffd"),
    // The other commit may have a file of that name.
    ("echo x > notes", "git reset --hard HEAD~1"),
    ("echo x > notes", "git checkout -f topic"),
    ("rm -r .git/logs", "git reset --hard HEAD~1"),
    // What the call itself puts there.
    ("echo x > notes", "git add -A && git reset --hard"),
    ("echo x > a; git add a", "git reset && git clean -fd"),
    ("echo x > README.md; git add README.md", "git reset && git checkout -- ."),
    ("echo x > README.md; git add README.md", "git restore --staged . && git restore ."),
    ("echo x > README.md; git stash -q", "git stash pop && git reset --hard"),
    ("echo x > README.md; git stash -q", "git stash drop"),
    ("echo x > README.md", "git stash && git stash drop"),
    ("echo x > notes", "mv notes src/main.rs && git checkout -- src"),
    // Something else lies where a file was.
    ("rm -r src; ln -s /tmp src", "git checkout -- ."),
    ("rm src/main.rs; mkdir src/main.rs; echo x > src/main.rs/y", "git checkout -- src/main.rs"),
    ("rm -r src; echo x > src", "git checkout -- src"),
    ("git config core.worktree /tmp", "git reset --hard"),
    // Not this project, or not to be told.
    ("", "git -C / reset --hard"),
    ("", "git -C .. reset --hard"),
    ("", "GIT_DIR=/x/.git git reset --hard"),
    ("", "git reset --hard; git submodule foreach git reset --hard"),
    ("", "git reset --hard; git ls-files | xargs git checkout -f --"),
    ("", "git push --force origin main && git reset --hard"),
];

#[test]
fn where_nothing_is_lost_it_passes_without_a_word() {
    for (prepared, command) in PASSES {
        let world = clean();
        really(&world, prepared);
        let answer = world.bash(command);
        assert!(answer.is_pass(), "{prepared} | {command}: {}{}", answer.stdout, answer.stderr);
    }
}

#[test]
fn where_something_is_lost_it_is_not_silent() {
    let staged = format!("{REFUSED}echo x > a; git add a; git commit -qm x || true");
    let changed = format!("{REFUSED}echo x > README.md; git commit -qam x || true");
    let refused = [(staged.as_str(), "git reset --hard"), (changed.as_str(), "git reset --hard")];
    for (prepared, command) in SPEAKS.iter().chain(&refused) {
        let world = clean();
        really(&world, prepared);
        assert!(!world.bash(command).is_pass(), "{prepared} | {command}");
    }
}

#[test]
fn it_passes_too_where_checkpoints_make_nothing_milder() {
    for setting in ["instead_of_block = false\n", "enabled = false\n"] {
        let world = clean();
        configured(&world, setting);
        assert!(world.bash("git reset --hard").is_pass(), "{setting}");
        really(&world, "echo x >> README.md");
        assert!(world.bash("git reset --hard").is_block(), "{setting}");
        assert!(checkpoints(&world).is_empty(), "{setting}");
    }
}

#[test]
fn nothing_is_saved_where_nothing_is_lost() {
    let world = clean();
    assert!(world.bash("git reset --hard HEAD~1").is_pass());
    assert!(checkpoints(&world).is_empty());
    assert_eq!(world.check("git reset --hard").0, 2, "a dry run does not look");
}

#[test]
fn a_side_of_a_conflict_is_taken() {
    let world = clean();
    really(
        &world,
        "git checkout -q topic && echo theirs > src/main.rs && git commit -qam theirs && git checkout -q main && \
         echo ours > src/main.rs && git commit -qam ours && ! git merge -q topic",
    );
    for command in [
        "git checkout --theirs src/main.rs",
        "git checkout --ours -- src/main.rs",
        "git checkout --theirs -- src",
        "git checkout --ours .",
        "git restore --theirs src/main.rs",
        "git checkout --theirs src/main.rs && git add src/main.rs",
    ] {
        let answer = world.bash(command);
        assert_eq!(answer.code, Some(0), "{command}: {}", answer.stderr);
        let asks = answer.stdout.contains("\"permissionDecision\":\"ask\"");
        assert!(!asks, "{command}: {}", answer.stdout);
    }
}

/// Words by which a file is deleted or emptied.
const FORMS: &[&str] = &[
    "rm X",
    "rm -f X",
    "rm -rf X",
    "unlink X",
    "find X -delete",
    "> X",
    ": > X",
    "true > X",
    "echo -n > X",
    "cat /dev/null > X",
    "truncate -s0 X",
    "truncate --size=0 X",
    "dd of=X",
    "dd if=/dev/null of=X",
    "cp /dev/null X",
    "tee X < /dev/null",
];
/// Those that git itself refuses for a file that it does not track.
const OF_GIT: &[&str] = &["git rm X", "git rm -f X"];

/// What a kind of file is, where it lies, and whether git tracks it.
const KINDS: &[(&str, &str, bool)] = &[
    ("unchanged", "src/main.rs", true),
    ("changed", "README.md", true),
    ("untracked", "src/new.rs", false),
    ("ignored", "local.cfg", false),
    ("of the session", "src/made.rs", false),
    ("outside", "../outside.txt", false),
    ("outside, of the session", "../made.txt", false),
];

/// Verdict, rules, and what was saved beside git's own files.
type Given = (Option<i32>, String, Vec<String>, Vec<String>);

fn given(kind: &str, file: &str, form: &str) -> Given {
    let world = committed(World::lasting());
    really(
        &world,
        "printf 'local.cfg\\n' >> .gitignore && git commit -qam ignore && echo changed >> README.md && echo new > src/new.rs && \
         echo cfg > local.cfg && echo x > ../outside.txt",
    );
    if kind.contains("of the session") {
        let path = world.project().join(file);
        let path = path.parent().unwrap().canonicalize().unwrap().join(path.file_name().unwrap());
        let input = json!({"file_path": path, "content": "made\n"});
        let answer = before(&world, "t1", "Write", &input);
        assert_eq!(answer.code, Some(0), "{}", answer.stdout);
        fs::write(&path, "made\n").unwrap();
        after(&world, "t1", "Write", &input);
    }
    let Answer { code, stdout, .. } =
        before(&world, "t2", "Bash", &json!({"command": form.replace('X', file)}));
    let event = world.audit().last().unwrap().clone();
    let reasons = event["reasons"].as_array().cloned().unwrap_or_default();
    let mut rules: Vec<String> =
        reasons.iter().map(|reason| reason["rule"].as_str().unwrap().to_owned()).collect();
    rules.sort();
    let saved = checkpoints(&world).into_iter().find(|made| made["tool"] == "Bash");
    let saved = saved.map_or_else(Vec::new, |made| {
        let (_, shown, _) = world.run(&["checkpoint", "show", "--json", made["id"].as_str().unwrap()]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let entries = shown["entries"].as_array().unwrap().iter();
        let outer = entries.filter(|entry| !entry["path"].as_str().unwrap().contains("/.git/"));
        let told = |entry: &Value| {
            let name = entry["path"].as_str().unwrap().rsplit('/').next().unwrap();
            format!("{name} {} {}", entry["kind"], entry["digest"])
        };
        outer.map(told).collect()
    });
    let asks = if stdout.contains("\"permissionDecision\":\"ask\"") { "ask" } else { "" };
    (code, format!("{} {asks}", event["verdict"]), rules, saved)
}

#[test]
fn one_rule_for_one_deletion() {
    for (kind, file, tracked) in KINDS {
        let forms = FORMS.iter().chain(OF_GIT.iter().filter(|_| *tracked));
        let all: Vec<(&str, Given)> = forms.map(|form| (*form, given(kind, file, form))).collect();
        let (_, first) = &all[0];
        assert_eq!(first.3.len(), 1, "{kind}: it is saved: {first:?}");
        for (form, given) in &all {
            assert_eq!(given, first, "{kind}: {form} is not as {}", all[0].0);
        }
        let passes = first.1 == "\"allow\" " && first.2.is_empty();
        assert_eq!(passes, *kind != "outside", "{kind}: {first:?}");
    }
}
