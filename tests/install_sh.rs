//! install.sh from an unpacked archive and from a bare checkout, each in a home of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use install_home::{Home, programs};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
/// What install.sh may count on everywhere.
const TOOLS: [&str; 10] = ["sh", "cat", "cp", "mv", "rm", "mkdir", "chmod", "dirname", "uname", "cmp"];

/// A directory with install.sh in it, and a search path with the plain tools alone.
struct Archive {
    home: Home,
}

impl Archive {
    fn bare() -> Archive {
        let home = Home::new();
        fs::remove_file(home.path("opt/lazaret")).unwrap();
        programs::copy(SCRIPT, home.path("opt/install.sh"));
        for tool in TOOLS {
            symlink(on_path(tool), home.path("bin").join(tool)).unwrap();
        }
        Archive { home }
    }

    /// With the binary under test beside it.
    fn unpacked() -> Archive {
        let archive = Archive::bare();
        programs::copy(env!("CARGO_BIN_EXE_lazaret"), archive.home.path("opt/lazaret"));
        archive
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(self.home.path("opt/install.sh")).args(args).output().unwrap();
        (output.status.code(), told(&output))
    }

    fn command(&self, program: PathBuf) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.home.path("project"));
        command.env("HOME", self.home.path("home")).env("PATH", self.home.path("bin"));
        command
    }
}

