//! What holds on several machines: real servers of Redis, real services, real hooks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use machines::{Became, Machine, Redis, limited, port, until};
use serde_json::json;

/// Machines that share a store under a name.
fn sharing(redis: &Redis, prefix: &str, count: usize, config: &str) -> Vec<Machine> {
    let state = format!("url = \"{}\"\nprefix = \"{prefix}\"", redis.url());
    (0..count).map(|_| Machine::new(&state, config)).collect()
}

/// How many of so many calls ran, by `hooks` hooks at once on each machine.
fn ran(machines: &[Machine], hooks: usize, calls: u32) -> u32 {
    let (next, ran) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for (at, machine) in machines.iter().enumerate() {
            for hook in 0..hooks {
                let (next, ran) = (&next, &ran);
                scope.spawn(move || {
                    while next.fetch_add(1, Ordering::Relaxed) < calls {
                        match machine.hook(&format!("{at}-{hook}")) {
                            Became::Ran => {
                                ran.fetch_add(1, Ordering::Relaxed);
                            }
                            Became::Refused(why) => assert!(why.contains("FLEET_LIMIT_EXCEEDED"), "{why}"),
                            Became::Asked(why) => panic!("{why}"),
                        }
                    }
                });
            }
        }
    });
    ran.into_inner()
}

#[test]
fn of_a_hundred_and_twenty_calls_on_four_machines_exactly_a_hundred_run() {
    let redis = Redis::new(&[]);
    for round in 0..10 {
        let machines = sharing(&redis, &format!("round{round}"), 4, &limited(100));
        assert_eq!(ran(&machines, 8, 120), 100, "round {round}");
    }
}

#[test]
fn what_was_acknowledged_is_counted_after_the_server_was_killed() {
    let mut redis = Redis::new(&[]);
    let machines = sharing(&redis, "x", 2, &limited(10));
    assert_eq!(ran(&machines, 2, 7), 7);
    redis.kill();
    for machine in &machines {
        until("the service has noticed", || machine.ask(&machine.call())["answer"] == "unknown");
    }
    let Became::Refused(why) = machines[0].hook("s") else { panic!("it ran without the store") };
    assert!(why.contains("fault.fleet") && why.contains("the store"), "{why}");
    redis.start();
    for machine in &machines {
        until("the service has found it again", || machine.ask(&machine.call()) == json!({"answer": "runs"}));
    }
    assert_eq!(ran(&machines, 2, 7), 3);
}

/// As after a power cut: a machine is up before the server, or before the network.
#[test]
fn a_server_that_comes_up_after_the_service_is_found() {
    let mut redis = Redis::new(&[]);
    redis.kill();
    let mut machine = Machine::without_service(&format!("url = \"{}\"", redis.url()), &limited(2));
    machine.serve_unreached();
    assert!(matches!(machine.hook("s"), Became::Refused(why) if why.contains("fault.fleet")));
    redis.start();
    until("the service has found it", || machine.ask(&machine.call()) == json!({"answer": "runs"}));
    assert_eq!(ran(&[machine], 1, 3), 2);
}

#[test]
fn a_server_that_is_cut_off_is_a_fault_until_it_is_back() {
    let redis = Redis::new(&[]);
    let machines = sharing(&redis, "x", 1, &limited(5));
    redis.signal("-STOP");
    until("the service has noticed", || machines[0].ask(&machines[0].call())["answer"] == "unknown");
    let begun = Instant::now();
    assert!(matches!(machines[0].hook("s"), Became::Refused(why) if why.contains("fault.fleet")));
    assert!(begun.elapsed() < Duration::from_secs(5));
    redis.signal("-CONT");
    until("it is back", || machines[0].ask(&machines[0].call()) == json!({"answer": "runs"}));
    assert_eq!(ran(&machines, 1, 8), 5);
}

