//! README and the pages below docs show what the binary really prints, and say it in plain words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::World;

/// Words of our own for what every reader has a word for.
const NOT_SAID: &[&str] = &[
    "deed",
    "deeds",
    "mend",
    "mends",
    "mended",
    "mending",
    "thieves",
    "thief",
    "astray",
    "wishes",
    "is told of",
    "are told of",
    "told of by",
    "stands there",
    "stand there",
    "takes out secrets",
    "a way out",
    "the way out",
    "ways out",
    "and way out",
];

/// The words of a command line: quotes hold them together, and nothing else has a meaning.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "{line}");
    words.extend(word);
    words
}

/// A project with a change that is not committed yet, as the pages say.
fn project() -> World {
    let world = World::new();
    fs::write(world.project().join("src/main.rs"), "fn main() { todo!() }\n").unwrap();
    world
}

/// What a command of a sample prints, after the line that runs it.
fn printed(line: &str) -> String {
    let world = project();
    let words = words(line);
    assert_eq!(words[..2], ["lazaret", "check"], "{line}: only a dry run is run here");
    let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let (_, out, errors) = world.run(&args);
    assert_eq!(errors, "", "{line}");
    format!("$ {line}\n{out}")
}

/// A page with every sample of a dry run as the binary prints it.
fn current(page: &str) -> String {
    let mut out = String::new();
    let (mut inside, mut ours) = (false, false);
    for line in page.split_inclusive('\n') {
        let text = line.trim_end();
        if text.starts_with("```") || text.starts_with("$ ") {
            ours = false;
        }
        inside = if text.starts_with("```") { text == "```console" } else { inside };
        match text.strip_prefix("$ ").filter(|command| inside && command.starts_with("lazaret check ")) {
            Some(command) => {
                ours = true;
                out.push_str(&printed(command));
            }
            None if ours => {}
            None => out.push_str(line),
        }
    }
    out
}

/// The pages for readers, without those that are generated or hold measurements.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|ext| ext == "md"));
    let docs = docs.filter(|path| !path.to_string_lossy().contains("evaluation"));
    ["README.md", "SECURITY.md", "CHANGELOG.md"].map(PathBuf::from).into_iter().chain(docs).collect()
}

#[test]
fn the_samples_are_what_the_binary_prints() {
    let update = std::env::var_os("LAZARET_UPDATE_DOCS").is_some_and(|value| !value.is_empty());
    let mut samples = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let current = current(&text);
        samples += current.matches("\n$ lazaret check ").count();
        if update {
            fs::write(&page, &current).unwrap();
        } else {
            let first = text.lines().zip(current.lines()).find(|(shown, is)| shown != is);
            assert!(
                text == current,
                "{}: {first:?}; LAZARET_UPDATE_DOCS=1 cargo test --test readme",
                page.display()
            );
        }
    }
    assert!(samples >= 5, "{samples}");
}

#[test]
fn every_option_and_command_that_the_readme_names_is_there() {
    let text = fs::read_to_string("README.md").unwrap();
    let mut seen = 0;
    // Commands in code: in fences, and between backquotes.
    let fenced = text.lines().filter(|line| line.starts_with("lazaret ") || line.contains("&& lazaret "));
    let quoted = text.split('`').filter(|part| part.starts_with("lazaret "));
    for part in fenced.chain(quoted) {
        let line = part.split_once("lazaret ").unwrap().1;
        let line = line.split(" && ").next().unwrap();
        let Some(command) = line.split_whitespace().next() else { continue };
        let world = World::new();
        let (code, help, errors) = world.run(&[command, "--help"]);
        assert_eq!(code, 0, "{part}: {errors}");
        let sub = line.split_whitespace().nth(1).filter(|word| word.chars().all(|c| c.is_ascii_lowercase()));
        let deeper = sub.map(|sub| world.run(&[command, sub, "--help"])).filter(|(code, ..)| *code == 0);
        let help = help + &deeper.map(|(_, help, _)| help).unwrap_or_default();
        for option in line.split([' ', '[', ']']).filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{part}: no {option} in\n{help}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn pages_are_written_in_words_that_readers_know() {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line) in text.lines().enumerate() {
            found
                .extend(unknown_words(line).map(|word| format!("{}:{}: {word}", page.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_is_written_in_words_that_readers_know() {
    let page = Command::new(common::BIN).arg("man").output().unwrap();
    let commands = [
        "check",
        "replay",
        "install",
        "uninstall",
        "doctor",
        "review",
        "ref",
        "agents",
        "audit",
        "config",
        "trust",
        "checkpoint",
        "rollback",
        "allow",
        "except",
        "resume",
        "notify",
        "stats",
        "run",
        "feedback",
        "rules",
        "completions",
    ];
    let help = commands.map(|command| Command::new(common::BIN).args([command, "--help"]).output().unwrap());
    for out in std::iter::once(page).chain(help) {
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
        for line in text.lines() {
            assert_eq!(unknown_words(line).next(), None, "{line}");
        }
    }
}

/// The words of the list that stand in a line as whole words.
fn unknown_words(line: &str) -> impl Iterator<Item = &'static str> {
    let plain: String =
        line.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let padded = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    NOT_SAID.iter().copied().filter(move |word| padded.contains(&format!(" {word} ")))
}
