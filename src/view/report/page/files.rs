//! Files that were changed, with their differences, and what can be undone.

use super::super::changes::{Change, Changes};
use super::super::diff::{Diff, DiffLine};
use super::{Html, Shown};
use crate::domain::{clip, shell_word};

/// Most files of a session.
const MAX_FILES: usize = 500;
/// Differences that are shown open at first.
const OPEN: usize = 3;

pub fn changed(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"files\" aria-labelledby=\"h-files\"><h2 id=\"h-files\">Files changed</h2>\n");
    html.raw("<p class=\"soft\">From before the session first touched a file to what its last call left. Only files that were saved ");
    html.raw("before a call are here: programs that nobody sees into may have changed others.</p>\n");
    let mut none = true;
    for (session, changes) in shown.sessions() {
        if changes.files.is_empty() && changes.of_git == 0 {
            continue;
        }
        none = false;
        html.raw("<h3>").text(&session.client).raw(" in ").place(&session.cwd).raw("</h3>\n");
        for (at, change) in changes.files.iter().take(MAX_FILES).enumerate() {
            file(change, at < OPEN, html);
        }
        more(changes, html);
    }
    if none {
        html.raw("<p>No file that was saved before a call differs from what it was.</p>\n");
    }
    html.raw("</section>\n");
}

fn more(changes: &Changes, html: &mut Html) {
    let left_out = changes.files.len().saturating_sub(MAX_FILES);
    if left_out > 0 {
        html.raw("<p class=\"soft\">").counted(left_out, "more file").raw(" left out.</p>\n");
    }
    if changes.of_git > 0 {
        html.raw("<p class=\"soft\">").counted(changes.of_git, "file").raw(" of git's own saved too.</p>\n");
    }
}

fn file(change: &Change, open: bool, html: &mut Html) {
    let Some(diff) = &change.diff else {
        html.raw("<p>").raw(change.what).raw(" ").code(&change.path).raw(" <span class=\"soft\">");
        html.text(&change.note).raw("</span></p>\n");
        return;
    };
    html.raw(if open { "<details open><summary>" } else { "<details><summary>" });
    html.raw(change.what).raw(" ").code(&change.path).raw(" <span class=\"soft\">+").count(diff.added);
    html.raw(" &minus;").count(diff.removed);
    if !change.note.is_empty() {
        html.raw(", ").text(&change.note);
    }
    html.raw("</span></summary>\n");
    lines(diff, html);
    html.raw("</details>\n");
}

fn lines(diff: &Diff, html: &mut Html) {
    html.raw("<pre class=\"diff\">");
    for line in &diff.lines {
        match line {
            DiffLine::Same(text) => html.raw("<span>  ").text(text),
            DiffLine::Added(text) => html.raw("<span class=\"a\">+ ").text(text),
            DiffLine::Removed(text) => html.raw("<span class=\"r\">- ").text(text),
            DiffLine::Gap(line) => html.raw("<span class=\"g\">line ").count(*line),
        };
        html.raw("</span>");
    }
    if diff.cut {
        html.raw("<span class=\"g\">the rest is left out</span>");
    }
    html.raw("</pre>\n");
}

pub fn undoable(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"undo\" aria-labelledby=\"h-undo\"><h2 id=\"h-undo\">What can be undone</h2>\n");
    if shown.saved.changes.iter().all(|changes| changes.undoable.is_empty()) {
        html.raw("<p>Nothing that was saved differs from what it was.</p>\n");
    } else {
        html.raw("<p>The newest first. Only what is still as the call left it is put back; a rollback can itself be undone, and ");
        html.raw("<code>--dry-run</code> shows what it would do.</p>\n");
        table(shown, html);
    }
    let unplanned: usize = shown.saved.changes.iter().map(|changes| changes.unplanned).sum();
    if unplanned > 0 {
        html.raw("<p class=\"soft\">").count(unplanned).raw(" older ones were not looked at: ");
        html.code("lazaret checkpoint list").raw("</p>\n");
    }
    if shown.saved.damaged > 0 {
        html.raw("<p class=\"bad\">").counted(shown.saved.damaged, "checkpoint");
        html.raw(" of this machine cannot be read, and may have been of these sessions: ");
        html.code("lazaret doctor").raw("</p>\n");
    }
    html.raw("</section>\n");
}

fn table(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"What can be undone\"><table><thead><tr>");
    html.raw("<th scope=\"col\">UTC</th><th scope=\"col\">before</th><th scope=\"col\">puts back</th>");
    html.raw("<th scope=\"col\">command</th></tr></thead><tbody>\n");
    for undo in shown.saved.changes.iter().flat_map(|changes| &changes.undoable) {
        html.raw("<tr><td class=\"when\">").clock(undo.unix_ms).raw("</td><td class=\"t\">");
        html.text(&undo.tool)
            .raw(": ")
            .text(&clip(&undo.action, 200))
            .raw("</td><td>")
            .counted(undo.steps, "path");
        if undo.refused > 0 {
            html.raw("; ").count(undo.refused).raw(" changed since, or not saved");
        }
        html.raw("</td><td>").code(&format!("lazaret rollback {}", shell_word(&undo.id))).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}
