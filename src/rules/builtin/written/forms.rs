//! Forms of code that serve nobody but an attacker: found in the code by their look, without following what it does.

use super::code::{DELETES, Piece};
use super::judge;
use crate::domain::{EffectKind, Target, Verdict, join};
use crate::rules::builtin::network;
use crate::rules::matcher::{Class, Scene, classify, host_of, is_known};

words!("builtin/written/forms");

/// Directories that are gone through and emptied file by file, disks that are written to, and the home directory in a variable
/// that is deleted.
pub(super) fn emptied(scene: &Scene<'_>, code: &str, bare: &str, pieces: &[Piece], home: &str) -> Verdict {
    let unlinks = UNLINKS.iter().any(|call| bare.contains(call));
    let modes = ["w", "wb", "a", "ab", "r+", "r+b", "rb+", "wb+", "w+", "w+b"];
    let lost = pieces.iter().enumerate().any(|(at, piece)| {
        let call = piece.before.trim_end();
        let walked = || {
            let path = piece.text.trim_end_matches(['*', '/']);
            let whole =
                matches!(path, "" | "/etc" | "/home" | "/usr" | "/var" | "/root" | "/Users") || path == home;
            piece.text.starts_with('/') && whole
        };
        let call =
            ["os.path.expanduser(", "Path("].iter().find_map(|way| call.strip_suffix(way)).unwrap_or(call);
        let next = pieces.get(at + 1);
        let written = WRITES.iter().any(|one| call.ends_with(one))
            || next.is_some_and(|next| next.before.trim_start().starts_with(").write_text("))
            || call.ends_with("open(")
                && next.is_some_and(|next| {
                    next.before.trim_start_matches([')', ' ']).starts_with(',')
                        && modes.contains(&next.text.as_str())
                });
        let path =
            piece.text.strip_prefix('~').map_or_else(|| piece.text.clone(), |rest| format!("{home}{rest}"));
        let opens = written && lets_in(&path);
        let target = Target::Path { path, glob: false, recursive: false };
        let disk = || {
            piece.text.starts_with("/dev/")
                && classify(&target, EffectKind::FileModification, &scene.view).has(Class::Device)
                || piece.text.to_ascii_lowercase().starts_with("\\\\.\\physicaldrive")
        };
        unlinks && WALKS.iter().any(|one| call.ends_with(one)) && walked() || opens || written && disk()
    });
    let below_root = pieces
        .iter()
        .any(|piece| piece.before.trim_end().ends_with("Path(") && (piece.text == "/" || piece.text == home))
        && (bare.contains(".rglob(") || bare.contains(".iterdir("));
    let lost = lost
        || unlinks && below_root
        || ["rm -rf /", "rm -rf ~"].iter().any(|line| code.contains(&format!("\"{line}\".execute()")));
    if lost || home_in_variable(code) || home_emptied(code, bare, home) || home_listed(code, pieces, home) {
        Verdict::Block
    } else {
        Verdict::Allow
    }
}

/// The home directory, written as a string, or a variable that holds it, is deleted or gone through to delete what is in it.
fn home_emptied(code: &str, bare: &str, home: &str) -> bool {
    const CLOSED: &[&str] = &[")", ";", ",", ""];
    const LISTS: &[&str] = &["listdir(", "scandir(", "readdirSync(", "readdir(", "walk(", "each_child("];
    let quoted = [format!("'{home}'"), format!("\"{home}\"")];
    if !quoted.iter().any(|text| code.contains(text.as_str())) {
        return false;
    }
    let chosen = || {
        code.lines().any(|line| {
            line.trim_start().starts_with("if ")
                && !line.contains("is_dir")
                && !line.contains("isdir")
                && !line.contains("exists")
        })
    };
    let unlinks = UNLINKS.iter().any(|call| bare.contains(call));
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let direct = quoted.iter().any(|text| {
        tight.contains(&format!("File({text}).deleteRecursively("))
            || unlinks && tight.contains(&format!("{text}.iterdir("))
            || unlinks && tight.contains(&format!("{text}).iterdir("))
    });
    let names = quoted.iter().flat_map(|text| code.match_indices(text.as_str())).filter_map(|(at, text)| {
        let line = code.get(..at)?.rsplit('\n').next()?;
        let behind = code.get(at + text.len()..)?.split('\n').next()?.trim();
        let (name, value) = line.split_once('=')?;
        let held = matches!(value.trim(), "" | "Path(" | "pathlib.Path(" | "File(" | "new File(");
        let name = name.split(':').next()?.trim().rsplit(' ').next()?;
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (held && plain && CLOSED.contains(&behind)).then_some(name)
    });
    let mut names = names.take(8);
    let lost = direct
        || names.any(|name| {
            let deleted = DELETES.iter().any(|call| {
                [")", ",", " ,"].iter().any(|end| code.contains(&format!("{call}{name}{end}")))
                    || code.contains(&format!("{call}&{name})"))
            });
            let listed = LISTS.iter().any(|list| code.contains(&format!("{list}{name})")))
                || [".iterdir(", ".rglob("].iter().any(|walk| code.contains(&format!("{name}{walk}")));
            deleted || unlinks && listed && bare.contains("rm")
        });
    lost && !chosen()
}

