//! Code that reads and prints, and can do nothing else: each call in it is one of a short list, of a module nothing is named but what
//! reads, and no name stands for another. What is not understood counts as more than reading.

use super::command::without_version;
use super::flag_value;
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

const PYTHON: &[&str] = &["python", "pypy"];
const JAVASCRIPT: &[&str] = &["node", "nodejs", "bun"];

/// Longest code that is looked at, in bytes.
const MAX_CODE: usize = 4096;

/// Calls that change nothing, by their last name, and words of the language that stand in front of a parenthesis.
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

/// Pieces of names with which a file is changed, another program is run, or a name is put together or given another meaning.
const CHANGES: &[&str] = &[
    "write",
    "remove",
    "unlink",
    "rename",
    "replace",
    "rmtree",
    "rmdir",
    "system",
    "popen",
    "exec",
    "eval",
    "spawn",
    "shutil",
    "__",
    "attr",
    "globals",
    "locals",
    "vars",
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
    "constructor",
    "Reflect",
    "import(",
    "importlib",
    "ctypes",
    "socket",
    "http",
    "fetch",
    "urllib",
    "child",
    "rmSync",
    "cpSync",
    "Bun",
    "global",
    "`",
    "@",
    ".open",
];

/// Modules that may be named, and of each the members.
const MODULES: &[&str] = &["json", "sys", "os", "pathlib", "re", "collections", "fs", "path", "process"];
const MEMBERS: &[&str] = &[
    "path",
    "argv",
    "stdin",
    "exit",
    "load",
    "loads",
    "dumps",
    "exists",
    "isfile",
    "isdir",
    "expanduser",
    "abspath",
    "basename",
    "dirname",
    "join",
    "Path",
    "Counter",
    "match",
    "readFileSync",
    "existsSync",
    "homedir",
];

/// Whether all that an interpreter is given to run stands on the line (or in a here-document) and only reads.
pub(crate) fn code_only_reads(inv: &Invocation) -> bool {
    let name = without_version(&inv.program);
    let python = PYTHON.contains(&name);
    if !python && !JAVASCRIPT.contains(&name) {
        return false;
    }
    let options: &[&str] = if python { &["-c"] } else { &["-e", "--eval", "-p", "--print"] };
    let plain = |arg: &&str| options.contains(arg) || matches!(*arg, "-" | "-u" | "-S");
    let others = inv.args.iter().filter_map(Arg::known).filter(|arg| arg.starts_with('-'));
    let code = match (flag_value(inv, options), &inv.stdin) {
        (Some(code), _) => code.known(),
        (None, Stdin::Text(text)) if inv.operands.iter().all(|arg| arg.known() == Some("-")) => text.known(),
        (None, Stdin::Text(_) | Stdin::Inherited | Stdin::Pipe | Stdin::File(_)) => None,
    };
    code.is_some_and(|code| {
        { others }.filter(|arg| *arg != code).all(|arg| plain(&arg)) && reads(code, python)
    })
}

fn reads(code: &str, python: bool) -> bool {
    code.len() <= MAX_CODE
        && code.is_ascii()
        && !CHANGES.iter().any(|piece| code.contains(piece))
        // `# coding: rot13`: the text is read otherwise than it stands here.
        && !code.lines().any(|line| line.trim_start().starts_with('#') && line.contains("coding"))
        && calls(code).all(|call| CALLS.contains(&call))
        && words(code).filter(|word| word.text == "open").all(|word| opens_to_read(word.behind))
        && code.split(['\n', ';']).map(str::trim).all(|statement| names_modules_to_read(statement, python))
}

/// The last name of each thing that is called; none for what is called without one (`f()()`, `x[0]()`, `f?.()`).
fn calls(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code.get(..at).unwrap_or_default().trim_end();
        let name = before.rsplit(|c: char| !is_of_a_name(c)).next().unwrap_or_default();
        (!name.is_empty() || before.ends_with([')', ']', '}', '.', '?', '"', '\''])).then_some(name)
    })
}

/// A whole word of code, and what stands before and behind it.
struct Word<'c> {
    before: &'c str,
    text: &'c str,
    behind: &'c str,
}

fn words(code: &str) -> impl Iterator<Item = Word<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + code.get(from..)?.find(is_of_a_name)?;
        let rest = code.get(start..)?;
        let length = rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len());
        from = start + length;
        Some(Word { before: code.get(..start)?, text: rest.get(..length)?, behind: rest.get(length..)? })
    })
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether `open` is called, with a path alone or with what says beside it how its text is written.
fn opens_to_read(behind: &str) -> bool {
    let Some(behind) = behind.strip_prefix('(') else { return false };
    let mut depth = 0_i32;
    let end = behind.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    let Some(inside) = end.and_then(|end| behind.get(..end)) else { return false };
    let (path, options) = inside.split_once(',').unwrap_or((inside, ""));
    let whole = |quote: char| inside.matches(quote).count() % 2 == 0;
    let encoded = |options: &str| {
        let value = options.strip_prefix("encoding=").unwrap_or_default();
        let value = value.trim_matches(['\'', '"']);
        !value.is_empty() && value.chars().all(|c| is_of_a_name(c) || c == '-')
    };
    let options = options.trim();
    !path.contains('*')
        && whole('\'')
        && whole('"')
        && (options.is_empty() || matches!(options, "'r'" | "\"r\"" | "'rb'" | "\"rb\"") || encoded(options))
}

