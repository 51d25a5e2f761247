//! What a program is told to bring to a place on a host that is not among the known ones: a copy, a backup, a state, a document to print.

use super::data_sent::is_far;
use crate::rules::Invocation;
use crate::rules::builtin::operations::option_values;
use crate::rules::builtin::tools::unlisted::arguments::given;
use crate::rules::matcher::{Found, Scene, asks_for_help, host_of, is_rehearsal, runs};
use crate::shell::Arg;

words!("builtin/network/moved");

/// The place that such a text names, without what stands in front of its address: `rest:https://x`, `address=https://x`.
fn is_far_place(text: &str, scene: &Scene<'_>) -> bool {
    let at = text.find("://").and_then(|at| text.get(..at)).map_or(0, |front| {
        front.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at.saturating_add(1))
    });
    let place = text.get(at..).unwrap_or_default();
    // `user@host:path`
    let by_ssh = || text.trim_start_matches("sftp:").split_once(':').filter(|(host, _)| host.contains('@'));
    let cloud = ["amazonaws.com", "googleapis.com", "core.windows.net", "backblazeb2.com"];
    if cloud.iter().any(|end| host_of(place).ends_with(end)) {
        return false;
    }
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
    let found = scene
        .running(|inv| runs(inv, MOVERS))
        .filter(|inv| !asks_for_help(inv) && !is_rehearsal(inv))
        .find(|inv| {
            let far = |text: &String| is_far_place(text, scene);
            let told = inv.args.iter().filter_map(Arg::known);
            let puts =
                given(&inv.args).take(2).filter_map(Arg::known).any(|word| PUTS.contains(&word)) || { told }
                    .any(|word| PUTTING_OPTIONS.contains(&word));
            let named = !option_values(inv, FROM).is_empty() && option_values(inv, TO).iter().any(far);
            let from = || inv.operands.first().is_some_and(|from| far(&from.to_text()));
            let printed = matches!(inv.program.as_str(), "lp" | "lpr" | "kopia")
                && option_values(inv, &["-h", "-H", "--host"]).iter().any(|host| is_far(host, true, scene));
            // A stream goes where the last word says.
            let streamed =
                || inv.program == "ffmpeg" && inv.operands.last().is_some_and(|to| far(&to.to_text()));
            named
                || printed
                || streamed()
                || inv.program == "sshfs" && from() && fills(inv, scene)
                || puts && inv.args.iter().map(Arg::to_text).any(|text| far(&text))
        });
    Found::from(found.map(|inv| inv.text.as_str()))
}
