//! Variables of the environment that programs obey: which of them run a command, add options, hold code, or name code to be loaded.
//! From the programs' own manuals, each of which has a section on its environment; sorted by what is done, then by name.

use crate::domain::Among;

/// What is done with the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Obeys {
    /// It is run as a command line.
    Runs,
    /// Its words are read in front of the arguments of these programs.
    Options(&'static [&'static str]),
    /// It is code, as this program runs it with this option.
    Code(&'static str, &'static str),
    /// It names what is loaded and run, or what says what is: a library, a module, a file of settings.
    Loads,
    /// It names a file that is written; a number or a word is a switch.
    Writes,
    /// These programs put what they install there, below it in a directory of that name.
    Into(&'static [&'static str], &'static str),
}

/// A variable; a `*` in its name stands for any letters.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Variable {
    pub name: &'static str,
    pub obeys: Obeys,
}

const fn runs(name: &'static str) -> Variable {
    Variable { name, obeys: Obeys::Runs }
}

const fn options(name: &'static str, programs: &'static [&'static str]) -> Variable {
    Variable { name, obeys: Obeys::Options(programs) }
}

const fn code(name: &'static str, program: &'static str, flag: &'static str) -> Variable {
    Variable { name, obeys: Obeys::Code(program, flag) }
}

const fn loads(name: &'static str) -> Variable {
    Variable { name, obeys: Obeys::Loads }
}

const fn writes(name: &'static str) -> Variable {
    Variable { name, obeys: Obeys::Writes }
}

const fn into(name: &'static str, programs: &'static [&'static str], below: &'static str) -> Variable {
    Variable { name, obeys: Obeys::Into(programs, below) }
}

const ERLANG: &[&str] = &["erl", "elixir", "iex", "mix", "rebar3"];
const PIPS: &[&str] = &["pip", "pip3", "python", "python3", "uv"];
const TAR: &[&str] = &["tar", "gtar"];
const XZ: &[&str] = &["xz", "unxz", "xzcat", "lzma"];

/// Programs that start what a variable names with their own operands, in the place of a `%s` or behind it: xdg-open(1), Debian's
/// sensible-utils(1), Python's webbrowser, gh's and man's own pages.
const OPENERS: &[(&[&str], &[&str])] = &[
    (
        &["BROWSER"],
        &["gh", "open", "python", "python3", "sensible-browser", "www-browser", "x-www-browser", "xdg-open"],
    ),
    (&["EDITOR", "VISUAL", "SUDO_EDITOR"], &["editor", "sensible-editor", "sudoedit", "vipe", "visudo"]),
    (&["LESSOPEN"], &["less", "zless"]),
    (&["PAGER"], &["pager", "sensible-pager"]),
];

/// Variables that name directories in which programs seek parts of themselves: the manual of gcc, its section on the environment.
const SEEKERS: &[(&[&str], &[&str], &[&str])] = &[(
    &["COMPILER_PATH", "GCC_EXEC_PREFIX"],
    &["gcc", "g++", "cc", "c++"],
    &["as", "ld", "collect2", "cc1", "cc1plus", "cpp", "lto1", "lto-wrapper"],
)];

/// The variables that name what a program starts with its own operands.
pub(in crate::rules) fn opening(program: &str) -> impl Iterator<Item = &'static str> {
    let of = OPENERS.iter().filter(move |(_, programs)| programs.contains(&program));
    of.flat_map(|(variables, _)| variables.iter().copied())
}

/// The variables by which a program seeks parts of itself, and what these are called.
pub(in crate::rules) fn seeking(program: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    let of = SEEKERS.iter().find(|(_, programs, _)| programs.contains(&program));
    of.map(|(variables, _, parts)| (*variables, *parts))
}

/// Those whose words are options, apart: each command of a call asks for them.
const OPTIONS: &[Variable] = &[
    options("ACK_OPTIONS", &["ack"]),
    options("BZIP", &["bzip2", "bunzip2", "bzcat"]),
    options("BZIP2", &["bzip2", "bunzip2", "bzcat"]),
    options("ELIXIR_ERL_OPTIONS", ERLANG),
    options("ERL_AFLAGS", ERLANG),
    options("ERL_FLAGS", ERLANG),
    options("ERL_ZFLAGS", ERLANG),
    options("FZF_DEFAULT_OPTS", &["fzf"]),
    options("GNUMAKEFLAGS", &["make", "gmake"]),
    options("GREP_OPTIONS", &["grep", "egrep", "fgrep"]),
    options("GZIP", &["gzip", "gunzip", "zcat"]),
    options("LESS", &["less"]),
    options("MAKEFLAGS", &["make", "gmake"]),
    options("MANOPT", &["man"]),
    options("PYTEST_ADDOPTS", &["pytest", "py.test"]),
    options("TAR_OPTIONS", TAR),
    options("TF_CLI_ARGS*", &["terraform", "tofu"]),
    options("UNZIP", &["unzip"]),
    options("UNZIPOPT", &["unzip"]),
    options("XZ_DEFAULTS", XZ),
    options("XZ_OPT", XZ),
    options("ZIPOPT", &["zip"]),
];

/// Who reads those.
static READERS: Among = readers(OPTIONS, Among::NONE);

const fn readers(mut table: &[Variable], mut all: Among) -> Among {
    while let Some((one, rest)) = table.split_first() {
        if let Obeys::Options(programs) = one.obeys {
            all = all.with(programs);
        }
        table = rest;
    }
    all
}

const VARIABLES: &[Variable] = &[
    runs("AWS_PAGER"),
    runs("BAT_PAGER"),
    runs("BROWSER"),
    runs("BUNDLER_EDITOR"),
    runs("CARGO_BUILD_RUSTC"),
    runs("CARGO_TARGET_*_LINKER"),
    runs("CARGO_TARGET_*_RUNNER"),
    runs("CMAKE_*_COMPILER_LAUNCHER"),
    runs("CVSEDITOR"),
    runs("CVS_RSH"),
    runs("DELTA_PAGER"),
    runs("EDITOR"),
    runs("FCEDIT"),
    runs("FZF_*_COMMAND"),
    runs("GH_BROWSER"),
    runs("GH_EDITOR"),
    runs("GH_PAGER"),
    runs("GIT_ASKPASS"),
    runs("GIT_EDITOR"),
    runs("GIT_EXTERNAL_DIFF"),
    runs("GIT_PAGER"),
    runs("GIT_PROXY_COMMAND"),
    runs("GIT_SEQUENCE_EDITOR"),
    runs("GIT_SSH"),
    runs("GIT_SSH_COMMAND"),
    runs("HGEDITOR"),
    runs("HOMEBREW_EDITOR"),
    runs("JJ_EDITOR"),
    runs("KUBE_EDITOR"),
    runs("LESSCLOSE"),
    runs("LESSEDIT"),
    runs("LESSOPEN"),
    runs("MANPAGER"),
    runs("MOST_EDITOR"),
    runs("PAGER"),
    runs("PERL5SHELL"),
    runs("PROMPT_COMMAND"),
    runs("PSQL_EDITOR"),
    runs("PSQL_PAGER"),
    runs("RSYNC_CONNECT_PROG"),
    runs("RSYNC_RSH"),
    runs("RUBYSHELL"),
    runs("RUSTC"),
    runs("RUSTDOC"),
    runs("SSH_ASKPASS"),
    runs("SUDO_ASKPASS"),
    runs("SUDO_EDITOR"),
    runs("SVN_EDITOR"),
    runs("SVN_SSH"),
    runs("SYSTEMD_EDITOR"),
    runs("SYSTEMD_PAGER"),
    runs("VISUAL"),
    code("EXINIT", "vim", "-c"),
    code("LUA_INIT*", "lua", "-e"),
    code("PERL5DB", "perl", "-e"),
    code("VIMINIT", "vim", "-c"),
    loads("AWKLIBPATH"),
    loads("BASH_ENV"),
    loads("BASH_LOADABLES_PATH"),
    loads("CARGO_BUILD_RUSTC_WRAPPER"),
    loads("DYLD_INSERT_LIBRARIES"),
    loads("ENV"),
    loads("GCONV_PATH"),
    loads("GIT_ASKPASS"),
    loads("GIT_CONFIG_COUNT"),
    loads("GIT_CONFIG_GLOBAL"),
    loads("GIT_CONFIG_PARAMETERS"),
    loads("GIT_CONFIG_SYSTEM"),
    loads("GIT_EXEC_PATH"),
    loads("GIT_EXTERNAL_DIFF"),
    loads("GIT_PROXY_COMMAND"),
    loads("GIT_SSH"),
    loads("GIT_SSH_COMMAND"),
    loads("GIT_TEMPLATE_DIR"),
    loads("GOFLAGS"),
    loads("GRADLE_OPTS"),
    loads("HGRCPATH"),
    loads("JAVA_OPTS"),
    loads("JAVA_TOOL_OPTIONS"),
    loads("JDK_JAVA_OPTIONS"),
    loads("LD_AUDIT"),
    loads("LD_PRELOAD"),
    loads("LESSOPEN"),
    loads("LUA_INIT*"),
    loads("MAKEFILES"),
    loads("MAVEN_OPTS"),
    loads("NODE_OPTIONS"),
    loads("NODE_REPL_EXTERNAL_MODULE"),
    loads("OPENSSL_CONF"),
    loads("OPENSSL_ENGINES"),
    loads("OPENSSL_MODULES"),
    loads("PATH"),
    loads("PERL5DB"),
    loads("PERL5OPT"),
    loads("PROMPT_COMMAND"),
    loads("PSQLRC"),
    loads("PYTHONBREAKPOINT"),
    loads("PYTHONSTARTUP"),
    loads("RUBYOPT"),
    loads("RUSTC_WORKSPACE_WRAPPER"),
    loads("RUSTC_WRAPPER"),
    loads("SBT_OPTS"),
    loads("SSH_ASKPASS"),
    loads("SUDO_ASKPASS"),
    loads("ZDOTDIR"),
    loads("_JAVA_OPTIONS"),
    writes("ANSIBLE_LOG_PATH"),
    writes("COVERAGE_FILE"),
    writes("DEPENDENCIES_OUTPUT"),
    writes("GIT_TRACE*"),
    writes("HISTFILE"),
    writes("LESSHISTFILE"),
    writes("LLVM_PROFILE_FILE"),
    writes("MALLOC_TRACE"),
    writes("MYSQL_HISTFILE"),
    writes("NODE_REPL_HISTORY"),
    writes("PSQL_HISTORY"),
    writes("PYTHON_HISTORY"),
    writes("SQLITE_HISTORY"),
    writes("SSLKEYLOGFILE"),
    writes("SUNPRO_DEPENDENCIES"),
    writes("TF_LOG_PATH"),
    into("BUN_INSTALL", &["bun"], "bin"),
    into("CARGO_HOME", &["cargo"], "bin"),
    into("CARGO_INSTALL_ROOT", &["cargo"], "bin"),
    into("COMPOSER_BIN_DIR", &["composer"], ""),
    into("COMPOSER_HOME", &["composer"], "vendor/bin"),
    into("DENO_INSTALL_ROOT", &["deno"], "bin"),
    into("GEM_HOME", &["gem", "bundle"], "bin"),
    into("GOBIN", &["go"], ""),
    into("GOPATH", &["go"], "bin"),
    into("PIPX_BIN_DIR", &["pipx"], ""),
    into("PYTHONUSERBASE", PIPS, "bin"),
    into("UV_TOOL_BIN_DIR", &["uv", "uvx"], ""),
];

impl Variable {
    /// The beginning of its name, in front of any letters.
    pub fn front(&self) -> &'static str {
        self.name.split('*').next().unwrap_or_default()
    }

    pub fn is(&self, name: &str) -> bool {
        match self.name.split_once('*') {
            Some((front, end)) => {
                name.strip_prefix(front).is_some_and(|rest| rest.ends_with(end) && rest.len() >= end.len())
            }
            None => self.name == name,
        }
    }
}

