//! PowerShell and the command line of Windows, by their plain forms: read as words, statement by statement, never as a program.

use std::borrow::Cow;

use super::selfprotect::RUNTIMES;
use super::{lists, predicate};
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Trigger, runs};
use crate::rules::survey::paths::is_build_output;
use crate::shell::Arg;

words!("builtin/powershell");

const NEEDS: Trigger = Trigger::ACTIVE.or(Trigger::UNKNOWN).or(Trigger::programs(&[
    "type",
    "gc",
    "net",
    "rm",
    "rmdir",
    "cat",
    "Get-Content",
    "get-content",
]));

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "powershell.ruinous",
        severity: Severity::Critical,
        reason: "destroys, spies or lets somebody in, in the words of Windows",
        instead: Some(Instead::Advice(
            "name the one file or setting that is meant, or ask the person to do it",
        )),
        when: &[
            predicate("ruinous_in_powershell", NEEDS, |scene| said(scene, Verdict::Block)),
            predicate("ruinous_where_no_shell_can_read", Trigger::SIGNS, unreadable),
        ],
        ..RULE
    },
    Rule {
        id: "powershell.suspect",
        verdict: Verdict::Modify,
        reason: "changes what the machine runs, trusts or keeps, in the words of Windows",
        instead: Some(Instead::Advice("show the person the change and let them make it")),
        when: &[predicate("suspect_in_powershell", NEEDS, |scene| said(scene, Verdict::Modify))],
        ..RULE
    },
];

/// What its own shell is called.
const SHELLS: &[&str] = &["powershell", "pwsh", "powershell.exe", "pwsh.exe"];

/// Commands in that language of which the worst that is said is exactly `verdict`.
fn said<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let all = scene.invocations();
    let found = scene.running(may_be_own).find(|inv| {
        if !is_own(inv) {
            return false;
        }
        let behind = all.iter().filter(|other| other.pipeline == inv.pipeline);
        let line = behind.map(|other| other.text.as_str()).collect::<Vec<_>>().join(" | ");
        let said = run_now(&in_one_line(&line)).max(run_now(&in_one_line(&inv.text)));
        // Quotes and blanks of the shell around it are not part of what it is told.
        let told =
            || inv.args.iter().map(Arg::text).fold(inv.program.clone(), |line, word| line + " " + &word);
        let said = if runs(inv, SHELLS) { said.max(run_now(&told())) } else { said };
        said == verdict
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// With the lines joined that a POSIX shell joins.
fn in_one_line(text: &str) -> Cow<'_, str> {
    if text.contains("\\\n") { Cow::Owned(text.replace("\\\n", "")) } else { Cow::Borrowed(text) }
}

/// Text that is no shell's, and PowerShell's.
fn unreadable<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    let read = scene.view.survey.problem.is_none() || line.len() > 65536;
    if read || run_now(line) != Verdict::Block { Found::No } else { Found::yes(line) }
}

/// By its place it is remembered which programs are its own.
static NAMED: [u8; 1] = [0];

/// The survey knows some by what they are called elsewhere.
fn is_elsewhere(inv: &Invocation) -> bool {
    matches!(inv.program.as_str(), "rm" | "rmdir" | "cat")
}

/// Whether the program's name alone lets [`is_own`] hold.
fn may_be_own(inv: &Invocation) -> bool {
    let is_named = || {
        let name = inv.program.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        OWN.contains(&name) || is_cmdlet(name)
    };
    is_elsewhere(inv) || inv.listed.known_or(&NAMED, is_named)
}

fn is_own(inv: &Invocation) -> bool {
    if !may_be_own(inv) {
        return false;
    }
    let elsewhere = is_elsewhere(inv);
    let word = inv.text.split_whitespace().next().unwrap_or_default();
    let same = elsewhere && !word.eq_ignore_ascii_case(&inv.program);
    let name = if same { word } else { inv.program.as_str() }.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    if OWN.contains(&name) {
        let shared = SHARED.contains(&name);
        return !shared
            || inv.text.contains('\\')
            || inv.text.contains(" /") && name != "rm" && name != "rmdir"
            || inv.text.contains(':')
            || inv.text.contains('%')
            || inv.text.contains("-r -fo")
            || name == "sc"
            || name == "net"
            || name == "reg"
            || name == "rm" && [" -Force", " -Recurse", " -fo"].iter().any(|flag| inv.text.contains(flag));
    }
    is_cmdlet(name) || word.starts_with("$env:")
}

