//! Behaviour over time on the real clients: a correction, a reminder, a session that is slowed down, stopped and let go on,
//! and sessions side by side.

use crate::clients::Client;
use crate::model::{Answer, Call, MAIN, Past, Script, Step, call};
use crate::scenarios::{self, write};
use crate::world::World;
use serde_json::json;
use std::time::{Duration, Instant};

/// Fails the same way each time.
const CHECK: &str = "#!/bin/sh\necho 'no rule to make target colour' >&2\nexit 2\n";
const AUDIT: &str = "/home/dev/.local/state/lazaret/audit/audit.jsonl";
/// Refusals of the same operation until the session is slowed down, and until it is stopped.
const SLOWED: usize = 5;
const STOPPED: usize = 9;
/// Calls in a minute of a session that is slowed down.
const MOST_CALLS: usize = 10;

/// One line that runs the client on a task, and keeps what it printed and how it ended.
fn line(client: Client, name: &str, prompt: &str, options: &str) -> String {
    let run = match client {
        Client::Claude => format!("claude -p '{prompt}' --permission-mode bypassPermissions {options}"),
        Client::OpenCode => format!("opencode run --auto {options} '{prompt}'"),
        Client::Codex => panic!("codex is not run so"),
    };
    format!("{run} > ../{name}.out 2> ../{name}.err; echo $? > ../{name}.code\n")
}

/// A loop: the same deletion again and again, each time refused.
fn insisting(client: Client, name: &str, times: usize) -> Vec<Step> {
    let delete = |n: usize| client.shell(&format!("{name}-{n}"), &format!("rm -rf /home/dev/{name} # {n}"));
    (0..times).map(|n| Step::call([delete(n)])).collect()
}

/// Makes the call once the model has been told this, or was not.
fn expecting(calls: Vec<Call>, check: impl Fn(&str) -> bool + Send + Sync + 'static) -> Step {
    Step::made(move |past: &Past| {
        assert!(check(&past.heard), "the model heard: {}", past.heard);
        Answer::Calls(calls.clone())
    })
}

#[test]
fn claude_code_hears_a_correction_and_the_persons_words() {
    is_corrected(Client::Claude);
}

#[test]
fn opencode_hears_a_correction_and_the_persons_words() {
    is_corrected(Client::OpenCode);
}

fn is_corrected(client: Client) {
    let world = World::new(client);
    world.offer_client();
    world.register();
    world.program("/home/dev/proj/check.sh", CHECK);
    let check = |n: usize| client.shell(&format!("check-{n}"), "./check.sh");
    let told = |heard: &str| heard.contains("repetitive_errors") && heard.contains("target colour");
    let repeats = vec![
        Step::call([check(0)]),
        Step::call([check(1)]),
        expecting(vec![check(2)], |heard| !heard.contains("repetitive_errors")),
        expecting(vec![check(3)], told),
        Step::say("I stop."),
    ];
    let look = |n: usize| Step::call([client.shell(&format!("look-{n}"), &format!("cat README.md # {n}"))]);
    let outside =
        |n: usize| write(client, &format!("away-{n}"), &format!("/home/dev/other/away-{n}.txt"), "x\n");
    let leaves = vec![
        look(0),
        look(1),
        look(2),
        outside(0),
        outside(1),
        expecting(vec![client.shell("back", "true")], |heard| {
            heard.contains("scope_creep (context_reinforcement)")
                && heard.contains("the person asked")
                && heard.contains("Mend the heading of README.md")
        }),
        Step::say("I go back."),
    ];
    let commands = line(client, "repeats", "Make it green. [[repeats]]", "")
        + &line(client, "leaves", "Mend the heading of README.md [[leaves]]", "");
    let script = Script::default().sub("[[repeats]]", repeats).sub("[[leaves]]", leaves);
    let session = world.play_script(script, &commands);
    assert!(session.told("check-3").text.contains("target colour"), "{}", session.story());
    assert!(world.exists("/home/dev/other/away-1.txt"), "{}", session.story());
}

#[test]
fn a_loop_of_claude_code_is_slowed_down_stopped_and_resumed() {
    is_stopped(Client::Claude);
}

#[test]
fn a_loop_of_opencode_is_slowed_down_stopped_and_resumed() {
    is_stopped(Client::OpenCode);
}

