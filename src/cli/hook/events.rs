//! Everything that is not a call about to run.

use super::surfaces::Surfaces;
use super::watch::{self, Found, Lookout, Moment};
use super::{LOOK_BACK, Setting, start};
use crate::cli::behaviour::Told;
use crate::cli::quarantine as quarantined;
use crate::cli::{behaviour, call, emergency, fleet, keep};
use crate::domain::{Asking, Decision, Event, Fault, Outcome, Places, Request, ToolCall, Trust, Verdict};
use crate::host::checkpoint::Checkpoints;
use crate::host::permit::Permits;
use crate::host::state::Look;
use crate::host::{audit, guard, registration, state};
use crate::review;

/// Session files that nobody touched for so long are removed, in days.
const KEEP_SESSIONS: u32 = 7;

/// Recorded; a change of settings that would open the gate is refused, and
/// quarantined agents' answers are checked.
pub(super) fn other_event(request: &Request, event: &Event, places: Places, setting: &Setting) -> Decision {
    let mut decision = Decision::new(Vec::new(), None, request.asking == Asking::Yes);
    if let (Some(fault), Event::AfterTool { report: Some(_), .. }) = (setting.blind(), event) {
        decision = quarantined::withheld(fault.clone());
    }
    if setting.home_fault.is_some() {
        let is_change = matches!(event, Event::ConfigChange { .. });
        return if is_change { config_change(setting, request) } else { decision };
    }
    let done = match event {
        Event::AfterTool { call, outcome, report, error, duration_ms } => {
            if let (Some(report), None) = (report, setting.blind()) {
                decision = setting.desk().report(request, call, report).unwrap_or(decision);
            }
            let reported = behaviour::Ended::reported(*outcome, error.as_deref(), *duration_ms);
            let (said, done) = call_ended((request, call), reported, decision, places, setting);
            decision = said;
            done
        }
        Event::SubagentStart => {
            decision.quarantined = setting.trust(&request.subject) == Trust::Quarantined;
            Ok(())
        }
        Event::SubagentStop { message } => match setting.trust(&request.subject) {
            Trust::Ordinary => Ok(()),
            Trust::Quarantined => {
                let stopped = setting.desk().stop(&request.subject, message.as_deref());
                let free = fleet::ended(&request.subject, (&setting.dirs, &setting.policy));
                stopped.map(|decided| decision = decided).and(free)
            }
        },
        Event::SessionEnd { .. } => {
            decision = session_ended(setting, request, decision);
            setting.desk().close(&request.subject).and_then(|ended| setting.log().reviews_ended(&ended))
        }
        Event::SessionStart { source } if source == "compact" => {
            behaviour::restarted(request, &setting.store(), setting.now).map(|told| decision = told)
        }
        Event::SessionStart { .. } => {
            decision = started(setting, request, &places);
            sweep(setting)
        }
        Event::ConfigChange { .. } => {
            decision = config_change(setting, request);
            let planted = Surfaces::at(setting, request, Moment::Between);
            decision = decision.also(planted, request.asking);
            if let Some(said) = start::elsewhere(setting).filter(|_| decision.verdict() == Verdict::Allow) {
                decision = Decision::new(vec![said], None, true);
            }
            Ok(())
        }
        Event::Prompt { text } => {
            prompted(setting, request, text).map(|told| decision = told.unwrap_or(decision.clone()))
        }
        Event::BeforeTool(_) | Event::Other { .. } => Ok(()),
    };
    // These events cannot be blocked and nothing runs because of them: what fails here is told in the log, if that can be.
    if let Err(fault) = done {
        let _recorded = setting.log().fault(&fault);
    }
    let _recorded = setting.log().event(request, &decision);
    decision
}

