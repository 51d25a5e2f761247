//! What tools carry away or fetch: secrets in texts that are sent, files behind addresses.

mod private;
mod tokens;

use crate::domain::{Action, EffectKind, SearchKind, Target, Tool, join, last_name};
use crate::rules::builtin::is_secret_name;
use crate::rules::builtin::secrets::spared::may_show_secrets;
use crate::rules::matcher::{Class, Found, Scene, Told, classify, host_of, inside, is_known};
use crate::rules::survey::{decode_base64, unescaped};
pub(super) use private::{private_address, private_secret};
pub(in crate::rules::builtin) use tokens::holds_database_password;
use tokens::holds_encoded;
pub(super) use tokens::holds_secret;

words!("builtin/tools/sends");

/// A password in an address that stands within another one, or lines of settings that a part of it is base64 of.
pub(super) fn carries_settings(url: &str) -> bool {
    let within = url.split("://").skip(2).any(|rest| {
        let authority = rest.split(['/', '?', '&']).next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| {
            user.split_once(':').is_some_and(|(name, password)| !name.is_empty() && password.len() > 3)
        })
    });
    let runs = url.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_')));
    let encoded = || {
        { runs }.filter(|run| run.len() >= 24).take(16).any(|run| {
            let bytes = decode_base64(run.get(..8192.min(run.len())).unwrap_or_default());
            std::str::from_utf8(&bytes).is_ok_and(|text| {
                text.lines().any(|line| {
                    line.split_once('=')
                        .is_some_and(|(name, value)| value.len() > 3 && is_secret_name(name.trim()))
                })
            })
        })
    };
    within || encoded()
}

/// A signed token of a session, in a query that is no page about such tokens.
fn carries_session(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query.match_indices("eyJ").take(4).any(|(at, _)| {
        let token = query.get(at..).unwrap_or_default();
        let token = token.split(['&', '#', ' ', ';']).next().unwrap_or_default();
        token.split('.').count() == 3
            && token.split('.').all(|part| part.len() >= 10)
            && token.contains(".eyJ")
    })
}

/// A secret in what a tool sends, or a file of secrets that it is to send.
pub(super) fn secret_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    if let Action::Fetch { url, .. } = &scene.view.call.action {
        let away = !is_known(&host_of(url), scene.view.policy) || url.contains("webhook");
        let spaced = unescaped(&url.replace('+', " "));
        let collected = || {
            let host = host_of(url);
            url.contains('?') && COLLECTORS.iter().any(|site| host.ends_with(site))
        };
        let accounts = spaced.contains("root:x:0:0:") || collected() || carries_session(&spaced);
        return if away
            && (accounts
                || holds_encoded(url)
                || holds_secret(&spaced)
                || carries_settings(url)
                || spaced != *url && (carries_settings(&spaced) || holds_database_password(&spaced)))
        {
            Found::yes(url)
        } else {
            Found::No
        };
    }
    if let (Tool::WebSearch, Action::Other { text, .. }) = (&scene.view.call.tool, &scene.view.call.action) {
        return if holds_secret(text) || holds_database_password(text) {
            Found::yes(text)
        } else {
            Found::No
        };
    }
    let Some(told) = scene.told() else { return Found::No };
    if !told.names(SENDING) || told.names(LOCAL) {
        return Found::No;
    }
    let home = scene.view.facts.places.home.as_deref();
    let file = |value: &str| {
        let path = match (value.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            _ if value.starts_with('/') => value.to_owned(),
            _ if value.starts_with('.') => join(scene.view.cwd, value),
            _ => return false,
        };
        let target = Target::Path { path, glob: false, recursive: true };
        classify(&target, EffectKind::FileRead, &scene.view).any(&[Class::Secret, Class::EnvFile])
    };
    // The words of a text about secrets are not sent as a file.
    let carries = |value: &String| value.len() < 4096 && !value.contains(char::is_whitespace) && file(value);
    let address = |value: &str| {
        value.len() < 4096
            && value.starts_with("http")
            && !is_known(&host_of(value), scene.view.policy)
            && carries_settings(value)
    };
    let spoken = told.names(TOLD_TO);
    let found = told.args.iter().any(|(_, value)| {
        holds_encoded(value) || carries(value) || address(value) || spoken && holds_database_password(value)
    });
    if found { Found::yes(told.text) } else { Found::No }
}

