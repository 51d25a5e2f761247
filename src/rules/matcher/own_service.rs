//! One value of a file of settings, taken by its name and told to the service that it is for: what `source .env` and `$NAME` do.

use super::leaving::leaves_machine;
use super::{Class, Found, Scene, classify, flag_value, has_flag, host_of, runs, target_of};
use crate::domain::EffectKind;
use crate::rules::{Invocation, Stdin};
use crate::shell::{Arg, Piece};

words!("matcher/own_service");
/// Ends of the names of settings that say where a service is.
const PLACES: &[&str] = &["_URL", "_HOST", "_ENDPOINT", "_BASE"];

/// Whether a search takes one value out of a file of settings, and all that leaves the machine goes to the service that it is for, or to
/// the one that the same file names.
pub(super) fn is_for_its_service(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((name, file)) = taken(inv) else { return false };
    // Without the sign behind it a name is the beginning of others: `APP_BASE_SECRET`.
    let whole = inv.operands.first().and_then(Arg::known).is_some_and(|pattern| pattern.contains('='));
    if whole && PLACES.iter().any(|end| name.ends_with(end)) && !name.contains("DATABASE") {
        return true;
    }
    let line = scene.command_line();
    each_sender(scene, |sender| {
        runs(sender, &["curl"])
            && flag_value(sender, &["-x", "--proxy", "--connect-to", "--resolve", "-K", "--config"]).is_none()
            && !sender.operands.is_empty()
            && sender.operands.iter().all(|url| match url.known() {
                Some(url) => names_service(name, &host_of(url)),
                None => is_of_file(url, sender, file, line),
            })
    })
}

/// Whether a store of credentials is asked for what it keeps under the name of a service, and all that leaves the machine carries it
/// at most where a caller says who they are, to that service.
pub(super) fn is_kept_for_its_service(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let kept = |host: &str| {
        inv.args.iter().filter_map(Arg::known).any(|name| {
            names_service(&name.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_ascii_uppercase(), host)
        })
    };
    let line = scene.command_line();
    each_sender(scene, |sender| {
        shows_key(sender, "", line)
            && sender.operands.iter().all(|url| url.known().is_some_and(|url| kept(&host_of(url))))
    })
}

/// Whether something leaves the machine, and `test` holds for each command by which it does.
fn each_sender(scene: &Scene<'_>, test: impl Fn(&Invocation) -> bool) -> bool {
    let mut senders = scene.invocations().iter().filter(|other| leaves_machine(other)).peekable();
    senders.peek().is_some() && senders.all(test)
}

/// Whether a search takes one value out of a file of settings of the project, and all that leaves the machine carries it at most where a
/// caller says who they are: a header for keys, or a user's password.
pub(super) fn is_shown_as_key(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((_, file)) = taken(inv) else { return false };
    let target = target_of(&Arg::literal(file), inv.cwd.as_deref());
    let classes = classify(&target, EffectKind::FileRead, &scene.view);
    let line = scene.command_line();
    classes.has(Class::EnvFile)
        && !classes.any(&[Class::Secret, Class::Keys])
        && each_sender(scene, |sender| shows_key(sender, file, line))
}

