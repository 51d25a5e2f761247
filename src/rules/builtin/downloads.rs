//! Files that a call fetches or decodes, followed through copies to where they are run.

use super::lists;
use crate::domain::Target;
use crate::rules::Invocation;
use crate::rules::matcher::{
    By, Found, Scene, flag_value, has_flag, host_of, is_interpreter, is_known, is_shell, runs, runs_input,
    target_of,
};
use crate::shell::Arg;

/// The files that a command fetches: by option, by redirection, or under the name in the URL.
pub(super) fn downloads<'a>(inv: &'a Invocation) -> impl Iterator<Item = Target> + 'a {
    let cwd = inv.cwd.as_deref();
    let is_curl = inv.program == "curl";
    let named: &[&str] =
        if is_curl { &["-o", "--output"] } else { &["-O", "--output-document", "-o", "--output"] };
    let by_option = inv.flags.iter().filter(move |flag| named.contains(&flag.name.as_str()));
    let by_option = by_option.filter_map(move |flag| flag.value.as_ref().map(|value| target_of(value, cwd)));
    let own_name = if is_curl {
        has_flag(inv, "-O") || has_flag(inv, "--remote-name")
    } else {
        runs(inv, &["wget", "wget2", "aria2c", "axel"])
    };
    let by_url = inv.operands.iter().filter(move |_| own_name).filter_map(move |arg| {
        let text = arg.text();
        let path = text.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some(target_of(&Arg::literal(name), cwd))
    });
    by_option.chain(by_url).chain(inv.writes.iter().map(|(target, _)| target.clone()))
}

/// The files that the commands behind it in its pipeline write.
pub(super) fn saved_behind<'a>(
    inv: &'a Invocation,
    all: &'a [Invocation],
) -> impl Iterator<Item = Target> + 'a {
    let behind = all.iter().filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage);
    behind.flat_map(|other| {
        let tee: &[Arg] = if other.program == "tee" { &other.operands } else { &[] };
        let named = tee.iter().map(|arg| target_of(arg, other.cwd.as_deref()));
        named.chain(other.writes.iter().map(|(target, _)| target.clone()))
    })
}

/// Most downloads of one call that are followed.
const MAX_DOWNLOADS: usize = 256;

pub(super) fn downloaded_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let fetching =
        all.iter().enumerate().filter(|(_, inv)| runs(inv, lists::DOWNLOADERS) || copies_here(inv));
    for (count, (index, inv)) in fetching.enumerate() {
        if count == MAX_DOWNLOADS {
            return Found::unsure(&inv.text);
        }
        let outer = inv.feeds.and_then(|index| all.get(index));
        let printed =
            outer.into_iter().flat_map(|outer| outer.writes.iter().map(|(target, _)| target.clone()));
        let copied = inv.operands.last().filter(|_| copies_here(inv));
        let copied = copied.map(|arg| target_of(arg, inv.cwd.as_deref()));
        let files = downloads(inv).chain(saved_behind(inv, all)).chain(copied).chain(printed);
        let files: Vec<String> =
            files.map(|file| file.text().to_owned()).filter(|path| path.len() > 1).collect();
        if let Some(user) = user_of(files, all, index + 1) {
            return Found::Yes(format!("{} … {}", inv.text, user.text).into());
        }
    }
    Found::No
}

pub(super) fn decoded_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DECODING: &[&str] = &["base64", "base32", "basenc", "xxd", "uudecode", "rev", "openssl"];
    let all = scene.invocations();
    let decoding = all.iter().enumerate().filter(|(_, inv)| runs(inv, DECODING));
    for (count, (index, inv)) in decoding.enumerate() {
        if count == MAX_DOWNLOADS {
            return Found::unsure(&inv.text);
        }
        let out = flag_value(inv, &["-out", "-o"]).map(|file| target_of(file, inv.cwd.as_deref()));
        let written = inv.writes.iter().map(|(target, _)| target.clone());
        let files = written.chain(saved_behind(inv, all)).chain(out);
        let files: Vec<String> =
            files.map(|file| file.text().to_owned()).filter(|path| path.len() > 1).collect();
        if let Some(user) = user_of(files, all, index + 1) {
            return Found::Yes(format!("{} … {}", inv.text, user.text).into());
        }
    }
    Found::No
}

/// Copies a file from another machine to a place here.
fn copies_here(inv: &Invocation) -> bool {
    let remote = |arg: &Arg| {
        let text = arg.text();
        text.contains("://")
            || text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
    };
    let stores = runs(inv, &["aws", "gsutil", "gcloud", "rclone", "kubectl", "docker"])
        && inv
            .sub
            .iter()
            .map(String::as_str)
            .chain(inv.operands.iter().filter_map(Arg::known))
            .any(|word| word == "cp");
    (runs(inv, &["scp", "rsync", "sftp"]) || stores)
        && inv
            .operands
            .split_last()
            .is_some_and(|(last, sources)| !remote(last) && sources.iter().any(remote))
}