/// What programs do with a variable of that name.
pub(in crate::rules) fn obeyed(name: &str) -> impl Iterator<Item = Obeys> {
    VARIABLES.iter().chain(OPTIONS).filter(move |variable| variable.is(name)).map(|variable| variable.obeys)
}

/// The variables that name what is loaded.
pub(in crate::rules) fn loaders() -> impl Iterator<Item = &'static Variable> {
    VARIABLES.iter().filter(|variable| variable.obeys == Obeys::Loads)
}

/// The file that a variable with that value has programs load, behind the command line that runs it.
pub(in crate::rules) fn loaded_file<'v>(name: &str, value: &'v str) -> Option<(&'static str, &'v str)> {
    match name {
        "BASH_ENV" | "ENV" => Some((".", value)),
        "PYTHONSTARTUP" => Some(("python3", value)),
        "NODE_OPTIONS" => Some(("node", required(value)?)),
        _ if name.starts_with("LUA_INIT") => Some(("lua", value.strip_prefix('@')?)),
        _ => None,
    }
}

/// The one file that options of node have it load, where that is named by its path.
fn required(options: &str) -> Option<&str> {
    let mut words = options.split_ascii_whitespace();
    let mut file = None;
    while let Some(word) = words.next() {
        let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
        match flag {
            "--require" | "-r" | "--import" => {
                let path = value.or_else(|| words.next()).filter(|path| path.starts_with(['.', '/']))?;
                if file.replace(path).is_some() {
                    return None;
                }
            }
            "--no-warnings" | "--enable-source-maps" | "--trace-warnings" | "--max-old-space-size" => {}
            _ => return None,
        }
    }
    file
}

