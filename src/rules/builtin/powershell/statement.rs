//! What one statement deserves, by the program that it names.

use super::cloud;
use super::places::{roots, secret, secret_variable, settings};
use super::unwrapped;
use crate::domain::Verdict;
use crate::rules::builtin::lists;
use crate::rules::builtin::selfprotect::RUNTIMES;

words!("builtin/powershell/statement");

/// A file of another machine, as `powershell` is given it.
pub(super) const FROM_AFAR: &[&str] = &["-file \\\\", "-file http"];

#[expect(clippy::too_many_lines, reason = "a table: one row for each program")]
pub(super) fn statement(stage: &str, before: &str) -> Verdict {
    let text = unwrapped(stage);
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.trim_matches(['"', '\'', ')', '}']).rsplit(['\\', '/']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let words: Vec<&str> =
        rest.split_whitespace().map(|word| word.trim_matches(['"', '\'', ')', '}', ','])).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let holds = |list: &[&str]| list.iter().any(|part| rest.contains(part));
    let block = |on: bool| if on { Verdict::Block } else { Verdict::Allow };
    let ask = |on: bool| if on { Verdict::Modify } else { Verdict::Allow };
    match name {
        "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" => {
            let recursive = words.iter().any(|word| matches!(*word, "/s" | "-r") || word.starts_with("-rec"));
            let everything = before.contains("get-psdrive")
                || roots(before) && (before.contains(" -r") || before.contains("/s"));
            let listed = ["get-childitem ", "gci ", "ls ", "dir "]
                .iter()
                .any(|name| unwrapped(before).starts_with(name))
                && !["-filter", "-include", "where"].iter().any(|word| before.contains(word));
            // All that is below, whatever it is.
            let below = matches!(
                before.trim().trim_end_matches(" -force"),
                "get-childitem -recurse" | "gci -recurse" | "gci -r" | "ls -recurse" | "dir -recurse"
            ) && !rest.contains("-whatif");
            let windows = roots(rest);
            let hive = words.iter().any(|word| word.starts_with("hklm:\\") || word.starts_with("hkcr:\\"));
            block(
                (hive || windows) && recursive
                    || rest.contains("\\windows\\system32")
                    || everything
                    || listed && recursive && roots(before)
                    || below
                    || holds(&["historysavepath"])
                    || recursive && (rest.ends_with("\\.git") || has(&[".git"])),
            )
        }
        "format" => block(words.iter().any(|word| word.len() == 2 && word.ends_with(':'))),
        name if RUINOUS_CMDLETS.contains(&name) => Verdict::Block,
        "diskpart" => block(!words.is_empty() || !before.is_empty()),
        "shutdown" => block(has(&["/s", "/r", "/p", "/h", "-s", "-r"])),
        "reg" => match words.first() {
            Some(&"delete") => Verdict::Block,
            Some(&"save") => block(holds(&["sam", "system", "security"])),
            Some(&"add") => ask(true).max(block(autostart(rest))),
            _ => Verdict::Allow,
        },
        "vssadmin" => block(has(&["delete", "resize"])),
        "wmic" => block(
            holds(&["shadowcopy delete", "process call create", "product where"])
                || has(&["os"]) && has(&["reboot", "shutdown", "win32shutdown"]),
        )
        .max(if has(&["terminate"]) { ended(rest) } else { Verdict::Allow }),
        "wbadmin" => block(has(&["delete"])),
        "bcdedit" => block(words.iter().any(|word| matches!(*word, "/set" | "/delete" | "/deletevalue"))),
        "reagentc" => block(has(&["/disable"])),
        "cipher" => block(words.iter().any(|word| word.starts_with("/w"))),
        "fsutil" => block(holds(&["deletejournal", "setzerodata"])),
        "set-mppreference" => block(holds(&["-disable", "-exclusion"])),
        "add-mppreference" => block(holds(&["-exclusion"])),
        "netsh" => block(holds(&["state off", "firewall set opmode disable"])).max(ask(holds(&[
            "advfirewall firewall add",
            "portproxy add",
            "interface set",
        ]))),
        "set-netfirewallprofile" => block(holds(&["-enabled false", "-enabled $false", "-enabled:$false"])),
        "sc" => block(
            has(&["stop", "delete"]) && holds(&["windefend", "mpssvc", "wuauserv", "eventlog", "sense"]),
        )
        .max(ask(has(&["delete", "create", "config", "stop"]))),
        "stop-service" | "set-service" | "remove-service" => {
            block(holds(&["windefend", "mpssvc", "eventlog", "sense"])).max(ask(name != "set-service"))
        }
        "net" | "net1" => block(
            matches!(words.as_slice(), ["user", _, more, ..] if *more != "/domain")
                || has(&["/add"]) && has(&["localgroup", "group"])
                || matches!(words.as_slice(), ["stop", "windefend", ..]),
        ),
        "schtasks" => ask(has(&["/create", "/change"])).max(block(
            has(&["/delete"]) && has(&["*"])
                || has(&["/create"]) && has(&["onlogon", "onstart", "onidle", "system", "minute"]),
        )),
        name if ASKED_CMDLETS.contains(&name) => {
            let machine = name == "set-executionpolicy" && holds(&["localmachine"]);
            let guard = holds(&["defender"]) && name.ends_with("feature");
            let logon = name == "register-scheduledtask" && holds(&["atlogon", "atstartup"]);
            ask(name != "set-executionpolicy"
                || !holds(&["-scope process"]) && holds(&["bypass", "unrestricted"]))
            .max(block(guard || logon || machine && holds(&["bypass", "unrestricted"])))
        }
        // `Set-AdminAuditLogConfig -UnifiedAuditLogIngestionEnabled $false`
        _ if (name.starts_with("set-") || name.starts_with("update-"))
            && holds(&["enabled $false", "enabled:$false", "enabled:\\$false", "enabled \\$false"]) =>
        {
            ask(true)
        }
        "clear-recyclebin" => ask(true),
        "set-itemproperty" | "new-itemproperty" => ask(holds(&["policies\\"])).max(block(autostart(rest))),
        "taskkill" => {
            block(has(&["*"]) || holds(&["lsass", "winlogon", "csrss", "svchost"])).max(ended(rest))
        }
        "tskill" | "pskill" => ended(rest),
        "stop-process" | "spps" | "kill" => {
            let (lister, listed) = unwrapped(before).split_once(' ').unwrap_or((before.trim(), ""));
            let lists = matches!(lister, "get-process" | "ps" | "gps");
            block(name != "kill" && (has(&["*"]) || lists && listed.is_empty()))
                .max(ended(rest))
                .max(if lists { ended(listed) } else { Verdict::Allow })
        }
        "takeown" => block(has(&["/r"]) && roots(rest)),
        "icacls" => block(roots(rest) && has(&["/t"])).max(ask(holds(&["everyone:f", "everyone:(f)"]))),
        "wevtutil" => block(has(&["cl", "clear-log"])),
        "clear-content" | "clc" => block(holds(&[".evtx", "\\winevt\\logs"])),
        "auditpol" => block(holds(&["/clear", "/disable", "/success:disable", "/failure:disable"])),
        "clear-history" => block(true),
        "rundll32" => block(holds(&["minidump", "javascript:", "comsvcs"])),
        "procdump" => block(holds(&["lsass"])),
        "ntdsutil" | "esentutl" => block(holds(&["ntds", "ifm"])),
        "mshta" | "regsvr32" => block(holds(&["http://", "https://", "javascript:", "vbscript:"])),
        "certutil" => ask(holds(&["urlcache", "-decode"]))
            .max(block(holds(&["http"]) && holds(&[".exe", ".dll", ".bat", ".ps1", ".hta"]))),
        "bitsadmin" => ask(holds(&["http"]))
            .max(block(holds(&["/transfer"]) && holds(&[".exe", ".dll", ".bat", ".ps1"]))),
        "start-bitstransfer" => ask(holds(&["http"])),
        "get-itemproperty" => block(holds(&["hklm:\\sam", "hklm:\\security"])),
        "cmdkey" | "vaultcmd" => ask(holds(&["/list"])),
        "manage-bde" => ask(holds(&["-off", "-forcerecovery"])),
        "invoke-restmethod" | "irm" | "invoke-webrequest" | "iwr" => sent(rest),
        "get-content" | "gc" | "type" | "cat" | "copy-item" => {
            block(secret(rest) || words.iter().any(|word| secret_variable(word, "env:")))
        }
        "get-item" | "gi" | "write-output" | "write-host" | "echo" => {
            block(words.iter().any(|word| secret_variable(word, "$env:") || secret_variable(word, "env:")))
        }
        name if name.starts_with("$env:") => block(secret_variable(name, "$env:")),
        "invoke-sqlcmd" => {
            block(holds(&["drop database", "drop schema"])).max(ask(
                holds(&["drop table", "truncate table"]) || holds(&["delete from"]) && !holds(&["where"])
            ))
        }
        "set-content" | "add-content" | "out-file" => {
            ask(holds(&["$profile", "drivers\\etc\\hosts", "\\startup\\"]))
        }
        "start-process" | "start" | "saps" => ask(holds(&["-verb runas"])),
        "wsl" => block(holds(&["rm -rf /", "rm -rf ~", "rm -fr /", "--unregister", "mkfs", "dd if="])),
        "powershell" | "pwsh" => ask(holds(FROM_AFAR)),
        name => cloud::told(name, rest),
    }
}

/// What ending the processes that a text names deserves: the client, or all of the kind that it may run in.
fn ended(text: &str) -> Verdict {
    let names = || {
        let words = text.split(|c: char| c.is_whitespace() || "'\"=,;()%".contains(c));
        words.map(|word| word.strip_suffix(".exe").unwrap_or(word))
    };
    if names().any(|name| lists::CLIENTS.contains(&name)) {
        Verdict::Block
    } else if names().any(|name| RUNTIMES.contains(&name)) {
        Verdict::Modify
    } else {
        Verdict::Allow
    }
}

/// A place of the registry from which programs are started by themselves.
fn autostart(text: &str) -> bool {
    ["currentversion\\run", "winlogon", "image file execution", "\\appinit_dlls", "\\active setup"]
        .iter()
        .any(|place| text.contains(place))
}

/// What a request carries away.
fn sent(rest: &str) -> Verdict {
    let away = !rest.contains("localhost") && !rest.contains("127.0.0.1");
    let posts = rest.contains("-method post") || rest.contains("-method put");
    let all = rest.contains("env:") && rest.contains("get-childitem")
        || rest.contains("gci env:")
        || rest.contains("dir env:");
    let body = rest.contains("-infile") || rest.contains("-body");
    if away && (secret(rest) || posts && all || body && settings(rest)) {
        return Verdict::Block;
    }
    if away && posts && rest.contains("-infile") { Verdict::Modify } else { Verdict::Allow }
}
