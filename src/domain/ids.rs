//! The ids of reasons: how one is named, and those that no rule gives.

/// Whether an id is the one that is named, or of the domain that is (`cloud.*`).
pub fn names_id(named: &str, id: &str) -> bool {
    named == id
        || named.strip_suffix('*').is_some_and(|domain| domain.ends_with('.') && id.starts_with(domain))
}

/// Every id of a reason that no rule gives, in the order of the alphabet; a pattern's is `pattern.` and its name.
pub const OWN_IDS: &[&str] = &[
    "CONCURRENT_AGENT_LIMIT",
    "HMAC_VERIFICATION_FAILED",
    "INVALID_TYPED_REFERENCE",
    "QUARANTINE_TIMEOUT",
    "RATE_LIMIT_EXCEEDED",
    "RUN_LIMIT_EXCEEDED",
    "SESSION_HELD",
    "SESSION_MISMATCH",
    "SESSION_STOPPED",
    "SESSION_THROTTLED",
    "TOOL_LIMIT_EXCEEDED",
    "TOOL_NOT_ALLOWED",
    "TYPED_REFERENCE_EXPIRED",
    "checkpoint.incomplete",
    "checkpoint.made",
    "checkpoint.would",
    "effect.critical",
    "fault.audit",
    "fault.bad-message",
    "fault.busy",
    "fault.config",
    "fault.deadline",
    "fault.host",
    "fault.state",
    "fault.too-large",
    "limits.execution-time",
    "limits.file-operations",
    "limits.used",
    "matrix.critical-high",
    "matrix.critical-low",
    "matrix.critical-medium",
    "matrix.high-high",
    "matrix.high-low",
    "matrix.high-medium",
    "matrix.low-high",
    "matrix.low-low",
    "matrix.low-medium",
    "matrix.medium-high",
    "matrix.medium-low",
    "matrix.medium-medium",
    "matrix.minimal-high",
    "matrix.minimal-low",
    "matrix.minimal-medium",
    "permission.offered",
    "permission.used",
    "quarantine.contact",
    "quarantine.no-session",
    "quarantine.options",
    "quarantine.report-accepted",
    "quarantine.report-rejected",
    "quarantine.report-sent-back",
    "quarantine.sealed-copy",
    "quarantine.task",
    "self.binary-changed",
    "self.environment",
    "self.gate-changed",
    "self.settings-change",
    "self.surface-changed",
    "session.remembered",
    "shell.bound",
    "shell.syntax",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Every literal of the sources that looks like one of them is one.
    #[test]
    fn the_sources_name_no_other() {
        const DOMAINS: [&str; 9] = [
            "checkpoint.",
            "effect.",
            "fault.",
            "limits.",
            "permission.",
            "quarantine.",
            "self.",
            "session.",
            "shell.",
        ];
        let mut open = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        let mut found = 0;
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
                let name = entry.to_string_lossy().into_owned();
                if entry.is_dir() {
                    open.push(entry);
                    continue;
                }
                // Rules' own ids, settings' names and the clients' events look the same.
                if ["/rules/", "/host/config/", "/adapters/", "/ids.rs"]
                    .iter()
                    .any(|part| name.contains(part))
                {
                    continue;
                }
                let text = std::fs::read_to_string(&entry).unwrap();
                for id in text.split('"').filter(|word| DOMAINS.iter().any(|domain| word.starts_with(domain)))
                {
                    let tail = id.split_once('.').map_or("", |(_, tail)| tail);
                    let whole = !tail.is_empty() && tail.chars().all(|c| c.is_ascii_lowercase() || c == '-');
                    if whole && !tail.ends_with("rs") {
                        found += 1;
                        assert!(OWN_IDS.contains(&id), "{name}: {id}");
                    }
                }
            }
        }
        assert!(found > 30, "{found}");
        assert!(OWN_IDS.is_sorted());
    }
}
