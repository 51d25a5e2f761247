//! What kind of file is written, by its name.

words!("builtin/written/named");

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