/// A call has ended: what is said of it, of what keeps the gate in place, and of what it left for a client to run.
fn call_ended(
    (request, call): (&Request, &ToolCall),
    ended: behaviour::Ended<'_>,
    decision: Decision,
    places: Places,
    setting: &Setting,
) -> (Decision, Result<(), Fault>) {
    if let Err(fault) = setting.desk().started(request, call) {
        let _recorded = setting.log().fault(&fault);
    }
    let ended = behaviour::Ended { seen: Lookout::of(setting, request).seen_after(), ..ended };
    let around = places.clone();
    let told = finish(request, call, ended, places, setting);
    let asked = told.as_ref().is_ok_and(|told| told.verdict == Some(Verdict::Modify));
    let asked = asked && ended.outcome == Outcome::Done;
    let planted = Surfaces::after(setting, request, (call, asked), &around);
    let (said, done) = match told {
        Ok(told) => (after(&told, decision, setting, request), Ok(())),
        Err(fault) => (decision, Err(fault)),
    };
    (said.also(planted, request.asking), done)
}

/// A session has ended: what its last call did would else be found by nobody.
fn session_ended(setting: &Setting, request: &Request, decision: Decision) -> Decision {
    let decision = match looked(setting, request, Moment::Ended) {
        Ok(Some((found, lookout))) => lookout.told(&found).unwrap_or(decision),
        Ok(None) => decision,
        Err(fault) => untold(&fault, setting),
    };
    decision.also(Surfaces::closing(setting, request), request.asking)
}

/// What is answered to the end of a call, besides what is said of an agent's report.
fn after(told: &Told, decision: Decision, setting: &Setting, request: &Request) -> Decision {
    if let Some(chosen) = &told.chosen {
        let _recorded = setting.log().intervention(request, chosen);
    }
    let held = if told.moved {
        match looked(setting, request, Moment::Ended) {
            Ok(looked) => answered(looked),
            Err(fault) => Some(untold(&fault, setting)),
        }
    } else {
        None
    };
    let replacement = decision.replacement.clone();
    match held {
        Some(held) => Decision::replacing(held, replacement),
        None if replacement.is_some() => decision,
        None => behaviour::said(told).unwrap_or(decision),
    }
}

/// What the person is told at the beginning of a session.
fn started(setting: &Setting, request: &Request, places: &Places) -> Decision {
    let changed = match looked(setting, request, Moment::Start) {
        Ok(looked) => looked.and_then(|(found, lookout)| lookout.told(&found)),
        Err(fault) => Some(untold(&fault, setting)),
    };
    let reasons = changed.iter().flat_map(|told| told.reasons().to_vec());
    let planted = Surfaces::at(setting, request, Moment::Start);
    let reasons = reasons.chain(planted).chain(start::said(setting, places)).collect();
    Decision::new(reasons, None, request.asking == Asking::Yes)
}

/// The person has said something: no call is under way.
fn prompted(setting: &Setting, request: &Request, text: &str) -> Result<Option<Decision>, Fault> {
    let limits = &setting.policy.resources;
    let seen = Lookout::of(setting, request).seen_before();
    let moved = behaviour::prompted(request, (text, seen), limits, (&setting.store(), setting.now))?;
    let looked = if moved { looked(setting, request, Moment::Prompt)? } else { None };
    let planted = Surfaces::at(setting, request, Moment::Prompt);
    let nothing = || Decision::new(Vec::new(), None, request.asking == Asking::Yes);
    Ok(match answered(looked) {
        None if planted.is_empty() => None,
        said => Some(said.unwrap_or_else(nothing).also(planted, request.asking)),
    })
}

/// A call has ended. What it made go away, and what a person let it start, is not held against later calls.
fn finish(
    request: &Request,
    call: &ToolCall,
    ended: behaviour::Ended<'_>,
    places: Places,
    setting: &Setting,
) -> Result<Told, Fault> {
    let (store, subject, now) = (setting.store(), &request.subject, setting.now);
    keep::ended(request, call, &places, (&setting.dirs, &setting.policy))?;
    let watched = setting.trust(subject) == Trust::Ordinary && setting.policy.enabled;
    let told = if watched {
        let mut told = behaviour::ended(request, call, ended, (&places, &setting.policy), (&store, now))?;
        emergency::announce(told.report.take(), &setting.policy, setting.log());
        let _recorded = setting.log().measured(request, &told.measured);
        told.faults.iter().for_each(|fault| drop(setting.log().fault(fault)));
        told
    } else {
        behaviour::recorded(request, call, ended, (&store, now))?
    };
    let asked = told.verdict == Some(Verdict::Modify);
    if ended.outcome != Outcome::Done || !(asked || call::may_remove(call)) {
        return Ok(told);
    }
    state::forget(&store, subject, now, |marks| {
        call::settled((call, asked), &request.cwd, &setting.policy, marks, places)
    })?;
    Ok(told)
}

