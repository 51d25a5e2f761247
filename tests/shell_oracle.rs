//! What other readers of the shell's language say: a real bash on what is accepted and on what words become, and two published
//! parsers on what is a command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use std::path::Path;
use std::process::Command;

use lazaret::rules::{Stdin, fixture};
use lazaret::shell::{Env, Problem, Script, expand, expand_value, parse};
use rable::{Node, NodeKind};

fn sources() -> Vec<(String, bool)> {
    let cases: serde_json::Value =
        serde_json::from_str(include_str!("data/shell/cases.json")).expect("cases.json is JSON");
    let source =
        |case: &serde_json::Value| (case["src"].as_str().unwrap().to_owned(), case["exp"].is_array());
    cases.as_array().unwrap().iter().map(source).collect()
}

/// A generator of the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound
    }

    fn pick<'a, T: AsRef<str>>(&mut self, list: &'a [T]) -> &'a str {
        list[self.below(list.len())].as_ref()
    }
}

/// Runs a bash of the machine, with nothing of this process' environment.
fn bash(arguments: &[&str], directory: &Path) -> String {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash is needed for this test: install it and put it into PATH");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const TOKENS: [&str; 78] = [
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "$((",
    "))",
    "((",
    "<<E",
    "<",
    ">",
    ">>",
    "\n",
    "\\\n",
    "#",
    " do ",
    " done",
    "if ",
    " then ",
    " fi",
    "case x in ",
    " esac",
    " in ",
    ";;",
    "function ",
    "for i ",
    "while ",
    "[[ ",
    " ]]",
    "=",
    "[",
    "]",
    "! ",
    "time ",
    "coproc ",
    "=(",
    "*",
    "?",
    "~",
    "$'",
    "<(",
    ">(",
    "<<<",
    "&>",
    ">&",
    "2>",
    "|&",
    ";&",
    "\\",
    "$",
    "x",
    " ",
    "else ",
    "elif ",
    "until ",
    "select ",
    " a ",
    "E",
    "\nE\n",
    "<<-E",
    "<<'E'",
    "@(",
    "!(",
    "{fd}>",
    "a[",
    "x=",
    "f()",
    "$[",
    "$\"",
];

/// Cases with a few things cut, doubled, inserted, or joined.
fn mutants(count: usize) -> Vec<String> {
    let sources: Vec<String> =
        sources().into_iter().map(|(source, _)| source).filter(|s| s.len() < 200).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut out = Vec::new();
    while out.len() < count {
        let mut text = random.pick(&sources).to_owned();
        for _ in 0..=random.below(3) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (a, b) = (places[random.below(places.len())], places[random.below(places.len())]);
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 6));
            let to = if text.is_char_boundary(to) { to } else { from };
            match random.below(6) {
                0 => text.replace_range(from..to, ""),
                1 => {
                    let again = text[from..to].to_owned();
                    text.insert_str(from, &again);
                }
                2 | 3 => text.insert_str(from, random.pick(&TOKENS)),
                4 => text.replace_range(from..to, random.pick(&TOKENS)),
                _ => {
                    text.push_str(random.pick(&["; ", " ", "\n", "|", ""]));
                    text.push_str(random.pick(&sources));
                }
            }
        }
        if !text.contains('\0') {
            out.push(text);
        }
    }
    out
}

/// What `bash -n` says of each text.
fn bash_accepts(texts: &[String]) -> Vec<bool> {
    let directory = tempfile::tempdir().unwrap();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(directory.path().join(format!("{index:05}")), text).unwrap();
    }
    let script = r#"for f in *; do
        answer=yes
        e=$(bash -n "$f" 2>&1) || answer=no
        while read -r line; do [[ -z $line || $line == *': warning: '* ]] || answer=no; done <<< "$e"
        echo "$answer"
    done"#;
    let answers: Vec<bool> =
        bash(&["-c", script], directory.path()).lines().map(|line| line == "yes").collect();
    assert_eq!(answers.len(), texts.len(), "bash read all of them");
    answers
}

