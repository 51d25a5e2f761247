# shellcheck shell=bash disable=SC2154
# launchd's lists: read as macOS reads them, as far as Python does the same.
launchd_lists() {
    python3 - "$top/packages/fleet/launchd" <<'PYTHON'
import plistlib
import shlex
import sys
from pathlib import Path

found = {path.stem: plistlib.loads(path.read_bytes()) for path in Path(sys.argv[1]).glob("*.plist")}
assert sorted(found) == ["lazaret.fleet.policy", "lazaret.fleet.serve"], sorted(found)
for name, said in found.items():
    assert said["Label"] == name, f"{name}: launchd knows it by its label, {said['Label']}"
    assert said["RunAtLoad"] is True and said["Umask"] == 0o022, name
    assert "UserName" not in said, f"{name}: fleet.toml is root's"
serve, policy = found["lazaret.fleet.serve"], found["lazaret.fleet.policy"]
managed, place = "/Library/Application Support/lazaret/fleet.toml", "/var/run/lazaret/fleet.sock"
program = "/usr/local/bin/lazaret-fleet"
assert serve["ProgramArguments"][:2] == ["/bin/sh", "-c"] and len(serve["ProgramArguments"]) == 3
made, words = serve["ProgramArguments"][2].split(" && exec ")
assert made.split() == ["mkdir", "-p", "-m", "755", place.rsplit("/", 1)[0]], "its directory is not there after a start of the system"
assert shlex.split(words) == [program, "serve", "--config", managed, "--socket", place], words
assert serve["KeepAlive"] is True and serve["ThrottleInterval"] >= 10
assert policy["ProgramArguments"] == [program, "policy", "pull"] and policy["StartInterval"] == 900 and "KeepAlive" not in policy
PYTHON
}
check "launchd's lists are property lists, and say what they should" launchd_lists
if have plutil; then
    check "plutil reads them" plutil -lint "$top/packages/fleet/launchd/"*.plist
else
    skip "launchd: plutil and launchctl are on macOS only"
fi
