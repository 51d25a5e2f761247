//! Code that deletes or empties.

use super::calls::deleted;
use super::shell_text::shell;
use super::{CODE, MAX_LITERALS, interpreters, is_old_script, texts};
use crate::domain::{EffectKind, Severity, Target, Verdict, join};
use crate::rules::Invocation;
use crate::rules::builtin::files::WIDE;
use crate::rules::builtin::{code_paths, libraries, predicate, scripts, statements, undone};
use crate::rules::matcher::{
    Class, Found, Instead, RULE, Rule, Scene, Trigger, classify, contains_word, inner_verdict, runs,
};
use crate::shell::Arg;
use std::cell::LazyCell;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
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
            predicate("code_deletes_by_a_call", Trigger::INTERPRETER, deletes_by_call),
        ],
        ..RULE
    },
    Rule {
        id: "code.deletes-computed",
        verdict: Verdict::Modify,
        reason: "has an interpreter delete a directory whose name is put together when it runs",
        instead: Some(Instead::Advice("delete the one directory that is meant, by its name")),
        when: &[predicate("code_deletes_what_it_computes", Trigger::INTERPRETER, code_deletes_computed)],
        ..RULE
    },
];

words!("builtin/code/deletes");

/// Calls that leave a file with nothing in it.
pub(super) const EMPTIES_ONE: &[&str] =
    &["write_text('')", "write_text(\"\")", "'w').close()", "\"w\").close()", "truncate("];

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
            false => classes.any(LOST_ONE) || all_in_a_place(text) && classes.has(Class::Outside),
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
            let literals = || {
                undone::with_inner(code_paths::strings(&text)).into_iter().chain(scripts::run_quotes(&text))
            };
            let found = one && literals().take(MAX_LITERALS).any(|literal| lost(inv, &literal, tree))
                || *walks && walked(&whole, inv.cwd.as_deref()).iter().any(|root| lost(inv, root, true));
            let keeps = || scene.account(&inv.program, &whole).is_some_and(|account| account.takes_nothing());
            found && !keeps()
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code of the call itself whose calls, as they are read, delete what a command of the shell may not.
fn deletes_by_call<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = interpreters(scene).filter(|inv| !is_old_script(inv, scene)).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let blocked = |command: String| inner_verdict(scene, &shell(command), cwd) == Verdict::Block;
        texts(inv, scene).any(|text| deleted(inv, &text, scene).into_iter().take(MAX_LITERALS).any(blocked))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `~/photos/*`: a pattern for every file of a directory, where none keeps what is made again.
fn all_in_a_place(text: &str) -> bool {
    let dir = text.strip_suffix("/*").or_else(|| text.strip_suffix("/*.*"));
    dir.is_some_and(|dir| !["cache", "Cache", "/tmp", "/log"].iter().any(|part| dir.contains(part)))
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
    let firsts = behind.chain(front).filter_map(|text| code_paths::strings(text).into_iter().next());
    firsts.filter(deep).collect()
}

/// Code of the call itself that goes through everything in the directory and deletes or empties it.
fn code_empties<'a>(scene: &Scene<'a>) -> Found<'a> {
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
            whole || any(GOES_THROUGH_ALL) && any(GONE) && !picks
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
