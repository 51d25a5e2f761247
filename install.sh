#!/bin/sh
# Installs lazaret for this user, registers it with the clients found and proves that the gate is closed.
# From a checkout, or from an unpacked release archive with the binary beside this file. May be run again.
set -eu

usage() {
    cat <<'USAGE'
usage: ./install.sh [--prefix DIR] [--no-register] [--system]
       ./install.sh --system --fleet URL --fleet-name NAME --fleet-key KEY

Installs the lazaret binary to DIR/bin (default: ~/.local/bin), registers it with the clients found (Claude Code,
OpenCode, Codex) and runs `lazaret doctor`. Without a prebuilt binary beside this file it is built with cargo: static musl
where Rust's standard library for it is there or can be added, else plain.

In an unpacked release archive every file is first compared with the archive's SHA256SUMS, the manual and the completions
are installed below DIR/share too, and nothing is fetched.

  --prefix DIR    install to DIR/bin
  --no-register   install the binary only
  --system        as root, for every user of this machine: the binary to /usr/local/bin, the registration to the clients'
                  managed settings, where no user and no agent can change them
  --fleet URL     with --system: the https address of a signed policy, which is fetched and put in force now, and by a timer
                  where systemd runs. Besides lazaret it installs lazaret-fleet, which has to lie beside this file, as in the
                  archives lazaret-fleet-VERSION-TARGET.tar.gz
  --fleet-name NAME, --fleet-key KEY
                  the policy's name, and the public key of minisign (RW...) that it is signed with; given again, another
                  one that may sign. They do not come with the policy: what a server says of itself proves nothing
  --help          this text

example: ./install.sh --prefix /opt/lazaret --no-register
USAGE
}

say() { printf '%s\n' "$*"; }
die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

case $(uname -s) in
Linux | Darwin) ;;
*) die "lazaret runs on Linux and macOS; on Windows install and use it inside WSL 2 (docs/platforms.md)" ;;
esac

prefix=
register=yes
system=no
fleet=
fleet_name=
fleet_keys=
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        prefix=${2:-}
        [ -n "$prefix" ] || die "--prefix: it needs a directory"
        shift
        ;;
    --prefix=?*) prefix=${1#--prefix=} ;;
    --no-register) register=no ;;
    --system) system=yes ;;
    --fleet | --fleet-name | --fleet-key)
        [ -n "${2:-}" ] || die "$1: it needs a value; see ./install.sh --help"
        case $1 in
        --fleet) fleet=$2 ;;
        --fleet-name) fleet_name=$2 ;;
        --fleet-key)
            # They become text in a file that says whom this machine obeys.
            case $2 in
            RW*[!A-Za-z0-9+/=]* | RW | [!R]* | R | R[!W]*) die "--fleet-key: $2: it is the line of minisign.pub that begins with RW" ;;
            esac
            [ ${#2} -eq 56 ] || die "--fleet-key: $2: a key of minisign has 56 characters"
            fleet_keys=${fleet_keys:+$fleet_keys, }\"$2\"
            ;;
        esac
        shift
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die "$1: unknown option; see ./install.sh --help" ;;
    esac
    shift
done
if [ "$system" = yes ]; then
    [ "$(id -u)" -eq 0 ] || die "--system: only root can install for every user; run: sudo ./install.sh --system"
    [ -n "$prefix" ] || prefix=/usr/local
fi
if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || die "HOME is not set; name a directory with --prefix"
    prefix=$HOME/.local
fi
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# What every user runs and reads, every user must be able to, whatever root's umask is.
[ "$system" = no ] || umask 022

# --- the fleet: what is wrong is said before anything is installed -------------------------------------------------

managed=/etc/lazaret
units="lazaret-fleet.socket lazaret-fleet.service lazaret-fleet-policy.service lazaret-fleet-policy.timer"
# For users who have it started; docs/managed.md.
user_unit=lazaret-fleet-send.service

fleet_settings() {
    printf '[policy]\nname = "%s"\nkeys = [%s]\nurl = "%s"\n' "$fleet_name" "$fleet_keys" "$fleet"
}

# Whether fleet.toml says what is asked for; it may say more (certificates, the fleet's state).
fleet_says_so() {
    fleet_settings | while IFS= read -r line; do
        grep -Fqx -- "$line" "$managed/fleet.toml" || exit 1
    done
}

check_fleet() {
    [ "$system" = yes ] || die "--fleet: a policy is for every user of a machine; run: sudo ./install.sh --system --fleet URL ..."
    [ "$register" = yes ] || die "--fleet: with --no-register nobody would be guarded by the policy"
    [ "$(uname -s)" = Linux ] || die "--fleet: on this system it is set up by hand; docs/managed.md says how"
    for value in "$fleet" "$fleet_name" "$fleet_keys"; do
        [ -n "$value" ] || die "--fleet, --fleet-name and --fleet-key belong together: the address, and whose policy is taken from there"
    done
    case $fleet in
    https://?*) ;;
    *) die "--fleet: $fleet: only https:// is fetched from" ;;
    esac
    case $fleet$fleet_name in
    *[!A-Za-z0-9:/?\&=%._~@+,-]*) die "--fleet, --fleet-name: letters, digits and what an address is made of, no blanks and no quotes" ;;
    esac
    case $prefix in
    *[!A-Za-z0-9/._-]*) die "--prefix: $prefix: with --fleet it stands in units of systemd, so letters, digits, and . _ - only" ;;
    esac
    [ ! -e "$managed/fleet.toml" ] || fleet_says_so ||
        die "$managed/fleet.toml is there and names another policy, key or address; it is not written over: change it, or remove it, and run this again"
    runs "$here/lazaret-fleet" ||
        die "--fleet: lazaret-fleet does not lie beside $here/install.sh, or does not run here (docs/fleet.md says where it is had from); nothing was installed"
    fleet_fits
}

