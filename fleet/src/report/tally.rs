//! What many machines' events add up to. A machine can send anything: whatever is counted by a name has a bound, and what is beyond it
//! is counted without its name.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use lazaret::cli::doctor;
use lazaret::domain::{EventKind, clip, escape, set_of};

use super::bounds::{Left, Recent};
use super::machine::Machine;
use super::parse::{Event, Origin, Record};

/// Most machines, rules, and rules that one machine names first.
pub const MACHINES: usize = 200_000;
pub const RULES: usize = 10_000;
pub const OF_ONE: u32 = 200;
/// Events that are remembered: by their ids, and stops and questions for what people say of them.
pub const IDS: usize = 1_800_000;
const JUDGED: usize = 400_000;
/// Most pairs of a rule and a machine.
const PAIRS: usize = 1_800_000;
/// Most codes of faults.
const CODES: usize = 12;
/// Longest name and longest message that is kept, in bytes.
const NAME: usize = 64;
const MESSAGE: usize = 200;
/// What a clock may be ahead.
const AHEAD: u64 = 3_600_000_000_000;
/// What the start of a session says of the gate itself.
const STARTS: [&str; 4] =
    ["self.binary-changed", "self.environment", "config.unaccepted", "audit.unverified"];

/// What a rule did, and what people did about it.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    pub name: String,
    pub stopped: u64,
    pub asked: u64,
    pub warned: u64,
    pub machines: u64,
    /// Questions after which the call ran.
    pub accepted: u64,
    /// Calls that a person allowed once.
    pub allowed: u64,
    /// Calls that an exception let run.
    pub excepted: u64,
    /// What people called wrong, and right.
    pub wrong: u64,
    pub right: u64,
}

/// The first rules of a decision; 0 stands for all that have no place of their own, and for none.
type Spoke = [u32; 6];

/// What is remembered of a stop or a question.
#[derive(Debug)]
struct Judged {
    rules: Spoke,
    /// What a person called it: right, or wrong.
    right: Option<bool>,
}

/// All of it.
#[derive(Debug)]
pub struct Tally {
    /// Earlier events are not counted, in nanoseconds since 1970.
    since: u64,
    now: u64,
    pub events: u64,
    pub duplicates: u64,
    /// Records that are not of lazaret.
    pub others: u64,
    pub first: u64,
    pub last: u64,
    pub machines: Vec<Machine>,
    by_name: HashMap<(String, String), u32>,
    /// Events of machines beyond the bound.
    pub beyond: u64,
    pub rules: Vec<Rule>,
    by_rule: HashMap<String, u32>,
    pairs: HashSet<(u32, u32)>,
    pub ids: Recent<()>,
    judged: Recent<Judged>,
    asked: Recent<Spoke>,
    /// What people said of events that are not there.
    pub unknown: u64,
    left: Left,
}

impl Tally {
    pub fn new(since: u64, now: u64) -> Tally {
        // What has no name of its own is counted under the first one.
        let rules = vec![Rule { name: "(other rules)".to_owned(), ..Rule::default() }];
        Tally {
            since,
            now,
            events: 0,
            duplicates: 0,
            others: 0,
            first: u64::MAX,
            last: 0,
            machines: Vec::new(),
            by_name: HashMap::new(),
            beyond: 0,
            rules,
            by_rule: HashMap::new(),
            pairs: HashSet::new(),
            ids: Recent::new(IDS),
            judged: Recent::new(JUDGED),
            asked: Recent::new(JUDGED),
            unknown: 0,
            left: Left::default(),
        }
    }

    /// Whether some of what was said can be too small: not everything could be remembered.
    pub fn is_full(&self) -> bool {
        self.pairs.len() >= PAIRS
            || self.judged.forgot
            || self.asked.forgot
            || self.left.chains == 0
            || self.left.ranges == 0
    }

    /// Whether a machine's clock is ahead of this one's.
    pub fn is_ahead(&self, machine: &Machine) -> bool {
        machine.seen > self.now.saturating_add(AHEAD)
    }

    /// How long nothing was heard of a machine, in nanoseconds.
    pub fn silence(&self, machine: &Machine) -> u64 {
        self.now.saturating_sub(machine.seen)
    }

