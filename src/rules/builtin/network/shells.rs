//! Shells for somebody elsewhere, and the tools of who looks for a way in.

use super::{attackers, runs_for_visitors};
use crate::domain::{EffectKind, Target};
use crate::rules::builtin::lists;
use crate::rules::matcher::{Found, Scene, has_flag, input_of, runs, runs_code, runs_shell};
use crate::rules::{Invocation, Stdin};

words!("builtin/network/shells");

/// `sh < fifo | nc`: what comes over the connection is run.
fn shell_through_fifo<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        let reads = !inv.reads.is_empty() || matches!(inv.stdin, Stdin::Pipe | Stdin::File(_));
        runs_shell(inv)
            && inv.operands.is_empty()
            && reads
            && all.iter().any(|other| {
                let connects = runs(other, lists::NETCATS) || runs(other, &["telnet", "socat"]);
                connects && other.pipeline == inv.pipeline && other.stage > inv.stage
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A socket and a shell in one text that is compiled or handed over to a program.
fn built_shell(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let hostile = |text: &str| {
        SOCKETS.iter().any(|word| text.contains(word))
            && SHELLS_STARTED.iter().any(|word| text.contains(word))
            && ["sh\"", "bash\"", "/bin/", "cmd.exe"].iter().any(|word| text.contains(word))
    };
    inv.args.iter().any(|arg| hostile(&arg.text()))
        || input_of(inv, scene).iter().any(|text| hostile(text))
        || scene.view.survey.written.iter().any(|(_, text)| hostile(&text.text()))
}

/// Code that asks a host for commands and runs what it answers.
fn commanded<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ASKS: &[&str] = &["urlopen(", "requests.get(", ".recv(", "file_get_contents(", "net::http.get"];
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        inv.args.iter().filter(|arg| arg.text().contains('(')).any(|arg| {
            let bare: String =
                arg.text().chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            COMMANDS_RUN.iter().any(|run| {
                bare.split(run).skip(1).any(|tail| {
                    let near: String = tail.chars().take(24).collect();
                    ASKS.iter().any(|ask| near.contains(ask)) || near.contains("u.urlopen")
                })
            })
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A server whose visitors say what is run.
fn serves_commands<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| codes.iter().any(|text| runs_for_visitors(text)))
}

/// A debugger that is told to join a shell with a connection.
fn debugger_shell(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        text.contains("socket")
            && text.contains("connect")
            && ["dup2", "subprocess", "pty.spawn", "os.exec", "os.system"].iter().any(|w| text.contains(w))
    })
}

/// `socat TCP-LISTEN:1,fork EXEC:/bin/sh`: whatever program it is, unless that one only gives back what it is given.
fn served(inv: &Invocation) -> bool {
    const HARMLESS: &[&str] = &["cat", "date", "true", "false", "rev", "wc", "hostname", "uptime"];
    inv.operands.iter().any(|arg| {
        let text = arg.text().to_ascii_lowercase();
        ["exec:", "system:"].iter().any(|address| {
            text.split_once(address).is_some_and(|(_, program)| {
                let program = program.split(',').next().unwrap_or_default().trim_matches(['"', '\'']);
                let name = program.strip_prefix("/usr/bin/").or(program.strip_prefix("/bin/"));
                !HARMLESS.contains(&name.unwrap_or(program))
            })
        })
    })
}

fn shell_on_socket<'a>(scene: &Scene<'a>) -> Found<'a> {
    let socket =
        |target: &Target| target.text().starts_with("/dev/tcp/") || target.text().starts_with("/dev/udp/");
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        let redirected = inv.writes.iter().any(|(target, _)| socket(target)) || inv.reads.iter().any(socket);
        // `sh -i | nc host`: what is typed there is run here, through a pipe or a fifo.
        let piped = has_flag(inv, "-i")
            && all.iter().any(|other| {
                let connects = runs(other, lists::NETCATS)
                    || runs(other, lists::CONNECTIONS)
                    || (other.program == "openssl"
                        && other.args.iter().any(|arg| arg.known() == Some("s_client")));
                connects && other.pipeline == inv.pipeline && other.stage > inv.stage
            });
        (redirected || piped) && runs_shell(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn redirected_to_socket<'a>(scene: &Scene<'a>) -> Found<'a> {
    let socket = |text: &str| {
        let rest = text.strip_prefix("/dev/tcp/").or_else(|| text.strip_prefix("/dev/udp/"));
        // To see whether a service of this machine is up is how scripts wait for it.
        rest.is_some_and(|rest| !["localhost/", "127.0.0.1/"].iter().any(|own| rest.starts_with(own)))
    };
    let connects = |inv: &&Invocation| {
        inv.writes.iter().any(|(target, _)| socket(target.text()))
            || inv.reads.iter().any(|target| socket(target.text()))
            || runs(inv, &["source", "."]) && inv.operands.first().is_some_and(|arg| socket(&arg.text()))
    };
    let mut connected = scene.invocations().iter().filter(connects).peekable();
    if connected.peek().is_some() {
        let line = scene.command_line();
        return Found::from(connected.find(|inv| !only_waits(inv, line)).map(|inv| inv.text.as_str()));
    }
    // A redirection without a command opens it and closes it again; only what is written is told to anybody.
    let tells = |kind: EffectKind| !matches!(kind, EffectKind::SystemCommand | EffectKind::FileRead);
    let effects = scene.effects().find(|(effect, _)| tells(effect.kind) && socket(effect.target.text()));
    Found::from(effects.map(|(effect, _)| effect.target.text()))
}

/// `until (exec 3<>"/dev/tcp/$HOST/$PORT") 2>/dev/null`: to see whether a service that the script is told of is up. Nothing is said to
/// it, and nothing that comes from it is read.
fn only_waits(inv: &Invocation, line: &str) -> bool {
    // Behind the bracket the connection is gone.
    let alone = || {
        let (front, rest) = line.split_once(inv.text.as_str())?;
        (!rest.contains("/dev/tcp/") && front.trim_end().ends_with('(') && rest.trim_start().starts_with(')'))
            .then_some(())
    };
    let quiet = match inv.program.as_str() {
        "exec" => alone().is_some(),
        // What the other side says is shown, and nothing is said to it.
        "cat" => {
            let silent = inv.writes.iter().all(|(target, _)| target.text() == "/dev/null");
            let limited = inv.wrappers.iter().any(|name| name == "timeout");
            inv.reads.iter().all(|target| target.text() == "/dev/null")
                || silent && limited && inv.feeds.is_none()
        }
        name => matches!(name, "echo" | ":" | "true"),
    };
    quiet && inv.args.is_empty()
}

const SWEEPERS: &[&str] = &["ping", "ping6", "nc", "ncat", "arping", "curl"];

/// A loop that asks every machine of a network, or every port of one, whether it is there.
fn swept<'a>(scene: &Scene<'a>) -> Found<'a> {
    if !SWEPT_NUMBERS.iter().any(|all| scene.says(all)) {
        return Found::No;
    }
    let asks = scene.running(|inv| runs(inv, SWEEPERS)).find(|inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.') || text.contains("://")
        })
    });
    Found::from(asks.map(|inv| inv.text.as_str()))
}
