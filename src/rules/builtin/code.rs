//! Code in other languages: what it deletes by itself, and the commands that it starts.

use super::predicate;
use crate::domain::{Action, EffectKind, Severity, Target, Tool, ToolCall, join};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, Found, Instead, RULE, Rule, Scene, classify, code_of, contains_word, input_of, is_interpreter,
    literals, would_block,
};
use crate::shell::Arg;

/// Calls that delete a directory with all that is in it.
const DELETES: &[&str] = &[
    "rmtree",
    "rm_rf",
    "rm_r(",
    "rmSync",
    "rmdirSync",
    "remove_tree",
    "RemoveAll",
    "fs.rm(",
    "rimraf",
    "remove_dir_all",
    "removeSync",
    "remove_entry_secure",
    "deleteDirectory",
];

/// Calls that start another program.
const STARTS: &[&str] = &[
    "system",
    "exec",
    "popen",
    "spawn",
    "subprocess",
    "child_process",
    "qx",
    "`",
    "Process",
    "shell",
    "Command(",
    "run(",
    "call(",
];

/// Most strings of one text of code that are looked at, and the longest.
const MAX_LITERALS: usize = 64;
const MAX_LENGTH: usize = 4096;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "code.deletes",
        severity: Severity::Critical,
        reason: "has an interpreter delete a directory that must not be lost",
        instead: Some(Instead::Advice(
            "delete the one directory inside the project that is meant, by its name",
        )),
        when: &[predicate("code_deletes_a_directory", code_deletes)],
        fires: &[
            "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
            "node -e \"require('fs').rmSync('/home/u', {recursive: true})\"",
            "python3 -c \"import shutil,os; shutil.rmtree(os.path.expanduser('~'))\"",
            "ruby -e 'require \"fileutils\"; FileUtils.rm_rf(\".git\")'",
            "python3 <<'E'\nimport shutil\nshutil.rmtree('/etc')\nE",
        ],
        silent: &[
            "python3 -c \"import shutil; shutil.rmtree('build')\"",
            "python3 -c \"import shutil; shutil.rmtree('/tmp/x')\"",
            "node -e \"console.log('/')\"",
            "grep -rn 'rmtree(\"/\")' src",
        ],
        ..RULE
    },
    Rule {
        id: "code.runs-blocked-command",
        severity: Severity::Critical,
        reason: "has an interpreter run a command that would be blocked in a shell",
        instead: Some(Instead::Advice("run the command in the shell, where it can be read")),
        when: &[
            predicate("code_runs_a_blocked_command", runs_blocked),
            predicate("argument_is_a_blocked_command", argument_blocked),
        ],
        fires: &[
            "python3 -c \"import os; os.system('rm -rf /')\"",
            "perl -e 'system(\"rm -rf /\")'",
            "node -e \"require('child_process').execSync('git reset --hard')\"",
            "awk 'BEGIN{system(\"rm -rf ~\")}'",
            "python3 -c \"import subprocess; subprocess.run(['rm','-rf','/'])\"",
            "ruby -e 'system \"cat ~/.ssh/id_rsa\"'",
            "vim -c ':!rm -rf /' -c q",
            "tmux new -d 'rm -rf /'",
            "make -f - <<< 'all:; rm -rf /'",
            "sqlite3 x.db '.shell rm -rf /'",
            "gdb -batch -ex 'shell rm -rf /'",
        ],
        silent: &[
            "python3 -c \"import os; os.system('ls')\"",
            "python3 -c \"print('rm -rf /')\"",
            "node -e \"require('child_process').execSync('git status')\"",
            "awk '{print $1}' system.log",
            "tmux new -d 'npm run dev'",
            "sqlite3 x.db \"select 'rm -rf /'\"",
            "make -f - <<< 'all:; cargo build'",
        ],
        ..RULE
    },
    Rule {
        id: "code.archiver-runs-command",
        reason: "has an archiver run a command of its own choosing",
        instead: Some(Instead::Command("tar -tf archive.tar")),
        when: &[predicate("archiver_told_to_run_a_command", archiver_runs)],
        fires: &[
            "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm -rf /' x",
            "tar xf a.tar --to-command='sh'",
            "zip x.zip a -T --unzip-command='sh -c id'",
        ],
        silent: &["tar czf a.tgz src", "tar --checkpoint=100 -cf a.tar src", "zip -r x.zip src"],
        ..RULE
    },
];

