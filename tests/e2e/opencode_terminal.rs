//! OpenCode in a terminal: what a person sees of what lazaret answers.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::session::Session;
use crate::world::World;

const RAN: &str = "/home/dev/ran";

fn machine() -> World {
    let world = World::new(Client::OpenCode);
    world.register();
    world.offer_client();
    world.program("/home/dev/.tools/terraform", &format!("#!/bin/sh\ntouch {RAN}\n"));
    world
}

/// A session at a terminal, with the screens when lazaret had answered and in the end.
fn seen(world: &World, command: &str) -> (String, String, Session) {
    let script = Script::main([Step::call([Client::OpenCode.shell("call", command)])]);
    let session = world.play_script(script, include_str!("opencode_terminal.sh"));
    let screen = |name: &str| std::fs::read_to_string(world.host(name)).unwrap_or_default();
    (screen("/home/dev/answer.screen"), screen("/home/dev/after.screen"), session)
}

/// What stands in the notice at the right, in one line: it is 58 columns wide.
fn notice(screen: &str) -> String {
    let rows = screen.lines().flat_map(|line| line.split('┃'));
    let inside = rows.filter(|part| part.chars().count() == 58);
    inside.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_block_a_question_and_a_warning_are_shown() {
    for (command, rule, more) in [
        ("rm -rf ~", "rule files.delete-home: deletes", "lazaret blocked this call"),
        ("terraform apply -auto-approve", "rule cloud.terraform-ask", "lazaret allow "),
        ("rm -rf src", "rule files.delete-inside", "with a warning"),
        ("git push --force origin topic", "lazaret changed this call", "--force-with-lease"),
    ] {
        let world = machine();
        world.sh("mkdir src && echo x > src/a && git add src && git commit -qm src && echo y > src/a");
        let (answer, after, session) = seen(&world, command);
        let story = || format!("{command}\n{answer}\n{after}\n{}", session.story());
        let notice = notice(&answer);
        assert!(notice.contains(rule) && notice.contains(more), "{notice}\n{}", story());
        assert!(world.exists("/home/dev/precious/notes.txt") && !world.exists(RAN), "{}", story());
    }
}
