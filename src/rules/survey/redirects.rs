//! Redirections, and what the call itself writes to files that it reads or runs later.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::output;
use super::scope::Scope;
use super::{Stdin, paths};
use crate::domain::Target;
use crate::shell::{Arg, Part, Redirect, RedirectKind, Simple, expand_defaults, expand_value};

/// Most files whose content is remembered.
const MAX_FILES: usize = 256;

/// Where the output of a command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    /// To whoever reads it: the next command, a substitution.
    On,
    /// To a file or to the standard error.
    Away,
    /// That depends on what the descriptors were before.
    Somewhere,
}

impl Goes {
    /// Where the output of this command goes, which is redirected to these files.
    pub(super) fn of(simple: &Simple, files: &[Target]) -> Goes {
        const SELF: &[&str] = &["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        let number = |redirect: &Redirect| match redirect.target.parts.as_slice() {
            [Part::Text { text, .. }] => text.parse::<u32>().ok(),
            _ => None,
        };
        let duplicates = |fd: u32| {
            let all = simple.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Duplicate);
            all.filter(move |redirect| redirect.fd.unwrap_or(1) == fd)
        };
        let mut own = duplicates(1).map(number).peekable();
        if own.peek().is_none() {
            let away = files.iter().any(|file| !SELF.contains(&file.text()));
            return if away { Goes::Away } else { Goes::On };
        }
        if own.all(|number| number == Some(2)) && duplicates(2).next().is_none() && files.is_empty() {
            return Goes::Away;
        }
        Goes::Somewhere
    }

    /// What of the output comes on.
    pub(super) fn pass(self, printed: Option<Arg>) -> Option<Arg> {
        match self {
            Goes::On => printed,
            Goes::Away => Some(Arg::default()),
            Goes::Somewhere => None,
        }
    }
}

/// The file by which a descriptor beside the usual three is read: `exec 3<<< x; sh /dev/fd/3`.
fn descriptor(number: &str) -> Option<String> {
    let other = number.parse::<u16>().ok().filter(|number| *number > 2)?;
    Some(format!("/dev/fd/{other}"))
}

/// `$(< file)`: the shell itself prints what is in the file.
pub(super) fn prints_file(simple: &Simple) -> bool {
    simple.owner.is_some()
        && simple.words.is_empty()
        && simple.assigns.is_empty()
        && matches!(simple.redirects.as_slice(), [only] if only.kind == RedirectKind::Read)
}

impl Surveyor<'_> {
    /// What a command prints, where that is known. A function of the call under a program's name does not do what the program does.
    pub(super) fn printed(&self, call: &Call) -> Option<Arg> {
        let own = call.words.first().and_then(Arg::known).and_then(|name| self.find_function(name));
        if own.is_some() { None } else { output::of(call, self.facts, &self.files) }
    }

    /// Carries out a redirection: where input comes from, which files are read and written.
    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        substituted: bool,
        scope: &Scope,
        (call, files): (&mut Call, &mut Vec<Target>),
    ) {
        let word = self.replaced(&redirect.target, substituted, scope);
        let is_input = redirect.fd.is_none_or(|fd| fd == 0);
        let whole = || output::revive(expand_value(&word, &scope.env));
        match redirect.kind {
            RedirectKind::Duplicate => {
                // `sh <&3`
                let opened =
                    whole().known().and_then(descriptor).and_then(|path| self.written(&path)).cloned();
                if let Some(text) = opened.filter(|_| is_input) {
                    call.stdin = Stdin::Text(text.clone());
                    call.input = Some(text);
                }
            }
            RedirectKind::Heredoc | RedirectKind::HereString => {
                let text = whole();
                if is_input {
                    call.stdin = Stdin::Text(text.clone());
                    call.input = Some(text);
                } else if let Some(path) = redirect.fd.and_then(|fd| descriptor(&fd.to_string()))
                    && self.files.len() < MAX_FILES
                {
                    self.files.push((path, text));
                }
            }
            RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::Write | RedirectKind::Append => {
                let args = expand_defaults(&word, &scope.env);
                let [arg] = args.as_slice() else { return };
                let arg = output::revive(arg.clone());
                let process = word.parts.iter().all(|part| matches!(part, Part::Process { .. }));
                let target = paths::target(&arg, call.cwd.as_deref(), false);
                if redirect.kind == RedirectKind::Read {
                    if is_input {
                        call.input = self.written(target.text()).cloned();
                        call.stdin = Stdin::File(target.clone());
                    }
                    if !process {
                        self.act(call, Act::Read, target.clone());
                    }
                    call.reads.push(target);
                } else if !process {
                    let append = redirect.kind == RedirectKind::Append;
                    self.act(call, Act::Create, target.clone());
                    call.writes.push((target.clone(), append));
                    if redirect.fd.is_none_or(|fd| fd == 1) {
                        files.push(target);
                    }
                }
            }
        }
    }

    /// What the call itself wrote to a file.
    pub(super) fn written(&self, path: &str) -> Option<&Arg> {
        self.files.iter().rev().find(|(other, _)| other == path).map(|(_, text)| text)
    }

    /// Remembers what a command writes to files.
    pub(super) fn remember_files(&mut self, call: &Call, files: Vec<Target>, printed: Option<&Arg>) {
        let first = call.words.first().and_then(Arg::known).unwrap_or_default();
        // `echo x | sudo tee file`
        let lifted = matches!(first, "sudo" | "doas");
        let own = |arg: &&Arg| lifted && (arg.known() == Some(first) || arg.prefix().starts_with('-'));
        let at = call.words.iter().take_while(own).count();
        let name = call.words.get(at).and_then(Arg::known).unwrap_or_default();
        let printed = if lifted && name == "tee" { call.input.as_ref() } else { printed };
        let operands = call.words.iter().skip(at + 1).filter_map(|arg| match name {
            "tee" | "sponge" => (!arg.prefix().starts_with('-')).then(|| arg.clone()),
            "dd" => arg.known()?.strip_prefix("of=").map(Arg::literal),
            _ => None,
        });
        let operands = operands.map(|arg| paths::target(&arg, call.cwd.as_deref(), false));
        for target in files.into_iter().chain(operands) {
            if let Target::Path { path, glob: false, .. } = target {
                self.comes_through(&path, printed);
                match printed {
                    Some(text) => self.remember_file(call, path, text),
                    None => {
                        self.files.retain(|(other, _)| *other != path);
                        self.copied_by_cat(call, &path);
                    }
                }
            }
        }
    }

    fn remember_file(&mut self, call: &Call, path: String, text: &Arg) {
        let append = call.writes.iter().any(|(target, append)| *append && target.text() == path)
            || call.args().iter().any(|arg| matches!(arg.known(), Some("-a" | "--append")));
        let mut whole = Arg::default();
        if append && let Some(before) = self.written(&path) {
            output::append(&mut whole, before);
            output::append(&mut whole, &Arg::literal("\n"));
        }
        output::append(&mut whole, text);
        if self.files.len() < MAX_FILES {
            self.files.push((path, whole));
        }
    }
}
