//! Functions that print assignments of values and nothing else, which a script has its own shell evaluate:
//! `eval "$(get_feature_paths)"`.

use std::ops::Range;

use super::call::Call;
use super::output::{self, freeze};
use super::printf::unescape;
use super::reading::leaves_line_open;
use super::redirects::Goes;
use super::{Invocation, Stdin, Surveyor};
use crate::rules::facts::is_loader;
use crate::shell::{Arg, Part, Simple};

/// What a function in a substitution was seen to print.
#[derive(Debug, Default)]
pub(super) struct Told {
    text: Arg,
    /// The last line has no end yet.
    open: bool,
    /// It prints something of which nothing is known.
    lost: bool,
}

/// What assignments were found to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Known,
    /// Something unknown stands between single quotes, which it could close.
    Unknown,
}

words!("survey/settles");

/// Filters, with as many words of their own.
const FILTERS: &[(&str, usize)] = &[
    ("sed", 1),
    ("grep", 1),
    ("tr", 2),
    ("cut", 0),
    ("head", 0),
    ("tail", 0),
    ("sort", 0),
    ("wc", 0),
    ("cat", 0),
];

/// What git tells of the tree itself.
const OF_TREE: &[&str] = &["rev-parse", "branch", "symbolic-ref", "describe"];

impl Surveyor<'_> {
    /// Begins to note what a function prints that stands in a substitution: what was noted of the one around it.
    pub(super) fn begin_told(&mut self, simple: &Simple) -> Option<Option<Told>> {
        simple.owner?;
        let [Part::Text { text, .. }] = simple.words.first()?.parts.as_slice() else { return None };
        (simple.last && self.find_function(text).is_some()).then(|| self.told.replace(Told::default()))
    }

    /// Ends that, and remembers where the function was walked if all that it prints is assignments.
    pub(super) fn end_told(&mut self, around: Option<Option<Told>>, walked: Range<usize>) {
        let Some(around) = around else { return };
        let Some(told) = std::mem::replace(&mut self.told, around).filter(|told| !told.lost) else { return };
        let settles = match assigned(&told.text) {
            Some(Holds::Known) => true,
            Some(Holds::Unknown) => {
                let all = self.out.invocations.iter().enumerate();
                let given = |at: usize, inv: &Invocation| {
                    walked.contains(&at) || inv.feeds.is_some_and(|to| walked.contains(&to))
                };
                all.filter(|(at, inv)| given(*at, inv)).all(|(_, inv)| self.only_tells(inv))
            }
            None => false,
        };
        if settles {
            self.out.settles.push(walked);
        }
    }

    /// Notes what a command of such a function prints.
    pub(super) fn tell(&mut self, simple: &Simple, call: &Call, printed: Option<&Arg>, goes: Goes) {
        if self.told.is_none() || simple.owner.is_some() || !simple.last {
            return;
        }
        let name = call.words.first().and_then(Arg::known).unwrap_or_default();
        // What a function prints is noted as its own commands print it.
        let silent = SILENT.contains(&name) || self.find_function(name).is_some();
        let Some(told) = &mut self.told else { return };
        match (goes, quoted(call)) {
            (Goes::Away, _) => {}
            (Goes::On, Some(text)) => told.add(&text, leaves_line_open(simple)),
            (Goes::On, None) => match printed {
                Some(text) => told.add(text, leaves_line_open(simple)),
                None => told.lost |= !silent,
            },
            (Goes::Somewhere, _) => told.lost = true,
        }
    }

    /// Nothing is known any more of what the function prints.
    pub(super) fn lose_told(&mut self) {
        if let Some(told) = &mut self.told {
            told.lost = true;
        }
    }

    fn only_tells(&self, inv: &Invocation) -> bool {
        let name = inv.program.as_str();
        let filters = || {
            let own = FILTERS.iter().find(|(filter, _)| *filter == name);
            own.is_some_and(|(_, words)| inv.operands.len() <= *words && !matches!(inv.stdin, Stdin::File(_)))
        };
        TELLS.contains(&name)
            || SILENT.contains(&name) && name != "read"
            || name == "git" && inv.sub.first().is_some_and(|sub| OF_TREE.contains(&sub.as_str()))
            || filters()
            || self.find_function(name).is_some()
    }
}

impl Told {
    fn add(&mut self, text: &Arg, open: bool) {
        if !self.open {
            output::append(&mut self.text, &Arg::literal("\n"));
        }
        output::append(&mut self.text, text);
        self.open = open;
    }
}

/// What `printf` prints whose values are all quoted by itself: with quotes in the place of each.
fn quoted(call: &Call) -> Option<Arg> {
    let ("printf", [format, ..]) = (call.words.first()?.known()?, call.args()) else { return None };
    let format = unescape(format.known()?);
    let all = format.matches('%').count();
    (all > 0 && format.matches("%q").count() == all).then(|| Arg::literal(&format.replace("%q", "''")))
}

/// What the assignments hold that a text consists of, if it consists of nothing else and none makes a program load or run something.
fn assigned(text: &Arg) -> Option<Holds> {
    let (text, _) = freeze(text);
    let mut holds = Holds::Known;
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        rest = rest.strip_prefix("export ").unwrap_or(rest);
        let (name, value) = rest.split_once('=')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || name == "IFS" || is_loader(name) {
            return None;
        }
        rest = value;
        while !rest.is_empty() && !rest.starts_with([' ', '\n']) {
            let (inner, tail) = part(rest)?;
            if output::is_marked(inner) {
                holds = Holds::Unknown;
            }
            rest = tail;
        }
        rest = rest.trim_start_matches([' ', '\n']);
    }
    Some(holds)
}

/// The next part of a value, and what is behind it: between quotes, or letters that mean nothing to the shell.
fn part(text: &str) -> Option<(&str, &str)> {
    if let Some(text) = text.strip_prefix('\'') {
        return text.split_once('\'');
    }
    if let Some(text) = text.strip_prefix('"') {
        let (inner, tail) = text.split_once('"')?;
        return (!output::is_marked(inner) && !inner.contains(['$', '`', '\\'])).then_some((inner, tail));
    }
    let means = |c: char| {
        !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '/' | ':' | '@' | '%' | '+' | '-' | ',')
    };
    let end = text.find(means).unwrap_or(text.len());
    if end == 0 { None } else { text.split_at_checked(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_assignments_are_values() {
        for text in ["A='x'", "A=x\nB='y z'\n", "A='x' B=\"y\"", "export A=1", "A=''", "A='a\nb'"] {
            assert_eq!(assigned(&Arg::literal(text)), Some(Holds::Known), "{text}");
        }
        for text in [
            "",
            "rm -rf x",
            "A='x' rm -rf x",
            "A='x'; rm x",
            "A=$(rm x)",
            "A=\"$(rm x)\"",
            "A=`rm x`",
            "PATH=/tmp/x",
            "LD_PRELOAD=/tmp/x.so",
            "A=x&rm y",
            "A='x",
            "a b=c",
            "A[0]=x",
            "BASH_ENV='x'",
            "A=x|y",
            "A=x>y",
        ] {
            assert_eq!(assigned(&Arg::literal(text)), None, "{text}");
        }
    }
}
