//! Which files a command starts: scripts, programs, recipes, whole packages.

use crate::domain::join;
use crate::rules::builtin::downloads::INSTALLERS;
use crate::rules::builtin::lists;
use crate::rules::facts::MAKEFILES;
use crate::rules::facts::words::C_COMPILERS;
use crate::rules::matcher::{flag_value, has_flag, runs, runs_code, runs_shell, target_of};
use crate::rules::survey::only_checks;
use crate::rules::{Invocation, Stdin, modules};
use crate::shell::Arg;

/// What a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rules) enum Started {
    /// The file at this path.
    File(String),
    /// A program that is found by its name.
    Program(String),
    /// What the files in this directory say.
    In(String),
    /// A package from a file.
    Package(String),
}

words!("trail/run");

/// Whether a module that comes with the interpreter, and runs no file, is given the operands.
pub(in crate::rules) fn runs_standard_module(inv: &Invocation) -> bool {
    flag_value(inv, &["-m"]).is_some_and(|module| STANDARD.contains(&module.prefix()))
}

const MAX_WORDS: usize = 64;

/// The files that a program does what they say, by its options or words, and in commands of its own language.
pub(in crate::rules) fn named_by(inv: &Invocation) -> Vec<Arg> {
    let of = BY_OPTION.iter().filter(|(programs, _)| programs.contains(&inv.program.as_str()));
    let options: Vec<&str> = of.flat_map(|(_, options)| options.iter().copied()).collect();
    let by_option = inv.flags.iter().filter(|flag| options.contains(&flag.name.as_str()));
    let mut out: Vec<Arg> = by_option.filter_map(|flag| flag.value.clone()).collect();
    if runs(inv, BY_WORD) {
        out.extend(inv.operands.iter().cloned());
    }
    for front in ["-javaagent:", "-agentpath:", "auto_prepend_file=", "auto_append_file=", "extension="] {
        // What stands behind a `=` is given to the code.
        let file = |text: &'_ str| text.split('=').next().unwrap_or_default().to_owned();
        let behind = inv.args.iter().filter_map(|arg| arg.known()?.strip_prefix(front).map(file));
        out.extend(
            behind.filter(|_| runs_code(inv) || inv.program == "java").map(|file| Arg::literal(&file)),
        );
    }
    // What any program loads by such an option, a name in front of it or not: `--plugin=NAME=PATH`.
    let loaded = |arg: &Arg| {
        let (name, value) = arg.known()?.strip_prefix("--")?.split_once('=')?;
        LOADING.contains(&name).then(|| Arg::literal(value.rsplit('=').next().unwrap_or(value)))
    };
    out.extend(inv.args.iter().filter_map(loaded));
    let behind = inv.args.iter().zip(inv.args.iter().skip(1)).filter(|(flag, _)| {
        flag.known().and_then(|flag| flag.strip_prefix("--")).is_some_and(|name| LOADING.contains(&name))
    });
    out.extend(behind.map(|(_, value)| value.clone()));
    const SAYING: &[&str] =
        &[".read", ".load", "source", "source-file", "so", "\\i", "runtime", "luafile", "pyfile", "rubyfile"];
    for arg in inv.args.iter().filter(|arg| arg.prefix().contains(' ')) {
        let text = arg.text();
        let mut words = text.split([' ', ';', '\n']);
        if words.next().is_some_and(|word| SAYING.contains(&word.trim_start_matches(':'))) {
            out.extend(words.next().map(Arg::literal));
        }
    }
    if runs(inv, &["make", "gmake", "bmake", "cmake", "ninja", "meson"]) {
        // `make CC=./x`
        let values = inv.args.iter().filter_map(|arg| Some(arg.known()?.split_once('=')?.1));
        out.extend(values.filter(|value| value.contains('/')).map(Arg::literal));
    }
    if runs(inv, BY_TEXT) {
        // What is typed, or stands in a script of their own language.
        let typed = match &inv.stdin {
            Stdin::Text(text) => Some(text.to_text()),
            Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => None,
        };
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).chain(typed).collect();
        let words =
            texts.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "\"'{}[];".contains(c)));
        out.extend(words.filter(|word| word.contains('/')).take(MAX_WORDS).map(Arg::literal));
    }
    if runs(inv, C_COMPILERS) {
        // `@file` holds options, a plugin is loaded, and what begins with that path is run in the place of its own parts.
        let behind = |arg: &Arg| {
            let text = arg.known()?;
            ["@", "-fplugin=", "-specs=", "--specs=", "-B"]
                .iter()
                .find_map(|front| text.strip_prefix(front))
                .map(Arg::literal)
        };
        out.extend(inv.args.iter().filter_map(behind));
    }
    if inv.program == "tmux" && inv.args.iter().any(|arg| arg.known() == Some("source-file")) {
        out.extend(inv.operands.iter().cloned());
    }
    out
}

