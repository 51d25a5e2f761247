#!/usr/bin/env bash
# What this machine can show of others: macOS is linted and linked, with the tests of pure modules; the tests of hook, state, audit,
# quarantine and checkpoints run as arm64 programs. Called by tests/run.sh; does its own set-up. With `prepare` it does no more than that, with
# `compile` all but what runs.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null
only=${1:-}
case $only in
'' | prepare | compile) ;;
*) echo "usage: tests/other_systems.sh [prepare|compile]" >&2; exit 1 ;;
esac
out=${CARGO_TARGET_DIR:-target}
arm=aarch64-unknown-linux-musl
macs=(aarch64-apple-darwin x86_64-apple-darwin)

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi; }
step() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; "$@"; }

command -v qemu-aarch64-static >/dev/null || {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user-static >/dev/null
}
# Has the kernel start arm64 programs by qemu; packages see to it where there is an init system.
register() {
    local binfmt=/proc/sys/fs/binfmt_misc magic mask
    [ ! -e $binfmt/qemu-aarch64 ] || return 0
    [ -e $binfmt/register ] || as_root mount -t binfmt_misc none $binfmt || return 1
    magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    printf '%s' ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" | as_root tee $binfmt/register >/dev/null
}
for target in "${macs[@]}" $arm; do
    grep -qx "$target" <<<"$(rustup target list --installed)" || rustup target add "$target"
done
PATH=$(release/linkers):$PATH
[ "$only" != prepare ] || exit 0
# One of its own, so that cargo lets nobody wait for this.
export CARGO_TARGET_DIR=$out/other-systems
# As release/steps/compile.py has it: the linker would take the newest system that it knows.
export MACOSX_DEPLOYMENT_TARGET=11.0

# These are linked to see that they link, and never run.
export CARGO_PROFILE_DEV_OPT_LEVEL=0
unrun=(--locked --quiet --target)
step cargo zigbuild --bins "${unrun[@]}" "${macs[0]}"
step cargo-zigbuild clippy --all-targets "${unrun[@]}" "${macs[0]}" -- -D warnings
step cargo-zigbuild test --no-run --lib "${unrun[@]}" "${macs[0]}"
step cargo zigbuild --bins "${unrun[@]}" "${macs[1]}"
programs=("${macs[@]/#/$CARGO_TARGET_DIR/}")
# One processor says whether it compiles and links at all.
step cargo-zigbuild rustc --package lazaret-fleet "${unrun[@]}" "${macs[0]}" -- -Clink-arg=-F"$PWD/release/frameworks"
step python3 tests/load_commands.py "${programs[@]/%//debug/lazaret}" "${programs[0]}/debug/lazaret-fleet"
if [ "$only" != compile ]; then
    # The script for a person with a Mac works at all.
    (cd "$out" && step ../tests/on_a_mac.sh debug/lazaret >on_a_mac.txt) || { cat "$out/on_a_mac.txt"; exit 1; }
fi

if ! register; then
    echo "== skipped: the tests as arm64 programs (this kernel lets nobody say what starts them: binfmt_misc)"
    exit 0
fi
# Of these qemu is the cause, not the processor.
skipped=(
    # It makes up /proc/self/stat without memory,
    a_process_and_its_children_are_counted
    # knows no keyring,
    what_killed_processes_left_is_swept
    # has its own system calls counted among those after which strace ends a process,
    a_rollback_that_was_killed_can_itself_be_undone
    what_a_killed_rollback_was_making_goes_when_a_session_starts
    # sets no limit to memory,
    memory_without_end_ends_with_2
    # catches signals before the program does,
    signals_end_with_2
    # and what it forks for one of several threads may wait for ever for a lock that another one held.
    processes_that_save_and_restore_at_once_do_not_disturb_each_other
)
# What is run should be fast: an emulator is slow enough. The programs that tests have cargo build are for the same processor.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_BUILD_TARGET=$arm
workers=(audit_worker misbehave quarantine_worker state_worker)
saving=(checkpoints checkpoints_faults)
others=(
    failure gate guard audit_chain audit_keys audit_log quarantine_holders quarantine_keys quarantine_life quarantine_processes
    quarantine_register quarantine_seal state_permits state_processes state_sweep
)
arm64=(cargo-zigbuild test --locked --no-fail-fast)
if [ "$only" = compile ]; then
    step cargo zigbuild --locked --quiet "${workers[@]/#/--example=}"
    step "${arm64[@]}" --quiet --no-run --lib "${saving[@]/#/--test=}" "${others[@]/#/--test=}"
    exit 0
fi
printf '== skipped under qemu: %s\n' "${skipped[*]}"
# For the last reason tests do not run beside each other in one process; two processes do. One that takes ten times as long is ended, by what
# qemu does not catch: its last line names the test.
run() { step exec timeout --signal=KILL 1200 "${arm64[@]}" "$@" --test-threads=1 "${skipped[@]/#/--skip=}"; }
# What is ended by a person ends with this.
# shellcheck disable=SC2046 # numbers
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
run "${saving[@]/#/--test=}" -- >"$out/saving.txt" 2>&1 &
saved=$!
status=0
run --lib -- host:: &
wait "$!" || status=$?
run "${others[@]/#/--test=}" -- &
wait "$!" || status=$?
wait "$saved" || status=$?
cat "$out/saving.txt"
exit "$status"
