//! Databases emptied by what is built upon them: the tasks of frameworks and of migration tools, and the models of an application.

use super::operations;
use super::{RuleSet, libraries, standing};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::facts::operations::RESETS_BY_TASK;
use crate::rules::matcher::{Found, Scene, Trigger, code_of, input_of, matches_one_of, runs, runs_code};
use crate::shell::Arg;

words!("builtin/resets");

/// Programs with commands that take a statement as it stands, and those commands.
const STATED: &[&str] = &["wp", "drush", "console", "php"];
const TOLD_STATEMENT: &[&str] = &["query", "sql:query", "sqlq", "doctrine:query:sql", "dbal:run-sql"];

/// Calls that delete every row where nothing in front narrows them.
const WHOLE: &[&str] = &[".delete_all", ".destroy_all"];

const NARROWED: &[&str] = &["where(", ".limit(", ".find_by", ".old", ".expired", ".stale", "find("];

fn tables_dropped_by_a_library<'a>(scene: &Scene<'a>) -> Found<'a> {
    if super::database::is_for_tests(scene) {
        return Found::No;
    }
    libraries::first(scene, empties_tables)
}

/// Stores as code names their clients.
const STORES: &[&str] =
    &["import redis", "redis.Redis", "ioredis", "require('redis')", "mongoose", "pymongo", "MongoClient"];

/// Code that empties a store: one of a person's own, or any other.
pub(super) fn store_emptied<'a>(scene: &Scene<'a>, own: bool) -> Found<'a> {
    scene.code_where(|texts, _| {
        texts.iter().any(|text| {
            text.holds_any(STORES) && text.holds_any(EMPTYING) && is_own_store(&libraries::plain(text)) == own
        })
    })
}

/// Whether code, squeezed, names nothing but this machine, and a store by a number or as one for tests or development.
fn is_own_store(code: &str) -> bool {
    const HERE: &[&str] = &["127.0.0.1", "[::1]"];
    const UNKNOWN: &[&str] = &["environ", "process.env", "getenv", "argv", "flushall(", "argparse", "open("];
    let code = code.replace("localhost", "127.0.0.1");
    let here = |rest: &str| HERE.iter().any(|host| rest.trim_start_matches(['=', ':']).starts_with(host));
    let numbered = || {
        let value = |rest: &str| rest.trim_start_matches(['=', ':']).starts_with(|c| matches!(c, '1'..='9'));
        code.split("db").skip(1).any(|rest| rest.starts_with(['=', ':']) && value(rest))
    };
    let named = || {
        let name = |rest: &str| standing::is_own(rest.split([')', ',', '?']).next().unwrap_or_default());
        let dropped: Vec<&str> = code.split("drop_database(").skip(1).collect();
        !dropped.is_empty() && dropped.into_iter().all(name)
    };
    !UNKNOWN.iter().any(|word| code.contains(word))
        && code.split("://").skip(1).all(here)
        && code.split("host").skip(1).all(here)
        && (numbered() || named())
}

/// Code that stands in a command, also behind a program that starts an interpreter.
const IN_CODE: Trigger = Trigger::INTERPRETER.or(Trigger::programs(libraries::RUNNERS));

/// Code that has a library drop every table, or delete every row of one.
fn empties_tables(code: &str) -> bool {
    let plain = libraries::plain(code);
    let any = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    any(&[
        ".drop_all(",
        ".drop_tables(",
        "sequelize.drop(",
        ".deletemany()",
        ".deletemany({})",
        "sync({force:true",
        "repo.delete_all(",
        "synchronize(true",
    ]) && !any(&[":memory:", "_test", "sqlite:///tmp", "sqlite:////tmp", "where"])
}

/// Whether the program's name alone lets [`is_task`] hold.
fn may_be_task(inv: &Invocation) -> bool {
    operations::is_named(inv, RESETS_BY_TASK) || runs(inv, TASKERS)
}

/// A task behind the program that runs it, or told to the tool itself.
fn is_task(inv: &Invocation) -> bool {
    if operations::is_one(inv, RESETS_BY_TASK) {
        return true;
    }
    if !runs(inv, TASKERS) {
        return false;
    }
    let at = inv.args.iter().take(4).position(|arg| {
        let name = tool_name(arg);
        RESETS_BY_TASK.iter().any(|(tools, _)| tools.contains(&name))
    });
    let Some((tool, args)) = at.and_then(|at| inv.args.get(at..)).and_then(<[Arg]>::split_first) else {
        return false;
    };
    operations::is_told(tool_name(tool), args, RESETS_BY_TASK)
}

/// `vendor/bin/x` and `x@5` are `x`.
fn tool_name(arg: &Arg) -> &str {
    let name = arg.known().map(last_name).unwrap_or_default();
    name.split('@').next().unwrap_or_default()
}