/// What has grown old: session files, log files, permissions.
fn sweep(setting: &Setting) -> Result<(), Fault> {
    state::sweep(&setting.store(), setting.now, KEEP_SESSIONS)?;
    audit::sweep(&audit::dir(&setting.dirs.state), &setting.policy.audit, setting.now)?;
    Permits::new(&setting.dirs.state).sweep(setting.now)?;
    guard::deadline(keep::DEADLINE_MS);
    Checkpoints::new(&setting.dirs.state, setting.policy.checkpoints.clone()).sweep(setting.now)?;
    Ok(())
}

/// Refuses a change of the client's settings after which lazaret would not be asked any more, or by which an agent would have the
/// client start something.
fn config_change(setting: &Setting, request: &Request) -> Decision {
    let looked = match looked(setting, request, Moment::Between) {
        Ok(Some((Found::TakenBack(why), lookout))) => return lookout.held(&why),
        Ok(Some((found @ Found::Refused { .. }, lookout))) => return lookout.refusal(&found),
        Ok(looked) => looked,
        Err(fault) => return Decision::fault(fault, false),
    };
    let project = setting.project(request);
    let settings = match registration::claude_settings(&setting.env, &setting.dirs, project) {
        Ok(settings) => settings,
        Err(fault) => return Decision::fault(fault, false),
    };
    let plugin = setting.env.claude_plugin_root.is_some();
    match (review::drops_registration(&settings.managed, &settings.others, plugin), looked) {
        (Some(why), _) => Decision::refusal("self.settings-change", why),
        (None, looked) => looked
            .and_then(|(found, lookout)| lookout.told(&found))
            .unwrap_or_else(|| Decision::new(Vec::new(), None, true)),
    }
}

/// Looks at the files that keep the gate where it is, and holds the session where an agent's change of them was taken back; nothing
/// where all is as it was last seen.
fn looked<'a>(
    setting: &'a Setting,
    request: &'a Request,
    moment: Moment,
) -> Result<Option<(Found, Lookout<'a>)>, Fault> {
    let lookout = Lookout::of(setting, request);
    let (store, subject, now) = (setting.store(), &request.subject, setting.now);
    let stand = state::look(&store, subject, now, Look { records: LOOK_BACK, window_ms: 0 })?;
    let as_seen = (lookout.seen_before(), lookout.seen_after()) == (stand.watch.before, stand.watch.after);
    // Between two calls the client's own state, which it writes all the time, is not asked about.
    if as_seen && moment == Moment::Between {
        return Ok(None);
    }
    let found = match lookout.look(moment, &stand) {
        Ok(found) => found,
        Err(fault) => {
            // The next call does not run before somebody could look.
            state::amend(&store, subject, now, |document| document.watch.before = 0)?;
            return Err(fault);
        }
    };
    state::amend(&store, subject, now, |document| {
        document.watch = lookout.refreshed(document.watch);
        if let Found::TakenBack(why) = &found {
            document.stopped = Some(why.clone());
        }
    })?;
    Ok(Some((found, lookout)))
}

/// What is said where nobody could look: it is in the log too.
fn untold(fault: &Fault, setting: &Setting) -> Decision {
    let _recorded = setting.log().fault(fault);
    let text = format!("what keeps lazaret in place could not be looked at: {}", fault.message());
    Decision::new(vec![behaviour::reason(watch::CHANGED, Verdict::Warn, text)], None, false)
}

/// What is answered to a look at those files.
fn answered(looked: Option<(Found, Lookout<'_>)>) -> Option<Decision> {
    let (found, lookout) = looked?;
    match found {
        Found::TakenBack(why) => Some(lookout.held(&why)),
        found => lookout.told(&found),
    }
}