/// Directories of the home directory, named in a list, are deleted one by one.
fn home_listed(code: &str, pieces: &[Piece], home: &str) -> bool {
    const HOMES: &[&str] =
        &["Path.home()", "expanduser('~')", "expanduser(\"~\")", "os.homedir()", "homedir()", "Dir.home"];
    if !pieces.iter().any(|piece| HOME_DIRS.contains(&piece.text.as_str())) {
        return false;
    }
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    // What the calls stand for is in their place where it is known.
    let quoted = [format!("'{home}'"), format!("\"{home}\"")];
    let ways: Vec<&str> = HOMES.iter().copied().chain(quoted.iter().map(String::as_str)).collect();
    let names = ways.iter().flat_map(|way| code.match_indices(way)).filter_map(|(at, way)| {
        let line = code.get(..at)?.rsplit(['\n', ';']).next()?;
        let behind = code.get(at + way.len()..)?.split('\n').next()?.trim();
        if !matches!(behind, "" | ";" | ")" | ");") {
            return None;
        }
        let name = line.split_once('=')?.0.trim().rsplit(' ').next()?;
        (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
    });
    // What stands behind is a name, not one directory in quotes.
    let variable = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let mut held = names.take(8).map(str::to_owned).chain(ways.iter().map(|way| (*way).to_owned()));
    held.any(|name| {
        DELETES.iter().any(|call| {
            let call: String = call.chars().filter(|c| !c.is_whitespace()).collect();
            [
                format!("{call}{name}/"),
                format!("{call}os.path.join({name},"),
                format!("{call}path.join({name},"),
                format!("{call}File.join({name},"),
            ]
            .iter()
            .any(|form| {
                tight
                    .match_indices(form.as_str())
                    .any(|(at, _)| variable(tight.get(at + form.len()..).unwrap_or_default()))
            })
        })
    })
}

/// A file that says who may log in, or what the machine runs by itself.
fn lets_in(path: &str) -> bool {
    path.ends_with("/.ssh/authorized_keys")
        || matches!(
            path,
            "/etc/passwd"
                | "/etc/shadow"
                | "/etc/sudoers"
                | "/etc/crontab"
                | "/etc/ld.so.preload"
                | "/etc/pam.d/sshd"
        )
        || ["/etc/sudoers.d/", "/etc/cron.d/", "/var/spool/cron/"].iter().any(|dir| path.starts_with(dir))
}

/// A variable that holds the home directory goes to a call that deletes all of it.
fn home_in_variable(code: &str) -> bool {
    const WAYS: &[&str] = &[
        "os.UserHomeDir()",
        "homedir::my_home()",
        "dirs::home_dir()",
        "FileManager.default.homeDirectoryForCurrentUser",
        "NSHomeDirectory()",
    ];
    let names = WAYS.iter().flat_map(|way| code.match_indices(way)).filter_map(|(at, _)| {
        let line = code.get(..at)?.rsplit(['\n', ';', '{']).next()?;
        let name = line.split([',', '=', ':']).next()?.trim();
        let name = name.rsplit(' ').next()?;
        (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
    });
    let mut names = names.take(8);
    names.any(|name| {
        DELETES
            .iter()
            .any(|call| code.contains(&format!("{call}{name})")) || code.contains(&format!("{call}&{name})")))
    })
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '{' | ';')).collect()
}

/// Whether a string is a shell's name.
pub(super) fn is_shell(text: &str) -> bool {
    SHELLS.contains(&text)
}

/// Forms of code that need no more than a look.
pub(super) fn plain(code: &str, bare: &str, pieces: &[Piece]) -> Verdict {
    let tight = squeezed(bare);
    let any = |words: &[&str]| words.iter().any(|word| bare.contains(word));
    let joined = |words: &[&str]| words.iter().any(|word| tight.contains(word));
    // A shell whose input and output are a connection.
    let shell = pieces.iter().any(|piece| {
        let text = piece.text.trim();
        SHELLS.contains(&text.split_whitespace().next().unwrap_or_default())
    });
    let connects = any(CONNECTS);
    let bound =
        any(BINDS) || pieces.iter().any(|piece| piece.text.contains(">&S") || piece.text.contains("<&3"));
    if shell && connects && bound || tied(bare, &tight, pieces, shell) {
        return Verdict::Block;
    }
    // Every file of a tree is made unreadable, and the readable one goes.
    let locks = any(&["os.walk(", "rglob(", "filepath.Walk", "readdirSync("])
        && any(&[".encrypt(", "createCipheriv(", "AES.new("])
        && any(&["os.rename(", "os.remove(", "os.unlink(", "unlinkSync(", "os.Rename(", "renameSync("])
        && (code.contains(".locked")
            || code.contains("ransom")
            || code.contains(".encrypted")
            || code.contains("bitcoin")
            || code.contains("/home"));
    if locks
        || network::runs_for_visitors(code)
        || runs_fetched(bare)
        || joined(HIDDEN)
        || joined(BACKDOORS)
        || joined(BOMBS)
    {
        return Verdict::Block;
    }
    let asks = pieces.iter().any(|piece| {
        piece.text.contains("169.254.169.254") || piece.text.contains("metadata.google.internal")
    });
    if asks && judge::takes_credentials(code) && code.len() < 16 * 1024 {
        Verdict::Modify
    } else {
        Verdict::Allow
    }
}

