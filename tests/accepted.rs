//! What loosens in the user's own configuration counts once a person accepted exactly that content, through the built binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::World;
use serde_json::json;

const LOOSE: &str = "[reviewer]\nenabled = false\n";
const DANGER: &str = "git reset --hard HEAD~1";

/// An editor that puts these texts in place, one after the other.
fn editor(world: &World, texts: &[&str]) {
    let path = world.home().join("editor.sh");
    for (at, text) in texts.iter().enumerate() {
        fs::write(world.home().join(format!("text-{}", at + 1)), text).unwrap();
    }
    let count = world.home().join("edits");
    let text = format!(
        "#!/bin/sh\necho x >> {0}\ncp {1}/text-$(wc -l < {0}) \"$1\"\n",
        count.display(),
        world.home().display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn config(world: &World) -> String {
    fs::read_to_string(world.home().join(".config/lazaret/config.toml")).unwrap()
}

#[test]
fn what_loosens_is_left_out_until_a_person_accepts_it() {
    let world = World::new();
    world.unaccepted(&format!("on_fault = \"block\"\n{LOOSE}"));
    for _ in 0..2 {
        assert!(world.bash("rm -rf /").is_block(), "also when the policy comes from the cache");
    }
    let (_, shown, _) = world.run(&["config", "show"]);
    assert!(shown.contains("(not accepted)") && shown.contains("lazaret config accept"), "{shown}");
    assert!(shown.contains("on_fault = \"block\"") && shown.contains("reviewer.enabled = true"), "{shown}");
    let doctor = world.run(&["doctor"]).1;
    assert!(
        doctor.contains("reviewer.enabled = false") && doctor.contains("lazaret config accept"),
        "{doctor}"
    );
    let start = json!({"session_id": "s", "cwd": world.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let told = world.hook("claude-code", start.to_string().as_bytes());
    assert!(told.stdout.contains("lazaret config accept"), "{}", told.stdout);
    // Nobody else can accept it.
    let (code, _, error) = world.run(&["config", "accept"]);
    assert!(code == 1 && error.contains("terminal"), "{error}");
    assert!(world.bash("rm -rf /").is_block());
    let (code, told) = world.typing(&["config", "accept"], "");
    assert!(code == 0 && told.contains("reviewer.enabled = false") && told.contains("accepted"), "{told}");
    assert!(world.bash("rm -rf /").is_pass(), "what was kept of the time before does not count");
    assert!(world.run(&["config", "show"]).1.contains("(accepted)"));
    assert!(world.audit().iter().any(|line| line.to_string().contains("config.toml: accepted")));
    let told = world.hook("claude-code", start.to_string().as_bytes());
    assert!(!told.stdout.contains("config accept"), "{}", told.stdout);
}

#[test]
fn acceptance_is_for_one_content() {
    let world = World::new();
    world.configure(LOOSE);
    assert!(world.bash("rm -rf /").is_pass());
    world.unaccepted(&format!("{LOOSE}# a word more\n"));
    assert!(world.bash("rm -rf /").is_block(), "an edit withdraws it");
    world.configure("[risk]\nhigh_threshold = 0.7\n");
    assert!(world.bash("rm -rf /").is_block());
    world.unaccepted(LOOSE);
    assert!(world.bash("rm -rf /").is_block(), "and an older content is not accepted once more");
}

#[test]
fn programs_exceptions_and_rules_off_wait_for_it_too() {
    let world = World::new();
    let program = world.home().join("told.sh");
    let text = format!(
        "[rules]\ndisabled = [\"git.*\"]\n[interventions]\nnotify = [\"{}\"]\n\
         [[exceptions]]\nrule = \"git.reset-hard\"\nreason = \"all of it is pushed\"\nto = \"allow\"\n\
         [[rules.custom]]\nid = \"custom.deploy\"\nverdict = \"block\"\nseverity = \"high\"\nreason = \"deploys\"\n\
         instead = {{ advice = \"ask\" }}\nwhen = [{{ command = {{ programs = [\"fly\"] }} }}]\n\
         fires = [\"fly deploy\"]\nsilent = [\"ls\"]\n",
        program.display()
    );
    world.unaccepted(&text);
    let (code, notes, error) = world.run(&["config", "show", "--json"]);
    assert_eq!(code, 0, "{error}");
    for key in ["`rules.disabled", "`interventions.notify", "`exceptions`"] {
        assert!(notes.contains(key), "{key}: {notes}");
    }
    let rules = || world.check(DANGER).1["reasons"].to_string();
    assert!(rules().contains("git.reset-hard"), "{}", rules());
    assert!(world.bash("fly deploy").is_block(), "what tightens counts at once");
    world.configure(&text);
    assert!(!rules().contains("git.reset-hard"), "{}", rules());
}

#[test]
fn what_was_there_when_it_was_installed_is_accepted_once() {
    let world = World::new();
    world.unaccepted(LOOSE);
    let bin = world.home().join("lazaret");
    std::os::unix::fs::symlink(common::BIN, &bin).unwrap();
    let install = ["install", "claude-code", "--bin", bin.to_str().unwrap()];
    let dry = world.run(&[&install[..], &["--dry-run"]].concat());
    assert_eq!(dry.0, 0, "{}", dry.2);
    assert!(world.bash("rm -rf /").is_block(), "a dry run accepts nothing");
    let (code, told, error) = world.run(&install);
    assert_eq!(code, 0, "{error}");
    assert!(told.contains("reviewer.enabled = false") && told.contains("config.toml: accepted"), "{told}");
    assert!(world.bash("rm -rf /").is_pass());
    // Whatever is written later is a person's to accept, also where it is installed again.
    world.unaccepted(&format!("{LOOSE}# later\n"));
    assert!(!world.run(&install).1.contains("accepted"));
    assert!(world.bash("rm -rf /").is_block());
    let fresh = World::new();
    assert_eq!(fresh.run(&install).0, 0);
    fresh.unaccepted(LOOSE);
    assert!(!fresh.run(&install).1.contains("accepted"), "nothing was there at first");
    assert!(fresh.bash("rm -rf /").is_block());
}

#[test]
fn an_edit_is_checked_and_accepted() {
    let world = World::new();
    editor(&world, &["on_fualt = 'block'\n", LOOSE]);
    let (code, told) = world.typing(&["config", "edit"], "e\n");
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("on_fualt") && told.contains("edit it again"), "{told}");
    assert!(told.contains("reviewer.enabled = false") && told.contains("accepted"), "{told}");
    assert_eq!(config(&world), LOOSE);
    assert!(world.bash("rm -rf /").is_pass());
    let mode =
        |path: &Path| std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
    assert_eq!(mode(&world.home().join(".config/lazaret/config.toml")) & 0o777, 0o600);
    assert_eq!(fs::read_dir(world.home().join(".config/lazaret")).unwrap().count(), 1, "no copy is left");
}

#[test]
fn an_edit_that_is_discarded_changes_nothing() {
    let world = World::new();
    world.configure("on_fault = 'block'\n");
    editor(&world, &["[reviewer\n"]);
    let (code, told) = world.typing(&["config", "edit"], "x\n");
    assert!(code == 0 && told.contains("left as it was"), "{told}");
    assert_eq!(config(&world), "on_fault = 'block'\n");
    editor(&world, &["[reviewer\n", "on_fault = 'block'\n"]);
    let (code, told) = world.typing(&["config", "edit"], "");
    assert!(code == 0 && told.contains("nothing was changed"), "{told}");
    fs::write(world.home().join("editor.sh"), "#!/bin/sh\nexit 7\n").unwrap();
    let (code, told) = world.typing(&["config", "edit"], "");
    assert!(code == 1 && told.contains("nothing was changed"), "{told}");
    let (code, _, error) = world.run(&["config", "edit"]);
    assert!(code == 1 && error.contains("terminal"), "{error}");
    assert_eq!(config(&world), "on_fault = 'block'\n");
}
