//! A review session that one machine opens and others use: shared over a real server, read by quarantined agents under a real hook, ended
//! everywhere, and of no use to whoever holds the server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use machines::{Machine, Redis, until};
use serde_json::{Value, json};

const SECRET: &str = "the reviewed bytes 4711";

/// What docs/fleet.md says that machines have to be let do which share reviews.
const ACCESS: &str = "--user fleet on >pw ~{lazaret}:* +eval +role +time +zremrangebyscore +zcard +zscore +zadd +zrem +pttl +pexpire \
                      +hgetall +hset +hdel +wait +ping +client +info +hello +auth +get +set +del +hget +hexists +expire";

fn server() -> Redis {
    Redis::new(&ACCESS.split_whitespace().collect::<Vec<_>>())
}

/// A machine that shares reviews, by its name in the settings.
struct Station {
    machine: Machine,
    name: &'static str,
}

impl Station {
    fn new(name: &'static str, redis: &Redis) -> Station {
        let url = format!("url = \"redis://fleet:pw@127.0.0.1:{}\"", redis.port);
        let mut machine = Machine::in_memory(&url, "on_fault = \"block\"\n");
        machine.serve();
        Station { machine, name }
    }

    fn command(&self, program: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(args).env_clear().env("HOME", self.machine.path("home")).env("PATH", "/usr/bin:/bin");
        command.env("LAZARET_HOME", self.machine.path("lazaret")).env("LAZARET_KEYS", machines::keys());
        command.current_dir(self.machine.path("home/project"));
        command
    }

    fn lazaret(&self, args: &[&str]) -> Output {
        self.command(machines::hook(), args).output().unwrap()
    }

    fn review(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_lazaret-fleet"), &["review"]);
        let out = command.args(args).arg("--config").arg(self.machine.settings()).output().unwrap();
        (out.status.code(), [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat())
    }

    fn done(&self, args: &[&str]) -> String {
        let (code, said) = self.review(args);
        assert_eq!(code, Some(0), "{}: {args:?}: {said}", self.name);
        said
    }

    fn refused(&self, args: &[&str]) -> String {
        let (code, said) = self.review(args);
        assert_eq!(code, Some(1), "{}: {args:?}: {said}", self.name);
        said
    }

    /// The table of this machine in everybody's settings.
    fn table(&self) -> String {
        let printed = self.done(&["key"]);
        let (head, tail) = printed.split_once("name = ").unwrap();
        format!("{head}name = {:?}\n{}", self.name, tail.split_once('\n').unwrap().1)
    }

    fn knows(&self, tables: &str) {
        let before = fs::read_to_string(self.machine.settings()).unwrap();
        fs::write(self.machine.settings(), before + tables).unwrap();
    }

    /// Opens a review of the project's files: its id, and the references in its task.
    fn start(&self) -> (String, Vec<String>) {
        let project = self.machine.path("home/project");
        fs::create_dir_all(project.join("src/deep")).unwrap();
        fs::write(project.join("src/a.rs"), format!("// {SECRET}\nfn a() {{}}\n")).unwrap();
        fs::write(project.join("src/deep/.gitignore"), "*\n").unwrap();
        fs::write(project.join("src/large.bin"), vec![7; 700_000]).unwrap();
        fs::write(project.join("one.rs"), "fn one() {}\n").unwrap();
        let out = self.lazaret(&["review", "start", "--root", ".", "src", "one.rs", "--json"]);
        opened(&out.stdout)
    }

    /// What the hook says to a reading of `uri` by a quarantined agent.
    fn read(&self, agent: &str, uri: &str) -> Output {
        let message = json!({
            "session_id": "s", "cwd": self.machine.path("home/project"), "hook_event_name": "PreToolUse",
            "permission_mode": "bypassPermissions", "agent_id": agent, "agent_type": "lazaret:quarantine-reviewer",
            "tool_name": "Read", "tool_input": {"file_path": uri}, "tool_use_id": "t",
        });
        // What answers it comes first, as for the other hooks.
        let mut command = self.command("nice", &["-n", "19"]);
        command
            .arg(machines::hook())
            .args(["hook", "claude-code", "--home"])
            .arg(self.machine.path("home"))
            .arg("--lazaret-home")
            .arg(self.machine.path("lazaret"));
        command.args(["--lazaret-keys", machines::keys()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// The bytes that a quarantined agent is led to.
    fn shown(&self, agent: &str, uri: &str) -> Vec<u8> {
        let out = self.read(agent, uri);
        let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        let answer: Value =
            serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        let copy = answer["hookSpecificOutput"]["updatedInput"]["file_path"].as_str();
        let copy = Path::new(copy.unwrap_or_else(|| panic!("{said}")));
        assert!(copy.starts_with(self.machine.path("lazaret")), "{}", copy.display());
        assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o400);
        fs::read(copy).unwrap()
    }

    /// What the hook says where it refuses that.
    fn unread(&self, agent: &str, uri: &str) -> String {
        let out = self.read(agent, uri);
        assert_eq!(out.status.code(), Some(2), "{}", String::from_utf8_lossy(&out.stdout));
        String::from_utf8(out.stderr).unwrap()
    }
}

fn opened(printed: &[u8]) -> (String, Vec<String>) {
    let told: Value = serde_json::from_slice(printed).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(printed));
    });
    let prompt = told["prompt"].as_str().unwrap();
    let uris = prompt.split("typed://").skip(1).map(|rest| {
        let uri = rest.split(|c: char| c.is_whitespace() || "\"<>`".contains(c)).next();
        format!("typed://{}", uri.unwrap())
    });
    (told["session"].as_str().unwrap().to_owned(), uris.collect())
}

