//! What a replay counts, and the calls that it lists.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::files::{At, NotRead, Source};
use crate::adapters::transcript::{Form, Left, Recorded};
use crate::cli::Exit;
use crate::cli::judge::Judged;
use crate::domain::{Client, Enforcement, Reason, Verdict, clip, fingerprint};
use crate::host::clock::rfc3339;
use crate::review::{self, redact};

/// Longest action that is shown, in bytes, and how much of one is looked through for secrets.
const ACTION: usize = 400;
const LOOKED_AT: usize = 16 * 1024;
/// Most different calls that are listed; what is beyond is counted.
const MAX_LISTED: usize = 10_000;
/// Most files of something else that are named.
const MAX_OTHERS: usize = 100;

/// How many calls would have got which answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub calls: u64,
    pub blocked: u64,
    pub asked: u64,
    pub rewritten: u64,
    pub warned: u64,
}

impl Counts {
    fn add(&mut self, enforcement: Enforcement) {
        self.calls += 1;
        match enforcement {
            Enforcement::Proceed => {}
            Enforcement::Notice => self.warned += 1,
            Enforcement::Rewrite => self.rewritten += 1,
            Enforcement::Ask => self.asked += 1,
            Enforcement::Deny | Enforcement::Stop => self.blocked += 1,
        }
    }

    /// Calls that would not have run as they were.
    pub fn stopped(&self) -> u64 {
        self.blocked + self.asked + self.rewritten
    }

    pub fn passed(&self) -> u64 {
        self.calls - self.stopped() - self.warned
    }
}

/// One session.
#[derive(Debug, Clone)]
pub struct Session {
    pub form: Form,
    pub client: Client,
    pub id: String,
    pub file: String,
    pub first: Option<String>,
    pub last: Option<String>,
    pub counts: Counts,
}

/// Equal calls that would have got the same answer for the same rule.
#[derive(Debug, Clone)]
pub struct Listed {
    pub times: u64,
    pub enforcement: Enforcement,
    pub verdict: Verdict,
    /// The first of them.
    pub id: String,
    pub form: Form,
    pub client: Client,
    pub session: String,
    pub agent: Option<String>,
    pub time: Option<String>,
    pub at: At,
    pub tool: String,
    pub action: String,
    /// Those that made the verdict; texts of the agent are without secrets.
    pub reasons: Vec<Reason>,
    pub rewrite: Option<String>,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files that were read, by whose they are.
    pub files: BTreeMap<Form, u64>,
    /// Those that were found and are something else: the first of them, and how many.
    pub others: Vec<String>,
    pub other_files: u64,
    /// Calls that cannot be judged.
    pub left: BTreeMap<Left, u64>,
    pub counts: Counts,
    pub rules: BTreeMap<String, Counts>,
    pub sessions: Vec<Session>,
    pub listed: Vec<Listed>,
    /// Different calls that were not listed any more.
    pub unlisted: u64,
    pub repeated: u64,
    pub quarantined: u64,
    /// Calls in directories that are not there today.
    pub gone: u64,
    pub torn: u64,
    /// Lines of kinds that are not known, by their kind.
    pub unknown: BTreeMap<String, u64>,
    pub too_long: u64,
    /// Calls that differ in their tool or in what they ask for.
    pub distinct: HashSet<u64>,
    seen: HashSet<u64>,
    places: HashMap<(Client, String), usize>,
    groups: HashMap<u64, usize>,
    directories: HashMap<String, bool>,
}

/// What a call asked for, without secrets.
pub fn action(judged: &Judged) -> String {
    let text =
        judged.call.as_ref().map(|(call, _)| review::action_text(call).into_owned()).unwrap_or_default();
    safe(&text)
}

/// When a call was made; OpenCode counts milliseconds.
fn time(call: &Recorded) -> Option<String> {
    let text = call.time.as_ref()?;
    Some(text.parse().map_or_else(|_| text.clone(), rfc3339))
}

fn safe(text: &str) -> String {
    clip(&redact::redact(&clip(text, LOOKED_AT)), ACTION)
}

impl Tally {
    pub fn file(&mut self, form: Option<Form>, source: &Source) {
        let Some(form) = form else {
            self.other_files += 1;
            if self.others.len() < MAX_OTHERS {
                self.others.push(source.shown());
            }
            return;
        };
        *self.files.entry(form).or_default() += 1;
    }

    pub fn left(&mut self, why: Left) {
        *self.left.entry(why).or_default() += 1;
    }