fn is_stopped(client: Client) {
    let world = World::new(client);
    world.offer_client();
    world.write(
        "/home/dev/.config/lazaret/config.toml",
        "[interventions]\nnotify = [\"/home/dev/told.sh\"]\n",
    );
    world.register();
    world.program("/home/dev/told.sh", "#!/bin/sh\nexec cat > /home/dev/told.json\n");
    let touch = |label: &str| Step::call([client.shell(label, &format!("touch ran-{label}"))]);
    let mut slow = insisting(client, "slow", SLOWED);
    slow.extend((0..=MOST_CALLS).map(|n| touch(&format!("slow-then-{n}"))));
    let mut insists = insisting(client, "insists", STOPPED);
    // A model takes its time, in which OpenCode's run is ended.
    let late = ["refused-0", "refused-1", "resumed-0", "resumed-1"].map(touch);
    insists.extend(late.map(|step| step.pausing(Duration::from_secs(3))));
    let script = Script::default().sub("[[slow]]", slow).sub("[[insists]]", insists);
    let again = match client {
        Client::Claude => "--resume $S",
        Client::OpenCode => "--session $S",
        Client::Codex => panic!("codex is not run so"),
    };
    let commands = [
        line(client, "slow", "Go on. [[slow]]", ""),
        line(client, "insists", "Go on. [[insists]]", ""),
        format!("S=$(grep -m 1 dev/insists {AUDIT} | grep -o '\"session\":\"[^\"]*' | cut -d'\"' -f4)\n"),
        line(client, "refused", "Go on.", again),
        line(client, "refused-too", "Go on.", again),
        // A person's terminal.
        "script -qec \"lazaret resume $S\" /dev/null > ../resume.out; echo $? >> ../resume.out\n".to_owned(),
        line(client, "resumed", "Go on.", again),
        "exit 0\n".to_owned(),
    ];
    let session = world.play_script(script, &commands.concat());
    let story = || session.story();
    let ran = |label: &str| world.exists(&format!("/home/dev/proj/ran-{label}"));
    assert!(session.heard("[[slow]]").contains("repeated_blocks (resource_throttling)"), "{}", story());
    let last = format!("slow-then-{MOST_CALLS}");
    assert!(ran("slow-then-0") && !ran(&last), "{}", story());
    assert!(session.told(&last).text.contains("SESSION_THROTTLED"), "{}", story());
    assert!(!ran("refused-0") && !ran("refused-1"), "it ran although it was stopped\n{}", story());
    assert!(session.told("refused-1").text.contains("SESSION_STOPPED"), "{}", story());
    let resumed = world.read("/home/dev/resume.out");
    assert!(resumed.contains("goes on") && resumed.ends_with("\n0\n"), "{resumed}\n{}", story());
    assert!(ran("resumed-0") && ran("resumed-1"), "it does not go on\n{}", story());
    let events = scenarios::audit(&world);
    let stops = events.iter().filter(|event| event["action"] == "emergency_stop repeated_blocks");
    assert_eq!(stops.count(), 1, "{events:#?}");
    assert!(events.iter().any(|event| event["event"] == "notification_sent"), "{events:#?}");
    let report: serde_json::Value = serde_json::from_str(&world.read("/home/dev/told.json")).unwrap();
    assert_eq!(report["pattern"], "repeated_blocks", "{report}");
    let actions = report["log"].to_string();
    assert!(actions.contains("/home/dev/insists") && !actions.contains("/home/dev/slow"), "{report}");
    let refusal = &session.told("refused-1").text;
    assert!(refusal.contains("/home/dev/.local/state/lazaret/reports/stop-"), "{refusal}");
}

#[test]
fn sessions_of_claude_code_do_not_touch_each_other() {
    are_apart(Client::Claude);
}

#[test]
fn sessions_of_opencode_do_not_touch_each_other() {
    are_apart(Client::OpenCode);
}

