//! Ways other than a pipeline by which what a command prints becomes the commands of a shell: named pipes, co-processes and
//! other descriptors, `>(sh)`; and texts that builtins expand once more.

use super::call::Call;
use super::output;
use super::paths;
use super::reading::Inner;
use super::scope::Scope;
use super::{Invocation, Stdin, Surveyor};
use crate::domain::Target;
use crate::rules::matcher::runs_shell;
use crate::shell::{Arg, Part, RedirectKind, Simple, Word};

/// Most named pipes that are followed.
const MAX_PIPES: usize = 16;

/// A named pipe that the call makes.
pub(super) struct Fifo {
    path: String,
    /// The shell that reads its commands from it.
    reader: Option<Call>,
}

impl Surveyor<'_> {
    /// `mkfifo PATH…`.
    pub(super) fn make_fifos(&mut self, call: &Call, operands: &[Arg]) {
        for arg in operands {
            if let (Target::Path { path, glob: false, .. }, true) =
                (paths::target(arg, call.cwd.as_deref(), false), self.fifos.len() < MAX_PIPES)
            {
                self.fifos.push(Fifo { path, reader: None });
            }
        }
    }

    /// A shell takes its commands from this file.
    pub(super) fn reads_commands(&mut self, call: &Call, path: &str) {
        if let Some(fifo) = self.fifos.iter_mut().find(|fifo| fifo.path == path) {
            fifo.reader = Some(call.clone());
        }
    }

    /// Something is written to this file; it is run where a shell waits for it.
    pub(super) fn comes_through(&mut self, path: &str, text: Option<&Arg>) {
        let fifo = self.fifos.iter().find(|fifo| fifo.path == path);
        let Some(reader) = fifo.and_then(|fifo| fifo.reader.clone()) else { return };
        self.given(&reader, text);
    }

    fn given(&mut self, reader: &Call, text: Option<&Arg>) {
        match text {
            Some(text) => {
                let mut inner = reader.clone();
                inner.input = None;
                self.nested(&inner, "sh", text);
            }
            None => self.unknown_code(reader),
        }
    }

    /// What a command prints, where that goes to a shell by another way than a pipeline.
    pub(super) fn descriptors(
        &mut self,
        call: &Call,
        (simple, inner): (&Simple, &[Inner]),
        scope: &Scope,
        printed: Option<&Arg>,
    ) {
        let to_shell = simple.redirects.iter().any(|redirect| {
            let output = redirect.fd.is_none_or(|fd| fd == 1);
            match redirect.kind {
                // `>&$FD` may be a file as well.
                RedirectKind::Duplicate | RedirectKind::Write | RedirectKind::Append => {
                    self.leads_to_shell(call, &redirect.target, inner)
                        || output
                            && is_other(&redirect.target)
                            && self.out.invocations.iter().any(|inv| waits(inv, call))
                }
                RedirectKind::Read
                | RedirectKind::ReadWrite
                | RedirectKind::Heredoc
                | RedirectKind::HereString => false,
            }
        });
        let tees = || {
            call.words.first().and_then(Arg::known) == Some("tee")
                && (simple.words.iter().any(|word| self.leads_to_shell(call, word, inner))
                    || call.args().iter().any(|arg| self.names_shell(scope, arg, call)))
        };
        if to_shell || tees() || self.prints_to_shell(scope, call) {
            self.given(call, printed);
        }
    }

    /// `>(sh)`.
    fn leads_to_shell(&self, call: &Call, word: &Word, inner: &[Inner]) -> bool {
        let [Part::Process { subshell }] = word.parts.as_slice() else { return false };
        let mut inside = inner.iter().filter(|inner| inner.subshell == *subshell);
        inside.any(|inner| {
            let invocations = self.out.invocations.get(inner.invocations.clone()).unwrap_or_default();
            invocations.iter().any(|inv| waits(inv, call))
        })
    }

    /// `cat PROGRAM > FILE` copies it.
    pub(super) fn copied_by_cat(&mut self, call: &Call, to: &str) {
        let ("cat", [source]) = (call.words.first().and_then(Arg::known).unwrap_or_default(), call.args())
        else {
            return;
        };
        if let (Target::Path { path, glob: false, .. }, true) =
            (paths::target(source, call.cwd.as_deref(), false), self.copies.len() < 64)
        {
            self.copies.push((to.to_owned(), path));
        }
    }

    /// Code that runs what comes in (`os.system(sys.stdin.read())`).
    pub(super) fn runs_what_comes_in(&mut self, call: &Call, code: &Arg) {
        const RUNS: &[&str] = &["system", "exec", "eval", "popen", "subprocess", "spawn"];
        let text = code.text();
        let reads =
            ["stdin", "STDIN", "input()", "readline", "gets", "<>"].iter().any(|way| text.contains(way));
        if reads && RUNS.iter().any(|way| text.contains(way)) {
            self.input_commands(call, "sh", false);
        }
    }
}

