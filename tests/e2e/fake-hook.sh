#!/bin/sh
# Stands in for lazaret where the harness itself is tested: denies BLOCKME, rewrites REWRITEME, for both clients.
message=$(cat)
printf '%s\n' "$message" >> /home/dev/fake-hook.log
case $2:$message in
  claude-code:*BLOCKME*)
    echo "the fake hook says no" >&2
    exit 2 ;;
  claude-code:*REWRITEME*)
    printf '%s' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo REWRITTEN"}}}' ;;
  opencode:*BLOCKME*)
    printf '%s\n' '{"action":"block","message":"the fake hook says no"}'
    exit 2 ;;
  opencode:*REWRITEME*)
    printf '%s\n' '{"action":"modify","args":{"command":"echo REWRITTEN"}}' ;;
  opencode:*)
    printf '%s\n' '{"action":"allow"}' ;;
esac
