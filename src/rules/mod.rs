//! Facts about commands (`commands`) and our judgement on them (`builtin`): a call becomes a survey of what it would do,
//! and the rules that match the survey give reasons.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

/// The lists of words and the rules of a data file beside the code (`words!("builtin/network")`: of `builtin/network.toml`), as constants.
macro_rules! words {
    ($file:literal) => {
        include!(concat!(env!("OUT_DIR"), "/words/", $file, ".rs"));
    };
}

mod builtin;
pub mod custom;
pub mod domains;
pub mod examples;
mod facts;
pub mod fixture;
mod foreign;
pub mod git_settings;
pub mod kept;
mod matcher;
mod modules;
pub mod own_commands;
pub mod programs;
pub mod prompts;
mod survey;
mod trail;

pub(crate) use builtin::lists;
pub(crate) use builtin::lists::CLIENTS;
pub use builtin::{Code, RETIRED, by_code};
pub use matcher::{
    Expect, Instead, NONE, Rewriter, Rule, View, all, conditions, find, is_unsure, judge, matches,
    predicates, rewrite, rewriter, written,
};
pub use survey::paths::is_build_output;
pub use survey::{Flag, Invocation, Stdin, Survey, configured_command, survey, survey_asking};
pub use trail::{accepted, follow};
