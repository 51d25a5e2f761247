//! A script as it is with these arguments: without the arms of `case` that they do not lead to, and the functions that only those call.
//! Whatever is not certain stays as it stands.

use super::expand::is_case;
use super::{Arg, Case, Env, Op, Part, Script, Simple, Word, expand, parse};

/// Words with which a script may mean something else by what stands in it.
const UNREADABLE: &[&str] = &["nocasematch", "extglob", "eval"];
/// Commands that give variables values which do not stand in the text.
const ASSIGNING: &[&str] =
    &["read", "mapfile", "readarray", "getopts", "printf", "unset", "declare", "typeset", "let"];
/// Commands that print their words or their input.
const PRINTING: &[&str] = &["echo", "printf", "cat"];
/// Commands whose words may be assignments.
const DECLARING: &[&str] = &["local", "export", "readonly", "declare", "typeset"];

/// The script without what its arguments do not lead to, as long as it was; none where that is all of it.
pub(crate) fn narrowed(source: &str, args: &[Arg]) -> Option<String> {
    if !source.contains("esac") || UNREADABLE.iter().any(|word| source.contains(word)) {
        return None;
    }
    let script = parse(source);
    if script.problem.is_some() {
        return None;
    }
    let narrow = Narrow { script: &script, args };
    let dead: Vec<(usize, usize)> = script.cases.iter().flat_map(|case| narrow.dead_arms(case)).collect();
    if dead.is_empty() {
        return None;
    }
    let functions = narrow.dead_functions(&dead);
    let mut out = source.to_owned();
    for span in dead {
        blank(&mut out, span, "");
    }
    for span in functions {
        blank(&mut out, span, "{ :; }");
    }
    Some(out)
}

/// Overwrites a part with blanks, but its line ends.
fn blank(text: &mut String, (from, to): (usize, usize), front: &str) {
    let Some(old) = text.get(from..to) else { return };
    let front = if old.len() < front.len() { "" } else { front };
    let mut new = front.to_owned();
    for byte in old.bytes().skip(front.len()) {
        new.push(if byte == b'\n' { '\n' } else { ' ' });
    }
    text.replace_range(from..to, &new);
}

struct Narrow<'a> {
    script: &'a Script,
    args: &'a [Arg],
}

impl<'a> Narrow<'a> {
    /// The bodies of the arms that are certainly not taken.
    fn dead_arms(&self, case: &'a Case) -> Vec<(usize, usize)> {
        let certain = !case.looped && !case.arms.iter().any(|arm| arm.falls);
        let Some(value) =
            certain.then(|| self.value(&case.word, case.function, case.word.span.0, true)).flatten()
        else {
            return Vec::new();
        };
        let mut dead = Vec::new();
        let mut taken = false;
        for arm in &case.arms {
            let found: Vec<Option<bool>> =
                arm.patterns.iter().map(|pattern| matches(&value, pattern)).collect();
            if taken || found.iter().all(|one| *one == Some(false)) {
                dead.push(arm.body);
            }
            taken |= found.contains(&Some(true));
        }
        dead
    }

    /// What a word is at a place, where it is made of plain text and arguments of the script. `named`: or a variable that is one.
    fn value(&self, word: &'a Word, function: Option<u32>, at: usize, named: bool) -> Option<String> {
        let mut out = String::new();
        for part in &word.parts {
            match part {
                Part::Text { text, quoted } if *quoted || is_plain(text) => out.push_str(text),
                Part::Variable { name, default, op, .. } => {
                    let number = name.parse::<usize>().ok().filter(|number| *number > 0);
                    let value = match number {
                        Some(number) => self.argument(number, function, at),
                        None if named => self.variable(name, function, at),
                        None => None,
                    }?;
                    out.push_str(&changed(value, default.as_deref(), op)?);
                }
                _ => return None,
            }
        }
        Some(out)
    }

