//! Where lazaret keeps its own things, worked out from the environment. Makes no directory and opens none.

use std::path::{Path, PathBuf};

pub use super::environment::Environment;
use super::environment::absolute;
use super::platform::{self, Platform};
use crate::domain::{Fault, FaultKind, Profile};

/// The name of a configuration file.
const CONFIG: &str = "config.toml";

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
    /// Where Linux has a directory in memory for each user who is logged in, and where for everybody.
    const USERS: &str = "/run/user";
    const MEMORY: &str = "/dev/shm";

    /// The managed configuration file.
    pub fn managed() -> PathBuf {
        Path::new(platform::HERE.managed).join(CONFIG)
    }

    /// The directories that `env` gives. Relative values of XDG variables are ignored, as their specification says.
    pub fn locate(env: &Environment) -> Result<Dirs, Fault> {
        Dirs::locate_on(&platform::HERE, env)
    }

    fn locate_on(platform: &Platform, env: &Environment) -> Result<Dirs, Fault> {
        let managed = Path::new(platform.managed).join(CONFIG);
        // A name that no profile has is a mistake, and the strictest is the safe reading of it.
        let demanded = env
            .lazaret_profile
            .as_deref()
            .map(|name| Profile::from_name(name).unwrap_or(Profile::Production));
        if let Some(home) = &env.lazaret_home {
            if !home.starts_with('/') {
                let why = format!("{:?} is not an absolute path", crate::domain::clip(home, 200));
                return Err(Fault::new(FaultKind::Config, "LAZARET_HOME", why)
                    .with_hint("set LAZARET_HOME to an absolute path, or unset it"));
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
            let named = absolute(value).map(|base| Path::new(base).join("lazaret"));
            named.or_else(|| env.home().map(|home| Path::new(home).join(default)))
        };
        let no_home = || {
            Fault::new(FaultKind::Config, "home directory", "HOME is not set to an absolute path")
                .with_hint("set HOME, or set LAZARET_HOME to a directory of lazaret's own")
        };
        let state = under_home(&env.xdg_state_home, platform.state).ok_or_else(no_home)?;
        Ok(Dirs {
            config: under_home(&env.xdg_config_home, platform.config).ok_or_else(no_home)?,
            runtime: runtime(env, [Path::new(Self::USERS), Path::new(Self::MEMORY)], &state),
            state,
            managed,
            demanded,
        })
    }

    /// The file that the first review leaves.
    pub fn reviewed(&self) -> PathBuf {
        self.state.join("reviewed")
    }

    /// That the home directory is there when the state lies in it. It is never made: nobody would look for it there, and
    /// another one would be protected than the client's.
    pub fn check_home(&self, env: &Environment) -> Result<(), Fault> {
        let Some(home) = env.home().filter(|home| self.state.starts_with(home)) else { return Ok(()) };
        if Path::new(home).is_dir() {
            return Ok(());
        }
        let why = format!("HOME is {}, which is not a directory", crate::domain::escape(home));
        Err(Fault::new(FaultKind::Config, "home directory", why).with_hint(
            "set HOME to your home directory, or set LAZARET_HOME to a directory of lazaret's own",
        ))
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join(CONFIG)
    }
}

/// The directory that is named; else the user's own in memory, or one of ours in everybody's; where there is no such thing, one on a
/// disk, in which no key is put.
fn runtime(env: &Environment, [users, memory]: [&Path; 2], state: &Path) -> PathBuf {
    if let Some(dir) = absolute(&env.xdg_runtime_dir) {
        return Path::new(dir).join("lazaret");
    }
    let user = rustix::process::getuid().as_raw();
    let own = users.join(user.to_string());
    let is_ours = rustix::fs::lstat(&own).is_ok_and(|stat| {
        stat.st_uid == user
            && rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    });
    match is_ours {
        true => own.join("lazaret"),
        false if memory.is_dir() => memory.join(format!("lazaret-{user}")),
        false => state.join("run"),
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
    fn on_macos_the_library_unless_variables_say_otherwise() {
        let env = Environment { home: some("/Users/u"), ..Environment::default() };
        let dirs = Dirs::locate_on(&platform::MACOS, &env).unwrap();
        assert_eq!(dirs.config_file(), Path::new("/Users/u/Library/Application Support/lazaret/config.toml"));
        assert_eq!(dirs.state, Path::new("/Users/u/Library/Application Support/lazaret/state"));
        assert_eq!(dirs.managed, Path::new("/Library/Application Support/lazaret/config.toml"));
        let set = Environment { xdg_config_home: some("/c"), xdg_state_home: some("/s"), ..env };
        let dirs = Dirs::locate_on(&platform::MACOS, &set).unwrap();
        assert_eq!(
            (dirs.config.as_path(), dirs.state.as_path()),
            (Path::new("/c/lazaret"), Path::new("/s/lazaret"))
        );
    }

    #[test]
    fn run_directory_without_one_of_the_users_own() {
        let (env, state) = (Environment::default(), Path::new("/s"));
        let nowhere = Path::new("/no/such/directory");
        let memory = runtime(&env, [nowhere, Path::new("/")], state);
        assert!(memory.to_str().unwrap().starts_with("/lazaret-"), "{}", memory.display());
        assert_eq!(runtime(&env, [nowhere, nowhere], state), Path::new("/s/run"));
    }

    #[test]
    fn run_directory_of_the_user_where_the_system_has_one() {
        let users = tempfile::tempdir().unwrap();
        let own = users.path().join(rustix::process::getuid().as_raw().to_string());
        std::fs::create_dir(&own).unwrap();
        let at = |env: &Environment| runtime(env, [users.path(), Path::new("/")], Path::new("/s"));
        assert_eq!(at(&Environment::default()), own.join("lazaret"));
        let named = Environment { xdg_runtime_dir: some("/r"), ..Environment::default() };
        assert_eq!(at(&named), Path::new("/r/lazaret"));
    }

    #[test]
    fn no_home_names_the_variable_to_set() {
        for home in [None, some("relative")] {
            let env = Environment { home, ..Environment::default() };
            assert!(Dirs::locate(&env).unwrap_err().hint.unwrap().contains("LAZARET_HOME"));
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
}
