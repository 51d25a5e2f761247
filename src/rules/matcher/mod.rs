//! Rules, and the one matcher for them. A rule is data (`when`); what the words of that data mean is in this directory.

mod alternative;
mod beside;
mod class;
mod command;
mod effect;
mod ends;
mod explain;
mod firsts;
mod flow;
mod glob;
mod host;
mod leaving;
mod loaded;
mod mention;
mod own_hooks;
mod own_service;
mod reads;
mod relation;
mod requested;
mod rewrite;
mod scene;
mod secret;
mod sought;
mod stores;
mod tails;
mod tool;
mod trigger;
mod when;
mod written;

use std::ops::ControlFlow;

use super::Survey;
use super::builtin::{self, RuleSet};
use crate::domain::{
    Action, BuiltinRules, EffectKind, Facts, Policy, Reason, Rewrite, Severity, ToolCall, Verdict, WayOut,
    WrittenRule, clip, names_id,
};
use crate::shell::Bound;

pub(crate) use beside::Dirs;
pub(crate) use class::{
    At, Class, Classes, at, below_another_home, classify, held, is_protected, is_settings, may_be, target_of,
};
pub(crate) use command::{
    asks_for_help, flag_value, has_flag, has_operand, has_sub, is_interpreter, is_prose, is_rehearsal,
    is_scratch, is_shell, runs, runs_code, runs_shell,
};
pub(crate) use effect::{find_but, owner, owners};
pub(crate) use ends::leads_to_protected;
pub use explain::conditions;
pub(crate) use flow::{By, runs_input, unread_decoded};
pub(crate) use glob::is_everything;
pub(crate) use host::{
    four, host_of, is_known, is_metadata, is_metadata_address, metadata_fetched, tells_where,
};
pub(crate) use leaving::{connects, cuts_to_names, prints_environment, sends};
pub(crate) use loaded::names_module;
pub(crate) use mention::{
    code_of, contains_word, content, input_of, is_bare_name, mentions_protected, squeeze,
};
pub(crate) use own_service::shown_as_key;
pub(crate) use reads::code_only_reads;
pub(crate) use relation::{Rel, inside, relation, relation_to};
pub(crate) use requested::{Spoken, Told};
pub(crate) use scene::Scene;
pub(crate) use secret::{is_env_file, is_secret};
pub(crate) use sought::Sought;
pub(crate) use stores::{
    OF_TOKEN, SECRET_PRINTERS, THIEVES, belongs_to, dumps_store, keeps_secrets, names_raw_secrets,
    prints_secret,
};
pub(crate) use trigger::{Trigger, same};
pub(crate) use when::{
    COMMAND, Code, Command, Condition, EFFECT, Flow, Found, Hosts, OnEffect, Operand, Predicate, When,
};
pub use written::{predicates, rewriter, written};

/// Everything a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub call: &'a ToolCall,
    pub cwd: &'a str,
    pub survey: &'a Survey,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
}

/// What an example of a rule expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Fires,
    Silent,
}

/// The alternative that a rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead<'r> {
    /// A command, with the call's operands in the places of `{1}`, `{2}`, `{last}`, `{all}` and `{file}`.
    Command(&'r str),
    /// What to do, in words.
    Advice(&'r str),
}

impl<'r> Instead<'r> {
    pub const fn text(self) -> &'r str {
        match self {
            Instead::Command(text) | Instead::Advice(text) => text,
        }
    }
}

/// The changes to a command that make it safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewriter {
    /// `git push --force` becomes `git push --force-with-lease`.
    ForceWithLease,
    /// `git worktree remove --force` and `git submodule deinit --force` lose their force: git then refuses where something would
    /// be lost.
    WithoutForce,
    /// `npm ci` in a tree from elsewhere gets `--ignore-scripts`: nothing of the tree runs.
    IgnoreScripts,
}

impl Rewriter {
    pub const ALL: &[Rewriter] = &[Rewriter::ForceWithLease, Rewriter::WithoutForce, Rewriter::IgnoreScripts];

    pub const fn name(self) -> &'static str {
        match self {
            Rewriter::ForceWithLease => "force-with-lease",
            Rewriter::WithoutForce => "without-force",
            Rewriter::IgnoreScripts => "ignore-scripts",
        }
    }
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    pub verdict: Verdict,
    pub severity: Severity,
    /// Why, in one sentence without a full stop.
    pub reason: &'static str,
    /// One thing to do instead; lazaret lets it through.
    pub instead: Option<Instead<'static>>,
    /// For `Modify` only: what makes the call safe. Without one a person is asked.
    pub rewriter: Option<Rewriter>,
    /// The rule matches when one of these does.
    pub(crate) when: &'static [When],
}

