//! The files from which a client, or git, runs something without a call that is asked about: where they lie, and what the system says
//! of each. A bounded walk of known directories alone; reads none of them.

use std::fs;
use std::path::Path;

use super::stat_words;
use crate::domain::{Surface, fingerprint, join, lies_in};
use crate::host::dirs::Environment;
use crate::host::files::{self, Links};
use crate::host::places::{repository, upwards};

/// Most files that are known of one scope.
const MAX_FILES: usize = 2_000;
/// Most entries that are looked at for them.
const MAX_ENTRIES: usize = 20_000;
/// How deep a directory is walked.
const MAX_DEPTH: usize = 6;
/// Most files of one directory of hooks; git knows some thirty names.
const MAX_HOOKS: usize = 256;
/// Most directories from the working directory to the top of the project.
const MAX_ROOTS: usize = 8;
/// Ends the names under which files are kept aside: nobody runs them.
const ASIDE: &str = ".lazaret-aside-";

/// A directory of a client, and which files in it count.
struct Tree {
    dir: &'static str,
    kind: Surface,
    /// The only name that counts; empty = those that end in one of `ends`.
    name: &'static str,
    ends: &'static [&'static str],
}

impl Tree {
    fn counts(&self, name: &str) -> bool {
        match self.name {
            "" => self.ends.iter().any(|end| name.ends_with(end)),
            only => name == only,
        }
    }
}

const MARKDOWN: &[&str] = &[".md", ".mdx", ".markdown"];
const CODE: &[&str] = &[".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx"];

const fn tree(dir: &'static str, kind: Surface, ends: &'static [&'static str]) -> Tree {
    Tree { dir, kind, name: "", ends }
}

/// What Claude Code reads below `.claude` (its documentation of skills, commands and subagents).
const CLAUDE: &[Tree] = &[
    Tree { dir: "skills", kind: Surface::ClaudePrompt, name: "skill.md", ends: &[] },
    tree("commands", Surface::ClaudePrompt, MARKDOWN),
    tree("agents", Surface::ClaudePrompt, MARKDOWN),
];
/// What OpenCode reads below `.opencode` and its own directory (its source: `{tool,tools}/*.{js,ts}` and the like).
const OPENCODE: &[Tree] = &[
    tree("tool", Surface::Tool, CODE),
    tree("tools", Surface::Tool, CODE),
    tree("plugin", Surface::Plugin, CODE),
    tree("plugins", Surface::Plugin, CODE),
    tree("command", Surface::OpenCodePrompt, MARKDOWN),
    tree("commands", Surface::OpenCodePrompt, MARKDOWN),
    tree("agent", Surface::OpenCodePrompt, MARKDOWN),
    tree("agents", Surface::OpenCodePrompt, MARKDOWN),
    tree("mode", Surface::OpenCodePrompt, MARKDOWN),
    tree("modes", Surface::OpenCodePrompt, MARKDOWN),
];
/// What stands in an installed plugin of Claude Code beside these.
const PLUGIN_FILES: &[(&str, Surface)] = &[
    (".claude-plugin/plugin.json", Surface::ClaudePlugin),
    ("hooks/hooks.json", Surface::ClaudePlugin),
    (".mcp.json", Surface::ClaudePlugin),
    (".lsp.json", Surface::ClaudePlugin),
];
/// Where Claude Code keeps which plugins are installed, below its own directory.
const INSTALLED: &str = "plugins/installed_plugins.json";
/// Most installed plugins, and the longest list of them.
const MAX_PLUGINS: usize = 128;
const MAX_LIST: u64 = 1 << 20;
const OPENCODE_FILES: &[(&str, Surface)] = &[
    ("opencode.json", Surface::OpenCodeSettings),
    ("opencode.jsonc", Surface::OpenCodeSettings),
    ("config.json", Surface::OpenCodeSettings),
    ("package.json", Surface::Package),
];

/// Whose files are looked at: each scope is remembered by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Of a project: its own directory, and those above it up to the top of its repository.
    Project(String),
    /// Of the user, in every project.
    User,
}

impl Scope {
    /// The name under which it is remembered.
    pub fn key(&self) -> String {
        match self {
            Scope::Project(dir) => format!("{:016x}", fingerprint(&[b"project", dir.as_bytes()])),
            Scope::User => "user".to_owned(),
        }
    }

