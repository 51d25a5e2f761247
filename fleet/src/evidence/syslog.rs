//! Syslog (RFC 5424) over TLS, each message behind its length (RFC 5425). It has no answers, so each batch is a connection of its own, and
//! counts as taken when the receiver has read to its end and says that it closes; one that is killed before does not say so.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lazaret::domain::{LogLevel, escape};
use lazaret::host::audit::Line;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::http::Uri;

use super::{Format, Origin, level};
use crate::settings::Evidence;
use crate::tls;

/// Where syslog over TLS is listened for when the address names no port.
const PORT: u16 = 6514;
/// Facility 13: the log of an audit.
const FACILITY: u8 = 13;
/// What the parameters stand under: the number is the one that is nobody's, and kept for examples.
const ELEMENT: &str = "lazaret@32473";
/// Longest time for a connection, for one step of writing, and for the receiver to read all of it.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest time for a whole batch.
const WHOLE: Duration = Duration::from_secs(60);
/// Shortest and longest time in which a connection that was broken off shows, after its end: twice as long as it took to come about.
const SETTLES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// A receiver of syslog.
#[derive(Debug)]
pub struct Syslog {
    url: String,
    host: String,
    port: u16,
    /// None = plain TCP.
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    manner: Manner,
}

/// How a receiver closes, by what it did: one that is killed does not say that it closes, and neither do some that are well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Unknown,
    /// It did not say it, once.
    Suspect,
    /// It never says it.
    Mute,
    /// It says it, as the protocol has it.
    Says,
}

impl Manner {
    /// After one more connection.
    fn and(self, said: bool) -> Manner {
        match (self, said) {
            (_, true) | (Manner::Says, false) => Manner::Says,
            (Manner::Unknown, false) => Manner::Suspect,
            (Manner::Suspect | Manner::Mute, false) => Manner::Mute,
        }
    }
}

