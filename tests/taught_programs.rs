//! Programs that the configuration teaches: how their words are read, what is asked about, which file counts, and what is said of
//! mistakes; and the built-in rows, which have the same form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::World;
use lazaret::cli::CHECKS;
use lazaret::cli::facts::toml;
use lazaret::host::config;
use lazaret::rules::programs;
use serde_json::{Value, json};

/// A private command line.
const ACMECTL: &str = r#"
[[programs]]
names = ["acmectl", "acme"]
options = ["--tenant", "--config:r", "--out:w", "--yes!"]
does = "network"
commands = [
  { names = ["tenant raze", "site content drop"], does = "destroys" },
  { names = ["tenant list", "db purge-preview", "token delete-check"], does = "reads" },
  { names = ["access lend"], does = "opens" },
  { names = ["key print"], does = "reveals" },
  { names = ["line cut", "--cut-all"], does = "stops" },
  { names = ["exec"], does = "process", runs = { command = "after_dashes", remote = true } },
  { names = ["local-exec"], does = "process", runs = { command = "words", skip = 1 } },
]
"#;

/// What is decided of a command, and the rules that say so.
fn said(world: &World, command: &str) -> (String, Vec<String>) {
    let (_, decision) = world.check(command);
    let rules = decision["reasons"].as_array().unwrap().iter();
    let rules = rules.map(|reason| reason["rule"].as_str().unwrap().to_owned()).collect();
    (decision["enforcement"].as_str().unwrap().to_owned(), rules)
}

#[track_caller]
fn asked(world: &World, command: &str, rule: &str) {
    let (enforcement, rules) = said(world, command);
    assert_eq!((enforcement.as_str(), rules), ("ask", vec![rule.to_owned()]), "{command}");
}

#[track_caller]
fn passes(world: &World, command: &str) {
    assert_eq!(said(world, command), ("proceed".to_owned(), Vec::new()), "{command}");
}

#[test]
fn the_code_in_an_option_is_judged() {
    let world = World::new();
    let row = |letter| format!("[[programs]]\nnames = [\"acmeql\"]\noptions = [\"--eval{letter}\"]\n");
    let command = "acmeql --eval \"print(open('/home/u/.ssh/id_rsa').read())\"";
    world.configure(&row(""));
    passes(&world, command);
    world.configure(&row(":c"));
    assert_eq!(said(&world, command), ("deny".to_owned(), vec!["secrets.code-reads".to_owned()]));
    passes(&world, "acmeql --eval \"print(open('docs/id_rsa.md').read())\"");
    passes(&world, "acmeql --note \"print(open('/home/u/.ssh/id_rsa').read())\"");
}

#[test]
fn what_a_taught_program_does_is_judged_by_its_row() {
    let world = World::new();
    passes(&world, "acmectl tenant raze x");
    world.configure(ACMECTL);
    for (command, rule) in [
        ("acmectl tenant raze x", "tools.program-deletes"),
        ("acme --tenant eu tenant raze x", "tools.program-deletes"),
        ("acmectl site --yes content drop", "tools.program-deletes"),
        ("sudo -u deploy acmectl tenant raze x", "tools.program-deletes"),
        ("for t in a b; do acmectl tenant raze $t; done", "tools.program-deletes"),
        ("/usr/local/bin/acmectl tenant raze x", "tools.program-deletes"),
        ("./bin/acmectl tenant raze x", "tools.program-deletes"),
        ("acmectl access lend bob", "tools.program-opens"),
        ("acmectl key print", "tools.program-reveals"),
        ("acmectl line cut a", "tools.program-stops"),
        ("acmectl line status --cut-all", "tools.program-stops"),
        // Of what no row says anything the verbs are judged.
        ("acmectl db purge", "tools.program-deletes"),
    ] {
        asked(&world, command, rule);
    }
    for command in [
        "acmectl tenant list",
        "acmectl db purge-preview",
        "acmectl token delete-check --yes x",
        "acmectl tenant raze --help",
        "acmectl tenant raze x --dry-run",
        "acmectl tenant razes x",
        "acmectl site content list",
        // `tenant raze` is the value of an option.
        "acmectl --tenant tenant site raze",
        "echo acmectl tenant raze x",
        "git commit -m 'acmectl tenant raze x'",
    ] {
        passes(&world, command);
    }
}

#[test]
fn options_and_commands_inside_are_read() {
    let world = World::new();
    world.configure(ACMECTL);
    let (enforcement, rules) = said(&world, "acmectl --config ~/.ssh/id_rsa tenant list");
    assert_eq!(enforcement, "deny");
    assert!(rules.contains(&"secrets.file-read".to_owned()), "{rules:?}");
    let (enforcement, _) = said(&world, "acmectl --out ~/.bashrc tenant list");
    assert_ne!(enforcement, "proceed");
    assert_eq!(said(&world, "acmectl exec web-1 -- rm -rf /").0, "deny");
    assert_eq!(said(&world, "acmectl local-exec web-1 rm -rf ~").0, "deny");
    passes(&world, "acmectl exec web-1 -- ls /");
}

