//! Where lazaret keeps its own things, worked out from the environment. Makes no directory and opens none.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::files::{self, Links};
use crate::domain::{Fault, FaultKind, Profile};

/// What lazaret reads from the process's environment, once. Empty values count as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub home: Option<String>,
    pub user: Option<String>,
    pub tmpdir: Option<String>,
    pub xdg_config_home: Option<String>,
    pub xdg_state_home: Option<String>,
    pub xdg_runtime_dir: Option<String>,
    pub lazaret_home: Option<String>,
    /// `LAZARET_KEYS`: where the keys of reviews are kept.
    pub lazaret_keys: Option<String>,
    /// `LAZARET_QUARANTINE`: here an empty value counts as set.
    pub lazaret_quarantine: Option<String>,
    /// `LAZARET_PROFILE`: what a supervised run demands of its hooks.
    pub lazaret_profile: Option<String>,
    pub claude_config_dir: Option<String>,
    pub claude_project_dir: Option<String>,
    /// Set when the client runs the hook as a plugin's.
    pub claude_plugin_root: Option<String>,
    pub opencode_config_dir: Option<String>,
    pub opencode_config: Option<String>,
}

/// The variables of [`Environment`], in its order.
const NAMES: [&str; 15] = [
    "HOME",
    "USER",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "LAZARET_HOME",
    "LAZARET_KEYS",
    "LAZARET_QUARANTINE",
    "LAZARET_PROFILE",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_CONFIG",
];

impl Environment {
    /// Longest list of users that is searched for a home directory.
    const MAX_PASSWD: u64 = 1024 * 1024;

    /// The environment of this process; without `HOME`, the home directory of the user's passwd entry.
    pub fn read() -> Environment {
        // One way through all that is set: to look for each name goes through it as often.
        let mut values: [Option<OsString>; NAMES.len()] = Default::default();
        for (name, value) in std::env::vars_os() {
            let place = NAMES.iter().position(|known| name.as_bytes() == known.as_bytes());
            // Of a name that stands twice the first counts, as for the C library.
            if let Some(kept) = place.and_then(|place| values.get_mut(place)).filter(|kept| kept.is_none()) {
                *kept = Some(value);
            }
        }
        let [home, user, tmpdir, config, state, runtime, own, values @ ..] = values;
        let [keys, quarantine, profile, claude @ .., opencode, file] = values;
        let [claude_config_dir, claude_project_dir, claude_plugin_root] = claude.map(text);
        let mut env = Environment {
            home: text(home),
            user: text(user),
            tmpdir: text(tmpdir),
            xdg_config_home: text(config),
            xdg_state_home: text(state),
            xdg_runtime_dir: text(runtime),
            lazaret_home: text(own),
            lazaret_keys: text(keys),
            lazaret_quarantine: quarantine.map(|value| value.to_string_lossy().into_owned()),
            lazaret_profile: profile
                .map(|value| value.to_string_lossy().into_owned())
                .filter(|name| !name.is_empty()),
            claude_config_dir,
            claude_project_dir,
            claude_plugin_root,
            opencode_config_dir: text(opencode),
            opencode_config: text(file),
        };
        if env.home().is_none() {
            env.fill_from_passwd();
        }
        env
    }

    /// The home directory, when it is an absolute path.
    pub fn home(&self) -> Option<&str> {
        absolute(&self.home)
    }

    fn fill_from_passwd(&mut self) {
        let Ok(Some(bytes)) = files::read("/etc/passwd", Self::MAX_PASSWD, Links::Follow) else { return };
        let uid = rustix::process::getuid().as_raw();
        let Some((user, home)) = passwd_entry(&String::from_utf8_lossy(&bytes), uid) else { return };
        self.home = Some(home);
        self.user.get_or_insert(user);
    }
}

/// A value that is not empty and text.
fn text(value: Option<OsString>) -> Option<String> {
    value?.into_string().ok().filter(|value| !value.is_empty())
}

/// The value, when it is an absolute path.
fn absolute(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|path| path.starts_with('/'))
}

