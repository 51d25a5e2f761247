//! Pages in a real browser: nothing in them runs or is loaded, whatever agents wrote, the layout holds, and people who do not see them
//! can use them. The browser is Debian's Chromium; what drives it comes from npm.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "browser/mod.rs"]
mod browser;
mod common;

use std::fs;

use browser::{assert_fine, look};
use common::World;
use serde_json::{Value, json};

/// How a text leaves the place that it is in.
const OPENERS: [&str; 16] = [
    "",
    "\">",
    "'>",
    "</pre>",
    "</code>",
    "</td></tr></table>",
    "</style>",
    "</title></head><body>",
    "--><!--",
    "]]>",
    "</svg>",
    "</details></main>",
    "&lt;",
    "\u{0}</p>",
    "`${",
    "\u{202e}",
];
/// What it would do there.
const PAYLOADS: [&str; 13] = [
    "<script>window.hit=true;alert(1)</script>",
    "<img src=x onerror='window.hit=true;alert(1)'>",
    "<svg onload=\"window.hit=true\"><animate onbegin=alert(1) attributeName=x dur=1s></svg>",
    "<a href=\"javascript:alert(1)\" autofocus onfocus=alert(1)>stopped</a>",
    "<style>body{display:none}.stop{position:fixed;inset:0}</style>",
    "<iframe srcdoc=\"<script>parent.hit=true</script>\"></iframe>",
    "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:9/\">",
    "<base href=http://127.0.0.1:9/><link rel=stylesheet href=x.css>",
    "<form action=http://127.0.0.1:9/><input autofocus onfocus=alert(1)></form>",
    "<table><tr class=\"allowed\"><td>allowed<h1>All is well</h1>",
    "<details open ontoggle=alert(1)><object data=http://127.0.0.1:9/></object>",
    "\u{202e}dewolla\u{2066} \u{200b}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
];
/// What the browser found on the newest report of this machine.
fn look_at(world: &World, name: &str) -> Value {
    let page = world.home().join("page.html");
    let (code, _, err) = world.run(&["report", "--output", page.to_str().unwrap()]);
    assert_eq!((code, err.as_str()), (0, ""));
    let home = world.home().join("browser");
    fs::create_dir(&home).unwrap();
    look(&page, &home, name)
}

/// Each hostile text in a command that is stopped, and by turns in one that is allowed, in a file's name and content, in the name of a
/// tool, a prompt or an agent.
#[test]
fn nothing_of_two_hundred_hostile_texts_runs_or_breaks_the_page() {
    let world = World::new();
    let texts: Vec<String> =
        OPENERS.iter().flat_map(|open| PAYLOADS.iter().map(move |does| format!("{open}{does}"))).collect();
    assert!(texts.len() >= 200);
    for (at, text) in texts.iter().enumerate() {
        world.bash(&format!("git push --force origin main # {text}"));
        match at % 5 {
            0 => drop(world.bash(&format!("echo {}", lazaret::domain::single_quoted(text)))),
            1 => drop(world.tool(&format!("mcp__x__{text}"), &json!({"text": text}))),
            2 => {
                drop(world.tool("Read", &json!({"file_path": world.project().join(text.replace('\0', ""))})))
            }
            3 => world.event("UserPromptSubmit", &json!({"prompt": text})),
            _ => {
                let name: String = text.chars().filter(|c| *c != '/' && *c != '\0').take(60).collect();
                let file = world.project().join(name);
                let input = json!({"file_path": file, "content": text});
                world.tool("Write", &input);
                fs::write(&file, text).unwrap();
                let call = json!({"tool_name": "Write", "tool_input": input, "tool_use_id": "t", "tool_response": {}});
                world.event("PostToolUse", &call);
            }
        }
    }
    assert_fine(&look_at(&world, "hostile"));
}

