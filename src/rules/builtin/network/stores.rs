//! Files that are copied into a store behind an address of its own, or put somewhere by a client for files.

use super::data_sent;
use crate::rules::Invocation;
use crate::rules::builtin::cloud::removed::BUILT;
use crate::rules::builtin::operations;
use crate::rules::matcher::{Found, Scene, flag_value, host_of, input_of, is_known};
use crate::shell::Arg;

words!("builtin/network/stores");

/// Clients of stores that are told at which address theirs is.
pub(super) const ADDRESSED: &[&str] = &["aws", "mc", "rclone", "s3cmd", "s5cmd"];

/// A file of this machine is copied into a store behind an address that is not among the known ones.
pub(super) fn put_into_a_store<'a>(scene: &Scene<'a>) -> Found<'a> {
    let foreign = |host: &str| host.contains('.') && !is_known(host, scene.view.policy);
    let told = |inv: &Invocation| {
        let told = flag_value(inv, STORE_OPTIONS).map(Arg::to_text);
        let url = told.or_else(|| operations::option_values(inv, STORE_OPTIONS).into_iter().next());
        // `mc alias set NAME URL`
        let alias = inv.operands.iter().find(|arg| inv.program == "mc" && arg.prefix().contains("://"));
        let named = |arg: &Arg| {
            inv.program == "rclone" && by_connection(&arg.text()).is_some_and(|host| foreign(&host))
        };
        url.or_else(|| alias.map(Arg::to_text)).is_some_and(|url| foreign(&host_of(&url)))
            || inv.operands.last().is_some_and(named)
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

/// The host that a connection of rclone's is told in one word: `:s3,endpoint=https://x,…:bucket`.
fn by_connection(text: &str) -> Option<String> {
    let settings = text.strip_prefix(':')?.split(',').skip(1);
    let named = settings
        .filter_map(|setting| setting.split_once('='))
        .find(|(name, _)| matches!(*name, "endpoint" | "host" | "url"));
    named.map(|(_, value)| host_of(value.trim_matches(['\'', '"'])))
}

/// A file is brought to a store by an address that lets in whoever has it.
pub(super) fn put_by_signature(inv: &Invocation) -> bool {
    let signed = |arg: &Arg| {
        let text = arg.text();
        text.contains("://") && text.contains("sig=") && text.contains('?')
    };
    let here =
        |arg: &Arg| !arg.text().contains("://") && !matches!(arg.known(), Some("copy" | "cp" | "sync"));
    operations::known_words(inv).iter().any(|word| matches!(*word, "copy" | "cp" | "sync"))
        && inv.operands.last().is_some_and(signed)
        && inv.operands.iter().any(here)
}

/// Such a client puts a file on a host that is not among the known ones.
pub(super) fn file_put(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let foreign = |arg: &Arg| {
        let text = arg.text();
        let place = text.split_once("://").map_or(&*text, |(_, rest)| rest).trim_start_matches('/');
        let host = place.split(['/', ':', ' ']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        host.contains('.') && !text.starts_with("./") && !is_known(host, scene.view.policy)
    };
    let told = inv.args.iter().map(Arg::to_text).chain(input_of(inv, scene));
    let puts = |text: String| {
        text.replace("\\n", "\n").split([';', '\n', '\'', '"']).any(|line| {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            // One file goes by it as by scp.
            let kept = |word: &str| data_sent::is_table(word) || data_sent::is_kept(word, inv, scene);
            let one = inv.program == "sftp" && !line.contains(" -r") && !words.clone().any(kept);
            let built = words.clone().any(|word| word.split('/').any(|part| BUILT.contains(&part)));
            let mirrored = first == "mirror" && words.clone().any(|word| matches!(word, "-R" | "--reverse"));
            !built && (matches!(first, "put" | "mput" | "send") && !one || mirrored)
        })
    };
    let told: Vec<String> = told.collect();
    let opens =
        || told.iter().flat_map(|text| text.split_whitespace()).any(|word| foreign(&Arg::literal(word)));
    let opened = matches!(inv.program.as_str(), "lftp" | "ftp") && opens();
    let sent = inv.program == "ftp"
        && inv.operands.len() > 1
        && inv.args.iter().any(|arg| arg.prefix().starts_with("-u"));
    (inv.operands.iter().any(foreign) || opened) && (sent || told.into_iter().any(puts))
}
