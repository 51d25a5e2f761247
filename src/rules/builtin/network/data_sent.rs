//! Files of data that go to a host that is not among the known ones: by whatever program carries what it is given, by code, or as a
//! copy.

use super::goes_out::is_whole;
use crate::domain::{Target, last_name};
use crate::rules::builtin::everyday;
use crate::rules::builtin::secrets::elsewhere::{kept_secrets, named_secret};
use crate::rules::builtin::standing::is_this_machine;
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, asks_for_help, four, host_of, is_known, runs, target_of};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/network/data_sent");

/// Kinds of socat's addresses that are other machines.
const SOCKETS: &[&str] = &["TCP", "TCP4", "TCP6", "OPENSSL", "SSL", "UDP", "UDP4", "SOCKS4", "SOCKS5"];

/// Programs that copy files to another machine.
pub(super) const COPIERS: &[&str] = &["rsync", "scp"];

/// Programs that send what comes to them to another machine.
pub(super) const SINKS: &[&str] = &["nc", "ncat", "netcat", "socat", "ssh", "telnet", "websocat"];

/// Programs that keep versions of a tree, and how they put one at an address.
pub(super) const VERSIONS: &[&str] = &["bzr", "darcs", "fossil", "hg", "svn"];
const PUTTING: &[&str] = &["push", "import", "sync"];

/// Directories of a home that hold what a person made.
const PERSONAL: &[&str] = &["Desktop", "Documents", "Downloads", "Movies", "Music", "Pictures", "Videos"];

fn name_of(path: &str) -> &str {
    last_name(path.trim_end_matches('/'))
}

/// Whether a file holds data, by what it is called.
fn is_data(path: &str) -> bool {
    let telling = || {
        let name = name_of(path).to_ascii_lowercase();
        TELLING.iter().any(|part| name.contains(part))
    };
    // `{credential_scope}\n{hash.hexdigest()}` is put together, and no name.
    let named = || !name_of(path).contains(['{', '(', '\\', '\n']) && name_of(path).contains('.');
    ends_in(path, DATA) || named() && telling()
}

/// Whether a file is a database or a table, by what it is called.
pub(super) fn is_table(path: &str) -> bool {
    let packed = [".gz", ".xz", ".bz2", ".zst", ".zip"].iter().find_map(|end| path.strip_suffix(end));
    ends_in(path, TABLES) || packed.is_some_and(|path| ends_in(path, TABLES))
}

fn ends_in(path: &str, ends: &[&str]) -> bool {
    let name = name_of(path);
    // What is written in words is no name.
    !path.contains(char::is_whitespace)
        && name
            .rsplit_once('.')
            .is_some_and(|(_, end)| ends.iter().any(|known| known.eq_ignore_ascii_case(end)))
}

