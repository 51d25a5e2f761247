//! Shells and the builtins that change the shell itself.

use super::{Builtin, Kind, Operands, Operation, Program, Rest, WORDS, p, quiet};

const BASH: &str =
    "+ -c! -o -O --rcfile:r --init-file:r --posix! --login! --norc! --noprofile! --restricted! --verbose!";
const FISH: &str = "+ -c:s --command:s -C:s --init-command:s -d --debug -o -f";

const PWSH: &str = "+ -c:s -C:s -Command:s -command:s -File:r -file:r -f:r -e -enc -ec -EncodedCommand -ExecutionPolicy -ep \
    -WorkingDirectory:d -wd:d -NoProfile! -NonInteractive! -NoLogo! -nop! -noni!";

const fn shell(name: &'static str, options: &'static str) -> Program {
    p(name, options, Operation::Process, Operands::Text).kind(Kind::Shell)
}

const fn builtin(name: &'static str, options: &'static str, builtin: Builtin) -> Program {
    p(name, options, Operation::Nothing, Operands::Text).kind(Kind::Builtin(builtin))
}

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    builtin(".", "+", Builtin::Source),
    p("ConvertFrom-Json", "+", Operation::Nothing, Operands::Text),
    p("ConvertTo-Json", "+", Operation::Nothing, Operands::Text),
    p("Get-Content", "-Path:r -path:r -LiteralPath:r -TotalCount -Tail -Encoding -Raw! -raw! -Wait!", Operation::Nothing, Operands::Read).dash(),
    p("Get-Item", "+", Operation::Nothing, Operands::Text),
    p("Select-Object", "+", Operation::Nothing, Operands::Text),
    p("Test-Path", "+", Operation::Nothing, Operands::Text),
    builtin("alias", "+", Builtin::Alias),
    shell("ash", BASH),
    quiet("autoload"),
    shell("bash", BASH),
    quiet("bg"),
    quiet("bind"),
    quiet("break"),
    shell("brush", BASH),
    quiet("caller"),
    builtin("cd", "+ -P! -L! -e!", Builtin::Cd),
    builtin("chdir", "+", Builtin::Cd),
    p("cmd", "+", Operation::Process, Operands::Text).kind(Kind::Wrap(WORDS.skip(1).rest(Rest::Text).keep())),
    p("compgen", "-C:s -F -W:s -A -G -P -S -X", Operation::Nothing, Operands::Text),
    p("complete", "-C:s -F -W -A -G -P -S -X -o", Operation::Nothing, Operands::Text),
    quiet("compopt"),
    quiet("continue"),
    shell("csh", "+ -c!"),
    shell("dash", BASH),
    builtin("declare", "+", Builtin::Export),
    quiet("dirs"),
    quiet("disown"),
    shell("elvish", "+ -c!"),
    quiet("emulate"),
    quiet("enable"),
    builtin("eval", "+", Builtin::Eval),
    quiet("exit"),
    builtin("export", "+ -n! -f! -p!", Builtin::Export),
    p("fc", "-e:s -l! -n! -r! -s!", Operation::Nothing, Operands::Text),
    quiet("fg"),
    shell("fish", FISH),
    p("gc", "-Path:r -path:r -LiteralPath:r -TotalCount -Tail -Encoding -Raw! -raw! -Wait!", Operation::Nothing, Operands::Read).dash(),
    p("get-content", "-Path:r -path:r -LiteralPath:r -TotalCount -Tail -Encoding -Raw! -raw! -Wait!", Operation::Nothing, Operands::Read).dash(),
    builtin("getopts", "", Builtin::Read),
    builtin("hash", "+ -p -r! -l! -d! -t!", Builtin::Alias),
    quiet("history"),
    quiet("jobs"),
    shell("ksh", BASH),
    shell("ksh93", BASH),
    shell("lksh", BASH),
    builtin("local", "+", Builtin::Export),
    quiet("logout"),
    builtin("mapfile", "-d -n -O -s -u -C:s -c", Builtin::Read),
    shell("mksh", BASH),
    shell("nu", "+ -c:s --commands:s"),
    shell("osh", BASH),
    shell("pdksh", BASH),
    builtin("popd", "+", Builtin::Popd),
    shell("posh", BASH),
    p("powershell", PWSH, Operation::Process, Operands::Text).dash(),
    builtin("pushd", "+ -n!", Builtin::Pushd),
    p("pwsh", PWSH, Operation::Process, Operands::Text).dash(),
    shell("rbash", BASH),
    builtin("read", "-p -d -n -N -t -u -i -a", Builtin::Read),
    builtin("readarray", "-d -n -O -s -u -C:s -c", Builtin::Read),
    builtin("readonly", "+", Builtin::Export),
    quiet("return"),
    shell("rzsh", BASH),
    builtin("set", "+ -o", Builtin::Set),
    quiet("setopt"),
    shell("sh", BASH),
    builtin("shift", "", Builtin::Shift),
    quiet("shopt"),
    builtin("source", "+", Builtin::Source),
    quiet("suspend"),
    shell("tcsh", "+ -c!"),
    quiet("times"),
    builtin("trap", "+ -l! -p!", Builtin::Trap),
    quiet("type"),
    builtin("typeset", "+", Builtin::Export),
    quiet("ulimit"),
    quiet("umask"),
    quiet("unalias"),
    builtin("unset", "+", Builtin::Unset),
    quiet("unsetopt"),
    quiet("wait"),
    quiet("whence"),
    quiet("where"),
    shell("xonsh", "+ -c!"),
    shell("yash", BASH),
    shell("zsh", BASH),
];
