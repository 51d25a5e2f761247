//! lazaret: a guard between a coding agent and the machine. The floors, from the bottom: `domain`; `shell`,
//! `reference`, `adapters`, `host`; `rules`; `review`; `cli`; `view`. A module uses only what lies below it (tests/floors.rs).

pub mod adapters;
pub mod cli;
pub mod domain;
pub mod host;
pub mod reference;
pub mod review;
pub mod rules;
pub mod shell;
#[cfg(feature = "view")]
pub mod view;
