//! What both clients are put through: the same script, in each client's tools.

use crate::clients::Client;
use crate::model::{Call, MAIN, Script, Step, call};
use crate::programs;
use crate::session::Session;
use crate::wire::wire_id;
use crate::world::{BIN, GIT_LOG, World};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Stands in the sub-agent's prompt.
pub const SUB: &str = "[[sub]]";

impl Client {
    /// A call of the client's shell tool.
    pub fn shell(self, label: &str, command: &str) -> Call {
        let tool = match self {
            Self::Claude => "Bash",
            Self::OpenCode => "bash",
            Self::Codex => return call(label, "exec_command", json!({"cmd": command})),
        };
        call(label, tool, json!({"command": command, "description": "Do it"}))
    }

    /// A call that starts a sub-agent and waits for it.
    pub fn spawn(self) -> Call {
        let prompt = format!("{SUB} Do your part.");
        match self {
            Self::Claude => call(
                "spawn",
                "Agent",
                json!({"description": "A part", "prompt": prompt, "run_in_background": false}),
            ),
            Self::OpenCode => call(
                "spawn",
                "task",
                json!({"description": "A part", "prompt": prompt, "subagent_type": "general"}),
            ),
            Self::Codex => call(
                "spawn",
                "multi_agent_v1/spawn_agent",
                json!({"message": prompt, "agent_type": "default"}),
            ),
        }
    }
}

/// What the harness reports is what happened: checked with a hook that is not lazaret.
pub fn harness_sees(world: &World) {
    let shell = |label, command| Step::call([world.client.shell(label, command)]);
    let session = world.play(
        Script::main([
            shell("pass", "echo PASSED > passed.txt; cat passed.txt"),
            shell("block", "touch BLOCKME"),
            shell("rewrite", "touch REWRITEME"),
            Step::call([world.client.spawn()]),
        ])
        .sub(SUB, [shell("sub-block", "touch BLOCKME-too")]),
    );
    assert_eq!(session.told("pass").text.trim(), "PASSED");
    assert_eq!(session.told("rewrite").text.trim(), "REWRITTEN");
    for label in ["block", "sub-block"] {
        assert!(session.told(label).text.contains("the fake hook says no"), "{}", session.story());
    }
    for absent in ["BLOCKME", "REWRITEME", "BLOCKME-too"] {
        assert!(!world.exists(&format!("/home/dev/proj/{absent}")), "{absent}");
    }
    assert!(world.exists("/home/dev/proj/passed.txt"));
}

