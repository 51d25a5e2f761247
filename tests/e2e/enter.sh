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
if [ -d /mnt/world/system ]; then
  # A machine of its own for what is installed for every user: nothing of the real one is written to.
  mkdir /mnt/etc
  cp -a /etc/. /mnt/etc/ 2>/dev/null || true
  for dir in claude-code opencode codex lazaret; do
    rm -rf "/mnt/etc/$dir"
    mkdir -p "/mnt/etc/$dir" "/mnt/world/system/$dir"
    mount --bind "/mnt/world/system/$dir" "/mnt/etc/$dir"
  done
  printf 'root:x:0:0:root:/home/dev:/bin/sh\ndev:x:4711:4711::/home/dev:/bin/sh\n' > /mnt/etc/passwd
  mount --rbind /mnt/etc /etc
  mkdir -p /mnt/world/system/bin /mnt/world/system/lib
  mount --bind /mnt/world/system/bin /usr/local/bin
  mount --bind /mnt/world/system/lib /var/lib
fi
cd "${E2E_CWD:-/home/dev/proj}"
exec "$@"
