"""Programs for the four targets, the same bytes wherever the checkout, cargo and rustup lie."""

import json
import os
from pathlib import Path

from .project import ROOT, run


def target_dir():
    given = os.environ.get("CARGO_TARGET_DIR")
    return (Path(given) if given else ROOT / "target").resolve() / "release-build"


def remapped(out):
    """What stands in the place of directories of this machine. The last that fits counts."""
    sysroot = run("rustc", "--print", "sysroot").strip()
    commit = next(line for line in run("rustc", "-vV").splitlines() if line.startswith("commit-hash")).split()[1]
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo").resolve()
    places = [(home, "/cargo"), (f"{sysroot}/lib/rustlib/src/rust", f"/rustc/{commit}"), (ROOT, "/lazaret"), (out, "/target")]
    return [f"--remap-path-prefix={place}={name}" for place, name in places]


def compile_for(project, target):
    """Compiles all programs; the path of the first."""
    out = target_dir()
    out.mkdir(parents=True, exist_ok=True)
    installed = run("rustc", "--print", "target-libdir", "--target", target).strip()
    if not Path(installed).is_dir():
        run("rustup", "target", "add", target)
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(project.epoch), "CARGO_INCREMENTAL": "0"}
    # They would come before what .cargo/config.toml says.
    for name in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"):
        env.pop(name, None)
    env["PATH"] = f"{run(ROOT / 'release/linkers', cwd=ROOT).strip()}:{env['PATH']}"
    # The oldest that Rust's standard library runs on for both processors; the linker would take the newest system that it knows.
    env["MACOSX_DEPLOYMENT_TARGET"] = "11.0"
    apple = "apple" in target
    # What the others' packages ask of theirs must not change the first.
    programs = [
        (["--no-default-features", "--bin", project.name], apple),
        (["--bin", f"{project.name}-view"], apple),
        # It holds some C.
        (["--package", f"{project.name}-fleet"], True),
    ]
    print(f"== compiling for {target}", flush=True)
    for words, zig in programs:
        run(
            "cargo", "zigbuild" if zig else "build", "--release", "--locked", *words, "--target", target,
            "--target-dir", out, "--config", flags(target, out, zig), cwd=ROOT, env=env,
        )
    return out / target / "release" / project.name


def flags(target, out, zig):
    """What the compiler is told, as a setting of cargo's."""
    said = remapped(out)
    if "apple" in target:
        # A program's identifier is a sum of all that is linked: where debug information lay is left out of it.
        said += ["-Clink-arg=-Wl,-S", f"-Clink-arg=-F{ROOT / 'release/frameworks'}"]
        # A target with flags of its own does not read those that stand for all.
        return f"build.rustflags={json.dumps(said)}"
    if target == "aarch64-unknown-linux-musl" and not zig:
        # Rust brings the linker and musl's objects: no cross compiler is needed.
        said += ["-Clinker=rust-lld", "-Clinker-flavor=ld.lld"]
    return f"target.{target}.rustflags={json.dumps(said)}"
