//! Our judgement on what commands do: the built-in rules, one entry each, a file for each subject.

pub(in crate::rules) mod across;
mod argv;
mod branches;
mod carried;
mod cloud;
mod clusters;
mod code;
mod code_paths;
mod database;
mod dialogs;
mod disguise;
mod disks;
mod docker;
pub(super) mod downloads;
mod everyday;
mod files;
mod folding;
pub(crate) mod git;
mod indirect;
pub(in crate::rules) mod installs;
mod libraries;
pub(crate) mod lists;
mod live;
mod loops;
pub(in crate::rules) mod machine;
mod mail;
mod named;
mod network;
pub(in crate::rules) mod operations;
mod packages;
mod persistence;
pub(in crate::rules) mod placed;
mod powershell;
mod privilege;
pub(in crate::rules) mod recipes;
mod remote;
mod resets;
mod resources;
mod runners;
pub(in crate::rules) mod scripts;
mod secrets;
mod selfprotect;
mod shell;
pub(in crate::rules) mod standing;
mod statements;
mod system;
mod tcl;
mod texts;
pub(in crate::rules) mod tools;
mod undone;
mod written;

use super::matcher::{At, Found, Rule, Scene, Trigger, When, same};
use crate::rules::Invocation;
pub use code::changes::{Code, by_code};
pub(super) use secrets::is_secret_name;
pub(super) use shell::only_as_argument;

/// Every file of rules. Of reasons that weigh the same the first is the one that people read.
pub(super) const FILES: &[&[Rule]] = &[
    files::deleted::RULES,
    files::overwritten::RULES,
    files::outside::RULES,
    files::RULES,
    selfprotect::places::RULES,
    selfprotect::agents::RULES,
    selfprotect::RULES,
    shell::unknown::RULES,
    shell::injected::RULES,
    shell::RULES,
    carried::RULES,
    code::deletes::RULES,
    code::homes::RULES,
    code::loses::RULES,
    code::runs::RULES,
    code::RULES,
    disks::RULES,
    secrets::shown::RULES,
    secrets::searched::RULES,
    secrets::environment::RULES,
    secrets::variables::RULES,
    secrets::stores::RULES,
    secrets::RULES,
    secrets::elsewhere::RULES,
    network::comes_in::RULES,
    network::shells::RULES,
    network::metadata::RULES,
    network::goes_out::RULES,
    network::secret_sent::RULES,
    network::RULES,
    network::taken::RULES,
    network::doors::RULES,
    privilege::accounts::RULES,
    privilege::modes::RULES,
    privilege::containers::RULES,
    privilege::RULES,
    powershell::RULES,
    persistence::scheduled::RULES,
    persistence::loaded::RULES,
    persistence::RULES,
    git::discarded::RULES,
    git::pushed::RULES,
    git::history::RULES,
    git::settings::RULES,
    git::RULES,
    branches::RULES,
    system::power::RULES,
    system::ended::RULES,
    system::kernel::RULES,
    system::traces::RULES,
    system::guards::RULES,
    system::RULES,
    machine::settings::RULES,
    machine::devices::RULES,
    machine::shadowed::RULES,
    machine::RULES,
    resources::endless::RULES,
    resources::filled::RULES,
    resources::RULES,
    remote::RULES,
    clusters::RULES,
    live::RULES,
    docker::RULES,
    indirect::RULES,
    cloud::kubernetes::RULES,
    cloud::infrastructure::RULES,
    cloud::access::RULES,
    cloud::removed::RULES,
    cloud::hosting::RULES,
    cloud::settings::RULES,
    cloud::RULES,
    resets::RULES,
    database::reset::RULES,
    database::dropped::RULES,
    database::emptied::RULES,
    database::RULES,
    packages::strangers::RULES,
    packages::hosted::RULES,
    mail::RULES,
    packages::published::RULES,
    packages::system::RULES,
    packages::sources::RULES,
    packages::RULES,
    tools::RULES,
    tools::unlisted::RULES,
    written::RULES,
    across::RULES,
];

/// Ids of rules that there are not any more: naming one is no mistake.
pub const RETIRED: &[&str] =
    &["files.emptied-outside", "files.truncate", "tools.agent-ordered", "tools.agent-worded"];

/// A condition, and the rule that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub rule: &'static Rule,
    pub when: &'static When,
}

/// Places that rules in code hold the effects of a call against.
pub(super) const PLACES: &[&[&[At]]] = &[persistence::STARTUP, &[machine::VITAL]];