/// A connection tied to a shell, by names that only the code itself gives them; and commands taken from a connection line by line.
fn tied(bare: &str, tight: &str, pieces: &[Piece], shell: bool) -> bool {
    if !DIALS.iter().any(|call| bare.contains(call)) {
        return false;
    }
    let line_by_line = bare.contains("TCPSocket")
        && bare.contains(".gets")
        && (["IO.popen(", "popen(", "`"].iter().any(|call| bare.contains(call))
            || pieces.iter().any(|piece| piece.before.ends_with('`')))
        && [".print", ".puts", ".write"].iter().any(|call| bare.contains(call));
    let started = shell
        && pieces.iter().any(|piece| {
            let word = piece.text.split_whitespace().next().unwrap_or_default();
            SHELLS.contains(&word) && STARTS.iter().any(|call| piece.before.trim_end().ends_with(call))
        });
    // Somewhere else than here, by its number.
    let address = pieces.iter().any(|piece| {
        let host = piece.text.split(':').next().unwrap_or_default();
        host.split('.').count() == 4
            && host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && !host.starts_with("127.")
            && host != "0.0.0.0"
    });
    let piped =
        tight.contains(".stdin)") && tight.contains(".pipe(") && !tight.contains("process.stdin.pipe(");
    let given = tight.match_indices(".Stdin=").any(|(at, sign)| {
        let value = tight.get(at + sign.len()..).unwrap_or_default();
        !["os.", "strings.", "bytes.", "nil", "&", "bufio."].iter().any(|own| value.starts_with(own))
    });
    line_by_line || started && (address || piped || given && bare.contains("net.Dial("))
}

/// Whether what `exec` and `eval` are given was fetched or decoded in the same breath.
fn runs_fetched(bare: &str) -> bool {
    // A name ends with its line.
    let tight: String = bare.chars().filter(|c| !matches!(c, ' ' | '\t' | '\r')).collect();
    ["exec(", "eval("].iter().any(|call| {
        tight.match_indices(call).take(64).any(|(at, _)| {
            let front = tight.get(..at).and_then(|front| front.chars().next_back());
            let apart =
                !front.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '>' | ':'));
            let given = tight.get(at + call.len()..).unwrap_or_default();
            let mut depth = 1;
            let end = given.char_indices().take(240).find_map(|(at, c)| {
                depth += match c {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                (depth == 0).then_some(at)
            });
            let given = end.and_then(|end| given.get(..end)).unwrap_or_default();
            apart && FETCHED_FROM.iter().any(|way| given.contains(way))
        })
    })
}

/// All variables at once, or a file of secrets, near a call that sends to a host that is not known.
pub(super) fn sent(scene: &Scene<'_>, bare: &str, pieces: &[Piece]) -> Verdict {
    if !SENDS.iter().any(|call| bare.contains(call)) {
        return Verdict::Allow;
    }
    let foreign = pieces.iter().any(|piece| {
        let host = if piece.text.contains("://") { host_of(&piece.text) } else { String::new() };
        host.contains('.') && !is_known(&host, scene.view.policy)
    });
    let address = pieces.iter().any(|piece| {
        let before = piece.before.trim_end();
        let named = [
            "hostname:",
            "host:",
            "host=",
            "hostname=",
            "HTTPSConnection(",
            "HTTPConnection(",
            "SMTP(",
            "SMTP_SSL(",
        ]
        .iter()
        .any(|name| before.ends_with(name));
        (named || before.ends_with("(("))
            && piece.text.contains('.')
            && !is_known(&piece.text, scene.view.policy)
    });
    if !foreign && !address {
        return Verdict::Allow;
    }
    let tight = squeezed(bare);
    let whole = WHOLE.iter().any(|form| tight.contains(form));
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    // A path that is put together: `'/home/u' + '/.ssh/id_rsa'`.
    let secret = pieces.iter().enumerate().any(|(at, piece)| {
        let mut path =
            piece.text.strip_prefix('~').map_or_else(|| piece.text.clone(), |rest| format!("{home}{rest}"));
        if piece.text == home {
            for next in pieces.iter().skip(at + 1).take(3) {
                path.push('/');
                path.push_str(&next.text);
            }
        }
        let file = path.starts_with('/') && path.len() < 512 && !path.contains('\n');
        let target = Target::Path { path: join("/", &path), glob: false, recursive: true };
        file && classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
    });
    let reads = READS.iter().any(|call| bare.contains(call));
    let listens = LISTENS.iter().any(|call| bare.contains(call));
    if whole || listens || secret && reads { Verdict::Block } else { Verdict::Allow }
}
