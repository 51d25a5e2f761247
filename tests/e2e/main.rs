//! The real clients, headless, against a scripted model: what lazaret's registration makes them do and not do.
//! No test here reaches the internet except npm, once, to install the clients into `target/e2e-clients`.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests"
)]

mod behaviour;
#[path = "../browser/mod.rs"]
mod browser;
mod claude;
mod clients;
mod codex;
mod confined;
mod fleet;
#[path = "../landlock/mod.rs"]
mod landlock;
mod model;
mod opencode;
mod opencode_terminal;
mod own;
mod packages;
mod places;
#[path = "../programs/mod.rs"]
mod programs;
mod report;
mod review;
mod run;
mod scenarios;
mod session;
mod surfaces;
mod system;
mod terminal;
mod undone;
mod watched;
mod ways;
#[path = "../ways/mod.rs"]
mod ways_table;
mod wire;
mod world;
