//! The syntax: flat, so that nothing recurses when it is walked or dropped.

/// A parsed command line. On an error it holds what was seen before it, and `problem` says that it is incomplete:
/// whoever decides must then not treat what is missing as harmless.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// In the order in which they stand in the text; commands inside a substitution come before the command that
    /// contains it.
    pub commands: Vec<Simple>,
    /// The names of the functions that the text defines.
    pub functions: Vec<String>,
    /// The subshell around each subshell (0 for 0).
    pub parents: Vec<u32>,
    /// The co-processes: their names, and the subshells that they run in.
    pub coprocs: Vec<(String, u32)>,
    /// The variables that expansions assign (`${NAME:=word}`). Their values are not followed: whoever tracks variables has to
    /// take them for unknown.
    pub assigned: Vec<String>,
    /// What regular expressions are held against (`[[ WORD =~ … ]]`), and their own texts: parts of both are in `BASH_REMATCH`
    /// afterwards.
    pub matched: Vec<Word>,
    pub problem: Option<Problem>,
}

/// Why a parse is incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// bash would reject the text; byte offset and what was wrong.
    Syntax { at: usize, what: &'static str },
    /// One of our bounds was passed.
    Bound(Bound),
}

impl Problem {
    pub(super) const SINGLE: &str = "a single quote is not closed";
    pub(super) const DOUBLE: &str = "a double quote is not closed";
    pub(super) const BACKTICK: &str = "a backtick is not closed";
    pub(super) const PARENTHESIS: &str = "a parenthesis in a word is not quoted";
    pub(super) const CLOSING: &str = "a `)` closes nothing";
    pub(super) const MISSING: &str = "a command is missing in front of `&` or `|`";
    pub(super) const SUBSTITUTION: &str = "a substitution is not closed";

    /// The text ends within quotes or a substitution, a `)` closes nothing, nothing stands in front of a `&` or `|` (PowerShell's
    /// `& "x.exe"`), or a word has parentheses (`app/(auth)`): no shell runs anything of that line or behind it, but zsh, for which
    /// such a word is a pattern.
    pub fn is_left_to_the_shell(&self) -> bool {
        match self {
            Problem::Syntax { what, .. } => {
                let open = [Self::SINGLE, Self::DOUBLE, Self::BACKTICK, Self::SUBSTITUTION];
                open.contains(what) || [Self::PARENTHESIS, Self::CLOSING, Self::MISSING].contains(what)
            }
            Problem::Bound(_) => false,
        }
    }
}

/// The bounds of the parser. Each is a block, never an abort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Text longer than [`Bound::MAX_BYTES`].
    Bytes,
    /// Nesting deeper than [`Bound::MAX_DEPTH`].
    Depth,
    /// More simple commands than [`Bound::MAX_COMMANDS`].
    Commands,
    /// More words than [`Bound::MAX_WORDS`].
    Words,
    /// A pipeline of more stages than [`Bound::MAX_STAGES`].
    Stages,
    /// More steps than the backtracking of `((` may take.
    Fuel,
}

impl Bound {
    pub const MAX_BYTES: usize = 1024 * 1024;
    pub const MAX_DEPTH: usize = 64;
    pub const MAX_COMMANDS: usize = 20_000;
    pub const MAX_WORDS: usize = 200_000;
    /// What comes to a stage is looked for in all before it.
    pub const MAX_STAGES: usize = 256;

    /// The bound as messages name it.
    pub const fn name(self) -> &'static str {
        match self {
            Bound::Bytes => "longer than 1 MiB",
            Bound::Depth => "nested deeper than 64 levels",
            Bound::Commands => "more than 20 000 commands",
            Bound::Words => "more than 200 000 words",
            Bound::Stages => "a pipeline of more than 256 commands",
            Bound::Fuel => "too ambiguous to read",
        }
    }
}

/// Where a simple command stands, innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Runs as part of the text itself (also in a subshell, loop or condition).
    Top,
    /// In `$(…)` or backticks.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// In a substitution inside a heredoc body.
    Heredoc,
    /// In the body of a function: runs when the function is called.
    Function,
    /// In a substitution inside arithmetic.
    Arithmetic,
}

