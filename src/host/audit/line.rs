//! The form of a line: only the keys that have a value, and a bound on each.

use serde_json::Error;

use crate::domain::{
    AuditEvent, Decision, Effect, Excepted, Fault, Modifiers, Rationality, Reason, Rewrite, Risk, clip,
};
use crate::host::clock::Now;

/// Longest text of one field, in bytes. Callers clip what agents wrote; this is the last bound.
const TEXT: usize = 8 * 1024;
/// Most reasons, effects or rules in one line.
const ITEMS: usize = 32;

/// The line with its line feed.
pub(super) fn write(id: &str, now: Now, event: &AuditEvent<'_>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(1024 + event.action.len() + event.cwd.len());
    let mut line = Object::open(&mut out);
    line.text("id", id)?;
    line.text("time", &now.rfc3339())?;
    line.text("event", event.kind.name())?;
    if let Some(subject) = event.subject {
        line.text("client", subject.client.name())?;
        line.text("session", subject.session.as_str())?;
        line.text("agent", subject.agent.as_ref().map_or("", |agent| agent.as_str()))?;
        line.text("agent_type", subject.agent_type.as_deref().unwrap_or_default())?;
    }
    line.text("cwd", event.cwd)?;
    line.text("tool", event.tool)?;
    line.text("action", event.action)?;
    line.text("call_id", event.call_id.unwrap_or_default())?;
    if let Some(decision) = event.decision {
        judged(&mut line, decision)?;
    }
    line.text("note", event.note)?;
    if event.duration_us > 0 {
        line.number("duration_us", event.duration_us);
    }
    line.close();
    out.push(b'\n');
    Ok(out)
}

fn judged(line: &mut Object<'_>, decision: &Decision) -> Result<(), Error> {
    line.text("verdict", decision.verdict().name())?;
    line.text("enforcement", decision.enforcement().name())?;
    if decision.quarantined {
        line.key("quarantined").extend_from_slice(b"true");
    }
    let reasons = decision.reasons();
    if !reasons.is_empty() {
        line.list("rules", reasons, |out, reason| string(out, &reason.rule))?;
        line.list("reasons", reasons, reason)?;
    }
    if !decision.exceptions.is_empty() {
        line.list("exceptions", &decision.exceptions, excepted)?;
    }
    if let Some(risk) = &decision.risk {
        self::risk(line.key("risk"), risk)?;
    }
    if let Some(rationality) = &decision.rationality {
        self::rationality(line.key("rationality"), rationality)?;
    }
    // Of most calls all is known, which goes without saying.
    if let Some(coverage) = decision.coverage.filter(|coverage| !coverage.reaches(1.0)) {
        line.score("coverage", coverage.get())?;
    }
    if !decision.effects.is_empty() {
        line.list("effects", &decision.effects, effect)?;
    }
    if let Some(rewrite) = decision.rewrite() {
        self::rewrite(line.key("rewrite"), rewrite)?;
    }
    if let Some(fault) = decision.fault_kind() {
        self::fault(line.key("fault"), fault)?;
    }
    Ok(())
}

fn reason(out: &mut Vec<u8>, reason: &Reason) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.text("rule", &reason.rule)?;
    object.text("severity", reason.severity.name())?;
    object.text("message", &reason.message)?;
    object.text("matched", &reason.matched)?;
    object.text("instead", reason.instead.as_deref().unwrap_or_default())?;
    object.close();
    Ok(())
}

fn excepted(out: &mut Vec<u8>, excepted: &Excepted) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.text("rule", &excepted.rule)?;
    object.text("was", excepted.was.name())?;
    object.text("verdict", excepted.to.name())?;
    object.text("reason", &excepted.reason)?;
    object.text("expires", excepted.until.as_deref().unwrap_or_default())?;
    object.text("file", &excepted.file)?;
    object.number("line", excepted.line as u64);
    object.close();
    Ok(())
}

fn risk(out: &mut Vec<u8>, risk: &Risk) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.score("score", risk.score.get())?;
    object.text("level", risk.level.name())?;
    if !risk.factors.is_empty() {
        object.list("factors", &risk.factors, |out, factor| string(out, factor))?;
    }
    let Modifiers { scope, repetition, privilege, pattern } = risk.modifiers;
    let added =
        [("scope", scope), ("repetition", repetition), ("privilege", privilege), ("pattern", pattern)];
    // Of most calls none adds anything.
    scores(&mut object, "modifiers", &added, 0.0)?;
    object.close();
    Ok(())
}

