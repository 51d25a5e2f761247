//! What an administrator wrote about the fleet: which policy a machine takes, and where what machines share is kept.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lazaret::domain::escape;
use serde::Deserialize;
use ureq::http::Uri;

use crate::bundle;
use crate::evidence::Format;
use crate::place::{needed_text, read};

/// The file, beside the managed configuration.
pub const SETTINGS: &str = "fleet.toml";
/// Longest file, in bytes.
pub const MAX_SETTINGS: u64 = 64 * 1024;
/// Longest password, in bytes.
const MAX_PASSWORD: u64 = 4096;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    policy: Option<Wanted>,
    state: Option<State>,
    evidence: Option<Evidence>,
    #[serde(default)]
    machines: Vec<Machine>,
}

/// A machine that review sessions are shared with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    /// Its public key, as `lazaret-fleet review key` prints it there.
    pub key: String,
}

/// Which bundles a machine takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pub name: String,
    /// Public keys of minisign; a bundle is signed by one of them.
    pub keys: Vec<String>,
    /// Where bundles are fetched from: over HTTPS, with the signature at the same address and `.minisig` behind it, or out of a registry of
    /// images (`oci://HOST/NAME:TAG`).
    pub url: Option<String>,
    /// Who asks a registry, and a file with the password alone in it.
    pub username: Option<String>,
    pub password_file: Option<PathBuf>,
    /// Certificates that the server's is signed by, as PEM; none = the public ones.
    pub ca: Option<PathBuf>,
}

/// Where what machines share is kept.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// `redis://`, `rediss://`, `redis-sentinel://`, `redis-cluster://` and so on.
    pub url: String,
    pub username: Option<String>,
    /// A file with the password alone in it.
    pub password_file: Option<PathBuf>,
    /// Certificates that the server's is signed by, as PEM; none = those of the system.
    pub ca: Option<PathBuf>,
    /// On how many replicas a call has to be counted before it runs.
    #[serde(default)]
    pub replicas: u8,
    /// What keys begin with: fleets that share a server are told apart by it.
    #[serde(default = "prefix")]
    pub prefix: String,
}

/// Where events are sent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Where a collector of OpenTelemetry takes logs over HTTP (`https://…/v1/logs`), or one of syslog (`syslog+tls://…:6514`); without
    /// TLS on this machine alone (`http://`, `syslog+tcp://`).
    pub url: String,
    /// A file with a token alone in it, which is shown as `Authorization: Bearer`.
    pub token_file: Option<PathBuf>,
    /// Certificates that the collector's is signed by, as PEM; none = the public ones.
    pub ca: Option<PathBuf>,
    /// What the body of a record is.
    #[serde(default)]
    pub format: Format,
    /// Where a collector of OpenTelemetry takes metrics over HTTP (`https://…/v1/metrics`); plain HTTP on this machine alone.
    pub metrics_url: Option<String>,
    /// The same for traces (`https://…/v1/traces`).
    pub traces_url: Option<String>,
    /// How often metrics are sent.
    #[serde(default = "metrics_seconds")]
    pub metrics_seconds: u16,
}

fn metrics_seconds() -> u16 {
    60
}

fn prefix() -> String {
    "lazaret".to_owned()
}

/// Which bundles are taken, by that file.
pub fn wanted(path: &Path) -> Result<Wanted> {
    let file = path.display();
    let example = "it names the policy and the keys that this machine takes:\n\n[policy]\nname = \"acme\"\nkeys = [\"RW…\"]";
    let Some(settings) = settings(path)? else { bail!("{file}: there is no such file; {example}") };
    let Some(mut policy) = settings.policy else { bail!("{file}: it has no table [policy]; {example}") };
    beside(path, [&mut policy.password_file, &mut policy.ca]);
    bundle::named(&policy.name).with_context(|| file.to_string())?;
    if policy.keys.is_empty() {
        bail!("{file}: policy.keys is empty, so no bundle can be taken");
    }
    Ok(policy)
}

/// Where what is shared is kept, by that file.
pub fn state(path: &Path) -> Result<State> {
    let file = path.display();
    let example =
        "it names the store that machines share:\n\n[state]\nurl = \"rediss://redis.acme.example:6379\"";
    let Some(settings) = settings(path)? else { bail!("{file}: there is no such file; {example}") };
    let Some(mut state) = settings.state else { bail!("{file}: it has no table [state]; {example}") };
    beside(path, [&mut state.password_file, &mut state.ca]);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if state.prefix.is_empty() || state.prefix.len() > 64 || !state.prefix.bytes().all(plain) {
        bail!("{file}: state.prefix is not of 1 to 64 letters, digits, `-`, `_` and `.`");
    }
    Ok(state)
}

