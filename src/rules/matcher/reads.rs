//! Code that is given to an interpreter whole, and what it does as far as every call in it is read.

use super::{Scene, flag_value};
use crate::rules::foreign::{Account, Language, Operation};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// The code that stands on the line, or in a here-document; none where something else may be run beside it.
pub(super) fn given(inv: &Invocation) -> Option<&str> {
    let options: &[&str] = match Language::of(&inv.program)? {
        Language::Python => &["-c"],
        Language::JavaScript => &["-e", "--eval", "-p", "--print"],
    };
    let plain =
        |arg: &str| options.contains(&arg) || matches!(arg, "-" | "-u" | "-S" | "--input-type=module");
    let code = match (flag_value(inv, options), &inv.stdin) {
        (Some(code), _) => code.known()?,
        (None, Stdin::Text(text)) if inv.operands.iter().all(|arg| arg.known() == Some("-")) => {
            text.known()?
        }
        (None, Stdin::Text(_) | Stdin::Inherited | Stdin::Pipe | Stdin::File(_)) => return None,
    };
    let mut others = inv.args.iter().filter_map(Arg::known).filter(|arg| arg.starts_with('-'));
    others.all(|arg| arg == code || plain(arg)).then_some(code)
}

/// Whether all that an interpreter is given to run stands on the line (or in a here-document) and only reads.
pub(crate) fn code_only_reads(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let account = given(inv).and_then(|code| scene.account(&inv.program, code));
    account.is_some_and(|account| account.only_reads())
}

/// The texts that what code does falls on, all in one; none where it may do more, or where one of them is not known.
pub(super) fn touched(account: &Account) -> Option<String> {
    let mut out = String::new();
    let mut add = |text: Option<&str>| {
        out.push_str(text?);
        out.push('\n');
        Some(())
    };
    if account.open {
        return None;
    }
    for operation in &account.operations {
        match operation {
            Operation::Runs(line) => add(Some(line).filter(|line| !line.contains('$')).map(String::as_str))?,
            Operation::Writes(path) | Operation::Deletes { path, .. } => add(path.known())?,
            Operation::Moves { from, to } | Operation::Copies { from, to } => {
                add(from.known())?;
                add(to.known())?;
            }
            Operation::Calls { given, .. } => {
                for text in given {
                    add(text.known())?;
                }
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::foreign::account;

    fn reads(code: &str, language: Language) -> bool {
        account(code, language).is_some_and(|account| account.only_reads())
    }

    #[test]
    fn code_that_reads_is_told_from_code_that_may_do_more() {
        for code in [
            "import json; d=json.load(open('.claude/settings.json')); print(d.get('hooks'))",
            "import json,sys; d=json.load(sys.stdin); print(json.dumps({k:v for k,v in d.items()}, indent=2))",
            "import json\nwith open('a.json', encoding='utf-8') as f:\n    print(len(json.load(f)))",
            "import os; print(os.path.exists(os.path.expanduser('~/.claude/settings.json')))",
            "from pathlib import Path; print(Path('.claude/settings.json').read_text())",
        ] {
            assert!(reads(code, Language::Python), "{code}");
        }
        for code in [
            "JSON.parse(require('fs').readFileSync('.claude/settings.json','utf8')); console.log('ok')",
            "const fs=require('fs'); console.log(JSON.parse(fs.readFileSync(process.argv[1],'utf8')).length)",
        ] {
            assert!(reads(code, Language::JavaScript), "{code}");
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
            "import os; x = os; x.remove('a')",
            "print(os.mkfifo)",
            "print (f ('a'))",
            "# coding: rot13\nprint(1)",
        ] {
            assert!(!reads(code, Language::Python), "{code}");
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
            assert!(!reads(code, Language::JavaScript), "{code}");
        }
    }
}
