//! Where things are: repository, project, temporary directories, and what an agent must not change. Apart from the search
//! for the repository no file is looked at.

use rustix::fs::FileType;

use super::dirs::{Dirs, Environment};
use super::facts;
use crate::domain::{Client, PathKind, Places, Protected, ProtectedKind, Reads, join, lies_in, split_name};

/// Most directories upwards that are searched.
const MAX_DEPTH: usize = 64;
/// Most directories between the working directory and the top of the project that are protected one by one.
const MAX_ROOTS: usize = 16;

/// Of our own plugin, where the hook runs as one: what registers it, the binary, and the agent.
const PLUGIN_TREES: [&str; 4] = [".claude-plugin", "hooks", "bin", "adapters/claude-code"];

/// Where things are, seen from the working directory `cwd`.
pub fn locate(env: &Environment, dirs: &Dirs, cwd: &str) -> Places {
    let cwd = join("/", cwd);
    let repo = repository(&cwd);
    let project =
        env.claude_project_dir.as_deref().filter(|dir| dir.starts_with('/')).map(|dir| join("/", dir));
    let project = project.or_else(|| repo.clone()).or_else(|| Some(cwd.clone()));
    let mut temp: Vec<String> = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"].map(str::to_owned).into();
    if let Some(dir) = env.tmpdir.as_deref().filter(|dir| dir.starts_with('/')).map(|dir| join("/", dir)) {
        // A TMPDIR of `/` or of the home directory would make everything disposable.
        if dir != "/"
            && env.home().is_none_or(|home| !lies_in(&join("/", home), &dir))
            && !temp.contains(&dir)
        {
            temp.push(dir);
        }
    }
    let home = env.home().map(|home| join("/", home));
    let mut list = List(Vec::with_capacity(64));
    let below = home.as_deref().map(|home| home.strip_suffix('/').unwrap_or(home));
    list.claude(env, below);
    list.opencode(env, below);
    list.others(env);
    list.own(below, dirs);
    for root in roots(&cwd, repo.as_deref(), project.as_deref()) {
        list.project(&root);
    }
    let variables = variables(env);
    let reviewed = dirs.reviewed().to_str().map(str::to_owned);
    Places { home, repo, project, temp, protected: list.0, user: env.user.clone(), reviewed, variables }
}

/// The variables whose value is a place: as they are set for what the client starts, else as they count for lazaret.
fn variables(env: &Environment) -> Vec<(String, String)> {
    let known = [
        ("XDG_RUNTIME_DIR", &env.xdg_runtime_dir),
        ("XDG_STATE_HOME", &env.xdg_state_home),
        ("XDG_CONFIG_HOME", &env.xdg_config_home),
        ("TMPDIR", &env.tmpdir),
        ("LAZARET_HOME", &env.lazaret_home),
        ("CLAUDE_CONFIG_DIR", &env.claude_config_dir),
        ("OPENCODE_CONFIG_DIR", &env.opencode_config_dir),
        ("OPENCODE_CONFIG", &env.opencode_config),
    ];
    // Runs on every call: a name is copied only where there is a value.
    let set = |(name, value): (&str, &Option<String>)| {
        let value = said(env, name).or(value.as_deref())?;
        Some((name.to_owned(), value.to_owned()))
    };
    let homes = Client::ALL.into_iter().filter(|client| client.about().one_home);
    let homes = homes.filter_map(|client| client.about().variable);
    let homes =
        homes.filter_map(|name| Some((name.to_owned(), said(env, name).or(env.place(name))?.to_owned())));
    known.into_iter().filter_map(set).chain(homes).collect()
}

/// The value of a variable in this process.
fn said<'a>(env: &'a Environment, name: &str) -> Option<&'a str> {
    env.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// Adds, for every protected place that is reached through symbolic links, the place they lead to. Costs about one system
/// call per place and directory above it: for calls that change files, not for all.
pub fn resolve_links(places: &mut Places) {
    let mut above: Vec<(&str, Real)> = Vec::new();
    let mut found: Vec<Protected> = Vec::new();
    for place in &places.protected {
        let path = real_place(&place.path, &mut above);
        if path != place.path && !found.iter().any(|other| other.path == path && other.tree == place.tree) {
            found.push(Protected { path, tree: place.tree, kind: place.kind });
        }
    }
    places.protected.extend(found);
}

/// The real name of a directory or place, and whether it exists.
#[derive(Clone)]
struct Real {
    path: String,
    exists: bool,
}

