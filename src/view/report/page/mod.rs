//! The page: one file that needs nothing else, runs nothing and loads nothing.

mod calls;
mod files;
mod html;
mod plots;
mod stops;
mod timeline;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::changes::{Changes, Saved};
use super::gather::Material;
use super::judged::Judged;
use super::story::{Answer, Call, Session};
use crate::host::audit::{Bad, Checked};
use crate::host::clock;
use html::Html;

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

const STYLE: &str = include_str!("style.css");

/// All that a page shows.
#[derive(Debug)]
pub struct Shown<'a> {
    pub material: &'a Material,
    pub saved: &'a Saved,
    pub judged: &'a Judged,
    /// When it is made, in milliseconds since 1970.
    pub unix_ms: u64,
}

impl<'a> Shown<'a> {
    fn sessions(&self) -> impl Iterator<Item = (&'a Session, &'a Changes)> {
        self.material.story.sessions.iter().zip(&self.saved.changes)
    }

    fn count(&self, answer: Answer) -> usize {
        self.material.story.calls().filter(|call| call.answer == answer).count()
    }
}

/// The whole page.
pub fn page(shown: &Shown<'_>) -> String {
    let spans = || shown.sessions().map(|(session, _)| session.span());
    let day = |unix_ms: u64| unix_ms / DAY_MS;
    let (first, last) = (spans().map(|span| day(span.0)).min(), spans().map(|span| day(span.1)).max());
    let mut html = Html::new(first != last);
    head(&mut html);
    html.raw(
        "<a class=\"skip\" href=\"#stops\">To what was stopped</a>\n<header>\n<h1>What the agent did</h1>\n",
    );
    about(shown, &mut html);
    html.raw("</header>\n<nav aria-label=\"Parts of this page\"><ul>");
    html.raw("<li><a href=\"#stops\">Stopped and asked</a></li><li><a href=\"#timeline\">Timeline</a></li>");
    html.raw("<li><a href=\"#figures\">Figures</a></li><li><a href=\"#files\">Files</a></li>");
    html.raw("<li><a href=\"#undo\">What can be undone</a></li><li><a href=\"#calls\">All calls</a></li>");
    html.raw("<li><a href=\"#log\">The log</a></li></ul></nav>\n<main>\n");
    cards(shown, &mut html);
    stops::section(shown, &mut html);
    calls::apart(shown, &mut html);
    timeline::section(shown, &mut html);
    plots::section(shown, &mut html);
    files::changed(shown, &mut html);
    files::undoable(shown, &mut html);
    calls::section(shown, &mut html);
    log(shown, &mut html);
    html.raw("</main>\n</body>\n</html>\n");
    html.into_string()
}

fn head(html: &mut Html) {
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    // Nothing runs, nothing is loaded, and only this page's own style counts, whatever a text in it says.
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
    html.text(&STANDARD.encode(Sha256::digest(STYLE)));
    html.raw("'; base-uri 'none'; form-action 'none'\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw(
        "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n",
    );
    html.raw("<title>What the agent did: a report of lazaret</title>\n<style>").raw(STYLE);
    html.raw("</style>\n</head>\n<body>\n");
}

/// Whose sessions these are.
fn about(shown: &Shown<'_>, html: &mut Html) {
    for (session, _) in shown.sessions().take(20) {
        let (from, to) = session.span();
        html.raw("<p>").text(&session.client).raw(" in ").place(&session.cwd).raw(", ");
        moment(from, html).raw(" to ");
        moment(to, html).raw(" <span class=\"soft\">(UTC; session ").place(&session.id).raw(")</span>");
        if session.is_forged() {
            html.raw(" <span class=\"bad\">none of its calls verifies: lazaret did not write them</span>");
        }
        html.raw("</p>\n");
    }
    let more = shown.material.story.sessions.len().saturating_sub(20);
    if more > 0 {
        html.raw("<p class=\"soft\">and ").count(more).raw(" sessions more</p>\n");
    }
}

/// A point in time, as date and time of day.
fn moment(unix_ms: u64, html: &mut Html) -> &mut Html {
    let text = clock::rfc3339(unix_ms);
    let (day, rest) = text.split_once('T').unwrap_or((&text, ""));
    html.raw("<time datetime=\"").text(&text).raw("\">").text(day).raw(" ");
    html.text(rest.split('.').next().unwrap_or_default()).raw("</time>")
}

fn card(html: &mut Html, name: &'static str, number: usize, under: &str) {
    html.raw("<div><dt>").raw(name).raw("</dt><dd>").count(number);
    if !under.is_empty() {
        html.raw("<small>").text(under).raw("</small>");
    }
    html.raw("</dd></div>\n");
}

