//! Ways into this machine that stay open: shells that anybody reaches, logins made reachable from outside, tools that break in.

use super::super::lists;
use super::attackers;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, is_shell, runs, runs_shell};
use crate::shell::Arg;

const SSH: &[&str] = &["ssh", "autossh", "dbclient", "plink"];

words!("builtin/network/doors");

const WINDOWS: &[&str] = &["xterm", "rxvt", "urxvt", "gnome-terminal", "konsole", "x-terminal-emulator"];

fn texts(inv: &Invocation) -> Vec<String> {
    inv.args.iter().map(Arg::to_text).collect()
}

/// `-R` towards a port behind which somebody logs in, to every address of the other side, or to wherever it is asked to go.
fn forwards_login(inv: &Invocation) -> bool {
    let words = texts(inv);
    let mut values = words.iter().enumerate().filter_map(|(at, word)| {
        let rest = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let (bundle, value) = rest.split_once('R')?;
        let plain = bundle.bytes().all(|b| b"fNTnqvCxXaAgt46".contains(&b));
        match value {
            _ if !plain => None,
            "" => words.get(at + 1).map(String::as_str),
            value => Some(value),
        }
    });
    values.any(|value| {
        let parts: Vec<&str> = value.split(':').collect();
        let open = parts.len() > 3 && matches!(parts.first(), Some(&("0.0.0.0" | "*" | "" | "[")));
        // A port alone makes a proxy into the whole network.
        let proxy = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        open || proxy || parts.last().is_some_and(|port| LOGINS.contains(port))
    })
}

fn tunnels_login(inv: &Invocation) -> bool {
    let words = texts(inv);
    let says = |word: &str| words.iter().any(|given| given == word);
    let login = words
        .iter()
        .any(|word| LOGINS.contains(&word.rsplit(':').next().unwrap_or_default()) && !word.contains('.'));
    match inv.program.as_str() {
        "ngrok" => {
            (says("tcp") || says("tls")) && login || words.iter().any(|word| word.starts_with("file:"))
        }
        "chisel" => says("--reverse") || words.iter().any(|word| word.starts_with("R:")),
        "wstunnel" => says("-R") || words.iter().any(|word| word.starts_with("-R")),
        "cloudflared" => words
            .iter()
            .any(|word| ["ssh://", "rdp://", "tcp://", "smb://"].iter().any(|front| word.contains(front))),
        _ => login,
    }
}

/// A server that is told to start a shell for whoever connects, or one for logins with settings of its own.
fn serves_shell(inv: &Invocation) -> bool {
    let words = texts(inv);
    let names_shell =
        || words.iter().any(|word| is_shell(word.rsplit(['/', ':']).next().unwrap_or_default()));
    match inv.program.as_str() {
        "sshd" | "dropbear" => {
            ["-p", "-o", "-f", "-R"].iter().any(|flag| has_flag(inv, flag))
                && !has_flag(inv, "-t")
                && !has_flag(inv, "-T")
        }
        "inetd" | "xinetd" => !inv.operands.is_empty() || has_flag(inv, "-f"),
        "websocat" | "wscat" => {
            let runs_one =
                |word: &String| ["cmd:", "exec:", "sh-c:"].iter().any(|front| word.starts_with(front));
            words.iter().any(runs_one)
        }
        _ => names_shell(),
    }
}

fn opened_to_all(inv: &Invocation) -> bool {
    let words = texts(inv);
    let says = |wanted: &str| words.iter().any(|word| word.contains(wanted));
    let everywhere = says("0.0.0.0") || says("::0") || words.iter().any(|word| word == "::" || word == "*");
    match inv.program.as_str() {
        "x11vnc" | "x0vncserver" => {
            let local = says("-localhost") || says("127.0.0.1") || says("-listen") && says("localhost");
            (says("-nopw") || says("SecurityTypes")) && !local
        }
        "gdbserver" | "lldb-server" => {
            !inv.contained
                && (everywhere || words.iter().any(|word| word.starts_with(':') || word.starts_with("*:")))
        }
        "jupyter" | "jupyter-lab" | "jupyter-notebook" => {
            let open = words.iter().any(|word| {
                word.split_once('=').is_some_and(|(key, value)| {
                    (key.ends_with(".token") || key.ends_with(".password"))
                        && value.trim_matches(['"', '\'']).is_empty()
                })
            });
            open && (everywhere || says("--ip=*")) && !inv.contained
        }
        // Whoever may talk to it has all rights here.
        "dockerd" => everywhere && !says("--tlsverify"),
        _ => everywhere,
    }
}

/// `script -qc /bin/bash /dev/null | nc …`
fn session_poured(inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().any(|other| {
        other.pipeline == inv.pipeline
            && other.stage != inv.stage
            && (runs(other, lists::NETCATS) || runs(other, &["socat", "telnet"]))
    })
}

/// `coproc nc …; bash <&${COPROC[0]}`
fn coprocess<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    if !scene.says("coproc ") || !scene.says("${") {
        return Found::No;
    }
    let all = scene.invocations();
    let connects = all.iter().any(|inv| runs(inv, lists::NETCATS) || runs(inv, lists::CONNECTIONS));
    let tied = |inv: &Invocation| inv.text.contains("<&");
    let shell = all.iter().find(|inv| connects && runs_shell(inv) && tied(inv));
    // `coproc bash; nc … <&${COPROC[0]}`, and a shell that stands in a function.
    let other_way = || {
        let tied = all.iter().any(tied) || line.contains("<&${");
        all.iter().find(|inv| {
            connects && tied && runs_shell(inv) && inv.operands.is_empty() && !has_flag(inv, "-c")
        })
    };
    Found::from(shell.or_else(other_way).map(|inv| inv.text.as_str()))
}

/// `DISPLAY=host:0 xterm`
fn foreign_display<'a>(scene: &Scene<'a>) -> Found<'a> {
    let host =
        scene.command_line().split("DISPLAY=").nth(1).map(|rest| {
            rest.trim_start_matches(['"', '\'']).split([':', ' ', ';']).next().unwrap_or_default()
        });
    let foreign = host.is_some_and(|host| !matches!(host, "" | "localhost" | "127.0.0.1" | "unix"));
    Found::from(scene.first(WINDOWS, |_| foreign).map(|inv| inv.text.as_str()))
}
