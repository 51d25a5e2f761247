//! OpenCode.
