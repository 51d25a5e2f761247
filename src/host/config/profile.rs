//! The profiles: values that stand where no file sets a key. What a profile is called is chosen by the key `profile`.

use super::key::Key;
use super::keys;
use super::value::Value;
use crate::domain::{Policy, Profile};

/// A key and its value in a profile.
type Setting = (&'static str, Value);

/// What each profile sets, each with at least the strictness of those before it; what none of them sets is as ever.
const DEVELOPMENT: &[Setting] = &[
    ("patterns.sensitivity", Value::Word("low")),
    ("interventions.hard_stop", Value::Switch(false)),
    ("interventions.max_retries", Value::Whole(5)),
];
const TESTING: &[Setting] = &[
    ("on_fault", Value::Word("block")),
    ("resources.mode", Value::Word("warn")),
    ("interventions.max_retries", Value::Whole(2)),
];
const PRODUCTION: &[Setting] = &[
    ("on_fault", Value::Word("block")),
    ("risk.low_threshold", Value::Fraction(0.2)),
    ("risk.medium_threshold", Value::Fraction(0.5)),
    ("risk.high_threshold", Value::Fraction(0.7)),
    ("risk.critical_threshold", Value::Fraction(0.9)),
    ("rationality.high_threshold", Value::Fraction(0.85)),
    ("rationality.medium_threshold", Value::Fraction(0.6)),
    ("rules.exceptions_from", Value::Word("user")),
    ("resources.mode", Value::Word("warn")),
    ("patterns.sensitivity", Value::Word("high")),
    ("interventions.max_retries", Value::Whole(2)),
];

/// The values of a profile, where it sets some.
pub fn settings(profile: Profile) -> impl Iterator<Item = (&'static Key, &'static Value)> {
    let settings = match profile {
        Profile::Development => DEVELOPMENT,
        Profile::Default => &[],
        Profile::Testing => TESTING,
        Profile::Production => PRODUCTION,
    };
    settings.iter().filter_map(|(name, value)| Some((keys::find(name)?, value)))
}

/// What a profile says of a key; its own name is the value of the key that chooses it.
pub fn value(profile: Profile, key: &Key) -> Option<Value> {
    if key.name == "profile" {
        return Some(Value::Word(profile.name()));
    }
    settings(profile).find(|(set, _)| set.name == key.name).map(|(_, value)| value.clone())
}

/// The policy below all files.
pub fn policy(profile: Profile) -> Policy {
    let mut policy = Policy { profile, ..Policy::default() };
    for (key, value) in settings(profile) {
        key.set(&mut policy, value.clone());
    }
    policy
}

#[cfg(test)]
mod tests {
    use super::super::keys::KEYS;
    use super::super::value::{Change, Kind};
    use super::*;

    #[test]
    fn each_profile_is_key_by_key_as_strict_as_those_before_it() {
        for (looser, stricter) in Profile::ALL.into_iter().zip(Profile::ALL.into_iter().skip(1)) {
            for key in KEYS {
                let (upper, lower) = (key.get(&policy(looser)), key.get(&policy(stricter)));
                let change = key.stricter.change(key.kind, &upper, &lower);
                assert_ne!(change, Change::Loosens, "{} in {}", key.name, stricter.name());
            }
        }
    }

    #[test]
    fn every_setting_is_a_value_of_its_key_and_no_default() {
        for (profile, count) in Profile::ALL.into_iter().zip([3, 0, 3, 11]) {
            assert_eq!(settings(profile).count(), count, "a name that no key has: {}", profile.name());
            for (key, value) in settings(profile) {
                let default = key.get(&Policy::default());
                assert_ne!(*value, default, "{}", key.name);
                assert_eq!(key.get(&policy(profile)), *value, "{}", key.name);
                if let (Kind::Whole { min, max }, Value::Whole(number)) = (key.kind, value) {
                    assert!((min..=max).contains(number), "{}", key.name);
                }
            }
        }
    }
}
