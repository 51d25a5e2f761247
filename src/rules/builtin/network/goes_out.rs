//! What goes out: the project, files for anybody.

use super::secret_sent::FILE_CLIENTS;
use super::stores::{ADDRESSED, file_put, put_by_signature, put_into_a_store};
use super::{data_sent, is_unknown_host, moved, pushes, unknown_host};
use crate::domain::{Action, Target};
use crate::rules::builtin::downloads::{downloads, saved_behind};
use crate::rules::builtin::{everyday, lists, operations, scripts};
use crate::rules::facts::operations::HANDS_OVER;
use crate::rules::matcher::{
    Found, Scene, asks_for_help, flag_value, four, has_flag, host_of, is_known, runs, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

fn project_given_to_a_store<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = [STORES, BUILDERS]
        .into_iter()
        .find_map(|programs| scene.first(programs, |inv| handed_over(inv, scene)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn handed_to_whoever_has_a_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    operations::done_where(scene, HANDS_OVER, |inv| {
        !inv.args.iter().any(|arg| matches!(arg.known(), Some("--text" | "--only-hash" | "-l")))
    })
}

words!("builtin/network/goes_out");

/// A request that is more than a plain look: it sends something, keeps what it fetched, or has something unknown in its address.
fn more_than_a_look(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let named = |arg: &Arg| {
        let host = host_of(&arg.text());
        host.contains('.') && !is_known(&host, scene.view.policy)
    };
    let urls = || inv.operands.iter().chain(flag_value(inv, &["--url"])).filter(|arg| named(arg));
    urls().next().is_some()
        && (tells(inv) || keeps(inv, scene) || urls().any(|url| carries(&url.text(), url)))
}

/// It sends data or credentials, or asks for more than to look.
fn tells(inv: &Invocation) -> bool {
    let method = flag_value(inv, &["-X", "--request", "--method"]).map(Arg::text);
    let looks = method
        .is_none_or(|method| matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"));
    let header = inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "-H" | "--header"));
    let private = header.filter_map(|flag| flag.value.as_ref()).any(|value| {
        let text = value.text().to_ascii_lowercase();
        value.has_unknown()
            || ["authorization", "cookie", "token", "key", "secret"].iter().any(|word| text.contains(word))
    });
    !looks || private || DATA.iter().chain(SENDING_OPTIONS).any(|flag| has_flag(inv, flag))
}

/// What it fetches is kept in a file.
fn keeps(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut files = downloads(inv).chain(saved_behind(inv, scene.invocations()));
    let prints = flag_value(inv, &["-O", "--output-document"]).and_then(Arg::known) == Some("-");
    !(prints || has_flag(inv, "-I") || has_flag(inv, "--spider"))
        && files.any(|file| !matches!(file.text(), "/dev/null" | "/dev/stdout" | "/dev/stderr"))
}

/// Its address holds something unknown or the user's name.
fn carries(text: &str, url: &Arg) -> bool {
    let authority =
        text.split_once("://").map_or(text, |(_, rest)| rest).split('/').next().unwrap_or_default();
    url.has_unknown() || authority.contains('@')
}

/// A tool that is not ours to know, given an address of a drop site.
/// An address that has a message sent by being asked for.
fn message_by_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Action::Fetch { url, .. } = &scene.view.call.action else { return Found::No };
    let sends = [
        ("api.telegram.org", "/send"),
        ("discord.com", "/api/webhooks/"),
        ("discordapp.com", "/api/webhooks/"),
        ("hooks.slack.com", "/services/"),
    ];
    let host = host_of(url);
    let found = sends.iter().any(|(name, part)| host == *name && url.contains(part));
    if found { Found::yes(url) } else { Found::No }
}

fn drop_site_by_tool<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Action::Other { text, .. } = &scene.view.call.action else { return Found::No };
    let named = scripts::strings(text).iter().any(|value| {
        let host = host_of(value);
        value.contains("://")
            && !value.contains(char::is_whitespace)
            && DROP_SITES.iter().any(|site| {
                host.strip_suffix(site).is_some_and(|front| front.is_empty() || front.ends_with('.'))
            })
    });
    if named { Found::yes(text) } else { Found::No }
}

