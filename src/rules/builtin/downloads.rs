//! Files that a call fetches or decodes, followed through copies to where they are run.

use std::collections::BTreeSet;

use super::lists;
use crate::domain::{Target, last_name};
use crate::rules::matcher::{
    By, Found, Scene, code_only_reads, flag_value, has_flag, host_of, is_known, runs, runs_code, runs_input,
    runs_shell, target_of,
};
use crate::rules::survey::only_checks;
use crate::rules::trail::runs_standard_module;
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// The files that a command fetches: by option, by redirection, or under the name in the URL.
pub(in crate::rules) fn downloads<'a>(inv: &'a Invocation) -> impl Iterator<Item = Target> + 'a {
    let is_curl = inv.program == "curl";
    let dir: &[&str] = match inv.program.as_str() {
        "curl" => &["--output-dir"],
        "aria2c" => &["-d", "--dir"],
        _ => &["-P", "--directory-prefix"],
    };
    let cwd = inv.cwd.as_deref();
    let dir = flag_value(inv, dir).map(|dir| target_of(dir, cwd));
    // A name of its own lies in that directory; one given to wget does not, but wget is seldom given both.
    let place = move |file: &Arg| match &dir {
        Some(dir) if !file.prefix().starts_with('/') => target_of(file, Some(dir.text())),
        Some(_) | None => target_of(file, cwd),
    };
    let placed = place.clone();
    let named: &[&str] =
        if is_curl { &["-o", "--output"] } else { &["-O", "--output-document", "-o", "--output"] };
    let by_option = inv.flags.iter().filter(move |flag| named.contains(&flag.name.as_str()));
    let by_option = by_option.filter_map(|flag| flag.value.as_ref().map(&place)).collect::<Vec<_>>();
    let own_name = if is_curl {
        has_flag(inv, "-O") || has_flag(inv, "--remote-name") || has_flag(inv, "--remote-name-all")
    } else {
        runs(inv, &["wget", "wget2", "aria2c", "axel"])
    };
    let by_url = inv.operands.iter().filter(move |_| own_name).filter_map(move |arg| {
        let text = arg.text();
        let path = text.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some(placed(&Arg::literal(name)))
    });
    by_option.into_iter().chain(by_url).chain(inv.writes.iter().map(|(target, _)| target.clone()))
}

/// The files that the commands behind it in its pipeline write.
pub(in crate::rules) fn saved_behind<'a>(
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

/// Programs that copy between machines, and those that do with `cp`.
pub(super) const COPIERS: &[&str] = &["scp", "rsync", "sftp"];
pub(in crate::rules) const STORES: &[&str] = &["aws", "gsutil", "gcloud", "rclone", "kubectl", "docker"];

/// Copies a file from another machine to a place here.
pub(in crate::rules) fn copies_here(inv: &Invocation) -> bool {
    let remote = |arg: &Arg| {
        let text = arg.text();
        text.contains("://")
            || text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
    };
    let stores = runs(inv, STORES)
        && inv
            .sub
            .iter()
            .map(String::as_str)
            .chain(inv.operands.iter().filter_map(Arg::known))
            .any(|word| matches!(word, "cp" | "copy" | "copyto"));
    (runs(inv, COPIERS) || stores)
        && inv
            .operands
            .split_last()
            .is_some_and(|(last, sources)| !remote(last) && sources.iter().any(remote))
}

/// Where the copies lie: at the last operand, or in it under their own names.
fn landed(inv: &Invocation) -> Vec<Target> {
    let Some((last, sources)) = inv.operands.split_last() else { return Vec::new() };
    let to = target_of(last, inv.cwd.as_deref());
    let names = sources.iter().filter_map(|source| {
        let text = source.text();
        let name = text.rsplit(['/', ':']).next().filter(|name| !name.is_empty())?;
        Some(target_of(&Arg::literal(name), Some(to.text())))
    });
    let below: Vec<Target> = names.collect();
    below.into_iter().chain([to]).collect()
}

