//! What a script of PowerShell says by several statements: what it fetches and runs, hides, or carries away.

use super::places::{roots, secret, settings};
use crate::domain::Verdict;

/// Forms that hold more than one statement together.
pub(super) fn whole(lower: &str) -> Verdict {
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
        verdict = verdict.max(hidden(line)).max(carried(line, fetches)).max(given_away(line));
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

/// A file goes to another machine, or all variables are shown.
fn given_away(line: &str) -> Verdict {
    let uploads = ["uploadfile(", "uploaddata(", "uploadstring("].iter().any(|call| line.contains(call));
    let shows = line.contains("[environment]::getenvironmentvariables");
    if uploads && line.contains("://") || shows { Verdict::Modify } else { Verdict::Allow }
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
