//! One hook event: the whole path of a call, in order. Ends with 0 or 2, nothing else.

mod events;
mod lingers;
mod prompts;
mod start;
mod surfaces;
mod typed;
mod warned;
mod watch;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::time::Instant;

use crate::adapters::{self, Decoded, ExitKind, Reply};
use crate::cli::CHECKS;
use crate::cli::keep::{self, Keep};
use crate::cli::quarantine::{self as quarantined, Desk};
use crate::cli::record::Log;
use crate::cli::surfaces::Judge;
use crate::cli::{behaviour, call, fleet, plugins};
use crate::domain::{
    Asking, Client, Decision, Enforcement, Event, Facts, Fault, FaultKind, OnFault, Places, Policy, Request,
    Stand, Standing, Subject, ToolCall, Trust, Verdict, escape, fingerprint,
};
use crate::host::clock::{self, Now};
use crate::host::dirs::{Dirs, Environment};
use crate::host::environment::{self, Values};
use crate::host::permit::{ActionDigest, Permits, TEXT};
use crate::host::state::{self, Look, Store};
use crate::host::{config, guard, places, quarantine};
use crate::review::{self, Case};
use crate::rules::Survey;
use surfaces::Surfaces;
use watch::Lookout;

/// Internal deadline while the configuration is not known yet, in milliseconds.
const DEADLINE_MS: u32 = 1500;
/// Calls that a decision looks back on: what it asks of them (repeated, first time) needs no more, and each costs.
pub(super) const LOOK_BACK: u64 = 64;

/// What is said of variables that name other places than those that count.
const ELSEWHERE: &str = "self.environment";

/// The two exit codes of a hook: a client takes the second for "do not run this".
const PASSED: u8 = 0;
const BLOCKED: u8 = 2;

/// `lazaret hook CLIENT`: everything but success is exit code 2.
pub fn run(args: &[OsString]) -> u8 {
    guard::arm(DEADLINE_MS);
    let started = clock::now();
    let (client, given) = match args {
        [name, rest @ ..] => (name.to_str().and_then(Client::from_name), environment::given(rest)),
        [] => (None, Ok(Values::default())),
    };
    let Some(client) = client else {
        let known = Client::NAMES.join("|");
        return misused(&format!("usage: lazaret hook {known} [--home DIR …]"));
    };
    let given = match given {
        Ok(given) => given,
        Err(fault) => return misused(&format!("{fault}; {}", fault.hint.as_deref().unwrap_or_default())),
    };
    let message = match read_message() {
        Ok(message) => message,
        Err(fault) => return deliver(&unreadable(client, (b"", &given), &fault, started)),
    };
    match adapters::decode(client, &message) {
        Ok(mut decoded) => {
            keep_back(&decoded);
            let decision = answer(&mut decoded.request, &given, started);
            deliver(&adapters::encode(&decoded, &decision))
        }
        Err(fault) => deliver(&unreadable(client, (&message, &given), &fault, started)),
    }
}

/// The registration is not as it should be: nothing can be decided, so the call is not to run.
fn misused(why: &str) -> u8 {
    // Nobody is left to tell it to when stderr is closed.
    let _told = std::io::stderr().write_all(format!("lazaret: hook: {why}\n").as_bytes());
    BLOCKED
}

/// A result stays what it is when nothing is said of it. So before anything can break, it is laid down what is said of an
/// agent's report then.
fn keep_back(decoded: &Decoded<'_>) {
    if let Event::AfterTool { report: Some(_), .. } = &decoded.request.event {
        let fault = Fault::new(FaultKind::Deadline, "the report", "lazaret broke while it looked at it");
        let reply = adapters::encode(decoded, &quarantined::withheld(fault));
        guard::last_words(Box::leak(reply.stdout.into_boxed_slice()));
    }
}

/// Standard input, bounded.
fn read_message() -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    let mut input = std::io::stdin().lock().take(adapters::MAX_MESSAGE as u64 + 1);
    match input.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(Fault::new(FaultKind::BadMessage, "hook message on standard input", error.to_string()))
        }
    }
}

/// Writes the reply. What the client would not hear must not let the call through.
fn deliver(reply: &Reply) -> u8 {
    // The person's copy: the exit code and stdout carry the answer without it.
    let _told = std::io::stderr().write_all(&reply.stderr);
    guard::last_words(b"");
    let told = reply.stdout.is_empty() || (!leads_nowhere() && say(&reply.stdout).is_ok());
    match reply.code {
        ExitKind::Pass if told => PASSED,
        ExitKind::Pass | ExitKind::Block => BLOCKED,
    }
}

