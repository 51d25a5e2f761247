//! What a call would do, worked out from its syntax and the facts at hand.

use crate::domain::{Ask, Effect, Facts, Policy, Target, ToolCall};
use crate::shell::Arg;

/// An option of a command, with its value where it has one: `-f`, `--force`, `--force-with-lease=x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As written, without the value: `-f` (bundles like `-rf` are split into `-r` and `-f`), `--force`.
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
    /// With another user's rights (sudo, doas, su, pkexec).
    pub privileged: bool,
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
    /// Questions whose answers would make the survey more exact. Ask the host, then survey again.
    pub asks: Vec<Ask>,
}

/// Surveys a call made in `cwd`.
pub fn survey(_call: &ToolCall, _cwd: &str, _facts: &Facts, _policy: &Policy) -> Survey {
    Survey::default()
}
