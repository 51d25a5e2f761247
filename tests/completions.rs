//! What the shells complete: the scripts in the real shells, as far as these are installed, and values out of the rules, the log and
//! the store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::World;
use serde_json::json;

/// A session whose name is meant for the prompt it is completed at.
const HOSTILE: &str = "s1 $(touch owned)`touch owned`;'\"\\*";

/// What stands for a word of the line `words` in the answer to the shell.
fn asked(world: &World, words: &[&str]) -> Vec<String> {
    let (code, out, err) = world.run(&[&["completions", "bash", "--", "lazaret"], words].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// A shell with the script of its own sourced, the program on its path; none where the shell is not here.
fn shell(world: &World, name: &str, args: &[&str]) -> Option<Vec<String>> {
    let (_, script, _) = world.run(&["completions", name]);
    let file = world.home().join(format!("completion.{name}"));
    fs::write(&file, script).unwrap();
    let path = format!("{}:/usr/bin:/bin", Path::new(common::BIN).parent().unwrap().display());
    let mut command = Command::new(name);
    command.args(args).current_dir(world.project());
    command.env_clear().env("HOME", world.home()).env("PATH", path).env("SCRIPT", &file);
    let out = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let _ = writeln!(std::io::stderr(), "not tried: {name} is not installed");
            return None;
        }
        out => out.unwrap(),
    };
    assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{name}: errors at the prompt");
    Some(String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect())
}

/// A line in bash, taken apart as readline does it: at blanks, and at `=` and `:`.
fn in_bash(world: &World, line: &str) -> Vec<String> {
    let code = "source \"$SCRIPT\"; COMP_LINE=$1 COMP_POINT=${#1}; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _lazaret; \
                printf '%s\\n' \"${COMPREPLY[@]}\"";
    let spread = line.replace('=', " = ");
    let mut words: Vec<&str> = spread.split_whitespace().collect();
    if line.ends_with(' ') {
        words.push("");
    }
    let args = [&["--norc", "-c", code, "bash", line], words.as_slice()].concat();
    shell(world, "bash", &args).expect("bash is there")
}

/// A world with a blocked call, one of a hostile session, and a checkpoint.
fn with_a_past() -> World {
    let world = World::lasting();
    world.configure("[checkpoints]\nenabled = true\n");
    assert!(world.bash("git reset --hard HEAD~1").is_block() || !world.audit().is_empty());
    let mut message = world.message("Bash", &json!({"command": "git clean -fdx"}));
    message["session_id"] = json!(HOSTILE);
    let _ = world.hook("claude-code", message.to_string().as_bytes());
    let write =
        json!({"file_path": world.project().join("src/main.rs"), "content": "fn main() { todo() }\n"});
    assert!(world.tool("Write", &write).is_pass());
    world
}

