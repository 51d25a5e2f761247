//! What lazaret takes from outside about places: for a person's commands from variables, for the hook from the arguments of its
//! registration alone. A project's settings can put any variable into the hook's environment.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::files::{self, Links};
use super::platform;
use crate::domain::{Client, Fault, FaultKind, clip, lies_in};

/// Where things are for this process. Empty values count as unset.
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
    pub claude_config_dir: Option<String>,
    /// Set when the client runs the hook as a plugin's.
    pub claude_plugin_root: Option<String>,
    pub opencode_config_dir: Option<String>,
    pub opencode_config: Option<String>,
    pub codex_home: Option<String>,
    /// `LAZARET_QUARANTINE`: here an empty value counts as set. Can only tighten.
    pub lazaret_quarantine: Option<String>,
    /// `LAZARET_PROFILE`: what a supervised run demands of its hooks. Can only tighten.
    pub lazaret_profile: Option<String>,
    /// The client's project directory, as the client says it.
    pub claude_project_dir: Option<String>,
    /// Claude Code runs in a terminal: it says so itself, whatever a project's settings set.
    pub at_terminal: bool,
    /// The variables about places that are set in this process, for what a command's text makes of them.
    pub variables: Vec<(&'static str, String)>,
}

/// A place: the variable that names it to a person's commands, and the argument that names it to the hook.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    pub variable: &'static str,
    pub argument: &'static str,
    /// Another value in the hook's environment is worth a word: lazaret would keep its own things there, or guard another client.
    pub matters: bool,
}

const fn named(variable: &'static str, argument: &'static str, matters: bool) -> Named {
    Named { variable, argument, matters }
}

/// Every place that can be named, in the order of [`Environment`].
pub const PLACES: [Named; 13] = [
    named("HOME", "--home", true),
    named("USER", "--user", false),
    named("TMPDIR", "--tmpdir", false),
    named("XDG_CONFIG_HOME", "--xdg-config-home", true),
    named("XDG_STATE_HOME", "--xdg-state-home", true),
    named("XDG_RUNTIME_DIR", "--xdg-runtime-dir", true),
    named("LAZARET_HOME", "--lazaret-home", true),
    named("LAZARET_KEYS", "--lazaret-keys", true),
    named("CLAUDE_CONFIG_DIR", "--claude-config-dir", true),
    named("CLAUDE_PLUGIN_ROOT", "--claude-plugin-root", false),
    named("OPENCODE_CONFIG_DIR", "--opencode-config-dir", true),
    named("OPENCODE_CONFIG", "--opencode-config", true),
    named("CODEX_HOME", "--codex-home", true),
];

/// What is no place: these say how strictly to judge, the client's project, and what the client is to its user.
const OTHERS: [&str; 4] =
    ["LAZARET_QUARANTINE", "LAZARET_PROFILE", "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT"];

/// The value of each of [`PLACES`].
pub type Values = [Option<String>; PLACES.len()];

impl Environment {
    /// Longest list of users that is searched for a home directory.
    const MAX_PASSWD: u64 = 1024 * 1024;

    /// The environment of a person's command; without `HOME`, the home directory of the user's passwd entry.
    pub fn read() -> Environment {
        let (places, others) = variables();
        let set = set(&places);
        Environment { variables: set, ..Environment::of(places, others) }.at_home()
    }

    /// The environment of a hook, whose places are `given` by its registration; without a home directory among them, that of the
    /// user's passwd entry.
    pub fn of_hook(given: &Values) -> Environment {
        let (places, others) = variables();
        Environment { variables: set(&places), ..Environment::of(given.clone(), others) }.at_home()
    }

    fn of(places: Values, others: [Option<OsString>; OTHERS.len()]) -> Environment {
        let [home, user, tmpdir, config, state, runtime, own, keys, claude, plugin, opencode, file, codex] =
            places;
        let [quarantine, profile, project, entrypoint] = others;
        Environment {
            home,
            user,
            tmpdir,
            xdg_config_home: config,
            xdg_state_home: state,
            xdg_runtime_dir: runtime,
            lazaret_home: own,
            lazaret_keys: keys,
            claude_config_dir: claude,
            claude_plugin_root: plugin,
            opencode_config_dir: opencode,
            opencode_config: file,
            codex_home: codex,
            lazaret_quarantine: quarantine.map(|value| value.to_string_lossy().into_owned()),
            lazaret_profile: profile
                .map(|value| value.to_string_lossy().into_owned())
                .filter(|name| !name.is_empty()),
            claude_project_dir: project.and_then(text),
            at_terminal: entrypoint.is_some_and(|entrypoint| entrypoint == "cli"),
            variables: Vec::new(),
        }
    }