fn of<'u>(uris: &'u [String], name: &str) -> &'u str {
    uris.iter().find(|uri| uri.contains(name)).unwrap_or_else(|| panic!("{name}: {uris:?}"))
}

/// Machines that know each other's keys.
fn stations<const N: usize>(names: [&'static str; N], redis: &Redis) -> [Station; N] {
    let all = names.map(|name| Station::new(name, redis));
    let tables = all.each_ref().map(Station::table).concat();
    for station in &all {
        station.knows(&tables);
    }
    all
}

#[test]
fn a_session_of_one_machine_is_read_and_ended_on_another() {
    let redis = server();
    let [builder, runner, other] = stations(["builder", "runner", "other"], &redis);
    let (id, uris) = builder.start();
    let said = builder.done(&["share", &id, "--with", "runner"]);
    assert!(said.contains("4 files are shared with runner until"), "{said}");
    // Nothing of it lies on the server in clear.
    let dump =
        redis.cli(&["--no-raw", "KEYS", "*"]) + &redis.cli(&["GET", &format!("{{lazaret}}:review:{id}")]);
    let content = redis.cli(&["KEYS", "*review-content*"]);
    let all = redis.cli(&["HGETALL", content.trim()]);
    assert!(all.len() > 700_000 && dump.contains("\"from\":\"builder\""), "{dump}");
    // No word so short that chance writes it.
    for clear in [SECRET, "fn one()", "src/a.rs", "large.bin", "gitignore"] {
        assert!(!all.contains(clear) && !dump.contains(clear), "{clear} lies on the server");
    }
    // Not before it is taken, and not on a machine that it is not for.
    let why = runner.unread("early", of(&uris, "a.rs"));
    assert!(why.contains("SESSION_MISMATCH"), "{why}");
    let said = other.refused(&["take", &id, "--from", "builder"]);
    assert!(said.contains("builder did not share it with this machine (other)"), "{said}");

    // The very references that the other machine's task has, and the same task.
    let (taken, theirs) = opened(runner.done(&["take", &id, "--from", "builder", "--json"]).as_bytes());
    assert_eq!((&taken, &theirs), (&id, &uris));
    assert_eq!(runner.shown("agent", of(&uris, "a.rs")), format!("// {SECRET}\nfn a() {{}}\n").as_bytes());
    assert_eq!(runner.shown("agent", of(&uris, "one.rs")), b"fn one() {}\n");
    assert_eq!(runner.shown("agent", of(&uris, "large.bin")), vec![7; 700_000]);
    assert_eq!(runner.shown("agent", of(&uris, "gitignore")), b"*\n");
    assert_eq!(builder.shown("agent", of(&uris, "one.rs")), b"fn one() {}\n");
    let forged = of(&uris, "one.rs").replace("one.rs", "two.rs");
    assert!(runner.unread("agent", &forged).contains("HMAC_VERIFICATION_FAILED"), "{forged}");
    let log = String::from_utf8(runner.lazaret(&["audit", "tail"]).stdout).unwrap();
    assert!(
        log.contains("quarantine_session_started") && log.contains("it comes from the machine builder"),
        "{log}"
    );
    let said = runner.refused(&["take", &id, "--from", "builder"]);
    assert!(said.contains("it is open on this machine already"), "{said}");

    let said = builder.done(&["end", &id]);
    assert!(
        said.contains("it has ended here; its agents are refused on all machines within a second"),
        "{said}"
    );
    until("the runner's agent is refused", || {
        runner.read("agent", of(&uris, "one.rs")).status.code() == Some(2)
    });
    let why = runner.unread("agent", of(&uris, "one.rs"));
    assert!(why.contains("FLEET_STOPPED") && why.contains(&format!("the review {id}")), "{why}");
    assert!(builder.unread("agent", of(&uris, "one.rs")).contains("SESSION_MISMATCH"));
    // Who sent the agent goes on.
    assert_eq!(runner.machine.hook("s"), machines::Became::Ran);
    assert_eq!(redis.cli(&["KEYS", "*review*"]).trim(), "");
    // Nothing brings it back: neither a stop of it that is lifted, nor to share it again.
    for (command, more) in [("stop", &["--why", "x"][..]), ("resume", &[])] {
        runner.machine.done(&[&[command, "--review", &id], more].concat());
    }
    assert!(runner.machine.run(&["resume", "--review", &id]).1.contains("is not stopped"));
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains("it was ended on all machines"));
    assert!(builder.machine.done(&["stops"]).contains(&format!("the review {id}")));
    until("its agents are refused", || runner.read("agent", of(&uris, "one.rs")).status.code() == Some(2));
    let log = String::from_utf8(builder.lazaret(&["audit", "tail"]).stdout).unwrap();
    assert!(log.contains("it is shared with runner"), "{log}");
}

