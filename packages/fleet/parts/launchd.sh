# shellcheck shell=bash disable=SC2154
# launchd's lists: read as macOS reads them, as far as Python does the same.
launchd_lists() {
    python3 - "$top/packages/fleet/launchd" <<'PYTHON'
import plistlib
import sys
from pathlib import Path

found = {path.stem: plistlib.loads(path.read_bytes()) for path in Path(sys.argv[1]).glob("*.plist")}
assert sorted(found) == ["lazaret.fleet.policy", "lazaret.fleet.serve"], sorted(found)
for name, said in found.items():
    assert said["Label"] == name, f"{name}: launchd knows it by its label, {said['Label']}"
    assert said["ProgramArguments"][0] == "/usr/local/bin/lazaret-fleet", said["ProgramArguments"]
    assert said["RunAtLoad"] is True and said["Umask"] == 0o022, name
    assert "UserName" not in said, f"{name}: fleet.toml is root's"
serve, policy = found["lazaret.fleet.serve"], found["lazaret.fleet.policy"]
managed = "/Library/Application Support/lazaret/fleet.toml"
assert serve["ProgramArguments"][1:] == ["serve", "--config", managed, "--socket", "/var/run/lazaret/fleet.sock"]
assert serve["KeepAlive"] is True and serve["ThrottleInterval"] >= 10
assert policy["ProgramArguments"][1:] == ["policy", "pull"] and policy["StartInterval"] == 900 and "KeepAlive" not in policy
PYTHON
}
check "launchd's lists are property lists, and say what they should" launchd_lists
if have plutil; then
    check "plutil reads them" plutil -lint "$top/packages/fleet/launchd/"*.plist
else
    skip "launchd: plutil and launchctl are on macOS only"
fi
