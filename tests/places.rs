//! Where lazaret lives is said by its registration: whatever a project puts into the hook's environment, it judges with the same
//! configuration, writes to the same places, and says so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::{Answer, World};
use serde_json::{Value, json};

const OFF: &str = "[reviewer]\nenabled = false\n";

/// A project whose directory `.x` would be everything to lazaret, if it asked the environment.
struct Hostile(World);

impl Hostile {
    fn new() -> Hostile {
        let world = World::new();
        fs::create_dir(world.home().join("documents")).unwrap();
        fs::write(world.home().join("documents/thesis.txt"), "years\n").unwrap();
        for file in [".x/config/config.toml", ".x/lazaret/config.toml", ".x/.config/lazaret/config.toml"] {
            let file = world.project().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, OFF).unwrap();
        }
        Hostile(world)
    }

    /// The hook in an environment that these variables are set in; the registration names the home directory alone.
    fn hook(&self, message: &Value, set: &[(&str, String)]) -> Answer {
        let mut command = self.0.command();
        command.args(["hook", "claude-code", "--home", self.0.home().to_str().unwrap()]);
        command.envs(set.iter().map(|(name, value)| (*name, value.clone())));
        self.0.answer(&mut command, message.to_string().as_bytes())
    }

    fn bash(&self, command: &str, set: &[(&str, String)]) -> Answer {
        self.hook(&self.0.message("Bash", &json!({ "command": command })), set)
    }

    fn below(&self, name: &str) -> String {
        self.0.project().join(name).display().to_string()
    }

    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.0.project().join(".x")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                if entry.path().is_dir() {
                    open.push(entry.path())
                } else {
                    found.push(entry.path().display().to_string())
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn no_variable_says_where_lazaret_lives() {
    let hostile = Hostile::new();
    let before = hostile.files();
    let all =
        ["LAZARET_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME", "CLAUDE_CONFIG_DIR"];
    let mut environments: Vec<Vec<(&str, String)>> =
        all.iter().map(|name| vec![(*name, hostile.below(".x"))]).collect();
    environments.push(all.iter().map(|name| (*name, hostile.below(".x"))).collect());
    let mut told = 0;
    for (number, set) in environments.into_iter().enumerate() {
        let danger = format!("rm -rf {}", hostile.0.home().join("documents").display());
        let call = |command: &str| {
            let mut message = hostile.0.message("Bash", &json!({ "command": command }));
            message["session_id"] = json!(format!("s{number}"));
            hostile.hook(&message, &set)
        };
        assert!(call(&danger).is_block(), "{set:?}");
        assert!(call("ls").is_pass(), "{set:?}");
        assert_eq!(hostile.files(), before, "{set:?}");
        let log = hostile.0.audit();
        let noted = log.iter().filter(|line| line.to_string().contains("self.environment")).count();
        assert!(noted >= told + 2, "{set:?}: {log:#?}");
        told = noted;
        let start = json!({"session_id": "s", "cwd": hostile.0.project(), "hook_event_name": "SessionStart", "source": "startup"});
        let said = hostile.hook(&start, &set).json()["systemMessage"].to_string();
        assert!(set.iter().all(|(name, _)| said.contains(name)), "{said}");
    }
}

#[test]
fn a_session_without_such_variables_is_told_nothing() {
    let hostile = Hostile::new();
    let home = hostile.0.home().display().to_string();
    let set =
        [("HOME", home.clone()), ("XDG_CONFIG_HOME", format!("{home}/.config")), ("LANG", "C".to_owned())];
    let start = json!({"session_id": "s", "cwd": hostile.0.project(), "hook_event_name": "SessionStart", "source": "startup"});
    assert!(hostile.hook(&start, &set).is_pass());
    assert!(hostile.bash("ls", &set).is_pass());
    assert!(!hostile.0.audit().iter().any(|line| line.to_string().contains("self.environment")));
}

#[test]
fn no_variable_makes_work_expendable() {
    let hostile = Hostile::new();
    let home = hostile.0.home();
    let danger = format!("rm -rf {}", home.join("documents").display());
    for (name, value) in [
        ("TMPDIR", home.join("documents")),
        ("CLAUDE_PROJECT_DIR", home.join("documents")),
        ("CLAUDE_PROJECT_DIR", home.to_owned()),
    ] {
        let answer = hostile.bash(&danger, &[(name, value.display().to_string())]);
        assert!(answer.is_block(), "{name}={}: {}", value.display(), answer.stdout);
    }
    let mut message = hostile.0.message("Bash", &json!({ "command": danger }));
    let transcript = home.join(".claude/projects").join(hostile.below("").replace(['/', '.', '_'], "-"));
    message["transcript_path"] = json!(transcript.join("s.jsonl"));
    let set = [("CLAUDE_PROJECT_DIR", home.join("documents").display().to_string())];
    assert!(hostile.hook(&message, &set).is_block(), "the transcript is of another project");
}

#[test]
fn a_plugin_is_not_made_up_by_a_variable() {
    let hostile = Hostile::new();
    // No settings file registers lazaret: only a plugin would keep the gate.
    let message = json!({"session_id": "s", "cwd": hostile.0.project(), "hook_event_name": "ConfigChange",
        "source": "user_settings"});
    let plugin = [("CLAUDE_PLUGIN_ROOT", hostile.below(".x"))];
    assert!(hostile.hook(&message, &plugin).is_block());
    let mut command = hostile.0.command();
    let home = hostile.0.home().to_str().unwrap();
    command.args(["hook", "claude-code", "--home", home, "--claude-plugin-root", "/opt/plugin"]);
    assert!(hostile.0.answer(&mut command, message.to_string().as_bytes()).is_pass());
}

#[test]
fn containers_and_other_users_name_places_by_arguments() {
    let world = World::new();
    let state = world.home().join("elsewhere");
    let mut command = world.command();
    command.args(["hook", "claude-code", "--home"]).arg(world.home()).arg("--xdg-state-home").arg(&state);
    let message = world.message("Bash", &json!({"command": "ls"})).to_string();
    assert!(world.answer(&mut command, message.as_bytes()).is_pass());
    assert!(state.join("lazaret/audit/audit.jsonl").is_file());
    assert!(!world.state().exists());
}
