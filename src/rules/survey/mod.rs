//! What a call would do, worked out from its syntax and the facts at hand. Knows no rules: `builtin` judges.

mod aliases;
mod arrays;
mod assigns;
mod call;
mod channels;
mod container;
mod counted;
mod coverage;
mod declares;
mod decoders;
mod descriptors;
mod dirs;
mod effects;
mod elements;
mod environment;
mod expression;
mod fetches;
mod filters;
mod fish;
mod function;
mod git;
mod handed;
mod help;
mod hosted;
mod itself;
mod listed;
mod located;
mod made;
mod named;
mod names;
mod operands;
mod operations;
mod options;
mod origins;
mod other_shells;
pub(super) mod output;
mod partly;
pub(in crate::rules) mod paths;
pub(super) mod pattern;
mod positional;
mod possible;
mod printf;
mod program;
mod reading;
mod redirects;
mod repositories;
mod scope;
mod scratch;
mod search;
mod setting;
mod settles;
mod shells;
pub(super) mod subscripts;
mod taught;
mod tools;
mod transfers;
mod trees;
mod turns;
mod unfold;
mod walk;
mod words;
mod wrap;

pub(in crate::rules) use call::SETTLED;
pub(in crate::rules) use container::IN_CONTAINER;
pub(in crate::rules) use effects::is_guarded;
pub(in crate::rules) use git::{CONFIG, REFLOG, checked_out, is_asked, is_whole};
pub(in crate::rules) use help::{HELPFUL, is_word};
pub(in crate::rules) use output::decode as decode_base64;
pub(in crate::rules) use paths::MAX_PATH;
pub(in crate::rules) use program::is_program_dir;
pub(in crate::rules) use scratch::is_noted_again;
pub use setting::configured_command;
pub(in crate::rules) use setting::setting_command;
pub(in crate::rules) use shells::only_checks;
pub(in crate::rules) use tools::unescaped;

use std::collections::BTreeSet;

use crate::domain::{Action, Answer, Ask, Effect, Facts, Marks, OneOf, Operation, Policy, Target, ToolCall};
use crate::rules::matcher::Dirs;
use crate::rules::trail;
use crate::shell::{Arg, Simple};

/// An option of a command, with its value where it has one: `-f`, `--force`, `--force-with-lease=x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As written, without the value: `-f` (bundles like `-rf` are split into `-r` and `-f`), `--force`. A shortened long
    /// option that the tables know is given in full.
    pub name: String,
    pub value: Option<Arg>,
}

/// Where a command's standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    Inherited,
    /// From the stage before it in the pipeline.
    Pipe,
    /// A heredoc or here-string, expanded as far as it is known.
    Text(Arg),
    File(Target),
}

/// One program that the call would run, after wrappers are unfolded and words expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Base name of the program (`rm`), empty when it is not known before the command runs.
    pub program: String,
    /// The program as written (`/bin/rm`, `./x.sh`).
    pub word: Arg,
    /// All arguments after the program.
    pub args: Vec<Arg>,
    /// The subcommand path for programs that have one (`["push"]`, `["stash", "drop"]`).
    pub sub: Vec<String>,
    pub flags: Vec<Flag>,
    /// Arguments that are neither options nor their values nor the subcommand.
    pub operands: Vec<Arg>,
    /// The directory that it runs in; none when that is not known.
    pub cwd: Option<String>,
    /// For a client: the variables that the call gives another value than they have.
    pub variables: Vec<String>,
    /// With another user's rights (sudo, doas, su, pkexec).
    pub privileged: bool,
    /// In a container: its paths are not this machine's.
    pub contained: bool,
    /// What it throws away lies in a temporary directory outside the project, and nowhere else.
    pub scratch: bool,
    /// The programs it was unfolded from, outermost first (`sudo`, `env`, `bash`).
    pub wrappers: Vec<String>,
    pub stdin: Stdin,
    /// Files that its output is redirected to: target, and whether it is appended.
    pub writes: Vec<(Target, bool)>,
    /// Files that its input is redirected from.
    pub reads: Vec<Target>,
    /// Commands of one pipeline have the same number; numbers are unique over the whole survey.
    pub pipeline: u32,
    pub stage: u16,
    /// Its output is the value of a substitution that is an argument of another command (index into
    /// [`Survey::invocations`]).
    pub feeds: Option<usize>,
    /// Text as the agent wrote it, clipped.
    pub text: String,
    pub(in crate::rules) listed: listed::Listed,
    /// What the row of its program says that this very command does, where there is one that says so.
    pub does: Option<Operation>,
    /// An option of it holds code, in another language than the shell's.
    pub gives_code: bool,
    /// What configuration files say of it that only add to what is known.
    pub(in crate::rules) added: Vec<Operation>,
}