    /// Counts a record.
    pub fn add(&mut self, origin: &Origin, record: &Record) {
        if origin.service != "lazaret" || !record.name.starts_with("lazaret.") {
            self.others += 1;
            return;
        }
        if !record.uid.is_empty() && !self.ids.insert(&record.uid, ()) {
            self.duplicates += 1;
            return;
        }
        let Some(at) = self.machine(origin) else {
            self.beyond += 1;
            return;
        };
        if !self.place(at, origin, record) {
            self.duplicates += 1;
            return;
        }
        if record.nanos < self.since {
            return;
        }
        self.events += 1;
        self.first = self.first.min(record.nanos);
        self.last = self.last.max(record.nanos);
        self.event(at, record);
    }

    fn machine(&mut self, origin: &Origin) -> Option<u32> {
        let (id, user) = (kept(&origin.machine), kept(&origin.user));
        let key = (id.clone(), user.clone());
        if let Some(known) = self.by_name.get(&key) {
            return Some(*known);
        }
        let at = u32::try_from(self.machines.len()).ok().filter(|at| (*at as usize) < MACHINES)?;
        self.machines.push(Machine { id, user, ..Machine::default() });
        self.by_name.insert(key, at);
        Some(at)
    }

    /// What holds of every event, also of one before the time that is asked for; whether it did not come before.
    fn place(&mut self, at: u32, origin: &Origin, record: &Record) -> bool {
        let Some(machine) = self.machines.get_mut(at as usize) else { return false };
        if record.nanos >= machine.seen {
            machine.seen = record.nanos;
            machine.host = kept(&origin.host);
            machine.version = kept(&origin.version);
            machine.policy = kept(&origin.policy);
            machine.state = kept(&origin.state);
            machine.number = origin.number;
        }
        let notices = ["log_gap", "log_set_back", "log_replaced"];
        if let Some(name) =
            notices.into_iter().find(|name| record.name.strip_prefix("lazaret.") == Some(*name))
        {
            let notice = machine.notices.entry(name).or_default();
            *notice = (notice.0 + 1, escape(&clip(&record.notice, MESSAGE)));
        }
        machine.unverified += u64::from(!record.unverified.is_empty());
        let mut seal = record.event.seal.splitn(3, '.');
        let Some((chain, number)) = seal.next().zip(seal.next().and_then(|number| number.parse().ok()))
        else {
            return true;
        };
        let chain = kept(chain);
        if machine.chain(chain, number, &mut self.left) != Some(false) {
            return true;
        }
        // Its id is another one, as far as that is remembered.
        machine.repeated += u64::from(!self.ids.forgot);
        !self.ids.forgot
    }

    fn event(&mut self, at: u32, record: &Record) {
        let event = &record.event;
        let is = |kind: EventKind| record.name.strip_prefix("lazaret.") == Some(kind.name());
        let is_probe = event.session.starts_with(doctor::PROBE);
        let is_stop = event.verdict == "block" || event.enforcement == "deny";
        if is_probe && is_stop {
            self.with(at, |machine| machine.proved = machine.proved.max(record.nanos));
        }
        if is(EventKind::Fault) {
            self.fault(at, event);
        }
        if is_probe {
            return;
        }
        // Only a decision on a call that was about to run says how long it took.
        if !event.verdict.is_empty() && event.duration_us > 0 {
            self.with(at, |machine| {
                machine.calls += 1;
                machine.stops += u64::from(is_stop);
                machine.may_run += u64::from(!is_stop);
            });
            self.call(at, record, is_stop);
        } else if is(EventKind::SessionStarted) {
            self.with(at, |machine| {
                for rule in STARTS.iter().filter(|rule| event.rules.iter().any(|found| found == *rule)) {
                    *machine.starts.entry(rule).or_default() += 1;
                }
            });
        } else if is(EventKind::ActionCompleted) || is(EventKind::ActionFailed) {
            self.with(at, |machine| machine.ended += u64::from(is(EventKind::ActionCompleted)));
            self.ran(at, event);
        } else if is(EventKind::Feedback) {
            self.feedback(at, event);
        }
    }

    fn with(&mut self, at: u32, change: impl FnOnce(&mut Machine)) {
        if let Some(machine) = self.machines.get_mut(at as usize) {
            change(machine);
        }
    }