/// Schemes that let an address speak to a service that is none of the web's.
const ODD: &[&str] = &["gopher", "dict", "ldap", "netdoc"];

/// The path of an address that names a file.
fn file_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once(':')?;
    let path = rest.trim_start_matches("//");
    let path = path.strip_prefix("localhost").unwrap_or(path);
    scheme.eq_ignore_ascii_case("file").then(|| join("/", path))
}

/// A file of secrets behind an address, or an address in the protocol of another service.
pub(super) fn secret_fetched<'a>(scene: &Scene<'a>) -> Found<'a> {
    let odd = |url: &str| {
        let scheme = url.trim().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let secret = file_of(url).is_some_and(|path| {
            let target = Target::Path { path, glob: false, recursive: false };
            classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
        });
        secret || scheme.is_some_and(|scheme| ODD.contains(&scheme.as_str()))
    };
    fetched(scene, odd, |told| {
        opens(told) && told.args.iter().any(|(_, value)| value.len() < 4096 && odd(value))
    })
}

/// Whether a tool opens what an address names.
fn opens(told: &Told<'_>) -> bool {
    told.names(FETCHING) || told.names(&["open", "page", "url"])
}

/// A whole disk, or the memory of the machine.
pub(super) fn device_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    let raw = |path: &str| {
        if path.starts_with("/proc/") && path.ends_with("/mem") {
            return true;
        }
        let Some(name) = path.strip_prefix("/dev/") else { return false };
        let numbered =
            ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md"].iter().any(|kind| {
                name.strip_prefix(kind)
                    .is_some_and(|rest| rest.len() < 12 && rest.chars().all(|c| c.is_ascii_alphanumeric()))
            });
        numbered
            || ["disk/", "mapper/"].iter().any(|dir| name.starts_with(dir))
            || matches!(name, "mem" | "kmem" | "port" | "core")
    };
    match &scene.view.call.action {
        Action::Read { path } | Action::Search { path: Some(path), .. } if raw(path) => Found::yes(path),
        _ => Found::No,
    }
}

/// A file of the machine, outside the project, behind an address.
pub(super) fn file_fetched<'a>(scene: &Scene<'a>) -> Found<'a> {
    let view = &scene.view;
    let outside = |url: &str| {
        let Some((scheme, rest)) = url.trim().split_once(':') else { return false };
        if ["jar", "chrome", "view-source"].iter().any(|odd| scheme.eq_ignore_ascii_case(odd)) {
            return !scheme.eq_ignore_ascii_case("view-source") || rest.starts_with("file:");
        }
        let Some(path) = file_of(url) else { return false };
        let usual = view
            .facts
            .places
            .roots()
            .chain(["/tmp"])
            .chain(view.facts.places.temp.iter().map(String::as_str));
        ![view.cwd].into_iter().chain(usual).any(|place| inside(&path, place))
    };
    fetched(scene, outside, |told| {
        opens(told) && told.args.iter().any(|(_, value)| value.len() < 4096 && outside(value))
    })
}

/// A call that fetches an address that is meant, or a tool of a server that does.
fn fetched<'a>(
    scene: &Scene<'a>,
    url_is: impl Fn(&str) -> bool,
    tool_is: impl Fn(&Told<'a>) -> bool,
) -> Found<'a> {
    match &scene.view.call.action {
        Action::Fetch { url, .. } if url_is(url) => Found::yes(url),
        Action::Other { .. } => match scene.told() {
            Some(told) if tool_is(told) => Found::yes(told.text),
            Some(_) | None => Found::No,
        },
        _ => Found::No,
    }
}

/// A script for a page that sends away what the page keeps of its user.
pub(super) fn page_robbed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    let sends = ["fetch(", "sendBeacon(", "XMLHttpRequest", "new Image", "WebSocket(", ".src"];
    let found = told.args.iter().any(|(_, value)| {
        // `javascript:fetch('//host')`, where `// text` is a comment.
        let foreign = value.split("//").skip(1).filter(|rest| !rest.starts_with(' ')).any(|rest| {
            let host = host_of(rest);
            host.contains('.') && !is_known(&host, scene.view.policy)
        });
        foreign
            && PAGE_KEEPS.iter().any(|word| value.contains(word))
            && sends.iter().any(|word| value.contains(word))
    });
    if found { Found::yes(told.text) } else { Found::No }
}

