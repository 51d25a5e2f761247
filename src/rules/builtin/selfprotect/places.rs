//! The places that lazaret and the clients live in, changed, moved, linked or read.

mod unpacked;

use super::{ASK, CHANGES, TARS, aimed, around_protected, clients, transcripts, trees, written};
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists};
use crate::rules::matcher::{Class, Found, Scene, classify, has_flag, mentions_protected, runs, target_of};
use crate::shell::Arg;
use unpacked::{home_filled, unpacked};

fn fetched_into_a_protected_place(inv: &Invocation, scene: &Scene<'_>) -> bool {
    downloads::downloads(inv)
        .any(|target| classify(&target, EffectKind::FileCreation, &scene.view).has(Class::Protected))
}

const LINKERS: &[&str] = &["ln", "link", "cp", "mount", "symlink", "mklink"];

const MOVERS: &[&str] = &["mv", "rename", "prename", "mmv"];

const MODE_SETTERS: &[&str] = &["chmod", "chown", "chattr", "chflags", "setfacl"];

words!("builtin/selfprotect/places");

const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "cpio"];

const GIT: &[&str] = &["git"];

fn linked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let makes_link = match inv.program.as_str() {
        "cp" => ["-l", "-s", "--link", "--symbolic-link"].iter().any(|flag| has_flag(inv, flag)),
        "mount" => ["--bind", "-B", "--rbind", "-R", "-o"].iter().any(|flag| has_flag(inv, flag)),
        _ => true,
    };
    // A directory of programs holds the guard's by the way: only a link of that name takes its place.
    let own = inv.operands.iter().any(|arg| arg.text().contains("lazaret"));
    let programs = |arg: &Arg| arg.text().trim_end_matches('/').ends_with("/bin") && !own;
    makes_link && inv.operands.iter().any(|arg| !programs(arg) && around_protected(arg, inv, scene))
}

/// `find` that does nothing with what it finds.
fn only_finds(inv: &Invocation) -> bool {
    const ACTIONS: &[&str] = &["-delete", "-exec", "-ok", "-fprint", "-fls"];
    let acts = |arg: &Arg| {
        arg.known().is_none_or(|arg| ACTIONS.iter().any(|action| arg.starts_with(action)))
            && arg.prefix().starts_with('-')
    };
    inv.program == "find" && !inv.args.iter().any(acts)
}

fn moved<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(|inv| runs(inv, MODE_SETTERS) || runs(inv, MOVERS)).find(|inv| {
        if runs(inv, MODE_SETTERS) {
            let own = |arg: &Arg| arg.text().ends_with("/bin/lazaret");
            return inv.operands.iter().any(|arg| own(arg) || around_protected(arg, inv, scene));
        }
        let count =
            if inv.program == "mv" { inv.operands.len().saturating_sub(1).max(1) } else { usize::MAX };
        runs(inv, MOVERS)
            && inv.operands.iter().take(count).any(|arg| {
                classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view)
                    .has(Class::Protected)
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `w file` in a script of sed.
fn sed_writes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        text.split("w ").skip(1).any(|rest| {
            let file = rest.split_whitespace().next().unwrap_or_default();
            around_protected(&Arg::literal(file.trim_end_matches([';', '}'])), inv, scene)
        })
    })
}

fn piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let lists = |inv: &Invocation| {
        runs(inv, &["ls", "find", "fd", "echo", "printf", "grep", "rg"])
            && inv.operands.iter().any(|arg| around_protected(arg, inv, scene))
    };
    if let Some(taken) =
        all.iter().filter(|inv| inv.feeds.is_some() && lists(inv)).find_map(|inv| all.get(inv.feeds?))
        && runs(taken, TAKERS)
    {
        return Found::yes(&taken.text);
    }
    let line = scene.command_line();
    if ["xargs", "read ", "mapfile ", "readarray ", "=(", "printf -v"].iter().any(|way| scene.says(way)) {
        // What comes by another way than the pipeline: whatever is taken of it is not known.
        let blind = |arg: &Arg| arg.has_unknown() && arg.pieces.len() == 1;
        let taken = scene.first(TAKERS, |inv| inv.operands.iter().any(blind));
        let words = || line.split(|c: char| c.is_whitespace() || "()'\"=;<>|&".contains(c));
        let named = |inv: &Invocation| {
            words().any(|word| word.contains('.') && around_protected(&Arg::literal(word), inv, scene))
        };
        if let Some(taken) = taken.filter(|inv| named(inv) || all.iter().any(lists)) {
            return Found::yes(&taken.text);
        }
    }
    let found = all.iter().find(|inv| {
        let from_list = inv.wrappers.iter().any(|name| matches!(name.as_str(), "xargs" | "parallel"));
        from_list
            && !runs(inv, LOOKERS)
            && !only_finds(inv)
            && all.iter().any(|lister| {
                lister.pipeline == inv.pipeline
                    && lister.stage < inv.stage
                    && lister.operands.iter().any(|arg| around_protected(arg, lister, scene))
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn git_restores(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let writes = inv.sub.first().is_some_and(|sub| WRITING_SUBS.contains(&sub.as_str()));
    let index_only = has_flag(inv, "--cached") || (has_flag(inv, "--staged") && !has_flag(inv, "--worktree"));
    let paths = inv.operands.iter().chain(inv.args.iter().rev().take(1));
    writes && !index_only && { paths }.any(|arg| around_protected(arg, inv, scene))
}
