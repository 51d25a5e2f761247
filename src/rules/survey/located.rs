//! Places that a tool prints when it is asked: its cache, a name in the temporary directory.

use super::call::Call;
use super::output::is;
use crate::domain::{Facts, join};
use crate::shell::Arg;

/// Where a tool keeps its cache when nobody told it otherwise.
pub(super) fn cache(name: &str, call: &Call, facts: &Facts) -> Option<Arg> {
    const CACHES: &[(&str, &[&str], &str)] = &[
        ("go", &["env", "GOCACHE"], ".cache/go-build"),
        ("go", &["env", "GOMODCACHE"], "go/pkg/mod"),
        ("npm", &["config", "get", "cache"], ".npm"),
        ("pip", &["cache", "dir"], ".cache/pip"),
        ("uv", &["cache", "dir"], ".cache/uv"),
        ("yarn", &["cache", "dir"], ".cache/yarn"),
        ("pnpm", &["store", "path"], ".local/share/pnpm/store"),
        ("yarn", &["config", "get", "cacheFolder"], ".yarn/berry/cache"),
        ("bun", &["pm", "cache"], ".bun/install/cache"),
        ("brew", &["--cache"], ".cache/Homebrew"),
        ("poetry", &["env", "info", "-p"], ".cache/pypoetry/virtualenvs/x"),
        ("poetry", &["env", "info", "--path"], ".cache/pypoetry/virtualenvs/x"),
        ("poetry", &["config", "cache-dir"], ".cache/pypoetry"),
        ("pipenv", &["--venv"], ".local/share/virtualenvs/x"),
        ("bazel", &["info", "output_base"], ".cache/bazel/x"),
    ];
    let asked = |(tool, words, _): &&(&str, &[&str], &str)| name.starts_with(tool) && is(call, words);
    let (_, _, place) = CACHES.iter().find(asked)?;
    Some(Arg::literal(&join(facts.places.home.as_deref()?, place)))
}

/// The name that stands for the one that `mktemp` makes up.
pub(super) const MADE: &str = "tmp.made-by-mktemp";

/// A name in the temporary directory that nobody knows: what `mktemp` makes.
pub(super) fn mktemp(call: &Call, facts: &Facts) -> Option<Arg> {
    let letters = |letter: char| {
        call.args().iter().any(|arg| {
            arg.prefix().starts_with('-') && !arg.prefix().starts_with("--") && arg.prefix().contains(letter)
        })
    };
    // `-t NAME`: there too, with that name.
    let there = letters('t')
        && !letters('p')
        && call.args().iter().all(|arg| arg.known().is_some_and(|text| !text.contains('/')));
    let elsewhere = !there
        && call.args().iter().any(|arg| {
            let text = arg.prefix();
            arg.known().is_none()
                || text.starts_with("-p")
                || text.starts_with("--tmpdir=")
                || !text.starts_with('-')
        });
    if elsewhere {
        let template = call.args().last()?.known()?;
        let inside = template.starts_with('/') && call.args().iter().all(|arg| arg.prefix() != "-p");
        return inside.then(|| Arg::literal(template));
    }
    let temp = facts.places.temp.first().map_or("/tmp", String::as_str);
    Some(Arg::literal(&join(temp, MADE)))
}
