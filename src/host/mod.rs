//! The machine: the only floor-1 module that touches it. Clock, files, locks and processes become our own words here;
//! nothing here decides.

pub mod alloc;
pub mod audit;
pub mod clock;
pub mod guard;
mod lock;
pub mod permit;
mod private;
pub mod state;
