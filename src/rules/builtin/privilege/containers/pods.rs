//! Pods and system containers that reach the host.

use super::SYSTEM_CONTAINERS;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, input_of};
use crate::shell::Arg;

words!("builtin/privilege/containers/pods");

pub(super) const PODS: &[&str] = &["kubectl", "oc", "k"];

/// A pod that is given the host's namespaces or all rights, in the options or in a manifest that the call holds.
pub(super) fn pod_host(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
    let node = sub == "debug" && inv.operands.iter().any(|arg| arg.prefix().starts_with("node/"));
    let user = inv.args.iter().any(|arg| {
        let text = arg.text();
        text == "--as=system:admin"
            || text.starts_with("--as=system:masters")
            || text == "--as-group=system:masters"
    });
    let flagged = has_flag(inv, "--privileged") || user;
    if node || flagged {
        return true;
    }
    if !matches!(sub, "run" | "apply" | "create" | "patch" | "replace" | "label" | "set" | "annotate") {
        return false;
    }
    let texts = inv.args.iter().map(Arg::to_text).chain(input_of(inv, scene));
    { texts }.filter(|text| text.len() > 10).any(|text| {
        let bare: String = text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t')).collect();
        HOST_GIVEN.iter().any(|given| bare.contains(given))
    })
}

/// Containers of other makes, with the whole machine in them.
pub(super) fn system_container_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(SYSTEM_CONTAINERS, |inv| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let any = |test: &dyn Fn(&str) -> bool| texts.iter().any(|text| test(text));
        let pair = |first: &[&str], second: &str| {
            texts.windows(2).any(|two| matches!(two, [a, b] if first.contains(&a.as_str()) && b == second))
        };
        match inv.program.as_str() {
            "lxc" | "incus" | "lxd" => {
                any(&|text| {
                    text.replace(' ', "") == "security.privileged=true"
                        || text == "source=/"
                        || text == "security.nesting=true" && texts.len() < 3
                }) || pair(&["security.privileged"], "true")
            }
            "ctr" => any(&|text| text.contains("src=/,") || text.contains("source=/,")),
            "docker" => {
                any(&|text| text.starts_with("--allow=") && text.contains("security.insecure"))
                    || inv.sub.first().is_some_and(|sub| sub == "service")
                        && any(&|text| {
                            text.contains("source=/,")
                                || text.contains("src=/,")
                                || text.contains("docker.sock")
                                || text == "ALL"
                        })
            }
            "systemd-nspawn" => {
                any(&|text| text.starts_with("--bind=/:") || text == "--bind=/") || pair(&["-D"], "/")
            }
            "bwrap" => texts
                .windows(3)
                .any(|three| matches!(three, [a, b, c] if a == "--bind" && b == "/" && c == "/")),
            "singularity" | "apptainer" => any(&|text| text.starts_with("/:/")),
            "flatpak" => {
                any(&|text| matches!(text, "--filesystem=host" | "--filesystem=/" | "--filesystem=home"))
            }
            "flatpak-spawn" => any(&|text| text == "--host"),
            "distrobox-host-exec" | "host-spawn" => true,
            // A control group of one's own is the first step out of a container.
            "mount" => pair(&["-t", "--types"], "cgroup") || any(&|text| text == "-tcgroup"),
            "snap" => any(&|text| text == "--devmode" || text == "--dangerous"),
            _ => any(&|text| text == "--noprofile"),
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
