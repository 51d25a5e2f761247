#!/usr/bin/env bash
# What takes long and no more than a core, for tests/run.sh beside the rest. Whoever needs it finds it made, and says what fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
tests/static_build.sh "${1:?usage: tests/beside.sh TARGET}"
# Nobody waits for what follows. A session of its own has a niceness of its own, which is what counts against other sessions.
{ echo 19 >/proc/self/autogroup; } 2>/dev/null
nice -n 19 release/site
nice -n 19 tests/other_systems.sh compile
