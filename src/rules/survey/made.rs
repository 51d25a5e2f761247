//! Programs that a call makes of another one: a compiler of a source that starts it, make by a rule that copies it.

use super::Surveyor;
use super::call::Call;
use super::program::is_program_dir;
use super::scope::Scope;
use super::unfold::is_program;
use crate::domain::last_name;
use crate::rules::builtin::{recipes, scripts};
use crate::rules::facts::MAKEFILES;
use crate::rules::facts::words::MAKES;
use crate::shell::Arg;

words!("survey/made");

/// How a source starts another program in its own place or beside it.
const STARTS: &[&str] = &["execv", "execl", "execp", "posix_spawn", "Command::new"];
/// How a source hands on what it was given.
const HANDS_ON: &[&str] = &["argv", "char**", "char **", "char *", "env::args"];

/// Programs that copy or link a file.
const COPIERS: &[&str] = &["cp", "ln", "install", "mv"];

impl Surveyor<'_> {
    /// Notes what a compiler or make does beside what its words say, with files that the call itself has made.
    pub(super) fn made_by(&mut self, call: &Call, name: &str, scope: &Scope) {
        if MAKES.contains(&name) {
            self.copied_by_rule(call, name);
        } else if COMPILERS.contains(&name) {
            self.sought_by_variables(call, name, scope);
            self.compiled(call, name);
        }
    }

    /// `gcc w.c -o w`, where the source starts a program with what it was given: it is as good as a copy of that.
    fn compiled(&mut self, call: &Call, name: &str) {
        let args = call.args();
        let given = args.iter().filter_map(|arg| self.listed_in(call, arg));
        let comes_in = call.input.clone().filter(|_| args.iter().any(|arg| arg.known() == Some("-")));
        let sources: Vec<String> = given.chain(comes_in).map(|text| text.to_text()).collect();
        let hands_on = |text: &&String| {
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            has(STARTS) && has(HANDS_ON)
        };
        let named: Vec<String> =
            sources.iter().filter(hands_on).flat_map(|text| scripts::strings(text)).collect();
        let program = named.iter().map(|name| last_name(name));
        let Some(program) = program.filter(|name| !name.is_empty()).find(|name| is_program(name)) else {
            return;
        };
        let behind = args.iter().position(|arg| arg.known() == Some("-o")).and_then(|at| args.get(at + 1));
        let attached =
            args.iter().filter_map(|arg| arg.known()?.strip_prefix("-o")).find(|name| !name.is_empty());
        let output = behind.cloned().or(attached.map(Arg::literal)).unwrap_or_else(|| Arg::literal("a.out"));
        let words = vec![Arg::literal("cp"), Arg::literal(&format!("/bin/{program}")), output];
        self.run(
            call.unfolded(name, words),
            &mut super::scope::fresh_scope(&self.facts.places, call.cwd.clone()),
        );
    }

    /// A rule of make by which a program of the system is copied: `x: /bin/rm` and `cp $< $@`.
    fn copied_by_rule(&mut self, call: &Call, name: &str) {
        let args = call.args();
        let named = args.iter().position(|arg| matches!(arg.known(), Some("-f" | "--file" | "--makefile")));
        let named = named.and_then(|at| args.get(at + 1));
        let text = match named {
            Some(file) if file.known() == Some("-") => call.input.clone(),
            Some(file) => self.listed_in(call, file),
            None => MAKEFILES.iter().find_map(|file| self.listed_in(call, &Arg::literal(file))),
        };
        let Some(text) = text.map(|text| text.to_text()).filter(|text| text.contains("bin/")) else { return };
        for command in recipes::of_targets(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let copies = words.first().is_some_and(|first| COPIERS.contains(first));
            let of_system = |word: &&str| word.rsplit_once('/').is_some_and(|(dir, _)| is_program_dir(dir));
            if copies && words.iter().skip(1).any(of_system) {
                self.nested(call, name, &Arg::literal(&command));
            }
        }
    }
}