# lazaret-fleet and its units lie here whole, of lazaret's own release and version: in a directory that was unpacked over another, one may be left.
fleet_fits() {
    for file in lazaret-fleet $(fleet_files); do
        [ -f "$here/$file" ] || die "$here/$file is missing; nothing was installed"
        [ ! -f "$here/SHA256SUMS" ] || grep -q "  $file\$" "$here/SHA256SUMS" ||
            die "$here/$file is not of this release (SHA256SUMS does not name it); nothing was installed: unpack lazaret-fleet-VERSION-TARGET.tar.gz into an empty directory"
    done
    runs "$here/lazaret" || return 0
    [ "$("$here/lazaret-fleet" --version | cut -d ' ' -f 2)" = "$("$here/lazaret" --version | cut -d ' ' -f 2)" ] ||
        die "$here/lazaret-fleet is of another version than $here/lazaret; nothing was installed"
}

fleet_files() {
    for unit in $units; do printf 'packages/fleet/systemd/%s\n' "$unit"; done
    printf 'packages/fleet/systemd/user/%s\n' "$user_unit"
}

# --- the binary: prebuilt, or built here ---------------------------------------------------------------------------

runs() { [ -f "$1" ] && [ -x "$1" ] && "$1" --version >/dev/null 2>&1; }

find_cargo() {
    if command -v cargo >/dev/null 2>&1; then
        command -v cargo
    elif [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
        printf '%s\n' "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo"
    fi
}

musl_target() {
    [ "$(uname -s)" = Linux ] || return 0
    case $(uname -m) in
    x86_64 | amd64) printf 'x86_64-unknown-linux-musl\n' ;;
    aarch64 | arm64) printf 'aarch64-unknown-linux-musl\n' ;;
    *) ;;
    esac
}

has_std() {
    libs=$(rustc --print target-libdir --target "$1" 2>/dev/null) || return 1
    for lib in "$libs"/libstd-*.rlib; do
        [ -f "$lib" ] && return 0
    done
    return 1
}

# What the second program's packages ask of others must not change the first.
compile() {
    (cd "$here" && cargo build --release --locked --no-default-features --bin lazaret --target-dir "$out" "$@" &&
        cargo build --release --locked --bin lazaret-view --target-dir "$out" "$@")
}

# Sets `built`, `kind` and, when musl was not to be had, `why`.
build() {
    cargo=$(find_cargo)
    [ -n "$cargo" ] ||
        die "no prebuilt binary beside install.sh and no cargo: install Rust (https://rustup.rs), or unpack a release archive and run the install.sh in it"
    PATH=$(dirname -- "$cargo"):$PATH
    out=${CARGO_TARGET_DIR:-$here/target}
    target=$(musl_target)
    why="this system has no musl"
    if [ -n "$target" ]; then
        has_std "$target" || rustup target add "$target" >/dev/null 2>&1 || true
        if has_std "$target"; then
            say "building lazaret ($target, static) ..."
            if compile --target "$target"; then
                built=$out/$target/release/lazaret
                kind="static ($target)"
                return 0
            fi
            why="the build for $target failed"
        else
            why="Rust's standard library for $target is not there and could not be added"
        fi
    fi
    say "building lazaret (plain) ..."
    compile || die "the build failed; what cargo said stands above"
    built=$out/release/lazaret
    kind="plain: $why; it starts slower than a static one"
}

