//! Data that goes from one command of a call to another.

use super::leaving::{TLS, connects, is_sender, leaves_machine, reads_secret, sends};
use super::{
    Flow, Found, Scene, flag_value, has_flag, is_interpreter, is_shell, prints_secret, runs, runs_code,
    runs_shell,
};
use crate::domain::Target;
use crate::rules::builtin::{lists, only_as_argument};
use crate::rules::trail::named_by;
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

pub(super) fn find<'a>(flow: Flow, scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    // Of most calls the programs alone say that nothing takes what comes.
    let takes = match flow {
        Flow::DownloadToInterpreter | Flow::DecodedToInterpreter => scene.runs_any(|inv| !is_deaf(inv)),
        Flow::SecretToNetwork => scene.runs_any(|inv| runs(inv, TLS) || is_sender(inv) || connects(inv)),
    };
    if !takes {
        return Found::No;
    }
    match flow {
        Flow::DownloadToInterpreter => match reaches(all, fetches, runs_input) {
            // Names and lines of one's own containers are data as long as none of them is the command.
            Found::No => reaches(all, downloads, |inv, by| {
                runs_input(inv, by) && !code_flag(inv).is_some_and(only_as_argument)
            }),
            found @ (Found::Yes(_) | Found::Unsure(_)) => found,
        },
        Flow::DecodedToInterpreter => reaches(all, decodes, runs_input),
        Flow::SecretToNetwork => {
            let itself = all.iter().find(|inv| leaves_machine(inv) && sends(inv, scene));
            match itself {
                Some(inv) => Found::yes(&inv.text),
                None => match reaches(all, |inv| reads_secret(inv, scene), |inv, _| leaves_machine(inv)) {
                    // A bare connection is no host that a credential could be for.
                    Found::No => reaches(all, prints_secret, |inv, _| connects(inv)),
                    found @ (Found::Yes(_) | Found::Unsure(_)) => found,
                },
            }
        }
    }
}

/// How data comes to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Pipe,
    Substitution,
}

/// A command that `from` holds for, and one behind it (in its pipeline, or around its substitution) that `to` holds for.
fn reaches<'a>(
    all: &'a [Invocation],
    from: impl Fn(&Invocation) -> bool,
    to: impl Fn(&Invocation, By) -> bool,
) -> Found<'a> {
    // What takes is told by its program, what gives by all its arguments.
    if !all.iter().any(|inv| to(inv, By::Pipe) || to(inv, By::Substitution)) || !all.iter().any(&from) {
        return Found::No;
    }
    // Sorted once, so that a long command line costs no more than its length.
    let stages = Stages::of(all.iter());
    let sinks = Stages::of(all.iter().filter(|inv| to(inv, By::Pipe)));
    for source in all.iter().filter(|inv| from(inv)) {
        // What it prints goes on through its pipeline, and to the command around it.
        let (mut open, mut seen) = (vec![source], Vec::new());
        while let Some(at) = open.pop() {
            let last = sinks.last(at.pipeline).filter(|sink| sink.stage > at.stage);
            let behind = stages.last(at.pipeline).and_then(|last| last.feeds);
            let outer = [at.feeds, behind.filter(|behind| Some(*behind) != at.feeds)].into_iter().flatten();
            for index in outer.filter(|index| !seen.contains(index)).collect::<Vec<_>>() {
                seen.push(index);
                open.extend(all.get(index));
            }
            let around = || open.iter().copied().find(|outer| to(outer, By::Substitution));
            if let Some(sink) = last.or_else(around) {
                return Found::Yes(format!("{} → {}", source.text, sink.text).into());
            }
        }
    }
    Found::No
}

/// Commands by their pipeline and place in it.
struct Stages<'a>(Vec<&'a Invocation>);

impl<'a> Stages<'a> {
    fn of(all: impl Iterator<Item = &'a Invocation>) -> Stages<'a> {
        let mut sorted: Vec<&Invocation> = all.collect();
        crate::domain::sort_by_key(&mut sorted, |inv| (inv.pipeline, inv.stage));
        Stages(sorted)
    }

    /// The last of them in a pipeline.
    fn last(&self, pipeline: u32) -> Option<&'a Invocation> {
        let behind = self.0.partition_point(|inv| inv.pipeline <= pipeline);
        let last = self.0.get(behind.checked_sub(1)?)?;
        (last.pipeline == pipeline).then_some(*last)
    }
}