/// A container that is given the whole machine.
pub(super) fn container_opened<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    let containers =
        told.names(&["docker", "podman", "container", "containers", "kubernetes", "k8s", "kubectl"]);
    let found = containers
        && told.args.iter().any(|(key, value)| {
            let mount = value.starts_with("/:") || value.contains("docker.sock") || value.contains(" /:/");
            let volume = matches!(key.as_str(), "volumes" | "binds" | "mounts" | "source") && value == "/";
            let host = matches!(key.as_str(), "pid" | "pidmode" | "ipcmode") && value == "host";
            mount || volume || host || key == "privileged" && value == "true"
        });
    if found { Found::yes(told.text) } else { Found::No }
}

/// A pattern for the files in which a project keeps its secrets.
fn environment(glob: &str) -> bool {
    let name = last_name(glob);
    name.strip_prefix(".env").is_some_and(|rest| {
        rest.is_empty()
            || rest.starts_with(['*', '.', '{'])
                && !["example", "sample", "template", "test", "dist"].iter().any(|word| rest.contains(word))
    })
}

/// A file that by its name holds a secret is read, or looked for all over the machine.
pub(super) fn named_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    let kept = |path: &str| {
        let lower = path.to_ascii_lowercase();
        let name = last_name(&lower);
        let made_up = ["test", "fixture", "example", "sample", "mock", "docs/", "node_modules", "schema"]
            .iter()
            .any(|word| lower.contains(word));
        let ends = [".p12", ".pfx", ".jks", ".kdbx", ".tfstate", ".keystore", "-key.pem", "_key.pem", ".ppk"]
            .iter()
            .any(|end| name.ends_with(end));
        let starts = (name.starts_with("service-account") || name.starts_with("serviceaccount"))
            && name.ends_with(".json")
            || name.starts_with("utc--");
        !made_up && (KEPT.contains(&name) || ends || starts || lower.contains("/.secrets/"))
    };
    let home = scene.view.facts.places.home.as_deref();
    match &scene.view.call.action {
        Action::Read { path } if kept(path) => Found::yes(path),
        // What is in a file of settings is shown as by reading it.
        Action::Search { glob: Some(glob), kind, pattern, .. }
            if environment(glob) && may_show_secrets(*kind, pattern) =>
        {
            Found::yes(glob)
        }
        Action::Search { pattern, path, kind: SearchKind::Glob, .. } => {
            let name = last_name(pattern);
            let sought = SOUGHT.iter().any(|word| name.to_ascii_lowercase().contains(word));
            let place = path.as_deref().unwrap_or_default().trim_end_matches('/');
            let wide = path.is_some()
                && (place.is_empty()
                    || home == Some(place)
                    || matches!(place, "/root" | "/home" | "/etc" | "~"))
                || pattern.starts_with("/**")
                || home.is_some_and(|home| {
                    pattern.strip_prefix(home).is_some_and(|rest| {
                        rest.starts_with("/**") || rest.starts_with("/.ssh") || rest.starts_with("/.aws")
                    })
                });
            let kept = [".ssh/", ".aws/", ".gnupg/", ".password-store/", ".kube/"];
            let inside = home.is_some_and(|home| pattern.starts_with(&format!("{home}/.ssh")))
                || kept.iter().any(|dir| pattern.contains(dir));
            if wide && (sought || inside) { Found::yes(pattern) } else { Found::No }
        }
        Action::Other { .. } => match scene.told() {
            Some(told) if seeks_secrets(told, home) => Found::yes(told.text),
            Some(_) | None => Found::No,
        },
        _ => Found::No,
    }
}

/// A tool looks for the files of keys all over the machine or a home.
fn seeks_secrets(told: &Told<'_>, home: Option<&str>) -> bool {
    const NAMES: &[&str] = &["id_rsa", "id_ed25519", "id_*", ".pem", ".env", "credentials", ".key", ".kdbx"];
    let wide = |place: &str| {
        let place = place.trim_end_matches('/');
        place.is_empty()
            || home == Some(place)
            || matches!(place, "/root" | "/home" | "/Users" | "/etc" | "~")
    };
    told.has(&["search", "find", "glob", "locate"])
        && told.has(&["file", "files", "glob"])
        && told.values(&["path", "directory", "dir", "root", "rootpath"]).any(wide)
        && told
            .values(&["pattern", "glob", "name", "query", "filename"])
            .any(|name| NAMES.iter().any(|key| name.contains(key)))
}
