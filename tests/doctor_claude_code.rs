//! Doctor on Claude Code: it passes a closed gate and fails, with a fix, on each way to leave it open.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use install_home::Home;
use lazaret::cli::Exit;
use lazaret::cli::doctor::{DoctorOptions, Line, Report, Status, doctor, examine};
use lazaret::cli::install::InstallOptions;
use lazaret::domain::Client;
use lazaret::host::registration::Scope;
use lazaret::host::trust;
use lazaret::rules::domains;
use serde_json::{Value, json};

const SETTINGS: &str = "home/.claude/settings.json";
/// A stand-in that answers as lazaret does.
const GOOD: &str = r#"case "$(cat)" in
*'"rm -rf /"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}'
  echo no >&2; exit 2 ;;
esac
[ "$CLAUDECODE" = 1 ] && [ "$1 $2" = 'hook claude-code' ] && [ -d "$CLAUDE_PROJECT_DIR" ] || exit 1"#;

const CLAUDE: [Client; 1] = [Client::ClaudeCode];

fn options(home: &Home) -> DoctorOptions {
    home.doctor_options(&CLAUDE)
}

fn installed(version: &str) -> Home {
    let mut home = Home::with_claude(version);
    home.set_up();
    home.script("opt/lazaret", GOOD);
    home.installed(&[Client::ClaudeCode]);
    home
}

fn lines(home: &Home, options: &DoctorOptions) -> Vec<Line> {
    let mut report = Report::default();
    examine(options, &home.here, &mut report);
    report.lines
}

/// The lines that say what is not well. The temporary directory itself belongs to everybody on some machines.
fn failures(home: &Home) -> Vec<Line> {
    lines(home, &options(home)).into_iter().filter(|line| line.status == Status::Fail).collect()
}

#[track_caller]
fn fails(home: &Home, why: &str, fix: &str) {
    let failures = failures(home);
    let found = failures.iter().find(|line| line.message.contains(why));
    let line = found.unwrap_or_else(|| panic!("nothing about {why:?} in {failures:#?}"));
    assert!(line.fix.as_ref().unwrap().contains(fix), "{line:?}");
    let mut out = Vec::new();
    assert_eq!(doctor(&options(home), &home.here, &mut out).unwrap(), Exit::Failed);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("FAIL  ") && out.contains("fix: "), "{out}");
}

fn edit(home: &Home, change: impl FnOnce(&mut Value)) {
    let mut settings = home.json(SETTINGS);
    change(&mut settings);
    home.write(SETTINGS, &settings.to_string());
}

fn edit_gate(home: &Home, change: impl FnOnce(&mut Value)) {
    edit(home, |settings| change(&mut settings["hooks"]["PreToolUse"][0]));
}

#[test]
fn a_closed_gate_is_well_in_both_forms() {
    for version in ["2.1.329", "2.1.100"] {
        let home = installed(version);
        assert_eq!(failures(&home), []);
        let mut out = Vec::new();
        assert_eq!(doctor(&options(&home), &home.here, &mut out).unwrap(), Exit::Fine);
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("`rm -rf /` is blocked, `ls` passes"), "{out}");
        assert!(out.ends_with("the gate is closed\n"), "{out}");
    }
}

#[test]
fn json_has_the_same_lines() {
    let home = installed("2.1.329");
    let mut out = Vec::new();
    doctor(&DoctorOptions { json: true, ..options(&home) }, &home.here, &mut out).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["ok"], true);
    assert_eq!(json["checks"].as_array().unwrap().len(), lines(&home, &options(&home)).len());
    assert!(json["checks"].as_array().unwrap().iter().all(|check| check.get("fix").is_some()));
}

#[test]
fn no_client_at_all() {
    let home = Home::new();
    let options = DoctorOptions { clients: Vec::new(), ..options(&home) };
    let mut out = Vec::new();
    assert_eq!(doctor(&options, &home.here, &mut out).unwrap(), Exit::Failed);
    assert!(String::from_utf8(out).unwrap().contains("no client found"));
}

#[test]
fn the_registration_is_gone() {
    let home = installed("2.1.329");
    home.uninstalled();
    fails(&home, "not registered: calls run unchecked", "lazaret install claude-code");
    home.installed(&[]);
    edit(&home, |settings| {
        settings["hooks"].as_object_mut().unwrap().remove("PreToolUse");
    });
    fails(&home, "not registered: calls run unchecked", "lazaret install claude-code");
}