    /// Forgets the client's project directory where the client's own message does not bear it out: a project's settings may have
    /// set the variable. `transcript`: the file in which the client keeps the session, in a directory named after the project.
    #[must_use]
    pub fn with_project_of(mut self, transcript: Option<&str>, cwd: &str) -> Environment {
        let borne_out = |dir: &str| match transcript.and_then(|path| path.rsplit('/').nth(1)) {
            Some(name) => is_transcripts_name(name, dir),
            None => lies_in(dir, cwd),
        };
        self.claude_project_dir = self.claude_project_dir.filter(|dir| borne_out(dir));
        self
    }

    /// The same where the hook's own process works in the session's directory, whatever directory a call names.
    #[must_use]
    pub fn in_session(mut self) -> Environment {
        let here = std::env::current_dir().ok();
        self.claude_project_dir = here.and_then(|dir| dir.into_os_string().into_string().ok());
        self
    }

    /// The one directory of a client of this user.
    pub fn home_of(&self, client: Client) -> String {
        let about = client.about();
        let named = about.variable.and_then(|name| self.place(name)).filter(|dir| dir.starts_with('/'));
        let default = || [self.home().unwrap_or_default(), "/", about.home].concat();
        named.map_or_else(default, str::to_owned)
    }

    /// The place that counts for a variable.
    pub fn place(&self, variable: &str) -> Option<&str> {
        let mut places = PLACES.iter().zip(self.values());
        places.find(|(place, _)| place.variable == variable).and_then(|(_, value)| value.as_deref())
    }

    /// The home directory, when it is an absolute path.
    pub fn home(&self) -> Option<&str> {
        absolute(&self.home)
    }

    fn at_home(mut self) -> Environment {
        if self.home().is_none()
            && let Ok(Some(bytes)) = files::read("/etc/passwd", Self::MAX_PASSWD, Links::Follow)
        {
            let uid = rustix::process::getuid().as_raw();
            if let Some((user, home)) = passwd_entry(&String::from_utf8_lossy(&bytes), uid) {
                self.home = Some(home);
                self.user.get_or_insert(user);
            }
        }
        self
    }

    /// The value of each of [`PLACES`] here, in their order.
    fn values(&self) -> [&Option<String>; PLACES.len()] {
        [
            &self.home,
            &self.user,
            &self.tmpdir,
            &self.xdg_config_home,
            &self.xdg_state_home,
            &self.xdg_runtime_dir,
            &self.lazaret_home,
            &self.lazaret_keys,
            &self.claude_config_dir,
            &self.claude_plugin_root,
            &self.opencode_config_dir,
            &self.opencode_config,
            &self.codex_home,
        ]
    }

