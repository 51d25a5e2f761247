//! How many calls, how many agents, how long; and that no key outlives a review.

use super::*;
use crate::model::{Answer, Script, Step};
use crate::scenarios;
use crate::wire::wire_id;
use lazaret::domain::ReviewId;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CROWD: [&str; 6] = ["[[first]]", "[[second]]", "[[third]]", "[[fourth]]", "[[fifth]]", "[[sixth]]"];
const LATE: &str = "[[late]]";
const ENDED: &str = "[[ended]]";
const LEFT_OPEN: &str = "[[left-open]]";
/// Calls of one quarantined agent in a window, and quarantined agents at once, as lazaret comes.
const MAX_CALLS: usize = 100;
const MAX_AGENTS: usize = 5;

#[test]
fn limits_and_ends_hold_with_claude_code() {
    limits_and_ends(Client::Claude);
}

#[test]
fn limits_and_ends_hold_with_opencode() {
    limits_and_ends(Client::OpenCode);
}

/// Six reviews at once, then three that end in three ways, then one that has ended.
fn script(client: Client, world: &Arc<World>) -> Script {
    let starts: Vec<_> = CROWD.iter().map(|marker| start(client, marker, "")).collect();
    let more = [(LATE, "--timeout 2"), (ENDED, ""), (LEFT_OPEN, "")];
    let main = vec![
        Step::call(starts.into_iter().chain(more.map(|(marker, more)| start(client, marker, more)))),
        Step::made(move |past| {
            let crowd = CROWD
                .iter()
                .map(|marker| hand_over(client, past, marker, &format!("spawn-{marker}"), REVIEWER));
            Answer::Calls(crowd.collect())
        }),
        Step::made(move |past| {
            let spawn = |marker| hand_over(client, past, marker, &format!("spawn-{marker}"), REVIEWER);
            Answer::Calls([LATE, ENDED, LEFT_OPEN].map(spawn).into())
        }),
        Step::made(move |past| {
            Answer::Calls(vec![hand_over(client, past, ENDED, "spawn-after-its-end", REVIEWER)])
        }),
    ];
    let mut script = Script::main(main);
    let inside = Arc::new(AtomicUsize::new(0));
    for marker in CROWD {
        script = script.sub(marker, one_of_the_crowd(client, marker, &inside));
    }
    script
        .sub(LATE, twice(client, LATE, || std::thread::sleep(Duration::from_millis(2500))))
        .sub(
            ENDED,
            twice(client, ENDED, {
                let world = Arc::clone(world);
                move || {
                    let id = session_of(&world, ENDED).id;
                    world.sh(&format!("lazaret review end {id}"));
                }
            }),
        )
        .sub(LEFT_OPEN, twice(client, LEFT_OPEN, || {}))
}

fn limits_and_ends(client: Client) {
    let world = Arc::new(world(client));
    // On a slow machine a hundred calls of a client take more than a minute: as many calls, in a longer window.
    world.sh("mkdir -p ~/.config/lazaret && printf '[quarantine]\nwindow_seconds = 3600\n' > ~/.config/lazaret/config.toml");
    let session = world.play(script(client, &world));
    let story = session.story();

    let told = |label: &str| session.told(label).text.as_str();
    let events = scenarios::audit(&world);
    let refused = |label: &str, code: &str, kind: &str| {
        assert!(told(label).contains(code), "{label}: {}\n{story}", told(label));
        let event = events.iter().find(|event| event["call_id"] == wire_id(label).as_str());
        assert_eq!(event.map(|event| &event["event"]), Some(&json!(kind)), "{label}: {event:?}");
    };
    // All six are started at the same moment: the one that comes last is refused, before it makes a call.
    let away: Vec<&str> = CROWD
        .into_iter()
        .filter(|marker| told(&format!("spawn-{marker}")).contains("CONCURRENT_AGENT_LIMIT"))
        .collect();
    assert!(away.len() == 1 && away[0] != CROWD[0], "{away:?}\n{story}");
    refused(&format!("spawn-{}", away[0]), "CONCURRENT_AGENT_LIMIT", "concurrent_agent_limit");
    for n in 1..MAX_CALLS {
        assert!(told(&format!("call-{n}")).contains("sealed: edited"), "call-{n}\n{story}");
    }
    refused("one-too-many", "RATE_LIMIT_EXCEEDED", "rate_limit_exceeded");
    for marker in CROWD.iter().filter(|marker| **marker != away[0]) {
        assert_eq!(handed_on(told(&format!("spawn-{marker}")))["riskLevel"], "none", "{marker}\n{story}");
    }

    match client {
        Client::Codex => panic!("no review is run with codex"),
        // Its agent is ended there and then: nobody is left to be told.
        Client::Claude => {
            let late = events.iter().find(|event| event["call_id"] == wire_id("again-[[late]]").as_str());
            let late = late.unwrap_or_else(|| panic!("the late call is not in the audit log\n{story}"));
            assert_eq!(
                (&late["event"], &late["reasons"][0]["rule"]),
                (&json!("quarantine_timeout"), &json!("QUARANTINE_TIMEOUT"))
            );
            assert!(!session.sent(LATE).contains("again-"), "the agent went on\n{story}");
        }
        Client::OpenCode => refused("again-[[late]]", "QUARANTINE_TIMEOUT", "quarantine_timeout"),
    }
    refused("again-[[ended]]", "SESSION_MISMATCH", "session_mismatch");
    assert!(told("again-[[left-open]]").contains(QUOTED), "{story}");
    for (marker, outcome) in [(LATE, "timed-out"), (ENDED, "asked")] {
        let failure = handed_on(told(&format!("spawn-{marker}")));
        assert_eq!(failure["lazaret"], "review failed", "{story}");
        assert!(failure["why"].as_str().unwrap().contains(outcome), "{failure}");
    }
    refused("spawn-after-its-end", "quarantine.no-session", "action_blocked");
    let ids = ["late", "ended", "left-open"].map(|name| {
        let started = handed_on(told(&format!("start-{name}")));
        ReviewId::parse(started["session"].as_str().unwrap()).unwrap()
    });
    has_ended(&world, client, &ids);
}

