//! What was decided, and why.

use super::{Asking, Effect, Excepted, Fault, Finding, Intervened, Rationality, Risk, Score, words};

words! {
    /// The four answers, from the mildest. Combining is `max`.
    #[derive(PartialOrd, Ord, Hash, Default)]
    Verdict {
        #[default]
        Allow = "allow",
        Warn = "warn",
        Modify = "modify",
        Block = "block",
    }
}

words! {
    /// How bad something is, from the mildest.
    #[derive(PartialOrd, Ord, Hash)]
    Severity {
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

words! {
    /// What the client is told.
    #[derive(PartialOrd, Ord)]
    Enforcement {
        Proceed = "proceed",
        Notice = "notice",
        Rewrite = "rewrite",
        Ask = "ask",
        Deny = "deny",
        Stop = "stop",
    }
}

impl Enforcement {
    /// Whether the call may run after this.
    pub const fn lets_run(self) -> bool {
        match self {
            Enforcement::Proceed | Enforcement::Notice | Enforcement::Rewrite | Enforcement::Ask => true,
            Enforcement::Deny | Enforcement::Stop => false,
        }
    }
}

/// One reason for a verdict: which rule, what matched, why, and how to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A rule's id (`git.reset-hard`) or the name of the part that spoke (`matrix.high-medium`, `RATE_LIMIT_EXCEEDED`).
    pub rule: String,
    pub verdict: Verdict,
    pub severity: Severity,
    pub message: String,
    /// The part of the call that matched, as the agent wrote it.
    pub matched: String,
    /// One thing to do instead, that lazaret itself lets through.
    pub instead: Option<String>,
}

/// Who can let a call run that a reason speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// A person, by an exception from the rule.
    Exception,
    /// Nobody by an exception from it alone: a score, which stands behind the rules.
    Score,
    /// Nobody: it guards the guard itself.
    Nobody,
    /// It says so itself: a fault, a limit, a bound, a refusal of quarantine.
    Told,
}

impl Leave {
    /// Of a reason under this id.
    pub fn of(rule: &str) -> Leave {
        let code = rule.bytes().any(|byte| byte.is_ascii_uppercase()) || !rule.contains('.');
        if code || TELLS.iter().any(|name| rule.starts_with(name)) {
            Leave::Told
        } else if is_score(rule) {
            Leave::Score
        } else if rule.starts_with("selfprotect.") {
            Leave::Nobody
        } else {
            Leave::Exception
        }
    }
}

fn is_score(rule: &str) -> bool {
    rule.starts_with("matrix.") || rule.starts_with("effect.")
}

/// What gives reasons with an alternative of their own.
const TELLS: [&str; 8] =
    ["fault.", "limits.", "permission.", "quarantine.", "self.", "session.", "shell.bound", "shell.syntax"];

impl Reason {
    /// One that quotes nothing of the call, and has no alternative.
    pub fn new(rule: &str, verdict: Verdict, severity: Severity, message: String) -> Reason {
        let (rule, matched) = (rule.to_owned(), String::new());
        Reason { rule, verdict, severity, message, matched, instead: None }
    }

    /// Who can let the call run.
    pub fn leave(&self) -> Leave {
        Leave::of(&self.rule)
    }

    /// It comes from the scores, not from a rule: of two that are equally strict, the rule says more.
    fn is_score(&self) -> bool {
        is_score(&self.rule)
    }

    /// Something told that speaks neither for nor against the call.
    fn note(rule: &str, message: String) -> Reason {
        Reason::new(rule, Verdict::Allow, Severity::Low, message)
    }
}

/// A change to the call's arguments that makes it safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The rewriter's name (`force-with-lease`).
    pub name: String,
    /// The argument in our vocabulary (`command`, `file_path`) and its new value. The adapter puts it in the client's place.
    pub field: &'static str,
    pub value: String,
    /// Switches among the arguments that must be set so for the change to hold, in our vocabulary.
    pub also: &'static [(&'static str, bool)],
    /// The only arguments that stay beside it, in our vocabulary where it has a word for them; empty = all do.
    pub only: &'static [&'static str],
    /// The client's own permission prompt must be skipped, because the rewritten call cannot pass it otherwise.
    pub needs_permission: bool,
    /// The model is told what was changed.
    pub told: bool,
}

/// The whole answer. Built by [`Decision::new`] and [`Decision::fault`] only, so that the parts agree with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    verdict: Verdict,
    enforcement: Enforcement,
    reasons: Vec<Reason>,
    rewrite: Option<Rewrite>,
    fault: Option<Fault>,
    pub risk: Option<Risk>,
    pub rationality: Option<Rationality>,
    /// The share of the call's words that is known before it runs.
    pub coverage: Option<Score>,
    pub effects: Vec<Effect>,
    /// The exceptions without which the verdict could be stricter.
    pub exceptions: Vec<Excepted>,
    /// The patterns that stand when it is made.
    pub patterns: Vec<Finding>,
    /// The last intervention of the session, while it is not known whether it worked.
    pub intervention: Option<Intervened>,
    pub quarantined: bool,
    /// What takes the place of a result that the client is about to hand on.
    pub replacement: Option<String>,
}