/// Pieces at which words, substitutions and quotes begin and end.
const ENDS: [&str; 58] = [
    "\n",
    "\n",
    "\n",
    " ",
    " ",
    ";",
    "z",
    "y",
    "$((",
    "))",
    "((",
    ")",
    "(",
    "${x",
    "${x:-",
    "${x#",
    "}",
    "{",
    "$[",
    "]",
    "[",
    "a[",
    "]=",
    "x=",
    "=(",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "\\",
    "\\\n",
    "$'",
    "$\"",
    "<(",
    "$(",
    "<<E",
    "<<'E'",
    "<<-E",
    "\nE\n",
    "E",
    "#",
    " #",
    "[[ x == ",
    " ]]",
    "=~ ",
    "@(",
    "|",
    "&&",
    "case x in ",
    "esac",
    ";;",
    "if a; then ",
    "fi",
    "<<<",
    ">",
    "f() ",
    "$x",
];

/// Short texts in which everything may end anywhere, of those that we accept.
fn knots(count: usize) -> Vec<String> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut out = Vec::new();
    while out.len() < count {
        let text: String = (0..random.below(12) + 4).map(|_| random.pick(&ENDS)).collect();
        let ends = ["${", "$((", "((", "$[", "<(", "$(", "`", "a[", "<<", "\"", "'"];
        if text.contains('\n') && ends.iter().any(|end| text.contains(end)) && parse(&text).problem.is_none()
        {
            out.push(text);
        }
    }
    out
}

/// What bash prints for the body of a function: each line on which a command begins is indented, and what goes on inside of a
/// word or a here-document is not.
fn bash_prints(texts: &[String]) -> Vec<Option<String>> {
    let directory = tempfile::tempdir().unwrap();
    for (index, text) in texts.iter().enumerate() {
        std::fs::write(directory.path().join(format!("{index:05}")), format!("f() {{\n{text}\n}}\n"))
            .unwrap();
    }
    let script = r#"for f in *; do bash --pretty-print "$f" 2> /dev/null; printf '\0'; done"#;
    let printed = bash(&["-c", script], directory.path());
    let answers: Vec<&str> = printed.split('\0').collect();
    assert_eq!(answers.len(), texts.len() + 1, "bash read all of them");
    let print = |text: &&str| text.starts_with("f ()").then(|| (*text).to_owned());
    answers.iter().take(texts.len()).map(print).collect()
}

#[test]
fn bash_begins_commands_where_we_do() {
    let texts = knots(2000);
    // Of a text that it rejects bash still runs the lines before the error: what we accept in another reading may hide them.
    let rejected: Vec<&String> = texts
        .iter()
        .zip(bash_accepts(&texts))
        .filter(|(_, accepted)| !accepted)
        .map(|(text, _)| text)
        .collect();
    assert!(rejected.len() <= 2, "bash rejects {rejected:#?}");
    let (mut read, mut wrong) = (0, Vec::new());
    for (text, printed) in texts.iter().zip(bash_prints(&texts)) {
        let Some(printed) = printed else { continue };
        let script = parse(&printed);
        if script.problem.is_some() {
            continue;
        }
        read += 1;
        for command in &script.commands {
            let words = command.words.iter().chain(command.assigns.iter().map(|assign| &assign.value));
            for word in words.chain(command.redirects.iter().map(|redirect| &redirect.target)) {
                let inside = &printed[word.span.0..word.span.1];
                if inside.contains("\n    ") && !inside.contains("$(") && !inside.contains("<(") {
                    wrong.push(format!("{text:?}\n  {inside:?}"));
                }
            }
        }
    }
    assert!(read >= 800, "bash printed only {read}");
    assert!(wrong.is_empty(), "a word of ours goes over commands of bash:\n{}", wrong.join("\n"));
}

/// Why bash does not see an error that we report: it looks into these only when they run (and of a wrong `for ((` it says nothing).
fn read_late(text: &str) -> bool {
    ["`", "<<", "${ ", "${\n", "for ((", "<(("].iter().any(|late| text.contains(late))
}

#[test]
fn bash_accepts_what_we_accept() {
    let texts = mutants(3000);
    let answers = bash_accepts(&texts);
    let (mut late, mut too_strict, mut too_lax) = (0usize, Vec::new(), Vec::new());
    for (text, accepted) in texts.iter().zip(answers) {
        let problem = parse(text).problem;
        assert!(!matches!(problem, Some(Problem::Bound(_))), "{text:?}");
        match (accepted, problem) {
            (true, Some(_)) if read_late(text) => late += 1,
            (true, Some(problem)) => too_strict.push(format!("{text:?} {problem:?}")),
            (false, None) => too_lax.push(format!("{text:?}")),
            _ => {}
        }
    }
    assert!(too_strict.is_empty(), "we reject what bash accepts:\n{}", too_strict.join("\n"));
    assert!(too_lax.len() <= 3, "we accept what bash rejects:\n{}", too_lax.join("\n"));
    assert!(late * 100 <= texts.len() * 2, "{late} of {} are rejected for what bash reads late", texts.len());
}