/// After the client's session: Claude Code says that it ended, OpenCode does not.
fn has_ended(world: &World, client: Client, [late, ended, left_open]: &[ReviewId; 3]) {
    let has_key = |id: &ReviewId| keys(world).iter().any(|file| file.contains(id.as_str()));
    assert_eq!([late, ended, left_open].map(has_key), [false, false, client == Client::OpenCode]);
    let why = || quarantine::load(&world.dirs(), left_open).unwrap().unwrap().ended.map(|ended| ended.why);
    let expected = match client {
        Client::Codex => panic!("no review is run with codex"),
        Client::Claude => Some(quarantine::Why::ClientEnded),
        Client::OpenCode => None,
    };
    assert_eq!(why(), expected);
    // What an agent never came into is no client's: the person ends it.
    world.sh("lazaret review end --all");
    assert!(why().is_some());
    assert_eq!(keys(world), Vec::<String>::new());
    let list: Value = serde_json::from_str(&world.sh("lazaret review list --json")).unwrap();
    let sessions = list["sessions"].as_array().unwrap();
    assert!(sessions.len() == 9 && sessions.iter().all(|session| session["state"] == "ended"), "{list}");
}

/// The first makes as many calls as it may and one more; all that were started work until there are as many as may.
fn one_of_the_crowd(client: Client, marker: &'static str, inside: &Arc<AtomicUsize>) -> Vec<Step> {
    let inside = Arc::clone(inside);
    let read = move |past: &Past, label: &str| client.read(label, &reference(&past.heard, "src/edited.txt"));
    let first = Step::made(move |past| Answer::Calls(vec![read(past, &format!("read-{marker}"))]));
    let end = || Step::say(report(&json!([])));
    let wait = move || {
        inside.fetch_add(1, Ordering::SeqCst);
        until("five agents", || inside.load(Ordering::SeqCst) >= MAX_AGENTS);
    };
    if marker != CROWD[0] {
        return vec![first, end().after(wait)];
    }
    let many = Step::made(move |past| {
        // With different ranges: Claude Code does not show the same lines again.
        let calls = (1..MAX_CALLS).map(|n| {
            let mut call = read(past, &format!("call-{n}"));
            call.input["limit"] = json!(n + 1);
            call
        });
        Answer::Calls(calls.collect())
    });
    let over = Step::made(move |past| Answer::Calls(vec![read(past, "one-too-many")]));
    vec![first, many.after(wait), over, end()]
}

/// Reads twice, with `between` between.
fn twice(client: Client, marker: &'static str, between: impl Fn() + Send + Sync + 'static) -> Vec<Step> {
    let read = move |past: &Past, what: &str, name: &str| {
        Answer::Calls(vec![client.read(&format!("{what}-{marker}"), &reference(&past.heard, name))])
    };
    vec![
        Step::made(move |past| read(past, "read", "src/edited.txt")),
        Step::made(move |past| read(past, "again", "src/parser.c")).after(between),
        Step::say(report(&json!([]))),
    ]
}
