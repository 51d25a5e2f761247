//! The bench on which destructive commands run: a project that is made once and copied for each, what is in it before and after,
//! and what was said of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "tests"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use serde_json::{Value, json};

/// Stands in front of a content.
const CONTENT: &str = " of ";
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What git ignores and a build makes again, by its name: it is not saved, as docs/checkpoints.md says.
const EXPENDABLE: &[&str] = &["build", "target", "node_modules", "app.log", "src/src.log"];

/// How a command ended that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Silent,
    Warned,
    /// It was run all the same: a person may say yes.
    Asked,
    Blocked,
    /// It changed nothing.
    Void,
}

/// What became of one command.
pub struct Outcome {
    pub command: String,
    pub ended: Ended,
    /// What is not as it was, although nothing was said of it.
    pub wrong: Vec<String>,
    pub told: String,
    pub rolled: String,
}

impl Outcome {
    pub fn fault(&self) -> Option<String> {
        if self.wrong.is_empty() {
            return None;
        }
        let told = self.told.replace('\n', " | ");
        Some(format!(
            "{:?}: {}\n    {}\n    told: {told}\n    rollback: {}",
            self.ended,
            self.command,
            self.wrong.join("\n    "),
            self.rolled.replace('\n', " | ")
        ))
    }
}

/// One directory in which a project is put up again and again, always under the same path.
pub struct Bench {
    dir: tempfile::TempDir,
    /// What was there before each command, with and without the long files.
    pictures: RefCell<BTreeMap<bool, Rc<Picture>>>,
}

/// Everything there is: files by their path, references, what is staged.
#[derive(Default)]
struct Picture {
    files: BTreeMap<String, String>,
    refs: BTreeMap<String, String>,
    index: BTreeMap<String, String>,
}

