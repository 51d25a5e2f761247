//! The decision: a pure function of the call, what is known of the machine, the policy and the session so far.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

mod assess;
pub mod behaviour;
mod decide;
pub mod exceptions;
mod gates;
pub mod limits;
mod matrix;
pub mod prompt;
mod quarantine;
pub mod quarantine_tools;
mod rationality;
pub mod redact;
mod registration;
pub mod response;
mod risk;
pub mod stakes;
pub mod surfaces;
pub mod undoable;

pub use decide::{
    Case, Identity, action_text, afterwards, call_fingerprint, decide, identify, sealed_action,
};
pub use gates::agent_fingerprint;
pub use limits::is_file_operation;
pub use matrix::{DangerousPattern, base_verdict, final_verdict};
pub use quarantine::{out, presented, session_named};
pub use rationality::rationality;
pub use registration::{drops_registration, is_replaced, leaves_hooks_out, starts, switches_off};
pub use risk::{base_risk, rated, risk, risk_level, with_patterns};
