//! One process that uses review sessions as a hook call or `review start` does. Not part of the product:
//! tests/quarantine_processes.rs runs many of it. `enter HOME REVIEW AGENT` enters with a limit of five and exits with 0
//! (in), 2 (denied) or 4 (fault); `churn HOME REVIEW AGENT` enters and leaves under ever new names until it is killed;
//! `open HOME DIR _` opens and ends sessions until it is killed; `measure HOME DIR N` prints what it costs.
#![allow(clippy::print_stderr, clippy::print_stdout, clippy::expect_used, reason = "a program for tests")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use lazaret::domain::{AgentId, Client, Fault, FaultKind, Places, ReviewId, SessionId};
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::quarantine::{
    self, AgentKey, Denied, Entered, Opening, Session, VaultKind, Why, end, enter, key, leave, load, sweep,
};
use lazaret::host::{clock, guard};

fn main() -> ExitCode {
    guard::arm(60_000);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [how, home, what, more] = args.as_slice() else { return ExitCode::from(99) };
    let env = Environment { lazaret_home: Some(home.clone()), ..Environment::default() };
    let dirs = Dirs::locate(&env).expect("directories");
    let review = || ReviewId::parse(what).expect("a review");
    let done = match how.as_str() {
        "enter" => entered(&dirs, &review(), &agent(more)).map(|entered| match entered {
            Ok(_) => ExitCode::SUCCESS,
            Err(denied) => {
                println!("{denied:?}");
                ExitCode::from(2)
            }
        }),
        "churn" => churn(&dirs, &review(), more),
        "open" => opens(&dirs, what),
        "measure" => measure(&dirs, what, more.parse().expect("a number")),
        _ => return ExitCode::from(99),
    };
    done.unwrap_or_else(|fault| {
        eprintln!("{fault}");
        ExitCode::from(4)
    })
}

fn agent(name: &str) -> AgentKey {
    AgentKey {
        client: Client::ClaudeCode,
        session: SessionId::new("s").expect("a session"),
        agent: AgentId::new(name),
    }
}

/// Tries again when the machine is too busy for the wait that a call allows itself.
fn entered(dirs: &Dirs, review: &ReviewId, agent: &AgentKey) -> Result<Result<Entered, Denied>, Fault> {
    loop {
        match enter(dirs, agent, Some(review), clock::now(), 5) {
            Err(fault) if fault.kind == FaultKind::Busy => {}
            entered => return entered,
        }
    }
}

fn churn(dirs: &Dirs, review: &ReviewId, name: &str) -> Result<ExitCode, Fault> {
    for number in 0_u64.. {
        let agent = agent(&format!("{name}-{}-{}", std::process::id(), number % 8));
        if entered(dirs, review, &agent)?.is_ok() {
            leave(dirs, &agent, clock::now())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn open(dirs: &Dirs, dir: &str) -> Result<Session, Fault> {
    let (root, paths) = (PathBuf::from(dir), [PathBuf::from(dir)]);
    let opening = Opening {
        root: &root,
        paths: &paths,
        ttl_s: 3600,
        timeout_s: 300,
        instructions: None,
        opener: None,
        places: &Places::default(),
        keys: VaultKind::chosen(&Environment::read())?,
        now: clock::now(),
    };
    quarantine::open(dirs, &opening, &mut lazaret::host::unwatched)
}

fn opens(dirs: &Dirs, dir: &str) -> Result<ExitCode, Fault> {
    loop {
        let session = open(dirs, dir)?;
        key(dirs, &session)?;
        end(dirs, &session.id, Why::Asked, clock::now())?;
    }
}

/// The median and the slowest of so many, in microseconds.
fn timed(times: usize, mut f: impl FnMut()) -> String {
    let mut took: Vec<u128> = (0..times)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_nanos() / 100
        })
        .collect();
    took.sort_unstable();
    let at = |place: usize| took.get(place).map_or(0.0, |tenths| *tenths as f64 / 10.0);
    format!("median {:.1} µs, slowest {:.1} µs", at(times / 2), at(times - 1))
}

fn measure(dirs: &Dirs, dir: &str, times: usize) -> Result<ExitCode, Fault> {
    println!("sweep, no room: {}", timed(1000, || drop(sweep(dirs, clock::now()))));
    let opened = timed(times, || {
        let session = open(dirs, dir).expect("opened");
        end(dirs, &session.id, Why::Asked, clock::now()).expect("ended");
    });
    println!("open and end: {opened}");
    println!("open: {}", timed(times.min(10), || drop(open(dirs, dir).expect("opened"))));
    for listed in quarantine::list(dirs)?.iter().skip(1) {
        end(dirs, &listed.id, Why::Asked, clock::now())?;
    }
    let session = open(dirs, dir)?;
    let a = agent("a");
    enter(dirs, &a, Some(&session.id), clock::now(), 5)?.expect("in");
    println!("session of {} files, {} bytes, {}", session.files, session.bytes, session.vault.name());
    println!("load: {}", timed(2000, || drop(load(dirs, &session.id))));
    println!("key: {}", timed(2000, || drop(key(dirs, &session))));
    println!("enter: {}", timed(2000, || drop(enter(dirs, &a, None, clock::now(), 5))));
    let call = || {
        let entered = enter(dirs, &a, None, clock::now(), 5).expect("asked").expect("in");
        key(dirs, &entered.session).expect("a key");
    };
    println!("enter and key: {}", timed(2000, call));
    println!("sweep, one open: {}", timed(2000, || drop(sweep(dirs, clock::now()))));
    for listed in quarantine::list(dirs)? {
        end(dirs, &listed.id, Why::Asked, clock::now())?;
    }
    println!("sweep, only tombstones: {}", timed(2000, || drop(sweep(dirs, clock::now()))));
    Ok(ExitCode::SUCCESS)
}
