//! The rewriters: each changes the text of a command and nothing else in it, or gives up.

use super::{Scene, View};
use crate::domain::{Action, Rewrite};
use crate::rules::Invocation;
use crate::rules::builtin::{across, git, installs};
use crate::shell::{Part, Simple, Word, parse};

/// A change of a byte range.
struct Change {
    span: (usize, usize),
    text: String,
}

/// `--force`, `-f` and `+refspec` of each `git push` become a lease. Nothing where a push is not written out plainly.
pub(super) fn force_with_lease(view: &View<'_>) -> Option<Rewrite> {
    let value = changed(view, push, git::is_forced_push)?;
    Some(rewritten(super::Rewriter::ForceWithLease, value))
}

/// The force is taken out of each `git worktree remove` and `git submodule deinit`. Nothing where one is not written out plainly.
pub(super) fn without_force(view: &View<'_>) -> Option<Rewrite> {
    let value = changed(view, removal, |inv| {
        let removes = REMOVALS.iter().any(|path| inv.program == "git" && inv.sub == *path);
        removes && inv.flags.iter().any(|flag| is_force(&flag.name))
    })?;
    Some(rewritten(super::Rewriter::WithoutForce, value))
}

/// Each `npm ci` that would run scripts of a tree from elsewhere does without them. Nothing where something else of it would run.
pub(super) fn ignore_scripts(view: &View<'_>) -> Option<Rewrite> {
    let scene = Scene::new(*view);
    let runs = |inv: &Invocation| across::runs_fetched(inv, &scene);
    if view.survey.invocations.iter().any(|inv| runs(inv) && !installs::needs_no_scripts(inv, &scene)) {
        return None;
    }
    let value = changed(view, install, runs)?;
    Some(rewritten(super::Rewriter::IgnoreScripts, value))
}

/// The change to one command, where it is a plain install with scripts.
fn install(simple: &Simple, source: &str) -> Option<Vec<Change>> {
    let words: Vec<&str> = simple.words.iter().map(|word| plain(word, source)).collect::<Option<_>>()?;
    let [program, rest @ ..] = words.as_slice() else { return None };
    if *program != "npm" || !installs::is_plain(rest) || !simple.assigns.is_empty() {
        return None;
    }
    let behind = simple.words.get(1)?.span.1;
    let scripts = !rest.contains(&installs::NO_SCRIPTS);
    let change =
        scripts.then(|| Change { span: (behind, behind), text: format!(" {}", installs::NO_SCRIPTS) });
    Some(change.into_iter().collect())
}

fn rewritten(rewriter: super::Rewriter, value: String) -> Rewrite {
    Rewrite {
        name: rewriter.name().to_owned(),
        field: "command",
        value,
        also: &[],
        only: &[],
        needs_permission: false,
        told: true,
    }
}

/// The call's text after `change` was made to each of its commands. Nothing where `concerned` knows of one more than were changed.
fn changed(
    view: &View<'_>,
    change: fn(&Simple, &str) -> Option<Vec<Change>>,
    concerned: impl Fn(&Invocation) -> bool,
) -> Option<String> {
    let Action::Shell { command, .. } = &view.call.action else { return None };
    let script = parse(command);
    if script.problem.is_some() {
        return None;
    }
    let mut changes = Vec::new();
    let mut found = 0;
    for simple in &script.commands {
        if let Some(of_one) = change(simple, command) {
            found += usize::from(!of_one.is_empty());
            changes.extend(of_one);
        }
    }
    // Every command that the survey saw must be one that stands in the text, or one of them would stay as it is.
    let surveyed = view.survey.invocations.iter().filter(|inv| concerned(inv)).count();
    if found == 0 || found != surveyed {
        return None;
    }
    crate::domain::sort_by_key(&mut changes, |change| std::cmp::Reverse(change.span.0));
    let mut value = command.clone();
    for change in changes {
        let front = value.get(..change.span.0)?;
        let back = value.get(change.span.1..)?;
        value = format!("{front}{}{back}", change.text);
    }
    Some(value)
}

