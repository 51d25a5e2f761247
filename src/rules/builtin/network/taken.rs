//! Data that a call both looks for and sends away, and secrets that are put into a request without a file.

use super::super::secrets::{expands, is_secret_name, is_telling, names_in};
use super::super::{RuleSet, lists, tools};
use crate::domain::EffectKind;
use crate::rules::matcher::{
    Class, Found, Scene, classify, has_flag, host_of, input_of, is_known, matches_one_of, runs, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// Rules that ask because something goes to a place which is not known.
static GOING: RuleSet =
    RuleSet::of(&[&["network.upload", "network.project-sent", "network.tree-sent", "network.drop-site"]]);
static UPLOAD: RuleSet = RuleSet::of(&[&["network.upload"]]);
static DROP_SITE: RuleSet = RuleSet::of(&[&["network.drop-site"]]);

/// Rules that ask because somebody's secrets are looked at.
static LOOKED: RuleSet = RuleSet::of(&[&[
    "secrets.search",
    "secrets.clipboard",
    "secrets.token-printed",
    "secrets.variable-printed",
    "secrets.env-file",
    "secrets.env-values",
    "secrets.history-read",
    "secrets.key-file",
    "secrets.copy-given",
    "secrets.home-copied",
    "secrets.history-searched",
    "secrets.service-values",
]]);

words!("builtin/network/taken");

/// Options of clients that say who asks or from where: no place for a secret, whoever is asked.
const ODD_PLACES: &[&str] = &["-A", "--user-agent", "-e", "--referer", "-U"];

/// The call asks to send something and asks to see a secret, and would be let through when each is asked for alone.
fn looked_at_and_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    // A name that is looked up, or a line for another machine's log, with something in it that is put together here.
    let told = || {
        scene.first(&["dig", "nslookup", "host", "drill", "dog", "ping", "logger"], |inv| {
            let remote = inv.program != "logger" || ["-n", "--server"].iter().any(|flag| has_flag(inv, flag));
            remote && inv.args.iter().any(Arg::has_unknown)
        })
    };
    if scene.nested || told().is_none() && !matches_one_of(scene, &GOING) {
        return Found::No;
    }
    let hunts = scene.first(&["grep", "rg", "egrep", "ag", "git"], |inv| {
        let hunted = |text: &str| {
            let text: String =
                text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
            ["apikey", "password", "passwd", "secret", "privatekey", "accesskey", "akia"]
                .iter()
                .any(|w| text.contains(w))
        };
        inv.program != "git" && inv.operands.first().is_some_and(|arg| hunted(&arg.text()))
    });
    let dropped = || matches_one_of(scene, &UPLOAD) && matches_one_of(scene, &DROP_SITE);
    let dumped =
        scene.first(&["sqlite3"], |inv| inv.args.iter().any(|arg| arg.known() == Some(".dump"))).is_some();
    let taken = dumped || hunts.is_some() || scene.first(TAKERS, |_| true).is_some();
    if taken || matches_one_of(scene, &LOOKED) || dropped() {
        return Found::yes(scene.command_line());
    }
    Found::No
}

/// What takes what it reads to another machine, and nothing is known of who asked there.
const POURED: &[&str] = &["socat", "telnet", "websocat", "curl"];

/// All of the project in a pipeline that ends in a bare connection.
fn poured<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let all = scene.invocations();
    let here = |arg: &Arg| matches!(arg.known(), Some("." | "./" | "--all")) || arg.text() == "*";
    let found = all.iter().find(|inv| {
        let bare = runs(inv, lists::NETCATS) || runs(inv, POURED);
        let packed = |other: &Invocation| {
            let packs = runs(other, &["tar", "zip", "gtar", "bsdtar", "cpio", "git"]);
            packs
                && (other.program != "git"
                    || other.sub.first().is_some_and(|sub| matches!(sub.as_str(), "archive" | "bundle")))
                && other.args.iter().any(here)
        };
        let away = || {
            inv.args.iter().any(|arg| {
                let text = arg.text();
                let mut parts = text.split([':', '/', '@', ',']);
                parts.any(|host| {
                    let apart = host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
                    apart && !is_known(host, scene.view.policy)
                })
            })
        };
        let behind = |other: &&Invocation| other.pipeline == inv.pipeline && other.stage < inv.stage;
        bare && away() && { all.iter() }.filter(behind).any(packed)
    });
    let Some(inv) = found else { return Found::No };
    if matches_one_of(scene, &GOING) { Found::yes(&inv.text) } else { Found::No }
}

