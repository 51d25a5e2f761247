//! The tools of a client: shells become commands, the others effects.

use super::call::Call;
use super::effects::Act;
use super::scope::fresh_scope;
use super::walk::Frame;
use super::{Stdin, Surveyor};
use crate::domain::{
    Action, Ask, Claim, EffectKind, Places, Protected, Severity, Target, Tool, ToolCall, Usage, join, size,
};
use crate::shell::{Arg, Bound, Problem};

impl Surveyor<'_> {
    /// Surveys a call of any tool.
    pub(super) fn tool(&mut self, call: &ToolCall, cwd: &str) {
        let own = plain(cwd);
        if let Tool::Unknown(name) = &call.tool
            && ["pwsh", "powershell"].iter().any(|shell| name.eq_ignore_ascii_case(shell))
        {
            return self.powershell(&own, call);
        }
        match &call.action {
            Action::Shell { command, .. } if command.len() > Bound::MAX_BYTES => {
                let (had, most) = (size(command.len() as u64), size(Bound::MAX_BYTES as u64));
                self.bound(&format!("the command is {had} long; at most {most} are read"));
            }
            Action::Shell { command, workdir } => {
                let cwd = workdir.as_deref().map_or_else(|| cwd.to_owned(), |dir| join(cwd, dir));
                let scope = fresh_scope(&self.facts.places, Some(cwd));
                self.script(&Arg::literal(command), scope, Frame::top());
            }
            Action::Read { path } => {
                self.ask(Ask::Path(join(cwd, path)));
                self.named(&own, Act::Read, path);
            }
            Action::Write { path, .. } => self.named(&own, Act::Create, path),
            Action::Edit { path, .. } => self.named(&own, Act::Modify, path),
            Action::Search { path, .. } => {
                let path = path.as_deref().unwrap_or(".");
                self.file(&own, Act::Read, &Arg::literal(path), true);
                if let Some(path) = expanded(path, &self.facts.places) {
                    self.file(&own, Act::Read, &Arg::literal(&path), true);
                }
            }
            Action::Fetch { url, .. } => {
                self.effect(&own, EffectKind::NetworkRequest, Target::Url(url.clone()), Severity::Low);
            }
            Action::Spawn { .. } => {
                self.effect(&own, EffectKind::ProcessCreation, Target::None, Severity::Low);
            }
            Action::Other { claims, .. } => {
                self.other(&own, &call.tool);
                // The client puts a file in the place of the command's name: words, that no shell reads.
                let words = call.tool.starts_prompts();
                let problem = self.out.problem.clone();
                for claim in claims {
                    self.claim(&own, claim);
                }
                if words && !self.out.bound {
                    self.out.problem = problem;
                }
            }
        }
    }

    /// A tool that is PowerShell: what it is given is what `pwsh -Command` is given.
    fn powershell(&mut self, own: &Call, call: &ToolCall) {
        let Action::Other { claims, .. } = &call.action else { return };
        for claim in claims {
            if let Claim::Command(line) = claim {
                let words = ["pwsh", "-Command", line.as_str()].map(Arg::literal).to_vec();
                let mut scope = fresh_scope(&self.facts.places, own.cwd.clone());
                self.run(Call { words, text: line.clone(), ..own.clone() }, &mut scope);
            } else {
                self.claim(own, claim);
            }
        }
    }

    /// The file that a tool was told of, and the one that it is if the tool expands what a shell would.
    fn named(&mut self, own: &Call, act: Act, path: &str) {
        self.file(own, act, &Arg::literal(path), act == Act::Delete);
        if let Some(expanded) = expanded(path, &self.facts.places) {
            self.file(own, act, &Arg::literal(&expanded), act == Act::Delete);
        }
    }

    /// A text that may be a file: it counts as one only where a place is protected.
    fn perhaps_named(&mut self, own: &Call, path: &str) {
        let plain = join("/", &expanded(path, &self.facts.places).unwrap_or_else(|| path.to_owned()));
        let guarded = |place: &Protected| {
            let same = place.path.eq_ignore_ascii_case(&plain);
            same || (place.tree && super::paths::below(&plain, &place.path))
                || super::paths::below(&place.path, &plain)
        };
        if self.facts.places.protected.iter().any(guarded) {
            self.named(own, Act::Create, path);
        }
    }

    /// What an argument of a tool that we do not know says of itself.
    fn claim(&mut self, own: &Call, claim: &Claim) {
        match claim {
            Claim::Command(line) => {
                let scope = fresh_scope(&self.facts.places, own.cwd.clone());
                self.script(&Arg::literal(line), scope, Frame::top());
            }
            Claim::Code(text) => {
                // In which language is not known. What a shell can read, it may be for; and the rules for the two others
                // that tools are given most often look at it.
                // Where the shell would get stuck, all in front of that has run.
                if !matches!(crate::shell::parse(text).problem, Some(Problem::Bound(_))) {
                    let problem = self.out.problem.clone();
                    let scope = fresh_scope(&self.facts.places, own.cwd.clone());
                    self.script(&Arg::literal(text), scope, Frame::top());
                    if !self.out.bound {
                        self.out.problem = problem;
                    }
                }
                for line in escapes(text) {
                    let scope = fresh_scope(&self.facts.places, own.cwd.clone());
                    self.script(&Arg::literal(line), scope, Frame::top());
                }
                for words in [["python3", "-c", text.as_str()], ["node", "-e", text.as_str()]] {
                    let mut scope = fresh_scope(&self.facts.places, own.cwd.clone());
                    let words = words.map(Arg::literal).to_vec();
                    self.run(Call { words, text: text.clone(), ..own.clone() }, &mut scope);
                }
            }
            Claim::File { path, usage } => {
                let act = match usage {
                    Usage::Read => Act::Read,
                    Usage::Write => Act::Create,
                    Usage::Delete => Act::Delete,
                    Usage::Unsaid => {
                        self.perhaps_named(own, path);
                        return;
                    }
                };
                self.named(own, act, path);
            }
            Claim::Unread => {
                if self.out.problem.is_none() {
                    self.out.problem = Some("its arguments hold more than is looked at".to_owned());
                }
            }
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

/// What a notebook hands to a shell: `!command`, and all behind `%%bash`.
fn escapes(text: &str) -> impl Iterator<Item = &str> {
    /// Most lines that are looked at.
    const LINES: usize = 64;
    let whole =
        ["%%bash", "%%sh", "%%script bash"].iter().find_map(|magic| text.trim_start().strip_prefix(magic));
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix('!')).take(LINES);
    whole.into_iter().chain(lines)
}

/// The path that a shell, or a tool that is kind, makes of one with a home directory in it.
fn expanded(path: &str, places: &Places) -> Option<String> {
    let text = path.trim();
    let url = text.split_at_checked(7).filter(|(start, _)| start.eq_ignore_ascii_case("file://"));
    let decoded = url.map(|(_, rest)| unescaped(rest.strip_prefix("localhost").unwrap_or(rest)));
    let text = decoded.as_deref().unwrap_or(text);
    let home = places.home.as_deref()?;
    let begins = ["~", "$HOME", "${HOME}", "%HOME%"].into_iter().map(str::to_owned);
    let own = places.user.iter().map(|user| format!("~{user}"));
    let at_home = begins.chain(own).find_map(|start| {
        let rest = text.strip_prefix(start.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
    });
    at_home.or_else(|| (text != path).then(|| text.to_owned()))
}

/// `%41` and the like in a URL's path, as the characters that they stand for.
pub(in crate::rules) fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        bytes.extend_from_slice(before.as_bytes());
        let byte = escape.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = escape.get(if byte.is_some() { 3 } else { 1 }..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The client itself, in its directory.
fn plain(cwd: &str) -> Call {
    Call {
        words: Vec::new(),
        cwd: Some(cwd.to_owned()),
        before: None,
        arrived: false,
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
