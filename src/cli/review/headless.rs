//! How each client is started for a review: headless, in an empty directory, as an agent that has only the tools of the
//! quarantine.

use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::quarantine::Task;
use crate::domain::{Client, Fault, FaultKind, ReviewId, size};
use crate::host::quarantine::MAX_TTL_S;
use crate::review::quarantine_tools::AllowedTool;

/// Longest single argument: less than the 128 KiB that Linux takes.
const MAX_ARGUMENT: usize = 120 * 1024;
const DESCRIPTION: &str = "reads untrusted code in lazaret's quarantine";
/// What OpenCode reads last of its configuration.
const OPENCODE_CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

/// What a client is started for.
pub struct Start<'s> {
    pub program: &'s Path,
    /// The working directory.
    pub dir: &'s Path,
    pub session: &'s ReviewId,
    pub agent_type: &'s str,
    pub task: &'s Task,
    pub model: Option<&'s str>,
}

impl Start<'_> {
    /// The command line. The session in its environment is what puts the whole client into quarantine; everything else
    /// here only spares the agent calls that would be refused.
    pub fn command(&self, client: Client) -> Result<Command, Fault> {
        let mut command = Command::new(self.program);
        command.current_dir(self.dir).env("LAZARET_QUARANTINE", self.session.as_str()).stdin(Stdio::null());
        // Of the clients with which a review can be run.
        if client == Client::ClaudeCode {
            self.claude(&mut command)
        } else {
            self.opencode(&mut command)?
        }
        let longest = command.get_args().map(|argument| argument.len()).max().unwrap_or(0);
        if longest > MAX_ARGUMENT {
            let (had, most) = (size(longest as u64), size(MAX_ARGUMENT as u64));
            let why = format!("the prompt would be {had}; an argument of a program is at most {most}");
            return Err(Fault::new(FaultKind::TooLarge, "the task", why)
                .with_hint("name less, or review it in parts"));
        }
        Ok(command)
    }

    fn claude(&self, command: &mut Command) {
        let agent = json!({ self.agent_type: {
            "description": DESCRIPTION, "prompt": self.task.system_prompt, "tools": AllowedTool::NAMES,
        }});
        command.arg("-p").arg(&self.task.user_prompt);
        command.args(["--output-format", "stream-json", "--verbose"]);
        command.arg("--agents").arg(agent.to_string()).args(["--agent", self.agent_type]);
        command.arg("--tools").arg(AllowedTool::NAMES.join(","));
        // Nothing of a project, no servers, no commands: settings of the user and of the machine only.
        command.args(["--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands"]);
        command.arg("--no-session-persistence");
        if let Some(model) = self.model {
            command.args(["--model", model]);
        }
    }

    fn opencode(&self, command: &mut Command) -> Result<(), Fault> {
        // Outside a project's directory everything is outside: where the quarantine leads a call is lazaret's to say.
        let mut permission = serde_json::Map::new();
        permission.insert("*".to_owned(), Value::from("deny"));
        let allowed = AllowedTool::NAMES.iter().map(|name| name.to_ascii_lowercase());
        for name in allowed.chain(["external_directory".to_owned()]) {
            permission.insert(name, Value::from("allow"));
        }
        let agent = json!({
            "mode": "primary", "description": DESCRIPTION, "prompt": self.task.system_prompt, "permission": permission,
        });
        let given = std::env::var_os(OPENCODE_CONFIG).map(|text| text.to_string_lossy().into_owned());
        let config = with_agent(given.as_deref(), self.agent_type, agent)?;
        command.env(OPENCODE_CONFIG, config.to_string());
        command.args(["run", "--format", "json", "--agent", self.agent_type]);
        if let Some(model) = self.model {
            command.args(["--model", model]);
        }
        // As an argument it would arrive in quotes, with every quote in it escaped.
        let task = unnamed(self.dir, &self.task.user_prompt)
            .map_err(|error| Fault::new(FaultKind::Host, "the task", error.to_string()))?;
        command.stdin(task);
        Ok(())
    }
}