/// Whether a text names a host, as an address, in front of a port or behind a name, that is not among the known ones.
pub(super) fn is_far(text: &str, is_host: bool, scene: &Scene<'_>) -> bool {
    let host = if text.contains("://") {
        host_of(text)
    } else {
        let place = text.rsplit('@').next().unwrap_or(text);
        let (host, port) = place.split_once(':').unwrap_or((place, ""));
        let at_port = port.len() > 1 && port.bytes().all(|byte| byte.is_ascii_digit());
        // `--mean 100.0` is a number.
        let address = || host.matches('.').count() == 3 && four(host).is_some();
        if !(is_host || text.contains('@') || at_port || address()) {
            return false;
        }
        host.to_owned()
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    host.contains('.')
        && !host.starts_with('.')
        && host.chars().all(plain)
        && !is_known(&host, scene.view.policy)
}

/// Whether a program is one that carries what it is given, or that no row knows.
fn may_carry(inv: &Invocation) -> bool {
    runs(inv, CARRIERS) || facts::is_unheard_of(&inv.program)
}

/// A file is given to a program that is also told a host that is not known.
pub(super) fn given_with_a_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(may_carry).filter(|inv| may_carry(inv) && !asks_for_help(inv)).find(|inv| {
        let before = || std::iter::once(None).chain(inv.args.iter().map(|arg| arg.known()));
        let behind =
            |list: &[&str], option: Option<&str>| option.is_some_and(|option| list.contains(&option));
        let far = || {
            inv.args
                .iter()
                .zip(before())
                .any(|(arg, option)| is_far(&arg.text(), behind(HOSTS, option), scene))
        };
        let given = inv.args.iter().zip(before()).any(|(arg, option)| {
            let text = arg.text();
            let named = text.strip_prefix('@').filter(|file| {
                file.contains(['.', '/']) && !file.contains('\n') && !everyday::is_sample(file)
            });
            let joined = text.split_once('=').filter(|(name, _)| FILES.contains(name)).map(|(_, file)| file);
            let personal = || is_personal(arg, inv.cwd.as_deref(), scene.view.facts.places.home.as_deref());
            named.is_some()
                || joined.is_some_and(is_data)
                || behind(FILES, option) && (is_data(&text) || personal() || named_secret(arg, inv, scene))
        });
        // `sendmail -S 127.0.0.1:1025`: whoever it is for, it goes no further.
        let here = || inv.args.iter().any(|arg| arg.text().contains(':') && is_this_machine(&arg.text()));
        let table = |arg: &Arg| ends_in(&arg.text(), TABLES);
        let shown = || scene.before(inv).any(|other| other.operands.iter().any(table));
        // `frobctl send data.csv --host x`: by the program's own words.
        let kept = |arg: &Arg| is_kept(target_of(arg, inv.cwd.as_deref()).text(), inv, scene);
        let named = || {
            (!runs(inv, CARRIERS) || runs(inv, &["kcat", "kafkacat", "mpack"])) && inv.args.iter().any(kept)
        };
        // `redis-cli migrate HOST …`: the server itself hands its keys over.
        let told = || {
            inv.program == "redis-cli"
                && inv.args.iter().any(|arg| arg.text().eq_ignore_ascii_case("migrate"))
        };
        far() && !here() && (given || told() || is_fed(inv) || holds_packed(inv, scene) || named() || shown())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that put a file in another form, which is then given as a word.
const PACKERS: &[&str] = &["base64", "gzip", "hexdump", "tar", "uuencode", "xxd", "zip"];

/// Whether a word of a command holds a file that another one packs: `-d "$(base64 -w0 app.db)"`.
fn holds_packed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.within(inv).any(|other| runs(other, PACKERS))
        || runs(inv, MAILERS) && scene.before(inv).any(|other| runs(other, PACKERS))
}

/// Programs that write to somebody: what they say is a message, what they bring may be data.
const MAILERS: &[&str] = &["mail", "mailx", "msmtp", "mutt", "sendmail"];

/// Whether a file comes to a command on its standard input.
fn is_fed(inv: &Invocation) -> bool {
    let carried = |path: &str| !path.starts_with("/dev/") && (is_data(path) || !runs(inv, MAILERS));
    matches!(&inv.stdin, Stdin::File(Target::Path { path, .. }) if carried(path))
}

/// What stands in code that gives a client the bare name of a host: of files and of mail.
const BY_NAME: &[&str] = &["ftplib", "smtplib", "paramiko", "sftp", "storbinary", "sendmail"];

/// Whether a text may hold an address: most code holds none, which is seen at once.
fn may_name_a_host(text: &str) -> bool {
    let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let client = || BY_NAME.iter().any(|name| text.contains(name));
    let numbers = || text.match_indices('.').any(|(at, _)| digit(at.wrapping_sub(1)) && digit(at + 1));
    text.contains("://") || numbers() || client()
}

/// Code reads a file of data and sends something to a host that is not known.
pub(super) fn sent_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| {
        codes.iter().filter(|text| may_name_a_host(text) && text.holds_any(CARRYING)).any(|text| {
            let bare = || {
                let kept = text.chars().filter(|c| !c.is_whitespace());
                kept.collect::<String>().to_ascii_lowercase()
            };
            let quoted = || text.split(['"', '\'', '`', '<']);
            let data = |part: &str| {
                let part = part.strip_prefix("STOR ").unwrap_or(part);
                !part.contains("://") && !part.contains(char::is_whitespace) && is_data(part)
            };
            let far = |part: &str| is_far(part.split_whitespace().next().unwrap_or_default(), false, scene);
            // `FTP('ftp.host.example')`
            let host = |part: &str| {
                let ends = part
                    .rsplit('.')
                    .next()
                    .is_some_and(|end| end.len() > 1 && end.bytes().all(|b| b.is_ascii_alphabetic()));
                part.matches('.').count() > 1 && ends && is_far(part, true, scene)
            };
            let by_client = || text.holds_any(BY_NAME) && quoted().any(host);
            let all = || {
                let bare = bare();
                WHOLE_ENVIRONMENT.iter().any(|call| bare.contains(call))
            };
            (quoted().any(far) || by_client()) && (quoted().any(data) || all()) && {
                let bare = bare();
                SENDS.iter().any(|call| bare.contains(call))
            }
        })
    })
}

