//! What the commands of git in a call would discard, as places to look at: where nothing is there, nothing speaks against them.
//! Looks at nothing itself.

use super::undoable::{self, is_sub};
use crate::domain::{Decision, EffectKind, Facts, Leave, PathKind, Target, Verdict, join, lies_in};
use crate::rules::{Invocation, Survey};
use crate::shell::Arg;

/// What one command would discard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stake {
    /// Changes that are not staged, at these places; none = all.
    Unstaged(Vec<String>),
    /// Changes, staged ones too.
    Changes,
    /// The same, and what lies in the way of another commit; the one that is left has to be noted.
    Other,
    /// Files that git does not track, at these places.
    Untracked { within: Vec<String>, plain: bool, ignored: bool, inner: bool },
    /// What was stashed.
    Stash,
}

/// Commands of git that change neither files nor what is staged.
const LOOKING: [&str; 19] = [
    "branch",
    "describe",
    "diff",
    "fetch",
    "for-each-ref",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "push",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "tag",
];
/// Commands of git that do, with nothing that only a work tree or a stash holds.
const GOING: [&str; 12] = [
    "checkout",
    "checkout-index",
    "cherry-pick",
    "clean",
    "commit",
    "merge",
    "pull",
    "read-tree",
    "rebase",
    "reset",
    "restore",
    "switch",
];
/// Commands of git by which nothing is discarded that a command in front of them has looked after.
const BEHIND: [&str; 7] = ["add", "am", "apply", "mv", "revert", "rm", "stash"];
/// Programs that run a command once, as it is written.
const WRAPPERS: [&str; 12] =
    ["bash", "command", "dash", "env", "eval", "exec", "nice", "nohup", "sh", "time", "timeout", "zsh"];
/// What code of another language calls what discards work.
const CALLS: [&str; 7] = ["reset", "clean", "checkout", "restore", "stash", "working_tree", "discard"];

/// Options that have git work elsewhere than it would, or otherwise.
const ELSEWHERE: [&str; 5] = ["--git-dir", "--work-tree", "--recurse-submodules", "--namespace", "--bare"];

/// What a call would discard by git, each with the directory of its repository. Nothing where that cannot be told, or the call
/// itself puts there what it discards.
pub fn stakes(survey: &Survey, facts: &Facts, text: &str) -> Option<Vec<(String, Stake)>> {
    let gits = || survey.invocations.iter().enumerate().filter(|(_, inv)| inv.program == "git");
    if survey.problem.is_some() || gits().next().is_none() || text.contains("GIT_") {
        return None;
    }
    let mut found = Vec::new();
    let mut last = 0;
    for (at, inv) in gits() {
        if let Some(stake) = stake(inv, facts)? {
            found.push((undoable::place_of(inv)?, stake));
            last = at;
        }
    }
    let all = survey.invocations.iter().enumerate();
    let is_clear = all.clone().all(|(at, inv)| is_harmless(inv, at > last))
        && !found.iter().any(|(at, stake)| is_filled(survey, at, stake));
    // What was staged may not be any more when the second of them runs.
    let going = all.filter(|(at, inv)| *at <= last && GOING.iter().any(|sub| is_sub(inv, sub))).count();
    if going > 1 {
        found.extend(found.iter().map(|(at, _)| (at.clone(), Stake::Changes)).collect::<Vec<_>>());
    }
    (!found.is_empty() && is_clear).then_some(found)
}

/// Whether a command discards nothing that is not looked for, and in front of the last that does leaves nothing either.
fn is_harmless(inv: &Invocation, behind: bool) -> bool {
    if inv.program == "git" {
        let is_any = |subs: &[&str]| subs.iter().any(|sub| is_sub(inv, sub));
        let drops =
            is_sub(inv, "stash") && matches!(inv.sub.get(1).map(String::as_str), Some("drop" | "clear"));
        return is_any(&LOOKING) || is_any(&GOING) || drops || behind && is_any(&BEHIND);
    }
    let says = |words: &[&str]| {
        inv.args.iter().any(|arg| {
            let text = arg.text().to_ascii_lowercase();
            words.iter().any(|word| text.contains(word))
        })
    };
    let discards = says(&["git"]) && says(&CALLS);
    !inv.program.is_empty() && !discards
}

