//! Tools of servers that are not ours to know: judged by the words of their names and by their arguments.

mod sends;
mod spoken;
pub(in crate::rules) mod unlisted;
mod verbs;

pub(super) use sends::holds_database_password;

use super::predicate;
use crate::domain::{Severity, Verdict};
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Told, Trigger};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.destroys",
        severity: Severity::Critical,
        reason: "has a tool delete something with all that is in it",
        instead: Some(Instead::Advice("list what would go, and let the person delete it")),
        when: &[predicate("tool_destroys", Trigger::TOOL, |scene| {
            by(scene, verbs::destroys, Verdict::Block)
        })],
        ..RULE
    },
    Rule {
        id: "tools.deletes",
        verdict: Verdict::Modify,
        reason: "has a tool delete something that it may not be able to bring back",
        instead: Some(Instead::Advice("list what would go, and let the person delete it")),
        when: &[predicate("tool_deletes", Trigger::TOOL, |scene| {
            by(scene, verbs::destroys, Verdict::Modify)
        })],
        ..RULE
    },
    Rule {
        id: "tools.loosens",
        reason: "has a tool switch off what protects or watches something",
        instead: Some(Instead::Advice(
            "say what the protection gets in the way of, and let the person decide",
        )),
        when: &[predicate("tool_switches_a_protection_off", Trigger::TOOL, |scene| {
            by(scene, verbs::loosens, Verdict::Block)
        })],
        ..RULE
    },
    Rule {
        id: "tools.stops",
        verdict: Verdict::Modify,
        reason: "has a tool stop, merge, revoke or lock out something",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("tool_stops_something", Trigger::TOOL, |scene| {
            by(scene, verbs::loosens, Verdict::Modify)
        })],
        ..RULE
    },
    Rule {
        id: "tools.opens",
        severity: Severity::Critical,
        reason: "has a tool give somebody access, or make something public",
        instead: Some(Instead::Advice("tell the person who is to have access to what, and let them give it")),
        when: &[
            predicate("tool_gives_access", Trigger::TOOL, |scene| by(scene, verbs::opens, Verdict::Block)),
            predicate("tool_opens_a_container", Trigger::TOOL, sends::container_opened),
        ],
        ..RULE
    },
    Rule {
        id: "tools.sets-secret",
        verdict: Verdict::Modify,
        reason: "has a tool set a secret, a webhook or a rule that forwards",
        instead: Some(Instead::Advice("tell the person what is to be set, and let them set it")),
        when: &[predicate("tool_sets_a_secret", Trigger::TOOL, |scene| {
            by(scene, verbs::opens, Verdict::Modify)
        })],
        ..RULE
    },
    Rule {
        id: "tools.pays-out",
        severity: Severity::Critical,
        reason: "has a tool send money to somebody",
        instead: Some(Instead::Advice("tell the person the sum and the recipient, and let them pay")),
        when: &[predicate("tool_sends_money", Trigger::TOOL, |scene| by(scene, verbs::pays, Verdict::Block))],
        ..RULE
    },
    Rule {
        id: "tools.pays",
        verdict: Verdict::Modify,
        reason: "has a tool give money back, or trade",
        instead: Some(Instead::Advice("tell the person the sum and the recipient, and let them pay")),
        when: &[predicate("tool_moves_money", Trigger::TOOL, |scene| {
            by(scene, verbs::pays, Verdict::Modify)
        })],
        ..RULE
    },
    Rule {
        id: "tools.shows-secret",
        verdict: Verdict::Modify,
        reason: "has a tool show a secret to the model",
        instead: Some(Instead::Advice("use the program that the secret is for, which reads it itself")),
        when: &[predicate("tool_shows_a_secret", Trigger::TOOL, |scene| when(scene, verbs::shows_secret))],
        ..RULE
    },
    Rule {
        id: "tools.command",
        reason: "stands for a command that would be blocked in a shell",
        instead: Some(Instead::Advice("run the command in the shell, where it can be read")),
        when: &[predicate("tool_stands_for_a_blocked_command", Trigger::TOOL, |scene| {
            stands_for(scene, Verdict::Block)
        })],
        ..RULE
    },
    Rule {
        id: "tools.command-asked",
        verdict: Verdict::Modify,
        reason: "stands for a command that would be asked about in a shell",
        instead: Some(Instead::Advice("run the command in the shell, where it can be read")),
        when: &[predicate("tool_stands_for_an_asked_command", Trigger::TOOL, |scene| {
            stands_for(scene, Verdict::Modify)
        })],
        ..RULE
    },
    Rule {
        id: "tools.secret-sent",
        severity: Severity::Critical,
        reason: "has a tool send a private key, a token or a file of secrets",
        instead: Some(Instead::Advice(
            "leave the secret out, and let the person bring it where it is needed",
        )),
        when: &[
            predicate("tool_sends_a_secret", Trigger::TOOL, sends::secret_sent),
            predicate("tool_robs_a_page", Trigger::TOOL, sends::page_robbed),
        ],
        ..RULE
    },
    Rule {
        id: "tools.file-address",
        verdict: Verdict::Modify,
        reason: "opens a file outside the project by an address",
        instead: Some(Instead::Advice(
            "read the file with the tool for that, so that the person sees which it is",
        )),
        when: &[predicate("file_behind_an_address", Trigger::TOOL, sends::file_fetched)],
        ..RULE
    },
    Rule {
        id: "tools.file-secret",
        severity: Severity::Critical,
        reason: "opens a file of secrets, or asks a private network's service for what it keeps secret, by an address, or has an address speak to a service in its own protocol",
        instead: Some(Instead::Advice("say what is needed of the file, and let the person look it up")),
        when: &[
            predicate("secret_behind_an_address", Trigger::TOOL, sends::secret_fetched),
            predicate("private_service_asked_for_secrets", Trigger::TOOL, sends::private_secret),
        ],
        ..RULE
    },
    Rule {
        id: "tools.device-read",
        severity: Severity::Critical,
        reason: "reads a whole disk, or the machine's memory, past its files",
        instead: Some(Instead::Advice("read the file that is meant by its path")),
        when: &[predicate("device_read", Trigger::TOOL, sends::device_read)],
        ..RULE
    },
    Rule {
        id: "tools.private-address",
        verdict: Verdict::Modify,
        reason: "asks a machine of a private network, or a service of this one that is no page",
        instead: Some(Instead::Advice("ask a server of this machine at localhost, or have the person look")),
        when: &[predicate("private_address_fetched", Trigger::TOOL, sends::private_address)],
        ..RULE
    },
    Rule {
        id: "tools.named-secret",
        verdict: Verdict::Modify,
        reason: "reads, or looks all over the machine for, files that by their names hold secrets",
        instead: Some(Instead::Advice("say what is needed of the file, and let the person look it up")),
        when: &[predicate("file_named_like_a_secret", Trigger::TOOL, sends::named_secret)],
        ..RULE
    },
];

/// Whether an address holds a secret, a password within another address, or settings that a part of it is base64 of.
pub(super) fn holds_settings(address: &str) -> bool {
    sends::holds_secret(address) || sends::carries_settings(address)
}

/// A tool of which `judge` says exactly `verdict`.
fn by<'a>(scene: &Scene<'a>, judge: fn(&Told<'_>) -> Verdict, verdict: Verdict) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if judge(told) == verdict { Found::yes(told.text) } else { Found::No }
}

fn when<'a>(scene: &Scene<'a>, test: fn(&Told<'_>) -> bool) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if test(told) { Found::yes(told.text) } else { Found::No }
}

/// A tool that stands for a command line of which the rules say exactly `verdict`.
fn stands_for<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let Some(told) = scene.told() else { return Found::No };
    if spoken::verdict(told, scene) == verdict { Found::yes(told.text) } else { Found::No }
}
