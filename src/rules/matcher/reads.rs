//! Code that reads and prints, and can do nothing else: each call in it is one of a short list, and nothing is named that changes
//! a file or runs another program.

use super::{Sought, code_flag};
use crate::rules::{Invocation, Stdin};

/// Interpreters whose code is read here.
const LANGUAGES: &[&str] = &["python", "node", "bun", "deno"];

/// Calls that change nothing, by their last name.
const CALLS: &[&str] = &[
    "open",
    "print",
    "len",
    "str",
    "int",
    "float",
    "bool",
    "sorted",
    "reversed",
    "list",
    "dict",
    "set",
    "tuple",
    "range",
    "enumerate",
    "zip",
    "any",
    "all",
    "min",
    "max",
    "sum",
    "isinstance",
    "type",
    "repr",
    "round",
    "load",
    "loads",
    "dumps",
    "get",
    "items",
    "keys",
    "values",
    "join",
    "split",
    "splitlines",
    "strip",
    "lstrip",
    "rstrip",
    "format",
    "startswith",
    "endswith",
    "read",
    "readlines",
    "read_text",
    "lower",
    "upper",
    "replace",
    "append",
    "count",
    "index",
    "find",
    "exists",
    "isfile",
    "isdir",
    "expanduser",
    "abspath",
    "basename",
    "dirname",
    "Path",
    "home",
    "exit",
    "if",
    "in",
    "and",
    "or",
    "not",
    "for",
    "return",
    "parse",
    "stringify",
    "readFileSync",
    "require",
    "log",
    "error",
    "entries",
    "map",
    "filter",
    "forEach",
    "some",
    "every",
    "slice",
    "toString",
    "includes",
    "homedir",
    "catch",
    "existsSync",
    "Counter",
    "most_common",
    "except",
    "lambda",
    "else",
    "while",
    "elif",
    "print_exc",
    "function",
    "push",
    "match",
    "test",
    "trim",
    "padEnd",
    "padStart",
    "ljust",
    "rjust",
];

/// Names with which a file is changed or another program is run, and with which a name is put together or given another meaning.
const CHANGES: &[&str] = &[
    "write",
    "remove",
    "unlink",
    "rename",
    "rmtree",
    "system",
    "popen",
    "exec",
    "eval",
    "spawn",
    "process.",
    "shutil",
    "__",
    "getattr",
    "setattr",
    "globals",
    "locals",
    "compile",
    "truncate",
    "chmod",
    "chown",
    "link",
    "copy",
    "move",
    "save",
    "mkdir",
    "touch",
    "fork",
    "Function",
    "import(",
    "importlib",
    "ctypes",
    "socket",
    "http",
    "fetch",
    "urllib",
    "child",
    "append(",
    "rm(",
    "rmSync",
    "vm",
    "`",
    "= open",
    "=open",
    "print =",
    "print=",
];

/// Modules that may be named.
const MODULES: &[&str] =
    &["json", "sys", "os", "pathlib", "re", "collections", "fs", "path", "node:fs", "node:path", "node:os"];

/// Whether all that an interpreter is given to run only reads.
pub(super) fn only_reads(inv: &Invocation, texts: &[Sought]) -> bool {
    let known = LANGUAGES.iter().any(|language| inv.program.starts_with(language));
    // All of it stands on the line: no script, and nothing piped in to be run.
    let given = code_flag(inv).is_some()
        || matches!(inv.stdin, Stdin::Text(_)) && inv.operands.iter().all(|arg| arg.known() == Some("-"));
    let codes: Vec<&str> = texts.iter().map(|text| &**text).filter(|text| text.contains('(')).collect();
    let options = inv.args.iter().filter_map(crate::shell::Arg::known).filter(|arg| arg.starts_with('-'));
    known
        && given
        && !codes.is_empty()
        && { options }.all(|option| matches!(option, "-c" | "-e" | "-" | "-p" | "-u" | "-S"))
        && !inv.args.iter().any(crate::shell::Arg::has_unknown)
        && codes.iter().all(|code| reads(code))
}

fn reads(code: &str) -> bool {
    const FEW: usize = 4096;
    code.len() <= FEW
        && !CHANGES.iter().any(|word| code.replace(".append(", " ").contains(word))
        && calls(code).all(|call| CALLS.contains(&call))
        && opens_to_read(code)
        && imports(code).all(|module| MODULES.contains(&module))
}

/// The last name of each thing that is called. What is called without a name (`f()()`, `x[0]()`) counts as one that is on no list.
fn calls(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let name = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let bare = before.trim_end().ends_with([')', ']', '}']);
        (!name.is_empty() || bare).then_some(name)
    })
}

/// Whether each `open(…)` has a path alone, or says beside it how its text is written.
fn opens_to_read(code: &str) -> bool {
    code.split("open(").skip(1).all(|behind| {
        let mut depth = 0_i32;
        let end = behind.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0
        });
        let inside = behind.get(..end.unwrap_or(behind.len())).unwrap_or_default();
        let (_, options) = inside.split_once(',').unwrap_or((inside, ""));
        let options = options.trim();
        options.is_empty()
            || options.starts_with("encoding") && !options.contains("mode")
            || matches!(options, "'r'" | "\"r\"" | "'rb'" | "\"rb\"")
    })
}

/// The modules that code names: `import json, sys`, `from pathlib import Path`, `require('fs')`.
fn imports(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.split(['\n', ';']).map(str::trim);
    let python = lines.flat_map(|line| {
        let named = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "));
        let named = named.map(|rest| rest.split(" import ").next().unwrap_or(rest)).unwrap_or_default();
        named
            .split(',')
            .map(|name| name.split_whitespace().next().unwrap_or_default())
            .filter(|name| !name.is_empty())
    });
    let required = code.split("require(").skip(1).map(|behind| {
        behind.trim_start_matches(['\'', '"', '\\']).split(['\'', '"', '\\', ')']).next().unwrap_or_default()
    });
    python.chain(required)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_is_told_from_code_that_may_do_more() {
        for code in [
            "import json; d=json.load(open('.claude/settings.json')); print(d.get('hooks'))",
            "import json,sys; d=json.load(sys.stdin); print(json.dumps({k:v for k,v in d.items()}, indent=2))",
            "JSON.parse(require('fs').readFileSync('.claude/settings.json','utf8')); console.log('ok')",
            "import json\nwith open('a.json', encoding='utf-8') as f:\n    print(len(json.load(f)))",
        ] {
            assert!(reads(code), "{code}");
        }
        for code in [
            "open('.claude/settings.json','w').write('{}')",
            "import os; os.remove('.claude/settings.json')",
            "import os; list(map(os.unlink, ['x']))",
            "f = open; f('a', 'w')",
            "require('fs').writeFileSync('a','b')",
            "require('child_process').execSync('id')",
            "import subprocess; print(1)",
            "import json as j, shutil; print(1)",
            "(lambda: 0)()()",
            "x[0]('a')",
            "open(file='a', mode='w')",
            "open('a', encoding='u8', mode='w')",
            "import pathlib; pathlib.Path('a').write_text('x')",
            "print(open('a', 'r+'))",
        ] {
            assert!(!reads(code), "{code}");
        }
    }
}