fn forced<'a>(scene: &Scene<'a>) -> Found<'a> {
    let spared = |inv: &Invocation| {
        super::database::names_scratch(inv)
            || super::database::env_is_scratch(inv, scene)
            || super::database::names_own(inv, scene)
            || super::database::is_settled_here(inv, scene)
    };
    let found =
        scene.running(may_be_task).find(|inv| is_task(inv) && !spared(inv) && !is_made_anew(scene, inv));
    // Last, because it looks through the whole command line.
    let found = found.filter(|_| !super::database::is_for_tests(scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `db:drop db:create`: on a person's own machine, where it is set up once more in the same call, asking is enough.
fn is_made_anew(scene: &Scene<'_>, inv: &Invocation) -> bool {
    const ELSEWHERE: &[&str] = &["heroku", "dokku", "supabase", "wp", "drush"];
    !runs(inv, ELSEWHERE)
        && !inv.wrappers.iter().any(|wrapper| ELSEWHERE.contains(&wrapper.as_str()))
        && !standing::is_live(scene, inv)
        && CREATES.iter().any(|task| scene.says(task))
        && !["prod", "ssh ", "stag"].iter().any(|word| scene.says(word))
}

static RESET: RuleSet = RuleSet::of(&[&["database.reset"]]);

fn live<'a>(scene: &Scene<'a>) -> Found<'a> {
    // The rule first: what is live is asked of each command with the whole command line.
    if !matches_one_of(scene, &RESET) {
        return Found::No;
    }
    let found =
        scene.invocations().iter().find(|inv| standing::is_live(scene, inv) || is_answered(scene, inv));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The question of a task is answered in advance.
fn is_answered(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let answers = |other: &Invocation| {
        let word = other.args.first().and_then(Arg::known).unwrap_or_default();
        other.program == "yes"
            || runs(other, &["echo", "printf"])
                && matches!(word.trim_end_matches("\\n"), "y" | "Y" | "yes" | "YES")
    };
    runs(inv, TASKERS)
        && scene
            .invocations()
            .iter()
            .any(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && answers(other))
}

/// Whether all that code connects to are files of databases that nobody misses.
fn is_scratch_file(code: &str) -> bool {
    let opened: Vec<&str> = code.split("connect(").skip(1).collect();
    !opened.is_empty()
        && code.matches("connect(").count() == code.matches("sqlite3.connect(").count()
        && opened.iter().all(|rest| {
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let name = quote.and_then(|quote| rest.get(1..)?.split(quote).next()).unwrap_or_default();
            let file = last_name(name);
            !name.contains("..") && (name.starts_with("/tmp/") || standing::is_scratch(file))
        })
}

/// A statement among the strings of code that loses data, and a call that executes it.
fn in_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    let executes = |code: &str| {
        CALLS.iter().any(|call| code.contains(call))
            && !code.contains(":memory:")
            && !code.contains("_test")
            && !is_scratch_file(code)
    };
    let live = |code: &str| {
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        code.split(|c| !name(c)).any(standing::is_live_name)
    };
    let loses = |code: &str| {
        code.split(['\'', '"', '`']).any(super::database::loses)
            || code.split(['\'', '"', '`']).any(super::database::changes_every_row) && live(code)
    };
    let found = scene.running(runs_code).find(|inv| {
        let codes = inv.args.iter().map(Arg::to_text).chain(input_of(inv, scene));
        codes.chain(libraries::written(inv, scene)).any(|code| executes(&code) && loses(&code))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    if super::database::is_for_tests(scene) {
        return Found::No;
    }
    let whole = |text: &str| {
        let squeezed: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        // Whoever is logged in logs in again.
        let squeezed = if squeezed.contains("django.contrib.sessions") {
            squeezed.replace(";session.objects.all().delete()", ";")
        } else {
            squeezed
        };
        EMPTIED.iter().any(|call| squeezed.contains(call))
            || squeezed.split([';', '\n', '|']).any(|statement| {
                WHOLE.iter().any(|call| statement.contains(call))
                    && !NARROWED.iter().any(|by| statement.contains(by))
            })
    };
    let told = |inv: &Invocation, list: &[&str]| {
        let mut words = inv.args.iter().filter_map(Arg::known);
        words.any(|word| list.contains(&last_name(word)))
    };
    // A statement by itself, or one that a call executes.
    let states = |inv: &Invocation, text: &str| {
        runs(inv, STATED) && told(inv, TOLD_STATEMENT) && super::database::loses(text)
            || CALLS.iter().any(|call| text.contains(call))
                && text.split(['\'', '"', '`']).any(super::database::loses)
    };
    let inside = |inv: &&Invocation| {
        told(inv, TOLD_CODE)
            || runs(inv, STATED) && told(inv, TOLD_STATEMENT)
            || inv.program == "mix" && told(inv, &["run"])
    };
    let found = scene
        .invocations()
        .iter()
        .filter(|inv| runs(inv, SHELLS))
        .filter(inside)
        .find(|inv| code_of(inv, scene).any(|text| whole(&text) || states(inv, &text)));
    Found::from(found.map(|inv| inv.text.as_str()))
}
