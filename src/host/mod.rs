//! The machine: files, clock, environment and processes. No decisions.

pub mod registration;
