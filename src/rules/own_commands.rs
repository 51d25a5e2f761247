//! Which of lazaret's own commands an agent may run. One table, closed by default: what does not stand in it is for people.

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// An agent too: it only looks.
    Agents,
    /// An agent too, but for these options. `takes`: it is given something, so that a word that is not known may stand there.
    AgentsBut { options: &'static [&'static str], takes: bool },
    /// An agent only with this option, with which it changes nothing.
    AgentsWith(&'static str),
    /// A person at a terminal; `hook` is the client's.
    People,
}

/// Every command, by its name and that of its subcommand. A command of two words without its second one has a row of its own.
const COMMANDS: &[(&str, &str, Runs)] = &[
    ("agents", "", Runs::Agents),
    ("allow", "", Runs::People),
    // Into a file or to a plugin goes what is in part an agent's own words.
    ("audit", "export", Runs::AgentsBut { options: &["--output", "--plugin"], takes: false }),
    ("audit", "key", Runs::People),
    ("audit", "prune", Runs::AgentsWith("--dry-run")),
    ("audit", "show", Runs::Agents),
    ("audit", "tail", Runs::Agents),
    ("audit", "verify", Runs::Agents),
    ("check", "", Runs::Agents),
    ("checkpoint", "list", Runs::Agents),
    ("checkpoint", "show", Runs::Agents),
    ("completions", "", Runs::Agents),
    ("config", "accept", Runs::People),
    ("config", "check", Runs::Agents),
    ("config", "edit", Runs::People),
    ("config", "init", Runs::People),
    ("config", "path", Runs::Agents),
    ("config", "show", Runs::Agents),
    ("doctor", "", Runs::Agents),
    ("except", "", Runs::People),
    ("facts", "list", Runs::Agents),
    ("facts", "show", Runs::Agents),
    ("feedback", "", Runs::People),
    ("help", "", Runs::Agents),
    // A message that no client sent would stand in the log as if one had.
    ("hook", "", Runs::People),
    ("install", "", Runs::AgentsWith("--dry-run")),
    ("man", "", Runs::Agents),
    ("notify", "", Runs::People),
    ("ref", "create", Runs::Agents),
    ("ref", "verify", Runs::Agents),
    // It prints transcripts, those of quarantined agents among them.
    ("replay", "", Runs::People),
    ("resume", "", Runs::People),
    ("review", "end", Runs::AgentsBut { options: &["--all"], takes: true }),
    ("review", "list", Runs::Agents),
    ("review", "parse", Runs::Agents),
    ("review", "run", Runs::Agents),
    ("review", "show", Runs::Agents),
    ("review", "start", Runs::Agents),
    ("rollback", "", Runs::AgentsWith("--dry-run")),
    ("rules", "", Runs::Agents),
    ("rules", "list", Runs::Agents),
    ("rules", "show", Runs::Agents),
    ("rules", "test", Runs::Agents),
    ("run", "", Runs::People),
    ("stats", "", Runs::Agents),
    ("trust", "", Runs::Agents),
    ("trust", "allow", Runs::People),
    ("trust", "deny", Runs::People),
    ("trust", "show", Runs::Agents),
    ("uninstall", "", Runs::AgentsWith("--dry-run")),
];

/// Whether an agent may run lazaret with these words after its name; none = a word that is not known before it runs.
pub fn is_for_agents<'w>(words: impl Iterator<Item = Option<&'w str>> + Clone) -> bool {
    // What stands behind `--` belongs to another program.
    let words = words.take_while(|word| *word != Some("--"));
    if words.clone().any(|word| matches!(word, Some("--help" | "-h"))) {
        return true;
    }
    let mut rest = words.clone();
    let first = match rest.next() {
        None | Some(Some("--version" | "-V")) => return true,
        Some(None) => return false,
        Some(Some(first)) => first,
    };
    let mut rows = COMMANDS.iter().filter(|(name, _, _)| *name == first).peekable();
    let single = matches!(rows.peek(), Some((_, "", _))) && rows.clone().count() == 1;
    let second = if single {
        ""
    } else {
        match rest.find(|word| word.is_none_or(|word| !word.starts_with('-'))) {
            None => "",
            Some(None) => return false,
            Some(Some(second)) => second,
        }
    };
    let Some((_, _, runs)) = rows.find(|(_, name, _)| *name == second) else { return false };
    let has = |option: &str| {
        let is = |word: &str| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        words.clone().flatten().any(is)
    };
    match *runs {
        Runs::Agents => true,
        Runs::AgentsBut { options, takes } => {
            !options.iter().any(|option| has(option)) && (takes || words.clone().all(|word| word.is_some()))
        }
        Runs::AgentsWith(option) => has(option),
        Runs::People => false,
    }
}

/// The commands that the table names: with their second word, where they have one.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS.iter().map(|(first, second, _)| (*first, *second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(line: &str) -> bool {
        let words = line.split_ascii_whitespace().map(|word| Some(word).filter(|word| *word != "?"));
        is_for_agents(words)
    }

    #[test]
    fn agents_may_look() {
        for line in [
            "",
            "--help",
            "--version",
            "help uninstall",
            "check x --json",
            "check ?",
            "doctor",
            "audit show --since ?",
            "audit export --format csv",
            "audit prune --dry-run",
            "trust",
            "trust --json show",
            "rules --json",
            "rules show ?",
            "review end 3f2b8c1e",
            "review end ?",
            "review start src",
            "install claude-code --dry-run",
            "uninstall --help",
            "checkpoint list",
        ] {
            assert!(allowed(line), "{line}");
        }
    }

    #[test]
    fn everything_else_is_for_people() {
        for line in [
            "?",
            "audit ?",
            "audit",
            "audit prune",
            "audit prune --before 1d",
            "audit export --format csv --output=x",
            "audit export --format csv ?",
            "audit export --plugin x",
            "review end --all",
            "review ?",
            "review clear",
            "run -- sh -c id",
            "run -- sh -c id --help",
            "run -- x --dry-run",
            "uninstall -- --dry-run",
            "hook claude-code",
            "allow X --dry-run",
            "config edit",
            "config accept",
            "config init",
            "checkpoint prune",
            "checkpoint",
            "trust allow",
            "trust --json allow",
            "--color always check x",
            "feedback last fp",
            "resume s",
            "install",
            "rollback --last",
            "something new",
        ] {
            assert!(!allowed(line), "{line}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(names().is_sorted());
    }
}
