//! A rule in words: the form in which rules are exported, written in configuration files and kept in the policy. What the words
//! mean is in `rules`.

use serde::{Deserialize, Serialize};

use super::{EffectKind, Severity, Verdict, words};

words! {
    /// Kinds of place. A target may be several at once.
    Class {
        /// The root of the file system, or all in it.
        Root = "root",
        /// The operating system's directories, outside home, project and temporary directories.
        System = "system",
        /// The home directory, or all in it.
        Home = "home",
        /// Directly below the home directory, and not what is being worked on.
        HomeTop = "home_top",
        /// The directory of all homes, or somebody else's home.
        Users = "users",
        /// The top of the repository or project, all in it, or a directory above it.
        Project = "project",
        /// A `.git` directory or what is in it.
        Git = "git",
        /// Where no work is expected: not the repository, the project, the scope or a temporary directory.
        Outside = "outside",
        /// Where work is expected: the opposite of `Outside`.
        Expected = "expected",
        /// In another checkout below the home directory than the one worked in, or what a build makes again there.
        Checkout = "checkout",
        /// A block device, or the memory.
        Device = "device",
        /// What an agent must not change.
        Protected = "protected",
        /// lazaret's keys and sealed copies.
        Keys = "keys",
        /// A file of secrets: private keys, credentials.
        Secret = "secret",
        /// A `.env` file.
        EnvFile = "env_file",
        /// Nothing of the path is known.
        Unknown = "unknown",
    }
}

words! {
    /// Data that goes from one command to another, by a pipeline or a substitution.
    Flow {
        /// What was fetched is run.
        DownloadToInterpreter = "download_to_interpreter",
        /// What was decoded is run.
        DecodedToInterpreter = "decoded_to_interpreter",
        /// A secret leaves the machine.
        SecretToNetwork = "secret_to_network",
    }
}

/// The alternative that a rule names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayOut {
    /// A command that lazaret lets through as it stands.
    Command(String),
    /// What to do, in words.
    Advice(String),
}

impl WayOut {
    pub fn text(&self) -> &str {
        match self {
            WayOut::Command(text) | WayOut::Advice(text) => text,
        }
    }
}

/// A whole rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenRule {
    pub id: String,
    pub verdict: Verdict,
    pub severity: Severity,
    pub reason: String,
    pub instead: Option<WayOut>,
    /// The name of what makes the call safe, of a `Modify` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewriter: Option<String>,
    /// The rule matches when one of these does.
    pub when: Vec<WrittenWhen>,
    pub fires: Vec<String>,
    pub silent: Vec<String>,
    /// It comes from a file that nobody trusts: it counts, but its words are not repeated.
    #[serde(default, skip_serializing_if = "is_off")]
    pub hushed: bool,
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenWhen {
    Command(WrittenCommand),
    Effect(WrittenEffect),
    Flow(Flow),
    /// A request to one of these hosts, or to one below it.
    Hosts(Vec<String>),
    Code(WrittenCode),
    Tool(WrittenTool),
    /// A condition that lazaret has by this name.
    Predicate(String),
}

/// One program run in a certain way; everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenCommand {
    pub programs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operand: Option<WrittenOperand>,
    #[serde(skip_serializing_if = "is_off")]
    pub privileged: bool,
    /// Not where a registry or a directory of this machine is named as what it goes to.
    #[serde(skip_serializing_if = "is_off")]
    pub away: bool,
}

/// What must hold of at least one operand. A place is written `~/below/home`, `/absolute` or `anywhere/in/a/path`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenOperand {
    Some,
    Is(Vec<String>),
    Starts(Vec<String>),
    Ends(Vec<String>),
    Contains(Vec<String>),
    On(Vec<Class>),
    SourceOn(Vec<Class>),
    At(Vec<String>),
}

/// An effect of the call; everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenEffect {
    pub kinds: Vec<EffectKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Class>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_on: Vec<Class>,
    #[serde(skip_serializing_if = "is_off")]
    pub recursive: bool,
    #[serde(skip_serializing_if = "is_off")]
    pub lasting: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

/// Code given to an interpreter that holds, of each group, one of the words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenCode {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    pub all: Vec<Vec<String>>,
}

/// A call of one of these tools (`*` stands for any letters) whose input holds, of each group, one of the words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenTool {
    pub names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<Vec<String>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_off(on: &bool) -> bool {
    !*on
}
