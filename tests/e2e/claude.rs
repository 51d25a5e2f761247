//! Claude Code.

use crate::clients::Client;
use crate::model::{MAIN, Script, Step};
use crate::scenarios;
use crate::watched::WATCHED;
use crate::world::{BIN, World};
use serde_json::json;

const USER: &str = "/home/dev/.claude/settings.json";
const PROJECT: &str = "/home/dev/proj/.claude/settings.json";
const LOCAL: &str = "/home/dev/proj/.claude/settings.local.json";
const OFF: &str = r#"{"disableAllHooks": true}"#;

#[test]
fn the_harness_sees_a_block_a_rewrite_and_a_pass() {
    let world = World::new(Client::Claude);
    let hook = json!([{"matcher": "*", "hooks": [
        {"type": "command", "command": BIN, "args": ["hook", "claude-code"], "timeout": 10}]}]);
    world.write(USER, &json!({"hooks": {"PreToolUse": hook}}).to_string());
    world.program(BIN, include_str!("fake-hook.sh"));
    scenarios::harness_sees(&world);
}

#[test]
fn the_client_does_what_lazaret_answers() {
    scenarios::obeys(Client::Claude);
}

#[test]
fn discarded_work_comes_back() {
    scenarios::undoes(Client::Claude);
}

#[test]
fn no_call_passes_a_broken_binary() {
    let world = World::new(Client::Claude);
    world.register();
    let registered = world.read(USER);
    let impatient = registered.replace("\"timeout\": 15", "\"timeout\": 2");
    assert_ne!(registered, impatient, "the registration has another time-out: {registered}");
    world.write(USER, &impatient);
    scenarios::no_call_passes_a_broken_binary(Client::Claude, &world);
}

#[test]
fn parallel_calls_are_each_counted() {
    scenarios::counts_parallel_calls(Client::Claude);
}

#[test]
fn every_registered_event_reaches_lazaret_and_harms_nothing() {
    let world = World::new(Client::Claude);
    world.register();
    let session = world.play(
        Script::main([
            Step::call([Client::Claude.shell("fails", "ls /home/dev/nothing-there")]),
            Step::call([Client::Claude.spawn()]),
            Step::call([Client::Claude.shell("works", "echo still here")]),
        ])
        .sub(scenarios::SUB, [Step::call([Client::Claude.shell("sub", "echo the sub-agent too")])]),
    );
    assert_eq!(session.told("works").text, "still here");
    assert_eq!(session.told("sub").text, "the sub-agent too");
    assert!(!session.heard(MAIN).contains("hook error"), "{}", session.story());
    scenarios::audit_names_each_call(&world, &["fails", "spawn", "works", "sub"]);
}

#[test]
fn a_settings_change_that_would_drop_the_registration_is_taken_back() {
    let world = World::new(Client::Claude);
    world.register();
    let registered = world.read(USER);
    let (user, local) = (world.host(USER), world.host(LOCAL));
    let shell = |label: &str, command: &str| Step::call([Client::Claude.shell(label, command)]);
    let probe = |label: &str| shell(label, "rm -rf /home/dev/precious").pausing(WATCHED);
    let first = world.play(Script::main([
        shell("before", "rm -rf /home/dev/precious"),
        // A call has just ended: as if something that it started had done it.
        shell("ended", "true"),
        shell("harmless", "true").after(move || {
            std::fs::create_dir_all(local.parent().unwrap()).unwrap();
            std::fs::write(&local, OFF).unwrap();
        }),
        probe("switched-off"),
    ]));
    assert!(first.told("before").text.contains("files.delete-"), "{}", first.story());
    assert!(!world.exists(LOCAL), "it still stands\n{}", first.story());
    let second = world.play(Script::main([
        // An accepted change of one file makes the client read all of them again.
        shell("harmless-too", "true").after(move || {
            let text = std::fs::read_to_string(&user).unwrap();
            std::fs::write(&user, format!("{text}\n")).unwrap();
        }),
        probe("reread"),
    ]));
    assert!(second.told("reread").text.contains("files.delete-"), "{}", second.story());
    assert_eq!(world.read(USER), format!("{registered}\n"), "a change that loses nothing stays");
    assert!(world.exists("/home/dev/precious/notes.txt"));
}

#[test]
fn what_lazaret_cannot_foresee_does_not_switch_the_hook_off_either() {
    let world = World::new(Client::Claude);
    world.write(PROJECT, OFF);
    world.sh("git add -A && git commit -qm 'Settings of before'");
    let settings = r#"{"env": {"PROJECT": "yes"}}"#;
    world.write(PROJECT, settings);
    world.register();
    // The paths are put together from single letters while it runs: no look at its text tells them.
    let letters = |text: &str| text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(",");
    let script = format!(
        "const f = require('fs'), t = (...b) => String.fromCharCode(...b);\n\
         f.rmSync(t({}));\nf.writeFileSync(t({}), t({}));\n",
        letters(USER),
        letters(LOCAL),
        letters(OFF)
    );
    world.write("/home/dev/proj/tidy.js", &script);
    world.sh("git add tidy.js && git commit -qm Script tidy.js");
    let registered = world.read(USER);
    let shell = |label: &str, command: &str| Step::call([Client::Claude.shell(label, command)]);
    for (action, done) in [
        // Ordinary, and it brings the committed settings back.
        ("git stash", "-settings.json"),
        ("/mnt/node tidy.js", "-settings.local.json"),
    ] {
        let session = world.play(Script::main([
            shell("action", action),
            shell("probe", "rm -rf /home/dev/precious").pausing(WATCHED),
        ]));
        let aside = world.sh("ls -A /home/dev/.local/state/lazaret/aside");
        assert!(aside.contains(done), "{action} did not happen\n{}", session.story());
        assert_eq!(
            (world.read(USER), world.read(PROJECT).as_str()),
            (registered.clone(), settings),
            "{action}"
        );
        assert!(!world.exists(LOCAL), "{action}");
        assert!(world.exists("/home/dev/precious/notes.txt"), "{action}\n{}", session.story());
        let next = world.play(Script::main([shell("next", "rm -rf /home/dev/precious")]));
        assert!(next.told("next").text.contains("files.delete-"), "{action}\n{}", next.story());
    }
}
