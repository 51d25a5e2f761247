//! Checkpoints and rollback, through the built binary: what the hook saves before a call, and what a person gets back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod undoing;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Command;

use common::World;
use serde_json::json;
use undoing::{after, before, checkpoints, configured, git, rollback, shell, tree};

/// A machine on which what discards work stays blocked, whether it was saved or not.
fn switched_off() -> World {
    let world = World::new();
    configured(&world, "instead_of_block = false\n");
    world
}

/// Uncommitted work of every kind.
fn work(world: &World) {
    let project = world.project();
    fs::write(project.join("src/main.rs"), "fn main() { /* not committed */ }\n").unwrap();
    fs::set_permissions(project.join("src/main.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(project.join("src/deep/er")).unwrap();
    fs::write(project.join("src/deep/er/new.bin"), [0_u8, 255, 10, 0, 128]).unwrap();
    symlink("main.rs", project.join("src/link")).unwrap();
    fs::write(project.join("staged.txt"), "staged").unwrap();
    world.git(&["add", "staged.txt"]);
}

#[test]
fn a_reset_over_uncommitted_work_is_a_warning_and_can_be_undone() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    let answer = shell(&world, "t1", "git reset --hard", git(&["reset", "--hard"]));
    let told = answer.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(told.contains("lazaret rollback"), "{told}");
    assert_ne!(tree(&world), was);
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!((code, &done["conflicts"]), (0, &json!([])), "{done}");
    assert_eq!(tree(&world), was);
    let staged = Command::new("git")
        .args(["diff", "--cached", "--name-only"])
        .current_dir(world.project())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&staged.stdout).trim(), "staged.txt");
}

#[test]
fn the_last_call_is_that_of_the_project_one_stands_in() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "git reset --hard", git(&["reset", "--hard"]));
    let other = world.home().join("other");
    fs::create_dir_all(other.join("deep")).unwrap();
    git(&["init"])(&other);
    let from = |dir: &std::path::Path, args: &[&str]| {
        let out = world.command().current_dir(dir).arg("rollback").args(args).output().unwrap();
        (out.status.code().unwrap(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    for dir in [other.clone(), other.join("deep"), world.home().to_path_buf()] {
        let (code, told) = from(&dir, &["--last"]);
        assert!(code == 1 && told.contains("no checkpoint of this project"), "{told}");
        assert!(told.contains("checkpoint list") && told.contains("--last --any"), "{told}");
        assert_ne!(tree(&world), was);
    }
    assert_eq!(from(&other, &["--last", "--any", "--dry-run"]).0, 0);
    assert_eq!(from(&world.project().join("src"), &["--last"]).0, 0);
    assert_eq!(tree(&world), was);
}

#[test]
fn what_cleaning_and_stashing_discard_comes_back() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "git clean -fd", git(&["clean", "-fd"]));
    assert_ne!(tree(&world), was);
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(tree(&world), was);
    world.git(&["stash"]);
    shell(&world, "t2", "git stash drop", git(&["stash", "drop"]));
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    world.git(&["stash", "pop"]);
    assert_eq!(fs::read(world.project().join("staged.txt")).unwrap(), b"staged");
}

#[test]
fn a_reset_to_another_commit_comes_back_with_its_branch() {
    let world = World::new();
    fs::write(world.project().join("second.txt"), "second").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "-qm", "second"]);
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "git reset --hard HEAD~1", git(&["reset", "--hard", "HEAD~1"]));
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 0, "{done}");
    assert_eq!(tree(&world), was);
    let log = Command::new("git").args(["log", "--format=%s"]).current_dir(world.project()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&log.stdout), "second\nbegin\n");
}

#[test]
fn a_removed_directory_comes_back_and_the_rollback_can_be_undone() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    let answer =
        shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    assert!(
        answer.json()["systemMessage"].as_str().unwrap().contains("lazaret rollback"),
        "{}",
        answer.stdout
    );
    let gone = tree(&world);
    let (code, dry) = rollback(&world, &["--last", "--dry-run"]);
    assert_eq!((code, tree(&world) == gone), (0, true), "a dry run changes nothing");
    assert!(!dry["restored"].as_array().unwrap().is_empty());
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 0, "{done}");
    assert_eq!(tree(&world), was);
    let (code, undone) = rollback(&world, &[done["rollback"].as_str().unwrap()]);
    assert_eq!(code, 0, "{undone}");
    assert_eq!(tree(&world), gone);
}