/// Programs that send the directory that they build in to another machine.
const BUILDERS: &[&str] = &["docker", "nerdctl", "podman"];

/// All of the project, by how it is written or where it lies.
pub(super) fn is_whole(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    matches!(arg.known(), Some("." | "./" | "*" | "./*"))
        || matches!(&*arg.text(), "*" | "./*")
        || is_root(arg, inv, scene)
}

/// The directory that the project lies in.
fn is_root(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    matches!(target_of(arg, inv.cwd.as_deref()), Target::Path { path, .. }
            if scene.view.facts.places.roots().any(|root| root == path.trim_end_matches('/')))
}

/// The project is copied to a store, or sent to another machine's builder.
fn handed_over(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if operations::is_rehearsal(inv) || asks_for_help(inv) {
        return false;
    }
    if runs(inv, STORES) {
        let leaves_out = |arg: &Arg| {
            let text = arg.text();
            text.contains(".git") || text.trim_start_matches("--exclude=") == "*"
        };
        let to = |arg: &&Arg| arg.text().contains("://");
        let source = inv.operands.iter().position(|arg| is_root(arg, inv, scene));
        return source.is_some_and(|at| inv.operands.iter().skip(at).any(|arg| to(&arg)))
            && !inv.args.iter().any(leaves_out)
            && !operations::is_emulated(inv);
    }
    let variable = || {
        let line = scene.command_line();
        line.split_once("DOCKER_HOST=")
            .map(|(_, value)| value.split(char::is_whitespace).next().unwrap_or_default())
    };
    let option = flag_value(inv, &["-H", "--host", "--url"]).map(|host| host_of(&host.text()));
    let host = option.or_else(|| variable().map(host_of));
    let foreign = host.is_some_and(|host| host.contains('.') && !is_known(&host, scene.view.policy));
    // `docker push 203.0.113.9:5000/app`: what has no name is nobody's registry.
    let pushed = |arg: &Arg| {
        let text = arg.text();
        let host = text.split(['/', ':']).next().unwrap_or_default();
        four(host).is_some() && data_sent::is_far(host, true, scene)
    };
    let words = operations::known_words(inv);
    runs(inv, BUILDERS)
        && (foreign && words.contains(&"build") || words.contains(&"push") && inv.operands.iter().any(pushed))
}

