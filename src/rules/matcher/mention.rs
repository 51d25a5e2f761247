//! Code in another language than the shell's: it is not parsed, only searched for what it names.

use super::flow::code_flag;
use super::loaded::loaded;
use super::when::Holds;
use super::{Found, Scene, Sought, command, has_flag, inside, own_hooks, reads, runs, runs_code};
use crate::domain::{Protected, ProtectedKind, last_name, letter_at};
use crate::rules::builtin::lists;
use crate::rules::facts::{self, Kind, Operands, Operation};
use crate::rules::foreign::Account;
use crate::rules::survey::only_checks;
use crate::rules::trail::runs_standard_module;
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;
use std::rc::Rc;

pub(super) fn find<'a>(code: &Holds<'_>, scene: &Scene<'a>) -> Found<'a> {
    for inv in scene.running(|inv| is_one_of(inv, code.programs)) {
        let holds = scene.codes(inv).iter().any(|text| code.all.iter().all(|group| text.uses_any(group)));
        if holds {
            return Found::yes(&inv.text);
        }
    }
    Found::No
}

/// One of the programs, with or without a version behind its name (`python3.12`).
fn is_one_of(inv: &Invocation, programs: &[&str]) -> bool {
    if programs.is_empty() {
        return runs_code(inv);
    }
    command::is_one_of(&inv.program, programs) || programs.contains(&command::without_version(&inv.program))
}

/// The texts that an interpreter is given to run: its arguments, its standard input, the script where it is known, and what of the
/// call's own files these load.
pub(crate) fn code_of<'i>(inv: &'i Invocation, scene: &'i Scene<'_>) -> impl Iterator<Item = String> + 'i {
    let runs_none = runs_standard_module(inv) || only_checks(&inv.program, &inv.args);
    let script = inv.operands.first().filter(|_| !runs_none).and_then(|arg| {
        let target = super::target_of(arg, inv.cwd.as_deref());
        content(scene, target.text())
    });
    // Of a filter the operands behind its program are only what it reads.
    let filter = lists::SCRIPTED_FILTERS.contains(&inv.program.as_str());
    let from_file = filter && has_flag(inv, "-f");
    let count = if filter { usize::from(!from_file) } else { usize::MAX };
    let given = if filter { &inv.operands } else { &inv.args };
    let beside = loaded(inv, script.as_deref(), scene);
    let texts = given.iter().take(count).map(Arg::to_text).chain(input_of(inv, scene)).chain(script);
    texts.chain(beside)
}

/// Whether a text is a bare name: of a file, a module, an option. As code it would say nothing.
pub(crate) fn is_bare_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/'))
}

/// What comes to a command on its standard input, as far as it is known.
pub(crate) fn input_of(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    match &inv.stdin {
        Stdin::Text(arg) => vec![arg.to_text()],
        Stdin::File(target) => content(scene, target.text()).into_iter().collect(),
        Stdin::Inherited => Vec::new(),
        Stdin::Pipe => {
            let before = |other: &&&Invocation| other.stage < inv.stage;
            let sources = scene.printers(inv.pipeline).iter().filter(before);
            let texts = sources.flat_map(|other| {
                let heredoc = match &other.stdin {
                    Stdin::Text(arg) => Some(arg.to_text()),
                    Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => None,
                };
                let formed = (other.program == "printf").then(|| formed(&other.args)).flatten();
                other.args.iter().map(Arg::to_text).chain(heredoc).chain(formed)
            });
            let mut texts: Vec<String> = texts.collect();
            let decoder =
                scene.first(DECODERS, |other| other.pipeline == inv.pipeline && other.stage < inv.stage);
            if let Some(decoder) = decoder {
                if let Stdin::Text(arg) = &decoder.stdin {
                    texts.push(arg.to_text());
                }
                let decoded: Vec<String> = texts.iter().filter_map(|text| decoded(text, decoder)).collect();
                texts.extend(decoded);
            }
            texts
        }
    }
}

/// Programs that turn letters back into the bytes that they stand for.
const DECODERS: &[&str] = &["base64", "gbase64", "basenc", "openssl", "xxd"];

