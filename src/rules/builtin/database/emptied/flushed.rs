//! Caches that are flushed: by their client, by address and over a socket.

use crate::domain::Target;
use crate::rules::Invocation;
use crate::rules::builtin::database::place::{is_in_test_container, is_own_keys};
use crate::rules::builtin::database::{REDIS, Whose, texts};
use crate::rules::builtin::lists;
use crate::rules::matcher::{Found, Scene, input_of, runs};
use crate::shell::Arg;

pub(super) fn flushed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let flush = |word: &str| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb");
    // `echo FLUSHALL | nc redis 6379`
    let sent = scene.first_of(
        |program| lists::NETCATS.contains(&program) || program == "telnet",
        |inv| {
            let told = |word: &str| {
                flush(word) || word.eq_ignore_ascii_case("flush_all") || word.eq_ignore_ascii_case("shutdown")
            };
            inv.args.iter().any(|arg| matches!(arg.known(), Some("6379" | "6380" | "11211")))
                && input_of(inv, scene).iter().any(|text| {
                    let text = text.replace("\\r", " ").replace("\\n", " ");
                    text.split(|c: char| !c.is_ascii_alphabetic() && c != '_').any(told)
                })
        },
    );
    if let Some(inv) = sent {
        return Found::yes(&inv.text);
    }
    flushed_by_client(scene, Whose::Others)
}

/// A client of a key-value store empties it.
pub(super) fn flushed_by_client<'a>(scene: &Scene<'a>, whose: Whose) -> Found<'a> {
    let flush = |word: &str| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb");
    let is = |inv: &Invocation| {
        if is_in_test_container(inv, scene) {
            Whose::Tests
        } else if is_own_keys(inv, scene) {
            Whose::Own
        } else {
            Whose::Others
        }
    };
    let every = |inv: &&Invocation| {
        runs(inv, REDIS) && inv.args.iter().any(|arg| arg.known() == Some("*"))
            || inv.args.iter().any(|arg| arg.known() == Some("--scan"))
                && !inv.args.windows(2).any(|pair| match pair {
                    [option, only] if option.known() == Some("--pattern") => {
                        !only.text().trim_matches(['*', '?']).is_empty()
                    }
                    _ => false,
                })
    };
    let empties = |inv: &Invocation| {
        let deletes = inv
            .operands
            .first()
            .and_then(Arg::known)
            .is_some_and(|word| word.eq_ignore_ascii_case("del") || word.eq_ignore_ascii_case("unlink"));
        if deletes
            && scene
                .invocations()
                .iter()
                .filter(|other| {
                    other.pipeline == inv.pipeline && other.stage < inv.stage || other.feeds.is_some()
                })
                .any(|other| every(&other))
        {
            return true;
        }
        let scripted = texts(inv, scene).iter().any(|text| {
            // Lua puts strings together with two dots.
            let text = text.replace("'..'", "").replace("\"..\"", "");
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            text.contains("call(")
                && (words.any(flush)
                    || text.contains("'*'") && (text.contains("'del'") || text.contains("'unlink'")))
        });
        if scripted {
            return true;
        }
        let given = inv.operands.first().and_then(Arg::known).is_some_and(flush);
        given
            || (inv.operands.is_empty()
                && texts(inv, scene).iter().any(|text| text.split_whitespace().any(flush)))
    };
    let found = scene.first(REDIS, |inv| empties(inv) && is(inv) == whose);
    Found::from(found.map(|inv| inv.text.as_str()))
}

pub(super) const FETCHERS: &[&str] = &["curl"];

/// Words that empty or stop a store, in a text that is sent to it.
fn says_flush(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let plain = lower
        .replace("\\r", " ")
        .replace("\\n", " ")
        .replace("%20", " ")
        .replace("%0d", " ")
        .replace("%0a", " ");
    plain
        .split(|c: char| !c.is_ascii_alphabetic() && c != '_')
        .any(|word| matches!(word.trim_start_matches('_'), "flushall" | "flushdb" | "flush_all" | "shutdown"))
}

/// `gopher://` and `dict://` carry whatever stands in the path to a store.
pub(super) fn flushed_by_address(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        (text.starts_with("gopher://") || text.starts_with("dict://")) && says_flush(&text)
    })
}

/// `printf FLUSHALL > /dev/tcp/localhost/6379`
pub(super) fn flushed_over_socket(inv: &Invocation) -> bool {
    let store = |target: &Target| {
        target
            .text()
            .strip_prefix("/dev/tcp/")
            .is_some_and(|place| ["/6379", "/6380", "/11211"].iter().any(|port| place.ends_with(port)))
    };
    inv.writes.iter().any(|(target, _)| store(target)) && inv.args.iter().any(|arg| says_flush(&arg.text()))
}
