//! Variables whose meaning stands elsewhere: in a file whose text is known, or in settings of git that stand beside them.

use crate::domain::join;
use crate::rules::builtin::git::settings;
use crate::rules::facts::loaded_file;
use crate::rules::matcher::Scene;
use crate::shell::{Arg, Env, expand_defaults, expand_value_defaults, parse};

/// Most settings of git that are looked at.
const MAX_SETTINGS: usize = 32;

/// Whether what a variable has programs load is judged by itself: the text of a file, as the command that runs it; settings of git.
pub(super) fn is_judged(scene: &Scene<'_>, name: &str, value: &str) -> bool {
    match name {
        "GIT_CONFIG_COUNT" => counted_settings(scene, plain(value)),
        "GIT_CONFIG_PARAMETERS" => listed_settings(scene, value),
        _ => loaded_file(name, plain(value)).is_some_and(|(_, file)| is_known(scene, file)),
    }
}

fn plain(value: &str) -> &str {
    value.trim_matches(['"', '\''])
}

/// Whether the text of a file is known, and is the only one that it has before, in and after the call.
fn is_known(scene: &Scene<'_>, file: &str) -> bool {
    let view = &scene.view;
    let here = ["$PWD/", "${PWD}/"].iter().find_map(|front| file.strip_prefix(front));
    let file = here.unwrap_or(file);
    let moved = scene.invocations().iter().any(|inv| inv.cwd.as_deref() != Some(view.cwd));
    if file.is_empty()
        || file.contains(['$', '`', '*', '?', '~', '<', '\\', '[', '{'])
        || moved && (here.is_some() || !file.starts_with('/'))
    {
        return false;
    }
    let path = join(view.cwd, file);
    let before = view.facts.content(&path);
    let mut written =
        view.survey.written.iter().filter(|(other, _)| *other == path).map(|(_, text)| text.known());
    match (written.next(), written.next()) {
        (Some(Some(text)), None) => match before {
            Some(Some(before)) => before == text,
            Some(None) => view.facts.is_missing(&path),
            None => false,
        },
        (None, _) => {
            before.flatten().is_some()
                && !view.survey.effects.iter().any(|effect| {
                    effect.kind != crate::domain::EffectKind::FileRead && effect.target.text() == path
                })
        }
        (Some(_), _) => false,
    }
}

/// Whether each setting that numbered variables hold is known and may be set.
fn counted_settings(scene: &Scene<'_>, count: &str) -> bool {
    const FRONT: &str = "GIT_CONFIG_";
    let Some(count) = count.parse::<usize>().ok().filter(|count| *count <= MAX_SETTINGS) else {
        return false;
    };
    let mut set: Vec<(String, Arg)> = Vec::new();
    for text in scene.texts() {
        let script = parse(text);
        let found = set.len();
        for simple in &script.commands {
            let assigns = simple.assigns.iter().filter(|assign| assign.name.starts_with(FRONT));
            set.extend(
                assigns.map(|one| (one.name.clone(), expand_value_defaults(&one.value, &Env::default()))),
            );
            let words = simple.words.iter().flat_map(|word| expand_defaults(word, &Env::default()));
            set.extend(words.filter(|word| word.prefix().starts_with(FRONT)).map(|word| {
                let (name, value) = match word.known().and_then(|word| word.split_once('=')) {
                    Some((name, value)) => (name.to_owned(), Arg::literal(value)),
                    None => (word.prefix().split('=').next().unwrap_or_default().to_owned(), word.clone()),
                };
                (name, value)
            }));
        }
        // Each place that names one is understood.
        if text.matches(FRONT).count() != set.len() - found {
            return false;
        }
    }
    let values =
        |name: String| set.iter().filter(move |(other, _)| *other == name).map(|(_, value)| value.known());
    (0..count).all(|at| {
        let (mut keys, mut held) = (values(format!("{FRONT}KEY_{at}")), values(format!("{FRONT}VALUE_{at}")));
        match (keys.next(), keys.next(), held.next(), held.next()) {
            (Some(Some(key)), None, Some(Some(value)), None) => {
                !settings::is_stopped(scene, (key, Some(value)), scene.view.cwd)
            }
            _ => false,
        }
    })
}

/// `GIT_CONFIG_PARAMETERS="'key=value' …"`: the same.
fn listed_settings(scene: &Scene<'_>, value: &str) -> bool {
    let Some(list) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else { return false };
    let each: Option<Vec<&str>> = list
        .split_whitespace()
        .map(|one| {
            one.strip_prefix('\'')?.strip_suffix('\'').filter(|one| !one.contains(['\'', '$', '`', '\\']))
        })
        .collect();
    each.is_some_and(|all| {
        all.iter().all(|one| {
            let setting = one.split_once('=').unwrap_or((one, "true"));
            !settings::is_stopped(scene, (setting.0, Some(setting.1)), scene.view.cwd)
        })
    })
}
