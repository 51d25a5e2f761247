//! Files that tools run by themselves.

use super::named::{Form, form_of};
use super::skills;
use crate::domain::last_name;
use crate::rules::builtin::lists;

words!("builtin/written/started");

/// What tests are tried on, a scanner on what it must find: nothing runs it by itself, and whoever starts it is judged then.
pub(super) fn is_tried_on(path: &str) -> bool {
    path.split('/').any(|part| lists::FIXTURES.contains(&part)) && !runs_by_itself(path)
}

/// A file that is run without anybody starting it by its name: a hook, a manifest, a pipeline, a unit.
pub(super) fn runs_by_itself(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = last_name(&lower);
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
    const CONFIGS: &[&str] = &[".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".config.mts"];
    FOUND_BY_TOOLS.contains(&name) || CONFIGS.iter().any(|end| name.ends_with(end)) || name.ends_with(".pth")
}

pub(super) fn is_hook(lower: &str, name: &str, extension: &str) -> bool {
    [".git/hooks/", ".husky/", ".githooks/", "/hooks/"].iter().any(|dir| lower.contains(dir))
        && (extension.is_empty() || extension == "sh")
        || matches!(name, ".envrc" | ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".zshenv")
}
