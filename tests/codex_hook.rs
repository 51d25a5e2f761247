//! The built binary as Codex calls it: what is typed into a running program comes to no hook, and a call names its own directory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// One call of a client's shell in a session at `project`, in the directory `cwd`.
fn asked(client: &str, home: &Path, project: &Path, cwd: &Path, command: &str) -> Output {
    let mut hook = Command::new(env!("CARGO_BIN_EXE_lazaret"));
    hook.args(["hook", client, "--home"]).arg(home).current_dir(project);
    handed(&mut hook, "/usr/bin:/bin", cwd, command)
}

/// What a program answers to the message of that call, with that search path and nothing else of an environment.
fn handed(program: &mut Command, path: &str, cwd: &Path, command: &str) -> Output {
    let message = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": cwd, "model": "m",
        "hook_event_name": "PreToolUse", "permission_mode": "bypassPermissions", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "c",
    });
    let mut child = program
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn passes(output: &Output) -> bool {
    output.status.code() == Some(0)
        && serde_json::from_slice::<Value>(&output.stdout).is_ok_and(|answer| answer["continue"] == true)
}

#[test]
fn a_program_that_runs_what_is_typed_is_not_started() {
    let dir = tempfile::tempdir().unwrap();
    let (home, project) = (dir.path().join("home"), dir.path().join("home/proj"));
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("script.py"), "print(1)\n").unwrap();
    for command in [
        "bash",
        "bash -i",
        "sh -s",
        "env bash",
        "zsh",
        "python3",
        "python3 -i script.py",
        "node",
        "sqlite3 x.db",
        "psql shop",
        "ssh build.example.org",
        "vim notes.txt",
        "cat > notes.txt",
        "tee notes.txt",
        "cd /tmp && bash",
        "bash /dev/stdin",
        "source /dev/tty",
        "python3 -",
        "apply_patch < p.diff",
        "cat p.diff | apply_patch",
        "apply_patch \"$(cat p.diff)\"",
        "apply_patch p.diff",
    ] {
        let told = asked("codex", &home, &project, &project, command);
        let words = String::from_utf8_lossy(&told.stderr);
        assert!(told.status.code() == Some(2) && words.contains("self.typed"), "{command}: {told:?}");
        let other = asked("claude-code", &home, &project, &project, command);
        assert!(!String::from_utf8_lossy(&other.stderr).contains("self.typed"), "{command}: {other:?}");
    }
    for command in [
        "ls",
        "bash -c 'echo 1'",
        "python3 script.py",
        "python3 -c 'print(1)'",
        "python3 --version",
        "node --version",
        "echo 'select 1' | sqlite3 x.db",
        "sqlite3 x.db 'select 1'",
        "cat notes.txt",
        "cat <<'E' > notes.txt\na\nE",
        "echo x | tee notes.txt",
        "git log --oneline",
        "vim --version",
        "tmux ls",
        "nc -z localhost 3000",
        "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\nE",
    ] {
        let told = asked("codex", &home, &project, &project, command);
        assert!(passes(&told), "{command}: {told:?}");
    }
}

/// Codex starts a hook with a directory in front of the search path into which a call may write.
#[test]
fn a_program_in_front_of_the_search_path_does_not_answer_for_the_hook() {
    let dir = tempfile::tempdir().unwrap();
    let (home, shims) = (dir.path().join("home"), dir.path().join("shims"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&shims).unwrap();
    for name in ["timeout", "perl", "printf", "echo", "sh", "lazaret", "case", "command"] {
        let shim = shims.join(name);
        std::fs::write(&shim, "#!/bin/sh\necho '{\"continue\":true}'\n").unwrap();
        std::fs::set_permissions(&shim, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let places = ["--home".to_owned(), home.to_str().unwrap().to_owned()];
    let line = lazaret::adapters::codex::registration::command(env!("CARGO_BIN_EXE_lazaret"), &places, true);
    let path = format!("{}:/usr/bin:/bin", shims.display());
    let told = handed(Command::new("/bin/bash").args(["-c", &line]), &path, &home, "rm -rf /");
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stderr).contains("files.delete-root"), "{told:?}");
    // Nor may a call put one there.
    let tmp = home.join(".codex/tmp/arg0/x");
    let put = asked("codex", &home, &home, &home, &format!("cp t {}/timeout", tmp.display()));
    assert!(String::from_utf8_lossy(&put.stderr).contains("selfprotect."), "{put:?}");
}

#[test]
fn a_call_in_another_directory_is_judged_as_outside_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let (home, project) = (dir.path().join("home"), dir.path().join("home/proj"));
    let elsewhere = home.join("precious");
    for made in [&project, &elsewhere] {
        std::fs::create_dir_all(made.join("src")).unwrap();
    }
    let inside = asked("codex", &home, &project, &project, "find src -name '*.tmp' -delete");
    assert!(passes(&inside), "{inside:?}");
    let outside = asked("codex", &home, &project, &elsewhere, "find . -mindepth 1 -delete");
    assert_eq!(outside.status.code(), Some(2), "{outside:?}");
    let protected = asked("codex", &home, &project, &elsewhere, "echo x > ../proj/.codex/config.toml");
    assert!(String::from_utf8_lossy(&protected.stderr).contains("selfprotect."), "{protected:?}");
}