#[test]
fn what_a_call_made_goes_and_what_a_person_changed_since_stays() {
    let world = World::new();
    let (made, kept) = (world.project().join("docs/made.md"), world.project().join("src/main.rs"));
    let write = json!({"file_path": made, "content": "by the agent"});
    assert!(before(&world, "t1", "Write", &write).is_pass());
    fs::create_dir_all(made.parent().unwrap()).unwrap();
    fs::write(&made, "by the agent").unwrap();
    after(&world, "t1", "Write", &write);
    let edit = json!({"file_path": kept, "old_string": "fn", "new_string": "pub fn"});
    assert!(before(&world, "t2", "Edit", &edit).is_pass());
    fs::write(&kept, "pub fn main() {}\n").unwrap();
    after(&world, "t2", "Edit", &edit);
    fs::write(&kept, "a person was here\n").unwrap();
    let (code, done) = rollback(&world, &["--prompt", "prompt-1"]);
    assert_eq!(code, 1, "{done}");
    assert!(!made.exists() && !made.parent().unwrap().exists(), "{done}");
    assert_eq!(done["conflicts"][0]["path"], json!(kept.canonicalize().unwrap()));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "a person was here\n");
    let id = checkpoints(&world)[1]["id"].as_str().unwrap().to_owned();
    let (code, done) = rollback(&world, &[&id, "--force", "src/main.rs"]);
    assert_eq!(code, 0, "{done}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "fn main() {}\n");
}

#[test]
fn a_change_by_a_person_between_two_calls_is_not_lost() {
    let world = World::new();
    let file = world.project().join("src/main.rs");
    for (id, content) in [("t1", "first"), ("t2", "second")] {
        let write = json!({"file_path": file, "content": content});
        assert!(before(&world, id, "Write", &write).is_pass());
        fs::write(&file, content).unwrap();
        after(&world, id, "Write", &write);
        if id == "t1" {
            fs::write(&file, "a person's").unwrap();
        }
    }
    assert_eq!(rollback(&world, &["--prompt", "prompt-1"]).0, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "second");
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a person's");
}

#[test]
fn a_client_that_was_killed_before_it_reported_leaves_nothing_to_guess() {
    let world = World::new();
    let file = world.project().join("src/main.rs");
    let input = json!({"command": "rm src/main.rs"});
    before(&world, "t1", "Bash", &input);
    assert_eq!(rollback(&world, &["--last"]).1["unchanged"], json!(1), "killed between checkpoint and call");
    fs::write(&file, "somebody's").unwrap();
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!((code, done["conflicts"].as_array().unwrap().len()), (1, 1), "{done}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's");
    fs::remove_file(&file).unwrap();
    assert_eq!(rollback(&world, &["--last"]).0, 0, "what is gone can come back");
    assert_eq!(fs::read_to_string(&file).unwrap(), "fn main() {}\n");
}