#[test]
fn it_points_elsewhere() {
    let home = installed("2.1.329");
    let other = home.script("elsewhere/lazaret", GOOD);
    edit_gate(&home, |gate| gate["hooks"][0]["command"] = json!(other.display().to_string()));
    fails(&home, "points elsewhere", "lazaret install claude-code");
    edit_gate(&home, |gate| gate["hooks"][0]["command"] = json!("/bin/true"));
    fails(&home, "points elsewhere", "lazaret install claude-code");
    fails(&home, "must be blocked and was let through", "lazaret install claude-code");
}

#[test]
fn the_binary_is_gone_or_cannot_run() {
    for version in ["2.1.329", "2.1.100"] {
        let home = installed(version);
        fs::set_permissions(home.path("opt/lazaret"), fs::Permissions::from_mode(0o644)).unwrap();
        fails(&home, "is not executable", "chmod 755");
        fs::remove_file(home.path("opt/lazaret")).unwrap();
        fails(&home, "is gone", "lazaret install claude-code");
    }
}

#[test]
fn it_hangs() {
    for version in ["2.1.329", "2.1.100"] {
        let home = installed(version);
        home.script("opt/lazaret", "exec sleep 600");
        let mut options = options(&home);
        options.patience = Duration::from_millis(200);
        let failed =
            lines(&home, &options).into_iter().find(|line| line.message.contains("no answer to `rm -rf /`"));
        assert_eq!(failed.unwrap().status, Status::Fail);
    }
}

#[test]
fn it_lets_through_crashes_or_talks_nonsense() {
    let deny = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}";
    for (body, why) in [
        ("exit 0".to_owned(), "must be blocked and was let through"),
        ("exit 101".to_owned(), "instead: exit 101"),
        ("kill -SEGV $$".to_owned(), "instead: killed by signal 11"),
        ("echo gone wrong >&2; exit 2".to_owned(), "without lazaret's answer (gone wrong)"),
        ("echo hello; exit 2".to_owned(), "without lazaret's answer (hello)"),
        (format!("echo '{deny}'"), "denied, but with exit 0"),
        (format!("echo '{deny}'; exit 2"), "`ls` must pass; instead: exit 2"),
        (
            format!("case \"$(cat)\" in *rm\\ -rf*) echo '{deny}'; exit 2 ;; esac; echo hm"),
            "must pass in silence; it answers hm",
        ),
    ] {
        let home = installed("2.1.329");
        home.script("opt/lazaret", &body);
        fails(&home, why, "lazaret install claude-code");
    }
}

#[test]
fn a_registration_that_lets_something_past() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 11] = [
        (|gate| gate["matcher"] = json!("Bash"), "the matcher \"Bash\" lets other tools past"),
        (|gate| gate["matcher"] = json!("(Bash"), "the matcher \"(Bash\" lets other tools past"),
        (|gate| gate["matcher"] = json!(["*"]), "lets other tools past"),
        (|gate| gate["hooks"][0]["timeout"] = json!("15"), "not a number: it does not run"),
        (|gate| gate["hooks"][0]["timeout"] = json!(0.5), "not longer than lazaret's own deadline"),
        (|gate| gate["hooks"][0]["timeout"] = json!(-1), "not longer than lazaret's own deadline"),
        (|gate| gate["hooks"][0]["if"] = json!("Bash(rm *)"), "has an \"if\""),
        (|gate| gate["hooks"][0]["async"] = json!(true), "\"async\""),
        (|gate| gate["hooks"][0]["type"] = json!("prompt"), "\"type\" is not \"command\""),
        (|gate| gate["hooks"][0]["onFailure"] = json!("allow"), "a hook that crashes lets the call run"),
        (|gate| gate["hooks"][0]["args"] = json!(["hook", "opencode"]), "calls run unchecked"),
    ];
    for (change, why) in cases {
        let home = installed("2.1.329");
        edit_gate(&home, change);
        fails(&home, why, "lazaret install claude-code");
    }
}

#[test]
fn the_form_must_fit_the_clients_version() {
    let home = installed("2.1.329");
    home.script("bin/claude", "echo 2.1.200");
    fails(&home, "does not know \"onFailure\"", "lazaret install claude-code");
    home.script("bin/claude", "exit 1");
    fails(&home, "the version is not known", "lazaret install claude-code");

    let home = installed("2.1.200");
    home.script("bin/claude", "echo 2.1.329");
    assert_eq!(failures(&home), []);
    let notes = lines(&home, &options(&home));
    assert!(notes.iter().any(|line| line.status == Status::Note && line.message.contains("exec form")));
}

