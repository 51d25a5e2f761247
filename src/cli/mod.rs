//! The command line.

pub mod config;
pub mod trust;

pub fn run() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
