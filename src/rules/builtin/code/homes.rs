//! Code that goes through all of somebody's home: to encrypt the files in it, to write over them, or to send them away.

use super::{CODE, interpreters, texts};
use crate::domain::{EffectKind, Target, join};
use crate::rules::Invocation;
use crate::rules::builtin::code_paths;
use crate::rules::matcher::{Class, Found, Scene, classify, host_of, is_known};

fn home_sent_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    walks_home(scene, |code, scene| sends(code) && names_stranger(code, scene))
}

words!("builtin/code/homes");

/// Code that goes through a home, of which `does` holds.
fn walks_home<'a>(scene: &Scene<'a>, does: impl Fn(&str, &Scene<'_>) -> bool) -> Found<'a> {
    let found = interpreters(scene).find(|inv| {
        // Hardly any code does.
        if !scene.codes(inv).iter().any(|text| text.holds_any(WALKS)) {
            return false;
        }
        texts(inv, scene).any(|code| {
            WALKS.iter().any(|walk| code.contains(walk))
                && does(&code, scene)
                && goes_through_home(&code, inv, scene)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a directory that code goes through is a home, or holds homes.
fn goes_through_home(code: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    // `Path('/home/u').rglob('*')`: what stands in front of the call is what is gone through.
    let front = |line: &str| {
        let calls = [".rglob(", ".glob(", ".iterdir("].iter().filter_map(|call| line.split_once(call));
        let front = { calls }.next().map(|(front, _)| front);
        front.map(|front| front.rsplit_once(" in ").map_or(front, |(_, rest)| rest).to_owned())
    };
    let wide = |line: &str| {
        let front = front(line);
        code_paths::strings(front.as_deref().unwrap_or(line)).iter().any(|text| is_home(text, inv, scene))
    };
    let walks = |line: &str| WALKS.iter().any(|walk| line.contains(walk));
    // `walk('/home/u')`: a function of its own, called on a line by itself.
    let called = |line: &str| {
        let line = line.trim().trim_end_matches(';');
        line.split_once('(').is_some_and(|(name, rest)| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && rest.ends_with(')')
        })
    };
    code.lines().any(|line| {
        let named = || {
            let name = line.split_once('=').map(|(name, _)| name.trim()).filter(|name| !name.is_empty());
            let name = name.and_then(|name| name.split_whitespace().last());
            name.is_some_and(|name| {
                let uses = |other: &str| {
                    other.contains(&format!("({name}"))
                        || other.contains(&format!("{name}."))
                        || other.contains(&format!(" {name})"))
                };
                code.lines().any(|other| walks(other) && uses(other))
            })
        };
        wide(line) && (walks(line) || called(line) || named())
    })
}

fn is_home(text: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let path = text.strip_prefix('~').map_or_else(|| text.to_owned(), |rest| format!("{home}{rest}"));
    let path = path.trim_end_matches(['*', '/']);
    if !path.starts_with('/') || path.len() < 2 {
        return false;
    }
    let target =
        Target::Path { path: join(inv.cwd.as_deref().unwrap_or("/"), path), glob: false, recursive: true };
    classify(&target, EffectKind::FileDeletion, &scene.view).any(&[Class::Home, Class::HomeTop, Class::Users])
}

fn encrypts(code: &str, _: &Scene<'_>) -> bool {
    CIPHERS.iter().any(|cipher| code.contains(cipher))
        && (writes_each(code) || code.contains("subprocess") || code.contains("system("))
}

fn rewrites(code: &str, scene: &Scene<'_>) -> bool {
    let chosen = [".endswith(", ".suffix", "fnmatch", "endsWith("].iter().any(|way| code.contains(way));
    writes_each(code) && !chosen && !encrypts(code, scene)
}

/// Whether code writes to files whose names it does not know before it runs.
fn writes_each(code: &str) -> bool {
    const MODES: &[&str] = &["'w'", "\"w\"", "'wb'", "\"wb\"", "'r+b'", "\"r+b\"", "'rb+'", "'w+'"];
    let opened = code.split("open(").skip(1).any(|rest| {
        let args = rest.lines().next().unwrap_or_default();
        let until = args.find(['\'', '"']).unwrap_or(args.len());
        let first = args.get(..until).unwrap_or_default();
        let named = first.trim().is_empty();
        let end = args.find(").").or_else(|| args.find(" as ")).unwrap_or(args.len());
        !named && MODES.iter().any(|mode| args.get(..end).is_some_and(|args| args.contains(mode)))
    });
    let written = [".write_bytes(", ".write_text("].iter().any(|call| {
        code.match_indices(call).any(|(at, _)| {
            let front = code.get(..at).unwrap_or_default();
            front.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        })
    });
    let saved = ["writeFileSync(", "writeFile(", "File.write("]
        .iter()
        .any(|call| code.split(call).skip(1).any(|rest| !rest.starts_with(['\'', '"', '`'])));
    opened || written || saved
}

fn sends(code: &str) -> bool {
    SENDING_CALLS.iter().any(|call| code.contains(call))
}

/// Whether code names a host that is not among the known ones.
fn names_stranger(code: &str, scene: &Scene<'_>) -> bool {
    code_paths::strings(code).iter().any(|text| {
        let host = host_of(text);
        let address = text.split('.').count() == 4 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let host = if text.contains("://") {
            host.as_str()
        } else if address {
            text
        } else {
            ""
        };
        host.contains('.') && !is_known(host, scene.view.policy)
    })
}
