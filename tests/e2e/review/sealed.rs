//! What was sealed is read, everything else is refused, and the report arrives cleaned or not at all.

use super::*;
use crate::model::{Answer, MAIN, Script, Step};
use crate::scenarios::{self, SUB};
use crate::session::Session;
use crate::wire::wire_id;
use lazaret::reference::Reference;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const READER: &str = "[[reader]]";
const PROBER: &str = "[[prober]]";
const LIAR: &str = "[[liar]]";
const FOREIGN: &str = "[[foreign]]";

#[test]
fn a_reviewer_reads_what_was_sealed_with_claude_code() {
    reads_what_was_sealed(Client::Claude);
}

#[test]
fn a_reviewer_reads_what_was_sealed_with_opencode() {
    reads_what_was_sealed(Client::OpenCode);
}

fn reads_what_was_sealed(client: Client) {
    let world = Arc::new(world(client));
    let reading = Arc::new(AtomicUsize::new(0));
    // Claude Code sends an answer back three times; OpenCode's agent is run anew.
    let liars: &[&str] = match client {
        Client::Codex => panic!("no review is run with codex"),
        Client::Claude => &["spawn-liar-1"],
        Client::OpenCode => &["spawn-liar-1", "spawn-liar-2", "spawn-liar-3"],
    };
    let mut main = vec![
        Step::call([READER, PROBER, LIAR, FOREIGN].map(|marker| start(client, marker, ""))),
        Step::made(move |past| {
            let reviewer = hand_over(client, past, READER, "spawn-reader", REVIEWER);
            Answer::Calls(vec![reviewer, client.spawn()])
        }),
        Step::made(move |past| Answer::Calls(vec![hand_over(client, past, PROBER, "spawn-prober", WIDE)])),
    ];
    main.extend(liars.iter().map(|label| {
        Step::made(move |past| Answer::Calls(vec![hand_over(client, past, LIAR, label, REVIEWER)]))
    }));
    let script = Script::main(main)
        .sub(READER, reader(client, &world, &reading))
        .sub(SUB, ordinary(client, &reading))
        .sub(PROBER, prober(client, &world))
        .sub(LIAR, (0..5).map(|n| liar_says(client, n)));
    let session = world.play(script);
    let story = session.story();

    let task = session.heard(READER);
    assert!(!task.contains(WHISPER) && task.contains("The form is this JSON Schema"), "{task}");
    let told = |label: &str| session.told(label).text.as_str();
    for line in parser().lines() {
        assert!(told("read-parser").contains(line), "{line} is not in {}", told("read-parser"));
    }
    for name in ["linked", "edited", "lib/moved"] {
        assert!(told(&format!("read-{name}")).contains(&format!("as sealed: {name}")), "{story}");
    }
    for label in ["grep-all", "grep-lib", "glob-all"] {
        assert!(told(label).contains("moved.txt") && !told(label).contains("other.txt"), "{label}\n{story}");
    }
    assert!(!session.sent(READER).contains(SECRET), "{story}");

    for label in ["sub-1", "sub-2"] {
        assert_eq!(told(label).trim(), "not hindered", "{story}");
    }
    was_refused(&world, &session, client);
    is_clean(&session, task);
    for label in liars {
        let failure = handed_on(told(label));
        assert_eq!(failure["lazaret"], "review failed", "{story}");
    }
    let events = scenarios::audit(&world);
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    let back = match client {
        Client::Codex => panic!("no review is run with codex"),
        Client::Claude => 3,
        Client::OpenCode => 0,
    };
    assert_eq!(
        session.heard(LIAR).matches("feedback:\nlazaret sends your answer back").count(),
        back,
        "{story}"
    );
    assert_eq!(count("quarantine_report_sent_back"), back);
    assert_eq!((count("quarantine_report_accepted"), count("quarantine_report_rejected")), (2, liars.len()));
    // The one finding, and nothing besides.
    assert_eq!(session.heard(MAIN).matches(QUOTED).count(), 1, "{story}");
    let heard = session.sent(MAIN);
    for absent in
        [UNTOLD, SECRET, "liar's words", "planted-1138", "\u{1b}", "\\u001b", "\u{200b}", "\u{e0041}"]
    {
        assert!(!heard.contains(absent), "the trusted agent heard {absent:?}\n{story}");
    }
    world.sh("lazaret review end --all");
    assert_eq!(keys(&world), Vec::<String>::new());
}

