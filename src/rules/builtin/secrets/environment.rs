//! Files of settings and variables that hold secrets.

use super::{DUMPERS, READERS, WRITTEN, is_diverted, is_thrown_away, kept, spared};
use crate::domain::{Action, Claim, EffectKind, Target, Usage, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{
    Class, Found, Scene, classify, cuts_to_names, flag_value, has_flag, inside, is_env_file, is_settings,
    prints_environment, runs, target_of,
};
use crate::shell::Arg;

words!("builtin/secrets/environment");

fn env_file_shown_alone<'a>(scene: &Scene<'a>) -> Found<'a> {
    match env_file_dumped(scene) {
        Found::No => env_file_shown(scene),
        Found::Yes(_) | Found::Unsure(_) => Found::No,
    }
}

const SOURCES: &[&str] = &["source", "."];

pub(super) fn is_env(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    // Words that are looked for may speak of such a file.
    !arg.text().contains(' ') && is_settings(&target_of(arg, inv.cwd.as_deref()), &scene.view)
}

pub(super) fn shows(inv: &Invocation) -> bool {
    if !runs(inv, READERS) {
        return false;
    }
    let quiet = runs(inv, &["grep", "egrep", "fgrep", "rg", "ag"])
        && (lists::QUIET.iter().any(|flag| has_flag(inv, flag)) || is_thrown_away(inv));
    let names_only = cuts_values(inv);
    let in_place = inv.program == "sed" && has_flag(inv, "-i");
    // `python -m venv .env` makes a directory of that name.
    let makes = inv.args.iter().zip(inv.args.iter().skip(1)).any(|(flag, module)| {
        flag.known() == Some("-m") && matches!(module.known(), Some("venv" | "virtualenv"))
    });
    !quiet && !names_only && !in_place && !makes
}

/// Whether all that a command prints goes to one that takes the values away, or only counts.
pub(super) fn is_cut_behind(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let counts = |other: &Invocation| {
        let quiet = || lists::QUIET.iter().any(|flag| has_flag(other, flag));
        other.program == "wc" || runs(other, &["grep", "egrep", "rg"]) && quiet()
    };
    // `>&2` goes past the pipe.
    let aside = |one: &Invocation| is_diverted(one) || one.text.replace("2>&1", "").contains(">&");
    !runs(inv, &["tee"])
        && !aside(inv)
        && scene.invocations().iter().any(|other| {
            other.pipeline == inv.pipeline
                && other.stage > inv.stage
                && other.operands.len() <= 1
                && (counts(other) || cuts_values(other))
                && scene.invocations().iter().all(|between| {
                    between.pipeline != inv.pipeline
                        || !(inv.stage + 1..other.stage).contains(&between.stage)
                        || runs(between, &["grep", "egrep", "sort", "uniq", "head", "tail", "cat"])
                            && !aside(between)
                })
        })
}

/// `cut -d= -f1`, `sed 's/=.*/=/'` and `awk -F= '{print $1}'`: what stands behind the name is taken away.
pub(super) fn cuts_values(inv: &Invocation) -> bool {
    if cuts_to_names(inv) {
        return true;
    }
    if runs(inv, &["grep", "egrep", "rg"]) {
        return ["-o", "--only-matching"].iter().any(|flag| has_flag(inv, flag))
            && inv.operands.first().and_then(Arg::known).is_some_and(is_pattern_of_names)
            || spared::is_for_plain_keys(inv);
    }
    const TAKEN: &[&str] =
        &["s/=.*/", "s/=.*$/", "s/=.\\+/", "s/=.+/", "s/=.+$/", "s|=.*|", "s|=.*$|", "s#=.*#"];
    let Some(script) = inv
        .operands
        .first()
        .and_then(Arg::known)
        .or_else(|| flag_value(inv, &["-e", "--expression"]).and_then(Arg::known))
        .filter(|_| inv.program != "perl")
        .or_else(|| spared::perl_script(inv))
    else {
        return false;
    };
    match inv.program.as_str() {
        // One command, in whose replacement nothing of what was found is named again.
        "sed" | "gsed" | "perl" => {
            let quiet = has_flag(inv, "-n") && inv.program != "perl";
            // With `-n` only what was changed is printed.
            let script = if quiet { script.strip_suffix('p').unwrap_or_default() } else { script };
            quiet && spared::prints_names(script)
                || TAKEN.iter().filter_map(|front| script.strip_prefix(front)).any(|rest| {
                    let rest = rest.trim_end_matches('g').trim_end_matches(['/', '|', '#']);
                    !rest.contains(['&', '\\', ';', '\n', '/', '|', '#', '$', '@'])
                })
        }
        "awk" | "gawk" | "mawk" => {
            let by_sign = flag_value(inv, &["-F", "--field-separator"]).and_then(Arg::known) == Some("=");
            by_sign && spared::prints_first_field(script)
        }
        _ => false,
    }
}

