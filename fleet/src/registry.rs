//! Bundles in a registry of images, as the distribution specification of the Open Container Initiative has it: a manifest with two layers, the
//! bundle and its signature.

use std::path::Path;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lazaret::domain::escape;
use lazaret::host::brought::digest;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{HeaderMap, Method, Request, Response, Uri};
use ureq::{Agent, Body};

use crate::settings::password;
use crate::{bundle, signature};

/// How an address of a registry begins.
pub const SCHEME: &str = "oci://";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const ARTIFACT: &str = "application/vnd.lazaret.policy.v1";
const BUNDLE: &str = "application/vnd.lazaret.policy.v1+json";
const SIGNATURE: &str = "application/vnd.lazaret.policy.signature.v1+minisign";
/// What a manifest without a configuration has for one.
const EMPTY: (&str, &[u8]) = ("application/vnd.oci.empty.v1+json", b"{}");
/// Longest manifest, and longest answer of a token's server, in bytes.
const MAX: u64 = 256 * 1024;

/// Where in a registry something lies: `oci://HOST/NAME:TAG`, or `…@sha256:DIGEST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    host: String,
    name: String,
    /// A tag, or a digest.
    reference: String,
}

impl Image {
    pub fn parse(url: &str) -> Result<Image> {
        let form = || {
            format!("{}: write it as {SCHEME}HOST/NAME:TAG or {SCHEME}HOST/NAME@sha256:DIGEST", escape(url))
        };
        let (host, path) =
            url.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).with_context(form)?;
        let (name, reference) = match path.split_once('@') {
            Some((name, digest)) => (name, digest),
            None => path.split_once(':').with_context(form)?,
        };
        let is_host =
            !host.is_empty() && host.bytes().all(|c| c.is_ascii_alphanumeric() || b".-:[]".contains(&c));
        let part = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-".contains(&c);
        let is_part = |text: &str| {
            text.bytes().all(part) && text.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric())
        };
        let is_digest = reference.strip_prefix("sha256:").is_some_and(is_hex);
        let is_tag = (1..=128).contains(&reference.len())
            && reference.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
        let is_reference = if path.contains('@') { is_digest } else { is_tag };
        if !is_host || name.len() > 255 || !name.split('/').all(is_part) || !is_reference {
            bail!("{}", form());
        }
        Ok(Image { host: host.to_owned(), name: name.to_owned(), reference: reference.to_owned() })
    }

    fn at(&self, what: &str) -> String {
        format!("https://{}/v2/{}/{what}", self.host, self.name)
    }
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// Who asks a registry.
#[derive(Debug, Clone, Default)]
pub struct Credentials(Option<(String, String)>);

impl Credentials {
    /// A name and a file with the password alone in it; both or none.
    pub fn of(username: Option<&str>, password_file: Option<&Path>) -> Result<Credentials> {
        match (username, password_file) {
            (None, None) => Ok(Credentials(None)),
            (Some(username), Some(path)) => Ok(Credentials(Some((username.to_owned(), password(path)?)))),
            _ => bail!("a name for a registry goes with a file of its password, and the other way about"),
        }
    }

    fn basic(&self) -> Option<String> {
        self.0
            .as_ref()
            .map(|(name, password)| format!("Basic {}", STANDARD.encode(format!("{name}:{password}"))))
    }
}

/// A registry, as one command uses it.
pub struct Registry<'r> {
    agent: &'r Agent,
    image: Image,
    credentials: Credentials,
    /// What it wants to be shown, once it has said so.
    authorization: Option<String>,
}

/// What was fetched.
pub enum Fetched {
    NotModified,
    New { bundle: Vec<u8>, signature: String, etag: Option<String> },
}

