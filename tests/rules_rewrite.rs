//! The rewriters: what they change, what they leave as it was, and when they give up.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::domain::{Decision, Enforcement, Policy, Verdict};
use lazaret::rules::{View, fixture, judge, rewrite};

/// The decision of the rules alone, and what the command becomes.
fn decide(command: &str) -> (Decision, Option<String>) {
    let policy = Policy::default();
    let call = fixture::call(command);
    let (survey, facts) = fixture::survey_of(&call, &policy);
    let view = View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
    let reasons = judge(&view);
    let change = rewrite(&view, &reasons);
    let decision = Decision::new(reasons, change, true);
    let value = decision.rewrite().map(|change| change.value.clone());
    (decision, value)
}

#[test]
fn a_forced_push_becomes_a_lease_and_nothing_else_changes() {
    for (before, after) in [
        ("git push --force origin feature", "git push --force-with-lease origin feature"),
        ("git push -f origin feature", "git push --force-with-lease origin feature"),
        ("git push origin feature --force", "git push origin feature --force-with-lease"),
        ("git push --forc origin feature", "git push --force-with-lease origin feature"),
        ("git push -uf origin feature", "git push -u --force-with-lease origin feature"),
        ("git push origin +feature", "git push origin --force-with-lease=feature feature"),
        ("git push origin +local:remote", "git push origin --force-with-lease=remote local:remote"),
        ("git  push   --force\torigin feature", "git  push   --force-with-lease\torigin feature"),
        ("git -C sub push --force origin feature", "git -C sub push --force-with-lease origin feature"),
        ("X=1 git push --force origin feature", "X=1 git push --force-with-lease origin feature"),
        (
            "cd sub && git push -f origin feature && echo 'git push -f' # -f",
            "cd sub && git push --force-with-lease origin feature && echo 'git push -f' # -f",
        ),
        (
            "git commit -m \"push --force\" && git push --force origin a; rm -f x; git push -f origin b",
            "git commit -m \"push --force\" && git push --force-with-lease origin a; rm -f x; git push --force-with-lease origin b",
        ),
        (
            "echo grüße; git push --force origin feature",
            "echo grüße; git push --force-with-lease origin feature",
        ),
    ] {
        let (decision, value) = decide(before);
        assert_eq!(value.as_deref(), Some(after), "{before}: {:?}", decision.reasons());
        assert_eq!(decision.enforcement(), Enforcement::Rewrite, "{before}");
    }
}

#[test]
fn what_a_rewrite_makes_is_let_through() {
    for command in
        ["git push --force origin feature", "git push origin +feature", "git push -uf origin feature"]
    {
        let (_, value) = decide(command);
        let (decision, again) = decide(&value.expect("it is rewritten"));
        assert!(decision.verdict() < Verdict::Modify, "{command}: {:?}", decision.reasons());
        assert_eq!(again, None);
    }
}

#[test]
fn where_it_is_not_safe_to_rewrite_a_person_is_asked() {
    for command in [
        "bash -c 'git push --force origin feature'",
        "git push \"--force\" origin feature",
        "git push --force \"$REMOTE\" feature",
        "F=--force; git push $F origin feature",
        "sudo git push --force origin feature",
        "git push origin +HEAD",
        "git push --force origin feature; bash -c 'git push -f origin b'",
        "echo feature | xargs git push --force origin",
        "git stash drop; git push --force origin feature",
    ] {
        let (decision, value) = decide(command);
        assert_eq!(value, None, "{command}");
        assert_eq!(decision.enforcement(), Enforcement::Ask, "{command}: {:?}", decision.reasons());
    }
}

#[test]
fn a_block_is_not_rewritten() {
    for command in ["git push --force origin main", "git push --force origin feature && rm -rf /"] {
        let (decision, value) = decide(command);
        assert_eq!(value, None, "{command}");
        assert_eq!(decision.verdict(), Verdict::Block, "{command}");
    }
}

#[test]
fn a_forced_removal_loses_its_force_and_git_itself_refuses_where_something_would_be_lost() {
    for (before, after) in [
        ("git worktree remove --force ../wt", "git worktree remove ../wt"),
        ("git worktree remove -f -f ../wt", "git worktree remove ../wt"),
        ("git worktree remove ../wt --force && ls", "git worktree remove ../wt && ls"),
        ("git -C sub submodule deinit -f vendor/lib", "git -C sub submodule deinit vendor/lib"),
        ("rm -f x; git worktree remove\t--forc ../wt # -f", "rm -f x; git worktree remove ../wt # -f"),
    ] {
        let (decision, value) = decide(before);
        assert_eq!(value.as_deref(), Some(after), "{before}: {:?}", decision.reasons());
        assert_eq!(decision.enforcement(), Enforcement::Rewrite, "{before}");
        let (after, again) = decide(after);
        assert!(after.verdict() < Verdict::Modify && again.is_none(), "{before}: {:?}", after.reasons());
    }
    for command in [
        "bash -c 'git worktree remove --force ../wt'",
        "git worktree remove --force \"$W\"",
        "sudo git worktree remove --force ../wt",
        "git worktree remove --force ../a; F=-f; git worktree remove $F ../b",
        "git worktree remove --force ../a; git push --force origin topic",
    ] {
        let (decision, value) = decide(command);
        assert_eq!(value, None, "{command}");
        assert_eq!(decision.enforcement(), Enforcement::Ask, "{command}: {:?}", decision.reasons());
    }
}
