# shellcheck shell=sh
# Types at Claude Code in a terminal. Arguments: the permission mode, the key that answers a question (none: nothing is asked).
# What the screen showed before and after is left in ~/before.screen and ~/after.screen.
mode=$1 key=${2:-}
export TERM=xterm-256color
screen() { tmux -L "$$" -f /dev/null "$@"; }

# until_shown PATTERN FILE: waits a minute for it to stand on the screen, and keeps the screen.
until_shown() {
  for _ in $(seq 600); do
    screen capture-pane -p > "$2"
    if grep -q "$1" "$2"; then return; fi
    sleep 0.1
  done
  echo "not shown in a minute: $1" >&2
}

screen new-session -d -x 150 -y 60 "claude --permission-mode $mode 'Do what is to be done.'"
if [ -n "$key" ]; then
  until_shown 'Do you want to proceed' ~/before.screen
  screen send-keys "$key"
fi
until_shown 'That was all\|Interrupted' ~/after.screen
screen kill-server
