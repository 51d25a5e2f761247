//! Registration with Claude Code: what is written, what stays, and that it can all be taken back to the byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use install_home::{Home, to};
use lazaret::cli::Exit;
use lazaret::cli::install::InstallOptions;
use lazaret::cli::uninstall::{UninstallOptions, uninstall};
use lazaret::domain::{Client, Fault};
use lazaret::host::registration::Scope;
use serde_json::{Value, json};

const CLAUDE: [Client; 1] = [Client::ClaudeCode];
const SETTINGS: &str = "home/.claude/settings.json";
const EVENTS: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
    "ConfigChange",
];
const RICH: &str = "{\n\t\"zeta\": [1,2 , 3],\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [ {\"type\":\"command\",\"command\":\"say done\"} ]}],\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\", \"unknown\": 1e2}] }\n\t\t]\n\t},\n\t\"permissions\" : {\"deny\":[\"Read(./.env)\"]},\n\t\"alpha\": \"\\u00e9\"\n}";

fn refused(home: &Home, options: &InstallOptions) -> Fault {
    let before = home.tree();
    let (result, _) = home.install(options);
    assert_eq!(home.tree(), before, "something was changed all the same");
    result.unwrap_err().downcast::<Fault>().unwrap()
}

#[test]
fn a_current_client_gets_the_exec_form() {
    let home = Home::with_claude("2.1.329");
    let out = home.installed(&[]);
    let settings = home.json(SETTINGS);
    let bin = home.path("opt/lazaret").display().to_string();
    assert_eq!(
        settings["hooks"]["PreToolUse"],
        json!([{"matcher": "*", "hooks": [{"type": "command", "command": bin,
            "args": ["hook", "claude-code", "--home", home.path("home")],
            "onFailure": "block", "timeout": 15}]}])
    );
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, EVENTS);
    assert!(out.contains("exec form") && out.contains("2.1.329"), "{out}");
    assert!(out.contains("lazaret uninstall claude-code"), "{out}");
    assert!(home.read("home/.claude/agents/quarantine-reviewer.md").contains("tools: Read, Grep, Glob\n"));
}

#[test]
fn an_older_or_unknown_client_gets_the_shell_form() {
    let old = Home::with_claude("2.1.294");
    let silent = Home::with_claude("");
    let absent = Home::new();
    let mixed = Home::with_claude("2.1.329");
    mixed.script("home/.claude/local/claude", "echo '2.0.1 (Claude Code)'");
    let mut mixed = mixed;
    mixed.here.usual_bin_dirs.push(mixed.path("home/.claude/local"));
    for home in [old, silent, absent, mixed] {
        home.installed(&CLAUDE);
        let bin = home.path("opt/lazaret").display().to_string();
        let places = format!("--home \"{}\"", home.path("home").display());
        let entry = &home.json(SETTINGS)["hooks"]["PreToolUse"][0]["hooks"][0];
        assert_eq!(
            *entry,
            json!({"type": "command", "command": format!("\"{bin}\" hook claude-code {places} || exit 2"), "onFailure": "block",
                "timeout": 15})
        );
        let prompt = &home.json(SETTINGS)["hooks"]["UserPromptSubmit"][0]["hooks"][0];
        assert_eq!(prompt["command"], format!("\"{bin}\" hook claude-code {places}"));
    }
}

#[test]
fn everything_else_stays_byte_for_byte_and_comes_back() {
    for text in [RICH, "{}", "{\n}\n", "{\"a\":1}", "", "{\r\n  \"model\": \"x\"\r\n}\r\n", "{\"hooks\":{}}"]
    {
        let home = Home::with_claude("2.1.329");
        home.write(SETTINGS, text);
        let before = home.tree();
        let out = home.installed(&[]);
        let after = home.read(SETTINGS);
        let mut rest = after.chars();
        assert!(text.chars().all(|c| rest.any(|d| d == c)), "not a subsequence:\n{after}");
        let backup = out.lines().find_map(|line| line.trim().strip_prefix("backup ")).unwrap();
        assert!(backup.contains("settings.json.lazaret-backup-20261118T"), "{backup}");
        assert_eq!(fs::read_to_string(backup).unwrap(), text);
        home.uninstalled();
        assert_eq!(home.tree(), before);
    }
}