fn rationality(out: &mut Vec<u8>, rationality: &Rationality) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.score("score", rationality.score.get())?;
    object.text("level", rationality.level.name())?;
    let parts = &rationality.components;
    let parts = [
        ("goal_alignment", parts.goal_alignment.get()),
        ("logical_progression", parts.logical_progression.get()),
        ("efficiency", parts.efficiency.get()),
        ("completeness", parts.completeness.get()),
    ];
    scores(&mut object, "components", &parts, 1.0)?;
    if !rationality.issues.is_empty() {
        object.list("issues", &rationality.issues, |out, issue| string(out, issue.text()))?;
        object.list("suggestions", &rationality.issues, |out, issue| string(out, issue.suggestion()))?;
    }
    object.close();
    Ok(())
}

/// The numbers that are not what goes without saying; no key at all where all of them are.
fn scores(
    object: &mut Object<'_>,
    key: &'static str,
    scores: &[(&'static str, f64)],
    plain: f64,
) -> Result<(), Error> {
    let told = |score: f64| (score - plain).abs() >= 0.001;
    if !scores.iter().any(|(_, score)| told(*score)) {
        return Ok(());
    }
    let mut inner = Object::open(object.key(key));
    for (name, score) in scores.iter().filter(|(_, score)| told(*score)) {
        inner.score(name, *score)?;
    }
    inner.close();
    Ok(())
}

fn effect(out: &mut Vec<u8>, effect: &Effect) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.text("kind", effect.kind.name())?;
    object.text("target", effect.target.text())?;
    object.close();
    Ok(())
}

fn rewrite(out: &mut Vec<u8>, rewrite: &Rewrite) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.text("name", &rewrite.name)?;
    object.text("field", rewrite.field)?;
    object.text("value", &rewrite.value)?;
    object.close();
    Ok(())
}

fn fault(out: &mut Vec<u8>, fault: &Fault) -> Result<(), Error> {
    let mut object = Object::open(out);
    object.text("code", fault.kind.code())?;
    object.text("what", &fault.what)?;
    object.text("why", &fault.why)?;
    object.close();
    Ok(())
}

/// A JSON object that is being written.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> Object<'o> {
    fn open(out: &'o mut Vec<u8>) -> Object<'o> {
        out.push(b'{');
        Object { out, empty: true }
    }

    /// Writes the key; the value is for the caller to write. Keys are plain words of ours.
    fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// A text; nothing at all for an empty one.
    fn text(&mut self, key: &'static str, text: &str) -> Result<(), Error> {
        if text.is_empty() { Ok(()) } else { string(self.key(key), text) }
    }

    fn number(&mut self, key: &'static str, number: u64) {
        self.key(key).extend_from_slice(number.to_string().as_bytes());
    }

    /// A number from 0 to 1, with three digits at most.
    fn score(&mut self, key: &'static str, score: f64) -> Result<(), Error> {
        serde_json::to_writer(self.key(key), &((score * 1000.0).round() / 1000.0))
    }

    fn list<T>(
        &mut self,
        key: &'static str,
        items: &[T],
        write: impl Fn(&mut Vec<u8>, &T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let out = self.key(key);
        out.push(b'[');
        for (index, item) in items.iter().take(ITEMS).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write(out, item)?;
        }
        out.push(b']');
        Ok(())
    }

    fn close(self) {
        self.out.push(b'}');
    }
}

