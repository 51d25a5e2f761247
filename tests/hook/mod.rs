//! A hook's command line as its registration spells it: places are arguments, here those that the command's variables name.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::process::Command;

use lazaret::host::environment::PLACES;

/// Adds `hook CLIENT` and the places; the variables stay, as they would in a client.
pub fn hook<'a>(command: &'a mut Command, client: &str) -> &'a mut Command {
    let given = places(command);
    command.args(["hook", client]).args(given)
}

/// The arguments for the places that a command's variables name.
pub fn places(command: &Command) -> Vec<String> {
    let value = |name: &str| {
        let found = command.get_envs().find(|(known, _)| *known == name)?.1?;
        found.to_str().filter(|value| !value.is_empty()).map(str::to_owned)
    };
    let named = PLACES.iter().filter(|place| place.variable != "CLAUDE_PLUGIN_ROOT");
    named.filter_map(|place| Some([place.argument.to_owned(), value(place.variable)?])).flatten().collect()
}
