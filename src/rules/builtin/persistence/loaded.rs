//! What other programs load by themselves: libraries, modules, settings that run.

use super::WRITES;
use crate::domain::{Action, Target};
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::builtin::packages::is_usual;
use crate::rules::matcher::{Found, Scene, at, contains_word, host_of, is_known, target_of};
use crate::shell::Arg;

const PACKAGE_MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "pip", "pip3"];

fn task_on_open<'a>(scene: &Scene<'a>) -> Found<'a> {
    let (path, content) = match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => (path, content),
        _ => return Found::No,
    };
    let settings = path.contains("/.vscode/") || path.ends_with(".code-workspace");
    let auto = || {
        contains_word(content, "folderOpen")
            || (contains_word(content, "task.allowAutomaticTasks") && contains_word(content, "\"on\""))
    };
    if settings && auto() { Found::yes(path) } else { Found::No }
}

/// `echo … > "$(python3 -m site --user-site)/x.pth"`: where it lies is asked of the interpreter.
fn written_where_modules_lie<'a>(scene: &Scene<'a>) -> Found<'a> {
    const PLACES: &[&str] =
        &["site-packages", "getsitepackages", "getusersitepackages", "user-site", "purelib"];
    const NAMES: &[&str] = &[".pth", "sitecustomize.py", "usercustomize.py"];
    let line = scene.command_line();
    let unknown = |(effect, _): (&crate::domain::Effect, _)| {
        WRITES.contains(&effect.kind) && matches!(effect.target, Target::UnknownPath { .. })
    };
    let named = NAMES.iter().any(|name| {
        scene.says(name)
            && line.match_indices(name).any(|(at, name)| {
                let next = line.get(at + name.len()..).and_then(|rest| rest.chars().next());
                next.is_none_or(|c| matches!(c, ' ' | '"' | '\'' | ';' | '\n' | ')'))
            })
    });
    if named && PLACES.iter().any(|place| line.contains(place)) && scene.effects().any(unknown) {
        Found::yes(line)
    } else {
        Found::No
    }
}

fn pth_written<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.effects().find(|(effect, _)| {
        let path = effect.target.text();
        WRITES.contains(&effect.kind)
            && path.ends_with(".pth")
            && (path.contains("/site-packages/") || path.contains("/dist-packages/"))
    });
    Found::from(found.map(|(effect, _)| effect.target.text()))
}

/// The same, where Python itself is asked for the directory.
fn startup_module_asked_for(inv: &Invocation) -> bool {
    let text = inv.text.as_str();
    let asked = ["python3 -m site", "python -m site", "getsitepackages", "getusersitepackages"];
    let named = ["/usercustomize.py", "/sitecustomize.py", ".pth"];
    inv.writes.iter().any(|(target, _)| matches!(target, Target::UnknownPath { .. }))
        && text.contains('>')
        && asked.iter().any(|way| text.contains(way))
        && named.iter().any(|name| text.contains(name))
}

fn startup_module<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.effects().find(|(effect, _)| {
        let path = effect.target.text();
        let named = path.ends_with("/sitecustomize.py") || path.ends_with("/usercustomize.py");
        WRITES.contains(&effect.kind)
            && named
            && (path.contains("/site-packages/")
                || path.contains("/dist-packages/")
                || path.starts_with("/usr/"))
    });
    Found::from(found.map(|(effect, _)| effect.target.text()))
}

fn npm_setting(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words: Vec<&str> =
        inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known)).collect();
    let sets = words.contains(&"set");
    let keys = |word: &&str| {
        let key = word.split('=').next().unwrap_or_default();
        NPM_KEYS.contains(&key) || key.ends_with("index-url") || key.ends_with("trusted-host")
    };
    // Back to the usual registry.
    let usual = words.iter().any(|word| {
        let url = word.split_once('=').map_or(*word, |(_, url)| url);
        url.contains("://") && is_usual(&host_of(url), scene.view.policy)
    });
    sets && !usual && words.iter().any(keys)
}

words!("builtin/persistence/loaded");

/// A program is fetched into such a directory from an unknown host, by its number or without a certificate.
fn fetched_into_path<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        let stranger = |arg: &Arg| {
            let text = arg.text();
            let host = host_of(&text);
            let number =
                host.split('.').count() == 4 && host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let bare = text.starts_with("http://") || number && !text.starts_with(['/', '-', '.']);
            bare && host.contains('.') && !is_known(&host, scene.view.policy)
        };
        let placed = || {
            inv.writes.iter().any(|(target, _)| at(target, PATH_DIRS, home))
                || inv.args.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), PATH_DIRS, home))
        };
        inv.args.iter().any(stranger) && placed()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
