//! What machines share, on a server of Redis or Valkey: calls and places are counted by a script there, by its clock and in one round trip;
//! stops are a hash that every service reads again and again.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fred::clients::{Client, Pipeline, WithOptions};
use fred::interfaces::{
    ClientLike, EventInterface, HashesInterface, LuaInterface, ServerInterface, SortedSetsInterface,
};
use fred::types::config::{Config, Options, ReconnectPolicy, TlsConfig, TlsHostMapping};
use fred::types::{Builder, ClusterHash, CustomCommand, Value};
use fred::util::redis_keyslot;
use lazaret::domain::fleet::{Answered, Counted, Lease};
use lazaret::host::brought::digest;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::Receiver;

use crate::settings::{State, password};
use crate::tls;

/// How long anything else may take.
const OTHER: Duration = Duration::from_secs(2);
/// Pause between two tries to reach the store, in milliseconds.
const AGAIN_MS: u32 = 100;

/// How the address of a store begins.
const SCHEMES: &[&str] =
    &["redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster"];

const SCRIPT: &str = include_str!("count.lua");

/// Why something is stopped, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    pub why: String,
    /// As RFC 3339 has it.
    pub since: String,
    /// From when it can be forgotten, in seconds since 1970 by the server's clock; none = a person lets it go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// The store.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) client: Client,
    /// What all keys begin with: in braces, so that a cluster keeps those of a fleet on one server, where a script can see them together.
    base: String,
    replicas: u8,
}

impl Store {
    /// One that is not reached yet.
    pub fn of(state: &State) -> Result<Store> {
        // What is said of it never repeats it: it may hold a password.
        let scheme = state.url.split("://").next().unwrap_or_default();
        if !SCHEMES.contains(&scheme) {
            bail!("state.url: it begins with none of {}", SCHEMES.join("://, ") + "://");
        }
        let config = Config::from_url(&state.url);
        let mut config = config.map_err(|error| anyhow::anyhow!("state.url: {}", error.details()))?;
        if let Some(username) = &state.username {
            config.username = Some(username.clone());
        }
        if let Some(path) = &state.password_file {
            config.password = Some(password(path)?);
        }
        if let (Some(wanted), Some(path)) = (&config.tls, &state.ca) {
            let hostnames = wanted.hostnames.clone();
            config.tls = Some(TlsConfig { connector: tls::trusting(Some(path))?.into(), hostnames });
        } else if config.tls.is_none() && state.ca.is_some() {
            bail!("state.ca: the address is none of TLS; write rediss:// or rediss-sentinel:// and so on");
        }
        if let Some(tls) = &mut config.tls {
            // Nodes of a cluster are found by their numbers; certificates name the host that was asked first.
            if config.server.is_clustered() {
                tls.hostnames = TlsHostMapping::DefaultHost;
            }
        }
        let mut builder = Builder::from_config(config);
        builder.set_policy(ReconnectPolicy::new_constant(0, AGAIN_MS));
        builder.with_connection_config(|connection| {
            connection.connection_timeout = OTHER;
            connection.internal_command_timeout = OTHER;
            connection.max_command_attempts = 1;
            // A server that is stopped or cut off does not close its connections.
            connection.unresponsive.max_timeout = Some(OTHER);
            connection.unresponsive.interval = Duration::from_millis(500);
            connection.reconnect_on_auth_error = true;
        });
        let client = builder.build().map_err(told).context("state")?;
        Ok(Store { client, base: format!("{{{}}}", state.prefix), replicas: state.replicas })
    }

    /// Begins to keep a connection, which ends with the process.
    pub fn keep(&self) {
        let client = self.client.clone();
        let mut kept = client.connect();
        tokio::spawn(async move {
            loop {
                // The client looks again for a connection that was lost, but not for one that it never had.
                let _ended = kept.await;
                tokio::time::sleep(Duration::from_millis(AGAIN_MS.into())).await;
                kept = client.connect();
            }
        });
    }

