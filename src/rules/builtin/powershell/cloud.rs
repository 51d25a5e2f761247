//! Commands of the modules of providers, by what their verbs mean: `Verb-ProviderThing`.

use crate::domain::Verdict;

words!("builtin/powershell/cloud");

/// What a command of a provider's module deserves; `name` and `rest` in small letters.
pub(super) fn told(name: &str, rest: &str) -> Verdict {
    let Some((verb, noun)) = name.split_once('-') else { return Verdict::Allow };
    let is_about = |list: &[&str]| list.iter().any(|thing| noun.contains(thing));
    let hosted = MODULES.iter().any(|module| noun.starts_with(module));
    let says = |words: &[&str]| words.iter().any(|word| rest.contains(word));
    let asked = if hosted {
        TAKING.contains(&verb)
            || GIVING.contains(&verb) && is_about(ADMITTING)
            || verb == "get"
                && is_about(SECRET)
                && (says(&["-asplaintext", "-withdecryption"]) || is_about(SHOWN))
            || RUNNING.contains(&verb) && is_about(&["command"])
            || CHANGING.contains(&verb)
                && says(&["-state disabled", "-state \"disabled", "-state 'disabled", "-pricingtier free"])
    } else {
        GIVING.contains(&verb)
            && is_about(FORWARDING)
            && says(&["forward", "redirect", "accessrights", "-user "])
    };
    if asked && !says(&["-whatif"]) { Verdict::Modify } else { Verdict::Allow }
}
