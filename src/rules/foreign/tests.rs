//! What code does, as it is read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::starts::text_of;
use super::*;

fn shown(operation: &Operation) -> String {
    match operation {
        Operation::Runs(line) => format!("run {line}"),
        Operation::Writes(path) => format!("write {}", text_of(path)),
        Operation::Deletes { path, tree } => {
            format!("{} {}", if *tree { "tree" } else { "delete" }, text_of(path))
        }
        Operation::Moves { from, to } => format!("move {} {}", text_of(from), text_of(to)),
        Operation::Copies { from, to } => format!("copy {} {}", text_of(from), text_of(to)),
        Operation::Calls { name, given } => {
            let given: Vec<String> = given.iter().map(text_of).collect();
            format!("call {name} {}", given.join(" "))
        }
    }
}

fn of(code: &str, language: Language) -> Vec<String> {
    let account = account(code, language).unwrap_or_else(|| panic!("not read: {code}"));
    assert!(!account.open, "open: {code}: {:?}", account.operations);
    account.operations.iter().map(shown).collect()
}

fn is_open(code: &str, language: Language) -> bool {
    account(code, language).is_none_or(|account| account.open)
}

#[test]
fn python_runs_programs() {
    for (code, expected) in [
        ("import os; os.system('ls')", &["run ls"][..]),
        ("from os import system as s\ns('rm -rf ' + '/')", &["run rm -rf /"]),
        ("import subprocess as sp\nsp.run(['git', 'log', '-1'], cwd='sub')", &["run cd sub && git log -1"]),
        (
            "import subprocess\nfor d in ['/', '/etc']:\n    subprocess.run(['rm', '-rf', d])",
            &["run rm -rf /", "run rm -rf /etc"],
        ),
        ("import subprocess\nc = 'ls'\nsubprocess.check_output(f'{c} -la', shell=True)", &["run ls -la"]),
        (
            "import subprocess\ndef sh(c):\n    return subprocess.run(c, shell=True)\nsh('git status')\nprint('rm -rf /')",
            &["run git status"],
        ),
        (
            "import subprocess\ndef sh(c, check=True):\n    return subprocess.run(c, shell=True, check=check)\nsh(c='id')\nsh('ls', check=False)",
            &["run id", "run ls"],
        ),
        (
            "import sys, subprocess\nsubprocess.run([sys.executable, 'a.py', sys.argv[1]])",
            &["run python3 a.py \"$x\""],
        ),
        (
            "import subprocess\ncmd = ['rg', 'x']\ncmd += ['-l']\nsubprocess.run(cmd)",
            &["run rg x -l \"$more\""],
        ),
        (
            "import subprocess\nsubprocess.run(['sh'], input='rm -rf /', text=True)",
            &["run printf '%s' 'rm -rf /' | sh"],
        ),
        ("import subprocess\nsubprocess.run('rm -rf x'.split())", &["run rm -rf x"]),
        ("s = 'import os; os.system(\"id\")'\nexec(s)", &["run id"]),
        ("import os\nos.system('/ fr- mr'[::-1])", &["run rm -rf /"]),
        (
            "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('git', 'fetch')\nasyncio.run(main())",
            &["run git fetch", "call asyncio.run $x"],
        ),
        ("t = open('a.md').read()\nt = t.replace('Run `sudo rm -rf /`', 'x')\nprint(t)", &[]),
    ] {
        assert_eq!(of(code, Language::Python), expected, "{code}");
    }
}

#[test]
fn javascript_runs_programs() {
    for (code, expected) in [
        ("require('child_process').execSync('git status')", &["run git status"][..]),
        ("const {execSync: go} = require('child_process'); go('id')", &["run id"]),
        (
            "import { spawnSync } from 'node:child_process'\nspawnSync('rm', ['-rf', '/'], { stdio: 'inherit' })",
            &["run rm -rf /"],
        ),
        ("const cp = require('child_process')\ncp.spawn('ls -la', { shell: true })", &["run ls -la"]),
        ("for (const c of ['id', 'ls']) require('child_process').execFileSync(c)", &["run id", "run ls"]),
        (
            "const run = (c) => require('child_process').execSync(c)\nrun('git log')\nconsole.log('rm -rf /')",
            &["run git log"],
        ),
        ("require('child_process')['ex' + 'ecSync']('id')", &["run id"]),
        ("await Bun.$`git status`", &["run git status"]),
        ("const s = `a ${1} b`; console.log(s.match(/rm -rf/))", &[]),
        ("['a', 'b'].forEach(f => require('fs').unlinkSync(f))", &["delete a", "delete b"]),
        (
            "const fs = require('fs'), path = require('path')\nfs.rmSync(path.join('a', 'b'), { recursive: true })",
            &["tree a/b"],
        ),
        ("const re = /x/g; re.exec('rm -rf /')", &[]),
    ] {
        assert_eq!(of(code, Language::JavaScript), expected, "{code}");
    }
}

#[test]
fn files_are_written_and_deleted() {
    for (code, expected) in [
        ("open('/etc/' + 'passwd', 'w').write('')", &["write /etc/passwd"][..]),
        (
            "import json\nwith open('a.json') as f:\n    d = json.load(f)\nwith open('b.json', mode='a') as f:\n    json.dump(d, f)",
            &["write b.json"],
        ),
        (
            "from pathlib import Path\np = Path('a') / 'b'\np.write_text('x')\np.unlink()",
            &["write a/b", "delete a/b"],
        ),
        ("import os, shutil\nshutil.rmtree(os.path.expanduser('~/x'))", &["tree ~/x"]),
        ("from pathlib import Path\n(Path.home() / '.x').rename('y')", &["move ~/.x y"]),
        (
            "import os\nfor r, _, fs in os.walk('.'):\n    for f in fs:\n        os.remove(os.path.join(r, f))",
            &["delete $x/$x"],
        ),
        ("from pathlib import Path\nfor p in Path('a').glob('*.log'):\n    p.unlink()", &["delete a/*.log"]),
    ] {
        assert_eq!(of(code, Language::Python), expected, "{code}");
    }
}

#[test]
fn what_may_do_more_is_open() {
    for code in [
        "getattr(__import__('os'), 'sys' + 'tem')('id')",
        "import os\nlist(map(os.system, ['id']))",
        "import os\nf = vars(os)['system']; f('id')",
        "import os\nos.__dict__['system']('id')",
        "import sys\ngetattr(__import__('os'), sys.argv[1])('id')",
        "exec(open('a').read())",
        "from os import *\nsystem('id')",
        "import importlib, sys\nimportlib.import_module(sys.argv[1]).run()",
        "import subprocess, sys\nsubprocess.run(sys.argv[1:])",
        "import subprocess, sys\nsubprocess.run(sys.argv[1], shell=True)",
        "import ctypes\nctypes.CDLL(None).system(b'id')",
        "\u{ff4f}s.system('id')",
        "import os\nhand(os)",
        "().__class__.__base__.__subclasses__()",
        "import pickle\npickle.loads(x)",
        "match ['id']:\n    case [x]:\n        __import__('os').system(x)",
        "'unclosed",
    ] {
        assert!(is_open(code, Language::Python), "{code}");
    }
    for code in [
        "eval(process.argv[1])",
        "[].constructor.constructor('x')()",
        "['id'].forEach(require('child_process').execSync)",
        "const x = require(process.argv[2])",
        "globalThis[name]('x')",
        "process.binding('spawn_sync')",
        "new Function('x')()",
        "require('vm').runInThisContext('x')",
        "\\u0065val('x')",
    ] {
        assert!(is_open(code, Language::JavaScript), "{code}");
    }
}