#[test]
fn who_holds_the_server_can_forge_and_replay_nothing() {
    let redis = server();
    let [builder, runner, other] = stations(["builder", "runner", "other"], &redis);
    let (id, _) = builder.start();
    builder.done(&["share", &id, "--with", "runner", "--with", "other"]);
    let head = format!("{{lazaret}}:review:{id}");
    let text = redis.cli(&["GET", &head]);
    let told: Value = serde_json::from_str(&text).unwrap();
    let content = format!("{{lazaret}}:review-content:{}", told["at"].as_str().unwrap());
    let refuses = |change: &dyn Fn(&mut Value), why: &str| {
        let mut changed = told.clone();
        change(&mut changed);
        redis.cli(&["SET", &head, &changed.to_string()]);
        let said = runner.refused(&["take", &id, "--from", "builder"]);
        assert!(said.contains(why), "{why}: {said}");
    };
    let changed_it = "somebody changed it on the store";
    refuses(&|head| head["from"] = "other".into(), "it is other who shares it, not builder");
    refuses(&|head| head["from"] = "nobody".into(), "it is nobody who shares it, not builder");
    refuses(&|head| head["to"]["runner"] = head["to"]["other"].clone(), changed_it);
    refuses(&|head| head["to"]["runner"]["key"] = "AAAA".into(), changed_it);
    refuses(&|head| head["bytes"] = 1.into(), "not as long as it was");
    refuses(&|head| head["bytes"] = (100 << 20).into(), "cannot be read");
    refuses(&|head| head["v"] = 9.into(), "form 9");
    refuses(&|head| *head = "{}".into(), "cannot be read");
    redis.cli(&["SET", &head, &text]);
    // Another machine's parcel of its own session, under this one's name, and said to be this machine's.
    let (foreign, _) = other.start();
    other.done(&["share", &foreign, "--with", "runner"]);
    let theirs = redis.cli(&["GET", &format!("{{lazaret}}:review:{foreign}")]);
    redis.cli(&["SET", &head, theirs.trim()]);
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains("it is other who shares it"));
    redis.cli(&["SET", &head, &theirs.trim().replace("\"other\",", "\"builder\",")]);
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains(changed_it));
    // Another session's parcel under this one's name.
    let (second, _) = builder.start();
    builder.done(&["share", &second, "--with", "runner"]);
    redis.cli(&["SET", &head, &redis.cli(&["GET", &format!("{{lazaret}}:review:{second}")])]);
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains(changed_it));
    redis.cli(&["SET", &head, &text]);
    // A piece that is another, and one that is gone.
    let script = "return redis.call('HSET', KEYS[1], '0', string.rep('x', 262144))";
    redis.cli(&["EVAL", script, "1", &content]);
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains("not what was shared"));
    redis.cli(&["HDEL", &content, "1"]);
    assert!(runner.refused(&["take", &id, "--from", "builder"]).contains("a part of it is gone"));
    // None of it left anything.
    let left = String::from_utf8(runner.lazaret(&["review", "list"]).stdout).unwrap();
    assert!(left.contains("no review session is open"), "{left}");
    // What is whole again is taken by the other one all the same.
    builder.done(&["share", &id, "--with", "other"]);
    other.done(&["take", &id, "--from", "builder"]);
    // One that has ended here is over here, whatever lies on the store.
    other.lazaret(&["review", "end", &id]);
    assert!(
        other
            .refused(&["take", &id, "--from", "builder"])
            .contains("it is known, and has ended, on this machine already")
    );
}