fn interpreters<'s, 'a>(scene: &'s Scene<'a>) -> impl Iterator<Item = &'a Invocation> + 's {
    scene.invocations().iter().filter(|inv| is_interpreter(&inv.program))
}

fn code_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    const LOST: &[Class] = &[
        Class::Root,
        Class::System,
        Class::Home,
        Class::HomeTop,
        Class::Users,
        Class::Project,
        Class::Git,
        Class::Outside,
    ];
    let lost = |inv: &Invocation, text: &str| {
        let home = scene.view.facts.places.home.as_deref();
        let path = match (text.strip_prefix('~'), home, inv.cwd.as_deref()) {
            (Some(rest), Some(home), _) => format!("{home}{rest}"),
            (None, _, Some(cwd)) if text.starts_with(['/', '.']) => join(cwd, text),
            (None, _, None) if text.starts_with('/') => text.to_owned(),
            _ => return false,
        };
        let target = Target::Path { path, glob: false, recursive: true };
        classify(&target, EffectKind::FileDeletion, &scene.view).any(LOST)
    };
    if !scene.trigger.has_interpreter() {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        code_of(inv, scene).any(|text| {
            DELETES.iter().any(|call| contains_word(&text, call))
                && literals(&text).take(MAX_LITERALS).any(|literal| lost(inv, &literal))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn runs_blocked<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested || !scene.trigger.has_interpreter() {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        code_of(inv, scene).any(|text| {
            if editor_command(&text).is_none() && !STARTS.iter().any(|call| contains_word(&text, call)) {
                return false;
            }
            if let Some(command) = editor_command(&text) {
                return would_block(scene, &shell(command.to_owned()), cwd);
            }
            let found: Vec<String> = literals(&text).take(MAX_LITERALS).collect();
            // `run(["rm", "-rf", "/"])`
            let joined = std::iter::once(found.join(" "));
            let commands = found.iter().cloned().chain(joined);
            { commands }.any(|command| is_command(&command) && would_block(scene, &shell(command), cwd))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that run a text given to them, and what stands in front of the command there.
const RUNNERS: &[(&str, &[&str])] = &[
    ("tmux", &[""]),
    ("gdb", &["shell ", "!", "pipe "]),
    ("lldb", &["shell ", "platform shell "]),
    ("sqlite3", &[".shell ", ".system "]),
    ("psql", &["\\! "]),
    ("mysql", &["\\! ", "system "]),
    ("make", &["\t", "; "]),
    ("gmake", &["\t", "; "]),
    ("ftp", &["!"]),
    ("expect", &["spawn ", "system "]),
];

fn argument_blocked<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = scene.invocations().iter().find(|inv| {
        let Some((_, fronts)) = RUNNERS.iter().find(|(program, _)| *program == inv.program) else {
            return false;
        };
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let mut texts = input_of(inv, scene);
        texts.extend(inv.args.iter().map(Arg::text));
        texts.iter().flat_map(|text| text.lines()).take(MAX_LITERALS).any(|line| {
            let commands =
                fronts.iter().filter_map(|front| line.split_once(front).map(|(_, command)| command));
            { commands }
                .any(|command| is_command(command) && would_block(scene, &shell(command.to_owned()), cwd))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `:!command` of vi and its kin, `spawn command` of expect.
fn editor_command(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('+');
    text.strip_prefix(":!").or_else(|| text.strip_prefix('!')).or_else(|| text.strip_prefix("spawn "))
}

/// More than one word, the first of which can be a program.
fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    text.len() <= MAX_LENGTH
        && text.trim().contains(' ')
        && first
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+' | b'~'))
}

fn shell(command: String) -> ToolCall {
    ToolCall { tool: Tool::Bash, action: Action::Shell { command, workdir: None }, id: None }
}

fn archiver_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    const RUNS: &[&str] =
        &["--checkpoint-action=exec", "--to-command", "--unzip-command", "-TT", "--rsh-command"];
    let found = scene.first(&["tar", "bsdtar", "gtar", "zip"], |inv| {
        inv.args.iter().any(|arg| RUNS.iter().any(|option| arg.prefix().starts_with(option)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
