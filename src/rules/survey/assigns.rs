//! Assignments to variables, and the builtins that change the shell that they run in.

use super::call::Call;
use super::options::Parsed;
use super::output;
use super::scope::Scope;
use super::{Stdin, Surveyor};
use crate::rules::commands::Builtin;
use crate::shell::{Arg, Assign, Piece, Word, expand_defaults, expand_value_defaults};

/// Most values of a loop's variable that are tried one by one.
const MAX_CHOICES: usize = 32;

/// Variables whose value is a command that other programs run.
const COMMAND_VARS: &[&str] = &[
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "PSQL_EDITOR",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SVN_EDITOR",
    "SYSTEMD_PAGER",
    "VISUAL",
];

/// Whether the value of a variable is run as a command, or expanded as one.
fn is_run(name: &str, value: &Arg) -> bool {
    let prompt =
        || matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT") && value.text().contains(['`', '(']);
    // A build calls these by name; more than a name and its options is a command line of somebody's own.
    let tool = || {
        matches!(name, "CC" | "CXX" | "LD" | "AR" | "SHELL" | "MAKE")
            && value.text().contains([';', '|', '&', '`'])
    };
    COMMAND_VARS.contains(&name) || prompt() || tool()
}

impl Surveyor<'_> {
    /// Sets the variable that `printf -v` prints into.
    pub(super) fn set_printed(&mut self, call: &Call, scope: &mut Scope) {
        if let Some((name, value)) = output::printed_into(call) {
            let value = value.map(|value| output::freeze(&value));
            self.tainted |= value.as_ref().is_some_and(|(_, marked)| *marked);
            scope.set(&name, value.map(|(text, _)| text));
        }
    }

    /// Carries out an assignment. `maybe`: it may not happen. `substituted`: what its substitutions print is known. `fed`: the commands in its value.
    pub(super) fn assign(
        &mut self,
        scope: &mut Scope,
        assign: &Assign,
        (maybe, substituted): (bool, bool),
        fed: &[usize],
    ) {
        if !assign.list.is_empty() {
            if assign.array {
                self.assign_array(scope, assign, substituted);
            } else {
                self.assign_list(scope, assign, substituted);
            }
            return;
        }
        if let Some(at) = &assign.key {
            self.assign_element(scope, assign, at);
            return;
        }
        if assign.array && !assign.append {
            scope.forget_array(&assign.name);
        }
        let value = output::revive(expand_value_defaults(&assign.value, &scope.env));
        if is_run(&assign.name, &value) {
            self.traps.push(value.clone());
        }
        let (mut text, marked) = output::freeze(&value);
        self.tainted |= marked;
        let before = || scope.env.get(&assign.name);
        if assign.append {
            match before() {
                Some(Some(before)) => text.insert_str(0, before),
                Some(None) | None => {
                    scope.set(&assign.name, None);
                    return;
                }
            }
        }
        let differs = || matches!(before(), Some(before) if before != Some(text.as_str()));
        let doubtful = maybe && !assign.append && differs();
        scope.set(&assign.name, if assign.array || doubtful { None } else { Some(text) });
        if !fed.is_empty() {
            scope.sources.push((assign.name.clone(), fed.to_vec()));
        }
    }

    /// The head of a loop: several values.
    fn assign_list(&mut self, scope: &mut Scope, assign: &Assign, substituted: bool) {
        let args = self.words(&assign.list, substituted, scope);
        let args: Vec<Arg> = args.into_iter().map(output::revive).collect();
        let mut values: Vec<String> = Vec::new();
        for arg in &args {
            let (text, marked) = output::freeze(arg);
            self.tainted |= marked;
            values.push(text);
        }
        let all_known = values.len() <= MAX_CHOICES;
        scope.set(&assign.name, None);
        if all_known {
            match values.as_slice() {
                [one] => scope.set(&assign.name, Some(one.clone())),
                _ => scope.choose(&assign.name, values),
            }
        }
    }

    /// Carries out a builtin of the shell.
    pub(super) fn builtin(&mut self, call: &Call, scope: &mut Scope, which: Builtin, parsed: &Parsed) {
        match which {
            Builtin::Cd | Builtin::Pushd => self.change_dir(scope, which, parsed),
            Builtin::Popd => {
                let to = scope.dirs.pop().flatten();
                scope.go(to);
            }
            Builtin::Export => self.declare(call, scope),
            Builtin::Unset => {
                for name in parsed.operands.iter().filter_map(Arg::known) {
                    scope.set(name, None);
                    scope.forget_array(name);
                }
            }
            Builtin::Read => {
                self.read(call, scope, parsed);
            }
            Builtin::Set => {
                if parsed.before_dashes.is_some() || !parsed.operands.is_empty() {
                    self.set_positional(scope, parsed.operands.clone());
                }
            }
            Builtin::Shift => {
                let count = parsed
                    .operands
                    .first()
                    .and_then(Arg::known)
                    .and_then(|count| count.parse().ok())
                    .unwrap_or(1);
                let left = scope.args.get(count..).unwrap_or_default().to_vec();
                self.set_positional(scope, left);
            }
            Builtin::Alias => self.alias(call, scope),
            Builtin::Trap => {
                if let Some(text) = parsed.operands.first().filter(|_| parsed.operands.len() > 1) {
                    self.traps.push(text.clone());
                }
            }
            Builtin::Eval | Builtin::Source => {}
        }
    }

    /// `read NAME`: a line of what comes in, whichever it is.
    fn read(&mut self, call: &Call, scope: &mut Scope, parsed: &Parsed) {
        let program = call.words.first().and_then(Arg::known).unwrap_or_default();
        if program == "getopts" {
            // Which of them is an option's argument only the run tells.
            let mut values = super::channels::texts(&scope.args);
            values.truncate(MAX_CHOICES);
            scope.set("OPTARG", None);
            if !values.is_empty() {
                scope.choose("OPTARG", values);
            }
            return;
        }
        for name in parsed.operands.iter().filter_map(Arg::known) {
            scope.set(name, None);
        }
        scope.set("REPLY", None);
        if call.stdin == Stdin::Pipe {
            let all = self.out.invocations.iter().enumerate();
            let before = all.filter(|(_, inv)| inv.pipeline == call.pipeline && inv.stage < call.stage);
            let from: Vec<usize> = before.map(|(at, _)| at).collect();
            let names = parsed.operands.iter().filter_map(Arg::known).chain(["REPLY"]);
            scope.sources.extend(names.map(|name| (name.to_owned(), from.clone())));
        }
        if program == "read" && self.read_fields(call, scope, parsed) {
            return;
        }
        if let Some(text) = parsed.value(&["-C"]) {
            // `mapfile -C TEXT` runs it for each line.
            self.nested(call, program, text);
        }
        let names = parsed.operands.as_slice();
        let name = match names {
            [] => "REPLY",
            [name] => name.known().unwrap_or_default(),
            _ => return,
        };
        if call.input.is_none() || name.is_empty() {
            return;
        }
        if matches!(call.words.first().and_then(Arg::known), Some("mapfile" | "readarray")) {
            scope.fill_array(name, super::search::lines(call.input.as_ref()));
            return;
        }
        let mut values = Vec::new();
        for line in super::search::lines(call.input.as_ref()) {
            let (line, marked) = output::freeze(&line);
            self.tainted |= marked;
            values.push(line.trim().to_owned());
        }
        scope.choose(name, values);
    }

    /// `read -a NAME` and `read NAME NAME…`, of one line. False: it is neither.
    fn read_fields(&mut self, call: &Call, scope: &mut Scope, parsed: &Parsed) -> bool {
        let array = parsed.value(&["-a"]).and_then(Arg::known).map(str::to_owned);
        if array.is_none() && parsed.operands.len() < 2 {
            return false;
        }
        if let Some(name) = &array {
            scope.set(name, None);
            scope.forget_array(name);
        }
        let separators = match scope.env.get("IFS") {
            None => " \t\n".to_owned(),
            Some(Some(text)) => text.to_owned(),
            Some(None) => return true,
        };
        let lines = match &call.input {
            Some(_) => super::search::lines(call.input.as_ref()),
            None => return true,
        };
        if let (Some(name), [line]) = (&array, lines.as_slice()) {
            scope.fill_array(name, super::channels::fields(line, &separators, usize::MAX));
            return true;
        }
        for (at, name) in parsed.operands.iter().filter_map(Arg::known).enumerate() {
            let take = |line: &Arg| {
                super::channels::fields(line, &separators, parsed.operands.len()).into_iter().nth(at)
            };
            let values: Vec<Arg> = lines.iter().map(|line| take(line).unwrap_or_default()).collect();
            let values = super::channels::texts(&values);
            self.tainted |= values.iter().any(|value| output::is_marked(value));
            match values.as_slice() {
                [one] => scope.set(name, Some(one.clone())),
                many if many.len() <= MAX_CHOICES => scope.choose(name, values),
                _ => {}
            }
        }
        true
    }

    fn change_dir(&mut self, scope: &mut Scope, which: Builtin, parsed: &Parsed) {
        if which == Builtin::Pushd {
            scope.dirs.push(scope.env.cwd.clone());
        }
        let to = match parsed.operands.first() {
            None if which == Builtin::Cd => scope.env.home.clone(),
            None => None,
            Some(to) if to.known() == Some("-") => scope.old.clone(),
            // `pushd +1` goes through the stack.
            Some(to) if which == Builtin::Pushd && to.prefix().starts_with(['+', '-']) => None,
            Some(to) => scope.resolve(to, &self.facts.places),
        };
        scope.go(to);
    }

    /// `export A=b`, `declare -x A`, `local a=b`.
    fn declare(&mut self, call: &Call, scope: &mut Scope) {
        let export = call.words.first().and_then(Arg::known) == Some("export")
            || call.args().iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('x'));
        let is_flag = |arg: &Arg| arg.prefix().starts_with('-') && arg.prefix().contains('n');
        let is_ref = !matches!(call.words.first().and_then(Arg::known), Some("export" | "readonly"))
            && call.args().iter().take_while(|arg| arg.prefix().starts_with('-')).any(is_flag);
        for arg in call.args() {
            if arg.has_glob() && declare_element(scope, arg) {
                continue;
            }
            let text = arg.prefix();
            let (name, has_value) = match text.split_once('=') {
                Some((name, _)) => (name.trim_end_matches('+'), true),
                None => (text, false),
            };
            if name.is_empty() || name.starts_with('-') {
                continue;
            }
            if has_value {
                let value =
                    super::options::after(arg, text.find('=').map_or(0, |at| at + 1)).unwrap_or_default();
                let value = at_home(value, scope.env.home.as_deref());
                if is_run(name, &value) {
                    self.traps.push(value.clone());
                }
                let (value, marked) = output::freeze(&value);
                self.tainted |= marked;
                if is_ref {
                    let value_of = scope.env.get(&value).flatten().map(str::to_owned);
                    scope.set(name, value_of);
                    scope.refs.push((name.to_owned(), value));
                    continue;
                }
                let known = !text.contains("+=");
                scope.set(name, known.then_some(value));
            }
            if export {
                scope.export(name);
            }
        }
    }

    /// `alias NAME=TEXT`, and `hash -p PROGRAM NAME`.
    fn alias(&mut self, call: &Call, scope: &Scope) {
        if let ("hash", [flag, program, names @ ..]) =
            (call.words.first().map_or("", Arg::prefix), call.args())
        {
            let names = names.iter().filter(|_| flag.known() == Some("-p")).filter_map(Arg::known);
            self.aliases.extend(names.map(|name| (name.to_owned(), vec![program.clone()])));
            return;
        }
        for arg in call.args() {
            let Some((name, _)) = arg.prefix().split_once('=') else { continue };
            let value = super::options::after(arg, name.len() + 1).unwrap_or_default();
            self.define_alias(scope, name, value);
        }
    }

    /// A word that stands for a command line.
    pub(super) fn define_alias(&mut self, scope: &Scope, name: &str, value: Arg) {
        if let Some(text) = value.known() {
            let words = crate::shell::parse(text).commands.first().map(|simple| {
                simple
                    .words
                    .iter()
                    .flat_map(|word: &Word| expand_defaults(word, &scope.env))
                    .collect::<Vec<_>>()
            });
            self.aliases.push((name.to_owned(), words.unwrap_or_default()));
            // What it stands for may be more than one command.
            self.traps.push(value);
        }
    }

    /// Variables that hold commands, put in front of a command (`GIT_PAGER=… git log`, `env EDITOR=… git commit`).
    pub(super) fn assigned_words(&mut self, scope: &mut Scope, word: &Arg) -> bool {
        let text = word.prefix();
        let Some((name, _)) = text.split_once('=') else { return false };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let value = super::options::after(word, name.len() + 1).unwrap_or_default();
        if is_run(name, &value) {
            self.traps.push(value.clone());
        }
        let (value, marked) = output::freeze(&value);
        self.tainted |= marked;
        scope.set(name, Some(value));
        scope.export(name);
        true
    }
}
/// `declare NAME[i]=value`, of which the brackets look like a pattern's.
fn declare_element(scope: &mut Scope, arg: &Arg) -> bool {
    let text = arg.text();
    let Some((place, value)) = text.split_once('=').filter(|_| !arg.has_unknown()) else { return false };
    let Some((name, key)) = place.strip_suffix(']').and_then(|place| place.split_once('[')) else {
        return false;
    };
    scope.put(name, Some(key.to_owned()), output::revive(Arg::literal(value)), false);
    true
}

/// `export X=~/x`: a tilde behind the `=` is the home directory there too. Whether it was quoted is not known any more; taking it
/// for the home directory is the stricter reading.
pub(super) fn at_home(mut value: Arg, home: Option<&str>) -> Arg {
    if let (Some(Piece::Known(text)), Some(home)) = (value.pieces.first_mut(), home)
        && let Some(rest) = text.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        *text = format!("{home}{rest}");
    }
    value
}