fn downloads(inv: &Invocation) -> bool {
    let sub = |words: &[&str]| {
        let mut given = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known));
        words.iter().all(|word| given.next() == Some(*word))
    };
    match inv.program.as_str() {
        // To the output only: `aws s3 cp s3://… -`.
        "aws" => sub(&["s3", "cp"]) && inv.args.last().and_then(Arg::known) == Some("-"),
        "gsutil" | "rclone" | "mc" => sub(&["cat"]) || sub(&["cp"]),
        "gcloud" => sub(&["storage", "cat"]),
        "kubectl" | "docker" | "podman" => ["exec", "logs", "get", "run"].iter().any(|word| sub(&[word])),
        "gh" => sub(&["api"]) || sub(&["gist", "view"]),
        _ => fetches(inv),
    }
}

fn fetches(inv: &Invocation) -> bool {
    runs(inv, lists::DOWNLOADERS) || runs(inv, lists::NETCATS) || runs(inv, lists::CONNECTIONS)
}

/// Interpreters with modules that decode.
pub(super) const DECODING: &[&str] = &["python", "python3"];

fn decodes(inv: &Invocation) -> bool {
    runs(inv, lists::DECODERS)
        || runs(inv, DECODING)
            && inv.args.windows(2).any(|pair| match pair {
                [flag, module] => {
                    flag.known() == Some("-m")
                        && matches!(module.known(), Some("base64" | "zlib" | "uu" | "quopri"))
                }
                _ => false,
            })
}

/// The same as the flow of decoded text to an interpreter, where the text is not plain to us.
pub(crate) fn unread_decoded<'a>(scene: &Scene<'a>) -> Found<'a> {
    if !scene.runs_any(|inv| !is_deaf(inv)) {
        return Found::No;
    }
    reaches(scene.invocations(), decodes, |inv, by| runs_input(inv, by) && !is_plain_to_us(inv, scene))
}

/// Whether what a shell reads was followed through its decoders, and is made of commands that we know: it is judged by what it does.
/// Who hides the question which machine or user this is looks around.
fn is_plain_to_us(shell: &Invocation, scene: &Scene<'_>) -> bool {
    const ASKS: &[&str] = &["whoami", "id", "uname", "hostname", "who", "w", "last", "ifconfig", "ip"];
    let mut read = scene.read_by(shell).peekable();
    runs_shell(shell)
        && read.peek().is_some()
        && read.all(|inv| !runs(inv, ASKS) && crate::rules::facts::find(&inv.program).is_some())
}

/// By its place it is remembered which programs run nothing of what comes in.
static DEAF: [u8; 1] = [0];

/// Whether a program runs nothing of what comes in, however it is called.
fn is_deaf(inv: &Invocation) -> bool {
    inv.listed.known_or(&DEAF, || {
        let program = inv.program.as_str();
        let listed = [lists::RUN_IN_SHELL, FED].iter().any(|list| super::command::is_one_of(program, list));
        let told = TOLD_OTHERWISE.contains(&program) || listed;
        !told && !is_shell(program) && !is_interpreter(program)
    })
}

/// `bun add`: what it is given is the name of a package.
fn manages_packages(inv: &Invocation) -> bool {
    let manages = |word: &str| matches!(word, "add" | "install" | "i" | "remove" | "update" | "pm");
    inv.program == "bun" && inv.args.first().and_then(Arg::known).is_some_and(manages)
}

