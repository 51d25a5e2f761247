//! From a command's words to its effects, by the facts in the tables.

use std::collections::HashSet;
use std::rc::Rc;

use super::Surveyor;
use super::call::Call;
use super::git::is_called;
use super::{partly, paths};
use crate::domain::{Ask, Effect, EffectKind, Facts, PathFact, PathKind, PlainHash, Severity, Target};
use crate::shell::Arg;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    /// Made, or overwritten where it exists.
    Create,
    Modify,
    Delete,
}

/// How many of the latest effects a new one is compared with, so that it does not stand twice.
const RECENT: usize = 48;

/// A number that tells most targets apart.
fn mark(effect: &Effect) -> u32 {
    let text = effect.target.text().bytes();
    text.fold(effect.kind as u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)))
}

/// How many of the latest effects' numbers fall into each of a few places: nearly every new one is seen by that to be new.
#[derive(Debug)]
pub(super) struct Latest([u8; Latest::PLACES]);

impl Latest {
    const PLACES: usize = 256;

    pub fn none() -> Latest {
        Latest([0; Latest::PLACES])
    }

    fn may_hold(&self, mark: u32) -> bool {
        self.0.get(mark as usize % Latest::PLACES).is_some_and(|count| *count > 0)
    }

    fn exchange(&mut self, oldest: Option<u32>, new: u32) {
        if let Some(count) = oldest.and_then(|mark| self.0.get_mut(mark as usize % Latest::PLACES)) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = self.0.get_mut(new as usize % Latest::PLACES) {
            *count = count.saturating_add(1);
        }
    }
}

