//! The walls of the house: who may use whom, what a pure module may touch, how long a file may be. Each check is shown
//! to bite on a seeded violation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules and their floors. A module may use only lower floors and itself.
const FLOORS: [(&str, u32); 9] = [
    ("domain", 0),
    ("shell", 1),
    ("reference", 1),
    ("adapters", 1),
    ("host", 1),
    ("rules", 2),
    ("review", 3),
    ("cli", 4),
    ("view", 5),
];
/// Modules that may touch the machine; every other one forbids it to itself.
const TOUCHES_MACHINE: [&str; 3] = ["host", "cli", "view"];
/// Files in which `unsafe` may stand.
const MAY_BE_UNSAFE: [&str; 7] = [
    "src/host/guard.rs",
    "src/host/alloc.rs",
    "src/host/copy.rs",
    "src/host/start.rs",
    "src/main.rs",
    "src/host/process/macos.rs",
    "src/host/quarantine/vault/keychain.rs",
];
/// Longest file, in lines of code without its tests.
const MAX_LINES: usize = 400;
/// Most lines of Rust below a directory, all of them counted: what is there now and less than a hundred more, never raised without a reason. The
/// last ones: what a service for many machines is asked, and how its answer is heard, which no hook call runs unless a setting says so; and what
/// makes a review session of one that another machine shares; and what bounds the hook's memory where the system does not.
const MAX_BELOW: [(&str, usize); 2] = [("src/rules/", 56_350), ("src/", 126_900)];
/// What would end a hook call with another exit code, or hide a check, found as text because clippy's test exemptions
/// cannot tell a module's test code from the rest.
const FORBIDDEN_TEXT: [&str; 4] = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"];

fn size_violations(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let too_many = |(dir, most): &(&str, usize)| {
        let below = sources.iter().filter(|(path, _)| path.to_string_lossy().starts_with(dir));
        let lines: usize = below.map(|(_, text)| text.lines().count()).sum();
        (lines > *most).then(|| format!("{dir}: {lines} lines (at most {most})"))
    };
    MAX_BELOW.iter().filter_map(too_many).collect()
}

fn floor(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

fn sources() -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![PathBuf::from("src")];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    assert!(files.len() > 20, "only {} source files found: run from the package root", files.len());
    files
}

/// The code without comments and without the test module at its end.
fn code(text: &str) -> String {
    let without_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    without_tests
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The module that a file belongs to: `src/review/risk.rs` and `src/review.rs` are `review`.
fn module_of(path: &Path) -> Option<String> {
    let second = path.components().nth(1)?.as_os_str().to_str()?;
    Some(second.trim_end_matches(".rs").to_owned())
}

/// Every `crate::module` that a text names.
fn uses(text: &str) -> Vec<String> {
    let code = code(text);
    let mut found = Vec::new();
    for start in ["crate::", "lazaret::"] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                let group = group.split("};").next().unwrap_or_default();
                found.extend(group.split(',').map(|item| first_name(item.trim())));
            } else {
                found.push(first_name(rest));
            }
        }
    }
    found.retain(|name| floor(name).is_some());
    found
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn floor_violations(files: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in files {
        let Some(module) = module_of(path) else { continue };
        let Some(own) = floor(&module) else { continue };
        for used in uses(text) {
            let other = floor(&used).unwrap();
            if used != module && other >= own {
                wrong.push(format!("{}: {module} (floor {own}) uses {used} (floor {other})", path.display()));
            }
        }
    }
    wrong
}

/// Rooms of `rules` that stand below the others, and the rooms that each may use.
const LOW_ROOMS: [(&str, &[&str]); 2] = [("facts", &["facts"]), ("foreign", &["foreign", "facts"])];

fn room_violations(files: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in files {
        let room = |(room, _): &&(&str, &[&str])| path.starts_with(format!("src/rules/{room}"));
        let Some((room, may)) = LOW_ROOMS.iter().find(room) else { continue };
        let code = code(text);
        let used = code.split("crate::rules::").skip(1).map(first_name);
        let others = used.filter(|name| !may.contains(&name.as_str()));
        wrong.extend(others.map(|other| format!("{}: {room} uses rules::{other}", path.display())));
    }
    wrong
}

