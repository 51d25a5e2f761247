//! Databases set up anew by the tools of a framework.

use super::{deleted_by_request, env_is_scratch, is_for_tests, names_scratch};
use crate::rules::builtin::database::spared::is_named_for_tests;
use crate::rules::builtin::operations;
use crate::rules::matcher::{Found, Scene};
use crate::rules::{Invocation, matcher};
use crate::shell::Arg;

fn rails_database_reset(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let _ = inv;
    !is_for_tests(scene)
}

fn prisma_resets<'a>(scene: &Scene<'a>) -> Found<'a> {
    let pushes = |inv: &Invocation| {
        matcher::has_sub(inv, "db push")
            && ["--force-reset", "--accept-data-loss"].iter().any(|flag| matcher::has_flag(inv, flag))
    };
    let found = scene.first(&["prisma"], |inv| {
        (matcher::has_sub(inv, "migrate reset") || pushes(inv))
            && !matcher::asks_for_help(inv)
            && inv.args.last().and_then(Arg::known) != Some("--help")
            && !env_is_scratch(inv, scene)
    });
    Found::from(found.filter(|_| !is_for_tests(scene)).map(|inv| inv.text.as_str()))
}

fn database_emptied_by_words(inv: &Invocation, scene: &Scene<'_>) -> bool {
    !names_scratch(inv)
        && !env_is_scratch(inv, scene)
        && !is_named_for_tests(inv, scene)
        && !only_prints(inv, scene)
        && !is_for_tests(scene)
}

fn schema_set_back(inv: &Invocation) -> bool {
    let prints = |word: &str| word.contains("-sql") || word.ends_with("SQL");
    !names_scratch(inv) && !operations::known_words(inv).into_iter().any(prints)
}

words!("builtin/database/reset");

/// `manage.py sqlflush` prints statements; what comes behind it may run them.
fn only_prints(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().any(|arg| arg.known() == Some("sqlflush"))
        && inv.feeds.is_none()
        && !scene.invocations().iter().any(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
}

fn framework_reset<'a>(scene: &Scene<'a>) -> Found<'a> {
    const PAIRS: &[(&str, &str)] = &[
        ("artisan", "migrate:fresh"),
        ("artisan", "migrate:reset"),
        ("artisan", "migrate:refresh"),
        ("artisan", "db:wipe"),
        ("manage.py", "flush"),
        ("manage.py", "reset_db"),
        ("migrate", "reset"),
        ("db", "reset"),
        ("rake", "db:reset"),
        ("rake", "db:drop"),
        ("rails", "db:drop"),
        ("rails", "db:reset"),
        ("sequelize", "db:drop"),
        ("mix", "ecto.drop"),
        ("mix", "ecto.reset"),
        ("knex", "migrate:rollback"),
        ("typeorm", "schema:drop"),
    ];
    let found = scene.first(RUNNERS, |inv| {
        let words: Vec<&str> =
            std::iter::once(inv.program.as_str()).chain(inv.args.iter().filter_map(Arg::known)).collect();
        // One step back is what migrations are tried with.
        if words.contains(&"supabase") && words.contains(&"--local") || words.last() == Some(&"--help") {
            return false;
        }
        let step = words.contains(&"migrate:rollback") && !words.contains(&"--all");
        let is_pair = |pair: &[&str]| {
            let [a, b] = pair else { return false };
            PAIRS.iter().any(|(x, y)| a.rsplit('/').next() == Some(x) && b == y)
        };
        // Last, because it looks at the whole command line.
        !step && words.windows(2).any(is_pair) && !env_is_scratch(inv, scene)
    });
    let found = found.filter(|_| !is_for_tests(scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}
