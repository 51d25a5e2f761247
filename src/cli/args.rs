//! The command line's definition: help, completions and the manual come from here. What the commands do is elsewhere.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::review::args::{RefCommand, ReviewCommand};
use crate::domain::Client;

/// A guard that stands between a coding agent and the machine.
///
/// The client (Claude Code, OpenCode, Codex) runs `lazaret hook` before every tool call and does what it answers. The other
/// commands are for people: dry runs, installing, the audit log, configuration.
#[derive(Debug, Parser)]
#[command(name = "lazaret", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = concat!("Exit codes: 0 fine or allowed, 1 lazaret itself could not do it, 2 blocked, \
                        3 would be modified or asked (only `check`), 130 stopped by Ctrl-C.\n\n\
                        Documentation: ", env!("LAZARET_DOCUMENTATION"), "\n\
                        Source:        ", env!("CARGO_PKG_REPOSITORY"), "\n\
                        Security:      ", env!("LAZARET_SECURITY")))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer one hook event of a client (run by the client, not by people)
    #[command(
        after_help = "Example:\n  lazaret hook claude-code < event.json\n\nExit code 0 or 2, nothing else."
    )]
    Hook {
        /// The client that sends the event
        #[arg(value_parser = client_name())]
        client: Client,
    },
    /// Say what would be decided, without doing or recording anything
    #[command(after_help = "Examples:\n  lazaret check 'git reset --hard'\n  \
        lazaret check --tool Read --input '{\"file_path\": \"/etc/shadow\"}'\n  \
        lazaret check --event event.json --explain\n  lazaret check --batch calls.jsonl > verdicts.jsonl")]
    Check(CheckArgs),
    /// Judge recorded sessions: what would have been stopped, and why
    #[command(
        after_help = "Examples:\n  lazaret replay ~/.claude/projects\n  lazaret replay ~/.codex/sessions .specstory/history\n  \
        opencode export ses_1a2b > session.json && lazaret replay session.json\n  \
        lazaret replay session.jsonl --call toolu_01AbC\n\n\
        Reads Claude Code's transcripts and streams, Codex's rollouts, SpecStory's pages, OpenCode's exports, events and stored\n\
        parts, and logs of hook messages; what a file holds tells which it is. Nothing is run and nothing is recorded. Exit\n\
        code 0 whatever is found (1: a file could not be read), with --exit-code 2 when a call would have been blocked, 3 when\n\
        one would have been asked about or changed."
    )]
    Replay(ReplayArgs),
    /// Register lazaret with the clients found, or with the one named
    #[command(
        after_help = "Examples:\n  lazaret install\n  lazaret install claude-code --scope project --dry-run"
    )]
    Install(RegisterArgs),
    /// Remove exactly what `install` wrote
    #[command(after_help = "Example:\n  lazaret uninstall all")]
    Uninstall(RegisterArgs),
    /// Prove that the gate is closed: run what is registered, with a call that must be blocked and one that must pass
    #[command(
        after_help = "Example:\n  lazaret doctor\n\nExit code 0 when all is well, 1 when something is not."
    )]
    Doctor {
        #[arg(long, help = "Print one JSON object")]
        json: bool,
    },
    /// Review mode: an agent reads untrusted code in quarantine
    #[command(subcommand)]
    Review(ReviewCommand),
    /// One typed reference: mint it, or check it
    #[command(subcommand)]
    Ref(RefCommand),
    /// The quarantined agents that are at work now, and their deadlines
    #[command(after_help = "Example:\n  lazaret agents --json")]
    Agents {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read the audit log, prove it, take it out, remove what is old
    #[command(subcommand)]
    Audit(crate::cli::audit::args::AuditCommand),
    /// Show, check or begin a configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Trust in the project's .lazaret.toml: what loosens counts only after `trust allow`
    #[command(after_help = "Examples:\n  lazaret trust show\n  lazaret trust allow")]
    Trust {
        /// What to do
        #[arg(value_enum, default_value_t = TrustAction::Show)]
        action: TrustAction,
        /// The file (default: the project's)
        file: Option<PathBuf>,
        #[arg(long, help = "Print one JSON object")]
        json: bool,
    },
    /// The rules with their reasons and examples: the built-in ones and those of the configuration
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:\n  lazaret rules list\n  lazaret rules --json > rules.json   # every rule whole"
    )]
    Rules {
        #[command(subcommand)]
        command: Option<RulesCommand>,
        /// Print one JSON object with all rules whole
        #[arg(long)]
        json: bool,
    },
    /// What is known of programs: how their words are read, and what their commands do
    #[command(
        subcommand,
        after_help = "Examples:\n  lazaret facts show kubectl\n  lazaret facts show acmectl --json"
    )]
    Facts(FactsCommand),
    /// Start a client headless and see to it: budgets, an open gate, an emergency stop
    #[command(
        after_help = "Examples:\n  lazaret run --timeout 30m --max-tokens 2000000 -- claude -p 'fix the failing tests'\n  \
        lazaret run --max-memory 4G --restore --json -- opencode run --auto 'update the dependencies'\n\n\
        The client's last answer (its whole stream, where the command asks for one) goes to standard output, the summary to standard\n\
        error. Exit code 0 when the client finished, 1 when it or lazaret failed, 2 when it was stopped."
    )]
    Run(crate::cli::run::args::RunArgs),
    /// What was saved before calls that changed or deleted files
    #[command(subcommand)]
    Checkpoint(CheckpointCommand),
    /// Put back what calls have changed or deleted: only what is still as they left it
    #[command(
        after_help = "Examples:\n  lazaret rollback --last --dry-run\n  lazaret rollback 019ab3c4-…\n  \
        lazaret rollback --last --force src/main.rs\n\n\
        A rollback makes a checkpoint of its own first, so that it can itself be undone. Exit code 0 when all was put back,\n\
        1 when something was not: changed since by somebody else, or never saved."
    )]
    Rollback(RollbackArgs),
    /// Let the one action of a code run once (at a terminal, within ten minutes)
    #[command(after_help = "Examples:\n  lazaret allow K7QM-2XWD\n  lazaret allow K7QM-2XWD --refuse")]
    Allow {
        /// The code from the block message
        code: String,
        /// Do not let it run: the code is good for nothing any more
        #[arg(long)]
        refuse: bool,
    },
    /// Make an exception from a rule, for a time (at a terminal)
    #[command(after_help = "Examples:\n  lazaret except git.reset-hard --here\n  \
        lazaret except network.upload --command 'curl -T report.pdf https://files.example' --for 7d --reason 'our own server'\n\n\
        It is written into your own configuration, which `lazaret config show` names. `lazaret config edit` takes it out again.")]
    Except(crate::cli::except::ExceptArgs),
    /// Let a session go on that was stopped, slowed down or held back (at a terminal)
    #[command(after_help = "Example:\n  lazaret resume 5d1c0f9e-2b7a-4f0e-9a53-1f2e3d4c5b6a")]
    Resume {
        /// The session's id, from the message or the audit log
        session: String,
        /// Only that of this client
        #[arg(long, value_parser = client_name(), value_name = "CLIENT")]
        client: Option<Client>,
    },
    /// Tell the command of `interventions.notify` of a stopped session, as the hook does when it stops one
    #[command(
        after_help = "Example:\n  lazaret notify ~/.local/state/lazaret/reports/stop-20261122T065350.812Z-4b1d9c0a7e35f286.json"
    )]
    Notify {
        /// The session's report, by its path or name
        report: PathBuf,
    },
    /// What the log adds up to: how calls were answered, how long it took, which rules spoke
    #[command(
        after_help = "Examples:\n  lazaret stats --since 7d\n  lazaret stats --client claude-code --json\n  \
        lazaret stats --prometheus > /var/lib/node_exporter/lazaret.prom\n\n\
        It counts what the log holds: calls of which audit.log_level keeps no line are not among them."
    )]
    Stats(crate::cli::stats::args::StatsArgs),
    /// One page about a session or some time: what was done, stopped and changed, and what can be undone
    #[command(
        after_help = "Examples:\n  lazaret report --open\n  lazaret report --since 1d --output today.html\n\n\
        The page is one file that needs nothing else, for any browser. What the log redacts stays redacted; files changed are shown\n\
        with their content: look at it before you hand it on."
    )]
    Report(crate::cli::view::ReportArgs),
    /// Running sessions in the terminal: calls as they come, questions to allow, what is stopped to go on
    #[command(after_help = "Examples:\n  lazaret watch\n  lazaret watch --once\n\n\
        It changes nothing by itself: its keys give the commands allow, resume and rollback, which ask for a terminal as ever.")]
    Watch(crate::cli::view::WatchArgs),
    /// Say whether a decision was right: `stats` counts it
    #[command(after_help = "Examples:\n  lazaret feedback last fp --note 'our own mirror'\n  \
        lazaret feedback 019ab3c4-5d6e-7f80-8192-a3b4c5d6e7f8 ok")]
    Feedback(crate::cli::stats::args::FeedbackArgs),
    /// Print shell completions
    #[command(
        after_help = "Example:\n  lazaret completions bash > ~/.local/share/bash-completion/completions/lazaret"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
        /// A command line up to the cursor, word by word: print what can stand in the place of the last word (the scripts ask so)
        #[arg(last = true, hide_short_help = true, value_name = "WORD")]
        words: Option<Vec<std::ffi::OsString>>,
    },
    /// Print the manual page, or that of a command
    #[command(after_help = "Examples:\n  lazaret man | man -l -\n  lazaret man review run | man -l -")]
    Man {
        /// The command, word by word
        command: Vec<String>,
    },
    /// Compare this binary, and what was installed with it, with the sums of the release
    #[command(
        after_help = "Examples:\n  lazaret self-check\n  lazaret self-check --sums ~/Downloads/SHA256SUMS\n\n\
        Without --sums it goes by the list that install.sh put into share/lazaret, or that lies beside the binary in an archive.\n\
        Exit code 0 when all agrees, 1 when something does not or nothing says what it should be. A binary that was exchanged can\n\
        say what it likes: sha256sum says it independently."
    )]
    SelfCheck {
        /// The list of sums to go by, as published with the release: the binary alone is compared
        #[arg(long, value_name = "FILE")]
        sums: Option<PathBuf>,
    },
}

