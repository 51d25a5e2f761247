//! `lazaret except RULE`: a person's standing exception from a rule, written into their own configuration and accepted in one step.
//! Demands a terminal, so that an agent's shell cannot give it.

use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::{CHECKS, accept, config as shown};
use crate::domain::{Exception, Expiry, Lowered, Places, Policy, Tier, pasted};
use crate::host::config::{self, NoteKind};
use crate::host::dirs::Dirs;
use crate::host::files::{self, Links};
use crate::host::{clock, watch};
use crate::review::exceptions;

/// How long an exception holds when nothing else is said, in days.
const DAYS: u64 = 30;

/// What stands in the log where a secret stood, in an action and in a path, and at the end of what was cut.
pub const REDACTED: &str = "[redacted:";
pub const MASKED: &str = "[masked:";
pub const CUT: char = '…';
/// Longest command that an exception is made for, in bytes.
const COMMAND: usize = 2_000;

#[derive(Debug, Args)]
pub struct ExceptArgs {
    /// The rule, by its id
    pub rule: String,
    /// Only for calls that stay in the working directory
    #[arg(long)]
    pub here: bool,
    /// Only for this command, word for word
    #[arg(long, value_name = "TEXT")]
    pub command: Option<String>,
    /// What becomes of the rule's verdict
    #[arg(long, value_parser = lowered(), default_value = Lowered::Warn.name())]
    pub to: Lowered,
    /// How long it holds, in whole days (default: 30d)
    #[arg(long = "for", value_name = "TIME", value_parser = days)]
    pub days: Option<u64>,
    /// Why this is all right; asked for where it is left out
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

fn lowered() -> impl TypedValueParser<Value = Lowered> {
    let names = PossibleValuesParser::new(Lowered::NAMES);
    names.try_map(|name| Lowered::from_name(&name).ok_or("there is no such verdict"))
}

/// A time of whole days.
fn days(text: &str) -> Result<u64, String> {
    let time = humantime::parse_duration(text).map_err(|error| format!("{error}; as in 30d, 2w"))?;
    match time.as_secs() / exceptions::DAY_S {
        days if time == Duration::from_secs(days * exceptions::DAY_S) && days > 0 => Ok(days),
        _ => Err("give whole days, as in 30d, 2w".to_owned()),
    }
}

/// Writes the exception and accepts the file with it.
pub fn run(
    args: &ExceptArgs,
    (dirs, places): (&Dirs, &Places),
    terminal: bool,
    out: &mut dyn Write,
) -> Result<()> {
    if !terminal {
        bail!("except: only a person at a terminal can except a rule; run it in your own shell");
    }
    let path = dirs.config_file();
    let file = path.display();
    let explained = config::explain(dirs, places, CHECKS)?;
    if explained.notes.iter().any(|note| note.kind == NoteKind::Unaccepted) {
        bail!("{file}: it holds what nobody accepted yet; look at it, then run: lazaret config accept");
    }
    let exception = exception(args, &explained.policy, out)?;
    let before = files::read(&path.to_string_lossy(), config::MAX_FILE, Links::Follow);
    let before = before.map_err(|why| anyhow::anyhow!("{file}: {why}"))?.unwrap_or_default();
    let mut text = String::from_utf8(before).with_context(|| format!("{file}: it is not UTF-8 text"))?;
    let entry = entry(&exception);
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&entry);
    if let Some(problem) = config::problems(text.as_bytes(), None, CHECKS).first() {
        bail!(
            "{file}: with the exception at its end it could not be read ({problem}); put it in yourself: lazaret config edit"
        );
    }
    files::private_dir(&dirs.config).with_context(|| format!("directory of {file}"))?;
    // A link to a file that lies elsewhere stays one.
    let place = path.canonicalize().unwrap_or_else(|_| path.clone());
    watch::placing(&dirs.state, &path, || {
        files::replace(&place, text.as_bytes()).with_context(|| format!("{file}: it cannot be written"))
    })?;
    write!(out, "{entry}")?;
    accept::accepted(dirs, &config::explain(dirs, places, CHECKS)?, text.as_bytes(), out)
}

/// What is to be written, where it would have an effect.
fn exception(args: &ExceptArgs, policy: &Policy, out: &mut dyn Write) -> Result<Exception> {
    let rule = &args.rule;
    let Some(severity) = shown::severity_of(rule, policy) else {
        let why = shown::unknown_rule(rule, policy).unwrap_or_else(|| format!("{rule} has no exceptions"));
        bail!("except: {why}");
    };
    let now_s = clock::now().unix_ms / 1000;
    let until_s = now_s + args.days.unwrap_or(DAYS) * exceptions::DAY_S;
    let day = clock::rfc3339(until_s * 1000).split('T').next().unwrap_or_default().to_owned();
    let repository = args.here.then(std::env::current_dir).transpose().context("the working directory")?;
    let mut exception = Exception {
        to: args.to,
        expires: Some(Expiry { unix_s: until_s, text: day }),
        repository: repository.map(|dir| dir.to_string_lossy().into_owned()),
        command: args.command.clone(),
        ..Exception::of(rule.clone(), Tier::User)
    };
    if let Some(why) = exceptions::objection(&exception, severity, policy, now_s) {
        bail!("except: {why}");
    }
    exception.reason = match &args.reason {
        Some(reason) => reason.clone(),
        None => asked(out)?,
    };
    Ok(exception)
}

/// The command that excepts a call of the log from a rule, word for word, where it was made; none = it was no shell's, the log does not
/// have its words, they are too many, or they cannot be written so that every shell reads the same.
pub fn command(rule: &str, tool: &str, cwd: &str, action: &str) -> Option<String> {
    let left_out = [REDACTED, MASKED].iter().any(|mark| action.contains(mark) || cwd.contains(mark));
    if tool != "Bash" || left_out || action.ends_with(CUT) || action.len() > COMMAND {
        return None;
    }
    let (rule, cwd, command) = (pasted(rule)?, pasted(cwd)?, pasted(action)?);
    Some(format!("cd {cwd} && lazaret except {rule} --here --command {command}"))
}

/// The reason, as the person types it.
fn asked(out: &mut dyn Write) -> Result<String> {
    write!(out, "why is this all right? ")?;
    out.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// The entry, as it stands in the file.
fn entry(exception: &Exception) -> String {
    let text = |text: &String| toml::Value::String(text.clone()).to_string();
    let lines = [
        ("rule", Some(text(&exception.rule))),
        ("repository", exception.repository.as_ref().map(text)),
        ("command", exception.command.as_ref().map(text)),
        ("to", Some(text(&exception.to.name().to_owned()))),
        ("reason", Some(text(&exception.reason))),
        ("expires", exception.expires.as_ref().map(|expiry| expiry.text.clone())),
    ];
    let lines = lines.into_iter().filter_map(|(name, value)| Some(format!("{name} = {}\n", value?)));
    std::iter::once("[[exceptions]]\n".to_owned()).chain(lines).collect()
}