#[test]
fn links_sockets_and_pipes_are_what_they_are() {
    let world = World::new();
    let src = world.project().join("src");
    let outside = world.home().join("outside.txt");
    fs::write(&outside, "not ours").unwrap();
    symlink(&outside, src.join("out")).unwrap();
    fs::hard_link(src.join("main.rs"), world.project().join("twin.rs")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(src.join("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(src.join("pipe")).status().unwrap().success());
    shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 0, "{done}");
    assert_eq!(fs::read_link(src.join("out")).unwrap(), outside);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "not ours");
    assert_eq!(done["linked"].as_array().unwrap().len(), 1, "{done}");
    // A directory that has become a link since leads nobody elsewhere.
    shell(&world, "t2", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    fs::create_dir(world.home().join("elsewhere")).unwrap();
    symlink(world.home().join("elsewhere"), &src).unwrap();
    assert_eq!(rollback(&world, &["--last"]).0, 1);
    assert_eq!(fs::read_dir(world.home().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn what_is_too_large_is_named_and_a_deletion_of_it_is_asked_about() {
    let world = World::new();
    let huge = fs::File::create(world.project().join("src/huge.bin")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let answer = before(&world, "t1", "Bash", &json!({"command": "rm -rf src"}));
    assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{}", answer.stdout);
    assert!(answer.stdout.contains("huge.bin") && answer.stdout.contains("1024 MiB"), "{}", answer.stdout);
    let answer = before(&world, "t2", "Bash", &json!({"command": "git clean -fd"}));
    assert!(answer.is_block(), "not a warning without its checkpoint: {}", answer.stdout);
}

#[test]
fn ten_thousand_files_come_back() {
    let world = World::new();
    let many = world.project().join("many");
    for dir in 0..100 {
        let dir = many.join(dir.to_string());
        fs::create_dir_all(&dir).unwrap();
        for file in 0..100 {
            fs::write(dir.join(file.to_string()), format!("{} {file}", dir.display())).unwrap();
        }
    }
    let was = tree(&world);
    let answer = before(&world, "t1", "Bash", &json!({"command": "rm -rf many"}));
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let saved = checkpoints(&world);
    if saved.first().is_none_or(|saved| saved["complete"] == json!(false)) {
        // A slow machine, or one that could not write: then it was not let through as if it were saved.
        let (told, why) = (answer.json(), "checkpoint.incomplete");
        assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "ask", "{}", answer.stdout);
        assert!(answer.stdout.contains(why), "{}", answer.stdout);
        return;
    }
    fs::remove_dir_all(&many).unwrap();
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 0, "{}", done["conflicts"]);
    assert!(tree(&world) == was);
}

#[test]
fn a_full_disk_loses_nothing() {
    let world = World::new();
    let file = world.project().join("src/main.rs");
    fs::write(&file, "x".repeat(100_000)).unwrap();
    shell(&world, "t1", "rm src/main.rs", |_| fs::remove_file(&file).unwrap());
    fs::write(world.project().join("other"), "there").unwrap();
    // No file may become longer than some blocks: the content does not fit.
    let limited = |blocks: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" rollback --last --json");
        Command::new("sh")
            .args(["-c", &script, common::BIN])
            .env_clear()
            .env("HOME", world.home())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(world.project())
            .output()
            .unwrap()
    };
    let out = limited("32");
    assert_ne!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
    let names: Vec<_> = fs::read_dir(world.project().join("src")).unwrap().flatten().collect();
    assert!(names.is_empty(), "no half of a file stays: {names:?}");
    let id = checkpoints(&world)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(rollback(&world, &[&id]).0, 0);
    assert_eq!(fs::read(&file).unwrap().len(), 100_000);
}

#[test]
fn a_call_that_leans_on_its_checkpoint_does_not_run_without_it() {
    let world = World::new();
    work(&world);
    world.bash("ls");
    fs::write(world.state().join("checkpoints"), "in the way").unwrap();
    let answer = before(&world, "t1", "Bash", &json!({"command": "git reset --hard"}));
    assert!(answer.is_block(), "{}", answer.stdout);
    let answer = before(&world, "t2", "Bash", &json!({"command": "rm -rf src"}));
    assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{}", answer.stdout);
    let answer = before(&world, "t3", "Bash", &json!({"command": "ls src"}));
    assert!(answer.is_pass());
}

#[test]
fn the_store_is_the_owners_alone_and_nothing_is_made_for_calls_that_change_nothing() {
    let world = World::new();
    for command in [
        "ls",
        "git status",
        "cat src/main.rs",
        "rm -rf target",
        "echo x > /dev/null",
        "git stash list",
        "git switch -c x",
    ] {
        world.bash(command);
    }
    assert!(!world.state().join("checkpoints").exists());
    shell(&world, "t1", "sed -i s/fn/pub/ src/main.rs", |_| {});
    let mut open = vec![world.state().join("checkpoints")];
    while let Some(dir) = open.pop() {
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700, "{}", dir.display());
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                open.push(entry.path());
            } else {
                assert_eq!(meta.mode() & 0o777, 0o600, "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn what_a_checkpoint_does_not_hold_stays_blocked() {
    let world = World::new();
    work(&world);
    for command in [
        "git clean -fdx",
        "git clean -ffd",
        "rm -rf .git",
        "rm -rf .",
        "git -C .. reset --hard",
        "cd / && git reset --hard",
        "GIT_DIR=/x/.git git reset --hard",
        "git push --force origin main && git reset --hard",
    ] {
        let answer = before(&world, "t", "Bash", &json!({ "command": command }));
        assert!(answer.is_block(), "{command}: {}", answer.stdout);
    }
    assert!(checkpoints(&world).is_empty(), "a call that does not run leaves no checkpoint");
}

#[test]
fn what_is_only_staged_counts_as_work() {
    let world = World::new();
    fs::write(world.project().join("staged.txt"), "staged").unwrap();
    world.git(&["add", "staged.txt"]);
    let was = tree(&world);
    let answer = shell(&world, "t1", "git reset --hard", git(&["reset", "--hard"]));
    assert!(answer.stdout.contains("lazaret rollback"), "{}", answer.stdout);
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(tree(&world), was);
}

#[test]
fn the_clients_settings_are_not_discarded_under_a_checkpoint() {
    let world = World::new();
    work(&world);
    let settings = world.project().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{}").unwrap();
    let reset = json!({"command": "git reset --hard"});
    assert_eq!(before(&world, "t1", "Bash", &reset).code, Some(0), "untracked: a reset leaves it alone");
    assert!(before(&world, "t2", "Bash", &json!({"command": "git clean -fd"})).is_block());
    world.git(&["add", "-f", ".claude"]);
    world.git(&["commit", "-qm", "without hooks"]);
    fs::write(&settings, r#"{"hooks": {}}"#).unwrap();
    for command in ["git reset --hard", "git checkout .", "git restore .", "git reset --hard HEAD~1"] {
        let answer = before(&world, "t3", "Bash", &json!({ "command": command }));
        assert!(answer.is_block(), "{command}: {}", answer.stdout);
    }
}

#[test]
fn where_it_is_not_wished_all_is_saved_and_nothing_is_milder() {
    let world = switched_off();
    work(&world);
    let was = tree(&world);
    assert!(world.bash("git reset --hard").is_block());
    assert!(!world.state().join("checkpoints").exists(), "for a call that does not run nothing is saved");
    let (code, answer) = world.check("git reset --hard");
    assert_eq!((code, &answer["verdict"]), (2, &json!("block")));
    assert!(!answer["reasons"].to_string().contains("checkpoint"), "{answer}");
    let (code, answer) = world.check("rm -rf src");
    assert_eq!((code, &answer["verdict"]), (0, &json!("warn")));
    assert!(answer["reasons"].to_string().contains("asks a person where that cannot be done"), "{answer}");
    let answer =
        shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    assert!(answer.stdout.contains("lazaret rollback"), "{}", answer.stdout);
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(tree(&world), was);
}

/// Directories that the call makes itself hold nothing yet.
#[test]
fn what_a_call_moves_out_of_a_directory_that_it_makes_is_not_asked_about() {
    let world = World::new();
    for command in [
        "mkdir -p stage out && cp README.md stage/a.txt && mv stage/*.txt out/",
        "mkdir a && touch a/x.txt && rm a/*.txt",
    ] {
        let answer = world.bash(command);
        assert!(
            !answer.is_block() && !answer.stdout.contains("could not be saved"),
            "{command}: {}",
            answer.stdout
        );
    }
}

#[test]
fn switched_off_nothing_is_saved() {
    let world = World::new();
    configured(&world, "enabled = false\ninstead_of_block = true\n");
    assert!(world.bash("git reset --hard").is_pass(), "nothing is there that it would discard");
    work(&world);
    assert!(world.bash("git reset --hard").is_block());
    assert_eq!(world.bash("rm -rf src").code, Some(0));
    assert!(!world.state().join("checkpoints").exists());
}

#[test]
fn a_call_that_a_person_is_asked_about_is_saved_first_too() {
    let world = switched_off();
    work(&world);
    world.git(&["stash"]);
    let answer = shell(&world, "t1", "git stash drop", git(&["stash", "drop"]));
    assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{}", answer.stdout);
    assert!(answer.stdout.contains("lazaret rollback"), "{}", answer.stdout);
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    world.git(&["stash", "pop"]);
    assert_eq!(fs::read(world.project().join("staged.txt")).unwrap(), b"staged");
}

#[test]
fn a_dry_run_answers_as_without_checkpoints_and_says_what_they_would_change() {
    let world = World::new();
    let (code, answer) = world.check("git reset --hard");
    assert_eq!((code, &answer["verdict"]), (2, &json!("block")));
    assert!(answer["reasons"].to_string().contains("would be a warning with a checkpoint"), "{answer}");
    let (code, stdout, _) = world.run(&["check", "--json", "--checkpoints", "git reset --hard"]);
    assert_eq!(code, 0, "{stdout}");
    assert!(!world.state().join("checkpoints").exists(), "a dry run saves nothing");
}

/// Runs a command of the shell in a directory of the project, for real.
fn really(world: &World, dir: &str, command: &str) {
    let status = Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir(world.project().join(dir))
        .output()
        .unwrap();
    assert!(status.status.success(), "{command}: {}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn the_branch_that_is_gone_to_by_force_stays_when_that_is_undone() {
    let world = World::new();
    world.git(&["branch", "feat"]);
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "git switch -f feat", git(&["switch", "-f", "feat"]));
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 0, "{done}");
    assert_eq!(tree(&world), was);
    assert!(world.project().join(".git/refs/heads/feat").is_file(), "{done}");
    let head = fs::read_to_string(world.project().join(".git/HEAD")).unwrap();
    assert_eq!(head, "ref: refs/heads/main\n");
}

#[test]
fn a_repository_inside_comes_back_with_its_history() {
    let world = World::new();
    for dir in ["lib", "src/deep/inner"] {
        fs::create_dir_all(world.project().join(dir)).unwrap();
        really(
            &world,
            dir,
            "git init -q && echo a > a && git add a && git -c user.name=u -c user.email=u commit -qm a",
        );
        let command = format!("rm -rf {}", dir.split('/').next().unwrap());
        shell(&world, "t1", &command, |_| really(&world, "", &command));
        assert!(!world.project().join(dir).exists());
        assert_eq!(rollback(&world, &["--last"]).0, 0);
        really(&world, dir, "git fsck --strict && git log -1 && test -z \"$(git status --short)\"");
    }
}

#[test]
fn what_git_ignores_is_saved_before_a_cleaning_and_what_is_not_is_said() {
    let world = World::new();
    fs::write(world.project().join(".gitignore"), "node_modules/\n.env\nlocal/\n").unwrap();
    world.git(&["commit", "-qam", "ignore"]);
    fs::write(world.project().join(".env"), "KEY=1\n").unwrap();
    fs::create_dir(world.project().join("local")).unwrap();
    fs::write(world.project().join("local/only"), "here").unwrap();
    let answer = shell(&world, "t1", "git clean -fX", git(&["clean", "-fX"]));
    assert!(answer.stdout.contains("not in it: ") && answer.stdout.contains("/local"), "{}", answer.stdout);
    assert!(!world.project().join(".env").exists());
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(fs::read_to_string(world.project().join(".env")).unwrap(), "KEY=1\n");
}

#[test]
fn the_only_name_of_commits_comes_back() {
    let world = World::new();
    really(
        &world,
        "",
        "git checkout -q -b only && git commit -q --allow-empty -m only && git checkout -q main && git tag -a v1 -m v1 only",
    );
    let names = |world: &World| {
        let out = Command::new("git").args(["for-each-ref"]).current_dir(world.project()).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    really(&world, "", "git pack-refs --all");
    let was = names(&world);
    for command in [
        "git branch -M main only",
        "git branch -f only main",
        "git update-ref refs/heads/only main",
        "git tag -d v1",
        "git tag -f v1 main",
        "git branch -D only",
    ] {
        let answer = before(&world, "t1", "Bash", &json!({ "command": command }));
        assert_eq!(answer.code, Some(0), "{command}: {}", answer.stdout);
        really(&world, "", command);
        after(&world, "t1", "Bash", &json!({ "command": command }));
        assert_ne!(names(&world), was, "{command}");
        let (code, done) = rollback(&world, &["--last"]);
        assert_eq!((code, names(&world)), (0, was.clone()), "{command}: {done}");
        really(&world, "", "git pack-refs --all && git reset -q --hard");
    }
}

#[test]
fn what_is_too_long_is_not_overwritten_without_a_word() {
    let world = World::new();
    let long = world.project().join("long.bin");
    fs::File::create(&long).unwrap().set_len(40 << 20).unwrap();
    for command in
        ["echo x > long.bin", "cp src/main.rs long.bin", "mv src/main.rs long.bin", "truncate -s 0 long.bin"]
    {
        let answer = before(&world, "t1", "Bash", &json!({ "command": command }));
        assert_eq!(
            answer.json()["hookSpecificOutput"]["permissionDecision"],
            "ask",
            "{command}: {}",
            answer.stdout
        );
        assert!(answer.stdout.contains("long.bin"), "{command}: {}", answer.stdout);
    }
    // What only goes elsewhere is not lost, but no rollback brings it back.
    let answer = before(&world, "t2", "Bash", &json!({"command": "mv long.bin elsewhere.bin"}));
    assert!(
        answer.code == Some(0) && answer.stdout.contains("not all that it changes could be saved"),
        "{}",
        answer.stdout
    );
}

#[test]
fn what_code_deletes_inside_the_project_comes_back() {
    let world = World::new();
    work(&world);
    for command in [
        "python3 -c \"import shutil; shutil.rmtree('src')\"",
        "node -e \"require('fs').rmSync('src', {recursive: true})\"",
        "awk 'BEGIN { print \"x\" > \"src/main.rs\" }'",
        "sed -n 'w src/main.rs' .gitignore",
    ] {
        let input = json!({ "command": command });
        assert_eq!(before(&world, "t1", "Bash", &input).code, Some(0), "{command}");
        fs::remove_dir_all(world.project().join("src")).unwrap();
        after(&world, "t1", "Bash", &input);
        let (code, done) = rollback(&world, &["--last"]);
        assert_eq!(code, 0, "{command}: {done}");
        let back = fs::read_to_string(world.project().join("src/main.rs"));
        assert!(back.is_ok_and(|text| text.contains("not committed")), "{command}: {done}");
    }
}