/// `Verb-Noun`.
fn is_cmdlet(name: &str) -> bool {
    const VERBS: &[&str] = &[
        "remove",
        "clear",
        "format",
        "initialize",
        "stop",
        "restart",
        "set",
        "add",
        "new",
        "register",
        "invoke",
        "get",
        "disable",
        "start",
        "unregister",
        "reset",
        "uninstall",
        "dismount",
        "out",
        "write",
        "enter",
        "suspend",
    ];
    name.split_once('-').is_some_and(|(verb, noun)| {
        VERBS.contains(&verb) && noun.len() > 1 && noun.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// What a script of PowerShell or of Windows' command line deserves that somebody may run later, perhaps on another machine.
pub(super) fn script(text: &str) -> Verdict {
    judged(text, |_, _| Verdict::Allow)
}

/// What it deserves on this machine now: there a path with a drive or a server in it is none of the project's.
fn run_now(text: &str) -> Verdict {
    judged(text, lost)
}

fn judged(text: &str, more: fn(&str, &str) -> Verdict) -> Verdict {
    // At the end of a line it joins the next one, elsewhere it only takes a letter's meaning.
    let lower = text.to_ascii_lowercase().replace("`\r\n", " ").replace("`\n", " ").replace('`', "");
    // In the quotes of another shell a backslash stands there twice.
    let lower = if lower.contains(":\\\\") { lower.replace("\\\\", "\\") } else { lower };
    let mut worst = whole(&lower);
    for line in lower.lines().take(4096) {
        if line.trim_start().starts_with(['#', ':']) || line.trim_start().starts_with("rem ") {
            continue;
        }
        for part in unquoted(line, &[';', '&']) {
            let mut before = String::new();
            for stage in unquoted(part, &['|']) {
                worst = worst.max(statement(stage, &before)).max(more(stage, &before));
                before = stage.to_owned();
            }
        }
    }
    worst
}

/// The parts of a line between signs that do not stand in single quotes, where each of those is closed.
fn unquoted<'t>(line: &'t str, signs: &'static [char]) -> Vec<&'t str> {
    let mut quoted = false;
    let closed = line.matches('\'').count().is_multiple_of(2);
    let splits = move |c: char| {
        quoted ^= closed && c == '\'';
        !quoted && signs.contains(&c)
    };
    line.split(splits).collect()
}

/// Forms that hold more than one statement together.
fn whole(lower: &str) -> Verdict {
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let first =
        |line: &str| line.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    let mut verdict = Verdict::Allow;
    for line in lower.lines() {
        let prints = matches!(
            first(line).as_str(),
            "write-host"
                | "write-output"
                | "echo"
                | "select-string"
                | "findstr"
                | "write-verbose"
                | "rem"
                | "#"
        );
        if prints || line.trim_start().starts_with('#') {
            continue;
        }
        let word = |name: &str| {
            line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|one| one == name)
        };
        let runs = word("iex")
            || word("invoke-expression")
            || line.contains("[scriptblock]::create(")
            || line.contains("invokecommand.invokescript(");
        let fetches = word("iwr")
            || word("irm")
            || word("invoke-webrequest")
            || word("invoke-restmethod")
            || line.contains("downloadstring")
            || word("curl")
            || word("wget")
            || line.contains("downloaddata");
        let decodes = line.contains("frombase64string") || line.contains("gzipstream");
        if runs && (fetches || decodes)
            || line.contains("sockets.tcpclient") && has(&["getstream", "iex", "invoke-expression"])
            || line.contains("new-object")
                && line.contains("sockets.tcpclient(")
                && (word("powershell") || word("pwsh"))
        {
            return Verdict::Block;
        }
        let bomb = line.contains("%0|%0")
            || line.contains("while($true)") && line.contains("start-process")
            || line.contains("while(1)") && line.contains("start-process");
        if bomb
            || line.contains("downloadfile(")
                && (line.contains("start-process") || line.contains(".exe"))
                && line.contains("http://")
        {
            return Verdict::Block;
        }
        if line.contains("io.directory]::delete(") && roots(line)
            || line.contains("invoke-mimikatz")
            || line.contains("amsiutils")
        {
            return Verdict::Block;
        }
        verdict = verdict.max(hidden(line)).max(carried(line, fetches));
        if verdict == Verdict::Block {
            return verdict;
        }
        if fetches && line.contains("start-process") && line.contains("-outfile") {
            // A program that anybody on the way can replace.
            let open = line.contains("http://") && line.contains(".exe");
            verdict = verdict.max(if open { Verdict::Block } else { Verdict::Modify });
        }
    }
    verdict
}

/// Another shell that is given what nobody can read.
fn hidden(line: &str) -> Verdict {
    let word =
        |name: &str| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|one| one == name);
    let shells = word("powershell") || word("pwsh") || line.contains("powershell.exe");
    let mut words = line
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ','))
        .filter(|word| !word.is_empty())
        .peekable();
    let mut encoded = false;
    while let Some(word) = words.next() {
        // What stands behind it is letters and digits, or a variable that holds them: `findstr -E ':80'` seeks.
        let holds = words.peek().is_some_and(|next| {
            next.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '('))
        });
        encoded |= matches!(word, "-e" | "-ec") && holds || word.starts_with("-enc") && word != "-encoding";
    }
    if shells && encoded && [" hidden", "-w h"].iter().any(|flag| line.contains(flag)) {
        return Verdict::Block;
    }
    if shells && encoded { Verdict::Modify } else { Verdict::Allow }
}

