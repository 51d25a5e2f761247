//! Disks and memory, filled.

use super::{FLOOD, inline};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, contains_word, flag_value, has_flag, runs};
use crate::shell::Arg;

words!("builtin/resources/filled");

/// Readers that keep what they read until its end.
const HOLDERS: &[&str] = &["tail", "tac", "sort"];

/// Readers that take answers on their input, not what they work on.
const ASKERS: &[&str] = &["cp", "mv", "install", "rsync", "zip"];

/// What they read they keep on the disk.
const KEEPERS: &[&str] = &["tee", "split", "csplit"];

const MAKERS: &[&str] = &["fallocate", "truncate", "mkfile", "xfs_mkfile", "head", "openssl", "dd"];

const CREATORS: &[&str] = &["touch", "mkdir", "xargs", "seq"];

/// Sources without an end.
const ENDLESS: &[&str] = &["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

/// A file this big is made to fill the disk, in bytes.
const HUGE: u64 = 50 << 30;

/// A number with a unit, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(['+', '=']);
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(split)?;
    let number: u64 = digits.parse().ok()?;
    let shift = match unit.chars().next().map(|c| c.to_ascii_uppercase()) {
        None | Some('B') => 0,
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some('P' | 'E') => 50,
        Some(_) => return None,
    };
    Some(number.saturating_mul(1 << shift))
}

fn is_endless_source(text: &str) -> bool {
    ENDLESS.contains(&text.strip_prefix("if=").unwrap_or(text))
}

