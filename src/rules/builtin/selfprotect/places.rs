//! The places that lazaret and the clients live in, changed, moved, linked or read.

use super::{ASK, CHANGES, TARS, aimed, around_protected, clients, transcripts, trees, unpacks, written};
use crate::domain::{EffectKind, Severity, Target, Verdict, join};
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists, operations, predicate};
use crate::rules::matcher::{
    At, Class, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, classify, flag_value,
    has_flag, inside, mentions_protected, runs, target_of,
};
use crate::shell::Arg;

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

fn unpacked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let over = |dest: &Arg, inv: &Invocation| {
        around_protected(dest, inv, scene)
            && !aimed::is_shared(dest, inv, scene)
            && !takes_others(dest, inv, scene)
    };
    match filled(scene, over) {
        Found::No => Found::from(piped_archive(scene).map(|inv| inv.text.as_str())),
        found => found,
    }
}

/// `tar c .claude | tar x -C there`: the members by the names that they were put in with.
fn piped_archive<'a>(scene: &Scene<'a>) -> Option<&'a Invocation> {
    let here = Arg::literal(".");
    scene.first(UNPACKERS, |inv| {
        let Target::Path { path: dest, .. } =
            target_of(flag_value(inv, &["-C", "--directory", "-D"]).unwrap_or(&here), inv.cwd.as_deref())
        else {
            return false;
        };
        let packs = |other: &&Invocation| {
            other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, TARS)
        };
        let lands = |arg: &Arg| around_protected(&Arg::literal(&join(&dest, &arg.text())), inv, scene);
        unpacks(inv) && scene.invocations().iter().filter(packs).any(|other| other.operands.iter().any(lands))
    })
}

fn home_filled<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(home) = scene.view.facts.places.home.as_deref() else { return Found::No };
    let absolute = |inv: &Invocation| {
        let bundled =
            inv.args.first().is_some_and(|arg| !arg.prefix().starts_with('-') && arg.prefix().contains('P'));
        unpacks(inv) && (bundled || has_flag(inv, "-P") || has_flag(inv, "--absolute-names"))
    };
    if let Some(inv) = scene.first(TARS, absolute) {
        return Found::yes(&inv.text);
    }
    filled(scene, |dest, inv| match target_of(dest, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => {
            // Everybody unpacks in a temporary directory, also where a home lies below it.
            inside(home, &path) && !scene.view.facts.places.temp.contains(&path)
                || aimed::is_shared(dest, inv, scene)
                    && around_protected(dest, inv, scene)
                    && !takes_others(dest, inv, scene)
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    })
}

/// `tar xzf rel.tgz -C ~/.local/bin rel/tool --strip-components=1`: what is taken out is named, and none of it lands on what is
/// protected.
fn takes_others(dest: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((members, stripped)) = members_of(inv) else { return false };
    let Target::Path { path: dest, glob: false, .. } = target_of(dest, inv.cwd.as_deref()) else {
        return false;
    };
    let lands_apart = |member: &&str| {
        let mut parts = member.split('/').filter(|part| !matches!(*part, "" | "."));
        let rest = parts.by_ref().skip(stripped).collect::<Vec<_>>().join("/");
        !rest.is_empty()
            && !member.starts_with('/')
            && !member.contains("..")
            && !around_protected(&Arg::literal(&join(&dest, &rest)), inv, scene)
    };
    !members.is_empty() && members.iter().all(lands_apart)
}

/// The members that `tar` is told to take out, and how many directories it leaves out in front; nothing where anything else is
/// said that may change their names.
fn members_of(inv: &Invocation) -> Option<(Vec<&str>, usize)> {
    const STRIP: &str = "--strip-components";
    let mut words = operations::known_words(inv).into_iter();
    if !runs(inv, TARS) || words.len() != inv.args.len() {
        return None;
    }
    let bundle = words.next()?;
    let letters = bundle.trim_start_matches('-');
    if bundle.starts_with("--") || !letters.contains('x') || !letters.bytes().all(|b| b"xzjJvfk".contains(&b))
    {
        return None;
    }
    if letters.contains('f') {
        words.next()?;
    }
    let (mut members, mut stripped) = (Vec::new(), 0);
    while let Some(word) = words.next() {
        match word {
            "-C" | "--directory" => drop(words.next()?),
            STRIP => stripped = words.next()?.parse().ok()?,
            _ if word.starts_with(STRIP) => stripped = word.get(STRIP.len() + 1..)?.parse().ok()?,
            _ if word.starts_with('-') || word.contains(['*', '?', '[']) => return None,
            _ => members.push(word),
        }
    }
    Some((members, stripped))
}

/// A tree unpacked or copied into a directory for which `test` holds.
fn filled<'a>(scene: &Scene<'a>, test: impl Fn(&Arg, &Invocation) -> bool) -> Found<'a> {
    let here = Arg::literal(".");
    let found = scene.first(FILLERS, |inv| {
        let whole = |arg: &Arg| arg.prefix().ends_with("/.") || arg.prefix().ends_with('/') || arg.has_glob();
        match inv.program.as_str() {
            "rsync" if has_flag(inv, "-n") || has_flag(inv, "--dry-run") => false,
            "cp" | "rsync" | "ditto" => match inv.operands.split_last() {
                Some((dest, sources)) => {
                    let tree = has_flag(inv, "-T") || has_flag(inv, "--no-target-directory");
                    (sources.iter().any(whole) || (tree && inv.program == "cp")) && test(dest, inv)
                }
                None => false,
            },
            "dpkg" | "dpkg-deb" => {
                const UNPACKS: &[&str] = &["-x", "-X", "-R", "--extract", "--vextract", "--raw-extract"];
                let told = inv.args.iter().any(|arg| arg.known().is_some_and(|arg| UNPACKS.contains(&arg)));
                told && inv.args.len() > 2 && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
            "python" | "python3" => {
                let unpacks = inv.args.iter().any(|arg| matches!(arg.known(), Some("zipfile" | "tarfile")))
                    && inv.args.iter().any(|arg| matches!(arg.known(), Some("-e" | "--extract")));
                unpacks && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
            _ => {
                let dest = flag_value(inv, &["-C", "--directory", "-d", "-o", "-D"]);
                unpacks(inv) && test(dest.unwrap_or(&here), inv)
            }
        }
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
    if ["xargs", "read ", "mapfile ", "readarray ", "=(", "printf -v"].iter().any(|way| line.contains(way)) {
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
