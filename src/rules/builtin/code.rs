//! Code in other languages: what it deletes by itself, and the commands that it starts.

use std::cell::LazyCell;

use super::files::WIDE;
use super::{argv, joined, libraries, lists, plain, predicate, runners, scripts, statements, undone};
use crate::domain::{Action, EffectKind, Severity, Target, Tool, ToolCall, Verdict, join, single_quoted};
use crate::rules::commands;
use crate::rules::matcher::{
    Class, Found, Instead, RULE, Rule, Scene, Trigger, classify, code_of, contains_word, content, flag_value,
    has_flag, inner_verdict, input_of, is_shell, rebuilt_verdict, runs, runs_code, runs_shell, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// Calls that delete a directory with all that is in it.
const DELETES: &[&str] = &[
    "rmtree",
    "rm_rf",
    "rm_r(",
    "rm_r ",
    "remove_dir(",
    "remove_dir ",
    "remove_entry",
    "recursive=true",
    "rmSync",
    "rmdirSync",
    "remove_tree",
    "RemoveAll",
    "fs.rm(",
    "').rm(",
    "\").rm(",
    "')).rm(",
    "\")).rm(",
    "promises.rm(",
    "await rm(",
    "; rm(",
    ";rm(",
    "Deno.remove",
    "rimraf",
    "remove_dir_all",
    "removeSync",
    "remove_entry_secure",
    "delete-directory",
    "deleteDirectory",
    "deleteDir(",
    "removeItem",
    "removeDirectoryRecursive",
    "delete-directory-tree",
    "removeDir(",
    "file:del_dir_r",
];

/// Calls that delete one file or an empty directory.
const DELETES_ONE: &[&str] =
    &["os.remove", "unlink", "File.delete", "os.rmdir", "removedirs", "unlinkSync", "rmdirSync"];

/// Calls that leave a file with nothing in it.
const EMPTIES_ONE: &[&str] =
    &["write_text('')", "write_text(\"\")", "'w').close()", "\"w\").close()", "truncate("];

/// Where a value that cannot be known comes from.
const COMPUTED: &[&str] = &[
    "environ",
    "getenv",
    "process.env",
    "argv",
    "b64decode",
    "atob(",
    "fromhex",
    "unhexlify",
    "fromCharCode",
    "chr(",
    "base64_decode",
    "decode_base64",
    "ENV[",
    "$ENV{",
    "stdin",
    "input()",
    "rot13",
    "[::-1]",
    "reverse(",
];

/// Calls that turn unreadable text into readable one.
const DECODES: &[&str] = &[
    "b64decode",
    "atob(",
    "fromhex",
    "unhexlify",
    "base64_decode",
    "decode_base64",
    "decode64",
    "marshal.loads",
    "rot13",
    "rot_13",
    "decompress(",
    "gzinflate",
    "gzuncompress",
    "'base64')",
    "\"base64\")",
    "pack('H",
    "pack(\"H",
    "fromCharCode",
    "hex2bin",
    "pack('m",
    "pack(\"m",
    "pack1('m",
    "pack1(\"m",
    "unpack u",
    "unpack('u",
    "unpack(\"u",
    "unpack \"u",
    "b85decode",
    "a85decode",
    "b32decode",
    "b16decode",
    "a2b_",
    "codecs.decode(",
    "chr(ord(",
    ".translate({",
    "string.char(",
];

/// Functions that run text as code or as a command.
const RUNS_TEXT: &[&str] = &[
    "exec(",
    "eval(",
    "eval ",
    "Function(",
    "os.system(",
    "system(",
    "os.popen(",
    "popen(",
    "subprocess.",
    "instance_eval",
    "passthru(",
    "shell_exec(",
    "execSync(",
    "child_process",
    "os.execute(",
    "load(",
    "loadstring(",
    "system decode_base64",
    "exec decode_base64",
    "system pack",
    "exec pack",
    "system Base64",
    "exec Base64",
    "`#{",
    "%x(#{",
    "%x{#{",
];

/// Calls that start another program.
pub(super) const STARTS: &[&str] = &[
    "system",
    "exec",
    "popen",
    "spawn",
    "subprocess",
    "child_process",
    "qx",
    "`",
    "Process",
    "shell",
    "Command(",
    "run(",
    "call(",
    "getline",
    "| \"",
    "Sys.command",
    "run-program",
    "passthru",
    "%x",
    "\"|",
    "'|",
    "\"-|\"",
    "'-|'",
    "|\"",
    "|'",
    "Open3",
    "os:cmd",
    "Command::new",
    ".execute(",
];

/// The same as strings that are names: `getattr(os, 'system')`.
const NAMED_STARTS: &[&str] = &[
    "getattr",
    "__import__",
    "importlib",
    "methodcaller",
    "attrgetter",
    "sys.modules",
    "spawn ",
    ":!",
    "exec ",
];

/// Those that are also names of functions of a project's own, as tests call them.
const OWN_NAMES: &[&str] = &["run(", "call("];

/// Most strings of one text of code that are looked at, and the longest.
pub(super) const MAX_LITERALS: usize = 64;
const MAX_LENGTH: usize = 4096;

const POWERSHELL: &[&str] = &["pwsh", "powershell"];

const ARCHIVERS: &[&str] = &["tar", "bsdtar", "gtar", "zip"];

/// Programs with an option that names a command.
const OPTION_RUNNERS: &[&str] = &[
    "git", "tar", "gtar", "bsdtar", "make", "gmake", "bmake", "sort", "apt", "apt-get", "aptitude", "dpkg",
    "scp", "sftp", "rsync", "psql", "cargo", "npm", "pnpm", "yarn", "npx",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "code.deletes",
        severity: Severity::Critical,
        reason: "has an interpreter delete a directory that must not be lost",
        instead: Some(Instead::Advice(
            "delete the one directory inside the project that is meant, by its name",
        )),
        when: &[
            predicate("code_empties_the_project", Trigger::INTERPRETER, code_empties),
            predicate("code_deletes_a_directory", CODE, code_deletes),
        ],
        fires: &[
            "python3 -c \"import shutil,os; shutil.rmtree(os.getcwd())\"",
            "python3 -c \"import os\nfor r,d,f in os.walk('.'):\n  for x in f: os.remove(os.path.join(r,x))\"",
            "perl -e 'unlink glob \"*\"'",
            "ruby -rfileutils -e 'FileUtils.rm_rf(Dir.glob(\"*\"))'",
            "node -e \"require('fs').rmSync(process.cwd(),{recursive:true})\"",
            "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
            "python3 -c 'exec(\"import shutil; shutil.rmtree(\\\"/etc\\\")\")'",
            "node -e \"const {rm}=require('fs/promises'); rm('/home/u',{recursive:true})\"",
            "node -e \"require('fs').rmSync('/home/u', {recursive: true})\"",
            "python3 -c \"import shutil,os; shutil.rmtree(os.path.expanduser('~'))\"",
            "python3 -c \"import shutil; from pathlib import Path; r=Path('/home/u'); shutil.rmtree(r / 'docs')\"",
            "python3 -c \"import shutil,os; r='/home/u/proj'; shutil.rmtree(os.path.join(r, '..'))\"",
            "python3 -c \"import shutil; from pathlib import Path; shutil.rmtree(Path('/home/u/proj') / name)\"",
            "ruby -e 'require \"fileutils\"; FileUtils.rm_rf(\".git\")'",
            "python3 <<'E'\nimport shutil\nshutil.rmtree('/etc')\nE",
            "python -c \"import shutil,os; shutil.rmtree(os.path.join('/', 'etc'))\"",
            "python -c \"import shutil; from pathlib import Path; shutil.rmtree(Path.home())\"",
            "node -e \"fs.rmSync(os.homedir(),{recursive:true})\"",
            "ruby -e 'FileUtils.rm_rf(Dir.home)'",
            "ruby -rfileutils -e 'FileUtils.rm_r \"/\"'",
            "ruby -rfileutils -e 'FileUtils.remove_dir(\"/etc\")'",
            "perl -MFile::Path=remove_tree -e \"remove_tree(q(/etc))\"",
            "deno eval 'Deno.removeSync(Deno.env.get(\"HOME\"),{recursive:true})'",
            "julia -e 'rm(homedir(),recursive=true)'",
            "elixir -e 'File.rm_rf!(System.user_home!)'",
            "perl -e 'unlink glob(\"/etc/*\")'",
            "php -r 'array_map(\"unlink\", glob(\"/home/u/*\"));'",
            "deno eval \"Deno.removeSync('/home/u',{recursive:true})\"",
            "bun -e \"require('fs').rmSync('/home/u',{recursive:true})\"",
            "node -e \"require('fs/promises').rm(process.env.HOME,{recursive:true})\"",
            "python -c \"import os; os.remove('/etc/passwd')\"",
            "printf 'import shutil\\nshutil.rmtree(\"/home/u\")\\n' > a.py; python a.py",
            "perl -MFile::Path=rmtree -e 'rmtree(\"$ENV{HOME}/Desktop\")'",
            "python3 - <<'E'\nimport shutil, os\nshutil.rmtree(os.getcwd())\nE",
            "cat > /tmp/a.js <<'E'\nfor (const f of require('fs').readdirSync('.')) require('fs').rmSync(f, {recursive: true})\nE\nnode /tmp/a.js",
            "python3 <<'E'\nimport os\nfor f in os.listdir('.'):\n    if os.path.isfile(f):\n        open(f, 'w').close()\nE",
            "perl -e 'truncate($_,0) for glob(\"/var/log/*.log\")'",
            "python3 -c \"from pathlib import Path; [p.unlink() for p in Path.home().rglob('*.kdbx')]\"",
            "python3 - <<'E'\nimport os\nfor r, d, f in os.walk(os.path.expanduser('~/Documents')):\n    for x in f:\n        os.remove(os.path.join(r, x))\nE",
            "cat > a.js <<'E'\nrequire('fs').rmSync(require('os').homedir(), {recursive: true})\nE\nnode a.js",
        ],
        silent: &[
            "python3 -c \"import shutil; shutil.rmtree('build')\"",
            "python3 -c \"import shutil; shutil.rmtree('/tmp/x')\"",
            "python3 -c \"import os; os.remove('a.txt')\"",
            "node -e \"console.log('/')\"",
            "cat > a.py <<'E'\nimport shutil\nshutil.rmtree('build')\nE\npython a.py",
            "grep -rn 'rmtree(\"/\")' src",
            "python3 -c \"import shutil; from pathlib import Path; shutil.rmtree(Path('.') / 'dist')\"",
            "python3 - <<'E'\nimport shutil\nfrom pathlib import Path\nROOT = Path('/home/u/proj')\nfor d in ('dist', 'build'):\n    shutil.rmtree(ROOT / d)\nE",
            "node -e \"const r='/home/u/proj'; for (const d of ['dist']) fs.rmSync(path.join(r, d), {recursive:true})\"",
            "ruby -rfileutils -e 'FileUtils.rm_r \"build\"'",
            "julia -e 'rm(\"build\",recursive=true)'",
            "python3 - <<'E'\nimport os\nfor f in os.listdir('.'):\n    if f.startswith('tmp-'):\n        os.remove(f)\nE",
            "cat > gen.py <<'E'\nimport os, pathlib\nfor f in os.listdir('.'):\n    print(f)\nfor p in pathlib.Path('gen').iterdir():\n    p.unlink()\nE\npython3 gen.py",
            "python3 - <<'E'\nfrom pathlib import Path\nfor p in Path('build').rglob('*'):\n    if p.is_file():\n        p.unlink()\nE",
            "python3 - <<'E'\nimport os, tempfile\nos.chdir(tempfile.mkdtemp())\nfor f in os.listdir('.'):\n    os.remove(f)\nE",
            "python3 - <<'E'\nfrom pathlib import Path\nfor p in Path('.').rglob('*.py'):\n    p.write_text(p.read_text().replace('a', 'b'))\nE",
            "python3 -c \"import os; [os.remove(os.path.join(r,x)) for r,d,f in os.walk('/tmp/out') for x in f]\"",
        ],
        ..RULE
    },
    Rule {
        id: "code.deletes-computed",
        verdict: Verdict::Modify,
        reason: "has an interpreter delete a directory whose name is put together when it runs",
        instead: Some(Instead::Advice("delete the one directory that is meant, by its name")),
        when: &[predicate("code_deletes_what_it_computes", Trigger::INTERPRETER, code_deletes_computed)],
        fires: &[
            "python -c \"import shutil,os; shutil.rmtree(os.environ['TARGET'])\"",
            "node -e \"require('fs').rmSync(process.argv[1],{recursive:true})\" x",
            "python -c \"import shutil; shutil.rmtree(chr(47)+'etc')\"",
        ],
        silent: &[
            "python -c \"import shutil; shutil.rmtree('build')\"",
            "python -c \"import os; print(os.environ['TARGET'])\"",
            "node -e \"require('fs').rmSync('dist',{recursive:true})\"",
        ],
        ..RULE
    },
    Rule {
        id: "code.writes-blocked-file",
        reason: "has an interpreter change a file that must not be written",
        instead: Some(Instead::Advice("write a file in the project, and let the person put it in place")),
        when: &[predicate("code_writes_a_blocked_file", Trigger::INTERPRETER, |scene| {
            writes_at_least(scene, Verdict::Block)
        })],
        fires: &[
            "python3 -c \"open('/etc/passwd','w').write('')\"",
            "python3 -c \"import os; os.truncate('/etc/passwd',0)\"",
            "sudo python3 -c \"f=open('/dev/sda','r+b');f.write(bytes(512))\"",
            "python3 -c \"import os;os.symlink('/tmp/x','/etc/cron.d/x')\"",
            "awk 'BEGIN{printf \"x\" > \"/dev/sda\"}'",
            "node -e \"require('fs').writeFileSync('/etc/passwd','')\"",
            "ruby -e 'File.write(\"/etc/passwd\",\"\")'",
            "perl -e 'open(F,\">\",\"/etc/passwd\")'",
            "python3 -c \"import shutil; shutil.move('/etc','/tmp/x')\"",
        ],
        silent: &[
            "python3 -c \"open('/etc/passwd').read()\"",
            "python3 -c \"import shutil; shutil.copyfile('/etc/os-release','a')\"",
            "awk '$3 > \"/a\" {print}' f",
            "python3 -c \"open('out.txt','w').write(open('/etc/os-release').read())\"",
            "node -e \"require('fs').writeFileSync('a.json','{}')\"",
            "python3 -c \"open('/tmp/x','w').write('')\"",
        ],
        ..RULE
    },
    Rule {
        id: "code.writes-asked-file",
        verdict: Verdict::Modify,
        reason: "has an interpreter change a file that any other tool would be asked about",
        instead: Some(Instead::Advice(
            "write the file with the tool for that, so that the person sees what is in it",
        )),
        when: &[predicate("code_writes_an_asked_file", Trigger::INTERPRETER, |scene| {
            writes_at_least(scene, Verdict::Modify)
        })],
        fires: &[
            "python3 -c \"open('/home/u/.bashrc','a').write('x')\"",
            "node -e \"require('fs').appendFileSync(process.env.HOME+'/.bashrc','x')\"",
            "python3 -c \"from pathlib import Path; Path('/home/u/.ssh/authorized_keys').write_text('x')\"",
        ],
        silent: &[
            "python3 -c \"print(open('/home/u/.bashrc').read())\"",
            "node -e \"require('fs').writeFileSync('a.json','{}')\"",
        ],
        ..RULE
    },
    Rule {
        id: "code.runs-asked-command",
        verdict: Verdict::Modify,
        reason: "has an interpreter run a command that would be asked about in a shell",
        instead: Some(Instead::Advice("run the command in the shell, where it can be read")),
        when: &[
            predicate(
                "code_runs_an_asked_command",
                CODE.or(Trigger::programs(lists::SEDS)).or(Trigger::programs(MAKES)),
                |scene| runs_at_least(scene, Verdict::Modify),
            ),
            predicate("argument_is_an_asked_command", runners::NEEDS, |scene| {
                runners::runs_by_argument(scene, Verdict::Modify)
            }),
        ],
        fires: &[
            "python3 -c \"import os; os.system('npm publish')\"",
            "node -e \"require('child_process').execSync('cat .env')\"",
            "tmux send-keys -t x 'npm publish' Enter",
        ],
        silent: &[
            "python3 -c \"import os; os.system('npm test')\"",
            "node -e \"console.log('npm publish')\"",
            "python3 -c \"s='npm publish | tee x'; print(s.split('|'))\"",
            "python3 - <<E\nimport os\n# os.system('npm publish') is never called\nprint(os.getcwd())\nE",
            "tmux send-keys -t x 'npm test' Enter",
            "tmux display-message 'npm publish is done'",
        ],
        ..RULE
    },
    Rule {
        id: "code.hidden",
        severity: Severity::Critical,
        reason: "has an interpreter run code that was made unreadable first",
        instead: Some(Instead::Command(
            "python3 -c \"import base64; print(base64.b64decode('cHJpbnQoMSk='))\"",
        )),
        when: &[
            predicate("decoded_code_is_run", Trigger::INTERPRETER, decoded_code_runs),
            predicate("encoded_powershell", Trigger::programs(POWERSHELL), encoded_powershell),
        ],
        fires: &[
            "python -c \"exec(__import__('base64').b64decode('cm0gLXJmIC8='))\"",
            "node -e \"eval(Buffer.from('Y29kZQ==','base64').toString())\"",
            "node -e \"eval(atob('Y29kZQ=='))\"",
            "python3 -c \"import base64 as b,os;os.popen(b.b85decode('a%~_').decode())\"",
            "python3 -c \"import os;os.system(''.join(chr(ord(c)-1) for c in 'sn!.sg'))\"",
            "ruby -rbase64 -e '%x(#{Base64.decode64(\"cm0gLXJmIH4=\")})'",
            "php -r 'eval(base64_decode(\"Y29kZQ==\"));'",
            "perl -MMIME::Base64 -e 'eval(decode_base64(\"Y29kZQ==\"))'",
            "python -c \"import os; os.system(bytes.fromhex('726d').decode())\"",
            "pwsh -enc cgBtAA==",
            "python3 -c \"import base64,subprocess; x=base64.b64decode('bHM='); subprocess.run(x,shell=True)\"",
            "python3 -c \"import base64,subprocess; exec(base64.b64decode(subprocess.check_output(['cat','x'])))\"",
            "python3 - <<'E'\nimport zlib, base64\nexec(zlib.decompress(base64.b64decode(open('data/blob.bin').read())))\nE",
            "cat > /tmp/a.py <<'E'\nimport base64, os\nos.system(base64.b64decode('cm0gLXJmIH4=').decode())\nE\npython3 /tmp/a.py",
            "node <<'E'\nconst code = Buffer.from('Y29kZQ==', 'base64').toString()\neval(code)\nE",
        ],
        silent: &[
            "python -c \"import base64; print(base64.b64decode('aGk='))\"",
            "node -e \"console.log(Buffer.from('aGk=','base64').toString())\"",
            "python -c \"import re,base64; m=re.exec(x); base64.b64decode(m)\"",
            "pwsh -Command 'Get-ChildItem'",
            "python3 -c \"import subprocess,base64; print(base64.b64decode(subprocess.check_output(['gh','api','x'])))\"",
            "python3 - <<'E'\nimport base64, json, subprocess\nout = json.loads(subprocess.check_output(['gh', 'api', 'repos/a/b/contents/x']))\nprint(base64.b64decode(out['content']).decode())\nE",
            "python3 - <<'E'\nfrom pathlib import Path\nPath('tests/test_a.py').write_text('assert flags(\"exec(b64decode(x))\")')\nE",
        ],
        ..RULE
    },
    Rule {
        id: "code.filter-runs-command",
        verdict: Verdict::Modify,
        reason: "has sed or awk hand text to a shell",
        instead: Some(Instead::Command("sed -n '1,20p' README.md")),
        when: &[predicate(
            "filter_runs_commands",
            Trigger::programs(lists::SEDS).or(Trigger::programs(lists::SCRIPTED_FILTERS)),
            filter_runs,
        )],
        fires: &[
            "sed 's/x/id/e' f",
            "sed '1e curl x.example' f",
            "echo x | sed 's/.*/rm -rf ~/e'",
            "sed -n -e '/a/p' -e '1e id' f",
            "awk '{print | \"sh\"}' f",
            "awk '{system($1)}' f",
            "awk '{system(\"rm \" $1)}' f",
            "awk '{system(\"git show \" $1 \" | sh\")}' f",
            "curl -s https://x.example/l | awk '{system(\"git show \" $1)}'",
            "sed --expression='s/a/b/e' f",
        ],
        silent: &[
            "sed 's/x/y/g' f",
            "sed -e 's/a/b/' -e '/exec/d' f",
            "sed -n '1,5p' f",
            "awk '{print $1 | \"sort -u\"}' f",
            "awk 'BEGIN{system(\"ls\")}'",
            "awk '{system(\"git show --stat \" $1 \" | tail -1\")}' /tmp/shas.txt",
            "grep 's/x/id/e' f",
        ],
        ..RULE
    },
    Rule {
        id: "code.option-runs-command",
        verdict: Verdict::Modify,
        reason: "has a program run a command that is not its own, given in an option",
        instead: Some(Instead::Command("make -n")),
        when: &[predicate("option_names_a_command", Trigger::programs(OPTION_RUNNERS), option_runs)],
        fires: &[
            "git grep -O'sh -c \"rm -rf ~\"' x",
            "git grep --open-files-in-pager='rm -rf' x",
            "make SHELL='rm -rf ~;:'",
            "npm run test --script-shell=./x",
            "npm --script-shell='./x' run test",
            "tar -I 'sh -c id' -cf x.tar y",
            "tar --use-compress-program='rm -rf ~' -cf x.tar y",
            "sort --compress-program=./x f",
            "git clone 'ext::sh -c id'",
            "sudo apt-get -o DPkg::Pre-Invoke::='sh -c id' install x",
            "scp -S ./x a h:b",
            "rsync -e ./x a h:b",
            "psql -c \"COPY (SELECT 1) TO PROGRAM 'id'\"",
            "cargo run --config 'target.x86_64-unknown-linux-gnu.runner=\"./x\"'",
        ],
        silent: &[
            "git grep -O x",
            "git grep -Oless x",
            "make SHELL=/bin/bash all",
            "npm run test --script-shell=bash",
            "tar -I zstd -cf x.tar y",
            "tar -I 'zstd -19' -cf x.tar y",
            "tar --use-compress-program=pigz -cf x.tar y",
            "git grep --only-matching x",
            "sort --compress-program=zstd f",
            "apt-get -o Acquire::Retries=3 update",
            "rsync -avz -e 'ssh -p 2222' a h:b",
            "scp -S ssh a h:b",
            "psql -c 'select program from t'",
            "cargo run --config net.offline=true",
            "git clone https://github.com/a/ext",
        ],
        ..RULE
    },
    Rule {
        id: "code.runs-blocked-command",
        severity: Severity::Critical,
        reason: "has an interpreter run a command that would be blocked in a shell",
        instead: Some(Instead::Advice("run the command in the shell, where it can be read")),
        when: &[
            predicate(
                "code_runs_a_blocked_command",
                CODE.or(Trigger::programs(lists::SEDS)).or(Trigger::programs(MAKES)),
                |scene| runs_at_least(scene, Verdict::Block),
            ),
            predicate("argument_is_a_blocked_command", runners::NEEDS, |scene| {
                runners::runs_by_argument(scene, Verdict::Block)
            }),
        ],
        fires: &[
            "python3 -c \"import subprocess; subprocess.run(['sh'], input='rm -rf /', text=True)\"",
            "python3 -c \"import subprocess; p = subprocess.Popen(['bash'], stdin=subprocess.PIPE); p.communicate(b'rm -rf /')\"",
            "python3 -c \"import subprocess; d='/etc'; subprocess.run(['rm','-rf',d])\"",
            "python3 - <<'E'\nimport subprocess\nfor d in ['/', '/etc']:\n    subprocess.run(['rm', '-rf', d])\nE",
            "node -e \"for (const d of ['/','/etc']) require('child_process').execFileSync('rm',['-rf',d])\"",
            "python3 - <<'E'\nopen('a.py','w').write('import os; os.system(\"rm -rf /\")')\nE\npython3 a.py",
            "python3 -c \"s = 'import os; os.system(\\\"rm -rf /\\\")'; exec(s)\"",
            "python3 -c \"import os; os.system('rm -rf /')\"",
            "perl -e 'system(\"rm -rf /\")'",
            "node -e \"require('child_process').execSync('git reset --hard')\"",
            "awk 'BEGIN{system(\"rm -rf ~\")}'",
            "python3 -c \"import subprocess; subprocess.run(['rm','-rf','/'])\"",
            "python3 -c \"import subprocess; subprocess.run(['bash','-c','rm -rf /'])\"",
            "ruby -e 'system \"cat ~/.ssh/id_rsa\"'",
            "vim -c ':!rm -rf /' -c q",
            "tmux new -d 'rm -rf /'",
            "make -f - <<< 'all:; rm -rf /'",
            "m4 <<< 'syscmd(rm -rf ~)'",
            "perl -e 'open F,\"rm -rf ~|\";<F>'",
            "python3 -m pdb -c '!import os; os.system(\"rm -rf ~\")' src/a.py",
            "bun -e 'await Bun.$`rm -rf ~`'",
            "sqlite3 x.db '.shell rm -rf /'",
            "gdb -batch -ex 'shell rm -rf /'",
            "python -c \"import os; os.system('rm -rf ' + os.environ['HOME'])\"",
            "python -c \"import subprocess; subprocess.run('rm -rf ' + '/', shell=True)\"",
            "ruby -e 'system(\"rm -rf #{Dir.home}\")'",
            "node -e \"require('child_process').execSync('rm -rf '+process.env.HOME)\"",
            "awk 'BEGIN{\"rm -rf ~\" | getline}'",
            "sed '1e rm -rf /' f",
            "cat > test_a.py <<E\nfrom subprocess import run\nrun('rm -rf /', shell=True)\nE\npython -m pytest test_a.py",
            "cat > a.py <<E\nimport os\nos.system(\"rm -rf /\")\nE\npython a.py",
            "cat > Makefile <<E\nall:\n\t@rm -rf ~\nE\nmake",
            "echo '{\"scripts\":{\"x\":\"rm -rf ~\"}}' > package.json; npm run x",
            "tmux new-window rm -rf ~",
            "perl -e 'open F, \"|rm -rf ~\"'",
            "perl -e 'qx(rm -rf ~)'",
            "ruby -e 'exec %q(rm -rf ~)'",
            "ruby -e 'system %q(rm -rf ~)'",
            "perl -e 'system q(rm -rf ~)'",
            "ocaml -e 'Sys.command \"rm -rf ~\"'",
            "ghc -e 'System.Process.system \"rm -rf ~\"'",
            "sbcl --eval '(uiop:run-program \"rm -rf ~\")'",
            "tclsh <<< \"exec rm -rf /\"",
            "yarn exec \"rm -rf ~\"",
            "npm pkg set scripts.x=\"rm -rf ~\" && npm run x",
            "make CC=\"rm -rf ~;\"",
            "ruby -e '%x(rm -rf ~)'",
            "node -e \"require('child_process').spawn('rm',['-rf','/'])\"",
            "python3 -c \"getattr(__import__('os'),'sys'+'tem')('rm -rf ~')\"",
            "screen -S x -X stuff 'rm -rf ~\n'",
            "python3 -c \"import os; os.system('/ fr- mr'[::-1])\"",
            "python3 -c \"import os; os.system(''.join(map(chr,[114,109,32,45,114,102,32,126])))\"",
            "perl -e 'system(scalar reverse(q{/ fr- mr}))'",
            "perl -e 'exec qw(rm -rf /)'",
            "expect -c 'spawn sh -c {rm -rf /}'",
            "tclsh <<< 'file delete -force /'",
            "python3 -c \"import os; os.system('> /etc/passwd')\"",
            "python3 -c 'exec(\"import os; os.system(\\\"rm -rf ~\\\")\")'",
            "make -s --eval='x:;@rm -rf ~' x",
            "cat > /tmp/m.go <<'E'\npackage main\nimport \"os/exec\"\nfunc main() { exec.Command(\"sh\", \"-c\", \"rm -rf ~\").Run() }\nE\ngo run /tmp/m.go",
            "echo 'int main(){system(\"rm -rf /\");}' | gcc -xc - -o /tmp/z && /tmp/z",
            "erl -noshell -eval 'os:cmd(\"rm -rf /\"), halt().'",
        ],
        silent: &[
            "python3 - <<'E'\nimport json, subprocess\ne = {'tool_input': {'command': 'sudo rm -rf /var'}}\nsubprocess.run(['node', 'hooks/pre.js'], input=json.dumps(e), text=True)\nE",
            "python3 - <<'E'\nimport subprocess, sys\nfor c, want in [('rm -rf /', 2), ('ls', 0)]:\n    got = subprocess.run([sys.executable, 'guard.py', c]).returncode\n    assert got == want\nE",
            "node -e \"const {spawnSync} = require('child_process'); for (const c of ['rm -rf /', 'ls']) console.log(spawnSync('node', ['hook.js', c]).status)\"",
            "ed -s README.md <<'E'\n$a\nNever use `rm -rf /`.\n.\nwq\nE",
            "ruby -rshellwords -e 'p \"rm -rf /\".shellsplit'",
            "python3 -c \"import subprocess; d='dist'; subprocess.run(['rm','-rf',d])\"",
            "python3 - <<'E'\nimport subprocess\nfor c in ['rm -rf /']:\n    subprocess.run(['./guard', 'check', c])\nE",
            "python3 - <<'E'\nt = open('a.md').read()\nt = t.replace('Run `sudo rm -rf /var/lib/docker`', 'Run `docker system prune`')\nopen('a.md', 'w').write(t)\nE",
            "python3 - <<'E'\nfrom pathlib import Path\nPath('tests/test_a.py').write_text('def test():\\n    assert run(\"rm -rf /\") == 1\\n')\nE",
            "python3 -c \"import os; os.system('ls')\"",
            "python3 -c \"print('rm -rf /')\"",
            "node -e \"require('child_process').execSync('git status')\"",
            "awk '{print $1}' system.log",
            "tmux new -d 'npm run dev'",
            "tclsh <<< \"exec ls -la\"",
            "yarn exec \"tsc -p .\"",
            "npm pkg set scripts.build=\"rm -rf dist && tsc\"",
            "make CC=\"gcc -O2\" all",
            "sqlite3 x.db \"select 'rm -rf /'\"",
            "cat > tests/test_b.py <<'E'\nfrom guard import run\nassert run('rm -rf /') == 'blocked'\nE\npython3 -m pytest tests/test_b.py",
            "make -f - <<< 'all:; cargo build'",
            "python3 -c \"import subprocess; subprocess.run(['grep','-rn','rm -rf /','docs'])\"",
            "python3 - <<'E'\ns += \"- `rm -rf /` is blocked\"\nE",
            "perl -0pi -e 's/TODO/Never run `rm -rf ~`/' docs/a.md",
            "node -e \"console.log(require('shell-quote').parse('curl x | sh'))\"",
            "cat > Makefile <<'E'\nall:\n\tcargo build\nclean:\n\trm -rf target\nE\nmake",
            "echo '{\"scripts\":{\"x\":\"tsc -p .\"}}' > package.json; npm run x",
            "tmux send-keys -t dev 'npm test' Enter",
            "python3 -c \"import subprocess; print(subprocess.check_output(['git','tag']).split()[::-1])\"",
            "python3 -c \"print(''.join(map(chr,[104,105])))\"",
            "cat > /tmp/m.go <<'E'\npackage main\nfunc main() { println(\"rm -rf /\") }\nE\ngo run /tmp/m.go",
            "echo 'int main(){return 0;}' | gcc -xc - -o /tmp/z && /tmp/z",
        ],
        ..RULE
    },
    Rule {
        id: "code.put-together",
        severity: Severity::Critical,
        reason: "has an interpreter do what would be blocked, in words that it puts together first",
        instead: Some(Instead::Advice("write the strings of the code out")),
        when: &[predicate("code_puts_together_what_is_blocked", SPELLING, |scene| {
            spells_at_least(scene, Verdict::Block)
        })],
        fires: &[
            "python3 -c \"import psycopg2; c=psycopg2.connect('host=prod'); c.cursor().execute('DR'+'OP SCHEMA public CASCADE')\"",
            "node -e 'const {Client}=require(\"pg\");const c=new Client();c.connect().then(()=>c.query(\"DR\"+\"OP TABLE users CASCADE\"))'",
            "python3 -c \"import urllib.request as u;u.urlopen('http://'+'.'.join(['169','254']*2)+'/latest/meta-data/')\"",
            "python3 -c \"open('/etc/'+'passwd','w').write('')\"",
            "python3 -c \"d='/dev/'+'sda';open(d,'wb').write(b'x')\"",
            "python3 -c \"import os;open(os.path.join('/etc','sudoers.d','x'),'w').write('x')\"",
            "python3 -c \"import os;os.system('%s -%s ~'%('rm','rf'))\"",
            "python3 -c \"import os;os.system('\\x72\\x6d -rf ~')\"",
            "python3 -c \"import shutil as s;getattr(s,'rm'+'tree')('/home')\"",
            "python3 -c \"import shutil;shutil.rmtree('emoh/'[::-1])\"",
            "python3 -c \"import shutil,sys;shutil.rmtree(sys.argv[1])\" ~",
            "node -e \"require('child_process').execSync(decodeURIComponent('rm%20-rf%20~'))\"",
            "node -e \"require('child_'+'process')['ex'+'ecSync']('rm -rf ~')\"",
            "ruby -e 'system \"~ fr- mr\".reverse'",
            "python3 - <<'E'\nd = '/dev/' + 'sda'\nopen(d, 'wb').write(b'x')\nE",
        ],
        silent: &[
            "python3 -c \"print('a'+'b')\"",
            "python3 - <<'E'\np = 'src/' + 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s.replace('a', 'b'))\nE",
            "python3 -c \"import sys;print(open(sys.argv[1]).read())\" README.md",
            "node -e \"console.log(['rm','-rf','~'].join(' '))\"",
            "python3 - <<'E'\nimport sqlite3\nc = sqlite3.connect('dev.db')\nq = 'SELECT * ' + 'FROM users'\nprint(c.execute(q).fetchall())\nE",
            "ruby -e 'puts \"abc\".reverse'",
        ],
        ..RULE
    },
    Rule {
        id: "code.put-together-asked",
        verdict: Verdict::Modify,
        reason: "has an interpreter do what would be asked about, in words that it puts together first",
        instead: Some(Instead::Advice("write the strings of the code out")),
        when: &[predicate("code_puts_together_what_is_asked", SPELLING, |scene| {
            spells_at_least(scene, Verdict::Modify)
        })],
        fires: &[
            "python3 -c \"import os;os.system('npm'+' publish')\"",
            "node -e \"require('child_process').execSync('npm'+' publish')\"",
        ],
        silent: &[
            "python3 -c \"import os;os.system('npm'+' test')\"",
            "python3 -c \"print('npm'+' publish')\"",
        ],
        ..RULE
    },
    Rule {
        id: "code.archiver-runs-command",
        reason: "has an archiver run a command of its own choosing",
        instead: Some(Instead::Command("tar -tf archive.tar")),
        when: &[predicate("archiver_told_to_run_a_command", Trigger::programs(ARCHIVERS), archiver_runs)],
        fires: &[
            "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm -rf /' x",
            "tar xf a.tar --to-command='sh'",
            "zip x.zip a -T --unzip-command='sh -c id'",
        ],
        silent: &["tar czf a.tgz src", "tar --checkpoint=100 -cf a.tar src", "zip -r x.zip src"],
        ..RULE
    },
];