    /// `$N` at a place; the inner none stands for one that is not given.
    fn argument(&self, number: usize, function: Option<u32>, at: usize) -> Option<Option<String>> {
        let at = match function {
            None => at,
            Some(function) => {
                let call = self.only_call(function).filter(|_| !self.shifts(Some(function), at))?;
                call.span.0
            }
        };
        if self.shifts(None, at) {
            return None;
        }
        let until = self.args.get(..number).unwrap_or(self.args);
        let known: Option<Vec<&str>> = until.iter().map(Arg::known).collect();
        Some(known?.get(number.checked_sub(1)?).map(|text| (*text).to_owned()))
    }

    /// A variable that is assigned once, before that place and whatever happens.
    fn variable(&self, name: &str, function: Option<u32>, at: usize) -> Option<Option<String>> {
        let commands = || self.script.commands.iter();
        let is_given = |simple: &&Simple| {
            let front = first(simple);
            ASSIGNING.contains(&front)
                && simple.words.iter().skip(1).any(|word| text(word).is_some_and(|text| text == name))
        };
        if commands().any(|simple| is_given(&simple)) || self.script.assigned.iter().any(|one| one == name) {
            return None;
        }
        let mut found = commands().flat_map(|simple| given(simple, name).map(move |value| (simple, value)));
        let (simple, value) = found.next()?;
        let settled = found.next().is_none()
            && !simple.conditional
            && simple.function == function
            && simple.subshell == 0
            && simple.span.1 <= at;
        let value = value.filter(|_| settled)?;
        self.value(&value, function, simple.span.0, false).map(Some)
    }

