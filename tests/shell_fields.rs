//! What a command knows of its place: pipeline, subshell, owner, function, redirections. And texts that hide a command from a
//! reader who takes a bracket for more, or for less, than bash does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use lazaret::shell::{
    Arg, Context, Env, Part, Problem, RedirectKind, Script, Simple, expand, expand_defaults, expand_value,
    parse,
};

fn word(command: &Simple) -> String {
    command.words.first().map(|word| expand_value(word, &Env::default()).to_text()).unwrap_or_default()
}

/// The command whose first word this is.
fn find<'a>(script: &'a Script, name: &str) -> &'a Simple {
    script
        .commands
        .iter()
        .find(|command| word(command) == name)
        .unwrap_or_else(|| panic!("no {name} in {script:#?}"))
}

fn good(source: &str) -> Script {
    let script = parse(source);
    assert_eq!(script.problem, None, "{source}");
    script
}

fn names(script: &Script) -> Vec<String> {
    script.commands.iter().map(word).collect()
}

/// Stage and whether it is the last, for each named command; all have to be of one pipeline.
fn stages(source: &str, names: &[&str]) -> Vec<(u16, bool)> {
    let script = good(source);
    let number = find(&script, names[0]).pipeline;
    let place = |name: &&str| {
        let command = find(&script, name);
        assert_eq!(command.pipeline, number, "{name} in {source}");
        (command.stage, command.last)
    };
    names.iter().map(place).collect()
}

#[test]
fn a_compound_stage_shares_the_place_of_its_compound() {
    assert_eq!(stages("a | b", &["a", "b"]), [(0, false), (1, true)]);
    assert_eq!(stages("{ a; b; } | c", &["a", "b", "c"]), [(0, false), (0, false), (1, true)]);
    assert_eq!(
        stages("a | while b; do c; done | d", &["a", "b", "c", "d"]),
        [(0, false), (1, false), (1, false), (2, true)]
    );
    assert_eq!(stages("(a | b) | c", &["a", "b", "c"]), [(0, false), (1, false), (2, true)]);
    assert_eq!(stages("a | { b | c; }", &["a", "b", "c"]), [(0, false), (1, false), (2, true)]);
    assert_eq!(
        stages("a | { b | c; d; } | e", &["a", "b", "c", "d", "e"]).iter().map(|s| s.0).collect::<Vec<_>>(),
        [0, 1, 2, 1, 3]
    );
    assert_eq!(stages("cat <<E |\n$(x)\nE\nsh", &["cat", "sh"]), [(0, false), (1, true)]);
    let script = good("a; b && c");
    assert_ne!(find(&script, "a").pipeline, find(&script, "b").pipeline);
    assert_ne!(find(&script, "b").pipeline, find(&script, "c").pipeline);
    assert!(script.commands.iter().all(|command| command.stage == 0 && command.last));
}

#[test]
fn stages_substitutions_parentheses_and_background_are_subshells() {
    let at = |source: &str, name: &str| {
        let script = good(source);
        let command = find(&script, name);
        (command.subshell, command.parent)
    };
    assert_eq!(at("cd x; a", "cd").0, 0);
    assert_eq!(at("{ cd x; }; a", "cd").0, 0);
    for source in [
        "cd x | a",
        "a | cd x",
        "(cd x)",
        "cd x & a",
        "a $(cd x)",
        "a `cd x`",
        "a <(cd x)",
        "coproc cd x",
        "a && cd x &",
    ] {
        assert_ne!(at(source, "cd").0, 0, "{source}");
        assert_eq!(at(source, "cd").1, 0, "{source}");
    }
    assert_eq!(at("cd x; a | b", "cd").0, 0);
    let script = good("(a; (b)); c $(d $(e))");
    assert_eq!(find(&script, "b").parent, find(&script, "a").subshell);
    assert_eq!(find(&script, "e").parent, find(&script, "d").subshell);
    // A subshell inside of a stage belongs to the stage.
    let script = good("{ a; (b); } | c");
    assert_eq!(find(&script, "b").parent, find(&script, "a").subshell);
    assert_ne!(find(&script, "a").subshell, find(&script, "c").subshell);
    let script = good("(cat <<E)\n$(x)\nE");
    assert_eq!(find(&script, "x").parent, find(&script, "cat").subshell);
}