#[test]
fn settings_and_keys_that_do_not_serve_are_named() {
    let redis = server();
    let builder = Station::new("builder", &redis);
    let (id, _) = builder.start();
    let share = ["share", &id, "--with", "runner"];
    assert!(builder.refused(&share).contains("no table [[machines]]"));
    builder.knows("[[machines]]\nname = \"runner\"\nkey = \"abc\"\n");
    assert!(builder.refused(&share).contains("`lazaret-fleet review key` makes one"));
    let table = builder.table();
    assert_eq!(builder.table(), table, "each time another key");
    let key = builder.machine.path("lazaret/state/id_x25519");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(builder.refused(&share).contains("none of [[machines]] has this machine's key"));
    builder.knows(&table);
    assert!(builder.refused(&share).contains("machine runner: its key is none"));
    assert!(builder.refused(&["share", &id, "--with", "x"]).contains("none of [[machines]] is called x"));
    assert!(builder.refused(&["take", &id, "--from", "x"]).contains("none of [[machines]] is called x"));
    assert!(builder.refused(&["share", "x", "--with", "builder"]).contains("not a session's id"));
    let gone = "00000000-0000-4000-8000-000000000000";
    assert!(builder.refused(&["share", gone, "--with", "builder"]).contains("there is no such session"));
    assert!(builder.refused(&["take", gone, "--from", "builder"]).contains("nobody shares it"));
    builder.done(&["share", &id, "--with", "builder"]);
    assert!(
        builder.refused(&["take", &id, "--from", "builder"]).contains("it is open on this machine already")
    );
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(builder.refused(&["take", &id, "--from", "builder"]).contains("others can read it"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "none\n").unwrap();
    assert!(builder.refused(&["take", &id, "--from", "builder"]).contains("it holds no key"));
    builder.knows(&table);
    assert!(builder.refused(&["take", &id, "--from", "builder"]).contains("machine builder is there twice"));
}
