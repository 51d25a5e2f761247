//! The process: everything is in the library.

#[global_allocator]
static ARENA: lazaret::host::alloc::Arena = lazaret::host::alloc::Arena::new();

fn main() -> std::process::ExitCode {
    lazaret::cli::run()
}
