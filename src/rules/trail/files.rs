//! What the name of a file or of a host says.

use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::downloads::STORES;
use crate::rules::builtin::lists;
use crate::rules::matcher::{host_of, runs};
use crate::shell::Arg;

words!("trail/files");

/// Whether a file of that name is worth remembering once the agent has written it.
pub(super) fn is_script_name(path: &str) -> bool {
    let name = last_name(path);
    // `Makefile.local`
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if RECIPES.contains(&name) || RECIPES.contains(&stem) {
        return true;
    }
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    ending.is_some_and(|ending| SCRIPTS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// An example of a file of settings, without its values.
pub(super) fn is_example(path: &str) -> bool {
    let name = last_name(path);
    name.split(['.', '-', '_']).any(|part| lists::ENV_EXAMPLES.contains(&part))
}

/// The host in an argument of a program that fetches; none where it is no address.
pub(super) fn host_in(inv: &Invocation, text: &str) -> Option<String> {
    // Of a store's address the first part is the name of a bucket: whose, is not known.
    if runs(inv, STORES) {
        return (text.contains("://") || text.contains(':')).then(String::new);
    }
    if text.contains("://") {
        return Some(host_of(text));
    }
    // `git@host:path`, `host:path`
    if let Some((host, _)) = text.split_once(':')
        && !host.contains('/')
        && runs(inv, &["git", "scp", "rsync", "sftp", "hg"])
    {
        return Some(host_of(host));
    }
    if runs(inv, &["git", "scp", "rsync", "sftp", "hg", "svn"]) {
        return None;
    }
    let host = host_of(text);
    (host.contains('.') || text.contains('…') || host == "localhost").then_some(host)
}

/// The name of the file that a command fetches.
pub(super) fn name_in_url(inv: &Invocation) -> Option<String> {
    let mut urls = inv.operands.iter().map(Arg::to_text).filter(|text| text.contains("://"));
    let url = urls.next()?;
    let path = url.split(['?', '#']).next()?;
    let name = path.rsplit('/').next().filter(|name| name.contains('.') && !path.ends_with("://"))?;
    Some(name.to_owned())
}

/// The known beginning of the names of what is in an archive: `node-v20.1.tar.gz` holds `node…`.
pub(super) fn stem(archive: &str) -> Option<&str> {
    let name = last_name(archive);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).filter(|stem| stem.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_scripts() {
        for path in ["/p/a.py", "/p/Makefile", "/p/package.json", "/p/x.PS1", "/p/build.mjs"] {
            assert!(is_script_name(path), "{path}");
        }
        for path in ["/p/a.rs", "/p/README", "/p/.py", "/p/data.json", "/p/a.sh", "/p/a.tsx"] {
            assert!(!is_script_name(path), "{path}");
        }
    }

    #[test]
    fn archives_hold_what_they_are_named_after() {
        assert_eq!(stem("/tmp/node-v20.1.tar.gz"), Some("node"));
        assert_eq!(stem("a.tgz"), None);
        assert!(is_example("/p/.env.example") && is_example("/p/env.sample") && !is_example("/p/.env"));
    }
}
