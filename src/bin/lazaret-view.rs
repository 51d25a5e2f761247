//! The second program, which `lazaret report` and `lazaret watch` start: what no hook call needs is not in its binary.

fn main() -> std::process::ExitCode {
    lazaret::view::run(&std::env::args_os().collect::<Vec<_>>()).into()
}