    fn fault(&mut self, at: u32, event: &Event) {
        // One without a decision says it in its note.
        let code = event
            .fault
            .as_ref()
            .map_or_else(|| event.note.split(':').next().unwrap_or_default(), |f| &f.code);
        let code = kept(code);
        self.with(at, |machine| {
            let is_room = machine.faults.len() < CODES;
            let code = if is_room || machine.faults.contains_key(&code) { code } else { "other".to_owned() };
            *machine.faults.entry(code).or_default() += 1;
        });
    }

    /// A decision on a call that was about to run.
    fn call(&mut self, at: u32, record: &Record, is_stop: bool) {
        let event = &record.event;
        let is_once = event.rules.iter().any(|rule| rule == "permission.used");
        let is_question = event.enforcement == "ask";
        let is_warning = event.verdict == "warn" && !is_stop;
        for excepted in event.exceptions.iter().take(NAME) {
            let rule = self.rule(at, &excepted.rule);
            self.count(rule, |rule| rule.excepted += 1);
        }
        if !(is_stop || is_question || is_warning || is_once) {
            return;
        }
        let names = set_of(&event.rules).into_iter().filter(|rule| *rule != "permission.used").take(NAME);
        let rules: Vec<u32> = names.map(|rule| self.rule(at, rule)).collect();
        for rule in &rules {
            if self.pairs.len() < PAIRS && self.pairs.insert((*rule, at)) {
                self.count(*rule, |rule| rule.machines += 1);
            }
            self.count(*rule, |rule| {
                rule.stopped += u64::from(is_stop);
                rule.asked += u64::from(is_question);
                rule.warned += u64::from(is_warning);
                rule.allowed += u64::from(is_once);
            });
        }
        let mut spoke = Spoke::default();
        spoke.iter_mut().zip(&rules).for_each(|(place, rule)| *place = *rule);
        if is_question && !event.call_id.is_empty() {
            self.asked.insert(asked(at, event), spoke);
        }
        self.judged.insert((at, &record.uid), Judged { rules: spoke, right: None });
    }

    /// A call has run: where it was asked about, somebody has agreed.
    fn ran(&mut self, at: u32, event: &Event) {
        for rule in self.asked.remove(asked(at, event)).into_iter().flat_map(named) {
            self.count(rule, |rule| rule.accepted += 1);
        }
    }

    /// What a person said of a decision; a later word takes the place of an earlier one.
    fn feedback(&mut self, at: u32, event: &Event) {
        let word = event.note.split(':').next().unwrap_or_default();
        let right = match word {
            "ok" => true,
            "fp" => false,
            _ => return,
        };
        let Some(judged) = self.judged.get((at, &event.action)) else {
            self.unknown += 1;
            return;
        };
        let before = judged.right.replace(right);
        for rule in named(judged.rules) {
            self.count(rule, |rule| {
                if let Some(before) = before {
                    let said = if before { &mut rule.right } else { &mut rule.wrong };
                    *said = said.saturating_sub(1);
                }
                *if right { &mut rule.right } else { &mut rule.wrong } += 1;
            });
        }
    }

    /// The place of a rule; that of all others where there is no room.
    fn rule(&mut self, at: u32, name: &str) -> u32 {
        let name = kept(name);
        if let Some(known) = self.by_rule.get(&name) {
            return *known;
        }
        let Some(machine) = self.machines.get_mut(at as usize) else { return 0 };
        if self.rules.len() > RULES || machine.named >= OF_ONE {
            return 0;
        }
        machine.named += 1;
        let place = u32::try_from(self.rules.len()).unwrap_or_default();
        self.rules.push(Rule { name: name.clone(), ..Rule::default() });
        self.by_rule.insert(name, place);
        place
    }

    fn count(&mut self, rule: u32, change: impl FnOnce(&mut Rule)) {
        if let Some(rule) = self.rules.get_mut(rule as usize) {
            change(rule);
        }
    }
}

/// Those of them that have a place.
fn named(rules: Spoke) -> impl Iterator<Item = u32> {
    rules.into_iter().filter(|rule| *rule > 0)
}

/// What a question and the end of its call have in common.
fn asked(at: u32, event: &Event) -> impl Hash + '_ {
    (at, &event.client, &event.session, &event.call_id)
}

/// A name that a machine gave, as it is kept and shown.
fn kept(text: &str) -> String {
    escape(&clip(text, NAME))
}