/// Destructive, harmless and rewritten calls, by the main agent and by a sub-agent.
pub fn obeys(client: Client) {
    let world = World::new(client);
    world.register();
    world.sh("git checkout -q -b feature && git commit -q --allow-empty -m One && git push -q origin feature
        git commit -q --amend --allow-empty -m Two");
    world.write("/home/dev/proj/notes.txt", "nowhere else\n");
    let script = |who: &str| {
        [
            ("harmless", format!("echo fine > made-by-{who} && cat made-by-{who}")),
            ("delete", "rm -rf /home/dev/precious".to_owned()),
            ("wrapped", "cd / && sudo env A=b sh -c 'rm -rf home/dev/precious'".to_owned()),
            ("clean", "git clean -fdx".to_owned()),
            ("push", "git push --force origin feature".to_owned()),
        ]
        .map(|(name, command)| Step::call([client.shell(&format!("{who}-{name}"), &command)]))
    };
    let mut main: Vec<_> = script("main").into();
    main.push(Step::call([client.spawn()]));
    let session = world.play(Script::main(main).sub(SUB, script("sub")));
    for who in ["main", "sub"] {
        let told = |name: &str| session.told(&format!("{who}-{name}")).text.as_str();
        assert_eq!(told("harmless").trim(), "fine", "{}", session.story());
        for (name, rule) in
            [("delete", "files.delete-"), ("wrapped", "files.delete-"), ("clean", "git.clean")]
        {
            assert!(told(name).contains(rule), "{who}-{name} is not told {rule}\n{}", session.story());
        }
    }
    assert_eq!(world.read("/home/dev/precious/notes.txt"), "irreplaceable\n");
    assert_eq!(
        world.read("/home/dev/proj/notes.txt"),
        "nowhere else\n",
        "it was cleaned\n{}",
        session.story()
    );
    let git_calls = world.read(GIT_LOG);
    let pushes: Vec<_> = git_calls.lines().filter(|line| line.starts_with("push --force")).collect();
    assert_eq!(pushes, ["push --force-with-lease origin feature"; 2], "{}", session.story());
    let tips = world.sh("git rev-parse feature; git -C /home/dev/remote.git rev-parse feature");
    let tips: Vec<_> = tips.lines().collect();
    assert_eq!(tips[0], tips[1], "the rewritten push did not arrive\n{}", session.story());
}

/// What may become of the binary, and how to do it to the file at a path.
type Fault = (&'static str, fn(&Path));

const FAULTS: [Fault; 9] = [
    ("deleted", |bin| std::fs::remove_file(bin).unwrap()),
    ("a-directory", |bin| {
        std::fs::remove_file(bin).unwrap();
        std::fs::create_dir(bin).unwrap();
    }),
    ("not-executable", |bin| std::fs::set_permissions(bin, PermissionsExt::from_mode(0o644)).unwrap()),
    ("not-a-program", |bin| programs::write(bin, "\u{7f}ELF and then nothing")),
    ("aborts", |bin| programs::write(bin, "#!/bin/sh\nkill -ABRT $$\n")),
    ("panics", |bin| programs::write(bin, "#!/bin/sh\necho \"thread 'main' panicked\" >&2\nexit 101\n")),
    ("prints-garbage", |bin| programs::write(bin, "#!/bin/sh\nprintf '\\377\\376 not json {'\nexit 1\n")),
    ("prints-other-json", |bin| {
        programs::write(
            bin,
            "#!/bin/sh\necho '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": 7}}'\n",
        );
    }),
    ("hangs", |bin| programs::write(bin, "#!/bin/sh\nexec sleep 600\n")),
];

/// Puts the working binary back, whatever stands there.
fn repair(bin: &Path, works: &Path) {
    if bin.is_dir() {
        std::fs::remove_dir(bin).unwrap();
    }
    let beside = bin.with_extension("repaired");
    programs::copy(works, &beside);
    std::fs::rename(&beside, bin).unwrap();
}

/// Breaks the binary in every way, under the main agent and under a sub-agent: no call runs; repaired, calls run again.
pub fn no_call_passes_a_broken_binary(client: Client, world: &World) {
    let bin = world.host(BIN);
    let works = bin.with_file_name("lazaret-that-works");
    programs::copy(&bin, &works);
    let repaired = |call: Call, bin: &PathBuf| {
        let (bin, works) = (bin.clone(), works.clone());
        Step::call([call]).after(move || repair(&bin, &works))
    };
    let broken = |who: &'static str| {
        FAULTS.map(|(name, fault)| {
            let (bin, works) = (bin.clone(), works.clone());
            let label = format!("{who}-{name}");
            Step::call([client.shell(&label, &format!("touch ran-{label}"))]).after(move || {
                repair(&bin, &works);
                fault(&bin);
            })
        })
    };
    let mut main = vec![Step::call([client.shell("works", "touch ran-works")])];
    main.extend(broken("main"));
    main.push(repaired(client.spawn(), &bin));
    main.push(repaired(client.shell("works-again", "touch ran-works-again"), &bin));
    let session = world.play(Script::main(main).sub(SUB, broken("sub")));
    for label in ["works", "works-again"] {
        assert!(world.exists(&format!("/home/dev/proj/ran-{label}")), "{label}\n{}", session.story());
    }
    for who in ["main", "sub"] {
        for (name, _) in FAULTS {
            let label = format!("{who}-{name}");
            assert!(!session.told(&label).text.is_empty(), "{label}\n{}", session.story());
            assert!(
                !world.exists(&format!("/home/dev/proj/ran-{label}")),
                "{label} ran\n{}",
                session.story()
            );
        }
    }
}

