//! The keys that the founding documents name and that are no keys here, with the reason a person is told.

/// A key that the founding documents name and that is none here.
#[derive(Debug)]
pub struct Refused {
    pub name: &'static str,
    pub why: &'static str,
}

const fn never(name: &'static str, why: &'static str) -> Refused {
    Refused { name, why }
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
    never("interventions.auto_rollback", "a person rolls back, with the command that the message names"),
    never("cache.enabled", "a review is not cached: a look-up would cost more than the review"),
    never("cache.ttl_minutes", "a review is not cached: a look-up would cost more than the review"),
    never("cache.max_size", "a review is not cached: a look-up would cost more than the review"),
];
