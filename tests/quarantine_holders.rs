//! Reviews and the processes that hold them, with the built binary: killed at once, nothing of them is left after the next
//! call of anybody; while one lives that could go on, nothing is taken from it.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod programs;
mod station;

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lazaret::domain::ReviewId;
use lazaret::host::quarantine::{self, VaultKind, Why, probe_own};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json};
use station::{BIN, PATIENCE, Station, memory};

/// A station, with programs that a person or a client could be.
struct Scene(Station);

/// A client that was started: a process group of its own.
struct Client(Child);

impl Client {
    /// Everything of it, at once and for good. It has ended then, and nobody was told yet.
    fn kill(&mut self) {
        let group = Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        // It may have been killed before.
        let _gone = kill_process_group(group, Signal::KILL);
        let _waited = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.kill();
        self.0.wait().unwrap();
    }
}

/// `each`, for both places where keys can be.
fn everywhere(each: impl Fn(&Scene)) {
    match probe_own() {
        Ok(_) => each(&Scene::at(&station::base().0, VaultKind::Keyring)),
        Err(fault) => eprintln!("not tested: the keyring ({fault})"),
    }
    if let Some(memory) = memory() {
        each(&Scene::at(memory, VaultKind::Tmpfs));
    }
}

impl Scene {
    fn at(base: &Path, keys: VaultKind) -> Scene {
        let scene = Scene(Station::at(base, keys));
        scene.0.write("one.rs", "fn one() {}\n");
        fs::create_dir(scene.0.project.join(".git")).unwrap();
        // A shell by another name is no shell to anybody.
        programs::copy("/bin/sh", scene.path("client"));
        // A script has its own name, but its program is the shell.
        let script = format!("#!/bin/sh\n{}\nexit $?\n", station::hook_line());
        programs::write(&scene.path("gate.sh"), script);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.outside().join(name)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.0.command(program);
        command.env("LAZARET_KEYS", self.0.keys.name());
        command
    }

    /// A shell by this name, which does `script` and ends.
    fn passing(&self, name: &str, script: &str) {
        programs::copy("/bin/sh", self.path(name));
        let ended = self.command(self.path(name)).args(["-c", &format!("{script}\ntrue")]).status().unwrap();
        assert!(ended.success(), "{name}");
    }

    /// A client that does `script` and then waits; when this returns the script are done.
    fn client(&self, name: &str, script: &str) -> Client {
        let done = self.path(&format!("{name}.done"));
        let script = format!("{script}\n: >'{}'\nwhile :; do sleep 1; done", done.display());
        let mut command = self.command(self.path("client"));
        let child = command.args(["-c", &script]).process_group(0).spawn().unwrap();
        let client = Client(child);
        let begun = Instant::now();
        while !done.exists() {
            assert!(begun.elapsed() < PATIENCE, "{name} is not done");
            std::thread::sleep(Duration::from_millis(10));
        }
        client
    }

    /// Opens a review, through a shell in between as a person or a client does.
    fn opening(&self) -> String {
        format!(
            "sh -c \"env true; '{BIN}' review start one.rs --json; true\" >'{}'",
            self.path("opened").display()
        )
    }

