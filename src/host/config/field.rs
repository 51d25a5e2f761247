//! How the value of a key is taken from the policy and put there.

use super::value::{Kind, Value};
use crate::domain::Policy;

/// How a key's value is taken from the policy and put there.
#[derive(Debug)]
pub struct Field {
    pub get: fn(&Policy) -> Value,
    pub set: fn(&mut Policy, Value),
}

/// A closed set of words and what they stand for, from the loosest to the strictest.
pub struct Choice<T: 'static> {
    pub words: &'static [&'static str],
    pub values: &'static [T],
}

impl<T: Copy + PartialEq> Choice<T> {
    pub const fn kind(&self) -> Kind {
        Kind::Word { words: self.words }
    }

    pub fn word(&self, value: T) -> Value {
        let place = self.values.iter().position(|known| *known == value);
        Value::Word(place.and_then(|place| self.words.get(place)).copied().unwrap_or_default())
    }

    pub fn put(&self, place: &mut T, value: Value) {
        let Value::Word(word) = value else { return };
        let at = self.words.iter().position(|known| *known == word);
        if let Some(value) = at.and_then(|at| self.values.get(at)) {
            *place = *value;
        }
    }
}

pub fn put<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

pub fn switch(value: Value) -> Option<bool> {
    if let Value::Switch(on) = value { Some(on) } else { None }
}

pub fn fraction(value: Value) -> Option<f64> {
    if let Value::Fraction(number) = value { Some(number) } else { None }
}

pub fn whole<T: TryFrom<u64>>(value: Value) -> Option<T> {
    if let Value::Whole(number) = value { T::try_from(number).ok() } else { None }
}

/// The field of a key.
macro_rules! field {
    (switch $($path:ident).+) => {
        field!(|p| Value::Switch(p.$($path).+), |p, v| put(&mut p.$($path).+, switch(v)))
    };
    (fraction $($path:ident).+) => {
        field!(|p| Value::Fraction(p.$($path).+), |p, v| put(&mut p.$($path).+, fraction(v)))
    };
    (whole $($path:ident).+) => {
        field!(|p| Value::Whole(u64::from(p.$($path).+)), |p, v| put(&mut p.$($path).+, whole(v)))
    };
    (words $($path:ident).+) => {
        field!(list Words $($path).+)
    };
    (list $kind:ident $($path:ident).+) => {
        field!(|p| Value::$kind(p.$($path).+.clone()), |p, v| if let Value::$kind(list) = v {
            p.$($path).+ = list;
        })
    };
    ($choice:ident $($path:ident).+) => {
        field!(|p| $choice.word(p.$($path).+), |p, v| $choice.put(&mut p.$($path).+, v))
    };
    (|$p:ident| $get:expr, |$q:ident, $v:ident| $set:expr) => {
        Field { get: |$p: &Policy| $get, set: |$q: &mut Policy, $v: Value| $set }
    };
}

pub(super) use field;
