//! What the hook asks a service of `lazaret-fleet` and what that answers: one line of JSON each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The form of both.
pub const VERSION: u32 = 1;
/// Longest line, in bytes.
pub const MAX_LINE: usize = 256 * 1024;
/// Most limits of one question: as many as a configuration may have.
pub const MAX_LIMITS: usize = 256;
/// Most addresses of one repository.
pub const MAX_ADDRESSES: usize = 16;
/// The reason of a call that a person stopped for several machines.
pub const STOPPED: &str = "FLEET_STOPPED";

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Caller {
    pub client: String,
    pub session: String,
    /// The main agent has none.
    pub agent: Option<String>,
}

/// Calls that are counted together on all machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// `*` is every tool.
    pub tool: String,
    pub calls: u32,
    pub window_seconds: u32,
}

/// A place among the quarantined agents that are at work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// How many there are.
    pub most: u32,
    /// How long one is kept for an agent from its first call on, in seconds.
    pub seconds: u32,
}

/// What is asked. The service reads it as it stands here; the hook writes it by hand, which is a tenth of the code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", tag = "ask")]
pub enum Asked {
    /// May this call run? It is counted if it may.
    Call {
        v: u32,
        #[serde(flatten)]
        caller: Caller,
        /// Where the repository comes from and goes to (`host/path`), as far as that is known.
        repositories: Vec<String>,
        /// The review session that a quarantined agent works in.
        review: Option<String>,
        limits: Vec<Counted>,
        lease: Option<Lease>,
        /// How long the hook waits for the answer, in milliseconds.
        within_ms: u16,
    },
    /// A quarantined agent has ended: its place is free.
    Ended {
        v: u32,
        #[serde(flatten)]
        caller: Caller,
    },
}

impl Asked {
    /// The form that it has.
    pub const fn version(&self) -> u32 {
        match self {
            Asked::Call { v, .. } | Asked::Ended { v, .. } => *v,
        }
    }

    pub fn to_json(&self) -> Value {
        let (Asked::Call { v, caller, .. } | Asked::Ended { v, caller }) = self;
        let counted = |one: &Counted| json!({ "tool": one.tool, "calls": one.calls, "window_seconds": one.window_seconds });
        let leased = |one: &Lease| json!({ "most": one.most, "seconds": one.seconds });
        let mut asked = Map::new();
        let mut put = |name: &str, value: Value| {
            asked.insert(name.to_owned(), value);
        };
        put("v", (*v).into());
        put("client", caller.client.as_str().into());
        put("session", caller.session.as_str().into());
        put("agent", caller.agent.as_deref().into());
        if let Asked::Call { repositories, review, limits, lease, within_ms, .. } = self {
            put("ask", "call".into());
            put("review", review.as_deref().into());
            put("repositories", repositories.iter().map(String::as_str).collect());
            put("limits", limits.iter().map(counted).collect());
            put("lease", lease.as_ref().map_or(Value::Null, leased));
            put("within_ms", (*within_ms).into());
        } else {
            put("ask", "ended".into());
        }
        Value::Object(asked)
    }
}

/// The answer, the other way about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "answer")]
pub enum Answered {
    /// Nothing that holds on several machines speaks against it.
    Runs,
    /// A person stopped the session, its repository, its review or everything.
    Stopped {
        what: String,
        why: String,
        /// That it was the review: its agents are stopped, not who sent them.
        review: bool,
    },
    /// As many calls as may were made.
    Over { limit: Counted, counted: u32 },
    /// As many quarantined agents as may are at work.
    Full { most: u32 },
    /// It cannot be said.
    Unknown { why: String },
}

