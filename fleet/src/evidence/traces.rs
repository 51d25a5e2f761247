//! Calls that were sent as events, as traces of OpenTelemetry: on a thread of its own, so that a collector which takes none of them holds
//! up no event. What it does not take is not kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lazaret::host::audit::Line;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;

use super::collector::Collector;
use super::spans::Open;
use super::{Origin, otlp};
use crate::settings::Evidence;

/// Most requests that wait for the collector.
const WAITING: usize = 32;
/// How long requests are begun after the last event was sent.
const AT_THE_END: Duration = Duration::from_secs(30);

/// The thread, and what is handed to it.
#[derive(Debug)]
pub struct Traces {
    origin: Origin,
    open: Open,
    requests: SyncSender<Vec<u8>>,
    /// Nothing more comes: what fails now is the last that is tried.
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    /// The last one found no place to wait.
    is_full: bool,
}

impl Traces {
    /// Begins; none = the settings name no collector of traces.
    pub fn new(evidence: &Evidence, origin: &Origin) -> Result<Option<Traces>> {
        let Some(url) = &evidence.traces_url else { return Ok(None) };
        let collector = Collector::new(evidence, url)?;
        let (requests, waiting) = mpsc::sync_channel(WAITING);
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        let thread = thread::Builder::new().name("traces".to_owned());
        let thread =
            thread.spawn(move || deliver(&collector, &waiting, &told)).context("a thread for traces")?;
        let open = Open::default();
        Ok(Some(Traces { origin: origin.clone(), open, requests, ends, thread, is_full: false }))
    }

    /// Hands over the calls that are whole with these events.
    pub fn sent(&mut self, lines: &[Line]) {
        let spans = self.open.and(&self.origin.machine, lines);
        self.hand_over(spans);
    }

    /// Hands over the rest, and waits until that is done or has failed.
    pub fn end(mut self) {
        let rest = self.open.rest();
        self.hand_over(rest);
        self.ends.store(true, Ordering::Relaxed);
        drop(self.requests);
        // What went wrong there was said there.
        let _ended = self.thread.join();
    }

    fn hand_over(&mut self, spans: Vec<Span>) {
        if spans.is_empty() {
            return;
        }
        let was_full = self.is_full;
        self.is_full = self.requests.try_send(request(&self.origin, spans).encode_to_vec()).is_err();
        if self.is_full && !was_full {
            crate::complain(
                "the collector of traces is too slow: some are left out; events are sent all the same",
            );
        }
    }
}

fn deliver(collector: &Collector, requests: &Receiver<Vec<u8>>, ends: &AtomicBool) {
    let (mut was_well, mut ending) = (true, None);
    for request in requests {
        if ends.load(Ordering::Relaxed) && ending.get_or_insert_with(Instant::now).elapsed() > AT_THE_END {
            crate::complain("the collector of traces is too slow: the last ones are left out");
            return;
        }
        let sent = collector.traces(&request);
        if let (Err(error), true) = (&sent, was_well) {
            crate::complain(&format!("{error:#}; events are sent all the same"));
        }
        was_well = sent.is_ok();
        if !was_well && ends.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn request(origin: &Origin, spans: Vec<Span>) -> ExportTraceServiceRequest {
    let scope = ScopeSpans { scope: Some(otlp::scope()), spans, ..ScopeSpans::default() };
    let all = ResourceSpans {
        resource: Some(otlp::resource(origin)),
        scope_spans: vec![scope],
        ..ResourceSpans::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![all] }
}
