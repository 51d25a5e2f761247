//! Tools of servers that are not ours to know: judged by the words of their names and by their arguments.

mod sends;
mod spoken;
pub(in crate::rules) mod unlisted;
mod verbs;

pub(super) use sends::holds_database_password;

use crate::domain::Verdict;
use crate::rules::matcher::{Found, Scene, Told};

words!("builtin/tools");

/// Whether an address holds a secret, a password within another address, or settings that a part of it is base64 of.
pub(super) fn holds_settings(address: &str) -> bool {
    sends::holds_secret(address) || sends::carries_settings(address)
}

/// A tool of which `judge` says exactly `verdict`.
fn by<'a>(scene: &Scene<'a>, judge: fn(&Told<'_>) -> Verdict, verdict: Verdict) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if judge(told) == verdict { Found::yes(told.text) } else { Found::No }
}

fn when<'a>(scene: &Scene<'a>, test: fn(&Told<'_>) -> bool) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if test(told) { Found::yes(told.text) } else { Found::No }
}

/// A tool that stands for a command line of which the rules say exactly `verdict`.
fn stands_for<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if spoken::verdict(told, scene) == verdict { Found::yes(told.text) } else { Found::No }
}
