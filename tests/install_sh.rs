//! install.sh from an unpacked archive and from a bare checkout, each in a home of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod install_home;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use install_home::{Home, programs};
use sha2::{Digest, Sha256};

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
        programs::copy(env!("CARGO_BIN_EXE_lazaret-view"), archive.home.path("opt/lazaret-view"));
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

/// What a release archive has beside the binary: files to be installed, one that is not, and the list of their sums.
const RELEASED: [&str; 5] = [
    "share/man/man1/lazaret.1",
    "share/man/man1/lazaret-check.1",
    "share/fish/vendor_completions.d/lazaret.fish",
    // The name of a program.
    "share/bash-completion/completions/lazaret",
    "README.md",
];

fn released(names: &[&str]) -> Archive {
    let archive = Archive::unpacked();
    symlink(on_path("sha256sum"), archive.home.path("bin/sha256sum")).unwrap();
    let mut list = String::new();
    for name in names {
        archive.home.write(&format!("opt/{name}"), &format!("content of {name}\n"));
    }
    for name in names.iter().chain(&["lazaret", "lazaret-view", "install.sh"]) {
        let digest = Sha256::digest(fs::read(archive.home.path("opt").join(name)).unwrap());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        list.push_str(&format!("{hex}  {name}\n"));
    }
    archive.home.write("opt/SHA256SUMS", &list);
    archive
}