/// Programs that build, or build and run, a source that the call may have written itself.
const COMPILERS: &[&str] = &[
    "go", "gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "rustc", "javac", "java", "zig", "swiftc",
    "kotlinc", "kotlin", "scala", "ghc", "runghc", "nim", "crystal", "dmd", "rdmd", "fpc",
];

/// Code is run, or built from what the call holds.
const CODE: Trigger = Trigger::INTERPRETER.or(Trigger::programs(COMPILERS));

fn interpreters<'s, 'a>(scene: &'s Scene<'a>) -> impl Iterator<Item = &'a Invocation> + 's {
    let builds = |inv: &Invocation| {
        runs(inv, COMPILERS) && (!scene.view.survey.written.is_empty() || inv.stdin != Stdin::Inherited)
    };
    scene
        .running(|inv| runs_code(inv) || runs(inv, COMPILERS))
        .filter(move |inv| runs_code(inv) || builds(inv))
}

/// The texts that an interpreter is given, with the home directory written out.
fn texts<'s>(inv: &'s Invocation, scene: &'s Scene<'_>) -> impl Iterator<Item = String> + 's {
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    code_of(inv, scene).map(move |text| scripts::with_home(&text, home))
}

/// Whether a command runs a script of which the session knows nothing: it was there before, and people have read it.
fn is_old_script(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some(Target::Path { path, .. }) = inv.operands.first().map(|arg| target_of(arg, inv.cwd.as_deref()))
    else {
        return false;
    };
    let survey = scene.view.survey;
    scene.view.facts.content(&path).flatten().is_some()
        && !survey.written.iter().any(|(file, _)| *file == path)
        && survey.marks.source(&path).is_none()
}

