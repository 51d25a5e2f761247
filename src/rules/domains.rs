//! The domains of the built-in rules: the first part of a rule's id, what it is about, and why it is on when nobody has said anything.

/// One domain.
#[derive(Debug)]
pub struct Domain {
    pub name: &'static str,
    pub about: &'static str,
    /// Why it is on by default.
    pub why: &'static str,
}

const fn domain(name: &'static str, about: &'static str, why: &'static str) -> Domain {
    Domain { name, about, why }
}

words!("domains");

/// Every domain that a rule has.
pub const fn all() -> &'static [Domain] {
    DOMAINS
}

/// The domain of a rule's id.
pub fn of(id: &str) -> Option<&'static Domain> {
    let (name, _) = id.split_once('.')?;
    DOMAINS.iter().find(|domain| domain.name == name)
}
