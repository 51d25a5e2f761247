//! An administrator with a key, and a machine that takes what it signs.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; each uses a part"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use lazaret::cli::CHECKS;
use lazaret::domain::{Places, Policy};
use lazaret::host::config;
use lazaret::host::dirs::Dirs;
use minisign::KeyPair;
use serde_json::{Value, json};

pub const STRICT: &str = r#"
[audit]
retain_days = 90

[[rules.custom]]
id = "custom.deploy"
verdict = "block"
severity = "high"
reason = "deploys what nobody has looked at"
instead = { advice = "let the pipeline deploy" }
when = [{ command = { programs = ["fly"], subs = ["deploy"] } }]
fires = ["fly deploy"]
silent = ["fly logs"]
"#;
/// Loosens: what must never come to be in force by mistake.
pub const LOOSE: &str = "[rules]\nbuiltin = \"none\"\n";
/// Sets what is set anyway.
pub const PLAIN: &str = "[rules]\nbuiltin = \"all\"\n";

/// An administrator with a key, and a machine that takes what it signs.
pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        fs::write(world.path("key"), pair.sk.to_box(None).unwrap().into_string()).unwrap();
        fs::create_dir_all(world.path("etc")).unwrap();
        world.settings(&format!("[policy]\nname = \"acme\"\nkeys = [\"{}\"]\n", pair.pk.to_base64()));
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn settings(&self, text: &str) {
        let path = self.path("etc/fleet.toml");
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub fn config(&self) -> String {
        let path = self.path("etc/config.toml");
        if path.is_file() { fs::read_to_string(path).unwrap() } else { String::new() }
    }

    pub fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"));
        let out = command.arg("policy").args(args).current_dir(self.dir.path()).output().unwrap();
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (out.status.code(), said)
    }

    pub fn done(&self, args: &[&str]) -> String {
        let (code, said) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    /// Refused, for that reason.
    pub fn refused(&self, args: &[&str], why: &str) {
        let before = self.config();
        let (code, said) = self.run(args);
        assert!(code == Some(1) && said.contains(why), "{args:?}: {code:?} {said}");
        assert_eq!(self.config(), before, "what was in force stays in force");
    }

    /// A signed bundle of that number which brings this configuration.
    pub fn bundle(&self, number: &str, text: &str, more: &[&str]) -> String {
        let (dir, file) = (format!("policy-{number}"), format!("acme-{number}.json"));
        fs::create_dir_all(self.path(&dir)).unwrap();
        fs::write(self.path(&dir).join("a.toml"), text).unwrap();
        let _earlier = fs::remove_file(self.path(&file));
        let packed = ["pack", &dir, "--name", "acme", "--number", number, "--output", &file];
        self.done(&[&packed[..], more].concat());
        self.done(&["sign", &file, "--key", "key"]);
        file
    }

    /// A bundle that somebody wrote by hand, signed.
    pub fn written(&self, number: u64, more: &Value) -> String {
        let mut whole = json!({"format": "lazaret policy 1", "name": "acme", "number": number, "lazaret": "0.1.0",
            "percent": 100, "config": STRICT});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let file = format!("hand-{number}.json");
        fs::write(self.path(&file), whole.to_string()).unwrap();
        let pair =
            minisign::SecretKeyBox::from_string(&fs::read_to_string(self.path("key")).unwrap()).unwrap();
        let key = pair.into_unencrypted_secret_key().unwrap();
        let signature = minisign::sign(None, &key, whole.to_string().as_bytes(), None, None).unwrap();
        fs::write(self.path(&format!("{file}.minisig")), signature.into_string()).unwrap();
        file
    }

    pub fn apply(&self, file: &str) -> Vec<String> {
        ["apply", file, "--dir", "etc"].map(str::to_owned).to_vec()
    }

    pub fn applied(&self, file: &str) -> String {
        let words = self.apply(file);
        self.done(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn not_applied(&self, file: &str, why: &str) {
        let words = self.apply(file);
        self.refused(&words.iter().map(String::as_str).collect::<Vec<_>>(), why);
    }

    pub fn shown(&self) -> Value {
        serde_json::from_str(&self.done(&["show", "--json", "--dir", "etc"])).unwrap()
    }

    /// Where lazaret finds everything on that machine.
    pub fn places(&self) -> (Dirs, Places) {
        let home = self.path("home");
        let home = home.to_str().unwrap();
        let dirs = Dirs {
            managed: self.path("etc/config.toml"),
            config: self.path("home/config"),
            state: self.path("home/state"),
            runtime: self.path("home/run"),
            demanded: None,
        };
        (dirs, Places { home: Some(home.to_owned()), ..Places::default() })
    }

    /// The policy that the gate has there.
    pub fn policy(&self) -> Policy {
        let (dirs, places) = self.places();
        config::explain(&dirs, &places, CHECKS).unwrap().policy
    }

    /// What `lazaret config show` says there.
    pub fn settings_shown(&self) -> String {
        let ((dirs, places), mut out) = (self.places(), Vec::new());
        lazaret::cli::config::show(&dirs, &places, false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}