/// Pieces of harmless words. `a` to `e` are set below; what they become, a real bash says.
const PIECES: [&str; 91] = [
    "x",
    "y",
    "foo",
    "-",
    ".",
    ",",
    "..",
    "1",
    "03",
    "/",
    "'q q'",
    "''",
    "\"\"",
    "\"d d\"",
    "\"$a\"",
    "\"${a}z\"",
    "\\ ",
    "\\$",
    "\\\\",
    "$'\\x41\\t\\u00e9'",
    "$'it\\'s'",
    "$a",
    "${a}",
    "$b",
    "$c",
    "\"$c\"",
    "$d",
    "${b:-e f}",
    "${b:-\"e f\"}",
    "\"${b:-e  f}\"",
    "${b-g}",
    "${a:+h i}",
    "${a+\"h  i\"}",
    "${b:+no}",
    "\"${b:+no}\"",
    "${a:-no}",
    "${b:=j}",
    "${d#*.}",
    "${d##*.}",
    "${d%.*}",
    "${d%%.*}",
    "\"${d%?}\"",
    "${d:1:2}",
    "${d:2}",
    "${d: -3:2}",
    "${b:-${a:-k}}",
    "${b:-${b:-l m}n}",
    "{u,v}",
    "{1..3}",
    "{a..e..2}",
    "{03..1}",
    "{",
    "}",
    "{u,",
    "v}",
    "{x}",
    "{}",
    "~",
    "~/w",
    "*",
    "?",
    "[x]",
    "[",
    "]",
    "$IFS",
    "\"$IFS\"",
    "${IFS%??}",
    "$e",
    "${d%'.'*}",
    "$'\\101'\\''b'",
    "${d/./-}",
    "${d/#a/x}",
    "\"${d/%d/x y}\"",
    "${d/#/rm }",
    "\"${d/%/ z}\"",
    "${d/#zz/q}",
    "${d//./-}",
    "\"${d//./ }\"",
    "${a/o*/z}",
    "${a//?/z}",
    "${a/#one/z}",
    "${d/%.c/z}",
    "${d//b}",
    "${d/x/y}",
    "${a^}",
    "${a^^}",
    "${a,,}",
    "\"${a^^}\"",
    "${c^^}",
    "${b^}",
    "${d@U}",
];

const VARIABLES: [(&str, &str); 5] =
    [("a", "one two"), ("b", ""), ("c", "  lead\ttrail "), ("d", "a.b.c"), ("e", "*")];

/// The words that bash makes of each text; none where it says that something is wrong.
fn bash_words(texts: &[String], separators: Option<&str>) -> Vec<Option<Vec<String>>> {
    let directory = tempfile::tempdir().unwrap();
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut script = String::from("HOME=/home/u\nprint() { printf '%s\\0' \"$@\"; }\n");
    let mut set: Vec<String> =
        VARIABLES.iter().map(|(name, value)| format!("{name}={}", quote(value))).collect();
    set.extend(separators.map(|separators| format!("IFS={}", quote(separators))));
    let set = set.join("; ");
    for text in texts {
        // Without an argument `printf` prints one empty word: the count tells them apart.
        let line = quote(&format!("set -- {text}; [ $# = 0 ] || print \"$@\""));
        script.push_str(&format!("( {set}; eval {line} && printf '\\1' )\nprintf '\\2'\n"));
    }
    std::fs::write(directory.path().join("script"), script).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let path = directory.path().join("script");
    let printed = bash(&[path.to_str().unwrap()], empty.path());
    let answers: Vec<&str> = printed.split('\u{2}').collect();
    assert_eq!(answers.len(), texts.len() + 1, "bash read all of them");
    let words = |answer: &&str| {
        let words = answer.strip_suffix('\u{1}')?;
        Some(words.split_terminator('\0').map(str::to_owned).collect())
    };
    answers.iter().take(texts.len()).map(words).collect()
}

/// What is known of the variables in a script.
fn followed(env: &Env, script: &Script) -> Env {
    let mut env = env.clone();
    for name in &script.assigned {
        env.set(name, None);
    }
    env
}

