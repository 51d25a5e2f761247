//! `lazaret rules test`: every example, and every command that a rule names as its alternative, through the whole decision.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};

use super::built_in;
use crate::cli::{CHECKS, Exit, Machine};
use crate::domain::{
    Asking, Client, Decision, Policy, SessionId, Stand, Subject, Trust, Verdict, WayOut, WrittenPattern,
    WrittenRule, escape,
};
use crate::host::config::{self, Custom, PROJECT_FILE};
use crate::host::files::{self, Links};
use crate::review::{self, Case, behaviour};
use crate::rules::fixture;

/// What stands before the name of a pattern where a rule's id is told.
const PATTERNS: &str = "pattern.";

/// One line of the report.
struct Wrong {
    rule: String,
    example: String,
    result: String,
}

/// Tests the rules of `file`, or all that count here; what is not as it should be is listed, and the exit code is 1.
pub fn run(file: Option<&Path>, as_object: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let (rules, own, patterns, broken) = match file {
        Some(file) => {
            let (own, patterns, broken) = read(file)?;
            (own.clone(), own, patterns, broken)
        }
        None => {
            let policy = super::policy(machine)?;
            let own = policy.custom_rules;
            (built_in().chain(own.iter().cloned()).collect(), own, policy.patterns.custom, Vec::new())
        }
    };
    let world = World::new(own)?;
    let mut wrong = Vec::new();
    for rule in &rules {
        world.test(rule, &mut wrong);
    }
    for pattern in &patterns {
        let failed = behaviour::problems(pattern).into_iter();
        let name = || format!("{PATTERNS}{}", pattern.name);
        wrong.extend(failed.map(|result| Wrong { rule: name(), example: String::new(), result }));
    }
    let count: usize = rules.iter().map(|rule| rule.fires.len() + rule.silent.len()).sum();
    let histories: usize = patterns.iter().map(|pattern| pattern.fires.len() + pattern.silent.len()).sum();
    let good = wrong.is_empty() && broken.is_empty();
    if as_object {
        let failed: Vec<Value> = wrong
            .iter()
            .map(|wrong| json!({"rule": wrong.rule, "example": wrong.example, "result": wrong.result}))
            .collect();
        let report = json!({
            "rules": rules.len(), "examples": count, "patterns": patterns.len(), "histories": histories,
            "failed": failed, "problems": broken,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        for problem in &broken {
            writeln!(out, "{problem}")?;
        }
        for Wrong { rule, example, result } in &wrong {
            let mark = if example.is_empty() { "" } else { ": " };
            writeln!(out, "FAIL {rule} {result}{mark}{}", escape(example))?;
        }
        let broken = if broken.is_empty() { String::new() } else { format!(", {} mistakes", broken.len()) };
        let own = if patterns.is_empty() {
            String::new()
        } else {
            format!(", {} patterns, {histories} histories", patterns.len())
        };
        writeln!(
            out,
            "{} rules, {count} examples{own}, {} not as they should be{broken}",
            rules.len(),
            wrong.len()
        )?;
    }
    Ok(if good { Exit::Fine } else { Exit::Failed })
}

/// The rules and patterns of a file that can be used, and what is wrong with it.
fn read(file: &Path) -> Result<(Vec<WrittenRule>, Vec<WrittenPattern>, Vec<String>)> {
    let file = std::path::absolute(file)?;
    let path = file.to_string_lossy().into_owned();
    let bytes =
        files::read(&path, config::MAX_FILE, Links::Follow).map_err(|why| anyhow!("{path}: {why}"))?;
    let Some(bytes) = bytes else { bail!("{path}: there is no such file") };
    let project = path.strip_suffix(PROJECT_FILE).filter(|dir| dir.ends_with('/'));
    let Custom { rules, patterns, problems, .. } = config::custom_of(&bytes, project, CHECKS);
    if rules.is_empty() && patterns.is_empty() && problems.is_empty() {
        bail!("{path}: it has no [[rules.custom]] and no [[patterns.custom]]");
    }
    let named = |problem: &config::Problem| match problem.line {
        Some(line) => format!("{path}:{line}: {}", problem.text),
        None => format!("{path}: {}", problem.text),
    };
    Ok((rules, patterns, problems.iter().map(named).collect()))
}

/// The examples' made-up world, for a session without a past.
struct World {
    subject: Subject,
    policy: Policy,
}

impl World {
    fn new(own: Vec<WrittenRule>) -> Result<World> {
        let session = SessionId::new("rules-test").ok_or_else(|| anyhow!("session rules-test: not an id"))?;
        let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
        Ok(World { subject, policy: Policy { custom_rules: own, ..Policy::default() } })
    }

    /// The whole decision on an example.
    fn decide(&self, example: &str) -> Decision {
        let call = fixture::call(example);
        let (survey, facts) = fixture::survey_of(&call, &self.policy);
        review::decide(&Case {
            subject: &self.subject,
            call: &call,
            cwd: fixture::PROJECT,
            trust: Trust::Ordinary,
            standing: None,
            asking: Asking::Yes,
            survey: &survey,
            facts: &facts,
            policy: &self.policy,
            stand: &Stand::default(),
            now_s: 0,
        })
    }

    fn test(&self, rule: &WrittenRule, wrong: &mut Vec<Wrong>) {
        let mut note = |example: &str, result: String| {
            wrong.push(Wrong { rule: rule.id.clone(), example: example.to_owned(), result });
        };
        let speaks = |decision: &Decision| decision.reasons().iter().any(|reason| reason.rule == rule.id);
        for example in &rule.fires {
            let decision = self.decide(example);
            if !speaks(&decision) || decision.verdict() < rule.verdict {
                note(example, "stays silent on".to_owned());
            }
        }
        for example in &rule.silent {
            if speaks(&self.decide(example)) {
                note(example, "fires on".to_owned());
            }
        }
        if let Some(WayOut::Command(command)) = &rule.instead {
            let decision = self.decide(command);
            if decision.verdict() > Verdict::Warn {
                let by = decision.reasons().first().map_or("", |reason| reason.rule.as_str());
                note(command, format!("names an alternative that {by} stops"));
            }
        }
    }
}
