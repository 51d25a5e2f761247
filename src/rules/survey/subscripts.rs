//! Subscripts that are evaluated as arithmetic: what is substituted in them is run, quoted or not.

use super::Surveyor;
use super::call::Call;
use super::origins::plain;
use super::scope::Scope;
use super::walk::Frame;
use crate::domain::last_name;
use crate::shell::{Arg, Part, RedirectKind, Script, Simple, Word, parse};

/// Most texts in subscripts that are tried for one text.
const MAX_TRIED: usize = 48;

words!("survey/subscripts");

/// Variables of the shell that are numbers: what is assigned to them is evaluated.
const NUMBERS: &[&str] = &["RANDOM", "SRANDOM", "SECONDS", "OPTIND", "LINENO", "HISTCMD"];

/// Whether arithmetic is evaluated somewhere in a text.
pub(in crate::rules) fn counts(text: &str) -> bool {
    // `${a[$x]}`; with a bracket behind it a substitution stands there.
    let is_key =
        |(at, sign): (usize, &str)| text.as_bytes().get(at + sign.len()).is_some_and(|next| *next != b'(');
    COUNTS.iter().any(|sign| text.contains(sign)) || text.match_indices("[$").any(is_key)
}

impl Surveyor<'_> {
    /// Subscripts in the arguments of builtins that evaluate them: what is substituted in them is run, quoted or not.
    pub(super) fn subscripts(&mut self, call: &Call, name: &str, scope: &Scope) {
        let args = call.args();
        let is = |words: &[&str]| args.iter().any(|arg| arg.known().is_some_and(|arg| words.contains(&arg)));
        let evaluates = match name {
            "test" | "[" => is(&["-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"]),
            "printf" => args.first().and_then(Arg::known) == Some("-v"),
            "let" | "declare" | "typeset" | "local" | "readonly" | "export" | "unset" | "read"
            | "mapfile" | "readarray" | "getopts" | "wait" | "integer" => true,
            _ => false,
        };
        if !evaluates {
            return;
        }
        for text in args.iter().filter_map(Arg::known) {
            if let Some(inside) = run_in_subscript(text) {
                let text = Arg::literal(&format!(": {inside}"));
                self.script(&text, scope.clone(), Frame::inside(call, name));
            }
        }
    }

    /// A text that is evaluated as arithmetic.
    pub(super) fn evaluated_text(&mut self, text: &str) {
        if let Some(inside) = run_in_subscript(text) {
            self.substituted(inside);
        }
    }

    /// Values with such a subscript, or that are one: arithmetic that names the variable runs it.
    pub(super) fn evaluated_values(&mut self, scope: &mut Scope, source: &str) {
        for (name, value) in std::mem::take(&mut scope.loaded) {
            let again = || !name.is_empty() && source.match_indices(&name).nth(1).is_some();
            let is_key = || ["[$", "[${"].iter().any(|sign| source.contains(&format!("{sign}{name}")));
            if run_in_subscript(&value).is_some() {
                if counts(source) || again() {
                    self.evaluated_text(&value);
                }
            } else if !name.is_empty() && is_key() {
                self.substituted(&value);
            }
        }
    }

    /// Runs what is substituted in a text, where a shell could read it.
    fn substituted(&mut self, text: &str) {
        let text = format!(": {text}");
        if parse(&text).problem.is_none() {
            self.traps.push(Arg::literal(&text));
        }
    }

    /// Runs what is substituted in subscripts that stand as text in a text which evaluates arithmetic: by which variable, parameter or
    /// input they come there is all the same.
    pub(super) fn quoted_subscripts(&mut self, script: &Script, scope: &Scope, frame: &Frame, source: &str) {
        let signs = ["[$(", "[`", "[\\$(", "[\\`"];
        let begins = |text: &str| text.contains('[') && signs.iter().any(|sign| text.contains(sign));
        if self.guesses || !begins(source) {
            return;
        }
        self.guesses = true;
        let evaluates = |simple: &Simple| {
            if simple.assigns.iter().any(|assign| NUMBERS.contains(&assign.name.as_str())) {
                return true;
            }
            let (start, end) = simple.span;
            let around = [source.get(..start).unwrap_or_default(), source.get(end..).unwrap_or_default()];
            let own = evaluates_itself(simple).then(|| source.get(start..end).unwrap_or_default());
            around.into_iter().chain(own).any(counts)
        };
        let texts: Vec<String> = script
            .commands
            .iter()
            .flat_map(|simple| kept_words(simple, script).map(move |word| (simple, word)))
            .flat_map(|(simple, word)| word.parts.iter().map(move |part| (simple, part)))
            .filter_map(|(simple, part)| match part {
                Part::Text { text, .. } => text
                    .lines()
                    .find_map(run_in_subscript)
                    .filter(|_| evaluates(simple))
                    .map(|inside| format!(": {inside}")),
                Part::Variable { .. }
                | Part::Substitution { .. }
                | Part::Process { .. }
                | Part::Arithmetic(_) => None,
            })
            .chain(escaped_subscripts(source))
            .take(MAX_TRIED)
            .collect();
        for text in texts {
            if parse(&text).problem.is_none() {
                let mut frame = frame.clone();
                frame.depth = frame.depth.saturating_add(1);
                self.script(&Arg::literal(&text), scope.clone(), frame);
            }
        }
        self.guesses = false;
    }
}