impl Surveyor<'_> {
    /// Notes an effect without a path.
    pub(super) fn effect(&mut self, call: &Call, kind: EffectKind, target: Target, severity: Severity) {
        self.push(Effect {
            kind,
            target,
            severity,
            reversible: false,
            disposable: false,
            privileged: call.privileged,
        });
    }

    /// Notes that something without a path is lost.
    pub(super) fn loss(&mut self, call: &Call, target: Target, disposable: bool) {
        let (kind, severity) = (EffectKind::FileDeletion, Severity::High);
        self.push(Effect {
            kind,
            target,
            severity,
            reversible: false,
            disposable,
            privileged: call.privileged,
        });
    }

    fn push(&mut self, effect: Effect) {
        let new = mark(&effect);
        let mut recent = self.out.effects.iter().zip(&self.marks).rev().take(RECENT);
        if self.latest.may_hold(new) && recent.any(|(other, mark)| *mark == new && *other == effect) {
            return;
        }
        self.changes |= matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification);
        let oldest = self.marks.len().checked_sub(RECENT).and_then(|at| self.marks.get(at));
        self.latest.exchange(oldest.copied(), new);
        self.out.effects.push(effect);
        self.marks.push(new);
    }

    /// Notes what is done to the file that an argument names.
    pub(super) fn file(&mut self, call: &Call, act: Act, arg: &Arg, recursive: bool) {
        if arg.known().is_some_and(|text| text.is_empty() || (text == "-" && act != Act::Delete)) {
            return;
        }
        if arg.pieces.iter().any(paths::is_too_long) {
            // No system takes such a name; what a pattern of that length stands for is not worth its time.
            if arg.has_glob() {
                self.bound("it names a path longer than 4096 bytes, which no system takes");
            }
            return;
        }
        let target = paths::target(arg, call.cwd.as_deref(), recursive);
        if let Some(container) = call.container.as_ref().filter(|_| act != Act::Read) {
            self.contained(call, &Rc::clone(container), act, (target, &arg.text()));
            return;
        }
        if let (Act::Delete, Some(cwd), Some(before), false) =
            (act, &call.cwd, &call.before, arg.prefix().starts_with('/'))
            && cwd != before
            && !self.made.contains(cwd)
            && !self.facts.places.temp.contains(cwd)
        {
            // `cd there; rm -rf *` deletes here when there is nothing there.
            self.ask(Ask::Path(cwd.clone()));
            if self.facts.path(cwd).is_some_and(|fact| fact.kind != PathKind::Directory) {
                self.act(call, act, paths::target(arg, Some(before), recursive));
            }
        }
        if let (Target::UnknownPath { known, .. }, None, false) = (&target, &call.cwd, arg.has_unknown()) {
            // Relative to a directory that is not known: its own name says how much is lost.
            let name = arg.text();
            let (known, tail) = (known.clone(), arg.below());
            let disposable = paths::is_build_output(&name);
            let vital = matches!(act, Act::Delete) && recursive && is_all(&name);
            let (kind, severity) = kind_of(act, None, vital);
            let target = Target::UnknownPath { known, tail, recursive };
            self.push(Effect {
                kind,
                target,
                severity,
                reversible: false,
                disposable,
                privileged: call.privileged,
            });
            return;
        }
        if let (Act::Delete, Target::UnknownPath { known, .. }, true) =
            (act, &target, partly::is_one_name_below(arg, &self.facts.places))
            && known.is_empty()
        {
            // `$X/build`: one thing in there, and were the variable empty, nothing that the machine needs.
            let disposable =
                paths::is_build_output(&arg.text().replacen('…', "", 1)) || partly::is_of_temp(&call.text);
            self.loss(call, target, disposable);
            return;
        }
        if let (Act::Delete, Target::UnknownPath { known, .. }) = (act, &target)
            && known.is_empty()
            && is_guarded(&call.text)
        {
            self.effect(call, EffectKind::FileDeletion, target, Severity::High);
            return;
        }
        if !self.links.is_empty()
            && arg.text().contains("/..")
            && let Some(path) = self.physical(call.cwd.as_deref(), &arg.text())
            && path != target.text()
        {
            self.act(call, act, Target::Path { path, glob: false, recursive });
        }
        if act == Act::Delete && recursive && !call.remote && arg.text().ends_with('/') {
            self.through_link(call, &target);
        }
        self.act(call, act, target);
    }

    /// `rm -r link/` takes what the link leads to.
    fn through_link(&mut self, call: &Call, target: &Target) {
        if let Target::Path { path, glob: false, .. } = target {
            self.ask(Ask::Path(path.clone()));
        }
        let leads = |(link, to): &(String, String)| (link == target.text()).then(|| to.clone());
        let here = self.links.iter().rev().find_map(leads);
        let there = || self.facts.path(target.text()).filter(|fact| fact.link).map(|fact| fact.real.clone());
        if let Some(path) = here.or_else(there) {
            self.act(call, Act::Delete, Target::Path { path, glob: false, recursive: true });
        }
    }

    /// Notes what is done to a target, and to what it leads to when it is a link.
    pub(super) fn act(&mut self, call: &Call, act: Act, target: Target) {
        let places = &self.facts.places;
        match target {
            Target::Path { path, glob, recursive } => {
                if paths::is_harmless_device(&path) {
                    return;
                }
                if let Some(container) = &call.container
                    && act != Act::Read
                    && !paths::is_device(&path)
                {
                    let target = Target::Path { path, glob, recursive };
                    self.contained(call, &Rc::clone(container), act, (target, ""));
                    return;
                }
                if paths::is_device(&path) && act != Act::Read {
                    let target = Target::Path { path, glob, recursive };
                    self.effect(call, EffectKind::SystemModification, target, Severity::Critical);
                    return;
                }
                self.path(call, act, Spot { path, glob, recursive });
            }
            Target::UnknownPath { known, tail, recursive } => {
                let vital = match act {
                    Act::Delete => recursive && paths::is_vital_start(&known, places),
                    Act::Read | Act::Create | Act::Modify => false,
                };
                let (kind, severity) = kind_of(act, None, vital);
                let disposable =
                    act != Act::Read && paths::is_disposable(&format!("{known}x"), false, places);
                // A file of any name in that directory.
                if matches!(act, Act::Create | Act::Modify)
                    && tail.is_empty()
                    && known.len() > 1
                    && known.ends_with('/')
                {
                    self.land_unknown(call, Some(&Arg::literal(&known)));
                }
                let target = Target::UnknownPath { known, tail, recursive };
                self.push(Effect {
                    kind,
                    target,
                    severity,
                    reversible: false,
                    disposable,
                    privileged: call.privileged,
                });
            }
            Target::Url(_) | Target::Command(_) | Target::None => {}
        }
    }

    fn path(&mut self, call: &Call, act: Act, spot: Spot) {
        let facts = self.facts;
        let (asked, rest) = if spot.glob { paths::split_glob(&spot.path) } else { (spot.path.as_str(), "") };
        let wanted = act != Act::Read || paths::is_worth_asking(&spot.path, &facts.places);
        if wanted && !call.remote {
            self.ask(Ask::Path(asked.to_owned()));
        }
        if spot.glob && !call.remote {
            self.ask_guarded(&spot.path, asked);
        }
        let fact = if call.remote { None } else { facts.path(asked) };
        self.spot(call, act, &spot, fact);
        if let Some(fact) = fact.filter(|fact| fact.real != asked) {
            // What is deleted by its own name is the link, not what it leads to.
            if !(act == Act::Delete && fact.link && rest.is_empty()) {
                let base = if rest.is_empty() { &fact.real } else { fact.real.trim_end_matches('/') };
                let real = Spot { path: format!("{base}{rest}"), ..spot };
                self.spot(call, act, &real, Some(fact));
            }
        }
        self.linked(call, act, spot);
    }

    /// Whether what keeps the guard in place is there at all, where a pattern below `base` may stand for it: a pattern makes nothing.
    fn ask_guarded(&mut self, pattern: &str, base: &str) {
        let facts = self.facts;
        let end = pattern.rsplit(['*', '?', ']', '/']).next().unwrap_or_default();
        let may_be = |path: &str| {
            let at = path.len().checked_sub(end.len());
            at.and_then(|at| path.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        };
        for place in facts.places.protected.iter().filter(|place| paths::below(&place.path, base)) {
            if may_be(&place.path) {
                self.ask(Ask::Path(place.path.clone()));
            }
        }
    }

    /// What is done to where the links lead that the call itself has made, one after the other.
    fn linked(&mut self, call: &Call, act: Act, mut spot: Spot) {
        /// Most links that are followed; the system itself follows no more.
        const HOPS: usize = 40;
        for _ in 0..HOPS {
            let (asked, rest) =
                if spot.glob { paths::split_glob(&spot.path) } else { (spot.path.as_str(), "") };
            let leads = |(link, _): &&(String, String)| asked == *link || paths::below(asked, link);
            let Some((link, to)) = self.links.iter().rev().find(leads) else { return };
            self.hops = self.hops.saturating_add(1);
            if self.hops > super::MAX_HOPS {
                self.bound("links that it makes lead to links more than 2000 times");
                return;
            }
            // What is deleted by its own name is the link, not what it leads to.
            if act == Act::Delete && asked == *link && rest.is_empty() {
                return;
            }
            let tail = spot.path.get(link.len()..).unwrap_or_default();
            let path = format!("{}{tail}", to.trim_end_matches('/'));
            if path == spot.path {
                return;
            }
            spot.path = path;
            self.spot(call, act, &spot, None);
        }
    }

    fn spot(&mut self, call: &Call, act: Act, spot: &Spot, fact: Option<&PathFact>) {
        let Facts { places, .. } = self.facts;
        let deletes = act == Act::Delete && !spot.glob;
        let is_one = deletes && paths::is_one_file(&spot.path, fact) && !is_called(call, "git");
        let recursive = spot.recursive && !is_one;
        let vital = match act {
            Act::Delete => paths::is_vital(&spot.path, spot.glob, recursive, places),
            Act::Modify => recursive && paths::is_vital(&spot.path, spot.glob, true, places),
            Act::Read | Act::Create => false,
        };
        // The project's own top is not lost when modes in it change.
        let vital = vital && (act == Act::Delete || paths::in_project(&spot.path, places).is_none());
        let (kind, severity) = kind_of(act, fact, vital);
        let saved = deletes && self.saved(call, &spot.path, fact);
        let ignored = saved || fact.is_some_and(|fact| fact.ignored);
        let disposable = !vital
            && matches!(kind, EffectKind::FileDeletion | EffectKind::FileModification)
            && (paths::is_disposable(&spot.path, ignored, places)
                || deletes && !recursive && paths::is_installed(&spot.path));
        let target = Target::Path { path: spot.path.clone(), glob: spot.glob, recursive };
        self.push(Effect {
            kind,
            target,
            severity,
            reversible: false,
            disposable,
            privileged: call.privileged,
        });
    }

    pub(super) fn url(&mut self, call: &Call, arg: &Arg) {
        if let Some(path) = arg.prefix().strip_prefix("file://").and_then(|rest| rest.find('/')) {
            let path = super::options::after(arg, "file://".len() + path);
            self.file(call, Act::Read, &path.unwrap_or_default(), false);
            return;
        }
        self.effect(call, EffectKind::NetworkRequest, Target::Url(arg.to_text()), Severity::Low);
    }

    pub(super) fn each(&mut self, call: &Call, act: Act, args: &[Arg], recursive: bool) {
        // The same word a second time says nothing new.
        let mut seen: HashSet<&str, PlainHash> = HashSet::default();
        for arg in args {
            if args.len() > RECENT && arg.known().is_some_and(|word| !seen.insert(word)) {
                continue;
            }
            self.file(call, act, arg, recursive);
        }
    }
}