impl Bench {
    pub fn new() -> Bench {
        let dir = tempfile::Builder::new().prefix("rollback").tempdir().unwrap();
        let bench = Bench { dir, pictures: RefCell::default() };
        fs::create_dir(bench.home()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rollback_project.sh");
        let made = bench.command("sh", &[script]).current_dir(bench.home()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::rename(bench.home(), bench.kept()).unwrap();
        bench
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn kept(&self) -> PathBuf {
        self.dir.path().join("kept")
    }

    fn project(&self) -> PathBuf {
        self.home().join("proj")
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", PATH)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_EDITOR", "true").stdin(Stdio::null());
        command
    }

    /// The whole project as it was made, and its picture; the files that are too long to be saved only for a command about them.
    fn put_up(&self, command: &str) -> Rc<Picture> {
        let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(self.home()).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(self.home());
        let copied = Command::new("cp").arg("-a").arg(self.kept()).arg(self.home()).status().unwrap();
        assert!(copied.success());
        let is_long = ["big.bin", "data"].iter().any(|name| command.contains(name));
        for long in ["big.bin", "data/huge.bin"] {
            if !is_long {
                fs::remove_file(self.project().join(long)).unwrap();
            }
        }
        let inner = [("nested", "proj/nested"), ("sub", "proj/sub"), ("wt", "wt")];
        let inner = inner.iter().filter(|(word, _)| command.contains(word)).map(|(_, repo)| *repo);
        for repo in std::iter::once("proj").chain(inner) {
            // The copies have other inodes than the index says.
            let looked = self.command("git", &["status", "-s"]).current_dir(self.home().join(repo)).output();
            assert!(looked.unwrap().status.success(), "git status in {repo}");
        }
        let mut pictures = self.pictures.borrow_mut();
        Rc::clone(pictures.entry(is_long).or_insert_with(|| Rc::new(self.picture())))
    }

    /// The built binary as a client or a person runs it, with this on its standard input.
    fn lazaret(&self, args: &[&str], input: &str) -> (Option<i32>, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_lazaret"), args);
        command
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        let text =
            [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (out.status.code(), text)
    }

    fn hook(&self, event: &str, command: &str) -> (Option<i32>, String) {
        let mut message = json!({"session_id": "s", "cwd": self.project(), "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "t", "prompt_id": "p"});
        if event == "PostToolUse" {
            message["tool_response"] = json!({});
        }
        let home = self.home().display().to_string();
        self.lazaret(&["hook", "claude-code", "--home", &home], &message.to_string())
    }

    /// Tries one command: asks the hook, runs it, reports its end, rolls back, and compares.
    pub fn run(&self, command: &str) -> Outcome {
        let before = self.put_up(command);
        let (code, answer) = self.hook("PreToolUse", command);
        let value: Value = serde_json::from_str(&answer).unwrap_or_default();
        let told = [&value["systemMessage"], &value["hookSpecificOutput"]["permissionDecisionReason"]]
            .iter()
            .filter_map(|text| text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let mut ended = match code {
            Some(0) if value["hookSpecificOutput"]["permissionDecision"] == "ask" => Ended::Asked,
            Some(0) if told.is_empty() => Ended::Silent,
            Some(0) => Ended::Warned,
            _ => Ended::Blocked,
        };
        let outcome =
            |ended, wrong, told, rolled| Outcome { command: command.to_owned(), ended, wrong, told, rolled };
        if ended == Ended::Blocked {
            return outcome(ended, Vec::new(), answer, String::new());
        }
        let rewritten = value["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        let command = rewritten.unwrap_or(command);
        // `sh` of most systems is no bash, and a client runs commands by bash.
        let _ran = self.command("bash", &["-c", command]).current_dir(self.project()).output().unwrap();
        let between = self.picture();
        if between.is(&before) {
            ended = Ended::Void;
        }
        if !self.project().exists() {
            return outcome(ended, vec!["the project is gone".to_owned()], told, String::new());
        }
        let (code, post) = self.hook("PostToolUse", command);
        assert_eq!(code, Some(0), "{command}: {post}");
        let (code, rolled) = self.lazaret(&["rollback", "--last"], "");
        let is_saved = !rolled.contains("there is no checkpoint");
        let now = self.picture();
        let mut wrong = self.lost(&before, &now, ended, &told);
        if is_saved {
            wrong.extend(self.left(&before, &now, &rolled));
        } else {
            wrong.retain(|line| !line.starts_with("index "));
        }
        if code == Some(101) || rolled.contains("panicked") {
            wrong.push(format!("rollback ended with {code:?}"));
        }
        outcome(ended, wrong, told, rolled)
    }

    /// What is not there as it was and was not spoken of.
    fn lost(&self, before: &Picture, now: &Picture, ended: Ended, told: &str) -> Vec<String> {
        let claimed = told.contains("was saved first");
        let mut wrong = Vec::new();
        for (path, was) in &before.files {
            if now.files.get(path) == Some(was) {
                continue;
            }
            let whole = self.project().join("…").to_string_lossy().into_owned();
            let is_told = told.contains(&whole)
                || self.is_named(path, told)
                || EXPENDABLE.iter().any(|name| Path::new(path).starts_with(Path::new("proj").join(name)));
            let excused = is_told || ended == Ended::Asked && !claimed || self.git_holds(path, was);
            if !excused {
                let is = now.files.get(path).map_or("gone", String::as_str);
                wrong.push(format!("{path}: was {was}, is {is}"));
            }
        }
        for (name, was) in &before.refs {
            if now.refs.get(name) == Some(was) {
                continue;
            }
            let is = now.refs.get(name).map_or("gone", String::as_str);
            let short = name.rsplit('/').next().unwrap();
            let excused = !claimed && (ended == Ended::Asked || self.is_in_reach(was))
                || told.contains(&format!("not saved: {short}"));
            if !excused {
                wrong.push(format!("reference {name}: was {was}, is {is}"));
            }
        }
        wrong
    }

    /// What a rollback has left behind without naming it.
    fn left(&self, before: &Picture, now: &Picture, rolled: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        for path in now.files.keys().filter(|path| !before.files.contains_key(*path)) {
            if !self.is_named(path, rolled) {
                wrong.push(format!("{path}: left behind by the rollback"));
            }
        }
        for name in now.refs.keys().filter(|name| !before.refs.contains_key(*name)) {
            if !rolled.contains(name.rsplit('/').next().unwrap()) {
                wrong.push(format!("reference {name}: left behind by the rollback"));
            }
        }
        if before.index != now.index && !rolled.contains("index") {
            let changed: Vec<&String> = before
                .index
                .iter()
                .filter(|(name, was)| now.index.get(*name) != Some(*was))
                .map(|(name, _)| name)
                .chain(now.index.keys().filter(|name| !before.index.contains_key(*name)))
                .collect();
            wrong.push(format!("the index is another and the rollback does not name it: {changed:?}"));
        }
        wrong
    }

    /// Whether a text names a path, or a directory above it.
    fn is_named(&self, path: &str, text: &str) -> bool {
        let mut path = Path::new(path);
        loop {
            let full = self.home().join(path);
            if text.contains(&*full.to_string_lossy()) {
                return true;
            }
            match path.parent() {
                Some(above) if above != Path::new("") && above != Path::new("proj") => path = above,
                _ => return false,
            }
        }
    }

    /// Whether git gives a content back: by a commit, a stash or the index, of the repository that the file lies in.
    fn git_holds(&self, path: &str, was: &str) -> bool {
        let inner = ["proj/nested", "proj/sub", "wt"].into_iter().find(|repo| path.starts_with(repo));
        let repo = self.home().join(inner.unwrap_or("proj"));
        let Some(content) = was.split_once(CONTENT).map(|(_, content)| content) else {
            return was.starts_with("directory");
        };
        let git = |args: &[&str], input: &str| {
            let mut command = self.command("git", args);
            command.current_dir(&repo).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let _sent = child.stdin.take().unwrap().write_all(input.as_bytes());
            String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
        };
        if !repo.join(".git").exists() {
            return false;
        }
        let id = git(&["hash-object", "--stdin"], content);
        let reached =
            git(&["rev-list", "--objects", "--all", "--reflog"], "") + &git(&["ls-files", "-s"], "");
        !id.trim().is_empty() && reached.contains(id.trim())
    }

    /// Whether a commit still hangs on a reference or stands in a reflog.
    fn is_in_reach(&self, commit: &str) -> bool {
        let listed = self
            .command("git", &["rev-list", "--all", "--reflog"])
            .current_dir(self.project())
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let id = commit.split(' ').next().unwrap();
        listed.lines().any(|line| line == id) || commit.starts_with("ref:")
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::default();
        for top in ["proj", "wt", "lib"] {
            self.look(&self.home().join(top), &mut picture.files);
        }
        let git = |args: &[&str]| {
            let out = self.command("git", args).current_dir(self.project()).output().unwrap();
            String::from_utf8_lossy(&out.stdout).into_owned()
        };
        for line in git(&["for-each-ref", "--format=%(objectname) %(refname)"]).lines() {
            let (id, name) = line.split_once(' ').unwrap();
            picture.refs.insert(name.to_owned(), id.to_owned());
        }
        let read =
            |name: &str| fs::read_to_string(self.project().join(".git").join(name)).unwrap_or_default();
        picture.refs.insert("HEAD".to_owned(), read("HEAD"));
        for line in read("logs/refs/stash").lines() {
            let id = line.split(' ').nth(1).unwrap_or_default();
            picture.refs.insert(format!("stashed {id}"), id.to_owned());
        }
        for line in git(&["ls-files", "-s"]).lines() {
            let (what, name) = line.split_once('\t').unwrap();
            picture.index.insert(name.to_owned(), what.to_owned());
        }
        picture
    }

    /// Every path below a directory; of git's own only what is a person's: settings, hooks, and what inner repositories refer to.
    fn look(&self, top: &Path, files: &mut BTreeMap<String, String>) {
        let mut open = vec![top.to_path_buf()];
        while let Some(path) = open.pop() {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let name = path.strip_prefix(self.home()).unwrap().to_string_lossy().into_owned();
            if is_gits(&name) {
                continue;
            }
            let mode = meta.permissions().mode() & 0o7777;
            let what = if meta.is_symlink() {
                format!("link{CONTENT}{}", fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
                format!("directory {mode:o}")
            } else if meta.size() > 1 << 20 {
                let mut head = [0; 4];
                let _read = fs::File::open(&path).and_then(|mut file| file.read(&mut head));
                format!("file {mode:o} {} bytes {head:?}", meta.size())
            } else {
                format!(
                    "file {mode:o}{CONTENT}{}",
                    String::from_utf8_lossy(&fs::read(&path).unwrap_or_default())
                )
            };
            files.insert(name, what);
        }
    }
}

impl Picture {
    fn is(&self, other: &Picture) -> bool {
        self.files == other.files && self.refs == other.refs && self.index == other.index
    }
}

/// What git writes as it goes, and what is looked at as references.
fn is_gits(name: &str) -> bool {
    let Some((repo, inner)) = name.split_once("/.git/") else { return false };
    let own = |inner: &str| {
        let first = inner.split('/').next().unwrap();
        matches!(
            first,
            "config" | "hooks" | "info" | "HEAD" | "refs" | "packed-refs" | "modules" | "worktrees"
        )
    };
    if repo == "proj" {
        return match inner.split_once('/') {
            Some(("modules", rest)) => rest.split_once('/').is_some_and(|(_, inner)| !own(inner)),
            Some(("worktrees", rest)) => !rest.ends_with("HEAD") && rest.contains('/'),
            _ => !matches!(inner.split("/").next().unwrap(), "config" | "hooks" | "info"),
        };
    }
    !own(inner)
}
