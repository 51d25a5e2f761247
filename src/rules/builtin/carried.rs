//! A call that runs what cannot be known before, and that carries a blocked command in its own text: what would be asked about
//! is blocked then.

use super::RuleSet;
use super::code::shell_text::shell_verdict;
use super::scripts::strings;
use crate::domain::Verdict;
use crate::rules::matcher::{Found, Scene, matches_one_of};
use crate::shell::Arg;

/// Rules that ask because something unknown is run.
static ASKING: RuleSet = RuleSet::of(&[&[
    "shell.computed-command",
    "shell.eval-unknown",
    "shell.injected-code",
    "shell.pattern-as-command",
    "code.option-runs-command",
    "code.filter-runs-command",
    "code.runs-asked-command",
]]);

/// Most texts that are held against the rules.
const MAX_TEXTS: usize = 24;

words!("builtin/carried");

fn carried<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let blocked = |text: &str| {
        let text = text.trim().trim_start_matches(['|', '!', '@']);
        shell_verdict(scene, text, scene.view.cwd) == Verdict::Block
    };
    // Line by line, because a quote in a comment has no end.
    let lines = scene.texts().take(MAX_TEXTS).flat_map(str::lines).flat_map(strings).take(MAX_TEXTS);
    let args = scene.invocations().iter().flat_map(|inv| &inv.args).filter_map(Arg::known).map(str::to_owned);
    let mut texts = lines.chain(args.take(4 * MAX_TEXTS));
    // The other rules first: each text is a call of its own.
    if matches_one_of(scene, &ASKING)
        && texts
            .any(|text| blocked(&text) || strings(&text).iter().take(MAX_TEXTS).any(|inner| blocked(inner)))
    {
        return Found::yes(scene.command_line());
    }
    Found::No
}
