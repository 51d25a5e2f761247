//! What a program is told to bring to a place on a host that is not among the known ones: a copy, a backup, a state, a document to print.

use super::data_sent::is_far;
use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, asks_for_help, is_rehearsal, runs};
use crate::shell::Arg;

words!("builtin/network/moved");

/// The value of one of these options, behind it or in one word with it.
fn values(inv: &Invocation, options: &[&str]) -> Vec<String> {
    let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let behind =
        texts.iter().zip(texts.iter().skip(1)).filter(|(option, _)| options.contains(&option.as_str()));
    let joined =
        texts.iter().filter_map(|text| text.split_once('=').filter(|(name, _)| options.contains(name)));
    behind.map(|(_, value)| value.clone()).chain(joined.map(|(_, value)| value.to_owned())).collect()
}

/// The place that such a text names, without what stands in front of its address: `rest:https://x`, `address=https://x`.
fn is_far_place(text: &str, scene: &Scene<'_>) -> bool {
    let at = text.find("://").and_then(|at| text.get(..at)).map_or(0, |front| {
        front.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at.saturating_add(1))
    });
    let place = text.get(at..).unwrap_or_default();
    // `user@host:path`
    let by_ssh = || text.trim_start_matches("sftp:").split_once(':').filter(|(host, _)| host.contains('@'));
    is_far(place, false, scene) || by_ssh().is_some_and(|(host, _)| is_far(host, true, scene))
}

/// Whether another command copies something into the directory that this one joins to another machine.
fn fills(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let place = inv.operands.get(1).map(Arg::to_text).unwrap_or_default();
    let into = |other: &Invocation| {
        other.operands.last().is_some_and(|to| to.text().starts_with(place.trim_end_matches('/')))
    };
    !place.is_empty() && scene.first(&["cp", "mv", "rsync", "install"], into).is_some()
}

/// A program is told where from and where to, and the second is far.
pub(super) fn moved<'a>(scene: &Scene<'a>) -> Found<'a> {
    let may_move = |inv: &Invocation| runs(inv, MOVERS) || facts::is_unheard_of(&inv.program);
    let found = scene
        .running(may_move)
        .filter(|inv| may_move(inv) && !asks_for_help(inv) && !is_rehearsal(inv))
        .find(|inv| {
            let far = |text: &String| is_far_place(text, scene);
            let words = operations::known_words(inv);
            let puts = words.iter().any(|word| PUTS.contains(word))
                || inv.args.iter().any(|arg| arg.known().is_some_and(|word| PUTS.contains(&word)));
            let named = !values(inv, FROM).is_empty() && values(inv, TO).iter().any(far);
            let filled = || {
                inv.program == "sshfs"
                    && inv.operands.first().is_some_and(|from| far(&from.to_text()))
                    && fills(inv, scene)
            };
            named
                || filled()
                || runs(inv, MOVERS) && puts && inv.args.iter().map(Arg::to_text).any(|text| far(&text))
        });
    Found::from(found.map(|inv| inv.text.as_str()))
}
