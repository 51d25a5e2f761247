//! The places that lazaret and the clients live in, changed, moved, linked or read.

mod unpacked;

use super::{ASK, CHANGES, TARS, aimed, around_protected, clients, transcripts, trees, written};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists, predicate};
use crate::rules::matcher::{
    At, Class, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, classify, has_flag,
    mentions_protected, runs, target_of,
};
use crate::shell::Arg;
use unpacked::{home_filled, unpacked};

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "selfprotect.place-changed",
        severity: Severity::Critical,
        reason: "changes what keeps the guard in place: the client's settings or hooks, or lazaret's own files",
        instead: ASK,
        when: &[
            When::Effect(OnEffect {
                kinds: &[
                    EffectKind::FileCreation,
                    EffectKind::FileModification,
                    EffectKind::FileDeletion,
                    EffectKind::SystemModification,
                ],
                any: &[Class::Protected],
                ..EFFECT
            }),
            When::Effect(OnEffect {
                kinds: CHANGES,
                at: &[
                    At::Home(".cargo/bin/lazaret"),
                    At::Abs("/usr/local/bin/lazaret"),
                    At::Abs("/usr/bin/lazaret"),
                    At::Abs("/opt/homebrew/bin/lazaret"),
                ],
                ..EFFECT
            }),
            predicate("settings_in_the_home_of_another", Trigger::kinds(CHANGES), clients::of_another),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.keys-read",
        severity: Severity::Critical,
        reason: "reads lazaret's keys or sealed copies",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[When::Effect(OnEffect {
            kinds: &[EffectKind::FileRead],
            any: &[Class::Keys],
            except: &["ls", "stat"],
            ..EFFECT
        })],
        ..RULE
    },
    Rule {
        id: "selfprotect.tree-read",
        verdict: Verdict::Modify,
        reason: "archives, copies, searches or shares a whole tree in which lazaret's keys or a client's credentials lie",
        instead: Some(Instead::Advice(
            "name the directories that are meant, without the one of lazaret and those of the clients",
        )),
        when: &[predicate(
            "tree_with_keys_read",
            Trigger::programs(trees::READERS).or(Trigger::TOOL),
            trees::read,
        )],
        ..RULE
    },
    Rule {
        id: "quarantine.transcript-read",
        reason: "reads what a client keeps of its subagents: what a quarantined agent read stands in there",
        instead: Some(Instead::Advice(
            "use the cleaned report of the review, which is the answer of its agent",
        )),
        when: &[
            predicate(
                "transcript_of_a_subagent_read",
                Trigger::kinds(&[EffectKind::FileRead]),
                transcripts::read,
            ),
            predicate("transcripts_read_by_code", Trigger::INTERPRETER, transcripts::read_by_code),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-linked",
        severity: Severity::Critical,
        reason: "makes a second way to what keeps the guard in place",
        instead: ASK,
        when: &[predicate("link_to_a_protected_place", Trigger::programs(LINKERS), linked)],
        ..RULE
    },
    Rule {
        id: "selfprotect.home-filled",
        verdict: Verdict::Modify,
        reason: "unpacks or copies a whole tree over the home directory, where the guard's settings lie",
        instead: Some(Instead::Advice("unpack it into a directory of its own and take out what is needed")),
        when: &[
            predicate(
                "tree_over_the_home_directory",
                Trigger::programs(TARS).or(Trigger::programs(FILLERS)),
                home_filled,
            ),
            predicate(
                "tree_put_over_the_home_directory",
                Trigger::programs(aimed::HOME_FILLERS),
                aimed::over_home,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-moved",
        severity: Severity::Critical,
        reason: "moves, fills or empties the directory of what keeps the guard in place",
        instead: ASK,
        when: &[
            predicate(
                "protected_directory_moved",
                Trigger::programs(MOVERS).or(Trigger::programs(MODE_SETTERS)),
                moved,
            ),
            predicate(
                "archive_unpacked_over_a_protected_place",
                Trigger::programs(FILLERS).or(Trigger::programs(UNPACKERS)),
                unpacked,
            ),
            predicate(
                "list_of_protected_places_piped_to_a_change",
                Trigger::programs(TAKERS).or(Trigger::WRAPPED),
                piped,
            ),
            predicate("fetched_into_a_protected_place", Trigger::programs(lists::DOWNLOADERS), |scene| {
                let found = scene.first(lists::DOWNLOADERS, |inv| {
                    downloads::downloads(inv).any(|target| {
                        classify(&target, EffectKind::FileCreation, &scene.view).has(Class::Protected)
                    })
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            predicate("sed_writes_a_protected_place", Trigger::programs(lists::SEDS), sed_writes),
            predicate("archive_members_renamed", Trigger::programs(TARS), written::renamed_members),
            predicate(
                "files_aimed_at_a_protected_directory",
                Trigger::keys(aimed::AIMED)
                    .or(Trigger::programs(aimed::SPLITTERS))
                    .or(Trigger::programs(aimed::COPIERS)),
                aimed::aimed,
            ),
            predicate(
                "patch_applied_in_a_protected_directory",
                Trigger::programs(aimed::PATCHERS),
                aimed::applied,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-restored",
        severity: Severity::Critical,
        reason: "brings an older version of what keeps the guard in place back from git",
        instead: Some(Instead::Command("git diff HEAD -- {last}")),
        when: &[
            predicate("git_writes_a_protected_place", Trigger::programs(GIT), git_restores),
            predicate("patch_of_a_protected_place", Trigger::programs(aimed::PATCHERS), written::patched),
        ],
        ..RULE
    },
    Rule {
        id: "selfprotect.place-mentioned",
        severity: Severity::Critical,
        reason: "hands what keeps the guard in place to a program of which it cannot be told what it does with it",
        instead: Some(Instead::Advice("read the file, and let the person change it")),
        when: &[
            predicate(
                "code_names_a_protected_place",
                Trigger::INTERPRETER.or(Trigger::ACTIVE),
                mentions_protected,
            ),
            predicate(
                "protected_place_named_to_a_writer",
                Trigger::ACTIVE.or(Trigger::programs(written::EDITORS)),
                written::named,
            ),
            predicate("protected_place_mounted", Trigger::programs(written::CONTAINERS), written::mounted),
            predicate("code_takes_a_protected_directory", Trigger::INTERPRETER, written::taken_by_code),
        ],
        ..RULE
    },
];

const LINKERS: &[&str] = &["ln", "link", "cp", "mount", "symlink", "mklink"];

const MOVERS: &[&str] = &["mv", "rename", "prename", "mmv"];

const MODE_SETTERS: &[&str] = &["chmod", "chown", "chattr", "chflags", "setfacl"];

words!("builtin/selfprotect/places");

const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "cpio"];

const GIT: &[&str] = &["git"];

fn linked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(LINKERS, |inv| {
        let makes_link = match inv.program.as_str() {
            "cp" => ["-l", "-s", "--link", "--symbolic-link"].iter().any(|flag| has_flag(inv, flag)),
            "mount" => ["--bind", "-B", "--rbind", "-R", "-o"].iter().any(|flag| has_flag(inv, flag)),
            _ => true,
        };
        // A directory of programs holds the guard's by the way: only a link of that name takes its place.
        let own = inv.operands.iter().any(|arg| arg.text().contains("lazaret"));
        let programs = |arg: &Arg| arg.text().trim_end_matches('/').ends_with("/bin") && !own;
        makes_link && inv.operands.iter().any(|arg| !programs(arg) && around_protected(arg, inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
fn sed_writes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(lists::SEDS, |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text.split("w ").skip(1).any(|rest| {
                let file = rest.split_whitespace().next().unwrap_or_default();
                around_protected(&Arg::literal(file.trim_end_matches([';', '}'])), inv, scene)
            })
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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

fn git_restores<'a>(scene: &Scene<'a>) -> Found<'a> {
    const WRITING: &[&str] = &[
        "checkout",
        "restore",
        "rm",
        "mv",
        "stash",
        "checkout-index",
        "apply",
        "am",
        "read-tree",
        "update-index",
    ];
    let found = scene.first(GIT, |inv| {
        let writes = inv.sub.first().is_some_and(|sub| WRITING.contains(&sub.as_str()));
        let index_only =
            has_flag(inv, "--cached") || (has_flag(inv, "--staged") && !has_flag(inv, "--worktree"));
        let paths = inv.operands.iter().chain(inv.args.iter().rev().take(1));
        writes && !index_only && { paths }.any(|arg| around_protected(arg, inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
