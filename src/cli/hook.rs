//! One hook event: the whole path of a call, in order. Ends with 0 or 2, nothing else.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;

use crate::adapters::{self, Decoded, Outgoing};
use crate::cli::{call, record};
use crate::domain::{
    Client, Decision, Enforcement, Event, Facts, Fault, FaultKind, OnFault, Places, Policy, Request, Stand, ToolCall,
    Trust, Verdict,
};
use crate::host::clock::{self, Now};
use crate::host::config;
use crate::host::dirs::{Dirs, Environment};
use crate::host::state::{self, Entry, Look, Store};
use crate::host::{guard, permit, places};
use crate::review::{self, Case};

/// Internal deadline while the configuration is not known yet, in milliseconds.
const DEADLINE_MS: u32 = 1500;
/// Calls that a decision looks back on.
const LOOK_BACK: usize = 200;

/// `lazaret hook CLIENT`: everything but success is exit code 2.
pub fn run(args: &[OsString]) -> ExitCode {
    guard::arm(DEADLINE_MS);
    let client = match args {
        [name] => name.to_str().and_then(Client::from_name),
        _ => None,
    };
    let Some(client) = client else {
        let known = Client::ALL.map(Client::name).join("|");
        return deliver(&adapters::refusal(&format!("lazaret: hook: usage: lazaret hook {known}")));
    };
    let started = clock::now();
    let reply = match read_message().and_then(|bytes| {
        let decoded = adapters::decode(client, &bytes)?;
        Ok(answer(&decoded, started))
    }) {
        Ok(reply) => reply,
        Err(fault) => {
            record::fault(client, started, &fault);
            adapters::encode_fault(client, &fault)
        }
    };
    deliver(&reply)
}

/// Standard input, bounded.
fn read_message() -> Result<Vec<u8>, Fault> {
    let limit = adapters::MAX_MESSAGE;
    let mut bytes = Vec::with_capacity(16 * 1024);
    let mut input = std::io::stdin().lock().take(limit as u64 + 1);
    input
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::new(FaultKind::BadMessage, "hook message on standard input", error.to_string()))?;
    Ok(bytes)
}

/// Writes the reply. What the client would not hear must not let the call through.
fn deliver(reply: &Outgoing) -> ExitCode {
    let mut stderr = std::io::stderr().lock();
    let told_person = stderr.write_all(&reply.stderr);
    drop(told_person);
    let mut stdout = std::io::stdout().lock();
    let told = if reply.stdout.is_empty() { Ok(()) } else { stdout.write_all(&reply.stdout).and_then(|()| stdout.flush()) };
    match (reply.blocks, told) {
        (false, Ok(())) => ExitCode::SUCCESS,
        (true, _) | (false, Err(_)) => ExitCode::from(2),
    }
}

/// Everything about this machine that one call needs.
struct Setting {
    store: Store,
    dirs: Dirs,
    places: Places,
    policy: Policy,
    /// Why the configuration could not be used; the default policy stands in.
    config_fault: Option<Fault>,
    quarantined: bool,
    now: Now,
}

impl Setting {
    fn of(request: &Request, now: Now) -> Result<Setting, Fault> {
        let env = Environment::read();
        let dirs = Dirs::from(&env)?;
        let places = places::locate(&env, &dirs, &request.cwd);
        let (policy, config_fault) = match config::load(&dirs, &places) {
            Ok(loaded) => (loaded.policy, None),
            Err(fault) => (Policy::default(), Some(fault)),
        };
        let store = Store::new(&dirs.state);
        Ok(Setting { store, dirs, places, policy, config_fault, quarantined: env.quarantine, now })
    }
}

fn answer(decoded: &Decoded<'_>, now: Now) -> Outgoing {
    let request = &decoded.request;
    let decision = match Setting::of(request, now) {
        Ok(setting) => match &request.event {
            Event::BeforeTool(call) => before_tool(request, call, &setting),
            event => other_event(request, event, &setting),
        },
        Err(fault) => Decision::fault(fault, false),
    };
    adapters::encode(decoded, &decision)
}

