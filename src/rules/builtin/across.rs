//! What one command leaves in files and a later one makes of it, in the same call or in another one of the session.

mod copies;

use super::{installs, lists, statements, texts};
use crate::domain::{Mark, Marks, Origin, Reach, join, last_name, lies_in};
use crate::rules::Invocation;
use crate::rules::matcher::{
    By, Found, Scene, code_of, contains_word, may_be, runs, runs_code, runs_input, target_of,
};
use crate::rules::trail::{MAX_STARTED, Started, is_strange, started};
use crate::shell::{Assign, Part, Word};
use copies::{copy_committed, copy_given, copy_in_code, named_in, tree_sent};

const ARCHIVERS: &[&str] = &["tar", "bsdtar", "gtar", "zip", "cpio", "git"];

const GIT: &[&str] = &["git"];

/// The mark of what came from a host that nothing is known of.
pub(super) fn strange<'v>(marks: &'v Marks, path: &str, scene: &Scene<'_>) -> Option<&'v Mark> {
    marks.source(path).filter(|mark| match &mark.origin {
        Origin::Fetched(host) => is_strange(host, scene.view.policy),
        Origin::Written | Origin::Program(_) | Origin::Environment | Origin::Settings | Origin::Secret => {
            false
        }
    })
}

fn fetched_is_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().take(MAX_STARTED).find(|inv| runs_fetched(inv, scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a command runs what came from a host that nothing is known of.
pub(in crate::rules) fn runs_fetched(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let marks = &scene.view.survey.marks;
    let mark = |path: &str| {
        let real = scene.view.facts.path(path).map(|fact| fact.real.as_str());
        strange(marks, path, scene).or_else(|| strange(marks, real?, scene))
    };
    let came = |path: &str| mark(path).is_some();
    let starts = || {
        started(inv).iter().any(|started| match started {
            Started::File(path) | Started::Package(path) => came(path) || found_came(path, scene),
            // Of a single file nothing is run because a program works in it.
            Started::In(path) => {
                mark(path).is_some_and(|mark| mark.reach != Reach::File)
                    || recipe_came(path, scene)
                    || gathered_came(inv, path, scene)
            }
            Started::Program(name) => is_own_program(marks, name, scene) || is_searched(inv, name, scene),
        })
    };
    let runs = !inv.contained
        && (starts()
            || reads_strange(inv, scene, &came)
            || loads_strange(inv, scene, &came)
            || imports_strange(inv, scene)
            || settings_strange(inv, scene, &came)
            || searches_strange(inv, scene, &came));
    runs && !installs::runs_nothing(inv, scene)
}

words!("builtin/across");

/// Names of files, by their beginnings and their ends.
type Names = &'static [(&'static str, &'static str)];

/// Files that such a program gathers from its directory and all below it, by their names: the beginning, and the end.
const GATHERED: &[(&[&str], Names)] = &[
    (&["pytest", "py.test", "nosetests", "nose2", "green", "ward"], TESTS_OF_PYTHON),
    (&["python", "python3", "tox", "nox"], TESTS_OF_PYTHON),
    (&["go"], &[("", ".go")]),
    (&["cargo"], &[("", ".rs")]),
    (
        &["jest", "vitest", "mocha", "ava", "node", "bun", "deno", "playwright", "tap", "jasmine"],
        TESTS_OF_NODE,
    ),
    (&["rspec", "rake"], &[("", "_spec.rb"), ("", "_test.rb"), ("test_", ".rb")]),
    (&["phpunit", "pest"], &[("", "Test.php")]),
    (&["terraform", "tofu"], &[("", ".tf")]),
    (&["bats"], &[("", ".bats")]),
    (&["busted"], &[("", "_spec.lua")]),
    (&["mvn", "gradle", "gradlew"], &[("", ".java"), ("", ".kt")]),
    (&["dotnet"], &[("", ".cs"), ("", ".csproj")]),
    (&["swift"], &[("", ".swift")]),
    (&["mix"], &[("", ".ex"), ("", ".exs")]),
    (&["run-parts"], &[("", "")]),
];
const TESTS_OF_PYTHON: Names = &[("test_", ".py"), ("", "_test.py"), ("conftest", ".py"), ("test", ".py")];
const TESTS_OF_NODE: Names = &[
    ("", ".test.js"),
    ("", ".test.ts"),
    ("", ".test.mjs"),
    ("", ".test.cjs"),
    ("", ".spec.js"),
    ("", ".spec.ts"),
    ("test-", ".js"),
];

/// Whether a file that a program gathers came from a host that nothing is known of.
fn gathered_came(inv: &Invocation, dir: &str, scene: &Scene<'_>) -> bool {
    let marks = &scene.view.survey.marks;
    let of = GATHERED.iter().filter(|(programs, _)| runs(inv, programs));
    let names: Vec<(&str, &str)> = of.flat_map(|(_, names)| names.iter().copied()).collect();
    !names.is_empty()
        && marks.iter().any(|mark| {
            let name = last_name(&mark.path);
            lies_in(&mark.path, dir)
                && names.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end))
                && strange(marks, &mark.path, scene).is_some()
        })
}

