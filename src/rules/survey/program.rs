//! Which program a command is, and who surveys it.

use super::call::Call;
use super::effects::Act;
use super::names::is_running_shell;
use super::options::{self, Parsed};
use super::scope::Scope;
use super::taught::{self, Taught};
use super::unfold::is_program;
use super::walk::Frame;
use super::wrap::in_dir;
use super::{Surveyor, paths, repositories};
use crate::domain::{Among, EffectKind, Severity, Target, join, last_name, split_name};
use crate::rules::builtin::lists::{CLIENT_RUNNERS, CLIENTS};
use crate::rules::facts::{self, Builtin, Kind, Operation, Program};
use crate::shell::{Arg, Piece};

words!("survey/program");

static CLIENT: Among = Among::NONE.with(CLIENTS).with(CLIENT_RUNNERS);

/// Most directories of a search path that are looked through.
const MAX_SEARCHED: usize = 16;

/// Scripts that a build tool puts into a project to fetch and start itself.
const PROJECT_WRAPPERS: &[&str] = &["gradlew", "mvnw"];

/// The name that one program with many names is called by, where it does what it is called.
fn applet_of(original: &str, name: &str, call: &Call) -> Option<Arg> {
    const MANY: [&str; 2] = ["busybox", "toybox"];
    let many = original.rsplit('/').next().is_some_and(|program| MANY.contains(&program));
    let named = call.args().first().and_then(Arg::known);
    let is_applet = facts::find(name).is_some()
        && !MANY.contains(&name)
        && named.is_none_or(|applet| facts::find(applet).is_none());
    (many && is_applet).then(|| Arg::literal(name))
}

