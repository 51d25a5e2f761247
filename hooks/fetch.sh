#!/bin/sh
# The plugin's own binary, where it is not there yet: that of an installation on this machine, or the release's own, fetched and compared
# with the sum that came with the plugin. Run when a session begins. The gate does not go through this file: without bin/lazaret the client
# blocks every call.
set -eu
# Nothing that a project's settings say.
PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
unset HOME
root=$(cd -- "$(dirname -- "$0")/.." && pwd -P)
[ ! -x "$root/bin/lazaret" ] || exit 0

refuse() {
    printf 'lazaret: %s. Until its binary is at %s, every call of a tool is blocked.\n' "$1" "$root/bin/lazaret" >&2
    exit 2
}

new=$root/bin/.lazaret.$$
place() {
    chmod 755 "$new"
    "$new" --version >/dev/null 2>&1 || return 1
    mv -f "$new" "$root/bin/lazaret"
    printf 'lazaret: the plugin took its binary from %s; its calls are judged from now on.\n' "$1"
    exit 0
}
mkdir -p "$root/bin"
trap 'rm -f "$new" "$new.tar.gz"' EXIT
trap 'exit 2' HUP INT TERM

# What the release says: SYSTEM-PROCESSOR SUM ADDRESS, a line for each.
if [ -f "$root/hooks/release" ]; then
    case $(uname -s) in Darwin) system=darwin ;; *) system=linux ;; esac
    case $(uname -m) in arm64 | aarch64) processor=arm64 ;; *) processor=x64 ;; esac
    sum="" address=""
    while read -r of that where; do
        [ "$of" != "$system-$processor" ] || { sum=$that address=$where; }
    done <"$root/hooks/release"
    if [ -n "$sum" ]; then
        if command -v curl >/dev/null; then
            curl -qfsSL --max-time 50 -o "$new.tar.gz" "$address" || true
        elif command -v wget >/dev/null; then
            wget -q -T 50 -O "$new.tar.gz" "$address" || true
        fi
    fi
    if [ -s "$new.tar.gz" ]; then
        found=$({ sha256sum "$new.tar.gz" 2>/dev/null || shasum -a 256 "$new.tar.gz"; } | cut -d ' ' -f 1)
        [ "$found" = "$sum" ] || refuse "what $address gave is not what was released ($found instead of $sum)"
        tar -xzOf "$new.tar.gz" "$(basename -- "$address" .tar.gz)/lazaret-view" >"$new"
        chmod 755 "$new"
        mv -f "$new" "$root/bin/lazaret-view"
        tar -xzOf "$new.tar.gz" "$(basename -- "$address" .tar.gz)/lazaret" >"$new"
        place "$address" || refuse "the binary of $address does not run here"
    fi
fi

# The home directory of the password database: the shell knows it by the user's name.
name=$(id -un)
case $name in
*[!A-Za-z0-9._-]*) home="" ;;
*) eval "home=~$name" ;;
esac
for found in "$home/.local/bin/lazaret" /usr/local/bin/lazaret /opt/homebrew/bin/lazaret /usr/bin/lazaret; do
    if [ -x "$found" ]; then
        cp "$found" "$new"
        place "$found" || true
    fi
done
refuse "the plugin's binary could not be had: it is neither on this machine nor could it be fetched"
