# shellcheck shell=bash disable=SC2016,SC2154
# The Ansible role: its syntax, what the linter says, and runs on a machine with directories of its own, from package files and from an archive.
role=$top/packages/ansible
export ANSIBLE_HOME=$work/ansible ANSIBLE_ROLES_PATH=$role/roles ANSIBLE_NOCOLOR=1 ANSIBLE_LOCALHOST_WARNING=False

bring_ansible() {
    local tree=$work/released/lazaret-1
    mkdir -p "$tree/packages/fleet" "$work/mem"
    cp "$programs/lazaret" "$programs/lazaret-view" "$parts/stand-in-fleet" "$top/install.sh" "$tree/"
    mv "$tree/stand-in-fleet" "$tree/lazaret-fleet"
    cp -r "$top/packages/fleet/systemd" "$tree/packages/fleet/"
    [ ! -d "$programs/share" ] || cp -r "$programs/share" "$tree/"
    tar -C "$work/released" -czf "$work/released.tar.gz" lazaret-1
    cat >"$work/play.yml" <<'YAML'
- hosts: localhost
  connection: local
  roles: [lazaret]
  vars:
    ansible_python_interpreter: /usr/bin/python3
    lazaret_fleet_name: acme
    lazaret_fleet_keys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3, RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7AAAA]
    lazaret_fleet_url: https://policy.acme.example/acme.json
YAML
    ! have dpkg-deb || "$top/packages/linux/build" --trial --only deb "$tree" "$work/debs" >/dev/null
}
own_root='
mount -t tmpfs tmpfs "$T/mem"
for dir in etc usr var; do
    mkdir "$T/mem/$dir" "$T/mem/$dir-work"
    mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$T/mem/$dir,workdir=$T/mem/$dir-work" "/$dir"
done
mount -t tmpfs tmpfs /run
rm -rf /etc/lazaret /etc/claude-code /etc/opencode /etc/codex
mkdir "$T/mem/bin"
printf "#!/bin/sh\necho \"2.1.329 (Claude Code)\"\n" >"$T/mem/bin/claude" && chmod 755 "$T/mem/bin/claude"
PATH=$T/mem/bin:$PATH
play() { ansible-playbook -i localhost, "$T/play.yml" "$@"; }
from_files() { play -e lazaret_from=files -e "{\"lazaret_files\": [$(printf "\"%s\"\n" "$T"/debs/lazaret_*.deb "$T"/debs/lazaret-fleet_*.deb | paste -sd,)]}" "$@"; }
from_archive() { play -e lazaret_from=archive -e lazaret_archive="$T/released.tar.gz" -e lazaret_archive_sha256="$(sha256sum "$T/released.tar.gz" | cut -d" " -f1)" "$@"; }
'
in_root() { T=$work STAND_IN=$parts/stand-in-lazaret unshare -m bash -o pipefail -c "$assertions$own_root$1"; }

if ! have ansible-playbook; then
    skip "ansible: there is no ansible-playbook (pip install ansible-core; LAZARET_TEST_TOOLS names the directory it is in)"
else
    check "the example is a playbook" ansible-playbook --syntax-check -i localhost, "$role/example.yml"
    if have ansible-lint; then
        check "ansible-lint has nothing to say" env -C "$role" ansible-lint --offline -q
    else
        skip "ansible: there is no ansible-lint"
    fi
    if skip_unless_root "the Ansible role"; then
        check "what it needs was made" bring_ansible
        if have dpkg-deb && /usr/bin/python3 -c 'import apt' 2>/dev/null; then
            check "from package files: a machine that is guarded, and the second run changes nothing" in_root '
                from_files
                is "$(stat -c "%a %u" /etc/lazaret/fleet.toml)" = "600 0"
                is -s /etc/claude-code/managed-settings.json
                grep -q "brought by" /etc/lazaret/config.toml
                from_files | tee /run/second
                grep -q "changed=0 " /run/second'
        else
            skip "ansible: package files (dpkg-deb and python3-apt are needed)"
        fi
        check "from an archive: the same" in_root '
            from_archive
            grep -qx "keys = \[\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\", \"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7AAAA\"\]" /etc/lazaret/fleet.toml
            grep -q "brought by" /etc/lazaret/config.toml
            from_archive | tee /run/second
            grep -q "changed=0 " /run/second'
        check "a dry run changes nothing" in_root 'from_archive --check; is ! -e /etc/lazaret'
        refused "another archive than the release's is refused" "failed=1" in_root 'from_archive -e lazaret_archive_sha256=00'
        refused "a policy that cannot be fetched fails the play" "nobody answers" in_root 'from_archive -e lazaret_fleet_url=https://unreachable.example/a.json'
        refused "a gate that is open fails the play" "it is registered nowhere" in_root '
            cp -r "$T/released" "$T/mem/open"
            # It says that it registered itself, and did not.
            sed "s|^\"install all --scope system\")|& exit 0|" "$STAND_IN" >"$T/mem/open/lazaret-1/lazaret"
            tar -C "$T/mem/open" -czf "$T/mem/open.tar.gz" lazaret-1
            play -e lazaret_from=archive -e lazaret_archive="$T/mem/open.tar.gz" -e lazaret_archive_sha256="$(sha256sum "$T/mem/open.tar.gz" | cut -d" " -f1)"'
        check "a password is in a file of root alone, and nowhere in what is printed" in_root '
            echo "{\"lazaret_fleet_password\": \"hidden-word\", \"lazaret_fleet_state\": {\"url\": \"rediss://u:hidden-word@state.acme.example\", \"prefix\": \"a\\\"b\"}}" >/run/more.json
            from_archive -vvv --diff -e @/run/more.json >/run/said
            never grep -o ".\{0,60\}hidden-word" /run/said
            is "$(stat -c "%a %u" /etc/lazaret/fleet.password)" = "600 0"
            is "$(cat /etc/lazaret/fleet.password)" = hidden-word
            python3 -c "import tomllib; said = tomllib.load(open(\"/etc/lazaret/fleet.toml\", \"rb\")); assert said[\"state\"][\"prefix\"] == chr(97) + chr(34) + chr(98), said"'
    fi
fi
