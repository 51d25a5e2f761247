//! What agents are told in files that they read by themselves. Documentation of dangers is not an instruction.

use super::judge::{self, Place};
use super::worded::CONCEALS;
use super::{extract, harms, wishes, worded};
use crate::domain::Verdict;
use crate::rules::builtin::database;
use crate::rules::commands;
use crate::rules::matcher::Scene;

/// Whether an agent takes a file of that name for what it is to do.
pub(super) fn is_read_by_agents(lower: &str) -> bool {
    let name = lower.rsplit('/').next().unwrap_or_default();
    let named = matches!(
        name,
        "claude.md"
            | "claude.local.md"
            | "agents.md"
            | "agent.md"
            | "gemini.md"
            | "skill.md"
            | ".cursorrules"
            | ".windsurfrules"
            | ".clinerules"
            | "copilot-instructions.md"
            | ".goosehints"
            | "codex.md"
            | "warp.md"
            | "crush.md"
            | ".roorules"
            | ".roomodes"
            | ".augment-guidelines"
    );
    let placed = [
        ".claude/commands/",
        ".claude/agents/",
        ".claude/skills/",
        ".claude/output-styles/",
        ".cursor/rules/",
        ".opencode/",
        ".windsurf/",
        "/.clinerules/",
        ".github/instructions/",
        ".github/prompts/",
        ".claude/rules/",
        ".codex/",
        ".kilocode/",
        ".roo/",
        ".junie/",
        ".amazonq/rules/",
        ".augment/rules/",
        ".github/agents/",
    ]
    .iter()
    .any(|dir| lower.contains(dir));
    named || placed && (name.ends_with(".md") || name.ends_with(".mdc") || name.ends_with(".txt"))
}

/// Words with which a text forbids or describes.
pub(super) const FORBIDS: &[&str] = &[
    "never",
    "don't",
    "do not",
    "avoid",
    "forbid",
    "block",
    "flag",
    "reject",
    "refuse",
    "dangerous",
    "must not",
    "detect",
    "warn",
    "prevent",
    "instead of",
    "deny",
    "no `",
    "not run",
    "prohibited",
    "unsafe",
    "malicious",
    "e.g.",
    "such as",
    "like `",
];

/// What hurries an order on or is a part of the settings, although it has the words of a ban.
pub(super) const URGING: &[&str] = &[
    "hooks block",
    "do not ask",
    "don't ask",
    "never ask",
    "do not tell",
    "don't tell",
    "never tell",
    "do not mention",
    "don't mention",
    "do not stop",
    "do not hesitate",
    "do not wait",
    "do not report",
    "do not inform",
    "ignore any warnings",
    "ignore the warnings",
    "ignore all warnings",
    "ignore warnings",
    "ignore every warning",
];

/// Words with which a text orders.
const ORDERS: &[&str] = &[
    "run",
    "execute",
    "exec ",
    "invoke",
    "start by",
    "paste",
    "type ",
    "use `",
    "call ",
    "launch",
    "do `",
    "issue ",
    "please do",
    "do:",
];

/// Words with which a text asks about a command.
pub(super) const ASKS: &[&str] = &[
    "where ",
    "explain",
    "why ",
    "find ",
    "search",
    "review",
    "document",
    "describe",
    "whether",
    "test that",
    "tests",
    "look for",
    "grep",
    "list ",
];

/// Ways to say that the person is not to know.
const HIDES: &[&str] = &[
    "without telling",
    "do not tell the user",
    "don't tell the user",
    "never tell the user",
    "without informing",
    "do not inform",
    "don't inform",
    "without the user",
    "do not mention",
    "don't mention this",
    "never mention",
    "secretly",
    "silently send",
    "hide this from",
    "without asking",
    "do not reveal",
    "keep this hidden",
    "do not show the user",
    "not tell the human",
    "without notifying",
    "do not notify",
    "do not alert",
    "never report it",
    "never report this",
    "do not report it",
    "do not report this",
    "keep this secret from",
    "keep it secret from",
    "no need to mention",
];

/// Ways to take the agent away from whom it works for.
const OVERRIDES: &[&str] = &[
    "ignore all previous instructions",
    "ignore previous instructions",
    "disregard all previous",
    "disregard previous instructions",
    "ignore your instructions",
    "ignore the above instructions",
    "override your instructions",
    "forget all previous",
    "ignore all prior",
    "you are now in developer mode",
    "new system prompt",
];

