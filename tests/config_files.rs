//! Configuration as it lies on a disk: layers, messages, trust, the cache, protected places, the commands, the reference.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use lazaret::cli::CHECKS;
use lazaret::cli::{config as command, trust as trust_command};
use lazaret::domain::{FaultKind, OnFault, Places, Policy, Profile, ProtectedKind};
use lazaret::host::config::{self, KEYS, Key, NoteKind, Origin, REFUSED, Value};
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::places;
use lazaret::host::trust::{self, TrustState};

/// A home, a project and lazaret's directories, all temporary.
struct Machine {
    _dir: tempfile::TempDir,
    root: String,
    dirs: Dirs,
    places: Places,
}

impl Machine {
    fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        let env = Environment { lazaret_home: Some(format!("{root}/own")), ..Environment::default() };
        let mut dirs = Dirs::locate(&env).unwrap();
        dirs.managed = format!("{root}/etc/config.toml").into();
        let project = Some(format!("{root}/project"));
        let places = Places { project: project.clone(), repo: project, ..Places::default() };
        Machine { _dir: dir, root, dirs, places }
    }

    fn write(&self, path: &str, text: &str) {
        let path = format!("{}/{path}", self.root);
        fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn managed(&self, text: &str) {
        self.write("etc/config.toml", text);
    }

    fn user(&self, text: &str) {
        self.unaccepted(text);
        let path = self.dirs.config_file();
        trust::accept(&self.dirs.state, path.to_str().unwrap(), text.as_bytes()).unwrap();
    }

    fn unaccepted(&self, text: &str) {
        self.write("own/config/config.toml", text);
    }

    fn project(&self, text: &str) {
        self.write("project/.lazaret.toml", text);
    }

    fn project_file(&self) -> String {
        format!("{}/project/.lazaret.toml", self.root)
    }

    fn trust(&self) {
        let bytes = fs::read(self.project_file()).unwrap();
        trust::allow(&self.dirs.state, &self.project_file(), &bytes).unwrap();
    }

    /// The policy, which must be the same from the files and twice from the cache.
    fn policy(&self) -> Policy {
        let fresh = config::explain(&self.dirs, &self.places, CHECKS).unwrap();
        for _ in 0..2 {
            let loaded = config::load(&self.dirs, &self.places, CHECKS).unwrap();
            assert_eq!(loaded.policy, fresh.policy);
            assert_eq!(loaded.notes, fresh.notes);
        }
        fresh.policy
    }

    fn notes(&self) -> Vec<(NoteKind, String)> {
        let loaded = config::load(&self.dirs, &self.places, CHECKS).unwrap();
        loaded.notes.into_iter().map(|note| (note.kind, note.text)).collect()
    }

    fn fault(&self) -> String {
        let fault = config::load(&self.dirs, &self.places, CHECKS).expect_err("a fault");
        assert_eq!(fault.kind, FaultKind::Config);
        assert!(fault.hint.is_some());
        fault.message()
    }

    fn cache_entries(&self) -> Vec<std::path::PathBuf> {
        fs::read_dir(self.dirs.state.join("policy"))
            .map_or(Vec::new(), |dir| dir.map(|e| e.unwrap().path()).collect())
    }
}

#[test]
fn without_files_the_defaults_count_and_nothing_is_written() {
    let machine = Machine::new();
    assert_eq!(machine.policy(), Policy::default());
    assert!(!machine.dirs.state.exists());
}

#[test]
fn every_layer_counts_in_its_order() {
    let machine = Machine::new();
    machine.managed("[quarantine]\nmax_calls = 50\n");
    machine.user(
        "on_fault = 'block'\n[quarantine]\nmax_calls = 80\nmax_concurrent = 9\n[audit]\nretain_days = 7\n",
    );
    machine.project("[quarantine]\nmax_concurrent = 3\ntimeout_seconds = 900\n[audit]\nretain_days = 1\n");
    let policy = machine.policy();
    assert_eq!(policy.on_fault, OnFault::Block);
    assert_eq!(
        (policy.quarantine.calls, policy.quarantine.concurrent, policy.quarantine.timeout_seconds),
        (50, 3, 300)
    );
    assert_eq!(policy.audit.retain_days, 7);
    let kinds: Vec<NoteKind> = machine.notes().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [NoteKind::Overruled, NoteKind::Overruled, NoteKind::Untrusted]);
}

