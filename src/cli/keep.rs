//! The obligation of a decision: what a call is about to change is saved first, and what it has left is looked at afterwards.

use crate::cli::record::{self, Log};
use crate::domain::{Asking, Decision, Facts, Fault, Places, Policy, Request, ToolCall, Trust, Verdict};
use crate::host::checkpoint::{Checkpoints, Made, Meta, Tree, Wanted, Wish, stake};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::guard;
use crate::review::undoable::{self, Discarded, Stake};
use crate::rules::Survey;

/// How long saving may take before a call, and looking after it, in milliseconds.
const TIME_MS: u64 = 3_500;
/// The same before a call that nothing speaks against: it is not to wait for long.
const BRIEFLY_MS: u64 = 700;
/// The deadline of the whole process while it does: OpenCode's plugin ends it after 5 seconds.
pub const DEADLINE_MS: u32 = 4_800;
/// Most names of what was not saved that are told.
const TOLD: usize = 5;

/// What one call would change.
pub struct Keep<'a> {
    store: Checkpoints,
    request: &'a Request,
    call: &'a ToolCall,
    wishes: Vec<Wish>,
    untracked: bool,
    discarded: Option<Discarded>,
    stakes: Vec<Stake>,
    /// Whether what was saved makes the answer milder.
    lowers: bool,
    /// What the call changes is known in full.
    known: bool,
}

impl<'a> Keep<'a> {
    /// Nothing for a call that changes nothing, and where checkpoints are off.
    pub fn of(
        (request, call): (&'a Request, &'a ToolCall),
        trust: Trust,
        (survey, facts): (&Survey, &Facts),
        (dirs, policy): (&Dirs, &Policy),
    ) -> Option<Keep<'a>> {
        if trust != Trust::Ordinary
            || !policy.checkpoints.enabled
            || !policy.enabled
            || survey.effects.is_empty()
        {
            return None;
        }
        let touched = undoable::touched(survey, facts);
        let discarded = undoable::discarded(survey, facts);
        if touched.is_empty() && discarded.is_none() {
            return None;
        }
        let wish = |touched: undoable::Touched| Wish {
            path: touched.path,
            glob: touched.glob,
            deep: touched.deep,
            follow: touched.follow,
        };
        let untracked = undoable::discards_untracked(survey);
        let stakes = undoable::stakes(survey).collect();
        let wishes = touched.into_iter().map(wish).collect();
        let store = Checkpoints::new(&dirs.state, policy.checkpoints.clone());
        let (lowers, known) = (policy.checkpoints.instead_of_block, undoable::is_known(survey));
        Some(Keep { store, request, call, wishes, untracked, discarded, stakes, lowers, known })
    }

    /// What such a command of git gets depends on whether all that it discards could be saved: that is tried ahead of the
    /// decision, where it is what speaks against the call, and there is something to discard.
    pub fn ahead(
        &self,
        decide: impl FnOnce() -> Decision,
        (facts, now): (&Facts, Now),
    ) -> Option<Result<Option<Made>, Fault>> {
        let discarded = self.discarded.filter(|_| self.lowers);
        let tree = discarded.filter(|_| {
            undoable::is_about_discarding(&decide()) && self.is_something_at_stake(&facts.places)
        })?;
        Some(self.save(Some(tree), (facts, now), TIME_MS))
    }

    fn is_something_at_stake(&self, places: &Places) -> bool {
        places.repo.as_deref().is_some_and(|repo| {
            self.stakes.iter().any(|stake| match stake {
                Stake::Changes => stake::has_changes(repo),
                Stake::Untracked => stake::has_untracked(repo, places.home.as_deref()),
                Stake::Stash => stake::has_stash(repo),
            })
        })
    }

    /// Saves it. `None` = there was nothing to save.
    fn save(
        &self,
        tree: Option<Discarded>,
        (facts, now): (&Facts, Now),
        time_ms: u64,
    ) -> Result<Option<Made>, Fault> {
        guard::deadline(DEADLINE_MS);
        let places = &facts.places;
        let root = places.repo.as_deref().or(places.project.as_deref());
        let action = record::safe(&crate::review::action_text(self.call));
        let meta = Meta {
            subject: &self.request.subject,
            prompt: self.request.prompt_id.as_deref(),
            call: self.call.id.as_ref().map(crate::domain::CallId::as_str),
            tool: &self.call.tool.name(),
            action: &action,
            cwd: &self.request.cwd,
            root,
        };
        let tree = tree.map(|discarded| match discarded {
            Discarded::Changes => Tree::Changed,
            Discarded::All => Tree::Whole,
        });
        let wanted = Wanted {
            wishes: &self.wishes,
            tree,
            untracked: self.untracked,
            protected: &places.protected,
            repo: places.repo.as_deref(),
            home: places.home.as_deref(),
            time_ms,
        };
        self.store.make(&meta, &wanted, now)
    }

    /// The decision after a try to save. What leans on the checkpoint does not run without it.
    fn told(&self, mut decision: Decision, saved: &Result<Option<Made>, Fault>) -> Decision {
        let can_ask = self.request.asking == Asking::Yes;
        let why = match saved {
            Ok(None) => return decision,
            Ok(Some(made)) if made.lost.is_empty() => {
                if self.known {
                    undoable::reversible(&mut decision);
                }
                if decision.verdict() != Verdict::Allow {
                    let what =
                        if self.known { "what it changes" } else { "what is known of what it changes" };
                    let told = format!(
                        "{what} was saved first; a person undoes it with: lazaret rollback {}",
                        made.id
                    );
                    decision.note("checkpoint.made", told);
                }
                return decision;
            }
            Ok(Some(made)) => names(&made.lost),
            Err(fault) => fault.message(),
        };
        if undoable::leans_on_a_checkpoint(&decision) {
            undoable::unsaved(decision, &why, can_ask)
        } else {
            if decision.verdict() != Verdict::Allow {
                decision.note("checkpoint.incomplete", format!("not all of it could be saved first: {why}"));
            }
            decision
        }
    }
}

