#!/usr/bin/env bash
# Fetches this version's release of lazaret, proves where it was built, and installs it and the client for this job.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
said() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$here/Cargo.toml" | head -n 1; }
version=$(said version) repository=$(said repository)
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl ;;
Linux-aarch64) target=aarch64-unknown-linux-musl ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) echo "lazaret: no release for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac
work=$RUNNER_TEMP/lazaret
archive=lazaret-$version-$target.tar.gz
mkdir -p "$work"
curl -fsSL --retry 3 -o "$work/$archive" "$repository/releases/download/v$version/$archive"
# Signed by the workflow of that repository, and by no other.
gh attestation verify "$work/$archive" --repo "${repository#https://github.com/}" --signer-workflow "${repository#https://github.com/}/.github/workflows/release.yml"
tar -xzf "$work/$archive" -C "$work" --strip-components=1
"$work/install.sh" --prefix "$work/installed" --no-register
npm install --global --no-audit --no-fund --prefix "$work/client" "@anthropic-ai/claude-code@$CLIENT_VERSION"
printf '%s\n' "$work/installed/bin" "$work/client/bin" >>"$GITHUB_PATH"