/// What a rule says when it matches, wherever it is written.
#[derive(Debug, Clone, Copy)]
struct Says<'r> {
    id: &'r str,
    verdict: Verdict,
    severity: Severity,
    reason: &'r str,
    instead: Option<Instead<'r>>,
    built_in: bool,
}

impl Says<'static> {
    const fn of(rule: &'static Rule) -> Says<'static> {
        let Rule { id, verdict, severity, reason, instead, .. } = *rule;
        Says { id, verdict, severity, reason, instead, built_in: true }
    }
}

impl<'r> Says<'r> {
    fn of_custom(rule: &'r WrittenRule) -> Says<'r> {
        let WrittenRule { id, verdict, severity, reason, instead, hushed, .. } = rule;
        let (reason, instead) = if *hushed {
            (HUSHED, Some(Instead::Advice(HUSHED_INSTEAD)))
        } else {
            let instead = instead.as_ref().map(|instead| match instead {
                WayOut::Command(text) => Instead::Command(text),
                WayOut::Advice(text) => Instead::Advice(text),
            });
            (reason.as_str(), instead)
        };
        Says { id, verdict: *verdict, severity: *severity, reason, instead, built_in: false }
    }
}

/// A stranger's file can stop a call, but not speak through lazaret to who made it.
const HUSHED: &str =
    "a rule of this project's own file matches; nobody has trusted that file yet, so its words are not shown";
const HUSHED_INSTEAD: &str = "ask the person to read the rule (`lazaret rules list`, `lazaret trust show`)";

/// What a rule says when it does not say otherwise.
pub(crate) const RULE: Rule = Rule {
    id: "",
    verdict: Verdict::Block,
    severity: Severity::High,
    reason: "",
    instead: None,
    rewriter: None,
    when: &[],
};

/// What stands in the place of an alternative where there is none.
pub const NONE: &str = "there is none; tell the person what is to be done, and why";

/// Longest part of the call that a reason quotes, in bytes.
const MATCHED: usize = 200;

/// Every built-in rule.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    builtin::FILES.iter().flat_map(|file| file.iter())
}

/// The built-in rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// The reasons of every rule that matches and is switched on.
pub fn judge(view: &View<'_>) -> Vec<Reason> {
    // Nothing is searched for in a text that is refused for its length: that alone could take longer than there is time.
    if matches!(&view.call.action, Action::Shell { command, .. } if command.len() > Bound::MAX_BYTES) {
        return Vec::new();
    }
    let scene = Scene::new(*view);
    let mut reasons = Vec::new();
    each_match(&scene, None, |says, matched, unsure| {
        // What is only guessed of a program's verb is said where no rule knows more of that command.
        let is_guessed = builtin::tools::unlisted::RULES.iter().any(|rule| rule.id == says.id);
        let is_said = || reasons.iter().any(|other: &Reason| other.matched == clip(matched, MATCHED));
        if !is_guessed || !is_said() {
            reasons.push(reason(says, matched, unsure, &scene));
        }
        ControlFlow::Continue(())
    });
    reasons
}

