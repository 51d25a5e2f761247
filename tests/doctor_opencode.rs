//! Registration with OpenCode and doctor on it: the plugin that was installed is loaded and asked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use install_home::{Home, to};
use lazaret::cli::Exit;
use lazaret::cli::doctor::{Line, Report, Status, examine};
use lazaret::cli::install::InstallOptions;
use lazaret::cli::uninstall::{UninstallOptions, uninstall};
use lazaret::domain::Client;
use lazaret::host::registration::Scope;

const OPENCODE: [Client; 1] = [Client::OpenCode];
const PLUGIN: &str = "home/.config/opencode/plugin/lazaret.js";
/// A stand-in that answers as lazaret does.
const GOOD: &str = r#"[ "$1 $2 $3" = 'hook opencode --home' ] || exit 70
case "$(cat)" in
*'"rm -rf /"'*) echo '{"action":"block","message":"no"}'; exit 2 ;;
esac
echo '{"action":"allow"}'"#;

/// An installed plugin; with `node` on the search path when it can be loaded.
fn installed(with_node: bool) -> Home {
    let mut home = Home::new();
    home.set_up();
    home.script("bin/opencode", "echo 1.18.33");
    if with_node {
        symlink(node(), home.path("bin/node")).unwrap();
    }
    home.script("opt/lazaret", GOOD);
    home.installed(&[]);
    home
}

fn node() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|path| path.is_file());
    found.expect("these tests load the plugin with node: install it")
}

fn lines(home: &Home) -> Vec<Line> {
    let mut report = Report::default();
    examine(&home.doctor_options(&OPENCODE), &home.here, &mut report);
    report.lines
}

fn failures(home: &Home) -> Vec<Line> {
    lines(home).into_iter().filter(|line| line.status == Status::Fail).collect()
}

#[track_caller]
fn fails(home: &Home, why: &str, fix: &str) {
    let failures = failures(home);
    let line = failures.iter().find(|line| line.message.contains(why));
    let line = line.unwrap_or_else(|| panic!("nothing about {why:?} in {failures:#?}"));
    assert!(line.fix.as_ref().unwrap().contains(fix), "{line:?}");
}

