//! Breaks on purpose in the way that its argument names, with the guard armed as in a hook call (`tool`: as in a command).
//! Not part of the product: tests/guard.rs runs it.
#![allow(clippy::panic, clippy::exit, reason = "misbehaving is what it is for")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use lazaret::host::alloc::Bounded;
use lazaret::host::guard;

/// What the hook's memory comes from where the system bounds no process.
#[global_allocator]
static MEMORY: Bounded = Bounded::new();

/// Exit code of a write that failed without ending the process.
const NOT_WRITTEN: u8 = 7;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (how, more) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    if how == "tool" {
        guard::arm_tool();
        panic!("on purpose");
    }
    guard::arm(more.parse().unwrap_or(60_000));
    match how.as_str() {
        "nothing" => {}
        "panic" => panic!("on purpose"),
        "overflow" => {
            black_box(deeper(1));
        }
        "abort" => std::process::abort(),
        "allocate" => allocate(),
        "allocate-bounded" => {
            MEMORY.bound(1 << 26);
            if Vec::<u8>::new().try_reserve(1 << 27).is_err() {
                allocate();
            }
        }
        "allocate-at-once" => {
            black_box(vec![1_u8; black_box(1 << 40)]);
        }
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "spin" => loop {
            black_box(());
        },
        "write" => {
            if std::fs::write(more, [0; 100_000]).is_err() {
                return ExitCode::from(NOT_WRITTEN);
            }
        }
        _ => std::process::exit(99),
    }
    ExitCode::SUCCESS
}

fn allocate() -> ! {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1_u8; 1 << 20]));
    }
}

fn deeper(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    if black_box(depth) == 0 { depth } else { deeper(depth + 1) + here.iter().sum::<u64>() }
}
