//! The quarantine as the hook and the commands need it: where an agent stands, and the task that it is given.

mod desk;
mod task;

pub use desk::Desk;
pub use task::Task;