/// Shows the scene of a call made inside this one, and the ids of the rules that match it, of those that are asked for and of the
/// custom ones. Code in it is followed once.
pub(crate) fn inner_rules<R>(
    scene: &Scene<'_>,
    call: (&ToolCall, &str),
    chosen: &RuleSet,
    look: impl FnOnce(&Scene<'_>, &[&str]) -> R,
) -> R {
    within_call(scene, call, |view| {
        let inner = Scene::inner(view);
        let mut ids = Vec::new();
        each_match(&inner, Some(chosen), |rule, _, _| {
            ids.push(rule.id);
            ControlFlow::Continue(())
        });
        look(&inner, &ids)
    })
}

/// What the rules say of a call that may be made inside this one; code in it is not followed further.
pub(crate) fn inner_verdict(scene: &Scene<'_>, call: &ToolCall, cwd: &str) -> Verdict {
    within_call(scene, (call, cwd), |view| worst(&Scene::nested(view)))
}

/// What the rules say of a call that this one is known to make; code in it is not followed further.
pub(crate) fn made_verdict(scene: &Scene<'_>, call: &ToolCall, cwd: &str) -> Verdict {
    within_call(scene, (call, cwd), |view| worst(&Scene::made(view)))
}

/// What the rules say of a call that says the same as this one, written otherwise.
pub(crate) fn rebuilt_verdict(scene: &Scene<'_>, call: &ToolCall, cwd: &str) -> Verdict {
    within_call(scene, (call, cwd), |view| worst(&Scene::rebuilt(view)))
}

/// Shows what is known of a call made inside this one.
pub(crate) fn inner_survey<R>(
    scene: &Scene<'_>,
    call: &ToolCall,
    cwd: &str,
    look: impl FnOnce(&Survey) -> R,
) -> R {
    within_call(scene, (call, cwd), |view| look(view.survey))
}

fn worst(scene: &Scene<'_>) -> Verdict {
    let mut verdict = Verdict::Allow;
    each_match(scene, None, |says, _, unsure| {
        verdict = verdict.max(if unsure { Verdict::Block } else { says.verdict });
        if verdict == Verdict::Block { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    verdict
}

/// Whether a call made inside this one runs nothing but these programs, each only to read, and no rule says anything of it.
pub(crate) fn only_reads(
    scene: &Scene<'_>,
    (call, cwd): (&ToolCall, &str),
    programs: &'static [&'static str],
) -> bool {
    !scene.nested
        && inner_verdict(scene, call, cwd) == Verdict::Allow
        && within_call(scene, (call, cwd), |view| {
            let survey = view.survey;
            survey.problem.is_none()
                && !survey.invocations.is_empty()
                && survey.invocations.iter().all(|inv| programs.contains(&inv.program.as_str()))
                && survey.effects.iter().all(|effect| effect.kind == EffectKind::FileRead)
        })
}

/// Looks at a call made inside this one, with what is known of directories and programs already.
fn within_call<R>(scene: &Scene<'_>, (call, cwd): (&ToolCall, &str), look: impl FnOnce(View<'_>) -> R) -> R {
    let view = scene.view;
    let survey = super::survey::survey_within(call, cwd, view.facts, (view.policy, &view.survey.programs));
    let dirs = &view.survey.dirs;
    if cwd != view.cwd {
        return look(View { call, cwd, survey: &survey, ..view });
    }
    survey.dirs.exchange(dirs);
    let seen = look(View { call, cwd, survey: &survey, ..view });
    survey.dirs.exchange(dirs);
    seen
}

/// Calls `take` with each rule that is switched on and matches, what matched, and whether the rule could not tell. Of built-in rules
/// only with those that are asked for, where they are.
fn each_match<'a>(
    scene: &Scene<'a>,
    chosen: Option<&RuleSet>,
    mut take: impl FnMut(Says<'a>, &str, bool) -> ControlFlow<()>,
) {
    let mut last: Option<&Rule> = None;
    for entry in builtin::entries_for(scene.trigger, chosen) {
        // One condition is enough; a rule's conditions stand together.
        if last.is_some_and(|rule| std::ptr::eq(rule, entry.rule)) {
            continue;
        }
        let Some((matched, unsure)) = hit(entry.when, scene) else { continue };
        last = Some(entry.rule);
        if is_on(entry.rule, scene.view.policy) && take(Says::of(entry.rule), &matched, unsure).is_break() {
            return;
        }
    }
    for rule in &scene.view.policy.custom_rules {
        if is_disabled(&rule.id, scene.view.policy) {
            continue;
        }
        if let Some((matched, unsure)) = custom_hit(rule, scene)
            && take(Says::of_custom(rule), &matched, unsure).is_break()
        {
            return;
        }
    }
}

/// The first condition of a custom rule that matches.
fn custom_hit<'a>(rule: &WrittenRule, scene: &Scene<'a>) -> Hit<'a> {
    let met = |when: &Condition<'_>| Trigger::of_condition(when).meets(scene.trigger);
    let test = |when: &Condition<'_>| if met(when) { hit_by(when, scene, Whose::Custom) } else { None };
    rule.when.iter().find_map(|when| written::lend(when, test))
}

/// Whether a rule matches the call, whatever the policy says of it.
pub fn matches(rule: &WrittenRule, view: &View<'_>) -> bool {
    custom_hit(rule, &Scene::new(*view)).is_some()
}

