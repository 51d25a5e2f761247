//! Which condition of which rule a call meets, for people.

use super::{Scene, View, Whose, hit, hit_by, is_disabled, is_on, written};
use crate::domain::WrittenWhen;
use crate::rules::builtin;

/// The condition by which each rule matches that is switched on, with the rule's id.
pub fn conditions(view: &View<'_>) -> Vec<(String, WrittenWhen)> {
    let scene = Scene::new(*view);
    let mut found: Vec<(String, WrittenWhen)> = Vec::new();
    for entry in builtin::entries_for(scene.trigger, None) {
        let rule = entry.rule;
        let is_new = found.last().is_none_or(|(id, _)| id != rule.id);
        if is_new && is_on(rule, view.policy) && hit(entry.when, &scene).is_some() {
            found.push((rule.id.to_owned(), written::write(entry.when)));
        }
    }
    for rule in view.policy.custom_rules.iter().filter(|rule| !is_disabled(&rule.id, view.policy)) {
        let matches =
            |when: &&WrittenWhen| written::lend(when, |when| hit_by(when, &scene, Whose::Custom)).is_some();
        found.extend(rule.when.iter().find(matches).map(|when| (rule.id.clone(), when.clone())));
    }
    found
}