#[test]
fn mistakes_are_named_with_file_line_key_and_hint() {
    let cases = [
        (
            "[quarantine]\nmax_calls = 0\n",
            "line 2: `quarantine.max_calls`: 0 is not a whole number from 1 to 10000",
        ),
        ("[quarantine]\nmax_calls = -5\n", "-5 is not a whole number from 1 to 10000"),
        ("[quarantine]\nmax_calls = 1.5\n", "1.5 is not a whole number"),
        ("[quarantine]\nmax_calls = 99999999999999999999\n", "is not a whole number from 1 to 10000"),
        ("[quarantine]\nmax_calls = '5'\n", "\"5\" is not a whole number"),
        ("[risk]\nlow_threshold = 1.5\n", "`risk.low_threshold`: 1.5 is not a number from 0 to 1"),
        ("[risk]\nlow_threshold = nan\n", "nan is not a number from 0 to 1"),
        (
            "[risk]\nhigh_threshold = 0.5\n",
            "line 2: `risk.medium_threshold` (0.6) is above `risk.high_threshold` (0.5)",
        ),
        (
            "[rationality]\nmedium_threshold = 0.9\n",
            "`rationality.medium_threshold` (0.9) is above `rationality.high_threshold` (0.8)",
        ),
        ("on_fault = 'allow'\n", "`on_fault`: \"allow\" is not \"ask\" or \"block\""),
        ("[reviewer]\nmode = 'later'\n", "`reviewer.mode`: \"later\" is not \"async\" or \"blocking\""),
        ("[reviewer]\nenabled = 'yes'\n", "\"yes\" is not true or false"),
        ("[audit]\nlog_level = 'all'\n", "`audit.log_level`"),
        ("[rules]\ndisabled = 'x'\n", "is not a list of rule ids"),
        ("[rules]\ndisabled = [1]\n", "is not a list of rule ids"),
        ("[scope]\npaths = ['src']\n", "\"src\" is not absolute and does not begin with ~/"),
        ("[scope]\npaths = ['/a/*.c']\n", "holds a wildcard"),
        ("[network]\nknown_hosts = ['https://x.example/']\n", "is not a bare host name"),
        ("risk = 1\n", "`risk` is a section"),
        ("[limits]\ntool = 5\n", "write it as [[limits.tool]]"),
        ("[[limits.tool]]\ntool = 'Bash'\n", "an entry needs tool, calls and window_seconds"),
        (
            "[[limits.tool]]\ntool = 'Bash'\ncalls = 1\nwindow_seconds = 1\nper = 'user'\n",
            "per \"user\" is none of agent, fleet",
        ),
        (
            "[[limits.tool]]\ntool = 'Bash'\ncalls = 0\nwindow_seconds = 1\n",
            "calls 0 is not a whole number from 1 to 10000",
        ),
        (
            "[[limits.tool]]\ntool = 'Bash'\ncall = 1\n",
            "unknown key `call`; an entry has tool, calls, window_seconds and per",
        ),
        ("on_fault = 'ask'\non_fault = 'ask'\n", "line 2: it is not TOML"),
        ("= broken", "line 1: it is not TOML"),
    ];
    for (text, expected) in cases {
        let machine = Machine::new();
        machine.user(text);
        let message = machine.fault();
        assert!(message.contains(expected), "{text:?}: {message}");
        assert!(message.contains(&format!("{}/own/config/config.toml", machine.root)), "{message}");
        machine.user("");
        machine.managed(text);
        assert!(machine.fault().contains("etc/config.toml"), "a managed file likewise");
    }
}

#[test]
fn a_key_that_nobody_knows_is_a_note_and_the_rest_counts() {
    for (text, expected) in [
        ("x = 1\n", "unknown key `x`; `lazaret config show` lists the known ones"),
        (
            "\n[risk]\nhigh_treshold = 0.5\n",
            "unknown key `risk.high_treshold`; did you mean `risk.high_threshold`?",
        ),
        ("protected_branches = ['a']\n", "did you mean `git.protected_branches`?"),
        (
            "[rules]\ncustom_rules_path = 'x'\n",
            "`rules.custom_rules_path` is no key: custom rules stand in the configuration itself, as [[rules.custom]]",
        ),
    ] {
        let whole = format!("on_fault = 'block'\n{text}");
        let problems = config::problems(whole.as_bytes(), None, CHECKS);
        assert!(problems.len() == 1 && problems[0].text.contains(expected), "{text}: {problems:?}");
        for managed in [true, false] {
            let machine = Machine::new();
            if managed {
                machine.managed(&whole)
            } else {
                machine.user(&whole)
            }
            assert_eq!(machine.policy().on_fault, OnFault::Block, "{text}");
            let notes = machine.notes();
            let [(NoteKind::Unknown, told)] = notes.as_slice() else { panic!("{text}: {notes:?}") };
            assert!(told.contains(expected), "{told}");
        }
        // Beside what cannot be read it does not hide that.
        let machine = Machine::new();
        machine.user(&format!("{text}[quarantine]\nmax_calls = 0\n"));
        assert!(machine.fault().contains("`quarantine.max_calls`"), "{text}");
    }
}

#[test]
fn every_key_without_effect_is_refused() {
    for refused in REFUSED {
        let (section, name) = refused.name.split_once('.').unwrap();
        let problems = config::problems(format!("[{section}]\n{name} = 1\n").as_bytes(), None, CHECKS);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].text.contains(refused.why) && problems[0].line == Some(2), "{problems:?}");
    }
}

