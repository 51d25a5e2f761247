//! What is worth saving before a call, and what a checkpoint changes in the decision on it. Saves nothing itself.

use crate::domain::{
    Decision, Effect, EffectKind, Facts, Places, Protected, ProtectedKind, Reason, Severity, Target, Verdict,
    lies_in,
};
use crate::rules::{Invocation, Survey};
use crate::shell::Arg;

/// Rules against commands of git that discard what git does not hold. With all of that saved, they warn.
const DISCARDS: [&str; 8] = [
    "git.reset-hard",
    "git.checkout-paths",
    "git.checkout-force",
    "git.restore",
    "git.discard-file",
    "git.clean",
    "git.stash-drop",
    "git.stash-clear",
];
/// The rule that lets a deletion inside the project run because it can be undone.
const DELETES: &str = "files.delete-inside";
/// What has no content of its own.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

/// One path that a call changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    pub path: String,
    pub glob: bool,
    /// With all that lies below it.
    pub deep: bool,
    /// What a link there leads to is changed, not the link.
    pub follow: bool,
}

/// The paths that a call changes, as far as they are known and not expendable.
pub fn touched(survey: &Survey, facts: &Facts) -> Vec<Touched> {
    let moves = survey.invocations.iter().any(|inv| inv.program == "mv");
    let mut found: Vec<Touched> = Vec::new();
    for effect in &survey.effects {
        let Some(touched) = of_effect(effect, moves).filter(|touched| is_worth(touched, &facts.places))
        else {
            continue;
        };
        if !found.contains(&touched) {
            found.push(touched);
        }
    }
    found
}

/// Whether it is known of every path that a call changes which one it is.
pub fn is_known(survey: &Survey) -> bool {
    let changes = |effect: &Effect| {
        matches!(
            effect.kind,
            EffectKind::FileCreation | EffectKind::FileModification | EffectKind::FileDeletion
        )
    };
    let unknown = |effect: &Effect| matches!(effect.target, Target::UnknownPath { .. });
    survey.problem.is_none() && !survey.effects.iter().any(|effect| changes(effect) && unknown(effect))
}

fn of_effect(effect: &Effect, moves: bool) -> Option<Touched> {
    let deletes = match effect.kind {
        EffectKind::FileDeletion => true,
        EffectKind::FileCreation | EffectKind::FileModification => false,
        EffectKind::FileRead
        | EffectKind::ProcessCreation
        | EffectKind::NetworkRequest
        | EffectKind::SystemCommand
        | EffectKind::SystemModification => return None,
    };
    match &effect.target {
        // A file that git or a build can bring back is saved all the same; whole directories of such are not.
        Target::Path { path, glob, recursive } if !(effect.disposable && (*recursive || *glob)) => {
            let deep = deletes || *recursive || moves;
            Some(Touched { path: path.clone(), glob: *glob, deep, follow: !deletes })
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => None,
    }
}

fn is_worth(touched: &Touched, places: &Places) -> bool {
    let path = touched.path.as_str();
    let is_own = |place: &&Protected| match place.kind {
        ProtectedKind::Own | ProtectedKind::Keys => place.tree,
        ProtectedKind::ClientSettings => false,
    };
    let own = places.protected.iter().filter(is_own).map(|place| place.path.as_str());
    let temp = places.temp.iter().map(String::as_str);
    path != "/"
        && !lies_in_one(path, SYSTEM)
        && !lies_in_one(path, own)
        && (lies_in_one(path, places.roots()) || !lies_in_one(path, temp))
}

fn lies_in_one<'a>(path: &str, dirs: impl IntoIterator<Item = &'a str>) -> bool {
    dirs.into_iter().any(|dir| lies_in(path, dir))
}

/// How much of the work tree has to be saved so that what the call discards can be put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discarded {
    /// What git does not hold.
    Changes,
    /// The call goes to another state of the repository: all of it.
    All,
}

/// What a call's commands of git discard, where a checkpoint of the work tree can bring all of it back.
pub fn discarded(survey: &Survey, facts: &Facts) -> Option<Discarded> {
    let mut commands = survey.invocations.iter().filter(|inv| inv.program == "git").peekable();
    commands.peek()?;
    let repo = facts.places.repo.as_deref()?;
    if survey.problem.is_some() || !facts.places.roots().any(|root| root == repo) {
        return None;
    }
    let mut found = None;
    for inv in commands {
        match of_command(inv, repo) {
            Some(Some(Discarded::All)) => found = Some(Discarded::All),
            Some(Some(Discarded::Changes)) => {
                found.get_or_insert(Discarded::Changes);
            }
            Some(None) => {}
            None => return None,
        }
    }
    found
}

/// What commands of git can discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stake {
    /// Changes to tracked files, and what is staged.
    Changes,
    Untracked,
    Stash,
}

/// What the commands of git in a call would discard, if it is there.
pub fn stakes(survey: &Survey) -> impl Iterator<Item = Stake> + '_ {
    survey.invocations.iter().filter(|inv| inv.program == "git").filter_map(|inv| {
        Some(match inv.sub.first()?.as_str() {
            "reset" | "checkout" | "switch" | "restore" => Stake::Changes,
            "clean" => Stake::Untracked,
            "stash" => Stake::Stash,
            _ => return None,
        })
    })
}