/// The figures that are looked for first.
fn cards(shown: &Shown<'_>, html: &mut Html) {
    let story = &shown.material.story;
    let mut took: Vec<u64> = story.calls().map(|call| call.took_us).filter(|took| *took > 0).collect();
    took.sort_unstable();
    let at = |part: usize| took.get(took.len() * part / 100).copied().unwrap_or_default();
    let sessions = story.sessions.len();
    html.raw("<dl class=\"cards\">\n");
    let many = if sessions == 1 { String::new() } else { format!("in {sessions} sessions") };
    card(html, "calls", story.calls().count(), &many);
    card(html, "stopped", shown.count(Answer::Stopped), "did not run");
    card(html, "asked", shown.count(Answer::Asked), "a person decided");
    let quiet = shown.count(Answer::Rewritten);
    card(html, "warned", shown.count(Answer::Warned), &format!("{quiet} more were rewritten"));
    let files = shown.saved.changes.iter().flat_map(|changes| &changes.files);
    let files = files.filter(|change| change.what != "touched").count();
    card(html, "files changed", files, "of those that were saved first");
    let undoable = shown.saved.changes.iter().flat_map(|changes| &changes.undoable);
    card(html, "can be undone", undoable.filter(|undo| undo.steps > 0).count(), "checkpoints");
    html.raw("<div><dt>time of a decision</dt><dd>").at(thousandth(at(50)));
    html.raw(" ms<small>median; 19 of 20 within ").at(thousandth(at(95))).raw(" ms</small></dd></div>\n");
    html.raw("<div><dt>the log</dt><dd>");
    match &shown.material.chain {
        Ok(_) => html.raw("<span class=\"good\">verifies</span>"),
        Err(_) => html.raw("<span class=\"bad\">does not verify</span>"),
    };
    html.raw("<small><a href=\"#log\">what that proves</a></small></dd></div>\n</dl>\n");
}

/// A thousandth: of microseconds milliseconds, of milliseconds seconds.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn thousandth(us: u64) -> f64 {
    us as f64 / 1000.0
}

/// The word for an answer, in its colour.
fn word(answer: Answer, html: &mut Html) -> &mut Html {
    html.raw("<span class=\"word ").raw(answer.name()).raw("\">").raw(answer.name()).raw("</span>")
}

/// The anchor of a call that has one.
fn anchor(call: &Call, html: &mut Html) {
    html.raw("c-").text(&call.id);
}

/// How the log verifies, and how this page was made.
fn log(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"log\" aria-labelledby=\"h-log\"><h2 id=\"h-log\">The log</h2>\n");
    match &shown.material.chain {
        Ok(checked) => proven(checked, shown.material.with_key, html),
        Err(bad) => broken(bad, html),
    }
    let story = &shown.material.story;
    if story.wrong + story.torn > 0 {
        html.raw("<p class=\"bad\">Events that do not verify: ").text(&story.wrong.to_string());
        html.raw("; places of the log that are no events: ").text(&story.torn.to_string());
        html.raw(".</p>\n");
    }
    html.raw("<p>Secrets were redacted before the log was written, and in the differences of files here. Texts are shortened; ");
    html.raw("characters that cannot be seen stand as their codes (<code>\\u{202e}</code>). Prompts are not in the log, only their length.</p>\n");
    html.raw("<p class=\"soft\">Made by lazaret ").raw(env!("CARGO_PKG_VERSION")).raw(", ");
    moment(shown.unix_ms, html).raw(" UTC. It runs nothing and loads nothing.</p>\n</section>\n");
}

fn proven(checked: &Checked, with_key: bool, html: &mut Html) {
    html.raw("<p><span class=\"good\">It verifies:</span> ").text(&checked.lines.to_string());
    html.raw(" events in ").counted(checked.files, "file").raw(", numbers ").text(&checked.first.to_string());
    html.raw(" to ").text(&checked.last.to_string()).raw(". ");
    match (checked.proven, with_key) {
        (Some(first), _) => {
            html.raw("The verification key proves those from number ").text(&first.to_string());
            html.raw(" on: who reads this machine now could not have written them.");
        }
        (None, true) => {
            html.raw("The log has no event yet that the verification key is for.");
        }
        (None, false) => {
            html.raw("Nobody who lacks the file ").code(crate::host::audit::CHAIN);
            html.raw(" has changed them; with a verification key (<code>--key</code>) more is proven.");
        }
    }
    html.raw("</p>\n");
}

fn broken(bad: &Bad, html: &mut Html) {
    html.raw("<p><span class=\"bad\">It does not verify:</span> ").text(bad.wrong.name()).raw(" at ");
    html.code(&format!("{}:{}", bad.file.to_string_lossy(), bad.line)).raw(" (byte ");
    html.text(&bad.offset.to_string()).raw("). What stands on this page may have been changed; ");
    html.code("lazaret audit verify").raw(" says more.</p>\n");
}
