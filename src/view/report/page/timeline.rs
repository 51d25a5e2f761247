//! When what was done: a strip for each session, a row for each kind of call, a mark for each moment.

use std::collections::BTreeMap;

use super::super::changes::Changes;
use super::super::story::{Answer, Call, Event, Item, Session};
use super::{Html, Shown, anchor};
use crate::domain::{EventKind, clip};

/// Rows by the names of their tools; every other tool is in the last one.
const ROWS: [(&str, &[&str]); 5] = [
    ("read", &["Read", "Grep", "Glob", "LS", "NotebookRead"]),
    ("edit", &["Write", "Edit", "MultiEdit", "NotebookEdit", "Patch", "apply_patch"]),
    ("shell", &["Bash"]),
    ("network", &["WebFetch", "WebSearch"]),
    ("other", &[]),
];
/// Events that have a mark.
const MARKED: [EventKind; 4] =
    [EventKind::Intervention, EventKind::SessionStopped, EventKind::ConfigChangeBlocked, EventKind::Fault];
/// Moments that are told apart.
const MOMENTS: u64 = 460;
/// Measures: where the strip begins, a moment's width, the height of a row and of all.
const LEFT: f64 = 70.0;
const WIDE: f64 = 2.0;
const ROW: f64 = 18.0;
const TOP: f64 = 18.0;

/// The calls of one row at one moment.
struct Mark<'a> {
    strictest: &'a Call,
    count: usize,
}

pub fn section(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"timeline\" aria-labelledby=\"h-timeline\"><h2 id=\"h-timeline\">Timeline</h2>\n");
    html.raw("<ul class=\"legend\">");
    for answer in Answer::ALL {
        html.raw("<li><svg viewBox=\"-8 -8 16 16\" aria-hidden=\"true\">");
        shape(answer, 0.0, 0.0, html);
        html.raw("</svg>").raw(answer.name()).raw("</li>");
    }
    html.raw("<li><svg viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><line class=\"k-prompt\" x1=\"0\" y1=\"-8\" x2=\"0\" y2=\"8\"/></svg>prompt</li>");
    html.raw("<li><svg viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><circle class=\"k-event\" r=\"5\"/></svg>pattern, intervention, fault</li></ul>\n");
    for (session, changes) in shown.sessions().take(20) {
        html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline of ")
            .text(&session.client);
        html.raw(" session ").text(&clip(&session.id, 40)).raw("\">");
        strip(session, changes, html);
        html.raw("</div>\n");
    }
    html.raw("<p class=\"soft\">Marks of one moment are drawn as one, as its strictest answer. All calls are in <a href=\"#calls\">the tables below</a>.</p>\n</section>\n");
}

fn row_of(tool: &str) -> usize {
    ROWS.iter().position(|(_, tools)| tools.contains(&tool)).unwrap_or(ROWS.len() - 1)
}