#[test]
fn the_plugin_is_written_with_the_binarys_path_and_goes_again() {
    let home = Home::new();
    home.script("bin/opencode", "echo 1.18.33");
    let before = home.tree();
    let out = home.installed(&[]);
    let text = home.read(PLUGIN);
    assert!(text.contains(&format!("const BIN = \"{}\"", home.path("opt/lazaret").display())), "{text}");
    assert!(!text.contains("@LAZARET_BIN@"));
    assert!(out.contains("lazaret uninstall opencode"), "{out}");
    let once = home.tree();
    assert!(home.installed(&[]).contains("unchanged"));
    assert_eq!(home.tree(), once);
    home.uninstalled();
    assert_eq!(home.tree(), before);

    let (result, _) = home.install(&InstallOptions { scope: Scope::Project, ..to(&OPENCODE) });
    assert_eq!(result.unwrap(), Exit::Fine);
    assert!(home.path("project/.opencode/plugin/lazaret.js").is_file());
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn the_reviewer_comes_and_goes_with_the_plugin() {
    const AGENT: &str = "home/.config/opencode/agents/quarantine-reviewer.md";
    let home = Home::new();
    home.script("bin/opencode", "echo 1.18.33");
    let before = home.tree();
    home.installed(&[]);
    let text = home.read(AGENT);
    assert!(
        text.contains("\nmode: subagent\n") && text.contains("\n  external_directory: allow\n"),
        "{text}"
    );
    home.uninstalled();
    assert_eq!(home.tree(), before);
    // Somebody else's stays.
    home.write(AGENT, "my own\n");
    let before = home.tree();
    assert!(home.installed(&[]).contains("it was there before"));
    assert_eq!(home.read(AGENT), "my own\n");
    home.uninstalled();
    assert_eq!(home.tree(), before);

    let (result, _) = home.install(&InstallOptions { scope: Scope::Project, ..to(&OPENCODE) });
    assert_eq!(result.unwrap(), Exit::Fine);
    assert!(home.path("project/.opencode/agents/quarantine-reviewer.md").is_file());
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn doctor_tells_of_the_reviewer_and_fails_nothing_for_it() {
    let home = installed(false);
    let about = |home: &Home| {
        let lines = lines(home).into_iter().filter(|line| line.message.contains("reviewer"));
        lines.map(|line| (line.status, line.message)).collect::<Vec<_>>()
    };
    let agent = home.path("home/.config/opencode/agents/quarantine-reviewer.md");
    let [(Status::Ok, message)] = &about(&home)[..] else { panic!("{:?}", about(&home)) };
    assert!(message.contains(agent.to_str().unwrap()), "{message}");
    fs::write(&agent, "mine\n").unwrap();
    let [(Status::Note, message)] = &about(&home)[..] else { panic!("{:?}", about(&home)) };
    assert!(message.contains("is not the reviewer of this lazaret"), "{message}");
    fs::remove_file(&agent).unwrap();
    let [(Status::Note, message)] = &about(&home)[..] else { panic!("{:?}", about(&home)) };
    assert!(message.contains("not installed"), "{message}");
}

#[test]
fn a_path_that_needs_escapes_is_still_one_string() {
    let mut home = Home::new();
    home.script("bin/opencode", "echo 1.18.33");
    home.set_up();
    symlink(node(), home.path("bin/node")).unwrap();
    home.here.exe = home.script("opt/a \"b\" \\ `c` $d/lazaret", GOOD);
    home.installed(&[]);
    assert_eq!(failures(&home), []);
}

#[test]
fn a_file_of_that_name_comes_back() {
    let home = Home::new();
    home.script("bin/opencode", "echo 1.18.33");
    home.write(PLUGIN, "// mine\n");
    let before = home.tree();
    let out = home.installed(&[]);
    assert!(out.contains("backup"), "{out}");
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn a_plugin_changed_since_is_left_and_said_so() {
    let home = installed(false);
    home.write(PLUGIN, &(home.read(PLUGIN) + "// more\n"));
    let options = UninstallOptions { clients: Vec::new(), scope: None, dry_run: false };
    let mut out = Vec::new();
    assert_eq!(uninstall(&options, &home.here, &mut out).unwrap(), Exit::Failed);
    assert!(String::from_utf8(out).unwrap().contains("to remove it: rm "));
    assert!(home.path(PLUGIN).is_file());
}

#[test]
fn a_dry_run_of_uninstall_changes_nothing() {
    let home = installed(false);
    let before = home.tree();
    let options = UninstallOptions { clients: Vec::new(), scope: None, dry_run: true };
    let mut out = Vec::new();
    assert_eq!(uninstall(&options, &home.here, &mut out).unwrap(), Exit::Fine);
    assert!(String::from_utf8(out).unwrap().contains("would be deleted"));
    assert_eq!(home.tree(), before);
}

#[test]
fn both_clients_at_once() {
    let home = Home::with_claude("2.1.329");
    home.script("bin/opencode", "echo 1.18.33");
    let before = home.tree();
    let out = home.installed(&[]);
    assert!(out.contains("lazaret uninstall all"), "{out}");
    assert!(home.path(PLUGIN).is_file() && home.path("home/.claude/settings.json").is_file());
    home.uninstalled();
    assert_eq!(home.tree(), before);
}

#[test]
fn a_closed_gate_is_well_with_and_without_a_runtime() {
    for (with_node, how) in [(true, "loaded by "), (false, "its bytes are right and the binary answers")] {
        let home = installed(with_node);
        let lines = lines(&home);
        let proof =
            lines.iter().find(|line| line.message.contains("`rm -rf /` is blocked, `ls` passes")).unwrap();
        assert!(proof.status == Status::Ok && proof.message.contains(how), "{lines:#?}");
        assert_eq!(failures(&home), []);
    }
}

#[test]
fn a_gate_that_is_open_or_stuck() {
    for with_node in [true, false] {
        let home = installed(with_node);
        home.script("opt/lazaret", "cat >/dev/null; echo '{\"action\":\"allow\"}'");
        fails(&home, "`rm -rf /`", "lazaret install opencode");
        home.script("opt/lazaret", "exit 101");
        fails(
            &home,
            if with_node { "`ls` must pass; instead: lazaret could not check" } else { "exit 101" },
            "lazaret install",
        );
        fs::set_permissions(home.path("opt/lazaret"), fs::Permissions::from_mode(0o644)).unwrap();
        fails(&home, "is not executable", "chmod 755");
        fs::remove_file(home.path("opt/lazaret")).unwrap();
        fails(&home, "is gone", "lazaret install opencode");
    }
}

#[test]
fn a_plugin_that_is_gone_changed_doubled_or_points_elsewhere() {
    let home = installed(true);
    let text = home.read(PLUGIN);
    home.write(PLUGIN, &text.replace("throw", "return"));
    fails(&home, "is not the plugin of this lazaret", "lazaret install opencode");
    let other = home.script("elsewhere/lazaret", GOOD);
    home.write(PLUGIN, &text.replace(&home.here.exe.display().to_string(), &other.display().to_string()));
    fails(&home, "points elsewhere", "lazaret install opencode");
    home.write(PLUGIN, &text);
    home.write("project/.opencode/plugins/lazaret.js", &text);
    fails(&home, "the plugin is there 2 times", "remove all but one");
    fs::remove_file(home.path("project/.opencode/plugins/lazaret.js")).unwrap();
    fs::remove_file(home.path(PLUGIN)).unwrap();
    fails(&home, "not installed: calls run unchecked", "lazaret install opencode");
}

#[test]
fn opencode_2_is_not_vouched_for() {
    let home = installed(false);
    home.script("bin/opencode2", "exit 0");
    let lines = lines(&home);
    let note = lines.iter().find(|line| line.message.contains("OpenCode 2")).unwrap();
    assert!(note.message.contains("not proven there"), "{note:?}");
}

#[test]
fn an_opencode_that_does_not_load_the_plugin() {
    let home = installed(false);
    home.script("bin/opencode", "echo 1.18.28");
    fails(&home, "does not load the plugin", "1.18.29");
    home.script("bin/opencode", "echo local");
    assert_eq!(failures(&home), []);
}
