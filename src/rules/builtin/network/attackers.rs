//! Programs that listen in on other machines, look for their weaknesses, or use them, and what they may do on this one.

use super::super::standing::is_this_machine;
use super::super::{everyday, operations};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, asks_for_help, host_of, runs, runs_code, runs_shell};
use crate::shell::Arg;

words!("builtin/network/attackers");

/// Something is looked at that is not this machine's; breaking into what is, is for the person to say.
pub(super) fn attacks<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(ATTACKERS, |inv| !asks_about_itself(inv) && !stays_here(inv));
    let found = found.or_else(|| scene.first(BREAKERS, |inv| !asks_about_itself(inv) && is_at_own_site(inv)));
    let found = found.or_else(|| script_of(scene, SITE_TESTERS, |inv| !names_own_site(inv)));
    let found = found.or_else(|| script_of(scene, BREAKERS, names_own_site));
    Found::from(found.map(|inv| inv.text.as_str()))
}

pub(super) fn breaks_in<'a>(scene: &Scene<'a>) -> Found<'a> {
    let here = |inv: &Invocation| {
        inv.program == "hping3" && inv.args.last().is_some_and(|arg| is_this_machine(&arg.text()))
    };
    let found = scene.first(BREAKERS, |inv| !asks_about_itself(inv) && !is_at_own_site(inv) && !here(inv));
    let found = found.or_else(|| script_of(scene, BREAKERS, |inv| !names_own_site(inv)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// An interpreter that runs the script of one of these programs: `python3 sqlmap.py`.
fn script_of<'a>(
    scene: &Scene<'a>,
    programs: &[&str],
    test: impl Fn(&Invocation) -> bool,
) -> Option<&'a Invocation> {
    /// What may be the name of a script of any project as well.
    const PLAIN: &[&str] = &["responder", "sliver-server", "sliver-client", "cme", "nxc"];
    scene.running(|inv| runs_code(inv) || runs_shell(inv)).find(|inv| {
        let meant = |one: &str, stem: &str| stem.eq_ignore_ascii_case(one) && !PLAIN.contains(&one);
        let asks =
            inv.args.iter().skip(1).all(|arg| matches!(arg.known(), Some("-h" | "--help" | "--version")));
        script_stem(inv).is_some_and(|stem| programs.iter().any(|one| meant(one, stem)))
            && !(asks && inv.args.len() > 1)
            && test(inv)
    })
}

/// The name of the script that an interpreter runs, without directory and ending.
pub(in crate::rules::builtin) fn script_stem(inv: &Invocation) -> Option<&str> {
    const ENDINGS: &[&str] = &[".py", ".pl", ".rb", ".sh", ".js", ".php"];
    let script = inv.operands.first()?.known()?;
    let name = last_name(script);
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))
}

/// The program only tells what it is and how it is used.
fn asks_about_itself(inv: &Invocation) -> bool {
    const ASKED: &[&str] = &["--version", "-version", "-Version", "-V", "version", "-h", "-hh"];
    asks_for_help(inv)
        || matches!(inv.args.as_slice(), [only] if only.known().is_some_and(|word| ASKED.contains(&word)))
}

/// Only this machine is looked at.
fn stays_here(inv: &Invocation) -> bool {
    let own = |arg: &Arg| matches!(arg.known(), Some("localhost" | "127.0.0.1" | "::1"));
    match inv.program.as_str() {
        // It only says which addresses those would be.
        "nmap" if inv.args.iter().any(|arg| arg.known() == Some("-sL")) => true,
        // What stands behind an option that is not known here may stand among the machines too.
        "nmap" => {
            inv.args.iter().any(own)
                && inv.args.iter().all(|arg| {
                    own(arg)
                        || arg.known().is_some_and(|word| {
                            word.starts_with('-')
                                || word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'-'))
                        })
                })
        }
        "tcpdump" | "tshark" if everyday::reads_recording(inv) => true,
        "tcpdump" | "tshark" => inv.args.windows(2).any(|pair| match pair {
            [flag, value] => flag.known() == Some("-i") && value.known() == Some("lo"),
            _ => false,
        }),
        _ => is_at_own_site(inv),
    }
}

/// A program that tries out a site is given one of this machine, and no other address.
fn is_at_own_site(inv: &Invocation) -> bool {
    runs(inv, SITE_TESTERS) && names_own_site(inv)
}

/// The site that a command names is one of this machine, and it names no other address.
fn names_own_site(inv: &Invocation) -> bool {
    const SITES: &[&str] = &["-u", "-url", "--url", "-target", "--target", "-h", "-host", "--host"];
    /// Programs whose site stands alone.
    const PLAIN: &[&str] = &["dirb", "wfuzz"];
    let words = operations::known_words(inv);
    let named = operations::option_values(inv, SITES);
    let alone = words.iter().copied().filter(|word| runs(inv, PLAIN) && word.contains("://"));
    let mut sites = named.iter().map(String::as_str).chain(alone).peekable();
    let own = |text: &str| is_this_machine(&host_of(text));
    words.len() == inv.args.len()
        && sites.peek().is_some()
        && sites.all(own)
        && words.iter().filter(|word| word.contains("://")).all(|word| own(word))
}
