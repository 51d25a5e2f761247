//! What is written into files that will be executed: scripts, hooks, pipelines, manifests, settings, source code, and what a
//! client runs of its skills. Text that nobody executes is left alone.

mod code;
mod config;
mod extract;
mod forms;
mod judge;
mod skills;

use super::{lists, powershell, predicate, scripts};
use crate::domain::{Action, Severity, Tool, Verdict, join};
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Told, Trigger};
use judge::Place;

const WRITES: Trigger = Trigger::TOOL.or(Trigger::REDIRECTED);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "written.ruinous",
        severity: Severity::Critical,
        reason: "writes a file that will be executed, with something in it that destroys, spies or lets somebody in",
        instead: Some(Instead::Advice("leave it out, and tell the person what it was to do")),
        when: &[predicate("ruinous_text_written", WRITES, |scene| at(scene, Verdict::Block))],
        ..RULE
    },
    Rule {
        id: "written.suspect",
        verdict: Verdict::Modify,
        reason: "writes a file that will be executed or trusted, with something in it that a person should see",
        instead: Some(Instead::Advice("show the person what the file is to hold, and let them write it")),
        when: &[predicate("suspect_text_written", WRITES, |scene| at(scene, Verdict::Modify))],
        ..RULE
    },
];

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

/// What tests are tried on, a scanner on what it must find: nothing runs it by itself, and whoever starts it is judged then.
fn is_tried_on(path: &str) -> bool {
    path.split('/').any(|part| lists::FIXTURES.contains(&part)) && !runs_by_itself(path)
}

/// A file that is run without anybody starting it by its name: a hook, a manifest, a pipeline, a unit.
fn runs_by_itself(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    is_hook(&lower, name, extension)
        || is_found_by_its_tool(name)
        || skills::is_one(&lower)
        || name.ends_with("mcp.json")
        || lower.contains("/etc/apt/sources.list")
        || lower.contains("/etc/yum.repos.d/")
        || matches!(
            form_of(name, extension),
            Some(Form::Strings | Form::Cron | Form::Unit | Form::Yaml | Form::Settings)
        )
}

/// A file that a build, a test run or an installation runs because it is called so.
fn is_found_by_its_tool(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "binding.gyp",
        "build.gradle",
        "build.gradle.kts",
        "build.rs",
        "build.sbt",
        "cmakelists.txt",
        "conftest.py",
        "dockerfile",
        "dodo.py",
        "fabfile.py",
        "fastfile",
        "gemfile",
        "gnumakefile",
        "init.gradle",
        "justfile",
        "makefile",
        "meson.build",
        "mix.exs",
        "noxfile.py",
        "podfile",
        "pom.xml",
        "rakefile",
        "sconstruct",
        "settings.gradle",
        "setup.py",
        "sitecustomize.py",
        "usercustomize.py",
        "vagrantfile",
    ];
    const CONFIGS: &[&str] = &[".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".config.mts"];
    NAMES.contains(&name) || CONFIGS.iter().any(|end| name.ends_with(end)) || name.ends_with(".pth")
}

fn is_hook(lower: &str, name: &str, extension: &str) -> bool {
    [".git/hooks/", ".husky/", ".githooks/", "/hooks/"].iter().any(|dir| lower.contains(dir))
        && (extension.is_empty() || extension == "sh")
        || matches!(name, ".envrc" | ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".zshenv")
}

