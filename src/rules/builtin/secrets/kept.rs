//! What is read of secrets, and goes to the program that it is for or stays in a variable that nothing prints.

use crate::rules::Invocation;
use crate::rules::matcher::{Scene, has_flag, runs, runs_code, runs_shell};

/// `NAME=$(grep NAME .env | cut …) npm test`, `psql "$(grep …)"`: what is read goes to a program that has a use for it, or
/// stays in a variable that nothing prints.
pub(super) fn is_for_program(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const CLIENTS: &[&str] =
        &["psql", "pg_dump", "pg_isready", "mysql", "mysqldump", "redis-cli", "mongosh", "sqlx", "migrate"];
    let all = scene.invocations();
    let mut of_it = all.iter().filter(|other| other.pipeline == inv.pipeline);
    let mut fed = || of_it.find_map(|other| other.feeds).and_then(|at| all.get(at));
    let used = |user: &Invocation| runs(user, CLIENTS) || runs(user, &["curl"]) && !tells(user);
    match assigned_to(inv, scene) {
        Some(name) => nothing_prints(name, inv, scene),
        None => fed().is_some_and(used) && writes_nothing(inv, scene),
    }
}

/// The variable that is given what a pipeline prints.
fn assigned_to<'a>(inv: &Invocation, scene: &Scene<'a>) -> Option<&'a str> {
    const OPENS: &[&str] = &["=$(", "=\"$(", "=`"];
    let line = scene.command_line();
    let of_it = scene.invocations().iter().filter(|other| other.pipeline == inv.pipeline);
    let first = of_it.min_by_key(|other| other.stage)?;
    let front = line.find(first.text.trim()).and_then(|at| line.get(..at))?;
    let front = OPENS.iter().find_map(|open| front.strip_suffix(open))?;
    let at = front.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    front.get(at..).filter(|name| !name.is_empty())
}

fn writes_nothing(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut of_it = scene.invocations().iter().filter(|other| other.pipeline == inv.pipeline);
    of_it.all(|other| other.writes.is_empty())
}

/// Whether nothing prints a variable, or all of them.
fn nothing_prints(name: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let prints = |other: &Invocation| {
        runs(
            other,
            &["echo", "printf", "cat", "env", "printenv", "set", "declare", "typeset", "tee", "export"],
        ) || runs_shell(other)
            || runs_code(other)
                && ["-c", "-e", "-p", "--eval", "--print"].iter().any(|flag| has_flag(other, flag))
    };
    // The shell around it is given all of this as its text.
    let around =
        |other: &Invocation| runs_shell(other) && other.args.iter().any(|arg| arg.text().contains(&inv.text));
    let (plain, braced) = (format!("${name}"), format!("${{{name}"));
    let named = |other: &Invocation| other.text.contains(&plain) || other.text.contains(&braced);
    let others = scene.invocations().iter().filter(|other| other.pipeline != inv.pipeline && !around(other));
    let mut printing = others.filter(|other| prints(other));
    writes_nothing(inv, scene)
        && !printing
            .any(|other| named(other) || !runs(other, &["echo", "printf", "cat"]) || other.feeds.is_some())
}

/// Whether curl prints what it sends, headers and all.
fn tells(curl: &Invocation) -> bool {
    const LOUD: &[&str] = &["-v", "--verbose", "--trace", "--trace-ascii", "--libcurl"];
    LOUD.iter().any(|flag| has_flag(curl, flag))
}