#[test]
fn in_the_hook_too() {
    let world = World::new();
    world.configure(ACMECTL);
    let answer = world.bash("acmectl tenant raze x");
    assert!(answer.stdout.contains("tools.program-deletes"), "{}", answer.stdout);
    assert!(world.bash("acmectl tenant list").is_pass());
}

#[test]
fn a_file_that_may_not_loosen_only_adds() {
    let world = World::new();
    let harmless = r#"
        [[programs]]
        names = ["acmectl", "kubectl"]
        options = ["--force"]
        local = true
        commands = [
          { names = ["tenant raze", "db purge", "delete", "delete ns"], does = "reads" },
          { names = ["site pave"], does = "destroys" },
        ]
    "#;
    let project = world.project().join(".lazaret.toml");
    fs::write(&project, harmless).unwrap();
    asked(&world, "acmectl db purge", "tools.program-deletes");
    asked(&world, "acmectl --force delete x", "tools.program-deletes");
    // What a file adds stands beside the verbs, also where the rule that it adds is switched off.
    fs::write(&project, "[[programs]]\nnames = ['acmectl']\ndoes = 'reveals'\n").unwrap();
    world.configure("[rules]\ndisabled = ['tools.program-reveals']\n");
    asked(&world, "acmectl bucket delete invoices", "tools.program-deletes");
    world.configure("");
    fs::write(&project, harmless).unwrap();
    asked(&world, "acmectl site pave", "tools.program-deletes");
    let (before, _) = said(&World::new(), "kubectl delete ns prod");
    assert_eq!(said(&world, "kubectl delete ns prod").0, before);
    let (_, shown, _) = world.run(&["config", "show"]);
    assert!(shown.contains("counts as far as it is stricter"), "{shown}");
    assert!(shown.contains("lazaret trust allow"), "{shown}");

    world.configure(ACMECTL);
    asked(&world, "acmectl tenant raze x", "tools.program-deletes");
    passes(&world, "acmectl db purge-preview");
    asked(&world, "acmectl site pave", "tools.program-deletes");

    let bytes = fs::read(&project).unwrap();
    let path = project.canonicalize().unwrap();
    lazaret::host::trust::allow(&world.state(), path.to_str().unwrap(), &bytes).unwrap();
    // The user's file stands above a project's, trusted or not.
    asked(&world, "acmectl tenant raze x", "tools.program-deletes");
    assert_eq!(said(&world, "kubectl delete ns prod").0, before, "lazaret has a row of its own");

    let unaccepted = World::new();
    unaccepted.unaccepted(harmless);
    asked(&unaccepted, "acmectl db purge", "tools.program-deletes");
    asked(&unaccepted, "acmectl site pave", "tools.program-deletes");
}

#[test]
fn rows_add_to_programs_that_lazaret_knows() {
    let world = World::new();
    passes(&world, "kubectl plugin-cost wipe-ledger");
    world.configure(
        "[[programs]]\nnames = ['kubectl']\ncommands = [{ names = ['plugin-cost wipe-ledger'], does = 'destroys' }]\n",
    );
    asked(&world, "kubectl plugin-cost wipe-ledger", "tools.program-deletes");
    passes(&world, "kubectl get pods");
    let (code, said, _) = world.run(&["config", "check"]);
    assert!(said.contains("lazaret has a row of its own for kubectl"), "{code}: {said}");
}

#[test]
fn every_mistake_is_told() {
    let problems = |text: &str| -> Vec<String> {
        config::problems(text.as_bytes(), None, CHECKS).iter().map(ToString::to_string).collect()
    };
    assert_eq!(problems(ACMECTL), Vec::<String>::new());
    for (line, expected) in [
        ("options = ['tenant']", "options: \"tenant\" is none; write `--name` for one that takes a value"),
        ("options = ['--a:q']", "options: \"--a:q\" is none"),
        ("options = ['--a', '+']", "options: \"+\" can only stand first, not at place 2"),
        (
            "commands = [{ names = ['b'], does = 'reads' }, { names = ['b'] }]",
            "commands: \"b\" stands there twice",
        ),
        ("does = 'destroy'", "does: `destroy`; did you mean `destroys`?"),
        ("does = 3", "does: 3 is not one of nothing, look"),
        ("operands = 'reads'", "operands: `reads`; did you mean `read`?"),
        ("runs = 'words'", "runs: \"words\" is not a table"),
        ("runs = { skip = 1 }", "it has no `command`"),
        ("runs = { command = 'words', skip = 300 }", "skip: 300 is not a number from 0 to 255"),
        ("runs = { command = 'word' }", "command: `word`; did you mean `words`?"),
        ("command = []", "unknown key `command`; did you mean `commands`?"),
        ("commands = [{ does = 'reads' }]", "it has no `names`"),
        ("commands = [{ names = ['a.b'] }]", "names: \"a.b\" is neither 1 to 8 words"),
        ("commands = [{ names = ['a --b'] }]", "names: \"a --b\" is neither 1 to 8 words"),
        ("commands = [{ names = ['a'], verbs = 1 }]", "commands: unknown key `verbs`"),
        ("local = 'yes'", "local: \"yes\" is not true or false"),
    ] {
        let text = format!("[[programs]]\nnames = ['acmectl']\n{line}\n");
        let found = problems(&text);
        assert!(found.len() == 1 && found[0].contains(expected), "{line}: {found:?}");
    }
    let path = problems("[[programs]]\nnames = ['./acmectl']\n");
    assert!(path[0].contains("is not the bare name of a program"), "{path:?}");
    let twice = problems("[[programs]]\nnames = ['a']\n[[programs]]\nnames = ['a']\n");
    assert!(twice[0].contains("another program of this file has the same names"), "{twice:?}");
}