/// What a decoder makes of a text of printable letters only.
fn decoded(text: &str, decoder: &Invocation) -> Option<String> {
    let text = text.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    if text.len() < 8 || text.len() > 64 * 1024 || !text.bytes().all(plain) {
        return None;
    }
    let bytes = if decoder.program == "xxd" {
        let digits = text.as_bytes().chunks_exact(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        digits.map(byte).collect::<Option<Vec<u8>>>()?
    } else {
        crate::rules::survey::output::decode(text)
    };
    String::from_utf8(bytes).ok()
}

/// What `printf` makes of a format with `%s` in it.
fn formed(args: &[Arg]) -> Option<String> {
    let (format, values) = args.split_first()?;
    let format = format.known().filter(|format| format.contains(['%', '\\']) && format.len() < 4096)?;
    // Two backslashes are one, and escape nothing.
    let format = format.replace("\\\\", "\u{1}").replace("\\n", "\n").replace("\\t", "\t");
    let format = format.replace('\u{1}', "\\");
    let mut values = values.iter();
    let mut out = String::new();
    for (at, part) in format.split("%s").enumerate() {
        if at > 0 {
            out.push_str(&values.next().map(Arg::text).unwrap_or_default());
        }
        out.push_str(part);
    }
    Some(out)
}

/// The text of a file: what the call itself writes there, else what is there.
pub(crate) fn content(scene: &Scene<'_>, path: &str) -> Option<String> {
    match scene.view.survey.written.iter().rev().find(|(file, _)| file == path) {
        Some((_, text)) => Some(text.to_text()),
        None => scene.view.facts.content(path).flatten().map(str::to_owned),
    }
}

/// Whether `text` holds `word`, without regard to ASCII case.
pub(crate) fn contains_word(text: &str, word: &str) -> bool {
    let Some((first, rest)) = word.as_bytes().split_first() else { return true };
    let mut left = text.as_bytes();
    // Where too little is left, it cannot stand.
    while let Some(starts) = left.len().checked_sub(rest.len()).and_then(|starts| left.get(..starts)) {
        let Some(at) = letter_at(starts, *first) else { return false };
        left = left.get(at + 1..).unwrap_or_default();
        if left.get(..rest.len()).is_some_and(|window| window.eq_ignore_ascii_case(rest)) {
            return true;
        }
    }
    false
}

/// Letters, digits, dots, dashes and underscores only: what is left of a path after quotes, joins and slashes are gone.
pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')).collect()
}

/// The first command whose doings we cannot tell (an interpreter, a program we do not know) and that names a protected
/// place.
pub(crate) fn mentions_protected<'a>(scene: &Scene<'a>) -> Found<'a> {
    let mut needles: Vec<Needle<'a>> = Vec::new();
    let mut around: Option<Option<&str>> = None;
    for inv in scene.running(|inv| runs_code(inv) || is_unknown(inv)) {
        if only_prints(inv) {
            continue;
        }
        if needles.is_empty() {
            needles.extend(scene.view.facts.places.protected.iter().filter_map(Needle::of));
        }
        let cwd = inv.cwd.as_deref();
        // Hundreds of commands run in the same directory.
        if around != Some(cwd) {
            if !needles.iter().any(|needle| needle.is_around(cwd)) {
                around = Some(cwd);
            } else if !reads::code_only_reads(inv, scene) {
                return Found::yes(&inv.text);
            }
        }
        if inv.args.is_empty() && inv.stdin == Stdin::Inherited {
            continue;
        }
        let mut before: [&str; 2] = [""; 2];
        let codes = scene.codes(inv);
        // A script that is run does what it does wherever it lies.
        let runs_script = runs_code(inv)
            && code_flag(inv).is_none()
            && super::flag_value(inv, &["-m"]).is_none()
            && !runs(inv, lists::SCRIPTED_FILTERS);
        let script = inv.operands.first().filter(|_| runs_script).and_then(Arg::known);
        let script = script.filter(|path| !path.contains(char::is_whitespace) && !path.contains('('));
        for text in codes.iter().filter(|text| script != Some(&***text)) {
            // Hundreds of options say the same again and again.
            if before.contains(&&**text) {
                continue;
            }
            before = [before[1], text];
            let names = |text: &str| {
                let squeezed = Sought::new(squeeze(text));
                needles.iter().any(|needle| needle.is_in((text, &squeezed), cwd))
            };
            let without = || own_hooks::left_out(text, cwd, &scene.view.facts.places);
            if names(text)
                && (runs_code(inv) || !(is_said(text, cwd) || only_looks(text)))
                && without().is_none_or(|text| names(&text))
                && !reads::code_only_reads(inv, scene)
                && whole(inv, text, scene)
                    .and_then(|code| reads::touched(&code))
                    .is_none_or(|touched| names(&touched))
            {
                return Found::yes(&inv.text);
            }
        }
    }
    Found::No
}

/// Words without a path: `run_test "OpenCode plugin is there"`. In a client's own directory a name is a path.
fn is_said(text: &str, cwd: Option<&str>) -> bool {
    text.contains(' ') && !text.contains(['/', '.']) && cwd.is_some_and(|cwd| !cwd.contains("/."))
}

/// A text that, run as a command line, only looks: `run_test 'is there' "[ -f .config/x ]"`. As a mere text it does nothing either.
fn only_looks(text: &str) -> bool {
    const LOOKING: &[&str] =
        &["[", "[[", "test", "grep", "ls", "stat", "wc", "head", "tail", "cat", "jq", "diff", "cmp"];
    let commands = || text.split(['|', '&', ';', '\n']).map(str::trim).filter(|command| !command.is_empty());
    let looks = |command: &str| {
        let command = command.trim_start_matches("! ");
        command.split_whitespace().next().is_some_and(|program| LOOKING.contains(&program))
    };
    let text = &text
        .replace("2>&1", "")
        .replace("&>/dev/null", "")
        .replace(">/dev/null", "")
        .replace("> /dev/null", "");
    text.contains(char::is_whitespace)
        && !text.contains(['>', '`'])
        && !["$(", "<("].iter().any(|sign| text.contains(sign))
        && commands().next().is_some()
        && commands().all(looks)
}