impl<'r> Registry<'r> {
    pub fn new(agent: &'r Agent, image: Image, credentials: Credentials) -> Registry<'r> {
        Registry { agent, image, credentials, authorization: None }
    }

    /// The bundle and its signature, where the manifest is another than the one with that name (`ETag`).
    pub fn fetch(&mut self, known: &str) -> Result<Fetched> {
        let url = self.image.at(&format!("manifests/{}", self.image.reference));
        let mut headers = vec![("Accept", MANIFEST)];
        if !known.is_empty() {
            headers.push(("If-None-Match", known));
        }
        let mut answer = self.asked(&Method::GET, &url, &headers, &[])?;
        let etag = header(answer.headers(), "etag");
        match answer.status().as_u16() {
            200 => {}
            304 => return Ok(Fetched::NotModified),
            404 => bail!("{url}: the registry has nothing of that name and tag"),
            other => bail!("{url}: the registry answered {other}"),
        }
        let bytes = read(&mut answer, MAX, &url)?;
        if self.image.reference.strip_prefix("sha256:").is_some_and(|wanted| wanted != digest(&bytes)) {
            bail!("{url}: what the registry gave has another digest");
        }
        let manifest: Manifest =
            serde_json::from_slice(&bytes).with_context(|| format!("{url}: it is no manifest"))?;
        let bundle = self.layer(&manifest, BUNDLE, bundle::MAX)?;
        let signature = self.layer(&manifest, SIGNATURE, signature::MAX)?;
        let signature = String::from_utf8(signature)
            .with_context(|| format!("{url}: its signature is not UTF-8 text"))?;
        Ok(Fetched::New { bundle, signature, etag })
    }

    fn layer(&mut self, manifest: &Manifest, kind: &str, max: u64) -> Result<Vec<u8>> {
        let found = manifest.layers.iter().find(|layer| layer.kind == kind);
        let Some(layer) = found else {
            bail!("{}: it is no bundle of lazaret-fleet: it has no layer {kind}", self.image.at("manifests"))
        };
        let Some(wanted) = layer.digest.strip_prefix("sha256:").filter(|hex| is_hex(hex)) else {
            bail!("{}: the digest of a layer is none of SHA-256", self.image.at("manifests"))
        };
        let url = self.image.at(&format!("blobs/sha256:{wanted}"));
        let mut answer = self.asked(&Method::GET, &url, &[], &[])?;
        if answer.status().as_u16() != 200 {
            bail!("{url}: the registry answered {}", answer.status().as_u16());
        }
        let bytes = read(&mut answer, max, &url)?;
        if digest(&bytes) != wanted {
            bail!("{url}: what the registry gave has another digest");
        }
        Ok(bytes)
    }

    /// Puts a bundle and its signature there, and says under which digest.
    pub fn push(&mut self, title: &str, bundle: &[u8], signature: &[u8]) -> Result<String> {
        if self.image.reference.starts_with("sha256:") {
            bail!("a bundle is pushed under a tag; its digest is what comes of it");
        }
        let mut put = |kind: &str, bytes: &[u8]| self.blob(kind, bytes);
        let (config, layers) = (put(EMPTY.0, EMPTY.1)?, [put(BUNDLE, bundle)?, put(SIGNATURE, signature)?]);
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": ARTIFACT, "config": config, "layers": layers,
            "annotations": {"org.opencontainers.image.title": title},
        });
        let bytes = manifest.to_string().into_bytes();
        let url = self.image.at(&format!("manifests/{}", self.image.reference));
        let answer = self.asked(&Method::PUT, &url, &[("Content-Type", MANIFEST)], &bytes)?;
        done(&answer, 201, &url)?;
        Ok(format!("sha256:{}", digest(&bytes)))
    }

    /// Puts one blob there, if it is not; what a manifest says of it.
    fn blob(&mut self, kind: &str, bytes: &[u8]) -> Result<Value> {
        let digest = format!("sha256:{}", digest(bytes));
        let descriptor = json!({"mediaType": kind, "digest": digest, "size": bytes.len()});
        let there = self.image.at(&format!("blobs/{digest}"));
        if self.asked(&Method::HEAD, &there, &[], &[])?.status().as_u16() == 200 {
            return Ok(descriptor);
        }
        let url = self.image.at("blobs/uploads/");
        let answer = self.asked(&Method::POST, &url, &[], &[])?;
        done(&answer, 202, &url)?;
        let Some(place) = header(answer.headers(), "location") else {
            bail!("{url}: the registry does not say where to put it")
        };
        let place =
            if place.starts_with('/') { format!("https://{}{place}", self.image.host) } else { place };
        // What is shown to one registry is shown to no other.
        let same = place.parse::<Uri>().ok().is_some_and(|to| {
            to.authority().is_some_and(|to| to.as_str().eq_ignore_ascii_case(&self.image.host))
        });
        if !same || !place.starts_with("https://") {
            bail!("{url}: the registry wants it somewhere else: {}", escape(&place));
        }
        let place = format!("{place}{}digest={digest}", if place.contains('?') { '&' } else { '?' });
        let answer =
            self.asked(&Method::PUT, &place, &[("Content-Type", "application/octet-stream")], bytes)?;
        done(&answer, 201, &url)?;
        Ok(descriptor)
    }

    /// One request; where the registry wants to know who asks, it is told, once.
    fn asked(
        &mut self,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response<Body>> {
        let answer = self.once(method, url, headers, body)?;
        if answer.status().as_u16() != 401 {
            return Ok(answer);
        }
        let wanted = header(answer.headers(), "www-authenticate").unwrap_or_default();
        self.authorization = Some(self.authorized(&wanted).with_context(|| url.to_owned())?);
        let answer = self.once(method, url, headers, body)?;
        if answer.status().as_u16() == 401 {
            bail!(
                "{url}: the registry does not let {} do that",
                if self.credentials.0.is_some() { "this user" } else { "anybody" }
            );
        }
        Ok(answer)
    }

    fn once(
        &self,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response<Body>> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in
            headers.iter().copied().chain(self.authorization.as_deref().map(|value| ("Authorization", value)))
        {
            request = request.header(name, value);
        }
        let answer = if *method == Method::GET || *method == Method::HEAD {
            self.agent.run(request.body(()).with_context(|| url.to_owned())?)
        } else {
            self.agent.run(request.body(body).with_context(|| url.to_owned())?)
        };
        answer.with_context(|| url.to_owned())
    }

    /// What to show a registry that asks for it so.
    fn authorized(&self, wanted: &str) -> Result<String> {
        let (kind, rest) = wanted.split_once(' ').unwrap_or((wanted, ""));
        if kind.eq_ignore_ascii_case("basic") {
            return self.credentials.basic().context("the registry wants a name and a password: set policy.username and policy.password_file, or give --username and --password-file");
        }
        if !kind.eq_ignore_ascii_case("bearer") {
            bail!("the registry wants to be shown what nobody has here ({})", escape(kind));
        }
        let Some(realm) = said(rest, "realm").filter(|realm| realm.starts_with("https://")) else {
            bail!("the registry names no https:// address for a token");
        };
        let mut request = self.agent.get(&realm);
        for name in ["service", "scope"] {
            if let Some(value) = said(rest, name) {
                request = request.query(name, value);
            }
        }
        if let Some(basic) = self.credentials.basic() {
            request = request.header("Authorization", basic);
        }
        let mut answer = request.call().with_context(|| realm.clone())?;
        done(&answer, 200, &realm)?;
        let token: Token = serde_json::from_slice(&read(&mut answer, MAX, &realm)?)
            .with_context(|| format!("{realm}: its answer is no token"))?;
        let token =
            token.token.or(token.access_token).filter(|token| token.bytes().all(|c| c.is_ascii_graphic()));
        Ok(format!("Bearer {}", token.with_context(|| format!("{realm}: its answer is no token"))?))
    }
}