/// A value of the project's settings that a request shows as its key to a service of another name.
pub(crate) fn shown_as_key<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found =
        scene.invocations().iter().find(|inv| is_shown_as_key(inv, scene) && !is_for_its_service(inv, scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a request carries what is not plain to us nowhere but where a caller says who they are.
fn shows_key(sender: &Invocation, file: &str, line: &str) -> bool {
    const HARMLESS: &[&str] = &["-o", "--output", "-m", "--max-time", "-w", "--write-out"];
    let says_who = |value: &Arg| {
        let header = value.prefix().split(':').next().unwrap_or_default().to_ascii_lowercase();
        value.prefix().contains(':') && ["auth", "key", "token"].iter().any(|word| header.contains(word))
    };
    runs(sender, &["curl"])
        && matches!(sender.stdin, Stdin::Inherited)
        && !sender.operands.is_empty()
        && sender.operands.iter().all(|url| url.known().is_some() || is_of_file(url, sender, file, line))
        && sender.flags.iter().all(|flag| {
            let Some(value) = flag.value.as_ref().filter(|value| value.has_unknown()) else { return true };
            match flag.name.as_str() {
                "-H" | "--header" => says_who(value),
                "-u" | "--user" => true,
                name => HARMLESS.contains(&name),
            }
        })
}

/// The name and the file of `grep '^NAME=' FILE`, and of other ways to take one value.
fn taken(inv: &Invocation) -> Option<(&str, &str)> {
    let [pattern, file] = inv.operands.as_slice() else { return None };
    let name = match inv.program.as_str() {
        "grep" | "egrep" => {
            let wider =
                ["-i", "-v", "-A", "-B", "-C", "-f", "-r", "-R"].iter().any(|flag| has_flag(inv, flag));
            (!wider).then_some(())?;
            let name = pattern.known()?;
            name.strip_suffix('=').unwrap_or(name).trim_start_matches('^')
        }
        "sed" => {
            let script = pattern.known().filter(|_| has_flag(inv, "-n"))?.strip_prefix("s/^")?;
            script.split_once('=').filter(|(_, rest)| matches!(*rest, "//p" | "\\(.*\\)/\\1/p"))?.0
        }
        _ => return None,
    };
    let plain =
        name.len() > 3 && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    Some((name, file.known()?)).filter(|_| plain)
}

/// Whether a host is named after one of the words of a setting: `RESEND_API_KEY` and `api.resend.com`.
fn names_service(setting: &str, host: &str) -> bool {
    let mut labels = host.rsplit('.');
    let (Some(end), Some(service)) = (labels.next(), labels.next()) else { return false };
    ENDS.contains(&end)
        && setting
            .split('_')
            .filter(|word| word.len() > 3 && !GENERIC.contains(word))
            .any(|word| word.eq_ignore_ascii_case(service))
}

/// Whether the variable that an address begins with is a place that the file names: `URL=$(grep '^X_URL=' FILE | …); curl "$URL/x"`.
fn is_of_file(address: &Arg, sender: &Invocation, file: &str, line: &str) -> bool {
    let [Piece::Unknown, Piece::Known(tail), ..] = address.pieces.as_slice() else { return false };
    let Some((front, _)) = sender.text.split_once(tail.as_str()).filter(|_| tail.starts_with('/')) else {
        return false;
    };
    let front = front.strip_suffix('}').unwrap_or(front);
    let start =
        front.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at.saturating_add(1));
    let (before, name) = front.split_at_checked(start).unwrap_or_default();
    if name.is_empty() || !(before.ends_with('$') || before.ends_with("${")) {
        return false;
    }
    let given = ["=$(", "=\"$("]
        .iter()
        .flat_map(|sign| line.split([name, sign].concat().as_str()).skip(1).collect::<Vec<_>>());
    let mut given = given.map(|given| given.split(')').next().unwrap_or_default()).peekable();
    given.peek().is_some()
        && given.all(|given| {
            given.starts_with("grep ")
                && given.contains(file)
                && PLACES.iter().any(|end| given.contains(&[end, "="].concat()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_its_name() {
        assert!(
            names_service("RESEND_API_KEY", "api.resend.com") && names_service("OPENAI_KEY", "openai.com")
        );
        for (setting, host) in [
            ("RESEND_API_KEY", "resend.evil.com"),
            ("API_KEY", "api.com"),
            ("SECRET_KEY", "secret.com"),
            ("OPENAI_KEY", "openai.xyz"),
            ("OPENAI_KEY", "localhost"),
        ] {
            assert!(!names_service(setting, host), "{host}");
        }
    }
}
