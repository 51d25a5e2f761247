# shellcheck shell=bash disable=SC2016,SC2154
# install.sh --system --fleet, on a machine with an /etc, a /usr/local and a /run of its own, with and without a systemd that takes notes.
archive=$work/archive
mkdir -p "$archive/packages/fleet" "$work/mem"
cp "$top/install.sh" "$archive/"
cp "$programs/lazaret" "$programs/lazaret-view" "$parts/stand-in-fleet" "$archive/"
mv "$archive/stand-in-fleet" "$archive/lazaret-fleet"
cp -r "$top/packages/fleet/systemd" "$archive/packages/fleet/"

key=RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3
own_etc='
mount -t tmpfs tmpfs "$T/mem"
for dir in etc lib; do mkdir "$T/mem/$dir" "$T/mem/$dir-work"; done
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/mem/etc,workdir=$T/mem/etc-work" /etc
mount -t overlay overlay -o "lowerdir=/var/lib,upperdir=$T/mem/lib,workdir=$T/mem/lib-work" /var/lib
mount -t tmpfs tmpfs /usr/local
mount -t tmpfs tmpfs /run
rm -rf /etc/claude-code /etc/opencode /etc/codex /etc/lazaret
mkdir /usr/local/sbin "$T/mem/clients"
# The clients that are looked for, and a systemctl that takes notes.
for client in claude:"2.1.329 (Claude Code)" opencode:1.18.33; do
    printf "#!/bin/sh\necho \"%s\"\n" "${client#*:}" >"$T/mem/clients/${client%%:*}"
