# shellcheck shell=bash disable=SC2016,SC2154
# A machine of its own with systemd as its first process (systemd-nspawn, this machine's files below and nothing of them written to): what the
# units, the packages' scripts and install.sh do there. lazaret-fleet is a stand-in also where there is a real one: it says what it can do.
boot_it() {
    local guest=$work/guest
    mkdir -p "$guest/root" "$guest/mem" "$guest/bring/archive/packages/fleet" "$guest/programs"
    cp -r "$programs/." "$guest/programs"
    cp "$parts/stand-in-fleet" "$guest/programs/lazaret-fleet"
    "$top/packages/linux/build" --trial --only deb "$guest/programs" "$guest/made" >/dev/null || return 1
    cp "$guest/made"/lazaret_*.deb "$guest/bring/lazaret.deb"
    cp "$guest/made"/lazaret-fleet_*.deb "$guest/bring/lazaret-fleet.deb"
    cp "$parts/guest" "$guest/bring/"
    cp "$top/install.sh" "$guest/programs/lazaret" "$guest/programs/lazaret-view" "$guest/programs/lazaret-fleet" "$guest/bring/archive/"
    cp -r "$top/packages/fleet/systemd" "$guest/bring/archive/packages/fleet/"
    [ "$real" = no ] || cp "$programs/lazaret-fleet" "$guest/bring/real"
    cp -r "$top/packages/ansible/roles" "$guest/bring/"
    local tools=
    if have ansible-playbook; then
        command -v ansible-playbook >"$guest/bring/ansible"
        tools=$(cd "$(dirname "$(command -v ansible-playbook)")/.." && pwd -P)
        # Elsewhere it may lie below /tmp, which is another one there.
        case $tools in /usr | /usr/local | /) tools= ;; *) tools=--bind-ro=$tools ;; esac
    fi
    G=$guest TOOLS=$tools unshare -m bash -c '
        set -eu
        mount -t tmpfs tmpfs "$G/mem"
        mkdir "$G/mem/up" "$G/mem/work"
        mount -t overlay overlay -o "lowerdir=/,upperdir=$G/mem/up,workdir=$G/mem/work" "$G/root"
        cp -r "$G/bring" "$G/root/fleet-test"
        # Neither who this machine is nor what else it has enabled.
        rm -rf "$G/root/etc/machine-id" "$G/root/etc/systemd/system"
        mkdir "$G/root/etc/systemd/system"
        # There is no network to wait for.
        ln -s /dev/null "$G/root/etc/systemd/system/systemd-networkd-wait-online.service"
        ln -s /dev/null "$G/root/etc/systemd/system/NetworkManager-wait-online.service"
        printf "%s\n" "[Unit]" "Requires=basic.target dbus.socket" "After=basic.target dbus.socket" "[Service]" "Type=oneshot" "ExecStart=/fleet-test/guest" \
            "ExecStopPost=systemctl poweroff --force" "StandardOutput=append:/fleet-test/told" "StandardError=append:/fleet-test/told" \
            >"$G/root/etc/systemd/system/fleet-test.service"
        timeout 180 systemd-nspawn -q -D "$G/root" --register=no --keep-unit --private-network ${TOOLS:+"$TOOLS"} -b systemd.unit=fleet-test.service </dev/null >"$G/console" 2>&1 || true
        cp "$G/root/fleet-test/told" "$G/told"'
}
if ! have systemd-nspawn; then
    skip "boot: there is no systemd-nspawn"
elif ! have dpkg-deb; then
    skip "boot: there is no dpkg-deb"
elif skip_unless_root boot; then
    # Some machines cannot, containers above all; that is no fault of the units.
    if boot_it && [ -s "$work/guest/told" ]; then
        while IFS= read -r line; do
            case $line in
            "FAIL  "*) fail "${line#FAIL  }" ;;
            "not tried  "*) skip "${line#not tried  }" ;;
            "the end") ;;
            *) echo "$line" ;;
            esac
        done <"$work/guest/told"
        same "all of it was tried" "the end" "$(tail -1 "$work/guest/told")"
    else
        skip "boot: systemd does not start here as the first process of a container"
        sed 's/^/      /' "$work/guest/console" 2>/dev/null | tail -5
    fi
fi