/// Whether such a file in a directory came from a host that nothing is known of.
fn recipe_came(dir: &str, scene: &Scene<'_>) -> bool {
    let marks = &scene.view.survey.marks;
    marks.iter().any(|mark| {
        let name = mark.path.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/'));
        let found = name.is_some_and(|name| {
            RECIPES.contains(&name)
                || !name.contains('/')
                    && [
                        ".mk",
                        ".ninja",
                        ".cmake",
                        ".gradle",
                        ".bzl",
                        ".config.js",
                        ".config.ts",
                        ".config.mjs",
                        ".config.cjs",
                    ]
                    .iter()
                    .any(|end| name.ends_with(end))
        });
        found && strange(marks, &mark.path, scene).is_some()
    })
}

/// A program that is found by its name because it was put where programs lie.
fn is_own_program(marks: &Marks, name: &str, scene: &Scene<'_>) -> bool {
    marks.iter().any(|mark| {
        let found =
            mark.path.strip_suffix(name).is_some_and(|dir| dir.ends_with("/bin/") || dir.ends_with("/sbin/"));
        found && strange(marks, &mark.path, scene).is_some()
    })
}

/// Whether such a file is one of those that a pattern finds: `find DIR -name '*.sh' -exec sh {} +`.
fn found_came(pattern: &str, scene: &Scene<'_>) -> bool {
    let Some((front, _)) = pattern.split_once('*') else { return false };
    let dir = front.rsplit_once('/').map_or("", |(dir, _)| dir);
    let last = last_name(pattern);
    let marks = &scene.view.survey.marks;
    marks.iter().any(|mark| {
        let name = last_name(&mark.path);
        lies_in(&mark.path, dir)
            && (last == "**" || may_be(last, name))
            && strange(marks, &mark.path, scene).is_some()
    })
}

/// Whether a name leads to such a file by a directory that the call puts into the search path.
fn is_searched(inv: &Invocation, name: &str, scene: &Scene<'_>) -> bool {
    let marks = &scene.view.survey.marks;
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let in_path = |dir: &str| {
        let leads = |value: &Word| spelled(value, cwd).split(':').any(|one| join(cwd, one) == dir);
        texts::holding(scene, "PATH").any(|script| {
            let mut assigns = script.commands.iter().flat_map(|simple| &simple.assigns);
            let exported = |word: &Word| {
                let text = spelled(word, cwd);
                text.strip_prefix("PATH=")
                    .is_some_and(|dirs| dirs.split(':').any(|one| join(cwd, one) == dir))
            };
            assigns.any(|assign| assign.name == "PATH" && leads(&assign.value))
                || script.commands.iter().flat_map(|simple| &simple.words).any(exported)
        })
    };
    marks.iter().any(|mark| {
        mark.path.rsplit_once('/').is_some_and(|(dir, file)| file == name && in_path(dir))
            && strange(marks, &mark.path, scene).is_some()
    })
}

/// Whether what comes to an interpreter is printed from such a file.
fn reads_strange(inv: &Invocation, scene: &Scene<'_>, came: &dyn Fn(&str) -> bool) -> bool {
    let all = scene.invocations();
    let prints = |other: &&Invocation| {
        let named = other.operands.iter().map(|arg| target_of(arg, other.cwd.as_deref()));
        named.chain(other.reads.iter().cloned()).any(|target| came(target.text()))
    };
    if runs_input(inv, By::Pipe) {
        return all
            .iter()
            .filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage)
            .any(|o| prints(&o));
    }
    let own = |other: &&Invocation| {
        other.feeds.and_then(|index| all.get(index)).is_some_and(|to| std::ptr::eq(to, inv))
    };
    runs_input(inv, By::Substitution) && all.iter().filter(own).any(|other| prints(&other))
}

/// Whether code loads a module that came from such a host, by its name.
fn imports_strange(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if !runs_code(inv) {
        return false;
    }
    let marks = &scene.view.survey.marks;
    let modules: Vec<&str> = marks
        .iter()
        .filter(|mark| strange(marks, &mark.path, scene).is_some())
        .filter_map(|mark| mark.path.rsplit('/').next())
        .filter_map(|name| match name.rsplit_once('.') {
            Some((stem, ending)) => LOADABLE.contains(&ending).then_some(stem),
            None => Some(name),
        })
        .filter(|stem| !stem.is_empty())
        .collect();
    if modules.is_empty() {
        return false;
    }
    let given = inv.flags.iter().filter_map(|flag| {
        let value = flag.value.as_ref()?.text().into_owned();
        let module = value.split('=').next().unwrap_or_default().to_owned();
        Some(format!("{} {module}", flag.name))
    });
    let attached =
        inv.args.iter().filter_map(|arg| arg.text().strip_prefix("-M").map(|name| format!("use {name}")));
    let texts: Vec<String> =
        code_of(inv, scene).map(|text| text.to_string()).chain(given).chain(attached).collect();
    texts.iter().any(|text| modules.iter().any(|module| imports(text, module)))
}