/// A client by its name.
pub fn client_name() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::NAMES)
        .try_map(|name| Client::from_name(&name).ok_or("there is no such client"))
}

/// A client by its name, or `all`: none.
fn client_or_all() -> impl TypedValueParser<Value = Which> {
    let names = Client::NAMES.into_iter().chain(["all"]);
    PossibleValuesParser::new(names).map(|name| Which(Client::from_name(&name)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TrustAction {
    Show,
    Allow,
    Deny,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A shell command
    #[arg(required_unless_present_any = ["tool", "event", "batch"], conflicts_with_all = ["tool", "event", "batch"])]
    pub command: Option<String>,
    /// A tool by the client's name for it (`Read`, `mcp__server__tool`; `read` on OpenCode)
    #[arg(long, requires = "input", value_name = "NAME")]
    pub tool: Option<String>,
    /// The tool's arguments
    #[arg(long, requires = "tool", value_name = "JSON")]
    pub input: Option<String>,
    /// A whole hook message of either client (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "batch"])]
    pub event: Option<PathBuf>,
    /// Many calls, one JSON object a line (`-` = standard input): {"command": …}, {"tool": …, "input": …} or a hook message
    #[arg(long, value_name = "FILE", conflicts_with = "tool")]
    pub batch: Option<PathBuf>,
    /// The directory the call is made in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The type of the agent that makes it
    #[arg(long, value_name = "TYPE")]
    pub agent: Option<String>,
    /// The client that makes it
    #[arg(long, value_parser = client_name(), default_value = "claude-code")]
    pub client: Client,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Answer as if checkpoints could be made (a dry run makes none)
    #[arg(long)]
    pub checkpoints: bool,
    /// Say also what was understood: commands, effects, scores
    #[arg(long)]
    pub explain: bool,
}

/// What is taken to be on the disk while recorded calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// What is there today
    Today,
    /// Nothing is known: what depends on it is rated strictly
    Nothing,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Recorded sessions; of a directory, all that lie in it (`-` = standard input)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// What is taken to be on the disk
    #[arg(long, value_enum, default_value_t = Assume::Today)]
    pub assume: Assume,
    /// The directory of calls of which it was not recorded
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Show one call in full, by its id
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    pub call: Option<String>,
    /// Most stopped calls that are listed
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// List the calls with a warning too
    #[arg(long)]
    pub warned: bool,
    /// Exit with 2 or 3 when something would have been stopped
    #[arg(long)]
    pub exit_code: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum CheckpointCommand {
    /// Every checkpoint in a line, the newest last
    #[command(after_help = "Example:\n  lazaret checkpoint list --json")]
    List {
        /// Only this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// One checkpoint with every path in it
    #[command(after_help = "Example:\n  lazaret checkpoint show 019ab3c4-…")]
    Show {
        /// The checkpoint's id, or its beginning
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// The checkpoint's id, or its beginning
    #[arg(required_unless_present_any = ["last", "prompt"], conflicts_with_all = ["last", "prompt"])]
    pub id: Option<String>,
    /// The newest one of this project, the repository or directory you stand in (of the session, with --session), that
    /// is not undone yet
    #[arg(long, conflicts_with = "prompt")]
    pub last: bool,
    /// With --last: the newest one of all projects
    #[arg(long, requires = "last", conflicts_with = "session")]
    pub any: bool,
    /// All of the calls that belong to this prompt of the person
    #[arg(long, value_name = "ID")]
    pub prompt: Option<String>,
    /// Only checkpoints of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// With --session: of this client, where sessions of several have that id
    #[arg(long, requires = "session", value_parser = client_name(), value_name = "CLIENT")]
    pub client: Option<Client>,
    /// Put this path, and what lies below it, back whatever is there now
    #[arg(long, value_name = "PATH")]
    pub force: Vec<PathBuf>,
    /// Show what would be done, change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// One client, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Which(pub Option<Client>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Every project of this user
    User,
    /// This project, for everyone who works on it
    Project,
    /// This project, for this user only
    Local,
    /// Every user of this machine, where none of them can change it (as root)
    System,
}

#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// The client, or `all`; those found when none is named
    #[arg(value_parser = client_or_all())]
    pub client: Option<Which>,
    /// Whose settings (install: user; uninstall: wherever install wrote)
    #[arg(long, value_enum)]
    pub scope: Option<Scope>,
    /// Show what would change, change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The binary to register (default: this one)
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write a commented configuration file to begin with
    Init,
    /// Edit your configuration file, and accept it as it is then (at a terminal)
    #[command(after_help = "Example:\n  EDITOR=nano lazaret config edit\n\n\
        A copy is edited with $VISUAL or $EDITOR (else vi), checked, and put in place when nothing is wrong with it.")]
    Edit,
    /// Accept your configuration file with exactly the content it has: until then what loosens in it does not count (at a terminal)
    #[command(after_help = "Example:\n  lazaret config accept")]
    Accept,
    /// The resolved configuration and where each value comes from
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check a configuration file (default: all that are in force)
    Check {
        /// The file
        file: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Where the configuration files are
    Path {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum FactsCommand {
    /// One program, in the form in which a configuration file teaches it
    Show {
        /// The program's name
        program: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The names of all programs that lazaret knows, one a line
    List,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Every rule in a line, the built-in ones and those of the configuration
    List {
        /// Print one JSON object with all rules whole
        #[arg(long)]
        json: bool,
    },
    /// One rule with its reason, alternative, conditions and examples
    #[command(
        after_help = "Examples:\n  lazaret rules show git.reset-hard\n  lazaret rules show git.reset-hard --toml >> ~/.config/lazaret/config.toml   # then give it an id of its own"
    )]
    Show {
        /// The rule's id
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Print it as it stands in a configuration file
        #[arg(long, conflicts_with = "json")]
        toml: bool,
    },
    /// One call of the log: what was decided and why, what it was understood to do, what you can do about it
    #[command(
        after_help = "Examples:\n  lazaret rules explain last\n  lazaret rules explain 019ab3c4-5d6e\n  \
        lazaret rules explain toolu_01AbC --json"
    )]
    Explain {
        /// The event's id or its beginning (`lazaret audit tail --ids`), the client's id of the call, or `last`: the newest one that
        /// was not simply allowed
        call: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run every example of every rule through the whole decision
    #[command(after_help = "Examples:\n  lazaret rules test\n  lazaret rules test .lazaret.toml")]
    Test {
        /// The custom rules of this file instead of the rules that count here
        file: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
