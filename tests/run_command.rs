//! `lazaret run` with the built binary and made-up clients that work well, too long, too much, past the hook, or leave something behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

#[cfg(target_os = "linux")]
mod landlock;
mod programs;
mod station;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use landlock::landlock;
use lazaret::domain::{Client, SessionId, Subject};
use lazaret::host::clock;
use lazaret::host::config;
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::state::{Store, amend};
use serde_json::Value;
use station::{BIN, PATIENCE};

/// What a made-up client can do: be hooked and not, be refused, say something, use tokens.
const SCRIPT: &str = r#"
told() { printf '%s\n' "$1"; }
asks() { told '{"type":"assistant","session_id":"s1","message":{"id":"m'$1'","content":[{"type":"tool_use","id":"'$1'","name":"'$2'"}],"usage":{"input_tokens":10,"output_tokens":5}}}'; }
ran() { told '{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"'$1'","content":"x","is_error":false}]}}'; }
refused() { told '{"type":"user","session_id":"s1","message":{"content":[{"type":"tool_result","tool_use_id":"'$1'","content":"no","is_error":true}]}}'; }
hook() { printf '{"session_id":"s1","cwd":"%s","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"%s","tool_use_id":"%s","tool_input":%s}' "$PWD" "$2" "$1" "$3" | lazaret hook claude-code --home "$HOME" --lazaret-home "$LAZARET_HOME" >/dev/null 2>&1; }
after() { printf '{"session_id":"s1","cwd":"%s","hook_event_name":"PostToolUse","permission_mode":"default","tool_name":"%s","tool_use_id":"%s","tool_input":%s,"tool_response":{}}' "$PWD" "$2" "$1" "$3" | lazaret hook claude-code --home "$HOME" --lazaret-home "$LAZARET_HOME" >/dev/null 2>&1; }
hooked() { asks $1 Bash; hook $1 Bash '{"command":"ls"}' && ran $1; }
done_with() { told '{"type":"result","subtype":"success","is_error":false,"session_id":"s1","total_cost_usd":'${2:-0.5}',"result":"'"$1"'"}'; }
"#;

struct Place {
    dir: tempfile::TempDir,
}

/// Exit code, standard output, standard error.
struct Told(i32, String, String);

impl Told {
    fn json(&self) -> Value {
        serde_json::from_str(&self.1).unwrap_or_else(|e| panic!("{e}: {}{}", self.1, self.2))
    }
}

impl Place {
    /// A registered Claude Code that does this.
    fn new(script: &str) -> Place {
        Place::within(tempfile::tempdir().unwrap(), script)
    }

    /// The same in a place that is no temporary directory, in which a confined client may write.
    #[cfg(target_os = "linux")]
    fn lasting(script: &str) -> Option<Place> {
        let own = format!("/run/user/{}", rustix::process::getuid().as_raw());
        let bases = [env!("CARGO_TARGET_TMPDIR"), own.as_str(), "/run"];
        let temporary = |base: &&&str| !base.starts_with("/tmp") && !base.starts_with("/var/tmp");
        let dir = bases.iter().filter(temporary).find_map(|base| tempfile::tempdir_in(base).ok());
        if dir.is_none() {
            eprintln!("not tested: confinement (no place outside the temporary directories)");
        }
        dir.map(|dir| Place::within(dir, script))
    }

    fn within(dir: tempfile::TempDir, script: &str) -> Place {
        let place = Place { dir };
        for sub in ["bin", "user", "home", "project/.git", "log"] {
            fs::create_dir_all(place.path(sub)).unwrap();
        }
        std::os::unix::fs::symlink(BIN, place.path("bin/lazaret")).unwrap();
        place.client("claude", script);
        let installed = place.run(&["install", "claude-code"]);
        assert_eq!(installed.0, 0, "{}{}", installed.1, installed.2);
        place
    }