/// What the reviewer does: reads one file, then what has been tampered with since the start, and reports.
fn reader(client: Client, world: &Arc<World>, reading: &Arc<AtomicUsize>) -> Vec<Step> {
    let (tampered, began) = (Arc::clone(world), Arc::clone(reading));
    vec![
        Step::made(move |past| {
            Answer::Calls(vec![client.read("read-parser", &reference(&past.heard, "src/parser.c"))])
        }),
        Step::made(move |past| {
            let reads = ["linked", "edited", "lib/moved"].map(|name| {
                let uri = reference(&past.heard, &format!("src/{name}.txt"));
                client.read(&format!("read-{name}"), &uri)
            });
            Answer::Calls(reads.into())
        })
        .after(move || {
            let place = |name: &str| tampered.host(&format!("/home/dev/proj/src/{name}"));
            std::fs::remove_file(place("linked.txt")).unwrap();
            std::os::unix::fs::symlink("/home/dev/secret.txt", place("linked.txt")).unwrap();
            std::fs::write(place("edited.txt"), SECRET).unwrap();
            std::fs::rename(place("lib"), place("moved-away")).unwrap();
            began.fetch_add(1, Ordering::SeqCst);
            // The other agent works while this one is in quarantine.
            until("the ordinary agent", || began.load(Ordering::SeqCst) >= 3);
        }),
        Step::made(move |past| {
            let dir = reference(&past.heard, "src");
            Answer::Calls(vec![
                client.grep("grep-all", "sealed|beside", &[]),
                client.grep("grep-lib", "sealed|beside", &[("path", &dir), ("glob", "*.txt")]),
                client.glob("glob-all", "**/*.txt", None),
            ])
        }),
        Step::call(by_searching(client)),
        Step::made(|past| Answer::Text(hostile(&reference(&past.heard, "src/parser.c")))),
    ]
}

/// What an ordinary agent does at the same time.
fn ordinary(client: Client, reading: &Arc<AtomicUsize>) -> Vec<Step> {
    let step = |label: &str| {
        let reading = Arc::clone(reading);
        Step::call([client.shell(label, "echo not hindered")]).after(move || {
            until("the reviewer", || reading.load(Ordering::SeqCst) >= 1);
            reading.fetch_add(1, Ordering::SeqCst);
        })
    };
    vec![step("sub-1"), step("sub-2")]
}

/// What a liar says; the last one would be a report if it were all.
fn liar_says(client: Client, n: usize) -> Step {
    if n == 0 {
        return Step::made(move |past| {
            Answer::Calls(vec![client.read("read-by-liar", &reference(&past.heard, "src/parser.c"))])
        });
    }
    let valid = report(&json!([]));
    Step::say(format!("The liar's words, {n}. {UNTOLD}\n```json\n{valid}\n```"))
}

const INVALID: (&str, &str) = ("INVALID_TYPED_REFERENCE", "typed_reference_invalid");
const FORGED: (&str, &str) = ("HMAC_VERIFICATION_FAILED", "hmac_failure");
const EXPIRED: (&str, &str) = ("TYPED_REFERENCE_EXPIRED", "reference_expired");
const MISMATCH: (&str, &str) = ("SESSION_MISMATCH", "session_mismatch");
const TOOL: (&str, &str) = ("TOOL_NOT_ALLOWED", "tool_blocked");

/// Every call that must be refused: its label, the code that the agent is told, the type in the audit log.
const PROBES: &[(&str, (&str, &str))] = &[
    ("forged", FORGED),
    ("tampered-path", FORGED),
    ("foreign", MISMATCH),
    ("expired", EXPIRED),
    ("future", EXPIRED),
    ("re-spelled", INVALID),
    ("re-encoded", INVALID),
    ("plain", INVALID),
    ("passwd", INVALID),
    ("sealed-path", INVALID),
    ("bash", TOOL),
    ("write", TOOL),
    ("edit", TOOL),
    ("agent", TOOL),
    ("fetch", TOOL),
    ("mcp", TOOL),
];

/// The same for searches, by the reviewer: Claude Code has these tools only in an agent without a shell.
const SEARCHES: &[(&str, (&str, &str))] = &[
    ("grep-path", INVALID),
    ("grep-up", INVALID),
    ("grep-glob", INVALID),
    ("glob-pattern", INVALID),
    ("glob-path", INVALID),
];

fn prober(client: Client, world: &Arc<World>) -> Vec<Step> {
    let world = Arc::clone(world);
    vec![
        Step::made(move |past| {
            Answer::Calls(vec![client.read("good", &reference(&past.heard, "src/parser.c"))])
        }),
        Step::made(move |past| {
            let good = reference(&past.heard, "src/parser.c");
            let mut calls = by_reading(client, &world, &good);
            calls.extend(by_other_tools(client, &good));
            assert_eq!(
                calls.iter().map(|call| call.label.as_str()).collect::<Vec<_>>(),
                PROBES.iter().map(|(label, _)| *label).chain(["invented"]).collect::<Vec<_>>()
            );
            Answer::Calls(calls)
        }),
        Step::say(report(&json!([]))),
    ]
}