/// Saves what the call changes if it may run and nothing was `saved` yet; what leans on that does not run without it.
pub fn settle(
    keep: Option<&Keep<'_>>,
    decision: Decision,
    saved: Option<Result<Option<Made>, Fault>>,
    (facts, log): (&Facts, Log<'_>),
) -> Decision {
    let Some(keep) = keep else { return decision };
    if !decision.enforcement().lets_run() {
        if let Some(Ok(Some(made))) = &saved {
            // One too many is listed where it can't be removed; nothing worse.
            let _left = keep.store.forget(&made.id);
        }
        return decision;
    }
    let tree = keep.discarded.filter(|_| saved.is_none() && undoable::is_about_discarding(&decision));
    if saved.is_none() && keep.wishes.is_empty() && tree.is_none() {
        return decision;
    }
    let time_ms = if decision.verdict() == Verdict::Allow { BRIEFLY_MS } else { TIME_MS };
    let saved = saved.unwrap_or_else(|| keep.save(tree, (facts, log.now), time_ms));
    if let Err(fault) = &saved {
        let _recorded = log.fault(fault);
    }
    keep.told(decision, &saved)
}

/// The decision on a call of which that much was saved ahead.
pub fn weighed(decision: Decision, saved: Option<&Result<Option<Made>, Fault>>, asking: Asking) -> Decision {
    match saved {
        Some(Ok(Some(made))) if made.lost.is_empty() => undoable::lowered(decision, asking == Asking::Yes),
        Some(_) | None => decision,
    }
}

fn names(lost: &[(String, String)]) -> String {
    let named = lost.iter().take(TOLD).map(|(path, why)| format!("{path}: {why}"));
    let more = match lost.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", named.collect::<Vec<_>>().join("; "))
}

/// A call has ended: what it left is kept with its checkpoint, if it has one.
pub fn ended(
    request: &Request,
    call: &ToolCall,
    places: &Places,
    (dirs, policy): (&Dirs, &Policy),
) -> Result<(), Fault> {
    let Some(id) = call.id.as_ref().filter(|_| policy.checkpoints.enabled) else { return Ok(()) };
    let store = Checkpoints::new(&dirs.state, policy.checkpoints.clone());
    if !store.is_awaited(&request.subject, id.as_str()) {
        return Ok(());
    }
    guard::deadline(DEADLINE_MS);
    store.ended(&request.subject, id.as_str(), (places.repo.as_deref(), places.home.as_deref()), TIME_MS)
}
