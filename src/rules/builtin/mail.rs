//! Mail: what is sent to people, and what is kept for them.

use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, has_sub, input_of};
use crate::shell::Arg;

words!("builtin/mail");

fn patches_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["git"], |inv| {
        let looks = ["--dry-run", "-h", "--help", "--dump-aliases"];
        has_sub(inv, "send-email") && !looks.iter().any(|flag| has_flag(inv, flag))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

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
