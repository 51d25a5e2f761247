//! Databases, tables and definitions that are dropped.

use super::{
    DROPPERS, STATEMENTS, Whose, defines, dropped, dropped_names, drops_column, drops_missed, drops_others,
    drops_table, is_made_again, is_view, sql_anywhere, sql_unless_own, sql_where, starts, words_of,
};
use crate::rules::builtin::database::place::{Place, place_of};
use crate::rules::builtin::standing;
use crate::rules::builtin::standing::is_scratch;
use crate::rules::matcher::{Found, Scene};

words!("builtin/database/dropped");

fn sql_drop_database<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_unless_own(scene, |words| {
        starts(words, &["DROP", "SCHEMA"]) && drops_missed(words)
            || starts(words, &["DROP", "KEYSPACE"])
            || starts(words, &["DROP", "PLUGGABLE"])
            || starts(words, &["RESET", "MASTER"])
            || starts(words, &["PURGE", "BINARY"])
    })
}

fn sql_drop_database_elsewhere<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_where(
        scene,
        |inv| place_of(inv, scene) == Place::Elsewhere,
        |words| starts(words, &["DROP", "DATABASE"]) && drops_missed(words),
    )
}

fn sql_drop_scratch_database<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_anywhere(scene, |one| {
        let words = words_of(one);
        dropped_names(&words).is_some_and(|names| names.iter().all(|name| is_scratch(name)))
    })
}

fn sql_drop_cascades<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_where(scene, |inv| !standing::names_scratch(inv), |words| is_made_again(words) && !defines(words))
}

fn sql_drop_definition<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_where(scene, |inv| !standing::names_scratch(inv), |words| defines(words) && !is_view(words))
}

fn sql_drop_view<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql(scene, |words| defines(words) && is_view(words))
}

/// The first client that is given a statement for which `test` holds; statements come as upper-case words.
fn sql<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |_| true, test)
}
