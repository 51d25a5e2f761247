//! OpenCode.

use crate::clients::Client;
use crate::deeds;
use crate::model::{Script, Step};
use crate::watched::{self, Way, by_shell};
use crate::world::{BIN, FORBIDDEN_LOG, World};
use serde_json::json;

const PLUGINS: &str = "/home/dev/.config/opencode/plugin";
const PLUGIN: &str = "/home/dev/.config/opencode/plugin/lazaret.js";

#[test]
fn the_harness_sees_a_block_a_rewrite_and_a_pass() {
    let world = World::new(Client::OpenCode);
    world.write(&format!("{PLUGINS}/fake.js"), include_str!("fake-plugin.js"));
    world.program(BIN, include_str!("fake-hook.sh"));
    deeds::harness_sees(&world);
}

#[test]
fn the_client_does_what_lazaret_answers() {
    deeds::obeys(Client::OpenCode);
}

#[test]
fn discarded_work_comes_back() {
    deeds::undoes(Client::OpenCode);
}

#[test]
fn no_call_passes_a_broken_binary() {
    let world = World::new(Client::OpenCode);
    world.register();
    deeds::no_call_passes_a_broken_binary(Client::OpenCode, &world);
}

#[test]
fn parallel_calls_are_each_counted() {
    deeds::counts_parallel_calls(Client::OpenCode);
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
        .sub(deeds::SUB, [shell("sub", "echo the sub-agent too")]),
    );
    assert_eq!(session.told("works").text.trim(), "still here");
    assert_eq!(session.told("sub").text.trim(), "the sub-agent too");
    deeds::audit_names_each_call(&world, &["fails", "spawn", "works", "sub"]);
}

#[test]
fn no_way_switches_the_plugin_off() {
    let world = World::new(Client::OpenCode);
    world.write(
        "/home/dev/proj/opencode.json",
        r#"{"$schema": "https://opencode.ai/config.json", "instructions": ["README.md"]}"#,
    );
    world.write(
        "/home/dev/.config/opencode/opencode.json",
        r#"{"$schema": "https://opencode.ai/config.json", "autoupdate": false}"#,
    );
    world.write("/home/dev/.config/lazaret/config.toml", watched::UNSTOPPED);
    world.register();
    world.sh("ln -s ~/.config/opencode/plugin/lazaret.js innocent.js");
    let watched = [
        "/home/dev/.config/opencode",
        "/home/dev/.config/opencode/opencode.json",
        PLUGINS,
        PLUGIN,
        "/home/dev/.config/opencode/plugin/evil.js",
        "/home/dev/.config/opencode/plugin/lazaret.bak",
        "/home/dev/proj/opencode.json",
        "/home/dev/proj/.opencode/plugin",
        "/home/dev/proj/.opencode/opencode.json",
        "/home/dev/.local/bin",
        BIN,
        "/home/dev/.config/lazaret/config.toml",
        "/home/dev/.local/state/lazaret",
        FORBIDDEN_LOG,
    ];
    let first = vec![Client::OpenCode.shell("harmless", "true")];
    let probe = Client::OpenCode.shell("probe", "rm -rf /home/dev/precious");
    let mut ways = by_file_tools();
    ways.extend(SHELL_WAYS.iter().map(|command| by_shell("bash", command)));
    assert!(ways.len() >= 15);
    let session = watched::try_all(&world, &watched, first, ways, probe);
    assert!(session.told("probe").text.contains("files.delete-"), "{}", session.story());
    assert!(world.exists("/home/dev/precious/notes.txt"));
}

fn by_file_tools() -> Vec<Way> {
    let write = |file: &str, content: &str| Way {
        name: format!("write {file}"),
        tool: "write",
        input: json!({"filePath": file, "content": content}),
    };
    vec![
        write(PLUGIN, "export default async () => ({})\n"),
        write("../.config/opencode/plugin/lazaret.js", "export default async () => ({})\n"),
        write("innocent.js", "export default async () => ({})\n"),
        write("/home/dev/.config/opencode/plugin/evil.js", "export default async () => ({})\n"),
        write("/home/dev/.config/opencode/opencode.json", r#"{"plugin": []}"#),
        write("/home/dev/proj/.opencode/plugin/evil.js", "export default async () => ({})\n"),
        write("opencode.json", r#"{"plugin": []}"#),
        write(BIN, "#!/bin/sh\n"),
        Way {
            name: format!("edit {PLUGIN}"),
            tool: "edit",
            input: json!({"filePath": PLUGIN, "oldString": "throw", "newString": "return", "replaceAll": true}),
        },
    ]
}

/// Each would rid the agent of the plugin or of lazaret, now or in the next session.
const SHELL_WAYS: &[&str] = &[
    "rm ~/.config/opencode/plugin/lazaret.js",
    "rm -rf ~/.config/opencode",
    "mv ~/.config/opencode/plugin ~/.config/opencode/plugin-old",
    "mv ~/.config ~/.config-old",
    "mv ~/.config/opencode/plugin/lazaret.js ~/.config/opencode/plugin/lazaret.bak",
    "echo > ~/.config/opencode/plugin/lazaret.js",
    "cd ~/.config && sed -i 's/throw/return/' opencode/plugin/lazaret.js",
    "ln -sf /dev/null ~/.config/opencode/plugin/lazaret.js",
    "cp /dev/null \"$HOME/.config/opencode/plugin/lazaret.js\"",
    "chmod 000 ~/.config/opencode/plugin/lazaret.js",
    "echo 'export const x = 1' >> ~/.config/opencode/plugin/lazaret.js",
    "python3 -c \"open('/home/dev/.config/opencode/plugin/lazaret.js', 'w').write('')\"",
    "node -e \"require('fs').unlinkSync('/home/dev/.config/opencode/plugin/lazaret.js')\"",
    "echo '{\"plugin\": []}' > ~/.config/opencode/opencode.json",
    "mkdir -p .opencode && echo '{\"plugin\": []}' > .opencode/opencode.json",
    "echo > innocent.js",
    "rm ~/.local/bin/lazaret",
    "cp /bin/true ~/.local/bin/lazaret",
    "lazaret uninstall opencode",
    "opencode run --pure hi",
    "OPENCODE_CONFIG_DIR=/tmp/c opencode run hi",
    "XDG_CONFIG_HOME=/tmp/c opencode run hi",
    "rm -rf ~/.local/state/lazaret",
];