/// Whether the call moves files to where they are discarded then.
fn is_filled(survey: &Survey, at: &str, stake: &Stake) -> bool {
    if !survey.invocations.iter().any(undoable::is_move) {
        return false;
    }
    let moved: Vec<String> =
        survey.invocations.iter().filter(|inv| undoable::is_move(inv)).flat_map(undoable::moved).collect();
    let places = match stake {
        Stake::Unstaged(within) | Stake::Untracked { within, .. } => within.as_slice(),
        Stake::Changes | Stake::Other | Stake::Stash => &[],
    };
    let meant = |path: &str| match places {
        [] => lies_in(path, at) || lies_in(at, path),
        places => places.iter().any(|place| lies_in(path, place) || lies_in(place, path)),
    };
    survey.effects.iter().any(|effect| match (&effect.target, effect.kind) {
        (_, EffectKind::FileRead | EffectKind::FileDeletion) => false,
        (Target::Path { path, .. }, _) => !moved.contains(path) && meant(path),
        (Target::UnknownPath { .. }, _) => true,
        (Target::Url(_) | Target::Command(_) | Target::None, _) => false,
    })
}

/// `None` = it cannot be told; `Some(None)` = it discards nothing.
fn stake(inv: &Invocation, facts: &Facts) -> Option<Option<Stake>> {
    let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
    if !matches!(
        sub,
        "reset" | "read-tree" | "checkout-index" | "checkout" | "switch" | "restore" | "clean" | "stash"
    ) {
        return Some(None);
    }
    let words: Option<Vec<&str>> = inv.args.iter().map(Arg::known).collect();
    let is_run_once = inv.wrappers.iter().all(|wrapper| WRAPPERS.contains(&wrapper.as_str()));
    let words = words.filter(|_| !inv.privileged && !inv.contained && is_run_once)?;
    let elsewhere = |word: &&str| *word == "-c" || ELSEWHERE.iter().any(|option| word.starts_with(option));
    if words.iter().any(elsewhere) || words.iter().any(|word| word.starts_with("--pathspec")) {
        return None;
    }
    let told = Told { words: &words, inv };
    Some(match sub {
        "reset" if told.has(&["--hard", "--merge"]) => {
            let here = inv.operands.iter().all(|arg| matches!(arg.known(), Some("HEAD" | "@")));
            Some(if here { Stake::Changes } else { Stake::Other })
        }
        "read-tree" if told.has(&["--reset"]) => Some(Stake::Other),
        "checkout-index" if told.has(&["-f", "--force"]) && !told.has(&["--prefix"]) => {
            Some(Stake::Unstaged(if told.has(&["-a", "--all"]) {
                Vec::new()
            } else {
                told.places(&inv.operands)?
            }))
        }
        "switch" | "checkout" if told.has(&["-f", "--force", "--discard-changes"]) => {
            Some(if inv.operands.is_empty() { Stake::Changes } else { Stake::Other })
        }
        "checkout" => told.checked_out(facts)?,
        "restore" if told.has(&["-S", "--staged"]) && !told.has(&["-W", "--worktree"]) => None,
        "restore" if told.has(&["-s", "--source", "-S", "--staged"]) => Some(Stake::Other),
        "restore" => Some(Stake::Unstaged(told.places(&inv.operands)?)),
        "clean" if told.has(&["-n", "--dry-run"]) => None,
        "clean" => {
            let here = [Arg::literal(".")];
            let named = if inv.operands.is_empty() { &here } else { inv.operands.as_slice() };
            Some(Stake::Untracked {
                within: told.places(named)?,
                plain: !told.has(&["-X"]),
                ignored: told.has(&["-x", "-X"]),
                inner: told.letters('f') + words.iter().filter(|word| **word == "--force").count() > 1,
            })
        }
        "stash" => match inv.sub.get(1).map(String::as_str) {
            Some("drop" | "clear") => Some(Stake::Stash),
            _ => None,
        },
        _ => None,
    })
}

/// The words of one command.
struct Told<'a> {
    words: &'a [&'a str],
    inv: &'a Invocation,
}