#[test]
fn substitutions_come_before_their_owner_and_are_linked_to_it() {
    for (source, inner, owner) in [
        ("a $(b)", "b", "a"),
        ("a \"`b`\"", "b", "a"),
        ("x=$(b) a", "b", "a"),
        ("a > $(b)", "b", "a"),
        ("a <(b)", "b", "a"),
        ("a ${x:-$(b)}", "b", "a"),
        ("a $((1 + $(b)))", "b", "a"),
        ("a <<E\n$(b)\nE", "b", "a"),
        ("a <<E; c\n$(b)\nE\nd", "b", "a"),
        ("c; a <<< $(b); d", "b", "a"),
        ("c <<E $(e); a <<F\n$(d)\nE\n$(b)\nF", "b", "a"),
    ] {
        let script = good(source);
        let place = |name: &str| script.commands.iter().position(|command| word(command) == name).unwrap();
        assert!(place(inner) < place(owner), "{source}: {:?}", names(&script));
        assert_eq!(find(&script, inner).owner, u32::try_from(place(owner)).ok(), "{source}");
        assert_eq!(find(&script, owner).owner, None);
    }
    let script = good("a $(b $(c))");
    assert_eq!(names(&script), ["c", "b", "a"]);
    assert_eq!((script.commands[0].owner, script.commands[1].owner), (Some(1), Some(2)));
    let Part::Substitution { subshell, .. } = script.commands[2].words[1].parts[0] else { panic!() };
    assert_eq!(subshell, script.commands[1].subshell);
}

#[test]
fn contexts_functions_and_conditions_are_told() {
    let context = |source: &str| find(&good(source), "x").context;
    assert_eq!(context("x"), Context::Top);
    assert_eq!(context("if (a; x); then b; fi"), Context::Top);
    assert_eq!(context("a $(x)"), Context::Substitution);
    assert_eq!(context("a <(x)"), Context::ProcessSubstitution);
    assert_eq!(context("a <<E\n$(x)\nE"), Context::Heredoc);
    assert_eq!(context("a <<E\n$(b $(x))\nE"), Context::Substitution);
    assert_eq!(context("f() { x; }"), Context::Function);
    assert_eq!(context("(( $(x) ))"), Context::Arithmetic);
    assert_eq!(context("a b[$(x)]=1 c[1]"), Context::Substitution);
    assert_eq!(context("b[$(x)]=1 a"), Context::Arithmetic);

    let script = good("f() { a; g() { b; }; c $(d); }; e");
    assert_eq!(script.functions, ["f", "g"]);
    let function = |name: &str| find(&script, name).function;
    assert_eq!(
        (function("a"), function("b"), function("c"), function("d"), function("e")),
        (Some(0), Some(1), Some(0), Some(0), None)
    );

    let conditional = |source: &str| find(&good(source), "x").conditional;
    for source in [
        "x && a",
        "x || a",
        "if x; then a; fi",
        "while x; do a; done",
        "{ x; }",
        "a; x",
        "a & x",
        "a | x",
        "f() { x; }",
        "a || b; x",
    ] {
        assert!(!conditional(source), "{source}");
    }
    for source in [
        "a && x",
        "a || { b; x; }",
        "if a; then x; fi",
        "if a; then b; else x; fi",
        "if a; then b; elif x; then c; fi",
        "while a; do x; done",
        "for i in a; do x; done",
        "case a in a) x;; esac",
        "a && b $(x)",
        "a ${b:-$(x)}",
        "a && b <<E\n$(x)\nE",
    ] {
        assert!(conditional(source), "{source}");
    }
}

