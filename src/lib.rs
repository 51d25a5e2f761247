//! lazaret: a guard between a coding agent and the machine. The floors, from the bottom: `domain`; `shell`,
//! `adapters`, `host`; `rules`; `review`; `cli`. A module uses only what lies below it (tests/floors.rs).

pub mod adapters;
pub mod cli;
pub mod domain;
pub mod host;
pub mod review;
pub mod rules;
pub mod shell;