impl Told<'_> {
    /// The words in front of the paths.
    fn options(&self) -> impl Iterator<Item = &str> {
        self.words.iter().copied().take_while(|word| *word != "--")
    }

    /// How often a letter stands among the options.
    fn letters(&self, letter: char) -> usize {
        // What stands behind such a letter is its value.
        let valued: &[char] = match self.inv.sub.first().map(String::as_str) {
            Some("clean") => &['e'],
            Some("restore") => &['s'],
            Some("checkout") => &['b', 'B'],
            Some("switch") => &['c', 'C'],
            _ => &[],
        };
        let short = self.options().filter(|word| word.starts_with('-') && !word.starts_with("--"));
        short
            .map(|word| {
                let end = word.find(valued).and_then(|at| at.checked_add(1)).unwrap_or(word.len());
                word.get(..end).unwrap_or(word).matches(letter).count()
            })
            .sum()
    }

    /// Whether one of these options is given, as it is or as the beginning of it that git understands.
    fn has(&self, options: &[&str]) -> bool {
        options.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => self.options().filter_map(|word| word.strip_prefix("--")).any(|word| {
                let word = word.split('=').next().unwrap_or_default();
                !word.is_empty() && long.starts_with(word)
            }),
            None => option.chars().nth(1).is_some_and(|letter| self.letters(letter) > 0),
        })
    }

    /// Where the paths lie that a command names; all of the work tree where git has a pattern of its own.
    fn places(&self, named: &[Arg]) -> Option<Vec<String>> {
        let cwd = undoable::place_of(self.inv)?;
        let words: Option<Vec<&str>> = named.iter().map(Arg::known).collect();
        let words = words?;
        if words.iter().any(|word| word.starts_with(':') || word.contains(['*', '?', '[', '\\'])) {
            return Some(Vec::new());
        }
        Some(words.into_iter().map(|word| join(&cwd, word)).collect())
    }

    /// A checkout without force: of paths, or of a branch, where git itself refuses to lose anything.
    fn checked_out(&self, facts: &Facts) -> Option<Option<Stake>> {
        let operands = self.inv.operands.as_slice();
        let behind = self.words.iter().position(|word| *word == "--").map(|at| self.words.len() - at - 1);
        let paths = match (behind, operands) {
            (Some(behind), _) => operands.get(operands.len().checked_sub(behind)?..)?,
            (None, [first, rest @ ..]) if self.has(&["-b", "-B", "--orphan"]) || is_commit(first) => rest,
            (None, [first, rest @ ..]) => {
                let places = self.places(std::slice::from_ref(first))?;
                match places.first().map(|path| facts.path(path)) {
                    Some(Some(fact)) if fact.kind == PathKind::Missing => rest,
                    // It may be a branch, and the others be taken from there.
                    Some(None) if !rest.is_empty() => rest,
                    Some(_) | None => operands,
                }
            }
            (None, []) => &[],
        };
        Some(match paths {
            [] if self.has(&["-p", "--patch"]) => Some(Stake::Changes),
            [] => None,
            // From a commit: what is staged goes as well, and what lies in the way.
            paths if paths.len() < operands.len() => Some(Stake::Other),
            paths => Some(Stake::Unstaged(self.places(paths)?)),
        })
    }
}

/// Whether a word is the name of a commit that no file has.
fn is_commit(arg: &Arg) -> bool {
    arg.known().is_some_and(|word| matches!(word, "HEAD" | "-") || word.contains(['~', '^', '@']))
}

/// Whether a call takes names of git's beside what its discarding commands leave.
pub fn takes_names_beside(survey: &Survey) -> bool {
    const DISCARD: [&str; 6] = ["reset", "read-tree", "checkout-index", "checkout", "switch", "restore"];
    survey
        .invocations
        .iter()
        .filter(|inv| !DISCARD.iter().any(|sub| is_sub(inv, sub)))
        .any(undoable::takes_names)
}

/// The decision on a call that discards nothing, although its commands could.
pub fn spared(decision: Decision, (is_known, can_ask): (bool, bool)) -> Decision {
    if !undoable::is_about_discarding(&decision) {
        return decision;
    }
    decision.reasoned(can_ask, |reasons| {
        reasons.retain(|reason| {
            let scores = is_known && reason.verdict == Verdict::Warn && reason.leave() == Leave::Score;
            !undoable::discards(reason) && !scores
        });
    })
}