    fn client(&self, name: &str, script: &str) {
        let log = self.path("log");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '2.1.329 (Claude Code)'; exit 0; }}\nlog={}\nprintf '%s\\n' \"$@\" > $log/args\n\
             echo $$ > $log/pid.new; mv $log/pid.new $log/pid\n{SCRIPT}\n{script}\n",
            log.display()
        );
        let path = self.path("bin").join(name);
        programs::write(&path, script);
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    fn command(&self) -> Command {
        let mut command =
            station::command(BIN, &self.path("user"), &self.path("home"), &self.path("project"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }

    fn run(&self, args: &[&str]) -> Told {
        told(self.command().args(args))
    }

    /// `lazaret run ARGS -- claude -p x`.
    fn supervise(&self, args: &[&str]) -> Told {
        self.run(&[&["run"], args, &["--", "claude", "-p", "x"]].concat())
    }

    fn reports(&self) -> Vec<Value> {
        let files = fs::read_dir(self.path("home/state/reports")).into_iter().flatten().flatten();
        files.map(|file| serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap()).collect()
    }

    /// The processes that the client noted are gone.
    fn nothing_is_left(&self) {
        for name in ["pid", "grandchild"] {
            let Ok(pid) = fs::read_to_string(self.path("log").join(name)) else { continue };
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            assert!(stat.is_empty() || stat.contains(") Z "), "{name} {pid} is there: {stat}");
        }
    }

    /// The user's configuration, as a person accepted it.
    fn configure(&self, text: &str) {
        let file = self.dirs().config_file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        config::accept(&self.dirs(), text.as_bytes()).unwrap();
    }

    fn dirs(&self) -> Dirs {
        let home = self.path("home").to_str().unwrap().to_owned();
        Dirs::locate(&Environment { lazaret_home: Some(home), ..Environment::default() }).unwrap()
    }
}

fn told(command: &mut Command) -> Told {
    let out = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Told(out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

/// A run that was stopped for `kind`, told in all places.
fn stopped(place: &Place, told: &Told, kind: &str) -> Value {
    assert_eq!(told.0, 2, "{kind}: {}{}", told.1, told.2);
    let value = told.json();
    assert_eq!((&value["end"], &value["reason"]["kind"]), (&"stopped".into(), &kind.into()), "{value}");
    assert_eq!(place.reports(), std::slice::from_ref(&value), "the report is what was printed");
    assert!(told.2.contains("report: "), "{}", told.2);
    place.nothing_is_left();
    value
}

#[test]
fn a_run_that_is_done_prints_the_answer_and_what_it_came_to() {
    let place = Place::new(
        "hooked c1; asks c2 Bash; hook c2 Bash '{\"command\":\"rm -rf /\"}' || refused c2; done_with 'All done.'",
    );
    let told = place.supervise(&[]);
    assert_eq!((told.0, told.1.as_str()), (0, "All done.\n"), "{}", told.2);
    for line in [
        "lazaret: claude-code finished\n",
        " 2 calls, 30 tokens, 0.5000 dollars",
        "1 allowed, 0 warned, 0 asked, 0 rewritten, 1 blocked\n",
        "blocked: Bash rm -rf / [files.delete-",
    ] {
        assert!(told.2.contains(line), "{line}: {}", told.2);
    }
    let args = fs::read_to_string(place.path("log/args")).unwrap();
    assert_eq!(args, "-p\nx\n--output-format\nstream-json\n--verbose\n");
    assert!(place.reports().is_empty());

    let value = place.supervise(&["--json"]).json();
    assert_eq!(value["end"], "finished");
    assert_eq!(value["answer"], "All done.");
    assert_eq!((&value["session"], &value["client"]), (&"s1".into(), &"claude-code".into()));
    assert_eq!((&value["calls"], &value["tokens"], &value["cost_usd"]), (&2.into(), &30.into(), &0.5.into()));
    // Only what this run did is counted.
    assert_eq!((&value["decisions"]["allowed"], &value["decisions"]["blocked"]), (&1.into(), &1.into()));
    assert_eq!(value["blocked"][0]["action"], "rm -rf /");
}

#[cfg(target_os = "linux")]
#[test]
fn the_most_memory_held_is_told_where_there_was_time_to_look() {
    let place = Place::new("hooked c1; done_with fine; sleep 1");
    let value = place.supervise(&["--json"]).json();
    assert!(value["peak_memory_bytes"].as_u64().unwrap() > 0, "{value}");
    // What is over at once is told without a figure, never with none held.
    place.client("claude", "done_with fine");
    let value = place.supervise(&["--json"]).json();
    assert_eq!(value["end"], "finished", "{value}");
    assert!(value["peak_memory_bytes"].as_u64() != Some(0), "{value}");
}

#[test]
fn who_asks_for_the_stream_gets_it_as_it_is() {
    let place = Place::new("told 'no json at all'; hooked c1; done_with fine; exit 0");
    let line = ["run", "--", "claude", "-p", "x", "--output-format", "stream-json"];
    let told = place.run(&line);
    assert_eq!(told.0, 0, "{}", told.2);
    let lines: Vec<&str> = told.1.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, "no json at all"));
    assert!(lines[3].contains("\"result\":\"fine\""), "{lines:?}");
    assert!(told.2.contains("claude-code finished"));
}

#[test]
fn what_does_not_end_is_ended_with_all_that_it_started() {
    // It ignores the polite signal, and so does a child that left its group.
    let place = Place::new(
        "hooked c1; trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > '$log'/grandchild; sleep 600; sleep 600' & \
         while :; do sleep 1; done",
    );
    let told = place.supervise(&["--timeout", "3", "--json"]);
    let value = stopped(&place, &told, "time");
    assert_eq!(value["reason"]["text"], "it was not done in 3s");
    assert_eq!(value["calls"], 1);
}

#[test]
fn every_budget_stops_a_run() {
    let place = Place::new("hooked c1; hooked c2; hooked c3; hooked c4; sleep 600");
    let value = stopped(&place, &place.supervise(&["--max-tokens", "40", "--json"]), "tokens");
    assert_eq!(value["reason"]["text"], "it used 45 tokens, more than 40");
    // The third call is refused before it runs, although nobody could stop the client by then.
    let place = Place::new(
        "sleep 0.3; told '{\"type\":\"system\",\"session_id\":\"s1\"}'; sleep 1\n\
         for n in 1 2 3 4; do hook c$n Bash '{\"command\":\"ls\"}' && touch $log/ran-$n; done\n\
         hooked c5; hooked c6; hooked c7; sleep 600",
    );
    stopped(&place, &place.supervise(&["--max-calls", "2", "--json"]), "calls");
    let ran: Vec<bool> = (1..5).map(|n| place.path(&format!("log/ran-{n}")).exists()).collect();
    assert_eq!(ran, [true, true, false, false]);
    let place = Place::new("done_with a 2.75; sleep 600");
    let value = stopped(&place, &place.supervise(&["--max-cost", "2.50", "--json"]), "cost");
    assert_eq!(value["reason"]["text"], "it cost 2.75 dollars, more than 2.50");
    // What is held by a process that left the group counts.
    let place = Place::new(
        "setsid sh -c 'held=$(head -c 200000000 /dev/zero | tr \"\\\\000\" x); sleep 600; echo $held' & sleep 600",
    );
    let value = stopped(&place, &place.supervise(&["--max-memory", "100M", "--json"]), "memory");
    assert!(value["peak_memory_bytes"].as_u64().unwrap() > 100 << 20);
}

#[test]
fn the_configuration_s_limits_count_where_no_option_says_otherwise() {
    let set = |place: &Place, text: &str| place.configure(text);
    let settings = "[resources]\ntoken_usage = 'block'\nmax_token_usage = 40\n";
    let place = Place::new("hooked c1; hooked c2; hooked c3; hooked c4; sleep 600");
    set(&place, settings);
    let value = stopped(&place, &place.supervise(&["--json"]), "tokens");
    assert_eq!(value["reason"]["text"], "it used 45 tokens, more than 40");
    let place = Place::new(
        "setsid sh -c 'held=$(head -c 200000000 /dev/zero | tr \"\\000\" x); sleep 600; echo $held' & sleep 600",
    );
    set(&place, "[resources]\nmemory = 'block'\nmax_memory_mb = 100\n");
    stopped(&place, &place.supervise(&["--json"]), "memory");
    // An option stands before it, and a warning lets the run go on.
    let place = Place::new("hooked c1; hooked c2; hooked c3; done_with fine");
    set(&place, settings);
    assert_eq!(place.supervise(&["--max-tokens", "1000"]).0, 0);
    let place = Place::new("hooked c1; hooked c2; hooked c3; done_with fine");
    set(&place, &settings.replace("block", "warn"));
    let told = place.supervise(&["--json"]);
    assert_eq!((told.0, &told.json()["end"]), (0, &"finished".into()), "{}", told.2);
    assert!(
        told.2.contains("lazaret: 100 % of what this run may use is used: 45 of 40 tokens"),
        "{}",
        told.2
    );
}

#[test]
fn a_profile_makes_the_hooks_of_a_run_stricter_and_never_looser() {
    let place = Place::new(
        "hooked c1; asks c2 Bash; hook c2 Bash '{\"command\":\"frobnicate --now\"}' && ran c2\n\
         lazaret config show --json > $log/config; done_with fine",
    );
    let set = |text: &str| place.configure(text);
    set("on_fault = 'ask'\n[interventions]\nmax_retries = 1\n");
    let seen = |key: &str| {
        let config: Value = serde_json::from_slice(&fs::read(place.path("log/config")).unwrap()).unwrap();
        let value = &config["values"][key];
        (value["value"].clone(), value["source"].as_str().unwrap().to_owned())
    };
    let warned = |value: &Value| {
        assert_eq!(value["end"], "finished", "{value}");
        value["decisions"]["warned"].as_u64().unwrap()
    };
    let value = place.supervise(&["--json"]).json();
    assert_eq!((warned(&value), &value["profile"]), (0, &"default".into()));
    assert_eq!(seen("on_fault"), ("ask".into(), "user".to_owned()));
    let told = place.supervise(&["--profile", "production", "--json"]);
    let value = told.json();
    assert_eq!((warned(&value), &value["profile"]), (1, &"production".into()), "{value}");
    assert_eq!(seen("on_fault"), ("block".into(), "user, tightened by the run".to_owned()));
    assert_eq!(seen("interventions.max_retries"), (1.into(), "user".to_owned()), "stricter already");
    assert_eq!(seen("risk.high_threshold"), (0.7.into(), "profile production".to_owned()));
    // And the next run is as before.
    assert_eq!(warned(&place.supervise(&["--json"]).json()), 0);
    assert!(place.supervise(&["--profile", "production"]).2.contains("\nprofile: production\n"));
    // What would loosen is said, not done.
    set("profile = 'testing'\n");
    let told = place.supervise(&["--profile", "development"]);
    assert!(told.0 == 1 && told.2.contains("a run can only be made stricter"), "{}", told.2);
    assert!(told.2.contains("hint: leave --profile out"), "{}", told.2);
    let told = place.supervise(&["--profile", "lax"]);
    assert!(
        told.0 == 1 && told.2.contains("[possible values: development, default, testing, production]"),
        "{}",
        told.2
    );
}

#[test]
fn half_used_budgets_are_told_of_once_each() {
    let place = Place::new(
        "asks c1 Bash; hook c1 Bash '{\"command\":\"ls\"}'; sleep 1\n\
         printf '{\"session_id\":\"s1\",\"cwd\":\"%s\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_use_id\":\"c1\",\
         \"tool_input\":{\"command\":\"ls\"},\"tool_response\":{}}' \"$PWD\" | lazaret hook claude-code --home \"$HOME\" --lazaret-home \"$LAZARET_HOME\" > $log/told 2>&1\n\
         ran c1; hooked c2; hooked c3; done_with fine",
    );
    let value = place.supervise(&["--max-tokens", "50", "--max-calls", "2", "--json"]);
    let value = value.json();
    let warnings: Vec<&str> =
        value["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let begin =
        |text: &str, with: &str| text.starts_with(&format!("{with} % of what this run may use is used: "));
    assert!(begin(warnings[0], "50") && warnings[0].contains("1 of 2 calls"), "{warnings:?}");
    assert!(
        warnings.iter().any(|text| begin(text, "50") && text.contains("30 of 50 tokens")),
        "{warnings:?}"
    );
    // The model was told with the result of its first call.
    let told = fs::read_to_string(place.path("log/told")).unwrap();
    assert!(told.contains("additionalContext") && told.contains("1 of 2 calls"), "{told}");
}

#[test]
fn a_call_that_ran_past_the_hook_ends_the_run() {
    let place = Place::new("hooked c1; asks c2 Bash; ran c2; sleep 600");
    let value = stopped(&place, &place.supervise(&["--json"]), "gate_open");
    assert!(value["reason"]["text"].as_str().unwrap().contains("the call c2 of Bash ran"), "{value}");
    // So does the last one before the end.
    let place = Place::new("asks c1 Write; ran c1; done_with 'All done.'");
    stopped(&place, &place.supervise(&["--json"]), "gate_open");
    // A tool that touches nothing by itself needs no hook, and what was refused did not run.
    let place = Place::new("asks c1 TodoWrite; ran c1; asks c2 Bash; refused c2; done_with fine");
    assert_eq!(place.supervise(&[]).0, 0);
}

#[test]
fn a_session_that_the_hook_has_stopped_is_ended() {
    let place = Place::new("hooked c1; touch $log/ready; sleep 600");
    let child = place
        .command()
        .args(["run", "--json", "--", "claude", "-p", "x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !place.path("log/ready").exists() {
        assert!(begun.elapsed() < PATIENCE, "the client did not come so far");
        std::thread::sleep(Duration::from_millis(20));
    }
    let session = SessionId::new("s1").unwrap();
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let store = Store::new(place.dirs().state);
    amend(&store, &subject, clock::now(), |document| document.stopped = Some("it went wild".to_owned()))
        .unwrap();
    let out = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = Told(out.status.code().unwrap(), text(&out.stdout), text(&out.stderr));
    let value = stopped(&place, &told, "emergency_stop");
    assert_eq!(value["reason"]["text"], "the session was stopped: it went wild");
}

#[test]
fn what_a_stopped_run_changed_is_put_back_on_request() {
    let place = Place::new(
        "input=\"{\\\"file_path\\\":\\\"$PWD/a.txt\\\",\\\"content\\\":\\\"new\\\"}\"; asks c1 Write; hook c1 Write \"$input\"; \
         printf new > a.txt; after c1 Write \"$input\"; ran c1; \
         asks c2 Bash; ran c2; sleep 600",
    );
    place.configure("[checkpoints]\nenabled = true\n");
    fs::write(place.path("project/a.txt"), "old").unwrap();
    let value = stopped(&place, &place.supervise(&["--restore", "--json"]), "gate_open");
    assert_eq!(value["restored"]["restored"], 1, "{value}");
    assert_eq!(fs::read_to_string(place.path("project/a.txt")).unwrap(), "old");
    // And that can be undone as well.
    let id = value["restored"]["rollback"].as_str().unwrap();
    assert_eq!(place.run(&["rollback", id]).0, 0);
    assert_eq!(fs::read_to_string(place.path("project/a.txt")).unwrap(), "new");
}

#[test]
fn without_checkpoints_it_says_that_nothing_was_put_back() {
    let place = Place::new("asks c2 Bash; ran c2; sleep 600");
    let told = place.supervise(&["--restore"]);
    assert_eq!(told.0, 2);
    assert!(told.2.contains("nothing put back: no checkpoint of this session"), "{}", told.2);
}

#[test]
fn a_client_that_fails_is_quoted() {
    let place = Place::new(
        "told '{\"type\":\"result\",\"subtype\":\"error\",\"is_error\":true,\"result\":\"no credit\"}'; exit 1",
    );
    let told = place.supervise(&[]);
    assert_eq!((told.0, told.1.as_str()), (1, ""));
    assert!(told.2.contains("failed: the client ended with exit code 1: no credit"), "{}", told.2);
    let place = Place::new("exit 0");
    let told = place.supervise(&["--json"]);
    assert_eq!((told.0, told.json()["reason"]["text"].as_str().unwrap()), (1, "the client gave no answer"));
}

#[test]
fn a_client_without_the_hook_is_not_started() {
    let place = Place::new("touch $log/ran; done_with fine");
    assert_eq!(place.run(&["uninstall", "claude-code"]).0, 0);
    let told = place.supervise(&[]);
    assert_eq!(told.0, 1, "{}{}", told.1, told.2);
    assert!(told.2.contains("claude-code cannot be supervised") && told.2.contains("hint: "), "{}", told.2);
    assert!(!place.path("log/ran").exists());
}

#[test]
fn what_cannot_be_supervised_is_told() {
    let place = Place::new("done_with fine");
    for (line, why) in [
        (&["run", "--", "vim"][..], "it starts only claude and opencode"),
        (&["run", "--", "claude", "fix it"], "without -p"),
        (&["run", "--timeout", "soon", "--", "claude", "-p", "x"], "soon"),
        (&["run", "--max-memory", "1.5G", "--", "claude", "-p", "x"], "1.5G"),
        (&["run", "claude", "-p", "x"], "unexpected argument"),
    ] {
        let told = place.run(line);
        assert!(told.0 == 1 && told.2.contains(why), "{line:?}: {} {}", told.0, told.2);
    }
}

#[test]
fn who_is_stopped_takes_the_client_along() {
    let place = Place::new("hooked c1; touch $log/ready; while :; do sleep 1; done");
    let mut child =
        place.command().args(["run", "--", "claude", "-p", "x"]).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !place.path("log/ready").exists() {
        assert!(begun.elapsed() < PATIENCE, "the client did not come so far");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + rustix::process::Signal::TERM.as_raw()));
    place.nothing_is_left();
}

/// What a client tries to write, to read and to signal; each leaves "yes" or "no" in the project.
#[cfg(target_os = "linux")]
const TRIES: &str = "try() { if ( eval \"$2\" ) 2>/dev/null; then echo yes > $PWD/$1; else echo no > $PWD/$1; fi; }\n\
 hooked c1\n\
 try project 'echo x > a/b && mv a/b c && rm c'\n\
 try git 'echo x > .git/x'\n\
 try state 'echo x > ~/.claude/history && echo x > ~/.claude.json'\n\
 try cache 'mkdir -p ~/.cache/tool && echo x > ~/.cache/tool/x'\n\
 try temporary 'x=$(mktemp) && echo x > $x && rm $x'\n\
 try device 'echo x > /dev/null'\n\
 try added 'echo x > ~/notes/x'\n\
 try top 'echo x > ~/new'\n\
 try profile 'echo x >> ~/.profile'\n\
 try emptied ': > ~/.profile'\n\
 try removed 'rm ~/.profile'\n\
 try moved 'mv ~/.profile .'\n\
 try config 'mkdir -p \"$LAZARET_HOME/config\"'\n\
 try key 'cat ~/.ssh/id_ed25519'\n\
 try linked 'cat ~/key'\n\
 try hosts 'cat ~/.ssh/known_hosts'\n\
 try gh 'cat ~/.config/gh/hosts.yml'\n\
 try listed 'cat ~/.profile /etc/passwd && ls ~ ~/.ssh'\n\
 try started 'sleep 30 & kill $!'\n\
 try signal 'kill -0 $PPID'\n\
 ( setsid sh -c 'echo x > ~/late; sleep 600' & )\n\
 done_with fine";

#[cfg(target_os = "linux")]
#[test]
fn a_confined_client_writes_and_reads_what_it_may() {
    let version = landlock();
    let Some(place) = Place::lasting(TRIES) else { return };
    if version == 0 {
        return;
    }
    for dir in ["project/a", "user/.cache", "user/notes", "user/.ssh", "user/.config/gh"] {
        fs::create_dir_all(place.path(dir)).unwrap();
    }
    for file in [".profile", ".claude.json", ".ssh/id_ed25519", ".ssh/known_hosts", ".config/gh/hosts.yml"] {
        fs::write(place.path("user").join(file), "{}").unwrap();
    }
    std::os::unix::fs::symlink(".ssh/id_ed25519", place.path("user/key")).unwrap();
    let notes = place.path("user/notes");
    let gh = place.path("user/.config/gh");
    let options = ["--confine", "--json", "--allow-write", notes.to_str().unwrap()];
    let told = place.supervise(&[&options[..], &["--allow-read", gh.to_str().unwrap()]].concat());
    assert_eq!(told.0, 0, "{}{}", told.1, told.2);
    let could = |name: &str| fs::read_to_string(place.path("project").join(name)).unwrap().trim() == "yes";
    for name in [
        "project",
        "git",
        "state",
        "cache",
        "temporary",
        "device",
        "added",
        "hosts",
        "gh",
        "listed",
        "started",
    ] {
        assert!(could(name), "{name}: {}", told.2);
    }
    for name in ["top", "profile", "removed", "moved", "config", "key", "linked"] {
        assert!(!could(name), "{name}: {}", told.2);
    }
    assert_eq!(could("emptied"), version < 3);
    assert_eq!(could("signal"), version < 6);
    assert!(!place.path("user/late").exists() && place.path("user/.profile").exists());
    let value = told.json();
    let confined = &value["confined"];
    assert_eq!(confined["landlock"], version);
    assert_eq!(confined["enforced"], if version < 6 { "partially" } else { "fully" }, "{confined}");
    let list =
        |key: &str| confined[key].as_array().unwrap().iter().map(|place| place.as_str().unwrap().to_owned());
    assert!(list("writable").any(|path| path == place.path("project").to_str().unwrap()), "{confined}");
    let closed: Vec<String> = list("unreadable").collect();
    assert_eq!(closed, [place.path("user/.ssh").to_str().unwrap()]);
    // The hook was at work in there, and is believed.
    assert_eq!((&value["decisions"]["allowed"], &value["end"]), (&1.into(), &"finished".into()));
    place.nothing_is_left();
    // Without it nothing is held back.
    let value = place.supervise(&["--json"]).json();
    assert!(could("key") && could("top") && value["confined"].is_null(), "{value}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_confined_client_is_ended_as_any_other() {
    if landlock() == 0 {
        return;
    }
    let place = Place::new(
        "hooked c1; trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > '$log'/grandchild; sleep 600; sleep 600' & \
         while :; do sleep 1; done",
    );
    let value = stopped(&place, &place.supervise(&["--confine", "--timeout", "3", "--json"]), "time");
    assert_eq!((&value["calls"], &value["confined"]["problem"]), (&1.into(), &Value::Null));
}

/// Has the kernel answer the calls of Landlock as one that has none.
#[cfg(target_os = "linux")]
fn without_landlock(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let number = u32::try_from(libc::SYS_landlock_create_ruleset).unwrap();
    let filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: the closure makes two system calls, with a filter that it owns.
    #[allow(unsafe_code, reason = "what is done between fork and exec has no safe form")]
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: 4, filter: filter.as_ptr().cast_mut() };
            let done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0;
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        })
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_the_kernel_cannot_confine_it_is_said() {
    let place = Place::new("hooked c1; touch $log/ran; done_with fine");
    let run = |how: &str| {
        told(without_landlock(&mut place.command()).args(["run", how, "--", "claude", "-p", "x"]))
    };
    let refused = run("--confine");
    assert_eq!(refused.0, 1, "{}{}", refused.1, refused.2);
    assert!(refused.2.contains("--confine: this kernel has no Landlock"), "{}", refused.2);
    assert!(refused.2.contains("hint: ") && refused.2.contains("--confine=where-possible"), "{}", refused.2);
    assert!(!place.path("log/ran").exists(), "it was not started");
    let without = run("--confine=where-possible");
    assert_eq!((without.0, without.1.as_str()), (0, "fine\n"), "{}", without.2);
    assert!(without.2.contains("\nnot confined: this kernel has no Landlock"), "{}", without.2);
    assert!(place.path("log/ran").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_confined_sensibly_is_refused() {
    let place = Place::new("touch $log/ran; done_with fine");
    let told = place.supervise(&["--allow-write", "/tmp"]);
    assert!(told.0 == 1 && told.2.contains("--confine"), "{}", told.2);
    let told = place.supervise(&["--confine", "--allow-write", "/no/such/place"]);
    assert!(told.0 == 1 && told.2.contains("--allow-write /no/such/place"), "{}", told.2);
    let told = self::told(place.command().current_dir(place.path("user")).args([
        "run",
        "--confine",
        "--",
        "claude",
        "-p",
        "x",
    ]));
    assert!(told.0 == 1 && told.2.contains("start it in a project's directory"), "{}", told.2);
    assert!(!place.path("log/ran").exists());
}