/// Things that no instruction has to do with.
const SECRETS: &[&str] = &[
    "id_rsa",
    "id_ed25519",
    ".ssh/",
    ".aws/credentials",
    "environment variables",
    "process.env",
    "api keys",
    "api_key",
    ".env file",
    "contents of .env",
    "credentials",
    "secrets",
    "private key",
    "env to",
    "tokens",
];
/// Files of keys, which no instruction needs.
const KEYS: &[&str] =
    &["id_rsa", "id_ed25519", ".aws/credentials", "contents of .env", "~/.netrc", "~/.git-credentials"];
const SENDS: &[&str] = &["exfiltrate", "send ", "upload", "post ", "curl", "transmit", "leak"];

/// Words with which a text forbids what stands behind them.
const FORBIDS_DEED: &[&str] = &[
    "never disable",
    "don't disable",
    "do not disable",
    "must not",
    "not be disabled",
    "don't delete",
    "do not delete",
    "never delete",
    "never remove",
    "do not remove",
    "don't remove",
    "never bypass",
    "not bypass",
    "how to",
    "if you",
    "to disable",
];

/// Whether a line orders to switch off what watches over the agent.
fn unguards(line: &str) -> bool {
    const DEEDS: &[&str] = &[
        "disable",
        "turn off",
        "switch off",
        "bypass",
        "remove",
        "delete",
        "deleting",
        "removing",
        "uninstall",
        "kill",
        "stop",
        "ignore",
        "evade",
        "circumvent",
    ];
    const GUARDS: &[&str] = &[
        "lazaret",
        "the safety hook",
        "all safety hooks",
        "the hook by",
        "the guard hook",
        "the pretooluse hook",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ];
    let skips =
        line.contains("--dangerously-skip-permissions") && HIDES.iter().any(|word| line.contains(word));
    let words = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|front| front.chars().next_back());
            !before.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    };
    let orders = DEEDS.iter().any(|deed| {
        line.match_indices(deed).take(8).any(|(at, _)| {
            let behind: String = line.get(at + deed.len()..).unwrap_or_default().chars().take(60).collect();
            let behind = behind.split(['.', ',', ':']).next().unwrap_or_default().to_owned() + &behind;
            words(line, deed) && GUARDS.iter().any(|guard| behind.contains(guard))
        })
    });
    skips
        || orders
            && [
                "always",
                "then continue",
                "first",
                "before",
                "by deleting",
                "by removing",
                "and do not",
                "so that",
                "must",
            ]
            .iter()
            .any(|word| line.contains(word))
}

/// Whether a line orders to lose or take what no agent is to touch, in words and without a command.
fn ruins(line: &str) -> bool {
    const DEEDS: &[&str] = &["delete ", "wipe ", "erase ", "destroy ", "remove ", "format ", "overwrite "];
    const ALL: &[&str] = &[
        "everything in the home directory",
        "everything in my home directory",
        "the entire home directory",
        "the whole home directory",
        "all files in the home directory",
        "all files on the system",
        "all files on this machine",
        "all files on the disk",
        "the entire disk",
        "the whole disk",
        "the entire file system",
        "the entire filesystem",
        "the whole filesystem",
        "the root filesystem",
        "the production database",
        "the entire production",
        "all backups",
        "all databases",
        "the boot partition",
        "the entire drive",
        "the hard drive",
        "/etc/passwd",
        "the .git directory",
        "the .git folder",
        "the directory .git",
        "the folder .git",
        "the git history",
        "the whole git history",
        "the entire git history",
    ];
    DEEDS.iter().any(|deed| {
        line.match_indices(deed).take(8).any(|(at, _)| {
            let front = line.get(..at).unwrap_or_default().trim_end();
            let begins = front.is_empty()
                || front.ends_with(['.', ':', ',', ';', '-', '*', ')'])
                || front.ends_with("please")
                || front.ends_with("then")
                || front.ends_with("and")
                || front.ends_with("now");
            let behind = line.get(at + deed.len()..).unwrap_or_default();
            begins && ALL.iter().any(|all| behind.starts_with(all))
        })
    })
}

