//! The settings as resolved. How they are written in files is `host::config`'s affair.

use serde::{Deserialize, Serialize};

use super::{
    Exception, Pattern, Places, Plugin, PluginKind, Tier, WrittenIntervention, WrittenPattern,
    WrittenProgram, WrittenRule, highest, join, lies_in, words,
};

words! {
    /// The values that stand where no file sets a key, from the loosest.
    #[derive(PartialOrd, Ord)]
    Profile {
        /// A person sits beside and sees what is done.
        Development = "development",
        /// As the defaults are.
        Default = "default",
        /// An agent works where nobody answers, and where nothing hangs on it.
        Testing = "testing",
        /// Others depend on what the agent works on.
        Production = "production",
    }
}

words! {
    /// Whether every call waits for the whole review (seed 002, `mode`).
    Mode {
        /// One of little risk does not wait for what its session's past says of it: that is looked at when it has ended.
        Async = "async",
        Blocking = "blocking",
    }
}

words! {
    /// What an ordinary agent's call gets when no decision was possible. A client that cannot ask blocks.
    OnFault {
        Ask = "ask",
        Block = "block",
    }
}

words! {
    /// Whether the hook asks a service of `lazaret-fleet` about what holds on several machines.
    FleetService {
        Off = "off",
        /// One of this user's own.
        User = "user",
        /// One of the machine's.
        System = "system",
    }
}

words! {
    /// What a call gets when that service does not answer.
    FleetFault {
        /// What holds on this machine alone counts.
        Local = "local",
        Ask = "ask",
        Block = "block",
    }
}

/// What holds on several machines. It is kept as numbers: names would be a hundredth of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u32; 4]", into = "[u32; 4]")]
pub struct FleetPolicy {
    pub service: FleetService,
    pub on_fault: FleetFault,
    /// How long the service may take, in milliseconds (5 ..= 1000).
    pub deadline_ms: u16,
    /// Quarantined agents that may be at work at once on all of them.
    pub quarantined: u32,
}

impl From<FleetPolicy> for [u32; 4] {
    fn from(fleet: FleetPolicy) -> [u32; 4] {
        [fleet.service as u32, fleet.on_fault as u32, fleet.deadline_ms.into(), fleet.quarantined]
    }
}

impl From<[u32; 4]> for FleetPolicy {
    /// What is none of these counts as the default.
    fn from([service, on_fault, deadline_ms, quarantined]: [u32; 4]) -> FleetPolicy {
        let default = FleetPolicy::default();
        let service = FleetService::ALL.into_iter().find(|known| *known as u32 == service);
        let on_fault = FleetFault::ALL.into_iter().find(|known| *known as u32 == on_fault);
        FleetPolicy {
            service: service.unwrap_or(default.service),
            on_fault: on_fault.unwrap_or(default.on_fault),
            deadline_ms: u16::try_from(deadline_ms).unwrap_or(default.deadline_ms),
            quarantined,
        }
    }
}

impl Default for FleetPolicy {
    fn default() -> FleetPolicy {
        let (service, on_fault) = (FleetService::Off, FleetFault::Ask);
        FleetPolicy { service, on_fault, deadline_ms: 20, quarantined: 1000 }
    }
}

/// Which built-in rules are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuiltinRules {
    All,
    /// Only those of severity critical.
    Essential,
    None,
}

words! {
    /// What a resource limit does when it is reached.
    ResourceMode {
        Off = "off",
        Warn = "warn",
        Block = "block",
    }
}

/// Lower bounds of the risk bands (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RiskThresholds {
    pub low: f64,
    pub medium: f64,
    pub high: f64,
    pub critical: f64,
}

/// Lower bounds of the rationality bands (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RationalityThresholds {
    pub high: f64,
    pub medium: f64,
}

/// At most `calls` of `tool` in `window_seconds`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLimit {
    pub tool: String,
    pub calls: u32,
    pub window_seconds: u32,
    /// Whether the calls of every agent on every machine that shares the limit are counted together, not those of each agent.
    pub shared: bool,
}

impl ToolLimit {
    /// The words for whose calls are counted together: each agent's, or all of them.
    pub const PER: [&'static str; 2] = ["agent", "fleet"];

    pub fn per(&self) -> &'static str {
        let [agent, fleet] = ToolLimit::PER;
        if self.shared { fleet } else { agent }
    }

