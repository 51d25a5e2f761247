//! What tests of the state keep: a session's subject, and the entry of a call.

use lazaret::domain::{AgentId, Client, Entry, Outcome, SessionId, Subject, Verdict};

pub fn subject(session: &str) -> Subject {
    let session = SessionId::new(session).unwrap();
    Subject { client: Client::ClaudeCode, session, agent: AgentId::new("a"), agent_type: None }
}

pub fn entry(call: u64) -> Entry {
    Entry {
        action: call * 10,
        agent: 3,
        tool: 4,
        call,
        verdict: Verdict::Allow,
        outcome: Outcome::Pending,
        writes: call.is_multiple_of(2),
        file_operation: false,
    }
}
