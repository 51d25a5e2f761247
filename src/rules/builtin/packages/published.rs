//! What is published, and taken back.

use crate::rules::Invocation;
use crate::rules::builtin::{operations, standing};
use crate::rules::matcher::{has_flag, has_sub};
use crate::shell::Arg;

words!("builtin/packages/published");

fn uploaded_by_a_module(inv: &Invocation) -> bool {
    let elsewhere = |word: &&str| matches!(*word, "-r" | "--repository" | "--repository-url" | "--help");
    !operations::known_words(inv).iter().any(elsewhere) && !standing::stays_here(inv)
}

fn pages_published(inv: &Invocation) -> bool {
    let kept = |word: &&str| *word == "--no-push";
    !operations::known_words(inv).iter().any(kept)
}

fn published_by_words(inv: &Invocation) -> bool {
    let rehearsed = |word: &&str| REHEARSED.contains(word);
    !operations::known_words(inv).iter().any(rehearsed) && !standing::stays_here(inv)
}

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// `cargo release --execute`, but for its steps that stay here or only push.
fn crate_released(inv: &Invocation) -> bool {
    const STEPS: &[&str] =
        &["version", "replace", "hook", "commit", "tag", "push", "owner", "changes", "config"];
    has_sub(inv, "release")
        && (has_flag(inv, "--execute") || has_flag(inv, "-x"))
        && !has_flag(inv, "--no-publish")
        && !inv.args.iter().filter_map(Arg::known).any(|word| STEPS.contains(&word))
}
