"""The list of guards, and how each is installed: by its registry's own client, in the version that the list names."""

import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "guards.toml"


class NotInstalled(Exception):
    """A guard that could not be brought onto this machine."""


@dataclass(frozen=True)
class Guard:
    """A guard as the list describes it."""

    name: str
    registry: str
    package: str
    version: str
    licence: str
    about: str
    # The files of the package that the registered command starts, for what happens when they are broken.
    program: list
    # Directories of the package that stand in the search path.
    path: list = field(default_factory=list)
    # The guard's own command that registers it, or the settings that its documentation gives.
    register: list = field(default_factory=list)
    settings: str = ""

    @property
    def ours(self):
        """Whether it is lazaret, whose own mistakes may be listed."""
        return self.registry == "here"


@dataclass(frozen=True)
class LeftOut:
    """A guard that is not run, and why."""

    name: str
    registry: str
    package: str
    version: str
    licence: str
    reason: str


def read(path=LIST):
    """The guards to run, lazaret first, and those that are left out."""
    with path.open("rb") as file:
        table = tomllib.load(file)
    guards = [Guard(**entry) for entry in table["guards"]]
    left_out = [LeftOut(**entry) for entry in table.get("left_out", [])]
    return guards, left_out


def run(argv):
    """A step of an installation, with what it said where it fails."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotInstalled(f"{' '.join(map(str, argv[:4]))}: {(done.stderr or done.stdout).strip()[-400:]}")


def from_pypi(guard, place):
    """Into a virtual environment of its own."""
    run([sys.executable, "-m", "venv", place])
    run([place / "bin/python", "-m", "pip", "install", "--quiet", f"{guard.package}=={guard.version}"])


def from_npm(guard, place):
    """Into a directory of its own, without scripts that would run at the installation."""
    place.mkdir(parents=True)
    run(["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", place,
         f"{guard.package}@{guard.version}"])


def from_cargo(guard, place):
    """Built from its sources."""
    run(["cargo", "install", "--quiet", "--locked", "--root", place, "--version", guard.version, guard.package])


def from_directory(guard, place):
    """Copied from a directory beside the list: what the tests of the comparison use."""
    shutil.copytree(HERE / guard.package, place)


REGISTRIES = {"pypi": from_pypi, "npm": from_npm, "cargo": from_cargo, "directory": from_directory}


def place(guard, work):
    """Where a guard's package is installed."""
    return work / "packages" / guard.name


def aside(package):
    """Where a package is put while its guard is measured without it."""
    return package.with_name(package.name + ".away")


def install(guard, work, binary):
    """Brings a guard onto the machine, unless the same version is there already."""
    target = place(guard, work)
    # A run that was ended in the middle may have left this.
    shutil.rmtree(aside(target), ignore_errors=True)
    stamp = target / ".installed"
    wanted = f"{guard.registry} {guard.package} {guard.version}\n"
    if not guard.ours and stamp.is_file() and stamp.read_text() == wanted:
        return
    shutil.rmtree(target, ignore_errors=True)
    if guard.ours:
        target.mkdir(parents=True)
        shutil.copy2(binary, target / guard.program[0])
    else:
        REGISTRIES[guard.registry](guard, target)
    stamp.write_text(wanted)
