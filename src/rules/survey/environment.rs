//! What the variables of the environment make of a command: options in front of its own, settings of git, commands of their own.

use super::Surveyor;
use super::call::Call;
use super::output;
use super::scope::Scope;
use crate::domain::{Ask, join, single_quoted};
use crate::rules::commands::{self, Kind, Obeys, giving_options, installing, obeyed};
use crate::shell::{Arg, Word, expand_defaults, parse};

/// Most settings of git that are taken from numbered variables.
const MAX_SETTINGS: usize = 32;
/// Programs that take options from variables which begin like this.
const NPM: (&[&str], &str) = (&["npm", "npx", "pnpm", "yarn"], "npm_config_");

/// Programs that a build calls by the names of variables.
const TOOLS: &[&str] = &[
    "CC",
    "CXX",
    "CPP",
    "FC",
    "LD",
    "AR",
    "AS",
    "NM",
    "RANLIB",
    "STRIP",
    "OBJCOPY",
    "RM",
    "MV",
    "CP",
    "INSTALL",
    "LEX",
    "YACC",
    "SHELL",
    "CONFIG_SHELL",
    "MAKE",
    "PYTHON",
    "PERL",
    "AWK",
    "SED",
    "GREP",
];

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
        let shell = commands::find(first.rsplit('/').next().unwrap_or_default());
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
                (Obeys::Parts(names), Some(dir)) => self.parts_in(dir.trim_end_matches('/'), names),
                _ => {}
            }
        }
    }

    /// Notes that parts of a program are run which the call, or one before it, has put into a directory.
    fn parts_in(&mut self, dir: &str, names: &[&str]) {
        let project = self.facts.places.project.clone().unwrap_or_default();
        for path in names.iter().map(|name| format!("{dir}/{name}")) {
            let whole = join(&project, &path);
            self.ask(Ask::Content(whole.clone()));
            if self.written(&whole).is_some() || self.facts.content(&whole).flatten().is_some() {
                self.traps.push(Arg::literal(&single_quoted(&whole)));
            }
        }
    }

    /// Notes what is installed into a directory that a variable names.
    pub(super) fn installed(&mut self, call: &Call, scope: &Scope) {
        if scope.env.vars.is_empty() || !call.args().iter().any(|arg| arg.prefix().starts_with("install")) {
            return;
        }
        let name = call.words.first().map(Arg::to_text).unwrap_or_default();
        for (variable, below) in installing(name.rsplit('/').next().unwrap_or_default()) {
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
            let set = scope.env.vars.iter().filter(|(name, _)| variable.is(name));
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
