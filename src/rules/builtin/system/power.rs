//! The machine switched off.

words!("builtin/system/power");
