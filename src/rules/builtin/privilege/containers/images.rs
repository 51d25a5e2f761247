//! What a container may do by its image and its options: only measure or debug, only read images, or reach the host by a mount.

use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{Class, Scene, classify, has_flag, target_of};
use crate::shell::Arg;

words!("builtin/privilege/containers/images");

/// A container that may look into its own processes, as the manuals of debuggers have it.
pub(super) fn traces(inv: &Invocation) -> bool {
    let given = |value: &Arg| matches!(value.text().trim_start_matches('='), "SYS_PTRACE" | "CAP_SYS_PTRACE");
    inv.flags.iter().any(|flag| flag.name == "--cap-add" && flag.value.as_ref().is_some_and(given))
}

/// Images of programs that measure the machine, and need its files to be readable for that alone.
const MONITORS: &[&str] =
    &["prom/node-exporter", "prometheus/node-exporter", "cadvisor/cadvisor", "google/cadvisor"];

/// Whether an image is of a program that measures the machine.
pub(in crate::rules::builtin) fn is_monitor(image: &str) -> bool {
    MONITORS.contains(&image_name(image))
}

/// The name of an image, without a well-known host and without its version.
fn image_name(image: &str) -> &str {
    const HOSTS: &[&str] = &["docker.io/", "ghcr.io/", "quay.io/", "gcr.io/"];
    let name = HOSTS.iter().find_map(|host| image.strip_prefix(host)).unwrap_or(image);
    name.split([':', '@']).next().unwrap_or_default()
}

/// The image that a container is started from.
fn image_of(inv: &Invocation) -> &str {
    let mut words = inv.operands.iter().skip_while(|arg| matches!(arg.known(), Some("run" | "container")));
    image_name(words.next().and_then(Arg::known).unwrap_or_default())
}

/// `docker run -v /:/rootfs:ro cadvisor/cadvisor`: what measures the machine is started, and told nothing else.
pub(in crate::rules::builtin) fn measures(inv: &Invocation) -> bool {
    MONITORS.contains(&image_of(inv))
        && inv.sub.first().is_some_and(|sub| sub == "run")
        && !has_flag(inv, "--entrypoint")
        && inv.args.iter().all(|arg| arg.known().is_some())
}

/// Whether a place is mounted to be read only.
pub(super) fn is_read_only(mount: &str) -> bool {
    mount.rsplit(':').next().is_some_and(|options| options.split(',').any(|option| option == "ro"))
}

/// `docker run -v /var/run/docker.sock:/var/run/docker.sock aquasec/trivy image app`
fn reads_images(inv: &Invocation) -> bool {
    IMAGE_READERS.contains(&image_of(inv))
        && inv.sub.first().is_some_and(|sub| sub == "run")
        && !has_flag(inv, "--entrypoint")
        && inv.args.iter().all(|arg| !matches!(arg.known(), None | Some("plugin" | "module")))
}

/// A directory of the host that holds the machine's or the person's secrets or runs it.
pub(super) fn mounts_host(source: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    if !source.starts_with(['/', '.', '~']) {
        return false;
    }
    let target = target_of(&Arg::literal(source), inv.cwd.as_deref());
    let place = classify(&target, EffectKind::FileDeletion, &scene.view);
    let secret_dir = lists::SECRET_DIRS.iter().any(|dir| target.text().ends_with(dir));
    secret_dir
        || ["docker.sock", "containerd.sock", "crio.sock", "podman.sock"]
            .iter()
            .any(|name| source.ends_with(name))
            && !(source == "/var/run/docker.sock" && reads_images(inv))
        || place.any(&[Class::Root, Class::Home, Class::Users])
        || HOST_PLACES.contains(&target.text())
}