/// Whether the program's name alone lets [`is_download`] hold.
fn may_download(inv: &Invocation) -> bool {
    [lists::DOWNLOADERS, COPIERS, STORES, lists::NETCATS].iter().any(|names| runs(inv, names))
}

/// Whether a command fetches from another machine.
pub(in crate::rules) fn is_download(inv: &Invocation) -> bool {
    runs(inv, lists::DOWNLOADERS) || copies_here(inv) || receives(inv)
}

/// `nc -l 9001 > x`: what comes is kept.
fn receives(inv: &Invocation) -> bool {
    runs(inv, lists::NETCATS) && !inv.writes.is_empty()
}

/// A shell told to run a text.
fn is_given_code(inv: &Invocation) -> bool {
    runs_shell(inv) && has_flag(inv, "-c") || runs(inv, &["eval"])
}

/// Fetches what a project on a known host of code has released, and no script.
fn is_release(inv: &Invocation) -> bool {
    const HOSTS: &[&str] = &["https://github.com/", "https://gitlab.com/", "https://codeberg.org/"];
    const SCRIPTS: &[&str] = &[".sh", ".py", ".js", ".pl", ".rb", ".bash", ".ps1", ".jar"];
    let urls = || inv.operands.iter().map(Arg::to_text).filter(|text| text.contains("://"));
    let released = |url: &str| {
        HOSTS.iter().any(|host| url.starts_with(host))
            && ["/releases/download/", "/releases/latest/download/", "/-/releases/"]
                .iter()
                .any(|part| url.contains(part))
            && !url.contains("..")
            && !SCRIPTS.iter().any(|end| url.ends_with(end))
    };
    runs(inv, &["curl", "wget"]) && urls().next().is_some() && urls().all(|url| released(&url))
}

pub(super) fn downloaded_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    match fetched_is_run(scene, &|inv| is_download(inv) && !is_release(inv)) {
        Found::No => Found::from(shell_in_wait(scene).map(|inv| inv.text.as_str())),
        found => found,
    }
}

/// A shell that was given nothing to do, beside a command that prints what it fetches: by whatever way that comes there, it is run.
fn shell_in_wait<'a>(scene: &Scene<'a>) -> Option<&'a Invocation> {
    let all = scene.invocations();
    let prints = |inv: &Invocation| {
        runs(inv, &["curl", "wget", "fetch", "http", "lynx", "nc", "ncat"])
            && !is_release(inv)
            && (inv.feeds.is_some() || all.iter().any(|o| o.pipeline == inv.pipeline && o.stage > inv.stage))
    };
    let waits = |inv: &&Invocation| {
        runs_shell(inv)
            && inv.args.is_empty()
            && !inv.contained
            && matches!(inv.stdin, Stdin::Inherited | Stdin::File(Target::UnknownPath { .. }))
    };
    all.iter().find(waits).filter(|_| all.iter().any(prints))
}

pub(super) fn release_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    fetched_is_run(scene, &|inv| is_download(inv) && is_release(inv))
}

fn fetched_is_run<'a>(scene: &Scene<'a>, fetches: &dyn Fn(&Invocation) -> bool) -> Found<'a> {
    let all = scene.invocations();
    if !scene.runs_any(may_download) {
        return Found::No;
    }
    first_user(scene, fetches, &|inv| {
        let outer = inv.feeds.and_then(|index| all.get(index));
        let printed =
            outer.into_iter().flat_map(|outer| outer.writes.iter().map(|(target, _)| target.clone()));
        let copied = if copies_here(inv) { landed(inv) } else { Vec::new() };
        downloads(inv).chain(saved_behind(inv, all)).chain(copied).chain(printed).collect()
    })
}

/// Programs that decode into a file.
pub(in crate::rules) const DECODING: &[&str] =
    &["base64", "base32", "basenc", "xxd", "uudecode", "rev", "openssl"];