    fn opened(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("opened")).unwrap()).unwrap()
    }

    /// The script of a client whose agent reads in that review.
    fn reading(&self, session: &str, opened: &Value) -> String {
        let uri = opened["references"][0]["uri"].as_str().unwrap();
        let input = json!({ "tool_name": "Read", "tool_input": { "file_path": uri }, "tool_use_id": "t" });
        let message = self.path(&format!("{session}.json"));
        fs::write(&message, self.message(session, Some("q"), &input).to_string()).unwrap();
        format!("'{}' <'{}' >'{0}.out'", self.path("gate.sh").display(), message.display())
    }

    fn was_read(&self) {
        let out = fs::read_to_string(self.path("gate.sh.out")).unwrap();
        assert!(out.contains("updatedInput"), "{out}");
    }

    fn message(&self, session: &str, agent: Option<&str>, more: &Value) -> Value {
        let mut message = json!({
            "session_id": session, "cwd": self.0.project, "hook_event_name": "PreToolUse",
            "permission_mode": "default",
        });
        if let Some(agent) = agent {
            message["agent_id"] = json!(agent);
            message["agent_type"] = json!("quarantine-reviewer");
        }
        for (name, value) in more.as_object().unwrap() {
            message[name] = value.clone();
        }
        message
    }

    /// A call of somebody who has nothing to do with it.
    fn next_call(&self) {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" });
        self.hook(self.message("another", None, &call).to_string().as_bytes(), 0);
    }

    fn hook(&self, message: &[u8], code: i32) {
        let mut command = self.command(BIN);
        station::hook::hook(&mut command, "claude-code")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(message).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }

    fn lazaret(&self, args: &[&str]) -> String {
        let out = self.command(BIN).args(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn has_key(&self) -> bool {
        match self.0.keys {
            VaultKind::Tmpfs => self.0.room().join("master.key").exists(),
            VaultKind::Keyring => in_keyring(&self.0),
            VaultKind::Keychain | VaultKind::File => panic!("no such place on Linux"),
        }
    }

    /// The review is open, and was so before this was asked.
    fn is_open(&self, id: &str) {
        let room = self.0.room().join("sessions").join(id);
        assert!(self.has_key() && room.join("salt").exists() && room.join("copies").exists());
        assert!(self.lazaret(&["review", "list"]).contains(&format!("{id}  open")));
        assert!(self.has_key());
    }

    /// Nothing of the review is left but that it was, and why it is no more.
    fn is_over(&self, id: &str) {
        assert!(!self.has_key(), "the master key");
        assert!(!self.0.room().join("sessions").join(id).exists());
        let ended = quarantine::load(&self.0.dirs, &ReviewId::parse(id).unwrap()).unwrap().unwrap().ended;
        assert_eq!(ended.unwrap().why, Why::ProcessGone);
        assert!(self.lazaret(&["review", "list"]).contains("(process-gone)"));
        let log = fs::read_to_string(self.0.dirs.state.join("audit/audit.jsonl")).unwrap();
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ended: Vec<Value> = events.filter(|event| event["event"] == "quarantine_session_ended").collect();
        assert_eq!(ended.len(), 1, "{ended:?}");
        assert_eq!(ended[0]["note"], format!("review {id}: process-gone"));
    }

    /// Changes something in what is kept of a review.
    fn edit(&self, file: &str, edit: impl FnOnce(&mut Value)) {
        let path = self.0.room().join(file);
        let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        edit(&mut value);
        fs::write(&path, value.to_string()).unwrap();
    }
}

#[cfg(target_os = "linux")]
fn in_keyring(station: &Station) -> bool {
    use linux_keyutils::{KeyRing, KeyRingIdentifier};
    use sha2::Digest;
    let digest = sha2::Sha256::digest(station.room().to_str().unwrap());
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true).unwrap();
    process.link_keyring_id(KeyRingIdentifier::User).unwrap();
    let ring = KeyRing::from_special_id(KeyRingIdentifier::User, false).unwrap();
    ring.search(&format!("lazaret:review:{hex}")).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn in_keyring(_station: &Station) -> bool {
    false
}

#[cfg(target_os = "linux")]
#[test]
fn who_opened_it_and_was_killed_leaves_no_key_after_the_next_call_of_another() {
    everywhere(|scene| {
        let mut client = scene.client("opener", &scene.opening());
        let id = scene.opened()["session"].as_str().unwrap().to_owned();
        scene.next_call();
        scene.is_open(&id);
        client.kill();
        // Nobody has waited for it yet: it is gone all the same.
        scene.next_call();
        scene.is_over(&id);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_script_that_opens_it_may_end_in_whatever_language_it_is_written() {
    let Some(memory) = memory() else { return };
    for (name, stays) in [("python3.12", true), ("npm run review", true), ("review-tool", false)] {
        let scene = Scene::at(memory, VaultKind::Tmpfs);
        scene.passing(name, &scene.opening());
        let id = scene.opened()["session"].as_str().unwrap().to_owned();
        scene.next_call();
        if stays { scene.is_open(&id) } else { scene.is_over(&id) }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn any_command_and_a_message_that_cannot_be_read_are_a_next_call_too() {
    type Call<'c> = &'c dyn Fn(&Scene);
    let calls: [Call<'_>; 5] = [
        &|scene| drop(scene.lazaret(&["review", "list"])),
        &|scene| drop(scene.lazaret(&["agents"])),
        &|scene| {
            let failed = scene.command(BIN).args(["ref", "verify", "typed://x"]).output().unwrap();
            assert!(!failed.status.success());
        },
        &|scene| {
            // The end of another review.
            let value: Value =
                serde_json::from_str(&scene.lazaret(&["review", "start", "one.rs", "--json"])).unwrap();
            let other = value["session"].as_str().unwrap();
            scene.lazaret(&["review", "end", other]);
        },
        &|scene| scene.hook(b"{ this is nothing", 2),
    ];
    for (number, call) in calls.iter().enumerate() {
        let Some(memory) = memory() else { return };
        let scene = Scene::at(memory, VaultKind::Tmpfs);
        let mut client = scene.client("opener", &scene.opening());
        let id = scene.opened()["session"].as_str().unwrap().to_owned();
        scene.is_open(&id);
        client.kill();
        client.0.wait().unwrap();
        call(&scene);
        let room = scene.0.room().join("sessions").join(&id);
        assert!(!room.exists() && !scene.has_key(), "call {number}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn once_agents_work_in_it_their_clients_hold_it_and_nobody_else() {
    everywhere(|scene| {
        let mut opener = scene.client("opener", &scene.opening());
        let opened = scene.opened();
        let id = opened["session"].as_str().unwrap().to_owned();
        let mut one = scene.client("one", &scene.reading("one", &opened));
        scene.was_read();
        // The script that ran the hook ended long ago, and so does who opened it.
        opener.kill();
        scene.next_call();
        scene.is_open(&id);
        let mut two = scene.client("two", &scene.reading("two", &opened));
        scene.was_read();
        one.kill();
        scene.next_call();
        scene.is_open(&id);
        two.kill();
        scene.next_call();
        scene.is_over(&id);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_client_ends_it_though_who_opened_it_lives() {
    everywhere(|scene| {
        let _opener = scene.client("opener", &scene.opening());
        let opened = scene.opened();
        let id = opened["session"].as_str().unwrap().to_owned();
        let mut client = scene.client("one", &scene.reading("one", &opened));
        scene.was_read();
        scene.next_call();
        scene.is_open(&id);
        client.kill();
        scene.next_call();
        scene.is_over(&id);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_number_that_was_given_anew_holds_nothing_and_of_another_namespace_nothing_is_said() {
    everywhere(|scene| {
        let _client = scene.client("opener", &scene.opening());
        let id = scene.opened()["session"].as_str().unwrap().to_owned();
        let record = format!("sessions/{id}/record.json");
        let one_more = |value: &mut Value| *value = json!(value.as_u64().unwrap() + 1);
        scene.edit(&record, |record| {
            let opener = &mut record["content"]["opener"];
            one_more(&mut opener["started"]);
            one_more(&mut opener["namespace"]);
        });
        scene.next_call();
        scene.is_open(&id);
        scene.edit(&record, |record| {
            let namespace = &mut record["content"]["opener"]["namespace"];
            *namespace = json!(namespace.as_u64().unwrap() - 1);
        });
        scene.next_call();
        scene.is_over(&id);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn where_no_process_can_be_named_the_time_counts_alone() {
    everywhere(|scene| {
        let mut client = scene.client("opener", &scene.opening());
        let id = scene.opened()["session"].as_str().unwrap().to_owned();
        scene.edit(&format!("sessions/{id}/record.json"), |record| record["content"]["opener"] = Value::Null);
        client.kill();
        scene.next_call();
        scene.is_open(&id);
        scene.lazaret(&["review", "end", &id]);
        assert!(!scene.has_key());
    });
}