#[test]
fn hostile_files_end_in_a_problem() {
    let deep = "a = ".to_owned() + &"[".repeat(30_000);
    let dotted = "a.".repeat(20_000) + "b = 1";
    let many: String = (0..6000).map(|n| format!("k{n} = 1\n")).collect();
    for text in [deep.as_bytes(), dotted.as_bytes(), many.as_bytes(), b"\xff\xfe", b"a = \"\x1b[31m\""] {
        let problems = config::problems(text, Some("/p"), CHECKS);
        assert!(!problems.is_empty() && problems.len() <= 50);
        assert!(problems.iter().all(|problem| !problem.text.contains(char::is_control)));
    }
}

#[test]
fn what_is_no_readable_file_is_a_fault_of_the_user_and_a_note_of_the_project() {
    let machine = Machine::new();
    fs::create_dir_all(machine.dirs.config_file()).unwrap();
    assert!(machine.fault().contains("not a regular file"));
    fs::remove_dir(machine.dirs.config_file()).unwrap();
    machine.user(&"#".repeat(70_000));
    assert!(machine.fault().contains("; at most 64 KiB are read"));
    machine.user("on_fault = 'block'");
    fs::create_dir_all(machine.project_file()).unwrap();
    assert_eq!(machine.policy().on_fault, OnFault::Block);
    assert_eq!(machine.notes(), [(NoteKind::Broken, "it is not a regular file".to_owned())]);
    fs::remove_dir(machine.project_file()).unwrap();
    let made =
        std::process::Command::new("mkfifo").arg(machine.project_file()).status().expect("mkfifo runs");
    assert!(made.success());
    assert_eq!(machine.notes(), [(NoteKind::Broken, "it is not a regular file".to_owned())]);
}

#[test]
fn a_broken_project_file_never_breaks_the_gate_and_what_tightens_in_it_counts() {
    let machine = Machine::new();
    machine
        .project("on_fault = 'block'\nnonsense = 1\n[rules]\nbuiltin = 'none'\n[risk]\nlow_threshold = 7\n");
    let policy = machine.policy();
    assert_eq!((policy.on_fault, policy.builtin_rules), (OnFault::Block, Policy::default().builtin_rules));
    assert_eq!(policy.risk, Policy::default().risk);
    let kinds: Vec<NoteKind> = machine.notes().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [NoteKind::Unknown, NoteKind::Broken, NoteKind::Untrusted]);
    machine.project("on_fault = ");
    assert_eq!(machine.policy(), Policy::default());
}

/// For every key, a looser value than the default.
const LOOSER: &str = "profile = 'development'\non_fault = 'ask'\nexceptions = [{ rule = 'a.b', reason = 'because' }]\n[reviewer]\nenabled = false\nmode = 'async'\n\
    [risk]\nlow_threshold = 0.4\nmedium_threshold = 0.7\nhigh_threshold = 0.9\ncritical_threshold = 1.0\n\
    [rationality]\nhigh_threshold = 0.7\nmedium_threshold = 0.4\n[rules]\nbuiltin = 'none'\ndisabled = ['x']\n\
    [resources]\nmax_file_operations = 1000\nmax_execution_time_seconds = 1000\nmax_memory_mb = 1000\nmax_token_usage = 1000000\n[audit]\nenabled = false\nlog_level = 'warn'\nmask_pii = true\nretain_days = 1\nmax_bytes = 65536\n\
    [performance]\nmax_review_time_ms = 9000\nasync_threshold = 0.4\n\
    [quarantine]\nmax_calls = 500\nwindow_seconds = 5\nmax_concurrent = 50\ntimeout_seconds = 3000\nagent_types = []\n\
    [fleet]\non_fault = 'local'\ndeadline_ms = 1000\nmax_quarantined = 100000\n\
    [scope]\npaths = ['/']\n[network]\nknown_hosts = ['evil.example']\n[git]\nprotected_branches = []\n\
    [patterns]\nenabled_patterns = []\nsensitivity = 'low'\n\
    [interventions]\nsoft_correction = false\nhard_stop = false\nmax_retries = 50\ncustom = [{ pattern = 'scope_creep', most = 'soft_correction' }]\n\
    [checkpoints]\nenabled = false\ninstead_of_block = true\nretain_days = 1\nmax_files = 1\nmax_file_bytes = 1\nmax_bytes = 1\nmax_store_bytes = 65536\n";