    /// The directory from which git starts hooks, where it is known.
    pub fn top(&self) -> Option<String> {
        match self {
            Scope::Project(dir) => Some(repository(dir).unwrap_or_else(|| dir.clone())),
            Scope::User => None,
        }
    }
}

/// One file, and what the system says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub kind: Surface,
    /// The same number as long as nobody wrote or replaced it.
    pub seen: u64,
    /// The symbolic link by which it is reached, where one of the walked directories is one.
    pub link: Option<String>,
}

/// All of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    pub files: Vec<Seen>,
    /// Directories that hold more than is looked at.
    pub over: Vec<String>,
    entries: usize,
}

impl View {
    /// One number for all of it; never 0.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes: Vec<u8> = Vec::new();
        for file in &self.files {
            bytes.extend(file.path.as_bytes());
            bytes.extend(file.seen.to_le_bytes());
        }
        bytes.extend(self.over.iter().flat_map(|dir| dir.bytes()));
        fingerprint(&[&bytes]).max(1)
    }

    /// A file, if there is one.
    fn file(&mut self, path: String, kind: Surface, link: Option<&str>) {
        if self.files.iter().any(|file| file.path == path) {
            return;
        }
        let Ok(stat) = rustix::fs::stat(path.as_str()) else { return };
        let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
        if is_dir {
            return;
        }
        let bytes: Vec<u8> = stat_words(&stat).iter().flat_map(|word| word.to_le_bytes()).collect();
        let seen = fingerprint(&[&bytes]).max(1);
        self.files.push(Seen { path, kind, seen, link: link.map(str::to_owned) });
    }

    /// The files of a directory and those below it that count.
    fn tree(&mut self, dir: &str, tree: &Tree, link: Option<&str>, depth: usize) {
        let link = link.map(str::to_owned).or_else(|| is_link(dir).then(|| dir.to_owned()));
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.files.len() >= MAX_FILES || self.entries > MAX_ENTRIES || depth > MAX_DEPTH {
                if !self.over.iter().any(|over| over == dir) {
                    self.over.push(dir.to_owned());
                }
                return;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{dir}/{name}");
            let is_dir = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => Path::new(&path).is_dir(),
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            // What is installed beside a skill or tool is none.
            if is_dir && name != "node_modules" {
                self.tree(&path, tree, link.as_deref(), depth + 1);
            } else if !is_dir && tree.counts(&name.to_ascii_lowercase()) && !name.contains(ASIDE) {
                self.file(path, tree.kind, link.as_deref());
            }
        }
    }

    fn client(&mut self, dir: &str, trees: &[Tree]) {
        let link = is_link(dir).then_some(dir);
        for tree in trees {
            self.entries = 0;
            self.tree(&join(dir, tree.dir), tree, link, 0);
        }
    }

    /// What the installed plugins of Claude Code hold.
    fn plugins(&mut self, claude: &str) {
        for root in installed(&join(claude, INSTALLED)) {
            self.client(&root, CLAUDE);
            for (name, kind) in PLUGIN_FILES {
                self.file(join(&root, name), *kind, None);
            }
        }
    }

    fn opencode(&mut self, dir: &str) {
        self.client(dir, OPENCODE);
        for (name, kind) in OPENCODE_FILES {
            self.file(join(dir, name), *kind, None);
        }
    }

    /// The git directory of a work tree, or of a linked one with what it shares.
    fn git(&mut self, root: &str) {
        let dir = join(root, ".git");
        let led = |path: &str, before: &str| {
            let text = fs::read_to_string(path).ok().filter(|text| text.len() < 4096)?;
            Some(join(before, text.trim().trim_start_matches("gitdir:").trim()))
        };
        let own = if Path::new(&dir).is_file() { led(&dir, root) } else { Some(dir) };
        let Some(own) = own else { return };
        let shared = led(&join(&own, "commondir"), &own);
        for dir in std::iter::once(own).chain(shared) {
            self.file(join(&dir, "config"), Surface::GitConfig, None);
            self.file(join(&dir, "config.worktree"), Surface::GitConfig, None);
            self.hooks(&join(&dir, "hooks"));
            self.modules(&join(&dir, "modules"), 0);
        }
    }

    fn hooks(&mut self, dir: &str) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(MAX_HOOKS) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.ends_with(".sample") && !name.contains(ASIDE) {
                self.file(format!("{dir}/{name}"), Surface::GitHook, None);
            }
        }
    }

    /// The configurations and hooks of submodules.
    fn modules(&mut self, dir: &str, depth: usize) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(64) {
            let module = format!("{dir}/{}", entry.file_name().to_string_lossy());
            if Path::new(&module).join("HEAD").is_file() {
                self.file(join(&module, "config"), Surface::GitConfig, None);
                self.hooks(&join(&module, "hooks"));
            } else if depth < 2 && Path::new(&module).is_dir() {
                self.modules(&module, depth + 1);
            }
        }
    }
}

