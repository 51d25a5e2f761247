//! Secrets that go to another machine.

use super::taken;
use crate::domain::{EffectKind, Target};
use crate::rules::builtin::downloads::reads_into_variables;
use crate::rules::builtin::lists;
use crate::rules::builtin::secrets::{carried, is_secret_name, names_in};
use crate::rules::matcher::{
    Class, Found, Scene, classify, input_of, is_bare_name, is_prose, runs, sends, shown_as_key, target_of,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// Clients for files that are told in a language of their own what to do.
pub(super) const FILE_CLIENTS: &[&str] = &["sftp", "ftp", "lftp", "tftp", "smbclient"];

words!("builtin/network/secret_sent");

/// A secret is given to what publishes, or copied beforehand to what is published.
fn published(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const SHOWN: &[&str] = &["public", "dist", "build", "out", "static", "www", "site", "_site"];
    let laid_out = || {
        scene.invocations().iter().filter(|inv| runs(inv, &["cp", "mv", "install", "ln"])).any(|inv| {
            let to = inv.operands.last().map(Arg::text).unwrap_or_default();
            to.split('/').any(|part| SHOWN.contains(&part)) && sends(inv, scene)
        })
    };
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let first = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    match inv.program.as_str() {
        "gcloud" => {
            first == "storage"
                && words.iter().any(|word| matches!(*word, "cp" | "mv" | "rsync"))
                && sends(inv, scene)
        }
        "logger" => words.iter().any(|word| matches!(*word, "-n" | "--server")) && sends(inv, scene),
        name => {
            let tool = if matches!(name, "npx" | "bunx") {
                first.split('@').next().unwrap_or_default()
            } else {
                name
            };
            let publishes = matches!(tool, "gh-pages" | "surge")
                || words.iter().any(|word| {
                    matches!(*word, "deploy" | "publish" | "--prod") || word.ends_with(":deploy")
                });
            SITE_PUBLISHERS.contains(&tool) && publishes && (sends(inv, scene) || laid_out())
        }
    }
}

/// A client for files is told to send a secret one, in its commands.
fn put_by_client(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let options = inv.flags.iter().filter_map(|flag| flag.value.as_ref()).map(Arg::to_text);
    input_of(inv, scene).into_iter().chain(options).any(|text| {
        text.split([' ', '\n', ';', '\t', '"']).any(|word| {
            let target = target_of(&Arg::literal(word), inv.cwd.as_deref());
            text.contains("put")
                && word.contains('/')
                && classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
        })
    })
}

/// The value of a secret variable goes down a connection.
fn variable_sent(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let sent = || {
        scene.invocations().iter().any(|other| {
            other.pipeline == inv.pipeline
                && other.stage > inv.stage
                && (runs(other, lists::NETCATS) || runs(other, &["telnet", "socat"]))
        })
    };
    names_in(&inv.text).any(is_secret_name) && inv.args.iter().any(Arg::has_unknown) && sent()
}

const RESOLVERS: &[&str] = &[
    "dig",
    "nslookup",
    "host",
    "drill",
    "dog",
    "ping",
    "ping6",
    "resolvectl",
    "kdig",
    "delv",
    "doggo",
    "getent",
];

/// A name to look up that is put together from what another command prints.
fn carried_by_names(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const DATA: &[&str] = &[
        "base64", "base32", "xxd", "cat", "whoami", "id", "uname", "head", "od", "hexdump", "env",
        "printenv", "hostname",
    ];
    let all = scene.invocations();
    let at = all.iter().position(|other| std::ptr::eq(other, inv));
    let fed = || {
        all.iter().any(|other| {
            let feeds = other.feeds == at && at.is_some()
                || all.iter().any(|last| last.pipeline == other.pipeline && last.feeds == at && at.is_some());
            feeds && runs(other, DATA)
        })
    };
    // What `whoami` prints may be known, and is told all the same.
    let named = || [").", "`."].iter().any(|end| inv.text.contains(end));
    // `ping -p` fills its packets with what it is given.
    let filled = || inv.program.starts_with("ping") && inv.text.contains(" -p");
    (named() || filled() || inv.args.iter().any(|arg| arg.has_unknown() && arg.text().contains("….")))
        && !inv.text.contains(".local")
        && fed()
}

/// Files that tell who is on the machine, or what was typed there.
fn is_account_file(text: &str) -> bool {
    text.starts_with("/etc/passwd")
        || text.starts_with("/etc/shadow")
        || text.ends_with("/.bash_history")
        || text.ends_with("/.zsh_history")
}

/// The list of users or a history goes to another machine.
fn accounts_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let foreign = |inv: &Invocation| {
        (runs(inv, lists::SENDERS) || runs(inv, lists::NETCATS))
            && !runs(inv, &["ssh", "git", "gh", "aws", "az", "mc"])
    };
    if !scene.runs_any(foreign) {
        return Found::No;
    }
    let found = all.iter().find(|inv| {
        let own = inv.reads.iter().any(|target| is_account_file(target.text()))
            || matches!(&inv.stdin, Stdin::File(target) if is_account_file(target.text()))
            || inv.args.iter().any(|arg| {
                let text = arg.text();
                is_account_file(text.rsplit(['@', '=', ':', '<']).next().unwrap_or_default())
                    && !text.contains("://")
            });
        if foreign(inv) && own {
            return true;
        }
        let reads = runs(inv, &["cat", "base64", "head", "tail", "xxd", "gzip", "tar", "grep"])
            && inv.operands.iter().any(|arg| {
                let target = target_of(arg, inv.cwd.as_deref());
                is_account_file(target.text())
            });
        let to = |other: &Invocation| {
            let piped = other.pipeline == inv.pipeline && other.stage > inv.stage;
            let fed = all.iter().any(|last| {
                last.pipeline == inv.pipeline
                    && last.feeds.and_then(|at| all.get(at)).is_some_and(|outer| std::ptr::eq(outer, other))
            });
            (piped || fed) && foreign(other)
        };
        reads && all.iter().any(to)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A secret that a client names in its own language: `FILE:/etc/shadow`, `put .env`, or a value read into a variable.
fn secret_in_text<'a>(scene: &Scene<'a>) -> Found<'a> {
    let secret = |word: &str, inv: &Invocation| {
        let whole = match target_of(&Arg::literal(word), inv.cwd.as_deref()) {
            Target::Path { path, glob, .. } => Target::Path { path, glob, recursive: true },
            other => other,
        };
        classify(&whole, EffectKind::FileRead, &scene.view).any(&[Class::Secret, Class::EnvFile])
    };
    let uploads =
        |inv: &Invocation| runs(inv, FILE_CLIENTS) || runs(inv, &["tnftp", "ncftpput", "ftpput", "busybox"]);
    let may_send = |inv: &Invocation| inv.program == "socat" || uploads(inv) || runs(inv, STORED);
    let found = scene.running(may_send).find(|inv| {
        if inv.program == "socat" {
            return inv.args.iter().any(|arg| {
                let text = arg.text();
                text.split([':', ',']).any(|part| part.contains('/') && secret(part, inv))
            });
        }
        if uploads(inv) {
            let texts = input_of(inv, scene).into_iter().chain(inv.args.iter().map(Arg::to_text));
            return { texts }.any(|text| {
                let mut words = text.split([' ', '\n', ';', '\t', '"']);
                let mut puts = false;
                words.any(|word| {
                    let sent = puts && secret(word, inv);
                    puts = puts || matches!(word, "put" | "mput" | "mirror" | "send");
                    sent || runs(inv, &["ncftpput", "ftpput"]) && word.contains('.') && secret(word, inv)
                })
            });
        }
        let stored = runs(inv, STORED);
        let verbs = ["list", "get", "ls", "describe", "set", "login"];
        stored
            && !inv.sub.iter().any(|sub| verbs.contains(&sub.as_str()))
            // A text of several words speaks of a file and is none.
            && (inv.args.iter().any(|arg| {
                let text = arg.text();
                !is_prose(inv, arg)
                    && !text.trim().contains(char::is_whitespace)
                    && secret(text.trim_start_matches('@'), inv)
            })
                || matches!(&inv.stdin, Stdin::File(target) if secret(target.text(), inv)))
    });
    if let Some(inv) = found {
        return Found::yes(&inv.text);
    }
    // `read x < .env; curl …$x`
    let read = scene.running(reads_into_variables).any(|inv| {
        reads_into_variables(inv) && inv.reads.iter().any(|target| secret(target.text(), inv))
            || runs(inv, &["read"]) && matches!(&inv.stdin, Stdin::File(target) if secret(target.text(), inv))
    });
    if !read {
        return Found::No;
    }
    let mut told = scene.running(|inv| runs(inv, lists::DOWNLOADERS));
    Found::from(told.find(|inv| inv.args.iter().any(Arg::has_unknown)).map(|inv| inv.text.as_str()))
}

/// Code that puts a secret variable or a secret file into a request to somebody.
fn code_sends_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| {
        codes.iter().filter(|text| !is_bare_name(text) && text.holds_any(CODE_SENDING)).any(|text| {
            let bare: String =
                text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            if !CODE_SENDS.iter().any(|send| bare.contains(send)) {
                return false;
            }
            let here = bare.contains("localhost") || bare.contains("127.0.0.1");
            let opens = |name: &str| {
                CODE_READS.iter().any(|read| {
                    { bare.split(read).skip(1) }.any(|tail| {
                        let path = tail.split(['\'', '"', '`', ')']).next().unwrap_or_default();
                        path == name
                            || path.ends_with(name) && name.starts_with('.') && path.starts_with(['.', '/'])
                    })
                })
            };
            let started = || {
                ["check_output(", "popen(", "subprocess.run(", "execsync(", "getoutput("]
                    .iter()
                    .any(|call| bare.contains(call))
            };
            let accounts = opens("/etc/passwd")
                || !here && bare.contains("cat/etc/passwd") && started()
                || !here && (opens(".env") || opens(".env.local") || opens(".env.production"))
                || !here && CODE_ALL.iter().any(|all| bare.contains(all));
            let known = bare.contains("api.github.com")
                || bare.contains("authorization")
                || bare.contains("api-key")
                || bare.contains("api_key=");
            let fronts = [
                "os.environ['",
                "os.environ[\"",
                "os.getenv('",
                "os.getenv(\"",
                "process.env.",
                "env['",
                "env[\"",
            ];
            let named = || {
                fronts.iter().any(|front| {
                    bare.split(front).skip(1).any(|tail| {
                        let name: String =
                            tail.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                        is_secret_name(&name)
                    })
                })
            };
            accounts || !known && named()
        })
    })
}
