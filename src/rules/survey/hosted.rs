//! Commands that stand in the arguments of programs made for something else: terminals, debuggers and editors with another language in
//! them, editors that hand their text to a shell.

use super::call::Call;
use super::effects::Act;
use super::paths;
use super::scope::Scope;
use super::scope::fresh_scope;
use super::walk::unknown;
use super::{Stdin, Surveyor};
use crate::domain::{Among, Target, last_name, single_quoted};
use crate::rules::builtin::scripts;
use crate::shell::Arg;

words!("survey/hosted");
static ANY: Among =
    Among::NONE.with(TERMINALS).with(HOSTS).with(EDITORS).with(&["ssh", "scp", "sftp", "sed", "gsed"]);
const BEHIND: &[&str] = &["-e", "-x", "--execute", "--command", "--", "-hold"];

const LANGUAGES: &[(&[&str], &str, &str)] = &[
    (&["python", "python3", "py", "py3", "pythonx", "pyx", "script"], "python3", "-c"),
    (&["perl", "perldo"], "perl", "-e"),
    (&["ruby", "rubydo"], "ruby", "-e"),
    (&["lua"], "lua", "-e"),
];

impl Surveyor<'_> {
    /// Surveys what such a program is told to run.
    pub(super) fn hosted(&mut self, call: &Call, name: &str, scope: &Scope) {
        if !ANY.may_have(name) {
            return;
        }
        if TERMINALS.contains(&name) {
            self.in_terminal(call, name, scope);
        }
        if HOSTS.contains(&name) {
            for arg in call.args() {
                let text = arg.text();
                let text = text.trim_start_matches([':', '+', ' ']);
                let (word, code) = text.split_once(' ').unwrap_or((text, ""));
                let language = LANGUAGES.iter().find(|(words, ..)| words.contains(&word) && !code.is_empty());
                if let Some((_, program, flag)) = language {
                    let words = [program, flag, code].map(Arg::literal).to_vec();
                    self.run(call.unfolded(name, words), &mut scope.clone());
                }
            }
        }
        if EDITORS.contains(&name) {
            self.edited(call, name);
        }
        if matches!(name, "ssh" | "scp" | "sftp") {
            self.configured(call, name);
        }
        if matches!(name, "sed" | "gsed") {
            let scripts: Vec<String> =
                call.args().iter().map(Arg::to_text).filter(|text| text.contains('w')).collect();
            let bare = |script: &String| script.strip_prefix("--expression=").map(str::to_owned);
            let scripts: Vec<String> =
                scripts.iter().map(|script| bare(script).unwrap_or_else(|| script.clone())).collect();
            for file in scripts.iter().flat_map(|script| scripts::sed_writes(script)) {
                self.file(call, Act::Create, &Arg::literal(&file), false);
            }
        }
    }

    /// The commands in a file of settings that the call itself has written.
    fn configured(&mut self, call: &Call, name: &str) {
        let at = call.args().iter().position(|arg| arg.known() == Some("-F"));
        let Some(file) = at.and_then(|at| call.args().get(at + 1)) else { return };
        let text = self.script_text(call, file).unwrap_or_default();
        for line in text.lines() {
            let words = ["exec ", "ProxyCommand ", "LocalCommand ", "KnownHostsCommand "];
            let found = words.iter().find_map(|word| line.split_once(word));
            if let Some((_, command)) = found {
                self.nested(call, name, &Arg::literal(command.trim().trim_matches('"')));
            }
        }
    }

    fn in_terminal(&mut self, call: &Call, name: &str, scope: &Scope) {
        let is_front = |arg: &Arg| arg.known().is_some_and(|text| BEHIND.contains(&text));
        let Some(at) = call.args().iter().position(is_front) else { return };
        match call.args().get(at + 1..).unwrap_or_default() {
            [] => {}
            [text] => self.nested(call, name, text),
            words => self.run(call.unfolded(name, words.to_vec()), &mut scope.clone()),
        }
    }

    fn edited(&mut self, call: &Call, name: &str) {
        let texts: Vec<String> =
            call.args().iter().map(Arg::to_text).chain(call.input.as_ref().map(Arg::to_text)).collect();
        let lines = || texts.iter().flat_map(|text| text.split(['\n', '|']));
        if let Some(program) = lines().find_map(fed_by) {
            self.fed(call, (name, program));
        }
        let saved = lines().filter_map(|line| {
            let line = line.trim_start_matches(['+', ':', '%', ' ']);
            let (word, file) = line.split_once(' ')?;
            matches!(word, "w" | "w!" | "W" | "write" | "write!" | "sav" | "sav!" | "saveas")
                .then(|| file.trim().to_owned())
        });
        let saved: Vec<String> = saved.filter(|file| !file.starts_with('!') && !file.contains(' ')).collect();
        let taken: Vec<String> = lines().filter_map(taken_in).collect();
        let saves = lines().map(bare).any(|line| SAVING.contains(&line));
        let own = call.args().last().filter(|file| saves && !file.prefix().starts_with(['-', '+']));
        for file in saved.iter().map(|file| Arg::literal(file)).chain(own.cloned()) {
            for command in taken.iter().filter(|_| file.known().is_some()) {
                let file = single_quoted(&self.at_home_of(file.clone()).text());
                self.nested(call, name, &Arg::literal(&format!("{command} > {file}")));
            }
        }
        for file in saved {
            let file = self.at_home_of(Arg::literal(&file));
            self.file(call, Act::Create, &file, false);
        }
        if let Some(text) = texts.iter().find(|text| text.contains("delete(")) {
            let named = text.split(['\'', '"']).skip(1).step_by(2).map(Arg::literal);
            let files = call
                .args()
                .iter()
                .filter(|arg| !arg.prefix().starts_with(['-', '+']) && !arg.text().contains('('));
            let front = ["rm", "-rf"].map(Arg::literal);
            let words = front.into_iter().chain(named).chain(files.cloned());
            let words: Vec<Arg> = words.map(|arg| self.at_home_of(arg)).collect();
            self.run(call.unfolded(name, words), &mut fresh_scope(&self.facts.places, call.cwd.clone()));
        }
    }

    /// A program that the editor gives its text, where it runs that.
    fn fed(&mut self, call: &Call, (name, program): (&str, &str)) {
        let taken = call.args().iter().any(|arg| arg.text().contains("/dev/stdin"));
        let text = match call.input.clone().filter(|_| taken) {
            Some(text) => Some(text),
            None => call.args().iter().rev().find_map(|file| self.listed_in(call, file)),
        };
        let is_shell = SHELLS.contains(&program);
        if let Some(text) = text {
            let mut inner = call.unfolded(name, vec![Arg::literal(program)]);
            inner.stdin = Stdin::Text(text.clone());
            inner.input = Some(text);
            self.run(inner, &mut fresh_scope(&self.facts.places, call.cwd.clone()));
        } else if is_shell {
            let words = vec![Arg::literal("eval"), unknown()];
            self.emit(&call.unfolded(name, words), "eval", None);
        }
    }

    /// An argument in which the editor itself expands `~`.
    fn at_home_of(&self, arg: Arg) -> Arg {
        match (arg.known().and_then(|text| text.strip_prefix('~')), &self.facts.places.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                Arg::literal(&format!("{home}{rest}"))
            }
            _ => arg,
        }
    }

    /// Code in a file that takes away what is named behind the file, or comes in: `script.py ~/x`.
    pub(super) fn script_text(&self, call: &Call, script: &Arg) -> Option<String> {
        let Target::Path { path, glob: false, .. } = paths::target(script, call.cwd.as_deref(), false) else {
            return None;
        };
        match self.written(&path) {
            Some(text) => Some(text.to_text()),
            None => self.facts.content(&path).flatten().map(str::to_owned),
        }
    }
}

