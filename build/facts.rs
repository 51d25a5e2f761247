//! The rows of programs, and what they are told to do, as constant tables.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::words::{Lists, Words};
use crate::{RULES, entries, failed, is_data, read};

/// Where the rows lie, below the rules.
pub const ROOM: &str = "facts";

/// A data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    programs: Vec<Program>,
    /// Programs without a row that only work on this machine.
    #[serde(default)]
    local: Vec<String>,
    /// The kinds of operations that rules ask for, and what each says.
    #[serde(default)]
    kinds: BTreeMap<String, String>,
    #[serde(default)]
    operations: Vec<Told>,
    /// Lists of words, by their names.
    #[serde(default)]
    words: BTreeMap<String, Words>,
}

/// What programs are told to do, by the words of their command lines.
#[derive(Deserialize)]
struct Told {
    names: Vec<String>,
    #[serde(flatten)]
    kinds: BTreeMap<String, Vec<String>>,
}

/// Programs that are alike. What the words mean is said in `src/rules/facts/mod.rs`, where each is a variant of an enum.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Program {
    names: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default = "process")]
    does: String,
    #[serde(default = "text")]
    operands: String,
    kind: Option<String>,
    builtin: Option<String>,
    runs: Option<Runs>,
    #[serde(default = "usual")]
    verbs: String,
    /// First words of commands of two words, apart from those that are listed.
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    commands: Vec<Command>,
}

/// Subcommands that are alike.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Command {
    names: Vec<String>,
    #[serde(default)]
    options: Vec<String>,
    /// As the program, where it is left out.
    does: Option<String>,
    #[serde(default = "text")]
    operands: String,
    runs: Option<Runs>,
}

/// The command that a program runs: where it stands among the words, and how it runs.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Runs {
    command: String,
    #[serde(default)]
    skip: u8,
    #[serde(default)]
    keep: bool,
    #[serde(default)]
    privileged: bool,
    #[serde(default)]
    remote: bool,
    #[serde(default)]
    lenient: bool,
}

fn process() -> String {
    "process".to_owned()
}

fn usual() -> String {
    "usual".to_owned()
}

fn text() -> String {
    "text".to_owned()
}

/// The rows of all files, one for each name.
pub struct Table {
    rows: BTreeMap<String, (Program, String)>,
    local: Vec<String>,
    kinds: BTreeMap<String, String>,
    told: Vec<(Told, String)>,
    words: Lists,
}

impl Table {
    pub fn read(dir: &Path) -> Result<Table, String> {
        let mut rows: BTreeMap<String, (Program, String)> = BTreeMap::new();
        let (mut local, mut kinds, mut told, mut words) =
            (Vec::new(), BTreeMap::new(), Vec::new(), BTreeMap::new());
        for path in entries(dir)?.into_iter().filter(|path| is_data(path)) {
            let file: File = read(&path)?;
            let from = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            local.extend(file.local);
            kinds.extend(file.kinds);
            if !file.words.is_empty() {
                words.insert(format!("{ROOM}/{}", from.trim_end_matches(".toml")), file.words);
            }
            told.extend(file.operations.into_iter().map(|one| (one, from.clone())));
            for program in file.programs {
                for name in &program.names {
                    let row = (program.clone(), from.clone());
                    if let Some((_, other)) = rows.insert(name.clone(), row) {
                        return Err(failed(&path, &format!("{name} has a row in {other} already")));
                    }
                }
            }
        }
        Ok(Table { rows, local, kinds, told, words })
    }

    /// The lists of words. What is looked up in them is one word.
    pub fn words(&self) -> Result<Lists, String> {
        for (file, lists) in &self.words {
            for (name, Words { list, .. }) in lists {
                words(list).map_err(|error| format!("{RULES}/{file}.toml: words.{name}: {error}"))?;
            }
        }
        Ok(self.words.clone())
    }

    /// The operations that rules ask for as constants, one a kind.
    pub fn operations(&self) -> Result<String, String> {
        let mut rows: BTreeMap<&str, String> = BTreeMap::new();
        for (Told { names, kinds }, file) in &self.told {
            for (kind, lines) in kinds {
                let failed =
                    |what: &str| Err(format!("{RULES}/{ROOM}/{file}: {}: {kind}: {what}", names.join(" ")));
                if !self.kinds.contains_key(kind) {
                    return failed("no such kind stands in operations.toml");
                }
                if let Some(line) = lines.iter().find(|line| line.split(' ').any(str::is_empty)) {
                    return failed(&format!("{line:?}: one blank between two words"));
                }
                *rows.entry(kind).or_default() += &format!("    (&{names:?}, &{lines:?}), // {file}\n");
            }
        }
        let (mut out, mut all) = (String::new(), String::new());
        for (kind, says) in &self.kinds {
            let name = kind.to_ascii_uppercase();
            let Some(rows) = rows.get(kind.as_str()) else {
                return Err(format!("{RULES}/{ROOM}/operations.toml: {kind}: no program does that"));
            };
            out += &format!("/// What {says}.\npub const {name}: Operations = &[\n{rows}];\n");
            all += &format!("    ({kind:?}, {says:?}, {name}),\n");
        }
        Ok(out
            + "/// All kinds, each by its name and with what it says.\npub const ALL: &[(&str, &str, Operations)] = &[\n"
            + &all
            + "];\n")
    }