#[test]
fn a_strangers_repository_loosens_nothing_until_a_person_trusts_it() {
    let machine = Machine::new();
    machine.project(LOOSER);
    assert_eq!(machine.policy(), Policy::default());
    assert!(
        machine
            .notes()
            .iter()
            .all(|(kind, text)| *kind == NoteKind::Untrusted && text.contains("lazaret trust allow"))
    );
    machine.trust();
    let trusted = machine.policy();
    assert!(!trusted.enabled && !trusted.audit.enabled && trusted.protected_branches.is_empty());
    assert_eq!((trusted.deadline_ms, trusted.quarantine.calls, trusted.risk.high), (9000, 500, 0.9));
    assert_eq!(machine.notes(), []);
    machine.project(&format!("{LOOSER}# edited\n"));
    assert_eq!(machine.policy(), Policy::default(), "an edit withdraws trust");
    machine.project(LOOSER);
    assert!(!machine.policy().enabled, "the very content again");
    trust::deny(&machine.dirs.state, &machine.project_file()).unwrap();
    assert_eq!(machine.policy(), Policy::default(), "refused");
}

#[test]
fn each_looser_key_alone_changes_nothing() {
    let (mut section, mut seen) = (String::new(), 0);
    for line in LOOSER.lines() {
        if line.starts_with('[') {
            section = format!("{line}\n");
            continue;
        }
        let machine = Machine::new();
        machine.project(&format!("{section}{line}\n"));
        assert_eq!(machine.policy(), Policy::default(), "{section}{line}");
        seen += 1;
    }
    // All but the four modes of `resources` and its `per`, `rules.exceptions_from`, `limits.tool`, `rules.custom` and
    // `patterns.custom`, which have no looser value, `scope.goals`, and `interventions.notify` and `plugins`, which no project sets, and
    // `programs`, which only add, and `fleet.service`, which can be turned on.
    assert_eq!(seen + 14, KEYS.len());
}

#[test]
fn no_project_names_a_program_that_is_started() {
    let machine = Machine::new();
    machine.project("[interventions]\nnotify = ['/usr/bin/touch', '/x']\n");
    machine.trust();
    assert_eq!(machine.policy(), Policy::default());
    let notes = machine.notes();
    assert!(notes.iter().any(|(_, text)| text.contains("a project's file cannot set it")), "{notes:?}");
    machine.user("[interventions]\nnotify = ['/usr/bin/logger', '-t', '-t']\n");
    assert_eq!(machine.policy().interventions.notify, ["/usr/bin/logger", "-t", "-t"]);
}

#[test]
fn a_repository_may_tighten_over_user_and_management() {
    let machine = Machine::new();
    machine.managed("on_fault = 'ask'\n[[limits.tool]]\ntool = 'Bash'\ncalls = 9\nwindow_seconds = 60\n");
    machine.user("[reviewer]\nenabled = false\n[network]\nknown_hosts = ['a.example', 'b.example']\n");
    machine.project(
        "on_fault = 'block'\n[reviewer]\nenabled = true\n[network]\nknown_hosts = ['b.example']\n[resources]\n\
         mode = 'block'\nmax_file_operations = 5\n[scope]\ngoals = ['repair the parser']\n\
         [[limits.tool]]\ntool = '*'\ncalls = 3\nwindow_seconds = 1\n",
    );
    let policy = machine.policy();
    assert!(policy.enabled);
    assert_eq!(policy.on_fault, OnFault::Block);
    assert_eq!(policy.known_hosts, ["b.example"]);
    assert_eq!(policy.resources.max_file_operations, 5);
    assert_eq!(policy.goals, ["repair the parser"]);
    let tools: Vec<&str> = policy.tool_limits.iter().map(|limit| limit.tool.as_str()).collect();
    assert_eq!(tools, ["Bash", "*"]);
    assert_eq!(machine.notes(), []);
}

#[test]
fn every_project_file_up_to_the_repository_counts() {
    let mut machine = Machine::new();
    machine.places.project = Some(format!("{}/project/a/b", machine.root));
    machine.project("[git]\nprotected_branches = ['outer']\n[quarantine]\nmax_calls = 20\n");
    machine.write("project/a/.lazaret.toml", "[quarantine]\nmax_calls = 10\n");
    machine.write(
        "project/a/b/.lazaret.toml",
        "[quarantine]\nmax_calls = 30\n[scope]\npaths = ['../c', '/x/**']\n",
    );
    machine.write(".lazaret.toml", "[quarantine]\nmax_calls = 1\n");
    let policy = machine.policy();
    assert_eq!(policy.quarantine.calls, 10);
    assert!(policy.protected_branches.contains(&"outer".to_owned()));
    assert!(policy.scope.is_empty());
    let inner = format!("{}/project/a/b/.lazaret.toml", machine.root);
    trust::allow(&machine.dirs.state, &inner, &fs::read(&inner).unwrap()).unwrap();
    let policy = machine.policy();
    assert_eq!(policy.scope, [format!("{}/project/a/c", machine.root), "/x".to_owned()]);
    assert_eq!(policy.quarantine.calls, 10);
    machine.places.repo = Some(format!("{}/project/a/b/c", machine.root));
    assert_eq!(machine.policy().quarantine.calls, 30, "a project outside the repository: its own file alone");
}