pub(super) fn verdict(scene: &Scene<'_>, text: &str) -> Verdict {
    let lower = worded::of_person(&text.to_lowercase());
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    let unseen = text
        .chars()
        .any(|c| matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    let mut worst = if unseen { Verdict::Modify } else { Verdict::Allow };
    let banned = bans(text);
    for (command, run, line) in extract::quoted(text) {
        let said = line.to_lowercase();
        let forbidden = FORBIDS.iter().any(|word| said.contains(word))
            && !HIDES.iter().any(|word| said.contains(word))
            || banned.contains(&line.as_str());
        let bad = judge::command(scene, &command, Place::Hook);
        if run {
            worst = worst.max(bad).max(judge::unasked(scene, &command));
        } else if !forbidden && bad > Verdict::Allow && orders(&line) {
            let sure = has(HIDES)
                || has(OVERRIDES)
                || judge::command(scene, &command, Place::Script) == Verdict::Block;
            worst = worst.max(if sure { Verdict::Block } else { Verdict::Modify });
        }
    }
    // In one sentence, so that a list of what is forbidden does not come together by chance.
    let sentences = lower.split(['\n', ';']).filter(|line| line.len() < 4096);
    let mut before = "";
    for line in sentences {
        let in_line = |list: &[&str]| list.iter().any(|word| line.contains(word));
        let back = harms::points_back(&wishes::spaced(line));
        let named = if back { format!("{before} {line}") } else { line.to_owned() }.replace('`', "");
        let robs = SECRETS.iter().any(|word| named.contains(word))
            && in_line(SENDS)
            && judge::foreign_host(scene, line);
        // What is to be done with a key that nobody is to hear of.
        let unseen = in_line(CONCEALS)
            && (in_line(KEYS)
                || in_line(SECRETS) && judge::foreign_host(scene, line)
                || bare_commands(line).any(|command| judge::refused(scene, command)));
        let forbids = in_line(FORBIDS) && !in_line(HIDES) && !in_line(OVERRIDES);
        if robs && !forbids || unseen {
            worst = Verdict::Block;
        }
        if runs_around(line) {
            worst = Verdict::Block;
        }
        if !forbids {
            // What is ordered once and for all is worth a look, where no agent is to be asked for it at all.
            let orders = worded::sentences(line);
            let ordered = |said: &String| wishes::verdict(scene, said, before) == Verdict::Block;
            let deed = orders.iter().any(ordered) && !banned.iter().any(|item| item.to_lowercase() == line);
            let said =
                wishes::strangers_run(scene, line).max(if deed { Verdict::Modify } else { Verdict::Allow });
            let hidden = said > Verdict::Allow && has(CONCEALS);
            worst = worst.max(if hidden { Verdict::Block } else { said });
        }
        if unguards(line) && !in_line(FORBIDS_DEED) {
            worst = Verdict::Block;
        }
        before = if forbids { "" } else { line };
        let pipes = line.contains("| sh") || line.contains("| bash");
        let ordered = in_line(ORDERS) && !forbids && !line.contains('`') && !in_line(ASKS);
        if ordered && bare_commands(line).any(|command| judge::refused(scene, command)) {
            worst = worst.max(Verdict::Block);
        }
        if in_line(OVERRIDES) && !line.contains(['"', '`']) && !forbids || in_line(HIDES) && pipes && !forbids
        {
            worst = worst.max(if pipes || robs { Verdict::Block } else { Verdict::Modify });
        }
    }
    // Settings in front of a command of the client's.
    let free = text.starts_with("---")
        && text.lines().take(16).any(|line| {
            line.starts_with("allowed-tools:") && (line.contains("Bash(*)") || line.contains("Bash(*:*)"))
        });
    worst.max(if free { Verdict::Modify } else { Verdict::Allow })
}

/// The items of lists that a line or a heading with words of a ban announces.
fn bans(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut open = false;
    for line in text.lines().take(4096) {
        let start = line.trim_start();
        if start.is_empty() {
            continue;
        }
        if start.starts_with(['-', '*', '•']) || step_of(line).is_some() {
            if open {
                out.push(line);
            }
            continue;
        }
        let lower = start.to_lowercase();
        let announces = lower.trim_end().ends_with(':') || lower.starts_with('#');
        open = announces && FORBIDS.iter().any(|word| lower.contains(word));
    }
    out
}

/// What an order to another agent deserves: its commands, in backquotes, in fences, or behind the word that orders them.
pub(super) fn order(scene: &Scene<'_>, text: &str) -> Verdict {
    let mut worst = if verdict(scene, text) == Verdict::Block { Verdict::Block } else { Verdict::Allow };
    let mut fenced = false;
    // A fence and nothing else says what is to be run.
    let bare = text.trim();
    let mut ordered = bare.starts_with("```") && bare.ends_with("```") && bare.matches("```").count() == 2;
    let mut steps = true;
    let mut listed = false;
    for line in text.lines().take(2048) {
        if worst == Verdict::Block {
            break;
        }
        let lower = line.to_lowercase();
        if lower.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            if ordered {
                worst = worst.max(sure(scene, line));
            }
            continue;
        }
        let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
        let said = URGING.iter().fold(lower.clone(), |said, phrase| said.replace(phrase, " "));
        let point = line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* "));
        let step = step_of(line).or(point.filter(|_| listed));
        // What a list of bans holds is none of what is ordered.
        let banned = !steps && (step.is_some() || point.is_some());
        let quiet = !banned && !FORBIDS.iter().any(|word| said.contains(word)) && !has(ASKS);
        if !lower.trim().is_empty() {
            ordered = quiet && has(ORDERS);
        }
        let fetches = has(&["fetch ", "get ", "open ", "request ", "query ", "curl ", "read "]);
        let robs = lower.contains("://") && judge::takes_credentials(&lower) && fetches;
        let metadata = lower.contains("169.254.169.254") || lower.contains("metadata.google.internal");
        if quiet && (ruins(&lower) || robs && metadata) {
            worst = Verdict::Block;
        }
        // A command and nothing in front of it, or the number of a step where no list of bans was announced.
        if step.is_none() && point.is_none() && !lower.trim().is_empty() {
            steps = quiet;
            listed = quiet && has(&["steps", "do the following", "run these", "run the following"]);
        }
        if quiet && deeds(scene, line, &lower) {
            worst = Verdict::Block;
        }
        let bare = step.filter(|_| steps).unwrap_or(line);
        if quiet && begins_a_command(bare) {
            worst = worst.max(sure(scene, until_said(bare)));
        }
        if (quiet || lower.contains("me. ") || lower.contains("my command")) && gets_around(&lower) {
            worst = Verdict::Block;
        }
        // `Drop the database with …`: the command that the deed is to be done with.
        for word in ["with `", "using `", "via `", "then `", "first `", "next `", "finally `"] {
            for (at, _) in lower.match_indices(word).take(8).filter(|_| quiet) {
                let rest = line.get(at + word.len()..).unwrap_or_default();
                worst = worst.max(sure(scene, rest.split('`').next().unwrap_or_default()));
            }
        }
        if !(quiet && has(ORDERS)) {
            continue;
        }
        for part in line.split('`').skip(1).step_by(2).filter(|_| orders(line)) {
            worst = worst.max(sure(scene, part));
        }
        for word in ["run ", "running ", "execute ", "run: ", ": ", "command ", "directory: ", "then "] {
            for (at, _) in lower.match_indices(word).take(8) {
                let rest = line.get(at + word.len()..).unwrap_or_default();
                worst = worst.max(sure(scene, until_said(rest)));
            }
        }
    }
    worst
}