/// Name and home directory of a user, from the text of /etc/passwd.
fn passwd_entry(text: &str, uid: u32) -> Option<(String, String)> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (user, home) = (fields.next()?, fields.clone().nth(4)?);
        let found = fields.nth(1)?.parse() == Ok(uid) && home.starts_with('/');
        found.then(|| (user.to_owned(), home.to_owned()))
    })
}

/// lazaret's own directories and the file of whoever manages the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    pub config: PathBuf,
    pub state: PathBuf,
    /// Keys and sealed copies: a directory in memory where the system has one.
    pub runtime: PathBuf,
    /// Deliberately not to be set from the environment.
    pub managed: PathBuf,
    /// What a supervised run demands of the configuration, whatever its files say.
    pub demanded: Option<Profile>,
}

impl Dirs {
    /// The variable by which a supervised run tells its hooks of its profile. It can only tighten.
    pub const PROFILE: &str = "LAZARET_PROFILE";
    /// The managed configuration file.
    pub const MANAGED: &str = "/etc/lazaret/config.toml";
    /// Where Linux has files in memory for everybody.
    const MEMORY: &str = "/dev/shm";

    /// The directories that `env` gives. Relative values of XDG variables are ignored, as their specification says.
    pub fn locate(env: &Environment) -> Result<Dirs, Fault> {
        let managed = PathBuf::from(Self::MANAGED);
        // A name that no profile has is a mistake, and the strictest is the safe reading of it.
        let demanded = env
            .lazaret_profile
            .as_deref()
            .map(|name| Profile::from_name(name).unwrap_or(Profile::Production));
        if let Some(home) = &env.lazaret_home {
            if !home.starts_with('/') {
                let why = format!("{:?} is not an absolute path", crate::domain::clip(home, 200));
                return Err(Fault::new(FaultKind::Config, "LAZARET_HOME", why)
                    .with_way_out("set LAZARET_HOME to an absolute path, or unset it"));
            }
            let home = Path::new(home);
            return Ok(Dirs {
                config: home.join("config"),
                state: home.join("state"),
                runtime: home.join("run"),
                managed,
                demanded,
            });
        }
        let under_home = |value: &Option<String>, default: &str| {
            let base = absolute(value).map(str::to_owned);
            base.or_else(|| env.home().map(|home| format!("{home}/{default}")))
                .map(|base| Path::new(&base).join("lazaret"))
        };
        let no_home = || {
            Fault::new(FaultKind::Config, "home directory", "HOME is not set to an absolute path")
                .with_way_out("set HOME, or set LAZARET_HOME to a directory of lazaret's own")
        };
        let state = under_home(&env.xdg_state_home, ".local/state").ok_or_else(no_home)?;
        Ok(Dirs {
            config: under_home(&env.xdg_config_home, ".config").ok_or_else(no_home)?,
            runtime: runtime(env, Path::new(Self::MEMORY), &state),
            state,
            managed,
            demanded,
        })
    }

    /// That the home directory is there when the state lies in it. It is never made: nobody would look for it there, and
    /// another one would be protected than the client's.
    pub fn check_home(&self, env: &Environment) -> Result<(), Fault> {
        let Some(home) = env.home().filter(|home| self.state.starts_with(home)) else { return Ok(()) };
        if Path::new(home).is_dir() {
            return Ok(());
        }
        let why = format!("HOME is {}, which is not a directory", crate::domain::escape(home));
        Err(Fault::new(FaultKind::Config, "home directory", why).with_way_out(
            "set HOME to your home directory, or set LAZARET_HOME to a directory of lazaret's own",
        ))
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }
}

