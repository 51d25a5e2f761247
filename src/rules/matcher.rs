//! Rules, and the one matcher for them.

use super::Survey;
use crate::domain::{Facts, Policy, Reason, Rewrite, Severity, ToolCall, Verdict};

/// Everything a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub call: &'a ToolCall,
    pub cwd: &'a str,
    pub survey: &'a Survey,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
}

/// What an example of a rule expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Fires,
    Silent,
}

/// An example: a shell command, or a file tool's call as `Tool path`.
pub type Example = &'static str;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    pub verdict: Verdict,
    pub severity: Severity,
    /// Why, in one sentence without a full stop.
    pub reason: &'static str,
    /// One thing to do instead; lazaret lets it through.
    pub instead: Option<&'static str>,
    pub fires: &'static [Example],
    pub silent: &'static [Example],
}

/// Every built-in rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    std::iter::empty()
}

/// The built-in rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// The reasons of every rule that matches and is switched on.
pub fn judge(_view: &View<'_>) -> Vec<Reason> {
    Vec::new()
}

/// The rewrite that makes the call safe, where every `Modify` among `reasons` comes from a rule with a rewriter.
pub fn rewrite(_view: &View<'_>, _reasons: &[Reason]) -> Option<Rewrite> {
    None
}
