//! Registration with the clients: what is registered, where, and how their files are changed and changed back.
//! Decides nothing about calls and prints nothing.

pub mod clients;
pub mod diff;
pub mod files;
pub mod hooks;
pub mod json_text;
pub mod manifest;
pub mod process;
pub mod settings;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::{Client, Content, Fault, FaultKind, words};
use crate::host::dirs::{Dirs, Environment};
use crate::host::watch;

/// What the commands of registration need to know about the machine; made once, and by hand in tests.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub home: Option<PathBuf>,
    pub cwd: PathBuf,
    /// `PATH`.
    pub search_path: Option<OsString>,
    /// Where clients are looked for besides `PATH`: where their own installers put them below the home directory.
    pub usual_bin_dirs: Vec<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// Claude Code's managed settings, which no user can undo.
    pub claude_managed: PathBuf,
    /// OpenCode's managed directory, which no user can write to.
    pub opencode_managed: PathBuf,
    /// What the directories of whoever manages the machine lie in.
    pub root: PathBuf,
    /// The directories of the clients that have one.
    pub homes: Vec<(Client, PathBuf)>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `OPENCODE_CONFIG_DIR`.
    pub opencode_config_dir: Option<PathBuf>,
    /// What a registration gives the hook: the places that are not where they would be looked for anyway.
    pub places: Vec<String>,
    /// Where lazaret keeps its state.
    pub state_dir: PathBuf,
    /// This binary.
    pub exe: PathBuf,
    pub now: SystemTime,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn of_process(env: &Environment, dirs: &Dirs) -> Result<Surroundings, Fault> {
        let home = env.home().map(PathBuf::from);
        let cwd = std::env::current_dir().map_err(|error| host_fault("the working directory", &error))?;
        let exe = std::env::current_exe().map_err(|error| host_fault("the path of this binary", &error))?;
        let mut usual: Vec<PathBuf> = Vec::new();
        for under in [".local/bin", ".claude/local", ".opencode/bin", ".npm-global/bin", ".bun/bin"] {
            usual.extend(home.as_ref().map(|home| home.join(under)));
        }
        Ok(Surroundings {
            home,
            cwd,
            search_path: std::env::var_os("PATH"),
            usual_bin_dirs: usual,
            claude_config_dir: env.claude_config_dir.as_ref().map(PathBuf::from),
            claude_managed: Path::new(Client::ClaudeCode.about().managed).join("managed-settings.json"),
            opencode_managed: PathBuf::from(Client::OpenCode.about().managed),
            root: PathBuf::from("/"),
            homes: Client::ALL
                .into_iter()
                .filter(|client| client.about().one_home)
                .map(|client| (client, PathBuf::from(env.home_of(client))))
                .collect(),
            xdg_config_home: env.xdg_config_home.as_ref().map(PathBuf::from),
            opencode_config_dir: env.opencode_config_dir.as_ref().map(PathBuf::from),
            places: env.arguments(),
            state_dir: dirs.state.clone(),
            exe,
            now: SystemTime::now(),
        })
    }

    /// Claude Code's own directory of this user.
    pub fn claude_dir(&self) -> Result<PathBuf, Fault> {
        match &self.claude_config_dir {
            Some(dir) => Ok(self.cwd.join(dir)),
            None => Ok(self.home()?.join(".claude")),
        }
    }

    /// OpenCode's configuration directory of this user.
    pub fn opencode_dir(&self) -> Result<PathBuf, Fault> {
        match &self.xdg_config_home {
            Some(dir) if dir.is_absolute() => Ok(dir.join("opencode")),
            _ => Ok(self.home()?.join(".config/opencode")),
        }
    }

    /// A client's own directory of this user.
    pub fn client_dir(&self, client: Client) -> Result<PathBuf, Fault> {
        match self.homes.iter().find(|(known, _)| *known == client) {
            Some((_, dir)) => Ok(dir.clone()),
            None if client == Client::OpenCode => self.opencode_dir(),
            None => self.claude_dir(),
        }
    }

    /// Where whoever manages the machine puts a client's settings.
    pub fn managed_dir(&self, client: Client) -> PathBuf {
        self.root.join(client.about().managed.trim_start_matches('/'))
    }

    /// OpenCode's managed configuration.
    pub fn opencode_managed_file(&self) -> PathBuf {
        self.opencode_managed.join("opencode.json")
    }

    /// Our plugin as OpenCode's managed configuration names it.
    pub fn managed_plugin_url(&self) -> Result<String, Fault> {
        Ok(format!("file://{}", Scope::System.opencode_plugin(self)?.display()))
    }

    fn home(&self) -> Result<&Path, Fault> {
        self.home.as_deref().filter(|home| home.is_absolute()).ok_or_else(|| {
            Fault::new(FaultKind::Host, "the home directory", "HOME is not set to an absolute path")
                .with_hint("set HOME, or name a directory with CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME")
        })
    }
}

