//! All calls, a table for each prompt.

use super::super::story::{Answer, Call, Chapter, Ended, Event, Item, Session};
use super::{Html, Shown, anchor, thousandth, word};
use crate::domain::{EventKind, clip};

/// Longest action in a row, in bytes.
const ACTION: usize = 240;
/// Most bytes of all rows; allowed calls are left out beyond.
const MAX_ROWS: usize = 3_300_000;
/// Most events beside the sessions; the newest are told.
const MAX_APART: usize = 200;
/// A prompt with more rows is closed at first, and so is every prompt where there are more than so many.
const OPEN: (usize, usize) = (300, 12);

pub fn section(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"calls\" aria-labelledby=\"h-calls\"><h2 id=\"h-calls\">All calls</h2>\n");
    html.raw("<fieldset class=\"show\"><legend>Show</legend>");
    for answer in Answer::ALL {
        html.raw("<label><input type=\"checkbox\" checked id=\"s-").raw(answer.name()).raw("\"> ");
        html.raw(answer.name()).raw("</label> ");
    }
    html.raw("<label><input type=\"checkbox\" checked id=\"s-events\"> events</label></fieldset>\n");
    let (begun, several) = (html.len(), shown.material.story.sessions.len() > 1);
    for (session, _) in shown.sessions() {
        if several {
            html.raw("<h3>").text(&session.client).raw(" in ").place(&session.cwd).raw("</h3>\n");
        }
        let chapters = session.chapters();
        let many = chapters.len() > OPEN.1;
        for chapter in &chapters {
            let open = !many && chapter.items.len() <= OPEN.0;
            let level = if several { ("<h4>", "</h4>") } else { ("<h3>", "</h3>") };
            self::chapter(session, chapter, (open, level, begun), html);
        }
    }
    html.raw("</section>\n");
}

/// Tags around a heading.
type Level = (&'static str, &'static str);

fn chapter(
    session: &Session,
    chapter: &Chapter<'_>,
    (open, (heading, headed), begun): (bool, Level, usize),
    html: &mut Html,
) {
    html.raw(if open { "<details open><summary>" } else { "<details><summary>" }).raw(heading);
    match chapter.items.first() {
        Some(Item::Prompt { unix_ms, note }) => {
            html.raw("Prompt ").count(chapter.number).raw(headed).raw(" <span class=\"soft\">at ");
            html.clock(*unix_ms).raw(", ").text(note).raw("; ");
        }
        _ if chapter.number > 0 => {
            html.raw("Prompt ").count(chapter.number).raw(headed).raw(" <span class=\"soft\">begun before; ");
        }
        _ => {
            html.raw("Before the first prompt").raw(headed).raw(" <span class=\"soft\">");
        }
    }
    html.counted(chapter.calls().count(), "call");
    for answer in Answer::ALL.into_iter().filter(|answer| answer.is_told()) {
        let count = chapter.calls().filter(|call| call.answer == answer).count();
        if count > 0 {
            html.raw(", ").count(count).raw(" ");
            word(answer, html);
        }
    }
    html.raw("</span></summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Calls of ");
    html.text(&session.client)
        .raw(", prompt ")
        .count(chapter.number)
        .raw("\"><table><thead><tr><th scope=\"col\">UTC</th>");
    html.raw("<th scope=\"col\">answer</th><th scope=\"col\">tool</th><th scope=\"col\">what</th>");
    html.raw("<th scope=\"col\" class=\"hide\">rules</th><th scope=\"col\" class=\"n hide\">ms</th></tr></thead><tbody>\n");
    let mut left_out = 0_usize;
    for item in &chapter.items {
        match item {
            Item::Prompt { .. } => {}
            Item::Call(call) if !call.answer.is_told() && html.len() - begun > MAX_ROWS => left_out += 1,
            Item::Call(call) => row(call, html),
            Item::Event(event) => self::event(event, html),
        }
    }
    html.raw("</tbody></table></div>");
    if left_out > 0 {
        html.raw("<p class=\"soft\">")
            .counted(left_out, "allowed call")
            .raw(" left out here: the page would be too long. ");
        html.code("lazaret audit show").raw(" has them.</p>");
    }
    html.raw("</details>\n");
}

fn row(call: &Call, html: &mut Html) {
    html.raw("<tr class=\"").raw(call.answer.name());
    if call.answer.is_told() {
        html.raw("\" id=\"");
        anchor(call, html);
    }
    html.raw("\"><td class=\"when\">").clock(call.unix_ms).raw("</td><td>");
    word(call.answer, html);
    if call.ended == Ended::Failed {
        html.raw(" <span class=\"soft\">failed</span>");
    }
    if let Some(wrong) = call.wrong {
        html.raw(" <span class=\"bad\">does not verify: ").text(wrong.name()).raw("</span>");
    }
    html.raw("</td><td>").text(&clip(&call.tool, 60));
    if !call.agent.is_empty() {
        html.raw(" <span class=\"soft\">").text(&clip(&call.agent, 60)).raw("</span>");
    }
    html.raw("</td><td class=\"t\">").text(&clip(&call.action, ACTION)).raw("</td><td class=\"hide\">");
    for (at, reason) in call.reasons.iter().enumerate() {
        html.raw(if at > 0 { ", " } else { "" }).text(&clip(&reason.rule, 80));
    }
    html.raw("</td><td class=\"n hide\">").at(thousandth(call.took_us)).raw("</td></tr>\n");
}

/// What is no call: how sessions begin and end, what was done about patterns.
fn event(Event { unix_ms, kind, text, wrong }: &Event, html: &mut Html) {
    if kind == EventKind::ClientEvent.name() {
        return;
    }
    html.raw("<tr class=\"event\"><td class=\"when\">").clock(*unix_ms).raw("</td><td>event");
    if let Some(wrong) = wrong {
        html.raw(" <span class=\"bad\">does not verify: ").text(wrong.name()).raw("</span>");
    }
    html.raw("</td><td>").text(&kind.replace('_', " ")).raw("</td><td class=\"t\">");
    html.text(&clip(text, ACTION)).raw("</td><td class=\"hide\"></td><td class=\"hide\"></td></tr>\n");
}

/// What happened at that time and is of no session.
pub fn apart(shown: &Shown<'_>, html: &mut Html) {
    let events = &shown.material.story.apart;
    if events.is_empty() {
        return;
    }
    html.raw(
        "<section id=\"apart\" aria-labelledby=\"h-apart\"><h2 id=\"h-apart\">Beside the sessions</h2>\n",
    );
    html.raw("<p class=\"soft\">What people allowed, refused and said at that time, and what was done about lazaret itself.</p>\n");
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Beside the sessions\"><table><thead><tr>");
    html.raw("<th scope=\"col\">UTC</th><th scope=\"col\">answer</th><th scope=\"col\">event</th>");
    html.raw("<th scope=\"col\">what</th><th scope=\"col\" class=\"hide\"></th><th scope=\"col\" class=\"hide\"></th></tr></thead><tbody>\n");
    let left_out = events.len().saturating_sub(MAX_APART);
    events.iter().skip(left_out).for_each(|event| self::event(event, html));
    html.raw("</tbody></table></div>\n");
    if left_out > 0 {
        html.raw("<p class=\"soft\">").count(left_out).raw(" older are left out: ");
        html.code("lazaret audit show").raw("</p>\n");
    }
    html.raw("</section>\n");
}
