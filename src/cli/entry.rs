//! What a session remembers of a call that was decided on.

use crate::domain::{Decision, Enforcement, Entry, Outcome, Subject, ToolCall, Verdict};
use crate::review;

pub fn entry(subject: &Subject, call: &ToolCall, decision: &Decision) -> Entry {
    let identity = review::identify(subject, call);
    let runs = match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice | Enforcement::Rewrite | Enforcement::Ask => true,
        Enforcement::Deny | Enforcement::Stop => false,
    };
    let writes = runs && decision.effects.iter().any(review::is_file_operation);
    // Which copy a quarantined agent was led to is what its report is compared with.
    let sealed = decision.rewrite().filter(|_| decision.quarantined);
    Entry {
        action: sealed.map_or(identity.action, |change| review::sealed_action(&call.tool, &change.value)),
        agent: identity.agent,
        tool: identity.tool,
        call: identity.call,
        // Of a rewritten call nobody was asked: that it ran says nothing for what it works on.
        verdict: if decision.enforcement() == Enforcement::Rewrite {
            Verdict::Warn
        } else {
            decision.verdict()
        },
        outcome: if runs { Outcome::Pending } else { Outcome::Blocked },
        writes,
        file_operation: writes,
    }
}
