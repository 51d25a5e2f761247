//! The network: what comes in and is run, what goes out, who may come in.

pub(super) mod attackers;
pub(super) mod comes_in;
mod data_sent;
pub(super) mod doors;
pub(super) mod goes_out;
pub(super) mod metadata;
pub(super) mod secret_sent;
pub(super) mod shells;
mod stores;
pub(super) mod taken;

use super::{everyday, flagged, lists, predicate, run, sub};
use crate::domain::{EffectKind, OneOf, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, Code, Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, classify, flag_value,
    has_flag, has_operand, host_of, is_known, runs, target_of,
};
use crate::shell::Arg;

words!("builtin/network");

const SSH: &[&str] = &["ssh", "scp", "sftp"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "network.serves-private",
        reason: "serves the home directory, the whole machine or secrets to whoever can reach it",
        instead: Some(Instead::Advice("serve the one directory that is meant, at 127.0.0.1 only")),
        when: &[
            predicate("private_directory_served", Trigger::ACTIVE, private_served),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["http.server", "SimpleHTTPRequestHandler"],
                    &[
                        "chdir('/')",
                        "chdir(\"/\")",
                        "directory='/'",
                        "directory=\"/\"",
                        "chdir(os.path.expanduser('~')",
                        "chdir(Path.home()",
                    ],
                ],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "network.listen",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "opens a port of this machine to whoever can reach it",
        instead: Some(Instead::Advice("listen at 127.0.0.1 only")),
        when: &[
            When::Command(flagged(lists::NETCATS, &[&["-l", "--listen"]])),
            When::Command(Command {
                operand: Operand::Contains(&["tcp-listen:", "tcp4-listen:", "udp-listen:", "tcp-l:"]),
                ..run(&["socat"])
            }),
        ],
        ..RULE
    },
    Rule {
        id: "network.tunnel",
        verdict: Verdict::Modify,
        reason: "opens a way into this machine from the internet",
        instead: Some(Instead::Advice("let the person open the tunnel")),
        when: &[
            When::Command(flagged(&["ssh", "autossh"], &[&["-R", "-w"]])),
            predicate("tunnel_by_an_option_of_ssh", Trigger::programs(&["ssh", "autossh"]), ssh_forwards),
            When::Command(run(&[
                "sshx",
                "wstunnel",
                "rathole",
                "gost",
                "frps",
                "inlets",
                "zrok",
                "telebit",
                "playit",
                "pinggy",
                "serveo",
                "loophole",
                "sish",
                "boringproxy",
            ])),
            When::Command(sub(&["code", "code-insiders"], &["tunnel"])),
            When::Command(sub(&["devtunnel"], &["host", "create"])),
            predicate("tunnel_of_ngrok", Trigger::programs(&["ngrok"]), |scene| {
                let found = scene.first(&["ngrok"], |inv| {
                    let first = inv.operands.first().and_then(Arg::known);
                    let second = inv.operands.get(1).and_then(Arg::known);
                    !(inv.operands.is_empty()
                        || matches!(
                            (first, second),
                            (Some("version" | "help"), _) | (Some("config"), Some("check"))
                        ))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command {
                operand: Operand::Some,
                ..run(&["lt", "localtunnel", "bore", "chisel", "frpc", "pagekite"])
            }),
            predicate("tunnel_of_cloudflare", Trigger::programs(&["cloudflared"]), |scene| {
                let found = scene.first(&["cloudflared"], |inv| {
                    has_operand(inv, "tunnel") && !everyday::tells_of_tunnels(inv)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { operand: Operand::Some, ..run(&["ttyd", "gotty", "wetty"]) }),
            When::Command(run(&["tmate", "upterm", "telnetd", "in.telnetd", "shellinaboxd"])),
            When::Command(Command { operand: Operand::Is(&["none"]), ..run(&["code-server"]) }),
            When::Command(flagged(
                &["code-server", "openvscode-server"],
                &[&["--auth=none", "--without-connection-token"]],
            )),
            When::Command(sub(&["tailscale"], &["funnel", "serve", "up"])),
            predicate("private_network_of_a_stray_file", Trigger::programs(VPNS), joins_by_stray_file),
        ],
        ..RULE
    },
    Rule {
        id: "network.no-certificate-check",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "does not check who it is talking to",
        instead: Some(Instead::Advice(
            "leave the option out; a certificate of your own can be named with --cacert",
        )),
        when: &[predicate("certificate_not_checked", Trigger::programs(CHECKERS), certificate_not_checked)],
        ..RULE
    },
    Rule {
        id: "network.host-key-check",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "does not check which machine it logs in to",
        instead: Some(Instead::Advice("leave the option out, so that the key of the host is compared")),
        when: &[predicate("host_key_not_checked", Trigger::programs(SSH), host_key_not_checked)],
        ..RULE
    },
];

/// Whether code that serves runs what a request says.
pub(super) fn runs_for_visitors(code: &str) -> bool {
    const RUNS: &[&str] = &[
        "os.system(",
        "os.popen(",
        "subprocess.getoutput(",
        "subprocess.run(",
        "subprocess.check_output(",
        "subprocess.popen(",
        ".exec(",
        ".execsync(",
        "execsync(",
        "exec(",
        "r.body=`#{",
        "system(",
    ];
    static SERVING: OneOf<{ SERVES_PAGES.len() }> = OneOf::new(SERVES_PAGES);
    if !SERVING.stands_in(code) {
        return false;
    }
    let bare: String = code.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    // `route('/<c>')(lambda c: os.popen(c)…`
    let routed = bare.contains("route(") && bare.contains("lambdac:os.popen(c)");
    routed
        || RUNS.iter().any(|run| {
            { bare.match_indices(run) }.take(16).any(|(at, _)| {
                let given = bare.get(at + run.len()..).unwrap_or_default();
                ASKED_FOR.iter().any(|word| given.starts_with(word))
            })
        })
}

/// A forwarding that is an option, or a proxy that stays when nobody looks any more.
fn ssh_forwards<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["ssh", "autossh"], |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let remote = words.iter().any(|word| {
            word.trim_start_matches("-o").trim_start().to_ascii_lowercase().starts_with("remoteforward")
        });
        let behind =
            inv.program == "autossh" && words.iter().any(|word| word == "-R" || word.starts_with("-R"));
        let proxy = has_flag(inv, "-D") && (has_flag(inv, "-f") || has_flag(inv, "-N"));
        remote || behind || proxy
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A server of files is told to serve a directory that is nobody else's business, or runs in one.
fn private_served<'a>(scene: &Scene<'a>) -> Found<'a> {
    let private = |arg: &Arg, inv: &Invocation| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => {
            let target = Target::Path { path, glob, recursive: true };
            let place = classify(&target, EffectKind::FileDeletion, &scene.view);
            place.any(&[Class::Root, Class::Home, Class::Users, Class::Secret])
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    let here = Arg::literal(".");
    let found = scene.invocations().iter().find(|inv| {
        let module = inv.args.iter().any(|arg| {
            matches!(
                arg.known(),
                Some("http.server" | "SimpleHTTPServer" | "uploadserver" | "pyftpdlib" | "updog")
            )
        });
        if module {
            let at = inv.args.iter().position(|arg| matches!(arg.known(), Some("-d" | "--directory")));
            let given = at.and_then(|at| inv.args.get(at + 1));
            let given =
                given.or_else(|| inv.args.iter().find(|arg| arg.prefix().starts_with("--directory=")));
            return private(given.unwrap_or(&here), inv);
        }
        if inv.program == "git" {
            let base = inv.args.iter().find_map(|arg| arg.known()?.strip_prefix("--base-path="));
            let bound = inv.args.iter().any(|arg| arg.prefix().starts_with("--listen=127."));
            return inv.sub.first().is_some_and(|sub| sub == "daemon")
                && !bound
                && base.is_some_and(|base| private(&Arg::literal(base), inv));
        }
        // `ruby -run -e httpd ~`, `busybox httpd -h ~`
        let httpd = runs(inv, &["ruby", "busybox", "httpd", "thttpd", "webfsd"])
            && (inv.program != "ruby" && inv.program != "busybox" || inv.text.contains("httpd"));
        if httpd {
            return inv.args.iter().any(|arg| arg.prefix().starts_with(['/', '~']) && private(arg, inv));
        }
        let serves = inv.program == "php" && has_flag(inv, "-S")
            || runs(inv, &["serve", "http-server", "live-server", "npx", "bunx", "miniserve", "darkhttpd"])
                && (inv.program != "npx" && inv.program != "bunx"
                    || inv
                        .operands
                        .iter()
                        .any(|arg| matches!(arg.known(), Some("serve" | "http-server" | "live-server"))));
        let root = flag_value(inv, &["-t"]);
        let named = |arg: &&Arg| arg.prefix().starts_with(['/', '~']);
        let mut places = inv.operands.iter().chain(root).filter(named).peekable();
        serves
            && if places.peek().is_none() && root.is_none() && inv.program == "php" {
                private(&here, inv)
            } else {
                places.any(|arg| private(arg, inv))
            }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The hosts that a command names in its operands.
const VPNS: &[&str] = &["wg-quick", "openvpn"];

/// A private network is joined by a file that lies where anybody can write.
fn joins_by_stray_file<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(VPNS, |inv| {
        let stray = |arg: &Arg| {
            ["/tmp/", "/var/tmp/", "/dev/shm/"]
                .iter()
                .any(|dir| arg.prefix().trim_start_matches("--config=").starts_with(dir))
        };
        !inv.args.iter().any(|arg| arg.known() == Some("down")) && inv.args.iter().any(stray)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn unknown_host(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.operands.iter().any(|arg| is_unknown_host(arg, scene))
}

/// Whether an argument is an address of a host that is not among the known ones.
fn is_unknown_host(arg: &Arg, scene: &Scene<'_>) -> bool {
    let text = arg.text();
    let host = host_of(&text);
    let url =
        text.contains("://") || (host.contains('.') && !text.starts_with(['/', '.']) && !host.contains('@'));
    url && (host.is_empty() || !is_known(&host, scene.view.policy))
}

fn certificate_not_checked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CHECKERS, |inv| {
        let texts = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
        match inv.program.as_str() {
            "curl" => (has_flag(inv, "-k") || has_flag(inv, "--insecure")) && unknown_host(inv, scene),
            "wget" => has_flag(inv, "--no-check-certificate") && unknown_host(inv, scene),
            "http" | "https" => texts("--verify=no"),
            "git" => texts("http.sslVerify=false") || (texts("http.sslVerify") && texts("false")),
            _ => texts("strict-ssl") && texts("false"),
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn host_key_not_checked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(SSH, |inv| {
        let value = flag_value(inv, &["-o"]).map(Arg::text).unwrap_or_default();
        let lower = value.to_ascii_lowercase();
        lower.starts_with("stricthostkeychecking=no") || lower.starts_with("userknownhostsfile=/dev/null")
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
