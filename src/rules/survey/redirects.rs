//! Redirections, and what the call itself writes to files that it reads or runs later.

use super::Surveyor;
use super::call::Call;
use super::descriptors::named_plainly;
use super::effects::Act;
use super::output;
use super::reading::Inner;
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

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The descriptor that `<&3` or `>&3` is about where none is named.
fn usual(redirect: &Redirect) -> u32 {
    u32::from(!redirect.reads)
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
        scope: &mut Scope,
        (call, files, inner): (&mut Call, &mut Vec<Target>, &[Inner]),
    ) {
        let word = self.replaced(&redirect.target, substituted, scope).into_owned();
        let number = self.opened_number(redirect, scope);
        let is_input = number.is_none_or(|fd| fd == 0);
        let other = number.filter(|fd| *fd != 0);
        let whole = |scope: &Scope| output::revive(expand_value(&word, &scope.env));
        match redirect.kind {
            RedirectKind::Duplicate => {
                // `sh <&3`
                if let Some(of) = whole(scope).known() {
                    self.duplicate(scope, number.unwrap_or(usual(redirect)), of, call);
                }
            }
            RedirectKind::Heredoc | RedirectKind::HereString => {
                let text = whole(scope);
                if is_input {
                    call.stdin = Stdin::Text(text.clone());
                    call.input = Some(text);
                } else if let Some(number) = other {
                    let text_in = (Stdin::Text(text.clone()), Some(text.clone()));
                    self.open_input(scope, number, text_in, (&redirect.target, inner));
                    self.name_descriptor(number, &text);
                }
            }
            RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::Write | RedirectKind::Append => {
                let args = expand_defaults(&word, &scope.env);
                let [arg] = args.as_slice() else { return };
                if let (true, Some(of)) = (redirect.doubles, arg.known().filter(|of| is_number(of))) {
                    self.duplicate(scope, number.unwrap_or(usual(redirect)), of, call);
                    return;
                }
                let arg = named_plainly(output::revive(arg.clone()));
                let process = word.parts.iter().all(|part| matches!(part, Part::Process { .. }));
                let target = paths::target(&arg, call.cwd.as_deref(), false);
                if redirect.kind == RedirectKind::Read {
                    if is_input {
                        call.input = self.written(target.text()).cloned();
                        call.stdin = Stdin::File(target.clone());
                        self.draw_named(scope, &[arg]);
                    } else if let Some(number) = other {
                        let text = self.written(target.text()).cloned();
                        if let Some(text) = &text {
                            self.name_descriptor(number, text);
                        }
                        let file = (Stdin::File(target.clone()), text);
                        self.open_input(scope, number, file, (&redirect.target, inner));
                    }
                    if !process {
                        self.act(call, Act::Read, target.clone());
                    }
                    call.reads.push(target);
                } else if matches!(redirect.target.parts.as_slice(), [Part::Process { .. }]) {
                    if number.is_none_or(|fd| fd == 1) {
                        self.lead_into(&redirect.target, inner, call);
                    }
                } else {
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

    /// Notes what is read by the name of a descriptor: `exec 3<<< x; sh /dev/fd/3`.
    pub(super) fn name_descriptor(&mut self, number: u32, text: &Arg) {
        if self.files.len() < MAX_FILES {
            self.files.push((format!("/dev/fd/{number}"), text.clone()));
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
                        if self.unread.len() < MAX_FILES {
                            self.unread.push(path.clone());
                        }
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
