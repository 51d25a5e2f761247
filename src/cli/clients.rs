//! What `install`, `uninstall` and `doctor` do for each client: one entry in one table.

mod codex;

use std::path::{Path, PathBuf};

use crate::cli::doctor::{self, Examined, Report};
use crate::cli::install::{self, Change, Registering};
use crate::domain::{Client, Content, Fault};
use crate::host::dirs::Environment;
use crate::host::registration::manifest::Kind;
use crate::host::registration::settings::{self, Unusable};
use crate::host::registration::{Scope, Surroundings};

/// Changes of files, and what is told of them.
type Changes = (Vec<Change>, String);

/// How one client is dealt with.
pub struct Handling {
    /// The files that install changes, and what is told of it.
    pub changes: fn(&Registering<'_>) -> Result<Changes, Fault>,
    /// The files that a registration in that scope stands in.
    pub places: fn(Scope, &Surroundings) -> Vec<(PathBuf, Kind)>,
    /// A file among these with all that is ours taken out; the binaries that were registered.
    pub without: fn(&Path, &str, &[String], &Surroundings) -> Result<String, Unusable>,
    /// Proves that the gate is closed.
    pub examine: fn(&Examined<'_>, &mut Report),
    /// The files of a registration for every user, the binary among them.
    pub managed: fn(&Surroundings) -> Option<Vec<PathBuf>>,
    /// Why the client would not ask before every call in a session of a project, for clients of which that is read out of files
    /// alone; of some files another content than they have.
    pub falls: Option<Falls>,
}

/// The project, and what else than it holds a file is taken to hold.
pub type Falls = fn(&Environment, &str, &dyn Fn(&str) -> Option<Content>) -> Option<String>;

const CLAUDE_CODE: Handling = Handling {
    changes: install::claude_code,
    places: |scope, here| {
        scope.claude_settings(here).map(|path| (path, Kind::Settings)).into_iter().collect()
    },
    without: |_, text, recorded, _| settings::without(text, recorded),
    examine: doctor::claude_code::examine,
    managed: doctor::standing::claude_code,
    falls: None,
};
const OPENCODE: Handling = Handling {
    changes: install::opencode,
    places: |scope, here| scope.opencode_plugin(here).map(|path| (path, Kind::Whole)).into_iter().collect(),
    without: |_, text, _, here| match here.managed_plugin_url() {
        Ok(url) => settings::without_plugin(text, &url),
        Err(_) => Ok(text.to_owned()),
    },
    examine: doctor::opencode::examine,
    managed: doctor::standing::opencode,
    falls: None,
};

const CODEX: Handling = Handling {
    changes: codex::changes,
    places: codex::places,
    without: codex::without,
    examine: codex::examine,
    managed: codex::managed,
    falls: Some(codex::falls),
};

/// How a client is dealt with.
pub const fn of(client: Client) -> &'static Handling {
    match client {
        Client::ClaudeCode => &CLAUDE_CODE,
        Client::OpenCode => &OPENCODE,
        Client::Codex => &CODEX,
    }
}

/// Says that none of them is here.
pub fn none_is_here() -> String {
    let programs: Vec<&str> = Client::ALL.iter().map(|client| client.about().program).collect();
    format!(
        "no client found: none of {} is on PATH, and none has a configuration directory",
        programs.join(", ")
    )
}