    /// Waits for the first connection, for a command of a person: the first refusal is the answer.
    pub async fn reached(&self) -> Result<()> {
        // It ends with the process.
        let _kept = self.client.connect();
        let reached = tokio::time::timeout(OTHER * 2, self.client.wait_for_connect()).await;
        match reached {
            Ok(reached) => reached.map_err(told),
            Err(_) => bail!("the store: nobody answered within {} s", (OTHER * 2).as_secs()),
        }
    }

    /// Why the store is not reached, as it comes to be known.
    pub fn refusals(&self) -> Receiver<(fred::error::Error, Option<fred::types::config::Server>)> {
        self.client.error_rx()
    }

    /// Counts a call, where it may run; `id` tells it from every other.
    pub async fn count(
        &self,
        id: &str,
        limits: &[Counted],
        lease: Option<(&str, &Lease)>,
        within: Duration,
    ) -> Result<Answered, String> {
        if limits.is_empty() && lease.is_none() {
            return Ok(Answered::Runs);
        }
        let micros = |seconds: u32| (u64::from(seconds) * 1_000_000).to_string();
        let mut keys: Vec<String> = limits.iter().map(|limit| self.calls(limit)).collect();
        let mut args = vec![id.to_owned(), limits.len().to_string()];
        args.extend(limits.iter().flat_map(|limit| [limit.calls.to_string(), micros(limit.window_seconds)]));
        if let Some((holder, lease)) = lease {
            keys.push(self.key("quarantined"));
            args.extend([holder.to_owned(), lease.most.to_string(), micros(lease.seconds)]);
        }
        let late = |_| format!("the store: no answer within {} ms", within.as_millis());
        let (at, counted) =
            tokio::time::timeout(within, self.evaluated(keys, args, within)).await.map_err(late)??;
        match at {
            0 => Ok(Answered::Runs),
            -1 => Ok(Answered::Full { most: counted }),
            at => {
                let limit = usize::try_from(at).ok().and_then(|at| limits.get(at - 1));
                let limit = limit.ok_or_else(|| format!("the store named a limit that is none: {at}"))?;
                Ok(Answered::Over { limit: limit.clone(), counted })
            }
        }
    }

    async fn evaluated(
        &self,
        keys: Vec<String>,
        args: Vec<String>,
        within: Duration,
    ) -> Result<(i64, u32), String> {
        let client = self.hurried(within);
        if self.replicas == 0 {
            return client.eval(SCRIPT, keys, args).await.map_err(said);
        }
        let both: Pipeline<WithOptions<Client>> = Pipeline::from(client);
        let queued = async {
            // A pipeline has no word of its own for it.
            let mut words = vec![SCRIPT.to_owned(), keys.len().to_string()];
            words.extend(keys);
            words.extend(args);
            let command = CustomCommand::new_static("EVAL", ClusterHash::Offset(2), false);
            let _: () = both.custom(command, words).await?;
            both.wait::<()>(self.replicas.into(), milliseconds(within)).await
        };
        queued.await.map_err(said)?;
        let ((at, counted), have): ((i64, u32), u8) = both.all().await.map_err(said)?;
        // What was refused changed nothing that a replica would have to know.
        if at == 0 && have < self.replicas {
            return Err(format!("{have} of {} replicas have counted the call", self.replicas));
        }
        Ok((at, counted))
    }

    /// Gives a place back.
    pub async fn free(&self, holder: &str) -> Result<(), String> {
        let gone: Result<u64, _> = self.hurried(OTHER).zrem(self.key("quarantined"), holder).await;
        gone.map(drop).map_err(said)
    }

    /// What is stopped, by a server that may be believed: a primary, and with as many replicas as are wanted. Another one is left.
    pub async fn stops(&self, within: Duration) -> Result<HashMap<String, Stop>, String> {
        let looked = tokio::time::timeout(within, self.looked(within)).await;
        let (role, all) = looked
            .unwrap_or_else(|_| Err(format!("the store: no answer within {} ms", within.as_millis())))?;
        if let Err(why) = is_primary(&role, self.replicas) {
            // A sentinel or a cluster may know of another one by now.
            let _asked = self.client.force_reconnection().await;
            return Err(why);
        }
        // One that cannot be read stops all the same.
        let read = |text: String| {
            serde_json::from_str(&text).unwrap_or(Stop {
                why: "no reason can be read".to_owned(),
                since: String::new(),
                until: None,
            })
        };
        Ok(all.into_iter().map(|(what, text)| (what, read(text))).collect())
    }