# Of a release archive: every file is what its list says.
verify() {
    if command -v sha256sum >/dev/null 2>&1; then
        checked=$(cd "$here" && sha256sum -c SHA256SUMS 2>&1) && return 0
    elif command -v shasum >/dev/null 2>&1; then
        checked=$(cd "$here" && shasum -a 256 -c SHA256SUMS 2>&1) && return 0
    else
        die "neither sha256sum nor shasum is here, so the files cannot be compared with SHA256SUMS"
    fi
    say "$checked" | while IFS= read -r line; do
        case $line in
        *": OK") ;;
        *) say "$line" >&2 ;;
        esac
    done
    die "the files are not those of the release (SHA256SUMS); nothing was installed: unpack the archive anew"
}

[ ! -f "$here/SHA256SUMS" ] || verify
[ -z "$fleet$fleet_name$fleet_keys" ] || check_fleet
if runs "$here/lazaret" && [ -f "$here/lazaret-view" ]; then
    built=$here/lazaret
    kind=prebuilt
elif [ -f "$here/Cargo.toml" ]; then
    build
elif [ -e "$here/lazaret" ]; then
    ! runs "$here/lazaret" || die "lazaret-view does not lie beside $here/lazaret: unpack the archive whole"
    [ -x "$here/lazaret" ] ||
        die "$here/lazaret may not be executed where it lies: unpack the archive with tar, on a file system that is not mounted with noexec"
    die "$here/lazaret does not run on this machine: take the release archive for $(uname -s) $(uname -m)"
else
    die "neither a lazaret binary nor its source lies beside $0: run the install.sh of a checkout or of an unpacked release archive"
fi

# --- put it in place ------------------------------------------------------------------------------------------------

# place FROM TO
place() {
    if cmp -s "$1" "$2" 2>/dev/null; then
        say "unchanged  $2 ($kind)"
        return 0
    fi
    # Renamed into place, so that a running gate never meets half a binary.
    new=$prefix/bin/.lazaret.new.$$
    trap 'rm -f "$new"' EXIT
    trap 'exit 1' HUP INT TERM
    cp "$1" "$new"
    [ "$system" = no ] || chown 0:0 "$new"
    chmod 755 "$new"
    mv -f "$new" "$2"
    trap - EXIT
    say "installed  $2 ($kind)"
}

bin=$prefix/bin/lazaret
# One that is there stays of lazaret's version, since it knows what lazaret understands.
along=no
if [ -n "$fleet" ]; then
    along=yes
elif [ -e "$bin-fleet" ]; then
    if runs "$here/lazaret-fleet"; then
        fleet_fits
        along=yes
    else
        say "note: $bin-fleet stays as it is: it does not lie beside install.sh; lazaret-fleet-VERSION-TARGET.tar.gz has it"
    fi
fi
mkdir -p "$prefix/bin"
# What it starts for people first: the two are of one version.
place "$built-view" "$bin-view"
place "$built" "$bin"
[ "$along" = no ] || place "$here/lazaret-fleet" "$bin-fleet"

# The names below share/ in a list of sums.
shared() {
    while read -r _ name; do
        case $name in
        share/*..*) ;;
        share/*) printf '%s\n' "$name" ;;
        esac
    done <"$1"
}

gone="rm \"$bin\" \"$bin-view\""
undo=$gone
if [ -f "$here/SHA256SUMS" ]; then
    list=$prefix/share/lazaret/SHA256SUMS
    if cmp -s "$here/SHA256SUMS" "$list" && shared "$list" | while IFS= read -r name; do cmp -s "$here/$name" "$prefix/$name" || exit 1; done; then
        say "unchanged  $prefix/share: manual, completions, sums (lazaret self-check)"
    else
        # What an earlier release put there.
        if [ -f "$list" ]; then
            shared "$list" | while IFS= read -r name; do rm -f "$prefix/$name"; done
        fi
        mkdir -p "$prefix/share/lazaret"
        shared "$here/SHA256SUMS" | while IFS= read -r name; do
            mkdir -p "$(dirname -- "$prefix/$name")"
            cp "$here/$name" "$prefix/$name"
            chmod 644 "$prefix/$name"
        done
        cp "$here/SHA256SUMS" "$list"
        chmod 644 "$list"
        say "installed  $prefix/share: manual, completions, sums (lazaret self-check)"
    fi
    undo="\"$bin\" uninstall && $undo"
fi
case :${PATH:-}: in
*:"$prefix/bin":*) ;;
*) say "hint: $prefix/bin is not on PATH; to call lazaret by its name, add it: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac

# --- register and prove ---------------------------------------------------------------------------------------------

if [ "$register" = no ]; then
    say "not registered (--no-register); to do it: $bin install"
    say "undo: $undo"
    exit 0
fi
# A configuration of nobody's yet, where no policy brings one.
nobodys() { printf '# lazaret for every user of this machine; what stands here comes before their own files. See docs/configuration.md.\n'; }

write_fleet() {
    if [ -e "$managed/fleet.toml" ]; then
        say "unchanged  $managed/fleet.toml"
        return 0
    fi
    # Made for root alone, since credentials may be added to it, and renamed, so that nobody meets half of it.
    (umask 077 && fleet_settings >"$managed/.fleet.toml.new")
    mv -f "$managed/.fleet.toml.new" "$managed/fleet.toml"
    say "created    $managed/fleet.toml"
}

# Puts the units in place, has a service that runs use the new program, and sets `gone`.
place_units() {
    mkdir -p /etc/systemd/system /etc/systemd/user
    placed=
    for file in $(fleet_files); do
        unit=/etc/systemd/system/${file##*/}
        case $file in */user/*) unit=/etc/systemd/user/${file##*/} ;; esac
        sed "s|/usr/bin/|$prefix/bin/|" "$here/$file" >"$unit.new"
        chmod 644 "$unit.new"
        mv -f "$unit.new" "$unit"
        placed="$placed $unit"
    done
    systemctl daemon-reload
    ! systemctl is-active --quiet lazaret-fleet.service || systemctl restart lazaret-fleet.service
    gone="systemctl disable --now lazaret-fleet-policy.timer lazaret-fleet.socket lazaret-fleet.service && rm$placed && systemctl daemon-reload && $gone"
}

