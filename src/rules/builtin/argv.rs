//! How code starts programs, as far as the words tell it: by a list of arguments that no shell looks into, and by backticks.

use super::scripts;
use crate::domain::single_quoted;
use crate::rules::commands;

/// Calls of Python that start a program from a list of arguments.
const PYTHON: &[&str] = &[
    "subprocess.run(",
    "subprocess.call(",
    "subprocess.check_call(",
    "subprocess.check_output(",
    "subprocess.Popen(",
];

/// The same of Node: a program, and the list of its arguments.
const NODE: &[&str] = &["spawnSync(", "execFileSync(", "spawn(", "execFile("];

/// A command line that code may run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub text: String,
    /// It is run as it stands there. Of the others some are, and which cannot be told from the list.
    pub sure: bool,
}

/// A word of a list of arguments.
enum Word<'c> {
    Said(&'c str),
    /// A name, for which a string stands that is known once the code runs.
    Named(&'c str),
}

/// The command lines of code that starts programs in no other way than by lists of plain strings, and programs of the project's own by
/// lists with names in them. What is fed is each string of the code. None: it may start programs in another way too.
pub(super) fn commands(code: &str) -> Option<Vec<Line>> {
    let mut rest = String::with_capacity(code.len());
    let mut left = code;
    let mut lists = Vec::new();
    let calls = || PYTHON.iter().chain(NODE);
    while let Some((at, call)) = calls().filter_map(|call| left.find(call).map(|at| (at, *call))).min() {
        rest.push_str(left.get(..at)?);
        let behind = left.get(at + call.len()..)?;
        let (words, end) = if NODE.contains(&call) { node_list(behind)? } else { list(behind)? };
        lists.push(words);
        left = behind.get(end..)?;
    }
    rest.push_str(left);
    if lists.is_empty() || starts_otherwise(&rest, code) {
        return None;
    }
    let fed = ["input", "stdin", "communicate"].iter().any(|word| rest.contains(word));
    let mut out = Vec::new();
    for words in lists {
        let own = is_own(&words);
        let named = words.iter().any(|word| matches!(word, Word::Named(_)));
        let sure = own || !(fed || named);
        out.push(Line { text: line(&words), sure });
        if sure {
            continue;
        }
        let strings = scripts::strings(code);
        // Many a program runs one of its arguments, and which one that is cannot be told here.
        if named || composes(code) || strings.len().max(out.len()) > MOST_STRINGS {
            return None;
        }
        // A shell runs what it is fed.
        let input = |text: &String| format!("printf '%s' {} | {}", quoted(text), line(&words));
        out.extend(strings.iter().map(input).map(|text| Line { text, sure: false }));
    }
    Some(out)
}

/// Most strings of code that are tried as what a program is fed.
const MOST_STRINGS: usize = 48;

/// A list's words as a command line.
fn line(words: &[Word<'_>]) -> String {
    let said = words.iter().map(|word| match word {
        Word::Said(text) => quoted(text),
        Word::Named(name) => format!("\"${}\"", name.replace('.', "_")),
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Whether a list starts a program or a script of the project's own, which gets the rest as data.
fn is_own(words: &[Word<'_>]) -> bool {
    const INTERPRETERS: &[&str] = &["python", "python3", "node", "bun", "ruby", "bash", "sh"];
    /// What a program is told to do with a text that it does not run.
    const TRIES: &[&str] = &["check", "judge", "explain", "classify", "lint", "parse", "validate"];
    const ENDINGS: &[&str] = &[".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".sh"];
    let below = |path: &str| !path.starts_with(['-', '/', '~']) && !path.contains("..");
    match words {
        [Word::Said("python" | "python3"), Word::Said("-m"), Word::Said(_), Word::Said(operation), ..]
            if TRIES.contains(operation) =>
        {
            true
        }
        [Word::Said(program), Word::Said(script), ..] if INTERPRETERS.contains(program) => {
            below(script) && ENDINGS.iter().any(|end| script.ends_with(end))
        }
        [Word::Said("cargo" | "go"), Word::Said("run"), ..] => true,
        [Word::Said(program), Word::Said(operation), ..] if !program.contains('/') => {
            commands::find(program).is_none() && TRIES.contains(operation)
        }
        [Word::Said(program), ..] => below(program) && program.contains('/'),
        _ => false,
    }
}

/// The words of a list, and where it ends.
fn list(code: &str) -> Option<(Vec<Word<'_>>, usize)> {
    let inside = code.trim_start().strip_prefix('[')?;
    let end = end_of_list(inside)?;
    let elements = split(inside.get(..end)?);
    let words: Vec<Word<'_>> = elements.into_iter().enumerate().map(word).collect::<Option<_>>()?;
    // The program stands there in so many words.
    matches!(words.first(), Some(Word::Said(_))).then_some((words, code.len() - inside.len() + end + 1))
}

/// The same of Node, where the program stands in front of the list.
fn node_list(code: &str) -> Option<(Vec<Word<'_>>, usize)> {
    let (program, behind) = code.split_once(',')?;
    let Word::Said(program) = word((0, program.trim()))? else { return None };
    let (mut words, end) = if behind.trim_start().starts_with("[]") {
        (Vec::new(), behind.find(']')? + 1)
    } else {
        let inside = behind.trim_start().strip_prefix('[')?;
        let end = end_of_list(inside)?;
        let words = split(inside.get(..end)?).into_iter().map(|text| word((1, text)));
        (words.collect::<Option<_>>()?, behind.len() - inside.len() + end + 1)
    };
    words.insert(0, Word::Said(program));
    Some((words, code.len() - behind.len() + end))
}

/// An element of a list, by its place: a plain string, or a name.
fn word((at, text): (usize, &str)) -> Option<Word<'_>> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let inside = text.get(1..)?.strip_suffix(quote)?;
        return (!inside.contains([quote, '\\'])).then_some(Word::Said(inside));
    }
    match text {
        "sys.executable" if at == 0 => Some(Word::Said("python3")),
        "process.execPath" if at == 0 => Some(Word::Said("node")),
        _ => text.split('.').all(is_name).then_some(Word::Named(text)),
    }
}

/// Where a list without brackets in it ends.
fn end_of_list(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            _ if c == '\\' => return None,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == ']' => return Some(at),
            None if matches!(c, '[' | '(' | '{' | '`') => return None,
            None => {}
        }
    }
    None
}

/// The elements of a list, without the empty one behind a last comma.
fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == ',' => {
                out.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            None => {}
        }
    }
    let last = text.get(start..).unwrap_or_default().trim();
    out.extend((!last.is_empty()).then_some(last));
    out
}

/// Whether code without its lists may start programs all the same.
fn starts_otherwise(rest: &str, code: &str) -> bool {
    /// What makes code of a string or of a name.
    const HIDDEN: &[&str] = &[
        "getattr",
        "__",
        "importlib",
        "globals(",
        "locals(",
        "vars(",
        "compile(",
        "runpy",
        "ctypes",
        "pickle",
        "eval",
        "executable",
        "**",
        "{[",
        "pty",
    ];
    let python = PYTHON.iter().any(|call| code.contains(call));
    let mut own = without_imports(rest);
    if python && !NODE.iter().any(|call| code.contains(call)) {
        own = super::statements::without_strings(&own);
    }
    for name in ["subprocess.PIPE", "subprocess.DEVNULL", "subprocess.STDOUT", "subprocess.TimeoutExpired"] {
        own = own.replace(name, "");
    }
    // A function of the code's own.
    for call in ["run(", "call("] {
        if [format!("def {call}"), format!("function {call}")].iter().any(|made| own.contains(made)) {
            own =
                own.replace(&format!(".{call}"), ".\0").replace(call, "").replace(".\0", &format!(".{call}"));
        }
    }
    super::code::STARTS.iter().chain(HIDDEN).any(|start| own.contains(start))
}

/// Code without the statements that name the library which starts programs.
fn without_imports(code: &str) -> String {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ' '));
    let required = |text: &str| {
        let text = text.replace('"', "'");
        ["require('child_process')", "require('node:child_process')"]
            .iter()
            .find_map(|call| text.strip_suffix(call))
            .and_then(|front| front.trim_end().strip_suffix('=').map(|names| names.trim().to_owned()))
    };
    let from = |text: &str| {
        let text = text.replace('"', "'");
        ["from 'child_process'", "from 'node:child_process'"]
            .iter()
            .find_map(|end| text.strip_suffix(end))
            .and_then(|front| front.trim().strip_prefix("import ").map(|names| names.trim().to_owned()))
    };
    let braced =
        |names: &str| names.strip_prefix('{').and_then(|names| names.strip_suffix('}')).is_some_and(plain);
    let names_library = |statement: &str| {
        let text = statement.trim();
        let python =
            text.strip_prefix("import ").is_some_and(|names| plain(names) && !names.contains(" as "));
        let declared = || {
            let names = required(text)?;
            let names = ["const ", "let ", "var "].iter().find_map(|word| names.strip_prefix(word))?;
            Some(names.trim().to_owned())
        };
        python
            || declared()
                .or_else(|| from(text))
                .is_some_and(|names| braced(&names) && !names.contains(" as "))
    };
    code.split_inclusive(['\n', ';'])
        .filter(|statement| !names_library(statement.trim_end_matches(['\n', ';'])))
        .collect()
}