/// A call that is about to run.
fn before_tool(request: &Request, call: &ToolCall, setting: &Setting) -> Decision {
    let Setting { policy, .. } = setting;
    let subject = &request.subject;
    let trust = call::trust(subject, policy, setting.quarantined);
    let mut facts = Facts::new(setting.places.clone());
    let survey = call::understand(call, &request.cwd, policy, &mut facts);
    let decide = |stand: &Stand| {
        review::decide(&Case { subject, call, cwd: &request.cwd, trust, survey: &survey, facts: &facts, policy, stand })
    };
    let looked = state::update(&setting.store, subject, setting.now, look(policy), |stand| {
        let decision = decide(stand);
        let entry = entry(subject, call, &decision);
        (decision, Some(entry))
    });
    let mut decision = match looked {
        Ok(decision) => decision,
        Err(fault) => with_fault(decide(&Stand::default()), fault, request, policy, trust),
    };
    if let Some(fault) = &setting.config_fault {
        decision = with_fault(decision, fault.clone(), request, policy, trust);
    }
    decision = personal_permission(decision, request, call, setting);
    match record::call(request, call, &decision, setting.now, &setting.dirs, policy) {
        Ok(()) => decision,
        Err(fault) => with_fault(decision, fault, request, policy, trust),
    }
}

/// How much of the session's past the policy wants to see.
fn look(policy: &Policy) -> Look {
    let longest = policy.tool_limits.iter().map(|limit| limit.window_seconds);
    let longest = longest.chain([policy.quarantine.window_seconds]).max().unwrap_or(0);
    Look { records: LOOK_BACK, window_ms: u64::from(longest) * 1000 }
}

fn entry(subject: &crate::domain::Subject, call: &ToolCall, decision: &Decision) -> Entry {
    let identity = review::identify(subject, call);
    let writes = decision.effects.iter().any(review::is_file_operation);
    let runs = match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice | Enforcement::Rewrite | Enforcement::Ask => true,
        Enforcement::Deny | Enforcement::Stop => false,
    };
    Entry {
        action: identity.action,
        agent: identity.agent,
        tool: identity.tool,
        call: identity.call,
        verdict: decision.verdict(),
        outcome: if runs { crate::domain::Outcome::Pending } else { crate::domain::Outcome::Blocked },
        writes: runs && writes,
    }
}

/// What could not be done in full: a block stays a block; everything else becomes a question to the person where the
/// policy, the client, the agent's trust and the kind of fault allow one, and a block where one of them does not.
fn with_fault(decision: Decision, fault: Fault, request: &Request, policy: &Policy, trust: Trust) -> Decision {
    if decision.verdict() == Verdict::Block && decision.enforcement() != Enforcement::Ask {
        return decision;
    }
    let ask = policy.on_fault == OnFault::Ask
        && trust == Trust::Ordinary
        && request.subject.client.can_ask()
        && fault.kind.may_ask();
    Decision::fault(fault, ask)
}

/// Where a person should be asked but the client cannot: a permission given at a terminal, or the code to ask for one.
fn personal_permission(mut decision: Decision, request: &Request, call: &ToolCall, setting: &Setting) -> Decision {
    if decision.verdict() != Verdict::Modify || decision.enforcement() != Enforcement::Deny {
        return decision;
    }
    let text = review::action_text(call);
    let digest = permit::digest(&[request.subject.client.name(), &call.tool.name(), &text, &request.cwd]);
    if permit::take(&setting.store, &digest, setting.now) {
        return decision.permitted("a person allowed exactly this call once");
    }
    if let Ok(code) = permit::offer(&setting.store, &digest, &text, setting.now) {
        decision.note(
            "permission",
            format!("a person can let exactly this call run once, within ten minutes, at a terminal: lazaret allow {code}"),
        );
    }
    decision
}

/// Everything that is not a call about to run: recorded; a change of settings that would open the gate is refused.
fn other_event(request: &Request, event: &Event, setting: &Setting) -> Decision {
    let can_ask = request.subject.client.can_ask();
    let mut decision = Decision::new(Vec::new(), None, can_ask);
    match event {
        Event::AfterTool { call, outcome, .. } => {
            let identity = review::identify(&request.subject, call);
            if let Err(fault) = state::finish(&setting.store, &request.subject, setting.now, identity.call, *outcome) {
                record::fault(request.subject.client, setting.now, &fault);
            }
        }
        Event::SessionStart { .. } => state::sweep(&setting.store, setting.now),
        Event::ConfigChange { source, .. } => {
            decision = record::config_change(request, source);
        }
        Event::BeforeTool(_)
        | Event::Prompt { .. }
        | Event::SessionEnd { .. }
        | Event::SubagentStart
        | Event::SubagentStop { .. }
        | Event::Other { .. } => {}
    }
    if let Err(fault) = record::event(request, event, &decision, setting) {
        drop(fault);
    }
    decision
}