/// The directories of installed plugins.
fn installed(list: &str) -> Vec<String> {
    let Ok(Some(bytes)) = files::read(list, MAX_LIST, Links::Follow) else { return Vec::new() };
    let list: serde_json::Value = crate::host::from_json(&bytes).unwrap_or_default();
    let mut found = Vec::new();
    let mut open = vec![&list];
    while let Some(value) = open.pop().filter(|_| found.len() < MAX_PLUGINS) {
        let path = value.get("installPath").and_then(serde_json::Value::as_str);
        found.extend(path.filter(|path| path.starts_with('/')).map(str::to_owned));
        match value {
            serde_json::Value::Object(members) => open.extend(members.values()),
            serde_json::Value::Array(all) => open.extend(all),
            _ => {}
        }
    }
    crate::domain::sort_by(&mut found, Ord::cmp);
    found.dedup();
    found
}

fn is_link(path: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

/// Walks a scope; `linked`: the files and directories of hooks that its configurations lead to.
pub fn walk(scope: &Scope, env: &Environment, linked: &[(String, Surface)]) -> View {
    let mut view = View::default();
    let home = env.home().unwrap_or("/");
    match scope {
        Scope::Project(dir) => {
            let top = repository(dir).unwrap_or_else(|| dir.clone());
            for root in upwards(dir).take_while(|dir| lies_in(dir, &top)).take(MAX_ROOTS) {
                // What lies there in the home directory is the user's.
                if root != home {
                    view.client(&join(root, ".claude"), CLAUDE);
                    view.opencode(&join(root, ".opencode"));
                }
                for name in ["opencode.json", "opencode.jsonc"] {
                    view.file(join(root, name), Surface::OpenCodeSettings, None);
                }
                view.file(join(root, ".mcp.json"), Surface::Servers, None);
                view.git(root);
            }
        }
        Scope::User => {
            let claude = env.claude_config_dir.clone();
            let state = claude.clone().unwrap_or_else(|| home.to_owned());
            let claude = claude.unwrap_or_else(|| join(home, ".claude"));
            view.client(&claude, CLAUDE);
            view.plugins(&claude);
            view.file(join(&state, ".claude.json"), Surface::ClaudeState, None);
            let config = env.xdg_config_home.clone().unwrap_or_else(|| join(home, ".config"));
            let dirs = [
                Some(join(&config, "opencode")),
                Some(join(home, ".opencode")),
                env.opencode_config_dir.clone(),
            ];
            dirs.iter().flatten().for_each(|dir| view.opencode(dir));
            view.file(join(home, ".gitconfig"), Surface::GitConfig, None);
            view.file(join(&config, "git/config"), Surface::GitConfig, None);
        }
    }
    for (path, kind) in linked {
        match kind {
            Surface::GitHook => view.hooks(path),
            _ => view.file(path.clone(), *kind, None),
        }
    }
    view
}

/// Where a link of a configuration leads: from the work tree for hooks, from beside the file for others.
pub fn led_to(link: &str, kind: Surface, config: &str, top: Option<&str>, env: &Environment) -> String {
    let beside = Path::new(config).parent().map_or("/".to_owned(), |dir| dir.to_string_lossy().into_owned());
    match (link.strip_prefix("~/"), kind, top) {
        (Some(rest), _, _) => join(env.home().unwrap_or("/"), rest),
        (None, Surface::GitHook, Some(top)) => join(top, link),
        (None, _, _) => join(&beside, link),
    }
}
