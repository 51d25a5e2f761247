//! The quarantine's own gate: what a quarantined agent may read, search and list, and the sealed copy it gets instead.

use crate::domain::{
    Action, Inside, Out, Reason, ReviewId, Rewrite, Severity, Standing, ToolCall, Verdict, clip, escape,
};
use crate::reference::{self, Reference, Seen};
use crate::review::quarantine_tools::{self, AllowedTool};

/// Longest part of an argument that a reason quotes, in bytes.
const QUOTED: usize = 200;
/// What a reference begins with.
const SCHEME: &str = "typed://";
/// What its last part begins with, and how long the id in it is.
const ID_FIELD: &str = "&sid=";
const ID: usize = 36;
/// What to do when a path was refused.
const WAY_OUT: &str =
    "use a reference from your task exactly as it stands, and relative patterns without `..`";

/// What the gate says of a call of a quarantined agent.
pub(super) fn gate(call: &ToolCall, cwd: &str, standing: &Standing) -> Result<Rewrite, Reason> {
    if let Standing::Out(Out::TimedOut) = standing {
        return Err(out(Out::TimedOut));
    }
    allowed(call)?;
    // What is wrong with the path itself says more than that nobody granted it.
    let reference = wanted(call, cwd)?;
    let inside = match standing {
        Standing::In(inside) => inside,
        Standing::Out(why) => return Err(out(*why)),
    };
    let change = |field, value: String| Rewrite {
        name: "sealed-copy".to_owned(),
        field,
        value,
        also: &[],
        only: AllowedTool::of(&call.tool).map_or(&[], AllowedTool::arguments),
        needs_permission: true,
        told: false,
    };
    match &call.action {
        Action::Read { path } => Ok(change("file_path", read(reference.as_ref(), path, inside)?)),
        Action::Search { pattern, path, glob, .. } => {
            if AllowedTool::of(&call.tool) == Some(AllowedTool::Glob) {
                pattern_stays(pattern)?;
            }
            glob.as_deref().map_or(Ok(()), pattern_stays)?;
            Ok(change("path", searched(reference.as_ref(), path.as_deref(), inside)?))
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
    text.split(SCHEME).skip(1).find_map(|rest| {
        // Where the id ends, the reference does, whatever follows it in a sentence.
        let end = rest.find(ID_FIELD)? + ID_FIELD.len() + ID;
        let reference = Reference::parse(&format!("{SCHEME}{}", rest.get(..end)?)).ok()?;
        Some(reference.session().clone())
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
        Seen::Plain if matches!(call.action, Action::Read { .. }) => Err(plain(path)),
        Seen::Plain => Ok(None),
    }
}

/// A Read of something that is no reference.
fn plain(path: &str) -> Reason {
    let message = "a quarantined agent reads through a typed reference only, never a plain path";
    deny("INVALID_TYPED_REFERENCE", message.to_owned(), path)
}

fn read(reference: Option<&Reference>, path: &str, inside: &Inside) -> Result<String, Reason> {
    let reference = reference.ok_or_else(|| plain(path))?;
    let original = verified(reference, path, inside)?;
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
fn searched(reference: Option<&Reference>, path: Option<&str>, inside: &Inside) -> Result<String, Reason> {
    let all = inside.grounds.copies.trim_end_matches('/');
    let path = path.filter(|path| !matches!(*path, "" | "." | "./"));
    match (reference, path) {
        (Some(reference), Some(path)) => copy(&verified(reference, path, inside)?, path, inside),
        (_, None) => Ok(all.to_owned()),
        (None, Some(path)) => {
            pattern_stays(path)?;
            Ok(format!("{all}/{}", path.trim_start_matches("./")))
        }
    }
}

/// A relative path or pattern cannot lead out: no `..`, no `~`, no slash or variable where a name begins, also not put
/// together from parts.
fn pattern_stays(pattern: &str) -> Result<(), Reason> {
    let mut begins = true;
    let mut leaves = leads_up(pattern) || leads_off(pattern);
    for c in pattern.chars() {
        leaves |= matches!(c, '\\' | '\0' | '$' | '`') || (begins && matches!(c, '/' | '~'));
        begins = matches!(c, '{' | ',' | '(' | '|' | '!' | '[') || (begins && c.is_whitespace());
    }
    if !leaves {
        return Ok(());
    }
    let message = "searches stay among the copies of the review: no leading `/` or `~`, no `..`, no escapes";
    Err(deny("INVALID_TYPED_REFERENCE", message.to_owned(), pattern))
}

/// Whether two dots stand in it side by side, or come to do so when its groups are written out.
fn leads_up(pattern: &str) -> bool {
    let grouping =
        |c: char| matches!(c, '{' | '}' | ',' | '(' | ')' | '[' | ']' | '|' | '@' | '+' | '!' | '^');
    let joined: String = pattern.chars().filter(|c| !grouping(*c)).collect();
    // A name that is one dot so far, and one that goes on with a dot: what stands between may be left out.
    let mut dot = false;
    let meets = pattern.split(grouping).any(|part| {
        let meets = dot && (part == "." || part.starts_with("./"));
        dot |= part == "." || part.ends_with("/.");
        meets
    });
    joined.contains("..") || meets
}

/// Whether it repeats a group, names a scheme, or begins with a group that may be empty before a slash.
fn leads_off(pattern: &str) -> bool {
    let repeats = ["?(", "*(", "+(", "@(", "!("].iter().any(|group| pattern.contains(group));
    let start = pattern.trim_start_matches(|c: char| c.is_whitespace() || c == '!');
    let empty = ["{,", ",,", ",}", "{}"].iter().any(|none| pattern.contains(none));
    repeats || pattern.contains(":/") || (start.starts_with('{') && empty)
}

/// What an agent is told that works in no session.
pub fn out(why: Out) -> Reason {
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
            ("QUARANTINE_TIMEOUT", "the time of this quarantined agent has passed, so it reads no more")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Granted, Grounds, Key, SearchKind, Tool};

    const ID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";
    const NOW: u64 = 1_000_000;

    fn standing() -> Standing {
        let granted = |original: &str, tree| Granted { original: original.to_owned(), tree };
        Standing::In(Inside {
            review: ReviewId::parse(ID).unwrap(),
            grounds: Grounds {
                root: "/p".to_owned(),
                copies: "/run/c".to_owned(),
                granted: vec![granted("/p/a.rs", false), granted("/p/lib", true)],
            },
            ttl_s: 60,
            key: Key::new([7; 32]),
            now_s: NOW,
        })
    }

    fn reference(path: &str, minted: u64, key: u8, id: &str) -> String {
        let id = ReviewId::parse(id).unwrap();
        Reference::mint(&Key::new([key; 32]), path.as_bytes(), minted, &id, 60).unwrap().to_string()
    }

    fn read(path: &str) -> ToolCall {
        ToolCall { tool: Tool::Read, action: Action::Read { path: path.to_owned() }, id: None }
    }

    fn search(tool: Tool, pattern: &str, path: Option<&str>, glob: Option<&str>) -> ToolCall {
        let kind = if tool == Tool::Grep { SearchKind::Grep } else { SearchKind::Glob };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let action =
            Action::Search { kind, pattern: pattern.to_owned(), path: owned(path), glob: owned(glob) };
        ToolCall { tool, action, id: None }
    }

    fn outcome(call: &ToolCall) -> Result<String, String> {
        gate(call, "/work", &standing()).map(|change| change.value).map_err(|reason| reason.rule)
    }

    #[test]
    fn searches_stay_among_the_copies() {
        let dir = reference("/p/lib", NOW, 7, ID);
        let grep = |pattern: &str, path: Option<&str>, glob: Option<&str>| {
            outcome(&search(Tool::Grep, pattern, path, glob))
        };
        assert_eq!(grep("x", None, None).unwrap(), "/run/c");
        assert_eq!(grep("x", Some("."), Some("**/*.{rs,toml}")).unwrap(), "/run/c");
        assert_eq!(grep("x", Some("./lib/x"), None).unwrap(), "/run/c/lib/x");
        assert_eq!(grep("x", Some(&dir), None).unwrap(), "/run/c/lib");
        // A pattern of Grep is no path.
        assert_eq!(grep("/etc/../x", None, None).unwrap(), "/run/c");
        for path in ["/", "/etc", "/p", "..", "lib/../..", "~", "~/x", "$HOME", "lib/..\\x", "{/etc,x}"] {
            assert_eq!(grep("x", Some(path), None).unwrap_err(), "INVALID_TYPED_REFERENCE", "{path}");
        }
        for pattern in [
            "/etc/*",
            "../*",
            "{/etc/*,x}",
            "{x,/etc/*}",
            "x/../../y",
            "~/.ssh/*",
            "@(/etc/*)",
            "[/]etc/*",
            ".{.,x}/*",
            "[.][.]/*",
            "@(.)@(.)/*",
            "+(.)/+(.)/*",
            " /etc/*",
            "\t ~/x",
            "{x, /etc/*}",
            "file:///etc/*",
            "file:/etc/*",
            "{.,x}{x,.}/*",
            "x/.[.]/y",
            "{,x}/etc/*",
            "{x,}/etc/*",
            "!{a,{b,}}/etc/*",
            "{}/etc/*",
            "x/{.}{y,.}/z",
            ".(.)/x",
            "..",
            "{..,x}",
            ".{,x}./*",
            "{a/.,b}{./c,d}",
        ] {
            let glob = outcome(&search(Tool::Glob, pattern, None, None));
            assert_eq!(glob.unwrap_err(), "INVALID_TYPED_REFERENCE", "{pattern}");
            assert_eq!(grep("x", None, Some(pattern)).unwrap_err(), "INVALID_TYPED_REFERENCE", "{pattern}");
        }
        for pattern in [
            "**/*.rs",
            "lib/{a,b}/*.rs",
            "*.[ch]",
            "!target/**",
            "a b/c",
            "*.{rs,toml}",
            "*.*.js",
            ".github/**",
            "**/.[a-z]*",
            "{src,tests}/**/*.{ts,tsx}",
            "{.github,.cargo}/*",
            "*.test{,s}.js",
            "a[._]b",
            "{.,src}/*.rs",
            "./x",
        ] {
            assert!(outcome(&search(Tool::Glob, pattern, None, None)).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn nobody_gets_in_from_outside() {
        let uri = reference("/p/a.rs", NOW, 7, ID);
        for (why, code) in [
            (Out::Unbound, "INVALID_TYPED_REFERENCE"),
            (Out::OtherSession, "SESSION_MISMATCH"),
            (Out::Forged, "HMAC_VERIFICATION_FAILED"),
            (Out::Expired, "TYPED_REFERENCE_EXPIRED"),
            (Out::TooMany, "CONCURRENT_AGENT_LIMIT"),
            (Out::TimedOut, "QUARANTINE_TIMEOUT"),
            (Out::NoSession, "SESSION_MISMATCH"),
        ] {
            let refused = gate(&read(&uri), "/work", &Standing::Out(why)).unwrap_err();
            assert_eq!(refused.rule, code);
            assert!(refused.instead.is_some());
        }
        // What is wrong with the path says more; an agent past its time is told that first.
        let refused = gate(&read("/etc/passwd"), "/work", &Standing::Out(Out::TooMany)).unwrap_err();
        assert_eq!(refused.rule, "INVALID_TYPED_REFERENCE");
        let refused = gate(&read("/etc/passwd"), "/work", &Standing::Out(Out::TimedOut)).unwrap_err();
        assert_eq!(refused.rule, "QUARANTINE_TIMEOUT");
    }

    #[test]
    fn the_session_of_a_task_is_found_in_its_text() {
        let uri = reference("/p/a.rs", NOW, 7, ID);
        let text = format!("Review `typed://nonsense` and:\n- {uri} : \"a.rs\"\n");
        assert_eq!(session_named(&text).unwrap().as_str(), ID);
        for after in [".", ",", ";", ")", "]", "}", "|", "\\n", "", " typed://x", "&sid="] {
            assert_eq!(session_named(&format!("see {uri}{after}")).unwrap().as_str(), ID, "{after}");
        }
        let first = format!("typed://a?x {uri}.");
        assert_eq!(session_named(&first).unwrap().as_str(), ID);
        assert_eq!(session_named("Review /p/a.rs"), None);
        assert_eq!(session_named(uri.get(..uri.len() - 1).unwrap()), None);
    }
}
