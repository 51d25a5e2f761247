//! What a shell or subshell knows while its commands are walked: directory and variables. What changes them is in `assigns`.

use super::arrays::Array;
use super::call::Call;
use super::descriptors::Descriptor;
use crate::domain::{Places, join};
use crate::rules::matcher::may_be;
use crate::shell::{Arg, Env, Op, Part, Script, Simple};

/// Longest value that is followed, in bytes.
const MAX_VALUE: usize = 64 * 1024;
/// Longest working directory that is followed, in bytes.
const MAX_DIR: usize = 1024;
/// Most variables of loops that are tried value by value.
const MAX_LOOPS: usize = 32;

/// A shell's or subshell's knowledge.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub env: Env,
    /// Names that children see.
    pub exported: Vec<String>,
    /// Variables of loops and the values that they take.
    pub choices: Vec<(String, Vec<String>)>,
    /// Variables that hold the output of commands (indices of invocations).
    pub sources: Vec<(String, Vec<usize>)>,
    /// Variables that expansions assign (`${NAME:=word}`), and so are never known.
    pub unsettled: Vec<String>,
    /// The directory before the first `cd` that may fail.
    pub before: Option<String>,
    /// The text, and from where to where in it, in which a command runs only where the last `cd` succeeded.
    pub arrived: Option<(u32, std::ops::Range<usize>)>,
    /// `$1`, `$2`, …
    pub args: Vec<Arg>,
    /// Arrays whose elements are known.
    pub arrays: Vec<Array>,
    /// What its descriptors lead to.
    pub open: Vec<Descriptor>,
    /// Variables that stand for others (`declare -n NAME=OTHER`).
    pub refs: Vec<(String, String)>,
    /// Variables whose letters are made small or large (`declare -l NAME`).
    pub cased: Vec<(String, Case)>,
    /// Values since the last command in which something is substituted, and the variables that were assigned them: arithmetic
    /// runs what is substituted in a subscript.
    pub loaded: Vec<(String, String)>,
}

/// What becomes of the letters of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Small,
    Large,
}

/// Whether something is substituted in a value once it is evaluated.
fn is_loaded(value: &str) -> bool {
    value.contains('`') || value.contains("$(") || value.contains("${")
}

/// A shell that knows only where it is, and where protected places are.
pub(super) fn fresh_scope(places: &Places, cwd: Option<String>) -> Scope {
    let vars = places.variables.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    Scope { env: Env { vars, home: places.home.clone(), cwd, ..Env::default() }, ..Scope::default() }
}

impl Scope {
    /// What a program started here sees: the exported variables.
    pub fn child_env(&self, cwd: Option<&str>) -> Env {
        let seen = |name: &str| self.exported.iter().any(|other| other == name);
        Env {
            vars: self.env.vars.iter().filter(|(name, _)| seen(name)).cloned().collect(),
            home: self.env.home.clone(),
            cwd: cwd.map(str::to_owned),
            ..Env::default()
        }
    }

    /// The exported variables with what they hold, for a shell that is started here: one on another machine sees none of them.
    pub fn passed(&self, call: &Call) -> Vec<(String, Option<String>)> {
        if self.exported.is_empty() && self.env.old.is_none() || call.remote {
            return Vec::new();
        }
        let seen = |name: &str| name == "OLDPWD" || self.exported.iter().any(|other| other == name);
        let old = self.env.old.iter().map(|old| ("OLDPWD".to_owned(), Some(old.clone())));
        old.chain(self.env.vars.iter().filter(|(name, _)| seen(name)).cloned()).collect()
    }

    /// The variables that have another value here than they had before the call, whatever that is.
    pub fn changed(&self, places: &Places) -> Vec<String> {
        let before = |name: &str| {
            places.variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
        };
        let changed =
            self.env.vars.iter().filter(|(name, value)| value.is_none() || value.as_deref() != before(name));
        changed.map(|(name, _)| name.clone()).collect()
    }

    /// Takes the variables that expansions assign for unknown, but for those that nobody assigned before the first command does,
    /// always and with plain text: `${NAME:=word} …`.
    pub fn settle(&mut self, script: &Script) {
        let first = script
            .commands
            .first()
            .filter(|first| !first.conditional && first.subshell == 0 && first.function.is_none());
        let parts = first.into_iter().flat_map(|first| &first.words).flat_map(|word| &word.parts);
        let plain = |text: &str| {
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
        };
        let mut given: Vec<(&String, &String)> = Vec::new();
        for part in parts {
            if let Part::Variable { name, default: Some(word), op: Op::Assign { .. }, .. } = part
                && plain(word)
                && self.env.get(name).is_none()
                && !given.iter().any(|(other, _)| *other == name)
            {
                given.push((name, word));
            }
        }
        let open = |name: &&String| !given.iter().any(|(other, _)| other == name);
        // `i=$((i+1))`, in a loop perhaps.
        let assigns = script.commands.iter().flat_map(|command| &command.assigns);
        let is_number = |part: &Part| matches!(part, Part::Arithmetic(_));
        let counted = assigns.filter(|assign| assign.value.parts.iter().any(is_number));
        let assigned = script.assigned.iter().chain(counted.map(|assign| &assign.name));
        let names: Vec<String> = assigned.filter(open).cloned().collect();
        self.unsettle(&names);
        for (name, word) in given {
            self.set(name, Some(word.clone()));
        }
    }