/// A pattern of `grep -o` that matches no more than the name at the start of a line.
pub(super) fn is_pattern_of_names(pattern: &str) -> bool {
    const CLASSES: &[&str] =
        &["[A-Z_]", "[A-Z0-9_]", "[A-Z_0-9]", "[A-Za-z_]", "[A-Za-z0-9_]", "[A-Z_][A-Z0-9_]", "[^=]"];
    let pattern = pattern.strip_suffix('=').unwrap_or(pattern);
    let Some(body) = pattern.strip_prefix('^') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let listed = body.strip_prefix('(').and_then(|names| names.strip_suffix(')'));
    if listed.unwrap_or(body).split('|').all(|name| !name.is_empty() && name.chars().all(is_name)) {
        return listed.is_some() || !body.contains('|');
    }
    let class = body.trim_start_matches(is_name).strip_suffix(['+', '*']);
    class.is_some_and(|class| CLASSES.contains(&class))
}

/// `export $(grep -v '^#' .env | xargs)`: what it prints becomes variables and is shown to nobody.
pub(super) fn is_exported(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let all = scene.invocations();
    let into = |to: usize| {
        all.get(to).is_some_and(|to| {
            runs(to, &["export", "declare", "typeset", "local"]) || spared::is_environment_of(to)
        })
    };
    all.iter().any(|other| other.pipeline == inv.pipeline && other.feeds.is_some_and(into))
}

