//! What the variables of the environment make of a command: options in front of its own, settings of git, commands of their own.

use super::Surveyor;
use super::call::Call;
use super::output;
use super::scope::Scope;
use crate::domain::{Ask, join, last_name, single_quoted};
use crate::rules::builtin::scripts;
use crate::rules::facts::{
    self, Kind, Obeys, giving_options, installing, is_named, loaded_file, obeyed, opening, seeking,
};
use crate::shell::{Arg, Word, expand_defaults, parse};

/// Most settings of git that are taken from numbered variables.
const MAX_SETTINGS: usize = 32;
/// Programs that take options from variables which begin like this.
const NPM: (&[&str], &str) = (&["npm", "npx", "pnpm", "yarn"], "npm_config_");

words!("survey/environment");

/// Whether the value of a variable is run as a command, or expanded as one.
fn is_run(name: &str, value: &Arg) -> bool {
    let prompt = || {
        matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT" | "ENV" | "BASH_ENV")
            && value.text().contains(['`', '('])
    };
    // A build calls these by name; more than a name and its options is a command line of somebody's own.
    let tool = || {
        let text = value.text();
        let first = text.split_whitespace().next().unwrap_or_default();
        let shell = facts::find(last_name(first));
        let given = |word: &str| word.starts_with(['~', '/']) || word.starts_with("$HOME");
        TOOLS.contains(&name)
            && (text.contains([';', '|', '&', '`'])
                || text.split_whitespace().skip(1).any(given)
                || text.contains(' ') && shell.is_some_and(|program| program.kind == Kind::Shell))
    };
    obeyed(name).any(|obeys| obeys == Obeys::Runs) || prompt() || tool()
}

impl Surveyor<'_> {
    /// Notes the commands that a variable with that value has programs run.
    pub(super) fn obeyed(&mut self, name: &str, value: &Arg) {
        if is_run(name, value) {
            self.traps.push(value.clone());
        }
        let text = value.text();
        // What make expands of any variable, and less of its own.
        for front in ["$(shell ", "${shell "] {
            if let Some((_, rest)) = text.split_once(front) {
                self.traps.push(Arg::literal(rest.trim_end_matches([')', '}', ' '])));
            }
        }
        if let ("LESS", Some((_, command))) = (name, text.split_once("+!")) {
            self.traps.push(Arg::literal(command));
        }
        for obeys in obeyed(name) {
            match (obeys, value.known()) {
                (Obeys::Code(program, flag), Some(code)) => {
                    self.traps.push(Arg::literal(&format!("{program} {flag} {}", single_quoted(code))));
                }
                (Obeys::Writes, Some(file)) if file.starts_with('/') => {
                    self.traps.push(Arg::literal(&format!(": >> {}", single_quoted(file))));
                }
                (Obeys::Loads, Some(known)) => {
                    if let Some((runner, file)) = loaded_file(name, known) {
                        self.traps.push(Arg::literal(&format!("{runner} {}", single_quoted(file))));
                    }
                }
                _ => {}
            }
        }
    }

    /// What the variables have a program start with its operands.
    pub(super) fn opened_by_variables(&mut self, call: &Call, name: &str, scope: &Scope) {
        for value in opening(name).filter_map(|variable| scope.env.get(variable).flatten()) {
            let code = call.args().iter().map(Arg::text).find(|text| text.contains("webbrowser."));
            let home = scope.env.home.as_deref().unwrap_or("~");
            let operands: Vec<String> = match code {
                Some(code) => scripts::strings(&scripts::with_home(&code, home)),
                None => operands_of(call),
            };
            for operand in operands.iter().map(|operand| single_quoted(operand)) {
                let value = value.trim_start_matches(['|', '-']);
                let text = match value.contains("%s") {
                    true => value.replace("'%s'", "%s").replace("\"%s\"", "%s").replace("%s", &operand),
                    false => format!("{value} {operand}"),
                };
                self.nested(call, name, &Arg::literal(&text));
            }
        }
    }

    /// The parts of a program that it seeks where a variable or an option says, and that are of the call's own making.
    pub(super) fn sought_by_variables(&mut self, call: &Call, name: &str, scope: &Scope) {
        let Some((variables, parts)) = seeking(name) else { return };
        let named = variables.iter().filter_map(|variable| scope.env.get(variable).flatten());
        let given = call.args().iter().filter_map(|arg| arg.known()?.strip_prefix("-B"));
        let dirs: Vec<String> =
            named.flat_map(|dirs| dirs.split(':')).chain(given).map(str::to_owned).collect();
        for (dir, part) in dirs.iter().flat_map(|dir| parts.iter().map(move |part| (dir, part))) {
            for path in [format!("{dir}/{part}"), format!("{dir}{part}")] {
                let path = join(call.cwd.as_deref().unwrap_or("/"), &path);
                self.ask(Ask::Content(path.clone()));
                if self.is_made(&path) || self.facts.content(&path).flatten().is_some() {
                    self.run(call.unfolded(name, vec![Arg::literal(&path)]), &mut scope.clone());
                }
            }
        }
    }

    /// Notes what is installed into a directory that a variable names.
    pub(super) fn installed(&mut self, call: &Call, scope: &Scope) {
        if scope.env.vars.is_empty() || !call.args().iter().any(|arg| arg.prefix().starts_with("install")) {
            return;
        }
        let name = call.words.first().map(Arg::to_text).unwrap_or_default();
        for (variable, below) in installing(last_name(&name)) {
            if let Some(dir) = scope.env.get(variable).flatten() {
                let dir = Arg::literal(format!("{dir}/{below}").trim_end_matches('/'));
                self.checked_out_to(call, Some(&dir));
            }
        }
    }

    /// The words that variables put in front of the arguments of a program.
    pub(super) fn added_words(&self, program: &str, args: &[Arg], scope: &Scope) -> Vec<Arg> {
        if scope.env.vars.is_empty() {
            return Vec::new();
        }
        let mut words = Vec::new();
        if program == "git" {
            words.extend(named_settings(args, scope));
        }
        for variable in giving_options(program) {
            let set = scope.env.vars.iter().filter(|(name, _)| is_named(variable, name));
            words.extend(set.filter_map(|(_, value)| value.as_deref()).flat_map(options));
        }
        if program == "git" {
            settings(scope, &mut words);
        }
        if NPM.0.contains(&program) {
            let given = scope.env.vars.iter().filter_map(|(name, value)| {
                let option = name.to_ascii_lowercase().strip_prefix(NPM.1)?.replace('_', "-");
                Some(Arg::literal(&format!("--{option}={}", value.as_deref()?)))
            });
            words.extend(given);
        }
        words.into_iter().map(output::revive).collect()
    }
}