/// The rewrite that makes the call safe, where every `Modify` among `reasons` comes from a rule with a rewriter.
pub fn rewrite(view: &View<'_>, reasons: &[Reason]) -> Option<Rewrite> {
    let mut wanted = None;
    for reason in reasons.iter().filter(|reason| reason.verdict == Verdict::Modify) {
        let rewriter = rewriter_of(&reason.rule, view.policy)?;
        if wanted.is_some_and(|other| other != rewriter) {
            return None;
        }
        wanted = Some(rewriter);
    }
    match wanted? {
        Rewriter::ForceWithLease => rewrite::force_with_lease(view),
        Rewriter::WithoutForce => rewrite::without_force(view),
        Rewriter::IgnoreScripts => rewrite::ignore_scripts(view),
    }
}

fn rewriter_of(id: &str, policy: &Policy) -> Option<Rewriter> {
    match find(id) {
        Some(rule) => rule.rewriter,
        // Several files may have a rule of the same id: they must agree.
        None => {
            let mut named = policy.custom_rules.iter().filter(|rule| rule.id == id);
            let first = named.next()?.rewriter.as_deref()?;
            if named.any(|rule| rule.rewriter.as_deref() != Some(first)) {
                return None;
            }
            rewriter(first)
        }
    }
}

fn is_on(rule: &Rule, policy: &Policy) -> bool {
    let set = match policy.builtin_rules {
        BuiltinRules::All => true,
        BuiltinRules::Essential => rule.severity == Severity::Critical,
        BuiltinRules::None => false,
    };
    set && !is_disabled(rule.id, policy)
}

/// By its id, or with its whole domain (`cloud.*`).
fn is_disabled(id: &str, policy: &Policy) -> bool {
    policy.disabled_rules.iter().any(|off| names_id(off, id))
}

/// Whether one of these built-in rules matches, switched on or not.
pub(crate) fn matches_one_of(scene: &Scene<'_>, chosen: &RuleSet) -> bool {
    builtin::entries_for(scene.trigger, Some(chosen)).any(|entry| {
        let found = hit(entry.when, scene);
        let hits = found.is_some();
        scene.keep(entry.when, found);
        hits
    })
}

/// What matched of a condition, and whether the rule could not tell.
pub(crate) type Hit<'a> = Option<(std::borrow::Cow<'a, str>, bool)>;

/// Who wrote a condition. Of built-in ones it is known beforehand which places they name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    BuiltIn,
    Custom,
}

/// What matched of a built-in rule's condition, and whether the rule could not tell.
fn hit<'a>(when: &'static When, scene: &Scene<'a>) -> Hit<'a> {
    scene.kept(when).unwrap_or_else(|| hit_by(when, scene, Whose::BuiltIn))
}

fn hit_by<'a>(when: &Condition<'_>, scene: &Scene<'a>, whose: Whose) -> Hit<'a> {
    let found = match when {
        Condition::Command(pattern) => command::find(pattern, scene),
        Condition::Effect(pattern) => effect::find(pattern, scene, whose),
        Condition::Flow(flow) => flow::find(*flow, scene),
        Condition::Url(hosts) => host::find(*hosts, scene),
        Condition::Code(code) => mention::find(code, scene),
        Condition::Tool(tool) => tool::find(tool, scene),
        Condition::Predicate(predicate) => (predicate.test)(scene),
    };
    match found {
        Found::No => None,
        Found::Yes(text) => Some((text, false)),
        Found::Unsure(text) => Some((text, true)),
    }
}

/// What the message of a rule ends with that could not tell.
const DOUBT: &str = " (it cannot be told before it runs)";

/// Whether a rule blocked because it could not tell, not because it matched.
pub fn is_unsure(reason: &Reason) -> bool {
    reason.message.ends_with(DOUBT)
}

fn reason(says: Says<'_>, matched: &str, unsure: bool, scene: &Scene<'_>) -> Reason {
    // A rule that cannot tell blocks.
    let verdict = if unsure { Verdict::Block } else { says.verdict };
    let doubt = if unsure { DOUBT } else { "" };
    Reason {
        rule: says.id.to_owned(),
        verdict,
        severity: says.severity,
        message: format!("{}{doubt}", says.reason),
        matched: clip(matched, MATCHED),
        instead: alternative::alternative(&says, matched, scene),
    }
}
