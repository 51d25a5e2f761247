//! A small made-up world that the rules' examples are run in: no machine is asked.

use super::matcher::{View, judge};
use super::survey::{Survey, survey_asking};
use crate::domain::{
    Action, Ask, Facts, PathFact, PathKind, Places, Policy, Protected, ProtectedKind, Reason, SearchKind,
    Tool, ToolCall, join,
};

pub const HOME: &str = "/home/u";
/// The repository, the project, and where the examples are run.
pub const PROJECT: &str = "/home/u/proj";

/// Most rounds of question and answer; each needs a new question.
const ROUNDS: usize = 8;

words!("fixture");

const FILES: &[(&str, &str)] = &[
    ("/home/u/proj/README.md", "# proj\n"),
    ("/home/u/proj/src/main.rs", "fn main() {}\n"),
    ("/home/u/proj/src/lib.rs", "pub fn f() {}\n"),
    ("/home/u/proj/Makefile", "all:\n"),
    ("/home/u/proj/package-lock.json", "{}\n"),
    ("/home/u/proj/.env", "KEY=value\n"),
    ("/home/u/proj/api/.env", "DATABASE_URL=\"postgres://u:p@localhost:5432/app\"\n"),
    ("/home/u/proj/api-live/.env", "DATABASE_URL=postgres://u:p@db.x.example/app\n"),
    ("/home/u/proj/.env.example", "KEY=\n"),
    ("/home/u/proj/opencode.json", "{}\n"),
    ("/home/u/proj/.claude/settings.json", "{}\n"),
    ("/home/u/proj/build.sh", "#!/bin/sh\nmake all\n"),
    ("/home/u/proj/wreck.sh", "#!/bin/sh\nrm -rf /\n"),
    ("/home/u/proj/wreck.py", "import os\nos.remove('.claude/settings.json')\n"),
    ("/home/u/.claude/settings.json", "{}\n"),
    ("/home/u/todo.txt", "buy milk\n"),
    ("/home/u/.bashrc", "alias ll='ls -l'\n"),
];

/// Files that git holds as they are.
const SAVED: &[&str] = &["/home/u/proj/Makefile", "/home/u/proj/src/lib.rs"];

/// Directories that git ignores in the made-up repository.
const IGNORED: &[&str] =
    &["/home/u/proj/target", "/home/u/proj/node_modules", "/home/u/proj/build", "/home/u/proj/dist"];

const PROTECTED: &[(&str, bool, ProtectedKind)] = &[
    ("/home/u/.claude/settings.json", false, ProtectedKind::ClientSettings),
    ("/home/u/.claude/settings.local.json", false, ProtectedKind::ClientSettings),
    ("/home/u/.claude/hooks", true, ProtectedKind::ClientSettings),
    ("/home/u/.claude/plugins", true, ProtectedKind::ClientSettings),
    ("/home/u/.claude.json", false, ProtectedKind::ClientSettings),
    ("/home/u/proj/.claude/settings.json", false, ProtectedKind::ClientSettings),
    ("/home/u/proj/.claude/settings.local.json", false, ProtectedKind::ClientSettings),
    ("/home/u/proj/opencode.json", false, ProtectedKind::ClientSettings),
    ("/home/u/proj/.opencode/plugin", true, ProtectedKind::ClientSettings),
    ("/home/u/proj/.opencode/plugins", true, ProtectedKind::ClientSettings),
    ("/home/u/.config/opencode", true, ProtectedKind::ClientSettings),
    ("/home/u/.config/lazaret", true, ProtectedKind::Own),
    ("/home/u/.local/state/lazaret", true, ProtectedKind::Own),
    ("/home/u/.local/bin/lazaret", false, ProtectedKind::Own),
    ("/home/u/proj/.lazaret.toml", false, ProtectedKind::Own),
    ("/run/user/1000/lazaret", true, ProtectedKind::Keys),
    ("/home/u/.local/state/lazaret/audit/lazaret-audit.key", false, ProtectedKind::Keys),
];

