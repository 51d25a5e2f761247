//! A machine for one session: a HOME of its own at `/home/dev`, a git project in it, loopback only, its own processes.
//! Paths beginning with `/home/dev` are the client's; `host` gives the place on the machine that runs the tests.

use crate::clients::Client;
use crate::model::{MAIN, Model, Script};
use crate::programs;
use crate::session::{Played, Session};
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::{clock, quarantine};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const HOME: &str = "/home/dev";
pub const PROJECT: &str = "/home/dev/proj";
/// Where the registration finds lazaret.
pub const BIN: &str = "/home/dev/.local/bin/lazaret";
/// Programs of the test that stand before the system's on the client's PATH.
const TOOLS: &str = "/home/dev/.tools";
/// The arguments of every git that ran.
pub const GIT_LOG: &str = "/home/dev/.git-calls";
/// Every client and every mount that the agent itself started.
pub const FORBIDDEN_LOG: &str = "/home/dev/.forbidden-calls";
/// More than the longest session needs on two busy cores; a client that hangs is ended then.
const LIMIT: Duration = Duration::from_secs(400);

/// With these, OpenCode does not wait 75 seconds for npm before it loads plugins.
const PLUGIN_PACKAGE: &str = r#"{"dependencies": {"@opencode-ai/plugin": "1.18.33"}}"#;
const PLUGIN_LOCK: &str =
    r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}}}"#;

/// One such machine.
pub struct World {
    root: TempDir,
    /// Where lazaret keeps keys and sealed copies: in memory, and not the one of this machine's user.
    runtime: TempDir,
    pub client: Client,
}