pub(super) fn decoded_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    if !scene.runs_any(|inv| runs(inv, DECODING)) {
        return Found::No;
    }
    first_user(scene, &|inv| runs(inv, DECODING), &|inv| {
        let out = flag_value(inv, &["-out", "-o"]).map(|file| target_of(file, inv.cwd.as_deref()));
        inv.writes.iter().map(|(target, _)| target.clone()).chain(saved_behind(inv, all)).chain(out).collect()
    })
}

/// Most commands that read what was fetched and are followed.
const MAX_READERS: usize = 64;

/// Files that came from elsewhere, as far as the walk over the commands has come.
#[derive(Default)]
struct Fetched {
    paths: BTreeSet<String>,
    /// Names of those that lie in a directory of programs.
    programs: BTreeSet<String>,
}

impl Fetched {
    fn add(&mut self, path: &str) {
        if path.len() < 2 {
            return;
        }
        if let Some((dir, name)) = path.rsplit_once('/')
            && dir.ends_with("/bin")
        {
            self.programs.insert(name.to_owned());
        }
        self.paths.insert(path.to_owned());
    }

    fn has(&self, arg: &Arg, inv: &Invocation) -> bool {
        self.paths.contains(target_of(arg, inv.cwd.as_deref()).text())
    }

    /// Whether a command runs one of the files.
    fn is_run_by(&self, inv: &Invocation, scene: &Scene<'_>) -> bool {
        let runner = runs_shell(inv) || runs_code(inv) || runs(inv, lists::RUN_IN_SHELL);
        let runner = runner && !runs_standard_module(inv) && !only_checks(&inv.program, &inv.args);
        let word = inv.word.to_text();
        let scripts = inv.wrappers.iter().filter(|wrapper| wrapper.contains('.'));
        self.programs.contains(&word)
            || (word.contains('/') && self.has(&inv.word, inv))
            // Behind code on the line that only reads, a word is what it reads, and no script.
            || (runner
                && inv.operands.first().is_some_and(|arg| self.has(arg, inv))
                && !code_only_reads(inv, scene))
            || flag_value(inv, &["-jar"]).is_some_and(|arg| self.has(arg, inv))
            || (runner && inv.reads.iter().any(|target| self.paths.contains(target.text())))
            // A script that was unfolded: its commands name the wrapper.
            || { scripts }.any(|wrapper| self.paths.iter().any(|path| path.ends_with(wrapper.as_str())))
    }

    fn is_read_by(&self, inv: &Invocation) -> bool {
        inv.operands.iter().any(|arg| self.has(arg, inv))
            || inv.reads.iter().any(|target| self.paths.contains(target.text()))
    }

    /// Takes the copies that a command makes of what it reads.
    fn copy(&mut self, inv: &Invocation, behind: &[&Invocation]) {
        if runs(inv, &["cp", "mv", "ln", "install", "dd", "gunzip", "unxz"]) {
            let Some(to) = inv.operands.last() else { return };
            let to = target_of(to, inv.cwd.as_deref()).text().to_owned();
            for name in inv.operands.iter().filter_map(Arg::known).map(last_name) {
                self.add(&format!("{to}/{name}"));
            }
            self.add(&to);
        }
        if inv.program == "tee" {
            for arg in &inv.operands {
                self.add(target_of(arg, inv.cwd.as_deref()).text());
            }
        }
        for (target, _) in std::iter::once(inv).chain(behind.iter().copied()).flat_map(|other| &other.writes)
        {
            self.add(target.text());
        }
    }
}

/// The first command that runs what one for which `is_source` holds fetched before it: the file, a copy of it, or what is
/// printed from it. One walk, so that a long command line costs no more than its length.
fn first_user<'a>(
    scene: &Scene<'a>,
    is_source: &dyn Fn(&Invocation) -> bool,
    files: &dyn Fn(&'a Invocation) -> Vec<Target>,
) -> Found<'a> {
    let all = scene.invocations();
    let mut fetched = Fetched::default();
    let (mut sources, mut readers) = (0, 0);
    for (at, inv) in all.iter().enumerate() {
        if !fetched.paths.is_empty() {
            if fetched.is_run_by(inv, scene) {
                return Found::yes(&inv.text);
            }
            if fetched.is_read_by(inv) {
                readers += 1;
                let behind: Vec<&Invocation> = all
                    .iter()
                    .filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
                    .collect();
                if let Some(user) = reader_runs(inv, at, (all, &behind)) {
                    return Found::yes(&user.text);
                }
                fetched.copy(inv, &behind);
            }
        }
        if is_source(inv) {
            sources += 1;
            for file in files(inv) {
                fetched.add(file.text());
            }
        }
        if sources > MAX_DOWNLOADS || readers > MAX_READERS {
            return Found::unsure(&inv.text);
        }
    }
    Found::No
}

