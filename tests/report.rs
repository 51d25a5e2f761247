//! `lazaret report` as a person runs it, over sessions that the real hook saw.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod common;

use std::fs;

use common::World;
use lazaret::domain::{
    AuditEvent, AuditPolicy, Client, Decision, EventKind, LogLevel, Reason, SessionId, Severity, Subject,
    Verdict,
};
use lazaret::host::audit::{append, dir};
use lazaret::host::clock::Now;
use serde_json::json;

/// A token that the log redacts.
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// A prompt, a file changed by it, a call that is stopped, one that asks and is offered under a code.
fn lived() -> World {
    let world = World::new();
    world.event("SessionStart", &json!({"source": "startup"}));
    world.event("UserPromptSubmit", &json!({"prompt": "tidy up"}));
    assert!(world.bash("ls -la").is_pass());
    let file = world.project().join("src/main.rs");
    let content = format!("fn main() {{\n    tidy(\"{SECRET}\");\n}}\n");
    let input = json!({"file_path": file, "content": content});
    assert!(world.tool("Write", &input).is_pass());
    fs::write(&file, &content).unwrap();
    world.event(
        "PostToolUse",
        &json!({"tool_name": "Write", "tool_input": input, "tool_use_id": "t", "tool_response": {}}),
    );
    world.event("UserPromptSubmit", &json!({"prompt": "go on"}));
    assert!(world.bash("git push --force origin main").is_block());
    assert!(world.bash("git push --force origin main").is_block());
    // A mode in which no person can be asked: the question becomes a code.
    let mut asks = world.message("Bash", &json!({"command": "git branch -D topic"}));
    asks["permission_mode"] = json!("bypassPermissions");
    assert!(world.hook("claude-code", asks.to_string().as_bytes()).is_block());
    world
}

/// The page that is printed.
fn page(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.run(&[&["report", "--output", "-"], args].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

/// The part of a page from this heading to the next.
fn part<'p>(page: &'p str, id: &str) -> &'p str {
    let begin = page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}"));
    page[begin..].split("</section>").next().unwrap()
}

#[test]
fn it_tells_what_was_stopped_and_why_and_the_way_out() {
    let world = lived();
    let page = page(&world, &[]);
    let stops = part(&page, "stops");
    for said in [
        "a forced push to a protected branch rewrites what everybody builds on",
        "git.push-force-protected, high",
        "git push --force origin main",
        // The same twice is one entry.
        ", 2 times",
        "instead: push to a branch of your own",
        "lazaret except git.push-force-protected --here --command &#39;git push --force origin main&#39;",
        "lazaret rules explain ",
        "lazaret feedback ",
    ] {
        assert!(stops.contains(said), "{said}: {stops}");
    }
    assert_eq!(stops.matches("<article").count(), 2, "{stops}");
    // What it was judged by is asked of the first program.
    let judged = stops.split("What it was judged by").nth(1).unwrap();
    assert!(judged.contains("<code>git push --force origin main</code>"), "{judged}");
}