/// A shell that was given nothing to do yet, beside `call`: what comes in to both is that of the text around them.
pub(super) fn waits(inv: &Invocation, call: &Call) -> bool {
    let given = match inv.stdin {
        Stdin::Inherited => false,
        Stdin::Pipe => call.stdin != Stdin::Pipe,
        Stdin::File(_) | Stdin::Text(_) => inv.stdin != call.stdin,
    };
    runs_shell(inv) && inv.operands.is_empty() && !given && !inv.flags.iter().any(|flag| flag.name == "-c")
}

/// Another descriptor than those for output and errors: a number, or one that is computed.
fn is_other(target: &Word) -> bool {
    match target.parts.as_slice() {
        [Part::Text { text, .. }] => text.parse::<u32>().is_ok_and(|fd| fd > 2),
        parts => parts.iter().any(|part| matches!(part, Part::Variable { .. })),
    }
}

/// The fields of a line, as `read` tells them apart; the last of `most` takes the rest.
pub(super) fn fields(line: &Arg, separators: &str, most: usize) -> Vec<Arg> {
    let Some(mut rest) = line.known() else { return vec![line.clone()] };
    let is_cut = |c: char| separators.contains(c);
    let is_blank = |c: char| is_cut(c) && c.is_ascii_whitespace();
    let mut out = Vec::new();
    rest = rest.trim_matches(is_blank);
    while !rest.is_empty() {
        if out.len() + 1 == most {
            out.push(Arg::literal(rest));
            break;
        }
        let end = rest.find(is_cut).unwrap_or(rest.len());
        let (field, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        out.push(Arg::literal(field));
        // Blanks around one separator that is none belong to it.
        let tail = tail.trim_start_matches(is_blank);
        let tail = if field.len() + tail.len() == rest.len() || tail.starts_with(is_cut) {
            tail.strip_prefix(is_cut).unwrap_or(tail)
        } else {
            tail
        };
        rest = tail.trim_start_matches(is_blank);
    }
    out
}

/// The words of a text as xargs takes them apart, where one of them has blanks in quotes.
pub(super) fn quoted_items(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => {
                any |= c.is_ascii_whitespace();
                word.push(c);
            }
            (None, '"' | '\'') => quote = Some(c),
            (None, '\\') => {
                let next = chars.next().unwrap_or_default();
                any |= next.is_ascii_whitespace();
                word.push(next);
            }
            (None, c) if c.is_ascii_whitespace() => words.push(std::mem::take(&mut word)),
            (None, c) => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    (any && quote.is_none()).then_some(words)
}

/// The text that a value is frozen to, in a list.
pub(super) fn texts(args: &[Arg]) -> Vec<String> {
    args.iter().map(|arg| output::freeze(arg).0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_line() {
        let split =
            |line: &str, separators: &str, most: usize| texts(&fields(&Arg::literal(line), separators, most));
        assert_eq!(split(" rm  -rf / ", " \t\n", 9), ["rm", "-rf", "/"]);
        assert_eq!(split("rm -rf /", " \t\n", 2), ["rm", "-rf /"]);
        assert_eq!(split("rm,-rf,,/", ",", 9), ["rm", "-rf", "", "/"]);
        assert_eq!(split("a , b", ", ", 9), ["a", "b"]);
        assert_eq!(split("", " ", 9), Vec::<String>::new());
    }
}