/// Words that begin an order behind which a command stands.
const BEGINS: &[&str] = &[
    "open ",
    "start ",
    "terminate",
    "reboot ",
    "shut down ",
    "stop ",
    "connect ",
    "use ",
    "try ",
    "delete ",
    "remove ",
    "wipe ",
    "erase ",
    "clean ",
    "clear ",
    "overwrite ",
    "destroy ",
    "reset ",
    "drop ",
    "purge ",
    "empty ",
    "kill ",
    "force push ",
    "force-push ",
    "for each ",
    "for every ",
    "free ",
];
/// Whether a line may be a command as a whole. A sentence with something in backquotes is none.
fn begins_a_command(line: &str) -> bool {
    let line = line.trim_start();
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    // A sentence that goes on in a line of its own: `at that index` sets no time.
    let time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            || ["now", "noon", "midnight", "teatime", "tomorrow", "today", "next"].contains(&word)
    };
    if first == "at" && !words.next().is_some_and(time) {
        return false;
    }
    line.starts_with(|c: char| c.is_ascii_lowercase())
        && (!line.contains('`') || first.contains('`') || commands::find(first).is_some())
}

/// How a sentence takes up what was named in front of it.
const BACK: &[&str] = &[" it", " this", " that", " them", " these", " command"];

/// Whether a line orders in its own words, and does not only tell what somebody else runs.
fn orders(line: &str) -> bool {
    /// Words of an order when somebody tells what is done.
    const TOLD: &[&str] = &[
        "runs ",
        "executes ",
        "calls ",
        "launches ",
        "issues ",
        "invokes ",
        "the call ",
        "a call ",
        "each call ",
        "every call ",
        "tool call ",
    ];
    // The quotes themselves stay: `` use `x` ``.
    let own: Vec<&str> = line.split('`').step_by(2).collect();
    let said = TOLD.iter().fold(own.join("``").to_lowercase(), |said, told| said.replace(told, " "));
    ORDERS.iter().any(|word| said.contains(word))
}

