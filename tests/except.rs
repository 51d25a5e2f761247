//! `lazaret except`: a block names it, a person at a terminal makes it, and from then on the call runs with a warning.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::World;

const PUSH: &str = "git push --force origin main";

fn config(world: &World) -> String {
    fs::read_to_string(world.home().join(".config/lazaret/config.toml")).unwrap_or_default()
}

#[test]
fn what_a_block_prints_lets_the_call_run_once_a_person_has_typed_it() {
    let world = World::new();
    let blocked = world.bash(PUSH);
    assert!(blocked.is_block());
    let line =
        blocked.stderr.lines().chain(blocked.stdout.lines()).find(|line| line.contains("lazaret except"));
    let command = line.unwrap().split_once("lazaret ").unwrap().1.to_owned();
    let mut words: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(words, ["except", "git.push-force-protected", "--here"]);
    words.extend(["--reason", "a repository of mine alone"]);
    let (code, _, errors) = world.run(&words);
    assert!(code == 1 && errors.contains("terminal"), "{errors}");
    assert!(world.bash(PUSH).is_block());
    let (code, out) = world.at_terminal(&words);
    assert!(code == 0 && out.contains("accepted"), "{out}");
    let text = config(&world);
    for part in ["rule = \"git.push-force-protected\"", "repository = ", "expires = 2", "to = \"warn\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let now = world.bash(PUSH);
    assert!(!now.is_block(), "{} {}", now.stdout, now.stderr);
    let log = world.audit().last().unwrap().to_string();
    assert!(log.contains("a repository of mine alone"), "{log}");
}

#[test]
fn an_exception_for_one_command_is_for_no_other() {
    let world = World::new();
    let words = [
        "except",
        "git.push-force-protected",
        "--command",
        PUSH,
        "--for",
        "7d",
        "--reason",
        "agreed with all",
    ];
    assert_eq!(world.at_terminal(&words).0, 0);
    assert!(!world.bash(PUSH).is_block());
    assert!(world.bash("git push --force origin master").is_block());
    assert!(world.bash("git push --force origin main; rm -rf ~").is_block());
}

#[test]
fn what_could_have_no_effect_is_not_written() {
    let world = World::new();
    for (words, why) in [
        (
            vec!["except", "git.push-force-protectd", "--reason", "because"],
            "did you mean git.push-force-protected?",
        ),
        (vec!["except", "selfprotect.place-changed", "--reason", "because"], "no exceptions"),
        (vec!["except", "git.push-force-protected", "--for", "500d", "--reason", "because"], "days ahead"),
        (vec!["except", "git.push-force-protected", "--for", "10m", "--reason", "because"], "whole days"),
        (
            vec!["except", "files.delete-home", "--to", "allow", "--reason", "because"],
            "at most it becomes a warning",
        ),
        (vec!["except", "git.push-force-protected", "--reason", "x"], "reason"),
    ] {
        let (code, out) = world.at_terminal(&words);
        assert!(code != 0 && out.contains(why), "{words:?}: {out}");
    }
    assert_eq!(config(&world), "");
}

#[test]
fn what_stands_in_the_file_stays_and_what_nobody_accepted_is_not_accepted_along() {
    let world = World::new();
    world.configure("# mine\nprofile = \"production\"");
    let words = ["except", "git.push-force-protected", "--here", "--reason", "a repository of mine alone"];
    assert_eq!(world.at_terminal(&words).0, 0);
    assert!(
        config(&world).starts_with("# mine\nprofile = \"production\"\n\n[[exceptions]]\n"),
        "{}",
        config(&world)
    );
    world.unaccepted("[reviewer]\nenabled = false\n");
    let (code, out) = world.at_terminal(&words);
    assert!(code != 0 && out.contains("lazaret config accept"), "{out}");
    assert!(!config(&world).contains("exceptions"));
}

#[test]
fn an_agent_makes_none() {
    let world = World::new();
    for command in [
        "lazaret except git.push-force-protected --reason x",
        "script -qec 'lazaret except git.push-force-protected' /dev/null",
    ] {
        assert!(world.bash(command).is_block(), "{command}");
    }
}
