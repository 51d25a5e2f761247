//! The command words that the parser sees in known inputs, and that hostile ones end in a bound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::shell::{Part, Script, Simple, parse};

/// The command words of a script, sorted; `<dyn>` where one is not plain text.
fn command_words(script: &Script) -> Vec<String> {
    let mut words: Vec<String> = script.commands.iter().filter_map(command_word).collect();
    words.sort();
    words
}

fn command_word(command: &Simple) -> Option<String> {
    let word = command.words.first()?;
    let mut out = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text, .. } => out.push_str(text),
            _ => return Some("<dyn>".to_owned()),
        }
    }
    Some(out)
}

/// Builtins that an expectation need not list.
const UNLISTED: [&str; 7] = ["[", "declare", "local", "export", "readonly", "typeset", "unset"];

#[test]
fn every_case_has_exactly_the_command_words_that_bash_runs() {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("data/shell/cases.json")).expect("cases.json is JSON");
    let mut wrong = Vec::new();
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() >= 204);
    for case in cases {
        let source = case["src"].as_str().expect("src");
        let script = parse(source);
        let Some(expected) = case["exp"].as_array() else {
            if script.problem.is_none() {
                wrong.push(format!("accepted: {source:?}"));
            }
            continue;
        };
        let mut expected: Vec<String> = expected.iter().map(|w| w.as_str().unwrap().to_owned()).collect();
        expected.sort();
        let mut seen = command_words(&script);
        seen.retain(|word| expected.contains(word) || !UNLISTED.contains(&word.as_str()));
        if seen != expected || script.problem.is_some() {
            wrong.push(format!("{source:?}\n  wanted {expected:?}\n  saw    {seen:?} {:?}", script.problem));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_subshell_lies_in_the_outermost_one() {
    for source in [
        "echo \"$(cat <<'A'\nx\nA\n)\" | cat",
        "x | echo $(cat <<'A'\nx\nA\n)",
        "(echo $(cat <<'A'\nx\nA\n))",
        "echo $(cat <<A\n$(date)\nA\n) | cat",
        "cat <<A | (cat; echo $(date))\n$(id)\nA\n",
    ] {
        let script = parse(source);
        assert_eq!(script.problem, None, "{source}");
        for start in 0..script.parents.len() {
            let around =
                std::iter::successors(Some(start), |at| script.parents.get(*at).map(|of| *of as usize));
            let last = around.take(script.parents.len() + 1).last();
            assert_eq!(last, Some(0), "{source}: {:?}", script.parents);
        }
    }
}
