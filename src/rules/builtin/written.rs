//! What is written into files that will be executed: scripts, hooks, pipelines, manifests, settings, source code, and what a
//! client runs of its skills. Text that nobody executes is left alone.

mod code;
mod config;
mod extract;
mod forms;
mod judge;
mod named;
mod skills;
mod started;
mod statements;

use super::{powershell, scripts};
use crate::domain::{Action, Tool, Verdict, join, last_name};
use crate::rules::matcher::{Found, Scene, Told, Trigger};
use judge::Place;
use named::{Form, form_of};
use started::{is_hook, is_tried_on, runs_by_itself};
use statements::{dumped, statements};

const WRITES: Trigger = Trigger::TOOL.or(Trigger::REDIRECTED);

/// A file that is written of which the worst that is said is exactly `verdict`.
fn at<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let what = match &scene.view.call.action {
        Action::Write { path, .. } | Action::Edit { path, .. } => path,
        Action::Other { text, .. } => text,
        Action::Shell { command, .. } if !scene.view.survey.written.is_empty() => command,
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. } => return Found::No,
    };
    let said = *scene.written.get_or_init(|| worst(scene));
    if said == verdict && !scene.nested { Found::yes(what) } else { Found::No }
}

fn worst(scene: &Scene<'_>) -> Verdict {
    let call = scene.view.call;
    match &call.action {
        _ if scene.nested || scene.inner => Verdict::Allow,
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            let said = content_verdict(scene, path, content, call.tool == Tool::NotebookEdit);
            if said == Verdict::Block && is_tried_on(&join(scene.view.cwd, path)) {
                Verdict::Modify
            } else {
                said
            }
        }
        Action::Other { .. } => scene.told().map_or(Verdict::Allow, |told| by_tool(scene, told)),
        Action::Shell { .. } => by_command(scene),
        Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Spawn { .. } => {
            Verdict::Allow
        }
    }
}

/// What a patch writes into files, or a command line into those that something else will run: what somebody has to start is judged
/// when it is started, and may be no more than a text until then.
fn by_command(scene: &Scene<'_>) -> Verdict {
    let patch = scene.view.call.tool == Tool::Edit;
    let judged = |(path, text): (&String, &str)| {
        // A page is run by whoever asks the server for it.
        let served = [".php", ".phtml", ".jsp"].iter().any(|end| path.ends_with(end));
        if !patch && !served && !runs_by_itself(path) {
            return Verdict::Allow;
        }
        let said = content_verdict(scene, path, text, false);
        if patch || said == Verdict::Block { said } else { Verdict::Allow }
    };
    let files = scene.view.survey.written.iter().take(64);
    let known = files.filter_map(|(path, text)| Some((path, text.known()?)));
    known.map(judged).max().unwrap_or_default()
}

/// What a tool of a server writes: contents under the path that stands beside them, cells, manifests.
fn by_tool(scene: &Scene<'_>, told: &Told<'_>) -> Verdict {
    let paths: Vec<&str> = told
        .values(&["path", "filepath", "file", "filename", "relativepath", "targetfile"])
        .filter(|path| path.len() < 4096)
        .collect();
    let mut worst = Verdict::Allow;
    for text in told.values(TEXT_FIELDS).take(32) {
        for path in paths.iter().take(32) {
            worst = worst.max(content_verdict(scene, path, text, false));
        }
    }
    for text in told.values(&["dockerfile", "dockerfilecontent"]).take(8) {
        worst = worst.max(content_verdict(scene, "Dockerfile", text, false));
    }
    for text in told.values(&["cellsource", "cellcontent", "newsource"]).take(32) {
        worst = worst.max(content_verdict(scene, "cell.ipynb", text, true));
    }
    if told.names(&["kubernetes", "k8s", "kubectl"]) {
        for text in told.values(&["manifest", "yaml", "content", "resource"]).take(32) {
            // What is applied runs at once.
            let said = config::manifest(text);
            let now = told.has(&["apply", "create", "patch", "replace", "run"]) && said > Verdict::Allow;
            worst = worst.max(if now { Verdict::Block } else { said });
        }
    }
    worst
}

fn content_verdict(scene: &Scene<'_>, path: &str, text: &str, notebook: bool) -> Verdict {
    let path = join(scene.view.cwd, path);
    let lower = path.to_ascii_lowercase();
    let name = last_name(&lower);
    if text.is_empty() {
        return Verdict::Allow;
    }
    if notebook {
        return cell_verdict(scene, text);
    }
    if name.ends_with(".ipynb") {
        let cells = extract::cells(text);
        return cells.iter().map(|cell| cell_verdict(scene, cell)).max().unwrap_or_default();
    }
    let settings = config::verdict(scene, &path, text);
    let executed = executed(scene, &lower, name, text);
    let skill = if skills::is_one(&lower) { skills::verdict(scene, &lower, text) } else { Verdict::Allow };
    settings.max(executed).max(skill)
}

/// What a cell of a notebook deserves, which somebody runs without leaving the page.
fn cell_verdict(scene: &Scene<'_>, text: &str) -> Verdict {
    let lines = extract::cell(text).into_iter().map(|line| judge::command(scene, &line, Place::Script)).max();
    let said = lines.unwrap_or_default().max(code::verdict(scene, text, code::Language::Hash, Place::Script));
    said.max(if code::loses_in_cell(scene, text) { Verdict::Modify } else { Verdict::Allow })
}