#[test]
fn a_fault_is_answered_as_the_setting_says() {
    let state = format!("url = \"redis://127.0.0.1:{}\"", port());
    for (on_fault, is) in [
        ("local", &(|became: &Became| *became == Became::Ran) as &dyn Fn(&Became) -> bool),
        ("ask", &|became| matches!(became, Became::Asked(why) if why.contains("fault.fleet"))),
        ("block", &|became| matches!(became, Became::Refused(why) if why.contains("fault.fleet"))),
    ] {
        // Without a service, with one that does not reach the store, and with one that hangs.
        let mut machine = Machine::without_service(&state, &format!("on_fault = \"{on_fault}\"\n"));
        let became = machine.hook("s");
        assert!(is(&became), "{on_fault}: {became:?}");
        machine.serve_unreached();
        let became = machine.hook("s");
        assert!(is(&became), "{on_fault}: {became:?}");
        machine.service().signal("-STOP");
        let became = machine.hook("s");
        assert!(is(&became), "{on_fault}: {became:?}");
        machine.service().signal("-CONT");
    }
}

#[test]
fn a_service_that_was_killed_is_started_again_over_its_socket() {
    let redis = Redis::new(&[]);
    let mut machine = sharing(&redis, "x", 1, &limited(2)).pop().unwrap();
    assert_eq!(machine.hook("s"), Became::Ran);
    let (code, said) = machine.run(&["serve", "--socket", machine.socket().to_str().unwrap()]);
    assert!(code == Some(1) && said.contains("another service answers there"), "{said}");
    machine.service().kill();
    assert!(machine.socket().exists());
    assert!(matches!(machine.hook("s"), Became::Refused(why) if why.contains("nobody is there")));
    machine.serve();
    assert_eq!(machine.hook("s"), Became::Ran);
    assert!(matches!(machine.hook("s"), Became::Refused(why) if why.contains("FLEET_LIMIT_EXCEEDED")));
    machine.service().signal("-TERM");
    until("its socket is gone with it", || !machine.socket().exists());
}

#[test]
fn what_a_person_stops_stops_on_every_machine_within_a_second() {
    let redis = Redis::new(&[]);
    let machines = sharing(&redis, "x", 2, "");
    let git = |args: &[&str]| {
        let at = machines[1].path("home/project");
        assert!(std::process::Command::new("git").args(args).current_dir(at).status().unwrap().success());
    };
    git(&["init", "-q"]);
    git(&["remote", "add", "origin", "git@git.acme.example:team/app.git"]);
    let runs = |at: usize, session: &str| machines[at].hook(session) == Became::Ran;
    for (what, stopped) in [
        (&["--all"][..], [[true, true], [true, true]]),
        (&["--session", "claude-code:a"], [[true, false], [true, false]]),
        (&["--repository", "https://git.acme.example/team/app"], [[false, false], [true, true]]),
        (&["--repository", "git.acme.example/team/app"], [[false, false], [true, true]]),
    ] {
        let stop = [&["stop", "--why", "a wrong prompt"], what].concat();
        assert!(machines[0].done(&stop).contains("is stopped"));
        let is_stopped = |at: usize, session: &str| {
            let became = machines[at].hook(session);
            matches!(&became, Became::Refused(why) if why.contains("FLEET_STOPPED") && why.contains("a wrong prompt"))
        };
        for (at, of) in stopped.iter().enumerate() {
            for (session, stopped) in ["a", "b"].iter().zip(of).filter(|(_, stopped)| **stopped) {
                until("it is stopped", || is_stopped(at, session) == *stopped);
            }
        }
        for (at, of) in stopped.iter().enumerate() {
            for (session, stopped) in ["a", "b"].iter().zip(of) {
                assert_eq!(is_stopped(at, session), *stopped, "{what:?}, machine {at}, session {session}");
            }
        }
        assert!(machines[1].done(&["stops"]).contains("a wrong prompt"));
        assert!(machines[1].done(&[&["resume"], what].concat()).contains("may go on"));
        for (at, session) in [(0, "a"), (0, "b"), (1, "a"), (1, "b")] {
            until("it may go on", || runs(at, session));
        }
    }
    assert_eq!(machines[0].done(&["stops"]), "nothing is stopped\n");
    let (code, said) = machines[0].run(&["resume", "--all"]);
    assert!(code == Some(1) && said.contains("everything is not stopped"), "{said}");
    for (wrong, why) in
        [("x:y", "none of claude-code"), ("claude-code", "CLIENT:ID"), ("codex:", "CLIENT:ID")]
    {
        let (code, said) = machines[0].run(&["stop", "--session", wrong, "--why", "x"]);
        assert!(code == Some(1) && said.contains(why), "{said}");
    }
}