words! {
    /// How far a registration reaches.
    Scope {
        /// Every project of this user.
        User = "user",
        /// This project, for everybody who works on it.
        Project = "project",
        /// This project, for this user alone.
        Local = "local",
        /// Every user of this machine, in files that none of them can change.
        System = "system",
    }
}

impl Scope {
    /// The scopes in which a user registers.
    pub const OF_USERS: [Scope; 3] = [Scope::User, Scope::Project, Scope::Local];

    /// The settings file of Claude Code in this scope.
    pub fn claude_settings(self, here: &Surroundings) -> Result<PathBuf, Fault> {
        Ok(match self {
            Scope::User => here.claude_dir()?.join("settings.json"),
            Scope::Project => here.cwd.join(".claude/settings.json"),
            Scope::Local => here.cwd.join(".claude/settings.local.json"),
            Scope::System => here.claude_managed.clone(),
        })
    }

    /// The directory of Claude Code that holds `agents/` in this scope.
    pub fn claude_dir(self, here: &Surroundings) -> Result<PathBuf, Fault> {
        match self {
            Scope::User => here.claude_dir(),
            Scope::Project | Scope::Local => Ok(here.cwd.join(".claude")),
            Scope::System => Ok(here.claude_managed.parent().unwrap_or(Path::new("/")).to_owned()),
        }
    }

    /// The directory of OpenCode that holds `agents/` and `plugin/` in this scope.
    pub fn opencode_dir(self, here: &Surroundings) -> Result<PathBuf, Fault> {
        match self {
            Scope::User => here.opencode_dir(),
            Scope::Project | Scope::Local => Ok(here.cwd.join(".opencode")),
            Scope::System => Ok(here.opencode_managed.clone()),
        }
    }

    /// Our plugin file for OpenCode in this scope.
    pub fn opencode_plugin(self, here: &Surroundings) -> Result<PathBuf, Fault> {
        // The managed configuration names the plugin; a directory of plugins is not looked for beside it.
        let name = if self == Scope::System { "lazaret.js" } else { "plugin/lazaret.js" };
        Ok(self.opencode_dir(here)?.join(name))
    }
}

/// What Claude Code reads for a session.
#[derive(Debug, Clone)]
pub struct ClaudeSettings {
    /// Whoever manages the machine wrote them.
    pub managed: Content,
    /// Name and content of the others.
    pub others: Vec<(String, Content)>,
}

/// Every settings file of Claude Code for a session in `project`.
pub fn claude_settings(env: &Environment, dirs: &Dirs, project: &str) -> Result<ClaudeSettings, Fault> {
    let here = Surroundings { cwd: PathBuf::from(project), ..Surroundings::of_process(env, dirs)? };
    let mut others = Vec::new();
    for scope in Scope::OF_USERS {
        let path = scope.claude_settings(&here)?.display().to_string();
        let content = watch::read(&path);
        others.push((path, content));
    }
    Ok(ClaudeSettings { managed: watch::read(&here.claude_managed.to_string_lossy()), others })
}

/// An error of the machine with the name of what it concerns.
pub fn host_fault(what: impl Into<String>, error: &std::io::Error) -> Fault {
    Fault::new(FaultKind::Host, what, plain(error))
}

/// An operating system's error without its number and capital.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