/// Runs of a pipeline's own language, which a shell does not know.
fn without_expressions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${{") {
        let (front, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(front);
        let (inner, behind) = tail.split_once("}}").unwrap_or((tail, ""));
        out.push_str(if inner.contains("secrets") { "$SECRET_TOKEN" } else { "x" });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// What the commands of a file deserve that is no script and no source code.
fn by_form(scene: &Scene<'_>, form: Form, lower: &str, name: &str, text: &str) -> Verdict {
    let each = |lines: Vec<String>, place: Place| {
        let judged = lines.iter().map(|line| judge::command(scene, &without_expressions(line), place));
        judged.max().unwrap_or_default()
    };
    match form {
        Form::Recipes => each(extract::recipes(text), Place::Script),
        Form::Strings => {
            let strings = scripts::strings(text)
                .into_iter()
                .filter(|word| word.contains(' '))
                .map(|word| match word.trim_start_matches("<!").trim_start_matches('@').strip_prefix('(') {
                    // What node's build files have a shell print.
                    Some(inner) if word.starts_with("<!") => inner.trim_end_matches(')').to_owned(),
                    _ => word,
                })
                .take(extract::MAX_COMMANDS);
            let alone = extract::lifecycle(text).into_iter().map(|line| judge::unasked(scene, &line)).max();
            each(strings.collect(), Place::Hook).max(alone.unwrap_or_default())
        }
        Form::Named => each(extract::lines(text, true), Place::Script),
        Form::Settings => each(extract::lines(text, false), Place::Script),
        Form::Statements => statements(scene, text),
        Form::Visual => {
            scripts::strings(text).iter().map(|word| powershell::script(word)).max().unwrap_or_default()
        }
        Form::PowerShell => powershell::script(text),
        Form::Markup => each(extract::markup(text), Place::Script),
        Form::Docker => each(extract::docker(text), Place::Container),
        Form::Cron => each(extract::cron(text), Place::Hook),
        Form::Unit => each(extract::unit(text), Place::Hook),
        Form::Yaml => yaml(scene, lower, name, text),
    }
}

fn executed(scene: &Scene<'_>, lower: &str, name: &str, text: &str) -> Verdict {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let hook = is_hook(lower, name, extension);
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.starts_with("#!");
    let shell = matches!(extension, "sh" | "bash" | "zsh" | "ksh" | "command" | "fish" | "bats")
        || shebang && first.ends_with("sh")
        || shebang && first.contains("sh -");
    if let Some(language) = code::language(name) {
        let hooked = matches!(
            name,
            "setup.py"
                | "conftest.py"
                | "sitecustomize.py"
                | "usercustomize.py"
                | "build.rs"
                | "noxfile.py"
                | ".eslintrc.js"
                | ".eslintrc.cjs"
                | "gulpfile.js"
        ) || [".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".config.mts"]
            .iter()
            .any(|end| name.ends_with(end));
        let said = code::verdict(scene, text, language, if hooked { Place::Hook } else { Place::Script });
        let program = match extension {
            "py" => Some("python3"),
            "js" | "mjs" | "cjs" | "ts" | "mts" => Some("node"),
            "rb" => Some("ruby"),
            _ => None,
        };
        let tests = lower.contains("/test") || name.contains("test") || name.contains(".spec.");
        let lost = program.filter(|_| said == Verdict::Allow && !tests);
        return lost.map_or(said, |program| judge::by_library(scene, program, text));
    }
    if shebang && ["python", "ruby", "perl", "node"].iter().any(|program| first.contains(program)) {
        let slash = first.contains("node");
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        let language = if slash { code::Language::Slash } else { code::Language::Hash };
        return code::verdict(scene, body, language, if hook { Place::Hook } else { Place::Script });
    }
    if hook || shell {
        let place = if hook { Place::Hook } else { Place::Script };
        let alone = if hook { judge::unasked(scene, text) } else { Verdict::Allow };
        return script(scene, text, place).max(alone);
    }
    let run = lower.contains("/.idea/runconfigurations/") || lower.contains("/.run/");
    if run && extension == "xml" {
        return by_form(scene, Form::Strings, lower, name, text);
    }
    form_of(name, extension).map_or(Verdict::Allow, |form| by_form(scene, form, lower, name, text))
}

fn yaml(scene: &Scene<'_>, lower: &str, name: &str, text: &str) -> Verdict {
    let each = |place: Place| {
        let judged = extract::yaml(text)
            .into_iter()
            .map(|line| judge::command(scene, &without_expressions(&line), place));
        judged.max().unwrap_or_default()
    };
    let pipeline = PIPELINES.iter().any(|part| lower.contains(part));
    let hooks =
        name.starts_with(".pre-commit") || name.starts_with("lefthook") || name.starts_with(".lefthook");
    let tasks = name.starts_with("taskfile")
        || text.contains("hosts:")
        || text.contains("ansible")
        || lower.contains("/tasks/")
        || lower.contains("/roles/")
        || name.starts_with("cloud-init")
        || text.starts_with("#cloud-config");
    if pipeline || config::is_compose(name) || text.contains("apiVersion:") {
        return each(Place::Container).max(if pipeline { dumped(scene, text) } else { Verdict::Allow });
    }
    if hooks {
        return each(Place::Hook);
    }
    if tasks { each(Place::Script) } else { Verdict::Allow }
}

words!("builtin/written");

/// A whole script, or where it cannot be read as one (a piece of one), its lines.
fn script(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    let text = without_expressions(&text.replace("\r\n", "\n"));
    if crate::shell::parse(&text).problem.is_none() {
        return judge::script(scene, &text, place);
    }
    let lines = text.lines().take(extract::MAX_COMMANDS).map(|line| judge::command(scene, line, place));
    lines.max().unwrap_or_default()
}
