//! A bundle for a newer lazaret, as far as this one understands it and it tightens what is in force: an old machine is not left as open as
//! it was because it cannot do everything.

use anyhow::{Context, Result, bail};
use lazaret::host::config::{self, Value as Setting};
use toml::{Table, Value};

/// What is to be in force: what is, with what tightens in a bundle's configuration.
pub fn tightened(now: &str, bundle: &str) -> Result<String> {
    let mut whole: Table = now.parse().context("what is in force")?;
    let brought: Table = bundle.parse().context("what the bundle brings")?;
    for (key, setting) in config::tightening(now.as_bytes(), bundle.as_bytes(), lazaret::cli::CHECKS) {
        let value = match &setting {
            Setting::Rules(rules) => {
                let all: Vec<&str> = rules.iter().map(|rule| &*rule.id).collect();
                listed((&whole, &brought), key.name, ("id", &all))
            }
            Setting::Patterns(patterns) => {
                let all: Vec<&str> = patterns.iter().map(|pattern| &*pattern.name).collect();
                listed((&whole, &brought), key.name, ("name", &all))
            }
            setting => written(key.name, setting)?,
        };
        put(&mut whole, key.name, value)?;
    }
    Ok(toml::to_string(&whole)?)
}

/// The tables of both lists that are among those names, each once, those that are in force first.
fn listed((now, brought): (&Table, &Table), key: &str, (field, all): (&str, &[&str])) -> Value {
    let name = |table: &Value| table.get(field).and_then(Value::as_str).map(str::to_owned);
    let mut tables: Vec<Value> = Vec::new();
    for table in [now, brought].into_iter().filter_map(|table| at(table, key)?.as_array()).flatten() {
        let known = name(table).filter(|name| all.contains(&&**name));
        if known.is_some() && !tables.iter().any(|other| name(other) == known) {
            tables.push(table.clone());
        }
    }
    Value::Array(tables)
}

/// A value as its key takes it.
fn written(key: &str, setting: &Setting) -> Result<Value> {
    let text = format!("value = {setting}\n");
    let mut table: Table = text.parse().with_context(|| key.to_owned())?;
    table.remove("value").with_context(|| key.to_owned())
}

/// What stands at a key with dots.
fn at<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    match key.split_once('.') {
        Some((section, rest)) => at(table.get(section)?.as_table()?, rest),
        None => table.get(key),
    }
}

fn put(table: &mut Table, key: &str, value: Value) -> Result<()> {
    let Some((section, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Ok(());
    };
    match table.entry(section).or_insert_with(|| Value::Table(Table::new())) {
        Value::Table(inner) => put(inner, rest, value),
        _ => bail!("{section} is no section in what is in force"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The configuration that comes of it, and that it is one.
    fn of(now: &str, bundle: &str) -> Table {
        let text = tightened(now, bundle).unwrap();
        assert_eq!(config::problems(text.as_bytes(), None, lazaret::cli::CHECKS), [], "{text}");
        text.parse().unwrap()
    }

    fn value(text: &str) -> Value {
        format!("value = {text}").parse::<Table>().unwrap().remove("value").unwrap()
    }

    const RULE: &str = "[[rules.custom]]\nid = \"custom.NAME\"\nverdict = \"block\"\nseverity = \"high\"\nreason = \"r\"\n\
        instead = { advice = \"a\" }\nwhen = [{ command = { programs = [\"NAME\"] } }]\nfires = [\"NAME\"]\nsilent = [\"ls\"]\n";

    #[test]
    fn what_tightens_is_taken_and_nothing_else_is() {
        let now = "on_fault = \"ask\"\n[risk]\nhigh_threshold = 0.7\n[network]\nknown_hosts = [\"a.example\", \"b.example\"]\n\
            [git]\nprotected_branches = [\"main\"]\n";
        let bundle = "on_fault = \"block\"\nof_tomorrow = true\n[risk]\nhigh_threshold = 0.75\nmedium_threshold = 0.5\n\
            [rules]\nbuiltin = \"none\"\n[network]\nknown_hosts = [\"a.example\"]\n[tomorrow]\nmore = 1\n\
            [git]\nprotected_branches = [\"live\"]\n[audit]\nenabled = false\n\
            [[exceptions]]\nrule = \"git.clean\"\nreason = \"x\"\n\
            [[limits.tool]]\ntool = \"Bash\"\ncalls = 9\nwindow_seconds = 60\n";
        let whole = of(now, bundle);
        let is = |key: &str, text: &str| assert_eq!(at(&whole, key), Some(&value(text)), "{key}");
        is("on_fault", "\"block\"");
        is("risk.high_threshold", "0.7");
        is("risk.medium_threshold", "0.5");
        is("network.known_hosts", "[\"a.example\"]");
        is("git.protected_branches", "[\"main\", \"live\"]");
        assert_eq!(at(&whole, "limits.tool").unwrap().as_array().unwrap().len(), 1);
        for key in ["rules", "audit", "exceptions", "of_tomorrow", "tomorrow"] {
            assert_eq!(whole.get(key), None, "{key}");
        }
    }

    #[test]
    fn rules_are_added_as_far_as_they_are_understood() {
        let rule = |name: &str| RULE.replace("NAME", name);
        let now = rule("one");
        let silent = rule("four").replace("fires = [\"four\"]", "fires = [\"ls\"]");
        let other = rule("one").replace("\"block\"", "\"warn\"");
        let tomorrow = rule("three").replace("programs", "of_tomorrow");
        let whole = of(&now, &[other, rule("two"), tomorrow, silent].concat());
        let rules = at(&whole, "rules.custom").unwrap().as_array().unwrap();
        let ids: Vec<(&str, &str)> = rules
            .iter()
            .map(|rule| (rule["id"].as_str().unwrap(), rule["verdict"].as_str().unwrap()))
            .collect();
        assert_eq!(ids, [("custom.one", "block"), ("custom.two", "block")]);
    }

    #[test]
    fn nothing_in_force_yet_is_the_default() {
        assert_eq!(of("", "[rules]\nbuiltin = \"none\"\n"), Table::new());
        assert_eq!(of("", "on_fault = \"block\"\n"), "on_fault = \"block\"".parse().unwrap());
        assert!(tightened("", "=").is_err());
    }
}