/// The same looks, at a page on which all parts have something.
#[test]
fn an_ordinary_page_can_be_used_by_all() {
    let world = World::new();
    world.event("SessionStart", &json!({"source": "startup"}));
    world.event("UserPromptSubmit", &json!({"prompt": "tidy up"}));
    let file = world.project().join("src/main.rs");
    let input = json!({"file_path": file, "content": "fn main() {\n    tidy();\n}\n"});
    world.tool("Write", &input);
    fs::write(&file, "fn main() {\n    tidy();\n}\n").unwrap();
    world.event(
        "PostToolUse",
        &json!({"tool_name": "Write", "tool_input": input, "tool_use_id": "t", "tool_response": {}}),
    );
    for command in [
        "ls -la",
        "cargo test",
        "git push --force origin main",
        "git branch -D topic",
        "rm -rf node_modules",
        "git reset --hard",
    ] {
        world.bash(command);
    }
    assert_fine(&look_at(&world, "ordinary"));
}

/// The look itself: what it must report on a page that does what no report does.
#[test]
fn the_look_finds_what_is_wrong() {
    let world = World::new();
    let page = world.home().join("bad.html");
    let bad = "<!DOCTYPE html><title>x</title><div style=\"width:9000px\">wide</div><script>alert(1)</script><img src=http://127.0.0.1:9/x>";
    fs::write(&page, bad).unwrap();
    let home = world.home().join("browser");
    fs::create_dir(&home).unwrap();
    let found = look(&page, &home, "bad");
    assert!(found["ran"].as_array().unwrap().iter().any(|ran| ran == "wide: alert"), "{found}");
    assert!(
        !found["asked"].as_array().unwrap().is_empty() && found["layout"][1]["wide"].as_i64().unwrap() > 0,
        "{found}"
    );
    assert!(
        found["axe"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["impact"] == "critical" || one["impact"] == "serious"),
        "{found}"
    );
    assert!(found["elements"].as_array().unwrap().contains(&json!("script")), "{found}");
}

/// The terminal view on a real terminal, with a question that is open and a session that was stopped.
#[test]
fn the_terminal_view_is_pictured() {
    let world = World::new();
    let call = |session: &str, command: &str| {
        let mut message = world.message("Bash", &json!({ "command": command }));
        message["session_id"] = json!(session);
        message["permission_mode"] = json!("bypassPermissions");
        world.hook("claude-code", message.to_string().as_bytes())
    };
    for command in [
        "git status --short",
        "cargo test",
        "git push --force origin main",
        "git commit -am 'Fix the parser'",
    ] {
        call("5d1c0f9e-2b7a-4f0e-9a53-1f2e3d4c5b6a", command);
    }
    call("0b7e4a91-77c2-4f53-8d1e-6a5c9f2b3e10", "npm test");
    let asked = call("0b7e4a91-77c2-4f53-8d1e-6a5c9f2b3e10", "git branch -D topic");
    let code = asked.stderr.split("lazaret allow ").nth(1).unwrap().split_whitespace().next().unwrap();
    let socket = world.home().join("tmux");
    let tmux = |words: &[&str]| {
        let mut tmux = std::process::Command::new("tmux");
        tmux.arg("-S").arg(&socket).args(["-f", "/dev/null"]).args(words);
        tmux.env_clear()
            .env("HOME", world.home())
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color");
        let done = tmux.current_dir(world.project()).output().expect("tmux runs");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    tmux(&["new-session", "-d", "-x", "120", "-y", "32", common::BIN, "watch"]);
    let begun = std::time::Instant::now();
    let mut shown = String::new();
    while !shown.contains(code) && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        shown = tmux(&["capture-pane", "-e", "-p"]);
    }
    tmux(&["kill-server"]);
    assert!(shown.contains(code) && shown.contains("git branch -D topic"), "{shown}");
    let screen = world.home().join("screen");
    fs::write(&screen, shown).unwrap();
    browser::pictured(&screen, "watch.png");
}
