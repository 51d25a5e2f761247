//! From a command's words to its effects, by the facts in the tables.

use super::Surveyor;
use super::call::Call;
use super::options::Parsed;
use super::paths;
use crate::domain::{Ask, Effect, EffectKind, PathFact, PathKind, Severity, Target};
use crate::rules::commands::{Deed, Kind, Operands, Role};
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

    fn push(&mut self, effect: Effect) {
        if !self.out.effects.iter().rev().take(RECENT).any(|other| *other == effect) {
            self.out.effects.push(effect);
        }
    }

    /// Notes what is done to the file that an argument names.
    pub(super) fn file(&mut self, call: &Call, act: Act, arg: &Arg, recursive: bool) {
        if arg.known().is_some_and(|text| text.is_empty() || (text == "-" && act != Act::Delete)) {
            return;
        }
        let target = paths::target(arg, call.cwd.as_deref(), recursive);
        if let (Target::UnknownPath { known, .. }, None, false) = (&target, &call.cwd, arg.has_unknown()) {
            // Relative to a directory that is not known: its own name says how much is lost.
            let name = arg.text();
            let known = known.clone();
            let disposable = paths::is_build_output(&name);
            let vital = matches!(act, Act::Delete) && recursive && is_all(&name);
            let (kind, severity) = kind_of(act, None, vital);
            let target = Target::UnknownPath { known, recursive };
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
        self.act(call, act, target);
    }

    /// Notes what is done to a target, and to what it leads to when it is a link.
    pub(super) fn act(&mut self, call: &Call, act: Act, target: Target) {
        let places = &self.facts.places;
        match target {
            Target::Path { path, glob, recursive } => {
                if paths::is_harmless_device(&path) {
                    return;
                }
                if paths::is_device(&path) && act != Act::Read {
                    let target = Target::Path { path, glob, recursive };
                    self.effect(call, EffectKind::SystemModification, target, Severity::Critical);
                    return;
                }
                self.path(call, act, Spot { path, glob, recursive });
            }
            Target::UnknownPath { known, recursive } => {
                let vital = match act {
                    Act::Delete => recursive && paths::is_vital_start(&known, places),
                    Act::Read | Act::Create | Act::Modify => false,
                };
                let (kind, severity) = kind_of(act, None, vital);
                let disposable =
                    act != Act::Read && paths::is_disposable(&format!("{known}x"), false, places);
                let target = Target::UnknownPath { known, recursive };
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
        let link = self.links.iter().rev().find(|(link, _)| asked == *link || paths::below(asked, link));
        if let Some((link, to)) =
            link.filter(|(link, _)| !(act == Act::Delete && asked == *link && rest.is_empty()))
        {
            let tail = spot.path.get(link.len()..).unwrap_or_default();
            let real = Spot { path: format!("{}{tail}", to.trim_end_matches('/')), ..spot };
            self.spot(call, act, &real, None);
        }
    }

    fn spot(&mut self, call: &Call, act: Act, spot: &Spot, fact: Option<&PathFact>) {
        let places = &self.facts.places;
        let vital = match act {
            Act::Delete => paths::is_vital(&spot.path, spot.glob, spot.recursive, places),
            Act::Modify => spot.recursive && paths::is_vital(&spot.path, spot.glob, true, places),
            Act::Read | Act::Create => false,
        };
        // The project's own top is not lost when modes in it change.
        let vital = vital && (act == Act::Delete || paths::in_project(&spot.path, places).is_none());
        let (kind, severity) = kind_of(act, fact, vital);
        let ignored = fact.is_some_and(|fact| fact.ignored);
        let disposable = !vital
            && matches!(kind, EffectKind::FileDeletion | EffectKind::FileModification)
            && paths::is_disposable(&spot.path, ignored, places);
        let target = Target::Path { path: spot.path.clone(), glob: spot.glob, recursive: spot.recursive };
        self.push(Effect {
            kind,
            target,
            severity,
            reversible: false,
            disposable,
            privileged: call.privileged,
        });
    }

    /// Notes what a program does by its row: the deed, what its options' values are, what its operands are.
    pub(super) fn deeds(&mut self, call: &Call, parsed: &Parsed) {
        self.deed(call, parsed, parsed.deed());
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            let Some(value) = &flag.value else { continue };
            match role {
                Role::Read => self.file(call, Act::Read, value, false),
                Role::Write | Role::Dest => self.file(call, Act::Create, value, false),
                Role::Delete => self.file(call, Act::Delete, value, false),
                Role::Url => self.url(call, value),
                Role::Plain | Role::Dir | Role::Shell | Role::Setting => {}
            }
        }
        self.operands(call, parsed);
    }

    pub(super) fn deed(&mut self, call: &Call, parsed: &Parsed, deed: Deed) {
        let name = || {
            let mut name = parsed.program.name.to_owned();
            for word in &parsed.sub {
                name.push(' ');
                name.push_str(word);
            }
            Target::Command(name)
        };
        match deed {
            Deed::Nothing => {}
            Deed::Look if !parsed.operands.is_empty() && parsed.role() == Operands::Read => {}
            Deed::Look => {
                let target = match &call.cwd {
                    Some(path) => Target::Path { path: path.clone(), glob: false, recursive: false },
                    None => Target::UnknownPath { known: String::new(), recursive: false },
                };
                self.effect(call, EffectKind::FileRead, target, Severity::Low);
            }
            Deed::Change => self.effect(call, EffectKind::FileModification, name(), Severity::Medium),
            Deed::Discard => self.effect(call, EffectKind::FileDeletion, name(), Severity::High),
            Deed::Process => self.effect(call, EffectKind::ProcessCreation, name(), Severity::Medium),
            Deed::Network if parsed.role() == Operands::Urls && !parsed.operands.is_empty() => {}
            Deed::Network => self.effect(call, EffectKind::NetworkRequest, name(), Severity::Medium),
            Deed::Install => {
                self.effect(call, EffectKind::ProcessCreation, name(), Severity::Medium);
                self.effect(call, EffectKind::NetworkRequest, name(), Severity::Low);
            }
            Deed::System if parsed.role() == Operands::Device && parsed.has(&["-l", "--list"]) => {}
            Deed::System => self.effect(call, EffectKind::SystemModification, name(), Severity::High),
            Deed::Unknown => self.effect(call, EffectKind::SystemCommand, name(), Severity::Medium),
        }
    }

    fn url(&mut self, call: &Call, arg: &Arg) {
        self.effect(call, EffectKind::NetworkRequest, Target::Url(arg.text()), Severity::Low);
    }

    fn each(&mut self, call: &Call, act: Act, args: &[Arg], recursive: bool) {
        for arg in args {
            self.file(call, act, arg, recursive);
        }
    }

    fn operands(&mut self, call: &Call, parsed: &Parsed) {
        let operands = parsed.operands.as_slice();
        let recursive = parsed.recursive();
        match parsed.role() {
            Operands::Text => {}
            Operands::Read => self.each(call, Act::Read, operands, recursive),
            Operands::Create => {
                self.each(call, Act::Create, operands, false);
                if parsed.program.name == "mkdir" {
                    let made = operands
                        .iter()
                        .map(|arg| paths::target(arg, call.cwd.as_deref(), false).text().to_owned());
                    self.made.extend(made.take(64));
                }
            }
            Operands::Modify => self.each(call, Act::Modify, operands, recursive),
            Operands::Delete => {
                let wide = recursive || matches!(parsed.program.name, "rimraf" | "srm" | "del-cli");
                self.each(call, Act::Delete, operands, wide);
            }
            Operands::Pattern => self.each(call, Act::Read, behind_pattern(parsed), recursive),
            Operands::PatternEdit => {
                let act =
                    if parsed.has(&["-i", "--in-place", "--inplace"]) { Act::Modify } else { Act::Read };
                self.each(call, act, behind_pattern(parsed), false);
            }
            Operands::Copy | Operands::Move | Operands::Link | Operands::Remote => {
                self.transfer(call, parsed)
            }
            Operands::ModeModify => {
                let by_flag = |flag: &super::Flag| {
                    flag.name.len() == 2 && flag.name.ends_with(['r', 'w', 'x', 'X', 's', 't'])
                };
                let given = parsed.has(&["--reference"])
                    || (parsed.program.name == "chmod" && parsed.flags.iter().any(by_flag));
                let files = operands.get(usize::from(!given)..).unwrap_or_default();
                self.each(call, Act::Modify, files, parsed.has(&["-R", "--recursive"]));
            }
            Operands::ReadWrite => {
                if let Some((first, rest)) = operands.split_first() {
                    self.file(call, Act::Read, first, false);
                    self.each(call, Act::Create, rest, false);
                }
            }
            Operands::WriteRead => {
                if let Some((first, rest)) = operands.split_first() {
                    self.file(call, Act::Create, first, false);
                    self.each(call, Act::Read, rest, recursive);
                }
            }
            Operands::Dd => self.dd(call, operands),
            Operands::Tar => self.tar(call, parsed),
            Operands::Device => {
                for arg in operands.iter().filter(|arg| arg.prefix().starts_with('/')) {
                    let act = if parsed.has(&["-l", "--list"]) { Act::Read } else { Act::Modify };
                    self.file(call, act, arg, false);
                }
            }
            Operands::Urls => {
                for arg in operands {
                    self.url(call, arg);
                }
            }
        }
    }

    /// Programs that take things from one place to another.
    fn transfer(&mut self, call: &Call, parsed: &Parsed) {
        let role = parsed.role();
        let operands = parsed.operands.as_slice();
        let has_dest =
            parsed.roles.contains(&Role::Dest) || parsed.has(&["-d"]) && parsed.program.name == "install";
        let (sources, dest) = match operands.split_last() {
            Some((last, sources)) if !has_dest && (!sources.is_empty() || role == Operands::Remote) => {
                (sources, Some(last))
            }
            _ => (operands, None),
        };
        match role {
            Operands::Move => {
                let lost = dest.and_then(Arg::known) == Some("/dev/null");
                for source in sources {
                    let target = paths::target(source, call.cwd.as_deref(), true);
                    let vital = match &target {
                        Target::Path { path, glob, .. } => {
                            paths::is_vital(path, *glob, true, &self.facts.places)
                        }
                        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => {
                            false
                        }
                    };
                    self.file(call, if vital || lost { Act::Delete } else { Act::Modify }, source, vital);
                }
            }
            Operands::Link => self.link(call, sources, dest),
            Operands::Remote => {
                for source in sources.iter().filter(|arg| !is_remote(arg)) {
                    self.file(call, Act::Read, source, false);
                }
                if let (Some(dest), true) = (
                    dest,
                    parsed.has(&["--delete", "--delete-before", "--delete-after", "--delete-excluded"]),
                ) && !is_remote(dest)
                {
                    self.file(call, Act::Delete, dest, true);
                }
            }
            Operands::Copy => self.each(call, Act::Read, sources, parsed.recursive()),
            _ => {}
        }
        if let Some(dest) = dest.filter(|dest| !is_remote(dest) || role != Operands::Remote) {
            self.file(call, Act::Create, dest, false);
        }
    }

    fn link(&mut self, call: &Call, sources: &[Arg], dest: Option<&Arg>) {
        for source in sources {
            let to = paths::target(source, call.cwd.as_deref(), false);
            let name = source
                .known()
                .map(|text| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned());
            let at = match (dest, name) {
                (Some(dest), _) => paths::target(dest, call.cwd.as_deref(), false),
                (None, Some(name)) => paths::target(&Arg::literal(&name), call.cwd.as_deref(), false),
                (None, None) => continue,
            };
            if let (Target::Path { path: at, glob: false, .. }, Target::Path { path: to, .. }) = (&at, &to)
                && self.links.len() < 64
            {
                self.links.push((at.clone(), to.clone()));
            }
            if dest.is_none() {
                self.act(call, Act::Create, at);
            }
        }
    }

    fn dd(&mut self, call: &Call, operands: &[Arg]) {
        for arg in operands {
            let Some((key, _)) = arg.prefix().split_once('=') else { continue };
            let value = super::options::after(arg, key.len() + 1).unwrap_or_default();
            match key {
                "of" => self.file(call, Act::Create, &value, false),
                "if" => self.file(call, Act::Read, &value, false),
                _ => {}
            }
        }
    }

    fn tar(&mut self, call: &Call, parsed: &Parsed) {
        let mut operands = parsed.operands.as_slice();
        let mut mode = String::new();
        let mut archive = parsed.value(&["-f", "--file"]).cloned();
        // The old way: `tar xzf file`.
        let modern = parsed
            .flags
            .iter()
            .any(|flag| matches!(flag.name.as_str(), "-c" | "-x" | "-t" | "-r" | "-u" | "-d" | "-A"))
            || parsed.has(&[
                "--create",
                "--extract",
                "--get",
                "--list",
                "--append",
                "--update",
                "--delete",
                "--diff",
            ]);
        if let (false, Some((first, rest))) = (modern, operands.split_first()) {
            mode.push_str(first.prefix());
            operands = rest;
            if mode.contains('f') && archive.is_none() {
                archive = operands.first().cloned();
                operands = operands.get(1..).unwrap_or_default();
            }
        }
        let is = |letter: char, names: &[&str]| mode.contains(letter) || parsed.has(names);
        let dir = parsed.value(&["-C", "--directory"]).cloned();
        let archive = archive.unwrap_or_else(|| Arg::literal("-"));
        if is('x', &["-x", "--extract", "--get"]) {
            self.file(call, Act::Read, &archive, false);
            self.file(call, Act::Create, &dir.unwrap_or_else(|| Arg::literal(".")), false);
        } else if is('t', &["-t", "--list", "-d", "--diff"]) {
            self.file(call, Act::Read, &archive, false);
        } else {
            self.file(call, Act::Create, &archive, false);
            let removes = parsed.has(&["--remove-files"]);
            for arg in operands {
                self.file(call, if removes { Act::Delete } else { Act::Read }, arg, true);
            }
        }
    }
}

/// A path and what is meant of it.
struct Spot {
    path: String,
    glob: bool,
    recursive: bool,
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

/// The operands behind the pattern, where an option does not give it.
fn behind_pattern(parsed: &Parsed) -> &[Arg] {
    let given = parsed.has(&["-e", "--expression", "--regexp", "-f", "--file", "--from-file", "--files"]);
    let by_script = parsed.program.kind == Kind::Plain && given;
    parsed.operands.get(usize::from(!by_script)..).unwrap_or_default()
}

/// `host:path`, and `host::module/path`.
fn is_remote(arg: &Arg) -> bool {
    let text = arg.prefix();
    text.contains("://")
        || text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}
