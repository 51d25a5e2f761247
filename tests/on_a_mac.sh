#!/bin/sh
# What nobody could run without a Mac: tries a lazaret binary on one, in a home directory of its own, and writes a report to attach to an
# issue. Takes a minute, changes nothing of yours (an entry in the login keychain is made and taken away again).
#
#   tests/on_a_mac.sh [BINARY]     default: what `cargo build --release` makes, which is built where it is missing
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
binary=${1:-$here/target/release/lazaret}
if [ ! -x "$binary" ]; then
    [ $# -eq 0 ] || { printf '%s: no such program\n' "$binary" >&2; exit 1; }
    (cd "$here" && cargo build --release --locked --bins) || exit 1
fi
binary=$(CDPATH='' cd -- "$(dirname -- "$binary")" && pwd -P)/$(basename -- "$binary")
report=$PWD/lazaret-mac-report.txt
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
home=$work/home
mkdir -p "$home/project" "$home/.ssh" "$home/.claude"
echo key >"$home/.ssh/id_rsa"
git -C "$home/project" init -q
failed=0
# Elsewhere it runs to show that it works: what is only true of a Mac is left out then.
case $(uname -s) in
Darwin) mac=yes places="keychain file" ;;
*) mac=no places="keyring tmpfs" ;;
esac

say() { printf '%s\n' "$*" | tee -a "$report"; }
# Runs lazaret as this user, with that home and nothing else of the environment.
lazaret() { (cd "$home/project" && env -i HOME="$home" PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" "$binary" "$@" 2>&1); }
# What is expected, the title, and what was seen.
expect() {
    case $3 in
    *"$1"*) say "ok      $2" ;;
    *)
        failed=$((failed + 1))
        say "FAILED  $2: expected $1, saw:"
        printf '%s\n' "$3" | sed 's/^/        /' | tee -a "$report"
        ;;
    esac
}
# How the hook answers a shell call: its exit code and what it says.
hook() {
    message=$(printf '{"session_id":"mac","hook_event_name":"PreToolUse","cwd":"%s","tool_name":"Bash","tool_input":{"command":"%s"},"tool_use_id":"t","permission_mode":"default"}' "$home/project" "$1")
    out=$(printf '%s' "$message" | lazaret hook claude-code --home "$home")
    printf 'exit %s %s' "$?" "$out"
}

: >"$report"
say "lazaret on a Mac: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
say "$(uname -srm); $(sw_vers 2>/dev/null | tr '\n' ' ')"
say "$("$binary" --version)"
file "$binary" | sed 's/^[^:]*: //' | tee -a "$report"
for tool in "otool -L" "codesign -dv"; do
    command -v "${tool%% *}" >/dev/null && $tool "$binary" 2>&1 | sed 's/^/        /' | tee -a "$report"
done

say "-- decisions"
expect 'block' 'a home directory is not deleted' "$(lazaret check 'rm -rf ~')"
expect 'allow' 'a look passes' "$(lazaret check 'ls -la')"
expect 'exit 0' 'the hook lets a look pass' "$(hook 'ls -la')"
expect 'deny' 'the hook denies a deletion of the home directory' "$(hook 'rm -rf ~')"
expect 'exit 2' 'a message that is none is blocked' "$(printf '{' | (lazaret hook claude-code --home "$home"; echo "exit $?"))"

say "-- one path, many spellings"
expect 'secrets.' 'a key in capitals' "$(lazaret check "cat $home/.SSH/ID_RSA")"
if [ "$mac" = yes ]; then
    for path in "$home/.ſsh/authorized_keys" "/private$home/.ssh/authorized_keys" "/System/Volumes/Data$home/.SSH/authorized_keys"; do
        expect 'persistence.' "who may log in, as $path" "$(lazaret check "echo x >> $path")"
    done
fi
expect 'selfprotect' 'the settings of the client in capitals' "$(lazaret check "echo x > ~/.CLAUDE/Settings.json")"
expect 'persistence.service-file' 'an agent that starts by itself' "$(lazaret check 'cp x.plist ~/library/LaunchAgents/x.plist')"

say "-- keys, processes, reviews"
expect 'keys' 'doctor tells where keys lie' "$(lazaret doctor | grep -i keys)"
lazaret doctor | grep -i 'keys' | sed 's/^/        /' | tee -a "$report"
echo text >"$home/project/a.txt"
for keys in $places; do
    started=$(cd "$home/project" && env -i HOME="$home" PATH="$PATH" LAZARET_KEYS="$keys" "$binary" review start a.txt 2>&1)
    expect 'typed://' "a review whose key lies in the $keys" "$started"
    expect 'ended' 'and its end' "$(cd "$home/project" && env -i HOME="$home" PATH="$PATH" LAZARET_KEYS="$keys" "$binary" review end --all 2>&1)"
done
[ "$mac" = no ] || expect 'Landlock' 'a confined run is refused, and says why' "$(lazaret run --confine -- claude -p x)"

say "-- what goes wrong is undone, and what was done is proven"
echo precious >"$home/project/notes.txt"
hook 'rm notes.txt' >/dev/null
rm -f "$home/project/notes.txt"
lazaret rollback --last >/dev/null
expect 'precious' 'a file that was deleted is back' "$(cat "$home/project/notes.txt" 2>&1)"
expect 'ok' 'the audit log is whole' "$(lazaret audit verify)"

say "-- time"
start=$(date +%s)
i=0
while [ $i -lt 200 ]; do
    hook 'ls -la' >/dev/null
    i=$((i + 1))
done
say "200 calls of the hook, started from a shell: $(($(date +%s) - start)) s"

say "-- $failed failed"
printf '\nThe report is %s: please attach it to an issue.\n' "$report"
[ "$failed" -eq 0 ]