fn on_path(tool: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|dir| dir.join(tool)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{tool} is not on PATH"))
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn without_a_client_it_installs_the_binary_and_says_so() {
    let archive = Archive::unpacked();
    for verb in ["installed  ", "unchanged  "] {
        let (code, said) = archive.run(&[]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(verb) && said.contains("(prebuilt)"), "{said}");
        assert!(said.contains("no client found") && said.contains("after installing a client: "), "{said}");
        assert!(said.contains("is not on PATH") && said.contains("undo: rm "), "{said}");
    }
    let bin = archive.home.path("home/.local/bin/lazaret");
    assert_eq!(fs::metadata(&bin).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_dir(bin.parent().unwrap()).unwrap().count(), 1);
    let version = archive.command(bin).arg("--version").output().unwrap();
    assert_eq!(told(&version).trim(), format!("lazaret {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn with_a_client_it_registers_proves_and_can_be_undone_twice_over() {
    let archive = Archive::unpacked();
    archive.home.script("bin/claude", "echo '2.1.329 (Claude Code)'");
    archive.home.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let prefix = archive.home.path("home/tools of mine");
    let before = archive.home.tree();
    for registered in ["changed    ", "unchanged  "] {
        let (code, said) = archive.run(&["--prefix", &prefix.display().to_string()]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(registered), "{said}");
        assert!(said.contains("`rm -rf /` is blocked, `ls` passes"), "{said}");
        assert!(said.contains("the gate is closed"), "{said}");
        assert!(said.contains("undo: "), "{said}");
    }
    let bin = prefix.join("bin/lazaret");
    let command =
        &archive.home.json("home/.claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    assert_eq!(*command, bin.display().to_string());
    let undone = archive.command(bin.clone()).arg("uninstall").output().unwrap();
    assert_eq!(undone.status.code(), Some(0), "{}", told(&undone));
    fs::remove_dir_all(&prefix).unwrap();
    fs::remove_dir_all(archive.home.path("home/.local")).unwrap();
    assert_eq!(archive.home.tree(), before);
}

#[test]
fn no_register_leaves_the_clients_alone() {
    let archive = Archive::unpacked();
    archive.home.script("bin/claude", "echo '2.1.329 (Claude Code)'");
    let (code, said) = archive.run(&["--no-register", "--prefix=relative"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not registered"), "{said}");
    assert!(archive.home.path("project/relative/bin/lazaret").is_file());
    assert!(!archive.home.path("home/.claude").exists());
}

#[test]
fn settings_that_cannot_be_read_end_in_1_with_the_reason() {
    let archive = Archive::unpacked();
    archive.home.script("bin/claude", "echo '2.1.329 (Claude Code)'");
    archive.home.write("home/.claude/settings.json", "{,}");
    let (code, said) = archive.run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("line 1") && said.contains("could not be registered"), "{said}");
    assert_eq!(archive.home.read("home/.claude/settings.json"), "{,}");
}

#[test]
fn a_gate_that_doctor_finds_open_ends_in_1() {
    let archive = Archive::unpacked();
    archive.home.script("bin/claude", "echo '2.1.329 (Claude Code)'");
    archive.home.write("home/.claude/settings.json", "{\"disableAllHooks\": true}");
    let (code, said) = archive.run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("FAIL  ") && said.contains("undo: "), "{said}");
}

#[test]
fn without_rust_and_without_a_binary_one_line_says_what_to_do() {
    let archive = Archive::bare();
    archive.home.write("opt/Cargo.toml", "[package]\n");
    let (code, said) = archive.run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("install Rust") && said.contains("release archive"), "{said}");
}

#[test]
fn without_anything_or_with_a_binary_of_another_machine() {
    let archive = Archive::bare();
    let (code, said) = archive.run(&[]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("neither a lazaret binary nor its source"), "{said}");
    archive.home.script("opt/lazaret", "exit 126");
    let (code, said) = archive.run(&[]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("does not run on this machine"), "{said}");
}

/// A cargo and a rustc that leave a script where the binary would be. `musl` is what the build for that target does.
fn fake_rust(archive: &Archive, has_std: bool, musl: &str) {
    let libdir = archive.home.path("opt/libdir");
    fs::create_dir_all(&libdir).unwrap();
    if has_std {
        fs::write(libdir.join("libstd-1.rlib"), "").unwrap();
    }
    archive.home.write("opt/Cargo.toml", "[package]\n");
    archive.home.script("bin/rustc", &format!("echo '{}'", libdir.display()));
    archive.home.script("bin/rustup", "exit 1");
    let cargo = format!(
        "[ \"$1\" = build ] || exit 9\nout= target=\nwhile [ $# -gt 0 ]; do case $1 in --target-dir) out=$2 ;; --target) target=$2 ;; esac; shift; done\n\
         [ -z \"$target\" ] || {{ {musl}; }} || exit 1\nmkdir -p \"$out/$target/release\"\n\
         printf '#!/bin/sh\\necho no client found; exit 1\\n' > \"$out/$target/release/lazaret\"; chmod 755 \"$out/$target/release/lazaret\""
    );
    archive.home.script("bin/cargo", &cargo);
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn it_builds_static_where_it_can_and_says_which() {
    for (has_std, musl, kind) in [
        (true, "true", "(static ("),
        (true, "false", "musl failed"),
        (false, "true", "is not there and could not be added"),
    ] {
        let archive = Archive::bare();
        fake_rust(&archive, has_std, musl);
        let (code, said) = archive.run(&[]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(kind), "{said}");
        assert!(archive.home.path("home/.local/bin/lazaret").is_file());
    }
}

#[test]
fn a_failing_build_installs_nothing() {
    let archive = Archive::bare();
    fake_rust(&archive, true, "true");
    archive.home.script("bin/cargo", "echo 'error: no' >&2; exit 101");
    let (code, said) = archive.run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the build failed"), "{said}");
    assert!(!archive.home.path("home/.local").exists());
}

#[test]
fn options_are_checked_and_explained() {
    let archive = Archive::unpacked();
    let (code, said) = archive.run(&["--help"]);
    assert!(code == Some(0) && said.contains("usage: ./install.sh"), "{said}");
    for args in [&["--prefix"][..], &["--prefix", ""], &["--frefix=x"], &["somewhere"]] {
        let (code, said) = archive.run(args);
        assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    }
    assert!(archive.home.tree().is_empty());
}