#[test]
fn every_built_in_row_is_shown_as_it_can_be_taught() {
    let mut count = 0;
    // Those of the shell itself (`!`, `[`) are nobody's to teach.
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-:@".contains(c));
    for name in programs::names().filter(plain) {
        let known = programs::known(name).unwrap();
        let text = toml(&known.program);
        let wrong = config::problems(text.as_bytes(), None, CHECKS);
        assert_eq!(wrong, [], "{text}");
        let read: toml::Table = text.parse().unwrap();
        assert_eq!(read["programs"][0]["names"][0].as_str(), Some(name));
        count += 1;
    }
    assert!(count > 1700, "{count}");
}

#[test]
fn what_is_known_of_a_program_is_shown() {
    let world = World::new();
    world.configure(ACMECTL);
    let (code, shown, _) = world.run(&["facts", "show", "acmectl"]);
    assert_eq!(code, 0);
    assert!(shown.contains("# taught by the configuration; its words are read so"), "{shown}");
    assert!(
        shown.contains("names = [\"tenant raze\", \"site content drop\"]\ndoes = \"destroys\""),
        "{shown}"
    );
    let (_, shown, _) = world.run(&["facts", "show", "frobctl"]);
    assert!(shown.contains("judged by the verbs that it is told"), "{shown}");
    let (_, shown, _) = world.run(&["facts", "show", "git", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["built_in"]["row"]["names"], json!(["git"]));
    let (_, listed, _) = world.run(&["facts", "list"]);
    assert!(listed.lines().any(|name| name == "kubectl") && listed.lines().count() > 1700);
    let (_, explained, _) = world.run(&["check", "--explain", "acmectl tenant raze x"]);
    assert!(explained.contains("runs acmectl (destroys): acmectl tenant raze x"), "{explained}");
    assert!(explained.contains("by:      predicate = \"unlisted_program_deletes\""), "{explained}");
}

#[test]
fn a_danger_is_found_behind_what_nobody_listed() {
    let world = World::new();
    world.configure(ACMECTL);
    for command in [
        "acmectl --zone eu tenant raze x",
        "acmectl tenant --zone eu raze x",
        "acmectl $T tenant raze x",
        "acmectl tenant raze x --note --dry-run=false",
        "acmectl --tenant --dry-run tenant raze x",
        "acmectl --tenant --help tenant raze x",
        "acmectl tenant raze x -- --dry-run",
        "acmectl.exe tenant raze x",
    ] {
        asked(&world, command, "tools.program-deletes");
    }
    passes(&world, "acmectl --tenant tenant list raze");
    passes(&world, "acmectl tenant raze x --dry-run");
}

#[test]
fn the_gravest_of_several_options_counts_and_a_word_that_begins_no_command_is_an_operand() {
    let world = World::new();
    world.configure(
        r#"
        [[programs]]
        names = ["hexq"]
        operands = "delete"
        commands = [{ names = ["--scrub"], does = "destroys" }, { names = ["--list"], does = "reads" }]
        [[programs]]
        names = ["wrap"]
        options = ["-r", "-f:r"]
        runs = { command = "words" }
        [[programs]]
        names = ["salt"]
        runs = { command = "words" }
        "#,
    );
    asked(&world, "hexq --list --scrub", "tools.program-deletes");
    asked(&world, "hexq --scrub --list", "tools.program-deletes");
    assert_eq!(said(&world, "hexq /etc/passwd").0, "deny");
    for command in ["wrap rm -rf /", "wrap sh -c 'rm -rf ~'", "wrap git push --force origin main"] {
        assert_eq!(said(&world, command).0, "deny", "{command}");
    }
    // Rules that know a program see it, whatever a file says that it runs.
    assert_eq!(
        said(&world, "salt '*' cmd.run 'rm -rf /'").0,
        said(&World::new(), "salt '*' cmd.run 'rm -rf /'").0
    );
}