impl Syslog {
    /// The receiver that the settings name; none = their address is one of HTTP.
    pub fn new(evidence: &Evidence) -> Result<Option<Syslog>> {
        let url = &evidence.url;
        let is_tls = url.starts_with("syslog+tls://");
        if !is_tls && !url.starts_with("syslog+tcp://") {
            return Ok(None);
        }
        let uri: Uri = url.parse().with_context(|| format!("evidence.url: {url}"))?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let (Some(authority), "" | "/", None) = (authority, uri.path(), uri.query()) else {
            bail!("evidence.url: {url}: behind syslog+tls:// stand a host and a port, and nothing else");
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = if is_tls {
            let name = ServerName::try_from(host.clone()).with_context(|| format!("evidence.url: {url}"))?;
            Some((Arc::new(tls::trusting(evidence.ca.as_deref())?), name))
        } else {
            None
        };
        let port = authority.port_u16().unwrap_or(PORT);
        Ok(Some(Syslog { url: url.clone(), host, port, tls, manner: Manner::Unknown }))
    }

    /// A batch, on a connection of its own.
    pub fn deliver(&mut self, body: &[u8]) -> Result<()> {
        let begun = Instant::now();
        let socket = self.connected().with_context(|| self.url.clone())?;
        let settles = (begun.elapsed() * 2).clamp(SETTLES.0, SETTLES.1);
        let said = self.hand_over(socket, body, settles).with_context(|| self.url.clone())?;
        let before = self.manner;
        self.manner = before.and(said);
        match self.manner {
            _ if said => {}
            Manner::Mute if before == Manner::Mute => {}
            Manner::Mute => crate::complain(&format!(
                "{}: the receiver ends connections without close_notify, so what it did not read before it was killed is not known",
                self.url
            )),
            _ => bail!("{}: the connection ended before the receiver said that it has all", self.url),
        }
        Ok(())
    }

    fn connected(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(socket) => {
                    socket.set_read_timeout(Some(PATIENCE))?;
                    socket.set_write_timeout(Some(PATIENCE))?;
                    return Ok(socket);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Whether the receiver said that it closes.
    fn hand_over(&self, socket: TcpStream, body: &[u8], settles: Duration) -> io::Result<bool> {
        let raw = socket.try_clone()?;
        let said = match &self.tls {
            Some((config, name)) => {
                let connection = ClientConnection::new(Arc::clone(config), name.clone());
                let connection = connection.map_err(io::Error::other)?;
                let mut stream = StreamOwned::new(connection, Bounded::new(socket));
                read_by_the_other(&mut stream, &raw, body, |stream| stream.conn.send_close_notify())?
            }
            None => {
                // There is no more to say than the end.
                read_by_the_other(&mut Bounded::new(socket), &raw, body, |_| {})?
            }
        };
        // What comes for one who is not there any more is answered with a reset, a way there and back later.
        std::thread::sleep(settles);
        raw.take_error()?.map_or(Ok(said), Err)
    }
}

/// A connection for one batch, which has to be done in [`WHOLE`], however little at a time the other end reads or says.
struct Bounded {
    socket: TcpStream,
    until: Instant,
}

impl Bounded {
    fn new(socket: TcpStream) -> Bounded {
        Bounded { socket, until: Instant::now() + WHOLE }
    }

    /// What is left of the time, for one step.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the receiver takes too long for one batch"));
        }
        Ok(Some(left.min(PATIENCE)))
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(buffer)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Writes, says that this is all, and waits until the other end has read it and closed; whether it said so.
fn read_by_the_other<S: Read + Write>(
    stream: &mut S,
    socket: &TcpStream,
    body: &[u8],
    end: impl FnOnce(&mut S),
) -> io::Result<bool> {
    stream.write_all(body)?;
    stream.flush()?;
    socket.set_nonblocking(true)?;
    let is_open = match stream.read(&mut [0; 64]) {
        Ok(read) => read > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    };
    socket.set_nonblocking(false)?;
    if !is_open {
        return Err(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "the receiver closed before it had all",
        ));
    }
    end(stream);
    stream.flush()?;
    socket.shutdown(Shutdown::Write)?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match stream.read(&mut [0; 1024]) {
            Ok(0) => return Ok(true),
            // It has nothing to say.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "the receiver did not close after it was told that this is all",
    ))
}

/// These events as messages, each behind its length in bytes.
pub fn frames(origin: &Origin, format: Format, lines: &[&Line]) -> Vec<u8> {
    let mut frames = Vec::new();
    for line in lines {
        let message = message(line, origin, format);
        frames.extend_from_slice(format!("{} ", message.len()).as_bytes());
        frames.extend_from_slice(message.as_bytes());
    }
    frames
}

fn message(line: &Line, origin: &Origin, format: Format) -> String {
    let priority = FACILITY * 8 + severity(&line.event);
    let time = humantime::parse_rfc3339(&line.time).ok();
    let time = time.map_or("-".to_owned(), |time| humantime::format_rfc3339_millis(time).to_string());
    let (host, kind) = (field(&origin.host, 255), field(&line.event, 32));
    let (about, body) = (parameters(line, origin), format.text(line, origin));
    format!("<{priority}>1 {time} {host} lazaret - {kind} {about} {body}")
}

fn severity(event: &str) -> u8 {
    match level(event) {
        LogLevel::Debug => 7,
        LogLevel::Info => 6,
        LogLevel::Warn => 4,
        LogLevel::Error => 3,
    }
}

/// A field of a message's head: visible ASCII, so long at most.
fn field(text: &str, most: usize) -> String {
    let text: String = text.chars().filter(char::is_ascii_graphic).take(most).collect();
    if text.is_empty() { "-".to_owned() } else { text }
}

fn parameters(line: &Line, origin: &Origin) -> String {
    let verdict = line.told().map_or("", |verdict| verdict.name());
    let mut told = vec![
        ("id", line.id.as_str()),
        ("machine", &origin.machine),
        ("user", &origin.user),
        ("session", &line.session),
        ("client", &line.client),
        ("agent", &line.agent),
        ("tool", &line.tool),
        ("verdict", verdict),
        ("unverified", line.wrong.map_or("", |wrong| wrong.name())),
    ];
    told.extend(line.rules.iter().map(|rule| ("rule", rule.as_str())));
    let mut element = format!("[{ELEMENT}");
    for (name, value) in told.into_iter().filter(|(_, value)| !value.is_empty()) {
        let mut quoted = String::new();
        for c in escape(value).chars() {
            if matches!(c, '"' | '\\' | ']') {
                quoted.push('\\');
            }
            quoted.push(c);
        }
        let _written = write!(element, " {name}=\"{quoted}\"");
    }
    element + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_once_said_that_it_closes_is_held_to_it() {
        let after = |said: &[bool]| said.iter().fold(Manner::Unknown, |manner, said| manner.and(*said));
        assert_eq!(after(&[false]), Manner::Suspect);
        assert_eq!(after(&[false, false, false]), Manner::Mute);
        assert_eq!(after(&[false, false, true, false, false]), Manner::Says);
    }

    #[test]
    fn a_value_does_not_end_its_quotes() {
        let origin = Origin {
            machine: "m".to_owned(),
            host: "h o\u{1b}st".to_owned(),
            user: "0".to_owned(),
            managed: "none".into(),
        };
        let line = Line {
            id: "i".to_owned(),
            event: "e vent".to_owned(),
            session: "a\"]\\\n".to_owned(),
            text: "{}".to_owned(),
            ..Line::default()
        };
        assert_eq!(
            message(&line, &origin, Format::Lazaret),
            "<107>1 - host lazaret - event [lazaret@32473 id=\"i\" machine=\"m\" user=\"0\" session=\"a\\\"\\]\\\\\\\\n\"] {}"
        );
    }
}