/// What a command starts.
pub(in crate::rules) fn started(inv: &Invocation) -> Vec<Started> {
    let cwd = inv.cwd.as_deref();
    let path = |arg: &Arg| target_of(arg, cwd).text().to_owned();
    let word = inv.word.text();
    let mut out = Vec::new();
    if word.contains('/') {
        out.push(Started::File(path(&inv.word)));
    } else if !word.is_empty() {
        out.push(Started::Program(word.into_owned()));
    }
    let interprets = runs_code(inv);
    // `bun -c FILE` is a setting.
    let given_code = interprets && ["-e", "--eval", "-p", "--print"].iter().any(|flag| has_flag(inv, flag));
    let in_shell = runs_shell(inv) || runs(inv, lists::RUN_IN_SHELL);
    let coded = has_flag(inv, "-c") || has_flag(inv, "-e") || has_flag(inv, "-m");
    if (interprets || in_shell) && !only_checks(&inv.program, &inv.args) {
        if !coded {
            out.extend(inv.operands.first().map(|arg| Started::File(path(arg))));
        }
        // A module is sought in the directory first.
        if flag_value(inv, &["-m"]).is_some_and(|module| !STANDARD.contains(&module.prefix())) {
            out.extend(inv.cwd.clone().map(Started::In));
        }
        out.extend(flag_value(inv, &["-r", "--require", "-f"]).map(|arg| Started::File(path(arg))));
    }
    out.extend(named_by(inv).iter().map(|arg| Started::File(path(arg))));
    if interprets && coded && flag_value(inv, &["-m"]).is_some() && !runs_standard_module(inv) {
        out.extend(inv.operands.iter().map(|arg| Started::File(path(arg))));
    }
    if interprets && has_flag(inv, "--test") {
        out.extend(inv.cwd.clone().map(Started::In));
    }
    if interprets && !runs_standard_module(inv) {
        // A directory is run by the module in it that is named so, a module out of its own.
        out.extend(
            inv.operands.first().filter(|_| !coded).map(|arg| Started::File(join(&path(arg), "__main__.py"))),
        );
        out.extend(modules::module_of(inv).into_iter().map(Started::File));
    }
    if inv.program == "java" {
        out.extend(inv.operands.iter().chain(flag_value(inv, &["-jar"])).map(|arg| Started::File(path(arg))));
    }
    if !given_code && runs(inv, &["deno", "bun", "tsx", "ts-node", "go", "crontab", "at", "batch", "expect"])
    {
        let files = inv.operands.iter().chain(flag_value(inv, &["-f"]));
        out.extend(files.map(|arg| Started::File(path(arg))));
    }
    if (interprets || in_shell) && !only_checks(&inv.program, &inv.args) || runs(inv, BY_INPUT) {
        out.extend(inv.reads.iter().map(|target| Started::File(target.text().to_owned())));
    }
    if inv.program == "run-parts" {
        out.extend(inv.operands.iter().map(|arg| Started::In(path(arg))));
    }
    if runs(inv, INSTALLERS) {
        let given = inv.operands.iter().chain(inv.flags.iter().filter_map(|flag| flag.value.as_ref()));
        out.extend(given.map(|arg| Started::Package(path(arg))));
    }
    if BUILDERS.contains(&inv.program.as_str()) && !is_harmless(inv) {
        // Some change into it first.
        out.extend(
            flag_value(inv, DIRECTORIES).map(path).into_iter().chain(inv.cwd.clone()).map(Started::In),
        );
        if OF_OPERANDS.contains(&inv.program.as_str()) {
            out.extend(inv.operands.iter().map(|arg| Started::In(path(arg))));
        }
    }
    out
}

fn is_harmless(inv: &Invocation) -> bool {
    let first = inv.sub.first().map(String::as_str).or_else(|| inv.args.first().and_then(Arg::known));
    first.is_some_and(|word| HARMLESS.contains(&word) || matches!(word, "--version" | "-v" | "-V" | "-n"))
}

/// The files of commands that a program looks for in its directory.
pub(super) fn recipes(inv: &Invocation) -> Vec<String> {
    let names: &[&str] = match inv.program.as_str() {
        "make" | "gmake" | "bmake" => MAKEFILES,
        "just" => &["justfile", "Justfile", ".justfile"],
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" | "yarnpkg" => &["package.json"],
        _ => return Vec::new(),
    };
    let given = flag_value(inv, &["-f", "--file", "--makefile", "--justfile"]);
    let cwd = inv.cwd.as_deref();
    match given {
        Some(file) => vec![target_of(file, cwd).text().to_owned()],
        None => names.iter().map(|name| target_of(&Arg::literal(name), cwd).text().to_owned()).collect(),
    }
}
