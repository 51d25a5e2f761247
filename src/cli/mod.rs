//! The command line: arguments, the order of one call, one file per subcommand. `hook` is answered before clap starts.

pub mod accept;
mod allow;
pub mod args;
pub mod audit;
mod behaviour;
mod call;
mod check;
mod checkpoint;
mod clients;
mod closed;
pub mod config;
pub mod doctor;
mod emergency;
pub mod except;
pub mod facts;
mod fleet;
pub mod hook;
pub mod install;
mod judge;
mod keep;
mod lines;
mod notify;
mod plugins;
pub mod progress;
mod quarantine;
mod record;
mod registering;
mod replay;
mod report;
mod resume;
pub mod review;
mod rollback;
pub mod rules;
mod run;
mod self_check;
mod settings;
pub mod stats;
mod stream;
pub mod surfaces;
pub mod trust;
pub mod uninstall;
pub mod view;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use anyhow::Context;
use clap::{Args, FromArgMatches, Parser};

use crate::domain::{Client, Fault, FaultKind, Places, Policy};
use crate::host::config::Checks;
use crate::host::dirs::{Dirs, Environment};
use crate::host::quarantine::descends_from;
use crate::host::{clock, guard, places};
use crate::rules::{CLIENTS, own_commands};
use args::{CheckArgs, Cli, Command};
use record::Log;

/// What custom entries of the configuration have to be besides well written.
pub const CHECKS: Checks = Checks {
    rule: crate::rules::custom::problems,
    pattern: crate::review::behaviour::problems,
    intervention: crate::review::behaviour::misplaced,
};

/// How a command of a person ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: fine, or allowed.
    Fine,
    /// 1: lazaret itself could not do it, or something is not well.
    Failed,
    /// 2: blocked, or a filter names what there is not.
    Blocked,
    /// 3: would be modified or asked.
    Changed,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> u8 {
        match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
            Exit::Changed => 3,
        }
    }
}

/// A filter that names what there is not, and so would find nothing.
#[derive(Debug)]
pub struct Misnamed(String);

impl std::fmt::Display for Misnamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misnamed {}

/// The whole program, of its name and arguments; its answer is the exit code.
pub fn run(args: &[OsString]) -> u8 {
    if let [_, command, rest @ ..] = args
        && command == "hook"
        && !rest.iter().any(|arg| arg == "--help" || arg == "-h")
    {
        return hook::run(rest);
    }
    guard::arm_tool();
    let code = person(args, command);
    // Rust's own end would do it: a line without its end may be left of a command that failed.
    let _told = std::io::stdout().flush();
    code
}

/// The arguments of `check`, where they are right.
fn check_alone(args: &[OsString]) -> Option<Command> {
    let matches = CheckArgs::augment_args(clap::Command::new("check")).try_get_matches_from(args).ok()?;
    CheckArgs::from_arg_matches(&matches).ok().map(Command::Check)
}

/// Carries a command out, which was given by these arguments.
pub type Carry = fn(&Command, &[OsString], &mut dyn Write) -> anyhow::Result<Exit>;

/// A command of a person, carried out by this.
pub fn person(args: &[OsString], command: Carry) -> u8 {
    // All commands with all of their options cost most of what the judgement of a short one costs; what is wrong is said by them.
    let quick = match args {
        [_, name, ..] if name == "check" => check_alone(args.get(1..).unwrap_or_default()),
        _ => None,
    };
    let cli = match quick.map_or_else(|| Cli::try_parse_from(args), |command| Ok(Cli { command })) {
        Ok(cli) => cli,
        Err(error) => {
            let error = with_whole_name(error, args);
            let fine = !error.use_stderr();
            let printed = error.print();
            return u8::from(if fine && printed.is_ok() { Exit::Fine } else { Exit::Failed });
        }
    };
    if let Err(error) = refuse_agents(args) {
        return failed(&error);
    }
    let mut out = std::io::stdout().lock();
    match command(&cli.command, args, &mut out).and_then(|exit| Ok(out.flush().map(|()| exit)?)) {
        Ok(exit) => after_stop(exit.into()),
        Err(error) => after_stop(failed(&error)),
    }
}