/// Most files that are followed from one download.
const MAX_FILES: usize = 16;

/// The first command from `start` on that runs one of `files`, or a copy of it, or what is printed from it.
fn user_of(mut files: Vec<String>, all: &[Invocation], start: usize) -> Option<&Invocation> {
    if files.is_empty() {
        return None;
    }
    for (at, inv) in all.iter().enumerate().skip(start) {
        if files.iter().any(|path| runs_file(inv, path)) {
            return Some(inv);
        }
        let same = |arg: &Arg| files.iter().any(|path| target_of(arg, inv.cwd.as_deref()).text() == path);
        let reads = inv.operands.iter().any(same)
            || inv.reads.iter().any(|file| files.iter().any(|path| file.text() == path));
        if !reads || files.len() >= MAX_FILES {
            continue;
        }
        if runs(inv, &["cp", "mv", "ln", "install", "dd", "gunzip", "unxz"]) {
            if let Some(to) =
                inv.operands.last().map(|to| target_of(to, inv.cwd.as_deref()).text().to_owned())
            {
                let names: Vec<String> = files
                    .iter()
                    .filter_map(|file| Some(format!("{to}/{}", file.rsplit('/').next()?)))
                    .collect();
                files.extend(names);
                files.push(to);
            }
            continue;
        }
        if runs(inv, &["read", "mapfile", "readarray"]) {
            let user =
                all.iter().skip(at + 1).find(|other| other.program.is_empty() || other.program == "eval");
            if user.is_some() {
                return user;
            }
        }
        let behind =
            || all.iter().skip(at).filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage);
        let piped = behind().find(|other| runs_input(other, By::Pipe));
        let outer = inv
            .feeds
            .and_then(|index| all.get(index))
            .filter(|outer| runs_input(outer, By::Substitution) || is_given_code(outer));
        if let Some(user) = piped.or(outer) {
            return Some(user);
        }
        let written: Vec<String> = std::iter::once(inv)
            .chain(behind())
            .flat_map(|other| other.writes.iter())
            .map(|(target, _)| target.text().to_owned())
            .collect();
        files.extend(written);
        if inv.program == "tee" {
            files.extend(inv.operands.iter().map(|arg| target_of(arg, inv.cwd.as_deref()).text().to_owned()));
        }
    }
    None
}

/// A shell told to run a text.
fn is_given_code(inv: &Invocation) -> bool {
    is_shell(&inv.program) && has_flag(inv, "-c") || runs(inv, &["eval"])
}

fn runs_file(inv: &Invocation, path: &str) -> bool {
    let same = |arg: &Arg| target_of(arg, inv.cwd.as_deref()).text() == path;
    let runner = is_shell(&inv.program) || is_interpreter(&inv.program) || runs(inv, lists::RUN_IN_SHELL);
    let has_slash = inv.word.text().contains('/');
    let installed = path
        .rsplit_once('/')
        .is_some_and(|(dir, name)| dir.ends_with("/bin") && !has_slash && inv.word.known() == Some(name));
    installed
        || (has_slash && same(&inv.word))
        || (runner && inv.operands.first().is_some_and(same))
        || flag_value(inv, &["-jar"]).is_some_and(same)
        || (runner && inv.reads.iter().any(|target| target.text() == path))
        // A script that was unfolded: its commands name the wrapper.
        || inv.wrappers.iter().any(|wrapper| path.ends_with(wrapper.as_str()) && wrapper.contains('.'))
}

/// Programs that install a package from a file, and run the scripts in it.
const INSTALLERS: &[&str] = &[
    "dpkg",
    "rpm",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "zypper",
    "npm",
    "pnpm",
    "yarn",
    "pip",
    "pip3",
    "gem",
    "installer",
    "snap",
    "flatpak",
    "code",
];

/// A package that was fetched from a host which is not among the known ones is installed from its file.
pub(super) fn downloaded_is_installed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let unknown = |inv: &Invocation| {
        inv.operands.iter().any(|arg| {
            let host = host_of(&arg.text());
            host.contains('.') && arg.text().contains("://") && !is_known(&host, scene.view.policy)
        })
    };
    let fetching = all.iter().enumerate().filter(|(_, inv)| runs(inv, lists::DOWNLOADERS) && unknown(inv));
    for (index, inv) in fetching.take(MAX_FILES) {
        for file in downloads(inv) {
            let same = |arg: &Arg, by: &Invocation| target_of(arg, by.cwd.as_deref()) == file;
            let installs = |other: &&Invocation| {
                runs(other, INSTALLERS)
                    && other
                        .operands
                        .iter()
                        .chain(other.flags.iter().filter_map(|flag| flag.value.as_ref()))
                        .any(|arg| same(arg, other))
            };
            if let Some(user) = all.iter().skip(index + 1).find(installs) {
                return Found::Yes(format!("{} … {}", inv.text, user.text).into());
            }
        }
    }
    Found::No
}
