//! OpenCode.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::scenarios;
use crate::world::{BIN, World};

const PLUGINS: &str = "/home/dev/.config/opencode/plugin";

#[test]
fn the_harness_sees_a_block_a_rewrite_and_a_pass() {
    let world = World::new(Client::OpenCode);
    world.write(&format!("{PLUGINS}/fake.js"), include_str!("fake-plugin.js"));
    world.program(BIN, include_str!("fake-hook.sh"));
    scenarios::harness_sees(&world);
}

#[test]
fn the_client_does_what_lazaret_answers() {
    scenarios::obeys(Client::OpenCode);
}

#[test]
fn discarded_work_comes_back() {
    scenarios::undoes(Client::OpenCode);
}

#[test]
fn no_call_passes_a_broken_binary() {
    let world = World::new(Client::OpenCode);
    world.register();
    scenarios::no_call_passes_a_broken_binary(Client::OpenCode, &world);
}

#[test]
fn parallel_calls_are_each_counted() {
    scenarios::counts_parallel_calls(Client::OpenCode);
}

#[test]
fn every_registered_event_reaches_lazaret_and_harms_nothing() {
    let world = World::new(Client::OpenCode);
    world.register();
    let shell = |label: &str, command: &str| Step::call([Client::OpenCode.shell(label, command)]);
    let session = world.play(
        Script::main([
            shell("fails", "ls /home/dev/nothing-there"),
            Step::call([Client::OpenCode.spawn()]),
            shell("works", "echo still here"),
        ])
        .sub(scenarios::SUB, [shell("sub", "echo the sub-agent too")]),
    );
    assert_eq!(session.told("works").text.trim(), "still here");
    assert_eq!(session.told("sub").text.trim(), "the sub-agent too");
    scenarios::audit_names_each_call(&world, &["fails", "spawn", "works", "sub"]);
}
