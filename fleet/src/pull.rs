//! A bundle is fetched over HTTPS, as two files or out of a registry, and put in force. Who runs the server can keep a newer bundle from a machine, and nothing more: what it
//! sends is looked at as a file is.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::apply;
use crate::bundle;
use crate::place::{self, Place};
use crate::registry::{Credentials, Fetched as Bundle, Image, Registry, SCHEME};
use crate::settings::{self, SETTINGS};
use crate::signature;

/// What was fetched last, beside the managed configuration.
const FETCHED: &str = "policy.fetched.json";
/// Longest time for one of the two files.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most redirections that are followed.
const FOLLOWED: u32 = 3;
/// Longest file of certificates, in bytes.
const MAX_CERTIFICATES: u64 = 1 << 20;

/// How long what a server calls a bundle is believed: another server at its place may call another one so.
const BELIEVED: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest name of that kind.
const ETAG: usize = 128;

/// What the server calls the bundle that was fetched last.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Fetched {
    url: String,
    etag: String,
    /// As RFC 3339 has it.
    at: String,
}

impl Fetched {
    /// What is asked with: nothing where it is of another address, old or from the future.
    fn known(self, url: &str, now: SystemTime) -> String {
        let at = humantime::parse_rfc3339(&self.at).ok();
        let age = at.and_then(|at| now.duration_since(at).ok());
        let counts = self.url == url && age.is_some_and(|age| age < BELIEVED) && is_tag(&self.etag);
        if counts { self.etag } else { String::new() }
    }
}

/// The form that RFC 9110 gives it.
fn is_tag(etag: &str) -> bool {
    let inner = etag.strip_prefix("W/").unwrap_or(etag);
    let inner = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    etag.len() <= ETAG
        && inner.is_some_and(|inner| inner.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e)))
}

/// What is pushed, and where to.
#[derive(Debug, clap::Args)]
pub struct Push {
    /// The bundle; its signature is BUNDLE.minisig
    bundle: PathBuf,
    /// The registry, the name and the tag (`oci://HOST/NAME:TAG`)
    #[arg(value_name = "OCI")]
    to: String,
    /// Certificates that the registry's is signed by, as PEM; without it, the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Who pushes
    #[arg(long, value_name = "NAME", requires = "password_file")]
    username: Option<String>,
    /// A file with the password, or a token, alone in it
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
}

/// What a server answered.
enum Answer {
    NotModified,
    Sent { bytes: Vec<u8>, etag: Option<String> },
}

pub fn run(dir: &Path, replace: bool, out: &mut dyn Write) -> Result<()> {
    let place = Place(dir);
    let settings = settings::wanted(&dir.join(SETTINGS))?;
    let Some(url) = settings.url.as_deref() else {
        bail!(
            "{}: policy.url is not set, so nothing can be fetched; apply a file, or set it",
            dir.join(SETTINGS).display()
        );
    };
    let image = url.starts_with(SCHEME).then(|| Image::parse(url)).transpose()?;
    if image.is_none() && !url.get(..8).is_some_and(|front| front.eq_ignore_ascii_case("https://")) {
        bail!("{url}: only https:// is fetched from, and a registry ({SCHEME})");
    }
    let agent = agent(settings.ca.as_deref(), true, FOLLOWED)?;
    // A hint, no more: without it, or where it is damaged, the bundle is fetched once more.
    let known = place::read(&dir.join(FETCHED), bundle::MAX).ok().flatten();
    let known: Fetched = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let now = SystemTime::now();
    let known = if place.is_in_force()? { known.known(url, now) } else { String::new() };
    let beside = match url.split_once('?') {
        _ if image.is_some() => format!("{url}, its signature"),
        Some((path, query)) => format!("{path}.minisig?{query}"),
        None => format!("{url}.minisig"),
    };
    let fetched = match image {
        Some(image) => {
            let credentials =
                Credentials::of(settings.username.as_deref(), settings.password_file.as_deref())?;
            Registry::new(&agent, image, credentials).fetch(&known)?
        }
        None => two_files(&agent, (url, &beside), &known)?,
    };
    let (bytes, signed, etag) = match fetched {
        Bundle::NotModified if known.is_empty() => {
            bail!("{url}: the server says that it is not modified, and was not asked that")
        }
        Bundle::NotModified => {
            writeln!(out, "{url}: nothing new")?;
            return Ok(());
        }
        Bundle::New { bundle, signature, etag } => (bundle, signature, etag),
    };
    let bundle = signature::checked(&bytes, (&signed, &beside), &settings.keys, url);
    let bundle = bundle.with_context(|| apply::taking(dir))?;
    apply::take(&bundle, (url, dir), &settings.name, replace, out)?;
    let at = humantime::format_rfc3339_seconds(now).to_string();
    let fetched =
        Fetched { url: url.to_owned(), etag: etag.filter(|etag| is_tag(etag)).unwrap_or_default(), at };
    let told = serde_json::to_string(&fetched)? + "\n";
    if let Err(error) = place.write(FETCHED, told.as_bytes()) {
        writeln!(out, "note: it is fetched anew the next time: {error:#}")?;
    }
    Ok(())
}

