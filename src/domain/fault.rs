//! Why no decision was possible. Never the same as allow.

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The message could not be read or lacks a field.
    BadMessage,
    /// A bound was passed: size, nesting, count.
    TooLarge,
    /// The state file is damaged or cannot be read or written.
    State,
    /// The lock could not be had in time.
    Busy,
    /// The configuration cannot be used.
    Config,
    /// The audit log cannot be written.
    Audit,
    /// The host could not answer a question about the machine.
    Host,
    /// The internal deadline passed.
    Deadline,
    /// What holds on several machines could not be asked.
    Fleet,
}

impl FaultKind {
    /// The code shown to people and written to the audit log.
    pub const fn code(self) -> &'static str {
        match self {
            FaultKind::BadMessage => "fault.bad-message",
            FaultKind::TooLarge => "fault.too-large",
            FaultKind::State => "fault.state",
            FaultKind::Busy => "fault.busy",
            FaultKind::Config => "fault.config",
            FaultKind::Audit => "fault.audit",
            FaultKind::Host => "fault.host",
            FaultKind::Deadline => "fault.deadline",
            FaultKind::Fleet => "fault.fleet",
        }
    }

    /// Whether `on_fault = "ask"` may turn it into a question to the person. A message we could not read may hide
    /// anything, so it never is.
    pub const fn may_ask(self) -> bool {
        match self {
            FaultKind::BadMessage | FaultKind::TooLarge | FaultKind::Deadline => false,
            FaultKind::State
            | FaultKind::Busy
            | FaultKind::Config
            | FaultKind::Audit
            | FaultKind::Host
            | FaultKind::Fleet => true,
        }
    }
}

/// One fault: what, why, and how to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// What was being done, with the name of the input ("config /home/u/.config/lazaret/config.toml").
    pub what: String,
    pub why: String,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(kind: FaultKind, what: impl Into<String>, why: impl Into<String>) -> Fault {
        Fault { kind, what: what.into(), why: why.into(), hint: None }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    /// `what: why`, in one line.
    pub fn message(&self) -> String {
        format!("{}: {}", self.what, self.why)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

impl std::error::Error for Fault {}