/// All variables that are sent away, files of the system that are written, and programs that are fetched and started.
fn carried(line: &str, fetches: bool) -> Verdict {
    let word =
        |name: &str| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|one| one == name);
    let all =
        ["get-childitem env:", "gci env:", "dir env:", "ls env:"].iter().any(|form| line.contains(form));
    let away = line.contains("http") && !line.contains("localhost") && !line.contains("127.0.0.1");
    let written = line.contains("[io.file]::write") || line.contains("[system.io.file]::write");
    if all && fetches && away && line.contains("post") || written && line.contains("\\windows\\system32") {
        return Verdict::Block;
    }
    let sweeps = line.contains("get-process") && line.contains("-ne $pid") && word("stop-process");
    let packed = line.contains("compress-archive") && line.contains("-infile");
    let uploaded = line.contains(".uploadfile(") && line.contains("http");
    if sweeps || (packed || uploaded) && (secret(line) || uploaded && settings(line)) {
        return Verdict::Block;
    }
    let gets = line.contains("urlcache") || word("start-bitstransfer") || word("bitsadmin");
    let started = [".\\", "start-process ", "start ", "&& ", "& "].iter().any(|way| {
        line.match_indices(way).any(|(at, _)| line.get(at..).is_some_and(|rest| rest.contains(".exe")))
    });
    if gets && line.contains("http") && line.contains(';') && started {
        return Verdict::Block;
    }
    Verdict::Allow
}

/// A place that must not be lost, among the words of a statement.
fn roots(text: &str) -> bool {
    text.split([' ', ',', '"', '\'', '(', ')']).any(|word| {
        let word = word.trim_end_matches(['*', '.']).trim_end_matches(['\\', '/']);
        let drive = |rest: &str| {
            rest.is_empty()
                || matches!(
                    rest,
                    "\\windows"
                        | "\\users"
                        | "\\windows\\system32"
                        | "\\program files"
                        | "\\programdata"
                        | "\\progra~1"
                        | "\\boot"
                        | "\\recovery"
                )
        };
        let mut chars = word.chars();
        let lettered = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && drive(chars.as_str());
        let user = ["\\users\\", "/users/"].iter().any(|dir| {
            word.split_once(dir).is_some_and(|(front, name)| {
                front.len() == 2 && !name.is_empty() && !name.contains(['\\', '/'])
            })
        });
        lettered
            || user
            || word.contains("\\windows\\system32")
            || matches!(
                word,
                "$home"
                    | "~"
                    | "$env:userprofile"
                    | "%userprofile%"
                    | "%systemroot%"
                    | "%systemdrive%"
                    | "$env:systemroot"
                    | "$env:windir"
                    | "%windir%"
                    | "$env:systemdrive"
                    | "%homepath%"
                    | "%appdata%"
                    | "$env:appdata"
                    | "%localappdata%"
                    | "$env:localappdata"
                    | "%programfiles%"
                    | "$env:programfiles"
                    | "%programdata%"
                    | "$env:programdata"
                    | "%public%"
                    | "%onedrive%"
                    | "$env:onedrive"
                    | "$env:homepath"
                    | "hklm:"
                    | "hkcu:"
                    | "hklm:\\software"
                    | "hklm:\\system"
                    | "hkcu:\\software"
                    | "hkcr:"
            )
    })
}