pub(super) fn env_file_shown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let env = |path: &str| {
        let target = Target::Path { path: path.to_owned(), glob: false, recursive: false };
        !spared::is_kept_with_code(path)
            && classify(&target, EffectKind::FileRead, &scene.view).has(Class::EnvFile)
    };
    match &scene.view.call.action {
        Action::Read { path } if env(path) => return Found::yes(path),
        Action::Search { kind, pattern, path, glob } if spared::may_show_secrets(*kind, pattern) => {
            let found = [path, glob].into_iter().flatten().find(|named| env(named));
            if let Some(found) = found {
                return Found::yes(found);
            }
        }
        _ => {}
    }
    let exported = || {
        scene
            .invocations()
            .iter()
            .any(|inv| inv.operands.iter().any(|arg| is_env(arg, inv, scene)) && is_exported(inv, scene))
    };
    // `export $(…)` prints nothing.
    let prints = |inv: &&Invocation| prints_environment(inv) && !takes_settings(inv);
    if let Some(inv) = scene.invocations().iter().find(prints)
        && (loads_settings(scene) || exported())
    {
        return Found::yes(&inv.text);
    }
    let found = scene.running(|inv| runs(inv, READERS)).find(|inv| {
        let env_target =
            |target: &Target| is_settings(target, &scene.view) && !spared::is_kept_with_code(target.end());
        // An option of the library that reads it, to a program.
        let is_told = |arg: &Arg| arg.prefix().starts_with("dotenv_config_path=");
        let named = |arg: &Arg| {
            is_env(arg, inv, scene)
                && !is_told(arg)
                && !spared::is_kept_with_code(target_of(arg, inv.cwd.as_deref()).end())
        };
        // Hardly any command names such a file; and last, because it looks at all other commands, what becomes of the output.
        (inv.reads.iter().any(env_target) || inv.operands.iter().any(named))
            && shows(inv)
            && !is_exported(inv, scene)
            && !is_cut_behind(inv, scene)
            && !kept::is_for_program(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether the call makes variables of what stands in a `.env` file.
pub(super) fn loads_settings(scene: &Scene<'_>) -> bool {
    let sourced = || scene.first(SOURCES, |inv| inv.operands.iter().any(|arg| is_env(arg, inv, scene)));
    *scene.loads_settings.get_or_init(|| {
        scene.says(".env") && (scene.first(LOADERS, takes_settings).is_some() || sourced().is_some())
    })
}

const LOADERS: &[&str] = &["export", "declare", "typeset"];

/// `export $(grep -v '^#' .env | xargs)`
pub(super) fn takes_settings(inv: &Invocation) -> bool {
    let words = || inv.text.split([' ', '(', ')', '<', '"', '`', '|']);
    runs(inv, LOADERS)
        && inv.text.contains("$(")
        && words().any(|word| word.contains(".env") && is_env_file(word, false))
}

/// What takes a file line by line, for something else to show.
const LINE_READERS: &[&str] = &["xargs", "read", "mapfile", "readarray"];

/// The settings of a developer's own machine or of the tests, which often hold nothing that is secret.
const OWN_SETTINGS: &[&str] = &["test", "testing", "development", "dev", "ci", "docker", "e2e"];

/// The same, of a file that is neither the project's nor the person's own, as a server's or another account's, or for git or a host to
/// keep: `git commit -m "$(cat .env)"`.
pub(super) fn others_env_dumped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let places = &scene.view.facts.places;
    let own = |path: &str| {
        let dirs = places.roots().chain(places.home.as_deref()).chain(places.temp.iter().map(String::as_str));
        dirs.into_iter().any(|dir| inside(path, dir))
    };
    let others = scene.effects().any(|(effect, classes)| {
        let path = effect.target.text();
        effect.kind == EffectKind::FileRead
            && classes.any(&[Class::EnvFile])
            && path.starts_with('/')
            && !own(path)
    });
    let all = scene.invocations();
    let kept = || {
        let keeps = |to: usize| all.get(to).is_some_and(|inv| runs(inv, &["git", "gh", "glab"]));
        scene.running(|inv| runs(inv, DUMPERS)).any(|inv| inv.feeds.is_some_and(keeps))
    };
    if others || kept() { env_file_dumped(scene) } else { Found::No }
}

fn env_file_dumped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let own = |path: &str| {
        let name = last_name(path);
        name.split('.').any(|part| OWN_SETTINGS.contains(&part))
    };
    let target = |target: &Target| is_settings(target, &scene.view) && !own(target.end());
    let whole = |path: &String| target(&Target::Path { path: path.clone(), glob: false, recursive: false });
    match &scene.view.call.action {
        Action::Read { path } => return if whole(path) { Found::yes(path) } else { Found::No },
        // A tool for files reads it for the model.
        Action::Other { claims, .. } => {
            let read = claims.iter().find_map(|claim| match claim {
                Claim::File { path, usage: Usage::Read } => Some(path).filter(|path| whole(path)),
                Claim::File { .. } | Claim::Command(_) | Claim::Code(_) | Claim::Unread => None,
            });
            if let Some(path) = read {
                return Found::yes(path);
            }
        }
        _ => {}
    }
    let listed = scene.first(LINE_READERS, |inv| match inv.program.as_str() {
        "xargs" => {
            let prints = inv.operands.first().and_then(Arg::known);
            flag_value(inv, &["-a", "--arg-file"])
                .is_some_and(|file| target(&target_of(file, inv.cwd.as_deref())))
                && prints.is_none_or(|program| matches!(program, "echo" | "printf"))
        }
        // `while read line; do echo "$line"; done < .env`, and not a loop over names and values.
        _ => {
            let echoes = |other: &Invocation| other.args.iter().any(Arg::has_unknown) && !is_diverted(other);
            inv.reads.iter().any(target)
                && !scene.command_line().contains("IFS='='")
                && !scene.command_line().contains("IFS==")
                && scene.first(&["echo", "printf"], echoes).is_some()
        }
    });
    if let Some(inv) = listed {
        return Found::yes(&inv.text);
    }
    let found = scene.running(|inv| runs(inv, DUMPERS)).find(|inv| {
        (inv.reads.iter().any(target)
            || inv.operands.iter().any(|arg| target(&target_of(arg, inv.cwd.as_deref()))))
            && shows(inv)
            && !is_exported(inv, scene)
            && !is_cut_behind(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code that shows all that a `.env` file holds.
fn env_file_listed<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| {
        codes.iter().any(|text| {
            if !text.contains("otenv")
                || lists::ENV_EXAMPLES.iter().any(|word| text.contains(&format!("env.{word}")))
            {
                return false;
            }
            let bare: String =
                text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            LISTING_CALLS.iter().any(|all| bare.contains(all)) && !bare.contains("keys(")
        })
    })
}

/// What git ignores, or is called like a file of settings, is listed and shown: `git ls-files -oi --exclude-standard | xargs cat`.
fn ignored_shown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        let lists = |other: &Invocation| {
            let flag = |names: &[&str]| names.iter().any(|name| has_flag(other, name));
            let ignored = other.program == "git"
                && other.sub.first().is_some_and(|sub| sub == "ls-files")
                && flag(&["-i", "--ignored"]);
            let pattern = || other.operands.first().and_then(Arg::known).unwrap_or_default();
            let picked = runs(other, &["grep", "egrep", "rg"])
                && !flag(&["-v"])
                && matches!(pattern().trim_matches(['^', '$', '\\', '.']), "env");
            ignored || picked
        };
        inv.wrappers.iter().any(|name| name == "xargs")
            && runs(inv, DUMPERS)
            && !is_diverted(inv)
            && all
                .iter()
                .any(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && lists(other))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `tar c .env`: all of it on the standard output, which nothing takes but what unpacks it there.
fn env_file_packed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let prints = |inv: &Invocation| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text == "--to-stdout" || text.contains('O') && !text.starts_with("--") && text.len() < 8
        })
    };
    let first = inv.args.first().map(Arg::text).unwrap_or_default();
    let to_file = || {
        let named = flag_value(inv, &["-f", "--file"]).map(Arg::text);
        let bundled = first.trim_start_matches('-').contains('f').then(|| inv.args.get(1).map(Arg::text));
        named.or(bundled.flatten()).is_some_and(|file| file != "-")
    };
    let packs =
        has_flag(inv, "-c") || has_flag(inv, "--create") || !first.starts_with("--") && first.contains('c');
    packs
        && inv.args.iter().any(|arg| is_env(arg, inv, scene))
        && !to_file()
        && !is_diverted(inv)
        && scene
            .invocations()
            .iter()
            .filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
            .all(|other| runs(other, lists::TARS) && prints(other) || runs(other, WRITTEN))
}

/// Code that names a `.env` file to anything but what loads it into variables.
fn env_file_in_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    const NAMES: &[&str] = &[".env'", ".env\"", ".env.local", ".env.production", ".env`"];
    scene.code_where(|codes, inv| {
        let quiet = inv.program.starts_with("python");
        let by_option = has_flag(inv, "-p") || has_flag(inv, "--print") || has_flag(inv, "-pe");
        let named = |text: &str| text.rsplit('/').next().is_some_and(|name| name.starts_with(".env"));
        codes.iter().filter(|text| by_option || !spared::code_prints_names(text, quiet)).any(|text| {
            let names = NAMES.iter().flat_map(|name| text.match_indices(name));
            { names }.any(|(at, _)| {
                let front = text.get(..at).unwrap_or_default();
                // What stands in front of the quote that opens the name.
                let start = front.rfind(['\'', '"', '`']).unwrap_or_default();
                let front = front.get(..start).unwrap_or_default().trim_end();
                let line = front.rsplit(['\n', ';']).next().unwrap_or_default();
                !LOADING_CALLS.iter().any(|load| front.ends_with(load)) && !line.contains("load_dotenv(")
            }) && (by_option || !spared::is_kept(inv, text, &named))
        })
    })
}
