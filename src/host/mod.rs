//! The machine: the only floor-1 module that touches it. Clock, files, locks and processes become our own words here;
//! nothing here decides.

pub mod alloc;
pub mod audit;
pub mod brought;
pub mod checkpoint;
pub mod child;
pub mod clock;
mod commits;
pub mod config;
pub mod confine;
#[cfg(all(target_arch = "x86_64", any(test, target_env = "musl")))]
mod copy;
pub mod detached;
pub mod dirs;
pub mod environment;
pub mod facts;
pub mod files;
pub mod fleet;
pub mod guard;
mod hex;
pub mod ignore;
mod index;
mod json;
mod lock;
pub mod permit;
pub mod places;
mod platform;
pub mod plugin;
mod private;
pub mod process;
pub mod quarantine;
pub mod registration;
pub mod released;
pub mod reports;
pub mod start;
pub mod state;
pub mod trust;
#[cfg(all(target_env = "musl", panic = "abort"))]
mod unwind;
pub mod watch;
pub mod writable;

use std::ops::ControlFlow;

pub use hex::hex;
pub use json::from_json;

/// Is told how much of a long work is done, and says whether it may go on.
pub type Watched<'w> = dyn FnMut(u64) -> ControlFlow<()> + 'w;

/// Nobody looks on.
pub fn unwatched(_done: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
