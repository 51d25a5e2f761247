//! Which of lazaret's own commands an agent can run, through the built binary: by the rule, and where a command was not seen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod programs;

use std::fs;
use std::process::Stdio;

use common::World;

/// Exit code and standard error of a command in the shell of a client's agent.
fn in_a_shell_of(variable: &str, world: &World, args: &[&str]) -> (Option<i32>, String) {
    let out = world.command().args(args).env(variable, "1").stdin(Stdio::null()).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn what_is_for_people_is_refused_in_an_agents_shell() {
    for variable in ["CLAUDECODE", "OPENCODE"] {
        let world = World::new();
        let people: [&[&str]; 8] = [
            &["config", "init"],
            &["install", "claude-code"],
            &["uninstall", "all"],
            &["review", "end", "--all"],
            &["audit", "prune"],
            &["rollback", "--last"],
            &["feedback", "last", "fp"],
            &["run", "--", "claude", "-p", "x"],
        ];
        for args in people {
            let (code, told) = in_a_shell_of(variable, &world, args);
            assert_eq!(code, Some(1), "{args:?}: {told}");
            assert!(
                told.contains("the command is for people") && told.contains(variable),
                "{args:?}: {told}"
            );
        }
        assert!(!world.home().join(".config/lazaret").exists(), "nothing was written");
        assert!(!world.home().join(".claude/settings.json").exists(), "nothing was registered");
        let agents: [&[&str]; 5] = [
            &["check", "ls"],
            &["config", "show"],
            &["rules", "--json"],
            &["install", "claude-code", "--dry-run"],
            &["uninstall", "--help"],
        ];
        for args in agents {
            let (code, told) = in_a_shell_of(variable, &world, args);
            assert_eq!(code, Some(0), "{args:?}: {told}");
        }
    }
    // Elsewhere it is a person's to say.
    let world = World::new();
    assert_eq!(world.run(&["config", "init"]).0, 0);
    assert!(world.home().join(".config/lazaret/config.toml").exists());
}

#[test]
fn own_commands_are_judged_however_they_are_called() {
    let world = World::new();
    let bin = world.home().join(".local/bin/lazaret");
    fs::create_dir_all(bin.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(common::BIN, &bin).unwrap();
    for command in [
        "lazaret hook claude-code < event.json",
        "lazaret run -- sh -c 'echo hello'",
        "lazaret review end --all",
        "~/.local/bin/lazaret review end --all",
        "env lazaret config accept",
        "$(which lazaret) config edit",
        "\"$(command -v lazaret)\" audit prune",
        "cp ~/.local/bin/lazaret ./l && ./l install --bin /tmp/x",
        "L=lazaret; $L hook opencode",
        "echo '--all' | xargs lazaret review end",
        "bash -c 'lazaret feedback last fp'",
    ] {
        let answer = world.bash(command);
        assert!(answer.is_block(), "{command}: {}{}", answer.stdout, answer.stderr);
        assert!(answer.stderr.contains("selfprotect."), "{command}: {}", answer.stderr);
    }
    for command in [
        "lazaret doctor",
        "lazaret review list",
        "~/.local/bin/lazaret audit show",
        "lazaret checkpoint list",
    ] {
        assert!(!world.bash(command).is_block(), "{command}");
    }
}

#[test]
fn what_run_starts_is_judged_as_a_command() {
    let world = World::new();
    let (_, told) = world.check("lazaret run --timeout 5m --json -- sh -c 'rm -rf ~/work'");
    let rules = told["reasons"].to_string();
    assert!(rules.contains("selfprotect.own-commands") && rules.contains("files.delete-"), "{rules}");
    let (_, told) = world.check("lazaret run -- claude -p x --settings '{\"disableAllHooks\":true}'");
    let rules = told["reasons"].to_string();
    assert!(rules.contains("selfprotect.client-unguarded"), "{rules}");
    let (code, _, error) = world.run(&["run", "--", "sh", "-c", "touch ran"]);
    assert!(code == 1 && error.contains("it starts only claude and opencode"), "{error}");
    assert!(!world.project().join("ran").exists());
}

/// A terminal that an agent's program makes for itself is not a person's.
#[test]
fn a_terminal_below_a_client_is_no_persons() {
    let world = World::new();
    world.unaccepted("[reviewer]\nenabled = false\n");
    let bin = common::BIN;
    for (name, is_refused) in [("claude", true), ("opencode", true), ("person", false)] {
        let program = world.home().join(name);
        let line = format!("#!/bin/sh\nscript -qec '{bin} config accept' /dev/null < /dev/null\nexit 0\n");
        programs::write(&program, line);
        let mut command = std::process::Command::new(&program);
        command
            .env_clear()
            .env("HOME", world.home())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(world.project());
        let told = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        assert_eq!(told.contains(&format!("{name} started it")), is_refused, "{name}: {told}");
        assert_eq!(told.contains("accepted, with exactly this content"), !is_refused, "{name}: {told}");
    }
}