fn string(out: &mut Vec<u8>, text: &str) -> Result<(), Error> {
    if text.len() > TEXT {
        return serde_json::to_writer(out, &clip(text, TEXT));
    }
    serde_json::to_writer(out, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        AgentId, Client, Components, EventKind, FaultKind, Issue, RationalityLevel, RiskLevel, Score,
        SessionId, Severity, Subject, Verdict,
    };

    const NOW: Now = Now { unix_ms: 1_763_699_999_042, boot_ms: 1 };

    fn event<'a>(subject: Option<&'a Subject>, decision: Option<&'a Decision>) -> AuditEvent<'a> {
        AuditEvent {
            kind: EventKind::ActionBlocked,
            subject,
            cwd: "/w",
            tool: "Bash",
            action: "rm -rf \"/\"\n",
            call_id: Some("c1"),
            decision,
            note: "",
            duration_us: 12,
        }
    }

    fn subject() -> Subject {
        let (session, agent) = (SessionId::new("s").unwrap(), AgentId::new("a"));
        Subject { client: Client::ClaudeCode, session, agent, agent_type: None }
    }

    #[test]
    fn a_line_has_the_keys_that_have_a_value() {
        let reason = Reason {
            rule: "fs.root".to_owned(),
            verdict: Verdict::Block,
            severity: Severity::Critical,
            message: "deletes all".to_owned(),
            matched: "rm -rf /".to_owned(),
            instead: None,
        };
        let decision = Decision::new(vec![reason], None, true);
        let bytes = write("id-1", NOW, &event(Some(&subject()), Some(&decision))).unwrap();
        let expected = concat!(
            r#"{"id":"id-1","time":"2025-11-21T04:39:59.042Z","event":"action_blocked","client":"claude-code","#,
            r#""session":"s","agent":"a","cwd":"/w","tool":"Bash","action":"rm -rf \"/\"\n","call_id":"c1","#,
            r#""verdict":"block","enforcement":"deny","rules":["fs.root"],"reasons":[{"rule":"fs.root","#,
            r#""severity":"critical","message":"deletes all","matched":"rm -rf /"}],"duration_us":12}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn of_modifiers_and_components_what_is_not_plain_is_told() {
        let mut decision = Decision::new(Vec::new(), None, true);
        let modifiers = Modifiers { scope: 0.3, repetition: 0.0, privilege: 0.2, pattern: 0.0 };
        let risk =
            Risk { score: Score::new(0.9), level: RiskLevel::High, factors: vec!["file_read"], modifiers };
        let components = Components {
            goal_alignment: Score::ONE,
            logical_progression: Score::new(0.7),
            efficiency: Score::ONE,
            completeness: Score::new(0.5),
        };
        let (score, level) = (Score::new(0.81), RationalityLevel::High);
        decision.risk = Some(risk);
        decision.rationality =
            Some(Rationality { score, level, components, issues: vec![Issue::RepeatsDone] });
        let bytes = write("i", NOW, &event(None, Some(&decision))).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            value["risk"],
            serde_json::json!({"score": 0.9, "level": "high", "factors": ["file_read"],
                "modifiers": {"scope": 0.3, "privilege": 0.2}})
        );
        assert_eq!(
            value["rationality"],
            serde_json::json!({"score": 0.81, "level": "high", "issues": ["repeats what was just done"],
                "suggestions": ["use the result that is at hand"],
                "components": {"logical_progression": 0.7, "completeness": 0.5}})
        );
        if let (Some(risk), Some(rationality)) = (&mut decision.risk, &mut decision.rationality) {
            risk.modifiers = Modifiers::default();
            rationality.components.logical_progression = Score::ONE;
            rationality.components.completeness = Score::ONE;
        }
        let bytes = write("i", NOW, &event(None, Some(&decision))).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert!(value["risk"].get("modifiers").is_none() && value["rationality"].get("components").is_none());
    }

    #[test]
    fn a_fault_is_told_with_what_and_why() {
        let decision = Decision::fault(Fault::new(FaultKind::Busy, "state x", "held"), false);
        let bytes = write("i", NOW, &event(None, Some(&decision))).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            value["fault"],
            serde_json::json!({"code": "fault.busy", "what": "state x", "why": "held"})
        );
        assert!(value.get("client").is_none() && value.get("note").is_none());
    }

    #[test]
    fn a_line_stays_one_line_and_bounded() {
        let long = "\n\"\u{2028}x".repeat(1 << 20);
        let mut event = event(None, None);
        (event.action, event.note, event.cwd) = (&long, &long, &long);
        let bytes = write("i", NOW, &event).unwrap();
        assert!(bytes.len() < 3 * 3 * TEXT, "{}", bytes.len());
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
    }
}