/// A sentence that orders a deed which has a name, and what it is done to or with.
fn deeds(scene: &Scene<'_>, line: &str, lower: &str) -> bool {
    let begins = |word: &str| {
        lower.match_indices(word).take(8).any(|(at, _)| {
            let front = lower.get(..at).unwrap_or_default().trim_end();
            front.is_empty()
                || front.ends_with(['.', ':', ',', ';', '-', '*', ')'])
                || ["please", "then", "and", "now"].iter().any(|last| front.ends_with(last))
        })
    };
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    let commands = || {
        let quoted = line.split('`').skip(1).step_by(2);
        let behind = [": ", "with ", "using ", "start ", "try ", "via "].into_iter().flat_map(|word| {
            let found = lower.match_indices(word).take(4);
            { found }.filter_map(move |(at, _)| line.get(at + word.len()..)).map(until_said)
        });
        quoted.chain(behind)
    };
    // An order stands in front of its command, or takes it up again.
    let order = BEGINS.iter().filter(|word| begins(word)).filter_map(|word| lower.find(*word)).min();
    let named = order.and_then(|at| lower.get(at..)).is_some_and(|rest| {
        rest.contains('`') || !line.contains('`') || BACK.iter().any(|word| rest.contains(word))
    });
    if named && commands().any(|one| sure(scene, one) == Verdict::Block) {
        return true;
    }
    let statement = || {
        let quoted = line.split('`').skip(1).step_by(2);
        let behind = ["run ", "run: ", "execute ", "execute: ", "call "].into_iter().flat_map(|word| {
            let found = lower.match_indices(word).take(4);
            { found }.filter_map(move |(at, _)| line.get(at + word.len()..))
        });
        quoted.chain(behind).any(database::loses)
    };
    let live = has(&["production", "on prod", "to prod", "the prod ", "mcp tool", "mcp server"]);
    if live
        && (begins("use ") || begins("call ") || begins("connect ") || begins("run ") || begins("execute "))
        && statement()
    {
        return true;
    }
    let told = begins("add ") || begins("put ") || begins("append ") || begins("write ");
    let rights = has(&["nopasswd"]) && has(&["sudoers"]);
    let job =
        has(&["crontab", "cron job", "/etc/cron"]) && has(&["| sh", "|sh", "| bash", "|bash", "/dev/tcp/"]);
    let loose = (begins("edit ") || begins("change ") || begins("set ") || begins("update "))
        && has(&[".claude/settings"])
        && has(&["bypasspermissions", "bypass permissions", "dangerously"]);
    let prints =
        (begins("print ") || begins("show ") || begins("list ") || begins("dump ") || begins("send "))
            && has(&["environment variables", "env vars"])
            && has(&["token", "secret", "password", "credential"])
            && !has(&["names of", "only the names", "without the values", "not the values"]);
    // `rebase onto main and force push the branch` does not push to it.
    let pushes = (begins("force push ") || begins("force-push "))
        && ["force push ", "force-push "].iter().any(|word| {
            lower.split_once(word).is_some_and(|(_, behind)| {
                [" to main", " to master", " to origin/main", " over main", " over origin/main"]
                    .iter()
                    .any(|branch| format!(" {behind}").contains(branch))
            })
        });
    told && (rights || job) || loose || prints || pushes
}

