#!/bin/sh
# Inside fresh mount, process and network namespaces: only loopback, a private /tmp, and the test's own /home/dev.
# Arguments: the world's directory, the clients' directory, node, then the command to become.
set -eu
world=$1 clients=$2 node=$3
shift 3
ip link set lo up
mount -t tmpfs tmpfs /mnt
mkdir /mnt/world /mnt/clients
touch /mnt/node
mount --bind "$world" /mnt/world
mount --bind "$clients" /mnt/clients
mount --bind "$node" /mnt/node
mount -t tmpfs tmpfs /home
mkdir /home/dev
mount --bind /mnt/world/home /home/dev
mount -t tmpfs tmpfs /tmp
cd "${E2E_CWD:-/home/dev/proj}"
exec "$@"