    /// The word for every tool.
    pub const EVERY: &'static str = "*";

    /// Whether it counts calls of that tool.
    pub fn counts(&self, tool: &str) -> bool {
        self.tool == ToolLimit::EVERY || self.tool == tool
    }
}

/// Limits of quarantined agents (seed 004).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantinePolicy {
    /// Agent types that are quarantined besides [`QuarantinePolicy::REVIEWER`], with or without a plugin's prefix.
    pub agent_types: Vec<String>,
    pub calls: u32,
    pub window_seconds: u32,
    pub concurrent: u32,
    pub timeout_seconds: u32,
}

impl QuarantinePolicy {
    /// The type of the reviewer that lazaret brings: no configuration lets it out.
    pub const REVIEWER: &'static str = "quarantine-reviewer";

    /// All types that are quarantined.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        std::iter::once(Self::REVIEWER).chain(self.agent_types.iter().map(String::as_str))
    }

    /// Whether agents of this type are quarantined, with or without a plugin's prefix, in any case of letters.
    pub fn covers(&self, agent_type: &str) -> bool {
        let agent_type = agent_type.trim();
        let name = agent_type.rsplit_once(':').map_or(agent_type, |(_, name)| name);
        self.types()
            .any(|listed| listed.eq_ignore_ascii_case(name) || listed.eq_ignore_ascii_case(agent_type))
    }
}

words! {
    /// What a limit is counted over.
    Span {
        /// From one prompt of the person to the next.
        Prompt = "prompt",
        Session = "session",
    }
}

/// What may be used, and what happens beyond it (seed 000 `resources`). The hook counts file operations and time; memory and tokens are
/// seen by a supervised run alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourcePolicy {
    /// Of file operations.
    pub mode: ResourceMode,
    pub max_file_operations: u64,
    pub execution_time: ResourceMode,
    /// Seconds that calls take together.
    pub max_execution_time: u64,
    pub memory: ResourceMode,
    /// Mebibytes.
    pub max_memory: u64,
    pub token_usage: ResourceMode,
    pub max_token_usage: u64,
    pub per: Span,
}

impl Default for ResourcePolicy {
    fn default() -> ResourcePolicy {
        ResourcePolicy {
            mode: ResourceMode::Off,
            max_file_operations: 100,
            execution_time: ResourceMode::Off,
            max_execution_time: 300,
            memory: ResourceMode::Off,
            max_memory: 512,
            token_usage: ResourceMode::Off,
            max_token_usage: 100_000,
            per: Span::Prompt,
        }
    }
}

/// How much an event matters; the log has a level from which events are written (seed 000 `audit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

words! {
    /// How easily patterns are seen.
    Sensitivity {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

impl Sensitivity {
    /// A threshold of evidence under it: half as much again for low, two thirds for high.
    pub const fn scaled(self, threshold: u32) -> u32 {
        match self {
            Sensitivity::Low => (threshold * 3).div_ceil(2),
            Sensitivity::Medium => threshold,
            Sensitivity::High => (threshold * 2).div_ceil(3),
        }
    }
}

/// Which patterns are looked for, and how (seed 000 `patterns`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternPolicy {
    /// Names of built-in patterns; `all` is every one.
    pub enabled: Vec<String>,
    pub sensitivity: Sensitivity,
    /// Patterns of one's own, at most [`WrittenPattern::MOST`]; they are always looked for.
    pub custom: Vec<WrittenPattern>,
}

impl PatternPolicy {
    /// The word for every pattern.
    pub const ALL: &'static str = "all";

    pub fn looks_for(&self, pattern: &str) -> bool {
        self.enabled.iter().any(|name| name == PatternPolicy::ALL || name == pattern)
    }

    /// The pattern of one's own of that name.
    pub fn own(&self, name: &str) -> Option<&WrittenPattern> {
        self.custom.iter().find(|pattern| pattern.name == name)
    }

    /// The highest severity in percent that the class of a pattern allows; of one that is not known any more, advice.
    pub fn cap(&self, name: &str) -> u8 {
        let built_in = Pattern::from_name(name).map(Pattern::cap);
        built_in.or_else(|| self.own(name).map(WrittenPattern::cap)).unwrap_or(29)
    }
}

/// Which interventions are made (seed 000 `interventions`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterventionPolicy {
    pub soft_correction: bool,
    /// Off: what would stop the session only holds back its changes.
    pub hard_stop: bool,
    /// Interventions of one kind against one pattern before the next kind is made.
    pub max_retries: u32,
    /// Program and arguments that are told when a session is stopped; empty = none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<String>,
    /// What is done otherwise about single patterns.
    pub custom: Vec<WrittenIntervention>,
}

