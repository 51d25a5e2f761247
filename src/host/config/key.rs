//! One key of the configuration: what it takes, which way it tightens, what it does, and its place in the policy.

use super::field::Field;
use super::value::{Kind, Stricter, Value};
use crate::domain::Policy;

/// One key.
#[derive(Debug)]
pub struct Key {
    /// With the sections before it, separated by dots.
    pub name: &'static str,
    pub kind: Kind,
    pub stricter: Stricter,
    /// What it does, in one line.
    pub effect: &'static str,
    field: Field,
}

impl Key {
    pub fn get(&self, policy: &Policy) -> Value {
        (self.field.get)(policy)
    }

    /// Puts a value of the key's kind into the policy; one of another kind has no effect.
    pub fn set(&self, policy: &mut Policy, value: Value) {
        (self.field.set)(policy, value);
    }
}

pub(super) const fn key(
    name: &'static str,
    (kind, stricter): (Kind, Stricter),
    field: Field,
    effect: &'static str,
) -> Key {
    Key { name, kind, stricter, effect, field }
}

pub(super) const fn numbers(min: u64, max: u64) -> Kind {
    Kind::Whole { min, max }
}
