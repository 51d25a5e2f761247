//! What release/ refuses before it builds anything, and who we are: said in Cargo.toml, and by nothing else otherwise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod programs;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The sum of a file that says `content`.
const CONTENT: &str = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

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

/// Signed by a key of which nothing is left: a release of this commit, and what its sums say.
#[test]
fn a_release_that_was_built_without_a_key_is_signed() {
    let checkout = Checkout::new(&manifest(true));
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let (key, own) = (pair.sk.to_box(None).unwrap().into_string(), tempfile::tempdir().unwrap());
    let sign = |key: Option<&str>| {
        let mut command = Command::new(checkout.0.path().join("release/sign"));
        command.arg("dist/it").current_dir(checkout.0.path()).env("TMPDIR", own.path());
        command.envs(key.map(|key| ("LAZARET_MINISIGN_KEY", key)));
        let output = command.output().unwrap();
        (output.status.code(), told(&output))
    };
    let (code, said) = sign(None);
    assert!(code == Some(2) && said.contains("LAZARET_MINISIGN_KEY is not set"), "{said}");
    let (code, said) = sign(Some(&key));
    assert!(code == Some(1) && said.contains("is not what release/build made"), "{said}");

    let dir = checkout.0.path().join("dist/it");
    fs::create_dir_all(&dir).unwrap();
    fs::write(checkout.0.path().join(".git/info/exclude"), "dist\n").unwrap();
    fs::write(dir.join("file"), "content").unwrap();
    let listed = |sum: &str| fs::write(dir.join("SHA256SUMS"), format!("{sum}  file\n{sum}  in/lazaret\n"));
    let head =
        Command::new("git").args(["rev-parse", "HEAD"]).current_dir(checkout.0.path()).output().unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let of = |version: &str, commit: &str| {
        let said = serde_json::json!({"version": version, "commit": commit.trim(), "targets": []});
        fs::write(dir.join("release.json"), said.to_string()).unwrap();
    };
    listed(&"0".repeat(64)).unwrap();
    for (version, commit, why) in [
        (&*format!("{version}-trial"), &*head, "-trial of"),
        (version, "0", "is version"),
        (version, &head, "dist/it/file is not what SHA256SUMS says"),
    ] {
        of(version, commit);
        let (code, said) = sign(Some(&key));
        assert!(code == Some(1) && said.contains(why), "{said}");
        assert!(!dir.join("SHA256SUMS.minisig").exists());
    }
    listed(CONTENT).unwrap();
    let (code, said) = sign(Some(&key));
    assert_eq!(code, Some(0), "{said}");
    let signature = minisign::SignatureBox::from_file(dir.join("SHA256SUMS.minisig")).unwrap();
    let sums = fs::File::open(dir.join("SHA256SUMS")).unwrap();
    minisign::verify(&pair.pk, &signature, sums, true, false, false).unwrap();
    assert_eq!(signature.trusted_comment().unwrap(), format!("lazaret {version} {}", head.trim()));
    assert_eq!(fs::read_dir(own.path()).unwrap().count(), 0, "the key is gone");
}

/// What others wrote runs where it is compiled: no key, no token and no right to write is there.
#[test]
fn the_workflow_of_a_release_compiles_nothing_where_a_secret_is() {
    let text = read(".github/workflows/release.yml");
    let jobs: Vec<&str> = text.split_once("\njobs:\n").unwrap().1.split("runs-on: ").skip(1).collect();
    let (compile, hand_on): (Vec<&str>, Vec<&str>) =
        jobs.iter().partition(|job| job.contains("release/build"));
    assert_eq!((compile.len(), hand_on.len()), (2, 1));
    for job in compile {
        assert!(!job.contains("secrets.") && !job.contains(": write"), "{job}");
    }
    assert!(hand_on[0].contains("secrets.") && hand_on[0].contains("environment: release"));

    // Nor does `cargo publish` compile what it hands on.
    let dir = tempfile::tempdir().unwrap();
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(ROOT).output().unwrap();
    let head = String::from_utf8(head.stdout).unwrap();
    for (name, content) in [
        ("release.json", &*format!("{{\n \"version\": \"1.2.3\",\n \"commit\": \"{}\",\n}}\n", head.trim())),
        ("file", "content"),
        ("SHA256SUMS", &format!("{CONTENT}  file\n")),
        ("SHA256SUMS.minisig", ""),
    ] {
        fs::write(dir.path().join(name), content).unwrap();
    }
    fs::create_dir(dir.path().join("bin")).unwrap();
    programs::write(&dir.path().join("bin/cargo"), "#!/bin/sh\necho \"$@\"\n");
    for (words, said) in [(&["crates"][..], "--no-verify"), (&["crates", "--dry-run"], "--dry-run")] {
        let mut command = Command::new(Path::new(ROOT).join("release/publish"));
        command
            .args(words)
            .arg(dir.path())
            .env("PATH", format!("{}/bin:/usr/bin:/bin", dir.path().display()));
        let output = command.output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("publish --locked {said}\n"),
            "{output:?}"
        );
    }
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
