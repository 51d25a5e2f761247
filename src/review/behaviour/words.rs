//! What the model and the person are told when a pattern is found.

use crate::domain::{Behaviour, Finding, InterventionKind, Pattern, Policy, clip, escape};

/// What may stand in braces in a text of one's own.
const PLACEHOLDERS: [&str; 6] = ["pattern", "intervention", "evidence", "count", "error", "purpose"];

/// The corrective text. What matters most comes first: a client may be told only its beginning.
pub fn correction(
    kind: InterventionKind,
    finding: &Finding,
    behaviour: &Behaviour,
    policy: &Policy,
) -> String {
    let pattern = Pattern::from_name(&finding.pattern);
    // The words of a file that nobody trusts are not repeated.
    let own = policy.patterns.own(&finding.pattern).filter(|own| !own.hushed);
    let whole = policy.interventions.own(&finding.pattern).and_then(|own| own.text.as_ref());
    let filled = |text: &str| filled(text, |name| known(name, (kind, finding, behaviour)));
    let body = match (whole, own) {
        (Some(whole), _) => filled(whole),
        (None, Some(own)) => format!("{}; {}", finding.evidence, filled(&own.text)),
        (None, None) => format!("{}; {}", finding.evidence, advice(pattern)),
    };
    let mut text = format!("{} ({}): {body}", finding.pattern, kind.name());
    text.push_str(match kind {
        InterventionKind::SoftCorrection | InterventionKind::ContextReinforcement => "",
        InterventionKind::ResourceThrottling => {
            "; for the next minutes only a few calls a minute are let through"
        }
        InterventionKind::CheckpointRollback => {
            "; nothing is changed any more until the person says something"
        }
        InterventionKind::EmergencyStop => "; the session is stopped",
    });
    if pattern == Some(Pattern::RepetitiveErrors) && whole.is_none() && !behaviour.last_error.is_empty() {
        text.push_str(&format!("; the last one: {}", behaviour.last_error));
    }
    text
}

/// What a placeholder stands for.
fn known(name: &str, (kind, finding, behaviour): (InterventionKind, &Finding, &Behaviour)) -> Option<String> {
    let said = |text: &str| if text.is_empty() { "(not known)".to_owned() } else { text.to_owned() };
    Some(match name {
        "pattern" => finding.pattern.clone(),
        "intervention" => kind.name().to_owned(),
        "evidence" => finding.evidence.clone(),
        "count" => finding.count.to_string(),
        "error" => said(&behaviour.last_error),
        "purpose" => said(&behaviour.purpose.said),
        _ => return None,
    })
}

/// A text with its placeholders replaced, once: what is put in is not looked through. What `known` does not know stays.
fn filled(text: &str, known: impl Fn(&str) -> Option<String>) -> String {
    let mut pieces = text.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let found = piece.split_once('}').and_then(|(name, rest)| Some((known(name)?, rest)));
        match found {
            Some((value, rest)) => {
                out.push_str(&value);
                out.push_str(rest);
            }
            None => {
                out.push('{');
                out.push_str(piece);
            }
        }
    }
    out
}

/// A word in braces that stands for nothing, with the one that it is most like.
pub fn misplaced(text: &str) -> Option<String> {
    let words = text.split('{').skip(1).filter_map(|piece| piece.split_once('}').map(|(name, _)| name));
    let is_word = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let unknown = words.filter(is_word).find(|name| !PLACEHOLDERS.contains(name))?;
    let close = PLACEHOLDERS.map(|known| (strsim::normalized_damerau_levenshtein(known, unknown), known));
    let near = close.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness >= 0.5);
    let hint = match near {
        Some((_, known)) => format!("did you mean {{{known}}}?"),
        None => format!("there are {}", PLACEHOLDERS.map(|known| format!("{{{known}}}")).join(", ")),
    };
    Some(format!("{{{}}} stands for nothing; {hint}", escape(&clip(unknown, 60))))
}

/// The person's own words, where the intervention reminds of them.
pub fn reminder(kind: InterventionKind, finding: &Finding, behaviour: &Behaviour) -> Option<String> {
    let strays = matches!(
        Pattern::from_name(&finding.pattern),
        Some(Pattern::ScopeCreep | Pattern::GoalDrift | Pattern::ExplorationWandering)
    );
    let reminds = strays || kind > InterventionKind::SoftCorrection;
    (reminds && !behaviour.purpose.said.is_empty()).then(|| asked(behaviour))
}

fn asked(behaviour: &Behaviour) -> String {
    format!("the person asked: \"{}\"", behaviour.purpose.said)
}

fn advice(pattern: Option<Pattern>) -> &'static str {
    match pattern {
        Some(Pattern::RepetitiveErrors) => {
            "stop repeating it; read the error, look at what it names, and try another way"
        }
        Some(Pattern::ScopeCreep) => "go back to the project, or say why the work leads elsewhere",
        Some(Pattern::ResourceSpiral) => "stop what grows, and find a way that needs less",
        Some(Pattern::GoalDrift) => "look again at what was asked for, and go back to it",
        Some(Pattern::ExplorationWandering) => {
            "sum up what you know, and answer, change something, or ask for what is missing"
        }
        Some(Pattern::FailedReferences) => {
            "list the directory to see which files there are, and do not guess names"
        }
        Some(Pattern::RepeatedBlocks) => {
            "do not try it again in other words; do what the refusal proposes, or ask the person"
        }
        None => "stop and look at what you are doing before you go on",
    }
}

/// What a session is told of itself after its context was cut short: what the person asked for, what was refused (given
/// newest first), and what stands against it. A client is told no more than three parts.
pub fn rebuilt(behaviour: &Behaviour, stopped: Option<&str>, refused: &[String]) -> Vec<String> {
    let mut stands: Vec<String> = Vec::new();
    if let Some(why) = stopped {
        stands.push(format!("the session is stopped: {why}"));
    }
    if let Some(pattern) = behaviour.held.as_ref().filter(|_| stopped.is_none()) {
        stands.push(format!("its changes are held back for {pattern} until the person says something"));
    }
    if let Some(throttle) = &behaviour.throttle {
        stands
            .push(format!("it is slowed down for {} to {} calls a minute", throttle.pattern, throttle.calls));
    }
    if let Some(finding) = behaviour.found.first() {
        stands.push(format!("{}: {}", finding.pattern, finding.evidence));
    }
    if !behaviour.last_error.is_empty() {
        stands.push(format!("the last action failed: {}", behaviour.last_error));
    }
    let asked = (!behaviour.purpose.said.is_empty()).then(|| asked(behaviour));
    let refused =
        (!refused.is_empty()).then(|| format!("refused, so not to be tried again: {}", refused.join(", ")));
    let stands = (!stands.is_empty()).then(|| stands.join("; "));
    [asked, refused, stands].into_iter().flatten().collect()
}