/// What is substituted in subscripts in which the sign for that is escaped: `"a[\\$(…)]"`.
fn escaped_subscripts(source: &str) -> Vec<String> {
    let signs = ["[\\$(", "[\\`"];
    if !signs.iter().any(|sign| source.contains(sign)) {
        return Vec::new();
    }
    let source = without_plain_text(source);
    if !counts(&source) {
        return Vec::new();
    }
    let found = signs.into_iter().flat_map(|sign| source.match_indices(sign));
    let inside = found.filter_map(|(at, _)| {
        let line = source.get(at..)?.lines().next()?;
        run_in_subscript(&line.replace('\\', "")).map(|inside| format!(": {inside}"))
    });
    inside.collect()
}

/// The text without what the shell takes as it stands: in single quotes, and in here-documents with a quoted end.
fn without_plain_text(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut ends: Vec<String> = Vec::new();
    let (mut single, mut doubled) = (false, false);
    for line in source.split_inclusive('\n') {
        if let Some(end) = ends.first() {
            if line.trim() == end {
                ends.remove(0);
            }
            continue;
        }
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                c if single => single = c != '\'',
                '\\' => out.extend(std::iter::once(c).chain(chars.next())),
                '\'' if !doubled => single = true,
                '"' => {
                    doubled = !doubled;
                    out.push(c);
                }
                _ => out.push(c),
            }
        }
        ends.extend(quoted_ends(line));
    }
    out
}

/// The ends of the here-documents that a line begins, where they are quoted.
fn quoted_ends(line: &str) -> impl Iterator<Item = String> + '_ {
    line.match_indices("<<").filter_map(|(at, _)| {
        let rest = line.get(at + 2..)?.trim_start_matches('-').trim_start();
        let rest = rest.strip_prefix(['\'', '"', '\\'])?;
        let end: String =
            rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        (!end.is_empty()).then_some(end)
    })
}

/// What stands in the subscript of a text, where something is substituted in it.
pub(super) fn run_in_subscript(text: &str) -> Option<&str> {
    if !text.contains("$(") && !text.contains('`') {
        return None;
    }
    let (_, rest) = text.split_once('[')?;
    let (inside, _) = rest.rsplit_once(']')?;
    (inside.contains("$(") || inside.contains('`')).then_some(inside)
}

/// A shell that is given a text and words for it.
fn is_given_text(simple: &Simple) -> bool {
    let mut names = simple.words.iter().filter_map(plain).map(last_name);
    names.any(|name| matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh"))
}

/// A command that evaluates words of its own.
fn evaluates_itself(simple: &Simple) -> bool {
    let name = simple.words.first().and_then(plain);
    matches!(name, Some("declare" | "typeset" | "local" | "readonly" | "export")) || is_given_text(simple)
}

/// The words of a command that are kept under a name: in a variable, a parameter, or what `read` is given.
fn kept_words<'s>(simple: &'s Simple, script: &'s Script) -> impl Iterator<Item = &'s Word> {
    let name = simple.words.first().and_then(plain).unwrap_or_default();
    let hands = matches!(name, "set" | "declare" | "local" | "typeset" | "export" | "readonly")
        || script.functions.iter().any(|function| function == name)
        || is_given_text(simple)
        || matches!(name, "echo" | "printf") && (!simple.last || simple.owner.is_some());
    let reads = matches!(name, "read" | "mapfile" | "readarray");
    let assigns = simple.assigns.iter().chain(&simple.declared);
    let values = assigns.flat_map(|assign| assign.list.iter().chain([&assign.value]));
    let words = simple.words.iter().skip(1).filter(move |_| hands);
    let input = simple.redirects.iter().filter(move |redirect| {
        reads && matches!(redirect.kind, RedirectKind::HereString | RedirectKind::Heredoc)
    });
    values.chain(words).chain(input.map(|redirect| &redirect.target))
}