    /// The places that count, as variables for a person's command.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let pairs = PLACES.iter().zip(self.values());
        pairs.filter_map(|(place, value)| Some((place.variable, value.as_deref()?)))
    }

    /// The arguments that give a hook these places: all that are not where they would be looked for anyway.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for (place, value) in PLACES.iter().zip(self.values()) {
            // The plugin's own registration names its directory.
            let Some(value) = value.as_ref().filter(|_| place.variable != "CLAUDE_PLUGIN_ROOT") else {
                continue;
            };
            if place.variable == "HOME" || self.default_of(place).as_ref() != Some(value) {
                arguments.extend([place.argument.to_owned(), value.clone()]);
            }
        }
        arguments
    }

    /// The variables of this process that name other places than those that count, as `NAME=value`.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (place, counts) in PLACES.iter().zip(self.values()).filter(|(place, _)| place.matters) {
            let said = self.variables.iter().find(|(name, _)| *name == place.variable);
            let Some((name, said)) = said else { continue };
            let counts = counts.clone().or_else(|| self.default_of(place));
            if counts.as_ref() != Some(said) {
                found.push(format!("{name}={}", clip(said, 200)));
            }
        }
        found
    }

    /// Where a place is looked for that nothing names.
    fn default_of(&self, place: &Named) -> Option<String> {
        let below = |name: &str| self.home().map(|home| [home, "/", name].concat());
        match place.variable {
            "XDG_CONFIG_HOME" => platform::HERE.xdg.and_then(|[config, _]| below(config)),
            "XDG_STATE_HOME" => platform::HERE.xdg.and_then(|[_, state]| below(state)),
            "CLAUDE_CONFIG_DIR" => below(".claude"),
            "OPENCODE_CONFIG_DIR" => below(".config/opencode"),
            "CODEX_HOME" => below(".codex"),
            "XDG_RUNTIME_DIR" => Some(format!("/run/user/{}", rustix::process::getuid().as_raw())),
            "TMPDIR" => Some("/tmp".to_owned()),
            _ => None,
        }
    }
}

/// The places in a hook's arguments: `--home DIR` and its like, each at most once.
pub fn given(args: &[OsString]) -> Result<Values, Fault> {
    let bad = |what: &OsStr, why: &str| {
        Fault::new(FaultKind::Config, format!("argument {}", clip(&what.to_string_lossy(), 200)), why)
            .with_hint("register the hook anew: lazaret install")
    };
    let mut values = Values::default();
    for pair in args.chunks(2) {
        let [name, value] = pair else {
            return Err(bad(pair.first().map_or(OsStr::new(""), |name| name), "it needs a value"));
        };
        let place = PLACES.iter().position(|place| *place.argument == **name);
        let Some(kept) = place.and_then(|place| values.get_mut(place)) else {
            return Err(bad(name, "the hook has no such argument"));
        };
        let is_name = name == "--user" || name == "--lazaret-keys";
        match value.to_str().filter(|value| value.starts_with('/') || (is_name && !value.is_empty())) {
            Some(value) if kept.is_none() => *kept = Some(value.to_owned()),
            Some(_) => return Err(bad(name, "it is given twice")),
            None => return Err(bad(name, "its value is not an absolute path")),
        }
    }
    Ok(values)
}

/// What of [`PLACES`] and [`OTHERS`] is set in this process.
fn variables() -> (Values, [Option<OsString>; OTHERS.len()]) {
    // One way through all that is set: to look for each name goes through it as often.
    let mut places = Values::default();
    let mut others: [Option<OsString>; OTHERS.len()] = Default::default();
    for (name, value) in std::env::vars_os() {
        // Of a name that stands twice the first counts, as for the C library.
        if let Some(place) = PLACES.iter().position(|place| place.variable.as_bytes() == name.as_bytes()) {
            if let Some(kept) = places.get_mut(place).filter(|kept| kept.is_none()) {
                *kept = text(value);
            }
        } else if let Some(place) = OTHERS.iter().position(|other| other.as_bytes() == name.as_bytes())
            && let Some(kept) = others.get_mut(place).filter(|kept| kept.is_none())
        {
            *kept = Some(value);
        }
    }
    (places, others)
}

fn set(places: &Values) -> Vec<(&'static str, String)> {
    let pairs = PLACES.iter().zip(places);
    pairs.filter_map(|(place, value)| Some((place.variable, value.clone()?))).collect()
}

/// A value that is not empty and text.
fn text(value: OsString) -> Option<String> {
    value.into_string().ok().filter(|value| !value.is_empty())
}

/// The value, when it is an absolute path.
pub(super) fn absolute(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|path| path.starts_with('/'))
}

