//! Interpreters of languages, editors that run scripts, and compilers that are given code.

use super::{Kind, Operands, Operation, Program, Sub, p, s, t};

const PYTHON: &str = "+ -c -m -W -X -Q --check-hash-based-pycs -V! -u! -B! -I! -s! -S! -O! -E! -i!";
const NODE: &str = "+ -e --eval -p --print -r --require --import --loader --experimental-loader -C --conditions --env-file:r \
    --max-old-space-size --inspect? --inspect-brk? --test! --watch! --check! -c! -i! -v!";
const PERL: &str =
    "+ -e -E -I -m? -M? -F? -i? -l? -0? -x? -D? -C? -d? -n! -p! -a! -w! -W! -T! -t! -s! -S! -u! -U! -c! -v!";
const RUBY: &str = "+ -e -I -r -C:d -E -K? -i? -x? -W? -F? -0? -T? -n! -p! -a! -l! -w! -c! -s! -S! -v!";
const PHP: &str = "+ -r -f:r -c -d -B -R -E -F -S -t -z -a! -i! -l! -m! -n! -q! -s! -v! -w!";

#[rustfmt::skip]
const DENO: &[Sub] = &[
    s("run serve", "+ --allow-read? --allow-write? --allow-net? --allow-run? --allow-env? -A! --config:r --import-map:r", Operation::Process, Operands::Text),
    t("test bench check lint compile doc info repl task coverage bundle jupyter types upgrade", Operation::Process),
    t("eval", Operation::Process),
    s("fmt", "--check!", Operation::Change, Operands::Text),
    t("cache add install remove uninstall outdated publish vendor init", Operation::Install),
];

#[rustfmt::skip]
const JULIA: &str = "+ -e --eval -E --print -p -t --threads --project? -J -L -C -O? -q! -i!";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    code("Invoke-Expression", "+ -Command"),
    code("R", "-e -f:r --file:r --args"),
    code("Rscript", "+ -e --default-packages"),
    code("babel-node", NODE),
    code("bb", "-e -m -f"),
    code("bsh", "+"),
    code("clj", "-e -m -M? -X? -A?"),
    code("clojure", "-e -m -M? -X? -A?"),
    code("crystal", ""),
    code("dart", "+"),
    p("deno", "", Operation::Process, Operands::Text).subs("", DENO),
    code("ed", "-p -s!").operands(Operands::Modify),
    code("elixir", "+ -e -r -S -pa"),
    code("emacs", "--eval -l --load -f --funcall --batch! --script:r").operands(Operands::Modify),
    code("emacsclient", "-e --eval -a -s -f").operands(Operands::Modify),
    code("erl", "-eval -s -noshell!"),
    code("escript", "+"),
    code("esno", NODE),
    code("ex", "-c --cmd -S:r -u:r -w:w -s!").operands(Operands::Modify),
    code("ghc", "-e -o -O? -i? -I? -package"),
    code("ghci", "-e"),
    code("gnuplot", "+ -e"),
    code("groovy", "+ -e -cp"),
    code("guile", "+ -c -e -l -s"),
    code("hx", "-c").operands(Operands::Modify),
    code("iex", "+ -e -r -S"),
    code("invoke-expression", "+ -Command"),
    code("ipython", PYTHON),
    code("irb", "+ -r -I"),
    code("java", "+ -cp -classpath --class-path -jar -m -p --module-path -agentlib -javaagent --add-opens --add-modules").kind(Kind::Dash),
    code("jjs", "+ -cp -scripting! -fx!"),
    code("jruby", RUBY),
    code("jruby-complete", "+"),
    code("jrunscript", "+ -e -f:r -l -cp -classpath -q!"),
    code("jshell", "-"),
    code("julia", JULIA),
    code("kak", "-e -E").operands(Operands::Modify),
    code("kotlin", "+ -e -cp -classpath"),
    code("lua", "+ -e -l -i! -v!"),
    code("luajit", "+ -e -l -j? -O? -i!"),
    code("micro", "").operands(Operands::Modify),
    code("micropython", PYTHON),
    code("nano", "-o -r -s -T").operands(Operands::Modify),
    code("nim", "+"),
    code("node", NODE),
    code("nodejs", NODE),
    code("nvim", "-c --cmd -S:r -l:r -u:r -w:w -W:w -i -s:r").operands(Operands::Modify),
    code("ocaml", "+ -e -I"),
    code("octave", "+ --eval -e"),
    code("osascript", "+ -e -l -s"),
    code("perl", PERL),
    code("perl5", PERL),
    code("php", PHP),
    code("pico", "").operands(Operands::Modify),
    code("py", PYTHON),
    code("pypy", PYTHON),
    code("pypy3", PYTHON),
    code("python", PYTHON),
    code("python2", PYTHON),
    code("python3", PYTHON),
    code("qemu-x86_64", "+"),
    code("qjs", "+ -e"),
    code("racket", "+ -e -f -l -t -r"),
    code("raku", "+ -e -n! -p! -I -M"),
    code("ruby", RUBY),
    code("runghc", "+"),
    code("runhaskell", "+"),
    code("sbcl", "+ --eval --load --script"),
    code("scala", "+ -e -cp"),
    code("sqlite-utils", ""),
    code("swipl", "+ -g -t -s"),
    code("tclsh", "+"),
    code("ts-node", NODE),
    code("tsx", NODE),
    code("vi", "-c --cmd -S:r -u:r -w:w -W:w -i -s:r").operands(Operands::Modify),
    code("vim", "-c --cmd -S:r -u:r -w:w -W:w -i -s:r -T -r!").operands(Operands::Modify),
    code("wasmer", "+ --dir --env"),
    code("wasmtime", "+ --dir --env"),
    code("wish", "+"),
];

const fn code(name: &'static str, options: &'static str) -> Program {
    p(name, options, Operation::Process, Operands::Text).kind(Kind::Interpreter)
}

impl Program {
    const fn operands(self, operands: Operands) -> Program {
        Program { operands, ..self }
    }
}
