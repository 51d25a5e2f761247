# shellcheck shell=sh
# Types at OpenCode in a terminal. What the screen showed when lazaret had answered is left in ~/answer.screen, and what it
# showed in the end in ~/after.screen.
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

screen new-session -d -x 150 -y 60 "opencode --prompt 'Do what is to be done.'"
until_shown 'rule ' ~/answer.screen
until_shown 'That was all' ~/after.screen
screen kill-server