/// The real name of a place. `above` holds the last place and the directories above it: the next one mostly lies in them.
fn real_place<'a>(path: &'a str, above: &mut Vec<(&'a str, Real)>) -> String {
    while above.last().is_some_and(|(dir, _)| !lies_in(path, dir)) {
        above.pop();
    }
    let known = above.last().map_or(0, |(dir, _)| dir.len());
    let mut names: Vec<&str> = upwards(path).take_while(|name| name.len() > known && *name != "/").collect();
    names.reverse();
    let root = Real { path: String::new(), exists: true };
    let mut real = above.last().map_or(root, |(_, real)| real.clone());
    for name in names {
        real.path.push_str(name.get(name.rfind('/').unwrap_or(0)..).unwrap_or(name));
        if real.exists {
            match rustix::fs::lstat(name) {
                Err(_) => real.exists = false,
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                    let (kind, path) = facts::real(name);
                    // At the root nothing is to be put before the next slash.
                    let path = if path == "/" { String::new() } else { path };
                    real = Real { path, exists: kind != PathKind::Missing };
                }
                Ok(_) => {}
            }
        }
        above.push((name, real.clone()));
    }
    real.path
}

/// The nearest directory from `dir` upwards that holds `.git`, a directory or (in a linked work tree) a file.
pub fn repository(dir: &str) -> Option<String> {
    upwards(dir).take(MAX_DEPTH).find(|dir| has_git(dir)).map(str::to_owned)
}

/// Whether a directory is the top of a git work tree.
pub fn has_git(dir: &str) -> bool {
    let path = if dir == "/" { "/.git".to_owned() } else { format!("{dir}/.git") };
    rustix::fs::stat(path.as_str()).is_ok()
}

/// `dir` and every directory above it, by name.
pub fn upwards(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |dir| {
        let (above, _) = split_name(dir)?;
        match above {
            "" if *dir == "/" => None,
            "" => Some("/"),
            above => Some(above),
        }
    })
}

/// Every directory whose client settings may count: from the working directory up to the top of repository and project.
fn roots(cwd: &str, repo: Option<&str>, project: Option<&str>) -> Vec<String> {
    let tops: Vec<&str> = repo.into_iter().chain(project).collect();
    let mut roots: Vec<String> = upwards(cwd)
        .take_while(|dir| *dir == cwd || tops.iter().any(|top| lies_in(dir, top)))
        .take(MAX_ROOTS)
        .map(str::to_owned)
        .collect();
    for top in tops {
        if !roots.iter().any(|root| root == top) {
            roots.push(top.to_owned());
        }
    }
    roots
}

struct List(Vec<Protected>);

impl List {
    /// One place more: `name` below `dir`, which does not end in a slash. (Plain concatenation: this runs dozens of times on
    /// every call, and `format!` is four times as slow.)
    fn add(&mut self, (dir, name): (&str, &str), tree: bool, kind: ProtectedKind) {
        self.0.push(Protected { path: [dir, "/", name].concat(), tree, kind });
    }

    fn client(&mut self, dir: &str, client: &Reads) {
        // Of all calls the one that is made most often: each path is a copy of one that only its end is changed of.
        let mut path = String::with_capacity(dir.len() + 64);
        path.push_str(dir);
        path.push('/');
        let front = path.len();
        for (names, tree) in [(client.files, false), (client.trees, true), (client.agents, false)] {
            for name in names {
                path.truncate(front);
                path.push_str(name);
                self.0.push(Protected { path: path.clone(), tree, kind: ProtectedKind::ClientSettings });
            }
        }
    }

    /// A place that is named in full.
    fn whole(&mut self, path: String, tree: bool, kind: ProtectedKind) {
        self.0.push(Protected { path, tree, kind });
    }

    fn claude(&mut self, env: &Environment, home: Option<&str>) {
        let default = home.map(|home| [home, "/.claude"].concat());
        // Also where only a variable says so: to protect one place more loosens nothing.
        let chosen = [env.claude_config_dir.as_deref(), said(env, "CLAUDE_CONFIG_DIR")];
        let mut chosen: Vec<String> = chosen
            .into_iter()
            .flatten()
            .filter(|dir| dir.starts_with('/'))
            .map(|dir| join("/", dir))
            .collect();
        chosen.dedup();
        if let Some(home) = home {
            self.add((home, ".claude.json"), false, ProtectedKind::ClientSettings);
        }
        for dir in default.iter().chain(chosen.iter().filter(|dir| Some(*dir) != default.as_ref())) {
            self.client(dir, &Client::ClaudeCode.about().reads);
        }
        for dir in &chosen {
            self.whole(join(dir, ".claude.json"), false, ProtectedKind::ClientSettings);
        }
        if let Some(root) = env.claude_plugin_root.as_deref().filter(|dir| dir.starts_with('/')) {
            for tree in PLUGIN_TREES {
                self.whole(join(root, tree), true, ProtectedKind::ClientSettings);
            }
        }
        for client in Client::ALL {
            self.whole(client.about().managed.to_owned(), true, ProtectedKind::ClientSettings);
        }
    }

