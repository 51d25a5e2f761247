# shellcheck shell=bash disable=SC2016,SC2154
# The packages: the same bytes twice, what is in them, and what installing and removing them does on a machine without systemd.

twice() {
    local form=$1 place
    for place in one two; do
        (umask "$([ "$place" = one ] && echo 022 || echo 077)" && TZ=$([ "$place" = one ] && echo UTC || echo Asia/Tokyo) \
            "$top/packages/linux/build" --trial --only "$form" "$programs" "$work/packages/$place") || return 1
        # Times are written in seconds.
        sleep 1.1
    done
    diff -r "$work/packages/one" "$work/packages/two"
}
made() { compgen -G "$work/packages/one/$1"; }
program_names() { printf '%s\n' usr/bin/lazaret usr/bin/lazaret-fleet usr/bin/lazaret-view; }

# Inside a mount namespace with directories of its own: nothing of the machine's is written.
own_machine='
mount -t tmpfs tmpfs "$T/mem"
for dir in etc usr var; do
    mkdir -p "$T/mem/$dir" "$T/mem/$dir-work"
    mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$T/mem/$dir,workdir=$T/mem/$dir-work" "/$dir"
done
mount -t tmpfs tmpfs /run
rm -rf /etc/claude-code /etc/opencode /etc/codex /etc/lazaret'
own() {
    mkdir -p "$work/mem"
    T=$work PACKAGES=$work/packages/one unshare -m sh -c "$assertions$own_machine
$1"
}

# What is not static is refused by its own words, where nothing else is wrong before.
judged() {
    python3 - "$top" "$1" <<'PYTHON'
import importlib.machinery
import importlib.util
import pathlib
import sys

loader = importlib.machinery.SourceFileLoader("build", sys.argv[1] + "/packages/linux/build")
build = importlib.util.module_from_spec(importlib.util.spec_from_loader("build", loader))
loader.exec_module(build)
try:
    build.processor(pathlib.Path(sys.argv[2]), False)
except build.Refused as refused:
    sys.exit(str(refused))
PYTHON
}
refused "a program that needs the machine's C library is refused" "it is not static" judged "$(readlink -f "$(command -v env)")"
refused "a script is refused" "no 64-bit program" judged "$top/install.sh"
[ ! -x /sbin/ldconfig ] || [ "$(head -c 4 /sbin/ldconfig | tail -c 3)" != ELF ] || check "a static program is taken" judged /sbin/ldconfig

if ! have dpkg-deb; then
    skip "packages: there is no dpkg-deb"
else
    check "two .deb are the same bytes whenever they are made" twice deb
    names=$(for package in $(made '*.deb'); do dpkg-deb --fsys-tarfile "$package" | tar -t; done | sed -n 's|^\./\(usr/bin/.\+\)|\1|p' | sort)
    same "the .deb have the programs" "$(program_names)" "$names"
    depends=$(dpkg-deb -f "$(made 'lazaret-fleet_*.deb')" Depends)
    same "lazaret-fleet needs lazaret of its version" "lazaret (= $(dpkg-deb -f "$(made 'lazaret_*.deb')" Version))" "$depends"
    others=$(for package in $(made '*.deb'); do dpkg-deb -c "$package"; done | awk '$2 != "root/root" || $1 ~ /^.....w|^........w|s/')
    same ".deb: all is root's, nobody else may write it, and nothing is set-uid" "" "$others"
    if skip_unless_root "installing the .deb"; then
        check ".deb: installed, it has registered and enabled nothing" own '
            dpkg -i "$PACKAGES"/lazaret*.deb
            lazaret --version
            is ! -e /etc/claude-code
            is ! -e /etc/lazaret/fleet.toml
            is -z "$(find /etc/systemd -name "lazaret*")"'
        refused ".deb: it stays while clients are told to run it" "lazaret uninstall --scope system" own '
            dpkg -i "$PACKAGES"/lazaret*.deb >/dev/null
            dpkg -r lazaret-fleet >/dev/null
            mkdir -p /etc/claude-code; echo "{\"command\": \"/usr/bin/lazaret\"}" > /etc/claude-code/managed-settings.json
            dpkg -r lazaret'
        check ".deb: removed and purged, it leaves the policy and nothing else" own '
            dpkg -i "$PACKAGES"/lazaret*.deb
            echo "# a policy" > /etc/lazaret/config.toml
            dpkg -P lazaret-fleet lazaret
            is "$(cat /etc/lazaret/config.toml)" = "# a policy"
            left=$(find /usr/bin /usr/lib/systemd /usr/share/doc /usr/share/man/man1 -name "lazaret*"); is -z "$left"'
    fi
fi
if ! have rpmbuild; then
    skip "packages: there is no rpmbuild"
else
    check "two .rpm are the same bytes whenever they are made" twice rpm
    names=$(rpm -qpl "$work/packages/one/"*.rpm | sed -n 's|^/\(usr/bin/.*\)|\1|p' | sort)
    same "the .rpm have the programs" "$(program_names)" "$names"
    depends=$(rpm -qp --requires "$(made 'lazaret-fleet-*.rpm')" | grep '^lazaret')
    same "lazaret-fleet.rpm needs lazaret of its version" "lazaret = $(rpm -qp --qf '%{VERSION}-%{RELEASE}' "$(made 'lazaret-[0-9]*.rpm')")" "$depends"
    others=$(rpm -qp --qf '[%{FILEUSERNAME} %{FILEGROUPNAME}\n]' "$work/packages/one/"*.rpm | sort -u)
    same ".rpm: all is root's" "root root" "$others"
    if skip_unless_root "installing the .rpm"; then
        # A database of packages of its own; what they need is looked for in it, and /bin/sh is Debian's here.
        into='rpm() { command rpm --dbpath /var/lib/own-rpm "$@"; }; rpm --initdb; rpm -i --nodeps "$PACKAGES"/*.rpm'
        check ".rpm: installed, it has registered and enabled nothing" own "$into"'
            lazaret --version
            is ! -e /etc/claude-code
            is ! -e /etc/lazaret/fleet.toml
            is -z "$(find /etc/systemd -name "lazaret*")"'
        refused ".rpm: it stays while clients are told to run it" "lazaret uninstall --scope system" own "$into"' >/dev/null
            mkdir -p /etc/codex; echo "command = \"/usr/bin/lazaret\"" > /etc/codex/requirements.toml
            rpm -e lazaret-fleet lazaret'
        check ".rpm: removed, it leaves the policy and nothing else" own "$into"'
            echo "# a policy" > /etc/lazaret/config.toml
            rpm -e lazaret-fleet lazaret
            is "$(cat /etc/lazaret/config.toml)" = "# a policy"
            left=$(find /usr/bin /usr/lib/systemd /usr/share/licenses /usr/share/man/man1 -name "lazaret*"); is -z "$left"'
    fi
fi
