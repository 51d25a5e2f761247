//! Interpreters that are asked where they lie themselves.

use super::call::Call;

words!("survey/itself");

/// Calls of code that start another program, or print more than that one name.
const MORE: &[&str] = &["open(", "system", "subprocess", "glob", "listdir", "readdir", "environ"];

/// Whether a command is code that prints the path of the program that runs it.
pub(super) fn is_asked(call: &Call) -> bool {
    let Some(name) = call.words.first().and_then(|word| word.known()?.rsplit('/').next()) else {
        return false;
    };
    let Some((_, ways)) = SELVES.iter().find(|(program, _)| name.starts_with(program)) else { return false };
    let holds = |words: &[&str]| {
        call.args()
            .iter()
            .filter_map(|arg| arg.known())
            .any(|arg| words.iter().any(|word| arg.contains(word)))
    };
    holds(ways) && !holds(MORE)
}
