//! What is worth saving before a call, and what a checkpoint changes in the decision on it. Saves nothing itself.

use crate::domain::{
    Decision, Effect, EffectKind, Facts, Leave, Places, Protected, ProtectedKind, Reason, Severity, Target,
    Verdict, join, lies_in,
};
use crate::rules::{Code, Invocation, Survey, is_build_output};
use crate::shell::Arg;

/// Rules against commands of git that discard what git does not hold. With all of that saved, they warn.
const DISCARDS: [&str; 9] = [
    "git.reset-hard",
    "git.checkout-paths",
    "git.checkout-force",
    "git.restore",
    "git.discard-file",
    "git.clean",
    "git.clean-ignored",
    "git.stash-drop",
    "git.stash-clear",
];
/// The rule that lets a deletion inside the project run because it can be undone.
const DELETES: &str = "files.delete-inside";
/// Programs that put files into a directory, under names that only they know where they are told a pattern.
const PLACERS: [&str; 5] = ["mv", "cp", "install", "ln", "rsync"];
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
    /// What is there is lost where it is not saved: it does not only move.
    pub lost: bool,
    /// The path is a directory, and meant is what in it has a name that this pattern finds.
    pub from: Option<String>,
}

/// The paths that a call changes, as far as they are known and not expendable.
pub fn touched(survey: &Survey, facts: &Facts, code: Option<&Code>) -> Vec<Touched> {
    let runs = |inv: &Invocation, programs: &[&str]| programs.contains(&inv.program.as_str());
    let moved: Vec<String> = survey.invocations.iter().filter(|inv| is_move(inv)).flat_map(moved).collect();
    let moves = survey.invocations.iter().any(is_move);
    let placers = survey.invocations.iter().filter(|inv| runs(inv, &PLACERS));
    let mut found: Vec<Touched> = Vec::new();
    let effects = survey.effects.iter().filter_map(|effect| of_effect(effect, (&moved, moves), facts));
    let known = effects.chain(placers.flat_map(|inv| placed(inv, facts)));
    for touched in known.chain(of_code(code)).filter(|touched| is_worth(touched, &facts.places)) {
        if !found.contains(&touched) {
            found.push(touched);
        }
    }
    found
}

/// What code names, wherever something is there.
fn of_code(code: Option<&Code>) -> impl Iterator<Item = Touched> + '_ {
    let deep = code.is_some_and(|code| code.deep);
    code.into_iter().flat_map(|code| &code.names).filter_map(move |(cwd, name)| {
        let path = join(cwd.as_deref().unwrap_or("/"), name);
        let known = cwd.is_some() || name.starts_with('/');
        let glob = name.contains('*');
        // A word that looks like the name of a file may be one that is made.
        let follow = !deep && !glob && name.contains(['.', '/']) && !name.contains(' ');
        known.then_some(Touched { path, glob, deep, follow, lost: true, from: None })
    })
}

/// Where a command puts files into a directory whose names a pattern finds, or all that is in another.
fn placed(inv: &Invocation, facts: &Facts) -> Vec<Touched> {
    let given = inv.flags.iter().find(|flag| matches!(flag.name.as_str(), "-t" | "--target-directory"));
    let (Some(cwd), Some((last, front))) = (inv.cwd.as_deref(), inv.operands.split_last()) else {
        return Vec::new();
    };
    let (to, from) = match given.and_then(|flag| flag.value.as_ref()) {
        Some(to) => (to, inv.operands.as_slice()),
        None => (last, front),
    };
    let path = join(cwd, &to.to_text());
    let whole = |arg: &Arg| {
        let text = arg.to_text();
        text.ends_with("/.") || text.ends_with('/') && inv.program == "rsync"
    };
    let one = |deep, from| Touched { path: path.clone(), glob: false, deep, follow: true, lost: true, from };
    if from.iter().any(whole) && !facts.places.roots().any(|root| root == path) {
        return vec![one(true, None)];
    }
    let patterns = from.iter().filter(|arg| arg.has_glob());
    patterns.map(|arg| one(false, Some(join(cwd, &arg.to_text())))).collect()
}

/// Whether it is known of every path that a call changes which one it is.
pub fn is_known(survey: &Survey) -> bool {
    let unknown = |effect: &Effect| matches!(effect.target, Target::UnknownPath { .. });
    survey.problem.is_none() && !survey.effects.iter().any(|effect| is_change(effect.kind) && unknown(effect))
}

fn is_change(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::FileCreation | EffectKind::FileModification | EffectKind::FileDeletion)
}

pub(super) fn is_move(inv: &Invocation) -> bool {
    inv.program == "mv" || is_sub(inv, "mv")
}

/// What a command moves away: it is there afterwards, under another name.
pub(super) fn moved(inv: &Invocation) -> Vec<String> {
    let into = inv.flags.iter().any(|flag| matches!(flag.name.as_str(), "-t" | "--target-directory"));
    let count = inv.operands.len().saturating_sub(usize::from(!into));
    let cwd = inv.cwd.as_deref().unwrap_or("/");
    inv.operands.iter().take(count).map(|arg| join(cwd, &arg.to_text())).collect()
}