/// Ends of the names of files that are data.
fn is_data(ending: &str) -> bool {
    matches!(
        ending,
        "json" | "csv" | "tsv" | "txt" | "md" | "yml" | "yaml" | "xml" | "html" | "log" | "png" | "jpg"
    )
}

fn imports(code: &str, module: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(module).any(|(at, _)| {
        let (front, behind) =
            (code.get(..at).unwrap_or_default(), code.get(at + module.len()..).unwrap_or_default());
        if front.ends_with(inside) || behind.starts_with(inside) {
            return false;
        }
        // `import a, b`
        let line = front.rsplit(['\n', ';']).next().unwrap_or_default().trim_start();
        let front = front.trim_end_matches(['"', '\'', '(', '.', '/', ' ', ',']);
        let word = front.rsplit(|c: char| !(inside(c) || c == '-')).next().unwrap_or_default();
        IMPORTS.contains(&word) || line.starts_with("import ")
    })
}

/// Whether code runs such a file.
fn loads_strange(inv: &Invocation, scene: &Scene<'_>, came: &dyn Fn(&str) -> bool) -> bool {
    runs_code(inv)
        && code_of(inv, scene).any(|text| {
            LOADS.iter().any(|call| contains_word(&text, call)) && {
                let text = statements::around(&text, &[LOADS]);
                // `require('./a.json')` reads it, and runs nothing of it.
                let runs = || RUNS_TEXTS.iter().any(|word| contains_word(&text, word));
                named_in(&text, inv, scene).any(|path| came(&path) && (!path.ends_with(".json") || runs()))
            }
        })
}

/// Variables in which an interpreter finds the directories of its modules.
const SEARCHED: &[&str] =
    &["PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "LUA_PATH", "CLASSPATH", "GEM_PATH"];

/// Whether an interpreter is told to look for modules in such a directory.
fn searches_strange(inv: &Invocation, scene: &Scene<'_>, came: &dyn Fn(&str) -> bool) -> bool {
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let holds = |value: &str| value.split(':').filter(|dir| !dir.is_empty()).any(|dir| came(&join(cwd, dir)));
    runs_code(inv)
        && texts::holding(scene, "PATH").any(|script| {
            script.commands.iter().any(|simple| {
                let set = |assign: &Assign| {
                    SEARCHED.contains(&assign.name.as_str()) && holds(&spelled(&assign.value, cwd))
                };
                let exported = |word: &Word| {
                    let text = spelled(word, cwd);
                    text.split_once('=').is_some_and(|(name, value)| SEARCHED.contains(&name) && holds(value))
                };
                simple.assigns.iter().any(set) || simple.words.iter().any(exported)
            })
        })
}

/// Whether a variable in front of a command names such a file, or the directory of its settings with one in it.
fn settings_strange(inv: &Invocation, scene: &Scene<'_>, came: &dyn Fn(&str) -> bool) -> bool {
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let marks = &scene.view.survey.marks;
    let below = |dir: &str| {
        marks.iter().any(|mark| lies_in(&mark.path, dir) && strange(marks, &mark.path, scene).is_some())
    };
    let names = |name: &str, value: &str| {
        let path = join(cwd, value.trim_start_matches("-r ").trim_start_matches("--require "));
        let data = path.rsplit_once('.').is_some_and(|(_, ending)| is_data(ending));
        !value.is_empty() && (!data && came(&path) || SETTINGS.contains(&name) && below(&path))
    };
    let first = inv.text.split_whitespace().next().unwrap_or_default();
    let front = inv.text.split_whitespace().take_while(|word| word.contains('=') && !word.starts_with('-'));
    first.contains('=')
        && front
            .filter_map(|word| word.split_once('='))
            .any(|(name, value)| names(name, &value.trim_matches(['"', '\'']).replace("$PWD", cwd)))
}

/// A word with the working directory put in for its variable.
fn spelled(word: &Word, cwd: &str) -> String {
    let mut out = String::new();
    for part in &word.parts {
        match part {
            Part::Text { text, .. } => out.push_str(text),
            Part::Variable { name, .. } if name == "PWD" => out.push_str(cwd),
            Part::Variable { .. }
            | Part::Substitution { .. }
            | Part::Process { .. }
            | Part::Arithmetic(_) => {}
        }
    }
    out
}
