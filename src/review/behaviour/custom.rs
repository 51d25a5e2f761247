//! Patterns of one's own, told by their own examples: short histories, played through in the made-up world of the rules' examples.

use super::{History, Report, entry, words};
use crate::domain::{
    Behaviour, Client, HistoryEntry, Outcome, Pattern, Policy, Purpose, SessionId, Subject,
    WrittenIntervention, WrittenPattern, clip, escape,
};
use crate::rules::fixture;

/// Longest piece of a step that a message quotes, in bytes.
const SHOWN: usize = 100;

/// Everything that is wrong with a pattern that is well written: its name, its words, and examples that do not do what they say.
pub fn problems(pattern: &WrittenPattern) -> Vec<String> {
    let mut wrong = Vec::new();
    if Pattern::from_name(&pattern.name).is_some() {
        wrong.push("a built-in pattern has this name: give yours one of its own".to_owned());
    }
    wrong.extend(words::misplaced(&pattern.text).map(|why| format!("text: {why}")));
    for history in &pattern.fires {
        match stands(pattern, history) {
            Ok(after) if after.last() == Some(&true) => {}
            Ok(_) => wrong.push(format!("it does not stand after {}, which is under `fires`", told(history))),
            Err(why) => wrong.push(why),
        }
    }
    for history in &pattern.silent {
        match stands(pattern, history) {
            Ok(after) => {
                let first = after.iter().position(|stands| *stands);
                wrong.extend(first.map(|at| {
                    format!("it stands after action {} of {}, which is under `silent`", at + 1, told(history))
                }));
            }
            Err(why) => wrong.push(why),
        }
    }
    wrong
}

/// Everything that is wrong with an intervention that is well written.
pub fn misplaced(intervention: &WrittenIntervention) -> Vec<String> {
    let text = intervention.text.as_deref().and_then(words::misplaced);
    text.map(|why| format!("text: {why}")).into_iter().collect()
}

/// The end of a history, for a message.
fn told(history: &[String]) -> String {
    format!("\"{}\"", escape(&clip(&history.join("\", \""), SHOWN)))
}

/// Whether the pattern stands after each action of a history.
fn stands(pattern: &WrittenPattern, history: &[String]) -> Result<Vec<bool>, String> {
    let session = SessionId::new("example").ok_or_else(|| "session example: not an id".to_owned())?;
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let mut policy = Policy::default();
    policy.patterns.enabled.clear();
    policy.patterns.custom.push(pattern.clone());
    // Newest first.
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut after = Vec::new();
    for step in history {
        let Step { times, call, outcome, error } = read(step)?;
        let call = fixture::call(call);
        let (survey, facts) = fixture::survey_of(&call, &policy);
        let report = Report {
            subject: &subject,
            call: &call,
            survey: &survey,
            facts: &facts,
            policy: &policy,
            outcome,
            error,
            rule: None,
            duration_ms: None,
        };
        let made = entry(&report, &Purpose::default());
        for _ in 0..times {
            if entries.len() >= History::LOOKED_AT {
                return Err(format!("a history has {} actions at most", History::LOOKED_AT));
            }
            let found = super::find(&History::new(&made, &entries), &Behaviour::default(), &policy);
            after.push(!found.is_empty());
            entries.insert(0, made);
        }
    }
    Ok(after)
}

/// One line of a history.
#[derive(Debug, PartialEq)]
struct Step<'a> {
    times: usize,
    call: &'a str,
    outcome: Outcome,
    error: Option<&'a str>,
}

/// `CALL`, `3x CALL`, `CALL => done`, `CALL => blocked`, `CALL => failed: ERROR`.
fn read(line: &str) -> Result<Step<'_>, String> {
    let (times, rest) = line
        .split_once("x ")
        .and_then(|(times, rest)| Some((times.parse().ok().filter(|times| *times > 0)?, rest)))
        .unwrap_or((1, line));
    let ends = rest.match_indices(" => ").filter_map(|(at, mark)| {
        let (call, end) = (rest.get(..at)?, rest.get(at + mark.len()..)?);
        let (word, error) = end.split_once(": ").map_or((end, None), |(word, error)| (word, Some(error)));
        let outcome = Outcome::ENDED.into_iter().find(|outcome| outcome.name() == word)?;
        Some(Step { times, call, outcome, error })
    });
    let plain = Step { times, call: rest, outcome: Outcome::Done, error: None };
    let step = ends.into_iter().next().unwrap_or(plain);
    if step.call.trim().is_empty() {
        return Err(format!("an example has no call: \"{}\"", escape(&clip(line, SHOWN))));
    }
    if step.error.is_some() && step.outcome != Outcome::Failed {
        return Err(format!("only what failed has an error: \"{}\"", escape(&clip(line, SHOWN))));
    }
    Ok(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_history() {
        let step = |times, call, outcome, error| Ok(Step { times, call, outcome, error });
        assert_eq!(read("make"), step(1, "make", Outcome::Done, None));
        assert_eq!(read("12x make => failed"), step(12, "make", Outcome::Failed, None));
        assert_eq!(read("make => failed: a => b: c"), step(1, "make", Outcome::Failed, Some("a => b: c")));
        assert_eq!(read("Read a => blocked"), step(1, "Read a", Outcome::Blocked, None));
        assert_eq!(read("node -e 'x => y'"), step(1, "node -e 'x => y'", Outcome::Done, None));
        assert_eq!(read("0x make"), step(1, "0x make", Outcome::Done, None));
        assert!(read("3x  => failed").is_err() && read("make => done: x").is_err());
    }
}
