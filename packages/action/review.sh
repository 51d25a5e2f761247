#!/usr/bin/env bash
# `lazaret review run` on what a pull request adds or changes, or on the files that are named.
set -euo pipefail
[ -n "${ANTHROPIC_API_KEY:-}" ] || { echo "lazaret: no key of the client's provider: nothing was reviewed" >&2; exit 1; }
files=()
if [ -n "${FILES:-}" ]; then
    while IFS= read -r file; do [ -z "$file" ] || files+=("$file"); done <<<"$FILES"
else
    [ -n "${BASE:-}" ] || { echo "lazaret: this is no pull request; name the files" >&2; exit 1; }
    git rev-parse --quiet --verify "origin/$BASE^{commit}" >/dev/null || { echo "lazaret: origin/$BASE is not here; check out with fetch-depth: 0" >&2; exit 1; }
    while IFS= read -r -d '' file; do files+=("$file"); done < <(git diff -z --name-only --diff-filter=d "origin/$BASE...HEAD")
fi
if [ "${#files[@]}" = 0 ]; then
    echo "nothing to review"
    exit 0
fi
words=(--fail-on "${FAIL_ON:-high}")
[ -z "${INSTRUCTIONS:-}" ] || words+=(--instructions "$INSTRUCTIONS")
[ -z "${MODEL:-}" ] || words+=(--model "$MODEL")
exec lazaret review run "${words[@]}" --client claude-code -- "${files[@]}"