/// Whether a statement names of modules only what reads, and gives none another name.
fn names_modules_to_read(statement: &str, python: bool) -> bool {
    let listed = |names: &str, list: &[&str]| names.split(',').all(|name| list.contains(&name.trim()));
    if let Some(names) = statement.strip_prefix("import ") {
        return python && listed(names, MODULES);
    }
    if let Some((module, names)) =
        statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
    {
        return python && MODULES.contains(&module.trim()) && listed(names, MEMBERS);
    }
    let statement = match required(statement) {
        Some((name, module)) if name == module => return true,
        _ => statement,
    };
    words(statement).all(|word| {
        // `.json`, `'path'`, `a/re`: text, or a member of something else.
        let alone = !word.before.ends_with(['.', '/', '-', '\'', '"']);
        let member = |behind: &str| {
            behind.strip_prefix('.').is_some_and(|rest| {
                words(rest).next().is_some_and(|next| next.before.is_empty() && MEMBERS.contains(&next.text))
            })
        };
        match word.text {
            "require" => {
                word.behind.split_once(')').is_some_and(|(module, rest)| is_module(module) && member(rest))
            }
            // `os.path.x`
            "path" if word.before.ends_with("os.") => member(word.behind),
            text if MODULES.contains(&text) && alone => member(word.behind),
            _ => true,
        }
    })
}

/// `const fs = require('fs')`, and nothing else: the name and the module.
fn required(statement: &str) -> Option<(&str, &str)> {
    let rest = ["const ", "let ", "var "].iter().find_map(|word| statement.strip_prefix(word))?;
    let (name, value) = rest.split_once('=')?;
    let module = value.trim().strip_prefix("require")?.strip_suffix(')')?;
    let quoted = module.strip_prefix('(')?.trim_matches(['\'', '"']);
    is_module(module).then(|| (name.trim(), quoted.strip_prefix("node:").unwrap_or(quoted)))
}

/// `('fs'`, the beginning of a call with a module that may be named.
fn is_module(call: &str) -> bool {
    let name = call.strip_prefix('(').unwrap_or_default().trim_matches(['\'', '"']);
    MODULES.contains(&name.strip_prefix("node:").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_is_told_from_code_that_may_do_more() {
        for code in [
            "import json; d=json.load(open('.claude/settings.json')); print(d.get('hooks'))",
            "import json,sys; d=json.load(sys.stdin); print(json.dumps({k:v for k,v in d.items()}, indent=2))",
            "import json\nwith open('a.json', encoding='utf-8') as f:\n    print(len(json.load(f)))",
            "import os; print(os.path.exists(os.path.expanduser('~/.claude/settings.json')))",
            "from pathlib import Path; print(Path('.claude/settings.json').read_text())",
        ] {
            assert!(reads(code, true), "{code}");
        }
        for code in [
            "JSON.parse(require('fs').readFileSync('.claude/settings.json','utf8')); console.log('ok')",
            "const fs=require('fs'); console.log(JSON.parse(fs.readFileSync(process.argv[1],'utf8')).length)",
        ] {
            assert!(reads(code, false), "{code}");
        }
        for code in [
            "open('.claude/settings.json','w').write('{}')",
            "import os; os.remove('.claude/settings.json')",
            "import os; list(map(os.unlink, ['x']))",
            "f = open; f('a', 'w')",
            "import subprocess; print(1)",
            "import json as j, shutil; print(1)",
            "(lambda: 0)()()",
            "x[0]('a')",
            "open(file='a', mode='w')",
            "open('a', encoding='u8', mode='w')",
            "import pathlib; pathlib.Path('a').write_text('x')",
            "print(open('a', 'r+'))",
            "import os; os.replace('a', '.claude/settings.json')",
            "from pathlib import Path; Path('a').open('w')",
            "d = {'file': 'a', 'mode': 'w'}; open(**d)",
            "open('a', encoding='u8', **{'mo' + 'de': 'w'})",
            "open('a)', 'w')",
            "list(map(open, ['a'], ['w']))",
            "import os; list(map(os.rmdir, ['a']))",
            "from os import utime; list(map(utime, ['a']))",
            "import os as o; print(o)",
            "import os; x = os",
            "print(os.mkfifo)",
            "print (f ('a'))",
            "# coding: rot13\nprint(1)",
        ] {
            assert!(!reads(code, true), "{code}");
        }
        for code in [
            "require('fs').writeFileSync('a','b')",
            "require('child_process').execSync('id')",
            "require('fs').cpSync ('a','b')",
            "require('fs').cpSync?.('a','b')",
            "const {appendFileSync} = require('fs'); ['a'].forEach(appendFileSync)",
            "const f = require('fs'); ['a'].forEach(f.appendFileSync)",
            "['a'].forEach(require('fs').appendFileSync)",
            "import fs from './x.js'; console.log(1)",
            "require(process.argv[1])",
            "const fs = require('./fs')",
            "process.kill(1)",
        ] {
            assert!(!reads(code, false), "{code}");
        }
    }
}
