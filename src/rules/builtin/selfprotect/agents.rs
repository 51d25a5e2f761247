//! The clients: started without their guard, extended, told what to trust.

use super::{ASK, CHANGES, WRITES, clients, written};
use crate::domain::Action;
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{Found, Scene, code_of, runs_code};

words!("builtin/selfprotect/agents");

/// A setting by which an editor's agent asks nobody any more.
fn approvals_off<'a>(scene: &Scene<'a>) -> Found<'a> {
    let on = |text: &str| APPROVAL_SETTINGS.iter().any(|word| text.contains(word)) && text.contains("true");
    let placed = |path: &str| {
        path.ends_with("/settings.json") || path.ends_with(".code-workspace") || path.ends_with("mcp.json")
    };
    match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            if placed(path) && on(content) { Found::yes(path) } else { Found::No }
        }
        _ => {
            let writes = scene
                .effects()
                .any(|(effect, _)| WRITES.contains(&effect.kind) && placed(effect.target.text()));
            let said = |inv: &&Invocation| inv.args.iter().any(|arg| on(&arg.text()));
            let files = &scene.view.survey.written;
            let given = || files.iter().find(|(path, text)| placed(path) && text.known().is_some_and(on));
            if let (true, Some((path, _))) = (writes, given()) {
                return Found::yes(path);
            }
            let found = if writes { scene.invocations().iter().find(said) } else { None };
            Found::from(found.map(|inv| inv.text.as_str()))
        }
    }
}

/// Code that names one of these places and writes files.
fn written_by_code<'a>(scene: &Scene<'a>, places: &[&str]) -> Found<'a> {
    const WRITES: &[&str] =
        &["writeFile", "write_text(", ".write(", "json.dump(", "File.write", "\"w\"", "'w'", "copyFile"];
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        code_of(inv, scene).any(|code| {
            places.iter().any(|place| code.contains(place)) && WRITES.iter().any(|way| code.contains(way))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
