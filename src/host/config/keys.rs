//! Every key of the configuration, once: its name, what it takes, which way it tightens, what it does, and its place in
//! the policy. Parsing, merging, `config show`, the file that `config init` writes and the reference all read this.

use super::choices::{
    BUILTIN, FLEET, FLEET_FAULT, LAYERS, LOG_LEVEL, MODE, ON_FAULT, PROFILE, RESOURCES, SENSITIVITY, SPAN,
};
use super::field::{Field, field, fraction, put, switch, whole};
use super::key::{Key, key, numbers};
use super::value::{Item, Kind, Stricter, Value};
use crate::domain::Policy;

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

pub static KEYS: &[Key] = &[
    key(
        "profile",
        (PROFILE.kind(), Stricter::Later),
        field!(PROFILE profile),
        "the values that stand where no file sets a key",
    ),
    key(
        "on_fault",
        (ON_FAULT.kind(), Stricter::Later),
        field!(ON_FAULT on_fault),
        "what an ordinary agent's call gets when no decision was possible; a client that cannot ask blocks",
    ),
    key(
        "reviewer.enabled",
        (Kind::Switch, Stricter::On),
        field!(switch enabled),
        "whether the calls of ordinary agents are reviewed; quarantined agents always are",
    ),
    key(
        "reviewer.mode",
        (MODE.kind(), Stricter::Later),
        field!(MODE mode),
        "blocking: a call waits for its whole review; async: one of little risk does not wait for what its session's past says of it",
    ),
    key(
        "risk.low_threshold",
        (Kind::Fraction, Stricter::Smaller),
        field!(fraction risk.low),
        "risk from which a call is low (below: minimal); the four must not descend",
    ),
    key(
        "risk.medium_threshold",
        (Kind::Fraction, Stricter::Smaller),
        field!(fraction risk.medium),
        "risk from which a call is medium",
    ),
    key(
        "risk.high_threshold",
        (Kind::Fraction, Stricter::Smaller),
        field!(fraction risk.high),
        "risk from which a call is high",
    ),
    key(
        "risk.critical_threshold",
        (Kind::Fraction, Stricter::Smaller),
        field!(fraction risk.critical),
        "risk from which a call is critical",
    ),
    key(
        "rationality.high_threshold",
        (Kind::Fraction, Stricter::Larger),
        field!(fraction rationality.high),
        "rationality from which a call is high; not below medium_threshold",
    ),
    key(
        "rationality.medium_threshold",
        (Kind::Fraction, Stricter::Larger),
        field!(fraction rationality.medium),
        "rationality from which a call is medium; what is below is low",
    ),
    key(
        "rules.builtin",
        (BUILTIN.kind(), Stricter::Later),
        field!(BUILTIN builtin_rules),
        "which built-in rules are on; essential: those of severity critical",
    ),
    key(
        "rules.disabled",
        (Kind::Words(Item::Rule), Stricter::Fewer),
        field!(words disabled_rules),
        "ids of rules that are switched off (`lazaret rules list`); `domain.*` is every rule of a domain",
    ),
    key(
        "rules.exceptions_from",
        (LAYERS.kind(), Stricter::Later),
        field!(LAYERS exceptions_from),
        "the lowest layer whose [[exceptions]] count",
    ),
    key(
        "rules.custom",
        (Kind::Rules, Stricter::More),
        field!(list Rules custom_rules),
        "rules of one's own, beside the built-in ones; each entry is a [[rules.custom]]",
    ),
    key(
        "resources.mode",
        (RESOURCES.kind(), Stricter::Later),
        field!(RESOURCES resources.mode),
        "what happens when the limit of file operations is reached",
    ),
    key(
        "resources.max_file_operations",
        (numbers(1, 1_000_000_000), Stricter::Smaller),
        field!(whole resources.max_file_operations),
        "calls of one prompt that may make, change or delete files",
    ),
    key(
        "resources.execution_time",
        (RESOURCES.kind(), Stricter::Later),
        field!(RESOURCES resources.execution_time),
        "what happens when max_execution_time_seconds is reached; reads and searches always pass",
    ),
    key(
        "resources.max_execution_time_seconds",
        (numbers(1, 1_000_000), Stricter::Smaller),
        field!(whole resources.max_execution_time),
        "seconds that the calls of one prompt may take together",
    ),
    key(
        "resources.memory",
        (RESOURCES.kind(), Stricter::Later),
        field!(RESOURCES resources.memory),
        "what happens when max_memory_mb is reached, in a run of `lazaret run` (docs/run.md)",
    ),
    key(
        "resources.max_memory_mb",
        (numbers(1, 1_000_000_000), Stricter::Smaller),
        field!(whole resources.max_memory),
        "mebibytes that a client and all it started may hold; `--max-memory` stands before it",
    ),
    key(
        "resources.token_usage",
        (RESOURCES.kind(), Stricter::Later),
        field!(RESOURCES resources.token_usage),
        "what happens when max_token_usage is reached, in a run of `lazaret run`",
    ),
    key(
        "resources.max_token_usage",
        (numbers(1, 1_000_000_000_000), Stricter::Smaller),
        field!(whole resources.max_token_usage),
        "tokens that the model may read and write in a run; `--max-tokens` stands before it",
    ),
    key(
        "resources.per",
        (SPAN.kind(), Stricter::Later),
        field!(SPAN resources.per),
        "what file operations and execution time are counted over",
    ),
    key(
        "patterns.enabled_patterns",
        (Kind::Words(Item::Pattern), Stricter::More),
        field!(words patterns.enabled),
        "built-in patterns of behaviour that are looked for in what a session did; `all` is every one",
    ),
    key(
        "patterns.sensitivity",
        (SENSITIVITY.kind(), Stricter::Later),
        field!(SENSITIVITY patterns.sensitivity),
        "how much evidence a pattern needs: half as much again (low), or two thirds (high)",
    ),
    key(
        "patterns.custom",
        (Kind::Patterns, Stricter::More),
        field!(list Patterns patterns.custom),
        "patterns of one's own, beside the built-in ones; each entry is a [[patterns.custom]]",
    ),
    key(
        "interventions.soft_correction",
        (Kind::Switch, Stricter::On),
        field!(switch interventions.soft_correction),
        "whether a pattern that asks for no more than that is reported to the model",
    ),
    key(
        "interventions.hard_stop",
        (Kind::Switch, Stricter::On),
        field!(switch interventions.hard_stop),
        "whether a session may be stopped; otherwise only its changes are held back",
    ),
    key(
        "interventions.max_retries",
        (numbers(1, 100), Stricter::Smaller),
        field!(whole interventions.max_retries),
        "interventions of one kind against one pattern before the next kind is made",
    ),
    key(
        "interventions.notify",
        (Kind::Command, Stricter::Neither),
        field!(words interventions.notify),
        "program and arguments that are started when a session is stopped; only from a managed or a user's file (docs/behaviour.md)",
    ),
    key(
        "interventions.custom",
        (Kind::Interventions, Stricter::Neither),
        field!(list Interventions interventions.custom),
        "what is reported and done about one pattern instead; each entry is an [[interventions.custom]]",
    ),
    key(
        "audit.enabled",
        (Kind::Switch, Stricter::On),
        field!(switch audit.enabled),
        "whether the audit log is written",
    ),
    key(
        "audit.log_level",
        (LOG_LEVEL.kind(), Stricter::Later),
        field!(LOG_LEVEL audit.log_level),
        "events from this level on are written; what was blocked, faults and stops always are (docs/audit.md)",
    ),
    key(
        "audit.mask_pii",
        (Kind::Switch, Stricter::Neither),
        field!(switch audit.mask_pii),
        "whether mail addresses, phone and card numbers and the name of the home directory are redacted in the log",
    ),
    key(
        "audit.retain_days",
        (numbers(1, 3650), Stricter::Neither),
        field!(whole audit.retain_days),
        "days after which a log file that was set aside is deleted",
    ),
    key(
        "audit.max_bytes",
        (numbers(65_536, 4_294_967_296), Stricter::Neither),
        field!(whole audit.max_bytes),
        "size from which the log file is set aside and a new one begun",
    ),
    key(
        "checkpoints.enabled",
        (Kind::Switch, Stricter::Neither),
        field!(switch checkpoints.enabled),
        "whether what a call changes or deletes is saved first",
    ),
    key(
        "checkpoints.instead_of_block",
        (Kind::Switch, Stricter::Neither),
        field!(switch checkpoints.instead_of_block),
        "whether a command of git that discards work is a warning instead of a block where all that it discards was saved",
    ),
    key(
        "checkpoints.retain_days",
        (numbers(1, 3650), Stricter::Neither),
        field!(whole checkpoints.retain_days),
        "days after which a checkpoint is deleted",
    ),
    key(
        "checkpoints.max_files",
        (numbers(1, 1_000_000), Stricter::Neither),
        field!(whole checkpoints.max_files),
        "files that one checkpoint may hold",
    ),
    key(
        "checkpoints.max_file_bytes",
        (numbers(1, 1_099_511_627_776), Stricter::Neither),
        field!(whole checkpoints.max_file_bytes),
        "size up to which a file is saved",
    ),
    key(
        "checkpoints.max_bytes",
        (numbers(1, 1_099_511_627_776), Stricter::Neither),
        field!(whole checkpoints.max_bytes),
        "bytes that one checkpoint may hold",
    ),
    key(
        "checkpoints.max_store_bytes",
        (numbers(65_536, 1_099_511_627_776), Stricter::Neither),
        field!(whole checkpoints.max_store_bytes),
        "bytes that all checkpoints may hold together; the oldest make room",
    ),
    key(
        "performance.max_review_time_ms",
        (numbers(100, 10_000), Stricter::Neither),
        field!(whole deadline_ms),
        "deadline of one hook call, in milliseconds; when it passes, the call is blocked",
    ),
    key(
        "performance.async_threshold",
        (Kind::Fraction, Stricter::Smaller),
        field!(fraction async_threshold),
        "risk below which a call does not wait where reviewer.mode is async",
    ),
    key(
        "quarantine.agent_types",
        (Kind::Words(Item::AgentType), Stricter::More),
        field!(words quarantine.agent_types),
        "agent types that are quarantined, with or without a plugin's prefix; `quarantine-reviewer` is one whatever the list says",
    ),
    key(
        "quarantine.max_calls",
        (numbers(1, 10_000), Stricter::Smaller),
        field!(whole quarantine.calls),
        "calls of one quarantined agent inside the window",
    ),
    key(
        "quarantine.window_seconds",
        (numbers(1, 86_400), Stricter::Larger),
        field!(whole quarantine.window_seconds),
        "length of that window",
    ),
    key(
        "quarantine.max_concurrent",
        (numbers(1, 1000), Stricter::Smaller),
        field!(whole quarantine.concurrent),
        "quarantined agents that may be at work at once",
    ),
    key(
        "quarantine.timeout_seconds",
        (numbers(1, 86_400), Stricter::Smaller),
        field!(whole quarantine.timeout_seconds),
        "time after which a quarantined agent's calls are blocked",
    ),
    key(
        "limits.tool",
        (Kind::Limits, Stricter::More),
        field!(list Limits tool_limits),
        "most calls of a tool (\"*\": of any) inside a window, by one agent or, where per is \"fleet\", by all agents that a service \
         of lazaret-fleet counts; each entry is a [[limits.tool]]",
    ),
    key(
        "fleet.service",
        (FLEET.kind(), Stricter::NotFirst),
        field!(FLEET fleet.service),
        "which service of lazaret-fleet is asked before each call: the user's own, or the machine's (docs/fleet.md)",
    ),
    key(
        "fleet.on_fault",
        (FLEET_FAULT.kind(), Stricter::Later),
        field!(FLEET_FAULT fleet.on_fault),
        "what a call gets when that service does not answer in time: what holds on this machine alone, a question, or a block",
    ),
    key(
        "fleet.deadline_ms",
        (numbers(5, 1000), Stricter::Neither),
        field!(whole fleet.deadline_ms),
        "how long that service may take, the store behind it included",
    ),
    key(
        "fleet.max_quarantined",
        (numbers(1, 100_000), Stricter::Smaller),
        field!(whole fleet.quarantined),
        "quarantined agents that may be at work at once on all machines that share the service's store",
    ),
    key(
        "scope.paths",
        (Kind::Words(Item::Path), Stricter::Fewer),
        field!(words scope),
        "where work is expected besides the repository and the temporary directories; absolute, ~/… or, in a project's \
         file, relative to it",
    ),
    key(
        "scope.goals",
        (Kind::Words(Item::Goal), Stricter::First),
        field!(words goals),
        "what the agent is here for; empty: unknown, which is not held against it",
    ),
    key(
        "network.known_hosts",
        (Kind::Words(Item::Host), Stricter::Fewer),
        field!(words known_hosts),
        "hosts to which a request is no news",
    ),
    key(
        "git.protected_branches",
        (Kind::Words(Item::Branch), Stricter::More),
        field!(words protected_branches),
        "branches whose history is not to be rewritten",
    ),
    key(
        "plugins",
        (Kind::Plugins, Stricter::Neither),
        field!(list Plugins plugins),
        "programs of one's own that are asked; only from a managed or a user's file; each entry is a [[plugins]]",
    ),
    key(
        "programs",
        (Kind::Programs, Stricter::Neither),
        field!(list Programs programs),
        "programs that lazaret is taught: how their words are read, and what their commands do; each entry is a [[programs]]",
    ),
    key(
        "exceptions",
        (Kind::Exceptions, Stricter::Neither),
        field!(list Exceptions exceptions),
        "each lowers the verdict of one rule where all that it names fits; those of all files count together",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::refused::REFUSED;
    use super::*;

    #[test]
    fn names_are_unique_and_known_once() {
        let mut names: Vec<&str> =
            KEYS.iter().map(|k| k.name).chain(REFUSED.iter().map(|r| r.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_key_puts_and_takes_its_own_field() {
        for key in KEYS.iter().filter(|key| !key.kind.is_tables()) {
            let mut policy = Policy::default();
            let other = different(key, &key.get(&policy));
            key.set(&mut policy, other.clone());
            let changed: Vec<&str> =
                KEYS.iter().filter(|k| k.get(&policy) != k.get(&Policy::default())).map(|k| k.name).collect();
            assert_eq!(changed, [key.name]);
            assert_eq!(key.get(&policy), other);
        }
    }

    fn different(key: &Key, value: &Value) -> Value {
        match value {
            Value::Switch(on) => Value::Switch(!on),
            Value::Whole(number) => Value::Whole(number + 1),
            Value::Fraction(number) => Value::Fraction(number / 2.0),
            Value::Word(word) => {
                let Kind::Word { words, .. } = key.kind else { return Value::Word("none such") };
                Value::Word(words.iter().find(|other| *other != word).unwrap())
            }
            Value::Words(_) => Value::Words(vec!["other".to_owned()]),
            // Read and merged each in its own way: what becomes of them is shown where that is.
            list => list.clone(),
        }
    }

    #[test]
    fn defaults_lie_in_their_ranges() {
        for key in KEYS {
            match (key.kind, key.get(&Policy::default())) {
                (Kind::Whole { min, max }, Value::Whole(number)) => {
                    assert!((min..=max).contains(&number), "{}", key.name)
                }
                (Kind::Fraction, Value::Fraction(number)) => {
                    assert!((0.0..=1.0).contains(&number), "{}", key.name)
                }
                (Kind::Word { words, .. }, Value::Word(word)) => {
                    assert!(words.contains(&word), "{}", key.name)
                }
                (Kind::Words(item), Value::Words(words)) => {
                    assert!(words.iter().all(|word| item.refuse(word).is_none()), "{}", key.name);
                }
                (Kind::Command, Value::Words(words)) => assert!(words.is_empty(), "{}", key.name),
                (Kind::Switch, Value::Switch(_)) => {}
                (kind, value) => assert!(kind.is_tables(), "{}: {value:?} is not {kind:?}", key.name),
            }
        }
    }
}
