//! Code of packages from hosts that nobody vouches for: run at once, or fetched where anybody on the way can change it.

use super::super::{downloads, lists};
use super::{INDEX_USERS, INSTALLERS, URL_RUNNERS, foreign_index, is_usual, run_from_url, words};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, flag_value, host_of, runs};
use crate::rules::trail::is_strange;
use crate::shell::Arg;

/// Programs that install what they are given without a word for it.
const BARE: &[&str] = &["rpm", "cpan", "cpanm"];

words!("builtin/packages/strangers");

const PYTHONS: &[&str] = &["python", "python3", "python2", "py"];

fn registry_at_a_bare_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(INDEX_USERS, |inv| texts(inv).any(|text| is_bare(&text, scene)));
    if found.is_some() { foreign_index(scene) } else { Found::No }
}

fn package_fetched_in_the_open<'a>(scene: &Scene<'a>) -> Found<'a> {
    downloads::installed_from(scene, &|url| {
        is_bare(url, scene) && is_strange(&host_of(url), scene.view.policy) && !is_mirror(&host_of(url))
    })
}

fn texts(inv: &Invocation) -> impl Iterator<Item = String> + '_ {
    inv.args.iter().map(|arg| {
        let text = arg.text();
        match text.split_once('=') {
            Some((front, value)) if front.starts_with('-') => value.to_owned(),
            Some(_) | None => text.into_owned(),
        }
    })
}

/// An address outside the usual hosts without encryption, or of a machine that has no name.
fn is_bare(text: &str, scene: &Scene<'_>) -> bool {
    let Some((scheme, _)) = text.split_once("://") else { return false };
    let host = host_of(text);
    let plain = matches!(scheme, "http" | "git+http" | "ftp" | "git" | "git+git");
    let nameless = host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
    host.contains('.') && (plain || nameless) && !is_usual(&host, scene.view.policy)
}

/// Hosts that hand out what a system is made of. Older sources are not encrypted, and signed all the same.
pub(in crate::rules::builtin) fn is_mirror(host: &str) -> bool {
    SYSTEM_HOSTS
        .iter()
        .any(|system| host.strip_suffix(system).is_some_and(|front| front.is_empty() || front.ends_with('.')))
}

/// Modules come from a stranger, and what is known of them elsewhere is not asked for.
fn unchecked_modules<'a>(scene: &Scene<'a>) -> Found<'a> {
    const UNCHECKED: &[&str] =
        &["GONOSUMDB=", "GONOSUMCHECK=", "GOFLAGS=-insecure", "GOINSECURE=", "GOSUMDB=off"];
    let line = scene.command_line();
    let given = line.split_once("GOPROXY=").map_or("", |(_, value)| value.trim_start_matches(['"', '\'']));
    let proxy = given.split([' ', ',', '|', ';', '"', '\'']).next().unwrap_or_default();
    if !is_bare(proxy, scene) || !UNCHECKED.iter().any(|word| line.contains(word)) {
        return Found::No;
    }
    Found::from(scene.first(&["go"], |_| true).map(|inv| inv.text.as_str()))
}

/// One that runs what it fetches is given an address of a host that is not a usual one.
fn run_at_once<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let row = AT_ONCE.iter().find(|(name, _)| *name == inv.program);
        row.is_some_and(|(_, told)| {
            told.is_empty() || words(inv).next().is_some_and(|word| told.contains(&word))
        })
    });
    if found.is_some() { run_from_url(scene) } else { Found::No }
}

fn given_to_runner(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), scene.view.policy);
    let web = |text: &str| text.starts_with("http") && foreign(text);
    let first = words(inv).next().unwrap_or_default();
    let behind = |flags: &[&str]| {
        let pairs = inv.args.iter().zip(inv.args.iter().skip(1));
        { pairs }.any(|(flag, value)| {
            flag.known().is_some_and(|flag| flags.contains(&flag)) && foreign(value.prefix())
        })
    };
    match inv.program.as_str() {
        "bun" => web(first) || first == "run" && words(inv).nth(1).is_some_and(foreign),
        "java" => behind(&["-jar", "-cp", "-classpath", "--class-path"]),
        "node" | "nodejs" | "tsx" | "ts-node" => {
            let loads = |flag: &&crate::rules::survey::Flag| lists::NODE_LOADS.contains(&flag.name.as_str());
            let mut loaded = inv.flags.iter().filter(loads).filter_map(|flag| flag.value.as_ref());
            loaded.any(|value| web(value.prefix()))
                || inv.operands.first().is_some_and(|arg| web(arg.prefix()))
        }
        "php" => inv.args.iter().any(|arg| {
            let text = arg.text();
            ["auto_prepend_file=", "auto_append_file="]
                .iter()
                .any(|key| text.split_once(key).is_some_and(|(_, file)| web(file)))
        }),
        "wmic" => inv.args.iter().any(|arg| {
            arg.text().split_once("ormat:").is_some_and(|(_, sheet)| web(sheet.trim_matches('"')))
        }),
        "jshell" | "javaws" | "cscript" | "wscript" => inv.args.iter().any(|arg| web(arg.prefix())),
        "groovy" | "scala" | "scala-cli" | "kotlin" => foreign(first),
        "nix" => {
            matches!(first, "run" | "shell" | "develop" | "build" | "profile") && words(inv).skip(1).any(web)
        }
        "helm" => {
            matches!(first, "install" | "upgrade" | "template")
                && inv.operands.iter().any(|arg| web(arg.prefix()) && arg.text().ends_with("gz"))
        }
        "msiexec" | "msiexec.exe" => inv.args.iter().any(|arg| foreign(arg.prefix())),
        "uv" | "uvx" | "pipx" => {
            behind(&["--with", "--with-editable", "--with-requirements", "--preinstall"])
        }
        "pre-commit" => first == "try-repo" && words(inv).skip(1).any(foreign),
        "pip" | "pip3" => behind(&["-r", "--requirement", "-c", "--constraint"]),
        _ => match first {
            "build" | "buildx" => inv.operands.last().is_some_and(|arg| web(arg.prefix())),
            "run" | "create" | "pull" => {
                inv.operands.iter().find(|arg| arg.known() != Some(first)).is_some_and(is_nameless_image)
            }
            _ => false,
        },
    }
}

