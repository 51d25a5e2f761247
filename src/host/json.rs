//! JSON out of bytes, by way of text: the binary then holds each of serde's readers once.

use serde::de::{Deserialize, Error};

/// Reads a value; bytes that are not UTF-8 are as wrong as what is no JSON.
pub fn from_json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(std::str::from_utf8(bytes).map_err(Error::custom)?)
}
