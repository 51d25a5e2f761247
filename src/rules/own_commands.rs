//! Which of lazaret's own commands an agent may run. One table, closed by default: what does not stand in it is for people.

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// An agent too: it only looks.
    Agents,
    /// An agent too, but for these options, and only where every word is known.
    AgentsBut,
    /// The same of what is given something, so that a word that is not known may stand there.
    AgentsButGiven,
    /// An agent only with such an option, with which it changes nothing.
    AgentsWith,
    /// A person at a terminal; `hook` is the client's.
    People,
}

words!("own_commands");

/// Whether these words only ask for help, or for the version.
pub fn only_asks<'w>(mut words: impl Iterator<Item = Option<&'w str>>) -> bool {
    matches!(words.next(), None | Some(Some("help" | "--version" | "-V")))
        || words.take_while(|word| *word != Some("--")).any(|word| matches!(word, Some("--help" | "-h")))
}

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
    let mut rows = COMMANDS.iter().filter(|(name, ..)| *name == first).peekable();
    let single = matches!(rows.peek(), Some((_, "", ..))) && rows.clone().count() == 1;
    let second = if single {
        ""
    } else {
        match rest.find(|word| word.is_none_or(|word| !word.starts_with('-'))) {
            None => "",
            Some(None) => return false,
            Some(Some(second)) => second,
        }
    };
    let Some((_, _, runs, options)) = rows.find(|(_, name, ..)| *name == second) else { return false };
    let has = |option: &str| {
        let is = |word: &str| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        words.clone().flatten().any(is)
    };
    let one_of_them = || options.iter().any(|option| has(option));
    match runs {
        Runs::Agents => true,
        Runs::AgentsBut => !one_of_them() && words.clone().all(|word| word.is_some()),
        Runs::AgentsButGiven => !one_of_them(),
        Runs::AgentsWith => one_of_them(),
        Runs::People => false,
    }
}

/// The commands that the table names: with their second word, where they have one.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS.iter().map(|(first, second, ..)| (*first, *second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(names().is_sorted());
    }
}
