//! What was stopped, asked, rewritten and warned of: the reason, what it was judged by, and how to let it through.

use super::super::judged::Operation;
use super::super::story::{Answer, Call};
use super::{Html, Shown, anchor, word};
use crate::cli::except;
use crate::domain::{Leave, OWN_IDS, clip, names_id};
use crate::host::audit::{Because, OFFERED};

/// Longest action that is shown, in bytes.
const ACTION: usize = 2_000;
/// Most kinds of call that are shown; the rest is in the table of all calls.
const MAX_GROUPS: usize = 200;
/// Most operations of one call.
const MAX_OPERATIONS: usize = 20;

/// Calls that were answered alike for the same reason.
struct Group<'a> {
    first: &'a Call,
    last: &'a Call,
    count: usize,
}

pub fn section(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"stops\" aria-labelledby=\"h-stops\"><h2 id=\"h-stops\">Stopped and asked</h2>\n");
    let groups = groups(shown);
    let (kept, left_out) = groups.split_at(groups.len().min(MAX_GROUPS));
    if kept.is_empty() {
        html.raw("<p>Nothing was stopped, asked about, rewritten or warned of.</p>\n");
    }
    let strict = |group: &&Group<'_>| matches!(group.first.answer, Answer::Stopped | Answer::Asked);
    kept.iter().filter(strict).for_each(|group| one(group, shown, html));
    let milder: Vec<&Group<'_>> = kept.iter().filter(|group| !strict(group)).collect();
    if !milder.is_empty() {
        html.raw("<details><summary>Rewritten or warned of: ").count(milder.len()).raw("</summary>\n");
        milder.into_iter().for_each(|group| one(group, shown, html));
        html.raw("</details>\n");
    }
    if !left_out.is_empty() {
        html.raw("<p class=\"soft\">")
            .count(left_out.len())
            .raw(" more stand only in the table of all calls.</p>\n");
    }
    html.raw("</section>\n");
}

/// The strictest first, and of those the commonest.
fn groups<'a>(shown: &Shown<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut at = std::collections::HashMap::new();
    for call in shown.material.story.calls().filter(|call| call.answer.is_told()) {
        let rules: Vec<&str> = call.reasons.iter().map(|reason| reason.rule.as_str()).collect();
        let key = (call.answer, &call.tool, &call.action, &call.cwd, rules);
        let place = *at.entry(key).or_insert_with(|| {
            groups.push(Group { first: call, last: call, count: 0 });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.count += 1;
            group.last = call;
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.first.answer, group.count)));
    groups
}

fn one(group: &Group<'_>, shown: &Shown<'_>, html: &mut Html) {
    let call = group.first;
    html.raw("<article class=\"stop ").raw(call.answer.name()).raw("\"><h3>");
    word(call.answer, html).raw(" ").text(&clip(&call.tool, 60));
    if group.count > 1 {
        html.raw(", ").count(group.count).raw(" times");
    }
    html.raw("</h3>\n");
    if let Some(wrong) = call.wrong {
        html.raw("<p class=\"bad\">does not verify: ").text(wrong.name()).raw("</p>\n");
    }
    html.raw("<p class=\"soft\">at ");
    for (at, call) in [group.first, group.last].into_iter().take(group.count).enumerate() {
        html.raw(if at > 0 { ", last at " } else { "" }).raw("<a href=\"#");
        anchor(call, html);
        html.raw("\">").clock(call.unix_ms).raw("</a>");
    }
    html.raw(" in ").place(&call.cwd).raw("</p>\n<pre>").lines(&clip(&call.action, ACTION)).raw("</pre>\n");
    if !call.rewrite.is_empty() {
        html.raw("<p>It was changed to:</p><pre>").lines(&clip(&call.rewrite, ACTION)).raw("</pre>\n");
    }
    reasons(call, html);
    judged_by(call, shown.judged.operations(&call.id), html);
    way_out(group, shown, html);
    html.raw("</article>\n");
}