/// Whether an interpreter runs what comes to it that way, instead of treating it as data.
pub(crate) fn runs_input(inv: &Invocation, by: By) -> bool {
    if does_what_comes(inv, by) {
        return true;
    }
    if is_deaf(inv) || manages_packages(inv) {
        return false;
    }
    if inv.program.is_empty() {
        // `… | $SHELL`: whatever it is called, it is a shell.
        let is_shell = || ["$SHELL", "${SHELL", "$0", "$BASH"].iter().any(|name| inv.text.contains(name));
        return by == By::Substitution || is_shell();
    }
    if inv.program == "parallel" {
        // Without a command, each line that comes in is one.
        return by == By::Pipe && inv.operands.first().is_none_or(|first| first.known() == Some("{}"));
    }
    if runs(inv, &["pwsh", "powershell"]) {
        return by == By::Pipe && inv.args.iter().any(|arg| arg.known() == Some("-"));
    }
    if inv.program == "m4" {
        // Its macros start commands; without a file, or for `-`, it reads what comes in.
        return by == By::Pipe && inv.operands.iter().all(|file| file.known() == Some("-"));
    }
    if inv.program == "uv" {
        // `uv run -`: a script that comes in.
        let says = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
        return by == By::Pipe && says("run") && says("-");
    }
    if by == By::Pipe && runs_shell(inv) && inv.wrappers.last().is_some_and(|name| name == "xargs") {
        // `xargs sh -c`: what comes in is the code, or a part of it.
        return code_flag(inv).is_none_or(Arg::has_unknown) && has_flag(inv, "-c");
    }
    if runs(inv, lists::RUN_IN_SHELL) {
        // In fish `source` alone reads what comes in.
        let bare = inv.program == "source" && inv.operands.is_empty();
        return by == By::Substitution || bare || names_stdin(inv);
    }
    if runs(inv, &["make", "gmake", "awk", "gawk", "mawk", "sed"]) && by == By::Pipe {
        // `make -f -`: the rules that come in are run.
        let file =
            inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "-f" | "--file" | "--makefile"));
        let mut names = file.filter_map(|flag| flag.value.as_ref().and_then(Arg::known));
        return names.any(|name| matches!(name, "-" | "/dev/stdin"));
    }
    if runs(inv, &["gdb", "lldb", "vim", "nvim", "vi", "ex", "emacs"]) {
        // What they show is a text, what a script of theirs is called is run.
        let named = inv.args.iter().any(|arg| arg.text().contains("/dev/stdin"));
        let script = flag_value(inv, &["-S", "-x", "-s", "-l", "--load", "--script", "--source"]);
        return named || by == By::Substitution && script.is_some_and(Arg::has_unknown);
    }
    if !runs_shell(inv) && !runs_code(inv) {
        return false;
    }
    if crate::rules::survey::only_checks(&inv.program, &inv.args) {
        return false;
    }
    let code = code_flag(inv);
    let started = || flag_value(inv, &["--rcfile", "--init-file"]).is_some_and(is_printed);
    if by == By::Substitution && started() {
        return true;
    }
    match by {
        By::Pipe => {
            let from_stdin = has_flag(inv, "-s") && runs_shell(inv);
            code.is_some_and(|code| runs_what_comes(&code.text()))
                || code.is_none()
                    && !has_flag(inv, "-m")
                    && (from_stdin || inv.operands.is_empty() || names_stdin(inv))
                    && !runs(inv, lists::SCRIPTED_FILTERS)
        }
        By::Substitution => match code {
            Some(code) => code.has_unknown() || runs_what_comes(&code.text()),
            None => inv.operands.first().is_some_and(is_printed) || stdin_unknown(inv),
        },
    }
}

/// Whether a program does what a file says which an option or a word of it names, and that file is what comes in.
fn does_what_comes(inv: &Invocation, by: By) -> bool {
    match by {
        By::Substitution => {
            !runs(inv, &["xargs", "parallel", "docker", "podman", "ssh", "scp", "sftp"])
                && named_by(inv).iter().any(is_printed)
        }
        By::Pipe => runs(inv, FED) && named_by(inv).iter().any(is_input),
    }
}

/// Whether an argument is what a substitution prints, or the file that it is read from.
fn is_printed(arg: &Arg) -> bool {
    arg.has_unknown() || arg.prefix().starts_with("/dev/fd/")
}

words!("matcher/flow");

/// Code that runs what comes to it on its standard input.
fn runs_what_comes(code: &str) -> bool {
    if OF_LINES.iter().any(|way| code.contains(way)) || matches!(code.trim(), "eval" | "system" | "exec") {
        return true;
    }
    let reads = |way: &&str| code.contains(way);
    if INPUT_READ.iter().any(reads) && TEXT_RUN.iter().any(reads) {
        return true;
    }
    INPUT_RUN.iter().any(|way| {
        reads(way) && (!way.contains("readFileSync") && !way.contains("_contents") || code.contains("eval("))
    })
}

fn names_stdin(inv: &Invocation) -> bool {
    inv.operands.first().is_some_and(is_input)
}

fn is_input(arg: &Arg) -> bool {
    matches!(arg.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Programs that do what a file says which an option of theirs names, and that file may be their input.
const FED: &[&str] = &["pip", "pip3", "uv", "docker", "podman", "ansible-playbook", "go"];

fn stdin_unknown(inv: &Invocation) -> bool {
    match &inv.stdin {
        Stdin::Text(arg) => arg.has_unknown(),
        Stdin::File(target) => matches!(target, Target::UnknownPath { .. }),
        Stdin::Inherited | Stdin::Pipe => false,
    }
}

/// The code that an option gives to an interpreter; options may be bundled (`-lc`, `-ne`), and code may follow as operand.
pub(super) fn code_flag(inv: &Invocation) -> Option<&Arg> {
    let names: &[&str] = &["-c", "-e", "-E", "--eval", "-r", "-p", "--print", "--command"];
    let flag = inv.flags.iter().find(|flag| names.contains(&flag.name.as_str()))?;
    flag.value.as_ref().or_else(|| inv.operands.first())
}
