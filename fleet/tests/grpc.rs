//! The log of a machine, sent over gRPC to a collector with a certificate of the tests' own, which is away, refuses and forgets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;
mod sending;

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use machines::{Process, port, until};
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{LogsService, LogsServiceServer};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use sending::{Place, attribute, id};
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// What came, and what is done with the next request.
#[derive(Debug, Default)]
struct Got {
    uids: Vec<String>,
    metrics: BTreeSet<String>,
    tokens: BTreeSet<String>,
    /// Refuses the next ones so.
    refuses: Vec<Status>,
}

#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Got>>);

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let mut got = self.0.lock().unwrap();
        let token = request.metadata().get("authorization").map(|token| token.to_str().unwrap().to_owned());
        got.tokens.extend(token);
        if let Some(status) = got.refuses.pop() {
            return Err(status);
        }
        let logs = request.into_inner().resource_logs.into_iter().flat_map(|all| all.scope_logs);
        let records = logs.flat_map(|logs| logs.log_records);
        got.uids.extend(records.map(|record| attribute(&record.attributes, "log.record.uid")));
        let error_message = "one\r\nlazaret-fleet: all is well".to_owned();
        let partial = ExportLogsPartialSuccess { rejected_log_records: 1, error_message };
        Ok(Response::new(ExportLogsServiceResponse { partial_success: Some(partial) }))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let scopes = request.into_inner().resource_metrics.into_iter().flat_map(|all| all.scope_metrics);
        let names = scopes.flat_map(|scope| scope.metrics).map(|metric| metric.name);
        self.0.lock().unwrap().metrics.extend(names);
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

impl Collector {
    /// Listens at that port until what is given back is dropped.
    fn listens(&self, port: u16, identity: Option<&Identity>) -> tokio::runtime::Runtime {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut server = Server::builder();
        if let Some(identity) = identity {
            server = server.tls_config(ServerTlsConfig::new().identity(identity.clone())).unwrap();
        }
        let services = server
            .add_service(LogsServiceServer::new(self.clone()))
            .add_service(MetricsServiceServer::new(self.clone()));
        runtime.spawn(services.serve(([127, 0, 0, 1], port).into()));
        until("the collector listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        runtime
    }

    fn ids(&self) -> BTreeSet<String> {
        self.0.lock().unwrap().uids.iter().cloned().collect()
    }
}

fn wanted(count: u64) -> BTreeSet<String> {
    (1..=count).map(|number| id("0245da23", number, "")).collect()
}

#[test]
fn events_and_metrics_come_over_grpc_once_the_collector_is_there() {
    const ALL: u64 = 3000;
    let (collector, port) = (Collector::default(), port());
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let identity = Identity::from_pem(made.cert.pem(), made.signing_key.serialize_pem());
    let url = format!("grpc+tls://localhost:{port}");
    let place = Place::new(&url);
    place.log("audit.jsonl", "0245da23", 1..ALL + 1);
    fs::write(place.path("ca.pem"), made.cert.pem()).unwrap();
    fs::write(place.path("token"), "t0k3n\n").unwrap();
    let settings = format!(
        "[evidence]\nurl = \"{url}\"\nca = \"ca.pem\"\ntoken_file = \"token\"\nmetrics_url = \"{url}\"\n"
    );
    place.settings(&settings);
    // Nobody is there; then somebody who refuses, takes some, and is gone; then the same again.
    let mut send = place.sender(&[]);
    let errors = fs::File::create(place.path("errors")).unwrap();
    let running = Process::start(send.stdout(Stdio::null()).stderr(errors));
    until("it says that nobody is there", || fs::metadata(place.path("errors")).unwrap().len() > 0);
    collector.0.lock().unwrap().refuses =
        vec![Status::unavailable("later"), Status::unauthenticated("who?\r\nare you")];
    let listening = collector.listens(port, Some(&identity));
    until("some came", || !collector.ids().is_empty());
    drop(listening);
    let listening = collector.listens(port, Some(&identity));
    until("all came", || collector.ids() == wanted(ALL));
    until("all is remembered", || place.remembered() == ALL);
    drop(running);
    assert!(collector.0.lock().unwrap().uids.len() as u64 <= ALL + 2 * 512);
    assert_eq!(place.once(), (Some(0), "0 events were sent\n".to_owned()));
    let got = collector.0.lock().unwrap();
    assert_eq!(got.tokens, BTreeSet::from(["Bearer t0k3n".to_owned()]));
    assert!(
        got.metrics.contains("lazaret.decisions") || got.metrics.contains("lazaret.events.waiting"),
        "{:?}",
        got.metrics
    );
    drop(got);
    drop(listening);
    // What a collector says is one line of this program's, whatever stands in it.
    let said = fs::read_to_string(place.path("errors")).unwrap();
    assert!(said.contains("it cannot be reached") || said.contains("transport error"), "{said}");
    assert!(said.contains("the collector refused 1 events: one"), "{said}");
    assert!(said.lines().all(|line| line.starts_with("lazaret-fleet: grpc+tls://")), "{said}");
}

#[test]
fn a_collector_that_nobody_vouches_for_gets_nothing() {
    let (collector, port) = (Collector::default(), port());
    let [ours, theirs] =
        [(); 2].map(|()| rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap());
    let listening = collector
        .listens(port, Some(&Identity::from_pem(theirs.cert.pem(), theirs.signing_key.serialize_pem())));
    let place = Place::new("grpc+tls://x");
    place.log("audit.jsonl", "0245da23", 1..3);
    fs::write(place.path("ca.pem"), ours.cert.pem()).unwrap();
    fs::write(place.path("none.pem"), "none").unwrap();
    place.settings(&format!("[evidence]\nurl = \"grpc+tls://localhost:{port}\"\nca = \"ca.pem\"\n"));
    let running = Process::start(place.sender(&[]).stdout(Stdio::null()).stderr(Stdio::null()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(collector.ids().is_empty());
    drop(running);
    drop(listening);
    for (settings, why) in [
        (
            format!("url = \"grpc+tls://localhost:{port}\"\nca = \"none.pem\""),
            "none.pem: it has no certificate",
        ),
        ("url = \"grpc+tls://localhost:1/v1/logs\"".to_owned(), "stand a host and a port, and nothing else"),
        ("url = \"grpc+tcp://collector.example:4317\"".to_owned(), "neither https://"),
        ("url = \"grpc+tls://user:secret@x\"".to_owned(), "a name or password does not stand in it"),
    ] {
        place.settings(&format!("[evidence]\n{settings}\n"));
        let (code, said) = place.once();
        assert!(code == Some(1) && said.contains(why), "{settings}: {said}");
    }
}
