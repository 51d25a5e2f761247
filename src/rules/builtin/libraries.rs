//! Code of a command that speaks to a cloud, a cluster or a container service by its library: the calls that lose or open much. By the
//! names of calls alone; code that lies in the project already is not looked at.

use super::cloud::PROVIDERS;
use crate::rules::facts::operations::{GRANTS_ACCESS, LOOSENS_CLOUD, Operations};
use crate::rules::matcher::{
    By, Found, Scene, Sought, content, input_of, is_interpreter, runs_input, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/libraries");

/// How the names of calls begin that delete, in the letters of any language.
const DELETES: &[&str] = &["delete", "terminate", "deregister", "purge", "begin_delete", "schedule_key_del"];

/// What a call of a library comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Deletes,
    Grants,
    Loosens,
}

/// Code of the call itself that has a provider or a cluster do such a thing.
pub(super) fn told<'a>(scene: &Scene<'a>, what: Told) -> Found<'a> {
    first(scene, |code| {
        let lower = code.to_ascii_lowercase();
        let names = CLOUDS.iter().any(|name| lower.contains(name));
        let every = || {
            let opened = || OPENED.iter().any(|one| lower.contains(one));
            what == Told::Grants && lower.contains("0.0.0.0/0") && opened()
        };
        let tells = names && (calls(code).any(|name| comes_to(name) == Some(what)) || every())
            || what == Told::Deletes && (names && deletes_itself(&lower) || asks_provider(&lower));
        tells && !is_emulated(code)
    })
}

/// Code of the call itself that has a container service start what has the machine in its hands.
pub(super) fn host_given<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SERVICES: &[&str] = &["docker", "podman", "kubernetes", "containerd"];
    first(scene, |code| {
        let lower = code.to_ascii_lowercase();
        SERVICES.iter().any(|name| lower.contains(name)) && {
            let plain = plain(code);
            HOST_FORMS.iter().any(|form| plain.contains(form))
        }
    })
}

/// The first interpreter that is given such code: in its arguments, on its input, or in a file that the call writes.
pub(super) fn first<'a>(scene: &Scene<'a>, test: impl Fn(&str) -> bool) -> Found<'a> {
    let runs_code =
        |inv: &&Invocation| is_interpreter(&inv.program) || RUNNERS.contains(&inv.program.as_str());
    let found = scene.invocations().iter().filter(runs_code).find(|inv| {
        let args = inv.args.iter().map(Arg::text).collect::<Vec<_>>().join("\n");
        std::iter::once(args).chain(input_of(inv, scene)).chain(written(inv, scene)).any(|code| test(&code))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The code of a script that the call itself writes and then runs.
pub(super) fn written(inv: &Invocation, scene: &Scene<'_>) -> Option<String> {
    if scene.view.survey.written.is_empty() {
        return None;
    }
    let target = target_of(inv.operands.first()?, inv.cwd.as_deref());
    let own = scene.view.survey.written.iter().any(|(file, _)| file == target.text());
    own.then(|| content(scene, target.text()))?
}

/// The scripts of [`scripts_of`], where some code of the command holds one of the words of each list.
pub(super) fn scripts_with<'a>(inv: &'a Invocation, scene: &Scene<'a>, words: &[&[&str]]) -> Vec<String> {
    // What a command runs without a script in the call is in its arguments, or was there before.
    if inv.stdin == Stdin::Inherited && scene.view.survey.written.is_empty() {
        return Vec::new();
    }
    let held = |text: &Sought| words.iter().all(|list| text.holds_any(list));
    if scene.codes(inv).iter().any(held) { scripts_of(inv, scene) } else { Vec::new() }
}

/// The whole scripts that the call itself has an interpreter run: what comes to it, where that is run, and a file that it writes.
pub(super) fn scripts_of(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let fed = if runs_input(inv, By::Pipe) { input_of(inv, scene) } else { Vec::new() };
    fed.into_iter().chain(written(inv, scene)).collect()
}

/// Code in small letters without blanks and quotes.
pub(super) fn plain(code: &str) -> String {
    let kept = |c: &char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '`');
    code.chars().filter(kept).map(|c| c.to_ascii_lowercase()).collect()
}