/// Whether Claude Code names the directory of a project's transcripts so: every character that is no letter or digit a dash, a
/// long name cut and told apart at its end.
fn is_transcripts_name(name: &str, project: &str) -> bool {
    const LONGEST: usize = 200;
    let units = project.encode_utf16();
    let written = units.map(|unit| match char::from_u32(unit.into()) {
        Some(c) if c.is_ascii_alphanumeric() => c,
        Some(_) | None => '-',
    });
    let mut chars = name.chars();
    let mut length = 0;
    for c in written.take(LONGEST) {
        if chars.next() != Some(c) {
            return false;
        }
        length += 1;
    }
    length == LONGEST || chars.next().is_none()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn at(home: &str) -> Environment {
        Environment { home: Some(home.to_owned()), ..Environment::default() }
    }

    #[test]
    fn passwd() {
        let text =
            "root:x:0:0:root:/root:/bin/sh\nbroken\nu:x:1000:1000::/home/u:/bin/sh\nv:x:7:7::rel:/bin/sh\n";
        assert_eq!(passwd_entry(text, 1000), Some(("u".to_owned(), "/home/u".to_owned())));
        assert_eq!(passwd_entry(text, 7), None);
        assert_eq!(passwd_entry(text, 100), None);
    }

    #[test]
    fn a_project_is_what_the_clients_own_message_bears_out() {
        let of = |dir: &str, transcript: Option<&str>| {
            let env = Environment { claude_project_dir: Some(dir.to_owned()), ..Environment::default() };
            env.with_project_of(transcript, "/home/u/a.b/sub").claude_project_dir
        };
        let transcript = Some("/home/u/.claude/projects/-home-u-a-b/5f.jsonl");
        assert_eq!(of("/home/u/a.b", transcript).as_deref(), Some("/home/u/a.b"));
        for other in ["/", "/home/u", "/home/u/a.b/sub", "/home/u/other"] {
            assert_eq!(of(other, transcript), None, "{other}");
        }
        assert_eq!(of("/home/u/a.b/sub", None).as_deref(), Some("/home/u/a.b/sub"));
        assert_eq!(of("/home/u", None), None);
        let long = format!("/{}", "x".repeat(300));
        let cut = format!("/p/-{}-1a2b/s.jsonl", "x".repeat(199));
        assert_eq!(of(&long, Some(&cut)), Some(long));
    }

    #[test]
    fn arguments_name_places_and_nothing_else_is_taken() {
        let values = given(&words(&["--xdg-state-home", "/s", "--home", "/h"])).unwrap();
        let env = Environment::of(values, Default::default());
        assert_eq!((env.home(), env.xdg_state_home.as_deref()), (Some("/h"), Some("/s")));
        for bad in [
            &["--home"][..],
            &["--home", ""],
            &["--home", "here"],
            &["--home", "/a", "--home", "/b"],
            &["--verbose", "1"],
        ] {
            let fault = given(&words(bad)).unwrap_err();
            assert!(fault.message().contains(bad[0]), "{fault}");
        }
    }

    #[test]
    fn what_is_written_down_is_read_back_the_same() {
        let env = Environment {
            user: Some("u".to_owned()),
            xdg_state_home: Some("/s".to_owned()),
            xdg_config_home: Some("/h/.config".to_owned()),
            ..at("/h")
        };
        let arguments = env.arguments();
        assert_eq!(arguments, ["--home", "/h", "--user", "u", "--xdg-state-home", "/s"]);
        let read = Environment::of(
            given(&words(&arguments.iter().map(String::as_str).collect::<Vec<_>>())).unwrap(),
            Default::default(),
        );
        assert_eq!(read, Environment { xdg_config_home: None, ..env });
    }

    #[test]
    fn other_values_of_variables_are_told_and_equal_ones_are_not() {
        let set = |name, value: &str| Environment { variables: vec![(name, value.to_owned())], ..at("/h") };
        for (name, value) in [
            ("HOME", "/evil"),
            ("LAZARET_HOME", "/repo/.x"),
            ("XDG_STATE_HOME", "/repo"),
            ("XDG_CONFIG_HOME", "/repo"),
            ("XDG_RUNTIME_DIR", "/repo"),
            ("CLAUDE_CONFIG_DIR", "/repo"),
            ("LAZARET_KEYS", "tmpfs"),
        ] {
            assert_eq!(set(name, value).contradictions(), [format!("{name}={value}")]);
        }
        for (name, value) in [
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/h/.config"),
            ("TMPDIR", "/x"),
            ("CLAUDE_CONFIG_DIR", "/h/.claude"),
        ] {
            assert!(set(name, value).contradictions().is_empty(), "{name}");
        }
    }
}