/// Where events are sent, by that file.
pub fn evidence(path: &Path) -> Result<Evidence> {
    let file = path.display();
    let example =
        "it names the collector:\n\n[evidence]\nurl = \"https://collector.acme.example:4318/v1/logs\"";
    let Some(settings) = settings(path)? else { bail!("{file}: there is no such file; {example}") };
    let Some(mut evidence) = settings.evidence else {
        bail!("{file}: it has no table [evidence]; {example}")
    };
    let url = &evidence.url;
    let is_collector =
        |url: &str| is_safe(url, "https://", "http://") || is_safe(url, "grpc+tls://", "grpc+tcp://");
    if !is_collector(url) && !is_safe(url, "syslog+tls://", "syslog+tcp://") {
        bail!(
            "{file}: evidence.url is neither https://, grpc+tls:// nor syslog+tls://, nor http://, grpc+tcp:// or syslog+tcp:// on this machine with a port; a name or password does not stand in it (token_file)"
        );
    }
    let more = [("metrics_url", &evidence.metrics_url), ("traces_url", &evidence.traces_url)];
    for (key, url) in more {
        if url.as_ref().is_some_and(|url| !is_collector(url)) {
            bail!(
                "{file}: evidence.{key} is neither https:// nor grpc+tls://, nor http:// or grpc+tcp:// on this machine with a port; a name or password does not stand in it"
            );
        }
    }
    let is_shown = more.iter().any(|(_, url)| url.is_some());
    if url.starts_with("syslog+") && evidence.token_file.is_some() && !is_shown {
        bail!("{file}: evidence.token_file: syslog has no tokens; take it out");
    }
    if evidence.metrics_seconds == 0 {
        bail!("{file}: evidence.metrics_seconds is 0; it is 1 at least");
    }
    beside(path, [&mut evidence.token_file, &mut evidence.ca]);
    Ok(evidence)
}

/// Machines that review sessions are shared with, by that file. No two have one name or one key.
pub fn machines(path: &Path) -> Result<Vec<Machine>> {
    let file = path.display();
    let example = "it names the machines that share reviews:\n\n[[machines]]\nname = \"runner\"\nkey = \"…\"";
    let Some(settings) = settings(path)? else { bail!("{file}: there is no such file; {example}") };
    let machines = settings.machines;
    if machines.is_empty() {
        bail!("{file}: it has no table [[machines]]; {example}");
    }
    for (at, machine) in machines.iter().enumerate() {
        if machine.name.is_empty() || machine.name.len() > 64 {
            bail!("{file}: a name of [[machines]] is not of 1 to 64 bytes");
        }
        let before = machines.get(..at).unwrap_or_default();
        if before.iter().any(|other| other.name == machine.name || other.key == machine.key) {
            bail!("{file}: machine {} is there twice, by its name or its key", escape(&machine.name));
        }
    }
    Ok(machines)
}

/// Whether an address is one of TLS, or one without on this machine.
fn is_safe(url: &str, tls: &str, plain: &str) -> bool {
    let begins =
        |place: &str| ["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|local| place.starts_with(local));
    let authority = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
    // What stands before an `@` is a name to log in with, which would be repeated in each fault, and the host comes behind it.
    let Some(authority) = authority.filter(|place| !place.is_empty() && !place.contains('@')) else {
        return false;
    };
    url.starts_with(tls) || url.starts_with(plain) && begins(&authority)
}

/// A relative path begins where the settings lie: systemd hands a service copies of both in a directory of its own.
fn beside(settings: &Path, named: [&mut Option<PathBuf>; 2]) {
    let beside = settings.parent().unwrap_or(Path::new(""));
    for named in named.into_iter().flatten() {
        *named = beside.join(&*named);
    }
}

fn settings(path: &Path) -> Result<Option<Settings>> {
    let file = path.display();
    let Some(bytes) = read(path, MAX_SETTINGS)? else { return Ok(None) };
    only_ours(path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    only_ours(path)?;
    let text = String::from_utf8(bytes).with_context(|| format!("{file}: it is not UTF-8 text"))?;
    // Without the line itself, which may hold a password.
    toml::from_str(&text).map(Some).map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        anyhow::anyhow!("{file}:{}: {}", before.matches('\n').count() + 1, error.message())
    })
}

/// The password in a file of ours, without the end of its line.
pub fn password(path: &Path) -> Result<String> {
    only_ours(path)?;
    let text = needed_text(path, MAX_PASSWORD)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Nobody but root and who runs this may change it.
pub fn only_ours(path: &Path) -> Result<()> {
    let file = path.display();
    let meta = fs::metadata(path).with_context(|| file.to_string())?;
    if meta.mode() & 0o022 != 0 {
        bail!("{file}: others than its owner can write to it; chmod go-w {file}");
    }
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != 0 && meta.uid() != own {
        bail!("{file}: it belongs to user {}, who could change it; chown root {file}", meta.uid());
    }
    Ok(())
}
