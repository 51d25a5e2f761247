//! The order of one call, shared by `hook` and `check`: ask the host what the survey wants to know, then decide.

use crate::domain::{
    Action, Ask, Decision, Enforcement, Entry, Facts, Marks, Outcome, Places, Policy, Subject, ToolCall,
    Trust, Verdict,
};
use crate::host::facts::{self, Witness};
use crate::host::places;
use crate::review;
use crate::rules::{self, Survey};

/// How often a call is surveyed at most: again after answers to what was asked at the end.
const ROUNDS: usize = 4;

/// Surveys the call, answering its questions about the machine until it has none left.
pub fn understand(call: &ToolCall, cwd: &str, policy: &Policy, facts: &mut Facts) -> Survey {
    let survey = surveyed(call, cwd, policy, facts);
    if changes_files(&survey) {
        places::resolve_links(&mut facts.places);
    }
    survey
}

/// Whether links on the way to protected places matter: they may be reached through them, and an effect falls on what a link
/// leads to.
pub fn changes_files(survey: &Survey) -> bool {
    survey.effects.iter().any(review::is_file_operation)
}

/// The same with the places as they are.
pub fn surveyed(call: &ToolCall, cwd: &str, policy: &Policy, facts: &Facts) -> Survey {
    let mut witness = Witness::default();
    let mut answer = |ask: Ask, facts: &Facts| witness.answer(ask, facts);
    let mut survey = rules::survey_asking(call, cwd, (facts, &mut answer), policy);
    // What scripts that the session knows hold is asked at the end of a survey.
    for _ in 1..ROUNDS {
        let open: Vec<_> = survey.asks.drain(..).filter(|ask| !facts.knows(ask)).collect();
        let known = open.into_iter().filter(|ask| {
            answer(ask.clone(), facts);
            facts.knows(ask)
        });
        if known.count() == 0 {
            break;
        }
        survey = rules::survey_asking(call, cwd, (facts, &mut answer), policy);
    }
    survey
}

/// Surveys the call once more, with what the session remembers of files.
pub fn recall(
    call: &ToolCall,
    cwd: &str,
    policy: &Policy,
    marks: &Marks,
    (survey, facts): (&Survey, &Facts),
) -> (Survey, Facts) {
    let mut facts = facts.clone();
    facts.marks.clone_from(marks);
    let mut survey = survey.clone();
    let anew = rules::follow(call, cwd, &mut survey, &facts, policy);
    facts::answer(&survey.asks, &facts);
    // A copy of a shell runs a file that only now is known to be one with commands.
    if anew && survey.asks.iter().any(|ask| matches!(ask, Ask::Content(_)) && facts.knows(ask)) {
        survey = surveyed(call, cwd, policy, &facts);
    }
    (survey, facts)
}

/// Whether a call may make files go away, so that it is worth a look what is known of them.
pub fn may_remove(call: &ToolCall) -> bool {
    match &call.action {
        Action::Shell { command, .. } => {
            ["rm", "mv", "unlink", "shred", "gzip"].iter().any(|word| command.contains(word))
        }
        Action::Other { .. } => true,
        Action::Read { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. } => false,
    }
}

/// The files of which nothing more is to be remembered after a call: those that it has made go away and that are not there
/// any more, and where a person was `asked`, those that it was allowed to start.
pub fn settled(
    (call, asked): (&ToolCall, bool),
    cwd: &str,
    policy: &Policy,
    marks: &Marks,
    places: Places,
) -> Vec<String> {
    let mut facts = Facts::new(places);
    facts.marks.clone_from(marks);
    let survey = rules::survey(call, cwd, &facts, policy);
    let removed = marks.iter().filter(|mark| !survey.leaves.iter().any(|kept| kept == *mark));
    let gone = removed.filter(|mark| facts::is_missing(&mark.path)).map(|mark| mark.path.clone());
    let accepted = if asked { rules::accepted(&survey, marks, policy) } else { Vec::new() };
    gone.chain(accepted).collect()
}

/// Whether the agent is quarantined: by its type, or because the whole client is
/// (`LAZARET_QUARANTINE` set to anything).
pub fn trust(subject: &Subject, policy: &Policy, client_quarantined: bool) -> Trust {
    let listed = subject.agent_type.as_deref().is_some_and(|name| policy.quarantine.covers(name));
    if listed || client_quarantined { Trust::Quarantined } else { Trust::Ordinary }
}

/// What is remembered of a call that was decided on.
pub fn entry(subject: &Subject, call: &ToolCall, decision: &Decision) -> Entry {
    let identity = review::identify(subject, call);
    let runs = decision.enforcement().lets_run();
    let writes = runs && decision.effects.iter().any(review::is_file_operation);
    // Which copy a quarantined agent was led to is what its report is compared with.
    let sealed = decision.rewrite().filter(|_| decision.quarantined);
    Entry {
        action: sealed.map_or(identity.action, |change| review::sealed_action(&call.tool, &change.value)),
        agent: identity.agent,
        tool: identity.tool,
        call: identity.call,
        // Of a rewritten call nobody was asked: that it ran says nothing for what it works on.
        verdict: if decision.enforcement() == Enforcement::Rewrite {
            Verdict::Warn
        } else {
            decision.verdict()
        },
        outcome: if runs { Outcome::Pending } else { Outcome::Blocked },
        writes,
        file_operation: writes,
    }
}