/// The operands of a program that opens them; of Python those of its module for that.
fn operands_of(call: &Call) -> Vec<String> {
    let opens = |arg: &&Arg| arg.known() == Some("webbrowser");
    let is_python = call.words.first().is_some_and(|word| word.text().contains("python"));
    if is_python && !call.args().iter().any(|arg| opens(&arg)) {
        return Vec::new();
    }
    let operands = call.args().iter().filter(|arg| !arg.prefix().starts_with('-') && !opens(arg));
    operands.map(Arg::to_text).collect()
}

/// The words of a value; what of it a shell would have to run is left as it stands.
fn options(value: &str) -> Vec<Arg> {
    let whole = || value.split_whitespace().map(Arg::literal).collect();
    let script = parse(value);
    let ([simple], None) = (script.commands.as_slice(), &script.problem) else { return whole() };
    if simple.words.is_empty() || !simple.assigns.is_empty() || !simple.redirects.is_empty() {
        return whole();
    }
    let expanded = |word: &Word| expand_defaults(word, &crate::shell::Env::default());
    simple.words.iter().flat_map(expanded).collect()
}

/// What `git --config-env=NAME=VARIABLE` sets, as `-c` does.
fn named_settings(args: &[Arg], scope: &Scope) -> Vec<Arg> {
    const OPTION: &str = "--config-env";
    let behind = args.windows(2).filter_map(|pair| match pair {
        [flag, value] => (flag.known()? == OPTION).then(|| value.known())?,
        _ => None,
    });
    let attached = args.iter().filter_map(|arg| arg.known()?.strip_prefix(OPTION)?.strip_prefix('='));
    let set = attached.chain(behind).filter_map(|setting| {
        let (key, variable) = setting.split_once('=')?;
        Some(format!("{key}={}", scope.env.get(variable).flatten()?))
    });
    set.flat_map(|setting| [Arg::literal("-c"), Arg::literal(&setting)]).collect()
}

/// The settings that git takes from its environment, as its options have them.
fn settings(scope: &Scope, words: &mut Vec<Arg>) {
    let value = |name: &str| scope.env.get(name).flatten();
    let mut given: Vec<String> = Vec::new();
    if let Some(all) = value("GIT_CONFIG_PARAMETERS") {
        given.extend(parse(all).commands.iter().filter(|simple| simple.owner.is_none()).flat_map(|simple| {
            let assigned = simple.assigns.iter().map(|assign| assign.value.clone());
            let all = simple.words.iter().cloned().chain(assigned).collect::<Vec<_>>();
            all.into_iter()
                .flat_map(|word| expand_defaults(&word, &crate::shell::Env::default()))
                .map(|arg| arg.to_text())
                .collect::<Vec<_>>()
        }));
    }
    if let Some(count) = value("GIT_CONFIG_COUNT") {
        let count = count.parse::<usize>().unwrap_or(MAX_SETTINGS).min(MAX_SETTINGS);
        given.extend((0..count).filter_map(|at| {
            let (key, held) =
                (value(&format!("GIT_CONFIG_KEY_{at}"))?, value(&format!("GIT_CONFIG_VALUE_{at}"))?);
            Some(format!("{key}={held}"))
        }));
    }
    words.extend(given.iter().flat_map(|setting| [Arg::literal("-c"), Arg::literal(setting)]));
}
