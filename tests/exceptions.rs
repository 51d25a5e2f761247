//! `[[exceptions]]` with the real binary: what they lower, what they do not, and how they are told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::World;
use lazaret::host::{clock, trust};
use serde_json::Value;

/// A world whose user excepts what `text` says.
fn world(text: &str) -> World {
    let world = World::new();
    world.configure(&text.replace("PROJ", world.project().to_str().unwrap()));
    world
}

/// The day `days` from now.
fn day(days: u64) -> String {
    clock::rfc3339(clock::now().unix_ms + days * 86_400_000).get(..10).unwrap().to_owned()
}

fn verdict(world: &World, command: &str) -> String {
    world.check(command).1["verdict"].as_str().unwrap().to_owned()
}

fn entry(rule: &str, more: &str) -> String {
    format!("[[exceptions]]\nrule = \"{rule}\"\nreason = \"a scratch copy\"\n{more}\n")
}

#[test]
fn an_exception_lowers_its_rule_and_no_other() {
    let world = world(&entry("git.reset-hard", &format!("expires = {}", day(30))));
    let (code, answer) = world.check("git reset --hard");
    assert_eq!((code, &answer["verdict"]), (0, &Value::from("warn")), "{answer:#}");
    let used = &answer["exceptions"][0];
    assert_eq!(
        (&used["rule"], &used["was"], &used["verdict"], &used["reason"], &used["line"]),
        (
            &Value::from("git.reset-hard"),
            &Value::from("block"),
            &Value::from("warn"),
            &Value::from("a scratch copy"),
            &Value::from(1)
        )
    );
    assert!(used["file"].as_str().unwrap().ends_with("/.config/lazaret/config.toml"));
    assert!(answer["reasons"][0]["message"].as_str().unwrap().contains("a scratch copy"));
    let (code, answer) = world.check("git reset --hard && git clean -fd");
    assert_eq!((code, &answer["reasons"][0]["rule"]), (2, &Value::from("git.clean")), "{answer:#}");
    assert_eq!(verdict(&world, "git reset --hard; rm -rf /"), "block");
}

#[test]
fn the_answer_and_the_log_name_it() {
    let world = world(&entry("git.push-force", "to = \"allow\""));
    // Lowered to nothing: silence for the client, a line for the log.
    let answer = world.bash("git push --force origin feature");
    assert!(!answer.is_block(), "{}", answer.stdout);
    let line = &world.audit()[0];
    assert_eq!(line["exceptions"][0]["rule"], "git.push-force", "{line:#}");
    assert_eq!(line["exceptions"][0]["reason"], "a scratch copy");
    assert_ne!(line["verdict"], "modify");
    let (_, told, _) = world.run(&["check", "git push --force origin feature"]);
    assert!(
        told.contains("exception from git.push-force: allow instead of modify, a scratch copy"),
        "{told}"
    );
}

#[test]
fn a_path_holds_all_that_the_call_touches() {
    let world = world(&entry("secrets.env-file", "to = \"allow\"\npath = \"PROJ/config\""));
    for file in ["config/.env", "config/deep/.env", ".env"] {
        let path = world.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "TOKEN=x\n").unwrap();
    }
    std::os::unix::fs::symlink("../.env", world.project().join("config/.env.linked")).unwrap();
    for (command, expected) in [
        ("cat config/.env", "allow"),
        ("cd config && cat deep/.env", "allow"),
        ("cat .env", "modify"),
        ("cat config/.env .env", "modify"),
        ("cat config/../.env", "modify"),
        ("cat config/.env \"$X/.env\"", "modify"),
        ("cat config/.env.linked", "modify"),
    ] {
        assert_eq!(verdict(&world, command), expected, "{command}");
    }
}

#[test]
fn what_is_excepted_by_its_place_is_not_rated_once_more() {
    let place = "/data/of-nobody";
    let until = format!("expires = {}\npath = \"{place}/a\"", day(30));
    let world = world(&entry("files.delete-outside", &until));
    let command = format!("rm -rf {place}/a/b");
    let (_, answer) = world.check(&command);
    assert_eq!(answer["verdict"], "warn", "{answer:#}");
    assert_eq!(answer["risk"]["level"], "critical", "the answer's risk is that of the call: {answer:#}");
    assert_eq!(verdict(&world, &format!("rm -rf {place}/a/b {place}/c")), "block");
    assert_eq!(verdict(&world, &format!("sudo rm -rf {place}/a/b")), "block");
    assert_eq!(verdict(&world, &format!("rm -rf {place}/a/b; git reset --hard")), "block");
}