impl Surveyor<'_> {
    /// Surveys one command.
    pub(super) fn run(&mut self, mut call: Call, scope: &mut Scope) {
        if call.depth > super::MAX_DEPTH {
            self.bound("commands start commands more than 24 levels deep");
        }
        if self.out.bound || !self.spend(1 + call.words.len()) {
            return;
        }
        if let Some(word) = call.words.first_mut().filter(|word| is_running_shell(word)) {
            *word = Arg::literal("bash");
        }
        let Some(word) = call.words.first() else { return };
        let Some(text) = word.known().map(str::to_owned).or_else(|| last_part(word)) else {
            self.unknown_program(&call);
            return;
        };
        let name = last_name(&text);
        let name = name.strip_suffix(".exe").filter(|name| !name.is_empty()).unwrap_or(name).to_owned();
        if let Some(words) = self.stands_for(&text, &name, &call, scope) {
            call.words = words;
            call.depth = call.depth.saturating_add(1);
            self.run(call, scope);
            return;
        }
        let program = facts::find(&name);
        let taught = if program.is_none() { Taught::find(self.policy, &name) } else { None };
        if let Some(at) = self.find_function(&text) {
            let frame = Frame::inside(&call, "");
            let args = call.args().to_vec();
            *scope = self.function(at, &args, (std::mem::take(scope), frame));
            if program.is_none() {
                self.emit(&call, &name, None);
                return;
            }
        }
        let begin = self.out.invocations.len();
        let trusted = split_name(&text).is_none_or(|(dir, _)| is_program_dir(dir));
        if !trusted && !PROJECT_WRAPPERS.contains(&name.as_str()) {
            self.own_program(&call, &name, program.is_some() || taught.is_some());
        }
        self.hosted(&call, &name, scope);
        if !scope.exported.is_empty() {
            self.opened_by_variables(&call, &name, scope);
        }
        let makes = !self.files.is_empty() || !self.links.is_empty() || !self.copies.is_empty();
        if makes || call.input.is_some() || !scope.exported.is_empty() {
            self.made_by(&call, &name, scope);
        }
        let client =
            CLIENT.may_have(&name) && [CLIENTS, CLIENT_RUNNERS].iter().any(|all| all.contains(&&*name));
        let variables = if client { scope.changed(&self.facts.places) } else { Vec::new() };
        match program {
            Some(program) => self.known_program(call, scope, program, &name),
            None if let Some(taught) = &taught => {
                let row = taught.row();
                self.known_program(call, scope, &Program::new(&name, &row), &name);
            }
            None if trusted => {
                if let Some(at) = self.find_function("command_not_found_handle") {
                    let frame = Frame::inside(&call, "");
                    *scope = self.function(at, &call.words, (std::mem::take(scope), frame));
                }
                self.emit(&call, &name, None);
                let kind = if call.lenient { EffectKind::ProcessCreation } else { EffectKind::SystemCommand };
                self.effect(&call, kind, Target::Command(name.clone()), Severity::Medium);
            }
            None => {}
        }
        if !variables.is_empty() || !self.policy.programs.is_empty() {
            let is_local = taught.is_some_and(|taught| taught.written.local);
            self.told(begin, &name, (&variables, is_local));
        }
    }

    /// Adds to the commands of a program from `begin` on what the call sets for it, and what the configuration says of it.
    fn told(&mut self, begin: usize, name: &str, (variables, is_local): (&Vec<String>, bool)) {
        for inv in self.out.invocations.iter_mut().skip(begin).filter(|inv| inv.program == name) {
            inv.variables.clone_from(variables);
            inv.does = inv.does.or(is_local.then_some(Operation::Process));
            taught::add(self.policy, inv);
        }
    }

    /// The words of the command that one is in truth whose name leads to another program.
    fn stands_for(&mut self, text: &str, name: &str, call: &Call, scope: &Scope) -> Option<Vec<Arg>> {
        if let Some(path) = self.in_search_path(text, call, scope) {
            return Some(std::iter::once(Arg::literal(&path)).chain(call.args().iter().cloned()).collect());
        }
        if let Some(words) = self.words_of(text) {
            let mut words = words.to_vec();
            // Behind an alias that ends in a blank, the next word may be one, too.
            let mut rest = call.args();
            while let Some((first, behind)) = rest.split_first()
                && let Some(more) = first.known().and_then(|word| self.words_of(word))
            {
                words.extend_from_slice(more);
                rest = behind;
            }
            words.extend_from_slice(rest);
            if words.first().and_then(Arg::known) != Some(text) && !words.is_empty() {
                return Some(words);
            }
        }
        if let Some(original) = self.original(text, call.cwd.as_deref()) {
            let applet = applet_of(&original, name, call);
            let front = std::iter::once(Arg::literal(&original)).chain(applet);
            return Some(front.chain(call.args().iter().cloned()).collect());
        }
        super::other_shells::as_posix(name, call.args())
    }

    /// The words of an alias.
    fn words_of(&self, name: &str) -> Option<&[Arg]> {
        self.aliases.iter().rev().find(|(alias, _)| alias == name).map(|(_, words)| words.as_slice())
    }

    /// The file that a name leads to by a directory which the call has put into the search path, where that is a copy, a link or a
    /// script of its own.
    fn in_search_path(&self, text: &str, call: &Call, scope: &Scope) -> Option<String> {
        let dirs = scope.env.get("PATH").flatten().filter(|_| !text.contains('/'))?;
        let own = dirs.split(':').filter(|dir| !PROGRAM_DIRS.contains(dir));
        let paths = own.map(|dir| join(call.cwd.as_deref().unwrap_or("/"), &format!("{dir}/{text}")));
        paths.take(MAX_SEARCHED).find(|path| self.is_made(path))
    }

    /// Whether a file is a copy, a link or a script of the call's own.
    pub(super) fn is_made(&self, path: &str) -> bool {
        self.links.iter().chain(&self.copies).any(|(made, _)| made == path)
            || self.written(path).is_some()
            || self.facts.marks.program(path).is_some()
    }

    /// What a program was copied from or links to, where the call itself did that.
    fn original(&self, text: &str, cwd: Option<&str>) -> Option<String> {
        let known = |path: &str| self.facts.marks.program(path).map(str::to_owned);
        if !text.contains('/') {
            return known(text).filter(|_| facts::find(text).is_none());
        }
        /// Most links and copies that are followed.
        const HOPS: usize = 40;
        let mut path = join(cwd.unwrap_or("/"), text);
        for _ in 0..HOPS {
            let mut made = self.links.iter().chain(&self.copies).rev();
            match made.find(|(made, of)| *made == path && *of != path) {
                Some((_, of)) => path.clone_from(of),
                None => return known(&path),
            }
            if is_program(&path) {
                return Some(path);
            }
        }
        None
    }

    fn unknown_program(&mut self, call: &Call) {
        self.opaque += 1;
        self.emit(call, "", None);
        self.effect(call, EffectKind::SystemCommand, Target::Command(call.text.clone()), Severity::Medium);
        // `$SHELL -c TEXT`: whatever it is, it is given a command as shells are.
        if call.args().iter().any(|arg| arg.known() == Some("-c"))
            && let Some(shell) = facts::find("sh")
        {
            self.shell(call, shell, "sh");
        }
    }

    /// A program given by its path: one of the project's, or a script that can be read.
    fn own_program(&mut self, call: &Call, name: &str, is_known: bool) {
        let Some(word) = call.words.first() else { return };
        let target = paths::target(word, call.cwd.as_deref(), false);
        if !is_known {
            self.emit(call, name, None);
        }
        let inside = match &target {
            Target::Path { path, .. } => paths::in_project(path, &self.facts.places).is_some(),
            Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
        };
        let kind =
            if inside || call.lenient { EffectKind::ProcessCreation } else { EffectKind::SystemCommand };
        self.effect(call, kind, Target::Command(word.to_text()), Severity::Medium);
        if let Target::Path { path, glob: false, .. } = target {
            self.content(call, &path, name, false);
        }
    }

    fn known_program(&mut self, mut call: Call, scope: &mut Scope, program: &Program<'_>, name: &str) {
        let added = self.added_words(name, call.args(), scope);
        if !added.is_empty() {
            call.words.splice(1..1, added);
        }
        self.subscripts(&call, name, scope);
        if name == "shopt" && call.args().iter().any(|arg| arg.known() == Some("cdable_vars")) {
            scope.env.set(super::dirs::BY_VARIABLE, Some(String::new()));
        }
        match program.kind {
            Kind::Find => self.find(&call, name),
            Kind::Fd => self.fd(&call, scope, program),
            Kind::Xargs => self.xargs(&call, scope, program),
            Kind::Parallel => self.parallel(&call, scope, program),
            Kind::Shell => {
                let before = std::mem::replace(&mut self.passed, scope.passed(&call));
                let lent = std::mem::replace(&mut self.lent, scope.open.clone());
                self.spend(self.passed.len());
                self.shell(&call, program, name);
                (self.passed, self.lent) = (before, lent);
            }
            Kind::Wrap(_) if name == "sg" && searches(call.args()) => {
                self.emit(&call, name, None);
            }
            Kind::Wrap(wrap) => {
                let parsed = options::parse(call.args(), program);
                self.wrap(call, scope, (&parsed, wrap, name));
            }
            Kind::Builtin(which) => {
                let parsed = options::parse(call.args(), program);
                self.shell_builtin(&call, scope, which, &parsed);
            }
            Kind::Git => {
                let parsed = options::parse(call.args(), program);
                let call = self.git_command(call, scope, &parsed);
                self.sub_wrap(call, scope, &parsed, name);
            }
            Kind::Plain | Kind::Dash | Kind::Raw | Kind::Interpreter | Kind::Stdin => {
                let parsed = options::parse(call.args(), program);
                let call = in_dir(call, &parsed);
                self.emit(&call, name, Some(&parsed));
                self.operations(&call, &parsed);
                self.installed(&call, scope);
                if repositories::USERS.contains(&name) {
                    self.asks_git(&call, scope, &parsed);
                }
                if matches!(name, "mkfifo" | "mknod") {
                    self.make_fifos(&call, &parsed.operands);
                }
                if program.kind == Kind::Interpreter {
                    self.interpreter(&call, &parsed);
                }
                self.option_commands(&call, &parsed, name);
                if let (true, [.., flag, text]) = (name == "su", parsed.operands.as_slice())
                    && flag.known() == Some("-c")
                {
                    self.nested(&Call { privileged: true, ..call.clone() }, name, text);
                }
                if program.kind == Kind::Stdin || name == "su" {
                    self.input_commands(&call, name, name == "su");
                }
                self.sub_wrap(call, scope, &parsed, name);
            }
        }
    }

    fn interpreter(&mut self, call: &Call, parsed: &Parsed) {
        let has_code = parsed.has(&["-e", "-E", "-c", "--eval", "--print", "-r", "-m", "--execute"]);
        if let Some(code) = parsed.value(&["-c", "-e", "-E", "--eval", "-r"]) {
            self.runs_what_comes_in(call, code);
        }
        if matches!(parsed.program.name, "perl" | "perl5") {
            self.opened_as_commands(call, &parsed.operands);
        }
        let module = parsed.value(&["-m"]).and_then(Arg::known);
        if let (Some("zipfile" | "tarfile"), [.., dir]) = (module, call.args())
            && call.args().iter().any(|arg| matches!(arg.known(), Some("-e" | "--extract")))
        {
            self.checked_out_to(call, Some(dir));
        }
        let in_place = parsed.has(&["-i"]) && matches!(parsed.program.name, "perl" | "perl5" | "ruby");
        if in_place {
            for arg in parsed.operands.get(usize::from(!has_code)..).unwrap_or_default() {
                self.file(call, Act::Modify, arg, false);
            }
        } else if let (false, Some(script)) = (has_code, parsed.operands.first()) {
            self.file(call, Act::Read, script, false);
            // It is not parsed, but searched for what it names.
            self.ask_content(call, script);
        }
    }

    /// A file of Perl's whose name ends or begins with a bar is a command.
    fn opened_as_commands(&mut self, call: &Call, files: &[Arg]) {
        let commands = files.iter().filter_map(|arg| {
            let text = arg.known()?.trim();
            let command = text.strip_suffix('|').or_else(|| text.strip_prefix('|'))?;
            (!text.contains("||") && !command.trim().is_empty()).then(|| Arg::literal(command))
        });
        for command in commands.collect::<Vec<_>>() {
            self.nested(call, "perl", &command);
        }
    }

    fn shell_builtin(&mut self, call: &Call, scope: &mut Scope, which: Builtin, parsed: &Parsed) {
        match which {
            Builtin::Eval => self.eval(call, scope, parsed),
            Builtin::Source => self.source(call, scope, parsed),
            Builtin::Cd
            | Builtin::Pushd
            | Builtin::Popd
            | Builtin::Export
            | Builtin::Unset
            | Builtin::Read
            | Builtin::Alias
            | Builtin::Set
            | Builtin::Shift
            | Builtin::Trap => {
                let name = parsed.program.name;
                self.emit(call, name, Some(parsed));
                self.builtin(call, scope, which, parsed);
            }
        }
    }
}

/// `sg` is also the name of a search through code, whose pattern is no command line.
fn searches(args: &[Arg]) -> bool {
    let known: Vec<&str> = args.iter().filter_map(Arg::known).collect();
    let pattern = matches!(known.as_slice(), ["-p" | "--pattern", ..] | ["run", "-p" | "--pattern", ..]);
    pattern && !known.contains(&"-c")
}

/// The name of a program in a directory that is not known: `…/rm`.
fn last_part(word: &Arg) -> Option<String> {
    let Some(Piece::Known(end)) = word.pieces.last() else { return None };
    let (_, name) = end.rsplit_once('/')?;
    (!name.is_empty()).then(|| format!("…/{name}"))
}

/// Whether a directory holds programs that are what their names say.
pub(in crate::rules) fn is_program_dir(dir: &str) -> bool {
    PROGRAM_DIRS.contains(&dir)
        || dir.ends_with("node_modules/.bin")
        || dir.ends_with("venv/bin")
        || dir.ends_with("/.cargo/bin")
}
