//! Whether what a command puts somewhere stays on this machine.

use super::{host_of, is_this_machine, runs};
use crate::rules::Invocation;
use crate::shell::Arg;

/// Whether a command names a registry or a directory of this machine as what it goes to, and no other host.
pub(crate) fn stays_here(inv: &Invocation) -> bool {
    const NAMING: &[&str] = &["registry", "repository", "repo", "url", "host", "source", "server", "index"];
    const OF_IMAGES: &[&str] =
        &["oras", "docker", "podman", "skopeo", "crane", "regctl", "buildah", "nerdctl"];
    const OF_PACKAGES: &[&str] = &["dotnet", "nuget", "choco"];
    let names = |option: &str| {
        matches!(option, "-s" | "-r") || NAMING.iter().any(|word| option.to_ascii_lowercase().contains(word))
    };
    // What is called so there is another machine.
    if inv.args.iter().any(Arg::has_unknown) || inv.wrappers.iter().any(|name| name == "ssh") {
        return false;
    }
    if runs(inv, OF_IMAGES) {
        let operands = || inv.operands.iter().map(Arg::text);
        let here = |text: &str| {
            text.split_once('/').is_some_and(|(host, _)| is_this_machine(host) && host.contains("local"))
        };
        let copies = operands().any(|word| matches!(&*word, "copy" | "cp"))
            || inv.sub.iter().any(|word| word == "copy");
        return if copies {
            operands().next_back().is_some_and(|to| here(&to))
        } else {
            operands().any(|to| here(&to))
        };
    }
    let mut here = false;
    let mut before = String::new();
    for arg in &inv.args {
        let text = arg.text();
        let (option, value) = match text.strip_prefix('-').and_then(|option| option.split_once('=')) {
            Some((option, value)) => (option, value),
            None if before.starts_with('-') => (before.as_str(), &*text),
            None => ("", &*text),
        };
        let goes = names(option) || value.starts_with("oci://");
        if value.contains("://") && !value.starts_with("file://") && !is_this_machine(&host_of(value)) {
            return false;
        }
        here |= goes && value.contains("://");
        if runs(inv, OF_PACKAGES) && matches!(option, "-s" | "--source") {
            let directory = value.starts_with(['/', '.']) && !value.starts_with("//");
            if !directory && !value.contains("://") {
                return false;
            }
            here |= directory;
        }
        here |= runs(inv, &["mvn"])
            && inv.operands.iter().any(|word| word.known() == Some("deploy"))
            && option == "DaltDeploymentRepository"
            && value.contains("::file:");
        before = text.into_owned();
    }
    here
}
