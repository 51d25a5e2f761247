//! The overview as one JSON object.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::machine::Machine;
use super::tally::{Rule, Tally};
use super::{Overview, table, time};

/// Ranges of missing lines that are named of each chain.
const RANGES: usize = 100;

pub(super) fn write(overview: &Overview, out: &mut dyn Write) -> io::Result<()> {
    object(overview, out)?;
    writeln!(out)
}

fn object(overview: &Overview, out: &mut dyn Write) -> serde_json::Result<()> {
    let tally = &overview.tally;
    let all = [
        ("events", json!(tally.events)),
        ("duplicates", json!(tally.duplicates)),
        ("since", json!((tally.events > 0).then(|| time(tally.first)))),
        ("until", json!((tally.events > 0).then(|| time(tally.last)))),
        ("hosts", json!(table::hosts(tally))),
        ("rules", json!(rules(tally))),
        ("feedback_on_unknown", json!(tally.unknown)),
        ("lines", json!(overview.lines)),
        ("unread", json!({"lines": overview.bad, "first": overview.named})),
        ("other_records", json!(tally.others)),
        ("not_counted", json!(tally.beyond)),
        ("can_be_more", json!(tally.is_full())),
        ("ids_forgotten", json!(tally.ids.forgot)),
    ];
    let mut serializer = serde_json::Serializer::pretty(&mut *out);
    let mut object = serializer.serialize_map(None)?;
    for (key, value) in &all {
        object.serialize_entry(key, value)?;
    }
    object.serialize_entry("machines", &Machines(overview))?;
    object.end()
}

/// All machines, one at a time: there can be many.
struct Machines<'o>(&'o Overview);

impl Serialize for Machines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tally = &self.0.tally;
        let highest = table::highest(tally);
        let newest = |machine: &Machine| highest.get(&*machine.policy).copied();
        serializer.collect_seq(tally.machines.iter().map(|one| machine(self.0, one, newest(one))))
    }
}

fn rules(tally: &Tally) -> Vec<Value> {
    let mut rows: Vec<&Rule> = tally.rules.iter().filter(|rule| rule.machines + rule.excepted > 0).collect();
    rows.sort_by(|one, other| other.stopped.cmp(&one.stopped).then_with(|| one.name.cmp(&other.name)));
    let row = |rule: &&Rule| {
        let Rule { name, stopped, asked, warned, machines, accepted, allowed, excepted, wrong, right } = rule;
        json!({
            "name": name, "stopped": stopped, "asked": asked, "warned": warned, "users": machines,
            "agreed": accepted, "allowed": allowed, "excepted": excepted, "wrong": wrong, "right": right,
        })
    };
    rows.iter().map(row).collect()
}

fn machine(overview: &Overview, machine: &Machine, newest: Option<u64>) -> Value {
    let tally = &overview.tally;
    let chains: Map<String, Value> = machine
        .chains
        .iter()
        .map(|(name, numbers)| {
            let missing = numbers.missing(RANGES);
            (name.clone(), json!({"lost": numbers.lost(), "missing": missing, "unsure": numbers.unsure}))
        })
        .collect();
    let notices: Map<String, Value> = machine
        .notices
        .iter()
        .map(|(name, (count, last))| ((*name).to_owned(), json!({"count": count, "last": last})))
        .collect();
    let policy = (!machine.policy.is_empty()).then(|| {
        let old = machine.number.zip(newest).is_some_and(|(number, newest)| number < newest);
        json!({"name": machine.policy, "number": machine.number, "state": machine.state, "old": old})
    });
    json!({
        "id": machine.id, "host": machine.host, "user": machine.user, "lazaret": machine.version,
        "seen": time(machine.seen), "silent": tally.silence(machine) >= overview.silent,
        "clock_ahead": tally.is_ahead(machine), "calls": machine.calls, "stops": machine.stops,
        "policy": policy, "faults": machine.faults, "session_starts": machine.starts,
        "proved_by_doctor": (machine.proved > 0).then(|| time(machine.proved)),
        "undecided": machine.undecided(), "chains": chains, "notices": notices,
        "repeated": machine.repeated, "unverified": machine.unverified, "further_chains": machine.more_chains,
    })
}
