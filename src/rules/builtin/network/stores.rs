//! Files that are copied into a store behind an address of its own.

use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::matcher::{Found, Scene, flag_value, host_of, is_known};
use crate::shell::Arg;

/// Clients of stores that are told at which address theirs is.
pub(super) const ADDRESSED: &[&str] = &["aws", "mc", "rclone", "s3cmd", "s5cmd"];

/// A file of this machine is copied into a store behind an address that is not among the known ones.
pub(super) fn put_into_a_store<'a>(scene: &Scene<'a>) -> Found<'a> {
    let foreign = |host: &str| host.contains('.') && !is_known(host, scene.view.policy);
    let told = |inv: &Invocation| {
        const OPTIONS: &[&str] = &["--endpoint-url", "--endpoint", "--host", "--s3-endpoint"];
        let apart = || {
            let at = inv.args.iter().position(|arg| arg.known().is_some_and(|word| OPTIONS.contains(&word)));
            at.and_then(|at| inv.args.get(at + 1))
        };
        let url = flag_value(inv, OPTIONS).or_else(apart);
        // `mc alias set NAME URL`
        let alias = inv.operands.iter().find(|arg| inv.program == "mc" && arg.prefix().contains("://"));
        url.or(alias).is_some_and(|url| foreign(&host_of(&url.text())))
    };
    let copies =
        |word: &str| matches!(word, "cp" | "copy" | "mv" | "sync" | "put-object" | "put" | "mirror" | "pipe");
    let found = scene.first(ADDRESSED, |inv| {
        let words = operations::known_words(inv);
        let addressed = told(inv) || inv.program == "mc" && scene.first(&["mc"], told).is_some();
        let mut places = inv.operands.iter().map(Arg::prefix).filter(|word| !copies(word));
        addressed
            && words.iter().any(|word| copies(word))
            && places.next().is_none_or(|from| !from.starts_with("s3://"))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
