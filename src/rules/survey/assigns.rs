//! Assignments to variables, and the builtins that change the shell that they run in.

use super::call::Call;
use super::dirs::pop_dir;
use super::options::Parsed;
use super::output;
use super::scope::Scope;
use super::walk::{Frame, unknown};
use super::{Stdin, Surveyor};
use crate::domain::single_quoted;
use crate::rules::facts::Builtin;
use crate::shell::{Arg, Assign, Piece, expand_value_defaults};

/// Most values of a loop's variable that are tried one by one.
const MAX_CHOICES: usize = 32;

impl Surveyor<'_> {
    /// Sets the variable that `printf -v` prints into.
    pub(super) fn set_printed(&mut self, call: &Call, scope: &mut Scope) {
        if let Some((name, value)) = output::printed_into(call) {
            let value = value.map(|value| output::freeze(&value));
            self.tainted |= value.as_ref().is_some_and(|(_, marked)| *marked);
            let value = value.map(|(text, _)| text);
            match element_of(&name) {
                Some(place) => {
                    let value = value.map_or_else(unknown, |text| output::revive(Arg::literal(&text)));
                    self.put_element(scope, place, value, false);
                }
                None => scope.set(&name, value),
            }
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
        self.obeyed(&assign.name, &value);
        let traces = matches!(assign.name.as_str(), "PS4" | "BASH_XTRACEFD");
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
        if !assign.array && scope.array(&assign.name).is_some() {
            // Of an array it is the first element.
            let value = output::revive(Arg::literal(&text));
            scope.put(&assign.name, Some("0".to_owned()), value, false);
        }
        scope.set(&assign.name, if assign.array || doubtful { None } else { Some(text) });
        if traces {
            self.trace(scope);
        }
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
            Builtin::Cd => self.change_dir(scope, parsed),
            Builtin::Pushd => self.push_dir(scope, parsed),
            Builtin::Popd => pop_dir(scope, parsed),
            Builtin::Export => self.declare(call, scope),
            Builtin::Unset => {
                for name in &parsed.operands {
                    match element_of(&name.text()) {
                        Some((name, key)) => {
                            scope.drop_element(name, key);
                            self.first_element(scope, name);
                        }
                        None => {
                            let name = name.text();
                            scope.set(&name, None);
                            scope.forget_array(&name);
                        }
                    }
                }
            }
            Builtin::Read => {
                let number = parsed.value(&["-u"]).and_then(Arg::known).and_then(|fd| fd.parse().ok());
                match number.and_then(|number| self.draw(scope, number)) {
                    Some((stdin, input)) => {
                        self.read(&Call { stdin, input, ..call.clone() }, scope, parsed);
                    }
                    None => self.read(call, scope, parsed),
                }
            }
            Builtin::Set => {
                if parsed.has(&["-x"]) || parsed.operands.iter().any(|arg| arg.known() == Some("xtrace")) {
                    self.trace(scope);
                }
                scope.set_options(call.args());
                if parsed.before_dashes.is_some() || !parsed.operands.is_empty() {
                    self.set_positional(scope, parsed.operands.clone());
                }
            }
            Builtin::Shift => {
                let count = match parsed.operands.first() {
                    Some(count) => count.known().and_then(|count| count.parse().ok()),
                    None => Some(1),
                };
                let left = match count {
                    Some(count) => scope.args.get(count..).unwrap_or_default().to_vec(),
                    // Any of them may be the first one now.
                    None => std::iter::once(unknown()).chain(scope.args.iter().cloned()).collect(),
                };
                self.set_positional(scope, left);
            }
            Builtin::Alias => self.alias(call, scope),
            Builtin::Trap => {
                if let Some((text, signals)) =
                    parsed.operands.split_first().filter(|(_, rest)| !rest.is_empty())
                {
                    self.traps.push(text.clone());
                    if signals.iter().any(|signal| signal.known() == Some("DEBUG")) {
                        // It runs in front of each command behind here.
                        let frame = Frame::inside(call, "trap");
                        *scope = self.script(text, std::mem::take(scope), frame);
                    }
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
            let given = call.args().get(2..).filter(|given| !given.is_empty()).unwrap_or(&scope.args);
            let mut values = super::channels::texts(given);
            scope.set("OPTIND", None);
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
            let mut text = text.clone();
            for line in super::search::lines(call.input.as_ref()).iter().filter_map(Arg::known).take(1) {
                output::append(&mut text, &Arg::literal(&format!(" 0 {}", single_quoted(line))));
            }
            self.nested(call, program, &text);
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
            let count = |flag: &str| parsed.value(&[flag]).map(|count| count.known()?.parse::<usize>().ok());
            let (skipped, most) = (count("-s"), count("-n"));
            let lines = lines_of(call.input.as_ref(), parsed.value(&["-d"]));
            let lines = match (skipped.unwrap_or(Some(0)), most.unwrap_or(Some(0))) {
                (Some(skipped), Some(0)) => lines.into_iter().skip(skipped).collect(),
                (Some(skipped), Some(most)) => lines.into_iter().skip(skipped).take(most).collect(),
                (None, _) | (_, None) => std::iter::once(unknown()).chain(lines).collect(),
            };
            scope.fill_array(name, lines);
            self.first_element(scope, name);
            return;
        }
        if let Some(place) = element_of(name) {
            let line = incoming(call, parsed).into_iter().next().unwrap_or_default();
            self.put_element(scope, place, line, false);
            return;
        }
        let mut values = Vec::new();
        for line in incoming(call, parsed) {
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
            Some(_) => incoming(call, parsed),
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
}

/// The texts that `read` may be given: lines, or what ends at another sign, or so many characters.
fn incoming(call: &Call, parsed: &Parsed) -> Vec<Arg> {
    let mut lines = lines_of(call.input.as_ref(), parsed.value(&["-d"]));
    let most = parsed.value(&["-n", "-N"]).and_then(Arg::known).and_then(|most| most.parse().ok());
    if let Some(most) = most {
        for line in &mut lines {
            if let Some(text) = line.known() {
                *line = Arg::literal(&text.chars().take(most).collect::<String>());
            }
        }
    }
    lines
}

/// `NAME[key]`.
pub(super) fn element_of(place: &str) -> Option<(&str, &str)> {
    let (name, rest) = place.split_once('[')?;
    Some((name, rest.strip_suffix(']')?))
}

/// The lines of a text, which may end at another sign: `mapfile -d ' '`.
fn lines_of(text: Option<&Arg>, sign: Option<&Arg>) -> Vec<Arg> {
    let sign = sign.map_or('\n', |sign| sign.prefix().chars().next().unwrap_or('\0'));
    let Some(mut text) = text.filter(|_| sign != '\n').cloned() else { return super::search::lines(text) };
    let exchange = |text: &mut Arg, from: &str, to: &str| {
        for piece in &mut text.pieces {
            if let Piece::Known(known) = piece {
                *known = known.replace(from, to);
            }
        }
    };
    // Newlines that end no line stand aside meanwhile.
    exchange(&mut text, "\n", "\u{1}");
    exchange(&mut text, sign.encode_utf8(&mut [0; 4]), "\n");
    let mut lines = super::search::lines(Some(&text));
    for line in &mut lines {
        exchange(line, "\u{1}", "\n");
    }
    lines
}