/// The exit code of what a person stopped is the one that a shell gives it. What was done all the same is done.
fn after_stop(code: u8) -> u8 {
    let signal = guard::stop_asked().filter(|_| code == u8::from(Exit::Failed));
    signal.and_then(|signal| u8::try_from(128 + signal).ok()).unwrap_or(code)
}

/// What the clients set to 1 in the shells of their agents.
const SHELLS_OF_CLIENTS: &[&str] = &["CLAUDECODE", "OPENCODE"];

/// Refuses what is a person's in the shell of an agent, which has no terminal, and at a terminal that a client's agent made for itself.
/// An agent can unset the variables; the rule `selfprotect.own-commands` is what holds, and this what is left where a command was
/// not seen.
fn refuse_agents(args: &[OsString]) -> anyhow::Result<()> {
    let words = args.iter().skip(1).map(|word| word.to_str());
    if own_commands::is_for_agents(words) {
        return Ok(());
    }
    let set = |name: &&&str| std::env::var_os(name).is_some_and(|value| value == "1");
    let shown = if std::io::stdin().is_terminal() {
        descends_from(CLIENTS).map(|client| format!("{client} started it"))
    } else {
        SHELLS_OF_CLIENTS.iter().find(set).map(|variable| format!("{variable} is set"))
    };
    let Some(shown) = shown else { return Ok(()) };
    let command = args.get(1).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let fault = Fault::new(
        FaultKind::Config,
        crate::domain::escape(&command),
        format!("this is the shell of a client's agent ({shown}), and the command is for people"),
    );
    Err(fault.with_hint("run it in a terminal of your own").into())
}

