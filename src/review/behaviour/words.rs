//! What the model and the person are told when a pattern is found.

use crate::domain::{Behaviour, Finding, InterventionKind};

/// The corrective text.
pub fn correction(kind: InterventionKind, finding: &Finding, behaviour: &Behaviour) -> String {
    let advice = match finding.pattern.as_str() {
        "repetitive_errors" => {
            "stop repeating it; read the error, look at what it names, and try another way"
        }
        _ => "stop and look at what you are doing before you go on",
    };
    let mut text = format!("{} ({}): {}", finding.pattern, kind.name(), finding.evidence);
    if !behaviour.last_error.is_empty() {
        text.push_str(&format!("; the last one: {}", behaviour.last_error));
    }
    text.push_str("; ");
    text.push_str(advice);
    text
}