/// The words that stand in front of what is run: other shells, blocks, calls.
fn unwrapped(stage: &str) -> &str {
    let mut rest = stage.trim();
    for _ in 0..8 {
        let start = rest;
        rest = rest.trim_start_matches(['{', '(', '@', '&', '"', '\'', ' ', '}', '!']);
        for front in ["powershell.exe", "powershell", "pwsh.exe", "pwsh", "cmd.exe", "cmd"] {
            if let Some(behind) = rest.strip_prefix(front).filter(|behind| behind.starts_with(' ')) {
                let flags = ["-command ", "-c ", "/c ", "/k ", "/s /c "];
                if let Some(at) =
                    flags.iter().filter_map(|flag| behind.find(flag).map(|at| at + flag.len())).min()
                {
                    rest = behind.get(at..).unwrap_or_default();
                } else if front.starts_with("powershell")
                    && !FROM_AFAR.iter().any(|file| behind.contains(file))
                {
                    rest = behind_switches(behind);
                }
            }
        }
        for front in [
            "foreach-object",
            "foreach",
            "try",
            "else",
            "start-job -scriptblock",
            "invoke-command -scriptblock",
            "%",
            "do",
        ] {
            if let Some(behind) =
                rest.strip_prefix(front).filter(|behind| behind.trim_start().starts_with('{'))
            {
                rest = behind;
            }
        }
        if rest.starts_with("if ") || rest.starts_with("if(") {
            rest = rest.split_once(['{']).map_or(rest, |(_, block)| block);
        }
        if let Some((name, value)) = rest
            .split_once('=')
            .filter(|(name, _)| name.trim_start().starts_with('$') && !name.trim().contains(' '))
        {
            let _ = name;
            rest = value;
        }
        if rest.len() == start.len() {
            break;
        }
    }
    rest
}

/// A file of another machine, as `powershell` is given it.
const FROM_AFAR: &[&str] = &["-file \\\\", "-file http"];

/// What stands behind the switches of `powershell`, which is a command there; nothing where it is a file.
fn behind_switches(mut rest: &str) -> &str {
    const VALUED: &[&str] = &[
        "-executionpolicy",
        "-ep",
        "-ex",
        "-exec",
        "-windowstyle",
        "-w",
        "-version",
        "-inputformat",
        "-outputformat",
        "-psconsolefile",
        "-configurationname",
        "-workingdirectory",
        "-wd",
    ];
    for _ in 0..16 {
        rest = rest.trim_start();
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if matches!(word, "-file" | "-f") || word.starts_with("-e") && !VALUED.contains(&word) {
            return "";
        }
        if !word.starts_with('-') {
            break;
        }
        rest = behind;
        if VALUED.contains(&word) {
            rest = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, behind)| behind);
        }
    }
    rest
}