impl InterventionPolicy {
    /// What is done otherwise about that pattern.
    pub fn own(&self, pattern: &str) -> Option<&WrittenIntervention> {
        self.custom.iter().find(|one| one.pattern == pattern)
    }
}

/// The audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPolicy {
    pub enabled: bool,
    /// Events below this level are not written.
    pub log_level: LogLevel,
    /// Whether personal data is taken out of what is written.
    pub mask_pii: bool,
    pub retain_days: u32,
    /// A file that has reached this size, in bytes, is set aside and a new one begun.
    pub max_bytes: u64,
}

/// Checkpoints: whether they are made, and their bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointPolicy {
    pub enabled: bool,
    /// Whether a command that discards work is a warning instead of a block where all that it discards was saved.
    pub instead_of_block: bool,
    pub retain_days: u32,
    /// Most files of one checkpoint.
    pub max_files: u64,
    /// Longest file that is saved, in bytes.
    pub max_file_bytes: u64,
    /// Most bytes of one checkpoint.
    pub max_bytes: u64,
    /// Most bytes of all checkpoints; the oldest make room.
    pub max_store_bytes: u64,
}

/// Everything a decision depends on besides the call, the machine and the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub profile: Profile,
    pub enabled: bool,
    pub mode: Mode,
    pub on_fault: OnFault,
    /// Internal deadline of one hook call, in milliseconds (100 ..= 10 000).
    pub deadline_ms: u32,
    /// Risk below which a call does not wait in [`Mode::Async`] (0 ..= 1; seed 002, `async_threshold`).
    pub async_threshold: f64,
    pub risk: RiskThresholds,
    pub rationality: RationalityThresholds,
    pub builtin_rules: BuiltinRules,
    /// Ids of rules that are off; `domain.*` is every rule of a domain.
    pub disabled_rules: Vec<String>,
    /// The user's own rules; they can only add to what the built-in ones say.
    pub custom_rules: Vec<WrittenRule>,
    /// The lowest layer of which exceptions count.
    pub exceptions_from: Tier,
    pub exceptions: Vec<Exception>,
    /// Paths besides the repository and the temporary directories where work is expected.
    pub scope: Vec<String>,
    /// What the agent is here for; empty = unknown, which is not held against it.
    pub goals: Vec<String>,
    pub protected_branches: Vec<String>,
    /// Hosts to which a request is no news (no warning).
    pub known_hosts: Vec<String>,
    pub quarantine: QuarantinePolicy,
    pub tool_limits: Vec<ToolLimit>,
    pub fleet: FleetPolicy,
    pub resources: ResourcePolicy,
    pub patterns: PatternPolicy,
    pub interventions: InterventionPolicy,
    pub audit: AuditPolicy,
    pub checkpoints: CheckpointPolicy,
    /// Programs of the user's own that are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<Plugin>,
    /// Programs that lazaret is taught, those of the highest layer first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<WrittenProgram>,
}