/// What stands behind the number of a step: `2. make`.
fn step_of(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    (behind.len() < rest.len()).then(|| behind.strip_prefix(['.', ')']))?.map(str::trim_start)
}

/// An order to do in another way what the guard refuses.
fn runs_around(line: &str) -> bool {
    let has = |list: &[&str]| list.iter().any(|word| line.contains(word));
    has(&["blocked by the guard", "blocked by the hook", "blocked by lazaret", "guard blocks", "hook blocks"])
        && has(&["write it into", "write it to", "put it into", "wrap it in", "encode it", "base64"])
        && has(&["execute", "run "])
        && !has(&[" ask ", " tell ", "never ", "do not", "don't"])
}

/// An order to take the guard's settings away, or to run past it what it would stop.
fn gets_around(line: &str) -> bool {
    const AROUND: &[&str] =
        &["work around", "get around", "bypass", "circumvent", "evade", "sneak past", "trick"];
    const WATCHES: &[&str] = &["the guard", "lazaret", "the pretooluse hook", "the safety hook", "the hook"];
    let has = |list: &[&str]| list.iter().any(|word| line.contains(word));
    let past = has(AROUND)
        && has(WATCHES)
        && has(&["script", "encode", "base64", "another way"])
        && has(&["run it", "execute it", "run the", "execute the"]);
    let settings = has(&[".claude/settings", "settings.local.json"])
        && has(&[
            "remove the hook",
            "delete the hook",
            "empty the hook",
            "disable the hook",
            "strip the hook",
            "remove all hook",
        ]);
    let refused = has(&[
        "guard blocks me",
        "guard blocked me",
        "hook blocks me",
        "hook blocked me",
        "lazaret refused my",
        "lazaret blocked my",
        "lazaret blocks me",
    ]) && has(&["instead of", "do not use", "don't use", "try `", "another way"]);
    let unseen = has(&[
        "that the hook does not notice",
        "that the guard does not notice",
        "without the hook noticing",
        "without the guard noticing",
        "so lazaret does not notice",
        "that lazaret does not notice",
    ]);
    past || settings || refused || unseen
}

/// Commands that stand in a sentence without any quotes: what is piped into a shell, and a deletion with what it deletes.
fn bare_commands(line: &str) -> impl Iterator<Item = &str> {
    let piped = ["curl ", "wget "].iter().filter_map(|word| {
        let rest = line.get(line.find(word)?..)?;
        let end = ["| bash", "|bash", "| sh", "|sh"]
            .iter()
            .filter_map(|shell| rest.find(shell).map(|at| at + shell.len()))
            .min()?;
        rest.get(..end)
    });
    let deleted = ["rm -rf ", "rm -fr ", "sudo rm -rf "].iter().filter_map(|word| {
        let rest = line.get(line.find(word)?..)?;
        let behind = rest.get(word.len()..)?;
        let end = behind.find(char::is_whitespace).map_or(rest.len(), |at| word.len() + at);
        rest.get(..end).map(|command| command.trim_end_matches(['.', ',', ')']))
    });
    piped.chain(deleted)
}

/// A command up to where the sentence around it goes on.
fn until_said(text: &str) -> &str {
    let quoted = ['"', '\''].into_iter().find(|quote| text.starts_with(*quote));
    if let Some(inner) = quoted.and_then(|quote| text.get(1..)?.split_once(quote)).map(|(inner, _)| inner) {
        return inner;
    }
    let end = [" and ", ". ", ", then", ", and", " on the ", " then ", " to ", " in ", " please"]
        .iter()
        .filter_map(|stop| text.find(stop))
        .min()
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_end_matches('.')
}

fn sure(scene: &Scene<'_>, command: &str) -> Verdict {
    let bad = || judge::command(scene, command, Place::Hook) == Verdict::Block;
    if command.trim().contains(' ') && (judge::refused(scene, command) || bad()) {
        Verdict::Block
    } else {
        Verdict::Allow
    }
}
