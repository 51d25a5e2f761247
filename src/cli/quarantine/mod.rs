//! The quarantine as the hook and the commands need it: where an agent stands, the task that it is given, and what becomes
//! of its answer.

mod answer;
mod desk;
mod past;
mod spawn;
mod task;

pub use answer::withheld;
pub use desk::Desk;
pub use past::Past;
pub use spawn::{Spawned, settle};
pub use task::Task;