/// Whether files that git does not track go, or may be overwritten.
pub fn discards_untracked(survey: &Survey) -> bool {
    let takes = |inv: &Invocation| {
        let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
        matches!(sub, "clean" | "checkout" | "switch")
    };
    survey.invocations.iter().any(|inv| inv.program == "git" && takes(inv))
}

/// `None` = it cannot be told; `Some(None)` = it discards nothing of the kind.
fn of_command(inv: &Invocation, repo: &str) -> Option<Option<Discarded>> {
    let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
    if !matches!(sub, "reset" | "checkout" | "switch" | "restore" | "clean" | "stash") {
        return Some(None);
    }
    let here = inv.cwd.as_deref().is_some_and(|cwd| lies_in(cwd, repo));
    let words: Option<Vec<&str>> = inv.args.iter().map(Arg::known).collect();
    let words = words.filter(|_| here && !inv.privileged && !inv.contained)?;
    let elsewhere = |word: &&str| {
        matches!(*word, "-C" | "-c" | "--bare")
            || ["--git-dir", "--work-tree", "--recurse-submodules", "--namespace"]
                .iter()
                .any(|option| word.starts_with(option))
    };
    if words.iter().any(elsewhere) || inv.text.contains("GIT_") {
        return None;
    }
    let letters = |letter: char| {
        words
            .iter()
            .filter(|word| word.starts_with('-') && !word.starts_with("--"))
            .map(|word| word.matches(letter).count())
            .sum::<usize>()
    };
    if sub == "clean" {
        // What git ignores is not saved, and what lies in another repository neither.
        let forced = letters('f') + words.iter().filter(|word| **word == "--force").count();
        let all = letters('x') + letters('X') > 0 || forced > 1;
        return if all { None } else { Some(Some(Discarded::Changes)) };
    }
    if sub == "stash" {
        let list = inv.sub.get(1).is_some_and(|word| matches!(word.as_str(), "drop" | "clear"));
        return Some(Some(if list { Discarded::Changes } else { Discarded::All }));
    }
    // What is staged and not committed looks held by git, and goes where files are set back to a commit.
    let staged = matches!(sub, "reset" | "switch") || words.contains(&"--force") || letters('f') > 0;
    let plain = !staged && inv.operands.iter().all(|arg| matches!(arg.known(), Some("." | ":/")));
    let source =
        words.iter().any(|word| word.starts_with("--source")) || sub == "restore" && letters('s') > 0;
    Some(Some(if plain && !source { Discarded::Changes } else { Discarded::All }))
}

/// Whether such a command of git is what the decision is about, and the call runs or would with a checkpoint.
pub fn is_about_discarding(decision: &Decision) -> bool {
    let discards = |reason: &Reason| DISCARDS.contains(&reason.rule.as_str());
    is_undoable(decision) || decision.verdict() == Verdict::Warn && decision.reasons().iter().any(discards)
}

/// Whether only such commands of git speak against the call, so that it would be a warning with a checkpoint.
pub fn is_undoable(decision: &Decision) -> bool {
    let mut against = decision.reasons().iter().filter(|reason| reason.verdict > Verdict::Warn).peekable();
    against.peek().is_some()
        && decision.fault_kind().is_none()
        && against
            .all(|reason| DISCARDS.contains(&reason.rule.as_str()) && reason.severity < Severity::Critical)
}

/// The decision on a call whose checkpoint holds all that it discards.
pub fn lowered(decision: Decision, can_ask: bool) -> Decision {
    if !is_undoable(&decision) {
        return decision;
    }
    let mut decision = decision.reasoned(can_ask, |reasons| {
        for reason in reasons.iter_mut().filter(|reason| reason.verdict > Verdict::Warn) {
            reason.verdict = Verdict::Warn;
            reason.instead = None;
        }
    });
    reversible(&mut decision);
    decision
}

/// Everything that the call changes has been saved.
pub fn reversible(decision: &mut Decision) {
    for effect in &mut decision.effects {
        effect.reversible |= matches!(
            effect.kind,
            EffectKind::FileCreation | EffectKind::FileModification | EffectKind::FileDeletion
        );
    }
}

/// Whether the call is let through only because it can be undone.
pub fn leans_on_a_checkpoint(decision: &Decision) -> bool {
    decision.reasons().iter().any(|reason| reason.rule == DELETES && reason.verdict == Verdict::Warn)
}

/// The decision on a call that leans on a checkpoint which could not be made.
pub fn unsaved(decision: Decision, why: &str, can_ask: bool) -> Decision {
    decision.reasoned(can_ask, |reasons| {
        reasons.push(Reason {
            rule: "checkpoint.incomplete".to_owned(),
            verdict: Verdict::Modify,
            severity: Severity::Medium,
            message: format!("what it deletes could not be saved first: {why}"),
            matched: String::new(),
            instead: Some("delete what can be made again by its name, or let the person do it".to_owned()),
        });
    })
}