/// One simple command: assignments, words, redirections. May have no words (`X=1`, `> file`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    pub assigns: Vec<Assign>,
    /// The arrays among the arguments of `declare` and its like (`NAME=(…)`); what they hold is unknown in `words`.
    pub declared: Vec<Assign>,
    /// The command word and its arguments. Keywords (`if`, `time`, `!`, `coproc`) are not words.
    pub words: Vec<Word>,
    /// In order. Those of a compound command around it come first (a descriptor's last one wins); a compound command
    /// without a simple one has an empty one for them.
    pub redirects: Vec<Redirect>,
    pub context: Context,
    /// Commands of one pipeline have the same number. Commands of a compound stage (`{ a; b; } | c`) share the
    /// pipeline and stage of their compound; a pipeline in it is counted in (`{ a | b; } | c` has three stages), so that data
    /// flows only from lower stages to higher ones. Substitutions have pipelines of their own: see `owner`.
    pub pipeline: u32,
    /// Place in the pipeline: 0 reads from outside it.
    pub stage: u16,
    /// Last stage of its pipeline.
    pub last: bool,
    /// The subshell that it runs in: `cd` and assignments made in one do not reach those outside it. 0 = the shell itself.
    /// A substitution and each stage of a pipeline with more than one stage is a subshell.
    pub subshell: u32,
    /// The subshell around `subshell` (0 for 0).
    pub parent: u32,
    /// The function whose body it stands in: index into [`Script::functions`].
    pub function: Option<u32>,
    /// Whether it runs may depend on another command (`&&`, `||`, `if`, loop bodies, `case`).
    pub conditional: bool,
    /// That depends on more than that what stands in front of it with `&&` succeeded.
    pub branched: bool,
    /// Of a `cd`: what begins behind it and before this byte runs only where it succeeded. 0: nothing is said of that.
    pub holds: usize,
    /// For a command in a substitution: the command whose words, values, targets or here-documents it is part of, as an
    /// index into [`Script::commands`]. Its output goes there; its input is that of its owner.
    pub owner: Option<u32>,
    /// Byte range in the source of the outermost text.
    pub span: (usize, usize),
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value` (`array` set), or `NAME=(…)` (`array` set, the value not known). The head of
/// `for NAME in …` and `select` is a command without words that has one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assign {
    pub name: String,
    pub append: bool,
    pub array: bool,
    /// The source text of `i` in `NAME[i]=`.
    pub key: Option<String>,
    pub value: Word,
    /// The elements of `NAME=(…)`, or what a loop goes through, where that is more than one plain word.
    pub list: Vec<Word>,
}

/// A word as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    pub parts: Vec<Part>,
    pub span: (usize, usize),
}

/// A piece of a word. `quoted`: inside quotes, so neither split nor globbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text with quotes and backslashes removed. Unquoted text may hold `* ? [ { ~`, which then mean something; a
    /// backslash-escaped character is quoted text. Neighbours of one kind are one part.
    Text { text: String, quoted: bool },
    /// `$NAME` or `${NAME…}`. `plain`: the value itself, nothing done to it. `default`: the word of `${NAME:-word}` and its like,
    /// as source text, where there is one. `op`: what is done to the value.
    Variable { name: String, plain: bool, default: Option<String>, op: Op, quoted: bool },
    /// `$(…)` or backticks; the commands are in [`Script::commands`] with this subshell number.
    Substitution { subshell: u32, quoted: bool },
    /// `<(…)` or `>(…)`.
    Process { subshell: u32 },
    /// `$((…))` or `$[…]`: a number, by its source text.
    Arithmetic(String),
}

/// What `${NAME…}` does to a value. `colon`: an empty value counts as unset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Nothing.
    Plain,
    /// `-`
    Default { colon: bool },
    /// `=`
    Assign { colon: bool },
    /// `+`
    Alternative { colon: bool },
    /// `?`
    Error { colon: bool },
    /// `#` `##` `%` `%%`, with the pattern as source text.
    Trim { suffix: bool, longest: bool, pattern: String },
    /// `:offset:length`, as source text.
    Slice(String),
    /// `[i]`, with what follows up to the `}`, as source text.
    Element(String),
    /// `!` in front of the name, and `[i]` behind it, as source text: the keys of an array.
    Keys(String),
    /// `/`, `^`, `,` or `@` with what follows up to the `}`, as source text.
    Change(String),
    /// `!` in front of the name, and nothing behind it: the value of the variable that the value names.
    Indirect,
    /// Anything else, such as lengths.
    Other,
}

/// The kinds of redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>` `>|` `&>` and `>&` with a file
    Write,
    /// `>>` `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>&2`, `<&3`, `2>&-`: no file
    Duplicate,
    /// `<<` `<<-`: `target` is the body; quoted delimiter = one quoted text
    Heredoc,
    /// `<<<`: `target` is the word
    HereString,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor's number where one is written.
    pub fd: Option<u32>,
    /// The variable that gets the descriptor's number (`{NAME}<`).
    pub name: Option<String>,
    /// A `<` begins it.
    pub reads: bool,
    /// `<&` or `>&`: what stands behind it is a descriptor where it is a number.
    pub doubles: bool,
    pub kind: RedirectKind,
    pub target: Word,
}
