//! Two machines with a client each, which share a limit and what a person stopped, by services beside them and a server of Redis.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::world::World;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CONFIG: &str = "/home/dev/.config/lazaret/config.toml";
const SHARED: &str = "[fleet]\nservice = \"user\"\non_fault = \"block\"\ndeadline_ms = 1000\n\
    [[limits.tool]]\ntool = \"Bash\"\ncalls = 3\nwindow_seconds = 3600\nper = \"fleet\"\n";

/// A process that ends with the test.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn start(command: &mut Command) -> Process {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Process(quiet.spawn().unwrap_or_else(|error| panic!("{quiet:?}: {error}")))
}

pub fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program beside the one under test.
pub fn fleet() -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_lazaret")).with_file_name("lazaret-fleet");
    assert!(program.exists(), "{}: it is not built; run: cargo build --workspace", program.display());
    Command::new(program)
}

/// A machine whose hook asks a service of its own.
fn machine(client: Client, settings: &Path) -> (World, Process) {
    let world = World::new(client);
    world.register();
    let service = serve(&world, SHARED, settings);
    (world, service)
}

/// A service beside a machine whose hook asks it by that configuration.
pub fn serve(world: &World, config: &str, settings: &Path) -> Process {
    world.write(CONFIG, config);
    let state = world.dirs().state;
    lazaret::host::trust::accept(&state, CONFIG, config.as_bytes()).unwrap();
    // From within, because a socket's path may have no more than 108 bytes.
    let mut serve = fleet();
    serve.args(["serve", "--socket", "fleet.sock", "--config"]).arg(settings).current_dir(&state);
    let service = start(&mut serve);
    until("the service is there", || state.join("fleet.sock").exists());
    service
}

/// A server of Redis in that directory, and the settings that name it.
pub fn store(directory: &Path) -> (Process, PathBuf) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut redis = Command::new("redis-server");
    redis.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]).current_dir(directory);
    let redis = start(&mut redis);
    until("redis-server answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let settings = directory.join("fleet.toml");
    std::fs::write(&settings, format!("[state]\nurl = \"redis://127.0.0.1:{port}\"\n")).unwrap();
    (redis, settings)
}

#[test]
fn two_machines_with_a_client_each_share_a_limit_and_a_stop() {
    let directory = tempfile::tempdir().unwrap();
    let (_redis, settings) = store(directory.path());
    let (one, _one) = machine(Client::Claude, &settings);
    let (other, _other) = machine(Client::OpenCode, &settings);
    let shell = |client: Client, label: &str| Step::call([client.shell(label, &format!("echo {label}"))]);
    let first = one.play(Script::main([shell(Client::Claude, "first"), shell(Client::Claude, "second")]));
    for label in ["first", "second"] {
        assert_eq!(first.told(label).text.trim(), label, "{}", first.story());
    }
    let second =
        other.play(Script::main([shell(Client::OpenCode, "third"), shell(Client::OpenCode, "fourth")]));
    assert_eq!(second.told("third").text.trim(), "third", "{}", second.story());
    let told = &second.told("fourth").text;
    assert!(
        told.contains("FLEET_LIMIT_EXCEEDED") && told.contains("3 calls of Bash on all machines"),
        "{told}"
    );

    let stopped =
        fleet().args(["stop", "--all", "--why", "a wrong prompt", "--config"]).arg(&settings).status();
    assert!(stopped.unwrap().success());
    std::thread::sleep(Duration::from_secs(1));
    for world in [&one, &other] {
        let look = Step::call([world.client.shell("look", "cat README.md")]);
        let session = world.play_with(&world.client.arguments(), Script::main([look]));
        // The turn ends with it: no model hears more.
        let (story, log) = (session.story(), world.sh("lazaret audit tail"));
        assert!(log.contains("FLEET_STOPPED"), "{log}\n{story}");
        assert!(!story.contains("# A project"), "{story}");
    }
}

/// What an administrator wants everywhere, as one table of a bundle.
const WANTED: &str = r#"
[[rules.custom]]
id = "custom.deploy"
verdict = "block"
severity = "high"
reason = "deploys what nobody has looked at"
instead = { advice = "let the pipeline deploy" }
when = [{ command = { programs = ["fly"], subs = ["deploy"] } }]
fires = ["fly deploy"]
silent = ["fly logs"]
"#;

#[test]
fn one_bundle_holds_beside_both_clients_and_no_user_loosens_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    std::fs::write(at("key"), pair.sk.to_box(None).unwrap().into_string()).unwrap();
    std::fs::create_dir(at("policy")).unwrap();
    std::fs::write(at("policy/a.toml"), WANTED).unwrap();
    let run = |args: &[&str]| {
        let out = fleet().arg("policy").args(args).current_dir(directory.path()).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    run(&["pack", "policy", "--name", "acme", "--number", "7", "--output", "acme-7.json"]);
    run(&["sign", "acme-7.json", "--key", "key"]);
    for client in [Client::Claude, Client::OpenCode] {
        let world = World::new(client);
        world.install_for_all();
        let managed = world.system("lazaret");
        let settings = format!("[policy]\nname = \"acme\"\nkeys = [\"{}\"]\n", pair.pk.to_base64());
        std::fs::write(managed.join("fleet.toml"), settings).unwrap();
        // What install.sh wrote there says nothing yet.
        run(&["apply", "acme-7.json", "--replace", "--dir", managed.to_str().unwrap()]);
        let loose = "[rules]\ndisabled = [\"custom.deploy\"]\n";
        world.write(CONFIG, loose);
        lazaret::host::trust::accept(&world.dirs().state, CONFIG, loose.as_bytes()).unwrap();
        world.own_up();
        let shell = |label: &str, command: &str| Step::call([client.shell(label, command)]);
        let session =
            world.play(Script::main([shell("deploy", "fly deploy"), shell("fine", "echo still here")]));
        let told = &session.told("deploy").text;
        assert!(told.contains("custom.deploy") && told.contains("nobody has looked at"), "{told}");
        assert_eq!(session.told("fine").text.trim(), "still here", "{}", session.story());
        let shown = world.sh("lazaret config show");
        assert!(shown.contains("(policy acme 7, applied 2"), "{shown}");
    }
}
