//! Figures: calls by tool, the time of decisions, calls by prompt. Each plot's numbers stand in a table below it.

use std::collections::BTreeMap;

use super::super::story::{Answer, Call};
use super::{Html, Shown};
use crate::cli::stats::BOUNDS_US;
use crate::domain::clip;

/// Rows of a plot.
const MOST: usize = 10;
/// The height of a row, and where bars begin and end.
const ROW: f64 = 20.0;
const BAR: (f64, f64) = (110.0, 330.0);
/// Kinds of effects that change files.
const WRITES: [&str; 3] = ["file_creation", "file_modification", "file_deletion"];

/// One row: how many calls had which answer.
#[derive(Debug, Clone, Copy, Default)]
struct Bar([usize; Answer::ALL.len()]);

impl Bar {
    fn add(&mut self, answer: Answer) {
        if let Some(count) = self.0.get_mut(answer as usize) {
            *count += 1;
        }
    }

    fn of(answer: Answer, count: usize) -> Bar {
        let mut bar = Bar::default();
        if let Some(place) = bar.0.get_mut(answer as usize) {
            *place = count;
        }
        bar
    }

    fn all(&self) -> usize {
        self.0.iter().sum()
    }
}

pub fn section(shown: &Shown<'_>, html: &mut Html) {
    html.raw("<section id=\"figures\" aria-labelledby=\"h-figures\"><h2 id=\"h-figures\">Figures</h2>\n<div class=\"plots\">\n");
    by_tool(shown, html);
    by_time(shown, html);
    by_prompt(shown, html);
    html.raw("</div>\n</section>\n");
}

fn by_tool(shown: &Shown<'_>, html: &mut Html) {
    let mut tools: BTreeMap<&str, Bar> = BTreeMap::new();
    for call in shown.material.story.calls() {
        tools.entry(&call.tool).or_default().add(call.answer);
    }
    let mut rows: Vec<(String, Bar)> = tools.into_iter().map(|(tool, bar)| (clip(tool, 40), bar)).collect();
    rows.sort_by_key(|(_, bar)| std::cmp::Reverse(bar.all()));
    rows.truncate(MOST);
    stacked("Calls by tool and answer", "tool", &rows, html);
}

/// What the prompts cost, the most expensive first.
fn by_prompt(shown: &Shown<'_>, html: &mut Html) {
    let mut rows: Vec<(String, Bar)> = Vec::new();
    let (mut writes, mut time, several) = (0, 0, shown.sessions().count() > 1);
    for (session, _) in shown.sessions() {
        for chapter in session.chapters() {
            let mut bar = Bar::default();
            chapter.calls().for_each(|call| bar.add(call.answer));
            let changes = |call: &&Call| {
                let writes = call.effects.iter().any(|effect| WRITES.contains(&effect.kind.as_str()));
                writes && call.answer != Answer::Stopped
            };
            writes = writes.max(chapter.calls().filter(changes).count());
            time = time.max(chapter.calls().map(|call| call.ran_ms).sum::<u64>());
            let name = match (chapter.number, several) {
                (0, false) => "before".to_owned(),
                (number, false) => format!("prompt {number}"),
                (number, true) => format!("{number} of {}", clip(&session.id, 8)),
            };
            rows.push((name, bar));
        }
    }
    rows.retain(|(_, bar)| bar.all() > 0);
    rows.sort_by_key(|(_, bar)| std::cmp::Reverse(bar.all()));
    rows.truncate(MOST);
    stacked("Calls by prompt, the busiest first", "prompt", &rows, html);
    html.raw("<figure><figcaption>Against the limits</figcaption><table><thead><tr><th scope=\"col\">of one prompt, at most</th>");
    html.raw("<th scope=\"col\" class=\"n\">here</th><th scope=\"col\" class=\"n\">limit</th></tr></thead><tbody>\n");
    html.raw("<tr><td>calls that change files</td><td class=\"n\">")
        .count(writes)
        .raw("</td><td class=\"n\">");
    html.text(&shown.judged.limit("resources.mode", "resources.max_file_operations")).raw("</td></tr>\n");
    html.raw("<tr><td>seconds that its calls took</td><td class=\"n\">")
        .at(super::thousandth(time))
        .raw("</td><td class=\"n\">");
    html.text(&shown.judged.limit("resources.execution_time", "resources.max_execution_time_seconds"))
        .raw("</td></tr>\n");
    html.raw("</tbody></table></figure>\n");
}

