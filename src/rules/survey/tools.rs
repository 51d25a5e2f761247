//! The tools of a client: shells become commands, the others effects.

use super::call::Call;
use super::effects::Act;
use super::walk::{Frame, fresh_scope};
use super::{Stdin, Surveyor};
use crate::domain::{Action, Ask, EffectKind, Severity, Target, Tool, ToolCall, join};
use crate::shell::Arg;

impl Surveyor<'_> {
    /// Surveys a call of any tool.
    pub(super) fn tool(&mut self, call: &ToolCall, cwd: &str) {
        let own = plain(cwd);
        match &call.action {
            Action::Shell { command, workdir } => {
                let cwd = workdir.as_deref().map_or_else(|| cwd.to_owned(), |dir| join(cwd, dir));
                let scope = fresh_scope(self.facts.places.home.as_ref(), Some(cwd));
                self.script(&Arg::literal(command), scope, Frame::top());
            }
            Action::Read { path } => {
                self.ask(Ask::Path(join(cwd, path)));
                self.file(&own, Act::Read, &Arg::literal(path), false);
            }
            Action::Write { path, .. } => self.file(&own, Act::Create, &Arg::literal(path), false),
            Action::Edit { path, .. } => self.file(&own, Act::Modify, &Arg::literal(path), false),
            Action::Search { path, .. } => {
                let path = path.as_deref().unwrap_or(".");
                self.file(&own, Act::Read, &Arg::literal(path), true);
            }
            Action::Fetch { url } => {
                self.effect(&own, EffectKind::NetworkRequest, Target::Url(url.clone()), Severity::Low);
            }
            Action::Spawn { .. } => {
                self.effect(&own, EffectKind::ProcessCreation, Target::None, Severity::Low);
            }
            Action::Other { .. } => self.other(&own, &call.tool),
        }
    }

    fn other(&mut self, own: &Call, tool: &Tool) {
        match tool {
            Tool::Internal(_) => {}
            Tool::WebFetch | Tool::WebSearch => {
                self.effect(own, EffectKind::NetworkRequest, Target::None, Severity::Low);
            }
            Tool::Mcp { .. }
            | Tool::Unknown(_)
            | Tool::Bash
            | Tool::Monitor
            | Tool::Read
            | Tool::Write
            | Tool::Edit
            | Tool::NotebookEdit
            | Tool::Grep
            | Tool::Glob
            | Tool::Agent => {
                let target = Target::Command(tool.name().into_owned());
                self.effect(own, EffectKind::SystemCommand, target, Severity::Medium);
            }
        }
    }
}

/// The client itself, in its directory.
fn plain(cwd: &str) -> Call {
    Call {
        words: Vec::new(),
        cwd: Some(cwd.to_owned()),
        before: None,
        privileged: false,
        remote: false,
        container: None,
        lenient: false,
        wrappers: Vec::new(),
        stdin: Stdin::Inherited,
        input: None,
        writes: Vec::new(),
        reads: Vec::new(),
        pipeline: 0,
        stage: 0,
        piped: false,
        text: String::new(),
        depth: 0,
    }
}