/// A file that is called like options (`-dash.rs`) by its whole name in the tip, not by its first letter.
fn with_whole_name(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let Some(ContextValue::String(letter)) = error.get(ContextKind::InvalidArg) else { return error };
    let begins =
        |arg: &&str| arg.starts_with(letter.as_str()) && arg.len() > letter.len() && !arg.starts_with("--");
    if letter.len() != 2 {
        return error;
    }
    if let Some(name) = args.iter().filter_map(|arg| arg.to_str()).find(begins) {
        let tip = format!(
            "a name that begins with a dash stands behind `--`: `-- {}`",
            crate::domain::escape(name)
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Standard output was closed when the program began; what is written goes nowhere, without an error. A `>/dev/null`, which
/// somebody asked for, is opened for writing alone.
fn is_output_closed() -> bool {
    let both = |flags: rustix::fs::OFlags| flags.contains(rustix::fs::OFlags::RDWR);
    hook::leads_nowhere() && rustix::fs::fcntl_getfl(rustix::stdio::stdout()).is_ok_and(both)
}

/// The error on stderr as `lazaret: what: why`. A reader that went away (`| head`) is no error.
fn failed(error: &anyhow::Error) -> u8 {
    let gone = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    if gone.into_iter().any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe) {
        return Exit::Fine.into();
    }
    let hint = error.downcast_ref::<Fault>().and_then(|fault| fault.hint.as_deref());
    let mut text = format!("lazaret: {error:#}\n");
    if let Some(hint) = hint {
        text.push_str(&format!("hint: {hint}\n"));
    }
    // Nothing is left to tell it to when stderr is closed.
    let _told = std::io::stderr().write_all(text.as_bytes());
    if error.is::<Misnamed>() { Exit::Blocked.into() } else { Exit::Failed.into() }
}

fn command(command: &Command, args: &[OsString], out: &mut dyn Write) -> anyhow::Result<Exit> {
    match command {
        Command::Hook { .. } => anyhow::bail!("hook: usage: lazaret hook {}", Client::NAMES.join("|")),
        Command::Rules { command: None, json } => rules::list(*json, &Machine::here()?, out),
        Command::Rules { command: Some(command), .. } => rules::run(command, &Machine::here()?, out),
        Command::Facts(command) => facts::run(command, &Machine::here()?, out),
        Command::SelfCheck { sums } => self_check::run(sums.as_deref(), out),
        Command::Check(args) => check::run(args, Machine::here()?, out),
        Command::Replay(args) => replay::run(args, Machine::here()?, out),
        Command::Install(args) => registering::install(args, &Machine::here()?, out),
        Command::Uninstall(args) => registering::uninstall(args, &Machine::here()?, out),
        Command::Doctor { json } => registering::doctor(*json, Machine::here()?, out),
        Command::Review(command) => review::run(command, &Machine::here()?, out),
        Command::Ref(command) => review::reference(command, &Machine::here()?, out),
        Command::Agents { json } => review::agents(*json, &Machine::here()?, out),
        Command::Audit(command) => audit::run(command, &Machine::here()?, out),
        Command::Config(command) => settings::config(command, &Machine::here()?, out),
        Command::Trust { action, file, json } => {
            settings::trust((*action, *json), file.as_deref(), &Machine::here()?, out)
        }
        Command::Checkpoint(command) => checkpoint::run(command, &Machine::here()?, out),
        Command::Rollback(args) => rollback::run(args, &Machine::here()?, out),
        Command::Allow { code, refuse } => allow::run(code, *refuse, &Machine::here()?, out),
        Command::Except(args) => settings::except(args, &Machine::here()?, out),
        Command::Resume { session, client } => resume::run((session, *client), &Machine::here()?, out),
        Command::Notify { report } => notify::run(report, &Machine::here()?, out),
        Command::Stats(args) => stats::run(args, &Machine::here()?, out),
        Command::Run(args) => run::run(args, &Machine::here()?, out),
        Command::Feedback(args) => stats::feedback::run(args, &Machine::here()?, out),
        Command::Report(_) | Command::Watch(_) | Command::Completions { .. } | Command::Man { .. } => {
            view::run(args)
        }
    }
}

/// The environment of this process and where lazaret's things lie in it.
#[derive(Debug, Clone)]
pub struct Machine {
    pub env: Environment,
    pub dirs: Dirs,
}

impl Machine {
    pub fn here() -> anyhow::Result<Machine> {
        let env = Environment::read();
        let dirs = Dirs::locate(&env)?;
        Ok(Machine { env, dirs })
    }

    /// The audit log, of this moment.
    fn log<'a>(&'a self, policy: &'a Policy) -> Log<'a> {
        Log { state: &self.dirs.state, env: &self.env, policy, now: clock::now() }
    }

    /// Where things are, seen from the working directory.
    fn places(&self) -> anyhow::Result<Places> {
        let cwd = std::env::current_dir().context("the working directory")?;
        Ok(places::locate(&self.env, &self.dirs, &cwd.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Every command of the command line, in the form of the table.
    fn commands() -> Vec<(String, String)> {
        let mut all = Vec::new();
        for command in Cli::command().get_subcommands() {
            let (name, subs) = (command.get_name(), command.get_subcommands().count());
            let own = |second: &str| (name.to_owned(), second.to_owned());
            if subs == 0 || !command.is_subcommand_required_set() {
                all.push(own(""));
            }
            all.extend(command.get_subcommands().map(|sub| own(sub.get_name())));
        }
        all
    }

    #[test]
    fn the_table_of_own_commands_knows_every_command_and_no_other() {
        let known: Vec<(&str, &str)> = own_commands::names().collect();
        for (first, second) in commands() {
            assert!(known.contains(&(&first, &second)), "{first} {second} does not stand in the table");
        }
        for (first, second) in known {
            // `help` is clap's own, and the actions of `trust` are values.
            let there = commands().contains(&(first.to_owned(), second.to_owned()));
            assert!(there || matches!(first, "help" | "trust"), "{first} {second} is no command");
        }
    }
}
