//! Where the test programs in examples/ are: cargo builds them, so that a test run by itself finds the present one.

use std::path::PathBuf;
use std::process::Command;

/// The path of an example's binary.
pub fn worker(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    // Of the whole workspace, as the tests are: else other features of packages would have the library built anew.
    cargo.args(["build", "--quiet", "--workspace", "--example", name, "--message-format=json"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let messages = String::from_utf8(built.stdout).expect("cargo prints JSON");
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo names the binary it built")
}
