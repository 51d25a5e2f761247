//! Options by which programs run a command that is not their own.

use super::runs::{COMPRESSORS, OPTION_RUNNERS, PAGERS};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::shell::injected::node_loads;
use crate::rules::matcher::{Found, Scene, contains_word, flag_value, has_flag, input_of, is_shell};
use crate::shell::Arg;

/// The first command with such an option.
pub(super) fn option_runs<'a>(scene: &Scene<'a>) -> Found<'a> {
    let first = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default();
        last_name(word).to_owned()
    };
    let found = scene.first(OPTION_RUNNERS, |inv| match inv.program.as_str() {
        "git" if inv.sub.first().is_some_and(|sub| sub == "grep") => inv.args.iter().any(|arg| {
            let text = arg.text();
            let long = text
                .split_once('=')
                .filter(|(name, _)| name.len() > 5 && "--open-files-in-pager".starts_with(name));
            let value = text.strip_prefix("-O").or(long.map(|(_, value)| value));
            value.is_some_and(|value| !PAGERS.contains(&value))
        }),
        "tar" | "gtar" | "bsdtar" => {
            flag_value(inv, &["-I", "--use-compress-program"])
                .is_some_and(|value| !COMPRESSORS.contains(&first(&value.text()).as_str()))
                || ["-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"]
                    .iter()
                    .any(|flag| has_flag(inv, flag))
        }
        "make" | "gmake" | "bmake" => inv.args.iter().any(|arg| {
            let text = arg.text();
            let shell = text.strip_prefix("SHELL=").or_else(|| text.strip_prefix(".SHELLFLAGS="));
            shell.is_some_and(|shell| shell.contains(char::is_whitespace) || !is_shell(&first(shell)))
        }),
        "sort" => flag_value(inv, &["--compress-program"])
            .is_some_and(|value| !COMPRESSORS.contains(&first(&value.text()).as_str())),
        "git" => inv.operands.iter().any(|arg| arg.prefix().starts_with("ext::")),
        "apt" | "apt-get" | "aptitude" | "dpkg" => inv.args.iter().any(|arg| {
            let text = arg.text().to_ascii_lowercase();
            ["pre-invoke", "post-invoke", "pre-install-pkgs"].iter().any(|word| text.contains(word))
        }),
        "scp" | "sftp" => flag_value(inv, &["-S"]).is_some_and(|value| first(&value.text()) != "ssh"),
        "rsync" => flag_value(inv, &["-e", "--rsh"]).is_some_and(|value| {
            !matches!(first(&value.text()).as_str(), "ssh" | "rsh" | "sshpass" | "autossh")
        }),
        "psql" => inv.args.iter().any(|arg| contains_word(&arg.text(), "program '")),
        "cargo" => inv.args.iter().any(|arg| {
            let text = arg.text();
            text.contains('=')
                && [".runner", "rustc-wrapper", ".linker", "build.rustc"].iter().any(|key| text.contains(key))
        }),
        "npm" | "pnpm" | "yarn" | "npx" => inv.args.iter().enumerate().any(|(at, arg)| {
            let text = arg.text();
            let next = || inv.args.get(at + 1).map(Arg::text).unwrap_or_default();
            let loads = text.strip_prefix("--node-options=").is_some_and(node_loads);
            let given = text.strip_prefix("--script-shell").or_else(|| text.strip_prefix("--shell="));
            loads
                || given.is_some_and(|value| {
                    let value = if value.is_empty() { next() } else { value.trim_start_matches('=').into() };
                    !is_shell(&value) && !is_shell(value.strip_prefix("/bin/").unwrap_or_default())
                })
        }),
        _ => runs_by_its_own_option(inv, scene),
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs of which hardly anybody knows that they have such an option.
fn runs_by_its_own_option(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let given = |names: &[&str]| {
        inv.args.iter().any(|arg| {
            let text = arg.prefix();
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            names.contains(&name)
        })
    };
    let holds =
        |words: &[&str]| inv.args.iter().any(|arg| words.iter().any(|word| arg.text().contains(word)));
    let behind = |name: &str| {
        let mut pairs = inv.args.windows(2);
        pairs.find_map(|pair| match pair {
            [flag, value] if flag.known() == Some(name) => Some(value.text().into_owned()),
            _ => None,
        })
    };
    match inv.program.as_str() {
        "gcc" | "g++" | "cc" | "c++" | "clang" => given(&["-wrapper"]),
        "rpm" | "rpmbuild" => holds(&["%{lua:", "%(", "%{lua "]) || given(&["--pipe"]),
        "wget" => given(&["--use-askpass"]),
        // A library of the system's own packages is there for smart cards.
        "ssh-keygen" => behind("-D").is_some_and(|library| !is_of_system(&library)),
        "ssh-add" => behind("-s").is_some_and(|library| !is_of_system(&library)),
        "aria2c" => inv.args.iter().any(|arg| arg.prefix().starts_with("--on-")),
        "dmsetup" => given(&["--exec"]),
        "bpftrace" => given(&["--unsafe"]) || holds(&["system("]),
        "gimp" => given(&["-b", "--batch"]) && holds(&["os.", "subprocess", "system"]),
        "cpan" => given(&["-e"]) || holds(&["! exec", "! system"]),
        "facter" => given(&["--custom-dir", "--external-dir"]) && holds(&["/tmp/", "/dev/shm/"]),
        "ftp" => {
            input_of(inv, scene).iter().any(|text| text.lines().any(|line| line.trim().starts_with('!')))
        }
        "run-parts" => given(&["--regex"]) && !given(&["--test", "--list"]),
        "yum" | "dnf" => given(&["--enableplugin"]) && given(&["-c", "--config"]),
        _ => false,
    }
}

/// Where packages put their libraries.
fn is_of_system(path: &str) -> bool {
    ["/usr/lib", "/lib", "/usr/local/lib", "/opt/homebrew/", "/Library/", "/nix/store/"]
        .iter()
        .any(|dir| path.starts_with(dir))
}
