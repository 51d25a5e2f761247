//! OTLP over gRPC: one call at a time, over a connection that is made when it is needed.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use prost::Message;
use tokio::runtime::Runtime;
use tonic::Request;
use tonic::client::Grpc as Caller;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic_prost::ProstCodec;

use crate::settings::Evidence;
use crate::tls;

/// How an address begins, and what it is called in HTTP.
const SCHEMES: [(&str, &str); 2] = [("grpc+tls://", "https://"), ("grpc+tcp://", "http://")];
/// Longest time for one call.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest answer, in bytes.
const ANSWER: usize = 64 * 1024;

/// A collector's services.
#[derive(Debug)]
pub struct Grpc {
    channel: Channel,
    /// Where the connection lives between two calls.
    runtime: Runtime,
}

impl Grpc {
    /// The collector at that address; none = it is one of HTTP.
    pub fn new(evidence: &Evidence, url: &str) -> Result<Option<Grpc>> {
        let found = SCHEMES.iter().find_map(|(ours, http)| Some((http, url.strip_prefix(ours)?)));
        let Some((scheme, place)) = found else { return Ok(None) };
        let place = place.trim_end_matches('/');
        if place.contains(['/', '?', '#']) {
            bail!("{url}: behind the scheme stand a host and a port, and nothing else");
        }
        let mut endpoint =
            Endpoint::from_shared(format!("{scheme}{place}")).with_context(|| url.to_owned())?;
        endpoint = endpoint.connect_timeout(PATIENCE).timeout(PATIENCE);
        if *scheme == "https://" {
            let roots = ClientTlsConfig::new().trust_anchors(tls::roots(evidence.ca.as_deref())?.roots);
            endpoint = endpoint.tls_config(roots).with_context(|| url.to_owned())?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let channel = endpoint.connect_lazy();
        drop(entered);
        Ok(Some(Grpc { channel, runtime }))
    }

    /// Calls `Export` of a service, with a message that is encoded already.
    pub fn call<Q, A>(&self, service: &str, body: &[u8], token: Option<&str>) -> Result<A>
    where
        Q: Message + Default + 'static,
        A: Message + Default + 'static,
    {
        let path =
            format!("/opentelemetry.proto.collector.{service}Service/Export").parse::<PathAndQuery>()?;
        let mut request = Request::new(Q::decode(body)?);
        if let Some(token) = token {
            let shown = MetadataValue::try_from(format!("Bearer {token}"))?;
            request.metadata_mut().insert("authorization", shown);
        }
        let mut caller = Caller::new(self.channel.clone()).max_decoding_message_size(ANSWER);
        let answer = self.runtime.block_on(async {
            let call = async {
                caller.ready().await.context("it cannot be reached")?;
                let answer = caller.unary(request, path, ProstCodec::<Q, A>::default()).await;
                // Its words are the collector's.
                answer.map_err(|status| {
                    let said = super::collector::told(status.message());
                    anyhow::anyhow!("the collector answered {:?}: {said}", status.code())
                })
            };
            tokio::time::timeout(PATIENCE, call).await.context("the collector does not answer")?
        });
        Ok(answer?.into_inner())
    }
}
