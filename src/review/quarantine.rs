//! The quarantine's own gate: what a quarantined agent may read, search and list, and the sealed copy it gets instead.

use crate::domain::{
    Action, Inside, Level, Out, Reason, ReviewId, Rewrite, Severity, Standing, ToolCall, Verdict, clip,
    escape,
};
use crate::reference::{self, Reference, Seen};
use crate::review::quarantine_tools::{self, AllowedTool};

/// Longest part of an argument that a reason quotes, in bytes.
const QUOTED: usize = 200;
/// What to do when a path was refused.
const WAY_OUT: &str =
    "use a reference from your task exactly as it stands, and relative patterns without `..`";

/// What the gate says of a call of a quarantined agent.
pub(super) fn gate(call: &ToolCall, cwd: &str, standing: &Standing) -> Result<Rewrite, Reason> {
    if let Standing::Out(Out::TimedOut) = standing {
        return Err(out(Out::TimedOut));
    }
    allowed(call)?;
    let inside = match standing {
        Standing::In(inside) => inside,
        Standing::Out(why) => {
            // What is wrong with the path itself says more than that nobody granted it.
            wanted(call, cwd)?;
            return Err(out(*why));
        }
    };
    let change = |field, value: String| Rewrite {
        name: "sealed-copy".to_owned(),
        field,
        value,
        also: &[],
        needs_permission: true,
        told: false,
    };
    match &call.action {
        Action::Read { path } => Ok(change("file_path", read(path, cwd, inside)?)),
        Action::Search { pattern, path, glob, .. } => {
            if AllowedTool::of(&call.tool) == Some(AllowedTool::Glob) {
                pattern_stays(pattern)?;
            }
            glob.as_deref().map_or(Ok(()), pattern_stays)?;
            Ok(change("path", searched(path.as_deref(), cwd, inside)?))
        }
        Action::Shell { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => Err(deny("TOOL_NOT_ALLOWED", "this is no reading".to_owned(), "")),
    }
}

/// The reference that a call presents: none = it presents none, and something else is wrong if it needs one.
pub fn presented(call: &ToolCall, cwd: &str) -> Option<Reference> {
    wanted(call, cwd).ok().flatten()
}

/// The session of the first well-formed reference in a text: where a task for a quarantined agent belongs to.
pub fn session_named(text: &str) -> Option<ReviewId> {
    text.match_indices("typed://").find_map(|(at, _)| {
        let rest = text.get(at..)?;
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | '\'' | '<' | '>' | ')'));
        let one = rest.get(..end.unwrap_or(rest.len()))?;
        Reference::parse(one).ok().map(|reference| reference.session().clone())
    })
}

fn allowed(call: &ToolCall) -> Result<(), Reason> {
    let Some(denied) = quarantine_tools::denied(&call.tool) else { return Ok(()) };
    let message = format!(
        "a quarantined agent may use Read, Grep and Glob only, not {}: {} ({}, {} risk)",
        escape(&clip(&call.tool.name(), 100)),
        denied.why,
        denied.scenario.code(),
        denied.risk.name()
    );
    Err(deny("TOOL_NOT_ALLOWED", message, ""))
}