#[test]
fn redirections_of_compounds_are_given_to_what_is_in_them() {
    let targets = |source: &str, name: &str| {
        let script = good(source);
        let text = |redirect: &lazaret::shell::Redirect| {
            (redirect.kind, expand_value(&redirect.target, &Env::default()).to_text())
        };
        find(&script, name).redirects.iter().map(text).collect::<Vec<_>>()
    };
    let write = |text: &str| (RedirectKind::Write, text.to_owned());
    assert_eq!(targets("{ a > x; b; } > y", "a"), [write("y"), write("x")]);
    assert_eq!(targets("{ a > x; b; } > y", "b"), [write("y")]);
    assert_eq!(targets("while read l; do a; done < in", "a"), [(RedirectKind::Read, "in".to_owned())]);
    assert_eq!(targets("f() { a; } > y", "a"), [write("y")]);
    assert_eq!(targets("(a $(b)) > y", "b"), []);
    assert_eq!(targets("{ a; } <<E\nbody\nE", "a"), [(RedirectKind::Heredoc, "body\n".to_owned())]);
    assert_eq!(
        targets("a 2>&1 >&f 3<&- <<< w >> l <> r &> g", "a").iter().map(|t| t.0).collect::<Vec<_>>(),
        [
            RedirectKind::Duplicate,
            RedirectKind::Write,
            RedirectKind::Duplicate,
            RedirectKind::HereString,
            RedirectKind::Append,
            RedirectKind::ReadWrite,
            RedirectKind::Write,
        ]
    );
    let script = good("(( x )) > y");
    assert_eq!(
        (script.commands.len(), script.commands[0].words.len(), script.commands[0].redirects.len()),
        (1, 0, 1)
    );
    assert_eq!(good("exec 5>x").commands[0].redirects[0].fd, Some(5));
}

#[test]
fn loops_and_arrays_assign() {
    let script = good("for d in / /etc; do rm $d; done; for e in 'a b'; do c; done; x=(p \"q r\"); y+=z");
    let assign = |name: &str| {
        let mut assigns = script.commands.iter().flat_map(|command| &command.assigns);
        assigns.find(|assign| assign.name == name).unwrap()
    };
    let env = Env::default();
    assert!(expand_value(&assign("d").value, &env).has_unknown());
    let list: Vec<String> = assign("d").list.iter().map(|word| expand_value(word, &env).to_text()).collect();
    assert_eq!(list, ["/", "/etc"]);
    assert_eq!(expand_value(&assign("e").value, &env).known(), Some("a b"));
    assert!(
        assign("x").array
            && assign("x").list.len() == 2
            && expand_value(&assign("x").value, &env).has_unknown()
    );
    assert!(assign("y").append);
    assert_eq!(good(": ${a:=b} \"${c:-${d=e}}\"").assigned, ["a", "d"]);
}

/// The commands that bash runs although a reader may take them for the inside of something else. Each was tried with `echo` in a
/// real bash.
#[test]
fn nothing_hides_behind_a_bracket() {
    for source in [
        "echo $((${a:-))\nrm x\necho $((}))",
        "echo ${x[ }\nrm x\necho ]}",
        "cat <((cat <<'E' ))\nrm x\nE\n",
        "echo $((cat <<'E' ) )\nrm x\nE\n",
        "((rm x)\\\n)",
        "x=$(cat <<E\na\nE rm x)",
        "cat <<E\n\\\nE\nrm x",
        "cat <<E\nE\\\n\nE\nrm x",
        ">&-rm x",
        "!(rm x)",
        "\"${x:-'$(rm x)'}\"",
        "echo $(( '$(rm x)' ))",
        "a['$(rm x)']=1",
        "r\\\nm x",
        "i\\\nf rm x; then a; fi",
        "coproc rm x",
        "{ a; } | ! time\nrm x",
        "[[ a =~ (b ) ]]\nrm x",
    ] {
        let script = parse(source);
        let seen = names(&script).iter().any(|name| name == "rm");
        assert!(seen || script.problem.is_some(), "{source:?}: {:?}", names(&script));
    }
    // What is read in two ways is not accepted.
    for source in [
        "echo $(cat <<'E') \"\nE\nrm x\n\"",
        "((cat <<E\nrm x\nE\n) )",
        "cat <<E; x=(1\nrm x\nE\n2)",
        "echo ${x:-<(cat <<'E' }\nrm x\nE\n)}",
        "r\0m x",
    ] {
        assert!(matches!(parse(source).problem, Some(Problem::Syntax { .. })), "{source:?}");
    }
}

#[test]
fn what_stands_before_an_error_is_kept() {
    let script = parse("a; b && rm -rf \"/");
    assert_eq!(names(&script), ["a", "b", "rm"]);
    assert_eq!(script.commands[2].words.len(), 3);
    assert_eq!(names(&parse("a $(rm x")), ["rm", "a"]);
    assert_eq!(names(&parse("rm x; fi")), ["rm"]);
}

