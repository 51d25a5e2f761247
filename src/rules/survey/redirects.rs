//! Redirections, and what the call itself writes to files that it reads or runs later.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::elements;
use super::output;
use super::reading::Inner;
use super::scope::Scope;
use super::walk::unknown;
use super::{Stdin, paths};
use crate::domain::{Ask, Target, join};
use crate::shell::{Arg, Context, Part, Redirect, RedirectKind, Simple, Word, expand_defaults, expand_value};

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
            all.filter(move |redirect| redirect.fd.unwrap_or(usual(redirect)) == fd)
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

/// Whether what is written to a target can be read there: it is a file, and no device or connection.
fn is_kept(target: &Target) -> bool {
    matches!(target, Target::Path { path, glob: false, .. } if !path.starts_with("/dev/"))
}

/// The descriptor that `<&3` or `>&3` is about where none is named.
fn usual(redirect: &Redirect) -> u32 {
    u32::from(!redirect.reads)
}

/// Whether a command writes behind what stands in a file.
fn appends(call: &Call, path: &str) -> bool {
    call.writes.iter().any(|(target, append)| *append && target.text() == path)
        || call.args().iter().any(|arg| matches!(arg.known(), Some("-a" | "--append")))
}

/// `$(< file)`: the shell itself prints what is in the file.
pub(super) fn prints_file(simple: &Simple) -> bool {
    (simple.owner.is_some() || simple.context == Context::Arithmetic)
        && simple.words.is_empty()
        && simple.assigns.is_empty()
        && matches!(simple.redirects.as_slice(), [only] if only.kind == RedirectKind::Read)
}

impl Surveyor<'_> {
    /// What a command prints, where that is known. A function of the call under a program's name does not do what the program does.
    pub(super) fn printed(&mut self, call: &Call) -> Option<Arg> {
        let name = call.words.first().and_then(Arg::known);
        if name.and_then(|name| self.find_function(name)).is_some() {
            return None;
        }
        if call.words.is_empty() {
            return Some(Arg::default());
        }
        let printed = output::of(call, self.facts, &self.files)
            .or_else(|| output::of(&self.filtered(call)?, self.facts, &self.files));
        let is_physical = match name {
            Some("readlink" | "realpath") => true,
            // The program knows nothing of how the shell came here.
            Some("/bin/pwd" | "/usr/bin/pwd") => true,
            Some("pwd") => call.args().iter().any(|arg| arg.known() == Some("-P")),
            _ => false,
        };
        if !is_physical {
            return printed;
        }
        let path = printed?.known()?.to_owned();
        self.ask(Ask::Path(path.clone()));
        Some(Arg::literal(&self.physical(None, &path)?))
    }

    /// A filter that is given a file which the call itself wrote, as one that has it as its input.
    fn filtered(&self, call: &Call) -> Option<Call> {
        if self.files.is_empty() {
            return None;
        }
        let (last, words) =
            call.words.split_last().filter(|(_, words)| !words.is_empty() && call.input.is_none())?;
        let path = join(call.cwd.as_deref()?, last.known()?);
        let input = Some(self.written(&self.led(path))?.clone());
        Some(Call { words: words.to_vec(), input, ..call.clone() })
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
                    self.duplicate(scope, (number.unwrap_or(usual(redirect)), of), (call, files));
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
                self.file_redirect(redirect, (&word, number), scope, (call, files, inner));
            }
        }
    }

    /// Carries out a redirection from or to a file.
    fn file_redirect(
        &mut self,
        redirect: &Redirect,
        (word, number): (&Word, Option<u32>),
        scope: &mut Scope,
        (call, files, inner): (&mut Call, &mut Vec<Target>, &[Inner]),
    ) {
        let is_input = number.is_none_or(|fd| fd == 0);
        let other = number.filter(|fd| *fd != 0);
        let args = elements::whole(word, scope).unwrap_or_else(|| expand_defaults(word, &scope.env));
        let [arg] = args.as_slice() else { return };
        if let (true, Some(of)) = (redirect.doubles, arg.known().filter(|of| is_number(of))) {
            self.duplicate(scope, (number.unwrap_or(usual(redirect)), of), (call, files));
            return;
        }
        let mut arg = output::revive(arg.clone());
        self.named_plainly(&mut arg, scope, call.cwd.as_deref());
        if let Some(of) = arg.prefix().strip_prefix("/dev/fd/").filter(|of| is_number(of))
            && scope.is_open(of)
        {
            self.duplicate(scope, (number.unwrap_or(usual(redirect)), of), (call, files));
            return;
        }
        let process = word.parts.iter().all(|part| matches!(part, Part::Process { .. }));
        let target = paths::target(&arg, call.cwd.as_deref(), false);
        if let Some(number) = other.filter(|_| !redirect.reads) {
            self.open_output(scope, number, (&redirect.target, inner));
        }
        let kept = number.filter(|number| *number > 1 && !process && is_kept(&target));
        if let Some(number) = kept {
            scope.open_file(number, target.clone());
        }
        let reads = matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite);
        if reads && is_input || redirect.kind == RedirectKind::Read {
            if is_input {
                call.input = self.written(target.text()).cloned();
                call.stdin = Stdin::File(target.clone());
                self.draw_named(scope, &[arg]);
            } else if let Some(number) = other.filter(|_| kept.is_none()) {
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
            call.reads.push(target.clone());
        }
        // `exec > >(sh)` is for the commands behind it.
        let stays = call.words.first().and_then(Arg::known) == Some("exec");
        let leads = redirect.kind != RedirectKind::Read
            && !stays
            && matches!(redirect.target.parts.as_slice(), [Part::Process { .. }]);
        if leads && number.is_none_or(|fd| fd == 1) {
            self.lead_into(&redirect.target, inner, call);
        }
        if redirect.kind != RedirectKind::Read && !process && !leads {
            let begun = (target.text().to_owned(), redirect.target.span);
            let append = redirect.kind == RedirectKind::Append || self.begun.contains(&begun);
            if self.begun.len() < MAX_FILES && !append {
                self.begun.push(begun);
            }
            self.act(call, Act::Create, target.clone());
            call.writes.push((target.clone(), append));
            if number.unwrap_or(usual(redirect)) == 1 {
                if is_kept(&target) {
                    // What a function or a shell prints in this command's place goes there too.
                    scope.open_file(1, target.clone());
                }
                files.push(target);
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
                    // What stood there stands in front of it.
                    None if self.written(&path).is_some() && appends(call, &path) => {
                        self.remember_file(call, path, &unknown());
                    }
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
        let append = appends(call, &path);
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