fn reasons(call: &Call, html: &mut Html) {
    html.raw("<ul>\n");
    // An offer stands with the ways out, while it is open.
    for Because { rule, severity, message, matched, instead } in
        call.reasons.iter().filter(|reason| reason.rule != OFFERED)
    {
        html.raw("<li><strong>").text(message).raw("</strong> <span class=\"soft\">").text(rule);
        if !severity.is_empty() {
            html.raw(", ").text(severity);
        }
        html.raw("</span>");
        if !matched.is_empty() && *matched != call.action {
            html.raw("<br>matched: ").code(&clip(matched, ACTION));
        }
        if !instead.is_empty() {
            html.raw("<br>instead: ").text(instead);
        }
        html.raw("</li>\n");
    }
    html.raw("</ul>\n");
}

/// The operations that the call was read as, and what they do.
fn judged_by(call: &Call, operations: &[Operation], html: &mut Html) {
    if operations.is_empty() && call.effects.is_empty() {
        return;
    }
    html.raw("<details><summary>What it was judged by</summary><ul>\n");
    for operation in operations.iter().take(MAX_OPERATIONS) {
        let does = operation.does.as_deref().unwrap_or("runs");
        html.raw("<li>")
            .text(&does.replace('_', " "))
            .raw(" ")
            .code(&clip(&operation.text, ACTION))
            .raw("</li>\n");
    }
    for effect in call.effects.iter().take(MAX_OPERATIONS) {
        html.raw("<li>")
            .text(&effect.kind.replace('_', " "))
            .raw(" ")
            .code(&clip(&effect.target, ACTION))
            .raw("</li>\n");
    }
    if !call.risk.is_empty() {
        html.raw("<li>risk: ").text(&call.risk).raw("</li>\n");
    }
    html.raw("</ul></details>\n");
}

/// The commands that a person may give about it.
fn way_out(group: &Group<'_>, shown: &Shown<'_>, html: &mut Html) {
    let (call, last) = (group.first, group.last);
    html.raw("<details><summary>How to let it through, or say that it was wrong</summary><ul>\n");
    if let Some(code) = last.reasons.iter().find_map(Because::code).filter(|code| shown.judged.is_open(code))
    {
        html.raw("<li>once, within ten minutes of the call: ")
            .code(&format!("lazaret allow {code}"))
            .raw("</li>\n");
    }
    let except = |rule: &str| match call.wrong {
        Some(_) => None,
        None => except::command(rule, &call.tool, &call.cwd, &call.action),
    };
    let mut label = "<li>there, for 30 days, with a warning: ";
    for rule in call.reasons.iter().map(|reason| reason.rule.as_str()) {
        match Leave::of(rule) {
            // What lazaret only notes is no rule.
            Leave::Exception if OWN_IDS.iter().any(|id| names_id(id, rule)) => {}
            Leave::Exception => match except(rule) {
                // One after the other: each rule that spoke is excepted.
                Some(command) => {
                    html.raw(std::mem::replace(&mut label, "<li>and: ")).code(&command).raw("</li>\n");
                }
                None => {
                    html.raw("<li>for an exception from ").text(rule).raw(": ").code("lazaret config edit");
                    html.raw(" (this call cannot be written as a command)</li>\n");
                }
            },
            Leave::Nobody => {
                html.raw("<li>")
                    .text(rule)
                    .raw(" has no exceptions: it keeps the guard itself in place</li>\n");
            }
            Leave::Score | Leave::Told => {}
        }
    }
    if last.wrong.is_some() {
        html.raw("</ul></details>\n");
        return;
    }
    html.raw("<li>it was harmless: ").code(&format!("lazaret feedback {} fp", last.id)).raw("</li>\n");
    html.raw("<li>more about it: ")
        .code(&format!("lazaret rules explain {}", last.id))
        .raw("</li>\n</ul></details>\n");
}
