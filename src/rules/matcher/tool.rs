//! A tool pattern against the tool that is called.

use std::borrow::Cow;

use super::when::ToolCalled;
use super::{Found, Scene, contains_word, glob};
use crate::domain::{Action, ToolCall};

pub(super) fn find<'a>(pattern: &ToolCalled<'_>, scene: &Scene<'a>) -> Found<'a> {
    let call = scene.view.call;
    let name = call.tool.name();
    if !pattern.names.iter().any(|wanted| glob::segment(wanted, &name)) {
        return Found::No;
    }
    let input = input(call);
    let holds = |group: &&[&str]| group.iter().any(|word| input.iter().any(|text| contains_word(text, word)));
    if pattern.all.iter().all(holds) { Found::Yes(Cow::Owned(name.into_owned())) } else { Found::No }
}

/// The texts of a call's input.
fn input(call: &ToolCall) -> Vec<&str> {
    match &call.action {
        Action::Shell { command, .. } => vec![command],
        Action::Read { path } => vec![path],
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => vec![path, content],
        Action::Search { pattern, path, glob, .. } => {
            [Some(pattern), path.as_ref(), glob.as_ref()].into_iter().flatten().map(String::as_str).collect()
        }
        Action::Fetch { url, .. } => vec![url],
        Action::Spawn { prompt, .. } => vec![prompt],
        Action::Other { text, .. } => vec![text],
    }
}