/// The audit log's lines as JSON, oldest first.
pub fn audit(world: &World) -> Vec<serde_json::Value> {
    let lines = world.sh("lazaret audit show --json");
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// Each of these allowed calls has exactly one decision in the audit log.
pub fn audit_names_each_call(world: &World, labels: &[&str]) {
    let events = audit(world);
    for label in labels {
        let decisions = events.iter().filter(|event| {
            event["verdict"] == "allow" && event["call_id"].as_str().is_some_and(|id| id == wire_id(label))
        });
        assert_eq!(decisions.count(), 1, "{label} in the audit log: {events:#?}");
    }
}

/// A step in which a file is written.
pub fn write(client: Client, label: &str, path: &str, content: &str) -> Step {
    let (tool, key) = match client {
        Client::Claude => ("Write", "file_path"),
        Client::OpenCode => ("write", "filePath"),
        Client::Codex => panic!("codex is not run so"),
    };
    Step::call([call(label, tool, json!({key: path, "content": content}))])
}

/// Six reads at the same moment: each is answered, each has its line in the audit log.
pub fn counts_parallel_calls(client: Client) {
    let world = World::new(client);
    world.register();
    let (tool, key) = match client {
        Client::Claude => ("Read", "file_path"),
        Client::OpenCode => ("read", "filePath"),
        Client::Codex => panic!("codex is not run so"),
    };
    let files: Vec<_> = (0..6).map(|n| format!("/home/dev/proj/part-{n}.txt")).collect();
    for file in &files {
        world.write(file, &format!("content of {file}\n"));
    }
    let reads = files.iter().enumerate().map(|(n, file)| call(format!("read-{n}"), tool, json!({key: file})));
    let session: Session = world.play(Script::main([Step::call(reads.collect::<Vec<_>>())]));
    for (n, file) in files.iter().enumerate() {
        assert!(
            session.told(&format!("read-{n}")).text.contains(&format!("content of {file}")),
            "{}",
            session.story()
        );
    }
    audit_names_each_call(&world, &["read-0", "read-1", "read-2", "read-3", "read-4", "read-5"]);
    assert!(session.heard(MAIN).contains("Do what is to be done."), "{}", session.story());
}

/// All that the project holds and the client has not made: kind, mode, where a link leads, content, what is staged.
fn work_of(world: &World) -> String {
    world.sh("find README.md notes.txt src -printf '%p %y %m %l\\n' 2>/dev/null | sort
        find README.md notes.txt src -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum; git diff --cached --name-status")
}

/// Work that git does not hold is discarded under a warning, and a person has all of it back.
pub fn undoes(client: Client) {
    let world = World::new(client);
    world.register();
    world.write("/home/dev/proj/README.md", "# A project, with work not yet committed\n");
    world.sh("mkdir -p src/deep/empty && printf 'fn main() {}\\n' > src/main.rs && git add src && git commit -qm Source
        printf 'changed' >> src/main.rs && chmod 755 src/main.rs && ln -s main.rs src/link && chmod 750 src/deep
        head -c 100000 /dev/urandom > src/deep/untracked.bin && echo staged > notes.txt && git add notes.txt");
    let began = work_of(&world);
    let session = world.play(Script::main([
        Step::call([client.shell("reset", "git reset --hard")]),
        Step::call([client.shell("delete", "rm -rf src")]),
        Step::call([client.shell("look", "ls")]),
    ]));
    assert!(
        !world.exists("/home/dev/proj/src") && !world.exists("/home/dev/proj/notes.txt"),
        "{}",
        session.story()
    );
    assert!(
        !world.read("/home/dev/proj/README.md").contains("not yet"),
        "the reset did not run\n{}",
        session.story()
    );
    let warned = audit(&world);
    for label in ["reset", "delete"] {
        let is_warning = |event: &serde_json::Value| {
            event["verdict"] == "warn" && event["call_id"].as_str().is_some_and(|id| id == wire_id(label))
        };
        assert!(warned.iter().any(is_warning), "{label}: {warned:#?}\n{}", session.story());
    }
    assert!(
        session.heard(MAIN).contains("lazaret rollback"),
        "nobody says how to undo it\n{}",
        session.story()
    );
    let undone = world.sh("lazaret rollback --last; lazaret rollback --last");
    assert_eq!(work_of(&world), began, "{undone}\n{}", session.story());
    let again = world.sh("lazaret rollback --last || true");
    assert_eq!(work_of(&world), began, "{again}");
}