#[test]
fn places_of_quarantined_agents_are_counted_together_and_given_back() {
    let redis = Redis::new(&[]);
    let machines = sharing(&redis, "x", 2, "");
    let call = |session: &str, most: u32, seconds: u32| {
        json!({
            "ask": "call", "v": 1, "client": "claude-code", "session": session, "agent": "a", "repositories": [], "limits": [],
            "lease": {"most": most, "seconds": seconds}, "within_ms": 1000,
        })
    };
    let (runs, full) = (json!({"answer": "runs"}), json!({"answer": "full", "most": 2}));
    assert_eq!(machines[0].ask(&call("1", 2, 300)), runs);
    assert_eq!(machines[1].ask(&call("2", 2, 300)), runs);
    assert_eq!(machines[1].ask(&call("3", 2, 300)), full);
    assert_eq!(machines[0].ask(&call("1", 2, 300)), runs, "who has a place keeps it");
    let ended = |session: &str| json!({"ask": "ended", "v": 1, "client": "claude-code", "session": session, "agent": "a"});
    assert_eq!(machines[0].ask(&ended("3")), runs);
    assert_eq!(machines[1].ask(&call("3", 2, 300)), full, "it had none to give back");
    assert_eq!(machines[0].ask(&ended("1")), runs);
    assert_eq!(machines[1].ask(&call("3", 2, 1)), runs);
    assert_eq!(machines[0].ask(&call("4", 2, 300)), full);
    until("its time is over", || machines[0].ask(&call("4", 2, 300)) == runs);
}

#[test]
fn a_window_slides() {
    let redis = Redis::new(&[]);
    let machine = sharing(&redis, "x", 1, "").pop().unwrap();
    let mut call = machine.call();
    call["limits"] = json!([{"tool": "Bash", "calls": 2, "window_seconds": 1}, {"tool": "*", "calls": 3, "window_seconds": 60}]);
    let runs = json!({"answer": "runs"});
    assert_eq!([machine.ask(&call), machine.ask(&call)], [runs.clone(), runs.clone()]);
    let over = machine.ask(&call);
    assert_eq!(
        (&over["answer"], &over["limit"]["tool"], &over["counted"]),
        (&json!("over"), &json!("Bash"), &json!(2))
    );
    until("the second has passed", || machine.ask(&call) == runs);
    assert_eq!(machine.ask(&call)["limit"]["tool"], "*", "what was refused was counted nowhere");
}

