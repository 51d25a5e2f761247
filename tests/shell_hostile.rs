//! Inputs that made published parsers abort, hang or eat memory. Each has to end, on a small stack, in a parse or a
//! problem.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "tests, and a table of inputs"
)]

use lazaret::shell::{Bound, Env, Problem, expand, expand_defaults, expand_value, parse};

/// The stack that a parse has to do with, also without optimisation.
const STACK: usize = 256 * 1024;

/// What an input has to end in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Parses,
    Syntax,
    Over(Bound),
}

fn repeat(pieces: &[(&str, usize)]) -> String {
    pieces.iter().map(|(text, times)| text.repeat(*times)).collect()
}

/// Pseudo-random text of code points 1 to 254, from a fixed seed.
fn binary(length: usize) -> String {
    let mut state = 5u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| char::from(u8::try_from(next() % 254 + 1).unwrap())).collect()
}

fn heredocs(count: usize) -> String {
    let heads: Vec<String> = (0..count).map(|i| format!("<<E{i}")).collect();
    let bodies: Vec<String> = (0..count).map(|i| format!("x\nE{i}")).collect();
    format!("cat {}\n{}", heads.join(" "), bodies.join("\n"))
}

fn inputs() -> Vec<(&'static str, String, End)> {
    use End::{Over, Parses, Syntax};
    let n = 10_000;
    vec![
        ("parentheses opened", repeat(&[("(", n)]), Over(Bound::Depth)),
        ("parentheses balanced", repeat(&[("(", n), ("a", 1), (")", n)]), Over(Bound::Depth)),
        ("subshells", repeat(&[("( ", n), ("a", 1), (" )", n)]), Over(Bound::Depth)),
        ("substitutions opened", repeat(&[("$(", n)]), Over(Bound::Depth)),
        ("substitutions", repeat(&[("echo ", 1), ("$(", n), ("a", 1), (")", n)]), Over(Bound::Depth)),
        (
            "substitutions of commands",
            repeat(&[("echo ", 1), ("$(a ", 1000), ("a", 1), (")", 1000)]),
            Over(Bound::Depth),
        ),
        (
            "quoted substitutions",
            repeat(&[("echo ", 1), ("\"$(a ", 2000), ("a", 1), (")\"", 2000)]),
            Over(Bound::Depth),
        ),
        ("defaults", repeat(&[("echo ", 1), ("${x:-", n), ("}", n)]), Over(Bound::Depth)),
        ("groups", repeat(&[("{ ", n), ("a", 1), ("; }", n)]), Over(Bound::Depth)),
        ("ifs", repeat(&[("if a; then ", 5000), ("b", 1), ("; fi", 5000)]), Over(Bound::Depth)),
        ("whiles", repeat(&[("while a; do ", 5000), ("b", 1), ("; done", 5000)]), Over(Bound::Depth)),
        ("cases", repeat(&[("case x in x) ", 2000), ("b", 1), (";; esac", 2000)]), Over(Bound::Depth)),
        ("functions", repeat(&[("f(){ ", 5000), ("a", 1), ("; }", 5000)]), Over(Bound::Depth)),
        (
            "arithmetic parentheses",
            repeat(&[("echo $((", 1), ("(", n), ("1", 1), (")", n), ("))", 1)]),
            Over(Bound::Depth),
        ),
        ("arithmetic signs", repeat(&[("echo $((", 1), ("-", 100_000), ("1))", 1)]), Parses),
        ("arithmetic sum", repeat(&[("echo $((", 1), ("1+", 200_000), ("1))", 1)]), Parses),
        (
            "conditional parentheses",
            repeat(&[("[[ ", 1), ("( ", n), ("a", 1), (" )", n), (" ]]", 1)]),
            Parses,
        ),
        ("conditional nots", repeat(&[("[[ ", 1), ("! ", 100_000), ("a ]]", 1)]), Parses),
        ("conditional ands", repeat(&[("[[ ", 1), ("a && ", 100_000), ("a ]]", 1)]), Parses),
        ("bangs", repeat(&[("! ", 100_000), ("a", 1)]), Parses),
        ("times", repeat(&[("time ", 50_000), ("a", 1)]), Parses),
        (
            "process substitutions",
            repeat(&[("cat ", 1), ("<(cat ", 5000), ("a", 1), (")", 5000)]),
            Over(Bound::Depth),
        ),
        ("backticks escaped", "echo `echo \\`echo \\\\\\`echo a\\\\\\`\\``".to_owned(), Parses),
        ("here-documents", heredocs(1000), Parses),
        ("here-documents opened", repeat(&[("cat ", 1), ("<<E ", 20_000)]), Parses),
        ("words", repeat(&[("a ", 500_000)]), Over(Bound::Words)),
        ("one word", repeat(&[("a", 1_000_000)]), Parses),
        ("sequence", repeat(&[("a;", 500_000)]), Over(Bound::Commands)),
        ("pipeline", repeat(&[("a|", 499_999), ("a", 1)]), Over(Bound::Stages)),
        ("short pipeline", repeat(&[("a|", 255), ("a", 1)]), Parses),
        ("stages of groups", repeat(&[("{ a; }|", 100_000), ("a", 1)]), Over(Bound::Stages)),
        ("ands", repeat(&[("a&&", 330_000), ("a", 1)]), Over(Bound::Commands)),
        ("newlines", repeat(&[("\n", 1_000_000)]), Parses),
        ("continuations", repeat(&[("\\\n", 500_000), ("a", 1)]), Parses),
        ("single quote opened", repeat(&[("echo '", 1), ("a", 1_000_000)]), Syntax),
        ("double quote opened", repeat(&[("echo \"", 1), ("a", 1_000_000)]), Syntax),
        ("variables", repeat(&[("echo \"", 1), ("$a", 500_000), ("\"", 1)]), Parses),
        ("flat substitutions", repeat(&[("echo ", 1), ("$(a)", 200_000)]), Over(Bound::Commands)),
        ("backslashes", repeat(&[("\\", 1_000_000)]), Parses),
        ("dollars", repeat(&[("$", 1_000_000)]), Parses),
        ("braces opened", repeat(&[("${", 300_000)]), Over(Bound::Depth)),
        ("quotes alternating", repeat(&[("'\"", 500_000)]), Syntax),
        ("less-thans", repeat(&[("<", 300_000)]), Syntax),
        ("ampersands", repeat(&[("&", 300_000)]), Syntax),
        ("arrays", repeat(&[("x=(", n), (")", n)]), Syntax),
        (
            "subscripts",
            repeat(&[("echo ${a", 1), ("[${a", 5000), ("]}", 5000), ("}", 1)]),
            Over(Bound::Depth),
        ),
        ("patterns", repeat(&[("ls ", 1), ("@(", n), ("a", 1), (")", n)]), Syntax),
        (
            "conditional patterns",
            repeat(&[("[[ a == ", 1), ("@(", n), ("a", 1), (")", n), (" ]]", 1)]),
            Parses,
        ),
        ("stars", repeat(&[("ls ", 1), ("*", 100_000)]), Parses),
        ("brace expansions", repeat(&[("echo ", 1), ("{a,", n), ("b", 1), ("}", n)]), Parses),
        ("comment", repeat(&[("#", 1_000_000)]), Parses),
        ("binary", binary(500_000), Syntax),
        ("assignments", repeat(&[("a=b ", 250_000)]), Over(Bound::Words)),
        ("redirections", repeat(&[(">a ", 300_000)]), Over(Bound::Words)),
        ("escapes", repeat(&[("echo $'", 1), ("\\x41", 250_000), ("'", 1)]), Parses),
        ("out of memory", "echo <<$( ()<(|)cho $(cho $(cho $(cho $(".to_owned(), Syntax),
        ("coprocs", repeat(&[("coproc ", 100_000), ("a", 1)]), Syntax),
        ("function keywords", repeat(&[("function a ", 90_000), ("{ b; }", 1)]), Syntax),
        ("cases opened", repeat(&[("case a in ", 100_000)]), Syntax),
        ("case parentheses", repeat(&[("case x in ", 1), ("(", 100_000)]), Syntax),
        // Found while this parser was written.
        ("ambiguous parentheses", repeat(&[("((a;", 30), ("b", 1), (") )", 30)]), Parses),
        ("ambiguous substitutions", repeat(&[("$((a $(", 20), ("b", 1), (")) )", 20)]), Parses),
        ("ambiguous opened", repeat(&[("((", 500_000)]), Over(Bound::Depth)),
        ("ambiguous and deep", repeat(&[("$((a ", 30), ("b", 1), (") )", 30)]), Parses),
        ("ambiguous processes", repeat(&[("${x:-<((a ", 3000)]), Over(Bound::Depth)),
        ("processes in a default", repeat(&[("${x:-", 1), ("<(a", 3000), ("}", 1)]), Over(Bound::Depth)),
        ("ambiguous side by side", repeat(&[("((a) );", 6000)]), Parses),
        ("quotes in arithmetic", repeat(&[("$(( '$(( \"", 5000)]), Over(Bound::Depth)),
        ("subscripts in commands", repeat(&[("a[", 100_000)]), Over(Bound::Depth)),
        (
            "redirected groups",
            repeat(&[("{ ", 60), ("a;", 15_000), ("}>b ", 1), (";}>b ", 59)]),
            Over(Bound::Fuel),
        ),
        (
            "copied here-document",
            format!("{{ {} }} <<E\n{}\nE\n", "a;".repeat(15_000), "b".repeat(100_000)),
            Over(Bound::Fuel),
        ),
        ("nested here-documents", repeat(&[("cat <<E\n$(", 5000)]), Over(Bound::Depth)),
        ("delimiters", repeat(&[("<<$(", 5000)]), Over(Bound::Depth)),
        ("values", repeat(&[("x=\"$(", 1000)]), Over(Bound::Depth)),
        ("elements", repeat(&[("x=(\"$(", 1000)]), Over(Bound::Depth)),
        ("loops over substitutions", repeat(&[("for x in \"$(", 1000)]), Over(Bound::Depth)),
        ("selections", repeat(&[("case \"$(", 1000)]), Over(Bound::Depth)),
        ("conditions in substitutions", repeat(&[("[[ x == \"$(", 1000)]), Over(Bound::Depth)),
        ("arguments", repeat(&[("declare x=\"$(", 1000)]), Over(Bound::Depth)),
        ("targets", repeat(&[(">\"$(", 1000)]), Over(Bound::Depth)),
        ("defaults with substitutions", repeat(&[("\"${x:-$(", 1000)]), Over(Bound::Depth)),
        ("coprocs in substitutions", repeat(&[("coproc \"$(", 1000)]), Over(Bound::Depth)),
        ("pipelines in substitutions", repeat(&[("a | b \"$(", 1000)]), Over(Bound::Depth)),
        ("too long", repeat(&[("a", Bound::MAX_BYTES + 1)]), Over(Bound::Bytes)),
        // bash reads it, and runs what stands behind: only the substitutions fail.
        ("backticks doubled", repeat(&[("`\\`\\\\\\`", 30_000)]), Parses),
        (
            "expansions of one value",
            format!("x={}; echo {}", "a ".repeat(1000), "$x".repeat(100_000)),
            Parses,
        ),
    ]
}

#[test]
fn hostile_inputs_end_as_they_should_on_a_small_stack() {
    let run = || {
        let mut wrong = Vec::new();
        for (name, text, wanted) in inputs() {
            let script = parse(&text);
            let end = match &script.problem {
                None => End::Parses,
                Some(Problem::Syntax { at, .. }) => {
                    assert!(*at <= text.len(), "{name}");
                    End::Syntax
                }
                Some(Problem::Bound(bound)) => End::Over(*bound),
            };
            if end != wanted {
                wrong.push(format!("{name}: {end:?}, wanted {wanted:?}: {:?}", script.problem));
            }
            let mut env = Env::default();
            env.set("x", Some("a ".repeat(1000)));
            for word in script.commands.iter().flat_map(|command| &command.words).take(1000) {
                expand(word, &env);
                expand_defaults(word, &env);
                expand_value(word, &env);
            }
        }
        wrong
    };
    let wrong = std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
