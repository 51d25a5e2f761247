//! stub
use super::Script;
/// Parses a command line.
pub fn parse(_source: &str) -> Script {
    Script::default()
}
