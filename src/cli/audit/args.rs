//! The arguments of `lazaret audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::args::client_name;
use crate::domain::Client;

#[derive(Debug, Args)]
pub struct Select {
    /// Only this client
    #[arg(long, value_parser = client_name(), value_name = "CLIENT")]
    pub client: Option<Client>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this agent: its id or its type
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Only this verdict (allow, warn, modify, block)
    #[arg(long, value_name = "VERDICT")]
    pub verdict: Option<String>,
    /// Only events in which this rule spoke
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Only this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only this type of event
    #[arg(long, value_name = "TYPE")]
    pub event: Option<String>,
    /// Only events since then: RFC 3339 (2026-01-31T12:00:00Z) or an age (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only events until then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub select: Select,
    /// Hold the events against this verification key too: its text, or @FILE
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Begin each line with the event's id, for `lazaret feedback`
    #[arg(long, conflicts_with = "json")]
    pub ids: bool,
    /// Print the events as they are, one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// A form that other programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One JSON object a line, as in the log
    Json,
    /// A table with one column for each key (RFC 4180)
    Csv,
    /// One JSON object a line in the Elastic Common Schema
    Ecs,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Every event that passes the filters, oldest first
    #[command(after_help = "Example:\n  lazaret audit show --verdict block --since 7d")]
    Show(Show),
    /// The newest events
    #[command(
        after_help = "Examples:\n  lazaret audit tail -n 50 --tool Bash\n  lazaret audit tail --follow --verdict block"
    )]
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
        /// Go on with new ones as they come, until interrupted
        #[arg(short, long)]
        follow: bool,
        #[command(flatten)]
        show: Show,
    },
    /// Prove that the log is as it was written, or name the first place where it is not
    #[command(
        after_help = "Examples:\n  lazaret audit verify\n  lazaret audit verify --key @/media/stick/audit-key\n  \
        lazaret audit verify --key @audit-key --log copied/audit\n\n\
        Exit code 0 when it is as it was written, 1 when not. What this proves and what not: docs/audit.md."
    )]
    Verify {
        /// A verification key of this log (see `lazaret audit key`): its text, or @FILE
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
        /// The directory of the log, or a whole copy of it (default: this machine's)
        #[arg(long, value_name = "DIR")]
        log: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print a key with which all events from now on can be verified, also from elsewhere
    #[command(
        after_help = "Keep it away from this machine: in a password manager, on a stick, on paper. It is shown once; the next event \
        ends it here, and nobody who reads this machine later can make it again. Demands a terminal.\n\n\
        Example:\n  lazaret audit key"
    )]
    Key {
        /// Only where none was given out yet
        #[arg(long)]
        if_none: bool,
    },
    /// Write the events in a form that other programs read
    #[command(
        after_help = "Examples:\n  lazaret audit export --format csv --output events.csv --since 30d\n  \
        lazaret audit export --format ecs | some-collector\n  \
        lazaret audit export --plugin siem --since 1d"
    )]
    Export {
        /// The form
        #[arg(long, value_enum, required_unless_present = "plugin")]
        format: Option<Form>,
        /// Give the events, one JSON object a line, to this plugin of the configuration, and take what it makes of them
        #[arg(long, value_name = "NAME", conflicts_with = "format")]
        plugin: Option<String>,
        /// A new file, for you alone (default: standard output)
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        select: Select,
    },
    /// Remove old files of the log, oldest first (default: those over audit.retain_days)
    #[command(
        after_help = "Examples:\n  lazaret audit prune --dry-run\n  lazaret audit prune --before 2026-01-31\n  \
        lazaret audit prune --keep-days 7"
    )]
    Prune {
        /// Files whose events are all from before then: a date, RFC 3339 or an age
        #[arg(long, value_name = "TIME", conflicts_with = "keep_days")]
        before: Option<String>,
        /// Files whose events are all older than so many days
        #[arg(long, value_name = "N")]
        keep_days: Option<u32>,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}
