//! The same over what a store may be: behind TLS and with users of its own, with replicas that take over, and as a cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use machines::{Became, Machine, Process, Redis, limited, port, until};
use serde_json::json;

/// How many of so many calls ran, one after the other.
fn ran(machine: &Machine, calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(machine.hook("s") == Became::Ran)).sum()
}

/// A certificate for this machine, and what signed it.
struct Certificates {
    dir: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Certificates {
        let dir = tempfile::tempdir().unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        fs::write(dir.path().join("cert"), certificate.pem()).unwrap();
        fs::write(dir.path().join("key"), key.serialize_pem()).unwrap();
        Certificates { dir }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn a_store_behind_tls_with_a_user_of_its_own() {
    let (ours, others, at) = (Certificates::new(), Certificates::new(), port().to_string());
    let acl = "user lazaret on >se#cret ~{acme}:* +eval +role +time +zremrangebyscore +zcard +zscore +zadd +zrem +pttl +pexpire +hgetall \
               +hset +hdel +wait +ping +client +info +hello +auth";
    let (cert, key) = (ours.path("cert"), ours.path("key"));
    let tls = ["--port", "0", "--tls-port", &at, "--tls-cert-file", &cert, "--tls-key-file", &key];
    let words: Vec<&str> = acl.split(' ').collect();
    let args = [&tls[..], &["--tls-auth-clients", "no", "--requirepass", "other"], &["--user"], &words[1..]]
        .concat();
    let redis = Redis::new(&args);
    let password = ours.path("password");
    fs::write(&password, "se#cret\n").unwrap();
    let state = |ca: &str, password: &str| {
        format!(
            "url = \"rediss://localhost:{at}\"\nca = \"{ca}\"\nusername = \"lazaret\"\npassword_file = \"{password}\"\n\
             prefix = \"acme\""
        )
    };
    let machine = Machine::new(&state(&cert, &password), &limited(2));
    assert_eq!(ran(&machine, 3), 2);
    assert!(machine.done(&["stop", "--all", "--why", "x"]).contains("is stopped"));
    machine.done(&["resume", "--all"]);
    // Another certificate, another password, no TLS at all.
    fs::write(ours.path("wrong"), "no").unwrap();
    for (state, why) in [
        (state(&others.path("cert"), &password), ""),
        (state(&cert, &ours.path("wrong")), ""),
        (format!("url = \"redis://localhost:{at}\""), ""),
    ] {
        let mut machine = Machine::without_service(&state, &limited(2));
        machine.serve_unreached();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let became = machine.hook("s");
        assert!(
            matches!(&became, Became::Refused(said) if said.contains("fault.fleet") && said.contains(why)),
            "{became:?}"
        );
    }
    let beside = Machine::without_service(&state(&cert, "password"), "");
    fs::copy(&password, beside.path("etc/password")).unwrap();
    assert_eq!(beside.done(&["stops"]), "nothing is stopped\n");
    let missing = Machine::without_service(&state("/nowhere", &password), "");
    let (code, said) = missing.run(&["stops"]);
    assert!(code == Some(1) && said.contains("/nowhere: there is no such file"), "{said}");
    drop(redis);
}

#[test]
fn settings_that_cannot_be_used_are_named_and_hold_no_password() {
    for (state, why) in [
        ("url = \"http://:secret@x\"", "state.url"),
        ("url = \"redis://x\"\nca = \"/x\"", "none of TLS"),
        ("url = \"redis://x\"\nprefix = \"a b\"", "state.prefix"),
        ("url = \"redis://x\"\nmore = 1", "unknown field `more`"),
        ("url = 7", "invalid type"),
        ("", "missing field `url`"),
    ] {
        let machine = Machine::without_service(state, "");
        for command in [&["stops"][..], &["serve", "--socket", "x"]] {
            let (code, said) = machine.run(command);
            assert!(code == Some(1) && said.contains(why) && said.contains("fleet.toml"), "{state}: {said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
    let machine = Machine::without_service("url = \"redis://x\"", "");
    fs::remove_file(machine.settings()).unwrap();
    assert!(machine.run(&["stops"]).1.contains("there is no such file"));
}

#[test]
fn calls_never_pass_the_limit_while_the_server_is_killed_again_and_again() {
    let mut redis = Redis::new(&[]);
    let state = format!("url = \"{}\"", redis.url());
    let machines = [Machine::new(&state, &limited(30)), Machine::new(&state, &limited(30))];
    let (ran, over, done) = (AtomicU32::new(0), AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for machine in &machines {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    match machine.hook("s") {
                        Became::Ran => ran.fetch_add(1, Ordering::Relaxed),
                        Became::Refused(why) if why.contains("FLEET_LIMIT_EXCEEDED") => {
                            over.fetch_add(1, Ordering::Relaxed)
                        }
                        _fault => 0,
                    };
                }
            });
        }
        for _ in 0..4 {
            std::thread::sleep(std::time::Duration::from_millis(700));
            redis.kill();
            std::thread::sleep(std::time::Duration::from_millis(300));
            redis.start();
        }
        until("the limit is reached", || over.load(Ordering::Relaxed) > 0);
        done.store(true, Ordering::Relaxed);
    });
    let ran = ran.into_inner();
    assert!((1..=30).contains(&ran), "{ran} ran");
}

#[test]
fn a_replica_that_takes_over_has_what_was_acknowledged() {
    let mut primary = Redis::new(&[]);
    let at = primary.port.to_string();
    let replica = Redis::new(&["--replicaof", "127.0.0.1", &at]);
    until("the replica follows", || replica.cli(&["info", "replication"]).contains("master_link_status:up"));
    let dir = tempfile::tempdir().unwrap();
    let (config, watch) = (dir.path().join("sentinel.conf"), port());
    let text = format!(
        "port {watch}\ndir {}\nsentinel monitor fleet 127.0.0.1 {at} 1\nsentinel down-after-milliseconds fleet 60000\n\
         sentinel failover-timeout fleet 3000\n",
        dir.path().display()
    );
    fs::write(&config, text).unwrap();
    let mut sentinel = Command::new("redis-sentinel");
    let _sentinel = Process::start(sentinel.arg(&config).stdout(Stdio::null()).stderr(Stdio::null()));
    let asked = |word: &str| {
        let out = Command::new("redis-cli")
            .args(["-p", &watch.to_string(), "sentinel", word, "fleet"])
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    until("the sentinel knows the replica", || asked("replicas").contains(&replica.port.to_string()));
    let state =
        format!("url = \"redis-sentinel://127.0.0.1:{watch}?sentinelServiceName=fleet\"\nreplicas = 1");
    let machine = Machine::new(&state, &limited(6));
    assert_eq!(ran(&machine, 4), 4);
    primary.kill();
    // Told to, and not because somebody seems to be down: on a busy machine everybody does now and then.
    until("the sentinel has begun", || asked("failover").starts_with("OK"));
    until("the replica takes over", || asked("get-master-addr-by-name").contains(&replica.port.to_string()));
    // Nobody is left who could have what is counted: not one call runs.
    assert_eq!(ran(&machine, 2), 0);
    primary.start();
    // It may still be reading what it had.
    let at = replica.port.to_string();
    until("it takes the order", || primary.cli(&["replicaof", "127.0.0.1", &at]).starts_with("OK"));
    until("the old primary follows", || replica.cli(&["info", "replication"]).contains("state=online"));
    until("the service has found the new primary", || {
        machine.ask(&machine.call()) == json!({"answer": "runs"})
    });
    let mut left = 0;
    until("the limit is reached", || match machine.hook("s") {
        Became::Ran => {
            left += 1;
            false
        }
        Became::Refused(why) => why.contains("FLEET_LIMIT_EXCEEDED"),
        Became::Asked(_) => false,
    });
    // Those that nobody was left for may be counted, and none of the four is forgotten.
    assert!(left <= 2, "{left} more ran");
}

#[test]
fn a_cluster_counts_as_one() {
    let nodes: Vec<Redis> = (0..3).map(|_| Redis::new(&["--cluster-enabled", "yes"])).collect();
    let places: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let mut create = Command::new("redis-cli");
    create.args(["--cluster", "create"]).args(&places).args(["--cluster-replicas", "0", "--cluster-yes"]);
    let created = create.output().unwrap();
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stdout));
    for node in &nodes {
        until("the cluster is whole", || node.cli(&["cluster", "info"]).contains("cluster_state:ok"));
    }
    let state = format!("url = \"redis-cluster://{}?node={}\"", places[0], places[1]);
    let machines = [Machine::new(&state, &limited(5)), Machine::new(&state, &limited(5))];
    assert_eq!(ran(&machines[0], 3) + ran(&machines[1], 3), 5);
    machines[0].done(&["stop", "--all", "--why", "x"]);
    until(
        "the other machine has seen it",
        || matches!(machines[1].hook("s"), Became::Refused(why) if why.contains("FLEET_STOPPED")),
    );
}
