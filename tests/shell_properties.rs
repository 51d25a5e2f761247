//! What holds for any text: parsing ends, spans lie inside, and no wrapping loses a command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::shell::{Env, Part, Script, expand, expand_value, parse};
use proptest::prelude::*;

/// Text that looks like commands.
fn shell_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b ",
        " ",
        ";",
        "\n",
        "|",
        "&&",
        "||",
        "&",
        "(",
        ")",
        "{ ",
        "; }",
        "$(",
        "`",
        "\"",
        "'",
        "\\",
        "$x",
        "${x:-",
        "}",
        "$((",
        "))",
        "<<E",
        "\nE\n",
        "<",
        ">",
        "2>&1",
        "if ",
        "; then ",
        "; fi",
        "while ",
        "; do ",
        "; done",
        "for i in ",
        "case x in ",
        ") ",
        ";; esac",
        "[[ ",
        " ]]",
        "x=",
        "=(",
        "#",
        "*",
        "?",
        "~",
        "$'",
        "<(",
        "f() ",
        "!",
        "time ",
        "é",
        "{a,b}",
        "\t",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Commands that are right, put together from smaller ones.
fn commands() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "a x",
        "b 'q;r' \"$(c d)\"",
        "x=$(e)",
        "f <<< $(g)",
        "h > i",
        "[[ $(j) == @(y|z) ]]",
        "(( k + $(l) ))",
        "m $((1 + $(n)))",
        "o ${p:-`q`}",
        "\\rm x",
        "$(r) s",
        "t <<E\n$(u)\nE\n",
        "v=(w $(x))",
        "y <(z)",
        "\"a\"'b'$'c' {d,e}",
        "declare k=($(f))",
    ])
    .prop_map(str::to_owned);
    simple.prop_recursive(5, 24, 2, |inner| {
        let form = prop::sample::select(vec![
            "@1\n@2",
            "{ @1\n} && @2",
            "{ @1\n} | { @2\n}",
            "{ @1\n} & @2",
            "if @1\nthen @2\nfi",
            "( @1\n)",
            "while @1\ndo @2\ndone > c",
            "case x in x) @1\n;; y) @2\nesac",
            "f() { @1\n}",
            "a \"$( @1\n)\" b",
            "a <( @1\n) b",
            "for i in $( @1\n)\ndo @2\ndone",
            "coproc { @1\n}",
            "! time { @1\n} |\n{ @2\n} < c",
        ]);
        (form, inner.clone(), inner)
            .prop_map(|(form, first, second)| form.replace("@1", &first).replace("@2", &second))
    })
}

fn check_spans(source: &str, script: &Script) {
    let inside = |span: (usize, usize)| span.0 <= span.1 && span.1 <= source.len();
    for command in &script.commands {
        assert!(inside(command.span), "{source:?} {command:?}");
        let words = command.words.iter().chain(command.assigns.iter().map(|assign| &assign.value));
        for word in words.chain(command.redirects.iter().map(|redirect| &redirect.target)) {
            assert!(inside(word.span), "{source:?} {word:?}");
            expand(word, &Env::default());
        }
        assert!(command.owner.is_none_or(|owner| (owner as usize) < script.commands.len()));
        assert!(command.function.is_none_or(|function| (function as usize) < script.functions.len()));
    }
}

/// The command words, sorted.
fn command_words(script: &Script) -> Vec<String> {
    let known = |part: &Part| matches!(part, Part::Text { .. });
    let mut words: Vec<String> = script
        .commands
        .iter()
        .filter_map(|command| command.words.first())
        .map(|word| match word.parts.iter().all(known) {
            true => expand_value(word, &Env::default()).to_text(),
            false => "<dyn>".to_owned(),
        })
        .collect();
    words.sort();
    words
}

/// Ways to put a list into something else.
const WRAPPERS: [(&str, &str); 8] = [
    ("{ ", "\n}"),
    ("( ", "\n)"),
    ("if true; then ", "\nfi"),
    ("while false; do ", "\ndone"),
    ("case x in x) ", "\nesac"),
    ("f() { ", "\n}"),
    ("true $( ", "\n)"),
    ("true <( ", "\n)"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_ends_in_a_parse_or_a_problem(text in "\\PC{0,60}") {
        check_spans(&text, &parse(&text));
    }

    #[test]
    fn any_bytes_end_in_a_parse_or_a_problem(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let text = String::from_utf8_lossy(&bytes);
        check_spans(&text, &parse(&text));
    }

    #[test]
    fn shell_like_text_ends_in_a_parse_or_a_problem(text in shell_like()) {
        check_spans(&text, &parse(&text));
    }

    #[test]
    fn wrapping_loses_no_command(text in commands()) {
        let plain = parse(&text);
        prop_assert_eq!(&plain.problem, &None, "{}", text);
        check_spans(&text, &plain);
        for (before, after) in WRAPPERS {
            let wrapped = parse(&format!("{before}{text}{after}"));
            prop_assert_eq!(&wrapped.problem, &None, "{}{}{}", before, text, after);
            let mut seen = command_words(&wrapped);
            for word in command_words(&plain) {
                let at = seen.iter().position(|other| *other == word);
                prop_assert!(at.is_some(), "{:?} is lost in {}{}{}", word, before, text, after);
                seen.swap_remove(at.unwrap());
            }
        }
    }
}
