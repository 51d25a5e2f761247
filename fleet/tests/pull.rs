//! A bundle is fetched from a server with a certificate of the tests' own; a hostile server loosens nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod machine;

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use machine::{LOOSE, STRICT, World};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What is answered for a path: status line, headers and body.
type Files = Arc<Mutex<HashMap<String, (String, String, Vec<u8>)>>>;

/// A server on loopback that ends with the process.
struct Server {
    port: u16,
    files: Files,
    /// The heads of all requests.
    asked: Arc<Mutex<Vec<String>>>,
    certificate: String,
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
        Server { port, files, asked, certificate: made.cert.pem() }
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
