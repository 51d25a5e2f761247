//! What a message that cannot be understood says all the same of who sent it: for the log alone. Nothing is decided by it.

use serde_json::Value;

use crate::domain::{AgentId, Client, SessionId, Subject, clip};

/// Longest type of an agent or name of a tool, in bytes.
const NAME: usize = 200;

/// Who made a call, and with which tool, as far as the message says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    pub subject: Option<Subject>,
    pub tool: String,
}

/// Looks for the names alone; what is wrong elsewhere does not matter.
pub fn said(client: Client, message: &[u8]) -> Said {
    let text = String::from_utf8_lossy(message);
    let text = text.trim_start_matches('\u{feff}');
    let whole: Option<Value> = serde_json::from_str(text).ok();
    let field = |name: &str| match &whole {
        Some(whole) => whole.get(name)?.as_str().map(str::to_owned),
        None => written(text, name),
    };
    let (session, agent, agent_type, tool) = match client {
        Client::ClaudeCode | Client::Codex => ("session_id", "agent_id", "agent_type", "tool_name"),
        Client::OpenCode => ("session", "agent", "agent_type", "tool"),
    };
    let subject = field(session).and_then(|id| SessionId::new(&id)).map(|session| Subject {
        client,
        session,
        agent: field(agent).and_then(|id| AgentId::new(&id)),
        agent_type: field(agent_type).map(|name| clip(&name, NAME)),
    });
    Said { subject, tool: field(tool).map(|name| clip(&name, NAME)).unwrap_or_default() }
}

/// The first text that stands behind this name, in what is no JSON as a whole.
fn written(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{name}\""))?;
    let value = rest.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
    values.next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_message_still_says_who_sent_it() {
        let whole = r#"{"session_id":"s","agent_id":"q1","agent_type":"quarantine-reviewer","tool_name":"Read","tool_input":[]}"#;
        for cut in [whole.len(), whole.len() - 1, whole.len() - 6] {
            let said = said(Client::ClaudeCode, whole.get(..cut).unwrap().as_bytes());
            let subject = said.subject.unwrap();
            assert_eq!((subject.session.as_str(), said.tool.as_str()), ("s", "Read"), "{cut}");
            assert_eq!(subject.agent.unwrap().as_str(), "q1");
        }
        assert_eq!(said(Client::ClaudeCode, b"\xff{"), Said::default());
        assert_eq!(said(Client::OpenCode, br#"{"session":"s","tool":"read""#).tool, "read");
    }
}
