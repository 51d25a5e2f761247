#!/usr/bin/env bash
# Builds lazaret as a release has it, for what tests/cost.rs measures and tests/run.sh packs. Takes one core for some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: tests/static_build.sh TARGET}
exec "${CARGO:-cargo}" build --release --locked --target "$target" --no-default-features --bin lazaret