/// What is lost by a deletion that needs no vital place for it: directories with a drive or a server in their path, and all of here.
fn lost(stage: &str, before: &str) -> Verdict {
    let text = unwrapped(stage);
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.trim_matches(['"', '\'', ')', '}']).rsplit(['\\', '/']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let given = operands(rest);
    if name == "robocopy" {
        let mirrors = rest.contains("/mir") || rest.contains("/purge");
        let [from, to, ..] = given.as_slice() else { return Verdict::Allow };
        if !mirrors || !is_afar(to) && !roots(to) {
            return Verdict::Allow;
        }
        return if roots(to) || from.contains("empty") { Verdict::Block } else { Verdict::Modify };
    }
    let removes = matches!(name, "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" | "deltree");
    let empties = matches!(name, "clear-content" | "clc") || name.starts_with("$_.delete");
    if !removes && !empties || rest.contains("-whatif") {
        return Verdict::Allow;
    }
    let flag = |word: &str| matches!(word, "/s" | "-r" | "-rf" | "-fr") || word.starts_with("-rec");
    let recursive = name == "deltree" || rest.split_whitespace().any(flag);
    let here = |word: &String| matches!(word.as_str(), "." | ".." | "*" | ".\\*" | "./*" | ".\\" | "./");
    let named = given.iter().any(|word| is_afar(word)) || name != "rm" && given.iter().any(here);
    let listed = lists_all(before) && (recursive || empties || before.split_whitespace().any(flag));
    if recursive && named || listed { Verdict::Block } else { Verdict::Allow }
}

/// Whether a stage of a pipeline lists, without any choice, what is here or below a path with a drive in it.
fn lists_all(stage: &str) -> bool {
    const CHOICES: &[&str] = &["-filter", "-include ", "-exclude", "-hidden", "-directory"];
    let text = unwrapped(stage);
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = name.trim_matches(['"', '\'', ')', '}']);
    let given = operands(rest);
    matches!(name, "get-childitem" | "gci" | "ls" | "dir")
        && !CHOICES.iter().any(|flag| rest.replace("-include *", "").contains(flag))
        && given
            .iter()
            .all(|word| is_afar(word) || matches!(word.as_str(), "." | "*" | ".\\" | "./" | ".\\*" | "./*"))
}

/// The words that are no switches, without their quotes; of a list each one.
fn operands(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_whitespace() || matches!(c, ',' | ')' | '}' | '(') => out.push(String::new()),
            (_, c) => {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    out.retain(|word| {
        !(word.is_empty() || word.starts_with('-') || word.starts_with('/') && word.len() <= 4)
    });
    out
}

/// A path with a drive or a server in it, and nothing that a build makes again or that is only kept for a while.
fn is_afar(word: &str) -> bool {
    const PASSING: &[&str] = &["\\temp", "\\tmp", "\\cache", "\\_work", "\\a\\"];
    let path = word.replace('/', "\\");
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':');
    let server = path.starts_with("\\\\") && path.len() > 2;
    (drive || server)
        && !PASSING.iter().any(|dir| path.contains(dir))
        && !is_build_output(&path.replace('\\', "/"))
}

#[expect(clippy::too_many_lines, reason = "a table: one row for each program")]
fn statement(stage: &str, before: &str) -> Verdict {
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
        "format-volume"
        | "clear-disk"
        | "initialize-disk"
        | "remove-partition"
        | "stop-computer"
        | "restart-computer"
        | "clear-eventlog"
        | "remove-eventlog"
        | "new-localuser"
        | "add-localgroupmember"
        | "remove-localuser"
        | "reset-computermachinepassword"
        | "mimikatz"
        | "disable-computerrestore"
        | "disable-netfirewallrule"
        | "invoke-mimikatz"
        | "remove-azresourcegroup"
        | "remove-vm"
        | "remove-azvm"
        | "remove-aduser"
        | "remove-adobject"
        | "remove-mailbox"
        | "remove-storagepool"
        | "remove-physicaldisk"
        | "reset-physicaldisk"
        | "remove-s3bucket"
        | "remove-ec2instance"
        | "remove-ec2volume"
        | "remove-ec2vpc"
        | "remove-rdsdbinstance"
        | "remove-rdsdbcluster"
        | "remove-ddbtable"
        | "remove-cfnstack"
        | "remove-ekscluster"
        | "remove-iamuser"
        | "remove-azstorageaccount"
        | "remove-azsqlserver"
        | "remove-azsqldatabase"
        | "remove-azkeyvault"
        | "remove-azakscluster"
        | "remove-gcsbucket"
        | "remove-gceinstance"
        | "remove-virtualdisk"
        | "enable-psremoting" => Verdict::Block,
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
        "register-scheduledtask"
        | "new-service"
        | "set-wmiinstance"
        | "enable-localuser"
        | "disable-netadapter"
        | "uninstall-windowsfeature"
        | "disable-windowsoptionalfeature"
        | "set-executionpolicy"
        | "remove-netfirewallrule"
        | "new-netfirewallrule"
        | "unregister-scheduledtask"
        | "set-localuser"
        | "psexec" => {
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
        _ => Verdict::Allow,
    }
}

/// A place of the registry from which programs are started by themselves.
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

fn autostart(text: &str) -> bool {
    ["currentversion\\run", "winlogon", "image file execution", "\\appinit_dlls", "\\active setup"]
        .iter()
        .any(|place| text.contains(place))
}

/// A file of secrets, by Windows' separators.
fn secret(text: &str) -> bool {
    let text = text.replace('/', "\\");
    let key = [
        "\\.ssh\\id_",
        "\\.aws\\credentials",
        "ntds.dit",
        "\\config\\sam",
        "unattend.xml",
        "\\.kube\\config",
        "\\.git-credentials",
        "\\login data",
        "\\.azure\\accesstokens",
        "\\.docker\\config.json",
        "\\microsoft\\credentials",
    ];
    key.iter().any(|part| text.contains(part)) && !text.contains(".pub")
}

/// A variable of the environment that by its name holds a secret, as a whole.
fn secret_variable(word: &str, front: &str) -> bool {
    let word = word.trim_matches(['"', '\'', '(', ')']);
    let name = word.strip_prefix(front).map(|name| name.trim_start_matches(['\\', '/']));
    name.is_some_and(|name| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && super::is_secret_name(name)
    })
}

/// A file of settings with secrets in it, among the words.
fn settings(rest: &str) -> bool {
    rest.split([' ', '"', '\'', '(', ')', ',']).any(|word| {
        let name = word.rsplit(['\\', '/']).next().unwrap_or_default();
        let kind = name.strip_prefix(".env");
        kind.is_some_and(|kind| {
            (kind.is_empty() || kind.starts_with('.'))
                && !["example", "sample", "template", "dist"].iter().any(|end| kind.ends_with(end))
        })
    })
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