impl Archive {
    /// The installed binary, with these arguments.
    fn lazaret(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(self.home.path("home/.local/bin/lazaret")).args(args).output().unwrap();
        (output.status.code(), told(&output))
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
    assert_eq!(fs::read_dir(bin.parent().unwrap()).unwrap().count(), 2);
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
    // What it takes from everybody, a file system without execution takes too.
    let lost = PermissionsExt::from_mode(0o644);
    fs::set_permissions(archive.home.path("opt/lazaret"), lost).unwrap();
    let (code, said) = archive.run(&[]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("may not be executed where it lies"), "{said}");
    archive.home.script("opt/lazaret", "exit 0");
    let (code, said) = archive.run(&[]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("lazaret-view does not lie beside"), "{said}");
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
         printf '#!/bin/sh\\necho no client found; exit 1\\n' > \"$out/$target/release/lazaret\"; chmod 755 \"$out/$target/release/lazaret\"\n\
         cp \"$out/$target/release/lazaret\" \"$out/$target/release/lazaret-view\""
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

#[test]
fn an_archive_brings_manual_completions_and_sums_and_uninstall_takes_them_away() {
    let archive = released(&RELEASED);
    let before = archive.home.tree();
    let (code, said) = archive.run(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("manual, completions, sums") && said.contains("uninstall && rm"), "{said}");
    for name in &RELEASED[..4] {
        assert_eq!(archive.home.read(&format!("home/.local/{name}")), format!("content of {name}\n"));
    }
    assert!(!archive.home.path("home/.local/README.md").exists());
    let (code, said) = archive.lazaret(&["self-check"]);
    assert!(code == Some(0) && said.contains("as released: 6 of 6 files"), "{said}");
    // What is not as it was installed is somebody's, and so is what never was.
    archive.home.write("home/.local/share/man/man1/lazaret.1", "mine\n");
    archive.home.write("home/.local/share/bash-completion/completions/lazaret", "mine\n");
    archive.home.write("home/.local/share/man/man1/other.1", "another's\n");
    fs::remove_file(archive.home.path("home/.local/share/man/man1/lazaret-check.1")).unwrap();
    let (code, said) = archive.lazaret(&["self-check"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("differs    ")
            && said.contains("missing    ")
            && said.contains("NOT as released: 3 of 6"),
        "{said}"
    );
    let (code, said) = archive.lazaret(&["uninstall", "--dry-run"]);
    assert!(code == Some(0) && said.contains("would be deleted  2 files"), "{said}");
    let (code, _) = archive.lazaret(&["uninstall", "claude-code"]);
    assert_eq!((code, archive.home.path("home/.local/share/lazaret/SHA256SUMS").exists()), (Some(0), true));
    let (code, said) = archive.lazaret(&["uninstall"]);
    assert!(code == Some(0) && said.contains("deleted    2 files"), "{said}");
    assert!(!archive.home.path("home/.local/share/fish").exists());
    assert!(!archive.home.path("home/.local/share/lazaret").exists());
    for left in ["man/man1/lazaret.1", "man/man1/other.1", "bash-completion/completions/lazaret"] {
        fs::remove_file(archive.home.path("home/.local/share").join(left)).unwrap();
    }
    fs::remove_dir_all(archive.home.path("home/.local")).unwrap();
    assert_eq!(archive.home.tree(), before);
}

#[test]
fn an_upgrade_takes_away_what_the_new_release_does_not_have() {
    let archive = released(&RELEASED);
    assert_eq!(archive.run(&[]).0, Some(0));
    let next = released(&RELEASED[..1]);
    fs::remove_dir_all(archive.home.path("opt")).unwrap();
    fs::rename(next.home.path("opt"), archive.home.path("opt")).unwrap();
    assert_eq!(archive.run(&[]).0, Some(0));
    assert!(!archive.home.path("home/.local/share/man/man1/lazaret-check.1").exists());
    let (code, said) = archive.lazaret(&["self-check"]);
    assert!(code == Some(0) && said.contains("3 of 3 files"), "{said}");
}

#[test]
fn an_archive_that_is_not_as_released_installs_nothing() {
    for changed in ["lazaret", "lazaret-view", "share/man/man1/lazaret.1", "README.md"] {
        let archive = released(&RELEASED);
        archive.home.script(&format!("opt/{changed}"), "echo lazaret");
        let (code, said) = archive.run(&[]);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(&format!("{changed}: FAILED")) && said.contains("nothing was installed"),
            "{said}"
        );
        assert!(!said.contains(": OK"), "{said}");
        assert!(!archive.home.path("home/.local").exists());
    }
    let archive = released(&RELEASED);
    fs::remove_file(archive.home.path("bin/sha256sum")).unwrap();
    let (code, said) = archive.run(&[]);
    assert!(code == Some(1) && said.contains("neither sha256sum nor shasum"), "{said}");
}

#[test]
fn self_check_goes_by_the_list_that_is_named_or_lies_beside_it() {
    let archive = released(&RELEASED);
    let check = |args: &[&str]| {
        let output =
            archive.command(archive.home.path("opt/lazaret")).arg("self-check").args(args).output().unwrap();
        (output.status.code(), told(&output))
    };
    let (code, said) = check(&[]);
    assert!(code == Some(0) && said.contains("8 of 8 files"), "{said}");
    let list = archive.home.read("opt/SHA256SUMS");
    let digest = list.lines().find(|line| line.ends_with("  lazaret")).unwrap().split(' ').next().unwrap();
    let zeros = "0".repeat(64);
    // As a release publishes it: a binary for each system.
    let published = |digest: &str| {
        format!("{zeros}  lazaret-1-a.tar.gz\n{zeros}  lazaret-1-a/lazaret\n{digest}  lazaret-1-b/lazaret\n")
    };
    for (text, code, words) in [
        (published(digest), 0, "as released: 1 of 1"),
        (published(&zeros), 1, "differs    "),
        (format!("{zeros}  lazaret-1-a.tar.gz\n"), 1, "missing    "),
        (published("12"), 1, "no list of SHA-256 sums"),
        (String::new(), 1, "no list of SHA-256 sums"),
    ] {
        let named = archive.home.write("project/sums", &text);
        let (found, said) = check(&["--sums", &named.display().to_string()]);
        assert!(found == Some(code) && said.contains(words), "{found:?}: {said}");
    }
    fs::remove_file(archive.home.path("opt/SHA256SUMS")).unwrap();
    let (code, said) = check(&[]);
    assert!(code == Some(1) && said.contains("no list of sums") && said.contains("--sums"), "{said}");
}

#[test]
fn a_list_that_names_files_elsewhere_removes_none_of_them() {
    let archive = released(&RELEASED);
    assert_eq!(archive.run(&["--no-register"]).0, Some(0));
    let precious = archive.home.write("home/precious", "kept\n");
    let hex: String = Sha256::digest("kept\n").iter().map(|byte| format!("{byte:02x}")).collect();
    let list = format!("{hex}  share/../../precious\n{hex}  {}\n{hex}  ../precious\n", precious.display());
    archive.home.write("home/.local/share/lazaret/SHA256SUMS", &list);
    let (code, said) = archive.lazaret(&["uninstall"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(archive.home.read("home/precious"), "kept\n");
}