/// What a tool of a server writes: contents under the path that stands beside them, cells, manifests.
fn by_tool(scene: &Scene<'_>, told: &Told<'_>) -> Verdict {
    const TEXTS: &[&str] = &[
        "content",
        "contents",
        "text",
        "filetext",
        "newtext",
        "newstr",
        "newstring",
        "data",
        "body",
        "code",
    ];
    let paths: Vec<&str> = told
        .values(&["path", "filepath", "file", "filename", "relativepath", "targetfile"])
        .filter(|path| path.len() < 4096)
        .collect();
    let mut worst = Verdict::Allow;
    for text in told.values(TEXTS).take(32) {
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
    let name = lower.rsplit('/').next().unwrap_or_default();
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

/// How commands stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Recipes behind tabs.
    Recipes,
    /// Texts of JSON, some of them run by an installation.
    Strings,
    /// `name: command`.
    Named,
    /// `key = command`.
    Settings,
    /// Statements of SQL.
    Statements,
    /// Texts of a script of Windows' own.
    Visual,
    /// Arguments of programs in a build's markup.
    Markup,
    PowerShell,
    Docker,
    Cron,
    Unit,
    Yaml,
}

/// Files known by their whole name.
const NAMES: &[(&[&str], Form)] = &[
    (&["makefile", "gnumakefile", "justfile", ".justfile"], Form::Recipes),
    (
        &[
            "package.json",
            "binding.gyp",
            "composer.json",
            "deno.json",
            "tasks.json",
            "launch.json",
            "devcontainer.json",
            "turbo.json",
            "hooks.json",
            "lerna.json",
            "nodemon.json",
            "workspace.xml",
            "project.json",
            "nx.json",
            "binding.gyp",
        ],
        Form::Strings,
    ),
    (&["procfile"], Form::Named),
    (&["pom.xml", "build.xml"], Form::Markup),
    (
        &[
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
            ".mise.toml",
            "mise.toml",
            "makefile.toml",
            "pixi.toml",
            "netlify.toml",
            "fly.toml",
            "cargo-make.toml",
            "bunfig.toml",
        ],
        Form::Settings,
    ),
];

/// Files known by the end of their name.
const ENDINGS: &[(&[&str], Form)] = &[
    (&["sql"], Form::Statements),
    (&["vbs"], Form::Visual),
    (&["mk"], Form::Recipes),
    (&["dockerfile"], Form::Docker),
    (&["ps1", "psm1", "psd1", "bat", "cmd"], Form::PowerShell),
    (&["service", "timer", "desktop", "socket"], Form::Unit),
    (&["yml", "yaml"], Form::Yaml),
];

fn form_of(name: &str, extension: &str) -> Option<Form> {
    let among = |table: &[(&[&str], Form)], word: &str| {
        table.iter().find(|(words, _)| words.contains(&word)).map(|(_, form)| *form)
    };
    let begins = || {
        let docker = name.starts_with("dockerfile") || name.starts_with("containerfile");
        let cron = name.contains("cron") && !matches!(extension, "md" | "yml" | "yaml");
        if docker { Some(Form::Docker) } else { cron.then_some(Form::Cron) }
    };
    among(NAMES, name).or_else(begins).or_else(|| among(ENDINGS, extension))
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

/// Statements that leave the database: programs that it starts, files that it writes where a server shows them.
fn statements(scene: &Scene<'_>, text: &str) -> Verdict {
    let lower = text.to_ascii_lowercase();
    let line = |line: &str| {
        let program = [" to program ", " from program ", "xp_cmdshell", "sys_exec(", "sys_eval("];
        let shown =
            line.contains("into outfile") || line.contains("into dumpfile") || line.contains("lo_export(");
        let runs = program.iter().any(|form| line.contains(form));
        let served =
            shown && ["<?", "/www/", "/html/", "/etc/", "plugin"].iter().any(|word| line.contains(word));
        !line.trim_start().starts_with("--") && (runs || served)
    };
    // Everything to whoever reaches the server from anywhere.
    let opened = lower.lines().any(|line| {
        line.trim_start().starts_with("grant all") && line.contains("*.*") && line.contains("'%'")
    });
    // A whole database that says itself that people live by it.
    let live = lower.split(';').any(|one| {
        let words = one.split_whitespace().filter(|word| !matches!(*word, "if" | "exists"));
        let mut words = words.skip_while(|word| *word != "drop").skip(1);
        matches!(words.next(), Some("database" | "schema"))
            && words.next().is_some_and(|name| {
                ["prod", "live"].iter().any(|word| name.trim_matches(['"', '`']).starts_with(word))
            })
    });
    let shells =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("\\!")).take(extract::MAX_COMMANDS);
    let shelled =
        shells.map(|command| judge::command(scene, command, Place::Script)).max().unwrap_or_default();
    if lower.lines().any(line) {
        Verdict::Block
    } else {
        shelled.max(if opened || live { Verdict::Modify } else { Verdict::Allow })
    }
}

fn yaml(scene: &Scene<'_>, lower: &str, name: &str, text: &str) -> Verdict {
    let each = |place: Place| {
        let judged = extract::yaml(text)
            .into_iter()
            .map(|line| judge::command(scene, &without_expressions(&line), place));
        judged.max().unwrap_or_default()
    };
    let pipeline = [
        ".github/",
        ".gitlab-ci",
        ".circleci",
        "pipelines",
        ".drone",
        ".travis",
        "appveyor",
        "/ci/",
        ".buildkite",
        "cloudbuild",
        "action.y",
        ".woodpecker",
    ]
    .iter()
    .any(|part| lower.contains(part));
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

fn names_drop(line: &str) -> bool {
    DROPS.iter().any(|place| line.contains(place))
}

/// A pipeline that sends its secrets or all its variables to a host that is not known.
fn dumped(scene: &Scene<'_>, text: &str) -> Verdict {
    let sends = |line: &&str| {
        ["curl ", "wget ", "nc ", "http "].iter().any(|word| line.contains(word))
            && judge::foreign_host(scene, line)
    };
    let whole = |line: &str| {
        [
            "$(env)",
            "`env`",
            "env |",
            "env|",
            "printenv",
            "toJSON(secrets)",
            "toJson(secrets)",
            "set |",
            "export -p",
        ]
        .iter()
        .any(|form| line.contains(form))
    };
    let piped = |line: &str| {
        let data = ["-d", "--data", "-F", "--post-data", "?"].iter().any(|flag| line.contains(flag))
            || line.contains('|');
        let header = line.contains("Authorization")
            || line.contains("webhook") && !names_drop(line)
            || line.contains("-H ");
        let own = [
            "$(System.AccessToken)",
            "$CI_JOB_TOKEN",
            "$SYSTEM_ACCESSTOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        ];
        if own.iter().any(|name| line.contains(name)) && line.contains('|') && line.contains("base64") {
            return true;
        }
        line.contains("secrets.") && data && !header
    };
    // Keys of a cloud, or several secrets at once, go to nobody's interface.
    let keys = |line: &str| {
        let names = line.split('$').skip(1).map(|rest| {
            let rest = rest.trim_start_matches('{');
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        });
        let secret: Vec<&str> = names.filter(|name| super::is_secret_name(name)).collect();
        let interface = line.contains("/api/v4/") || line.contains("trigger/pipeline");
        secret.iter().any(|name| name.starts_with("AWS_SE")) || secret.len() > 1 && !interface
    };
    let found = text.lines().filter(sends).any(|line| whole(line) || piped(line) || keys(line));
    // All secrets in one variable, which a line sends away.
    let every =
        ["toJSON(secrets)", "toJson(secrets)", "tojson(secrets)"].iter().any(|form| text.contains(form));
    let dropped = text.lines().any(|line| {
        sends(&line)
            && names_drop(line)
            && (line.contains("-F")
                || line.contains("-d")
                || line.contains("-T")
                || line.contains("--data")
                || line.contains("--upload-file"))
    });
    let secret = || text.contains("secrets.") || text.to_ascii_lowercase().contains("token");
    match (found || every && text.lines().any(|line| sends(&line)) || dropped && secret(), every || dropped) {
        (true, _) => Verdict::Block,
        (false, true) => Verdict::Modify,
        (false, false) => Verdict::Allow,
    }
}

/// A whole script, or where it cannot be read as one (a piece of one), its lines.
fn script(scene: &Scene<'_>, text: &str, place: Place) -> Verdict {
    let text = without_expressions(&text.replace("\r\n", "\n"));
    if crate::shell::parse(&text).problem.is_none() {
        return judge::script(scene, &text, place);
    }
    let lines = text.lines().take(extract::MAX_COMMANDS).map(|line| judge::command(scene, line, place));
    lines.max().unwrap_or_default()
}
