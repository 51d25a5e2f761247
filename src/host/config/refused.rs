//! The keys that the founding documents name and that are no keys here, with the reason a person is told.

/// A key that the founding documents name and that has no effect here.
#[derive(Debug)]
pub struct Refused {
    pub name: &'static str,
    /// Its feature is still to come; otherwise it will never be a key.
    pub later: bool,
    pub why: &'static str,
}

const fn never(name: &'static str, why: &'static str) -> Refused {
    Refused { name, later: false, why }
}

const fn later(name: &'static str, why: &'static str) -> Refused {
    Refused { name, later: true, why }
}

/// Keys of the founding documents that are no keys here, and why.
pub static REFUSED: &[Refused] = &[
    never("reviewer.review_mode", "it is called reviewer.mode here"),
    never(
        "reviewer.risk_threshold",
        "the four thresholds of [risk] and the decision matrix replace the one number",
    ),
    never("rationality.low_threshold", "all that is below rationality.medium_threshold is low"),
    never("audit.export_format", "it is an option of the command that exports, not a setting"),
    never("rules.custom_rules_path", "custom rules stand in the configuration itself, as [[rules.custom]]"),
    never("patterns.custom_patterns", "each is written as a [[patterns.custom]]"),
    later("interventions.auto_rollback", "a person rolls back, with the command that the message names"),
    later("cache.enabled", "a review is not cached: a look-up would cost more than the review"),
    later("cache.ttl_minutes", "a review is not cached: a look-up would cost more than the review"),
    later("cache.max_size", "a review is not cached: a look-up would cost more than the review"),
    later(
        "performance.async_threshold",
        "every call waits for its review; reviewer.mode = \"async\" comes with it",
    ),
];
