//! What programs do on other machines, as far as a row says it; and programs that no row knows, judged as tools of servers are: by the
//! verb that they are told, and what it falls on.

pub(in crate::rules::builtin) mod arguments;
mod guards;

use self::arguments::{
    WORKING, by_option, given, options, subcommand, typed_in, verb_of, with_singular, works_on_a_file,
};
use super::verbs;
use crate::domain::{Verdict, words_of};
use crate::rules::Invocation;
use crate::rules::builtin::{database, operations, standing};
use crate::rules::facts::words::{
    ADMITTING, ENDING, EVERYBODY, GIVING, GREAT_ELSEWHERE, HALTING, LETTING, LIVING, MAKING, MESSAGING,
    NOTED, PEOPLE, READING, REVEALING, RULERS, SCOPES, SERVING, SMALL, THINGS,
};
use crate::rules::facts::{self, Operands, Operation, Program, Verbs};
use crate::rules::matcher::{Found, Scene, Spoken, Told, Trigger, asks_for_help, host_of, runs};
use crate::rules::survey::is_program_dir;
use crate::shell::Arg;

words!("builtin/tools/unlisted");

fn unlisted_program_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Destroys, About::Loss), removes)
}

fn unlisted_program_stops<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Stops, About::Loss), |told| verbs::loosens(told).max(ends(told)))
}

fn guard_switched_off_by_an_option<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Stops, About::Guard), |told| asked_where(guards::are_off(told)))
}

fn unlisted_program_opens<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Opens, About::Access), gives)
}

fn everybody_let_in_by_an_option<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Opens, About::Guard), |told| asked_where(guards::let_all_in(told)))
}

fn unlisted_program_keeps_a_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Opens, About::Loss), verbs::opens)
}

fn unlisted_program_reveals<'a>(scene: &Scene<'a>) -> Found<'a> {
    told_to(scene, (Operation::Reveals, About::Loss), reveals)
}

const NEEDS: Trigger = Trigger::UNLISTED.or(Trigger::programs(PYTHONS)).or(Trigger::programs(JAVA));

/// What a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    /// Something that is taken away or shown: not what nobody misses by its name, nor what rules know of a cloud.
    Loss,
    /// Somebody who is let in: also into that.
    Access,
    /// What keeps others out: also of programs of which rules know each verb.
    Guard,
}

fn asked_where(holds: bool) -> Verdict {
    if holds { Verdict::Modify } else { Verdict::Allow }
}

/// Interpreters that run a module by its name, as one runs a program.
const PYTHONS: &[&str] = &["python", "python3"];

/// What runs a program that is packed in a file.
const JAVA: &[&str] = &["java"];

/// Whether a program stands in no table, or in one that only says that it talks to another machine.
pub(in crate::rules) fn is_unlisted(row: Option<&Program>) -> bool {
    row.is_none_or(|row| {
        row.operation == Operation::Network && row.operands == Operands::Text || row.verbs == Verbs::Judged
    })
}