/// `203.0.113.7:5000/x`: an image from a machine without a name that is not of one's own network.
fn is_nameless_image(image: &Arg) -> bool {
    let text = image.prefix();
    let Some((host, _)) = text.split_once('/') else { return false };
    let host = host.split(':').next().unwrap_or_default();
    let parts: Vec<u8> = host.split('.').filter_map(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [10 | 127, ..] | [192, 168, ..] | [172, 16..=31, ..] => false,
        [_, _, _, _] => host.split('.').count() == 4,
        _ => false,
    }
}

/// The words of an installation, also where it is a module of Python: `python -m pip install …`.
fn installs(inv: &Invocation) -> bool {
    let says =
        |wanted: &[&str]| inv.args.iter().take(5).filter_map(Arg::known).any(|word| wanted.contains(&word));
    let verb = || {
        says(&["install", "add", "i", "localinstall", "download", "tap", "-i", "-U", "-ivh", "-Uvh", "get"])
    };
    if runs(inv, PYTHONS) {
        return says(&["pip", "pipx"]) && says(&["-m"]) && verb();
    }
    verb()
}

fn from_bare_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let named = [URL_RUNNERS, INSTALLERS, PYTHONS, MORE];
    let listed = |inv: &Invocation| {
        named.iter().any(|names| runs(inv, names)) || BY_WORDS.iter().any(|(name, _)| *name == inv.program)
    };
    let found = scene.running(listed).find(|inv| {
        // Of a system's packages, the older sources are not encrypted and signed all the same.
        let weak = |text: &str| {
            let nameless = host_of(text).bytes().all(|b| b.is_ascii_digit() || b == b'.');
            is_bare(text, scene) && (nameless || !runs(inv, SYSTEM))
        };
        let told = || {
            let row = BY_WORDS.iter().find(|(name, _)| *name == inv.program);
            let says = |words: &[&str]| {
                words.is_empty() || inv.args.iter().filter_map(Arg::known).any(|arg| words.contains(&arg))
            };
            row.is_some_and(|(_, words)| says(words))
                && inv.args.iter().any(|arg| {
                    let text = arg.text();
                    let text = text.strip_prefix("-DremoteRepositories=").unwrap_or(&text);
                    // Of a build's own settings nothing is known.
                    let text = text
                        .split_once('=')
                        .filter(|(key, _)| key.starts_with("--"))
                        .map_or(text, |(_, v)| v);
                    weak(text.trim_start_matches("git+"))
                })
        };
        named.iter().any(|names| runs(inv, names))
            && (installs(inv) || inv.program == "nix-env")
            && inv.operands.iter().chain(inv.flags.iter().filter_map(|flag| flag.value.as_ref())).any(|arg| {
                let text = arg.text();
                weak(&text) || inv.program == "go" && is_nameless_image(arg)
            })
            || told()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn from_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), scene.view.policy);
    let listed = |inv: &Invocation| runs(inv, PYTHONS) || runs(inv, MORE) || runs(inv, SYSTEM);
    let found = scene.running(listed).find(|inv| {
        let git = flag_value(inv, &["--git"]).is_some_and(|url| foreign(&url.text()));
        (installs(inv) || runs(inv, BARE))
            && (git
                || inv.operands.iter().any(|arg| {
                    let text = arg.text();
                    foreign(&text) && (!runs(inv, SYSTEM) || is_strange(&host_of(&text), scene.view.policy))
                })
                || inv.program == "cargo" && texts(inv).any(|text| foreign(&text)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