fn args(text: &str, env: &Env) -> Vec<String> {
    let script = good(&format!("p {text}"));
    let words = find(&script, "p").words.iter().skip(1);
    words.flat_map(|word| expand(word, env)).map(|arg| arg.to_text()).collect()
}

#[test]
fn words_of_which_something_is_unknown() {
    let mut env = Env { home: Some("/home/u".to_owned()), cwd: Some("/w".to_owned()), ..Env::default() };
    env.set("known", Some("a b".to_owned()));
    env.set("computed", None);
    for (text, wanted) in [
        ("rm$IFS-rf$IFS/", vec!["rm", "-rf", "/"]),
        ("cat${IFS%??}/etc${IFS:0:1}/x", vec!["cat", "/etc", "/x"]),
        ("$x", vec!["…"]),
        ("a$x.b", vec!["a….b"]),
        ("$computed$known", vec!["…a", "b"]),
        ("\"$(x)\" `y` <(z) $((x+1)) $@ $1 $UID", vec!["…", "…", "…", "…", "…", "…", "…"]),
        ("$((1)) $[2*3] $((known))", vec!["1", "6", "…"]),
        ("~/a ~+/b ~root ~user/c ~", vec!["/home/u/a", "/w/b", "/root", "…/c", "/home/u"]),
        ("$HOME/x $PWD/y", vec!["/home/u/x", "/w/y"]),
        ("${x:-d} ${x:+e}", vec!["…", "…"]),
        ("${#known} ${!known} ${known[1]}", vec!["…", "…", "…"]),
        ("${known^^} ${known/a/b} ${known^^?}", vec!["A", "B", "b", "b", "…"]),
        ("${known:-$x}${computed:-z}", vec!["a", "b…"]),
        ("$known{1,2}", vec!["…", "…"]),
    ] {
        assert_eq!(args(text, &env), wanted, "{text}");
    }
    assert_eq!(args("~", &Env::default()), ["…"]);
    env.set("IFS", None);
    assert_eq!(args("$known", &env), ["…"]);
    let defaults = |text: &str| {
        let word = &good(&format!("p {text}")).commands[0].words[1];
        expand_defaults(word, &Env::default()).iter().map(Arg::to_text).collect::<Vec<_>>()
    };
    assert_eq!(defaults("${DIR:-/}"), ["/"]);
    assert_eq!(defaults("\"${A:-${B:-/x}}y\""), ["/xy"]);
    assert_eq!(defaults("${A}"), ["…"]);
}

#[test]
fn globs_are_pieces_of_their_own() {
    let env = Env::default();
    for (text, wanted) in [
        ("/*", true),
        ("'/*'", false),
        ("\\*", false),
        ("a?b", true),
        ("[", false),
        ("[ab]", true),
        ("/et['c']", true),
        ("[a/b]", false),
        ("{a,b*}", true),
    ] {
        let word = &good(&format!("p {text}")).commands[0].words[1];
        assert_eq!(expand(word, &env).iter().any(Arg::has_glob), wanted, "{text}");
    }
    let on = good("shopt -s extglob\np @(a|b)");
    assert!(expand(&on.commands[1].words[1], &env)[0].has_glob());
    assert!(parse("p @(a|b)").problem.is_some());
    assert!(parse("shopt -s extglob; p @(a|b)").problem.is_some());
}

#[test]
fn expansion_has_bounds() {
    let mut env = Env::default();
    env.set("x", Some("a".repeat(100_000)));
    let script = good(&format!("p {}", "$x".repeat(1000)));
    let size: usize = expand(&script.commands[0].words[1], &env).iter().map(|arg| arg.text().len()).sum();
    assert!(size <= Env::MAX_SPENT + 100, "{size}");
    for text in ["{1..9999999}", &"{a,b}".repeat(30), &"{1..1}".repeat(5000), &"{".repeat(100_000)] {
        assert_eq!(args(text, &Env::default()).len(), 1, "{}", &text[..12]);
    }
    let mut env = Env::default();
    for number in 0..5000 {
        env.set(&format!("v{number}"), None);
    }
    assert_eq!(env.vars.len(), Env::MAX_VARS);
    env.set("IFS", None);
    assert_eq!(env.get("IFS"), Some(None));
}