#[test]
fn hooks_are_switched_off() {
    let home = installed("2.1.329");
    home.write("project/.claude/settings.local.json", "{\"disableAllHooks\": true}");
    fails(&home, "\"disableAllHooks\" is set", "remove \"disableAllHooks\" from");
    home.write("project/.claude/settings.local.json", "{\"disableAllHooks\": false}");
    assert_eq!(failures(&home), []);
    home.write("etc/managed-settings.json", "{\"allowManagedHooksOnly\": true}");
    fails(&home, "\"allowManagedHooksOnly\" is set", "managed settings");
}

#[test]
fn settings_that_the_client_cannot_use() {
    let home = installed("2.1.329");
    home.write("project/.claude/settings.json", "{\n  // no\n}");
    fails(&home, "line 2", "edit ");
}

#[test]
fn registered_twice_counts_twice_unless_it_is_the_same_line() {
    let mut home = installed("2.1.329");
    let project = InstallOptions { scope: Scope::Project, ..install_home::to(&[Client::ClaudeCode]) };
    home.install(&project).0.unwrap();
    assert_eq!(failures(&home), []);
    let notes = lines(&home, &options(&home));
    assert!(notes.iter().any(|line| line.message.contains("it runs once")), "{notes:#?}");
    home.here.exe = home.script("opt/second/lazaret", GOOD);
    home.install(&project).0.unwrap();
    fails(&home, "registered 2 times", "lazaret uninstall claude-code --scope project");
}

#[test]
fn events_that_are_missing_and_hooks_of_others_are_named() {
    let home = installed("2.1.329");
    edit(&home, |settings| {
        settings["hooks"].as_object_mut().unwrap().remove("SubagentStop");
        settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(
            json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "nanny\u{202e} --allow"}]}),
        );
    });
    fails(&home, "not registered for SubagentStop", "lazaret install claude-code");
    let mut out = Vec::new();
    doctor(&options(&home), &home.here, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("may interfere") && out.contains("nanny\\u{202e} --allow"), "{out}");
}

