//! Shells for somebody elsewhere, and the tools of who looks for a way in.

use super::{attackers, runs_for_visitors};
use crate::domain::{EffectKind, Severity, Target, Verdict};
use crate::rules::builtin::{flagged, lists, predicate, run};
use crate::rules::matcher::{
    Code, Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, has_flag, input_of, runs,
    runs_code, runs_shell,
};
use crate::rules::{Invocation, Stdin};

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "network.reverse-shell",
        severity: Severity::Critical,
        reason: "gives somebody on the network a shell on this machine",
        instead: Some(Instead::Advice("let the person open the connection that is needed")),
        when: &[
            When::Command(flagged(lists::NETCATS, &[&["-e", "-c", "--exec", "--sh-exec", "--lua-exec"]])),
            predicate("program_on_a_socket", Trigger::programs(&["socat"]), served),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "socket",
                        "open_connection(",
                        "Deno.connect(",
                        "stream_socket_client",
                        "TCPSocket",
                        "fsockopen",
                        "net.connect",
                        "net.Socket",
                        "require('net')",
                        "require(\"net\")",
                        "node:net",
                        "net.Dial",
                        "IO::Socket",
                        "TCPServer",
                        "gen_tcp",
                        "using Sockets",
                        "pack_sockaddr_in",
                        "new Socket(",
                        "make-network-process",
                        "Bun.listen(",
                        "Bun.connect(",
                        "socket.create_connection",
                    ],
                    &[
                        ":os.cmd(",
                        "os:cmd(",
                        "[\"sh\"].execute(",
                        "['sh'].execute(",
                        "[\"bash\"].execute(",
                        "\"sh\".execute(",
                        "\"bash\".execute(",
                        "shell-command-to-string",
                        "Bun.spawn",
                        "print $c `$_`",
                        "`$_`",
                        "dup2",
                        "pty.spawn",
                        "/bin/sh",
                        "/bin/bash",
                        "exec(\"sh",
                        "child_process",
                        "subprocess",
                        "open(STDIN",
                        "IO.popen",
                        "`#{",
                        "eval $_",
                        "Deno.run(",
                        "Deno.Command(",
                        "os.execute",
                        "io.popen",
                        "os.popen",
                        "proc_open",
                        "shell_exec",
                        "fdopen",
                        "system$",
                        "system $",
                        "exec sh",
                        "exec /bin",
                        "exec \"/bin",
                        "exec \"sh",
                        "exec\"sh",
                        "exec'sh",
                        "exec 'sh",
                        "open STDIN",
                        "spawn(\"sh",
                        "spawn(\"/bin",
                        "popen(\"sh",
                        "`sh ",
                        "`sh`",
                        "System.cmd",
                        "system(readLines",
                        "ProcessBuilder",
                        "getRuntime",
                        "Process.run",
                        "exec $",
                        "[eval ",
                        "exec(socket",
                        "exec(s.recv",
                        ").recv(",
                    ],
                ],
            }),
            When::Code(Code {
                programs: lists::SCRIPTED_FILTERS,
                all: &[&["/inet/tcp", "/inet/udp", "/inet4/"]],
            }),
            predicate("shell_on_a_socket", Trigger::SHELL, shell_on_socket),
            When::Command(run(&[
                "gs-netcat",
                "gsocket",
                "pwncat-cs",
                "pwncat",
                "rustcat",
                "dnscat2",
                "dnscat",
                "ligolo-agent",
                "ligolo-proxy",
                "iodine",
                "iodined",
                "ptunnel",
                "icmpsh",
                "sliver-client",
                "meterpreter",
                "merlinAgent",
                "villain",
            ])),
            When::Command(flagged(&["xterm"], &[&["-display"]])),
            When::Command(Command { operand: Operand::Is(&["connect"]), ..run(&["rcat"]) }),
            When::Command(Command {
                operand: Operand::Is(&["pwncat", "pty_shell"]),
                ..flagged(&["python", "python3"], &[&["-m"]])
            }),
            When::Command(flagged(&["agent"], &[&["-ignore-cert", "-connect"]])),
            predicate("shell_between_a_fifo_and_a_connection", Trigger::SHELL, shell_through_fifo),
            predicate("source_of_a_reverse_shell_written_and_run", Trigger::programs(BUILDERS), built_shell),
            predicate("network_commands_run_by_code", Trigger::INTERPRETER, commanded),
            predicate("visitors_commands_run_by_code", Trigger::INTERPRETER, serves_commands),
            predicate("shell_of_a_debugger_on_a_socket", Trigger::programs(&["gdb", "lldb"]), debugger_shell),
        ],
        ..RULE
    },
    Rule {
        id: "network.shell-socket",
        reason: "opens a network connection through the shell itself, past every tool that would show it",
        instead: Some(Instead::Advice("look at the ports of this machine only")),
        when: &[
            predicate(
                "redirection_to_a_socket",
                Trigger::PATHS.or(Trigger::REDIRECTED).or(Trigger::TOOL),
                redirected_to_socket,
            ),
            When::Command(run(&["ztcp"])),
            When::Command(Command { operand: Operand::Contains(&["zsh/net"]), ..run(&["zmodload"]) }),
        ],
        ..RULE
    },
    Rule {
        id: "network.attack-tools",
        verdict: Verdict::Modify,
        reason: "scans or attacks other machines",
        instead: Some(Instead::Advice("look at the ports of this machine only")),
        when: &[
            predicate(
                "attack_tool",
                Trigger::programs(attackers::ATTACKERS)
                    .or(Trigger::programs(attackers::BREAKERS))
                    .or(Trigger::INTERPRETER)
                    .or(Trigger::SHELL),
                attackers::attacks,
            ),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["connect_ex(", ".connect((", "create_connection("],
                    &["65536", "65535", "range(1, 1025", "range(1,1025", "range(1, 1024", "range(1,1024"],
                    &["range("],
                ],
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["extractall(", "setpassword(", "crypt.crypt(", "hashlib."],
                    &["itertools.product(", "rockyou"],
                    &["pwd=", "password=", "pwd =", "hexdigest", "crypt("],
                ],
            }),
            predicate("network_swept_by_a_loop", Trigger::programs(SWEEPERS), swept),
        ],
        ..RULE
    },
];

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
fn built_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SOCKETS: &[&str] = &[
        "net.Dial",
        "java.net.Socket",
        "new Socket(",
        "TcpStream::connect",
        "socket(AF_INET",
        "socket.socket(",
    ];
    const SHELLS: &[&str] = &[
        "exec.Command",
        "ProcessBuilder",
        "getRuntime",
        "Command::new",
        "execve",
        "execl",
        "dup2",
        "pty.spawn",
    ];
    let hostile = |text: &str| {
        SOCKETS.iter().any(|word| text.contains(word))
            && SHELLS.iter().any(|word| text.contains(word))
            && ["sh\"", "bash\"", "/bin/", "cmd.exe"].iter().any(|word| text.contains(word))
    };
    let found = scene.first(BUILDERS, |inv| {
        inv.args.iter().any(|arg| hostile(&arg.text()))
            || input_of(inv, scene).iter().any(|text| hostile(text))
            || scene.view.survey.written.iter().any(|(_, text)| hostile(&text.text()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code that asks a host for commands and runs what it answers.
fn commanded<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ASKS: &[&str] = &["urlopen(", "requests.get(", ".recv(", "file_get_contents(", "net::http.get"];
    const RUNS: &[&str] = &[
        "os.system(",
        "os.popen(",
        "subprocess.run(",
        "subprocess.call(",
        "check_output(",
        "popen(",
        "shell_exec(",
        "system(",
    ];
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        inv.args.iter().filter(|arg| arg.text().contains('(')).any(|arg| {
            let bare: String =
                arg.text().chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            RUNS.iter().any(|run| {
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
fn debugger_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["gdb", "lldb"], |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text.contains("socket")
                && text.contains("connect")
                && ["dup2", "subprocess", "pty.spawn", "os.exec", "os.system"]
                    .iter()
                    .any(|w| text.contains(w))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `socat TCP-LISTEN:1,fork EXEC:/bin/sh`: whatever program it is, unless that one only gives back what it is given.
fn served<'a>(scene: &Scene<'a>) -> Found<'a> {
    const HARMLESS: &[&str] = &["cat", "date", "true", "false", "rev", "wc", "hostname", "uptime"];
    let found = scene.first(&["socat"], |inv| {
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
    const ALL: &[&str] = &[
        "seq 1 254",
        "seq 254",
        "seq 1 255",
        "seq 255",
        "{1..254}",
        "{1..255}",
        "{1..65535}",
        "seq 1 65535",
        "seq 65535",
    ];
    if !ALL.iter().any(|all| scene.says(all)) {
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