#[test]
fn a_repository_is_where_the_call_is_made_and_stays() {
    let world = world(&entry("git.reset-hard", &format!("repository = \"PROJ\"\nexpires = {}", day(30))));
    fs::create_dir_all(world.home().join("other/.git")).unwrap();
    for (command, expected) in [
        ("git reset --hard", "warn"),
        ("cd src && git reset --hard", "warn"),
        ("git -C src reset --hard", "warn"),
        ("cd ../other && git reset --hard", "block"),
        ("git -C ../other reset --hard", "block"),
        ("git --git-dir=../other/.git --work-tree=.. reset --hard", "block"),
        ("GIT_DIR=../other/.git git reset --hard", "block"),
        ("cd \"$D\" && git reset --hard", "block"),
        ("git reset --hard > ../other/log", "block"),
    ] {
        assert_eq!(verdict(&world, command), expected, "{command}");
    }
    let (_, told, _) =
        world.run(&["check", "--json", "--cwd", world.home().to_str().unwrap(), "git reset --hard"]);
    assert!(told.contains("\"verdict\": \"block\""), "{told}");
}

#[test]
fn tool_and_agent_must_fit_exactly() {
    let world = world(&entry("git.push-force", "to = \"warn\"\nagent = \"release\"\ntool = \"Bash\""));
    let of = |agent: &str| {
        let (_, told, _) =
            world.run(&["check", "--json", "--agent", agent, "git push --force origin feature"]);
        serde_json::from_str::<Value>(&told).unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("release"), "warn");
    assert_eq!(of("x:release"), "modify");
    assert_eq!(verdict(&world, "git push --force origin feature"), "modify");
    let world = self::world(&entry("git.push-force", "to = \"warn\"\nagent = \"main\""));
    assert_eq!(verdict(&world, "git push --force origin feature"), "warn");
}

#[test]
fn the_graver_the_rule_the_more_is_demanded() {
    let soon = format!("expires = {}", day(30));
    let late = format!("expires = {}", day(200));
    for (rule, command, more, expected) in [
        ("git.reset-hard", "git reset --hard", "", "block"),
        ("git.reset-hard", "git reset --hard", "expires = 2020-01-01", "block"),
        ("git.reset-hard", "git reset --hard", "expires = 2999-01-01", "block"),
        ("git.reset-hard", "git reset --hard", late.as_str(), "warn"),
        ("cloud.terraform-destroy", "terraform destroy -auto-approve", "", "block"),
        ("cloud.terraform-destroy", "terraform destroy -auto-approve", late.as_str(), "block"),
        ("cloud.terraform-destroy", "terraform destroy -auto-approve", soon.as_str(), "warn"),
        ("selfprotect.killed", "pkill lazaret", soon.as_str(), "block"),
    ] {
        let world = world(&entry(rule, more));
        assert_eq!(verdict(&world, command), expected, "{rule} {more}");
        let (code, told, _) = world.run(&["config", "check"]);
        // One whose time is over was no mistake when it was written.
        let is_mistake = expected == "block" && !more.contains("2020");
        assert_eq!(code == 1, is_mistake, "{rule} {more}: {told}");
        assert_eq!(told.contains("has no effect"), expected == "block", "{rule} {more}: {told}");
        let file = world.home().join(".config/lazaret/config.toml");
        assert_eq!(world.run(&["config", "check", file.to_str().unwrap()]).0, code, "{rule} {more}");
    }
    let allowed = world(&entry("cloud.terraform-destroy", &format!("{soon}\nto = \"allow\"")));
    assert_eq!(verdict(&allowed, "terraform destroy -auto-approve"), "block");
    let (_, told, _) = allowed.run(&["config", "check"]);
    assert!(told.contains("at most it becomes a warning"), "{told}");
}

#[test]
fn what_a_rule_cannot_tell_is_not_excepted() {
    let world = world(&entry("git.push-force-protected", &format!("to = \"allow\"\nexpires = {}", day(30))));
    assert_ne!(verdict(&world, "git push --force origin main"), "block");
    assert_eq!(verdict(&world, "git push --force origin \"$B\""), "block");
}

#[test]
fn a_projects_exceptions_need_trust_and_stay_in_it() {
    let world = World::new();
    let file = world.project().join(".lazaret.toml");
    let until = format!("expires = {}", day(30));
    let text = entry("git.reset-hard", &until) + &entry("cloud.terraform-destroy", &until);
    fs::write(&file, &text).unwrap();
    assert_eq!(verdict(&world, "git reset --hard"), "block");
    let (_, told, _) = world.run(&["config", "check"]);
    assert!(told.contains("nobody trusts this file") && told.contains("git.reset-hard"), "{told}");
    trust::allow(&world.state(), file.to_str().unwrap(), text.as_bytes()).unwrap();
    assert_eq!(verdict(&world, "git reset --hard"), "warn");
    assert_eq!(verdict(&world, "git -C .. reset --hard"), "block", "outside the file's directory");
    assert_eq!(verdict(&world, "terraform destroy -auto-approve"), "block", "critical");
    let (_, told, _) = world.run(&["config", "check"]);
    assert!(told.contains("only a managed or user file may except it"), "{told}");
    world.configure("[rules]\nexceptions_from = \"user\"\n");
    assert_eq!(verdict(&world, "git reset --hard"), "block");
}

#[test]
fn the_doctor_names_what_has_no_effect() {
    let world = world(&entry("git.clean", "expires = 2020-01-01"));
    let (_, told, _) = world.run(&["doctor"]);
    assert!(told.contains("git.clean") && told.contains("it expired (2020-01-01)"), "{told}");
}