/// The reference in the place where one belongs; what only looks like one is refused.
fn wanted(call: &ToolCall, cwd: &str) -> Result<Option<Reference>, Reason> {
    let path = match &call.action {
        Action::Read { path } => path,
        Action::Search { path: Some(path), .. } => path,
        Action::Search { path: None, .. } => return Ok(None),
        Action::Shell { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => return Ok(None),
    };
    match reference::look(path, cwd) {
        Seen::Reference(reference) => Ok(Some(reference)),
        Seen::Malformed(why) => {
            let message = format!("this looks like a reference and is not one: {}", why.message());
            Err(deny("INVALID_TYPED_REFERENCE", message, path))
        }
        Seen::Plain if matches!(call.action, Action::Read { .. }) => {
            let message = "a quarantined agent reads through a typed reference only, never a plain path";
            Err(deny("INVALID_TYPED_REFERENCE", message.to_owned(), path))
        }
        Seen::Plain => Ok(None),
    }
}

fn read(path: &str, cwd: &str, inside: &Inside) -> Result<String, Reason> {
    let Seen::Reference(reference) = reference::look(path, cwd) else {
        let message = "a quarantined agent reads through a typed reference only, never a plain path";
        return Err(deny("INVALID_TYPED_REFERENCE", message.to_owned(), path));
    };
    let original = verified(&reference, path, inside)?;
    if inside.grounds.is_tree(&original) {
        let message = "the reference names a directory, which cannot be read; search it with Grep or Glob";
        return Err(deny("INVALID_TYPED_REFERENCE", message.to_owned(), path));
    }
    copy(&original, path, inside)
}

/// The path that a verified reference names.
fn verified(reference: &Reference, path: &str, inside: &Inside) -> Result<String, Reason> {
    reference
        .verify(&inside.key, &inside.review, inside.ttl_s, inside.now_s)
        .map_err(|refusal| deny(refusal.code(), refusal.message().to_owned(), path))?;
    String::from_utf8(reference.path().to_vec()).map_err(|_| {
        deny("INVALID_TYPED_REFERENCE", "the reference names a path that is not UTF-8".to_owned(), path)
    })
}

fn copy(original: &str, path: &str, inside: &Inside) -> Result<String, Reason> {
    inside.grounds.copy_of(original).ok_or_else(|| {
        deny("INVALID_TYPED_REFERENCE", "the review session has no copy of that path".to_owned(), path)
    })
}

/// Where a search goes: all copies, those of a reference, or a relative place among them.
fn searched(path: Option<&str>, cwd: &str, inside: &Inside) -> Result<String, Reason> {
    let all = || inside.grounds.copies.trim_end_matches('/').to_owned();
    let Some(path) = path.filter(|path| !matches!(*path, "" | "." | "./")) else { return Ok(all()) };
    match reference::look(path, cwd) {
        Seen::Reference(reference) => copy(&verified(&reference, path, inside)?, path, inside),
        Seen::Malformed(why) => {
            let message = format!("this looks like a reference and is not one: {}", why.message());
            Err(deny("INVALID_TYPED_REFERENCE", message, path))
        }
        Seen::Plain => {
            pattern_stays(path)?;
            Ok(format!("{}/{}", all(), path.trim_start_matches("./")))
        }
    }
}

/// A relative path or pattern cannot lead out: no `..`, no `~`, no slash or variable where a name begins.
fn pattern_stays(pattern: &str) -> Result<(), Reason> {
    let mut begins = true;
    let mut leaves = pattern.contains("..");
    for c in pattern.chars() {
        leaves |= matches!(c, '\\' | '\0' | '$' | '`') || (begins && matches!(c, '/' | '~'));
        begins = matches!(c, '{' | ',' | '(' | '|' | '!' | '[');
    }
    if !leaves {
        return Ok(());
    }
    let message = "searches stay among the copies of the review: no leading `/` or `~`, no `..`, no escapes";
    Err(deny("INVALID_TYPED_REFERENCE", message.to_owned(), pattern))
}

/// What an agent is told that works in no session.
fn out(why: Out) -> Reason {
    let (code, message) = match why {
        Out::Unbound => (
            "INVALID_TYPED_REFERENCE",
            "this agent has not read through a typed reference yet, so no review session is open to it",
        ),
        Out::OtherSession => ("SESSION_MISMATCH", "the reference belongs to another review session"),
        Out::Forged => {
            ("HMAC_VERIFICATION_FAILED", "the signature of the reference does not fit what it names")
        }
        Out::Expired => ("TYPED_REFERENCE_EXPIRED", "the reference has expired, or is dated in the future"),
        Out::TooMany => {
            ("CONCURRENT_AGENT_LIMIT", "as many quarantined agents are working as may work at once")
        }
        Out::TimedOut => {
            ("QUARANTINE_TIMEOUT", "the time of this quarantined agent has passed; its review has ended")
        }
        Out::NoSession => ("SESSION_MISMATCH", "there is no open review session of that name"),
    };
    let mut reason = deny(code, message.to_owned(), "");
    reason.instead = match why {
        Out::TooMany => Some("wait until another reviewer has ended, then start this one again".to_owned()),
        Out::TimedOut | Out::NoSession => {
            Some("stop here; a new review is opened with `lazaret review start`".to_owned())
        }
        Out::Unbound | Out::OtherSession | Out::Forged | Out::Expired => Some(WAY_OUT.to_owned()),
    };
    reason
}

fn deny(code: &str, message: String, matched: &str) -> Reason {
    Reason {
        rule: code.to_owned(),
        verdict: Verdict::Block,
        severity: Severity::High,
        message,
        matched: clip(matched, QUOTED),
        instead: (!matched.is_empty()).then(|| WAY_OUT.to_owned()),
    }
}
