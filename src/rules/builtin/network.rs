//! The network: what comes in and is run, what goes out, who may come in.

pub(super) mod attackers;
pub(super) mod comes_in;
mod data_sent;
pub(super) mod doors;
pub(super) mod goes_out;
pub(super) mod metadata;
mod moved;
mod pushes;
pub(super) mod secret_sent;
pub(super) mod shells;
mod stores;
pub(super) mod taken;

use super::{everyday, lists};
use crate::domain::{EffectKind, OneOf, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, Scene, classify, flag_value, has_flag, has_operand, host_of, is_known, runs, target_of,
};
use crate::shell::Arg;

words!("builtin/network");

const SSH: &[&str] = &["ssh", "scp", "sftp"];

fn tunnel_of_ngrok(inv: &Invocation) -> bool {
    let first = inv.operands.first().and_then(Arg::known);
    let second = inv.operands.get(1).and_then(Arg::known);
    !(inv.operands.is_empty()
        || matches!((first, second), (Some("version" | "help"), _) | (Some("config"), Some("check"))))
}

fn tunnel_of_cloudflare(inv: &Invocation) -> bool {
    has_operand(inv, "tunnel") && !everyday::tells_of_tunnels(inv)
}

/// Whether code that serves runs what a request says.
pub(super) fn runs_for_visitors(code: &str) -> bool {
    static SERVING: OneOf<{ SERVES.len() }> = OneOf::new(SERVES);
    if !SERVING.stands_in(code) {
        return false;
    }
    let bare: String = code.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    // `route('/<c>')(lambda c: os.popen(c)…`
    let routed = bare.contains("route(") && bare.contains("lambdac:os.popen(c)");
    routed
        || RUNS_TEXT.iter().any(|run| {
            { bare.match_indices(run) }.take(16).any(|(at, _)| {
                let given = bare.get(at + run.len()..).unwrap_or_default();
                ASKED.iter().any(|word| given.starts_with(word))
            })
        })
}

/// A forwarding that is an option, or a proxy that stays when nobody looks any more.
fn ssh_forwards(inv: &Invocation) -> bool {
    let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let remote = words.iter().any(|word| {
        word.trim_start_matches("-o").trim_start().to_ascii_lowercase().starts_with("remoteforward")
    });
    let behind = inv.program == "autossh" && words.iter().any(|word| word == "-R" || word.starts_with("-R"));
    let proxy = has_flag(inv, "-D") && (has_flag(inv, "-f") || has_flag(inv, "-N"));
    remote || behind || proxy
}

/// A server of files is told to serve a directory that is nobody else's business, or runs in one.
fn private_served(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let private = |arg: &Arg, inv: &Invocation| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => {
            let target = Target::Path { path, glob, recursive: true };
            let place = classify(&target, EffectKind::FileDeletion, &scene.view);
            place.any(&[Class::Root, Class::Home, Class::Users, Class::Secret])
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    let here = Arg::literal(".");
    let module = inv.args.iter().any(|arg| {
        matches!(
            arg.known(),
            Some("http.server" | "SimpleHTTPServer" | "uploadserver" | "pyftpdlib" | "updog")
        )
    });
    if module {
        let at = inv.args.iter().position(|arg| matches!(arg.known(), Some("-d" | "--directory")));
        let given = at.and_then(|at| inv.args.get(at + 1));
        let given = given.or_else(|| inv.args.iter().find(|arg| arg.prefix().starts_with("--directory=")));
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
}

/// The hosts that a command names in its operands.
const VPNS: &[&str] = &["wg-quick", "openvpn"];

/// A private network is joined by a file that lies where anybody can write.
fn joins_by_stray_file(inv: &Invocation) -> bool {
    let stray = |arg: &Arg| {
        ["/tmp/", "/var/tmp/", "/dev/shm/"]
            .iter()
            .any(|dir| arg.prefix().trim_start_matches("--config=").starts_with(dir))
    };
    !inv.args.iter().any(|arg| arg.known() == Some("down")) && inv.args.iter().any(stray)
}

fn unknown_host(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.operands.iter().chain(flag_value(inv, &["--url"])).any(|arg| is_unknown_host(arg, scene))
}

/// Whether an argument is an address of a host that is not among the known ones.
fn is_unknown_host(arg: &Arg, scene: &Scene<'_>) -> bool {
    let text = arg.text();
    let host = host_of(&text);
    let url =
        text.contains("://") || (host.contains('.') && !text.starts_with(['/', '.']) && !host.contains('@'));
    url && (host.is_empty() || !is_known(&host, scene.view.policy))
}

fn certificate_not_checked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let texts = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
    match inv.program.as_str() {
        "curl" => (has_flag(inv, "-k") || has_flag(inv, "--insecure")) && unknown_host(inv, scene),
        "wget" => has_flag(inv, "--no-check-certificate") && unknown_host(inv, scene),
        "http" | "https" => texts("--verify=no"),
        "git" => texts("http.sslVerify=false") || (texts("http.sslVerify") && texts("false")),
        _ => texts("strict-ssl") && texts("false"),
    }
}

fn host_key_not_checked(inv: &Invocation) -> bool {
    let value = flag_value(inv, &["-o"]).map(Arg::text).unwrap_or_default();
    let lower = value.to_ascii_lowercase();
    lower.starts_with("stricthostkeychecking=no") || lower.starts_with("userknownhostsfile=/dev/null")
}
