//! Bundles of policy as an administrator makes them and a machine takes them, with the built program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod machine;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lazaret::domain::{BuiltinRules, OnFault};
use machine::{LOOSE, PLAIN, STRICT, World};
use minisign::KeyPair;
use serde_json::json;

#[test]
fn a_bundle_is_made_signed_applied_and_read_by_the_gate() {
    let world = World::new();
    assert!(world.policy().custom_rules.is_empty());
    let file = world.bundle("7", STRICT, &[]);
    assert!(world.applied(&file).contains("policy acme 7 is in force"));
    let mode = fs::metadata(world.path("etc/config.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "every user's gate reads it");
    let policy = world.policy();
    assert_eq!((policy.custom_rules.len(), policy.audit.retain_days), (1, 90));
    let said = world.settings_shown();
    assert!(
        said.contains("(policy acme 7, applied 2") && said.contains("audit.retain_days = 90  # managed"),
        "{said}"
    );
    assert!(world.applied(&file).contains("in force already"));
    let shown = world.shown();
    assert_eq!(shown["in_force"], true, "{shown}");
    assert_eq!((&shown["applied"]["number"], &shown["expired"]), (&json!(7), &json!(false)));
}

#[test]
fn what_nobody_signed_is_not_applied() {
    let world = World::new();
    let file = world.bundle("7", STRICT, &[]);
    world.applied(&file);
    let newer = world.bundle("8", LOOSE, &[]);
    let (path, signature) = (world.path(&newer), world.path("acme-8.json.minisig"));
    let (whole, good) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(&signature).unwrap());
    // One byte of it, another's signature, none, a broken one, another's key.
    fs::write(&path, whole.replace("\"percent\": 100", "\"percent\":  99")).unwrap();
    world.not_applied(&newer, "none of the keys");
    fs::write(&path, &whole).unwrap();
    fs::copy(world.path("acme-7.json.minisig"), &signature).unwrap();
    world.not_applied(&newer, "none of the keys");
    fs::write(&signature, "untrusted comment: x\nRW\n").unwrap();
    world.not_applied(&newer, "minisig");
    // A last line that is too short.
    let mut lines: Vec<&str> = good.lines().collect();
    lines.truncate(3);
    for last in ["QQ==", ""] {
        fs::write(&signature, [&lines[..], &[last, ""]].concat().join("\n")).unwrap();
        world.not_applied(&newer, "no signature of minisign");
    }
    fs::remove_file(&signature).unwrap();
    world.not_applied(&newer, "acme-8.json.minisig: there is no such file");
    let stranger = KeyPair::generate_unencrypted_keypair().unwrap();
    fs::write(world.path("stranger"), stranger.sk.to_box(None).unwrap().into_string()).unwrap();
    world.done(&["sign", &newer, "--key", "stranger"]);
    world.not_applied(&newer, "none of the keys");
    // And with the right one it is.
    fs::write(&signature, good).unwrap();
    assert!(world.applied(&newer).contains("policy acme 8 is in force"));
}

#[test]
fn an_older_bundle_or_another_of_the_same_number_is_refused() {
    let world = World::new();
    let (old, new) = (world.bundle("7", PLAIN, &[]), world.bundle("8", STRICT, &[]));
    world.applied(&old);
    world.applied(&new);
    world.not_applied(&old, "older ones are refused");
    let again = world.bundle("8", PLAIN, &[]);
    world.not_applied(&again, "another bundle of number 8");
    // What keeps older ones out is not lost by being damaged.
    fs::write(world.path("etc/policy.json"), "{").unwrap();
    world.not_applied(&old, "policy.json");
}

#[test]
fn time_version_name_and_machine_are_kept_to() {
    let world = World::new();
    world.applied(&world.bundle("1", STRICT, &[]));
    world.not_applied(
        &world.bundle("2", STRICT, &["--not-before", "2126-01-01"]),
        "from 2126-01-01T00:00:00Z on",
    );
    world.not_applied(&world.bundle("3", STRICT, &["--expires", "2020-01-01"]), "until 2020-01-01T00:00:00Z");
    let none = world.bundle("5", LOOSE, &["--percent", "0"]);
    assert!(world.applied(&none).contains("this is none of them yet"));
    assert!(world.config().contains("policy acme 1"), "{}", world.config());
    // The same for all of them.
    assert!(world.applied(&world.bundle("5", LOOSE, &["--percent", "100"])).contains("acme 5 is in force"));
    let settings = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    world.settings(&settings.replace("acme", "other"));
    world.not_applied(&world.bundle("6", STRICT, &[]), "this machine takes other");
}

#[test]
fn a_bundle_for_a_newer_lazaret_is_in_force_as_far_as_it_tightens() {
    let world = World::new();
    world.applied(&world.bundle("1", "on_fault = \"block\"\n", &[]));
    // A key that nobody knows yet, one that loosens, and one that tightens.
    let config =
        "on_fault = \"ask\"\nof_tomorrow = 1\n[rules]\nbuiltin = \"none\"\n[quarantine]\nmax_calls = 9\n";
    let newer = json!({"lazaret": "99.0.0", "config": config});
    let file = world.written(2, &newer);
    let part = "policy acme 2 as far as it tightens (it needs lazaret 99.0.0)";
    assert!(world.applied(&file).contains(&format!("{part} is in force")));
    let policy = world.policy();
    assert_eq!((policy.on_fault, policy.quarantine.calls), (OnFault::Block, 9));
    assert_eq!(policy.builtin_rules, BuiltinRules::All);
    assert!(world.settings_shown().contains(part), "{}", world.settings_shown());
    assert!(world.done(&["show", "--dir", "etc"]).contains(part));
    assert!(world.applied(&file).contains("is in force already"));
    // The number counts, also where what was written about it is lost.
    world.not_applied(
        &world.written(2, &json!({"lazaret": "99.0.0", "config": STRICT})),
        "another bundle of number 2",
    );
    let file = world.written(2, &newer);
    fs::remove_file(world.path("etc/policy.json")).unwrap();
    world.not_applied(&world.bundle("1", PLAIN, &[]), "older ones are refused");
    assert!(world.applied(&file).contains("is in force already"));
    // The same bundle is taken whole once it is understood: this one always was.
    let understood = world.written(3, &json!({"lazaret": "99.0.0", "config": LOOSE}));
    world.applied(&understood);
    assert_eq!(world.policy().builtin_rules, BuiltinRules::All);
    assert!(
        world
            .applied(&world.written(3, &json!({"lazaret": "0.0.1", "config": LOOSE})))
            .contains("acme 3 is in force:")
    );
    assert_eq!(world.policy().builtin_rules, BuiltinRules::None);
    world.not_applied(
        &world.written(4, &json!({"lazaret": "99.0.0", "config": "="})),
        "what the bundle brings",
    );
}

/// Of many at once the newest is in force in the end, and what is in force is whole.
#[test]
fn many_at_once_leave_the_newest() {
    let world = World::new();
    let files: Vec<String> = (1..=12).map(|n| world.bundle(&n.to_string(), STRICT, &[])).collect();
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| {
                let (code, said) = world.run(&["apply", file, "--dir", "etc"]);
                assert!(code == Some(0) || said.contains("older ones are refused"), "{said}");
            });
        }
    });
    let shown = world.shown();
    assert_eq!((&shown["applied"]["number"], &shown["in_force"]), (&json!(12), &json!(true)), "{shown}");
    assert!(world.config().contains("policy acme 12,"), "{}", world.config());
}