    fn opencode(&mut self, env: &Environment, home: Option<&str>) {
        let mut found: Vec<String> = Vec::new();
        let home = home
            .into_iter()
            .flat_map(|home| ["/.config/opencode", "/.opencode"].map(|dir| [home, dir].concat()));
        let named = |place: &'_ Option<String>, name: &str| {
            let dirs = [place.as_deref(), said(env, name)].into_iter().flatten();
            dirs.filter(|dir| dir.starts_with('/')).map(|dir| join("/", dir)).collect::<Vec<String>>()
        };
        let xdg = named(&env.xdg_config_home, "XDG_CONFIG_HOME");
        let xdg = xdg.iter().map(|dir| join(dir, "opencode"));
        let chosen = named(&env.opencode_config_dir, "OPENCODE_CONFIG_DIR");
        for dir in home.chain(xdg).chain(chosen) {
            if !found.contains(&dir) {
                self.client(&dir, &Client::OpenCode.about().reads);
                found.push(dir);
            }
        }
        for file in named(&env.opencode_config, "OPENCODE_CONFIG") {
            self.whole(file, false, ProtectedKind::ClientSettings);
        }
    }

    /// The clients of which all lies in one directory.
    fn others(&mut self, env: &Environment) {
        for client in Client::ALL.into_iter().filter(|client| client.about().one_home) {
            let dir = env.home_of(client);
            let chosen = client.about().variable.and_then(|name| said(env, name));
            let chosen = chosen.filter(|said| said.starts_with('/') && **said != dir);
            for dir in std::iter::once(dir.as_str()).chain(chosen) {
                self.client(&join("/", dir), &client.about().reads);
            }
        }
    }

    /// What a client reads from a directory of the project.
    fn project(&mut self, root: &str) {
        let root = root.strip_suffix('/').unwrap_or(root);
        for client in Client::ALL.map(Client::about) {
            self.client(&[root, "/", client.project].concat(), &client.reads_of_project);
        }
        for name in ["opencode.json", "opencode.jsonc"] {
            self.add((root, name), false, ProtectedKind::ClientSettings);
        }
        self.add((root, super::config::PROJECT_FILE), false, ProtectedKind::Own);
    }

    fn own(&mut self, home: Option<&str>, dirs: &Dirs) {
        // Keys first, so that a look from the front finds the stricter kind.
        let lossy = |path: &std::path::Path| path.to_string_lossy().into_owned();
        // Nearly always text, and to see that is the shorter way.
        let text = |path: &std::path::Path| path.to_str().map_or_else(|| lossy(path), str::to_owned);
        self.whole(join("/", &text(&dirs.runtime)), true, ProtectedKind::Keys);
        let state = join("/", &text(&dirs.state));
        self.whole([state.as_str(), "/audit/", super::audit::CHAIN].concat(), false, ProtectedKind::Keys);
        self.whole(join("/", &text(&dirs.config)), true, ProtectedKind::Own);
        self.whole(state, true, ProtectedKind::Own);
        if let Some(dir) = dirs.managed.parent() {
            self.whole(text(dir), true, ProtectedKind::Own);
        }
        let installed = home.map(|home| [home, "/.local/bin/lazaret"].concat());
        let running = std::env::current_exe().ok().map(|path| text(&path));
        for path in running.iter().chain(installed.iter().filter(|path| Some(*path) != running.as_ref())) {
            self.whole(path.clone(), false, ProtectedKind::Own);
            // The second program, which a person starts at a terminal, lies beside it.
            self.whole([path, "-view"].concat(), false, ProtectedKind::Own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upwards_ends_at_the_root() {
        assert_eq!(upwards("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(upwards("/").collect::<Vec<_>>(), ["/"]);
    }

    #[test]
    fn roots_reach_from_the_working_directory_to_the_tops() {
        assert_eq!(roots("/r/a/b", Some("/r"), Some("/r/a")), ["/r/a/b", "/r/a", "/r"]);
        assert_eq!(roots("/r", Some("/r"), Some("/r")), ["/r"]);
        assert_eq!(roots("/tmp/x", None, Some("/p")), ["/tmp/x", "/p"]);
        assert_eq!(roots("/p/sub/x", Some("/p/sub"), Some("/p")), ["/p/sub/x", "/p/sub", "/p"]);
    }

    #[test]
    fn lying_in_is_by_whole_names() {
        assert!(lies_in("/a/b", "/a") && lies_in("/a", "/a") && lies_in("/a", "/"));
        assert!(!lies_in("/ab", "/a"));
    }
}
