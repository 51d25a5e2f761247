//! Loops of the shell, found in the text: what one does again and again, and whether it ever stops or rests. Knows no rules.

words!("builtin/loops");

/// Most loops of one text that are looked at.
const MAX_LOOPS: usize = 16;

/// A loop without an end, or with so many turns that it makes no difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loop<'a> {
    pub body: &'a str,
    /// What stands behind its end.
    pub after: &'a str,
    /// How often it runs; none for one without an end.
    pub turns: Option<u64>,
}

/// The loops of a text that have no end or at least `least` turns.
pub(super) fn long(text: &str, least: u64) -> Vec<Loop<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    for _ in 0..MAX_LOOPS {
        let found =
            ["while ", "until ", "for ", "for(("].iter().filter_map(|word| starts_at(rest, word)).min();
        let Some(tail) = found.and_then(|at| rest.get(at..)) else { break };
        let Some((head, behind)) = split_do(tail) else { break };
        let (body, after) = own_done(behind);
        if is_endless(head) {
            out.push(Loop { body, after, turns: None });
        } else if let Some(turns) = turns(head).filter(|turns| *turns >= least) {
            out.push(Loop { body, after, turns: Some(turns) });
        }
        rest = behind;
    }
    out
}

/// Where a keyword stands as the first word of a command.
fn starts_at(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| begins_command(text.get(..*at).unwrap_or_default()))
}

/// Whether a command begins behind this.
fn begins_command(front: &str) -> bool {
    let front = front.trim_end_matches([' ', '\t']);
    front.chars().next_back().is_none_or(|c| ";&|({\n'\"`!".contains(c))
        || front
            .trim_end()
            .rsplit(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .is_some_and(|word| OPENERS.contains(&word))
}

/// What stands in front of the `do`, and behind it.
fn split_do(text: &str) -> Option<(&str, &str)> {
    let at = text.match_indices("do").map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|front| front.chars().next_back());
        let after = text.get(at + 2..).and_then(|tail| tail.chars().next());
        matches!(before, Some(' ' | ';' | '\n' | '\t' | ')'))
            && matches!(after, Some(' ' | ';' | '\n' | '\t' | '{' | '(') | None)
    })?;
    Some((text.get(..at)?, text.get(at + 2..)?))
}

/// A loop's body and what is behind its own `done`, past those of the loops in it.
fn own_done(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, _) in text.match_indices("do") {
        let front = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
        let tail = text.get(at + 2..).unwrap_or_default();
        let ends = |tail: &str| !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-./=".contains(c));
        if !front.is_empty() && !front.ends_with([';', '\n', '&', '}', ')']) && !closes(front) {
            continue;
        }
        if let Some(after) = tail.strip_prefix("ne").filter(|after| ends(after)) {
            depth -= 1;
            if depth == 0 {
                return (text.get(..at).unwrap_or_default(), after);
            }
        } else if ends(tail) {
            depth += 1;
        }
    }
    (text, "")
}

/// Whether a compound command ends here, behind which `done` needs no separator.
fn closes(front: &str) -> bool {
    let word = front.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    matches!(word, "fi" | "esac" | "done")
}

/// A text of the shell in which all that is quoted, a comment or a here-document's is made harmless, but for the commands in it.
pub(super) fn bare(text: &str) -> String {
    // What is open, innermost last: a quote, or the `)` of a substitution in one.
    let mut open: Vec<char> = Vec::new();
    let (mut escaped, mut comment, mut previous) = (false, false, '\n');
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let inside = open.last().copied();
        let mut shown = if matches!(inside, Some('\'' | '"')) { 'q' } else { c };
        match (inside, c) {
            _ if comment => {
                comment = c != '\n';
                shown = if comment { 'q' } else { c };
            }
            _ if escaped => {
                escaped = false;
                shown = if c == '\n' { ' ' } else { 'q' };
            }
            (Some('\''), '\'') | (Some('"'), '"') => {
                open.pop();
                shown = c;
            }
            (Some('\''), _) => {}
            (_, '\\') => {
                escaped = true;
                shown = if chars.peek() == Some(&'\n') { ' ' } else { 'q' };
            }
            (Some('"'), '$') if chars.peek() == Some(&'(') => {
                chars.next();
                open.push(')');
                out.push('$');
                shown = '(';
            }
            (Some('"'), _) => {}
            (_, '\'' | '"') => open.push(c),
            (Some(')'), '(') => open.push(')'),
            (Some(')'), ')') => {
                open.pop();
            }
            (_, '#') if previous.is_whitespace() || matches!(previous, ';' | '(' | '&' | '|') => {
                comment = true;
                shown = ' ';
            }
            _ => {}
        }
        out.push(shown);
        previous = c;
    }
    out
}