done
printf "#!/bin/sh\necho \"systemctl \$*\" >>/run/notes\ncase \$1 in is-active) exit 3 ;; esac\n" >"$T/mem/clients/systemctl"
chmod 755 "$T"/mem/clients/*
PATH=$T/mem/clients:$PATH
with_systemd() { mkdir -p /run/systemd/system; }
fleet() { "$T/archive/install.sh" --system --fleet "${URL:-https://policy.acme.example/acme.json}" --fleet-name "${NAME:-acme}" --fleet-key "$KEY" "$@"; }
none_of_it() { for path in /usr/local/bin/lazaret /usr/local/bin/lazaret-fleet /etc/systemd/system/lazaret-fleet.service; do [ ! -e "$path" ] || { echo "$path is there"; return 1; }; done; }
'
# in_own NAME=VALUE… SCRIPT
in_own() {
    local script=${*: -1}
    env T="$work" KEY="$key" "${@:1:$#-1}" unshare -m sh -c "$assertions$own_etc$script"
}
expected='[policy]
name = "acme"
keys = ["'$key'"]
url = "https://policy.acme.example/acme.json"'

if skip_unless_root "install.sh --system --fleet"; then
    check "it writes fleet.toml for root alone, and puts the policy in force" in_own EXPECTED="$expected" '
        fleet
        is "$(cat /etc/lazaret/fleet.toml)" = "$EXPECTED"
        is "$(stat -c "%a %u" /etc/lazaret/fleet.toml)" = "600 0"
        is "$(stat -c %a /etc/lazaret)" = 755
        grep -q "brought by" /etc/lazaret/config.toml
        is -x /usr/local/bin/lazaret-fleet
        is -s /etc/claude-code/managed-settings.json
        is ! -e /run/notes
        is -z "$(find /etc/systemd -name "lazaret*")"'
    check "without systemd it says so; and how to undo it" in_own '
        fleet >/run/said
        grep -q "systemd does not run here" /run/said
        eval "$(sed -n "s/^undo: //p" /run/said)"
        none_of_it
        mkdir -p /etc/claude-code /etc/opencode
        left=$(find /etc/lazaret /etc/claude-code /etc/opencode -type f -name "[!.]*"); [ "$left" = /etc/lazaret/config.toml ] || { echo "left: $left"; exit 1; }'
    check "with systemd it starts the timer, and without a state no socket" in_own '
        with_systemd
        fleet >/run/said
        grep -qx "systemctl enable --now lazaret-fleet-policy.timer" /run/notes
        never grep -q "lazaret-fleet.socket" /run/notes
        grep -q "^ExecStart=/usr/local/bin/lazaret-fleet policy pull" /etc/systemd/system/lazaret-fleet-policy.service
        is "$(stat -c "%a %u" /etc/systemd/system/lazaret-fleet.service)" = "644 0"
        eval "$(sed -n "s/^undo: //p" /run/said)"
        none_of_it'
    check "with a state in fleet.toml it keeps that file, and starts the service" in_own EXPECTED="$expected" '
        with_systemd
        fleet --prefix /usr/local >/dev/null
        printf "\n[state]\nurl = \"rediss://state.acme.example\"\n" >>/etc/lazaret/fleet.toml
        before=$(sha256sum /etc/lazaret/fleet.toml)
        fleet >/run/said
        grep -q "unchanged  /etc/lazaret/fleet.toml" /run/said
        is "$before" = "$(sha256sum /etc/lazaret/fleet.toml)"
        grep -qx "systemctl enable --now lazaret-fleet-policy.timer lazaret-fleet.socket lazaret-fleet.service" /run/notes'
    check "a configuration that only install.sh wrote makes way for the policy" in_own '
        "$T/archive/install.sh" --system >/dev/null
        grep -q "lazaret for every user" /etc/lazaret/config.toml
        fleet >/dev/null
        grep -q "brought by" /etc/lazaret/config.toml'
    refused "a configuration of an administrator stays" "no bundle brought it" in_own '
        mkdir /etc/lazaret; echo "# mine" >/etc/lazaret/config.toml
        fleet && exit 0
        grep -qx "# mine" /etc/lazaret/config.toml || exit 0
        exit 1'
    refused "another fleet.toml is not written over, and nothing is installed" "/etc/lazaret/fleet.toml is there and names another" in_own '
        mkdir /etc/lazaret; echo "[policy]" >/etc/lazaret/fleet.toml
        fleet && exit 0
        [ "$(cat /etc/lazaret/fleet.toml)" = "[policy]" ] && none_of_it || exit 0
        exit 1'
    refused "a policy that cannot be fetched is an error, and the gate is closed all the same" "every user is guarded, but not by the policy" in_own URL=https://unreachable.example/acme.json '
        with_systemd
        fleet && exit 0
        [ -s /etc/claude-code/managed-settings.json ] && grep -q "enable --now" /run/notes || exit 0
        exit 1'
    refused "without lazaret-fleet nothing is installed" "lazaret-fleet does not lie beside" in_own '
        cp -r "$T/archive" "$T/mem/without"; rm "$T/mem/without/lazaret-fleet"
        "$T/mem/without/install.sh" --system --fleet https://policy.acme.example/acme.json --fleet-name acme --fleet-key "$KEY" && exit 0
        none_of_it || exit 0
        exit 1'
    # What stands in a file of root's, or in a unit, holds nothing that could end its line or its text.
    for wrong in 'URL=http://policy.acme.example/a|only https' 'URL=https://a.example/"x|no quotes' 'NAME=a b|no blanks' 'KEY=RW"|begins with RW' 'KEY=abc|begins with RW' 'KEY=R|begins with RW' 'KEY=RWabc|56 characters'; do
        refused "${wrong%|*}: it is refused" "${wrong#*|}" in_own "${wrong%|*}" 'fleet && exit 0; none_of_it || exit 0; exit 1'
    done
    refused "a prefix that no unit could hold is refused" "it stands in units" in_own 'fleet --prefix "/opt/a b"'
    refused "--fleet alone is refused" "belong together" in_own '"$T/archive/install.sh" --system --fleet https://policy.acme.example/acme.json'
    refused "--fleet without --system is refused" "--system --fleet URL" in_own '"$T/archive/install.sh" --fleet https://policy.acme.example/acme.json'
    check "with two keys either may sign" in_own '
        other=${KEY%GFO3}AAAA
        fleet --fleet-key "$other" >/dev/null
        grep -qx "keys = \[\"$KEY\", \"$other\"\]" /etc/lazaret/fleet.toml'
    check "an upgrade without --fleet takes lazaret-fleet along" in_own '
        fleet >/dev/null
        cp -r "$T/archive" "$T/mem/next"; echo "# of the next release" >>"$T/mem/next/lazaret-fleet"
        "$T/mem/next/install.sh" --system >/dev/null
        tail -1 /usr/local/bin/lazaret-fleet | grep -q "next release"'
    check "it takes the units along too, and starts a running service anew" in_own '
        with_systemd
        fleet >/dev/null
        cp -r "$T/archive" "$T/mem/next"
        echo "# of the next release" >>"$T/mem/next/packages/fleet/systemd/lazaret-fleet.service"
        sed -i "s/exit 3/exit 0/" "$T/mem/clients/systemctl"
        rm /run/notes
        "$T/mem/next/install.sh" --system >/run/said
        grep -q "next release" /etc/systemd/system/lazaret-fleet.service
        grep -qx "systemctl restart lazaret-fleet.service" /run/notes
        eval "$(sed -n "s/^undo: //p" /run/said | tail -1)"
        none_of_it
        is ! -e /etc/systemd/user/lazaret-fleet-send.service'
    check "an upgrade that has no lazaret-fleet says that the old one stays" in_own '
        fleet >/dev/null
        cp -r "$T/archive" "$T/mem/plain"; rm "$T/mem/plain/lazaret-fleet"
        "$T/mem/plain/install.sh" --system | grep -q "lazaret-fleet stays as it is"'
    check "where a policy could not be fetched yet, an upgrade puts nothing in its way" in_own '
        URL=https://unreachable.example/acme.json fleet >/dev/null 2>&1 || true
        "$T/archive/install.sh" --system >/dev/null
        is ! -e /etc/lazaret/config.toml'
    refused "another version of lazaret-fleet is refused" "is of another version" in_own '
        cp -r "$T/archive" "$T/mem/other"
        printf "#!/bin/sh\necho lazaret-fleet 0.0.1\n" >"$T/mem/other/lazaret-fleet"
        "$T/mem/other/install.sh" --system --fleet https://policy.acme.example/acme.json --fleet-name acme --fleet-key "$KEY" && exit 0
        none_of_it || exit 0
        exit 1'
    refused "and so is one that the list of the release does not name" "is not of this release" in_own '
        cp -r "$T/archive" "$T/mem/over"; cd "$T/mem/over"
        sha256sum install.sh lazaret lazaret-view >SHA256SUMS
        ./install.sh --system --fleet https://policy.acme.example/acme.json --fleet-name acme --fleet-key "$KEY" && exit 0
        none_of_it || exit 0
        exit 1'
    for mask in 027 077; do
        check "with the umask $mask every user can read and run it" in_own MASK=$mask '
            with_systemd
            umask "$MASK"
            fleet >/dev/null
            closed=$(find /etc/lazaret/config.toml /etc/claude-code /etc/systemd/system/lazaret-fleet-policy.timer /usr/local/bin \( -type d ! -perm -005 -o ! -type d ! -perm -004 \))
            is -z "$closed"
            is "$(stat -c %a /etc/lazaret/fleet.toml)" = 600
            is "$(stat -Lc %a /usr/local/bin/lazaret /usr/local/bin/lazaret-fleet | sort -u)" = 755'
    done
fi