#[test]
fn what_is_no_question_gets_no_leave() {
    let redis = Redis::new(&[]);
    let machine = sharing(&redis, "x", 1, "").pop().unwrap();
    let is_unknown = |bytes: &[u8], why: &str| {
        let answer = String::from_utf8(machine.say(bytes)).unwrap();
        assert!(answer.starts_with("{\"answer\":\"unknown\"") && answer.contains(why), "{answer}");
    };
    is_unknown(b"\n", "cannot be read");
    is_unknown(b"{\"ask\":\"else\",\"v\":1}\n", "cannot be read");
    is_unknown(&[&b"{\"ask\":\""[..], &[b'x'; 40_000], b"\"}\n"].concat(), "cannot be read");
    is_unknown(b"\xff\xfe\n", "cannot be read");
    let mut call = machine.call();
    call["v"] = json!(2);
    is_unknown(format!("{call}\n").as_bytes(), "of version 2");
    let mut call = machine.call();
    call["session"] = json!("s".repeat(1025));
    is_unknown(format!("{call}\n").as_bytes(), "a name of more than 1024 bytes");
    let mut call = machine.call();
    call["limits"] = json!(vec![json!({"tool": "x", "calls": 1, "window_seconds": 1}); 257]);
    is_unknown(format!("{call}\n").as_bytes(), "more than 256 limits");
    for (limit, lease) in [
        (json!({"tool": "x", "calls": 10_001, "window_seconds": 1}), json!(null)),
        (json!({"tool": "x", "calls": 1, "window_seconds": 86_401}), json!(null)),
        (
            json!({"tool": "x", "calls": 1, "window_seconds": 1}),
            json!({"most": 5, "seconds": 4_294_967_295_u32}),
        ),
    ] {
        let mut call = machine.call();
        call["limits"] = json!([limit]);
        call["lease"] = lease;
        is_unknown(format!("{call}\n").as_bytes(), "more than 10000 calls, 86400 seconds");
    }
    // Who says nothing keeps nobody from being answered, and has no more than a share of the places.
    let idle = |count: usize| -> Vec<UnixStream> {
        (0..count).map(|_| UnixStream::connect(machine.socket()).unwrap()).collect()
    };
    let few = idle(100);
    assert_eq!(machine.ask(&machine.call()), json!({"answer": "runs"}));
    drop(few);
    let many = idle(600);
    until("they are hung up on", || {
        std::thread::sleep(Duration::from_millis(100));
        String::from_utf8(machine.say(format!("{}\n", machine.call()).as_bytes())).unwrap().contains("runs")
    });
    drop(many);
}

#[test]
fn a_server_that_is_no_primary_is_not_believed() {
    let primary = Redis::new(&[]);
    let replica = Redis::new(&["--replicaof", "127.0.0.1", &primary.port.to_string()]);
    for (redis, more, why) in
        [(&replica, "", "no primary (slave)"), (&primary, "\nreplicas = 2", "of 2 replicas follow")]
    {
        let state = format!("url = \"{}\"{more}", redis.url());
        let mut machine = Machine::without_service(&state, "on_fault = \"block\"\n");
        machine.serve_unreached();
        let became = machine.hook("s");
        assert!(matches!(&became, Became::Refused(said) if said.contains(why)), "{became:?}");
    }
}

#[test]
fn what_speaks_against_a_call_speaks_on_where_nobody_could_be_asked() {
    let machine = Machine::without_service("url = \"redis://x\"", "on_fault = \"ask\"\n");
    let became = machine.hook_of("s", "npm publish");
    let Became::Asked(why) = became else { panic!("{became:?}") };
    assert!(why.contains("fault.fleet") && why.contains("publishes"), "{why}");
    // A change of the call cannot be asked about: it is refused, and not run as it was.
    let became = machine.hook_of("s", "git push --force origin feature");
    assert!(matches!(&became, Became::Refused(why) if why.contains("fault.fleet")), "{became:?}");
    assert!(matches!(machine.hook_of("s", "rm -rf /"), Became::Refused(why) if why.contains("files.")));
}

#[test]
fn a_service_can_be_asked_as_soon_as_it_says_so() {
    let redis = Redis::new(&[]);
    for _ in 0..5 {
        let mut machine = Machine::without_service(&format!("url = \"{}\"", redis.url()), &limited(9));
        machine.serve_unreached();
        assert_eq!(machine.hook("s"), Became::Ran);
    }
}

#[test]
fn a_store_that_answers_nonsense_is_a_fault() {
    use std::io::{Read, Write};
    for nonsense in [
        &b"+OK\r\n"[..],
        b":7\r\n",
        b"$-1\r\n",
        b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n",
        b"\x00\xff\r\n",
        b"$999999999999\r\n",
    ] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("url = \"redis://{}\"", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let (mut stream, mut bytes) = (stream, [0; 4096]);
                    while stream.read(&mut bytes).is_ok_and(|got| got > 0)
                        && stream.write_all(nonsense).is_ok()
                    {}
                });
            }
        });
        let mut machine = Machine::without_service(&url, &limited(5));
        machine.serve_unreached();
        std::thread::sleep(Duration::from_millis(400));
        let became = machine.hook("s");
        assert!(
            matches!(&became, Became::Refused(why) if why.contains("fault.fleet")),
            "{nonsense:?}: {became:?}"
        );
    }
}