    /// The only command that calls a function, where it hands on all arguments of the script.
    fn only_call(&self, function: u32) -> Option<&'a Simple> {
        let name = self.script.functions.get(function as usize)?;
        let mut callers = self.callers(name);
        let call = callers.next().filter(|_| callers.next().is_none())?;
        let all = |word: &Word| {
            let empty = |part: &&Part| matches!(part, Part::Text { text, .. } if text.is_empty());
            let mut parts = word.parts.iter().filter(|part| !empty(part));
            matches!(parts.next(), Some(Part::Variable { name, plain: true, .. }) if name == "@")
                && parts.next().is_none()
        };
        let [_, given] = call.words.as_slice() else { return None };
        (first(call) == name && call.function.is_none() && call.subshell == 0 && all(given)).then_some(call)
    }

    /// The commands that name a function, other than to print its name.
    fn callers<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a Simple> + use<'a, 'n> {
        self.script.commands.iter().filter(move |simple| {
            let prints = PRINTING.contains(&first(simple)) && simple.last;
            let words = simple.words.iter().filter(|_| !prints);
            let targets = simple.redirects.iter().map(|redirect| &redirect.target).filter(|_| !prints);
            let assigned = simple.assigns.iter().chain(&simple.declared);
            let assigned = assigned.flat_map(|assign| std::iter::once(&assign.value).chain(&assign.list));
            words.chain(targets).chain(assigned).flat_map(|word| &word.parts).any(|part| match part {
                Part::Text { text, .. } => names(text, name),
                Part::Variable { default: Some(text), .. } => names(text, name),
                _ => false,
            })
        })
    }

    /// Whether arguments may have moved before that place.
    fn shifts(&self, function: Option<u32>, at: usize) -> bool {
        let moves = |simple: &&Simple| match first(simple) {
            "shift" => true,
            "set" => !simple.words.iter().skip(1).all(|word| {
                text(word).is_some_and(|text| {
                    text != "--" && text != "-" && (text.starts_with(['-', '+']) || text == "pipefail")
                })
            }),
            _ => false,
        };
        let before =
            self.script.commands.iter().filter(|simple| simple.function == function && simple.span.0 < at);
        before.filter(moves).count() > 0
    }

    /// The bodies of the functions that only the arms which are not taken call, or such functions in turn.
    fn dead_functions(&self, dead: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let bodies =
            || self.script.bodies.iter().zip(&self.script.functions).filter(|((from, to), _)| from < to);
        let inside = |at: usize, span: &(usize, usize)| span.0 <= at && at < span.1;
        let mut live: Vec<&str> = Vec::new();
        loop {
            let is_live = |at: usize| {
                let owners = || bodies().filter(|(span, _)| inside(at, span));
                !dead.iter().any(|span| inside(at, span))
                    && owners().all(|(_, name)| live.contains(&name.as_str()))
            };
            let called = |name: &str| {
                let mut places = self.callers(name).map(|simple| simple.span.0).peekable();
                // One that nobody calls is judged as it stands.
                places.peek().is_none() || places.any(is_live) || self.is_put_together(name)
            };
            let more: Vec<&str> = bodies()
                .map(|(_, name)| name.as_str())
                .filter(|name| !live.contains(name) && called(name))
                .collect();
            if more.is_empty() {
                break;
            }
            live.extend(more);
        }
        bodies().filter(|(_, name)| !live.contains(&name.as_str())).map(|(span, _)| *span).collect()
    }

    /// Whether an argument, or text beside a variable, may make up the name of that function.
    fn is_put_together(&self, name: &str) -> bool {
        let words = |simple: &'a Simple| {
            simple.words.iter().chain(
                simple.assigns.iter().flat_map(|assign| std::iter::once(&assign.value).chain(&assign.list)),
            )
        };
        let beside = |word: &Word| {
            let texts = word.parts.iter().filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let mixed = word.parts.len() > 1;
            texts.filter(|_| mixed).any(|text| {
                let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                let behind = text.rsplit(|c| !of_name(c)).next().unwrap_or_default();
                let front = text.split(|c| !of_name(c)).next().unwrap_or_default();
                !behind.is_empty() && name.starts_with(behind) || !front.is_empty() && name.ends_with(front)
            })
        };
        // `read X; "$X"`
        let is_read = |name: &str| {
            let reads = |simple: &&Simple| ASSIGNING.contains(&first(simple));
            let words =
                self.script.commands.iter().filter(reads).flat_map(|simple| simple.words.iter().skip(1));
            words.filter_map(text).any(|word| word == name)
        };
        let by_value = |simple: &&Simple| {
            let front = simple.words.first().map(|word| word.parts.as_slice()).unwrap_or_default();
            front.iter().any(|part| matches!(part, Part::Variable { name, .. } if is_read(name)))
        };
        self.script.commands.iter().any(|simple| by_value(&simple))
            || self.args.iter().any(|arg| arg.known().is_none_or(|text| text.contains(name)))
            || self.script.commands.iter().flat_map(words).any(beside)
    }
}

/// What is done to a value that may not be given.
fn changed(value: Option<String>, default: Option<&str>, op: &Op) -> Option<String> {
    let missing = |colon: bool| value.as_ref().is_none_or(|value| colon && value.is_empty());
    match op {
        Op::Plain => Some(value.unwrap_or_default()),
        Op::Default { colon } if missing(*colon) => default.filter(|word| is_plain(word)).map(str::to_owned),
        Op::Default { .. } => value,
        Op::Error { colon } if !missing(*colon) => value,
        _ => None,
    }
}

/// Whether a pattern matches; none where that is not certain.
fn matches(value: &str, pattern: &Word) -> Option<bool> {
    match expand(pattern, &Env::default()).as_slice() {
        [one] => is_case(value, &one.pieces),
        _ => None,
    }
}

