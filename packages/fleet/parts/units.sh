# shellcheck shell=bash disable=SC2154
# The units: systemd understands them without a complaint, and what the services may do stays little.
units=$top/packages/fleet/systemd

verify_units() {
    # A root of its own, where the program that the units start is. They lie there as if a package had brought them.
    local root=$work/units
    mkdir -p "$root/usr/bin" "$root/usr/lib/systemd"
    cp -r "$units" "$root/usr/lib/systemd/system"
    mv "$root/usr/lib/systemd/system/user" "$root/usr/lib/systemd/user"
    cp "$programs/lazaret-fleet" "$root/usr/bin/"
    # The units of systemd itself that these name.
    for unit in sockets.target timers.target network.target network-online.target sysinit.target basic.target shutdown.target; do
        cp "/usr/lib/systemd/system/$unit" "$root/usr/lib/systemd/system/" 2>/dev/null || cp "/lib/systemd/system/$unit" "$root/usr/lib/systemd/system/"
    done
    local said unit
    for unit in lazaret-fleet.socket lazaret-fleet.service lazaret-fleet-policy.service lazaret-fleet-policy.timer; do
        # --root changes where units are looked for; it ends with 0 also where it ignores a line, so that silence counts.
        said=$(systemd-analyze verify --man=no --root="$root" "$unit" 2>&1 | grep -i 'lazaret' || true)
        same "systemd-analyze verify $unit" "" "$said"
    done
    for unit in lazaret-fleet.socket lazaret-fleet.service lazaret-fleet-send.service; do
        said=$(HOME=$work XDG_RUNTIME_DIR=$work systemd-analyze verify --user --man=no "$units/user/$unit" 2>&1 |
            # The program lies elsewhere here, and nothing else is looked for.
            grep -i 'lazaret' | grep -v 'Command /usr/bin/lazaret-fleet is not executable' || true)
        same "systemd-analyze verify --user $unit" "" "$said"
    done
}

# Ten times the exposure that systemd-analyze shows. A line that is ignored is told on standard error.
exposed() {
    local said
    said=$(systemd-analyze security --offline=true --threshold="$2" "$units/$1" 2>&1 >/dev/null | grep -v 'exposure level' || true)
    [ -z "$said" ] || { echo "$said"; return 1; }
    systemd-analyze security --offline=true --threshold="$2" "$units/$1" 2>&1
}

# Every word that a unit gives to the program is one that it knows.
understood() {
    local unit=$1 words
    words=$(sed -n 's|^ExecStart=/usr/bin/lazaret-fleet \(.*\)$|\1|p' "$units/$unit")
    [ -n "$words" ] || { echo "no ExecStart=/usr/bin/lazaret-fleet"; return 1; }
    # shellcheck disable=SC2086 # its words
    "$programs/lazaret-fleet" ${words%% --*} --help >"$work/help" || return 1
    [ "${words#* --config}" = "$words" ] || grep -q -- --config "$work/help"
}

if have systemd-analyze; then
    verify_units
    check "lazaret-fleet.service is exposed by no more than 1.5 of 10" exposed lazaret-fleet.service 15
    check "lazaret-fleet-policy.service is exposed by no more than 1.9 of 10" exposed lazaret-fleet-policy.service 19
    check "the timer's times are times" systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/lazaret-fleet-policy.timer")"
else
    skip "units: there is no systemd-analyze"
fi
# The kernel would call every peer "nobody" (see the service).
same "no service has a namespace of users" "" "$(grep -rE '^PrivateUsers=' "$units" || true)"
for unit in lazaret-fleet.service lazaret-fleet-policy.service user/lazaret-fleet.service user/lazaret-fleet-send.service; do
    check "$unit: lazaret-fleet knows the words that it is started with" understood "$unit"
done