fn say(text: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

/// Standard output was closed: the start then opens the null device in its place, where writing succeeds.
pub(super) fn leads_nowhere() -> bool {
    const NULL: (u32, u32) = (1, 3);
    rustix::fs::fstat(rustix::stdio::stdout()).is_ok_and(|stat| {
        let device = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::CharacterDevice
            && device == NULL
    })
}

/// A message that could not be read: denied, and recorded where that is still possible.
fn unreadable(client: Client, (message, given): (&[u8], &Values), fault: &Fault, now: Now) -> Reply {
    let env = Environment::of_hook(given);
    if let Ok(dirs) = Dirs::locate(&env)
        && dirs.check_home(&env).is_ok()
    {
        let policy = Policy::default();
        let log = Log { state: &dirs.state, env: &env, policy: &policy, now };
        // The call is denied whether or not the log can be written.
        let _recorded = log.unreadable(fault, &adapters::said(client, message));
        tidy(&dirs, log);
    }
    let withheld = quarantined::withheld(fault.clone());
    adapters::refuse_result(client, message, &withheld)
        .unwrap_or_else(|| adapters::refuse(client, &Decision::fault(fault.clone(), false)))
}

/// Everything about this machine that one call needs.
struct Setting {
    env: Environment,
    dirs: Dirs,
    policy: Policy,
    /// A fingerprint of the user's configuration file.
    own: u64,
    /// Why the configuration could not be used; the default policy stands in.
    config_fault: Option<Fault>,
    /// Why nothing can be remembered or recorded.
    home_fault: Option<Fault>,
    now: Now,
    begun: Instant,
}

impl Setting {
    /// The setting of one call, and the places of this machine, of which there are dozens: they are moved, not copied.
    fn of(request: &Request, given: &Values, now: Now) -> Result<(Setting, Places), Fault> {
        let begun = Instant::now();
        let env = Environment::of_hook(given);
        let env = match request.subject.client.about().hook_in_session {
            true => env.in_session(),
            false => env.with_project_of(request.transcript.as_deref(), &request.cwd),
        };
        let dirs = Dirs::locate(&env)?;
        let places = places::locate(&env, &dirs, &request.cwd);
        let (policy, own, config_fault) = match config::load(&dirs, &places, CHECKS) {
            Ok(loaded) => (loaded.policy, known(&loaded.layers), None),
            Err(fault) => (Policy::default(), fingerprint(&[fault.message().as_bytes()]), Some(fault)),
        };
        if policy.deadline_ms != DEADLINE_MS {
            guard::deadline(policy.deadline_ms);
        }
        let home_fault = dirs.check_home(&env).err();
        Ok((Setting { env, dirs, policy, own, config_fault, home_fault, now, begun }, places))
    }

    /// Who judges what a client would start by itself.
    fn judge<'a>(&'a self, request: &'a Request) -> Judge<'a> {
        let known = (&self.policy, &request.subject);
        Judge::of(&self.env, &self.dirs, known, self.project(request))
    }

    fn log(&self) -> Log<'_> {
        Log { state: &self.dirs.state, env: &self.env, policy: &self.policy, now: self.now }
    }

    /// Why it cannot be told which agents are quarantined: no one's report is handed on then.
    fn blind(&self) -> Option<&Fault> {
        self.home_fault.as_ref().or(self.config_fault.as_ref())
    }

    /// Which variables name other places than those that count, in words.
    fn elsewhere(&self) -> Option<String> {
        let others = self.env.contradictions();
        if others.is_empty() {
            return None;
        }
        let names: Vec<String> = others.iter().map(|other| escape(other)).collect();
        let names = names.join(", ");
        Some(format!("variables name other places than the registration, which alone counts: {names}"))
    }

    /// The client's project directory.
    fn project<'a>(&'a self, request: &'a Request) -> &'a str {
        self.env.claude_project_dir.as_deref().unwrap_or(&request.cwd)
    }

    /// The same decision with what its log line should say of this machine.
    fn noted(&self, mut decision: Decision) -> Decision {
        if let Some(other) = self.elsewhere() {
            decision.note(ELSEWHERE, other);
        }
        decision
    }

    fn store(&self) -> Store {
        Store::new(&self.dirs.state)
    }

    /// Where a quarantined agent stands; an ordinary one stands nowhere.
    fn standing(&self, request: &Request, call: &ToolCall, trust: Trust) -> Result<Option<Standing>, Fault> {
        if trust == Trust::Ordinary {
            return Ok(None);
        }
        self.desk().admit(request, call).map(Some)
    }

    /// Where a quarantined agent stands, what is to be said of one that is started by this call, and why neither can be told.
    fn in_quarantine(
        &self,
        request: &Request,
        call: &ToolCall,
        trust: Trust,
    ) -> (Option<Standing>, Option<quarantined::Spawned>, Option<Fault>) {
        let spawned = match trust {
            Trust::Ordinary => self.desk().spawn(request, call),
            Trust::Quarantined => Ok(None),
        };
        match (self.standing(request, call, trust), spawned) {
            (Ok(standing), Ok(spawned)) => (standing, spawned, None),
            (Err(fault), _) | (_, Err(fault)) => (None, None, Some(fault)),
        }
    }

    fn desk(&self) -> Desk<'_> {
        Desk { dirs: &self.dirs, env: &self.env, policy: &self.policy, now: self.now, acts: true }
    }

    fn trust(&self, subject: &Subject) -> Trust {
        self.desk().trust(subject)
    }
}

