//! Text that something hands to a shell: what the shell would run of it is what the shell's parser finds in it, whatever it begins with.

use crate::domain::{Action, Tool, ToolCall, Verdict};
use crate::rules::matcher::{Scene, inner_verdict};
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
