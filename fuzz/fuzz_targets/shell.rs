//! The parser of the shell's language and the expansion of words, on any text.
#![no_main]

use lazaret::shell::{Arg, Env, Part, Piece, Problem, Script, Word, expand, expand_defaults, expand_value, parse};

fn known() -> Env {
    let mut env = Env { home: Some("/home/u".to_owned()), cwd: Some("/p".to_owned()), ..Env::default() };
    for (name, value) in [("x", "a b"), ("y", ""), ("z", "*"), ("IFSX", ",")] {
        env.set(name, Some(value.to_owned()));
    }
    env.set("u", None);
    env
}

/// Whatever it becomes, it has no two pieces of text where one would do, and none that is empty beside others.
fn whole(arg: &Arg) {
    for pair in arg.pieces.windows(2) {
        assert!(!matches!(pair, [Piece::Known(_), Piece::Known(_)] | [Piece::Glob(_), Piece::Glob(_)]), "{arg:?}");
    }
}

fn words(script: &Script) -> impl Iterator<Item = &Word> {
    script.commands.iter().flat_map(|command| {
        let values = command.assigns.iter().chain(&command.declared);
        let lists = values.clone().flat_map(|assign| &assign.list);
        command
            .words
            .iter()
            .chain(values.map(|assign| &assign.value))
            .chain(lists)
            .chain(command.redirects.iter().map(|redirect| &redirect.target))
    })
}

fn check(text: &str) {
    let script = parse(text);
    if let Some(Problem::Syntax { at, .. }) = script.problem {
        assert!(at <= text.len());
    }
    let shells = script.parents.len();
    for command in &script.commands {
        assert!(command.span.0 <= command.span.1 && command.span.1 <= text.len());
        assert!(text.get(command.span.0..command.span.1).is_some());
        assert!((command.subshell as usize) < shells.max(1) && (command.parent as usize) < shells.max(1));
        assert!(command.function.is_none_or(|at| (at as usize) < script.functions.len()));
    }
    for word in words(&script) {
        for part in &word.parts {
            if let Part::Substitution { subshell, .. } | Part::Process { subshell } = part {
                assert!((*subshell as usize) < shells.max(1));
            }
        }
    }
    let env = known();
    for word in words(&script).take(2000) {
        expand(word, &env).iter().for_each(whole);
        expand_defaults(word, &env).iter().for_each(whole);
        whole(&expand_value(word, &env));
    }
    assert_eq!(parse(text), script);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        check(text);
    }
});