/// A path and what is meant of it.
struct Spot {
    path: String,
    glob: bool,
    recursive: bool,
}

/// Whether all that is not known in a command's text is one variable that stops the shell where it is empty: `${NAME:?}`.
pub(in crate::rules) fn is_guarded(text: &str) -> bool {
    let (Some((_, rest)), false) = (text.split_once("${"), text.len() >= super::call::MAX_TEXT) else {
        return false;
    };
    let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let stops = !name.is_empty() && rest.get(name.len()..).is_some_and(|rest| rest.starts_with(":?"));
    stops && text.matches('$').count() == 1 && !text.contains(['`', '<'])
}

fn is_all(name: &str) -> bool {
    name.split('/').all(|part| matches!(part, "" | "." | ".." | "*" | ".*"))
}

/// The kind and weight of an act.
fn kind_of(act: Act, fact: Option<&PathFact>, vital: bool) -> (EffectKind, Severity) {
    match act {
        Act::Read => (EffectKind::FileRead, Severity::Low),
        Act::Create => match fact.map(|fact| fact.kind) {
            Some(PathKind::File | PathKind::Other) => (EffectKind::FileModification, Severity::Medium),
            Some(PathKind::Missing | PathKind::Directory) | None => (EffectKind::FileCreation, Severity::Low),
        },
        Act::Modify if vital => (EffectKind::FileModification, Severity::Critical),
        Act::Modify => (EffectKind::FileModification, Severity::Medium),
        Act::Delete if vital => (EffectKind::FileDeletion, Severity::Critical),
        Act::Delete => (EffectKind::FileDeletion, Severity::High),
    }
}
