//! Which of the two kinds of installation stands: one that this user could change, or one that only root can.

use std::path::PathBuf;

use serde_json::Value;

use super::report::Report;
use crate::cli::clients;
use crate::cli::install::{program_in, shown};
use crate::domain::Client;
use crate::host::dirs::Dirs;
use crate::host::registration::{Scope, Surroundings, files, hooks, settings};
use crate::host::writable;

const SUBJECT: &str = "installation";

/// Says for every client that root registered whether this user could change anything of it.
pub fn examine(here: &Surroundings, report: &mut Report) {
    let managed = Client::ALL.into_iter().map(|client| (client.name(), (clients::of(client).managed)(here)));
    let found: Vec<(&str, Vec<PathBuf>)> =
        managed.filter_map(|(client, files)| Some((client, files?))).collect();
    if found.is_empty() {
        let message =
            "tamper-evident: this user could change it; what an agent changes is put back and shown";
        return report.note(SUBJECT, message);
    }
    for (client, mut files) in found {
        files.push(Dirs::managed());
        let open = files.iter().find_map(|file| writable::by_us(file));
        if rustix::process::geteuid().is_root() {
            let there = files.iter().filter(|file| file.exists());
            match there.map(|file| writable::check_root(file)).find_map(Result::err) {
                Some(fault) => report.fail(SUBJECT, fault.why, "as root: chown, or chmod go-w,a+rX"),
                None => report.note(SUBJECT, format!("{client}: registered for every user; whether one of them could change it is seen as that user")),
            }
        } else if let Some(open) = open {
            let message =
                format!("{client}: registered for every user, but this user can write to {}", shown(&open));
            report.fail(SUBJECT, message, &format!("as root: chown root {0}; chmod go-w {0}", shown(&open)));
        } else {
            report.ok(
                SUBJECT,
                format!(
                    "{client}: tamper-proof: this user cannot change registration, configuration or binary"
                ),
            );
        }
    }
}

/// The files of the managed registration with Claude Code, the binary among them.
pub fn claude_code(here: &Surroundings) -> Option<Vec<PathBuf>> {
    let path = &here.claude_managed;
    let text = files::read(path).ok()??;
    let hooks = settings::hooks_in(&text).ok()?;
    let gate = hooks.into_iter().find(|hook| hook.event == "PreToolUse" && hook.ours(&[]).is_some())?;
    let bin = hooks::binary_of(&gate.entry)?.0;
    Some(vec![path.clone(), PathBuf::from(bin)])
}

/// The files of the managed registration with OpenCode, the binary among them.
pub fn opencode(here: &Surroundings) -> Option<Vec<PathBuf>> {
    let (configuration, plugin) = managed_plugin(here)?;
    let (bin, _) = program_in(&files::read(&plugin).ok()??)?;
    Some(vec![configuration, plugin, PathBuf::from(bin)])
}

/// OpenCode's managed configuration where it names our plugin, and that plugin.
pub fn managed_plugin(here: &Surroundings) -> Option<(PathBuf, PathBuf)> {
    let plugin = Scope::System.opencode_plugin(here).ok()?;
    let configuration = here.opencode_managed_file();
    let text = files::read(&configuration).ok()??;
    let value: Value = serde_json::from_str(&text).ok()?;
    let url = here.managed_plugin_url().ok()?;
    let named = value.get("plugin")?.as_array()?.iter().any(|name| name.as_str() == Some(&url));
    (named && plugin.exists()).then_some((configuration, plugin))
}
