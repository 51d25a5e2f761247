//! What release/ refuses before it builds anything, and who we are: said in Cargo.toml, and by nothing else otherwise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod programs;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The addresses of Cargo.toml: repository, home page, documentation, and who is told of a hole.
fn identity() -> [String; 4] {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let package = &manifest["package"];
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    [
        text(&package["repository"]),
        text(&package["homepage"]),
        text(&package["documentation"]),
        text(&package["metadata"]["lazaret"]["security"]),
    ]
}

#[test]
fn help_and_security_page_say_what_cargo_toml_says() {
    let [repository, _, documentation, security] = identity();
    let help = Command::new(env!("CARGO_BIN_EXE_lazaret")).arg("--help").output().unwrap();
    let manual = Command::new(env!("CARGO_BIN_EXE_lazaret")).arg("man").output().unwrap();
    for (said, of) in
        [(&repository, "repository"), (&documentation, "documentation"), (&security, "security")]
    {
        assert!(told(&help).contains(said), "--help: {of}");
        assert!(told(&manual).replace("\\-", "-").contains(said), "man: {of}");
    }
    assert!(read("SECURITY.md").contains(&format!("<{security}>")), "SECURITY.md has another contact");
}

#[test]
fn nothing_but_cargo_toml_and_the_security_page_holds_an_address_of_ours() {
    let files = Command::new("git")
        .args(["-C", ROOT, "grep", "-lF"])
        .args(identity().iter().flat_map(|a| ["-e", a]))
        .output();
    let files = told(&files.unwrap());
    assert_eq!(files.lines().collect::<Vec<_>>(), ["Cargo.toml", "SECURITY.md"]);
}

/// A checkout that consists of release/ and what it reads first.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new(manifest: &str) -> Checkout {
        let checkout = Checkout(tempfile::tempdir().unwrap());
        programs::copy_all(&Path::new(ROOT).join("release"), checkout.0.path());
        fs::write(checkout.0.path().join("Cargo.toml"), manifest).unwrap();
        fs::create_dir(checkout.0.path().join("fleet")).unwrap();
        fs::write(checkout.0.path().join("fleet/Cargo.toml"), read("fleet/Cargo.toml")).unwrap();
        checkout.run(Command::new("git").args(["init", "-q"]));
        checkout.commit();
        checkout
    }

    fn commit(&self) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        self.run(Command::new("git").args(["add", "-A"]));
        self.run(Command::new("git").args(who).args(["commit", "-qm", "All"]));
    }

    fn run(&self, command: &mut Command) {
        let output = command.current_dir(self.0.path()).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
    }

    fn build(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(self.0.path().join("release/build"));
        // A cargo that would do nothing: no case here may get so far.
        command.args(args).env("CARGO_HOME", self.0.path()).env("LAZARET_TAG", "v9.9.9");
        let output = command.output().expect("python3 is needed for release/");
        (output.status.code(), told(&output))
    }
}

/// Cargo.toml with addresses, or without.
fn manifest(filled: bool) -> String {
    let mut text = read("Cargo.toml");
    for address in identity() {
        let mine = if address.contains('@') { "security@PLACE" } else { "https://PLACE/x" };
        let place = if filled { "example.org" } else { "example.invalid" };
        text = text.replace(&format!("\"{address}\""), &format!("\"{}\"", mine.replace("PLACE", place)));
    }
    text
}

#[test]
fn a_release_without_addresses_is_refused() {
    let (code, said) = Checkout::new(&manifest(false)).build(&["--unsigned"]);
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("repository, homepage, documentation, security: still a placeholder"), "{said}");
}

#[test]
fn a_release_of_what_is_not_committed_or_tagged_otherwise_or_unsigned_is_refused() {
    let checkout = Checkout::new(&manifest(true));
    let (code, said) = checkout.build(&["--unsigned"]);
    assert!(code == Some(1) && said.contains("the tag is v9.9.9"), "{said}");
    fs::write(checkout.0.path().join("new"), "").unwrap();
    let (code, said) = checkout.build(&["--unsigned"]);
    assert!(code == Some(1) && said.contains("not committed"), "{said}");
    let (code, said) = checkout.build(&[]);
    assert!(code == Some(2) && said.contains("a release is signed"), "{said}");
    let (code, said) = checkout.build(&["--unsigned", "--binary", "/bin/true"]);
    assert!(code == Some(2) && said.contains("only with --trial"), "{said}");
}

