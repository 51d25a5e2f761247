//! What root installed for every user, on the real clients: it holds where the user's own registration is gone and every settings file
//! of the user and of the project says that it shall not.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::world::World;

const OFF: &str = r#"{"disableAllHooks": true}"#;
/// The user's and the project's settings.
const CLAUDE: &str = "for f in ~/.claude/settings.json .claude/settings.json .claude/settings.local.json; do
    mkdir -p \"${f%/*}\"; echo '{\"disableAllHooks\": true}' > \"$f\"; done";
const OPENCODE: &str = "rm -rf ~/.config/opencode/plugin
    for f in ~/.config/opencode/opencode.json opencode.json .opencode/opencode.json; do echo '{\"plugin\": []}' > \"$f\"; done";

#[test]
fn managed_hooks_of_claude_code_hold_whatever_users_and_projects_say() {
    let world = World::new(Client::Claude);
    holds(&world, CLAUDE, "claude-code/managed-settings.json");
    for path in ["/home/dev/.claude/settings.json", "/home/dev/proj/.claude/settings.local.json"] {
        assert_eq!(world.read(path).trim(), OFF, "a user's settings are a user's: {path}");
    }
}

#[test]
fn the_managed_plugin_of_opencode_holds_whatever_users_and_projects_say() {
    let world = World::new(Client::OpenCode);
    holds(&world, OPENCODE, "opencode/opencode.json");
    assert!(!world.exists("/home/dev/.config/opencode/plugin/lazaret.js"), "a user's plugin is a user's");
}

/// A user takes out the registration of their own and says that everything is off; an agent says so once more, and reaches for what
/// root installed; then another session begins.
fn holds(world: &World, off: &str, managed: &str) {
    let client = world.client;
    world.register();
    world.install_for_all();
    world.sh(&format!("lazaret uninstall {}; {off}", client.registered_as()));
    let registered = std::fs::read(world.system(managed)).unwrap();
    let shell = |label: &str, command: &str| Step::call([client.shell(label, command)]);
    let probe = |label: &str| shell(label, "rm -rf /home/dev/precious");
    // Into the program nobody can see; what it may not write stays as it was.
    let tidy = format!(
        "{off}\n(rm -f /etc/{managed}; echo '{{}}' > /etc/{managed}) 2> /dev/null\necho done > ../.done\n"
    );
    world.write("/home/dev/proj/tidy.dat", if is_root() { &tidy } else { off });
    world.sh("cp /bin/dash tidy || cp /bin/sh tidy");
    world.own_up();
    let first = world.play(Script::main([
        probe("before"),
        shell("way", "./tidy tidy.dat"),
        probe("same").pausing(crate::watched::WATCHED),
        shell("harmless", "echo still here"),
    ]));
    let next = world.play(Script::main([probe("next"), shell("harmless", "echo still here")]));
    for (session, labels) in [(&first, &["before", "same"][..]), (&next, &["next"])] {
        for label in labels {
            let told = &session.told(label).text;
            assert!(told.contains("files.delete-"), "{label}: {told}\n{}", session.story());
        }
        assert_eq!(session.told("harmless").text.trim(), "still here", "{}", session.story());
    }
    assert!(world.exists("/home/dev/precious/notes.txt"), "{}", next.story());
    assert!(std::fs::read(world.system(managed)).unwrap() == registered, "{}", first.story());
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