#[test]
fn a_code_is_shown_while_it_is_open_and_not_afterwards() {
    let world = lived();
    let offered = world.audit().into_iter().find_map(|event| {
        let reasons = event["reasons"].as_array()?.clone();
        let offer = reasons.into_iter().find(|reason| reason["rule"] == "permission.offered")?;
        Some(offer["message"].as_str()?.rsplit(' ').next()?.to_owned())
    });
    let code = format!("lazaret allow {}", offered.expect("a code was offered"));
    assert!(page(&world, &[]).contains(&code));
    let (exit, said) = world.at_terminal(&code.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(exit, 0, "{said}");
    assert!(!page(&world, &[]).contains(&code));
}

#[test]
fn prompts_are_chapters_and_files_have_their_differences_without_secrets() {
    let world = lived();
    let page = page(&world, &["--session", "s"]);
    let calls = part(&page, "calls");
    assert!(calls.contains("Prompt 1") && calls.contains("Prompt 2") && calls.contains("ls -la"), "{calls}");
    let files = part(&page, "files");
    assert!(
        files.contains("src/main.rs") && files.contains("- fn main() {}") && files.contains("+ fn main() {"),
        "{files}"
    );
    assert!(files.contains("[redacted:") && !page.contains(SECRET), "{files}");
    let undo = part(&page, "undo");
    let id = undo.split("lazaret rollback ").nth(1).unwrap().split('<').next().unwrap();
    let (code, out, err) = world.run(&["rollback", id]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(fs::read_to_string(world.project().join("src/main.rs")).unwrap(), "fn main() {}\n");
    assert!(!self::page(&world, &[]).contains(&format!("lazaret rollback {id}")));
}

#[test]
fn a_log_that_was_changed_is_said_to_be() {
    let world = lived();
    assert!(page(&world, &[]).contains("It verifies:"));
    let log = world.state().join("audit/audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("ls -la", "ls -lA", 1)).unwrap();
    let page = page(&world, &[]);
    assert!(page.contains("It does not verify:") && page.contains("does not verify: changed"), "{page}");
}

#[test]
fn it_runs_nothing_and_loads_nothing() {
    let page = page(&lived(), &[]);
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        assert!(
            !["script", "iframe", "object", "embed", "link", "base", "form", "img"].contains(&name),
            "<{tag}>"
        );
        for (attribute, value) in
            tag.split('"').collect::<Vec<_>>().chunks_exact(2).map(|pair| (pair[0], pair[1]))
        {
            let attribute = attribute.trim().trim_end_matches('=').rsplit(' ').next().unwrap();
            assert!(
                !attribute.starts_with("on") && !["src", "style", "srcset"].contains(&attribute),
                "<{tag}>"
            );
            assert!(attribute != "href" || value.starts_with('#'), "<{tag}>");
        }
    }
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
}

#[test]
fn files_are_new_and_for_their_owner_and_errors_name_what_is_wrong() {
    use std::os::unix::fs::PermissionsExt;
    let world = lived();
    let (code, out, err) = world.run(&["report"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let path = std::path::Path::new(out.trim());
    assert!(path.starts_with(world.project().canonicalize().unwrap()), "{out}");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let name = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    for (args, said) in [
        (&["report", "--output", name][..], "exists"),
        (&["report", "--session", "none"], "no call of session none"),
        (&["report", "--since", "yesterday"], "--since yesterday"),
        (&["report", "--since", "2126-01-01"], "no call since 2126-01-01"),
        (&["report", "--output", "-", "--open"], "--open shows a file"),
    ] {
        let (code, _, err) = world.run(args);
        assert!(code == 1 && err.contains(said), "{args:?}: {code} {err}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
    let (code, _, err) = World::new().run(&["report"]);
    assert!(code == 1 && err.contains("no call yet"), "{err}");
}

#[test]
fn several_sessions_are_told_together() {
    let world = lived();
    let mut message = world.message("Bash", &json!({"command": "ls"}));
    message["session_id"] = json!("other");
    assert!(world.hook("claude-code", message.to_string().as_bytes()).is_pass());
    let newest = page(&world, &[]);
    assert!(newest.contains("session <code>other</code>") && !newest.contains("session <code>s</code>"));
    let both = page(&world, &["--since", "1h"]);
    assert!(both.contains("session <code>other</code>") && both.contains("session <code>s</code>"));
}

/// What is of no session stands on the page beside the session at whose time it happened.
#[test]
fn what_people_said_is_told_beside_the_session() {
    let world = lived();
    let stopped = world.audit().into_iter().find(|event| event["event"] == "action_blocked").unwrap();
    let id = stopped["id"].as_str().unwrap();
    let (code, _, err) = world.run(&["feedback", id, "fp", "--note", "it was a branch of mine"]);
    assert_eq!(code, 0, "{err}");
    let page = page(&world, &["--session", "s"]);
    let apart = part(&page, "apart");
    assert!(apart.contains("feedback") && apart.contains("it was a branch of mine"), "{apart}");
    let (code, out, _) = world.run(&["report", "--output", "-", "--since", "2126-01-01"]);
    assert!(code == 1 && out.is_empty());
}

/// With a time to begin with, prompts keep the numbers that they have in their session.
#[test]
fn prompts_keep_their_numbers() {
    let world = lived();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let since = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
    assert!(world.bash("ls src").is_pass());
    world.event("UserPromptSubmit", &json!({"prompt": "and now this"}));
    assert!(world.bash("ls -l src").is_pass());
    let page = page(&world, &["--since", &since]);
    let calls = part(&page, "calls");
    assert!(calls.contains("Prompt 2</h3> <span class=\"soft\">begun before; 1 call<"), "{calls}");
    assert!(
        calls.contains("Prompt 3") && !calls.contains("Prompt 1") && !calls.contains("ls -la"),
        "{calls}"
    );
}

/// A line that somebody put into the log is not what is told when nothing is asked for.
#[test]
fn a_forged_session_is_not_the_newest_one() {
    let world = lived();
    let log = world.state().join("audit/audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let line = text.lines().rfind(|line| line.contains("\"action_allowed\"")).unwrap();
    let forged = line.replace("\"session\":\"s\"", "\"session\":\"forged\"");
    assert_ne!(forged, line);
    fs::write(&log, format!("{text}{forged}\n")).unwrap();
    let newest = page(&world, &[]);
    assert!(newest.contains("session <code>s</code>") && !newest.contains("<code>forged</code>"));
    assert!(page(&world, &["--session", "forged"]).contains("none of its calls verifies"));
}

/// What cannot be read is said, not left out.
#[test]
fn damaged_checkpoints_and_lost_contents_are_named() {
    let world = lived();
    let made = world.state().join("checkpoints/made");
    fs::write(made.join("019ab3c4-0000-7000-8000-000000000000.json"), "{").unwrap();
    assert!(part(&page(&world, &[]), "undo").contains("1 checkpoint of this machine cannot be read"));
    fs::remove_dir_all(world.state().join("checkpoints/objects")).unwrap();
    let page = page(&world, &[]);
    assert!(part(&page, "files").contains("whose saved content is missing"), "{}", part(&page, "files"));
}

/// Ten thousand calls, a tenth of them stopped: the page stays below 5 MB, and every stop is on it.
#[test]
fn ten_thousand_calls_fit_on_a_page() {
    let world = World::new();
    let policy = AuditPolicy {
        enabled: true,
        log_level: LogLevel::Info,
        mask_pii: false,
        retain_days: 30,
        max_bytes: 1 << 30,
    };
    let session = SessionId::new("long").unwrap();
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let mut reason = Reason::new(
        "git.reset-hard",
        Verdict::Block,
        Severity::High,
        "throws away every uncommitted change in the work tree".into(),
    );
    reason.matched = "git reset --hard".into();
    let blocked = Decision::new(vec![reason], None, false);
    let calm = Decision::new(Vec::new(), None, false);
    for number in 0..10_000_u64 {
        let now = Now { unix_ms: 1_763_700_000_000 + number * 1_700, boot_ms: 1 };
        let stopped = number % 10 == 0;
        let action =
            format!("cargo test --package part-{number} -- --nocapture --test-threads 2 && echo {number}");
        let event = AuditEvent {
            kind: if stopped { EventKind::ActionBlocked } else { EventKind::ActionAllowed },
            subject: Some(&subject),
            cwd: "/home/dev/proj",
            tool: ["Bash", "Read", "Edit"][usize::try_from(number % 3).unwrap()],
            action: &action,
            call_id: None,
            decision: Some(if stopped { &blocked } else { &calm }),
            note: "",
            duration_us: 900 + number % 1000,
        };
        append(&dir(&world.state()), &policy, now, &event).unwrap();
    }
    let page = page(&world, &[]);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("<tr class=\"stopped\"").count(), 1000);
}