/// Every condition of every rule, in the order of [`FILES`]; made when lazaret is compiled.
pub(super) static ENTRIES: [Entry; COUNT] = entries();

/// For each bit of a call's trigger, which of [`ENTRIES`] need it. This way round, because a call has few of the bits, and most calls
/// read no more than those lines.
static NEEDED: [[u64; WORDS]; Trigger::BITS] = needed();

/// The conditions of certain rules: a set of [`ENTRIES`].
#[derive(Debug)]
pub(crate) struct RuleSet([u64; WORDS]);

impl RuleSet {
    /// Those of the rules with these ids, each of which must be there.
    const fn of(lists: &[&[&str]]) -> RuleSet {
        RuleSet([0; WORDS]).with(lists)
    }

    /// These and those with the ids.
    #[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds would not compile")]
    const fn with(self, mut lists: &[&[&str]]) -> RuleSet {
        let RuleSet(mut out) = self;
        while let [list, rest @ ..] = lists {
            let mut ids = *list;
            while let [id, rest @ ..] = ids {
                let (from, behind) = entries_of(id);
                assert!(from < behind);
                let mut entry = from;
                while entry < behind {
                    out[entry / 64] |= 1 << (entry % 64);
                    entry += 1;
                }
                ids = rest;
            }
            lists = rest;
        }
        RuleSet(out)
    }
}

/// Where the conditions of a rule begin and end among [`ENTRIES`].
const fn entries_of(id: &str) -> (usize, usize) {
    let mut next = 0;
    let mut files = FILES;
    while let [file, rest @ ..] = files {
        let mut rules = *file;
        while let [rule, rest @ ..] = rules {
            if same(rule.id.as_bytes(), id.as_bytes()) {
                return (next, next + rule.when.len());
            }
            next += rule.when.len();
            rules = rest;
        }
        files = rest;
    }
    (0, 0)
}

/// The conditions that can match a call with this trigger, of those that are asked for.
pub(super) fn entries_for(
    mut trigger: Trigger,
    chosen: Option<&RuleSet>,
) -> impl Iterator<Item = &'static Entry> {
    let mut met = [0; WORDS];
    while let Some((bit, rest)) = trigger.split() {
        trigger = rest;
        for (met, needed) in met.iter_mut().zip(NEEDED.get(bit).unwrap_or(&[0; WORDS])) {
            *met |= needed;
        }
    }
    for (met, chosen) in met.iter_mut().zip(chosen.map_or(&[][..], |chosen| &chosen.0)) {
        *met &= chosen;
    }
    met.into_iter().zip(ENTRIES.chunks(64)).flat_map(|(mut word, entries)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            entries.get(bit)
        })
    })
}

const COUNT: usize = {
    let mut count = 0;
    let mut files = FILES;
    while let [file, rest @ ..] = files {
        let mut rules = *file;
        while let [rule, rest @ ..] = rules {
            count += rule.when.len();
            rules = rest;
        }
        files = rest;
    }
    count
};

/// Words of a set of [`ENTRIES`].
const WORDS: usize = COUNT.div_ceil(64);

#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds would not compile")]
const fn entries() -> [Entry; COUNT] {
    let first = &FILES[0][0];
    let mut out = [Entry { rule: first, when: &first.when[0] }; COUNT];
    let mut next = 0;
    let mut files = FILES;
    while let [file, rest @ ..] = files {
        let mut rules = *file;
        while let [rule, rest @ ..] = rules {
            let mut conditions = rule.when;
            while let [when, rest @ ..] = conditions {
                out[next] = Entry { rule, when };
                next += 1;
                conditions = rest;
            }
            rules = rest;
        }
        files = rest;
    }
    out
}

#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds would not compile")]
const fn needed() -> [[u64; WORDS]; Trigger::BITS] {
    let mut out = [[0; WORDS]; Trigger::BITS];
    let entries = entries();
    let mut entry = 0;
    while entry < COUNT {
        let mut needs = Trigger::of_condition(entries[entry].when);
        while let Some((bit, rest)) = needs.split() {
            out[bit][entry / 64] |= 1 << (entry % 64);
            needs = rest;
        }
        entry += 1;
    }
    out
}

/// The first run of one of these programs for which `test` holds.
fn first<'a>(scene: &Scene<'a>, programs: &[&str], test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    Found::from(scene.first(programs, test).map(|inv| inv.text.as_str()))
}

/// The first command for which `test` holds.
fn any<'a>(scene: &Scene<'a>, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    Found::from(scene.invocations().iter().find(|inv| test(inv)).map(|inv| inv.text.as_str()))
}