/// The call that an example stands for: `Tool path content`, `mcp__SERVER__TOOL arguments`, or a command line.
pub fn call(example: &str) -> ToolCall {
    let (word, rest) = example.split_once(' ').unwrap_or((example, ""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let (path, content) = (join(PROJECT, first), more.to_owned());
    let (tool, action) = match word {
        "Read" => (Tool::Read, Action::Read { path }),
        "Write" => (Tool::Write, Action::Write { path, content, long: None }),
        "Edit" => (Tool::Edit, Action::Edit { path, content, long: None }),
        "Grep" => {
            let kind = SearchKind::Grep;
            (Tool::Grep, Action::Search { kind, pattern: content, path: Some(path), glob: None })
        }
        "WebFetch" => (Tool::WebFetch, Action::Fetch { url: first.to_owned(), prompt: content }),
        "Agent" => {
            let prompt = rest.to_owned();
            (Tool::Agent, Action::Spawn { agent_type: None, prompt, options: Vec::new() })
        }
        _ if word.starts_with("mcp__") => {
            let (server, tool) = word.get(5..).and_then(|name| name.split_once("__")).unwrap_or(("x", word));
            let tool = Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() };
            (tool, Action::Other { text: rest.to_owned(), claims: Vec::new() })
        }
        _ => (Tool::Bash, Action::Shell { command: example.to_owned(), workdir: None }),
    };
    ToolCall { tool, action, id: None }
}

/// What is known of the made-up world before any question.
pub fn facts() -> Facts {
    let protected = PROTECTED.iter().map(|(path, tree, kind)| Protected {
        path: (*path).to_owned(),
        tree: *tree,
        kind: *kind,
    });
    Facts::new(Places {
        home: Some(HOME.to_owned()),
        repo: Some(PROJECT.to_owned()),
        project: Some(PROJECT.to_owned()),
        temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
        protected: protected.collect(),
        user: Some("u".to_owned()),
        reviewed: None,
        variables: Vec::new(),
    })
}

/// Answers one question as the made-up world does.
pub fn answer(facts: &Facts, ask: &Ask) {
    match ask {
        Ask::Path(path) => facts.answer_path(path.clone(), path_fact(path)),
        Ask::Content(path) => {
            let text = FILES.iter().find(|(name, _)| name == path).map(|(_, text)| (*text).to_owned());
            facts.answer_content(path.clone(), text);
        }
        Ask::Saved(path) => facts.answer_saved(path.clone(), SAVED.contains(&path.as_str())),
        Ask::Branch => facts.answer_branch(Some("topic".to_owned())),
    }
}

fn path_fact(path: &str) -> PathFact {
    let kind = if DIRECTORIES.contains(&path) {
        PathKind::Directory
    } else if FILES.iter().any(|(name, _)| *name == path) {
        PathKind::File
    } else {
        PathKind::Missing
    };
    let ignored = IGNORED
        .iter()
        .any(|dir| path == *dir || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')));
    PathFact {
        kind,
        real: path.to_owned(),
        link: false,
        ignored,
        checkout: path.starts_with("/home/u/checkout/"),
    }
}

/// The survey of an example with every question answered, and the facts that it then rests on.
pub fn survey_of(call: &ToolCall, policy: &Policy) -> (Survey, Facts) {
    let facts = facts();
    let mut told = |ask: Ask, facts: &Facts| answer(facts, &ask);
    let mut seen = survey_asking(call, PROJECT, (&facts, &mut told), policy);
    for _ in 0..ROUNDS {
        let open: Vec<Ask> = seen.asks.drain(..).filter(|ask| !facts.knows(ask)).collect();
        if open.is_empty() {
            break;
        }
        for ask in &open {
            answer(&facts, ask);
        }
        seen = survey_asking(call, PROJECT, (&facts, &mut told), policy);
    }
    (seen, facts)
}

/// The reasons that the built-in rules give for an example.
pub fn reasons(example: &str, policy: &Policy) -> Vec<Reason> {
    let call = call(example);
    let (survey, facts) = survey_of(&call, policy);
    judge(&View { call: &call, cwd: PROJECT, survey: &survey, facts: &facts, policy })
}