/// What a command gives a variable of that name; none for what is not worked out.
fn given<'a>(simple: &'a Simple, name: &'a str) -> impl Iterator<Item = Option<Word>> + 'a {
    let assigned = simple.assigns.iter().chain(&simple.declared).filter(move |assign| assign.name == name);
    let assigned = assigned.map(|assign| {
        let plain = !assign.append && !assign.array && assign.list.is_empty() && simple.words.is_empty();
        plain.then(|| assign.value.clone())
    });
    let declares = DECLARING.contains(&first(simple));
    let declared = simple.words.iter().skip(1).filter(move |_| declares).filter_map(move |word| {
        let (Part::Text { text, .. }, rest) = word.parts.split_first()? else { return None };
        let value = text.strip_prefix(name)?.strip_prefix('=')?;
        let front = (!value.is_empty()).then(|| Part::Text { text: value.to_owned(), quoted: false });
        Some(Some(Word { parts: front.into_iter().chain(rest.iter().cloned()).collect(), span: word.span }))
    });
    assigned.chain(declared)
}

fn first(simple: &Simple) -> &str {
    simple.words.first().and_then(text).unwrap_or_default()
}

fn text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, .. }] => Some(text),
        _ => None,
    }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte))
}

/// Whether a name stands in a text as a word of its own.
fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str, args: &[&str]) -> Option<String> {
        let args: Vec<Arg> = args.iter().map(|arg| Arg::literal(arg)).collect();
        narrowed(source, &args).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn arms_that_are_not_taken_go() {
        let plain = "case $1 in a) one;; b|c) two;; *) three;; esac";
        assert_eq!(of(plain, &["c"]).as_deref(), Some("case $1 in a) ;; b|c) two;; *) ;; esac"));
        assert_eq!(of(plain, &[]).as_deref(), Some("case $1 in a) ;; b|c) ;; *) three;; esac"));
        let named = "X=${1:-b}; shift || true; case \"$X\" in a) one;; b) two;; esac";
        assert!(of(named, &[]).is_some_and(|text| !text.contains("one") && text.contains("two")));
        let function = "f() { rm x; }\nmain() { case \"${1:-}\" in a) f;; b) g;; esac; }\nmain \"$@\"";
        assert!(of(function, &["b"]).is_some_and(|text| !text.contains("rm x") && text.contains("g;;")));
        assert!(of(function, &["a"]).is_some_and(|text| text.contains("rm x") && !text.contains("g;;")));
    }

    #[test]
    fn what_is_not_certain_stays() {
        for source in [
            "while true; do case $1 in a) one;; b) two;; esac; shift; done",
            "case $1 in a) one;& b) two;; esac",
            "[ -n \"$Y\" ] && shift; case $1 in a) one;; esac",
            "set -- a; case $1 in a) one;; esac",
            "X=$1; [ -n \"$Y\" ] && X=a; case $X in a) one;; esac",
            "X=$1; read X; case $X in a) one;; esac",
            "[ -n \"$Y\" ] && X=$1; case $X in a) one;; esac",
            "shopt -s nocasematch; case $1 in A) one;; esac",
            "case ${1,,} in a) one;; esac",
            "case $1 in [a-c]) one;; esac",
            "case $1 in $2) one;; esac",
            "f() { case $1 in a) one;; esac; }; f a; f \"$@\"",
            "f() { case $1 in a) one;; esac; }; for x; do f \"$x\"; done",
        ] {
            assert_eq!(of(source, &["b"]), None, "{source}");
        }
        let text = "one() { rm x; }\ncase $1 in a) one;; b) do_$1;; esac";
        for (source, args) in [
            (text.replace("do_$1", "\"$2\""), &["b", "one"][..]),
            (text.replace("do_$1", "\"o$2\""), &["b", "ne"]),
            (text.replace("do_$1", "trap one EXIT"), &["b"]),
            (text.replace("do_$1", "echo one | sh"), &["b"]),
            (text.replace("do_$1", "read X; \"$X\""), &["b"]),
        ] {
            assert!(of(&source, args).is_none_or(|text| text.contains("rm x")), "{source}");
        }
        let unknown = [Arg { pieces: vec![crate::shell::Piece::Unknown].into() }];
        assert_eq!(narrowed("case $1 in a) one;; esac", &unknown), None);
    }
}
