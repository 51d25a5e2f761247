//! Parcels on the store: a head that says where the content lies, and the content in pieces that keep no hook waiting. Both go with the
//! session's time.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use fred::interfaces::{HashesInterface, KeysInterface, LuaInterface};
use fred::types::Expiration;
use lazaret::domain::ReviewId;

use crate::store::{Stop, Store, told};

/// Puts a piece where none stays without an end, whatever becomes of who puts it there.
const PUT: &str = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('EXPIRE', KEYS[1], ARGV[3])";
/// Bytes of one piece.
const PIECE: usize = 256 * 1024;

impl Store {
    /// What is shared of a session, as it was written.
    pub async fn shared(&self, id: &ReviewId) -> Result<Option<String>> {
        self.client.get(self.head_of(id)).await.map_err(told)
    }

    /// Shares a session for so long. The content comes first: who sees the head finds all of it.
    pub async fn share(
        &self,
        id: &ReviewId,
        (head, at): (&str, &str),
        body: &[u8],
        left: Duration,
    ) -> Result<()> {
        let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX).max(1);
        let key = self.content_of(at);
        for (number, piece) in body.chunks(PIECE).enumerate() {
            let args = [number.to_string().into(), piece.into(), seconds.to_string().into()];
            let args: Vec<fred::types::Value> = args.into();
            self.client.eval::<(), _, _, _>(PUT, key.as_str(), args).await.map_err(told)?;
        }
        let until = Some(Expiration::EX(seconds));
        self.client.set::<(), _, _>(self.head_of(id), head, until, None, false).await.map_err(told)?;
        self.kept().await
    }

    /// The content at a place, of so many bytes.
    pub async fn content(&self, at: &str, bytes: u64) -> Result<Vec<u8>> {
        let bytes = usize::try_from(bytes).context("it is too long")?;
        let (key, mut body) = (self.content_of(at), Vec::with_capacity(bytes));
        for number in 0..bytes.div_ceil(PIECE) {
            let piece: Option<fred::bytes::Bytes> =
                self.client.hget(&key, number.to_string()).await.map_err(told)?;
            let piece = piece.context("a part of it is gone from the store; share it again")?;
            if piece.len() > PIECE {
                bail!("a part of it is longer than any that was shared");
            }
            body.extend_from_slice(&piece);
        }
        if body.len() != bytes {
            bail!("it is not as long as it was when it was shared");
        }
        Ok(body)
    }

    /// Removes the content at a place.
    pub async fn unshare(&self, at: &str) -> Result<()> {
        self.client.del::<(), _>(self.content_of(at)).await.map_err(told)
    }

    /// Removes the head of a session.
    pub async fn forget(&self, id: &ReviewId) -> Result<()> {
        self.client.del::<(), _>(self.head_of(id)).await.map_err(told)?;
        self.kept().await
    }

    /// Removes stops whose time has passed.
    pub async fn tidy(&self, now_s: u64) -> Result<()> {
        let key = self.key("stops");
        let all: std::collections::HashMap<String, String> = self.client.hgetall(&key).await.map_err(told)?;
        for (what, text) in all {
            let stop: Option<Stop> = serde_json::from_str(&text).ok();
            if stop.and_then(|stop| stop.until).is_some_and(|until| until < now_s) {
                self.client.hdel::<(), _, _>(&key, what).await.map_err(told)?;
            }
        }
        Ok(())
    }

    fn head_of(&self, id: &ReviewId) -> String {
        self.key(&format!("review:{id}"))
    }

    fn content_of(&self, at: &str) -> String {
        self.key(&format!("review-content:{at}"))
    }
}