/// `yes`, or a device without an end, read by something that reads to the end, with nothing behind that cuts it off.
fn endless<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    // What is kept may fill the disk or the memory before the time is over, and what is started may take all processes.
    let keeps = |inv: &Invocation| {
        let kept = || inv.writes.iter().map(|(to, _)| to.text().to_owned()).chain(dd(inv, "of"));
        kept().any(|to| to != "/dev/null")
            || runs(inv, HOLDERS)
            || runs(inv, KEEPERS)
            || inv.wrappers.iter().any(|name| name == "xargs" || name == "parallel")
    };
    let limited = |inv: &Invocation| {
        let in_time = || {
            all.iter().all(|other| other.pipeline != inv.pipeline || other.stage < inv.stage || !keeps(other))
        };
        inv.wrappers.iter().any(|name| name == "timeout" || name == "gtimeout") && in_time()
            || all.iter().any(|other| {
                let cuts = match other.program.as_str() {
                    "dd" => dd(other, "count").is_some(),
                    "sed" => other.args.iter().any(|arg| arg.text().contains('q')),
                    "awk" | "gawk" => other.args.iter().any(|arg| arg.text().contains("exit")),
                    "grep" => has_flag(other, "-m") || has_flag(other, "-q"),
                    _ => runs(other, LIMITERS),
                };
                other.pipeline == inv.pipeline && other.stage > inv.stage && cuts
            })
    };
    let found = all.iter().find(|inv| {
        let source = match inv.program.as_str() {
            // `yes | apt-get install`: what reads it ends; `| xargs`, `| dd` and a file do not.
            "yes" => {
                !inv.writes.is_empty()
                    || ["$(yes)", "`yes`", "$(yes "].iter().any(|form| scene.command_line().contains(form))
                        && !all.iter().any(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
                    || all.iter().any(|other| {
                        // What a program prints that was answered has an end.
                        let next = other.stage == inv.stage.saturating_add(1);
                        other.pipeline == inv.pipeline
                            && other.stage > inv.stage
                            && (next && runs(other, WHOLE_READERS) && !runs(other, ASKERS)
                                || other.wrappers.iter().any(|name| name == "xargs" || name == "parallel"))
                    })
            }
            "dd" => {
                let into_nothing =
                    || dd(inv, "of").is_some_and(|out| out == "/dev/null") && dd(inv, "count").is_some();
                let reads = inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
                reads && dd(inv, "count").is_none() && !into_nothing()
            }
            // A number of bytes or of lines is given.
            "od" | "xxd" | "hexdump"
                if ["-N", "-n", "-l", "--read-bytes"].iter().any(|flag| has_flag(inv, flag)) =>
            {
                false
            }
            "grep" | "egrep" | "rg" if has_flag(inv, "-m") => false,
            _ => {
                runs(inv, WHOLE_READERS)
                    && (inv.operands.iter().any(|arg| is_endless_source(arg.prefix()))
                        || inv.reads.iter().any(|target| is_endless_source(target.text())))
            }
        };
        source && !limited(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The value of one of dd's operands.
fn dd(inv: &Invocation, key: &str) -> Option<String> {
    inv.args.iter().find_map(|arg| {
        let text = arg.text();
        text.split_once('=').filter(|(name, _)| *name == key).map(|(_, value)| value.to_owned())
    })
}

fn huge(inv: &Invocation) -> bool {
    let size = match inv.program.as_str() {
        "dd" => {
            let block = dd(inv, "bs").map_or(Some(512), |text| bytes(&text));
            let count = dd(inv, "count").and_then(|text| bytes(&text));
            let generated = inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
            let kept = dd(inv, "of").is_none_or(|out| out != "/dev/null");
            block.zip(count).filter(|_| generated && kept).map(|(block, count)| block.saturating_mul(count))
        }
        "fallocate" => flag_value(inv, &["-l", "--length"]).and_then(|arg| bytes(&arg.text())),
        // Sparse: it takes no room until it is filled.
        "truncate" => {
            flag_value(inv, &["-s", "--size"]).and_then(|arg| bytes(&arg.text())).map(|size| size / 20)
        }
        "head" => {
            let endless = inv.operands.iter().any(|arg| is_endless_source(arg.prefix()))
                || inv.reads.iter().any(|target| is_endless_source(target.text()));
            flag_value(inv, &["-c", "--bytes"]).filter(|_| endless).and_then(|arg| bytes(&arg.text()))
        }
        "openssl" => inv
            .args
            .iter()
            .any(|arg| arg.known() == Some("rand"))
            .then(|| inv.args.iter().filter_map(|arg| bytes(&arg.text())).max())
            .flatten(),
        _ => inv.operands.iter().filter_map(|arg| bytes(&arg.text())).max(),
    };
    size.is_some_and(|size| size >= HUGE) || takes_what_is_free(inv)
}

/// The size is what `df` says is free.
fn takes_what_is_free(inv: &Invocation) -> bool {
    let kept = dd(inv, "of").is_some_and(|out| out != "/dev/null")
        && inv.args.iter().any(|arg| is_endless_source(arg.prefix()));
    let fills = match inv.program.as_str() {
        "fallocate" => true,
        "dd" => kept,
        "head" => inv.operands.iter().any(|arg| is_endless_source(arg.prefix())) && !inv.writes.is_empty(),
        _ => false,
    };
    fills
        && ["$(df ", "`df "].iter().any(|front| inv.text.contains(front))
        && inv.args.iter().any(Arg::has_unknown)
}

/// `touch f{1..10000000}`, `seq 10000000 | xargs touch`.
fn countless<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = scene.running(|inv| inv.program == "seq" || runs(inv, &["touch", "mkdir"])).find(|inv| {
        if inv.program == "seq" {
            let many =
                inv.operands.iter().filter_map(|arg| arg.known()?.parse::<u64>().ok()).any(|n| n >= FLOOD);
            return many
                && all.iter().any(|other| {
                    other.pipeline == inv.pipeline
                        && other.wrappers.iter().any(|name| name == "xargs" || name == "parallel")
                });
        }
        runs(inv, &["touch", "mkdir"]) && brace_count(&inv.text).is_some_and(|count| count >= FLOOD)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The end of `{1..N}` in a text.
fn brace_count(text: &str) -> Option<u64> {
    let (_, tail) = text.split_once("..")?;
    tail.split('}').next()?.parse().ok()
}

fn hoards<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = inline(scene).find(|(_, text)| {
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let powers =
            ["'*10**", "\"*10**", "]*10**", "bytes(10**", "bytearray(10**", "truncate(10**", "range(10**"];
        let floats =
            ["\"x1e", "'x1e", "alloc(1e", "Array(1e", ".repeat(1e", "allocUnsafe(1e", "str_repeat(\"x\",1e"];
        let at_least = |front: &str, least: u64| {
            bare.split(front).skip(1).any(|tail| {
                let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u64>().is_ok_and(|power| power >= least)
            })
        };
        powers
            .iter()
            .chain(&floats)
            .any(|front| at_least(front, if *front == "range(10**" { 12 } else { 10 }))
            || contains_word(&bare, "9**9**9")
            || contains_word(&bare, "list(itertools.count()")
    });
    Found::from(found.map(|(inv, _)| inv.text.as_str()))
}