/// Whether a path lies in a directory in which a person keeps what is theirs.
fn is_personal(arg: &Arg, cwd: Option<&str>, home: Option<&str>) -> bool {
    let target = target_of(arg, cwd);
    let below = home.and_then(|home| target.text().strip_prefix(home)?.strip_prefix('/'));
    below.and_then(|path| path.split('/').next()).is_some_and(|dir| PERSONAL.contains(&dir))
}

/// A database or the repository is copied to a host that is not known.
pub(super) fn copied(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let away = |arg: &Arg| {
        let text = arg.text();
        let place = text.strip_prefix("rsync://").unwrap_or(&text);
        let host = place.split([':', '/']).next().unwrap_or_default();
        text.contains(':') && is_far(host, true, scene)
    };
    let home = scene.view.facts.places.home.as_deref();
    let personal = |arg: &Arg| is_personal(arg, inv.cwd.as_deref(), home);
    let kept = |arg: &Arg| {
        let text = arg.text();
        let named = || target_of(arg, inv.cwd.as_deref()).text().to_owned();
        !text.contains(':') && (name_of(&text) == ".git" || personal(arg) || is_kept(&named(), inv, scene))
    };
    inv.operands.split_last().is_some_and(|(to, from)| away(to) && from.iter().any(kept))
}