fn whole_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let here = |arg: &Arg| matches!(arg.known(), Some("." | "./" | "*" | "./*")) || arg.text() == "*";
    let foreign = |host: &str| {
        let host = host_of(host);
        host.contains('.') && !host.starts_with('.') && !is_known(&host, scene.view.policy)
    };
    let remote = |inv: &Invocation| {
        inv.operands.iter().chain(inv.args.iter()).any(|arg| {
            let text = arg.text();
            let host = text.split_once(':').map_or(&*text, |(host, _)| host);
            foreign(host.rsplit('@').next().unwrap_or(host))
        })
    };
    let may_send = |inv: &Invocation| {
        runs(inv, &["scp", "rsync", "rclone", "ssh", "socat", "telnet"]) || runs(inv, lists::NETCATS)
    };
    let through_ssh = |inv: &Invocation| inv.wrappers.iter().any(|name| name == "ssh");
    if !scene.runs_any(may_send) && !all.iter().any(through_ssh) {
        return Found::No;
    }
    let found = all.iter().find(|inv| {
        let copies = match inv.program.as_str() {
            // A place on another machine has a colon behind the host: `../copy.d` and `--exclude=.git` are none.
            "scp" | "rsync" => {
                let away = |arg: &Arg| {
                    let text = arg.text();
                    let host =
                        text.strip_prefix("rsync://").or_else(|| text.split(':').next()).unwrap_or(&text);
                    text.contains(':') && foreign(host.rsplit('@').next().unwrap_or(host))
                };
                inv.operands.first().is_some_and(|arg| is_whole(arg, inv, scene))
                    && inv.operands.iter().skip(1).any(away)
            }
            "rclone" => inv.args.iter().any(here) && inv.args.iter().any(|arg| arg.text().contains(':')),
            _ => false,
        };
        let sends = runs(inv, lists::NETCATS)
            || runs(inv, &["ssh", "socat", "telnet"])
            || inv.wrappers.iter().any(|name| name == "ssh");
        let source = || {
            scene.before(inv).find(|other| {
                let packs = runs(other, &["tar", "zip", "gtar", "bsdtar"]) && other.operands.iter().any(here);
                let dumps = runs(other, &["pg_dump", "pg_dumpall", "mysqldump", "mongodump", "mariadb-dump"])
                    || other.program == "sqlite3"
                        && other.args.iter().any(|arg| arg.known() == Some(".dump"))
                    || runs(other, &["docker", "podman"])
                        && other.sub.first().is_some_and(|sub| matches!(sub.as_str(), "save" | "export"))
                    || runs(other, &["grep", "rg", "egrep"])
                        && other.args.iter().any(|arg| arg.text().contains("AKIA"))
                    || other.program == "git"
                        && other.sub.first().is_some_and(|sub| matches!(sub.as_str(), "archive" | "bundle"));
                let prints = runs(other, &["cat"]) && runs(inv, lists::NETCATS);
                let sends_all = runs(other, &["zfs", "btrfs"])
                    && other.args.iter().any(|arg| arg.known() == Some("send"))
                    || runs(other, &["xfsdump", "partclone.ext4", "ntfsclone"]);
                packs || dumps || prints || sends_all
            })
        };
        copies
            || sends
                && (remote(inv) || !runs(inv, lists::NETCATS) && !runs(inv, &["socat", "telnet"]))
                && source().is_some()
                && names_foreign(scene, &foreign)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A host that is not known stands somewhere among the words of the call.
fn names_foreign(scene: &Scene<'_>, foreign: &impl Fn(&str) -> bool) -> bool {
    scene.command_line().split([' ', '|', '\'', '"']).any(|word| {
        let host = word.rsplit('@').next().unwrap_or(word).split(':').next().unwrap_or_default();
        host.contains('.')
            && host
                .rsplit('.')
                .next()
                .is_some_and(|end| end.len() > 1 && end.bytes().all(|b| b.is_ascii_alphanumeric()))
                | is_ipv4(host)
            && !matches!(
                host.rsplit('.').next(),
                Some("tgz" | "gz" | "sql" | "tar" | "zip" | "md" | "txt" | "bz2" | "xz" | "zst" | "git")
            )
            && foreign(host)
    })
}

fn is_ipv4(host: &str) -> bool {
    host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok())
}

fn file_uploaded(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let whole = ["-T", "--upload-file", "--post-file", "--body-file"].iter().any(|flag| has_flag(inv, flag));
    let from_file = inv.flags.iter().any(|flag| {
        DATA.contains(&flag.name.as_str())
            && flag.value.as_ref().is_some_and(|value| {
                value.prefix().starts_with('@')
                    || value.prefix().contains("=@")
                    || value.prefix().ends_with("=<-")
            })
            && !flag
                .value
                .as_ref()
                .and_then(|value| value.known()?.strip_prefix('@'))
                .is_some_and(everyday::is_sample)
    });
    // `name@file`, a field of a form as the clients of HTTPie have it.
    let is_field = |arg: &&Arg| {
        let text = arg.text();
        text.contains('@') && !text.contains("://") && !text.contains(['=', ':'])
    };
    let field = runs(inv, &["http", "https", "xh"]) && inv.operands.iter().skip(1).any(|arg| is_field(&arg));
    if field {
        return inv.operands.iter().filter(|arg| !is_field(arg)).any(|arg| is_unknown_host(arg, scene));
    }
    let fed = || matches!(&inv.stdin, Stdin::File(_)) && runs(inv, &["http", "https", "xh"]);
    (whole || from_file || fed() || data_sent::is_told_a_table(inv, scene)) && unknown_host(inv, scene)
}
