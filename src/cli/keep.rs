//! The obligation of a decision: what a call is about to change is saved first, and what it has left is looked at afterwards.

use crate::cli::record::{self, Log};
use crate::domain::{
    Asking, Decision, Facts, Fault, Places, Policy, Request, ToolCall, Trust, Verdict, join, lies_in, sort_by,
};
use crate::host::checkpoint::stake::{self, Others, Tracked};
use crate::host::checkpoint::{self, Checkpoints, Extent, Made, Meta, Site, ToSave, Tree, Wanted};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::facts::real_path;
use crate::host::guard;
use crate::review::stakes::{self, Stake};
use crate::review::undoable::{self, Discarded, Loss};
use crate::rules::{self, Survey};

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
    to_save: Vec<ToSave>,
    /// What is lost where it is not saved.
    lost: Vec<String>,
    extent: Extent,
    discarded: Option<Site>,
    /// What goes with it without being named.
    unnamed: Vec<Site>,
    /// Whether that is more than what its discarding commands leave.
    beside: bool,
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
        if trust != Trust::Ordinary || !policy.checkpoints.enabled || !policy.enabled {
            return None;
        }
        let code = rules::by_code(survey);
        if survey.effects.is_empty() && code.is_none() {
            return None;
        }
        let touched = undoable::touched(survey, facts, code.as_ref());
        let discarded = undoable::discarded(survey, facts).and_then(|loss| only_site(&loss));
        let mut unnamed =
            undoable::unnamed(survey, facts, code.as_ref()).map_or_else(Vec::new, |loss| sites(&loss));
        if let Some(repo) = facts.places.repo.as_deref().filter(|_| undoable::resets_submodules(survey)) {
            let whole = |repo| Site { repo, tree: Tree::Whole };
            unnamed.extend(checkpoint::modules(repo).into_iter().map(whole));
        }
        if touched.is_empty() && discarded.is_none() && unnamed.is_empty() {
            return None;
        }
        let lost =
            touched.iter().filter(|touched| touched.lost).map(|touched| touched.path.clone()).collect();
        let to_save = |touched: undoable::Touched| ToSave {
            path: touched.path,
            glob: touched.glob,
            deep: touched.deep,
            follow: touched.follow,
            from: touched.from,
        };
        let extent = Extent {
            untracked: undoable::discards_untracked(survey),
            ignored: undoable::discards_ignored(survey),
            inner: undoable::changes_unnamed(survey, facts, code.as_ref()),
        };
        let beside = stakes::takes_names_beside(survey) || code.is_some();
        let to_save = touched.into_iter().map(to_save).collect();
        let store = Checkpoints::new(&dirs.state, policy.checkpoints.clone());
        let (lowers, known) = (policy.checkpoints.instead_of_block, undoable::is_known(survey));
        Some(Keep { store, request, call, to_save, lost, extent, discarded, unnamed, beside, lowers, known })
    }

    /// Saves it. `None` = there was nothing to save.
    fn save(
        &self,
        discarded: Option<&Site>,
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
        let mut sites: Vec<Site> = discarded.into_iter().chain(&self.unnamed).cloned().collect();
        // What goes furthest comes first, and is enough.
        sort_by(&mut sites, |one, other| one.repo.cmp(&other.repo).then(other.tree.cmp(&one.tree)));
        sites.dedup_by(|one, other| one.repo == other.repo);
        let wanted = Wanted {
            to_save: &self.to_save,
            sites: &sites,
            extent: self.extent,
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
            Ok(None) if self.known => return undoable::unscored(decision, can_ask),
            Ok(None) => return decision,
            Ok(Some(made)) if made.lost.is_empty() => {
                if self.known {
                    undoable::reversible(&mut decision);
                    decision = undoable::unscored(decision, can_ask);
                }
                if decision.verdict() != Verdict::Allow {
                    let what =
                        if self.known { "what it changes" } else { "what is known of what it changes" };
                    let told = format!(
                        "{what} was saved first{}; a person undoes it with: lazaret rollback {}",
                        but(&made.omitted),
                        made.id
                    );
                    decision.note("checkpoint.made", told);
                }
                return decision;
            }
            Ok(Some(made)) => names(&made.lost),
            Err(fault) => fault.message(),
        };
        let is_lost = |(path, _): &(String, String)| self.lost.iter().any(|lost| lies_in(path, lost));
        let loses = saved.as_ref().is_ok_and(|made| made.iter().any(|made| made.lost.iter().any(is_lost)));
        if undoable::leans_on_a_checkpoint(&decision) || loses {
            undoable::unsaved(decision, &why, can_ask)
        } else if decision.verdict() == Verdict::Allow && saved.is_ok() {
            undoable::partly_saved(decision, &why)
        } else {
            if decision.verdict() != Verdict::Allow {
                decision.note("checkpoint.incomplete", format!("not all of it could be saved first: {why}"));
            }
            decision
        }
    }
}

/// What is known of what a call's commands of git discard, ahead of the decision.
#[derive(Debug)]
pub enum Ahead {
    /// They discard nothing, or nothing speaks against that.
    Unknown,
    /// Nothing is there that they would discard.
    Spared,
    /// There may be, and that much of it was saved.
    Saved(Result<Option<Made>, Fault>),
}

