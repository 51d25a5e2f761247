//! Operations that rules ask for: which words of a program's command line are one. They stand beside the rows of programs, under
//! `[[operations]]`, and their kinds in `operations.toml`.

/// Programs, and what they are told, each a row of words that must all stand there in this order. A word `-x` or `--x` may stand
/// anywhere, with a value too; one that ends in `*` begins so.
pub(in crate::rules) type Operations = &'static [(&'static [&'static str], &'static [&'static str])];

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