impl Answered {
    /// None = it is no answer.
    pub fn of(answer: &Value) -> Option<Answered> {
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let number = |value: &Value, name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
        Some(match answer.get("answer")?.as_str()? {
            "runs" => Answered::Runs,
            "stopped" => Answered::Stopped {
                what: text(answer, "what")?,
                why: text(answer, "why")?,
                // An older service says nothing of it; then the stop is of all.
                review: answer.get("review").and_then(Value::as_bool).unwrap_or(false),
            },
            "over" => {
                let limit = answer.get("limit")?;
                let (tool, calls) = (text(limit, "tool")?, number(limit, "calls")?);
                let window_seconds = number(limit, "window_seconds")?;
                let limit = Counted { tool, calls, window_seconds };
                Answered::Over { limit, counted: number(answer, "counted")? }
            }
            "full" => Answered::Full { most: number(answer, "most")? },
            "unknown" => Answered::Unknown { why: text(answer, "why")? },
            _ => return None,
        })
    }
}

/// Where a repository comes from, whichever way its address is written: the host and the path without `.git`, in lower case, since most hosts
/// tell no cases apart and a stop that holds too often is the lesser evil. None for an address of this machine.
pub fn repository(address: &str) -> Option<String> {
    let address = address.trim();
    let (host, path) = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // As scp has it. A single letter is a drive.
        None => address.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let host = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    // `host:22/path` is often meant so.
    let path = path
        .split_once('/')
        .filter(|(port, _)| is_port(port) && !address.contains("://"))
        .map_or(path, |(_, path)| path);
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
    let path = names.collect::<Vec<_>>().join("/").to_lowercase();
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_end_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let fits =
        !host.is_empty() && host.chars().all(plain) && !path.is_empty() && host.len() + path.len() < 1024;
    fits.then(|| format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_name() {
        for address in [
            "https://Git.acme.example/team/app.git",
            "https://user:secret@git.acme.example/team/app/",
            "ssh://git@git.acme.example:2222/team/app.git",
            "git@git.acme.example:team/app.git",
            "git.acme.example:/team/app",
            "git.acme.example:2222/team/app",
            "https://git.acme.example./Team//./App.GIT",
        ] {
            assert_eq!(repository(address).as_deref(), Some("git.acme.example/team/app"), "{address}");
        }
        for address in [
            "",
            "/srv/app",
            "../app",
            "file:///srv/app",
            "https://",
            "https:///x",
            "./a:b",
            "C:\\x",
            "[::1]:a/b",
        ] {
            assert_eq!(repository(address), None, "{address}");
        }
    }

    #[test]
    fn questions_and_answers_come_back_as_they_went() {
        let caller =
            Caller { client: "c".to_owned(), session: "s\n".to_owned(), agent: Some("a".to_owned()) };
        let limit = Counted { tool: "*".to_owned(), calls: 1, window_seconds: 2 };
        let call = |lease, repositories, review: Option<&str>| Asked::Call {
            v: VERSION,
            caller: caller.clone(),
            repositories,
            review: review.map(str::to_owned),
            limits: vec![limit.clone()],
            lease,
            within_ms: 20,
        };
        for asked in [
            call(None, Vec::new(), None),
            call(Some(Lease { most: 5, seconds: 300 }), vec!["h/p".to_owned()], Some("r")),
            Asked::Ended { v: 7, caller: Caller { agent: None, ..caller.clone() } },
        ] {
            let line = asked.to_json().to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<Asked>(&line).unwrap(), asked);
        }
        for answered in [
            Answered::Runs,
            Answered::Stopped { what: "w".to_owned(), why: "y".to_owned(), review: true },
            Answered::Over { limit, counted: 3 },
            Answered::Full { most: 4 },
            Answered::Unknown { why: "x".to_owned() },
        ] {
            assert_eq!(Answered::of(&serde_json::to_value(&answered).unwrap()), Some(answered));
        }
        assert_eq!(Answered::of(&json!({"answer": "over", "counted": 3})), None);
        let older = Answered::of(&json!({"answer": "stopped", "what": "w", "why": "y"}));
        assert_eq!(
            older,
            Some(Answered::Stopped { what: "w".to_owned(), why: "y".to_owned(), review: false })
        );
    }
}