fn code_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    const LOST: &[Class] = &[Class::Project, Class::Git, Class::Outside];
    const LOST_ONE: &[Class] =
        &[Class::Root, Class::System, Class::Home, Class::Users, Class::Git, Class::Device];
    const LOST_BY_OLD: &[Class] = &[Class::Root, Class::Home, Class::Users];
    let lost = |inv: &Invocation, text: &str, recursive: bool| {
        let home = scene.view.facts.places.home.as_deref();
        let path = match (text.strip_prefix('~'), home, inv.cwd.as_deref()) {
            (Some(rest), Some(home), _) => format!("{home}{rest}"),
            (None, _, Some(cwd)) if text.starts_with(['/', '.']) => join(cwd, text),
            (None, _, None) if text.starts_with('/') => text.to_owned(),
            _ => return false,
        };
        let target = Target::Path { path, glob: text.contains('*'), recursive };
        let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
        match recursive {
            true if is_old_script(inv, scene) => classes.any(LOST_BY_OLD),
            true => classes.any(WIDE) || classes.any(LOST),
            false => classes.any(LOST_ONE),
        }
    };
    let found = interpreters(scene).find(|inv| {
        let walks = LazyCell::new(|| scene.codes(inv).iter().any(|text| text.holds_any(WALKS)));
        texts(inv, scene).any(|text| {
            // Without a quote of some kind there is no literal.
            if !text.contains(['"', '\'', '`', '%', 'q']) {
                return false;
            }
            let whole = text;
            let text = statements::around(&whole, &[DELETES, DELETES_ONE]);
            let tree = DELETES.iter().any(|call| contains_word(&text, call));
            let one = tree || DELETES_ONE.iter().any(|call| contains_word(&text, call));
            let literals =
                || undone::with_inner(joined::strings(&text)).into_iter().chain(scripts::run_quotes(&text));
            one && literals().take(MAX_LITERALS).any(|literal| lost(inv, &literal, tree))
                || *walks && walked(&whole, inv.cwd.as_deref()).iter().any(|root| lost(inv, root, true))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The directories outside of the one it runs in that code goes through from top to bottom, to delete or empty each file in them.
fn walked(code: &str, cwd: Option<&str>) -> Vec<String> {
    /// What nobody misses, wherever it lies.
    const LEFT_BEHIND: &[&str] = &["pyc", "__pycache__", ".DS_Store", ".tmp", "node_modules"];
    let deleting = [DELETES_ONE, EMPTIES_ONE];
    let each = statements::around(code, &deleting);
    let deletes = deleting.iter().flat_map(|list| list.iter()).any(|call| contains_word(&each, call));
    let some = asks_of_files(code) || LEFT_BEHIND.iter().any(|part| each.contains(part));
    if !deletes || some {
        return Vec::new();
    }
    let own = |root: &str| {
        cwd.is_some_and(|cwd| {
            root.strip_prefix(cwd).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let roots = each.lines().flat_map(roots);
    roots.filter(|root| root.starts_with(['/', '~']) && !own(root)).take(MAX_LITERALS).collect()
}

/// Calls that go through a directory and all that is below it.
const WALKS: &[&str] =
    &["os.walk(", ".rglob(", "Find.find(", "Dir.glob(", "glob.glob(", "iglob(", "Dir[", " glob("];

/// The directories that a line of code goes through: the string in front of `.rglob(`, those behind the other calls.
fn roots(line: &str) -> Vec<String> {
    let system = |text: &str| ["/var/", "/etc/", "/usr/", "/boot/"].iter().any(|dir| text.starts_with(dir));
    let deep =
        |text: &String| !text.contains('*') || text.contains("**") || text.ends_with("/*") || system(text);
    let behind = WALKS
        .iter()
        .filter(|walk| !walk.starts_with('.'))
        .filter_map(|walk| line.split_once(walk).map(|(_, rest)| rest));
    let front =
        line.split_once(".rglob(").and_then(|(front, _)| front.rsplit_once("for ")).map(|(_, rest)| rest);
    let firsts = behind.chain(front).filter_map(|text| joined::strings(text).into_iter().next());
    firsts.filter(deep).collect()
}

fn writes_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
        texts(inv, scene).any(|text| {
            scripts::written(&text).iter().take(MAX_LITERALS).any(|file| {
                let file =
                    file.strip_prefix('~').map_or_else(|| file.clone(), |rest| format!("{home}{rest}"));
                let action = Action::Write { path: join(cwd, &file), content: String::new(), long: None };
                // In the project it is ordinary work, and the same as with any other tool.
                let moves =
                    text.contains("move(") || text.contains("rename(") || text.contains("renameSync(");
                let moved = || inner_verdict(scene, &shell(format!("mv '{file}' /tmp/moved")), cwd) >= least;
                file.starts_with('/')
                    && (inner_verdict(scene, &ToolCall { tool: Tool::Write, action, id: None }, cwd) >= least
                        || moves && moved())
            })
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code of the call itself that goes through everything in the directory and deletes or empties it.
fn code_empties<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ALL: &[&str] = &[
        "os.walk('.')",
        "os.walk(\".\")",
        "glob('**/*'",
        "glob(\"**/*\"",
        "rglob('*')",
        "rglob(\"*\")",
        "listdir('.')",
        "listdir(\".\")",
        "listdir()",
        "glob\"*\"",
        "glob'*'",
        "glob(\"*\")",
        "glob('*')",
        "<*>",
        "dir[\"**/*\"]",
        "dir['**/*']",
        "dir[\"*\"]",
        "dir['*']",
        "dir.glob(\"*\")",
        "dir.glob('*')",
        "readdirsync('.')",
        "readdirsync(\".\")",
        "finddepth(",
        "os.walk(os.getcwd())",
        "dir.glob(\"**/*\")",
        "rglob('*.rs')",
        "rglob('*.py')",
        "rglob('*.js')",
        "rglob('*.ts')",
        "rglob('*.go')",
    ];
    const GONE: &[&str] = &[
        "os.remove(",
        "os.unlink(",
        "unlink",
        "file.delete",
        "rmsync(",
        "write_text('')",
        "write_text(\"\")",
        "'w').close()",
        "\"w\").close()",
        "truncate(",
        "rmtree(",
        "rm_rf",
        "rm_r",
    ];
    const WHOLE: &[&str] = &[
        "rmtree(os.getcwd()",
        "rmtree(os.curdir",
        "rmtree(path.cwd()",
        "rmtree(pathlib.path.cwd()",
        "rmsync(process.cwd()",
        "rm_rf(dir.pwd",
        "rm_rf(dir.glob(\"*\")",
        "rm_rf(dir.glob('*')",
        "rm_rf(dir[\"*\"]",
        "rmdirsync(process.cwd()",
        "remove_tree(getcwd",
    ];
    let found = interpreters(scene).find(|inv| {
        let temporary = inv.cwd.as_deref().is_some_and(|cwd| cwd.starts_with("/tmp/"));
        let empties = |text: &str| {
            let bare: String =
                text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            let any = |words: &[&str]| words.iter().any(|word| bare.contains(word));
            let picks = bare.contains(".endswith(") || bare.contains("suffix") || bare.contains("fnmatch");
            // `Path.cwd() / "dist"` is not the whole.
            let whole = WHOLE.iter().any(|word| {
                bare.match_indices(*word).any(|(at, word)| {
                    !bare.get(at + word.len()..).is_some_and(|rest| rest.starts_with(['/', '+']))
                })
            });
            whole || any(ALL) && any(GONE) && !picks
        };
        let scripts = || libraries::scripts_with(inv, scene, &[EMPTIED_BY, PASSED_THROUGH]);
        !temporary
            && (inv.args.iter().any(|arg| empties(&arg.text()))
                || scripts()
                    .into_iter()
                    .any(|text| !chooses(&text) && empties(&statements::behind(&text, PASSED_THROUGH))))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Words without which a script empties nothing, and without which it does not go through a directory.
const EMPTIED_BY: &[&str] =
    &["remove", "unlink", "rm", "delete", "write_text(", "'w')", "\"w\")", "truncate("];
const PASSED_THROUGH: &[&str] = &[
    "walk(",
    "glob",
    "listdir(",
    "<*>",
    "dir[",
    "readdir",
    "finddepth(",
    "getcwd",
    "curdir",
    "cwd(",
    "dir.pwd",
];

/// Whether a script does something to some of the files only, goes through another directory than that in which it was started, or
/// makes one of its own.
fn chooses(code: &str) -> bool {
    const ELSEWHERE: &[&str] = &["chdir", "mkdtemp", "TemporaryDirectory", "tmp_path"];
    // `Path('build').rglob('*')`
    let below = code.replace('"', "'").split(".rglob('*").any(|front| {
        let front = front.trim_end_matches(')');
        front.ends_with('\'') && !front.ends_with("'.'") && !front.ends_with("'src'")
    });
    below || asks_of_files(code) || ELSEWHERE.iter().any(|word| code.contains(word))
}

/// Whether code looks at what a file is right before it deletes or empties it.
fn asks_of_files(code: &str) -> bool {
    const BEFORE: usize = 6;
    let lines: Vec<&str> = code.lines().collect();
    let takes = |line: &str| {
        [DELETES, DELETES_ONE, EMPTIES_ONE]
            .iter()
            .flat_map(|list| list.iter())
            .any(|call| contains_word(line, call))
    };
    lines.iter().enumerate().filter(|(_, line)| takes(line)).any(|(at, _)| {
        lines.get(at.saturating_sub(BEFORE)..=at).unwrap_or_default().iter().any(|line| asks_of_file(line))
    })
}

/// A line that asks more of a file than whether it is one.
fn asks_of_file(line: &str) -> bool {
    const ALL_ARE: &[&str] =
        &["isfile", "is_file", "isFile", "exists", "isdir", "is_dir", "isDirectory", "file?"];
    ["if ", "if(", "unless ", "filter("].iter().any(|word| line.contains(word))
        && !ALL_ARE.iter().any(|word| line.contains(word))
}

fn code_deletes_computed<'a>(scene: &Scene<'a>) -> Found<'a> {
    // Scripts take their targets from elsewhere as a matter of course: only code that stands in the command is looked at.
    let found = interpreters(scene).find(|inv| {
        inv.args.iter().map(Arg::text).any(|text| {
            let all = |words: &[&str]| words.iter().any(|word| contains_word(&text, word));
            all(DELETES) && all(COMPUTED)
                || all(DELETES) && runs(inv, &["node", "nodejs"]) && text.contains("process.argv")
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn decoded_code_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = interpreters(scene).find(|inv| {
        // `… | python3 -c 'json.load(sys.stdin)'`: what comes in is data there.
        let said = inv.args.iter().map(Arg::text).any(|text| {
            DECODES.iter().any(|call| contains_word(&text, call))
                && RUNS_TEXT.iter().any(|call| scripts::calls(&text, call))
                && !only_decodes_output(&text)
        });
        said || libraries::scripts_with(inv, scene, &[DECODES])
            .iter()
            .any(|script| script_runs_decoded(script))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether whatever is run stands inside what decodes: `print(b64decode(check_output(['gh', 'api', …])))`.
fn only_decodes_output(text: &str) -> bool {
    let opened = |front: &str| {
        let depth = front.bytes().fold(0_i32, |depth, byte| match byte {
            b'(' => depth + 1,
            b')' => depth - 1,
            _ => depth,
        });
        depth > 0
    };
    let inside = |front: &str| {
        let starts = DECODES.iter().filter_map(|call| front.rfind(call).and_then(|at| front.get(at..)));
        { starts }.any(opened)
    };
    let at_calls = RUNS_TEXT.iter().flat_map(|call| text.match_indices(call));
    { at_calls }.all(|(at, _)| inside(text.get(..at).unwrap_or_default()))
}

/// Whether a script decodes a text and runs it: by a call that has no other use, or in one statement.
fn script_runs_decoded(script: &str) -> bool {
    const RUNS_CODE: &[&str] = &["exec(", "eval(", "Function(", "instance_eval(", "loadstring("];
    let decodes = |text: &str| DECODES.iter().any(|call| contains_word(text, call));
    if !decodes(script) || statements::only_speaks(script, &[RUNS_TEXT]) {
        return false;
    }
    let runs = |text: &str, list: &[&str]| list.iter().any(|call| scripts::calls(text, call));
    runs(script, RUNS_CODE)
        || statements::uncommented(script).lines().any(|line| {
            let behind = RUNS_TEXT
                .iter()
                .filter(|call| scripts::calls(line, call))
                .filter_map(|call| line.split_once(call).map(|(_, behind)| behind));
            { behind }.any(decodes)
        })
}

fn encoded_powershell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(POWERSHELL, |inv| {
        // It may be shortened to any length.
        let is_encoded =
            |text: &str| text.len() > 1 && ("-encodedcommand".starts_with(text) || text == "-ec");
        inv.args.iter().any(|arg| is_encoded(&arg.prefix().to_ascii_lowercase()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The scripts that sed is given.
fn sed_scripts(inv: &Invocation) -> impl Iterator<Item = &Arg> {
    let by_option = |flag: &&crate::rules::survey::Flag| matches!(flag.name.as_str(), "-e" | "--expression");
    let given =
        inv.flags.iter().any(|flag| matches!(flag.name.as_str(), "-e" | "--expression" | "-f" | "--file"));
    let options = inv.flags.iter().filter(by_option).filter_map(|flag| flag.value.as_ref());
    options.chain(inv.operands.first().filter(|_| !given))
}

fn filter_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        if runs(inv, lists::SEDS) {
            return sed_scripts(inv).any(|script| scripts::sed_runs(&script.text()).is_some());
        }
        runs(inv, lists::SCRIPTED_FILTERS)
            && inv.operands.first().is_some_and(|program| {
                scripts::awk_runs_computed(&program.text(), comes_from_here(inv, scene))
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether what comes down the pipe to a command is what git or a listing of files says.
fn comes_from_here(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const HERE: &[&str] = &["git", "ls", "find", "cat", "grep", "rg", "sort", "uniq", "head", "tail", "cut"];
    let mut before =
        scene.invocations().iter().filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage);
    before.all(|other| runs(other, HERE))
}

/// Programs that compress, as tar is told of them.
const COMPRESSORS: &[&str] = &[
    "gzip",
    "pigz",
    "zstd",
    "zstdmt",
    "pzstd",
    "xz",
    "pixz",
    "bzip2",
    "pbzip2",
    "lbzip2",
    "lz4",
    "lzip",
    "plzip",
    "lzop",
    "lzma",
    "brotli",
    "gunzip",
    "unxz",
    "unzstd",
    "compress",
    "uncompress",
    "bunzip2",
    "igzip",
];

/// Pagers that `git grep -O` may open.
const PAGERS: &[&str] = &["", "less", "more", "cat", "vi", "vim", "nvim", "emacs", "nano", "code", "bat"];

fn option_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    let first = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default();
        word.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let found = scene.first(OPTION_RUNNERS, |inv| match inv.program.as_str() {
        "git" if inv.sub.first().is_some_and(|sub| sub == "grep") => inv.args.iter().any(|arg| {
            let text = arg.text();
            let long = text
                .split_once('=')
                .filter(|(name, _)| name.len() > 5 && "--open-files-in-pager".starts_with(name));
            let value = text.strip_prefix("-O").or(long.map(|(_, value)| value));
            value.is_some_and(|value| !PAGERS.contains(&value))
        }),
        "tar" | "gtar" | "bsdtar" => {
            flag_value(inv, &["-I", "--use-compress-program"])
                .is_some_and(|value| !COMPRESSORS.contains(&first(&value.text()).as_str()))
                || ["-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"]
                    .iter()
                    .any(|flag| has_flag(inv, flag))
        }
        "make" | "gmake" | "bmake" => inv.args.iter().any(|arg| {
            let text = arg.text();
            let shell = text.strip_prefix("SHELL=").or_else(|| text.strip_prefix(".SHELLFLAGS="));
            shell.is_some_and(|shell| shell.contains(char::is_whitespace) || !is_shell(&first(shell)))
        }),
        "sort" => flag_value(inv, &["--compress-program"])
            .is_some_and(|value| !COMPRESSORS.contains(&first(&value.text()).as_str())),
        "git" => inv.operands.iter().any(|arg| arg.prefix().starts_with("ext::")),
        "apt" | "apt-get" | "aptitude" | "dpkg" => inv.args.iter().any(|arg| {
            let text = arg.text().to_ascii_lowercase();
            ["pre-invoke", "post-invoke", "pre-install-pkgs"].iter().any(|word| text.contains(word))
        }),
        "scp" | "sftp" => flag_value(inv, &["-S"]).is_some_and(|value| first(&value.text()) != "ssh"),
        "rsync" => flag_value(inv, &["-e", "--rsh"]).is_some_and(|value| {
            !matches!(first(&value.text()).as_str(), "ssh" | "rsh" | "sshpass" | "autossh")
        }),
        "psql" => inv.args.iter().any(|arg| contains_word(&arg.text(), "program '")),
        "cargo" => inv.args.iter().any(|arg| {
            let text = arg.text();
            text.contains('=')
                && [".runner", "rustc-wrapper", ".linker", "build.rustc"].iter().any(|key| text.contains(key))
        }),
        "npm" | "pnpm" | "yarn" | "npx" => inv.args.iter().enumerate().any(|(at, arg)| {
            let text = arg.text();
            let next = || inv.args.get(at + 1).map(Arg::text).unwrap_or_default();
            let given = text.strip_prefix("--script-shell").or_else(|| text.strip_prefix("--shell="));
            given.is_some_and(|value| {
                let value = if value.is_empty() { next() } else { value.trim_start_matches('=').into() };
                !is_shell(&value) && !is_shell(value.strip_prefix("/bin/").unwrap_or_default())
            })
        }),
        _ => false,
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn runs_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let sed = scene.first(lists::SEDS, |inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let run = sed_scripts(inv).filter_map(|script| scripts::sed_runs(&script.text()));
        { run }.any(|command| is_command(&command) && inner_verdict(scene, &shell(command), cwd) >= least)
    });
    if let Some(text) = sed.map(|inv| inv.text.as_str()).or_else(|| recipes_run(scene, least)) {
        return Found::yes(text);
    }
    if !scene.trigger.meets(CODE) {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        if least < Verdict::Block && is_old_script(inv, scene) {
            return false;
        }
        let is_python = inv.program.starts_with("python") || inv.program.starts_with("pypy");
        texts(inv, scene).any(|text| {
            let whole = text;
            let text = statements::around(&statements::uncommented(&whole), &[STARTS, NAMED_STARTS]);
            let mut found = undone::strings(&text);
            // `getattr(os, 'sys' + 'tem')`
            let tested = flag_value(inv, &["-m"])
                .is_some_and(|module| matches!(module.known(), Some("pytest" | "unittest")));
            let counts = |call: &&&str| {
                !(tested && OWN_NAMES.contains(*call))
                    && (**call != "shell" || argv::names_shell(&text))
                    && (**call != "`" || argv::runs_backticks(&inv.program, &text))
            };
            let starts = STARTS.iter().filter(counts).any(|call| begins(&text, call))
                || found
                    .iter()
                    .any(|string| matches!(string.as_str(), "system" | "popen" | "exec" | "execSync"));
            // `!seen[$1]++` is a pattern of awk's, not a command of an editor.
            let bare = editor_command(&text)
                .filter(|_| !runs(inv, lists::SCRIPTED_FILTERS) && flag_value(inv, &["-m"]).is_none())
                .map(str::to_owned)
                .or_else(|| tcl_command(&text).filter(|_| runs(inv, TCL)));
            if bare.is_none() && !starts {
                return false;
            }
            if is_python
                && statements::only_speaks(&whole, &[STARTS, NAMED_STARTS])
                && !is_run_behind(inv, &whole, scene)
            {
                return false;
            }
            if let Some(told) = told_by_lists(scene, &text, cwd, least) {
                return told;
            }
            if let Some(command) = bare {
                // Braces are the quotes of expect.
                let command = if runs(inv, &["expect"]) { command.replace(['{', '}'], "'") } else { command };
                return inner_verdict(scene, &shell(command), cwd) >= least;
            }
            found.truncate(MAX_LITERALS);
            // `run(["rm", "-rf", "/"])`, and `spawn("rm", ["-rf", "/"])` behind other strings.
            let program = found.iter().position(|word| !word.is_empty() && commands::find(word).is_some());
            let joined = std::iter::once(found.join(" "))
                .chain(program.and_then(|at| found.get(at..)).map(|words| words.join(" ")));
            let piped = |text: &String| text.trim_matches([' ', '|']).to_owned();
            let turned = undone::texts(&text, &found).into_iter().chain(argv::with_values(&text));
            let commands =
                found.iter().map(piped).chain(joined).chain(scripts::run_quotes(&text)).chain(turned);
            { commands }
                .any(|command| is_command(&command) && inner_verdict(scene, &shell(command), cwd) >= least)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What code deserves that starts programs by lists of words alone, into which no shell looks. None: the lists do not tell.
fn told_by_lists(scene: &Scene<'_>, code: &str, cwd: &str, least: Verdict) -> Option<bool> {
    let verdict = |line: argv::Line| inner_verdict(scene, &shell(line.text), cwd);
    let (sure, tried): (Vec<_>, Vec<_>) = argv::commands(code)?.into_iter().partition(|line| line.sure);
    if sure.into_iter().any(|line| verdict(line) >= least) {
        return Some(true);
    }
    let harmless = tried.into_iter().all(|line| verdict(line) < Verdict::Modify);
    harmless.then_some(false)
}

/// Whether another command of the call runs a file that this code names, and may have written.
fn is_run_behind(inv: &Invocation, code: &str, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().filter(|other| !std::ptr::eq(*other, inv)).any(|other| {
        let tests = flag_value(other, &["-m"])
            .is_some_and(|module| matches!(module.known(), Some("pytest" | "unittest")));
        let runs = runs_code(other) || runs_shell(other) || other.word.prefix().contains('/');
        let named = |arg: &Arg| {
            let name = arg.prefix().rsplit('/').next().unwrap_or_default();
            name.len() > 1 && code.contains(name)
        };
        runs && !tests && other.operands.iter().chain([&other.word]).any(named)
    })
}

/// Whether code holds what starts a command; a bar at the beginning of a string does, a string that is a bar does not.
fn begins(text: &str, call: &str) -> bool {
    if matches!(call, "|\"" | "|'") {
        // `open(F, "rm -rf x|")`
        return text.contains(call) && text.contains("open");
    }
    if !matches!(call, "\"|" | "'|") {
        return contains_word(text, call);
    }
    text.match_indices(call).any(|(at, _)| {
        let behind = text.get(at + call.len()..).unwrap_or_default().trim_start();
        !behind.is_empty() && !behind.starts_with(['"', '\''])
    })
}

/// `:!command` of vi and its kin, `spawn command` of expect.
fn editor_command(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('+');
    text.strip_prefix(":!").or_else(|| text.strip_prefix('!')).or_else(|| text.strip_prefix("spawn "))
}

/// Tcl has commands without quotes: `exec rm -rf x`.
const TCL: &[&str] = &["tclsh", "wish"];

fn tcl_command(text: &str) -> Option<String> {
    let text = text.replace("$env(HOME)", "~");
    text.lines().map(|line| line.trim().trim_start_matches('[')).find_map(|line| {
        let deleted =
            || line.strip_prefix("file delete ").map(|rest| format!("rm -rf {}", rest.replace("-force", "")));
        line.strip_prefix("exec ").map(str::to_owned).or_else(deleted)
    })
}

/// More than one word, the first of which can be a program, or is what a shell makes one of.
pub(super) fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'+' | b'~');
    let assigns =
        || first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(plain));
    let telling = matches!(text.trim(), "reboot" | "poweroff" | "halt" | "shutdown" | "killall5");
    text.len() <= MAX_LENGTH
        && (telling || text.trim().contains(' '))
        && (first.bytes().all(plain)
            || first.starts_with(['$', '`', '"', '\'', '(', '>'])
            || first.contains('\\')
            || first.ends_with("()")
            || assigns())
}

const MAKES: &[&str] = &["make", "gmake", "bmake", "m4"];

/// `make` that is told on its standard input what to run.
fn recipes_run<'a>(scene: &Scene<'a>, least: Verdict) -> Option<&'a str> {
    let fed = scene.first(MAKES, |inv| {
        let told = flag_value(inv, &["-f", "--file", "--makefile"]);
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        told.is_some_and(|file| matches!(file.known(), Some("-" | "/dev/stdin")))
            && input_of(inv, scene).iter().flat_map(|text| text.lines()).take(MAX_LITERALS).any(|line| {
                let recipe = line.trim_start_matches(['\t', '@', '-', '+', ' ']).replace("$$", "$");
                let recipe = recipe.replace("$(HOME)", "$HOME").replace("$(PWD)", "$PWD");
                is_command(&recipe) && inner_verdict(scene, &shell(recipe), cwd) >= least
            })
    });
    fed.or_else(|| scene.first(&["m4"], |inv| macros_run(inv, scene, least))).map(|inv| inv.text.as_str())
}

/// `syscmd(…)` of m4.
fn macros_run(inv: &Invocation, scene: &Scene<'_>, least: Verdict) -> bool {
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let texts = input_of(inv, scene).into_iter().chain(inv.args.iter().map(Arg::to_text));
    { texts }.any(|text| {
        text.split("syscmd(").skip(1).take(MAX_LITERALS).any(|rest| {
            let command = rest.split(')').next().unwrap_or_default().trim_matches(['`', '\'']).to_owned();
            is_command(&command) && inner_verdict(scene, &shell(command), cwd) >= least
        })
    })
}

pub(super) fn shell(command: String) -> ToolCall {
    ToolCall { tool: Tool::Bash, action: Action::Shell { command, workdir: None }, id: None }
}

/// Code with strings that may be put together.
const SPELLING: Trigger = Trigger::INTERPRETER.or(Trigger::programs(&["mongosh", "mongo"]));

/// Most commands whose code is written out.
const MAX_SPELLED: usize = 8;

fn spells_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested || scene.inner || scene.rebuilt {
        return Found::No;
    }
    let (verdict, at) = *scene.plain.get_or_init(|| spelled(scene));
    let found = scene.invocations().get(at).filter(|_| verdict >= least);
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What is said of the worst code once its strings are written out, and which command it is.
fn spelled(scene: &Scene<'_>) -> (Verdict, usize) {
    let all = scene.invocations().iter().enumerate().filter(|(_, inv)| !inv.contained);
    let lines = all.filter_map(|(at, inv)| written_out(inv, scene).map(|line| (at, inv, line)));
    let said = lines.take(MAX_SPELLED).map(|(at, inv, line)| {
        (rebuilt_verdict(scene, &shell(line), inv.cwd.as_deref().unwrap_or(scene.view.cwd)), at)
    });
    said.max_by_key(|(verdict, at)| (*verdict, std::cmp::Reverse(*at))).unwrap_or((Verdict::Allow, 0))
}

/// A command with the strings of its code written out, where that changes it.
fn written_out(inv: &Invocation, scene: &Scene<'_>) -> Option<String> {
    const END: &str = "END_OF_CODE";
    let language = plain::Language::of(&inv.program)?;
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let plain = |code: &str| {
        let given = with_operands(code, inv);
        let out = plain::plain(&scripts::with_home(&given, home), language);
        out.or_else(|| (given != code).then_some(given))
    };
    let mut changed = false;
    let mut line = String::from(if inv.privileged { "sudo " } else { "" });
    line.push_str(&inv.program);
    for arg in &inv.args {
        let text = arg.text();
        let code = plain(&text);
        changed |= code.is_some();
        line.push(' ');
        line.push_str(&single_quoted(code.as_deref().unwrap_or(&text)));
    }
    if changed {
        return Some(line);
    }
    let script = inv.operands.first().map(|arg| target_of(arg, inv.cwd.as_deref()));
    let own = |file: &str| scene.view.survey.written.iter().any(|(path, _)| path == file);
    let script = script.filter(|target| own(target.text())).and_then(|target| content(scene, target.text()));
    let code = input_of(inv, scene).into_iter().chain(script).find_map(|code| plain(&code))?;
    (!code.contains(END)).then(|| format!("{} - <<'{END}'\n{code}\n{END}", inv.program))
}

/// Code with what it is given on the command line in the place of the names for that.
fn with_operands(code: &str, inv: &Invocation) -> String {
    let mut out = code.to_owned();
    if !["argv", "ARGV"].iter().any(|name| code.contains(name)) {
        return out;
    }
    let behind = inv.args.iter().skip_while(|arg| arg.text() != code).skip(1);
    let given: Vec<String> =
        behind.map(|arg| single_quoted(&arg.text())).filter(|text| !text.contains('\\')).collect();
    for (at, value) in given.iter().enumerate().take(MAX_LITERALS) {
        let names = [
            format!("sys.argv[{}]", at + 1),
            format!("process.argv[{}]", at + 1),
            format!("$ARGV[{at}]"),
            format!("ARGV[{at}]"),
        ];
        for name in names {
            out = out.replace(&name, value);
        }
    }
    if !given.is_empty() {
        out = out.replace("@ARGV", &given.join(","));
    }
    out
}

fn archiver_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    const RUNS: &[&str] =
        &["--checkpoint-action=exec", "--to-command", "--unzip-command", "-TT", "--rsh-command"];
    let found = scene.first(ARCHIVERS, |inv| {
        inv.args.iter().any(|arg| RUNS.iter().any(|option| arg.prefix().starts_with(option)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
