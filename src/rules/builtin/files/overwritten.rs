//! What is written over: devices, system files, files that nobody else has a copy of.

mod kept;

use super::lists_all_of_git;
use crate::domain::{EffectKind, Target};
use crate::rules::builtin::{everyday, lists};
use crate::rules::matcher::{
    At, Class, Found, Scene, flag_value, has_flag, inside, owner, owners, runs, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;
use kept::{data_lost, grows, settings_lost};
pub(super) use kept::{is_cache, is_log};

fn file_overwritten_for_good(inv: &Invocation, scene: &Scene<'_>) -> bool {
    // What was made to be thrown away.
    let temporary = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => {
            scene.view.facts.places.temp.iter().any(|dir| inside(&path, dir) && path != *dir)
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    };
    !inv.operands.is_empty() && !inv.operands.iter().all(temporary)
}

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

words!("builtin/files/overwritten");

/// Programs that overwrite what they delete.
const SHREDDERS: &[&str] = &["shred", "srm", "wipe", "scrub"];

/// Effects that delete an unknown path recursively, with what is known of it.
const DELETERS: &[&str] = &["rm", "unlink", "shred", "truncate", "git"];

/// `rm $(git ls-files)`, `git ls-files | xargs rm`: with no pattern that picks some of them.
fn tracked_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let whole = |inv: &Invocation| {
        let bare = inv.operands.is_empty() || inv.operands.iter().all(|arg| arg.known() == Some("."));
        let listed = match inv.program.as_str() {
            "git" => {
                inv.sub.first().is_some_and(|sub| sub == "ls-files")
                    && !["-o", "--others", "-d", "--deleted", "-i", "--ignored"]
                        .iter()
                        .any(|flag| has_flag(inv, flag))
            }
            "rg" => has_flag(inv, "--files") && !has_flag(inv, "-g") && !has_flag(inv, "--glob"),
            _ => false,
        };
        bare && listed
    };
    let Some(lister) = all.iter().find(|inv| whole(inv)) else { return Found::No };
    let filtered = all.iter().any(|inv| {
        inv.pipeline == lister.pipeline
            && runs(inv, &["grep", "rg", "egrep", "head", "fzf", "awk"])
            && inv.stage > lister.stage
    });
    let fed = lister.feeds.and_then(|at| all.get(at));
    let found = all.iter().find(|inv| {
        let behind = inv.pipeline == lister.pipeline && inv.stage > lister.stage;
        let around = fed.is_some_and(|outer| std::ptr::eq(outer, *inv));
        // `xargs rm < <(git ls-files)`, `while read f; do rm "$f"; done < <(git ls-files)`
        let read = scene.command_line().contains("<(git ls-files")
            && (inv.wrappers.iter().any(|name| name == "xargs") || inv.operands.iter().any(Arg::has_unknown));
        let packs = runs(inv, &["tar", "gtar"]) && has_flag(inv, "--remove-files");
        (runs(inv, &["rm", "unlink", "shred", "truncate"]) || packs) && (behind || around || read)
    });
    Found::from(found.filter(|_| !filtered).map(|inv| inv.text.as_str()))
}

