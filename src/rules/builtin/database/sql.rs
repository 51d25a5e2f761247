//! Where SQL stands in a call, and what its statements say.

use super::{is_at_tests, is_local_copy, is_on_scratch, leaves, only_scratch};
use crate::domain::{Action, Tool};
use crate::rules::Invocation;
use crate::rules::builtin::database::place::{Place, place_of};
use crate::rules::builtin::database::spared::{is_rolled_back, made_by, takes_only};
use crate::rules::builtin::scripts;
use crate::rules::builtin::standing::apart;
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, Trigger, contains_word, content, input_of, runs, target_of};
use crate::shell::Arg;

words!("builtin/database/sql");

/// Frameworks whose own client is given statements on its standard input.
pub(super) const SHELLS: &[&str] = &["python", "python3", "rails", "django-admin"];

/// A client, or a program or tool that may be one.
pub(super) const STATEMENTS: Trigger =
    Trigger::programs(CLIENTS).or(Trigger::programs(SHELLS)).or(Trigger::TOOL).or(Trigger::UNLISTED);

/// Whether a program is a client of a database by its name, or one that no row knows.
fn may_be_client(inv: &Invocation) -> bool {
    /// Parts of the names of what only reads a text.
    const READERS: &[&str] = &["fmt", "format", "lint", "parse", "glot", "fluff", "grep", "search"];
    runs(inv, CLIENTS)
        || facts::is_unheard_of(&inv.program) && !READERS.iter().any(|part| inv.program.contains(part))
}

/// Whether a command is of a client: by its name, or because it is given a statement.
fn is_client(inv: &Invocation) -> bool {
    let is_statement = |text: &str| CHANGES.iter().any(|front| text.trim_start().starts_with(front));
    // `frobdb query "DROP …"`, `frobdb -q "DROP …"`: what a tool is told to check is an example.
    let asks = |word: &str| word.starts_with('-') || matches!(word, "query" | "sql" | "exec" | "execute");
    let mut pairs = inv.args.iter().zip(inv.args.iter().skip(1));
    // Of these one alone has such an option.
    let rehearsed = || {
        let dry = |arg: &&Arg| arg.text().contains("dry_run") || arg.text() == "--";
        let mut told = inv.args.iter().filter(dry);
        runs(inv, &["bq"]) && told.next().and_then(Arg::known) == Some("--dry_run") && told.next().is_none()
    };
    let client = runs(inv, CLIENTS)
        || may_be_client(inv)
            && pairs.any(|(before, text)| asks(before.prefix()) && is_statement(text.prefix()));
    client && !rehearsed()
}

pub(super) fn starts(words: &[String], beginning: &[&str]) -> bool {
    beginning.len() <= words.len() && beginning.iter().zip(words).all(|(wanted, word)| wanted == word)
}

/// The texts that a client is given: its arguments, and what comes on its standard input.
pub(super) fn texts(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let mut out = input_of(inv, scene);
    out.extend(inv.args.iter().map(|arg| {
        let text = arg.text();
        // `--execute=DROP TABLE x`
        match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") && !name.contains(' ') => value.to_owned(),
            Some(_) | None => text.into_owned(),
        }
    }));
    out.extend(own_files(inv, scene));
    // `psql -c "select 'drop table ' || …" | psql`
    let made = scene
        .invocations()
        .iter()
        .filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, CLIENTS));
    out.extend(made.flat_map(|other| other.args.iter().map(Arg::text)).flat_map(|text| quoted(&text)));
    out
}

/// The texts of files that the call itself writes and a client then runs: named in an argument, or shown to it.
pub(super) fn own_files(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let written = &scene.view.survey.written;
    if written.is_empty() {
        return Vec::new();
    }
    let shows = |other: &&&Invocation| other.stage < inv.stage && runs(other, &["cat"]);
    let shown = scene.printers(inv.pipeline).iter().filter(shows).flat_map(|other| &other.operands);
    let named = |arg: &Arg| {
        let text = arg.text();
        let file = [".read ", "source ", "\\i ", "--file=", "--eval=", "@", "-f", "-i"]
            .iter()
            .find_map(|front| text.strip_prefix(front))
            .unwrap_or(&text);
        let target = target_of(&Arg::literal(file.trim_matches(['\'', '"', ' '])), inv.cwd.as_deref());
        let own = written.iter().any(|(path, _)| path == target.text());
        own.then(|| content(scene, target.text())).flatten()
    };
    inv.args.iter().chain(shown).filter_map(named).collect()
}

