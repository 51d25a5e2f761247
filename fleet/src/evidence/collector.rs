//! OTLP over HTTP or gRPC: one request at a time, and what is believed of the answer.

use std::path::Path;

use anyhow::{Context, Result, bail};
use lazaret::domain::{clip, escape};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use ureq::Agent;

use super::grpc::Grpc;
use crate::settings::{Evidence, only_ours};
use crate::{place, pull};

/// Longest answer of a collector that is looked at, and longest token, in bytes.
const ANSWER: u64 = 64 * 1024;
const TOKEN: u64 = 4096;
/// Longest reason that is repeated, in bytes.
const REASON: usize = 500;

/// A collector of OpenTelemetry.
#[derive(Debug)]
pub struct Collector {
    way: Way,
    url: String,
    token: Option<String>,
}

/// How it is reached.
#[derive(Debug)]
enum Way {
    Http(Agent),
    Grpc(Grpc),
}

impl Collector {
    pub fn new(evidence: &Evidence, url: &str) -> Result<Collector> {
        let token = evidence.token_file.as_deref().map(token).transpose()?;
        let way = match Grpc::new(evidence, url)? {
            Some(grpc) => Way::Grpc(grpc),
            // One that is led elsewhere would ask there for something instead of bringing it.
            None => Way::Http(pull::agent(evidence.ca.as_deref(), url.starts_with("https://"), 0)?),
        };
        Ok(Collector { way, url: url.to_owned(), token })
    }

    /// Logs; what the collector took in part counts as taken.
    pub fn logs(&self, body: &[u8]) -> Result<()> {
        let answer: ExportLogsServiceResponse =
            self.sent::<ExportLogsServiceRequest, _>("logs.v1.Logs", body)?;
        let partial = answer.partial_success.unwrap_or_default();
        // They are not to be sent again, says the protocol; they stay in the log.
        if let Err(refused) = self.took_all("events", partial.rejected_log_records, &partial.error_message) {
            crate::complain(&refused.to_string());
        }
        Ok(())
    }

    /// Metrics, in the same way.
    pub fn metrics(&self, body: &[u8]) -> Result<()> {
        let answer: ExportMetricsServiceResponse =
            self.sent::<ExportMetricsServiceRequest, _>("metrics.v1.Metrics", body)?;
        let partial = answer.partial_success.unwrap_or_default();
        self.took_all("values", partial.rejected_data_points, &partial.error_message)
    }

    /// Traces, in the same way.
    pub fn traces(&self, body: &[u8]) -> Result<()> {
        let answer: ExportTraceServiceResponse =
            self.sent::<ExportTraceServiceRequest, _>("trace.v1.Trace", body)?;
        let partial = answer.partial_success.unwrap_or_default();
        self.took_all("spans", partial.rejected_spans, &partial.error_message)
    }

    /// That the collector refused none of what a request brought.
    fn took_all(&self, what: &str, refused: i64, why: &str) -> Result<()> {
        if refused > 0 {
            bail!("{}: the collector refused {refused} {what}: {}", self.url, told(why));
        }
        Ok(())
    }

    /// A request of that service, and its answer.
    fn sent<Q, A>(&self, service: &str, body: &[u8]) -> Result<A>
    where
        Q: Message + Default + 'static,
        A: Message + Default + 'static,
    {
        match &self.way {
            Way::Http(agent) => self.post(agent, body),
            Way::Grpc(grpc) => {
                let sent = grpc.call::<Q, A>(service, body, self.token.as_deref());
                sent.with_context(|| self.url.clone())
            }
        }
    }

    fn post<A: Message + Default>(&self, agent: &Agent, body: &[u8]) -> Result<A> {
        let url = &self.url;
        let mut request = agent.post(url).header("Content-Type", "application/x-protobuf");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body).with_context(|| url.clone())?;
        let status = response.status().as_u16();
        if status != 200 {
            bail!("{url}: the collector answered {status}");
        }
        let answer = response.body_mut().with_config().limit(ANSWER).read_to_vec();
        let answer = answer.with_context(|| url.clone())?;
        // What is no answer of a collector's is from somebody else in its place.
        A::decode(&*answer).with_context(|| format!("{url}: its answer is none"))
    }
}

/// What a collector gives as its reason, in one line.
pub fn told(reason: &str) -> String {
    escape(&clip(reason, REASON))
}

fn token(path: &Path) -> Result<String> {
    let file = path.display();
    let token = place::needed_text(path, TOKEN)?.trim().to_owned();
    only_ours(path)?;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("{file}: it holds no token");
    }
    Ok(token)
}