/// Whether code puts strings together, otherwise than to print them.
fn composes(code: &str) -> bool {
    const MARKS: &[&str] = &[
        "+",
        "%",
        "join(",
        "format(",
        "${",
        "replace(",
        "[::",
        "chr(",
        "decode",
        "expand",
        "environ",
        "home(",
        "homedir",
        "process.env",
        "concat",
        "reverse",
        "unescape",
        "fromCharCode",
        "argv",
        "read",
        "\\",
    ];
    code.split(['\n', ';'])
        .map(str::trim_start)
        .filter(|line| !["print(", "console.log(", "assert "].iter().any(|front| line.starts_with(front)))
        .any(|line| MARKS.iter().any(|mark| line.contains(mark)) || is_filled(line))
}

/// Whether one of a line's strings has code in it: `f'{a}/b'`.
fn is_filled(line: &str) -> bool {
    line.match_indices(['"', '\'']).any(|(at, _)| {
        let front = line.get(..at).unwrap_or_default();
        let rest = front.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let prefix = front.get(rest.len()..).unwrap_or_default();
        let apart = rest.is_empty() || rest.ends_with(|c: char| c.is_whitespace() || "([{=,:".contains(c));
        prefix.len() <= 2 && prefix.contains(['f', 'F']) && apart
    })
}

