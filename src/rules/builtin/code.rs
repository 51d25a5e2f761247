//! Code in other languages: what it deletes by itself, and the commands that it starts.

pub(super) mod calls;
pub(super) mod changes;
pub(super) mod deletes;
pub(super) mod homes;
pub(super) mod loses;
mod options;
pub(super) mod runs;
pub(super) mod shell_text;
mod told;

use self::calls::written_elsewhere;
use self::shell_text::shell;
use super::texts::front as texts_front;
use super::{folding, libraries, placed, scripts, statements};
use crate::domain::{Action, Target, Tool, ToolCall, Verdict, join, single_quoted};
use crate::rules::foreign::only_substitutes;
use crate::rules::matcher::{
    Found, Scene, Trigger, code_of, contains_word, content, inner_verdict, input_of, is_bare_name,
    rebuilt_verdict, runs, runs_code, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/code");

/// Most strings of one text of code that are looked at.
pub(super) const MAX_LITERALS: usize = 64;

const POWERSHELL: &[&str] = &["pwsh", "powershell"];

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
    scene.written_out(inv, || {
        let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
        let is_perl = runs(inv, &["perl"]);
        let code = code_of(inv, scene).filter(|text| !is_bare_name(text));
        let code = code.filter(|text| !(is_perl && only_substitutes(text)));
        code.map(|text| scripts::with_home(&text, home)).collect()
    })
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

/// Code that copies, moves or unpacks as a command of the shell may not.
fn places_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let placed = |text: String| placed::placed(&text);
        texts(inv, scene).flat_map(placed).take(MAX_LITERALS).any(|placed| {
            placed.to.starts_with(['/', '~']) && inner_verdict(scene, &shell(placed.command()), cwd) >= least
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn writes_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
        texts(inv, scene).any(|text| {
            let files = scripts::written(&text).into_iter().chain(written_elsewhere(inv, &text, scene));
            { files }.take(MAX_LITERALS).any(|file| {
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

fn decoded_code_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = interpreters(scene).find(|inv| {
        // `… | python3 -c 'json.load(sys.stdin)'`: what comes in is data there.
        let said = inv.args.iter().map(Arg::text).filter(|text| !is_bare_name(text)).any(|text| {
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

fn encoded_powershell(inv: &Invocation) -> bool {
    // It may be shortened to any length.
    let is_encoded = |text: &str| text.len() > 1 && ("-encodedcommand".starts_with(text) || text == "-ec");
    inv.args.iter().any(|arg| is_encoded(&arg.prefix().to_ascii_lowercase()))
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
    let language = folding::Language::of(&inv.program)?;
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let plain = |code: &str| {
        let given = with_given(&with_operands(code, inv), inv, scene);
        let out = folding::folded(&scripts::with_home(&given, home), language);
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
            format!("$argv[{}]", at + 1),
            format!("ARGV[{at}]"),
        ];
        for name in names {
            out = out.replace(&name, value);
        }
    }
    if !given.is_empty() {
        let all = given.join(",");
        out = out.replace("\"@ARGV\"", &format!("join(' ',{all})")).replace("@ARGV", &all);
        out = out.replace("*ARGV", &all).replace("sys.argv[1:]", &format!("[{all}]"));
    }
    out
}

/// Code with the values of variables that stand in front of its command, and of files that the call itself writes, in the place of
/// what reads them.
fn with_given(code: &str, inv: &Invocation, scene: &Scene<'_>) -> String {
    let mut out = code.to_owned();
    if code.contains("env") || code.contains("ENV") {
        let script = crate::shell::parse(&inv.text);
        let first = script.commands.first().map_or(&[][..], |simple| &simple.assigns);
        for assign in first.iter().take(MAX_LITERALS) {
            let value = single_quoted(&texts_front(&assign.value));
            let name = &assign.name;
            for quote in ["'", "\""] {
                for (front, end) in [
                    ("os.environ[", "]"),
                    ("os.environ.get(", ")"),
                    ("os.getenv(", ")"),
                    ("getenv(", ")"),
                    ("process.env[", "]"),
                    ("ENV[", "]"),
                    ("ENV.fetch(", ")"),
                ] {
                    out = out.replace(&format!("{front}{quote}{name}{quote}{end}"), &value);
                }
            }
            out = out
                .replace(&format!("process.env.{name}"), &value)
                .replace(&format!("$ENV{{{name}}}"), &value);
        }
    }
    if code.contains(".read") || code.contains("readFileSync") {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        for (path, text) in scene.view.survey.written.iter().rev().take(MAX_LITERALS) {
            let name = path.strip_prefix(cwd).map_or(path.as_str(), |rest| rest.trim_start_matches('/'));
            let value = single_quoted(text.text().trim_end());
            for quote in ["'", "\""] {
                for (front, end) in [
                    ("open(", ").read()"),
                    ("File.read(", ")"),
                    ("readFileSync(", ",'utf8')"),
                    ("readFileSync(", ",\"utf8\")"),
                ] {
                    out = out.replace(&format!("{front}{quote}{name}{quote}{end}"), &value);
                }
            }
        }
    }
    out
}
