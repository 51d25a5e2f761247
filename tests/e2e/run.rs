//! `lazaret run` with the clients: a run that is done, each budget, and a client that was started without its hooks.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::session::Session;
use crate::world::World;
use serde_json::Value;

#[test]
fn runs_of_claude_code_are_supervised() {
    supervised(Client::Claude);
}

#[test]
fn runs_of_opencode_are_supervised() {
    supervised(Client::OpenCode);
}

/// What the model does in the run of this name.
fn lane(client: Client, name: &str) -> Vec<Step> {
    let shell = |label: &str, command: &str| Step::call([client.shell(&format!("{label}-{name}"), command)]);
    match name {
        // It outlives its group's polite end, where nobody sees to it.
        "slow" => vec![shell("slow", "setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300'; sleep 300")],
        "fine" => vec![
            shell("one", "echo hello"),
            shell("two", "rm -rf /home/dev/precious"),
            Step::say("It is done."),
        ],
        "calls" => (0..5).map(|n| shell(&format!("call-{n}"), &format!("touch call-{n}"))).collect(),
        _ => vec![shell("one", "echo hello"), shell("two", "sleep 5"), Step::say("It is done.")],
    }
}

/// Runs the client on the task of this name and notes what it printed, how it ended, and what is left of it.
fn run(client: Client, name: &str, options: &str, client_options: &str) -> String {
    let line = match client {
        Client::Claude => {
            format!("claude -p 'Do it. [[{name}]]' --permission-mode bypassPermissions {client_options}")
        }
        Client::OpenCode => format!("opencode run --auto {client_options} 'Do it. [[{name}]]'"),
        Client::Codex => panic!("codex is not run so"),
    };
    // By a variable that nobody but the person sets: what the line itself says is refused.
    let open = match (name, client) {
        ("open", Client::Claude) => "CLAUDE_CODE_SIMPLE=1 ",
        ("open", Client::OpenCode) => "OPENCODE_PURE=1 ",
        _ => "",
    };
    format!(
        "{open}lazaret run --json {options} -- {line} > ../{name}.out 2> ../{name}.err; echo $? > ../{name}.code\n\
         ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c {} > ../{name}.left; pgrep -x sleep >> ../{name}.left\n",
        client.inside()
    )
}

/// What a run left behind, for a failed assertion.
pub fn story(world: &World, session: &Session, name: &str) -> String {
    let text = |end: &str| world.read(&format!("/home/dev/{name}.{end}"));
    format!("{name}: {}\n{}\n{}\n{}", text("code"), text("out"), text("err"), session.story())
}

/// The summary of a run.
pub fn told(world: &World, session: &Session, name: &str) -> Value {
    let out = world.read(&format!("/home/dev/{name}.out"));
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {}", story(world, session, name)))
}

/// What leaves the hooks out.
fn unhooked(client: Client) -> &'static str {
    match client {
        Client::Claude => "--settings '{\"disableAllHooks\": true}'",
        Client::OpenCode => "--pure",
        Client::Codex => panic!("codex is not run so"),
    }
}

fn supervised(client: Client) {
    let world = World::new(client);
    world.offer_client();
    world.register();
    let registered = client.registered_as();
    let run = |name: &str, options: &str, more: &str| run(client, name, options, more);
    let commands = [
        run("fine", "--timeout 10m --max-memory 64G --max-tokens 1000000", ""),
        run("slow", "--timeout 20", ""),
        run("tokens", "--max-tokens 25", ""),
        run("memory", "--max-memory 50M", ""),
        run("open", "", ""),
        run("refused", "", unhooked(client)),
        run("calls", "--max-calls 3", ""),
    ]
    .concat();
    let names = ["fine", "slow", "tokens", "memory", "open", "calls"];
    let markers = ["[[fine]]", "[[slow]]", "[[tokens]]", "[[memory]]", "[[open]]", "[[calls]]"];
    let mut script = Script::default();
    for (name, marker) in names.into_iter().zip(markers) {
        script = script.sub(marker, lane(client, name));
    }
    let session = world.play_script(script, &format!("{commands}exit 0\n"));
    let story = |name: &str| story(&world, &session, name);
    let told = |name: &str| told(&world, &session, name);
    let stops = [
        ("slow", "time"),
        ("tokens", "tokens"),
        ("memory", "memory"),
        ("open", "gate_open"),
        ("calls", "calls"),
    ];
    for (name, kind) in stops {
        let value = told(name);
        assert_eq!(world.read(&format!("/home/dev/{name}.code")).trim(), "2", "{}", story(name));
        assert_eq!(
            (&value["end"], &value["reason"]["kind"]),
            (&"stopped".into(), &kind.into()),
            "{}",
            story(name)
        );
        assert!(world.read(&format!("/home/dev/{name}.err")).contains("report: "), "{}", story(name));
        eprintln!("{registered}: {name} ended after {} s: {}", value["seconds"], value["reason"]["text"]);
    }
    for name in names {
        assert_eq!(world.read(&format!("/home/dev/{name}.left")).trim(), "0", "{}", story(name));
    }
    let made: Vec<bool> = (0..5).map(|n| world.exists(&format!("/home/dev/proj/call-{n}"))).collect();
    assert_eq!(made, [true, true, true, false, false], "{}", story("calls"));
    assert_eq!(world.read("/home/dev/refused.code").trim(), "1");
    let refused = world.read("/home/dev/refused.err");
    assert!(refused.contains("lazaret: run: ") && refused.contains("leave it out"), "{refused}");
    let fine = told("fine");
    assert!(fine["warnings"].to_string().contains("the client asks nobody"), "{fine}");
    assert_eq!(world.read("/home/dev/fine.code").trim(), "0", "{}", story("fine"));
    assert_eq!(
        (&fine["end"], &fine["answer"]),
        (&"finished".into(), &"It is done.".into()),
        "{}",
        story("fine")
    );
    assert_eq!((&fine["calls"], &fine["decisions"]["blocked"]), (&2.into(), &1.into()), "{}", story("fine"));
    assert_eq!(fine["blocked"][0]["action"], "rm -rf /home/dev/precious");
    assert!(fine["tokens"].as_u64().unwrap() >= 60 && fine["peak_memory_bytes"].as_u64().unwrap() > 50 << 20);
    assert!(world.exists("/home/dev/precious/notes.txt"));
    for name in ["slow", "tokens", "memory", "open"] {
        assert!(told(name)["answer"].is_null(), "{}", story(name));
    }
}
