#!/usr/bin/env bash
# Builds the two programs as a release has them, for what tests/cost.rs measures and tests/run.sh packs. Takes one core for some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: tests/static_build.sh TARGET}
for only in "--no-default-features --bin lazaret" "--bin lazaret-view"; do
    # shellcheck disable=SC2086 # several words
    "${CARGO:-cargo}" build --release --locked --target "$target" $only
done
