//! Commands that only print their help: whatever they are told besides, they do none of it.

use super::{Flag, Invocation};

words!("survey/help");

/// Subcommands that hand what stands behind them to another program.
const PASSED_ON: &[&str] = &["run", "exec", "x", "ssh", "shell"];

/// Most words in front of `--help`.
const WORDS: usize = 4;

/// Takes from each command that only prints its help what it is told besides. An option in front could swallow the `--help`, so that
/// there may be none.
pub(super) fn shorten(invocations: &mut [Invocation]) {
    for inv in invocations.iter_mut().filter(|inv| is_page(inv)) {
        inv.args = inv.args.pop().into_iter().collect();
        inv.flags = vec![Flag { name: "--help".to_owned(), value: None }];
        inv.sub = Vec::new();
        inv.operands = Vec::new();
    }
}

/// Whether nothing but words stands between a program that is helpful and `--help` (`-h`) as its last argument.
fn is_page(inv: &Invocation) -> bool {
    let Some((last, words)) = inv.args.split_last() else { return false };
    matches!(last.known(), Some("--help" | "-help" | "-h"))
        && (1..=WORDS).contains(&words.len())
        && HELPFUL.contains(&inv.program.as_str())
        && !inv.word.text().contains('/')
        && words.iter().all(|word| word.known().is_some_and(is_word))
}

/// Whether it can be part of a subcommand, and of one that does what it says itself.
pub(in crate::rules) fn is_word(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !PASSED_ON.contains(&word)
}

#[cfg(test)]
mod tests {
    use crate::domain::{Action, Facts, Policy, Tool, ToolCall};
    use crate::rules::survey;

    fn args_of(command: &str) -> Vec<String> {
        let action = Action::Shell { command: command.to_owned(), workdir: None };
        let call = ToolCall { tool: Tool::Bash, action, id: None };
        let surveyed = survey(&call, "/p", &Facts::default(), &Policy::default());
        surveyed.invocations.iter().flat_map(|inv| inv.args.iter().map(|arg| arg.to_text())).collect()
    }

    #[test]
    fn help_is_all_that_is_left() {
        for command in ["kubectl delete ns --help", "az group delete -h", "terraform workspace delete -help"]
        {
            assert_eq!(args_of(command).len(), 1, "{command}");
        }
        for command in [
            "docker run img --help",
            "kubectl exec web reboot --help",
            "docker run -h name img",
            "kubectl delete ns prod --help=false",
            "gh auth token --help x",
            "rm -rf x --help",
            "./kubectl delete ns --help",
            "git push --force --help",
        ] {
            assert!(args_of(command).len() > 1, "{command}");
        }
    }
}