impl World {
    /// A fresh HOME with the project, a bare remote, something precious outside the project, and lazaret's binary.
    pub fn new(client: Client) -> Self {
        client.install();
        need_namespaces();
        let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        let runtime = TempDir::new_in("/dev/shm").expect("a directory in memory");
        let world = Self { root, runtime, client };
        for directory in [PROJECT, TOOLS, "/home/dev/.local/bin", "/home/dev/precious"] {
            std::fs::create_dir_all(world.host(directory)).unwrap();
        }
        world.write("/home/dev/precious/notes.txt", "irreplaceable\n");
        world.write("/home/dev/proj/README.md", "# A project\n");
        world.write(
            "/home/dev/.gitconfig",
            "[user]\n\tname = Dev\n\temail = dev@example.org\n[init]\n\tdefaultBranch = main\n",
        );
        for directory in ["/home/dev/.config/opencode", "/home/dev/.opencode", "/home/dev/proj/.opencode"] {
            if client == Client::OpenCode {
                world.write(&format!("{directory}/package.json"), PLUGIN_PACKAGE);
                world.write(&format!("{directory}/package-lock.json"), PLUGIN_LOCK);
                std::fs::create_dir(world.host(&format!("{directory}/node_modules"))).unwrap();
            }
        }
        if client == Client::Codex {
            world.write("/home/dev/.codex/config.toml", include_str!("codex-model.toml"));
        }
        // Claude Code takes the PATH of a login shell.
        world.write("/home/dev/.bashrc", &format!("export PATH={}\n", search_path()));
        world.install_lazaret();
        world.log_calls();
        world.sh("git init -q && git add -A && git commit -qm 'Begin' && git init -q --bare ../remote.git
            git remote add origin /home/dev/remote.git && git push -q -u origin main");
        world
    }

    /// The place of the client's `path` on the machine that runs the tests.
    pub fn host(&self, path: &str) -> PathBuf {
        let below = path.strip_prefix(HOME).unwrap_or_else(|| panic!("{path} is not below {HOME}"));
        self.root.path().join("home").join(below.trim_start_matches('/'))
    }

    /// lazaret's directories, as the machine that runs the tests sees them.
    pub fn dirs(&self) -> Dirs {
        let text = |path: &Path| Some(path.to_str().expect("UTF-8").to_owned());
        let env = Environment {
            home: text(&self.host(HOME)),
            xdg_runtime_dir: text(self.runtime.path()),
            ..Environment::default()
        };
        Dirs::locate(&env).expect("lazaret's directories")
    }

    pub fn exists(&self, path: &str) -> bool {
        self.host(path).symlink_metadata().is_ok()
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.host(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Writes a file, with the directories it needs.
    pub fn write(&self, path: &str, content: &str) {
        let host = self.host(path);
        std::fs::create_dir_all(host.parent().unwrap()).unwrap();
        std::fs::write(host, content).unwrap_or_else(|e| panic!("{path}: {e}"));
    }

    /// Writes a program.
    pub fn program(&self, path: &str, content: &str) {
        programs::write(&self.host(path), content);
    }

    /// Puts the binary under test where the registration finds it.
    pub fn install_lazaret(&self) {
        let built = std::env::var("LAZARET_E2E_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_lazaret").into());
        programs::copy(format!("{built}-view"), self.host(&format!("{BIN}-view")));
        programs::copy(&built, self.host(BIN));
    }

    /// Notes every call of git, and what must not be called at all in place of doing it.
    fn log_calls(&self) {
        let git =
            format!("#!/bin/sh\necho \"$*\" >> {GIT_LOG}\nexec {} \"$@\"\n", executable("git").display());
        self.program(&format!("{TOOLS}/git"), &git);
        let note = format!("#!/bin/sh\necho \"$0 $*\" >> {FORBIDDEN_LOG}\n");
        self.program(&format!("{TOOLS}/mount"), &note);
        let ask_version = format!("[ \"$1\" = --version ] && exec {} --version\n", self.client.inside());
        self.program(
            &format!("{TOOLS}/{}", self.client.command()),
            &note.replacen('\n', &format!("\n{ask_version}"), 1),
        );
    }

    /// The search program that OpenCode would fetch from the network: the one inside Claude Code.
    pub fn search_tool(&self) {
        Client::Claude.install();
        let program = format!("#!/bin/bash\nexec -a rg {} \"$@\"\n", Client::Claude.inside());
        self.program(&format!("{TOOLS}/rg"), &program);
    }

    /// Lets the client be started by its name, which is otherwise noted and not done.
    pub fn offer_client(&self) {
        let program = format!("#!/bin/sh\nexec {} \"$@\"\n", self.client.inside());
        self.program(&format!("{TOOLS}/{}", self.client.command()), &program);
    }

    /// Gives the machine an `/etc`, a `/usr/local/bin` and a `/var/lib` of its own, and installs lazaret there for every user.
    pub fn install_for_all(&self) {
        let system = self.root.path().join("system");
        for dir in ["claude-code", "opencode/node_modules", "codex", "lazaret", "bin", "lib"] {
            std::fs::create_dir_all(system.join(dir)).unwrap();
        }
        std::fs::write(system.join("opencode/package.json"), PLUGIN_PACKAGE).unwrap();
        std::fs::write(system.join("opencode/package-lock.json"), PLUGIN_LOCK).unwrap();
        std::fs::create_dir_all(self.host("/home/dev/archive")).unwrap();
        self.program("/home/dev/archive/install.sh", include_str!("../../install.sh"));
        for program in ["", "-view"] {
            let built = self.host(&format!("{BIN}{program}"));
            programs::copy(built, self.host(&format!("/home/dev/archive/lazaret{program}")));
        }
        self.sh_by(Vec::new(), "umask 022; ~/archive/install.sh --system");
        // From now on the client is started by a user who can change nothing of that, where there can be one.
        self.own_up();
    }

    /// What was written from outside is the user's.
    pub fn own_up(&self) {
        if !self.as_user().is_empty() {
            self.sh_by(Vec::new(), "chown -R 4711:4711 ~ \"$XDG_RUNTIME_DIR\"");
        }
    }

    /// A file of the installation for every user.
    pub fn system(&self, path: &str) -> PathBuf {
        self.root.path().join("system").join(path)
    }

    /// What starts a program as the user of the machine.
    fn as_user(&self) -> Vec<&str> {
        let two = self.system("").is_dir() && rustix::process::geteuid().is_root();
        if two { vec!["setpriv", "--reuid=4711", "--regid=4711", "--clear-groups"] } else { Vec::new() }
    }

    /// Registers lazaret with the client as a person does.
    pub fn register(&self) {
        self.sh(&format!("lazaret install {}", self.client.registered_as()));
    }

    /// Runs a shell script in the project, as the person at the machine, and gives what it printed.
    pub fn sh(&self, script: &str) -> String {
        self.sh_by(self.as_user(), script)
    }

    /// The same as root does, before there are two users.
    fn sh_by<'a>(&self, mut args: Vec<&'a str>, script: &'a str) -> String {
        args.extend(["sh", "-ec", script]);
        let done = self.inside(&args).output().expect("run inside");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(done.status.success(), "{script}\n{}\n{}", text(&done.stdout), text(&done.stderr));
        text(&done.stdout)
    }

    /// Runs the client once with the scripted model, and ends it when it takes too long.
    pub fn play(&self, script: Script) -> Session {
        let session = self.play_with(&self.client.arguments(), script);
        assert!(session.output.status.success(), "the client failed\n{}", session.story());
        session
    }

    /// The same, with other arguments and whatever the client ended with: a run that lazaret stopped is no success.
    pub fn play_with(&self, arguments: &[&str], script: Script) -> Session {
        let executable = self.client.inside();
        let mut args = self.as_user();
        args.push(&executable);
        args.extend(arguments);
        let session = Session::of(self.client, self.with_model(script, &args));
        assert!(!session.heard(MAIN).is_empty(), "the main agent's model heard nothing");
        session
    }

    /// Runs a shell script as the person at the machine, while the scripted model listens for the clients it starts.
    pub fn play_script(&self, script: Script, commands: &str) -> Session {
        Session::new(self.client, self.with_model(script, &["/bin/sh", "-c", commands]))
    }

    fn with_model(&self, script: Script, args: &[&str]) -> Played {
        let directory = std::fs::File::open(self.root.path()).unwrap();
        // Through the descriptor, because a socket's path may have no more than 108 bytes.
        let socket = PathBuf::from(format!("/proc/self/fd/{}/model", directory.as_raw_fd()));
        drop(std::fs::remove_file(&socket));
        let model = Model::listen(&socket, script);
        let (output, timed_out) = self.run(args);
        Played { output, timed_out, heard: model.end(), printed: self.printed() }
    }

    /// What programs printed into files beside the project.
    fn printed(&self) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.host(HOME)).expect("the home directory");
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> =
            names.filter(|name| [".code", ".out", ".err"].iter().any(|end| name.ends_with(end))).collect();
        names.sort_unstable();
        let content = |name: String| (name.clone(), std::fs::read(self.host(HOME).join(name)).unwrap());
        names.into_iter().map(content).collect()
    }

    fn run(&self, program: &[&str]) -> (Output, bool) {
        let bridge = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/bridge.js");
        std::fs::copy(bridge, self.root.path().join("bridge.js")).expect("bridge.js");
        let mut args = vec!["/mnt/node", "/mnt/world/bridge.js", "/mnt/world/model", "8080"];
        args.extend(program);
        let mut command = self.inside(&args);
        command.envs(self.client.environment());
        let file = |name: &str| std::fs::File::create(self.root.path().join(name)).unwrap();
        let mut child =
            command.stdout(file("stdout")).stderr(file("stderr")).spawn().expect("start the client");
        let begun = Instant::now();
        let mut timed_out = false;
        let status = loop {
            if let Some(status) = child.try_wait().expect("wait for the client") {
                break status;
            }
            if begun.elapsed() > LIMIT && !timed_out {
                timed_out = true;
                // Everything inside is in the process namespace of this child and ends with it.
                child.kill().expect("end the client");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = |name: &str| std::fs::read(self.root.path().join(name)).unwrap();
        (Output { status, stdout: text("stdout"), stderr: text("stderr") }, timed_out)
    }

    /// A command inside the namespaces: loopback only, its own processes, `/home/dev` and `/tmp`.
    fn inside(&self, args: &[&str]) -> Command {
        let mut command = unshare();
        command
            .env_clear()
            .arg("sh")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/enter.sh"))
            .arg(self.root.path())
            .arg(Client::cache())
            // The namespaces hide what lies in a home directory, and node may lie there.
            .arg(executable("node"))
            .args(args)
            .stdin(Stdio::null())
            .env("HOME", HOME)
            .env("XDG_RUNTIME_DIR", self.runtime.path())
            .env("LAZARET_KEYS", "tmpfs")
            .env("PATH", search_path())
            .env("LANG", "C.UTF-8");
        command
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Closed directories would keep the rest from going.
        let dirs = self.dirs();
        for listed in quarantine::list(&dirs).unwrap_or_default() {
            let _ended = quarantine::end(&dirs, &listed.id, quarantine::Why::Asked, clock::now());
        }
    }
}

/// Says what is missing where the kernel or a container keeps namespaces from us.
fn need_namespaces() {
    let done =
        unshare().arg("true").output().expect("unshare (util-linux) is needed for the end-to-end tests");
    let why = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "the end-to-end tests need namespaces of their own, as root or as a user: {why}"
    );
}

/// What runs a command in network, mount and process namespaces of its own, which end with it.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command
}

/// The PATH inside.
fn search_path() -> String {
    format!("{TOOLS}:/home/dev/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
}

/// The executable itself behind a name on PATH.
fn executable(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} is needed for the end-to-end tests")).canonicalize().unwrap()
}