/// The variables whose words a program reads in front of its arguments.
pub(in crate::rules) fn giving_options(program: &str) -> impl Iterator<Item = &'static Variable> {
    let obeyed =
        move |one: &&Variable| matches!(one.obeys, Obeys::Options(programs) if programs.contains(&program));
    if READERS.may_have(program) { OPTIONS } else { &[] }.iter().filter(obeyed)
}

/// The variables that say where a program puts what it installs, and the directory below.
pub(in crate::rules) fn installing(program: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    VARIABLES.iter().filter_map(move |variable| match variable.obeys {
        Obeys::Into(programs, below) => programs.contains(&program).then_some((variable.name, below)),
        Obeys::Runs | Obeys::Code(..) | Obeys::Loads | Obeys::Writes | Obeys::Options(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_once_in_its_order() {
        let kind = |obeys: Obeys| match obeys {
            Obeys::Runs => 0,
            Obeys::Options(_) => 1,
            Obeys::Code(..) => 2,
            Obeys::Loads => 3,
            Obeys::Writes => 4,
            Obeys::Into(..) => 5,
        };
        for (table, options) in [(VARIABLES, false), (OPTIONS, true)] {
            let keys: Vec<(i32, &str)> = table.iter().map(|one| (kind(one.obeys), one.name)).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
            assert!(keys.iter().all(|(kind, _)| (*kind == 1) == options), "{keys:?}");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(obeyed("CARGO_TARGET_X86_64_RUNNER").any(|obeys| obeys == Obeys::Runs));
        assert!(obeyed("LUA_INIT").any(|obeys| obeys == Obeys::Code("lua", "-e")));
        assert!(obeyed("LUA_INIT_5_4").any(|obeys| obeys == Obeys::Code("lua", "-e")));
        assert_eq!(obeyed("CARGO_TARGET_DIR").count(), 0);
        assert_eq!(obeyed("FOO").count(), 0);
    }
}
