//! Servers of Redis, machines that share one, and hooks on them.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests; each uses a part"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that a test waits for something to come about.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that ends with the test.
pub struct Process(pub Child);

impl Process {
    pub fn start(command: &mut Command) -> Process {
        Process(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn kill(&mut self) {
        let _gone = self.0.kill();
        let _waited = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Tries again and again until it is so.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A port that nobody listens at.
pub fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server of Redis, which keeps what it acknowledged on the disk.
pub struct Redis {
    dir: tempfile::TempDir,
    pub port: u16,
    args: Vec<String>,
    process: Option<Process>,
}

impl Redis {
    pub fn new(args: &[&str]) -> Redis {
        let dir = tempfile::tempdir().unwrap();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut redis = Redis { dir, port: port(), args, process: None };
        // Whatever else runs may have taken the port before the server did, and even answer there.
        for _ in 0..3 {
            if redis.came_up() {
                return redis;
            }
            redis.port = port();
        }
        panic!("redis-server ends: {}", redis.log())
    }

    /// Starts it again with what it had.
    pub fn start(&mut self) {
        assert!(self.came_up(), "redis-server ends: {}", self.log());
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Starts it; whether it is what answers then, and not somebody else while it ended.
    fn came_up(&mut self) -> bool {
        let mut command = Command::new("redis-server");
        if !self.args.iter().any(|arg| arg == "--port") {
            command.args(["--port", &self.port.to_string()]);
        }
        let dir = self.dir.path();
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"]);
        command.arg("--dir").arg(dir).arg("--logfile").arg(dir.join("log")).args(&self.args);
        let mut process = Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let tls = self.args.iter().position(|arg| arg == "--tls-port");
        let port = tls.map_or(self.port, |at| self.args[at + 1].parse().unwrap());
        let mut ended = false;
        until("redis-server answers", || {
            ended = process.0.try_wait().unwrap().is_some();
            ended
                || self.log().contains("Ready to accept connections")
                    && std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        self.process = Some(process);
        !ended
    }

    pub fn kill(&mut self) {
        self.process = None;
    }

    pub fn signal(&self, signal: &str) {
        self.process.as_ref().unwrap().signal(signal);
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// What the server answers, without what is no text in it.
    pub fn cli(&self, args: &[&str]) -> String {
        let port = self.port.to_string();
        let out = Command::new("redis-cli").args(["-p", &port]).args(args).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }
}

/// A machine: a home, a configuration and a service of its own.
pub struct Machine {
    dir: tempfile::TempDir,
    service: Option<Process>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    Ran,
    /// With all that was said.
    Refused(String),
    Asked(String),
}

impl Machine {
    /// One whose service is started; `state` is the table of its settings, and `config` is added to the hook's configuration.
    pub fn new(state: &str, config: &str) -> Machine {
        let mut machine = Machine::without_service(state, config);
        machine.serve();
        machine
    }

    pub fn without_service(state: &str, config: &str) -> Machine {
        Machine::in_directory(&std::env::temp_dir(), state, config)
    }

    /// One whose files lie in memory, where the system has such a place: keys of reviews lie nowhere else.
    pub fn in_memory(state: &str, config: &str) -> Machine {
        let memory = Path::new("/dev/shm");
        let temp = std::env::temp_dir();
        Machine::in_directory(if memory.is_dir() { memory } else { &temp }, state, config)
    }

    fn in_directory(base: &Path, state: &str, config: &str) -> Machine {
        let dir = tempfile::Builder::new().prefix("lz").tempdir_in(base).unwrap();
        let machine = Machine { dir, service: None };
        for place in ["home/project", "home/.config/lazaret", "lazaret/state", "etc"] {
            fs::create_dir_all(machine.path(place)).unwrap();
        }
        for private in ["lazaret", "lazaret/state"] {
            fs::set_permissions(machine.path(private), fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(machine.settings(), format!("[state]\n{state}\n")).unwrap();
        fs::set_permissions(machine.settings(), fs::Permissions::from_mode(0o600)).unwrap();
        machine.configure(&format!("[fleet]\nservice = \"user\"\ndeadline_ms = 1000\n{config}"));
        machine
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn settings(&self) -> PathBuf {
        self.path("etc/fleet.toml")
    }

    pub fn socket(&self) -> PathBuf {
        self.path("lazaret/state/fleet.sock")
    }

    /// The hook's configuration, as a person accepted it.
    pub fn configure(&self, text: &str) {
        let file = self.path("lazaret/config/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        lazaret::host::trust::accept(&self.path("lazaret/state"), file.to_str().unwrap(), text.as_bytes())
            .unwrap();
    }

    /// Starts the service and waits until it knows what the store says.
    pub fn serve(&mut self) {
        self.serve_unreached();
        let mut last = Value::Null;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && last != json!({"answer": "runs"}) {
            last = self.ask(&self.call());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(last, json!({"answer": "runs"}), "the service does not come to know the store");
    }

    /// Starts the service and waits until its socket is there.
    pub fn serve_unreached(&mut self) {
        let mut command = self.fleet(&["serve", "--socket", self.socket().to_str().unwrap()]);
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = Process::start(&mut command);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with("is open\n"), "{line:?}");
        self.service = Some(process);
    }

    pub fn service(&mut self) -> &mut Process {
        self.service.as_mut().unwrap()
    }

    /// A command of the service's program with these settings.
    pub fn fleet(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program("lazaret-fleet"));
        command.args(args).arg("--config").arg(self.settings());
        command
    }

    pub fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let out = self.fleet(args).output().unwrap();
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (out.status.code(), said)
    }

    pub fn done(&self, args: &[&str]) -> String {
        let (code, said) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    /// A question without limits.
    pub fn call(&self) -> Value {
        json!({"ask": "call", "v": 1, "client": "claude-code", "session": "s", "repositories": [], "limits": [], "within_ms": 1000})
    }

    /// Asks the service as the hook does.
    pub fn ask(&self, question: &Value) -> Value {
        let answer = self.say(format!("{question}\n").as_bytes());
        serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }

    /// Sends bytes to the service, and says what came back.
    pub fn say(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // It may have had enough before all of it is sent.
        let _sent = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _read = stream.read_to_end(&mut answer);
        answer
    }

    /// The hook before `ls`, in a session.
    pub fn hook(&self, session: &str) -> Became {
        self.hook_of(session, "ls")
    }

    /// The hook before a command, in a session.
    pub fn hook_of(&self, session: &str, command: &str) -> Became {
        self.told(session, command, json!({"hook_event_name": "PreToolUse", "permission_mode": "default"}))
    }

    /// The hook after a command, in a session.
    pub fn hook_after(&self, session: &str, command: &str) -> Became {
        self.told(
            session,
            command,
            json!({"hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}),
        )
    }

    fn told(&self, session: &str, command: &str, mut message: Value) -> Became {
        let project = self.path("home/project");
        let of_all = json!({
            "session_id": session, "transcript_path": "", "cwd": project, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "t",
        });
        message.as_object_mut().unwrap().extend(of_all.as_object().unwrap().clone());
        // What answers comes first: on two cores, dozens of hooks would keep each other's service from it.
        let mut child = Command::new("nice")
            .args(["-n", "19"])
            .arg(hook())
            .args(["hook", "claude-code", "--home"])
            .arg(self.path("home"))
            .arg("--lazaret-home")
            .arg(self.path("lazaret"))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        match out.status.code() {
            Some(0) if said.is_empty() => Became::Ran,
            Some(0) if said.contains("\"permissionDecision\":\"ask\"") => Became::Asked(said),
            Some(2) => Became::Refused(said),
            code => panic!("{code:?}: {said}"),
        }
    }
}

/// Where keys of reviews are kept on a machine in memory.
pub fn keys() -> &'static str {
    if Path::new("/dev/shm").is_dir() { "tmpfs" } else { "keyring" }
}

/// The hook's program, which is built with this one.
pub fn hook() -> PathBuf {
    program("lazaret")
}

/// One of both programs; `LAZARET_FLEET_PROGRAMS` names the directory of others than those that cargo has just built, as of an archive.
pub fn program(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_lazaret-fleet")).with_file_name(name);
    let program = std::env::var_os("LAZARET_FLEET_PROGRAMS").map_or(built, |dir| Path::new(&dir).join(name));
    assert!(program.exists(), "{}: it is not built; run: cargo build --workspace", program.display());
    program
}

/// A limit of so many calls of any tool in a minute, shared by all machines.
pub fn limited(calls: u32) -> String {
    format!(
        "on_fault = \"block\"\n[[limits.tool]]\ntool = \"*\"\ncalls = {calls}\nwindow_seconds = 60\nper = \"fleet\"\n"
    )
}