impl Decision {
    /// The decision that `reasons` make: the strictest of them wins, and comes first (a rule before a score). `rewrite` is dropped unless the
    /// verdict is `Modify`; `can_ask` says whether the client can ask a person when a `Modify` has no rewrite.
    pub fn new(mut reasons: Vec<Reason>, rewrite: Option<Rewrite>, can_ask: bool) -> Decision {
        super::sort_by_key(&mut reasons, |reason| {
            std::cmp::Reverse((reason.verdict, !reason.is_score(), reason.severity))
        });
        let verdict = reasons.first().map_or(Verdict::Allow, |reason| reason.verdict);
        let rewrite = rewrite.filter(|_| verdict == Verdict::Modify);
        let enforcement = match verdict {
            Verdict::Allow => Enforcement::Proceed,
            Verdict::Warn => Enforcement::Notice,
            Verdict::Modify if rewrite.is_some() => Enforcement::Rewrite,
            Verdict::Modify if can_ask => Enforcement::Ask,
            Verdict::Modify | Verdict::Block => Enforcement::Deny,
        };
        Decision {
            verdict,
            enforcement,
            reasons,
            rewrite,
            fault: None,
            risk: None,
            rationality: None,
            coverage: None,
            effects: Vec::new(),
            exceptions: Vec::new(),
            patterns: Vec::new(),
            intervention: None,
            quarantined: false,
            replacement: None,
        }
    }

    /// No decision was possible: the call is denied, or a person is asked where `ask` is set. Never allowed.
    pub fn fault(fault: Fault, ask: bool) -> Decision {
        let reason = Reason {
            instead: fault.hint.clone(),
            ..Reason::new(fault.kind.code(), Verdict::Block, Severity::High, fault.message())
        };
        let mut decision = Decision::new(vec![reason], None, false);
        decision.enforcement = if ask { Enforcement::Ask } else { Enforcement::Deny };
        decision.fault = Some(fault);
        decision
    }

    /// A block that also ends the turn.
    pub fn stop(reason: Reason) -> Decision {
        let mut decision = Decision::new(vec![reason], None, false);
        decision.verdict = Verdict::Block;
        decision.enforcement = Enforcement::Stop;
        decision
    }

    /// A block for a reason of lazaret's own.
    pub fn refusal(rule: &str, message: String) -> Decision {
        let reason = Reason::new(rule, Verdict::Block, Severity::Critical, message);
        Decision::new(vec![reason], None, false)
    }

    /// The same call after a person allowed exactly it, once: it proceeds, and the reasons stay on record.
    #[must_use]
    pub fn permitted(mut self) -> Decision {
        self.verdict = Verdict::Allow;
        self.enforcement = Enforcement::Proceed;
        self.rewrite = None;
        self.reasons
            .insert(0, Reason::note("permission.used", "a person allowed exactly this call once".to_owned()));
        self
    }

    /// The same where its warning was given before: the call proceeds without a word, and the reasons stay on record.
    #[must_use]
    pub fn warned_before(mut self) -> Decision {
        if self.enforcement == Enforcement::Notice {
            self.enforcement = Enforcement::Proceed;
        }
        self
    }

    /// The same with something in the place of a result that the client is about to hand on.
    #[must_use]
    pub fn replacing(self, replacement: Option<String>) -> Decision {
        Decision { replacement, ..self }
    }

    /// The same call with other reasons, from which verdict and enforcement follow anew.
    #[must_use]
    pub fn reasoned(mut self, can_ask: bool, change: impl FnOnce(&mut Vec<Reason>)) -> Decision {
        let mut reasons = std::mem::take(&mut self.reasons);
        change(&mut reasons);
        let anew = Decision::new(reasons, self.rewrite.take(), can_ask);
        Decision {
            verdict: anew.verdict,
            enforcement: anew.enforcement,
            reasons: anew.reasons,
            rewrite: anew.rewrite,
            ..self
        }
    }

    /// The same with one reason more, if there is one.
    #[must_use]
    pub fn also(self, more: impl IntoIterator<Item = Reason>, asking: Asking) -> Decision {
        let more: Vec<Reason> = more.into_iter().collect();
        // What stops a session stays that, whatever else is told.
        if more.is_empty() || self.enforcement == Enforcement::Stop || self.fault.is_some() {
            return self;
        }
        self.reasoned(asking == Asking::Yes, |reasons| reasons.extend(more))
    }

    /// The same said of a call that has run: nothing of it was refused, though the session may end with it.
    #[must_use]
    pub fn after_the_fact(mut self) -> Decision {
        self.verdict = self.verdict.min(Verdict::Warn);
        self
    }

    /// The same decision for the log: every text in it that the call or its answer may have brought, as `change` makes it.
    #[must_use]
    pub fn with_texts(mut self, change: impl Fn(&str) -> String) -> Decision {
        for reason in &mut self.reasons {
            reason.message = change(&reason.message);
            reason.matched = change(&reason.matched);
        }
        for effect in &mut self.effects {
            effect.target.change(&change);
        }
        if let Some(rewrite) = &mut self.rewrite {
            rewrite.value = change(&rewrite.value);
        }
        if let Some(fault) = &mut self.fault {
            fault.what = change(&fault.what);
            fault.why = change(&fault.why);
        }
        self
    }

    /// Adds something that is told with the decision and does not change it.
    pub fn note(&mut self, rule: &str, message: String) {
        self.reasons.push(Reason::note(rule, message));
    }

    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    /// Strictest first; empty when nothing spoke against the call.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// The agent's time has passed: where the client can, it is ended, besides being refused the call.
    pub fn ends_agent(&self) -> bool {
        self.quarantined && self.reasons.first().is_some_and(|reason| reason.rule == "QUARANTINE_TIMEOUT")
    }

    /// Whether a quarantined agent is refused the tool itself, not this use of it.
    pub fn is_refused_tool(&self) -> bool {
        self.quarantined && self.reasons.first().is_some_and(|reason| reason.rule == "TOOL_NOT_ALLOWED")
    }

    pub fn rewrite(&self) -> Option<&Rewrite> {
        self.rewrite.as_ref()
    }

    pub fn fault_kind(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }
}