/// A command of which a row says that it does `operation`, or one of a program that no table knows and that is told what `judge` does not
/// let pass unseen.
fn told_to<'a>(
    scene: &Scene<'a>,
    (operation, about): (Operation, About),
    judge: fn(&Told<'_>) -> Verdict,
) -> Found<'a> {
    if !scene.certain {
        return Found::No;
    }
    let found = scene.running(|inv| is_meant(inv, operation, about)).find(|inv| {
        let told = || {
            let spoken = scene.spoken(inv, || said(inv, scene));
            spoken.is_some_and(|spoken| {
                (about != About::Loss || !spoken.on_file) && judge(&spoken.told) >= Verdict::Modify
            })
        };
        // `ssh host frobctl stop`: whoever works there.
        let stopped = || {
            let over_ssh = operation == Operation::Stops && inv.wrappers.iter().any(|name| name == "ssh");
            let word = || {
                subcommand(&inv.args)
                    .first()
                    .is_some_and(|word| matches!(*word, "stop" | "halt" | "shutdown"))
            };
            about == About::Loss && over_ssh && word() && !asks_for_help(inv)
        };
        let does = if inv.does == Some(operation) {
            !is_tried(inv)
        } else if inv.added.contains(&operation) {
            !operations::is_rehearsal(inv) && !asks_for_help(inv)
        } else {
            (told() || stopped()) && !is_function(inv, scene)
        };
        does && !is_here(inv) && (about != About::Loss || !is_unmissed(inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a command is one to be looked at: by what its row says of it, or by its verbs where that says nothing.
fn is_meant(inv: &Invocation, operation: Operation, about: About) -> bool {
    if inv.does.is_some() || inv.added.contains(&operation) {
        return inv.does == Some(operation) || inv.added.contains(&operation);
    }
    if runs(inv, PYTHONS) {
        return inv.args.first().and_then(Arg::known) == Some("-m");
    }
    if runs(inv, JAVA) {
        return inv.args.iter().any(|arg| arg.known() == Some("-jar"));
    }
    let row = facts::find(&inv.program);
    let verbs = row.map_or(Verbs::Usual, |row| row.verbs);
    is_unlisted(row)
        && !facts::is_local(&inv.program)
        && match about {
            About::Loss => !matches!(verbs, Verbs::Ruled | Verbs::Access),
            About::Access => verbs != Verbs::Ruled,
            About::Guard => true,
        }
}

/// Whether a command whose row tells its options from their values only says what it would do, or how it is used.
fn is_tried(inv: &Invocation) -> bool {
    let has = |test: fn(&str) -> bool| inv.flags.iter().any(|flag| test(&flag.name));
    let dry = inv.flags.iter().any(|flag| match flag.value.as_ref().and_then(Arg::known) {
        Some(value) => operations::is_dry(&format!("{}={value}", flag.name)),
        None => operations::is_dry(&flag.name),
    });
    dry && !has(|name| name.starts_with("--no-dry")) || has(|name| matches!(name, "-h" | "-help"))
}

/// Whether a program is a function of the script that it stands in.
fn is_function(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let line = scene.command_line();
    let begins = |(at, name): (usize, &str)| {
        let behind = line.get(at + name.len()..).and_then(|rest| rest.strip_prefix("()"));
        behind.is_some_and(|rest| rest.trim_start().starts_with(['{', '(']))
    };
    line.match_indices(inv.program.as_str()).any(begins)
        || line.contains(&format!("function {}", inv.program))
}

/// The verb, where it does more than look.
fn verb<'t>(told: &'t Told<'_>) -> Option<&'t str> {
    told.words.first().map(String::as_str).filter(|verb| !READING.contains(verb))
}

/// What takes something away, of which more is great on another machine than with a tool.
fn removes(told: &Told<'_>) -> Verdict {
    // `remove list@host.example`: a list, or somebody.
    let address = |(_, value): &(String, String)| {
        !value.contains(char::is_whitespace)
            && value.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && host.contains('.') && host.starts_with(|c: char| c.is_ascii_alphabetic())
            })
    };
    // What lies behind an address is on another machine; `*` is all of it.
    let far = |(key, value): &(String, String)| {
        SERVING.contains(&key.as_str())
            && value.contains("://")
            && !standing::is_this_machine(&host_of(value))
    };
    let all = |(key, value): &(String, String)| key.is_empty() && (value == "*" || value.ends_with("/*"));
    let takes = matches!(verb(told), Some("remove" | "uninstall"));
    if takes && told.args.iter().any(|arg| address(arg) || far(arg) || all(arg)) {
        return Verdict::Modify;
    }
    let great = matches!(verb(told), Some("delete" | "remove" | "destroy" | "wipe" | "purge" | "terminate"))
        && told.has(GREAT_ELSEWHERE);
    if great || ends_for_good(told) {
        return Verdict::Modify;
    }
    if verb(told).is_some_and(|verb| !MAKING.contains(&verb)) {
        verbs::destroys(told)
    } else {
        Verdict::Allow
    }
}

/// A verb that takes away only with certain things, where nobody is to be asked or what others live by is named.
fn ends_for_good(told: &Told<'_>) -> bool {
    const FORCED: &[&str] = &["f", "force", "y", "yes", "noconfirm", "noprompt", "batch"];
    let forced = || told.args.iter().any(|(key, _)| FORCED.contains(&key.as_str()));
    // Of what stops the next rule speaks.
    let live = || !verb(told).is_some_and(|verb| HALTING.contains(&verb)) && told.args.iter().any(names_live);
    matches!(verb(told), Some("remove" | "reset" | "rollback" | "recreate" | "kill"))
        && !told.has(SMALL)
        && (forced() || live())
}

/// Verbs that put another password in the place of one.
const RENEWING: &[&str] = &["update", "change", "set", "reset"];

/// What ends something that others rely on, whatever it falls on.
fn ends(told: &Told<'_>) -> Verdict {
    let locked = told.has(&["user", "account"]) || told.args.iter().any(|(key, _)| key == "user");
    let all = told.args.iter().any(|(key, value)| key == "all" && value != "false");
    let ends = verb(told).is_some_and(|verb| {
        ENDING.contains(&verb)
            || verb == "invalidate" && told.has(LETTING)
            || verb == "detach" && told.has(&["policy"])
            || verb == "lock" && locked
            || matches!(verb, "clear" | "disable" | "close") && told.has(LIVING)
            || !told.has(NOTED) && told.args.iter().any(closes)
            || RENEWING.contains(&verb) && told.has(&["password"])
            || MAKING.contains(&verb) && told.has(&["silence"])
            || HALTING.contains(&verb) && (all || told.args.iter().any(names_live))
    });
    if ends { Verdict::Modify } else { Verdict::Allow }
}

/// Whether an option says that something is to be closed: `--status closed`.
fn closes((key, value): &(String, String)) -> bool {
    matches!(key.as_str(), "status" | "state")
        && matches!(
            value.as_str(),
            "closed" | "suspended" | "disabled" | "inactive" | "deactivated" | "deleted"
        )
}

/// Whether an option or what is given names what others live by.
fn names_live((key, value): &(String, String)) -> bool {
    let is_stage = || matches!(key.as_str(), "env" | "stage" | "environment");
    standing::is_live_name(value) || value == "live" && is_stage()
}

/// What shows a secret: by its verb, or by an option that asks for it.
fn reveals(told: &Told<'_>) -> Verdict {
    let asked = told
        .args
        .iter()
        .any(|(key, value)| value != "false" && REVEALING.iter().any(|front| key.starts_with(front)));
    if asked || verb(told) == Some("reveal") || verbs::shows_secret(told) {
        Verdict::Modify
    } else {
        Verdict::Allow
    }
}

/// What lets somebody in: an account, a token, a right.
fn gives(told: &Told<'_>) -> Verdict {
    let key = told.has(&["key"]) && told.has(&["api", "access", "account", "ssh"]);
    let public = told.args.iter().any(|(_, value)| EVERYBODY.contains(&value.as_str()))
        || verb(told) == Some("set")
            && told.args.iter().any(|(key, value)| key.is_empty() && value == "public")
        || told.has(&["visibility"]) && told.args.iter().any(|(_, value)| value == "public");
    let scoped = told.args.iter().any(|(key, _)| SCOPES.contains(&key.as_str()));
    let great = told.args.iter().any(|(key, value)| key.is_empty() && RULERS.contains(&value.as_str()));
    let made = told.has(&["generate"])
        && (told.has(&["token", "apikey", "credential"])
            || told.has(&["password"]) && told.has(&["user", "account"]));
    // `account set --subscription x` chooses one.
    let chosen = verb(told) == Some("set") && told.words.iter().any(|word| word == "account");
    let opened = told.has(&["tunnel"]) && matches!(verb(told), Some("open" | "create"));
    let gives = verbs::opens(told) == Verdict::Block
        || verb(told).is_some_and(|verb| {
            let made = || ADMITTING.contains(&verb) && (told.has(PEOPLE) || key || scoped || great);
            GIVING.contains(&verb) || public || !chosen && made()
        });
    let messages = || told.args.iter().any(|(key, _)| MESSAGING.contains(&key.as_str()));
    let published = verb(told) == Some("publish") && !told.has(MESSAGING) && !messages();
    let raised = told.has(&["user", "member", "account"]) && told.is_on(&["admin", "superuser", "owner"]);
    // `update user ann admin on`
    let named = || {
        let ruler = |(key, value): &(String, String)| key.is_empty() && RULERS.contains(&value.as_str());
        told.has(&["user"])
            && told
                .args
                .windows(2)
                .any(|pair| matches!(pair, [role, (key, on)] if ruler(role) && key.is_empty() && on == "on"))
    };
    let raised = (raised || named()) && matches!(verb(told), Some("update" | "edit" | "change"));
    if gives || made || opened || published || raised { Verdict::Modify } else { Verdict::Allow }
}

/// Whether a command says that it works on this machine, and runs on it.
fn is_here(inv: &Invocation) -> bool {
    let is_here = |text: &str| {
        let value = text.split_once('=').map_or(text, |(_, value)| value);
        text == "--local"
            || if value.contains("://") {
                standing::is_this_machine(&host_of(value))
            } else {
                // What listens on all addresses lets others in.
                value.contains(':') && !value.starts_with("0.0.0.0") && standing::is_this_machine(value)
            }
    };
    !is_elsewhere(inv) && (inv.program.ends_with("local") || inv.args.iter().map(Arg::prefix).any(is_here))
}

/// Whether what a command works on is, by its names, what nobody misses.
fn is_unmissed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let is_scratch = |text: &str| !text.contains(' ') && text != "ci" && standing::is_scratch(text);
    (given(&inv.args).map(Arg::prefix).any(is_scratch)
        || standing::chooses_own(inv)
        || database::is_own_name(inv, scene))
        && !standing::names_live(inv)
}

/// Whether a command runs on another machine: where its program lies there says nothing.
fn is_elsewhere(inv: &Invocation) -> bool {
    inv.wrappers.iter().any(|name| matches!(name.as_str(), "ssh" | "kubectl" | "oc"))
}

/// Whether a program is named by where it lies, and that is no directory of programs. `@scope/name` is a package.
fn is_placed(inv: &Invocation) -> bool {
    let is_installed = |dir: &str| {
        is_program_dir(dir)
            || ["/opt/", "/usr/"].iter().any(|front| dir.starts_with(front)) && dir.ends_with("bin")
    };
    let placed = inv.word.prefix().rsplit_once('/').filter(|(dir, _)| !dir.starts_with('@'));
    placed.is_some_and(|(dir, _)| !is_installed(dir))
}

/// What a program is told, as the call of a tool: up to the first verb and what stands behind it. None where it is told nothing, or
/// only to look or to rehearse, or where it lies in the project or works on a file.
fn said<'i>(inv: &'i Invocation, scene: &Scene<'_>) -> Option<Spoken<'i>> {
    let (name, args) = named(inv)?;
    // What lies somewhere is somebody's own, and a name with capitals is a cmdlet, which is read elsewhere.
    let is_own = runs(inv, PYTHONS) || is_placed(inv) && !is_elsewhere(inv);
    if is_own && !standing::is_live(scene, inv)
        || !name.starts_with(|c: char| c.is_ascii_lowercase() || c == '-')
        || operations::is_rehearsal(inv)
        || asks_for_help(inv)
    {
        return None;
    }
    let spoken = |args: &[Arg]| {
        let (words, on_file) = verbs_said(name, args)?;
        Some(Spoken {
            told: Told { server: words_of(name), words, args: options(args), text: &inv.text },
            on_file,
        })
    };
    // What a search is given is sought.
    let seeks = ["find", "grep", "search", "sift"].iter().any(|part| name.contains(part));
    spoken(args).or_else(|| typed_in(args).filter(|_| !seeks).and_then(|words| spoken(&words)))
}

/// By what name a command is told something, and with which arguments: of an interpreter those of the module that it runs.
fn named(inv: &Invocation) -> Option<(&str, &[Arg])> {
    match inv.args.as_slice() {
        [_, module, rest @ ..] if runs(inv, PYTHONS) => Some((module.known()?, rest)),
        args if runs(inv, JAVA) => {
            let at = args.iter().position(|arg| arg.known() == Some("-jar"))?;
            let file = args.get(at + 1)?.known().filter(|file| !file.contains('/'))?;
            Some((file, args.get(at + 2..)?))
        }
        args => Some((inv.program.as_str(), args)),
    }
}

/// The words of the verb that stands first among the arguments of a program, or in its own name, and what stands behind it; and whether
/// that works on a file of this machine.
fn verbs_said(name: &str, args: &[Arg]) -> Option<(Vec<String>, bool)> {
    if args.iter().any(|arg| arg.known() == Some("DELETE")) {
        return Some((vec!["delete".to_owned()], false));
    }
    // `ssh host apps:destroy x`: the program is the command of another one.
    let own = Some(name).filter(|name| name.contains(':'));
    let words: Vec<&str> = own.into_iter().chain(subcommand(args)).collect();
    let Some(first) = words.iter().position(|word| verb_of(word).is_some()) else {
        return by_option(args).map(|words| (words, works_on_a_file(args)));
    };
    let is_thing = verb_of(words.get(first)?).is_some_and(|verb| THINGS.contains(&verb.as_str()))
        && words.get(first + 1).is_some_and(|word| verb_of(word).is_some_and(|verb| word.starts_with(&verb)))
        && (args.len() > first + 2 || words.get(first + 1).is_some_and(|word| word.contains(['_', '-'])));
    let at = first + usize::from(is_thing);
    let verb = words.get(at).and_then(|word| verb_of(word))?;
    let is_tunnel = verb == "open" && words.contains(&"tunnel");
    // `removenode status`: how far it has come.
    let looks = || {
        words.get(at + 1..) == Some(&["status"])
            && words.get(at).is_some_and(|word| arguments::fused(word).is_some())
    };
    if WORKING.contains(&verb.as_str()) && !is_tunnel || looks() {
        return None;
    }
    // Of a tool the verb stands first. What stands behind one with a thing in front of it is that one's name.
    let thing = words.get(at + 1);
    let gets = ADMITTING.contains(&verb.as_str()) && thing.is_some_and(|thing| PEOPLE.contains(thing));
    let behind = usize::from(at == 0 && words.first() == Some(&verb.as_str()) || gets);
    let parts = |word: &&str| match arguments::fused(word) {
        Some((verb, thing)) => vec![verb.to_owned(), thing.to_owned()],
        None => words_of(word),
    };
    let on_file = works_on_a_file(args) && !thing.is_some_and(|thing| PEOPLE.contains(thing));
    let behind = words.iter().take(at + 1 + behind).flat_map(|word| with_singular(parts(word)));
    Some((std::iter::once(verb).chain(behind).collect(), on_file))
}
