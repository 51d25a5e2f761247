//! The expression that `find` is given: where it looks, what limits what it finds, what is done with that.

use super::pattern;
use crate::shell::Arg;

words!("survey/expression");

/// What `find` is told.
#[derive(Debug, Default)]
pub(super) struct Search<'c> {
    pub starts: Vec<&'c Arg>,
    /// Names that limit what is found, or the ends of paths, as patterns in which `**` stands for any number of names.
    pub names: Vec<Arg>,
    /// A name is excluded, or alternatives make names no limit.
    pub wide: bool,
    /// Only what is empty is found.
    pub empty: bool,
    pub deletes: bool,
    pub commands: Vec<&'c [Arg]>,
    pub writes: Vec<&'c Arg>,
}

impl Search<'_> {
    /// Nothing was done yet, and no bracket is open: a test that is met limits all that follows.
    fn is_plain(&self, terms: &Terms) -> bool {
        !self.deletes && terms.around.is_empty()
    }
}

/// What the arguments of `find` say.
pub(super) fn read(args: &[Arg]) -> Search<'_> {
    let mut search = Search::default();
    let mut rest = args;
    let (mut negated, mut either, mut acts) = (false, false, false);
    let mut terms = Terms { named: false, all: true, pruned: false, from: 0, around: Vec::new() };
    while let Some((arg, tail)) = rest.split_first() {
        rest = tail;
        let text = arg.known().unwrap_or_default();
        let is_test = text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",");
        if !is_test {
            search.starts.push(arg);
            continue;
        }
        match text {
            "-H" | "-L" | "-P" => continue,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = end_of_command(tail);
                search.wide |= !terms.named;
                search.commands.push(tail.get(..end).unwrap_or_default());
                rest = tail.get(end + 1..).unwrap_or_default();
            }
            "-delete" | "-print" | "-print0" => {
                acts = true;
                search.deletes |= text == "-delete";
                search.wide |= !terms.named;
            }
            "(" => terms.open(negated.then_some(search.names.len())),
            ")" => {
                if let Some(from) = terms.close() {
                    search.names.truncate(from);
                }
            }
            "-prune" => terms.pruned = true,
            "!" | "-not" => {
                negated = true;
                continue;
            }
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" => {
                let value = tail.first();
                rest = tail.get(1..).unwrap_or_default();
                let limits = match value {
                    Some(value) if !negated => limits(text, value, &search.starts),
                    _ => Vec::new(),
                };
                terms.named |= !limits.is_empty();
                search.names.extend(limits);
            }
            "-empty" => search.empty = !negated && !either && search.is_plain(&terms),
            "-size" if tail.first().and_then(Arg::known) == Some("0") => {
                (rest, search.empty) =
                    (tail.get(1..).unwrap_or_default(), !negated && !either && search.is_plain(&terms));
            }
            "-o" | "-or" | "," => {
                terms.next(&mut search.names);
                search.empty = false;
                either = true;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                search.writes.extend(tail.first());
                rest = tail.get(if text == "-fprintf" { 2 } else { 1 }..).unwrap_or_default();
            }
            _ if takes_value(text) => rest = tail.get(1..).unwrap_or_default(),
            _ => {}
        }
        negated = false;
    }
    let acts = acts || !search.commands.is_empty();
    search.wide |= !acts && !terms.all_named();
    search
}

/// What a test of names or paths limits what is found to; nothing where that cannot be told.
fn limits(test: &str, value: &Arg, starts: &[&Arg]) -> Vec<Arg> {
    match (test, value.known()) {
        ("-name" | "-iname", _) => vec![value.clone()],
        ("-path" | "-ipath" | "-wholename", Some(path)) => {
            pattern::of_path(path, starts).map(|end| Arg::literal(&end)).into_iter().collect()
        }
        ("-regex" | "-iregex", Some(text)) => text
            .strip_prefix(".*")
            .map(|rest| pattern::of_regex(rest.trim_end_matches('$')))
            .unwrap_or_default()
            .iter()
            .map(|end| Arg::literal(&end.strip_prefix('/').map_or_else(|| format!("*{end}"), str::to_owned)))
            .collect(),
        _ => Vec::new(),
    }
}

/// `-xtype l -delete`: what goes are links that lead nowhere, and nothing else.
pub(super) fn only_broken_links(args: &[Arg]) -> bool {
    let words: Vec<&str> = args.iter().map(|arg| arg.known().unwrap_or_default()).collect();
    // What `test -e` does not find is a link that leads nowhere.
    if let [front @ .., "-delete"] = words.as_slice()
        && let [.., "-type", "l", "!" | "-not", "-exec", "test" | "[", "-e", "{}", ";"] = front
    {
        return true;
    }
    let plain = !words.iter().any(|word| matches!(*word, "-o" | "-or" | "!" | "-not" | "(" | ","));
    let at = words.windows(2).position(|pair| matches!(pair, ["-xtype", "l"]));
    let deletes = words.iter().position(|word| *word == "-delete");
    plain && at.zip(deletes).is_some_and(|(at, deletes)| at < deletes)
}

/// Where the command of an `-exec` ends.
fn end_of_command(words: &[Arg]) -> usize {
    let end = words.iter().position(|arg| arg.known() == Some(";")).unwrap_or(words.len());
    let plus = words.windows(2).position(|pair| {
        pair.first().and_then(Arg::known) == Some("{}") && pair.get(1).and_then(Arg::known) == Some("+")
    });
    plus.map_or(end, |plus| end.min(plus + 1))
}

/// Which alternatives of an expression are limited by a name.
#[derive(Debug)]
struct Terms {
    /// The alternative at hand is, so far.
    named: bool,
    /// Those before it in the same brackets are.
    all: bool,
    /// What it finds is not gone into.
    pruned: bool,
    /// How many names there were when it began.
    from: usize,
    /// By open bracket: the alternative around it, those before that one, and how many names there were if it is negated.
    around: Vec<(bool, bool, Option<usize>)>,
}

impl Terms {
    fn open(&mut self, negated: Option<usize>) {
        self.around.push((self.named, self.all, negated));
        self.all = true;
    }

    /// Closes a bracket; of a negated one the names limit nothing: how many stay.
    fn close(&mut self) -> Option<usize> {
        let named = self.all_named();
        let (before, all, negated) = self.around.pop()?;
        self.named = before || (named && negated.is_none());
        self.all = all;
        negated
    }

    /// The next alternative. Names that are not gone into limit nothing.
    fn next(&mut self, names: &mut Vec<Arg>) {
        if self.pruned {
            names.truncate(self.from);
        }
        self.all &= self.named || self.pruned;
        self.named = self.around.last().is_some_and(|(before, ..)| *before);
        self.pruned = false;
        self.from = names.len();
    }

    fn all_named(&self) -> bool {
        self.all && self.named
    }
}

fn takes_value(test: &str) -> bool {
    TESTS_WITH_VALUE.contains(&test)
}
