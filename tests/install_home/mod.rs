//! A machine of its own for tests of install, uninstall and doctor: a home, a project, a `bin` with made-up clients.
#![allow(dead_code, reason = "each test file uses a part of it")]

#[path = "../programs/mod.rs"]
pub mod programs;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lazaret::cli::Exit;
use lazaret::cli::doctor::{Configured, DoctorOptions};
use lazaret::cli::install::{self, InstallOptions};
use lazaret::cli::uninstall::{self, UninstallOptions};
use lazaret::domain::Client;
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::places;
use lazaret::host::registration::{Scope, Surroundings};

pub struct Home {
    pub dir: tempfile::TempDir,
    pub here: Surroundings,
}

impl Home {
    /// A home without clients, and a fake lazaret in it.
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for sub in ["home", "project", "bin", "opt"] {
            fs::create_dir(root.join(sub)).unwrap();
        }
        let here = Surroundings {
            home: Some(root.join("home")),
            cwd: root.join("project"),
            search_path: Some(root.join("bin").into_os_string()),
            usual_bin_dirs: Vec::new(),
            claude_config_dir: None,
            claude_managed: root.join("etc/managed-settings.json"),
            opencode_managed: root.join("etc/opencode"),
            root: root.clone(),
            homes: vec![(Client::Codex, root.join("home/.codex"))],
            xdg_config_home: None,
            opencode_config_dir: None,
            places: vec!["--home".to_owned(), root.join("home").display().to_string()],
            state_dir: root.join("home/.local/state/lazaret"),
            exe: root.join("opt/lazaret"),
            now: SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000),
        };
        let home = Home { dir, here };
        home.script("opt/lazaret", "exit 0");
        home
    }

    pub fn with_claude(version: &str) -> Home {
        let home = Home::new();
        home.script("bin/claude", &format!("echo '{version} (Claude Code)'"));
        home
    }

    /// What doctor is asked, about one client or those found.
    pub fn doctor_options(&self, clients: &[Client]) -> DoctorOptions {
        let dirs = Dirs {
            config: self.path("home/.config/lazaret"),
            state: self.here.state_dir.clone(),
            runtime: self.path("run"),
            managed: self.path("etc/lazaret.toml"),
            demanded: None,
        };
        let home = self.here.home.as_ref().map(|home| home.display().to_string());
        let env = Environment { home, ..Environment::default() };
        let places = places::locate(&env, &dirs, &self.here.cwd.display().to_string());
        DoctorOptions {
            clients: clients.to_vec(),
            json: false,
            patience: Duration::from_secs(60),
            configured: Configured { dirs, places },
        }
    }

    /// The state directory as the first call makes it, and a clock that is right.
    pub fn set_up(&mut self) {
        self.here.now = SystemTime::now();
        fs::create_dir_all(&self.here.state_dir).unwrap();
        fs::set_permissions(&self.here.state_dir, fs::Permissions::from_mode(0o700)).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.here.cwd.parent().unwrap().join(name)
    }

    /// An executable shell script.
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        programs::write(&path, format!("#!/bin/sh\n{body}\n"));
        path
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A script that is being run cannot be written to; a new one can take its place.
        let _ = fs::remove_file(&path);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Every file below the home and the project, with its text, and every directory and link.
    pub fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        for top in ["home", "project"] {
            walk(&self.path(top), &self.path(""), &mut tree);
        }
        tree
    }

    pub fn install(&self, options: &InstallOptions) -> (anyhow::Result<Exit>, String) {
        let mut out = Vec::new();
        let result = install::install(options, &self.here, &mut out);
        (result, String::from_utf8(out).unwrap())
    }

    pub fn installed(&self, clients: &[Client]) -> String {
        let (result, out) = self.install(&to(clients));
        assert_eq!(result.unwrap(), Exit::Fine, "{out}");
        out
    }

    pub fn uninstalled(&self) -> String {
        let options = UninstallOptions { clients: Vec::new(), scope: None, dry_run: false };
        let mut out = Vec::new();
        let result = uninstall::uninstall(&options, &self.here, &mut out);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(result.unwrap(), Exit::Fine, "{out}");
        out
    }
}

pub fn to(clients: &[Client]) -> InstallOptions {
    InstallOptions { clients: clients.to_vec(), scope: Scope::User, dry_run: false, bin: None }
}

fn walk(dir: &Path, root: &Path, tree: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_symlink() {
            tree.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
        } else if path.is_dir() {
            tree.insert(name, "a directory".into());
            walk(&path, root, tree);
        } else {
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            tree.insert(name, format!("{mode:o} {}", String::from_utf8_lossy(&fs::read(&path).unwrap())));
        }
    }
}
