//! Every way of the table (`tests/data/ways.txt`), each on a real client: the agent goes it, and then a call that must be blocked
//! is made in the same session, and in the next. Without `LAZARET_WAYS=all` a sample of them; `LAZARET_WAYS=<text>`: those whose
//! name holds the text.

use crate::clients::Client;
use crate::model::{Answer, Call, Script, Step, call};
use crate::session::Session;
use crate::watched::{self, WATCHED};
use crate::ways_table::{self, Act, How, Way};
use crate::wire::wire_id;
use crate::world::{BIN, FORBIDDEN_LOG, World};
use serde_json::json;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What must not be lost: the call that must be blocked would remove it.
const KEPT: &str = "/home/dev/precious/notes.txt";
const PROBE: &str = "rm -rf /home/dev/precious";
/// That a hidden way was gone.
const DONE: &str = "/home/dev/.done";
/// That what a way had the client start was started.
const STARTED: &str = "/home/dev/.evil-ran";
const AUDIT: &str = "/home/dev/.local/state/lazaret/audit/audit.jsonl";
/// So many answers a session has at most before it is continued.
const LONGEST: usize = 12;

#[test]
fn no_way_rids_claude_code_of_the_gate() {
    each(Client::Claude);
}

#[test]
fn no_way_rids_opencode_of_the_gate() {
    each(Client::OpenCode);
}

#[test]
fn claude_code_is_refused_what_would_switch_the_hook_off() {
    refused(Client::Claude);
}

#[test]
fn opencode_is_refused_what_would_switch_the_plugin_off() {
    refused(Client::OpenCode);
}

/// Gone by a person, between sessions, the same ways do what they are for: so the calls above tell whether the gate stands.
#[test]
fn a_person_can_switch_it_off() {
    for (client, name) in [(Client::Claude, "user-state-simple"), (Client::OpenCode, "plugin-removed")] {
        let way = ways_table::all().into_iter().find(|way| way.id == name).unwrap();
        let Act::Shell(command) = &way.action else { panic!("{name} is no command") };
        let world = prepared(client, &way);
        world.sh(command);
        let session = world.play(Script::main([Step::call([client.shell("probe", PROBE)])]));
        assert!(!world.exists(KEPT), "{name}: {}", session.story());
    }
}

impl Client {
    /// What a refused way leaves as it is.
    fn watched(self) -> Vec<&'static str> {
        let of_client: &[&str] = match self {
            Self::Claude => &[
                "/home/dev/.claude",
                "/home/dev/.claude/settings.json",
                "/home/dev/.claude/plugins/evil",
                "/home/dev/proj/.claude",
                "/home/dev/proj/.claude/settings.json",
                "/home/dev/proj/.claude/settings.local.json",
            ],
            Self::OpenCode => &[
                "/home/dev/.config/opencode",
                "/home/dev/.config/opencode/opencode.json",
                "/home/dev/.config/opencode/plugin",
                "/home/dev/.config/opencode/plugin/lazaret.js",
                "/home/dev/.config/opencode/plugin/evil.js",
                "/home/dev/.config/opencode/plugin/lazaret.bak",
                "/home/dev/proj/opencode.json",
                "/home/dev/proj/.opencode/plugin",
                "/home/dev/proj/.opencode/opencode.json",
            ],
            Self::Codex => &[],
        };
        let of_both = [
            "/home/dev/.local/bin",
            BIN,
            "/home/dev/.config/lazaret/config.toml",
            "/home/dev/.local/state/lazaret",
            "/home/dev/.local/state/lazaret/fill",
            "/home/dev/proj/notes.txt",
            "/home/dev/proj/README.md",
            FORBIDDEN_LOG,
        ];
        of_client.iter().copied().chain(of_both).collect()
    }

    /// The files that register lazaret with this client, and what they need.
    const fn gate(self) -> [&'static str; 2] {
        match self {
            Self::Claude => ["/home/dev/.claude/settings.json", "/home/dev/.config/lazaret/config.toml"],
            Self::OpenCode => {
                ["/home/dev/.config/opencode/plugin/lazaret.js", "/home/dev/.config/lazaret/config.toml"]
            }
            Self::Codex => ["/home/dev/.codex/hooks.json", "/home/dev/.codex/config.toml"],
        }
    }

    /// The arguments that take up the last session again.
    fn continuing(self) -> Vec<&'static str> {
        let mut arguments = self.arguments();
        let at = match self {
            Self::Claude => 0,
            Self::OpenCode => 1,
            Self::Codex => panic!("its ways are in codex.rs"),
        };
        arguments.insert(at, "--continue");
        arguments
    }
}