#[test]
fn installing_twice_changes_nothing_and_upgrading_leaves_one_registration() {
    let home = Home::with_claude("2.1.200");
    home.write(SETTINGS, RICH);
    let before = home.tree();
    home.installed(&[]);
    let once = home.tree();
    let out = home.installed(&[]);
    assert_eq!(home.tree(), once);
    assert!(out.contains("unchanged"), "{out}");

    home.script("bin/claude", "echo 2.1.400");
    let mut home = home;
    home.here.exe = home.script("opt/new dir/lazaret", "exit 0");
    home.installed(&[]);
    let hooks = home.json(SETTINGS)["hooks"].clone();
    for event in EVENTS {
        let ours: Vec<&Value> =
            hooks[event].as_array().unwrap().iter().filter(|g| g.to_string().contains("lazaret")).collect();
        assert_eq!(ours.len(), 1, "{event}");
        assert_eq!(ours[0]["hooks"][0]["command"], home.here.exe.display().to_string());
    }
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn nothing_is_left_behind_where_nothing_was() {
    let home = Home::with_claude("2.1.329");
    let before = home.tree();
    home.installed(&[]);
    assert_ne!(home.tree(), before);
    home.uninstalled();
    assert_eq!(home.tree(), before);
    assert!(home.uninstalled().contains("nothing to undo"));
}

#[test]
fn after_a_change_by_others_only_ours_goes() {
    let home = Home::with_claude("2.1.329");
    home.write(SETTINGS, RICH);
    home.installed(&[]);
    home.write(SETTINGS, &home.read(SETTINGS).replace("\"alpha\"", "\"beta\""));
    let out = home.uninstalled();
    assert_eq!(home.read(SETTINGS), RICH.replace("\"alpha\"", "\"beta\""));
    assert!(out.contains("the hooks are out"), "{out}");
}

#[test]
fn without_the_record_ours_still_goes() {
    let home = Home::with_claude("2.1.329");
    home.write(SETTINGS, RICH);
    home.installed(&[]);
    fs::remove_dir_all(home.path("home/.local/state/lazaret")).unwrap();
    home.uninstalled();
    assert_eq!(home.read(SETTINGS), RICH);
    assert!(!home.path("home/.claude/agents/quarantine-reviewer.md").exists());
}

#[test]
fn a_damaged_record_is_kept_aside() {
    let home = Home::with_claude("2.1.329");
    home.write("home/.local/state/lazaret/install.json", "{ broken");
    let out = home.installed(&[]);
    assert!(out.contains("was damaged; it is kept as"), "{out}");
    assert_eq!(home.json("home/.local/state/lazaret/install.json")["version"], 1);
}

#[test]
fn what_does_not_parse_is_refused_with_file_and_line() {
    for (text, place) in [
        ("{\n  \"a\": 1,\n}", "line 3"),
        ("{\n  // mine\n  \"a\": 1\n}", "line 2"),
        ("[]", "not an object"),
        ("{\"hooks\": [1]}", "\"hooks\" is not an object"),
        ("{\"hooks\": {}, \"hooks\": {}}", "twice"),
    ] {
        let home = Home::with_claude("2.1.329");
        let path = home.write(SETTINGS, text);
        let fault = refused(&home, &to(&[]));
        assert!(fault.to_string().contains(&path.display().to_string()), "{fault}");
        assert!(fault.to_string().contains(place), "{fault}");
        assert!(fault.hint.is_some());
    }
    let home = Home::with_claude("2.1.329");
    let path = home.write(SETTINGS, "");
    fs::write(path, b"{\n\"a\": \"\xff\"}").unwrap();
    assert!(refused(&home, &to(&[])).to_string().contains("line 2: it is not UTF-8"));
}

#[test]
fn one_file_that_cannot_be_read_keeps_the_others_untouched() {
    let home = Home::with_claude("2.1.329");
    home.script("bin/opencode", "exit 0");
    home.write(SETTINGS, "{");
    refused(&home, &to(&[]));
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let home = Home::with_claude("2.1.329");
    home.write(SETTINGS, RICH);
    let before = home.tree();
    let (result, out) = home.install(&InstallOptions { dry_run: true, ..to(&[]) });
    assert_eq!(result.unwrap(), Exit::Fine);
    assert_eq!(home.tree(), before);
    assert!(out.contains("--- ") && out.contains("+\t\t\"ConfigChange\": ["), "{out}");
    assert!(out.contains("nothing was changed"), "{out}");
}

#[test]
fn links_mode_and_directories_are_kept() {
    let home = Home::with_claude("2.1.329");
    let real = home.write("home/dotfiles/claude.json", "{\n  \"a\": 1\n}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.path("home/.claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path(SETTINGS)).unwrap();
    let before = home.tree();
    home.installed(&[]);
    assert!(home.path(SETTINGS).is_symlink());
    assert!(home.read("home/dotfiles/claude.json").contains("PreToolUse"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(home.path("home/dotfiles")).unwrap().count(), 1);
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed_and_named() {
    let home = Home::with_claude("2.1.329");
    fs::create_dir_all(home.path("home/.claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path(SETTINGS)).unwrap();
    let before = home.tree();
    let (result, out) = home.install(&to(&[]));
    assert_eq!(result.unwrap(), Exit::Fine);
    assert!(out.contains("a link to ") && out.contains("/dotfiles/claude.json\n"), "{out}");
    assert!(home.path(SETTINGS).is_symlink());
    assert!(home.read("home/dotfiles/claude.json").contains("PreToolUse"));
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn scopes_and_the_clients_own_directory() {
    let mut home = Home::with_claude("2.1.329");
    for (scope, file) in [(Scope::Project, "settings.json"), (Scope::Local, "settings.local.json")] {
        let (result, out) = home.install(&InstallOptions { scope, ..to(&[]) });
        assert_eq!(result.unwrap(), Exit::Fine);
        assert!(home.read(&format!("project/.claude/{file}")).contains("PreToolUse"));
        assert!(out.contains(&format!("--scope {}", scope.name())), "{out}");
    }
    home.here.claude_config_dir = Some(home.path("home/elsewhere"));
    home.installed(&[]);
    assert!(home.read("home/elsewhere/settings.json").contains("PreToolUse"));
    assert!(!home.path(SETTINGS).exists());
    home.uninstalled();
    for gone in ["project/.claude", "home/elsewhere"] {
        assert!(!home.path(gone).exists(), "{gone}");
    }
}

#[test]
fn an_agent_of_the_users_own_is_kept() {
    let home = Home::with_claude("2.1.329");
    home.write("home/.claude/agents/quarantine-reviewer.md", "my own\n");
    let out = home.installed(&[]);
    assert!(out.contains("kept"), "{out}");
    home.uninstalled();
    assert_eq!(home.read("home/.claude/agents/quarantine-reviewer.md"), "my own\n");
}

#[test]
fn only_a_binary_that_is_there_is_registered() {
    let home = Home::with_claude("2.1.329");
    home.write("opt/plain", "x");
    for (bin, why) in
        [("lazaret", "not absolute"), ("/nowhere/lazaret", "no such file"), ("opt/plain", "not executable")]
    {
        let bin = if bin.starts_with("opt") { home.path(bin) } else { bin.into() };
        let fault = refused(&home, &InstallOptions { bin: Some(bin), ..to(&[]) });
        assert!(fault.to_string().contains(why), "{fault}");
    }
    let odd = home.script("opt/od\"d $x `y` \\z/guard", "exit 0");
    home.script("bin/claude", "echo 1.0.0");
    let (result, _) = home.install(&InstallOptions { bin: Some(odd.clone()), ..to(&[]) });
    assert_eq!(result.unwrap(), Exit::Fine);
    let command = home.json(SETTINGS)["hooks"]["PreToolUse"][0]["hooks"][0]["command"].clone();
    let echoed = std::process::Command::new("/bin/sh")
        .args([
            "-c",
            &format!("printf %s {}", command.as_str().unwrap().split(" hook claude-code").next().unwrap()),
        ])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(echoed.stdout).unwrap(), odd.display().to_string());
    home.uninstalled();
    assert!(!home.path(SETTINGS).exists());
}

#[test]
fn no_client_is_said_plainly() {
    let home = Home::new();
    let (result, out) = home.install(&to(&[]));
    assert_eq!(result.unwrap(), Exit::Failed);
    assert!(out.contains("no client found") && out.contains("hint: "), "{out}");
    assert!(home.tree().is_empty());
}

#[test]
fn a_scope_in_which_nothing_counts_is_said_and_is_a_failure() {
    let home = Home::with_claude("2.1.329");
    let before = home.tree();
    for scope in [Scope::Project, Scope::Local] {
        let (result, out) = home.install(&InstallOptions { scope, ..to(&[Client::Codex]) });
        assert_eq!(result.unwrap(), Exit::Failed);
        assert!(
            out.contains("for a user or for every user alone") && out.contains("nothing was registered"),
            "{out}"
        );
    }
    assert_eq!(home.tree(), before);
}

#[test]
fn a_scope_of_its_own_can_be_taken_out_alone() {
    let home = Home::with_claude("2.1.329");
    for scope in [Scope::Project, Scope::Local] {
        home.install(&InstallOptions { scope, ..to(&[]) }).0.unwrap();
    }
    let local = UninstallOptions { clients: Vec::new(), scope: Some(Scope::Local), dry_run: false };
    assert_eq!(uninstall(&local, &home.here, &mut Vec::new()).unwrap(), Exit::Fine);
    assert!(!home.path("project/.claude/settings.local.json").exists());
    assert!(home.path("project/.claude/settings.json").exists());
    assert!(home.path("project/.claude/agents/quarantine-reviewer.md").exists());
    home.uninstalled();
    assert!(!home.path("project/.claude").exists());
}

#[test]
fn settings_broken_since_are_not_touched_by_uninstall() {
    let home = Home::with_claude("2.1.329");
    home.installed(&[]);
    home.write(SETTINGS, "{ \"hooks\": {,} }");
    let before = home.tree();
    let all = UninstallOptions { clients: Vec::new(), scope: None, dry_run: false };
    let error = uninstall(&all, &home.here, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
    assert_eq!(home.tree(), before);
}