/// A file without a name that holds `text`, to be read from its beginning.
fn unnamed(dir: &Path, text: &str) -> io::Result<File> {
    let path = dir.join("task");
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// The configuration that the environment holds already, with the agent in it.
fn with_agent(given: Option<&str>, name: &str, agent: Value) -> Result<Value, Fault> {
    let given = given.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    let unusable = || {
        Fault::new(
            FaultKind::Config,
            OPENCODE_CONFIG,
            "it is not a JSON object, so that no agent can be added",
        )
        .with_hint("unset it, or write it as plain JSON")
    };
    let mut config: Value = serde_json::from_str(given).map_err(|_| unusable())?;
    let agents = config.as_object_mut().ok_or_else(unusable)?.entry("agent").or_insert_with(|| json!({}));
    agents.as_object_mut().ok_or_else(unusable)?.insert(name.to_owned(), agent);
    Ok(config)
}

/// An empty directory of its own for a client, removed with all that the client leaves in it. A project's directory would
/// bring the settings, instructions and plugins of the very code that is not trusted.
pub struct Empty(pub PathBuf);

impl Empty {
    pub fn make(state: &Path) -> Result<Empty, Fault> {
        let all = state.join("review-run");
        forget_left(&all);
        let dir = all.join(uuid::Uuid::new_v4().as_hyphenated().to_string());
        crate::host::files::private_dir(&dir)
            .map_err(|error| Fault::new(FaultKind::Host, dir.display().to_string(), error.to_string()))?;
        Ok(Empty(dir))
    }
}

/// Removes what killed processes left: no review lasts as long as a session may.
fn forget_left(all: &Path) {
    let longest = Duration::from_secs(MAX_TTL_S.into());
    let is_left = |dir: &DirEntry| {
        let changed = dir.metadata().and_then(|meta| meta.modified()).ok();
        changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > longest)
    };
    for dir in std::fs::read_dir(all).into_iter().flatten().flatten().filter(is_left) {
        // What cannot be removed is looked at again the next time.
        let _gone = std::fs::remove_dir_all(dir.path());
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        // What cannot be removed is an empty directory at worst; nothing of the review is in it.
        let _gone = std::fs::remove_dir_all(&self.0);
        if let Some(above) = self.0.parent() {
            let _in_use = std::fs::remove_dir(above);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_reviews_left_goes_after_a_day_and_nothing_else() {
        let state = tempfile::tempdir().unwrap();
        let all = state.path().join("review-run");
        for name in ["old", "young"] {
            std::fs::create_dir_all(all.join(name)).unwrap();
            std::fs::write(all.join(name).join("left"), "").unwrap();
        }
        let day = Duration::from_secs(u64::from(MAX_TTL_S) + 60);
        let old = File::open(all.join("old")).unwrap();
        old.set_modified(std::time::SystemTime::now() - day).unwrap();
        drop(Empty::make(state.path()).unwrap());
        assert!(!all.join("old").exists() && all.join("young/left").exists());
    }

    #[test]
    fn the_agent_joins_what_is_configured() {
        let given = r#"{"model":"m","agent":{"other":{},"q":{"mode":"subagent"}}}"#;
        let config = with_agent(Some(given), "q", json!({ "mode": "primary" })).unwrap();
        assert_eq!(config, json!({"model": "m", "agent": {"other": {}, "q": {"mode": "primary"}}}));
        for none in [None, Some(""), Some(" ")] {
            assert_eq!(with_agent(none, "q", json!({})).unwrap(), json!({"agent": {"q": {}}}));
        }
        for unusable in ["[]", "{", "// c\n{}", r#"{"agent": 1}"#] {
            assert!(with_agent(Some(unusable), "q", json!({})).is_err(), "{unusable}");
        }
    }
}