/// A bundle and its signature, which lies beside it.
fn two_files(agent: &Agent, (url, beside): (&str, &str), known: &str) -> Result<Bundle> {
    let (bundle, etag) = match get(agent, url, known, bundle::MAX)? {
        Answer::NotModified => return Ok(Bundle::NotModified),
        Answer::Sent { bytes, etag } => (bytes, etag),
    };
    let Answer::Sent { bytes: signed, .. } = get(agent, beside, "", signature::MAX)? else {
        bail!("{beside}: the server says that it is not modified, and was not asked that");
    };
    let signature = String::from_utf8(signed).with_context(|| format!("{beside}: it is not UTF-8 text"))?;
    Ok(Bundle::New { bundle, signature, etag })
}

/// Puts a bundle that is signed into a registry.
pub fn push(push: &Push, out: &mut dyn Write) -> Result<()> {
    let image = Image::parse(&push.to)?;
    let (file, beside) = (push.bundle.display(), signature::beside(&push.bundle));
    let whole = place::needed(&push.bundle, bundle::MAX)?;
    let title = bundle::Bundle::read(&whole).with_context(|| file.to_string())?.title();
    let signed = place::needed(&beside, signature::MAX)
        .context("a bundle is pushed with its signature; `lazaret-fleet policy sign` makes one")?;
    let agent = agent(push.ca.as_deref(), true, FOLLOWED)?;
    let credentials = Credentials::of(push.username.as_deref(), push.password_file.as_deref())?;
    let digest = Registry::new(&agent, image, credentials).push(&title, &whole, &signed)?;
    writeln!(out, "{}: {title} lies there, {digest}", push.to)?;
    Ok(())
}

/// A client that trusts the certificates in a file, or the public ones. Without HTTPS it goes by no proxy, which would read along; it follows
/// so many redirections.
pub fn agent(ca: Option<&Path>, https_only: bool, redirections: u32) -> Result<Agent> {
    let mut tls = TlsConfig::builder();
    if let Some(path) = ca {
        let named = || path.display().to_string();
        let pem = place::needed(path, MAX_CERTIFICATES)?;
        let mut certificates = Vec::new();
        for item in parse_pem(&pem) {
            if let PemItem::Certificate(certificate) = item.with_context(named)? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            bail!("{}: there is no certificate in it", named());
        }
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
    }
    let config = Agent::config_builder()
        .https_only(https_only)
        .http_status_as_error(false)
        .max_redirects(redirections)
        .timeout_global(Some(PATIENCE))
        .user_agent(concat!("lazaret-fleet/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build());
    let config = if https_only { config } else { config.proxy(None) };
    Ok(config.build().into())
}

/// A file of at most so many bytes.
fn get(agent: &Agent, url: &str, etag: &str, max: u64) -> Result<Answer> {
    let mut request = agent.get(url);
    if !etag.is_empty() {
        request = request.header("If-None-Match", etag);
    }
    let mut response = request.call().with_context(|| url.to_owned())?;
    match response.status().as_u16() {
        200 => {}
        304 => return Ok(Answer::NotModified),
        other => bail!("{url}: the server answered {other}"),
    }
    let etag = response.headers().get("etag").and_then(|etag| etag.to_str().ok()).map(str::to_owned);
    let read = response.body_mut().with_config().limit(max).read_to_vec();
    Ok(Answer::Sent { bytes: read.with_context(|| url.to_owned())?, etag })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_name_for_a_bundle_is_believed_for_a_day() {
        let now = SystemTime::now();
        let fetched = |etag: &str, age_s: u64| Fetched {
            url: "u".to_owned(),
            etag: etag.to_owned(),
            at: humantime::format_rfc3339_seconds(now - Duration::from_secs(age_s)).to_string(),
        };
        assert_eq!(fetched("\"a\"", 60).known("u", now), "\"a\"");
        assert_eq!(fetched("W/\"a\"", 60).known("u", now), "W/\"a\"");
        assert_eq!(fetched("\"a\"", 60).known("other", now), "");
        assert_eq!(fetched("\"a\"", 90_000).known("u", now), "");
        assert_eq!(fetched("\"a\"", 60).known("u", now - Duration::from_secs(3_600)), "");
        for no in ["*", "a", "\"a", "\"a b\"", "\"a\"b\"", &format!("\"{}\"", "a".repeat(200))] {
            assert_eq!(fetched(no, 60).known("u", now), "", "{no}");
        }
    }
}