#[test]
fn what_a_person_wrote_is_kept() {
    let world = World::new();
    let file = world.bundle("7", STRICT, &[]);
    fs::write(world.path("etc/config.toml"), "# ours\n").unwrap();
    world.not_applied(&file, "--replace");
    assert!(world.done(&["apply", &file, "--dir", "etc", "--replace"]).contains("is in force"));
    assert_eq!(fs::read_to_string(world.path("etc/config.toml.before")).unwrap(), "# ours\n");
    // One that was brought and then changed is a person's again.
    let changed = world.config() + "# and this\n";
    fs::write(world.path("etc/config.toml"), &changed).unwrap();
    assert_eq!(world.shown()["in_force"], false);
    assert!(world.settings_shown().contains(", changed since)"), "{}", world.settings_shown());
    world.not_applied(&file, "--replace");
    world.refused(&["apply", &file, "--dir", "etc", "--replace"], "config.toml.before: it is there already");
    // One that is gone comes back.
    fs::remove_file(world.path("etc/config.toml")).unwrap();
    world.applied(&file);
    assert_eq!(world.shown()["in_force"], true);
}

#[test]
fn files_are_put_together_and_mistakes_are_named() {
    let world = World::new();
    let dir = world.path("policy");
    let pack = ["pack", "policy", "--name", "acme", "--number", "1", "--output", "out.json"];
    world.refused(&pack, "policy: ");
    fs::create_dir_all(&dir).unwrap();
    world.refused(&pack, "no file *.toml");
    fs::write(dir.join("a.toml"), STRICT).unwrap();
    fs::write(dir.join("b.toml"), "[audit]\nretain_days = 30\n").unwrap();
    world.refused(&pack, "both say what audit.retain_days is");
    fs::write(dir.join("b.toml"), "\n[audit]\nretain_dys = 30\n").unwrap();
    world.refused(&pack, "policy/b.toml is not right:\n  line 3: ");
    fs::remove_file(dir.join("b.toml")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.join("b.toml")).unwrap();
    world.refused(&pack, "b.toml: it is a link that leads to no file");
    fs::remove_file(dir.join("b.toml")).unwrap();
    fs::write(
        dir.join("b.toml"),
        STRICT.replace("custom.deploy", "custom.other").replace("[audit]\nretain_days = 90", ""),
    )
    .unwrap();
    world.done(&pack);
    world.refused(&pack, "out.json");
    world.done(&["sign", "out.json", "--key", "key"]);
    world.done(&["apply", "out.json", "--dir", "etc"]);
    assert_eq!(world.policy().custom_rules.len(), 2);
    for (args, why) in [
        (&["pack", "policy", "--name", "a/b", "--number", "1", "--output", "x"][..], "no name of a policy"),
        (&["sign", "none.json", "--key", "key"], "none.json: there is no such file"),
        (&["sign", "out.json", "--key", "none"], "none: there is no such file"),
        (&["apply", "out.json", "--dir", "nowhere"], "fleet.toml: there is no such file"),
    ] {
        world.refused(args, why);
    }
}