/// Commands of git that refuse without force where something would be lost.
const REMOVALS: [[&str; 2]; 2] = [["worktree", "remove"], ["submodule", "deinit"]];

fn is_force(word: &str) -> bool {
    word == "-f" || (word.len() >= 4 && "--force".starts_with(word))
}

/// The changes to one command, where it is such a removal whose words are all plain text.
fn removal(simple: &Simple, source: &str) -> Option<Vec<Change>> {
    let words: Vec<&str> = simple.words.iter().map(|word| plain(word, source)).collect::<Option<_>>()?;
    let git = git_in(&words)?;
    let at = REMOVALS.iter().find_map(|path| {
        let [first, second] = path;
        let at = words.iter().skip(git + 1).position(|word| word == first)? + git + 1;
        (words.get(at + 1) == Some(second)).then_some(at + 1)
    })?;
    let forces = simple.words.iter().zip(&words).skip(at + 1).filter(|(_, text)| is_force(text));
    let without = |(word, _): (&Word, &&str)| {
        // With the blank in front of it.
        let front = source.get(..word.span.0).unwrap_or_default();
        let from = front.trim_end_matches([' ', '\t']).len();
        Change { span: (from, word.span.1), text: String::new() }
    };
    Some(forces.map(without).collect())
}

/// Where the word `git` stands; in front of it only what cannot change which words are its own.
fn git_in(words: &[&str]) -> Option<usize> {
    let git = words.iter().position(|word| *word == "git" || word.ends_with("/git"))?;
    words.iter().take(git).all(|word| *word == "command" || *word == "exec").then_some(git)
}

/// The changes to one command, where it is a push whose words are all plain text.
fn push(simple: &Simple, source: &str) -> Option<Vec<Change>> {
    let words: Vec<&str> = simple.words.iter().map(|word| plain(word, source)).collect::<Option<_>>()?;
    let git = git_in(&words)?;
    let push = git + 1 + words.iter().skip(git + 1).position(|word| *word == "push")?;
    let mut changes = Vec::new();
    let mut refspecs = 0;
    for (word, text) in simple.words.iter().zip(&words).skip(push + 1) {
        refspecs += usize::from(!text.starts_with('-'));
        match leased(text, refspecs) {
            Leased::Itself => {}
            Leased::Other(text) => changes.push(Change { span: word.span, text }),
            Leased::Unsafe => return None,
        }
    }
    Some(changes)
}

/// What a word of a push becomes.
enum Leased {
    Itself,
    Other(String),
    /// It cannot be told whether the change would be right.
    Unsafe,
}

fn leased(word: &str, refspecs: usize) -> Leased {
    const LEASE: &str = "--force-with-lease";
    if word == "-f" || (word.len() >= 4 && "--force".starts_with(word)) {
        return Leased::Other(LEASE.to_owned());
    }
    if let Some(refspec) = word.strip_prefix('+') {
        let target = refspec.rsplit(':').next().unwrap_or_default();
        let known = refspecs > 1 && !target.is_empty() && target != "HEAD" && !target.contains(['*', '@']);
        return if known { Leased::Other(format!("{LEASE}={target} {refspec}")) } else { Leased::Unsafe };
    }
    if word.starts_with('-') && !word.starts_with("--") && word.contains('f') {
        let rest: String = word.chars().filter(|c| *c != 'f').collect();
        // Only bundles of options without a value can be taken apart.
        let apart = rest.chars().skip(1).all(|c| matches!(c, 'u' | 'v' | 'q' | 'n' | '4' | '6'));
        return if apart { Leased::Other(format!("{rest} {LEASE}")) } else { Leased::Unsafe };
    }
    Leased::Itself
}

/// The text of a word that is written without quotes, variables or anything else.
fn plain<'s>(word: &Word, source: &'s str) -> Option<&'s str> {
    let text = source.get(word.span.0..word.span.1)?;
    match word.parts.as_slice() {
        [Part::Text { text: known, .. }] if known == text => Some(text),
        _ => None,
    }
}
