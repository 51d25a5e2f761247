//! Installs of packages in a tree from elsewhere: when one without scripts runs nothing that the tree brings along.

use super::across::strange;
use crate::domain::{Ask, Facts, join};
use crate::rules::Invocation;
use crate::rules::matcher::Scene;
use crate::shell::Arg;

/// The words for installing what the package itself asks for.
pub(in crate::rules) const WORDS: &[&str] = &["ci", "install", "i", "clean-install", "install-clean"];

/// What keeps the scripts of packages from being run.
pub(in crate::rules) const NO_SCRIPTS: &str = "--ignore-scripts";

words!("builtin/installs");

/// Where a package says what it needs.
const NEEDS: &[&str] = &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Whether words in front of which `npm` stands install what the package asks for, in this directory and from the registry.
pub(in crate::rules) fn is_plain(words: &[&str]) -> bool {
    words.split_first().is_some_and(|(first, rest)| {
        WORDS.contains(first) && rest.iter().all(|word| *word == NO_SCRIPTS || PLAIN.contains(word))
    })
}

/// Such an install in a tree that an earlier call fetched, where nothing but scripts could run code of the tree.
pub(in crate::rules) fn needs_no_scripts(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words: Option<Vec<&str>> = inv.args.iter().map(Arg::known).collect();
    let plain = inv.word.known() == Some("npm") && words.is_some_and(|words| is_plain(&words));
    plain && inv.cwd.as_deref().is_some_and(|cwd| is_tame(cwd, scene))
}

/// The same with the scripts left out.
pub(super) fn runs_nothing(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().any(|arg| arg.known() == Some(NO_SCRIPTS)) && needs_no_scripts(inv, scene)
}

/// A package whose tree has no settings for npm, which can name programs, and that takes nothing by git, which brings its own.
fn is_tame(cwd: &str, scene: &Scene<'_>) -> bool {
    let facts = scene.view.facts;
    // What the call itself fetches is not there yet to be looked at.
    let fetched = strange(&facts.marks, cwd, scene).is_some();
    fetched
        && settings(cwd, |dir| strange(&facts.marks, dir, scene).is_some())
            .iter()
            .all(|path| facts.is_missing(path))
        && text(cwd, "package.json", facts).is_some_and(takes_from_registry)
        && text(cwd, "package-lock.json", facts).is_some_and(|lock| !lock.contains("\"git"))
}

fn text<'f>(cwd: &str, name: &str, facts: &'f Facts) -> Option<&'f str> {
    facts.content(&join(cwd, name)).flatten()
}

/// The files of settings that npm reads in a directory of a tree.
fn settings(cwd: &str, is_inside: impl Fn(&str) -> bool) -> Vec<String> {
    let above = std::iter::successors(Some(cwd), |dir| dir.rsplit_once('/').map(|(above, _)| above));
    above.take_while(|dir| !dir.is_empty() && is_inside(dir)).map(|dir| join(dir, ".npmrc")).collect()
}

/// What has to be known of an install in a tree that came from elsewhere.
pub(in crate::rules) fn asks(inv: &Invocation, is_inside: impl Fn(&str) -> bool) -> Vec<Ask> {
    let first = inv.args.first().and_then(Arg::known).unwrap_or_default();
    let Some(cwd) = inv.cwd.as_deref().filter(|cwd| is_inside(cwd)) else { return Vec::new() };
    if inv.program != "npm" || !WORDS.contains(&first) {
        return Vec::new();
    }
    let texts = ["package.json", "package-lock.json"].map(|name| Ask::Content(join(cwd, name)));
    settings(cwd, is_inside).into_iter().map(Ask::Path).chain(texts).collect()
}

/// Whether all that a package needs is named by versions of the registry's.
fn takes_from_registry(manifest: &str) -> bool {
    let Ok(serde_json::Value::Object(manifest)) = serde_json::from_str(manifest) else { return false };
    let is_version =
        |version: &serde_json::Value| version.as_str().is_some_and(|version| !version.contains([':', '/']));
    let tame = |key: &&str| match manifest.get(*key) {
        None => true,
        Some(needs) => needs.as_object().is_some_and(|needs| needs.values().all(is_version)),
    };
    NEEDS.iter().all(tame) && !["overrides", "workspaces"].iter().any(|key| manifest.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_come_from_the_registry() {
        assert!(takes_from_registry(
            r#"{"name":"a","dependencies":{"b":"^1.2"},"repository":"git+https://x"}"#
        ));
        for text in [
            r#"{"dependencies":{"b":"u/r"}}"#,
            r#"{"devDependencies":{"b":"git+https://x.example/b"}}"#,
            r#"{"dependencies":{"b":"file:../b"}}"#,
            r#"{"dependencies":["b"]}"#,
            r#"{"workspaces":["a"]}"#,
            r#"{"overrides":{"b":{"c":"u/r"}}}"#,
            "[]",
            "x",
        ] {
            assert!(!takes_from_registry(text), "{text}");
        }
    }

    #[test]
    fn settings_are_looked_for_up_to_the_top_of_the_tree() {
        let inside = |dir: &str| crate::domain::lies_in(dir, "/p/b");
        assert_eq!(settings("/p/b/c", inside), ["/p/b/c/.npmrc", "/p/b/.npmrc"]);
        assert!(settings("/p", inside).is_empty());
    }
}