/// Everything that is known of a call before it runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survey {
    pub invocations: Vec<Invocation>,
    pub effects: Vec<Effect>,
    /// Why something may have been missed: a parse problem or a bound, in words. A survey with a problem must not be allowed
    /// as if it were harmless.
    pub problem: Option<String>,
    /// The problem is a bound of ours or hostile nesting (always a block), not a plain syntax error.
    pub bound: bool,
    /// The problem is one of those that are left to the shell, and nothing else: what no shell reads, none runs.
    pub unclosed: bool,
    /// The texts that shells inside the call run, outermost first.
    pub nested: Vec<String>,
    /// Files that the call itself writes, with what it writes, where that is known; the latest last.
    pub written: Vec<(String, Arg)>,
    /// Where functions were walked that print assignments of values and nothing else.
    pub(in crate::rules) settles: Vec<std::ops::Range<usize>>,
    /// A function that starts itself more than once, beside itself or in the background.
    pub restarts: Option<String>,
    /// Questions whose answers would make the survey more exact. Ask the host, then survey again.
    pub asks: Vec<Ask>,
    /// What is known of files from earlier calls, and what this one adds to it at any time: to be remembered.
    pub marks: Marks,
    /// What is known of files after the call, if all of it runs and nothing fails.
    pub leaves: Marks,
    /// What was worked out of directories while the call is judged, and of programs in it.
    pub(in crate::rules) dirs: Dirs,
    pub(in crate::rules) programs: listed::Programs,
}

/// How deep commands in commands are followed.
const MAX_DEPTH: u8 = 24;
/// Commands of one text that room is made for before they are surveyed: so many at least, and at most.
const ROOM: std::ops::RangeInclusive<usize> = 16..=4096;
/// How much work one survey may be: commands, arguments, bytes of nested texts (per 64).
const MAX_WORK: usize = 200_000;

/// How often functions are walked: each call of one calls others again, so that a few lines could be a million calls.
const MAX_CALLS: usize = 1000;

/// How many values of loops' variables are tried, over all commands.
const MAX_TRIES: usize = 10_000;

/// How many links of its own making are followed, over all commands.
const MAX_HOPS: usize = 2_000;
/// How many directories deep a path is that questions are asked about.
const MAX_LEVELS: usize = 128;

/// Surveys a call made in `cwd`, by what is known; what else it would have to know is in [`Survey::asks`].
pub fn survey(call: &ToolCall, cwd: &str, facts: &Facts, policy: &Policy) -> Survey {
    survey_within(call, cwd, facts, (policy, &listed::Programs::default()))
}

/// The same of a call that stands in another, with what is remembered of programs there.
pub fn survey_within(
    call: &ToolCall,
    cwd: &str,
    facts: &Facts,
    (policy, programs): (&Policy, &listed::Programs),
) -> Survey {
    let survey = surveyed(call, cwd, (facts, None), (policy, programs));
    match with_programs(&survey, facts) {
        Some(facts) => surveyed(call, cwd, (&facts, None), (policy, programs)),
        None => survey,
    }
}

