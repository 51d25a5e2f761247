//! A machine of its own for one test: a home directory, a git work tree in it, and the built binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "shared by several tests"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[path = "../hook/mod.rs"]
pub mod hook;

pub const BIN: &str = env!("CARGO_BIN_EXE_lazaret");

pub struct World {
    dir: tempfile::TempDir,
}

/// What the hook answered.
pub struct Answer {
    /// None when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is not JSON ({e}): {}", self.stdout))
    }

    pub fn is_block(&self) -> bool {
        self.code == Some(2)
    }

    pub fn is_pass(&self) -> bool {
        self.code == Some(0) && self.stdout.is_empty()
    }
}

impl World {
    pub fn new() -> World {
        World::of(tempfile::tempdir().unwrap())
    }

    /// One whose home does not lie in a temporary directory: what is lost there counts.
    pub fn lasting() -> World {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        World::of(tempfile::Builder::new().prefix("home-").tempdir_in(target).unwrap())
    }

    fn of(dir: tempfile::TempDir) -> World {
        let world = World { dir };
        fs::create_dir_all(world.project().join("src")).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.email", "u@example.com"]);
        world.git(&["config", "user.name", "u"]);
        fs::write(world.project().join(".gitignore"), "node_modules/\ntarget/\n").unwrap();
        fs::write(world.project().join("src/main.rs"), "fn main() {}\n").unwrap();
        world.git(&["add", "."]);
        world.git(&["commit", "-qm", "begin"]);
        fs::create_dir_all(world.project().join("node_modules/x")).unwrap();
        world
    }

    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("proj")
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join(".local/state/lazaret")
    }

    /// The user's configuration, as a person accepted it.
    pub fn configure(&self, text: &str) {
        let file = self.unaccepted(text);
        let path = file.to_str().unwrap();
        lazaret::host::trust::accept(&self.state(), path, text.as_bytes()).unwrap();
    }

    /// The same, as anybody wrote it.
    pub fn unaccepted(&self, text: &str) -> PathBuf {
        let file = self.home().join(".config/lazaret/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    pub fn git(&self, args: &[&str]) {
        fs::create_dir_all(self.project()).unwrap();
        let status =
            Command::new("git").args(args).current_dir(self.project()).env("HOME", self.home()).status();
        assert!(status.expect("git runs").success(), "git {args:?}");
    }

    /// The binary with an environment of its own.
    pub fn command(&self) -> Command {
        let mut command = Command::new(BIN);
        command.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin").current_dir(self.project());
        command
    }

    pub fn message(&self, tool: &str, input: &Value) -> Value {
        json!({"session_id": "s", "cwd": self.project(), "hook_event_name": "PreToolUse", "tool_name": tool,
               "tool_input": input, "tool_use_id": "t"})
    }

    pub fn bash(&self, command: &str) -> Answer {
        self.hook("claude-code", self.message("Bash", &json!({ "command": command })).to_string().as_bytes())
    }

    pub fn tool(&self, tool: &str, input: &Value) -> Answer {
        self.hook("claude-code", self.message(tool, input).to_string().as_bytes())
    }

    /// Another event of the session `s` in the project, which lets everything go on.
    pub fn event(&self, name: &str, more: &Value) {
        let mut message = json!({"session_id": "s", "cwd": self.project(), "hook_event_name": name});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.hook("claude-code", message.to_string().as_bytes());
        assert_eq!(answer.code, Some(0), "{name}: {}", answer.stderr);
    }

    pub fn hook(&self, client: &str, message: &[u8]) -> Answer {
        self.answer(hook::hook(&mut self.command(), client), message)
    }

    pub fn answer(&self, command: &mut Command, message: &[u8]) -> Answer {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("lazaret starts");
        let mut stdin = child.stdin.take().unwrap();
        let message = message.to_vec();
        // A process that stops reading (over its bound) closes the pipe; that is its right.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&message)));
        let out = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Answer {
            code: out.status.code(),
            stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        }
    }

    /// A command line of a person: exit code, stdout, stderr.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        let out = self.command().args(args).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
    }

    /// The same typed at a terminal: exit code, and what is shown there.
    pub fn at_terminal(&self, args: &[&str]) -> (i32, String) {
        self.typing(args, "")
    }

    /// The same where a person types `typed` then; their editor is `editor.sh` in the home directory.
    pub fn typing(&self, args: &[&str], typed: &str) -> (i32, String) {
        let words = std::iter::once(&BIN).chain(args);
        let line: Vec<String> = words.map(|word| lazaret::domain::single_quoted(word)).collect();
        let mut script = Command::new("script");
        script.args(["-qec", &line.join(" "), "/dev/null"]).env_clear().env("HOME", self.home());
        script.env("PATH", "/usr/bin:/bin").env("EDITOR", self.home().join("editor.sh"));
        let answer = self.answer(script.current_dir(self.project()), typed.as_bytes());
        (answer.code.unwrap_or(-1), answer.stdout)
    }

    /// What was taken back of a file of this name, as it is kept.
    pub fn aside(&self, name: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.state().join("aside")).ok()?.flatten();
        let found = entries.map(|entry| entry.path());
        found
            .into_iter()
            .find(|path| path.file_name().unwrap().to_string_lossy().ends_with(&format!("-{name}")))
    }

    /// `check --json` of a shell command.
    pub fn check(&self, command: &str) -> (i32, Value) {
        let (code, stdout, stderr) = self.run(&["check", "--json", command]);
        (code, serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{command}: {e}: {stdout}{stderr}")))
    }

    /// The audit log's events.
    pub fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state().join("audit/audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