/// It speaks to what is emulated on this machine.
pub(super) fn is_emulated(code: &str) -> bool {
    let plain = plain(code);
    let local = ["http://localhost:", "http://127.0.0.1:", "http://localstack:"];
    ["endpoint_url=", "endpoint:", "apiendpoint:"]
        .iter()
        .any(|key| plain.split(key).skip(1).any(|value| local.iter().any(|front| value.starts_with(front))))
}

/// Names that something is called by: `delete_table(`; and a `DeleteTableCommand`, which may be called by another name.
fn calls(code: &str) -> impl Iterator<Item = &str> {
    let called = code.match_indices('(').filter_map(|(at, _)| {
        let front = code.get(..at)?;
        let start = front.rfind(|c: char| !is_of_a_name(c)).map_or(0, |at| at + 1);
        front.get(start..).filter(|name| name.len() > 7)
    });
    called.chain(code.split(|c: char| !is_of_a_name(c)).filter(|name| name.ends_with("Command")))
}

/// Whether a call of Amazon's interface, in small letters and one word, is one of these operations of its client whatever it is told:
/// `createaccesskey` is `iam create-access-key`.
pub(super) fn is_of_amazon(name: &str, operations: Operations) -> bool {
    let rows =
        operations.iter().filter(|(programs, _)| programs.contains(&"aws")).flat_map(|(_, rows)| rows.iter());
    { rows }.filter_map(|row| row.split_once(' ')).any(|(_, told)| {
        told.len() >= name.len() && told.bytes().filter(|byte| *byte != b'-').eq(name.bytes())
    })
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn comes_to(name: &str) -> Option<Told> {
    let name: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let name = name.strip_suffix("command").unwrap_or(&name);
    if LOOSENS.contains(&name) || is_of_amazon(name, LOOSENS_CLOUD) {
        return Some(Told::Loosens);
    }
    if GRANTS.contains(&name) || is_of_amazon(name, GRANTS_ACCESS) {
        return Some(Told::Grants);
    }
    let what = DELETES.iter().find_map(|front| name.strip_prefix(&front.replace('_', "")))?;
    let small = SMALL.iter().any(|thing| what.strip_prefix("namespaced").unwrap_or(what) == *thing);
    (!what.is_empty() && !small).then_some(Told::Deletes)
}

/// `Bucket('b').objects.delete()`, `InstancesClient().delete(…)`: a thing deletes itself.
fn deletes_itself(lower: &str) -> bool {
    const OWNERS: &[&str] = &["resource(", "google.cloud", "aws::", "azure.mgmt", "ovh.client("];
    const ONES: &[&str] = &[".object(", "blob(", ".get_blob", ".message("];
    OWNERS.iter().any(|owner| lower.contains(owner))
        && [".delete(", ".begin_delete(", ".delete!", ".terminate("].iter().any(|call| lower.contains(call))
        && !ONES.iter().any(|one| lower.contains(one))
}

/// A provider is asked to delete, by a request.
fn asks_provider(lower: &str) -> bool {
    PROVIDERS.iter().any(|front| {
        lower.match_indices(front).any(|(at, _)| {
            let host = lower.get(..at).and_then(|text| text.rsplit_once("://"));
            host.is_some_and(|(_, host)| host.len() < 64 && !host.contains(['/', ' ', '\'', '"']))
        })
    }) && {
        let plain = plain(lower);
        ASKS_TO_DELETE.iter().any(|form| plain.contains(form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_by_their_names() {
        for (code, told) in [
            ("c.delete_table(TableName='p')", Some(Told::Deletes)),
            ("new DeleteDBInstanceCommand({})", Some(Told::Deletes)),
            ("api.deleteNamespace('x')", Some(Told::Deletes)),
            ("c.stop_logging(Name='t')", Some(Told::Loosens)),
            ("c.create_access_key(UserName='x')", Some(Told::Grants)),
            ("c.delete_object(Key='a')", None),
            ("v1.delete_namespaced_pod('a', 'b')", None),
            ("c.describe_tables()", None),
            ("const { DeleteTableCommand: C } = require('x'); new C({})", Some(Told::Deletes)),
            ("import { ListTablesCommand } from 'x'", None),
        ] {
            assert_eq!(calls(code).find_map(comes_to), told, "{code}");
        }
    }
}
