//! The packages of the machine, removed or upgraded.

use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::{everyday, operations};
use crate::rules::matcher::{Scene, asks_for_help};
use crate::shell::Arg;

fn package_removed(inv: &Invocation) -> bool {
    !asks_for_help(inv)
        && !operations::known_words(inv).iter().any(|word| SIMULATED.contains(word))
        && !everyday::removes_tools(inv)
}

fn every_brewed_package_removed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let says = |inv: &Invocation, words: &[&str]| {
        operations::known_words(inv).iter().any(|word| words.contains(word))
    };
    let listed = |program: &str| scene.first(&[program], |inv| says(inv, &["list", "ls"])).is_some();
    says(inv, &["uninstall", "remove", "rm"]) && (listed(&inv.program) || says(inv, &["--all"]))
}

fn unknown_package_for_the_machine(inv: &Invocation) -> bool {
    // What Homebrew itself hands out was looked at by others.
    let tapped = |name: &&str| inv.program != "brew" || name.contains('/');
    everyday::installed(inv).filter(tapped).any(|name| !everyday::is_well_known(name))
}

const PIP: &[&str] = &["pip", "pip3", "pipx", "uv", "poetry", "pdm"];

words!("builtin/packages/system");

fn release_upgraded(inv: &Invocation) -> bool {
    inv.args.is_empty()
}

/// Programs that remove by an option.
const BARE_REMOVERS: &[&str] = &["pacman", "emerge", "xbps-remove", "rpm", "dpkg", "nix-env"];

/// A library, a shell or an init without which nothing starts.
fn core_removed(inv: &Invocation) -> bool {
    let removes = inv.program == "xbps-remove"
        || inv.args.iter().filter_map(Arg::known).any(|word| {
            word.starts_with("-R")
                || matches!(
                    word,
                    "-C" | "--unmerge"
                        | "--remove"
                        | "-e"
                        | "--erase"
                        | "-r"
                        | "-P"
                        | "--purge"
                        | "--uninstall"
                )
        });
    removes && inv.operands.iter().filter_map(Arg::known).any(|name| CORE_PACKAGES.contains(&last_name(name)))
}

const LISTERS: &[&str] = &["pip", "pip3", "npm", "gem"];

/// What a program lists of its packages is given to it to remove.
fn every_package(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let says = |inv: &Invocation, words: &[&str]| {
        operations::known_words(inv).iter().any(|word| words.contains(word))
    };
    let listed =
        |program: &str| scene.first(&[program], |inv| says(inv, &["freeze", "list", "ls"])).is_some();
    says(inv, &["uninstall", "rm", "remove", "un"]) && listed(&inv.program)
}