/// What such a command gets depends on whether there is anything that it discards, and then on whether all of that could be saved:
/// both are tried ahead of the decision, where it is what speaks against the call.
pub fn ahead(
    keep: Option<&Keep<'_>>,
    (call, survey): (&ToolCall, &Survey),
    (facts, now): (&Facts, Now),
    decide: impl FnOnce() -> Decision,
) -> Ahead {
    let stakes = stakes::stakes(survey, facts, &crate::review::action_text(call));
    let discarded = keep.filter(|keep| keep.lowers).and_then(|keep| Some((keep, keep.discarded.as_ref()?)));
    if (stakes.is_none() && discarded.is_none()) || !undoable::is_about_discarding(&decide()) {
        return Ahead::Unknown;
    }
    if stakes.is_some_and(|stakes| !stakes.iter().any(|(at, stake)| is_at_stake(at, stake, &facts.places))) {
        return Ahead::Spared;
    }
    let save = |(keep, discarded): (&Keep<'_>, _)| keep.save(Some(discarded), (facts, now), TIME_MS);
    discarded.map_or(Ahead::Unknown, |found| Ahead::Saved(save(found)))
}

/// Whether there is something that a command of git in that directory would discard.
fn is_at_stake(at: &str, stake: &Stake, places: &Places) -> bool {
    let Some(repo) = checkpoint::top_of(at) else { return true };
    if !lies_in_any(&repo, places) || stake::lies_elsewhere(&repo) {
        return true;
    }
    let is_changed = |within, staged| stake::is_changed(&repo, Tracked { within, staged });
    let has_others = |others| stake::has_others(&repo, others, places.home.as_deref());
    match stake {
        Stake::Unstaged(within) => is_changed(&real(within), false),
        Stake::Changes => is_changed(&[], true),
        Stake::Other => {
            let others = Others { within: &[], plain: true, ignored: false, inner: false };
            is_changed(&[], true) || has_others(others) || !stake::notes_commits(&repo)
        }
        Stake::Untracked { within, plain, ignored, inner } => {
            has_others(Others { within: &real(within), plain: *plain, ignored: *ignored, inner: *inner })
        }
        Stake::Stash => stake::has_stash(&repo),
    }
}

/// The same places, and where links in them lead: to the last name, and with it.
fn real(places: &[String]) -> Vec<String> {
    let beside = |place: &String| place.rsplit_once('/').map(|(dir, name)| join(&real_path(dir), name));
    let real = places.iter().map(|place| real_path(place)).chain(places.iter().filter_map(beside));
    places.iter().cloned().chain(real).collect()
}

fn lies_in_any(repo: &str, places: &Places) -> bool {
    places.roots().any(|root| lies_in(repo, root) || lies_in(repo, &real_path(root)))
}

/// Saves what the call changes if it may run and nothing was saved `ahead`; what leans on that does not run without it.
pub fn settle(
    keep: Option<&Keep<'_>>,
    decision: Decision,
    ahead: Ahead,
    (facts, log): (&Facts, Log<'_>),
) -> Decision {
    let Some(keep) = keep else { return decision };
    if !decision.enforcement().lets_run() {
        if let Ahead::Saved(Ok(Some(made))) = &ahead {
            // One too many is listed where it can't be removed; nothing worse.
            let _left = keep.store.forget(&made.id);
        }
        return decision;
    }
    let (saved, is_spared) = match ahead {
        Ahead::Saved(saved) => (Some(saved), false),
        Ahead::Spared => (None, true),
        Ahead::Unknown => (None, false),
    };
    let tree = keep.discarded.as_ref();
    let tree = tree.filter(|_| saved.is_none() && undoable::is_about_discarding(&decision));
    let is_void = keep.to_save.is_empty() && (keep.unnamed.is_empty() || is_spared && !keep.beside);
    if saved.is_none() && is_void && tree.is_none() {
        return decision;
    }
    let time_ms = if decision.verdict() == Verdict::Allow { BRIEFLY_MS } else { TIME_MS };
    let saved = saved.unwrap_or_else(|| keep.save(tree, (facts, log.now), time_ms));
    if let Err(fault) = &saved {
        let _recorded = log.fault(fault);
    }
    keep.told(decision, &saved)
}

/// The decision on a call of which that is known ahead.
pub fn weighed(decision: Decision, ahead: &Ahead, survey: &Survey, asking: Asking) -> Decision {
    let can_ask = asking == Asking::Yes;
    match ahead {
        Ahead::Spared => stakes::spared(decision, (undoable::is_known(survey), can_ask)),
        Ahead::Saved(Ok(Some(made))) if made.lost.is_empty() => undoable::lowered(decision, can_ask),
        Ahead::Saved(_) | Ahead::Unknown => decision,
    }
}

/// The repositories that a loss falls on.
fn sites(loss: &Loss) -> Vec<Site> {
    let tree = match loss.discarded {
        Discarded::Names => Tree::Names,
        Discarded::Staged => Tree::Staged,
        Discarded::Changes => Tree::Changed,
        Discarded::All => Tree::Whole,
    };
    let mut repos: Vec<String> = loss.at.iter().filter_map(|at| checkpoint::top_of(at)).collect();
    sort_by(&mut repos, Ord::cmp);
    repos.dedup();
    repos.into_iter().map(|repo| Site { repo, tree }).collect()
}

/// The one repository that it falls on; nothing where there are several.
fn only_site(loss: &Loss) -> Option<Site> {
    match sites(loss).as_slice() {
        [site] => Some(site.clone()),
        _ => None,
    }
}

/// What is not in a checkpoint although nothing counts as lost with it.
fn but(omitted: &[(String, String)]) -> String {
    if omitted.is_empty() { String::new() } else { format!(" (not in it: {})", names(omitted)) }
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
