//! The command inside a program that runs one.

use std::rc::Rc;

use super::Surveyor;
use super::call::Call;
use super::container::{self, Container};
use super::effects::Act;
use super::options::Parsed;
use super::output;
use super::scope::Scope;
use super::setting::setting_command;
use super::unfold::{first_word, later_command};
use super::walk::Frame;
use crate::domain::{EffectKind, Severity, Target, join, last_name, single_quoted};
use crate::rules::builtin::lists;
use crate::rules::facts::{Kind, Rest, Role, Wrap};
use crate::shell::{Arg, Piece};

words!("survey/wrap");

impl Surveyor<'_> {
    pub(super) fn sub_wrap(&mut self, call: Call, scope: &mut Scope, parsed: &Parsed, name: &str) {
        if let Some(wrap) = parsed.row.and_then(|row| row.wrap) {
            let skip = first_word(&call, parsed, wrap);
            self.unfold(&call, scope, (parsed, wrap, name), skip);
            if let Some(skip) = skip
                && let Some(later) = later_command(parsed, skip)
            {
                self.unfold(&call, scope, (parsed, wrap, name), Some(later));
            }
        }
    }

    /// A program that runs the command in its operands.
    pub(super) fn wrap(
        &mut self,
        call: Call,
        scope: &mut Scope,
        (parsed, wrap, name): (&Parsed, Wrap, &str),
    ) {
        let call = in_dir(call, parsed);
        let skip = first_word(&call, parsed, wrap);
        let split = parsed.has(&["-S", "--split-string"]) && name == "env";
        let runs = !parsed.stop && !split && skip.is_some_and(|skip| parsed.operands.len() > skip);
        let by_option = parsed.roles.contains(&Role::Shell);
        if wrap.keep || !(runs || by_option) {
            self.emit(&call, name, Some(parsed));
            self.kept(&call, parsed, wrap);
        }
        if !wrap.keep {
            self.values(&call, parsed);
        }
        if let (Some(log), "logsave") = (parsed.operands.first(), name) {
            self.file(&call, Act::Modify, log, false);
        }
        self.option_commands(&call, parsed, name);
        let program = parsed.value(&["-a", "--startas"]).or_else(|| parsed.value(&["-x", "--exec"]));
        if let (Some(program), "start-stop-daemon") = (program, name) {
            // The program is the value of an option, its arguments stand behind `--`.
            let words = std::iter::once(program).chain(&parsed.operands).cloned().collect();
            self.run_inner(call.unfolded(name, words), scope, name);
            return;
        }
        if runs {
            self.unfold(&call, scope, (parsed, wrap, name), skip);
            if let Some(later) = skip.and_then(|skip| later_command(parsed, skip)) {
                self.unfold(&call, scope, (parsed, wrap, name), Some(later));
            }
        } else if wrap.privileged || wrap.remote {
            self.input_commands(&call, name, wrap.privileged);
        }
    }

    /// What a wrapper does itself.
    fn kept(&mut self, call: &Call, parsed: &Parsed, wrap: Wrap) {
        let name = Target::Command(parsed.program.name.to_owned());
        if wrap.privileged && parsed.has(&["-e", "--edit"]) {
            for arg in &parsed.operands {
                let call = Call { privileged: true, ..call.clone() };
                self.file(&call, Act::Modify, arg, false);
            }
        } else if wrap.privileged && !parsed.stop {
            self.effect(call, EffectKind::SystemModification, name, Severity::High);
        } else if wrap.keep {
            self.operations(call, parsed);
        }
    }

    /// Surveys the command in the operands behind `skip`.
    fn unfold(
        &mut self,
        call: &Call,
        scope: &mut Scope,
        (parsed, wrap, name): (&Parsed, Wrap, &str),
        skip: Option<usize>,
    ) {
        let Some(skip) = skip else { return };
        let mut words = parsed.operands.get(skip..).unwrap_or_default();
        if let [first, rest @ ..] = words
            && first.known() == Some("--")
        {
            words = rest;
        }
        if let [flag, text, ..] = words
            && matches!(flag.known(), Some("-c" | "--command"))
        {
            // `flock FILE -c TEXT`.
            self.nested(call, name, text);
            return;
        }
        if let ("runuser", [_, flag, text, ..]) = (name, words)
            && matches!(flag.known(), Some("-c" | "--command"))
        {
            self.nested(&Call { privileged: true, ..call.clone() }, name, text);
            return;
        }
        if words.is_empty() {
            return;
        }
        let mut words = without_version(parsed.program.name, words);
        if wrap.remote {
            let image = skip.checked_sub(1).and_then(|at| parsed.operands.get(at));
            let entry = container::entry(parsed, name, image, words.first());
            words.splice(0..0, entry);
        }
        let mut inner = call.unfolded(name, words);
        inner.privileged |= wrap.privileged;
        inner.lenient |= wrap.lenient;
        if wrap.remote {
            inner.remote = true;
            inner.container =
                Container::of(call, parsed, name, self.facts.places.home.as_deref()).map(Rc::new);
            inner.cwd = inner.container.as_ref().and_then(|container| container.workdir.clone());
            inner.before = None;
        }
        match wrap.rest {
            Rest::Words | Rest::AfterDashes | Rest::AfterFlag => self.run_inner(inner, scope, name),
            Rest::EnvWords => {
                let mut child = scope.clone();
                while let Some(first) = inner.words.first().cloned() {
                    let settings = inner.words.len() > 1 && are_settings(&first, &call.text);
                    if !settings && !self.assigned_words(&mut child, &first) {
                        break;
                    }
                    inner.words.remove(0);
                }
                taken_away(parsed, &inner, &mut child);
                if inner.words.is_empty() {
                    self.emit(call, name, Some(parsed));
                } else {
                    self.run_inner(inner, &mut child, name);
                }
            }
            // Its words are not joined and read again.
            Rest::Text if keeps_words(name, parsed, &inner) => self.run_inner(inner, scope, name),
            Rest::Text => {
                let text = output::join_words(&inner.words);
                let mut frame = Frame::inside(&inner, "");
                frame.remote = inner.remote;
                let env = scope.child_env(inner.cwd.as_deref());
                self.script(&text, Scope { env, ..Scope::default() }, frame);
            }
        }
    }

    pub(super) fn run_inner(&mut self, inner: Call, scope: &mut Scope, name: &str) {
        if matches!(name, "command" | "builtin" | "exec" | "!" | "noglob" | "nocorrect" | "-") {
            self.run(inner, scope);
        } else {
            // A program cannot change the shell that it was started from.
            let mut child = scope.clone();
            child.env.cwd.clone_from(&inner.cwd);
            self.run(inner, &mut child);
        }
    }

    /// Command lines in the values of options.
    pub(super) fn option_commands(&mut self, call: &Call, parsed: &Parsed, name: &str) {
        let privileged = matches!(parsed.program.kind, Kind::Wrap(wrap) if wrap.privileged) || name == "su";
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            let Some(value) = &flag.value else { continue };
            let text = match role {
                Role::Shell => value.clone(),
                Role::Setting => match setting_command(value) {
                    Some(text) => text,
                    None => continue,
                },
                // `strace -o '|program'`: the file is a command that is written to.
                Role::Write if value.prefix().starts_with(['|', '!']) => {
                    match super::options::after(value, 1) {
                        Some(text) => text,
                        None => continue,
                    }
                }
                Role::Plain
                | Role::Read
                | Role::Write
                | Role::Delete
                | Role::Dir
                | Role::Dest
                | Role::Url
                | Role::Code => continue,
            };
            let mut inner = call.clone();
            inner.privileged |= privileged;
            let mut text = text;
            if flag.name == "-S" || flag.name == "--split-string" {
                // `env -S 'a b' c` runs `a b c`.
                for word in &parsed.operands {
                    output::append(&mut text, &Arg::literal(" "));
                    match word.known() {
                        Some(word) => output::append(&mut text, &Arg::literal(&single_quoted(word))),
                        None => output::append(&mut text, word),
                    }
                }
            }
            self.nested(&inner, name, &text);
        }
    }

    /// Surveys a command line that `name` runs.
    pub(super) fn nested(&mut self, call: &Call, name: &str, text: &Arg) {
        let scope = super::scope::fresh_scope(&self.facts.places, call.cwd.clone());
        self.script(text, scope, Frame::inside(call, name));
    }

    /// Surveys what comes in as commands.
    pub(super) fn input_commands(&mut self, call: &Call, name: &str, privileged: bool) {
        if let Some(text) = call.input.clone() {
            let mut inner = call.clone();
            inner.privileged |= privileged;
            inner.input = None;
            inner.stdin = super::Stdin::Pipe;
            self.nested(&inner, name, &text);
        }
    }
}