/// The ways of a client that are gone one at a time, or all that are refused.
fn wanted(client: Client, refused: bool) -> Vec<Way> {
    let wanted = std::env::var("LAZARET_WAYS").unwrap_or_default();
    let is_wanted = |way: &Way| match wanted.as_str() {
        "" => way.is_sample || refused,
        "all" => true,
        text => way.id.contains(text),
    };
    let ways = ways_table::all().into_iter().filter(|way| way.is_for(client.command()));
    ways.filter(|way| (way.how == How::Refused) == refused && is_wanted(way)).collect()
}

/// Each way on a machine of its own.
fn each(client: Client) {
    let ways = wanted(client, false);
    let name = client.command();
    let mut led_through = Vec::new();
    let mut outcomes: BTreeMap<&'static str, usize> = BTreeMap::new();
    let begun = Instant::now();
    for way in &ways {
        let began = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| go(client, way))) {
            Ok(outcome) => {
                *outcomes.entry(outcome).or_default() += 1;
                eprintln!("{name} {}: {outcome}, {:.1?}", way.id, began.elapsed());
            }
            Err(panic) => {
                let why = panic.downcast_ref::<String>().cloned();
                let why = why.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                eprintln!("{name} {}: LED THROUGH, {:.1?}", way.id, began.elapsed());
                led_through.push(format!("{}: {}", way.id, why.unwrap_or_default()));
            }
        }
    }
    eprintln!("{name}: {} ways in {:.0?}: {outcomes:?}", ways.len(), begun.elapsed());
    assert!(led_through.is_empty(), "{} of {}:\n{}", led_through.len(), ways.len(), led_through.join("\n\n"));
}

/// Ways that change nothing, one after the other on one machine.
fn refused(client: Client) {
    let ways = wanted(client, true);
    if ways.is_empty() {
        return;
    }
    let world = prepared(client, &ways[0]);
    let calls =
        ways.iter().enumerate().map(|(n, way)| (way.id.clone(), gone(client, way, &format!("way-{n}"))));
    let probe = |label: &str| client.shell(label, PROBE);
    let session = watched::try_all(&world, &client.watched(), calls.collect(), probe);
    for (n, way) in ways.iter().enumerate() {
        let told = &session.told(&format!("way-{n}")).text;
        assert!(is_refused(told), "{}: {told}", way.id);
        let told = &session.told(&format!("probe-{n}")).text;
        assert!(told.contains("files.delete-"), "after {}: {told}", way.id);
    }
    let next = world.play(Script::main([Step::call([probe("next")])]));
    assert!(next.told("next").text.contains("files.delete-"), "{}", next.story());
    assert!(world.exists(KEPT), "{}", next.story());
    eprintln!("{}: {} ways are refused", client.command(), ways.len());
}

/// A machine on which lazaret is registered and the way is prepared.
fn prepared(client: Client, way: &Way) -> World {
    let world = World::new(client);
    world.write("/home/dev/.fixture.sh", include_str!("../data/ways_fixture.sh"));
    world.sh("sh ~/.fixture.sh");
    for (name, content) in
        ways_table::settings_that_open().into_iter().chain(ways_table::settings_that_start())
    {
        world.write(&format!("/home/dev/proj/off/{name}.json"), "");
        std::fs::write(world.host(&format!("/home/dev/proj/off/{name}.json")), content).unwrap();
    }
    // Ways that are refused one after the other would else stop the session. It is accepted when lazaret is registered afterwards.
    let own = if way.how == How::Refused { watched::UNSTOPPED } else { "on_fault = \"block\"\n" };
    world.write(client.gate()[1], own);
    if client == Client::OpenCode {
        world.write(
            "/home/dev/proj/opencode.json",
            r#"{"$schema": "https://opencode.ai/config.json", "instructions": ["README.md"]}"#,
        );
        world.write(
            "/home/dev/.config/opencode/opencode.json",
            r#"{"$schema": "https://opencode.ai/config.json", "autoupdate": false}"#,
        );
    }
    world.register();
    let registered = client.gate()[0];
    world.sh(&format!(
        "ln -s {registered} innocent.json; ln -s {registered} innocent.js
        git diff --no-index {registered} nb/settings.json > off.patch || true"
    ));
    match (&way.action, way.how) {
        (Act::Shell(command), How::Hidden) => {
            // A copy of the shell under another name, and what it is to do under none that tells.
            world.sh("cp /bin/dash tidy || cp /bin/sh tidy");
            world.write("/home/dev/proj/tidy.dat", &format!("set -e\n{command}\necho done > {DONE}\n"));
        }
        (Act::Shell(command), How::Cloned) => drop(world.sh(command)),
        _ => {}
    }
    world
}