fn of_effect(effect: &Effect, (moved, moves): (&[String], bool), facts: &Facts) -> Option<Touched> {
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
        Target::Path { path, glob, recursive }
            if !(effect.disposable && (*recursive || *glob) && is_made_again(path, facts)) =>
        {
            let deep = deletes || *recursive || moves && effect.kind == EffectKind::FileModification;
            let lost = !effect.disposable && !moved.contains(path);
            let (path, glob, from) = (path.clone(), *glob, None);
            Some(Touched { path, glob, deep, follow: !deletes, lost, from })
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => None,
    }
}

/// Whether what lies there is the output of a build, or lies in a temporary directory outside the project.
fn is_made_again(path: &str, facts: &Facts) -> bool {
    let inside = facts.places.roots().find_map(|root| path.strip_prefix(root));
    inside.is_none_or(is_build_output)
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

/// How much of a repository has to be saved so that what the call discards can be put back; each holds what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Discarded {
    /// Branches, tags and stashes.
    Names,
    /// What is checked out and staged.
    Staged,
    /// What git does not hold.
    Changes,
    /// The call goes to another state of the repository: all of it.
    All,
}

/// How much is discarded, and the directories in whose repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub discarded: Discarded,
    pub at: Vec<String>,
}

impl Loss {
    fn add(loss: Option<Loss>, discarded: Discarded, at: &str) -> Option<Loss> {
        let mut loss = loss.unwrap_or_else(|| Loss { discarded, at: Vec::new() });
        loss.discarded = loss.discarded.max(discarded);
        if !loss.at.iter().any(|other| other == at) {
            loss.at.push(at.to_owned());
        }
        Some(loss)
    }
}

/// What a call's commands of git discard, where a checkpoint of the work tree can bring all of it back.
pub fn discarded(survey: &Survey, facts: &Facts) -> Option<Loss> {
    let mut commands = survey.invocations.iter().filter(|inv| inv.program == "git").peekable();
    commands.peek()?;
    let repo = facts.places.repo.as_deref()?;
    if survey.problem.is_some() || !facts.places.roots().any(|root| root == repo) {
        return None;
    }
    let mut found = None;
    for inv in commands {
        if let Some(discarded) = of_command(inv, repo)? {
            found = Loss::add(found, discarded, inv.cwd.as_deref()?);
        }
    }
    found
}

/// What a call takes that nothing else saves: names of commits, what is staged, and files that it changes without naming them.
pub fn unnamed(survey: &Survey, facts: &Facts, code: Option<&Code>) -> Option<Loss> {
    let repo = facts.places.repo.as_deref()?;
    let mut found = None;
    for inv in survey.invocations.iter().filter(|inv| inv.program == "git" && !inv.contained) {
        if let (Some(discarded), Some(at)) = (names_taken(inv), place_of(inv)) {
            found = Loss::add(found, discarded, &at);
        }
    }
    if changes_unnamed(survey, facts, code) {
        found = Loss::add(found, Discarded::Changes, repo);
    }
    found
}

