//! The client's command line: which client it is, and what it lacks to be read.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::args::RunArgs;
use crate::domain::{Client, escape};

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
        let client = match (args.client, name) {
            (Some(client), _) => client.into(),
            (None, "claude") => Client::ClaudeCode,
            (None, "opencode") => Client::OpenCode,
            (None, _) => bail!(
                "run {}: this is neither claude nor opencode; say which client it is with --client",
                escape(name)
            ),
        };
        let line = args.command.clone();
        match client {
            Client::ClaudeCode => claude(line),
            Client::OpenCode => opencode(line),
        }
    }

    pub fn command(&self) -> Command {
        let mut line = self.line.iter();
        let mut command = Command::new(line.next().map(OsString::as_os_str).unwrap_or_default());
        command.args(line).stdin(Stdio::inherit());
        command
    }

    pub fn program(&self) -> String {
        self.line.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default()
    }
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

    fn of(line: &[&str]) -> Result<(Vec<String>, bool), String> {
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
            client: None,
            json: false,
            command: line.iter().map(OsString::from).collect(),
        };
        let headless = Headless::of(&args).map_err(|error| error.to_string())?;
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
    fn what_cannot_be_supervised_is_refused() {
        for (line, why) in [
            (&["vim"][..], "neither claude nor opencode"),
            (&["claude", "fix it"], "without -p"),
            (&["claude", "-p", "x", "--output-format", "json"], "--output-format json"),
            (&["opencode", "fix it"], "without its own `run`"),
            (&["opencode", "run", "--format=default", "x"], "--format default"),
        ] {
            assert!(of(line).unwrap_err().contains(why), "{line:?}");
        }
    }
}