/// A fingerprint of the user's configuration file among those that were read; 0 = there is none.
fn known(layers: &[config::Source]) -> u64 {
    let user = layers.iter().find(|layer| layer.origin == config::Origin::User);
    user.map_or(0, |layer| fingerprint(&[layer.content.as_deref().unwrap_or_default()]))
}

fn answer(request: &mut Request, given: &Values, now: Now) -> Decision {
    match Setting::of(request, given, now) {
        Ok((setting, places)) => {
            request.asking = request.asking.settled(setting.env.at_terminal);
            let request = &*request;
            tidy(&setting.dirs, setting.log());
            match &request.event {
                Event::BeforeTool(call) => before_tool(request, call, places, &setting),
                event => events::other_event(request, event, places, &setting),
            }
        }
        Err(fault) => match &request.event {
            // Whose it is cannot be told without a policy.
            Event::AfterTool { report: Some(_), .. } => quarantined::withheld(fault),
            _ => Decision::fault(fault, false),
        },
    }
}

/// Also after everything was killed, the next call of any kind leaves no key of a review that is over.
fn tidy(dirs: &Dirs, log: Log<'_>) {
    let swept = quarantine::sweep(dirs, log.now);
    if let Err(fault) = swept.and_then(|swept| log.reviews_ended(&swept.ended)) {
        let _recorded = log.fault(&fault);
    }
}

/// A call that is about to run.
fn before_tool(request: &Request, call: &ToolCall, places: Places, setting: &Setting) -> Decision {
    let (Setting { policy, now, .. }, subject) = (setting, &request.subject);
    let trust = setting.trust(subject);
    let mut facts = Facts::new(places);
    let survey = match trust {
        Trust::Ordinary => call::understand(call, &request.cwd, policy, &mut facts),
        // The gate alone decides, and asks nothing of the machine.
        Trust::Quarantined => Survey::default(),
    };
    let unrated = plugins::rate((request, call), trust, (&survey, policy), &mut facts);
    let (standing, spawned, denied) = setting.in_quarantine(request, call, trust);
    let stands = (trust, standing.as_ref());
    let word = fleet::word((request, call), stands, (&setting.dirs, policy, &facts.places));
    let decide_on = |stand: &Stand, survey: &Survey, facts: &Facts| {
        let mut decision = review::decide(&Case {
            subject,
            call,
            cwd: &request.cwd,
            trust,
            standing: standing.as_ref(),
            asking: request.asking,
            survey,
            facts,
            policy,
            stand,
            now_s: now.unix_ms / 1000,
        });
        fleet::heard(&mut decision, word.as_deref(), request.asking, policy);
        quarantined::settle(decision, spawned.as_ref())
    };
    let decide = |stand: &Stand| decide_on(stand, &survey, &facts);
    let weigh = |decision, fault| with_fault(decision, fault, request, policy, trust);
    if let Some(fault) = &setting.home_fault {
        return weigh(decide(&Stand::default()), fault.clone());
    }
    let keep = Keep::of((request, call), trust, (&survey, &facts), (&setting.dirs, policy));
    let ahead = keep::ahead(keep.as_ref(), (call, &survey), (&facts, *now), || decide(&Stand::default()));
    let planted = Surfaces::before(setting, request, (call, trust), &survey);
    let lookout = Lookout::of(setting, request);
    let seen = lookout.seen_before();
    let mut unknown = None;
    let looked = state::remember(&setting.store(), subject, *now, look(policy, trust), |stand| {
        let guard = lookout.guard((call, seen), stand);
        let recalled = (!stand.marks.is_empty())
            .then(|| call::recall(call, &request.cwd, policy, &stand.marks, (&survey, &facts)));
        let (survey, facts) = recalled.as_ref().map_or((&survey, &facts), |(survey, facts)| (survey, facts));
        let decision = decide_on(stand, survey, facts);
        let decision = keep::weighed(decision, &ahead, survey, request.asking);
        let entry = call::entry(subject, call, &decision);
        // Also of a call for which a person has to give a permission first; what it makes go away is not forgotten yet.
        let marks = (decision.verdict() != Verdict::Block).then(|| survey.marks.clone());
        let marks = marks.filter(|marks| !marks.is_empty());
        let (decision, kept) = guard.settle((decision, marks), request.asking, &mut unknown);
        (decision, Some(entry), kept)
    });
    let mut decision = looked.unwrap_or_else(|fault| weigh(decide(&Stand::default()), fault));
    // A tool that no quarantined agent may use is refused as that, whatever is wrong with the session.
    if let Some(fault) = denied.filter(|_| !decision.is_refused_tool()) {
        decision = Decision::fault(fault, false);
    }
    if let Some(fault) = setting.config_fault.clone().or(unrated).or(unknown) {
        decision = weigh(decision, fault);
    }
    let typed = typed::reason(subject.client, &survey);
    let decision = setting.noted(decision.also(planted.into_iter().chain(typed), request.asking));
    let decision = personal_permission(decision, request, call, setting);
    let decision = keep::settle(keep.as_ref(), decision, ahead, (&facts, setting.log()));
    if matches!(spawned, Some(Ok(_))) && !decision.enforcement().lets_run() {
        // The agent is not started: the place that was kept for it is free again, now or in two minutes.
        let _free = setting.desk().started(request, call);
    }
    let decision = recorded(decision, (request, call), (&survey, &facts), trust, setting);
    let decision = warned::once(decision, subject, (&setting.store(), *now));
    // The process ends with this answer: to give hundreds of pieces of memory back one by one would be for nobody.
    std::mem::forget((survey, facts));
    decision
}

