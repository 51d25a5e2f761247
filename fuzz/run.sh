#!/usr/bin/env bash
# Fuzzes one target for some seconds with the stable toolchain: fuzz/run.sh TARGET [SECONDS]; the targets are in fuzz_targets/.
# RUSTC_BOOTSTRAP is for the coverage pass only, and for this package only. `cargo fuzz run` on a nightly does the same.
set -euo pipefail
cd "$(dirname "$0")"
target=${1:?name a target: one of $(cd fuzz_targets && echo *.rs)}
seconds=${2:-60}
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="--cfg fuzzing --cfg sha2_backend=\"soft\" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
# The target is named so that build scripts are built without the coverage pass.
cargo build --locked --release --target "$host" --bin "$target"
mkdir -p "corpus/$target" "artifacts/$target"
exec "target/$host/release/$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=16384 -dict="$target.dict" \
  -artifact_prefix="artifacts/$target/" -print_final_stats=1 "corpus/$target" "seeds/$target"
