//! Files of code beside it that code in another language loads by their names.

use super::Invocation;
use crate::domain::join;
use crate::shell::Arg;

/// Most files of one text.
const MAX: usize = 8;
words!("modules");

/// Where the files would be that an interpreter's code loads beside it. `codes`: what of it does not stand in the arguments.
pub(in crate::rules) fn loaded_by(inv: &Invocation, codes: &[&str]) -> Vec<String> {
    let Some(cwd) = inv.cwd.as_deref() else { return Vec::new() };
    let module = inv.flags.iter().find(|flag| flag.name == "-m").and_then(|flag| flag.value.as_ref());
    let module = module.filter(|_| is_python(&inv.program)).map(Arg::to_text);
    let mut files: Vec<String> = module.iter().flat_map(|module| of_python(module)).collect();
    files.extend(inv.args.iter().map(Arg::to_text).flat_map(|code| local(&inv.program, &code)));
    files.extend(codes.iter().flat_map(|code| local(&inv.program, code)));
    files.iter().map(|file| join(cwd, file)).collect()
}

/// Where the files of the module would be that Python is told to run.
pub(in crate::rules) fn module_of(inv: &Invocation) -> Vec<String> {
    let Some(cwd) = inv.cwd.as_deref().filter(|_| is_python(&inv.program)) else { return Vec::new() };
    let module = inv.flags.iter().find(|flag| flag.name == "-m").and_then(|flag| flag.value.as_ref());
    let files = module.map(|module| of_python(&module.text())).unwrap_or_default();
    files.iter().map(|file| join(cwd, file)).collect()
}

/// Where the files would be that a text loads, from the directory that it looks in.
fn local(program: &str, code: &str) -> Vec<String> {
    let mut found = if is_python(program) { imported(code) } else { required(code) };
    found.truncate(MAX * ENDINGS.len());
    found
}

/// The file of a module that Python is told to run (`-m`).
fn of_python(module: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if module.is_empty() || module.starts_with('.') || !module.chars().all(plain) {
        return Vec::new();
    }
    let path = module.replace('.', "/");
    [".py", "/__init__.py", "/__main__.py"].map(|end| format!("{path}{end}")).to_vec()
}

fn is_python(program: &str) -> bool {
    ["python", "pypy", "ipython"].iter().any(|name| program.starts_with(name))
}

/// `import a, b.c as d`, `from a import b`, at the beginning of a statement.
fn imported(code: &str) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for statement in code.split([';', '\n', ':']).map(str::trim_start) {
        if let Some(list) = statement.strip_prefix("import ") {
            names.extend(list.split(',').filter_map(|name| name.split_whitespace().next()));
        } else if let Some(rest) = statement.strip_prefix("from ") {
            names.extend(rest.split_whitespace().next());
        }
        if names.len() >= MAX {
            break;
        }
    }
    names.into_iter().take(MAX).flat_map(|name| of_python(name.trim_start_matches('.'))).collect()
}

/// `require('./a')`, `import x from "./a.mjs"`, `require_relative 'a'`.
fn required(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['\'', '"'] {
        let mut parts = code.split(quote);
        let mut before = parts.next().unwrap_or_default();
        while let (Some(text), Some(after)) = (parts.next(), parts.next()) {
            let word =
                before.trim_end_matches(['(', ' ']).rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
            let near = text.starts_with("./") || text.starts_with("../") || word == Some("require_relative");
            if near && word.is_some_and(|word| LOADERS.contains(&word)) && found.len() < MAX * ENDINGS.len() {
                found.extend(ENDINGS.iter().map(|end| format!("{text}{end}")));
            }
            before = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_the_names_that_code_gives_them() {
        let first = |program, code| local(program, code).into_iter().next();
        assert_eq!(first("python3", "import util").as_deref(), Some("util.py"));
        assert_eq!(first("python3.12", "x = 1; from a.b import c").as_deref(), Some("a/b.py"));
        assert_eq!(local("python", "import a, b as c").len(), 6);
        assert_eq!(first("python", "print('import x')"), None);
        assert!(local("node", "const x = require('./a')").contains(&"./a.js".to_owned()));
        assert!(local("node", "import x from \"../b.mjs\"").contains(&"../b.mjs".to_owned()));
        assert!(local("ruby", "require_relative 'c'").contains(&"c.rb".to_owned()));
        assert_eq!(first("node", "require('fs').readFileSync('./a')"), None);
        assert_eq!(of_python("../x"), Vec::<String>::new());
    }
}
