//! Infrastructure as code, and its state.

use super::{TERRAFORM, stacks, told_beforehand};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{predicate, standing, sub};
use crate::rules::matcher::{
    At, Command, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, runs,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.terraform-destroy",
        severity: Severity::Critical,
        reason: "destroys infrastructure, or changes what others live by, without anybody looking at the plan",
        instead: Some(Instead::Command("terraform plan -destroy")),
        when: &[
            When::Command(Command {
                flags: &[&["-auto-approve", "--auto-approve", "--terragrunt-non-interactive"]],
                ..sub(TERRAFORM, &["destroy", "run-all destroy"])
            }),
            When::Command(Command {
                flags: &[&["-destroy", "--destroy"], &["-auto-approve", "--auto-approve"]],
                ..sub(TERRAFORM, &["apply"])
            }),
            When::Command(Command {
                flags: &[&["-y", "--yes", "-f", "--skip-preview"]],
                without: &["--preview-only"],
                ..sub(&["pulumi"], &["destroy", "down", "stack rm"])
            }),
            When::Command(Command { flags: &[&["--force", "-f"]], ..sub(&["cdk", "aws-cdk"], &["destroy"]) }),
            predicate("infrastructure_destroyed", Trigger::programs(stacks::APPLIERS), destroyed),
            predicate("infrastructure_forgotten", Trigger::programs(TERRAFORM), forgotten),
            predicate(
                "live_infrastructure_changed_unasked",
                Trigger::programs(stacks::APPLIERS),
                stacks::applied_live,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "cloud.terraform-ask",
        verdict: Verdict::Modify,
        reason: "changes or forgets infrastructure",
        instead: Some(Instead::Command("terraform plan")),
        when: &[
            When::Command(Command {
                without: &["-auto-approve", "--auto-approve"],
                ..sub(TERRAFORM, &["destroy"])
            }),
            When::Command(Command {
                flags: &[&["-auto-approve", "--auto-approve"]],
                without: &["-destroy"],
                ..sub(TERRAFORM, &["apply"])
            }),
            When::Command(sub(
                TERRAFORM,
                &["state rm", "state push", "force-unlock", "workspace delete", "taint"],
            )),
            When::Command(Command {
                without: &["-y", "--yes", "--preview-only"],
                ..sub(&["pulumi"], &["destroy"])
            }),
            predicate("applied_unasked", Trigger::programs(stacks::APPLIERS), stacks::applied),
        ],
        ..RULE
    },
    Rule {
        id: "cloud.state-deleted",
        reason: "deletes or overwrites the file in which it is kept what infrastructure was built",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Effect(OnEffect {
                kinds: &[EffectKind::FileDeletion],
                at: &[At::Name("terraform.tfstate"), At::Name("terraform.tfstate.d")],
                ..EFFECT
            }),
            predicate(
                "state_overwritten",
                Trigger::kinds(&[EffectKind::FileCreation, EffectKind::FileModification]),
                stacks::state_written,
            ),
        ],
        ..RULE
    },
];

/// All that was built is destroyed, and nothing says that it is for tests.
fn destroyed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let test = |inv: &Invocation| {
        let line = scene.command_line();
        let space = line.split_whitespace().find_map(|word| word.strip_prefix("TF_WORKSPACE="));
        standing::names_scratch(inv) || space.is_some_and(standing::is_own)
    };
    let found = scene.first(stacks::APPLIERS, |inv| {
        let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
        let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        // `terraform plan -destroy -out=x && terraform apply x`
        let planned = || {
            let plan = words.iter().rfind(|word| !word.starts_with('-')).copied().unwrap_or_default();
            all.iter().filter(|other| other.program == inv.program).any(|other| {
                let told: Vec<&str> = other.args.iter().filter_map(Arg::known).collect();
                told.iter().any(|word| matches!(*word, "-destroy" | "--destroy"))
                    && told.iter().any(|word| {
                        word.strip_prefix("--out=").or_else(|| word.strip_prefix("-out=")).unwrap_or(word)
                            == plan
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