#[derive(Debug, Deserialize)]
struct Manifest {
    #[serde(default)]
    layers: Vec<Layer>,
}

#[derive(Debug, Deserialize)]
struct Layer {
    #[serde(rename = "mediaType")]
    kind: String,
    digest: String,
}

#[derive(Debug, Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// A parameter of a challenge (`realm="…",service="…"`).
fn said(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    while let Some((key, value)) = rest.split_once("=\"") {
        let (value, after) = value.split_once('"')?;
        if key.trim_matches([',', ' ']).eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = after;
    }
    None
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn done(answer: &Response<Body>, wanted: u16, url: &str) -> Result<()> {
    match answer.status().as_u16() {
        status if status == wanted => Ok(()),
        other => bail!("{url}: the registry answered {other}"),
    }
}

fn read(answer: &mut Response<Body>, max: u64, url: &str) -> Result<Vec<u8>> {
    answer.body_mut().with_config().limit(max).read_to_vec().with_context(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_a_registry_or_none() {
        let image = |host: &str, name: &str, reference: &str| Image {
            host: host.to_owned(),
            name: name.to_owned(),
            reference: reference.to_owned(),
        };
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (url, is) in [
            ("oci://r.example/acme/policy:7", image("r.example", "acme/policy", "7")),
            ("oci://r.example:5000/policy:stable-1.2_x", image("r.example:5000", "policy", "stable-1.2_x")),
            (&format!("oci://r/p@{digest}"), image("r", "p", &digest)),
        ] {
            assert_eq!(Image::parse(url).unwrap(), is, "{url}");
        }
        for url in [
            "https://r/p:1",
            "oci://r",
            "oci://r/p",
            "oci:///p:1",
            "oci://u@r/p:1",
            "oci://r/P:1",
            "oci://r/p/../q:1",
            "oci://r//p:1",
            "oci://r/p:",
            "oci://r/p:a/b",
            "oci://r/p:a b",
            "oci://r/p@sha256:0a",
            "oci://r/p@7",
            "oci://r/p:7@sha256:00",
            "oci://r/p:?x=1",
        ] {
            assert!(Image::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_challenge_is_read_as_it_is_written() {
        let text = r#"realm="https://auth.example/token?x=1",service="r.example", scope="repository:acme/policy:pull,push""#;
        assert_eq!(said(text, "realm").unwrap(), "https://auth.example/token?x=1");
        assert_eq!(said(text, "scope").unwrap(), "repository:acme/policy:pull,push");
        assert_eq!(said(text, "error"), None);
        assert_eq!(said("realm=\"x", "realm"), None);
        assert_eq!(said("", "realm"), None);
    }
}
