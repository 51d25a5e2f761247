//! `lazaret review run` with the clients.

use super::*;
use crate::model::{Answer, Script, Step};

#[test]
fn a_whole_review_in_one_command_with_claude_code() {
    whole_review(Client::Claude);
}

#[test]
fn a_whole_review_in_one_command_with_opencode() {
    whole_review(Client::OpenCode);
}

fn whole_review(client: Client) {
    let world = world(client);
    world.offer_client();
    let registered = client.registered_as();
    let run = |marker: &str, more: &str| {
        format!(
            "lazaret review run --client {registered} --json --instructions '[[{marker}]]' {more} src \
                 > ../{marker}.out 2> ../{marker}.err; echo $? > ../{marker}.code\n"
        )
    };
    // One of the two keeps its keys in the keyring, where the kernel lets it.
    let keyring = client == Client::Claude && quarantine::probe_own().is_ok();
    let kept = if keyring { "export LAZARET_KEYS=keyring\n" } else { "" };
    let name = "$(printf %s \"$XDG_RUNTIME_DIR/lazaret/review\" | sha256sum | cut -c 1-16)";
    let held = format!("grep -c lazaret:review:{name} /proc/keys >> ../held.out || true\n");
    let keeps =
        format!("{held}lazaret review start src > /dev/null\n{held}lazaret review end --all > /dev/null\n");
    let runs = format!("ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c {}", client.inside());
    let seen = format!("{{ until {runs} > ../seen.out; do sleep 0.1; done; }} &\n");
    let look = format!("{held}{runs} > ../left.out\nexit 0\n");
    let commands = [run("clean", ""), run("bad", ""), run("prose", ""), run("slow", "--timeout 6")].concat();
    let session = world.play_script(script(client), &format!("{kept}{keeps}{seen}{commands}{look}"));
    let story = |marker: &str| {
        let text = |end: &str| world.read(&format!("/home/dev/{marker}.{end}"));
        format!("{}\n{}\n{}\n{}", text("code"), text("out"), text("err"), session.story())
    };
    for (marker, code) in [("clean", "0"), ("bad", "2"), ("prose", "1"), ("slow", "1")] {
        assert_eq!(
            world.read(&format!("/home/dev/{marker}.code")).trim(),
            code,
            "{marker}: {}",
            story(marker)
        );
        assert!(!story(marker).contains(SECRET), "{marker}: {}", story(marker));
        if marker != "slow" {
            let told = |what: &str| session.told(&format!("{what}-{marker}")).text.as_str();
            assert!(told("read").contains(UNTOLD) && told("grep").contains("moved.txt"), "{}", story(marker));
            assert!(told("plain").contains("INVALID_TYPED_REFERENCE"), "{}", story(marker));
        }
        for end in ["out", "err"] {
            assert!(!world.read(&format!("/home/dev/{marker}.{end}")).contains(UNTOLD), "{}", story(marker));
        }
    }
    let bad: Value = serde_json::from_str(&world.read("/home/dev/bad.out")).unwrap();
    assert!(
        bad.to_string().contains(QUOTED) && bad.to_string().contains("/home/dev/proj/src/parser.c"),
        "{bad}"
    );
    assert!(world.read("/home/dev/slow.err").contains("not done in 6 s"), "{}", story("slow"));
    let count = |file: &str| -> Vec<usize> {
        world.read(&format!("/home/dev/{file}.out")).lines().map(|line| line.parse().unwrap()).collect()
    };
    assert!(count("seen")[0] > 0, "the client was not seen at work");
    assert_eq!(count("left"), [0], "the client runs on");
    assert_eq!(count("held"), [0, usize::from(keyring), 0], "keys in the keyring");
    assert_eq!(keys(&world), Vec::<String>::new());
}

/// What the model says in each of the reviews.
pub(super) fn script(client: Client) -> Script {
    let lane = |marker: &'static str, answer: Step| {
        let calls = Step::made(move |past| {
            let uri = reference(&past.heard, "src/parser.c");
            let plain = client.read(&format!("plain-{marker}"), "/home/dev/secret.txt");
            Answer::Calls(vec![
                client.read(&format!("read-{marker}"), &uri),
                plain,
                client.grep(&format!("grep-{marker}"), "sealed", &[]),
            ])
        });
        [calls, answer]
    };
    Script::default()
        .sub("[[clean]]", lane("clean", Step::say(report(&json!([])))))
        .sub(
            "[[bad]]",
            lane("bad", Step::made(|past| Answer::Text(hostile(&reference(&past.heard, "src/parser.c"))))),
        )
        .sub("[[prose]]", lane("prose", Step::say(format!("All is well. {UNTOLD}"))))
        .sub("[[slow]]", lane("slow", Step::say("{}").pausing(Duration::from_secs(8))))
}