/// Whether a call changes files in the project without naming them.
pub fn changes_unnamed(survey: &Survey, facts: &Facts, code: Option<&Code>) -> bool {
    let unknown = |effect: &Effect| match &effect.target {
        Target::UnknownPath { known, .. } => {
            is_change(effect.kind)
                && (known.is_empty() || facts.places.roots().any(|root| lies_in(known, root)))
        }
        Target::Path { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    code.is_some_and(|code| code.computes) || survey.effects.iter().any(unknown)
}

/// The directory in which a command of git looks for its repository.
pub(super) fn place_of(inv: &Invocation) -> Option<String> {
    if inv.text.contains("GIT_DIR") || inv.args.iter().any(|arg| arg.prefix().starts_with("--git-dir")) {
        return None;
    }
    inv.cwd.clone()
}

pub(super) fn is_sub(inv: &Invocation, word: &str) -> bool {
    inv.program == "git" && inv.sub.first().is_some_and(|sub| sub == word)
}

/// Whether a command of git takes names, or what is staged.
pub(super) fn takes_names(inv: &Invocation) -> bool {
    inv.program == "git" && !inv.contained && names_taken(inv).is_some()
}

/// What a command of git takes although no rule speaks against it, or only one that does not stop it.
fn names_taken(inv: &Invocation) -> Option<Discarded> {
    let has = |flags: &[&str]| {
        inv.args.iter().filter_map(Arg::known).any(|word| {
            let (name, _) = word.split_once('=').unwrap_or((word, ""));
            flags.contains(&name)
                // Letters stand together.
                || !word.starts_with("--") && word.starts_with('-') && flags.iter().any(|flag| {
                    flag.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && word.contains(letter))
                })
        })
    };
    let replaces = || inv.operands.iter().any(|arg| arg.prefix().starts_with(['+', ':']));
    let second = inv.sub.get(1).map(String::as_str).unwrap_or_default();
    match inv.sub.first().map(String::as_str).unwrap_or_default() {
        "branch" if has(&["-m", "-M", "--move"]) => Some(Discarded::Staged),
        "branch" if has(&["-d", "-D", "--delete", "-f", "--force", "-C"]) => Some(Discarded::Names),
        "tag" if has(&["-d", "--delete", "-f", "--force"]) => Some(Discarded::Names),
        "checkout" if has(&["-B"]) => Some(Discarded::Names),
        "switch" if has(&["-C", "--force-create"]) => Some(Discarded::Names),
        "stash" if matches!(second, "drop" | "clear" | "pop") => Some(Discarded::Names),
        "fetch" | "pull" | "push"
            if replaces() || has(&["-f", "--force", "-d", "--delete", "--prune", "--mirror"]) =>
        {
            Some(Discarded::Names)
        }
        "update-ref" | "symbolic-ref" | "reset" | "rm" | "mv" | "read-tree" | "restore" => {
            Some(Discarded::Staged)
        }
        "checkout" if inv.operands.len() > 1 || has(&["--"]) => Some(Discarded::Staged),
        "apply" => Some(Discarded::Changes),
        _ => None,
    }
}

/// Whether the work trees of submodules are set back.
pub fn resets_submodules(survey: &Survey) -> bool {
    survey.invocations.iter().any(|inv| {
        let forced = inv.args.iter().any(|arg| matches!(arg.known(), Some("-f" | "--force")));
        let second = inv.sub.get(1).map(String::as_str).unwrap_or_default();
        is_sub(inv, "submodule")
            && (forced && second == "update" || second == "deinit" || second == "foreach")
    })
}

/// Whether files that git does not track go, or may be overwritten.
pub fn discards_untracked(survey: &Survey) -> bool {
    let takes = |inv: &Invocation| {
        let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
        // Another commit may have a file of that name.
        let other = || inv.operands.iter().any(|arg| !matches!(arg.known(), Some("HEAD" | "@")));
        matches!(sub, "clean" | "checkout" | "switch") || sub == "reset" && other()
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
        // Directories that git ignores are not saved, and what lies in another repository neither.
        let forced = letters('f') + words.iter().filter(|word| **word == "--force").count();
        let all = letters('x') > 0 || forced > 1;
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

/// Whether files that git ignores go.
pub fn discards_ignored(survey: &Survey) -> bool {
    let letter =
        |arg: &Arg| arg.known().is_some_and(|word| word.starts_with('-') && word.contains(['x', 'X']));
    survey.invocations.iter().any(|inv| is_sub(inv, "clean") && inv.args.iter().any(letter))
}

/// Whether such a command of git is what the decision is about, and the call runs or would with a checkpoint.
pub fn is_about_discarding(decision: &Decision) -> bool {
    is_undoable(decision) || decision.verdict() == Verdict::Warn && decision.reasons().iter().any(discards)
}

/// Whether a reason is that such a command discards work.
pub(super) fn discards(reason: &Reason) -> bool {
    DISCARDS.contains(&reason.rule.as_str())
}

/// Whether only such commands of git speak against the call, so that it would be a warning with a checkpoint.
pub fn is_undoable(decision: &Decision) -> bool {
    let mut against = decision.reasons().iter().filter(|reason| reason.verdict > Verdict::Warn).peekable();
    against.peek().is_some()
        && decision.fault_kind().is_none()
        && against.all(|reason| discards(reason) && reason.severity < Severity::Critical)
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
        effect.reversible |= is_change(effect.kind);
    }
}

/// The decision on a call of which all that it loses was saved: a score warns of nothing then.
pub fn unscored(decision: Decision, can_ask: bool) -> Decision {
    let warns = |reason: &Reason| reason.verdict == Verdict::Warn && reason.leave() == Leave::Score;
    if decision.verdict() != Verdict::Warn || !decision.reasons().iter().any(warns) {
        return decision;
    }
    decision.reasoned(can_ask, |reasons| reasons.retain(|reason| !warns(reason)))
}

/// Whether the call is let through only because it can be undone.
pub fn leans_on_a_checkpoint(decision: &Decision) -> bool {
    decision.reasons().iter().any(|reason| reason.rule == DELETES && reason.verdict == Verdict::Warn)
}

/// The decision on a call that would run without a word, of which a part was not saved.
pub fn partly_saved(decision: Decision, why: &str) -> Decision {
    decision.reasoned(true, |reasons| {
        reasons.push(Reason::new(
            "checkpoint.incomplete",
            Verdict::Warn,
            Severity::Low,
            format!("not all that it changes could be saved first: {why}"),
        ));
    })
}

/// The decision on a call that leans on a checkpoint which could not be made.
pub fn unsaved(decision: Decision, why: &str, can_ask: bool) -> Decision {
    decision.reasoned(can_ask, |reasons| {
        reasons.push(Reason {
            instead: Some("delete what can be made again by its name, or let the person do it".to_owned()),
            ..Reason::new(
                "checkpoint.incomplete",
                Verdict::Modify,
                Severity::Medium,
                format!("what it deletes or overwrites could not be saved first: {why}"),
            )
        });
    })
}