#[test]
fn settings_that_others_can_write_are_not_believed() {
    let world = World::new();
    let file = world.bundle("7", STRICT, &[]);
    let path = world.path("etc/fleet.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    world.not_applied(&file, "others than its owner can write to it");
    world.settings("[policy]\nname = \"acme\"\nkeys = []\n");
    world.not_applied(&file, "keys is empty");
    world.settings("[policy]\nname = \"acme\"\nkeys = [\"x\"]\n");
    world.not_applied(&file, "no public key");
    world.settings("[policy]\nname = \"acme\"\nkey = \"x\"\n");
    world.not_applied(&file, "fleet.toml");
    assert!(!Path::exists(&world.path("etc/policy.json")));
}

/// What keeps older bundles out outlasts another name, and its own loss.
#[test]
fn the_highest_number_is_remembered() {
    let world = World::new();
    let (old, new) = (world.bundle("7", PLAIN, &[]), world.bundle("8", STRICT, &[]));
    world.applied(&new);
    let settings = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    world.settings(&settings.replace("acme", "other"));
    world.applied(&world.written(1, &json!({"name": "other"})));
    world.settings(&settings);
    world.not_applied(&old, "had 8 already");
    world.applied(&new);
    fs::remove_file(world.path("etc/policy.json")).unwrap();
    world.not_applied(&old, "had 8 already");
    std::os::unix::fs::symlink("nowhere", world.path("etc/policy.json")).unwrap();
    world.not_applied(&old, "a link that leads to no file");
}

#[test]
fn bundles_that_were_written_by_hand_are_looked_at() {
    let world = World::new();
    world.applied(&world.bundle("1", STRICT, &[]));
    for (number, more, why) in [
        (2, json!({"percent": 101}), "101 of a hundred"),
        (3, json!({"percent": 256}), "no bundle"),
        (4, json!({"config": "\u{feff}[audit]\nretain_days = 9\n"}), "not right"),
        (5, json!({"config": "[audit]\nretain_dys = 9\n"}), "retain_dys"),
        (6, json!({"config": "#".repeat(70_000)}), "lazaret reads 65536"),
        (7, json!({"more": 1}), "no bundle"),
        (8, json!({"expires": "never\u{1b}[2J"}), "never\\u{1b}[2J"),
        (9, json!({"name": "."}), "no name"),
    ] {
        let file = world.written(number, &more);
        world.not_applied(&file, why);
    }
    // The same bundle with another end.
    world.applied(&world.bundle("1", STRICT, &["--expires", "2126-01-01"]));
    assert_eq!(world.shown()["applied"]["expires"], "2126-01-01T00:00:00Z");
    // Somebody else's verification says when it is over.
    let over = world.bundle("20", STRICT, &["--expires", "2020-01-01"]);
    let key = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    let key = key.split('"').nth(3).unwrap().to_owned();
    assert!(world.done(&["verify", &over, "--key", &key]).contains("until 2020-01-01"));
}

#[test]
fn what_is_no_file_is_not_waited_for_and_what_was_left_is_cleared() {
    let world = World::new();
    let file = world.bundle("7", STRICT, &[]);
    let fifo = |name: &str| assert!(Command::new("mkfifo").arg(world.path(name)).status().unwrap().success());
    for name in ["etc/policy.json", "etc/config.toml", "fifo.json"] {
        fifo(name);
        let wanted = if name.ends_with("fifo.json") { "fifo.json" } else { &file };
        world.refused(&["apply", wanted, "--dir", "etc"], "it is not a regular file");
        fs::remove_file(world.path(name)).unwrap();
    }
    // What one that was killed has left, a dangling link among it.
    fs::write(world.path("etc/.policy.json.new"), "half").unwrap();
    std::os::unix::fs::symlink(world.path("victim"), world.path("etc/.config.toml.new")).unwrap();
    world.applied(&file);
    assert!(!world.path("victim").exists() && !world.path("etc/.policy.json.new").exists());
    let mode = |mode| fs::set_permissions(world.path("etc"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o777);
    world.not_applied(&file, "others than its owner can write to it");
    mode(0o755);
    // One that was stopped when it had set a person's configuration aside.
    fs::write(world.path("etc/config.toml"), "# ours\n").unwrap();
    fs::hard_link(world.path("etc/config.toml"), world.path("etc/config.toml.before")).unwrap();
    world.done(&["apply", &file, "--dir", "etc", "--replace"]);
    assert_eq!(fs::read_to_string(world.path("etc/config.toml.before")).unwrap(), "# ours\n");
}

/// `minisign -G -W` writes no checksum.
#[test]
fn a_key_without_password_signs_as_minisign_writes_it() {
    use base64::Engine;
    let world = World::new();
    let text = fs::read_to_string(world.path("key")).unwrap();
    let (comment, line) = text.trim().split_once('\n').unwrap();
    let engine = base64::engine::general_purpose::STANDARD;
    let mut bytes = engine.decode(line).unwrap();
    let from = bytes.len() - 32;
    bytes[from..].fill(0);
    fs::write(world.path("key"), format!("{comment}\n{}\n", engine.encode(bytes))).unwrap();
    world.applied(&world.bundle("7", STRICT, &[]));
    fs::write(world.path("key"), "untrusted comment: x\nRWQ=\n").unwrap();
    world.refused(&["sign", "acme-7.json", "--key", "key"], "key: it is no secret key of minisign");
}

/// A managed directory on a disk that is full but for a page or two: what is in force stays, and the bundle that did not fit is the next one.
#[test]
fn a_full_disk_leaves_what_is_in_force() {
    let world = World::new();
    let before = world.bundle("7", STRICT, &[]);
    let rule = |number: usize| {
        STRICT.split_once("\n[[").unwrap().1.replace("deploy\"", &format!("deploy-{number}\""))
    };
    let many: String = (0..60).map(|number| format!("\n[[{}", rule(number))).collect();
    let after = world.bundle("8", &many, &[]);
    let script = format!(
        "set -u; mkdir full; mount -t tmpfs -o size=64k,mode=755 none full; cp etc/fleet.toml full; apply() {{ {fleet:?} policy apply $1 --dir full; echo \"code $?\"; }}
         apply {before}; cp full/config.toml first
         for left in 0 2; do
             rm -f full/fill; dd if=/dev/zero of=full/fill bs=4096 2>/dev/null; truncate -s -$((left * 4096)) full/fill
             echo \"with $left\"; apply {after}; cmp full/config.toml first && ls -A full
         done
         apply {before}; cmp full/config.toml first; rm full/fill; apply {after}; grep -c deploy-59 full/config.toml",
        fleet = env!("CARGO_BIN_EXE_lazaret-fleet")
    );
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    let out = command.current_dir(world.path("")).output().unwrap();
    let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    let in_order = |words: &[&str]| {
        words.iter().try_fold(&*said, |rest, word| rest.split_once(word).map(|(_, rest)| rest)).is_some()
    };
    // Neither leaves a file that is half written.
    let kept = "code 1\nconfig.toml\nfill\nfleet.toml\npolicy.json\n";
    let steps =
        ["acme 7 is in force", "code 0", "with 0", kept, "with 2", kept, "code 1", "acme 8 is in force"];
    assert!(in_order(&steps) && !said.contains("differ"), "{said}");
    for why in [
        "full/policy.json: it cannot be written: No space left",
        "full/config.toml: it cannot be written",
        "this machine had 8 already",
    ] {
        assert!(said.contains(why), "{why}: {said}");
    }
}