#[test]
fn a_trial_and_what_its_sums_do_not_say_are_published_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let publish = |version: &str, place: &str| {
        fs::write(
            dir.path().join("release.json"),
            format!("{{\n \"version\": \"{version}\",\n \"commit\": \"0\"\n}}\n"),
        )
        .unwrap();
        let script = Path::new(ROOT).join("release/publish");
        // No tool that could publish is found.
        let mut command = Command::new("/bin/bash");
        command.arg(script).arg(place).arg(dir.path()).env("PATH", "/usr/bin:/bin").env("HOME", dir.path());
        let output = command.output().unwrap();
        (output.status.code(), told(&output))
    };
    for place in ["github", "npm", "crates"] {
        // A word behind the directory is no `--dry-run`.
        let mut late = Command::new("/bin/bash");
        late.arg(Path::new(ROOT).join("release/publish")).args([place, "DIR", "--dry-run"]);
        let late = late.output().unwrap();
        assert!(late.status.code() == Some(1) && told(&late).contains("usage: "), "{}", told(&late));
        let (code, said) = publish("1.2.3-trial", place);
        assert!(code == Some(1) && said.contains("is a trial"), "{said}");
        fs::write(dir.path().join("file"), "content").unwrap();
        fs::write(dir.path().join("SHA256SUMS"), format!("{}  file\n", "0".repeat(64))).unwrap();
        let (code, said) = publish("1.2.3", place);
        assert!(code == Some(1) && said.contains("is not what its SHA256SUMS says"), "{said}");
        fs::write(dir.path().join("SHA256SUMS"), format!("{}  gone\n", "0".repeat(64))).unwrap();
        let (code, said) = publish("1.2.3", place);
        assert!(code == Some(1) && !said.contains("usage"), "{said}");
    }
}

#[test]
fn a_release_writes_over_nothing_but_a_release_and_says_early_what_is_missing() {
    let checkout = Checkout::new(&manifest(true));
    let out = checkout.0.path().join("mine");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("file"), "mine").unwrap();
    let true_program = ["--trial", "--binary", "/bin/true", "--out", out.to_str().unwrap()];
    let (code, said) = checkout.build(&true_program);
    assert!(code == Some(1) && said.contains("it is not empty, and no release lies there"), "{said}");
    assert_eq!(fs::read_to_string(out.join("file")).unwrap(), "mine");
    for (args, why) in [
        (&["--trial", "--binary", "/nonexistent"][..], "there is no such file"),
        (&["--key", "minisign.key"], "there is no such file"),
        (&["--trial", "--binary", "/bin/true", "--target", "aarch64-apple-darwin"], "--binary is for"),
    ] {
        let (code, said) = checkout.build(args);
        assert!(code == Some(2) && said.contains(why), "{said}");
    }
    fs::write(checkout.0.path().join("fleet/Cargo.toml"), "[package]\nversion = \"9.9.9\"\n").unwrap();
    let (code, said) = checkout.build(&["--trial", "--unsigned"]);
    assert!(code == Some(1) && said.contains("fleet/Cargo.toml says version 9.9.9"), "{said}");
}

/// The workflows name each action by the commit, and what they run is here.
#[test]
fn workflows_pin_their_actions_and_run_what_is_here() {
    for name in ["ci.yml", "release.yml"] {
        let text = read(&format!(".github/workflows/{name}"));
        for line in text.lines().map(|line| line.trim_start_matches([' ', '-'])) {
            if let Some(action) = line.strip_prefix("uses: ") {
                let commit = action.split_once('@').unwrap().1.split(' ').next().unwrap();
                assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            }
            if let Some(program) = line.strip_prefix("run: ").map(|run| run.split(' ').next().unwrap()) {
                let here = program.strip_prefix("another/place/").unwrap_or(program);
                assert!(here == "diff" || Path::new(ROOT).join(here).is_file(), "{line}");
            }
        }
    }
}

#[test]
fn versions_of_what_is_published_are_cargos() {
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(read(".claude-plugin/plugin.json").contains(&version));
    let fleet: toml::Table = read("fleet/Cargo.toml").parse().unwrap();
    assert_eq!(fleet["package"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    let listed: serde_json::Value = serde_json::from_str(&read(".claude-plugin/marketplace.json")).unwrap();
    assert_eq!(
        (&listed["plugins"][0]["name"], &listed["plugins"][0]["source"]),
        (&"lazaret".into(), &"./".into())
    );
}