# Sets `by_itself` and `gone`.
start_fleet() {
    if [ ! -d /run/systemd/system ]; then
        by_itself="systemd does not run here, so nothing fetches it by itself: have \"$bin-fleet policy pull\" run every quarter of an hour as root"
        return 0
    fi
    place_units
    enabled=lazaret-fleet-policy.timer
    # Without a state there is nothing to serve, and agents need not ask in vain.
    ! grep -q '^\[state\]' "$managed/fleet.toml" || enabled="$enabled lazaret-fleet.socket lazaret-fleet.service"
    # shellcheck disable=SC2086 # names
    systemctl enable --now $enabled || die "lazaret is installed, but systemd could not start $enabled"
    say "started    $enabled"
    by_itself="the timer fetches it again within a quarter of an hour"
}

if [ "$system" = yes ]; then
    mkdir -p "$managed"
    chmod 755 "$managed"
    [ "$along" = no ] || gone="$gone \"$bin-fleet\" $managed/fleet.toml"
    if [ -n "$fleet" ]; then
        write_fleet
        # It is in the way of the policy, and says nothing.
        ! nobodys | cmp -s - "$managed/config.toml" || rm "$managed/config.toml"
    elif [ "$along" = yes ] && [ -f /etc/systemd/system/lazaret-fleet-policy.timer ] && [ -d /run/systemd/system ]; then
        place_units
    fi
    # Where a policy is to come, it would be in its way.
    if [ ! -e "$managed/config.toml" ] && [ ! -e "$managed/fleet.toml" ]; then
        nobodys >"$managed/config.toml"
        chmod 644 "$managed/config.toml"
        say "created    $managed/config.toml"
    fi
    # Before anything is fetched: where that fails, lazaret guards as it does without a policy.
    "$bin" install all --scope system || die "the binary is installed, but it could not be registered"
    pulled=0
    if [ -n "$fleet" ]; then
        "$bin-fleet" policy pull || pulled=$?
        start_fleet
    fi
    say ""
    say "each user proves it with: $bin doctor"
    say "undo: \"$bin\" uninstall --scope system && $gone"
    [ -z "$fleet" ] || say "      the policy stays in force until $managed/config.toml and policy.json beside it are removed too"
    [ "$pulled" -eq 0 ] || die "every user is guarded, but not by the policy: it was not put in force (the line of lazaret-fleet above says why); $by_itself"
    [ -z "$fleet" ] || say "the policy is in force; $by_itself"
    exit 0
fi
status=0
said=$("$bin" install 2>&1) || status=$?
say "$said"
case $status:$said in
0:*) ;;
*"no client found"*)
    say "the binary is installed; after installing a client: $bin install"
    say "undo: $undo"
    exit 0
    ;;
*)
    say "undo: $undo"
    die "the binary is installed, but it could not be registered"
    ;;
esac
say ""
"$bin" doctor || status=$?
say ""
# The log's verification key is for a person, who sees it once: at a terminal, and not where one was given out before.
if [ -t 0 ] && [ -t 1 ]; then
    "$bin" audit key --if-none || say "no verification key for the audit log; to have one: $bin audit key"
fi
say "undo: \"$bin\" uninstall && $gone"
[ "$status" -eq 0 ] || die "not all is well: see the lines with FAIL above"
