//! What a release gives to registries and clients, on the real clients: fetched from a registry on loopback, as a trial release made it.

use crate::clients::Client;
use crate::model::{Script, Step};
use crate::programs;
use crate::session::Session;
use crate::world::{BIN, World};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Starts the registry and waits for it; it ends with the namespace.
const SERVE: &str = "/mnt/node /home/dev/registry.js /home/dev/dist 8081 >/home/dev/registry.log 2>&1 &
    for i in $(seq 100); do curl -sf http://127.0.0.1:8081/SHA256SUMS >/dev/null && break; sleep 0.1; done
    export npm_config_registry=http://127.0.0.1:8081/ npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false
    ";

const PLUGIN: &str = "/home/dev/dist/claude-code-plugin";

/// A trial release around the binary under test, made once.
fn release() -> &'static Path {
    static RELEASE: OnceLock<PathBuf> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trial-release");
        let built = std::env::var("LAZARET_E2E_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_lazaret").into());
        // Without its debug information it packs in a tenth of the time.
        let small = out.with_extension("binaries").join("lazaret");
        std::fs::create_dir_all(small.parent().unwrap()).unwrap();
        let done = |command: &mut Command| {
            let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
            assert!(status.success(), "{command:?}");
        };
        done(Command::new("strip").arg("-o").arg(&small).arg(&built));
        done(
            Command::new("strip")
                .arg("-o")
                .arg(small.with_file_name("lazaret-view"))
                .arg(format!("{built}-view")),
        );
        let build = concat!(env!("CARGO_MANIFEST_DIR"), "/release/build");
        done(Command::new(build).arg("--trial").arg("--binary").arg(&small).arg("--out").arg(&out));
        out
    })
}

/// A machine that knows lazaret from the registry alone.
fn world(client: Client) -> World {
    let world = World::new(client);
    std::fs::remove_file(world.host(BIN)).unwrap();
    let copied =
        Command::new("cp").arg("-r").arg(release()).arg(world.host("/home/dev/dist")).status().unwrap();
    assert!(copied.success());
    world.write("/home/dev/registry.js", include_str!("registry.js"));
    world
}

fn probes(client: Client) -> Script {
    let shell = |label: &str, command: &str| Step::call([client.shell(label, command)]);
    Script::main([shell("harmless", "echo still here"), shell("delete", "rm -rf /home/dev/precious")])
}

fn guarded(world: &World, session: &Session) {
    assert_eq!(session.told("harmless").text.trim(), "still here", "{}", session.story());
    assert!(session.told("delete").text.contains("files.delete-"), "{}", session.story());
    assert!(world.exists("/home/dev/precious/notes.txt"), "{}", session.story());
}

/// Nothing passes, and what is destructive does not either.
fn closed(world: &World, session: &Session) {
    for label in ["harmless", "delete"] {
        let told = &session.told(label).text;
        assert!(!told.trim().ends_with("still here") && !told.contains("files.delete-"), "{label}: {told}");
    }
    assert!(world.exists("/home/dev/precious/notes.txt"), "{}", session.story());
}

#[test]
fn npx_installs_a_copy_that_stays() {
    let world = world(Client::Claude);
    let said = world.sh(&format!(
        "{SERVE} npx --yes lazaret install claude-code
        npx --yes lazaret check ls
        npx --yes lazaret check 'git reset --hard' && exit 1 || [ $? = 2 ]
        rm -rf ~/.npm
        {BIN} doctor"
    ));
    assert!(said.contains(&format!("installed  {BIN}")) && said.contains("the gate is closed"), "{said}");
    let settings = world.read("/home/dev/.claude/settings.json");
    assert!(settings.contains(&format!("\"{BIN}\"")) && !settings.contains("npx"), "{settings}");
    guarded(&world, &world.play(probes(Client::Claude)));
}

#[test]
fn npm_without_the_package_of_this_system_says_so() {
    let world = world(Client::Claude);
    let said = world.sh(&format!(
        "{SERVE} mkdir /tmp/bare && cd /tmp/bare && npm install --omit=optional lazaret >/dev/null
        npx lazaret install 2>&1 && exit 1 || [ $? = 2 ]"
    ));
    assert!(said.contains("is not installed") && said.contains("--omit=optional"), "{said}");
    assert!(!world.exists("/home/dev/.claude/settings.json"));
}

/// The plugin, installed as a person does from a marketplace that is a directory; the release is at the registry's address.
fn install_plugin(world: &World) {
    world.offer_client();
    world.sh(&format!(
        "sed -i 's#https://.*/\\([^/]*\\)$#http://127.0.0.1:8081/\\1#' {PLUGIN}/hooks/release
        claude plugin validate {PLUGIN}
        claude plugin marketplace add {PLUGIN} && claude plugin install lazaret@lazaret"
    ));
}

fn claude(serve: &str) -> String {
    format!(
        "{serve} {} {}",
        Client::Claude.inside(),
        "-p 'Do what is to be done.' --permission-mode bypassPermissions"
    )
}

#[test]
fn the_plugin_of_a_marketplace_fetches_its_binary_and_blocks_all_until_it_is_there() {
    let world = world(Client::Claude);
    install_plugin(&world);
    // Neither fetched nor on this machine.
    closed(&world, &world.play(probes(Client::Claude)));
    guarded(&world, &world.play_script(probes(Client::Claude), &claude(SERVE)));
    // It is there from now on.
    guarded(&world, &world.play(probes(Client::Claude)));
}

#[test]
fn the_plugin_does_not_take_what_was_not_released() {
    let world = world(Client::Claude);
    install_plugin(&world);
    for archive in std::fs::read_dir(world.host("/home/dev/dist")).unwrap().map(|entry| entry.unwrap().path())
    {
        if archive.extension().is_some_and(|end| end == "gz") {
            std::fs::write(archive, "something else").unwrap();
        }
    }
    closed(&world, &world.play_script(probes(Client::Claude), &claude(SERVE)));
}

#[test]
fn the_plugin_takes_the_binary_of_an_installation() {
    let world = world(Client::Claude);
    install_plugin(&world);
    programs::copy(
        std::env::var("LAZARET_E2E_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_lazaret").into()),
        world.host("/home/dev/installed"),
    );
    // The home directory of this user's password entry is not the one of the test: the system's place is.
    let said = world.sh(&format!(
        "/bin/mount -t tmpfs tmpfs /usr/local && mkdir /usr/local/bin && cp ~/installed /usr/local/bin/lazaret && {PLUGIN}/hooks/fetch.sh"
    ));
    assert!(said.contains("/usr/local/bin/lazaret"), "{said}");
    guarded(&world, &world.play(probes(Client::Claude)));
}

#[test]
fn the_npm_package_guards_opencode_and_blocks_all_without_its_binary() {
    let world = world(Client::OpenCode);
    world.write("/home/dev/.npmrc", "registry=http://127.0.0.1:8081/\n");
    world.write("/home/dev/.config/opencode/opencode.json", r#"{"plugin": ["@lazaret/opencode"]}"#);
    let opencode = format!("{SERVE} {} run --auto 'Do what is to be done.'", Client::OpenCode.inside());
    guarded(&world, &world.play_script(probes(Client::OpenCode), &opencode));
    world.sh("rm -r $(find ~ -path '*/@lazaret/linux-*' -prune)");
    closed(&world, &world.play(probes(Client::OpenCode)));
}
