//! Looking for secrets where they are not known to be.

use super::{SEARCHERS, elsewhere, hunts};
use crate::domain::{Action, EffectKind, Target, last_name};
use crate::rules::matcher::{Class, Found, Scene, classify, runs, target_of};

words!("builtin/secrets/searched");

fn search_for_secrets<'a>(scene: &Scene<'a>) -> Found<'a> {
    const WIDE: &[Class] = &[Class::Root, Class::Home, Class::Users];
    if let Action::Search { pattern, path: Some(path), glob, .. } = &scene.view.call.action {
        let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
        let path = if matches!(path.as_str(), "~" | "~/") { home } else { path };
        let target = Target::Path { path: path.to_owned(), glob: false, recursive: false };
        let wide = classify(&target, EffectKind::FileDeletion, &scene.view).any(WIDE);
        let name = glob.as_deref().map(last_name);
        let settings = ["/.config", "/.local/share"].iter().any(|dir| path.strip_prefix(home) == Some(*dir));
        if (wide || settings)
            && (pattern.contains("PRIVATE")
                || hunts(pattern)
                || elsewhere::hunts(pattern)
                || name.is_some_and(hunts))
        {
            return Found::yes(pattern);
        }
    }
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.first(SEARCHERS, |inv| {
        // Files of settings among the manifests of projects: where projects lie, and none is read.
        let of_projects = || {
            let named = |names: &[&str]| {
                inv.args.iter().filter(|arg| names.iter().any(|name| arg.text().contains(name))).count()
            };
            let runs_none =
                !inv.args.iter().any(|arg| arg.text().starts_with("-exec") || arg.text().starts_with("-ok"));
            (runs(inv, &["find", "fd"]) || inv.args.iter().any(|arg| arg.known() == Some("--files")))
                && runs_none
                && named(&["package.json", "pyproject.toml", "go.mod", "Cargo.toml"]) > 1
                && inv
                    .args
                    .iter()
                    .filter(|arg| hunts(&arg.text()))
                    .all(|arg| arg.text().trim_matches(['*', '/']).starts_with(".env"))
        };
        let hunted = inv.args.iter().any(|arg| hunts(&arg.text()));
        if !runs(inv, &["trufflehog", "gitleaks"]) && (!hunted || of_projects()) {
            return false;
        }
        let wide = matches!(inv.program.as_str(), "locate" | "plocate" | "mdfind")
            || inv.operands.iter().any(|arg| {
                let target = target_of(arg, inv.cwd.as_deref());
                classify(&target, EffectKind::FileDeletion, &scene.view).any(WIDE)
            });
        let settings = inv.operands.iter().skip(1).any(|arg| {
            let text = arg.known().unwrap_or_default().trim_end_matches('/');
            let own = ["/.config", "/.local", "/.local/share", "/Library"]
                .iter()
                .any(|dir| home.is_some_and(|home| text.strip_prefix(home).is_some_and(|rest| rest == *dir)));
            text == "/etc" || own
        });
        wide || settings
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
