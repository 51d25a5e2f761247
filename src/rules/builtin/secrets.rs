//! Secrets: private keys, credentials, tokens, and what reads them.

mod answers;
pub(super) mod carried;
pub(super) mod elsewhere;
pub(super) mod environment;
mod given;
mod kept;
mod names;
pub(super) mod searched;
pub(super) mod shown;
pub(super) mod spared;
pub(super) mod stores;
pub(super) mod variables;

use super::{flagged, lists, named, predicate, run, scripts, sub};
use crate::domain::{Action, EffectKind, PathKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, Code, Command, EFFECT, Found, Instead, OF_TOKEN, OnEffect, Operand, RULE, Rule, Scene, Trigger,
    When, at, cuts_to_names, find_but, has_flag, inside, runs, runs_shell, target_of,
};
use crate::shell::Arg;
use environment::{env_file_shown, loads_settings, shows};
use given::{home_reviewed, secret_given_away};
pub(crate) use names::is_secret_name;
use names::{hunts, shaped};
pub(super) use names::{is_telling, names_in};
use variables::{
    ENVIRONMENT, VARIABLE_PRINTERS, code_prints, environment_searched, is_diverted, leaves_out,
    printed_variable,
};

words!("builtin/secrets");

const SECRET_READ: OnEffect =
    OnEffect { kinds: &[EffectKind::FileRead], any: &[Class::Secret], except: lists::SECRET_USERS, ..EFFECT };

const PUBLISHERS: &[&str] = &["git", "gh", "glab"];

const DECRYPTERS: &[&str] = &["gpg", "gpg2"];

const CLIPBOARDS: &[&str] = &["xclip", "xsel"];

const REVIEWERS: &[&str] = &["lazaret"];

