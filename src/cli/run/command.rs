//! The client's command line: which client it is, and what it lacks to be read.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::args::RunArgs;
use crate::domain::{Client, escape};
use crate::rules::lists;

/// A client to be started headless.
#[derive(Debug)]
pub(super) struct Headless {
    pub client: Client,
    line: Vec<OsString>,
    /// The person asked for the client's stream, so it is passed on; otherwise only the last answer is printed.
    pub passes_through: bool,
}

impl Headless {
    pub fn of(args: &RunArgs) -> Result<Headless> {
        let program = args.command.first().map(OsString::as_os_str).unwrap_or_default();
        let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(client) = Client::of_program(name).filter(|client| client.about().reviews) else {
            bail!(
                "run {}: it starts only claude and opencode, by their names or by a path that ends in one of them",
                escape(name)
            )
        };
        let line = args.command.clone();
        guarded(&line)?;
        if client == Client::ClaudeCode { claude(line) } else { opencode(line) }
    }

    pub fn command(&self) -> Command {
        let mut line = self.line.iter();
        let mut command = Command::new(line.next().map(OsString::as_os_str).unwrap_or_default());
        command.args(line).stdin(Stdio::inherit());
        command
    }

    /// What to say of a client that asks nobody: the hooks alone decide about its calls.
    pub fn unasked(&self) -> Option<String> {
        let word =
            self.line.iter().find(|word| lists::CLIENT_UNASKED.iter().any(|option| *word == option))?;
        let word = escape(&word.to_string_lossy());
        Some(format!("{word}: the client asks nobody; its hooks alone decide about each call"))
    }

    pub fn program(&self) -> String {
        self.line.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Settings by which hooks are switched off, redirected or joined by others.
const LEADING: &[&str] = &["allowManagedHooksOnly", "disableAllHooks", "enabledPlugins", "env", "hooks"];

/// Refuses a command line that leaves the client's hooks out; settings of one's own may stand there when they say nothing of hooks.
fn guarded(line: &[OsString]) -> Result<()> {
    for name in lists::CLIENT_OFF {
        let Some(value) = option(line, &[name]) else { continue };
        if *name != "--settings" {
            bail!("run: {name} starts the client without the hooks that supervise it; leave it out");
        }
        let text = if value.trim_start().starts_with('{') {
            value.to_owned()
        } else {
            std::fs::read_to_string(value).with_context(|| format!("run: --settings {}", escape(value)))?
        };
        let settings: Value = crate::host::from_json(text.as_bytes())
            .with_context(|| format!("run: --settings {}: the hooks may be off in it", escape(value)))?;
        if let Some(key) = LEADING.iter().find(|key| settings.get(key).is_some()) {
            bail!("run: \"{key}\" of --settings has a say in the hooks; leave it out");
        }
    }
    Ok(())
}

/// Whether an option stands on the line, by itself or with its value behind `=`; and that value.
fn option<'l>(line: &'l [OsString], names: &[&str]) -> Option<&'l str> {
    let mut words = line.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if names.contains(&name) {
            return Some(value.or_else(|| words.next()).unwrap_or_default());
        }
    }
    None
}

fn has(line: &[OsString], names: &[&str]) -> bool {
    line.iter().any(|word| names.iter().any(|name| word == name))
}

fn claude(mut line: Vec<OsString>) -> Result<Headless> {
    if !has(&line, &["-p", "--print"]) {
        bail!("run: claude without -p waits for a person; give -p and the prompt");
    }
    let passes_through = match option(&line, &["--output-format"]) {
        Some("stream-json") => true,
        Some(other) => bail!(
            "run: --output-format {}: it is read while it works; leave it out, or give stream-json",
            escape(other)
        ),
        None => {
            line.extend(["--output-format", "stream-json"].map(OsString::from));
            false
        }
    };
    if !has(&line, &["--verbose"]) {
        line.push("--verbose".into());
    }
    Ok(Headless { client: Client::ClaudeCode, line, passes_through })
}

