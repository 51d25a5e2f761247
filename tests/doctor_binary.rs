//! Install, doctor and uninstall of the binary itself, as a person calls them, on both clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use install_home::{Home, programs};
use serde_json::Value;

const SETTINGS: &str = "home/.claude/settings.json";

struct Machine {
    home: Home,
    path: String,
}

impl Machine {
    /// A machine with both clients, and a copy of the binary under test.
    fn new(claude: &str) -> Machine {
        let home = Home::with_claude(claude);
        home.script("bin/opencode", "echo 1.18.33");
        programs::copy(env!("CARGO_BIN_EXE_lazaret"), home.path("opt/lazaret"));
        // The rest of the search path is for `sh`, `sleep` and `node`.
        let path = format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap());
        Machine { home, path }
    }

    fn lazaret(&self, args: &[&str]) -> (i32, String) {
        self.run("opt/lazaret", args)
    }

    fn run(&self, bin: &str, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(self.home.path(bin));
        command.args(args).env_clear().current_dir(self.home.path("project"));
        command.env("HOME", self.home.path("home")).env("PATH", &self.path);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
    }

    /// Doctor of another copy of the binary, for when the registered one cannot run.
    #[track_caller]
    fn fails(&self, why: &str, fix: &str) {
        let (code, said) = self.run("spare/lazaret", &["doctor", "--json"]);
        assert_eq!(code, 1, "{said}");
        let report: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(report["ok"], false);
        let found = report["checks"].as_array().unwrap().iter().any(|check| {
            check["status"] == "fail"
                && check["message"].as_str().unwrap().contains(why)
                && check["fix"].as_str().unwrap().contains(fix)
        });
        assert!(found, "nothing about {why:?} with {fix:?} in {said}");
    }
}

#[test]
fn a_fresh_installation_is_well_and_goes_without_a_trace() {
    for claude in ["2.1.329", "2.0.9"] {
        let machine = Machine::new(claude);
        let before = machine.home.tree();
        let (code, said) = machine.lazaret(&["install"]);
        assert_eq!(code, 0, "{said}");
        let (code, said) = machine.lazaret(&["doctor"]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(said.matches("`rm -rf /` is blocked, `ls` passes").count(), 2, "{said}");
        let (code, said) = machine.lazaret(&["uninstall"]);
        assert_eq!(code, 0, "{said}");
        // What doctor's own calls left in the log.
        fs::remove_dir_all(machine.home.path("home/.local")).unwrap();
        assert_eq!(machine.home.tree(), before);
        let (code, said) = machine.lazaret(&["doctor"]);
        assert!(code == 1 && said.contains("calls run unchecked"), "{said}");
    }
}

#[test]
fn each_way_to_leave_it_open_is_found() {
    for claude in ["2.1.329", "2.0.9"] {
        let machine = Machine::new(claude);
        let home = &machine.home;
        fs::create_dir(home.path("spare")).unwrap();
        programs::copy(home.path("opt/lazaret"), home.path("spare/lazaret"));
        assert_eq!(machine.lazaret(&["install"]).0, 0);
        let good = home.read(SETTINGS);

        home.write(SETTINGS, &good.replace("opt/lazaret", "other/lazaret"));
        home.script("other/lazaret", "exit 0");
        machine.fails("points elsewhere", "lazaret install claude-code");
        machine.fails("must be blocked and was let through", "lazaret install claude-code");
        home.write(SETTINGS, "{}");
        machine.fails("not registered", "lazaret install claude-code");
        home.write(SETTINGS, &good);

        fs::set_permissions(home.path("opt/lazaret"), fs::Permissions::from_mode(0o644)).unwrap();
        machine.fails("is not executable", "chmod 755");
        fs::remove_file(home.path("opt/lazaret")).unwrap();
        machine.fails("is gone", "lazaret install opencode");
        home.write(SETTINGS, &good.replace("\"timeout\": 15", "\"timeout\": 1.6"));
        home.script("opt/lazaret", "exec sleep 600");
        // Or its own time-outs would be waited for as well.
        fs::remove_file(home.path("home/.config/opencode/plugin/lazaret.js")).unwrap();
        machine.fails("no answer to `rm -rf /` within 1.6 s", "lazaret install claude-code");
    }
}

#[test]
fn errors_name_file_line_and_hint() {
    let machine = Machine::new("2.1.329");
    let path = machine.home.write(SETTINGS, "{\n  \"a\": 1,\n  // no\n}\n");
    let (code, said) = machine.lazaret(&["install", "claude-code"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.starts_with(&format!("lazaret: {}: line 3", path.display())), "{said}");
    assert!(said.contains("\nhint: fix the file"), "{said}");
}
