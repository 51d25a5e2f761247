use super::*;

fn all(kind: Surface, text: &str) -> Vec<Run> {
    runs(kind, "x", &Content::Bytes(text.as_bytes().to_vec()))
}

fn command(text: &str) -> Run {
    Run::command(text.to_owned())
}

#[test]
fn shell_lines_hooks_and_servers_of_prompts_are_found() {
    for (text, expected) in [
        ("run !`git status` now", vec![command("git status")]),
        ("```!\nls\npwd\n```\n", vec![command("ls\npwd")]),
        ("no `!` and !important `x`", vec![]),
        ("---\nname: x\nallowed-tools: Bash(git:*)\n---\ntext", vec![]),
        (
            "---\nhooks:\n  PostToolUse:\n    - matcher: \"Edit|Write\"\n      hooks:\n        - type: command\n          command: \"npx prettier --write .\"\n---\n",
            vec![command("npx prettier --write .")],
        ),
        (
            "\u{feff}---\nmcpServers:\n  a:\n    command: npx\n    args: [\"-y\", \"x\"]\n---\n",
            vec![command("npx '-y' 'x'")],
        ),
        ("---\nmcpServers:\n  - github\n---\n", vec![]),
        (
            "---\nmcpServers:\n  a:\n    command: sh\n    args:\n      - -c\n      - id\n---\n",
            vec![command("sh '-c' 'id'")],
        ),
        (
            "---\nhooks: {\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"id\"}]}]}\n---\n",
            vec![command("id")],
        ),
    ] {
        assert_eq!(all(Surface::ClaudePrompt, text), expected, "{text}");
    }
}

#[test]
fn what_a_front_matter_hides_may_be_anything() {
    for text in [
        "---\nhooks: &a\n  Stop: x\n---\n",
        "---\nhooks:\n  Stop:\n    - hooks:\n        - command: |\n            id\n---\n",
        "---\n\"h\\u006foks\": x\n---\n",
        "---\n{hooks: {Stop: x}}\n---\n",
        "---\nhooks: {Stop: [x]}\n---\n",
        "---\n? hooks\n: x\n---\n",
    ] {
        let found = all(Surface::ClaudePrompt, text);
        assert!(found.iter().any(|run| matches!(run, Run::Unread(_))), "{text}: {found:?}");
    }
    let answers = "---\nhooks:\n  PreToolUse:\n    - hooks:\n        - command: ./x\n---\n";
    assert!(all(Surface::ClaudePrompt, answers).iter().any(|run| matches!(run, Run::Always(_))));
}

#[test]
fn settings_name_their_programs() {
    let settings = "{ // a comment\n \"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"npx\", \"x\"],},\n  \"b\": {\"url\": \"https://b.example\"}},\
        \"formatter\": {\"f\": {\"command\": [\"p\", \"$FILE\"], \"extensions\": [\".js\"]}, \"g\": {\"disabled\": true}},\
        \"command\": {\"c\": {\"template\": \"see !`ls`\"}}, /* x */ \"plugin\": [\"p\"] }";
    let found = all(Surface::OpenCodeSettings, settings);
    assert_eq!(found.len(), 5, "{found:?}");
    for run in [
        command("'npx' 'x'"),
        command("'p' '$FILE'"),
        command("ls"),
        Run::Address("https://b.example".to_owned()),
    ] {
        assert!(found.contains(&run), "{run:?}: {found:?}");
    }
    let servers = r#"{"mcpServers":{"a":{"command":"sh","args":["-c","id"],"env":{"NODE_OPTIONS":"-r x"}}}}"#;
    assert_eq!(all(Surface::Servers, servers), [command("NODE_OPTIONS='-r x' 'sh' '-c' 'id'")]);
    assert!(matches!(all(Surface::Servers, "{\"a\":1e999999}")[..], [Run::Unread(_)]));
    let state = r#"{"numStartups":4,"projects":{"/p":{"mcpServers":{"a":{"command":"x"}},"history":[]},"/q":{"mcpServers":{}}}}"#;
    assert_eq!(all(Surface::ClaudeState, state), [command("'x'")]);
    let kept = essence(Surface::ClaudeState, Content::Bytes(state.as_bytes().to_vec()));
    assert_eq!(kept.bytes(), Some(&br#"{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}}}"#[..]));
}

#[test]
fn configurations_of_git_are_read_as_git_does() {
    let config = "[core]\n\tfsmonitor = /tmp/x # why\n\tpager = less -R\n[filter \"a.b\"]\n\tsmudge = \"sh -c 'id; \\\\\nls'\"\n\trequired\n\
        [alias] st = status\n\tx = !id\n[user]\n\tname = n\n[credential]\n helper = store\n[submodule \"s\"]\n update = !id -u\n";
    let found = all(Surface::GitConfig, config);
    for run in ["/tmp/x", "less -R", "git status", "id", "id -u"] {
        assert!(
            found.iter().any(|one| matches!(one, Run::Command { text, .. } if text == run)),
            "{run}: {found:?}"
        );
    }
    assert!(
        found.iter().any(|run| matches!(run, Run::Command { text, .. } if text.contains("ls"))),
        "{found:?}"
    );
    assert_eq!(found.len(), 6, "{found:?}");
    let links =
        linked(b"[core]\nhooksPath = .husky/_\n[include]\npath = ../x\n[includeIf \"gitdir:~/w\"]\npath=y\n");
    let links: Vec<&str> = links.iter().map(|link| link.path.as_str()).collect();
    assert_eq!(links, [".husky/_", "../x", "y"]);
    assert!(matches!(all(Surface::GitConfig, "[core\nx=y")[..], [Run::Unread(_)]));
}
