//! The words of review mode on the command line: `review`, `ref` and what they take.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::args::client_name;
use crate::domain::Client;
use crate::review::response::Danger;

#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Open a session: key, sealed copies, references, and the task for the agent tool
    #[command(
        after_help = "Examples:\n  lazaret review start src/parser.c\n  lazaret review start --root ~/pr-17 --timeout 600 \
                      --instructions 'look at the network code' ~/pr-17 --json\n\nHand the prompt to the agent tool with \
                      the subagent type that is printed; end the session with `lazaret review end` when it has answered."
    )]
    Start(StartArgs),
    /// The sessions that are open, and those that ended in the last day
    #[command(after_help = "Example:\n  lazaret review list")]
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// One session: what it grants, its agents, the time left
    #[command(after_help = "Examples:\n  lazaret review show 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b\n  \
                      lazaret review show 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b --prompt")]
    Show {
        /// The session's id
        id: String,
        /// Print the task of the agent again
        #[arg(long)]
        prompt: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// End a session: its key is destroyed, its copies are removed
    #[command(
        after_help = "Examples:\n  lazaret review end 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b\n  lazaret review end --all"
    )]
    End {
        /// The session's id
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Every session that is open
        #[arg(long)]
        all: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check an agent's answer against the schema and clean it
    #[command(
        after_help = "Examples:\n  lazaret review parse --session 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b answer.json\n  \
                      lazaret review parse --fail-on high --json - < answer.json\n\nExit codes: 0 usable, 1 not usable, \
                      2 a finding is at or above --fail-on."
    )]
    Parse(ParseArgs),
    /// The whole review in one command: a client reads the files in quarantine, headless, and its findings are printed
    #[command(
        after_help = "Examples:\n  lazaret review run src\n  lazaret review run --client opencode --fail-on medium --json src\n\n\
                      Exit codes: 0 nothing at or above --fail-on, 1 lazaret could not do it, 2 a finding is at or above \
                      --fail-on."
    )]
    Run(RunArgs),
}

/// What a session is opened for.
#[derive(Debug, Args)]
pub struct Scope {
    /// The files and directories to be reviewed
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The directory that everything lies in (default: the git work tree around the working directory, else that one)
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// How long an agent may work (default: `quarantine.timeout_seconds` of the configuration)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,
    /// What the agent is to look at in particular
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
}

#[derive(Debug, Args)]
pub struct StartArgs {
    #[command(flatten)]
    pub scope: Scope,
    /// Life of the session and its references
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..))]
    pub ttl: u32,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ParseArgs {
    /// The answer (`-` = standard input)
    pub file: PathBuf,
    /// The open session it belongs to: its files and lines are checked
    #[arg(long, value_name = "SID")]
    pub session: Option<String>,
    /// Exit with 2 when a finding is this severe or worse
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scope: Scope,
    /// The client that runs the agent (default: the one that is here, Claude Code first)
    #[arg(long, value_parser = client_name())]
    pub client: Option<Client>,
    /// The model, as the client names it
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Exit with 2 when a finding is this severe or worse
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = Severity::High)]
    pub fail_on: Severity,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl From<Severity> for Danger {
    fn from(severity: Severity) -> Danger {
        match severity {
            Severity::Info => Danger::Info,
            Severity::Low => Danger::Low,
            Severity::Medium => Danger::Medium,
            Severity::High => Danger::High,
            Severity::Critical => Danger::Critical,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum RefCommand {
    /// Mint a reference to a path that a session grants
    #[command(
        after_help = "Example:\n  lazaret ref create --session 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b src/parser.c"
    )]
    Create {
        /// The open session that grants the path
        #[arg(long, value_name = "SID")]
        session: String,
        /// A file or directory that was named when the session was opened, or one below such a directory
        path: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check a reference and say exactly what is wrong with it
    #[command(
        after_help = "Example:\n  lazaret ref verify 'typed://%2Frepo%2Fsrc%2Fparser.c?hmac=…&ts=…&sid=…'\n\n\
                      Exit codes: 0 it holds, 1 it could not be checked, 2 it does not hold."
    )]
    Verify {
        /// The reference
        uri: String,
        /// The session it must belong to (default: the one it names)
        #[arg(long, value_name = "SID")]
        session: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
