//! Text that something hands to a shell: what the shell would run of it is what the shell's parser finds in it, whatever it begins with.

use crate::domain::{Action, Tool, ToolCall, Verdict, join, lies_in};
use crate::rules::Invocation;
use crate::rules::matcher::{Scene, has_flag, inner_survey, inner_verdict, is_interpreter, is_shell};
use crate::shell::{Problem, parse};

/// Longest text that is read.
const MAX_LENGTH: usize = 16 * 1024;

/// What the rules say of a text as a command; `Allow` where a shell would run nothing of it.
pub(in crate::rules::builtin) fn shell_verdict(scene: &Scene<'_>, text: &str, cwd: &str) -> Verdict {
    match run_part(text) {
        Some(text) => inner_verdict(scene, &shell(text.to_owned()), cwd),
        None => Verdict::Allow,
    }
}

/// A call of the shell.
pub(in crate::rules::builtin) fn shell(command: String) -> ToolCall {
    ToolCall { tool: Tool::Bash, action: Action::Shell { command, workdir: None }, id: None }
}

/// A command line that is handed text which nobody knows.
pub(in crate::rules::builtin) fn fed(command: &str) -> String {
    format!("git show | {{ {command}\n}}")
}

/// Whether a command line that is handed text which nobody knows would be let run.
pub(in crate::rules::builtin) fn may_be_fed(scene: &Scene<'_>, command: &str, cwd: &str) -> bool {
    inner_verdict(scene, &shell(fed(command)), cwd) < Verdict::Modify
        && has_known_programs(scene, command.to_owned(), cwd)
}

/// Whether each program that a command line starts is looked for by its name, or a file of the project whose text is known and
/// which the call leaves as it is.
pub(in crate::rules::builtin) fn has_known_programs(scene: &Scene<'_>, line: String, cwd: &str) -> bool {
    let view = &scene.view;
    inner_survey(scene, &shell(line), cwd, |survey| {
        let is_read = |inv: &Invocation, word: &str| {
            let path = join(inv.cwd.as_deref().unwrap_or(cwd), word);
            view.facts.content(&path).flatten().is_some()
                && view.facts.places.project.as_ref().is_some_and(|project| lies_in(&path, project))
                && view.survey.written.iter().all(|(other, _)| *other != path)
        };
        let known = |inv: &Invocation| {
            let Some(word) = inv.word.known().filter(|word| !word.is_empty()) else { return false };
            let named = !word.contains('/') || ["/bin/", "/usr/"].iter().any(|dir| word.starts_with(dir));
            let given = ["-c", "-e", "-m", "-p"].iter().any(|flag| has_flag(inv, flag));
            let runs_file = matches!(inv.program.as_str(), "." | "source")
                || (is_shell(&inv.program) || is_interpreter(&inv.program)) && !given;
            let script = inv.operands.first().filter(|_| runs_file);
            (named || is_read(inv, word))
                && script.is_none_or(|script| script.known().is_some_and(|word| is_read(inv, word)))
        };
        survey.problem.is_none() && survey.invocations.iter().all(known)
    })
}

/// The part of a text that a shell would run: all of it, or what stands in front of a line that it rejects. None for a text that is one
/// plain word, as most strings are, and for one in which there is no command.
pub(in crate::rules::builtin) fn run_part(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    if text.len() > MAX_LENGTH || trimmed.bytes().all(is_plain) && !ENDS_THE_MACHINE.contains(&trimmed) {
        return None;
    }
    let first = trimmed.split_whitespace().next().unwrap_or_default();
    let script = parse(text);
    match script.problem {
        None => (!script.commands.is_empty()).then_some(text),
        // A command with something wrong behind its name is judged with that.
        Some(_) if first.bytes().all(is_plain) => Some(text),
        // What is no command to begin with is text: "don't".
        Some(Problem::Syntax { at, .. }) => {
            let end = text.get(..at)?.rfind('\n')?;
            let before = text.get(..end)?;
            let script = parse(before);
            (script.problem.is_none() && !script.commands.is_empty()).then_some(before)
        }
        Some(Problem::Bound(_)) => Some(text),
    }
}

/// Commands of one word after which the machine is off.
const ENDS_THE_MACHINE: &[&str] = &["reboot", "poweroff", "halt", "shutdown", "killall5"];

/// What a word is made of that means nothing more to a shell.
fn is_plain(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_it_is_given() {
        for text in [
            "rm -rf x",
            "{ rm -rf x; }",
            "! rm -rf x",
            "2>&1 rm -rf x",
            "</dev/null rm -rf x",
            "# a\nrm -rf x",
            "rm${IFS}-rf${IFS}x",
            "{rm,-rf,x}",
            "'rm' -rf x",
            "[ -d x ] && rm -rf x",
            "reboot",
            "echo 'open",
        ] {
            assert_eq!(run_part(text), Some(text), "{text}");
        }
        assert_eq!(run_part("{ rm -rf x\n}\n)"), Some("{ rm -rf x\n}"));
        for text in ["", "word", "a/b.c", "# a title", "don't (do) this", "'open"] {
            assert_eq!(run_part(text), None, "{text}");
        }
    }
}