fn purity_violations(files: &BTreeMap<PathBuf, String>) -> Vec<String> {
    FLOORS
        .iter()
        .filter(|(module, _)| !TOUCHES_MACHINE.contains(module))
        .filter(|(module, _)| {
            let root = files.get(Path::new(&format!("src/{module}/mod.rs")));
            !root.is_some_and(|text| {
                text.contains("#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]")
            })
        })
        .map(|(module, _)| format!("src/{module}/mod.rs does not forbid the machine to itself"))
        .collect()
}

fn length_violations(files: &BTreeMap<PathBuf, String>) -> Vec<String> {
    files
        .iter()
        .map(|(path, text)| (path, code(text).lines().filter(|line| !line.trim().is_empty()).count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines of code (at most {MAX_LINES})", path.display()))
        .collect()
}

fn text_violations(files: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in files {
        for forbidden in FORBIDDEN_TEXT {
            if text.contains(forbidden) {
                wrong.push(format!("{}: {forbidden}", path.display()));
            }
        }
        let confined = MAY_BE_UNSAFE.iter().any(|file| path == Path::new(file));
        if !confined && code(text).contains("unsafe ") {
            wrong.push(format!("{}: unsafe outside its files", path.display()));
        }
    }
    wrong
}

/// The sources with one more file in them.
fn seeded(path: &str, text: &str) -> BTreeMap<PathBuf, String> {
    let mut files = sources();
    files.insert(PathBuf::from(path), text.to_owned());
    files
}

#[test]
fn low_rooms_of_rules_use_no_higher_ones() {
    assert_eq!(room_violations(&sources()), Vec::<String>::new());
    let seeded = [
        ("src/rules/foreign/x.rs", "use crate::rules::matcher::Scene;"),
        ("src/rules/facts/x.rs", "use crate::rules::foreign::account;"),
    ];
    for (path, text) in seeded {
        let files = BTreeMap::from([(PathBuf::from(path), text.to_owned())]);
        assert_eq!(room_violations(&files).len(), 1, "{path}");
    }
}

#[test]
fn every_module_stands_on_a_floor() {
    let known: Vec<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    for path in sources().keys() {
        let module = module_of(path).unwrap();
        assert!(
            known.contains(&module.as_str()) || ["lib", "main", "bin"].contains(&module.as_str()),
            "{} belongs to no floor",
            path.display()
        );
    }
}

#[test]
fn modules_use_only_what_lies_below() {
    assert_eq!(floor_violations(&sources()), Vec::<String>::new());
}

#[test]
fn the_floor_check_bites() {
    for (path, text) in [
        ("src/domain/x.rs", "use crate::host::state;"),
        ("src/shell/x.rs", "fn f() { crate::host::clock::now(); }"),
        ("src/adapters/x.rs", "use crate::{domain::Request, shell::parse};"),
        ("src/reference/x.rs", "use crate::host::dirs;"),
        ("src/review/x.rs", "use crate::cli;"),
        ("src/rules/x.rs", "use crate::review::Case;"),
    ] {
        assert_eq!(floor_violations(&seeded(path, text)).len(), 1, "{path} with {text}");
    }
}

#[test]
fn pure_modules_forbid_the_machine_to_themselves() {
    assert_eq!(purity_violations(&sources()), Vec::<String>::new());
    assert_eq!(purity_violations(&seeded("src/review/mod.rs", "//! x")).len(), 1);
}

#[test]
fn files_are_short() {
    assert_eq!(length_violations(&sources()), Vec::<String>::new());
    let long = "fn f() {}\n".repeat(MAX_LINES + 1);
    assert_eq!(length_violations(&seeded("src/cli/x.rs", &long)).len(), 1);
}

#[test]
fn the_sources_are_bounded() {
    assert_eq!(size_violations(&sources()), Vec::<String>::new());
    let long = "fn f() {}\n".repeat(MAX_BELOW[1].1);
    assert_eq!(size_violations(&seeded("src/cli/x.rs", &long)).len(), 1);
}

#[test]
fn nothing_forbidden_stands_in_the_sources() {
    assert_eq!(text_violations(&sources()), Vec::<String>::new());
    assert_eq!(text_violations(&seeded("src/cli/x.rs", "fn f() { unsafe { g() } }")).len(), 1);
    assert_eq!(text_violations(&seeded("src/cli/x.rs", "fn f() { todo!() }")).len(), 1);
}

/// The lints that DESIGN relies on are really denied, and clippy really reports a pure module that touches the machine.
#[test]
fn the_lints_bite() {
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    for lint in
        ["unwrap_used", "expect_used", "panic", "indexing_slicing", "string_slice", "todo", "print_stdout"]
    {
        assert!(manifest.contains(&format!("{lint} = \"deny\"")), "{lint} is not denied");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::copy("clippy.toml", dir.path().join("clippy.toml")).unwrap();
    let lints = &manifest[manifest.find("[workspace.lints.rust]").unwrap()..];
    let lints: String =
        lints.lines().take_while(|l| !l.starts_with("[profile")).map(|l| format!("{l}\n")).collect();
    let lints = lints.replace("[workspace.lints.", "[lints.");
    fs::write(
        dir.path().join("Cargo.toml"),
        format!(
            "[package]\nname = \"seeded\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n{lints}"
        ),
    )
    .unwrap();
    let seeded = "//! seeded\npub mod pure {\n#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]\n\
        pub fn clock() -> std::time::SystemTime { std::time::SystemTime::now() }\n}\n\
        pub fn first(x: &[u8]) -> u8 { x[0] }\npub fn must(x: Option<u8>) -> u8 { x.unwrap() }\n\
        pub fn say() { println!(\"x\"); }\n";
    fs::write(dir.path().join("src/lib.rs"), seeded).unwrap();
    let out = std::process::Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--message-format=short"])
        .current_dir(dir.path())
        .env("CARGO_TARGET_DIR", dir.path().join("target"))
        .output()
        .expect("cargo clippy runs");
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success(), "clippy let the seeded violations pass: {text}");
    for expected in ["SystemTime::now", "indexing may panic", "unwrap", "println"] {
        assert!(text.contains(expected), "clippy did not report {expected}: {text}");
    }
}

/// The compiler that builds this is the one that Cargo.toml promises to be enough, or a newer one.
#[test]
fn the_stated_compiler_version_is_honest() {
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let stated = manifest.lines().find_map(|l| l.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let clippy = fs::read_to_string("clippy.toml").unwrap();
    assert!(clippy.contains(&format!("msrv = \"{stated}\"")), "clippy.toml names another msrv than {stated}");
}

/// Version by name of the packages in a lock file.
fn locked(path: &str) -> BTreeMap<String, String> {
    let lock: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap().iter();
    packages
        .map(|p| (p["name"].as_str().unwrap().to_owned(), p["version"].as_str().unwrap().to_owned()))
        .collect()
}

/// Otherwise `fuzz/run.sh`, which builds with `--locked`, does not start.
#[test]
fn the_fuzzers_lock_file_knows_every_dependency() {
    let manifest: toml::Table = fs::read_to_string("Cargo.toml").unwrap().parse().unwrap();
    let targets =
        manifest["target"].as_table().unwrap().values().map(|t| t["dependencies"].as_table().unwrap());
    let names = std::iter::once(manifest["dependencies"].as_table().unwrap())
        .chain(targets)
        .flat_map(toml::Table::keys);
    let (ours, fuzzers) = (locked("Cargo.lock"), locked("fuzz/Cargo.lock"));
    let missing: Vec<_> = names.filter(|name| ours.get(*name) != fuzzers.get(*name)).collect();
    assert!(missing.is_empty(), "run `cargo update --workspace` in fuzz/ for {missing:?}");
}

/// docs/architecture.md says which files a client is named in.
#[test]
fn a_client_is_named_where_the_tables_are() {
    let named =
        |text: &str| ["Client::Codex", "CODEX_HOME", "codex::"].iter().any(|word| text.contains(word));
    let sources = sources();
    let found = sources.iter().filter(|(path, text)| !path.starts_with("src/adapters") && named(&code(text)));
    let found: Vec<&str> = found.map(|(path, _)| path.to_str().unwrap()).collect();
    assert_eq!(
        found,
        ["src/cli/clients/codex.rs", "src/cli/clients.rs", "src/domain/client.rs", "src/host/environment.rs"]
    );
    let told = fs::read_to_string("docs/architecture.md").unwrap();
    let list = told.split("## To add a client").nth(1).unwrap();
    assert!(list.contains("src/domain/client.rs") && list.contains("these twelve files"));
}