fn opencode(mut line: Vec<OsString>) -> Result<Headless> {
    let Some(place) = line.iter().skip(1).position(|word| word == "run") else {
        bail!("run: opencode without its own `run` waits for a person; give opencode run and the prompt");
    };
    let passes_through = match option(&line, &["--format"]) {
        Some("json") => true,
        Some(other) => {
            bail!("run: --format {}: it is read while it works; leave it out, or give json", escape(other))
        }
        None => {
            let place = place.saturating_add(2).min(line.len());
            line.splice(place..place, ["--format", "json"].map(OsString::from));
            false
        }
    };
    Ok(Headless { client: Client::OpenCode, line, passes_through })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_line(line: &[&str]) -> Result<Headless> {
        let args = RunArgs {
            timeout: None,
            max_memory: None,
            max_tokens: None,
            max_cost: None,
            max_calls: None,
            profile: None,
            restore: false,
            confine: None,
            allow_write: Vec::new(),
            allow_read: Vec::new(),
            json: false,
            command: line.iter().map(OsString::from).collect(),
        };
        Headless::of(&args)
    }

    fn of(line: &[&str]) -> Result<(Vec<String>, bool), String> {
        let headless = of_line(line).map_err(|error| format!("{error:#}"))?;
        let line = headless.line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Ok((line, headless.passes_through))
    }

    #[test]
    fn what_is_needed_to_read_the_stream_is_added() {
        let (line, passes) = of(&["/opt/bin/claude", "-p", "do it"]).unwrap();
        assert_eq!(line, ["/opt/bin/claude", "-p", "do it", "--output-format", "stream-json", "--verbose"]);
        assert!(!passes);
        let (line, passes) =
            of(&["claude", "--print", "--output-format=stream-json", "--verbose", "x"]).unwrap();
        assert_eq!(line, ["claude", "--print", "--output-format=stream-json", "--verbose", "x"]);
        assert!(passes);
        let (line, passes) = of(&["opencode", "run", "--auto", "do it"]).unwrap();
        assert_eq!(line, ["opencode", "run", "--format", "json", "--auto", "do it"]);
        assert!(!passes);
        assert!(of(&["opencode", "run", "--format", "json", "do it"]).unwrap().1);
    }

    #[test]
    fn what_asks_nobody_is_said() {
        let unasked = |line: &[&str]| of_line(line).unwrap().unasked();
        assert_eq!(unasked(&["claude", "-p", "x"]), None);
        assert_eq!(unasked(&["claude", "-p", "x", "--settings", "{\"model\":\"opus\"}"]), None);
        assert!(unasked(&["claude", "-p", "x", "--dangerously-skip-permissions"]).is_some());
        assert!(unasked(&["claude", "-p", "x", "--permission-mode", "bypassPermissions"]).is_some());
        assert!(unasked(&["opencode", "run", "--auto", "x"]).is_some());
    }

    #[test]
    fn what_cannot_be_supervised_is_refused() {
        for (line, why) in [
            (&["vim"][..], "only claude and opencode"),
            (&["sh", "-c", "claude -p x"], "only claude and opencode"),
            (&["./my-claude", "-p", "x"], "only claude and opencode"),
            (&["claude", "-p", "x", "--bare"], "--bare"),
            (&["claude", "-p", "x", "--setting-sources=local"], "--setting-sources"),
            (&["claude", "-p", "x", "--settings", "{\"disableAllHooks\":true}"], "disableAllHooks"),
            (&["claude", "-p", "x", "--settings={\"hooks\":{}}"], "\"hooks\""),
            (&["claude", "-p", "x", "--settings", "{\"env\":{\"HOME\":\"/x\"}}"], "\"env\""),
            (&["claude", "-p", "x", "--settings", "{"], "may be off"),
            (&["claude", "-p", "x", "--settings", "/nonexistent/s.json"], "/nonexistent/s.json"),
            (&["opencode", "--pure", "run", "x"], "--pure"),
            (&["claude", "fix it"], "without -p"),
            (&["claude", "-p", "x", "--output-format", "json"], "--output-format json"),
            (&["opencode", "fix it"], "without its own `run`"),
            (&["opencode", "run", "--format=default", "x"], "--format default"),
        ] {
            assert!(of(line).unwrap_err().contains(why), "{line:?}");
        }
    }
}