/// The same, with questions answered as they come up; what nobody could answer is in [`Survey::asks`].
pub fn survey_asking(
    call: &ToolCall,
    cwd: &str,
    (facts, answer): (&Facts, &mut impl FnMut(Ask, &Facts)),
    policy: &Policy,
) -> Survey {
    let programs = &listed::Programs::default();
    let survey = surveyed(call, cwd, (facts, Some(answer)), (policy, programs));
    match with_programs(&survey, facts) {
        Some(facts) => surveyed(call, cwd, (&facts, Some(answer)), (policy, programs)),
        None => survey,
    }
}

/// What is known, and which files are copies of programs, where the call makes such a copy and starts it: it is to be surveyed again.
fn with_programs(survey: &Survey, facts: &Facts) -> Option<Facts> {
    if !trail::starts_copy(survey, &survey.marks) {
        return None;
    }
    let mut known = facts.clone();
    known.marks = survey.marks.clone();
    Some(known)
}

fn surveyed<'a>(
    call: &ToolCall,
    cwd: &str,
    (facts, answer): (&'a Facts, Option<&'a mut Answer<'a>>),
    (policy, programs): (&'a Policy, &listed::Programs),
) -> Survey {
    let mut surveyor = Surveyor {
        facts,
        policy,
        answer,
        out: Survey::default(),
        work: 0,
        calls: 0,
        tries: 0,
        hops: 0,
        pipelines: 0,
        width: 0,
        functions: Vec::new(),
        told: None,
        aliases: Vec::new(),
        files: Vec::new(),
        begun: Vec::new(),
        links: Vec::new(),
        copies: Vec::new(),
        made: Vec::new(),
        scripts: Vec::new(),
        traps: Vec::new(),
        passed: Vec::new(),
        lent: Vec::new(),
        drawn: Vec::new(),
        marks: Vec::new(),
        latest: effects::Latest::none(),
        fifos: Vec::new(),
        asked: BTreeSet::new(),
        questions: 0,
        texts: 0,
        changes: false,
        tainted: false,
        opaque: 0,
        guesses: false,
        unread: Vec::new(),
        repositories: Vec::new(),
    };
    surveyor.ask_reviewed(call, cwd);
    surveyor.tool(call, cwd);
    surveyor.out.written = surveyor.files;
    let mut survey = surveyor.out;
    help::shorten(&mut survey.invocations);
    listed::share(&mut survey.invocations);
    programs.lend(&mut survey.invocations);
    trail::walk(call, cwd, &mut survey, facts, policy);
    survey
}

/// What is gathered while a call is surveyed.
struct Surveyor<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    /// Who answers questions, if somebody does.
    answer: Option<&'a mut Answer<'a>>,
    out: Survey,
    work: usize,
    /// What the function prints that is walked in a substitution.
    told: Option<settles::Told>,
    /// How many bodies of functions were walked.
    calls: usize,
    /// How many values of loops' variables were tried.
    tries: usize,
    /// How many links were followed.
    hops: usize,
    /// The next number for a pipeline.
    pipelines: u32,
    /// The highest stage that a nested command has reached in the pipeline around it.
    width: u16,
    functions: Vec<function::Function>,
    aliases: Vec<(String, Vec<Arg>)>,
    /// What the call itself has written to files.
    files: Vec<(String, Arg)>,
    /// Files that redirections opened, and where in their text these stand: what they print to again stands behind what is there.
    begun: Vec<(String, (usize, usize))>,
    /// Links that the call itself has made, and where they lead.
    links: Vec<(String, String)>,
    /// Copies that the call itself has made, and of what.
    copies: Vec<(String, String)>,
    /// Directories that the call itself makes.
    made: Vec<String>,
    /// Scripts whose text was surveyed.
    scripts: Vec<String>,
    /// Commands that run when the shell ends.
    traps: Vec<Arg>,
    /// The variables that the shell which is looked at just now was given.
    passed: Vec<(String, Option<String>)>,
    /// What that shell has open.
    lent: Vec<descriptors::Descriptor>,
    /// Commands that lead to the one which is looked at just now, by a descriptor.
    drawn: Vec<usize>,
    /// Named pipes that the call itself makes.
    fifos: Vec<channels::Fifo>,
    /// One number for each effect, by which it is found again.
    marks: Vec<u32>,
    /// What is known of the latest of these.
    latest: effects::Latest,
    /// The questions that nobody could answer.
    asked: BTreeSet<Ask>,
    /// How many questions were asked, and how many of them for a text.
    questions: usize,
    texts: usize,
    /// There is an effect that makes or changes a file.
    changes: bool,
    /// A value holds marks for what is unknown (see `output`).
    tainted: bool,
    /// How often something was run of which nothing is known.
    opaque: usize,
    /// What was not known is being guessed.
    guesses: bool,
    /// Files that the call itself writes, and nobody knows what with.
    unread: Vec<String>,
    /// Repositories whose settings were surveyed, with the subcommand; without one those whose settings are looked at just now.
    repositories: Vec<String>,
}