#[test]
fn the_cache_is_used_private_and_follows_every_change() {
    let machine = Machine::new();
    machine.user("[quarantine]\nmax_calls = 77\n");
    assert_eq!(machine.policy().quarantine.calls, 77);
    let entries = machine.cache_entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(fs::metadata(&entries[0]).unwrap().permissions().mode() & 0o777, 0o600);
    // Proof that it is used: an entry of the same files that says something else is believed.
    let kept = fs::read_to_string(&entries[0]).unwrap();
    fs::write(&entries[0], kept.replace("\"calls\":77", "\"calls\":78")).unwrap();
    assert_eq!(config::load(&machine.dirs, &machine.places, CHECKS).unwrap().policy.quarantine.calls, 78);
    for damaged in [kept.get(..kept.len() - 9).unwrap(), "", "{}", &kept.replace("\"calls\"", "\"colls\"")] {
        fs::write(&entries[0], damaged).unwrap();
        assert_eq!(config::load(&machine.dirs, &machine.places, CHECKS).unwrap().policy.quarantine.calls, 77);
        assert_eq!(fs::read_to_string(&entries[0]).unwrap(), kept, "made anew");
    }
    machine.user("[quarantine]\nmax_calls = 76\n");
    assert_eq!(machine.policy().quarantine.calls, 76);
    assert_eq!(machine.cache_entries().len(), 1, "an edit replaces the entry");
    fs::remove_file(machine.dirs.config_file()).unwrap();
    assert_eq!(machine.policy(), Policy::default());
    fs::remove_dir_all(&machine.dirs.state).unwrap();
    machine.write("own/state", "in the way");
    // It tightens, and so needs no acceptance, which could not be kept either.
    machine.unaccepted("[quarantine]\nmax_calls = 75\n");
    assert_eq!(machine.policy().quarantine.calls, 75, "a cache that cannot be written does not matter");
}

#[test]
fn two_files_cannot_pass_for_two_others() {
    let machine = Machine::new();
    machine.managed("#a");
    machine.user("#b\n[quarantine]\nmax_calls = 9\n");
    assert_eq!(machine.policy().quarantine.calls, 9);
    machine.managed("#a#b\n[quarantine]\nmax_calls = 9\n");
    machine.user("");
    assert_eq!(
        config::explain(&machine.dirs, &machine.places, CHECKS)
            .unwrap()
            .values
            .iter()
            .find(|v| v.key.name == "quarantine.max_calls")
            .unwrap()
            .from,
        [0]
    );
    assert_eq!(machine.policy().quarantine.calls, 9);
}