/// The decision, once it is in the log. A refusal is remembered too, and may be one too many.
fn recorded(
    decision: Decision,
    (request, call): (&Request, &ToolCall),
    (survey, facts): (&Survey, &Facts),
    trust: Trust,
    setting: &Setting,
) -> Decision {
    let policy = &setting.policy;
    let took_us = u64::try_from(setting.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    match setting.log().call(request, call, &decision, took_us) {
        Ok(()) if trust == Trust::Ordinary => {
            let known = (survey, facts, policy);
            behaviour::after_refusal(decision, (request, call), known, (&setting.store(), setting.log()))
        }
        Ok(()) => decision,
        Err(fault) => with_fault(decision, fault, request, policy, trust),
    }
}

/// How much of the session's past the policy wants to see. Every record in the window costs: only who has a limit looks
/// back that far.
pub fn look(policy: &Policy, trust: Trust) -> Look {
    let quarantine = match trust {
        Trust::Quarantined => policy.quarantine.window_seconds,
        Trust::Ordinary => 0,
    };
    let own = policy.tool_limits.iter().filter(|limit| !limit.shared);
    let windows = own.map(|limit| limit.window_seconds);
    let longest = windows.fold(quarantine, u32::max);
    Look { records: LOOK_BACK, window_ms: u64::from(longest) * 1000 }
}

/// What could not be done in full: a block stays a block; everything else becomes a question to the person where the
/// policy, the client, the agent's trust and the kind of fault allow one, and a block where one of them does not.
pub fn with_fault(
    decision: Decision,
    fault: Fault,
    request: &Request,
    policy: &Policy,
    trust: Trust,
) -> Decision {
    if decision.verdict() == Verdict::Block && decision.enforcement() != Enforcement::Ask {
        return decision;
    }
    let ask = policy.on_fault == OnFault::Ask
        && trust == Trust::Ordinary
        && request.asking == Asking::Yes
        && fault.kind.may_ask();
    Decision::fault(fault, ask)
}

/// Where a person should be asked but the client cannot: a permission given at a terminal, or the code to ask for one.
fn personal_permission(
    mut decision: Decision,
    request: &Request,
    call: &ToolCall,
    setting: &Setting,
) -> Decision {
    if decision.verdict() != Verdict::Modify || decision.enforcement() != Enforcement::Deny {
        return decision;
    }
    let text = review::action_text(call);
    let action = ActionDigest::new(&request.subject, &call.tool.name(), &text, &request.cwd);
    let permits = Permits::new(&setting.dirs.state);
    if permits.take(&action, setting.now).unwrap_or(false) {
        return decision.permitted();
    }
    // Who allows it has to have seen all of it.
    if text.len() > TEXT {
        return decision;
    }
    if let Ok(code) = permits.offer(&action, &text, setting.now) {
        decision.note(
            "permission.offered",
            format!("a person can let exactly this call run once, within ten minutes, at a terminal: lazaret allow {code}"),
        );
    }
    decision
}