impl Surveyor<'_> {
    /// Counts work; false when there was too much of it.
    fn spend(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_add(work);
        if self.work > MAX_WORK {
            self.bound("it does more than is followed (200 000 commands and arguments)");
            return false;
        }
        true
    }

    /// Makes room for the commands of a text, which would be copied again and again while the room for them grows, and keeps numbers
    /// for its pipelines: what is to be added to theirs.
    fn begin(&mut self, commands: &[Simple]) -> u32 {
        if commands.len() >= *ROOM.start() {
            self.out.invocations.reserve(commands.len().min(*ROOM.end()));
        }
        let base = self.pipelines;
        let most = commands.iter().map(|command| command.pipeline).max().unwrap_or(0);
        self.pipelines = base.saturating_add(most).saturating_add(1);
        base
    }

    fn bound(&mut self, what: &str) {
        if !self.out.bound {
            self.out.problem = Some(what.to_owned());
            self.out.bound = true;
        }
    }

    /// Asks whether there was a review, where a call may read what clients keep of their agents.
    fn ask_reviewed(&mut self, call: &ToolCall, cwd: &str) {
        let text = match &call.action {
            Action::Shell { command, .. } => command.as_str(),
            Action::Read { path } => path,
            Action::Search { path, .. } => path.as_deref().unwrap_or_default(),
            Action::Write { content, .. } | Action::Edit { content, .. } => content,
            Action::Other { text, .. } => text,
            Action::Fetch { .. } | Action::Spawn { .. } => return,
        };
        /// A call that names it further behind is judged as if there had been a review.
        const LOOKED_AT: usize = 2048;
        let front = text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or_default();
        static NAMED: OneOf<2> = OneOf::new(&[".claude", "opencode"]);
        let named = |text: &str| NAMED.stands_in(text);
        if let Some(mark) = self.facts.places.reviewed.as_ref().filter(|_| named(front) || named(cwd)) {
            self.ask(Ask::Path(mark.clone()));
        }
    }

    /// Asks a question that has no answer yet, or remembers it where nobody answers.
    fn ask(&mut self, ask: Ask) {
        let deep = |path: &String| path.bytes().filter(|byte| *byte == b'/').count() > MAX_LEVELS;
        let too_deep = match &ask {
            Ask::Path(path) | Ask::Content(path) | Ask::Saved(path) => deep(path),
            Ask::Branch => false,
        };
        let is_text = matches!(ask, Ask::Content(_));
        if self.is_out_of_questions()
            || (is_text && self.texts >= Ask::MAX_TEXTS)
            || self.facts.knows(&ask)
            || too_deep
            || self.asked.contains(&ask)
        {
            return;
        }
        self.questions += 1;
        self.texts += usize::from(is_text);
        let Some(answer) = &mut self.answer else {
            self.asked.insert(ask.clone());
            self.out.asks.push(ask);
            return;
        };
        let open = ask.clone();
        answer(ask, self.facts);
        if !self.facts.knows(&open) {
            self.asked.insert(open);
        }
    }

    fn is_out_of_questions(&self) -> bool {
        self.questions >= Ask::MAX
    }
}