/// `for f in src/*; do > "$f"; done`, `git ls-files | while read f; do : > "$f"; done`.
fn emptied_in_turn<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    for (effect, classes) in scene.effects() {
        let many = match &effect.target {
            Target::Path { path, glob: true, .. } => {
                !(effect.disposable || grows(path, classes) || classes.has(Class::Outside) && is_cache(path))
            }
            Target::UnknownPath { known, .. } if known.is_empty() => all.iter().any(lists_all_of_git),
            // `find ~/Documents -type f -exec cp /dev/null {} \;`
            Target::UnknownPath { known, .. } => {
                let found = || scene.first(&["find", "fd"], |_| true).is_some();
                classes.has(Class::Outside) && !is_cache(known) && !grows(known, classes) && found()
            }
            Target::Path { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
        };
        if !many || !matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification) {
            continue;
        }
        let owner = writer(scene, &effect.target);
        // `cp --parents src/*.h build`: it names the files where they come from.
        let copies = || scene.first(&["cp", "gcp", "rsync"], |_| true).is_some();
        let empties = |inv: &Invocation| leaves_nothing(inv) || is_given_nothing(inv, all);
        if owner.map_or_else(|| !copies(), empties) {
            return Found::yes(owner.map_or(scene.command_line(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// `: | tee src/*.ts`
fn is_given_nothing(inv: &Invocation, all: &[Invocation]) -> bool {
    runs(inv, &["tee", "sponge"])
        && !has_flag(inv, "-a")
        && all.iter().any(|other| {
            other.pipeline == inv.pipeline
                && other.stage.checked_add(1) == Some(inv.stage)
                && !runs(other, &["tee", "cp", "truncate"])
                && leaves_nothing(other)
        })
}

/// The command that writes it; none where nothing but a redirection does.
pub(super) fn writer<'a>(scene: &Scene<'a>, target: &Target) -> Option<&'a Invocation> {
    let redirected = |inv: &Invocation| inv.writes.iter().any(|(to, _)| to.text() == target.text());
    let named = owners(scene, target).filter(|inv| !runs(inv, lists::PRINTERS) || redirected(inv)).last();
    named.or_else(|| {
        let name = target.text().rsplit('/').find(|part| !part.is_empty())?;
        // `sh -c '> data.db'` carries the redirection.
        let names = |arg: &Arg| {
            let before = arg.prefix().split_once(name).map(|(before, _)| before);
            before.is_some_and(|text| !text.trim_end().ends_with('>'))
        };
        scene.invocations().iter().rev().find(|inv| inv.args.iter().any(names))
    })
}

/// A command that writes nothing to what its output goes to, or cuts its operands to nothing.
pub(super) fn leaves_nothing(inv: &Invocation) -> bool {
    let none = |arg: &Arg| matches!(arg.known(), Some("" | "-n" | "/dev/null"));
    match inv.program.as_str() {
        ":" | "true" => true,
        "cat" => !inv.args.is_empty() && inv.args.iter().all(none),
        "echo" | "printf" => inv.args.iter().all(none),
        "truncate" => flag_value(inv, &["-s", "--size"]).and_then(Arg::known) == Some("0"),
        "cp" => inv.operands.first().and_then(Arg::known) == Some("/dev/null"),
        "tee" | "sponge" => inv.reads.iter().any(|target| target.text() == "/dev/null"),
        "dd" => {
            let from = inv.args.iter().find_map(|arg| arg.known()?.strip_prefix("if="));
            // Without a file to read from it waits for what nobody gives it.
            from.map_or(inv.stage == 0 && inv.stdin == Stdin::Inherited && inv.reads.is_empty(), |from| {
                from == "/dev/null"
            })
        }
        "install" | "rsync" | "sort" | "shuf" | "uniq" | "iconv" | "objcopy" => {
            inv.operands.first().and_then(Arg::known) == Some("/dev/null")
        }
        _ => false,
    }
}

/// An edit in place that leaves nothing.
fn lines_deleted(inv: &Invocation) -> bool {
    const NOTHING: &[&str] =
        &["d", "1,$d", "s/.*//", "s/.*//g", "/./d", "/^/d", "/.*/d", "1~1d", "0,$d", "Q", "1Q"];
    let first = inv.operands.first().map(Arg::text).unwrap_or_default();
    match inv.program.as_str() {
        "perl" => {
            // `-pi`, `-ni.bak`: letters of one cluster, but not the name of a module.
            let in_place = inv.args.iter().any(|arg| {
                let letters = arg.prefix().strip_prefix('-').unwrap_or_default();
                let letters = letters.split('.').next().unwrap_or_default();
                !letters.starts_with(['M', 'm', 'I', 'e', '-'])
                    && letters.bytes().all(|b| b.is_ascii_alphanumeric())
                    && letters.contains('i')
            });
            let clears = |arg: &Arg| {
                let code: String = arg.text().split_whitespace().collect();
                matches!(code.trim_end_matches(';'), "undef$_" | "$_=''" | "$_=\"\"" | "$_=undef")
            };
            in_place
                && (has_flag(inv, "-n") && inv.args.iter().any(|arg| arg.known() == Some(""))
                    || inv.args.iter().any(clears))
        }
        "ex" | "vi" | "vim" | "nvim" => {
            let told: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
            let clears = |text: &str| {
                let text = text.trim_start_matches([':', '+']).trim_start_matches("bufdo ");
                let text = text.trim_start_matches("argdo ");
                matches!(
                    text.split('|').next().unwrap_or_default().trim(),
                    "%d" | "1,$d" | "%delete" | "%d _"
                )
            };
            let keeps = |text: &str| {
                ["x", "wq", "w", "wa", "wqa", "xa", "wq!", "x!", "update"]
                    .iter()
                    .any(|word| text.trim_start_matches(':').split('|').any(|part| part.trim() == *word))
            };
            told.iter().any(|text| clears(text)) && told.iter().any(|text| keeps(text))
        }
        "awk" | "gawk" => {
            inv.args.iter().any(|arg| arg.known() == Some("inplace"))
                && inv.args.iter().any(|arg| matches!(arg.known(), Some("0" | "{}" | "")))
        }
        _ => {
            let in_place = inv.flags.iter().any(|flag| flag.name == "-i" || flag.name == "--in-place");
            in_place && inv.operands.len() > 1 && NOTHING.contains(&&*first)
        }
    }
}

fn changed_at<'a>(scene: &Scene<'a>, test: impl Fn(&Target) -> bool) -> Found<'a> {
    for (effect, classes) in scene.effects() {
        if CHANGES.contains(&effect.kind) && classes.has(Class::System) && test(&effect.target) {
            return Found::yes(
                owner(scene, &effect.target).map_or(effect.target.text(), |inv| inv.text.as_str()),
            );
        }
    }
    Found::No
}

fn is_etc(target: &Target) -> bool {
    crate::rules::matcher::at(target, &[At::Abs("/etc"), At::Abs("/private/etc")], None)
}

fn write_system<'a>(scene: &Scene<'a>) -> Found<'a> {
    changed_at(scene, |target| {
        !is_etc(target)
            && crate::rules::matcher::at(target, lists::SYSTEM_CORE, None)
            && !everyday::is_tuned_file(target.text())
            && !is_added_keyring(target.text())
            && !everyday::is_device_setting(target)
    })
}

/// A keyring beside those of the system, which trusts nothing before a list of sources names it.
fn is_added_keyring(path: &str) -> bool {
    let mut name =
        ["/usr/share/keyrings/", "/etc/apt/keyrings/"].iter().filter_map(|dir| path.strip_prefix(dir));
    name.next().filter(|name| !name.contains(['/', '*', '?', '…'])).is_some_and(|name| {
        [".gpg", ".asc"].iter().any(|end| name.ends_with(end))
            && !["debian", "ubuntu"].iter().any(|owner| name.starts_with(owner))
    })
}

fn write_etc<'a>(scene: &Scene<'a>) -> Found<'a> {
    let named = |target: &Target| {
        let mut writers = owners(scene, target).peekable();
        target.text() == "/etc/hosts"
            && writers.peek().is_some()
            && writers.all(|inv| everyday::names_this_machine(inv, scene))
    };
    changed_at(scene, |target| {
        is_etc(target)
            && !crate::rules::matcher::at(target, CRITICAL_ETC, None)
            && !named(target)
            && !is_added_keyring(target.text())
    })
}