/// A command of an editor without what may stand in front of it.
fn bare(line: &str) -> &str {
    line.trim().trim_start_matches(['+', ':', '%', ' ']).trim_end()
}

/// The command whose output an editor takes in: `r !command`, `0r !command`, `e !command`.
fn taken_in(line: &str) -> Option<String> {
    let (front, command) = line.split_once('!')?;
    let word = front.trim().trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    matches!(word, "r" | "re" | "read" | "e" | "E")
        .then(|| command.trim().to_owned())
        .filter(|c| !c.is_empty())
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];

/// `w !sh`, `%!sh`: the program that runs the text which is edited.
fn fed_by(line: &str) -> Option<&str> {
    let (front, command) = line.split_once('!')?;
    let front = front.trim_start_matches(['+', ':', ' ']).trim_end();
    let writes = matches!(front.rsplit([',', '$', '%', ' ']).next(), Some("w" | "write"));
    let is_range = |c: char| c.is_ascii_digit() || "%$.,;'<>+-".contains(c);
    // Lines that match are filtered: `g/x/.!sh`.
    let address = front.rsplit('/').next().filter(|_| front.starts_with(['g', '/'])).unwrap_or(front);
    let filters = !address.is_empty() && address.chars().all(is_range);
    let mut words = command.split_whitespace();
    let program = words.next().map(last_name).filter(|_| writes || filters)?;
    let alone = words.next().is_none_or(|word| word == "-");
    (SHELLS.contains(&program) || alone && INTERPRETERS.contains(&program)).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_given_to_a_shell() {
        let given =
            ["w !sh", ":%w !bash", "1,$w !sh -s", "write !sh", "+%!sh", "1,$!bash", ".!sh", "g/x/.!sh"];
        assert!(given.iter().all(|line| fed_by(line).is_some()));
        assert!(fed_by("%!python3 -").is_some());
        let other = ["w! x", "w !wc", "r !sh", "s/!/sh/", "!sh", "%!sort", "%!python3 -m json.tool", "q!"];
        assert!(!other.iter().any(|line| fed_by(line).is_some()));
    }
}
