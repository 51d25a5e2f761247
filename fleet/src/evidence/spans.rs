//! Calls as spans: one begins with what was decided and ends with what came of it, and all of a session are one trace.

use std::collections::{BTreeMap, VecDeque};

use lazaret::domain::{EventKind, clip};
use lazaret::host::audit::Line;
use lazaret::host::brought::digest;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};

use super::{otlp, stops};

/// Most calls that are waited for at once.
const MOST: usize = 256;
/// Longest name of a span and longest text of its attributes, in bytes.
const NAME: usize = 200;

/// Session, agent and id of a call.
type Call = (String, String, String);

/// The calls whose end was not in the log yet.
#[derive(Debug, Default)]
pub struct Open {
    calls: BTreeMap<Call, Span>,
    /// Oldest first; some have ended.
    order: VecDeque<Call>,
}

impl Open {
    /// The spans that are whole with these events of a machine.
    pub fn and(&mut self, machine: &str, lines: &[Line]) -> Vec<Span> {
        lines.iter().flat_map(|line| self.line(machine, line)).collect()
    }

    /// What is left: calls whose end is not in the log end with their decision.
    pub fn rest(&mut self) -> Vec<Span> {
        self.order.clear();
        std::mem::take(&mut self.calls).into_values().collect()
    }

    fn line(&mut self, machine: &str, line: &Line) -> Vec<Span> {
        if line.tool.is_empty() {
            return Vec::new();
        }
        let call = (line.session.clone(), line.agent.clone(), line.call_id.clone());
        let is = |kind: EventKind| line.event == kind.name();
        if is(EventKind::ActionCompleted) || is(EventKind::ActionFailed) {
            let Some(mut span) = self.calls.remove(&call) else { return Vec::new() };
            span.end_time_unix_nano = otlp::nanos(&line.time).max(span.start_time_unix_nano);
            if is(EventKind::ActionFailed) {
                span.status = Some(failed("the call failed"));
            }
            return vec![span];
        }
        if line.verdict.is_none() {
            return Vec::new();
        }
        let span = decided(machine, line);
        if span.status.is_some() || line.call_id.is_empty() {
            return vec![span];
        }
        self.order.push_back(call.clone());
        // One that was decided on twice is two spans.
        let mut whole: Vec<Span> = self.calls.insert(call, span).into_iter().collect();
        while self.calls.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            whole.extend(self.calls.remove(&oldest));
        }
        if self.order.len() > 2 * MOST {
            self.order.retain(|call| self.calls.contains_key(call));
        }
        whole
    }
}

/// A span of the decision alone.
fn decided(machine: &str, line: &Line) -> Span {
    let at = otlp::nanos(&line.time);
    let session = if line.session.is_empty() { &line.id } else { &line.session };
    let why = line.rules.first().map_or("refused", String::as_str);
    Span {
        trace_id: id(&format!("{machine} {} {session}", line.client), 16),
        span_id: id(&line.id, 8),
        name: clip(&line.tool, NAME),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: at.saturating_sub(line.duration_us.saturating_mul(1000)),
        end_time_unix_nano: at,
        attributes: otlp::attributes(line),
        status: stops(line).then(|| failed(why)),
        ..Span::default()
    }
}

fn failed(why: &str) -> Status {
    Status { message: clip(why, NAME), code: StatusCode::Error.into() }
}

/// So many bytes that are the same whenever they are made of the same text.
fn id(text: &str, bytes: usize) -> Vec<u8> {
    let digest = digest(text.as_bytes());
    let byte = |at: usize| digest.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..bytes).filter_map(byte).collect()
}

#[cfg(test)]
mod tests {
    use lazaret::domain::Verdict;

    use super::*;

    #[test]
    fn no_more_calls_are_waited_for_than_a_bound_says() {
        let mut open = Open::default();
        let call = |number: usize| Line {
            id: number.to_string(),
            tool: "Bash".to_owned(),
            call_id: number.to_string(),
            verdict: Some(Verdict::Allow),
            ..Line::default()
        };
        let lines: Vec<Line> = (0..MOST + 2).map(call).collect();
        let whole = open.and("m", &lines);
        assert_eq!(
            whole.iter().map(|span| span.span_id.clone()).collect::<Vec<_>>(),
            [id("0", 8), id("1", 8)]
        );
        let ended = Line { event: "action_completed".to_owned(), ..call(2) };
        assert_eq!(open.and("m", &[ended.clone(), ended]).len(), 1);
        assert_eq!(open.rest().len(), MOST - 1);
    }
}