/// Whether a command puts what comes in into variables.
pub(super) fn reads_into_variables(inv: &Invocation) -> bool {
    runs(inv, &["read", "mapfile", "readarray"])
}

/// What runs the value of a variable behind the command that stands at `at`.
pub(super) fn runs_variable(at: usize, all: &[Invocation]) -> Option<&Invocation> {
    all.iter().skip(at + 1).find(|other| other.program.is_empty() || other.program == "eval")
}

/// What runs the text that a command reads out of a fetched file.
fn reader_runs<'a>(
    inv: &Invocation,
    at: usize,
    (all, behind): (&'a [Invocation], &[&'a Invocation]),
) -> Option<&'a Invocation> {
    if reads_into_variables(inv) {
        return runs_variable(at, all);
    }
    let piped = behind.iter().copied().find(|other| runs_input(other, By::Pipe));
    let outer = inv.feeds.and_then(|index| all.get(index));
    piped.or(outer.filter(|outer| runs_input(outer, By::Substitution) || is_given_code(outer)))
}

words!("builtin/downloads");

/// A package that was fetched from a host which is not among the known ones is installed from its file.
pub(super) fn downloaded_is_installed<'a>(scene: &Scene<'a>) -> Found<'a> {
    installed_from(scene, &|url| {
        let host = host_of(url);
        host.contains('.') && !is_known(&host, scene.view.policy)
    })
}

/// A package that was fetched from an address for which `strange` holds is installed from its file.
pub(super) fn installed_from<'a>(scene: &Scene<'a>, strange: &dyn Fn(&str) -> bool) -> Found<'a> {
    let all = scene.invocations();
    if !scene.runs_any(|inv| runs(inv, INSTALLERS)) {
        return Found::No;
    }
    let installers: Vec<(usize, &Invocation)> =
        all.iter().enumerate().filter(|(_, inv)| runs(inv, INSTALLERS)).take(MAX_READERS).collect();
    if installers.is_empty() {
        return Found::No;
    }
    let unknown =
        |inv: &Invocation| inv.operands.iter().any(|arg| arg.text().contains("://") && strange(&arg.text()));
    let fetching = all.iter().enumerate().filter(|(_, inv)| runs(inv, lists::DOWNLOADERS) && unknown(inv));
    for (index, inv) in fetching.take(MAX_DOWNLOADS) {
        for file in downloads(inv) {
            let same = |arg: &Arg, by: &Invocation| target_of(arg, by.cwd.as_deref()) == file;
            let installs = |other: &&Invocation| {
                other
                    .operands
                    .iter()
                    .chain(other.flags.iter().filter_map(|flag| flag.value.as_ref()))
                    .any(|arg| same(arg, other))
            };
            if let Some(user) =
                installers.iter().filter(|(at, _)| *at > index).map(|(_, other)| *other).find(installs)
            {
                return Found::Yes(format!("{} … {}", inv.text, user.text).into());
            }
        }
    }
    Found::No
}

/// `curl x.example/a`: an address without a scheme, to a program that takes it for one.
pub(super) fn takes_bare(inv: &Invocation, text: &str) -> bool {
    runs(inv, &["curl", "wget", "wget2", "aria2c"])
        && !text.starts_with(['/', '.', '~', '-'])
        && text.split_once('/').is_some_and(|(host, path)| host.contains('.') && !path.is_empty())
}