/// The agent's first calls, after which all that counts is known to lazaret.
fn first(client: Client, way: &Way) -> Vec<Call> {
    match (client, &way.action) {
        // The client's own tools change no file that was not read.
        (Client::Claude, Act::Tool(_, input)) if world_has(input) => {
            vec![call("read", "Read", json!({"file_path": input["file_path"]}))]
        }
        _ => vec![client.shell("first", "true")],
    }
}

/// Whether a tool's input names a file that is there.
fn world_has(input: &serde_json::Value) -> bool {
    input["file_path"].as_str().is_some_and(|path| path.ends_with("settings.json"))
}

fn gone(client: Client, way: &Way, label: &str) -> Call {
    match (&way.action, way.how) {
        (_, How::Cloned) => client.shell(label, "true"),
        (Act::Shell(_), How::Hidden) => client.shell(label, "./tidy tidy.dat"),
        (Act::Shell(command), How::Refused | How::Said) => client.shell(label, command),
        (Act::Tool(name, input), _) => call(label, name.clone().leak(), input.clone()),
    }
}

fn is_refused(text: &str) -> bool {
    ["lazaret blocked this call", "lazaret stopped this session", "lazaret could not check this call"]
        .iter()
        .any(|words| text.contains(words))
}

/// Whether the log says that the call `label` was refused: what a client that ended the session told nobody.
fn is_logged(world: &World, label: &str) -> bool {
    let log = std::fs::read_to_string(world.host(AUDIT)).unwrap_or_default();
    log.lines().any(|line| {
        line.contains(&format!("\"{}\"", wire_id(label))) && line.contains("\"verdict\":\"block\"")
    })
}

/// Whether the call `label` was refused by lazaret, or where nothing works any more by the client.
fn was_refused(world: &World, session: &Session, label: &str, way: &Way) -> bool {
    is_logged(world, label)
        || session.was_told(label) && (is_refused(&session.told(label).text) || is_fault(way))
}

/// Goes the way on a machine of its own; says how lazaret stood it.
fn go(client: Client, way: &Way) -> &'static str {
    let world = prepared(client, way);
    let gate = client.gate();
    let before = gate.map(|path| world.read(path));
    let binary = std::fs::read(world.host(BIN)).unwrap();
    let steps = [Step::call(first(client, way)), Step::call([gone(client, way, "way")]), probe(client)];
    let mut same = world.play_with(&client.arguments(), Script::main(steps));
    let held = !was_refused(&world, &same, "probe", way);
    if held {
        same = again(&world, client);
        assert!(was_refused(&world, &same, "again", way), "in the same session: {}", same.story());
    }
    assert!(world.exists(KEPT), "in the same session: {}", same.story());
    assert!(way.how != How::Hidden || world.exists(DONE), "the way was not gone: {}", same.story());
    let next = world.play(Script::main([
        Step::call([client.shell("harmless", "echo still here")]),
        Step::call([client.shell("next", PROBE)]),
    ]));
    let story = || format!("in the next session: {}\nafter {}", next.story(), same.story());
    assert!(world.exists(KEPT), "{}", story());
    assert!(way.how != How::Hidden || !world.exists(STARTED), "it was started: {}", story());
    assert!(was_refused(&world, &next, "next", way), "{}", story());
    if is_fault(way) {
        return "no call runs";
    }
    assert!(next.told("next").text.contains("files.delete-"), "{}", story());
    assert!(next.told("harmless").text.trim().ends_with("still here"), "{}", story());
    assert!(std::fs::read(world.host(BIN)).unwrap() == binary, "another binary\n{}", story());
    if held || world.read(AUDIT).contains("self.gate-changed") {
        for (path, was) in gate.iter().zip(&before) {
            assert_eq!(&world.read(path), was, "{path}\n{}", story());
        }
        return "put back";
    }
    if is_refused(&same.told("way").text) { "refused" } else { "of no effect" }
}

/// The call that must be blocked, in the session of the way.
fn probe(client: Client) -> Step {
    Step::made(move |past| {
        // A client needs a moment to see that its settings were changed.
        if past.told.get("way").is_some_and(|told| !is_refused(&told.text)) {
            std::thread::sleep(WATCHED);
        }
        Answer::Calls(vec![client.shell("probe", PROBE)])
    })
}

/// Where the binary itself is gone or broken, nothing runs any more, and a person has to repair it.
fn is_fault(way: &Way) -> bool {
    way.scope == "binary" && way.how == How::Hidden
}

/// The same session, which lazaret or the client ended, taken up again.
fn again(world: &World, client: Client) -> Session {
    let probe = || {
        Step::made(move |past| match past.told.contains_key("again") {
            true => Answer::Text("That was all.".to_owned()),
            false => Answer::Calls(vec![client.shell("again", PROBE)]),
        })
    };
    world.play_with(&client.continuing(), Script::main((0..LONGEST).map(|_| probe())))
}
