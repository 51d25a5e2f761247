//! Places outside a project that everybody's work goes to: what is installed, what is documented, what tools keep for themselves.

use crate::domain::{Places, lies_in};

/// Of the machine.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/snap",
    "/proc",
    "/sys",
    "/dev",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/ssl/certs",
    "/System",
    "/Library",
    "/Applications",
    "/var/lib/dpkg",
    "/usr/share/doc",
];
/// Of the home directory: toolchains, packages, caches, and the clients' own notes, instructions and skills.
const HOME: &[&str] = &[
    ".cargo",
    ".rustup",
    ".npm",
    ".nvm",
    ".volta",
    ".fnm",
    ".bun",
    ".deno",
    ".yarn",
    ".pnpm-store",
    ".node-gyp",
    ".pyenv",
    ".rbenv",
    ".rvm",
    ".gem",
    ".bundle",
    ".m2",
    ".gradle",
    ".sdkman",
    ".ivy2",
    ".sbt",
    ".konan",
    ".nuget",
    ".dotnet",
    ".pub-cache",
    ".opam",
    ".ghcup",
    ".cabal",
    ".stack",
    ".hex",
    ".mix",
    ".asdf",
    ".conda",
    ".virtualenvs",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    ".local/lib",
    ".local/bin",
    ".local/share",
    ".local/state",
    ".cache",
    "go/pkg",
    "go/bin",
    "Library",
    ".terraform.d",
    ".composer",
    ".claude/plans",
    ".claude/projects",
    ".claude/todos",
    ".claude/plugins",
    ".claude/skills",
    ".claude/agents",
    ".claude/commands",
    ".claude/CLAUDE.md",
    ".agents",
    ".codex/plugins",
    ".codex/skills",
    ".codex/prompts",
    ".codex/sessions",
    ".codex/AGENTS.md",
    ".config/opencode",
    ".android",
    ".ccache",
    ".julia",
];
/// Directories of packages, wherever they are.
const PACKAGES: &[&str] =
    &["node_modules", "site-packages", "dist-packages", "vendor", ".venv", "venv", "__pycache__", ".tox"];

/// Whether going there says nothing of where the work goes.
pub fn is_looked_up(path: &str, places: &Places) -> bool {
    let in_home = |home: &str| {
        let rest = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| HOME.iter().any(|place| lies_in(rest, place)))
    };
    SYSTEM.iter().any(|place| lies_in(path, place))
        || places.home.as_deref().is_some_and(in_home)
        || path.split('/').any(|part| PACKAGES.contains(&part))
}
