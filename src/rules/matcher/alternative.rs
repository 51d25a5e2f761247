//! What a reason names in the place of the call: a command is made of the call's own operands, and told only where it is let through.

use super::{Instead, NONE, Says, Scene, View, inner_survey, inner_verdict};
use crate::domain::{Action, Severity, Target, Tool, ToolCall, Verdict, join};
use crate::rules::{Invocation, Survey};

/// Longest word of the call that is told again, in bytes.
const WORD: usize = 120;

/// The text of a rule's alternative to this call.
pub(super) fn alternative(says: &Says<'_>, matched: &str, scene: &Scene<'_>) -> Option<String> {
    let (template, built_in) = match says.instead? {
        Instead::Advice(text) => return Some(text.to_owned()),
        Instead::Command(template) => (template, says.built_in),
    };
    let told = filled(template, matched, scene)
        .filter(|told| !built_in || is_of_call(told, template, scene) && passes(told, scene));
    Some(told.unwrap_or_else(|| NONE.to_owned()))
}

/// The template with the call's operands in the places of `{1}`, `{2}`, `{last}`, `{all}` and `{file}`; none where one of them
/// is not known.
fn filled(template: &str, matched: &str, scene: &Scene<'_>) -> Option<String> {
    if !template.contains('{') {
        return Some(template.to_owned());
    }
    let program = template.split(' ').next().unwrap_or_default();
    let all = scene.invocations();
    let own = |inv: &&Invocation| inv.program == program;
    let that = |inv: &&Invocation| inv.text == matched;
    let inv = all.iter().find(|inv| own(inv) && that(inv)).or_else(|| all.iter().find(that));
    let inv = inv.or_else(|| all.iter().find(own));
    let words: Option<Vec<String>> = template
        .split(' ')
        .map(|word| if word.starts_with('{') { operand(word, inv, scene) } else { Some(word.to_owned()) })
        .collect();
    let words: Vec<String> = words?.into_iter().filter(|word| !word.is_empty()).collect();
    Some(words.join(" "))
}

/// What stands for one placeholder.
fn operand(name: &str, inv: Option<&Invocation>, scene: &Scene<'_>) -> Option<String> {
    let operands = inv.map_or(&[][..], |inv| inv.operands.as_slice());
    let cwd = inv.and_then(|inv| inv.cwd.as_deref());
    // A word that is read in another directory would be another file's name in this one.
    let here = |text: &&str| cwd == Some(scene.view.cwd) || text.starts_with('/') || text.contains("://");
    let known = |at: usize| operands.get(at).and_then(|arg| arg.known()).filter(here).and_then(word);
    match name {
        "{1}" => known(0),
        "{2}" => known(1),
        "{last}" => known(operands.len().checked_sub(1)?),
        "{all}" => {
            let words: Option<Vec<String>> = (0..operands.len()).map(known).collect();
            words.map(|words| words.join(" "))
        }
        "{file}" => match &scene.view.call.action {
            Action::Read { path } | Action::Write { path, .. } | Action::Edit { path, .. } => word(path),
            Action::Shell { .. }
            | Action::Search { .. }
            | Action::Fetch { .. }
            | Action::Spawn { .. }
            | Action::Other { .. } => {
                let is_file = |text: &&str| here(text) && names_file(&join(scene.view.cwd, text), scene);
                operands.iter().rev().filter_map(|arg| arg.known()).find(is_file).and_then(word)
            }
        },
        _ => None,
    }
}

/// Whether the call does something to the file of that name, where work is expected.
fn names_file(path: &str, scene: &Scene<'_>) -> bool {
    let View { policy, facts, survey, .. } = scene.view;
    policy.expects(path, &facts.places)
        && survey.effects.iter().any(|effect| match &effect.target {
            Target::Path { path: known, glob: false, .. } => known == path,
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => false,
        })
}

/// A word of the call as it can stand in a command again.
fn word(text: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+=,~^".contains(&byte);
    if text.is_empty() || text.len() > WORD || text.starts_with('-') || text.contains(['\'', '\n']) {
        None
    } else if text.bytes().all(plain) {
        Some(text.to_owned())
    } else {
        Some(format!("'{text}'"))
    }
}

/// Whether a command is one of the call's own: of a program that it runs, or about a file that it names.
fn is_of_call(told: &str, template: &str, scene: &Scene<'_>) -> bool {
    let program = told.split(' ').next().unwrap_or_default();
    template.contains("{file}")
        || scene
            .invocations()
            .iter()
            .any(|inv| inv.program == program || inv.wrappers.iter().any(|wrapper| wrapper == program))
}

/// Whether lazaret lets it through without a word.
fn passes(told: &str, scene: &Scene<'_>) -> bool {
    let action = Action::Shell { command: told.to_owned(), workdir: None };
    let call = ToolCall { tool: Tool::Bash, action, id: None };
    let cwd = scene.view.cwd;
    let mild = |survey: &Survey| survey.effects.iter().all(|effect| effect.severity < Severity::Critical);
    inner_verdict(scene, &call, cwd) == Verdict::Allow && inner_survey(scene, &call, cwd, mild)
}