/// The command lines of lists with names in them, with each of the strings that those names stand for: `for d in ['/', '/etc']:
/// run(['rm', '-rf', d])`.
pub(super) fn with_values(code: &str) -> Vec<String> {
    /// Most lists, and most values of a name.
    const MOST: usize = 16;
    let mut out = Vec::new();
    for (at, _) in code.match_indices('[').take(MOST) {
        let (front, list) = code.split_at_checked(at).unwrap_or_default();
        let Some(list) = list.get(1..).and_then(|list| list.split(']').next()) else { continue };
        let mut words: Vec<&str> = list.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        // `execFileSync('rm', ['-rf', d])`
        let front = front.trim_end().strip_suffix(',').unwrap_or_default();
        let program = front.rsplit('(').next().map(str::trim).filter(|word| literal(word).is_some());
        words.splice(0..0, program);
        let names = || words.iter().filter(|word| literal(word).is_none());
        let (Some(name), true) = (names().next(), words.len() > 1) else { continue };
        if names().any(|other| other != name)
            || !is_name(name)
            || literal(words.first().unwrap_or(name)).is_none()
        {
            continue;
        }
        for value in values(code, name).into_iter().take(MOST) {
            let said = words.iter().map(|word| literal(word).map_or_else(|| quoted(&value), quoted));
            out.push(said.collect::<Vec<_>>().join(" "));
        }
        if out.len() > MOST {
            break;
        }
    }
    out
}

/// How often a name is looked at where it is given something.
const MAX_VALUES: usize = 64;

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What a plain string says.
fn literal(word: &str) -> Option<&str> {
    let text = ['"', '\''].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))?;
    (!text.contains(['"', '\'', '\\'])).then_some(text)
}