fn checkpoint(world: &World) -> String {
    let (_, out, _) = world.run(&["checkpoint", "list", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&out).unwrap();
    all["checkpoints"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn values_come_from_the_rules_the_log_and_the_store() {
    let world = with_a_past();
    assert!(asked(&world, &["rules", "show", "git.reset"]).contains(&"git.reset-hard".to_owned()));
    assert!(asked(&world, &["audit", "show", "--rule", "matrix."]).contains(&"matrix.high-high".to_owned()));
    assert!(asked(&world, &["audit", "show", "--session", ""]).contains(&"s".to_owned()));
    assert_eq!(asked(&world, &["rollback", ""]), [checkpoint(&world)]);
    assert_eq!(asked(&world, &["checkpoint", "list", "--session", ""]), ["s"]);
    assert_eq!(asked(&world, &["stats", "--client", "c"]), ["claude-code", "codex"]);
    assert_eq!(asked(&world, &["audit", "tail", "--verdict", "b"]), ["block"]);
    assert_eq!(asked(&world, &["run", "--profile", "p"]), ["production"]);
    assert!(asked(&world, &["audit", "show", "--event", ""]).contains(&"feedback".to_owned()));
    assert!(asked(&world, &["feedback", ""]).contains(&"last".to_owned()));
    assert_eq!(asked(&world, &["replay", ""]), [""], "names of files are the shell's");
    let allow = asked(&world, &["allow", ""]);
    assert!(allow.iter().all(|word| word.starts_with("--")), "a code is nobody's to offer: {allow:?}");
}

#[test]
fn rules_of_ones_own_and_open_reviews_are_among_them() {
    let world = World::new();
    world.configure(
        "[[rules.custom]]\nid = \"acme.deploy\"\ndomain = \"acme\"\nverdict = \"block\"\nseverity = \"high\"\nreason = \"r\"\n\
         when = [{ command = { programs = [\"acmectl\"] } }]\nfires = [\"acmectl x\"]\nsilent = [\"ls\"]\n",
    );
    assert_eq!(asked(&world, &["except", "acme."]), ["acme.deploy"]);
    // Where keys lie in a directory of its own: others may have sessions open on this machine.
    let there = |args: &[&str]| {
        let out = world.command().args(args).env("LAZARET_HOME", world.home().join("all")).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let opened: serde_json::Value =
        serde_json::from_str(&there(&["review", "start", "--json", "src"])).unwrap();
    let session = opened["session"].as_str().unwrap();
    let offered = there(&["completions", "bash", "--", "lazaret", "review", "show", ""]);
    assert_eq!(offered.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>(), [session]);
    there(&["review", "end", session]);
}

#[test]
fn bash_completes() {
    let world = with_a_past();
    assert_eq!(in_bash(&world, "lazaret rules show git.reset-h"), ["git.reset-hard"]);
    assert_eq!(in_bash(&world, "lazaret rollback "), [checkpoint(&world)]);
    assert_eq!(in_bash(&world, "lazaret audit show --verdict "), ["allow", "warn", "modify", "block"]);
    assert_eq!(in_bash(&world, "lazaret audit show --verdict=bl"), ["block"], "the rest of the word only");
    assert_eq!(in_bash(&world, "lazaret run --profile te"), ["testing"]);
    assert!(in_bash(&world, "lazaret ").contains(&"rollback".to_owned()));
    assert!(in_bash(&world, "lazaret check --").contains(&"--explain".to_owned()));
    let sessions = in_bash(&world, "lazaret audit show --session s");
    assert!(sessions.contains(&"s".to_owned()), "{sessions:?}");
    // Whatever a session is called, its words are taken for one word and nothing else.
    let typed = sessions.iter().map(|word| format!("printf '%s\\n' {word}\n")).collect::<String>();
    let out = Command::new("bash").args(["-c", &typed]).current_dir(world.home()).output().unwrap();
    let back = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(back.lines().count(), sessions.len(), "{sessions:?}");
    assert!(!world.home().join("owned").exists() && !world.project().join("owned").exists());
}

#[test]
fn zsh_and_fish_complete() {
    let world = with_a_past();
    let code = "compdef() {}; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- \"$@\" }; _files() { print files }; \
                source $SCRIPT; words=(lazaret rules show git.reset-h); CURRENT=4; PREFIX=git.reset-h; _lazaret; \
                words=(lazaret audit show --verdict=bl); PREFIX=--verdict=bl; _lazaret; words=(lazaret replay ''); CURRENT=3; PREFIX=; _lazaret";
    if let Some(found) = shell(&world, "zsh", &["-f", "-c", code]) {
        assert_eq!(found, ["git.reset-hard", "--verdict=block", "files"]);
    }
    let code = "source $SCRIPT; complete -C 'lazaret rules show git.reset-h'; complete -C 'lazaret rollback '; complete -C 'lazaret run --profile te'";
    if let Some(found) = shell(&world, "fish", &["--no-config", "-c", code]) {
        let words: Vec<&str> = found.iter().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(words, ["git.reset-hard", checkpoint(&world).as_str(), "testing"]);
    }
}

/// Somebody waits at a prompt. The bound is that of a slow machine and an unoptimized build.
#[test]
fn it_is_quick_and_writes_nothing() {
    let world = World::new();
    let times = [["rules", "show", "git."], ["audit", "show", "--session"]].map(|words| {
        let start = Instant::now();
        asked(&world, &[&words[..], &[""]].concat());
        start.elapsed()
    });
    assert!(times.iter().min().unwrap() < &Duration::from_millis(500), "{times:?}");
    assert!(!world.state().exists(), "nothing was written");
}

/// What is wrong elsewhere does not come to the prompt.
#[test]
fn a_broken_configuration_says_nothing() {
    let world = World::new();
    world.unaccepted("this is no configuration [");
    assert_eq!(asked(&world, &["audit", "show", "--verdict", "w"]), ["warn"]);
    asked(&world, &["rules", "show", "git."]);
    asked(&world, &["audit", "show", "--session", ""]);
}
