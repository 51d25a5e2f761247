#!/usr/bin/env bash
set -e

SCRIPT_DIR="$(CDPATH="" cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$SCRIPT_DIR/common.sh"

_paths_output=$(get_quoted_paths) || { echo "ERROR: no paths" >&2; exit 1; }
eval "$_paths_output"
unset _paths_output

mkdir -p "$FEATURE_DIR"
echo "{\"FEATURE_DIR\":\"$FEATURE_DIR\"}"
