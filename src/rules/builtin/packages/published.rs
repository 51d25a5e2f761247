//! What is published, and taken back.

use crate::rules::builtin::{operations, standing};
use crate::rules::facts::operations::{PUBLISHES, PUBLISHES_PAGES, UPLOADS_PACKAGE};
use crate::rules::matcher::{Found, Scene, has_flag, has_sub};
use crate::shell::Arg;

words!("builtin/packages/published");

fn uploaded_by_a_module<'a>(scene: &Scene<'a>) -> Found<'a> {
    let elsewhere = |word: &&str| matches!(*word, "-r" | "--repository" | "--repository-url" | "--help");
    operations::done_where(scene, UPLOADS_PACKAGE, |inv| {
        !operations::known_words(inv).iter().any(elsewhere) && !standing::stays_here(inv)
    })
}

fn pages_published<'a>(scene: &Scene<'a>) -> Found<'a> {
    let kept = |word: &&str| *word == "--no-push";
    operations::done_where(scene, PUBLISHES_PAGES, |inv| !operations::known_words(inv).iter().any(kept))
}

fn published_by_words<'a>(scene: &Scene<'a>) -> Found<'a> {
    let rehearsed = |word: &&str| REHEARSED.contains(word);
    operations::done_where(scene, PUBLISHES, |inv| {
        !operations::known_words(inv).iter().any(rehearsed) && !standing::stays_here(inv)
    })
}

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// `cargo release --execute`, but for its steps that stay here or only push.
fn crate_released<'a>(scene: &Scene<'a>) -> Found<'a> {
    const STEPS: &[&str] =
        &["version", "replace", "hook", "commit", "tag", "push", "owner", "changes", "config"];
    let found = scene.first(&["cargo"], |inv| {
        has_sub(inv, "release")
            && (has_flag(inv, "--execute") || has_flag(inv, "-x"))
            && !has_flag(inv, "--no-publish")
            && !inv.args.iter().filter_map(Arg::known).any(|word| STEPS.contains(&word))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