/// A database that is printed goes down a connection to a host that is not known.
pub(super) fn piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let table = |arg: &Arg| {
        let text = arg.text();
        ends_in(text.strip_prefix("if=").unwrap_or(&text), TABLES) || is_personal(arg, None, home)
    };
    let found = scene.first(SINKS, |inv| {
        // `socat - TCP:host:443`
        let place = |text: &str| {
            let (front, rest) = text.split_once(':').unwrap_or(("", text));
            if SOCKETS.contains(&front) {
                rest.split(',').next().unwrap_or_default().to_owned()
            } else {
                text.to_owned()
            }
        };
        // `socat OPEN:app.db …`
        let opened = |arg: &Arg| {
            let text = arg.text();
            let file = text.split_once(':').filter(|(front, _)| matches!(*front, "OPEN" | "FILE" | "GOPEN"));
            file.is_some_and(|(_, file)| ends_in(file.split(',').next().unwrap_or_default(), TABLES))
        };
        let to = inv.operands.iter().take(2).any(|arg| is_far(&place(&arg.text()), true, scene));
        // What goes down a bare connection is no request that somebody there has asked for.
        let bare = inv.program != "ssh";
        let fed = matches!(&inv.stdin, Stdin::File(Target::Path { path, .. })
            if bare && !path.starts_with("/dev/") || is_kept(path, inv, scene));
        to && (fed
            || inv.operands.iter().any(opened)
            || scene.before(inv).any(|other| other.args.iter().any(table) || bare && !runs(other, SAYING)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that print what the line itself says, and what stands between the lines of a talk.
const SAYING: &[&str] = &["echo", "printf", "sleep", "yes", "true", ":"];

/// Programs that print or write all of a database or of a repository.
const DUMPERS: &[&str] = &["mongodump", "mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall"];
/// Programs that put files into one.
const ARCHIVERS: &[&str] = &["7z", "bsdtar", "gtar", "tar", "zip"];

/// Whether a command collects a database, the repository or a whole tree: what is built is another matter.
fn collects(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let home = scene.view.facts.places.home.as_deref();
    let personal = |arg: &Arg| is_personal(arg, inv.cwd.as_deref(), home);
    let all = || inv.operands.iter().any(|arg| is_whole(arg, inv, scene) || is_home(arg, inv, scene));
    runs(inv, DUMPERS)
        || inv.program == "git"
            && inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "archive" | "bundle"))
        || runs(inv, ARCHIVERS)
            && (all() || inv.operands.iter().any(|arg| personal(arg) || kept_secrets(arg, inv, scene)))
}

fn is_home(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.view.facts.places.home.as_deref() == Some(target_of(arg, inv.cwd.as_deref()).text())
}

/// Whether a file holds a database or a table by its name, or another command of the call collects one into it.
pub(super) fn is_kept(path: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let same = |arg: &Arg, other: &Invocation| {
        let text = arg.text();
        let file =
            text.strip_prefix('-').and_then(|text| text.split_once('=')).map_or(&*text, |(_, file)| file);
        let front = file.trim_end_matches(['*', '.']);
        file == path
            || target_of(arg, other.cwd.as_deref()).text() == path
            || front.starts_with('/') && front.len() > 5 && path.starts_with(front)
    };
    let written = |one: &Invocation| {
        one.writes.iter().any(|(target, _)| target.text() == path)
            || one.args.iter().any(|arg| same(arg, one))
    };
    let collected = |other: &Invocation| {
        let beside = |one: &&Invocation| one.pipeline == other.pipeline;
        other.pipeline != inv.pipeline
            && collects(other, scene)
            && scene.invocations().iter().filter(beside).any(written)
    };
    // Asked once for each program of the call, not for each of its commands.
    let may = |inv: &Invocation| runs(inv, DUMPERS) || runs(inv, ARCHIVERS) || inv.program == "git";
    ends_in(path, TABLES) || scene.runs_any(may) && scene.invocations().iter().any(collected)
}

/// A database is told to write to a host that is not known: `insert into function remote('host:9000', …)`, `copy t to 's3://…'` behind
/// `set s3_endpoint='host'`.
pub(super) fn rows_put_elsewhere(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().map(|arg| arg.text().to_ascii_lowercase()).any(|text| {
        let told = match text.rsplit_once(" to ").filter(|_| text.contains("copy ")) {
            Some((_, to)) if !text.contains("endpoint=") => to,
            Some(_) => &text,
            None if text.contains("insert into function") => &text,
            None => return false,
        };
        let parts: Vec<&str> = told.split(['\'', '"']).collect();
        let named = |at: usize| {
            at.checked_sub(1)
                .and_then(|at| parts.get(at))
                .is_some_and(|front| front.trim_end().ends_with("endpoint="))
        };
        parts.iter().enumerate().any(|(at, part)| is_far(part, named(at), scene))
    })
}

/// A tree is put at an address that is not known, by another program than git.
pub(super) fn put_at_an_address(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let told = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with('-'));
    let far = |arg: &Arg| arg.text().contains("://") && is_far(&arg.text(), false, scene);
    told.is_some_and(|word| PUTTING.contains(&word)) && inv.args.iter().any(far) && !asks_for_help(inv)
}

/// A word of a request holds a database or a table that another command shows: `-d "$(cat data.csv)"`.
pub(super) fn is_told_a_table(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let table = |arg: &Arg| ends_in(&arg.text(), TABLES);
    scene.within(inv).any(|other| other.operands.iter().any(table))
}