    /// The table as constants. Rows of several programs, and commands of several rows, stand there once.
    pub fn code(&self) -> Result<String, String> {
        let (mut commands, mut rows): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut programs = String::new();
        for (name, (row, file)) in &self.rows {
            let failed = |error: String| format!("{RULES}/{ROOM}/{file}: {name}: {error}");
            let subs = row.commands.iter().map(|command| command.code(&row.does));
            let subs = place(&mut commands, subs.collect::<Result<_, _>>().map_err(failed)?);
            let row = place(&mut rows, row.code(subs).map_err(failed)?);
            programs += &format!("    Program::new({name:?}, &ROW_{row}), // {file}\n");
        }
        let mut out = String::new();
        for (at, subs) in commands.iter().enumerate() {
            out += &format!("const COMMANDS_{at}: &[Sub] = &[\n{subs}];\n");
        }
        for (at, row) in rows.iter().enumerate() {
            out += &format!("static ROW_{at}: Row = {row};\n");
        }
        out += &format!("const LOCAL: &str = {:?};\n", words(&self.local)?);
        Ok(out + "static TABLE: &[Program] = &[\n" + &programs + "];\n")
    }
}

/// Where a text stands in a list, at the end where it did not yet.
fn place(list: &mut Vec<String>, text: String) -> usize {
    list.iter().position(|known| *known == text).unwrap_or_else(|| {
        list.push(text);
        list.len() - 1
    })
}

impl Program {
    fn code(&self, commands: usize) -> Result<String, String> {
        let kind = match (&self.kind, &self.builtin, &self.runs) {
            (None, None, None) => "Kind::Plain".to_owned(),
            (Some(kind), None, None) => variant("Kind", kind)?,
            (None, Some(builtin), None) => format!("Kind::Builtin({})", variant("Builtin", builtin)?),
            (None, None, Some(runs)) => format!("Kind::Wrap({})", runs.code()?),
            _ => return Err("only one of kind, builtin and runs can be said".to_owned()),
        };
        let names = || self.commands.iter().flat_map(|command| &command.names);
        let mut groups = self.groups.clone();
        for name in names() {
            let parts: Vec<&str> = name.split(' ').collect();
            for many in 1..parts.len() {
                let group = parts.iter().take(many).copied().collect::<Vec<_>>().join(".");
                if !groups.contains(&group) {
                    groups.push(group);
                }
            }
        }
        let by_option = names().any(|name| name.starts_with('-'));
        Ok(format!(
            "Row {{ options: {:?}, operation: {}, operands: {}, kind: {kind}, verbs: {}, \
             subs: COMMANDS_{commands}, nested: {:?}, closed: false, by_option: {by_option} }}",
            options(&self.options)?,
            variant("Operation", &self.does)?,
            variant("Operands", &self.operands)?,
            variant("Verbs", &self.verbs)?,
            words(&groups)?,
        ))
    }
}

impl Command {
    fn code(&self, does: &str) -> Result<String, String> {
        let wrap = match &self.runs {
            Some(runs) => format!("Some({})", runs.code()?),
            None => "None".to_owned(),
        };
        let dots = self.names.iter().find(|name| name.contains('.'));
        if let Some(name) = dots {
            return Err(format!("{name:?}: write the words of a command with blanks between them"));
        }
        let names = self.names.iter().map(|name| name.replace(' ', ".")).collect::<Vec<_>>();
        Ok(format!(
            "    Sub {{ names: {:?}, options: {:?}, operation: {}, operands: {}, wrap: {wrap} }},\n",
            words(&names)?,
            options(&self.options)?,
            variant("Operation", self.does.as_deref().unwrap_or(does))?,
            variant("Operands", &self.operands)?,
        ))
    }
}

impl Runs {
    fn code(&self) -> Result<String, String> {
        let Runs { skip, keep, privileged, remote, lenient, .. } = self;
        let rest = variant("Rest", &self.command)?;
        Ok(format!(
            "Wrap {{ skip: {skip}, rest: {rest}, keep: {keep}, privileged: {privileged}, remote: {remote}, lenient: {lenient} }}"
        ))
    }
}

/// A word of a data file as the variant that it names: `after_dashes` is `AfterDashes`. That there is one, the compiler says.
pub fn variant(of: &str, word: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    if word.is_empty() || !word.bytes().all(plain) {
        return Err(format!("{word:?} is no word in lower case"));
    }
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    Ok(format!("{of}::{}", word.split('_').map(capital).collect::<String>()))
}

/// Words in one text, which costs nothing until it is read.
fn words(list: &[String]) -> Result<String, String> {
    match list.iter().find(|word| word.is_empty() || word.contains(char::is_whitespace)) {
        Some(word) => Err(format!("{word:?} is not one word")),
        None => Ok(list.join(" ")),
    }
}

/// Options in one text. What they may be is in `src/rules/facts/mod.rs`.
fn options(list: &[String]) -> Result<String, String> {
    if let Some(word) = list.iter().find(|word| !word.starts_with(['-', '/', '+'])) {
        return Err(format!("{word:?} is no option"));
    }
    words(list)
}