    pub fn unread(&mut self, why: NotRead) {
        match why {
            NotRead::Torn => self.torn += 1,
            NotRead::Unknown(kind) => *self.unknown.entry(kind).or_default() += 1,
            NotRead::TooLong => self.too_long += 1,
        }
    }

    /// Whether a call was not read before: a session that was taken up again repeats what came before.
    pub fn is_new(&mut self, call: &Recorded) -> bool {
        let new = self.seen.insert(fingerprint(&[call.client.name().as_bytes(), call.id.as_bytes()]));
        self.repeated += u64::from(!new);
        new
    }

    /// Counts a call that was judged.
    pub fn count(&mut self, call: &Recorded, at: &At, judged: &Judged) {
        let decision = &judged.decision;
        if decision.quarantined {
            self.quarantined += 1;
            return;
        }
        if let Some(cwd) = &call.cwd {
            let there = self.directories.entry(cwd.clone()).or_insert_with(|| Path::new(cwd).is_dir());
            self.gone += u64::from(!*there);
        }
        let enforcement = decision.enforcement();
        self.counts.add(enforcement);
        self.distinct.insert(fingerprint(&[call.tool.as_bytes(), call.input.as_bytes()]));
        self.session(call, at, enforcement);
        if enforcement == Enforcement::Proceed {
            return;
        }
        let decisive: Vec<&Reason> =
            decision.reasons().iter().filter(|reason| reason.verdict == decision.verdict()).collect();
        for reason in &decisive {
            self.rules.entry(reason.rule.clone()).or_default().add(enforcement);
        }
        self.list(call, at, judged, &decisive);
    }

    fn session(&mut self, call: &Recorded, at: &At, enforcement: Enforcement) {
        let next = self.sessions.len();
        let place = *self.places.entry((call.client, call.session.clone())).or_insert(next);
        if place == next {
            self.sessions.push(Session {
                form: call.form,
                client: call.client,
                id: call.session.clone(),
                file: at.file.clone(),
                first: time(call),
                last: None,
                counts: Counts::default(),
            });
        }
        let Some(session) = self.sessions.get_mut(place) else { return };
        session.counts.add(enforcement);
        if call.time.is_some() {
            session.last = time(call);
        }
    }

    fn list(&mut self, call: &Recorded, at: &At, judged: &Judged, decisive: &[&Reason]) {
        let decision = &judged.decision;
        let action = action(judged);
        let rule = decisive.first().map_or("", |reason| reason.rule.as_str());
        let parts = [call.tool.as_str(), &action, rule, decision.enforcement().name()];
        let key = fingerprint(&parts.map(str::as_bytes));
        if let Some(listed) = self.groups.get(&key).and_then(|at| self.listed.get_mut(*at)) {
            listed.times += 1;
            return;
        }
        if self.listed.len() >= MAX_LISTED {
            self.unlisted += 1;
            return;
        }
        self.groups.insert(key, self.listed.len());
        let without_secrets = |reason: &&Reason| Reason {
            message: safe(&reason.message),
            matched: safe(&reason.matched),
            ..(*reason).clone()
        };
        self.listed.push(Listed {
            times: 1,
            enforcement: decision.enforcement(),
            verdict: decision.verdict(),
            id: call.id.clone(),
            form: call.form,
            client: call.client,
            session: call.session.clone(),
            agent: call.agent_type.clone().or_else(|| call.agent.clone()),
            time: time(call),
            at: at.clone(),
            tool: call.tool.clone(),
            action,
            reasons: decisive.iter().map(without_secrets).collect(),
            rewrite: decision.rewrite().map(|rewrite| safe(&rewrite.value)),
        });
    }

    /// The same, with what was stopped in the order of its weight.
    #[must_use]
    pub fn closed(mut self) -> Tally {
        let weight = |listed: &Listed| {
            let severity = listed.reasons.iter().map(|reason| reason.severity).max();
            std::cmp::Reverse((listed.enforcement, severity, listed.times))
        };
        crate::domain::sort_by_key(&mut self.listed, weight);
        crate::domain::sort_by_key(&mut self.sessions, |session| std::cmp::Reverse(session.counts.stopped()));
        self
    }

    pub fn exit(&self) -> Exit {
        match (self.counts.blocked, self.counts.stopped()) {
            (0, 0) => Exit::Fine,
            (0, _) => Exit::Changed,
            _ => Exit::Blocked,
        }
    }
}
