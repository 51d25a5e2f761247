#!/usr/bin/env bash
# Functions that the other scripts share.

get_repo_root() {
    if git rev-parse --show-toplevel >/dev/null 2>&1; then
        git rev-parse --show-toplevel
    else
        (cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
    fi
}

get_current_branch() {
    if [[ -n "${FEATURE:-}" ]]; then
        echo "$FEATURE"
        return
    fi
    git rev-parse --abbrev-ref HEAD 2>/dev/null || echo "main"
}

has_git() {
    git rev-parse --show-toplevel >/dev/null 2>&1
}

get_feature_paths() {
    local repo_root=$(get_repo_root)
    local current_branch=$(get_current_branch)
    local has_git_repo="false"

    if has_git; then
        has_git_repo="true"
    fi

    local feature_dir="$repo_root/specs/$current_branch"

    cat <<EOF
REPO_ROOT='$repo_root'
CURRENT_BRANCH='$current_branch'
HAS_GIT='$has_git_repo'
FEATURE_DIR='$feature_dir'
FEATURE_SPEC='$feature_dir/spec.md'
IMPL_PLAN='$feature_dir/plan.md'
EOF
}

get_quoted_paths() {
    local repo_root
    repo_root=$(get_repo_root)
    printf 'REPO_ROOT=%q\n' "$repo_root"
    printf 'FEATURE_DIR=%q\n' "$repo_root/specs"
}

check_file() { [[ -f "$1" ]] && echo "  found $2" || echo "  missing $2"; }