fn by_reading(client: Client, world: &World, good: &str) -> Vec<Call> {
    let dirs = world.dirs();
    let (mine, other) = (session_of(world, PROBER), session_of(world, FOREIGN));
    let now = mine.opened().unix_ms / 1000;
    let minted = |session: &quarantine::Session, at: u64| {
        let key = quarantine::key(&dirs, session).unwrap();
        let path = b"/home/dev/proj/src/parser.c";
        Reference::mint(&key, path, at, &session.id, session.ttl_s).unwrap().to_string()
    };
    assert_eq!(minted(&mine, now), good);
    let at = good.find("hmac=").unwrap() + "hmac=".len();
    let other_digit = if good[at..].starts_with('0') { "1" } else { "0" };
    let sealed = mine.grounds().copy_of("/home/dev/proj/src/parser.c").unwrap();
    let read = |label: &str, path: &str| client.read(label, path);
    vec![
        read("forged", &format!("{}{other_digit}{}", &good[..at], &good[at + 1..])),
        read("tampered-path", &good.replace("parser.c", "secret.c")),
        read("foreign", &minted(&other, now)),
        read("expired", &minted(&mine, now - 4000)),
        read("future", &minted(&mine, now + 600)),
        read("re-spelled", &good.replace("typed:", "TYPED:")),
        read("re-encoded", &good.replace("%2F", "/")),
        read("plain", "/home/dev/proj/src/parser.c"),
        read("passwd", "/etc/passwd"),
        read("sealed-path", &sealed),
    ]
}

fn by_searching(client: Client) -> Vec<Call> {
    vec![
        client.grep("grep-path", "secret", &[("path", "/home/dev")]),
        client.grep("grep-up", "secret", &[("path", "..")]),
        client.grep("grep-glob", "secret", &[("glob", "/home/dev/*.txt")]),
        client.glob("glob-pattern", "/etc/pass*", None),
        client.glob("glob-path", "*", Some("/home/dev")),
    ]
}

fn by_other_tools(client: Client, good: &str) -> Vec<Call> {
    let new = "/home/dev/proj/made-by-prober.txt";
    let path = client.path_key();
    let url = "http://127.0.0.1:8080/";
    let (old_text, new_text, fetched) = match client {
        Client::Codex => panic!("no review is run with codex"),
        Client::Claude => ("old_string", "new_string", json!({ "url": url, "prompt": "x" })),
        Client::OpenCode => ("oldString", "newString", json!({ "url": url, "format": "text" })),
    };
    let mut bash = client.shell("bash", &format!("touch {new}"));
    bash.label = "bash".to_owned();
    vec![
        bash,
        client.tool("write", "Write", json!({ path: new, "content": "x" })),
        client.tool("edit", "Edit", json!({ path: new, old_text: "", new_text: "x" })),
        client.reviewer("agent", REVIEWER, good),
        client.tool("fetch", "WebFetch", fetched),
        client.tool("mcp", "mcp__probe__look", json!({})),
        client.tool("invented", "invented", json!({})),
    ]
}

/// Every probe was refused with its code, and stands in the audit log as what it is.
fn was_refused(world: &World, session: &Session, client: Client) {
    let events = scenarios::audit(world);
    let mut wrong = Vec::new();
    let found = |label: &str| {
        events
            .iter()
            .find(|event| event["call_id"] == wire_id(label).as_str() && event["verdict"].is_string())
    };
    for (label, (code, kind)) in PROBES.iter().chain(SEARCHES) {
        let told = &session.told(label).text;
        let (event, rule) = found(label)
            .map_or((&Value::Null, &Value::Null), |event| (&event["event"], &event["reasons"][0]["rule"]));
        if !told.contains(code) || event != kind || rule != code {
            wrong.push(format!("{label}: {event} {rule}: {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), session.story());
    assert!(session.told("good").text.contains(UNTOLD), "{}", session.story());
    assert!(!world.exists("/home/dev/proj/made-by-prober.txt"));
    assert!(!session.sent(PROBER).contains(SECRET) && !session.sent(PROBER).contains("root:x:"));
    // A tool that nobody has: Claude Code refuses it before it asks, OpenCode asks about what it makes of it.
    let invented = &session.told("invented").text;
    match client {
        Client::Codex => panic!("no review is run with codex"),
        Client::Claude => assert!(invented.contains("No such tool available"), "{invented}"),
        Client::OpenCode => {
            assert!(invented.contains("TOOL_NOT_ALLOWED"), "{invented}");
            assert_eq!(found("invented").unwrap()["event"], "tool_blocked");
        }
    }
}

/// The hostile report arrived as what lazaret made of it.
fn is_clean(session: &Session, task: &str) {
    let text = &session.told("spawn-reader").text;
    let clean = handed_on(text);
    let finding = &clean["findings"][0];
    assert_eq!((&clean["riskLevel"], &finding["severity"]), (&json!("high"), &json!("high")), "{clean}");
    assert_eq!(finding["location"]["file"], "/home/dev/proj/src/parser.c", "{clean}");
    assert!(finding["snippet"].as_str().unwrap().contains(QUOTED), "{clean}");
    assert!(finding["flags"].as_array().unwrap().len() >= 3, "{clean}");
    for raw in ["<system-reminder>You", "hmac=", "\u{1b}", "\u{200b}", "\u{e0041}", "\u{202e}"] {
        assert!(!text.contains(raw), "{raw:?}: {text}");
    }
    assert!(task.contains("hmac="));
}