const PACKERS: &[&str] = &["7z", "7za", "7zz", "rar", "cpio", "pax", "ar"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "secrets.file-read",
        severity: Severity::Critical,
        reason: "reads a private key, a credential or another secret",
        instead: Some(Instead::Advice(
            "use the program that the secret is for, which reads it itself; a public key is in the .pub file",
        )),
        when: &[
            predicate("secret_file_read", Trigger::SECRET_READ, |scene| {
                find_but(&SECRET_READ, scene, |inv, target| {
                    spared::shows_headings(inv, target, scene) || spared::stays_in_project(inv, target, scene)
                })
            }),
            predicate(
                "secret_given_to_git_or_a_host",
                Trigger::programs(PACKERS)
                    .or(Trigger::programs(PUBLISHERS))
                    .or(Trigger::programs(DECRYPTERS)),
                secret_given_away,
            ),
            When::Command(Command {
                operand: Operand::Contains(&["login data", "/cookies", "cookies.sqlite", "key4.db"]),
                ..run(&["sqlite3", "sqlite"])
            }),
            When::Command(Command {
                flags: &[&["-f", "--force"]],
                operand: Operand::Is(&[".env", ".env.local", ".env.production", "id_rsa", "id_ed25519"]),
                ..sub(&["git"], &["add"])
            }),
            predicate(
                "env_file_of_others_dumped",
                Trigger::programs(DUMPERS),
                environment::others_env_dumped,
            ),
            predicate("review_of_a_home", Trigger::programs(REVIEWERS), home_reviewed),
            predicate("secret_moved_or_uploaded", Trigger::programs(carried::CARRIERS), carried::carried),
            predicate("secret_named_to_a_tool", Trigger::TOOL, carried::carried_by_tool),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.home-copied",
        verdict: Verdict::Modify,
        reason: "copies all of a home directory or of the machine, with every key and credential in it",
        instead: Some(Instead::Advice("copy the directories that are needed")),
        when: &[predicate("home_copied_whole", Trigger::programs(carried::COPIERS), carried::home_copied)],
        ..RULE
    },
    Rule {
        id: "secrets.code-reads",
        severity: Severity::Critical,
        reason: "has an interpreter read a private key, a credential or another secret",
        instead: Some(Instead::Advice("use the program that the secret is for, which reads it itself")),
        when: &[
            predicate("secret_named_in_code", Trigger::INTERPRETER, code_names_secret),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["/.ssh/*", "/.ssh')", "/.ssh\")", "/.ssh/')", "/.ssh/\")", "/.aws/*", "/.gnupg/*"],
                    &["open(", "read_text", "readFileSync", "read_bytes", "File.read"],
                ],
            }),
            predicate("code_puts_a_secret_path_together", Trigger::INTERPRETER, code_joins_secret),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.memory",
        severity: Severity::Critical,
        reason: "reads the memory of processes, where their secrets are",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(run(&["gcore", "procdump"])),
            predicate("process_memory_read", Trigger::PATHS.or(Trigger::REDIRECTED), memory_read),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.history-read",
        severity: Severity::Medium,
        reason: "reads what the person typed before, passwords among it",
        instead: Some(Instead::Advice("ask the person which command is meant")),
        when: &[
            When::Effect(OnEffect {
                kinds: &[EffectKind::FileRead],
                at: lists::HISTORIES,
                except: &["wc", "ls", "stat", "du", "test", "[", "rm", "find", "ln", "tail"],
                ..EFFECT
            }),
            predicate("much_of_a_history_shown", Trigger::programs(&["tail"]), much_history),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.input-watched",
        reason: "records what the person types or sees",
        instead: Some(Instead::Advice("ask the person for what is needed")),
        when: &[
            When::Command(run(&["logkeys", "showkey", "lkl", "keysniffer", "xspy", "xkbcat"])),
            When::Command(Command { operand: Operand::Starts(&["test"]), ..run(&["xinput"]) }),
            When::Code(Code { programs: &["osascript"], all: &[&["with hidden answer"]] }),
            When::Code(Code {
                programs: &[],
                all: &[&["/dev/input/event", "/dev/input/by-", "/dev/uinput"]],
            }),
            When::Command(flagged(&["zenity", "kdialog", "yad"], &[&["--password"]])),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["pynput", "pyxhook", "import keyboard", "GlobalKeyboardListener", "uiohook", "iohook"],
                    &["Listener(", "on_press", "keyboard.hook", "keyboard.record", "HookKeyboard"],
                    &["open(", "write", "append", "post("],
                ],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.person-watched",
        verdict: Verdict::Modify,
        reason: "takes a picture of the screen or of the room, or records what is said there",
        instead: Some(Instead::Advice("ask the person for a picture of what is meant")),
        when: &[
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "pyautogui.screenshot(",
                        "ImageGrab.grab(",
                        "mss.mss(",
                        "sct.grab(",
                        "VideoCapture(0",
                        "sd.rec(",
                    ],
                    &["imwrite(", ".save(", "screenshot(", "write(", "post(", "to_png("],
                ],
            }),
            When::Command(run(&["fswebcam", "imagesnap", "arecord", "parecord"])),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.clipboard",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "reads the person's clipboard, which often holds a password",
        instead: Some(Instead::Advice("ask the person to paste what is needed")),
        when: &[
            When::Command(run(&["pbpaste", "wl-paste"])),
            predicate("clipboard_program_told_to_print", Trigger::programs(CLIPBOARDS), clipboard_printed),
            When::Code(Code {
                programs: &[],
                all: &[&["pyperclip.paste(", "clipboard_get(", "clipboard.paste("]],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "secrets.key-changed",
        reason: "overwrites or deletes a private key or a credential",
        instead: Some(Instead::Advice(
            "make a new key under another name, and let the person replace the old one",
        )),
        when: &[predicate("key_changed", Trigger::kinds(SECRET_CHANGE.kinds), key_changed)],
        ..RULE
    },
];

/// A change to a private key or a credential.
const SECRET_CHANGE: OnEffect = OnEffect {
    kinds: &[EffectKind::FileModification, EffectKind::FileDeletion, EffectKind::FileCreation],
    any: &[Class::Secret],
    except: &["ssh-keygen", "chmod", "chown", "touch", "mkdir"],
    ..EFFECT
};

fn code_names_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, inv| {
        codes.iter().any(|text| text.holds_any(NAMED_IN_CODE) && !only_as_text(text, inv, scene))
    })
}

/// Whether code only handles the names of secrets as text, and nothing runs what it prints or writes.
fn only_as_text(code: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    named::only_as_text(&inv.program, code, NAMED_IN_CODE)
        && inv.writes.is_empty()
        && !scene.runs_any(|other| runs_shell(other) || other.program == "eval")
}

fn key_changed<'a>(scene: &Scene<'a>) -> Found<'a> {
    // A list of users or a key store that the project did not have yet.
    let is_new = |path: &str| {
        (path.ends_with("/.htpasswd") || spared::is_key_store(path))
            && scene.view.facts.places.roots().any(|root| inside(path, root))
            && scene.view.facts.path(path).is_some_and(|fact| fact.kind == PathKind::Missing)
    };
    match &scene.view.call.action {
        Action::Write { path, .. } if is_new(path) => Found::No,
        _ => find_but(&SECRET_CHANGE, scene, |_, target| is_new(target.text())),
    }
}

/// More than the last few lines of what the person typed.
fn much_history<'a>(scene: &Scene<'a>) -> Found<'a> {
    const FEW: u32 = 50;
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.first(&["tail"], |inv| {
        let many = |arg: &Arg| {
            let text = arg.text();
            let digits = text.trim_start_matches(['-', 'n', '=', '+']);
            digits.parse::<u32>().is_ok_and(|count| count > FEW)
        };
        inv.args.iter().any(many)
            && inv.args.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), lists::HISTORIES, home))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The strings of code, one behind the other as parts of a path, name a secret.