fn is_endless(head: &str) -> bool {
    let head: String = head.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
    matches!(
        head.as_str(),
        "whiletrue"
            | "while:"
            | "while1"
            | "while[1]"
            | "while[[1]]"
            | "while((1))"
            | "while[true]"
            | "untilfalse"
            | "while/bin/true"
            | "while!false"
            | "while[[true]]"
    ) || head.starts_with("for((") && !head.contains(['<', '>', '='])
}

/// How often a `for` loop runs: `in {1..N}`, `in $(seq N)`, `((i=0; i<N; i++))`.
fn turns(head: &str) -> Option<u64> {
    let braces = head.split_once("..").map(|(_, tail)| tail);
    let counted = head.split_once('<').filter(|_| head.contains("((")).map(|(_, tail)| tail);
    let number = |text: &str| {
        let digits: String =
            text.trim_start_matches([' ', '=']).chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let listed =
        head.split_once("seq ").map(|(_, tail)| tail.split([')', '`', ';']).next().unwrap_or_default());
    let last = |text: &str| text.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).max();
    braces.and_then(number).or_else(|| counted.and_then(number)).or_else(|| listed.and_then(last))
}

impl Loop<'_> {
    /// The commands of the body, with whether each is put into the background.
    pub fn commands(&self) -> Vec<(&str, bool)> {
        let mut out = Vec::new();
        let (mut start, mut quote, mut previous) = (0, None, ' ');
        let mut chars = self.body.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let joins = next == Some('&') || previous == '&' || previous == '>' || next == Some('>');
            let ends = match (quote, c) {
                (Some(open), c) => {
                    if open == c {
                        quote = None;
                    }
                    None
                }
                (None, '\'' | '"') => {
                    quote = Some(c);
                    None
                }
                (None, '&') if !joins => Some(true),
                (None, '&') if previous == '&' || next == Some('&') => Some(false),
                (None, ';' | '\n' | '|') => Some(false),
                (None, _) => None,
            };
            if let Some(background) = ends {
                let text = self.body.get(start..at).unwrap_or_default().trim();
                if !text.is_empty() {
                    out.push((text, background));
                } else if background && let Some(last) = out.last_mut() {
                    // `( … ) &`
                    last.1 = true;
                }
                start = at + c.len_utf8();
            }
            previous = c;
        }
        let text = self.body.get(start..).unwrap_or_default().trim();
        if !text.is_empty() {
            out.push((text, false));
        }
        out
    }

    /// Whether it waits or can end.
    pub fn rests(&self) -> bool {
        self.commands().iter().any(|(text, background)| {
            let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '{' | '!'));
            !background && words.any(|word| RESTS.contains(&word.trim_end_matches([')', '}'])))
        })
    }

    /// Whether it starts something in the background on every turn.
    pub fn spawns(&self) -> bool {
        self.commands().iter().any(|(_, background)| *background)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_without_an_end() {
        for (text, rests, spawns) in [
            ("while true; do sleep 1000 & done", false, true),
            ("while :; do date; sleep 5; done", true, false),
            ("while true; do :; done", false, false),
            ("until false; do echo x; done >> log", false, false),
            ("for ((;;)); do sleep 1h & done", false, true),
            ("while true; do curl -s x && break; done", true, false),
            ("while [ 1 ]; do a 2>&1; done", false, false),
            ("bash -c 'while :; do (sleep 1h &) ; done'", false, true),
            ("x; while true\ndo\n  read l\ndone", true, false),
        ] {
            let found = long(text, 1000);
            let first = found.first().expect(text);
            assert_eq!((first.rests(), first.spawns(), first.turns), (rests, spawns, None), "{text}");
        }
    }

    #[test]
    fn turns_are_counted() {
        for (text, turns) in [
            ("for i in {1..100000}; do touch $i; done", Some(100_000)),
            ("for i in $(seq 1 5000); do x & done", Some(5000)),
            ("for ((i=0; i<9999; i++)); do x; done", Some(9999)),
            ("for f in *.rs; do wc $f; done", None),
            ("for i in 1 2 3; do x & done", None),
            ("while read l; do echo $l; done", None),
            ("echo meanwhile true; do_it", None),
        ] {
            assert_eq!(long(text, 1000).first().and_then(|found| found.turns), turns, "{text}");
        }
    }
}
