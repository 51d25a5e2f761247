//! What kind of file is written, by its name.

/// How commands stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
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
pub(super) const NAMES: &[(&[&str], Form)] = &[
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

pub(super) fn form_of(name: &str, extension: &str) -> Option<Form> {
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