#[test]
fn init_writes_once_and_check_finds_it_fine() {
    let machine = Machine::new();
    let mut out = Vec::new();
    command::init(&machine.dirs, &mut out).unwrap();
    let file = machine.dirs.config_file();
    assert!(String::from_utf8(out).unwrap().contains(file.to_str().unwrap()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(machine.policy(), Policy::default());
    fs::write(&file, "on_fault = 'block'").unwrap();
    let again = command::init(&machine.dirs, &mut Vec::new()).unwrap_err();
    assert!(again.to_string().contains("it exists"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "on_fault = 'block'");
    let mut out = Vec::new();
    assert!(command::check(&machine.dirs, &machine.places, None, false, &mut out).unwrap());
    assert!(String::from_utf8(out).unwrap().ends_with(": fine\n"));
}

#[test]
fn check_lists_every_mistake() {
    let machine = Machine::new();
    machine.user("on_fault = 'x'\n[risk]\nlow = 1\n");
    let mut out = Vec::new();
    assert!(!command::check(&machine.dirs, &machine.places, None, true, &mut out).unwrap());
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(report["ok"], false);
    let lines: Vec<_> =
        report["files"][0]["problems"].as_array().unwrap().iter().map(|p| p["line"].clone()).collect();
    assert_eq!(lines, [1, 3]);
    let mut out = Vec::new();
    let good =
        command::check(&machine.dirs, &machine.places, Some(&machine.dirs.config_file()), false, &mut out)
            .unwrap();
    assert!(!good && String::from_utf8(out).unwrap().contains("config.toml:3: "));
    let none =
        command::check(&machine.dirs, &machine.places, Some(Path::new("/no/such")), false, &mut Vec::new());
    assert!(none.unwrap_err().to_string().contains("no such file"));
}

#[test]
fn a_rule_that_is_gone_may_still_be_named() {
    let machine = Machine::new();
    machine.user("[rules]\ndisabled = ['tools.agent-ordered', 'tools.pays']\n");
    let mut out = Vec::new();
    assert!(command::check(&machine.dirs, &machine.places, None, false, &mut out).unwrap());
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("tools.agent-ordered does not exist any more"), "{text}");
    let mut out = Vec::new();
    command::show(&machine.dirs, &machine.places, true, &mut out).unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let kinds: Vec<_> = shown["notes"].as_array().unwrap().iter().map(|note| note["kind"].clone()).collect();
    assert_eq!(kinds, ["retired"]);
}

#[test]
fn show_says_where_each_value_comes_from() {
    let machine = Machine::new();
    machine.user("[quarantine]\nmax_calls = 80\n[rules]\ndisabled = ['no.such-rule']\n");
    machine.project("[quarantine]\nmax_calls = 40\nmax_concurrent = 50\n");
    let mut out = Vec::new();
    command::show(&machine.dirs, &machine.places, true, &mut out).unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(shown["values"].as_object().unwrap().len(), KEYS.len());
    let calls = &shown["values"]["quarantine.max_calls"];
    assert_eq!((&calls["value"], &calls["source"]), (&40.into(), &"user, tightened by project".into()));
    assert_eq!(calls["files"].as_array().unwrap().len(), 2);
    assert_eq!(shown["values"]["on_fault"]["source"], "default");
    let kinds: Vec<_> = shown["notes"].as_array().unwrap().iter().map(|note| note["kind"].clone()).collect();
    assert_eq!(kinds, ["untrusted", "broken"]);
    assert_eq!(shown["layers"][1]["trust"], "unknown");
    let mut out = Vec::new();
    command::show(&machine.dirs, &machine.places, false, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("quarantine.max_calls = 40  # user, tightened by project\n"), "{text}");
    assert!(text.contains("no rule is called \"no.such-rule\""), "{text}");
    let mut out = Vec::new();
    command::path(&machine.dirs, &machine.places, false, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("etc/config.toml  (none)\n") && text.contains("own/config/config.toml\n"),
        "{text}"
    );
}

#[test]
fn trust_is_given_at_a_terminal_only_and_taken_anywhere() {
    let machine = Machine::new();
    let state = || {
        let content = fs::read(machine.project_file()).unwrap();
        trust::state(&machine.dirs.state, &machine.project_file(), &content)
    };
    let allow =
        |terminal| trust_command::allow(&machine.dirs, &machine.places, None, terminal, &mut Vec::new());
    assert!(allow(true).unwrap_err().to_string().contains("nothing to trust"));
    machine.project("[rules]\nbuiltin = 'none'\n");
    let refused = allow(false).unwrap_err().to_string();
    assert!(refused.contains("terminal"), "{refused}");
    assert_eq!(state(), TrustState::Unknown);
    let mut out = Vec::new();
    trust_command::show(&machine.dirs, &machine.places, true, &mut out).unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(shown["files"][0]["trust"], "unknown");
    assert!(shown["files"][0]["loosens"][0].as_str().unwrap().contains("rules.builtin"));
    assert_eq!(allow(true).unwrap(), [machine.project_file()]);
    assert_eq!(state(), TrustState::Allowed);
    let other = Path::new("/elsewhere/.lazaret.toml");
    assert!(trust_command::deny(&machine.dirs, &machine.places, Some(other), &mut Vec::new()).is_err());
    trust_command::deny(&machine.dirs, &machine.places, None, &mut Vec::new()).unwrap();
    assert_eq!(state(), TrustState::Denied);
    machine.project("[rules]\nbuiltin = 'nonsense'\n");
    assert!(allow(true).unwrap_err().to_string().contains("fix it first"));
}

/// Settings, hooks, plugins and agents of both clients, in every place that the test's environment gives them.
fn settings_of_clients(root: &str) -> Vec<String> {
    let at = |path: &str| format!("{root}/{path}");
    let mut settings = vec![
        at("home/.claude.json"),
        at("claude/.claude.json"),
        at("oc.json"),
        "/etc/claude-code/managed-settings.json".to_owned(),
    ];
    for claude in ["home/.claude", "claude", "repo/.claude", "repo/pkg/.claude", "repo/pkg/src/.claude"] {
        for name in
            ["settings.json", "settings.local.json", "plugins/p/hooks.json", "agents/quarantine-reviewer.md"]
        {
            settings.push(at(&format!("{claude}/{name}")));
        }
    }
    // A project's hooks are the person's work, of which a rule asks.
    settings.extend(["home/.claude/hooks/x.sh", "claude/hooks/x.sh"].map(at));
    for opencode in
        ["home/.config/opencode", "home/.opencode", "oc", "repo/.opencode", "repo/pkg/src/.opencode"]
    {
        for name in [
            "opencode.json",
            "opencode.jsonc",
            "config.json",
            "plugin/x.js",
            "plugins/x.ts",
            "agent/quarantine-reviewer.md",
            "agents/quarantine-reviewer.md",
        ] {
            settings.push(at(&format!("{opencode}/{name}")));
        }
    }
    for dir in ["repo", "repo/pkg", "repo/pkg/src"] {
        settings.extend([at(&format!("{dir}/opencode.json")), at(&format!("{dir}/opencode.jsonc"))]);
    }
    settings
}

#[test]
fn protected_places_of_both_clients_and_of_lazaret() {
    let machine = Machine::new();
    let at = |path: &str| format!("{}/{path}", machine.root);
    fs::create_dir_all(at("repo/.git")).unwrap();
    fs::create_dir_all(at("repo/pkg/src")).unwrap();
    let env = Environment {
        home: Some(at("home")),
        user: Some("u".to_owned()),
        tmpdir: Some(at("tmp")),
        xdg_runtime_dir: Some(at("run")),
        claude_config_dir: Some(at("claude")),
        claude_project_dir: Some(at("repo/pkg")),
        opencode_config_dir: Some(at("oc")),
        opencode_config: Some(at("oc.json")),
        ..Environment::default()
    };
    let dirs = Dirs::locate(&env).unwrap();
    let found = places::locate(&env, &dirs, &at("repo/pkg/src"));
    assert_eq!((found.repo, found.project), (Some(at("repo")), Some(at("repo/pkg"))));
    assert_eq!((found.home, found.user.as_deref()), (Some(at("home")), Some("u")));
    assert!(found.temp.contains(&at("tmp")) && found.temp.contains(&"/tmp".to_owned()));
    for (name, value) in
        [("XDG_RUNTIME_DIR", "run"), ("CLAUDE_CONFIG_DIR", "claude"), ("OPENCODE_CONFIG", "oc.json")]
    {
        assert!(found.variables.contains(&(name.to_owned(), at(value))), "{name}");
    }
    assert!(!found.variables.iter().any(|(name, _)| name == "LAZARET_HOME"), "it is not set");
    let kind = |path: &str| {
        let covers = |p: &&lazaret::domain::Protected| {
            p.path == path || (p.tree && lazaret::domain::lies_in(path, &p.path))
        };
        found.protected.iter().find(covers).map(|place| place.kind)
    };
    for path in settings_of_clients(&machine.root) {
        assert_eq!(kind(&path), Some(ProtectedKind::ClientSettings), "{path}");
    }
    let own = [
        "home/.config/lazaret/config.toml",
        "home/.local/state/lazaret/x",
        "repo/.lazaret.toml",
        "repo/pkg/.lazaret.toml",
        "home/.local/bin/lazaret",
    ];
    for path in own {
        assert_eq!(kind(&at(path)), Some(ProtectedKind::Own), "{path}");
    }
    assert_eq!(kind("/etc/lazaret/config.toml"), Some(ProtectedKind::Own));
    assert_eq!(kind(std::env::current_exe().unwrap().to_str().unwrap()), Some(ProtectedKind::Own));
    assert_eq!(kind(&at("run/lazaret/keys")), Some(ProtectedKind::Keys));
    for path in [
        "repo/src/main.rs",
        "repo/.claude/commands/x.md",
        "repo/.claude/hooks/x.sh",
        "home/.claude/projects/x",
        "home/notes",
        "repo/package.json",
    ] {
        assert_eq!(kind(&at(path)), None, "{path}");
    }
}

#[test]
fn protected_places_behind_links_are_found_by_their_real_names() {
    let machine = Machine::new();
    let at = |path: &str| format!("{}/{path}", machine.root);
    fs::create_dir_all(at("dotfiles/claude")).unwrap();
    fs::create_dir_all(at("home")).unwrap();
    machine.write("dotfiles/claude/settings.json", "{}");
    symlink(at("dotfiles/claude"), at("home/.claude")).unwrap();
    let env = Environment { home: Some(at("home")), ..Environment::default() };
    let mut found = places::locate(&env, &Dirs::locate(&env).unwrap(), &at("home"));
    let named = |found: &Places, path: &str| found.protected.iter().any(|place| place.path == path);
    assert!(!named(&found, &at("dotfiles/claude/settings.json")));
    places::resolve_links(&mut found);
    assert!(
        named(&found, &at("dotfiles/claude/settings.json"))
            && named(&found, &at("home/.claude/settings.json"))
    );
    assert!(named(&found, &at("dotfiles/claude/settings.local.json")), "also what is not there yet");
}

#[test]
fn no_temporary_directory_makes_the_home_disposable() {
    let machine = Machine::new();
    for tmpdir in ["/", "/home", "/home/u", "relative"] {
        let env = Environment {
            home: Some("/home/u".to_owned()),
            tmpdir: Some(tmpdir.to_owned()),
            ..Environment::default()
        };
        assert_eq!(
            places::locate(&env, &machine.dirs, "/home/u").temp,
            ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"],
            "{tmpdir}"
        );
    }
}

/// One row of the reference for each key.
fn reference() -> Vec<String> {
    let rows = KEYS.iter().map(|key| {
        let default = match key.get(&Policy::default()) {
            Value::Limits(_)
            | Value::Rules(_)
            | Value::Patterns(_)
            | Value::Interventions(_)
            | Value::Plugins(_)
            | Value::Programs(_)
            | Value::Exceptions(_) => "none".to_owned(),
            value => format!("`{value}`"),
        };
        let takes = key.kind.describe().replace('"', "`");
        format!("| `{}` | {takes} | {default} | {} |", key.name, key.effect)
    });
    let refused = REFUSED.iter().map(|refused| format!("| `{}` | {} |", refused.name, refused.why));
    rows.chain(refused).collect()
}

#[test]
fn the_reference_holds_every_key_as_the_program_knows_it() {
    let docs = fs::read_to_string("docs/configuration.md").unwrap();
    let missing: Vec<String> =
        reference().into_iter().filter(|row| !docs.lines().any(|line| line == row)).collect();
    assert!(missing.is_empty(), "docs/configuration.md lacks these rows:\n{}", missing.join("\n"));
    let rows = docs.lines().filter(|line| line.starts_with("| `") && line.contains('.')).count();
    assert!(rows <= reference().len() + 1, "docs/configuration.md has rows of keys that there are not");
}

/// The table of what each profile sets, as the program knows it.
fn profiles() -> Vec<String> {
    let of = |profile: Profile, name: &str| {
        let found = config::profile_settings(profile).find(|(key, _)| key.name == name);
        found.map_or_else(String::new, |(_, value)| format!("`{value}`"))
    };
    let set = |key: &&Key| Profile::ALL.iter().any(|profile| !of(*profile, key.name).is_empty());
    let row = |key: &Key| {
        let default = format!("`{}`", key.get(&Policy::default()));
        let cells =
            [Profile::Development, Profile::Testing, Profile::Production].map(|one| of(one, key.name));
        let [development, testing, production] = cells;
        format!("| {} | {development} | {default} | {testing} | {production} |", key.name)
    };
    KEYS.iter().filter(set).map(row).collect()
}

#[test]
fn the_table_of_profiles_is_as_the_program_knows_it() {
    let docs = fs::read_to_string("docs/configuration.md").unwrap();
    let head = "| key | development | default | testing | production |";
    let rows: Vec<&str> = docs
        .lines()
        .skip_while(|line| *line != head)
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let expected = profiles();
    assert!(rows == expected, "docs/configuration.md should have these rows:\n{}", expected.join("\n"));
}

#[test]
fn a_profile_lies_below_all_files() {
    let machine = Machine::new();
    machine.user("profile = 'production'\n[risk]\nhigh_threshold = 0.9\ncritical_threshold = 0.95\n");
    let policy = machine.policy();
    assert_eq!((policy.profile, policy.on_fault), (Profile::Production, OnFault::Block));
    assert_eq!((policy.risk.low, policy.risk.high, policy.interventions.max_retries), (0.2, 0.9, 2));
    assert_eq!(machine.notes(), [], "a file's own value is no loosening");
    machine.project("[risk]\nlow_threshold = 0.1\nmedium_threshold = 0.55\n");
    let policy = machine.policy();
    assert_eq!(
        (policy.risk.low, policy.risk.medium),
        (0.1, 0.5),
        "a stranger's counts as far as it is stricter"
    );
    let shown = |dirs: &Dirs, places: &Places| {
        let mut out = Vec::new();
        command::show(dirs, places, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let out = shown(&machine.dirs, &machine.places);
    assert!(out.contains("interventions.max_retries = 2  # profile production"), "{out}");
    assert!(out.contains("risk.high_threshold = 0.9  # user"), "{out}");
}

#[test]
fn a_repository_chooses_a_stricter_profile_and_no_looser_one() {
    let machine = Machine::new();
    for (user, project, counts) in [
        ("default", "production", Profile::Production),
        ("default", "development", Profile::Default),
        ("development", "testing", Profile::Testing),
        ("production", "testing", Profile::Production),
    ] {
        machine.user(&format!("profile = '{user}'\n"));
        machine.project(&format!("profile = '{project}'\n"));
        assert_eq!(machine.policy().profile, counts, "{user} {project}");
        assert_eq!(machine.notes().is_empty(), counts.name() == project, "{:?}", machine.notes());
    }
    machine.managed("profile = 'development'\n");
    assert_eq!(machine.policy().profile, Profile::Production, "the user's is stricter");
    machine.user("");
    machine.project("profile = 'development'\n");
    assert!(!machine.policy().interventions.hard_stop);
    machine.managed("");
    machine.trust();
    assert!(!machine.policy().interventions.hard_stop, "a person allowed it");
    machine.project("profile = 'develop'\n");
    assert_eq!(machine.policy(), Policy::default());
    assert!(machine.notes().iter().any(|(_, text)| text.contains("profile")));
}

#[test]
fn the_example_in_the_reference_is_valid() {
    let docs = fs::read_to_string("docs/configuration.md").unwrap();
    let blocks: Vec<&str> =
        docs.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert_eq!(config::problems(block.as_bytes(), Some("/p"), CHECKS), [], "{block}");
    }
}

#[test]
fn origins_have_the_names_of_the_reference() {
    assert_eq!(
        [Origin::Managed, Origin::User, Origin::Project].map(Origin::name),
        ["managed", "user", "project"]
    );
}
