//! Where the test programs in examples/ are: cargo builds them, so that a test run by itself finds the present one.

use std::path::PathBuf;
use std::process::Command;

/// The path of an example's binary.
pub fn worker(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--example", name, "--message-format=json"]);
    // As the tests are built: of the whole workspace here, of this package alone for another system, which that variable tells cargo, too. Else
    // other features of packages would have the library built anew.
    if std::env::var_os("CARGO_BUILD_TARGET").is_none() {
        cargo.arg("--workspace");
    }
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
