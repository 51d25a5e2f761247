//! How the binary is linked, and what it knows of programs. What an ordinary hook call runs lies together (`layout.ld`, written by
//! `examples/layout.rs`), because a process that lives half a millisecond spends much of it on bringing pages of code in; and it is
//! loaded at a fixed address, because the loader would otherwise relocate every pointer in the rules' tables at each start. The
//! released binary has no tables for unwinding (`tables.ld`): a panic ends it at once.
//!
//! The rows of programs are data files (`src/rules/facts/*.toml`); they are checked here, and become one constant table. So are the
//! lists of words, the rules and their examples, which stand beside the Rust files that they belong to (`src/rules/**/*.toml`): lists and
//! rules become constants, the examples one packed text.

#[path = "build/beside.rs"]
mod beside;
#[path = "build/facts.rs"]
mod facts;
#[path = "build/rules.rs"]
mod rules;
#[path = "build/words.rs"]
mod words;

use std::path::{Path, PathBuf};

/// Where the rules lie, and beside them lists of words and examples.
const RULES: &str = "src/rules";

fn main() -> Result<(), String> {
    if !["linux", "macos"].contains(&variable("CARGO_CFG_TARGET_OS").as_str()) {
        return Err(
            "lazaret runs on Linux and macOS; on Windows build and use it inside WSL 2 (docs/platforms.md)"
                .to_owned(),
        );
    }
    println!("cargo::rerun-if-changed=layout.ld");
    println!("cargo::rerun-if-changed=tables.ld");
    println!("cargo::rerun-if-changed={RULES}");
    let here = variable("CARGO_MANIFEST_DIR");
    link(&here);
    identity(&here)?;
    let rules = Path::new(&here).join(RULES);
    let table = facts::Table::read(&rules.join(facts::ROOM))?;
    let mut beside = beside::Beside::default();
    beside.read(&rules, &rules)?;
    let out = PathBuf::from(variable("OUT_DIR"));
    write(&out.join("programs.rs"), table.code()?.as_bytes())?;
    write(&out.join("operations.rs"), table.operations()?.as_bytes())?;
    write(&out.join("examples.bin"), &beside.packed())?;
    let mut lists = beside.words;
    lists.extend(table.words()?);
    let mut constants = words::code(&lists)?;
    for (file, code) in beside.rules {
        constants.entry(file).or_default().push_str(&code);
    }
    words::write(&constants, &out.join("words"))
}

/// What Cargo.toml says of who we are and cargo itself does not hand on.
fn identity(here: &str) -> Result<(), String> {
    println!("cargo::rerun-if-changed=Cargo.toml");
    let manifest: toml::Table = read(&Path::new(here).join("Cargo.toml"))?;
    let text = |keys: &[&str]| {
        let (last, above) = keys.split_last()?;
        let table = above.iter().try_fold(&manifest, |table, key| table.get(*key)?.as_table())?;
        table.get(*last)?.as_str()
    };
    for (variable, keys) in [
        ("LAZARET_DOCUMENTATION", &["package", "documentation"][..]),
        ("LAZARET_SECURITY", &["package", "metadata", "lazaret", "security"]),
    ] {
        let value = text(keys).ok_or_else(|| format!("Cargo.toml: {} is no text", keys.join(".")))?;
        println!("cargo::rustc-env={variable}={value}");
    }
    Ok(())
}

fn link(here: &str) {
    let of_target = |name: &str| variable(&format!("CARGO_CFG_TARGET_{name}"));
    // Linkers of other systems do not read such scripts; the binary only starts a little slower without.
    if of_target("OS") != "linux" {
        return;
    }
    println!("cargo::rustc-link-arg-bin=lazaret=-T{here}/layout.ld");
    // Debug builds unwind: their tests show where a panic came from.
    if variable("PROFILE") == "release" {
        println!("cargo::rustc-link-arg-bin=lazaret=-T{here}/tables.ld");
    }
    // The static build says so by its relocation model (.cargo/config.toml).
    if of_target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=lazaret=-no-pie");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content).map_err(|error| failed(path, &error))
}

/// What lies in a directory, by name.
fn entries(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| failed(dir, &error))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| failed(dir, &error))?;
    paths.sort();
    Ok(paths)
}

fn is_data(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// What a data file says.
fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let content = std::fs::read_to_string(path).map_err(|error| failed(path, &error))?;
    toml::from_str(&content).map_err(|error| failed(path, &error))
}
