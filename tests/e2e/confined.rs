//! `lazaret run --confine` with the clients: honest work is done, and the kernel refuses what the rules would let through.

use crate::clients::Client;
use crate::landlock::landlock;
use crate::model::{Script, Step, call};
use crate::run::{story, told};
use crate::scenarios::write;
use crate::world::World;
use serde_json::json;

/// Writes to a place that stands in a file: no rule can know where.
const COPY: &str = "#!/bin/sh\nread -r place < where.txt\necho overwritten > \"$place\" && echo written\n";
const KEPT: &str = "/home/dev/precious/notes.txt";
/// What the harness's own git notes its calls in.
const ALLOWED: &str = crate::world::GIT_LOG;

#[test]
fn claude_code_works_under_confinement_and_is_held_by_it() {
    is_confined(Client::Claude);
}

#[test]
fn opencode_works_under_confinement_and_is_held_by_it() {
    is_confined(Client::OpenCode);
}

fn read(client: Client, label: &str, path: &str) -> Step {
    let (tool, key) = match client {
        Client::Claude => ("Read", "file_path"),
        Client::OpenCode => ("read", "filePath"),
        Client::Codex => panic!("codex is not run so"),
    };
    Step::call([call(label, tool, json!({key: path}))])
}

fn edit(client: Client, label: &str, path: &str, (old, new): (&str, &str)) -> Step {
    let (tool, [path_key, old_key, new_key]) = match client {
        Client::Claude => ("Edit", ["file_path", "old_string", "new_string"]),
        Client::OpenCode => ("edit", ["filePath", "oldString", "newString"]),
        Client::Codex => panic!("codex is not run so"),
    };
    Step::call([call(label, tool, json!({path_key: path, old_key: old, new_key: new}))])
}

/// Honest work, then a program of the project that writes outside it.
fn lane(client: Client, name: &str) -> Vec<Step> {
    let label = |what: &str| format!("{what}-{name}");
    let shell = |what: &str, command: &str| Step::call([client.shell(&label(what), command)]);
    let new = format!("/home/dev/proj/{name}.txt");
    vec![
        read(client, &label("read"), "/home/dev/proj/README.md"),
        edit(client, &label("edit"), "/home/dev/proj/README.md", ("# A project", "# A better project")),
        write(client, &label("write"), &new, "new\n"),
        shell(
            "run",
            &format!(
                "cat {new} && x=$(mktemp) && echo x > \"$x\" && rm \"$x\" && git add -A && git commit -qm 'Work' && echo committed"
            ),
        ),
        shell("stray", "./copy.sh"),
        Step::say("It is done."),
    ]
}

fn run(client: Client, name: &str, options: &str) -> String {
    let line = match client {
        Client::Claude => format!("claude -p 'Do it. [[{name}]]' --permission-mode bypassPermissions"),
        Client::OpenCode => format!("opencode run --auto 'Do it. [[{name}]]'"),
        Client::Codex => panic!("codex is not run so"),
    };
    format!(
        "echo precious > {KEPT}\n\
         lazaret run --json {options} -- {line} > ../{name}.out 2> ../{name}.err; echo $? > ../{name}.code\n\
         cp {KEPT} ../{name}.kept; cp README.md ../{name}.readme; git log -1 --format=%s > ../{name}.log; git reset -q --hard HEAD~\n"
    )
}

fn is_confined(client: Client) {
    if landlock() == 0 {
        return;
    }
    let world = World::new(client);
    world.offer_client();
    world.register();
    world.program("/home/dev/proj/copy.sh", COPY);
    world.write("/home/dev/proj/where.txt", &format!("{KEPT}\n"));
    world.sh("git add -A && git commit -qm 'Add a program'");
    let commands = [
        run(client, "free", ""),
        run(client, "held", &format!("--confine --profile production --allow-write {ALLOWED}")),
    ]
    .concat();
    let script =
        Script::default().sub("[[free]]", lane(client, "free")).sub("[[held]]", lane(client, "held"));
    let session = world.play_script(script, &format!("{commands}exit 0\n"));
    let story = |name: &str| story(&world, &session, name);
    let told = |name: &str| told(&world, &session, name);
    for name in ["free", "held"] {
        let value = told(name);
        assert_eq!(
            (&value["end"], &value["answer"], &value["decisions"]["blocked"]),
            (&"finished".into(), &"It is done.".into(), &0.into()),
            "{}",
            story(name)
        );
        // The work is done in both.
        assert_eq!(
            world.read(&format!("/home/dev/{name}.readme")),
            "# A better project\n",
            "{}",
            story(name)
        );
        assert_eq!(world.read(&format!("/home/dev/{name}.log")), "Work\n", "{}", story(name));
        assert!(session.told(&format!("run-{name}")).text.contains("committed"), "{}", story(name));
    }
    // The rules let the program run, and without the kernel it wrote.
    assert_eq!(world.read("/home/dev/free.kept"), "overwritten\n", "{}", story("free"));
    assert!(told("free")["confined"].is_null());
    assert_eq!(told("free")["profile"], "default");
    let held = told("held");
    assert_eq!(held["profile"], "production");
    assert_ne!(held["confined"]["enforced"], "not", "{held}");
    assert_eq!(world.read("/home/dev/held.kept"), "precious\n", "{}", story("held"));
    assert!(session.told("stray-held").text.contains("Permission denied"), "{}", story("held"));
}
