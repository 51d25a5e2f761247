//! Mail: what is sent to people, and what is kept for them.

use super::operations;
use super::predicate;
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::facts::operations::LOSES_MAIL;
use crate::rules::matcher::{
    Code, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, has_sub, input_of,
};
use crate::shell::Arg;

words!("builtin/mail");

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "mail.sent-to-many",
        verdict: Verdict::Modify,
        reason: "sends a message to many people, or to whom it is not known before it runs",
        instead: Some(Instead::Advice("write the message to a file, and let the person send it")),
        when: &[
            predicate("message_sent_to_many", Trigger::programs(MAILERS), |scene| sent(scene, true)),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[".sendmail(", "sendMail("],
                    &["range(1000", "range(10000", "range(10**", "while True", "while(true)", "while (true)"],
                ],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "mail.sent",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "sends a message to somebody in a person's name",
        instead: Some(Instead::Advice("write the message to a file, and let the person send it")),
        when: &[
            predicate("message_sent", Trigger::programs(MAILERS), |scene| sent(scene, false)),
            predicate("message_sent_by_service", Trigger::URL, by_service),
        ],
        ..RULE
    },
    Rule {
        id: "mail.patches-sent",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "sends patches to a list or to maintainers in a person's name",
        instead: Some(Instead::Command("git send-email --dry-run {all}")),
        when: &[predicate("patches_sent", Trigger::kinds(&[EffectKind::NetworkRequest]), |scene| {
            let found = scene.first(&["git"], |inv| {
                let looks = ["--dry-run", "-h", "--help", "--dump-aliases"];
                has_sub(inv, "send-email") && !looks.iter().any(|flag| has_flag(inv, flag))
            });
            Found::from(found.map(|inv| inv.text.as_str()))
        })],
        ..RULE
    },
    Rule {
        id: "mail.deleted",
        severity: Severity::Critical,
        reason: "deletes mail that is kept for people, or that has not gone out yet",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("mail_deleted_by_words", Trigger::rows(LOSES_MAIL), |scene| {
            operations::done(scene, LOSES_MAIL)
        })],
        ..RULE
    },
];

fn sent<'a>(scene: &Scene<'a>, many: bool) -> Found<'a> {
    let found = scene.first(MAILERS, |inv| {
        let known: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
        let looks = ["--version", "-bp", "-bv", "--dry-run"].iter().any(|flag| known.contains(flag));
        let mut addresses =
            known.iter().flat_map(|word| word.split(',')).filter(|word| is_address(word)).peekable();
        let headed = || known.contains(&"-t") && input_of(inv, scene).iter().any(|text| text.contains("To:"));
        // `mail -s subject "$address"`: of whom it is, nothing is known.
        let unknown = || has_flag(inv, "-s") && inv.args.last().is_some_and(Arg::has_unknown);
        let of_many = |word: &str| word.split('@').next().is_some_and(|name| MANY.contains(&name));
        let fed = inv.wrappers.iter().any(|name| name == "xargs" || name == "parallel");
        !looks
            && if many {
                unknown()
                    || fed
                    || addresses.by_ref().any(of_many)
                    || known.iter().any(|word| word.matches('@').count() > 2)
            } else {
                addresses.peek().is_some() || headed()
            }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn is_address(word: &str) -> bool {
    !word.contains([' ', '/', ':'])
        && word.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && host.contains('.') && !matches!(host, "localhost.localdomain")
        })
}

fn by_service<'a>(scene: &Scene<'a>) -> Found<'a> {
    let asks = |inv: &&Invocation| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let gives = texts.iter().any(|text| {
            ["-d", "--data", "-X", "-F", "--json", "--form", "POST"].iter().any(|flag| text.starts_with(flag))
        });
        gives && texts.iter().any(|text| SERVICES.iter().any(|service| text.contains(service)))
    };
    Found::from(scene.invocations().iter().find(asks).map(|inv| inv.text.as_str()))
}
