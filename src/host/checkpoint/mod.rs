//! Checkpoints: what was at the paths that a call is about to change, kept below the state directory, so that it can be put
//! back. Which paths those are is not decided here.

mod after;
mod objects;
mod put;
mod record;
pub mod stake;
mod store;
mod sweep;
mod take;
mod tree;
mod undo;
mod way;

pub use record::{After, Entry, Manifest, State};
pub use store::{Checkpoints, Made, Meta};
pub use take::{Extent, Site, ToSave, Tree, Wanted};
pub use tree::{modules, top_of};
pub use undo::{Done, Refusal, Undo};

/// How names of files begin that are being written.
const TEMP: &str = ".new-";