fn foreign_hosts(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let flags = inv.flags.iter().filter(|flag| flag.name == "--url").filter_map(|flag| flag.value.as_ref());
    let hosts = inv.operands.iter().chain(flags).map(|arg| host_of(&arg.text()));
    hosts.filter(|host| host.contains('.') && !is_known(host, scene.view.policy)).collect()
}

/// The secret of one service goes to a host of another; or any secret where none belongs.
fn variable_told(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let all = scene.invocations();
    let unknown = inv.text.contains(['$', '`']) && expands(inv, scene);
    if !unknown {
        return false;
    }
    // `$(printenv NAME)`
    let within = |other: &&Invocation| {
        let outer = other.feeds.and_then(|at| all.get(at));
        other.program == "printenv" && outer.is_some_and(|outer| std::ptr::eq(outer, inv))
    };
    let printed = all.iter().filter(within).flat_map(|other| &other.operands).map(Arg::prefix);
    let hosts = foreign_hosts(inv, scene);
    let strange = |name: &str| {
        let name = name.to_ascii_uppercase();
        let front = name.split('_').next().unwrap_or_default();
        let service = SERVICES.iter().find(|(service, _)| *service == front);
        service.is_some_and(|(_, own)| {
            hosts.iter().any(|host| !own.iter().any(|part| host.to_ascii_lowercase().contains(part)))
        })
    };
    let odd = inv.flags.iter().any(|flag| {
        ODD_PLACES.contains(&flag.name.as_str()) && flag.value.as_ref().is_some_and(Arg::has_unknown)
    });
    !hosts.is_empty() && { names_in(&inv.text).chain(printed) }
        .any(|name| is_secret_name(name) && odd || is_telling(name) && strange(name))
}

/// A token, or settings written in another way, in an address of a host that nothing is known of.
fn spelled_out(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.operands.iter().any(|arg| {
        let text = arg.text();
        let host = host_of(&text);
        text.contains('?')
            && host.contains('.')
            && !is_known(&host, scene.view.policy)
            && !SERVICES.iter().any(|(_, own)| own.iter().any(|part| host.contains(part)))
            && tools::holds_settings(&text)
    })
}

/// `https://$(whoami).x.example/`: whoever answers for the names reads it.
fn data_in_host(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some(at) = inv.text.find("://$(").or_else(|| inv.text.find("://`")) else { return false };
    let rest = inv.text.get(at + 3..).unwrap_or_default();
    let named = rest.contains(").") || rest.contains("`.");
    const TOLD: &[&str] = &["whoami", "hostname", "id", "base64", "env", "cat", "uname", "xxd"];
    let data = || {
        scene
            .invocations()
            .iter()
            .any(|other| runs(other, TOLD) && other.feeds.is_some() && rest.contains(other.text.trim()))
    };
    named && !rest.contains(".local") && !rest.contains(".svc") && data()
}

/// A file of secrets that a store elsewhere is filled with, that a request's own settings name, or a password in a message.
pub(in crate::rules::builtin) fn given_by_client(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let secret = |word: &str| {
        let word = word.trim_start_matches('@');
        let target = target_of(&Arg::literal(word), inv.cwd.as_deref());
        !word.is_empty()
            && classify(&target, EffectKind::FileRead, &scene.view).any(&[Class::Secret, Class::EnvFile])
    };
    let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    if inv.program == "curl" {
        let told = texts.iter().any(|text| matches!(text.as_str(), "-K-" | "--config=-"))
            || texts
                .windows(2)
                .any(|pair| matches!(pair, [k, v] if (k == "-K" || k == "--config") && v == "-"));
        let named = |text: &String| {
            text.lines()
                .filter_map(|line| line.split_once('@'))
                .any(|(_, file)| secret(file.trim_matches(['"', '\'', ' '])))
        };
        let message = || {
            texts.iter().any(|text| READ_THERE.iter().any(|host| text.contains(host)))
                && texts.iter().any(|text| tools::holds_database_password(text))
        };
        return told && input_of(inv, scene).iter().any(named) || message();
    }
    let far = |host: &str| host.contains('.') && !is_known(host, scene.view.policy);
    let behind =
        texts.windows(2).any(|pair| matches!(pair, [k, v] if (k == "-h" || k == "--host") && far(v)));
    let addressed = || {
        texts.iter().any(|text| {
            let host = text.strip_prefix("--host=").map(str::to_owned);
            host.or_else(|| text.contains("://").then(|| host_of(text))).is_some_and(|host| far(&host))
        })
    };
    let words = |text: &String| {
        let end = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | ';' | '=');
        text.split(end).any(secret)
    };
    (behind || addressed())
        && (matches!(&inv.stdin, Stdin::File(target) if secret(target.text())) || texts.iter().any(words))
}
