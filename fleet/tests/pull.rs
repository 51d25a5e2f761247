//! A bundle is fetched from a server with a certificate of the tests' own; a hostile server loosens nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod machine;

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use machine::{LOOSE, STRICT, World};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

/// What is answered for a path: status line, headers and body.
type Files = Arc<Mutex<HashMap<String, (String, String, Vec<u8>)>>>;

/// A server on loopback that ends with the process.
struct Server {
    port: u16,
    files: Files,
    /// The heads of all requests.
    asked: Arc<Mutex<Vec<String>>>,
    certificate: String,
    key: String,
}

impl Server {
    fn new() -> Server {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(vec![made.cert.der().clone()], key.into()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (files, asked) = (Files::default(), Arc::new(Mutex::new(Vec::new())));
        let (answers, heads) = (Arc::clone(&files), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.extend_from_slice(&byte);
                }
                let head = String::from_utf8(head).unwrap();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                heads.lock().unwrap().push(head);
                let none = ("404 Not Found".to_owned(), String::new(), Vec::new());
                let (status, headers, body) = answers.lock().unwrap().get(&path).cloned().unwrap_or(none);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
                );
                let _gone = stream.write_all(answer.as_bytes()).and_then(|()| stream.write_all(&body));
                stream.conn.send_close_notify();
                let _gone = stream.flush();
            }
        });
        Server { port, files, asked, certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/acme.json", self.port)
    }

    fn answers(&self, path: &str, status: &str, headers: &str, body: &[u8]) {
        let answer = (status.to_owned(), headers.to_owned(), body.to_owned());
        self.files.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// Holds the bundle of that file, and its signature.
    fn holds(&self, world: &World, file: &str, etag: &str) {
        let tag = if etag.is_empty() { String::new() } else { format!("ETag: \"{etag}\"\r\n") };
        self.answers("/acme.json", "200 OK", &tag, &fs::read(world.path(file)).unwrap());
        let signature = fs::read(world.path(&format!("{file}.minisig"))).unwrap();
        self.answers("/acme.json.minisig", "200 OK", "", &signature);
    }

    /// The heads of the requests since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

/// A machine that fetches from a server that it trusts.
fn world() -> (World, Server) {
    let (world, server) = (World::new(), Server::new());
    fs::write(world.path("ca.pem"), &server.certificate).unwrap();
    let settings = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    let ca = world.path("ca.pem");
    world.settings(&format!("{settings}url = \"{}\"\nca = \"{}\"\n", server.url(), ca.display()));
    (world, server)
}

const PULL: [&str; 3] = ["pull", "--dir", "etc"];

#[test]
fn a_bundle_is_fetched_once() {
    let (world, server) = world();
    server.holds(&world, &world.bundle("7", STRICT, &[]), "seven");
    assert!(world.done(&PULL).contains("policy acme 7 is in force"));
    assert_eq!(world.policy().custom_rules.len(), 1);
    server.asked();
    // The server is asked whether there is another.
    server.answers("/acme.json", "304 Not Modified", "", b"");
    assert!(world.done(&PULL).contains("nothing new"));
    let asked = server.asked();
    assert!(
        asked.len() == 1 && asked.concat().to_lowercase().contains("if-none-match: \"seven\""),
        "{asked:?}"
    );
    // A name that is none is not asked with, and an answer to what was not asked is none.
    server.holds(&world, "acme-7.json", "seven");
    fs::write(world.path("etc/policy.fetched.json"), "{").unwrap();
    world.done(&PULL);
    let tag = |headers: &str| {
        server.answers("/acme.json", "200 OK", headers, &fs::read(world.path("acme-7.json")).unwrap())
    };
    fs::write(world.path("etc/policy.fetched.json"), "{").unwrap();
    tag("ETag: *\r\n");
    world.done(&PULL);
    server.answers("/acme.json", "304 Not Modified", "", b"");
    world.refused(&PULL, "was not asked that");
    server.asked();
    // And for all of it where what it brought is not there any more.
    fs::remove_file(world.path("etc/config.toml")).unwrap();
    server.holds(&world, "acme-7.json", "seven");
    assert!(world.done(&PULL).contains("policy acme 7 is in force"));
    assert!(!server.asked().concat().to_lowercase().contains("if-none-match"));
    server.holds(&world, &world.bundle("8", STRICT, &[]), "");
    assert!(world.done(&PULL).contains("policy acme 8 is in force"));
}

#[test]
fn a_hostile_server_loosens_nothing() {
    let (world, server) = world();
    let (first, second) = (world.bundle("1", LOOSE, &[]), world.bundle("2", STRICT, &[]));
    server.holds(&world, &second, "two");
    world.done(&PULL);
    // An older one, as it was signed.
    server.holds(&world, &first, "x");
    world.refused(&PULL, "older ones are refused");
    // Another's signature, none, and text that is none.
    server.holds(&world, &second, "x");
    let other = fs::read(world.path("acme-1.json.minisig")).unwrap();
    server.answers("/acme.json.minisig", "200 OK", "", &other);
    world.refused(&PULL, "none of the keys");
    server.answers("/acme.json.minisig", "404 Not Found", "", b"");
    world.refused(&PULL, "the server answered 404");
    server.answers("/acme.json.minisig", "200 OK", "", b"<html>");
    world.refused(&PULL, "acme.json.minisig");
    server.answers("/acme.json.minisig", "304 Not Modified", "", b"");
    world.refused(&PULL, "was not asked that");
    // Too long, an error, a way to somewhere without encryption.
    server.answers("/acme.json", "200 OK", "", &vec![b' '; 1 << 20]);
    world.refused(&PULL, "acme.json: ");
    server.answers("/acme.json", "503 Service Unavailable", "", b"");
    world.refused(&PULL, "the server answered 503");
    server.answers("/acme.json", "302 Found", "Location: http://localhost:1/acme.json\r\n", b"");
    world.refused(&PULL, "acme.json");
    assert_eq!(world.shown()["in_force"], true);
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_asked() {
    let (world, server) = world();
    server.holds(&world, &world.bundle("7", STRICT, &[]), "");
    let settings = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    // Another's certificate, none of it, and the public ones.
    let stranger = Server::new();
    fs::write(world.path("ca.pem"), &stranger.certificate).unwrap();
    world.refused(&PULL, "certificate");
    fs::write(world.path("ca.pem"), "none").unwrap();
    world.refused(&PULL, "there is no certificate in it");
    fs::remove_file(world.path("ca.pem")).unwrap();
    world.refused(&PULL, "ca.pem: there is no such file");
    let public: String =
        settings.lines().filter(|line| !line.starts_with("ca")).map(|line| format!("{line}\n")).collect();
    world.settings(&public);
    world.refused(&PULL, "certificate");
    assert!(server.asked().iter().all(String::is_empty), "nothing is asked of it");
    world.settings(&public.replace("https://", "http://"));
    world.refused(&PULL, "only https:// is fetched from");
    let without: String =
        public.lines().filter(|line| !line.starts_with("url")).map(|line| format!("{line}\n")).collect();
    world.settings(&without);
    world.refused(&PULL, "policy.url is not set");
}

/// A registry of images, the Debian package's, behind the certificate of a server of ours.
struct Registry {
    process: Child,
    host: String,
}

impl Registry {
    /// `auth` is what it wants to be shown.
    fn new(world: &World, server: &Server, auth: &str) -> Registry {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| world.path(name).display().to_string();
        fs::write(world.path("registry.pem"), &server.certificate).unwrap();
        fs::write(world.path("registry.key"), &server.key).unwrap();
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\n\
             http:\n  addr: 127.0.0.1:{port}\n  tls: {{certificate: {}, key: {}}}\nauth:\n{auth}\n",
            at("images"),
            at("registry.pem"),
            at("registry.key")
        );
        fs::write(world.path("registry.yml"), config).unwrap();
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(world.path("registry.yml")).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap_or_else(|error| panic!("docker-registry: {error}"));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the registry does not open");
            std::thread::sleep(Duration::from_millis(20));
        }
        Registry { process, host: format!("localhost:{port}") }
    }

    fn url(&self, tag: &str) -> String {
        format!("oci://{}/acme/policy:{tag}", self.host)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}

/// The machine fetches from there, as that user.
fn fetches(world: &World, url: &str, user: &str) {
    let settings = fs::read_to_string(world.path("etc/fleet.toml")).unwrap();
    let known = settings
        .lines()
        .filter(|line| line.starts_with("[policy") || line.starts_with("name") || line.starts_with("keys"));
    let known: String = known.map(|line| format!("{line}\n")).collect();
    let ca = world.path("ca.pem");
    world.settings(&format!("{known}url = {url:?}\nca = {:?}\n{user}", ca.display().to_string()));
}

/// The password, where a machine and whoever pushes find it.
fn password(world: &World, text: &str) {
    for name in ["etc/registry.password", "password"] {
        fs::write(world.path(name), text).unwrap();
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
}

const USER: &str = "username = \"acme\"\npassword_file = \"registry.password\"\n";
/// `acme`, with the password `se#cret`.
const HTPASSWD: &str = "acme:$2b$04$abcdefghijklmnopqrstuuIG8ezAj9HXrxakIpPgI53OTBaiWAlcC\n";

#[test]
fn a_bundle_goes_through_a_registry_of_images() {
    let (world, server) = world();
    fs::write(world.path("htpasswd"), HTPASSWD).unwrap();
    let auth = format!("  htpasswd: {{realm: acme, path: {}}}", world.path("htpasswd").display());
    let registry = Registry::new(&world, &server, &auth);
    password(&world, "se#cret\n");
    let push = |file: &str, tag: &str, more: &[&str]| {
        let url = registry.url(tag);
        world.run(&[&["push", file, &url, "--ca", "ca.pem"], more].concat())
    };
    let user = ["--username", "acme", "--password-file", "password"];
    let seven = world.bundle("7", STRICT, &[]);
    let (code, said) = push(&seven, "stable", &[]);
    assert!(code == Some(1) && said.contains("the registry wants a name and a password"), "{said}");
    let (code, said) = push(&seven, "stable", &user);
    assert!(code == Some(0) && said.contains("lies there, sha256:"), "{said}");
    let pinned = format!("oci://{}/acme/policy@{}", registry.host, said.trim().rsplit(", ").next().unwrap());

    fetches(&world, &registry.url("stable"), "");
    world.refused(&PULL, "the registry wants a name and a password");
    fetches(&world, &registry.url("stable"), USER);
    assert!(world.done(&PULL).contains("policy acme 7 is in force"));
    assert!(world.done(&PULL).contains("nothing new"));
    // The same tag for another bundle; what is pinned stays what it was, and older ones stay refused.
    let eight = world.bundle("8", STRICT, &[]);
    assert_eq!(push(&eight, "stable", &user).0, Some(0));
    assert!(world.done(&PULL).contains("policy acme 8 is in force"));
    fetches(&world, &pinned, USER);
    world.refused(&PULL, "older ones are refused");
    fetches(&world, &registry.url("none"), USER);
    world.refused(&PULL, "the registry has nothing of that name and tag");
    password(&world, "wrong");
    world.refused(&PULL, "does not let this user do that");
    fs::remove_file(world.path(&format!("{eight}.minisig"))).unwrap();
    let (code, said) = push(&eight, "stable", &user);
    assert!(code == Some(1) && said.contains("a bundle is pushed with its signature"), "{said}");
    let (code, said) = world.run(&["push", &seven, &pinned, "--ca", "ca.pem"]);
    assert!(code == Some(1) && said.contains("pushed under a tag"), "{said}");
}

#[test]
fn a_registry_that_wants_a_token_gets_one() {
    let (world, server) = world();
    let token = server.url().replace("/acme.json", "/token");
    let registry = Registry::new(&world, &server, &format!("  silly: {{realm: \"{token}\", service: acme}}"));
    password(&world, "se#cret\n");
    server.answers(
        "/token?service=acme&scope=repository%3Aacme%2Fpolicy%3Apull",
        "200 OK",
        "",
        br#"{"token":"t0ken"}"#,
    );
    let seven = world.bundle("7", STRICT, &[]);
    fetches(&world, &registry.url("7"), USER);
    // Nothing lies there yet; what counts is that it was let in.
    world.refused(&PULL, "the registry has nothing of that name and tag");
    let asked = server.asked().concat().to_lowercase();
    assert!(asked.contains("authorization: basic ") && !asked.contains("t0ken"), "{asked}");
    let pushed = [
        "push",
        &seven,
        &registry.url("7"),
        "--ca",
        "ca.pem",
        "--username",
        "acme",
        "--password-file",
        "password",
    ];
    assert!(world.done(&pushed).contains("lies there"));
    assert!(world.done(&PULL).contains("policy acme 7 is in force"));
    fs::remove_file(world.path("etc/config.toml")).unwrap();
    for (answer, why) in
        [(&b"{}"[..], "its answer is no token"), (br#"{"token":"a b"}"#, "its answer is no token")]
    {
        server.answers("/token?service=acme&scope=repository%3Aacme%2Fpolicy%3Apull", "200 OK", "", answer);
        world.refused(&PULL, why);
    }
}

#[test]
fn a_hostile_registry_loosens_nothing() {
    let (world, server) = world();
    let first = world.bundle("1", LOOSE, &[]);
    let second = world.bundle("2", STRICT, &[]);
    let host = format!("localhost:{}", server.port);
    fetches(&world, &format!("oci://{host}/p:2"), USER);
    password(&world, "se#cret\n");
    let digest = |bytes: &[u8]| lazaret::host::brought::digest(bytes);
    let blob = |bytes: &[u8]| {
        server.answers(&format!("/v2/p/blobs/sha256:{}", digest(bytes)), "200 OK", "", bytes);
        digest(bytes)
    };
    let holds = |bundle: &[u8], signed: &[u8]| {
        let of = |kind: &str, bytes: &[u8]| {
            let kind = format!("application/vnd.lazaret.policy.{kind}");
            json!({"mediaType": kind, "digest": format!("sha256:{}", blob(bytes))})
        };
        let manifest = json!({"layers": [of("v1+json", bundle), of("signature.v1+minisign", signed)]});
        server.answers("/v2/p/manifests/2", "200 OK", "ETag: \"x\"\r\n", manifest.to_string().as_bytes());
        manifest
    };
    let read = |name: &str| fs::read(world.path(name)).unwrap();
    let [old, new] = [&first, &second].map(|file| (read(file), read(&format!("{file}.minisig"))));
    let manifest = holds(&new.0, &new.1);
    assert!(world.done(&PULL).contains("policy acme 2 is in force"));
    // An older one, another's signature, other bytes under a digest, and what is no bundle at all.
    holds(&old.0, &old.1);
    world.refused(&PULL, "older ones are refused");
    holds(&new.0, &old.1);
    world.refused(&PULL, "none of the keys");
    holds(&new.0, &new.1);
    server.answers(&format!("/v2/p/blobs/sha256:{}", digest(&new.0)), "200 OK", "", &old.0);
    world.refused(&PULL, "has another digest");
    for (text, why) in [
        ("<html>".to_owned(), "it is no manifest"),
        ("{}".to_owned(), "it has no layer"),
        (manifest.to_string().replace("sha256:", "md5:"), "none of SHA-256"),
        (manifest.to_string().replace("sha256:", "sha256:../"), "none of SHA-256"),
        (" ".repeat(1 << 20), "manifests/2"),
    ] {
        server.answers("/v2/p/manifests/2", "200 OK", "", text.as_bytes());
        world.refused(&PULL, why);
    }
    // It wants to be shown the password where anybody can see it, or something that nobody has.
    for (challenge, why) in [
        ("Bearer realm=\"http://localhost:1/token\"", "no https:// address for a token"),
        ("Bearer", "no https:// address for a token"),
        ("Negotiate", "what nobody has here (Negotiate)"),
    ] {
        server.answers(
            "/v2/p/manifests/2",
            "401 Unauthorized",
            &format!("WWW-Authenticate: {challenge}\r\n"),
            b"",
        );
        world.refused(&PULL, why);
    }
    server.answers("/v2/p/manifests/2", "302 Found", "Location: http://localhost:1/x\r\n", b"");
    world.refused(&PULL, "manifests/2");
    assert_eq!(world.shown()["in_force"], true);
}
