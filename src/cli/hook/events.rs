//! Everything that is not a call about to run.

use super::Setting;
use crate::cli::audit::verify::why;
use crate::cli::behaviour::Told;
use crate::cli::quarantine as quarantined;
use crate::cli::{behaviour, call, emergency, keep};
use crate::domain::{Asking, Decision, Event, Fault, Outcome, Places, Request, ToolCall, Trust, Verdict};
use crate::host::audit::End;
use crate::host::checkpoint::Checkpoints;
use crate::host::permit::Permits;
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
        return match event {
            Event::ConfigChange { .. } => config_change(setting, request),
            Event::BeforeTool(_)
            | Event::AfterTool { .. }
            | Event::Prompt { .. }
            | Event::SessionStart { .. }
            | Event::SessionEnd { .. }
            | Event::SubagentStart
            | Event::SubagentStop { .. }
            | Event::Other { .. } => decision,
        };
    }
    let done = match event {
        Event::AfterTool { call, outcome, report, error, duration_ms } => {
            if let (Some(report), None) = (report, setting.blind()) {
                decision = setting.desk().report(request, call, report).unwrap_or(decision);
            }
            if let Err(fault) = setting.desk().started(request, call) {
                let _recorded = setting.log().fault(&fault);
            }
            let ended =
                behaviour::Ended { outcome: *outcome, error: error.as_deref(), duration_ms: *duration_ms };
            finish(request, call, ended, places, setting).map(|told| {
                if let Some(chosen) = &told.chosen {
                    let _recorded = setting.log().intervention(request, chosen);
                }
                if let Some(said) = behaviour::said(&told).filter(|_| decision.replacement.is_none()) {
                    decision = said;
                }
            })
        }
        Event::SubagentStart => {
            decision.quarantined = setting.trust(&request.subject) == Trust::Quarantined;
            Ok(())
        }
        Event::SubagentStop { message } => match setting.trust(&request.subject) {
            Trust::Ordinary => Ok(()),
            Trust::Quarantined => {
                setting.desk().stop(&request.subject, message.as_deref()).map(|decided| decision = decided)
            }
        },
        Event::SessionEnd { .. } => {
            setting.desk().close(&request.subject).and_then(|ended| setting.log().reviews_ended(&ended))
        }
        Event::SessionStart { source } if source == "compact" => {
            behaviour::restarted(request, &setting.store(), setting.now).map(|told| decision = told)
        }
        Event::SessionStart { .. } => {
            if let Some(told) = unverified(setting) {
                decision = told;
            }
            sweep(setting)
        }
        Event::ConfigChange { .. } => {
            decision = config_change(setting, request);
            Ok(())
        }
        Event::Prompt { text } => {
            let limits = &setting.policy.resources;
            behaviour::prompted(request, text, limits, (&setting.store(), setting.now))
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

/// What is said where the end of the log is not what was written.
fn unverified(setting: &Setting) -> Option<Decision> {
    let bad = match audit::end(&audit::dir(&setting.dirs.state)) {
        Ok(End::Wrong(bad)) if setting.policy.audit.enabled => bad,
        Ok(_) | Err(_) => return None,
    };
    let text = format!(
        "the end of the audit log does not verify ({}, byte {}): {}; see `lazaret audit verify`",
        bad.file.display(),
        bad.offset,
        why(bad.wrong)
    );
    let reason = behaviour::reason("audit.unverified", Verdict::Warn, text);
    Some(Decision::new(vec![reason], None, false))
}

/// Refuses a change of the client's settings after which lazaret would not be asked any more.
fn config_change(setting: &Setting, request: &Request) -> Decision {
    let project = setting.env.claude_project_dir.as_deref().unwrap_or(&request.cwd);
    let settings = match registration::claude_settings_texts(&setting.env, &setting.dirs, project) {
        Ok(settings) => settings,
        Err(fault) => return Decision::fault(fault, false),
    };
    match review::drops_registration(&settings, setting.env.claude_plugin_root.is_some()) {
        Some(why) => Decision::refusal("self.settings-change", why),
        None => Decision::new(Vec::new(), None, true),
    }
}