/// Without the user's own directory in memory, one of ours in everybody's; where there is no such thing, one on a disk, in
/// which no key is put.
fn runtime(env: &Environment, memory: &Path, state: &Path) -> PathBuf {
    match absolute(&env.xdg_runtime_dir) {
        Some(dir) => Path::new(dir).join("lazaret"),
        None if memory.is_dir() => memory.join(format!("lazaret-{}", rustix::process::getuid().as_raw())),
        None => state.join("run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn one_directory_for_everything() {
        let env = Environment { lazaret_home: some("/l"), home: some("/h"), ..Environment::default() };
        let dirs = Dirs::locate(&env).unwrap();
        assert_eq!(dirs.config_file(), Path::new("/l/config/config.toml"));
        assert_eq!(dirs.state, Path::new("/l/state"));
        assert_eq!(dirs.runtime, Path::new("/l/run"));
        assert_eq!(dirs.managed, Path::new("/etc/lazaret/config.toml"));
        let relative = Environment { lazaret_home: some("l"), ..env };
        assert!(Dirs::locate(&relative).unwrap_err().message().contains("LAZARET_HOME"));
    }

    #[test]
    fn what_a_run_demands_is_a_profile_or_the_strictest() {
        let demanded = |name: &str| {
            let env = Environment { home: some("/h"), lazaret_profile: some(name), ..Environment::default() };
            Dirs::locate(&env).unwrap().demanded
        };
        assert_eq!(demanded("testing"), Some(Profile::Testing));
        assert_eq!(demanded("lax"), Some(Profile::Production));
        let none = Environment { home: some("/h"), ..Environment::default() };
        assert_eq!(Dirs::locate(&none).unwrap().demanded, None);
    }

    #[test]
    fn xdg_with_its_defaults() {
        let env =
            Environment { home: some("/h"), xdg_runtime_dir: some("/run/user/7"), ..Environment::default() };
        let dirs = Dirs::locate(&env).unwrap();
        assert_eq!(dirs.config, Path::new("/h/.config/lazaret"));
        assert_eq!(dirs.state, Path::new("/h/.local/state/lazaret"));
        assert_eq!(dirs.runtime, Path::new("/run/user/7/lazaret"));
        let set = Environment { xdg_config_home: some("/c"), xdg_state_home: some("relative"), ..env };
        let dirs = Dirs::locate(&set).unwrap();
        assert_eq!(dirs.config, Path::new("/c/lazaret"));
        assert_eq!(dirs.state, Path::new("/h/.local/state/lazaret"), "a relative value is ignored");
    }

    #[test]
    fn run_directory_without_one_of_the_users_own() {
        let (env, state) = (Environment::default(), Path::new("/s"));
        let memory = runtime(&env, Path::new("/"), state);
        assert!(memory.to_str().unwrap().starts_with("/lazaret-"), "{}", memory.display());
        assert_eq!(runtime(&env, Path::new("/no/such/directory"), state), Path::new("/s/run"));
    }

    #[test]
    fn no_home_names_the_way_out() {
        for home in [None, some("relative")] {
            let env = Environment { home, ..Environment::default() };
            assert!(Dirs::locate(&env).unwrap_err().way_out.unwrap().contains("LAZARET_HOME"));
        }
        let xdg =
            Environment { xdg_config_home: some("/c"), xdg_state_home: some("/s"), ..Environment::default() };
        assert_eq!(Dirs::locate(&xdg).unwrap().state, Path::new("/s/lazaret"));
    }

    #[test]
    fn a_home_that_is_not_there_is_named() {
        let env = Environment { home: some("/no/such/home"), ..Environment::default() };
        let fault = Dirs::locate(&env).unwrap().check_home(&env).unwrap_err();
        assert!(fault.message().contains("HOME is /no/such/home"), "{fault}");
        let elsewhere = Environment { lazaret_home: some("/l"), ..env };
        assert_eq!(Dirs::locate(&elsewhere).unwrap().check_home(&elsewhere), Ok(()));
        let root = Environment { home: some("/"), ..Environment::default() };
        assert_eq!(Dirs::locate(&root).unwrap().check_home(&root), Ok(()));
    }

    #[test]
    fn passwd() {
        let text =
            "root:x:0:0:root:/root:/bin/sh\nbroken\nu:x:1000:1000::/home/u:/bin/sh\nv:x:7:7::rel:/bin/sh\n";
        assert_eq!(passwd_entry(text, 1000), Some(("u".to_owned(), "/home/u".to_owned())));
        assert_eq!(passwd_entry(text, 7), None);
        assert_eq!(passwd_entry(text, 100), None);
    }
}
