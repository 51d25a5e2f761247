//! The arguments of `lazaret stats` and `lazaret feedback`.

use clap::{Args, ValueEnum};

use crate::cli::audit::args::Select;

#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub select: Select,
    /// How many rules, tools and agents are named
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the text format that Prometheus reads, without a bound on the number of rules, tools and agents
    #[arg(long, conflicts_with = "json")]
    pub prometheus: bool,
}

/// What a person thinks of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Opinion {
    /// A false positive: the call was harmless
    Fp,
    /// The decision was right
    Ok,
}

impl Opinion {
    pub const fn name(self) -> &'static str {
        match self {
            Opinion::Fp => "fp",
            Opinion::Ok => "ok",
        }
    }
}

#[derive(Debug, Args)]
pub struct FeedbackArgs {
    /// The event's id, or its beginning (`lazaret audit tail --ids`); `last` = the newest that was not simply allowed
    pub event: String,
    /// What you think of it
    #[arg(value_enum)]
    pub opinion: Opinion,
    /// Why, for whoever reads the log
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}
