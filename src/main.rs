//! The process: everything is in the library.

fn main() -> std::process::ExitCode {
    lazaret::cli::run()
}
