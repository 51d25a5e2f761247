//! The clients, fetched once from npm into `target/e2e-clients/<version>`. No client is a failure, never a skip.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// A client under test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Client {
    Claude,
    OpenCode,
    Codex,
}

/// Held while npm runs, so that tests at the same time install once.
static INSTALLING: Mutex<()> = Mutex::new(());

impl Client {
    /// The package and version the tests were written against.
    const fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "2.1.329"),
            Self::OpenCode => ("opencode-ai", "1.18.33"),
            Self::Codex => ("@openai/codex", "0.171.0"),
        }
    }

    /// The native binary inside the installed package, relative to its prefix.
    fn executable(self) -> String {
        let cpu = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => panic!("the clients have no build for {other}"),
        };
        match self {
            Self::Claude => format!("node_modules/@anthropic-ai/claude-code-linux-{cpu}/claude"),
            Self::OpenCode => format!("node_modules/opencode-linux-{cpu}/bin/opencode"),
            Self::Codex => {
                let target = std::env::consts::ARCH;
                format!("node_modules/@openai/codex-linux-{cpu}/vendor/{target}-unknown-linux-musl/bin/codex")
            }
        }
    }

    /// The name a person types.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
        }
    }

    /// What lazaret calls the client.
    pub const fn registered_as(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::OpenCode => "opencode",
            Self::Codex => "codex",
        }
    }

    /// Where the clients live on this machine.
    pub fn cache() -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target").join("e2e-clients")
    }

    /// Where the client's executable lies inside the namespaces.
    pub fn inside(self) -> String {
        format!("/mnt/clients/{}/{}", self.directory(), self.executable())
    }

    fn directory(self) -> String {
        let (package, version) = self.package();
        format!("{}-{version}", package.replace(['@', '/'], ""))
    }

    /// Installs the client if it is not there yet.
    pub fn install(self) {
        let _one_at_a_time = INSTALLING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let prefix = Self::cache().join(self.directory());
        if prefix.join(self.executable()).is_file() {
            return;
        }
        let (package, version) = self.package();
        // Installed beside its place and renamed, so that an interrupted npm leaves nothing that looks complete.
        let partial = Self::cache().join(format!("{}.{}", self.directory(), std::process::id()));
        std::fs::create_dir_all(&partial).expect("create the clients' directory");
        let done = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--prefix"])
            .arg(&partial)
            .arg(format!("{package}@{version}"))
            .stdin(Stdio::null())
            .output()
            .expect("npm is needed to fetch the clients: install Node.js with npm");
        assert!(
            done.status.success(),
            "{package}@{version} cannot be installed from npm ({}); the end-to-end tests need it:\n{}",
            done.status,
            String::from_utf8_lossy(&done.stderr)
        );
        let executable = partial.join(self.executable());
        assert!(executable.is_file(), "npm installed {package}@{version} without {}", executable.display());
        drop(std::fs::remove_dir_all(&prefix));
        if std::fs::rename(&partial, &prefix).is_err() {
            // Another process was faster, which is as good.
            drop(std::fs::remove_dir_all(&partial));
        }
        assert!(
            prefix.join(self.executable()).is_file(),
            "{} is not in {}",
            self.executable(),
            prefix.display()
        );
    }
}