/// The strings that a name is given as they stand, alone or one after the other by a loop.
fn values(code: &str, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut left = MAX_VALUES;
    for (at, _) in code.match_indices(name) {
        let front = code.get(..at).unwrap_or_default();
        let behind = code.get(at + name.len()..).unwrap_or_default().trim_start();
        if front.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
            continue;
        }
        let given = behind.strip_prefix('=').filter(|rest| !rest.starts_with('='));
        let listed = ["in ", "of "].iter().find_map(|word| behind.strip_prefix(word));
        let Some(rest) = given.or(listed).map(str::trim_start) else { continue };
        if left == 0 {
            break;
        }
        left -= 1;
        let end = match rest.chars().next() {
            Some('[') => rest.find(']'),
            Some('(') => rest.find(')'),
            _ => rest.find(['\n', ';']),
        };
        let value = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        match literal(value.trim_end()) {
            Some(text) => out.push(text.to_owned()),
            None if value.starts_with(['[', '(']) => out.extend(scripts::strings(value)),
            None => {}
        }
    }
    out
}

/// The text as one word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    single_quoted(word)
}

/// Whether backticks of a program's code run what stands between them: not in every language, and not within a string.
pub(super) fn runs_backticks(program: &str, code: &str) -> bool {
    const LANGUAGES: &[&str] = &["perl", "ruby", "php", "raku", "irb", "awk", "gawk", "sh", "bash"];
    const OTHERS: &[&str] = &["python", "node", "nodejs", "deno", "bun", "lua", "pypy", "ed"];
    // ``Bun.$`id` ``, and of `zx` and `execa`.
    if code.contains("$`") && ["Bun", "bun", "zx", "execa"].iter().any(|name| code.contains(name)) {
        return true;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if OTHERS.contains(&name) {
        return false;
    }
    if !LANGUAGES.contains(&name) {
        return true;
    }
    if name == "perl" && is_substitution(code) {
        return false;
    }
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in code.char_indices() {
        match quote {
            _ if escaped => escaped = false,
            _ if c == '\\' => escaped = true,
            // `"#{`id`}"`
            Some('"') if c == '`' && code.get(..at).is_some_and(|front| front.contains("#{")) => return true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '`' => return true,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {}
        }
    }
    false
}

/// One `s/…/…/` that is not told to run its replacement, and nothing else.
fn is_substitution(code: &str) -> bool {
    let Some(rest) = code.trim().strip_prefix("s/") else { return false };
    let rest = rest.replace("\\/", "");
    let mut parts = rest.split('/');
    let flags = parts.nth(2);
    parts.next().is_none()
        && flags.is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_lowercase() && b != b'e'))
}