/// The statements in front of which, or in which, a `WITH` stands, and what follows it.
pub(super) fn within(statement: &str) -> Vec<&str> {
    let mut statement = statement.trim_start();
    while let Some((_, rest)) = statement.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
        statement = rest.trim_start();
    }
    if !statement.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("with ")) {
        return Vec::new();
    }
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in statement.char_indices() {
        match c {
            '(' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    out.extend(statement.get(start..at));
                    let rest = statement.get(at + 1..).unwrap_or_default();
                    let goes_on = rest.trim_start();
                    let more = goes_on.starts_with(',')
                        || goes_on.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("as "));
                    if !more {
                        out.push(rest);
                        return out;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether `test` holds for one of the statements of a text, or for one inside of it, and not only of tables that the text makes.
pub(super) fn any_statement(text: &str, test: fn(&[String]) -> bool) -> bool {
    let holds = |statement: &str| test(&words_of(statement));
    let loses = |one: &str| holds(one) || any_made(one, test) || within(one).into_iter().any(holds);
    // Most texts hold nothing of the kind: what spares them is asked last.
    statements(text).any(loses) && {
        let made = made_by(text);
        statements(text).any(|one| loses(one) && !takes_only(&words_of(one), &made))
    }
}

/// Statements of a text, which a semicolon ends outside of quotes.
pub(super) fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.split(move |c| {
        within ^= c == '\'';
        c == ';' && !within
    })
}

/// A statement that is put together and executed by another (`EXECUTE 'DROP TABLE ' || name`).
pub(super) fn any_made(statement: &str, test: fn(&[String]) -> bool) -> bool {
    ["EXECUTE", "PREPARE", "\\gexec"].iter().any(|word| contains_word(statement, word)) && {
        let parts = quoted(statement);
        // `EXECUTE 'DROP ' || 'TABLE x'`
        parts.iter().any(|text| test(&words_of(text)))
            || statement.contains("||") && test(&words_of(&parts.concat()))
    }
}

/// The insides of the quotes of a text.
pub(super) fn quoted(text: &str) -> Vec<String> {
    text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The arguments of a tool that by its name talks to a database.
pub(super) fn given_to_tool<'a>(scene: &Scene<'a>) -> Option<&'a str> {
    let Action::Other { text, .. } = &scene.view.call.action else { return None };
    let Tool::Mcp { server, tool } = &scene.view.call.tool else { return None };
    let words = |name: &str, list: &[&str]| {
        crate::domain::words_of(name).iter().any(|word| list.contains(&word.as_str()))
    };
    // A search for documentation is not a statement, nor is what is written about one.
    const ABOUT: &[&str] =
        &["search", "docs", "documentation", "issue", "comment", "message", "explain", "help"];
    ((words(server, TOOLS) || words(tool, TOOLS)) && !words(tool, ABOUT)).then_some(text.as_str())
}

/// The same, of the clients for which `counts` holds.
pub(super) fn sql_where<'a>(
    scene: &Scene<'a>,
    counts: impl Fn(&Invocation) -> bool,
    test: fn(&[String]) -> bool,
) -> Found<'a> {
    if let Some(text) = given_to_tool(scene)
        && scripts::strings(text).iter().any(|text| any_statement(text, test))
    {
        return Found::yes(text);
    }
    sql_by_client(scene, counts, test)
}

/// The same, of statements that a client is given in a command.
pub(super) fn sql_by_client<'a>(
    scene: &Scene<'a>,
    counts: impl Fn(&Invocation) -> bool,
    test: fn(&[String]) -> bool,
) -> Found<'a> {
    let found = scene.running(|inv| may_be_client(inv) || runs(inv, SHELLS)).find(|inv| {
        let client = is_client(inv) && !is_local_copy(inv);
        let shell = runs(inv, SHELLS) && inv.args.iter().any(|arg| arg.known() == Some("dbshell"));
        if !client && !shell {
            return false;
        }
        let texts = texts(inv, scene);
        let loses = |text: &&String| any_statement(text, test) && !is_rolled_back(inv, text);
        texts.iter().any(|text| loses(&text))
            && counts(inv)
            && !(texts.iter().filter(loses).all(|text| only_scratch(text, test))
                && place_of(inv, scene) != Place::Elsewhere)
            && (!(client && is_on_scratch(inv) || is_at_tests(inv, scene))
                || texts.iter().any(|text| leaves(text)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The same of statements as they are written, with no regard to which database it is.
pub(super) fn sql_anywhere<'a>(scene: &Scene<'a>, test: fn(&str) -> bool) -> Found<'a> {
    if let Some(text) = given_to_tool(scene)
        && scripts::strings(text).iter().any(|text| statements(text).any(test))
    {
        return Found::yes(text);
    }
    let mut clients = scene.running(may_be_client).filter(|inv| is_client(inv));
    let found = clients.find(|inv| texts(inv, scene).iter().any(|text| statements(text).any(test)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The words of a statement without comments and without the insides of quotes.
pub(super) fn words_of(statement: &str) -> Vec<String> {
    let mut plain = String::with_capacity(statement.len());
    let mut rest = statement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                while rest.next().is_some_and(|inner| inner != '\'') {}
                plain.push_str(" ? ");
            }
            '-' if rest.peek() == Some(&'-') => {
                while rest.next().is_some_and(|inner| inner != '\n') {}
                plain.push(' ');
            }
            '/' if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                while rest.peek().is_some() && !(last == '*' && rest.peek() == Some(&'/')) {
                    last = rest.next().unwrap_or(' ');
                }
                let _ = rest.next();
                plain.push(' ');
            }
            c if c.is_alphanumeric() || c == '_' || c == '.' => plain.push(c),
            _ => plain.push(' '),
        }
    }
    let mut words: Vec<String> = plain.split_whitespace().map(str::to_owned).collect();
    // `ShopTest` is a name of two words.
    if let [drop, what, names @ ..] = words.as_mut_slice()
        && drop.eq_ignore_ascii_case("drop")
        && (what.eq_ignore_ascii_case("database") || what.eq_ignore_ascii_case("schema"))
    {
        for name in names.iter_mut().filter(|name| !name.eq_ignore_ascii_case("exists")) {
            *name = apart(name);
        }
    }
    words.iter_mut().for_each(|word| word.make_ascii_uppercase());
    words
}