/// Whether a program that has a shell run its words runs these as they stand.
fn keeps_words(name: &str, parsed: &Parsed, inner: &Call) -> bool {
    match name {
        "watch" => parsed.flags.iter().any(|flag| matches!(flag.name.as_str(), "-x" | "--exec")),
        "pm2" => inner.words.len() > 1,
        _ => false,
    }
}

/// `env -u NAME` and `env -i` in front of a client: a variable that leads it is not there.
fn taken_away(parsed: &Parsed, inner: &Call, child: &mut Scope) {
    let first = inner.words.first().and_then(Arg::known).map(last_name);
    if parsed.program.name != "env"
        || !first.is_some_and(|name| lists::CLIENTS.contains(&name) || lists::CLIENT_RUNNERS.contains(&name))
    {
        return;
    }
    for flag in &parsed.flags {
        match (flag.name.as_str(), flag.value.as_ref().and_then(Arg::known)) {
            ("-u" | "--unset", Some(variable)) => child.set(variable, None),
            ("-i" | "--ignore-environment", _) => child.set("HOME", None),
            _ => {}
        }
    }
}

/// `env $(grep -v '^#' .env | xargs) npm test`: the lines of a file of settings are assignments.
fn are_settings(word: &Arg, text: &str) -> bool {
    let inside =
        text.strip_prefix("env $(").and_then(|rest| rest.split_once(')')).map_or("", |(inside, _)| inside);
    word.pieces.iter().all(|piece| matches!(piece, Piece::Unknown))
        && (inside.starts_with("cat ") || inside.starts_with("grep "))
        && inside.split([' ', '|', '<', '/']).any(|word| word == ".env" || word.starts_with(".env."))
}

/// A package by the name of its program: `rimraf@5`, and `@scope/name` as it stands.
fn without_version(runner: &str, words: &[Arg]) -> Vec<Arg> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|_| RUNNERS.contains(&runner)) {
        let bare = first.known().and_then(|text| text.split_once('@')).map(|(name, _)| name);
        if let Some(bare) = bare.filter(|name| !name.is_empty() && !name.contains(['/', ':'])) {
            *first = Arg::literal(bare);
        }
    }
    words
}

/// The call in the directory that an option names.
pub(super) fn in_dir(mut call: Call, parsed: &Parsed) -> Call {
    for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
        if let (Role::Dir, Some(value)) = (role, &flag.value) {
            call.cwd = match (value.known(), &call.cwd) {
                (Some(text), _) if text.starts_with('/') => Some(join("/", text)),
                (Some(text), Some(cwd)) => Some(join(cwd, text)),
                _ => None,
            };
        }
    }
    call
}
