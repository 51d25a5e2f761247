//! The ways to a collector: what a batch is there, and when it counts as taken.

use anyhow::Result;
use lazaret::host::audit::Line;
use prost::Message;

use super::collector::Collector;
use super::syslog::{self, Syslog};
use super::{Format, Origin, otlp};
use crate::settings::Evidence;

/// A way to a collector.
#[derive(Debug)]
pub enum Transport {
    Otlp(Collector),
    Syslog(Syslog),
}

impl Transport {
    pub fn new(evidence: &Evidence) -> Result<Transport> {
        Ok(match Syslog::new(evidence)? {
            Some(syslog) => Transport::Syslog(syslog),
            None => Transport::Otlp(Collector::new(evidence, &evidence.url)?),
        })
    }

    /// These events in one piece, as the collector is handed them.
    pub fn body(&self, origin: &Origin, format: Format, lines: &[&Line]) -> Vec<u8> {
        match self {
            Transport::Otlp(_) => otlp::request(origin, format, lines).encode_to_vec(),
            Transport::Syslog(_) => syslog::frames(origin, format, lines),
        }
    }

    /// Hands it over; an error means that it has to be handed over again.
    pub fn deliver(&mut self, body: &[u8]) -> Result<()> {
        match self {
            Transport::Otlp(collector) => collector.logs(body),
            Transport::Syslog(syslog) => syslog.deliver(body),
        }
    }
}
