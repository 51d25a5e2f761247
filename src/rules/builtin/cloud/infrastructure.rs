//! Infrastructure as code, and its state.

use super::{TERRAFORM, stacks, told_beforehand};
use crate::rules::Invocation;
use crate::rules::builtin::standing;
use crate::rules::matcher::{Found, Scene, runs};
use crate::shell::Arg;

words!("builtin/cloud/infrastructure");

/// All that was built is destroyed, and nothing says that it is for tests.
fn destroyed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let all = scene.invocations();
    let test = |inv: &Invocation| {
        let line = scene.command_line();
        let space = line.split_whitespace().find_map(|word| word.strip_prefix("TF_WORKSPACE="));
        standing::names_scratch(inv) || space.is_some_and(standing::is_own)
    };
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    // `terraform plan -destroy -out=x && terraform apply x`
    let planned = || {
        let plan = words.iter().rfind(|word| !word.starts_with('-')).copied().unwrap_or_default();
        all.iter().filter(|other| other.program == inv.program).any(|other| {
            let told: Vec<&str> = other.args.iter().filter_map(Arg::known).collect();
            told.iter().any(|word| matches!(*word, "-destroy" | "--destroy"))
                && told.iter().any(|word| {
                    word.strip_prefix("--out=").or_else(|| word.strip_prefix("-out=")).unwrap_or(word) == plan
                })
        })
    };
    let help = words.iter().any(|word| matches!(*word, "-help" | "--help" | "-h"));
    let destroys = matches!(verb, "destroy" | "down")
        || verb == "apply"
            && (words.contains(&"-destroy")
                || words.contains(&"--destroy")
                || told_beforehand(scene, "-destroy")
                || planned());
    destroys && !help && !test(inv)
}

/// All that a state knows is forgotten.
fn forgotten<'a>(scene: &Scene<'a>) -> Found<'a> {
    let words = |inv: &Invocation| -> Vec<String> { inv.args.iter().take(2).map(Arg::to_text).collect() };
    let all = scene.invocations();
    let found = all.iter().enumerate().find(|(index, inv)| {
        runs(inv, TERRAFORM)
            && words(inv) == ["state", "rm"]
            && all.iter().any(|other| {
                let comes =
                    other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage;
                comes && runs(other, TERRAFORM) && words(other) == ["state", "list"]
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}
