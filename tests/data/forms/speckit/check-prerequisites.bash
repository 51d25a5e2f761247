#!/usr/bin/env bash
set -e

JSON_MODE=false
PATHS_ONLY=false

for arg in "$@"; do
    case "$arg" in
        --json)
            JSON_MODE=true
            ;;
        --paths-only)
            PATHS_ONLY=true
            ;;
        --help|-h)
            echo "Usage: check-prerequisites.sh [--json] [--paths-only]"
            exit 0
            ;;
    esac
done

SCRIPT_DIR="$(CDPATH="" cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$SCRIPT_DIR/common.sh"

eval $(get_feature_paths)

if $PATHS_ONLY; then
    if $JSON_MODE; then
        printf '{"REPO_ROOT":"%s","BRANCH":"%s"}\n' "$REPO_ROOT" "$CURRENT_BRANCH"
    else
        echo "REPO_ROOT: $REPO_ROOT"
    fi
    exit 0
fi

if [[ ! -d "$FEATURE_DIR" ]]; then
    echo "ERROR: Feature directory not found: $FEATURE_DIR" >&2
    exit 1
fi

docs=()
[[ -f "$IMPL_PLAN" ]] && docs+=("plan.md")
printf '{"FEATURE_DIR":"%s","AVAILABLE_DOCS":[%s]}\n' "$FEATURE_DIR" "${docs[*]}"
check_file "$IMPL_PLAN" "plan.md"
