//! One review on two machines: opened beside one client, read beside both, ended on both.

use super::*;
use crate::fleet;
use crate::model::{Answer, Script, Step};
use crate::session::Session;
use std::path::Path;
use std::sync::Arc;

const READER: &str = "[[shared]]";
const CONFIG: &str = "[fleet]\nservice = \"user\"\non_fault = \"block\"\ndeadline_ms = 1000\n";

/// What a person runs on a machine, seen from outside it: a store lies on another network than the client.
fn run(world: &World, settings: &Path, args: &[&str]) -> String {
    let dirs = world.dirs();
    let mut command = fleet::fleet();
    command.arg("review").args(args).arg("--config").arg(settings).env_clear();
    command.env("HOME", world.host("/home/dev")).env("XDG_RUNTIME_DIR", dirs.runtime.parent().unwrap());
    command.env("LAZARET_KEYS", "tmpfs").current_dir(world.host("/home/dev"));
    let out = command.output().unwrap();
    let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(out.status.success(), "{args:?}: {said}");
    said
}

/// The main agent sends a reviewer after `uri`, who reads it before and after `between`.
fn script(client: Client, uri: &str, between: impl Fn() + Send + Sync + 'static) -> Script {
    let sent = client.reviewer("spawn", REVIEWER, &format!("{WHISPER} Read {uri} now."));
    let read = move |label: &'static str| {
        Step::made(move |past| {
            Answer::Calls(vec![client.read(label, &reference(&past.heard, "src/parser.c"))])
        })
    };
    let report = Step::made(|past| Answer::Text(hostile(&reference(&past.heard, "src/parser.c"))));
    Script::main([Step::call([sent])]).sub(READER, [read("read"), read("again").after(between), report])
}

#[test]
fn a_review_of_one_machine_is_read_on_another_with_another_client() {
    let directory = tempfile::tempdir().unwrap();
    let (_redis, settings) = fleet::store(directory.path());
    let (builder, runner) = (Arc::new(world(Client::Claude)), world(Client::OpenCode));
    let services = [&*builder, &runner].map(|world| fleet::serve(world, CONFIG, &settings));
    let mut text = std::fs::read_to_string(&settings).unwrap();
    for (name, world) in [("builder", &*builder), ("runner", &runner)] {
        let table = run(world, &settings, &["key"]);
        let key = table.lines().find(|line| line.starts_with("key = ")).unwrap();
        text.push_str(&format!("[[machines]]\nname = \"{name}\"\n{key}\n"));
    }
    std::fs::write(&settings, text).unwrap();

    let brief = builder.sh(&format!("lazaret review start --json --ttl 3000 --instructions '{READER}' src"));
    let brief: Value = serde_json::from_str(&brief).unwrap();
    let (id, uri) = (brief["session"].as_str().unwrap(), brief["references"][0]["uri"].as_str().unwrap());
    run(&builder, &settings, &["share", id, "--with", "runner"]);
    // What is reviewed is not on the other machine at all.
    std::fs::remove_dir_all(runner.host("/home/dev/proj/src")).unwrap();
    run(&runner, &settings, &["take", id, "--from", "builder"]);
    let reads = |session: &Session, label: &str| {
        for line in parser().lines() {
            assert!(session.told(label).text.contains(line), "{line}: {}", session.story());
        }
    };
    let session = builder.play(script(Client::Claude, uri, || {}));
    reads(&session, "again");
    let report = handed_on(&session.told("spawn").text);
    assert!(report.to_string().contains(QUOTED), "{report}");
    let end = {
        let (builder, settings, id) = (Arc::clone(&builder), settings.clone(), id.to_owned());
        move || {
            run(&builder, &settings, &["end", &id]);
            // So long may it take until the other machine knows.
            std::thread::sleep(Duration::from_secs(1));
        }
    };
    let session = runner.play(script(Client::OpenCode, uri, end));
    reads(&session, "read");
    let told = &session.told("again").text;
    assert!(told.contains("FLEET_STOPPED") && !told.contains(UNTOLD), "{told}\n{}", session.story());
    drop(services);
}