/// One that is stopped and one that works on beside it; what both do would be a pattern if it were one session's.
fn are_apart(client: Client) {
    let world = World::new(client);
    world.offer_client();
    world.register();
    world.program("/home/dev/proj/check.sh", CHECK);
    let fails = |name: &str, n: usize| Step::call([client.shell(&format!("{name}-{n}"), "./check.sh")]);
    let mut wild = vec![fails("wild-fails", 0), fails("wild-fails", 1)];
    wild.extend(insisting(client, "wild", STOPPED));
    let audit = world.host(AUDIT);
    let stopped = move || {
        let begun = Instant::now();
        while !std::fs::read_to_string(&audit).unwrap_or_default().contains("emergency_stop") {
            assert!(begun.elapsed() < Duration::from_secs(120), "the other session was not stopped");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let touch = |n: usize| Step::call([client.shell(&format!("calm-{n}"), &format!("touch calm-{n}"))]);
    let mut calm = vec![fails("calm-fails", 0), fails("calm-fails", 1), touch(0).after(stopped)];
    // More than a session that is slowed down may make.
    calm.extend((1..12).map(touch));
    let ready = vec![Step::say("Ready.")];
    let script = Script::default().sub("[[ready]]", ready).sub("[[wild]]", wild).sub("[[calm]]", calm);
    let at_once = |line: String| format!("({}) &\n", line.trim_end());
    let commands = [
        // Two OpenCodes that make their database at once fail each other; only the first start makes it.
        line(client, "ready", "Be ready. [[ready]]", ""),
        at_once(line(client, "wild", "Go on. [[wild]]", "")),
        at_once(line(client, "calm", "Keep calm. [[calm]]", "")),
        "wait\nexit 0\n".to_owned(),
    ];
    let session = world.play_script(script, &commands.concat());
    for n in 0..12 {
        assert!(world.exists(&format!("/home/dev/proj/calm-{n}")), "calm-{n}\n{}", session.story());
    }
    for lane in ["[[wild]]", "[[calm]]"] {
        assert!(!session.heard(lane).contains("repetitive_errors"), "{lane}\n{}", session.story());
    }
    assert!(session.heard("[[wild]]").contains("resource_throttling"), "{}", session.story());
    assert!(!session.heard("[[calm]]").contains("repeated_blocks"), "{}", session.story());
}

/// What the person asks for in a session whose context is cut short.
const ASKED: &str = "Mend the heading of README.md";

/// What the model is told again after that.
fn is_reminded(heard: &str, asked: &str) -> bool {
    [
        "lazaret remembers of this session",
        &format!("the person asked: \"{asked}\""),
        "refused, so not to be tried again",
        "files.delete-home",
    ]
    .iter()
    .all(|words| heard.contains(words))
}

#[test]
fn claude_code_is_reminded_after_a_compaction() {
    let client = Client::Claude;
    let world = World::new(client);
    world.offer_client();
    world.register();
    // The summary is asked for like any answer, and what comes after it begins anew.
    let script = Script::main([
        Step::made(move |past: &Past| match is_reminded(&past.heard, ASKED) {
            false => Answer::Calls(vec![client.shell("gone", "rm -rf /home/dev/precious")]),
            true => Answer::Text("I know.".into()),
        }),
        Step::say("Nothing of it is left."),
    ]);
    let commands = [
        line(client, "first", ASKED, ""),
        format!("S=$(grep -m 1 precious {AUDIT} | grep -o '\"session\":\"[^\"]*' | cut -d'\"' -f4)\n"),
        line(client, "compact", "/compact", "--resume $S"),
        line(client, "again", "Go on.", "--resume $S"),
        "exit 0\n".to_owned(),
    ];
    let session = world.play_script(script, &commands.concat());
    let heard = session.heard(MAIN);
    assert!(heard.contains("This session is being continued"), "it was not compacted: {heard}");
    assert!(is_reminded(heard, ASKED), "{heard}\n{}", session.story());
}

#[test]
fn opencode_is_reminded_after_a_compaction() {
    let client = Client::OpenCode;
    let world = World::new(client);
    world.register();
    let session = world.play(Script::main([
        Step::call([client.shell("gone", "rm -rf /home/dev/precious")]).filling(195_000),
        Step::say("I know."),
    ]));
    let heard = session.heard(MAIN);
    assert!(heard.contains("What did we do so far?"), "it was not compacted: {heard}");
    assert!(is_reminded(heard, "Do what is to be done."), "{heard}");
}

#[test]
fn what_a_tool_of_opencode_throws_is_seen_too() {
    let client = Client::OpenCode;
    let world = World::new(client);
    world.register();
    let input = json!({"filePath": "/home/dev/proj/README.md", "oldString": "nowhere", "newString": "here"});
    let edit = |n: usize| Step::call([call(format!("edit-{n}"), "edit", input.clone())]);
    let session = world.play(Script::main([
        edit(0),
        edit(1),
        edit(2),
        Step::call([client.shell("next", "echo on")]).pausing(Duration::from_secs(1)),
    ]));
    let told = &session.told("next").text;
    assert!(told.contains("on") && told.contains("repetitive_errors"), "{told}\n{}", session.story());
}
