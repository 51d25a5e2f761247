//! The command line.

pub mod config;
pub mod doctor;
pub mod install;
pub mod trust;
pub mod uninstall;

pub fn run() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