#[test]
fn what_others_may_change_is_not_safe() {
    let home = installed("2.1.329");
    fs::set_permissions(home.path("opt/lazaret"), fs::Permissions::from_mode(0o757)).unwrap();
    fails(&home, "can be changed by every user", "chmod o-w");
    fs::set_permissions(home.path("opt/lazaret"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(home.path("opt"), fs::Permissions::from_mode(0o777)).unwrap();
    fails(&home, "can be changed by every user", "chmod o-w");
    fs::set_permissions(home.path("opt"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&home.here.state_dir, fs::Permissions::from_mode(0o755)).unwrap();
    fails(&home, "has mode 755", "chmod 700");
}

#[test]
fn a_clock_that_cannot_be_right() {
    let mut home = installed("2.1.329");
    home.here.now = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    fails(&home, "which cannot be", "set the clock");
    home.here.now = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_300_000);
    fails(&home, "the state was written", "set the clock");
}

#[test]
fn the_configuration_must_be_usable() {
    let home = installed("2.1.329");
    home.write("home/.config/lazaret/config.toml", "on_fault = 1\n");
    fails(&home, "on_fault", "lazaret config check");
    home.write("home/.config/lazaret/config.toml", "no_such_key = 1\n");
    assert_eq!(failures(&home), []);
    home.write("home/.config/lazaret/config.toml", "on_fault = \"block\"\n");
    assert_eq!(failures(&home), []);
    home.write("project/.lazaret.toml", "on_fault = \"ask\"\n");
    let lines = lines(&home, &options(&home));
    assert!(lines.iter().any(|line| line.subject == "config" && line.status != Status::Fail), "{lines:#?}");
}

/// The plugin as Claude Code 2.1.329 keeps it, from a marketplace that is a directory or one that is not.
fn with_plugin(folder: bool) -> Home {
    let mut home = Home::with_claude("2.1.329");
    home.set_up();
    let place = if folder { "market" } else { "home/.claude/plugins/cache/stall/lazaret/0.1.0" };
    home.script(&format!("{place}/bin/lazaret"), GOOD);
    home.write(&format!("{place}/hooks/hooks.json"), include_str!("../hooks/hooks.json"));
    home.write(SETTINGS, &json!({"enabledPlugins": {"lazaret@stall": true}}).to_string());
    let root = home.path("home/.claude/plugins/cache/stall/lazaret/0.1.0");
    let entry = json!({"scope": "user", "installPath": root, "version": "0.1.0"});
    let installed = json!({"version": 2, "plugins": {"lazaret@stall": [entry]}});
    home.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    let source = match folder {
        true => json!({"source": "directory", "path": home.path("market")}),
        false => json!({"source": "github", "repo": "somebody/stall"}),
    };
    let known = json!({"stall": {"source": source, "installLocation": home.path("market")}});
    home.write("home/.claude/plugins/known_marketplaces.json", &known.to_string());
    let listed = json!({"name": "stall", "plugins": [{"name": "lazaret", "source": "./"}]});
    home.write("market/.claude-plugin/marketplace.json", &listed.to_string());
    home
}

#[test]
fn an_installed_plugin_is_found_and_proven() {
    for folder in [true, false] {
        let home = with_plugin(folder);
        assert_eq!(failures(&home), [], "{folder}");
        let lines = lines(&home, &options(&home));
        let proven = lines.iter().find(|line| line.message.contains("is blocked")).unwrap();
        let place = if folder { "market/hooks/hooks.json" } else { "0.1.0/hooks/hooks.json" };
        assert!(proven.message.contains(place), "{proven:?}");
        assert!(lines.iter().any(|line| line.message.contains("events are registered")), "{lines:?}");
    }
}

#[test]
fn a_plugin_that_does_not_hold_is_a_failure() {
    let home = with_plugin(false);
    home.write(SETTINGS, &json!({"enabledPlugins": {"lazaret@stall": false}}).to_string());
    fails(&home, "calls run unchecked", "lazaret install claude-code");
    let home = with_plugin(false);
    home.write(
        "project/.claude/settings.json",
        &json!({"enabledPlugins": {"lazaret@stall": false}}).to_string(),
    );
    fails(&home, "calls run unchecked", "lazaret install claude-code");
    let home = with_plugin(false);
    home.write("home/.claude/plugins/installed_plugins.json", "{\"version\":2,\"plugins\":{}}");
    fails(&home, "is on, and its hooks do not run", "claude plugin install lazaret@stall");
    let home = with_plugin(true);
    home.script("market/bin/lazaret", "exit 0");
    fails(&home, "was let through", "claude plugin update lazaret@stall");
    let home = with_plugin(true);
    fs::remove_file(home.path("market/bin/lazaret")).unwrap();
    fails(&home, "lazaret", "claude plugin update lazaret@stall");
}

/// Registered and answering, and still no gate: the configuration is the cause, and stands first.
#[test]
fn a_configuration_that_opens_the_gate_is_the_first_thing_said() {
    let home = installed("2.1.329");
    let config = home.path("home/.config/lazaret/config.toml");
    let accepted = |text: &str| {
        home.write("home/.config/lazaret/config.toml", text);
        trust::accept(&home.here.state_dir, config.to_str().unwrap(), text.as_bytes()).unwrap();
    };
    let domains: Vec<String> = domains::all().iter().map(|domain| format!("\"{}.*\"", domain.name)).collect();
    let others: Vec<&String> = domains.iter().filter(|domain| !domain.contains("selfprotect")).collect();
    let every = format!("[rules]\ndisabled = [{}]\n", domains.join(", "));
    let but_ours = format!(
        "[rules]\ndisabled = [{}]\n",
        others.iter().map(|d| d.as_str()).collect::<Vec<_>>().join(", ")
    );
    for (text, key) in [
        ("[rules]\nbuiltin = \"none\"\n", "rules.builtin"),
        ("[reviewer]\nenabled = false\n", "reviewer.enabled"),
        (every.as_str(), "rules.disabled"),
        (but_ours.as_str(), "rules.disabled"),
    ] {
        accepted(text);
        let first = failures(&home).into_iter().next().unwrap_or_else(|| panic!("{text}: all is well"));
        assert!(first.message.starts_with(&format!("the gate is open: {key}: ")), "{text}: {first:?}");
        let fix = first.fix.unwrap();
        assert!(fix.contains(&format!("remove {key} from ")) && fix.contains("config.toml"), "{fix}");
        let mut out = Vec::new();
        assert_eq!(doctor(&options(&home), &home.here, &mut out).unwrap(), Exit::Failed);
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("FAIL  rules: the gate is open"), "{out}");
    }
    // Not accepted it does not count, and what leaves most of it in place is a note.
    home.write("home/.config/lazaret/config.toml", "[rules]\nbuiltin = \"none\"\n\n");
    assert_eq!(failures(&home), []);
    for (text, note) in [
        ("[rules]\ndisabled = [\"git.*\"]\n", "rules that stop a call are off"),
        ("[rules]\nbuiltin = \"essential\"\n", "only those of severity critical are on"),
    ] {
        accepted(text);
        assert_eq!(failures(&home), [], "{text}");
        assert!(lines(&home, &options(&home)).iter().any(|line| line.message.contains(note)), "{text}");
    }
    accepted("[audit]\nenabled = true\n");
    assert!(!lines(&home, &options(&home)).iter().any(|line| line.subject == "rules"));
}
