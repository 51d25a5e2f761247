#!/bin/sh
# All tests of lazaret: format, lints, shell scripts, then cargo's. No arguments, no questions, nothing installed but the
# two clients, which the end-to-end tests fetch from npm into target/.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

for tool in cargo npm node git shellcheck unshare ip; do
    command -v "$tool" >/dev/null || { echo "tests/run.sh: $tool is missing: see .ci/run for what is needed" >&2; exit 1; }
done

step cargo fmt --check
step cargo clippy --locked --all-targets --quiet -- -D warnings
# shellcheck disable=SC2046 # the repository's own file names hold no blanks
step shellcheck $(git ls-files -- '*.sh' .ci/run)
step cargo test --locked