fn by_time(shown: &Shown<'_>, html: &mut Html) {
    let mut counts = [0_usize; BOUNDS_US.len() + 1];
    for call in shown.material.story.calls().filter(|call| call.took_us > 0) {
        let place = BOUNDS_US.iter().filter(|bound| call.took_us > **bound).count();
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let name = |place: usize| match BOUNDS_US.get(place) {
        Some(bound) => format!("up to {} ms", super::thousandth(*bound)),
        None => "longer".to_owned(),
    };
    let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
    let rows: Vec<(String, Bar)> = counts
        .iter()
        .enumerate()
        .map(|(place, count)| (name(place), Bar::of(Answer::Allowed, *count)))
        .skip(first)
        .take(last - first + 1)
        .collect();
    stacked("Time of a decision", "time", &rows, html);
}

/// Bars beside each other, each of the answers' colours, and the numbers as a table.
#[expect(clippy::cast_precision_loss, reason = "counts and rows are far below 2^53")]
fn stacked(caption: &'static str, what: &'static str, rows: &[(String, Bar)], html: &mut Html) {
    let most = rows.iter().map(|(_, bar)| bar.all()).max().unwrap_or(0).max(1) as f64;
    html.raw("<figure><figcaption>").raw(caption).raw("</figcaption>\n<svg viewBox=\"0 0 380 ");
    html.at(rows.len().max(1) as f64 * ROW)
        .raw("\" role=\"img\" aria-label=\"")
        .raw(caption)
        .raw("; the numbers stand in the table below\">\n");
    for (row, (name, bar)) in rows.iter().enumerate() {
        let top = row as f64 * ROW;
        html.raw("<text x=\"0\" y=\"").at(top + 14.0).raw("\">").text(&clip(name, 17)).raw("</text>");
        let mut x = BAR.0;
        for (answer, count) in Answer::ALL.iter().zip(bar.0).filter(|(_, count)| *count > 0) {
            let wide = (count as f64 / most * (BAR.1 - BAR.0)).max(1.0);
            html.raw("<rect class=\"k-").raw(answer.name()).raw("\" height=\"12\" y=\"").at(top + 4.0);
            html.raw("\" x=\"").at(x).raw("\" width=\"").at(wide).raw("\"/>");
            x += wide;
        }
        html.raw("<text x=\"")
            .at(x + 5.0)
            .raw("\" y=\"")
            .at(top + 14.0)
            .raw("\">")
            .count(bar.all())
            .raw("</text>\n");
    }
    html.raw("</svg>\n<details><summary>as a table</summary><table><thead><tr><th scope=\"col\">")
        .raw(what)
        .raw("</th>");
    let used: Vec<Answer> = Answer::ALL
        .into_iter()
        .filter(|answer| {
            rows.iter().any(|(_, bar)| bar.0.get(*answer as usize).is_some_and(|count| *count > 0))
        })
        .collect();
    let plain = what == "time";
    for answer in &used {
        html.raw("<th scope=\"col\" class=\"n\">")
            .raw(if plain { "calls" } else { answer.name() })
            .raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for (name, bar) in rows {
        html.raw("<tr><td>").text(name).raw("</td>");
        for answer in &used {
            html.raw("<td class=\"n\">")
                .count(bar.0.get(*answer as usize).copied().unwrap_or(0))
                .raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></details></figure>\n");
}