    /// What the server is, and what is stopped.
    async fn looked(&self, within: Duration) -> Result<(Value, HashMap<String, String>), String> {
        let (client, key) = (self.hurried(within), self.key("stops"));
        let slot = ClusterHash::Custom(redis_keyslot(key.as_bytes()));
        let role = CustomCommand::new_static("ROLE", slot, false);
        let both: Pipeline<WithOptions<Client>> = Pipeline::from(client);
        let queued = async {
            let _: () = both.custom(role, Vec::<String>::new()).await?;
            both.hgetall::<(), _>(key).await
        };
        queued.await.map_err(said)?;
        both.all().await.map_err(said)
    }

    /// The server's time, in seconds since 1970.
    pub async fn time(&self) -> Result<u64> {
        let slot = ClusterHash::Custom(redis_keyslot(self.key("stops").as_bytes()));
        let (seconds, _micros): (u64, u64) = self
            .client
            .custom(CustomCommand::new_static("TIME", slot, false), Vec::<String>::new())
            .await
            .map_err(told)?;
        Ok(seconds)
    }

    /// Whether something is stopped.
    pub async fn is_stopped(&self, what: &str) -> Result<bool> {
        self.client.hexists(self.key("stops"), what).await.map_err(told)
    }

    /// Stops something; `false` = it was stopped already, and the reason is the new one.
    pub async fn stop(&self, what: &str, stop: &Stop) -> Result<bool> {
        let text = serde_json::to_string(stop)?;
        let new: u64 = self.client.hset(self.key("stops"), (what, text)).await.map_err(told)?;
        self.kept().await?;
        Ok(new > 0)
    }

    /// Lets it go on; `false` = it was not stopped.
    pub async fn resume(&self, what: &str) -> Result<bool> {
        let gone: u64 = self.client.hdel(self.key("stops"), what).await.map_err(told)?;
        self.kept().await?;
        Ok(gone > 0)
    }

    /// Waits until as many replicas as are wanted have the last change.
    pub(crate) async fn kept(&self) -> Result<()> {
        if self.replicas == 0 {
            return Ok(());
        }
        let have: u8 = self.client.wait(self.replicas.into(), milliseconds(OTHER / 2)).await.map_err(told)?;
        if have < self.replicas {
            bail!("it is on the store, but {have} of {} replicas have it; say it again", self.replicas);
        }
        Ok(())
    }

    /// Where it is not reached now, that is the answer.
    fn hurried(&self, within: Duration) -> WithOptions<Client> {
        let options = Options { timeout: Some(within), fail_fast: true, ..Options::default() };
        self.client.with_options(&options)
    }

    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.base)
    }

    fn calls(&self, limit: &Counted) -> String {
        let tool = digest(limit.tool.as_bytes());
        self.key(&format!("calls:{}:{}", limit.window_seconds, tool.get(..16).unwrap_or(&tool)))
    }
}

/// That a server counts, by its own word.
fn is_primary(role: &Value, replicas: u8) -> Result<(), String> {
    let Value::Array(role) = role else { return Err("the store: it does not say what it is".to_owned()) };
    let name = role.first().and_then(Value::as_string).unwrap_or_default();
    if name != "master" {
        return Err(format!("the store: the server is no primary ({})", lazaret::domain::escape(&name)));
    }
    let following = match role.get(2) {
        Some(Value::Array(following)) => following.len(),
        _ => 0,
    };
    if following < usize::from(replicas) {
        return Err(format!("the store: {following} of {replicas} replicas follow the server"));
    }
    Ok(())
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn told(error: fred::error::Error) -> anyhow::Error {
    anyhow::anyhow!(said(error))
}

/// Without the address, which may hold a password.
fn said(error: fred::error::Error) -> String {
    format!("the store: {}", error.details())
}