fn code_joins_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, inv| {
        codes.iter().any(|text| {
            let joined = scripts::strings(text).join("/").replace("//", "/");
            NAMED_IN_CODE.iter().any(|name| joined.contains(name)) && !only_as_text(text, inv, scene)
        })
    })
}

/// Whether a command is given what a variable holds: it is not known, or was read out of a file of settings.
pub(super) fn expands(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let named = || inv.text.contains('$') && !inv.text.contains('\'');
    let preset = || inv.text.contains("${") && inv.text.contains(":-");
    inv.args.iter().any(Arg::has_unknown) || named() && (preset() || loads_settings(scene))
}

/// Nothing of what it prints is shown or kept: thrown away, counted, or one plain field of a state.
pub(super) fn is_only_tried(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const FIELDS: &[&str] = &[
        ".serial",
        ".version",
        ".terraform_version",
        ".lineage",
        ".resources|length",
        ".resources | length",
        ".outputs|keys",
        ".outputs | keys",
    ];
    let mut behind = scene
        .invocations()
        .iter()
        .filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
        .peekable();
    let next = behind.peek().filter(|other| inv.stage.checked_add(1) == Some(other.stage));
    let first =
        |other: &Invocation| other.operands.first().and_then(Arg::known).unwrap_or_default().to_owned();
    let takes_none = |other: &Invocation| {
        runs(other, &["wc"])
            || runs(other, &["grep"]) && (has_flag(other, "-q") || has_flag(other, "-c"))
            || runs(other, &["jq"])
                && runs(inv, &["terraform", "tofu"])
                && FIELDS.contains(&first(other).as_str())
            || runs(inv, &["docker", "podman"]) && cuts_to_names(other)
            || runs(other, &["jq", "grep"])
                && runs(inv, &["vault"])
                && other.operands.len() == 1
                && OF_TOKEN.contains(&first(other).trim_start_matches(".data."))
    };
    match next {
        Some(next) => inv.writes.is_empty() && takes_none(next),
        None => is_thrown_away(inv),
    }
}

/// Whether all that a command prints goes to `/dev/null`.
fn is_thrown_away(inv: &Invocation) -> bool {
    is_diverted(inv) && inv.writes.iter().all(|(target, _)| target.text() == "/dev/null") && !tees(inv)
}

/// `>&2` and the like beside a redirection: it may be shown all the same.
fn tees(inv: &Invocation) -> bool {
    let text = inv.text.replace("2>&1", "");
    text.contains(">&") || text.contains("/dev/tty") || text.matches('>').count() > 2
}

/// It is no value of anything, or of something that shows it: `cat <(echo $TOKEN)`, `echo "$(printenv TOKEN)"`.
pub(super) fn is_shown_through(inv: &Invocation, scene: &Scene<'_>) -> bool {
    /// What is nested deeper is taken for shown.
    const MAX_NESTED: usize = 16;
    let all = scene.invocations();
    let used = |outer: &Invocation| {
        let behind = |other: &&Invocation| other.pipeline == outer.pipeline && other.stage > outer.stage;
        all.iter().filter(behind).any(|other| !runs(other, WRITTEN) || is_diverted(other))
    };
    let mut one = inv;
    for _ in 0..MAX_NESTED {
        let Some(outer) = one.feeds.and_then(|at| all.get(at)) else { return one.feeds.is_none() };
        let kept = outer.args.first().and_then(Arg::known) == Some("-v");
        if kept || !runs(outer, &["cat", "echo", "printf"]) || is_diverted(outer) || used(outer) {
            return false;
        }
        one = outer;
    }
    true
}

fn clipboard_printed<'a>(scene: &Scene<'a>) -> Found<'a> {
    const PRINT: &[&str] = &["-o", "-out", "-b", "--output"];
    let found =
        scene.first(CLIPBOARDS, |inv| inv.args.iter().filter_map(Arg::known).any(|arg| PRINT.contains(&arg)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn memory_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    let memory = |path: &str| {
        matches!(path, "/dev/mem" | "/dev/kmem" | "/proc/kcore")
            || path.strip_prefix("/proc/").is_some_and(|rest| rest.ends_with("/mem"))
    };
    let others = |inv: &Invocation| !runs(inv, &["ls", "stat", "echo", "printf", "grep", "git"]);
    let found = scene.running(others).find(|inv| {
        let bare = |mut text| {
            while let Some(rest) = str::strip_prefix(text, "if=") {
                text = rest;
            }
            text
        };
        let in_args = || inv.args.iter().any(|arg| memory(bare(arg.prefix())));
        let reads = || inv.reads.iter().any(|target| memory(target.text()));
        // `/proc/$(pgrep x)/environ`
        let others = || {
            inv.text.contains('$')
                && inv.text.contains("/proc/$")
                && ["/environ", "/mem"].iter().any(|name| inv.text.contains(name))
                && !inv.text.contains("/meminfo")
                && (!inv.reads.is_empty() || inv.operands.iter().any(Arg::has_unknown))
        };
        in_args() || reads() || others()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
