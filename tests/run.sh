#!/usr/bin/env bash
# All tests of lazaret, and before them what a Debian-like machine with Rust and Node.js may lack. Asks nothing: formatting,
# lints, shell scripts, then cargo's tests. The two clients are fetched from npm into target/ by the end-to-end tests.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null
for tool in cargo npm node; do
    command -v "$tool" >/dev/null || { echo "tests/run.sh: $tool is missing: install Rust (rustup) and Node.js with npm first" >&2; exit 1; }
done

export DEBIAN_FRONTEND=noninteractive CARGO_TERM_COLOR=never
# What tests call a hundred thousand times is made faster, but not by more than compiling it takes longer; nothing is kept for another build,
# or for a debugger.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_LTO=off CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi; }

# What a command needs, by the package that has it.
declare -A packages=(
    [shellcheck]=shellcheck [valgrind]=valgrind [strace]=strace [ip]=iproute2 [unshare]=util-linux
    [tmux]=tmux [git]=git [cc]=build-essential [c++]=build-essential [objdump]=binutils [strip]=binutils
    [python3]=python3 [curl]=curl [chromium]=chromium [redis-server]=redis-server [redis-cli]=redis-tools
    [redis-sentinel]=redis-sentinel [docker-registry]=docker-registry [rpmbuild]=rpm [systemd-nspawn]=systemd-container
    [minisign]=minisign
)
missing=()
for tool in "${!packages[@]}"; do
    command -v "$tool" >/dev/null || missing+=("${packages[$tool]}")
done
if ((${#missing[@]})); then
    echo "== installing ${missing[*]}"
    as_root apt-get update -qq
    as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# Some Ubuntu releases keep user namespaces from ordinary users; the end-to-end tests live in them.
restriction=kernel.apparmor_restrict_unprivileged_userns
if [ "$(id -u)" -ne 0 ] && [ "$(sysctl -n "$restriction" 2>/dev/null || echo 0)" != 0 ]; then
    as_root sysctl -q -w "$restriction=0"
fi

# The static build; where its standard library cannot be had, the tests that need it say so.
target=x86_64-unknown-linux-musl
if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx "$target"; then
    rustup target add "$target" || echo "== no $target here: the release will be linked against glibc"
fi

step() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; "$@"; }

out=${CARGO_TARGET_DIR:-target}
mkdir -p "$out/pictures"
# What fails of these two is said where it is needed: the last step prepares too.
step tests/other_systems.sh prepare || true
setsid tests/beside.sh "$target" >"$out/beside.txt" 2>&1 &
beside=$!
trap 'kill -- "-$beside" 2>/dev/null || true' EXIT

step cargo fmt --all --check
step cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
# The fuzz targets are a workspace of their own, which nothing else builds.
step cargo check --locked --quiet --manifest-path fuzz/Cargo.toml --target-dir target/fuzz
# shellcheck disable=SC2046 # the repository's own file names hold no blanks
step shellcheck $(git ls-files -- '*.sh' .ci/run release/check release/linkers release/prepare release/publish release/try packages/fleet/test)
# All of them, so that one run tells every failure. Their pictures are those of the documentation.
status=0
LAZARET_PICTURES=$(realpath "$out/pictures")
export LAZARET_PICTURES
step cargo test --locked --workspace --no-fail-fast || status=$?
step release/site --pictures "$LAZARET_PICTURES" || status=$?
# How guards are compared: the corpus, and the counting with two made-up guards.
step compare/test || status=$?

# A trial release around the program that tests/cost.rs has just built, twice, and the archive as a stranger meets it.
binary=$out/$target/release/lazaret
if [ -x "$binary" ]; then
    # What people look at and what machines of a fleet need are the tests' own: a release's would take many minutes more.
    for name in lazaret-view lazaret-fleet; do
        strip -o "$out/$target/release/$name" "$out/debug/$name"
    done
    for place in trial trial-again; do
        step release/build --trial --binary "$binary" --out "$out/$place"
    done
    step diff -r "$out/trial" "$out/trial-again"
    step release/try "$out/trial"/*-"$target".tar.gz
    # What installs it on many machines, with the programs of that archive.
    rm -rf "$out/trial-fleet" && mkdir "$out/trial-fleet"
    tar -xzf "$out/trial"/lazaret-fleet-*-"$target".tar.gz -C "$out/trial-fleet" --strip-components=1
    step packages/fleet/test "$(realpath "$out/trial-fleet")" || status=$?
else
    echo "== no $target binary: no archive was tried"
    step packages/fleet/test || status=$?
fi
# Last, because it is what a machine may lack most of.
wait "$beside" || true
step tests/other_systems.sh || status=$?
exit "$status"