#[test]
fn words_become_what_bash_makes_of_them() {
    let mut random = Random(0x0bad_cafe_dead_beef);
    for separators in [None, Some(":. "), Some("")] {
        let mut texts = Vec::new();
        while texts.len() < 2000 {
            let text: String = (0..=random.below(6)).map(|_| random.pick(&PIECES)).collect();
            let script = parse(&format!("p {text}"));
            if script.problem.is_none() && script.commands.len() == 1 && script.commands[0].words.len() > 1 {
                texts.push(text);
            }
        }
        let mut env = Env { home: Some("/home/u".to_owned()), ..Env::default() };
        for (name, value) in VARIABLES {
            env.set(name, Some(value.to_owned()));
        }
        if let Some(separators) = separators {
            env.set("IFS", Some(separators.to_owned()));
        }
        let (mut compared, mut wrong) = (0, Vec::new());
        for (text, wanted) in texts.iter().zip(bash_words(&texts, separators)) {
            let script = parse(&format!("p {text}"));
            let env = followed(&env, &script);
            let args: Vec<_> =
                script.commands[0].words.iter().skip(1).flat_map(|word| expand(word, &env)).collect();
            let Some(wanted) = wanted else { continue };
            // A pattern with a slash would match files of this machine.
            if args.iter().any(|arg| arg.has_unknown() || (arg.has_glob() && arg.text().contains('/'))) {
                continue;
            }
            compared += 1;
            let words: Vec<String> = args.iter().map(lazaret::shell::Arg::to_text).collect();
            if words != wanted {
                wrong.push(format!("{text}\n  bash {wanted:?}\n  we   {words:?}"));
            }
        }
        assert!(wrong.is_empty(), "IFS {separators:?}, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(compared > 1400, "only {compared} were known");
    }
}

#[test]
fn values_become_what_bash_makes_of_them() {
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    let texts: Vec<String> = (0..600)
        .map(|_| (0..=random.below(5)).map(|_| random.pick(&PIECES)).collect::<String>())
        .filter(|text| {
            let script = parse(&format!("v={text}"));
            script.problem.is_none() && script.commands.len() == 1 && script.commands[0].words.is_empty()
        })
        .collect();
    let mut env = Env { home: Some("/home/u".to_owned()), ..Env::default() };
    for (name, value) in VARIABLES {
        env.set(name, Some(value.to_owned()));
    }
    let asked: Vec<String> = texts.iter().map(|text| format!("; v={text}; set -- \"$v\"")).collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (text, wanted) in texts.iter().zip(bash_words(&asked, None)) {
        let script = parse(&format!("v={text}"));
        let value = expand_value(&script.commands[0].assigns[0].value, &followed(&env, &script));
        let (Some(wanted), false) = (wanted, value.has_unknown()) else { continue };
        compared += 1;
        if wanted != [value.text()] {
            wrong.push(format!("{text}\n  bash {wanted:?}\n  we   {:?}", value.text()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 400, "only {compared} were known");
}

/// Ways to fill the array `q`; `#` is a word of pieces.
const FILLS: [&str; 8] = [
    "q=(#)",
    "q=(# #)",
    "q=(# x#); q+=(#)",
    "q=(x y); q[1]=#",
    "q=(x); q[3]=#; q[2]=y",
    "q=([1]=# [0]=z)",
    "q=(#); q+=(v # w)",
    "declare -a q=(# k)",
];

/// Ways to name what is in it.
const ELEMENTS: [&str; 13] = [
    "\"${q[@]}\"",
    "${q[@]}",
    "\"${q[*]}\"",
    "${q[*]}",
    "$q",
    "\"$q\"",
    "\"${q[0]}\"",
    "${q[1]}",
    "\"${q[-1]}\"",
    "\"${q[@]:1}\"",
    "\"${q[@]:1:1}\"",
    "x \"${q[@]}\" y",
    "\"x${q[0]}y\"",
];

/// What is known of the variables, as the beginning of a call.
fn known_variables() -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    VARIABLES.iter().map(|(name, value)| format!("{name}={}; ", quote(value))).collect()
}

/// The last `p` that a call would run.
fn surveyed(text: &str) -> Option<lazaret::rules::Invocation> {
    let call = fixture::call(&format!("HOME=/home/u; {}{text}", known_variables()));
    let (survey, _) = fixture::survey_of(&call, &lazaret::domain::Policy::default());
    survey.invocations.into_iter().rfind(|inv| inv.program == "p").filter(|_| survey.problem.is_none())
}

/// A word of pieces that stays one piece of syntax.
fn word(random: &mut Random) -> String {
    loop {
        let text: String = (0..=random.below(4)).map(|_| random.pick(&PIECES)).collect();
        let script = parse(&format!("p {text}"));
        if script.problem.is_none() && script.commands.len() == 1 && script.commands[0].words.len() > 1 {
            return text;
        }
    }
}

#[test]
fn elements_of_arrays_become_what_bash_makes_of_them() {
    let mut random = Random(0xa44a_1234_5678_9abc);
    let texts: Vec<(String, &str)> = (0..2500)
        .map(|_| {
            let mut fill = String::new();
            for piece in random.pick(&FILLS).split_inclusive('#') {
                match piece.strip_suffix('#') {
                    Some(front) => fill.extend([front, word(&mut random).as_str()]),
                    None => fill.push_str(piece),
                }
            }
            (fill, random.pick(&ELEMENTS))
        })
        .collect();
    let asked: Vec<String> =
        texts.iter().map(|(fill, element)| format!("; {fill}; set -- {element}")).collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for ((fill, element), wanted) in texts.iter().zip(bash_words(&asked, None)) {
        let (Some(inv), Some(wanted)) = (surveyed(&format!("{fill}; p {element}")), wanted) else { continue };
        let args = &inv.args;
        if args.iter().any(|arg| arg.has_unknown() || (arg.has_glob() && arg.text().contains('/'))) {
            continue;
        }
        // What is not worked out (a variable that an expansion assigns) counts as one word, and may be several: where the others
        // stand is not known then.
        if element.contains('1') && fill.contains(":=") {
            continue;
        }
        compared += 1;
        let words: Vec<String> = args.iter().map(lazaret::shell::Arg::to_text).collect();
        if words != wanted {
            wrong.push(format!("{fill}; {element}\n  bash {wanted:?}\n  we   {words:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 1000, "only {compared} were known");
}

#[test]
fn texts_of_here_strings_are_what_bash_hands_on() {
    let mut random = Random(0x4e4e_5717_0bad_f00d);
    let texts: Vec<String> = (0..800).map(|_| word(&mut random)).filter(|text| !text.is_empty()).collect();
    // Each is one word behind the sign, or bash says no.
    let asked: Vec<String> = texts
        .iter()
        .map(|text| format!("; IFS= read -r -d '' v <<< {text} || true; set -- \"$v\""))
        .collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for (text, wanted) in texts.iter().zip(bash_words(&asked, None)) {
        let Some(inv) = surveyed(&format!("p <<< {text}")) else { continue };
        let (Stdin::Text(arg), Some(wanted)) = (&inv.stdin, wanted) else { continue };
        if arg.has_unknown() || !inv.args.is_empty() {
            continue;
        }
        compared += 1;
        // The shell puts a line feed behind the text.
        if wanted != [format!("{}\n", arg.text())] {
            wrong.push(format!("{text}\n  bash {wanted:?}\n  we   {:?}", arg.text()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 400, "only {compared} were known");
}

/// Words that the others wrongly take for commands: source, word, why.
const MISTAKES: [(&str, &str, &str); 11] = [
    ("a[0]=x b[$(rm y)]=1 cmd", "b[$(rm y)]=1", "the second assignment is not one for rable"),
    ("cat <<EOF\nEOF \nrm x\nEOF\nid", "rm", "both end the here-document at `EOF` with a blank behind it"),
    ("cat <<EOF\nEOF \nrm x\nEOF\nid", "EOF", "the same"),
    ("rm$IFS-rf$IFS/", "rm$IFS-rf$", "tree-sitter ends the word inside of it"),
    ("! ! a", "!", "tree-sitter does not know the second as a keyword"),
    ("time -p a | b", "time", "tree-sitter does not know this keyword"),
    ("time a", "time", "the same"),
    ("coproc rm x", "coproc", "tree-sitter does not know this keyword"),
    ("coproc NAME { rm x; }", "coproc", "the same"),
    ("coproc NAME { rm x; }", "}", "the same"),
    ("r\\\nm x", "r", "tree-sitter ends the word at a continued line"),
];

fn is_mistake(source: &str, word: &str) -> bool {
    MISTAKES.iter().any(|(text, command, _)| *text == source && *command == word)
}

/// The first words of our commands, as they are written and as plain text.
fn our_words(source: &str, script: &Script) -> Vec<String> {
    let mut out = Vec::new();
    for word in script.commands.iter().filter_map(|command| command.words.first()) {
        out.push(source[word.span.0..word.span.1].to_owned());
        out.push(lazaret::shell::Arg::to_text(&expand_value(word, &Env::default())));
    }
    out
}

/// The command words in rable's tree.
fn rable_words(node: &Node, out: &mut Vec<String>) {
    use NodeKind as K;
    let mut all = |nodes: &[Node]| nodes.iter().for_each(|node| rable_words(node, out));
    match &node.kind {
        K::Command { assignments, words, redirects } => {
            all(assignments);
            all(words);
            all(redirects);
            if let Some(K::Word { value, .. }) = words.first().map(|word| &word.kind) {
                out.push(value.clone());
            }
        }
        K::Word { parts, .. } | K::Array { elements: parts } | K::ArithConcat { parts } => all(parts),
        K::Pipeline { commands, .. } => all(commands),
        K::List { items } => items.iter().for_each(|item| rable_words(&item.command, out)),
        K::If { condition, then_body, else_body, redirects } => {
            all(redirects);
            for node in [Some(condition), Some(then_body), else_body.as_ref()].into_iter().flatten() {
                rable_words(node, out);
            }
        }
        K::While { condition, body, redirects } | K::Until { condition, body, redirects } => {
            all(redirects);
            rable_words(condition, out);
            rable_words(body, out);
        }
        K::For { words, body, redirects, .. } | K::Select { words, body, redirects, .. } => {
            all(redirects);
            all(words.as_deref().unwrap_or_default());
            rable_words(body, out);
        }
        K::ForArith { body, redirects, .. }
        | K::Subshell { body, redirects }
        | K::BraceGroup { body, redirects }
        | K::ConditionalExpr { body, redirects } => {
            all(redirects);
            rable_words(body, out);
        }
        K::Case { word, patterns, redirects } => {
            all(redirects);
            rable_words(word, out);
            patterns
                .iter()
                .filter_map(|pattern| pattern.body.as_ref())
                .for_each(|body| rable_words(body, out));
        }
        K::Function { body: inner, .. }
        | K::Coproc { command: inner, .. }
        | K::Redirect { target: inner, .. }
        | K::CommandSubstitution { command: inner, .. }
        | K::ProcessSubstitution { command: inner, .. }
        | K::Negation { pipeline: inner }
        | K::Time { pipeline: inner, .. } => rable_words(inner, out),
        _ => {}
    }
}

#[test]
fn what_rable_takes_for_a_command_is_one_for_us() {
    let (mut read, mut wrong) = (0, Vec::new());
    for (source, accepted) in sources() {
        let Ok(nodes) = rable::parse(&source, false) else { continue };
        if !accepted {
            continue;
        }
        let ours = our_words(&source, &parse(&source));
        let mut theirs = Vec::new();
        nodes.iter().for_each(|node| rable_words(node, &mut theirs));
        read += theirs.len();
        wrong.extend(
            theirs
                .iter()
                .filter(|word| !ours.contains(word) && !is_mistake(&source, word))
                .map(|word| format!("{source:?}: {word:?}")),
        );
    }
    assert!(read >= 150, "rable saw only {read}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_tree_sitter_takes_for_a_command_is_one_for_us() {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    let (mut read, mut wrong) = (0, Vec::new());
    for (source, accepted) in sources() {
        if !accepted {
            continue;
        }
        let tree = parser.parse(&source, None).unwrap();
        if tree.root_node().has_error() {
            continue;
        }
        let ours = our_words(&source, &parse(&source));
        let mut waiting = vec![tree.root_node()];
        while let Some(node) = waiting.pop() {
            let mut cursor = node.walk();
            waiting.extend(node.children(&mut cursor));
            if node.kind() == "command_name" {
                read += 1;
                let word = source[node.byte_range()].to_owned();
                if !ours.contains(&word) && !is_mistake(&source, &word) {
                    wrong.push(format!("{source:?}: {word:?}"));
                }
            }
        }
    }
    assert!(read >= 150, "tree-sitter saw only {read}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
