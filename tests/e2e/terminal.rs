//! Claude Code in a terminal, typed at: what a person sees, and what their answer does.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::session::Session;
use crate::world::World;

/// What the client asks of a person who is new to it or to the project, answered before.
const KNOWN: &str = r#"{"hasCompletedOnboarding": true, "theme": "dark",
    "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
    "projects": {"/home/dev/proj": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}"#;
const MODES: [&str; 2] = ["default", "auto"];
/// Asked about; the program of this name here only says that it ran.
const ASKED: &str = "terraform apply -auto-approve";
const RAN: &str = "/home/dev/ran";

fn machine() -> World {
    let world = World::new(Client::Claude);
    world.register();
    world.write("/home/dev/.claude.json", KNOWN);
    world.offer_client();
    world.program("/home/dev/.tools/terraform", &format!("#!/bin/sh\ntouch {RAN}\n"));
    // The client itself says whether it runs in a terminal; what a project sets does not reach a hook.
    world.write("/home/dev/proj/.claude/settings.json", r#"{"env": {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}}"#);
    world
}

fn script(command: &str) -> Script {
    Script::main([Step::call([Client::Claude.shell("call", command)])])
}

/// A session at a terminal, with the screens before and after the key.
fn typed(world: &World, mode: &str, key: &str, command: &str) -> (String, String, Session) {
    let drive = include_str!("terminal.sh");
    let session = world.play_script(script(command), &format!("set -- {mode} {key}\n{drive}"));
    let screen = |name: &str| std::fs::read_to_string(world.host(name)).unwrap_or_default();
    (screen("/home/dev/before.screen"), screen("/home/dev/after.screen"), session)
}

#[test]
fn a_question_is_put_and_the_answer_counts() {
    for mode in MODES {
        for (key, runs) in [("Enter", true), ("Escape", false)] {
            let world = machine();
            let (asked, after, session) = typed(&world, mode, key, ASKED);
            let story = || format!("{mode} {key}\n{asked}\n{after}\n{}", session.story());
            assert!(
                asked.contains("lazaret asks a person about this call: rule cloud.terraform-ask"),
                "{}",
                story()
            );
            assert!(asked.contains("instead: terraform plan"), "{}", story());
            assert_eq!(world.exists(RAN), runs, "{}", story());
        }
    }
}

#[test]
fn a_blocks_one_line_names_rule_and_reason() {
    for mode in MODES {
        let world = machine();
        let (_, screen, session) = typed(&world, mode, "", "rm -rf ~");
        let line = "hook error: lazaret blocked this call: rule files.delete-home: deletes";
        assert!(screen.contains(line), "{mode}\n{screen}\n{}", session.story());
        assert!(world.exists("/home/dev/precious/notes.txt"), "{screen}");
    }
}

/// Where the client itself asks first, it shows a warning once the person has answered.
#[test]
fn a_warning_is_shown() {
    let shown =
        ["lets this call run, with a warning: rule files.delete-inside", "note: what it changes was saved"];
    for (mode, key) in [("default", "Enter"), ("auto", "")] {
        let world = machine();
        world.sh("mkdir src && echo x > src/a && git add src && git commit -qm src && echo y > src/a");
        let (_, screen, session) = typed(&world, mode, key, "rm -rf src");
        for words in shown {
            assert!(screen.contains(words), "{mode}: {words}\n{screen}\n{}", session.story());
        }
    }
}

/// What the client asks the person about is the rewritten call; afterwards it shows what was changed. In mode `auto` the client
/// asks its own server about a push, which the scripted one cannot answer.
#[test]
fn a_rewrite_is_shown() {
    let world = machine();
    world.sh("git checkout -q -b topic && git push -q origin topic && git commit -q --allow-empty --amend -m other");
    let (asked, screen, session) = typed(&world, "default", "Enter", "git push --force origin topic");
    let story = || format!("{asked}\n{screen}\n{}", session.story());
    assert!(asked.contains("git push --force-with-lease origin topic"), "{}", story());
    assert!(screen.contains("lazaret changed this call before it ran (force-with-lease)"), "{}", story());
}

#[test]
fn where_nobody_is_there_it_is_refused_with_a_code() {
    for entrypoint in ["", "CLAUDE_CODE_ENTRYPOINT=cli "] {
        let world = machine();
        let line = format!("{entrypoint}claude -p 'Do what is to be done.' --permission-mode auto");
        let session = world.play_script(script(ASKED), &line);
        let told = session.told("call");
        assert!(told.is_error && told.text.contains("rule cloud.terraform-ask"), "{}", session.story());
        assert!(!world.exists(RAN), "{entrypoint}{}", session.story());
        if entrypoint.is_empty() {
            assert!(told.text.contains("lazaret allow"), "{}", session.story());
        }
    }
}