/// Whether code names the shell otherwise than to take a text apart as a shell would.
pub(super) fn names_shell(code: &str) -> bool {
    const PARSERS: &[&str] = &["-quote", "words", "escape", "split", "join", "-escape", "-words"];
    let lower = code.to_ascii_lowercase();
    { lower.match_indices("shell") }.any(|(at, word)| {
        let behind = lower.get(at + word.len()..).unwrap_or_default();
        let quote = |c: char| matches!(c, '"' | '\'');
        // `escapeshellarg($x)` of PHP
        let escapes = lower.get(..at).is_some_and(|front| front.ends_with("escape"))
            && ["arg(", "cmd("].iter().any(|end| behind.starts_with(end));
        // `require('./lib/shell')`
        let module = lower.get(..at).and_then(|front| front.rsplit(quote).next()).unwrap_or_default();
        let own = module.starts_with("./") && !module.contains(' ') && behind.starts_with(quote);
        !own && !escapes && !PARSERS.iter().any(|parser| behind.starts_with(parser))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_command() {
        let of = |code| {
            let lines = commands(code)?;
            Some(lines.into_iter().map(|line| line.text).collect::<Vec<_>>())
        };
        assert_eq!(
            of("import subprocess; subprocess.run(['git', 'restore', 'a b'], check=True)"),
            Some(vec!["git restore 'a b'".to_owned()])
        );
        assert_eq!(of("import subprocess; subprocess.run(['sh', '-c', x])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['r' 'm', '-rf', '/'])"), None);
        assert_eq!(of("import subprocess, os; os.system('x'); subprocess.run(['ls'])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['ls'], shell=True)"), None);
        assert_eq!(of("import subprocess; subprocess.run('ls')"), None);
        assert_eq!(of("print(1)"), None);
        assert_eq!(
            of("import subprocess\nfor c in ['rm -rf /', 'ls']:\n  subprocess.run(['./guard', 'check', c])"),
            Some(vec!["./guard check \"$c\"".to_owned()])
        );
        let own = |text: &str| Some(vec![text.to_owned()]);
        assert_eq!(
            of(
                "import json, subprocess\ne = {'c': 'rm -rf /'}\nsubprocess.run(['node', 'a/pre.js'], input=json.dumps(e))"
            ),
            own("node a/pre.js")
        );
        assert_eq!(
            of(
                "const {spawnSync} = require('child_process');\nfor (const c of ['rm -rf /']) spawnSync('./guard', ['check', c])"
            ),
            own("./guard check \"$c\"")
        );
        assert_eq!(
            of(
                "import sys, subprocess\ndef run(c):\n  return subprocess.run([sys.executable, 'a.py', c])\nrun('reboot')"
            ),
            own("python3 a.py \"$c\"")
        );
        assert_eq!(
            of("import subprocess; subprocess.run(['sh'], input='x')"),
            Some(["sh", "printf '%s' sh | sh", "printf '%s' x | sh"].map(str::to_owned).to_vec())
        );
        assert_eq!(of("import subprocess; subprocess.run(['sh'], input='x' + y)"), None);
        assert_eq!(of("import subprocess; subprocess.run(['sh', '-c', 'x' + y], input=c)"), None);
        assert_eq!(of("import subprocess; subprocess.run(['./x', 'y'], executable='/bin/sh')"), None);
        assert_eq!(
            of("const cp = require('child_process'); cp['ex' + 'ec']('x'); cp.spawnSync('ls', [])"),
            None
        );
        assert_eq!(
            of("const {execSync: go, spawnSync} = require('child_process'); go('x'); spawnSync('ls', [])"),
            None
        );
        assert_eq!(of("import subprocess; subprocess.run(['rm', '-rf', d])"), None);
        assert_eq!(
            of("import subprocess\nfor c in ['reboot', 'ls']:\n  subprocess.run(['guard', 'check', c])"),
            own("guard check \"$c\"")
        );
        assert_eq!(of("import subprocess; subprocess.run(['tmux', 'new', c])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['./x', f'{a}'])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['bash', f, c])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['./x y'], **{'shell': True})"), None);
    }

    #[test]
    fn names_in_a_list_stand_for_strings() {
        assert_eq!(
            with_values("for d in ['/', '/etc']:\n    subprocess.run(['rm', '-rf', d])"),
            ["rm -rf /", "rm -rf /etc"]
        );
        assert_eq!(with_values("d = '/etc'; run(['rm', '-rf', d])"), ["rm -rf /etc"]);
        assert_eq!(
            with_values("for (const d of ['/a b']) execFileSync('rm', ['-rf', d])"),
            ["rm -rf '/a b'"]
        );
        assert!(with_values("d = '/'.join(parts)\nrun(['rm', '-rf', d])").is_empty());
        assert!(with_values("run(['rm', '-rf', d]); a.d = '/'; e = [d, '/']").is_empty());
    }

    #[test]
    fn backticks_run_in_some_languages_and_outside_of_strings() {
        assert!(runs_backticks("ruby", "puts `id`") && runs_backticks("perl5.36", "print `id`"));
        assert!(runs_backticks("ruby", "puts \"#{`id`}\""));
        assert!(!runs_backticks("perl", "s/a/`b`/g") && runs_backticks("perl", "s/a/`b`/e"));
        assert!(runs_backticks("perl", "s/a/b/, `id`"));
        assert!(names_shell("run(x, shell=True)") && !names_shell("require('shell-quote')"));
        assert!(names_shell("$SHELL './x'") && !names_shell("require('./lib/shell')"));
        assert!(!runs_backticks("ruby", "puts '`id`'") && !runs_backticks("python3", "s = \"`id`\""));
        assert!(runs_backticks("bun", "await Bun.$`id`") && !runs_backticks("bun", "Bun.write('a', `b`)"));
    }
}
