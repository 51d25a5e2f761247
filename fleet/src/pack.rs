//! A bundle out of a directory: its files put together, and looked at as a machine will.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lazaret::host::{brought, config};
use toml::{Table, Value};

use crate::Pack;
use crate::bundle::{self, Bundle};
use crate::place;

pub fn run(args: &Pack, out: &mut dyn Write) -> Result<()> {
    bundle::named(&args.name)?;
    let (config, files) = together(&args.dir)?;
    let bundle = Bundle {
        not_before: args.not_before.clone(),
        expires: args.expires.clone(),
        ..Bundle::new(&args.name, args.number, args.lazaret.clone(), args.percent, config)
    };
    if let (Some(from), Some(until)) = (&bundle.not_before, &bundle.expires)
        && from >= until
    {
        bail!("--not-before {from} is not earlier than --expires {until}: nobody could apply it");
    }
    if let Err(error) = understood(&bundle.title(), &bundle.config) {
        // With the lines of the files where the mistake is in one of them.
        each_understood(&files)?;
        return Err(error).with_context(|| args.dir.display().to_string());
    }
    let text = serde_json::to_string_pretty(&bundle)? + "\n";
    let file = args.output.display();
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&args.output);
    let mut made =
        made.with_context(|| format!("{file}: it cannot be made; give it a name that no file has"))?;
    made.write_all(text.as_bytes()).map_err(|error| {
        let _left = fs::remove_file(&args.output);
        anyhow::Error::from(error).context(file.to_string())
    })?;
    writeln!(
        out,
        "{file}: {}, {} bytes of configuration; not signed yet",
        bundle.title(),
        bundle.config.len()
    )?;
    Ok(())
}

/// Whether this version of lazaret reads what a bundle brings, as it will stand on a machine, without a complaint.
pub fn understood(title: &str, config: &str) -> Result<()> {
    let text = brought::written(title, config);
    let max = config::MAX_FILE;
    if text.len() as u64 > max {
        bail!("{} bytes of configuration with a line about the bundle; lazaret reads {max}", text.len());
    }
    right(&text, "the configuration")
}

/// The same of each of these files.
fn each_understood(files: &[(PathBuf, String)]) -> Result<()> {
    files.iter().try_for_each(|(file, text)| right(text, &file.display().to_string()))
}

fn right(text: &str, what: &str) -> Result<()> {
    let problems = config::problems(text.as_bytes(), None, lazaret::cli::CHECKS);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
        bail!("{what} is not right:{}", lines.concat());
    }
    Ok(())
}

/// The directory's files as one text, and each of them.
fn together(dir: &Path) -> Result<(String, Vec<(PathBuf, String)>)> {
    let named = || dir.display().to_string();
    let entries = fs::read_dir(dir).with_context(named)?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(named)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        files.extend((!hidden && path.extension().is_some_and(|end| end == "toml")).then_some(path));
    }
    files.sort();
    if files.is_empty() {
        bail!("{}: there is no file *.toml in it", named());
    }
    let (mut whole, mut from, mut texts) = (Table::new(), BTreeMap::new(), Vec::new());
    for file in &files {
        let named = || file.display().to_string();
        let bytes = place::read(file, bundle::MAX)?.with_context(|| format!("{}: it is gone", named()))?;
        let text = String::from_utf8(bytes).with_context(|| format!("{}: it is not UTF-8 text", named()))?;
        let table: Table = text.parse().with_context(named)?;
        add(&mut whole, table, "", file, &mut from)?;
        texts.push((file.clone(), text));
    }
    Ok((toml::to_string(&whole)?, texts))
}

/// Adds a file's table to the others; lists of tables are joined, and anything else stands in one file only.
fn add(
    whole: &mut Table,
    table: Table,
    above: &str,
    file: &Path,
    from: &mut BTreeMap<String, PathBuf>,
) -> Result<()> {
    for (key, value) in table {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match (whole.get_mut(&key), value) {
            (None, value) => {
                whole.insert(key, value);
            }
            (Some(Value::Table(known)), Value::Table(more)) => add(known, more, &path, file, from)?,
            (Some(Value::Array(known)), Value::Array(more))
                if known.iter().chain(&more).all(Value::is_table) =>
            {
                known.extend(more);
            }
            (Some(_), _) => {
                let first =
                    from.get(&path).map_or_else(String::new, |first| format!(" and {}", first.display()));
                bail!("{}{first}: both say what {path} is", file.display());
            }
        }
        from.entry(path).or_insert_with(|| file.to_owned());
    }
    Ok(())
}