/// The moment of a time in a span.
fn moment(unix_ms: u64, (from, to): (u64, u64)) -> u64 {
    unix_ms.saturating_sub(from).saturating_mul(MOMENTS) / to.saturating_sub(from).max(1)
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn x(moment: u64) -> f64 {
    LEFT + moment as f64 * WIDE
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn y(row: usize) -> f64 {
    TOP + row as f64 * ROW + ROW / 2.0
}

fn strip(session: &Session, changes: &Changes, html: &mut Html) {
    let span = session.span();
    let mut marks: BTreeMap<(usize, u64), Mark<'_>> = BTreeMap::new();
    for call in session.calls() {
        let place = (row_of(&call.tool), moment(call.unix_ms, span));
        let mark = marks.entry(place).or_insert(Mark { strictest: call, count: 0 });
        mark.count += 1;
        if call.answer > mark.strictest.answer {
            mark.strictest = call;
        }
    }
    let saved = ROWS.len();
    html.raw("<svg viewBox=\"0 0 1000 152\" role=\"group\" aria-label=\"Calls from ");
    html.clock(span.0).raw(" to ").clock(span.1).raw("\">\n");
    for (row, name) in ROWS.iter().map(|(name, _)| *name).chain(["saved"]).enumerate() {
        html.raw("<line class=\"k-line\" x1=\"")
            .at(LEFT)
            .raw("\" x2=\"995\" y1=\"")
            .at(y(row))
            .raw("\" y2=\"")
            .at(y(row));
        html.raw("\"/><text x=\"0\" y=\"").at(y(row) + 4.0).raw("\">").raw(name).raw("</text>\n");
    }
    prompts(session, span, html);
    for ((row, moment), mark) in &marks {
        self::mark(mark, x(*moment), y(*row), html);
    }
    for undo in &changes.undoable {
        html.raw("<rect class=\"k-allowed\" width=\"3\" height=\"8\" x=\"")
            .at(x(moment(undo.unix_ms, span)) - 1.5);
        html.raw("\" y=\"").at(y(saved) - 4.0).raw("\"/>\n");
    }
    events(session, span, html);
    html.raw("<text x=\"").at(LEFT).raw("\" y=\"148\">").clock(span.0).raw("</text>");
    html.raw("<text x=\"995\" y=\"148\" text-anchor=\"end\">").clock(span.1).raw("</text>\n</svg>");
}

/// Where prompts came, with the numbers of those that do not stand upon each other.
fn prompts(session: &Session, span: (u64, u64), html: &mut Html) {
    let mut free = 0.0;
    for chapter in session.chapters().iter().filter(|chapter| chapter.number > 0) {
        let Some(item) = chapter.items.first() else { continue };
        let at = x(moment(item.unix_ms(), span));
        html.raw("<line class=\"k-prompt\" y1=\"14\" y2=\"128\" x1=\"")
            .at(at)
            .raw("\" x2=\"")
            .at(at)
            .raw("\"/>");
        if at >= free {
            html.raw("<text y=\"11\" x=\"").at(at).raw("\">").count(chapter.number).raw("</text>");
            free = at + 24.0;
        }
        html.raw("\n");
    }
}

fn mark(mark: &Mark<'_>, x: f64, y: f64, html: &mut Html) {
    let call = mark.strictest;
    if !call.answer.is_told() {
        html.raw("<path class=\"k-allowed\" d=\"M").at(x).raw(" ").at(y - 5.0).raw("v10\"/>\n");
        return;
    }
    html.raw("<a href=\"#");
    anchor(call, html);
    html.raw("\" aria-label=\"").raw(call.answer.name()).raw(" at ").clock(call.unix_ms).raw(": ");
    html.text(&clip(&call.tool, 40)).raw(" ").text(&clip(&call.action, 80));
    if mark.count > 1 {
        html.raw(" and ").count(mark.count - 1).raw(" more");
    }
    html.raw("\">");
    shape(call.answer, x, y, html);
    html.raw("</a>\n");
}

/// Each answer has a form of its own besides its colour.
fn shape(answer: Answer, x: f64, y: f64, html: &mut Html) {
    html.raw("<path class=\"k-").raw(answer.name()).raw("\" d=\"M").at(x).raw(" ").at(y);
    html.raw(match answer {
        Answer::Allowed => "m0-5v10",
        Answer::Warned => "m0-6l6 11h-12z",
        Answer::Rewritten => "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
        Answer::Asked => "m0-7l7 7l-7 7l-7-7z",
        Answer::Stopped => "m-6-6h12v12h-12z",
    });
    html.raw("\"/>");
}

fn events(session: &Session, span: (u64, u64), html: &mut Html) {
    for item in &session.items {
        let Item::Event(Event { unix_ms, kind, text, .. }) = item else { continue };
        if !MARKED.iter().any(|marked| marked.name() == kind) {
            continue;
        }
        html.raw("<g role=\"img\" aria-label=\"")
            .text(&kind.replace('_', " "))
            .raw(" at ")
            .clock(*unix_ms)
            .raw("\">");
        html.raw("<circle class=\"k-event\" r=\"5\" cy=\"134\" cx=\"")
            .at(x(moment(*unix_ms, span)))
            .raw("\"><title>");
        html.text(&kind.replace('_', " ")).raw(": ").text(&clip(text, 120)).raw("</title></circle></g>\n");
    }
}
