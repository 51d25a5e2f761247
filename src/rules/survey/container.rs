//! Commands in a container: their paths are the container's own, but for what of this machine is mounted into it.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use super::paths;
use crate::domain::{Target, join, last_name};
use crate::rules::facts;
use crate::rules::matcher::is_everything;
use crate::shell::Arg;

words!("survey/container");

/// Ends the name of what is lost in a container.
pub(in crate::rules) const IN_CONTAINER: &str = " in a container";

/// The program that runs the words behind the name of an image: the one that is asked for, or the image's own.
pub(super) fn entry(parsed: &Parsed, name: &str, image: Option<&Arg>, first: Option<&Arg>) -> Option<Arg> {
    let starts =
        name.ends_with("-compose") || matches!(parsed.sub.last().map(String::as_str), Some("run" | "create"));
    if !PROGRAMS.contains(&name) || matches!(name, "kubectl" | "oc" | "k") || !starts {
        return None;
    }
    if let Some(program) = parsed.value(&["--entrypoint"]) {
        return Some(program.clone()).filter(|program| program.known().is_some_and(|text| !text.is_empty()));
    }
    let last = last_name(image?.known()?);
    let last = last.split([':', '@']).next()?;
    let program = IMAGES.iter().find(|(image, _)| *image == last).map(|(_, program)| *program)?;
    // A path is a program of its own, whatever the image is called.
    let is_program = |word: &str| facts::find(word).is_some() || word.contains('/') && !word.starts_with('-');
    let given = first.and_then(Arg::known).is_none_or(is_program);
    (!given).then(|| Arg::literal(program))
}

/// What a container sees of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Container {
    /// Directories inside and what lies there.
    mounts: Vec<(String, Mount)>,
    /// It is made for the command and goes with it, and all its mounts are known.
    fresh: bool,
    /// The directory that the command runs in, inside.
    pub workdir: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mount {
    /// A path of this machine.
    Host(String),
    /// A named volume, which outlives the container.
    Volume,
}

impl Container {
    /// The container that a command line runs its command in.
    pub fn of(call: &Call, parsed: &Parsed, name: &str, home: Option<&str>) -> Option<Container> {
        if !PROGRAMS.contains(&name) {
            return None;
        }
        let runs = matches!(parsed.sub.last().map(String::as_str), Some("run" | "create"));
        let compose = name.ends_with("-compose") || parsed.first_sub() == "compose";
        let cluster = matches!(name, "kubectl" | "oc" | "k");
        let workdir = parsed.value(&["-w", "--workdir"]).and_then(Arg::known).map(|dir| join("/", dir));
        let mut container = Container { mounts: Vec::new(), fresh: runs && !compose && !cluster, workdir };
        if cluster {
            return Some(container);
        }
        for flag in &parsed.flags {
            let Some(value) = &flag.value else { continue };
            let mount = match flag.name.as_str() {
                "-v" | "--volume" => volume(value),
                "--mount" => mount(value),
                "--volumes-from" => None,
                _ => continue,
            };
            match mount.map(|(from, to)| (host(&from, call.cwd.as_deref(), home), to)) {
                Some((Some(from), to)) => container.mounts.push((join("/", &to), from)),
                // What is mounted there is not known.
                Some((None, _)) | None => container.fresh = false,
            }
        }
        Some(container)
    }
}

/// `from:to[:options]`; `to` alone is a volume without a name.
fn volume(value: &Arg) -> Option<(String, String)> {
    let text = value.known()?;
    let mut parts = text.split(':');
    let (first, second) = (parts.next()?, parts.next());
    Some(second.map_or_else(|| (String::new(), first.to_owned()), |to| (first.to_owned(), to.to_owned())))
}

/// `type=bind,source=from,target=to`.
fn mount(value: &Arg) -> Option<(String, String)> {
    let text = value.known()?;
    let of = |keys: &[&str]| {
        let mut pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| keys.contains(key)).map(|(_, value)| value.to_owned())
    };
    let from = of(&["source", "src"]).unwrap_or_default();
    Some((from, of(&["target", "dst", "destination"])?))
}