/// What code does that is given on the line, or as the script that is run.
fn whole(inv: &Invocation, text: &str, scene: &Scene<'_>) -> Option<Rc<Account>> {
    let is_script = || {
        let script = inv.operands.first().filter(|_| code_flag(inv).is_none());
        let target = script.map(|script| super::target_of(script, inv.cwd.as_deref()));
        target.and_then(|target| content(scene, target.text())).is_some_and(|content| content == text)
    };
    (reads::given(inv) == Some(text) || is_script()).then(|| scene.account(&inv.program, text))?
}

/// `python3 -m json.tool FILE`, of which a second file would be written, and what only says whether code can be read.
fn only_prints(inv: &Invocation) -> bool {
    const CHECKERS: &[&str] = &["py_compile", "ast", "tokenize", "pyflakes", "mypy", "pyright"];
    let mut words = inv.args.iter().filter_map(Arg::known);
    match (words.next(), words.next()) {
        (Some("-m"), Some("json.tool")) => inv.args.len() <= 3,
        (Some("-m"), Some(module)) => CHECKERS.contains(&module),
        (Some("--check" | "-c"), Some(_)) => runs(inv, &["node"]) && inv.args.len() == 2,
        (Some("-l"), Some(_)) => runs(inv, &["php"]) && inv.args.len() == 2,
        _ => runs(inv, &["tsc"]) && has_flag(inv, "--noEmit"),
    }
}

/// A program of which the tables do not say what it does with the files that it is given.
fn is_unknown(inv: &Invocation) -> bool {
    if runs(inv, lists::CLIENTS) || inv.program == "lazaret" {
        return false;
    }
    facts::find(&inv.program).is_none_or(|found| {
        let opaque = matches!(found.operation, Operation::Unknown | Operation::Process);
        let plain = matches!(found.kind, Kind::Plain | Kind::Dash | Kind::Raw);
        opaque && plain && found.operands == Operands::Text
    })
}

/// A protected place and the end of its path, by which code would name it.
struct Needle<'a> {
    place: &'a Protected,
    dir: &'a str,
    before: &'a str,
    last: &'a str,
    /// `settings.local.json` is found by `settings`: code may put the name together.
    stem: &'a str,
    /// What of the stem is asked for first: see [`Sought::ends`].
    ends: u64,
}

impl<'a> Needle<'a> {
    fn of(place: &'a Protected) -> Option<Needle<'a>> {
        let (dir, last) = place.path.rsplit_once('/')?;
        let before = last_name(dir);
        let stem = match last.split('.').next() {
            Some(stem)
                if !stem.is_empty()
                    && place.kind == ProtectedKind::ClientSettings
                    && before.starts_with('.') =>
            {
                stem
            }
            _ => last,
        };
        Some(Needle { place, dir, before, last, stem, ends: Sought::ends(stem) })
    }

    /// Whether a program runs inside the place: whatever it writes there is written into it.
    fn is_around(&self, cwd: Option<&str>) -> bool {
        self.place.tree && cwd.is_some_and(|cwd| inside(cwd, &self.place.path))
    }

    /// Whether a path has the place's name in it. `npm test -- opencode`: as a word that is no file of its own it says nothing.
    fn is_named_by(&self, path: &str) -> bool {
        let mut before = None;
        path.split('/').filter(|part| !part.is_empty()).any(|part| {
            let around = before.replace(part);
            part.eq_ignore_ascii_case(self.last)
                && match around {
                    None => self.last.contains('.'),
                    Some(around) => around.starts_with('.') || around.eq_ignore_ascii_case(self.before),
                }
        })
    }

    /// Whether squeezed code, run in `cwd`, names the place.
    fn is_in(&self, (text, squeezed): (&str, &Sought), cwd: Option<&str>) -> bool {
        if !squeezed.may_have(self.ends) || !squeezed.holds(self.stem) {
            return false;
        }
        let here = || cwd.is_some_and(|cwd| cwd.eq_ignore_ascii_case(self.dir));
        if lists::TELLING_NAMES.contains(&self.last) || here() {
            if is_bare_name(text) && !here() {
                return self.is_named_by(text);
            }
            let hidden = self.before.starts_with('.');
            // A directory of the client's name, `/tmp/opencode`, is not its settings.
            return hidden && (here() || squeezed.holds(self.before)) || squeezed.holds(self.last);
        }
        match self.place.kind {
            // Both parts anywhere: `os.chdir(".claude"); open("settings.json")`.
            ProtectedKind::ClientSettings if self.before.starts_with('.') => squeezed.holds(self.before),
            ProtectedKind::ClientSettings | ProtectedKind::Own | ProtectedKind::Keys => {
                squeezed.holds(&format!("{}{}", self.before, self.last))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_squeezed() {
        assert_eq!(
            squeeze("os.path.join('.cl' + 'aude', \"settings.json\")"),
            "os.path.join.claudesettings.json"
        );
    }
}