impl Default for Policy {
    fn default() -> Policy {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        Policy {
            profile: Profile::Default,
            enabled: true,
            mode: Mode::Blocking,
            on_fault: OnFault::Ask,
            deadline_ms: 1500,
            async_threshold: 0.3,
            risk: RiskThresholds { low: 0.3, medium: 0.6, high: 0.8, critical: 0.95 },
            rationality: RationalityThresholds { high: 0.8, medium: 0.5 },
            builtin_rules: BuiltinRules::All,
            disabled_rules: Vec::new(),
            custom_rules: Vec::new(),
            exceptions_from: Tier::Project,
            exceptions: Vec::new(),
            scope: Vec::new(),
            goals: Vec::new(),
            protected_branches: words(&["main", "master", "trunk", "production", "release"]),
            known_hosts: words(&[
                "localhost",
                "127.0.0.1",
                "[::1]",
                "github.com",
                "api.github.com",
                "raw.githubusercontent.com",
                "gitlab.com",
            ]),
            quarantine: QuarantinePolicy {
                agent_types: words(&[QuarantinePolicy::REVIEWER]),
                calls: 100,
                window_seconds: 60,
                concurrent: 5,
                timeout_seconds: 300,
            },
            tool_limits: Vec::new(),
            fleet: FleetPolicy::default(),
            resources: ResourcePolicy::default(),
            patterns: PatternPolicy {
                enabled: words(&[PatternPolicy::ALL]),
                sensitivity: Sensitivity::Medium,
                custom: Vec::new(),
            },
            interventions: InterventionPolicy {
                soft_correction: true,
                hard_stop: true,
                max_retries: 3,
                notify: Vec::new(),
                custom: Vec::new(),
            },
            audit: AuditPolicy {
                enabled: true,
                log_level: LogLevel::Info,
                mask_pii: false,
                retain_days: 30,
                max_bytes: 64 * 1024 * 1024,
            },
            checkpoints: CheckpointPolicy {
                enabled: true,
                instead_of_block: true,
                retain_days: 7,
                max_files: 20_000,
                max_file_bytes: 32 << 20,
                max_bytes: 256 << 20,
                max_store_bytes: 2 << 30,
            },
            plugins: Vec::new(),
            programs: Vec::new(),
        }
    }
}

impl Policy {
    /// The plugin that looks for the pattern of this name.
    pub fn looked_for_by(&self, pattern: &str) -> Option<&Plugin> {
        self.plugins.iter().find(|plugin| plugin.kind == PluginKind::Pattern && plugin.name == pattern)
    }

    /// The highest severity in percent that the class of a pattern allows, whoever looks for it.
    pub fn cap(&self, pattern: &str) -> u8 {
        self.looked_for_by(pattern)
            .map_or_else(|| self.patterns.cap(pattern), |plugin| highest(plugin.severity))
    }

    /// Whether work is expected at an absolute, normalised path: in the repository, the project, a temporary directory, or what
    /// `scope` adds (`~/…`, and `/**` at its end, are understood).
    pub fn expects(&self, path: &str, places: &Places) -> bool {
        // A home directory below a temporary one is a home directory all the same.
        let at_home = |temp: &str| {
            places.home.as_deref().is_some_and(|home| lies_in(home, temp) && lies_in(path, home))
        };
        let temp = places.temp.iter().map(String::as_str).filter(|temp| !at_home(temp));
        let roots = places.roots().chain(temp);
        let scope = self.scope.iter().map(|root| root.trim_end_matches("/**"));
        roots.into_iter().any(|root| lies_in(path, root))
            || scope.into_iter().any(|root| lies_below(path, root, places))
    }
}

/// Whether an absolute, normalised path is a configured place (absolute, or `~/…`) or lies below it.
pub fn lies_below(path: &str, place: &str, places: &Places) -> bool {
    match (place.strip_prefix('~'), &places.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            lies_in(path, &join(home, rest.trim_start_matches('/')))
        }
        (Some(_), _) => false,
        (None, _) => lies_in(path, place.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_work_is_expected() {
        let places = Places {
            home: Some("/home/u".to_owned()),
            repo: Some("/home/u/proj".to_owned()),
            temp: vec!["/tmp".to_owned()],
            ..Places::default()
        };
        let scope = ["/data/**", "~/notes", "/srv/app/"].map(str::to_owned).to_vec();
        let policy = Policy { scope, ..Policy::default() };
        for path in ["/home/u/proj", "/home/u/proj/a", "/tmp/x", "/data/x", "/home/u/notes/a", "/srv/app/x"] {
            assert!(policy.expects(path, &places), "{path}");
        }
        for path in ["/home/u", "/home/u/proj2", "/data2/x", "/home/u/~/notes", "/etc/hosts", "/"] {
            assert!(!policy.expects(path, &places), "{path}");
        }
        let without_home = Places { home: None, ..places.clone() };
        assert!(!policy.expects("/home/u/notes/a", &without_home));
        let at_home = Places { repo: None, project: Some("/home/u".to_owned()), ..places };
        assert!(
            !policy.expects("/home/u/letter.txt", &at_home),
            "working at home makes nothing there expendable"
        );
    }
}