fn host(from: &str, cwd: Option<&str>, home: Option<&str>) -> Option<Mount> {
    match from {
        // Not every shell puts the home directory there (`~:/x`); a compose file and some programs do.
        _ if from == "~" || from.starts_with("~/") => {
            Some(Mount::Host(join(home?, from.trim_start_matches(['~', '/']))))
        }
        _ if from.starts_with('/') => Some(Mount::Host(join("/", from))),
        _ if from.starts_with('.') => Some(Mount::Host(join(cwd?, from))),
        _ => Some(Mount::Volume),
    }
}

impl Surveyor<'_> {
    /// Notes what a command in a container does to a path inside: on this machine where the path is mounted from it.
    pub(super) fn contained(
        &mut self,
        call: &Call,
        container: &Container,
        act: Act,
        (target, text): (Target, &str),
    ) {
        let Target::Path { path, glob, recursive } = &target else {
            let only_here = container.fresh && container.mounts.is_empty();
            if act == Act::Delete && !only_here {
                self.lost_inside(call, text);
            }
            return;
        };
        // A container that sees a device sees this machine's.
        if paths::is_device(path) {
            self.act(call, act, target);
            return;
        }
        let outside = Call { container: None, remote: false, cwd: None, before: None, ..call.clone() };
        let within = container.mounts.iter().filter(|(dir, _)| paths::is_or_has_name_below(path, dir));
        match within.max_by_key(|(dir, _)| dir.len()) {
            Some((dir, Mount::Host(from))) => {
                let rest = path.get(dir.trim_end_matches('/').len()..).unwrap_or_default();
                let path = join("/", &format!("{from}{rest}"));
                self.act(&outside, act, Target::Path { path, glob: *glob, recursive: *recursive });
                return;
            }
            Some((_, Mount::Volume)) if act == Act::Delete => self.lost_inside(call, path),
            Some((_, Mount::Volume)) => return,
            // All that is mounted goes with the root, wherever it comes from.
            None if act == Act::Delete && !container.fresh && matches!(path.as_str(), "/" | "/*" | "/**") => {
                self.act(&outside, act, target);
                return;
            }
            None if act == Act::Delete && !container.fresh => self.lost_inside(call, path),
            None => {}
        }
        // What holds a mount takes it with it.
        let (above, all) = match path.rsplit_once('/') {
            Some((dir, last)) if *glob && is_everything(last) => {
                (if dir.is_empty() { "/" } else { dir }, true)
            }
            _ => (path.as_str(), false),
        };
        if act == Act::Delete && (*recursive || all) {
            for (_, from) in container.mounts.iter().filter(|(dir, _)| paths::below(dir, above)) {
                if let Mount::Host(from) = from {
                    let path = from.clone();
                    self.act(&outside, act, Target::Path { path, glob: false, recursive: true });
                }
            }
        }
    }

    fn lost_inside(&mut self, call: &Call, path: &str) {
        let temporary = self.facts.places.temp.iter().any(|temp| paths::below(path, temp));
        let disposable = temporary || paths::is_build_output(path.trim_end_matches("/*"));
        self.loss(call, Target::Command(format!("{path}{IN_CONTAINER}")), disposable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read() {
        let pair = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(volume(&Arg::literal("/a:/b:ro")), pair("/a", "/b"));
        assert_eq!(volume(&Arg::literal("/b")), pair("", "/b"));
        assert_eq!(mount(&Arg::literal("type=bind,src=/a,target=/b")), pair("/a", "/b"));
        assert_eq!(mount(&Arg::literal("type=tmpfs")), None);
        assert_eq!(host("./x", Some("/p"), None), Some(Mount::Host("/p/x".to_owned())));
        assert_eq!(host("data", Some("/p"), None), Some(Mount::Volume));
        assert_eq!(host("./x", None, None), None);
    }
}
