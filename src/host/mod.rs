//! The machine: the only floor-1 module that touches it. Clock, files, locks and processes become our own words here;
//! nothing here decides.

pub mod config;
pub mod dirs;
pub mod facts;
pub mod files;
pub mod ignore;
pub mod places;
pub mod registration;
pub mod trust;