    /// Takes variables for unknown from here on.
    pub fn unsettle(&mut self, names: &[String]) {
        self.unsettled.extend_from_slice(names);
        for name in names {
            self.set(name, None);
        }
    }

    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.choices.retain(|(other, _)| other != name);
        self.sources.retain(|(other, _)| other != name);
        let settled = !self.unsettled.iter().any(|other| other == name);
        let value = value.filter(|value| settled && value.len() <= MAX_VALUE);
        let value = match self.cased.iter().rev().find(|(other, _)| other == name) {
            Some((_, Case::Small)) => value.map(|value| value.to_lowercase()),
            Some((_, Case::Large)) => value.map(|value| value.to_uppercase()),
            None => value,
        };
        if let Some(value) = value.as_ref().filter(|value| is_loaded(value)) {
            self.loaded.push((name.to_owned(), value.clone()));
        }
        for (other, of) in &self.refs {
            if of == name {
                self.env.set(other, value.clone());
            } else if other == name {
                self.env.set(of, value.clone());
            }
        }
        self.env.set(name, value);
    }

    /// Gives variables of loops one value each, and gives back all that they had.
    pub fn fix(&mut self, way: &[(String, String)]) -> Vec<(String, Vec<String>)> {
        let mut held = Vec::with_capacity(way.len());
        for (name, value) in way {
            self.env.set(name, Some(value.clone()));
            // Without values it stays in its place, until something is assigned to the variable.
            let values = self.choices.iter_mut().find(|(other, _)| other == name);
            held.push((name.clone(), values.map(|(_, values)| std::mem::take(values)).unwrap_or_default()));
        }
        held
    }

    /// The opposite, once the command was walked: what was assigned meanwhile is not undone.
    pub fn free(&mut self, held: Vec<(String, Vec<String>)>) {
        for (name, values) in held {
            self.env.set(&name, None);
            let place = self.choices.iter_mut().find(|(other, left)| *other == name && left.is_empty());
            if let Some((_, place)) = place {
                *place = values;
            }
        }
    }

    /// Notes a value that no assignment gave to a variable.
    pub fn load(&mut self, value: &str) {
        if is_loaded(value) {
            self.loaded.push((String::new(), value.to_owned()));
        }
    }

    /// A variable that takes several values.
    pub fn choose(&mut self, name: &str, values: Vec<String>) {
        self.choices.retain(|(other, _)| other != name);
        values.iter().for_each(|value| self.load(value));
        if self.choices.len() < MAX_LOOPS {
            self.choices.push((name.to_owned(), values));
        }
    }

    pub fn export(&mut self, name: &str) {
        if !self.exported.iter().any(|other| other == name) {
            self.exported.push(name.to_owned());
        }
    }

    /// Goes to a directory; with none, it is not known where.
    pub fn go(&mut self, to: Option<String>) {
        let to = to.filter(|to| to.len() <= MAX_DIR);
        self.env.old = std::mem::replace(&mut self.env.cwd, to);
        if self.env.get("OLDPWD").is_some() {
            let old = self.env.old.clone();
            self.env.set("OLDPWD", old);
        }
        self.arrived = None;
        if self.before.is_none() {
            self.before.clone_from(&self.env.old);
        }
    }

    /// Whether a command of that text runs only where the last `cd` succeeded.
    pub fn has_arrived(&self, text: u32, command: &Simple) -> bool {
        let at = command.span.0;
        self.arrived
            .as_ref()
            .is_some_and(|(other, range)| *other == text && range.start < at && at < range.end)
    }

    /// Where a command runs if the `cd` in front of it fails, where it runs then.
    pub fn before_arriving(&self, text: u32, command: &Simple) -> Option<String> {
        if command.branched || self.has_arrived(text, command) { None } else { self.before.clone() }
    }

    /// Notes how far a `cd` that was walked is known to have succeeded.
    pub fn arrive(&mut self, text: u32, command: &Simple) {
        if command.holds > 0 {
            self.arrived = Some((text, command.span.0..command.holds));
        }
    }

    /// Where a `cd` goes. A pattern may stand for a directory with protected places in it; else `cd packages/*`, by a loop over
    /// them, goes to each: the pattern stands for the directory.
    pub fn resolve(&self, to: &Arg, places: &Places) -> Option<String> {
        let text = to.text();
        if to.has_unknown() {
            return None;
        }
        if to.has_glob() {
            if let Some(dir) = self.guarded(&text, places) {
                return Some(dir);
            }
            if text.contains(['[', '?', '(']) {
                return None;
            }
        }
        if text.starts_with('/') {
            return Some(join("/", &text));
        }
        Some(join(self.env.cwd.as_deref()?, &text))
    }
}

/// Who may log in, below the home directory.
const LOGINS: &str = ".ssh/authorized_keys";

impl Scope {
    /// Of the directories that a pattern may stand for, the one with protected places in it: the strictest reading.
    fn guarded(&self, pattern: &str, places: &Places) -> Option<String> {
        let pattern = if pattern.starts_with('/') {
            join("/", pattern)
        } else {
            join(self.env.cwd.as_deref()?, pattern)
        };
        let names: Vec<&str> = pattern.split('/').collect();
        let above = |place: &str| {
            let parts: Vec<&str> = place.split('/').take(names.len()).collect();
            let whole = parts.join("/");
            let same = parts.len() == names.len()
                && whole.len() < place.len()
                && parts.iter().zip(&names).all(|(name, pattern)| name.is_empty() || may_be(pattern, name));
            same.then_some(whole)
        };
        let logins = places.home.as_ref().map(|home| join(home, LOGINS));
        // The directory right around a place comes before one further up.
        let found = { places.protected.iter().map(|place| &place.path).chain(&logins) }
            .filter_map(|place| Some((place.matches('/').count(), above(place)?)));
        found.min_by_key(|(depth, _)| *depth).map(|(_, dir)| dir)
    }
}
