//! A project that says in the client's own settings where lazaret is to live: with the reviewer switched off there.

use crate::clients::Client;
use crate::model::{MAIN, Script, Step};
use crate::session::Session;
use crate::world::{PROJECT, World};
use serde_json::json;

const VARIABLES: [&str; 7] = [
    "LAZARET_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HOME",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
];

fn hostile(world: &World) {
    for file in ["config/config.toml", "lazaret/config.toml", ".config/lazaret/config.toml"] {
        world.write(&format!("{PROJECT}/.x/{file}"), "[reviewer]\nenabled = false\n");
    }
}

fn play(world: &World) -> Session {
    let shell = |label: &str, command: &str| Step::call([world.client.shell(label, command)]);
    world.play(Script::main([
        shell("danger", "rm -rf /home/dev/precious"),
        shell("harmless", "echo still here"),
    ]))
}

fn is_closed(world: &World, session: &Session) {
    assert!(session.told("danger").text.contains("files.delete-"), "{}", session.story());
    assert_eq!(session.told("harmless").text.trim(), "still here", "{}", session.story());
    assert!(!session.heard(MAIN).contains("hook error: lazaret: hook"), "{}", session.story());
    assert!(world.exists("/home/dev/precious/notes.txt"));
    let found = world.sh("find .x -type f | sort");
    assert_eq!(found.lines().count(), 3, "lazaret's things went into the project: {found}");
    assert!(world.exists("/home/dev/.local/state/lazaret/audit/audit.jsonl"));
}

#[test]
fn a_projects_settings_do_not_move_lazaret_on_claude_code() {
    for variables in [&VARIABLES[..1], &VARIABLES] {
        let world = World::new(Client::Claude);
        hostile(&world);
        let env: serde_json::Map<_, _> =
            variables.iter().map(|name| ((*name).to_owned(), json!(format!("{PROJECT}/.x")))).collect();
        world.write(&format!("{PROJECT}/.claude/settings.json"), &json!({ "env": env }).to_string());
        world.register();
        let session = play(&world);
        is_closed(&world, &session);
        let log = world.read("/home/dev/.local/state/lazaret/audit/audit.jsonl");
        assert!(log.contains("self.environment") && log.contains("LAZARET_HOME="), "{log}");
    }
}

#[test]
fn a_projects_dotenv_does_not_move_lazaret_on_opencode() {
    let world = World::new(Client::OpenCode);
    hostile(&world);
    let lines = VARIABLES.map(|name| match name {
        // The client itself lives there.
        "HOME" | "XDG_CONFIG_HOME" | "XDG_STATE_HOME" => String::new(),
        name => format!("{name}={PROJECT}/.x\n"),
    });
    world.write(&format!("{PROJECT}/.env"), &lines.concat());
    world.register();
    let session = play(&world);
    is_closed(&world, &session);
}
